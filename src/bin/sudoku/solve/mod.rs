//! `sudoku solve` and `sudoku count`: answers every puzzle of an input, here or on servers.

pub mod remote;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::ProgressBar;
use sudoku_stream::answer::{OutputForm, Task, Workers};
use sudoku_stream::input::{self, InputError, Reader, Rewindable, Shard, Source, ValidateError, Version};
use sudoku_stream::offline::{self, OfflineError, Output, Progress, RunIdentity};
use sudoku_stream::pipeline;
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Fast, Strategy};

use crate::cli::input::InputArgs;
use crate::cli::interrupt::{self, interruptible};
use crate::cli::output::OutputArgs;
use crate::cli::run::RunArgs;
use crate::cli::server::ServerArgs;
use crate::cli::value::{self, AnyStrategy, COUNT_LIMIT, QuestionArg, whole};
use crate::cli::{exit, print, progress, summary};

const SOLVE_EXAMPLES: &str = "\
Examples:
  sudoku solve puzzles.txt -o solutions.txt
  zcat lists/*.gz | sudoku solve - > solutions.txt
  sudoku solve puzzles.txt --question unique --output csv -o answers.csv
  sudoku solve puzzles.txt -o part-2.txt --shard 2/5
  sudoku solve puzzles.txt --server http://one:50051,http://two:50051

Each puzzle line is answered by one line, in order: a solution, or `error: ` and a sentence.";

const COUNT_EXAMPLES: &str = "\
Examples:
  sudoku count puzzles.txt
  sudoku count puzzles.txt --limit 2

Each puzzle line is answered by one line, in order: a number, or `error: ` and a sentence.";

/// Arguments of `sudoku solve`.
#[derive(Clone, Args)]
#[command(after_long_help = SOLVE_EXAMPLES)]
pub struct SolveArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Answer to find for every puzzle
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = QuestionArg::First)]
    question: QuestionArg,

    /// Stop `--question count` at N solutions of a puzzle
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = COUNT_LIMIT)]
    #[arg(value_parser = whole::<u64>(1..), help_heading = "Search")]
    limit: u64,

    #[command(flatten)]
    answer: AnswerArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// Arguments of `sudoku count`.
#[derive(Clone, Args)]
#[command(after_long_help = COUNT_EXAMPLES)]
pub struct CountArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Stop counting at N solutions
    ///
    /// An answer of N then means N or more.
    #[arg(long, value_name = "N", default_value_t = COUNT_LIMIT, value_parser = whole::<u64>(1..))]
    limit: u64,

    #[command(flatten)]
    answer: AnswerArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// How puzzles are searched, and how answers are written.
#[derive(Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct AnswerArgs {
    #[command(flatten)]
    out: OutputArgs,

    /// Form of the answers
    #[arg(long, value_name = "FORM", value_parser = value::form(), default_value = "solution")]
    output: OutputForm,

    /// Search strategy [default: fast for 9x9, propagation for other sizes]
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = value::strategy())]
    #[arg(help_heading = "Search")]
    strategy: Option<AnyStrategy>,

    /// Instructions of the strategy fast: avx512, avx512vl, avx2 or portable [default: fastest of
    /// this machine]
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    #[arg(env = "SUDOKU_BACKEND", hide_env = true)]
    #[arg(help_heading = "Search")]
    backend: Option<Backend>,

    /// Give up a puzzle after N nodes
    ///
    /// A node is a state that the search visits.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT, value_parser = whole::<u64>(0..))]
    node_limit: u64,

    /// Validate all input first; stop at a bad line
    ///
    /// The first bad line ends the run, and nothing is written.
    #[arg(long)]
    strict: bool,

    /// Continue a stopped run with the same OUT
    ///
    /// Without an earlier run it starts from the beginning.
    /// If this run is stopped, its progress is kept for the next one.
    #[arg(long, requires = "output_file")]
    resume: bool,

    /// Answer only part K of N of the input, as in 2/5
    ///
    /// The answers to parts 1/N to N/N, one after another, are the answers to the whole input.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,

    /// Exit with 1 if an answer is an error line
    #[arg(long)]
    fail_on_error: bool,

    /// Print the search costs on standard error
    ///
    /// They are nodes, guesses, backtracks and depth, and where the strategy counts them
    /// comparisons and placements. One puzzle gives a line, several a table with means and
    /// percentiles.
    #[arg(long)]
    stats: bool,

    #[command(flatten)]
    server: ServerArgs,
}

impl From<CountArgs> for SolveArgs {
    fn from(args: CountArgs) -> Self {
        let CountArgs { input, limit, answer, run } = args;
        Self { input, question: QuestionArg::Count, limit, answer, run }
    }
}

impl SolveArgs {
    /// The options on which answers depend, with their values, always in the same order. A run
    /// resumes another only if these are equal. `strategy` is the one in use, named or not.
    fn fingerprint(&self, strategy: &str) -> Vec<(String, Option<String>)> {
        let (format, answer) = (&self.input.format, &self.answer);
        // Costs are counted from the beginning or not at all, and a server reports fewer of them.
        let stats = if answer.server.urls.is_empty() { "" } else { "with --server" };
        let options = [
            ("--notation", format.notation.map(|notation| notation.to_string())),
            ("--alphabet", format.alphabet.as_ref().map(ToString::to_string)),
            ("--size", format.size.map(|order| order.side().to_string())),
            ("--question", Some(self.question.to_string())),
            ("--limit", Some(self.limit.to_string())),
            ("--strategy", Some(strategy.to_owned())),
            ("--output", Some(answer.output.to_string())),
            ("--node-limit", Some(answer.node_limit.to_string())),
            ("--shard", answer.shard.map(|shard| shard.to_string())),
            ("--stats", answer.stats.then(|| stats.to_owned())),
        ];
        options.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    /// The task for every puzzle.
    const fn task(&self) -> Task {
        Task {
            strategy: self.answer.strategy,
            question: self.question.up_to(self.limit),
            node_limit: self.answer.node_limit,
            form: self.answer.output,
            measure: self.answer.stats,
        }
    }
}

/// Runs `sudoku solve`.
pub fn run(args: &SolveArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let servers = args.answer.server.servers()?;
    if args.answer.resume && args.answer.out.path().is_none() {
        bail!("--resume needs a file to go on with. Name one with -o.");
    }
    let cancel = interrupt::flag()?;
    let pool = pipeline::pool(args.run.threads).context("The worker threads cannot be started")?;
    let pool = Arc::new(pool);
    let not_begun = || Ok(interrupt::report("Stopped before the first puzzle"));

    let wanted = args.clone();
    let opened = interruptible(&cancel, move || Input::open(&wanted))?;
    let Some(Input { mut reader, rewindable, version }) = opened else { return not_begun() };
    if let Some(rewindable) = rewindable {
        match input::validate(reader, &pool, &cancel, 1, |_| ()) {
            Err(ValidateError::Cancelled) => return not_begun(),
            Err(ValidateError::Input(error)) => return Err(error.into()),
            Ok(found) => {
                if let Some(error) = found.errors.into_iter().next() {
                    return Err(error.into());
                }
            }
        }
        reader = read(rewindable.source()?, args, version)?;
    }

    let task = task_for(args, &reader)?;
    let mut output = open_output(args, task.strategy_for(reader.format().order()), version)?;
    let (shard, answered) = (args.answer.shard, output.progress().clone());
    if shard.is_some() || answered.tally.answers > 0 {
        let moved = interruptible(&cancel, move || {
            if let Some(shard) = shard {
                reader.select_shard(shard)?;
            }
            let is_same = match answered.prefix {
                Some(prefix) => reader.resume(answered.bytes, prefix)?,
                None => true,
            };
            Ok((reader, is_same))
        })?;
        let Some((moved, is_same)) = moved else { return not_begun() };
        if !is_same {
            return Err(output.other_input().into());
        }
        reader = moved;
    }
    let earlier = output.earlier();
    let time = || earlier + begin.elapsed();
    if output.progress().tally.answers > 0 && !args.run.progress.quiet {
        let answered = print::counted(output.progress().tally.answers, "puzzle");
        print::status_line(&format!("Going on after {answered}."));
    }
    let (first_byte, end) = reader.span();
    let length = end.map(|end| end - first_byte.min(end));
    let bar = progress::beside(&args.answer.out, || progress::of_bytes(&args.run.progress, length));
    bar.set_position(output.progress().bytes.saturating_sub(first_byte));
    bar.reset_eta();
    let watch = |so_far: &Progress| show(&bar, so_far, first_byte, time());
    let notify = |notice: &str| {
        if !args.run.progress.quiet {
            bar.suspend(|| print::status_line(notice));
        }
    };
    let result = if servers.endpoints.is_empty() {
        let workers = Arc::new(Workers::new(reader.format().clone(), task));
        offline::solve(reader, &workers, &pool, &cancel, &mut output, watch).map_err(Into::into)
    } else {
        remote::solve(&servers, reader, &task, &cancel, &mut output, watch, notify)
    };
    bar.finish_and_clear();
    if let Err(error) = result {
        return stopped(args, output, error);
    }
    let tally = output.progress().tally.clone();
    // A shard may have no puzzle.
    if tally.answers == 0 && shard.is_none() {
        bail!("{} is empty.", args.input.file.display());
    }
    output.finish()?;
    if !args.run.progress.quiet {
        print::status_line(&summary::summary(&tally, time()));
    }
    if args.answer.stats {
        print::status_line(&summary::stats(&tally, time()));
    }
    let has_errors = args.answer.fail_on_error && tally.error_count() > 0;
    Ok(if has_errors { ExitCode::from(exit::ERRORS_SEEN) } else { ExitCode::SUCCESS })
}

/// The input, opened.
struct Input {
    reader: Reader,
    /// The input once more, for `--strict`, which reads it twice.
    rewindable: Option<Rewindable>,
    /// The version of the file, which shows whether it was changed.
    version: Option<Version>,
}

impl Input {
    fn open(args: &SolveArgs) -> anyhow::Result<Self> {
        let source = args.input.source()?;
        if let Some(id) = source.file_id() {
            Output::check_apart(args.answer.out.path(), id)?;
        }
        if args.answer.shard.is_some() {
            source.check_shardable()?;
        }
        let version = source.version();
        if args.answer.resume && version.is_none() {
            bail!("--resume needs an input that can be read again. Write {} to a file first.", source.name());
        }
        if !args.answer.strict {
            return Ok(Self { reader: read(source, args, version)?, rewindable: None, version });
        }
        let rewindable = source.rewindable()?;
        Ok(Self { reader: args.input.detect(rewindable.source()?)?, rewindable: Some(rewindable), version })
    }
}

/// Detects the format. The input is hashed while it is read if the run can be resumed: from a file
/// to a file.
fn read(source: Source, args: &SolveArgs, version: Option<Version>) -> anyhow::Result<Reader> {
    let is_file = |out: &Path| fs::metadata(out).map_or(true, |found| found.is_file());
    let is_resumable = version.is_some() && args.answer.out.path().is_some_and(is_file);
    args.input.detect(if is_resumable { source.hashed() } else { source })
}

/// Opens the output. A run from a file can be resumed, so its options are recorded beside OUT.
fn open_output(
    args: &SolveArgs,
    strategy: &'static dyn Strategy,
    version: Option<Version>,
) -> anyhow::Result<Output> {
    let answer = &args.answer;
    let Some(path) = answer.out.path() else { return Ok(Output::standard()) };
    let Some(version) = version else { return Ok(Output::file(path, answer.out.durable)?) };
    let input = fs::canonicalize(&args.input.file).unwrap_or_else(|_| args.input.file.clone());
    let run = RunIdentity {
        program: format!("sudoku {}", env!("CARGO_PKG_VERSION")),
        input: input.display().to_string(),
        version,
        options: args.fingerprint(strategy.name()),
    };
    Ok(Output::resumable(path, answer.out.durable, run, answer.resume)?)
}

/// The task for the detected format: strategy, back end, colours.
fn task_for(args: &SolveArgs, reader: &Reader) -> anyhow::Result<Task> {
    let mut task = args.task();
    let order = reader.format().order();
    let strategy = task.strategy_for(order);
    if !strategy.supports(order) {
        bail!("The strategy {} does not solve {order} puzzles. Name another.", strategy.name());
    }
    if let Some(backend) = args.answer.backend
        && strategy.name() == Fast::BEST.name()
        && args.answer.server.urls.is_empty()
    {
        task.strategy = Some(Fast::with(backend));
    }
    if args.answer.out.path().is_none() && task.form == OutputForm::Grid && print::has_colours() {
        task.form = OutputForm::PaintedGrid;
    }
    Ok(task)
}

fn show(bar: &ProgressBar, progress: &Progress, first_byte: u64, time: Duration) {
    if !bar.is_hidden() {
        bar.set_position(progress.bytes.saturating_sub(first_byte));
        bar.set_message(format!("{} puzzles/s", print::per_second(progress.tally.answers, time)));
    }
}

/// Ends a run that failed or was interrupted, and reports which answers there are.
fn stopped(args: &SolveArgs, output: Output, error: anyhow::Error) -> anyhow::Result<ExitCode> {
    let known = error.downcast_ref();
    if known.is_some_and(offline::is_closed_pipe) {
        return Ok(ExitCode::SUCCESS);
    }
    let is_cancelled = matches!(known, Some(OfflineError::Cancelled));
    let answers = output.progress().tally.answers;
    let is_kept = match known {
        // The input is another now, so the run cannot be resumed.
        Some(OfflineError::Input(InputError::Shrunk { .. } | InputError::Changed { .. })) => {
            output.discard();
            false
        }
        _ => output.stop(),
    };
    let mut how_far = format!("Stopped after {} answered", print::counted(answers, "puzzle"));
    if let Some(path) = args.answer.out.path() {
        how_far += &format!("; {} was not written", path.display());
    }
    if is_kept {
        how_far += ", but --resume goes on from here";
    }
    if is_cancelled {
        return Ok(interrupt::report(&how_far));
    }
    Err(if answers == 0 { error } else { error.context(how_far) })
}
