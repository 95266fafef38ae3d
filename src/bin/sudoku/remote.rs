//! `sudoku solve --server`: the same run on other machines.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use sudoku_stream::answer::{OutputForm, Task};
use sudoku_stream::client::{self, BLOCKS_AHEAD, ClientError, Endpoint, Notice, RetryPolicy, SolveJob};
use sudoku_stream::input::{InputError, Prefix, Reader};
use sudoku_stream::offline::{OfflineError, Output, OutputError, Progress};
use sudoku_stream::text::{Format, Hint};

use super::args::{ServerArgs, TrustArgs};

/// How many lines go in a message. Fewer cost more messages, more make answers come late.
pub const LINES_A_MESSAGE: usize = 1_024;

/// How often a run that waits for servers looks whether it was interrupted.
const CANCEL_POLL: Duration = Duration::from_millis(50);

/// The servers of a run, and how much is put up with from them.
pub struct Servers {
    pub endpoints: Vec<Endpoint>,
    retry: RetryPolicy,
}

impl Servers {
    /// One that wants to know nothing of us.
    pub fn open(url: &str) -> Self {
        Self { endpoints: vec![Endpoint::new(url)], retry: RetryPolicy::default() }
    }
}

/// The servers that were named, with what the files say by which they and we know each other.
///
/// # Errors
/// A file that cannot be read, or has no token in it.
pub fn servers(args: &ServerArgs) -> anyhow::Result<Servers> {
    let retry = RetryPolicy { retries: args.retries, ..RetryPolicy::default() };
    if args.urls.is_empty() {
        return Ok(Servers { endpoints: Vec::new(), retry });
    }
    let known = endpoint(&args.trust, "")?;
    let endpoint = |url: &String| Endpoint { url: url.clone(), ..known.clone() };
    Ok(Servers { endpoints: args.urls.iter().map(endpoint).collect(), retry })
}

/// One server, likewise.
///
/// # Errors
/// The same.
pub fn endpoint(args: &TrustArgs, url: &str) -> anyhow::Result<Endpoint> {
    let read = |path: &PathBuf| fs::read(path).with_context(|| path.display().to_string());
    let identity = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
        _ => None,
    };
    let token = match &args.token_file {
        None => None,
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            let is_token = |line: &&str| !line.is_empty() && !line.starts_with('#');
            let first = text.lines().map(str::trim).find(is_token).map(str::to_owned);
            Some(first.with_context(|| format!("{} has no token", path.display()))?)
        }
    };
    Ok(Endpoint { url: url.to_owned(), ca: args.tls_ca.as_ref().map(read).transpose()?, identity, token })
}

/// Answers every puzzle of `reader` on servers, as [`sudoku_stream::offline::solve`] does here. What happens to a server that the
/// run gets over is told to `notify`, in a sentence.
///
/// # Errors
/// What reading and writing meet, what servers say, or [`OfflineError::Cancelled`].
pub fn solve(
    servers: &Servers,
    reader: Reader,
    task: &Task,
    cancel: &Arc<AtomicBool>,
    output: &mut Output,
    mut watch: impl FnMut(&Progress),
    notify: impl Fn(&str),
) -> anyhow::Result<()> {
    let mut task = *task;
    if task.form == OutputForm::PaintedGrid {
        // The wire has no colours.
        task.form = OutputForm::Grid;
    }
    if reader.is_at_start() {
        output.write(task.form.heading(task.question).as_bytes()).map_err(OfflineError::from)?;
    }
    // The server is told what was found out here, so that it need not guess from less.
    let format = reader.format();
    let hint = Hint {
        notation: Some(format.notation()),
        alphabet: Some(format.alphabet().clone()),
        order: Some(format.order()),
    };
    let prelude = Bytes::copy_from_slice(reader.prelude());
    let job = SolveJob { task, hint, prelude, first_line: reader.line() };

    let (blocks, outbox) = tokio::sync::mpsc::channel(BLOCKS_AHEAD);
    let (ends, block_ends) = mpsc::channel();
    let feeder =
        thread::Builder::new().name("reader".to_owned()).spawn(move || feed(reader, &blocks, &ends))?;

    let sink = |lines: Bytes, tally: &_| -> Result<(), OutputError> {
        // It was told before the block was sent.
        let so_far = output.progress();
        let (end, prefix) = block_ends.try_recv().unwrap_or((so_far.bytes, so_far.prefix));
        output.add(end, prefix, &lines, tally)?;
        watch(output.progress());
        Ok(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let notify = |notice: &Notice| notify(&notice.to_string());
    let Servers { endpoints, retry } = servers;
    let result = runtime.block_on(async {
        tokio::select! {
            result = client::solve_lines(endpoints, retry, &job, outbox, sink, notify) => Some(result),
            () = raised(cancel) => None,
        }
    });
    // Somebody may still be looking up the name of a server, which nobody waits for.
    runtime.shutdown_background();
    match result {
        None => Err(OfflineError::Cancelled.into()),
        Some(Err(ClientError::Sink(error))) => Err(OfflineError::from(error).into()),
        Some(Err(error)) => Err(error.into()),
        Some(Ok(_)) => {
            let fed = feeder.join().ok().context("The thread that reads the input broke down")?;
            Ok(fed.map_err(OfflineError::from)?)
        }
    }
}

/// Waits until the flag is raised.
async fn raised(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(CANCEL_POLL).await;
    }
}

/// Cuts the input into messages, and says of each where in the input it ends.
fn feed(
    mut reader: Reader,
    blocks: &tokio::sync::mpsc::Sender<Bytes>,
    ends: &mpsc::Sender<(u64, Option<Prefix>)>,
) -> Result<(), InputError> {
    let format = reader.format().clone();
    while let Some(chunk) = reader.next_chunk()? {
        let mut text = chunk.block().text;
        while !text.is_empty() {
            let (message, rest) = text.split_at(message_len(&format, text));
            text = rest;
            let block = Bytes::copy_from_slice(message);
            // Nobody listens any more once the run has failed; why is known there.
            let end = (chunk.end() - rest.len() as u64, chunk.prefix());
            if ends.send(end).is_err() || blocks.blocking_send(block).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The length of the first message of a text: whole puzzles, about [`LINES_A_MESSAGE`] lines.
fn message_len(format: &Format, text: &[u8]) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', text).skip(LINES_A_MESSAGE - 1).step_by(LINES_A_MESSAGE);
    let whole = |end: usize| Some(format.cut(&text[..=end], false)).filter(|&length| length > 0);
    ends.find_map(whole).unwrap_or(text.len())
}
