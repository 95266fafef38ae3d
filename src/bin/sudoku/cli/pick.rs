//! One puzzle: by its number, at random, or typed on the command line.

use std::io::Cursor;

use anyhow::bail;
use clap::Args;
use sudoku_stream::answer::single_error;
use sudoku_stream::grid::Grid;
use sudoku_stream::input::{Pick, Picked, Source, pick};
use sudoku_stream::text::{Format, PuzzleError, Records};

use super::input::InputArgs;
use super::value::whole;

/// The choice of one puzzle of an input.
#[derive(Clone, Args)]
pub struct PickArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// Number of the puzzle, from 1
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = whole::<u64>(1..))]
    pub index: u64,

    /// Pick a random puzzle, all equally likely
    #[arg(long, conflicts_with = "index")]
    pub random: bool,

    /// The puzzle itself, instead of a file
    #[arg(long, value_name = "CELLS", conflicts_with_all = ["file", "index", "random"])]
    pub puzzle: Option<String>,
}

/// The puzzle that was chosen.
pub struct Chosen {
    pub format: Format,
    pub picked: Picked,
    pub puzzle: Grid,
    /// Was it typed, so that no file and no line can be named?
    is_typed: bool,
}

impl Chosen {
    /// The error with the sentence for a single puzzle, if it was typed.
    pub fn error(&self, error: PuzzleError) -> PuzzleError {
        if self.is_typed { single_error(&self.format, &self.picked.text, &error) } else { error }
    }
}

impl PickArgs {
    /// Reads the puzzle.
    ///
    /// # Errors
    /// Those of the input; also that there is no such puzzle, or that it is not well formed.
    pub fn choose(&self) -> anyhow::Result<Chosen> {
        let source = match &self.puzzle {
            Some(text) => {
                let text = Cursor::new(text.clone().into_bytes());
                Source::reading("The puzzle".to_owned(), Box::new(text))?
            }
            None => self.input.source()?,
        };
        let mut reader = self.input.detect(source)?;
        let name = reader.name().to_owned();
        let choice = if self.random { Pick::Random } else { Pick::Number(self.index) };
        let Some(picked) = pick(&mut reader, choice)? else {
            if self.random {
                bail!("{name} is empty.");
            }
            bail!("{name} has no puzzle {}.", self.index);
        };
        let format = reader.format().clone();
        let mut puzzle = Grid::empty(format.order());
        let record = Records::new(&format, &picked.text, picked.line).read(&mut puzzle);
        let error = record.and_then(|record| record.error);
        let chosen = Chosen { format, picked, puzzle, is_typed: self.puzzle.is_some() };
        match error {
            Some(error) => Err(chosen.error(error).into()),
            None => Ok(chosen),
        }
    }
}
