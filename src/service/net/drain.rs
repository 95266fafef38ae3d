//! Draining: the bodies of requests that end before their clients have sent everything.
//!
//! A body that is dropped resets its stream. That is allowed behind a complete response, but a client
//! that is still sending may look at the reset only: curl reports an error of framing instead of the
//! response. So a little more is read of such bodies, for a moment; most end within it. And a proxy may
//! lose a response that comes before the end of its request, as Envoy does; so the response waits for that
//! end, if it comes soon.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use tonic::Status;
use tonic::body::Body;

use crate::service::net::framing::{BodyProgress, FramePoll};

/// The bodies that are drained at a time. Further ones are dropped, so that refusals stay cheap.
static DRAINS: Semaphore = Semaphore::const_new(64);

/// The time for which a body is drained.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// The time for which a response waits for the end of the body.
const WAITING_TIME: Duration = Duration::from_millis(50);

/// The bytes of a body that are drained.
const DRAIN_BYTES: usize = 256 * 1024;

/// A body as it comes from its client, before any translation. It counts its pieces, and is drained
/// if it is dropped before its end.
pub(crate) struct DrainedBody {
    body: Body,
    progress: Arc<BodyProgress>,
    has_ended: bool,
    /// Dropped when the body has ended or been drained.
    end: Option<oneshot::Sender<Infallible>>,
    is_dropped: Arc<AtomicBool>,
}

/// The end of a body that nobody reads any more.
pub(crate) struct RestOfBody {
    end: oneshot::Receiver<Infallible>,
    is_dropped: Arc<AtomicBool>,
}

impl DrainedBody {
    pub(crate) fn new(body: Body, progress: Arc<BodyProgress>) -> (Self, RestOfBody) {
        let (sender, end) = oneshot::channel();
        let is_dropped = Arc::<AtomicBool>::default();
        let rest = RestOfBody { end, is_dropped: Arc::clone(&is_dropped) };
        (Self { body, progress, has_ended: false, end: Some(sender), is_dropped }, rest)
    }
}

impl RestOfBody {
    /// Waits for the end of a body that was dropped, for a moment.
    pub(crate) async fn ended(self) {
        if self.is_dropped.load(Ordering::Relaxed) {
            let _ = timeout(WAITING_TIME, self.end).await;
        }
    }
}

impl HttpBody for DrainedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> FramePoll {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => self.progress.received(frame.data_ref().map_or(0, Bytes::len)),
            _ => self.has_ended = true,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        self.is_dropped.store(true, Ordering::Relaxed);
        if !self.has_ended {
            drain_to(std::mem::take(&mut self.body), self.end.take());
        }
    }
}

/// Reads the rest of a body in the background, within bounds.
pub(crate) fn drain(body: Body) {
    drain_to(body, None);
}

fn drain_to(body: Body, end: Option<oneshot::Sender<Infallible>>) {
    if body.is_end_stream() {
        return;
    }
    // At the end of the server there is no runtime, and nobody to answer.
    let (Ok(runtime), Ok(permit)) = (Handle::try_current(), DRAINS.try_acquire()) else { return };
    runtime.spawn(async move {
        // Whether it ended or was too long does not matter.
        let _ = timeout(DRAIN_TIME, read_some(body)).await;
        drop((permit, end));
    });
}

async fn read_some(mut body: Body) {
    let mut read = 0;
    while read < DRAIN_BYTES
        && let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
    {
        read += frame.data_ref().map_or(0, Bytes::len);
    }
}

#[cfg(test)]
mod tests {
    use http_body::Frame;
    use http_body_util::StreamBody;
    use tokio::sync::mpsc;
    use tokio_stream::StreamExt as _;
    use tokio_stream::wrappers::ReceiverStream;

    use super::*;

    #[tokio::test]
    async fn what_is_dropped_before_its_end_is_read_on_within_bounds() {
        let (sender, pieces) = mpsc::channel(1);
        let pieces = ReceiverStream::new(pieces).map(|piece| Ok::<_, Status>(Frame::data(piece)));
        let (body, rest) = DrainedBody::new(Body::new(StreamBody::new(pieces)), Arc::default());
        drop(body);
        let piece = Bytes::from(vec![0; 16 << 10]);
        let mut taken = 0;
        while sender.send(piece.clone()).await.is_ok() {
            taken += piece.len();
        }
        assert!((DRAIN_BYTES..DRAIN_BYTES + 3 * piece.len()).contains(&taken), "{taken}");
        rest.ended().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_waits_for_the_end_of_a_body_that_nobody_reads() {
        let begin = tokio::time::Instant::now();
        let piece = Duration::from_millis(10);
        let pieces = |after: Duration| {
            let end = tokio_stream::once(Ok::<_, Status>(Frame::data(Bytes::from_static(b"{}"))));
            let later = ends_after(after);
            Body::new(StreamBody::new(end.chain(later)))
        };
        let (body, rest) = DrainedBody::new(pieces(piece), Arc::default());
        drop(body);
        rest.ended().await;
        assert_eq!(begin.elapsed(), piece);
        // Not for long, and not where it is still read.
        let (body, rest) = DrainedBody::new(pieces(100 * WAITING_TIME), Arc::default());
        drop(body);
        rest.ended().await;
        assert_eq!(begin.elapsed(), piece + WAITING_TIME);
        let (_body, rest) = DrainedBody::new(pieces(piece), Arc::default());
        rest.ended().await;
        assert_eq!(begin.elapsed(), piece + WAITING_TIME);
    }

    /// A stream of nothing that ends after a while.
    fn ends_after(after: Duration) -> impl tokio_stream::Stream<Item = Result<Frame<Bytes>, Status>> {
        let (sender, pieces) = mpsc::channel(1);
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            drop(sender);
        });
        ReceiverStream::new(pieces)
    }
}
