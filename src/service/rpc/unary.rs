//! Unary methods: `Solve`, `Validate`, `Check` and `Count`, a text in and one response out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use tonic::{Request, Response, Status};
use tracing::Span;

use crate::answer::{
    Answer, Block, Cancel, Cancelled, Check, IdleWorkers, Tally, Task, Validation, Workers, check_block,
    single_error, validate_block,
};
use crate::grid::Grid;
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::{Settings, text_hint, unreadable};
use crate::service::sched::pools::Size;
use crate::service::wire::convert::{self, internal_error};
use crate::service::wire::line_count::count_lines;
use crate::service::wire::proto;
use crate::service::wire::status::invalid;
use crate::service::wire::status::work_broke_down;
use crate::solver::Metrics;
use crate::text::{Format, FormatError, Hint, Problem, PuzzleError, Records, sniff};

/// The most errors that Validate returns.
const MAX_ERRORS: usize = 1000;

const EMPTY: PuzzleError = PuzzleError { problem: Problem::Empty, line: None };

/// The text of a request, with its format.
pub(crate) struct Text {
    bytes: Bytes,
    format: Format,
    first_line: u64,
    idle_workers: Arc<IdleWorkers>,
}

impl Text {
    /// Detects the format of a text. The inner error is the answer to a text without a puzzle or
    /// with a bad header.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the options do not fit the text; `RESOURCE_EXHAUSTED` if it has too
    /// many lines.
    pub(crate) fn open(
        context: &Context,
        text: &Bytes,
        hint: &Hint,
    ) -> Result<Result<Self, PuzzleError>, Status> {
        let lines = count_lines(text);
        context.check_lines(lines)?;
        Span::current().record("lines", lines);
        match sniff(text, hint, true) {
            Ok(None) => Ok(Err(EMPTY)),
            Ok(Some(preamble)) => Ok(Ok(Self {
                bytes: text.slice(preamble.body..),
                format: preamble.format,
                first_line: preamble.lines + 1,
                idle_workers: Arc::clone(context.idle_workers()),
            })),
            Err(FormatError::Puzzle(error)) => Ok(Err(PuzzleError { line: None, ..error })),
            Err(error) => Err(unreadable(&error, "text")),
        }
    }

    /// The format of the text.
    pub(crate) const fn format(&self) -> &Format {
        &self.format
    }

    fn size(&self) -> Size {
        Size::of(self.bytes.len())
    }

    fn block(&self) -> Block<'_> {
        Block { text: &self.bytes, first_line: self.first_line }
    }

    /// The lines on which the first `limit` puzzles begin.
    fn lines(&self, limit: usize) -> Vec<u64> {
        let mut records = Records::new(&self.format, &self.bytes, self.first_line);
        let mut grid = Grid::empty(self.format.order());
        std::iter::from_fn(|| records.read(&mut grid).map(|record| record.line)).take(limit).collect()
    }

    fn is_single(&self) -> bool {
        self.lines(2).len() == 1
    }

    /// The only puzzle. `None` if there are several.
    pub(crate) fn single(&self) -> Option<Result<Grid, PuzzleError>> {
        let mut records = Records::new(&self.format, &self.bytes, self.first_line);
        let mut puzzle = Grid::empty(self.format.order());
        let Some(record) = records.read(&mut puzzle) else { return Some(Err(EMPTY)) };
        if records.read(&mut Grid::empty(self.format.order())).is_some() {
            return None;
        }
        Some(record.error.map_or(Ok(puzzle), |error| Err(self.single_error(&error))))
    }

    fn single_error(&self, error: &PuzzleError) -> PuzzleError {
        single_error(&self.format, &self.bytes, error)
    }

    fn answer(
        &self,
        task: Task,
        cancel: &dyn Cancel,
        visit: impl FnMut(&Answer<'_>),
    ) -> Result<(), Cancelled> {
        let workers = Workers::sharing(&self.idle_workers, self.format.clone(), task);
        workers.with(|worker| worker.answer_block(&self.format, &task, self.block(), cancel, visit))
    }
}

/// Answers the puzzles of a text.
pub(crate) async fn solve(
    context: &Arc<Context>,
    request: Request<proto::SolveRequest>,
) -> Result<Response<proto::SolveResponse>, Status> {
    let call = context.admit(&request)?;
    let request = request.into_inner();
    let Settings { task, hint } = context.settings(&request.options.unwrap_or_default())?;
    let answers = match Text::open(context, &request.text, &hint)? {
        Err(error) => vec![convert::error_answer(&error)],
        Ok(text) => {
            let task = context.for_order(task, text.format.order())?;
            match answer_at_once(&text, task) {
                Some(answers) => answers,
                None => {
                    context.run(&call, text.size(), move |cancel| answer_text(&text, task, cancel)).await?
                }
            }
        }
    };
    Ok(Response::new(proto::SolveResponse { answers }))
}

/// The most text that is answered without the worker pools: two 9x9 puzzles.
const AT_ONCE_BYTES: usize = 2 * 82;

/// The most nodes of a puzzle that is answered without the worker pools, at about a microsecond
/// each.
const AT_ONCE_NODES: u64 = 100;

/// Answers a puzzle or two on this thread, if that takes no longer than handing them to a pool and
/// back: two wake-ups of threads, some ten times what most puzzles take. `None` if it takes longer.
///
/// A strategy that searches puzzles together visits the same nodes under any limit, so an answer
/// found here is the one that the full node limit would give.
fn answer_at_once(text: &Text, task: Task) -> Option<Vec<proto::Answer>> {
    let is_quick = text.bytes.len() <= AT_ONCE_BYTES
        && task.strategy_for(text.format.order()).searches_together()
        && task.node_limit > AT_ONCE_NODES
        && !task.measure;
    if !is_quick {
        return None;
    }
    let attempt = Task { node_limit: AT_ONCE_NODES, ..task };
    let never = AtomicBool::new(false);
    let (answers, tally) = answers_to(text, attempt, &never).ok()?;
    if tally.errors.contains_key(Problem::GaveUp { nodes: 0 }.code()) {
        return None;
    }
    metrics::answered(&tally);
    Some(answers)
}

