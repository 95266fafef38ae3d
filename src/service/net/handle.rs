//! Connection handles: who is at the other end, what it does, and the means to close the connection.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::poison::IgnorePoison as _;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Peer {
    /// An address of the network.
    Network(SocketAddr),
    /// A process of this machine, over a socket in the file system, or one that is not known.
    #[default]
    Local,
}

impl Peer {
    /// The address whose connections have a share together. None for the machine itself, because a
    /// proxy there speaks for clients that have nothing to do with each other.
    pub(crate) fn shared_address(&self) -> Option<IpAddr> {
        match self {
            Self::Network(address) => {
                Some(address.ip().to_canonical()).filter(|address| !address.is_loopback())
            }
            Self::Local => None,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(address) => address.fmt(f),
            Self::Local => f.write_str("unix"),
        }
    }
}

/// The time that a connection which is asked to leave has for its last words.
pub(super) const LEAVE_TIME: Duration = Duration::from_millis(250);

/// How a connection that is idle is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leave {
    /// After the requests that are under way.
    Soon,
    /// At once, because others wait for its place.
    Now,
}

/// The handle of a connection, in the hands of its calls.
#[derive(Clone, Default)]
pub(crate) struct ConnectionHandle(Arc<ConnectionState>);

#[derive(Default)]
struct ConnectionState {
    number: u64,
    peer: Peer,
    /// The calls on it that hold a place, and those that have not brought a whole message; counted by
    /// [`crate::service::net::admission`].
    open_calls: AtomicUsize,
    arriving_calls: AtomicUsize,
    /// Whether its peer has taken no bytes for the idle time-out, over HTTP/1.1.
    has_stalled: AtomicBool,
    /// When bytes have come last, and when the last call that held a place has ended.
    received_at: AtomicU64,
    idle_since: AtomicU64,
    /// The frames with parts of answers that were sent and not counted yet, over HTTP/2.
    answer_frames: AtomicI64,
    /// Whether its peer has sent more control frames than it may, and what wakes those who serve it.
    is_flooded: AtomicBool,
    flooded: Notify,
    /// How it was asked to leave, and what wakes those who serve it then.
    leave: Mutex<Option<Leave>>,
    asked_to_leave: Notify,
}

impl ConnectionHandle {
    /// The handle of a new connection, with a number of its own.
    pub(crate) fn new(peer: Peer) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (received_at, idle_since) = (millis().into(), millis().into());
        Self(Arc::new(ConnectionState {
            number,
            peer,
            received_at,
            idle_since,
            ..ConnectionState::default()
        }))
    }

    /// The number of the connection; 0 for calls without one.
    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    /// The other end.
    pub(crate) fn peer(&self) -> Peer {
        self.0.peer
    }

    /// The calls on it that hold a place.
    pub(super) fn open_calls(&self) -> &AtomicUsize {
        &self.0.open_calls
    }

    /// The calls on it that have not brought a whole message.
    pub(super) fn arriving_calls(&self) -> &AtomicUsize {
        &self.0.arriving_calls
    }

    /// Records that its peer has taken no bytes for the idle time-out. Returns whether that is known.
    pub(super) fn stalled(&self) -> bool {
        self.0.has_stalled.swap(true, Ordering::Relaxed)
    }

    /// Whether that was so.
    pub(super) fn has_stalled(&self) -> bool {
        self.0.has_stalled.load(Ordering::Relaxed)
    }

    /// Records that bytes have come.
    pub(super) fn received(&self) {
        self.0.received_at.store(millis(), Ordering::Relaxed);
    }

    /// Records that the last call which held a place has ended.
    pub(super) fn has_become_idle(&self) {
        self.0.idle_since.store(millis(), Ordering::Relaxed);
    }

    /// For how long no call on it has held a place, if none does.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        (self.open_calls().load(Ordering::Relaxed) == 0).then(|| since(&self.0.idle_since))
    }

    /// Records that a frame with a part of an answer was sent.
    pub(super) fn sent_answer_frame(&self) {
        self.0.answer_frames.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of those since the last look.
    pub(super) fn take_answer_frames(&self) -> i64 {
        self.0.answer_frames.swap(0, Ordering::Relaxed)
    }

    /// Records that its peer has sent more control frames than it may.
    pub(super) fn has_flooded(&self) {
        if !self.0.is_flooded.swap(true, Ordering::Relaxed) {
            self.0.flooded.notify_one();
        }
    }

    /// Whether that is so.
    pub(super) fn is_flooded(&self) -> bool {
        self.0.is_flooded.load(Ordering::Relaxed)
    }

    /// Returns when it is so.
    pub(super) async fn flooded(&self) {
        self.0.flooded.notified().await;
    }

    /// Asks it to leave. Whether it was not asked so urgently before.
    pub(super) fn ask_to_leave(&self, how: Leave) -> bool {
        let mut asked = self.0.leave.lock().ignore_poison();
        let is_new = asked.is_none_or(|before| before < how);
        if is_new {
            *asked = Some(how);
            self.0.asked_to_leave.notify_one();
        }
        is_new
    }

    /// Records that it leaves behind its calls, because it is not idle any more. It may be asked again.
    pub(super) fn leaves_soon(&self) {
        *self.0.leave.lock().ignore_poison() = Some(Leave::Soon);
    }

    /// Whether it was asked to leave at once.
    pub(super) fn makes_way(&self) -> bool {
        *self.0.leave.lock().ignore_poison() == Some(Leave::Now)
    }

    /// Returns when it is asked to leave, more urgently than it was `before`.
    pub(super) async fn asked_to_leave(&self, before: Option<Leave>) -> Leave {
        loop {
            let asked = *self.0.leave.lock().ignore_poison();
            if let Some(how) = asked
                && asked > before
            {
                return how;
            }
            self.0.asked_to_leave.notified().await;
        }
    }

    /// For how long none have come.
    pub(super) fn silent_for(&self) -> Duration {
        since(&self.0.received_at)
    }
}

/// The time since a moment.
fn since(moment: &AtomicU64) -> Duration {
    Duration::from_millis(millis().saturating_sub(moment.load(Ordering::Relaxed)))
}

/// Milliseconds since some moment, the same for all connections.
fn millis() -> u64 {
    static SINCE: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(SINCE.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for ConnectionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConnectionHandle").field(&self.0.number).field(&self.0.peer).finish()
    }
}
