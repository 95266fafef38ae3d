//! Ordered, bounded jobs on threads, without any knowledge of Sudoku.
//!
//! ```text
//!            submit                         take, oldest first
//!   caller ──┬──────▶ queue of slots: [ 1 ][ 2 ][ 3 ] ──▶ answers in order
//!            └──────▶ pool: jobs in any order, each fills its own slot
//! ```
//!
//! [`run_ordered`] runs a whole input, [`run_here`] a short one, [`submit`] one job. [`run_in_parts`]
//! is for jobs whose answers may be longer than memory. All work on a [`ThreadPool`]; the service has
//! an `ElasticPool` for each kind of work, because calls arrive at any time.
//!
//! **Invariant:** a job's slot in the queue is reserved before its work starts. Order,
//! back-pressure and the bound on memory all follow from it: no more jobs are started than there
//! are slots, and no answer can overtake another. Callers rely on it, because they number answers
//! by counting them.
//!
//! A job that panics fills its slot with [`Panicked`]; the thread lives on. A job whose slot was
//! dropped is skipped. What a job logs belongs to the span in which it was submitted.

mod elastic_pool;
mod parts;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use tokio::sync::oneshot;
use tracing::Span;

pub(crate) use elastic_pool::ElasticPool;
pub use parts::{PartTaker, run_in_parts, run_in_parts_here};

use elastic_pool::lower_priority;

/// The jobs that wait for each thread, so that none idles while the caller is busy.
const JOBS_PER_THREAD: usize = 4;

/// The time that a run waits for its source before it polls the cancel flag.
const CANCEL_POLL: Duration = Duration::from_millis(50);

/// The error of a job that panicked, so that there is no answer. The panic hook has had the
/// message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The job panicked.")]
pub struct Panicked;

/// Does work that may panic, and returns its result.
///
/// What the work has changed by then may be half done, so the caller drops it, or keeps of it only
/// what is known to be whole.
///
/// # Errors
/// [`Panicked`] if it panicked.
pub fn catch_panic<R>(work: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

/// The error of a run whose threads cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoThreads {
    /// The thread that reads.
    #[error(
        "no thread can be started to read the input: {0}. Allow this process more, or use fewer --threads."
    )]
    Reader(io::Error),
    /// Those that work.
    #[error("The worker threads cannot be started: {0}")]
    Workers(#[from] ThreadPoolError),
}

/// A pool with a fixed number of threads.
#[derive(Debug)]
pub struct ThreadPool {
    name: &'static str,
    /// The number of threads. Empty until it is needed where it is that of the cores, because the
    /// limits on those lie in files of the system.
    threads: OnceLock<usize>,
    niceness: i32,
    /// Empty until the threads are needed.
    started: OnceLock<rayon::ThreadPool>,
}

/// The error of a pool whose threads cannot be started.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ThreadPoolError(rayon::ThreadPoolBuildError);

impl ThreadPool {
    /// The number of threads.
    #[must_use]
    pub fn current_num_threads(&self) -> usize {
        *self.threads.get_or_init(|| thread::available_parallelism().map_or(1, Into::into))
    }

    /// Starts the threads, unless they run already.
    ///
    /// # Errors
    /// [`ThreadPoolError`] if the system refuses to start a thread.
    pub fn start(&self) -> Result<(), ThreadPoolError> {
        self.as_rayon().map(|_| ())
    }

    /// The pool beneath, for work in scopes.
    ///
    /// # Errors
    /// As [`ThreadPool::start`].
    pub(crate) fn as_rayon(&self) -> Result<&rayon::ThreadPool, ThreadPoolError> {
        if let Some(started) = self.started.get() {
            return Ok(started);
        }
        let (name, niceness) = (self.name, self.niceness);
        let pool = ThreadPoolBuilder::new()
            .num_threads(self.current_num_threads())
            .thread_name(move |index| format!("{name}-{index}"))
            .start_handler(move |_| lower_priority(niceness))
            // Jobs catch their own panics. One that escapes must not abort the process: it drops the
            // slot's sender, which the owner of the slot sees as `Panicked`.
            .panic_handler(|_| {})
            .build()
            .map_err(ThreadPoolError)?;
        // If another thread was faster, its pool is used, and the threads of this one end.
        Ok(self.started.get_or_init(|| pool))
    }
}

