//! Forms of output: answers as text.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::{Answer, Found, RowForm};
use crate::grid::Grid;
use crate::solver::Question;
use crate::text::{ERROR_PREFIX, Format, GridLines, PuzzleError};

/// The form of an answer. In every form an answer takes whole lines, so answers can be
/// concatenated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OutputForm {
    /// The solution, or the count, or an error line. A count that stopped at its limit has a `+`
    /// behind it.
    #[default]
    Solution,
    /// The puzzle, a comma and the solution.
    Pair,
    /// A table with a heading row: the puzzle, and the solution or the error. For an input that is
    /// a table: its rows, with columns added.
    Csv,
    /// [`Self::Csv`] with tabs instead of commas.
    Tsv,
    /// A JSON object; for an input that is a table with the fields of its row.
    Jsonl,
    /// Rows with rulers, then a blank line.
    Grid,
    /// [`Self::Grid`] for a terminal: clues in bold, found cells in colour. It has no name.
    PaintedGrid,
    /// No text: the digits of the solution, one byte a cell, as arrays of NumPy have them; zeros in
    /// place of an error or a count. It takes no lines, and only files can be written so.
    Digits,
    /// [`Self::Csv`] as the columns of a file are made from: the heading is there even where the
    /// input has none, and a list has the columns of a table.
    Parquet,
}

impl OutputForm {
    /// All forms with a name, each with that name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("solution", Self::Solution),
        ("pair", Self::Pair),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("jsonl", Self::Jsonl),
        ("grid", Self::Grid),
    ];

    /// The forms that only files can have, each with its name.
    pub const OF_FILES: [(&'static str, Self); 2] = [("npy", Self::Digits), ("parquet", Self::Parquet)];

    /// The line above all answers to this question about the puzzles of a list, line end included,
    /// or nothing.
    #[must_use]
    pub const fn heading(self, question: Question) -> &'static str {
        match (self, question) {
            (Self::Csv, Question::Count { .. }) => "puzzle,count\n",
            (Self::Csv, _) => "puzzle,solution\n",
            (Self::Tsv, Question::Count { .. }) => "puzzle\tcount\n",
            (Self::Tsv, _) => "puzzle\tsolution\n",
            _ => "",
        }
    }

    /// The form of rows with columns, if it is one.
    #[must_use]
    pub const fn row_form(self) -> Option<RowForm> {
        match self {
            Self::Csv => Some(RowForm::Delimited(b',')),
            Self::Tsv => Some(RowForm::Delimited(b'\t')),
            Self::Jsonl => Some(RowForm::Json),
            Self::Parquet => Some(RowForm::Columns),
            Self::Solution | Self::Pair | Self::Grid | Self::PaintedGrid | Self::Digits => None,
        }
    }

    /// Whether the form contains the puzzle.
    pub(super) const fn shows_puzzles(self) -> bool {
        !matches!(self, Self::Solution | Self::Grid | Self::Digits)
    }

    /// Appends an answer to `out`, as for the puzzles of a list.
    pub fn write(self, answer: &Answer<'_>, format: &Format, out: &mut Vec<u8>) {
        match self {
            Self::Solution => match &answer.result {
                Err(error) => write_error_line(error, out),
                Ok(found) => write_found(*found, format, out),
            },
            Self::Pair => match (&answer.result, answer.puzzle) {
                (Ok(found), Some(puzzle)) => {
                    format.write_cells(puzzle, out);
                    out.push(b',');
                    write_found(*found, format, out);
                }
                (Ok(found), None) => write_found(*found, format, out),
                (Err(error), _) => write_error_line(error, out),
            },
            Self::Csv | Self::Tsv | Self::Parquet => {
                if let Some(puzzle) = answer.puzzle {
                    format.write_cells(puzzle, out);
                }
                out.push(if self == Self::Tsv { b'\t' } else { b',' });
                match &answer.result {
                    Ok(found) => write_found(*found, format, out),
                    Err(error) => {
                        // Quoted, because the sentence may contain any character of the input.
                        let sentence = format!("{ERROR_PREFIX}{error}").replace('"', "\"\"");
                        out.extend_from_slice(format!("\"{sentence}\"\n").as_bytes());
                    }
                }
            }
            Self::Jsonl => write_json(answer, format, out),
            Self::Digits => match &answer.result {
                Ok(Found::Solution(solution)) => out.extend_from_slice(solution.digits()),
                Ok(Found::Count { .. }) | Err(_) => out.resize(out.len() + format.order().cells(), 0),
            },
            Self::Grid | Self::PaintedGrid => {
                match &answer.result {
                    Ok(Found::Solution(solution)) => match answer.puzzle {
                        Some(puzzle) if self == Self::PaintedGrid => {
                            paint_grid(format, GridLines::Ruled, solution, puzzle, out);
                        }
                        _ => format.write_grid(solution, out),
                    },
                    Ok(found) => write_found(*found, format, out),
                    Err(error) => write_error_line(error, out),
                }
                out.push(b'\n');
            }
        }
    }
}

