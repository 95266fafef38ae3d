//! Harness of all integration tests: the programs, servers, folders, puzzles, waiting for
//! conditions.

#![allow(dead_code, reason = "each binary uses a part")]

#[path = "harness/authority.rs"]
pub mod authority;
#[path = "harness/daemon.rs"]
pub mod daemon;
#[path = "harness/packed.rs"]
pub mod packed;
#[path = "harness/server.rs"]
pub mod server;
#[path = "harness/session.rs"]
pub mod session;
#[path = "harness/shown.rs"]
pub mod shown;
#[path = "harness/terminal.rs"]
pub mod terminal;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::service::proto;
use sudoku_stream::solver::STRATEGIES;
use sudoku_stream::text::{Alphabet, Format, Notation};
use tempfile::TempDir;

/// The built programs.
pub const SUDOKU: &str = env!("CARGO_BIN_EXE_sudoku");
pub const SUDOKUD: &str = env!("CARGO_BIN_EXE_sudokud");

/// How long to wait for something that happens at once on an idle machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How often a condition is checked.
const POLL: Duration = Duration::from_millis(2);

/// A loopback address with a port that nobody uses, nor any test beside this one: a free port of
/// 127.0.0.1 could be theirs the next moment.
pub fn unused_address() -> SocketAddr {
    static CALLS: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let own = Ipv4Addr::new(127, high | 1, low, CALLS.fetch_add(1, Ordering::Relaxed));
    TcpListener::bind((own, 0)).unwrap().local_addr().unwrap()
}

/// Waits until `condition` holds, and returns how long that took.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    wait_for(what, || condition().then_some(()));
    begin.elapsed()
}

/// Waits until `look` finds something, and returns that.
#[track_caller]
pub fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_or(look, || panic!("{what} did not happen within {PATIENCE:?}"))
}

/// Waits until `look` finds something, and returns that, or calls `complain`.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the pause between two checks of a condition")]
pub fn wait_or<T>(mut look: impl FnMut() -> Option<T>, complain: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        if begin.elapsed() > PATIENCE {
            return complain();
        }
        thread::sleep(POLL);
    }
}

/// `sudoku` with these arguments and nothing to read; what it writes is captured.
pub fn sudoku(args: &[&str]) -> Command {
    let mut command = Command::new(SUDOKU);
    command.args(args);
    piped(command)
}

/// What a refusal of an unknown strategy lists.
pub fn possible_strategies() -> String {
    let names: Vec<&str> = STRATEGIES.iter().map(|strategy| strategy.name()).collect();
    format!("possible values: {}", names.join(", "))
}

/// Has programs that are started from here get the default of the signals that end them, also where
/// the tests were started with these ignored, as by `nohup` or in the background of a script: what is
/// ignored is inherited, and a handler is not.
fn take_ignored_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            if has_signal(std::process::id(), "SigIgn:", signal.cast_unsigned()) {
                // It does nothing here either.
                signal_hook::flag::register(signal, Arc::default()).unwrap();
            }
        }
    });
}

/// Does the process handle this signal itself?
pub fn handles(process: u32, number: u32) -> bool {
    has_signal(process, "SigCgt:", number)
}

/// Is a signal in this set of the process's status?
fn has_signal(process: u32, set: &str, number: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let signals = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
    u64::from_str_radix(signals.trim(), 16).unwrap() & (1 << (number - 1)) != 0
}

/// A command with nothing to read, whose output is captured.
pub fn piped(mut command: Command) -> Command {
    take_ignored_signals();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("RUST_BACKTRACE");
    command
}

/// The same command where no file grows beyond a number of blocks of 512 bytes: a run that writes
/// more stops there, however fast it is.
pub fn with_room(command: &Command, blocks: u64) -> Command {
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut limited = Command::new("sh");
    limited.args(["-c", &script]).arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    piped(limited)
}

/// Sends a signal, by its name as `kill` knows it, and waits until the process has taken it: the
/// system makes one signal of two equal ones that nobody has taken yet.
#[track_caller]
pub fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    wait_for("a signal's delivery", || {
        // The signals sent to a process that none of its threads has taken, as Linux counts them.
        // A process that is stopped takes none, and one that is gone has no status.
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let is_stopped = field("State:").is_some_and(|state| state.starts_with(['T', 'Z']));
        let is_taken = field("ShdPnd:").is_none_or(|pending| !pending.contains(|digit| digit != '0'));
        (is_stopped || is_taken).then_some(())
    });
}

