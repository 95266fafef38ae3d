//! `Rate` and `Steps`: how hard puzzles are for a person, and whole solutions by hand.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::answer::{Cancel, Cancelled, Outlook, RateTask, Raters, Task, outlook};
use crate::pipeline::{Panicked, catch_panic};
use crate::service::context::Context;
use crate::service::rpc::CallResult;
use crate::service::rpc::hint::{ReadBoard, read_board, technique_set};
use crate::service::rpc::options::{effective_node_limit, score, task_for_order, text_hint};
use crate::service::rpc::text::{EMPTY, RequestText, TextField};
use crate::service::sched::pools::WorkSize;
use crate::service::wire::convert::{self, internal_error};
use crate::service::wire::proto;
use crate::service::wire::status::invalid;
use crate::solver::Limit;
use crate::techniques::{DEFAULT_EFFORT, Ending, Options, Position, Score, Steps, TechniqueSet};
use crate::text::{Problem, PuzzleError};

/// Reads the highest rating; `None` for 0, which stands for no limit.
///
/// # Errors
/// `INVALID_ARGUMENT` for what is no rating.
fn up_to(tenths: u32) -> Result<Option<Score>, Status> {
    score(tenths).map_err(|what| invalid("up_to_tenths", what))
}

/// Rates the puzzles of a text.
pub(crate) async fn rate(
    context: &Arc<Context>,
    request: Request<proto::RateRequest>,
) -> CallResult<proto::RateResponse> {
    let call = context.admit(&request)?;
    let proto::RateRequest { options, text, puzzle, techniques, up_to_tenths, node_limit } =
        request.into_inner();
    let hint = text_hint(options.as_ref())?;
    let field = TextField::of(text, puzzle)?;
    let task = RateTask {
        techniques: technique_set(&techniques)?,
        up_to: up_to(up_to_tenths)?,
        node_limit: effective_node_limit(context, node_limit),
        ..RateTask::default()
    };
    let ratings = match RequestText::open(context, &field, &hint, None)? {
        Err(error) => vec![convert::rating_error(&error)],
        Ok(text) => {
            task_for_order(context, Task::default(), text.format().order())?;
            call.take_puzzles(text.lines(usize::MAX).len() as u64).await?;
            // A rating takes a hundred times as long as a search.
            let size = if text.is_single() { WorkSize::Small } else { WorkSize::Large };
            context.run(&call, size, move |cancel| rate_text(&text, task, cancel)).await?
        }
    };
    Ok(Response::new(proto::RateResponse { ratings }))
}

/// Rates every puzzle, even if the work panics.
fn rate_text(
    text: &RequestText,
    task: RateTask,
    cancel: &dyn Cancel,
) -> Result<Vec<proto::Rating>, Cancelled> {
    let is_single = text.is_single();
    let mut ratings = Vec::new();
    let raters = Raters::new(text.format().clone(), task);
    let work = || {
        raters.rate(text.block(), cancel, |row| {
            let mut rating = convert::rating(row);
            if is_single {
                rating.line = 0;
                if let Err(error) = &row.result {
                    let clues = rating.clues;
                    rating = convert::rating_error(&text.single_error(error));
                    rating.clues = clues;
                }
            }
            ratings.push(rating);
        })
    };
    match catch_panic(work) {
        Ok(tally) => {
            tally?;
        }
        Err(Panicked) => {
            ratings = text.internal_errors().map(|error| convert::rating_error(&error)).collect();
        }
    }
    if ratings.is_empty() {
        ratings.push(convert::rating_error(&EMPTY));
    }
    Ok(ratings)
}

/// A board that is solved by hand.
struct StepsJob {
    position: Position,
    techniques: TechniqueSet,
    up_to: Option<Score>,
    step_limit: usize,
    task: Task,
}

