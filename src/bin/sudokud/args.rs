//! What was typed, set in the environment or written in the configuration file, and what it means.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::{CommandFactory as _, Parser, ValueEnum};
use clap_complete::Shell;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use sudoku_stream::service::{Config, Limits, TlsFiles};
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{Fast, STRATEGIES, Strategy};

/// A gRPC service that solves Sudoku puzzles in bulk.
///
/// It serves on 127.0.0.1:50051 unless told otherwise. SIGTERM and SIGINT make it finish what it has read and
/// end; a second one ends it at once.
#[derive(Debug, Parser)]
#[command(name = "sudokud", version)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize)]
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
    /// The instructions that the strategy fast uses: avx512, avx2 or portable [default: the best of this machine]
    #[arg(long, env = "SUDOKUD_BACKEND", value_name = "NAME")]
    #[serde(default, deserialize_with = "backend")]
    backend: Option<Backend>,
    /// The most calls open at once, over all connections [default: 256]
    #[arg(long, env = "SUDOKUD_MAX_STREAMS", value_name = "N", value_parser = from_one)]
    max_streams: Option<NonZeroUsize>,
    /// The most batches on the threads or waiting for them [default: twice the threads]
    #[arg(long, env = "SUDOKUD_MAX_IN_FLIGHT", value_name = "N", value_parser = from_one)]
    max_in_flight: Option<NonZeroUsize>,
    /// The largest message, in bytes [default: 1048576]
    #[arg(long, env = "SUDOKUD_MAX_MESSAGE_BYTES", value_name = "BYTES", value_parser = from_one)]
    max_message_bytes: Option<NonZeroUsize>,
    /// The most search nodes a puzzle may take [default: 10000000]
    #[arg(long, env = "SUDOKUD_MAX_NODES", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_nodes: Option<u64>,
    /// How long calls may take to end after SIGTERM [default: 10]
    #[arg(long, env = "SUDOKUD_DRAIN_TIMEOUT", value_name = "SECONDS")]
    drain_timeout: Option<u64>,
    /// How the log on standard error is written [default: text]
    #[arg(long, env = "SUDOKUD_LOG", value_name = "FORM")]
    log: Option<LogForm>,
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

impl Args {
    /// What is to be printed instead of serving, if anything.
    ///
    /// # Errors
    /// None that the system does not cause: a page is written into memory.
    pub fn leaflet(&self) -> std::io::Result<Option<Vec<u8>>> {
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
    pub fn settle(self) -> anyhow::Result<(Config, LogForm)> {
        let file = self.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        let settings = self.given.or(file);
        let log = settings.log.unwrap_or_default();
        Ok((settings.into_config()?, log))
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
            max_streams: self.max_streams.or(file.max_streams),
            max_in_flight: self.max_in_flight.or(file.max_in_flight),
            max_message_bytes: self.max_message_bytes.or(file.max_message_bytes),
            max_nodes: self.max_nodes.or(file.max_nodes),
            drain_timeout: self.drain_timeout.or(file.drain_timeout),
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
        let limits = Limits {
            message_bytes: self.max_message_bytes.map_or(default.limits.message_bytes, Into::into),
            streams: self.max_streams.map_or(default.limits.streams, Into::into),
            in_flight: self.max_in_flight,
            nodes: self.max_nodes.unwrap_or(default.limits.nodes),
            ..default.limits
        };
        Ok(Config {
            listen: self.listen.unwrap_or(default.listen),
            insecure: self.insecure.unwrap_or(default.insecure),
            tls,
            token_file: self.token_file,
            data_dir: self.data_dir,
            threads: self.threads,
            limits,
            drain_timeout: self.drain_timeout.map_or(default.drain_timeout, Duration::from_secs),
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
