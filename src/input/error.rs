//! Errors of inputs: why one cannot be read, or not to its end.

use std::io;

use super::MAX_PASSED_BYTES;
use crate::text::{FormatError, MAX_TRIPLES_BYTES};

/// The error of an input that cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The operating system refused.
    #[error("{name}: {cause}")]
    Io {
        /// The input.
        name: String,
        /// The system's error.
        cause: io::Error,
    },
    /// It holds no puzzle.
    #[error("{name} is empty.")]
    Empty {
        /// The input.
        name: String,
    },
    /// It became shorter while it was being read.
    #[error("{name} was cut short while it was being read. Run again when nothing writes to it.")]
    Shrunk {
        /// The input.
        name: String,
    },
    /// Its content changed while it was being read.
    #[error("{name} was changed while it was being read. Run again when nothing writes to it.")]
    Changed {
        /// The input.
        name: String,
    },
    /// Its compressed content is damaged or incomplete.
    #[error("{name} is damaged after {good_bytes} bytes of text: {cause}")]
    Damaged {
        /// The input.
        name: String,
        /// The bytes of text that could be decompressed.
        good_bytes: u64,
        /// The decompressor's error.
        cause: io::Error,
    },
    /// One puzzle, in a notation with several lines a puzzle, is longer than any puzzle can be.
    #[error("{name} has a puzzle that does not end within {MAX_TRIPLES_BYTES} bytes of line {line}.")]
    TooLong {
        /// The input.
        name: String,
        /// The line on which the puzzle begins.
        line: u64,
    },
    /// A line, be it a puzzle or a comment, is longer than [`MAX_PASSED_BYTES`].
    #[error("{name} has a line that does not end within {MAX_PASSED_BYTES} bytes: line {line}.")]
    Endless {
        /// The input.
        name: String,
        /// The line.
        line: u64,
    },
    /// It cannot be cut into shards, because its length is not known.
    #[error("{name} cannot be cut into parts, because its length is not known. {advice}")]
    NotShardable {
        /// The input.
        name: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// No format fits its text.
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl InputError {
    pub(super) fn io(name: &str, cause: io::Error) -> Self {
        Self::Io { name: name.to_owned(), cause }
    }

    /// Replaces the name of the input.
    #[must_use]
    pub fn renamed(mut self, other: &str) -> Self {
        match &mut self {
            Self::Io { name, .. }
            | Self::Empty { name }
            | Self::Shrunk { name }
            | Self::Changed { name }
            | Self::Damaged { name, .. }
            | Self::TooLong { name, .. }
            | Self::Endless { name, .. }
            | Self::NotShardable { name, .. } => other.clone_into(name),
            Self::Format(_) => {}
        }
        self
    }

    pub(super) fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == io::ErrorKind::OutOfMemory)
    }
}
