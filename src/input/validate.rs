//! A whole input validated on all cores.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rayon::ThreadPool;

use super::{Chunk, InputError, Reader};
use crate::answer::{Validation, validate_block};
use crate::pipeline::{Ended, run_ordered};
use crate::text::{Problem, PuzzleError};

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
    mut reader: Reader,
    pool: &Arc<ThreadPool>,
    cancel: &AtomicBool,
    limit: usize,
    mut progress: impl FnMut(u64),
) -> Result<Validation, Stopped> {
    let mut whole = Validation::default();
    let format = Arc::new(reader.format().clone());
    let work = move |chunk: &Chunk| (chunk.end(), validate_block(&format, chunk.block(), limit));
    let recover = move |chunk: &Chunk| (chunk.end(), broken_down(chunk));
    let source = move || reader.next_chunk().map_err(Stopped::from);
    let ended = run_ordered(pool, cancel, source, work, recover, |(end, part)| {
        whole.add(part, limit);
        progress(end);
        Ok(())
    })?;
    match ended {
        Ended::Complete => Ok(whole),
        Ended::Cancelled => Err(Stopped::Cancelled),
    }
}

/// What to say of a chunk whose validation panicked: that nobody can vouch for it.
fn broken_down(chunk: &Chunk) -> Validation {
    let line = Some(chunk.block().first_line);
    Validation { puzzles: 1, bad: 1, errors: vec![PuzzleError { problem: Problem::Internal, line }] }
}
