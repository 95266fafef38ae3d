//! Strategies: interchangeable algorithms that search for the solutions of a puzzle.
//!
//! A [`Strategy`] is a name and a factory; a [`Solver`] is the reusable state of one thread. A
//! solver always answers the same question: *how many solutions are there, up to a limit, and what
//! is the first?* [`Question`] turns that into a [`Verdict`]. A [`Batch`] is many puzzles that are
//! searched together. An [`Enumerator`] tells of every solution.
//!
//! | strategy | orders | algorithm |
//! |---|---|---|
//! | [`Fast`] | 9x9 | bit-sliced inference over hundreds of puzzles at once, see [`lanes`] |
//! | [`Boxes`] | 9x9 | the same inference on one puzzle, a vector lane for each of its boxes |
//! | [`Propagation`] | all | singles and locked candidates on bit masks, weighted guesses |
//! | [`DancingLinks`] | all | D. Knuth's Algorithm X |
//! | [`FewestCandidates`] | all | backtracking, the cell with the fewest candidates first |
//! | [`Recursive`], [`Backtracking`] | all | row by row, by recursion and with a stack |
//!
//! A new strategy is one file in this folder and one line in [`STRATEGIES`]. The shared suite in
//! `tests/it/strategies.rs` runs everything in the registry.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use sudoku_core::grid::{Grid, Order};
//! use sudoku_core::solver::{Limit, Question, Verdict, strategy};
//!
//! let puzzle: Grid = "12..34..........".parse()?;
//! let mut solver = strategy("dancing-links").expect("registered").solver(puzzle.order());
//! let mut solution = Grid::empty(puzzle.order());
//! let limit = Limit { solutions: 2, nodes: 10_000, cancel: &AtomicBool::new(false) };
//! let search = solver.search(&puzzle, &limit, &mut solution);
//! assert_eq!(Question::Unique.verdict(&search), Verdict::NotUnique);
//! # Ok::<(), sudoku_core::SolveError>(())
//! ```

mod backtracking;
mod batch;
mod boxes;
mod count;
mod dancing_links;
mod enumerate;
mod fast;
mod fewest_candidates;
mod houses;
pub mod lanes;
mod propagation;
mod recursive;
mod singles;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::grid::{Grid, Order};
use crate::text::Problem;

pub use backtracking::Backtracking;
pub use batch::Batch;
pub use boxes::Boxes;
pub use dancing_links::DancingLinks;
pub use enumerate::Enumerator;
pub use fast::Fast;
pub use fewest_candidates::FewestCandidates;
pub use propagation::Propagation;
pub use recursive::Recursive;
pub use watch::{Contradiction, SolutionVisitor, Step, StepObserver, Watcher};

/// All strategies. Where none is named, the first that supports the order is used.
pub static STRATEGIES: &[&dyn Strategy] =
    &[&Fast::BEST, &Boxes, &Propagation, &DancingLinks, &FewestCandidates, &Recursive, &Backtracking];

/// The default node limit of a puzzle.
pub const DEFAULT_NODE_LIMIT: u64 = 1_000_000;

/// The default limit of a count.
pub const DEFAULT_COUNT_LIMIT: u64 = 1_000;

/// The most nodes that a solver visits between two checks of the cancel flag.
pub const NODES_BETWEEN_CANCEL_CHECKS: u64 = 256;

/// A search algorithm, registered under its name.
pub trait Strategy: Send + Sync {
    /// The name on the command line, in lower case.
    fn name(&self) -> &'static str;

    /// One line for a list of strategies.
    fn summary(&self) -> &'static str;

    /// A few words for a list with little space, about what its steps show.
    fn short_summary(&self) -> &'static str {
        self.summary()
    }

    /// Whether it solves puzzles of this order. By default, of all.
    fn supports(&self, _order: Order) -> bool {
        true
    }

    /// Whether it searches the puzzles of a batch side by side. Then a single puzzle says nothing
    /// about its speed.
    fn searches_together(&self) -> bool {
        false
    }

    /// Whether it is fast on every list. Other strategies may take practically forever on hard or
    /// large puzzles, so benchmarks run them only by name.
    fn is_for_bulk(&self) -> bool {
        false
    }

    /// Whether experiments compare it unless strategies are named. One that searches as another
    /// does would be a second curve over the same points.
    fn is_for_comparison(&self) -> bool {
        true
    }

    /// A solver for puzzles of `order`, reusable for any number of them.
    ///
    /// # Panics
    /// If the strategy does not support the order.
    fn solver(&self, order: Order) -> Box<dyn Solver>;
}

