//! The methods of the service, one file a method or a family of methods.
//!
//! **Invariant:** a method reads its request, puts its work on the pools of [`super::sched`], and converts the outcome; it
//! neither searches nor touches sockets itself.

pub(crate) mod datasets;
pub(crate) mod generate;
mod options;
pub(crate) mod ordered;
pub(crate) mod stream;
pub(crate) mod trace;
pub(crate) mod unary;
