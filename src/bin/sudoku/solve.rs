//! `sudoku solve` and `sudoku count`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::ProgressBar;
use sudoku_stream::answer::{OutputForm, Task, Workers};
use sudoku_stream::batch::{self, BatchError, Output, Progress};
use sudoku_stream::input::{self, Reader, Stopped};
use sudoku_stream::pipeline;
use sudoku_stream::solver::{Fast, Strategy as _};

use super::args::SolveArgs;
use super::{EXIT_ERRORS_SEEN, interrupt, open, remote, view};

pub fn run(args: &SolveArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let server = &args.answer.server;
    let access = server.url.as_ref().map(|url| remote::access(server, url)).transpose()?;
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::pool(args.run.threads())?);

    let (input, is_strict) = (args.input.clone(), args.answer.strict);
    let opened = interrupt::unless_raised(&cancel, move || {
        let source = open::source(&input)?;
        // To be validated first, the input has to be read twice.
        if !is_strict {
            return Ok((open::read(source, &input)?, None));
        }
        let kept = source.keep()?;
        Ok((open::read(kept.source()?, &input)?, Some(kept)))
    })?;
    let Some((mut reader, kept)) = opened else { return Ok(interrupted("Stopped before the first puzzle")) };
    if let Some(kept) = kept {
        match input::validate(reader, &pool, &cancel, 1, |_| ()) {
            Err(Stopped::Cancelled) => return Ok(interrupted("Stopped before the first puzzle")),
            Err(Stopped::Input(error)) => return Err(error.into()),
            Ok(found) => {
                if let Some(error) = found.errors.into_iter().next() {
                    return Err(error.into());
                }
            }
        }
        reader = open::read(kept.source()?, &args.input)?;
    }

    let task = task_for(args, &reader)?;
    let mut output = match args.answer.output_path() {
        Some(path) => Output::file(path, args.answer.durable)?,
        None => Output::standard(),
    };
    let bar = view::progress_bar(&args.run, reader.len_bytes());
    let mut progress = Progress::default();
    let watch = |so_far: &Progress| {
        show(&bar, so_far, begin.elapsed());
        progress = so_far.clone();
    };
    let result = match &access {
        Some(access) => remote::solve(access, reader, &task, &cancel, &mut output, watch),
        None => {
            let workers = Arc::new(Workers::new(reader.format().clone(), task));
            batch::solve(reader, &workers, &pool, &cancel, &mut output, watch).map(|_| ()).map_err(Into::into)
        }
    };
    bar.finish_and_clear();
    if let Err(error) = result {
        return match error.downcast_ref() {
            Some(error) if batch::is_closed_pipe(error) => Ok(ExitCode::SUCCESS),
            Some(BatchError::Cancelled) => Ok(interrupted(&how_far(args, &progress))),
            _ if progress.tally.answers == 0 => Err(error),
            _ => Err(error.context(how_far(args, &progress))),
        };
    }
    if progress.tally.answers == 0 {
        bail!("{} is empty.", args.input.file.display());
    }
    output.finish()?;
    if !args.run.quiet {
        view::complain(&view::summary(&progress.tally, begin.elapsed()));
    }
    if args.answer.stats {
        view::complain(&view::stats(&progress.tally, begin.elapsed()));
    }
    let seen = args.answer.fail_on_error && progress.tally.error_count() > 0;
    Ok(if seen { ExitCode::from(EXIT_ERRORS_SEEN) } else { ExitCode::SUCCESS })
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
        && args.answer.server.url.is_none()
    {
        task.strategy = Some(Fast::with(backend));
    }
    if args.answer.output_path().is_none() && task.form == OutputForm::Grid && view::is_painted() {
        task.form = OutputForm::PaintedGrid;
    }
    Ok(task)
}

fn show(bar: &ProgressBar, progress: &Progress, time: Duration) {
    if !bar.is_hidden() {
        bar.set_position(progress.bytes);
        bar.set_message(format!("{} puzzles/s", view::per_second(progress.tally.answers, time)));
    }
}

/// What there is of the answers after a run that did not come to its end.
fn how_far(args: &SolveArgs, progress: &Progress) -> String {
    let answered = format!("{} answered", view::counted(progress.tally.answers, "puzzle"));
    match args.answer.output_path() {
        Some(path) => format!("Stopped after {answered}; {} was not written", path.display()),
        None => format!("Stopped after {answered}"),
    }
}

fn interrupted(what: &str) -> ExitCode {
    view::complain(&format!("Interrupted. {what}."));
    interrupt::exit_code()
}
