//! The two bidirectional methods. They differ in what a message holds and share how messages are read.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use tokio_stream::Stream as _;
use tonic::{Request, Status, Streaming};
use tracing::Span;

use super::context::Context;
use super::convert::{self, Settings, internal_error, invalid, unreadable};
use super::crew::{Size, Work};
use super::meters;
use super::opening::{count_lines, open};
use super::ordered::{Answers, Feeder, answers};
use super::proto;
use super::refusal::shutting_down;
use crate::answer::{Answer, Block, Cancelled, Rein, Tally, Workers, Written};
use crate::text::{Format, FormatError, Hint, Notation, SAMPLE_BYTES, detect};

/// How many small messages that have already arrived are answered as one batch.
#[derive(Clone, Copy)]
struct Bounds {
    messages: usize,
    /// The bytes of puzzles. A message is never split, so a batch can be one message larger.
    bytes: usize,
}

/// Where messages are answered one after another. Handing a job over costs as much as a few easy puzzles; but a
/// batch of hard ones has one thread to itself, while others may be idle.
const ONE_BY_ONE: Bounds = Bounds { messages: 32, bytes: 16 << 10 };

/// Where all puzzles of a batch are searched together: a thousand are enough to fill the kernel.
const TOGETHER: Bounds = Bounds { messages: 1024, bytes: 1024 * 82 };

/// What a bidirectional method makes of its messages.
pub(super) trait Dialect: Send + Sized + 'static {
    /// The name of the method.
    const METHOD: &'static str;

    /// A message of the client.
    type Request: Send + 'static;
    /// The work it asks for.
    type Job: Send + Sync + 'static;
    /// The answer to it.
    type Response: Send + Unpin + 'static;

    /// At the beginning of a stream.
    fn new(context: Arc<Context>) -> Result<Self, Status>;

    /// The bytes of puzzles in a message.
    fn weight(request: &Self::Request) -> usize;

    /// Makes work of a message: a matter of microseconds, done where messages are read.
    fn prepare(&mut self, request: Self::Request) -> Result<Self::Job, Status>;

    /// Which strategy searches, once it is known.
    fn workers(&self) -> Option<&Workers>;

    /// Does the work, on the pool.
    fn answer(job: &Self::Job, rein: &dyn Rein) -> Result<Self::Response, Cancelled>;

    /// Does the work on several messages at once, if their puzzles can be searched together.
    fn answer_all(jobs: &[&Self::Job], rein: &dyn Rein) -> Option<Result<Vec<Self::Response>, Cancelled>>;

    /// The answer to a message on which the work panicked: an error for every puzzle.
    fn apologise(job: &Self::Job) -> Self::Response;
}

/// Answers a stream of messages, in order.
pub(super) fn serve<D: Dialect>(
    context: &Arc<Context>,
    request: Request<Streaming<D::Request>>,
) -> Result<Answers<D::Response>, Status> {
    let call = context.admit(&request)?;
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
        let mut batch = Gathered { jobs: Vec::new(), weight: 0 };
        // `gather` waits only while it has nothing, so giving it up loses nothing.
        let more = tokio::select! {
            biased;
            () = feeder.client_left() => return Ok(()),
            () = context.draining() => Err(shutting_down()),
            more = gather(&mut dialect, &mut requests, &mut batch) => more,
        };
        if !batch.jobs.is_empty() {
            meters::received(D::METHOD, batch.jobs.len());
            place.start(Size::of(batch.weight), batch.jobs, Arc::new(Answering::<D>(PhantomData))).await;
        }
        if !more? {
            return Ok(());
        }
    }
}

/// The work on the messages of a method. Each is answered, whatever happens.
struct Answering<D>(PhantomData<fn() -> D>);

impl<D: Dialect> Work<D::Job, D::Response> for Answering<D> {
    fn answer(&self, job: &D::Job, rein: &dyn Rein) -> Result<D::Response, Cancelled> {
        let work = AssertUnwindSafe(|| D::answer(job, rein));
        catch_unwind(work).unwrap_or_else(|_| Ok(D::apologise(job)))
    }

    fn answer_all(&self, jobs: &[&D::Job], rein: &dyn Rein) -> Option<Result<Vec<D::Response>, Cancelled>> {
        // Which of them it panics on is found out one by one.
        catch_unwind(AssertUnwindSafe(|| D::answer_all(jobs, rein))).unwrap_or_default()
    }
}

/// Messages that are answered as one batch.
struct Gathered<J> {
    jobs: Vec<J>,
    /// The bytes of puzzles in them.
    weight: usize,
}

