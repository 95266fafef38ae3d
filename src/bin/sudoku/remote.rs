//! `sudoku solve --server`: the same run on another machine.

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
use sudoku_stream::batch::{BatchError, Output, OutputError, Progress};
use sudoku_stream::input::{InputError, Reader};
use sudoku_stream::service::client::{self, Access, BLOCKS_IN_FLIGHT, ClientError};
use sudoku_stream::text::{Format, Hint};

use super::args::ServerArgs;

/// How many lines go in a message. Fewer cost more messages, more make answers come late.
pub const LINES_A_MESSAGE: usize = 1_024;

/// How often a run that waits for the server looks whether it was interrupted.
const CANCEL_POLL: Duration = Duration::from_millis(50);

/// Reads the files by which the server and we know each other.
///
/// # Errors
/// A file that cannot be read, or has no token in it.
pub fn access(args: &ServerArgs, url: &str) -> anyhow::Result<Access> {
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
    Ok(Access { url: url.to_owned(), ca: args.tls_ca.as_ref().map(read).transpose()?, identity, token })
}

/// Answers every puzzle of `reader` on a server, as [`sudoku_stream::batch::solve`] does here.
///
/// # Errors
/// What reading and writing meet, what the server says, or [`BatchError::Cancelled`].
pub fn solve(
    access: &Access,
    reader: Reader,
    task: &Task,
    cancel: &Arc<AtomicBool>,
    output: &mut Output,
    mut watch: impl FnMut(&Progress),
) -> anyhow::Result<()> {
    let mut task = *task;
    if task.form == OutputForm::PaintedGrid {
        // The wire has no colours.
        task.form = OutputForm::Grid;
    }
    if reader.is_at_start() {
        output.write(task.form.heading(task.question).as_bytes()).map_err(BatchError::from)?;
    }
    // The server is told what was found out here, so that it need not guess from less.
    let format = reader.format();
    let hint = Hint {
        notation: Some(format.notation()),
        alphabet: Some(format.alphabet().clone()),
        order: Some(format.order()),
    };
    let first_line = reader.line() - u64::from(!reader.prelude().is_empty());

    let (blocks, outbox) = tokio::sync::mpsc::channel(BLOCKS_IN_FLIGHT);
    let (ends, block_ends) = mpsc::channel();
    let feeder =
        thread::Builder::new().name("reader".to_owned()).spawn(move || feed(reader, &blocks, &ends))?;

    let sink = |lines: Bytes, tally: &_| -> Result<(), OutputError> {
        // It was told before the block was sent.
        let end = block_ends.try_recv().unwrap_or(output.progress().bytes);
        output.add(end, &lines, tally)?;
        watch(output.progress());
        Ok(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        tokio::select! {
            result = client::solve_lines(access, &task, &hint, first_line, outbox, sink) => Some(result),
            () = raised(cancel) => None,
        }
    });
    match result {
        None => Err(BatchError::Cancelled.into()),
        Some(Err(ClientError::Sink(error))) => Err(BatchError::from(error).into()),
        Some(Err(error)) => Err(error.into()),
        Some(Ok(_)) => {
            let fed = feeder.join().ok().context("The thread that reads the input broke down")?;
            Ok(fed.map_err(BatchError::from)?)
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
    ends: &mpsc::Sender<u64>,
) -> Result<(), InputError> {
    let format = reader.format().clone();
    let mut prelude = reader.prelude().to_vec();
    while let Some(chunk) = reader.next_chunk()? {
        let mut text = chunk.block().text;
        while !text.is_empty() {
            let (message, rest) = text.split_at(message_len(&format, text));
            text = rest;
            prelude.extend_from_slice(message);
            let block = Bytes::from(std::mem::take(&mut prelude));
            // Nobody listens any more once the run has failed; why is known there.
            if ends.send(chunk.end() - rest.len() as u64).is_err() || blocks.blocking_send(block).is_err() {
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
