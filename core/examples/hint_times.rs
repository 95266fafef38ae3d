//! How long hints take: a table of percentiles.
//!
//! `cargo run --release -p sudoku-core --example hint_times -- LIST [EVERY]` asks for the first hint
//! of every puzzle of a list, as `sudoku hint` does, and for every hint on the way to the solution
//! of one puzzle in EVERY (default: 100).

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods, missing_docs)]

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use sudoku_core::answer::{HINT_EFFORT, NextStep, next_step};
use sudoku_core::grid::Grid;
use sudoku_core::solver::{DEFAULT_NODE_LIMIT, Limit, Solver, default_strategy};
use sudoku_core::techniques::{Position, TechniqueSet};

/// Milliseconds that hints took, and what for.
#[derive(Default)]
struct Times(Vec<(f64, String)>);

impl Times {
    fn print(mut self, title: &str) {
        self.0.sort_by(|one, other| one.0.total_cmp(&other.0));
        let count = self.0.len();
        let at = |thousandths: usize| self.0[(count * thousandths / 1000).min(count - 1)].0;
        let mean = self.0.iter().map(|time| time.0).sum::<f64>() / count as f64;
        let within = self.0.iter().filter(|time| time.0 <= 50.0).count();
        println!("{title}: {count} hints");
        println!("   mean      50%      90%      99%    99.9%   slowest ms   within 50 ms");
        println!(
            "{mean:>7.3} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>12.3} {:>13.3}%",
            at(500),
            at(900),
            at(990),
            at(999),
            at(1000),
            100.0 * within as f64 / count as f64
        );
        println!("slowest: {}", self.0[count - 1].1);
    }
}

/// A hint, with the time that it took.
fn timed(position: &Position, clues: &Grid, solver: &mut dyn Solver, times: &mut Times) -> NextStep {
    let limit = Limit { solutions: 2, nodes: DEFAULT_NODE_LIMIT, cancel: &AtomicBool::new(false) };
    let start = Instant::now();
    let hint = next_step(position, clues, TechniqueSet::ALL, HINT_EFFORT, solver, &limit);
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    times.0.push((milliseconds, format!("{hint}\n{position}")));
    // The slowest are of interest only.
    if milliseconds < 10.0 {
        times.0.last_mut().unwrap().1 = String::new();
    }
    hint
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let text = std::fs::read_to_string(arguments.next().expect("a list of puzzles")).unwrap();
    let every: usize = arguments.next().map_or(100, |every| every.parse().unwrap());
    let puzzles: Vec<Grid> = text.lines().filter_map(|line| line.parse().ok()).collect();
    let order = puzzles.first().expect("a puzzle").order();
    let mut solver = default_strategy(order).solver(order);
    let (mut first, mut all) = (Times::default(), Times::default());
    for puzzle in &puzzles {
        timed(&Position::new(puzzle), puzzle, solver.as_mut(), &mut first);
    }
    first.print("the first hint of each puzzle");
    for puzzle in puzzles.iter().step_by(every) {
        let mut position = Position::new(puzzle);
        while !position.is_filled() {
            match timed(&position, puzzle, solver.as_mut(), &mut all) {
                NextStep::Technique(step) => position.apply(&step),
                NextStep::Search { cell, digit, .. } => position.place(cell, digit),
                _ => break,
            }
        }
    }
    all.print(&format!("every hint on the way, of one puzzle in {every}"));
}
