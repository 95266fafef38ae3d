//! What was typed, set in the environment or written in the configuration file, and what it means.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::{CommandFactory as _, Parser, ValueEnum};
use clap_complete::Shell;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use sudoku_stream::build_info;
use sudoku_stream::service::{Config, Limits, TlsFiles};
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{Fast, STRATEGIES, Strategy};

/// A gRPC service that solves Sudoku puzzles in bulk.
///
/// It serves on 127.0.0.1:50051 unless told otherwise. SIGTERM and SIGINT make it finish what it has read and
/// end; a second one ends it at once.
#[derive(Debug, Parser)]
#[command(name = "sudokud", version, long_version = build_info::in_full())]
pub struct Args {
    /// A TOML file with these flags by the same names, such as `data-dir = "puzzles"`. Flags and the environment
    /// win over it.
    #[arg(long, env = "SUDOKUD_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the script that lets SHELL complete these flags, and end
    #[arg(long, value_enum, value_name = "SHELL")]
    completions: Option<Shell>,
    /// Print the manual page, and end
    #[arg(long)]
    man: bool,
    #[command(flatten)]
    given: Settings,
}

/// The settings, each of them if it was given.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Settings {
    /// The address to listen on [default: 127.0.0.1:50051]
    #[arg(long, env = "SUDOKUD_LISTEN", value_name = "ADDRESS:PORT", value_parser = address)]
    #[serde(default, deserialize_with = "listed_address")]
    listen: Option<SocketAddr>,
    /// The certificate of this server, and those that lead to its authority, in PEM: connections are encrypted
    #[arg(long, env = "SUDOKUD_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, env = "SUDOKUD_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// The authorities whose certificates clients must have, in PEM [default: clients need none]
    #[arg(long, env = "SUDOKUD_CLIENT_CA", value_name = "FILE")]
    client_ca: Option<PathBuf>,
    /// A file with a token a line, one of which clients must send [default: clients need none]
    #[arg(long, env = "SUDOKUD_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Listen beyond this machine although nothing is encrypted
    #[arg(long, env = "SUDOKUD_INSECURE", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    insecure: Option<bool>,
    /// The folder of the data sets that clients may solve by name
    #[arg(long, env = "SUDOKUD_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The threads that search [default: one for each core]
    #[arg(long, env = "SUDOKUD_THREADS", value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
    /// The instructions that the strategy fast uses: avx512, avx512vl (the same on shorter words), avx2 or portable [default: the best of this machine]
    #[arg(long, env = "SUDOKUD_BACKEND", value_name = "NAME")]
    #[serde(default, deserialize_with = "backend")]
    backend: Option<Backend>,
    /// The most connections at once; further ones wait to be accepted [default: 4096]
    #[arg(long, env = "SUDOKUD_MAX_CONNECTIONS", value_name = "N", value_parser = from_one)]
    max_connections: Option<NonZeroUsize>,
    /// The most calls open at once, over all connections [default: 256]
    #[arg(long, env = "SUDOKUD_MAX_STREAMS", value_name = "N", value_parser = from_one)]
    max_streams: Option<NonZeroUsize>,
    /// The most calls open at once on one connection; some clients need 100 [default: 128]
    #[arg(long, env = "SUDOKUD_MAX_STREAMS_PER_CONNECTION", value_name = "N")]
    max_streams_per_connection: Option<NonZeroU32>,
    /// The most batches of many puzzles on the threads or waiting for them [default: twice the threads]
    #[arg(long, env = "SUDOKUD_MAX_IN_FLIGHT", value_name = "N", value_parser = from_one)]
    max_in_flight: Option<NonZeroUsize>,
    /// The most batches of one stream being answered or waiting to be taken [default: twice the threads]
    #[arg(long, env = "SUDOKUD_MAX_IN_FLIGHT_PER_STREAM", value_name = "N", value_parser = from_one)]
    max_in_flight_per_stream: Option<NonZeroUsize>,
    /// The largest message, in bytes [default: 1048576]
    #[arg(long, env = "SUDOKUD_MAX_MESSAGE_BYTES", value_name = "BYTES", value_parser = from_one)]
    max_message_bytes: Option<NonZeroUsize>,
    /// The most lines in a message [default: 16384]
    #[arg(long, env = "SUDOKUD_MAX_MESSAGE_LINES", value_name = "N", value_parser = from_one)]
    max_message_lines: Option<NonZeroUsize>,
    /// The most bytes of headers of a call [default: 16384]
    #[arg(long, env = "SUDOKUD_MAX_HEADER_BYTES", value_name = "BYTES")]
    max_header_bytes: Option<NonZeroU32>,
    /// The most calls of a connection that a client may break off before they were looked at [default: 20]
    #[arg(long, env = "SUDOKUD_MAX_RESET_STREAMS", value_name = "N", value_parser = from_one)]
    max_reset_streams: Option<NonZeroUsize>,
    /// The most search nodes a puzzle may take [default: 10000000]
    #[arg(long, env = "SUDOKUD_MAX_NODES", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_nodes: Option<u64>,
    /// The longest that a puzzle may be searched [default: 10]
    #[arg(long, env = "SUDOKUD_MAX_PUZZLE_TIME", value_name = "SECONDS")]
    max_puzzle_time: Option<Seconds>,
    /// How long a peer may take for its first bytes [default: 10]
    #[arg(long, env = "SUDOKUD_HANDSHAKE_TIMEOUT", value_name = "SECONDS")]
    handshake_timeout: Option<Seconds>,
    /// How long a message that has begun may not go on [default: 30]
    #[arg(long, env = "SUDOKUD_MESSAGE_TIMEOUT", value_name = "SECONDS")]
    message_timeout: Option<Seconds>,
    /// How long a client may leave answers lying before its connection is closed [default: 300]
    #[arg(long, env = "SUDOKUD_IDLE_TIMEOUT", value_name = "SECONDS")]
    idle_timeout: Option<Seconds>,
    /// How often a silent client is asked whether it is there [default: 30]
    #[arg(long, env = "SUDOKUD_KEEPALIVE_INTERVAL", value_name = "SECONDS")]
    keepalive_interval: Option<Seconds>,
    /// How long it may take to say so [default: 20]
    #[arg(long, env = "SUDOKUD_KEEPALIVE_TIMEOUT", value_name = "SECONDS")]
    keepalive_timeout: Option<Seconds>,
    /// After what time a client is asked to make a new connection [default: never]
    #[arg(long, env = "SUDOKUD_MAX_CONNECTION_AGE", value_name = "SECONDS")]
    max_connection_age: Option<Seconds>,
    /// How long calls may take to end after SIGTERM [default: 10]
    #[arg(long, env = "SUDOKUD_DRAIN_TIMEOUT", value_name = "SECONDS")]
    drain_timeout: Option<Seconds>,
    /// The address at which /metrics (figures for Prometheus), /healthz and /readyz are served, over plain HTTP
    /// [default: none]
    #[arg(long, env = "SUDOKUD_METRICS_LISTEN", value_name = "ADDRESS:PORT", value_parser = address)]
    #[serde(default, deserialize_with = "listed_address")]
    metrics_listen: Option<SocketAddr>,
    /// The OpenTelemetry collector that spans of calls are sent to by gRPC, such as `http://127.0.0.1:4317` [default: none]
    #[arg(long, env = "SUDOKUD_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// The share of calls whose spans are sent, from 0 to 1; the caller decides for a call that is part of a trace
    /// [default: 1]
    #[arg(long, env = "SUDOKUD_OTLP_SAMPLE", value_name = "SHARE", value_parser = share)]
    #[serde(default, deserialize_with = "listed_share")]
    otlp_sample: Option<Share>,
    /// How the log on standard error is written [default: text]
    #[arg(long, env = "SUDOKUD_LOG", value_name = "FORM")]
    log: Option<LogForm>,
}

