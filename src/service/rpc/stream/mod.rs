//! The two bidirectional methods. They differ in what a message holds and share how messages are read.

mod lines;
mod puzzles;
mod session;

use std::future::poll_fn;
use std::iter::Flatten;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, ready};
use std::vec;

use tokio_stream::Stream as _;
use tonic::{Request, Status, Streaming};

use crate::answer::{Cancel, Cancelled, Workers};
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::ordered::{Answers, Submitter, answers};
use crate::service::sched::pools::{Permit, Size};
use crate::service::wire::status::shutting_down;

pub(crate) use lines::Lines;
pub(crate) use puzzles::Puzzles;

/// How much goes to the threads as one batch, of what has arrived. A message is never split, so a batch can be one message
/// larger.
#[derive(Clone, Copy)]
struct Bounds {
    messages: usize,
    /// The bytes of puzzles.
    bytes: usize,
}

/// Where messages are answered one after another. Handing a job over costs as much as a few easy puzzles; but a
/// batch of hard ones has one thread to itself, while others may be idle.
const ONE_BY_ONE: Bounds = Bounds { messages: 32, bytes: 16 << 10 };

/// Where all puzzles of a batch are searched together: a thousand are enough to fill the kernel.
const TOGETHER: Bounds = Bounds { messages: 1024, bytes: 1024 * 82 };

/// The same where they take next to no time: then handing a batch over and back is a good part of what it costs.
const BRISKLY: Bounds = Bounds { messages: 4096, bytes: 4096 * 82 };

/// The largest message that is copied in order to be one job with others.
const JOINED_BYTES: usize = 16 << 10;

/// What a bidirectional method makes of its messages.
pub(crate) trait Dialect: Send + Sized + 'static {
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
    fn bytes(request: &Self::Request) -> usize;

    /// Makes work of a message: a matter of microseconds, done where messages are read. `None` if it has become part of the
    /// job before it.
    fn prepare(
        &mut self,
        request: Self::Request,
        before: Option<&mut Self::Job>,
    ) -> Result<Option<Self::Job>, Status>;

    /// Makes room for the answers to a job that is complete, on the thread that will send them.
    fn reserve(job: &mut Self::Job);

    /// Which strategy searches, once it is known.
    fn workers(&self) -> Option<&Workers>;

    /// Does the work, on the pool.
    fn answer(job: &Self::Job, cancel: &dyn Cancel) -> Result<Self::Responses, Cancelled>;

    /// The messages of a job as jobs of their own, if there are several.
    fn split(job: &Self::Job) -> Option<Vec<Self::Job>>;

    /// The answers to a job on which the work panicked: an error for every puzzle.
    fn internal_errors(job: &Self::Job) -> Self::Responses;
}

/// The answers to all messages of a job.
pub(crate) type AllResponses<D> = Flatten<vec::IntoIter<<D as Dialect>::Responses>>;

/// Answers a stream of messages, in order.
pub(crate) fn serve<D: Dialect>(
    context: &Arc<Context>,
    request: Request<Streaming<D::Request>>,
) -> Result<Answers<AllResponses<D>>, Status> {
    let call = context.admit(&request)?;
    let dialect = D::new(Arc::clone(context))?;
    let shared = Arc::clone(context);
    Ok(answers(context, call, |submitter| read(shared, dialect, request.into_inner(), submitter)))
}

/// Reads messages and starts their work until the client has sent all or left, or the server shuts down.
async fn read<D: Dialect>(
    context: Arc<Context>,
    mut dialect: D,
    mut requests: Streaming<D::Request>,
    submitter: Submitter<AllResponses<D>>,
) -> Result<(), Status> {
    loop {
        let Some(place) = submitter.slot().await else { return Ok(()) };
        let mut batch = Batch::new();
        // What has come by then is answered, whether it has had its turn or not.
        let more = tokio::select! {
            biased;
            () = submitter.client_gone() => return Ok(()),
            () = context.draining() => Err(shutting_down()),
            more = gather(&submitter, &mut dialect, &mut requests, &mut batch) => more,
        };
        if batch.messages > 0 {
            metrics::received(D::METHOD, batch.messages);
            let (size, permit) = (batch.size(), batch.permit.take());
            let work = Arc::new(|jobs: &Vec<D::Job>, cancel: &dyn Cancel| answer::<D>(jobs, cancel));
            match permit {
                Some(permit) => place.start_now(permit, batch.into_work::<D>(), work).await,
                None => place.start(size, batch.into_work::<D>(), work).await,
            }
        }
        if !more? {
            return Ok(());
        }
    }
}

