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
    office: Arc<Office>,
}

/// What the threads share.
#[derive(Debug)]
struct Office {
    name: &'static str,
    niceness: i32,
    /// How many are kept, and how many there are at most.
    number: RangeInclusive<usize>,
    linger: Duration,
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    work: VecDeque<Work>,
    /// The bells of the threads that sleep, the last to fall asleep behind the others.
    asleep: Vec<Arc<Condvar>>,
    /// How many threads there are.
    present: usize,
    /// How many have ever been started.
    started: usize,
    is_closed: bool,
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").finish_non_exhaustive()
    }
}

impl Inbox {
    /// Counts one thread more. Returns its number.
    const fn enter(&mut self) -> usize {
        self.present += 1;
        self.started += 1;
        self.started - 1
    }
}

impl Office {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread that has been counted.
    fn start(self: &Arc<Self>, index: usize) -> io::Result<()> {
        let office = Arc::clone(self);
        let start = thread::Builder::new().name(format!("{}-{index}", self.name)).spawn(move || {
            step_back(office.niceness);
            let bell = Arc::default();
            while let Some(work) = office.next(&bell) {
                // The panic hook has said what there is to say, and whoever waits sees that there is no answer.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        });
        if start.is_err() {
            self.inbox().present -= 1;
        }
        start.map(drop)
    }

    /// What is next, once there is something. `None` if the thread shall end, which is counted then. `bell` wakes it.
    fn next(&self, bell: &Arc<Condvar>) -> Option<Work> {
        let mut inbox = self.inbox();
        let mut has_lingered = false;
        loop {
            if let Some(work) = inbox.work.pop_front() {
                return Some(work);
            }
            let is_kept = inbox.present <= *self.number.start();
            if inbox.is_closed || (has_lingered && !is_kept) {
                inbox.present -= 1;
                return None;
            }
            inbox.asleep.push(Arc::clone(bell));
            if is_kept {
                inbox = bell.wait(inbox).unwrap_or_else(PoisonError::into_inner);
            } else {
                let woken = bell.wait_timeout(inbox, self.linger).unwrap_or_else(PoisonError::into_inner);
                has_lingered = woken.1.timed_out();
                inbox = woken.0;
            }
            // It may have woken without its bell.
            inbox.asleep.retain(|other| !Arc::ptr_eq(other, bell));
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
        let office = Office { name, niceness, number, linger, inbox: Mutex::default() };
        // If one cannot be started, dropping this ends the others.
        let threads = Self { office: Arc::new(office) };
        for _ in 0..*threads.office.number.start() {
            let index = threads.office.inbox().enter();
            threads.office.start(index)?;
        }
        Ok(threads)
    }

    /// Has something done when those who asked before have had their turn.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        let span = Span::current();
        let mut inbox = self.office.inbox();
        inbox.work.push_back(Box::new(move || span.in_scope(work)));
        if let Some(bell) = inbox.asleep.pop() {
            drop(inbox);
            bell.notify_one();
        } else if inbox.present < *self.office.number.end() {
            let index = inbox.enter();
            drop(inbox);
            // Where the system has no thread left, those that are there come to it in time.
            let _ = self.office.start(index);
        }
    }
}

/// What was asked for is still done; the threads end after it.
impl Drop for Threads {
    fn drop(&mut self) {
        let mut inbox = self.office.inbox();
        inbox.is_closed = true;
        for bell in inbox.asleep.drain(..) {
            bell.notify_one();
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
            while threads.office.inbox().asleep.len() < 3 {
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
            let inbox = threads.office.inbox();
            if (inbox.present, inbox.asleep.len()) == (number, number) {
                return;
            }
            drop(inbox);
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
            assert_eq!(threads.office.inbox().present, 1);
        }
        assert_eq!(threads.office.inbox().started, 1 + 3 * 3);
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
        assert_eq!(threads.office.inbox().started, 3);
    }
}
