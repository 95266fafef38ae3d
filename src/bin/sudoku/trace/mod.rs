//! `sudoku trace`: the steps of a search, as they come.

mod screen;

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use sudoku_stream::answer::Task;
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::{Limit, Metrics, Search, Step, Stop, Watcher};
use sudoku_stream::text::{Format, Problem, PuzzleError};

use super::args::TraceArgs;
use super::open::Chosen;
use super::{interrupt, open, view};
use screen::Screen;

/// What a solved puzzle ends with.
const HURRAY: &str = "Hurray!";
/// What a puzzle without a solution ends with.
const NO_SOLUTION: &str = "No solution!";

/// How long a pause lasts at most before it is looked whether the user has had enough.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

pub fn run(args: &TraceArgs) -> anyhow::Result<ExitCode> {
    let chosen = open::puzzle(&args.pick)?;
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
    let pause = args.delay.map_or(viewer.usual_pause(), Duration::from_millis);
    let mut steps = 0;
    let mut failed = None;
    viewer.begin(&puzzle)?;
    let mut told = |step: &Step, grid: &Grid| {
        if steps == args.step_limit.map_or(u64::MAX, NonZeroU64::get) {
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
        rest(pause, &cancel);
        ControlFlow::Continue(())
    };
    let limit = Limit { solutions: task.question.solutions(), nodes: task.node_limit, cancel: &cancel };
    let mut solution = Grid::empty(puzzle.order());
    let begin = Instant::now();
    let mut solver = strategy.solver(puzzle.order());
    let search = solver.watch(&puzzle, &limit, &mut solution, &mut Watcher::observing(&mut told));
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
        view::status_line(&figures(steps, &search.metrics, time));
    }
    Ok(if is_interrupted { interrupt::exit_code() } else { ExitCode::SUCCESS })
}

/// Waits, but not when the user has had enough.
#[expect(clippy::disallowed_methods, reason = "it is the pace at which a person watches")]
fn rest(pause: Duration, cancel: &AtomicBool) {
    let mut left = pause;
    while !left.is_zero() && !cancel.load(Ordering::Relaxed) {
        let part = left.min(LONGEST_PAUSE);
        thread::sleep(part);
        left -= part;
    }
}

/// What there is to say at the end, on one line.
fn figures(steps: u64, metrics: &Metrics, time: Duration) -> String {
    let figures = metrics.named().map(|(name, figure)| format!("{name} {}", view::thousands(figure)));
    format!("{}: {}; time {:.3} s", view::counted(steps, "step"), figures.join(", "), time.as_secs_f64())
}

/// How a search that was looked at ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    words: String,
    mood: Mood,
}

/// How good an end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Good,
    Bad,
    Open,
}

impl End {
    fn of(search: &Search, task: &Task, steps: u64, is_interrupted: bool) -> Self {
        let (words, mood) = match (search.stop, search.solutions) {
            (Stop::Cancelled, _) if is_interrupted => {
                (format!("Interrupted after {}.", view::counted(steps, "step")), Mood::Open)
            }
            (Stop::Cancelled, _) => (format!("Stopped after {}.", view::counted(steps, "step")), Mood::Open),
            (Stop::Nodes, _) => {
                (format!("Given up after {}.", view::counted(search.metrics.nodes, "node")), Mood::Open)
            }
            (Stop::Exhausted, 0) => (NO_SOLUTION.to_owned(), Mood::Bad),
            (Stop::Solutions, 1) if task.question.solutions() == 1 => (HURRAY.to_owned(), Mood::Good),
            (Stop::Exhausted, 1) => (format!("{HURRAY} It is the only solution."), Mood::Good),
            (Stop::Exhausted, count) => {
                (format!("{HURRAY} {}.", view::counted(count, "solution")), Mood::Good)
            }
            (Stop::Solutions, count) => {
                (format!("{HURRAY} At least {}.", view::counted(count, "solution")), Mood::Good)
            }
        };
        Self { words, mood }
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

    /// How long each digit is shown unless the user says otherwise: nobody watches a pipe.
    const fn usual_pause(&self) -> Duration {
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
            // The last line says the same.
            Self::Lines { .. } if matches!(step, Step::NoSolution | Step::GaveUp { .. }) => Ok(()),
            Self::Lines { is_plain: false, out, .. } => writeln!(out, "{step}"),
            Self::Lines { format, out, .. } => match step {
                Step::BandComplete { .. } => {
                    let mut text = format!("{step}\n").into_bytes();
                    format.write_grid(grid, &mut text);
                    text.push(b'\n');
                    out.write_all(&text)?;
                    // Whoever waits for it sees it when it happens.
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
                let style = if view::is_painted() { style_of(end.mood) } else { "" };
                let reset = if style.is_empty() { "" } else { "\x1b[0m" };
                writeln!(out, "{style}{}{reset}", end.words)?;
                out.flush()
            }
        }
    }
}

/// The escape sequence that paints an end.
const fn style_of(mood: Mood) -> &'static str {
    match mood {
        Mood::Good => "\x1b[1;32m",
        Mood::Bad => "\x1b[1;31m",
        Mood::Open => "\x1b[1;33m",
    }
}
