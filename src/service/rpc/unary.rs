//! Unary methods: `Solve`, `Validate`, `Check` and `Count`, a text in and one response out.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tonic::{Request, Response};

use crate::answer::{Cancel, Cancelled, Check, Tally, Task, Validation, check_block, validate_block};
use crate::pipeline::{Panicked, catch_panic};
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::CallResult;
use crate::service::rpc::options::{
    SolveSettings, capped, count_settings, refuse_columns, solve_settings, task_for_order, text_hint,
};
use crate::service::rpc::text::{EMPTY, RequestText, TextField, first_line};
use crate::service::wire::convert;
use crate::service::wire::proto;
use crate::service::wire::status::work_broke_down;
use crate::solver::Metrics;
use crate::text::{Problem, PuzzleError};

/// The most errors that Validate returns.
const MAX_ERRORS: usize = 1000;

/// The most flaws that Check returns, in all grids together: a grid has up to 1,800.
const MAX_FLAWS: usize = 1000;

/// Answers the puzzles of a text.
pub(crate) async fn solve(
    context: &Arc<Context>,
    request: Request<proto::SolveRequest>,
) -> CallResult<proto::SolveResponse> {
    let call = context.admit(&request)?;
    let proto::SolveRequest { options, text, puzzle } = request.into_inner();
    let SolveSettings { task, hint } = solve_settings(context, &options.unwrap_or_default())?;
    refuse_columns(&task, "Solve")?;
    let answers = match RequestText::open(context, &TextField::of(text, puzzle)?, &hint, None)? {
        Err(error) => vec![convert::error_answer(&error)],
        Ok(text) => {
            let task = task_for_order(context, task, text.format().order())?;
            let puzzles = text.lines(usize::MAX).len() as u64;
            call.take_puzzles(puzzles).await?;
            // Those who send hard puzzles do not have each tried on the thread that moves bytes.
            let attempt = if context.client(&call.state).outlasts_handover() {
                None
            } else {
                answer_at_once(&text, puzzles, task)
            };
            match attempt {
                Some(answers) => answers,
                None => {
                    context.run(&call, text.size(), move |cancel| answer_text(&text, task, cancel)).await?
                }
            }
        }
    };
    Ok(Response::new(proto::SolveResponse { answers }))
}

/// The most text that is answered without the worker pools: sixteen 9x9 puzzles.
const AT_ONCE_BYTES: usize = 16 * 82;

/// The most nodes of the puzzles that are answered without the worker pools, at less than half a
/// microsecond each. They share them evenly.
const AT_ONCE_NODES: u64 = 100;

/// Answers a few puzzles on this thread, if that takes no longer than handing them to a pool and
/// back: two wake-ups of threads, some fifty times what most puzzles take. `None` if it takes
/// longer.
///
/// A strategy that searches puzzles together visits the same nodes under any limit, so an answer
/// found here is the one that the full node limit would give.
fn answer_at_once(text: &RequestText, puzzles: u64, task: Task) -> Option<Vec<proto::Answer>> {
    let nodes = AT_ONCE_NODES / puzzles.max(1);
    let is_quick = text.len() <= AT_ONCE_BYTES
        && task.strategy_for(text.format().order()).searches_together()
        && task.node_limit > nodes
        && !task.measure;
    if !is_quick {
        return None;
    }
    let attempt = Task { node_limit: nodes, ..task };
    let never = AtomicBool::new(false);
    let (answers, tally) = answers_to(text, attempt, &never).ok()?;
    if tally.errors.contains_key(Problem::GaveUp { nodes: 0 }.code()) {
        return None;
    }
    metrics::answered(&tally);
    Some(answers)
}

/// Answers every puzzle, even if the work panics, and counts the answers.
fn answer_text(text: &RequestText, task: Task, cancel: &dyn Cancel) -> Result<Vec<proto::Answer>, Cancelled> {
    let (answers, tally) = answers_to(text, task, cancel)?;
    metrics::answered(&tally);
    Ok(answers)
}

