//! Experiments: the cost of searches over many boards, by several strategies.
//!
//! ```text
//!   Experiment ── jobs ─▶ run (on any thread) ─▶ Done ─▶ Results ─▶ Figures, Correlation
//! ```
//!
//! Boards come from [`generate`](crate::generate). A board depends only on the seed, its size, its
//! number of clues and its own number, so the same seed gives the same results, in whatever order
//! and on however many threads the jobs run. Only times differ: they are read from a clock of the
//! caller.
//!
//! Each strategy searches each board alone, and each search is timed. Strategies that search boards
//! side by side, such as `fast`, get all boards of a condition at once, several times, and each
//! board counts with an equal share of the median time. Idle lanes of `fast` help others and visit
//! nodes that one lane would not: in searches that end with a solution, their number depends on the
//! other boards and on the vector instructions of the processor.

mod clues;
mod statistics;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::generate::{Constraints, DEFAULT_ATTEMPTS, GaveUp, Generator, Kind, Recipe, RecipeError};
use crate::grid::{Grid, Order};
use crate::solver::{Batch, Limit, Metrics, Question, Search, Stop, Strategy, Verdict, Watcher};

pub use clues::{ClueList, ClueListError, usual_clues};
pub use statistics::{NoCorrelation, Spread, pearson, quantile, spearman};

/// The default number of boards for each condition.
pub const DEFAULT_BOARDS: u32 = 100;

/// The default node limit of a search, low enough for plain backtracking to end.
pub const DEFAULT_NODE_LIMIT: u64 = 100_000;

/// The boards of a job that searches them one by one: few, so that all threads end at about the
/// same time.
const BOARDS_ONE_BY_ONE: u32 = 8;

/// The most boards of a job that searches them together.
const BOARDS_TOGETHER: u32 = 8192;

/// The number of times that boards are searched together, of which the median counts, because a
/// single time would suffer from other load.
const TIMES_TOGETHER: usize = 5;

/// The source of boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Source {
    /// Random values that keep the rules. A board may have one solution, several, or none.
    #[default]
    Random,
    /// Puzzles with a single solution.
    Puzzles,
}

/// A condition of an experiment: the boards of one size and number of clues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The size.
    pub order: Order,
    /// The cells that hold a digit.
    pub clues: usize,
}

impl Condition {
    /// The clues as a share of the cells, from 0 to 1.
    #[must_use]
    pub fn clue_ratio(&self) -> f64 {
        self.clues as f64 / self.order.cells() as f64
    }
}

/// The settings of an experiment, the same for every condition.
#[derive(Clone)]
pub struct Settings {
    /// The source of boards.
    pub source: Source,
    /// The number of boards for each condition.
    pub boards: u32,
    /// The strategies. One that does not support a size skips its boards.
    pub strategies: Vec<&'static dyn Strategy>,
    /// What to find out about a board.
    pub question: Question,
    /// The nodes after which a board is given up.
    pub node_limit: u64,
    /// Whether to measure each search: to count comparisons and placements, in a second search of
    /// each board, which is not timed. Strategies that search boards together do not count them.
    pub measure: bool,
    /// Equal seeds give equal boards.
    pub seed: u64,
}

/// An experiment. It is immutable while it runs, so threads can share it.
pub struct Experiment {
    settings: Settings,
    conditions: Vec<Condition>,
    /// A generator for each condition.
    generators: Vec<Generator>,
}

/// A part of an experiment: some boards of a condition, for all strategies that search them one by
/// one or for all that search them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    condition: usize,
    first: u32,
    boards: u32,
    is_together: bool,
    searches: u64,
}

impl Job {
    /// The number of searches.
    #[must_use]
    pub const fn searches(&self) -> u64 {
        self.searches
    }
}

/// The results of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The job.
    pub job: Job,
    /// The numbers of boards that could not be made, because that many random values seldom keep
    /// the rules, or that few clues seldom have a single solution.
    unmade: Vec<u32>,
    /// The samples of each strategy, in the order of the settings.
    samples: Vec<Vec<Sample>>,
}

