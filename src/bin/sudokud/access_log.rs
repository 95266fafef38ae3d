//! The access log: a line of JSON for every call that has ended.
//!
//! **Invariant:** it never holds up a call. Lines wait in a bounded queue for a thread that writes
//! them; what finds the queue full is left out, and a line says how many were.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use anyhow::Context as _;
use serde::Serialize;
use sudoku_stream::service::{CallObserver, CallRecord};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

/// The lines that wait to be written.
const WAITING: usize = 8192;

/// The name of standard output.
const STANDARD_OUTPUT: &str = "-";

/// An access log that is open.
#[derive(Clone, Debug)]
pub struct AccessLog {
    orders: SyncSender<LogOrder>,
    left_out: Arc<AtomicU64>,
}

#[derive(Debug)]
enum LogOrder {
    Write(String),
    /// Open the file again, because it was moved away.
    Reopen,
}

/// A line.
#[derive(Serialize)]
struct AccessLine<'a> {
    time: &'a str,
    peer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    method: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    seconds: f64,
    messages: u64,
    lines: u64,
    request_id: &'a str,
}

/// The line about those that were left out.
#[derive(Serialize)]
struct LeftOut<'a> {
    time: &'a str,
    left_out: u64,
}

impl AccessLog {
    /// Opens a file to append to, or standard output for `-`.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(path: PathBuf) -> anyhow::Result<Self> {
        let target = target(&path)?;
        let (orders, receiver) = sync_channel(WAITING);
        let left_out = Arc::new(AtomicU64::new(0));
        let shared = Arc::clone(&left_out);
        thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || write(&path, target, &receiver, &shared))
            .context("The threads cannot be started")?;
        Ok(Self { orders, left_out })
    }

    /// What writes a line for each call.
    pub fn observer(&self) -> CallObserver {
        let log = self.clone();
        Arc::new(move |call: &CallRecord<'_>| {
            let line = AccessLine {
                time: &now(),
                peer: call.peer.to_string(),
                client: call.client,
                method: call.method,
                status: call.status,
                reason: call.reason,
                seconds: call.seconds,
                messages: call.messages,
                lines: call.lines,
                request_id: call.request_id,
            };
            log.order(LogOrder::Write(serde_json::to_string(&line).unwrap_or_default()));
        })
    }

    /// Opens the file again, after those that rotate logs have moved it away.
    pub fn reopen(&self) {
        self.order(LogOrder::Reopen);
    }

    fn order(&self, order: LogOrder) {
        if let Err(TrySendError::Full(_)) = self.orders.try_send(order) {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The time, as in the log.
fn now() -> String {
    let mut text = String::new();
    // Writing into memory does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

fn target(path: &PathBuf) -> anyhow::Result<Box<dyn Write + Send>> {
    if path.as_os_str() == STANDARD_OUTPUT {
        return Ok(Box::new(io::stdout()));
    }
    let cannot = || format!("The access log {} cannot be opened", path.display());
    // Opening a FIFO would wait for a reader.
    if std::fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        anyhow::bail!(
            "The access log {} is a folder; name a file, or - for standard output.",
            path.display()
        );
    }
    let file: File = OpenOptions::new().append(true).create(true).open(path).with_context(cannot)?;
    Ok(Box::new(file))
}

/// Writes lines until all senders are gone.
fn write(path: &PathBuf, first: Box<dyn Write + Send>, orders: &Receiver<LogOrder>, left_out: &AtomicU64) {
    let mut output = BufWriter::new(first);
    let mut waiting = None;
    loop {
        let Some(order) = waiting.take().or_else(|| orders.recv().ok()) else { return };
        let written = match order {
            LogOrder::Write(line) => writeln!(output, "{line}"),
            LogOrder::Reopen => match target(path) {
                Ok(target) => {
                    let flushed = output.flush();
                    output = BufWriter::new(target);
                    flushed
                }
                Err(error) => {
                    tracing::error!("{error:#}. The old one stays in use.");
                    Ok(())
                }
            },
        };
        let lost = left_out.swap(0, Ordering::Relaxed);
        let told = if lost == 0 {
            Ok(())
        } else {
            let line = LeftOut { time: &now(), left_out: lost };
            writeln!(output, "{}", serde_json::to_string(&line).unwrap_or_default())
        };
        waiting = orders.try_recv().ok();
        // Somebody may watch, so lines wait for company only while there is any.
        let flushed = if waiting.is_none() { output.flush() } else { Ok(()) };
        if let Err(error) = written.and(told).and(flushed) {
            tracing::error!(%error, "the access log cannot be written");
        }
    }
}
