//! The service, seen through real clients over loopback.

#![expect(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a panic is how a test fails")]

#[path = "../common/authority.rs"]
mod authority;
mod bulk;
mod client;
mod datasets;
mod drain;
mod errors;
mod generate;
mod guards;
mod harness;
mod limits;
mod methods;
mod observe;
mod pressure;
mod streams;
mod trace;
mod transport;
