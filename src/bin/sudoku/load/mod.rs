//! `sudoku load`: how much a server stands, and how soon it answers, with every answer checked.

mod report;

use std::io::Cursor;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context as _;
use sudoku_stream::input::Source;
use sudoku_stream::load::{self, Figures, Workload};
use sudoku_stream::pipeline;
use sudoku_stream::text::Hint;

use self::report::Report;
use super::args::LoadArgs;
use super::{EXIT_DISAGREED, demo, interrupt, open, remote, view};

pub fn run(args: &LoadArgs) -> anyhow::Result<ExitCode> {
    let plan = args.plan()?;
    let endpoint = remote::endpoint(&args.trust, &args.url)?;
    let cancel = interrupt::flag()?;
    let input = args.input();
    let flag = Arc::clone(&cancel);
    let read = move || -> anyhow::Result<Workload> {
        let mut reader = match &input {
            Some(input) => open::reader(input)?,
            None => {
                let sample = Box::new(Cursor::new(demo::SAMPLE));
                Source::reading("The sample".to_owned(), sample)?.read(&Hint::default())?
            }
        };
        let pool = pipeline::pool(None).context("The worker threads cannot be started")?;
        Ok(Workload::read(&mut reader, &pool, &flag)?)
    };
    let Some(workload) = interrupt::interruptible(&cancel, read)? else {
        view::status_line("Interrupted. Stopped before the first puzzle.");
        return Ok(interrupt::exit_code());
    };
    if workload.left_out() > 0 && !args.quiet {
        let bad = view::counted(workload.left_out(), "bad puzzle");
        view::status_line(&format!("{bad} cannot be written on one line, and are left out."));
    }

    let milliseconds = u64::try_from(plan.duration.as_millis()).unwrap_or(u64::MAX);
    let bar = view::time_bar(args.wants_bar(), milliseconds);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(args.threads())
        .enable_all()
        .build()
        .context("The threads cannot be started")?;
    let workload = Arc::new(workload);
    let mut watch = |figures: &Figures, time: Duration| {
        bar.set_position(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        bar.set_message(format!("{} puzzles/s", view::per_second(figures.right, time)));
    };
    let loaded = runtime.block_on(load::run(&endpoint, &plan, &workload, &cancel, &mut watch));
    // Somebody may still be looking up the name of the server, which nobody waits for.
    runtime.shutdown_background();
    bar.finish_and_clear();
    let figures = loaded?;

    let is_interrupted = cancel.load(Ordering::Relaxed);
    let report = Report::new(args, &plan, &figures, is_interrupted);
    view::print(&if args.json { report.json()? } else { report.text(&figures) })?;
    Ok(exit_code(&figures, is_interrupted))
}

fn exit_code(figures: &Figures, is_interrupted: bool) -> ExitCode {
    if !figures.are_good() {
        ExitCode::from(EXIT_DISAGREED)
    } else if is_interrupted {
        interrupt::exit_code()
    } else {
        ExitCode::SUCCESS
    }
}
