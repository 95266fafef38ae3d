//! The canonical forms of a whole input, found on all cores, in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::job_size::JobSize;
use super::{CHUNK_BYTES, MIN_BATCH_BYTES, OfflineError, Part, put_before, run};
use crate::answer::{CanonTally, CanonWriter, Canonizers};
use crate::input::{Chunk, Reader};
use crate::pipeline::ThreadPool;

/// Finds the canonical form of every puzzle of `reader` on the pool, and passes what `writer` makes
/// of them to `sink`, part by part and in order; the first part of an input begins with the heading.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn canon(
    reader: Reader,
    canonizers: &Arc<Canonizers>,
    writer: CanonWriter,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    mut sink: impl FnMut(Part<CanonTally>) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    let writer = Arc::new(writer);
    let mut heading = reader.is_at_start().then(|| writer.heading());
    let work = {
        let (canonizers, cancel, writer) = (Arc::clone(canonizers), Arc::clone(cancel), Arc::clone(&writer));
        move |chunk: &Chunk| {
            let mut text = Vec::new();
            let tally = canonizers.canonize(chunk.block(), &cancel, |row| writer.write(row, &mut text))?;
            Ok(Part::of(chunk, text, tally))
        }
    };
    let recover = {
        let canonizers = Arc::clone(canonizers);
        move |chunk: &Chunk| {
            let mut text = Vec::new();
            let tally = canonizers.internal_errors(chunk.block(), |row| writer.write(row, &mut text));
            Ok(Part::of(chunk, text, tally))
        }
    };
    let sink = |mut part: Part<CanonTally>| {
        put_before(&mut part.text, &mut heading);
        sink(part)
    };
    run(reader, JobSize::growing(MIN_BATCH_BYTES, CHUNK_BYTES), pool, cancel, work, recover, sink)
}
