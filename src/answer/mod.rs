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
mod rein;
mod render;
mod single;
mod step;
mod validate;

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::grid::{Grid, Order};
use crate::solver::{
    Batch, DEFAULT_NODE_LIMIT, Limit, Metrics, Question, Search, Solver, Strategy, Verdict, default_strategy,
    lanes,
};
use crate::text::{Format, Problem, PuzzleError, Records};

pub use check::{Check, Flaw, check_block, check_grid};
pub use costs::{Cost, Costs};
pub use rein::{PuzzleByPuzzle, Rein};
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

/// So many lines are read, then some of the text further on is brought near.
const TOGETHER: usize = 8;

/// Has a part of the text that is read later brought near. The machine does that by itself within a page of memory, but
/// at the next page it has to wait, about as long as reading ten puzzles takes.
fn bring_near(text: &[u8]) {
    /// Two pages.
    const AHEAD: usize = 8192;
    if let Some(later) = text.get(AHEAD..AHEAD + 82 * TOGETHER) {
        lanes::bring_near(later);
    }
}

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
    searches_together: bool,
}

impl Worker {
    fn new(order: Order, task: &Task) -> Self {
        let strategy = task.strategy_for(order);
        Self {
            solver: strategy.solver(order),
            puzzle: Grid::empty(order),
            solution: Grid::empty(order),
            batch: Batch::new(order),
            lines: Vec::new(),
            errors: Vec::new(),
            searches_together: strategy.searches_together(),
        }
    }

    /// How many puzzles are kept before they are answered.
    fn most_kept(&self, rein: &dyn Rein) -> usize {
        if rein.is_by_puzzle() && !self.searches_together { 1 } else { BATCH_PUZZLES }
    }

    /// Answers every puzzle of a block, in order, each handed to `visit`.
    ///
    /// # Errors
    /// [`Cancelled`], with some answers not given, if `rein` said so.
    pub fn answer_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        rein: &dyn Rein,
        visit: impl FnMut(&Answer<'_>),
    ) -> Result<(), Cancelled> {
        self.visit_block(format, task, block, rein, &mut EachAnswer(visit))
    }

    fn visit_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        rein: &dyn Rein,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        self.forget();
        self.keep_block(format, task, block, rein, visitor)?;
        self.answer_kept(task, rein, visitor)
    }

    /// Reads a block to its end. What does not fit is answered, the rest is kept.
    fn keep_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        rein: &dyn Rein,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let mut records = Records::new(format, block.text, block.first_line);
        let most = self.most_kept(rein);
        loop {
            if self.lines.len() == most {
                self.answer_kept(task, rein, visitor)?;
            }
            let (first, room) = (records.line(), most - self.lines.len());
            self.batch.push_many(|puzzles| {
                let mut count = 0;
                loop {
                    bring_near(records.rest());
                    let at_once = TOGETHER.min(room - count);
                    let read = records.read_everyday(puzzles, at_once);
                    count += read;
                    if read < TOGETHER {
                        break;
                    }
                }
                self.lines.extend(first..first + count as u64);
            });
            if self.lines.len() < most {
                let Some(record) = records.read(&mut self.puzzle) else { return Ok(()) };
                self.keep(record.line, record.error);
            }
        }
    }

    /// Answers each entry, whatever it holds, as one puzzle of a notation with one puzzle a line. They count as lines from
    /// `first_line` on.
    ///
    /// # Errors
    /// [`Cancelled`] if `rein` said so.
    pub fn answer_entries(
        &mut self,
        format: &Format,
        task: &Task,
        entries: &Entries,
        first_line: u64,
        rein: &dyn Rein,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let most = self.most_kept(rein);
        self.forget();
        let mut at = 0;
        while at < entries.len() {
            if self.lines.len() == most {
                self.answer_kept(task, rein, visitor)?;
            }
            let line = first_line + at as u64;
            let like_lines = entries.like_lines(at, TOGETHER.min(most - self.lines.len()));
            let mut read = 0;
            self.batch.push_many(|puzzles| {
                let mut records = Records::new(format, like_lines, line);
                read = records.read_everyday(puzzles, TOGETHER);
                self.lines.extend(line..line + read as u64);
            });
            at += read;
            if read < TOGETHER && self.lines.len() < most && at < entries.len() {
                let line = first_line + at as u64;
                let error = format.read_line(entries.get(at), line, &mut self.puzzle).err();
                self.keep(line, error);
                at += 1;
            }
        }
        self.answer_kept(task, rein, visitor)
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
        rein: &dyn Rein,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let limit =
            Limit { solutions: task.question.solutions(), nodes: task.node_limit, cancel: rein.flag() };
        if self.batch.len() == 1 {
            rein.begin();
        }
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
                let count = solved(task.question, &self.batch.searches()[searched..end]);
                let these = searched..searched + count;
                visitor.solutions(
                    &self.lines[place..place + count],
                    &self.batch.searches()[these.clone()],
                    self.batch.solutions(these),
                );
                searched += count;
                place += count;
                continue;
            }
            self.puzzle.set_digits(self.batch.puzzle(searched));
            let mut metrics = search.metrics;
            // A puzzle with a solution keeps the rules.
            let conflict = if search.solutions == 0 { self.puzzle.first_conflict() } else { None };
            let result = match (verdict, conflict) {
                (Verdict::Cancelled, _) if !rein.gives_up() => return Err(Cancelled),
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
                (Verdict::Cancelled, None) => Err(Problem::GaveUp { nodes: metrics.nodes }),
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
pub trait Visitor {
    /// The next answer.
    fn answer(&mut self, answer: &Answer<'_>);

    /// Of an answer that is a solution, is nothing else wanted? Then [`Self::solutions`] is given it.
    fn wants_only_solutions(&self) -> bool {
        false
    }

    /// A shortcut for solutions that follow each other: their lines, their searches, and their digits, one grid behind the
    /// other.
    fn solutions(&mut self, _lines: &[u64], _searches: &[Search], _digits: &[u8]) {}
}

/// Puzzles that came one by one, each in a text of its own.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// One behind the other, with a line end after each.
    text: Vec<u8>,
    /// Where each ends, its line end included.
    ends: Vec<usize>,
}

impl Entries {
    /// Adds a puzzle, whatever stands in its text.
    pub fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        self.ends.push(self.text.len());
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Are there none?
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where one begins.
    fn begin(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The text of one.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.text[self.begin(index)..self.ends[index] - 1]
    }

    /// Some of them as a new list.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::default();
        range.for_each(|index| part.push(self.get(index)));
        part
    }

    /// Those from `first` on, at most so many, that can be read as lines of 81 characters: a text has no line end in it unless
    /// the reader stops at it.
    fn like_lines(&self, first: usize, most: usize) -> &[u8] {
        const LINE: usize = 82;
        let begin = self.begin(first);
        let ends = self.ends[first..].iter().take(most);
        let count = ends.zip(1..).take_while(|(end, count)| **end == begin + count * LINE).count();
        &self.text[begin..begin + count * LINE]
    }
}

