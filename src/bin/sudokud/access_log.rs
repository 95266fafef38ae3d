//! The access log: a line of JSON for every call that has ended.
//!
//! **Invariant:** it never holds up a call. Lines wait in a bounded queue for a thread that writes
//! them; what finds the queue full is left out, and a line says how many were. At the end of the
//! process those that wait are written, for a second at most.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde::Serialize;
use sudoku_stream::poison::IgnorePoison as _;
use sudoku_stream::service::{CallObserver, CallRecord};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

/// The lines that wait to be written.
const WAITING: usize = 8192;

/// The most time for the lines that wait at the end of the process.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// The name of standard output.
const STANDARD_OUTPUT: &str = "-";

/// An access log that is open.
#[derive(Clone, Debug)]
pub struct AccessLog {
    orders: SyncSender<LogOrder>,
    shared: Arc<Shared>,
}

/// What the thread that writes is told beside its orders, also when the queue is full.
#[derive(Debug, Default)]
struct Shared {
    /// The lines that were left out and not yet told.
    left_out: AtomicU64,
    /// Whether the file was moved away, and is to be opened again.
    is_moved: AtomicBool,
    /// Who waits until nothing waits to be written.
    flush: Mutex<Option<SyncSender<()>>>,
}

#[derive(Debug)]
enum LogOrder {
    Write(String),
    /// Look at what is shared.
    Wake,
}

/// A line.
#[derive(Serialize)]
struct AccessLine<'a> {
    time: &'a str,
    peer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    protocol: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<&'a str>,
    method: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    seconds: f64,
    received_bytes: u64,
    sent_bytes: u64,
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
        let (log, receiver) = Self::with_queue();
        let shared = Arc::clone(&log.shared);
        thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || write(&path, target, &receiver, &shared))
            .context("The threads cannot be started")?;
        Ok(log)
    }

    /// A log, and the orders that its thread is to take.
    fn with_queue() -> (Self, Receiver<LogOrder>) {
        let (orders, receiver) = sync_channel(WAITING);
        (Self { orders, shared: Arc::default() }, receiver)
    }

    /// What writes a line for each call.
    pub fn observer(&self) -> CallObserver {
        let log = self.clone();
        Arc::new(move |call: &CallRecord<'_>| {
            let line = AccessLine {
                time: &now(),
                peer: call.peer.to_string(),
                client: call.client,
                protocol: call.protocol,
                user_agent: call.user_agent,
                method: call.method,
                status: call.status,
                reason: call.reason,
                seconds: call.seconds,
                received_bytes: call.received_bytes,
                sent_bytes: call.sent_bytes,
                messages: call.messages,
                lines: call.lines,
                request_id: call.request_id,
            };
            log.write(serde_json::to_string(&line).unwrap_or_default());
        })
    }

    /// Opens the file again, after those that rotate logs have moved it away.
    pub fn reopen(&self) {
        self.shared.is_moved.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Waits until the lines of all calls that have ended are written, for a second at most.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        *self.shared.flush.lock().ignore_poison() = Some(done);
        self.wake();
        // Whether it was in time does not matter any more.
        let _ = written.recv_timeout(FLUSH_TIME);
    }

    /// Makes the thread look at what is shared. While the queue is full, it is awake and looks anyway.
    fn wake(&self) {
        let _ = self.orders.try_send(LogOrder::Wake);
    }

    fn write(&self, line: String) {
        if let Err(TrySendError::Full(_)) = self.orders.try_send(LogOrder::Write(line)) {
            self.shared.left_out.fetch_add(1, Ordering::Relaxed);
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
    if std::fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        anyhow::bail!(
            "The access log {} is a folder; name a file, or - for standard output.",
            path.display()
        );
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    // Opening a FIFO that nobody reads would wait for a reader. Like this it fails. Lines are written as
    // fast as they are read, though.
    let file: File = options.custom_flags(libc::O_NONBLOCK).open(path).with_context(cannot)?;
    let flags = fcntl_getfl(&file).map_err(io::Error::from).with_context(cannot)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(io::Error::from).with_context(cannot)?;
    Ok(Box::new(file))
}

/// Writes lines until all senders are gone.
fn write(path: &PathBuf, first: Box<dyn Write + Send>, orders: &Receiver<LogOrder>, shared: &Shared) {
    let mut output = BufWriter::new(first);
    let mut waiting = None;
    loop {
        let Some(order) = waiting.take().or_else(|| orders.recv().ok()) else { return };
        let mut flushed = Ok(());
        if shared.is_moved.swap(false, Ordering::Relaxed) {
            match target(path) {
                Ok(target) => {
                    flushed = output.flush();
                    output = BufWriter::new(target);
                }
                Err(error) => tracing::error!("{error:#}. The old one stays in use."),
            }
        }
        let written = match order {
            LogOrder::Write(line) => writeln!(output, "{line}"),
            LogOrder::Wake => Ok(()),
        };
        let lost = shared.left_out.swap(0, Ordering::Relaxed);
        let told = if lost == 0 {
            Ok(())
        } else {
            let line = LeftOut { time: &now(), left_out: lost };
            writeln!(output, "{}", serde_json::to_string(&line).unwrap_or_default())
        };
        waiting = orders.try_recv().ok();
        // Somebody may watch, so lines wait for company only while there is any.
        if waiting.is_none() {
            flushed = flushed.and(output.flush());
        }
        if let Err(error) = written.and(told).and(flushed) {
            tracing::error!(%error, "the access log cannot be written");
        }
        if waiting.is_none()
            && let Some(done) = shared.flush.lock().ignore_poison().take()
        {
            // Whoever asked may be tired of waiting.
            let _ = done.try_send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_full_queue_loses_neither_a_hangup_nor_what_waits_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("log"), folder.path().join("log.1"));
        let first = target(&path).unwrap();
        let (log, orders) = AccessLog::with_queue();
        for _ in 0..WAITING {
            log.write("{}".to_owned());
        }
        fs::rename(&path, &moved).unwrap();
        log.reopen();
        let (shared, file) = (Arc::clone(&log.shared), path.clone());
        let writer = thread::spawn(move || write(&file, first, &orders, &shared));
        log.flush();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n".repeat(WAITING));
        assert_eq!(fs::read_to_string(&moved).unwrap(), "");
        drop(log);
        writer.join().unwrap();
    }
}
