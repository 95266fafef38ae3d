//! The answers of a stream, in order.
//!
//! ```text
//!   feeder ──place──▶ queue of batches: [ 1 2 3 ][ 4 5 ][ 6 ] ──▶ Answers, which the transport polls
//!      └────turn────▶ crew: batches in any order, each fills the slots of its messages
//! ```
//!
//! A batch first needs a place in its stream's queue, then a turn on the threads. The queue bounds what a
//! client that does not read can pile up: no place, no further reading. The turns, which a batch gives back as
//! soon as it is done, bound what all streams have on the threads, and streams take them one at a time.
//!
//! Dropping [`Answers`] tells the work to stop and the feeder to leave.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as Poller, Poll, ready};
use std::time::Duration;
use std::vec;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tonic::Status;
use tracing::Instrument as _;

use crate::answer::Cancelled;
use crate::pipeline::Slot;
use crate::service::context::{Call, Context, cut_off};
use crate::service::sched::pools::{CallWork, CancelOnDrop, Permit, Size, Work};
use crate::service::wire::status::{broken_down, deadline_passed};

/// What the jobs of a batch bring, each in the place that was kept for it: one response or several.
type Batch<R> = Vec<Slot<Result<R, Cancelled>>>;

/// The end that work goes in by.
pub(crate) struct Submitter<R> {
    context: Arc<Context>,
    queue: mpsc::Sender<Batch<R>>,
    call_work: Arc<CallWork>,
}

/// A place in the queue for one batch.
pub(crate) struct QueueSlot<'a, R> {
    submitter: &'a Submitter<R>,
    permit: mpsc::Permit<'a, Batch<R>>,
}

impl<R: Send + 'static> Submitter<R> {
    /// Waits for a place in the queue. `None` if the client has left.
    pub(crate) async fn slot(&self) -> Option<QueueSlot<'_, R>> {
        let permit = self.queue.reserve().await.ok()?;
        Some(QueueSlot { submitter: self, permit })
    }

    /// The call that it works for.
    pub(crate) fn call_work(&self) -> &CallWork {
        &self.call_work
    }

    /// Waits for the right to start a batch of some size.
    pub(crate) async fn permit(&self, size: Size) -> Permit {
        self.context.pools.permit(size).await
    }

    /// Returns when the client has left.
    pub(crate) async fn client_left(&self) {
        self.queue.closed().await;
    }
}

impl<R: Send + 'static> QueueSlot<'_, R> {
    /// Starts a batch when it is its turn: `work` answers one job after another. Nothing is started if the client
    /// leaves before that.
    pub(crate) async fn start<J: Send + 'static>(self, size: Size, jobs: Vec<J>, work: Arc<Work<J, R>>) {
        tokio::select! {
            biased;
            () = self.submitter.client_left() => {}
            permit = self.submitter.permit(size) => self.start_now(permit, jobs, work).await,
        }
    }

    /// The same for a batch whose turn it is.
    pub(crate) async fn start_now<J: Send + 'static>(
        self,
        permit: Permit,
        jobs: Vec<J>,
        work: Arc<Work<J, R>>,
    ) {
        let Submitter { context, call_work, .. } = self.submitter;
        tokio::select! {
            biased;
            () = self.submitter.client_left() => {}
            batch = context.pools.start(call_work, permit, jobs, work) => self.permit.send(batch),
        }
    }
}

/// The end that the answers come out of: a response stream.
pub(crate) struct Answers<R: IntoIterator> {
    queue: mpsc::Receiver<Batch<R>>,
    /// What is left of the batch at hand.
    batch: vec::IntoIter<Slot<Result<R, Cancelled>>>,
    /// The oldest slot, whose responses are next.
    oldest: Option<Slot<Result<R, Cancelled>>>,
    /// What is left of the responses that the slot before it brought.
    responses: Option<R::IntoIter>,
    /// How the feeder ended, once it has.
    end: oneshot::Receiver<Result<(), Status>>,
    deadline: Option<Pin<Box<Sleep>>>,
    is_over: bool,
    /// Taken, and so dropped, as soon as the stream is over.
    call_work: Option<CancelOnDrop>,
    activity: Arc<Activity>,
    /// Tells the feeder by being dropped that nobody wants more.
    _wanted: oneshot::Sender<()>,
    _call: Call,
}