impl fmt::Display for OutputForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut named = Self::ALL.iter().chain(&Self::OF_FILES);
        f.write_str(named.find(|(_, form)| form == self).map_or("", |(name, _)| name))
    }
}

/// The error of an unknown output form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no form of output. Use solution, pair, csv, tsv, jsonl or grid.")]
pub struct NoOutputForm(String);

impl FromStr for OutputForm {
    type Err = NoOutputForm;

    fn from_str(text: &str) -> Result<Self, NoOutputForm> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, form)| form).ok_or_else(|| NoOutputForm(text.to_owned()))
    }
}

/// Writes a grid with the escape sequences of a terminal: bold where `clues` has a digit, green
/// elsewhere.
pub fn paint_grid(format: &Format, lines: GridLines, grid: &Grid, clues: &Grid, out: &mut Vec<u8>) {
    format.write_grid_with(lines, grid, out, |index, symbol, out| {
        let style: &[u8] = match (clues.digits()[index], grid.digits()[index]) {
            (_, 0) => b"\x1b[2m",
            (0, _) => b"\x1b[32m",
            _ => b"\x1b[1m",
        };
        out.extend_from_slice(style);
        out.push(symbol);
        out.extend_from_slice(b"\x1b[0m");
    });
}

fn write_error_line(error: &PuzzleError, out: &mut Vec<u8>) {
    out.extend_from_slice(ERROR_PREFIX.as_bytes());
    error.write_to(out);
    out.push(b'\n');
}

fn write_found(found: Found<'_>, format: &Format, out: &mut Vec<u8>) {
    match found {
        Found::Solution(solution) => format.write_line(solution.digits(), out),
        Found::Count { count, exact } => {
            let more = if exact { "" } else { "+" };
            out.extend_from_slice(format!("{count}{more}\n").as_bytes());
        }
    }
}

#[derive(Serialize)]
struct Json {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    puzzle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
}

#[derive(Serialize)]
struct JsonError {
    code: &'static str,
    message: String,
}

fn write_json(answer: &Answer<'_>, format: &Format, out: &mut Vec<u8>) {
    let cells = |grid| {
        let mut text = Vec::with_capacity(format.order().cells());
        format.write_cells(grid, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let mut json = Json {
        line: answer.line,
        puzzle: answer.puzzle.map(cells),
        solution: None,
        count: None,
        exact: None,
        error: None,
    };
    match &answer.result {
        Ok(Found::Solution(solution)) => json.solution = Some(cells(solution)),
        Ok(Found::Count { count, exact }) => (json.count, json.exact) = (Some(*count), Some(*exact)),
        Err(error) => json.error = Some(JsonError { code: error.code(), message: error.to_string() }),
    }
    // Cannot fail: strings and numbers always serialise, and the writer is a vector.
    let _ = serde_json::to_writer(&mut *out, &json);
    out.push(b'\n');
}
