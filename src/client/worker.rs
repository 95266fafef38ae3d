//! One server: a stream of blocks to it and of answers from it, again and again if need be.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_types::StatusExt as _;

use crate::client::endpoint::{Server, root};
use crate::client::queue::{Answers, Block, Queue};
use crate::client::{Notice, RetryPolicy, ServerError};
use crate::service::wire::convert::tally_from;
use crate::service::wire::line_count::count_lines;
use crate::service::wire::proto::sudoku_service_client::SudokuServiceClient;
use crate::service::wire::proto::{SolveLinesRequest, SolveLinesResponse, SolveOptions};
use crate::service::wire::status::MAX_STREAMS;

/// The most blocks that a server may have and not have answered. Its windows hold it back long before, unless it has very
/// many threads.
const MAX_ASKED: usize = 128;

/// The largest answer to one block. A block of the largest message a server takes by default, answered in the widest
/// form, is a few times its size; this is far beyond that.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 << 20;

/// How the transport words that the other end of an encrypted connection does not want us, our certificate say. With TLS 1.3
/// that comes after the connection stands, and words are all that is passed on.
const ALERT: &str = "received fatal alert";

/// What every stream begins with.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) options: SolveOptions,
    /// What has to stand before the first puzzle.
    pub(crate) prelude: Bytes,
}

/// How a lane ends.
#[derive(Debug)]
pub(crate) enum Ended {
    /// All has been answered.
    Over,
    /// Trying again would not help.
    Refused(ServerError),
    /// Trying again has not helped.
    RetriesExhausted(ServerError),
}

/// What goes between the queue and one server.
pub(crate) struct ServerWorker {
    number: usize,
    server: Server,
    retry: RetryPolicy,
    queue: Arc<Queue>,
    question: Arc<Question>,
    notices: mpsc::UnboundedSender<Notice>,
    /// The puzzles that the server has answered.
    answered: u64,
    /// What was last said of the server, if it has answered nothing since.
    complaint: Option<ServerError>,
}

impl ServerWorker {
    pub(crate) const fn new(
        number: usize,
        server: Server,
        retry: RetryPolicy,
        queue: Arc<Queue>,
        question: Arc<Question>,
        notices: mpsc::UnboundedSender<Notice>,
    ) -> Self {
        Self { number, server, retry, queue, question, notices, answered: 0, complaint: None }
    }

    /// Has blocks answered until there are none left, or the server is given up.
    ///
    /// The future is boxed, so that it is compiled with the library and not with each program.
    pub(crate) fn run(self) -> Pin<Box<dyn Future<Output = Ended> + Send>> {
        Box::pin(self.work())
    }

    async fn work(mut self) -> Ended {
        let retries = self.retry.retries;
        let mut tries = 0;
        loop {
            let Err(error) = self.stream().await else { return Ended::Over };
            self.queue.give_back(self.number);
            if !error.may_pass() {
                return Ended::Refused(error);
            }
            if self.complaint.is_none() {
                tries = 0;
            }
            if tries >= retries {
                return Ended::RetriesExhausted(error);
            }
            self.status_line(error, retries - tries);
            let pause = pause(&self.retry, tries);
            tries += 1;
            tokio::select! {
                () = self.queue.answered() => return Ended::Over,
                () = sleep(pause) => {}
            }
        }
    }

    /// Says what is wrong, unless that was said before.
    fn status_line(&mut self, error: ServerError, retries: u32) {
        if self.complaint.as_ref() != Some(&error) {
            self.notify(Notice::Failed { error: error.clone(), retries });
        }
        self.complaint = Some(error);
    }

    fn notify(&self, notice: Notice) {
        // Whoever is not there any more has no use for it.
        let _ = self.notices.send(notice);
    }

    /// One connection with one stream, until all is answered or something is wrong.
    async fn stream(&mut self) -> Result<(), ServerError> {
        let queue = Arc::clone(&self.queue);
        let channel = tokio::select! {
            () = queue.answered() => return Ok(()),
            channel = self.server.connect() => channel?,
        };
        // No more than one: what the server has no room for yet is better left to others.
        let (requests, outbox) = mpsc::channel(1);
        let mut requests = Some(requests);
        let mut responses = self.open(channel, outbox);
        let mut is_first = true;
        let mut asked = VecDeque::new();
        loop {
            tokio::select! {
                next = next(requests.as_ref(), &queue, self.number), if asked.len() < MAX_ASKED => match next {
                    Some((number, block)) => {
                        asked.push_back(number);
                        let request = self.request(block, std::mem::take(&mut is_first));
                        // There is room for it. Why a stream may have ended in the meantime is told by its answers.
                        if let Some(requests) = &requests {
                            let _ = requests.try_send(request);
                        }
                    }
                    // The server ends its stream when we have ended ours.
                    None => requests = None,
                },
                response = responses.message() => match response {
                    Ok(Some(response)) => {
                        let Some(number) = asked.pop_front() else {
                            return Err(self.lost("It answered what it was not asked."));
                        };
                        self.settle(number, response);
                    }
                    // However the stream ends, nothing is missing.
                    _ if requests.is_none() => return Ok(()),
                    Ok(None) => return Err(self.lost("It ended before all lines were answered.")),
                    Err(status) => return Err(self.failure(&status)),
                }
            }
        }
    }

