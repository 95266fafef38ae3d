//! The load generator: many connections and streams to one server or several, as fast as they
//! answer or at a fixed rate, with every answer checked.
//!
//! ```text
//!   Pacer ──SendPermit──▶ tasks: streams or calls, each with some messages in flight ⇄ server
//!                           │
//!   Workload ───────────────┘ messages, and their expected answers
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `workload.rs` | the puzzles, their answers, and the judgement of answers |
//! | `schedule.rs` | when the next message is due |
//! | `stream.rs` | one stream, or one sequence of calls |
//!
//! [`run`] starts the tasks and sums up: [`LoadFigures`].
//!
//! **Invariant:** every puzzle sent is counted once: as right, wrong, failed or missing. The
//! client's own retries are not used, because a server's failures are to be counted and not hidden.
//! With several servers a client is expected to go to another one, so what a lost server has not
//! answered is sent to the next, and counted as resent on top.

mod schedule;
mod stream;
mod workload;

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tonic::{Code, Status};

use crate::client::endpoint::{Connector, Endpoint};
use crate::client::{RetryPolicy, ServerError, said};
use crate::poison::IgnorePoison as _;
use crate::service::wire::proto;
use crate::service::wire::status;
use schedule::{Clock, Pacer, SendPermit};
use stream::{LoadClient, LoadClients};
use workload::Judgement;

pub use workload::{MAX_PUZZLES, Workload, WorkloadError};

/// The time for which answers are awaited after the last message was sent.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// The interval at which the run reports progress and checks whether it is to end.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// The significant digits of latencies.
const LATENCY_DIGITS: u8 = 3;

/// The method under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadMethod {
    /// A call for each message.
    Solve,
    /// Streams of puzzles.
    SolveStream,
    /// Streams of lines.
    SolveLines,
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method that is called.
    pub method: LoadMethod,
    /// The number of connections.
    pub connections: usize,
    /// The streams on each connection; for calls it multiplies those in flight.
    pub streams: usize,
    /// The most unanswered messages of a stream.
    pub in_flight: usize,
    /// The puzzles sent a second, over all streams, whether they are answered or not (default: as
    /// many as the server answers).
    pub rate: Option<f64>,
    /// The time for which messages are sent.
    pub duration: Duration,
    /// The most puzzles that are sent (default: no limit).
    pub puzzles: Option<u64>,
    /// The answers to one message in this many are compared, and those to the others only counted.
    /// From 1.
    pub check_every: u64,
}

/// The results of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadFigures {
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages answered, rightly or wrongly.
    pub messages_answered: u64,
    /// Puzzles sent.
    pub sent: u64,
    /// Puzzles with a right answer, error lines included.
    pub right: u64,
    /// Answers that were compared, and not only counted.
    pub checked: u64,
    /// The error lines among them, by their code.
    pub errors: BTreeMap<&'static str, u64>,
    /// Puzzles with a wrong answer.
    pub wrong: u64,
    /// Puzzles whose call was ended by a status.
    pub failed: u64,
    /// Answers beyond those requested.
    pub repeated: u64,
    /// Puzzles that were sent to another server after one was lost, as often as that.
    pub resent: u64,
    /// The statuses by which calls and streams were ended, by their names.
    pub statuses: BTreeMap<&'static str, u64>,
    /// Messages that were due by the rate and could not be sent in time.
    pub unsent_messages: u64,
    /// From the first message to the last answer; at a fixed rate no shorter than the time in which
    /// all puzzles that were sent are due.
    pub time: Duration,
    /// The first wrong answer, as text for people.
    pub example: Option<String>,
    /// The times from when messages were due to their answers, in nanoseconds.
    latencies: Histogram<u64>,
}

impl LoadFigures {
    fn new() -> Self {
        Self {
            messages_sent: 0,
            messages_answered: 0,
            sent: 0,
            right: 0,
            checked: 0,
            errors: BTreeMap::new(),
            wrong: 0,
            failed: 0,
            repeated: 0,
            resent: 0,
            statuses: BTreeMap::new(),
            unsent_messages: 0,
            time: Duration::ZERO,
            example: None,
            // It fails only beyond one to five digits.
            latencies: Histogram::new(LATENCY_DIGITS).unwrap_or_else(|error| unreachable!("{error}")),
        }
    }