/// Waits for a message and takes with it those that have arrived by then. False when there are no more.
async fn gather<D: Dialect>(
    dialect: &mut D,
    requests: &mut Streaming<D::Request>,
    batch: &mut Gathered<D::Job>,
) -> Result<bool, Status> {
    let mut next = requests.message().await?;
    while let Some(request) = next {
        batch.weight += D::weight(&request);
        batch.jobs.push(dialect.prepare(request)?);
        let is_together = dialect.workers().is_some_and(Workers::search_together);
        let bounds = if is_together { TOGETHER } else { ONE_BY_ONE };
        if batch.jobs.len() >= bounds.messages || batch.weight >= bounds.bytes {
            return Ok(true);
        }
        match poll_fn(|poller| Poll::Ready(Pin::new(&mut *requests).poll_next(poller))).await {
            Poll::Pending => return Ok(true),
            Poll::Ready(message) => next = message.transpose()?,
        }
    }
    Ok(false)
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
    /// The messages that were read, and their lines.
    read: (u64, u64),
}

/// The span of the call says how much was read.
impl Drop for Session {
    fn drop(&mut self) {
        let (messages, lines) = self.read;
        Span::current().record("messages", messages).record("lines", lines);
    }
}

impl Session {
    fn new(context: Arc<Context>) -> Result<Self, Status> {
        let options = proto::SolveOptions::default();
        let settings = context.settings(&options)?;
        Ok(Self { context, options, settings, workers: None, next_line: 1, read: (0, 0) })
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
        self.read = (self.read.0 + 1, self.read.1 + lines as u64);
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
        if request.first_line > 0 {
            session.next_line = request.first_line;
        }
        let at_start = session.next_line == 1;
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

    fn workers(&self) -> Option<&Workers> {
        self.0.workers.as_deref()
    }

    fn answer_all(jobs: &[&LinesJob], rein: &dyn Rein) -> Option<Result<Vec<Self::Response>, Cancelled>> {
        let packed: Vec<&PackedBlock> = jobs.iter().map(|job| job.0.as_ref()).collect::<Option<_>>()?;
        let workers = same(packed.iter().map(|packed| &packed.workers))?;
        let blocks = packed.iter().map(|packed| packed.block());
        Some(workers.write_answers_together(blocks, rein)?.map(|all| {
            for written in &all {
                meters::answered(&written.tally);
            }
            all.into_iter().map(convert::solved_lines).collect()
        }))
    }

    fn answer(job: &LinesJob, rein: &dyn Rein) -> Result<Self::Response, Cancelled> {
        let written = match &job.0 {
            Some(packed) => packed.workers.write_answers(packed.block(), rein)?,
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

    fn workers(&self) -> Option<&Workers> {
        self.0.workers.as_deref()
    }

    fn answer(job: &PuzzlesJob, rein: &dyn Rein) -> Result<Self::Response, Cancelled> {
        let answers = answers_to(&job.workers, &[job], rein)?;
        Ok(proto::SolveStreamResponse { batch_id: job.batch_id, answers })
    }

    fn answer_all(jobs: &[&PuzzlesJob], rein: &dyn Rein) -> Option<Result<Vec<Self::Response>, Cancelled>> {
        let workers = same(jobs.iter().map(|job| &job.workers))?;
        if !workers.search_together() {
            return None;
        }
        Some(answers_to(workers, jobs, rein).map(|answers| {
            let mut answers = answers.into_iter();
            let response = |job: &&PuzzlesJob| proto::SolveStreamResponse {
                batch_id: job.batch_id,
                answers: answers.by_ref().take(job.puzzles.len()).collect(),
            };
            jobs.iter().map(response).collect()
        }))
    }

    fn apologise(job: &PuzzlesJob) -> Self::Response {
        let apology = |(line, _)| convert::error_answer(&internal_error(Some(line)));
        let answers = job.numbered().map(apology).collect();
        meters::broken_down(job.puzzles.len());
        proto::SolveStreamResponse { batch_id: job.batch_id, answers }
    }
}

/// The answers to all puzzles of some messages.
fn answers_to(
    workers: &Workers,
    jobs: &[&PuzzlesJob],
    rein: &dyn Rein,
) -> Result<Vec<proto::Answer>, Cancelled> {
    let (format, task) = (workers.format(), workers.task());
    let mut answers = Vec::with_capacity(jobs.iter().map(|job| job.puzzles.len()).sum());
    let mut tally = Tally::default();
    let lines = jobs.iter().flat_map(|job| job.numbered()).map(|(line, puzzle)| (line, &**puzzle));
    workers.with(|worker| {
        let visit = |answer: &Answer<'_>| {
            tally.count(task, answer);
            answers.push(convert::answer(answer, format));
        };
        worker.answer_lines(format, task, lines, rein, visit)
    })?;
    meters::answered(&tally);
    Ok(answers)
}

/// The workers of all messages of a batch, if they are the same: a message can bring other options.
fn same<'a>(mut workers: impl Iterator<Item = &'a Arc<Workers>>) -> Option<&'a Arc<Workers>> {
    let first = workers.next()?;
    workers.all(|workers| Arc::ptr_eq(workers, first)).then_some(first)
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
    use tonic::Code;

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
