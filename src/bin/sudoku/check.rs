//! `sudoku check`: which cells of full or partly filled grids break which rule.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use sudoku_stream::answer::{Check, check_block};

use crate::cli::input::InputArgs;
use crate::cli::{exit, print};

/// The most flaws of one grid that are printed.
const MAX_FLAWS_SHOWN: usize = 10;

const EXAMPLES: &str = "\
Examples:
  sudoku check grids.txt
  sudoku solve puzzles.txt --output csv | sudoku check -

In csv, each solution is checked against the puzzle beside it.

Exit codes: 0, every grid is correctly solved; 1, some are not; 2, the input cannot be read.";

/// Arguments of `sudoku check`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `sudoku check`.
pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut reader = args.input.reader()?;
    let format = reader.format().clone();
    let mut all_solved = true;
    // A single grid is called "The puzzle", so the first report waits for a second grid or the end.
    let mut first: Option<Check> = None;
    let mut grids = 0u64;
    while let Some(chunk) = reader.next_chunk()? {
        let mut report = String::new();
        check_block(&format, chunk.block(), |check| {
            grids += 1;
            all_solved &= check.is_solved();
            if grids == 1 {
                first = Some(check.clone());
                return;
            }
            if let Some(first) = first.take() {
                describe(&first, &mut report);
            }
            describe(check, &mut report);
        });
        print::stdout(&report)?;
    }
    if let Some(mut only) = first {
        only.line = None;
        if let Some(error) = &mut only.error {
            error.line = None;
        }
        let mut report = String::new();
        describe(&only, &mut report);
        print::stdout(&report)?;
    }
    Ok(if all_solved { ExitCode::SUCCESS } else { ExitCode::from(exit::ERRORS_SEEN) })
}

/// Appends the verdict on a grid, and below it its flaws and blank cells.
pub fn describe(check: &Check, report: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(report, "{check}");
    for flaw in check.flaws.iter().take(MAX_FLAWS_SHOWN) {
        let _ = writeln!(report, "  {flaw}");
    }
    if check.flaws.len() > MAX_FLAWS_SHOWN {
        let _ = writeln!(report, "  and {} more", check.flaws.len() - MAX_FLAWS_SHOWN);
    }
    if check.blanks > 0 {
        let _ = writeln!(report, "  {} to fill", print::counted(check.blanks as u64, "blank cell"));
    }
    if check.flaws.is_empty() && check.blanks > 0 && check.error.is_none() {
        let _ = writeln!(report, "  no rule is broken so far");
    }
}