    /// Puzzles that were sent and never answered.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.sent.saturating_sub(self.right + self.wrong + self.failed)
    }

    /// Whether every puzzle has exactly one answer, and the right one.
    #[must_use]
    pub const fn are_good(&self) -> bool {
        self.right == self.sent && self.repeated == 0
    }

    /// The latency at a quantile, from 0 to 1.
    #[must_use]
    pub fn latency(&self, share: f64) -> Duration {
        Duration::from_nanos(self.latencies.value_at_quantile(share))
    }

    /// The mean latency.
    #[must_use]
    pub fn mean_latency(&self) -> Duration {
        Duration::from_secs_f64(self.latencies.mean() / 1e9)
    }

    /// The number of messages with a latency above `over` and up to `to`.
    #[must_use]
    pub fn answered_within(&self, over: Duration, to: Duration) -> u64 {
        let [over, to] = [over, to].map(nanoseconds);
        if to <= over { 0 } else { self.latencies.count_between(over + 1, to) }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The state that the tasks of a run share.
struct LoadRun {
    plan: Plan,
    workload: Arc<Workload>,
    options: proto::SolveOptions,
    pacer: Arc<Pacer>,
    figures: Mutex<LoadFigures>,
    servers: Vec<Connector>,
    /// The error that made the run stop, because every call would fail.
    refusal: Mutex<Option<ServerError>>,
}

impl LoadRun {
    fn figures(&self) -> MutexGuard<'_, LoadFigures> {
        self.figures.lock().ignore_poison()
    }

    /// The puzzles of a message; `None` if all have been sent.
    fn message(&self, number: u64) -> Option<Range<usize>> {
        let puzzles = self.workload.message(number, self.plan.puzzles);
        if puzzles.is_none() {
            self.pacer.complete();
        }
        puzzles
    }

    fn count_sent(&self, puzzles: &Range<usize>) {
        let mut figures = self.figures();
        figures.messages_sent += 1;
        figures.sent += puzzles.len() as u64;
    }

    fn count_failed(&self, puzzles: &Range<usize>) {
        self.figures().failed += puzzles.len() as u64;
    }

    fn count_resent(&self, puzzles: &Range<usize>) {
        self.figures().resent += puzzles.len() as u64;
    }

    fn count_repeated(&self, answers: u64) {
        self.figures().repeated += answers;
    }

    /// Counts the answers to a message.
    fn count_answers(&self, permit: SendPermit, judgement: &Judgement, is_checked: bool) {
        let now = Instant::now();
        let mut figures = self.figures();
        figures.messages_answered += 1;
        figures.right += judgement.right;
        figures.wrong += judgement.wrong;
        figures.repeated += judgement.repeated;
        if is_checked {
            figures.checked += judgement.right + judgement.wrong;
        }
        for (code, count) in &judgement.errors {
            *figures.errors.entry(code).or_default() += count;
        }
        if figures.example.is_none() {
            figures.example.clone_from(&judgement.example);
        }
        figures.time = now - self.pacer.begin();
        let latency = nanoseconds(now.saturating_duration_since(permit.due));
        // An auto-resizing histogram takes any value.
        let recorded = figures.latencies.record(latency);
        debug_assert!(recorded.is_ok());
    }

    /// Counts a call that was ended by a status.
    fn fail(&self, status: &Status) {
        let mut figures = self.figures();
        // A status that the transport has made has a source, and the code of whatever ended the connection.
        let is_lost = status.source().is_some();
        let code = if is_lost { Code::Unavailable } else { status.code() };
        *figures.statuses.entry(status::name(code)).or_default() += 1;
        let is_hopeless = matches!(
            code,
            Code::InvalidArgument | Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented
        );
        if figures.messages_answered > 0 {
            return;
        }
        drop(figures);
        let refusal = if is_hopeless {
            Some(ServerError::Refused { answered: 0, message: said(status) })
        } else {
            self.servers.iter().find_map(Connector::other_protocol)
        };
        if refusal.is_some() {
            *self.refusal.lock().ignore_poison() = refusal;
            self.pacer.stop();
        }
    }
}

/// The error of a run that could not send its first message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The server cannot be reached, or refuses all calls.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The clock of an open loop has no thread.
    #[error("The clock cannot be started: {0}.")]
    Clock(io::Error),
}

