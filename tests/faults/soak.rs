//! Everything at once, for a while: good clients that check each answer, and faults at random beside them.
//!
//! `SOAK_SECONDS` says how long, `SOAK_SEED` which faults.

use std::env;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::{
    Answer, SolveLinesRequest, SolveRequest, SolveStreamRequest, answer::Result as Solved,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::{Status, Streaming};

use crate::crowd::{PATHS, slowly};
use crate::harness::Random;
use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, eventually, is_solution, lines};
use crate::messages::{framed, gzip};
use crate::row::{Row, Seen, alone};
use crate::traffic::{assert_serving, batch, client, easy, endless, hard, mib, runtime, sixteen};
use crate::web;
use crate::wire::{
    CANCEL, DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, Wire, call_headers, claim, frame, header,
    headers_of, message,
};

/// How long it takes unless told otherwise.
const SECONDS: u64 = 20;

/// How often memory is looked at.
const SAMPLE: Duration = Duration::from_millis(500);

/// By how much memory may have grown from the second fifth of the time to the last. A short run has not come to rest by then:
/// threads of the allocator still meet their first streams of each kind, and a fault more or less shows.
const GROWTH_PER_CENT: u64 = 5;
const SHORT_GROWTH: u64 = 96 << 20;

/// A run from which memory is judged by its share alone.
const LONG: Duration = Duration::from_secs(120);

/// Why a good client gives up.
const SILENCE: &str = "nothing came for long";

pub fn rows() -> Vec<Row> {
    vec![Row {
        number: 39,
        fault: "bulk, single, unary and 16x16 clients, and faults of rows 7, 13, 14, 16, 17, 19, 21, 41 to 46, 57, 59, 60 and 63 at random",
        expected: "0 lost, 0 wrong, 0 repeated; memory flat",
        run: soak,
    }]
}

/// What the good clients have seen.
#[derive(Default)]
struct Counts {
    answered: AtomicU64,
    lost: AtomicU64,
    wrong: AtomicU64,
    repeated: AtomicU64,
    /// Calls that ended with a status other than OK.
    failed: AtomicU64,
}

/// What all good clients share.
struct Load {
    url: String,
    stop: AtomicBool,
    counts: Counts,
    /// What went wrong first, in words.
    first: Mutex<Option<String>>,
}

impl Load {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::SeqCst);
    }

    fn status_line(&self, words: impl FnOnce() -> String) {
        let mut first = self.first.lock().unwrap();
        if first.is_none() {
            *first = Some(words());
        }
    }

    /// Counts the answer to a puzzle, or to a line that is bad.
    fn judge(&self, answer: &str, puzzle: &str) {
        let is_right =
            if puzzle.contains('x') { answer.starts_with("error: ") } else { is_solution(answer, puzzle) };
        if is_right {
            Self::add(&self.counts.answered, 1);
        } else {
            self.status_line(|| format!("`{answer}` answers `{puzzle}`"));
            Self::add(&self.counts.wrong, 1);
        }
    }

    /// Counts what is missing at the end of a stream, or too much.
    fn settle(&self, sent: usize, received: usize, end: Result<(), Status>) {
        if let Err(status) = end {
            self.status_line(|| format!("a good stream ended with {status:?}"));
            Self::add(&self.counts.failed, 1);
        }
        Self::add(&self.counts.lost, sent.saturating_sub(received));
        Self::add(&self.counts.repeated, received.saturating_sub(sent));
    }
}

fn text_of(answer: &Answer) -> String {
    match &answer.result {
        Some(Solved::Solution(solution)) => solution.clone(),
        Some(Solved::Error(error)) => error.message.clone(),
        other => format!("{other:?}"),
    }
}

/// The next message of a stream.
async fn next<T>(stream: &mut Streaming<T>) -> Result<Option<T>, Status> {
    timeout(PATIENCE, stream.message()).await.unwrap_or_else(|_| Err(Status::unknown(SILENCE)))
}

