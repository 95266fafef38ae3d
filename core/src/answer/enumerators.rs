//! All solutions of many puzzles.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::AtomicBool;

use super::idle::Idle;
use super::result_rows::ResultRows;
use super::row_batch::{RowBatch, WaitingRow};
use super::row_job::{MAX_JOB_BYTES, RowJob, Rows};
use super::row_tally::{Counters, HasCounters};
use super::{AnsweredRow, Block, Cancelled, CheckForm, PuzzleRow};
use crate::grid::{Grid, Order};
use crate::solver::{Batch, DEFAULT_NODE_LIMIT, Enumerator, Limit, Search, Solver, Stop, default_strategy};
use crate::text::{ERROR_PREFIX, Format, Problem, PuzzleError};

/// How the solutions of puzzles are listed.
#[derive(Clone, Copy, Debug)]
pub struct EnumerateTask {
    /// The most solutions of a puzzle; 0 counts as 1, and [`u64::MAX`] is all of them; default: 10.
    pub limit: u64,
    /// The most nodes that a puzzle may take; default: [`DEFAULT_NODE_LIMIT`].
    pub node_limit: u64,
}

impl EnumerateTask {
    /// The default limit.
    pub const DEFAULT_LIMIT: u64 = 10;
}

impl Default for EnumerateTask {
    fn default() -> Self {
        Self { limit: Self::DEFAULT_LIMIT, node_limit: DEFAULT_NODE_LIMIT }
    }
}

/// One of the events of a puzzle: its solutions, then perhaps an error, then its end.
pub type SolutionRow<'a> = AnsweredRow<'a, SolutionEvent<'a>>;

/// What is found of a puzzle.
#[derive(Clone, Debug)]
pub enum SolutionEvent<'a> {
    /// A solution.
    Solution {
        /// Its number, from 1.
        number: u64,
        /// The solution.
        solution: &'a Grid,
    },
    /// Why there is none, or why there are no more: the puzzle is bad, has no solution, or was given
    /// up, in which case solutions may stand before this.
    Error(PuzzleError),
    /// Nothing more is told of this puzzle.
    End {
        /// Whether the list has as many solutions as were asked for, and more were not ruled out.
        is_cut_off: bool,
    },
}

/// The numbers of solutions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnumerateTally {
    /// All puzzles.
    pub puzzles: u64,
    /// Their solutions that were listed.
    pub solutions: u64,
    /// The puzzles whose list was [cut off](SolutionEvent::End::is_cut_off).
    pub cut_off: u64,
    /// The puzzles with an error, by its [code](PuzzleError::code).
    pub errors: BTreeMap<&'static str, u64>,
}

impl EnumerateTally {
    /// Counts an event.
    pub fn count(&mut self, row: &SolutionRow<'_>) {
        match &row.result {
            SolutionEvent::Solution { .. } => self.solutions += 1,
            SolutionEvent::Error(error) => *self.errors.entry(error.code()).or_default() += 1,
            SolutionEvent::End { is_cut_off } => {
                self.puzzles += 1;
                self.cut_off += u64::from(*is_cut_off);
            }
        }
    }
}

impl HasCounters for EnumerateTally {
    fn counters(&mut self) -> Counters<'_> {
        let Self { puzzles, solutions, cut_off, errors } = self;
        let single = vec![("puzzles", puzzles), ("solutions", solutions), ("cut_off", cut_off)];
        Counters { single, by_code: errors }
    }
}

