//! Strategies: interchangeable ways to search for the solutions of a puzzle.
//!
//! A [`Strategy`] is a name and a factory; a [`Solver`] is one worker's reusable state. Whatever is asked
//! of a puzzle, a solver answers one question: *how many solutions are there, up to a limit, and what is
//! the first?* [`Question`] turns that into what a user wanted to know. Many puzzles at once are a [`Batch`].
//!
//! A new strategy is one file in this folder and one line in [`STRATEGIES`]. The shared suite in
//! `tests/it/strategies.rs` runs everything in the registry.

mod backtracking;
mod batch;
mod dancing_links;
mod fast;
mod fewest_candidates;
mod houses;
pub mod lanes;
mod propagation;
mod recursive;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::grid::{Grid, Order};

pub use backtracking::Backtracking;
pub use batch::Batch;
pub use dancing_links::DancingLinks;
pub use fast::Fast;
pub use fewest_candidates::FewestCandidates;
pub use propagation::Propagation;
pub use recursive::Recursive;
pub use watch::{Contradiction, Step, StepObserver, Watcher};

/// Every strategy. Where none is named, the first that supports the order is used.
pub static STRATEGIES: &[&dyn Strategy] =
    &[&Fast::BEST, &Propagation, &DancingLinks, &FewestCandidates, &Recursive, &Backtracking];

/// The node limit of a puzzle where none is given.
pub const DEFAULT_NODE_LIMIT: u64 = 1_000_000;

/// The limit of a count where none is given.
pub const DEFAULT_COUNT_LIMIT: u64 = 1_000;

/// How many nodes a solver may visit between two looks at the cancel flag.
pub const NODES_BETWEEN_CANCEL_CHECKS: u64 = 256;

/// A way to search, registered under its name.
pub trait Strategy: Send + Sync {
    /// The name users type, in lower case.
    fn name(&self) -> &'static str;

    /// One line for a list of strategies.
    fn summary(&self) -> &'static str;

    /// Can it solve puzzles of this order?
    fn supports(&self, order: Order) -> bool;

    /// Does it search the puzzles of a batch side by side? Then one alone shows nothing of its speed.
    fn searches_together(&self) -> bool {
        false
    }

    /// Is it quick with whatever comes? A list of hard or large puzzles may take the others for ever, and they are not timed
    /// unless they are named.
    fn is_for_bulk(&self) -> bool {
        false
    }

    /// A solver for puzzles of `order`, to be used for one puzzle after another.
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

/// The strategy that is used for puzzles of this order where none is named.
#[must_use]
pub fn default_strategy(order: Order) -> &'static dyn Strategy {
    // Propagation takes every order, so there is always one.
    STRATEGIES.iter().copied().find(|s| s.supports(order)).unwrap_or(&Propagation)
}

/// One worker's state for a strategy and an order. Reusing it costs no allocation.
pub trait Solver: Send {
    /// Searches for up to `limit.solutions` solutions of `puzzle` and writes the first one found into
    /// `solution`.
    ///
    /// `solution` has the puzzle's order; its cells are unspecified where no solution was found. The clues
    /// need not keep the rules: a puzzle whose clues clash has no solution.
    ///
    /// # Panics
    /// May panic if the order of `puzzle` or `solution` is not the one the solver was made for.
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search;

    /// The same search, watched: its metrics are complete, and `watcher` is told the steps if it wants them. It is
    /// slower, and looks at the cancel flag at every node. A strategy without steps to tell just searches.
    ///
    /// # Panics
    /// As [`Self::search`].
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

    /// Searches every puzzle of a batch. Each is answered as [`Self::search`] would, but for its metrics; and on a puzzle
    /// whose clues clash no guess is made.
    ///
    /// # Panics
    /// May panic if the order of the batch is not the one the solver was made for.
    fn search_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        search_each(batch, limit, |puzzle, solution| self.search(puzzle, limit, solution));
    }

    /// Searches every puzzle of a batch as [`Self::watch`] would, to have complete metrics.
    ///
    /// # Panics
    /// As [`Self::search_batch`].
    fn measure_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        search_each(batch, limit, |puzzle, solution| {
            self.watch(puzzle, limit, solution, &mut Watcher::counting())
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

/// Where a search has to stop.
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
    /// Has the caller asked to stop?
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The number of solutions found, at most [`Limit::solutions`].
    pub solutions: u64,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost.
    pub metrics: Metrics,
}

impl Search {
    /// There is no solution, and that was plain to see.
    pub const NO_SOLUTION: Self = Self {
        solutions: 0,
        stop: Stop::Exhausted,
        metrics: Metrics { nodes: 0, guesses: 0, backtracks: 0, depth: 0, comparisons: 0, placements: 0 },
    };

    /// The search was not begun.
    pub const CANCELLED: Self = Self { stop: Stop::Cancelled, ..Self::NO_SOLUTION };
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There are no further solutions.
    Exhausted,
    /// The limit of solutions was reached; there may be more.
    Solutions,
    /// The limit of nodes was reached.
    Nodes,
    /// The cancel flag was raised.
    Cancelled,
}

/// What a search cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Search states visited: the puzzle itself and one for each guess followed.
    pub nodes: u64,
    /// Choices between alternatives.
    pub guesses: u64,
    /// Guesses taken back.
    pub backtracks: u64,
    /// The most guesses that stood at one time.
    pub depth: u64,
    /// How often the search looked at something in order to decide: at a digit in its houses, at the candidates of a cell, at
    /// the size of a column, at the places of a digit. What that is each strategy says, so this compares searches of one
    /// strategy. Only counted in searches that are watched.
    pub comparisons: u64,
    /// Digits put into cells, guessed or inferred. Only counted in searches that are watched.
    pub placements: u64,
}

impl Metrics {
    /// How many figures there are.
    pub const COUNT: usize = 6;

    /// Each figure with its name, in the order in which people are told.
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

    /// Were comparisons and placements counted? Whatever visits a node compares something.
    #[must_use]
    pub const fn are_complete(&self) -> bool {
        self.comparisons > 0 || self.nodes == 0
    }

    /// Adds another puzzle's cost: sums, and the greater depth.
    pub fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.guesses += other.guesses;
        self.backtracks += other.backtracks;
        self.depth = self.depth.max(other.depth);
        self.comparisons += other.comparisons;
        self.placements += other.placements;
    }
}

/// What is asked of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Question {
    /// Any solution.
    #[default]
    First,
    /// The solution, and proof that there is no other.
    Unique,
    /// The number of solutions up to a limit of at least 1.
    Count {
        /// Where counting stops.
        limit: u64,
    },
}

impl Question {
    /// How many solutions have to be seen to answer.
    #[must_use]
    pub const fn solutions(self) -> u64 {
        match self {
            Self::First => 1,
            Self::Unique => 2,
            Self::Count { limit } => limit,
        }
    }

    /// The answer that a finished search gives to this question.
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
        /// As many as were counted.
        count: u64,
        /// False if counting stopped at its limit and there may be more.
        exact: bool,
    },
    /// The node limit came first.
    GaveUp {
        /// The nodes visited.
        nodes: u64,
    },
    /// The caller asked to stop.
    Cancelled,
}
