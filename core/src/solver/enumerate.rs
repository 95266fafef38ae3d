//! Enumeration: every solution of a puzzle, one after another, in a fixed order.
//!
//! The order is that in which one search finds them: on 9x9 that of the strategy
//! [`Boxes`](super::Boxes), on other sizes that of [`Propagation`](super::Propagation) without its
//! SAT solver. Neither depends on the processor, on threads, or on other puzzles, so the same puzzle
//! has its solutions in the same order everywhere. It is not the order of their digits, because a
//! search that has to begin at the first cell takes practically forever on large puzzles.
//!
//! Nothing is kept but the stack of the search, so it takes no more memory for a billion solutions
//! than for one.

use super::boxes::BoxSolver;
use super::lanes::Backend;
use super::propagation;
use super::watch::{Enumerate, SolutionVisitor};
use super::{Limit, Search};
use crate::grid::{Grid, Order};

/// A search for every solution of a puzzle. Reusing it costs no allocation.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::grid::{Grid, Order};
/// use sudoku_core::solver::{Enumerator, Limit, Stop};
///
/// let puzzle: Grid = "1234341221......".parse()?;
/// let limit = Limit { solutions: u64::MAX, nodes: 1_000, cancel: &AtomicBool::new(false) };
/// let mut solutions = Vec::new();
/// let search = Enumerator::new(puzzle.order()).enumerate(&puzzle, &limit, &mut |digits| {
///     solutions.push(Grid::from_digits(puzzle.order(), digits));
///     ControlFlow::Continue(())
/// });
/// assert_eq!((search.solutions, search.stop), (1, Stop::Exhausted));
/// assert!(solutions[0].solves(&puzzle));
/// # Ok::<(), sudoku_core::SolveError>(())
/// ```
pub struct Enumerator {
    order: Order,
    search: Box<dyn Enumerate>,
}

impl Enumerator {
    /// An enumerator for puzzles of this order, with the fastest instructions of the processor.
    #[must_use]
    pub fn new(order: Order) -> Self {
        Self::with_backend(order, Backend::best())
    }

    /// An enumerator with the instructions of a back end, which 9x9 puzzles make use of. The order
    /// of the solutions is the same on all of them.
    #[must_use]
    pub fn with_backend(order: Order, backend: Backend) -> Self {
        let search = match order {
            Order::NINE => Box::new(BoxSolver::new(backend)),
            _ => propagation::searcher(order),
        };
        Self { order, search }
    }

    /// The order of its puzzles.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// Passes the solutions of a puzzle to `visit`, at most `limit.solutions`. The clues may break
    /// the rules: such a puzzle has no solution. A search that `visit` ends is [cancelled].
    ///
    /// [cancelled]: super::Stop::Cancelled
    ///
    /// # Panics
    /// If the puzzle has another order.
    pub fn enumerate(&mut self, puzzle: &Grid, limit: &Limit<'_>, visit: &mut SolutionVisitor<'_>) -> Search {
        assert_eq!(puzzle.order(), self.order, "an enumerator takes puzzles of its own order");
        if puzzle.keeps_rules() { self.search.enumerate(puzzle, limit, visit) } else { Search::NO_SOLUTION }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ops::ControlFlow;
    use std::sync::atomic::AtomicBool;

    use super::super::{Backtracking, Stop, Strategy as _};
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn limit(solutions: u64) -> Limit<'static> {
        Limit { solutions, nodes: 1_000_000, cancel: &GO_ON }
    }

    fn all(enumerator: &mut Enumerator, puzzle: &Grid, most: u64) -> (Search, Vec<Vec<u8>>) {
        let mut solutions = Vec::new();
        let search = enumerator.enumerate(puzzle, &limit(most), &mut |digits| {
            solutions.push(digits.to_vec());
            ControlFlow::Continue(())
        });
        assert_eq!(search.solutions, solutions.len() as u64);
        for digits in &solutions {
            assert!(Grid::from_digits(puzzle.order(), digits).solves(puzzle));
        }
        (search, solutions)
    }

