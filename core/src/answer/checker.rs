//! Checks of many grids: a finding about each row, with a search only where one is needed.
//!
//! A row is a puzzle with a solution beside it, or a grid by itself. A solution that keeps the
//! rules and the clues is right without a search. Where it is not, the puzzle is searched, because
//! only its solution tells which cell is wrong, and whether there is a solution at all.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::idle::Idle;
use super::puzzle_reader::PuzzleReader;
use super::result_rows::ResultRows;
use super::row_job::BATCH_PUZZLES;
use super::row_job::{MAX_JOB_BYTES, MIN_BATCH_BYTES, RowJob, Rows};
use super::row_tally::{Counters, HasCounters};
use super::{Block, Cancelled, Check, CheckForm, PuzzleRow, check_block};
use crate::grid::{Cell, Conflict, Digit, Grid, Order};
use crate::poison::IgnorePoison as _;
use crate::simd::{SimdTask, dispatch};
use crate::solver::{Batch, DEFAULT_NODE_LIMIT, Limit, Search, Solver, Stop, Strategy, default_strategy};
use crate::text::{Format, Problem, PuzzleError, Record, Records, copy_line, row_within};

/// How rows are checked.
#[derive(Clone, Copy)]
pub struct CheckTask {
    /// Whether a puzzle must have no second solution, which takes a search for every row; default:
    /// false.
    pub is_unique: bool,
    /// The most nodes that a puzzle may take; default: [`DEFAULT_NODE_LIMIT`].
    pub node_limit: u64,
    /// The strategy; default: the first that supports the order.
    pub strategy: Option<&'static dyn Strategy>,
}

impl Default for CheckTask {
    fn default() -> Self {
        Self { is_unique: false, node_limit: DEFAULT_NODE_LIMIT, strategy: None }
    }
}

/// What is found about a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Every cell is filled, every rule kept, and no clue changed.
    Right,
    /// A cell is wrong.
    Wrong(Mistake),
    /// Some cells are blank, and no other is known to be wrong.
    Incomplete {
        /// The number of blank cells.
        blanks: usize,
    },
    /// The puzzle has blank cells and no solution beside it, though its table has a column for one.
    NothingBeside,
    /// The puzzle has no solution.
    NoSolution,
    /// The puzzle has more than one solution, and must not.
    NotUnique,
    /// The search reached its node limit before it could tell whether there is another solution.
    GaveUp {
        /// The nodes visited.
        nodes: u64,
    },
    /// The row cannot be read, or the clues of its puzzle break the rules.
    Bad(Problem),
}

/// What is wrong with a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A clue of the puzzle has become another digit.
    ClueChanged {
        /// The cell.
        cell: Cell,
        /// The clue.
        clue: Digit,
        /// The digit in the solution.
        digit: Digit,
    },
    /// A digit is another one than in the only solution of the puzzle.
    Differs {
        /// The cell.
        cell: Cell,
        /// The digit.
        digit: Digit,
        /// The digit in the only solution.
        right: Digit,
    },
    /// Two cells break a rule. Which of them is wrong is not known, because the puzzle has more
    /// than one solution, or is the grid itself.
    Conflict(Conflict),
}

impl Mistake {
    /// The wrong cell; of two that break a rule the second.
    #[must_use]
    pub const fn cell(&self) -> Cell {
        match self {
            Self::ClueChanged { cell, .. } | Self::Differs { cell, .. } => *cell,
            Self::Conflict(conflict) => conflict.second,
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClueChanged { cell, clue, digit } => {
                write!(f, "the clue {clue} at {cell} was changed to {digit}")
            }
            Self::Differs { cell, digit, right } => {
                write!(f, "{cell} is {digit}, and the only solution has {right} there")
            }
            Self::Conflict(conflict) => {
                write!(f, "{conflict}, at {} and {}", conflict.first, conflict.second)
            }
        }
    }
}

impl Finding {
    /// The codes of all findings but [`Self::Bad`], which has those of [`Problem`].
    pub const CODES: [&str; 6] = ["right", "wrong", "incomplete", "no_solution", "not_unique", "gave_up"];

