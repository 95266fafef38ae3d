//! Watched searches: comparisons and placements are counted, and each step is reported to an
//! observer.
//!
//! A strategy is written once, generic over [`Watch`]. With [`NoWatch`] the compiler removes all of
//! it, so an unwatched search costs nothing extra.

use std::fmt;
use std::ops::ControlFlow;

use super::{Limit, Metrics, NODES_BETWEEN_CANCEL_CHECKS, Search, Solver, Stop};
use crate::grid::{Cell, Digit, Grid, House, MAX_ORDER, Order};

/// One step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A digit is put into a blank cell.
    Place {
        /// The cell.
        cell: Cell,
        /// The digit.
        digit: Digit,
        /// Whether it is a guess, which may be taken back, or follows from the grid.
        is_guess: bool,
    },
    /// The last guess leads to a contradiction.
    Conflict(Contradiction),
    /// A guess is taken back, and with it all that was placed after it.
    Backtrack {
        /// The cell of the guess.
        cell: Cell,
        /// The digit it held.
        digit: Digit,
    },
    /// The last blank of a band of boxes was filled.
    BandComplete {
        /// The band, from 1.
        band: usize,
    },
    /// The grid is a solution.
    Solved,
    /// The search is over, and there is no solution.
    NoSolution,
    /// The search reached its node limit.
    GaveUp {
        /// The nodes visited.
        nodes: u64,
    },
}

/// A contradiction that a search has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// The digit tried in the cell is in one of its houses already.
    Taken {
        /// The cell.
        cell: Cell,
        /// The digit.
        digit: Digit,
        /// The house.
        house: House,
    },
    /// No digit fits the cell.
    NoDigit {
        /// The cell.
        cell: Cell,
    },
    /// The digit fits no cell of the house.
    NoPlace {
        /// The digit.
        digit: Digit,
        /// The house.
        house: House,
    },
    /// Two digits need the same cell, or two houses the same digit.
    Rivals,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place { cell, digit, is_guess: true } => write!(f, "Try {digit} at {cell}."),
            Self::Place { cell, digit, is_guess: false } => write!(f, "{digit} must stand at {cell}."),
            Self::Conflict(contradiction) => contradiction.fmt(f),
            Self::Backtrack { cell, digit } => write!(f, "Take {digit} at {cell} back."),
            Self::BandComplete { band } => write!(f, "Band {band} is complete."),
            Self::Solved => f.write_str("Solved."),
            Self::NoSolution => f.write_str("There is no solution."),
            Self::GaveUp { nodes } => write!(f, "Given up after {nodes} nodes."),
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { cell, digit, house } => {
                write!(f, "Not {digit} at {cell}: it stands in {house} already.")
            }
            Self::NoDigit { cell } => write!(f, "Nothing fits at {cell}."),
            Self::NoPlace { digit, house } => write!(f, "{digit} fits nowhere in {house}."),
            Self::Rivals => f.write_str("Two digits need the same cell, or two houses the same digit."),
        }
    }
}

/// An observer of searches, called with each step and the grid after it. `Break` ends the search.
pub type StepObserver<'a> = dyn FnMut(&Step, &Grid) -> ControlFlow<()> + 'a;

/// The watcher of a search: counts comparisons and placements, and may report each step to an
/// observer.
pub struct Watcher<'a> {
    observer: Option<&'a mut StepObserver<'a>>,
    comparisons: u64,
    placements: u64,
    /// The current grid, and the cells placed in it with whether each was a guess, oldest first.
    /// Kept only for an observer.
    grid: Grid,
    placed: Vec<(usize, bool)>,
    /// The blanks of each band.
    blanks: [usize; MAX_ORDER],
    is_over: bool,
}

impl<'a> Watcher<'a> {
    /// A watcher that measures a search: counts its comparisons and placements.
    #[must_use]
    pub fn measuring() -> Self {
        Self {
            observer: None,
            comparisons: 0,
            placements: 0,
            grid: Grid::empty(Order::NINE),
            placed: Vec::new(),
            blanks: [0; MAX_ORDER],
            is_over: false,
        }
    }

    /// A watcher that measures, and reports each step to `observer`.
    #[must_use]
    pub fn observing(observer: &'a mut StepObserver<'a>) -> Self {
        Self { observer: Some(observer), ..Self::measuring() }
    }

    /// Measures a search: counts its comparisons and placements.
    pub(super) fn measure(search: impl FnOnce(&mut Self) -> Search) -> Search {
        let mut watcher = Self::measuring();
        let search = search(&mut watcher);
        watcher.complete(search)
    }

    /// The search with what was counted.
    const fn complete(&self, search: Search) -> Search {
        let (comparisons, placements) = (self.comparisons, self.placements);
        Search { metrics: Metrics { comparisons, placements, ..search.metrics }, ..search }
    }

    fn notify(&mut self, step: &Step) {
        if let Some(observer) = &mut self.observer
            && !self.is_over
        {
            self.is_over = observer(step, &self.grid).is_break();
        }
    }

    fn begin(&mut self, puzzle: &Grid) {
        (self.comparisons, self.placements, self.is_over) = (0, 0, false);
        if self.observer.is_some() {
            self.grid = puzzle.clone();
            self.placed.clear();
            self.blanks = [0; MAX_ORDER];
            for (cell, &digit) in puzzle.digits().iter().enumerate() {
                let band = self.band(cell);
                self.blanks[band] += usize::from(digit == 0);
            }
        }
    }

    fn end(&mut self, search: &Search) {
        match search.stop {
            Stop::Exhausted if search.solutions == 0 => self.notify(&Step::NoSolution),
            Stop::Nodes => self.notify(&Step::GaveUp { nodes: search.metrics.nodes }),
            Stop::Exhausted | Stop::Solutions | Stop::Cancelled => {}
        }
    }

