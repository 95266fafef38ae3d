//! Streams and calls under load: sending messages when they are due, and judging the answers.

use std::collections::VecDeque;
use std::ops::Range;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::client::MAX_ANSWER_BYTES;
use crate::client::response_stream::ResponseStream;
use crate::load::LoadRun;
use crate::load::schedule::SendPermit;
use crate::load::workload::{Judgement, Workload};
use crate::service::wire::proto;
use crate::service::wire::proto::sudoku_service_client::SudokuServiceClient;

/// The delay between a stream or call that failed and the next one.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The most servers in a row that fail a call before it counts as failed.
const MAX_ATTEMPTS: u32 = 100;

/// A client on one connection.
#[derive(Clone)]
pub(crate) struct LoadClient {
    grpc: SudokuServiceClient<Channel>,
    bearer: Option<MetadataValue<Ascii>>,
}

/// The clients of a task, one for each server. Which one it begins with depends on its number, so
/// tasks are spread over the servers; it goes to the next one when a server is lost.
#[derive(Clone)]
pub(crate) struct LoadClients {
    clients: Vec<LoadClient>,
    turn: usize,
}

impl LoadClients {
    /// The clients of the task with this number; there must be one at least.
    pub(crate) fn new(clients: &[LoadClient], number: usize) -> Self {
        Self { clients: clients.to_vec(), turn: number }
    }

    fn current(&self) -> &LoadClient {
        &self.clients[self.turn % self.clients.len()]
    }

    /// Goes to the next server after a failure. True if what was unanswered is to be sent there.
    fn fail_over(&mut self, status: &Status) -> bool {
        self.turn = self.turn.wrapping_add(1);
        let is_lost = matches!(
            status.code(),
            Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled | Code::ResourceExhausted
        );
        self.clients.len() > 1 && is_lost
    }
}

impl LoadClient {
    pub(crate) fn new(channel: Channel, bearer: Option<MetadataValue<Ascii>>) -> Self {
        let grpc = SudokuServiceClient::new(channel).max_decoding_message_size(MAX_ANSWER_BYTES);
        Self { grpc, bearer }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(bearer) = &self.bearer {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        request
    }
}

/// A message that was sent.
#[derive(Debug)]
pub(crate) struct SentMessage {
    permit: SendPermit,
    puzzles: Range<usize>,
    /// The number of the message in its stream, from 0.
    id: u64,
    /// The number of its first puzzle in the stream, from 1.
    first_line: u64,
}

/// A streaming method: its requests and responses.
pub(crate) trait StreamMethod: Sized + 'static {
    type Request: Send + 'static;
    type Response: Send + 'static;

    /// Opens a stream. The server may have to read messages before it accepts it.
    fn open(
        client: LoadClient,
        requests: ReceiverStream<Self::Request>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Response>>, Status>> + Send + 'static;

    /// The request for a message.
    fn request(
        workload: &Workload,
        message: &SentMessage,
        options: Option<proto::SolveOptions>,
    ) -> Self::Request;

    /// Whether a response certainly belongs to a message. A wrong answer may belong to it too.
    fn is_for(workload: &Workload, response: &Self::Response, message: &SentMessage) -> bool;

    /// The number of answers in a response.
    fn count(response: &Self::Response) -> u64;

    /// Compares a response with the expected answers to a message.
    fn judge(workload: &Workload, response: &Self::Response, message: &SentMessage) -> Judgement;
}

/// `SolveLines`.
pub(crate) struct LinesLoad;

impl StreamMethod for LinesLoad {
    type Request = proto::SolveLinesRequest;
    type Response = proto::SolveLinesResponse;

    fn open(
        mut client: LoadClient,
        requests: ReceiverStream<Self::Request>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Response>>, Status>> + Send + 'static {
        let request = client.request(requests);
        async move { client.grpc.solve_lines(request).await }
    }

    fn request(
        workload: &Workload,
        message: &SentMessage,
        options: Option<proto::SolveOptions>,
    ) -> Self::Request {
        // With this number, error lines are the same as in the expected answers.
        let first_line = message.puzzles.start as u64 + 1;
        let lines = workload.lines(&message.puzzles);
        proto::SolveLinesRequest { options, lines, first_line, ..proto::SolveLinesRequest::default() }
    }

    fn is_for(workload: &Workload, response: &Self::Response, message: &SentMessage) -> bool {
        workload.is_expected(&message.puzzles, &response.lines)
    }

    fn count(response: &Self::Response) -> u64 {
        memchr::memchr_iter(b'\n', &response.lines).count() as u64
    }