    /// The stable code that programs match on.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong(_) => "wrong",
            Self::Incomplete { .. } | Self::NothingBeside => "incomplete",
            Self::NoSolution => "no_solution",
            Self::NotUnique => "not_unique",
            Self::GaveUp { .. } => "gave_up",
            Self::Bad(problem) => problem.code(),
        }
    }

    /// The wrong cell, if one is.
    #[must_use]
    pub const fn cell(&self) -> Option<Cell> {
        match self {
            Self::Wrong(mistake) => Some(mistake.cell()),
            _ => None,
        }
    }

    /// The sentence about a row of this line, or about a puzzle by itself.
    #[must_use]
    pub fn sentence(&self, line: Option<u64>) -> String {
        let problem = match self {
            Self::Right | Self::Wrong(_) | Self::Incomplete { .. } | Self::NothingBeside => {
                let subject = line.map_or_else(|| "The puzzle".to_owned(), |line| format!("Line {line}"));
                return match self {
                    Self::Wrong(mistake) => format!("{subject} is wrong: {mistake}."),
                    Self::Incomplete { blanks: 1 } => format!("{subject} is incomplete: 1 cell is blank."),
                    Self::Incomplete { blanks } => {
                        format!("{subject} is incomplete: {blanks} cells are blank.")
                    }
                    Self::NothingBeside => format!("{subject} has no solution beside it."),
                    _ => format!("{subject} is correctly solved."),
                };
            }
            Self::NoSolution => Problem::NoSolution,
            Self::NotUnique => Problem::NotUnique,
            Self::GaveUp { nodes } => Problem::GaveUp { nodes: *nodes },
            Self::Bad(problem) => problem.clone(),
        };
        PuzzleError { problem, line }.to_string()
    }
}

/// One row that was checked.
#[derive(Clone, Copy, Debug)]
pub struct CheckedRow<'a> {
    /// The physical line on which it begins, from 1.
    pub line: u64,
    /// The row of a table as it is written, without the newline at its end; empty in other
    /// notations.
    pub row: &'a [u8],
    /// All of its text, which can be read again.
    pub text: &'a [u8],
    /// What was found.
    pub finding: &'a Finding,
}

/// The numbers of rows by what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckTally {
    /// The number of rows.
    pub rows: u64,
    /// The rows that are not right, by [code](Finding::code).
    pub failures: BTreeMap<&'static str, u64>,
}

impl CheckTally {
    fn count(&mut self, finding: &Finding) {
        self.rows += 1;
        if *finding != Finding::Right {
            *self.failures.entry(finding.code()).or_default() += 1;
        }
    }
}

impl HasCounters for CheckTally {
    const BY_CODE: &'static str = "failure ";

    fn codes() -> impl Iterator<Item = &'static str> {
        Finding::CODES.into_iter().chain(Problem::CODES)
    }

    fn counters(&mut self) -> Counters<'_> {
        let Self { rows, failures } = self;
        let single = vec![("rows", rows)];
        Counters { single, by_code: failures }
    }
}

/// Checkers for a format and a task. Any thread may borrow one.
pub struct Checkers {
    format: Format,
    task: CheckTask,
    idle: Idle<Checker>,
}

