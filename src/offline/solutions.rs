//! The solutions of the puzzles of a whole input, found on all cores, in order.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::{CHUNK_BYTES, OfflineError, PartialRows, put_before, run_parts};
use crate::answer::{
    Block, Cancelled, EnumerateTally, Enumerators, SolutionEvent, SolutionRow, SolutionWriter,
};
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::{Panicked, PartTaker, ThreadPool, catch_panic};

/// About the bytes of solutions that a job may have: more, and it waits for its turn.
const JOB_BYTES: usize = 2 << 20;

/// The fewest bytes that are read as one job: with fewer puzzles the kernel would be mostly idle.
const MIN_CHUNK_BYTES: usize = 4 * 1024;

/// The bytes of solutions that are passed on together.
const PART_BYTES: usize = 128 * 1024;

/// The time after which they are passed on anyway, because somebody may be watching.
const PART_TIME: Duration = Duration::from_millis(50);

/// Lists the solutions of every puzzle of `reader` on the pool, and passes what `writer` makes of
/// them to `sink`, part by part and in order. A puzzle's solutions may be any number of parts, so
/// memory is bounded however many there are.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn solutions(
    reader: Reader,
    enumerators: &Arc<Enumerators>,
    writer: SolutionWriter,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    mut sink: impl FnMut(PartialRows<EnumerateTally>) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    // A solution is about as long as its puzzle.
    let times = usize::try_from(enumerators.task().limit).unwrap_or(usize::MAX).max(1);
    let chunk_bytes = (JOB_BYTES / times).clamp(MIN_CHUNK_BYTES, CHUNK_BYTES);
    let mut heading = reader.is_at_start().then(|| writer.heading());
    let work = {
        let (enumerators, cancel, writer) = (Arc::clone(enumerators), Arc::clone(cancel), Arc::new(writer));
        move |chunk: &Chunk, take: &mut PartTaker<'_, SolutionsResult>| {
            SolutionsJob::new(chunk, &writer, take).run(&enumerators, chunk.block(), &cancel);
        }
    };
    let sink = |mut part: PartialRows<EnumerateTally>| {
        put_before(&mut part.text, &mut heading);
        sink(part)
    };
    run_parts(reader, chunk_bytes, pool, cancel, work, sink)
}

/// What a job passes on.
type SolutionsResult = Result<PartialRows<EnumerateTally>, OfflineError>;

/// The solutions of a chunk that have not been passed on.
struct SolutionsJob<'a, 'b> {
    /// Where the chunk begins and ends in the input.
    span: (u64, u64),
    /// What had been read of the input when the chunk was handed out, if it is hashed.
    prefix: Option<Prefix>,
    writer: &'a SolutionWriter,
    take: &'a mut PartTaker<'b, SolutionsResult>,
    text: Vec<u8>,
    /// The length of the text without what was being written when the work panicked.
    whole: usize,
    tally: EnumerateTally,
    /// The puzzles of the chunk that are done.
    done: u64,
    last: Instant,
}

impl<'a, 'b> SolutionsJob<'a, 'b> {
    fn new(chunk: &Chunk, writer: &'a SolutionWriter, take: &'a mut PartTaker<'b, SolutionsResult>) -> Self {
        Self {
            span: (chunk.end().saturating_sub(chunk.block().text.len() as u64), chunk.end()),
            prefix: chunk.prefix(),
            writer,
            take,
            text: Vec::new(),
            whole: 0,
            tally: EnumerateTally::default(),
            done: 0,
            last: Instant::now(),
        }
    }

    fn run(mut self, enumerators: &Enumerators, block: Block<'_>, cancel: &AtomicBool) {
        match catch_panic(|| enumerators.enumerate(block, cancel, |row| self.add(row))) {
            Ok(Ok(())) => {}
            // Nobody wants the rest.
            Ok(Err(Cancelled)) => return,
            Err(Panicked) => {
                self.text.truncate(self.whole);
                let done = self.done;
                enumerators.internal_errors(block, done, |row| {
                    let _ = self.add(row);
                });
            }
        }
        let _ = self.pass_on(true);
    }

    fn add(&mut self, row: &SolutionRow<'_>) -> ControlFlow<()> {
        self.writer.write(row, &mut self.text);
        self.whole = self.text.len();
        self.tally.count(row);
        let is_end = matches!(row.event, SolutionEvent::End { .. });
        self.done += u64::from(is_end);
        // The clock is not looked at for each of many puzzles with one solution.
        let is_due = || matches!(row.event, SolutionEvent::Solution { number: 2.., .. });
        if self.text.len() >= PART_BYTES || (is_due() && self.last.elapsed() >= PART_TIME) {
            return self.pass_on(false);
        }
        ControlFlow::Continue(())
    }

    /// Passes on what there is; `is_last` if the chunk has no more.
    fn pass_on(&mut self, is_last: bool) -> ControlFlow<()> {
        self.last = Instant::now();
        self.whole = 0;
        let (text, tally) = (std::mem::take(&mut self.text), std::mem::take(&mut self.tally));
        let (begin, end) = self.span;
        let (done, prefix) = if is_last { (end, self.prefix) } else { (begin, None) };
        (self.take)(Ok(PartialRows { done, prefix, is_complete: is_last, text, tally }))
    }
}
