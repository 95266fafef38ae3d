//! Time slices: cancels work that has run for longer than its slice.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use crate::answer::Cancel as _;

/// Stops work whose time is up.
///
/// All that it watches over has the same time, so whose is up first is first in the queue. One task sleeps for all.
pub(super) struct TimeSlice {
    pub(super) time: Duration,
    running: Mutex<VecDeque<(Instant, Weak<AtomicBool>)>>,
    turned: Notify,
}

impl TimeSlice {
    pub(super) fn new(time: Duration) -> Arc<Self> {
        let slice = Arc::new(Self { time, running: Mutex::default(), turned: Notify::new() });
        tokio::spawn(Self::watch(Arc::downgrade(&slice)));
        slice
    }

    fn running(&self) -> MutexGuard<'_, VecDeque<(Instant, Weak<AtomicBool>)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time of some work begins.
    pub(super) fn start(&self, cancel: &Arc<AtomicBool>) {
        let end = Instant::now() + self.time;
        let mut running = self.running();
        running.push_back((end, Arc::downgrade(cancel)));
        if running.len() == 1 {
            self.turned.notify_one();
        }
    }

    /// Stops what has run out of time. Returns when the next does.
    fn stop_due(&self) -> Option<Instant> {
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

    /// Runs until the glass is gone.
    async fn watch(slice: Weak<Self>) {
        /// How long a task outlives a server that has ended.
        const PAUSE: Duration = Duration::from_secs(1);
        loop {
            let Some(strong) = slice.upgrade() else { return };
            match strong.stop_due() {
                Some(next) => {
                    drop(strong);
                    sleep_until(next).await;
                }
                None => drop(timeout(PAUSE, strong.turned.notified()).await),
            }
        }
    }
}
