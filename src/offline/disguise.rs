//! The puzzles of a whole input in disguise, made on all cores, in order.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{OfflineError, completed};
use crate::answer::{DisguiseTally, DisguiseTask, write_disguises_in_parts};
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::{Panicked, PartTaker, ThreadPool, catch_panic, run_in_parts, run_in_parts_here};
use crate::text::Format;

/// About the bytes that are written as one job.
const WRITTEN_BYTES: usize = 1 << 20;

/// The fewest bytes that are read as one job. The disguises of so few puzzles may still be many
/// times as long as [`WRITTEN_BYTES`].
const MIN_CHUNK_BYTES: usize = 128;

/// The bytes of rows that are passed on together.
const PART_BYTES: usize = 128 * 1024;

/// The next rows of the input in disguise.
#[derive(Debug)]
pub struct DisguisedPart {
    /// The bytes of the input, uncompressed, of which all rows are passed on.
    pub done: u64,
    /// What had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// Whether the text ends there too. If not, it ends among the disguises of a row that follows.
    pub is_complete: bool,
    /// The rows.
    pub text: Vec<u8>,
    /// Their tally. A puzzle counts where its first row is.
    pub tally: DisguiseTally,
}

/// Puts every row of `reader` into as many disguises as the task says, and passes the rows to
/// `sink`, part by part and in order. The disguises of a row may be any number of parts, so memory
/// is bounded however many there are.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn disguise(
    mut reader: Reader,
    task: DisguiseTask,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    mut sink: impl FnMut(DisguisedPart) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    reader.keep_lines();
    // What is written is many times as long as what is read, so few puzzles are a job.
    let copies = usize::try_from(task.times).unwrap_or(usize::MAX).saturating_add(1);
    let chunk_bytes = (WRITTEN_BYTES / copies).max(MIN_CHUNK_BYTES);
    reader.read_in_chunks_of(chunk_bytes);
    let is_short = reader.has_at_most(chunk_bytes);
    let work = {
        let (format, cancel) = (reader.format().clone(), Arc::clone(cancel));
        move |chunk: &Chunk, take: &mut PartTaker<'_, Result<DisguisedPart, OfflineError>>| {
            let done = catch_panic(|| disguise_chunk(&format, &task, chunk, &cancel, take));
            if done == Err(Panicked) {
                let _ = take(Err(OfflineError::Internal));
            }
        }
    };
    let source = move || reader.next_chunk().map_err(OfflineError::from);
    let sink = |part: Result<DisguisedPart, OfflineError>| sink(part?);
    let ended = if is_short {
        run_in_parts_here(cancel, source, work, sink)
    } else {
        run_in_parts(pool, cancel, source, work, sink)
    };
    completed(ended?)
}

/// Passes on the rows of a chunk in disguise, unless nobody wants more.
fn disguise_chunk(
    format: &Format,
    task: &DisguiseTask,
    chunk: &Chunk,
    cancel: &AtomicBool,
    take: &mut PartTaker<'_, Result<DisguisedPart, OfflineError>>,
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
                let part = DisguisedPart { done: begin, prefix: None, is_complete: false, text, tally };
                is_wanted = take(Ok(part)).is_continue();
            }
            if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    if is_wanted {
        let (done, prefix) = (chunk.end(), chunk.prefix());
        let _ = take(Ok(DisguisedPart { done, prefix, is_complete: true, text, tally }));
    }
}
