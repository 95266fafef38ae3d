//! Draining: the bodies of requests that end before their clients have sent everything.
//!
//! A body that is dropped resets its stream. That is allowed behind a complete response, but a client
//! that is still sending may look at the reset only: curl reports an error of framing instead of the
//! response. So a little more is read of such bodies, for a moment; most end within it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tonic::Status;
use tonic::body::Body;

use crate::service::net::framing::BodyProgress;

/// The bodies that are drained at a time. Further ones are dropped, so that refusals stay cheap.
static DRAINS: Semaphore = Semaphore::const_new(64);

/// The time for which a body is drained.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// The bytes of a body that are drained.
const DRAIN_BYTES: usize = 256 * 1024;

/// A body as it comes from its client, before any translation. It counts its pieces, and is drained
/// if it is dropped before its end.
pub(crate) struct DrainedBody {
    body: Body,
    progress: Arc<BodyProgress>,
    has_ended: bool,
}

impl DrainedBody {
    pub(crate) const fn new(body: Body, progress: Arc<BodyProgress>) -> Self {
        Self { body, progress, has_ended: false }
    }
}

impl HttpBody for DrainedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
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
        if !self.has_ended {
            drain(std::mem::take(&mut self.body));
        }
    }
}

/// Reads the rest of a body in the background, within bounds.
pub(crate) fn drain(body: Body) {
    if body.is_end_stream() {
        return;
    }
    // At the end of the server there is no runtime, and nobody to answer.
    let (Ok(runtime), Ok(permit)) = (Handle::try_current(), DRAINS.try_acquire()) else { return };
    runtime.spawn(async move {
        // Whether it ended or was too long does not matter.
        let _ = timeout(DRAIN_TIME, read_some(body)).await;
        drop(permit);
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
    use http_body_util::StreamBody;
    use tokio::sync::mpsc;
    use tokio_stream::StreamExt as _;
    use tokio_stream::wrappers::ReceiverStream;

    use super::*;

    #[tokio::test]
    async fn what_is_dropped_before_its_end_is_read_on_within_bounds() {
        let (sender, pieces) = mpsc::channel(1);
        let pieces = ReceiverStream::new(pieces).map(|piece| Ok::<_, Status>(Frame::data(piece)));
        drop(DrainedBody::new(Body::new(StreamBody::new(pieces)), Arc::default()));
        let piece = Bytes::from(vec![0; 16 << 10]);
        let mut taken = 0;
        while sender.send(piece.clone()).await.is_ok() {
            taken += piece.len();
        }
        assert!((DRAIN_BYTES..DRAIN_BYTES + 3 * piece.len()).contains(&taken), "{taken}");
    }
}
