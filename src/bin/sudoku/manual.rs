//! `sudoku completions` and `sudoku man`: completion scripts and manual pages.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use anyhow::Context as _;
use clap::builder::Resettable;
use clap::{Arg, Args, Command, CommandFactory as _, ValueEnum as _, ValueHint};
use clap_complete::Shell;
use clap_mangen::roff::{Roff, bold, roman};

use crate::CommandLine;
use crate::cli::{exit, print};
use crate::completion::without_hidden;
use crate::manual_page::with_all_help;
use crate::solve::SolveArgs;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  sudoku completions bash > ~/.local/share/bash-completion/completions/sudoku
  sudoku completions fish > ~/.config/fish/completions/sudoku.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  sudoku man | man -l -
  sudoku man --dir ~/.local/share/man/man1";

/// Arguments of `sudoku completions`.
#[derive(Clone, Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Arguments of `sudoku man`.
#[derive(Clone, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// Write this page and one per command into the folder DIR
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// The program with the puzzles and files that can be named without a command.
fn with_inputs(program: Command) -> Command {
    let inputs = Arg::new("inputs").value_name("PUZZLE|FILE").value_hint(ValueHint::FilePath);
    program.arg(inputs.num_args(0..).help("Puzzles, or files of them, to solve"))
}

/// The program with the options of `sudoku solve`, which are known without a command.
fn with_options(program: Command) -> Command {
    let solve = SolveArgs::augment_args(Command::new("solve"));
    program.args(solve.get_arguments().filter(|arg| !arg.is_positional()).cloned())
}

/// Runs `sudoku completions`.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    let mut command = with_options(CommandLine::command());
    if args.shell == Shell::Fish {
        command = with_inputs(command);
    }
    clap_complete::generate(args.shell, &mut without_hidden(command), "sudoku", &mut script);
    if args.shell == Shell::Fish {
        // `clap_complete` leaves out the values of arguments without a flag there.
        let shells: Vec<String> = Shell::value_variants().iter().map(ToString::to_string).collect();
        let condition = "__fish_sudoku_using_subcommand completions";
        script.extend(
            format!("complete -c sudoku -n \"{condition}\" -f -a \"{}\"\n", shells.join(" ")).bytes(),
        );
    }
    let script = String::from_utf8_lossy(&script);
    // Bash completes files where no command fits. In zsh, puzzles and files would be in the way of
    // the commands as an argument of its own.
    let files =
        script.replacen("\":: :_sudoku_commands\"", "\"::command or file:{_sudoku_commands;_files}\"", 1);
    print::stdout(if args.shell == Shell::Zsh { &files } else { &script })?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command, and those of all below it, each as one of the program's.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, folder)?;
    }
    let source = concat!("sudoku ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command.clone()).source(source).generate_to(folder).map(drop)
}

/// Runs `sudoku man`.
pub fn page(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let command = with_all_help(with_inputs(CommandLine::command())).after_long_help(Resettable::Reset);
    if let Some(folder) = &args.dir {
        let pages = fs::create_dir_all(folder).and_then(|()| write_pages(&command, folder));
        pages.with_context(|| folder.display().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let mut exit_codes = Roff::new();
    exit_codes.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in exit::MEANINGS {
        exit_codes.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
    exit_codes.control("PP", []).text([roman("What 1 means, command by command:")]);
    for (commands, finding) in exit::FINDINGS {
        exit_codes.control("TP", []).text([bold(commands)]).text([roman(finding)]);
    }
    exit_codes.to_writer(&mut page)?;
    print::stdout(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
