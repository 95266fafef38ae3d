//! A pseudo-terminal that programs run at, and what it shows.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, LocalModes, Winsize, tcgetattr, tcsetwinsize, ttyname};

use super::eventually;

/// What marks the end of everything that programs have printed.
const END: &str = "(the end)";

/// What Ctrl-D types.
pub const CTRL_D: &str = "\x04";

pub struct Terminal {
    keyboard: File,
    device: File,
    printed: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    pub fn open() -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let path = OsString::from_vec(ptsname(&screen, Vec::new()).unwrap().into_bytes());
        let device =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path).unwrap();
        let mut screen = File::from(screen);
        let keyboard = screen.try_clone().unwrap();
        let printed = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&printed);
        // Ends when nobody has the terminal open any more.
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut piece) {
                seen.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        });
        Self { keyboard, device, printed }
    }

    /// The terminal as a standard stream of a program.
    pub fn stdio(&self) -> Stdio {
        self.device.try_clone().unwrap().into()
    }

    /// Gives it a size, which it has not.
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.device, size).unwrap();
    }

    /// Its name.
    pub fn path(&self) -> String {
        ttyname(&self.device, Vec::new()).unwrap().into_string().unwrap()
    }

    /// Do keys come line by line, and are they shown, as shells leave a terminal?
    pub fn is_as_before(&self) -> bool {
        let modes = tcgetattr(&self.device).unwrap();
        modes.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
            && modes.input_modes.contains(InputModes::ICRNL)
    }

    pub fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Everything printed so far, what was typed included.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }

    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        eventually(&format!("`{text}` on the terminal"), || self.printed().contains(text));
    }

    /// Everything printed, after the programs have ended.
    #[track_caller]
    pub fn finish(mut self) -> String {
        self.device.write_all(END.as_bytes()).unwrap();
        self.wait_for(END);
        let printed = self.printed();
        printed[..printed.find(END).unwrap()].to_owned()
    }
}

/// The lines that a terminal shows after this was printed, as far as `sudoku` controls it.
pub fn shown(printed: &str) -> Vec<String> {
    let (mut lines, mut row, mut column) = (vec![Vec::new()], 0, 0);
    let mut rest = printed.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(Vec::new());
                }
            }
            '\x1b' => {
                match sequence(&mut rest).as_str() {
                    "2K" => lines[row].clear(),
                    "1A" => row -= 1,
                    "1B" => row += 1,
                    // Colours.
                    colour if colour.ends_with('m') => {}
                    other => panic!("the terminal does not know {other:?}"),
                }
            }
            c => {
                let line: &mut Vec<char> = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
    }
    lines.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned()).collect()
}

/// The rest of an escape sequence, behind `[`.
fn sequence(rest: &mut impl Iterator<Item = char>) -> String {
    assert_eq!(rest.next(), Some('['));
    let mut sequence = String::new();
    for c in rest {
        sequence.push(c);
        if c.is_ascii_alphabetic() {
            break;
        }
    }
    sequence
}
