//! The service for everyone who has HTTP: JSON and gRPC-Web beside gRPC, and the page.
//!
//! ```text
//!                            ┌── native gRPC ─────────────────────────────┐
//!   request ─ browser? ──────┤── gRPC-Web ── tonic-web ───────────────────┤
//!             foreign: 403   │── Connect, JSON or binary ── connect ──────┼─▶ the layers of `net`, `rpc`
//!                            └── GET ── page
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `gateway.rs` | the way of a request, by its content type |
//! | `connect.rs` | the Connect protocol: a request as a gRPC call, and its answer back |
//! | `envelope.rs` | messages in bodies, with the head of five bytes that gRPC and Connect share |
//! | `json.rs` | messages as JSON, from the description of the contract |
//! | `page.rs` | the files of the page |
//!
//! **Invariant:** whatever way a call comes in, it becomes a gRPC call before the first layer of
//! `net`. So ids, metrics, tokens, limits, deadlines, fairness and drain are the same for all.

mod connect;
mod envelope;
pub(crate) mod gateway;
pub(crate) mod json;
mod page;
