//! Experiments: many boards, searched by several strategies, and what the searches cost.
//!
//! ```text
//!   Experiment ── jobs ─▶ run (on any thread) ─▶ Done ─▶ Results ─▶ Figures, Correlation
//! ```
//!
//! Boards come from [`generate`](crate::generate). A board depends on the seed, its size, its number of clues and its own
//! number, and on nothing else; so the same seed gives the same results, in whatever order and on however many threads the
//! jobs are done. Only times differ: they are read from a clock that the caller brings along, because nothing here has one.
//!
//! Every strategy searches every board by itself, and each search is timed, but for those that search boards side by side,
//! such as `fast`: they are given all boards of a kind at once, several times, and each board counts with the same share of
//! the median time. Idle lanes of `fast` help others, which makes nodes that a search by itself would not have; how many
//! depends on the boards beside it and on the vector instructions of the machine, wherever a search ends with a solution.

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

/// The boards for each clue count where nothing else is said.
pub const DEFAULT_BOARDS: u32 = 100;

/// The node limit of a search where nothing else is said: low enough for plain backtracking to come to an end.
pub const DEFAULT_NODE_LIMIT: u64 = 100_000;

/// The boards of a job where they are searched one by one: few, so that all threads end at about the same time.
const BOARDS_ONE_BY_ONE: u32 = 8;

/// The boards of a job where they are searched together: as many as there are, within bounds.
const BOARDS_TOGETHER: u32 = 8192;

/// How often boards are searched together: the median time counts. There are no other searches that would make up for one
/// during which the machine was busy.
const TIMES_TOGETHER: usize = 5;

/// Where boards come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Source {
    /// Random values that keep the rules. A board may have one solution, several, or none.
    #[default]
    Random,
    /// Puzzles with a single solution.
    Puzzles,
}

/// A kind of board that is tried.
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

/// What is tried on every kind of board.
#[derive(Clone)]
pub struct Settings {
    /// Where boards come from.
    pub source: Source,
    /// How many boards of each kind.
    pub boards: u32,
    /// The strategies. One that does not support the size of a board leaves it out.
    pub strategies: Vec<&'static dyn Strategy>,
    /// What is asked of a board.
    pub question: Question,
    /// Give a board up after this many nodes.
    pub node_limit: u64,
    /// Count comparisons and placements too, in a second search of each board, which is not timed. Strategies that search
    /// boards together do not count them.
    pub counts_steps: bool,
    /// Equal seeds give equal boards.
    pub seed: u64,
}

/// An experiment. It is only read while it runs, so that threads can share it.
pub struct Experiment {
    settings: Settings,
    conditions: Vec<Condition>,
    /// One for each condition.
    generators: Vec<Generator>,
}

/// Some boards of one kind, for all strategies that search one by one, or for all that search boards together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    condition: usize,
    first: u32,
    boards: u32,
    is_together: bool,
    searches: u64,
}

impl Job {
    /// How many searches it is.
    #[must_use]
    pub const fn searches(&self) -> u64 {
        self.searches
    }
}

/// What a job found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The job.
    pub job: Job,
    /// Of its boards, the numbers of those that could not be made: so many random values seldom keep the rules, or so few
    /// clues seldom have a single solution.
    unmade: Vec<u32>,
    /// The searches of each strategy, in the order of the settings.
    samples: Vec<Vec<Sample>>,
}

/// The search of one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number of the board among those of its kind.
    pub board: u32,
    /// What came out.
    pub outcome: Outcome,
    /// Search states visited.
    pub nodes: u64,
    /// Guesses taken back.
    pub backtracks: u64,
    /// What it took to decide, where that was counted.
    pub steps: Option<Steps>,
    /// On the caller's clock.
    pub time_ns: u64,
}

/// What a search was at pains to do: see [`Metrics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// How often something was looked at in order to decide.
    pub comparisons: u64,
    /// Digits put into cells.
    pub placements: u64,
}

/// What came out of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Solved; where that was asked, also proven to have no other solution.
    Solved,
    /// More than one solution, where that was asked.
    Several,
    /// No solution.
    NoSolution,
    /// The node limit came first.
    GaveUp,
}

/// Why a job was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The caller wanted it to stop.
    #[error("The work was cancelled.")]
    Cancelled,
    /// A strategy was found to be wrong: a bug.
    #[error("{0}")]
    Wrong(String),
}

impl Experiment {
    /// Under these conditions.
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

    /// What is tried on every kind of board.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The kinds of board.
    #[must_use]
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The sizes among them, each once, in the order in which they come.
    #[must_use]
    pub fn orders(&self) -> Vec<Order> {
        let mut orders: Vec<Order> = self.conditions.iter().map(|condition| condition.order).collect();
        orders.dedup();
        orders
    }

    /// All that there is to do. Jobs do not depend on the number of threads.
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

    /// How many searches there are in all jobs.
    #[must_use]
    pub fn searches(&self) -> u64 {
        let strategies = |condition: &Condition| {
            self.settings.strategies.iter().filter(|s| s.supports(condition.order)).count() as u64
        };
        u64::from(self.settings.boards) * self.conditions.iter().map(strategies).sum::<u64>()
    }

