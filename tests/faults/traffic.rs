//! Good traffic: puzzles, clients that check every answer, and whether a server serves.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::proto::{SolveOptions, SolveRequest, SolveStreamRequest};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};

use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, assert_solves, disguise, eventually, grid, solution, text};

/// Puzzles with long chains of singles and no guesses, one of the hardest known, and the same for other sizes.
const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const HARD: &str = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";

/// What asynchronous clients run on.
pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Puzzles that are all different and have one solution each.
fn disguises(puzzle: &str, count: usize) -> Vec<String> {
    let puzzle = grid(puzzle);
    (1..=count as u64).map(|seed| text(&disguise(&puzzle, seed))).collect()
}

/// Easy 9x9 puzzles.
pub fn easy(count: usize) -> Vec<String> {
    disguises(EASY, count)
}

/// 9x9 puzzles that take as many guesses as any.
pub fn hard(count: usize) -> Vec<String> {
    disguises(HARD, count)
}

/// Easy 16x16 puzzles.
pub fn sixteen(count: usize) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/good/sixteen.lines");
    disguises(fs::read_to_string(file).unwrap().lines().next().unwrap(), count)
}

/// A 25x25 puzzle on which a search row by row takes all the nodes that it is allowed, and how to have it searched so. All that
/// is wrong with it is the last cell, which nothing fits.
pub fn endless() -> (String, SolveOptions) {
    let mut cells = vec!['.'; 625];
    cells[24] = 'P';
    for (cell, digit) in cells[600..].iter_mut().zip(('1'..='9').chain('A'..='O')) {
        *cell = digit;
    }
    let options = SolveOptions {
        strategy: "backtracking".to_owned(),
        node_limit: 10_000_000,
        ..SolveOptions::default()
    };
    (cells.into_iter().collect(), options)
}

/// A message of `SolveStream`.
pub fn batch(batch_id: u64, puzzles: &[String]) -> SolveStreamRequest {
    let puzzles = puzzles.iter().map(|puzzle| Bytes::from(puzzle.clone())).collect();
    SolveStreamRequest { options: None, batch_id, puzzles }
}

/// A client on a connection of its own.
pub async fn client(url: &str) -> SudokuServiceClient<Channel> {
    let endpoint = Endpoint::from_shared(url.to_owned()).unwrap();
    SudokuServiceClient::new(timeout(PATIENCE, endpoint.connect()).await.unwrap().unwrap())
}

/// Has one puzzle solved and checks the answer. Returns how long it took.
pub async fn solve(client: &mut SudokuServiceClient<Channel>, puzzle: &str) -> Duration {
    let begin = Instant::now();
    let call = client.solve(SolveRequest {
        options: None,
        text: Bytes::copy_from_slice(puzzle.as_bytes()),
        ..Default::default()
    });
    let answers = timeout(PATIENCE, call).await.unwrap().unwrap().into_inner().answers;
    let took = begin.elapsed();
    assert_eq!(answers.len(), 1);
    assert_solves(solution(&answers[0]), puzzle);
    took
}

/// Another client's call is answered, and rightly.
pub async fn serves(url: &str) {
    solve(&mut client(url).await, EASY).await;
}

/// The same, for rows that are not asynchronous.
pub fn assert_serving(daemon: &Daemon) {
    runtime().block_on(serves(&daemon.url()));
}

/// How much processor time a server takes in this much time.
#[expect(clippy::disallowed_methods, reason = "what a server does by itself shows after a while only")]
pub fn cpu_over(daemon: &Daemon, time: Duration) -> Duration {
    let before = daemon.cpu();
    std::thread::sleep(time);
    daemon.cpu_since(before)
}

/// Waits until a server has nothing left to do: what it has received is handled, or it reads no further.
pub fn settled(daemon: &Daemon) {
    const WHILE: Duration = Duration::from_millis(100);
    eventually("the end of the work", || cpu_over(daemon, WHILE).is_zero());
}

/// What a server holds, to be compared before and after.
pub struct Holdings {
    pub memory: u64,
    pub files: usize,
    pub threads: Vec<String>,
}

impl Holdings {
    pub fn of(daemon: &Daemon) -> Self {
        Self { memory: daemon.memory(), files: daemon.open_files(), threads: daemon.threads() }
    }
}

/// How much more memory a server has than it had, in MiB.
pub fn grown(daemon: &Daemon, before: u64) -> u64 {
    mib(daemon.memory().saturating_sub(before))
}

pub const fn mib(bytes: u64) -> u64 {
    bytes >> 20
}