/// Streams of packed lines, one after another, with bad lines among them.
async fn bulk(load: Arc<Load>, puzzles: Vec<String>) {
    const MESSAGES: usize = 40;
    let text = Bytes::from(lines(&puzzles));
    let mut client = client(&load.url).await;
    while !load.is_over() {
        let request = SolveLinesRequest { lines: text.clone(), ..SolveLinesRequest::default() };
        let requests = vec![request; MESSAGES];
        let mut received = 0;
        let end = async {
            let mut stream = client.solve_lines(tokio_stream::iter(requests)).await?.into_inner();
            while let Some(response) = next(&mut stream).await? {
                for answer in String::from_utf8_lossy(&response.lines).lines() {
                    load.judge(answer, &puzzles[received % puzzles.len()]);
                    received += 1;
                }
            }
            Ok(())
        };
        let end = end.await;
        load.settle(MESSAGES * puzzles.len(), received, end);
    }
}

/// Streams of one puzzle a message, with numbers.
async fn single(load: Arc<Load>, puzzles: Vec<String>) {
    const MESSAGES: usize = 500;
    let mut client = client(&load.url).await;
    while !load.is_over() {
        let of = puzzles.clone();
        let requests = (0..MESSAGES).map(move |k| batch(k as u64, slice::from_ref(&of[k % of.len()])));
        let mut received = 0;
        let end = async {
            let mut stream = client.solve_stream(tokio_stream::iter(requests)).await?.into_inner();
            while let Some(response) = next(&mut stream).await? {
                let id = usize::try_from(response.batch_id).unwrap();
                if id < received {
                    Load::add(&load.counts.repeated, 1);
                    continue;
                }
                Load::add(&load.counts.lost, id - received);
                received = id + 1;
                for answer in &response.answers {
                    load.judge(&text_of(answer), &puzzles[id % puzzles.len()]);
                }
            }
            Ok(())
        };
        let end = end.await;
        load.settle(MESSAGES, received, end);
    }
}

/// One call after another.
async fn unary(load: Arc<Load>, puzzles: Vec<String>) {
    let mut client = client(&load.url).await;
    for puzzle in puzzles.iter().cycle() {
        if load.is_over() {
            return;
        }
        let mut received = 0;
        let end = async {
            let request =
                SolveRequest { options: None, text: Bytes::from(puzzle.clone()), ..Default::default() };
            let response = timeout(PATIENCE, client.solve(request)).await;
            let answers = response.map_err(|_| Status::unknown(SILENCE))??.into_inner().answers;
            answers.iter().take(1).for_each(|answer| load.judge(&text_of(answer), puzzle));
            received = answers.len();
            Ok(())
        };
        let end = end.await;
        load.settle(1, received, end);
    }
}

/// What is done to the server beside.
#[derive(Clone, Copy, Debug)]
enum Fault {
    RapidReset,
    Malformed,
    SinglesUnread,
    StopsReading,
    Cancel,
    Close,
    Reset,
    Vanish,
    Trickle,
    Greedy,
    SilentCalls,
    IdleStreams,
    HalfMessage,
    ManyConnections,
    PackedSpaces,
    HardCalls,
    SlowBody,
    BadJson,
    Pipelined,
}

const FAULTS: [Fault; 19] = [
    Fault::RapidReset,
    Fault::Malformed,
    Fault::SinglesUnread,
    Fault::StopsReading,
    Fault::Cancel,
    Fault::Close,
    Fault::Reset,
    Fault::Vanish,
    Fault::Trickle,
    Fault::Greedy,
    Fault::SilentCalls,
    Fault::IdleStreams,
    Fault::HalfMessage,
    Fault::ManyConnections,
    Fault::PackedSpaces,
    Fault::HardCalls,
    Fault::SlowBody,
    Fault::BadJson,
    Fault::Pipelined,
];

/// The most connections that are kept open and never used again.
const ABANDONED: usize = 20;

