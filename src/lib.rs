//! Bulk Sudoku solving.

pub mod answer;
pub mod batch;
pub mod grid;
pub mod input;
pub mod pipeline;
pub mod solver;
pub mod text;
