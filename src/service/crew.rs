//! The threads that search, in three shifts, so that long work of one client does not hold up short work of another.
//!
//! ```text
//!   a few puzzles ──▶ quick ──┐ its time is up
//!   many puzzles ───▶ bulk ───┴──────────────▶ patient: from the beginning, puzzle by puzzle, at low priority
//! ```
//!
//! Nobody can tell beforehand how long a puzzle takes. So work begins where it would be done soon, if it is easy; if it is not
//! done when its time is up, it is stopped and begun anew on a thread where it may take long. That costs at most
//! the time it had, and answers do not depend on where they were found. A call whose work was moved stays there
//! until it has become quick again, so that nothing is begun twice over and over.
//!
//! Each shift has as many threads as there are cores, or more, and the system divides the cores among them: bulk threads step
//! back behind quick ones and behind those that move bytes, patient threads behind all. Within a shift whoever asks first has the first
//! turn, and each call asks for one batch at a time.

use std::collections::VecDeque;
use std::io;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuildError};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::Instrument as _;

use super::meters::{RunningBatch, WaitingBatch};
use crate::answer::{Cancelled, PuzzleByPuzzle, Rein};
use crate::pipeline::{Placed, Slot, Threads, named_pool, placed};

/// Text up to this length goes to the quick threads: some fifty 9x9 puzzles, or six of 25x25.
const QUICK_BYTES: usize = 4 << 10;

/// How long a batch may take on the quick threads.
const QUICK_TIME: Duration = Duration::from_millis(5);

/// How long a batch may take on the bulk threads: a thousand of the hardest 9x9 puzzles take half of it.
const BULK_TIME: Duration = Duration::from_millis(20);

/// A batch that takes less is brisk: four thousand easy 9x9 puzzles.
const BRISK_TIME: Duration = Duration::from_millis(1);

/// The most threads for patient work, for each core; one is kept. One call can have only as many as there are cores, so that
/// several calls with long work share the cores.
const PATIENT_PER_CORE: usize = 4;

/// How far threads with much work step back where others want the processor, as `nice` counts. Where all have the same priority, a
/// thread that wakes up for a small call, or to move bytes, waits until the scheduler's next tick: 4 ms on most systems.
const BULK_NICENESS: i32 = 7;

/// The same for threads with long work.
const PATIENT_NICENESS: i32 = 15;

/// How many batches may be on a shift for each of its threads: one running and one waiting.
const BATCHES_PER_THREAD: usize = 2;

/// How often the watch over a puzzle looks, in the time that the puzzle may take.
const LOOKS: u32 = 8;

/// How much text there is to work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// So little that it is done at once, unless it is hard.
    Small,
    /// More.
    Large,
}

impl Size {
    /// Of a text of so many bytes.
    pub(super) const fn of(bytes: usize) -> Self {
        if bytes <= QUICK_BYTES { Self::Small } else { Self::Large }
    }
}

/// What is done with each job of a batch. It may be begun anew after it has been stopped.
pub(super) type Work<J, R> = dyn Fn(&J, &dyn Rein) -> Result<R, Cancelled> + Send + Sync;

/// Jobs with places for their answers.
type Jobs<J, R> = Vec<Placed<J, Result<R, Cancelled>>>;

/// Does the jobs of a batch. Those that are stopped while `is_wanted` are handed back.
fn work_through<J, R>(
    jobs: Jobs<J, R>,
    work: &Work<J, R>,
    rein: &dyn Rein,
    is_wanted: impl Fn() -> bool,
) -> Jobs<J, R> {
    let do_now = |job: &J| match work(job, rein) {
        Err(Cancelled) if is_wanted() => None,
        answer => Some(answer),
    };
    jobs.into_iter().filter_map(|job| job.run(do_now)).collect()
}

