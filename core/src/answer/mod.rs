//! Answers: text of puzzles in, an answer for each puzzle out.
//!
//! This is the one place where text meets solver, for files and for streams, so that the same lines
//! give the same bytes. A [`Task`] is the question and the form of the answers; a [`Worker`] holds
//! the memory of one thread and is lent by [`Workers`]; [`Worker::answer_block`] answers a block of
//! text.
//!
//! A bad puzzle is an answer too, never an `Err`. The order of checks is fixed: length, characters,
//! rules, search.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use sudoku_core::answer::{Block, Task, Workers};
//! use sudoku_core::grid::Order;
//! use sudoku_core::text::{Alphabet, Format, Notation};
//!
//! let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters)?;
//! let block = Block { text: b"1234341221..4321\n1234\n", first_line: 1 };
//! let workers = Workers::new(format, Task::default());
//! let written = workers.write_answers(block, &AtomicBool::new(false))?;
//! assert_eq!(written.text, b"1234341221434321\nerror: Line 2 has the wrong length.\n");
//! assert_eq!((written.tally.answers, written.tally.error_count()), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cancel;
mod check;
mod compact_tally;
mod costs;
mod entries;
mod next_step;
mod render;
mod single;
mod validate;
mod worker;
mod workers;
mod write;

use std::collections::BTreeMap;

use crate::grid::{Grid, Order};
use crate::solver::{DEFAULT_NODE_LIMIT, Metrics, Question, Strategy, default_strategy};
use crate::text::{Problem, PuzzleError};

pub use cancel::{Cancel, PerPuzzleCancel};
pub use check::{Check, Flaw, check_block, check_grid};
pub use compact_tally::{CompactMetrics, CompactTally};
pub use costs::{Cost, Costs};
pub use entries::Entries;
pub use next_step::{NextStep, Reason, Stuck, next_step};
pub use render::{NoOutputForm, OutputForm, paint_grid};
pub use single::single_error;
pub use validate::{Validation, validate_block};
pub use worker::{Visitor, Worker};
pub use workers::{IdleWorkers, Workers};
pub use write::{Written, WrittenPart, WrittenParts, write_solutions};

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
}

/// The answer for one puzzle. It borrows from the worker.
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
        /// False if the search stopped at a limit, so that there may be more.
        exact: bool,
    },
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
        for (code, count) in &other.errors {
            *self.errors.entry(code).or_default() += count;
        }
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

/// Cancelled by the caller, before all answers were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The work was cancelled.")]
pub struct Cancelled;

/// A part of a text that consists of whole puzzles.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The physical number of its first line, from 1.
    pub first_line: u64,
}