    /// Puzzles with clues from a pattern, without some of them.
    fn puzzle(order: Order, missing: impl Fn(usize) -> bool) -> Grid {
        let (n, side) = (order.box_side(), order.side());
        let digit = |cell: usize| {
            let (row, column) = (cell / side, cell % side);
            u8::try_from((row % n * n + row / n + column) % side + 1).unwrap()
        };
        let digits: Vec<u8> =
            (0..order.cells()).map(|cell| if missing(cell) { 0 } else { digit(cell) }).collect();
        Grid::from_digits(order, &digits)
    }

    #[test]
    fn all_solutions_are_visited_once_as_backtracking_counts_them() {
        for order in Order::ALL {
            let cases: Vec<Grid> = match order.box_side() {
                1 | 2 => vec![puzzle(order, |_| true), puzzle(order, |cell| cell % 3 > 0)],
                _ => vec![
                    puzzle(order, |_| false),
                    puzzle(order, |cell| cell < 2 * order.side()),
                    puzzle(order, |cell| cell % 2 == 0 && cell < order.cells() / 3),
                ],
            };
            let mut enumerator = Enumerator::new(order);
            for puzzle in cases {
                let (search, solutions) = all(&mut enumerator, &puzzle, 3_000);
                let distinct: HashSet<&Vec<u8>> = solutions.iter().collect();
                assert_eq!(distinct.len(), solutions.len());
                let mut first = Grid::empty(order);
                let counted = Backtracking.solver(order).search(&puzzle, &limit(3_000), &mut first);
                assert_eq!((search.solutions, search.stop), (counted.solutions, counted.stop), "{puzzle}");
                // A lower limit cuts the list off.
                let (search, start) = all(&mut enumerator, &puzzle, 2);
                assert!(solutions.starts_with(&start) && search.solutions == counted.solutions.min(2));
            }
        }
    }

    #[test]
    fn the_order_is_the_same_on_all_back_ends() {
        let puzzle = puzzle(Order::NINE, |cell| cell < 40);
        let (_, solutions) =
            all(&mut Enumerator::with_backend(Order::NINE, Backend::Portable), &puzzle, 5_000);
        assert_eq!(solutions.len(), 4_668);
        for backend in Backend::available() {
            let (_, others) = all(&mut Enumerator::with_backend(Order::NINE, backend), &puzzle, 5_000);
            assert!(others == solutions, "{backend:?}");
        }
    }

    #[test]
    fn a_visitor_and_a_flag_end_it_and_clues_that_break_the_rules_have_no_solution() {
        for order in Order::ALL {
            let blank = Grid::empty(order);
            let mut visits = 0;
            let search = Enumerator::new(order).enumerate(&blank, &limit(u64::MAX), &mut |_| {
                visits += 1;
                ControlFlow::Break(())
            });
            assert_eq!((visits, search.stop), (1, Stop::Cancelled));
            let raised = AtomicBool::new(false);
            let limit = Limit { cancel: &raised, nodes: u64::MAX, ..limit(u64::MAX) };
            let search = Enumerator::new(order).enumerate(&blank, &limit, &mut |_| {
                raised.store(true, std::sync::atomic::Ordering::Relaxed);
                ControlFlow::Continue(())
            });
            let wanted = if order.side() == 1 { Stop::Exhausted } else { Stop::Cancelled };
            assert_eq!(search.stop, wanted, "{order}");
            if order.side() > 1 {
                let mut digits = vec![0; order.cells()];
                digits[..2].fill(1);
                let bad = Grid::from_digits(order, &digits);
                let search = Enumerator::new(order).enumerate(&bad, &limit, &mut |_| ControlFlow::Break(()));
                assert_eq!(search, Search::NO_SOLUTION);
            }
        }
    }
}