/// Threads cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum CrewError {
    /// Those that search.
    #[error(transparent)]
    Search(#[from] io::Error),
    /// Those that look through data sets.
    #[error(transparent)]
    Check(#[from] ThreadPoolBuildError),
}

/// All threads that search.
pub(super) struct Crew {
    threads: usize,
    quick: (Shift, Arc<Hourglass>),
    bulk: (Shift, Arc<Hourglass>),
    patient: Shift,
    /// For looking through whole data sets, which no search may hold up.
    checking: Arc<ThreadPool>,
    puzzle_time: Duration,
    runtime: Handle,
}

/// Threads for one kind of work.
struct Shift {
    threads: Threads,
    turns: Arc<Semaphore>,
}

/// The right to have one batch on a shift.
pub(super) struct Turn {
    size: Size,
    _permit: Option<OwnedSemaphorePermit>,
    _meter: RunningBatch,
}

impl Shift {
    fn new(
        name: &'static str,
        threads: RangeInclusive<usize>,
        batches: usize,
        niceness: i32,
    ) -> io::Result<Self> {
        let threads = Threads::start(name, threads, niceness)?;
        Ok(Self { threads, turns: Arc::new(Semaphore::new(batches.min(Semaphore::MAX_PERMITS))) })
    }

    /// Waits for the right to start a batch. Whoever asks first gets it first.
    async fn turn(&self, size: Size) -> Turn {
        let waiting = WaitingBatch::new();
        // The semaphore is never closed, so this is always a permit.
        let permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        drop(waiting);
        Turn { size, _permit: permit, _meter: RunningBatch::new() }
    }
}

impl Crew {
    /// Starts threads for so many cores. `in_flight` is how many batches of many puzzles may be on the threads or wait
    /// for one; a puzzle is given up after `puzzle_time`.
    ///
    /// To be called within a runtime.
    ///
    /// # Errors
    /// The system's, where threads cannot be started.
    pub(super) fn new(
        threads: usize,
        in_flight: Option<usize>,
        puzzle_time: Duration,
    ) -> Result<Self, CrewError> {
        let batches = BATCHES_PER_THREAD * threads;
        let in_flight = in_flight.unwrap_or(batches);
        let patient = PATIENT_PER_CORE * threads;
        Ok(Self {
            threads,
            quick: (Shift::new("quick", threads..=threads, batches, 0)?, Hourglass::new(QUICK_TIME)),
            bulk: (
                Shift::new("bulk", threads..=threads, in_flight, BULK_NICENESS)?,
                Hourglass::new(BULK_TIME),
            ),
            patient: Shift::new("patient", threads..=patient, patient, PATIENT_NICENESS)?,
            checking: Arc::new(named_pool("check", threads, BULK_NICENESS)?),
            puzzle_time,
            runtime: Handle::current(),
        })
    }

    /// How many cores it is for.
    pub(super) const fn threads(&self) -> usize {
        self.threads
    }

    /// The threads that look through whole data sets.
    pub(super) const fn checking_pool(&self) -> &Arc<ThreadPool> {
        &self.checking
    }

    /// Where work of some size begins.
    const fn shift(&self, size: Size) -> &(Shift, Arc<Hourglass>) {
        match size {
            Size::Small => &self.quick,
            Size::Large => &self.bulk,
        }
    }

    /// Waits for the right to start a batch of some size.
    pub(super) async fn turn(&self, size: Size) -> Turn {
        self.shift(size).0.turn(size).await
    }

    /// Starts a batch whose turn it is: its jobs are done one after another, and each fills its slot as soon as it is done. If
    /// the call's last batch took long, it first waits for its turn among such.
    pub(super) async fn start<J, R>(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        turn: Turn,
        jobs: Vec<J>,
        work: Arc<Work<J, R>>,
    ) -> Vec<Slot<Result<R, Cancelled>>>
    where
        J: Send + 'static,
        R: Send + 'static,
    {
        let (jobs, slots) = placed(jobs);
        let (shift, glass) = self.shift(turn.size);
        let time = glass.time;
        if caller.is_slow.load(Ordering::Relaxed) {
            drop(turn);
            self.start_patiently(caller, time, jobs, work).await;
            return slots;
        }
        let (crew, caller, glass) = (Arc::clone(self), Arc::clone(caller), Arc::clone(glass));
        shift.threads.spawn(move || {
            let rein = Arc::new(AtomicBool::new(false));
            caller.hold(&rein);
            glass.turn_over(&rein);
            let start = Instant::now();
            let left = work_through(jobs, &*work, &*rein, || !caller.has_left());
            caller.is_brisk.store(start.elapsed() < BRISK_TIME, Ordering::Relaxed);
            drop(turn);
            if !left.is_empty() {
                caller.is_slow.store(true, Ordering::Relaxed);
                let runtime = crew.runtime.clone();
                let patiently = async move { crew.start_patiently(&caller, time, left, work).await };
                runtime.spawn(patiently.in_current_span());
            }
        });
        slots
    }

    /// Starts jobs that may take long. The call is no longer slow if they take less than half of `time`.
    async fn start_patiently<J, R>(
        &self,
        caller: &Arc<Caller>,
        time: Duration,
        jobs: Jobs<J, R>,
        work: Arc<Work<J, R>>,
    ) where
        J: Send + 'static,
        R: Send + 'static,
    {
        // Never closed, either of them.
        let own = Arc::clone(&caller.patience).acquire_owned().await.ok();
        let turn = self.patient.turn(Size::Large).await;
        let rein = Arc::new(PuzzleByPuzzle::default());
        caller.hold(&rein);
        self.runtime.spawn(watch(Arc::downgrade(&rein), self.puzzle_time));
        let caller = Arc::clone(caller);
        self.patient.threads.spawn(move || {
            let start = Instant::now();
            drop(work_through(jobs, &*work, &*rein, || false));
            if start.elapsed() < time / 2 {
                caller.is_slow.store(false, Ordering::Relaxed);
            }
            drop((own, turn));
        });
    }
}

/// Gives up puzzles that take too long.
async fn watch(work: Weak<PuzzleByPuzzle>, time: Duration) {
    let (mut seen, mut looks) = (None, 0);
    loop {
        sleep(time / LOOKS).await;
        let Some(work) = work.upgrade() else { return };
        let on_hand = work.on_hand();
        if on_hand != seen {
            (seen, looks) = (on_hand, 0);
        } else if let Some(number) = on_hand {
            looks += 1;
            if looks == LOOKS {
                work.give_up(number);
                looks = 0;
            }
        }
    }
}

/// A call whose work is on the threads.
pub(super) struct Caller {
    has_left: AtomicBool,
    /// Did its last batch take long?
    is_slow: AtomicBool,
    /// Did its last batch take next to no time?
    is_brisk: AtomicBool,
    /// How many batches it may have on the patient threads.
    patience: Arc<Semaphore>,
    /// What holds its work.
    reins: Mutex<Vec<Weak<dyn Rein>>>,
}

impl Caller {
    /// A call that may have so many batches of long work on the threads at a time.
    pub(super) fn new(batches: usize) -> Arc<Self> {
        Arc::new(Self {
            has_left: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
            is_brisk: AtomicBool::new(false),
            patience: Arc::new(Semaphore::new(batches)),
            reins: Mutex::default(),
        })
    }

    fn reins(&self) -> MutexGuard<'_, Vec<Weak<dyn Rein>>> {
        self.reins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Did its last batch take next to no time, so that what costs is to hand it over and back?
    pub(super) fn is_brisk(&self) -> bool {
        self.is_brisk.load(Ordering::Relaxed)
    }

    fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }

    /// Stops the work that begins now when the client leaves, or at once if it has.
    pub(super) fn hold(&self, rein: &Arc<impl Rein + 'static>) {
        let mut reins = self.reins();
        reins.retain(|rein| rein.strong_count() > 0);
        let rein = Arc::clone(rein) as Arc<dyn Rein>;
        if self.has_left() {
            rein.cancel();
        } else {
            reins.push(Arc::downgrade(&rein));
        }
    }

    /// Nobody waits for the work any more.
    fn leave(&self) {
        let mut reins = self.reins();
        self.has_left.store(true, Ordering::Relaxed);
        for rein in reins.drain(..) {
            if let Some(rein) = rein.upgrade() {
                rein.cancel();
            }
        }
    }
}