    /// A filled cell of the grid, and its digit.
    fn at(&self, cell: usize) -> (Cell, Digit) {
        let order = self.grid.order();
        (order.cell_at(cell), digit_of(order, self.grid.digits()[cell]))
    }

    fn band(&self, cell: usize) -> usize {
        cell * self.grid.order().box_side() / self.grid.order().cells()
    }
}

pub(super) fn digit_of(order: Order, value: u8) -> Digit {
    order.digit(value.into()).unwrap_or_else(|_| unreachable!("searches place digits of their order"))
}

/// The events of a search, as a strategy reports them. Cells are indices in reading order, digits
/// count from 1.
pub(super) trait Watch {
    /// Whether anything is recorded. Strategies skip what they would compute only to report it.
    const IS_ON: bool;

    /// `times` comparisons were made.
    #[inline(always)]
    fn compare(&mut self, _times: u64) {}

    /// A digit is put into a blank cell.
    #[inline(always)]
    fn place(&mut self, _cell: usize, _digit: u8, _is_guess: bool) {}

    /// The last guess leads to a contradiction.
    #[inline(always)]
    fn conflict(&mut self, _contradiction: Contradiction) {}

    /// The guess at this cell is taken back, and with it all that was placed after it.
    #[inline(always)]
    fn backtrack(&mut self, _cell: usize) {}

    /// The grid is a solution.
    #[inline(always)]
    fn solved(&mut self) {}

    /// Whether [`Self::solution`] wants every solution.
    const WANTS_SOLUTIONS: bool = false;

    /// The digits of a solution, if they are wanted.
    #[inline(always)]
    fn solution(&mut self, _digits: &[u8]) {}

    /// Whether the observer has ended the search.
    fn is_over(&self) -> bool;

    /// Whether a search that visits node number `nodes` must stop. The cancel flag is checked every
    /// [`NODES_BETWEEN_CANCEL_CHECKS`] nodes, in a watched search at every node, because its
    /// observer may take long.
    #[inline(always)]
    fn is_cancelled(&self, nodes: u64, limit: &Limit<'_>) -> bool {
        (Self::IS_ON || nodes.is_multiple_of(NODES_BETWEEN_CANCEL_CHECKS))
            && (self.is_over() || limit.is_cancelled())
    }
}

/// A watch that sees nothing: the search is compiled without any of it.
pub(super) struct NoWatch;

impl Watch for NoWatch {
    const IS_ON: bool = false;

    #[inline(always)]
    fn is_over(&self) -> bool {
        false
    }
}

impl Watch for Watcher<'_> {
    const IS_ON: bool = true;

    fn compare(&mut self, times: u64) {
        self.comparisons += times;
    }

    fn place(&mut self, cell: usize, digit: u8, is_guess: bool) {
        self.placements += 1;
        if self.observer.is_none() {
            return;
        }
        self.grid.digits_mut()[cell] = digit;
        self.placed.push((cell, is_guess));
        let band = self.band(cell);
        self.blanks[band] -= 1;
        let (at, digit) = self.at(cell);
        self.notify(&Step::Place { cell: at, digit, is_guess });
        if self.blanks[band] == 0 {
            self.notify(&Step::BandComplete { band: band + 1 });
        }
    }

    fn conflict(&mut self, contradiction: Contradiction) {
        self.notify(&Step::Conflict(contradiction));
    }

    fn backtrack(&mut self, cell: usize) {
        if self.observer.is_none() {
            return;
        }
        let (at, digit) = self.at(cell);
        while let Some((last, is_guess)) = self.placed.pop() {
            self.grid.digits_mut()[last] = 0;
            let band = self.band(last);
            self.blanks[band] += 1;
            if last == cell && is_guess {
                break;
            }
        }
        self.notify(&Step::Backtrack { cell: at, digit });
    }

    fn solved(&mut self) {
        self.notify(&Step::Solved);
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// A solver whose search is written once, for any [`Watch`].
pub(super) trait Watchable: Send {
    /// [`Solver::search`] under a watch.
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search;
}

impl<T: Watchable> Solver for T {
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search {
        self.run(puzzle, limit, solution, &mut NoWatch)
    }

    fn watch(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watcher: &mut Watcher<'_>,
    ) -> Search {
        watcher.begin(puzzle);
        let search = self.run(puzzle, limit, solution, watcher);
        watcher.end(&search);
        watcher.complete(search)
    }
}

/// A visitor of solutions, called with the digits of each, in reading order. `Break` ends the search.
pub type SolutionVisitor<'a> = dyn FnMut(&[u8]) -> ControlFlow<()> + 'a;

/// A solver that can tell of every solution.
pub(super) trait Enumerate: Solver {
    /// [`Enumerator::enumerate`] of a puzzle whose clues keep the rules.
    fn enumerate(&mut self, puzzle: &Grid, limit: &Limit<'_>, visit: &mut SolutionVisitor<'_>) -> Search;
}

impl<T: Watchable> Enumerate for T {
    fn enumerate(&mut self, puzzle: &Grid, limit: &Limit<'_>, visit: &mut SolutionVisitor<'_>) -> Search {
        let mut solution = Grid::empty(puzzle.order());
        self.run(puzzle, limit, &mut solution, &mut Visiting { visit, is_over: false })
    }
}

/// A watch that sees solutions only.
struct Visiting<'a, 'b> {
    visit: &'a mut SolutionVisitor<'b>,
    is_over: bool,
}

impl Watch for Visiting<'_, '_> {
    const IS_ON: bool = false;
    const WANTS_SOLUTIONS: bool = true;

    fn solution(&mut self, digits: &[u8]) {
        self.is_over = (self.visit)(digits).is_break();
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        self.is_over
    }
}
