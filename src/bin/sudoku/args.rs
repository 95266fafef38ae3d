//! What can be typed.

use std::ffi::OsString;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use anyhow::bail;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Serialize;
use sudoku_stream::answer::{OutputForm, Task};
use sudoku_stream::build_info;
use sudoku_stream::client::RetryPolicy;
use sudoku_stream::explore::{self, ClueList, Condition, DEFAULT_BOARDS, Experiment, Settings, Source};
use sudoku_stream::generate::{
    self, Constraints, DEFAULT_ATTEMPTS, Difficulty, Grids, Kind as Made, Recipe, Symmetry, any_seed,
};
use sudoku_stream::grid::Order;
use sudoku_stream::input::{STANDARD_INPUT, Shard};
use sudoku_stream::load::{Method, Plan};
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{
    Backtracking, DEFAULT_COUNT_LIMIT, DEFAULT_NODE_LIMIT, Question, STRATEGIES, Strategy, default_strategy,
    strategy,
};
use sudoku_stream::text::{Alphabet, Hint, Notation};

/// The OUT that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Solves Sudoku puzzles in bulk: one answer line for each puzzle line, in order.
#[derive(Debug, Parser)]
#[command(name = "sudoku", version, long_version = build_info::in_full(), max_term_width = 100)]
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
    /// Make puzzles: random ones with a single solution, or random clues
    Generate(GenerateArgs),
    /// Time every strategy on the puzzles of files, and check every answer
    Bench(BenchArgs),
    /// Load a server with calls or streams, check every answer, and tell rates and latencies
    Load(LoadArgs),
    /// Search boards with few and many clues by every strategy: what comes of them, and what it costs
    Explore(ExploreArgs),
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

/// Who does the work, if not this machine.
#[derive(Clone, Debug, ClapArgs)]
pub struct ServerArgs {
    /// Have the puzzles solved by the service at URL, such as `http://127.0.0.1:50051`, with its own threads and back end. May be
    /// given several times, or with commas: the work is shared among all of them
    #[arg(
        id = "server",
        long = "server",
        value_name = "URL",
        value_delimiter = ',',
        conflicts_with = "threads"
    )]
    pub urls: Vec<String>,

    /// Try a lost server again up to N times in a row, with growing pauses, before it is given up; 0 for never
    #[arg(long, value_name = "N", requires = "server", default_value_t = RetryPolicy::default().retries)]
    #[arg(value_parser = from_zero::<u32>)]
    pub retries: u32,

    #[command(flatten)]
    pub trust: TrustArgs,
}

/// How a server and we know each other.
#[derive(Clone, Debug, ClapArgs)]
pub struct TrustArgs {
    /// The authority that vouches for an https server, in PEM [default: those that the system knows]
    #[arg(long, value_name = "FILE", requires = "server")]
    pub tls_ca: Option<PathBuf>,

    /// The certificate by which the server knows you, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "server")]
    pub tls_cert: Option<PathBuf>,

    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// A file whose first line is the token that the server wants
    #[arg(long, value_name = "FILE", env = "SUDOKU_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
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

    /// The instructions that the strategy fast uses: avx512, avx512vl (the same on shorter words), avx2 or portable [default: the best of this machine]
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
    pub shard: Option<Shard>,

    /// Exit with 1 if an answer is an error line
    #[arg(long)]
    pub fail_on_error: bool,

    /// Print what the searches cost: nodes, guesses, backtracks, depth, comparisons and placements
    #[arg(long)]
    pub stats: bool,

    #[command(flatten)]
    pub server: ServerArgs,
}

impl AnswerArgs {
    /// The options on which answers depend, as they were typed, with their values.
    fn fingerprint(&self) -> [(&'static str, Option<String>); 4] {
        [
            ("--output", Some(self.output.clone())),
            ("--node-limit", Some(self.node_limit.to_string())),
            ("--shard", self.shard.map(|part| part.to_string())),
            // Costs are counted from the beginning or not at all, and a server tells less about them.
            (
                "--stats",
                self.stats.then(|| if self.server.urls.is_empty() { "" } else { "with --server" }.to_owned()),
            ),
        ]
    }

    /// The strategy, if one was named.
    fn strategy(&self) -> Option<&'static dyn Strategy> {
        self.strategy.as_deref().and_then(strategy)
    }