impl Checkers {
    /// Checkers for rows of this format.
    #[must_use]
    pub const fn new(format: Format, task: CheckTask) -> Self {
        Self { format, task, idle: Idle::new() }
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// Checks every row of a block, and passes to `visit`, in order, each row that is not right, and
    /// with `with_right` the others too.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn check(
        &self,
        block: Block<'_>,
        with_right: bool,
        cancel: &AtomicBool,
        visit: impl FnMut(&CheckedRow<'_>),
    ) -> Result<CheckTally, Cancelled> {
        let mut run = Run { format: &self.format, task: &self.task, block, with_right, cancel, visit };
        self.with(|checker| checker.check(&mut run))
    }

    /// Checks every puzzle of a reader, with the solution at the same place of `solutions` if there
    /// are any, as if each stood on a line of its own, from `first_line` on. Passes to `visit`, in
    /// order, each row that is not right, and with `with_right` the others too. A puzzle without a
    /// solution beside it is checked by itself; a solution without a puzzle is not looked at.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    ///
    /// # Panics
    /// If the puzzles or the solutions have another order than the format.
    pub fn check_puzzles<P: PuzzleReader, S: PuzzleReader>(
        &self,
        puzzles: &mut P,
        solutions: Option<&mut S>,
        first_line: u64,
        with_right: bool,
        cancel: &AtomicBool,
        visit: impl FnMut(&CheckedRow<'_>),
    ) -> Result<CheckTally, Cancelled> {
        let order = self.format.order();
        assert_eq!(puzzles.order(), order);
        assert!(solutions.as_ref().is_none_or(|solutions| solutions.order() == order));
        let block = Block { text: &[], first_line };
        let mut run = Run { format: &self.format, task: &self.task, block, with_right, cancel, visit };
        self.with(|checker| checker.check_puzzles(&mut run, puzzles, solutions))
    }

    fn with<R>(&self, job: impl FnOnce(&mut Checker) -> R) -> R {
        self.idle.with(|| Checker::new(self.format.order(), &self.task), job)
    }
}

/// A block that is checked.
struct Run<'a, V> {
    format: &'a Format,
    task: &'a CheckTask,
    block: Block<'a>,
    with_right: bool,
    cancel: &'a AtomicBool,
    visit: V,
}

/// The solver and buffers with which one thread checks rows.
struct Checker {
    solver: Box<dyn Solver>,
    puzzle: Grid,
    solution: Grid,
    /// The rows whose findings are not visited yet.
    waiting: Vec<PendingRow>,
    /// The puzzles of those that are searched.
    batch: Batch,
    /// The solutions beside some of these.
    given: Vec<u8>,
}

struct PendingRow {
    line: u64,
    row: Range<usize>,
    text: Range<usize>,
    state: RowState,
}

enum RowState {
    Known(Finding),
    /// The search of a puzzle of the batch decides.
    Searched(usize, SearchSubject),
}

/// What the result of a search is about.
enum SearchSubject {
    /// A right solution, which may not be the only one.
    Right,
    /// A grid with blank cells, and the finding if it has exactly one solution.
    Partial(Finding),
    /// The solution with this index among the given ones, which is not right.
    Given(usize),
}

/// A task that passes over rows whose solution is right. Returns their number.
struct PassSolved<'a, 'b>(&'a mut Records<'b>);

impl SimdTask for PassSolved<'_, '_> {
    type Output = u64;

    #[inline(always)]
    fn work(self) -> u64 {
        let mut puzzle = [0; 81];
        let mut count = 0;
        while self.0.read_solved_9x9(&mut puzzle).is_some() {
            count += 1;
        }
        count
    }
}

/// A task that reads one such row, and its puzzle.
struct ReadSolved<'a, 'b>(&'a mut Records<'b>, &'a mut [u8; 81]);

impl<'b> SimdTask for ReadSolved<'_, 'b> {
    type Output = Option<&'b [u8]>;

    #[inline(always)]
    fn work(self) -> Option<&'b [u8]> {
        self.0.read_solved_9x9(self.1)
    }
}

impl Checker {
    fn new(order: Order, task: &CheckTask) -> Self {
        let strategy = task.strategy.unwrap_or_else(|| default_strategy(order));
        Self {
            solver: strategy.solver(order),
            puzzle: Grid::empty(order),
            solution: Grid::empty(order),
            waiting: Vec::new(),
            batch: Batch::new(order),
            given: Vec::new(),
        }
    }

    fn check<V: FnMut(&CheckedRow<'_>)>(&mut self, run: &mut Run<'_, V>) -> Result<CheckTally, Cancelled> {
        // A block that was cancelled may have left some.
        self.forget();
        let mut tally = CheckTally::default();
        let text = run.block.text;
        let mut records = Records::new(run.format, text, run.block.first_line);
        loop {
            if self.waiting.len() >= BATCH_PUZZLES {
                self.settle(run, &mut tally)?;
            }
            if !(run.task.is_unique || run.with_right) {
                tally.rows += dispatch(PassSolved(&mut records));
            } else if let Some(row) = self.keep_solved(run, &mut records) {
                self.waiting.push(row);
                continue;
            }
            let begin = text.len() - records.rest().len();
            let Some(record) = records.read(&mut self.puzzle) else { break };
            let end = text.len() - records.rest().len();
            let row = if record.row.is_empty() { 0..0 } else { row_within(text, record.row) };
            let line = record.line;
            let state = self.look_at(run, record);
            self.waiting.push(PendingRow { line, row, text: begin..end, state });
        }
        self.settle(run, &mut tally)?;
        Ok(tally)
    }

