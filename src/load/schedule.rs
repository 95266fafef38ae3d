//! When the next message is due.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// Messages that are due within this time are let go together: nobody can wait for less.
const LEAST_WAIT: Duration = Duration::from_micros(50);

/// The right to send a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Messages are numbered from 0.
    pub(crate) number: u64,
    /// From when on its answer is waited for.
    pub(crate) begin: Instant,
}

/// Hands out turns, to whoever asks.
///
/// In a closed loop there is always one. In an open loop turns are due at times that are fixed beforehand, and count from these
/// times, whether anybody is free to take them or not: a server that stalls is charged for all that would have been sent
/// meanwhile.
#[derive(Debug)]
pub(crate) struct Pacer {
    begin: Instant,
    end: Instant,
    taken: AtomicU64,
    is_over: AtomicBool,
    /// Was it ended because there is nothing more to send?
    is_complete: AtomicBool,
    schedule: Option<Schedule>,
}

/// An open loop.
#[derive(Debug)]
struct Schedule {
    /// Seconds from one turn to the next.
    interval: f64,
    /// The turns that are due and not taken.
    due: Semaphore,
    /// How many there have been.
    released: AtomicU64,
}

impl Schedule {
    /// How many turns are due so long after the first.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are neither negative nor that long"
    )]
    fn due_after(&self, elapsed: Duration) -> u64 {
        (elapsed.as_secs_f64() / self.interval) as u64 + 1
    }

    fn time_of(&self, number: u64) -> Duration {
        Duration::from_secs_f64(number as f64 * self.interval)
    }
}

impl Pacer {
    /// Turns from now on and for so long; so many a second, or as many as are asked for.
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

    /// Takes the next turn when it is due. `None` when there are no more.
    pub(crate) async fn turn(&self) -> Option<Turn> {
        if let Some(schedule) = &self.schedule {
            // It is closed at the end.
            schedule.due.acquire().await.ok()?.forget();
        }
        let now = Instant::now();
        if self.is_over() || now >= self.end {
            return None;
        }
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let begin = self.schedule.as_ref().map_or(now, |schedule| self.begin + schedule.time_of(number));
        Some(Turn { number, begin })
    }

    /// No more turns are given.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(schedule) = &self.schedule {
            schedule.due.close();
        }
    }

    /// The same, since nothing is left to send.
    pub(crate) fn complete(&self) {
        self.is_complete.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// Has it been stopped?
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The turns of an open loop that were due and that nobody was free to take.
    pub(crate) fn missed(&self) -> u64 {
        if self.is_complete.load(Ordering::Relaxed) {
            return 0;
        }
        let released = self.schedule.as_ref().map_or(0, |schedule| schedule.released.load(Ordering::Relaxed));
        released.saturating_sub(self.taken.load(Ordering::Relaxed))
    }
}

/// The thread that keeps an open loop's time; a runtime's timers count in milliseconds. It ends with this.
pub(crate) struct Clock {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Clock {
    /// Starts the clock of a pace, if it needs one.
    ///
    /// # Errors
    /// The system's, if it has no thread left.
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
            // It cannot panic, and if it did there would be nothing left to do.
            let _ = thread.join();
        }
    }
}

/// Lets turns go when they are due.
fn tick(pacer: &Pacer, schedule: &Schedule, stopped: &mpsc::Receiver<()>) {
    let mut released = 0;
    loop {
        let now = Instant::now().min(pacer.end);
        let due = schedule.due_after(now - pacer.begin);
        schedule.due.add_permits(usize::try_from(due.saturating_sub(released)).unwrap_or(0));
        released = due;
        schedule.released.store(released, Ordering::Relaxed);
        if now == pacer.end || pacer.is_over() {
            return;
        }
        let next = (pacer.begin + schedule.time_of(released)).min(pacer.end);
        let wait = next.saturating_duration_since(Instant::now()).max(LEAST_WAIT);
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
    fn an_open_loop_counts_from_when_turns_were_due() {
        let pacer = Arc::new(Pacer::new(Duration::from_secs(1), Some(1000.0)));
        let clock = Clock::start(&pacer).unwrap();
        let turns = runtime().block_on(async {
            let mut turns = Vec::new();
            // Nobody is there at first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            for _ in 0..40 {
                turns.push(pacer.turn().await.unwrap());
            }
            turns
        });
        for (number, turn) in (0..).zip(turns) {
            assert_eq!(turn.number, number);
            let late = turn.begin.duration_since(pacer.begin()).abs_diff(Duration::from_millis(number));
            assert!(late < Duration::from_micros(10), "turn {number} is off by {late:?}");
        }
        // All that was due is there or was missed, when time is up.
        let last = runtime().block_on(async {
            tokio::time::sleep_until((pacer.end() + Duration::from_millis(20)).into()).await;
            pacer.turn().await
        });
        assert!(last.is_none());
        drop(clock);
        pacer.stop();
        assert!((960..=961).contains(&pacer.missed()), "{}", pacer.missed());
        assert!(runtime().block_on(pacer.turn()).is_none());
    }

    #[test]
    fn a_closed_loop_has_turns_until_it_is_stopped() {
        let pacer = Arc::new(Pacer::new(Duration::from_secs(600), None));
        let _clock = Clock::start(&pacer).unwrap();
        let runtime = runtime();
        for number in 0..1000 {
            assert_eq!(runtime.block_on(pacer.turn()).map(|turn| turn.number), Some(number));
        }
        pacer.complete();
        assert!(runtime.block_on(pacer.turn()).is_none());
        assert_eq!(pacer.missed(), 0);
    }
}
