//! Puzzles of a block together with the text that each stands in.

use std::convert::Infallible;

use super::Block;
use crate::grid::Grid;
use crate::text::{Format, Problem, PuzzleError, Records};

/// A puzzle, and the text that it stands in.
#[derive(Clone, Debug)]
pub struct PuzzleRow<'a> {
    /// The physical line on which it begins, from 1.
    pub line: u64,
    /// The row of a table as it is written, without the newline at its end; empty in other
    /// notations.
    pub row: &'a [u8],
    /// Its line as it is written, without the newline at its end, of whatever length; of a puzzle on
    /// several lines the one that it was converted to.
    pub text: &'a [u8],
    /// The text of the solution beside it, for [`Format::read_solution`].
    pub given: Option<&'a [u8]>,
    /// The puzzle, which keeps the rules, or why it is bad.
    pub puzzle: Result<&'a Grid, Problem>,
    /// The puzzle if it breaks the rules.
    pub broken: Option<&'a Grid>,
}

/// What was found about a puzzle, and the text that it stands in.
#[derive(Clone, Debug)]
pub struct AnsweredRow<'a, T> {
    /// The physical line on which it begins, from 1.
    pub line: u64,
    /// The row of a table, like [`PuzzleRow::row`].
    pub row: &'a [u8],
    /// Its line, like [`PuzzleRow::text`].
    pub text: &'a [u8],
    /// The puzzle, unless it could not be read.
    pub puzzle: Option<&'a Grid>,
    /// What was found.
    pub result: T,
}

impl<'a> PuzzleRow<'a> {
    /// The row with a result that is about no puzzle.
    pub(super) const fn answered<T>(&self, result: T) -> AnsweredRow<'a, T> {
        AnsweredRow { line: self.line, row: self.row, text: self.text, puzzle: None, result }
    }

    /// The error of a puzzle whose answer panicked.
    pub(super) const fn panicked(&self) -> PuzzleError {
        PuzzleError { problem: Problem::Internal, line: Some(self.line) }
    }
}

/// Reads every puzzle of a block and passes it to `visit`, in order. A line that is longer than
/// what is read of one has the wrong length.
///
/// ```
/// use sudoku_core::answer::{Block, read_rows};
/// use sudoku_core::grid::Order;
/// use sudoku_core::text::{Alphabet, Format, Notation};
///
/// let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters)?;
/// let mut seen = Vec::new();
/// read_rows(&format, Block { text: b"# two\n.1....2.3..4.... easy\n11..\n", first_line: 1 }, |row| {
///     seen.push((row.line, row.text.to_vec(), row.puzzle.is_ok()));
/// });
/// assert_eq!(seen, [(2, b".1....2.3..4.... easy".to_vec(), true), (3, b"11..".to_vec(), false)]);
/// # Ok::<(), sudoku_core::text::FormatError>(())
/// ```
pub fn read_rows(format: &Format, block: Block<'_>, mut visit: impl FnMut(&PuzzleRow<'_>)) {
    let Ok(()) = try_read_rows(format, block, |row| {
        visit(row);
        Ok::<_, Infallible>(())
    });
}

/// [`read_rows`] up to the first error of `visit`.
///
/// # Errors
/// That one.
pub(super) fn try_read_rows<E>(
    format: &Format,
    block: Block<'_>,
    mut visit: impl FnMut(&PuzzleRow<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut puzzle = Grid::empty(format.order());
    let mut records = Records::new(format, block.text, block.first_line);
    loop {
        let begin = block.text.len() - records.rest().len();
        let Some(record) = records.read(&mut puzzle) else { return Ok(()) };
        let end = block.text.len() - records.rest().len();
        let text = own_text(&block.text[begin..end]);
        let problem = match record.error {
            Some(error) => Some(error.problem),
            None => puzzle.first_conflict().map(Problem::RuleBroken),
        };
        let broken = matches!(problem, Some(Problem::RuleBroken(_))).then_some(&puzzle);
        let puzzle = problem.map_or(Ok(&puzzle), Err);
        let (line, row) = (record.line, record.row);
        visit(&PuzzleRow { line, row, text, given: record.given, puzzle, broken })?;
    }
}

/// The line of a puzzle, of which `taken` was read: blank lines and comments before it too.
fn own_text(taken: &[u8]) -> &[u8] {
    let lines = taken.strip_suffix(b"\n").unwrap_or(taken);
    memchr::memrchr(b'\n', lines).map_or(lines, |end| &lines[end + 1..])
}
