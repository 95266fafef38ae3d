//! The block solver of one thread: reads puzzles, searches them together, and answers each in order.

use std::mem;
use std::ops::Range;

use super::entries::Entries;
use super::minimal::are_minimal;
use super::puzzle_reader::{PuzzleReader, read_plain};
use super::rater::{RateTask, rate_one};
use super::row_job::BATCH_PUZZLES;
use super::{AddedColumn, Answer, Block, Cancel, Cancelled, Found, RowFacts, Task};
use crate::canon::{CanonicalForm, Canonizer};
use crate::grid::{Grid, Order};
use crate::simd::{self, SimdTask, dispatch};
use crate::solver::{Batch, Limit, Metrics, Question, Search, Solver, Stop, Verdict};
use crate::techniques::{Rater, Rating};
use crate::text::{Format, PLAIN_9X9_LINE_BYTES, Problem, PuzzleError, Records, row_within};

/// The batch grows by this many puzzles at a time.
const GROWTH: usize = 64;

/// Lines decoded between two prefetches.
const PREFETCH_LINES: usize = 8;

/// A task that reads plain 9x9 puzzles while there are any and `digits` has space: in rows, or lines.
/// Returns their number. These are two tasks, because either would slow down the other beside it.
struct ReadPlain9x9<'a, 'b, const IN_ROWS: bool> {
    records: &'a mut Records<'b>,
    digits: &'a mut [u8],
}

impl<const IN_ROWS: bool> SimdTask for ReadPlain9x9<'_, '_, IN_ROWS> {
    type Output = usize;

    #[inline(always)]
    fn work(self) -> usize {
        let mut count = 0;
        for digits in self.digits.chunks_mut(81 * PREFETCH_LINES) {
            prefetch(self.records.rest());
            let read = if IN_ROWS {
                self.records.read_plain_rows_9x9(digits)
            } else {
                self.records.read_plain_lines_9x9(digits)
            };
            count += read;
            if read < PREFETCH_LINES {
                break;
            }
        }
        count
    }
}

/// Prefetches text that is read later. The processor does so itself within a page of memory, but
/// stalls at the next page for about the time of ten puzzles.
fn prefetch(text: &[u8]) {
    /// Two pages, in bytes.
    const PREFETCH_DISTANCE: usize = 8192;
    if let Some(later) =
        text.get(PREFETCH_DISTANCE..PREFETCH_DISTANCE + PLAIN_9X9_LINE_BYTES * PREFETCH_LINES)
    {
        simd::prefetch(later);
    }
}

/// The solver and buffers with which one thread answers puzzles of one order by one strategy.
pub struct BlockSolver {
    solver: Box<dyn Solver>,
    puzzle: Grid,
    solution: Grid,
    /// The puzzles that have been read and not been answered.
    batch: Batch,
    /// The lines on which these begin, and those of puzzles that could not be read.
    lines: Vec<u64>,
    /// The errors of the latter, by their index in `lines`.
    errors: Vec<(usize, PuzzleError)>,
    /// The rows of a table in which they all are, as ranges of the block, if they are wanted.
    rows: Vec<Range<usize>>,
    searches_together: bool,
    /// Made for the first puzzle that is rated.
    rater: Option<Box<Rater>>,
    /// Made for the first canonical form.
    canonizer: Option<Box<Canonizer>>,
}

impl BlockSolver {
    /// A block solver with space for a number of puzzles, at most for [`BATCH_PUZZLES`]; it grows.
    pub(super) fn new(order: Order, task: &Task, puzzles: usize) -> Self {
        let strategy = task.strategy_for(order);
        let searches_together = strategy.searches_together();
        // At full size from the start, because a buffer that grows leaves its former memory to the
        // allocator of whichever thread it grows on. Memory that is never written to costs hardly
        // anything, but a program that answers one puzzle feels it.
        let space = if searches_together { puzzles.min(BATCH_PUZZLES) } else { 0 };
        Self {
            solver: strategy.solver(order),
            puzzle: Grid::empty(order),
            solution: Grid::empty(order),
            batch: Batch::with_capacity(order, space),
            lines: Vec::with_capacity(space),
            errors: Vec::new(),
            rows: Vec::new(),
            searches_together,
            rater: None,
            canonizer: None,
        }
    }

    /// Whether each puzzle is searched alone, so that it can be given up alone.
    fn is_by_puzzle(&self, cancel: &dyn Cancel) -> bool {
        cancel.is_by_puzzle() && !self.searches_together
    }

