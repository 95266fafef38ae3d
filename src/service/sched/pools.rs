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

use std::io;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use super::time_slice::TimeSlice;
use crate::answer::{Cancel, Cancelled, PerPuzzleCancel};
use crate::pipeline::{ElasticPool, Slot, SlottedJob, ThreadPool, ThreadPoolError, named_pool, with_slots};
use crate::service::metrics::{RunningBatch, WaitingBatch};

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
const BACKGROUND_PER_CORE: usize = 4;

/// How far threads with much work step back where others want the processor, as `nice` counts. Where all have the same priority, a
/// thread that wakes up for a small call, or to move bytes, waits until the scheduler's next tick: 4 ms on most systems.
const BULK_NICENESS: i32 = 7;

/// The same for threads with long work.
const BACKGROUND_NICENESS: i32 = 15;

/// How many batches may be on a shift for each of its threads: one running and one waiting.
const BATCHES_PER_THREAD: usize = 2;

/// How often the watch over a puzzle looks, in the time that the puzzle may take.
const LOOKS: u32 = 8;

/// How much text there is to work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// So little that it is done at once, unless it is hard.
    Small,
    /// More.
    Large,
}

impl Size {
    /// Of a text of so many bytes.
    pub(crate) const fn of(bytes: usize) -> Self {
        if bytes <= QUICK_BYTES { Self::Small } else { Self::Large }
    }
}

/// What is done with each job of a batch. It may be begun anew after it has been stopped.
pub(crate) type Work<J, R> = dyn Fn(&J, &dyn Cancel) -> Result<R, Cancelled> + Send + Sync;

/// Jobs with places for their answers.
type Jobs<J, R> = Vec<SlottedJob<J, Result<R, Cancelled>>>;

/// Does the jobs of a batch. Those that are stopped while `is_wanted` are handed back.
fn work_through<J, R>(
    jobs: Jobs<J, R>,
    work: &Work<J, R>,
    cancel: &dyn Cancel,
    is_wanted: impl Fn() -> bool,
) -> Jobs<J, R> {
    let do_now = |job: &J| match work(job, cancel) {
        Err(Cancelled) if is_wanted() => None,
        answer => Some(answer),
    };
    jobs.into_iter().filter_map(|job| job.run(do_now)).collect()
}