/// A time above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seconds(Duration);

impl Seconds {
    /// The longest, a year: far beyond what makes sense, and far below what timers can do.
    const MOST: f64 = 31_536_000.0;

    fn new(seconds: f64) -> Result<Self, String> {
        if seconds > 0.0 && seconds <= Self::MOST {
            Ok(Self(Duration::from_secs_f64(seconds)))
        } else {
            Err("give seconds above 0, as in 10 or 0.5".to_owned())
        }
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::new(text.parse().unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogForm {
    /// For people
    #[default]
    Text,
    /// A JSON object a line
    Json,
}

/// A share of something, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share(f64);

// It is never NaN.
impl Eq for Share {}

/// Where spans are sent, and of how many calls.
#[derive(Clone, Debug)]
pub struct Spans {
    /// The collector.
    pub endpoint: String,
    /// The share of calls, from 0 to 1.
    pub share: f64,
}

/// What the server says of itself, and where.
#[derive(Clone, Debug)]
pub struct Reports {
    /// How the log is written.
    pub log: LogForm,
    /// Where figures are served, if they are.
    pub metrics: Option<SocketAddr>,
    /// Where spans are sent, if they are.
    pub spans: Option<Spans>,
}

impl Args {
    /// What is to be printed instead of serving, if anything.
    ///
    /// # Errors
    /// None that the system does not cause: a page is written into memory.
    pub fn static_output(&self) -> std::io::Result<Option<Vec<u8>>> {
        let (mut text, mut command) = (Vec::new(), Self::command());
        if let Some(shell) = self.completions {
            clap_complete::generate(shell, &mut command, "sudokud", &mut text);
        } else if self.man {
            clap_mangen::Man::new(command).render(&mut text)?;
        } else {
            return Ok(None);
        }
        Ok(Some(text))
    }

    /// Puts together what was typed, the environment, the file and the defaults.
    ///
    /// # Errors
    /// A file that cannot be read or has something in it that is no setting.
    pub fn settle(self) -> anyhow::Result<(Config, Reports)> {
        let file = self.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        let settings = self.given.or(file);
        ensure!(
            settings.otlp_sample.is_none() || settings.otlp_endpoint.is_some(),
            "otlp-sample needs otlp-endpoint."
        );
        let share = settings.otlp_sample.map_or(1.0, |Share(share)| share);
        let reports = Reports {
            log: settings.log.unwrap_or_default(),
            metrics: settings.metrics_listen,
            spans: settings.otlp_endpoint.clone().map(|endpoint| Spans { endpoint, share }),
        };
        let is_insecure = settings.insecure.unwrap_or_default();
        if let Some(address) = reports.metrics.filter(|address| !address.ip().is_loopback() && !is_insecure) {
            bail!(
                "{address} can be reached from other machines, and metrics are not encrypted. Serve them on 127.0.0.1, or add --insecure if that is what you want."
            );
        }
        Ok((settings.into_config()?, reports))
    }
}

fn read_file(path: &Path) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("The configuration file {} cannot be read", path.display()))?;
    toml::from_str(&text).with_context(|| format!("The configuration file {} is wrong", path.display()))
}

/// The most threads that can be asked for.
const MAX_THREADS: usize = 1024;

fn from_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "give a whole number from 1".to_owned())
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse().ok().filter(|threads: &NonZeroUsize| threads.get() <= MAX_THREADS);
    threads.ok_or_else(|| format!("give a whole number from 1 to {MAX_THREADS}"))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "write an IP address and a port, as in 127.0.0.1:50051 or [::1]:50051".to_owned())
}