/// The answers to every puzzle, and their tally.
fn answers_to(
    text: &RequestText,
    task: Task,
    cancel: &dyn Cancel,
) -> Result<(Vec<proto::Answer>, Tally), Cancelled> {
    let is_single = text.is_single();
    let (mut answers, mut tally) = (Vec::new(), Tally::default());
    let work = || {
        text.answer(task, cancel, |answer| {
            tally.count(&task, answer);
            let mut wire = convert::answer(answer, text.format());
            if is_single {
                wire.line = 0;
                if let Err(error) = &answer.result {
                    wire.result = Some(convert::error_result(&text.single_error(error)));
                }
            }
            answers.push(wire);
        })
    };
    match catch_panic(work) {
        Ok(finished) => finished?,
        Err(Panicked) => {
            answers = text.internal_errors().map(|error| convert::error_answer(&error)).collect();
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
) -> CallResult<proto::ValidateResponse> {
    let call = context.admit(&request)?;
    let proto::ValidateRequest { options, text, error_limit, puzzle, first_line: line } =
        request.into_inner();
    let hint = text_hint(options.as_ref())?;
    let first_line = first_line(line)?;
    let limit = capped(error_limit, MAX_ERRORS);
    let (mut found, format) =
        match RequestText::open(context, &TextField::of(text, puzzle)?, &hint, first_line)? {
            Err(error) => (Validation { puzzles: 0, bad: 0, errors: vec![error] }, None),
            Ok(text) => {
                let format = convert::text_options(text.format());
                let found = context.run(&call, text.size(), move |_| Ok(validate_text(&text, limit))).await?;
                (found, Some(format))
            }
        };
    if first_line.is_some_and(|line| line > 1) {
        // The puzzles are in the parts before.
        found.errors.retain(|error| *error != EMPTY);
    }
    Ok(Response::new(proto::ValidateResponse {
        valid: found.errors.is_empty(),
        puzzles: found.puzzles,
        bad_puzzles: found.bad,
        errors: found.errors.iter().map(convert::puzzle_error).collect(),
        format: format.filter(|_| found.puzzles > 0),
    }))
}

fn validate_text(text: &RequestText, limit: usize) -> Validation {
    let mut found = validate_block(text.format(), text.block(), limit);
    match found.puzzles {
        0 => found.errors.push(EMPTY),
        1 if text.is_single() => {
            found.errors.iter_mut().for_each(|error| *error = text.single_error(error));
        }
        _ => {}
    }
    found
}

/// Checks whether grids are right so far.
pub(crate) async fn check(
    context: &Arc<Context>,
    request: Request<proto::CheckRequest>,
) -> CallResult<proto::CheckResponse> {
    let call = context.admit(&request)?;
    let proto::CheckRequest { options, text, puzzle } = request.into_inner();
    let hint = text_hint(options.as_ref())?;
    let grids = match RequestText::open(context, &TextField::of(text, puzzle)?, &hint, None)? {
        Err(error) => vec![unreadable_grid(error)],
        Ok(text) => context.run(&call, text.size(), move |cancel| check_text(&text, cancel)).await?,
    };
    Ok(Response::new(proto::CheckResponse { grids }))
}

fn check_text(text: &RequestText, cancel: &dyn Cancel) -> Result<Vec<proto::CheckedGrid>, Cancelled> {
    let is_single = text.is_single();
    let mut grids = Vec::new();
    let mut flaws_left = MAX_FLAWS;
    check_block(text.format(), text.block(), cancel.flag(), |check| {
        let grid = if is_single {
            let error = check.error.as_ref().map(|error| text.single_error(error));
            convert::checked_grid(&Check { line: None, error, ..check.clone() }, flaws_left)
        } else {
            convert::checked_grid(check, flaws_left)
        };
        flaws_left -= grid.flaws.len();
        grids.push(grid);
    })?;
    if grids.is_empty() {
        grids.push(unreadable_grid(EMPTY));
    }
    Ok(grids)
}

fn unreadable_grid(error: PuzzleError) -> proto::CheckedGrid {
    convert::checked_grid(&Check { line: None, blanks: 0, flaws: Vec::new(), error: Some(error) }, 0)
}

/// Counts the solutions of one puzzle.
pub(crate) async fn count(
    context: &Arc<Context>,
    request: Request<proto::CountRequest>,
) -> CallResult<proto::CountResponse> {
    let call = context.admit(&request)?;
    let request = request.into_inner();
    let SolveSettings { task, hint } = count_settings(context, &request)?;
    let field = TextField::of(request.text, request.puzzle)?;
    let answer = match RequestText::open(context, &field, &hint, None)? {
        Err(error) => convert::error_answer(&error),
        Ok(text) => {
            let task = task_for_order(context, task, text.format().order())?;
            if text.lines(2).len() > 1 {
                let what = "Count takes one puzzle. Use Solve with QUESTION_COUNT for several.";
                return Err(field.invalid(what));
            }
            call.take_puzzles(1).await?;
            let answers =
                context.run(&call, text.size(), move |cancel| answer_text(&text, task, cancel)).await?;
            let first = answers.into_iter().next();
            first.ok_or_else(work_broke_down)?
        }
    };
    Ok(Response::new(convert::counted(answer)))
}
