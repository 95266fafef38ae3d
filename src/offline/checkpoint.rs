//! Checkpoints: a run records several times a second how far it has come, so that another run can
//! resume it.

use std::io;
use std::time::{Duration, Instant};

use super::journal::{Difference, Journal, RunIdentity};
use super::partial::Partial;
use super::{OutputError, Progress};

/// The time of the first checkpoint of a run.
const FIRST_CHECKPOINT: Duration = Duration::from_millis(20);

/// The least time between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(200);

/// The least time between two checkpoints, as a multiple of the time that one takes, because
/// syncing to a disk may be slow.
const CHECKPOINT_SHARE: u32 = 20;

/// A partial file with checkpoints.
pub(super) struct CheckpointedFile {
    pub(super) partial: Partial,
    /// The bytes written.
    bytes: u64,
    /// The bytes of them that are of the answers which the progress counts. Behind these may be a
    /// heading, a part of an answer, or a summary, and no checkpoint covers that.
    counted_bytes: u64,
    /// The identity of the run, if another can resume it.
    pub(super) run: Option<RunIdentity>,
    /// Whether the file stays for another run if this one does not finish.
    keep: bool,
    /// The answers of an earlier run of this kind that were dropped, because this one was not to
    /// resume it.
    pub(super) dropped: u64,
    /// The time that earlier runs have spent.
    pub(super) earlier: Duration,
    begin: Instant,
    next_checkpoint: Instant,
}

impl CheckpointedFile {
    pub(super) fn new(partial: Partial, run: Option<RunIdentity>, keep: bool) -> Self {
        let begin = Instant::now();
        let next_checkpoint = begin + FIRST_CHECKPOINT;
        Self {
            partial,
            bytes: 0,
            counted_bytes: 0,
            run,
            keep,
            dropped: 0,
            earlier: Duration::ZERO,
            begin,
            next_checkpoint,
        }
    }

    /// Resumes an earlier run, if this one is to and there is one, or begins anew. Returns how far
    /// the output is.
    pub(super) fn start(&mut self, name: &str) -> Result<Progress, OutputError> {
        let fail = |cause| OutputError::Io { name: name.to_owned(), cause };
        let (journal, progress) = match self.earlier_run(name)? {
            Some(earlier) if self.keep => earlier,
            earlier => {
                self.dropped = earlier.map_or(0, |(_, progress)| progress.tally.answers);
                self.partial.reset().map_err(fail)?;
                return Ok(Progress::default());
            }
        };
        self.partial.continue_at(journal.output_bytes()).map_err(fail)?;
        (self.bytes, self.counted_bytes) = (journal.output_bytes(), journal.output_bytes());
        self.earlier = journal.work();
        Ok(progress)
    }

    /// Begins anew, and drops what an earlier run has left.
    pub(super) fn begin_anew(&mut self) -> io::Result<()> {
        self.partial.reset()?;
        self.partial.continue_at(0)?;
        (self.bytes, self.counted_bytes, self.earlier) = (0, 0, Duration::ZERO);
        Ok(())
    }

    /// The journal and the progress of an earlier run of this kind, if there is one. An error if this
    /// one is to resume an earlier one of another kind.
    fn earlier_run(&self, name: &str) -> Result<Option<(Journal, Progress)>, OutputError> {
        let Some(run) = &self.run else { return Ok(None) };
        let Some(journal) = self.partial.journal() else { return Ok(None) };
        let name = name.to_owned();
        match run.difference(journal.run()) {
            Some(_) if !self.keep => Ok(None),
            Some(Difference::Setting(then, now)) => Err(OutputError::OtherRun { name, then, now }),
            Some(Difference::Input(input)) => Err(OutputError::OtherInput { name, input }),
            None => Ok(journal.progress().map(|progress| (journal, progress))),
        }
    }

    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.partial.write(text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Notes that everything written is of answers that the progress counts, and records how far the
    /// run has come, if the next checkpoint is due.
    pub(super) fn count_written(&mut self, progress: &Progress) -> io::Result<()> {
        self.counted_bytes = self.bytes;
        if Instant::now() >= self.next_checkpoint { self.checkpoint(progress) } else { Ok(()) }
    }

    /// Records how far the run has come, if it has any answers.
    fn checkpoint(&mut self, progress: &Progress) -> io::Result<()> {
        let Some(run) = self.run.as_ref().filter(|_| progress.tally.answers > 0) else { return Ok(()) };
        let begin = Instant::now();
        let work = self.earlier + (begin - self.begin);
        let Some(journal) = Journal::new(run, progress, self.counted_bytes, work) else { return Ok(()) };
        let is_recorded = self.partial.checkpoint(&journal)?;
        self.partial.keep_on_drop |= is_recorded && self.keep;
        let time = begin.elapsed();
        self.next_checkpoint = begin + time + CHECKPOINT_INTERVAL.max(time * CHECKPOINT_SHARE);
        Ok(())
    }

    /// Whether another run could resume it, had it been told to stay.
    pub(super) const fn could_be_kept(&self) -> bool {
        self.run.is_some() && !self.keep
    }

    /// Ends a run that has not finished. True if another can resume it.
    pub(super) fn stop(&mut self, progress: &Progress) -> bool {
        if !self.keep {
            return false;
        }
        // On a full disk, a half-written answer takes the space that the checkpoint needs, so it is
        // cut off first, with everything that the progress does not count. If the checkpoint fails
        // all the same, the one before it still holds.
        let _ = self.partial.continue_at(self.counted_bytes).and_then(|()| self.checkpoint(progress));
        self.partial.keep_on_drop
    }
}
