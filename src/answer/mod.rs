//! A puzzle in, an answer out: the one place where text meets solver.
//!
//! Both binaries come through here, so that a file solved offline and the same lines sent over a stream
//! give the same bytes. A [`Task`] is what is asked of every puzzle; a [`Worker`] holds what one thread
//! needs to do it and is handed out by [`Workers`]; [`Worker::answer_block`] answers a block of text.
//!
//! A bad puzzle is an answer too, never an `Err`. The order of checks is fixed: length, characters,
//! rules, search.

mod check;
mod costs;
mod render;
mod single;
mod step;
mod validate;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use crate::grid::{Grid, Order};
use crate::solver::{
    Batch, DEFAULT_NODE_LIMIT, Limit, Metrics, Question, Search, Solver, Strategy, Verdict, default_strategy,
};
use crate::text::{Format, Problem, PuzzleError, Records};

pub use check::{Check, Flaw, check_block, check_grid};
pub use costs::{Cost, Costs};
pub use render::{NoOutputForm, OutputForm, paint_grid};
pub use single::single_error;
pub use step::{Reason, Step, Stuck, next_step};
pub use validate::{Validation, validate_block};

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
    /// The puzzle, unless its text could not be read.
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

/// How many puzzles are searched together. More would be faster by little: a batch has few idle lanes only at its
/// end.
const BATCH_PUZZLES: usize = 8192;

/// What one thread needs to answer puzzles of one format by one strategy.
pub struct Worker {
    solver: Box<dyn Solver>,
    puzzle: Grid,
    solution: Grid,
    /// The puzzles that have been read and not been answered.
    batch: Batch,
    /// The lines on which these begin, and those of puzzles that could not be read.
    lines: Vec<u64>,
    /// What is wrong with those, by their place in `lines`.
    errors: Vec<(usize, PuzzleError)>,
}

impl Worker {
    fn new(format: &Format, task: &Task) -> Self {
        let order = format.order();
        Self {
            solver: task.strategy_for(order).solver(order),
            puzzle: Grid::empty(order),
            solution: Grid::empty(order),
            batch: Batch::new(order),
            lines: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Answers every puzzle of a block, in order, each handed to `visit`.
    ///
    /// # Errors
    /// [`Cancelled`], with some answers not given, if `cancel` was raised.
    pub fn answer_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        cancel: &AtomicBool,
        visit: impl FnMut(&Answer<'_>),
    ) -> Result<(), Cancelled> {
        self.visit_block(format, task, block, cancel, &mut EachAnswer(visit))
    }

    fn visit_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        cancel: &AtomicBool,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let mut records = Records::new(format, block.text, block.first_line);
        self.forget();
        loop {
            if self.lines.len() == BATCH_PUZZLES {
                self.answer_kept(task, cancel, visitor)?;
            }
            let (first, room) = (records.line(), BATCH_PUZZLES - self.lines.len());
            self.batch.push_many(|puzzles| {
                let count = records.read_everyday(puzzles, room);
                self.lines.extend(first..first + count as u64);
            });
            if self.lines.len() < BATCH_PUZZLES {
                let Some(record) = records.read(&mut self.puzzle) else { break };
                self.keep(record.line, record.error);
            }
        }
        self.answer_kept(task, cancel, visitor)
    }

    /// Answers each line, whatever it holds, as one puzzle of a notation with one puzzle a line.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn answer_lines<'a>(
        &mut self,
        format: &Format,
        task: &Task,
        lines: impl IntoIterator<Item = (u64, &'a [u8])>,
        cancel: &AtomicBool,
        visit: impl FnMut(&Answer<'_>),
    ) -> Result<(), Cancelled> {
        let mut visitor = EachAnswer(visit);
        self.forget();
        for (number, line) in lines {
            let error = format.read_line(line, number, &mut self.puzzle).err();
            self.keep(number, error);
            if self.lines.len() == BATCH_PUZZLES {
                self.answer_kept(task, cancel, &mut visitor)?;
            }
        }
        self.answer_kept(task, cancel, &mut visitor)
    }

    /// Keeps the puzzle that has just been read.
    fn keep(&mut self, line: u64, error: Option<PuzzleError>) {
        match error {
            None => self.batch.push(&self.puzzle),
            Some(error) => self.errors.push((self.lines.len(), error)),
        }
        self.lines.push(line);
    }

    /// Forgets what was kept; an earlier block may have ended in the middle.
    fn forget(&mut self) {
        self.batch.clear();
        self.lines.clear();
        self.errors.clear();
    }

    /// Answers what was kept.
    fn answer_kept(
        &mut self,
        task: &Task,
        cancel: &AtomicBool,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let limit = Limit { solutions: task.question.solutions(), nodes: task.node_limit, cancel };
        if task.measure {
            self.solver.measure_batch(&mut self.batch, &limit);
        } else {
            self.solver.search_batch(&mut self.batch, &limit);
        }
        let mut errors = self.errors.drain(..).peekable();
        let mut searched = 0;
        let mut place = 0;
        while let Some(&line) = self.lines.get(place) {
            if let Some((_, error)) = errors.next_if(|(of, _)| *of == place) {
                visitor.answer(&Answer {
                    line,
                    puzzle: None,
                    result: Err(error),
                    metrics: Metrics::default(),
                });
                place += 1;
                continue;
            }
            let search = &self.batch.searches()[searched];
            let verdict = task.question.verdict(search);
            if verdict == Verdict::Solved && visitor.wants_only_solutions() {
                // All up to the next that has another answer.
                let end = searched + errors.peek().map_or(self.lines.len(), |(of, _)| *of) - place;
                let (count, metrics) = solved(task.question, &self.batch.searches()[searched..end]);
                visitor.solutions(count, self.batch.solutions(searched..searched + count), &metrics);
                searched += count;
                place += count;
                continue;
            }
            self.puzzle.set_digits(self.batch.puzzle(searched));
            let mut metrics = search.metrics;
            // A puzzle with a solution keeps the rules.
            let conflict = if search.solutions == 0 { self.puzzle.first_conflict() } else { None };
            let result = match (verdict, conflict) {
                (Verdict::Cancelled, _) => return Err(Cancelled),
                // One that breaks them has none; but that is not what is said of it, nor what it took to find out.
                (_, Some(conflict)) => {
                    metrics = Metrics::default();
                    Err(Problem::RuleBroken(conflict))
                }
                (Verdict::Solved, None) => {
                    self.solution.set_digits(self.batch.solution(searched));
                    Ok(Found::Solution(&self.solution))
                }
                (Verdict::Counted { count, exact }, None) => Ok(Found::Count { count, exact }),
                (Verdict::NoSolution, None) => Err(Problem::NoSolution),
                (Verdict::NotUnique, None) => Err(Problem::NotUnique),
                (Verdict::GaveUp { nodes }, None) => Err(Problem::GaveUp { nodes }),
            };
            let result = result.map_err(|problem| PuzzleError { problem, line: Some(line) });
            visitor.answer(&Answer { line, puzzle: Some(&self.puzzle), result, metrics });
            searched += 1;
            place += 1;
        }
        drop(errors);
        self.forget();
        Ok(())
    }
}

/// Whoever is given the answers.
trait Visitor {
    fn answer(&mut self, answer: &Answer<'_>);

    /// Of an answer that is a solution, is nothing else wanted? Then [`Self::solutions`] is given it.
    fn wants_only_solutions(&self) -> bool {
        false
    }

    /// A shortcut for solutions that follow each other: how many, their digits, and what the searches cost together.
    fn solutions(&mut self, _count: usize, _digits: &[u8], _metrics: &Metrics) {}
}

/// How many of the searches, from the first on, found what `question` takes for a solution, and what they cost together.
fn solved(question: Question, searches: &[Search]) -> (usize, Metrics) {
    let mut metrics = Metrics::default();
    for (count, search) in searches.iter().enumerate() {
        if question.verdict(search) != Verdict::Solved {
            return (count, metrics);
        }
        metrics.add(&search.metrics);
    }
    (searches.len(), metrics)
}

struct EachAnswer<F>(F);

impl<F: FnMut(&Answer<'_>)> Visitor for EachAnswer<F> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.0(answer);
    }
}

/// Writes answers.
struct Writer<'a> {
    format: &'a Format,
    task: &'a Task,
    written: Written,
}

impl Visitor for Writer<'_> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.written.tally.count(self.task, answer);
        self.task.form.write(answer, self.format, &mut self.written.text);
    }

    fn wants_only_solutions(&self) -> bool {
        self.task.form == OutputForm::Solution && !self.task.measure
    }

    fn solutions(&mut self, count: usize, digits: &[u8], metrics: &Metrics) {
        self.written.tally.answers += count as u64;
        self.written.tally.metrics.add(metrics);
        self.format.write_solutions(digits, &mut self.written.text);
    }
}

