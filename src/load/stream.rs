//! One stream, or one caller: it takes turns, sends messages and judges what comes back.

use std::collections::VecDeque;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};

use crate::client::MAX_ANSWER_BYTES;
use crate::load::Run;
use crate::load::schedule::Turn;
use crate::load::workload::{Verdict, Workload};
use crate::service::wire::proto;
use crate::service::wire::proto::sudoku_service_client::SudokuServiceClient;

/// How long a lane waits after its call has failed, before it begins another.
const PAUSE: Duration = Duration::from_millis(100);

/// What makes calls.
#[derive(Clone)]
pub(crate) struct Caller {
    client: SudokuServiceClient<Channel>,
    bearer: Option<MetadataValue<Ascii>>,
}

impl Caller {
    pub(crate) fn new(channel: Channel, bearer: Option<MetadataValue<Ascii>>) -> Self {
        let client = SudokuServiceClient::new(channel).max_decoding_message_size(MAX_ANSWER_BYTES);
        Self { client, bearer }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(bearer) = &self.bearer {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        request
    }
}

/// A message that is not answered yet.
#[derive(Debug)]
pub(crate) struct Asked {
    turn: Turn,
    puzzles: Range<usize>,
    /// The number of the message in its stream, from 0.
    id: u64,
    /// The number of its first puzzle in the stream, from 1.
    first_line: u64,
}

/// What the two streaming methods make of messages.
pub(crate) trait Dialect: Sized + 'static {
    type Request: Send + 'static;
    type Response: Send + 'static;

    /// Begins a stream. A server may have to see messages before it says that it will answer them.
    fn open(
        caller: Caller,
        requests: ReceiverStream<Self::Request>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Response>>, Status>> + Send + 'static;

    fn request(workload: &Workload, asked: &Asked, options: Option<proto::SolveOptions>) -> Self::Request;

    /// Is it plain to see that this answers that?
    fn is_for(workload: &Workload, response: &Self::Response, asked: &Asked) -> bool;

    fn count(response: &Self::Response) -> u64;

    fn judge(workload: &Workload, response: &Self::Response, asked: &Asked) -> Verdict;
}

/// `SolveLines`.
pub(crate) struct Lines;

impl Dialect for Lines {
    type Request = proto::SolveLinesRequest;
    type Response = proto::SolveLinesResponse;

    fn open(
        mut caller: Caller,
        requests: ReceiverStream<Self::Request>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Response>>, Status>> + Send + 'static {
        let request = caller.request(requests);
        async move { caller.client.solve_lines(request).await }
    }

    fn request(workload: &Workload, asked: &Asked, options: Option<proto::SolveOptions>) -> Self::Request {
        // Errors are to name the lines that they name here.
        let first_line = asked.puzzles.start as u64 + 1;
        proto::SolveLinesRequest { options, lines: workload.lines(&asked.puzzles), first_line }
    }

    fn is_for(workload: &Workload, response: &Self::Response, asked: &Asked) -> bool {
        workload.is_expected(&asked.puzzles, &response.lines)
    }

    fn count(response: &Self::Response) -> u64 {
        memchr::memchr_iter(b'\n', &response.lines).count() as u64
    }

    fn judge(workload: &Workload, response: &Self::Response, asked: &Asked) -> Verdict {
        workload.judge_lines(&asked.puzzles, &response.lines)
    }
}

/// `SolveStream`.
pub(crate) struct Puzzles;

impl Dialect for Puzzles {
    type Request = proto::SolveStreamRequest;
    type Response = proto::SolveStreamResponse;

    fn open(
        mut caller: Caller,
        requests: ReceiverStream<Self::Request>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Response>>, Status>> + Send + 'static {
        let request = caller.request(requests);
        async move { caller.client.solve_stream(request).await }
    }

    fn request(workload: &Workload, asked: &Asked, options: Option<proto::SolveOptions>) -> Self::Request {
        let puzzles = workload.entries(&asked.puzzles);
        proto::SolveStreamRequest { options, batch_id: asked.id, puzzles }
    }

    fn is_for(_: &Workload, response: &Self::Response, asked: &Asked) -> bool {
        response.batch_id == asked.id
    }

    fn count(response: &Self::Response) -> u64 {
        response.answers.len() as u64
    }

    fn judge(workload: &Workload, response: &Self::Response, asked: &Asked) -> Verdict {
        if response.batch_id != asked.id {
            return Verdict::strange(
                response.answers.len(),
                &format!("an answer to message {}", response.batch_id),
            );
        }
        workload.judge_answers(&asked.puzzles, asked.first_line, &response.answers)
    }
}

/// Keeps a stream busy, and begins another if it ends too soon, until the run is over.
pub(crate) async fn stream<D: Dialect>(run: Arc<Run>, caller: Caller) {
    loop {
        match one_stream::<D>(&run, &caller).await {
            Ok(Ended::Over) => return,
            Ok(Ended::TooSoon) => {}
            Err(status) => run.fail(&status),
        }
        if !pause(&run).await {
            return;
        }
    }
}

/// How a stream ends that ends well.
enum Ended {
    Over,
    /// There was more to send. What the server owed is missing.
    TooSoon,
}

/// Waits a little. False if the run is over then.
async fn pause(run: &Run) -> bool {
    sleep(PAUSE).await;
    !run.pacer.is_over() && Instant::now() < run.pacer.end()
}

async fn one_stream<D: Dialect>(run: &Run, caller: &Caller) -> Result<Ended, Status> {
    let mut stream = Stream::<D>::open(run, caller);
    loop {
        tokio::select! {
            // Whatever has come is taken before more is sent.
            biased;
            response = stream.responses.message(), if !stream.is_idle() => match response {
                Ok(Some(response)) => stream.settle(&response),
                Ok(None) if stream.requests.is_some() => return Ok(Ended::TooSoon),
                Ok(None) => return Ok(Ended::Over),
                Err(status) => {
                    stream.asked.iter().for_each(|asked| run.count_failed(&asked.puzzles));
                    return Err(status);
                }
            },
            turn = run.pacer.turn(), if stream.has_room() => stream.ask(turn),
        }
    }
}

/// One stream.
struct Stream<'a, D: Dialect> {
    run: &'a Run,
    /// Until there is nothing more to send.
    requests: Option<mpsc::Sender<D::Request>>,
    responses: Responses<D::Response>,
    /// What is not answered, the oldest first.
    asked: VecDeque<Asked>,
    /// What was answered last.
    answered: Option<Asked>,
    options: Option<proto::SolveOptions>,
    next_id: u64,
    next_line: u64,
}

