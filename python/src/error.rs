//! Errors as Python exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sudoku_core::SolveError;
use sudoku_core::text::{FormatError, Problem, PuzzleError};

/// The exception of a bad puzzle: `sudoku_stream.PuzzleError` with its sentence, code and line.
pub fn puzzle_error(py: Python<'_>, error: &PuzzleError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let mut sentence = error.to_string();
    if error.problem == Problem::AmbiguousBlockSize {
        sentence += " If this is a list of 1x1 puzzles, use solve_many.";
    }
    match CLASS.import(py, "sudoku_stream._errors", "PuzzleError") {
        Ok(class) => PyErr::from_type(class.clone(), (sentence, error.code(), error.line)),
        Err(error) => error,
    }
}

/// The exception of puzzles that cannot be read at all: a [`PyValueError`], because an argument
/// mends it.
pub fn format_error(py: Python<'_>, error: &FormatError) -> PyErr {
    PyValueError::new_err(match error {
        FormatError::Puzzle(error) => return puzzle_error(py, error),
        FormatError::AmbiguousAlphabet { from_zero } => {
            format!("{error} Say which with alphabet=\"{from_zero}\" or alphabet=\"letters\".")
        }
        FormatError::AmbiguousLines => {
            format!("{error} Use solve_many for 4x4 puzzles, or write a 16x16 puzzle on one line.")
        }
        FormatError::AmbiguousCells { .. } => format!("{error} Leave out the first column or the last one."),
        other => other.to_string(),
    })
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
