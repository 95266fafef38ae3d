//! Load: many connections and streams to one server, driven as fast as it answers or at a fixed rate, with every answer
//! checked.
//!
//! ```text
//!   pace ──turns──▶ lanes: streams or callers, each with some messages in flight ⇄ server
//!                     │
//!   script ───────────┘ what is sent, and what must come back
//! ```
//!
//! `script` has the puzzles and their answers; `pace` says when a message is due; a `lane` takes turns, sends and
//! judges. [`run`] puts it together and adds it up: [`Figures`].

mod schedule;
mod stream;
mod workload;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tonic::{Code, Status};

use crate::client::endpoint::{Endpoint, Server};
use crate::client::{RetryPolicy, ServerError};
use crate::service::wire::proto;
use crate::service::wire::status;
use schedule::{Clock, Pacer, Turn};
use stream::Caller;
use workload::Verdict;

pub use workload::{MAX_PUZZLES, Workload, WorkloadError};

/// How long answers are waited for after the last message was sent.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// How often whoever watches is told, and the run looks whether it is to end.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// How latencies are kept: to so many digits.
const LATENCY_DIGITS: u8 = 3;

/// The method that is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One call a message.
    Solve,
    /// Streams of puzzles.
    SolveStream,
    /// Streams of lines.
    SolveLines,
}

/// How a server is loaded.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is called.
    pub method: Method,
    /// How many puzzles a message has. A message is shorter at the end of the script.
    pub message_puzzles: usize,
    /// How many connections there are.
    pub connections: usize,
    /// How many streams on each; for calls it multiplies those in flight.
    pub streams: usize,
    /// The most messages of a stream that are not answered.
    pub in_flight: usize,
    /// How many puzzles a second are sent, all together, whether they are answered or not; as many as the server
    /// answers, if not given.
    pub rate: Option<f64>,
    /// For how long messages are sent.
    pub duration: Duration,
    /// How many puzzles are sent, if the time suffices.
    pub puzzles: Option<u64>,
    /// Of so many messages the answers to one are compared, and those to the others only counted. From 1.
    pub check_every: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages answered, be it wrongly.
    pub messages_answered: u64,
    /// Puzzles sent.
    pub sent: u64,
    /// Puzzles with a right answer, error lines included.
    pub right: u64,
    /// How many of these answers were compared, and not only counted.
    pub checked: u64,
    /// The error lines, by their code.
    pub errors: BTreeMap<&'static str, u64>,
    /// Puzzles with a wrong answer.
    pub wrong: u64,
    /// Puzzles whose call was ended by a status.
    pub failed: u64,
    /// Answers beyond what was asked.
    pub repeated: u64,
    /// The statuses by which calls and streams were ended, by their names.
    pub statuses: BTreeMap<&'static str, u64>,
    /// Messages that were due by the rate and could not be sent in time.
    pub unsent_messages: u64,
    /// From the first message to the last answer.
    pub time: Duration,
    /// The first wrong answer, for people.
    pub example: Option<String>,
    /// From when a message was due to its answer, in nanoseconds.
    latencies: Histogram<u64>,
}

