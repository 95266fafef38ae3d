//! Every fault that the programs must survive, made to happen to the built programs, from outside.
//!
//! Each is a test as any other: `cargo test --test faults -- "row 16"` runs those of one row. At
//! the end a table shows what was seen. A run of all rows writes it to the file that `FAULTS_FILE`
//! names: `just faults` writes `docs/reliability.md`.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod blame;
mod clients;
mod clock;
mod code;
mod companion;
mod cores;
mod crowd;
mod datasets;
mod door;
mod ending;
mod fairness;
mod guards;
#[path = "../it/harness.rs"]
mod harness;
mod input;
mod limits;
mod messages;
mod output;
mod panics;
mod protocol;
mod row;
mod secrets;
mod soak;
mod starting;
mod supply;
mod traffic;
mod web;
mod wire;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use libtest_mimic::Arguments;

use row::Row;

/// All rows, by what they are about. Those that want the machine for themselves stand behind all
/// others, because none starts while one of them waits. The table is in the order of their numbers.
fn rows() -> Vec<Row> {
    [
        input::rows(),
        protocol::rows(),
        messages::rows(),
        clients::rows(),
        web::rows(),
        guards::rows(),
        panics::rows(),
        limits::rows(),
        output::rows(),
        ending::rows(),
        starting::rows(),
        secrets::rows(),
        clock::rows(),
        datasets::rows(),
        supply::rows(),
        code::rows(),
        blame::rows(),
        fairness::rows(),
        crowd::rows(),
        door::rows(),
        soak::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = rows().into_iter().map(Row::into_trial).collect();
    let is_list = arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if is_list {
        return conclusion.exit_code();
    }
    println!("\n{}", row::table());
    println!(
        "{} rows passed, {} failed, {} SKIPPED",
        conclusion.num_passed, conclusion.num_failed, conclusion.num_ignored
    );
    if let Some(file) = row::recorded_to() {
        if conclusion.num_filtered_out > 0 {
            eprintln!("{} is not written: not all rows were run.", Path::new(&file).display());
            return ExitCode::FAILURE;
        }
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(file), row::document()).unwrap();
    }
    conclusion.exit_code()
}
