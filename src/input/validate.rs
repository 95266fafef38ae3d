//! Validation of a whole input on all cores.
//!
//! Validating a line takes less time than handing it to another thread. So no chunk changes
//! threads: an idle thread takes the next one out of the reader and validates it while it is still
//! in the cache. The errors are put in order afterwards.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rayon::ScopeFifo;

use super::{Chunk, InputError, Reader};
use crate::answer::{Validation, validate_block};
use crate::pipeline::{Panicked, ThreadPool, ThreadPoolError, catch_panic};
use crate::poison::IgnorePoison as _;
use crate::text::{Format, Problem, PuzzleError};

/// The size of a chunk: large enough that threads seldom wait for the reader, and small enough for
/// the second-level cache.
const CHUNK_BYTES: usize = 512 << 10;

/// The chunks that a thread validates before it goes to the end of the pool's queue, because others
/// share the pool.
const CHUNKS_PER_JOB: usize = 4;

/// The time between two calls of `progress`.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// The error of a validation that did not finish.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The input failed.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The threads of the pool cannot be started.
    #[error("The worker threads cannot be started: {0}")]
    Threads(#[from] ThreadPoolError),
    /// The caller's flag was set.
    #[error("The validation was cancelled.")]
    Cancelled,
}

/// Checks length, characters and rules of every puzzle and keeps the first `limit` errors.
/// `progress` is called from time to time with the number of bytes that are done.
///
/// # Errors
/// Errors of reading, or that `cancel` was set.
pub fn validate(
    mut reader: Reader,
    pool: &Arc<ThreadPool>,
    cancel: &AtomicBool,
    limit: usize,
    mut progress: impl FnMut(u64),
) -> Result<Validation, ValidateError> {
    reader.read_in_chunks_of(CHUNK_BYTES);
    let is_short = reader.has_at_most(CHUNK_BYTES);
    let shared = ValidationState {
        format: reader.format().clone(),
        cancel,
        limit,
        input: Mutex::new(SharedReader { reader, taken: 0, end: None }),
        found: Mutex::default(),
        furthest: AtomicU64::new(0),
    };
    if is_short {
        while shared.validate_next() {}
    } else {
        pool.as_rayon()?.in_place_scope_fifo(|scope| {
            let (running, end) = mpsc::channel();
            for _ in 0..pool.current_num_threads() {
                spawn_job(scope, &shared, running.clone());
            }
            drop(running);
            // The last job drops its sender. There is no message for each chunk, because waking this
            // thread takes as long as validating a thousand puzzles.
            while end.recv_timeout(PROGRESS_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                progress(shared.furthest.load(Ordering::Relaxed));
            }
        });
    }
    progress(shared.furthest.load(Ordering::Relaxed));
    let input = shared.input.into_inner().ignore_poison();
    match input.end {
        Some(InputEnd::Failed(error)) => Err(error.into()),
        Some(InputEnd::Reached) => Ok(shared.found.into_inner().ignore_poison().whole(limit)),
        None => Err(ValidateError::Cancelled),
    }
}

/// The state that the threads of one validation share.
struct ValidationState<'a> {
    format: Format,
    cancel: &'a AtomicBool,
    limit: usize,
    input: Mutex<SharedReader>,
    found: Mutex<Findings>,
    /// The end of the last chunk, in the order of the input, that is done. Those before it may not
    /// be.
    furthest: AtomicU64,
}

/// The reader, from which threads take chunks one after another.
struct SharedReader {
    reader: Reader,
    /// The number of chunks taken.
    taken: u64,
    end: Option<InputEnd>,
}

enum InputEnd {
    Reached,
    Failed(InputError),
}

