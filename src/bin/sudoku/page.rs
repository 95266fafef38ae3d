//! `sudoku page`: the page in the browser, served on this machine for as long as it is wanted.

use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueHint};
use sudoku_stream::grid::Grid;
use sudoku_stream::service::{Config, Server, StartError};
use sudoku_stream::text::{Alphabet, Format, Notation};

use crate::cli::input::one_input;
use crate::cli::pick::PickArgs;
use crate::cli::{interrupt, print, value};

/// The time that open calls have after Ctrl-C: the person who made them has seen enough.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// The help of the input, which is not waited for here.
const INPUT: &str = "Puzzle to begin with, or a file that has it [default: none]";

const EXAMPLES: &str = "\
Examples:
  sudoku page
  sudoku page 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  sudoku page puzzles.txt --random
  sudoku page --data-dir lists --port 8080 --no-open

Only programs on this machine can reach it; `sudokud` serves the same page to others.";

/// Arguments of `sudoku page`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("inputs", |inputs| one_input(inputs).help(INPUT).long_help(INPUT)))]
pub struct PageArgs {
    #[command(flatten)]
    pick: PickArgs,

    /// Folder of lists that the page offers
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,

    /// Port to listen on [default: a free one]
    #[arg(long, value_name = "PORT", value_parser = value::whole(0..=u16::MAX))]
    port: Option<u16>,

    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,

    /// Search threads [default: one per core]
    #[arg(short = 'j', long, value_name = "N", value_parser = value::threads())]
    threads: Option<usize>,
}

/// What the page begins with.
#[derive(Default)]
struct Beginning {
    /// The part of the address that holds the puzzle, if one was named.
    fragment: String,
    /// The file of the puzzle, if it is the only one that the page can open.
    data_file: Option<PathBuf>,
}

impl PageArgs {
    fn beginning(&self) -> anyhow::Result<Beginning> {
        let PickArgs { input, index, random, puzzle } = &self.pick;
        // Without a puzzle the page is empty; standard input is not waited for.
        if input.inputs.is_empty() && index.is_none() && !random && puzzle.is_none() {
            return Ok(Beginning::default());
        }
        let chosen = self.pick.choose()?;
        let mut fragment = link_to(&chosen.puzzle)?;
        let file =
            chosen.input.path().and_then(|path| fs::canonicalize(path).ok()).filter(|file| file.is_file());
        let source = file.and_then(|file| source(file, self.data_dir.as_deref()));
        let Some((name, data_file)) = source else {
            return Ok(Beginning { fragment, data_file: None });
        };
        // The page counts from 0.
        let number = chosen.picked.number - 1;
        let _ = write!(fragment, "&file={}&puzzle={number}", in_query(&name));
        Ok(Beginning { fragment, data_file })
    }
}

/// What a file is called among the data sets of the server; and the file, if it is the only one, because
/// no folder was named in which it lies.
fn source(file: PathBuf, folder: Option<&Path>) -> Option<(String, Option<PathBuf>)> {
    let name = match folder {
        Some(folder) => file.strip_prefix(fs::canonicalize(folder).ok()?).ok()?,
        None => Path::new(file.file_name()?),
    };
    Some((name.to_str()?.to_owned(), folder.is_none().then_some(file)))
}

/// A text as a value in the query of an address.
fn in_query(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'.' | b'-' | b'_' | b'/' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

/// The fragment of a link to a puzzle, as the page reads and writes it: blanks are zeros, because
/// full stops are lost at the end of links.
fn link_to(puzzle: &Grid) -> anyhow::Result<String> {
    let side = puzzle.order().side();
    let format = Format::new(Notation::Lines, puzzle.order(), Alphabet::Letters)?;
    let mut cells = Vec::new();
    format.write_cells(puzzle, &mut cells);
    let cells = String::from_utf8_lossy(&cells).replace('.', "0");
    Ok(format!("#p={side}x{side}-{cells}"))
}

/// Runs `sudoku page`.
pub fn run(args: &PageArgs) -> anyhow::Result<ExitCode> {
    let Beginning { fragment, data_file } = args.beginning()?;
    let cancel = interrupt::flag()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("The threads cannot be started")?;
    runtime.block_on(async {
        let config = Config {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, args.port.unwrap_or(0))).into()],
            data_dir: args.data_dir.clone(),
            data_file,
            program: "sudoku page",
            threads: args.threads.and_then(NonZeroUsize::new),
            drain_timeout: DRAIN_TIMEOUT,
            ..Config::default()
        };
        let server = Server::bind(config).await.map_err(in_our_flags)?;
        let url = format!("http://{}/{fragment}", server.local_addr());
        print::stdout(&format!("{url}\n"))?;
        if !args.no_open {
            open(&url);
        }
        print::status_line("Ctrl-C ends it.");
        let stopped = async move { interrupt::raised(&cancel).await };
        server.serve(stopped).await.context("The server broke down")
    })?;
    // What is left of calls is of no interest to anybody.
    runtime.shutdown_background();
    Ok(interrupt::exit_code())
}

/// An error of starting, with the flags of this command.
fn in_our_flags(error: StartError) -> anyhow::Error {
    match error {
        StartError::AddressInUse(address) => {
            anyhow!("Port {} is in use. Choose another one with --port.", port_of(&address))
        }
        StartError::PortPrivileged(address) => {
            anyhow!("Port {} needs privileges. Choose one above 1023 with --port.", port_of(&address))
        }
        error => error.into(),
    }
}

fn port_of(address: &str) -> &str {
    address.rsplit(':').next().unwrap_or_default()
}

/// Opens the browser. The server is of use without one, so this fails with a sentence only.
fn open(url: &str) {
    let has_desktop = cfg!(not(target_os = "linux"))
        || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
    if !has_desktop || open::that_detached(url).is_err() {
        print::status_line("No browser was found. Open the address in one on this machine.");
    }
}

#[cfg(test)]
mod tests {
    use sudoku_stream::grid::Order;

    use super::*;

    #[test]
    fn a_link_holds_the_puzzle_without_full_stops() {
        let mut puzzle = Grid::empty(Order::ALL[3]);
        puzzle.set(Order::ALL[3].cell(1, 2).unwrap(), Order::ALL[3].digit(16).ok());
        assert_eq!(link_to(&puzzle).unwrap(), format!("#p=16x16-0G{}", "0".repeat(254)));
    }
}
