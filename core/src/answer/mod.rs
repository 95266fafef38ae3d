//! Answers: text of puzzles in, an answer for each puzzle out.
//!
//! This is the one place where text meets solver, for files and for streams, so that the same lines
//! give the same bytes. A [`Task`] is the question and the form of the answers; a [`BlockSolver`]
//! holds the memory of one thread and is lent by [`Solvers`]; [`BlockSolver::answer_block`] answers
//! a block of text.
//!
//! A bad puzzle is an answer too, never an `Err`. The order of checks is fixed: length, characters,
//! rules, search.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use sudoku_core::answer::{Block, Task, Solvers};
//! use sudoku_core::grid::Order;
//! use sudoku_core::text::{Alphabet, Format, Notation};
//!
//! let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters)?;
//! let block = Block { text: b"1234341221..4321\n1234\n", first_line: 1 };
//! let solvers = Solvers::new(format, Task::default());
//! let written = solvers.write_answers(block, &AtomicBool::new(false))?;
//! let error = "error: Line 2 has the wrong length. It has 4 cells; a 4x4 puzzle has 16.";
//! assert_eq!(written.text, format!("1234341221434321\n{error}\n").into_bytes());
//! assert_eq!((written.tally.answers, written.tally.error_count()), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block_solver;
mod cancel;
mod candidate_grid;
mod canonizer;
mod check;
mod check_form;
mod checker;
mod columns;
mod compact_tally;
mod costs;
mod disguiser;
mod entries;
mod enumerators;
mod idle;
mod minimal;
mod minimizer;
mod next_step;
mod position_search;
mod puzzle_reader;
mod puzzle_rows;
mod rater;
mod render;
mod result_rows;
mod row_batch;
mod row_job;
mod row_tally;
mod single;
mod solvers;
mod validate;
mod write;

use std::collections::BTreeMap;

use crate::canon::CanonicalForm;
use crate::grid::{Grid, Order};
use crate::solver::{DEFAULT_NODE_LIMIT, Metrics, Question, Strategy, Verdict, default_strategy};
use crate::techniques::Rating;
use crate::text::{Format, Problem, PuzzleError};

pub use block_solver::{BlockSolver, BulkVisitor, Visitor};
pub use cancel::{Cancel, PerPuzzleCancel};
pub use candidate_grid::{
    CandidateGrid, MAX_POSITION_BYTES, Positions, StepMarks, has_length_of_pencil_marks, read_positions,
};
pub use canonizer::{CanonJob, CanonRow, CanonTally, CanonTask, Canonizers, IdleCanonizers};
pub use check::{Check, Flaw, check_block, check_grid};
pub use check_form::CheckForm;
pub use checker::{CheckJob, CheckTally, CheckTask, CheckedRow, Checkers, Finding, Mistake, ReportedRows};
pub use columns::{
    AddedColumn, AddedColumns, NoAddedColumn, RowBuilder, RowForm, RowWriter, free_member_name,
};
pub use compact_tally::{CompactMetrics, CompactTally};
pub use costs::{Cost, Costs};
pub use disguiser::{DisguiseJob, DisguiseTally, DisguiseTask};
pub use entries::Entries;
pub use enumerators::{EnumerateTally, EnumerateTask, Enumerators, SolutionEvent, SolutionRow, SolutionsJob};
pub use minimizer::{MinimizeJob, MinimizeTally, MinimizeTask};
pub use next_step::{HINT_EFFORT, NextStep, Outlook, Stuck, next_step, outlook};
pub use puzzle_reader::{DigitReader, PuzzleReader, TextReader};
pub use puzzle_rows::{AnsweredRow, PuzzleRow, read_rows};
pub use rater::{RateJob, RateTally, RateTask, RatedPuzzle, RatedRow, Raters, verdict};
pub use render::{NoOutputForm, OutputForm, paint_grid};
pub use row_job::{MAX_JOB_BYTES, MIN_BATCH_BYTES, MIN_JOB_BYTES, RowJob, RowTaker, Rows};
pub use row_tally::RowTally;
pub use single::single_error;
pub use solvers::{IdleSolvers, Solvers};
pub use validate::{Validation, validate_block};
pub use write::{Written, WrittenPart, WrittenParts, write_solutions};