/// How many of the searches, from the first on, found what `question` takes for a solution.
fn solved(question: Question, searches: &[Search]) -> usize {
    let is_solved = |search: &&Search| question.verdict(search) == Verdict::Solved;
    searches.iter().take_while(is_solved).count()
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

/// Writes the answers to a block in parts.
struct PartWriter<'a, E: Iterator> {
    writer: Writer<'a>,
    /// The first lines behind the part on hand and behind those after it.
    ends: Peekable<E>,
    /// Those that are done.
    parts: Vec<Part>,
}

impl<E: Iterator<Item = u64>> PartWriter<'_, E> {
    /// Goes on to the part that this line is in; all answers before it end at `end` in the text.
    fn go_on(&mut self, line: u64, end: usize) {
        while self.ends.next_if(|&behind| behind <= line).is_some() {
            let tally = std::mem::take(&mut self.writer.written.tally);
            self.parts.push(Part { end, tally });
        }
    }

    fn end(&self) -> usize {
        self.writer.written.text.len()
    }
}

impl<E: Iterator<Item = u64>> Visitor for PartWriter<'_, E> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.go_on(answer.line, self.end());
        self.writer.answer(answer);
    }

    fn wants_only_solutions(&self) -> bool {
        self.writer.wants_only_solutions()
    }

    fn solutions(&mut self, lines: &[u64], searches: &[Search], digits: &[u8]) {
        let format = self.writer.format;
        let line_bytes = format.order().cells() + 1;
        let mut end = self.end();
        for (&line, search) in lines.iter().zip(searches) {
            self.go_on(line, end);
            self.writer.count(search);
            end += line_bytes;
        }
        format.write_solutions(digits, &mut self.writer.written.text);
    }
}

impl Writer<'_> {
    /// Counts a solution.
    fn count(&mut self, search: &Search) {
        self.written.tally.answers += 1;
        self.written.tally.metrics.add(&search.metrics);
    }
}

impl Visitor for Writer<'_> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.written.tally.count(self.task, answer);
        self.task.form.write(answer, self.format, &mut self.written.text);
    }

    fn wants_only_solutions(&self) -> bool {
        self.task.form == OutputForm::Solution && !self.task.measure
    }

    fn solutions(&mut self, _lines: &[u64], searches: &[Search], digits: &[u8]) {
        for search in searches {
            self.count(search);
        }
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

/// Answers to a block, written out in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenParts {
    /// The text of all answers, whole lines.
    pub text: Vec<u8>,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// The answers to a part of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Where they end in the text of all.
    pub end: usize,
    /// What they are.
    pub tally: Tally,
}

