//! Flow control of HTTP/2 connections, the same on both ends: windows, frames, resets.

/// The flow-control window of one HTTP/2 stream. A larger one costs memory and gains no throughput.
pub(crate) const STREAM_WINDOW_BYTES: u32 = 1 << 20;

/// The flow-control window of one HTTP/2 connection.
///
/// It is a promise, not memory, because streams are held back by their own windows. It is this
/// large because h2 ends a connection on which more small unread frames lie than half of it pays
/// for, and one puzzle a message is a small frame.
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = 512 << 20;

/// The largest HTTP/2 frame.
pub(crate) const FRAME_BYTES: u32 = 256 << 10;

/// The protocol errors of its peer's making that a connection survives.
pub(crate) const LOCAL_ERROR_RESETS: usize = 1024;
