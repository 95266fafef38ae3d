//! `sudoku shell`, the console.
//!
//! A [`Session`] turns lines into replies; a [`Console`] reads the lines. Only `exit` and the end
//! of the input end a session.

mod arguments;
mod board;
mod command;
mod console;
mod examples;
mod hand;
mod list;
mod paste;
mod session;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use clap::{Args, ValueHint};
use signal_hook::consts::signal::SIGINT;
use signal_hook::flag;

use crate::cli::colour::ColourArgs;
use crate::cli::input::FormatArgs;
use crate::cli::{interrupt, print};
use board::Look;
use console::{Console, ConsoleEvent};
use session::Session;

const GREETING: &str = "This is the Sudoku console. `help` lists the commands, `exit` leaves.\n";

const EXAMPLES: &str = "\
Examples:
  sudoku shell
  sudoku shell 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  sudoku shell puzzles.txt
  sudoku shell < script.txt

On a terminal there are colours (see --color), history, and completion with Tab.";

/// Arguments of `sudoku shell`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ShellArgs {
    /// Puzzle or file to begin with
    #[arg(value_name = "PUZZLE|FILE", value_hint = ValueHint::FilePath)]
    start: Option<OsString>,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    colour: ColourArgs,
}

/// Runs `sudoku shell`.
pub fn run(args: &ShellArgs) -> anyhow::Result<ExitCode> {
    args.colour.apply();
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let interrupts = Interrupts::catch(is_terminal).context("Signals cannot be handled")?;
    let mut console = if is_terminal { Console::terminal()? } else { Console::pipe() };
    let look = match (print::has_colours(), is_terminal) {
        (true, _) => Look::Coloured,
        (false, true) => Look::Numbered,
        (false, false) => Look::Plain,
    };
    let mut session = Session::new(args.format.hint(), Arc::clone(&interrupts.raised), look);
    if is_terminal && show(GREETING)?.is_break() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(start) = &args.start {
        let begun = session.begin(start.as_bytes());
        // A script is about this puzzle or file.
        let begun = if is_terminal { session::reply(begun) } else { begun? };
        if show(&begun)?.is_break() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    loop {
        interrupts.wait();
        let (text, is_last) = match console.next(&session.prompt())? {
            ConsoleEvent::Interrupted => (session.interrupt(), false),
            ConsoleEvent::End => (session.end(), true),
            ConsoleEvent::Line(line) => {
                interrupts.work();
                let reply = session.take(&line);
                // A terminal has written `^C` where the cursor stands.
                let below = if is_terminal && interrupts.raised.load(Ordering::Relaxed) { "\n" } else { "" };
                (below.to_owned() + &reply.text, reply.is_last)
            }
        };
        if show(&text)?.is_break() || is_last {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Prints a reply. It breaks the session if standard output is a closed pipe.
fn show(text: &str) -> io::Result<ControlFlow<()>> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(error) => Err(print::stdout_error(&error)),
    }
}

/// SIGINT handling. The signal stops the command that runs. It ends the console only where lines
/// come from a pipe, because nobody can type `exit` there: when no command runs, or at the second
/// signal.
struct Interrupts {
    raised: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
    is_terminal: bool,
}

impl Interrupts {
    fn catch(is_terminal: bool) -> io::Result<Self> {
        let (raised, ends) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        // A signal runs these in the order of registration.
        flag::register_conditional_shutdown(
            SIGINT,
            interrupt::exit_status(SIGINT).into(),
            Arc::clone(&ends),
        )?;
        flag::register(SIGINT, Arc::clone(&raised))?;
        if !is_terminal {
            flag::register(SIGINT, Arc::clone(&ends))?;
        }
        Ok(Self { raised, ends, is_terminal })
    }

    /// The console waits for a line.
    fn wait(&self) {
        self.ends.store(!self.is_terminal, Ordering::Relaxed);
    }

    /// The console works on a line.
    fn work(&self) {
        self.ends.store(false, Ordering::Relaxed);
        self.raised.store(false, Ordering::Relaxed);
    }
}
