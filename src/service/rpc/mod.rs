//! The methods of the service, one file for each method or family of methods.
//!
//! | file | methods |
//! |---|---|
//! | `stream/` | `SolveStream`, `SolveLines`, `Canonicalize` |
//! | `unary.rs` | `Solve`, `Validate`, `Check`, `Count` |
//! | `datasets.rs` | `ListDatasets`, `GetPuzzle`, `SolveDataset` |
//! | `trace.rs` | `Trace` |
//! | `hint.rs` | `Hint` |
//! | `by_hand.rs` | `Rate`, `Steps` |
//! | `generate.rs` | `Generate` |
//!
//! `ordered.rs` keeps the responses of a stream in order; `options.rs` reads the options of a
//! request, `text.rs` its text.
//!
//! **Invariant:** a method reads its request, submits its work to the pools of [`super::sched`],
//! and converts the outcome; it neither searches nor touches sockets itself. The one exception is
//! [`unary`]'s answer to a puzzle or two within a bound of nodes.

pub(crate) mod by_hand;
pub(crate) mod datasets;
pub(crate) mod generate;
pub(crate) mod hint;
mod options;
pub(crate) mod ordered;
pub(crate) mod stream;
mod text;
pub(crate) mod trace;
pub(crate) mod unary;

use tonic::{Response, Status};

/// The response to a call, or the status that the call ends with.
pub(crate) type CallResult<T> = Result<Response<T>, Status>;