impl ValidationState<'_> {
    /// The next chunk and its number; `None` at the end or after cancelling.
    fn take(&self) -> Option<(u64, Chunk)> {
        let mut input = self.input.lock().ignore_poison();
        if input.end.is_some() || self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        match input.reader.next_chunk() {
            Ok(Some(chunk)) => {
                input.taken += 1;
                return Some((input.taken, chunk));
            }
            Ok(None) => input.end = Some(InputEnd::Reached),
            Err(error) => input.end = Some(InputEnd::Failed(error)),
        }
        None
    }

    /// Validates the next chunk; false if there is none.
    fn validate_next(&self) -> bool {
        let Some((number, chunk)) = self.take() else { return false };
        let look = || validate_block(&self.format, chunk.block(), self.limit);
        let part = catch_panic(look).unwrap_or_else(|Panicked| internal_error(&chunk));
        self.found.lock().ignore_poison().add(number, part, self.limit);
        self.furthest.fetch_max(chunk.end(), Ordering::Relaxed);
        true
    }
}

/// Queues a job: some chunks, then another job, as long as there are chunks.
#[expect(clippy::only_used_in_recursion, reason = "the last job is done when the last sender is gone")]
fn spawn_job<'scope>(scope: &ScopeFifo<'scope>, shared: &'scope ValidationState<'_>, running: Sender<()>) {
    scope.spawn_fifo(move |scope| {
        if (0..CHUNKS_PER_JOB).all(|_| shared.validate_next()) {
            spawn_job(scope, shared, running);
        }
    });
}

/// The errors of chunks that are finished in any order.
#[derive(Default)]
struct Findings {
    puzzles: u64,
    bad: u64,
    /// The errors of each bad chunk, by its number: only of the first chunks that have enough
    /// together.
    errors: BTreeMap<u64, Vec<PuzzleError>>,
    kept: usize,
}

impl Findings {
    fn add(&mut self, number: u64, part: Validation, limit: usize) {
        self.puzzles += part.puzzles;
        self.bad += part.bad;
        if part.errors.is_empty() {
            return;
        }
        self.kept += part.errors.len();
        self.errors.insert(number, part.errors);
        // The last chunk is dropped when those before it have enough.
        while let Some(last) = self.errors.last_entry()
            && self.kept - last.get().len() >= limit
        {
            self.kept -= last.remove().len();
        }
    }

    /// The errors in the order of the input.
    fn whole(self, limit: usize) -> Validation {
        let errors = self.errors.into_values().flatten().take(limit).collect();
        Validation { puzzles: self.puzzles, bad: self.bad, errors }
    }
}

/// The finding for a chunk whose validation panicked: it is bad, because its puzzles were not
/// checked.
fn internal_error(chunk: &Chunk) -> Validation {
    let line = Some(chunk.block().first_line);
    Validation { puzzles: 1, bad: 1, errors: vec![PuzzleError { problem: Problem::Internal, line }] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(lines: &[u64]) -> Validation {
        let errors: Vec<_> = lines
            .iter()
            .map(|&line| PuzzleError { problem: Problem::WrongLength, line: Some(line) })
            .collect();
        Validation { puzzles: 10, bad: errors.len() as u64, errors }
    }

    #[test]
    fn the_first_errors_are_kept_whatever_the_order_of_the_chunks() {
        let chunks = [(1, vec![]), (2, vec![11, 12]), (3, vec![25]), (4, vec![31, 32, 33]), (5, vec![44])];
        for turn in 0..chunks.len() {
            for limit in [0, 1, 2, 3, 5, 100] {
                let mut found = Findings::default();
                for (number, lines) in chunks.iter().cycle().skip(turn).take(chunks.len()) {
                    found.add(*number, part(lines), limit);
                    assert!(found.kept <= limit.max(1) + 2, "{} errors are kept for {limit}", found.kept);
                }
                let whole = found.whole(limit);
                let lines: Vec<_> = whole.errors.iter().filter_map(|error| error.line).collect();
                let all = [11, 12, 25, 31, 32, 33, 44];
                assert_eq!(lines, all[..limit.min(all.len())]);
                assert_eq!((whole.puzzles, whole.bad), (50, 7));
            }
        }
    }
}
