//! Scheduling: thread pools for searches, time slices, and fairness between clients.
//!
//! **Invariant:** nothing here knows messages or connections; work is a closure over one job. So
//! the rules of fairness hold for every method alike.

pub(crate) mod pools;
mod time_slice;
pub(crate) mod turns;
