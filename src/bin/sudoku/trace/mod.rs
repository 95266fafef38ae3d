//! `sudoku trace`: the steps of a search while it runs.

mod history;
mod keys;
mod picture;
mod playback;
mod terminal;

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use sudoku_stream::answer::Task;
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::{
    DEFAULT_NODE_LIMIT, Limit, Metrics, Propagation, Search, Step, Stop, Strategy as _, Watcher,
};
use sudoku_stream::text::{Format, GridLines, Problem, PuzzleError};

use crate::cli::by_hand;
use crate::cli::colour::ColourArgs;
use crate::cli::input::one_input;
use crate::cli::pick::{Chosen, PickArgs};
use crate::cli::value::{self, AnyStrategy, COUNT_LIMIT, QuestionArg, whole};
use crate::cli::{fit, interrupt, print};
use playback::{Next, Playback};

/// The last line of a trace that ends with a solution.
const HURRAY: &str = "Hurray!";
/// The last line of a trace that ends without one.
const NO_SOLUTION: &str = "No solution!";

/// The longest sleep between two checks for an interrupt.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// The default time for a digit on a terminal.
const WATCHED_DELAY: Duration = Duration::from_millis(50);

/// The unit of delays that are a number alone.
const MILLISECOND: Duration = Duration::from_millis(1);

/// The longest delay.
const MAX_DELAY: Duration = Duration::from_secs(60);

const EXAMPLES: &str = "\
Examples:
  sudoku trace puzzles.txt --index 3
  sudoku trace puzzles.txt --random --strategy backtracking --delay 200
  sudoku trace puzzles.txt --plain | less
  sudoku trace 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79

On a terminal the grid changes in place: clues bold, guesses yellow, inferred digits cyan.
Keys: space pauses and plays, right or `.` is a step, left or `,` a step back (up to 10,000), \
+ and - (or up and down) change the speed, q, Esc or Ctrl-C ends.
In a pipe every step is a line.";

/// Arguments of `sudoku trace`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("inputs", one_input))]
pub struct TraceArgs {
    #[command(flatten)]
    pick: PickArgs,

    /// Strategy to trace; for fast, propagation is traced
    #[arg(long, value_name = "NAME", value_parser = value::strategy())]
    #[arg(default_value = Propagation.name())]
    strategy: AnyStrategy,

    /// Answer to find
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = QuestionArg::First)]
    question: QuestionArg,

    /// Stop `--question count` at N solutions [default: 1000]
    #[arg(long, hide_short_help = true, value_name = "N|all", value_parser = value::number_or_all)]
    limit: Option<u64>,

    /// Give up after N nodes
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT, value_parser = whole::<u64>(1..))]
    node_limit: u64,

    /// Time per digit, in ms or as in 1.5s [range: up to 1m] [default: 50ms on a terminal, else 0]
    #[arg(long, value_name = "TIME", value_parser = value::time(MILLISECOND, Duration::ZERO..=MAX_DELAY))]
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

    #[command(flatten)]
    colour: ColourArgs,
}

impl TraceArgs {
    /// The puzzle that is asked for, if it keeps the rules.
    fn legal_puzzle(&self) -> anyhow::Result<Chosen> {
        let chosen = self.pick.choose()?;
        let Some(conflict) = chosen.puzzle.first_conflict() else { return Ok(chosen) };
        let error = PuzzleError { problem: Problem::RuleBroken(conflict), line: Some(chosen.picked.line) };
        Err(chosen.error(error))
    }

    /// The task for the puzzle.
    fn task(&self) -> Task {
        Task {
            strategy: Some(self.strategy),
            question: self.question.up_to(self.limit.unwrap_or(COUNT_LIMIT)),
            node_limit: self.node_limit,
            ..Task::default()
        }
    }
}

