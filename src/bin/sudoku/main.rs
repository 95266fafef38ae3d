//! `sudoku`: solves, checks, makes and times Sudoku puzzles in files of any length.

mod argv;
mod bench;
mod candidates;
mod canon;
mod check;
mod cli;
#[path = "../shared/completion.rs"]
mod completion;
mod dedup;
mod demo;
mod disguise;
mod docs;
mod explore;
mod generate;
mod hint;
mod join;
mod load;
mod manual;
#[path = "../shared/manual_page.rs"]
mod manual_page;
#[path = "../shared/memory_limit.rs"]
mod memory_limit;
mod minimize;
#[path = "../shared/number.rs"]
mod number;
mod page;
mod rate;
#[path = "../shared/reference.rs"]
mod reference;
mod sheet;
mod shell;
mod show;
mod solutions;
mod solve;
mod split;
mod steps;
mod trace;
mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgAction, CommandFactory as _, Parser, Subcommand};
use sudoku_stream::build_info;

use cli::deferred::Deferred;
use cli::early_end::{EarlyEnd, exit_code};
use cli::{exit, print, row_command};

/// The ways to call it, the shortest first.
const USAGE: &str = "\
sudoku [PUZZLE|FILE]...
       sudoku <COMMAND> [OPTIONS]";