/// Answers every puzzle, even if the work panics, and counts the answers.
fn answer_text(text: &Text, task: Task, cancel: &dyn Cancel) -> Result<Vec<proto::Answer>, Cancelled> {
    let (answers, tally) = answers_to(text, task, cancel)?;
    metrics::answered(&tally);
    Ok(answers)
}

/// The answers to every puzzle, and their tally.
fn answers_to(
    text: &Text,
    task: Task,
    cancel: &dyn Cancel,
) -> Result<(Vec<proto::Answer>, Tally), Cancelled> {
    let is_single = text.is_single();
    let (mut answers, mut tally) = (Vec::new(), Tally::default());
    let work = AssertUnwindSafe(|| {
        text.answer(task, cancel, |answer| {
            tally.count(&task, answer);
            let mut wire = convert::answer(answer, &text.format);
            if is_single {
                wire.line = 0;
                if let Err(error) = &answer.result {
                    wire.result = Some(convert::error_result(&text.single_error(error)));
                }
            }
            answers.push(wire);
        })
    });
    match catch_unwind(work) {
        Ok(finished) => finished?,
        Err(_) => {
            let line = |line| if is_single { None } else { Some(line) };
            let internal = |number| convert::error_answer(&internal_error(line(number)));
            answers = text.lines(usize::MAX).into_iter().map(internal).collect();
            tally = Tally::default();
            for _ in &answers {
                tally.count_one(Some(Problem::Internal.code()), &Metrics::default());
            }
        }
    }
    if answers.is_empty() {
        answers.push(convert::error_answer(&EMPTY));
    }
    Ok((answers, tally))
}

/// Validates the puzzles of a text without solving them.
pub(crate) async fn validate(
    context: &Arc<Context>,
    request: Request<proto::ValidateRequest>,
) -> Result<Response<proto::ValidateResponse>, Status> {
    let call = context.admit(&request)?;
    let request = request.into_inner();
    let hint = text_hint(request.options.as_ref())?;
    let asked = usize::try_from(request.error_limit).unwrap_or(MAX_ERRORS);
    let limit = if asked == 0 { MAX_ERRORS } else { asked.min(MAX_ERRORS) };
    let found = match Text::open(context, &request.text, &hint)? {
        Err(error) => Validation { puzzles: 0, bad: 0, errors: vec![error] },
        Ok(text) => context.run(&call, text.size(), move |_| Ok(validate_text(&text, limit))).await?,
    };
    Ok(Response::new(proto::ValidateResponse {
        valid: found.errors.is_empty(),
        puzzles: found.puzzles,
        bad_puzzles: found.bad,
        errors: found.errors.iter().map(convert::puzzle_error).collect(),
    }))
}

fn validate_text(text: &Text, limit: usize) -> Validation {
    let mut found = validate_block(&text.format, text.block(), limit);
    match found.puzzles {
        0 => found.errors.push(EMPTY),
        1 => found.errors.iter_mut().for_each(|error| *error = text.single_error(error)),
        _ => {}
    }
    found
}

/// Checks whether grids are right so far.
pub(crate) async fn check(
    context: &Arc<Context>,
    request: Request<proto::CheckRequest>,
) -> Result<Response<proto::CheckResponse>, Status> {
    let call = context.admit(&request)?;
    let request = request.into_inner();
    let hint = text_hint(request.options.as_ref())?;
    let grids = match Text::open(context, &request.text, &hint)? {
        Err(error) => vec![unreadable_grid(error)],
        Ok(text) => context.run(&call, text.size(), move |_| Ok(check_text(&text))).await?,
    };
    Ok(Response::new(proto::CheckResponse { grids }))
}

fn check_text(text: &Text) -> Vec<proto::CheckedGrid> {
    let is_single = text.is_single();
    let mut grids = Vec::new();
    check_block(&text.format, text.block(), |check| {
        grids.push(if is_single {
            let error = check.error.as_ref().map(|error| text.single_error(error));
            convert::checked_grid(&Check { line: None, error, ..check.clone() })
        } else {
            convert::checked_grid(check)
        });
    });
    if grids.is_empty() {
        grids.push(unreadable_grid(EMPTY));
    }
    grids
}

fn unreadable_grid(error: PuzzleError) -> proto::CheckedGrid {
    convert::checked_grid(&Check { line: None, blanks: 0, flaws: Vec::new(), error: Some(error) })
}

/// Counts the solutions of one puzzle.
pub(crate) async fn count(
    context: &Arc<Context>,
    request: Request<proto::CountRequest>,
) -> Result<Response<proto::CountResponse>, Status> {
    let call = context.admit(&request)?;
    let request = request.into_inner();
    let Settings { task, hint } = context.count_settings(&request)?;
    let answer = match Text::open(context, &request.text, &hint)? {
        Err(error) => convert::error_answer(&error),
        Ok(text) => {
            let task = context.for_order(task, text.format.order())?;
            if text.lines(2).len() > 1 {
                let what = "Count takes one puzzle. Use Solve with QUESTION_COUNT for several.";
                return Err(invalid("text", what));
            }
            let answers =
                context.run(&call, text.size(), move |cancel| answer_text(&text, task, cancel)).await?;
            let first = answers.into_iter().next();
            first.ok_or_else(work_broke_down)?
        }
    };
    Ok(Response::new(convert::counted(answer)))
}
