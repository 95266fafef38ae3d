//! The wire contract, compiled from `proto/sudoku/v1/sudoku.proto`.

// Generated code follows its own rules.
#![allow(missing_docs, unused_qualifications, clippy::all, clippy::pedantic)]

tonic::include_proto!("sudoku.v1");

/// The compiled description of the contract, for server reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sudoku.v1.bin"));
