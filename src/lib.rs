//! A bulk Sudoku solver: puzzles in, solutions or error lines out, from a file and over a stream.
//!
//! ```text
//! bytes ─ text ─▶ puzzles ─ solver ─▶ outcomes ─ text ─▶ bytes
//!   ▲               (answer: one line in, one answer out)          │
//!   │                                                              ▼
//! input (memory map, pipe)         pipeline (ordered, bounded)   batch: a file, standard output
//! service (stream of messages)                                   service: stream of messages
//! ```
//!
//! Everything up to [`explore`] is pure and stands in the crate `sudoku-core`, which has a handful of dependencies; it is
//! re-exported here, so that one name will do. The modules in reading order; each may use those before it and none after it
//! (`tests/walls.rs` sees to that).
//!
//! | module | what it is |
//! |---|---|
//! | [`grid`] | orders, cells, houses, grids, the rules |
//! | [`text`] | every notation in and out, the sentences of errors |
//! | [`solver`] | strategies |
//! | [`answer`] | a puzzle in, an answer out |
//! | [`generate`] | puzzle making |
//! | [`explore`] | experiments over boards that are made for them |
//! | [`origin`] | what the program was built from |
//! | [`pipeline`] | ordered, bounded jobs on a thread pool |
//! | [`input`] | files and streams in chunks of whole puzzles |
//! | [`batch`] | a file through the pipeline |
//! | [`service`] | messages through the pipeline |

#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

pub use sudoku_core::{
    Answers, SolveError, answer, answers, count_solutions, explore, generate, grid, solve, solve_unique,
    solver, text,
};

pub mod build_info;
pub mod client;
pub mod input;
pub mod load;
pub mod offline;
pub mod pipeline;
pub mod service;
