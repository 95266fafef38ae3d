//! `sudoku check`.

use std::fmt::Write as _;
use std::process::ExitCode;

use sudoku_stream::answer::{Check, check_block};

use super::args::CheckArgs;
use super::{EXIT_ERRORS_SEEN, open, view};

/// How many of the things that are wrong with one grid are named.
const MAX_FLAWS_SHOWN: usize = 10;

pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut reader = open::reader(&args.input)?;
    let format = reader.format().clone();
    let mut all_solved = true;
    // One grid by itself is spoken of as "The puzzle"; that takes knowing whether a second follows.
    let mut first: Option<Check> = None;
    let mut seen = 0u64;
    while let Some(chunk) = reader.next_chunk()? {
        let mut report = String::new();
        check_block(&format, chunk.block(), |check| {
            seen += 1;
            all_solved &= check.is_solved();
            if seen == 1 {
                first = Some(check.clone());
                return;
            }
            if let Some(first) = first.take() {
                describe(&first, &mut report);
            }
            describe(check, &mut report);
        });
        view::print(&report)?;
    }
    if let Some(mut only) = first {
        only.line = None;
        if let Some(error) = &mut only.error {
            error.line = None;
        }
        let mut report = String::new();
        describe(&only, &mut report);
        view::print(&report)?;
    }
    Ok(if all_solved { ExitCode::SUCCESS } else { ExitCode::from(EXIT_ERRORS_SEEN) })
}

/// The sentence, and below it what is wrong or missing.
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
        let _ = writeln!(report, "  {} to fill", view::counted(check.blanks as u64, "blank cell"));
    }
    if check.flaws.is_empty() && check.blanks > 0 && check.error.is_none() {
        let _ = writeln!(report, "  no rule is broken so far");
    }
}