    fn judge(workload: &Workload, response: &Self::Response, message: &SentMessage) -> Judgement {
        workload.judge_lines(&message.puzzles, &response.lines)
    }
}

/// `SolveStream`.
pub(crate) struct StreamLoad;

impl StreamMethod for StreamLoad {
    type Request = proto::SolveStreamRequest;
    type Response = proto::SolveStreamResponse;

    fn open(
        mut client: LoadClient,
        requests: ReceiverStream<Self::Request>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Response>>, Status>> + Send + 'static {
        let request = client.request(requests);
        async move { client.grpc.solve_stream(request).await }
    }

    fn request(
        workload: &Workload,
        message: &SentMessage,
        options: Option<proto::SolveOptions>,
    ) -> Self::Request {
        let puzzles = workload.entries(&message.puzzles);
        proto::SolveStreamRequest { options, batch_id: message.id, puzzles }
    }

    fn is_for(_: &Workload, response: &Self::Response, message: &SentMessage) -> bool {
        response.batch_id == message.id
    }

    fn count(response: &Self::Response) -> u64 {
        response.answers.len() as u64
    }

    fn judge(workload: &Workload, response: &Self::Response, message: &SentMessage) -> Judgement {
        if response.batch_id != message.id {
            return Judgement::misplaced(
                response.answers.len(),
                &format!("an answer to message {}", response.batch_id),
            );
        }
        workload.judge_answers(&message.puzzles, message.first_line, &response.answers)
    }
}

/// Keeps a stream busy, and opens another if it ends too soon, until the run is over. With several
/// servers, what a lost one has not answered is sent to the next.
pub(crate) async fn stream<D: StreamMethod>(run: Arc<LoadRun>, mut clients: LoadClients) {
    let mut left = VecDeque::new();
    loop {
        let (ended, unanswered) = one_stream::<D>(&run, clients.current(), left).await;
        left = unanswered;
        match ended {
            Ok(StreamEnd::Complete) => return,
            Ok(StreamEnd::TooSoon) => left.clear(),
            Err(status) => {
                run.fail(&status);
                if clients.fail_over(&status) {
                    for message in &left {
                        run.count_resent(&message.puzzles);
                    }
                } else {
                    for message in left.drain(..) {
                        run.count_failed(&message.puzzles);
                    }
                }
            }
        }
        // What was sent once has to be answered, if the run is over or not.
        if !retry_delay(&run).await && left.is_empty() {
            return;
        }
    }
}

/// The end of a stream that ended with the status OK.
enum StreamEnd {
    Complete,
    /// There was more to send. Unanswered messages are missing.
    TooSoon,
}

/// Waits before another stream or call. False if the run is over then.
async fn retry_delay(run: &LoadRun) -> bool {
    sleep(RETRY_DELAY).await;
    !run.pacer.is_over() && Instant::now() < run.pacer.end()
}

/// One stream that begins with the messages that another one has left. Those without an answer are
/// returned.
async fn one_stream<D: StreamMethod>(
    run: &LoadRun,
    client: &LoadClient,
    left: VecDeque<SentMessage>,
) -> (Result<StreamEnd, Status>, VecDeque<SentMessage>) {
    let mut stream = LoadStream::<D>::open(run, client);
    for message in left {
        stream.send_again(message);
    }
    let ended = stream.run().await;
    (ended, stream.unanswered)
}

/// One stream under load.
struct LoadStream<'a, D: StreamMethod> {
    run: &'a LoadRun,
    /// The sending end, until there is nothing left to send.
    requests: Option<mpsc::Sender<D::Request>>,
    responses: ResponseStream<D::Response>,
    /// The unanswered messages, the oldest first.
    unanswered: VecDeque<SentMessage>,
    /// The message that was answered last.
    last_answered: Option<SentMessage>,
    options: Option<proto::SolveOptions>,
    next_id: u64,
    next_line: u64,
}

impl<'a, D: StreamMethod> LoadStream<'a, D> {
    fn open(run: &'a LoadRun, client: &LoadClient) -> Self {
        let (requests, outbox) = mpsc::channel(run.plan.in_flight);
        let opening = D::open(client.clone(), ReceiverStream::new(outbox));
        Self {
            run,
            requests: Some(requests),
            responses: ResponseStream::new(opening),
            unanswered: VecDeque::new(),
            last_answered: None,
            options: Some(run.options.clone()),
            next_id: 0,
            next_line: 1,
        }
    }

    /// Sends messages and takes responses until the stream ends.
    async fn run(&mut self) -> Result<StreamEnd, Status> {
        loop {
            tokio::select! {
                // Responses are read before more is sent.
                biased;
                response = self.responses.message(), if !self.is_idle() => match response? {
                    Some(response) => self.take_response(&response),
                    None if self.requests.is_some() => return Ok(StreamEnd::TooSoon),
                    None => return Ok(StreamEnd::Complete),
                },
                permit = self.run.pacer.permit(), if self.has_capacity() => self.send(permit),
            }
        }
    }