/// The most calls that one fault begins on its connection, so that those of all that are kept open leave
/// places for others.
const CALLS: usize = 16;

/// What faults are made of, and what they leave open.
struct Saboteur {
    address: SocketAddr,
    random: Random,
    /// Messages with much work in them.
    work: Vec<u8>,
    /// Messages with one puzzle each.
    singles: Vec<u8>,
    /// A message that takes all the nodes it may have, many times.
    endless: Vec<u8>,
    /// A call with one hard puzzle, that is searched slowly.
    slow_call: Vec<u8>,
    /// A message of 1 KB that is 1 MB of spaces.
    packed: Vec<u8>,
    /// Connections that are never used again, and how they end at last.
    abandoned: Vec<(Wire, fn(Wire))>,
    /// What is still to come of a message that comes slowly.
    slow: Option<(Wire, Vec<u8>)>,
}

impl Saboteur {
    fn new(daemon: &Daemon, seed: u64) -> Self {
        let puzzles = hard(50);
        let easy = easy(50);
        let (puzzle, options) = endless();
        let options = Some(options);
        let request = SolveStreamRequest { options, ..batch(0, &vec![puzzle; 20]) };
        let spaces = SolveLinesRequest { lines: Bytes::from(vec![b' '; 1_000_000]), ..Default::default() };
        Self {
            address: daemon.address,
            random: Random(seed),
            work: (0..20).flat_map(|k| message(&batch(k, &puzzles))).collect(),
            singles: (0..2000)
                .flat_map(|k| message(&batch(k, &easy[usize::try_from(k).unwrap() % 50..][..1])))
                .collect(),
            endless: message(&request),
            slow_call: message(&SolveRequest {
                options: Some(slowly()),
                text: Bytes::from(puzzles[0].clone()),
                ..SolveRequest::default()
            }),
            packed: framed(1, &gzip(&prost::Message::encode_to_vec(&spaces))),
            abandoned: Vec::new(),
            slow: None,
        }
    }

    /// A connection with a stream on it and these bytes sent.
    fn stream(&self, bytes: &[u8]) -> Wire {
        let mut wire = Wire::open(self.address);
        wire.call(1, "SolveStream");
        for part in bytes.chunks(16_000) {
            wire.send(&frame(DATA, 0, 1, part));
        }
        wire
    }

    /// A connection with calls on it, each begun by these headers and continued by these bytes.
    fn calls(&mut self, headers: impl Fn(usize) -> Vec<u8>, bytes: &[u8], flags: u8) -> Wire {
        let mut wire = Wire::open(self.address);
        for call in 0..=self.random.below(CALLS) {
            let stream = 1 + 2 * u32::try_from(call).unwrap();
            wire.send(&frame(HEADERS, END_HEADERS, stream, &headers(call)));
            if !bytes.is_empty() {
                wire.send(&frame(DATA, flags, stream, bytes));
            }
        }
        wire
    }

    /// A connection with these bytes sent, and nothing else.
    fn bare(&self, bytes: &[u8]) -> Wire {
        let mut wire = Wire::bare(self.address);
        wire.send(bytes);
        wire
    }

    /// Leaves a connection open.
    fn abandon(&mut self, wire: Wire) {
        self.leave(wire, Wire::reset);
    }

    /// Leaves one open that does not speak HTTP/2.
    fn abandon_bare(&mut self, wire: Wire) {
        self.leave(wire, Wire::finish);
    }

    fn leave(&mut self, wire: Wire, end: fn(Wire)) {
        self.abandoned.push((wire, end));
        if self.abandoned.len() > ABANDONED {
            let (oldest, end) = self.abandoned.remove(0);
            end(oldest);
        }
    }

