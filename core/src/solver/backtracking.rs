//! Backtracking: row by row with an explicit stack, the oracle that every other strategy is tested
//! against.
//!
//! It goes through the blank cells in reading order, tries the digits from 1 up, continues with the
//! first that no house holds and goes back where none is left: the textbook depth-first search (D.
//! Knuth, *The Art of Computer Programming*, volume 4B, section 7.2.2, Algorithm B). Nothing is
//! inferred, so a node is one placed digit. A comparison checks one digit against the three houses
//! of a cell. It is slow and so short that it is obviously correct.

use super::houses::Houses;
use super::watch::{Watch, Watchable};
use super::{Limit, Metrics, Search, Solver, Stop, Strategy};
use crate::grid::{Grid, Order};

/// The strategy `backtracking`.
#[derive(Clone, Copy, Debug)]
pub struct Backtracking;

impl Strategy for Backtracking {
    fn name(&self) -> &'static str {
        "backtracking"
    }

    fn summary(&self) -> &'static str {
        "row by row, digits from 1 up, with an explicit stack: slow and easy to follow"
    }

    fn short_summary(&self) -> &'static str {
        "row by row, with a stack"
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        Box::new(BacktrackingSolver { digits: Vec::new(), blanks: Vec::new(), houses: Houses::new(order) })
    }
}

struct BacktrackingSolver {
    /// The grid; a blank cell holds the digit tried last.
    digits: Vec<u8>,
    /// The indices of the blank cells; those before the current one are the stack.
    blanks: Vec<usize>,
    houses: Houses,
}

impl Watchable for BacktrackingSolver {
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        let mut found = Search::NO_SOLUTION;
        if !self.houses.load(puzzle) {
            return found;
        }
        self.digits.clear();
        self.digits.extend_from_slice(puzzle.digits());
        self.blanks.clear();
        self.blanks.extend((0..self.digits.len()).filter(|&cell| self.digits[cell] == 0));

        let metrics = &mut found.metrics;
        let mut depth = 0;
        loop {
            let Some(&cell) = self.blanks.get(depth) else {
                let write = |solution: &mut Grid| solution.set_digits(&self.digits);
                if let Err(stop) = limit.count_solution(&mut found.solutions, solution, watch, write) {
                    found.stop = stop;
                    return found;
                }
                if !self.take_back(&mut depth, metrics, watch) {
                    return found;
                }
                continue;
            };
            if let Some(digit) = self.houses.next_free(cell, self.digits[cell] + 1, watch) {
                if metrics.nodes == limit.nodes {
                    found.stop = Stop::Nodes;
                    return found;
                }
                metrics.nodes += 1;
                metrics.guesses += 1;
                if watch.is_cancelled(metrics.nodes, limit) {
                    found.stop = Stop::Cancelled;
                    return found;
                }
                self.digits[cell] = digit;
                self.houses.flip(cell, digit);
                watch.place(cell, digit, true);
                depth += 1;
                metrics.depth = metrics.depth.max(depth as u64);
            } else {
                self.digits[cell] = 0;
                if !self.take_back(&mut depth, metrics, watch) {
                    return found;
                }
            }
        }
    }
}

impl BacktrackingSolver {
    /// Removes the digit placed last, so that the search continues with the next one there. Returns
    /// false if there is none.
    fn take_back<W: Watch>(&mut self, depth: &mut usize, metrics: &mut Metrics, watch: &mut W) -> bool {
        if *depth == 0 {
            return false;
        }
        *depth -= 1;
        metrics.backtracks += 1;
        let cell = self.blanks[*depth];
        self.houses.flip(cell, self.digits[cell]);
        watch.backtrack(cell);
        true
    }
}
