//! `sudoku completions` and `sudoku man`: what this program tells shells and readers of manuals about itself.

use std::fs;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::roff::{Roff, bold, roman};

use super::args::{Args, CompletionsArgs, ManArgs};
use super::view;

/// The exit codes and what they mean.
const EXIT_CODES: [(&str, &str); 4] = [
    ("0", "The run completed, error lines or not."),
    ("1", "What was asked found something: --fail-on-error, check, a wrong answer in bench or load."),
    ("2", "The run could not start or not come to its end; standard error says why."),
    ("130, 143", "It was interrupted, by SIGINT or SIGTERM."),
];

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "sudoku", &mut script);
    view::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub fn page(args: &ManArgs) -> anyhow::Result<ExitCode> {
    // The command `help` has no page of its own.
    let command = Args::command().disable_help_subcommand(true);
    if let Some(folder) = &args.dir {
        let pages = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
        pages.with_context(|| folder.display().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let mut exit_codes = Roff::new();
    exit_codes.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_CODES {
        exit_codes.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
    exit_codes.to_writer(&mut page)?;
    view::print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
