//! Canonical forms of many puzzles.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::idle::Idle;
use super::named_tally::{Counters, HasCounters};
use super::row_batch::{RowBatch, WaitingRow, unique_problem};
use super::{Block, Cancelled, PuzzleReader, add_counts, read_rows};
use crate::canon::{Basis, CanonicalForm, Canonizer};
use crate::grid::{Grid, Order};
use crate::solver::{Batch, DEFAULT_NODE_LIMIT, Limit, Solver, default_strategy};
use crate::text::{Format, Problem, PuzzleError};

/// How puzzles are brought into their canonical form.
#[derive(Clone, Copy, Debug)]
pub struct CanonTask {
    /// What is put in its least form; default: the solution if there is exactly one, else the clues.
    pub basis: Option<Basis>,
    /// The most nodes of the search for a second solution; default: [`DEFAULT_NODE_LIMIT`].
    pub node_limit: u64,
}

impl Default for CanonTask {
    fn default() -> Self {
        Self { basis: None, node_limit: DEFAULT_NODE_LIMIT }
    }
}

/// One puzzle in its canonical form.
#[derive(Clone, Debug)]
pub struct CanonRow<'a> {
    /// The physical line on which it begins, from 1.
    pub line: u64,
    /// The row of a table as it is written, without the newline at its end; empty in other
    /// notations.
    pub row: &'a [u8],
    /// Its line as it is written, like [`PuzzleRow::text`](super::PuzzleRow::text).
    pub text: &'a [u8],
    /// The puzzle, unless it could not be read.
    pub puzzle: Option<&'a Grid>,
    /// The form, or why there is none.
    pub result: Result<CanonicalForm, PuzzleError>,
}

/// The numbers of canonical forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CanonTally {
    /// All puzzles.
    pub puzzles: u64,
    /// The puzzles without a form, by the [code](PuzzleError::code) of the error.
    pub errors: BTreeMap<&'static str, u64>,
    /// The puzzles whose form is by their clues.
    pub by_puzzle: u64,
    /// The puzzles with more than one automorphism.
    pub automorphic: u64,
}

impl CanonTally {
    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.puzzles += other.puzzles;
        add_counts(&mut self.errors, &other.errors);
        self.by_puzzle += other.by_puzzle;
        self.automorphic += other.automorphic;
    }

    /// The number of puzzles without a form.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    fn count(&mut self, row: &CanonRow<'_>) {
        self.puzzles += 1;
        match &row.result {
            Ok(form) => {
                self.by_puzzle += u64::from(form.basis == Basis::Puzzle);
                self.automorphic += u64::from(form.automorphisms > 1);
            }
            Err(error) => *self.errors.entry(error.code()).or_default() += 1,
        }
    }
}

impl HasCounters for CanonTally {
    fn counters(&mut self) -> Counters<'_> {
        let Self { puzzles, by_puzzle, automorphic, errors } = self;
        let single = vec![("puzzles", puzzles), ("by_puzzle", by_puzzle), ("automorphic", automorphic)];
        Counters { single, by_code: errors }
    }
}

/// Makers of canonical forms for a format and a task. Any thread may borrow one.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::answer::{Block, CanonTask, Canonizers};
/// use sudoku_core::grid::Order;
/// use sudoku_core::text::{Alphabet, Format, Notation};
///
/// // The second puzzle is the first one transposed.
/// let text = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79\n\
///             56.847...3.9...6....8.......1..8..4.79.6.2.18.5..3..9.......2....6...8.7...316.59\n";
/// let format = Format::new(Notation::Lines, Order::NINE, Alphabet::Letters)?;
/// let canonizers = Canonizers::new(format, CanonTask::default());
/// let mut forms = Vec::new();
/// let block = Block { text: text.as_bytes(), first_line: 1 };
/// let tally = canonizers.canonize(block, &AtomicBool::new(false), |row| {
///     forms.extend(row.result.as_ref().ok().map(|form| form.puzzle.clone()));
/// })?;
/// assert_eq!((tally.puzzles, tally.error_count()), (2, 0));
/// assert_eq!(forms[0], forms[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Canonizers {
    format: Format,
    task: CanonTask,
    idle: IdleCanonizers,
}

