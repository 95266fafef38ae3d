//! Methods on data sets: `ListDatasets`, `GetPuzzle`, which also takes a text, and `SolveDataset`.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Status};

use super::options::{SolveSettings, capped, solve_settings, task_for_format, text_hint};
use super::ordered::{Submitter, answers};
use super::text::{NotPicked, PickedPuzzle, RequestText, TextField, first_line};
use crate::answer::{Cancel, Cancelled, Solvers, Tally, Written};
use crate::grid::Grid;
use crate::input::{CHUNK_BYTES, Chunk, Reader};
use crate::pipeline::{Panicked, catch_panic};
use crate::service::context::{Call, Context};
use crate::service::datasets::{DatasetUser, NamedDataset, beyond, blocking, failure};
use crate::service::metrics;
use crate::service::net::call::CallState;
use crate::service::sched::pools::WorkSize;
use crate::service::wire::codec::{freeze_send_buffer, send_buffer};
use crate::service::wire::convert::{self, wire_order};
use crate::service::wire::line_count::count_lines;
use crate::service::wire::proto;
use crate::service::wire::status::{
    dataset_not_found, dataset_unreadable, invalid, puzzle_malformed, shutting_down,
};
use crate::text::{Format, Hint, PuzzleError, Records};

/// The most data sets in one page of a list.
const MAX_PAGE: usize = 1000;

/// Opens a data set and makes sure that it is well formed.
async fn open_checked(
    context: &Arc<Context>,
    user: DatasetUser,
    name: String,
    hint: &Hint,
) -> Result<NamedDataset, Status> {
    let shared = Arc::clone(context);
    let dataset = blocking(move || match &shared.datasets {
        Some(datasets) => datasets.dataset(&name, user),
        None => Err(dataset_not_found(&name)),
    })
    .await?;
    let cancel = Arc::new(AtomicBool::new(false));
    let _raised = RaiseOnDrop(Arc::clone(&cancel));
    dataset.check(hint, context.pools.checking_pool(), cancel).await?;
    Ok(dataset)
}

/// The client of a call.
fn user_of(state: &CallState) -> DatasetUser {
    let (token, connection) = state.turns();
    DatasetUser::new(token, state.connection.peer().shared_address(), connection)
}

/// Raises a flag on drop, because the client is gone.
struct RaiseOnDrop(Arc<AtomicBool>);

impl Drop for RaiseOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lists the data sets, a page at a time.
pub(crate) async fn list(
    context: &Arc<Context>,
    request: Request<proto::ListDatasetsRequest>,
) -> Result<proto::ListDatasetsResponse, Status> {
    let call = context.admit(&request)?;
    let proto::ListDatasetsRequest { page_size, page_token } = request.into_inner();
    let shared = Arc::clone(context);
    let all = blocking(move || match &shared.datasets {
        Some(datasets) => datasets.list().map_err(|error| dataset_unreadable("", error.to_string())),
        None => Ok(Vec::new()),
    });
    let all = call.deadline.limit(all).await??;
    let size = capped(page_size, MAX_PAGE);
    // The page token is the last name of the page before.
    let mut rest = all.into_iter().skip_while(|dataset| dataset.name <= page_token && !page_token.is_empty());
    let datasets: Vec<_> = rest.by_ref().take(size).collect();
    let last = datasets.last().map(|dataset| dataset.name.clone()).unwrap_or_default();
    let next_page_token = if rest.next().is_some() { last } else { String::new() };
    Ok(proto::ListDatasetsResponse { datasets, next_page_token })
}

/// The source of a puzzle.
enum PuzzleSource {
    Dataset(String),
    Text(TextField),
}

impl PuzzleSource {
    /// The source that is set.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is none, or more than one.
    fn of(name: String, text: Option<Bytes>, puzzle: Option<String>) -> Result<Self, Status> {
        match (text, puzzle) {
            (None, None) if name.is_empty() => {
                Err(invalid("name", "There is nothing to read: send one of `name`, `text` and `puzzle`."))
            }
            (None, None) => Ok(Self::Dataset(name)),
            (text, puzzle) => {
                let field = match (text, puzzle) {
                    (None, puzzle) => TextField::new("puzzle", puzzle.unwrap_or_default().into()),
                    (Some(text), puzzle) => TextField::of(text, puzzle.unwrap_or_default())?,
                };
                if name.is_empty() {
                    return Ok(Self::Text(field));
                }
                let other = field.name();
                Err(invalid(
                    other,
                    format!("`name` names a data set, and `{other}` is a text: send one of them."),
                ))
            }
        }
    }
}

/// Returns one puzzle of a data set or a text.
pub(crate) async fn puzzle(
    context: &Arc<Context>,
    request: Request<proto::GetPuzzleRequest>,
) -> Result<proto::GetPuzzleResponse, Status> {
    let call = context.admit(&request)?;
    let proto::GetPuzzleRequest { name, options, index, text, puzzle, first_line: line } =
        request.into_inner();
    let hint = text_hint(options.as_ref())?;
    let first_line = first_line(line)?;
    match PuzzleSource::of(name, text, puzzle)? {
        PuzzleSource::Dataset(_) if first_line.is_some() => {
            Err(invalid("first_line", "A data set begins with line 1. `first_line` is for texts."))
        }
        PuzzleSource::Dataset(name) => puzzle_of_dataset(context, &call, name, hint, index).await,
        PuzzleSource::Text(field) => puzzle_of_text(context, &call, &field, &hint, index, first_line).await,
    }
}

