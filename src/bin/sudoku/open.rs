//! From arguments to an input.

use std::io::{self, Cursor, IsTerminal as _};

use anyhow::bail;
use sudoku_stream::answer::single_error;
use sudoku_stream::grid::Grid;
use sudoku_stream::input::{Pick, Picked, Reader, STANDARD_INPUT, Source, pick};
use sudoku_stream::text::{Format, PuzzleError, Records};

use super::args::{InputArgs, PickArgs};

/// Opens the input that was named.
pub fn source(args: &InputArgs) -> anyhow::Result<Source> {
    let is_standard = args.file.as_os_str() == STANDARD_INPUT;
    if is_standard && io::stdin().is_terminal() && !std::env::args().any(|arg| arg == STANDARD_INPUT) {
        bail!("No file was named. Name one, or `-` to type puzzles and end with Ctrl-D.");
    }
    Ok(Source::open(&args.file, !args.no_mmap)?)
}

/// Opens the input that was named and finds out how it is written.
pub fn reader(args: &InputArgs) -> anyhow::Result<Reader> {
    read(source(args)?, args)
}

/// Finds out how an input is written.
pub fn read(source: Source, args: &InputArgs) -> anyhow::Result<Reader> {
    Ok(source.read(&args.hint())?)
}

/// One puzzle of an input.
pub struct Chosen {
    pub format: Format,
    pub picked: Picked,
    pub puzzle: Grid,
    /// Was it given by itself, and not in a file?
    is_single: bool,
}

impl Chosen {
    /// What is wrong with it, in the words for a puzzle by itself where it is one.
    pub fn error(&self, error: PuzzleError) -> PuzzleError {
        if self.is_single { single_error(&self.format, &self.picked.text, &error) } else { error }
    }
}

/// Reads the puzzle that was chosen.
///
/// # Errors
/// What reading meets; also if there is no such puzzle, or it is not well formed.
pub fn puzzle(args: &PickArgs) -> anyhow::Result<Chosen> {
    let source = match &args.puzzle {
        Some(text) => {
            let text = Cursor::new(text.clone().into_bytes());
            Source::reading("The puzzle".to_owned(), Box::new(text))?
        }
        None => source(&args.input)?,
    };
    let mut reader = read(source, &args.input)?;
    let name = reader.name().to_owned();
    let choice = if args.random { Pick::Random } else { Pick::Number(args.index.get()) };
    let Some(picked) = pick(&mut reader, choice)? else {
        if args.random {
            bail!("{name} is empty.");
        }
        bail!("{name} has no puzzle {}.", args.index);
    };
    let format = reader.format().clone();
    let mut puzzle = Grid::empty(format.order());
    let record = Records::new(&format, &picked.text, picked.line).read(&mut puzzle);
    let error = record.and_then(|record| record.error);
    let chosen = Chosen { format, picked, puzzle, is_single: args.puzzle.is_some() };
    match error {
        Some(error) => Err(chosen.error(error).into()),
        None => Ok(chosen),
    }
}
