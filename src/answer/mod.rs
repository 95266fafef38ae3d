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
use std::sync::{Mutex, PoisonError};
use std::vec;

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
    fn new(format: &Format, task: &Task) -> Self {
        let order = format.order();
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

    /// Answers each line, whatever it holds, as one puzzle of a notation with one puzzle a line.
    ///
    /// # Errors
    /// [`Cancelled`] if `rein` said so.
    pub fn answer_lines<'a>(
        &mut self,
        format: &Format,
        task: &Task,
        lines: impl IntoIterator<Item = (u64, &'a [u8])>,
        rein: &dyn Rein,
        visit: impl FnMut(&Answer<'_>),
    ) -> Result<(), Cancelled> {
        let mut visitor = EachAnswer(visit);
        let most = self.most_kept(rein);
        self.forget();
        for (number, line) in lines {
            let error = format.read_line(line, number, &mut self.puzzle).err();
            self.keep(number, error);
            if self.lines.len() == most {
                self.answer_kept(task, rein, &mut visitor)?;
            }
        }
        self.answer_kept(task, rein, &mut visitor)
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
                visitor.solutions(&self.batch.searches()[these.clone()], self.batch.solutions(these));
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
trait Visitor {
    fn answer(&mut self, answer: &Answer<'_>);

    /// Of an answer that is a solution, is nothing else wanted? Then [`Self::solutions`] is given it.
    fn wants_only_solutions(&self) -> bool {
        false
    }

    /// A shortcut for solutions that follow each other: their searches, and their digits.
    fn solutions(&mut self, _searches: &[Search], _digits: &[u8]) {}
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

/// Writes the answers to several blocks, each for itself.
struct Writers<'a> {
    writer: Writer<'a>,
    /// How many answers the block on hand still has, and then the others.
    counts: vec::IntoIter<usize>,
    left: usize,
    /// Those that are done.
    done: Vec<Written>,
}

impl Writers<'_> {
    /// Takes up the next blocks until one is not done, and returns how many answers it has left.
    fn left(&mut self) -> usize {
        while self.left == 0 {
            let Some(count) = self.counts.next() else { break };
            self.done.push(std::mem::take(&mut self.writer.written));
            self.left = count;
        }
        self.left
    }
}

impl Visitor for Writers<'_> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.left();
        self.writer.answer(answer);
        self.left -= 1;
    }

    fn wants_only_solutions(&self) -> bool {
        self.writer.wants_only_solutions()
    }

    fn solutions(&mut self, searches: &[Search], mut digits: &[u8]) {
        let cells = self.writer.format.order().cells();
        let mut rest = searches;
        while !rest.is_empty() {
            let (these, others) = rest.split_at(self.left().min(rest.len()));
            let (own, further) = digits.split_at(these.len() * cells);
            self.writer.solutions(these, own);
            self.left -= these.len();
            (rest, digits) = (others, further);
        }
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

    fn solutions(&mut self, searches: &[Search], digits: &[u8]) {
        self.written.tally.answers += searches.len() as u64;
        for search in searches {
            self.written.tally.metrics.add(&search.metrics);
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

    /// Are many puzzles searched together?
    #[must_use]
    pub fn search_together(&self) -> bool {
        self.task.strategy_for(self.format.order()).searches_together()
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

    /// Answers several small blocks at once, where many puzzles are searched together; the answers to each come for themselves.
    /// `None` if they are too many, or are better answered one by one.
    ///
    /// # Errors
    /// [`Cancelled`] if `rein` said so.
    #[must_use]
    pub fn write_answers_together<'a>(
        &self,
        blocks: impl Iterator<Item = Block<'a>> + Clone,
        rein: &dyn Rein,
    ) -> Option<Result<Vec<Written>, Cancelled>> {
        self.with(|worker| {
            if !worker.searches_together {
                return None;
            }
            worker.forget();
            let mut counts = Vec::new();
            for block in blocks {
                let before = worker.lines.len();
                // A puzzle takes a line at least, and the last may have no end.
                if before + memchr::memchr_iter(b'\n', block.text).count() + 1 >= BATCH_PUZZLES {
                    return None;
                }
                // All of it is kept, so nothing is answered yet.
                let none = &mut EachAnswer(|_: &Answer<'_>| {});
                if worker.keep_block(&self.format, &self.task, block, rein, none).is_err() {
                    return Some(Err(Cancelled));
                }
                counts.push(worker.lines.len() - before);
            }
            let done = Vec::with_capacity(counts.len());
            let writer = Writer { format: &self.format, task: &self.task, written: Written::default() };
            let mut counts = counts.into_iter();
            let left = counts.next().unwrap_or_default();
            let mut writers = Writers { writer, counts, left, done };
            if worker.answer_kept(&self.task, rein, &mut writers).is_err() {
                return Some(Err(Cancelled));
            }
            // Of blocks at the end that have no puzzle.
            writers.left();
            writers.done.push(writers.writer.written);
            Some(Ok(writers.done))
        })
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

    #[test]
    fn blocks_answered_together_are_answered_as_each_for_itself() {
        let solved = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
        let line = |k: usize| {
            let mut line = solved.to_owned().into_bytes();
            for blank in 0..9 {
                line[(k * 31 + blank * 17) % 81] = b'.';
            }
            String::from_utf8(line).unwrap() + "\n"
        };
        let texts: Vec<String> = (0..200)
            .map(|k| match k % 10 {
                1 | 2 => String::new(),
                3 => "# a comment\n".to_owned(),
                4 => format!("too short\n{}", line(k)),
                5 => format!("{}55{}\n{}", line(k), ".".repeat(79), line(k + 1)),
                6 => (k..k + 40).map(line).collect(),
                7 => line(k).trim_end().to_owned(),
                _ => line(k),
            })
            .collect();
        let format = Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).unwrap();
        let never = AtomicBool::new(false);
        let (mut blocks, mut first_line) = (Vec::new(), 1);
        for text in &texts {
            blocks.push(Block { text: text.as_bytes(), first_line });
            first_line += text.lines().count() as u64;
        }
        for form in [OutputForm::Solution, OutputForm::Jsonl] {
            for first in [0, 1, 3, 150] {
                let blocks = &blocks[first..];
                let workers = Workers::new(format.clone(), Task { form, ..Task::default() });
                let together = workers.write_answers_together(blocks.iter().copied(), &never);
                let each = blocks.iter().map(|&block| workers.write_answers(block, &never).unwrap());
                let plain = |written: Written| (written.text, written.tally.answers, written.tally.errors);
                let together: Vec<_> = together.unwrap().unwrap().into_iter().map(plain).collect();
                assert!(together == each.map(plain).collect::<Vec<_>>());
            }
        }

        let long: String = (0..BATCH_PUZZLES).map(line).collect();
        let blocks = [Block { text: long.as_bytes(), first_line: 1 }];
        let workers = Workers::new(format.clone(), Task::default());
        assert!(workers.write_answers_together(blocks.into_iter(), &never).is_none(), "it is too long");
        let plain = Task { strategy: crate::solver::strategy("propagation"), ..Task::default() };
        let workers = Workers::new(format, plain);
        assert!(workers.write_answers_together(blocks.into_iter().take(0), &never).is_none());
    }
}
