//! What the server counts, for whoever watches it.
//!
//! Figures go to the recorder of the process, if it has one (`sudokud` has, with `--metrics-listen`); otherwise counting
//! costs next to nothing. Labels take few values, whatever clients send: methods, outcomes and reasons are ours.

use std::time::Instant;

use metrics::{
    Counter, Gauge, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::answer::Tally;
use crate::solver::lanes::Backend;
use crate::text::Problem;

const PUZZLES: &str = "sudoku_puzzles_total";
const CALLS: &str = "sudoku_calls_total";
const CALLS_OPEN: &str = "sudoku_calls_open";
const CALL_SECONDS: &str = "sudoku_call_seconds";
const REFUSED: &str = "sudoku_calls_refused_total";
const BATCHES_WAITING: &str = "sudoku_batches_waiting";
const BATCHES_RUNNING: &str = "sudoku_batches_running";
const BATCH_SECONDS: &str = "sudoku_batch_seconds";
const CONNECTIONS_OPEN: &str = "sudoku_connections_open";
const RECEIVED: &str = "sudoku_received_bytes_total";
const SENT: &str = "sudoku_sent_bytes_total";
const BUILD: &str = "sudoku_build_info";

/// The outcome of a puzzle that was solved, or whose solutions were counted. All others are the codes of errors.
const ANSWERED: &str = "answered";

/// Says what each figure is.
pub(super) fn describe() {
    describe_counter!(PUZZLES, "Puzzles by outcome: answered, or the code of the error");
    describe_counter!(CALLS, "Calls that were let in, by method");
    describe_gauge!(CALLS_OPEN, "Calls that are open");
    describe_histogram!(CALL_SECONDS, Unit::Seconds, "How long calls were open, by method");
    describe_counter!(REFUSED, "Calls that were not let in, by reason");
    describe_gauge!(BATCHES_WAITING, "Batches of puzzles that wait for their turn");
    describe_gauge!(BATCHES_RUNNING, "Batches of puzzles that have their turn");
    describe_histogram!(BATCH_SECONDS, Unit::Seconds, "How long batches had their turn");
    describe_gauge!(CONNECTIONS_OPEN, "Connections that are open");
    describe_counter!(RECEIVED, Unit::Bytes, "Bytes received, after decryption");
    describe_counter!(SENT, Unit::Bytes, "Bytes sent, before encryption");
    describe_gauge!(BUILD, "1, with the version of the server and the back end of its kernel");
    let backend = Backend::best().to_string();
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION"), "backend" => backend).set(1);
}

/// Counts answers to puzzles.
pub(super) fn answered(tally: &Tally) {
    let good = tally.answers - tally.error_count();
    if good > 0 {
        counter!(PUZZLES, "outcome" => ANSWERED).increment(good);
    }
    for (&code, &count) in &tally.errors {
        counter!(PUZZLES, "outcome" => code).increment(count);
    }
}

/// Counts puzzles on which the work broke down.
pub(super) fn broken_down(puzzles: usize) {
    counter!(PUZZLES, "outcome" => Problem::Internal.code()).increment(puzzles as u64);
}

/// Counts a call that is not let in.
pub(super) fn refused(reason: &'static str) {
    counter!(REFUSED, "reason" => reason).increment(1);
}

/// One more of something, for as long as this lives.
struct One(Gauge);

impl One {
    fn more(gauge: Gauge) -> Self {
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

/// A call, for as long as it is open.
pub(super) struct OpenCall {
    method: &'static str,
    begun: Instant,
    _one: One,
}

impl OpenCall {
    pub(super) fn of(method: &'static str) -> Self {
        counter!(CALLS, "method" => method).increment(1);
        Self { method, begun: Instant::now(), _one: One::more(gauge!(CALLS_OPEN)) }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        histogram!(CALL_SECONDS, "method" => self.method).record(self.begun.elapsed());
    }
}

/// A batch that waits for its turn, for as long as it does.
pub(super) struct WaitingBatch(#[expect(dead_code, reason = "held for its drop")] One);

impl WaitingBatch {
    pub(super) fn new() -> Self {
        Self(One::more(gauge!(BATCHES_WAITING)))
    }
}

/// A batch that has its turn, for as long as it does.
pub(super) struct RunningBatch {
    begun: Instant,
    _one: One,
}

impl RunningBatch {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), _one: One::more(gauge!(BATCHES_RUNNING)) }
    }
}

impl Drop for RunningBatch {
    fn drop(&mut self) {
        histogram!(BATCH_SECONDS).record(self.begun.elapsed());
    }
}

/// A connection, for as long as it is open, and its bytes.
pub(super) struct OpenConnection {
    pub(super) received: Counter,
    pub(super) sent: Counter,
    _one: One,
}

impl OpenConnection {
    pub(super) fn new() -> Self {
        Self { received: counter!(RECEIVED), sent: counter!(SENT), _one: One::more(gauge!(CONNECTIONS_OPEN)) }
    }
}