    /// Makes one fault happen.
    fn strike(&mut self) -> Fault {
        let fault = FAULTS[self.random.below(FAULTS.len())];
        match fault {
            Fault::RapidReset => {
                let mut wire = Wire::open(self.address);
                let streams = 1 + 2 * u32::try_from(self.random.below(2000)).unwrap();
                let pairs = (1..streams).step_by(2).flat_map(|stream| {
                    let open = frame(HEADERS, END_HEADERS, stream, &call_headers("SolveLines"));
                    [open, frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())].concat()
                });
                wire.send(&pairs.collect::<Vec<u8>>());
                self.abandon(wire);
            }
            Fault::Malformed => {
                let length = self.random.below(2000);
                let mut bytes = claim(u32::try_from(self.random.below(3000)).unwrap());
                bytes.extend((0..length).map(|_| self.random.next().to_le_bytes()[0]));
                let wire = self.stream(&bytes);
                self.abandon(wire);
            }
            Fault::SinglesUnread => {
                let wire = self.stream(&self.singles);
                self.abandon(wire);
            }
            Fault::StopsReading => {
                let wire = self.stream(&self.work.repeat(3));
                self.abandon(wire);
            }
            Fault::Cancel => {
                let mut wire = self.stream(&self.work);
                wire.send(&frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes()));
                wire.finish();
            }
            Fault::Close => self.stream(&self.work).finish(),
            Fault::Reset => self.stream(&self.work).reset(),
            Fault::Vanish => {
                let sent = self.random.below(self.work.len());
                let wire = self.stream(&self.work[..sent]);
                self.abandon(wire);
            }
            Fault::Trickle => {
                if self.slow.is_none() {
                    self.slow = Some((self.stream(&[]), self.work[..300].to_vec()));
                }
            }
            Fault::Greedy => {
                let wire = self.stream(&self.endless.clone());
                self.abandon(wire);
            }
            Fault::SilentCalls => {
                let wire = self.calls(|call| headers_of(PATHS[call % PATHS.len()]), &[], 0);
                self.abandon(wire);
            }
            Fault::IdleStreams => {
                let one = message(&batch(0, &easy(1)));
                let wire = self.calls(|_| call_headers("SolveStream"), &one, 0);
                self.abandon(wire);
            }
            Fault::HalfMessage => {
                let half = self.slow_call[..self.slow_call.len() / 2].to_vec();
                self.calls(|_| call_headers("Solve"), &half, 0).finish();
            }
            Fault::ManyConnections => drop((0..50).map(|_| self.bare(&[])).collect::<Vec<_>>()),
            Fault::PackedSpaces => {
                let headers = [call_headers("SolveLines"), header("grpc-encoding", "gzip")].concat();
                let wire = self.calls(|_| headers.clone(), &self.packed.clone(), END_STREAM);
                self.abandon(wire);
            }
            Fault::HardCalls => {
                let wire = self.calls(|_| call_headers("Solve"), &self.slow_call.clone(), END_STREAM);
                self.abandon(wire);
            }
            Fault::SlowBody => {
                let whole = web::call("Solve", &[], &[b' '; 1000]);
                let length = self.random.below(whole.len());
                let wire = self.bare(&whole[..length]);
                self.abandon_bare(wire);
            }
            Fault::BadJson => {
                let bodies =
                    ["[".repeat(90_000), "{\"text\":\"not base64\"}".to_owned(), "{\"puzzle\":".to_owned()];
                let body = &bodies[self.random.below(bodies.len())];
                self.bare(&web::call("Solve", &[], body.as_bytes())).finish();
            }
            Fault::Pipelined => {
                let wire = self.bare(&web::solve(&easy(1)[0]).repeat(500));
                self.abandon_bare(wire);
            }
        }
        // One byte more of what comes slowly.
        if let Some((wire, rest)) = &mut self.slow
            && (rest.is_empty() || !wire.send(&frame(DATA, 0, 1, &[rest.remove(0)])))
        {
            self.slow = None;
        }
        fault
    }
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |value| value.parse().expect("a whole number"))
}

fn median(values: &[u64]) -> u64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    values[values.len() / 2]
}

