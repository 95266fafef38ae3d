//! `sudoku solve --server`: the offline run with its searches on servers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;

use anyhow::Context as _;
use bytes::Bytes;
use sudoku_stream::answer::{OutputForm, Task};
use sudoku_stream::client::{self, BLOCKS_AHEAD, ClientError, Notice, SolveJob};
use sudoku_stream::input::{InputError, Prefix, Reader};
use sudoku_stream::offline::{OfflineError, Output, OutputError, Progress};
use sudoku_stream::text::{Format, Hint};

use crate::cli::interrupt;
use crate::cli::server::Servers;

/// Lines per message. Fewer lines cost more messages; more lines delay the answers.
const LINES_PER_MESSAGE: usize = 1_024;

/// Lines per message where a puzzle may take seconds, because a server spreads messages over its
/// threads.
const LINES_OF_SLOW_PUZZLES: usize = 8;

/// Answers every puzzle of `reader` on servers, as [`sudoku_stream::offline::solve`] does on this
/// machine. `notify` gets a sentence about every problem with a server that the run survives.
///
/// # Errors
/// Errors of input and output, of servers, or [`OfflineError::Cancelled`].
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
    if reader.is_at_start() && output.progress().tally.answers == 0 {
        output.write(&task.heading(reader.format())).map_err(OfflineError::from)?;
    }
    let lines = lines_per_message(&task, reader.format());
    let job = SolveJob { task, first_line: reader.line(), ..format_for_servers(&reader) };

    let (blocks, outbox) = tokio::sync::mpsc::channel(BLOCKS_AHEAD);
    let (ends, block_ends) = mpsc::channel();
    let reader_thread = thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || send_blocks(reader, lines, &blocks, &ends))?;

    let sink = |lines: Bytes, tally: &_| -> Result<(), OutputError> {
        // It was sent before the block.
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
            () = interrupt::raised(cancel) => None,
        }
    });
    // In the background, because a name look-up may still block a thread.
    runtime.shutdown_background();
    match result {
        None => Err(OfflineError::Cancelled.into()),
        Some(Err(ClientError::Sink(error))) => Err(OfflineError::from(error).into()),
        Some(Err(error)) => Err(error.into()),
        Some(Ok(_)) => {
            let fed = reader_thread.join().ok().context("The thread that reads the input broke down")?;
            Ok(fed.map_err(OfflineError::from)?)
        }
    }
}

/// What servers read the format of the input by, which each of them sees only a part of.
fn format_for_servers(reader: &Reader) -> SolveJob {
    let prelude = reader.prelude();
    let hint = Hint { has_heading: Some(!prelude.is_empty()), ..Hint::of(reader.format()) };
    SolveJob { hint, prelude: Bytes::copy_from_slice(prelude), ..SolveJob::default() }
}

/// Cuts the input into messages of about `lines` lines, and sends where in the input each of them
/// ends.
fn send_blocks(
    mut reader: Reader,
    lines: usize,
    blocks: &tokio::sync::mpsc::Sender<Bytes>,
    ends: &mpsc::Sender<(u64, Option<Prefix>)>,
) -> Result<(), InputError> {
    let format = reader.format().clone();
    let mut before = (0, None);
    while let Some(chunk) = reader.next_chunk()? {
        let mut text = chunk.block().text;
        while !text.is_empty() {
            let (message, rest) = text.split_at(message_len(&format, text, lines));
            text = rest;
            let block = Bytes::copy_from_slice(message);
            // The receivers are gone once the run has failed, and its error is known there.
            let end = match rest.len() as u64 {
                // Only where all lines of a chunk end is known where that is in a text that was converted.
                1.. if format.layout().is_some() => before,
                left => (chunk.end() - left, chunk.prefix()),
            };
            if ends.send(end).is_err() || blocks.blocking_send(block).is_err() {
                return Ok(());
            }
        }
        before = (chunk.end(), chunk.prefix());
    }
    Ok(())
}

/// The lines of a message, by how long its puzzles may take.
fn lines_per_message(task: &Task, format: &Format) -> usize {
    if task.answers_together(format.order()) { LINES_PER_MESSAGE } else { LINES_OF_SLOW_PUZZLES }
}

/// The length of the first message of a text: whole puzzles, about `lines` lines.
fn message_len(format: &Format, text: &[u8], lines: usize) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', text).skip(lines - 1).step_by(lines);
    let whole = |end: usize| Some(format.cut(&text[..=end], false)).filter(|&length| length > 0);
    ends.find_map(whole).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use sudoku_stream::answer::{AddedColumn, AddedColumns};
    use sudoku_stream::grid::Order;
    use sudoku_stream::solver::Backtracking;
    use sudoku_stream::text::detect;

    use super::*;

    #[test]
    fn puzzles_that_may_take_long_come_in_small_messages() {
        let lines = |task: &Task, side: usize| {
            let order = Order::ALL.into_iter().find(|order| order.side() == side).unwrap();
            let text = format!("{}\n", ".".repeat(order.cells())).repeat(20);
            let format =
                detect(text.as_bytes(), &Hint { order: Some(order), ..Hint::default() }).unwrap().format;
            let lines = lines_per_message(task, &format);
            assert_eq!(message_len(&format, text.as_bytes(), lines), lines.min(20) * (order.cells() + 1));
            lines
        };
        let columns = Some(AddedColumns::new(&[AddedColumn::Rating]));
        assert_eq!(lines(&Task::default(), 9), LINES_PER_MESSAGE);
        assert_eq!(
            lines(&Task { strategy: Some(&Backtracking), ..Task::default() }, 9),
            LINES_OF_SLOW_PUZZLES
        );
        assert_eq!(lines(&Task { columns, ..Task::default() }, 9), LINES_OF_SLOW_PUZZLES);
        assert_eq!(lines(&Task::default(), 25), LINES_OF_SLOW_PUZZLES);
    }
}