/// What threads borrow to make forms, whatever the format and the task, so that tasks can share it.
#[doc(hidden)]
#[derive(Clone, Default)]
pub struct IdleCanonizers(Arc<Idle<BlockCanonizer>>);

impl Canonizers {
    /// Makers for puzzles of this format.
    ///
    /// # Panics
    /// If its puzzles are not 9x9.
    #[must_use]
    pub fn new(format: Format, task: CanonTask) -> Self {
        Self::sharing(&IdleCanonizers::default(), format, task)
    }

    /// Makers that share what they need with others, for a process with many tasks.
    ///
    /// # Panics
    /// If the puzzles of the format are not 9x9.
    #[doc(hidden)]
    #[must_use]
    pub fn sharing(idle: &IdleCanonizers, format: Format, task: CanonTask) -> Self {
        assert_eq!(format.order(), Order::NINE, "canonical forms are those of 9x9 puzzles");
        Self { format, task, idle: idle.clone() }
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// The tally of a block whose work panicked: every puzzle has that error, and is passed to
    /// `visit`.
    #[doc(hidden)]
    pub fn internal_errors(&self, block: Block<'_>, mut visit: impl FnMut(&CanonRow<'_>)) -> CanonTally {
        let mut tally = CanonTally::default();
        read_rows(&self.format, block, |row| {
            let error = PuzzleError { problem: Problem::Internal, line: Some(row.line) };
            let row =
                CanonRow { line: row.line, row: row.row, text: row.text, puzzle: None, result: Err(error) };
            tally.count(&row);
            visit(&row);
        });
        tally
    }

    /// Finds the form of every puzzle of a block, and passes each to `visit`, in order.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn canonize(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        visit: impl FnMut(&CanonRow<'_>),
    ) -> Result<CanonTally, Cancelled> {
        self.with(|canonizer| canonizer.canonize(&self.format, &self.task, block, cancel, visit))
    }

    /// Finds the form of every puzzle of a reader, as if each stood on a line of its own, from
    /// `first_line` on, and passes each to `visit`, in order.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    ///
    /// # Panics
    /// If the puzzles are not 9x9.
    pub fn canonize_puzzles(
        &self,
        reader: &mut impl PuzzleReader,
        first_line: u64,
        cancel: &AtomicBool,
        visit: impl FnMut(&CanonRow<'_>),
    ) -> Result<CanonTally, Cancelled> {
        assert_eq!(reader.order(), Order::NINE);
        self.with(|canonizer| canonizer.canonize_puzzles(&self.task, reader, first_line, cancel, visit))
    }

    fn with<R>(&self, job: impl FnOnce(&mut BlockCanonizer) -> R) -> R {
        self.idle.0.with(BlockCanonizer::new, job)
    }
}

/// The solver and buffers with which one thread makes forms.
struct BlockCanonizer {
    rows: RowBatch,
    canonizer: PuzzleCanonizer,
}

impl BlockCanonizer {
    fn new() -> Self {
        Self { rows: RowBatch::new(Order::NINE), canonizer: PuzzleCanonizer::new() }
    }

