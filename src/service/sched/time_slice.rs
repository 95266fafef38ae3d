//! Time slices: work that has run for longer than its slice is cancelled.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use crate::answer::Cancel as _;
use crate::poison::IgnorePoison as _;

/// A time slice of fixed length for all work of one pool.
///
/// **Invariant:** the queue is in the order of deadlines, because every slice has the same length.
/// So one task can sleep for all of them.
pub(super) struct TimeSlice {
    pub(super) time: Duration,
    /// The deadlines and cancel flags of the work that is running.
    running: Mutex<VecDeque<(Instant, Weak<AtomicBool>)>>,
    started: Notify,
}

impl TimeSlice {
    pub(super) fn new(time: Duration) -> Arc<Self> {
        let time_slice = Arc::new(Self { time, running: Mutex::default(), started: Notify::new() });
        tokio::spawn(Self::watch(Arc::downgrade(&time_slice)));
        time_slice
    }

    fn running(&self) -> MutexGuard<'_, VecDeque<(Instant, Weak<AtomicBool>)>> {
        self.running.lock().ignore_poison()
    }

    /// Starts the time slice of some work.
    pub(super) fn start(&self, cancel: &Arc<AtomicBool>) {
        let end = Instant::now() + self.time;
        let mut running = self.running();
        running.push_back((end, Arc::downgrade(cancel)));
        if running.len() == 1 {
            self.started.notify_one();
        }
    }

    /// Cancels the work whose time slice is over. Returns the next deadline.
    fn cancel_due(&self) -> Option<Instant> {
        let mut running = self.running();
        let now = Instant::now();
        while let Some((end, cancel)) = running.front() {
            if *end > now {
                return Some(*end);
            }
            if let Some(cancel) = cancel.upgrade() {
                cancel.cancel();
            }
            running.pop_front();
        }
        None
    }

    /// Cancels work until the time slice is dropped.
    async fn watch(time_slice: Weak<Self>) {
        /// The time that this task outlives a server that has ended.
        const PAUSE: Duration = Duration::from_secs(1);
        loop {
            let Some(strong) = time_slice.upgrade() else { return };
            match strong.cancel_due() {
                Some(next) => {
                    drop(strong);
                    sleep_until(next).await;
                }
                None => drop(timeout(PAUSE, strong.started.notified()).await),
            }
        }
    }
}
