//! Elastic thread pools: threads that come and go with the work.
//!
//! They are no pools of rayon, because those have a fixed number of threads, and each of these
//! looks through the queues of all others before it sleeps. The service needs more threads than
//! cores while long searches run and the memory of the additional ones back afterwards, and its
//! jobs are often shorter than that look.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use tracing::Span;

use super::catch_panic;
use crate::poison::IgnorePoison as _;

/// The time after which a thread beyond the minimum ends if there is no work.
const LINGER: Duration = Duration::from_secs(1);

type BoxedWork = Box<dyn FnOnce() + Send>;

/// A pool of threads that do work first come, first served.
///
/// The threads sleep until there is work. Those of a [`ThreadPool`](super::ThreadPool) first look
/// for it in each other's queues, which costs more than a small job. The thread that has slept for
/// the shortest time is woken first, because its caches are still warm and little work then wakes
/// few threads.
///
/// A minimum of threads is always there. More are started when all are busy, and end after a second
/// without work, because what the allocator holds for a thread, be it all free, is given back only
/// when the thread ends.
#[derive(Debug)]
pub(crate) struct ElasticPool {
    shared: Arc<PoolState>,
}

/// The state that the threads of a pool share.
#[derive(Debug)]
struct PoolState {
    name: &'static str,
    niceness: i32,
    /// The fewest and the most threads.
    number: RangeInclusive<usize>,
    linger: Duration,
    queue: Mutex<WorkQueue>,
}

#[derive(Default)]
struct WorkQueue {
    work: VecDeque<BoxedWork>,
    /// Condition variables of idle threads; the most recently idle is last, and woken first.
    asleep: Vec<Arc<Condvar>>,
    /// The number of threads.
    present: usize,
    /// The number of threads that have ever been started.
    started: usize,
    is_closed: bool,
}

impl fmt::Debug for WorkQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue").finish_non_exhaustive()
    }
}

impl WorkQueue {
    /// Counts a new thread and returns its number.
    const fn enter(&mut self) -> usize {
        self.present += 1;
        self.started += 1;
        self.started - 1
    }
}

impl PoolState {
    fn queue(&self) -> MutexGuard<'_, WorkQueue> {
        self.queue.lock().ignore_poison()
    }

    /// Starts a thread that [`WorkQueue::enter`] has counted.
    fn start(self: &Arc<Self>, index: usize) -> io::Result<()> {
        let shared = Arc::clone(self);
        let start = thread::Builder::new().name(format!("{}-{index}", self.name)).spawn(move || {
            lower_priority(shared.niceness);
            let condvar = Arc::default();
            while let Some(work) = shared.next(&condvar) {
                // The panic hook has logged it, and the slot shows its owner that there is no
                // answer.
                let _ = catch_panic(work);
            }
        });
        if start.is_err() {
            self.queue().present -= 1;
        }
        start.map(drop)
    }

    /// Waits for work on `condvar`. `None` if the thread is to end, which is counted already.
    fn next(&self, condvar: &Arc<Condvar>) -> Option<BoxedWork> {
        let mut queue = self.queue();
        let mut has_lingered = false;
        loop {
            if let Some(work) = queue.work.pop_front() {
                return Some(work);
            }
            let is_minimum = queue.present <= *self.number.start();
            if queue.is_closed || (has_lingered && !is_minimum) {
                queue.present -= 1;
                return None;
            }
            queue.asleep.push(Arc::clone(condvar));
            if is_minimum {
                queue = condvar.wait(queue).ignore_poison();
            } else {
                let woken = condvar.wait_timeout(queue, self.linger).ignore_poison();
                has_lingered = woken.1.timed_out();
                queue = woken.0;
            }
            // A condition variable can wake spuriously, and then it is still in the list.
            queue.asleep.retain(|other| !Arc::ptr_eq(other, condvar));
        }
    }
}

impl ElasticPool {
    /// Starts a pool of at least `number.start()` threads, but one, and at most `number.end()`.
    /// Their priority is lowered by `niceness`, as `nice` counts it, on systems where single
    /// threads have priorities.
    ///
    /// # Errors
    /// The system's error if a thread cannot be started.
    pub(crate) fn start(
        name: &'static str,
        number: RangeInclusive<usize>,
        niceness: i32,
    ) -> io::Result<Self> {
        Self::lingering(name, number, niceness, LINGER)
    }

    fn lingering(
        name: &'static str,
        number: RangeInclusive<usize>,
        niceness: i32,
        linger: Duration,
    ) -> io::Result<Self> {
        let number = (*number.start()).max(1)..=*number.end();
        let shared = PoolState { name, niceness, number, linger, queue: Mutex::default() };
        // If one cannot be started, dropping this ends the others.
        let pool = Self { shared: Arc::new(shared) };
        for _ in 0..*pool.shared.number.start() {
            let index = pool.shared.queue().enter();
            pool.shared.start(index)?;
        }
        Ok(pool)
    }

