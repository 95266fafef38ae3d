//! The wire contract: messages, their codec, conversions to and from our own types, and statuses.
//!
//! **Invariant:** nothing here knows a server's state, so every function is a pure conversion. The
//! client and the load generator rely on it, because they use this module without a server.

pub(crate) mod codec;
pub(crate) mod convert;
pub(crate) mod line_count;
pub(crate) mod methods;
pub mod proto;
pub(crate) mod status;
