//! The wire contract: messages, their codec, conversions from and to our own types, and statuses.
//!
//! **Invariant:** nothing here knows a server's state, so every function is a pure conversion.

pub(crate) mod codec;
pub(crate) mod convert;
pub(crate) mod line_count;
pub mod proto;
pub(crate) mod status;