    fn canonize(
        &mut self,
        format: &Format,
        task: &CanonTask,
        block: Block<'_>,
        cancel: &AtomicBool,
        mut visit: impl FnMut(&CanonRow<'_>),
    ) -> Result<CanonTally, Cancelled> {
        let mut tally = CanonTally::default();
        self.rows.read_block(format, block, |rows| {
            self.canonizer.settle(rows, task, block.text, cancel, &mut tally, &mut visit)
        })?;
        Ok(tally)
    }

    fn canonize_puzzles(
        &mut self,
        task: &CanonTask,
        reader: &mut impl PuzzleReader,
        first_line: u64,
        cancel: &AtomicBool,
        mut visit: impl FnMut(&CanonRow<'_>),
    ) -> Result<CanonTally, Cancelled> {
        let mut tally = CanonTally::default();
        self.rows.read_puzzles(reader, first_line, |rows| {
            self.canonizer.settle(rows, task, &[], cancel, &mut tally, &mut visit)
        })?;
        Ok(tally)
    }
}

/// What makes the forms of puzzles that were read.
struct PuzzleCanonizer {
    canonizer: Canonizer,
    solver: Box<dyn Solver>,
    puzzle: Grid,
    solution: Grid,
}

impl PuzzleCanonizer {
    fn new() -> Self {
        Self {
            canonizer: Canonizer::new(),
            solver: default_strategy(Order::NINE).solver(Order::NINE),
            puzzle: Grid::empty(Order::NINE),
            solution: Grid::empty(Order::NINE),
        }
    }

    /// Searches the puzzles where that is wanted, and visits all rows.
    fn settle(
        &mut self,
        rows: &mut RowBatch,
        task: &CanonTask,
        text: &[u8],
        cancel: &AtomicBool,
        tally: &mut CanonTally,
        visit: &mut impl FnMut(&CanonRow<'_>),
    ) -> Result<(), Cancelled> {
        let limit = Limit { solutions: 2, nodes: task.node_limit, cancel };
        if limit.is_cancelled() {
            return Err(Cancelled);
        }
        let searches = task.basis != Some(Basis::Puzzle);
        if searches {
            self.solver.search_batch(&mut rows.batch, &limit);
        }
        for WaitingRow { line, row, text: own, state, broken } in rows.take_rows() {
            // Thousands of forms take long.
            if limit.is_cancelled() {
                return Err(Cancelled);
            }
            let (puzzle, result) = match state {
                Err(problem) => (broken.as_ref(), Err(problem)),
                Ok(place) => {
                    self.puzzle.set_digits(rows.batch.puzzle(place));
                    let result = if searches {
                        self.form(task, &rows.batch, place)?
                    } else {
                        Ok(self.canonizer.by_puzzle(&self.puzzle))
                    };
                    (Some(&self.puzzle), result)
                }
            };
            let result = result.map_err(|problem| PuzzleError { problem, line: Some(line) });
            let row = CanonRow { line, row: &text[row], text: &text[own], puzzle, result };
            tally.count(&row);
            visit(&row);
        }
        rows.clear();
        Ok(())
    }

    /// The form of the puzzle at this place of the batch, which was searched.
    fn form(
        &mut self,
        task: &CanonTask,
        batch: &Batch,
        place: usize,
    ) -> Result<Result<CanonicalForm, Problem>, Cancelled> {
        Ok(match unique_problem(&batch.searches()[place])? {
            None => {
                self.solution.set_digits(batch.solution(place));
                if self.solution.solves(&self.puzzle) {
                    Ok(self.canonizer.by_solution(&self.puzzle, &self.solution))
                } else {
                    Err(Problem::Internal)
                }
            }
            // How many solutions there are is not known.
            Some(problem @ Problem::GaveUp { .. }) => Err(problem),
            Some(problem) if task.basis.is_some() => Err(problem),
            Some(_) => Ok(self.canonizer.by_puzzle(&self.puzzle)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::named_tally::check_names;
    use super::*;

    #[test]
    fn a_tally_is_known_by_its_names() {
        let errors = BTreeMap::from([(Problem::CODES[0], 4), (Problem::CODES[1], 5)]);
        let tally = CanonTally { puzzles: 1, errors, by_puzzle: 2, automorphic: 3 };
        check_names(
            &tally,
            5,
            &["puzzles", "by_puzzle", "automorphic"],
            &["hardest", "error of-another-program"],
        );
    }
}
