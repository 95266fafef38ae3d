//! `sudokud` as a process, observed from outside.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::{SUDOKUD, signal};

/// The ticks of `/proc/PID/stat` in a second; the same on all machines with Linux today.
const TICKS_PER_SECOND: u64 = 100;

/// A server in a process of its own, which is killed when this is dropped.
pub struct Daemon {
    pub address: SocketAddr,
    pub child: Child,
    log: Arc<Mutex<String>>,
    metrics: Option<SocketAddr>,
}

impl Daemon {
    /// A server on a free port with these flags.
    pub fn start(flags: &[&str]) -> Self {
        Self::from_command(Command::new(SUDOKUD).args(flags))
    }

    /// The same; it can be asked for its figures.
    pub fn with_figures(flags: &[&str]) -> Self {
        Self::from_command(Command::new(SUDOKUD).args(flags).args(["--metrics-listen", "127.0.0.1:0"]))
    }

    /// A server at an address, or `None` if something else has it.
    pub fn start_at(address: SocketAddr, flags: &[&str]) -> Option<Self> {
        Self::listen(Command::new(SUDOKUD).args(flags), &address.to_string()).ok()
    }

    /// A server on a free port that is started in its own way: under `prlimit`, say, or with an environment.
    pub fn from_command(command: &mut Command) -> Self {
        Self::listen(command, "127.0.0.1:0")
            .unwrap_or_else(|words| panic!("the server does not start: {words}"))
    }

    /// A server at an address. What it says if it does not start is the error.
    pub fn listen(command: &mut Command, address: &str) -> Result<Self, String> {
        if command.get_envs().all(|(name, _)| name != "RUST_LOG") {
            command.env_remove("RUST_LOG");
        }
        let mut child =
            command.args(["--listen", address]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut words = String::new();
        let mut metrics = None;
        let address = loop {
            let Some(line) = lines.next().map(Result::unwrap) else {
                child.wait().unwrap();
                return Err(words);
            };
            words.push_str(&line);
            words.push('\n');
            // In a log in JSON, more follows behind the message.
            let behind = |words| line.rsplit_once(words).and_then(|(_, rest)| rest.split('"').next());
            if let Some(url) = behind("serving metrics on http://") {
                metrics = url.strip_suffix("/metrics").map(|address| address.parse().unwrap());
            }
            if let Some(address) = behind("listening on ")
                && !address.contains("unix:")
            {
                break address.parse().unwrap();
            }
        };
        let log = Arc::new(Mutex::new(String::new()));
        let more = Arc::clone(&log);
        // Ends with the process.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = more.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        Ok(Self { address, child, log, metrics })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it has logged since it listens.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// A number of `/proc/PID/status`.
    fn status(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap().split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The memory it has, in bytes.
    pub fn memory(&self) -> u64 {
        self.status("VmRSS") * 1024
    }

    /// The addresses it has, whether there is memory behind them or not, in bytes.
    pub fn address_space(&self) -> u64 {
        self.status("VmSize") * 1024
    }

    /// The names of its threads without their numbers, in order. Those that the runtime starts and ends as it sees fit are
    /// left out.
    pub fn threads(&self) -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        // A thread may end while it is looked at.
        let names = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
        let mut names: Vec<String> =
            names.map(|name| name.trim_end().to_owned()).filter(|name| !name.starts_with("tokio-")).collect();
        for name in &mut names {
            name.truncate(name.trim_end_matches(|c: char| c.is_ascii_digit()).len());
        }
        names.sort();
        names
    }

    /// The processor time it has taken.
    pub fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name before it, in brackets, may have anything in it.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
    }

    /// The processor time it has taken since then.
    pub fn cpu_since(&self, then: Duration) -> Duration {
        self.cpu().saturating_sub(then)
    }

    /// The files and sockets it has open.
    pub fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Where its figures are.
    pub fn metrics_address(&self) -> SocketAddr {
        self.metrics.expect("figures are asked for")
    }

    /// The status and the text of what it has at a path beside its figures.
    pub fn get(&self, path: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(self.metrics_address()).unwrap();
        socket.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
    }

    /// One of its figures; 0 while it has not been counted.
    pub fn figure(&self, name: &str) -> u64 {
        let mut socket = TcpStream::connect(self.metrics.expect("figures are asked for")).unwrap();
        socket.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.0 200"), "{text}");
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
