//! A server in this process, puzzles to send it, and strategies that misbehave on purpose.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use sudoku_stream::answer::{Block, OutputForm, Solvers, Task};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::{Config, Reloader, Server, Stopped};
use sudoku_stream::solver::{Backtracking, Limit, Metrics, STRATEGIES, Search, Solver, Stop, Strategy};
use sudoku_stream::text::{Hint, detect};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint};

use super::{PATIENCE, Random};

/// A server that runs in this process.
pub struct Running {
    pub address: SocketAddr,
    pub reloader: Reloader,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Stopped>,
}

/// The defaults on a free port, with two threads.
pub fn config() -> Config {
    Config {
        listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()],
        threads: NonZeroUsize::new(2),
        ..Config::default()
    }
}

/// The same with one more strategy, which clients get unless they name another.
pub fn config_with(strategy: impl Strategy + 'static) -> Config {
    let first: &'static dyn Strategy = Box::leak(Box::new(strategy));
    let all = [first].into_iter().chain(STRATEGIES.iter().copied()).collect::<Vec<_>>();
    Config { strategies: Box::leak(all.into_boxed_slice()), ..config() }
}

pub async fn start(config: Config) -> Running {
    let server = Server::bind(config).await.unwrap();
    let address = server.local_addr();
    let reloader = server.reloader();
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        server.serve(stopped).await.unwrap()
    });
    Running { address, reloader, stop, task }
}

/// Connections of hyper, without anything of tonic.
pub type HyperChannel = HyperClient<HttpConnector, Body>;

pub fn hyper_channel() -> HyperChannel {
    HyperClient::builder(TokioExecutor::new()).http2_only(true).build_http()
}

impl Running {
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub async fn channel(&self) -> Channel {
        Endpoint::from_shared(self.url()).unwrap().connect().await.unwrap()
    }

    /// A client on a connection of its own.
    pub async fn client(&self) -> SudokuServiceClient<Channel> {
        SudokuServiceClient::new(self.channel().await)
    }

    /// A client that leaves deadlines to the server. tonic's `Channel` gives up by itself, with
    /// another status, at the time of a `grpc-timeout` header, whoever has set it: on a busy machine
    /// it may be the first.
    pub fn client_without_timers(&self) -> SudokuServiceClient<HyperChannel> {
        SudokuServiceClient::with_origin(hyper_channel(), self.url().parse().unwrap())
    }

    /// Tells the server to stop. The handle is done when it has.
    pub fn stop(self) -> JoinHandle<Stopped> {
        self.stop.send(()).unwrap();
        self.task
    }
}

const SOLVED: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// 9x9 puzzles, all different: a solved grid with its digits renamed and some three cells in eight
/// blank.
pub fn nearly_solved(count: usize) -> Vec<String> {
    (0..count)
        .map(|k| {
            let blank = |index: usize| Random::at((k * 81 + index) as u64) >> 61 < 3;
            let rename = |digit: u8| char::from(b"123456789"[(usize::from(digit - b'1') + k) % 9]);
            let cells = SOLVED.bytes().enumerate();
            cells.map(|(index, digit)| if blank(index) { '.' } else { rename(digit) }).collect()
        })
        .collect()
}

/// What the offline path writes for the same text.
pub fn offline(text: &str, form: OutputForm) -> Vec<u8> {
    offline_task(text, Task { form, ..Task::default() })
}

/// The same for any task.
pub fn offline_task(text: &str, task: Task) -> Vec<u8> {
    let opening = detect(text.as_bytes(), &Hint::default()).unwrap();
    let text = opening.format.readable(&text.as_bytes()[opening.body..]);
    let block = Block { text: &text, first_line: 1 + opening.lines };
    let solvers = Solvers::new(opening.format.clone(), task);
    solvers.write_answers(block, &AtomicBool::new(false)).unwrap().text
}

/// Waits until `condition` holds, without keeping the thread from its other tasks.
#[track_caller]
pub fn eventually(what: &str, condition: impl Fn() -> bool) -> impl Future<Output = ()> {
    let start = Instant::now();
    async move {
        while !condition() {
            assert!(start.elapsed() < PATIENCE, "{what} did not happen within {PATIENCE:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// How many searches have begun and how many are running.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    pub begun: Arc<AtomicUsize>,
    pub running: Arc<AtomicUsize>,
}

impl Counters {
    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

/// What a strategy does before it searches.
#[derive(Clone)]
pub enum Fault {
    /// Takes this long.
    Slow(Duration),
    /// Panics.
    Panic,
    /// Panics on this puzzle, in searches of many together.
    PanicOn(Grid),
    /// Never ends unless it is cancelled.
    Endless,
}

/// A strategy with a fault.
#[derive(Clone)]
pub struct Faulty {
    pub fault: Fault,
    pub counters: Counters,
}

impl Faulty {
    pub fn new(fault: Fault) -> Self {
        Self { fault, counters: Counters::default() }
    }
}

impl Strategy for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn summary(&self) -> &'static str {
        "for tests"
    }

    fn supports(&self, order: Order) -> bool {
        order != Order::ALL[4]
    }

    fn searches_together(&self) -> bool {
        matches!(self.fault, Fault::PanicOn(_))
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        Box::new(FaultySolver { strategy: self.clone(), sound: Backtracking.solver(order) })
    }
}

struct FaultySolver {
    strategy: Faulty,
    sound: Box<dyn Solver>,
}

impl Solver for FaultySolver {
    #[expect(clippy::disallowed_methods, reason = "a search that takes its time is what is tested")]
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search {
        let Counters { begun, running } = &self.strategy.counters;
        begun.fetch_add(1, Ordering::SeqCst);
        match &self.strategy.fault {
            Fault::Panic => panic!("injected"),
            Fault::PanicOn(fatal) => assert!(puzzle != fatal, "injected"),
            Fault::Slow(time) => thread::sleep(*time),
            Fault::Endless => {
                running.fetch_add(1, Ordering::SeqCst);
                while !limit.is_cancelled() {
                    thread::sleep(Duration::from_millis(1));
                }
                running.fetch_sub(1, Ordering::SeqCst);
                return Search { solutions: 0, stop: Stop::Cancelled, metrics: Metrics::default() };
            }
        }
        self.sound.search(puzzle, limit, solution)
    }
}

/// All responses of a stream, and how it ended.
pub async fn all_of<T>(mut stream: tonic::Streaming<T>) -> (Vec<T>, Result<(), tonic::Status>) {
    let mut responses = Vec::new();
    loop {
        match stream.message().await {
            Ok(Some(response)) => responses.push(response),
            Ok(None) => return (responses, Ok(())),
            Err(status) => return (responses, Err(status)),
        }
    }
}
