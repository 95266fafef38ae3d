//! Configuration of a server, and its defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::service::net::listen::ListenAddress;
use crate::service::net::observe::CallObserver;
use crate::service::net::origin::Origin;
use crate::service::net::tls::TlsFiles;
use crate::solver::{STRATEGIES, Strategy};

/// The configuration of a server.
///
/// ```
/// use sudoku_stream::service::{Config, Limits};
///
/// let limits = Limits { connections: 16, ..Limits::default() };
/// let config = Config { limits, ..Config::default() };
/// assert_eq!(config.listen[0].to_string(), "127.0.0.1:50051");
/// ```
#[derive(Clone)]
pub struct Config {
    /// The addresses to listen on (default: 127.0.0.1:50051); port 0 takes a free one.
    pub listen: Vec<ListenAddress>,
    /// Whether it may listen beyond loopback without encryption (default: no).
    pub insecure: bool,
    /// The files for TLS (default: nothing is encrypted).
    pub tls: Option<TlsFiles>,
    /// The file of tokens, one of which every call must carry (default: anyone may call).
    pub token_file: Option<PathBuf>,
    /// The folder of the data sets (default: there are none).
    pub data_dir: Option<PathBuf>,
    /// The only data set, instead of a folder of them (default: there is none).
    pub data_file: Option<PathBuf>,
    /// Whether the page is served at `/` (default: yes).
    pub page: bool,
    /// What people started, for sentences of the page (default: `sudokud`).
    pub program: &'static str,
    /// Origins whose pages may call from a browser, beside the server's own (default: none).
    pub allowed_origins: Vec<Origin>,
    /// The threads of each worker pool (default: one for each core).
    pub threads: Option<NonZeroUsize>,
    /// The limits on clients.
    pub limits: Limits,
    /// The time that open calls have to end when the server shuts down (default: 10 s).
    pub drain_timeout: Duration,
    /// The time before that in which health says that the server is shutting down, and calls are still
    /// let in, so that load balancers look away before the ports are closed (default: none).
    pub drain_delay: Duration,
    /// The strategies that clients may name, the default first.
    pub strategies: &'static [&'static dyn Strategy],
    /// Who is told of every call that has ended (default: nobody).
    pub call_observer: Option<CallObserver>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 50051)).into()],
            insecure: false,
            tls: None,
            token_file: None,
            data_dir: None,
            data_file: None,
            page: true,
            program: "sudokud",
            allowed_origins: Vec::new(),
            threads: None,
            limits: Limits::default(),
            drain_timeout: Duration::from_secs(10),
            drain_delay: Duration::ZERO,
            strategies: STRATEGIES,
            call_observer: None,
        }
    }
}

/// The limits on clients.
///
/// **Invariant:** together they bound the memory of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest message in bytes, compressed and uncompressed (default: 1 MiB).
    pub message_bytes: usize,
    /// The most lines in a message (default: 16,384). An error line is longer than the line it
    /// answers; with the default, the answers to a message stay below the 4 MiB that clients accept
    /// by default.
    pub message_lines: usize,
    /// The most time until the first message of a call, without another byte of an incomplete
    /// message, and for a message beyond what it takes at 8 KiB a second (default: 30 s).
    pub message_timeout: Duration,
    /// The most connections at once; the longest idle makes way for a further one, and where none is
    /// idle it waits to be accepted (default: 4,096). All of an address other than the machine's own
    /// may have three times as many as are free.
    pub connections: usize,
    /// The time after which a connection without calls is closed (default: 10 min).
    pub connection_idle_timeout: Duration,
    /// The most time for a TLS handshake, and then for the first bytes (default: 10 s).
    pub handshake_timeout: Duration,
    /// The age at which a client is asked to make a new connection (default: never).
    pub connection_age: Option<Duration>,
    /// The time after which a silent client is pinged (default: 30 s).
    pub keepalive_interval: Duration,
    /// The most time for the answer to a ping (default: 20 s).
    pub keepalive_timeout: Duration,
    /// The most bytes of headers of a call (default: 16 KiB).
    pub header_bytes: u32,
    /// The most calls of a connection that the client may reset before they were accepted (default:
    /// 20).
    pub reset_streams: usize,
    /// The most open calls of all services, streaming or not, over all connections (default: 256).
    /// A connection may hold twice as many of them as are free for all others.
    pub streams: usize,
    /// The time after which an idle stream may be ended because others wait (default: 30 s).
    pub stream_idle_timeout: Duration,
    /// The most open calls on one connection (default: 128). Clients assume 100 until they receive
    /// the server's settings, so with less than that some of their first calls are refused.
    pub streams_per_connection: u32,
    /// The time after which the stream of a client that does not read its answers is ended, or its
    /// connection closed over HTTP/1.1 (default: 5 min).
    pub idle_timeout: Duration,
    /// The most batches in the bulk pool, running or waiting, over all calls (default: two for each
    /// thread, one running and one waiting). More would only make small calls wait behind large
    /// ones.
    pub in_flight: Option<NonZeroUsize>,
    /// The most batches of one stream that are being answered or wait for the client to read them
    /// (default: two for each thread, enough for one stream to keep all threads busy while answers
    /// travel).
    pub in_flight_per_stream: Option<NonZeroUsize>,
    /// The most search nodes for a puzzle (default: 10,000,000); higher requests are lowered to it.
    pub nodes: u64,
    /// The most time for a puzzle, which is then given up (default: 10 s). Strategies that search
    /// many puzzles together, such as `fast`, are bounded by the nodes alone, at about a
    /// microsecond each.
    pub puzzle_time: Duration,
    /// The most steps of a traced search (default: 1,000,000).
    pub trace_steps: u64,
    /// The most puzzles made by a call, for 9x9 and below (default: 1,000,000); a hundredth of it
    /// for 16x16, a thousandth for 25x25.
    pub generated: u64,
    /// The most full grids tried for a puzzle (default: 100,000); higher requests are lowered to
    /// it.
    pub attempts: u64,
}

