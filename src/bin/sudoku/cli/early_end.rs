//! The early end of a run: an interrupt, an output that nobody reads any more, or an error.

use std::process::ExitCode;

use super::interrupt;

/// Why a run ends without its report.
pub enum EarlyEnd {
    /// It was interrupted, or nobody reads its output any more. Whoever has to know has been told.
    Reported(ExitCode),
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

    /// The exit code of the run.
    ///
    /// # Errors
    /// The error that ended it.
    pub fn exit_code(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Reported(code) => Ok(code),
            Self::Failed(error) => Err(error),
        }
    }
}
