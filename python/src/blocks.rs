//! Blocks of puzzles on threads: work that runs while Python does something else, and that Ctrl-C
//! ends.

use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use sudoku_core::poison::IgnorePoison as _;

/// The time between two looks at signals.
const SIGNAL_POLL: Duration = Duration::from_millis(50);

/// Cuts `count` puzzles into the blocks of work of `threads` threads: few enough puzzles for all
/// threads to have several blocks, but at most `most` and, as far as there are as many, at least
/// `least`.
pub fn cut(count: usize, threads: usize, least: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let length = count.div_ceil(4 * threads.max(1)).clamp(least, most);
    (0..count).step_by(length).map(move |begin| begin..count.min(begin + length))
}

/// The number of threads; default: one for each core.
pub fn threads(given: Option<i64>) -> PyResult<usize> {
    let Some(given) = given else { return Ok(thread::available_parallelism().map_or(1, NonZero::get)) };
    let threads = usize::try_from(given).ok().filter(|&threads| threads > 0);
    threads.ok_or_else(|| PyValueError::new_err(format!("threads is {given}: give 1 or more, or None.")))
}

/// Does all `jobs` on threads, taken in their order, and releases the GIL meanwhile. `work` returns
/// whether to go on; if not, no further jobs are begun, but those before are all finished. It has to
/// poll the flag that it is given.
///
/// # Errors
/// `KeyboardInterrupt`, or what else a handler of a signal raises, once all threads have ended; and
/// `OSError` if no thread can be started.
pub fn run<J: Send>(
    py: Python<'_>,
    threads: usize,
    jobs: Vec<J>,
    work: impl Fn(J, &AtomicBool) -> bool + Sync,
) -> PyResult<()> {
    let threads = threads.min(jobs.len());
    let cancel = AtomicBool::new(false);
    let is_over = AtomicBool::new(false);
    let queue = Mutex::new(jobs.into_iter());
    let next = || {
        if is_over.load(Ordering::Relaxed) || cancel.load(Ordering::Relaxed) {
            return None;
        }
        queue.lock().ignore_poison().next()
    };
    let worker = || {
        while let Some(job) = next() {
            if !work(job, &cancel) {
                is_over.store(true, Ordering::Relaxed);
            }
        }
    };
    py.detach(|| {
        thread::scope(|scope| {
            let (alive, ended) = mpsc::channel::<()>();
            let mut started = 0;
            let mut failure = None;
            for _ in 0..threads {
                let alive = alive.clone();
                let run = move || {
                    // Dropped at the end, or by a panic.
                    let _alive = alive;
                    worker();
                };
                match thread::Builder::new().name("sudoku".to_owned()).spawn_scoped(scope, run) {
                    Ok(_) => started += 1,
                    Err(error) => failure = Some(error),
                }
            }
            drop(alive);
            if let (0, Some(error)) = (started, failure) {
                return Err(PyOSError::new_err(error.to_string()));
            }
            let mut result = Ok(());
            while ended.recv_timeout(SIGNAL_POLL) == Err(RecvTimeoutError::Timeout) {
                if result.is_ok() {
                    result = Python::attach(|py| py.check_signals());
                    cancel.store(result.is_err(), Ordering::Relaxed);
                }
            }
            result
        })
    })
}
