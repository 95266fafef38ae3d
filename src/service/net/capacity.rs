//! The capacity for connections: who has a place, and who makes way for others.
//!
//! ```text
//!   accepted ─▶ share of the address? ─▶ a place? ────────────────▶ greeting, HTTP/1.1 or HTTP/2
//!               │ none: closed           │ none: the longest idle
//!               ▼                        ▼ connection is closed, and its place waited for
//! ```
//!
//! A connection is idle while no call on it holds a place of its own: one whose messages never become
//! whole is idle too, and so is one that says nothing at all. All connections of an address together
//! may hold three times what is free; the machine's own have no such share, because a proxy there
//! speaks for others.
//!
//! **Invariant:** every open connection and every handshake under way holds a place, so there are
//! never more than the limit; only those that have just been told to make way linger for a moment.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use crate::poison::IgnorePoison as _;
use crate::service::metrics::{self, Closed};
use crate::service::net::handle::{ConnectionHandle, Leave};

/// The peers that wait here for the end of other connections. Those behind them are not accepted.
const WAITING: usize = 64;

/// The time between two lines in the log about peers that wait, or were sent away.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The time after which a peer that waits looks again for a connection that is idle.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The multiple of the free places that an address may hold.
const ADDRESS_SHARE: usize = 3;

/// The looks at idle connections within their time-out.
const LOOKS: u32 = 8;

/// The capacity for connections.
pub(crate) struct ConnectionCapacity {
    permits: Arc<Semaphore>,
    limit: AtomicUsize,
    waiting: Arc<Semaphore>,
    open: Mutex<OpenConnections>,
    /// The warning that all connections are open, and the one that an address has its share.
    full_warning: RareLine,
    share_warning: RareLine,
}

/// A line that is logged once a minute at most.
#[derive(Default)]
struct RareLine {
    logged_at: Mutex<Option<Instant>>,
}

impl RareLine {
    fn log(&self, line: impl FnOnce()) {
        let mut logged_at = self.logged_at.lock().ignore_poison();
        if logged_at.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
            *logged_at = Some(Instant::now());
            line();
        }
    }
}

#[derive(Default)]
struct OpenConnections {
    by_number: HashMap<u64, (ConnectionHandle, OwnedSemaphorePermit)>,
    by_address: HashMap<IpAddr, usize>,
}

/// The place of a connection, which is free when it is dropped.
pub(crate) struct ConnectionPlace {
    capacity: Weak<ConnectionCapacity>,
    handle: ConnectionHandle,
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl ConnectionPlace {
    /// The handle of the connection.
    pub(super) fn handle(&self) -> &ConnectionHandle {
        &self.handle
    }

    /// Leaves the place to others, before the connection is gone.
    pub(super) fn give_up(&self) {
        let Some(capacity) = self.capacity.upgrade() else { return };
        let mut open = capacity.open();
        let Some((handle, _permit)) = open.by_number.remove(&self.handle.number()) else { return };
        if let Some(address) = handle.peer().shared_address()
            && let Some(count) = open.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&address);
            }
        }
    }
}

impl ConnectionCapacity {
    /// Capacity for so many connections.
    pub(crate) fn new(connections: usize) -> Arc<Self> {
        let connections = connections.min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            permits: Arc::new(Semaphore::new(connections)),
            limit: AtomicUsize::new(connections),
            waiting: Arc::new(Semaphore::new(WAITING)),
            open: Mutex::default(),
            full_warning: RareLine::default(),
            share_warning: RareLine::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().ignore_poison()
    }

    /// Changes the capacity. Connections that are open stay open.
    pub(crate) fn set_limit(&self, connections: usize) {
        let new = connections.min(Semaphore::MAX_PERMITS);
        let old = self.limit.swap(new, Ordering::Relaxed);
        if new >= old {
            self.permits.add_permits(new - old);
            return;
        }
        let permits = Arc::clone(&self.permits);
        // Some may be taken; they are gone when they come back.
        tokio::spawn(async move {
            for _ in new..old {
                if let Ok(permit) = permits.acquire().await {
                    permit.forget();
                }
            }
        });
    }

