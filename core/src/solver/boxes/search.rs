//! The search: depth first over boards.

use super::board::{self, Inferred, NoSolution};
use super::guess::GuessRule;
use super::report;
use super::vector::{BoxVector, Stored, stored};
use crate::solver::watch::Watch;
use crate::solver::{Limit, Search, Stop};

/// A guess that stands.
pub(super) struct Standing {
    /// The board in which it is wrong.
    other: Stored,
    /// The cells that were filled before it, in a watched search.
    filled: u128,
    /// Its cell, in a watched search, if it fills one.
    cell: Option<usize>,
}

/// A guess takes a candidate away. Guesses of minirows and minicolumns take permutations from 54
/// pairs of a digit and a band or stack, which have six at most; those of cells are 81 at most.
pub(super) const MOST_GUESSES: usize = 270;

/// What is kept between searches.
pub(super) struct Memory {
    stack: Vec<Standing>,
    /// The passes of all searches so far.
    pub(super) passes: u64,
}

impl Memory {
    pub(super) fn new() -> Self {
        Self { stack: Vec::new(), passes: 0 }
    }
}

/// Searches a puzzle of 81 digits, 0 for a blank.
#[inline(always)]
pub(super) fn search<V: BoxVector, G: GuessRule, W: Watch>(
    puzzle: &[u8; 81],
    limit: &Limit<'_>,
    solution: &mut [u8; 81],
    memory: &mut Memory,
    watch: &mut W,
) -> Search {
    let mut found = Search::BEGUN;
    let metrics = &mut found.metrics;
    let stack = &mut memory.stack;
    stack.clear();
    let mut cells = V::read(puzzle);
    let mut filled = if W::IS_ON { report::clues(puzzle) } else { 0 };
    loop {
        if watch.is_cancelled(metrics.nodes, limit) {
            found.stop = Stop::Cancelled;
            return found;
        }
        let mut passes = 0;
        let inferred = board::infer::<V, W>(&mut cells, &mut passes);
        memory.passes += passes;
        if W::IS_ON {
            watch.compare(passes);
            if inferred.is_ok() {
                filled = report::filled(&stored(&cells), filled, watch);
            }
        }
        match inferred {
            Ok(Inferred::Open(lines)) => {
                let guess = G::choose(&cells, &lines);
                metrics.guesses += 1;
                if metrics.nodes >= limit.nodes {
                    found.stop = Stop::Nodes;
                    return found;
                }
                metrics.nodes += 1;
                let mut other = cells;
                guess.refuse(&mut other);
                debug_assert!(stack.len() < MOST_GUESSES);
                let mut standing = Standing { other: stored(&other), filled, cell: None };
                if W::IS_ON
                    && let Some(guessed) = guess.filled()
                {
                    let cell = report::guess(guessed, watch);
                    standing.cell = Some(cell);
                    filled |= 1 << cell;
                }
                stack.push(standing);
                metrics.depth = metrics.depth.max(stack.len() as u64);
                guess.follow(&mut cells);
                continue;
            }
            Ok(Inferred::Solved) => {
                if Limit::keeps_solution::<W>(found.solutions) {
                    V::write(&cells, solution);
                }
                if let Err(stop) = limit.count_written_solution(&mut found.solutions, solution, watch) {
                    found.stop = stop;
                    return found;
                }
            }
            Err(NoSolution) => {
                if W::IS_ON {
                    watch.conflict(report::contradiction(&stored(&cells)));
                }
            }
        }
        let Some(standing) = stack.pop() else { return found };
        if metrics.nodes >= limit.nodes {
            found.stop = Stop::Nodes;
            return found;
        }
        metrics.nodes += 1;
        metrics.backtracks += 1;
        if W::IS_ON {
            filled = standing.filled;
            if let Some(cell) = standing.cell {
                watch.backtrack(cell);
            }
        }
        cells = board::each(|row, column| V::load(&standing.other[row][column]));
    }
}