    /// The strategies for boards of an order that search them together, or one by one, with their indices.
    fn strategies_of(
        &self,
        order: Order,
        is_together: bool,
    ) -> impl Iterator<Item = (usize, &'static dyn Strategy)> {
        let all = self.settings.strategies.iter().copied().enumerate();
        all.filter(move |(_, s)| s.supports(order) && s.searches_together() == is_together)
    }

    /// Does a job. `clock` says how many nanoseconds have gone by since some moment.
    ///
    /// Solutions are held against the rules while no time is taken.
    ///
    /// # Errors
    /// [`Failure`]: `cancel` was raised, or a strategy is wrong.
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
            if self.settings.counts_steps {
                let mut watcher = Watcher::counting();
                let watched = solver.watch(board, limit, &mut solution, &mut watcher);
                if watched.stop == Stop::Cancelled {
                    return Err(Failure::Cancelled);
                }
                let Metrics { comparisons, placements, .. } = watched.metrics;
                sample.steps = Some(Steps { comparisons, placements });
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

    /// What a search found, if it is right.
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
        let Metrics { nodes, backtracks, .. } = search.metrics;
        Ok(Sample { board: number, outcome, nodes, backtracks, steps: None, time_ns })
    }
}

/// A seed for the boards of one kind, so that those of one kind are not the beginnings of those of another
/// (the mixing of `SplitMix64` by G. Steele and others, 2014).
fn seed_of(seed: u64, condition: &Condition) -> u64 {
    let kind = (condition.order.cells() * 1024 + condition.clues) as u64;
    let mut z = seed.wrapping_add(kind.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// What the jobs found. Every search is kept, in some 60 bytes.
pub struct Results {
    experiment: Arc<Experiment>,
    /// By condition and strategy.
    samples: Vec<Vec<Vec<Sample>>>,
    /// The numbers of boards, by condition.
    unmade: Vec<BTreeSet<u32>>,
    /// What is known of each board, and by which strategy, by condition and number.
    known: Vec<Vec<Option<(Outcome, usize)>>>,
}

impl Results {
    /// Nothing yet.
    #[must_use]
    pub fn new(experiment: Arc<Experiment>) -> Self {
        let conditions = experiment.conditions.len();
        let samples = vec![vec![Vec::new(); experiment.settings.strategies.len()]; conditions];
        let known = vec![vec![None; experiment.settings.boards as usize]; conditions];
        Self { experiment, samples, unmade: vec![BTreeSet::new(); conditions], known }
    }

    /// Adds what a job found. Figures do not depend on the order in which that is done.
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

    /// The boards of a condition, by its index, that could not be made.
    #[must_use]
    pub fn unmade(&self, condition: usize) -> usize {
        self.unmade[condition].len()
    }

    /// The figures of a condition and a strategy, by their indices. `None` if nothing was searched: the strategy does not
    /// support the size, or no board could be made.
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

    /// How backtracks go along with the clue ratio, over all boards of a size.
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
/// A search that was given up counts with the nodes, backtracks and time it had taken by then. So its own cost is at least
/// that, and means are too low where there are any; medians are right as long as fewer than half were given up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The boards searched.
    pub boards: u64,
    /// Of these, solved.
    pub solved: u64,
    /// Of these, with more than one solution, where that was asked.
    pub several: u64,
    /// Of these, without a solution.
    pub no_solution: u64,
    /// Of these, given up at the node limit.
    pub gave_up: u64,
    /// Search states visited.
    pub nodes: Spread,
    /// Guesses taken back.
    pub backtracks: Spread,
    /// Things compared, where they were counted.
    pub comparisons: Option<Spread>,
    /// Digits placed, where they were counted.
    pub placements: Option<Spread>,
    /// Nanoseconds on the caller's clock.
    pub time_ns: Spread,
}

impl Figures {
    /// Of these searches, unless there are none.
    fn of(samples: &[Sample]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let count = |outcome| samples.iter().filter(|sample| sample.outcome == outcome).count() as u64;
        let spread = |of: fn(&Sample) -> u64| Spread::of(samples.iter().map(of).collect());
        let steps: Option<Vec<Steps>> = samples.iter().map(|sample| sample.steps).collect();
        let of_steps =
            |of: fn(&Steps) -> u64| steps.as_ref().map(|steps| Spread::of(steps.iter().map(of).collect()));
        Some(Self {
            boards: samples.len() as u64,
            solved: count(Outcome::Solved),
            several: count(Outcome::Several),
            no_solution: count(Outcome::NoSolution),
            gave_up: count(Outcome::GaveUp),
            nodes: spread(|sample| sample.nodes),
            backtracks: spread(|sample| sample.backtracks),
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

/// How the backtracks of searches go along with the clue ratio of their boards.
///
/// A search that was given up counts with the backtracks it had made by then, which is fewer than it would have taken: with
/// many of them the correlation of Pearson is too close to 0. That of Spearman only knows that they were the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// The searches.
    pub n: u64,
    /// Of these, given up.
    pub gave_up: u64,
    /// Along a straight line: [`pearson`].
    pub pearson: Result<f64, NoCorrelation>,
    /// Along any line that only rises or only falls: [`spearman`].
    pub spearman: Result<f64, NoCorrelation>,
}
