//! `sudoku`: solves, checks, makes and times Sudoku puzzles in files of any length.

mod bench;
mod check;
mod cli;
mod demo;
mod docs;
mod explore;
mod generate;
mod load;
mod manual;
#[path = "../shared/number.rs"]
mod number;
#[path = "../shared/reference.rs"]
mod reference;
mod shell;
mod show;
mod solve;
mod trace;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use sudoku_stream::build_info;

use cli::{exit, print};

/// Solve Sudoku puzzles in bulk: one answer line for each puzzle line, in order
///
/// Exit codes: 0, the run completed; 1, it found something, such as a wrong answer; 2, it could not
/// start or end.
#[derive(Parser)]
#[command(name = "sudoku", version, long_version = build_info::in_full(), max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Solve every puzzle of a file or of standard input
    Solve(solve::SolveArgs),
    /// Count the solutions of every puzzle
    Count(solve::CountArgs),
    /// List badly formed puzzles: length, characters, rules
    Validate(validate::ValidateArgs),
    /// Check full or partly filled grids against the rules
    Check(check::CheckArgs),
    /// Draw one puzzle of a file, by its number or at random
    Show(show::ShowArgs),
    /// Show a search step by step, live on a terminal or as lines
    Trace(trace::TraceArgs),
    /// Make puzzles with one solution, or boards of random values
    Generate(generate::GenerateArgs),
    /// Time strategies and back ends on files, every answer checked
    Bench(bench::BenchArgs),
    /// Measure a server's throughput and latency, answers checked
    Load(load::LoadArgs),
    /// Compare strategies on boards from few clues to many
    Explore(explore::ExploreArgs),
    /// Solve a sample over gRPC and offline, compare the answers
    Demo(demo::DemoArgs),
    /// Open the console for one puzzle at a time: edit, hint, solve
    Shell(shell::ShellArgs),
    /// Print the completion script for a shell
    Completions(manual::CompletionsArgs),
    /// Print the manual page, or write one per command
    Man(manual::ManArgs),
    /// Print this program's part of docs/reference.md
    #[command(hide = true)]
    Docs,
}

fn main() -> ExitCode {
    let result = match CommandLine::parse().command {
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
        Command::Docs => docs::run(),
    };
    result.unwrap_or_else(|error| {
        print::status_line(&format!("{error:#}"));
        ExitCode::from(exit::FAILED)
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }
}
