//! Servers in processes of their own, and what they cost.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// What tells this program that it is to be the echo server.
pub const ECHO_ROLE: &str = "SUDOKU_BENCH_ECHO";

/// What both servers say before their address.
pub const LISTENING: &str = "listening on ";

/// How often it is looked whether a server has come to rest, and for how long at most.
const REST_POLL: Duration = Duration::from_millis(2);
const REST_POLLS: u32 = 500;

/// What a server at rest may take between two looks.
const AT_REST: Duration = Duration::from_micros(5);

/// A server, which ends with this.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    /// The service.
    pub fn ours(max_streams: usize) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sudokud"));
        command.args(["--listen", "127.0.0.1:0", "--max-streams", &max_streams.to_string()]);
        Self::start(command.env_remove("RUST_LOG"))
    }

    /// A server with the same methods that sends back what it gets.
    pub fn echo() -> Self {
        Self::start(Command::new(std::env::current_exe().expect("this program")).env(ECHO_ROLE, "1"))
    }

    fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a server can be started");
        let mut lines = BufReader::new(child.stderr.take().expect("it was asked for")).lines();
        let address = loop {
            let line = lines.next().expect("the server starts").expect("text");
            if let Some((_, address)) = line.rsplit_once(LISTENING) {
                break address.to_owned();
            }
        };
        // What it has to say later is worth seeing. Ends with the process.
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        Self { child, url: format!("http://{address}") }
    }

    /// The processor time that it has taken in all, once it has nothing to do any more.
    #[expect(clippy::disallowed_methods, reason = "only time tells whether threads have gone to sleep")]
    pub fn cpu(&self) -> Duration {
        let mut before = self.cpu_so_far();
        for _ in 0..REST_POLLS {
            thread::sleep(REST_POLL);
            let now = self.cpu_so_far();
            if now.saturating_sub(before) <= AT_REST {
                return now;
            }
            before = now;
        }
        panic!("the server does not come to rest");
    }

    /// Of all its threads, exact to what those that run have taken since the last tick.
    fn cpu_so_far(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("the server runs");
        tasks.map_while(Result::ok).filter_map(|task| on_cpu(&task.path().join("schedstat"))).sum()
    }

    /// The memory that it has, in bytes.
    pub fn resident(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process has memory");
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kilobytes << 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processor time of the thread that calls; none where the system does not tell.
pub fn thread_cpu() -> Duration {
    // A thread's time is put down when it lets go of its core.
    thread::yield_now();
    on_cpu("/proc/thread-self/schedstat".as_ref()).unwrap_or_default()
}

/// The time on a processor that the system keeps of a thread, or `None` if that has ended.
fn on_cpu(schedstat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(schedstat).ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Does the system tell what a thread costs that has done some work, as this one?
pub fn is_measurable() -> bool {
    !thread_cpu().is_zero()
}

/// A thread that is kept to one core, until this is dropped.
#[cfg(target_os = "linux")]
pub struct OneCore(rustix::thread::CpuSet);

#[cfg(target_os = "linux")]
impl Drop for OneCore {
    fn drop(&mut self) {
        rustix::thread::sched_setaffinity(None, &self.0).expect("these cores were allowed before");
    }
}

/// Keeps this thread, and what it starts, to one core.
#[cfg(target_os = "linux")]
pub fn keep_to_one_core() -> OneCore {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let before = sched_getaffinity(None).expect("a thread has cores");
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).rev().find(|&core| before.is_set(core)).expect("a thread has a core"));
    sched_setaffinity(None, &one).expect("this core is allowed");
    OneCore(before)
}

/// The same where threads cannot be kept anywhere.
#[cfg(not(target_os = "linux"))]
pub const fn keep_to_one_core() {}

/// How many files and sockets this process, and those that it starts, may have open.
pub fn descriptors() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(usize::MAX)
}
