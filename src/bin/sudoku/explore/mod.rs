//! `sudoku explore`: outcome and cost of searching boards from few clues to many, by every
//! strategy.
//!
//! Searches are timed one by one, each on one worker thread, or together where a strategy works
//! that way. Times are noisier with all cores busy; the tables show medians, because noise moves
//! them less than means.

mod canvas;
mod csv;
mod letters;
mod metric;
mod plot;
mod table;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::bail;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use sudoku_stream::explore::{
    self, ClueList, Condition, DEFAULT_BOARDS, Done, Experiment, Failure, Job, Results, Settings, Source,
};
use sudoku_stream::generate::any_seed;
use sudoku_stream::grid::Order;
use sudoku_stream::offline::Output;
use sudoku_stream::pipeline::{self, Ended, NoThreads, ThreadPool};
use sudoku_stream::solver::{Question, STRATEGIES};

use crate::cli::progress::Bar;
use crate::cli::run::RunArgs;
use crate::cli::value::{self, AnyStrategy, whole};
use crate::cli::{exit, fit, interrupt, machine, print, progress};
use metric::Metric;

const EXAMPLES: &str = "\
Examples:
  sudoku explore
  sudoku explore --size 4,9,16 --clues 0%..50%:10% --plot explore.svg
  sudoku explore --clues 20..30 --metric guesses,comparisons
  sudoku explore --boards-from puzzles --question unique --csv > figures.csv

Exit codes: 0, the experiment is done; 1, two strategies disagree; 2, it could not start, or stopped before its end.";

/// Arguments of `sudoku explore`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ExploreArgs {
    /// Clue counts, as in 10,20 or 0..40:5 or 0%..50%:10% [default: 0..40:5]
    ///
    /// Ranges include both ends, the last one where the step leads to it.
    /// Shares are of the cells of a board.
    /// The default of other sizes than 9x9 is the same shares of their cells.
    #[arg(long, value_name = "LIST")]
    clues: Option<ClueList>,

    /// Boards per clue count [range: 1 to 100000]
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BOARDS, value_parser = whole::<u32>(1..=100_000))]
    boards: u32,

    /// Source of the boards
    #[arg(long, value_name = "SOURCE", value_parser = source(), default_value = "random")]
    boards_from: Source,

    /// Sides of the boards: 1, 4, 9, 16 or 25, or several as in 4,9 [default: 9]
    ///
    /// Several sizes show how the cost grows with them.
    #[arg(long, value_name = "SIDE", value_delimiter = ',', value_parser = value::side())]
    #[arg(hide_possible_values = true)]
    size: Vec<Order>,

    /// Sides of a box, instead of --size [range: 1 to 5] [default: 3]
    #[arg(long, hide_short_help = true, value_name = "ORDER", value_delimiter = ',')]
    #[arg(value_parser = value::order(), hide_possible_values = true, conflicts_with = "size")]
    order: Vec<Order>,

    /// Strategy; repeatable [default: all for the size but boxes]
    ///
    /// boxes searches as fast does, so it would be the same curve again.
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = value::strategy())]
    strategy: Vec<AnyStrategy>,

    /// Answer to find for every board
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = BoardQuestion::First)]
    question: BoardQuestion,

    /// Give up a board after N nodes
    #[arg(long, value_name = "N", default_value_t = explore::DEFAULT_NODE_LIMIT, value_parser = whole::<u64>(1..))]
    node_limit: u64,

    /// Seed of the boards [default: random, shown]
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0..))]
    seed: Option<u64>,

    /// Metrics to tabulate and plot side by side [default: nodes,backtracks,time]
    ///
    /// Comparisons and placements are counted in a second search of each board, which is not timed,
    /// and by strategies that search boards one by one.
    #[arg(long, hide_short_help = true, value_enum, value_name = "LIST", value_delimiter = ',')]
    metric: Vec<Metric>,

    /// Count comparisons and placements for --csv, as --metric does where it names them
    #[arg(long, hide_short_help = true)]
    steps: bool,

    /// Print all figures as CSV instead of the tables
    #[arg(long)]
    csv: bool,

    /// Draw the figures into an .svg or .png FILE
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,
}

