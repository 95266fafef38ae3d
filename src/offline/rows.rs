//! Rows about the puzzles of a whole input, written on all cores, in order.

use std::cell::Cell;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::job_size::JobSize;
use super::{OfflineError, completed};
use crate::answer::{RowJob, RowTally as _, Rows, read_rows};
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::{Panicked, PartTaker, ThreadPool, catch_panic, run_in_parts, run_in_parts_here};

/// The bytes of rows that are passed on together, where a puzzle may have any number.
const PART_BYTES: usize = 128 * 1024;

/// The time after which they are passed on anyway, because somebody may be watching.
const PART_TIME: Duration = Duration::from_millis(50);

/// The next rows about an input.
#[derive(Debug)]
pub struct RowPart<T> {
    /// The bytes of the input, uncompressed, of which all rows are passed on.
    pub done: u64,
    /// The length and hash of what had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// Whether the text ends there too. If not, it ends among the rows of a puzzle that follows.
    pub is_complete: bool,
    /// The rows.
    pub text: Vec<u8>,
    /// Their tally.
    pub tally: T,
}

/// What a chunk passes on.
type PartResult<T> = Result<RowPart<T>, OfflineError>;

/// Does a job for every puzzle of `reader` on the pool, or of a short input on this thread, and passes
/// the rows to `sink`, part by part and in order. Where a puzzle may have any number of rows, they may
/// be any number of parts, so memory is bounded however many there are.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set; that a puzzle led to a panic of
/// which no row can tell.
pub fn write_rows<J: RowJob>(
    mut reader: Reader,
    job: &Arc<J>,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    mut sink: impl FnMut(RowPart<J::Tally>) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    if job.rewrites() {
        reader.keep_lines();
    }
    let (least, most) = job.job_bytes().into_inner();
    let size = Arc::new(JobSize::growing(least, most));
    let is_short = reader.has_at_most(size.bytes());
    let source = {
        let size = Arc::clone(&size);
        move || {
            reader.read_in_chunks_of(size.bytes());
            reader.next_chunk().map_err(OfflineError::from)
        }
    };
    let work = {
        let (job, flag) = (Arc::clone(job), Arc::clone(cancel));
        move |chunk: &Chunk, take: &mut PartTaker<'_, PartResult<J::Tally>>| {
            let begin = Instant::now();
            answer_chunk(&*job, chunk, &flag, take);
            size.record(begin.elapsed());
        }
    };
    let sink = |part: PartResult<J::Tally>| sink(part?);
    completed(if is_short {
        run_in_parts_here(cancel, source, work, sink)?
    } else {
        run_in_parts(pool, cancel, source, work, sink)?
    })
}

/// Passes on the rows about a chunk.
fn answer_chunk<J: RowJob>(
    job: &J,
    chunk: &Chunk,
    cancel: &AtomicBool,
    take: &mut PartTaker<'_, PartResult<J::Tally>>,
) {
    let block = chunk.block();
    let begin = chunk.end().saturating_sub(block.text.len() as u64);
    let (mut last, taken) = (Instant::now(), Cell::new(0));
    let mut pass_on = |text: &mut Vec<u8>, tally: &mut J::Tally, is_awaited| {
        if text.len() < PART_BYTES && !(is_awaited && last.elapsed() >= PART_TIME) {
            return ControlFlow::Continue(());
        }
        last = Instant::now();
        taken.set(taken.get() + tally.puzzles());
        let (text, tally) = (mem::take(text), mem::take(tally));
        take(Ok(RowPart { done: begin, prefix: None, is_complete: false, text, tally }))
    };
    let mut rows = Rows::new(&mut pass_on);
    let answered = match catch_panic(|| job.answer(block, cancel, &mut rows)) {
        Ok(answered) => answered.map_err(OfflineError::from),
        Err(Panicked) => tell_of_panic(job, chunk, taken.get(), &mut rows),
    };
    let Rows { text, tally, .. } = rows;
    let _ = take(answered.map(|()| {
        let (done, prefix) = (chunk.end(), chunk.prefix());
        RowPart { done, prefix, is_complete: true, text, tally }
    }));
}