/// A part of a text that holds whole puzzles.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The physical number of its first line, from 1.
    pub first_line: u64,
}

/// Answers written out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The text of the answers, whole lines.
    pub text: Vec<u8>,
    /// What they are.
    pub tally: Tally,
}

/// A format and a task, with the workers that serve them. Jobs on any thread borrow one.
pub struct Workers {
    format: Format,
    task: Task,
    idle: Mutex<Vec<Worker>>,
}

impl Workers {
    /// For answering puzzles of this format.
    ///
    /// # Panics
    /// If the strategy does not support the order; [`Strategy::supports`] tells.
    #[must_use]
    pub const fn new(format: Format, task: Task) -> Self {
        Self { format, task, idle: Mutex::new(Vec::new()) }
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// The task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        &self.task
    }

    /// Runs `job` with a worker. One that panics is not used again.
    pub fn with<R>(&self, job: impl FnOnce(&mut Worker) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut worker = kept.unwrap_or_else(|| Worker::new(&self.format, &self.task));
        let result = job(&mut worker);
        idle().push(worker);
        result
    }

    /// Answers a block and writes the answers in the task's form.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn write_answers(&self, block: Block<'_>, cancel: &AtomicBool) -> Result<Written, Cancelled> {
        // An answer is about as long as its puzzle in every form but the widest.
        let written = Written { text: Vec::with_capacity(block.text.len() + 1024), ..Written::default() };
        let mut writer = Writer { format: &self.format, task: &self.task, written };
        self.with(|worker| worker.visit_block(&self.format, &self.task, block, cancel, &mut writer))?;
        Ok(writer.written)
    }

    /// The answers to a block on which the work broke down: an error line for every puzzle.
    #[must_use]
    pub fn write_internal_errors(&self, block: Block<'_>) -> Written {
        let mut written = Written::default();
        let mut puzzle = Grid::empty(self.format.order());
        let mut records = Records::new(&self.format, block.text, block.first_line);
        while let Some(record) = records.read(&mut puzzle) {
            let error = PuzzleError { problem: Problem::Internal, line: Some(record.line) };
            let answer =
                Answer { line: record.line, puzzle: None, result: Err(error), metrics: Metrics::default() };
            written.tally.count(&self.task, &answer);
            self.task.form.write(&answer, &self.format, &mut written.text);
        }
        written
    }
}
