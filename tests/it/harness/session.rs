//! A session at a pseudo-terminal of its own: a program, the keys of its user, and what is seen.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::{eventually, skipped, take_ignored_signals, wait_for, wait_or};

/// A program whose standard streams are a terminal of its own.
pub struct Session {
    /// It is killed with the test, because it may wait for keys.
    child: Option<Child>,
    /// The side of whoever types and looks.
    ours: Option<File>,
    screen: Arc<Mutex<Screen>>,
    /// The thread that reads, and the flag that ends it.
    reader: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Session {
    /// Runs a command on a terminal of this size. `None`, and a word about it, where the system
    /// cannot.
    pub fn run(command: &Command, lines: u16, columns: u16) -> Option<Self> {
        // It makes the terminal the one that Ctrl-C and Ctrl-Z of a session belong to.
        let setsid = Path::new("/usr/bin/setsid");
        if !setsid.exists() {
            skipped("there is no /usr/bin/setsid");
            return None;
        }
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        // Programs of other tests that run at the same time must not keep it open.
        fcntl_setfd(&ours, FdFlags::CLOEXEC).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap());
        let ours = File::from(ours);
        set_size(&ours, lines, columns);
        take_ignored_signals();
        let mut session = Command::new(setsid);
        session.arg("--ctty").arg(command.get_program()).args(command.get_args());
        session.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("RUST_BACKTRACE");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => session.env(name, value),
                None => session.env_remove(name),
            };
        }
        session.stdin(Stdio::from(theirs.try_clone().unwrap()));
        session.stdout(Stdio::from(theirs.try_clone().unwrap()));
        session.stderr(Stdio::from(theirs));
        let child = session.spawn().unwrap();
        // The command has our copies of their side.
        drop(session);
        let screen = Arc::new(Mutex::new(Screen::new(lines.into(), columns.into())));
        let reader = {
            let (ours, screen) = (ours.try_clone().unwrap(), Arc::clone(&screen));
            let is_closing = Arc::new(AtomicBool::new(false));
            let thread = {
                let is_closing = Arc::clone(&is_closing);
                thread::spawn(move || read(ours, &screen, &is_closing))
            };
            (is_closing, thread)
        };
        Some(Self { child: Some(child), ours: Some(ours), screen, reader: Some(reader) })
    }

    fn ours(&self) -> &File {
        self.ours.as_ref().unwrap()
    }

    /// Types these keys.
    pub fn keys(&mut self, keys: &str) {
        self.ours().write_all(keys.as_bytes()).unwrap();
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let id = self.child.as_ref().unwrap().id().cast_signed();
        rustix::process::kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Changes the size of the terminal. What is on it stays where it is.
    pub fn resize(&self, lines: u16, columns: u16) {
        self.screen.lock().unwrap().resize(lines.into(), columns.into());
        set_size(self.ours(), lines, columns);
    }

    /// What is on the terminal.
    pub fn text(&self) -> String {
        self.screen.lock().unwrap().text()
    }

    /// Looks at the terminal.
    pub fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(&self.screen.lock().unwrap())
    }

    /// Counts lines that were too long from now on: those that are on their way while the terminal
    /// gets smaller are too long for it.
    pub fn forget_wraps(&self) {
        self.screen.lock().unwrap().wraps = 0;
    }

    /// Waits until a line of the terminal has these words.
    #[track_caller]
    pub fn sees(&self, words: &str) {
        let look = || self.text().contains(words).then_some(());
        wait_or(look, || panic!("there is no {words:?} on\n{}", self.text()));
    }

    /// Do keys come line by line, and are they shown, as shells leave a terminal?
    pub fn is_as_before(&self) -> bool {
        let modes = tcgetattr(self.ours()).unwrap().local_modes;
        let is_cooked = modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        self.look(|screen| is_cooked && !screen.is_other && screen.has_cursor)
    }

    /// Waits for the end of the program, and of what it has written.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let status = wait_for("the end of a program", || self.child.as_mut().unwrap().try_wait().unwrap());
        eventually("the end of what it wrote", || self.look(|screen| screen.is_closed));
        status
    }

    /// Closes the terminal, as whoever closes its window.
    pub fn close(mut self) -> Child {
        // The reader has the last other copy.
        let (is_closing, thread) = self.reader.take().unwrap();
        is_closing.store(true, Ordering::Relaxed);
        thread.join().unwrap();
        drop(self.ours.take());
        self.child.take().unwrap()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It has usually ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Reads what the program writes, until it ends or the terminal is closed.
fn read(mut ours: File, screen: &Mutex<Screen>, is_closing: &AtomicBool) {
    let patience = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    let mut buffer = [0; 4096];
    while !is_closing.load(Ordering::Relaxed) {
        let mut polled = [PollFd::new(&ours, PollFlags::IN)];
        if poll(&mut polled, Some(&patience)).unwrap() == 0 {
            continue;
        }
        // It fails when nobody has the other side any more.
        match ours.read(&mut buffer) {
            Ok(length @ 1..) => screen.lock().unwrap().show(&buffer[..length]),
            _ => break,
        }
    }
    screen.lock().unwrap().is_closed = true;
}

fn set_size(ours: &File, lines: u16, columns: u16) {
    tcsetwinsize(ours, Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

/// What a terminal shows: as much of one as our programs use. Any other sequence is a panic.
pub struct Screen {
    lines: usize,
    columns: usize,
    /// The characters, line by line, of the usual screen and of the other one.
    cells: [Vec<Vec<char>>; 2],
    /// Line and column of the cursor on each.
    cursors: [(usize, usize); 2],
    pub is_other: bool,
    pub has_cursor: bool,
    /// Lines that went on in the next one because they were too long.
    pub wraps: usize,
    /// Colours that were set.
    pub colours: usize,
    /// The program has closed its side.
    pub is_closed: bool,
    /// Bytes that are not complete yet.
    rest: Vec<u8>,
}

impl Screen {
    fn new(lines: usize, columns: usize) -> Self {
        let cells = || vec![vec![' '; columns]; lines];
        Self {
            lines,
            columns,
            cells: [cells(), cells()],
            cursors: [(0, 0); 2],
            is_other: false,
            has_cursor: true,
            wraps: 0,
            colours: 0,
            is_closed: false,
            rest: Vec::new(),
        }
    }

    fn resize(&mut self, lines: usize, columns: usize) {
        (self.lines, self.columns) = (lines, columns);
        for cells in &mut self.cells {
            cells.resize_with(lines, Vec::new);
            for line in cells {
                line.resize(columns, ' ');
            }
        }
        for (line, column) in &mut self.cursors {
            (*line, *column) = ((*line).min(lines - 1), (*column).min(columns - 1));
        }
    }

    /// The lines that are seen, without blanks at their ends.
    pub fn text(&self) -> String {
        let lines = self.cells[usize::from(self.is_other)].iter();
        lines.map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
    }

    fn show(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let mut rest = std::mem::take(&mut self.rest);
        while !rest.is_empty() {
            let Some(used) = self.take(&rest) else { break };
            rest.drain(..used);
        }
        self.rest = rest;
    }

    /// Takes a character or a sequence off the front. `None` if it is not complete.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let screen = usize::from(self.is_other);
        match bytes[0] {
            0x1b => {
                let second = *bytes.get(1)?;
                assert_eq!(
                    second,
                    b'[',
                    "a sequence that is not known: {:?}",
                    String::from_utf8_lossy(bytes)
                );
                let end = 2 + bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte))?;
                let parameters = std::str::from_utf8(&bytes[2..end]).unwrap();
                self.obey(parameters, bytes[end]);
                return Some(end + 1);
            }
            b'\r' => self.cursors[screen].1 = 0,
            b'\n' => self.next_line(),
            0x07 => {}
            0x08 => self.cursors[screen].1 = self.cursors[screen].1.saturating_sub(1),
            first => {
                let length = match first {
                    0x20..=0x7e => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    _ => panic!("a byte that is not known: {first}"),
                };
                let letter = std::str::from_utf8(bytes.get(..length)?).unwrap().chars().next().unwrap();
                if self.cursors[screen].1 == self.columns {
                    self.wraps += 1;
                    self.cursors[screen].1 = 0;
                    self.next_line();
                }
                let (line, column) = self.cursors[screen];
                self.cells[screen][line][column] = letter;
                self.cursors[screen].1 += 1;
                return Some(length);
            }
        }
        Some(1)
    }

    fn next_line(&mut self) {
        let screen = usize::from(self.is_other);
        if self.cursors[screen].0 + 1 < self.lines {
            self.cursors[screen].0 += 1;
        } else {
            self.cells[screen].remove(0);
            self.cells[screen].push(vec![' '; self.columns]);
        }
    }

    fn obey(&mut self, parameters: &str, letter: u8) {
        let screen = usize::from(self.is_other);
        let (line, column) = self.cursors[screen];
        let column = column.min(self.columns - 1);
        match (parameters, letter) {
            ("?25", b'h' | b'l') => self.has_cursor = letter == b'h',
            ("?1049", b'h' | b'l') => self.is_other = letter == b'h',
            // Pasted text is marked, which readers of lines ask for.
            ("?2004", b'h' | b'l') => {}
            ("", b'H') => self.cursors[screen] = (0, 0),
            ("" | "0", b'K') => self.cells[screen][line][column..].fill(' '),
            ("2", b'J') => self.cells[screen] = vec![vec![' '; self.columns]; self.lines],
            (_, b'm') => {
                let is_colour = |part: &str| matches!(part.parse(), Ok(30..=37 | 40..=47 | 90..=97));
                self.colours += parameters.split(';').filter(|part| is_colour(part)).count();
            }
            _ => panic!("a sequence that is not known: {parameters}{}", char::from(letter)),
        }
    }
}