/// Runs `sudoku trace`.
pub fn run(args: &TraceArgs) -> anyhow::Result<ExitCode> {
    args.colour.apply();
    if args.limit.is_some() && !matches!(args.question, QuestionArg::Count) {
        bail!("--limit is for --question count. Ask for that, or leave it out.");
    }
    let Chosen { format, puzzle, .. } = args.legal_puzzle()?;
    let task = args.task();
    let strategy = task.strategy_for(puzzle.order());
    if !strategy.supports(puzzle.order()) {
        bail!("The strategy {} does not solve {} puzzles. Name another.", strategy.name(), puzzle.order());
    }

    let cancel = interrupt::flag()?;
    if let Some(note) = by_hand::values_note(&format).filter(|_| !args.quiet) {
        print_wrapped(&note);
    }
    let mut viewer = Viewer::new(args, &format, &puzzle, &cancel)?;
    let mut steps = 0;
    let mut seen = Metrics::default();
    let mut failed = None;
    let (mut is_cut, mut is_stopped) = (false, false);
    let mut shown = Duration::ZERO;
    let mut observe = |step: &Step, grid: &Grid| {
        if steps == args.step_limit.unwrap_or(u64::MAX) {
            is_cut = true;
            return ControlFlow::Break(());
        }
        steps += 1;
        seen.count_step(step);
        let begin = Instant::now();
        let next = viewer.show(steps, step, grid);
        shown += begin.elapsed();
        match next {
            Ok(Next::Continue) => return ControlFlow::Continue(()),
            Ok(Next::Stop) => (is_cut, is_stopped) = (true, true),
            Err(error) => failed = Some(error),
        }
        ControlFlow::Break(())
    };
    let limit = Limit { solutions: task.question.solutions(), nodes: task.node_limit, cancel: &cancel };
    let mut solution = Grid::empty(puzzle.order());
    let begin = Instant::now();
    let mut solver = strategy.solver(puzzle.order());
    let search = solver.watch(&puzzle, &limit, &mut solution, &mut Watcher::observing(&mut observe));
    // Of the search only: whoever watches takes as long as they like.
    let time = begin.elapsed().saturating_sub(shown);
    let is_interrupted = || cancel.load(Ordering::Relaxed);
    let result = match failed {
        Some(error) => Err(error),
        None => {
            let cut = is_cut.then(|| SearchEnd::cut(steps, is_interrupted()));
            viewer.end(
                &cut.unwrap_or_else(|| SearchEnd::of(&search, &task, steps, is_interrupted())),
                is_stopped,
            )
        }
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        // The terminal is gone, and the signal has said so.
        Err(_) if is_interrupted() => return Ok(interrupt::exit_code()),
        result => result?,
    }
    if !args.quiet {
        let is_whole = !is_cut && search.stop != Stop::Cancelled;
        let figures = if is_whole { figures(&search.metrics, time) } else { figures_of_steps(&seen) };
        print_wrapped(&format!("{}: {figures}", print::counted(steps, "step")));
    }
    Ok(if is_interrupted() { interrupt::exit_code() } else { ExitCode::SUCCESS })
}

