//! A fault: how it is made, what must happen, and what was seen to happen.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use libtest_mimic::{Completion, Failed, Trial};

/// One fault, or one part of a row of faults.
pub struct Row {
    /// The number of the row in the README's table.
    pub number: u8,
    /// What goes wrong, in a few words.
    pub fault: &'static str,
    /// What must happen then.
    pub expected: &'static str,
    /// Makes the fault happen. Panics, as any test, where something else is seen than what must happen.
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

/// For rows that measure time: waits until no other row runs, and holds the others back for as long as the
/// guard lives.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    SHARE.set(None);
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a row, which shares the machine until it says otherwise.
fn run(row: fn() -> Seen) -> std::thread::Result<Seen> {
    SHARE.set(Some(MACHINE.read().unwrap_or_else(PoisonError::into_inner)));
    let seen = std::panic::catch_unwind(row);
    SHARE.set(None);
    seen
}

/// What was seen of every row that has run.
static RECORD: Mutex<Vec<(u8, &str, &str, String)>> = Mutex::new(Vec::new());

fn record(row: &Row, seen: &str) {
    let mut record = RECORD.lock().unwrap_or_else(PoisonError::into_inner);
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
    let mut record = RECORD.lock().unwrap_or_else(PoisonError::into_inner);
    record.sort();
    let mut table = String::from("| # | fault | must happen | seen |\n|---|---|---|---|\n");
    for (number, fault, expected, seen) in record.iter() {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(table, "| {number} | {} | {} | {} |", cell(fault), cell(expected), cell(seen));
    }
    table
}
