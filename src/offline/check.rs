//! The check of a whole input on all cores, in order.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::job_size::JobSize;
use super::{CHUNK_BYTES, MIN_BATCH_BYTES, OfflineError, put_before, run};
use crate::answer::{Check, CheckForm, CheckTally, CheckWriter, Checkers, Finding, check_block};
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::ThreadPool;

/// Which rows a check reports, and how.
#[derive(Clone, Copy, Debug)]
pub struct CheckReport {
    /// The form of a row's report.
    pub form: CheckForm,
    /// Whether rows that are right are reported too.
    pub with_right: bool,
    /// The most rows that are reported.
    pub limit: usize,
}

/// What was found in the next part of the input.
#[derive(Debug)]
pub struct CheckedPart {
    /// The bytes of the input, uncompressed, up to its end.
    pub end: u64,
    /// What had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// The reports on its rows: those at the start of the input begin with the heading.
    pub text: Vec<u8>,
    /// The numbers of its rows.
    pub tally: CheckTally,
    /// If it has only one row: the grid in detail, and what was found.
    pub single: Option<(Check, Finding)>,
    /// The number of rows reported in `text`.
    reported: usize,
}

/// Checks every row of `reader` on the pool, and passes the reports to `sink`, part by part and in
/// order.
///
/// # Errors
/// Errors of reading and those of `sink`, or that `cancel` was set.
pub fn check(
    reader: Reader,
    checkers: &Arc<Checkers>,
    report: CheckReport,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    mut sink: impl FnMut(CheckedPart) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    let writer = Arc::new(CheckWriter::new(report.form, checkers.format()));
    let mut heading = reader.is_at_start().then(|| writer.heading());
    let mut left = report.limit;
    let work = {
        let (checkers, cancel, writer) = (Arc::clone(checkers), Arc::clone(cancel), Arc::clone(&writer));
        move |chunk: &Chunk| check_chunk(chunk, &checkers, &writer, report, &cancel)
    };
    let recover = {
        let checkers = Arc::clone(checkers);
        move |chunk: &Chunk| {
            let mut part = CheckedPart::empty(chunk);
            let block = chunk.block();
            part.tally = checkers.internal_errors(block, |row| {
                if part.reported < report.limit {
                    part.reported += 1;
                    writer.write(row, &mut part.text);
                }
            });
            Ok(part)
        }
    };
    let sink = |mut part: CheckedPart| {
        part.keep(left);
        left -= part.reported;
        put_before(&mut part.text, &mut heading);
        sink(part)
    };
    run(reader, JobSize::growing(MIN_BATCH_BYTES, CHUNK_BYTES), pool, cancel, work, recover, sink)
}

fn check_chunk(
    chunk: &Chunk,
    checkers: &Checkers,
    writer: &CheckWriter,
    report: CheckReport,
    cancel: &AtomicBool,
) -> Result<CheckedPart, OfflineError> {
    let block = chunk.block();
    let mut part = CheckedPart::empty(chunk);
    let mut last = Finding::Right;
    part.tally = checkers.check(block, report.with_right, cancel, |row| {
        if part.reported < report.limit {
            part.reported += 1;
            writer.write(row, &mut part.text);
        }
        last = row.finding.clone();
    })?;
    if part.tally.rows == 1 {
        check_block(checkers.format(), block, cancel, |check| {
            part.single = Some((check.clone(), last.clone()));
        })?;
    }
    Ok(part)
}

impl CheckedPart {
    fn empty(chunk: &Chunk) -> Self {
        let (end, prefix) = (chunk.end(), chunk.prefix());
        Self { end, prefix, text: Vec::new(), tally: CheckTally::default(), single: None, reported: 0 }
    }

    /// Keeps at most `most` of the reports, each of which is a line.
    fn keep(&mut self, most: usize) {
        if self.reported > most {
            self.reported = most;
            let mut ends = memchr::memchr_iter(b'\n', &self.text);
            let end = most.checked_sub(1).and_then(|last| ends.nth(last));
            self.text.truncate(end.map_or(0, |end| end + 1));
        }
    }
}