/// The search of one board by one strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number of the board within its condition.
    pub board: u32,
    /// The outcome.
    pub outcome: Outcome,
    /// Search states visited.
    pub nodes: u64,
    /// Guesses made.
    pub guesses: u64,
    /// Guesses taken back.
    pub backtracks: u64,
    /// The most guesses that stood at once.
    pub depth: u64,
    /// Comparisons and placements, if counted.
    pub steps: Option<StepCounts>,
    /// Nanoseconds on the clock of the caller.
    pub time_ns: u64,
}

/// Comparisons and placements of a search, see [`Metrics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// Looks at something in order to decide.
    pub comparisons: u64,
    /// Digits put into cells.
    pub placements: u64,
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Solved; for [`Question::Unique`] also proven to have no other solution.
    Solved,
    /// More than one solution, if the question asks for that.
    Several,
    /// No solution.
    NoSolution,
    /// The search reached its node limit.
    GaveUp,
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Cancelled by the caller.
    #[error("The work was cancelled.")]
    Cancelled,
    /// A strategy gave a wrong result, which is a bug.
    #[error("{0}")]
    Wrong(String),
}

impl Experiment {
    /// An experiment under these conditions.
    ///
    /// # Errors
    /// [`RecipeError`] if there are no such boards.
    pub fn new(conditions: Vec<Condition>, settings: Settings) -> Result<Self, RecipeError> {
        let generator = |condition: &Condition| {
            let Condition { order, clues } = *condition;
            let kind = match settings.source {
                Source::Random => Kind::RandomClues(clues),
                Source::Puzzles => Kind::Puzzle(Constraints { clues: Some(clues), ..Constraints::default() }),
            };
            let recipe = Recipe { order, kind, attempts: DEFAULT_ATTEMPTS };
            Generator::new(recipe, seed_of(settings.seed, condition))
        };
        let generators = conditions.iter().map(generator).collect::<Result<_, _>>()?;
        Ok(Self { settings, conditions, generators })
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The conditions.
    #[must_use]
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The sizes of the conditions, each once, in order.
    #[must_use]
    pub fn orders(&self) -> Vec<Order> {
        let mut orders: Vec<Order> = self.conditions.iter().map(|condition| condition.order).collect();
        orders.dedup();
        orders
    }

    /// All jobs, which do not depend on the number of threads.
    pub fn jobs(self: Arc<Self>) -> impl Iterator<Item = Job> + Send {
        let kinds = (0..self.conditions.len()).flat_map(|condition| [(condition, true), (condition, false)]);
        kinds.flat_map(move |(condition, is_together)| {
            let order = self.conditions[condition].order;
            let strategies = self.strategies_of(order, is_together).count() as u64;
            let all = if strategies == 0 { 0 } else { self.settings.boards };
            let most = if is_together { BOARDS_TOGETHER } else { BOARDS_ONE_BY_ONE };
            (0..all).step_by(most as usize).map(move |first| {
                let boards = most.min(all - first);
                Job { condition, first, boards, is_together, searches: strategies * u64::from(boards) }
            })
        })
    }

    /// The number of searches in all jobs.
    #[must_use]
    pub fn searches(&self) -> u64 {
        let strategies = |condition: &Condition| {
            self.settings.strategies.iter().filter(|s| s.supports(condition.order)).count() as u64
        };
        u64::from(self.settings.boards) * self.conditions.iter().map(strategies).sum::<u64>()
    }

    /// The strategies for boards of an order that search them together, or one by one, with their
    /// indices.
    fn strategies_of(
        &self,
        order: Order,
        is_together: bool,
    ) -> impl Iterator<Item = (usize, &'static dyn Strategy)> {
        let all = self.settings.strategies.iter().copied().enumerate();
        all.filter(move |(_, s)| s.supports(order) && s.searches_together() == is_together)
    }

    /// Runs a job. `clock` returns the nanoseconds since some fixed moment.
    ///
    /// Solutions are verified outside of the measured time.
    ///
    /// # Errors
    /// [`Failure`] if `cancel` becomes true, or a strategy gives a wrong solution.
    pub fn run(&self, job: &Job, cancel: &AtomicBool, clock: impl Fn() -> u64) -> Result<Done, Failure> {
        let order = self.conditions[job.condition].order;
        let made = self.generators[job.condition]
            .make(job.first.into(), job.boards as usize, cancel)
            .map_err(|_| Failure::Cancelled)?;
        let (mut boards, mut unmade) = (Vec::new(), Vec::new());
        for (number, made) in (job.first..).zip(made) {
            match made {
                Ok(puzzle) => boards.push((number, puzzle.clues)),
                Err(GaveUp) => unmade.push(number),
            }
        }
        let limit =
            Limit { solutions: self.settings.question.solutions(), nodes: self.settings.node_limit, cancel };
        let mut samples = vec![Vec::new(); self.settings.strategies.len()];
        for (index, strategy) in self.strategies_of(order, job.is_together) {
            samples[index] = if job.is_together {
                self.search_together(strategy, &boards, &limit, &clock)?
            } else {
                self.search_one_by_one(strategy, &boards, &limit, &clock)?
            };
        }
        Ok(Done { job: *job, unmade, samples })
    }

    fn search_one_by_one(
        &self,
        strategy: &dyn Strategy,
        boards: &[(u32, Grid)],
        limit: &Limit<'_>,
        clock: impl Fn() -> u64,
    ) -> Result<Vec<Sample>, Failure> {
        let Some((_, first)) = boards.first() else { return Ok(Vec::new()) };
        let mut solver = strategy.solver(first.order());
        let mut solution = Grid::empty(first.order());
        let mut samples = Vec::with_capacity(boards.len());
        for (number, board) in boards {
            let begin = clock();
            let search = solver.search(board, limit, &mut solution);
            let time_ns = clock().saturating_sub(begin);
            let mut sample = self.sample(strategy, (*number, board), &search, &solution, time_ns)?;
            if self.settings.measure {
                let mut watcher = Watcher::measuring();
                let watched = solver.watch(board, limit, &mut solution, &mut watcher);
                if watched.stop == Stop::Cancelled {
                    return Err(Failure::Cancelled);
                }
                let Metrics { comparisons, placements, .. } = watched.metrics;
                sample.steps = Some(StepCounts { comparisons, placements });
            }
            samples.push(sample);
        }
        Ok(samples)
    }

    fn search_together(
        &self,
        strategy: &dyn Strategy,
        boards: &[(u32, Grid)],
        limit: &Limit<'_>,
        clock: impl Fn() -> u64,
    ) -> Result<Vec<Sample>, Failure> {
        let Some((_, first)) = boards.first() else { return Ok(Vec::new()) };
        let order = first.order();
        let mut batch = Batch::new(order);
        for (_, board) in boards {
            batch.push(board);
        }
        let mut solver = strategy.solver(order);
        let mut times = [0; TIMES_TOGETHER];
        for time in &mut times {
            let begin = clock();
            solver.search_batch(&mut batch, limit);
            *time = clock().saturating_sub(begin);
        }
        times.sort_unstable();
        let time_ns = times[TIMES_TOGETHER / 2] / boards.len() as u64;
        let mut solution = Grid::empty(order);
        let samples = boards.iter().enumerate().map(|(place, (number, board))| {
            if batch.searches()[place].solutions > 0 {
                solution.set_digits(batch.solution(place));
            }
            self.sample(strategy, (*number, board), &batch.searches()[place], &solution, time_ns)
        });
        samples.collect()
    }

    /// The sample of a search, after its solution is verified.
    fn sample(
        &self,
        strategy: &dyn Strategy,
        (number, board): (u32, &Grid),
        search: &Search,
        solution: &Grid,
        time_ns: u64,
    ) -> Result<Sample, Failure> {
        let outcome = match self.settings.question.verdict(search) {
            Verdict::Cancelled => return Err(Failure::Cancelled),
            Verdict::Solved | Verdict::Counted { count: 1, exact: true } => Outcome::Solved,
            Verdict::NoSolution | Verdict::Counted { count: 0, .. } => Outcome::NoSolution,
            Verdict::NotUnique | Verdict::Counted { .. } => Outcome::Several,
            Verdict::GaveUp { .. } => Outcome::GaveUp,
        };
        if outcome == Outcome::Solved && !solution.solves(board) {
            return Err(Failure::Wrong(format!("{} got the wrong solution of {board:?}", strategy.name())));
        }
        let Metrics { nodes, guesses, backtracks, depth, .. } = search.metrics;
        Ok(Sample { board: number, outcome, nodes, guesses, backtracks, depth, steps: None, time_ns })
    }
}

/// The seed for the boards of one condition, mixed as in `SplitMix64` (G. Steele and others, 2014),
/// so that boards of one condition are unrelated to those of another.
fn seed_of(seed: u64, condition: &Condition) -> u64 {
    let kind = (condition.order.cells() * 1024 + condition.clues) as u64;
    let mut z = seed.wrapping_add(kind.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The results of the jobs. Each search is kept, in some 80 bytes.
pub struct Results {
    experiment: Arc<Experiment>,
    /// The samples by condition and strategy.
    samples: Vec<Vec<Vec<Sample>>>,
    /// The numbers of boards that could not be made, by condition.
    unmade: Vec<BTreeSet<u32>>,
    /// The known outcome of each board, and the strategy that found it, by condition and number.
    known: Vec<Vec<Option<(Outcome, usize)>>>,
}

impl Results {
    /// No results yet.
    #[must_use]
    pub fn new(experiment: Arc<Experiment>) -> Self {
        let conditions = experiment.conditions.len();
        let samples = vec![vec![Vec::new(); experiment.settings.strategies.len()]; conditions];
        let known = vec![vec![None; experiment.settings.boards as usize]; conditions];
        Self { experiment, samples, unmade: vec![BTreeSet::new(); conditions], known }
    }

    /// Adds the results of a job. Figures do not depend on the order of jobs.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if two strategies disagree about a board.
    pub fn add(&mut self, done: Done) -> Result<(), Failure> {
        let condition = done.job.condition;
        self.unmade[condition].extend(done.unmade);
        for (strategy, new) in done.samples.into_iter().enumerate() {
            for sample in &new {
                let known = &mut self.known[condition][sample.board as usize];
                if sample.outcome == Outcome::GaveUp {
                    continue;
                }
                let (expected, by) = *known.get_or_insert((sample.outcome, strategy));
                if sample.outcome != expected {
                    let Condition { order, clues } = self.experiment.conditions[condition];
                    let name = |strategy: usize| self.experiment.settings.strategies[strategy].name();
                    return Err(Failure::Wrong(format!(
                        "{} says {:?} of {order} board {} with {clues} clues, and {} {expected:?}",
                        name(strategy),
                        sample.outcome,
                        sample.board,
                        name(by),
                    )));
                }
            }
            self.samples[condition][strategy].extend(new);
        }
        Ok(())
    }

    /// The experiment.
    #[must_use]
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The number of boards of a condition, by its index, that could not be made.
    #[must_use]
    pub fn unmade(&self, condition: usize) -> usize {
        self.unmade[condition].len()
    }

    /// The figures of a condition and a strategy, by their indices. `None` if nothing was searched,
    /// because the strategy does not support the size or no board could be made.
    #[must_use]
    pub fn figures(&self, condition: usize, strategy: usize) -> Option<Figures> {
        Figures::of(&self.samples[condition][strategy])
    }

    /// The figures of a strategy, by its index, over all boards of a size.
    #[must_use]
    pub fn figures_of_order(&self, order: Order, strategy: usize) -> Option<Figures> {
        let samples: Vec<Sample> = self.of_order(order, strategy).map(|(_, sample)| *sample).collect();
        Figures::of(&samples)
    }

    /// The correlation of backtracks with the clue ratio, over all boards of a size.
    #[must_use]
    pub fn correlation(&self, order: Order, strategy: usize) -> Correlation {
        let (mut pairs, mut gave_up) = (Vec::new(), 0);
        for (ratio, sample) in self.of_order(order, strategy) {
            pairs.push((ratio, sample.backtracks as f64));
            gave_up += u64::from(sample.outcome == Outcome::GaveUp);
        }
        Correlation { n: pairs.len() as u64, gave_up, pearson: pearson(&pairs), spearman: spearman(&pairs) }
    }

    /// The searches of a strategy on boards of a size, with their clue ratios.
    fn of_order(&self, order: Order, strategy: usize) -> impl Iterator<Item = (f64, &Sample)> {
        let conditions = self.experiment.conditions.iter().zip(&self.samples);
        conditions.filter(move |(condition, _)| condition.order == order).flat_map(
            move |(condition, samples)| {
                samples[strategy].iter().map(|sample| (condition.clue_ratio(), sample))
            },
        )
    }
}

/// The figures of some searches.
///
/// A search that was given up counts with its cost so far. So means are too
/// low where there are any; medians are right as long as fewer than half were given up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The boards searched.
    pub boards: u64,
    /// Of these, solved.
    pub solved: u64,
    /// Of these, with more than one solution, if the question asks for that.
    pub several: u64,
    /// Of these, without a solution.
    pub no_solution: u64,
    /// Of these, given up at the node limit.
    pub gave_up: u64,
    /// Search states visited.
    pub nodes: Spread,
    /// Guesses made.
    pub guesses: Spread,
    /// Guesses taken back.
    pub backtracks: Spread,
    /// The most guesses that stood at once.
    pub depth: Spread,
    /// Comparisons, if counted.
    pub comparisons: Option<Spread>,
    /// Digits placed, if counted.
    pub placements: Option<Spread>,
    /// Nanoseconds on the clock of the caller.
    pub time_ns: Spread,
}

impl Figures {
    /// The figures of these samples. `None` if there are none.
    fn of(samples: &[Sample]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let count = |outcome| samples.iter().filter(|sample| sample.outcome == outcome).count() as u64;
        let spread = |of: fn(&Sample) -> u64| Spread::of(samples.iter().map(of).collect());
        let steps: Option<Vec<StepCounts>> = samples.iter().map(|sample| sample.steps).collect();
        let of_steps = |of: fn(&StepCounts) -> u64| {
            steps.as_ref().map(|steps| Spread::of(steps.iter().map(of).collect()))
        };
        Some(Self {
            boards: samples.len() as u64,
            solved: count(Outcome::Solved),
            several: count(Outcome::Several),
            no_solution: count(Outcome::NoSolution),
            gave_up: count(Outcome::GaveUp),
            nodes: spread(|sample| sample.nodes),
            guesses: spread(|sample| sample.guesses),
            backtracks: spread(|sample| sample.backtracks),
            depth: spread(|sample| sample.depth),
            comparisons: of_steps(|steps| steps.comparisons),
            placements: of_steps(|steps| steps.placements),
            time_ns: spread(|sample| sample.time_ns),
        })
    }

    /// A number of these boards as a share of all, from 0 to 1.
    #[must_use]
    pub fn share(&self, boards: u64) -> f64 {
        boards as f64 / self.boards as f64
    }
}

/// The correlation of the backtracks of searches with the clue ratio of their boards.
///
/// A search that was given up counts with its backtracks so far, which are too few: with many of
/// them Pearson's correlation is too close to 0, while Spearman's only uses their rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// The number of searches.
    pub n: u64,
    /// Of these, given up.
    pub gave_up: u64,
    /// Along a straight line: [`pearson`].
    pub pearson: Result<f64, NoCorrelation>,
    /// Along any line that only rises or only falls: [`spearman`].
    pub spearman: Result<f64, NoCorrelation>,
}
