//! From arguments to an input.

use std::io::{self, IsTerminal as _};

use anyhow::bail;
use sudoku_stream::input::{Reader, STANDARD_INPUT, Source};

use super::args::InputArgs;

/// Opens the input that was named.
pub fn source(args: &InputArgs) -> anyhow::Result<Source> {
    let is_standard = args.file.as_os_str() == STANDARD_INPUT;
    if is_standard && io::stdin().is_terminal() && !std::env::args().any(|arg| arg == STANDARD_INPUT) {
        bail!("No file was named. Name one, or `-` to type puzzles and end with Ctrl-D.");
    }
    Ok(Source::open(&args.file, !args.no_mmap)?)
}

/// Opens the input that was named and finds out how it is written.
pub fn reader(args: &InputArgs) -> anyhow::Result<Reader> {
    read(source(args)?, args)
}

/// Finds out how an input is written.
pub fn read(source: Source, args: &InputArgs) -> anyhow::Result<Reader> {
    Ok(source.read(&args.hint())?)
}
