//! Networking: connections, and the layers around every call.
//!
//! | file | what it holds |
//! |---|---|
//! | `listen.rs` | addresses to listen on |
//! | `connection.rs` | accepting, handshake time-outs, lingering close |
//! | `capacity.rs` | which connections have a place, and which make way |
//! | `http1.rs`, `http2.rs` | HTTP/1.1 and HTTP/2 connections |
//! | `http1_heads.rs` | what is refused of HTTP/1.1 although the transport would read it |
//! | `control_frames.rs` | how many control frames of HTTP/2 a client may send |
//! | `origin.rs` | which pages of browsers may call |
//! | `handle.rs` | who is at the other end of a connection, and what it does, and how it is closed |
//! | `tls.rs`, `files.rs` | certificates and keys; reading such files |
//! | `observe.rs` | the outermost layer: request ids, spans, counting, completing statuses |
//! | `grpc_only.rs` | the layer that refuses what is not gRPC |
//! | `admission.rs` | the layer that lets calls in: tokens, limits and shares |
//! | `tokens.rs` | who has which token, and how much they may have |
//! | `call.rs` | what is known of a call that is open |
//! | `framing.rs` | the layer that holds messages back until they are complete |
//! | `unpack.rs` | the same for compressed messages, until they are unpacked |
//! | `deadline.rs` | the client's deadline |
//! | `drain.rs` | the bodies of requests that are refused |
//!
//! **Invariant:** nothing here knows what a call asks for, so it holds for every method alike.

pub(crate) mod admission;
pub(crate) mod call;
pub(crate) mod capacity;
pub(crate) mod connection;
mod control_frames;
pub(crate) mod deadline;
pub(crate) mod drain;
mod files;
pub(crate) mod framing;
pub(crate) mod grpc_only;
pub(crate) mod handle;
pub(crate) mod http1;
mod http1_heads;
pub(crate) mod http2;
pub(crate) mod listen;
pub(crate) mod observe;
pub(crate) mod origin;
pub(crate) mod tls;
pub(crate) mod tokens;
pub(crate) mod unpack;
