//! The other end: solving lines on one server or several.
//!
//! ```text
//!                       ┌─▶ lane ⇄ server A
//!   blocks ──▶ queue ───┼─▶ lane ⇄ server B      each takes the oldest block that nobody answers
//!                │      └─▶ lane ⇄ server C      as soon as its server has room for one more
//!                ▼
//!     sink: answers in order
//! ```
//!
//! `queue` has every block until its answers are written; `lane` is one server: it connects, asks, is lost, gives back what
//! was not answered, waits and connects again; `access` is what it takes to be let in. A lane tells servers the options
//! and the numbers of lines anew with each stream, so a block can go to any server at any time.

pub(crate) mod endpoint;
mod queue;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tonic::transport::Channel;

pub use endpoint::Endpoint;
use endpoint::Server;
use worker::{Ended, Question, ServerWorker};

use queue::Queue;
pub(crate) use worker::MAX_ANSWER_BYTES;

use crate::answer::{Tally, Task};
use crate::service::wire::convert::options_from;
use crate::text::Hint;

/// How many blocks whoever reads them may be ahead.
pub const BLOCKS_AHEAD: usize = 8;

/// How long servers may take to end their streams when all has been answered.
const GOODBYE: Duration = Duration::from_secs(1);

/// What is wrong with a server, or between it and us.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Not the address of a server.
    #[error(
        "`{0}` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051."
    )]
    Address(String),
    /// The certificates or the token given for the server are none.
    #[error("{0}")]
    Credentials(String),
    /// Something answers there, but it and we do not trust each other.
    #[error("No encrypted connection to {url}: {cause}.")]
    Handshake {
        /// The server.
        url: String,
        /// What is wrong.
        cause: String,
    },
    /// Nobody answers there.
    #[error("No server answers at {0}: start one with sudokud.")]
    NoServer(String),
    /// It has no room for us at the moment.
    #[error("{url} is busy: {message}")]
    Busy {
        /// The server.
        url: String,
        /// What the server says.
        message: String,
    },
    /// The connection broke.
    #[error("The connection to {url} was lost after {answered} answers: {message}")]
    Lost {
        /// The server.
        url: String,
        /// The answers received from it before.
        answered: u64,
        /// What the transport or the server says.
        message: String,
    },
    /// The server ended the stream with a status.
    #[error("The server refused after {answered} answers: {message}")]
    Refused {
        /// The answers received from it before.
        answered: u64,
        /// What the server says.
        message: String,
    },
}

impl ServerError {
    /// May it be over in a while, without anybody mending anything here?
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::NoServer(_) | Self::Busy { .. } | Self::Lost { .. })
    }
}

/// Why lines could not be solved on servers. `E` is the error of the caller's sink.
#[derive(Debug, thiserror::Error)]
pub enum ClientError<E> {
    /// There is nobody to ask.
    #[error("No server was named.")]
    Nobody,
    /// Trying again would not help.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Trying again has not helped.
    #[error("{}", in_vain(*.retries, .errors))]
    RetriesExhausted {
        /// How often in a row each server was tried again.
        retries: u32,
        /// What was wrong with each of them the last time.
        errors: Vec<ServerError>,
    },
    /// The caller's sink does not want more.
    #[error(transparent)]
    Sink(E),
}

fn in_vain(retries: u32, errors: &[ServerError]) -> String {
    let mut sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
    sentences.extend(match (errors.len(), retries) {
        (_, 0) => None,
        (1, 1) => Some("It was tried once more.".to_owned()),
        (1, _) => Some(format!("It was tried {retries} more times.")),
        _ => Some(format!("Each was tried up to {retries} more times.")),
    });
    sentences.join(" ")
}

/// What happens to a server while the run goes on. Its text is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Notice {
    /// It failed, and is tried again.
    #[error("{error} {}", trying_again(*.retries))]
    Failed {
        /// What is wrong.
        error: ServerError,
        /// How often it is tried again, unless it answers before, until it is given up.
        retries: u32,
    },
    /// It answers after all.
    #[error("{0} answers again.")]
    Back(String),
    /// It is asked no more; others are.
    #[error("{error} It is given up; the other servers go on.")]
    GivenUp {
        /// What is wrong.
        error: ServerError,
    },
}

