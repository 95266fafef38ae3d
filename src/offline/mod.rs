//! Offline runs: a file through the pipeline, into an output that is complete or absent.
//!
//! | file | what it holds |
//! |---|---|
//! | `rows.rs` | rows about the puzzles of a file, written on all cores |
//! | `dedup/` | puzzles that are the same dropped, in memory of bounded size |
//! | `split.rs` | a training and a test set without common puzzles |
//! | `keyed.rs` | what makes two puzzles the same |
//! | `columnar/` | rows as a Parquet file, with the cargo feature `parquet` |
//! | `job_size.rs` | how much of an input is one job, by how long jobs take |
//! | `output.rs` | the output of a run |
//! | `origin.rs` | which of several inputs an answer is about |
//! | `partial.rs` | atomic output: written beside its target, renamed at the end |
//! | `checkpoint.rs`, `journal.rs` | how far a run has come, so that another can resume it |
//! | `manifest.rs` | what the output of a shard is part of |
//! | `join.rs` | the outputs of shards put together |
//! | `link.rs` | the file that a path leads to |
//! | `error.rs` | why a run did not finish |
//!
//! **Invariant:** an output and a journal never mix two runs: a run resumes another only if
//! program, options and input are the same, and the input begins with the same bytes.

mod checkpoint;
#[cfg(feature = "parquet")]
mod columnar;
mod dedup;
mod error;
mod job_size;
mod join;
mod journal;
mod keyed;
mod link;
mod manifest;
mod origin;
mod output;
mod partial;
mod rows;
mod split;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::answer::{MAX_JOB_BYTES, MIN_BATCH_BYTES, MIN_JOB_BYTES, OutputForm, Solvers, Tally, Written};
use crate::input::{Chunk, Prefix, Reader};
use crate::pipeline::{Ended, ThreadPool, run_here, run_ordered};
use crate::solver::Question;

use job_size::JobSize;

pub use dedup::{DedupTally, Deduplicator, MAX_DEDUP_INPUTS};
pub use error::{OfflineError, OutputError, is_closed_pipe};
pub use join::{JoinError, JoinProblem, Joined, join};
pub use journal::RunIdentity;
pub use keyed::Sameness;
pub use manifest::Manifest;
pub use origin::InputOrigin;
pub use output::Output;
pub use rows::{RowPart, write_rows};
pub use split::{SplitTally, SplitTask, split};

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The bytes of the input, uncompressed, whose answers are written.
    pub bytes: u64,
    /// The length and hash of what had been read of the input by then, if it is hashed.
    pub prefix: Option<Prefix>,
    /// The tally of the answers written.
    pub tally: Tally,
    /// What a command counts of them beside that, by names of its own.
    pub counts: BTreeMap<String, u64>,
}

/// Answers every puzzle of `reader` on the pool, or a short file on this thread, and writes the
/// answers to `output` in order.
/// `watch` is called with the progress after each write. If the reader is at the start of its
/// input, or the output is a Parquet file, which always has columns, and `output` has no answers
/// yet, the heading of the task's form, if it has one, is written first.
///
/// # Errors
/// Errors of reading and writing, or that `cancel` was set. The progress that `watch` has seen is
/// written by then.
pub fn solve(
    reader: Reader,
    solvers: &Arc<Solvers>,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    output: &mut Output,
    mut watch: impl FnMut(&Progress),
) -> Result<(), OfflineError> {
    let task = solvers.task();
    let has_heading = reader.is_at_start() || task.form == OutputForm::Parquet;
    if has_heading && output.progress().tally.answers == 0 {
        output.write(&task.heading(solvers.format()))?;
    }
    let work = {
        let (solvers, cancel) = (Arc::clone(solvers), Arc::clone(cancel));
        move |chunk: &Chunk| {
            let (block, mut buffer) = (chunk.block(), Vec::new());
            // Without the check, an allocator that has no memory left would abort the process
            // without a message.
            let written = match buffer.try_reserve_exact(Solvers::room_for(block)) {
                Ok(()) => solvers.write_answers_into(block, &*cancel, buffer).map_err(OfflineError::from),
                Err(_) => Err(OfflineError::Memory),
            };
            Ok((chunk.end(), chunk.prefix(), written?))
        }
    };
    let recover = {
        let solvers = Arc::clone(solvers);
        move |chunk: &Chunk| {
            let written = solvers.write_internal_errors(chunk.block(), Vec::new());
            Ok((chunk.end(), chunk.prefix(), written))
        }
    };
    let sink = |(end, prefix, written): (u64, Option<Prefix>, Written)| {
        output.add(end, prefix, &written.text, &written.tally)?;
        watch(output.progress());
        Ok(())
    };
    let size = match task.question {
        _ if !task.answers_together(solvers.format().order()) => {
            JobSize::growing(MIN_JOB_BYTES, MAX_JOB_BYTES)
        }
        // Where counts are given up may depend on the other puzzles of a small batch, so how a file is
        // cut into jobs does not depend on time.
        Question::Count { .. } => JobSize::fixed(MAX_JOB_BYTES),
        _ => JobSize::shrinking(MIN_BATCH_BYTES, MAX_JOB_BYTES),
    };
    run(reader, size, pool, cancel, work, recover, sink)
}

/// Does `work` for every chunk of `reader`, of the bytes that `size` has by then or a little more, and
/// passes the results to `sink` in order. An input of one chunk is done on this thread, any other on
/// the pool. Where `work` panics, `recover` has the result.
fn run<R: Send + 'static>(
    mut reader: Reader,
    size: JobSize,
    pool: &Arc<ThreadPool>,
    cancel: &AtomicBool,
    work: impl Fn(&Chunk) -> Result<R, OfflineError> + Clone + Send + 'static,
    recover: impl Fn(&Chunk) -> Result<R, OfflineError> + Clone + Send + 'static,
    mut sink: impl FnMut(R) -> Result<(), OfflineError>,
) -> Result<(), OfflineError> {
    let is_short = reader.has_at_most(size.bytes());
    let size = Arc::new(size);
    let source = {
        let size = Arc::clone(&size);
        move || {
            reader.read_in_chunks_of(size.bytes());
            reader.next_chunk().map_err(OfflineError::from)
        }
    };
    let work = move |chunk: &Chunk| {
        let begin = Instant::now();
        let result = work(chunk);
        size.record(begin.elapsed());
        result
    };
    let sink = |result: Result<R, OfflineError>| sink(result?);
    let ended = if is_short {
        run_here(cancel, source, work, recover, sink)
    } else {
        run_ordered(pool, cancel, source, work, recover, sink)
    };
    completed(ended?)
}

/// A run that was cancelled is an error here.
const fn completed(ended: Ended) -> Result<(), OfflineError> {
    match ended {
        Ended::Complete => Ok(()),
        Ended::Cancelled => Err(OfflineError::Cancelled),
    }
}
