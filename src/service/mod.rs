//! The gRPC service: an adapter between the wire and [`crate::answer`], and nothing else.
//!
//! ```text
//!   connection ─▶ tonic ─▶ stream / unary / datasets / trace ─▶ convert ─▶ pool ─▶ answer
//!   (sockets)             (one file a kind of call)    (proto to domain and back)
//! ```
//!
//! Searching never runs on the threads that move bytes: it goes to the pool through
//! [`crate::pipeline::submit`]. `ordered` keeps the answers of a stream in order and bounds what is on the way;
//! `context` holds what all calls share, with the limits on them. [`Server`] puts it together and takes it down
//! again in the right order; [`client`] is the other end.

pub mod client;
pub mod proto;

mod auth;
mod config;
mod connection;
mod context;
mod convert;
mod datasets;
mod deadline;
mod opening;
mod ordered;
mod server;
mod stream;
mod tls;
mod trace;
mod unary;

pub use auth::TokenError;
pub use config::{Config, Limits};
pub use server::{Reloader, Server, StartError, Stopped};
pub use tls::{TlsError, TlsFiles};

/// The flow-control window of one HTTP/2 stream, on both ends. More only costs memory.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;

/// The flow-control window of one HTTP/2 connection, on both ends. It is a promise, not memory: streams are
/// held back by their own windows. It is this large because h2 ends a connection on which more small unread
/// frames lie than half of it pays for, and one puzzle a message is a small frame.
const CONNECTION_WINDOW_BYTES: u32 = 512 << 20;

/// The largest HTTP/2 frame, on both ends.
const FRAME_BYTES: u32 = 256 << 10;

/// How many errors of its peer's making a connection survives.
const LOCAL_ERROR_RESETS: usize = 1024;
