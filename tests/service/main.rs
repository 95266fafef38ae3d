//! The service, seen through real clients over loopback.

mod bulk;
mod datasets;
mod drain;
mod harness;
mod limits;
mod methods;
mod pressure;
mod streams;
mod transport;