/// Makes a pool of `threads` threads (default: one for each core).
///
/// # Errors
/// [`ThreadPoolError`] if the system refuses to start a thread.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool, ThreadPoolError> {
    let pool = lazy_pool(threads);
    pool.start()?;
    Ok(pool)
}

/// Makes a pool like [`pool`] does, whose threads start when they are first needed. A run over a
/// short file never needs them.
#[must_use]
pub fn lazy_pool(threads: Option<usize>) -> ThreadPool {
    let threads = threads.map_or_else(OnceLock::new, OnceLock::from);
    ThreadPool { name: "worker", threads, niceness: 0, started: OnceLock::new() }
}

/// Makes a pool of threads with a name and a priority lowered by `niceness`, as `nice` counts it,
/// on systems where single threads have priorities.
///
/// # Errors
/// [`ThreadPoolError`] if the system refuses to start a thread.
pub(crate) fn named_pool(
    name: &'static str,
    threads: usize,
    niceness: i32,
) -> Result<ThreadPool, ThreadPoolError> {
    let pool = ThreadPool { name, threads: OnceLock::from(threads), niceness, started: OnceLock::new() };
    pool.start()?;
    Ok(pool)
}

/// The slot of one answer, which a job fills.
#[derive(Debug)]
pub struct Slot<R>(oneshot::Receiver<R>);

impl<R> Slot<R> {
    /// Blocks until the answer is there.
    ///
    /// # Errors
    /// [`Panicked`] if there will be no answer.
    pub fn wait(self) -> Result<R, Panicked> {
        self.0.blocking_recv().map_err(|_| Panicked)
    }
}

/// Waits for the answer in an asynchronous task.
impl<R> Future for Slot<R> {
    type Output = Result<R, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map_err(|_| Panicked)
    }
}

/// A slot, and the sender that fills it.
fn slot<R>() -> (oneshot::Sender<R>, Slot<R>) {
    let (sender, receiver) = oneshot::channel();
    (sender, Slot(receiver))
}

/// Starts a job on the pool and returns its slot at once. Dropping the slot skips a job that has
/// not begun. If the threads of the pool cannot be started, there is no answer.
pub fn submit<R: Send + 'static>(pool: &ThreadPool, job: impl FnOnce() -> R + Send + 'static) -> Slot<R> {
    let (sender, slot) = slot();
    start(pool, sender, job);
    slot
}

/// A job with the sender of its slot.
#[derive(Debug)]
pub(crate) struct SlottedJob<J, R> {
    job: J,
    sender: oneshot::Sender<R>,
}

/// Makes a slot for each job.
#[must_use]
pub(crate) fn with_slots<J, R>(jobs: Vec<J>) -> (Vec<SlottedJob<J, R>>, Vec<Slot<R>>) {
    let pair = |job| {
        let (sender, slot) = slot();
        (SlottedJob { job, sender }, slot)
    };
    jobs.into_iter().map(pair).unzip()
}

impl<J, R> SlottedJob<J, R> {
    /// Does the job on this thread and fills its slot, unless the slot was dropped. If `work`
    /// returns no answer, the job is handed back to be done later.
    pub(crate) fn run(self, work: impl FnOnce(&J) -> Option<R>) -> Option<Self> {
        let Self { job, sender } = self;
        let sender = fill(sender, || work(&job))?;
        Some(Self { job, sender })
    }
}

fn start<R: Send + 'static>(
    pool: &ThreadPool,
    sender: oneshot::Sender<R>,
    job: impl FnOnce() -> R + Send + 'static,
) {
    let span = Span::current();
    // Without threads the sender is dropped, which the owner of the slot sees as `Panicked`.
    if let Ok(pool) = pool.as_rayon() {
        pool.spawn_fifo(move || span.in_scope(|| drop(fill(sender, || Some(job())))));
    }
}

/// Does a job and fills its slot, unless the slot was dropped. If there is no answer, the sender is
/// handed back.
fn fill<R>(sender: oneshot::Sender<R>, job: impl FnOnce() -> Option<R>) -> Option<oneshot::Sender<R>> {
    if sender.is_closed() {
        return None;
    }
    match catch_panic(job) {
        Ok(None) => return Some(sender),
        Ok(Some(answer)) => drop(sender.send(answer)),
        // A panicking job has dropped its half-done state with it.
        Err(Panicked) => {}
    }
    None
}

