//! What can be typed.

use std::ffi::OsString;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Serialize;
use sudoku_stream::answer::{OutputForm, Task};
use sudoku_stream::grid::Order;
use sudoku_stream::input::{Part, STANDARD_INPUT};
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{
    Backtracking, DEFAULT_COUNT_LIMIT, DEFAULT_NODE_LIMIT, Question, STRATEGIES, Strategy, strategy,
};
use sudoku_stream::text::{Alphabet, Hint, Notation};

/// The OUT that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Solves Sudoku puzzles in bulk: one answer line for each puzzle line, in order.
#[derive(Debug, Parser)]
#[command(name = "sudoku", version, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Solve every puzzle of a file or of standard input
    Solve(SolveArgs),
    /// Count the solutions of every puzzle
    Count(CountArgs),
    /// Say what is wrong with a file before it is solved: length, characters and rules of every puzzle
    Validate(ValidateArgs),
    /// Check grids, full or part-filled: solved, or which cells break which rule
    Check(CheckArgs),
    /// Show one puzzle of a file, by its number or at random
    Show(ShowArgs),
    /// Show the steps of a search, live on a terminal or as lines
    Trace(TraceArgs),
    /// Time every strategy on the puzzles of files, and check every answer
    Bench(BenchArgs),
    /// Solve a sample that is part of the program, over gRPC and offline, and check every answer
    Demo(DemoArgs),
    /// Open the console: load a puzzle, fill it in, ask for hints, have it solved
    Shell(ShellArgs),
    /// Print the script that lets a shell complete this program's commands and flags
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

/// What is read, and how it is written.
#[derive(Clone, Debug, ClapArgs)]
pub struct InputArgs {
    /// The file, `-` for standard input; .gz and .zst are read as what they hold
    #[arg(value_name = "FILE", default_value = STANDARD_INPUT)]
    pub file: PathBuf,

    #[command(flatten)]
    format: FormatArgs,

    /// Read the file instead of mapping it into memory
    #[arg(long)]
    pub no_mmap: bool,
}

impl InputArgs {
    /// What the user said about the text.
    pub fn hint(&self) -> Hint {
        self.format.hint()
    }
}

/// What the user knows about the text.
#[derive(Clone, Debug, ClapArgs)]
struct FormatArgs {
    /// How the puzzles are written [default: found out]
    #[arg(long, value_parser = notation_names())]
    notation: Option<String>,

    /// What stands for the values above 9: letters, ascii, alpha, hex, or the symbols themselves [default: found out]
    #[arg(long)]
    alphabet: Option<Alphabet>,

    /// The side of the puzzles, 1, 4, 9, 16 or 25 [default: found out]
    #[arg(long, value_name = "SIDE", value_parser = side)]
    size: Option<Order>,
}

impl FormatArgs {
    fn hint(&self) -> Hint {
        Hint {
            notation: self.notation.as_deref().and_then(|name| name.parse().ok()),
            alphabet: self.alphabet.clone(),
            order: self.size,
        }
    }
}

/// How the work is done and shown.
#[derive(Clone, Debug, ClapArgs)]
pub struct RunArgs {
    /// Worker threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Show no progress bar (there is none anyway unless standard error is a terminal)
    #[arg(long)]
    pub no_progress: bool,

    /// Print nothing on standard error but what went wrong
    #[arg(short, long)]
    pub quiet: bool,
}

impl RunArgs {
    pub fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// Where answers go, and how they are looked for.
#[derive(Clone, Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct AnswerArgs {
    /// Write the answers to OUT, which is whole or absent [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output_file: Option<PathBuf>,

    /// Sync OUT and its folder to the disk before the end
    #[arg(long)]
    pub durable: bool,

    /// How an answer looks
    #[arg(long, value_name = "FORM", value_parser = form_names(), default_value = "solution")]
    output: String,

    /// How to search [default: fast for 9x9, propagation for other sizes]
    #[arg(long, value_name = "NAME", value_parser = strategy_names())]
    strategy: Option<String>,

