//! What a server can be told, and its defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::service::net::tls::TlsFiles;
use crate::solver::{STRATEGIES, Strategy};

/// What a server can be told.
#[derive(Clone)]
pub struct Config {
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// May it listen beyond loopback without encryption, where anyone can read along?
    pub insecure: bool,
    /// What encryption takes; nothing is encrypted if not given.
    pub tls: Option<TlsFiles>,
    /// The file of the tokens that clients must have one of; anyone may call if not given.
    pub token_file: Option<PathBuf>,
    /// The folder of the data sets.
    pub data_dir: Option<PathBuf>,
    /// The threads that search; one for each core if not given.
    pub threads: Option<NonZeroUsize>,
    /// What one client may take.
    pub limits: Limits,
    /// How long calls on hand may take to end when the server is told to stop.
    pub drain_timeout: Duration,
    /// The strategies that clients may name, the default first.
    pub strategies: &'static [&'static dyn Strategy],
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 50051)),
            insecure: false,
            tls: None,
            token_file: None,
            data_dir: None,
            threads: None,
            limits: Limits::default(),
            drain_timeout: Duration::from_secs(10),
            strategies: STRATEGIES,
        }
    }
}

/// The bounds on what clients may take. Together they bound the memory of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest message, in bytes, before and after it is unpacked.
    pub message_bytes: usize,
    /// The most lines in a message. An error line is longer than the line it answers; with this bound the
    /// answers to a message stay below the 4 MiB that clients accept unless told otherwise.
    pub message_lines: usize,
    /// How long a message that has begun may not go on.
    pub message_timeout: Duration,
    /// The most connections at once; further ones wait to be accepted. An idle one takes about 30 KB.
    pub connections: usize,
    /// How long a peer may take for its first bytes, and for encryption to be agreed on.
    pub handshake_timeout: Duration,
    /// How long a connection may last before its client is asked to make a new one; for ever if not given.
    pub connection_age: Option<Duration>,
    /// How often a silent client is asked whether it is still there.
    pub keepalive_interval: Duration,
    /// How long it may take to say so.
    pub keepalive_timeout: Duration,
    /// The most bytes of headers that a call may have.
    pub header_bytes: u32,
    /// The most calls of a connection that may be broken off by the client before they were looked at.
    pub reset_streams: usize,
    /// The most calls open at once, streaming or not, over all connections.
    pub streams: usize,
    /// The most calls open at once on one connection. Below 100, clients that assume that many before they have been told
    /// otherwise are refused at their start.
    pub streams_per_connection: u32,
    /// How long a client may leave answers lying before its connection is closed.
    pub idle_timeout: Duration,
    /// The most batches that wait for a thread or have one, over all calls. Twice the threads if not given:
    /// one running and one waiting for each. More would only make small calls wait behind large ones.
    pub in_flight: Option<NonZeroUsize>,
    /// The most batches of one stream that are being answered or wait for the client to take them. Twice the threads if not
    /// given: enough for a stream by itself to keep all threads busy while answers travel.
    pub in_flight_per_stream: Option<NonZeroUsize>,
    /// The most search nodes a puzzle may take; requests for more are lowered to it.
    pub nodes: u64,
    /// The longest that a puzzle may be searched, after which it is given up. Strategies that search many puzzles together, as
    /// `fast`, are bounded by the nodes alone, at about a microsecond each.
    pub puzzle_time: Duration,
    /// The most steps of a search that are told.
    pub trace_steps: u64,
    /// The most puzzles that a call can have made, for 9x9 and below. A hundredth of it for 16x16, a thousandth for 25x25.
    pub generated: u64,
    /// The most full grids that are tried for a puzzle; requests for more are lowered to it.
    pub attempts: u64,
}

impl Limits {
    /// The most batches of one stream, where so many threads search.
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
            handshake_timeout: Duration::from_secs(10),
            connection_age: None,
            keepalive_interval: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(20),
            header_bytes: 16 << 10,
            reset_streams: 20,
            streams: 256,
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
