//! The texts of requests: the field that holds one, its format, and its puzzles.

use std::sync::Arc;

use bytes::Bytes;
use tonic::Status;
use tracing::Span;

use crate::answer::{Answer, Block, Cancel, Cancelled, IdleSolvers, Solvers, Task, single_error};
use crate::grid::Grid;
use crate::service::context::Context;
use crate::service::net::observe::as_recorded;
use crate::service::rpc::options::{refuse_what_is_not_plain, unreadable};
use crate::service::sched::pools::WorkSize;
use crate::service::wire::convert::internal_error;
use crate::service::wire::line_count::count_lines;
use crate::service::wire::status::invalid;
use crate::text::{
    Format, FormatError, Hint, Preamble, Problem, PuzzleError, Records, Rest, sniff, sniff_part,
};

/// The error of a text without a puzzle.
pub(crate) const EMPTY: PuzzleError = PuzzleError { problem: Problem::Empty, line: None };

/// The highest line number that a text may begin with, so that none can overflow the counter.
const LAST_LINE: u64 = 1 << 62;

/// Reads the number of a first line; `None` for 0, which stands for none.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is too large.
pub(crate) fn first_line(number: u64) -> Result<Option<u64>, Status> {
    match number {
        0 => Ok(None),
        1..=LAST_LINE => Ok(Some(number)),
        _ => Err(invalid("first_line", format!("Lines are numbered up to {LAST_LINE}."))),
    }
}

/// A text as it came, with the name of its field, which statuses repeat.
#[derive(Clone, Debug)]
pub(crate) struct TextField {
    name: &'static str,
    bytes: Bytes,
}

impl TextField {
    /// The text in the field of this name.
    pub(crate) const fn new(name: &'static str, bytes: Bytes) -> Self {
        Self { name, bytes }
    }

    /// The text of a request that has it in `text` or, as a string, in `puzzle`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is in both.
    pub(crate) fn of(text: Bytes, puzzle: String) -> Result<Self, Status> {
        let (text, puzzle) = (Self::new("text", text), Self::new("puzzle", puzzle.into()));
        match (text.bytes.is_empty(), puzzle.bytes.is_empty()) {
            (false, false) => {
                Err(puzzle.invalid("`text` and `puzzle` hold the same thing: send one of them."))
            }
            (true, false) => Ok(puzzle),
            (_, true) => Ok(text),
        }
    }

    /// The name of the field.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The length of the text in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The status `INVALID_ARGUMENT` for the field.
    pub(crate) fn invalid(&self, what: impl Into<String>) -> Status {
        invalid(self.name, what)
    }
}

/// A part of a text with whole puzzles as it is read: a puzzle a line.
pub(crate) fn readable(format: &Format, text: Bytes) -> Bytes {
    format.convert(&text, Rest::Nothing).map_or(text, |converted| converted.text.into())
}

/// A text with its format.
pub(crate) struct RequestText {
    bytes: Bytes,
    format: Format,
    /// The number of the first line of `bytes`.
    first_line: u64,
    /// Whether it is a part of a larger text, so that a puzzle has a line even if it is alone.
    is_part: bool,
    idle_solvers: Arc<IdleSolvers>,
}

/// A puzzle that was picked out of a text.
pub(crate) struct PickedPuzzle {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// The number of puzzles in the text.
    pub(crate) count: u64,
    /// The line on which it begins.
    pub(crate) line: u64,
    /// The puzzle, which keeps the rules.
    pub(crate) puzzle: Grid,
}

/// Why no puzzle was picked.
pub(crate) enum NotPicked {
    /// The puzzle is bad, or the text has none.
    Bad(PuzzleError),
    /// The text has only so many puzzles.
    Beyond(u64),
}

impl RequestText {
    /// Detects the format of a text, of which the first line has the number `first_line`, if it is
    /// a part of a larger one. The inner error is the answer to a text without a puzzle or with a
    /// bad header.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the options do not fit the text; `RESOURCE_EXHAUSTED` if it has too
    /// many lines.
    pub(crate) fn open(
        context: &Context,
        field: &TextField,
        hint: &Hint,
        first_line: Option<u64>,
    ) -> Result<Result<Self, PuzzleError>, Status> {
        let TextField { name, bytes } = field;
        if first_line.is_none_or(|line| line == 1) {
            refuse_what_is_not_plain(bytes, hint, name)?;
        }
        let lines = count_lines(bytes);
        context.check_lines(lines)?;
        Span::current().record("lines", as_recorded(lines as u64));
        let before = first_line.map_or(0, |line| line - 1);
        let sniffed = match first_line {
            None | Some(1) => sniff(bytes, hint, true),
            Some(_) => sniff_part(bytes, hint),
        };
        match sniffed {
            Ok(None) => Ok(Err(EMPTY)),
            Ok(Some(Preamble { misfit: Some(misfit), .. })) if misfit.is_of_line_ends() => {
                Err(field.invalid(misfit.after(before).to_string()))
            }
            Ok(Some(preamble)) => Ok(Ok(Self {
                bytes: readable(&preamble.format, bytes.slice(preamble.body..)),
                format: preamble.format,
                first_line: first_line.unwrap_or(1) + preamble.lines,
                is_part: first_line.is_some(),
                idle_solvers: Arc::clone(context.idle_solvers()),
            })),
            Err(FormatError::Puzzle(error)) => Ok(Err(PuzzleError { line: None, ..error })),
            Err(error) => Err(unreadable(&error.below(before), name)),
        }
    }