    /// The instructions that the strategy fast uses: avx512, avx2 or portable [default: the best of this machine]
    #[arg(long, value_name = "NAME", env = "SUDOKU_BACKEND")]
    pub backend: Option<Backend>,

    /// Give a puzzle up after this many nodes of the search
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT, value_parser = from_zero::<u64>)]
    node_limit: u64,

    /// Validate the whole input first; the first bad line ends the run and nothing is written
    #[arg(long)]
    pub strict: bool,

    /// Go on where an earlier run with the same OUT was stopped; if this one is stopped, keep what it has done
    #[arg(long, requires = "output_file")]
    pub resume: bool,

    /// Answer only the K-th of N parts of the input; the answers to all parts make up those to the whole
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Part>,

    /// Exit with 1 if an answer is an error line
    #[arg(long)]
    pub fail_on_error: bool,

    /// Print what the searches cost: nodes, guesses, backtracks, depth, comparisons and placements
    #[arg(long)]
    pub stats: bool,

    /// Have the puzzles solved by the service at URL, such as `http://127.0.0.1:50051`, with its own threads and back end
    #[arg(long, value_name = "URL", conflicts_with = "threads")]
    pub server: Option<String>,
}

impl AnswerArgs {
    /// The options on which answers depend, as they were typed, with their values.
    fn words(&self) -> [(&'static str, Option<String>); 4] {
        [
            ("--output", Some(self.output.clone())),
            ("--node-limit", Some(self.node_limit.to_string())),
            ("--shard", self.shard.map(|part| part.to_string())),
            // Costs are counted from the beginning or not at all, and a server tells less about them.
            ("--stats", self.stats.then(|| self.server.as_ref().map_or("", |_| "with --server").to_owned())),
        ]
    }

    /// The strategy, if one was named.
    fn strategy(&self) -> Option<&'static dyn Strategy> {
        self.strategy.as_deref().and_then(strategy)
    }

    /// The file that answers go to; `None` for standard output.
    pub fn output_path(&self) -> Option<&Path> {
        self.output_file.as_deref().filter(|path| path.as_os_str() != STANDARD_OUTPUT)
    }
}

#[derive(Clone, Debug, ClapArgs)]
pub struct SolveArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// What to find out of each puzzle
    #[arg(long, value_enum, default_value_t = QuestionArg::First)]
    question: QuestionArg,

    /// Where `--question count` stops counting
    #[arg(long, value_name = "N", default_value_t = COUNT_LIMIT, value_parser = from_one::<NonZeroU64>)]
    limit: NonZeroU64,

    #[command(flatten)]
    pub answer: AnswerArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

impl SolveArgs {
    /// The options on which answers depend, with their values, in an order that is always the same. `strategy` is the one
    /// that is used, named or not.
    pub fn words(&self, strategy: &str) -> Vec<(String, Option<String>)> {
        let FormatArgs { notation, alphabet, size } = &self.input.format;
        let question = self.question.to_possible_value().map(|value| value.get_name().to_owned());
        let own = [
            ("--notation", notation.clone()),
            ("--alphabet", alphabet.as_ref().map(ToString::to_string)),
            ("--size", size.map(|order| order.side().to_string())),
            ("--question", question),
            ("--limit", Some(self.limit.to_string())),
            ("--strategy", Some(strategy.to_owned())),
        ];
        let named = |(name, value): (&str, Option<String>)| (name.to_owned(), value);
        own.into_iter().chain(self.answer.words()).map(named).collect()
    }

    /// What is asked of every puzzle.
    pub fn task(&self) -> Task {
        Task {
            strategy: self.answer.strategy(),
            question: self.question.up_to(self.limit),
            node_limit: self.answer.node_limit,
            form: self.answer.output.parse().unwrap_or(OutputForm::Solution),
            measure: self.answer.stats,
        }
    }
}

#[derive(Clone, Debug, ClapArgs)]
pub struct CountArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Where counting stops: an answer that reaches it means at least as many
    #[arg(long, value_name = "N", default_value_t = COUNT_LIMIT, value_parser = from_one::<NonZeroU64>)]
    limit: NonZeroU64,

    #[command(flatten)]
    answer: AnswerArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl From<CountArgs> for SolveArgs {
    fn from(args: CountArgs) -> Self {
        let CountArgs { input, limit, answer, run } = args;
        Self { input, question: QuestionArg::Count, limit, answer, run }
    }
}

