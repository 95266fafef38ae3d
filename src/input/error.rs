//! Errors of inputs: why one cannot be read, or not to its end.

use std::io;

use super::MAX_PASSED_BYTES;
use crate::text::{FormatError, MAX_PUZZLE_BYTES, Misfit, Problem, PuzzleError};

/// The refusal of an input that is found only while it is read; ends what follows its name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct LateRefusal(pub(super) String);

impl LateRefusal {
    pub(super) fn error(what: impl Into<String>) -> io::Error {
        io::Error::other(Self(what.into()))
    }
}

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
    /// None of its first lines is a puzzle.
    #[error("{name} has no puzzles: {misfit}{}", advice(misfit))]
    NoPuzzle {
        /// The input.
        name: String,
        /// What it has instead.
        misfit: Misfit,
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
    /// It is something known that cannot be read, such as an image or an archive of several files.
    #[error("{name} {what}")]
    Foreign {
        /// The input.
        name: String,
        /// What it is, and what to do about it.
        what: String,
    },
    /// It is no text, although nothing known.
    #[error("{name} is no text: it has a zero byte at offset {offset}.")]
    NotText {
        /// The input.
        name: String,
        /// The bytes before it, of the uncompressed input.
        offset: u64,
    },
    /// One puzzle is longer than any puzzle can be: in a notation with several lines a puzzle, or on
    /// a line that was to be copied. Or a section of rows that are no puzzles, such as those of
    /// `[Solutions]`, is as long.
    #[error(
        "{name} has a puzzle or section that does not end within {MAX_PUZZLE_BYTES} bytes of line {line}."
    )]
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
    #[error("{}", with_flags(.0))]
    Format(FormatError),
}

// Its sentence is in that of the error, so it is no source.
impl From<FormatError> for InputError {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

/// The sentence of an error, and the flags of the program `sudoku` that mend it.
fn with_flags(error: &FormatError) -> String {
    match error {
        FormatError::Puzzle(PuzzleError { problem: Problem::AmbiguousBlockSize, .. }) => {
            format!("{error} If this is a list of 1x1 puzzles, say --notation lines.")
        }
        FormatError::AmbiguousLayout { .. } => {
            format!("{error} Say which with --column, --notation or --size.")
        }
        FormatError::Puzzle(PuzzleError { problem: Problem::BlockSizeOrCount, .. }) => format!(
            "{}, or say --notation lines, which reads it as a bad puzzle.",
            error.to_string().trim_end_matches('.')
        ),
        FormatError::AmbiguousAlphabet { from_zero } => {
            format!("{error} Say which with --alphabet {from_zero} or --alphabet letters.")
        }
        FormatError::AmbiguousLines => format!("{error} Say which with --notation lines or --notation grid."),
        FormatError::AmbiguousCells { .. } => {
            format!("{error} Say --column 2 for the last, or leave out the last column for the first.")
        }
        other => other.to_string(),
    }
}

/// How a text is read that has puzzles all the same, where it may have.
const fn advice(misfit: &Misfit) -> &'static str {
    if misfit.may_have_puzzles() {
        " If it does hold puzzles, say how they are written with --notation, --size, --column or --delimiter."
    } else {
        ""
    }
}

impl InputError {
    pub(super) fn io(name: &str, cause: io::Error) -> Self {
        Self::Io { name: name.to_owned(), cause }
    }

    /// The error of content that cannot be decoded further, behind `good_bytes` of text.
    pub(super) fn decoding(name: &str, good_bytes: u64, cause: io::Error) -> Self {
        let name = name.to_owned();
        match cause.get_ref().and_then(|cause| cause.downcast_ref::<LateRefusal>()) {
            Some(LateRefusal(what)) => Self::Foreign { name, what: what.clone() },
            None => {
                // The standard library's words are about buffers.
                let is_short = cause.kind() == io::ErrorKind::UnexpectedEof && cause.get_ref().is_none();
                let cause = if is_short { io::Error::new(cause.kind(), "it ends too early") } else { cause };
                Self::Damaged { name, good_bytes, cause }
            }
        }
    }

    /// Replaces the name of the input.
    #[must_use]
    pub fn renamed(mut self, other: &str) -> Self {
        match &mut self {
            Self::Io { name, .. }
            | Self::Empty { name }
            | Self::NoPuzzle { name, .. }
            | Self::Shrunk { name }
            | Self::Changed { name }
            | Self::Damaged { name, .. }
            | Self::Foreign { name, .. }
            | Self::NotText { name, .. }
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
