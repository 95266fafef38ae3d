//! Offline runs: a file through the pipeline, into an output that is complete or absent.
//!
//! | file | what it holds |
//! |---|---|
//! | `output.rs` | the output of a run |
//! | `partial.rs` | atomic output: written beside its target, renamed at the end |
//! | `checkpoint.rs`, `journal.rs` | how far a run has come, so that another can resume it |
//! | `link.rs` | the file that a path leads to |
//! | `error.rs` | why a run did not finish |
//!
//! **Invariant:** an output and a journal never mix two runs: a run resumes another only if
//! program, options and input are the same, and the input begins with the same bytes.

mod checkpoint;
mod error;
mod journal;
mod link;
mod output;
mod partial;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::answer::{Tally, Workers, Written};
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::{Ended, ThreadPool, run_ordered};

pub use error::{OfflineError, OutputError, is_closed_pipe};
pub use journal::RunIdentity;
pub use output::Output;

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The bytes of the input, uncompressed, whose answers are written.
    pub bytes: u64,
    /// The length and hash of what had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// The tally of the answers written.
    pub tally: Tally,
}

/// The bytes answered as one job: about 6,400 puzzles of 81 cells. That is several times as many as
/// the 9x9 kernel has lanes, so few of those are idle at the end of a job.
pub const CHUNK_BYTES: usize = 512 * 1024;

/// Answers every puzzle of `reader` on the pool and writes the answers to `output` in order.
/// `watch` is called with the progress after each write. If the reader is at the start of its
/// input, the heading of the task's form, if it has one, is written first.
///
/// # Errors
/// Errors of reading and writing, or that `cancel` was set. The progress that `watch` has seen is
/// written by then.
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
            // Without the check, an allocator that has no memory left would abort the process
            // without a message.
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