#[derive(Clone, Debug, ClapArgs)]
pub struct ValidateArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// Print at most this many errors
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = from_zero::<usize>)]
    pub limit: usize,

    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,
}

/// One puzzle of an input.
#[derive(Clone, Debug, ClapArgs)]
pub struct PickArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The number of the puzzle, from 1
    #[arg(long, value_name = "K", default_value = "1", value_parser = from_one::<NonZeroU64>)]
    pub index: NonZeroU64,

    /// Any puzzle, all with the same chance
    #[arg(long, conflicts_with = "index")]
    pub random: bool,

    /// The puzzle itself, in place of a file
    #[arg(long, value_name = "CELLS", conflicts_with_all = ["file", "index", "random"])]
    pub puzzle: Option<String>,
}

#[derive(Clone, Debug, ClapArgs)]
pub struct ShowArgs {
    #[command(flatten)]
    pub pick: PickArgs,

    /// Show its solution too
    #[arg(long)]
    pub solve: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub struct TraceArgs {
    #[command(flatten)]
    pub pick: PickArgs,

    /// Whose steps to show; fast has none of its own and shows those of propagation
    #[arg(long, value_name = "NAME", value_parser = strategy_names(), default_value = Backtracking.name())]
    strategy: String,

    /// What to find out
    #[arg(long, value_enum, default_value_t = QuestionArg::First)]
    question: QuestionArg,

    /// Where `--question count` stops counting
    #[arg(long, value_name = "N", default_value_t = COUNT_LIMIT, value_parser = from_one::<NonZeroU64>)]
    limit: NonZeroU64,

    /// Give up after this many nodes of the search
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT, value_parser = from_zero::<u64>)]
    node_limit: u64,

    /// Show every digit for MS milliseconds [default: 50 on a terminal, else 0]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=60_000))]
    pub delay: Option<u64>,

    /// Stop after this many steps
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroU64>)]
    pub step_limit: Option<NonZeroU64>,

    /// Print the grid each time a band of boxes is complete, and no steps
    #[arg(long)]
    pub plain: bool,

    /// Do not print what the search cost on standard error
    #[arg(short, long)]
    pub quiet: bool,
}

impl TraceArgs {
    /// What is asked of the puzzle.
    pub fn task(&self) -> Task {
        Task {
            strategy: strategy(&self.strategy),
            question: self.question.up_to(self.limit),
            node_limit: self.node_limit,
            ..Task::default()
        }
    }
}

#[derive(Clone, Debug, ClapArgs)]
pub struct BenchArgs {
    /// The files, `-` for standard input; .gz and .zst are read as what they hold
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    format: FormatArgs,

    /// What to time; may be given several times [default: all]
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Vec<Kind>,

    /// A strategy to time; may be given several times [default: all for the size that are quick with hard puzzles]
    #[arg(long, value_name = "NAME", value_parser = strategy_names())]
    strategy: Vec<String>,

    /// The instructions that the strategy fast uses: avx512, avx2 or portable; may be given several times [default:
    /// all that this machine has]
    #[arg(long, value_name = "NAME")]
    backend: Vec<Backend>,

    /// What to find out of each puzzle
    #[arg(long, value_enum, default_value_t = QuestionArg::Unique)]
    question: QuestionArg,

    /// Where `--question count` stops counting
    #[arg(long, value_name = "N", default_value_t = COUNT_LIMIT, value_parser = from_one::<NonZeroU64>)]
    limit: NonZeroU64,

    /// Give a puzzle up after this many nodes of the search
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT, value_parser = from_zero::<u64>)]
    pub node_limit: u64,

    /// Time everything this many times, after a first run that does not count
    #[arg(long, value_name = "N", default_value = "5", value_parser = from_one::<NonZeroU32>)]
    pub repeats: NonZeroU32,

    /// Worker threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Print nothing on standard error but what went wrong
    #[arg(short, long)]
    pub quiet: bool,
}