    /// Whether peers wait for capacity.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.available_permits() < WAITING
    }

    /// Closes connections that have been idle for the time-out, as it is now, until the capacity is gone.
    pub(crate) async fn close_idle(capacity: Weak<Self>, timeout: impl Fn() -> Duration) {
        loop {
            let timeout = timeout();
            let Some(strong) = capacity.upgrade() else { return };
            strong.open().close_idle(timeout);
            drop(strong);
            sleep(timeout / LOOKS).await;
        }
    }

    /// Takes a place at once, if there is one. Otherwise a place in the queue, which the peer leaves with
    /// [`Queued::place`]. None if its address has its share.
    pub(super) async fn enter(self: &Arc<Self>, handle: &ConnectionHandle) -> Option<Entered> {
        if !self.has_share(handle) {
            metrics::closed(Closed::Share);
            let limit = self.limit.load(Ordering::Relaxed);
            self.share_warning.log(|| {
                let peer = handle.peer();
                tracing::warn!(%peer, "an address has its share of the {limit} connections of --max-connections; further ones of it are closed");
            });
            return None;
        }
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Some(Entered::Placed(self.place(handle, permit)));
        }
        // The semaphores are never closed.
        let queued = Arc::clone(&self.waiting).acquire_owned().await.ok()?;
        Some(Entered::Queued(Queued { capacity: Arc::clone(self), _queued: queued }))
    }

    fn place(self: &Arc<Self>, handle: &ConnectionHandle, permit: OwnedSemaphorePermit) -> ConnectionPlace {
        let mut open = self.open();
        open.by_number.insert(handle.number(), (handle.clone(), permit));
        if let Some(address) = handle.peer().shared_address() {
            *open.by_address.entry(address).or_default() += 1;
        }
        ConnectionPlace { capacity: Arc::downgrade(self), handle: handle.clone() }
    }

    /// Whether a connection is within the share of its address, or another one of it makes way.
    fn has_share(&self, handle: &ConnectionHandle) -> bool {
        let Some(address) = handle.peer().shared_address() else { return true };
        let open = self.open();
        let free = self.limit.load(Ordering::Relaxed).saturating_sub(open.by_number.len());
        let held = open.by_address.get(&address).copied().unwrap_or_default();
        held <= ADDRESS_SHARE.saturating_mul(free) || open.make_way(Some(address))
    }

    /// Makes one of the idle connections leave, unless as many do as peers wait.
    fn make_room(&self) {
        let open = self.open();
        let leaving = open.handles().filter(|one| one.makes_way()).count();
        if leaving >= WAITING - self.waiting.available_permits() || open.make_way(None) {
            return;
        }
        drop(open);
        let limit = self.limit.load(Ordering::Relaxed);
        self.full_warning.log(|| {
            tracing::warn!(
                "all {limit} connections of --max-connections are open, and none is idle; further ones wait"
            );
        });
    }
}

impl OpenConnections {
    fn handles(&self) -> impl Iterator<Item = &ConnectionHandle> {
        self.by_number.values().map(|(handle, _)| handle)
    }

    /// Asks connections to leave that have been idle for so long.
    fn close_idle(&self, timeout: Duration) {
        let is_idle = |one: &ConnectionHandle| one.idle_for().is_some_and(|idle_for| idle_for >= timeout);
        for idle in self.handles().filter(|one| is_idle(one)) {
            if idle.ask_to_leave(Leave::Soon) {
                metrics::closed(Closed::Idle);
            }
        }
    }

