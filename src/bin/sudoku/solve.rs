//! `sudoku solve` and `sudoku count`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use sudoku_stream::answer::{OutputForm, Task, Workers};
use sudoku_stream::input::{self, InputError, Reader, Rewindable, Source, ValidateError, Version};
use sudoku_stream::offline::{self, OfflineError, Output, Progress, RunIdentity};
use sudoku_stream::pipeline;
use sudoku_stream::solver::{Fast, Strategy};

use super::args::SolveArgs;
use super::{EXIT_ERRORS_SEEN, interrupt, open, remote, view};

pub fn run(args: &SolveArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let server = &args.answer.server;
    let servers = remote::servers(server)?;
    if args.answer.resume && args.answer.output_path().is_none() {
        bail!("--resume needs a file to go on with. Name one with -o.");
    }
    let cancel = interrupt::flag()?;
    let pool = pipeline::pool(args.run.threads()).context("The worker threads cannot be started")?;
    let pool = Arc::new(pool);
    let not_begun = || Ok(interrupted("Stopped before the first puzzle"));

    let wanted = args.clone();
    let opened = interrupt::interruptible(&cancel, move || Input::open(&wanted))?;
    let Some(Input { mut reader, kept, version }) = opened else { return not_begun() };
    if let Some(kept) = kept {
        match input::validate(reader, &pool, &cancel, 1, |_| ()) {
            Err(ValidateError::Cancelled) => return not_begun(),
            Err(ValidateError::Input(error)) => return Err(error.into()),
            Ok(found) => {
                if let Some(error) = found.errors.into_iter().next() {
                    return Err(error.into());
                }
            }
        }
        reader = read(kept.source()?, args, version)?;
    }

    let task = task_for(args, &reader)?;
    let mut output = open_output(args, task.strategy_for(reader.format().order()), version)?;
    let (part, answered) = (args.answer.shard, output.progress().clone());
    if part.is_some() || answered.tally.answers > 0 {
        let moved = interrupt::interruptible(&cancel, move || {
            if let Some(part) = part {
                reader.select_shard(part)?;
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
    if output.progress().tally.answers > 0 && !args.run.quiet {
        let answered = view::counted(output.progress().tally.answers, "puzzle");
        view::status_line(&format!("Going on after {answered}."));
    }
    let (first_byte, end) = reader.span();
    let bar = view::progress_bar(&args.run, end.map(|end| end - first_byte.min(end)));
    bar.set_position(output.progress().bytes.saturating_sub(first_byte));
    bar.reset_eta();
    let watch = |so_far: &Progress| show(&bar, so_far, first_byte, time());
    let notify = |notice: &str| {
        if !args.run.quiet {
            bar.suspend(|| view::status_line(notice));
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
    // A part may well have no puzzle.
    if tally.answers == 0 && part.is_none() {
        bail!("{} is empty.", args.input.file.display());
    }
    output.finish()?;
    if !args.run.quiet {
        view::status_line(&view::summary(&tally, time()));
    }
    if args.answer.stats {
        view::status_line(&view::stats(&tally, time()));
    }
    let seen = args.answer.fail_on_error && tally.error_count() > 0;
    Ok(if seen { ExitCode::from(EXIT_ERRORS_SEEN) } else { ExitCode::SUCCESS })
}

/// What is read.
struct Input {
    reader: Reader,
    /// The same once more, if it is to be validated first.
    kept: Option<Rewindable>,
    /// What tells whether it was changed, if it is a file.
    version: Option<Version>,
}

impl Input {
    fn open(args: &SolveArgs) -> anyhow::Result<Self> {
        let source = open::source(&args.input)?;
        if let Some(id) = source.file_id() {
            Output::check_apart(args.answer.output_path(), id)?;
        }
        if args.answer.shard.is_some() {
            source.check_shardable()?;
        }
        let version = source.version();
        if args.answer.resume && version.is_none() {
            bail!("--resume needs an input that can be read again. Write {} to a file first.", source.name());
        }
        if !args.answer.strict {
            return Ok(Self { reader: read(source, args, version)?, kept: None, version });
        }
        let kept = source.rewindable()?;
        Ok(Self { reader: open::read(kept.source()?, &args.input)?, kept: Some(kept), version })
    }
}

/// Detects how the input is written. What is read is hashed if the run can be resumed: if it reads
/// from a file and writes to one.
fn read(source: Source, args: &SolveArgs, version: Option<Version>) -> anyhow::Result<Reader> {
    let is_file = |out: &Path| fs::metadata(out).map_or(true, |found| found.is_file());
    let is_resumable = version.is_some() && args.answer.output_path().is_some_and(is_file);
    open::read(if is_resumable { source.hashed() } else { source }, &args.input)
}

/// Opens what the answers go to. Where the input is a file, what it takes to go on after a kill is remembered.
fn open_output(
    args: &SolveArgs,
    strategy: &'static dyn Strategy,
    version: Option<Version>,
) -> anyhow::Result<Output> {
    let answer = &args.answer;
    let Some(path) = answer.output_path() else { return Ok(Output::standard()) };
    let Some(version) = version else { return Ok(Output::file(path, answer.durable)?) };
    let input = fs::canonicalize(&args.input.file).unwrap_or_else(|_| args.input.file.clone());
    let run = RunIdentity {
        program: format!("sudoku {}", env!("CARGO_PKG_VERSION")),
        input: input.display().to_string(),
        version,
        options: args.fingerprint(strategy.name()),
    };
    Ok(Output::resumable(path, answer.durable, run, answer.resume)?)
}

/// What is asked, made to fit what was found.
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
    if args.answer.output_path().is_none() && task.form == OutputForm::Grid && view::is_painted() {
        task.form = OutputForm::PaintedGrid;
    }
    Ok(task)
}

fn show(bar: &ProgressBar, progress: &Progress, first_byte: u64, time: Duration) {
    if !bar.is_hidden() {
        bar.set_position(progress.bytes.saturating_sub(first_byte));
        bar.set_message(format!("{} puzzles/s", view::per_second(progress.tally.answers, time)));
    }
}

/// Ends a run that did not come to its end, and says what there is of the answers.
fn stopped(args: &SolveArgs, output: Output, error: anyhow::Error) -> anyhow::Result<ExitCode> {
    let known = error.downcast_ref();
    if known.is_some_and(offline::is_closed_pipe) {
        return Ok(ExitCode::SUCCESS);
    }
    let is_cancelled = matches!(known, Some(OfflineError::Cancelled));
    let answers = output.progress().tally.answers;
    let is_kept = match known {
        // Nobody can go on in an input that is another now.
        Some(OfflineError::Input(InputError::Shrunk { .. } | InputError::Changed { .. })) => {
            output.discard();
            false
        }
        _ => output.stop(),
    };
    let mut how_far = format!("Stopped after {} answered", view::counted(answers, "puzzle"));
    if let Some(path) = args.answer.output_path() {
        how_far += &format!("; {} was not written", path.display());
    }
    if is_kept {
        how_far += ", but --resume goes on from here";
    }
    if is_cancelled {
        return Ok(interrupted(&how_far));
    }
    Err(if answers == 0 { error } else { error.context(how_far) })
}

fn interrupted(what: &str) -> ExitCode {
    view::status_line(&format!("Interrupted. {what}."));
    interrupt::exit_code()
}