impl BenchArgs {
    /// Each file as other commands are given it.
    pub fn inputs(&self) -> Vec<InputArgs> {
        let input =
            |file: &PathBuf| InputArgs { file: file.clone(), format: self.format.clone(), no_mmap: false };
        self.files.iter().map(input).collect()
    }

    /// What is timed, in the order of the table.
    pub fn kinds(&self) -> Vec<Kind> {
        let is_wanted = |kind: &Kind| self.kind.is_empty() || self.kind.contains(kind);
        [Kind::Text, Kind::Search].into_iter().filter(is_wanted).collect()
    }

    /// The strategies to time, in the order of the registry. Those that hard lists may take for ever have to be named.
    pub fn strategies(&self) -> Vec<&'static dyn Strategy> {
        let is_wanted = |s: &&dyn Strategy| {
            if self.strategy.is_empty() {
                s.is_for_bulk()
            } else {
                self.strategy.iter().any(|name| name == s.name())
            }
        };
        STRATEGIES.iter().copied().filter(is_wanted).collect()
    }

    /// The back ends to time, the fastest first.
    pub fn backends(&self) -> Vec<Backend> {
        let is_wanted = |backend: &Backend| self.backend.is_empty() || self.backend.contains(backend);
        Backend::available().filter(is_wanted).collect()
    }

    /// What is asked of every puzzle.
    pub fn question(&self) -> Question {
        self.question.up_to(self.limit)
    }
}

/// What a figure of `sudoku bench` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The text of the puzzles in memory to the text of the answers in memory
    Text,
    /// The search alone, of puzzles that have been read
    Search,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Search => "search",
        })
    }
}

#[derive(Clone, Debug, ClapArgs)]
pub struct DemoArgs {
    /// Time this many copies of the sample
    #[arg(long, value_name = "N", default_value = "50", value_parser = from_one::<NonZeroUsize>)]
    pub repeat: NonZeroUsize,
}

#[derive(Clone, Debug, ClapArgs)]
pub struct ShellArgs {
    /// A puzzle or a file to begin with
    #[arg(value_name = "PUZZLE|FILE")]
    pub start: Option<OsString>,

    #[command(flatten)]
    format: FormatArgs,
}

impl ShellArgs {
    /// What the user said about the puzzles to come.
    pub fn hint(&self) -> Hint {
        self.format.hint()
    }
}

#[derive(Clone, Debug, ClapArgs)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

#[derive(Clone, Debug, ClapArgs)]
pub struct ManArgs {
    /// Write this page and one for each command into the folder DIR instead
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum QuestionArg {
    /// Any solution
    First,
    /// The solution, and proof that it is the only one
    Unique,
    /// The number of solutions
    Count,
}

impl QuestionArg {
    /// The question; a count stops at `limit`.
    const fn up_to(self, limit: NonZeroU64) -> Question {
        match self {
            Self::First => Question::First,
            Self::Unique => Question::Unique,
            Self::Count => Question::Count { limit: limit.get() },
        }
    }
}

const COUNT_LIMIT: NonZeroU64 = match NonZeroU64::new(DEFAULT_COUNT_LIMIT) {
    Some(limit) => limit,
    None => NonZeroU64::MIN,
};

fn side(text: &str) -> Result<Order, String> {
    let order = text.parse().ok().and_then(Order::from_side);
    order.ok_or_else(|| "a side is 1, 4, 9, 16 or 25".to_owned())
}

fn from_one<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number from 1".to_owned())
}

fn from_zero<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number from 0".to_owned())
}

fn notation_names() -> clap::builder::PossibleValuesParser {
    Notation::ALL.map(|(name, _)| name).into()
}

fn form_names() -> clap::builder::PossibleValuesParser {
    OutputForm::ALL.map(|(name, _)| name).into()
}

fn strategy_names() -> clap::builder::PossibleValuesParser {
    let named = |s: &&dyn Strategy| clap::builder::PossibleValue::new(s.name()).help(s.summary());
    STRATEGIES.iter().map(named).collect::<Vec<_>>().into()
}
