//! The puzzles of a whole input in disguise, made on all cores, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::job_size::JobSize;
use super::{OfflineError, Output, run};
use crate::answer::{DisguiseTally, DisguiseTask, write_disguises};
use crate::input::{Chunk, Reader};
use crate::pipeline::ThreadPool;

/// About the bytes that are written as one job.
const WRITTEN_BYTES: usize = 1 << 20;

/// The fewest bytes that are read as one job.
const MIN_CHUNK_BYTES: usize = 128;

/// Writes every row of `reader` to `output` in as many disguises as the task says; `watch` is called
/// with the bytes of the input that are done.
///
/// # Errors
/// Errors of reading and writing, or that `cancel` was set.
pub fn disguise(
    reader: Reader,
    task: DisguiseTask,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    output: &mut Output,
    mut watch: impl FnMut(u64, &DisguiseTally),
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
            Ok((chunk.end(), text, tally))
        }
    };
    let recover = |_: &Chunk| Err(OfflineError::Internal);
    let sink = |(end, text, tally): (u64, Vec<u8>, DisguiseTally)| {
        output.write(&text)?;
        watch(end, &tally);
        Ok(())
    };
    run(reader, JobSize::fixed(chunk_bytes), pool, cancel, work, recover, sink)
}
