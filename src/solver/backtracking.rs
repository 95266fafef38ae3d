//! Row-by-row backtracking with an explicit stack: the oracle that every other strategy is tested against.
//!
//! It walks the blank cells in reading order, tries the digits from 1 up, goes on at the first that no
//! house holds yet and back where none is left: the textbook depth-first search (D. Knuth, *The Art of
//! Computer Programming*, volume 4B, section 7.2.2, Algorithm B). Nothing is inferred, so a node is one
//! placed digit. It is slow on purpose: short enough to be seen to be right.

use super::{Limit, Metrics, NODES_BETWEEN_CANCEL_CHECKS, Search, Solver, Stop, Strategy};
use crate::grid::{Grid, MAX_SIDE, Order};

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

    fn supports(&self, _order: Order) -> bool {
        true
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        Box::new(State { order, digits: Vec::new(), blanks: Vec::new(), houses: Houses::new(order) })
    }
}

/// Which digits each house holds, bit `d` for digit `d`.
struct Houses {
    order: Order,
    rows: [u32; MAX_SIDE],
    columns: [u32; MAX_SIDE],
    boxes: [u32; MAX_SIDE],
}

impl Houses {
    const fn new(order: Order) -> Self {
        Self { order, rows: [0; MAX_SIDE], columns: [0; MAX_SIDE], boxes: [0; MAX_SIDE] }
    }

    fn of(&mut self, index: usize) -> [&mut u32; 3] {
        let (side, b) = (self.order.side(), self.order.box_side());
        let (row, column) = (index / side, index % side);
        [&mut self.rows[row], &mut self.columns[column], &mut self.boxes[row / b * b + column / b]]
    }

    fn holds(&mut self, index: usize, digit: u8) -> bool {
        self.of(index).into_iter().any(|house| *house & (1 << digit) != 0)
    }

    fn flip(&mut self, index: usize, digit: u8) {
        for house in self.of(index) {
            *house ^= 1 << digit;
        }
    }
}

struct State {
    order: Order,
    /// The grid being filled; at a blank, the digit tried last.
    digits: Vec<u8>,
    /// The indices of the blank cells; those before the current one are the stack.
    blanks: Vec<usize>,
    houses: Houses,
}

impl Solver for State {
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search {
        assert_eq!(puzzle.order(), self.order, "a solver takes puzzles of its own order");
        let mut found = Search { solutions: 0, stop: Stop::Exhausted, metrics: Metrics::default() };
        self.digits.clear();
        self.digits.extend_from_slice(puzzle.digits());
        self.blanks.clear();
        self.houses = Houses::new(self.order);
        for (index, &digit) in puzzle.digits().iter().enumerate() {
            if digit == 0 {
                self.blanks.push(index);
            } else if self.houses.holds(index, digit) {
                return found;
            } else {
                self.houses.flip(index, digit);
            }
        }

        // A digit is a byte; a side is 25 at most.
        let side = u8::try_from(self.order.side()).unwrap_or(u8::MAX);
        let metrics = &mut found.metrics;
        let mut depth = 0;
        loop {
            let Some(&index) = self.blanks.get(depth) else {
                found.solutions += 1;
                if found.solutions == 1 {
                    solution.set_digits(&self.digits);
                }
                if found.solutions == limit.solutions {
                    found.stop = Stop::Solutions;
                    return found;
                }
                if !self.take_back(&mut depth, metrics) {
                    return found;
                }
                continue;
            };
            let next = (self.digits[index] + 1..=side).find(|&digit| !self.houses.holds(index, digit));
            if let Some(digit) = next {
                if metrics.nodes == limit.nodes {
                    found.stop = Stop::Nodes;
                    return found;
                }
                metrics.nodes += 1;
                metrics.guesses += 1;
                if metrics.nodes.is_multiple_of(NODES_BETWEEN_CANCEL_CHECKS) && limit.is_cancelled() {
                    found.stop = Stop::Cancelled;
                    return found;
                }
                self.digits[index] = digit;
                self.houses.flip(index, digit);
                depth += 1;
                metrics.depth = metrics.depth.max(depth as u64);
            } else {
                self.digits[index] = 0;
                if !self.take_back(&mut depth, metrics) {
                    return found;
                }
            }
        }
    }
}

impl State {
    /// Lifts the digit placed last, so that the search goes on with the next one there. False if none is left.
    fn take_back(&mut self, depth: &mut usize, metrics: &mut Metrics) -> bool {
        if *depth == 0 {
            return false;
        }
        *depth -= 1;
        metrics.backtracks += 1;
        let index = self.blanks[*depth];
        self.houses.flip(index, self.digits[index]);
        true
    }
}
