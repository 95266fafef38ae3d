//! Errors of offline runs: of their input, and of their output.

use std::io;
use std::path::PathBuf;

use crate::answer::Cancelled;
use crate::input::InputError;
use crate::pipeline::NoThreads;

/// The error of a run that did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfflineError {
    /// The input failed.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The answers cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The system refuses to start another thread.
    #[error(transparent)]
    Threads(#[from] NoThreads),
    /// The system refuses more memory.
    #[error("there is no memory left for the answers. Allow this process more, or use fewer --threads.")]
    Memory,
    /// Files for what does not fit into memory cannot be written or read.
    #[error("{}: {cause}. Name another folder with --temp-dir, or allow more --memory.", folder.display())]
    Spill {
        /// Their folder.
        folder: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// A job broke down, of which standard error has the message.
    #[error("the program broke down; this is a bug. What was written is not complete.")]
    Internal,
    /// The caller's flag was set.
    #[error("The run was interrupted.")]
    Cancelled,
}

impl From<Cancelled> for OfflineError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Whether writing failed only because the reader of our output has closed it.
#[must_use]
pub fn is_closed_pipe(error: &OfflineError) -> bool {
    matches!(error, OfflineError::Output(error) if error.is_closed_pipe())
}

/// The error of answers that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The operating system refused.
    #[error("{name}: {cause}")]
    Io {
        /// The output.
        name: String,
        /// The system's error.
        cause: io::Error,
    },
    /// There is no such folder.
    #[error("{name}: there is no folder {}. Make it, or name another file.", .folder.display())]
    NoFolder {
        /// The output.
        name: String,
        /// The folder that is not there.
        folder: PathBuf,
    },
    /// Another run is writing the same output.
    #[error("{name} is being written by another run. Wait for its end, or name another file.")]
    InUse {
        /// The output.
        name: String,
    },
    /// Something that is no regular file has the name of the partial file.
    #[error("{name} cannot be written: {path} is in the way. Remove it.")]
    InTheWay {
        /// The output.
        name: String,
        /// The path of it.
        path: PathBuf,
    },
    /// The output is the input: the answers would replace the puzzles.
    #[error("{name} is the input itself. Name another file with {flag}.")]
    IsInput {
        /// The output, or a file that a run makes beside it.
        name: String,
        /// The flag that names the output.
        flag: &'static str,
    },
    /// The output is no regular file, so a run cannot be resumed.
    #[error("{name} is no regular file: a run that writes to it cannot be resumed.")]
    NotResumable {
        /// The output.
        name: String,
    },
    /// The earlier run had other settings.
    #[error(
        "{name} was begun with {then}, and now it is {now}. Repeat the command as it was, or leave out --resume to begin anew."
    )]
    OtherRun {
        /// The output.
        name: String,
        /// The setting of the earlier run.
        then: String,
        /// The setting of this run.
        now: String,
    },
    /// The input has changed since the run began.
    #[error("{input} was changed after {name} was begun. Leave out --resume to begin anew.")]
    OtherInput {
        /// The output.
        name: String,
        /// The input.
        input: String,
    },
}

impl OutputError {
    /// Whether the reader of the output has closed it.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}