impl Figures {
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
            statuses: BTreeMap::new(),
            unsent_messages: 0,
            time: Duration::ZERO,
            example: None,
            // One to five digits are allowed.
            latencies: Histogram::new(LATENCY_DIGITS).unwrap_or_else(|error| unreachable!("{error}")),
        }
    }

    /// Puzzles that were sent and that nobody ever spoke of again.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.sent.saturating_sub(self.right + self.wrong + self.failed)
    }

    /// Has every puzzle its right answer, once?
    #[must_use]
    pub const fn are_good(&self) -> bool {
        self.right == self.sent && self.repeated == 0
    }

    /// The time in which this share of the messages was answered, from 0 to 1.
    #[must_use]
    pub fn latency(&self, share: f64) -> Duration {
        Duration::from_nanos(self.latencies.value_at_quantile(share))
    }

    /// The mean of these times.
    #[must_use]
    pub fn mean_latency(&self) -> Duration {
        Duration::from_secs_f64(self.latencies.mean() / 1e9)
    }

    /// How many messages took longer than `over` and at most `to`.
    #[must_use]
    pub fn answered_within(&self, over: Duration, to: Duration) -> u64 {
        let [over, to] = [over, to].map(nanoseconds);
        if to <= over { 0 } else { self.latencies.count_between(over + 1, to) }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What lanes share.
struct Run {
    plan: Plan,
    workload: Arc<Workload>,
    options: proto::SolveOptions,
    pacer: Arc<Pacer>,
    figures: Mutex<Figures>,
    /// Why it is of no use to go on.
    refusal: Mutex<Option<ServerError>>,
}

impl Run {
    fn figures(&self) -> MutexGuard<'_, Figures> {
        // Every change is made whole or not at all.
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The puzzles of a message; none if all have been sent.
    fn message(&self, number: u64) -> Option<Range<usize>> {
        let puzzles = self.workload.message(number, self.plan.message_puzzles, self.plan.puzzles);
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

    fn count_repeated(&self, answers: u64) {
        self.figures().repeated += answers;
    }

    /// Counts the answers to a message.
    fn settle(&self, turn: Turn, verdict: &Verdict, is_checked: bool) {
        let now = Instant::now();
        let mut figures = self.figures();
        figures.messages_answered += 1;
        figures.right += verdict.right;
        figures.wrong += verdict.wrong;
        figures.repeated += verdict.repeated;
        if is_checked {
            figures.checked += verdict.right + verdict.wrong;
        }
        for (code, count) in &verdict.errors {
            *figures.errors.entry(code).or_default() += count;
        }
        if figures.example.is_none() {
            figures.example.clone_from(&verdict.example);
        }
        figures.time = now - self.pacer.begin();
        let latency = nanoseconds(now.saturating_duration_since(turn.begin));
        // A histogram that grows takes any value.
        let recorded = figures.latencies.record(latency);
        debug_assert!(recorded.is_ok());
    }

    /// Counts a call that was ended by a status.
    fn fail(&self, status: &Status) {
        let mut figures = self.figures();
        *figures.statuses.entry(status::name(status.code())).or_default() += 1;
        let is_hopeless = matches!(
            status.code(),
            Code::InvalidArgument | Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented
        );
        if is_hopeless && figures.messages_answered == 0 {
            drop(figures);
            let message = status.message().to_owned();
            *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(ServerError::Refused { answered: 0, message });
            self.pacer.stop();
        }
    }
}

/// Why a server could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be reached, or lets us do nothing.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// There is no thread for an open loop's clock.
    #[error("The clock cannot be started: {0}.")]
    Clock(io::Error),
}

/// Loads a server as planned, and returns what came of it. `cancel` ends it early. `watch` is told from time to time how far
/// it is.
///
/// A stream or a call that fails is counted, and another one is begun; a connection that is lost is made again.
///
/// # Errors
/// [`LoadError`], if not even the first message can be sent.
pub async fn run(
    endpoint: &Endpoint,
    plan: &Plan,
    workload: &Arc<Workload>,
    cancel: &AtomicBool,
    watch: &mut (dyn FnMut(&Figures, Duration) + Send),
) -> Result<Figures, LoadError> {
    // Boxed, so that it is compiled with the library and not with each program.
    let loaded: Pin<Box<dyn Future<Output = _> + Send + '_>> =
        Box::pin(load(endpoint, plan, workload, cancel, watch));
    loaded.await
}

async fn load(
    endpoint: &Endpoint,
    plan: &Plan,
    workload: &Arc<Workload>,
    cancel: &AtomicBool,
    watch: &mut (dyn FnMut(&Figures, Duration) + Send),
) -> Result<Figures, LoadError> {
    let server = Server::new(endpoint, &RetryPolicy::default())?;
    let mut callers = Vec::with_capacity(plan.connections);
    for _ in 0..plan.connections {
        callers.push(Caller::new(server.connect().await?, server.bearer.clone()));
        if cancel.load(Ordering::Relaxed) {
            return Ok(Figures::new());
        }
    }

    let message_rate = plan.rate.map(|rate| rate / plan.message_puzzles as f64);
    let pacer = Arc::new(Pacer::new(plan.duration, message_rate));
    let run = Arc::new(Run {
        plan: plan.clone(),
        workload: Arc::clone(workload),
        options: workload.options(),
        pacer: Arc::clone(&pacer),
        figures: Mutex::new(Figures::new()),
        refusal: Mutex::new(None),
    });
    let clock = Clock::start(&pacer).map_err(LoadError::Clock)?;
    // Dropped, and all lanes with it, whenever this function is left.
    let mut lanes = JoinSet::new();
    for caller in &callers {
        for _ in 0..plan.streams {
            let lane = || (Arc::clone(&run), caller.clone());
            let (shared, caller) = lane();
            match plan.method {
                Method::SolveLines => drop(lanes.spawn(stream::stream::<stream::Lines>(shared, caller))),
                Method::SolveStream => drop(lanes.spawn(stream::stream::<stream::Puzzles>(shared, caller))),
                Method::Solve => {
                    for _ in 0..plan.in_flight {
                        let (shared, caller) = lane();
                        lanes.spawn(stream::calls(shared, caller));
                    }
                }
            }
        }
    }

    let mut looks = interval(WATCH_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut given_up = None;
    loop {
        tokio::select! {
            ended = lanes.join_next() => match ended {
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
    lanes.shutdown().await;
    if let Some(refusal) = run.refusal.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(refusal.into());
    }
    let mut figures = run.figures().clone();
    figures.unsent_messages = pacer.missed();
    Ok(figures)
}
