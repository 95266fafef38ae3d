//! The terminal while a trace plays on it: its modes, its keys, and the signals that touch it.
//!
//! The trace has a screen of its own, and what was there before comes back with the shell. Whatever
//! ends or stops the program, the terminal is given back first: the end of a trace, an error, a
//! panic, a signal, Ctrl-Z. What it was like is in a static, because a panic and a second signal
//! come from where nothing else is known.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use std::{panic, thread};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{getpgid, getpgrp, getppid, getsid};
use rustix::termios::{
    Action, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcflow, tcgetattr, tcgetpgrp, tcsetattr,
};
use signal_hook::consts::signal::{SIGCONT, SIGQUIT, SIGTSTP};
use signal_hook::{flag, low_level};
use sudoku_stream::poison::IgnorePoison as _;

use super::keys::{self, PlaybackKey};
use crate::cli::interrupt;

/// A screen of our own, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// The other one again. Where there is only one, what was drawn is cleared.
const LEAVE: &str = "\x1b[0m\x1b[2J\x1b[H\x1b[?25h\x1b[?1049l";

/// How long the rest of an arrow key may take after its first byte.
const REST_OF_KEY: Duration = Duration::from_millis(25);

/// How often a process in the background looks whether it still is.
const POLL: Duration = Duration::from_millis(50);

/// The terminal to give back, while it is ours.
static TAKEN: Mutex<Option<TakenTerminal>> = Mutex::new(None);

/// What has to be undone.
struct TakenTerminal {
    /// Where keys come from, and the modes that it had.
    modes: Option<(File, Termios)>,
}

fn taken() -> MutexGuard<'static, Option<TakenTerminal>> {
    TAKEN.lock().ignore_poison()
}

/// Gives the terminal back, if it is ours.
fn give_back() {
    if let Some(TakenTerminal { modes }) = taken().take() {
        // A terminal that is gone needs nothing. One whose output is stopped (Ctrl-S) would hold us.
        let _ = tcflow(io::stdout(), Action::OOn);
        let _ = write(LEAVE.as_bytes());
        if let Some((keys, modes)) = modes {
            let _ = tcsetattr(&keys, OptionalActions::Now, &modes);
        }
    }
}

