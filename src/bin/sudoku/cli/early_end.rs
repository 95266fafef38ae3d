//! The end of a run and its exit code, where it may end early: by an interrupt, an error, or because
//! nobody reads its output any more.

use std::process::ExitCode;

use sudoku_stream::offline::{self, OutputError};

use super::interrupt;

/// Why a run ends without its report.
pub enum EarlyEnd {
    /// It was interrupted, and has said so.
    Reported(ExitCode),
    /// It has failed, or nobody reads its output any more.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for EarlyEnd {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl EarlyEnd {
    /// An interrupt before anything was written.
    pub fn before_first_puzzle() -> Self {
        Self::Reported(interrupt::report("Stopped before the first puzzle"))
    }
}

/// The exit code of a run that is over, where `code` is that of what it has found. It also has that
/// code if its output is a closed pipe, because the reader of that has seen enough.
///
/// # Errors
/// The error that ended it.
pub fn exit_code(ended: Result<(), EarlyEnd>, code: ExitCode) -> anyhow::Result<ExitCode> {
    match ended {
        Ok(()) => Ok(code),
        Err(EarlyEnd::Reported(code)) => Ok(code),
        Err(EarlyEnd::Failed(error)) if is_closed_pipe(&error) => Ok(code),
        Err(EarlyEnd::Failed(error)) => Err(error),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(OutputError::is_closed_pipe)
        || error.downcast_ref().is_some_and(offline::is_closed_pipe)
}
