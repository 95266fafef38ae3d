//! The extension module of the Python package `sudoku-stream`: what the wrappers in
//! `sudoku_stream/__init__.py` call.
//!
//! ```text
//!   list, array, Arrow ──▶ Puzzles ──blocks──▶ threads (the GIL released) ──▶ Column ──▶ list, array, Arrow
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `puzzles.rs` | puzzles as Python has them: digits in an array, or texts |
//! | `arrow.rs` | the Arrow C data interface, both ways; all `unsafe` code of the crate |
//! | `blocks.rs` | blocks of puzzles on threads, in order, until Ctrl-C |
//! | `column.rs` | results, one a puzzle |
//! | `run.rs` | the questions: solve, count, check, rate, generate |
//! | `error.rs` | errors as exceptions |

mod arrow;
mod blocks;
mod column;
mod error;
mod puzzles;
mod run;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::puzzles::Puzzles;
    #[pymodule_export]
    use super::run::{canon, check, count, make, rate, solve, solve_text};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