impl Limits {
    /// The limits of a server that began with `old` and is to have these: those that can change
    /// while it runs are new.
    pub(crate) fn changed_from(&self, old: &Self) -> Self {
        Self {
            message_lines: self.message_lines,
            message_timeout: self.message_timeout,
            connections: self.connections,
            connection_idle_timeout: self.connection_idle_timeout,
            streams: self.streams,
            stream_idle_timeout: self.stream_idle_timeout,
            idle_timeout: self.idle_timeout,
            nodes: self.nodes,
            trace_steps: self.trace_steps,
            generated: self.generated,
            attempts: self.attempts,
            ..*old
        }
    }

    /// The limits by the names of their flags, for metrics, with `threads` threads in a pool; times in
    /// seconds.
    pub(crate) fn values(&self, threads: usize) -> [(&'static str, f64); 22] {
        // Without `..`, so that a new limit does not compile before it is here.
        let Self {
            message_bytes,
            message_lines,
            message_timeout,
            connections,
            connection_idle_timeout,
            handshake_timeout,
            connection_age,
            keepalive_interval,
            keepalive_timeout,
            header_bytes,
            reset_streams,
            streams,
            stream_idle_timeout,
            streams_per_connection,
            idle_timeout,
            in_flight,
            in_flight_per_stream,
            nodes,
            puzzle_time,
            trace_steps,
            generated,
            attempts,
        } = *self;
        let time = |time: Duration| time.as_secs_f64();
        let batches = |limit: Option<NonZeroUsize>| limit.map_or(2 * threads, Into::into) as f64;
        [
            ("max-message-bytes", message_bytes as f64),
            ("max-message-lines", message_lines as f64),
            ("message-timeout", time(message_timeout)),
            ("max-connections", connections as f64),
            ("connection-idle-timeout", time(connection_idle_timeout)),
            ("handshake-timeout", time(handshake_timeout)),
            ("max-connection-age", connection_age.map_or(f64::INFINITY, time)),
            ("keepalive-interval", time(keepalive_interval)),
            ("keepalive-timeout", time(keepalive_timeout)),
            ("max-header-bytes", f64::from(header_bytes)),
            ("max-reset-streams", reset_streams as f64),
            ("max-streams", streams as f64),
            ("max-streams-per-connection", f64::from(streams_per_connection)),
            ("stream-idle-timeout", time(stream_idle_timeout)),
            ("idle-timeout", time(idle_timeout)),
            ("max-in-flight", batches(in_flight)),
            ("max-in-flight-per-stream", batches(in_flight_per_stream)),
            ("max-nodes", nodes as f64),
            ("max-puzzle-time", time(puzzle_time)),
            ("max-trace-steps", trace_steps as f64),
            ("max-generated", generated as f64),
            ("max-attempts", attempts as f64),
        ]
    }

    /// The most batches of one stream, with `threads` threads in a pool.
    pub(crate) fn in_flight_per_stream(&self, threads: usize) -> usize {
        self.in_flight_per_stream.map_or(2 * threads, Into::into).min(Semaphore::MAX_PERMITS)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 1 << 20,
            message_lines: 1 << 14,
            message_timeout: Duration::from_secs(30),
            connections: 4096,
            connection_idle_timeout: Duration::from_secs(600),
            handshake_timeout: Duration::from_secs(10),
            connection_age: None,
            keepalive_interval: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(20),
            header_bytes: 16 << 10,
            reset_streams: 20,
            streams: 256,
            stream_idle_timeout: Duration::from_secs(30),
            streams_per_connection: 128,
            idle_timeout: Duration::from_secs(300),
            in_flight: None,
            in_flight_per_stream: None,
            nodes: 10_000_000,
            puzzle_time: Duration::from_secs(10),
            trace_steps: 1_000_000,
            generated: 1_000_000,
            attempts: 100_000,
        }
    }
}
