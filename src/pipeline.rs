//! Ordered, bounded jobs on a thread pool. It knows nothing of Sudoku.
//!
//! ```text
//!            submit                         take, oldest first
//!   caller ──┬──────▶ queue of slots: [ 1 ][ 2 ][ 3 ] ──▶ answers in order
//!            └──────▶ pool: jobs in any order, each fills its own slot
//! ```
//!
//! A job's place in the queue is reserved before its work starts, so order, back-pressure and the bound
//! on memory are one mechanism: no more jobs are started than there are slots, and nothing can overtake.
//! A job that panics fills its slot with [`Panicked`]; the thread lives on. A job whose caller has left is
//! skipped.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::oneshot;

/// How many jobs a thread has waiting, so that none idles while the caller is busy.
const JOBS_PER_THREAD: usize = 4;

/// The job panicked; there is no answer. The panic's message went to the panic hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The job panicked.")]
pub struct Panicked;

/// Makes a pool of `threads` threads, or of one for each core.
///
/// # Errors
/// The system's, where threads cannot be started.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool, rayon::ThreadPoolBuildError> {
    let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into));
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("worker-{index}"))
        // Jobs catch their own panics. One that escapes must not abort the process: the slot's sender is
        // dropped, which its owner sees as `Panicked`.
        .panic_handler(|_| {})
        .build()
}

/// The place of one answer that is being worked on.
#[derive(Debug)]
pub struct Slot<R>(oneshot::Receiver<R>);

impl<R> Slot<R> {
    /// Waits for the answer on a thread that may block.
    ///
    /// # Errors
    /// [`Panicked`] if there will be none.
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

/// Starts a job on the pool and returns the place of its answer at once. A slot that is dropped tells
/// the job not to begin.
pub fn submit<R: Send + 'static>(pool: &ThreadPool, job: impl FnOnce() -> R + Send + 'static) -> Slot<R> {
    let (sender, receiver) = oneshot::channel();
    pool.spawn_fifo(move || {
        if sender.is_closed() {
            return;
        }
        // What a panicking job leaves half-done is dropped with it.
        if let Ok(answer) = catch_unwind(AssertUnwindSafe(job)) {
            let _ = sender.send(answer);
        }
    });
    Slot(receiver)
}

/// Starts jobs that are too small to be handed over one by one: they run on one thread, one after another, and
/// each fills its own slot as soon as it is done. A job whose slot was dropped is skipped.
pub fn submit_together<J: Send + 'static, R: Send + 'static>(
    pool: &ThreadPool,
    jobs: Vec<J>,
    work: impl Fn(&J) -> R + Send + 'static,
) -> Vec<Slot<R>> {
    let (senders, slots): (Vec<_>, Vec<_>) = jobs
        .into_iter()
        .map(|job| {
            let (sender, receiver) = oneshot::channel();
            ((job, sender), Slot(receiver))
        })
        .unzip();
    pool.spawn_fifo(move || {
        for (job, sender) in senders {
            if sender.is_closed() {
                continue;
            }
            if let Ok(answer) = catch_unwind(AssertUnwindSafe(|| work(&job))) {
                let _ = sender.send(answer);
            }
        }
    });
    slots
}