/// An address in the file.
fn listed_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    address(&text).map(Some).map_err(|problem| D::Error::custom(format!("`{text}`: {problem}")))
}

fn share(text: &str) -> Result<Share, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.map(Share).ok_or_else(|| "give a number from 0 to 1".to_owned())
}

/// A share in the file.
fn listed_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Share>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    share(&number.to_string()).map(Some).map_err(|problem| D::Error::custom(format!("{number}: {problem}")))
}

/// A back end by its name.
fn backend<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Backend>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(D::Error::custom)
}

/// All strategies, with this back end where there is a choice. To be called once: the list stays for ever.
fn strategies_with(backend: Backend) -> &'static [&'static dyn Strategy] {
    let chosen = |strategy: &'static dyn Strategy| -> &'static dyn Strategy {
        if strategy.name() == Fast::BEST.name() { Fast::with(backend) } else { strategy }
    };
    STRATEGIES.iter().map(|&strategy| chosen(strategy)).collect::<Vec<_>>().leak()
}

impl Settings {
    /// What is given here, and elsewhere what `file` says.
    fn or(self, file: Self) -> Self {
        Self {
            listen: self.listen.or(file.listen),
            insecure: self.insecure.or(file.insecure),
            tls_cert: self.tls_cert.or(file.tls_cert),
            tls_key: self.tls_key.or(file.tls_key),
            client_ca: self.client_ca.or(file.client_ca),
            token_file: self.token_file.or(file.token_file),
            data_dir: self.data_dir.or(file.data_dir),
            threads: self.threads.or(file.threads),
            backend: self.backend.or(file.backend),
            max_connections: self.max_connections.or(file.max_connections),
            max_streams: self.max_streams.or(file.max_streams),
            max_streams_per_connection: self.max_streams_per_connection.or(file.max_streams_per_connection),
            max_in_flight: self.max_in_flight.or(file.max_in_flight),
            max_in_flight_per_stream: self.max_in_flight_per_stream.or(file.max_in_flight_per_stream),
            max_message_bytes: self.max_message_bytes.or(file.max_message_bytes),
            max_message_lines: self.max_message_lines.or(file.max_message_lines),
            max_header_bytes: self.max_header_bytes.or(file.max_header_bytes),
            max_reset_streams: self.max_reset_streams.or(file.max_reset_streams),
            max_nodes: self.max_nodes.or(file.max_nodes),
            max_puzzle_time: self.max_puzzle_time.or(file.max_puzzle_time),
            handshake_timeout: self.handshake_timeout.or(file.handshake_timeout),
            message_timeout: self.message_timeout.or(file.message_timeout),
            idle_timeout: self.idle_timeout.or(file.idle_timeout),
            keepalive_interval: self.keepalive_interval.or(file.keepalive_interval),
            keepalive_timeout: self.keepalive_timeout.or(file.keepalive_timeout),
            max_connection_age: self.max_connection_age.or(file.max_connection_age),
            drain_timeout: self.drain_timeout.or(file.drain_timeout),
            metrics_listen: self.metrics_listen.or(file.metrics_listen),
            otlp_endpoint: self.otlp_endpoint.or(file.otlp_endpoint),
            otlp_sample: self.otlp_sample.or(file.otlp_sample),
            log: self.log.or(file.log),
        }
    }

