//! The rating of a whole input on all cores, in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::job_size::JobSize;
use super::{MIN_JOB_BYTES, OfflineError, put_before, run};
use crate::answer::{CheckForm, RateTally, RateWriter, RatedPuzzle, Raters};
use crate::grid::Grid;
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::ThreadPool;
use crate::text::PuzzleError;

/// The most bytes rated as one job: some 200 puzzles of 81 cells, because more would gain nothing.
const MAX_JOB_BYTES: usize = 16 * 1024;

/// The ratings of the next part of the input.
#[derive(Debug)]
pub struct RatedPart {
    /// The bytes of the input, uncompressed, up to its end.
    pub end: u64,
    /// The length and hash of what had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// The ratings, in the form asked for: those at the start of the input begin with the heading.
    pub text: Vec<u8>,
    /// Their tally.
    pub tally: RateTally,
    /// If it has only one puzzle: that, and its rating in full.
    pub single: Option<(Option<Grid>, Result<RatedPuzzle, PuzzleError>)>,
}

/// Rates every puzzle of `reader` on the pool, and passes the ratings to `sink`, part by part and
/// in order.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn rate(
    reader: Reader,
    raters: &Arc<Raters>,
    form: CheckForm,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    mut sink: impl FnMut(RatedPart) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    let writer = Arc::new(RateWriter::new(form, raters.format()));
    let mut heading = reader.is_at_start().then(|| writer.heading());
    let work = {
        let (raters, cancel, writer) = (Arc::clone(raters), Arc::clone(cancel), Arc::clone(&writer));
        move |chunk: &Chunk| {
            let mut part = RatedPart::empty(chunk);
            let mut last = None;
            part.tally = raters.rate(chunk.block(), &*cancel, |row| {
                writer.write(row, &mut part.text);
                last = Some((row.puzzle.cloned(), row.result.clone()));
            })?;
            part.single = last.filter(|_| part.tally.puzzles == 1);
            Ok(part)
        }
    };
    let recover = {
        let raters = Arc::clone(raters);
        move |chunk: &Chunk| {
            let mut part = RatedPart::empty(chunk);
            part.tally = raters.internal_errors(chunk.block(), |row| writer.write(row, &mut part.text));
            Ok(part)
        }
    };
    let sink = |mut part: RatedPart| {
        put_before(&mut part.text, &mut heading);
        sink(part)
    };
    run(reader, JobSize::growing(MIN_JOB_BYTES, MAX_JOB_BYTES), pool, cancel, work, recover, sink)
}

impl RatedPart {
    fn empty(chunk: &Chunk) -> Self {
        let (end, prefix) = (chunk.end(), chunk.prefix());
        Self { end, prefix, text: Vec::new(), tally: RateTally::default(), single: None }
    }
}