/// Starts the good clients.
fn start(load: &Arc<Load>, runtime: &tokio::runtime::Runtime) -> Vec<JoinHandle<()>> {
    let mut mixed = easy(250);
    mixed.extend((0..6).map(|_| "1x".to_owned()));
    let large = sixteen(64);
    let mut small = easy(50);
    small.extend(hard(3));
    vec![
        runtime.spawn(bulk(Arc::clone(load), mixed.clone())),
        runtime.spawn(bulk(Arc::clone(load), mixed)),
        runtime.spawn(bulk(Arc::clone(load), large.clone())),
        runtime.spawn(single(Arc::clone(load), small.clone())),
        runtime.spawn(single(Arc::clone(load), large[..10].to_vec())),
        runtime.spawn(unary(Arc::clone(load), small.clone())),
        runtime.spawn(unary(Arc::clone(load), large)),
    ]
}

#[expect(clippy::disallowed_methods, reason = "faults come a while apart")]
fn soak() -> Seen {
    let _alone = alone();
    let time = Duration::from_secs(setting("SOAK_SECONDS", SECONDS));
    let seed = setting("SOAK_SEED", 1);
    let mut daemon = Daemon::with_figures(&[
        "--max-streams",
        "600",
        "--keepalive-interval",
        "2",
        "--keepalive-timeout",
        "2",
        "--idle-timeout",
        "3",
        "--message-timeout",
        "3",
        "--handshake-timeout",
        "2",
    ]);
    let load = Arc::new(Load {
        url: daemon.url(),
        stop: AtomicBool::new(false),
        counts: Counts::default(),
        first: Mutex::default(),
    });
    let runtime = runtime();
    let begin = Instant::now();
    let clients = start(&load, &runtime);

    let mut saboteur = Saboteur::new(&daemon, seed);
    let (mut memory, mut strikes) = (Vec::new(), 0_u64);
    let mut next_sample = begin;
    while begin.elapsed() < time {
        saboteur.strike();
        strikes += 1;
        if Instant::now() >= next_sample {
            memory.push(daemon.memory());
            next_sample += SAMPLE;
        }
        let pause = 5 + saboteur.random.below(60) as u64;
        thread::sleep(Duration::from_millis(pause));
    }
    load.stop.store(true, Ordering::SeqCst);
    for client in clients {
        let ended = runtime.block_on(async { timeout(2 * PATIENCE, client).await });
        ended.expect("a good client ends").unwrap();
    }
    drop(saboteur);
    eventually("the end of all calls", || daemon.figure("sudoku_calls_open") == 0);
    assert_serving(&daemon);
    daemon.signal("-TERM");
    assert!(daemon.child.wait().unwrap().success(), "{}", daemon.log());

    let fifth = memory.len() / 5;
    let (early, late) = (median(&memory[fifth..2 * fifth]), median(&memory[4 * fifth..]));
    let counts = &load.counts;
    let [answered, lost, wrong, repeated, failed] =
        [&counts.answered, &counts.lost, &counts.wrong, &counts.repeated, &counts.failed]
            .map(|counter| counter.load(Ordering::SeqCst));
    let mut said = format!(
        "{} s, {answered} answers checked, {strikes} faults: {lost} lost, {wrong} wrong, {repeated} repeated, {failed} good calls failed; memory {} MiB in the second fifth, {} MiB in the last, {} MiB at most",
        time.as_secs(),
        mib(early),
        mib(late),
        mib(memory.iter().copied().max().unwrap_or_default()),
    );
    if let Some(first) = &*load.first.lock().unwrap() {
        let _ = write!(said, "; first: {first}");
    }
    assert!(lost + wrong + repeated + failed == 0 && answered > 0, "{said}");
    let slack = if time < LONG { SHORT_GROWTH } else { 0 };
    let bound = early + early * GROWTH_PER_CENT / 100 + slack;
    assert!(late <= bound, "{said}");
    Seen::good(said)
}
