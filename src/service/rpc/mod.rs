//! The methods of the service, one file for each method or family of methods.
//!
//! | file | methods |
//! |---|---|
//! | `stream/` | `SolveStream`, `SolveLines` |
//! | `unary.rs` | `Solve`, `Validate`, `Check`, `Count` |
//! | `datasets.rs` | `ListDatasets`, `GetPuzzle`, `SolveDataset` |
//! | `trace.rs` | `Trace` |
//! | `generate.rs` | `Generate` |
//!
//! `ordered.rs` keeps the responses of a stream in order; `options.rs` reads the options of a
//! request.
//!
//! **Invariant:** a method reads its request, submits its work to the pools of [`super::sched`],
//! and converts the outcome; it neither searches nor touches sockets itself. The one exception is
//! [`unary`]'s answer to a puzzle or two within a bound of nodes.

pub(crate) mod datasets;
pub(crate) mod generate;
mod options;
pub(crate) mod ordered;
pub(crate) mod stream;
pub(crate) mod trace;
pub(crate) mod unary;
