//! Workers, one for each server: a stream of blocks and answers, reopened when it fails.
//!
//! A stream carries what its window holds in each round trip, so on a long line it is joined by
//! further streams on the same connection. They come when the line has been measured and the first
//! answer is there, are not retried, and end with the first stream. A further stream takes no block
//! before the server has accepted its call, because a connection may allow fewer calls than there
//! are streams, and then some wait until others end.
//!
//! **Invariant:** a worker that ends or reconnects returns its unanswered blocks to the queue, so
//! another server answers them.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt as _;

use crate::client::endpoint::Connector;
use crate::client::queue::{BlockAnswers, BlockQueue, LineBlock};
use crate::client::response_stream::ResponseStream;
use crate::client::{Notice, RetryPolicy, ServerError, said};
use crate::service::wire::convert::tally_from;
use crate::service::wire::line_count::count_lines;
use crate::service::wire::proto::sudoku_service_client::SudokuServiceClient;
use crate::service::wire::proto::{SolveLinesRequest, SolveLinesResponse, SolveOptions};
use crate::service::wire::status::PASSING_LIMITS;
use crate::text::{BYTE_ORDER_MARK, Notation};

/// The most unanswered blocks of a server. Its flow control stops it long before, unless it has
/// very many threads.
const MAX_UNANSWERED: usize = 128;

/// The round trip from which a line is a long one. A window of 1 MiB carries more than a server
/// answers on a shorter one.
const LONG_LINE: Duration = Duration::from_millis(10);

/// The part of a round trip for which there is one stream, so that a long line carries some 330 MB/s.
const STREAM_TIME: Duration = Duration::from_millis(3);

/// The most streams on a long line. What is under way, at most 16 MiB in each direction, is half of
/// what the queue holds.
const MAX_STREAMS: u32 = 16;

/// The time that further streams have to end properly.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// The numbers of further streams in the queue are those of their servers and multiples of this.
const STREAM_NUMBERS: usize = 1 << 16;

/// The largest answer to one block. The answers in the widest form are a few times the size of
/// their block, and servers accept blocks of 1 MiB by default; this is far beyond that.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 << 20;

/// The options, and the prelude or the sample, with which every stream begins.
#[derive(Debug)]
pub(crate) struct StreamHeader {
    pub(crate) options: SolveOptions,
    /// The line before the first puzzle.
    pub(crate) prelude: Bytes,
    /// The beginning of the text, from which the format is detected.
    pub(crate) sample: Bytes,
    /// The notation by which the puzzles of a block are counted.
    pub(crate) notation: Option<Notation>,
}

/// A block that was sent.
struct SentBlock {
    number: u64,
    first_line: u64,
    /// The number of its puzzles, if that is known.
    puzzles: Option<u64>,
}

/// The end of a worker.
#[derive(Debug)]
pub(crate) enum WorkerEnd {
    /// All blocks are answered.
    Complete,
    /// The server failed, and retrying is useless.
    Refused(ServerError),
    /// The server failed, and retrying has not helped.
    RetriesExhausted(ServerError),
}

/// The worker of one server.
pub(crate) struct ServerWorker {
    number: usize,
    connector: Connector,
    retry: RetryPolicy,
    queue: Arc<BlockQueue>,
    header: Arc<StreamHeader>,
    notices: mpsc::UnboundedSender<Notice>,
    /// The number of puzzles that the server has answered, on all streams.
    answered: Arc<AtomicU64>,
    /// The last error of the server, if it has answered nothing since.
    last_error: Option<ServerError>,
}

impl ServerWorker {
    pub(crate) fn new(
        number: usize,
        connector: Connector,
        retry: RetryPolicy,
        queue: Arc<BlockQueue>,
        header: Arc<StreamHeader>,
        notices: mpsc::UnboundedSender<Notice>,
    ) -> Self {
        Self { number, connector, retry, queue, header, notices, answered: Arc::default(), last_error: None }
    }

    /// Runs until all blocks are answered, or the server is given up.
    ///
    /// The future is boxed, so that it is compiled with the library and not with each program.
    pub(crate) fn run(self) -> Pin<Box<dyn Future<Output = WorkerEnd> + Send>> {
        Box::pin(self.work())
    }

