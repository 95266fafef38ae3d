//! Threads for work that comes from outside at any time.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::Span;

/// How long a thread that need not be kept waits for more work before it ends.
const LINGER: Duration = Duration::from_secs(1);

type Work = Box<dyn FnOnce() + Send>;

/// Threads that do what they are given, one thing after another, first come, first served.
///
/// They sleep until there is work. Those of a [`ThreadPool`](super::ThreadPool) first look for it in each other's queues, which
/// costs more than a small job. The thread that has slept for the shortest time is woken first: what it worked with is still near
/// its core, and little work wakes few threads.
///
/// Some are always there. More are started when all are busy, and end when there has been nothing for them to do for a second:
/// what the allocator holds for a thread, be it all free, is given back when it ends and no sooner.
#[derive(Debug)]
pub struct Threads {
    shared: Arc<Shared>,
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    name: &'static str,
    niceness: i32,
    /// How many are kept, and how many there are at most.
    number: RangeInclusive<usize>,
    linger: Duration,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    work: VecDeque<Work>,
    /// The bells of the threads that sleep, the last to fall asleep behind the others.
    asleep: Vec<Arc<Condvar>>,
    /// How many threads there are.
    present: usize,
    /// How many have ever been started.
    started: usize,
    is_closed: bool,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl Queue {
    /// Counts one thread more. Returns its number.
    const fn enter(&mut self) -> usize {
        self.present += 1;
        self.started += 1;
        self.started - 1
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread that has been counted.
    fn start(self: &Arc<Self>, index: usize) -> io::Result<()> {
        let shared = Arc::clone(self);
        let start = thread::Builder::new().name(format!("{}-{index}", self.name)).spawn(move || {
            step_back(shared.niceness);
            let condvar = Arc::default();
            while let Some(work) = shared.next(&condvar) {
                // The panic hook has said what there is to say, and whoever waits sees that there is no answer.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        });
        if start.is_err() {
            self.queue().present -= 1;
        }
        start.map(drop)
    }

    /// What is next, once there is something. `None` if the thread shall end, which is counted then. `bell` wakes it.
    fn next(&self, condvar: &Arc<Condvar>) -> Option<Work> {
        let mut queue = self.queue();
        let mut has_lingered = false;
        loop {
            if let Some(work) = queue.work.pop_front() {
                return Some(work);
            }
            let is_kept = queue.present <= *self.number.start();
            if queue.is_closed || (has_lingered && !is_kept) {
                queue.present -= 1;
                return None;
            }
            queue.asleep.push(Arc::clone(condvar));
            if is_kept {
                queue = condvar.wait(queue).unwrap_or_else(PoisonError::into_inner);
            } else {
                let woken = condvar.wait_timeout(queue, self.linger).unwrap_or_else(PoisonError::into_inner);
                has_lingered = woken.1.timed_out();
                queue = woken.0;
            }
            // It may have woken without its bell.
            queue.asleep.retain(|other| !Arc::ptr_eq(other, condvar));
        }
    }
}

impl Threads {
    /// Starts threads with a name: as many as are kept, which is the start of `number`, but one at least. When these are busy, there
    /// are as many as its end at most. They step back by `niceness` steps, as `nice` counts them, where others want the
    /// processor, on systems that know that of single threads.
    ///
    /// # Errors
    /// The system's, where threads cannot be started.
    pub fn start(name: &'static str, number: RangeInclusive<usize>, niceness: i32) -> io::Result<Self> {
        Self::lingering(name, number, niceness, LINGER)
    }

    fn lingering(
        name: &'static str,
        number: RangeInclusive<usize>,
        niceness: i32,
        linger: Duration,
    ) -> io::Result<Self> {
        let number = (*number.start()).max(1)..=*number.end();
        let shared = Shared { name, niceness, number, linger, queue: Mutex::default() };
        // If one cannot be started, dropping this ends the others.
        let threads = Self { shared: Arc::new(shared) };
        for _ in 0..*threads.shared.number.start() {
            let index = threads.shared.queue().enter();
            threads.shared.start(index)?;
        }
        Ok(threads)
    }

    /// Has something done when those who asked before have had their turn.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        let span = Span::current();
        let mut queue = self.shared.queue();
        queue.work.push_back(Box::new(move || span.in_scope(work)));
        if let Some(condvar) = queue.asleep.pop() {
            drop(queue);
            condvar.notify_one();
        } else if queue.present < *self.shared.number.end() {
            let index = queue.enter();
            drop(queue);
            // Where the system has no thread left, those that are there come to it in time.
            let _ = self.shared.start(index);
        }
    }
}

/// What was asked for is still done; the threads end after it.
impl Drop for Threads {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        queue.is_closed = true;
        for condvar in queue.asleep.drain(..) {
            condvar.notify_one();
        }
    }
}

/// Lowers the priority of this thread.
pub(super) fn step_back(niceness: i32) {
    // Elsewhere it would be that of the whole process.
    if cfg!(target_os = "linux") && niceness > 0 {
        // A system that refuses leaves it as it is, which costs others some time and nobody an answer.
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
        let threads = Threads::start("test", 3..=3, 1).unwrap();
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
        let threads = Threads::start("test", 3..=3, 1).unwrap();
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

    /// Has so much work done at a time that each part needs a thread of its own. Returns which ones they were.
    fn together(threads: &Threads, parts: usize) -> HashSet<ThreadId> {
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

    /// Waits until so many are there and asleep.
    fn until_asleep(threads: &Threads, number: usize) {
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
        let threads = Threads::lingering("test", 1..=4, 0, Duration::from_millis(20)).unwrap();
        until_asleep(&threads, 1);
        for _ in 0..3 {
            assert_eq!(together(&threads, 4).len(), 4);
            until_asleep(&threads, 1);
            // One that was kept does little work by itself.
            assert_eq!(together(&threads, 1).len(), 1);
            assert_eq!(threads.shared.queue().present, 1);
        }
        assert_eq!(threads.shared.queue().started, 1 + 3 * 3);
    }

    #[test]
    fn no_more_threads_come_than_there_may_be() {
        let threads = Threads::lingering("test", 1..=3, 0, Duration::MAX).unwrap();
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
