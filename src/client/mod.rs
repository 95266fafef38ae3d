//! The client: solving lines on one server or several.
//!
//! ```text
//!                       ┌─▶ worker ⇄ server A
//!   blocks ──▶ queue ───┼─▶ worker ⇄ server B      each takes the oldest waiting block
//!                │      └─▶ worker ⇄ server C      as soon as its server has capacity for one more
//!                ▼
//!     sink: answers in order
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `queue.rs` | every block, until its answers are written |
//! | `worker.rs` | one server: connects, sends, returns unanswered blocks when it is lost, retries |
//! | `endpoint.rs` | the address of a server, and what it takes to connect |
//! | `handshake.rs` | TLS handshakes that fail: what is wrong, and what helps |
//! | `plain.rs` | plain connections, which notice TLS and HTTP/1 at the other end |
//! | `probe.rs` | whether a server serves |
//! | `response_stream.rs` | responses, from before the server has accepted the call |
//!
//! **Invariant:** every stream begins with the options and the prelude or the sample, and every
//! message carries the number of its first line, so a block can go to any server at any time.
//! Failover relies on it.

mod causes;
pub(crate) mod endpoint;
mod handshake;
mod plain;
mod probe;
mod queue;
pub(crate) mod response_stream;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tonic::Status;
use tonic::transport::Channel;

use endpoint::Connector;
pub use endpoint::Endpoint;
pub use probe::{Probe, ProbeError};
use worker::{ServerWorker, StreamHeader, WorkerEnd};

use queue::BlockQueue;
pub(crate) use worker::MAX_ANSWER_BYTES;

use crate::answer::{Tally, Task};
use crate::counted::counted;
use crate::service::wire::convert::options_from;
use crate::service::wire::status::sanitize;
use crate::text::Hint;

/// The blocks that may be read ahead of the servers: the capacity for the channel of
/// [`solve_lines`].
pub const BLOCKS_AHEAD: usize = 8;

/// The time that servers have to end their streams after the last answer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The error of one server, or of the connection to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address is malformed.
    #[error(
        "`{0}` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051."
    )]
    Address(String),
    /// The certificates or the token given for the server cannot be used.
    #[error("{0}")]
    Credentials(String),
    /// The TLS handshake failed: a sentence that says what is wrong and what helps.
    #[error("{0}")]
    Handshake(String),
    /// The server speaks something else than HTTP/2 as the address has it: a sentence.
    #[error("{0}")]
    OtherProtocol(String),
    /// No server answers at the address.
    #[error("No server answers at {0}: start one with sudokud.")]
    NoServer(String),
    /// The name in the address has no address in the network.
    #[error("No server answers at {0}: that name is not known here.")]
    UnknownName(String),
    /// The server is at its limit of open calls.
    #[error("{url} is busy: {message}")]
    Busy {
        /// The server.
        url: String,
        /// The server's message.
        message: String,
    },
    /// The connection or the stream broke.
    #[error("The connection to {url} was lost after {}: {message}", counted(*answered, "answer"))]
    Lost {
        /// The server.
        url: String,
        /// The answers received from it before.
        answered: u64,
        /// The message of the transport or the server.
        message: String,
    },
    /// The server wants a token, or does not know the one that it got.
    #[error("{url}: {message} The first token of the file that --token-file names is sent.")]
    Token {
        /// The server.
        url: String,
        /// The server's message.
        message: String,
    },
    /// More or fewer answers came than there are puzzles: from a server that reads the lines in another
    /// way, or through a proxy that keeps some back or sends some twice.
    #[error(
        "{url} sent {} to the lines from {line} on, which have {}. Check the server's version and any proxy on the way, or solve the list without a server.",
        counted(*answers, "answer"),
        counted(*puzzles, "puzzle")
    )]
    Miscounted {
        /// The server.
        url: String,
        /// The number of the first line.
        line: u64,
        /// The puzzles on the lines of the message.
        puzzles: u64,
        /// The answers to them.
        answers: u64,
    },
    /// The server ended the stream with a status.
    #[error("The server refused after {}: {message}", counted(*answered, "answer"))]
    Refused {
        /// The answers received from it before.
        answered: u64,
        /// The server's message.
        message: String,
    },
}

impl ServerError {
    /// Whether the error may pass by itself, so that retrying makes sense.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::NoServer(_) | Self::UnknownName(_) | Self::Busy { .. } | Self::Lost { .. })
    }
}

