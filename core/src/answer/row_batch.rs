//! Puzzles that are searched together, with the rows that they stand in.

use std::ops::Range;

use super::puzzle_rows::try_read_rows;
use super::row_job::BATCH_PUZZLES;
use super::{Block, Cancelled, PuzzleReader};
use crate::grid::{Grid, Order};
use crate::solver::{Batch, Question, Search, Strategy};
use crate::text::{Format, Problem, row_within};

/// Rows that wait for the search of their puzzles.
pub(super) struct RowBatch {
    /// The puzzles, in the order of the rows that have one.
    pub(super) batch: Batch,
    rows: Vec<WaitingRow>,
    /// The most rows that wait.
    most: usize,
}

/// A row that waits.
pub(super) struct WaitingRow {
    /// The physical line on which it begins, from 1.
    pub(super) line: u64,
    /// Where in the block the row of a table is; empty in other notations.
    pub(super) row: Range<usize>,
    /// Where in the block its line is.
    pub(super) text: Range<usize>,
    /// The place of its puzzle in the batch, or why it is not there.
    pub(super) state: Result<usize, Problem>,
    /// The puzzle if it breaks the rules.
    pub(super) broken: Option<Grid>,
}

impl RowBatch {
    pub(super) fn new(order: Order) -> Self {
        Self { batch: Batch::new(order), rows: Vec::new(), most: BATCH_PUZZLES }
    }

    /// Rows that wait for a solver of this strategy: where it searches puzzles one by one, none waits
    /// for another.
    pub(super) fn for_strategy(order: Order, strategy: &dyn Strategy) -> Self {
        let most = if strategy.searches_together() { BATCH_PUZZLES } else { 1 };
        Self { most, ..Self::new(order) }
    }

    /// Reads all rows of a block. `settle` takes those that wait, whenever they are many and at the
    /// end.
    ///
    /// # Errors
    /// Those of `settle`.
    pub(super) fn read_block(
        &mut self,
        format: &Format,
        block: Block<'_>,
        mut settle: impl FnMut(&mut Self) -> Result<(), Cancelled>,
    ) -> Result<(), Cancelled> {
        // A block that was cancelled may have left some.
        self.clear();
        try_read_rows(format, block, |row| {
            let within = |text: &[u8]| if text.is_empty() { 0..0 } else { row_within(block.text, text) };
            let place = (row.line, within(row.row), within(row.text));
            self.push(place, row.puzzle.clone(), row.broken);
            if self.rows.len() >= self.most { settle(self) } else { Ok(()) }
        })?;
        settle(self)
    }

    /// The same for all puzzles of a reader, as if each stood on a line of its own, from `first_line`
    /// on.
    ///
    /// # Errors
    /// Those of `settle`.
    pub(super) fn read_puzzles(
        &mut self,
        reader: &mut impl PuzzleReader,
        first_line: u64,
        mut settle: impl FnMut(&mut Self) -> Result<(), Cancelled>,
    ) -> Result<(), Cancelled> {
        self.clear();
        let mut puzzle = Grid::empty(reader.order());
        let mut line = first_line;
        while let Some(read) = reader.read(&mut puzzle) {
            let conflict = if read.is_ok() { puzzle.first_conflict() } else { None };
            let broken = conflict.is_some().then_some(&puzzle);
            let problem = read.err().or_else(|| conflict.map(Problem::RuleBroken));
            self.push((line, 0..0, 0..0), problem.map_or(Ok(&puzzle), Err), broken);
            line += 1;
            if self.rows.len() >= self.most {
                settle(self)?;
            }
        }
        settle(self)
    }

    fn push(
        &mut self,
        (line, row, text): (u64, Range<usize>, Range<usize>),
        puzzle: Result<&Grid, Problem>,
        broken: Option<&Grid>,
    ) {
        let state = puzzle.map(|puzzle| {
            self.batch.push(puzzle);
            self.batch.len() - 1
        });
        self.rows.push(WaitingRow { line, row, text, state, broken: broken.cloned() });
    }

    /// Takes all rows that wait. Their puzzles stay until [`Self::clear`].
    pub(super) fn take_rows(&mut self) -> Vec<WaitingRow> {
        std::mem::take(&mut self.rows)
    }

    /// Forgets rows and puzzles.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.batch.clear();
    }
}

/// Why a puzzle has not exactly one solution, after a search for two; `None` if it has.
///
/// # Errors
/// [`Cancelled`] if the search was.
pub(super) const fn unique_problem(search: &Search) -> Result<Option<Problem>, Cancelled> {
    Question::Unique.verdict(search).problem()
}
