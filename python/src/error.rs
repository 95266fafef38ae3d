//! Errors as Python exceptions.

use std::fmt::Display;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sudoku_core::SolveError;
use sudoku_core::text::{FormatError, PuzzleError};

/// What the library says to set by flags of the program `sudoku`, and the arguments that do it here.
const ADVICE: [(&str, &str); 6] = [
    (", or say --notation lines, which reads it as a bad puzzle", ""),
    ("say --notation lines", "use solve_many"),
    (
        "Say which with --notation lines or --notation grid",
        "Use solve_many for 4x4 puzzles, or write a 16x16 puzzle on one line",
    ),
    ("with --alphabet ", "with alphabet=\""),
    (" or --alphabet letters", "\" or alphabet=\"letters\""),
    (
        "Say --column 2 for the last, or leave out the last column for the first",
        "Leave out the first column or the last one",
    ),
];

/// A sentence of the library without flags.
fn without_flags(error: &impl Display) -> String {
    ADVICE.iter().fold(error.to_string(), |sentence, (flags, advice)| sentence.replace(flags, advice))
}

/// The exception of a bad puzzle: `sudoku_stream.PuzzleError` with its sentence, code and line.
pub fn puzzle_error(py: Python<'_>, error: &PuzzleError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, "sudoku_stream._errors", "PuzzleError") {
        Ok(class) => PyErr::from_type(class.clone(), (without_flags(error), error.code(), error.line)),
        Err(error) => error,
    }
}

/// The exception of puzzles that cannot be read at all: a [`PyValueError`], because an argument
/// mends it.
pub fn format_error(py: Python<'_>, error: &FormatError) -> PyErr {
    match error {
        FormatError::Puzzle(error) => puzzle_error(py, error),
        other => PyValueError::new_err(without_flags(other)),
    }
}

/// The exception of a puzzle by itself.
pub fn solve_error(py: Python<'_>, error: &SolveError) -> PyErr {
    match error {
        SolveError::Puzzle(error) => puzzle_error(py, error),
        SolveError::Format(error) => format_error(py, error),
        SolveError::Several => {
            PyValueError::new_err("The text has more than one puzzle. Use solve_many for several.")
        }
        other => PyValueError::new_err(other.to_string()),
    }
}