/// Writes on standard output, past its buffer and lock, which another thread may hold. It is one
/// write where that is possible, because several flicker.
///
/// # Errors
/// The system's, such as that the terminal is gone.
pub fn write(mut bytes: &[u8]) -> io::Result<()> {
    let out = io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(out.as_fd(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What came of waiting for a key.
pub enum TerminalEvent {
    Key(PlaybackKey),
    /// None in time.
    Nothing,
    /// The terminal was given back in between, so everything has to be drawn again.
    Resumed,
}

/// The terminal, ours until it is dropped.
pub struct Terminal {
    /// Where keys come from. `None` if they cannot be read.
    keys: Option<File>,
    /// The modes it had at the beginning, which a shell may not know any more after Ctrl-Z.
    modes: Option<Termios>,
    /// Bytes of keys that are not decoded yet.
    bytes: Vec<u8>,
    /// Signals that came: Ctrl-Z; a stop from outside that is over; Ctrl-\.
    stopped: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
    quit: Arc<AtomicBool>,
    cancel: Arc<AtomicBool>,
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// The system's, where signals cannot be handled or the terminal cannot be written.
    pub fn take() -> anyhow::Result<Self> {
        let cancel = interrupt::flag()?;
        let keys = keys_of_terminal();
        let modes = keys.as_ref().and_then(|keys| tcgetattr(keys).ok());
        let (stopped, resumed, quit) = <(Arc<AtomicBool>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        flag::register(SIGTSTP, Arc::clone(&stopped))?;
        flag::register(SIGCONT, Arc::clone(&resumed))?;
        flag::register(SIGQUIT, Arc::clone(&quit))?;
        interrupt::before_exit(give_back)?;
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            give_back();
            report(panic);
        }));
        // Without modes to give back, none are changed.
        let keys = keys.filter(|_| modes.is_some());
        let terminal = Self { keys, modes, bytes: Vec::new(), stopped, resumed, quit, cancel };
        terminal.enter()?;
        Ok(terminal)
    }

    /// Are there keys?
    pub const fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// Takes the terminal, again after Ctrl-Z.
    fn enter(&self) -> io::Result<()> {
        let modes = self.keys.as_ref().zip(self.modes.as_ref());
        let modes = modes.and_then(|(keys, modes)| Some((keys.try_clone().ok()?, modes.clone())));
        if let Some((keys, modes)) = &modes {
            let mut ours = modes.clone();
            // Keys come at once and are not shown. Ctrl-C and Ctrl-Z stay signals.
            ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
            // They drop nothing of what is drawn: half a sequence would be on the screen as text.
            ours.local_modes.insert(LocalModes::NOFLSH);
            // Never waits for a byte: another program may read from the same terminal.
            ours.special_codes[SpecialCodeIndex::VMIN] = 0;
            ours.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(keys, OptionalActions::Now, &ours)?;
        }
        *taken() = Some(TakenTerminal { modes });
        write(ENTER.as_bytes())
    }

    /// Is the terminal the shell's at the moment? Nothing is drawn then.
    pub fn is_given_back() -> bool {
        taken().is_none()
    }

    /// Waits for a key.
    ///
    /// # Errors
    /// The system's, where the terminal cannot be taken again after Ctrl-Z.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<TerminalEvent> {
        if self.obey_signals()? {
            return Ok(TerminalEvent::Resumed);
        }
        if let Some(key) = keys::next(&mut self.bytes, false) {
            return Ok(TerminalEvent::Key(key));
        }
        // After the first byte of a key, the rest is here at once or never.
        let is_begun = !self.bytes.is_empty();
        let is_read = self.read(if is_begun { REST_OF_KEY } else { timeout });
        let key = keys::next(&mut self.bytes, is_begun && !is_read);
        Ok(key.map_or(TerminalEvent::Nothing, TerminalEvent::Key))
    }

    /// Reads what was typed, or waits for it. False if nothing came.
    fn read(&mut self, timeout: Duration) -> bool {
        let Some(keys) = &mut self.keys else {
            pause(timeout);
            return false;
        };
        let timeout =
            Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() };
        let mut polled = [PollFd::new(keys, PollFlags::IN)];
        // A signal ends the wait too.
        if !matches!(poll(&mut polled, Some(&timeout)), Ok(1..)) {
            return false;
        }
        let is_lost = polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        let mut buffer = [0; 64];
        match keys.read(&mut buffer) {
            Ok(length) if !is_lost => {
                self.bytes.extend_from_slice(&buffer[..length]);
                length > 0
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => false,
            // The terminal is gone.
            _ => {
                self.keys = None;
                false
            }
        }
    }

    /// Does what signals ask for. True if the terminal is ours again after it was not.
    fn obey_signals(&mut self) -> io::Result<bool> {
        for (flag, signal) in [(&self.quit, SIGQUIT), (&self.stopped, SIGTSTP)] {
            if flag.swap(false, Ordering::Relaxed) && (signal != SIGTSTP || is_job()) {
                give_back();
                // It stops here until somebody lets it go on.
                low_level::emulate_default_handler(signal)?;
                self.resumed.store(true, Ordering::Relaxed);
            }
        }
        if !self.resumed.swap(false, Ordering::Relaxed) {
            return Ok(false);
        }
        // Whoever takes a terminal from the background is stopped by the system, and a shell that is
        // about to end lets its stopped jobs go on just to end them.
        while self.is_in_background() && !self.cancel.load(Ordering::Relaxed) {
            pause(POLL);
        }
        if self.cancel.load(Ordering::Relaxed) {
            return Ok(false);
        }
        self.enter()?;
        Ok(true)
    }

    fn is_in_background(&self) -> bool {
        let group = self.keys.as_ref().and_then(|keys| tcgetpgrp(keys).ok());
        group.is_some_and(|group| group != getpgrp())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Is there a shell that can let a stopped process go on? By itself, without a handler, Ctrl-Z stops
/// no process whose parent is not outside of its group and within its session.
fn is_job() -> bool {
    let Some(parent) = getppid() else { return false };
    let is_in_session = matches!((getsid(Some(parent)), getsid(None)), (Ok(a), Ok(b)) if a == b);
    is_in_session && getpgid(Some(parent)).is_ok_and(|group| group != getpgrp())
}

/// Where keys come from: standard input, or the terminal of the process if that is something else.
fn keys_of_terminal() -> Option<File> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return stdin.as_fd().try_clone_to_owned().ok().map(File::from);
    }
    File::open("/dev/tty").ok()
}

#[expect(clippy::disallowed_methods, reason = "it is the pace at which a person watches")]
fn pause(time: Duration) {
    thread::sleep(time);
}
