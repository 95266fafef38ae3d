//! The libraries and both programs from outside, one module a topic.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "figures of tests are small")]

mod arguments;
mod arrays;
mod bench;
mod by_hand;
mod check;
mod cli;
mod columns;
mod containers;
mod coprocess;
mod deploy;
mod documents;
mod exit_codes;
mod explore;
mod failover;
mod files;
mod filter;
mod forms;
mod generate;
mod harness;
mod http;
mod input;
mod join;
mod lanes;
mod listening;
mod load;
mod notations;
mod notations_properties;
mod page;
mod reference;
mod remote;
mod resume;
mod round_trips;
mod sheet;
mod shell;
mod solutions;
mod strategies;
mod sudokud;
mod symmetry;
mod terminal;
mod texts;
mod trace;
mod words;
