//! A Sudoku solver for many puzzles at once: everything that needs no files, sockets, clock or threads.
//!
//! ```text
//! bytes ─ text ─▶ puzzles ─ solver ─▶ outcomes ─ text ─▶ bytes
//!         (answer: one line in, one answer out)
//! ```
//!
//! The modules in reading order; each may use those before it and none after it.
//!
//! | module | what it is |
//! |---|---|
//! | [`grid`] | orders, cells, houses, grids, the rules |
//! | [`text`] | every notation in and out, the sentences of errors |
//! | [`solver`] | strategies |
//! | [`answer`] | a puzzle in, an answer out |
//! | [`generate`] | puzzle making |
//! | [`explore`] | experiments over boards that are made for them |

#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

pub mod answer;
pub mod explore;
pub mod generate;
pub mod grid;
pub mod solver;
pub mod text;
