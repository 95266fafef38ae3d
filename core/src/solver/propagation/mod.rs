//! Propagation: singles and locked candidates on bit masks, then guesses where there is the least
//! choice.
//!
//! The grid is held as one *layer* a digit: the set of cells that may still take it, one word for
//! each band. What follows within a layer (hidden singles and both kinds of locked candidates) is
//! inferred for all of its houses at once by a few dozen word operations without a branch. Layers
//! only interact where a cell is filled and where a cell has a single candidate left.
//!
//! 1. **Close** each changed layer (`SearchState::close`). The minirows of a band that hold a place
//!    are a small matrix, rows by boxes; the columns that do are another, bands by columns. In
//!    both, *alone in a line* means *locked*, see `locked.rs`. The rows of a layer and its columns
//!    are locked in turn until neither changes. A box with one row and one column left has one cell
//!    left: every hidden single and every placed digit ends up like that, so its cell is filled and
//!    all other layers lose it.
//! 2. **Naked singles** (`SearchState::naked_singles`): a counter of one, two and more candidates,
//!    for all cells of a band at once, over all layers. The two alternate until nothing changes.
//! 3. **Guess** (`SearchState::choose`): one candidate is placed and, if that fails, ruled out. A
//!    cell with two candidates comes first; where there is none, the digit with the fewest places
//!    in a house or the cell with the fewest candidates. Ties go to the digits and cells where
//!    guesses failed before (`Weights`), and a search without progress restarts with these weights.
//!    On 25x25 this decides between thousands of nodes and millions.
//! 4. **Learn** (`learning.rs`): what large puzzles leave after some hundred nodes goes to a SAT
//!    solver.
//!
//! # Sources
//! Layers by digit and band come from the bit-board solvers of the Players' Forum (Brian Turner's
//! BB Sudoku and its descendants), working on several at a time from T. Dillon's tdoku. Here the
//! layers of a group of digits are plain arrays, and the loops over them are vectorised by the
//! compiler for whatever the target has. Learning from failures is the weighted degree of F.
//! Boussemart, F. Hemery, C. Lecoutre and L. Sais, *Boosting systematic search by weighting
//! constraints* (ECAI 2004). The names of the techniques are those of sudokuwiki.org.
//!
//! # Cost
//! A node is the puzzle, a guess followed, or what is left when a guess was taken back and ruled
//! out; a restart visits the puzzle once more. The board is copied at each guess: 0.3 KB at 9x9, 4
//! KB at 25x25. No guess stands without filling a cell of its own, so the stack is bounded by the
//! number of cells and allocated once.

mod bands;
mod board;
mod guess;
mod learning;
mod locked;
mod report;
mod search;

use super::watch::Enumerate;
use super::{Solver, Strategy};
use crate::grid::Order;

use search::PropagationSolver;

/// The strategy `propagation`.
#[derive(Clone, Copy, Debug)]
pub struct Propagation;

impl Strategy for Propagation {
    fn name(&self) -> &'static str {
        "propagation"
    }

    fn summary(&self) -> &'static str {
        "singles and locked candidates on bit masks, then guesses where there is the least choice"
    }

    fn short_summary(&self) -> &'static str {
        "singles, then few guesses"
    }

    fn is_for_bulk(&self) -> bool {
        true
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        searcher(order)
    }
}

/// The solver of one thread.
pub(super) fn searcher(order: Order) -> Box<dyn Enumerate> {
    // Measured: with 32-bit words, groups of four fill a vector and pay for the digits that are
    // closed needlessly; with wider words they do not.
    match order.box_side() {
        1 => Box::new(PropagationSolver::<u32, 1, 1, 1, 1>::new()),
        2 => Box::new(PropagationSolver::<u32, 2, 4, 4, 4>::new()),
        3 => Box::new(PropagationSolver::<u32, 3, 9, 12, 4>::new()),
        4 => Box::new(PropagationSolver::<u64, 4, 16, 16, 1>::new()),
        5 => Box::new(PropagationSolver::<u128, 5, 25, 25, 1>::new()),
        _ => unreachable!("orders are 1 to 5"),
    }
}

#[cfg(test)]
mod tests;