    /// Whether nothing is unanswered, while more may be sent.
    fn is_idle(&self) -> bool {
        self.unanswered.is_empty() && self.requests.is_some()
    }

    fn has_capacity(&self) -> bool {
        self.requests.is_some() && self.unanswered.len() < self.run.plan.in_flight
    }

    /// Sends the next message, or ends the stream if there is none.
    fn send(&mut self, permit: Option<SendPermit>) {
        let next = permit.and_then(|permit| Some((permit, self.run.message(permit.number)?)));
        let Some((permit, puzzles)) = next else {
            // The server ends its stream when we have ended ours.
            self.requests = None;
            return;
        };
        self.run.count_sent(&puzzles);
        self.send_again(SentMessage { permit, puzzles, id: 0, first_line: 0 });
    }

    /// Sends a message that is counted already, with the numbers of this stream.
    fn send_again(&mut self, message: SentMessage) {
        let Some(requests) = &self.requests else { return };
        let message = SentMessage { id: self.next_id, first_line: self.next_line, ..message };
        self.next_id += 1;
        self.next_line += message.puzzles.len() as u64;
        let request = D::request(&self.run.workload, &message, self.options.take());
        self.unanswered.push_back(message);
        // The channel has capacity for all messages in flight. If the stream has ended, its
        // responses say why.
        let _ = requests.try_send(request);
    }

    /// Finds the message that a response belongs to, and judges the answers.
    fn take_response(&mut self, response: &D::Response) {
        let workload = &self.run.workload;
        let number = self.unanswered.front().map_or(0, |message| message.permit.number);
        if !number.is_multiple_of(self.run.plan.check_every) {
            if let Some(message) = self.unanswered.pop_front() {
                let judgement = Judgement::unchecked(message.puzzles.len() as u64, D::count(response));
                self.run.count_answers(message.permit, &judgement, false);
                self.last_answered = Some(message);
            }
            return;
        }
        match self.unanswered.iter().position(|message| D::is_for(workload, response, message)) {
            // The messages before it were skipped by the server, and are missing.
            Some(skipped) => drop(self.unanswered.drain(..skipped)),
            None if self
                .last_answered
                .as_ref()
                .is_some_and(|message| D::is_for(workload, response, message)) =>
            {
                self.run.count_repeated(D::count(response));
                return;
            }
            // A wrong answer: it is judged as one to the oldest message.
            None => {}
        }
        match self.unanswered.pop_front() {
            Some(message) => {
                self.run.count_answers(message.permit, &D::judge(workload, response, &message), true);
                self.last_answered = Some(message);
            }
            None => self.run.count_repeated(D::count(response)),
        }
    }
}

/// Makes one call after another until the run is over. With several servers, a call that a lost one
/// has not answered is made to the next.
pub(crate) async fn calls(run: Arc<LoadRun>, mut clients: LoadClients) {
    while let Some(permit) = run.pacer.permit().await {
        let Some(puzzles) = run.message(permit.number) else { return };
        let message = proto::SolveRequest {
            options: Some(run.options.clone()),
            text: run.workload.lines(&puzzles),
            ..Default::default()
        };
        run.count_sent(&puzzles);
        let mut attempts = 1;
        let answered = loop {
            let mut client = clients.current().clone();
            let request = client.request(message.clone());
            match client.grpc.solve(request).await {
                Err(status) if clients.fail_over(&status) && attempts < MAX_ATTEMPTS => {
                    run.fail(&status);
                    run.count_resent(&puzzles);
                    attempts += 1;
                    sleep(RETRY_DELAY).await;
                }
                answered => break answered,
            }
        };
        match answered {
            Ok(response) => {
                let answers = response.into_inner().answers;
                let is_checked = permit.number.is_multiple_of(run.plan.check_every);
                // A single puzzle has no line number.
                let first_line = u64::from(puzzles.len() > 1);
                let judgement = if is_checked {
                    run.workload.judge_answers(&puzzles, first_line, &answers)
                } else {
                    Judgement::unchecked(puzzles.len() as u64, answers.len() as u64)
                };
                run.count_answers(permit, &judgement, is_checked);
            }
            Err(status) => {
                run.count_failed(&puzzles);
                run.fail(&status);
                // An open loop keeps its schedule whatever happens.
                if run.plan.rate.is_none() && !retry_delay(&run).await {
                    return;
                }
            }
        }
    }
}
