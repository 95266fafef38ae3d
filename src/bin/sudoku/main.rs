//! `sudoku`, the offline companion: the service's own pipeline over files.

mod args;
mod bench;
mod check;
mod demo;
mod explore;
mod generate;
mod interrupt;
mod load;
mod manual;
mod open;
mod remote;
mod shell;
mod show;
mod solve;
mod trace;
mod validate;
mod view;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Args, Command};

/// The run completed, but there were error lines and they were to count.
const EXIT_ERRORS_SEEN: u8 = 1;
/// Two ways to find the same thing gave different answers, or one gave a wrong one or none.
const EXIT_DISAGREED: u8 = 1;
/// Some of what was asked for was looked for and not found.
const EXIT_GAVE_UP: u8 = 1;
/// `bench --max-regression`: this program is slower than is allowed.
const EXIT_SLOWER: u8 = 1;
/// The run could not start or not come to its end.
const EXIT_FAILED: u8 = 2;

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Solve(args) => solve::run(&args),
        Command::Count(args) => solve::run(&args.into()),
        Command::Validate(args) => validate::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Shell(args) => shell::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::page(&args),
    };
    result.unwrap_or_else(|error| {
        view::status_line(&format!("{error:#}"));
        ExitCode::from(EXIT_FAILED)
    })
}
