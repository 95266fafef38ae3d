//! `Trace`: the steps of a search, as a stream.
//!
//! A client may read slowly, and a search cannot occupy a thread until it does. So the steps are
//! sent in parts, and for each part the search is run again and skips the steps of the parts
//! before: a million steps take a fraction of a second, and searches repeat exactly.
//!
//! **Invariant:** a call has nothing on the worker pools while its client reads.

use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Status};
use tracing::Instrument as _;

use crate::answer::{Answer, Cancel, Cancelled, Found, RowFacts, Task};
use crate::grid::Grid;
use crate::service::context::{Call, Context};
use crate::service::rpc::options::{SolveSettings, refuse_columns, solve_settings, task_for_order};
use crate::service::rpc::text::{RequestText, TextField};
use crate::service::sched::pools::WorkSize;
use crate::service::wire::convert;
use crate::service::wire::proto;
use crate::service::wire::status::shutting_down;
use crate::solver::{Limit, Metrics, Search, Step, Verdict, Watcher};
use crate::text::{Format, Problem, PuzzleError};

/// The default limit on steps.
const DEFAULT_STEPS: u64 = 10_000;

/// The most steps in a message.
const STEPS_PER_MESSAGE: u64 = 8_192;

/// The messages that wait for the client.
const MESSAGES_WAITING: usize = 1;

/// The parts of a traced search.
pub(crate) type TraceStream = ReceiverStream<Result<proto::TraceResponse, Status>>;

/// A search whose steps are sent.
struct TracedSearch {
    format: Format,
    puzzle: Grid,
    task: Task,
    steps: u64,
}

/// Traces the search for one puzzle.
pub(crate) fn trace(
    context: &Arc<Context>,
    request: Request<proto::TraceRequest>,
) -> Result<TraceStream, Status> {
    let call = context.admit(&request)?;
    let proto::TraceRequest { options, text, step_limit, puzzle } = request.into_inner();
    let SolveSettings { task, hint } = solve_settings(context, &options.unwrap_or_default())?;
    refuse_columns(&task, "Trace")?;
    let field = TextField::of(text, puzzle)?;
    let (sender, receiver) = mpsc::channel(MESSAGES_WAITING);
    let puzzle = match RequestText::open(context, &field, &hint, None)? {
        Err(error) => Err(error),
        Ok(text) => {
            let task = task_for_order(context, task, text.format().order())?;
            let Some(puzzle) = text.single() else {
                return Err(field.invalid("Trace takes one puzzle."));
            };
            puzzle.and_then(rule_keeping).map(|puzzle| (text.format().clone(), puzzle, task))
        }
    };
    let steps = if step_limit == 0 { DEFAULT_STEPS } else { step_limit };
    let steps = steps.min(context.limits().trace_steps);
    match puzzle {
        // The channel is empty, so this cannot fail.
        Err(error) => drop(sender.try_send(Ok(ended(Some(convert::error_answer(&error)), None)))),
        Ok((format, puzzle, task)) => {
            let search = Arc::new(TracedSearch { format, puzzle, task, steps });
            tokio::spawn(send_steps(Arc::clone(context), call, search, sender).in_current_span());
        }
    }
    Ok(ReceiverStream::new(receiver))
}

fn rule_keeping(puzzle: Grid) -> Result<Grid, PuzzleError> {
    match puzzle.first_conflict() {
        None => Ok(puzzle),
        Some(conflict) => Err(PuzzleError { problem: Problem::RuleBroken(conflict), line: None }),
    }
}

/// Sends one part after another, until the end or until the client has gone.
async fn send_steps(
    context: Arc<Context>,
    call: Call,
    search: Arc<TracedSearch>,
    client: mpsc::Sender<Result<proto::TraceResponse, Status>>,
) {
    let mut first = 0;
    loop {
        let part = {
            let search = Arc::clone(&search);
            let work = context.run(&call, WorkSize::Small, move |cancel| search.part(first, cancel));
            tokio::select! {
                part = work => part,
                () = client.closed() => return,
            }
        };
        let is_last = part.as_ref().map_or(true, |part| part.end.is_some());
        let sent = match call.deadline.limit(client.send(part)).await {
            Ok(sent) => sent,
            Err(status) => return drop(client.try_send(Err(status))),
        };
        if is_last || sent.is_err() {
            return;
        }
        if context.is_draining() {
            // If the channel is full, the client does not read, and finds the stream ended.
            return drop(client.try_send(Err(shutting_down())));
        }
        first += STEPS_PER_MESSAGE;
    }
}

impl TracedSearch {
    /// The steps from `first` on, as many as fit in a message, and the end if they reach it.
    fn part(&self, first: u64, cancel: &dyn Cancel) -> Result<proto::TraceResponse, Cancelled> {
        let last = self.steps.min(first + STEPS_PER_MESSAGE);
        let (mut seen, mut steps) = (0, Vec::new());
        let mut metrics = Metrics::default();
        // The search may be over exactly where the next part would begin.
        let mut is_cut = false;
        let mut observer = |step: &Step, _: &Grid| {
            if seen == last {
                is_cut = true;
                return ControlFlow::Break(());
            }
            metrics.count_step(step);
            if seen >= first {
                steps.push(convert::step(step));
            }
            seen += 1;
            ControlFlow::Continue(())
        };
        let order = self.puzzle.order();
        let question = self.task.question;
        let limit =
            Limit { solutions: question.solutions(), nodes: self.task.node_limit, cancel: cancel.flag() };
        cancel.begin();
        let mut solution = Grid::empty(order);
        let mut solver = self.task.strategy_for(order).solver(order);
        let search =
            solver.watch(&self.puzzle, &limit, &mut solution, &mut Watcher::observing(&mut observer));
        let is_given_up = cancel.end();
        let metrics = Some(convert::metrics(&metrics));
        let end = if !is_cut {
            let verdict = match question.verdict(&search) {
                Verdict::Cancelled if is_given_up => Verdict::GaveUp { nodes: search.metrics.nodes },
                verdict => verdict,
            };
            ended(Some(self.answer(verdict, &search, &solution)?), metrics).end
        } else if last == self.steps {
            ended(None, metrics).end
        } else {
            None
        };
        Ok(proto::TraceResponse { steps, end })
    }

    /// The answer of a finished search.
    fn answer(&self, verdict: Verdict, search: &Search, solution: &Grid) -> Result<proto::Answer, Cancelled> {
        let result = Found::of(verdict, solution)?.map_err(|problem| PuzzleError { problem, line: None });
        let row = RowFacts::default();
        let answer = Answer { line: 0, puzzle: Some(&self.puzzle), result, metrics: search.metrics, row };
        Ok(convert::answer(&answer, &self.format))
    }
}

fn ended(answer: Option<proto::Answer>, metrics: Option<proto::Metrics>) -> proto::TraceResponse {
    proto::TraceResponse { steps: Vec::new(), end: Some(proto::TraceEnd { answer, metrics }) }
}