fn trying_again(retries: u32) -> String {
    match retries {
        1 => "Trying once more.".to_owned(),
        _ => format!("Trying again, up to {retries} times."),
    }
}

/// How much is put up with before a server is given up, and how soon it is noticed that one is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often in a row, without any answer in between, a lost server is tried again.
    pub retries: u32,
    /// How long to wait before the first of these times. Each pause after it is twice as long, and each is cut by up to
    /// half at random, so that many clients of a server do not all come back at once.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// After how long a silent server is asked for a sign of life.
    pub ping_interval: Duration,
    /// How long it may take to give one.
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

/// What is asked of servers.
#[derive(Clone)]
pub struct Job {
    /// What to do with every puzzle.
    pub task: Task,
    /// How they are written. A server finds out what is left open from whichever block it gets first, so leave nothing open
    /// where there are several.
    pub hint: Hint,
    /// The line that has to stand before the first puzzle, if any does; it is no part of the blocks.
    pub prelude: Bytes,
    /// The number of the first line of the first block, from 1.
    pub first_line: u64,
}

impl Default for Job {
    fn default() -> Self {
        Self { task: Task::default(), hint: Hint::default(), prelude: Bytes::new(), first_line: 1 }
    }
}

/// Connects to a server with the windows and frames that it has too. The token, if there is one, is for calls and not for
/// connections.
///
/// # Errors
/// [`ServerError`], but none of those that need a stream.
pub async fn connect(endpoint: &Endpoint) -> Result<Channel, ServerError> {
    Server::new(endpoint, &RetryPolicy::default())?.connect().await
}

/// Solves blocks of lines on servers, on all of them at once. Each block holds whole lines, 256 to 1,024 of them at best, and
/// at most what the servers take in a message, 1 MiB by default. `sink` gets the answers to each block, in order and once,
/// whatever happens to servers in the meantime, which `notify` is told.
///
/// `blocks` are held back when the servers, or `sink`, cannot keep up, so memory is bounded: by 256 blocks, and by 32 MiB of
/// blocks and answers, besides what servers are sending.
///
/// # Errors
/// [`ClientError`]; the answers that `sink` got before are right.
pub async fn solve_lines<E>(
    servers: &[Endpoint],
    retry: &RetryPolicy,
    job: &Job,
    mut blocks: mpsc::Receiver<Bytes>,
    mut sink: impl FnMut(Bytes, &Tally) -> Result<(), E>,
    mut notify: impl FnMut(&Notice),
) -> Result<Tally, ClientError<E>> {
    if servers.is_empty() {
        return Err(ClientError::Nobody);
    }
    let servers: Vec<Server> =
        servers.iter().map(|endpoint| Server::new(endpoint, retry)).collect::<Result<_, _>>()?;
    let queue = Arc::new(Queue::new(job.first_line));
    let question =
        Arc::new(Question { options: options_from(&job.task, &job.hint), prelude: job.prelude.clone() });
    let (noticing, mut notices) = mpsc::unbounded_channel();
    // Dropped, and all lanes with it, whenever this function is left.
    let mut workers = JoinSet::new();
    for (number, server) in servers.into_iter().enumerate() {
        let (queue, question) = (Arc::clone(&queue), Arc::clone(&question));
        workers.spawn(ServerWorker::new(number, server, *retry, queue, question, noticing.clone()).run());
    }

    let mut total = Tally::default();
    let mut is_complete = false;
    let mut given_up = Vec::new();
    loop {
        let more = async {
            queue.room().await;
            blocks.recv().await
        };
        tokio::select! {
            // What has been answered is written whatever else has happened.
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
                // It has seen that all is answered.
                Ok(Ended::Over) => {}
                Ok(Ended::Refused(error)) => return Err(error.into()),
                Ok(Ended::RetriesExhausted(error)) => {
                    given_up.push(error);
                    match (workers.is_empty(), given_up.last()) {
                        (false, Some(error)) => notify(&Notice::GivenUp { error: error.clone() }),
                        _ => return Err(ClientError::RetriesExhausted { retries: retry.retries, errors: given_up }),
                    }
                }
                Err(failed) => match failed.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // Nobody aborts a lane but the end of the runtime.
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
    // A server that cannot end its stream properly has answered all the same.
    let _ = timeout(GOODBYE, async { while workers.join_next().await.is_some() {} }).await;
    Ok(total)
}