    /// The format of the text.
    pub(crate) const fn format(&self) -> &Format {
        &self.format
    }

    /// Its length in bytes, without what comes before the first puzzle.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The size of work on all of it.
    pub(crate) const fn size(&self) -> WorkSize {
        WorkSize::of(self.len())
    }

    /// The text as a block of whole puzzles.
    pub(crate) fn block(&self) -> Block<'_> {
        Block { text: &self.bytes, first_line: self.first_line }
    }

    fn records(&self) -> Records<'_> {
        Records::new(&self.format, &self.bytes, self.first_line)
    }

    /// The lines on which the first `limit` puzzles begin.
    pub(crate) fn lines(&self, limit: usize) -> Vec<u64> {
        let mut records = self.records();
        let mut grid = Grid::empty(self.format.order());
        std::iter::from_fn(|| records.read(&mut grid).map(|record| record.line)).take(limit).collect()
    }

    /// The error of each puzzle after the work on them has panicked.
    pub(crate) fn internal_errors(&self) -> impl Iterator<Item = PuzzleError> {
        let is_single = self.is_single();
        let lines = self.lines(usize::MAX).into_iter();
        lines.map(move |line| internal_error(Some(line).filter(|_| !is_single)))
    }

    /// Whether its only puzzle is spoken of without a line.
    pub(crate) fn is_single(&self) -> bool {
        !self.is_part && self.lines(2).len() == 1
    }

    /// The only puzzle. `None` if there are several.
    pub(crate) fn single(&self) -> Option<Result<Grid, PuzzleError>> {
        let mut records = self.records();
        let mut puzzle = Grid::empty(self.format.order());
        let Some(record) = records.read(&mut puzzle) else { return Some(Err(EMPTY)) };
        if records.read(&mut Grid::empty(self.format.order())).is_some() {
            return None;
        }
        Some(record.error.map_or(Ok(puzzle), |error| Err(self.single_error(&error))))
    }

    /// The error of the only puzzle, in the words for a puzzle without a line.
    pub(crate) fn single_error(&self, error: &PuzzleError) -> PuzzleError {
        single_error(&self.format, &self.bytes, error)
    }

    /// Answers every puzzle.
    pub(crate) fn answer(
        &self,
        task: Task,
        cancel: &dyn Cancel,
        visit: impl FnMut(&Answer<'_>),
    ) -> Result<(), Cancelled> {
        let solvers = Solvers::sharing(&self.idle_solvers, self.format.clone(), task);
        solvers.with(|solver| solver.answer_block(&self.format, &task, self.block(), cancel, visit))
    }

    /// Picks the puzzle with this number, from 1, or a random one of those that are well formed,
    /// all with the same probability. The others may be bad.
    pub(crate) fn pick(&self, number: Option<u64>) -> Result<PickedPuzzle, NotPicked> {
        let mut records = self.records();
        let mut puzzle = Grid::empty(self.format.order());
        let (mut count, mut good) = (0, 0);
        let mut picked = None;
        while let Some(record) = records.read(&mut puzzle) {
            count += 1;
            if number.is_some_and(|number| number != count) {
                continue;
            }
            let error = record.error.or_else(|| {
                let conflict = puzzle.first_conflict()?;
                Some(PuzzleError { problem: Problem::RuleBroken(conflict), line: Some(record.line) })
            });
            match error {
                None => {
                    good += 1;
                    // Each good puzzle takes the place of the one before with this probability, so
                    // in the end all had the same.
                    if rand::random_range(1..=good) == good {
                        picked = Some(Ok((count, record.line, puzzle.clone())));
                    }
                }
                Some(error) if picked.is_none() => picked = Some(Err(error)),
                Some(_) => {}
            }
        }
        match picked {
            Some(Ok((number, line, puzzle))) => Ok(PickedPuzzle { number, count, line, puzzle }),
            Some(Err(error)) if count == 1 && !self.is_part => Err(NotPicked::Bad(self.single_error(&error))),
            Some(Err(error)) => Err(NotPicked::Bad(error)),
            None if count == 0 => Err(NotPicked::Bad(EMPTY)),
            None => Err(NotPicked::Beyond(count)),
        }
    }
}
