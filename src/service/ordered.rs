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

use super::context::{Call, Context, cut_off};
use super::crew::{Caller, LeaveOnDrop, Size, Turn, Work};
use super::refusal::{broken_down, deadline_passed};
use crate::answer::Cancelled;
use crate::pipeline::Slot;

/// What the jobs of a batch bring, each in the place that was kept for it: one response or several.
type Batch<R> = Vec<Slot<Result<R, Cancelled>>>;

/// The end that work goes in by.
pub(super) struct Feeder<R> {
    context: Arc<Context>,
    queue: mpsc::Sender<Batch<R>>,
    caller: Arc<Caller>,
}

/// A place in the queue for one batch.
pub(super) struct Place<'a, R> {
    feeder: &'a Feeder<R>,
    permit: mpsc::Permit<'a, Batch<R>>,
}

impl<R: Send + 'static> Feeder<R> {
    /// Waits for a place in the queue. `None` if the client has left.
    pub(super) async fn place(&self) -> Option<Place<'_, R>> {
        let permit = self.queue.reserve().await.ok()?;
        Some(Place { feeder: self, permit })
    }

    /// The call that it works for.
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Waits for the right to start a batch of some size.
    pub(super) async fn turn(&self, size: Size) -> Turn {
        self.context.crew.turn(size).await
    }

    /// Returns when the client has left.
    pub(super) async fn client_left(&self) {
        self.queue.closed().await;
    }
}

impl<R: Send + 'static> Place<'_, R> {
    /// Starts a batch when it is its turn: `work` answers one job after another. Nothing is started if the client
    /// leaves before that.
    pub(super) async fn start<J: Send + 'static>(self, size: Size, jobs: Vec<J>, work: Arc<Work<J, R>>) {
        tokio::select! {
            biased;
            () = self.feeder.client_left() => {}
            turn = self.feeder.turn(size) => self.start_now(turn, jobs, work).await,
        }
    }

    /// The same for a batch whose turn it is.
    pub(super) async fn start_now<J: Send + 'static>(self, turn: Turn, jobs: Vec<J>, work: Arc<Work<J, R>>) {
        let Feeder { context, caller, .. } = self.feeder;
        tokio::select! {
            biased;
            () = self.feeder.client_left() => {}
            batch = context.crew.start(caller, turn, jobs, work) => self.permit.send(batch),
        }
    }
}

/// The end that the answers come out of: a response stream.
pub(super) struct Answers<R: IntoIterator> {
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
    caller: Option<LeaveOnDrop>,
    pace: Arc<Pace>,
    /// Tells the feeder by being dropped that nobody wants more.
    _wanted: oneshot::Sender<()>,
    _call: Call,
}

/// Runs `feed`, which reads a client's requests and starts their work, beside the stream of answers. The stream
/// ends with the status that `feed` ends with, after the answers to everything that was started.
pub(super) fn answers<R, F>(
    context: &Arc<Context>,
    call: Call,
    feed: impl FnOnce(Feeder<R>) -> F,
) -> Answers<R>
where
    R: IntoIterator + Send + 'static,
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let (sender, queue) = mpsc::channel(context.limits.in_flight_per_stream(context.crew.threads()));
    let (ended, end) = oneshot::channel();
    let caller = context.caller();
    let leaving = LeaveOnDrop(Arc::clone(&caller));
    let feeding = feed(Feeder { context: Arc::clone(context), queue: sender, caller });
    let pace = Arc::new(Pace::default());
    let idle = idle(Arc::clone(&pace), context.limits.idle_timeout);
    let (wanted, unwanted) = oneshot::channel();
    let link = call.link.clone();
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
            () = idle => cut_off(link.as_ref()),
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
        caller: Some(leaving),
        pace,
        _wanted: wanted,
        _call: call,
    }
}

/// Whether the transport asks for answers. It does so only while the client takes them.
#[derive(Debug, Default)]
struct Pace {
    /// How many answers it has been given. The lowest bit says that it waits for one.
    given: AtomicU64,
}

impl Pace {
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
async fn idle(pace: Arc<Pace>, time: Duration) {
    /// How often it is looked whether it has.
    const LOOKS: u32 = 4;
    let (mut seen, mut looks) = (0, 0);
    while looks < LOOKS {
        sleep(time / LOOKS).await;
        let given = pace.given.load(Ordering::Relaxed);
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
                self.pace.wait();
                return Poll::Pending;
            }
        };
        self.pace.give();
        if !matches!(next, Some(Ok(_))) {
            // The transport may keep this stream for a while yet: stop the work and the feeder now.
            self.is_over = true;
            self.caller = None;
            self.oldest = None;
            self.responses = None;
            self.batch = Vec::new().into_iter();
            self.queue.close();
        }
        Poll::Ready(next)
    }
}
