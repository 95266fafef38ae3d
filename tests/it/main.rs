//! The libraries and both programs from outside, one module a topic.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "figures of tests are small")]

mod bench;
mod cli;
mod explore;
mod failover;
mod files;
mod generate;
mod harness;
mod input;
mod lanes;
mod load;
mod notations;
mod notations_properties;
mod reference;
mod remote;
mod shell;
mod strategies;
mod sudokud;
mod trace;