/// The error of threads that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// Those that search.
    #[error(transparent)]
    Search(#[from] io::Error),
    /// Those that look through data sets.
    #[error(transparent)]
    Check(#[from] ThreadPoolError),
}

/// All threads that search.
pub(crate) struct WorkerPools {
    threads: usize,
    quick: (Pool, Arc<TimeSlice>),
    bulk: (Pool, Arc<TimeSlice>),
    background: Pool,
    /// For looking through whole data sets, which no search may hold up.
    checking: Arc<ThreadPool>,
    puzzle_time: Duration,
    runtime: Handle,
}

/// The threads for one kind of work, and the bound on its batches.
struct Pool {
    threads: ElasticPool,
    permits: Arc<Semaphore>,
}

/// The right to have one batch on a shift.
pub(crate) struct Permit {
    size: Size,
    _slot: Option<OwnedSemaphorePermit>,
    _meter: RunningBatch,
}

impl Pool {
    fn new(
        name: &'static str,
        threads: RangeInclusive<usize>,
        batches: usize,
        niceness: i32,
    ) -> io::Result<Self> {
        let threads = ElasticPool::start(name, threads, niceness)?;
        Ok(Self { threads, permits: Arc::new(Semaphore::new(batches.min(Semaphore::MAX_PERMITS))) })
    }

    /// Waits for the right to start a batch. Whoever asks first gets it first.
    async fn permit(&self, size: Size) -> Permit {
        let waiting = WaitingBatch::new();
        // The semaphore is never closed, so this is always a permit.
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        drop(waiting);
        Permit { size, _slot: permit, _meter: RunningBatch::new() }
    }
}

impl WorkerPools {
    /// Starts threads for so many cores. `in_flight` is how many batches of many puzzles may be on the threads or wait
    /// for one; a puzzle is given up after `puzzle_time`.
    ///
    /// To be called within a runtime.
    ///
    /// # Errors
    /// The system's, where threads cannot be started.
    pub(crate) fn new(
        threads: usize,
        in_flight: Option<usize>,
        puzzle_time: Duration,
    ) -> Result<Self, PoolError> {
        let batches = BATCHES_PER_THREAD * threads;
        let in_flight = in_flight.unwrap_or(batches);
        let background = BACKGROUND_PER_CORE * threads;
        Ok(Self {
            threads,
            quick: (Pool::new("quick", threads..=threads, batches, 0)?, TimeSlice::new(QUICK_TIME)),
            bulk: (
                Pool::new("bulk", threads..=threads, in_flight, BULK_NICENESS)?,
                TimeSlice::new(BULK_TIME),
            ),
            background: Pool::new("background", threads..=background, background, BACKGROUND_NICENESS)?,
            checking: Arc::new(named_pool("check", threads, BULK_NICENESS)?),
            puzzle_time,
            runtime: Handle::current(),
        })
    }

    /// How many cores it is for.
    pub(crate) const fn threads(&self) -> usize {
        self.threads
    }

    /// The threads that look through whole data sets.
    pub(crate) const fn checking_pool(&self) -> &Arc<ThreadPool> {
        &self.checking
    }

    /// Where work of some size begins.
    const fn pool(&self, size: Size) -> &(Pool, Arc<TimeSlice>) {
        match size {
            Size::Small => &self.quick,
            Size::Large => &self.bulk,
        }
    }

    /// Waits for the right to start a batch of some size.
    pub(crate) async fn permit(&self, size: Size) -> Permit {
        self.pool(size).0.permit(size).await
    }

    /// Starts a batch whose turn it is: its jobs are done one after another, and each fills its slot as soon as it is done. If
    /// the call's last batch took long, it first waits for its turn among such.
    pub(crate) async fn start<J, R>(
        self: &Arc<Self>,
        call_work: &Arc<CallWork>,
        permit: Permit,
        jobs: Vec<J>,
        work: Arc<Work<J, R>>,
    ) -> Vec<Slot<Result<R, Cancelled>>>
    where
        J: Send + 'static,
        R: Send + 'static,
    {
        let (jobs, slots) = with_slots(jobs);
        let (pool, slice) = self.pool(permit.size);
        let time = slice.time;
        if call_work.is_slow.load(Ordering::Relaxed) {
            drop(permit);
            self.start_in_background(call_work, time, jobs, work).await;
            return slots;
        }
        let (pools, call_work, slice) = (Arc::clone(self), Arc::clone(call_work), Arc::clone(slice));
        pool.threads.spawn(move || {
            let cancel = Arc::new(AtomicBool::new(false));
            call_work.hold(&cancel);
            slice.start(&cancel);
            let start = Instant::now();
            let left = work_through(jobs, &*work, &*cancel, || !call_work.has_left());
            call_work.is_brisk.store(start.elapsed() < BRISK_TIME, Ordering::Relaxed);
            drop(permit);
            if !left.is_empty() {
                call_work.is_slow.store(true, Ordering::Relaxed);
                let runtime = pools.runtime.clone();
                let in_background =
                    async move { pools.start_in_background(&call_work, time, left, work).await };
                runtime.spawn(in_background.in_current_span());
            }
        });
        slots
    }

    /// Starts jobs that may take long. The call is no longer slow if they take less than half of `time`.
    async fn start_in_background<J, R>(
        &self,
        call_work: &Arc<CallWork>,
        time: Duration,
        jobs: Jobs<J, R>,
        work: Arc<Work<J, R>>,
    ) where
        J: Send + 'static,
        R: Send + 'static,
    {
        // Never closed, either of them.
        let own = Arc::clone(&call_work.background_batches).acquire_owned().await.ok();
        let permit = self.background.permit(Size::Large).await;
        let cancel = Arc::new(PerPuzzleCancel::default());
        call_work.hold(&cancel);
        self.runtime.spawn(watch(Arc::downgrade(&cancel), self.puzzle_time));
        let call_work = Arc::clone(call_work);
        self.background.threads.spawn(move || {
            let start = Instant::now();
            drop(work_through(jobs, &*work, &*cancel, || false));
            if start.elapsed() < time / 2 {
                call_work.is_slow.store(false, Ordering::Relaxed);
            }
            drop((own, permit));
        });
    }
}

/// Gives up puzzles that take too long.
async fn watch(work: Weak<PerPuzzleCancel>, time: Duration) {
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
pub(crate) struct CallWork {
    has_left: AtomicBool,
    /// Did its last batch take long?
    is_slow: AtomicBool,
    /// Did its last batch take next to no time?
    is_brisk: AtomicBool,
    /// How many batches it may have on the patient threads.
    background_batches: Arc<Semaphore>,
    /// What holds its work.
    cancels: Mutex<Vec<Weak<dyn Cancel>>>,
}

impl CallWork {
    /// A call that may have so many batches of long work on the threads at a time.
    pub(crate) fn new(batches: usize) -> Arc<Self> {
        Arc::new(Self {
            has_left: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
            is_brisk: AtomicBool::new(false),
            background_batches: Arc::new(Semaphore::new(batches)),
            cancels: Mutex::default(),
        })
    }

    fn cancels(&self) -> MutexGuard<'_, Vec<Weak<dyn Cancel>>> {
        self.cancels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Did its last batch take next to no time, so that what costs is to hand it over and back?
    pub(crate) fn is_brisk(&self) -> bool {
        self.is_brisk.load(Ordering::Relaxed)
    }

    fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }

    /// Stops the work that begins now when the client leaves, or at once if it has.
    pub(crate) fn hold(&self, cancel: &Arc<impl Cancel + 'static>) {
        let mut cancels = self.cancels();
        cancels.retain(|cancel| cancel.strong_count() > 0);
        let cancel = Arc::clone(cancel) as Arc<dyn Cancel>;
        if self.has_left() {
            cancel.cancel();
        } else {
            cancels.push(Arc::downgrade(&cancel));
        }
    }

    /// Nobody waits for the work any more.
    fn leave(&self) {
        let mut cancels = self.cancels();
        self.has_left.store(true, Ordering::Relaxed);
        for cancel in cancels.drain(..) {
            if let Some(cancel) = cancel.upgrade() {
                cancel.cancel();
            }
        }
    }
}

/// Stops the work of a call when it is dropped: whoever waited for it has left.
pub(crate) struct CancelOnDrop(pub(crate) Arc<CallWork>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.leave();
    }
}
