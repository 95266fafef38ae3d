//! Ordered responses: the answers of a stream, in the order of its requests.
//!
//! ```text
//!   Submitter ──QueueSlot──▶ queue of batches: [ 1 2 3 ][ 4 5 ][ 6 ] ──▶ OrderedResponses
//!       └────────Permit────▶ worker pools: batches in any order, each fills the slots of its messages
//! ```
//!
//! The queue bounds the answers that a client that does not read can pile up: without a slot, no
//! further request is read. The permits, which a batch returns as soon as it is done, bound the
//! batches of all streams in the pools; a stream waits for one at a time.
//!
//! **Invariant:** a batch gets its slot in the queue before its permit, so answers leave in the
//! order of requests and a batch never holds a permit while it waits for the client.
//!
//! **Invariant:** dropping [`OrderedResponses`] cancels the work and ends the task that reads
//! requests.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::vec;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Sleep;
use tokio_stream::Stream;
use tonic::Status;
use tracing::Instrument as _;

use crate::answer::Cancelled;
use crate::pipeline::Slot;
use crate::service::context::{Call, Context, TakenPuzzles};
use crate::service::net::call::CallState;
use crate::service::sched::pools::{BatchWork, CallWork, CancelOnDrop, Permit, WorkSize};
use crate::service::wire::status::{deadline_passed, work_broke_down};

/// The slots of a batch: each job fills one, with one response or several.
type BatchSlots<R> = Vec<Slot<Result<R, Cancelled>>>;

/// The sending end: submits batches in the order of the requests.
pub(crate) struct Submitter<R> {
    context: Arc<Context>,
    queue: mpsc::Sender<BatchSlots<R>>,
    call: Arc<CallWork>,
    state: Arc<CallState>,
}

/// A slot in the queue for one batch.
pub(crate) struct QueueSlot<'a, R> {
    submitter: &'a Submitter<R>,
    permit: mpsc::Permit<'a, BatchSlots<R>>,
}

impl<R: Send + 'static> Submitter<R> {
    /// Waits for a slot in the queue. `None` if the client has gone.
    pub(crate) async fn slot(&self) -> Option<QueueSlot<'_, R>> {
        let permit = self.queue.reserve().await.ok()?;
        Some(QueueSlot { submitter: self, permit })
    }

    /// The call whose batches are submitted.
    pub(crate) fn call(&self) -> &CallWork {
        &self.call
    }

    /// The most puzzles of a batch, by the quota of the call's token: more would come late, and all
    /// at once.
    pub(crate) fn batch_puzzles(&self) -> usize {
        let quota = self.state.caller().and_then(|caller| caller.puzzles_per_second());
        quota.map_or(usize::MAX, |quota| quota as usize)
    }

    /// Takes the puzzles of a batch off the quota of the call's token, if it has one.
    pub(crate) fn take(&self, puzzles: u64) -> Option<TakenPuzzles<'_>> {
        self.state.caller().map(|caller| TakenPuzzles::take(caller, puzzles))
    }

    /// Waits until the quota covers them, or the client has gone. No permit is held meanwhile.
    pub(crate) async fn covered(&self, taken: Option<TakenPuzzles<'_>>) {
        let Some(taken) = taken else { return };
        tokio::select! {
            () = taken.covered() => {}
            () = self.client_gone() => {}
        }
    }

    /// What the layers around the call know of it.
    pub(crate) fn state(&self) -> &Arc<CallState> {
        &self.state
    }

    /// Waits for a permit for a batch of some size.
    pub(crate) async fn permit(&self, size: WorkSize) -> Permit {
        self.context.pools.permit(&self.call, size).await
    }

    /// Returns when the client has gone.
    pub(crate) async fn client_gone(&self) {
        self.queue.closed().await;
    }
}

impl<R: Send + 'static> QueueSlot<'_, R> {
    /// Waits for a permit and starts a batch: `work` answers one job after another. Nothing is
    /// started if the client goes before that.
    pub(crate) async fn start<J: Send + 'static>(
        self,
        size: WorkSize,
        jobs: Vec<J>,
        work: Arc<BatchWork<J, R>>,
    ) {
        tokio::select! {
            biased;
            () = self.submitter.client_gone() => {}
            permit = self.submitter.permit(size) => self.start_now(permit, jobs, work).await,
        }
    }

    /// Starts a batch that has its permit.
    pub(crate) async fn start_now<J: Send + 'static>(
        self,
        permit: Permit,
        jobs: Vec<J>,
        work: Arc<BatchWork<J, R>>,
    ) {
        let Submitter { context, call, .. } = self.submitter;
        tokio::select! {
            biased;
            () = self.submitter.client_gone() => {}
            batch = context.pools.start(call, permit, jobs, work) => self.permit.send(batch),
        }
    }
}

