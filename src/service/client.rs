//! The other end: solving lines on a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use super::convert::{options_from, tally_from};
use super::proto::sudoku_service_client::SudokuServiceClient;
use super::{CONNECTION_WINDOW_BYTES, FRAME_BYTES, LOCAL_ERROR_RESETS, STREAM_WINDOW_BYTES, proto};
use crate::answer::{Tally, Task};
use crate::text::Hint;

/// How many blocks may be on their way to the server, besides what it has read.
pub const BLOCKS_IN_FLIGHT: usize = 8;

/// The largest answer to one block. A block of the largest message a server takes by default, answered in the widest
/// form, is a few times its size; this is far beyond that.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why lines could not be solved on a server. `E` is the error of the caller's sink.
#[derive(Debug, thiserror::Error)]
pub enum ClientError<E> {
    /// Not the address of a server.
    #[error("`{0}` is no server address. Write it like http://127.0.0.1:50051.")]
    Address(String),
    /// Nobody answers there.
    #[error("No server answers at {0}: start one with sudokud.")]
    NoServer(String),
    /// The connection broke.
    #[error("The connection to {url} was lost after {answered} answers: {message}")]
    Lost {
        /// The server.
        url: String,
        /// The answers received before.
        answered: u64,
        /// What the transport or the server says.
        message: String,
    },
    /// The server ended the stream with a status.
    #[error("The server refused after {answered} answers: {message}")]
    Refused {
        /// The answers received before.
        answered: u64,
        /// What the server says.
        message: String,
    },
    /// The server ended the stream without a word and without all answers.
    #[error(
        "The server left out the answers to {missing} blocks of lines. Try again; if it stays so, the server is at fault."
    )]
    Incomplete {
        /// The blocks that were sent and not answered.
        missing: u64,
    },
    /// The caller's sink does not want more.
    #[error(transparent)]
    Sink(E),
}

/// Solves blocks of lines on the server at `url`. Each block holds whole lines, 256 to 1,024 of them at best, and at
/// most what the server takes in a message, 1 MiB by default. `sink` gets the answers to each block, in order.
///
/// `first_line` is the number of the first line, from 1.
///
/// The server holds back `blocks` when it, or `sink`, cannot keep up, so memory is bounded by the channel and
/// the windows of the connection.
///
/// # Errors
/// [`ClientError`]; the answers that `sink` got before are right.
pub async fn solve_lines<E>(
    url: &str,
    task: &Task,
    hint: &Hint,
    first_line: u64,
    blocks: mpsc::Receiver<Bytes>,
    mut sink: impl FnMut(Bytes, &Tally) -> Result<(), E>,
) -> Result<Tally, ClientError<E>> {
    let channel = connect(url).await?;
    let mut client = SudokuServiceClient::new(channel).max_decoding_message_size(MAX_ANSWER_BYTES);

    let sent = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&sent);
    let mut options = Some(options_from(task, hint));
    let mut first_line = first_line;
    let requests = ReceiverStream::new(blocks).map(move |lines| {
        counter.fetch_add(1, Ordering::Relaxed);
        let first_line = std::mem::take(&mut first_line);
        proto::SolveLinesRequest { options: options.take(), lines, first_line }
    });

    let mut total = Tally::default();
    let mut received = 0;
    let mut responses = match client.solve_lines(requests).await {
        Ok(response) => response.into_inner(),
        Err(status) => return Err(failure(url, &total, &status)),
    };
    loop {
        match responses.message().await {
            Ok(Some(response)) => {
                received += 1;
                let tally = response.tally.as_ref().map(tally_from).unwrap_or_default();
                total.add(&tally);
                sink(response.lines, &tally).map_err(ClientError::Sink)?;
            }
            Ok(None) => break,
            Err(status) => return Err(failure(url, &total, &status)),
        }
    }
    match sent.load(Ordering::Relaxed).saturating_sub(received) {
        0 => Ok(total),
        missing => Err(ClientError::Incomplete { missing }),
    }
}

async fn connect<E>(url: &str) -> Result<Channel, ClientError<E>> {
    let bad_address = || ClientError::Address(url.to_owned());
    if !url.starts_with("http://") {
        return Err(bad_address());
    }
    Endpoint::from_shared(url.to_owned())
        .map_err(|_| bad_address())?
        .connect_timeout(CONNECT_TIMEOUT)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES)
        .http2_max_local_error_reset_streams(LOCAL_ERROR_RESETS)
        .connect()
        .await
        .map_err(|_| ClientError::NoServer(url.to_owned()))
}

/// Tells a server that refuses from one that has gone.
fn failure<E>(url: &str, total: &Tally, status: &Status) -> ClientError<E> {
    let answered = total.answers;
    let message = status.message().to_owned();
    match status.code() {
        Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled => {
            ClientError::Lost { url: url.to_owned(), answered, message }
        }
        _ => ClientError::Refused { answered, message },
    }
}