/// The question to every board.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum BoardQuestion {
    /// Any solution
    First,
    /// Whether there is a solution, and only one
    Unique,
}

fn source() -> impl TypedValueParser<Value = Source> {
    value::named([
        (
            PossibleValue::new(table::source_name(Source::Random))
                .help("Random values that keep the rules; any number of solutions, or none"),
            Source::Random,
        ),
        (
            PossibleValue::new(table::source_name(Source::Puzzles)).help("Puzzles with one solution"),
            Source::Puzzles,
        ),
    ])
}

impl ExploreArgs {
    /// The experiment.
    fn experiment(&self) -> anyhow::Result<Experiment> {
        let mut orders: Vec<Order> = self.size.iter().chain(&self.order).copied().collect();
        orders.sort_unstable();
        orders.dedup();
        if orders.is_empty() {
            orders.push(Order::NINE);
        }
        if orders.len() > 1 && self.clues.as_ref().is_some_and(|clues| !clues.is_relative()) {
            bail!(
                "With several sizes the clues have to be shares of the cells, as in `--clues 0%..50%:10%`."
            );
        }
        let conditions = orders.iter().flat_map(|&order| {
            let clues = self.clues.as_ref().map(|clues| clues.of(order));
            let clues = clues.unwrap_or_else(|| explore::usual_clues(self.boards_from, order));
            clues.into_iter().map(move |clues| Condition { order, clues })
        });
        let settings = Settings {
            source: self.boards_from,
            boards: self.boards,
            strategies: self.strategies(&orders)?,
            question: match self.question {
                BoardQuestion::First => Question::First,
                BoardQuestion::Unique => Question::Unique,
            },
            node_limit: self.node_limit,
            measure: self.steps || self.metrics().iter().any(|metric| metric.is_step()),
            seed: self.seed.unwrap_or_else(any_seed),
        };
        Ok(Experiment::new(conditions.collect(), settings)?)
    }

    /// The metrics to show, each once, in the order of the command line.
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Vec::new();
        for &metric in if self.metric.is_empty() { &Metric::USUAL[..] } else { &self.metric } {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        metrics
    }

    /// The strategies for boards of these orders, in the order of the registry.
    fn strategies(&self, orders: &[Order]) -> anyhow::Result<Vec<AnyStrategy>> {
        let is_wanted = |s: &AnyStrategy| {
            let is_named = self.strategy.iter().any(|named| named.name() == s.name());
            is_named || self.strategy.is_empty() && s.is_for_comparison()
        };
        let wanted: Vec<_> = STRATEGIES.iter().copied().filter(is_wanted).collect();
        for &order in orders {
            if let (Some(strategy), false) = (wanted.first(), wanted.iter().any(|s| s.supports(order))) {
                bail!("The strategy {} does not solve {order} puzzles. Name another.", strategy.name());
            }
        }
        Ok(wanted)
    }
}

