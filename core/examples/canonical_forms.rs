//! The canonical forms of a list of puzzles, and how many of them differ:
//! `cargo run --release -p sudoku-core --example canonical_forms -- FILE`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::HashSet;
use std::time::Instant;

use sudoku_core::canon::{CanonicalForm, Canonizer};
use sudoku_core::grid::Grid;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(std::env::args().nth(1).ok_or("a file is wanted")?)?;
    let puzzles: Vec<Grid> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
    let begin = Instant::now();
    let solutions: Vec<Grid> = sudoku_core::answers(&text)?.collect::<Result<_, _>>()?;
    let mut canonizer = Canonizer::new();
    let pairs = puzzles.iter().zip(&solutions);
    let by_solution: Vec<CanonicalForm> =
        pairs.map(|(puzzle, solution)| canonizer.by_solution(puzzle, solution)).collect();
    let solved = begin.elapsed();
    let by_puzzle: Vec<CanonicalForm> = puzzles.iter().map(|puzzle| canonizer.by_puzzle(puzzle)).collect();
    let by_clues = begin.elapsed().saturating_sub(solved);
    for (form, least) in by_solution.iter().zip(&by_puzzle) {
        println!("{} {}", form.puzzle, least.puzzle);
    }
    let differing = by_solution.iter().map(|form| &form.puzzle).collect::<HashSet<_>>().len();
    let least = by_puzzle.iter().map(|form| &form.puzzle).collect::<HashSet<_>>().len();
    eprintln!(
        "{} puzzles, {differing} of which differ by their solutions and {least} by their clues.",
        puzzles.len()
    );
    let rate = |seconds: f64| puzzles.len() as f64 / seconds;
    eprintln!(
        "{:.0} a second by solution, {:.0} by clues.",
        rate(solved.as_secs_f64()),
        rate(by_clues.as_secs_f64())
    );
    Ok(())
}
