//! A whole input validated on all cores.
//!
//! A line takes less time to validate than to hand over. So no chunk changes hands: whoever is free takes the
//! next one out of the reader and looks at it while it is still in the cache. What is found is put in order
//! afterwards.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};

use rayon::{ScopeFifo, ThreadPool};

use super::{Chunk, InputError, Reader};
use crate::answer::{Validation, validate_block};
use crate::text::{Format, Problem, PuzzleError};

/// How many chunks a thread looks at before it goes to the end of the pool's queue, so that others who share
/// the pool have their turn.
const CHUNKS_A_TURN: usize = 16;

/// Why a validation did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The input failed.
    #[error(transparent)]
    Input(#[from] InputError),
    /// `cancel` was raised.
    #[error("The validation was cancelled.")]
    Cancelled,
}

/// Looks at length, characters and rules of every puzzle and keeps the first `limit` errors. `progress` is
/// told from time to time how many bytes of the input are done.
///
/// # Errors
/// What reading meets, or that `cancel` was raised.
pub fn validate(
    reader: Reader,
    pool: &Arc<ThreadPool>,
    cancel: &AtomicBool,
    limit: usize,
    mut progress: impl FnMut(u64),
) -> Result<Validation, Stopped> {
    let run = Run {
        format: reader.format().clone(),
        cancel,
        limit,
        input: Mutex::new(Input { reader, taken: 0, end: None }),
        found: Mutex::default(),
    };
    pool.in_place_scope_fifo(|scope| {
        let (done, news) = mpsc::channel();
        for _ in 0..pool.current_num_threads() {
            spawn_turn(scope, &run, done.clone());
        }
        drop(done);
        // Ends when the last turn has dropped its sender. Chunks may be done out of order.
        let mut furthest = 0;
        for bytes in news {
            if bytes > furthest {
                furthest = bytes;
                progress(bytes);
            }
        }
    });
    let input = run.input.into_inner().unwrap_or_else(PoisonError::into_inner);
    match input.end {
        Some(End::Failed(error)) => Err(error.into()),
        Some(End::Reached) => Ok(run.found.into_inner().unwrap_or_else(PoisonError::into_inner).whole(limit)),
        None => Err(Stopped::Cancelled),
    }
}

/// What the threads of one validation share.
struct Run<'a> {
    format: Format,
    cancel: &'a AtomicBool,
    limit: usize,
    input: Mutex<Input>,
    found: Mutex<Found>,
}

/// The input, from which chunks are taken one after another.
struct Input {
    reader: Reader,
    /// How many chunks have been taken.
    taken: u64,
    end: Option<End>,
}

enum End {
    Reached,
    Failed(InputError),
}

impl Run<'_> {
    /// The next chunk and its number; `None` when there are no more or the run was cancelled.
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

/// Queues a turn: some chunks, then the next turn, as long as there are chunks.
fn spawn_turn<'scope>(scope: &ScopeFifo<'scope>, run: &'scope Run<'_>, done: Sender<u64>) {
    scope.spawn_fifo(move |scope| {
        for _ in 0..CHUNKS_A_TURN {
            let Some((number, chunk)) = run.take() else { return };
            let look = AssertUnwindSafe(|| validate_block(&run.format, chunk.block(), run.limit));
            let part = catch_unwind(look).unwrap_or_else(|_| broken_down(&chunk));
            let mut found = run.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.add(number, part, run.limit);
            drop(found);
            // Nobody listens only when the caller is gone, and then the scope is too.
            let _ = done.send(chunk.end());
        }
        spawn_turn(scope, run, done);
    });
}

/// What was found in chunks that come in any order.
#[derive(Default)]
struct Found {
    puzzles: u64,
    bad: u64,
    /// The errors of each bad chunk, by its number: the first chunks, as many as it takes for enough errors.
    errors: BTreeMap<u64, Vec<PuzzleError>>,
    kept: usize,
}

impl Found {
    fn add(&mut self, number: u64, part: Validation, limit: usize) {
        self.puzzles += part.puzzles;
        self.bad += part.bad;
        if part.errors.is_empty() {
            return;
        }
        self.kept += part.errors.len();
        self.errors.insert(number, part.errors);
        // The last chunk goes when those before it have enough.
        while let Some(last) = self.errors.last_entry()
            && self.kept - last.get().len() >= limit
        {
            self.kept -= last.remove().len();
        }
    }

    /// Everything, in the order of the input.
    fn whole(self, limit: usize) -> Validation {
        let errors = self.errors.into_values().flatten().take(limit).collect();
        Validation { puzzles: self.puzzles, bad: self.bad, errors }
    }
}

/// What to say of a chunk whose validation panicked: that nobody can vouch for it.
fn broken_down(chunk: &Chunk) -> Validation {
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
                let mut found = Found::default();
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
