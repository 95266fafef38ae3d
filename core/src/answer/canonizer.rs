//! Canonical forms of many puzzles.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::idle::Idle;
use super::result_rows::ResultRows;
use super::row_batch::{RowBatch, WaitingRow, unique_problem};
use super::row_job::{MAX_JOB_BYTES, MIN_BATCH_BYTES, RowJob, Rows};
use super::row_tally::{Counters, HasCounters};
use super::{AnsweredRow, Block, Cancelled, CheckForm, PuzzleReader, PuzzleRow};
use crate::canon::{Basis, CanonicalForm, Canonizer};
use crate::grid::{Grid, Order};
use crate::solver::{Batch, DEFAULT_NODE_LIMIT, Limit, Solver, default_strategy};
use crate::text::{ERROR_PREFIX, Format, Problem, PuzzleError};

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

/// One puzzle in its canonical form, or why it has none.
pub type CanonRow<'a> = AnsweredRow<'a, Result<CanonicalForm, PuzzleError>>;

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
/// use sudoku_core::answer::{Block, CanonTask, Canonizers, RowTally as _};
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
pub struct IdleCanonizers(Arc<Idle<(RowBatch, PuzzleCanonizer)>>);

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

    /// Finds the form of every puzzle of a block, and passes each to `visit`, in order.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn canonize(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        mut visit: impl FnMut(&CanonRow<'_>),
    ) -> Result<CanonTally, Cancelled> {
        self.with(|rows, canonizer, tally| {
            rows.read_block(&self.format, block, |rows| {
                canonizer.settle(rows, &self.task, block.text, cancel, tally, &mut visit)
            })
        })
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
        mut visit: impl FnMut(&CanonRow<'_>),
    ) -> Result<CanonTally, Cancelled> {
        assert_eq!(reader.order(), Order::NINE);
        self.with(|rows, canonizer, tally| {
            rows.read_puzzles(reader, first_line, |rows| {
                canonizer.settle(rows, &self.task, &[], cancel, tally, &mut visit)
            })
        })
    }

    /// Does a job with what one thread needs, and a new tally.
    fn with(
        &self,
        job: impl FnOnce(&mut RowBatch, &mut PuzzleCanonizer, &mut CanonTally) -> Result<(), Cancelled>,
    ) -> Result<CanonTally, Cancelled> {
        let make = || (RowBatch::new(Order::NINE), PuzzleCanonizer::new());
        let mut tally = CanonTally::default();
        self.idle.0.with(make, |(rows, canonizer)| job(rows, canonizer, &mut tally))?;
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

/// Canonical forms as rows.
///
/// As text, a puzzle has one line: its form, a space and the disguise; or an error line.
pub struct CanonJob {
    canonizers: Canonizers,
    rows: Option<ResultRows>,
    with_disguise: bool,
}

/// The columns that are added to a row.
const ADDED: [&str; 4] = ["canonical", "basis", "automorphisms", "error"];

/// The column of the disguise, where it is asked for.
const DISGUISE: &str = "disguise";

impl CanonJob {
    /// Forms of puzzles written like this, with the disguise that leads from the puzzle to its form
    /// or without.
    ///
    /// # Panics
    /// If the puzzles of the format are not 9x9.
    #[must_use]
    pub fn new(format: Format, task: CanonTask, form: CheckForm, with_disguise: bool) -> Self {
        let rows = ResultRows::new(form, &format, ADDED.into_iter().chain(with_disguise.then_some(DISGUISE)));
        Self { canonizers: Canonizers::new(format, task), rows, with_disguise }
    }

    /// Appends the form of a puzzle: one line.
    fn write_row(&self, canon: &CanonRow<'_>, out: &mut Vec<u8>) {
        let form = canon.result.as_ref();
        let Some(rows) = &self.rows else {
            match form {
                Ok(form) => {
                    self.format().write_cells(&form.puzzle, out);
                    if self.with_disguise {
                        out.extend_from_slice(format!(" {}", form.disguise).as_bytes());
                    }
                    out.push(b'\n');
                }
                Err(error) => out.extend_from_slice(format!("{ERROR_PREFIX}{error}\n").as_bytes()),
            }
            return;
        };
        let mut row = rows.begin(canon.line, canon.row, canon.puzzle, self.format(), out);
        let found = form.ok();
        row.cells(found.map(|form| &form.puzzle), self.format());
        row.text(found.map(|form| form.basis.name().as_bytes()));
        row.number(found.map(|form| form.automorphisms));
        row.text(form.err().map(|error| error.code().as_bytes()));
        if self.with_disguise {
            row.text(found.map(|form| form.disguise.to_string()).as_deref().map(str::as_bytes));
        }
        row.end();
    }
}

impl RowJob for CanonJob {
    type Tally = CanonTally;

    fn format(&self) -> &Format {
        self.canonizers.format()
    }

    fn job_bytes(&self) -> RangeInclusive<usize> {
        MIN_BATCH_BYTES..=MAX_JOB_BYTES
    }

    fn heading(&self) -> Vec<u8> {
        ResultRows::heading(self.rows.as_ref(), self.format())
    }

    fn answer(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        rows: &mut Rows<'_, CanonTally>,
    ) -> Result<(), Cancelled> {
        rows.tally = self.canonizers.canonize(block, cancel, |row| self.write_row(row, &mut rows.text))?;
        Ok(())
    }

    fn write_panic(&self, row: &PuzzleRow<'_>, rows: &mut Rows<'_, CanonTally>) -> bool {
        let canon = row.answered(Err(row.panicked()));
        rows.tally.count(&canon);
        self.write_row(&canon, &mut rows.text);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_tally::check_names;
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