/// Works through `source` on the pool and hands every answer to `sink` on this thread, in the order of
/// the source. At most a few jobs a thread are on the way at any time. `recover` gives the
/// answer of a job that panicked.
///
/// # Errors
/// The first error of `source` or `sink`; jobs not begun by then are skipped. Answers to what came before an error of
/// the source are all handed to the sink first.
pub fn run_ordered<J, R, E>(
    pool: &ThreadPool,
    mut source: impl FnMut() -> Result<Option<J>, E>,
    work: impl Fn(&J) -> R + Clone + Send + 'static,
    recover: impl Fn(&J) -> R + Clone + Send + 'static,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    J: Send + 'static,
    R: Send + 'static,
{
    let bound = pool.current_num_threads() * JOBS_PER_THREAD;
    let mut queue: VecDeque<Slot<R>> = VecDeque::with_capacity(bound);
    let mut end = None;
    loop {
        while end.is_none() && queue.len() < bound {
            match source() {
                Ok(Some(job)) => {
                    let (work, recover) = (work.clone(), recover.clone());
                    queue.push_back(submit(pool, move || {
                        catch_unwind(AssertUnwindSafe(|| work(&job))).unwrap_or_else(|_| recover(&job))
                    }));
                }
                Ok(None) => end = Some(Ok(())),
                Err(error) => end = Some(Err(error)),
            }
        }
        let Some(slot) = queue.pop_front() else {
            return end.unwrap_or(Ok(()));
        };
        match slot.wait() {
            Ok(answer) => sink(answer)?,
            // `recover` itself panicked: a bug that cannot be answered for.
            Err(Panicked) => panic!("no answer could be made for a job that panicked"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn numbers(end: u64) -> impl FnMut() -> Result<Option<u64>, Infallible> {
        let mut numbers = 0..end;
        move || Ok(numbers.next())
    }

    #[test]
    fn answers_keep_the_order_whatever_the_jobs_take() {
        let pool = pool(Some(4)).unwrap();
        let mut answers = Vec::new();
        let work = |&n: &u64| {
            thread::sleep(Duration::from_micros(n * 7919 % 400));
            n
        };
        let result = run_ordered(
            &pool,
            numbers(500),
            work,
            |&n| n,
            |n| {
                answers.push(n);
                Ok(())
            },
        );
        assert_eq!(result, Ok(()));
        assert!(answers.iter().copied().eq(0..500));
    }

    #[test]
    fn no_more_jobs_are_begun_than_the_bound() {
        let pool = pool(Some(2)).unwrap();
        let open = Arc::new(AtomicUsize::new(0));
        let most = AtomicUsize::new(0);
        let mut next = 0..200u64;
        let source = || -> Result<Option<u64>, Infallible> {
            let n = next.next();
            if n.is_some() {
                most.fetch_max(open.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
            Ok(n)
        };
        let sink = |_| {
            open.fetch_sub(1, Ordering::Relaxed);
            Ok(())
        };
        run_ordered(&pool, source, |&n| n, |&n| n, sink).unwrap();
        assert_eq!(most.load(Ordering::Relaxed), 2 * JOBS_PER_THREAD);
    }

    #[test]
    fn a_panic_is_answered_for_in_its_place_and_the_pool_lives() {
        let pool = pool(Some(2)).unwrap();
        for _ in 0..2 {
            let mut answers = Vec::new();
            let work = |&n: &u64| if n % 3 == 0 { panic!("injected") } else { n };
            run_ordered(
                &pool,
                numbers(10),
                work,
                |&n| 1000 + n,
                |n| {
                    answers.push(n);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(answers, [1000, 1, 2, 1003, 4, 5, 1006, 7, 8, 1009]);
        }
        assert_eq!(submit(&pool, || panic!("injected")).wait(), Err::<(), _>(Panicked));
        assert_eq!(pool.current_num_threads(), 2);
        assert_eq!(submit(&pool, || 5).wait(), Ok(5));
    }

    #[test]
    fn what_came_before_an_error_of_the_source_is_answered() {
        let pool = pool(Some(2)).unwrap();
        let mut next = 0..;
        let source = || match next.next() {
            Some(n) if n < 20 => Ok(Some(n)),
            _ => Err("broken"),
        };
        let mut answers = Vec::new();
        let result = run_ordered(
            &pool,
            source,
            |&n: &u64| n,
            |&n| n,
            |n| {
                answers.push(n);
                Ok(())
            },
        );
        assert_eq!(result, Err("broken"));
        assert!(answers.iter().copied().eq(0..20));
    }

    #[test]
    fn jobs_handed_over_together_answer_one_by_one() {
        let pool = pool(Some(1)).unwrap();
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let ran = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&ran);
        let work = move |&n: &u64| {
            counter.fetch_add(1, Ordering::Relaxed);
            match n {
                1 => panic!("injected"),
                3 => gate.recv().map(|()| n),
                n => Ok(n),
            }
        };
        let mut slots = submit_together(&pool, (0..6).collect(), work).into_iter();
        let mut next = || slots.next().unwrap();
        assert_eq!(next().wait(), Ok(Ok(0)));
        assert_eq!(next().wait(), Err(Panicked));
        // The answer is there although the next job holds up the rest.
        assert_eq!(next().wait(), Ok(Ok(2)));
        let held_up = next();
        drop(next());
        release.send(()).unwrap();
        assert_eq!(held_up.wait(), Ok(Ok(3)));
        assert_eq!(next().wait(), Ok(Ok(5)));
        assert_eq!(ran.load(Ordering::Relaxed), 5);
    }

    #[test]
    fn a_job_whose_caller_left_is_skipped() {
        let pool = pool(Some(1)).unwrap();
        let ran = Arc::new(AtomicUsize::new(0));
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let first = submit(&pool, move || gate.recv().is_ok());
        let counter = Arc::clone(&ran);
        drop(submit(&pool, move || counter.fetch_add(1, Ordering::Relaxed)));
        release.send(()).unwrap();
        assert_eq!(first.wait(), Ok(true));
        assert_eq!(submit(&pool, || ()).wait(), Ok(()));
        assert_eq!(ran.load(Ordering::Relaxed), 0);
    }
}