/// The error of lines that could not be solved on servers. `E` is the error of the caller's sink.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError<E> {
    /// The list of servers is empty.
    #[error("No server was named.")]
    NoServers,
    /// A server failed, and retrying is useless.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Every server failed, and retrying has not helped.
    #[error("{}", retries_exhausted(*.retries, .errors))]
    RetriesExhausted {
        /// The most retries in a row for each server.
        retries: u32,
        /// The last error of each server.
        errors: Vec<ServerError>,
    },
    /// The caller's sink failed.
    #[error(transparent)]
    Sink(E),
}

fn retries_exhausted(retries: u32, errors: &[ServerError]) -> String {
    let mut sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
    sentences.extend(match (errors.len(), retries) {
        (_, 0) => None,
        (1, 1) => Some("It was tried once more.".to_owned()),
        (1, _) => Some(format!("It was tried {retries} more times.")),
        _ => Some(format!("Each was tried up to {retries} more times.")),
    });
    sentences.join(" ")
}

/// An event of a server during a run. Its text is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Notice {
    /// The server failed, and is retried.
    #[error("{error} {}", trying_again(*.retries))]
    Failed {
        /// The error.
        error: ServerError,
        /// The retries left before it is given up.
        retries: u32,
    },
    /// The server with this address answers again.
    #[error("{0} answers again.")]
    Back(String),
    /// The server is given up; others go on.
    #[error("{error} It is given up; the other servers go on.")]
    GivenUp {
        /// The error.
        error: ServerError,
    },
}

/// What a status of a server says, as a sentence that others can follow, fit for a terminal.
pub(crate) fn said(status: &Status) -> String {
    let words = if status.message().is_empty() { status.code().description() } else { status.message() };
    let words = sanitize(words);
    if words.ends_with(['.', '!', '?', '…']) { words } else { words + "." }
}

fn trying_again(retries: u32) -> String {
    match retries {
        1 => "Trying once more.".to_owned(),
        _ => format!("Trying again, up to {retries} times."),
    }
}

/// The retry and liveness policy for one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most retries in a row, without any answer in between (default: 10).
    pub retries: u32,
    /// The delay before the first retry (default: 100 ms). Each later one is twice as long, and
    /// each is cut by up to half at random, so that many clients of a server do not all retry at
    /// once.
    pub first_pause: Duration,
    /// The longest delay (default: 5 s).
    pub longest_pause: Duration,
    /// The most time for connecting (default: 5 s).
    pub connect_timeout: Duration,
    /// The time after which a silent server is pinged (default: 10 s).
    pub ping_interval: Duration,
    /// The most time for the answer to a ping (default: 10 s).
    pub ping_timeout: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 10,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(5),
            ping_interval: Duration::from_secs(10),
            ping_timeout: Duration::from_secs(10),
        }
    }
}

/// The task of a run, and the format of its lines.
#[derive(Clone)]
pub struct SolveJob {
    /// The task for every puzzle.
    pub task: Task,
    /// The format of the puzzles. A server detects what is left open from the block that it gets
    /// first, so leave nothing open for several servers, or give them a sample. Where notation and
    /// heading are known, the answers to each block are counted, and the blocks begin behind the
    /// text's byte-order mark.
    pub hint: Hint,
    /// The line before the first puzzle that declares the format, if any; it is no part of the
    /// blocks.
    pub prelude: Bytes,
    /// The beginning of the text, from which servers detect the format of all blocks, as far as the
    /// hint leaves it open: all of a short text, or 64 KiB, behind its byte-order mark. Then nothing
    /// is detected from blocks, and there is no prelude. Empty if the hint says everything.
    pub sample: Bytes,
    /// The number of the first line of the first block, from 1.
    pub first_line: u64,
}

impl Default for SolveJob {
    fn default() -> Self {
        let (prelude, sample) = (Bytes::new(), Bytes::new());
        Self { task: Task::default(), hint: Hint::default(), prelude, sample, first_line: 1 }
    }
}

/// Connects to a server, with the same flow control as the server's. A token is for calls and not
/// for connections, so it is not sent.
///
/// # Errors
/// [`ServerError`] about the address, the credentials or the connection.
pub async fn connect(endpoint: &Endpoint) -> Result<Channel, ServerError> {
    Connector::new(endpoint, &RetryPolicy::default())?.connect().await
}