/// Reads what a program prints, and sends it SIGINT after the first line.
#[track_caller]
pub fn interrupt_after_first_line(child: &mut Child) -> String {
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    reader.read_line(&mut printed).unwrap();
    signal(child, "-INT");
    reader.read_to_string(&mut printed).unwrap();
    printed
}

/// Runs a command with `input` on standard input.
pub fn feed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || {
        // A child that stops early closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// A folder that is removed on drop with everything in it.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn root(&self) -> String {
        self.0.path().to_str().unwrap().to_owned()
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.0.path().join(name), content).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// A FIFO with this name.
    pub fn pipe(&self, name: &str) -> String {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    pub fn exists(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }

    /// The names in it, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A file of the project's own fixtures.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A large list, which only some machines have beside the repository. What needs it is skipped
/// elsewhere.
pub fn large_list(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    skipped(&format!("the list {name} is not on this machine"));
    None
}

/// Reports that this test, or a part of it, cannot run on this machine. `.ci/run` counts these
/// lines.
pub fn skipped(reason: &str) {
    let thread = thread::current();
    // Directly to the stream, because the print macros are captured where a test passes.
    let mut stream = io::stderr().lock();
    writeln!(stream, "SKIPPED: {}: {reason}", thread.name().unwrap_or("a test")).unwrap();
}

/// A grid in letters.
pub fn grid(text: &str) -> Grid {
    let order = Order::from_cells(text.len()).unwrap_or_else(|| panic!("{} cells", text.len()));
    let mut grid = Grid::empty(order);
    let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
    format.read_cells(text.as_bytes(), &mut grid).unwrap();
    grid
}

/// A grid in letters, written.
pub fn text(grid: &Grid) -> String {
    let mut out = Vec::new();
    Format::new(Notation::Lines, grid.order(), Alphabet::Letters).unwrap().write_cells(grid, &mut out);
    String::from_utf8(out).unwrap()
}

/// Each on a line of its own.
pub fn lines(puzzles: &[String]) -> String {
    puzzles.iter().map(|puzzle| format!("{puzzle}\n")).collect()
}

/// Does this solve the puzzle, by the rules?
pub fn is_solution(solution: &str, puzzle: &str) -> bool {
    solution.len() == puzzle.len() && grid(solution).solves(&grid(puzzle))
}

/// The solution that an answer has to be.
#[track_caller]
pub fn solution(answer: &proto::Answer) -> &str {
    match &answer.result {
        Some(proto::answer::Result::Solution(solution)) => solution,
        other => panic!("not a solution: {other:?}"),
    }
}

/// The error that an answer has to be.
#[track_caller]
pub fn error(answer: &proto::Answer) -> &proto::PuzzleError {
    match &answer.result {
        Some(proto::answer::Result::Error(error)) => error,
        other => panic!("not an error: {other:?}"),
    }
}

#[track_caller]
pub fn assert_solves(solution: &str, puzzle: &str) {
    assert!(is_solution(solution, puzzle), "{solution} does not solve {puzzle}");
}

/// Options that name a strategy.
pub fn by(name: &str) -> proto::SolveOptions {
    proto::SolveOptions { strategy: name.to_owned(), ..Default::default() }
}

/// The same puzzle seen differently: digits relabelled, rows and columns exchanged within their
/// bands and stacks, bands and stacks exchanged, transposed. The number of solutions stays the
/// same.
pub fn disguise(grid: &Grid, seed: u64) -> Grid {
    let mut random = Random(seed);
    let (side, b) = (grid.order().side(), grid.order().box_side());
    let labels = random.permutation(side);
    let mut lines = || -> Vec<usize> {
        random
            .permutation(b)
            .into_iter()
            .flat_map(|band| random.permutation(b).into_iter().map(move |k| band * b + k))
            .collect()
    };
    let (rows, columns) = (lines(), lines());
    let is_transposed = random.below(2) == 1;
    let mut disguised = Grid::empty(grid.order());
    for row in 0..side {
        for column in 0..side {
            let digit = usize::from(grid.digits()[rows[row] * side + columns[column]]);
            let at = if is_transposed { column * side + row } else { row * side + column };
            let label = if digit == 0 { 0 } else { labels[digit - 1] + 1 };
            disguised.digits_mut()[at] = u8::try_from(label).unwrap();
        }
    }
    disguised
}

/// A puzzle of the fixture of the strategies, and what is known of it.
pub struct KnownPuzzle {
    pub puzzle: Grid,
    /// The number of its solutions, up to 50.
    pub solutions: u64,
    /// The only solution, or else the one that was found first, if any.
    pub solution: Option<Grid>,
    pub what: String,
}

/// All puzzles of the fixture of the strategies.
pub fn known_puzzles() -> Vec<KnownPuzzle> {
    let text = fs::read_to_string(fixture("strategies.txt")).unwrap();
    let known = |line: &str| {
        let mut fields = line.splitn(4, ' ');
        let mut next = || fields.next().unwrap();
        KnownPuzzle {
            puzzle: grid(next()),
            solutions: next().parse().unwrap(),
            solution: Some(next()).filter(|&text| text != "-").map(grid),
            what: next().to_owned(),
        }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(known).collect()
}

/// The most memory that a process has had, in KiB.
pub fn peak_memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Different 9x9 puzzles with one solution: disguises of those in the fixture of the strategies.
pub fn unique_puzzles(count: usize) -> Vec<String> {
    let is_unique = |known: &KnownPuzzle| known.solutions == 1 && known.puzzle.order() == Order::NINE;
    let unique: Vec<Grid> = known_puzzles().into_iter().filter(is_unique).map(|known| known.puzzle).collect();
    (0..count).map(|k| text(&disguise(&unique[k % unique.len()], k as u64))).collect()
}

/// Easy puzzles, and a line that is too short in every 97th place: the errors, which name their
/// lines, tell the places apart.
pub fn list(lines: usize) -> String {
    let puzzles = unique_puzzles(1_000);
    (0..lines)
        .map(|k| if k % 97 == 96 { "12\n".to_owned() } else { puzzles[k % 1_000].clone() + "\n" })
        .collect()
}

/// Makes the journal of a stopped run speak of the input as it is now, which stands for a file
/// system that keeps neither inodes nor times.
pub fn forge_version(input: &str, journal: &str) {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(input).unwrap();
    let mut content: serde_json::Value = serde_json::from_slice(&fs::read(journal).unwrap()).unwrap();
    content["run"]["version"] = serde_json::json!({
        "bytes": found.len(),
        "modified": [found.mtime(), found.mtime_nsec()],
        "changed": [found.ctime(), found.ctime_nsec()],
        "inode": found.ino(),
    });
    fs::write(journal, serde_json::to_vec(&content).unwrap()).unwrap();
}

/// Puts `end` not far behind what a stopped run has read of its input, instead of the rest, which would
/// keep other runs as long as it would have kept this one; and makes the journal speak of that. Returns
/// the lines of the input.
pub fn shorten(input: &str, journal: &str, end: &str) -> usize {
    const ROWS_BEHIND: usize = 20;
    let record: serde_json::Value = serde_json::from_slice(&fs::read(journal).unwrap()).unwrap();
    let read = usize::try_from(record["input_prefix"]["bytes"].as_u64().unwrap()).unwrap();
    let mut text = fs::read_to_string(input).unwrap();
    let behind: usize = text[read..].split_inclusive('\n').take(ROWS_BEHIND).map(str::len).sum();
    text.truncate(read + behind);
    text.push_str(end);
    fs::write(input, &text).unwrap();
    forge_version(input, journal);
    text.lines().count()
}

/// A small generator with a seed, so that a failure can be run again (`SplitMix64` by G. Steele et
/// al., 2014).
pub struct Random(pub u64);

impl Random {
    /// What is added to the state for each number.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// The number at `index`, from 0, of the generator with seed 0.
    pub fn at(index: u64) -> u64 {
        Self(index.wrapping_mul(Self::STEP)).next()
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    pub fn permutation(&mut self, length: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..length).collect();
        for last in (1..length).rev() {
            items.swap(last, self.below(last + 1));
        }
        items
    }
}

/// What a program wrote on standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it wrote on standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Panics with its standard error unless it ended well.
#[track_caller]
pub fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
}
