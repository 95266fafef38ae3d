//! Solves a file of any length on all cores, one answer line for each puzzle, in order:
//! `cargo run --release --example solve_file -- puzzles.txt > answers.txt`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sudoku_stream::answer::{Solvers, Task};
use sudoku_stream::input::Source;
use sudoku_stream::offline::{self, Output};
use sudoku_stream::pipeline;
use sudoku_stream::solver::Question;
use sudoku_stream::text::Hint;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    // The notation, the size and the alphabet are detected.
    let reader = Source::open(Path::new(&path), true)?.read(&Hint::default())?;
    let task = Task { question: Question::Unique, ..Task::default() };
    let solvers = Arc::new(Solvers::new(reader.format().clone(), task));
    let pool = Arc::new(pipeline::pool(None)?);
    // Raised by another thread, it ends the run.
    let cancel = Arc::new(AtomicBool::new(false));
    let mut output = Output::standard();
    offline::solve(reader, &solvers, &pool, &cancel, &mut output, |_| {})?;
    let tally = &output.progress().tally;
    eprintln!("{} puzzles, {} of them with an error", tally.answers, tally.error_count());
    Ok(())
}
