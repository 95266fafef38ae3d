//! `sudoku trace`: the steps of a search while it runs.

mod screen;

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use sudoku_stream::answer::Task;
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::{
    Backtracking, DEFAULT_NODE_LIMIT, Limit, Metrics, Search, Step, Stop, Strategy as _, Watcher,
};
use sudoku_stream::text::{Format, Problem, PuzzleError};

use crate::cli::pick::{Chosen, PickArgs};
use crate::cli::value::{self, AnyStrategy, COUNT_LIMIT, QuestionArg, whole};
use crate::cli::{interrupt, print};
use screen::Screen;

/// The last line of a trace that ends with a solution.
const HURRAY: &str = "Hurray!";
/// The last line of a trace that ends without one.
const NO_SOLUTION: &str = "No solution!";

/// The longest sleep between two checks for an interrupt.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

const EXAMPLES: &str = "\
Examples:
  sudoku trace puzzles.txt --index 3
  sudoku trace puzzles.txt --random --strategy propagation --delay 200
  sudoku trace --puzzle 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79

On a terminal the grid changes in place: clues bold, guesses yellow, inferred digits cyan.
In a pipe, or where the terminal is too small, every step is a line.";

/// Arguments of `sudoku trace`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct TraceArgs {
    #[command(flatten)]
    pick: PickArgs,

    /// Strategy to trace; for fast, propagation is traced
    #[arg(long, value_name = "NAME", value_parser = value::strategy())]
    #[arg(default_value = Backtracking.name())]
    strategy: AnyStrategy,

    /// Answer to find
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = QuestionArg::First)]
    question: QuestionArg,

    /// Stop `--question count` at N solutions
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = COUNT_LIMIT)]
    #[arg(value_parser = whole::<u64>(1..))]
    limit: u64,

    /// Give up after N nodes
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT, value_parser = whole::<u64>(0..))]
    node_limit: u64,

    /// Milliseconds per digit [range: 0 to 60000] [default: 50 on a terminal, else 0]
    #[arg(long, value_name = "MS", value_parser = value::milliseconds(0..=60_000))]
    delay: Option<Duration>,

    /// Stop after N steps
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..))]
    step_limit: Option<u64>,

    /// Print the grid after each completed band, and no steps
    #[arg(long)]
    plain: bool,

    /// Do not print the search cost on standard error
    #[arg(short, long)]
    quiet: bool,
}

impl TraceArgs {
    /// The task for the puzzle.
    fn task(&self) -> Task {
        Task {
            strategy: Some(self.strategy),
            question: self.question.up_to(self.limit),
            node_limit: self.node_limit,
            ..Task::default()
        }
    }
}

/// Runs `sudoku trace`.
pub fn run(args: &TraceArgs) -> anyhow::Result<ExitCode> {
    let chosen = args.pick.choose()?;
    if let Some(conflict) = chosen.puzzle.first_conflict() {
        let error = PuzzleError { problem: Problem::RuleBroken(conflict), line: Some(chosen.picked.line) };
        return Err(chosen.error(error).into());
    }
    let Chosen { format, puzzle, .. } = chosen;
    let task = args.task();
    let strategy = task.strategy_for(puzzle.order());
    if !strategy.supports(puzzle.order()) {
        bail!("The strategy {} does not solve {} puzzles. Name another.", strategy.name(), puzzle.order());
    }

    let cancel = interrupt::flag()?;
    let mut viewer = Viewer::new(args, &format, &puzzle);
    let pause = args.delay.unwrap_or(viewer.default_delay());
    let mut steps = 0;
    let mut failed = None;
    viewer.begin(&puzzle)?;
    let mut observe = |step: &Step, grid: &Grid| {
        if steps == args.step_limit.unwrap_or(u64::MAX) {
            return ControlFlow::Break(());
        }
        steps += 1;
        let pause = match step {
            Step::Place { .. } | Step::Backtrack { .. } => pause,
            // There are many of these, and they change nothing.
            Step::Conflict(_) => pause / 4,
            _ => Duration::ZERO,
        };
        if let Err(error) = viewer.show(steps, step, grid, pause) {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        sleep(pause, &cancel);
        ControlFlow::Continue(())
    };
    let limit = Limit { solutions: task.question.solutions(), nodes: task.node_limit, cancel: &cancel };
    let mut solution = Grid::empty(puzzle.order());
    let begin = Instant::now();
    let mut solver = strategy.solver(puzzle.order());
    let search = solver.watch(&puzzle, &limit, &mut solution, &mut Watcher::observing(&mut observe));
    let time = begin.elapsed();
    let is_interrupted = cancel.load(Ordering::Relaxed);
    let result = match failed {
        Some(error) => Err(error),
        None => viewer.end(&End::of(&search, &task, steps, is_interrupted)),
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        result => result?,
    }
    if !args.quiet {
        print::status_line(&figures(steps, &search.metrics, time));
    }
    Ok(if is_interrupted { interrupt::exit_code() } else { ExitCode::SUCCESS })
}

/// Sleeps, or until the user interrupts.
#[expect(clippy::disallowed_methods, reason = "it is the pace at which a person watches")]
fn sleep(pause: Duration, cancel: &AtomicBool) {
    let mut left = pause;
    while !left.is_zero() && !cancel.load(Ordering::Relaxed) {
        let part = left.min(LONGEST_SLEEP);
        thread::sleep(part);
        left -= part;
    }
}

/// The cost of the search in one line.
fn figures(steps: u64, metrics: &Metrics, time: Duration) -> String {
    let figures = metrics.named().map(|(name, figure)| format!("{name} {}", print::thousands(figure)));
    format!("{}: {}; time {:.3} s", print::counted(steps, "step"), figures.join(", "), time.as_secs_f64())
}

/// The end of a traced search.
#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    words: String,
    kind: EndKind,
}

