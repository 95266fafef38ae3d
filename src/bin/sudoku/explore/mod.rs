//! `sudoku explore`: what comes of boards with few and many clues, and what each strategy pays for it.
//!
//! Searches are timed one by one, each on one worker thread, or together where a strategy works that way. With all cores busy
//! times are noisier than alone; medians bear that better than means.

mod canvas;
mod csv;
mod letters;
mod plot;
mod table;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::bail;
use indicatif::ProgressBar;
use sudoku_stream::explore::{Done, Experiment, Failure, Job, Results};
use sudoku_stream::offline::Output;
use sudoku_stream::pipeline::{self, Ended, NoReader, ThreadPool};

use super::args::ExploreArgs;
use super::{EXIT_DISAGREED, interrupt, view};

pub fn run(args: &ExploreArgs) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::flag()?;
    let experiment = Arc::new(args.experiment()?);
    // Opened before hours of work, so that nobody hears of a wrong name after them.
    let plot = args.plot.as_deref().map(Plot::open).transpose()?;
    let pool = Arc::new(pipeline::pool(args.run.threads())?);
    if !args.csv {
        view::print(&table::heading(&experiment, pool.current_num_threads()))?;
    }

    let searches = experiment.searches();
    let bar = view::searches_bar(&args.run, searches);
    let ran = search(&experiment, &pool, &cancel, &bar);
    let done = bar.position();
    bar.finish_and_clear();
    let results = match ran {
        Ok(results) => results,
        Err(Stopped::Failure(Failure::Cancelled)) => {
            let done = view::thousands(done);
            let all =
                if searches == 1 { "1 search" } else { &format!("{} searches", view::thousands(searches)) };
            let unwritten = match &args.plot {
                Some(path) => format!("; {} was not written", path.display()),
                None => String::new(),
            };
            view::status_line(&format!("Interrupted. Stopped after {done} of {all}{unwritten}."));
            return Ok(interrupt::exit_code());
        }
        Err(Stopped::Threads(error)) => return Err(error.into()),
        Err(Stopped::Failure(Failure::Wrong(what))) => {
            view::status_line(&format!("{what}. This is a bug."));
            return Ok(ExitCode::from(EXIT_DISAGREED));
        }
    };
    view::print(&if args.csv { csv::write(&results) } else { table::write(&results) })?;
    if let Some(plot) = plot {
        plot.finish(&results)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why the searches did not come to their end.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    Threads(#[from] NoReader),
}

/// Searches all boards on the pool.
fn search(
    experiment: &Arc<Experiment>,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    bar: &ProgressBar,
) -> Result<Results, Stopped> {
    let mut results = Results::new(Arc::clone(experiment));
    let mut jobs = Arc::clone(experiment).jobs();
    let source = move || Ok(jobs.next());
    let begin = Instant::now();
    let clock = move || u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let work = {
        let (experiment, cancel) = (Arc::clone(experiment), Arc::clone(cancel));
        move |job: &Job| experiment.run(job, &cancel, clock)
    };
    let recover = |_: &Job| Err(Failure::Wrong("A search broke down".to_owned()));
    let sink = |done: Result<Done, Failure>| -> Result<(), Stopped> {
        let done = done?;
        bar.inc(done.job.searches());
        Ok(results.add(done)?)
    };
    match pipeline::run_ordered(pool, cancel, source, work, recover, sink)? {
        Ended::Complete => Ok(results),
        Ended::Cancelled => Err(Failure::Cancelled.into()),
    }
}

/// A plot that is going to be drawn.
struct Plot {
    output: Output,
    draw: fn(&Results) -> anyhow::Result<Vec<u8>>,
}

impl Plot {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let extension = path.extension().map(OsStr::to_ascii_lowercase);
        let draw = match extension.as_deref().and_then(|extension| extension.to_str()) {
            Some("svg") => plot::svg,
            Some("png") => plot::png,
            _ => bail!("{}: A plot is an .svg or a .png file.", path.display()),
        };
        Ok(Self { output: Output::file(path, false)?, draw })
    }

    fn finish(mut self, results: &Results) -> anyhow::Result<()> {
        self.output.write(&(self.draw)(results)?)?;
        Ok(self.output.finish()?)
    }
}
