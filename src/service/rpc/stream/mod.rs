//! Bidirectional methods: `SolveStream`, `SolveLines` and `Canonicalize`.
//!
//! They differ in what a message holds ([`BidiMethod`]) and share how messages are gathered into
//! batches.
//!
//! **Invariant:** every message gets its response, in order, whatever its work does: a panic is
//! answered by an error for every puzzle.

mod canonicalize;
mod sent_puzzles;
mod session;
mod solve_lines;
mod solve_stream;

use std::future::poll_fn;
use std::iter::Flatten;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Poll, ready};
use std::vec;

use tokio_stream::Stream as _;
use tonic::{Request, Status, Streaming};

use crate::answer::{Cancel, Cancelled};
use crate::pipeline::{Panicked, catch_panic};
use crate::poison::IgnorePoison as _;
use crate::service::context::{Context, TakenPuzzles};
use crate::service::metrics;
use crate::service::net::call::CallState;
use crate::service::rpc::ordered::{OrderedResponses, Submitter, answers};
use crate::service::sched::pools::{Permit, WorkSize};
use crate::service::wire::status::shutting_down;

pub(crate) use canonicalize::Canonicalize;
pub(crate) use solve_lines::SolveLines;
pub(crate) use solve_stream::SolveStream;

/// The bounds of a batch. A message is never split, so a batch can be one message larger.
#[derive(Clone, Copy)]
struct BatchBounds {
    messages: usize,
    /// The bytes of puzzles.
    bytes: usize,
}

/// The bounds where puzzles are searched one by one. A handover costs as much as a few easy
/// puzzles, so a batch holds several; but it occupies one thread while others may be idle, so it
/// holds few.
const ONE_BY_ONE: BatchBounds = BatchBounds { messages: 32, bytes: 16 << 10 };

/// The bounds where all puzzles of a batch are searched together: a thousand fill the kernel.
const TOGETHER: BatchBounds = BatchBounds { messages: 1024, bytes: 1024 * 82 };

/// The bounds where puzzles searched together take so little time that the handover is a good part
/// of the cost.
const TOGETHER_IF_FAST: BatchBounds = BatchBounds { messages: 4096, bytes: 4096 * 82 };

/// The largest message that is copied in order to join others in one job.
const JOINED_BYTES: usize = 16 << 10;

/// A bidirectional method: what it makes of its messages.
pub(crate) trait BidiMethod: Send + Sized + 'static {
    /// The name of the method.
    const METHOD: &'static str;

    /// A message of the client.
    type Request: Send + 'static;
    /// The work for a message, or for several that are searched together.
    type Job: Send + Sync + 'static;
    /// The responses to the messages of a job, in order.
    type Responses: Iterator<Item = Self::Response> + Send + Unpin + 'static;
    /// The response to one message.
    type Response: Send + Unpin + 'static;

    /// The state at the beginning of a stream.
    fn new(context: Arc<Context>) -> Result<Self, Status>;

    /// The number of bytes of puzzles in a message.
    fn bytes(request: &Self::Request) -> usize;

    /// The number of lines read so far.
    fn lines(&self) -> u64;

    /// Makes a job of a message, in microseconds, on the thread that reads messages. `None` if the
    /// message has joined the job before it.
    fn prepare(
        &mut self,
        request: Self::Request,
        before: Option<&mut Self::Job>,
    ) -> Result<Option<Self::Job>, Status>;

    /// Reserves memory for the responses to a complete job, on the thread that will send them.
    fn reserve(job: &mut Self::Job);

    /// Whether puzzles are searched together, as far as the format is known.
    fn searches_together(&self) -> bool;

    /// Answers a job, on a worker thread.
    fn answer(job: &Self::Job, cancel: &dyn Cancel) -> Result<Self::Responses, Cancelled>;

    /// The messages of a job as separate jobs, if there are several.
    fn split(job: &Self::Job) -> Option<Vec<Self::Job>>;

    /// The responses to a job that panicked: an error for every puzzle.
    fn internal_errors(job: &Self::Job) -> Self::Responses;
}

/// The responses to all messages of a batch.
pub(crate) type AllResponses<D> = Flatten<vec::IntoIter<<D as BidiMethod>::Responses>>;

/// Answers a stream of messages, in order.
pub(crate) fn serve<D: BidiMethod>(
    context: &Arc<Context>,
    request: Request<Streaming<D::Request>>,
) -> Result<OrderedResponses<AllResponses<D>>, Status> {
    let call = context.admit(&request)?.into_stream();
    let method = D::new(Arc::clone(context))?;
    let shared = Arc::clone(context);
    Ok(answers(context, call, |submitter| read(shared, method, request.into_inner(), submitter)))
}

/// Reads messages and submits batches until the client has sent all or is gone, or the server shuts
/// down.
async fn read<D: BidiMethod>(
    context: Arc<Context>,
    mut method: D,
    mut requests: Streaming<D::Request>,
    submitter: Submitter<AllResponses<D>>,
) -> Result<(), Status> {
    loop {
        let Some(slot) = submitter.slot().await else { return Ok(()) };
        let (mut batch, before) = (JobBatch::new(), method.lines());
        // Messages read by then are answered, whether their batch has its permit or not.
        let more = tokio::select! {
            biased;
            () = submitter.client_gone() => return Ok(()),
            () = context.draining() => Err(shutting_down()),
            more = gather(&submitter, &mut method, &mut requests, &mut batch) => more,
        };
        if batch.messages > 0 {
            metrics::received(D::METHOD, batch.messages);
            let lines = method.lines() - before;
            submitter.state().read(batch.messages as u64, lines);
            let taken = submitter.take(lines);
            if taken.as_ref().is_some_and(TakenPuzzles::waits) {
                // Others go on meanwhile, and this batch asks anew.
                batch.permit = None;
            }
            submitter.covered(taken).await;
            let (size, permit) = (batch.size(), batch.permit.take());
            let work = Arc::new(|jobs: &Vec<D::Job>, cancel: &dyn Cancel| answer::<D>(jobs, cancel));
            match permit {
                Some(permit) => slot.start_now(permit, batch.into_work::<D>(), work).await,
                None => slot.start(size, batch.into_work::<D>(), work).await,
            }
        }
        if !more? {
            return Ok(());
        }
    }
}

