//! Compiles the wire contract. No protoc is needed: protox is a compiler in Rust.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message as _;

/// The fields that carry packed lines. As `Bytes` they are slices of the message that was received.
const PACKED_FIELDS: &[&str] = &[
    ".sudoku.v1.SolveStreamRequest.puzzles",
    ".sudoku.v1.SolveLinesRequest.lines",
    ".sudoku.v1.SolveLinesResponse.lines",
    ".sudoku.v1.SolveRequest.text",
    ".sudoku.v1.SolveDatasetResponse.lines",
    ".sudoku.v1.ValidateRequest.text",
    ".sudoku.v1.CheckRequest.text",
    ".sudoku.v1.CountRequest.text",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["sudoku/v1/sudoku.proto"], ["proto"])?;

    // Server reflection hands these out.
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("sudoku.v1.bin"), files.encode_to_vec())?;

    let mut config = tonic_prost_build::configure();
    for field in PACKED_FIELDS {
        config = config.bytes(field);
    }
    config.compile_fds(files)?;
    Ok(())
}