/// Runs `feed`, which reads a client's requests and starts their work, beside the stream of answers. The stream
/// ends with the status that `feed` ends with, after the answers to everything that was started.
pub(crate) fn answers<R, F>(
    context: &Arc<Context>,
    call: Call,
    feed: impl FnOnce(Submitter<R>) -> F,
) -> Answers<R>
where
    R: IntoIterator + Send + 'static,
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let (sender, queue) = mpsc::channel(context.limits.in_flight_per_stream(context.pools.threads()));
    let (ended, end) = oneshot::channel();
    let call_work = context.call_work();
    let leaving = CancelOnDrop(Arc::clone(&call_work));
    let feeding = feed(Submitter { context: Arc::clone(context), queue: sender, call_work });
    let activity = Arc::new(Activity::default());
    let idle = idle(Arc::clone(&activity), context.limits.idle_timeout);
    let (wanted, unwanted) = oneshot::channel();
    let handle = call.handle.clone();
    let feeding = async move {
        let feeding = async {
            let result = feeding.await;
            // The receiver may have left; then nobody wants to know.
            let _ = ended.send(result);
            // What was answered has still to be taken.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = unwanted => {}
            () = feeding => {}
            () = idle => cut_off(handle.as_ref()),
        }
    };
    tokio::spawn(feeding.in_current_span());
    Answers {
        queue,
        batch: Vec::new().into_iter(),
        oldest: None,
        responses: None,
        end,
        deadline: call.deadline.timer().map(Box::pin),
        is_over: false,
        call_work: Some(leaving),
        activity,
        _wanted: wanted,
        _call: call,
    }
}

/// Whether the transport asks for answers. It does so only while the client takes them.
#[derive(Debug, Default)]
struct Activity {
    /// How many answers it has been given. The lowest bit says that it waits for one.
    given: AtomicU64,
}

impl Activity {
    /// The transport was given an answer.
    fn give(&self) {
        self.given.store((self.given.load(Ordering::Relaxed) & !1) + 2, Ordering::Relaxed);
    }

    /// The transport waits for an answer.
    fn wait(&self) {
        self.given.fetch_or(1, Ordering::Relaxed);
    }
}

/// Returns when the transport has not asked for so long.
async fn idle(activity: Arc<Activity>, time: Duration) {
    /// How often it is looked whether it has.
    const LOOKS: u32 = 4;
    let (mut seen, mut looks) = (0, 0);
    while looks < LOOKS {
        sleep(time / LOOKS).await;
        let given = activity.given.load(Ordering::Relaxed);
        let is_waiting = given & 1 == 1;
        looks = if given != seen || is_waiting { 0 } else { looks + 1 };
        seen = given;
    }
}

impl<R: IntoIterator> Answers<R> {
    /// The next response, or the end.
    fn poll_response(&mut self, poller: &mut Poller<'_>) -> Poll<Option<Result<R::Item, Status>>> {
        if let Some(timer) = &mut self.deadline
            && timer.as_mut().poll(poller).is_ready()
        {
            return Poll::Ready(Some(Err(deadline_passed())));
        }
        loop {
            if let Some(response) = self.responses.as_mut().and_then(Iterator::next) {
                return Poll::Ready(Some(Ok(response)));
            }
            if let Some(slot) = &mut self.oldest {
                let responses = ready!(Pin::new(slot).poll(poller));
                self.oldest = None;
                // Work is only cancelled by dropping this stream, and a job answers for its own panics.
                let Ok(Ok(responses)) = responses else { return Poll::Ready(Some(Err(broken_down()))) };
                self.responses = Some(responses.into_iter());
                continue;
            }
            self.oldest = self.batch.next();
            if self.oldest.is_none() {
                match ready!(self.queue.poll_recv(poller)) {
                    Some(batch) => self.batch = batch.into_iter(),
                    None => break,
                }
            }
        }
        Poll::Ready(match ready!(Pin::new(&mut self.end).poll(poller)) {
            Ok(Ok(())) => None,
            Ok(Err(status)) => Some(Err(status)),
            // The feeder panicked.
            Err(_) => Some(Err(broken_down())),
        })
    }
}

impl<R> Stream for Answers<R>
where
    R: IntoIterator<IntoIter: Unpin>,
{
    type Item = Result<R::Item, Status>;

    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = match self.poll_response(poller) {
            Poll::Ready(next) => next,
            Poll::Pending => {
                self.activity.wait();
                return Poll::Pending;
            }
        };
        self.activity.give();
        if !matches!(next, Some(Ok(_))) {
            // The transport may keep this stream for a while yet: stop the work and the feeder now.
            self.is_over = true;
            self.call_work = None;
            self.oldest = None;
            self.responses = None;
            self.batch = Vec::new().into_iter();
            self.queue.close();
        }
        Poll::Ready(next)
    }
}