    /// Queues work behind all that was queued before.
    pub(crate) fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        let span = Span::current();
        let mut queue = self.shared.queue();
        queue.work.push_back(Box::new(move || span.in_scope(work)));
        if let Some(condvar) = queue.asleep.pop() {
            drop(queue);
            condvar.notify_one();
        } else if queue.present < *self.shared.number.end() {
            let index = queue.enter();
            drop(queue);
            // If the system has no thread left, the threads that exist do the work in time.
            let _ = self.shared.start(index);
        }
    }
}

/// Queued work is still done; the threads end after it.
impl Drop for ElasticPool {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        queue.is_closed = true;
        for condvar in queue.asleep.drain(..) {
            condvar.notify_one();
        }
    }
}

/// Lowers the priority of this thread.
pub(super) fn lower_priority(niceness: i32) {
    // On other systems it would be the priority of the whole process.
    if cfg!(target_os = "linux") && niceness > 0 {
        // If the system refuses, the priority stays, which costs fairness and no answers.
        let _ = rustix::process::nice(niceness);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "that threads end takes time")]

    use std::collections::HashSet;
    use std::sync::mpsc;
    use std::thread::ThreadId;

    use super::*;

    #[test]
    fn threads_do_what_they_are_given_whatever_becomes_of_it() {
        let threads = ElasticPool::start("test", 3..=3, 1).unwrap();
        let (sender, done) = mpsc::channel();
        for k in 0..300u32 {
            let sender = sender.clone();
            threads.spawn(move || {
                assert!(k % 50 != 0, "injected");
                sender.send(k).unwrap();
            });
        }
        // The rest is done although nobody holds the threads any more.
        drop((threads, sender));
        let mut done: Vec<u32> = done.iter().collect();
        done.sort_unstable();
        assert!(done.into_iter().eq((0..300).filter(|k| k % 50 != 0)));
    }

    #[test]
    fn the_thread_that_fell_asleep_last_is_woken_first() {
        let threads = ElasticPool::start("test", 3..=3, 1).unwrap();
        let (sender, done) = mpsc::channel();
        let mut who = Vec::new();
        for _ in 0..20 {
            while threads.shared.queue().asleep.len() < 3 {
                thread::yield_now();
            }
            let sender = sender.clone();
            threads.spawn(move || sender.send(thread::current().id()).unwrap());
            who.push(done.recv().unwrap());
        }
        assert!(who.iter().all(|id| *id == who[0]), "{who:?}");
        // Where one is not enough, others are woken too.
        assert_eq!(together(&threads, 3).len(), 3);
    }

    /// Runs `parts` pieces of work that all block until each has a thread of its own. Returns the
    /// threads.
    fn together(threads: &ElasticPool, parts: usize) -> HashSet<ThreadId> {
        let (sender, begun) = mpsc::channel();
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        for _ in 0..parts {
            let (sender, gate) = (sender.clone(), Arc::clone(&gate));
            threads.spawn(move || {
                sender.send(thread::current().id()).unwrap();
                let _ = gate.lock().unwrap().recv();
            });
        }
        let busy = (0..parts).map(|_| begun.recv().unwrap()).collect();
        drop(release);
        busy
    }

    /// Waits until exactly `number` threads exist and are asleep.
    fn until_asleep(threads: &ElasticPool, number: usize) {
        loop {
            let queue = threads.shared.queue();
            if (queue.present, queue.asleep.len()) == (number, number) {
                return;
            }
            drop(queue);
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn threads_come_when_all_are_busy_and_go_when_there_is_nothing_to_do() {
        let threads = ElasticPool::lingering("test", 1..=4, 0, Duration::from_millis(20)).unwrap();
        until_asleep(&threads, 1);
        for _ in 0..3 {
            assert_eq!(together(&threads, 4).len(), 4);
            until_asleep(&threads, 1);
            // The minimum of one thread does a single piece of work without help.
            assert_eq!(together(&threads, 1).len(), 1);
            assert_eq!(threads.shared.queue().present, 1);
        }
        assert_eq!(threads.shared.queue().started, 1 + 3 * 3);
    }

    #[test]
    fn no_more_threads_come_than_there_may_be() {
        let threads = ElasticPool::lingering("test", 1..=3, 0, Duration::MAX).unwrap();
        assert_eq!(together(&threads, 3).len(), 3);
        let (sender, done) = mpsc::channel();
        let at_work = Arc::new(Mutex::new((0, 0)));
        for _ in 0..60 {
            let (sender, at_work) = (sender.clone(), Arc::clone(&at_work));
            threads.spawn(move || {
                {
                    let (now, most) = &mut *at_work.lock().unwrap();
                    *now += 1;
                    *most = (*most).max(*now);
                }
                thread::sleep(Duration::from_millis(1));
                at_work.lock().unwrap().0 -= 1;
                sender.send(()).unwrap();
            });
        }
        drop(sender);
        assert_eq!(done.iter().count(), 60);
        assert!(at_work.lock().unwrap().1 <= 3);
        assert_eq!(threads.shared.queue().started, 3);
    }
}
