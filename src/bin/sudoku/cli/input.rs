//! The input: its arguments, opening it, detecting its format.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use sudoku_stream::grid::Order;
use sudoku_stream::input::{Reader, STANDARD_INPUT, Source};
use sudoku_stream::text::{Alphabet, Hint, Notation};

use super::value;

/// One input, and how it is read.
#[derive(Clone, Args)]
pub struct InputArgs {
    /// Puzzles, also as .gz or .zst [default: `-`, standard input]
    #[arg(value_name = "FILE", default_value = STANDARD_INPUT, hide_default_value = true)]
    pub file: PathBuf,

    #[command(flatten)]
    pub format: FormatArgs,

    /// Read the file instead of mapping it into memory
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    pub no_mmap: bool,
}

impl InputArgs {
    /// A file in the format that was given.
    pub fn mapped(file: PathBuf, format: FormatArgs) -> Self {
        Self { file, format, no_mmap: false }
    }

    /// Opens the input.
    ///
    /// # Errors
    /// No file although standard input is a terminal, or the system's reasons.
    pub fn source(&self) -> anyhow::Result<Source> {
        let is_standard = self.file.as_os_str() == STANDARD_INPUT;
        if is_standard && io::stdin().is_terminal() && !std::env::args().any(|arg| arg == STANDARD_INPUT) {
            bail!("No file was named. Name one, or `-` to type puzzles and end with Ctrl-D.");
        }
        Ok(Source::open(&self.file, !self.no_mmap)?)
    }

    /// Opens the input and detects its format.
    ///
    /// # Errors
    /// Those of opening and detection.
    pub fn reader(&self) -> anyhow::Result<Reader> {
        self.detect(self.source()?)
    }

    /// Detects the format of an open input.
    ///
    /// # Errors
    /// Those of detection.
    pub fn detect(&self, source: Source) -> anyhow::Result<Reader> {
        Ok(source.read(&self.format.hint())?)
    }
}

/// The format, as far as the user gives it.
#[derive(Clone, Args)]
pub struct FormatArgs {
    /// Notation of the puzzles [default: auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input", value_parser = value::notation())]
    pub notation: Option<Notation>,

    /// Symbols of the values: letters, ascii, alpha, hex, or all of them in order [default:
    /// auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    pub alphabet: Option<Alphabet>,

    /// Side of the puzzles: 1, 4, 9, 16 or 25 [default: auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    #[arg(value_name = "SIDE", value_parser = value::side)]
    pub size: Option<Order>,
}

impl FormatArgs {
    /// The hint for detection.
    pub fn hint(&self) -> Hint {
        Hint { notation: self.notation, alphabet: self.alphabet.clone(), order: self.size }
    }
}