/// The receiving end: a stream of responses.
pub(crate) struct OrderedResponses<R: IntoIterator> {
    queue: mpsc::Receiver<BatchSlots<R>>,
    /// The rest of the current batch.
    batch: vec::IntoIter<Slot<Result<R, Cancelled>>>,
    /// The oldest slot, whose responses are next.
    oldest: Option<Slot<Result<R, Cancelled>>>,
    /// The rest of the responses of the slot before it.
    responses: Option<R::IntoIter>,
    /// The result of the reading task, once it has ended.
    end: oneshot::Receiver<Result<(), Status>>,
    deadline: Option<Pin<Box<Sleep>>>,
    is_over: bool,
    /// Taken, and so dropped, as soon as the stream is over.
    cancel_on_drop: Option<CancelOnDrop>,
    /// Ends the reading task on drop.
    _wanted: oneshot::Sender<()>,
    call: Call,
}

/// Runs `read`, which reads a client's requests and submits their work, beside the stream of
/// answers. The stream ends with the status that `read` ends with, after the answers to everything
/// that was submitted.
pub(crate) fn answers<R, F>(
    context: &Arc<Context>,
    call: Call,
    read: impl FnOnce(Submitter<R>) -> F,
) -> OrderedResponses<R>
where
    R: IntoIterator + Send + 'static,
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let (sender, queue) = mpsc::channel(context.limits().in_flight_per_stream(context.pools.threads()));
    let (ended, end) = oneshot::channel();
    let call_work = context.new_work(&call.state);
    let cancel_on_drop = Some(CancelOnDrop(Arc::clone(&call_work)));
    let state = Arc::clone(&call.state);
    let reading = read(Submitter { context: Arc::clone(context), queue: sender, call: call_work, state });
    let (wanted, unwanted) = oneshot::channel();
    let task = async move {
        tokio::select! {
            _ = unwanted => {}
            // The client may be gone, and then the result does not matter.
            result = reading => drop(ended.send(result)),
        }
    };
    tokio::spawn(task.in_current_span());
    OrderedResponses {
        queue,
        batch: Vec::new().into_iter(),
        oldest: None,
        responses: None,
        end,
        deadline: call.deadline.timer().map(Box::pin),
        is_over: false,
        cancel_on_drop,
        _wanted: wanted,
        call,
    }
}

impl<R: IntoIterator> OrderedResponses<R> {
    /// The next response, or the end.
    fn poll_response(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Result<R::Item, Status>>> {
        if let Some(timer) = &mut self.deadline
            && timer.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Some(Err(deadline_passed())));
        }
        loop {
            if let Some(response) = self.responses.as_mut().and_then(Iterator::next) {
                self.call.gave();
                return Poll::Ready(Some(Ok(response)));
            }
            if let Some(slot) = &mut self.oldest {
                let responses = ready!(Pin::new(slot).poll(cx));
                self.oldest = None;
                // Only dropping this stream cancels work, and jobs catch their own panics.
                let Ok(Ok(responses)) = responses else { return Poll::Ready(Some(Err(work_broke_down()))) };
                self.responses = Some(responses.into_iter());
                continue;
            }
            self.oldest = self.batch.next();
            if self.oldest.is_none() {
                match ready!(self.queue.poll_recv(cx)) {
                    Some(batch) => self.batch = batch.into_iter(),
                    None => break,
                }
            }
        }
        Poll::Ready(match ready!(Pin::new(&mut self.end).poll(cx)) {
            Ok(Ok(())) => None,
            Ok(Err(status)) => Some(Err(status)),
            // The reading task panicked.
            Err(_) => Some(Err(work_broke_down())),
        })
    }
}

impl<R> Stream for OrderedResponses<R>
where
    R: IntoIterator<IntoIter: Unpin>,
{
    type Item = Result<R::Item, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = ready!(self.poll_response(cx));
        if !matches!(next, Some(Ok(_))) {
            // The transport may keep this stream for a while, so the work is cancelled now.
            self.is_over = true;
            self.cancel_on_drop = None;
            self.oldest = None;
            self.responses = None;
            self.batch = Vec::new().into_iter();
            self.queue.close();
        }
        Poll::Ready(next)
    }
}