    async fn work(mut self) -> WorkerEnd {
        let retries = self.retry.retries;
        let mut tries = 0;
        loop {
            let Err(error) = self.stream().await else { return WorkerEnd::Complete };
            self.queue.give_back(self.number);
            if !error.is_transient() {
                return WorkerEnd::Refused(error);
            }
            if self.last_error.is_none() {
                tries = 0;
            }
            if tries >= retries {
                return WorkerEnd::RetriesExhausted(error);
            }
            self.report(error, retries - tries);
            let retry_delay = retry_delay(&self.retry, tries);
            tries += 1;
            tokio::select! {
                () = self.queue.answered() => return WorkerEnd::Complete,
                () = sleep(retry_delay) => {}
            }
        }
    }

    /// Reports an error, unless it is the same as before.
    fn report(&mut self, error: ServerError, retries: u32) {
        if self.last_error.as_ref() != Some(&error) {
            self.notify(Notice::Failed { error: error.clone(), retries });
        }
        self.last_error = Some(error);
    }

    fn notify(&self, notice: Notice) {
        // The receiver may be gone, because the run has ended.
        let _ = self.notices.send(notice);
    }

    /// Runs one connection with one stream, until all blocks are answered or it fails.
    async fn stream(&mut self) -> Result<(), ServerError> {
        let queue = Arc::clone(&self.queue);
        let channel = tokio::select! {
            () = queue.answered() => return Ok(()),
            channel = self.connector.connect() => channel?,
        };
        let mut further = FurtherStreams::new(&self.queue);
        let outcome = self.stream_on(channel, Some(&mut further)).await;
        further.end(outcome.is_ok()).await;
        outcome
    }

    /// Runs one stream on a connection, until all blocks are answered or it fails. It starts
    /// `further` ones where that helps.
    async fn stream_on(
        &mut self,
        channel: Channel,
        mut further: Option<&mut FurtherStreams>,
    ) -> Result<(), ServerError> {
        let queue = Arc::clone(&self.queue);
        let mut line = pin!(round_trip(channel.clone()));
        // A first call goes out before any block: behind some, or beside the work on them, it can be
        // answered as late on a short line as on a long one.
        let mut waits_for_line = further.is_some() && timeout(LONG_LINE, &mut line).await.is_err();
        let mut further_count = 0;
        let mut has_answered = false;
        // Capacity for one message, because a block that the server has no capacity for is better
        // sent to another server.
        let (requests, outbox) = mpsc::channel(1);
        let mut requests = Some(requests);
        let mut responses = self.open(channel.clone(), outbox);
        if further.is_none() {
            tokio::select! {
                () = queue.answered() => return Ok(()),
                opened = responses.opened() => opened.map_err(|status| self.failure(&status))?,
            };
        }
        let mut is_first = true;
        let mut unanswered = VecDeque::new();
        loop {
            if further_count > 0
                && has_answered
                && let Some(further) = further.take()
            {
                further.start(self, further_count, &channel);
            }
            tokio::select! {
                time = &mut line, if waits_for_line => {
                    waits_for_line = false;
                    further_count = streams_for(time) - 1;
                }
                next = next(requests.as_ref(), &queue, self.number), if unanswered.len() < MAX_UNANSWERED => match next {
                    Some((number, block)) => {
                        let notation = self.header.notation.filter(|notation| notation.is_by_line());
                        let puzzles = notation.map(|notation| notation.count_puzzles(&block.lines));
                        unanswered.push_back(SentBlock { number, first_line: block.first_line, puzzles });
                        let request = self.request(block, std::mem::take(&mut is_first));
                        // The channel has capacity: `next` waited for it. If the stream has ended,
                        // its responses say why.
                        if let Some(requests) = &requests {
                            let _ = requests.try_send(request);
                        }
                    }
                    // The server ends its stream when we have ended ours.
                    None => requests = None,
                },
                response = responses.message() => match response {
                    Ok(Some(response)) => {
                        let Some(block) = unanswered.pop_front() else {
                            return Err(self.lost("It answered what it was not asked."));
                        };
                        self.take_response(&block, response)?;
                        has_answered = true;
                    }
                    // All blocks are answered, so it does not matter how the stream ends.
                    _ if requests.is_none() => return Ok(()),
                    Ok(None) => return Err(self.lost("It ended before all lines were answered.")),
                    Err(status) => return Err(self.failure(&status)),
                }
            }
        }
    }

