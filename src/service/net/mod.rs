//! Connections and what surrounds every call: accepting, TLS, tokens, framing, deadlines, observation.
//!
//! **Invariant:** nothing here knows what a call asks for, so it holds for every method alike.

pub(crate) mod connection;
pub(crate) mod deadline;
pub(crate) mod framing;
pub(crate) mod handle;
pub(crate) mod observe;
pub(crate) mod tls;
pub(crate) mod tokens;
