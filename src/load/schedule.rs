//! The schedule: when the next message is due.
//!
//! **Invariant:** in an open loop, due times are fixed beforehand and latencies count from them,
//! whether any task is free to send or not. So a server that stalls is charged for all messages
//! that would have been sent meanwhile (no coordinated omission).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// The shortest wait of the clock; messages that are due within it are released together.
const MIN_WAIT: Duration = Duration::from_micros(50);

/// The right to send a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendPermit {
    /// The number of the message, from 0.
    pub(crate) number: u64,
    /// The time from which its latency counts.
    pub(crate) due: Instant,
}

/// The source of permits to send.
///
/// In a closed loop there is always one. In an open loop they are released at the times of the
/// schedule.
#[derive(Debug)]
pub(crate) struct Pacer {
    begin: Instant,
    end: Instant,
    taken: AtomicU64,
    is_over: AtomicBool,
    /// Whether it was stopped because there is nothing left to send.
    is_complete: AtomicBool,
    schedule: Option<Schedule>,
}

/// The schedule of an open loop.
#[derive(Debug)]
struct Schedule {
    /// The seconds from one message to the next.
    interval: f64,
    /// The permits that are due and not taken.
    due: Semaphore,
    /// The number of permits ever released.
    released: AtomicU64,
}

impl Schedule {
    /// The number of messages that are due at a time after the first.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are neither negative nor that long"
    )]
    fn due_after(&self, elapsed: Duration) -> u64 {
        (elapsed.as_secs_f64() / self.interval) as u64 + 1
    }

    /// The number of messages that are due before a time after the first: one due at the end of a
    /// run is not sent any more.
    fn due_before(&self, elapsed: Duration) -> u64 {
        let due = self.due_after(elapsed);
        due - u64::from(self.time_of(due - 1) >= elapsed)
    }

    fn time_of(&self, number: u64) -> Duration {
        Duration::from_secs_f64(number as f64 * self.interval)
    }
}

impl Pacer {
    /// Permits from now on, for `duration`: `rate` a second, or without a limit.
    pub(crate) fn new(duration: Duration, rate: Option<f64>) -> Self {
        let begin = Instant::now();
        let schedule = rate.map(|rate| Schedule {
            interval: 1.0 / rate,
            due: Semaphore::new(0),
            released: AtomicU64::new(0),
        });
        Self {
            begin,
            end: begin + duration,
            taken: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            is_complete: AtomicBool::new(false),
            schedule,
        }
    }

    pub(crate) const fn begin(&self) -> Instant {
        self.begin
    }

    pub(crate) const fn end(&self) -> Instant {
        self.end
    }

    /// Waits for the next permit. `None` after the end.
    pub(crate) async fn permit(&self) -> Option<SendPermit> {
        if let Some(schedule) = &self.schedule {
            // The semaphore is closed at the end.
            schedule.due.acquire().await.ok()?.forget();
        }
        let now = Instant::now();
        if self.is_over() || now >= self.end {
            return None;
        }
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let due = self.schedule.as_ref().map_or(now, |schedule| self.begin + schedule.time_of(number));
        Some(SendPermit { number, due })
    }

    /// Stops giving permits.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(schedule) = &self.schedule {
            schedule.due.close();
        }
    }

    /// Stops because nothing is left to send.
    pub(crate) fn complete(&self) {
        self.is_complete.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// Whether it was stopped.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The messages of an open loop that were due and that no task was free to send.
    pub(crate) fn missed(&self) -> u64 {
        if self.is_complete.load(Ordering::Relaxed) {
            return 0;
        }
        let released = self.schedule.as_ref().map_or(0, |schedule| schedule.released.load(Ordering::Relaxed));
        released.saturating_sub(self.taken.load(Ordering::Relaxed))
    }
}

/// The clock of an open loop: a thread, because a runtime's timers have a resolution of a
/// millisecond. It ends on drop.
pub(crate) struct Clock {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Clock {
    /// Starts the clock of a pacer, if it has a schedule.
    ///
    /// # Errors
    /// The system's error if the thread cannot be started.
    pub(crate) fn start(pacer: &Arc<Pacer>) -> std::io::Result<Self> {
        if pacer.schedule.is_none() {
            return Ok(Self { stop: None, thread: None });
        }
        let (stop, stopped) = mpsc::channel();
        let pacer = Arc::clone(pacer);
        let thread = thread::Builder::new().name("clock".to_owned()).spawn(move || {
            if let Some(schedule) = &pacer.schedule {
                tick(&pacer, schedule, &stopped);
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the clock changes nothing at the end of a run.
            let _ = thread.join();
        }
    }
}

/// Releases permits when they are due.
fn tick(pacer: &Pacer, schedule: &Schedule, stopped: &mpsc::Receiver<()>) {
    let mut released = 0;
    loop {
        let now = Instant::now().min(pacer.end);
        let elapsed = now - pacer.begin;
        let due = if now == pacer.end { schedule.due_before(elapsed) } else { schedule.due_after(elapsed) };
        schedule.due.add_permits(usize::try_from(due.saturating_sub(released)).unwrap_or(0));
        released = due;
        schedule.released.store(released, Ordering::Relaxed);
        if now == pacer.end || pacer.is_over() {
            return;
        }
        let next = (pacer.begin + schedule.time_of(released)).min(pacer.end);
        let wait = next.saturating_duration_since(Instant::now()).max(MIN_WAIT);
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn an_open_loop_counts_from_when_messages_were_due() {
        let pacer = Arc::new(Pacer::new(Duration::from_secs(1), Some(1000.0)));
        let clock = Clock::start(&pacer).unwrap();
        let permits = runtime().block_on(async {
            let mut permits = Vec::new();
            // No task takes permits at first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            for _ in 0..40 {
                permits.push(pacer.permit().await.unwrap());
            }
            permits
        });
        for (number, permit) in (0..).zip(permits) {
            assert_eq!(permit.number, number);
            let late = permit.due.duration_since(pacer.begin()).abs_diff(Duration::from_millis(number));
            assert!(late < Duration::from_micros(10), "message {number} is off by {late:?}");
        }
        // At the end, every message that was due has been sent or missed.
        let last = runtime().block_on(async {
            tokio::time::sleep_until((pacer.end() + Duration::from_millis(20)).into()).await;
            pacer.permit().await
        });
        assert!(last.is_none());
        drop(clock);
        pacer.stop();
        assert_eq!(pacer.missed(), 960);
        assert!(runtime().block_on(pacer.permit()).is_none());
    }

    #[test]
    fn a_closed_loop_has_permits_until_it_is_stopped() {
        let pacer = Arc::new(Pacer::new(Duration::from_secs(600), None));
        let _clock = Clock::start(&pacer).unwrap();
        let runtime = runtime();
        for number in 0..1000 {
            assert_eq!(runtime.block_on(pacer.permit()).map(|permit| permit.number), Some(number));
        }
        pacer.complete();
        assert!(runtime.block_on(pacer.permit()).is_none());
        assert_eq!(pacer.missed(), 0);
    }
}
