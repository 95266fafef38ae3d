//! A Sudoku solver for single puzzles and for millions of them: notations, search strategies, a
//! bit-sliced 9x9 kernel, puzzle making. It needs no files, sockets, clock or threads.
//!
//! ```
//! let puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
//! let solution = sudoku_core::solve_unique(puzzle)?;
//! println!("{solution:#}"); // nine rows with rulers; `{}` is one line
//!
//! // Hundreds of puzzles are searched at once, far faster than one after another.
//! let list = format!("{puzzle}\n{}\n", puzzle.replace('5', "."));
//! for answer in sudoku_core::answers(&list)? {
//!     println!("{}", answer?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`solve()`], [`solve_unique`], [`count_solutions`], [`solutions`] and [`answers`] take text in any notation and
//! of any size from 1x1 to 25x25. The modules offer more control. Each uses only those above it:
//!
//! | module | content |
//! |---|---|
//! | [`grid`] | orders, cells, houses, grids, the rules |
//! | [`text`] | notations, auto-detection, errors of puzzles |
//! | [`solver`] | search strategies; [`solver::lanes`] is the 9x9 kernel |
//! | [`techniques`] | the steps of a person, their reasons and ratings |
//! | [`canon`] | canonical forms: the same text for puzzles that are the same but for symmetry |
//! | [`answer`] | text in, answers out; validation, checks, the next step by hand |
//! | [`generate`] | puzzle making |
//! | [`explore`] | experiments: what searches cost, on boards made for them |
//!
//! ```text
//! bytes ─ text ─▶ puzzles ─ solver ─▶ results ─ text ─▶ bytes
//!         (answer: all three steps for a block of text)
//! ```

#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

pub mod answer;
pub mod canon;
#[doc(hidden)]
pub mod counted;
pub mod explore;
pub mod generate;
pub mod grid;
#[doc(hidden)]
pub mod poison;
mod simd;
mod solve;
pub mod solver;
pub mod techniques;
#[cfg(test)]
mod testing;
pub mod text;

pub use solve::{Answers, SolveError, answers, count_solutions, read_single, solutions, solve, solve_unique};