/// The end of a run that met no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The whole source was answered.
    Complete,
    /// The cancel flag was set before that.
    Cancelled,
}

/// Does all jobs of `source` on the pool and passes every answer to `sink` on this thread, in the
/// order of the source. `recover` makes the answer of a job that panicked.
///
/// The source is read on a thread of its own, so answers flow while it waits for more. At most four
/// jobs a thread are queued or running at any time. Jobs have to poll `cancel` themselves.
///
/// # Errors
/// The first error of `source` or `sink`; jobs not begun by then are skipped. The jobs before an
/// error of the source are all answered first. [`NoThreads`], before anything is done.
///
/// # Panics
/// If `recover` panics.
pub fn run_ordered<J, R, E>(
    pool: &Arc<ThreadPool>,
    cancel: &AtomicBool,
    source: impl FnMut() -> Result<Option<J>, E> + Send + 'static,
    work: impl Fn(&J) -> R + Clone + Send + 'static,
    recover: impl Fn(&J) -> R + Clone + Send + 'static,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<Ended, E>
where
    J: Send + 'static,
    R: Send + 'static,
    E: From<NoThreads> + Send + 'static,
{
    let begin = move |pool: &ThreadPool, sender, job: J| {
        let (work, recover) = (work.clone(), recover.clone());
        start(pool, sender, move || catch_panic(|| work(&job)).unwrap_or_else(|Panicked| recover(&job)));
    };
    let queue = read_ahead(pool, source, slot, begin)?;
    loop {
        match receive(&queue, cancel) {
            Received::Item(Ok(slot)) => match slot.wait() {
                Ok(answer) => sink(answer)?,
                // `recover` itself panicked: a bug that leaves no answer to write.
                Err(Panicked) => panic!("no answer could be made for a job that panicked"),
            },
            Received::Item(Err(error)) => return Err(error),
            Received::Gone => return Ok(Ended::Complete),
            Received::Cancelled => return Ok(Ended::Cancelled),
        }
    }
}

/// Reads the source on a thread of its own. For each job it makes the two ends of its answer, queues
/// the one to wait for, and has the job begin with the other one. Only so many jobs are queued.
fn read_ahead<J, S, W, E>(
    pool: &Arc<ThreadPool>,
    mut source: impl FnMut() -> Result<Option<J>, E> + Send + 'static,
    ends: impl Fn() -> (S, W) + Send + 'static,
    begin: impl Fn(&ThreadPool, S, J) + Send + 'static,
) -> Result<Receiver<Result<W, E>>, E>
where
    W: Send + 'static,
    E: From<NoThreads> + Send + 'static,
{
    pool.start().map_err(NoThreads::from)?;
    let (reserve, queue) = mpsc::sync_channel(pool.current_num_threads() * JOBS_PER_THREAD);
    let pool = Arc::clone(pool);
    let reader = move || {
        loop {
            let job = match source() {
                Ok(Some(job)) => job,
                Ok(None) => break,
                Err(error) => {
                    // The run may have ended, and then the error does not matter.
                    let _ = reserve.send(Err(error));
                    break;
                }
            };
            let (sender, answer) = ends();
            if reserve.send(Ok(answer)).is_err() {
                break;
            }
            begin(&pool, sender, job);
        }
    };
    // Not joined, because it may be waiting for input that never comes when the sink fails.
    thread::Builder::new().name("reader".to_owned()).spawn(reader).map_err(NoThreads::Reader)?;
    Ok(queue)
}

/// What comes of waiting for an item.
enum Received<T> {
    Item(T),
    /// Whoever sends is gone.
    Gone,
    Cancelled,
}

/// Waits for the next item, and for the cancel flag.
fn receive<T>(queue: &Receiver<T>, cancel: &AtomicBool) -> Received<T> {
    while !cancel.load(Ordering::Relaxed) {
        match queue.recv_timeout(CANCEL_POLL) {
            Ok(item) => return Received::Item(item),
            Err(RecvTimeoutError::Disconnected) => return Received::Gone,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Received::Cancelled
}

/// Does all jobs of `source` one after another on this thread, for a source of a job or two: waking
/// other threads takes longer. Otherwise it is like [`run_ordered`].
///
/// # Errors
/// The first error of `source` or `sink`.
///
/// # Panics
/// If `recover` panics.
pub fn run_here<J, R, E>(
    cancel: &AtomicBool,
    mut source: impl FnMut() -> Result<Option<J>, E>,
    work: impl Fn(&J) -> R,
    recover: impl Fn(&J) -> R,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<Ended, E> {
    while let Some(job) = source()? {
        if cancel.load(Ordering::Relaxed) {
            return Ok(Ended::Cancelled);
        }
        sink(catch_panic(|| work(&job)).unwrap_or_else(|Panicked| recover(&job)))?;
    }
    Ok(Ended::Complete)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "slow jobs and slow sinks are what is tested")]

    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Failed(&'static str);

    impl From<NoThreads> for Failed {
        fn from(_: NoThreads) -> Self {
            Self("no thread")
        }
    }

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn pool_of(threads: usize) -> Arc<ThreadPool> {
        Arc::new(pool(Some(threads)).unwrap())
    }

    fn numbers(end: u64) -> impl FnMut() -> Result<Option<u64>, Failed> {
        let mut numbers = 0..end;
        move || Ok(numbers.next())
    }

    #[test]
    fn answers_keep_the_order_whatever_the_jobs_take() {
        let mut answers = Vec::new();
        let work = |&n: &u64| {
            thread::sleep(Duration::from_micros(n * 7919 % 400));
            n
        };
        let sink = |n| {
            answers.push(n);
            Ok(())
        };
        let ended = run_ordered(&pool_of(4), &GO_ON, numbers(500), work, |&n| n, sink);
        assert_eq!(ended, Ok(Ended::Complete));
        assert!(answers.iter().copied().eq(0..500));
    }

    #[test]
    fn no_more_jobs_are_begun_than_the_bound() {
        let begun = Arc::new(AtomicUsize::new(0));
        let answered = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let work = {
            let (begun, answered, most) = (Arc::clone(&begun), Arc::clone(&answered), Arc::clone(&most));
            move |_: &u64| {
                let open = begun.fetch_add(1, Ordering::SeqCst) + 1 - answered.load(Ordering::SeqCst);
                most.fetch_max(open, Ordering::SeqCst);
            }
        };
        let sink = |()| {
            // Slow enough for the jobs to run up against the bound.
            thread::sleep(Duration::from_micros(300));
            answered.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        run_ordered(&pool_of(2), &GO_ON, numbers(200), work, |_| (), sink).unwrap();
        // The queue is full, one answer is in the sink's hands, and the reader holds the next
        // slot's place.
        let bound = 2 * JOBS_PER_THREAD;
        let most = most.load(Ordering::SeqCst);
        assert!((bound..=bound + 2).contains(&most), "{most} jobs at one time");
    }

    #[test]
    fn a_panic_is_answered_for_in_its_place_and_the_pool_lives() {
        let pool = pool_of(2);
        for _ in 0..2 {
            let mut answers = Vec::new();
            let work = |&n: &u64| if n % 3 == 0 { panic!("injected") } else { n };
            let sink = |n| {
                answers.push(n);
                Ok(())
            };
            run_ordered(&pool, &GO_ON, numbers(10), work, |&n| 1000 + n, sink).unwrap();
            assert_eq!(answers, [1000, 1, 2, 1003, 4, 5, 1006, 7, 8, 1009]);
        }
        assert_eq!(submit(&pool, || panic!("injected")).wait(), Err::<(), _>(Panicked));
        assert_eq!(pool.current_num_threads(), 2);
        assert_eq!(submit(&pool, || 5).wait(), Ok(5));
    }

    #[test]
    fn a_run_on_one_thread_is_like_one_on_many() {
        let work = |&n: &u64| if n % 3 == 0 { panic!("injected") } else { n };
        let mut answers = Vec::new();
        let sink = |n| {
            answers.push(n);
            if n == 7 { Err(Failed("full")) } else { Ok(()) }
        };
        assert_eq!(run_here(&GO_ON, numbers(10), work, |&n| 1000 + n, sink), Err(Failed("full")));
        assert_eq!(answers, [1000, 1, 2, 1003, 4, 5, 1006, 7]);
        let here = thread::current().id();
        let work = |_: &u64| assert_eq!(thread::current().id(), here);
        assert_eq!(run_here(&GO_ON, numbers(3), work, |_| panic!(), |()| Ok(())), Ok(Ended::Complete));
        let cancelled = AtomicBool::new(true);
        let ended = run_here(&cancelled, numbers(3), |_| panic!(), |_| panic!(), |()| Ok(()));
        assert_eq!(ended, Ok(Ended::Cancelled));
    }

    #[test]
    fn threads_start_when_they_are_needed() {
        let pool = Arc::new(lazy_pool(Some(2)));
        assert!(pool.started.get().is_none() && pool.current_num_threads() == 2);
        assert_eq!(submit(&pool, || 5).wait(), Ok(5));
        assert!(pool.started.get().is_some());
    }

    #[test]
    fn what_came_before_an_error_of_the_source_is_answered() {
        let mut next = 0..;
        let source = move || match next.next() {
            Some(n) if n < 20 => Ok(Some(n)),
            _ => Err(Failed("broken")),
        };
        let mut answers = Vec::new();
        let sink = |n| {
            answers.push(n);
            Ok(())
        };
        let ended = run_ordered(&pool_of(2), &GO_ON, source, |&n: &u64| n, |&n| n, sink);
        assert_eq!(ended, Err(Failed("broken")));
        assert!(answers.iter().copied().eq(0..20));
    }

    #[test]
    fn each_job_with_a_slot_fills_its_own_slot_or_is_handed_back() {
        let (jobs, slots) = with_slots((0..5).collect::<Vec<u64>>());
        let mut slots = slots.into_iter();
        let mut next = || slots.next().unwrap();
        let mut jobs = jobs.into_iter();
        let mut run = |work: &dyn Fn(&u64) -> Option<u64>| jobs.next().unwrap().run(work);
        assert!(run(&|&n| Some(n)).is_none());
        assert_eq!(next().wait(), Ok(0));
        assert!(run(&|_| panic!("injected")).is_none());
        assert_eq!(next().wait(), Err(Panicked));
        let put_off = run(&|_| None).unwrap();
        drop(next());
        assert!(put_off.run(|_| panic!("nobody waits for it")).is_none());
        let put_off = run(&|_| None).unwrap();
        assert!(put_off.run(|&n| Some(10 * n)).is_none());
        assert_eq!(next().wait(), Ok(30));
        drop(jobs);
        assert_eq!(next().wait(), Err(Panicked), "a job that is dropped is not answered");
    }

    #[test]
    fn an_error_of_the_sink_ends_the_run() {
        let mut left = 3;
        let sink = |_| {
            left -= 1;
            if left == 0 { Err(Failed("full")) } else { Ok(()) }
        };
        let endless = || Ok(Some(1u64));
        assert_eq!(run_ordered(&pool_of(2), &GO_ON, endless, |&n| n, |&n| n, sink), Err(Failed("full")));
    }

    #[test]
    fn a_run_that_waits_for_its_source_can_be_cancelled() {
        let (never, waiting) = mpsc::channel::<()>();
        let source = move || -> Result<Option<u64>, Failed> {
            // Comes back only when the test is over and `never` is gone.
            Ok(waiting.recv().ok().map(|()| 0))
        };
        let cancel = AtomicBool::new(true);
        let ended = run_ordered(&pool_of(1), &cancel, source, |&n| n, |&n| n, |_| Ok(()));
        assert_eq!(ended, Ok(Ended::Cancelled));
        drop(never);
    }

    #[test]
    fn a_job_whose_caller_left_is_skipped() {
        let pool = pool_of(1);
        let ran = Arc::new(AtomicUsize::new(0));
        let (release, gate) = mpsc::channel::<()>();
        let first = submit(&pool, move || gate.recv().is_ok());
        let counter = Arc::clone(&ran);
        drop(submit(&pool, move || counter.fetch_add(1, Ordering::Relaxed)));
        release.send(()).unwrap();
        assert_eq!(first.wait(), Ok(true));
        assert_eq!(submit(&pool, || ()).wait(), Ok(()));
        assert_eq!(ran.load(Ordering::Relaxed), 0);
    }
}