    fn open(
        &self,
        channel: Channel,
        outbox: mpsc::Receiver<SolveLinesRequest>,
    ) -> ResponseStream<SolveLinesResponse> {
        let mut request = Request::new(ReceiverStream::new(outbox));
        if let Some(bearer) = &self.connector.bearer {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        let mut client = SudokuServiceClient::new(channel).max_decoding_message_size(MAX_ANSWER_BYTES);

        ResponseStream::new(async move { client.solve_lines(request).await })
    }

    /// The message for a block. The first of a stream carries the options, and the prelude or the
    /// sample, too.
    fn request(&self, block: LineBlock, is_first: bool) -> SolveLinesRequest {
        let LineBlock { lines, first_line } = block;
        if !is_first {
            return SolveLinesRequest { lines, first_line, ..SolveLinesRequest::default() };
        }
        let StreamHeader { options, prelude, sample, notation } = &*self.header;
        let options = Some(options.clone());
        // The numbers of the block's own lines stay what they are.
        let first_line = first_line.saturating_sub(count_lines(prelude) as u64).max(1);
        let lines = if prelude.is_empty() { lines } else { [&prelude[..], &lines].concat().into() };
        // Whoever knows the notation has skipped the byte-order mark of the text.
        let is_behind_mark = notation.is_some() || !sample.is_empty();
        let lines = if first_line == 1 && is_behind_mark { with_mark(lines) } else { lines };
        SolveLinesRequest { options, lines, first_line, sample: with_mark(sample.clone()) }
    }

    /// Takes the answers to a block.
    ///
    /// # Errors
    /// If they are not as many as its puzzles: all later ones would be those of other lines.
    fn take_response(&mut self, block: &SentBlock, response: SolveLinesResponse) -> Result<(), ServerError> {
        if self.last_error.take().is_some() {
            self.notify(Notice::Back(self.connector.url.clone()));
        }
        let tally = response.tally.as_ref().map(tally_from).unwrap_or_default();
        if let Some(puzzles) = block.puzzles.filter(|&puzzles| puzzles != tally.answers) {
            let (url, line) = (self.connector.url.clone(), block.first_line);
            return Err(ServerError::Miscounted { url, line, puzzles, answers: tally.answers });
        }
        self.answered.fetch_add(tally.answers, Ordering::Relaxed);
        self.queue.answer(block.number, BlockAnswers { lines: response.lines, tally });
        Ok(())
    }

    fn lost(&self, message: &str) -> ServerError {
        ServerError::Lost {
            url: self.connector.url.clone(),
            answered: self.answered.load(Ordering::Relaxed),
            message: message.to_owned(),
        }
    }

    /// Classifies a status: the server refuses, is busy, or is lost.
    fn failure(&self, status: &Status) -> ServerError {
        let message = said(status);
        let is_busy = || {
            let details = status.get_error_details();
            let quotas = details.quota_failure().map(|failure| &failure.violations);
            quotas.is_some_and(|quotas| quotas.iter().any(|quota| PASSING_LIMITS.contains(&&*quota.subject)))
        };
        // The transport makes statuses too, such as RESOURCE_EXHAUSTED for a connection that was
        // ended. They have a source, which those of a server have not.
        if let Some(cause) = std::error::Error::source(status) {
            return self.connector.broken(cause).map_or_else(|error| error, |words| self.lost(&words));
        }
        match status.code() {
            Code::Unavailable
            | Code::Unknown
            | Code::Internal
            | Code::Cancelled
            | Code::Aborted
            | Code::DeadlineExceeded => self.lost(&message),
            Code::ResourceExhausted if is_busy() => {
                ServerError::Busy { url: self.connector.url.clone(), message }
            }
            Code::Unauthenticated => ServerError::Token { url: self.connector.url.clone(), message },
            _ => ServerError::Refused { answered: self.answered.load(Ordering::Relaxed), message },
        }
    }
}

/// The streams of a worker beside its first one.
struct FurtherStreams {
    numbers: Vec<usize>,
    queue: Arc<BlockQueue>,
    running: JoinSet<()>,
}

impl FurtherStreams {
    /// No streams yet.
    fn new(queue: &Arc<BlockQueue>) -> Self {
        Self { numbers: Vec::new(), queue: Arc::clone(queue), running: JoinSet::new() }
    }