impl<'a, D: Dialect> Stream<'a, D> {
    fn open(run: &'a Run, caller: &Caller) -> Self {
        let (requests, outbox) = mpsc::channel(run.plan.in_flight);
        let opening = D::open(caller.clone(), ReceiverStream::new(outbox));
        Self {
            run,
            requests: Some(requests),
            responses: Responses::Opening(Box::pin(opening)),
            asked: VecDeque::new(),
            answered: None,
            options: Some(run.options.clone()),
            next_id: 0,
            next_line: 1,
        }
    }

    /// Is nothing asked, while more may be?
    fn is_idle(&self) -> bool {
        self.asked.is_empty() && self.requests.is_some()
    }

    fn has_room(&self) -> bool {
        self.requests.is_some() && self.asked.len() < self.run.plan.in_flight
    }

    /// Sends the next message, or ends the stream if there is none.
    fn ask(&mut self, turn: Option<Turn>) {
        let next = turn.and_then(|turn| Some((turn, self.run.message(turn.number)?)));
        let (Some((turn, puzzles)), Some(requests)) = (next, &self.requests) else {
            // The server ends its stream when we have ended ours.
            self.requests = None;
            return;
        };
        let asked = Asked { turn, puzzles, id: self.next_id, first_line: self.next_line };
        self.next_id += 1;
        self.next_line += asked.puzzles.len() as u64;
        let request = D::request(&self.run.workload, &asked, self.options.take());
        self.run.count_sent(&asked.puzzles);
        self.asked.push_back(asked);
        // There is room for it. Why a stream may have ended in the meantime is told by its answers.
        let _ = requests.try_send(request);
    }

    /// Finds out what a response answers, and whether that is right.
    fn settle(&mut self, response: &D::Response) {
        let workload = &self.run.workload;
        let number = self.asked.front().map_or(0, |asked| asked.turn.number);
        if !number.is_multiple_of(self.run.plan.check_every) {
            if let Some(asked) = self.asked.pop_front() {
                let verdict = Verdict::unchecked(asked.puzzles.len() as u64, D::count(response));
                self.run.settle(asked.turn, &verdict, false);
                self.answered = Some(asked);
            }
            return;
        }
        match self.asked.iter().position(|asked| D::is_for(workload, response, asked)) {
            // Those before it were left out, and are missing.
            Some(skipped) => drop(self.asked.drain(..skipped)),
            None if self.answered.as_ref().is_some_and(|asked| D::is_for(workload, response, asked)) => {
                self.run.count_repeated(D::count(response));
                return;
            }
            // It is judged as what it should be.
            None => {}
        }
        match self.asked.pop_front() {
            Some(asked) => {
                self.run.settle(asked.turn, &D::judge(workload, response, &asked), true);
                self.answered = Some(asked);
            }
            None => self.run.count_repeated(D::count(response)),
        }
    }
}

type Opening<T> = Pin<Box<dyn Future<Output = Result<Response<Streaming<T>>, Status>> + Send>>;

/// The answers of a stream, from before the server has said that there will be any.
enum Responses<T> {
    Opening(Opening<T>),
    Open(Box<Streaming<T>>),
}

impl<T> Responses<T> {
    /// The next answer. Nothing is lost if waiting for it is given up.
    async fn message(&mut self) -> Result<Option<T>, Status> {
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

/// Makes one call after another until the run is over.
pub(crate) async fn calls(run: Arc<Run>, mut caller: Caller) {
    while let Some(turn) = run.pacer.turn().await {
        let Some(puzzles) = run.message(turn.number) else { return };
        let message =
            proto::SolveRequest { options: Some(run.options.clone()), text: run.workload.lines(&puzzles) };
        run.count_sent(&puzzles);
        let request = caller.request(message);
        match caller.client.solve(request).await {
            Ok(response) => {
                let answers = response.into_inner().answers;
                let is_checked = turn.number.is_multiple_of(run.plan.check_every);
                // A puzzle by itself has no line.
                let first_line = u64::from(puzzles.len() > 1);
                let verdict = if is_checked {
                    run.workload.judge_answers(&puzzles, first_line, &answers)
                } else {
                    Verdict::unchecked(puzzles.len() as u64, answers.len() as u64)
                };
                run.settle(turn, &verdict, is_checked);
            }
            Err(status) => {
                run.count_failed(&puzzles);
                run.fail(&status);
                // An open loop keeps its times whatever happens.
                if run.plan.rate.is_none() && !pause(&run).await {
                    return;
                }
            }
        }
    }
}
