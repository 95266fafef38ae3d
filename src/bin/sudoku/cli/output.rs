//! Where answers and puzzles are written.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;

/// The OUT that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// The output file.
#[derive(Clone, Args)]
pub struct OutputArgs {
    /// Write to OUT [default: standard output]
    ///
    /// OUT is complete or absent, because the text is written beside it and renamed at the end.
    /// `-` is standard output.
    #[arg(short, long, value_name = "OUT")]
    output_file: Option<PathBuf>,

    /// Sync OUT and its folder to the disk before the end
    #[arg(long, hide_short_help = true)]
    pub durable: bool,
}

impl OutputArgs {
    /// The output file; `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.output_file.as_deref().filter(|path| path.as_os_str() != STANDARD_OUTPUT)
    }

    /// Does the output go to a terminal?
    pub fn is_terminal(&self) -> bool {
        self.path().is_none() && io::stdout().is_terminal()
    }
}