/// The help with a blank line less than clap's own, because the short one has to fit a screen.
const HELP: &str = "{before-help}{about-with-newline}{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  sudoku 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  sudoku puzzles.txt > solutions.txt
  zcat lists/*.gz | sudoku -f csv -o answers.csv
  sudoku show puzzles.txt --index 4711 --solve";

/// Solve Sudoku puzzles in bulk: one answer line for each puzzle line, in order
///
/// Without a command it is `sudoku solve`, with all of its options.
#[derive(Parser)]
#[command(name = "sudoku", version, long_version = build_info::in_full(), max_term_width = 100)]
#[command(override_usage = USAGE, after_long_help = format!("{EXAMPLES}\n\n{}", exit::help()))]
// `argv` makes a flag of `help COMMAND`, which leaves a line for another command.
#[command(disable_help_subcommand = true, disable_version_flag = true)]
#[command(help_template = HELP)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,

    // Not in the short help, which the commands fill.
    /// Print version
    #[arg(short = 'V', long, action = ArgAction::Version, hide_short_help = true)]
    version: Option<bool>,
}

#[derive(Subcommand)]
enum Command {
    /// Solve every puzzle named, of files or of standard input
    Solve(Deferred<solve::SolveArgs>),
    /// Count the solutions of every puzzle
    Count(Deferred<solve::CountArgs>),
    /// List the solutions of every puzzle
    Solutions(Deferred<solutions::SolutionsArgs>),
    /// List badly formed puzzles: length, characters, rules
    Validate(Deferred<validate::ValidateArgs>),
    /// Check full or partly filled grids against the rules
    Check(Deferred<check::CheckArgs>),
    /// Put the answers of all shards of an input together
    Join(Deferred<join::JoinArgs>),
    /// Draw one puzzle of a file, by its number or at random
    Show(Deferred<show::ShowArgs>),
    /// List the digits that each cell has in some solution
    Candidates(Deferred<candidates::CandidatesArgs>),
    /// Lay puzzles out on pages to print, with their solutions
    Sheet(Deferred<sheet::SheetArgs>),
    /// Put puzzles in canonical form: one text for all disguises
    Canon(Deferred<canon::CanonArgs>),
    /// Drop puzzles that are the same but for symmetry
    Dedup(Deferred<dedup::DedupArgs>),
    /// Divide puzzles into training and test sets without overlap
    Split(Deferred<split::SplitArgs>),
    /// Disguise puzzles and solutions by random symmetries
    Disguise(Deferred<disguise::DisguiseArgs>),
    /// Drop the clues that can be spared
    Minimize(Deferred<minimize::MinimizeArgs>),
    /// Give the next step by hand: where to look, technique, reason
    Hint(Deferred<hint::HintArgs>),
    /// Rate puzzles by the hardest step that a person has to take
    Rate(Deferred<rate::RateArgs>),
    /// Solve a puzzle by hand, every step with its reason
    Steps(Deferred<steps::StepsArgs>),
    /// Show a search step by step, live on a terminal or as lines
    Trace(Deferred<trace::TraceArgs>),
    /// Make puzzles with one solution, or boards of random values
    Generate(Deferred<generate::GenerateArgs>),
    /// Time strategies and back ends on files, every answer checked
    Bench(Deferred<bench::BenchArgs>),
    /// Measure a server's throughput and latency, answers checked
    Load(Deferred<load::LoadArgs>),
    /// Compare strategies on boards from few clues to many
    Explore(Deferred<explore::ExploreArgs>),
    /// Solve a sample over gRPC and offline, compare the answers
    Demo(Deferred<demo::DemoArgs>),
    /// Open the page in the browser, served on this machine
    Page(Deferred<page::PageArgs>),
    /// Open the console for one puzzle at a time: edit, hint, solve
    Shell(Deferred<shell::ShellArgs>),
    /// Print the completion script for a shell
    Completions(Deferred<manual::CompletionsArgs>),
    /// Print the manual page, or write one per command
    Man(Deferred<manual::ManArgs>),
    /// Print this program's part of docs/reference.md. Completion would offer what clap knows.
    #[command(skip)]
    Docs,
}

impl Command {
    /// Is nothing but errors wanted on standard error? Asked of commands with old spellings only.
    const fn is_quiet(&self) -> bool {
        match self {
            Self::Solve(Deferred(args)) => args.is_quiet(),
            Self::Count(Deferred(args)) => args.is_quiet(),
            _ => false,
        }
    }
}

/// The commands that the short help only names, because it has to fit a screen.
const RARE: [&str; 14] = [
    "solutions",
    "join",
    "candidates",
    "sheet",
    "canon",
    "dedup",
    "split",
    "disguise",
    "minimize",
    "load",
    "explore",
    "demo",
    "completions",
    "man",
];

/// Prints the short help.
fn short_help() -> anyhow::Result<ExitCode> {
    let hide = |command: clap::Command, name: &str| command.mut_subcommand(name, |rare| rare.hide(true));
    let also = format!("Also {}: see 'sudoku --help'", RARE.join(", "));
    let mut command = RARE.into_iter().fold(CommandLine::command(), hide).after_help(also);
    let help = command.render_help();
    let text = if print::has_colours() { help.ansi().to_string() } else { help.to_string() };
    print::stdout(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the help or the version that was asked for, or the error of a command line.
fn print_clap(error: &clap::Error) -> anyhow::Result<ExitCode> {
    if error.use_stderr() {
        error.exit();
    }
    print::stdout_by(|| error.print())?;
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    memory_limit::with_whole_stack(run).unwrap_or_else(|error| {
        print::status_line(&format!("there is no memory for a thread: {error}"));
        ExitCode::from(exit::FAILED)
    })
}

/// The command, where it can be told without clap.
fn without_clap(args: &[OsString]) -> Option<Command> {
    let (command, inputs) = args.get(1..)?.split_first()?;
    if command == argv::DOCS && inputs.is_empty() {
        return Some(Command::Docs);
    }
    let solve = (command == argv::DEFAULT_COMMAND).then(|| solve::SolveArgs::without_options(inputs))??;
    Some(Command::Solve(Deferred(solve)))
}

/// The command, as clap parses it.
#[inline(never)]
fn parse(args: Vec<OsString>) -> Result<Command, clap::Error> {
    CommandLine::try_parse_from(args).map(|line| line.command)
}

fn run() -> ExitCode {
    let argv::CommandArgs { args, notes } = argv::prepare(std::env::args_os());
    let is_alone = args.len() == 1;
    let is_short_help = args.len() == 2 && args[1] == "-h";
    // Of a command, so that a file of its name would not help.
    let is_help = args.last().is_some_and(|arg| arg == "--help");
    let result = match without_clap(&args).map_or_else(|| parse(args), Ok) {
        Ok(command) => {
            for note in notes.iter().filter(|_| !command.is_quiet()) {
                print::status_line(note);
            }
            run_command(command)
        }
        Err(_) if is_short_help => short_help().map_err(EarlyEnd::from),
        // Nothing was asked for.
        Err(_) if is_alone => short_help().map(|_| ExitCode::from(exit::FAILED)).map_err(EarlyEnd::from),
        Err(error) if is_help => print_clap(&error).map_err(EarlyEnd::from),
        Err(error) => print_clap(&argv::explain(error)).map_err(EarlyEnd::from),
    };
    // A command that finds nothing ends by a closed pipe as it ends without one.
    let result = result.or_else(|end| exit_code(Err(end), ExitCode::SUCCESS));
    result.unwrap_or_else(|error| {
        print::status_line(&format!("{error:#}"));
        ExitCode::from(exit::FAILED)
    })
}

fn run_command(command: Command) -> Result<ExitCode, EarlyEnd> {
    Ok(match command {
        Command::Solve(Deferred(args)) => solve::run(&args)?,
        Command::Count(Deferred(args)) => solve::run(&args.into())?,
        Command::Solutions(Deferred(args)) => row_command::run(&args)?,
        Command::Validate(Deferred(args)) => validate::run(&args)?,
        Command::Check(Deferred(args)) => row_command::run(&args)?,
        Command::Join(Deferred(args)) => join::run(&args)?,
        Command::Show(Deferred(args)) => show::run(&args)?,
        Command::Candidates(Deferred(args)) => candidates::run(&args)?,
        Command::Sheet(Deferred(args)) => sheet::run(&args)?,
        Command::Canon(Deferred(args)) => row_command::run(&args)?,
        Command::Dedup(Deferred(args)) => dedup::run(&args).map(|()| ExitCode::SUCCESS)?,
        Command::Split(Deferred(args)) => split::run(&args)?,
        Command::Disguise(Deferred(args)) => row_command::run(&disguise::DisguiseRun::from(&args))?,
        Command::Minimize(Deferred(args)) => row_command::run(&args)?,
        Command::Hint(Deferred(args)) => hint::run(&args)?,
        Command::Rate(Deferred(args)) => row_command::run(&rate::RateRun::new(&args)?)?,
        Command::Steps(Deferred(args)) => steps::run(&args)?,
        Command::Trace(Deferred(args)) => trace::run(&args)?,
        Command::Generate(Deferred(args)) => generate::run(&args)?,
        Command::Bench(Deferred(args)) => bench::run(&args)?,
        Command::Load(Deferred(args)) => load::run(&args)?,
        Command::Explore(Deferred(args)) => explore::run(&args)?,
        Command::Demo(Deferred(args)) => demo::run(&args)?,
        Command::Page(Deferred(args)) => page::run(&args)?,
        Command::Shell(Deferred(args)) => shell::run(&args)?,
        Command::Completions(Deferred(args)) => manual::completions(&args)?,
        Command::Man(Deferred(args)) => manual::page(&args)?,
        Command::Docs => docs::run()?,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::input::FormatArgs;
    use crate::cli::row_command::RowCommand as _;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    /// The options of commands with `--resume` that change no answer: where answers go, what is said
    /// beside them, and by which way they are found.
    const OF_NO_ANSWER: [&str; 20] = [
        "--backend",
        "--color",
        "--durable",
        "--fail-on-error",
        "--help",
        "--manifest",
        "--no-mmap",
        "--no-progress",
        "--output",
        "--quiet",
        "--resume",
        "--retries",
        "--server",
        "--strict",
        "--threads",
        "--tls-ca",
        "--tls-cert",
        "--tls-key",
        "--token-file",
        // It cannot be resumed.
        "--summary",
    ];

    /// The options that the identity of a run of this command has.
    fn options_of_identity(command: &str) -> Vec<&'static str> {
        let typed = ["sudoku", command, "--resume", "-o", "out", "in"];
        let options = match CommandLine::parse_from(typed).command {
            Command::Solve(Deferred(args)) => args.fingerprint("").to_vec(),
            Command::Count(Deferred(args)) => solve::SolveArgs::from(args).fingerprint("").to_vec(),
            Command::Solutions(Deferred(args)) => args.rows().options,
            Command::Check(Deferred(args)) => args.rows().options,
            Command::Canon(Deferred(args)) => args.rows().options,
            Command::Disguise(Deferred(args)) => disguise::DisguiseRun::from(&args).rows().options,
            Command::Minimize(Deferred(args)) => args.rows().options,
            Command::Rate(Deferred(args)) => rate::RateRun::new(&args).unwrap().rows().options,
            _ => panic!("{command} has --resume: add it here"),
        };
        FormatArgs::default().options().into_iter().chain(options).map(|(name, _)| name).collect()
    }

    #[test]
    fn no_run_resumes_another_with_other_options_on_which_answers_depend() {
        let mut line = CommandLine::command();
        line.build();
        let (mut commands, mut flags) = (0, BTreeSet::new());
        for command in line.get_subcommands() {
            let longs = command.get_arguments().filter_map(clap::Arg::get_long);
            let own: BTreeSet<String> = longs.map(|long| format!("--{long}")).collect();
            if !own.contains("--resume") {
                continue;
            }
            commands += 1;
            let (name, identity) = (command.get_name(), options_of_identity(command.get_name()));
            for flag in &own {
                let (counts, not) = (identity.contains(&&**flag), OF_NO_ANSWER.contains(&&**flag));
                assert!(counts || not, "{name} {flag}: it is missing in the identity of a run");
                assert!(!counts || !not, "{name} {flag}: it changes answers, or it does not");
            }
            flags.extend(own);
        }
        assert_eq!(commands, 8, "solve, count and the commands that write rows");
        for flag in OF_NO_ANSWER {
            assert!(flags.contains(flag), "{flag} is no flag any more: take it off the list");
        }
    }
}
