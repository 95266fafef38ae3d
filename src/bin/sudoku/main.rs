//! `sudoku`, the offline companion: the service's own pipeline over files.

mod args;
mod bench;
mod check;
mod demo;
mod explore;
mod interrupt;
mod open;
mod remote;
mod show;
mod solve;
mod validate;
mod view;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Args, Command};

/// The run completed, but there were error lines and they were to count.
const EXIT_ERRORS_SEEN: u8 = 1;
/// Two ways to find the same thing gave different answers, or one gave a wrong one.
const EXIT_DISAGREED: u8 = 1;
/// The run could not start or not come to its end.
const EXIT_FAILED: u8 = 2;
/// The run was stopped by a signal: 128 and the number of SIGINT, as shells have it.
const EXIT_INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Solve(args) => solve::run(&args),
        Command::Count(args) => solve::run(&args.into()),
        Command::Validate(args) => validate::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Demo(args) => demo::run(&args),
    };
    result.unwrap_or_else(|error| {
        view::complain(&format!("{error:#}"));
        ExitCode::from(EXIT_FAILED)
    })
}
