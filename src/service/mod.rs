//! The gRPC service: an adapter between the wire and [`crate::answer`] or [`crate::generate`], and nothing else.
//!
//! ```text
//!   connection ─▶ tonic ─▶ one file a kind of call ─▶ convert ─▶ pool ─▶ answer, generate
//!   (sockets)    (stream, unary, datasets, ..)   (proto to domain and back)
//! ```
//!
//! But for a puzzle or two that are done in a moment, searching never runs on the threads that move bytes: it goes to the
//! threads of `crew`. `ordered` keeps the answers of a stream in order and bounds what is on the way;
//! `context` holds what all calls share, with the limits on them; `observe` sees every call from around it, and
//! `refusal` makes the statuses of those that fail. [`Server`] puts it together and takes it down
//! again in the right order; [`client`] is the other end.

mod config;
mod context;
mod datasets;
mod metrics;
mod net;
mod rpc;
mod sched;
mod server;
pub(crate) mod wire;

pub use config::{Config, Limits};
pub use net::tls::{TlsError, TlsFiles};
pub use net::tokens::TokenError;
pub use sched::pools::PoolError;
pub use server::{Readiness, Reloader, Server, StartError, Stopped, transport};
pub use wire::proto;

/// The flow-control window of one HTTP/2 stream, on both ends. More only costs memory.
pub(crate) const STREAM_WINDOW_BYTES: u32 = 1 << 20;

/// The flow-control window of one HTTP/2 connection, on both ends. It is a promise, not memory: streams are
/// held back by their own windows. It is this large because h2 ends a connection on which more small unread
/// frames lie than half of it pays for, and one puzzle a message is a small frame.
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = 512 << 20;

/// The largest HTTP/2 frame, on both ends.
pub(crate) const FRAME_BYTES: u32 = 256 << 10;

/// How many errors of its peer's making a connection survives.
pub(crate) const LOCAL_ERROR_RESETS: usize = 1024;
