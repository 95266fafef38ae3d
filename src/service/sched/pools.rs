//! Worker pools: the threads that search, in three pools, so that long work of one client does not
//! delay short work of another.
//!
//! ```text
//!   a few puzzles ──▶ quick ──┐ time slice over
//!   many puzzles ───▶ bulk ───┴────────────────▶ background: from the beginning, puzzle by puzzle,
//!                                                at low priority
//! ```
//!
//! How long a puzzle takes is not known beforehand. So a batch begins in a pool where easy work is
//! done soon, and is cancelled and restarted in the background pool when its time slice is over.
//! That wastes at most the time slice. A call whose work was moved stays in the background until a
//! batch of it is fast again, so that its batches are not all started twice.
//!
//! Each pool has as many threads as there are cores, or more, and the system's scheduler divides
//! the cores among them by priority: quick threads and those that move bytes first, then bulk, then
//! background. Within a pool clients take turns ([`super::turns`]). A client whose small batches
//! take long, though each less than the slice, has them in the bulk pool, so that those of others
//! find a thread.
//!
//! **Invariant:** answers do not depend on the pool that found them. Restarting relies on it.
//!
//! **Invariant:** a call waits for one permit at a time.

use std::io;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use super::time_slice::TimeSlice;
use super::turns::{Client, Clients, Turn, Turns};
use crate::answer::{Cancel, Cancelled, PerPuzzleCancel};
use crate::pipeline::{ElasticPool, Slot, SlottedJob, ThreadPool, ThreadPoolError, named_pool, with_slots};
use crate::poison::IgnorePoison as _;
use crate::service::metrics::{self, RunningBatch};

/// The most text for the quick pool: some fifty 9x9 puzzles, or six of 25x25.
const QUICK_BYTES: usize = 4 << 10;

/// The time slice of a batch in the quick pool.
const QUICK_TIME: Duration = Duration::from_millis(5);

/// The time slice of a batch in the bulk pool: a thousand of the hardest 9x9 puzzles take half of
/// it.
const BULK_TIME: Duration = Duration::from_millis(20);

/// The time below which a batch is bound by its handover between threads, not by its searches: four
/// thousand easy 9x9 puzzles.
const HANDOVER_BOUND_TIME: Duration = Duration::from_millis(1);

/// The most background threads for each core; one for each core always exists. One call can use
/// only as many as there are cores, so several calls with long work share the cores.
const BACKGROUND_PER_CORE: usize = 4;

/// The niceness of bulk threads. At the same priority, a thread that wakes up for a small call, or
/// to move bytes, would wait until the scheduler's next tick: 4 ms on most systems.
const BULK_NICENESS: i32 = 7;

/// The niceness of background threads.
const BACKGROUND_NICENESS: i32 = 15;

/// The batches that a pool holds for each of its threads: one running and one waiting.
const BATCHES_PER_THREAD: usize = 2;

/// The number of times that a puzzle is polled within the time that it may take.
const POLLS_PER_PUZZLE: u32 = 8;

/// The size of some work, by its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkSize {
    /// At most [`QUICK_BYTES`]: done at once, unless it is hard.
    Small,
    /// More than that.
    Large,
}

impl WorkSize {
    /// The size of a text of `bytes` bytes.
    pub(crate) const fn of(bytes: usize) -> Self {
        if bytes <= QUICK_BYTES { Self::Small } else { Self::Large }
    }
}

/// The work on each job of a batch. It may be restarted after it was cancelled.
pub(crate) type BatchWork<J, R> = dyn Fn(&J, &dyn Cancel) -> Result<R, Cancelled> + Send + Sync;

/// Jobs, each with the slot of its answer.
type Jobs<J, R> = Vec<SlottedJob<J, Result<R, Cancelled>>>;

/// Runs the jobs of a batch. Those that are cancelled while `is_wanted` are handed back.
fn run_jobs<J, R>(
    jobs: Jobs<J, R>,
    work: &BatchWork<J, R>,
    cancel: &dyn Cancel,
    is_wanted: impl Fn() -> bool,
) -> Jobs<J, R> {
    let run_one = |job: &J| match work(job, cancel) {
        Err(Cancelled) if is_wanted() => None,
        answer => Some(answer),
    };
    jobs.into_iter().filter_map(|job| job.run(run_one)).collect()
}