    fn check_puzzles<V: FnMut(&CheckedRow<'_>)>(
        &mut self,
        run: &mut Run<'_, V>,
        puzzles: &mut impl PuzzleReader,
        mut solutions: Option<&mut impl PuzzleReader>,
    ) -> Result<CheckTally, Cancelled> {
        // A block that was cancelled may have left some.
        self.forget();
        let mut tally = CheckTally::default();
        let mut line = run.block.first_line;
        while let Some(read) = puzzles.read(&mut self.puzzle) {
            if self.waiting.len() >= BATCH_PUZZLES {
                self.settle(run, &mut tally)?;
            }
            let given = solutions.as_mut().and_then(|solutions| solutions.read(&mut self.solution));
            let state = match (read, given) {
                (Err(problem), _) => RowState::Known(Finding::Bad(problem)),
                (Ok(()), None) => self.look_at_grid(run, false),
                // As a row of a table whose field is empty.
                (Ok(()), Some(Err(Problem::Empty))) => self.look_at_grid(run, true),
                (Ok(()), Some(given)) => match self.puzzle.first_conflict() {
                    Some(conflict) => RowState::Known(Finding::Bad(Problem::RuleBroken(conflict))),
                    None => match given {
                        Ok(()) => self.look_at_solution(run),
                        Err(problem) => RowState::Known(Finding::Bad(problem.of_solution())),
                    },
                },
            };
            self.waiting.push(PendingRow { line, row: 0..0, text: 0..0, state });
            line += 1;
        }
        self.settle(run, &mut tally)?;
        Ok(tally)
    }

    fn forget(&mut self) {
        self.waiting.clear();
        self.batch.clear();
        self.given.clear();
    }

    /// Reads the next row, if its solution is right.
    fn keep_solved<V>(&mut self, run: &Run<'_, V>, records: &mut Records<'_>) -> Option<PendingRow> {
        let (line, begin) = (records.line(), run.block.text.len() - records.rest().len());
        let mut puzzle = [0; 81];
        let row = dispatch(ReadSolved(records, &mut puzzle))?;
        let state = if run.task.is_unique {
            self.puzzle.set_digits(&puzzle);
            self.search(SearchSubject::Right)
        } else {
            RowState::Known(Finding::Right)
        };
        let row = begin..begin + row.len();
        Some(PendingRow { line, text: row.clone(), row, state })
    }

    /// The state of the row that has just been read.
    fn look_at<V>(&mut self, run: &Run<'_, V>, record: Record<'_>) -> RowState {
        if let Some(error) = record.error {
            return RowState::Known(Finding::Bad(error.problem));
        }
        let Some(given) = record.given else { return self.look_at_grid(run, run.format.has_solutions()) };
        if let Some(conflict) = self.puzzle.first_conflict() {
            return RowState::Known(Finding::Bad(Problem::RuleBroken(conflict)));
        }
        match run.format.read_solution(given, &mut self.solution) {
            Ok(()) => self.look_at_solution(run),
            Err(problem) => RowState::Known(Finding::Bad(problem.of_solution())),
        }
    }

    /// The state of a grid by itself, which has just been read. It `lacks_solution` if there could be
    /// one beside it.
    fn look_at_grid<V>(&mut self, run: &Run<'_, V>, lacks_solution: bool) -> RowState {
        let blanks = blanks(&self.puzzle);
        let incomplete = if lacks_solution { Finding::NothingBeside } else { Finding::Incomplete { blanks } };
        match self.puzzle.first_conflict() {
            Some(conflict) => RowState::Known(Finding::Wrong(Mistake::Conflict(conflict))),
            None if blanks == 0 => RowState::Known(Finding::Right),
            None if run.task.is_unique => self.search(SearchSubject::Partial(incomplete)),
            None => RowState::Known(incomplete),
        }
    }

    /// The state of a puzzle that keeps the rules and the solution beside it, which have just been
    /// read.
    fn look_at_solution<V>(&mut self, run: &Run<'_, V>) -> RowState {
        if !self.solution.solves(&self.puzzle) {
            let index = self.given.len() / self.solution.digits().len();
            self.given.extend_from_slice(self.solution.digits());
            return self.search(SearchSubject::Given(index));
        }
        if run.task.is_unique { self.search(SearchSubject::Right) } else { RowState::Known(Finding::Right) }
    }

