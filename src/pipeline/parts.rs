//! Ordered jobs whose answers come in parts, because one may be longer than memory.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use tracing::Span;

use super::{Ended, NoThreads, Received, ThreadPool, read_ahead, receive};

/// The parts of a job that may wait for their turn; then its thread waits too.
const PARTS_PER_JOB: usize = 16;

/// A taker of parts, called with each. `Break` if nobody wants more.
pub type PartTaker<'a, P> = dyn FnMut(P) -> ControlFlow<()> + 'a;

/// What a job sends.
enum PartMessage<P> {
    /// The job begins: sent so that a job is skipped whose parts nobody wants any more.
    Begin,
    Part(P),
    /// There are no more parts, so that a job that broke down is told from one that is done.
    End,
}

/// Does all jobs of `source` on the pool like [`run_ordered`](super::run_ordered) does, where the
/// answer of a job is any number of parts, which `work` passes on as it finds them. All parts of a
/// job come before those of the next one. At most 16 parts of a job wait, and then its thread does.
/// Jobs not begun when nobody wants more are skipped.
///
/// The jobs begin in order, so the one whose turn it is always has a thread, whichever others wait.
///
/// # Errors
/// As [`run_ordered`](super::run_ordered).
///
/// # Panics
/// If `work` panics.
pub fn run_in_parts<J, P, E>(
    pool: &Arc<ThreadPool>,
    cancel: &AtomicBool,
    source: impl FnMut() -> Result<Option<J>, E> + Send + 'static,
    work: impl Fn(&J, &mut PartTaker<'_, P>) + Clone + Send + 'static,
    mut sink: impl FnMut(P) -> Result<(), E>,
) -> Result<Ended, E>
where
    J: Send + 'static,
    P: Send + 'static,
    E: From<NoThreads> + Send + 'static,
{
    let begin = move |pool: &ThreadPool, sender: mpsc::SyncSender<PartMessage<P>>, job: J| {
        let (work, span) = (work.clone(), Span::current());
        let job = move || {
            span.in_scope(|| {
                let mut is_wanted = sender.send(PartMessage::Begin).is_ok();
                if !is_wanted {
                    return;
                }
                work(&job, &mut |part| {
                    is_wanted = is_wanted && sender.send(PartMessage::Part(part)).is_ok();
                    if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
                let _ = sender.send(PartMessage::End);
            });
        };
        // Without threads the sender is dropped.
        if let Ok(pool) = pool.as_rayon() {
            pool.spawn_fifo(job);
        }
    };
    let queue = read_ahead(pool, source, || mpsc::sync_channel(PARTS_PER_JOB), begin)?;
    loop {
        match receive(&queue, cancel) {
            Received::Item(Ok(parts)) => loop {
                match receive(&parts, cancel) {
                    Received::Item(PartMessage::Begin) => {}
                    Received::Item(PartMessage::Part(part)) => sink(part)?,
                    Received::Item(PartMessage::End) => break,
                    Received::Gone => panic!("no answer could be made for a job that panicked"),
                    Received::Cancelled => return Ok(Ended::Cancelled),
                }
            },
            Received::Item(Err(error)) => return Err(error),
            Received::Gone => return Ok(Ended::Complete),
            Received::Cancelled => return Ok(Ended::Cancelled),
        }
    }
}

/// Does all jobs of `source` one after another on this thread, for a source of a job or two.
/// Otherwise it is like [`run_in_parts`].
///
/// # Errors
/// The first error of `source` or `sink`.
pub fn run_in_parts_here<J, P, E>(
    cancel: &AtomicBool,
    mut source: impl FnMut() -> Result<Option<J>, E>,
    work: impl Fn(&J, &mut PartTaker<'_, P>),
    mut sink: impl FnMut(P) -> Result<(), E>,
) -> Result<Ended, E> {
    while let Some(job) = source()? {
        let mut result = Ok(());
        work(&job, &mut |part| {
            if result.is_ok() && !cancel.load(Ordering::Relaxed) {
                result = sink(part);
            }
            if result.is_err() || cancel.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        result?;
        if cancel.load(Ordering::Relaxed) {
            return Ok(Ended::Cancelled);
        }
    }
    Ok(Ended::Complete)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::thread;

    use super::super::{pool, submit};
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Failed(&'static str);

    impl From<NoThreads> for Failed {
        fn from(_: NoThreads) -> Self {
            Self("no thread")
        }
    }

    fn pool_of(threads: usize) -> Arc<ThreadPool> {
        Arc::new(pool(Some(threads)).unwrap())
    }

    fn numbers(end: u64) -> impl FnMut() -> Result<Option<u64>, Failed> {
        let mut numbers = 0..end;
        move || Ok(numbers.next())
    }

    /// Passes on the job's number as many times as it says, and the part.
    fn count_up(parts: impl Fn(u64) -> u64 + Clone) -> impl Fn(&u64, &mut PartTaker<'_, (u64, u64)>) + Clone {
        move |&job, take| {
            for part in 0..parts(job) {
                if take((job, part)).is_break() {
                    return;
                }
            }
        }
    }

    /// Many more parts than may wait, in jobs that all have begun before the first one ends.
    fn parts_of(job: u64) -> u64 {
        if job.is_multiple_of(3) { 100 * PARTS_PER_JOB as u64 } else { job % 2 }
    }

    #[test]
    fn parts_come_in_order_however_many_a_job_has() {
        let wanted: Vec<(u64, u64)> =
            (0..50).flat_map(|job| (0..parts_of(job)).map(move |part| (job, part))).collect();
        for threads in [1, 3] {
            let mut seen = Vec::new();
            let sink = |part| {
                seen.push(part);
                Ok(())
            };
            let never = AtomicBool::new(false);
            let ended = run_in_parts(&pool_of(threads), &never, numbers(50), count_up(parts_of), sink);
            assert_eq!(ended, Ok(Ended::Complete));
            assert!(seen == wanted);
        }
        let mut seen = Vec::new();
        let sink = |part| {
            seen.push(part);
            Ok(())
        };
        let ended = run_in_parts_here(&AtomicBool::new(false), numbers(50), count_up(parts_of), sink);
        assert_eq!(ended, Ok::<_, Failed>(Ended::Complete));
        assert!(seen == wanted);
    }

    #[test]
    fn endless_jobs_end_when_nobody_takes_their_parts() {
        for is_here in [false, true] {
            for how in ["sink", "flag"] {
                let cancel = AtomicBool::new(false);
                let pool = pool_of(2);
                let begun = Arc::new(AtomicU64::new(0));
                let ended = Arc::new(AtomicU64::new(0));
                let work = {
                    let (begun, ended) = (Arc::clone(&begun), Arc::clone(&ended));
                    move |_: &u64, take: &mut PartTaker<'_, u64>| {
                        begun.fetch_add(1, Ordering::SeqCst);
                        while take(0).is_continue() {}
                        ended.fetch_add(1, Ordering::SeqCst);
                    }
                };
                let mut seen = 0;
                let sink = |_| {
                    seen += 1;
                    if seen < 1_000 {
                        return Ok(());
                    }
                    match how {
                        "sink" => Err(Failed("sink")),
                        _ => {
                            cancel.store(true, Ordering::SeqCst);
                            Ok(())
                        }
                    }
                };
                let result = if is_here {
                    run_in_parts_here(&cancel, numbers(9), work, sink)
                } else {
                    run_in_parts(&pool, &cancel, numbers(9), work, sink)
                };
                let wanted = if how == "sink" { Err(Failed("sink")) } else { Ok(Ended::Cancelled) };
                assert_eq!((result, seen), (wanted, 1_000));
                while ended.load(Ordering::SeqCst) < begun.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
            }
        }
    }

    #[test]
    fn jobs_that_wait_are_skipped_when_nobody_takes_their_parts() {
        let pool = pool_of(1);
        let (begun, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let work = {
            let (begun, is_over) = (Arc::clone(&begun), Arc::clone(&is_over));
            move |_: &u64, take: &mut PartTaker<'_, u64>| {
                begun.fetch_add(1, Ordering::SeqCst);
                let _ = take(0);
                while !is_over.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
            }
        };
        let never = AtomicBool::new(false);
        let result = run_in_parts(&pool, &never, numbers(4), work, |_| Err(Failed("sink")));
        assert_eq!(result, Err(Failed("sink")));
        is_over.store(true, Ordering::SeqCst);
        // The only thread takes its jobs in turn, so this one is behind those that wait.
        assert_eq!(submit(&pool, || ()).wait(), Ok(()));
        assert_eq!(begun.load(Ordering::SeqCst), 1);
    }

    #[test]
    #[should_panic(expected = "no answer could be made for a job that panicked")]
    fn a_job_that_panics_is_not_taken_for_one_that_is_done() {
        let work = |_: &u64, take: &mut PartTaker<'_, u64>| {
            let _ = take(0);
            panic!("injected");
        };
        let _ = run_in_parts(&pool_of(1), &AtomicBool::new(false), numbers(1), work, |_| Ok(()));
    }
}
