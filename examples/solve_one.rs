//! Solves one puzzle and prints it as a grid: `cargo run --example solve_one -- PUZZLE`
//!
//! The crate `sudoku-core` alone would do.

use std::error::Error;

const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

fn main() -> Result<(), Box<dyn Error>> {
    let puzzle = std::env::args().nth(1).unwrap_or_else(|| PUZZLE.to_owned());
    println!("{:#}", sudoku_stream::solve_unique(&puzzle)?);
    Ok(())
}
