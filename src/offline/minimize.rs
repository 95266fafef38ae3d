//! The puzzles of a whole input without clues that can be spared, on all cores, in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::job_size::JobSize;
use super::{CHUNK_BYTES, MIN_JOB_BYTES, OfflineError, Part, run};
use crate::answer::{MinimizeTally, MinimizeTask, Minimizers};
use crate::input::{Chunk, Reader};
use crate::pipeline::ThreadPool;

/// Drops from every row of `reader` the clues that its puzzle can spare, and passes the rows to
/// `sink`, part by part and in order.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn minimize(
    mut reader: Reader,
    task: MinimizeTask,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    sink: impl FnMut(Part<MinimizeTally>) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    reader.keep_lines();
    let minimizers = Arc::new(Minimizers::new(reader.format().clone(), task));
    let work = {
        let cancel = Arc::clone(cancel);
        move |chunk: &Chunk| {
            let mut text = Vec::new();
            let tally = minimizers.minimize(chunk.block(), &cancel, &mut text)?;
            Ok(Part::of(chunk, text, tally))
        }
    };
    let recover = |_: &Chunk| Err(OfflineError::Internal);
    run(reader, JobSize::growing(MIN_JOB_BYTES, CHUNK_BYTES), pool, cancel, work, recover, sink)
}
