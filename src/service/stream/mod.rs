//! The two bidirectional methods. They differ in what a message holds and share how messages are read.

mod lines;
mod puzzles;
mod session;

use std::future::poll_fn;
use std::iter::Flatten;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::vec;

use tokio_stream::Stream as _;
use tonic::{Request, Status, Streaming};

use super::context::Context;
use super::crew::Size;
use super::meters;
use super::ordered::{Answers, Feeder, answers};
use super::refusal::shutting_down;
use crate::answer::{Cancelled, Rein, Workers};

pub(super) use lines::Lines;
pub(super) use puzzles::Puzzles;

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

/// The largest message that is copied in order to be one job with others.
const JOINED_BYTES: usize = 16 << 10;

/// What a bidirectional method makes of its messages.
pub(super) trait Dialect: Send + Sized + 'static {
    /// The name of the method.
    const METHOD: &'static str;

    /// A message of the client.
    type Request: Send + 'static;
    /// The work that a message asks for, or several that are searched together.
    type Job: Send + Sync + 'static;
    /// The answers to these, in order.
    type Responses: Iterator<Item = Self::Response> + Send + Unpin + 'static;
    /// The answer to one message.
    type Response: Send + Unpin + 'static;

    /// At the beginning of a stream.
    fn new(context: Arc<Context>) -> Result<Self, Status>;

    /// The bytes of puzzles in a message.
    fn weight(request: &Self::Request) -> usize;

    /// Makes work of a message: a matter of microseconds, done where messages are read. `None` if it has become part of the
    /// job before it.
    fn prepare(
        &mut self,
        request: Self::Request,
        before: Option<&mut Self::Job>,
    ) -> Result<Option<Self::Job>, Status>;

    /// Which strategy searches, once it is known.
    fn workers(&self) -> Option<&Workers>;

    /// Does the work, on the pool.
    fn answer(job: &Self::Job, rein: &dyn Rein) -> Result<Self::Responses, Cancelled>;

    /// The messages of a job as jobs of their own, if there are several.
    fn split(job: &Self::Job) -> Option<Vec<Self::Job>>;

    /// The answers to a job on which the work panicked: an error for every puzzle.
    fn apologise(job: &Self::Job) -> Self::Responses;
}

/// The answers to all messages of a job.
pub(super) type AllResponses<D> = Flatten<vec::IntoIter<<D as Dialect>::Responses>>;

/// Answers a stream of messages, in order.
pub(super) fn serve<D: Dialect>(
    context: &Arc<Context>,
    request: Request<Streaming<D::Request>>,
) -> Result<Answers<AllResponses<D>>, Status> {
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
    feeder: Feeder<AllResponses<D>>,
) -> Result<(), Status> {
    loop {
        let Some(place) = feeder.place().await else { return Ok(()) };
        let mut batch = Gathered { jobs: Vec::new(), messages: 0, weight: 0 };
        // `gather` waits only while it has nothing, so giving it up loses nothing.
        let more = tokio::select! {
            biased;
            () = feeder.client_left() => return Ok(()),
            () = context.draining() => Err(shutting_down()),
            more = gather(&mut dialect, &mut requests, &mut batch) => more,
        };
        if !batch.jobs.is_empty() {
            meters::received(D::METHOD, batch.messages);
            place.start(Size::of(batch.weight), batch.jobs, Arc::new(answer_all::<D>)).await;
        }
        if !more? {
            return Ok(());
        }
    }
}

/// Does the work on a job. Each message is answered, whatever happens.
fn answer_all<D: Dialect>(job: &D::Job, rein: &dyn Rein) -> Result<AllResponses<D>, Cancelled> {
    let answer = |job: &D::Job| catch_unwind(AssertUnwindSafe(|| D::answer(job, rein)));
    let responses = match answer(job) {
        Ok(responses) => vec![responses?],
        // On which of its messages it panicked is found out one by one.
        Err(_) => match D::split(job) {
            Some(jobs) => {
                let each = |job: &D::Job| answer(job).unwrap_or_else(|_| Ok(D::apologise(job)));
                jobs.iter().map(each).collect::<Result<_, _>>()?
            }
            None => vec![D::apologise(job)],
        },
    };
    Ok(responses.into_iter().flatten())
}

/// Messages that are answered as one batch.
struct Gathered<J> {
    jobs: Vec<J>,
    messages: usize,
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
        let weight = D::weight(&request);
        let before = batch.jobs.last_mut().filter(|_| weight <= JOINED_BYTES);
        let job = dialect.prepare(request, before)?;
        batch.jobs.extend(job);
        batch.messages += 1;
        batch.weight += weight;
        let is_together = dialect.workers().is_some_and(Workers::search_together);
        let bounds = if is_together { TOGETHER } else { ONE_BY_ONE };
        if batch.messages >= bounds.messages || batch.weight >= bounds.bytes {
            return Ok(true);
        }
        match poll_fn(|poller| Poll::Ready(Pin::new(&mut *requests).poll_next(poller))).await {
            Poll::Pending => return Ok(true),
            Poll::Ready(message) => next = message.transpose()?,
        }
    }
    Ok(false)
}
