//! The service: an adapter between the wire and [`crate::answer`] or [`crate::generate`].
//!
//! ```text
//!   http ─────────▶ net ──────────▶ rpc ──────────▶ sched ─────────▶ answer, generate
//!   JSON, gRPC-Web  ids, tokens,    one file a      worker pools,
//!   and the page    framing         method          time slices
//!                                    └── wire: messages and their conversions, statuses
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `wire` | messages, their codec, conversions to our own types, statuses |
//! | `metrics` | what the server counts |
//! | `flow_control` | HTTP/2 windows and frames, the same on both ends |
//! | `net` | accepting, TLS, origins, tokens, framing, deadlines, observation |
//! | `sched` | worker pools, time slices, fairness |
//! | `datasets` | the data sets on the server's disk |
//! | `http` | JSON and gRPC-Web as gRPC calls, the page |
//! | `config` | the configuration and its defaults |
//! | `context` | what all calls share, with the limits on them |
//! | `rpc` | the methods; `rpc::ordered` keeps the answers of a stream in order |
//! | `server` | [`Server`]: puts it together, and takes it down again in the right order |
//!
//! Each module may use those above it (`tests/walls.rs`). [`crate::client`] is the other end.
//!
//! **Invariant:** searching never runs on the threads that move bytes, except for a puzzle or two
//! that take microseconds. So a slow search delays neither other calls nor health checks.

mod config;
mod context;
mod datasets;
pub(crate) mod flow_control;
mod http;
mod metrics;
mod net;
mod rpc;
mod sched;
mod server;
pub(crate) mod wire;

pub use config::{Config, Limits};
pub use net::listen::ListenAddress;
pub use net::observe::{CallObserver, CallRecord};
pub use net::origin::Origin;
pub use net::tls::{TlsError, TlsFiles};
pub use net::tokens::{TokenError, first_token};
pub use sched::pools::PoolError;
pub use server::{ChangedLimits, Readiness, ReadyState, Reloader, ServeError, Server, StartError, Stopped};
pub use wire::proto;
