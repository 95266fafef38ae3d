//! Scheduling: thread pools for searches, time slices, and fairness between calls.
//!
//! **Invariant:** nothing here knows messages or connections; work is a closure over one job.

pub(crate) mod pools;
mod time_slice;
