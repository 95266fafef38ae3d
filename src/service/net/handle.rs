//! Connection handles: who is at the other end, and what it does.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

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

/// The handle of a connection, in the hands of its calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionHandle(Arc<ConnectionState>);

#[derive(Debug, Default)]
struct ConnectionState {
    number: u64,
    peer: Peer,
    /// The calls on it that hold a place, and those that have not brought a whole message; counted by
    /// [`crate::service::net::admission`].
    open_calls: AtomicUsize,
    arriving_calls: AtomicUsize,
    /// Whether its peer has taken no bytes for the idle time-out, over HTTP/1.1.
    has_stalled: AtomicBool,
    /// When bytes have come last.
    received_at: AtomicU64,
}

impl ConnectionHandle {
    /// The handle of a new connection, with a number of its own.
    pub(crate) fn new(peer: Peer) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let received_at = millis().into();
        Self(Arc::new(ConnectionState { number, peer, received_at, ..ConnectionState::default() }))
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

    /// For how long none have come.
    pub(super) fn silent_for(&self) -> Duration {
        Duration::from_millis(millis().saturating_sub(self.0.received_at.load(Ordering::Relaxed)))
    }
}

/// Milliseconds since some moment, the same for all connections.
fn millis() -> u64 {
    static SINCE: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(SINCE.elapsed().as_millis()).unwrap_or(u64::MAX)
}