/// The kind of an end, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndKind {
    Solved,
    Unsolvable,
    Stopped,
}

impl End {
    fn of(search: &Search, task: &Task, steps: u64, is_interrupted: bool) -> Self {
        let (words, kind) = match (search.stop, search.solutions) {
            (Stop::Cancelled, _) if is_interrupted => {
                (format!("Interrupted after {}.", print::counted(steps, "step")), EndKind::Stopped)
            }
            (Stop::Cancelled, _) => {
                (format!("Stopped after {}.", print::counted(steps, "step")), EndKind::Stopped)
            }
            (Stop::Nodes, _) => (
                format!("Given up after {}.", print::counted(search.metrics.nodes, "node")),
                EndKind::Stopped,
            ),
            (Stop::Exhausted, 0) => (NO_SOLUTION.to_owned(), EndKind::Unsolvable),
            (Stop::Solutions, 1) if task.question.solutions() == 1 => (HURRAY.to_owned(), EndKind::Solved),
            (Stop::Exhausted, 1) => (format!("{HURRAY} It is the only solution."), EndKind::Solved),
            (Stop::Exhausted, count) => {
                (format!("{HURRAY} {}.", print::counted(count, "solution")), EndKind::Solved)
            }
            (Stop::Solutions, count) => {
                (format!("{HURRAY} At least {}.", print::counted(count, "solution")), EndKind::Solved)
            }
        };
        Self { words, kind }
    }
}

/// Where steps are shown.
enum Viewer<'a> {
    /// The grid is drawn again and again in the same place.
    Screen(Screen<'a>),
    /// A line a step; or, if `is_plain`, the grid whenever a band of boxes is complete.
    Lines { format: &'a Format, out: BufWriter<io::Stdout>, is_plain: bool },
}

impl<'a> Viewer<'a> {
    fn new(args: &TraceArgs, format: &'a Format, puzzle: &Grid) -> Self {
        if !args.plain
            && io::stdout().is_terminal()
            && let Some(screen) = Screen::new(format, puzzle)
        {
            return Self::Screen(screen);
        }
        Self::Lines { format, out: BufWriter::new(io::stdout()), is_plain: args.plain }
    }

    /// The default delay per digit; 0 for a pipe, because nobody watches it.
    const fn default_delay(&self) -> Duration {
        match self {
            Self::Screen(_) => Duration::from_millis(50),
            Self::Lines { .. } => Duration::ZERO,
        }
    }

    fn begin(&mut self, puzzle: &Grid) -> io::Result<()> {
        match self {
            Self::Screen(screen) => screen.begin(puzzle),
            Self::Lines { .. } => Ok(()),
        }
    }

    fn show(&mut self, number: u64, step: &Step, grid: &Grid, pause: Duration) -> io::Result<()> {
        match self {
            Self::Screen(screen) => screen.show(number, step, grid, pause),
            // The last line repeats them.
            Self::Lines { .. } if matches!(step, Step::NoSolution | Step::GaveUp { .. }) => Ok(()),
            Self::Lines { is_plain: false, out, .. } => writeln!(out, "{step}"),
            Self::Lines { format, out, .. } => match step {
                Step::BandComplete { .. } => {
                    let mut text = format!("{step}\n").into_bytes();
                    format.write_grid(grid, &mut text);
                    text.push(b'\n');
                    out.write_all(&text)?;
                    // A reader of the pipe sees it when it happens.
                    out.flush()
                }
                _ => Ok(()),
            },
        }
    }

    fn end(&mut self, end: &End) -> io::Result<()> {
        match self {
            Self::Screen(screen) => screen.end(end),
            Self::Lines { out, .. } => {
                let style = if print::has_colours() { style_of(end.kind) } else { "" };
                let reset = if style.is_empty() { "" } else { "\x1b[0m" };
                writeln!(out, "{style}{}{reset}", end.words)?;
                out.flush()
            }
        }
    }
}

/// The escape sequence for the colour of an end.
const fn style_of(kind: EndKind) -> &'static str {
    match kind {
        EndKind::Solved => "\x1b[1;32m",
        EndKind::Unsolvable => "\x1b[1;31m",
        EndKind::Stopped => "\x1b[1;33m",
    }
}