    /// Adds the puzzle to those that are searched.
    fn search(&mut self, candidate: SearchSubject) -> RowState {
        let index = self.batch.len();
        self.batch.push(&self.puzzle);
        RowState::Searched(index, candidate)
    }

    /// Searches what has to be searched, and visits all rows that wait.
    fn settle<V: FnMut(&CheckedRow<'_>)>(
        &mut self,
        run: &mut Run<'_, V>,
        tally: &mut CheckTally,
    ) -> Result<(), Cancelled> {
        let limit = Limit { solutions: 2, nodes: run.task.node_limit, cancel: run.cancel };
        if limit.is_cancelled() {
            return Err(Cancelled);
        }
        self.solver.search_batch(&mut self.batch, &limit);
        let text = run.block.text;
        let mut rows = std::mem::take(&mut self.waiting);
        for waiting in rows.drain(..) {
            let PendingRow { line, row, text: all, state } = waiting;
            let finding = match state {
                RowState::Known(finding) => finding,
                RowState::Searched(index, candidate) => {
                    self.finding(index, &candidate, run.task.is_unique)?
                }
            };
            tally.count(&finding);
            if run.with_right || finding != Finding::Right {
                (run.visit)(&CheckedRow { line, row: &text[row], text: &text[all], finding: &finding });
            }
        }
        self.waiting = rows;
        self.forget();
        Ok(())
    }

    /// The finding that the search of a puzzle of the batch has led to.
    fn finding(
        &mut self,
        index: usize,
        candidate: &SearchSubject,
        is_unique: bool,
    ) -> Result<Finding, Cancelled> {
        let search = self.batch.searches()[index];
        let many = match search {
            Search { stop: Stop::Cancelled, .. } => return Err(Cancelled),
            Search { solutions: 2.., .. } => Some(Finding::NotUnique),
            Search { stop: Stop::Nodes, metrics, .. } => Some(Finding::GaveUp { nodes: metrics.nodes }),
            _ => None,
        };
        let has_none = many.is_none() && search.solutions == 0;
        Ok(match candidate {
            // The search has missed the solution that is there.
            SearchSubject::Right if has_none => Finding::Bad(Problem::Internal),
            SearchSubject::Right => many.unwrap_or(Finding::Right),
            _ if has_none => Finding::NoSolution,
            SearchSubject::Partial(incomplete) => many.unwrap_or_else(|| incomplete.clone()),
            SearchSubject::Given(given) => {
                let cells = self.solution.digits().len();
                self.puzzle.set_digits(self.batch.puzzle(index));
                self.solution.set_digits(&self.given[given * cells..][..cells]);
                let only = many.is_none().then(|| self.batch.solution(index));
                match self.mistake(only) {
                    Some(mistake) => Finding::Wrong(mistake),
                    None => {
                        let incomplete = Finding::Incomplete { blanks: blanks(&self.solution) };
                        many.filter(|_| is_unique).unwrap_or(incomplete)
                    }
                }
            }
        })
    }

    /// What is wrong with the solution of the puzzle, whose only solution is known or not.
    fn mistake(&self, only: Option<&[u8]>) -> Option<Mistake> {
        let order = self.puzzle.order();
        let changed = order.all_cells().find_map(|cell| {
            let (clue, digit) = (self.puzzle.get(cell)?, self.solution.get(cell)?);
            (clue != digit).then_some(Mistake::ClueChanged { cell, clue, digit })
        });
        let differs = || {
            let only = Grid::from_digits(order, only?);
            order.all_cells().find_map(|cell| {
                let (digit, right) = (self.solution.get(cell)?, only.get(cell)?);
                (digit != right).then_some(Mistake::Differs { cell, digit, right })
            })
        };
        changed.or_else(differs).or_else(|| self.solution.first_conflict().map(Mistake::Conflict))
    }
}

fn blanks(grid: &Grid) -> usize {
    grid.order().cells() - grid.filled()
}

/// Checks as rows: a sentence each, or columns.
pub struct CheckJob {
    checkers: Checkers,
    rows: Option<ResultRows>,
    reported: ReportedRows,
    single: Mutex<Option<(Check, Finding)>>,
}

/// The rows that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedRows {
    /// Those that are not right.
    Failures,
    /// The first of those in a block, at most so many.
    FirstFailures(usize),
    /// All.
    All,
    /// Those that are right, which are copied as they are.
    Right,
}

