//! A file through the pipeline: the offline half of the house.

mod journal;
mod output;
mod partial;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::answer::{Cancelled, Tally, Workers, Written};
use crate::input::{Chunk, InputError, Prefix, Reader};
use crate::pipeline::{Ended, NoReader, ThreadPool, run_ordered};

pub use journal::Run;
pub use output::{Output, OutputError};

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// The input failed.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The answers cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The process may have no more threads.
    #[error(transparent)]
    Threads(#[from] NoReader),
    /// The process may have no more memory.
    #[error("there is no memory left for the answers. Allow this process more, or use fewer --threads.")]
    Memory,
    /// `cancel` was raised.
    #[error("The run was interrupted.")]
    Cancelled,
}

impl From<Cancelled> for OfflineError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// How far a run has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Bytes of the input, uncompressed, whose answers are written.
    pub bytes: u64,
    /// Length and hash of what had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// The answers written.
    pub tally: Tally,
}

/// How many bytes are answered as one job: about 6,400 puzzles of 81 cells, several times as many as the 9x9 kernel has
/// lanes, so that few of them are idle at the end of each.
pub const CHUNK_BYTES: usize = 512 * 1024;

/// Answers every puzzle of `reader` on the pool and writes the answers to `output` in order. `watch` sees
/// the progress after each write. The heading of the task's form, if it has one, is written first where the reader stands
/// at the start of its input.
///
/// # Errors
/// What reading and writing meet, or that `cancel` was raised. All that `watch` has seen is written by then.
pub fn solve(
    mut reader: Reader,
    workers: &Arc<Workers>,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    output: &mut Output,
    mut watch: impl FnMut(&Progress),
) -> Result<(), OfflineError> {
    reader.read_in_chunks_of(CHUNK_BYTES);
    let task = workers.task();
    if reader.is_at_start() {
        output.write(task.form.heading(task.question).as_bytes())?;
    }
    let work = {
        let (workers, cancel) = (Arc::clone(workers), Arc::clone(cancel));
        move |chunk: &Chunk| {
            let (block, mut room) = (chunk.block(), Vec::new());
            // An allocator that has none to give would end the process without a word to the user.
            let written = match room.try_reserve_exact(Workers::room_for(block)) {
                Ok(()) => workers.write_answers_into(block, &*cancel, room).map_err(OfflineError::from),
                Err(_) => Err(OfflineError::Memory),
            };
            (chunk.end(), chunk.prefix(), written)
        }
    };
    let recover = {
        let workers = Arc::clone(workers);
        move |chunk: &Chunk| {
            let written = workers.write_internal_errors(chunk.block(), Vec::new());
            (chunk.end(), chunk.prefix(), Ok(written))
        }
    };
    let source = move || reader.next_chunk().map_err(OfflineError::from);
    let sink = |(end, prefix, written): (u64, Option<Prefix>, Result<Written, OfflineError>)| {
        let written = written?;
        output.add(end, prefix, &written.text, &written.tally)?;
        watch(output.progress());
        Ok(())
    };
    match run_ordered(pool, cancel, source, work, recover, sink)? {
        Ended::Complete => Ok(()),
        Ended::Cancelled => Err(OfflineError::Cancelled),
    }
}

/// Did writing fail only because the reader of our output has had enough?
#[must_use]
pub fn is_closed_pipe(error: &OfflineError) -> bool {
    matches!(error, OfflineError::Output(error) if error.is_closed_pipe())
}
