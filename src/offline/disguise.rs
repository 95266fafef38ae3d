//! The puzzles of a whole input in disguise, made on all cores, in order.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{OfflineError, PartialRows, run_parts};
use crate::answer::{DisguiseTally, DisguiseTask, write_disguises_in_parts};
use crate::input::{Chunk, Reader};
use crate::pipeline::{Panicked, PartTaker, ThreadPool, catch_panic};
use crate::text::Format;

/// About the bytes that are written as one job.
const WRITTEN_BYTES: usize = 1 << 20;

/// The fewest bytes that are read as one job. The disguises of so few puzzles may still be many
/// times as long as [`WRITTEN_BYTES`].
const MIN_CHUNK_BYTES: usize = 128;

/// The bytes of rows that are passed on together.
const PART_BYTES: usize = 128 * 1024;

/// Puts every row of `reader` into as many disguises as the task says, and passes the rows to
/// `sink`, part by part and in order. The disguises of a row may be any number of parts, so memory
/// is bounded however many there are. A puzzle counts where its first row is.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn disguise(
    mut reader: Reader,
    task: DisguiseTask,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    sink: impl FnMut(PartialRows<DisguiseTally>) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    reader.keep_lines();
    // What is written is many times as long as what is read, so few puzzles are a job.
    let copies = usize::try_from(task.times).unwrap_or(usize::MAX).saturating_add(1);
    let chunk_bytes = (WRITTEN_BYTES / copies).max(MIN_CHUNK_BYTES);
    let work = {
        let (format, cancel) = (reader.format().clone(), Arc::clone(cancel));
        move |chunk: &Chunk, take: &mut PartTaker<'_, Result<PartialRows<DisguiseTally>, OfflineError>>| {
            let done = catch_panic(|| disguise_chunk(&format, &task, chunk, &cancel, take));
            if done == Err(Panicked) {
                let _ = take(Err(OfflineError::Internal));
            }
        }
    };
    run_parts(reader, chunk_bytes, pool, cancel, work, sink)
}

/// Passes on the rows of a chunk in disguise, unless nobody wants more.
fn disguise_chunk(
    format: &Format,
    task: &DisguiseTask,
    chunk: &Chunk,
    cancel: &AtomicBool,
    take: &mut PartTaker<'_, Result<PartialRows<DisguiseTally>, OfflineError>>,
) {
    let block = chunk.block();
    let begin = chunk.end().saturating_sub(block.text.len() as u64);
    let (mut text, mut tally) = (Vec::new(), DisguiseTally::default());
    let mut is_wanted = !cancel.load(Ordering::Relaxed);
    if is_wanted {
        write_disguises_in_parts(format, task, block, &mut text, &mut tally, |text, tally| {
            is_wanted = !cancel.load(Ordering::Relaxed);
            if is_wanted && text.len() >= PART_BYTES {
                let (text, tally) = (std::mem::take(text), std::mem::take(tally));
                let part = PartialRows { done: begin, prefix: None, is_complete: false, text, tally };
                is_wanted = take(Ok(part)).is_continue();
            }
            if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    if is_wanted {
        let (done, prefix) = (chunk.end(), chunk.prefix());
        let _ = take(Ok(PartialRows { done, prefix, is_complete: true, text, tally }));
    }
}
