//! The handle by which a call can close its connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Context as TaskContext;

use atomic_waker::AtomicWaker;

/// Lets a call close the connection it came on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionHandle(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_closed: AtomicBool,
    reader: AtomicWaker,
}

impl ConnectionHandle {
    /// Closes the connection, with whatever is on it.
    pub(crate) fn close(&self) {
        self.0.is_closed.store(true, Ordering::Release);
        self.0.reader.wake();
    }

    /// Has it been closed? The reader is woken when it is.
    pub(super) fn is_closed(&self, cx: &TaskContext<'_>) -> bool {
        self.0.reader.register(cx.waker());
        self.0.is_closed.load(Ordering::Acquire)
    }
}