pub use crate::solver::Cancelled;

/// What to find out about every puzzle, and how to write the answers.
#[derive(Clone, Copy)]
pub struct Task {
    /// The strategy; default: the first that supports the order.
    pub strategy: Option<&'static dyn Strategy>,
    /// What to find out; default: any solution.
    pub question: Question,
    /// The most nodes that a puzzle may take; default: [`DEFAULT_NODE_LIMIT`].
    pub node_limit: u64,
    /// The form of an answer; default: the solution.
    pub form: OutputForm,
    /// The columns that are added in the forms that are tables; default: those of
    /// [`Self::added_columns`].
    pub columns: Option<AddedColumns>,
    /// Where the column `solutions` stops counting, unless the question is a count with a limit of
    /// its own; default: 2.
    pub count_limit: u64,
    /// Whether to measure the full cost of each search, comparisons and placements included, which
    /// takes time; default: false.
    pub measure: bool,
}

impl Default for Task {
    fn default() -> Self {
        Self {
            strategy: None,
            question: Question::First,
            node_limit: DEFAULT_NODE_LIMIT,
            form: OutputForm::Solution,
            columns: None,
            count_limit: 2,
            measure: false,
        }
    }
}

impl Task {
    /// The strategy for puzzles of this order.
    #[must_use]
    pub fn strategy_for(&self, order: Order) -> &'static dyn Strategy {
        self.strategy.unwrap_or_else(|| default_strategy(order))
    }

    /// Whether puzzles of this order are searched many at a time and not rated. Otherwise each of
    /// them may take seconds, so a caller with several threads gives each thread a few.
    #[must_use]
    pub fn answers_together(&self, order: Order) -> bool {
        self.strategy_for(order).searches_together()
            && !self.columns.is_some_and(|columns| columns.have_ratings())
    }

    /// The columns that are added to what the input has, if answers to an input in this format are
    /// rows with columns: those asked for, or for a table the answer and the code of the error.
    /// `None` if they have the form that they have for a list.
    #[must_use]
    pub fn added_columns(&self, format: &Format) -> Option<AddedColumns> {
        let form = self.form.row_form()?;
        let answer = match self.question {
            Question::Count { .. } => AddedColumn::Solutions,
            Question::First | Question::Unique => AddedColumn::Solution,
        };
        let default = || {
            let has_columns = RowWriter::keeps_columns(format, form) || form == RowForm::Columns;
            has_columns.then(|| AddedColumns::new(&[answer, AddedColumn::Error]))
        };
        self.columns.or_else(default)
    }

    /// The line above all answers to an input in this format, line end included, or nothing.
    #[must_use]
    pub fn heading(&self, format: &Format) -> Vec<u8> {
        let mut heading = Vec::new();
        match write::AnswerRows::new(self, format) {
            Some(rows) => rows.write_heading(format, &mut heading),
            None => heading.extend_from_slice(self.form.heading(self.question).as_bytes()),
        }
        heading
    }

    /// Whether this column is added.
    fn adds(&self, column: AddedColumn) -> bool {
        self.columns.is_some_and(|columns| columns.contains(column))
    }

    /// Whether puzzles are rated.
    fn rates(&self) -> bool {
        self.columns.is_some_and(|columns| columns.have_ratings())
    }

    /// The number of solutions to search for.
    fn solutions(&self) -> u64 {
        let asked = self.question.solutions();
        match self.question {
            Question::Count { .. } => asked,
            _ if self.adds(AddedColumn::Solutions) => asked.max(self.count_limit),
            // Only a puzzle with a single solution can be minimal, is rated, or has its canonical
            // form by it.
            _ if self.adds(AddedColumn::Minimal) || self.adds(AddedColumn::Canonical) || self.rates() => {
                asked.max(2)
            }
            _ => asked,
        }
    }
}

/// The answer for one puzzle. It borrows from the solver.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The physical line on which the puzzle begins, from 1.
    pub line: u64,
    /// The puzzle, unless its text could not be read or [`Visitor::wants_puzzles`] is false.
    pub puzzle: Option<&'a Grid>,
    /// The answer, or the problem.
    pub result: Result<Found<'a>, PuzzleError>,
    /// The cost of the search; all zero where there was none.
    pub metrics: Metrics,
    /// More about it, for answers that are rows of a table.
    pub row: RowFacts<'a>,
}

