//! The solution of a puzzle by hand, a line a step: `cargo run -p sudoku-core --example by_hand -- PUZZLE`.

#![allow(clippy::print_stdout)]

use sudoku_core::grid::Grid;
use sudoku_core::techniques::{Options, Position, Steps, rate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let puzzle: Grid = std::env::args().nth(1).ok_or("a puzzle is wanted")?.parse()?;
    let position = Position::new(&puzzle);
    println!("{}", rate(&position, &Options::default()));
    let mut steps = Steps::new(position, Options::default());
    for step in steps.by_ref() {
        println!("{} {} {step}", step.rating, step.look_at());
    }
    if let Some(ending) = steps.ending() {
        println!("{ending}");
    }
    Ok(())
}
