//! `sudoku docs`: the first part of docs/reference.md. `sudokud --docs` prints the second part.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::builder::Resettable;
use sudoku_stream::grid::{Conflict, Grid, Order, OutOfRange};
use sudoku_stream::input::InputError;
use sudoku_stream::text::{Problem, PuzzleError};

use crate::CommandLine;
use crate::cli::{exit, print};
use crate::reference;

const INTRODUCTION: &str = "\
# Reference

Every command and flag of `sudoku` and `sudokud`.
`just docs` writes this file from the programs, and a test compares the two; do not edit it.

`N` stands for a whole number from 1; a range is given where 0 or a largest value matters.
";

/// Runs `sudoku docs`.
pub fn run() -> anyhow::Result<ExitCode> {
    // The exit codes have tables of their own here.
    let command = CommandLine::command().after_long_help(Resettable::Reset);
    print::stdout(&format!(
        "{INTRODUCTION}\n{}\n{}\n{}\n{}",
        reference::commands(command),
        reference::table("## Exit codes of `sudoku`", ["code", "meaning"], &exit::MEANINGS),
        reference::table("What 1 means:", ["command", "meaning"], &exit::FINDINGS),
        error_codes(),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The codes of error lines with their sentences.
fn error_codes() -> String {
    let sentence = |error: &PuzzleError| InputError::Format(error.clone().into()).to_string();
    let rows: Vec<(&str, String)> = samples().iter().map(|error| (error.code(), sentence(error))).collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(code, sentence)| (*code, sentence.as_str())).collect();
    let table = reference::table("## Error codes", ["code", "sentence"], &rows);
    table.replacen(
        "\n\n",
        "\n\nAn answer that is an error is a line `error: ` and a sentence, or an object with the code and the sentence.\n\
         Programs should match on codes.\n\
         `Line 6` is the number of the puzzle's first line; without one the sentence begins with `The puzzle`.\n\n",
        1,
    )
}

/// One error for each sentence, in the order of [`Problem::CODES`].
fn samples() -> Vec<PuzzleError> {
    let conflict = |text: &str| -> Option<Conflict> { text.parse::<Grid>().ok()?.first_conflict() };
    let mut problems = vec![
        Problem::InvalidBlockSize,
        Problem::AmbiguousBlockSize,
        Problem::BlockSizeOrCount,
        Problem::Empty,
        Problem::WrongLength,
        Problem::WrongCellCount { cells: 80, order: Order::NINE },
        Problem::CellCount { cells: 80 },
        Problem::InvalidCharacter { character: "'q'".to_owned(), column: 41 },
        Problem::OutOfRange(OutOfRange { what: "row", value: 10, side: 9 }),
        Problem::NoSolution,
        Problem::NotUnique,
        Problem::WrongSolution(None),
        Problem::GaveUp { nodes: 1_000_000 },
        Problem::Internal,
    ];
    problems.extend(conflict("11..............").map(Problem::RuleBroken));
    problems.extend(Order::NINE.cell(1, 1).map(Problem::SetTwice));
    let mut errors: Vec<PuzzleError> =
        problems.into_iter().map(|problem| PuzzleError { problem, line: Some(6) }).collect();
    for error in &mut errors {
        // Only a puzzle by itself has a number of cells or is empty.
        if matches!(error.problem, Problem::CellCount { .. } | Problem::Empty) {
            error.line = None;
        }
    }
    errors.sort_by_key(|error| Problem::CODES.iter().position(|code| *code == error.code()));
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence() {
        let samples = samples();
        for code in Problem::CODES {
            assert!(samples.iter().any(|error| error.code() == code), "{code}");
        }
    }
}
