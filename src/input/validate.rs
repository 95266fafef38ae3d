//! Validation of a whole input on all cores.
//!
//! Validating a line takes less time than handing it to another thread. So no chunk changes
//! threads: an idle thread takes the next one out of the reader and validates it while it is still
//! in the cache. The errors are put in order afterwards.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};

use rayon::ScopeFifo;

use super::{Chunk, InputError, Reader};
use crate::answer::{Validation, validate_block};
use crate::pipeline::ThreadPool;
use crate::text::{Format, Problem, PuzzleError};

/// The chunks that a thread validates before it goes to the end of the pool's queue, because others
/// share the pool.
const CHUNKS_PER_JOB: usize = 16;

/// The error of a validation that did not finish.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The input failed.
    #[error(transparent)]
    Input(#[from] InputError),
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
    reader: Reader,
    pool: &Arc<ThreadPool>,
    cancel: &AtomicBool,
    limit: usize,
    mut progress: impl FnMut(u64),
) -> Result<Validation, ValidateError> {
    let shared = Shared {
        format: reader.format().clone(),
        cancel,
        limit,
        input: Mutex::new(SharedReader { reader, taken: 0, end: None }),
        found: Mutex::default(),
    };
    pool.as_rayon().in_place_scope_fifo(|scope| {
        let (done, news) = mpsc::channel();
        for _ in 0..pool.current_num_threads() {
            spawn_job(scope, &shared, done.clone());
        }
        drop(done);
        // Ends when the last job has dropped its sender. Chunks may be done out of order.
        let mut furthest = 0;
        for bytes in news {
            if bytes > furthest {
                furthest = bytes;
                progress(bytes);
            }
        }
    });
    let input = shared.input.into_inner().unwrap_or_else(PoisonError::into_inner);
    match input.end {
        Some(End::Failed(error)) => Err(error.into()),
        Some(End::Reached) => {
            Ok(shared.found.into_inner().unwrap_or_else(PoisonError::into_inner).whole(limit))
        }
        None => Err(ValidateError::Cancelled),
    }
}

/// The state that the threads of one validation share.
struct Shared<'a> {
    format: Format,
    cancel: &'a AtomicBool,
    limit: usize,
    input: Mutex<SharedReader>,
    found: Mutex<Findings>,
}

/// The reader, from which threads take chunks one after another.
struct SharedReader {
    reader: Reader,
    /// The number of chunks taken.
    taken: u64,
    end: Option<End>,
}

enum End {
    Reached,
    Failed(InputError),
}

impl Shared<'_> {
    /// The next chunk and its number; `None` at the end or after cancelling.
    fn take(&self) -> Option<(u64, Chunk)> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if input.end.is_some() || self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        match input.reader.next_chunk() {
            Ok(Some(chunk)) => {
                input.taken += 1;
                return Some((input.taken, chunk));
            }
            Ok(None) => input.end = Some(End::Reached),
            Err(error) => input.end = Some(End::Failed(error)),
        }
        None
    }
}

/// Queues a job: some chunks, then another job, as long as there are chunks.
fn spawn_job<'scope>(scope: &ScopeFifo<'scope>, shared: &'scope Shared<'_>, done: Sender<u64>) {
    scope.spawn_fifo(move |scope| {
        for _ in 0..CHUNKS_PER_JOB {
            let Some((number, chunk)) = shared.take() else { return };
            let look = AssertUnwindSafe(|| validate_block(&shared.format, chunk.block(), shared.limit));
            let part = catch_unwind(look).unwrap_or_else(|_| internal_error(&chunk));
            let mut found = shared.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.add(number, part, shared.limit);
            drop(found);
            // The receiver lives as long as the scope, so this cannot fail.
            let _ = done.send(chunk.end());
        }
        spawn_job(scope, shared, done);
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