    fn open(&self, channel: Channel, outbox: mpsc::Receiver<SolveLinesRequest>) -> Responses {
        let mut request = Request::new(ReceiverStream::new(outbox));
        if let Some(bearer) = &self.server.bearer {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        let mut client = SudokuServiceClient::new(channel).max_decoding_message_size(MAX_ANSWER_BYTES);
        // A server may have to see lines before it says that it will answer them.
        Responses::Opening(Box::pin(async move { client.solve_lines(request).await }))
    }

    /// The message with a block. The first of a stream says what is asked, too.
    fn request(&self, block: Block, is_first: bool) -> SolveLinesRequest {
        let Block { lines, first_line } = block;
        if !is_first {
            return SolveLinesRequest { options: None, lines, first_line };
        }
        let Question { options, prelude } = &*self.question;
        let options = Some(options.clone());
        if prelude.is_empty() {
            return SolveLinesRequest { options, lines, first_line };
        }
        let mut text = BytesMut::with_capacity(prelude.len() + lines.len());
        text.extend_from_slice(prelude);
        text.extend_from_slice(&lines);
        // The numbers of the block's own lines stay what they are.
        let first_line = first_line.saturating_sub(count_lines(prelude) as u64).max(1);
        SolveLinesRequest { options, lines: text.freeze(), first_line }
    }

    fn settle(&mut self, number: u64, response: SolveLinesResponse) {
        if self.complaint.take().is_some() {
            self.notify(Notice::Back(self.server.url.clone()));
        }
        let tally = response.tally.as_ref().map(tally_from).unwrap_or_default();
        self.answered += tally.answers;
        self.queue.answer(number, Answers { lines: response.lines, tally });
    }

    fn lost(&self, message: &str) -> ServerError {
        ServerError::Lost {
            url: self.server.url.clone(),
            answered: self.answered,
            message: message.to_owned(),
        }
    }

    /// Tells a server that refuses from one that is busy or has gone.
    fn failure(&self, status: &Status) -> ServerError {
        let message = status.message().to_owned();
        let is_busy = || {
            let details = status.get_error_details();
            let quotas = details.quota_failure().map(|failure| &failure.violations);
            quotas.is_some_and(|quotas| quotas.iter().any(|quota| quota.subject == MAX_STREAMS))
        };
        // The transport chooses codes, too, such as RESOURCE_EXHAUSTED where a connection is ended. They come with a cause.
        if let Some(cause) = std::error::Error::source(status) {
            let cause = root(cause);
            if self.server.is_encrypted && cause.starts_with(ALERT) {
                return ServerError::Handshake { url: self.server.url.clone(), cause };
            }
            return self.lost(&format!("{cause}."));
        }
        match status.code() {
            Code::Unavailable
            | Code::Unknown
            | Code::Internal
            | Code::Cancelled
            | Code::Aborted
            | Code::DeadlineExceeded => self.lost(&message),
            Code::ResourceExhausted if is_busy() => {
                ServerError::Busy { url: self.server.url.clone(), message }
            }
            _ => ServerError::Refused { answered: self.answered, message },
        }
    }
}

/// Waits until a server has room for a block and there is one, or there will be none. Without a stream to send it on, for
/// ever.
async fn next(requests: Option<&Requests>, queue: &Queue, worker: usize) -> Option<(u64, Block)> {
    if let Some(requests) = requests
        && requests.reserve().await.is_ok()
    {
        return queue.take(worker).await;
    }
    // Why the stream takes no more is told by its answers.
    pending().await
}

/// How long to wait before a server is tried again for the time after `tries`.
fn pause(retry: &RetryPolicy, tries: u32) -> Duration {
    let doubled = retry.first_pause.saturating_mul(1 << tries.min(30));
    doubled.min(retry.longest_pause).mul_f64(rand::random_range(0.5..1.0))
}

type Requests = mpsc::Sender<SolveLinesRequest>;

type Opening = Pin<Box<dyn Future<Output = Result<Response<Streaming<SolveLinesResponse>>, Status>> + Send>>;

/// The answers of a stream, from before the server has said that there will be any.
enum Responses {
    Opening(Opening),
    Open(Box<Streaming<SolveLinesResponse>>),
}

impl Responses {
    /// The next answer. Nothing is lost if waiting for it is given up.
    async fn message(&mut self) -> Result<Option<SolveLinesResponse>, Status> {
        loop {
            match self {
                Self::Opening(opening) => {
                    let response = opening.as_mut().await?;
                    *self = Self::Open(Box::new(response.into_inner()));
                }
                Self::Open(stream) => return stream.message().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound() {
        let retry = RetryPolicy::default();
        let mut longest = retry.first_pause;
        for tries in 0..100 {
            for _ in 0..20 {
                let pause = pause(&retry, tries);
                assert!(pause >= longest / 2 && pause <= longest, "{tries}: {pause:?}");
            }
            longest = (longest * 2).min(retry.longest_pause);
        }
    }
}
