//! Bulk Sudoku solving.

pub mod grid;
pub mod solver;