/// What a row of a table tells besides the answer. Without [`Visitor::wants_rows`], nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowFacts<'a> {
    /// The row of the input as it is written, without the newline at its end; empty if the input is
    /// no table.
    pub text: &'a [u8],
    /// Whether the puzzle could be read.
    pub is_read: bool,
    /// The first solution that was found.
    pub solution: Option<&'a Grid>,
    /// The number of solutions, up to the limit of the search; `None` if the search was given up.
    pub solutions: Option<u64>,
    /// Whether every clue is needed for the single solution. `None` if there is no single solution,
    /// if the search was given up, or if the task has no column [`AddedColumn::Minimal`].
    pub is_minimal: Option<bool>,
    /// How hard the solution by hand is. `None` if there is no single solution, or if the task has
    /// no column for it.
    pub rating: Option<&'a Rating>,
    /// The canonical form, by the solution if there is exactly one and else by the clues. `None` if
    /// the puzzle is not 9x9, if it breaks the rules, if the search was given up, or if the task has
    /// no column [`AddedColumn::Canonical`].
    pub canonical: Option<&'a CanonicalForm>,
}

impl Answer<'_> {
    /// Whether it is the result of a search, and not of a check before it.
    fn is_of_a_search(&self) -> bool {
        let is_plain = matches!(
            &self.result,
            Err(PuzzleError { problem: Problem::RuleBroken(_) | Problem::Internal, .. })
        );
        self.puzzle.is_some() && !is_plain
    }
}

/// A good answer.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A solution; for [`Question::Unique`] the only one.
    Solution(&'a Grid),
    /// The number of solutions.
    Count {
        /// The solutions counted.
        count: u64,
        /// False if the search stopped at its limit, so that there may be more.
        exact: bool,
    },
}

impl<'a> Found<'a> {
    /// The good answer that a verdict is, with the first solution that the search has found, or the
    /// problem.
    ///
    /// # Errors
    /// [`Cancelled`] if the search was.
    pub fn of(verdict: Verdict, solution: &'a Grid) -> Result<Result<Self, Problem>, Cancelled> {
        Ok(match (verdict.problem()?, verdict) {
            (Some(problem), _) => Err(problem),
            (None, Verdict::Counted { count, exact }) => Ok(Self::Count { count, exact }),
            (None, _) => Ok(Self::Solution(solution)),
        })
    }
}

/// The numbers of answers by kind, and the cost of their searches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// All answers.
    pub answers: u64,
    /// The answers that are an error, by [code](PuzzleError::code).
    pub errors: BTreeMap<&'static str, u64>,
    /// The cost of all searches.
    pub metrics: Metrics,
    /// The distribution of that cost over the puzzles searched, if [`Task::measure`].
    pub costs: Option<Box<Costs>>,
}

impl Tally {
    /// Counts one answer to a task.
    pub fn count(&mut self, task: &Task, answer: &Answer<'_>) {
        self.count_one(answer.result.as_ref().err().map(PuzzleError::code), &answer.metrics);
        if task.measure && answer.is_of_a_search() {
            self.costs.get_or_insert_default().record(&answer.metrics);
        }
    }

    /// Counts one answer by the code of its error, if it is one, and the cost of its search.
    pub fn count_one(&mut self, error: Option<&'static str>, metrics: &Metrics) {
        self.answers += 1;
        if let Some(code) = error {
            *self.errors.entry(code).or_default() += 1;
        }
        self.metrics.add(metrics);
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        add_counts(&mut self.errors, &other.errors);
        self.metrics.add(&other.metrics);
        if let Some(others) = &other.costs {
            self.costs.get_or_insert_default().add(others);
        }
    }

    /// The number of answers that are an error.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// Adds counts by what they count.
fn add_counts<K: Copy + Ord>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *to.entry(*key).or_default() += count;
    }
}

/// A part of a text that consists of whole puzzles.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The physical number of its first line, from 1.
    pub first_line: u64,
}