/// Starts a worker for each server. What happens to them comes through the channel.
fn start(
    servers: &[Endpoint],
    retry: &RetryPolicy,
    job: &SolveJob,
    queue: &Arc<BlockQueue>,
) -> Result<(JoinSet<WorkerEnd>, mpsc::UnboundedReceiver<Notice>), ServerError> {
    let servers: Vec<Connector> =
        servers.iter().map(|endpoint| Connector::new(endpoint, retry)).collect::<Result<_, _>>()?;
    let has_heading = if job.prelude.is_empty() { job.hint.has_heading } else { Some(true) };
    let header = Arc::new(StreamHeader {
        options: options_from(&job.task, &Hint { has_heading, ..job.hint.clone() }),
        prelude: job.prelude.clone(),
        sample: job.sample.clone(),
        notation: job.hint.notation.filter(|_| has_heading.is_some()),
    });
    let (noticing, notices) = mpsc::unbounded_channel();
    let mut workers = JoinSet::new();
    for (number, server) in servers.into_iter().enumerate() {
        let (queue, header) = (Arc::clone(queue), Arc::clone(&header));
        workers.spawn(ServerWorker::new(number, server, *retry, queue, header, noticing.clone()).run());
    }
    Ok((workers, notices))
}

/// Solves blocks of lines on all servers at once.
///
/// Each block holds whole lines, 256 to 1,024 of them at best, and at most what the servers accept
/// in a message, 1 MiB by default. `sink` gets the answers to each block, in order and exactly
/// once, whatever happens to servers; `notify` gets what happens to them.
///
/// No block is taken from `blocks` while the servers or `sink` cannot keep up, so memory is
/// bounded: by 256 blocks, and by 32 MiB of blocks and answers, besides what servers are sending.
///
/// # Errors
/// [`ClientError`]; the answers that `sink` got before are valid.
pub async fn solve_lines<E>(
    servers: &[Endpoint],
    retry: &RetryPolicy,
    job: &SolveJob,
    mut blocks: mpsc::Receiver<Bytes>,
    mut sink: impl FnMut(Bytes, &Tally) -> Result<(), E>,
    mut notify: impl FnMut(&Notice),
) -> Result<Tally, ClientError<E>> {
    if servers.is_empty() {
        return Err(ClientError::NoServers);
    }
    let queue = Arc::new(BlockQueue::new(job.first_line));
    // Dropping the set aborts all workers, however this function returns.
    let (mut workers, mut notices) = start(servers, retry, job, &queue)?;
    let mut total = Tally::default();
    let mut is_complete = false;
    let mut given_up = Vec::new();
    loop {
        let more = async {
            queue.wait_for_capacity().await;
            blocks.recv().await
        };
        tokio::select! {
            // Answers are written first, whatever else has happened.
            biased;
            oldest = queue.oldest() => match oldest {
                Some(answers) => {
                    total.add(&answers.tally);
                    sink(answers.lines, &answers.tally).map_err(ClientError::Sink)?;
                }
                None => break,
            },
            Some(notice) = notices.recv() => notify(&notice),
            Some(ended) = workers.join_next() => match ended {
                // Everything is answered.
                Ok(WorkerEnd::Complete) => {}
                Ok(WorkerEnd::Refused(error)) => return Err(error.into()),
                Ok(WorkerEnd::RetriesExhausted(error)) => {
                    given_up.push(error);
                    match (workers.is_empty(), given_up.last()) {
                        (false, Some(error)) => notify(&Notice::GivenUp { error: error.clone() }),
                        _ => return Err(ClientError::RetriesExhausted { retries: retry.retries, errors: given_up }),
                    }
                }
                Err(failed) => match failed.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // Only the end of the runtime aborts a worker.
                    Err(_) => return Err(ClientError::RetriesExhausted { retries: 0, errors: given_up }),
                },
            },
            block = more, if !is_complete => match block {
                Some(lines) => queue.push(lines),
                None => {
                    is_complete = true;
                    queue.complete();
                }
            },
        }
    }
    // A server that cannot end its stream properly has answered everything all the same.
    let _ = timeout(CLOSE_TIMEOUT, async { while workers.join_next().await.is_some() {} }).await;
    Ok(total)
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn statuses_are_sentences_for_a_terminal() {
        assert_eq!(said(&Status::internal("go away\nplease\x1b[31m")), "go away\\nplease\\u{1b}[31m.");
        assert_eq!(said(&Status::internal("boom!")), "boom!");
        assert_eq!(said(&Status::new(Code::Unavailable, "")), "The service is currently unavailable.");
    }
}
