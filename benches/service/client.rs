//! The client of both servers. What it takes itself is not counted; it must only be fast enough.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hdrhistogram::Histogram;
use sudoku_stream::client::{Endpoint, connect};
use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::proto::{self, answer::Result as R};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;

use super::LINE_BYTES;

/// Times of calls, in nanoseconds.
pub type Latencies = Histogram<u64>;

/// A connection.
#[derive(Clone)]
pub struct Client(SudokuServiceClient<Channel>);

impl Client {
    pub async fn connect(url: &str) -> Self {
        let channel = connect(&Endpoint::new(url)).await.expect("the server answers");
        Self(SudokuServiceClient::new(channel))
    }

    /// Streams blocks of lines as fast as the server takes them, `count` messages in all.
    pub async fn lines(&mut self, blocks: &Arc<[Bytes]>, count: usize) {
        let (blocks, lines) = (Arc::clone(blocks), count_lines(blocks, count));
        let message = move |k| {
            let lines = Bytes::clone(&blocks[k % blocks.len()]);
            proto::SolveLinesRequest { lines, ..proto::SolveLinesRequest::default() }
        };
        let requests = tokio_stream::iter((0..count).map(message));
        let mut responses = self.0.solve_lines(requests).await.expect("a stream").into_inner();
        let (mut messages, mut answers) = (0, 0);
        while let Some(response) = responses.message().await.expect("answers") {
            let tally = response.tally.expect("a tally comes with answers");
            assert!(tally.errors.is_empty(), "{tally:?}");
            messages += 1;
            answers += tally.answers;
        }
        assert_eq!((messages, answers), (count, lines));
    }

    /// The same as messages of the other method, one puzzle each.
    pub async fn puzzles(&mut self, puzzles: &Arc<[Bytes]>, count: usize) {
        let puzzles = Arc::clone(puzzles);
        let message = move |k| {
            let puzzles = vec![Bytes::clone(&puzzles[k % puzzles.len()])];
            proto::SolveStreamRequest { batch_id: k as u64, puzzles, options: None }
        };
        let requests = tokio_stream::iter((0..count).map(message));
        let mut responses = self.0.solve_stream(requests).await.expect("a stream").into_inner();
        let mut next = 0;
        while let Some(response) = responses.message().await.expect("answers") {
            assert_eq!(response.batch_id, next);
            assert!(is_solved(&response.answers), "{response:?}");
            next += 1;
        }
        assert_eq!(next, count as u64);
    }

    /// Makes `count` calls with a text each, `in_flight` at any time.
    pub async fn calls(&self, texts: &Arc<[Bytes]>, in_flight: usize, count: usize) -> Latencies {
        let mut callers = JoinSet::new();
        for caller in 0..in_flight {
            let (mut client, texts) = (self.0.clone(), Arc::clone(texts));
            callers.spawn(async move {
                let mut times = Vec::with_capacity(count / in_flight + 1);
                for k in (caller..count).step_by(in_flight) {
                    let text = Bytes::clone(&texts[k % texts.len()]);
                    let lines = text.len().div_ceil(LINE_BYTES);
                    let begin = Instant::now();
                    let request = proto::SolveRequest { options: None, text, ..Default::default() };
                    let response = client.solve(request).await.expect("an answer").into_inner();
                    times.push(begin.elapsed());
                    assert_eq!(response.answers.len(), lines);
                    assert!(is_solved(&response.answers), "{response:?}");
                }
                times
            });
        }
        let mut latencies = Latencies::new(3).expect("three digits are allowed");
        for time in callers.join_all().await.into_iter().flatten() {
            let nanoseconds = u64::try_from(time.as_nanos()).expect("less than centuries");
            latencies.record(nanoseconds).expect("it grows as it has to");
        }
        latencies
    }

    /// Opens a stream on which nothing happens.
    pub async fn idle_stream(&mut self) -> IdleStream {
        let (sender, requests) = mpsc::channel(1);
        let responses = self.0.solve_lines(ReceiverStream::new(requests)).await.expect("a stream");
        IdleStream { sender, responses: responses.into_inner() }
    }
}

/// A stream that is open and says nothing.
pub struct IdleStream {
    sender: mpsc::Sender<proto::SolveLinesRequest>,
    responses: Streaming<proto::SolveLinesResponse>,
}

impl IdleStream {
    /// Has a puzzle solved.
    pub async fn use_once(&mut self, puzzle: &Bytes) {
        let lines = puzzle.clone();
        let request = proto::SolveLinesRequest { lines, ..proto::SolveLinesRequest::default() };
        self.sender.send(request).await.expect("the stream is open");
        let response = self.responses.next().await.expect("an answer").expect("an answer");
        assert_eq!(response.lines.len(), puzzle.len());
    }
}

fn is_solved(answers: &[proto::Answer]) -> bool {
    !answers.is_empty() && answers.iter().all(|answer| matches!(answer.result, Some(R::Solution(_))))
}

/// The lines of `count` blocks, over and over from the first.
pub fn count_lines(blocks: &[Bytes], count: usize) -> u64 {
    let lines = |block: &Bytes| memchr::memchr_iter(b'\n', block).count() as u64;
    blocks.iter().cycle().take(count).map(lines).sum()
}

/// The value below which a share of the calls were.
pub fn quantile(latencies: &Latencies, share: f64) -> Duration {
    Duration::from_nanos(latencies.value_at_quantile(share))
}