/// Solves a board by hand.
pub(crate) async fn steps(
    context: &Arc<Context>,
    request: Request<proto::StepsRequest>,
) -> CallResult<proto::StepsResponse> {
    let call = context.admit(&request)?;
    let proto::StepsRequest {
        options,
        text,
        puzzle,
        candidates,
        techniques,
        up_to_tenths,
        step_limit,
        node_limit,
    } = request.into_inner();
    let hint = text_hint(options.as_ref())?;
    let field = TextField::of(text, puzzle)?;
    let techniques = technique_set(&techniques)?;
    let up_to = up_to(up_to_tenths)?;
    let ReadBoard { position, .. } = match read_board(context, &field, &hint, &candidates, "Steps")? {
        Err(error) => return Ok(Response::new(steps_error(&error))),
        Ok(board) => board,
    };
    let task = Task { node_limit: effective_node_limit(context, node_limit), ..Task::default() };
    let task = task_for_order(context, task, position.order())?;
    let step_limit =
        if step_limit == 0 { usize::MAX } else { usize::try_from(step_limit).unwrap_or(usize::MAX) };
    call.take_puzzles(1).await?;
    let asked = StepsJob { position, techniques, up_to, step_limit, task };
    let told = context.run(&call, WorkSize::Small, move |cancel| asked.steps(cancel)).await?;
    Ok(Response::new(told))
}

/// The response for a board that could not be read.
fn steps_error(error: &PuzzleError) -> proto::StepsResponse {
    let error = convert::puzzle_error(error);
    proto::StepsResponse {
        message: error.message.clone(),
        error: Some(error),
        ..proto::StepsResponse::default()
    }
}

impl StepsJob {
    /// Finds the steps, even if the work panics. Those found in the time of a puzzle are kept.
    fn steps(&self, cancel: &dyn Cancel) -> Result<proto::StepsResponse, Cancelled> {
        cancel.begin();
        let found = catch_panic(|| self.walk(cancel));
        let is_given_up = cancel.end();
        match found {
            Err(Panicked) => Ok(steps_error(&internal_error(None))),
            Ok((_, true)) if !is_given_up => Err(Cancelled),
            Ok((response, _)) => Ok(response),
        }
    }

    /// The steps, and whether the work was cancelled before their end.
    fn walk(&self, cancel: &dyn Cancel) -> (proto::StepsResponse, bool) {
        let order = self.position.order();
        let limit = Limit { solutions: 2, nodes: self.task.node_limit, cancel: cancel.flag() };
        let mut solver = self.task.strategy_for(order).solver(order);
        let ahead = outlook(&self.position, &self.position.grid(), solver.as_mut(), &limit);
        let (techniques, effort) = (ahead.allowed(self.techniques), ahead.effort(DEFAULT_EFFORT));
        match ahead {
            Outlook::Stuck(stuck) => {
                let response = proto::StepsResponse {
                    message: stuck.to_string(),
                    stuck: Some(convert::stuck(&stuck)),
                    candidates_after: self.position.pencil_marks(),
                    ..proto::StepsResponse::default()
                };
                return (response, false);
            }
            Outlook::Cancelled { nodes, .. } => {
                let error = PuzzleError { problem: Problem::GaveUp { nodes }, line: None };
                return (steps_error(&error), true);
            }
            Outlook::Finished | Outlook::One(_) | Outlook::Several { .. } | Outlook::Unknown { .. } => {}
        }
        let options = Options { techniques, up_to: self.up_to, effort, cancel: Some(cancel.flag()) };
        let mut walk = Steps::new(self.position.clone(), options);
        let mut steps = Vec::new();
        while steps.len() < self.step_limit {
            let Some(step) = walk.next() else { break };
            steps.push(convert::step_by_hand(&step, walk.position()));
        }
        let ending = walk.ending();
        let response = proto::StepsResponse {
            steps,
            is_solved: walk.position().is_filled() && walk.position().grid().is_solved(),
            message: match ending {
                None if walk.position().is_filled() => Ending::Solved.to_string(),
                None => "There are more steps.".to_owned(),
                Some(Ending::Cancelled) => Ending::GaveUp.to_string(),
                Some(ending) => ending.to_string(),
            },
            candidates_after: walk.position().pencil_marks(),
            ..proto::StepsResponse::default()
        };
        (response, ending == Some(Ending::Cancelled))
    }
}