/// Prints a text in lines that fit the terminal.
fn print_wrapped(text: &str) {
    let columns = fit::stderr_columns().unwrap_or(usize::MAX);
    for line in fit::wrapped(text, columns) {
        print::status_line(&line);
    }
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

/// The cost of the search.
fn figures(metrics: &Metrics, time: Duration) -> String {
    let figures = metrics.named().map(|(name, figure)| format!("{name} {}", print::thousands(figure)));
    let ms = time.as_secs_f64() * 1e3;
    format!("{}; time {ms:.3} ms", figures.join(", "))
}

/// The cost of a search up to a step, as far as steps tell it.
fn figures_of_steps(metrics: &Metrics) -> String {
    let Metrics { guesses, backtracks, depth, placements, nodes: _, comparisons: _ } = *metrics;
    let named =
        [("guesses", guesses), ("backtracks", backtracks), ("depth", depth), ("placements", placements)];
    named.map(|(name, figure)| format!("{name} {}", print::thousands(figure))).join(", ")
}

/// The end of a traced search.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SearchEnd {
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

impl SearchEnd {
    /// The end of a trace that did not wait for the search. That may go on to the next node, or find
    /// the solution, but nobody has seen it.
    fn cut(steps: u64, is_interrupted: bool) -> Self {
        let word = if is_interrupted { "Interrupted" } else { "Stopped" };
        Self { words: format!("{word} after {}.", print::counted(steps, "step")), kind: EndKind::Stopped }
    }

    fn of(search: &Search, task: &Task, steps: u64, is_interrupted: bool) -> Self {
        let (words, kind) = match (search.stop, search.solutions) {
            (Stop::Cancelled, _) => return Self::cut(steps, is_interrupted),
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
    /// The grid changes in place, and keys are obeyed.
    Terminal(Box<Playback<'a>>),
    Lines(LineViewer<'a>),
}

/// A line a step; or, if `is_plain`, the grid whenever a band of boxes is complete.
struct LineViewer<'a> {
    out: BufWriter<io::Stdout>,
    is_plain: bool,
    format: &'a Format,
    order: Order,
    /// The time for a digit.
    delay: Duration,
    /// The columns of a terminal.
    columns: Option<usize>,
    cancel: &'a AtomicBool,
}

impl<'a> Viewer<'a> {
    fn new(
        args: &TraceArgs,
        format: &'a Format,
        puzzle: &Grid,
        cancel: &'a AtomicBool,
    ) -> anyhow::Result<Self> {
        if !args.plain && io::stdout().is_terminal() && Playback::is_possible() {
            let delay = args.delay.unwrap_or(WATCHED_DELAY);
            return Ok(Self::Terminal(Box::new(Playback::new(format, puzzle, delay, cancel)?)));
        }
        Ok(Self::Lines(LineViewer {
            out: BufWriter::new(io::stdout()),
            is_plain: args.plain,
            format,
            order: puzzle.order(),
            // Nobody watches a pipe.
            delay: args.delay.unwrap_or(Duration::ZERO),
            columns: fit::stdout_columns(),
            cancel,
        }))
    }

    fn show(&mut self, number: u64, step: &Step, grid: &Grid) -> io::Result<Next> {
        match self {
            Self::Terminal(playback) => playback.show(number, step, grid),
            Self::Lines(lines) => lines.show(step, grid).map_err(|error| print::stdout_error(&error)),
        }
    }

    /// Shows the end. `is_stopped` tells that the user has seen enough.
    fn end(self, end: &SearchEnd, is_stopped: bool) -> io::Result<()> {
        match self {
            Self::Terminal(playback) => playback.end(end, is_stopped),
            Self::Lines(lines) => lines.end(end).map_err(|error| print::stdout_error(&error)),
        }
    }
}

impl LineViewer<'_> {
    fn show(&mut self, step: &Step, grid: &Grid) -> io::Result<Next> {
        match step {
            // The last line repeats them.
            Step::NoSolution | Step::GaveUp { .. } => return Ok(Next::Continue),
            _ if !self.is_plain => self.line(&step.to_string(), "")?,
            Step::BandComplete { .. } => {
                self.line(&step.to_string(), "")?;
                self.grid(grid)?;
                // A reader of the pipe sees it when it happens.
                self.out.flush()?;
            }
            _ => {}
        }
        let delay = match step {
            Step::Place { .. } | Step::Backtrack { .. } => self.delay,
            // There are many of these, and they change nothing.
            Step::Conflict(_) => self.delay / 4,
            _ => Duration::ZERO,
        };
        if !delay.is_zero() {
            self.out.flush()?;
            sleep(delay, self.cancel);
        }
        Ok(if self.cancel.load(Ordering::Relaxed) { Next::Stop } else { Next::Continue })
    }

    fn end(mut self, end: &SearchEnd) -> io::Result<()> {
        self.line(&end.words, if print::has_colours() { style_of(end.kind) } else { "" })?;
        self.out.flush()
    }

    /// Writes a line, or several on a terminal that it would not fit.
    fn line(&mut self, text: &str, style: &str) -> io::Result<()> {
        let reset = if style.is_empty() { "" } else { "\x1b[0m" };
        match self.columns {
            Some(columns) => fit::wrapped(text, columns)
                .iter()
                .try_for_each(|line| writeln!(self.out, "{style}{line}{reset}")),
            None => writeln!(self.out, "{style}{text}{reset}"),
        }
    }

    /// Writes a grid and a blank line.
    fn grid(&mut self, grid: &Grid) -> io::Result<()> {
        let mut text = Vec::new();
        let is_narrow = |columns| picture::fitting(self.order, columns) != Some(GridLines::Ruled);
        let lines = if self.columns.is_some_and(is_narrow) { GridLines::Tight } else { GridLines::Ruled };
        self.format.write_grid_with(lines, grid, &mut text, |_, symbol, text| text.push(symbol));
        text.push(b'\n');
        self.out.write_all(&text)
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
