//! Metrics of the server.
//!
//! They go to the recorder of the process, if it has one (`sudokud` has one with
//! `--metrics-listen`); otherwise counting costs next to nothing.
//!
//! **Invariant:** labels take only values of ours (methods, outcomes, reasons) and names that the
//! operator gave, so no client can increase the number of time series.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use metrics::{
    Counter, Gauge, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::answer::Tally;
use crate::build_info;
use crate::solver::lanes::Backend;
use crate::text::Problem;

const PUZZLES: &str = "sudoku_puzzles_total";
const NODES: &str = "sudoku_nodes_total";
const GENERATED: &str = "sudoku_generated_puzzles_total";
const MESSAGES: &str = "sudoku_messages_received_total";
const CALLS: &str = "sudoku_calls_total";
const PROTOCOL_CALLS: &str = "sudoku_protocol_calls_total";
const CALLS_OPEN: &str = "sudoku_calls_open";
const CALLS_ENDED_IDLE: &str = "sudoku_calls_ended_idle_total";
const CLIENT_CALLS: &str = "sudoku_client_calls_total";
const CLIENT_CALLS_OPEN: &str = "sudoku_client_calls_open";
const CLIENT_PUZZLES: &str = "sudoku_client_puzzles_total";
const CALL_SECONDS: &str = "sudoku_call_seconds";
const REFUSED: &str = "sudoku_calls_refused_total";
const BATCHES_WAITING: &str = "sudoku_batches_waiting";
const BATCHES_RUNNING: &str = "sudoku_batches_running";
const BATCH_SECONDS: &str = "sudoku_batch_seconds";
const CONNECTIONS_OPEN: &str = "sudoku_connections_open";
const CONNECTIONS_WAITING: &str = "sudoku_connections_waiting";
const CONNECTIONS_CLOSED: &str = "sudoku_connections_closed_total";
const LIMIT: &str = "sudoku_limit";
const RECEIVED: &str = "sudoku_received_bytes_total";
const SENT: &str = "sudoku_sent_bytes_total";
const HANDSHAKES_FAILED: &str = "sudoku_handshakes_failed_total";
const DRAINING: &str = "sudoku_draining";
const RELOAD_SUCCESS: &str = "sudoku_reload_success";
const CERTIFICATE_EXPIRES: &str = "sudoku_certificate_expires_seconds";
const BUILD: &str = "sudoku_build_info";
/// The conventional name for any process.
const STARTED: &str = "process_start_time_seconds";

/// The outcome of a puzzle that was solved, or whose solutions were counted. All other outcomes are
/// codes of errors.
const ANSWERED: &str = "answered";

