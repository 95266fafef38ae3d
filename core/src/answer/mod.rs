//! A puzzle in, an answer out: the one place where text meets solver.
//!
//! Both binaries come through here, so that a file solved offline and the same lines sent over a stream
//! give the same bytes. A [`Task`] is what is asked of every puzzle; a [`Worker`] holds what one thread
//! needs to do it and is handed out by [`Workers`]; [`Worker::answer_block`] answers a block of text.
//!
//! A bad puzzle is an answer too, never an `Err`. The order of checks is fixed: length, characters,
//! rules, search.

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

/// What is asked of every puzzle, and how the answers are written.
#[derive(Clone, Copy)]
pub struct Task {
    /// How to search; the best way for the order, if none.
    pub strategy: Option<&'static dyn Strategy>,
    /// What to find out.
    pub question: Question,
    /// The most nodes a puzzle may take.
    pub node_limit: u64,
    /// How an answer looks.
    pub form: OutputForm,
    /// Is it wanted what each search cost in full, comparisons and placements included? That takes time.
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
    /// How puzzles of this order are searched.
    #[must_use]
    pub fn strategy_for(&self, order: Order) -> &'static dyn Strategy {
        self.strategy.unwrap_or_else(|| default_strategy(order))
    }
}

/// What was found out about one puzzle. It borrows from the worker that found it.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The physical line on which the puzzle begins, from 1.
    pub line: u64,
    /// The puzzle, unless its text could not be read or nobody asks for it ([`Visitor::wants_puzzles`]).
    pub puzzle: Option<&'a Grid>,
    /// The answer, or what is wrong.
    pub result: Result<Found<'a>, PuzzleError>,
    /// What the search cost; all zero where there was none.
    pub metrics: Metrics,
}

impl Answer<'_> {
    /// Was there anything to search, or was it plain to see what is wrong?
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
    /// A solution; the only one, where uniqueness was asked.
    Solution(&'a Grid),
    /// The number of solutions.
    Count {
        /// As many as were counted.
        count: u64,
        /// False if counting stopped at its limit and there may be more.
        exact: bool,
    },
}

/// How many answers of which kind there were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// All answers.
    pub answers: u64,
    /// Answers that are an error, by their code.
    pub errors: BTreeMap<&'static str, u64>,
    /// What the searches cost together.
    pub metrics: Metrics,
    /// How that is distributed over the puzzles that were searched, where [`Task::measure`] asks for it.
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

    /// Counts one answer of which this is known: the code of its error, if it is one, and what the search cost.
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

    /// The answers that are an error, of any kind.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// Raised by the caller; work on hand stops soon after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The work was cancelled.")]
pub struct Cancelled;

/// A part of a text that holds whole puzzles.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The physical number of its first line, from 1.
    pub first_line: u64,
}
