//! What one client takes from another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveOptions};
use tokio::runtime::Runtime;
use tokio_stream::StreamExt as _;

use crate::cores::apart;
use crate::harness::daemon::Daemon;
use crate::harness::lines;
use crate::row::{Row, Seen, alone, recorded_to};
use crate::traffic::{client, easy, endless, hard, runtime, solve};

/// How much slower the slowest hundredth of a small client's calls may become.
const TIMES: f64 = 3.0;

/// Half a tick of the system's scheduler, which other processes on the machine cost now and then. Server and clients have cores of their
/// own. A server whose threads all have the same priority is above it: there, a call that comes in waits for a tick.
pub const NOISE: Duration = Duration::from_millis(2);

/// Four ticks, where nobody says that the machine is idle, or all have a single core. A server without turns, or with turns by request, is
/// far above it: it lets the small client wait for whole batches.
const BUSY_NOISE: Duration = Duration::from_millis(16);

const ROUNDS: usize = 5;
const CALLS: usize = 1000;

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            number: 21,
            fault: "a client that streams 25x25 puzzles without end, beside a small one",
            expected: "99 % of the small client's calls within 3 times the time they take alone (and 2 ms, for noise; 16 ms on a busy machine)",
            run: beside_endless_searches,
        },
        Row {
            number: 21,
            fault: "a client that streams 1,024 of the hardest 9x9 puzzles a message, beside a small one",
            expected: "99 % of the small client's calls within 3 times the time they take alone (and 2 ms, for noise; 16 ms on a busy machine)",
            run: beside_large_messages,
        },
        Row {
            number: 21,
            fault: "the same two, beside a stream of easy puzzles",
            expected: "the stream is not starved: 20,000 puzzles a second at least",
            run: streams_beside_each_other,
        },
    ]
}

/// A client that has this answered again and again, for as long as it lives.
struct Greedy {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
}

impl Drop for Greedy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

impl Greedy {
    fn start(runtime: &Runtime, url: &str, options: Option<SolveOptions>, block: &str) -> Self {
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let greedy = Self { stop: Arc::clone(&stop), answered: Arc::clone(&answered) };
        let (url, lines) = (url.to_owned(), Bytes::copy_from_slice(block.as_bytes()));
        runtime.spawn(async move {
            let requests = tokio_stream::iter(std::iter::repeat(())).map(move |()| SolveLinesRequest {
                options: options.clone(),
                lines: lines.clone(),
                ..SolveLinesRequest::default()
            });
            let Ok(response) = client(&url).await.solve_lines(requests).await else { return };
            let mut stream = response.into_inner();
            // Leaving the stream is how it stops.
            while !stop.load(Ordering::SeqCst) {
                match tokio::time::timeout(Duration::from_millis(100), stream.message()).await {
                    Ok(Ok(Some(response))) => {
                        answered.fetch_add(response.tally.unwrap_or_default().answers, Ordering::SeqCst);
                    }
                    Err(_) => {}
                    Ok(_) => return,
                }
            }
        });
        greedy
    }
}

/// The time within which 99 % of a small client's calls are answered.
pub fn small_calls(runtime: &Runtime, url: &str) -> Duration {
    runtime.block_on(async {
        let mut client = client(url).await;
        let puzzles = easy(10);
        for puzzle in &puzzles {
            solve(&mut client, puzzle).await;
        }
        let mut times = Vec::new();
        for k in 0..CALLS {
            times.push(solve(&mut client, &puzzles[k % puzzles.len()]).await);
        }
        times.sort();
        times[CALLS * 99 / 100]
    })
}

/// Asserts that a small client's calls beside others took no more than they may, and says what they took. Each has a time for each round;
/// the lowest counts, since noise only adds.
///
/// # Panics
///
/// Panics where they took longer than [`TIMES`] times alone, and some noise. How much of it is let pass depends on who asks: a run that
/// writes down figures has the machine for itself, `cargo test` has not.
pub fn assert_fair(without: &[Duration], with: &[Duration], noise: Duration, kept: bool) -> String {
    let (without, with) = (without.iter().min().unwrap(), with.iter().min().unwrap());
    let said = format!(
        "99 % within {:.2} ms, alone {:.2} ms",
        with.as_secs_f64() * 1e3,
        without.as_secs_f64() * 1e3
    );
    let noise = if kept && recorded_to().is_some() { noise } else { BUSY_NOISE };
    assert!(*with < without.mul_f64(TIMES) + noise, "{said}");
    said
}

/// Alone and beside a greedy client, in turns.
fn beside(options: Option<&SolveOptions>, block: &str) -> Seen {
    let _alone = alone();
    let (daemon, kept) = apart(|| Daemon::start(&[]));
    let runtime = runtime();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(small_calls(&runtime, &daemon.url()));
        let greedy = Greedy::start(&runtime, &daemon.url(), options.cloned(), block);
        with.push(small_calls(&runtime, &daemon.url()));
        drop(greedy);
    }
    Seen::good(assert_fair(&without, &with, NOISE, kept.is_some()))
}

fn beside_endless_searches() -> Seen {
    let (puzzle, options) = endless();
    beside(Some(&options), &lines(&vec![puzzle; 20]))
}

fn beside_large_messages() -> Seen {
    beside(None, &lines(&hard(1024)))
}

fn streams_beside_each_other() -> Seen {
    const TIME: Duration = Duration::from_secs(2);
    let _alone = alone();
    let daemon = Daemon::start(&[]);
    let runtime = runtime();
    let small = lines(&easy(256));
    let pace = || {
        let stream = Greedy::start(&runtime, &daemon.url(), None, &small);
        let begin = Instant::now();
        // The time over which the rate is measured.
        runtime.block_on(async { tokio::time::sleep(TIME).await });
        stream.answered.load(Ordering::SeqCst) as f64 / begin.elapsed().as_secs_f64()
    };
    let without = pace();
    let (puzzle, options) = endless();
    let endless = Greedy::start(&runtime, &daemon.url(), Some(options), &lines(&vec![puzzle; 20]));
    let large = Greedy::start(&runtime, &daemon.url(), None, &lines(&hard(1024)));
    let with = pace();
    drop((endless, large));
    let said = format!("{with:.0} puzzles a second, alone {without:.0}");
    // Turns are shared by batches, not by time, so it gets far less than alone; but it goes on.
    assert!(with > 20_000.0, "{said}");
    Seen::good(said)
}