    /// The file that answers go to; `None` for standard output.
    pub fn output_path(&self) -> Option<&Path> {
        output_path(self.output_file.as_deref())
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
    pub fn fingerprint(&self, strategy: &str) -> Vec<(String, Option<String>)> {
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
        own.into_iter().chain(self.answer.fingerprint()).map(named).collect()
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
pub struct GenerateArgs {
    /// How many puzzles
    #[arg(short = 'n', long, value_name = "N", default_value = "1", value_parser = from_one::<NonZeroU64>)]
    pub count: NonZeroU64,

    /// The side of the puzzles, 1, 4, 9, 16 or 25 [default: 9]
    #[arg(long, value_name = "SIDE", value_parser = side)]
    size: Option<Order>,

    /// The same by the side of a box, 1 to 5
    #[arg(long, value_name = "ORDER", value_parser = order, conflicts_with = "size")]
    order: Option<Order>,

    /// The number of clues of each [default: as few as taking them away one by one comes to]
    #[arg(long, value_name = "N", value_parser = from_zero::<usize>)]
    clues: Option<usize>,

    /// Only puzzles of which no clue, or with a symmetry no set of images, can be taken away
    #[arg(long)]
    minimal: bool,

    /// What turns or mirrors the pattern of clues into itself
    #[arg(long, value_name = "NAME", value_parser = symmetry_names(), default_value = "none")]
    symmetry: String,

    /// How hard they are
    #[arg(long, value_name = "NAME", value_parser = difficulty_names(), default_value = "any")]
    difficulty: String,

    /// The guesses that the strategy propagation takes, such as 0, 3..10, 5.. or ..2
    #[arg(long, value_name = "RANGE", value_parser = guesses, conflicts_with = "difficulty")]
    guesses: Option<Difficulty>,

    /// Where the full grids come from that clues are taken out of
    #[arg(long, value_name = "NAME", value_parser = grids_names(), default_value = "random")]
    grid: String,

    /// Give a puzzle up after this many full grids
    #[arg(long, value_name = "N", default_value_t = ATTEMPTS, value_parser = from_one::<NonZeroU64>)]
    attempts: NonZeroU64,

    /// Boards with N random values instead: they keep the rules, but may have any number of solutions, or none
    #[arg(long, value_name = "N", value_parser = from_zero::<usize>, conflicts_with_all = ["clues", "minimal", "symmetry", "difficulty", "guesses", "grid"])]
    random_clues: Option<usize>,

    /// Where the random numbers begin: the same puzzles again for the same seed [default: any, and it is printed]
    #[arg(long, value_name = "S", value_parser = from_zero::<u64>)]
    pub seed: Option<u64>,

    /// How the puzzles are written; csv has the solutions too
    #[arg(long, value_parser = notation_names(), default_value = "lines")]
    notation: String,

    /// What stands for the values above 9: letters, ascii, alpha, hex, or the symbols themselves [default: letters]
    #[arg(long)]
    pub alphabet: Option<Alphabet>,

    /// Write the puzzles to OUT, which is whole or absent [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output_file: Option<PathBuf>,

    /// Sync OUT and its folder to the disk before the end
    #[arg(long)]
    pub durable: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

impl GenerateArgs {
    /// What is wanted.
    pub fn recipe(&self) -> Recipe {
        let named = Difficulty::ALL.into_iter().find(|(name, _)| *name == self.difficulty);
        let difficulty = self.guesses.clone().or(named.map(|(_, difficulty)| difficulty));
        let grids = Grids::ALL.into_iter().find(|(name, _)| *name == self.grid);
        let constraints = || Constraints {
            grids: grids.map(|(_, grids)| grids).unwrap_or_default(),
            clues: self.clues,
            minimal: self.minimal,
            symmetry: self.symmetry.parse().unwrap_or_default(),
            difficulty: difficulty.unwrap_or_default(),
        };
        Recipe {
            order: self.size.or(self.order).unwrap_or(Order::NINE),
            kind: self.random_clues.map_or_else(|| Made::Puzzle(constraints()), Made::RandomClues),
            attempts: self.attempts.get(),
        }
    }

    /// How the puzzles are written.
    pub fn notation(&self) -> Notation {
        self.notation.parse().unwrap_or(Notation::Lines)
    }

    /// The file that puzzles go to; `None` for standard output.
    pub fn output_path(&self) -> Option<&Path> {
        output_path(self.output_file.as_deref())
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

    /// The instructions that the strategy fast uses: avx512, avx512vl (the same on shorter words), avx2 or portable; may be given several times [default:
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

    #[command(flatten)]
    pub comparison: CompareArgs,

    /// Print nothing on standard error but what went wrong
    #[arg(short, long)]
    pub quiet: bool,
}

/// How two builds of this program are compared.
#[derive(Clone, Debug, ClapArgs)]
pub struct CompareArgs {
    /// Compare with another build of this program, in turns on the same lists [default: the default strategy on the best back end, from text to text]
    #[arg(long, value_name = "PROGRAM", conflicts_with = "repeats")]
    pub compare: Option<PathBuf>,

    /// Exit with 1 if a list may take this much more time than with the other program, such as 5%
    #[arg(long, value_name = "PERCENT", requires = "compare")]
    pub max_regression: Option<Percent>,

    /// How long a comparison may take, in seconds; it ends earlier when every row is decided
    #[arg(long, value_name = "SECONDS", default_value_t = 50, requires = "compare", value_parser = clap::value_parser!(u16).range(1..=3600))]
    time: u16,

    /// Print the comparison as a Markdown table
    #[arg(long, requires = "compare", conflicts_with = "json")]
    pub markdown: bool,

    /// Time what standard input says, for a comparison
    #[arg(long, hide = true, conflicts_with_all = ["compare", "json", "repeats"])]
    pub turns: bool,
}

impl CompareArgs {
    /// How long a comparison may take.
    pub const fn time(&self) -> Duration {
        Duration::from_secs(self.time as u64)
    }
}

/// A share of something else, such as `5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(pub f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end();
        let is_plain = |share: &f64| (0.0..=1000.0).contains(share);
        number
            .parse()
            .ok()
            .filter(is_plain)
            .map(Self)
            .ok_or_else(|| "write a share from 0% to 1000%, such as 5%".to_owned())
    }
}

impl BenchArgs {
    /// Lists, and what is done with them, as they are typed for one side of a comparison.
    pub fn selection(&self) -> Vec<OsString> {
        let mut fingerprint: Vec<OsString> =
            self.files.iter().map(|file| file.as_os_str().to_owned()).collect();
        let mut say =
            |flag: &str, value: &dyn fmt::Display| fingerprint.push(format!("--{flag}={value}").into());
        if let Some(notation) = &self.format.notation {
            say("notation", notation);
        }
        if let Some(alphabet) = &self.format.alphabet {
            say("alphabet", alphabet);
        }
        if let Some(order) = self.format.size {
            say("size", &order.side());
        }
        let kinds = if self.kind.is_empty() { &[Kind::Text][..] } else { &self.kind };
        for kind in kinds {
            say("kind", kind);
        }
        for strategy in &self.strategy {
            say("strategy", strategy);
        }
        for backend in &self.backend {
            say("backend", backend);
        }
        say("question", &self.question);
        say("limit", &self.limit);
        say("node-limit", &self.node_limit);
        say("threads", &self.threads);
        fingerprint
    }

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

    /// The one strategy to time on puzzles of this order, where a comparison names none.
    pub fn only_strategy(&self, order: Order) -> Option<&'static dyn Strategy> {
        (self.comparison.turns && self.strategy.is_empty()).then(|| default_strategy(order))
    }

    /// The back ends to time, the fastest first.
    pub fn backends(&self) -> Vec<Backend> {
        let is_wanted = |backend: &Backend| self.backend.is_empty() || self.backend.contains(backend);
        let most = if self.comparison.turns && self.backend.is_empty() { 1 } else { Backend::ALL.len() };
        Backend::available().filter(is_wanted).take(most).collect()
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
pub struct ExploreArgs {
    /// Clue counts: numbers and ranges with both ends in them, 10,20,30 or 0..40:5, or shares of the cells,
    /// 0%..50%:10% [default: 0..40:5 for 9x9, and the same shares of the cells for other sizes]
    #[arg(long, value_name = "LIST")]
    clues: Option<ClueList>,

    /// How many boards for each clue count
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BOARDS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    boards: u32,

    /// Where boards come from
    #[arg(long, value_enum, value_name = "SOURCE", default_value_t = SourceArg::Random)]
    boards_from: SourceArg,

    /// The side of the boards, 1, 4, 9, 16 or 25; several, as in 4,9,16, show how cost grows with them [default: 9]
    #[arg(long, value_name = "SIDE", value_delimiter = ',', value_parser = side)]
    size: Vec<Order>,

    /// The same by order, the side of a box, 1 to 5
    #[arg(long, value_name = "ORDER", value_delimiter = ',', value_parser = order, conflicts_with = "size")]
    order: Vec<Order>,

    /// A strategy; may be given several times [default: all for the size]
    #[arg(long, value_name = "NAME", value_parser = strategy_names())]
    strategy: Vec<String>,

    /// What to find out of each board
    #[arg(long, value_enum, default_value_t = BoardQuestion::First)]
    question: BoardQuestion,

    /// Give a board up after this many nodes of the search
    #[arg(long, value_name = "N", default_value_t = explore::DEFAULT_NODE_LIMIT, value_parser = from_zero::<u64>)]
    node_limit: u64,

    /// Equal seeds give equal boards [default: any, and it is shown]
    #[arg(long, value_name = "N", value_parser = from_zero::<u64>)]
    seed: Option<u64>,

    /// Count comparisons and placements too, in a second search of each board that is not timed; they are shown by --csv
    #[arg(long)]
    steps: bool,

    /// Print all figures as CSV instead of the tables
    #[arg(long)]
    pub csv: bool,

    /// Draw the figures into FILE, an .svg or a .png, which is whole or absent
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,

    #[command(flatten)]
    pub run: RunArgs,
}

impl ExploreArgs {
    /// The experiment.
    pub fn experiment(&self) -> anyhow::Result<Experiment> {
        let mut orders: Vec<Order> = self.size.iter().chain(&self.order).copied().collect();
        orders.sort_unstable();
        orders.dedup();
        if orders.is_empty() {
            orders.push(Order::NINE);
        }
        let source = match self.boards_from {
            SourceArg::Random => Source::Random,
            SourceArg::Puzzles => Source::Puzzles,
        };
        if orders.len() > 1 && self.clues.as_ref().is_some_and(|clues| !clues.is_relative()) {
            bail!(
                "With several sizes the clues have to be shares of the cells, as in `--clues 0%..50%:10%`."
            );
        }
        let conditions = orders.iter().flat_map(|&order| {
            let clues = self.clues.as_ref().map(|clues| clues.of(order));
            let clues = clues.unwrap_or_else(|| explore::usual_clues(source, order));
            clues.into_iter().map(move |clues| Condition { order, clues })
        });
        let settings = Settings {
            source,
            boards: self.boards,
            strategies: self.strategies(&orders)?,
            question: match self.question {
                BoardQuestion::First => Question::First,
                BoardQuestion::Unique => Question::Unique,
            },
            node_limit: self.node_limit,
            counts_steps: self.steps,
            seed: self.seed.unwrap_or_else(any_seed),
        };
        Ok(Experiment::new(conditions.collect(), settings)?)
    }

    /// The strategies for boards of these orders, as they stand in the registry.
    fn strategies(&self, orders: &[Order]) -> anyhow::Result<Vec<&'static dyn Strategy>> {
        let is_wanted =
            |s: &&dyn Strategy| self.strategy.is_empty() || self.strategy.iter().any(|name| name == s.name());
        let wanted: Vec<_> = STRATEGIES.iter().copied().filter(is_wanted).collect();
        for &order in orders {
            if let (Some(strategy), false) = (wanted.first(), wanted.iter().any(|s| s.supports(order))) {
                bail!("The strategy {} does not solve {order} puzzles. Name another.", strategy.name());
            }
        }
        Ok(wanted)
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SourceArg {
    /// Random values that keep the rules, with one solution, several, or none
    Random,
    /// Puzzles with one solution
    Puzzles,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BoardQuestion {
    /// Any solution
    First,
    /// Is there a solution, and is it the only one?
    Unique,
}

/// What stands below the flags.
const LOAD_JSON: &str = "\
With --json one object is printed. It has what was asked for (server, method, batch, connections, streams, in_flight, rate, \
check_every), interrupted, seconds, messages (sent, answered, unsent), puzzles (sent, right, checked, wrong, missing, repeated, \
failed), error_lines by code, statuses by name, puzzles_per_second, messages_per_second, latency_us (mean, p50, p90, p99, p99_9, \
max), the version of this program and, if there is one, the first wrong_answer. Of the puzzles sent each is right, wrong, missing \
(never answered) or failed (its call was ended by a status); repeated answers come on top of that.

Exit codes: 0, every puzzle was answered rightly, once; 1, some were not; 2, the server could not be loaded.";

#[derive(Clone, Debug, ClapArgs)]
#[command(after_long_help = LOAD_JSON)]
pub struct LoadArgs {
    /// The puzzles, which are sent over and over: a file, or `-` for standard input [default: a sample that is part of
    /// the program]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArgs,

    /// The server, such as `http://127.0.0.1:50051`
    #[arg(id = "server", long = "server", value_name = "URL")]
    pub url: String,

    #[command(flatten)]
    pub trust: TrustArgs,

    /// What is called
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodArg::SolveLines)]
    pub method: MethodArg,

    /// The puzzles of a message [default: 1024 for solve-lines, 1 for the others]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_384))]
    batch: Option<u32>,

    /// Connections
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    connections: u32,

    /// Streams on each connection; with `--method solve` it multiplies the calls in flight
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    streams: u32,

    /// Messages that a stream has in flight at most, or calls
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    in_flight: u32,

    /// Send so many puzzles a second, all together, whether they are answered or not; what waits to be sent counts as
    /// waiting for its answer [default: as many as are answered]
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<f64>,

    /// How long to send
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub duration: Duration,

    /// Stop after N puzzles
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroU64>)]
    puzzles: Option<NonZeroU64>,

    /// Compare only the answers to every N-th message, and count those to the others
    #[arg(long, value_name = "N", default_value = "1", value_parser = from_one::<NonZeroU64>)]
    check_every: NonZeroU64,

    /// Threads that send and receive [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print one JSON object instead of the report
    #[arg(long)]
    pub json: bool,

    /// Show no progress bar (there is none anyway unless standard error is a terminal)
    #[arg(long)]
    no_progress: bool,

    /// Print nothing on standard error but what went wrong
    #[arg(short, long)]
    pub quiet: bool,
}

impl LoadArgs {
    /// The most messages in flight over all connections.
    const MAX_IN_FLIGHT: u32 = 1 << 20;

    /// The input, if one was named.
    pub fn input(&self) -> Option<InputArgs> {
        let input =
            |file: &PathBuf| InputArgs { file: file.clone(), format: self.format.clone(), no_mmap: false };
        self.file.as_ref().map(input)
    }

    /// How the server is loaded.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        let Self { connections, streams, in_flight, .. } = *self;
        let all = connections.checked_mul(streams).and_then(|all| all.checked_mul(in_flight));
        if all.is_none_or(|all| all > Self::MAX_IN_FLIGHT) {
            bail!(
                "That would be more than {} messages in flight. Ask for fewer connections, streams or messages of each.",
                Self::MAX_IN_FLIGHT
            );
        }
        let method = match self.method {
            MethodArg::Solve => Method::Solve,
            MethodArg::SolveStream => Method::SolveStream,
            MethodArg::SolveLines => Method::SolveLines,
        };
        let usual_batch = if method == Method::SolveLines { 1024 } else { 1 };
        Ok(Plan {
            method,
            message_puzzles: self.batch.unwrap_or(usual_batch).try_into()?,
            connections: connections.try_into()?,
            streams: streams.try_into()?,
            in_flight: in_flight.try_into()?,
            rate: self.rate,
            duration: self.duration,
            puzzles: self.puzzles.map(NonZeroU64::get),
            check_every: self.check_every.get(),
        })
    }

    pub fn threads(&self) -> usize {
        let half = || thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
        self.threads.map_or_else(half, usize::from)
    }

    pub const fn wants_bar(&self) -> bool {
        !self.no_progress && !self.quiet
    }
}

/// A method that can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodArg {
    /// One call a message
    Solve,
    /// Streams of puzzles, with answers as messages
    SolveStream,
    /// Streams of lines
    SolveLines,
}

