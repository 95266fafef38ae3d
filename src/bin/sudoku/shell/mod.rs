//! `sudoku shell`, the console.
//!
//! A [`Session`] takes lines and says what there is to say; a [`Console`] is where they come from. No
//! line ends a session but the one that asks for it.

mod arguments;
mod board;
mod command;
mod console;
mod examples;
mod list;
mod paste;
mod session;

use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use signal_hook::consts::signal::SIGINT;
use signal_hook::flag;

use super::args::ShellArgs;
use super::{interrupt, view};
use board::Look;
use console::{Console, Event};
use session::Session;

const GREETING: &str = "This is the Sudoku console. `help` lists the commands, `exit` leaves.\n";

pub fn run(args: &ShellArgs) -> anyhow::Result<ExitCode> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let interrupts = Interrupts::catch(is_terminal).context("Signals cannot be handled")?;
    let mut console = if is_terminal { Console::terminal()? } else { Console::pipe() };
    let look = match (view::is_painted(), is_terminal) {
        (true, _) => Look::Painted,
        (false, true) => Look::Numbered,
        (false, false) => Look::Plain,
    };
    let mut session = Session::new(args.hint(), Arc::clone(&interrupts.raised), look);
    if is_terminal && say(GREETING)?.is_gone() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(start) = &args.start
        && say(&session.begin(start.as_bytes()))?.is_gone()
    {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        interrupts.wait();
        let (said, is_last) = match console.next(&session.prompt())? {
            Event::Interrupted => (session.interrupt(), false),
            Event::End => (session.end(), true),
            Event::Line(line) => {
                interrupts.work();
                let reply = session.take(&line);
                // A terminal has written `^C` where the cursor stands.
                let below = if is_terminal && interrupts.raised.load(Ordering::Relaxed) { "\n" } else { "" };
                (below.to_owned() + &reply.text, reply.is_last)
            }
        };
        if say(&said)?.is_gone() || is_last {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Is there anybody who listens?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listener {
    There,
    Gone,
}

impl Listener {
    fn is_gone(self) -> bool {
        self == Self::Gone
    }
}

fn say(text: &str) -> io::Result<Listener> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Ok(()) => Ok(Listener::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Listener::Gone),
        Err(error) => Err(error),
    }
}

/// SIGINT: it stops the work on hand. It ends the console only where nobody could type `exit`: when lines come from a
/// pipe, and there is no work, or there was such a signal before.
struct Interrupts {
    raised: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
    is_terminal: bool,
}

impl Interrupts {
    fn catch(is_terminal: bool) -> io::Result<Self> {
        let (raised, ends) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        // Done in this order when a signal comes.
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

    /// A line is waited for.
    fn wait(&self) {
        self.ends.store(!self.is_terminal, Ordering::Relaxed);
    }

    /// A line is worked on.
    fn work(&self) {
        self.ends.store(false, Ordering::Relaxed);
        self.raised.store(false, Ordering::Relaxed);
    }
}