    /// Asks the connection that has been idle for longest to leave, of this address if there is one.
    /// Whether there was any.
    fn make_way(&self, address: Option<IpAddr>) -> bool {
        let idle = self
            .handles()
            .filter(|one| !one.makes_way())
            .filter(|one| address.is_none() || one.peer().shared_address() == address)
            .filter_map(|one| Some((one.idle_for()?, one)))
            .max_by_key(|(idle_for, _)| *idle_for);
        let Some((_, idle)) = idle else { return false };
        if idle.ask_to_leave(Leave::Now) {
            metrics::closed(Closed::Evicted);
            tracing::debug!(peer = %idle.peer(), "an idle connection is closed for another one");
        }
        true
    }
}

/// A connection that may have a place, now or in its turn.
pub(super) enum Entered {
    Placed(ConnectionPlace),
    Queued(Queued),
}

/// A peer that waits for a place.
pub(super) struct Queued {
    capacity: Arc<ConnectionCapacity>,
    _queued: OwnedSemaphorePermit,
}

impl Queued {
    /// Waits for a place, and makes idle connections leave meanwhile.
    pub(super) async fn place(self, handle: &ConnectionHandle) -> Option<ConnectionPlace> {
        let _waiting = metrics::waiting_connection();
        let mut permit = std::pin::pin!(Arc::clone(&self.capacity.permits).acquire_owned());
        loop {
            self.capacity.make_room();
            tokio::select! {
                biased;
                permit = &mut permit => return Some(self.capacity.place(handle, permit.ok()?)),
                () = sleep(LOOK_AGAIN) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::service::net::handle::Peer;

    fn connection(address: &str) -> ConnectionHandle {
        ConnectionHandle::new(Peer::Network(address.parse::<SocketAddr>().unwrap()))
    }

    /// Lets a connection in, which there is a place for.
    async fn placed(
        capacity: &Arc<ConnectionCapacity>,
        handle: &ConnectionHandle,
    ) -> Option<ConnectionPlace> {
        match capacity.enter(handle).await? {
            Entered::Placed(place) => Some(place),
            Entered::Queued(_) => panic!("there is no place"),
        }
    }

    #[tokio::test]
    async fn an_address_has_a_share_within_which_its_idle_connections_make_way() {
        let capacity = ConnectionCapacity::new(8);
        let mut held = Vec::new();
        let mut handles = Vec::new();
        for at in 0..7 {
            let handle = connection("192.0.2.1:1");
            // All but one are busy.
            if at != 3 {
                handle.open_calls().store(1, Ordering::Relaxed);
            }
            held.push(placed(&capacity, &handle).await.unwrap());
            handles.push(handle);
        }
        // Three times what is free.
        assert!(placed(&capacity, &connection("192.0.2.1:1")).await.is_some(), "another one makes way");
        let leaving: Vec<_> = handles.iter().map(ConnectionHandle::makes_way).collect();
        assert_eq!(leaving, [false, false, false, true, false, false, false]);
        assert!(capacity.enter(&connection("192.0.2.1:1")).await.is_none(), "none is idle any more");
        held.push(placed(&capacity, &connection("192.0.2.2:1")).await.unwrap());
        held.clear();
        let open = capacity.open();
        assert!(open.by_number.is_empty() && open.by_address.is_empty());
    }

    #[tokio::test]
    async fn the_longest_idle_connection_makes_way_for_one_that_waits() {
        let capacity = ConnectionCapacity::new(2);
        let (first, second, third) =
            (connection("127.0.0.1:1"), connection("127.0.0.1:2"), connection("127.0.0.1:3"));
        let place = placed(&capacity, &first).await.unwrap();
        let _second_place = placed(&capacity, &second).await.unwrap();
        // Idle for longer than the first, but not idle now.
        second.open_calls().store(1, Ordering::Relaxed);
        let Some(Entered::Queued(queued)) = capacity.enter(&third).await else { panic!("a third place") };
        let waiting = tokio::spawn(async move { queued.place(&third).await });
        assert_eq!(first.asked_to_leave(None).await, Leave::Now);
        assert!(!second.makes_way());
        drop(place);
        assert!(waiting.await.unwrap().is_some());
    }
}