/// The strategy with this name.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static dyn Strategy> {
    STRATEGIES.iter().copied().find(|s| s.name() == name)
}

/// The default strategy for puzzles of this order.
#[must_use]
pub fn default_strategy(order: Order) -> &'static dyn Strategy {
    // Propagation takes every order, so there is always one.
    STRATEGIES.iter().copied().find(|s| s.supports(order)).unwrap_or(&Propagation)
}

/// The state of one thread for a strategy and an order. Reusing it costs no allocation.
pub trait Solver: Send {
    /// Searches for up to `limit.solutions` solutions of `puzzle` and writes the first one found
    /// into `solution`.
    ///
    /// `solution` has the order of the puzzle; its cells are unspecified where no solution was
    /// found. The clues may break the rules: such a puzzle has no solution.
    ///
    /// # Panics
    /// May panic if the order of `puzzle` or `solution` is not the one that the solver was made
    /// for.
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search;

    /// [`Self::search`] with complete metrics, and with each step reported to the observer of
    /// `watcher`, if it has one. It is slower, and checks the cancel flag at every node. The
    /// default, for strategies without steps, just searches.
    ///
    /// # Panics
    /// Like [`Self::search`].
    fn watch(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watcher: &mut Watcher<'_>,
    ) -> Search {
        let _ = watcher;
        self.search(puzzle, limit, solution)
    }

    /// Searches every puzzle of a batch. Each has the result of [`Self::search`] except for its
    /// metrics. A puzzle whose clues break the rules is answered without a guess.
    ///
    /// # Panics
    /// May panic if the order of the batch is not the one that the solver was made for.
    fn search_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        search_each(batch, limit, |puzzle, solution| self.search(puzzle, limit, solution));
    }

    /// [`Self::search_batch`] with complete metrics, as [`Self::watch`] counts them.
    ///
    /// # Panics
    /// Like [`Self::search_batch`].
    fn measure_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        search_each(batch, limit, |puzzle, solution| {
            self.watch(puzzle, limit, solution, &mut Watcher::measuring())
        });
    }
}

/// Searches the puzzles of a batch one after another.
fn search_each(batch: &mut Batch, limit: &Limit<'_>, mut search: impl FnMut(&Grid, &mut Grid) -> Search) {
    let (mut puzzle, mut solution) = (Grid::empty(batch.order()), Grid::empty(batch.order()));
    for index in 0..batch.len() {
        puzzle.set_digits(batch.puzzle(index));
        let found = if limit.is_cancelled() {
            Search::CANCELLED
        } else if puzzle.keeps_rules() {
            search(&puzzle, &mut solution)
        } else {
            Search::NO_SOLUTION
        };
        batch.set(index, found, solution.digits());
    }
}

/// The limits of a search. Construct it as a literal: strategies and callers need every field.
#[derive(Clone, Copy, Debug)]
pub struct Limit<'a> {
    /// Stop after this many solutions; at least 1.
    pub solutions: u64,
    /// Stop before visiting more than this many nodes.
    pub nodes: u64,
    /// Stop soon after this becomes true.
    pub cancel: &'a AtomicBool,
}

impl Limit<'_> {
    /// Whether the caller has asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The number of solutions found, at most [`Limit::solutions`].
    pub solutions: u64,
    /// Why it ended.
    pub stop: Stop,
    /// The cost of the search.
    pub metrics: Metrics,
}

impl Search {
    /// No solution, found without a search.
    pub const NO_SOLUTION: Self = Self {
        solutions: 0,
        stop: Stop::Exhausted,
        metrics: Metrics { nodes: 0, guesses: 0, backtracks: 0, depth: 0, comparisons: 0, placements: 0 },
    };

    /// What a search has found when it begins: it visits one node, and it is exhausted if that node is a
    /// contradiction.
    pub(crate) const BEGUN: Self =
        Self { metrics: Metrics { nodes: 1, ..Self::NO_SOLUTION.metrics }, ..Self::NO_SOLUTION };

    /// Cancelled before it began.
    pub const CANCELLED: Self = Self { stop: Stop::Cancelled, ..Self::NO_SOLUTION };
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The search space is exhausted: there are no further solutions.
    Exhausted,
    /// The search reached its limit of solutions; there may be more.
    Solutions,
    /// The search reached its limit of nodes.
    Nodes,
    /// The cancel flag was raised.
    Cancelled,
}

