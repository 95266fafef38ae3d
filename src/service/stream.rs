//! The two bidirectional methods. They differ in what a message holds and share how messages are read.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Poll;

use bytes::Bytes;
use tokio_stream::Stream as _;
use tonic::{Code, Request, Status, Streaming};

use super::context::{Context, shutting_down};
use super::convert::{self, Settings, internal_error, invalid, unreadable};
use super::meters;
use super::opening::{count_lines, open};
use super::ordered::{Answers, Feeder, answers};
use super::proto;
use crate::answer::{Answer, Block, Cancelled, Tally, Workers, Written};
use crate::text::{Format, FormatError, Hint, Notation, SAMPLE_BYTES, detect};

/// Small messages that have already arrived are answered as one batch: handing a job over costs as much as a
/// few easy puzzles. Each is still sent as soon as it is done. Both bounds are small, since a batch of hard
/// puzzles has one thread to itself, while others may be idle.
const BATCH_MESSAGES: usize = 32;
/// See [`BATCH_MESSAGES`]. A message is never split, so a batch can be one message larger.
const BATCH_BYTES: usize = 16 << 10;

/// What a bidirectional method makes of its messages.
pub(super) trait Dialect: Send + Sized + 'static {
    /// The name of the method.
    const METHOD: &'static str;

    /// A message of the client.
    type Request: Send + 'static;
    /// The work it asks for.
    type Job: Send + 'static;
    /// The answer to it.
    type Response: Send + Unpin + 'static;

    /// At the beginning of a stream.
    fn new(context: Arc<Context>) -> Result<Self, Status>;

    /// The bytes of puzzles in a message.
    fn weight(request: &Self::Request) -> usize;

    /// Makes work of a message: a matter of microseconds, done where messages are read.
    fn prepare(&mut self, request: Self::Request) -> Result<Self::Job, Status>;

    /// Does the work, on the pool.
    fn answer(job: &Self::Job, cancel: &AtomicBool) -> Result<Self::Response, Cancelled>;

    /// The answer to a message on which the work panicked: an error for every puzzle.
    fn apologise(job: &Self::Job) -> Self::Response;
}

/// Answers a stream of messages, in order.
pub(super) fn serve<D: Dialect>(
    context: &Arc<Context>,
    request: Request<Streaming<D::Request>>,
) -> Result<Answers<D::Response>, Status> {
    let call = context.admit(D::METHOD, &request)?;
    let dialect = D::new(Arc::clone(context))?;
    let shared = Arc::clone(context);
    Ok(answers(context, call, |feeder| read(shared, dialect, request.into_inner(), feeder)))
}

/// Reads messages and starts their work until the client has sent all or left, or the server shuts down.
async fn read<D: Dialect>(
    context: Arc<Context>,
    mut dialect: D,
    mut requests: Streaming<D::Request>,
    feeder: Feeder<D::Response>,
) -> Result<(), Status> {
    loop {
        let Some(place) = feeder.place().await else { return Ok(()) };
        let mut jobs = Vec::new();
        // `gather` waits only while it has nothing, so giving it up loses nothing.
        let more = tokio::select! {
            biased;
            () = feeder.client_left() => return Ok(()),
            () = context.draining() => Err(shutting_down()),
            more = gather(&mut dialect, &mut requests, &mut jobs) => more,
        };
        if !jobs.is_empty() {
            place.start(jobs, answer_for::<D>).await;
        }
        if !more? {
            return Ok(());
        }
    }
}

/// Answers one message, whatever happens.
fn answer_for<D: Dialect>(job: &D::Job, cancel: &AtomicBool) -> Result<D::Response, Cancelled> {
    let work = AssertUnwindSafe(|| D::answer(job, cancel));
    catch_unwind(work).unwrap_or_else(|_| Ok(D::apologise(job)))
}

/// Waits for a message and takes with it those that have arrived by then. False when there are no more.
async fn gather<D: Dialect>(
    dialect: &mut D,
    requests: &mut Streaming<D::Request>,
    jobs: &mut Vec<D::Job>,
) -> Result<bool, Status> {
    let mut next = requests.message().await.map_err(bad_message)?;
    let mut weight = 0;
    while let Some(request) = next {
        weight += D::weight(&request);
        jobs.push(dialect.prepare(request)?);
        if jobs.len() >= BATCH_MESSAGES || weight >= BATCH_BYTES {
            return Ok(true);
        }
        match poll_fn(|poller| Poll::Ready(Pin::new(&mut *requests).poll_next(poller))).await {
            Poll::Pending => return Ok(true),
            Poll::Ready(message) => next = message.transpose().map_err(bad_message)?,
        }
    }
    Ok(false)
}