/// Describes each metric, and sets those that never change. `methods` and `protocols` are the labels of
/// calls, `streams` those of the calls that are streams of messages.
pub(crate) fn describe(methods: &[&'static str], protocols: &[&'static str], streams: &[&'static str]) {
    describe_counter!(PUZZLES, "Puzzles by outcome: answered, or the code of the error");
    describe_counter!(NODES, "Search states visited for those puzzles");
    describe_counter!(GENERATED, "Puzzles requested from Generate by outcome: made, or given up");
    describe_counter!(MESSAGES, "Messages with puzzles received on streams, by method");
    describe_counter!(CALLS, "Calls that have ended, including refused ones, by method and status");
    describe_counter!(PROTOCOL_CALLS, "The same calls, by protocol and status");
    describe_gauge!(CALLS_OPEN, "Calls admitted and open, of every service");
    describe_counter!(CALLS_ENDED_IDLE, "Idle calls that were ended because others waited");
    describe_counter!(CLIENT_CALLS, "Calls let in, by the name of their token");
    describe_gauge!(CLIENT_CALLS_OPEN, "Calls open, by the name of their token");
    describe_counter!(CLIENT_PUZZLES, "Puzzles asked for, by the name of the token");
    describe_histogram!(CALL_SECONDS, Unit::Seconds, "How long calls were open, by method");
    describe_counter!(REFUSED, "Calls refused, by reason");
    describe_gauge!(BATCHES_WAITING, "Batches of puzzles that wait for a thread");
    describe_gauge!(BATCHES_RUNNING, "Batches of puzzles in the worker pools");
    describe_histogram!(BATCH_SECONDS, Unit::Seconds, "Time from a batch's permit to its end");
    describe_gauge!(CONNECTIONS_OPEN, "Open connections");
    describe_gauge!(CONNECTIONS_WAITING, "Connections that wait for the end of others, up to 64");
    describe_counter!(
        CONNECTIONS_CLOSED,
        "Connections that the server closed for what their peers did, by reason"
    );
    describe_gauge!(LIMIT, "Limits, by the names of their flags; times in seconds");
    describe_counter!(RECEIVED, Unit::Bytes, "Bytes received, after decryption");
    describe_counter!(SENT, Unit::Bytes, "Bytes sent, before encryption");
    describe_counter!(HANDSHAKES_FAILED, "TLS handshakes that failed, by reason");
    describe_gauge!(DRAINING, "1 while the server shuts down");
    gauge!(DRAINING).set(0);
    describe_gauge!(RELOAD_SUCCESS, "1 if all that the last reload, or the start, has read is in use");
    reloaded(true);
    describe_gauge!(
        CERTIFICATE_EXPIRES,
        Unit::Seconds,
        "When the first certificate of the chain in use expires, in seconds since 1970"
    );
    describe_gauge!(STARTED, Unit::Seconds, "When the server started, in seconds since 1970");
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    gauge!(STARTED).set(started.as_secs_f64());
    describe_gauge!(BUILD, "1, labelled with the server's build and the best back end of this machine");
    let backend = Backend::best().to_string();
    let origin =
        [("version", build_info::VERSION), ("commit", build_info::COMMIT), ("rustc", build_info::RUSTC)];
    let labels = origin.iter().map(metrics::Label::from).chain([metrics::Label::new("backend", backend)]);
    gauge!(BUILD, labels.collect::<Vec<_>>()).set(1);
    begin(methods, protocols, streams);
}

/// Counts answers to puzzles.
pub(crate) fn answered(tally: &Tally) {
    let good = tally.answers - tally.error_count();
    if good > 0 {
        counter!(PUZZLES, "outcome" => ANSWERED).increment(good);
    }
    for (&code, &count) in &tally.errors {
        counter!(PUZZLES, "outcome" => code).increment(count);
    }
    counter!(NODES).increment(tally.metrics.nodes);
}

/// Counts puzzles that were made, and those that were given up.
pub(crate) fn generated(made: u64, given_up: u64) {
    counter!(GENERATED, "outcome" => "made").increment(made);
    counter!(GENERATED, "outcome" => "given_up").increment(given_up);
}

/// Counts messages received on a stream.
pub(crate) fn received(method: &'static str, messages: usize) {
    counter!(MESSAGES, "method" => method).increment(messages as u64);
}

/// Counts a TLS handshake that failed.
pub(crate) fn handshake_failed(reason: &'static str) {
    counter!(HANDSHAKES_FAILED, "reason" => reason).increment(1);
}

/// Records that the server shuts down.
pub(crate) fn draining() {
    gauge!(DRAINING).set(1);
}

/// Records whether all files could be read again.
pub(crate) fn reloaded(is_success: bool) {
    gauge!(RELOAD_SUCCESS).set(u8::from(is_success));
}

/// Records when the certificates that are in use expire, in seconds since 1970.
pub(crate) fn certificate_expires(time: i64) {
    gauge!(CERTIFICATE_EXPIRES).set(time as f64);
}

/// Counts puzzles whose work panicked.
pub(crate) fn internal_errors(puzzles: usize) {
    counter!(PUZZLES, "outcome" => Problem::Internal.code()).increment(puzzles as u64);
}

/// Counts a call that is refused.
pub(crate) fn refused(reason: &'static str) {
    counter!(REFUSED, "reason" => reason).increment(1);
}

/// An increment of a gauge, for as long as it lives.
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn increment(gauge: Gauge) -> Self {
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

/// Counts a call that was let in, also under the name of its token.
pub(crate) fn call_opened(name: Option<&Arc<str>>) {
    gauge!(CALLS_OPEN).increment(1);
    if let Some(name) = name {
        gauge!(CLIENT_CALLS_OPEN, "client" => Arc::clone(name)).increment(1);
        counter!(CLIENT_CALLS, "client" => Arc::clone(name)).increment(1);
    }
}

/// Counts its end.
pub(crate) fn call_closed(name: Option<&Arc<str>>) {
    gauge!(CALLS_OPEN).decrement(1);
    if let Some(name) = name {
        gauge!(CLIENT_CALLS_OPEN, "client" => Arc::clone(name)).decrement(1);
    }
}

/// Counts an idle call that was ended for another one.
pub(crate) fn ended_idle() {
    counter!(CALLS_ENDED_IDLE).increment(1);
}

/// Sets up the metrics of a client that the operator has named.
pub(crate) fn add_client(name: &Arc<str>) {
    gauge!(CLIENT_CALLS_OPEN, "client" => Arc::clone(name)).increment(0);
    counter!(CLIENT_CALLS, "client" => Arc::clone(name)).increment(0);
    counter!(CLIENT_PUZZLES, "client" => Arc::clone(name)).increment(0);
}

/// Counts puzzles of a client that the operator has named.
pub(crate) fn client_puzzles(name: &Arc<str>, puzzles: u64) {
    counter!(CLIENT_PUZZLES, "client" => Arc::clone(name)).increment(puzzles);
}

/// The meter of any call, admitted or refused.
pub(crate) struct CallMeter {
    method: &'static str,
    protocol: &'static str,
    begun: Instant,
}

impl CallMeter {
    pub(crate) fn of(method: &'static str, protocol: &'static str) -> Self {
        Self { method, protocol, begun: Instant::now() }
    }

    /// Counts the call with its status and returns its duration in seconds.
    pub(crate) fn ended(&self, status: &'static str) -> f64 {
        let seconds = self.begun.elapsed().as_secs_f64();
        counter!(CALLS, "method" => self.method, "status" => status).increment(1);
        counter!(PROTOCOL_CALLS, "protocol" => self.protocol, "status" => status).increment(1);
        histogram!(CALL_SECONDS, "method" => self.method).record(seconds);
        seconds
    }
}

/// The meter of a batch that waits for a permit, for as long as it does.
pub(crate) fn waiting_batch() -> GaugeGuard {
    GaugeGuard::increment(gauge!(BATCHES_WAITING))
}

/// The meter of a batch that has a permit, for as long as it does.
pub(crate) struct RunningBatch {
    begun: Instant,
    _gauge: GaugeGuard,
}

impl RunningBatch {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), _gauge: GaugeGuard::increment(gauge!(BATCHES_RUNNING)) }
    }
}

