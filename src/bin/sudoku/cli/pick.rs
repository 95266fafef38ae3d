//! One puzzle: by its number, at random, or typed on the command line.

use anyhow::{anyhow, bail};
use clap::Args;
use sudoku_stream::answer::single_error;
use sudoku_stream::generate::any_seed;
use sudoku_stream::grid::Grid;
use sudoku_stream::input::{Pick, Picked, pick};
use sudoku_stream::techniques::Position;
use sudoku_stream::text::{Alphabet, Format, Notation, PuzzleError, Records};

use super::input::{Input, InputArgs};
use super::value::whole;

/// The choice of one puzzle of an input.
#[derive(Clone, Args)]
pub struct PickArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// Number of the puzzle in its file, from 1 [default: 1]
    #[arg(long, value_name = "K", value_parser = whole::<u64>(1..))]
    pub index: Option<u64>,

    /// Pick a random puzzle, all equally likely
    #[arg(long, conflicts_with = "index")]
    pub random: bool,

    /// The puzzle itself, which can be named as it is
    #[arg(long, hide = true, value_name = "CELLS", conflicts_with_all = ["inputs", "index", "random"])]
    pub puzzle: Option<String>,
}

/// The puzzle that was chosen.
pub struct Chosen {
    pub input: Input,
    pub format: Format,
    pub picked: Picked,
    pub puzzle: Grid,
}

impl Chosen {
    /// The error in the words for its input: without a line if it was typed.
    pub fn error(&self, error: PuzzleError) -> anyhow::Error {
        if self.input.is_by_itself() {
            single_error(&self.format, &self.picked.text, &error).into()
        } else if self.input.origin().is_some() {
            anyhow!(self.input.sentence(&error.to_string()))
        } else {
            error.into()
        }
    }
}

/// The position that was chosen: a puzzle, or digits with candidates.
pub struct ChosenPosition {
    pub format: Format,
    pub position: Position,
}

impl ChosenPosition {
    fn of_puzzle(chosen: Chosen) -> Self {
        Self { position: Position::new(&chosen.puzzle), format: chosen.format }
    }
}

impl PickArgs {
    /// The only input, which is not opened yet.
    ///
    /// # Errors
    /// Those of [`InputArgs::only`].
    pub fn only(&self) -> anyhow::Result<Input> {
        match &self.puzzle {
            Some(text) => Ok(self.input.typed(text)),
            None => self.input.only(),
        }
    }

    /// Reads a position of each of these inputs.
    ///
    /// # Errors
    /// Those of [`Self::choose_position`].
    pub fn choose_each_position(&self, inputs: Vec<Input>) -> anyhow::Result<Vec<ChosenPosition>> {
        inputs.into_iter().map(|input| self.choose_position(input)).collect()
    }

    /// Reads a position of an input.
    ///
    /// # Errors
    /// Those of the input; also that there is no such position, or that it is not well formed.
    pub fn choose_position(&self, input: Input) -> anyhow::Result<ChosenPosition> {
        let (input, positions) = input.positions()?;
        let Some(positions) = positions else {
            return self.choose_from(input).map(ChosenPosition::of_puzzle);
        };
        let number = if self.random {
            1 + any_seed() % positions.len().max(1) as u64
        } else {
            self.index.unwrap_or(1)
        };
        let count = positions.len();
        let place = usize::try_from(number - 1).ok();
        let Some((line, position)) = place.and_then(|place| positions.into_iter().nth(place)) else {
            bail!("{} has no position {number}, but {count}.", input.name());
        };
        let position = position.map_err(|error| {
            let line = if count == 1 { String::new() } else { format!("Line {line}: ") };
            anyhow!(input.sentence(&format!("{line}{error}")))
        })?;
        let format = Format::new(Notation::Grid, position.order(), Alphabet::Letters)?;
        Ok(ChosenPosition { format, position })
    }

    /// Reads the puzzle.
    ///
    /// # Errors
    /// Those of the input; also that there is no such puzzle, or that it is not well formed.
    pub fn choose(&self) -> anyhow::Result<Chosen> {
        self.choose_from(self.only()?)
    }

    /// Reads a puzzle of each of these inputs.
    ///
    /// # Errors
    /// Those of [`Self::choose`].
    pub fn choose_each(&self, inputs: Vec<Input>) -> anyhow::Result<Vec<Chosen>> {
        inputs.into_iter().map(|input| self.choose_from(input)).collect()
    }

    /// The inputs, which are not opened yet.
    ///
    /// # Errors
    /// Those of [`InputArgs::all`], or that a puzzle was chosen from several.
    pub fn all(&self) -> anyhow::Result<Vec<Input>> {
        let named = match &self.puzzle {
            Some(text) => vec![self.input.typed(text)],
            None => self.input.all().map_err(|error| match &self.input.inputs[..] {
                [_, number] if number.to_str().is_some_and(|text| text.parse::<u64>().is_ok()) => {
                    anyhow!("{error}. To choose puzzle {0}, use --index {0}.", number.display())
                }
                _ => error,
            })?,
        };
        if named.len() > 1 && (self.index.is_some() || self.random) {
            let flag = if self.random { "--random" } else { "--index" };
            bail!("{flag} chooses from one file, and {} inputs were named. Name one.", named.len());
        }
        Ok(named)
    }

    /// The same inputs, and the name of the first that holds positions with candidates. Of inputs that
    /// can be read only once, the beginning is kept in them.
    ///
    /// # Errors
    /// Those of the inputs.
    pub fn positions(named: Vec<Input>) -> anyhow::Result<(Vec<Input>, Option<String>)> {
        let (mut inputs, mut holder) = (Vec::with_capacity(named.len()), None);
        for input in named {
            let (input, positions) = input.positions()?;
            if positions.is_some() && holder.is_none() {
                holder = Some(input.name().to_owned());
            }
            inputs.push(input);
        }
        Ok((inputs, holder))
    }

    fn choose_from(&self, input: Input) -> anyhow::Result<Chosen> {
        let mut reader = input.reader()?;
        let number = self.index.unwrap_or(1);
        let choice = if self.random { Pick::Random } else { Pick::Number(number) };
        let Some(picked) = pick(&mut reader, choice)? else {
            if self.random {
                bail!("{} is empty.", input.name());
            }
            if input.is_typed() {
                bail!("There is no puzzle {number}. Name a file for --index to choose from.");
            }
            bail!("{} has no puzzle {number}.", input.name());
        };
        let format = reader.format().clone();
        let mut puzzle = Grid::empty(format.order());
        let record = Records::new(&format, &picked.text, picked.line).read(&mut puzzle);
        let error = record.and_then(|record| record.error);
        let chosen = Chosen { input, format, picked, puzzle };
        match error {
            Some(error) => Err(chosen.error(error)),
            None => Ok(chosen),
        }
    }
}