/// Runs `sudoku explore`.
pub fn run(args: &ExploreArgs) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::flag()?;
    let experiment = Arc::new(args.experiment()?);
    // Opened first, because a wrong name should not be reported after hours of work.
    let plot = args.plot.as_deref().map(Plot::open).transpose()?;
    let pool = Arc::new(pipeline::pool(args.run.threads)?);
    let view = ResultsView { metrics: args.metrics(), machine: machine(pool.current_num_threads()) };
    let columns = fit::stdout_columns();
    if !args.csv {
        print::stdout(&table::heading(&experiment, &view, columns))?;
    }

    if let Some(note) = slow_boards(&experiment).filter(|_| !args.run.progress.quiet) {
        print::status_line(&note);
    }
    let searches = experiment.searches();
    let bar = progress::of_searches(&args.run.progress, searches);
    let ran = search(&experiment, &pool, &cancel, &bar);
    let done = bar.position();
    bar.finish_and_clear();
    let results = match ran {
        Ok(results) => results,
        Err(ExperimentStopped::Failure(Failure::Cancelled)) => {
            let done = print::thousands(done);
            let all =
                if searches == 1 { "1 search" } else { &format!("{} searches", print::thousands(searches)) };
            let unwritten = match &args.plot {
                Some(path) => format!("; {} was not written", path.display()),
                None => String::new(),
            };
            return Ok(interrupt::report(&format!("Stopped after {done} of {all}{unwritten}")));
        }
        Err(ExperimentStopped::Threads(error)) => return Err(error.into()),
        Err(ExperimentStopped::Failure(Failure::Wrong(what))) => {
            print::status_line(&format!("{what}. This is a bug."));
            return Ok(ExitCode::from(exit::DISAGREED));
        }
    };
    print::stdout(&if args.csv { csv::write(&results) } else { table::write(&results, &view, columns) })?;
    if let (Some(plot), Some(path)) = (plot, &args.plot) {
        plot.finish(&results, &view)?;
        if !args.run.progress.quiet {
            print::status_line(&format!("The plot is in {}.", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What to say before puzzles that take long to find, because until then nothing is searched.
fn slow_boards(experiment: &Experiment) -> Option<String> {
    let is_nine = |condition: &&Condition| condition.order == Order::NINE;
    let clues = experiment.conditions().iter().filter(is_nine).map(|condition| condition.clues).min()?;
    let time = match clues {
        _ if experiment.settings().source != Source::Puzzles => return None,
        ..=17 => "a minute or more",
        18 => "a second or more",
        _ => return None,
    };
    let clues = print::counted(clues as u64, "clue");
    Some(format!("Looking for puzzles: each one with {clues} takes {time}."))
}

/// What tables and plots show of the results.
struct ResultsView {
    /// The metrics that are shown side by side.
    metrics: Vec<Metric>,
    /// The machine that the times are of.
    machine: String,
}

/// `AMD EPYC 9R14, 2 cores, 1 thread`.
fn machine(threads: usize) -> String {
    let cores = print::counted(machine::cores() as u64, "core");
    format!("{}, {cores}, {}", machine::cpu(), print::counted(threads as u64, "thread"))
}

/// Why the searches did not come to their end.
#[derive(Debug, thiserror::Error)]
enum ExperimentStopped {
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    Threads(#[from] NoThreads),
}

/// Searches all boards on the pool.
fn search(
    experiment: &Arc<Experiment>,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    bar: &Bar,
) -> Result<Results, ExperimentStopped> {
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
    let sink = |done: Result<Done, Failure>| -> Result<(), ExperimentStopped> {
        let done = done?;
        bar.inc(done.job.searches());
        Ok(results.add(done)?)
    };
    match pipeline::run_ordered(pool, cancel, source, work, recover, sink)? {
        Ended::Complete => Ok(results),
        Ended::Cancelled => Err(Failure::Cancelled.into()),
    }
}

/// A plot to be drawn, and its output.
struct Plot {
    output: Output,
    draw: fn(&Results, &ResultsView) -> anyhow::Result<Vec<u8>>,
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

    fn finish(mut self, results: &Results, view: &ResultsView) -> anyhow::Result<()> {
        self.output.write(&(self.draw)(results, view)?)?;
        Ok(self.output.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puzzles_that_take_long_to_find_are_announced() {
        let note = |source, conditions: &[(Order, usize)]| {
            let settings = Settings {
                source,
                boards: 1,
                strategies: STRATEGIES.to_vec(),
                question: Question::First,
                node_limit: 1,
                measure: false,
                seed: 1,
            };
            let conditions = conditions.iter().map(|&(order, clues)| Condition { order, clues }).collect();
            slow_boards(&Experiment::new(conditions, settings).unwrap())
        };
        let (four, nine) = (Order::new(2).unwrap(), Order::NINE);
        assert_eq!(
            note(Source::Puzzles, &[(nine, 30), (nine, 17)]).unwrap(),
            "Looking for puzzles: each one with 17 clues takes a minute or more."
        );
        assert_eq!(
            note(Source::Puzzles, &[(four, 5), (nine, 18)]).unwrap(),
            "Looking for puzzles: each one with 18 clues takes a second or more."
        );
        assert_eq!(note(Source::Puzzles, &[(nine, 19), (four, 5)]), None);
        assert_eq!(note(Source::Random, &[(nine, 17)]), None);
    }
}