/// Answers some jobs. Each message gets a response, even if the work panics.
fn answer<D: BidiMethod>(jobs: &[D::Job], cancel: &dyn Cancel) -> Result<AllResponses<D>, Cancelled> {
    let try_answer = |job: &D::Job| catch_panic(|| D::answer(job, cancel));
    let mut responses = Vec::with_capacity(jobs.len());
    for job in jobs {
        if let Ok(answers) = try_answer(job) {
            responses.push(answers?);
        } else if let Some(each) = D::split(job) {
            // One of its messages panics: each is tried by itself.
            for job in &each {
                responses.push(try_answer(job).unwrap_or_else(|Panicked| Ok(D::internal_errors(job)))?);
            }
        } else {
            responses.push(D::internal_errors(job));
        }
    }
    Ok(responses.into_iter().flatten())
}

/// The memory for the responses to a job, allocated on the thread that will free it.
///
/// If worker threads allocated it, the allocator would keep memory for each of them, in each size
/// class that it has met there.
#[derive(Default)]
struct OutputBuffer<T>(Mutex<T>);

impl<T: Default> OutputBuffer<T> {
    const fn new(memory: T) -> Self {
        Self(Mutex::new(memory))
    }

    /// Takes the memory. A job that is restarted finds none, and allocates its own.
    fn take(&self) -> T {
        std::mem::take(&mut *self.0.lock().ignore_poison())
    }
}

/// Messages that go to the worker pools together.
struct JobBatch<J> {
    jobs: Vec<J>,
    messages: usize,
    /// The bytes of puzzles in them.
    bytes: usize,
    /// Whether their puzzles are searched together.
    is_together: bool,
    /// The permit to start, once it is granted.
    permit: Option<Permit>,
}

impl<J> JobBatch<J> {
    const fn new() -> Self {
        Self { jobs: Vec::new(), messages: 0, bytes: 0, is_together: false, permit: None }
    }

    const fn size(&self) -> WorkSize {
        WorkSize::of(self.bytes)
    }

    /// Whether no other message may be added.
    const fn is_full(&self, is_handover_bound: bool) -> bool {
        let bounds = match (self.is_together, is_handover_bound) {
            (false, _) => ONE_BY_ONE,
            (true, false) => TOGETHER,
            (true, true) => TOGETHER_IF_FAST,
        };
        self.messages >= bounds.messages || self.bytes >= bounds.bytes
    }

    /// Adds a message, whose response is owed from now on.
    fn add<D: BidiMethod<Job = J>>(
        &mut self,
        method: &mut D,
        state: &CallState,
        request: D::Request,
    ) -> Result<(), Status> {
        state.owes(1);
        let bytes = D::bytes(&request);
        let before = self.jobs.last_mut().filter(|_| bytes <= JOINED_BYTES);
        if let Some(job) = method.prepare(request, before)? {
            self.jobs.push(job);
            self.is_together = method.searches_together();
        }
        self.messages += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// The jobs in groups that are answered at the same time. Where puzzles are searched together
    /// that is one group, because the task that waits for the answers is woken for each group;
    /// otherwise each job is answered as soon as it is done.
    fn into_work<D: BidiMethod<Job = J>>(mut self) -> Vec<Vec<J>> {
        self.jobs.iter_mut().for_each(D::reserve);
        if self.is_together { vec![self.jobs] } else { self.jobs.into_iter().map(|job| vec![job]).collect() }
    }
}

/// Gathers a batch: waits for a message, and then for a permit. Messages that arrive meanwhile join
/// the batch, within its bounds. False when the client has sent its last message.
async fn gather<D: BidiMethod>(
    submitter: &Submitter<AllResponses<D>>,
    method: &mut D,
    requests: &mut Streaming<D::Request>,
    batch: &mut JobBatch<D::Job>,
) -> Result<bool, Status> {
    let Some(first) = requests.message().await? else { return Ok(false) };
    let state = submitter.state();
    batch.add(method, state, first)?;
    loop {
        let size = batch.size();
        let mut permit = pin!(submitter.permit(size));
        let more = poll_fn(|cx| {
            while batch.size() == size && !batch.is_full(submitter.call().is_handover_bound()) {
                match Pin::new(&mut *requests).poll_next(cx) {
                    Poll::Ready(Some(request)) => batch.add(method, state, request?)?,
                    Poll::Ready(None) => return Poll::Ready(Ok(false)),
                    Poll::Pending => {
                        batch.permit = Some(ready!(permit.as_mut().poll(cx)));
                        break;
                    }
                }
            }
            Poll::Ready(Ok::<_, Status>(true))
        });
        if !more.await? {
            return Ok(false);
        }
        if batch.size() == size {
            if batch.permit.is_none() {
                batch.permit = Some(permit.await);
            }
            return Ok(true);
        }
    }
}