/// How many puzzles a second can be asked for.
const MAX_RATE: f64 = 1e8;

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-3..=MAX_RATE).contains(rate));
    rate.ok_or_else(|| "give a number of puzzles a second, up to 100,000,000".to_owned())
}

/// The longest time that can be asked for, in seconds.
const MAX_SECONDS: f64 = 7.0 * 86_400.0;

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1e-3..=MAX_SECONDS).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give a number of seconds, up to a week".to_owned())
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

impl fmt::Display for QuestionArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Unique => "unique",
            Self::Count => "count",
        })
    }
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

const ATTEMPTS: NonZeroU64 = match NonZeroU64::new(DEFAULT_ATTEMPTS) {
    Some(attempts) => attempts,
    None => NonZeroU64::MIN,
};

const COUNT_LIMIT: NonZeroU64 = match NonZeroU64::new(DEFAULT_COUNT_LIMIT) {
    Some(limit) => limit,
    None => NonZeroU64::MIN,
};

fn side(text: &str) -> Result<Order, String> {
    let order = text.parse().ok().and_then(Order::from_side);
    order.ok_or_else(|| "a side is 1, 4, 9, 16 or 25".to_owned())
}

fn order(text: &str) -> Result<Order, String> {
    let order = text.parse().ok().and_then(Order::new);
    order.ok_or_else(|| "an order is 1, 2, 3, 4 or 5".to_owned())
}

fn from_one<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number from 1".to_owned())
}

fn from_zero<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number from 0".to_owned())
}

fn guesses(text: &str) -> Result<Difficulty, generate::NoGuesses> {
    generate::guesses(text).map(Difficulty::Guesses)
}

/// The file that is meant by OUT, if any.
fn output_path(out: Option<&Path>) -> Option<&Path> {
    out.filter(|path| path.as_os_str() != STANDARD_OUTPUT)
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

fn symmetry_names() -> clap::builder::PossibleValuesParser {
    described(Symmetry::ALL.iter().map(|(name, symmetry)| (*name, symmetry.summary())))
}

fn difficulty_names() -> clap::builder::PossibleValuesParser {
    described(Difficulty::ALL.iter().map(|(name, difficulty)| (*name, difficulty.summary())))
}

fn grids_names() -> clap::builder::PossibleValuesParser {
    described(Grids::ALL.iter().map(|(name, grids)| (*name, grids.summary())))
}

/// Names with a line on each.
fn described(
    names: impl Iterator<Item = (&'static str, &'static str)>,
) -> clap::builder::PossibleValuesParser {
    names
        .map(|(name, summary)| clap::builder::PossibleValue::new(name).help(summary))
        .collect::<Vec<_>>()
        .into()
}