async fn puzzle_of_dataset(
    context: &Arc<Context>,
    call: &Call,
    name: String,
    hint: Hint,
    index: Option<u64>,
) -> Result<proto::GetPuzzleResponse, Status> {
    let user = user_of(&call.state);
    let work = async {
        let dataset = open_checked(context, user, name, &hint).await?;
        blocking(move || dataset.puzzle(&hint, index)).await
    };
    let (format, picked, count) = call.deadline.limit(work).await??;
    let mut puzzle = Grid::empty(format.order());
    Records::new(&format, &picked.text, picked.line).read(&mut puzzle);
    let picked = PickedPuzzle { number: picked.number, count, line: picked.line, puzzle };
    Ok(response(&picked, &format))
}

async fn puzzle_of_text(
    context: &Arc<Context>,
    call: &Call,
    field: &TextField,
    hint: &Hint,
    index: Option<u64>,
    first_line: Option<u64>,
) -> Result<proto::GetPuzzleResponse, Status> {
    let malformed = |error: &PuzzleError| puzzle_malformed(field.name(), error);
    let text = RequestText::open(context, field, hint, first_line)?.map_err(|error| malformed(&error))?;
    let pick = move |_: &dyn Cancel| Ok(text.pick(index).map(|picked| response(&picked, text.format())));
    context.run(call, WorkSize::of(field.len()), pick).await?.map_err(|not_picked| match not_picked {
        NotPicked::Bad(error) => malformed(&error),
        NotPicked::Beyond(count) => invalid("index", beyond("text", count)),
    })
}

fn response(picked: &PickedPuzzle, format: &Format) -> proto::GetPuzzleResponse {
    proto::GetPuzzleResponse {
        index: picked.number,
        count: picked.count,
        line: picked.line,
        puzzle: convert::cells(&picked.puzzle, format),
        order: wire_order(format.order()),
        format: Some(convert::text_options(format)),
    }
}

/// The answers to a data set, each message with the tally of all answers so far.
pub(crate) type SolveDatasetStream =
    Pin<Box<dyn Stream<Item = Result<proto::SolveDatasetResponse, Status>> + Send>>;

/// Solves a data set.
pub(crate) async fn solve(
    context: &Arc<Context>,
    request: Request<proto::SolveDatasetRequest>,
) -> Result<SolveDatasetStream, Status> {
    let call = context.admit(&request)?;
    let proto::SolveDatasetRequest { name, options, first_line, last_line } = request.into_inner();
    let SolveSettings { task, hint } = solve_settings(context, &options.unwrap_or_default())?;
    let range = (first_line.max(1), if last_line == 0 { u64::MAX } else { last_line });
    if range.0 > range.1 {
        return Err(invalid("last_line", format!("Line {last_line} comes before line {first_line}.")));
    }
    let user = user_of(&call.state);
    let work = async {
        let dataset = open_checked(context, user, name, &hint).await?;
        blocking(move || {
            let mut reader = dataset.reader(&hint)?;
            if range != (1, u64::MAX) {
                reader.limit_lines(range.0, range.1).map_err(|error| failure(&dataset.name, error))?;
            }
            Ok((dataset, reader))
        })
        .await
    };
    let (dataset, reader) = call.deadline.limit(work).await??;
    let task = task_for_format(context, task, reader.format())?;
    let solvers = Arc::new(context.solvers(reader.format().clone(), task));
    let shared = Arc::clone(context);
    let written = answers(context, call, |submitter| submit_all(shared, dataset, reader, solvers, submitter));
    let mut total = Tally::default();
    Ok(Box::pin(written.map(move |written| {
        written.map(|Written { text, tally }| {
            total.add(&tally);
            proto::SolveDatasetResponse {
                lines: freeze_send_buffer(text),
                tally: Some(convert::tally(&total)),
            }
        })
    })))
}

/// Reads chunks and submits them until the end, or until the client has gone or the server shuts
/// down. The data set is held meanwhile, so it stays mapped for other calls.
async fn submit_all(
    context: Arc<Context>,
    dataset: NamedDataset,
    mut reader: Reader,
    solvers: Arc<Solvers>,
    submitter: Submitter<[Written; 1]>,
) -> Result<(), Status> {
    let line_bytes = reader.format().order().cells() + 1;
    reader.read_in_chunks_of(submitter.batch_puzzles().saturating_mul(line_bytes).min(CHUNK_BYTES));
    while let Some(slot) = submitter.slot().await {
        if context.is_draining() {
            return Err(shutting_down());
        }
        let (same, chunk) = blocking(move || {
            let chunk = reader.next_chunk();
            Ok((reader, chunk))
        })
        .await?;
        reader = same;
        let Some(chunk) = chunk.map_err(|error| failure(&dataset.name, error))? else { break };
        let solvers = Arc::clone(&solvers);
        let work = move |chunk: &Chunk, cancel: &dyn Cancel| {
            answer(&solvers, chunk, cancel).map(|written| [written])
        };
        let lines = count_lines(chunk.block().text) as u64;
        submitter.state().read(0, lines);
        submitter.covered(submitter.take(lines)).await;
        slot.start(WorkSize::Large, vec![chunk], Arc::new(work)).await;
    }
    Ok(())
}

/// Answers a chunk, even if the work panics.
fn answer(solvers: &Solvers, chunk: &Chunk, cancel: &dyn Cancel) -> Result<Written, Cancelled> {
    let block = chunk.block();
    let buffer = || send_buffer(Solvers::room_for(block));
    let written = catch_panic(|| solvers.write_answers_into(block, cancel, buffer()))
        .unwrap_or_else(|Panicked| Ok(solvers.write_internal_errors(block, buffer())));
    if let Ok(written) = &written {
        metrics::answered(&written.tally);
    }
    written
}
