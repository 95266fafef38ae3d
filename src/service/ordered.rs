//! The answers of a stream, in order.
//!
//! ```text
//!   feeder ──place──▶ queue of batches: [ 1 2 3 ][ 4 5 ][ 6 ] ──▶ Answers, which the transport polls
//!      └────turn────▶ pool: batches in any order, each fills the slots of its messages
//! ```
//!
//! A batch first needs a place in its stream's queue, then a turn on the pool. The queue bounds what a
//! client that does not read can pile up: no place, no further reading. The turns, which a batch gives back as
//! soon as it is done, bound what all streams have on the pool, and streams take them one at a time.
//!
//! Dropping [`Answers`] tells the work to stop and the feeder to leave.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context as Poller, Poll, ready};
use std::vec;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Sleep;
use tokio_stream::Stream;
use tonic::Status;

use super::context::{Call, CancelOnDrop, Context, broken_down};
use super::deadline;
use crate::answer::Cancelled;
use crate::pipeline::{Panicked, Slot, submit_together};

/// How many batches of one stream may be under way for each thread of the pool: enough for a stream by
/// itself to keep all threads busy while answers travel.
const QUEUED_PER_THREAD: usize = 2;

/// The responses of a batch, each in the place that was kept for it.
type Batch<R> = Vec<Slot<Result<R, Cancelled>>>;

/// The end that work goes in by.
pub(super) struct Feeder<R> {
    context: Arc<Context>,
    queue: mpsc::Sender<Batch<R>>,
    cancel: Arc<AtomicBool>,
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

    /// Returns when the client has left.
    pub(super) async fn client_left(&self) {
        self.queue.closed().await;
    }
}

impl<R: Send + 'static> Place<'_, R> {
    /// Starts a batch when it is its turn: `work` answers one job after another. Nothing is started if the client
    /// leaves before that.
    pub(super) async fn start<J: Send + 'static>(
        self,
        jobs: Vec<J>,
        work: impl Fn(&J, &AtomicBool) -> Result<R, Cancelled> + Send + 'static,
    ) {
        let Feeder { context, cancel, .. } = self.feeder;
        let turn = tokio::select! {
            biased;
            () = self.feeder.client_left() => return,
            turn = context.turn() => turn,
        };
        let cancel = Arc::clone(cancel);
        self.permit.send(submit_together(&context.pool, jobs, move |job| {
            // Moved in, so that it is given back when the whole batch is done.
            let _turn = &turn;
            work(job, &cancel)
        }));
    }
}

/// The end that the answers come out of: a response stream.
pub(super) struct Answers<R> {
    queue: mpsc::Receiver<Batch<R>>,
    /// What is left of the batch at hand.
    batch: vec::IntoIter<Slot<Result<R, Cancelled>>>,
    /// The oldest slot, whose response is next.
    oldest: Option<Slot<Result<R, Cancelled>>>,
    /// How the feeder ended, once it has.
    end: oneshot::Receiver<Result<(), Status>>,
    deadline: Option<Pin<Box<Sleep>>>,
    is_over: bool,
    /// Taken, and so dropped, as soon as the stream is over.
    cancel: Option<CancelOnDrop>,
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
    R: Send + 'static,
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let bound = QUEUED_PER_THREAD * context.pool.current_num_threads();
    let (sender, queue) = mpsc::channel(bound);
    let (ended, end) = oneshot::channel();
    let cancel = CancelOnDrop::default();
    let feeding = feed(Feeder { context: Arc::clone(context), queue: sender, cancel: cancel.flag() });
    tokio::spawn(async move {
        let result = feeding.await;
        // The receiver may have left; then nobody wants to know.
        let _ = ended.send(result);
    });
    Answers {
        queue,
        batch: Vec::new().into_iter(),
        oldest: None,
        end,
        deadline: call.deadline.timer().map(Box::pin),
        is_over: false,
        cancel: Some(cancel),
        _call: call,
    }
}

impl<R> Answers<R> {
    /// The next response, or the end.
    fn poll_response(&mut self, poller: &mut Poller<'_>) -> Poll<Option<Result<R, Status>>> {
        if let Some(timer) = &mut self.deadline
            && timer.as_mut().poll(poller).is_ready()
        {
            return Poll::Ready(Some(Err(deadline::exceeded())));
        }
        loop {
            if let Some(slot) = &mut self.oldest {
                let response = ready!(Pin::new(slot).poll(poller));
                self.oldest = None;
                // Work is only cancelled by dropping this stream, and a job answers for its own panics.
                return Poll::Ready(Some(match response {
                    Ok(Ok(response)) => Ok(response),
                    Ok(Err(Cancelled)) | Err(Panicked) => Err(broken_down()),
                }));
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

impl<R: Unpin> Stream for Answers<R> {
    type Item = Result<R, Status>;

    fn poll_next(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = ready!(self.poll_response(poller));
        if !matches!(next, Some(Ok(_))) {
            // The transport may keep this stream for a while yet: stop the work and the feeder now.
            self.is_over = true;
            self.cancel = None;
            self.oldest = None;
            self.batch = Vec::new().into_iter();
            self.queue.close();
        }
        Poll::Ready(next)
    }
}