    fn into_config(self) -> anyhow::Result<Config> {
        // The flag cannot be 0; the file has no such check.
        ensure!(self.max_nodes != Some(0), "max-nodes is 0, which leaves every puzzle unsolved.");
        ensure!(
            self.threads.is_none_or(|threads| threads.get() <= MAX_THREADS),
            "threads is above {MAX_THREADS}, which is the most."
        );
        let tls = match (self.tls_cert, self.tls_key) {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key, client_ca: self.client_ca }),
            (None, None) => {
                ensure!(self.client_ca.is_none(), "client-ca needs tls-cert and tls-key.");
                None
            }
            _ => bail!("tls-cert and tls-key go together: give both."),
        };
        let default = Config::default();
        let limit = default.limits;
        let time = |given: Option<Seconds>, default| given.map_or(default, |Seconds(time)| time);
        let limits = Limits {
            message_bytes: self.max_message_bytes.map_or(limit.message_bytes, Into::into),
            message_lines: self.max_message_lines.map_or(limit.message_lines, Into::into),
            message_timeout: time(self.message_timeout, limit.message_timeout),
            connections: self.max_connections.map_or(limit.connections, Into::into),
            handshake_timeout: time(self.handshake_timeout, limit.handshake_timeout),
            connection_age: self.max_connection_age.map(|Seconds(age)| age),
            keepalive_interval: time(self.keepalive_interval, limit.keepalive_interval),
            keepalive_timeout: time(self.keepalive_timeout, limit.keepalive_timeout),
            header_bytes: self.max_header_bytes.map_or(limit.header_bytes, Into::into),
            reset_streams: self.max_reset_streams.map_or(limit.reset_streams, Into::into),
            streams: self.max_streams.map_or(limit.streams, Into::into),
            streams_per_connection: self
                .max_streams_per_connection
                .map_or(limit.streams_per_connection, Into::into),
            idle_timeout: time(self.idle_timeout, limit.idle_timeout),
            in_flight: self.max_in_flight,
            in_flight_per_stream: self.max_in_flight_per_stream,
            nodes: self.max_nodes.unwrap_or(limit.nodes),
            puzzle_time: time(self.max_puzzle_time, limit.puzzle_time),
            ..limit
        };
        Ok(Config {
            listen: self.listen.unwrap_or(default.listen),
            insecure: self.insecure.unwrap_or(default.insecure),
            tls,
            token_file: self.token_file,
            data_dir: self.data_dir,
            threads: self.threads,
            limits,
            drain_timeout: time(self.drain_timeout, default.drain_timeout),
            strategies: self.backend.map_or(default.strategies, strategies_with),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_setting_has_its_name_in_the_environment() {
        for flag in Args::command().get_arguments() {
            let Some(long) = flag.get_long() else { continue };
            if ["help", "version", "completions", "man"].contains(&long) {
                continue;
            }
            let variable = format!("SUDOKUD_{}", long.replace('-', "_").to_uppercase());
            assert_eq!(flag.get_env().and_then(|env| env.to_str()), Some(variable.as_str()));
        }
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let flags = Settings { max_nodes: Some(5), ..Settings::default() };
        let file: Settings =
            toml::from_str("max-nodes = 6\nthreads = 3\nlisten = '127.0.0.1:4000'\nlog = 'json'\n").unwrap();
        let merged = flags.or(file);
        assert_eq!(merged.log, Some(LogForm::Json));
        let config = merged.into_config().unwrap();
        assert_eq!(config.limits.nodes, 5);
        assert_eq!(config.threads, NonZeroUsize::new(3));
        assert_eq!(config.listen.port(), 4000);
        assert_eq!(config.limits.streams, Limits::default().streams);
    }

    #[test]
    fn a_back_end_takes_the_place_of_the_best_one() {
        let settings: Settings = toml::from_str("backend = 'portable'\n").unwrap();
        let names = |strategies: &[&dyn Strategy]| strategies.iter().map(|s| s.name()).collect::<Vec<_>>();
        assert_eq!(names(settings.into_config().unwrap().strategies), names(STRATEGIES));
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        assert!(toml::from_str::<Settings>("max-node = 6\n").is_err());
        assert!(toml::from_str::<Settings>("threads = 0\n").is_err());
        let threads: Settings = toml::from_str("threads = 1025\n").unwrap();
        assert!(threads.into_config().is_err());
        let error = toml::from_str::<Settings>("listen = 'here'\n").unwrap_err().to_string();
        assert!(error.contains("write an IP address and a port"), "{error}");
        let error = toml::from_str::<Settings>("backend = 'abacus'\n").unwrap_err();
        assert!(error.to_string().contains("`abacus` is no back end."), "{error}");
        let none = Settings { max_nodes: Some(0), ..Settings::default() };
        assert!(none.into_config().is_err());
    }
}
