//! A Sudoku solver for many puzzles at once: everything that needs no files, sockets, clock or threads.
//!
//! ```
//! let puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
//! let solution = sudoku_core::solve_unique(puzzle)?;
//! println!("{solution:#}"); // nine rows with rulers; `{}` is one line
//!
//! // Hundreds of puzzles are searched side by side: a text of many is answered far faster than one after another.
//! let list = format!("{puzzle}\n{}\n", puzzle.replace('5', "."));
//! for answer in sudoku_core::answers(&list)? {
//!     println!("{}", answer?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
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
//!
//! [`solve`], [`solve_unique`], [`count_solutions`] and [`answers`] are the short way through them.

#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

pub mod answer;
pub mod explore;
pub mod generate;
pub mod grid;
mod simd;
mod solve;
pub mod solver;
pub mod text;

pub use solve::{Answers, SolveError, answers, count_solutions, solve, solve_unique};