impl Drop for RunningBatch {
    fn drop(&mut self) {
        histogram!(BATCH_SECONDS).record(self.begun.elapsed());
    }
}

/// The meter of a connection that waits for capacity, for as long as it does.
pub(crate) fn waiting_connection() -> GaugeGuard {
    GaugeGuard::increment(gauge!(CONNECTIONS_WAITING))
}

/// Why the server closes a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Closed {
    /// It was idle for the time-out.
    Idle,
    /// It was the longest idle when others waited.
    Evicted,
    /// Its address had its share.
    Share,
    /// It brought too many control frames.
    ControlFrames,
}

impl Closed {
    const ALL: [Self; 4] = [Self::Idle, Self::Evicted, Self::Share, Self::ControlFrames];

    const fn label(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Evicted => "evicted",
            Self::Share => "share",
            Self::ControlFrames => "control_frames",
        }
    }
}

/// Counts a connection that the server closes.
pub(crate) fn closed(why: Closed) {
    counter!(CONNECTIONS_CLOSED, "reason" => why.label()).increment(1);
}

/// Sets the gauge of a limit.
pub(crate) fn limit(name: &'static str, value: f64) {
    gauge!(LIMIT, "name" => name).set(value);
}

/// The statuses with which calls can end.
const STATUSES: [&str; 14] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "UNAUTHENTICATED",
    "OUT_OF_RANGE",
];

/// The reasons for which calls, and requests that are none, can be refused.
const REASONS: [&str; 15] = [
    "malformed",
    "max_streams",
    "not_whole",
    "share",
    "quota",
    "token",
    "content_type",
    "method",
    "timeout_header",
    "shutting_down",
    "idle_timeout",
    "header_bytes",
    "origin",
    "host",
    "datasets",
];

/// Makes every series appear that can be told beforehand, so that rates and alerts have something
/// to begin with.
fn begin(methods: &[&'static str], protocols: &[&'static str], streams: &[&'static str]) {
    let zero = |counter: Counter| counter.increment(0);
    for &method in methods {
        for status in STATUSES {
            zero(counter!(CALLS, "method" => method, "status" => status));
        }
    }
    for &protocol in protocols {
        for status in STATUSES {
            zero(counter!(PROTOCOL_CALLS, "protocol" => protocol, "status" => status));
        }
    }
    for reason in REASONS {
        zero(counter!(REFUSED, "reason" => reason));
    }
    for why in Closed::ALL {
        zero(counter!(CONNECTIONS_CLOSED, "reason" => why.label()));
    }
    for outcome in ["made", "given_up"] {
        zero(counter!(GENERATED, "outcome" => outcome));
    }
    for reason in ["refused", "too_slow"] {
        zero(counter!(HANDSHAKES_FAILED, "reason" => reason));
    }
    for &method in streams {
        zero(counter!(MESSAGES, "method" => method));
    }
    for outcome in Problem::CODES.into_iter().chain([ANSWERED]) {
        zero(counter!(PUZZLES, "outcome" => outcome));
    }
    for name in [NODES, CALLS_ENDED_IDLE, RECEIVED, SENT] {
        zero(counter!(name));
    }
    for name in [CALLS_OPEN, BATCHES_WAITING, BATCHES_RUNNING, CONNECTIONS_OPEN, CONNECTIONS_WAITING] {
        gauge!(name).increment(0);
    }
}

/// The meter of a connection and its bytes, for as long as it is open.
pub(crate) struct OpenConnection {
    pub(crate) received: Counter,
    pub(crate) sent: Counter,
    _gauge: GaugeGuard,
}

impl OpenConnection {
    pub(crate) fn new() -> Self {
        Self {
            received: counter!(RECEIVED),
            sent: counter!(SENT),
            _gauge: GaugeGuard::increment(gauge!(CONNECTIONS_OPEN)),
        }
    }
}
