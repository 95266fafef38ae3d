//! A bulk Sudoku solver: puzzles in, solutions or error lines out, from a file and over a stream.
//!
//! ```text
//! bytes ─ text ─▶ puzzles ─ solver ─▶ outcomes ─ text ─▶ bytes
//!   ▲               (answer: one line in, one answer out)          │
//!   │                                                              ▼
//! input (memory map, pipe)         pipeline (ordered, bounded)   offline: a file, standard output
//! service (stream of messages)                                   service: stream of messages
//! ```
//!
//! Everything up to [`explore`] is pure and lives in the crate `sudoku-core`, which has a handful
//! of dependencies; it is re-exported here, so one crate name suffices. The modules are listed in
//! reading order.
//!
//! **Invariant:** a module uses only modules above it (`tests/walls.rs` checks that).
//!
//! | module | what it is |
//! |---|---|
//! | [`grid`] | orders, cells, houses, grids, the rules |
//! | [`text`] | every notation in and out, the sentences of errors |
//! | [`solver`] | strategies |
//! | [`techniques`] | the steps of a person, their reasons and ratings |
//! | [`canon`] | disguises, canonical forms |
//! | [`answer`](mod@answer) | a puzzle in, an answer out |
//! | [`generate`] | puzzle making |
//! | [`explore`] | experiments over boards that are made for them |
//! | [`pipeline`] | ordered, bounded jobs on a thread pool |
//! | [`input`] | files and streams in chunks of whole puzzles |
//! | [`offline`] | a file through the pipeline |
//! | [`service`] | the gRPC server: messages through the pipeline |
//! | [`client`] | lines solved on one server or several |
//! | [`load`] | load for a server, with every answer checked |

#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

pub use sudoku_core::{
    Answers, SolveError, answer, answers, canon, count_solutions, explore, generate, grid, solutions, solve,
    solve_unique, solver, techniques, text,
};

#[doc(hidden)]
pub use sudoku_core::{counted, poison};

#[doc(hidden)]
pub mod build_info;
pub mod client;
pub mod input;
pub mod load;
pub mod offline;
pub mod pipeline;
pub mod service;
