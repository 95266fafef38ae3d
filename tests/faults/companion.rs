//! `sudoku` as a process: how it ended, and what it took.

#![expect(clippy::disallowed_methods, reason = "a process is looked at until it ends")]

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, ExitStatus};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::harness::{SUDOKU, piped, signal};

/// How long a run may take that takes seconds at most on a machine with nothing else to do.
const LONGEST_RUN: Duration = Duration::from_secs(100);

/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What a run may have of memory besides the files that it maps, whatever it reads: the tables and buffers of two threads,
/// and as much again.
pub const FLAT: u64 = 64 << 20;

/// The companion, started by a line of the shell in which it and its arguments are `"$0" "$@"`: with limits, say.
pub fn sudoku_in_shell(script: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(SUDOKU).args(arguments);
    // Under a limit on memory the standard library may wait for itself when it writes a backtrace.
    command.env_remove("RUST_BACKTRACE");
    piped(command)
}

/// The same command for somebody who has not these capabilities. `None` if there is no way to be that here.
pub fn without(capabilities: &str, command: &Command) -> Option<Command> {
    let taken = capabilities.split(',').map(|name| format!("-{name}")).collect::<Vec<_>>().join(",");
    let lesser = |program: &OsStr| {
        let mut lesser = Command::new("setpriv");
        lesser.args(["--bounding-set", &taken, "--inh-caps", &taken]).arg(program);
        piped(lesser)
    };
    let works = lesser(OsStr::new("true")).status().is_ok_and(|status| status.success());
    works.then(|| {
        let mut lesser = lesser(command.get_program());
        lesser.args(command.get_args());
        lesser
    })
}

/// A process that is killed when this is dropped.
pub struct Running {
    pub child: Child,
    said: [Option<JoinHandle<Vec<u8>>>; 2],
    begin: Instant,
}

/// How a process ended, and what it took.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// The most memory it was seen to have besides mapped files, in bytes.
    pub memory: u64,
}

pub fn start(command: &mut Command) -> Running {
    let mut child = command.spawn().unwrap();
    let said = [child.stdout.take().map(all_of), child.stderr.take().map(all_of)];
    Running { child, said, begin: Instant::now() }
}

pub fn run(command: &mut Command) -> Ended {
    start(command).finish()
}

/// Everything that comes out of a pipe, read on a thread of its own.
fn all_of(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

impl Running {
    pub fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Kills it, and says how it ended.
    pub fn kill(mut self) -> ExitStatus {
        self.child.kill().unwrap();
        self.child.wait().unwrap()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Are all its threads asleep, now and for some time before? It has written all that there is
    /// room for.
    #[expect(clippy::disallowed_methods, reason = "that nothing happens shows after a while only")]
    pub fn is_waiting(&self) -> bool {
        let switches = || {
            let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
            let statuses =
                tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("schedstat")).ok());
            statuses.collect::<Vec<String>>()
        };
        let before = switches();
        thread::sleep(Duration::from_millis(100));
        switches() == before
    }

    /// Has every signal that was sent to it reached its handler?
    pub fn has_taken_all_signals(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        status
            .lines()
            .filter_map(|line| line.strip_prefix("ShdPnd:"))
            .all(|pending| pending.trim().bytes().all(|digit| digit == b'0'))
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Ended {
        let mut memory = 0;
        let status = loop {
            memory = memory.max(memory_of(self.child.id()).unwrap_or(0));
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(self.begin.elapsed() < LONGEST_RUN, "it goes on and on");
            thread::sleep(LOOK);
        };
        let [stdout, stderr] =
            self.said.each_mut().map(|said| said.take().map(|said| said.join().unwrap()).unwrap_or_default());
        Ended { status, stdout, stderr: String::from_utf8(stderr).unwrap(), memory }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    #[track_caller]
    pub fn assert_code(&self, code: i32) {
        assert_eq!(self.status.code(), Some(code), "{} {}", self.status, self.stderr);
    }

    /// It could not run, and says why in these words, which are all it says.
    #[track_caller]
    pub fn assert_refused(&self, words: &str) {
        self.assert_code(2);
        assert_eq!(self.stderr, format!("{words}\n"));
    }

    #[track_caller]
    pub fn assert_flat(&self) {
        assert!(self.memory < FLAT, "{} MiB of memory", self.memory >> 20);
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }
}

/// The memory of a process besides mapped files, in bytes, as long as it has any.
pub fn memory_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Lets time pass where the moment of what follows is what is tested.
pub fn pause(time: Duration) {
    thread::sleep(time);
}