/// Searches that list the solutions of puzzles, for a format and a task. Any thread may borrow one.
///
/// The solutions of a puzzle come in the order of [`Enumerator`], whatever the limit is. Puzzles
/// with a single solution, or none, are found out together, as fast as they are solved.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::answer::{Block, EnumerateTask, EnumerateTally, Enumerators, SolutionEvent};
/// use sudoku_core::grid::Order;
/// use sudoku_core::text::{Alphabet, Format, Notation};
///
/// let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters)?;
/// let enumerators = Enumerators::new(format, EnumerateTask { limit: 100, ..Default::default() });
/// let block = Block { text: b"1234............\n123...4.........\n", first_line: 1 };
/// let mut tally = EnumerateTally::default();
/// enumerators.enumerate(block, &AtomicBool::new(false), |row| {
///     if let SolutionEvent::Solution { solution, .. } = row.result {
///         assert!(solution.to_string().starts_with("1234"));
///     }
///     tally.count(row);
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!((tally.puzzles, tally.solutions, tally.errors["no_solution"]), (2, 12, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Enumerators {
    format: Format,
    task: EnumerateTask,
    idle: Idle<(RowBatch, Lister)>,
}

impl Enumerators {
    /// Searches for puzzles of this format.
    #[must_use]
    pub fn new(format: Format, task: EnumerateTask) -> Self {
        let task = EnumerateTask { limit: task.limit.max(1), ..task };
        Self { format, task, idle: Idle::new() }
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// The task.
    #[must_use]
    pub const fn task(&self) -> &EnumerateTask {
        &self.task
    }

    /// Passes the events of every puzzle of a block to `visit`, in order, which may end it.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised, or `visit` returned `Break`.
    pub fn enumerate(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        mut visit: impl FnMut(&SolutionRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), Cancelled> {
        let order = self.format.order();
        let make = || (RowBatch::for_strategy(order, default_strategy(order)), Lister::new(order));
        self.idle.with(make, |(rows, lister)| {
            rows.read_block(&self.format, block, |rows| {
                lister.settle(rows, &self.task, block.text, cancel, &mut visit)
            })
        })
    }
}

/// What lists the solutions of puzzles that were read.
struct Lister {
    solver: Box<dyn Solver>,
    /// Made for the first puzzle with several solutions.
    enumerator: Option<Enumerator>,
    puzzle: Grid,
    solution: Grid,
}

impl Lister {
    fn new(order: Order) -> Self {
        Self {
            solver: default_strategy(order).solver(order),
            enumerator: None,
            puzzle: Grid::empty(order),
            solution: Grid::empty(order),
        }
    }

    /// Searches the puzzles for second solutions, and tells of all rows.
    fn settle(
        &mut self,
        rows: &mut RowBatch,
        task: &EnumerateTask,
        text: &[u8],
        cancel: &AtomicBool,
        visit: &mut impl FnMut(&SolutionRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), Cancelled> {
        let limit = Limit { solutions: 2, nodes: task.node_limit, cancel };
        if limit.is_cancelled() {
            return Err(Cancelled);
        }
        self.solver.search_batch(&mut rows.batch, &limit);
        for WaitingRow { line, row, text: own, state, broken } in rows.take_rows() {
            let (row, text) = (&text[row], &text[own]);
            let mut tell = |puzzle: Option<&Grid>, result: SolutionEvent<'_>| {
                visit(&SolutionRow { line, row, text, puzzle, result })
            };
            let error = |problem| SolutionEvent::Error(PuzzleError { problem, line: Some(line) });
            let (told, is_cut_off) = match state {
                Err(problem) => (tell(broken.as_ref(), error(problem)), false),
                Ok(place) => self.tell_of(task, &rows.batch, place, cancel, |puzzle, found| {
                    let event = match found {
                        Ok((number, solution)) => SolutionEvent::Solution { number, solution },
                        Err(problem) => error(problem),
                    };
                    tell(Some(puzzle), event)
                })?,
            };
            if told.is_break() || tell(None, SolutionEvent::End { is_cut_off }).is_break() {
                return Err(Cancelled);
            }
        }
        rows.clear();
        Ok(())
    }

    /// Tells of the puzzle at this place of the batch, which was searched for a second solution.
    /// Returns whether its list was cut off.
    fn tell_of(
        &mut self,
        task: &EnumerateTask,
        batch: &Batch,
        place: usize,
        cancel: &AtomicBool,
        mut tell: impl FnMut(&Grid, Result<(u64, &Grid), Problem>) -> ControlFlow<()>,
    ) -> Result<(ControlFlow<()>, bool), Cancelled> {
        self.puzzle.set_digits(batch.puzzle(place));
        let puzzle = &self.puzzle;
        match batch.searches()[place] {
            Search { stop: Stop::Cancelled, .. } => return Err(Cancelled),
            Search { stop: Stop::Exhausted, solutions: 0, .. } => {
                return Ok((tell(puzzle, Err(Problem::NoSolution)), false));
            }
            Search { stop: Stop::Exhausted, solutions: 1, .. } => {
                self.solution.set_digits(batch.solution(place));
                let is_right = self.solution.solves(puzzle);
                let found = if is_right { Ok((1, &self.solution)) } else { Err(Problem::Internal) };
                return Ok((tell(puzzle, found), false));
            }
            // Which of several solutions that search finds first is another matter than their order,
            // and what it gives up need not be given up by the next one.
            _ => {}
        }
        // One more, to know whether the list is complete.
        let limit = Limit { solutions: task.limit.saturating_add(1), nodes: task.node_limit, cancel };
        let enumerator = self.enumerator.get_or_insert_with(|| Enumerator::new(puzzle.order()));
        let solution = &mut self.solution;
        let (mut number, mut is_wrong, mut told) = (0, false, ControlFlow::Continue(()));
        let search = enumerator.enumerate(puzzle, &limit, &mut |digits| {
            if number == task.limit {
                return ControlFlow::Continue(());
            }
            number += 1;
            solution.set_digits(digits);
            if solution.solves(puzzle) {
                told = tell(puzzle, Ok((number, solution)));
                told
            } else {
                is_wrong = true;
                ControlFlow::Break(())
            }
        });
        let problem = match search.stop {
            _ if told.is_break() => return Ok((told, false)),
            _ if is_wrong => Problem::Internal,
            Stop::Cancelled => return Err(Cancelled),
            Stop::Exhausted if number == 0 => Problem::NoSolution,
            Stop::Nodes if number < task.limit => Problem::GaveUp { nodes: search.metrics.nodes },
            stop => return Ok((told, stop != Stop::Exhausted)),
        };
        Ok((tell(puzzle, Err(problem)), false))
    }
}

/// Solutions as rows: one for each solution, and one for an error.
pub struct SolutionsJob {
    enumerators: Enumerators,
    rows: Option<ResultRows>,
}

/// The columns that are added to a row.
const ADDED: [&str; 3] = ["number", "solution", "error"];

/// About the bytes of solutions that a job may have: more, and it waits for its turn.
const WRITTEN_BYTES: usize = 2 << 20;

/// The fewest bytes that are read as one job: with fewer puzzles the kernel would be mostly idle.
const MIN_READ_BYTES: usize = 4 * 1024;

impl SolutionsJob {
    /// Solutions in this form.
    #[must_use]
    pub fn new(format: Format, task: EnumerateTask, form: CheckForm) -> Self {
        let rows = ResultRows::new(form, &format, ADDED.into_iter());
        Self { enumerators: Enumerators::new(format, task), rows }
    }

    /// Appends what is told of a puzzle: one line for each solution and for an error, none for its
    /// end.
    fn write_row(&self, told: &SolutionRow<'_>, out: &mut Vec<u8>) {
        if matches!(told.result, SolutionEvent::End { .. }) {
            return;
        }
        let Some(rows) = &self.rows else {
            match &told.result {
                SolutionEvent::Solution { solution, .. } => self.format().write_line(solution.digits(), out),
                SolutionEvent::Error(error) => {
                    out.extend_from_slice(format!("{ERROR_PREFIX}{error}\n").as_bytes());
                }
                SolutionEvent::End { .. } => {}
            }
            return;
        };
        let mut row = rows.begin(told.line, told.row, told.puzzle, self.format(), out);
        match &told.result {
            SolutionEvent::Solution { number, solution } => {
                row.number(*number);
                row.cells(*solution, self.format());
                row.nothing();
            }
            SolutionEvent::Error(error) => {
                row.nothing();
                row.nothing();
                row.text(error.code().as_bytes());
            }
            SolutionEvent::End { .. } => {}
        }
        row.end();
    }
}

impl RowJob for SolutionsJob {
    type Tally = EnumerateTally;

    fn format(&self) -> &Format {
        self.enumerators.format()
    }

    /// A solution is about as long as its puzzle.
    fn job_bytes(&self) -> RangeInclusive<usize> {
        let times = usize::try_from(self.enumerators.task().limit).unwrap_or(usize::MAX);
        let bytes = (WRITTEN_BYTES / times).clamp(MIN_READ_BYTES, MAX_JOB_BYTES);
        bytes..=bytes
    }

    fn heading(&self) -> Vec<u8> {
        ResultRows::heading(self.rows.as_ref(), self.format())
    }

    fn answer(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        rows: &mut Rows<'_, EnumerateTally>,
    ) -> Result<(), Cancelled> {
        self.enumerators.enumerate(block, cancel, |row| {
            self.write_row(row, &mut rows.text);
            rows.tally.count(row);
            // The clock is not looked at for each of many puzzles with one solution.
            rows.end_row(matches!(row.result, SolutionEvent::Solution { number: 2.., .. }))
        })
    }

    fn write_panic(&self, row: &PuzzleRow<'_>, rows: &mut Rows<'_, EnumerateTally>) -> bool {
        let error = SolutionEvent::Error(row.panicked());
        for event in [error, SolutionEvent::End { is_cut_off: false }] {
            let told = row.answered(event);
            self.write_row(&told, &mut rows.text);
            rows.tally.count(&told);
        }
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
        let tally = EnumerateTally { puzzles: 1, solutions: 2, cut_off: 3, errors };
        check_names(
            &tally,
            5,
            &["puzzles", "solutions", "cut_off"],
            &["hardest", "error of-another-program"],
        );
    }
}