/// Runs a plan against servers, each of which gets the plan's connections and a share of its
/// streams. `cancel` ends it early. `watch` is called from time to time with
/// the figures so far.
///
/// A stream or a call that fails is counted, and another one is started; a connection that is lost
/// is made again.
///
/// # Errors
/// [`LoadError`], if not even the first message can be sent.
pub async fn run(
    endpoints: &[Endpoint],
    plan: &Plan,
    workload: &Arc<Workload>,
    cancel: &AtomicBool,
    watch: &mut (dyn FnMut(&LoadFigures, Duration) + Send),
) -> Result<LoadFigures, LoadError> {
    // Boxed, so that it is compiled with the library and not with each program.
    let loaded: Pin<Box<dyn Future<Output = _> + Send + '_>> =
        Box::pin(load(endpoints, plan, workload, cancel, watch));
    loaded.await
}

/// For each connection of a plan one client to every server. `None` if the run was cancelled meanwhile.
async fn connect_all(
    servers: &[Connector],
    connections: usize,
    cancel: &AtomicBool,
) -> Result<Option<Vec<Vec<LoadClient>>>, ServerError> {
    let mut clients = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut of_servers = Vec::with_capacity(servers.len());
        for server in servers {
            of_servers.push(LoadClient::new(server.connect().await?, server.bearer.clone()));
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        clients.push(of_servers);
    }
    Ok(Some(clients))
}

/// Starts the streams or calls of a plan on the clients of all its connections.
fn start(run: &Arc<LoadRun>, clients: &[Vec<LoadClient>]) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let mut number = 0;
    for of_servers in clients {
        for _ in 0..run.plan.streams {
            let mut shares = || {
                number += 1;
                (Arc::clone(run), LoadClients::new(of_servers, number - 1))
            };
            match run.plan.method {
                LoadMethod::SolveLines => {
                    let (shared, clients) = shares();
                    tasks.spawn(stream::stream::<stream::LinesLoad>(shared, clients));
                }
                LoadMethod::SolveStream => {
                    let (shared, clients) = shares();
                    tasks.spawn(stream::stream::<stream::StreamLoad>(shared, clients));
                }
                LoadMethod::Solve => {
                    for _ in 0..run.plan.in_flight {
                        let (shared, clients) = shares();
                        tasks.spawn(stream::calls(shared, clients));
                    }
                }
            }
        }
    }
    tasks
}

async fn load(
    endpoints: &[Endpoint],
    plan: &Plan,
    workload: &Arc<Workload>,
    cancel: &AtomicBool,
    watch: &mut (dyn FnMut(&LoadFigures, Duration) + Send),
) -> Result<LoadFigures, LoadError> {
    let servers = endpoints.iter().map(|endpoint| Connector::new(endpoint, &RetryPolicy::default()));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    let Some(clients) = connect_all(&servers, plan.connections, cancel).await? else {
        return Ok(LoadFigures::new());
    };
    let message_rate = plan.rate.map(|rate| rate / workload.message_puzzles() as f64);
    let pacer = Arc::new(Pacer::new(plan.duration, message_rate));
    let run = Arc::new(LoadRun {
        plan: plan.clone(),
        workload: Arc::clone(workload),
        options: workload.options(),
        pacer: Arc::clone(&pacer),
        figures: Mutex::new(LoadFigures::new()),
        servers,
        refusal: Mutex::new(None),
    });
    let clock = Clock::start(&pacer).map_err(LoadError::Clock)?;
    // Dropping the set aborts all tasks, however this function returns.
    let mut tasks = start(&run, &clients);
    let mut looks = interval(WATCH_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut given_up = None;
    loop {
        tokio::select! {
            ended = tasks.join_next() => match ended {
                None => break,
                Some(Err(failed)) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
                Some(_) => {}
            },
            _ = looks.tick() => {
                let now = Instant::now();
                if now >= pacer.end() || cancel.load(Ordering::Relaxed) {
                    pacer.stop();
                }
                if pacer.is_over() && now >= *given_up.get_or_insert(now + LAST_ANSWERS) {
                    break;
                }
                watch(&run.figures(), now - pacer.begin());
            }
        }
    }
    drop(clock);
    tasks.shutdown().await;
    if let Some(refusal) = run.refusal.lock().ignore_poison().take() {
        return Err(refusal.into());
    }
    let mut figures = run.figures().clone();
    figures.unsent_messages = pacer.missed();
    if let Some(rate) = plan.rate {
        // The first message is due at once, so the last answer comes before its message's time is over.
        let due = Duration::try_from_secs_f64(figures.sent as f64 / rate).unwrap_or(Duration::MAX);
        figures.time = figures.time.max(due);
    }
    Ok(figures)
}