/// The error of threads that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The threads that search.
    #[error(transparent)]
    Search(#[from] io::Error),
    /// The threads that check data sets.
    #[error(transparent)]
    Check(#[from] ThreadPoolError),
}

/// All worker pools of a server.
pub(crate) struct WorkerPools {
    /// The number of cores that they are for.
    threads: usize,
    quick: (Pool, Arc<TimeSlice>),
    bulk: (Pool, Arc<TimeSlice>),
    background: Pool,
    /// The pool that checks whole data sets, separate because no search may delay it.
    checking: Arc<ThreadPool>,
    clients: Clients,
    puzzle_time: Duration,
    runtime: Handle,
}

/// The threads for one kind of work, and the bound on its batches.
struct Pool {
    threads: ElasticPool,
    turns: Arc<Turns>,
}

/// The right to have one batch in a pool, until it is dropped.
pub(crate) struct Permit {
    /// The size of the batch.
    size: WorkSize,
    /// The pool in which it begins.
    begins: WorkSize,
    turn: Turn,
    _meter: RunningBatch,
}

impl Permit {
    /// Takes note of the time for which the batch has run.
    fn took(&mut self, time: Duration) {
        self.turn.took(time);
        if self.size == WorkSize::Small {
            self.turn.client().note_cost(time);
        }
    }
}

impl Pool {
    fn new(
        name: &'static str,
        threads: RangeInclusive<usize>,
        batches: usize,
        niceness: i32,
    ) -> io::Result<Self> {
        let threads = ElasticPool::start(name, threads, niceness)?;
        Ok(Self { threads, turns: Turns::new(batches) })
    }

    /// Waits for a turn of a client.
    async fn turn(&self, client: &Arc<Client>) -> Turn {
        let waiting = metrics::waiting_batch();
        let turn = self.turns.turn(client).await;
        drop(waiting);
        turn
    }
}

impl WorkerPools {
    /// Starts the pools for `threads` cores. `in_flight` is the most batches in the bulk pool,
    /// running or waiting (default: two for each thread); a puzzle is given up after `puzzle_time`.
    ///
    /// Must be called within a runtime.
    ///
    /// # Errors
    /// The system's error if a thread cannot be started.
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
            clients: Clients::default(),
            puzzle_time,
            runtime: Handle::current(),
        })
    }

    /// The number of cores that the pools are for.
    pub(crate) const fn threads(&self) -> usize {
        self.threads
    }

    /// The client with the numbers of its token, or 0, and its connection.
    pub(crate) fn client(&self, (token, connection): (u64, u64)) -> Arc<Client> {
        self.clients.client(token, connection)
    }

    /// A call of a client, whose work the pools are to do.
    pub(crate) fn new_call(&self, client: Arc<Client>) -> Arc<CallWork> {
        CallWork::new(self.threads, client)
    }

    /// Runs a piece of work that takes long for the threads that move bytes, and is no search.
    /// None if it panicked.
    pub(crate) async fn run_aside<R: Send + 'static>(
        &self,
        client: &Arc<Client>,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Option<R> {
        let mut turn = self.bulk.0.turn(client).await;
        let (sender, receiver) = oneshot::channel();
        self.bulk.0.threads.spawn(move || {
            let start = Instant::now();
            // The call may have ended in the meantime.
            if !sender.is_closed() {
                let _ = sender.send(work());
            }
            turn.took(start.elapsed());
        });
        receiver.await.ok()
    }

    /// The pool that checks whole data sets.
    pub(crate) const fn checking_pool(&self) -> &Arc<ThreadPool> {
        &self.checking
    }

    /// The pool in which work of some size begins.
    const fn pool(&self, size: WorkSize) -> &(Pool, Arc<TimeSlice>) {
        match size {
            WorkSize::Small => &self.quick,
            WorkSize::Large => &self.bulk,
        }
    }

    /// Waits for a permit for a batch of a call.
    pub(crate) async fn permit(&self, call: &CallWork, size: WorkSize) -> Permit {
        let begins = if call.client.is_costly() { WorkSize::Large } else { size };
        let turn = self.pool(begins).0.turn(&call.client).await;
        Permit { size, begins, turn, _meter: RunningBatch::new() }
    }

    /// Starts a batch: its jobs run one after another, and each fills its slot as soon as it is
    /// done. If the call's last batch was slow, this first waits for a permit of the background
    /// pool.
    pub(crate) async fn start<J, R>(
        self: &Arc<Self>,
        call: &Arc<CallWork>,
        mut permit: Permit,
        jobs: Vec<J>,
        work: Arc<BatchWork<J, R>>,
    ) -> Vec<Slot<Result<R, Cancelled>>>
    where
        J: Send + 'static,
        R: Send + 'static,
    {
        let (jobs, slots) = with_slots(jobs);
        let (pool, time_slice) = self.pool(permit.begins);
        let time = time_slice.time;
        if call.is_slow.load(Ordering::Relaxed) {
            drop(permit);
            self.start_in_background(call, time, jobs, work).await;
            return slots;
        }
        let (pools, call, time_slice) = (Arc::clone(self), Arc::clone(call), Arc::clone(time_slice));
        pool.threads.spawn(move || {
            let cancel = Arc::new(AtomicBool::new(false));
            call.register(&cancel);
            time_slice.start(&cancel);
            let start = Instant::now();
            let left = run_jobs(jobs, &*work, &*cancel, || !call.is_cancelled());
            let took = start.elapsed();
            call.is_handover_bound.store(took < HANDOVER_BOUND_TIME, Ordering::Relaxed);
            permit.took(took);
            drop(permit);
            if !left.is_empty() {
                call.is_slow.store(true, Ordering::Relaxed);
                let runtime = pools.runtime.clone();
                let in_background = async move { pools.start_in_background(&call, time, left, work).await };
                runtime.spawn(in_background.in_current_span());
            }
        });
        slots
    }

    /// Starts jobs in the background pool. The call is no longer slow if they take less than half
    /// of `time`, the time slice that they would have elsewhere.
    async fn start_in_background<J, R>(
        &self,
        call: &Arc<CallWork>,
        time: Duration,
        jobs: Jobs<J, R>,
        work: Arc<BatchWork<J, R>>,
    ) where
        J: Send + 'static,
        R: Send + 'static,
    {
        // Neither semaphore is ever closed.
        let own = Arc::clone(&call.background_batches).acquire_owned().await.ok();
        let turn = self.background.turn(&call.client).await;
        let mut permit =
            Permit { size: WorkSize::Large, begins: WorkSize::Large, turn, _meter: RunningBatch::new() };
        let cancel = Arc::new(PerPuzzleCancel::default());
        call.register(&cancel);
        self.runtime.spawn(give_up_slow_puzzles(Arc::downgrade(&cancel), self.puzzle_time));
        let call = Arc::clone(call);
        self.background.threads.spawn(move || {
            let start = Instant::now();
            drop(run_jobs(jobs, &*work, &*cancel, || false));
            let took = start.elapsed();
            if took < time / 2 {
                call.is_slow.store(false, Ordering::Relaxed);
            }
            permit.took(took);
            drop((own, permit));
        });
    }
}

