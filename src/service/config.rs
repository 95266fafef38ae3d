//! What a server can be told, and its defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::tls::TlsFiles;
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
    /// The most calls open at once, streaming or not, over all connections.
    pub streams: usize,
    /// The most batches that wait for a thread or have one, over all calls. Twice the threads if not given:
    /// one running and one waiting for each. More would only make small calls wait behind large ones.
    pub in_flight: Option<NonZeroUsize>,
    /// The most search nodes a puzzle may take; requests for more are lowered to it.
    pub nodes: u64,
    /// The most steps of a search that are told.
    pub trace_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 1 << 20,
            message_lines: 1 << 14,
            streams: 256,
            in_flight: None,
            nodes: 10_000_000,
            trace_steps: 1_000_000,
        }
    }
}
