//! Bulk Sudoku solving.

pub mod answer;
pub mod grid;
pub mod pipeline;
pub mod service;
pub mod solver;
pub mod text;