/// Stops the work of a call when it is dropped: whoever waited for it has left.
pub(super) struct LeaveOnDrop(pub(super) Arc<Caller>);

impl Drop for LeaveOnDrop {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Stops work whose time is up.
///
/// All that it watches over has the same time, so whose is up first is first in the queue. One task sleeps for all.
struct Hourglass {
    time: Duration,
    running: Mutex<VecDeque<(Instant, Weak<AtomicBool>)>>,
    turned: Notify,
}

impl Hourglass {
    fn new(time: Duration) -> Arc<Self> {
        let glass = Arc::new(Self { time, running: Mutex::default(), turned: Notify::new() });
        tokio::spawn(Self::watch(Arc::downgrade(&glass)));
        glass
    }

    fn running(&self) -> MutexGuard<'_, VecDeque<(Instant, Weak<AtomicBool>)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time of some work begins.
    fn turn_over(&self, rein: &Arc<AtomicBool>) {
        let end = Instant::now() + self.time;
        let mut running = self.running();
        running.push_back((end, Arc::downgrade(rein)));
        if running.len() == 1 {
            self.turned.notify_one();
        }
    }

    /// Stops what has run out of time. Returns when the next does.
    fn stop_due(&self) -> Option<Instant> {
        let mut running = self.running();
        let now = Instant::now();
        while let Some((end, rein)) = running.front() {
            if *end > now {
                return Some(*end);
            }
            if let Some(rein) = rein.upgrade() {
                rein.cancel();
            }
            running.pop_front();
        }
        None
    }

    /// Runs until the glass is gone.
    async fn watch(glass: Weak<Self>) {
        /// How long a task outlives a server that has ended.
        const PAUSE: Duration = Duration::from_secs(1);
        loop {
            let Some(strong) = glass.upgrade() else { return };
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
