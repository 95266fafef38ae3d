//! Networking: connections, and the layers around every call.
//!
//! | file | what it holds |
//! |---|---|
//! | `connection.rs` | accepting, handshake time-outs, lingering close |
//! | `handle.rs` | the handle by which a call closes its connection |
//! | `tls.rs` | certificates and keys |
//! | `observe.rs` | the outermost layer: request ids, spans, counting, completing statuses |
//! | `tokens.rs` | the layer that checks tokens |
//! | `framing.rs` | the layer that holds messages back until they are complete |
//! | `deadline.rs` | the client's deadline |
//!
//! **Invariant:** nothing here knows what a call asks for, so it holds for every method alike.

pub(crate) mod connection;
pub(crate) mod deadline;
pub(crate) mod framing;
pub(crate) mod handle;
pub(crate) mod observe;
pub(crate) mod tls;
pub(crate) mod tokens;
