//! Connection handles, by which a call can close its connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Context as TaskContext;

use atomic_waker::AtomicWaker;

/// The handle of a connection, in the hands of its calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionHandle(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_closed: AtomicBool,
    reader: AtomicWaker,
}

impl ConnectionHandle {
    /// Closes the connection, with all calls on it.
    pub(crate) fn close(&self) {
        self.0.is_closed.store(true, Ordering::Release);
        self.0.reader.wake();
    }

    /// Whether it has been closed. Otherwise the reader is woken when it is.
    pub(super) fn is_closed(&self, cx: &TaskContext<'_>) -> bool {
        self.0.reader.register(cx.waker());
        self.0.is_closed.load(Ordering::Acquire)
    }
}
