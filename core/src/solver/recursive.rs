//! Recursive: row-by-row backtracking as a function that calls itself, the first solver that most
//! people write.
//!
//! The search of [`Backtracking`](super::Backtracking) with the call stack for its stack: a loop
//! over the digits of a blank cell, and a call for the cells behind it. It visits the same nodes in
//! the same order.
//!
//! Calls are no deeper than there are blank cells, 625 at most, and take some hundred bytes of the
//! thread's stack each.

use super::houses::Houses;
use super::watch::{Watch, Watchable};
use super::{Limit, Search, Solver, Stop, Strategy};
use crate::grid::{Grid, Order};

/// The strategy `recursive`.
#[derive(Clone, Copy, Debug)]
pub struct Recursive;

impl Strategy for Recursive {
    fn name(&self) -> &'static str {
        "recursive"
    }

    fn summary(&self) -> &'static str {
        "row by row, digits from 1 up, as a function that calls itself: the first solver most people write"
    }

    fn short_summary(&self) -> &'static str {
        "row by row"
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        Box::new(RecursiveSolver { digits: Vec::new(), houses: Houses::new(order) })
    }
}

struct RecursiveSolver {
    digits: Vec<u8>,
    houses: Houses,
}

/// The state that all calls of a search share.
struct SharedState<'a, W> {
    limit: &'a Limit<'a>,
    solution: &'a mut Grid,
    watch: &'a mut W,
    found: Search,
}

impl Watchable for RecursiveSolver {
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        let found = Search::NO_SOLUTION;
        let mut shared = SharedState { limit, solution, watch, found };
        if self.houses.load(puzzle) {
            self.digits.clear();
            self.digits.extend_from_slice(puzzle.digits());
            if let Err(stop) = self.fill(0, 0, &mut shared) {
                shared.found.stop = stop;
            }
        }
        shared.found
    }
}

impl RecursiveSolver {
    /// Fills the blanks from `cell` on in every way, with `depth` of them filled before it.
    ///
    /// # Errors
    /// The reason why the whole search stops.
    fn fill<W: Watch>(
        &mut self,
        cell: usize,
        depth: u64,
        shared: &mut SharedState<'_, W>,
    ) -> Result<(), Stop> {
        let Some(cell) = (cell..self.digits.len()).find(|&cell| self.digits[cell] == 0) else {
            let SharedState { limit, solution, watch, found } = shared;
            let write = |solution: &mut Grid| solution.set_digits(&self.digits);
            return limit.count_solution(&mut found.solutions, solution, *watch, write);
        };
        let mut last = 0;
        while let Some(digit) = self.houses.next_free(cell, last + 1, shared.watch) {
            let metrics = &mut shared.found.metrics;
            if metrics.nodes == shared.limit.nodes {
                return Err(Stop::Nodes);
            }
            metrics.nodes += 1;
            metrics.guesses += 1;
            if shared.watch.is_cancelled(metrics.nodes, shared.limit) {
                return Err(Stop::Cancelled);
            }
            metrics.depth = metrics.depth.max(depth + 1);
            self.digits[cell] = digit;
            self.houses.flip(cell, digit);
            shared.watch.place(cell, digit, true);
            self.fill(cell + 1, depth + 1, shared)?;
            self.digits[cell] = 0;
            self.houses.flip(cell, digit);
            shared.watch.backtrack(cell);
            shared.found.metrics.backtracks += 1;
            last = digit;
        }
        Ok(())
    }
}
