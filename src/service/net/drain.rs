//! Draining: the bodies of requests that were refused before they were read.
//!
//! A body that is dropped resets its stream. That is allowed behind a complete response, but a client
//! that is still sending may look at the reset only: curl reports an error of framing instead of the
//! response. So a little more is read of such bodies, for a moment; most end within it.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use http_body::Body as HttpBody;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tonic::body::Body;

/// The bodies that are drained at a time. Further ones are dropped, so that refusals stay cheap.
static DRAINS: Semaphore = Semaphore::const_new(64);

/// The time for which a body is drained.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// The bytes of a body that are drained.
const DRAIN_BYTES: usize = 256 * 1024;

/// Reads the rest of a body in the background, within bounds. Must be called within a runtime.
pub(crate) fn drain(body: Body) {
    if body.is_end_stream() {
        return;
    }
    let Ok(permit) = DRAINS.try_acquire() else { return };
    tokio::spawn(async move {
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
        read += frame.data_ref().map_or(0, bytes::Bytes::len);
    }
}