    /// The most puzzles that are kept before they are answered.
    fn most_kept(&self, cancel: &dyn Cancel) -> usize {
        if self.is_by_puzzle(cancel) { 1 } else { BATCH_PUZZLES }
    }

    /// Answers every puzzle of a block, in order, and passes each answer to `visit`.
    ///
    /// # Errors
    /// [`Cancelled`], with some answers not given, if `cancel` was raised.
    pub fn answer_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        cancel: &dyn Cancel,
        visit: impl FnMut(&Answer<'_>),
    ) -> Result<(), Cancelled> {
        self.visit_block(format, task, block, cancel, &mut EachAnswer(visit))
    }

    /// [`Self::answer_block`] for any visitor.
    pub(super) fn visit_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        cancel: &dyn Cancel,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        self.forget();
        self.keep_block(format, task, block, cancel, visitor)?;
        self.answer_kept(task, block.text, cancel, visitor)
    }

    /// Reads a block to its end. Full batches are answered, the rest is kept.
    fn keep_block(
        &mut self,
        format: &Format,
        task: &Task,
        block: Block<'_>,
        cancel: &dyn Cancel,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let mut records = Records::new(format, block.text, block.first_line);
        let most = self.most_kept(cancel);
        let wants_rows = visitor.wants_rows() && format.is_table();
        loop {
            if self.lines.len() == most {
                self.answer_kept(task, block.text, cancel, visitor)?;
            }
            let room = GROWTH.min(most - self.lines.len());
            let rest = records.rest();
            let read = self.keep_plain_9x9(&mut records, room);
            if wants_rows {
                let start = block.text.len() - rest.len();
                let mut begin = start;
                self.rows.extend(memchr::memchr_iter(b'\n', rest).take(read).map(|end| {
                    let row = begin..start + end;
                    begin = row.end + 1;
                    row
                }));
            }
            if read < room {
                let Some(record) = records.read(&mut self.puzzle) else { return Ok(()) };
                if wants_rows {
                    self.rows.push(row_within(block.text, record.row));
                }
                self.keep(record.line, record.error);
            }
        }
    }

    /// Answers each entry, whatever its text, as one puzzle of a notation with one puzzle a line.
    /// Entries count as lines from `first_line` on.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    #[doc(hidden)]
    pub fn answer_entries(
        &mut self,
        format: &Format,
        task: &Task,
        entries: &Entries,
        first_line: u64,
        cancel: &dyn Cancel,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let most = self.most_kept(cancel);
        self.forget();
        let mut at = 0;
        while at < entries.len() {
            if self.lines.len() == most {
                self.answer_kept(task, &[], cancel, visitor)?;
            }
            let line = first_line + at as u64;
            let room = PREFETCH_LINES.min(most - self.lines.len());
            let mut records = Records::new(format, entries.plain_9x9_lines(at, room), line);
            let read = self.keep_plain_9x9(&mut records, room);
            at += read;
            if read < PREFETCH_LINES && self.lines.len() < most && at < entries.len() {
                let line = first_line + at as u64;
                let error = format.read_line(entries.get(at), line, &mut self.puzzle).err();
                self.keep(line, error);
                at += 1;
            }
        }
        self.answer_kept(task, &[], cancel, visitor)
    }

    /// Answers every puzzle of a reader, in order, as if each stood on a line of its own, from
    /// `first_line` on.
    ///
    /// # Errors
    /// [`Cancelled`], with some answers not given, if `cancel` was raised.
    ///
    /// # Panics
    /// If the puzzles have another order than the solver is for.
    pub fn answer_puzzles(
        &mut self,
        task: &Task,
        reader: &mut impl PuzzleReader,
        first_line: u64,
        cancel: &dyn Cancel,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        assert_eq!(reader.order(), self.batch.order());
        let most = self.most_kept(cancel);
        self.forget();
        let mut line = first_line;
        loop {
            if self.lines.len() == most {
                self.answer_kept(task, &[], cancel, visitor)?;
            }
            let room = GROWTH.min(most - self.lines.len());
            let read = self.batch.push_up_to(room, |cells| read_plain(reader, cells));
            self.lines.extend(line..line + read as u64);
            line += read as u64;
            if read < room {
                let Some(result) = reader.read(&mut self.puzzle) else { break };
                self.keep(line, result.err().map(|problem| PuzzleError { problem, line: Some(line) }));
                line += 1;
            }
        }
        self.answer_kept(task, &[], cancel, visitor)
    }

    /// Reads plain 9x9 puzzles, at most `room`, and keeps them. Returns their number.
    fn keep_plain_9x9(&mut self, records: &mut Records<'_>, room: usize) -> usize {
        let first = records.line();
        let read = self.batch.push_up_to(room, |digits| {
            if records.are_in_rows() {
                dispatch(ReadPlain9x9::<true> { records, digits })
            } else {
                dispatch(ReadPlain9x9::<false> { records, digits })
            }
        });
        self.lines.extend(first..first + read as u64);
        read
    }

    /// Keeps the puzzle that has just been read.
    fn keep(&mut self, line: u64, error: Option<PuzzleError>) {
        match error {
            None => self.batch.push(&self.puzzle),
            Some(error) => self.errors.push((self.lines.len(), error)),
        }
        self.lines.push(line);
    }

    /// Forgets kept puzzles, of which a block that was cancelled may have left some.
    fn forget(&mut self) {
        self.batch.clear();
        self.lines.clear();
        self.errors.clear();
        self.rows.clear();
    }

    /// Answers the kept puzzles. `text` is the block that they were read from.
    fn answer_kept(
        &mut self,
        task: &Task,
        text: &[u8],
        cancel: &dyn Cancel,
        visitor: &mut impl Visitor,
    ) -> Result<(), Cancelled> {
        let limit = Limit { solutions: task.solutions(), nodes: task.node_limit, cancel: cancel.flag() };
        let is_given_up = self.search_kept(task, &limit, cancel);
        let (wants_puzzles, wants_rows) = (visitor.wants_puzzles(), visitor.wants_rows());
        let is_minimal = if wants_rows && task.adds(AddedColumn::Minimal) {
            are_minimal(&mut *self.solver, self.searches_together, &self.batch, &limit, cancel)?
        } else {
            Vec::new()
        };
        let mut kept_errors = mem::take(&mut self.errors);
        let mut errors = kept_errors.drain(..).peekable();
        let mut searched = 0;
        let mut place = 0;
        while let Some(&line) = self.lines.get(place) {
            let row = self.rows.get(place).and_then(|row| text.get(row.clone())).unwrap_or_default();
            if let Some((_, error)) = errors.next_if(|(of, _)| *of == place) {
                visitor.answer(&Answer {
                    line,
                    puzzle: None,
                    result: Err(error),
                    metrics: Metrics::default(),
                    row: RowFacts { text: row, ..RowFacts::default() },
                });
                place += 1;
                continue;
            }
            let search = self.batch.searches()[searched];
            let verdict = task.question.verdict(&search);
            if verdict == Verdict::Solved
                && let Some(bulk) = visitor.bulk()
            {
                // All up to the next one with another kind of answer.
                let end = searched + errors.peek().map_or(self.lines.len(), |(of, _)| *of) - place;
                let count = solved(task.question, &self.batch.searches()[searched..end]);
                let these = searched..searched + count;
                bulk.solutions(
                    &self.lines[place..place + count],
                    &self.batch.searches()[these.clone()],
                    self.batch.solutions(these),
                );
                searched += count;
                place += count;
                continue;
            }
            let mut metrics = search.metrics;
            // A puzzle with a solution keeps the rules, and one that breaks them is answered
            // without a guess.
            let may_break_rules = search.solutions == 0 && search.metrics.guesses == 0;
            if may_break_rules || wants_puzzles {
                self.puzzle.set_digits(self.batch.puzzle(searched));
            }
            if search.solutions > 0 && (wants_rows || verdict == Verdict::Solved) {
                self.solution.set_digits(self.batch.solution(searched));
            }
            let conflict = if may_break_rules { self.puzzle.first_conflict() } else { None };
            let columns = if wants_rows && conflict.is_none() {
                self.columns(task, searched, cancel)?
            } else {
                CostlyColumns::default()
            };
            // Not by way of `Found::of`: a result within a result costs lists of puzzles that have no
            // answer 2.5 %.
            let result = match (verdict, conflict) {
                (Verdict::Cancelled, _) if !is_given_up => return Err(Cancelled),
                // A puzzle that breaks the rules has no solution, but the broken rule is its error,
                // and it has no cost.
                (_, Some(conflict)) => {
                    metrics = Metrics::default();
                    Err(Problem::RuleBroken(conflict))
                }
                (Verdict::Solved, None) => Ok(Found::Solution(&self.solution)),
                (Verdict::Counted { count, exact }, None) => Ok(Found::Count { count, exact }),
                (Verdict::NoSolution, None) => Err(Problem::NoSolution),
                (Verdict::NotUnique, None) => Err(Problem::NotUnique),
                (Verdict::GaveUp { nodes }, None) => Err(Problem::GaveUp { nodes }),
                (Verdict::Cancelled, None) => Err(Problem::GaveUp { nodes: metrics.nodes }),
            };
            let result = result.map_err(|problem| PuzzleError { problem, line: Some(line) });
            let is_cut_short = matches!(search.stop, Stop::Nodes | Stop::Cancelled);
            let is_known = !is_cut_short || search.solutions >= limit.solutions;
            let puzzle = wants_puzzles.then_some(&self.puzzle);
            let row = RowFacts {
                text: row,
                is_read: true,
                solution: (wants_rows && search.solutions > 0).then_some(&self.solution),
                solutions: is_known.then_some(search.solutions),
                is_minimal: is_minimal.get(searched).copied().flatten(),
                rating: columns.rating.as_ref(),
                canonical: columns.canonical.as_ref(),
            };
            visitor.answer(&Answer { line, puzzle, result, metrics, row });
            searched += 1;
            place += 1;
        }
        drop(errors);
        self.errors = kept_errors;
        self.forget();
        Ok(())
    }

    /// Searches the kept puzzles. Returns whether `cancel` gave up the only one of them.
    fn search_kept(&mut self, task: &Task, limit: &Limit<'_>, cancel: &dyn Cancel) -> bool {
        let is_by_puzzle = self.is_by_puzzle(cancel) && !self.batch.is_empty();
        if is_by_puzzle {
            cancel.begin();
        }
        if task.measure {
            self.solver.measure_batch(&mut self.batch, limit);
        } else {
            self.solver.search_batch(&mut self.batch, limit);
        }
        is_by_puzzle && cancel.end()
    }

    /// The columns of a searched puzzle that keeps the rules. `self.solution` is its solution, if it
    /// has one.
    fn columns(
        &mut self,
        task: &Task,
        searched: usize,
        cancel: &dyn Cancel,
    ) -> Result<CostlyColumns, Cancelled> {
        let search = &self.batch.searches()[searched];
        let is_single = search.stop == Stop::Exhausted && search.solutions == 1;
        // A count up to 1 leaves open whether there is exactly one.
        let is_decided = search.stop == Stop::Exhausted || search.solutions >= 2;
        let rates = task.rates() && is_single;
        let has_form = task.adds(AddedColumn::Canonical) && self.puzzle.order() == Order::NINE && is_decided;
        if rates || has_form {
            self.puzzle.set_digits(self.batch.puzzle(searched));
        }
        let rating = if rates {
            let rater = self.rater.get_or_insert_default();
            Some(rate_one(rater, &self.puzzle, &RateTask::default(), cancel)?)
        } else {
            None
        };
        let canonical = has_form.then(|| {
            let canonizer = self.canonizer.get_or_insert_default();
            if is_single {
                canonizer.by_solution(&self.puzzle, &self.solution)
            } else {
                canonizer.by_puzzle(&self.puzzle)
            }
        });
        Ok(CostlyColumns { rating, canonical })
    }
}