/// The transport has two codes for a message that is too large, one where it is packed and one where it is
/// not. Clients see one.
fn bad_message(status: Status) -> Status {
    match status.code() {
        Code::OutOfRange => Status::resource_exhausted(status.message()),
        _ => status,
    }
}

/// What a stream has been told and has found out.
struct Session {
    context: Arc<Context>,
    /// The options that were sent last.
    options: proto::SolveOptions,
    settings: Settings,
    /// Once the format is known.
    workers: Option<Arc<Workers>>,
    /// The number of the next line.
    next_line: u64,
}

impl Session {
    fn new(context: Arc<Context>) -> Result<Self, Status> {
        let options = proto::SolveOptions::default();
        let settings = context.settings(&options)?;
        Ok(Self { context, options, settings, workers: None, next_line: 1 })
    }

    /// Goes by the options of a message, if it has any. The format stays unless other words are said about it.
    fn obey(&mut self, options: Option<proto::SolveOptions>) -> Result<(), Status> {
        let Some(options) = options.filter(|options| *options != self.options) else { return Ok(()) };
        let settings = self.context.settings(&options)?;
        let kept = self.workers.take().filter(|_| settings.hint == self.settings.hint);
        self.settings = settings;
        self.options = options;
        match kept {
            Some(workers) => self.settle(workers.format().clone()).map(|_| ()),
            None => Ok(()),
        }
    }

    /// From now on, puzzles are written like this.
    fn settle(&mut self, format: Format) -> Result<Arc<Workers>, Status> {
        let workers = self.workers_for(format)?;
        self.workers = Some(Arc::clone(&workers));
        Ok(workers)
    }

    fn workers_for(&self, format: Format) -> Result<Arc<Workers>, Status> {
        let task = self.context.for_order(self.settings.task, format.order())?;
        Ok(Arc::new(Workers::new(format, task)))
    }

    /// Numbers the lines of a message. Returns the number of the first.
    fn number(&mut self, lines: usize) -> Result<u64, Status> {
        self.context.check_lines(lines)?;
        let first = self.next_line;
        self.next_line += lines as u64;
        Ok(first)
    }
}

/// `SolveLines`: packed lines.
pub(super) struct Lines(Session);

/// The puzzles of a message, if it has any.
pub(super) struct LinesJob(Option<PackedBlock>);

struct PackedBlock {
    workers: Arc<Workers>,
    text: Bytes,
    first_line: u64,
}

impl PackedBlock {
    fn block(&self) -> Block<'_> {
        Block { text: &self.text, first_line: self.first_line }
    }
}

impl Dialect for Lines {
    const METHOD: &'static str = "SolveLines";

    type Request = proto::SolveLinesRequest;
    type Job = LinesJob;
    type Response = proto::SolveLinesResponse;

    fn new(context: Arc<Context>) -> Result<Self, Status> {
        Session::new(context).map(Self)
    }

    fn weight(request: &Self::Request) -> usize {
        request.lines.len()
    }

    fn prepare(&mut self, request: Self::Request) -> Result<LinesJob, Status> {
        let session = &mut self.0;
        session.obey(request.options)?;
        let text = request.lines;
        let at_start = session.next_line == 1;
        if request.first_line > 0 {
            session.next_line = request.first_line;
        }
        let first_line = session.number(count_lines(&text))?;
        if let Some(workers) = &session.workers {
            return Ok(LinesJob(Some(PackedBlock { workers: Arc::clone(workers), text, first_line })));
        }
        let opened =
            open(&text, &session.settings.hint, at_start).map_err(|error| unreadable(&error, "lines"))?;
        let Some(opened) = opened else { return Ok(LinesJob(None)) };
        let workers = session.settle(opened.format)?;
        let text = text.slice(opened.skipped..);
        Ok(LinesJob(Some(PackedBlock { workers, text, first_line: first_line + opened.lines })))
    }

    fn answer(job: &LinesJob, cancel: &AtomicBool) -> Result<Self::Response, Cancelled> {
        let written = match &job.0 {
            Some(packed) => packed.workers.write_answers(packed.block(), cancel)?,
            None => Written::default(),
        };
        meters::answered(&written.tally);
        Ok(convert::solved_lines(written))
    }

    fn apologise(job: &LinesJob) -> Self::Response {
        let apology = |packed: &PackedBlock| packed.workers.write_internal_errors(packed.block());
        let written = job.0.as_ref().map(apology).unwrap_or_default();
        meters::answered(&written.tally);
        convert::solved_lines(written)
    }
}

/// `SolveStream`: puzzles one by one.
pub(super) struct Puzzles(Session);

