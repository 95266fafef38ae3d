//! A fault: how it is made, what must happen, and what was seen to happen.

use std::cell::RefCell;
use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use libtest_mimic::{Completion, Failed, Trial};
use sudoku_stream::build_info;
use sudoku_stream::poison::IgnorePoison as _;

/// One fault, or one part of a row of faults.
pub struct Row {
    /// The number of the row in `docs/reliability.md`.
    pub number: u8,
    /// What goes wrong, in a few words.
    pub fault: &'static str,
    /// What must happen then.
    pub expected: &'static str,
    /// Makes the fault happen. Panics, as any test, where something else is seen than what must
    /// happen.
    pub run: fn() -> Seen,
}

/// What was seen.
pub enum Seen {
    /// What had to happen, in a few words, with figures where there are any.
    Good(String),
    /// Nothing, since this machine lacks something that it takes.
    Skipped(String),
}

impl Seen {
    pub fn good(words: impl Into<String>) -> Self {
        Self::Good(words.into())
    }
}

/// Rows share the machine, unless one wants it for itself.
static MACHINE: RwLock<()> = RwLock::new(());

thread_local! {
    /// The share of the row that runs on this thread.
    static SHARE: RefCell<Option<RwLockReadGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// For rows that measure time: waits until no other row runs, and holds the others back for as
/// long as the guard lives.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    SHARE.set(None);
    MACHINE.write().ignore_poison()
}

/// The file that the table is written to, if it is. Who asks for one runs all rows on a machine that has nothing else to do.
pub fn recorded_to() -> Option<OsString> {
    env::var_os("FAULTS_FILE")
}

/// Runs a row, which shares the machine until it says otherwise.
fn run(row: fn() -> Seen) -> std::thread::Result<Seen> {
    SHARE.set(Some(MACHINE.read().ignore_poison()));
    let seen = std::panic::catch_unwind(row);
    SHARE.set(None);
    seen
}

/// What was seen of every row that has run.
static RECORD: Mutex<Vec<(u8, &str, &str, String)>> = Mutex::new(Vec::new());

fn record(row: &Row, seen: &str) {
    let mut record = RECORD.lock().ignore_poison();
    record.push((row.number, row.fault, row.expected, seen.to_owned()));
}

impl Row {
    /// The row as a test. One that is skipped is counted as ignored, never as passed.
    pub fn into_trial(self) -> Trial {
        let name = format!("row {:02}: {}", self.number, self.fault);
        Trial::ignorable_test(name, move || match run(self.run) {
            Ok(Seen::Good(seen)) => {
                record(&self, &seen);
                Ok(Completion::Completed)
            }
            Ok(Seen::Skipped(reason)) => {
                eprintln!("SKIPPED: row {}, {}: {reason}", self.number, self.fault);
                record(&self, &format!("SKIPPED: {reason}"));
                Ok(Completion::ignored_with(reason))
            }
            Err(panic) => {
                let words = panic.downcast_ref::<String>().map(String::as_str);
                let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                record(&self, &format!("FAILED: {words}"));
                Err(Failed::from(words))
            }
        })
    }
}

/// All that has run, as a table in Markdown.
pub fn table() -> String {
    let mut record = RECORD.lock().ignore_poison();
    record.sort();
    let mut table = String::from("| # | fault | must happen | seen |\n|---|---|---|---|\n");
    for (number, fault, expected, seen) in record.iter() {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(table, "| {number} | {} | {} | {} |", cell(fault), cell(expected), cell(seen));
    }
    table
}

/// The document about reliability: how it was made, and the table.
pub fn document() -> String {
    let record = RECORD.lock().ignore_poison();
    let starts = |word: &str| record.iter().filter(|(.., seen)| seen.starts_with(word)).count();
    let (skipped, failed) = (starts("SKIPPED"), starts("FAILED"));
    let passed = record.len() - skipped - failed;
    drop(record);
    format!(
        "# Reliability\n\n\
         What can go wrong is made to go wrong, to the built programs and from outside.\n\
         `just faults` does it and writes this file; `just faults \"row 16\"` runs one row.\n\n\
         - \"Serving\" means that another client's call right after is answered correctly, which holds in every row.\n\
         - The short soak of row 39 is part of this run; `just soak` takes ten minutes, \
         and [performance.md](performance.md#memory) has its figures.\n\
         - Row 37 runs the seeds of the fuzz targets, and some that are changed; `just fuzz all` searches on from them.\n\
         - Row 38 reports the last `just sanitize`.\n\n\
         Run on {date} at commit {commit}, {profile} profile, on {machine}, {os} {architecture}: \
         {passed} faults with the outcome that must be, {failed} FAILED, \
         {skipped} SKIPPED for the reason in their row.\n\n{table}",
        date = printed("date", &["-u", "+%F"]).unwrap_or_else(|| "an unknown date".to_owned()),
        commit = printed("git", &["describe", "--always", "--abbrev=12", "--dirty= with changes"])
            .unwrap_or_else(|| build_info::COMMIT.to_owned()),
        profile = if cfg!(debug_assertions) { "dev" } else { "release" },
        machine = machine(),
        os = env::consts::OS,
        architecture = env::consts::ARCH,
        table = table(),
    )
}

/// What a command prints, on one line.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let output = Command::new(program).args(arguments).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The kind of machine: processor and cores.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", model.map_or("a machine", |(_, name)| name.trim()))
}