/// The added columns that take more than the search.
#[derive(Default)]
struct CostlyColumns {
    rating: Option<Rating>,
    canonical: Option<CanonicalForm>,
}

/// A receiver of answers.
pub trait Visitor {
    /// The next answer.
    fn answer(&mut self, answer: &Answer<'_>);

    /// Whether answers shall carry their puzzles, which costs time because these have left the
    /// caches; default: true.
    fn wants_puzzles(&self) -> bool {
        true
    }

    /// Whether answers shall carry [`RowFacts`]; default: false.
    fn wants_rows(&self) -> bool {
        false
    }

    /// Where answers that are a solution shall go instead of to [`Self::answer`], because it is
    /// faster to take many at once; default: nowhere else.
    fn bulk(&mut self) -> Option<&mut dyn BulkVisitor> {
        None
    }
}

/// A receiver of solutions in bulk.
pub trait BulkVisitor {
    /// The next answers, which are all solutions: their lines, their searches, and the digits of
    /// their grids, contiguous.
    fn solutions(&mut self, lines: &[u64], searches: &[Search], digits: &[u8]);
}

struct EachAnswer<F>(F);

impl<F: FnMut(&Answer<'_>)> Visitor for EachAnswer<F> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.0(answer);
    }
}

/// The number of searches, from the first on, whose verdict is [`Verdict::Solved`].
fn solved(question: Question, searches: &[Search]) -> usize {
    let is_solved = |search: &&Search| question.verdict(search) == Verdict::Solved;
    searches.iter().take_while(is_solved).count()
}