/// The columns that are added to a row: its line, the code of the finding, the row and column of
/// the wrong cell, and the sentence.
const ADDED: [&str; 5] = ["line", "verdict", "row", "column", "message"];

impl CheckJob {
    /// Checks of which these rows are reported in this form.
    #[must_use]
    pub fn new(format: Format, task: CheckTask, form: CheckForm, reported: ReportedRows) -> Self {
        let rows = ResultRows::new(form, &format, ADDED.into_iter());
        Self { checkers: Checkers::new(format, task), rows, reported, single: Mutex::new(None) }
    }

    /// The most rows of a block that are reported.
    const fn limit(&self) -> usize {
        if let ReportedRows::FirstFailures(limit) = self.reported { limit } else { usize::MAX }
    }

    /// The only grid of the last block that had only one, in detail, and what was found.
    pub fn take_single(&self) -> Option<(Check, Finding)> {
        self.single.lock().ignore_poison().take()
    }

    /// The grid of a row, unless it is badly formed.
    fn read_again(&self, checked: &CheckedRow<'_>) -> Option<Grid> {
        let mut grid = Grid::empty(self.format().order());
        let record = Records::new(self.format(), checked.text, checked.line).read(&mut grid);
        record.filter(|record| record.error.is_none()).map(|_| grid)
    }

    /// Appends the report on a row: one line.
    fn write_row(&self, checked: &CheckedRow<'_>, out: &mut Vec<u8>) {
        if self.rewrites() {
            return copy_line(checked.text, out);
        }
        let (format, sentence) = (self.format(), || checked.finding.sentence(Some(checked.line)));
        let Some(rows) = &self.rows else {
            out.extend_from_slice(sentence().as_bytes());
            return out.push(b'\n');
        };
        let puzzle = if rows.has_puzzles() { self.read_again(checked) } else { None };
        let mut row = rows.begin(checked.line, checked.row, puzzle.as_ref(), format, out);
        row.number(checked.line);
        row.text(checked.finding.code().as_bytes());
        let cell = checked.finding.cell();
        row.number(cell.map(|cell| cell.row() as u64));
        row.number(cell.map(|cell| cell.column() as u64));
        row.text(sentence().as_bytes());
        row.end();
    }
}

impl RowJob for CheckJob {
    type Tally = CheckTally;

    fn format(&self) -> &Format {
        self.checkers.format()
    }

    fn rewrites(&self) -> bool {
        self.reported == ReportedRows::Right
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
        rows: &mut Rows<'_, CheckTally>,
    ) -> Result<(), Cancelled> {
        let (mut reported, mut last) = (0, Finding::Right);
        let with_right = matches!(self.reported, ReportedRows::All | ReportedRows::Right);
        rows.tally = self.checkers.check(block, with_right, cancel, |row| {
            let is_left_out = self.rewrites() && *row.finding != Finding::Right;
            if reported < self.limit() && !is_left_out {
                reported += 1;
                self.write_row(row, &mut rows.text);
            }
            last = row.finding.clone();
        })?;
        if rows.tally.rows == 1 {
            check_block(self.format(), block, cancel, |check| {
                *self.single.lock().ignore_poison() = Some((check.clone(), last.clone()));
            })?;
        }
        Ok(())
    }

    /// No row of a block whose check panicked is known to be right.
    fn write_panic(&self, row: &PuzzleRow<'_>, rows: &mut Rows<'_, CheckTally>) -> bool {
        let finding = Finding::Bad(Problem::Internal);
        if rows.tally.rows < self.limit() as u64 {
            let checked = CheckedRow { line: row.line, row: row.row, text: &[], finding: &finding };
            self.write_row(&checked, &mut rows.text);
        }
        rows.tally.count(&finding);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_tally::check_names;
    use super::*;

    #[test]
    fn a_tally_is_known_by_its_names() {
        let codes = Finding::CODES.into_iter().skip(1).chain(Problem::CODES);
        let failures: BTreeMap<&str, u64> = codes.zip(2..).collect();
        let all = 1 + failures.len();
        let tally = CheckTally { rows: 1, failures };
        check_names(&tally, all, &["rows"], &["hardest", "failure of-another-program", "error wrong_length"]);
    }
}
