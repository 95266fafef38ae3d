//! The puzzles of a whole input without clues that can be spared, on all cores, in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::job_size::JobSize;
use super::{CHUNK_BYTES, MIN_JOB_BYTES, OfflineError, Output, run};
use crate::answer::{MinimizeTally, MinimizeTask, Minimizers};
use crate::input::{Chunk, Reader};
use crate::pipeline::ThreadPool;

/// Writes every row of `reader` to `output` without the clues that its puzzle can spare; `watch` is
/// called with the bytes of the input that are done.
///
/// # Errors
/// Errors of reading and writing, or that `cancel` was set.
pub fn minimize(
    reader: Reader,
    task: MinimizeTask,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    output: &mut Output,
    mut watch: impl FnMut(u64, &MinimizeTally),
) -> Result<(), OfflineError> {
    let minimizers = Arc::new(Minimizers::new(reader.format().clone(), task));
    let work = {
        let cancel = Arc::clone(cancel);
        move |chunk: &Chunk| {
            let mut text = Vec::new();
            let tally = minimizers.minimize(chunk.block(), &cancel, &mut text)?;
            Ok((chunk.end(), text, tally))
        }
    };
    let recover = |_: &Chunk| Err(OfflineError::Internal);
    let sink = |(end, text, tally): (u64, Vec<u8>, MinimizeTally)| {
        output.write(&text)?;
        watch(end, &tally);
        Ok(())
    };
    run(reader, JobSize::growing(MIN_JOB_BYTES, CHUNK_BYTES), pool, cancel, work, recover, sink)
}
