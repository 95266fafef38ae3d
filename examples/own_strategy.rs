//! A strategy outside the library, with all notations, errors and bulk runs:
//! `cargo run --example own_strategy`
//!
//! It fills cells with a single candidate, and gives a puzzle up where there is none.

use std::error::Error;
use std::sync::atomic::AtomicBool;

use sudoku_stream::answer::{Block, Solvers, Task};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::{Limit, Metrics, Search, Solver, Stop, Strategy};
use sudoku_stream::text::{Alphabet, Format, Notation};

struct Singles;

impl Strategy for Singles {
    fn name(&self) -> &'static str {
        "singles"
    }

    fn summary(&self) -> &'static str {
        "cells with a single candidate, and nothing else"
    }

    fn solver(&self, _: Order) -> Box<dyn Solver> {
        Box::new(SinglesSolver)
    }
}

struct SinglesSolver;

impl Solver for SinglesSolver {
    fn search(&mut self, puzzle: &Grid, _: &Limit<'_>, solution: &mut Grid) -> Search {
        let metrics = Metrics { nodes: 1, ..Metrics::default() };
        let order = puzzle.order();
        solution.clone_from(puzzle);
        loop {
            let mut blanks = order.all_cells().filter(|&cell| solution.get(cell).is_none()).peekable();
            if blanks.peek().is_none() {
                // Each digit was the only one possible, so there is no other solution.
                return Search { solutions: 1, stop: Stop::Exhausted, metrics };
            }
            let single = blanks.find(|&cell| solution.candidates(cell).len() <= 1);
            let digit = single.map(|cell| (cell, solution.candidates(cell).iter().next()));
            match digit {
                Some((cell, Some(digit))) => solution.set(cell, Some(digit)),
                // A cell without a candidate: there is no solution.
                Some((_, None)) => return Search { solutions: 0, stop: Stop::Exhausted, metrics },
                None => return Search { solutions: 0, stop: Stop::Nodes, metrics },
            }
        }
    }
}

const TEXT: &[u8] = b"53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9
";

fn main() -> Result<(), Box<dyn Error>> {
    let format = Format::new(Notation::Lines, Order::NINE, Alphabet::Letters)?;
    let task = Task { strategy: Some(&Singles), ..Task::default() };
    let block = Block { text: TEXT, first_line: 1 };
    let written = Solvers::new(format, task).write_answers(block, &AtomicBool::new(false))?;
    print!("{}", String::from_utf8(written.text)?);
    Ok(())
}
