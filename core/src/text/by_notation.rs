//! What each notation does: which functions read and write its puzzles.

use std::ops::Range;

use super::{
    Format, MAX_LINE_BYTES, Notation, Problem, PuzzleError, Record, Records, apart, columns, json, lines,
    rewrite,
};
use crate::grid::Grid;

impl Format {
    /// The length in bytes of the whole lines at the start of `text`, which can be read by themselves:
    /// all of it if `at_end`, that is, if no text follows.
    #[must_use]
    pub fn cut(&self, text: &[u8], at_end: bool) -> usize {
        if at_end { text.len() } else { lines::cut(text) }
    }

    /// Appends what stands above all puzzles of a text in this notation, if anything does.
    pub fn write_heading(&self, out: &mut Vec<u8>) {
        match self.notation {
            Notation::Header => self.write_block_size(out),
            Notation::Csv => out.extend_from_slice(b"puzzle,solution\n"),
            _ => {}
        }
    }

    /// Appends a puzzle as it is written in this notation, with its solution where the notation has
    /// a place for one.
    ///
    /// ```
    /// use sudoku_core::grid::Grid;
    /// use sudoku_core::text::{Alphabet, Format, Notation};
    ///
    /// let puzzle: Grid = "12....1.........".parse()?;
    /// let format = Format::new(Notation::Csv, puzzle.order(), Alphabet::Letters)?;
    /// let mut text = Vec::new();
    /// format.write_heading(&mut text);
    /// format.write_puzzle(&puzzle, None, &mut text);
    /// assert_eq!(text, b"puzzle,solution\n12....1.........,\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_puzzle(&self, puzzle: &Grid, solution: Option<&Grid>, out: &mut Vec<u8>) {
        match self.notation {
            Notation::Lines | Notation::Header => self.write_line(puzzle.digits(), out),
            Notation::Grid => {
                self.write_grid(puzzle, out);
                out.push(b'\n');
            }
            Notation::Triples => self.write_triples(puzzle, out),
            Notation::Csv => self.write_row(puzzle, solution, out),
            Notation::Cells => {
                self.write_numbers(puzzle, out);
                out.push(b'\n');
            }
            Notation::Jsonl => self.write_object(puzzle, solution, out),
        }
    }

    /// Reads the [solution](Record::given) beside a puzzle into a grid of this format's order.
    ///
    /// # Errors
    /// A wrong length, or the first bad character.
    pub fn read_solution(&self, given: &[u8], solution: &mut Grid) -> Result<(), Problem> {
        match self.notation {
            Notation::Jsonl => json::read_solution(self, given, solution),
            _ => self.read_cells(given, solution),
        }
    }

    /// The parts of a line to replace, each with other bytes, so that the line has `puzzle` in the
    /// place of `old`, and another solution in the place of the one beside it.
    pub(super) fn replaced(
        &self,
        text: &[u8],
        old: &Grid,
        puzzle: &Grid,
        solution: Option<&Grid>,
    ) -> Vec<(Range<usize>, Vec<u8>)> {
        match self.notation {
            Notation::Lines | Notation::Header | Notation::Grid | Notation::Triples => {
                rewrite::line(self, text, old, puzzle)
            }
            Notation::Csv => rewrite::fields_of_row(self, text, old, puzzle, solution),
            Notation::Cells => apart::replaced(self, text, old, puzzle, solution),
            Notation::Jsonl => rewrite::members_of_object(self, text, puzzle, solution),
        }
    }
}

impl<'a> Records<'a> {
    /// [`Self::read`] into a grid of the right order.
    #[inline]
    pub(super) fn read_next(&mut self, puzzle: &mut Grid) -> Option<Record<'a>> {
        let mut record = match self.format.notation {
            // Grids and triples are converted to lines.
            Notation::Lines | Notation::Header | Notation::Grid | Notation::Triples => {
                lines::read(self, puzzle)
            }
            Notation::Csv => columns::read(self, puzzle),
            Notation::Cells => apart::read(self, puzzle),
            Notation::Jsonl => json::read(self, puzzle),
        };
        // Changed in place, because moving each record costs tables 2 %.
        if let Some(record) = &mut record {
            // The end of the row is lost, so it cannot be written as it is, and it has the same answer
            // in all forms.
            if record.row.len() >= MAX_LINE_BYTES && record.error.is_none() {
                record.error = Some(PuzzleError { problem: Problem::WrongLength, line: Some(record.line) });
            }
        }
        record
    }
}