/// The puzzles of a message.
pub(super) struct PuzzlesJob {
    workers: Arc<Workers>,
    batch_id: u64,
    puzzles: Vec<Bytes>,
    first_line: u64,
}

impl PuzzlesJob {
    /// The puzzles with the numbers of their lines.
    fn numbered(&self) -> impl Iterator<Item = (u64, &Bytes)> {
        (self.first_line..).zip(&self.puzzles)
    }
}

impl Dialect for Puzzles {
    const METHOD: &'static str = "SolveStream";

    type Request = proto::SolveStreamRequest;
    type Job = PuzzlesJob;
    type Response = proto::SolveStreamResponse;

    fn new(context: Arc<Context>) -> Result<Self, Status> {
        Session::new(context).map(Self)
    }

    fn weight(request: &Self::Request) -> usize {
        request.puzzles.iter().map(Bytes::len).sum()
    }

    fn prepare(&mut self, request: Self::Request) -> Result<PuzzlesJob, Status> {
        let session = &mut self.0;
        session.obey(request.options)?;
        let puzzles = request.puzzles;
        let first_line = session.number(puzzles.len())?;
        let workers = match &session.workers {
            Some(workers) => Arc::clone(workers),
            None => {
                let format = format_of(&puzzles, &session.settings.hint)?;
                if puzzles.iter().all(|puzzle| puzzle.trim_ascii().is_empty()) {
                    // They say nothing about the puzzles that follow.
                    session.workers_for(format)?
                } else {
                    session.settle(format)?
                }
            }
        };
        Ok(PuzzlesJob { workers, batch_id: request.batch_id, puzzles, first_line })
    }

    fn answer(job: &PuzzlesJob, cancel: &AtomicBool) -> Result<Self::Response, Cancelled> {
        let (format, task) = (job.workers.format(), job.workers.task());
        let mut answers = Vec::with_capacity(job.puzzles.len());
        let lines = job.numbered().map(|(line, puzzle)| (line, &**puzzle));
        let mut tally = Tally::default();
        job.workers.with(|worker| {
            let visit = |answer: &Answer<'_>| {
                tally.count(task, answer);
                answers.push(convert::answer(answer, format));
            };
            worker.answer_lines(format, task, lines, cancel, visit)
        })?;
        meters::answered(&tally);
        Ok(proto::SolveStreamResponse { batch_id: job.batch_id, answers })
    }

    fn apologise(job: &PuzzlesJob) -> Self::Response {
        let apology = |(line, _)| convert::error_answer(&internal_error(Some(line)));
        let answers = job.numbered().map(apology).collect();
        meters::broken_down(job.puzzles.len());
        proto::SolveStreamResponse { batch_id: job.batch_id, answers }
    }
}

/// How the puzzles of a message are written.
fn format_of(puzzles: &[Bytes], hint: &Hint) -> Result<Format, Status> {
    let unreadable = |error: FormatError| unreadable(&error, "puzzles");
    let is_strict = match hint.notation {
        None | Some(Notation::Lines) => false,
        Some(Notation::Header) => true,
        Some(other) => {
            let what = format!("SolveStream takes one puzzle an entry, which {other} is not. Use lines.");
            return Err(invalid("options.notation", what));
        }
    };
    let mut sample = Vec::new();
    for puzzle in puzzles {
        let room = SAMPLE_BYTES - sample.len();
        if puzzle.len() >= room {
            break;
        }
        sample.extend_from_slice(puzzle);
        sample.push(b'\n');
    }
    let as_lines = Hint { notation: Some(Notation::Lines), ..hint.clone() };
    let format = detect(&sample, &as_lines).map_err(unreadable)?.format;
    if is_strict {
        // There is no header line to read; the puzzles themselves say which one it would be.
        return Format::new(Notation::Header, format.order(), format.alphabet().clone()).map_err(unreadable);
    }
    Ok(format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Order;

    #[test]
    fn the_first_message_says_how_puzzles_are_written() {
        let format = |puzzles: &[&str]| {
            let puzzles: Vec<_> = puzzles.iter().map(|p| Bytes::copy_from_slice(p.as_bytes())).collect();
            format_of(&puzzles, &Hint::default()).unwrap().order()
        };
        assert_eq!(format(&["", "12.4............"]), Order::ALL[1]);
        assert_eq!(format(&[&".".repeat(256)]), Order::ALL[3]);
        assert_eq!(format(&["nonsense"]), Order::NINE);
        assert_eq!(format(&[]), Order::NINE);
    }

    #[test]
    fn notations_of_several_lines_are_refused() {
        let hint = Hint { notation: Some(Notation::Grid), ..Hint::default() };
        assert_eq!(format_of(&[], &hint).unwrap_err().code(), Code::InvalidArgument);
    }
}
