//! Makes ten symmetrical puzzles with a single solution each: `cargo run --example generate`

use std::error::Error;
use std::sync::atomic::AtomicBool;

use sudoku_stream::generate::{Constraints, DEFAULT_ATTEMPTS, Generator, Kind, Recipe, Symmetry};
use sudoku_stream::grid::Order;

fn main() -> Result<(), Box<dyn Error>> {
    let constraints =
        Constraints { symmetry: Symmetry::Rotational, clues: Some(28), ..Constraints::default() };
    let recipe = Recipe { order: Order::NINE, kind: Kind::Puzzle(constraints), attempts: DEFAULT_ATTEMPTS };
    // The same seed makes the same puzzles, on any machine.
    let generator = Generator::new(recipe, 7)?;
    for made in generator.make(0, 10, &AtomicBool::new(false))? {
        match made {
            Ok(puzzle) => println!("{}", puzzle.clues),
            Err(_) => println!("no such puzzle was found in {DEFAULT_ATTEMPTS} attempts"),
        }
    }
    Ok(())
}