/// Workers that have nothing to do, for puzzles of any order and by any strategy. Whoever has many tasks and does few at a time
/// shares them, since a worker takes some hundred kilobytes and the one that was used last is still in the caches.
#[derive(Default)]
pub struct IdleWorkers(Mutex<Vec<(WorkerKind, Worker)>>);

/// What a worker can be used for: puzzles of an order, by the strategy of this name.
type WorkerKind = (Order, &'static str);

impl IdleWorkers {
    /// The most that are kept; of more, the one that was not used for longest goes.
    const MOST: usize = 64;

    fn lock(&self) -> MutexGuard<'_, Vec<(WorkerKind, Worker)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one of this kind that was used last.
    fn take(&self, kind: WorkerKind) -> Option<Worker> {
        let mut idle = self.lock();
        let place = idle.iter().rposition(|(of, _)| *of == kind)?;
        Some(idle.remove(place).1)
    }

    fn put(&self, kind: WorkerKind, worker: Worker) {
        let mut idle = self.lock();
        let oldest = (idle.len() == Self::MOST).then(|| idle.remove(0));
        idle.push((kind, worker));
        drop(idle);
        // It may take a while to clear away.
        drop(oldest);
    }
}

/// A format and a task, with the workers that serve them. Jobs on any thread borrow one.
pub struct Workers {
    format: Format,
    task: Task,
    idle: Arc<IdleWorkers>,
}

impl Workers {
    /// For answering puzzles of this format.
    ///
    /// # Panics
    /// If the strategy does not support the order; [`Strategy::supports`] tells.
    #[must_use]
    pub fn new(format: Format, task: Task) -> Self {
        Self::sharing(&Arc::default(), format, task)
    }

    /// The same, with workers that others use too.
    ///
    /// # Panics
    /// As [`Self::new`].
    #[must_use]
    pub fn sharing(idle: &Arc<IdleWorkers>, format: Format, task: Task) -> Self {
        Self { format, task, idle: Arc::clone(idle) }
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

    /// Are many puzzles searched together?
    #[must_use]
    pub fn search_together(&self) -> bool {
        self.task.strategy_for(self.format.order()).searches_together()
    }

    /// Runs `job` with a worker. One that panics is not used again.
    pub fn with<R>(&self, job: impl FnOnce(&mut Worker) -> R) -> R {
        let order = self.format.order();
        let kind = (order, self.task.strategy_for(order).name());
        let mut worker = self.idle.take(kind).unwrap_or_else(|| Worker::new(order, &self.task));
        let result = job(&mut worker);
        self.idle.put(kind, worker);
        result
    }

    /// Answers a block and writes the answers in the task's form.
    ///
    /// # Errors
    /// [`Cancelled`] if `rein` said so.
    pub fn write_answers(&self, block: Block<'_>, rein: &dyn Rein) -> Result<Written, Cancelled> {
        self.write_answers_into(block, rein, Vec::with_capacity(Self::room_for(block)))
    }

    /// The bytes that answers take, more or less: an answer is about as long as its puzzle in every form but the widest.
    #[must_use]
    pub const fn room_for(block: Block<'_>) -> usize {
        block.text.len() + 1024
    }

    /// The same as [`Self::write_answers`], into memory that was had beforehand.
    ///
    /// # Errors
    /// [`Cancelled`] if `rein` said so.
    pub fn write_answers_into(
        &self,
        block: Block<'_>,
        rein: &dyn Rein,
        text: Vec<u8>,
    ) -> Result<Written, Cancelled> {
        let written = Written { text, ..Written::default() };
        let mut writer = Writer { format: &self.format, task: &self.task, written };
        self.with(|worker| worker.visit_block(&self.format, &self.task, block, rein, &mut writer))?;
        Ok(writer.written)
    }

    /// Answers a block and writes the answers in the task's form, those to each part for themselves. `ends` are the numbers of
    /// the first lines behind the parts: ascending, the last one that of the block.
    ///
    /// # Errors
    /// [`Cancelled`] if `rein` said so.
    pub fn write_parts(
        &self,
        block: Block<'_>,
        ends: impl Iterator<Item = u64>,
        rein: &dyn Rein,
    ) -> Result<WrittenParts, Cancelled> {
        let written = Written { text: Vec::with_capacity(Self::room_for(block)), ..Written::default() };
        let writer = Writer { format: &self.format, task: &self.task, written };
        let mut writer = PartWriter { writer, ends: ends.peekable(), parts: Vec::new() };
        self.with(|worker| worker.visit_block(&self.format, &self.task, block, rein, &mut writer))?;
        writer.go_on(u64::MAX, writer.end());
        let PartWriter { writer, parts, .. } = writer;
        Ok(WrittenParts { text: writer.written.text, parts })
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::text::{Alphabet, Notation};

    /// A puzzle with a few blanks and one solution, another one for each number.
    fn puzzle(k: usize) -> String {
        let solved = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
        let mut cells = solved.to_owned().into_bytes();
        for blank in 0..9 {
            cells[(k * 31 + blank * 17) % 81] = b'.';
        }
        String::from_utf8(cells).unwrap()
    }

    fn nine() -> Format {
        Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).unwrap()
    }

    #[test]
    fn parts_are_answered_as_each_for_itself() {
        let line = |k: usize| puzzle(k) + "\n";
        let mut texts: Vec<String> = (0..200)
            .map(|k| match k % 9 {
                1 | 2 => String::new(),
                3 => "# a comment\n".to_owned(),
                4 => format!("too short\n{}", line(k)),
                5 => format!("{}55{}\n{}", line(k), ".".repeat(79), line(k + 1)),
                6 => (k..k + 40).map(line).collect(),
                _ => line(k),
            })
            .collect();
        // More than are searched together.
        texts.push((0..BATCH_PUZZLES).map(line).collect());
        texts.push(line(7));
        texts.push(String::new());
        let never = AtomicBool::new(false);
        let forms = [OutputForm::Solution, OutputForm::Jsonl];
        for (form, first) in forms.into_iter().flat_map(|form| [0, 1, 3, 150, 202].map(|first| (form, first)))
        {
            let workers = Workers::new(nine(), Task { form, ..Task::default() });
            let (mut each, mut ends, mut next_line) = (Vec::new(), Vec::new(), 5);
            for text in &texts[first..] {
                let block = Block { text: text.as_bytes(), first_line: next_line };
                let Written { text: answers, tally } = workers.write_answers(block, &never).unwrap();
                next_line += text.lines().count() as u64;
                ends.push(next_line);
                each.push((String::from_utf8(answers).unwrap(), tally));
            }
            let whole = texts[first..].concat();
            let block = Block { text: whole.as_bytes(), first_line: 5 };
            let WrittenParts { text, parts } = workers.write_parts(block, ends.into_iter(), &never).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert_eq!(parts.len(), each.len());
            let mut begin = 0;
            for (part, (answers, tally)) in parts.into_iter().zip(each) {
                assert_eq!(text[begin..part.end], answers);
                assert_eq!(part.tally, tally);
                begin = part.end;
            }
            assert_eq!(begin, text.len());
        }
    }

    #[test]
    fn entries_are_read_one_by_one_whatever_they_hold() {
        struct Said<'a>(&'a Format, Vec<(u64, String)>);
        impl Visitor for Said<'_> {
            fn answer(&mut self, answer: &Answer<'_>) {
                let said = match &answer.result {
                    Ok(Found::Solution(solution)) => {
                        let mut cells = Vec::new();
                        self.0.write_cells(solution, &mut cells);
                        String::from_utf8(cells).unwrap()
                    }
                    Ok(other) => panic!("{other:?}"),
                    Err(error) => error.code().to_owned(),
                };
                self.1.push((answer.line, said));
            }
        }
        let two_in_one = format!("{}\n{}", &puzzle(1)[..40], &puzzle(2)[..40]);
        let two = format!("{}\n{}", puzzle(1), puzzle(2));
        let texts: Vec<String> = (0..100)
            .map(|k| match k % 13 {
                3 => String::new(),
                5 => two_in_one.clone(),
                6 => two.clone(),
                8 => format!("{} # a comment", puzzle(k)),
                9 => format!("{}\n", puzzle(k)),
                11 => "nonsense".to_owned(),
                _ => puzzle(k),
            })
            .collect();
        let (format, task, never) = (nine(), Task::default(), AtomicBool::new(false));
        let workers = Workers::new(format.clone(), task);
        let answers = |texts: &[String], first_line| {
            let mut entries = Entries::default();
            for text in texts {
                entries.push(text.as_bytes());
            }
            assert!(texts.iter().enumerate().all(|(k, text)| entries.get(k) == text.as_bytes()));
            let mut said = Said(&format, Vec::new());
            let answer = |worker: &mut Worker| {
                worker.answer_entries(&format, &task, &entries, first_line, &never, &mut said)
            };
            workers.with(answer).unwrap();
            said.1
        };
        let together = answers(&texts, 1);
        let each: Vec<_> = texts.chunks(1).zip(1..).flat_map(|(text, line)| answers(text, line)).collect();
        assert_eq!(together, each);
        // 81 characters, one of which is a line end; and then more.
        assert_eq!(together[5], (6, "invalid_character".to_owned()));
        assert_eq!(together[6], (7, "wrong_length".to_owned()));
        assert!(together.iter().filter(|(_, said)| said.len() == 81).count() > 50);
    }
}
