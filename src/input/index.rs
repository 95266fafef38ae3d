//! Random access: puzzle K of a large input.
//!
//! **Invariant:** an index never holds more than one mark a chunk, so its memory is a tiny share of
//! the file's length; a puzzle is read again from the chunk that holds it.

use std::sync::Arc;

use super::seek::LineStart;
use super::{InputError, Mapped, Reader, Source};
use crate::answer::Block;
use crate::grid::Grid;
use crate::text::{Format, Hint, Records};

/// A puzzle cut out of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// The number of the puzzle, from 1.
    pub number: u64,
    /// The physical line on which it begins, from 1.
    pub line: u64,
    /// Its text, line ends and comments included.
    pub text: Vec<u8>,
}

/// The choice of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The puzzle with this number, from 1.
    Number(u64),
    /// Any puzzle, all with the same probability.
    Random,
}

/// Picks a puzzle in one pass over an input, which may be a stream. `None` if no puzzle has that
/// number.
///
/// A random one is chosen by reservoir sampling a chunk at a time: a chunk of `c` puzzles after `t`
/// others replaces the choice with probability `c / (t + c)`.
///
/// # Errors
/// Errors of reading.
pub fn pick(reader: &mut Reader, pick: Pick) -> Result<Option<Picked>, InputError> {
    let format = reader.format().clone();
    let mut before = 0;
    let mut choice = None;
    while let Some(chunk) = reader.next_chunk()? {
        let block = chunk.block();
        let count = count_puzzles(&format, block);
        match pick {
            Pick::Number(number) if number > before && number - before <= count => {
                return Ok(puzzle_of(&format, block, before, number));
            }
            Pick::Random if count > 0 => {
                let ticket = rand::random_range(1..=before + count);
                if ticket > before {
                    choice = puzzle_of(&format, block, before, ticket);
                }
            }
            Pick::Number(_) | Pick::Random => {}
        }
        before += count;
    }
    Ok(choice)
}

fn count_puzzles(format: &Format, block: Block<'_>) -> u64 {
    let mut records = Records::new(format, block.text, block.first_line);
    let mut puzzle = Grid::empty(format.order());
    std::iter::from_fn(|| records.read(&mut puzzle)).count() as u64
}

/// Puzzle `number` of the whole input, from a block with `before` puzzles before it.
fn puzzle_of(format: &Format, block: Block<'_>, before: u64, number: u64) -> Option<Picked> {
    let mut records = Records::new(format, block.text, block.first_line);
    let mut puzzle = Grid::empty(format.order());
    for _ in before + 1..number {
        records.read(&mut puzzle)?;
    }
    let (rest, first_line) = (records.rest(), records.line());
    let record = records.read(&mut puzzle)?;
    // Blank lines and comments before the puzzle are not part of it.
    let lines_before = usize::try_from(record.line - first_line).unwrap_or(0);
    let text = &rest[..rest.len() - records.rest().len()];
    let start = match lines_before {
        0 => 0,
        n => memchr::memchr_iter(b'\n', text).nth(n - 1).map_or(0, |end| end + 1),
    };
    Some(Picked { number, line: record.line, text: text[start..].to_vec() })
}

/// An index of the chunks of a mapped file. It grows only as far as puzzles are asked for, and no
/// part of the file is indexed twice: to return a puzzle, only the chunk that holds it is read
/// again.
pub struct PuzzleIndex {
    reader: Reader,
    marks: Vec<IndexMark>,
    /// The number of puzzles in all marked chunks.
    puzzles: u64,
    is_complete: bool,
}

/// The beginning of a chunk.
#[derive(Clone, Copy, Debug)]
struct IndexMark {
    offset: u64,
    line: u64,
    puzzles_before: u64,
}

impl PuzzleIndex {
    /// An empty index. The file is read when the first puzzle is asked for.
    ///
    /// # Errors
    /// Errors of reading the first bytes.
    pub fn new(map: Arc<Mapped>, hint: &Hint) -> Result<Self, InputError> {
        let reader = Source::mapped(map).read(hint)?;
        Ok(Self { reader, marks: Vec::new(), puzzles: 0, is_complete: false })
    }

    /// The format of the file.
    #[must_use]
    pub const fn format(&self) -> &Format {
        self.reader.format()
    }

    /// The number of puzzles, after reading the rest of the file if it has not been indexed.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn count(&mut self) -> Result<u64, InputError> {
        self.extend(u64::MAX)?;
        Ok(self.puzzles)
    }

    /// The puzzle with this number, from 1, or `None` if there are fewer.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn puzzle(&mut self, number: u64) -> Result<Option<Picked>, InputError> {
        self.extend(number)?;
        if number == 0 || number > self.puzzles {
            return Ok(None);
        }
        let mark = self.marks[self.marks.partition_point(|mark| mark.puzzles_before < number) - 1];
        let (offset, line) = (self.reader.offset(), self.reader.line);
        self.reader.seek(LineStart { offset: mark.offset, line: mark.line })?;
        let picked = self.puzzle_after(mark.puzzles_before, number);
        self.reader.seek(LineStart { offset, line })?;
        picked
    }

    /// Puzzle `number` of the whole input, from a reader that stands behind `before` puzzles. What
    /// was one chunk the first time, when an unfinished puzzle was pending, may be several now.
    fn puzzle_after(&mut self, mut before: u64, number: u64) -> Result<Option<Picked>, InputError> {
        while let Some(chunk) = self.reader.next_chunk()? {
            let count = count_puzzles(self.reader.format(), chunk.block());
            if number - before <= count {
                return Ok(puzzle_of(self.reader.format(), chunk.block(), before, number));
            }
            before += count;
        }
        Ok(None)
    }

    /// A random puzzle, all with the same probability; `None` if there is none.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn random(&mut self) -> Result<Option<Picked>, InputError> {
        match self.count()? {
            0 => Ok(None),
            count => self.puzzle(rand::random_range(1..=count)),
        }
    }

    /// Continues the index until it covers `number` puzzles or the file ends.
    fn extend(&mut self, number: u64) -> Result<(), InputError> {
        while !self.is_complete && self.puzzles < number {
            let (offset, line) = (self.reader.offset(), self.reader.line);
            match self.reader.next_chunk()? {
                None => self.is_complete = true,
                Some(chunk) => {
                    self.marks.push(IndexMark { offset, line, puzzles_before: self.puzzles });
                    self.puzzles += count_puzzles(self.reader.format(), chunk.block());
                }
            }
        }
        Ok(())
    }
}