    /// Starts `count` of them beside the stream of a worker, on its connection.
    fn start(&mut self, worker: &ServerWorker, count: usize, channel: &Channel) {
        // What happens to them is not worth a notice: their blocks go to the other streams.
        let (notices, _) = mpsc::unbounded_channel();
        for index in 1..=count {
            let mut stream = ServerWorker {
                number: worker.number + index * STREAM_NUMBERS,
                connector: worker.connector.clone(),
                retry: worker.retry,
                queue: Arc::clone(&worker.queue),
                header: Arc::clone(&worker.header),
                notices: notices.clone(),
                answered: Arc::clone(&worker.answered),
                last_error: None,
            };
            self.numbers.push(stream.number);
            let channel = channel.clone();
            self.running.spawn(async move {
                // The other streams go on without it.
                let _ = Box::pin(stream.stream_on(channel, None)).await;
                stream.queue.give_back(stream.number);
            });
        }
    }

    /// Ends them; properly, if all blocks `are_answered`. Otherwise theirs wait for others.
    async fn end(mut self, are_answered: bool) {
        if are_answered {
            let all = async { while self.running.join_next().await.is_some() {} };
            let _ = timeout(END_TIMEOUT, all).await;
        }
        self.running.shutdown().await;
        self.numbers.iter().for_each(|&number| self.queue.give_back(number));
    }
}

/// A text behind its byte-order mark, for a server: it skips a mark, so that another one, which is a
/// part of the first line, needs one above it.
fn with_mark(text: Bytes) -> Bytes {
    if text.starts_with(BYTE_ORDER_MARK) { [BYTE_ORDER_MARK, &text].concat().into() } else { text }
}

/// The number of streams on a line with this round trip.
fn streams_for(round_trip: Duration) -> usize {
    if round_trip < LONG_LINE {
        return 1;
    }
    let streams = round_trip.as_micros().div_ceil(STREAM_TIME.as_micros());
    streams.min(MAX_STREAMS.into()) as usize
}

/// Measures a round trip by calls that any server answers, be it by an error. The shortest of several
/// counts, because others have waited for something: a short line of a busy machine has answered
/// three in a row after 10 ms and more.
async fn round_trip(channel: Channel) -> Duration {
    const LEAST_CALLS: usize = 3;
    const LEAST_TIME: Duration = Duration::from_millis(150);
    let mut client = HealthClient::new(channel);
    let begin = Instant::now();
    let mut shortest = Duration::MAX;
    for calls in 1.. {
        let called = Instant::now();
        let _ = client.check(HealthCheckRequest::default()).await;
        shortest = shortest.min(called.elapsed());
        if shortest < LONG_LINE || calls >= LEAST_CALLS && begin.elapsed() >= LEAST_TIME {
            break;
        }
    }
    shortest
}

/// Waits until the stream has capacity for a block, and then for a block. `None` if there will be
/// none. Waits for ever if the stream is closed.
async fn next(requests: Option<&Requests>, queue: &BlockQueue, worker: usize) -> Option<(u64, LineBlock)> {
    if let Some(requests) = requests
        && requests.reserve().await.is_ok()
    {
        return queue.take(worker).await;
    }
    // The stream has ended, and its responses say why.
    pending().await
}

/// The delay before the next retry, after `tries` of them.
fn retry_delay(retry: &RetryPolicy, tries: u32) -> Duration {
    let doubled = retry.first_pause.saturating_mul(1 << tries.min(30));
    doubled.min(retry.longest_pause).mul_f64(rand::random_range(0.5..1.0))
}

type Requests = mpsc::Sender<SolveLinesRequest>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_the_line_the_more_streams_up_to_a_bound() {
        let streams = [0, 9, 10, 50, 100, u64::MAX].map(|time| streams_for(Duration::from_millis(time)));
        assert_eq!(streams, [1, 1, 4, 16, 16, 16]);
    }

    #[test]
    fn pauses_double_up_to_a_bound() {
        let retry = RetryPolicy::default();
        let mut longest = retry.first_pause;
        for tries in 0..100 {
            for _ in 0..20 {
                let retry_delay = retry_delay(&retry, tries);
                assert!(retry_delay >= longest / 2 && retry_delay <= longest, "{tries}: {retry_delay:?}");
            }
            longest = (longest * 2).min(retry.longest_pause);
        }
    }
}
