//! Errors as Python exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sudoku_core::SolveError;
use sudoku_core::text::{FormatError, PuzzleError};

/// The exception of a bad puzzle: `sudoku_stream.PuzzleError` with its sentence, code and line.
pub fn puzzle_error(py: Python<'_>, error: &PuzzleError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, "sudoku_stream._errors", "PuzzleError") {
        Ok(class) => PyErr::from_type(class.clone(), (error.to_string(), error.code(), error.line)),
        Err(error) => error,
    }
}

/// The exception of puzzles that cannot be read at all: a [`PyValueError`], because an argument
/// mends it.
pub fn format_error(py: Python<'_>, error: &FormatError) -> PyErr {
    match error {
        FormatError::Puzzle(error) => puzzle_error(py, error),
        FormatError::AmbiguousAlphabet { from_zero } => PyValueError::new_err(format!(
            "The puzzles fit the alphabets {from_zero} and letters, which read their 0 differently: as the value \
             1, or as a blank. Say which with alphabet=\"{from_zero}\" or alphabet=\"letters\".",
        )),
        other => PyValueError::new_err(other.to_string()),
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
