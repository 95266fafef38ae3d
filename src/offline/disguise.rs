//! The puzzles of a whole input in disguise, made on all cores, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::job_size::JobSize;
use super::{OfflineError, run};
use crate::answer::{DisguiseTally, DisguiseTask, write_disguises};
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::ThreadPool;

/// About the bytes that are written as one job.
const WRITTEN_BYTES: usize = 1 << 20;

/// The fewest bytes that are read as one job.
const MIN_CHUNK_BYTES: usize = 128;

/// The next rows of the input in disguise.
#[derive(Debug)]
pub struct DisguisedPart {
    /// The bytes of the input, uncompressed, up to its end.
    pub end: u64,
    /// What had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// The rows.
    pub text: Vec<u8>,
    /// Their tally.
    pub tally: DisguiseTally,
}

/// Puts every row of `reader` into as many disguises as the task says, and passes the rows to
/// `sink`, part by part and in order.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn disguise(
    reader: Reader,
    task: DisguiseTask,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    sink: impl FnMut(DisguisedPart) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    // What is written is many times as long as what is read, so few puzzles are a job.
    let copies = usize::try_from(task.times).unwrap_or(usize::MAX).saturating_add(1);
    let chunk_bytes = (WRITTEN_BYTES / copies).max(MIN_CHUNK_BYTES);
    let format = reader.format().clone();
    let work = {
        let cancel = Arc::clone(cancel);
        move |chunk: &Chunk| {
            if cancel.load(Ordering::Relaxed) {
                return Err(OfflineError::Cancelled);
            }
            let mut text = Vec::new();
            let tally = write_disguises(&format, &task, chunk.block(), &mut text);
            Ok(DisguisedPart { end: chunk.end(), prefix: chunk.prefix(), text, tally })
        }
    };
    let recover = |_: &Chunk| Err(OfflineError::Internal);
    run(reader, JobSize::fixed(chunk_bytes), pool, cancel, work, recover, sink)
}