/// The cost of a search, as counts without unit.
///
/// Not `non_exhaustive`, because strategies outside this crate construct it, and because what sends
/// it over the wire must not compile when a figure is added and forgotten there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Search states visited: the puzzle itself and one for each guess followed.
    pub nodes: u64,
    /// Choices between alternatives.
    pub guesses: u64,
    /// Guesses taken back.
    pub backtracks: u64,
    /// The most guesses that stood at once.
    pub depth: u64,
    /// Looks at something in order to decide: at a digit in its houses, at the candidates of a
    /// cell, at the options of an item, at the places of a digit. Each strategy defines its own, so
    /// this compares searches of one strategy. Counted only in watched searches.
    pub comparisons: u64,
    /// Digits put into cells, guessed or inferred. Counted only in watched searches.
    pub placements: u64,
}

impl Metrics {
    /// The number of figures.
    pub const COUNT: usize = 6;

    /// All figures with their names, in the order in which they are shown.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); Self::COUNT] {
        let Self { nodes, guesses, backtracks, depth, comparisons, placements } = *self;
        [
            ("nodes", nodes),
            ("guesses", guesses),
            ("backtracks", backtracks),
            ("depth", depth),
            ("comparisons", comparisons),
            ("placements", placements),
        ]
    }

    /// Whether comparisons and placements were counted: a search that counts compares something at
    /// each node.
    #[must_use]
    pub const fn are_complete(&self) -> bool {
        self.comparisons > 0 || self.nodes == 0
    }

    /// Counts a step of a search, as far as steps tell its cost: guesses, backtracks, depth and
    /// placements. A search itself is ahead of the steps that were reported when it is cut short.
    pub const fn count_step(&mut self, step: &Step) {
        match step {
            Step::Place { is_guess, .. } => {
                self.placements += 1;
                if *is_guess {
                    self.guesses += 1;
                    let standing = self.guesses.saturating_sub(self.backtracks);
                    self.depth = if standing > self.depth { standing } else { self.depth };
                }
            }
            Step::Backtrack { .. } => self.backtracks += 1,
            _ => {}
        }
    }

    /// Adds the cost of another puzzle: the sum of each figure, but the greater depth.
    pub fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.guesses += other.guesses;
        self.backtracks += other.backtracks;
        self.depth = self.depth.max(other.depth);
        self.comparisons += other.comparisons;
        self.placements += other.placements;
    }
}

/// What to find out about a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Question {
    /// Any solution.
    #[default]
    First,
    /// The solution, and proof that there is no other.
    Unique,
    /// The number of solutions up to a limit of at least 1.
    Count {
        /// The count at which the search stops.
        limit: u64,
    },
}

impl Question {
    /// The number of solutions to search for: 1, 2 or the limit of the count.
    #[must_use]
    pub const fn solutions(self) -> u64 {
        match self {
            Self::First => 1,
            Self::Unique => 2,
            Self::Count { limit } => limit,
        }
    }

    /// The answer to this question by a search for [`Self::solutions`] solutions.
    #[must_use]
    pub const fn verdict(self, search: &Search) -> Verdict {
        match (self, search.stop, search.solutions) {
            (_, Stop::Cancelled, _) => Verdict::Cancelled,
            (Self::First, _, 1..) => Verdict::Solved,
            (Self::Unique, _, 2..) => Verdict::NotUnique,
            (_, Stop::Nodes, _) => Verdict::GaveUp { nodes: search.metrics.nodes },
            (Self::Count { .. }, stop, count) => {
                Verdict::Counted { count, exact: matches!(stop, Stop::Exhausted) }
            }
            (_, _, 0) => Verdict::NoSolution,
            (Self::Unique, _, _) => Verdict::Solved,
        }
    }
}

/// The answer to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Solved; for [`Question::Unique`] also: there is no other solution.
    Solved,
    /// There is no solution.
    NoSolution,
    /// There are at least two.
    NotUnique,
    /// The number of solutions.
    Counted {
        /// The solutions counted.
        count: u64,
        /// False if the search stopped at a limit, so that there may be more.
        exact: bool,
    },
    /// The search reached its node limit first.
    GaveUp {
        /// The nodes visited.
        nodes: u64,
    },
    /// The caller asked to stop.
    Cancelled,
}

impl Verdict {
    /// Why the question has no good answer; `None` if it has one.
    ///
    /// # Errors
    /// [`Cancelled`] if the search was.
    pub const fn problem(self) -> Result<Option<Problem>, Cancelled> {
        Ok(match self {
            Self::Solved | Self::Counted { .. } => None,
            Self::NoSolution => Some(Problem::NoSolution),
            Self::NotUnique => Some(Problem::NotUnique),
            Self::GaveUp { nodes } => Some(Problem::GaveUp { nodes }),
            Self::Cancelled => return Err(Cancelled),
        })
    }
}

/// Cancelled by the caller, before all answers were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The work was cancelled.")]
pub struct Cancelled;