/// Does the work on some jobs. Each message is answered, whatever happens.
fn answer<D: Dialect>(jobs: &[D::Job], cancel: &dyn Cancel) -> Result<AllResponses<D>, Cancelled> {
    let try_answer = |job: &D::Job| catch_unwind(AssertUnwindSafe(|| D::answer(job, cancel)));
    let mut responses = Vec::with_capacity(jobs.len());
    for job in jobs {
        if let Ok(answers) = try_answer(job) {
            responses.push(answers?);
        } else if let Some(each) = D::split(job) {
            // On which of its messages it panicked is found out one by one.
            for job in &each {
                responses.push(try_answer(job).unwrap_or_else(|_| Ok(D::internal_errors(job)))?);
            }
        } else {
            responses.push(D::internal_errors(job));
        }
    }
    Ok(responses.into_iter().flatten())
}

/// Memory for the answers to a job, which is had where it will be given back. What threads that search had, the allocator would keep
/// for each of them, in each size that it ever was.
#[derive(Default)]
struct OutputBuffer<T>(Mutex<T>);

impl<T: Default> OutputBuffer<T> {
    const fn new(room: T) -> Self {
        Self(Mutex::new(room))
    }

    /// Takes it: nothing of it is left for a job that is begun anew.
    fn take(&self) -> T {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Messages that go to the threads together.
struct Batch<J> {
    jobs: Vec<J>,
    messages: usize,
    /// The bytes of puzzles in them.
    bytes: usize,
    /// Are their puzzles searched together?
    is_together: bool,
    /// Once it is its turn.
    permit: Option<Permit>,
}

impl<J> Batch<J> {
    const fn new() -> Self {
        Self { jobs: Vec::new(), messages: 0, bytes: 0, is_together: false, permit: None }
    }

    const fn size(&self) -> Size {
        Size::of(self.bytes)
    }

    /// Is there no room for another message?
    const fn is_full(&self, is_handover_bound: bool) -> bool {
        let bounds = match (self.is_together, is_handover_bound) {
            (false, _) => ONE_BY_ONE,
            (true, false) => TOGETHER,
            (true, true) => BRISKLY,
        };
        self.messages >= bounds.messages || self.bytes >= bounds.bytes
    }

    /// Adds a message.
    fn add<D: Dialect<Job = J>>(&mut self, dialect: &mut D, request: D::Request) -> Result<(), Status> {
        let bytes = D::bytes(&request);
        let before = self.jobs.last_mut().filter(|_| bytes <= JOINED_BYTES);
        if let Some(job) = dialect.prepare(request, before)? {
            self.jobs.push(job);
            self.is_together = dialect.workers().is_some_and(Workers::search_together);
        }
        self.messages += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// The jobs, those that are answered at the same time in one piece. Where puzzles are searched together that is all of
    /// them, since whoever waits for the answers is woken for each piece; otherwise each is answered as soon as it is done.
    fn into_work<D: Dialect<Job = J>>(mut self) -> Vec<Vec<J>> {
        self.jobs.iter_mut().for_each(D::reserve);
        if self.is_together { vec![self.jobs] } else { self.jobs.into_iter().map(|job| vec![job]).collect() }
    }
}

/// Waits for a message, and then for its turn. What arrives meanwhile goes along, as far as there is room. False when there
/// are no more messages.
async fn gather<D: Dialect>(
    submitter: &Submitter<AllResponses<D>>,
    dialect: &mut D,
    requests: &mut Streaming<D::Request>,
    batch: &mut Batch<D::Job>,
) -> Result<bool, Status> {
    let Some(first) = requests.message().await? else { return Ok(false) };
    batch.add(dialect, first)?;
    loop {
        let size = batch.size();
        let mut permit = pin!(submitter.permit(size));
        let more = poll_fn(|cx| {
            while batch.size() == size && !batch.is_full(submitter.call().is_handover_bound()) {
                match Pin::new(&mut *requests).poll_next(cx) {
                    Poll::Ready(Some(request)) => batch.add(dialect, request?)?,
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