/// Gives up puzzles that take longer than `time`.
async fn give_up_slow_puzzles(work: Weak<PerPuzzleCancel>, time: Duration) {
    let (mut seen, mut polls) = (None, 0);
    loop {
        sleep(time / POLLS_PER_PUZZLE).await;
        let Some(work) = work.upgrade() else { return };
        let on_hand = work.on_hand();
        if on_hand != seen {
            (seen, polls) = (on_hand, 0);
        } else if let Some(number) = on_hand {
            polls += 1;
            if polls == POLLS_PER_PUZZLE {
                work.give_up(number);
                polls = 0;
            }
        }
    }
}

/// The work of one call in the pools.
pub(crate) struct CallWork {
    is_cancelled: AtomicBool,
    client: Arc<Client>,
    /// Whether its last batch outlasted its time slice.
    is_slow: AtomicBool,
    /// Whether its last batch took less than [`HANDOVER_BOUND_TIME`].
    is_handover_bound: AtomicBool,
    /// The batches that it may have in the background pool at a time.
    background_batches: Arc<Semaphore>,
    /// The cancel flags of its running batches.
    cancels: Mutex<Vec<Weak<dyn Cancel>>>,
}

impl CallWork {
    /// A call that may have `batches` batches in the background pool at a time.
    fn new(batches: usize, client: Arc<Client>) -> Arc<Self> {
        Arc::new(Self {
            client,
            is_cancelled: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
            is_handover_bound: AtomicBool::new(false),
            background_batches: Arc::new(Semaphore::new(batches)),
            cancels: Mutex::default(),
        })
    }

    fn cancels(&self) -> MutexGuard<'_, Vec<Weak<dyn Cancel>>> {
        self.cancels.lock().ignore_poison()
    }

    /// Whether handing its last batch over and back cost more than searching it.
    pub(crate) fn is_handover_bound(&self) -> bool {
        self.is_handover_bound.load(Ordering::Relaxed)
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Registers work that begins now: it is cancelled with the call, or at once if the call is
    /// cancelled.
    pub(crate) fn register(&self, cancel: &Arc<impl Cancel + 'static>) {
        let mut cancels = self.cancels();
        cancels.retain(|cancel| cancel.strong_count() > 0);
        let cancel = Arc::clone(cancel) as Arc<dyn Cancel>;
        if self.is_cancelled() {
            cancel.cancel();
        } else {
            cancels.push(Arc::downgrade(&cancel));
        }
    }

    /// Cancels all work of the call, now and later.
    fn cancel(&self) {
        let mut cancels = self.cancels();
        self.is_cancelled.store(true, Ordering::Relaxed);
        for cancel in cancels.drain(..) {
            if let Some(cancel) = cancel.upgrade() {
                cancel.cancel();
            }
        }
    }
}

/// Cancels a call's work on drop, because the client is gone.
pub(crate) struct CancelOnDrop(pub(crate) Arc<CallWork>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