/// Goes on after a panic: writes of each puzzle that is not done yet that its answer panicked. The
/// rows of the first `taken` puzzles have been passed on.
fn tell_of_panic<J: RowJob>(
    job: &J,
    chunk: &Chunk,
    taken: u64,
    rows: &mut Rows<'_, J::Tally>,
) -> Result<(), OfflineError> {
    rows.drop_half_row();
    let done = taken + rows.tally.puzzles();
    // A row that is written again has no place for an error.
    let (mut is_told, mut number) = (!job.rewrites(), 0);
    read_rows(job.format(), chunk.block(), |row| {
        number += 1;
        if number > done {
            is_told &= job.write_panic(row, rows);
        }
    });
    if is_told { Ok(()) } else { Err(OfflineError::Internal) }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::ops::RangeInclusive;

    use super::*;
    use crate::answer::{Block, Cancelled, DisguiseTally, PuzzleRow};
    use crate::grid::Order;
    use crate::input::Source;
    use crate::pipeline::lazy_pool;
    use crate::text::{Alphabet, Format, Hint, Notation};

    /// Writes the number of its line for every puzzle, and panics at the third in the middle of a row.
    struct Panicking<const REWRITES: bool> {
        format: Format,
        ends_rows: bool,
    }

    impl<const REWRITES: bool> RowJob for Panicking<REWRITES> {
        type Tally = DisguiseTally;

        fn format(&self) -> &Format {
            &self.format
        }

        fn job_bytes(&self) -> RangeInclusive<usize> {
            1024..=1024
        }

        fn rewrites(&self) -> bool {
            REWRITES
        }

        fn answer(
            &self,
            block: Block<'_>,
            _: &AtomicBool,
            rows: &mut Rows<'_, DisguiseTally>,
        ) -> Result<(), Cancelled> {
            let (mut text, mut tally) = (Vec::new(), DisguiseTally::default());
            read_rows(&self.format, block, |row| {
                let (text, tally) =
                    if self.ends_rows { (&mut rows.text, &mut rows.tally) } else { (&mut text, &mut tally) };
                text.extend_from_slice(row.line.to_string().as_bytes());
                assert!(row.line % 4 != 3, "injected");
                text.push(b'\n');
                tally.puzzles += 1;
                if self.ends_rows {
                    assert!(rows.end_row(false).is_continue());
                }
            });
            rows.text.append(&mut text);
            rows.tally.add(&tally);
            Ok(())
        }

        fn write_panic(&self, row: &PuzzleRow<'_>, rows: &mut Rows<'_, DisguiseTally>) -> bool {
            rows.text.extend_from_slice(format!("{} panicked\n", row.line).as_bytes());
            rows.tally.puzzles += 1;
            true
        }
    }

    /// The text of all parts and the puzzles that they count.
    fn run<const REWRITES: bool>(ends_rows: bool) -> Result<(String, u64), OfflineError> {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let text = Cursor::new(".1....2.3..4....\n".repeat(4));
        let source = Source::reading("puzzles".to_owned(), Box::new(text)).unwrap();
        let reader = source.read(&Hint::default()).unwrap();
        let (pool, never) = (Arc::new(lazy_pool(Some(1))), Arc::new(AtomicBool::new(false)));
        let (mut all, mut puzzles) = (Vec::new(), 0);
        let job = Arc::new(Panicking::<REWRITES> { format, ends_rows });
        write_rows(reader, &job, &pool, &never, |part| {
            all.extend_from_slice(&part.text);
            puzzles += part.tally.puzzles();
            Ok(())
        })?;
        Ok((String::from_utf8(all).unwrap(), puzzles))
    }

    #[test]
    fn rows_that_are_whole_are_kept_when_the_next_one_panics() {
        assert_eq!(run::<false>(true).unwrap(), ("1\n2\n3 panicked\n4 panicked\n".to_owned(), 4));
        let all = "1 panicked\n2 panicked\n3 panicked\n4 panicked\n";
        assert_eq!(run::<false>(false).unwrap(), (all.to_owned(), 4));
    }

    #[test]
    fn a_panic_ends_a_run_whose_rows_are_written_again() {
        for ends_rows in [false, true] {
            assert!(matches!(run::<true>(ends_rows), Err(OfflineError::Internal)));
        }
    }
}
