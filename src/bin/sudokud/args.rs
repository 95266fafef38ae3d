//! Command line, environment and configuration file of `sudokud`, and the configuration that they
//! make up.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use sudoku_stream::build_info;
use sudoku_stream::client::Probe;
use sudoku_stream::service::{Config, Limits, ListenAddress, TlsFiles};
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{Fast, STRATEGIES, Strategy};

use crate::completion::without_hidden;
use crate::effective::Given;
use crate::flags::{self, Flag, LogForm, Setup};
use crate::manual_page::with_all_help;
use crate::reference;

const ABOUT: &str = "Serve a Sudoku solver: gRPC for puzzles in bulk, JSON, and a page for browsers";

const DETAILS: &str = "\
Serve a Sudoku solver: gRPC for puzzles in bulk, JSON, and a page for browsers

One port takes gRPC, gRPC-Web and JSON over HTTP (the Connect protocol), and has a page for browsers at /.

Every setting is a flag, an environment variable or a line of the configuration file. \
SIGTERM and SIGINT stop the server after the calls that it has read; a second signal stops it at once. \
SIGHUP reads certificates, tokens and the limits in the configuration file again.";

const EXAMPLES: &str = "\
Examples:
  sudokud
  sudokud --data-dir puzzles --metrics-listen 127.0.0.1:9464
  sudokud --listen 0.0.0.0:50051 --tls-cert server.pem --tls-key server.key --token-file tokens
  SUDOKUD_MAX_NODES=1000000 sudokud --config sudokud.toml

The environment variable of --max-nodes is SUDOKUD_MAX_NODES, and so on. \
The configuration file is TOML with the flags' names, such as `max-nodes = 1000000` and `data-dir = \"puzzles\"`. \
Flags win over the environment, the environment over the file.

Exit codes: 0, the server was stopped, serves as --probe found, or could start by --check-config; 1, --probe found none that serves; \
2, it could not start or run.";

/// Exit codes and their meanings, for the reference.
const EXIT_CODES: [(&str, &str); 3] = [
    ("0", "The server was stopped by a signal, serves: --probe, or can be started: --check-config."),
    ("1", "--probe: no server serves there, or it cannot be asked; standard error says why."),
    (
        "2",
        "The server could not start or run, or its settings are wrong: --check-config; standard error says why.",
    ),
];

/// A request of the command line.
pub enum Request {
    /// Print this and end: completions, the manual page or the reference.
    Print(Vec<u8>),
    /// Serve.
    Serve(Box<Config>, Reports, Given),
    /// Check the settings and the files that they name, print the settings and end.
    Check(Box<Config>, Reports, Given),
    /// Ask a server whether it serves, and end.
    Probe(Probe),
}

/// Log, metrics and spans: what the server reports about itself.
#[derive(Clone, Debug)]
pub struct Reports {
    /// The format of the log.
    pub log: LogForm,
    /// The file of the access log, if there is one; `-` is standard output.
    pub access_log: Option<PathBuf>,
    /// The address of metrics, if they are served.
    pub metrics: Option<SocketAddr>,
    /// The collector of spans, if they are sent.
    pub spans: Option<Spans>,
}

/// Where spans are sent, and of how many calls.
#[derive(Clone, Debug)]
pub struct Spans {
    /// The collector.
    pub endpoint: String,
    /// The share of calls, from 0 to 1.
    pub share: f64,
}

/// Reads the command line, the environment and the configuration file. Ends the process at a wrong
/// flag, and at `--help`.
///
/// # Errors
/// A configuration file that cannot be read, or settings that are wrong or do not go together.
pub fn read() -> anyhow::Result<Request> {
    let mut matches = arguments()?;
    if let Some(output) = static_output(flags::flags(), &matches)? {
        return Ok(Request::Print(output));
    }
    let is_probe = matches.contains_id("probe");
    let probed = matches.remove_one::<String>("probe").filter(|address| !address.is_empty());
    let is_check = matches.get_flag("check-config");
    let (config, reports, given) = settings(matches)?;
    if is_probe {
        return Ok(Request::Probe(probe(probed.as_deref(), &config, &reports)?));
    }
    let request = if is_check { Request::Check } else { Request::Serve };
    Ok(request(Box::new(config), reports, given))
}

/// Reads the configuration file again: the limits, and all that was given. The command line and the
/// environment are as they were.
///
/// # Errors
/// As [`read`].
pub fn read_again() -> anyhow::Result<(Limits, Given)> {
    let (config, _, given) = settings(arguments()?)?;
    Ok((config.limits, given))
}

/// Reads the command line and the environment.
fn arguments() -> anyhow::Result<ArgMatches> {
    command(flags::flags()).try_get_matches().or_else(|error| {
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        match environment_error(&error, arguments) {
            Some(sentence) => bail!(sentence),
            None => error.exit(),
        }
    })
}

/// The settings of the configuration file, if there is one, with those of the command line and the
/// environment above them.
fn settings(mut matches: ArgMatches) -> anyhow::Result<(Config, Reports, Given)> {
    let flags = flags::flags();
    let mut stored = StoredFlags::default();
    if let Some(path) = matches.get_one::<PathBuf>("config") {
        read_file(path, flags, &mut stored)?;
    }
    stored.store(flags, &mut matches, false);
    let (config, reports) = finish(stored.setup)?;
    Ok((config, reports, stored.given))
}

/// The sentences about environment variables that begin as those of settings do and are none, for the
/// log. They are no errors, because Kubernetes sets variables of its own for a service of this name;
/// those are left out.
pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    let command = command(flags::flags());
    // Some flags, such as --probe, have no variable.
    let variables: Vec<_> = command.get_arguments().filter_map(Arg::get_env).map(OsStr::to_owned).collect();
    let command = command.mut_args(|arg| arg.env(None));
    let is_unknown = |name: &String| {
        let Some(rest) = name.strip_prefix(flags::PREFIX) else { return false };
        let of_kubernetes = rest == "PORT" || rest.starts_with("PORT_") || rest.starts_with("SERVICE_");
        !of_kubernetes && !variables.iter().any(|variable| variable == name.as_str())
    };
    let sentence = |name: String| {
        let flag = name.replacen(flags::PREFIX, "--", 1).replace('_', "-").to_lowercase();
        let error = command.clone().try_get_matches_from(["sudokud", &flag]).err();
        let similar = match error.as_ref().and_then(|error| error.get(ContextKind::SuggestedArg)) {
            Some(ContextValue::String(flag)) => {
                format!("; a similar one is {}", flags::variable(flag.trim_start_matches('-')))
            }
            _ => String::new(),
        };
        format!("the environment variable {name} is no setting{similar}")
    };
    names.filter(is_unknown).map(sentence).collect()
}

fn command(flags: &[Flag]) -> Command {
    let config = Arg::new("config").long("config").env("SUDOKUD_CONFIG").hide_env(true).value_name("FILE");
    let config =
        config.value_parser(value_parser!(PathBuf)).help("TOML file of settings named like these flags");
    let completions = Arg::new("completions").long("completions").value_name("SHELL").hide_short_help(true);
    let completions =
        completions.value_parser(value_parser!(Shell)).help("Print the completion script for SHELL");
    let check = Arg::new("check-config").long("check-config").action(ArgAction::SetTrue);
    let check = check.hide_short_help(true);
    let check = check
        .help("Check the settings and the files that they name, print all settings, and exit with 0 or 2");
    let man = Arg::new("man").long("man").action(ArgAction::SetTrue).hide_short_help(true);
    let docs = Arg::new("docs").long("docs").action(ArgAction::SetTrue).hide(true);
    Command::new("sudokud")
        .version(env!("CARGO_PKG_VERSION"))
        .long_version(build_info::in_full())
        .max_term_width(100)
        .about(ABOUT)
        .long_about(DETAILS)
        .after_long_help(EXAMPLES)
        // A negative number is then refused with the range, and is not taken for a flag.
        .args(flags.iter().map(|flag| flag.arg.clone().allow_negative_numbers(true)))
        .args([config, check, probe_arg(), completions, man.help("Print the manual page"), docs])
}

fn probe_arg() -> Arg {
    Arg::new("probe")
        .long("probe")
        .value_name("ADDRESS")
        .num_args(0..=1)
        .default_missing_value("")
        .hide_short_help(true)
        .help("Ask a server, as HOST:PORT, https://HOST:PORT or unix:PATH, whether it serves, and exit with 0 or 1 [default: the one of these settings]")
}

/// The question to a server: the named one, or the one that has these settings, on this machine.
fn probe(address: Option<&str>, config: &Config, reports: &Reports) -> anyhow::Result<Probe> {
    if let Some(text) = address {
        let (address, is_encrypted) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(address), _) => (address, false),
            (_, Some(address)) => (address, true),
            _ => (text, config.tls.is_some() && !text.starts_with("unix:")),
        };
        let is_address = match address.strip_prefix("unix:") {
            Some(path) => !path.is_empty() && address == text,
            None => address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()),
        };
        ensure!(
            is_address,
            "`{text}` is no address to probe. Write a host and a port, as in 127.0.0.1:50051 or https://127.0.0.1:50051, or unix:PATH."
        );
        return Ok(Probe::Health { address: address.to_owned(), is_encrypted });
    }
    let on_this_machine = |addresses: &[ListenAddress]| {
        let probed = addresses.iter().find_map(|address| match address {
            ListenAddress::Network(address) if address.port() > 0 => Some(reached(*address).to_string()),
            ListenAddress::Name(name) if !name.ends_with(":0") => Some(name.clone()),
            ListenAddress::Unix(_) => Some(address.to_string()),
            _ => None,
        });
        probed.context("The server takes a free port. Name an address of it: --probe ADDRESS.")
    };
    if config.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some()) {
        // A socket of the machine takes no TLS, and so no certificate.
        let socket = config.listen.iter().find(|address| matches!(address, ListenAddress::Unix(_)));
        if let Some(socket) = socket {
            return Ok(Probe::Health { address: socket.to_string(), is_encrypted: false });
        }
        let metrics = reports.metrics.context(
            "Clients of this server need a certificate, and a probe has none. With metrics-listen it asks /readyz there.",
        )?;
        return Ok(Probe::Readiness { address: on_this_machine(&[metrics.into()])? });
    }
    let address = on_this_machine(&config.listen)?;
    // A socket of the machine is not encrypted, whatever the others are.
    let is_encrypted = config.tls.is_some() && !address.starts_with("unix:");
    Ok(Probe::Health { address, is_encrypted })
}

/// The address by which a server that listens at `address` is reached on its own machine.
fn reached(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// The output that is printed instead of serving, if any.
fn static_output(flags: &[Flag], matches: &ArgMatches) -> std::io::Result<Option<Vec<u8>>> {
    let (mut text, command) = (Vec::new(), command(flags));
    if let Some(shell) = matches.get_one::<Shell>("completions") {
        clap_complete::generate(*shell, &mut without_hidden(command), "sudokud", &mut text);
    } else if matches.get_flag("man") {
        clap_mangen::Man::new(with_all_help(command)).render(&mut text)?;
    } else if matches.get_flag("docs") {
        let exit_codes = reference::table("## Exit codes of `sudokud`", ["code", "meaning"], &EXIT_CODES);
        text = format!("\n{}\n{exit_codes}", reference::commands(command)).into_bytes();
    } else {
        return Ok(None);
    }
    Ok(Some(text))
}

/// The values of all flags, and what of them was given.
#[derive(Default)]
struct StoredFlags {
    setup: Setup,
    given: Given,
}

impl StoredFlags {
    /// Stores the values that were given, and no defaults.
    fn store(&mut self, flags: &[Flag], matches: &mut ArgMatches, is_file: bool) {
        for flag in flags {
            if self.given.record(flag, matches, is_file) {
                flag.store(matches, &mut self.setup);
            }
        }
    }
}

fn read_file(path: &Path, flags: &[Flag], stored: &mut StoredFlags) -> anyhow::Result<()> {
    let cannot = || format!("The configuration file {} cannot be read", path.display());
    // Opening a FIFO would wait for a writer.
    ensure!(std::fs::metadata(path).with_context(cannot)?.is_file(), "{}: it is no regular file.", cannot());
    let text = String::from_utf8(std::fs::read(path).with_context(cannot)?)
        .map_err(|_| anyhow!("{}: it is no text in UTF-8.", cannot()))?;
    read_settings(&text, flags, stored)
        .with_context(|| format!("The configuration file {} is wrong", path.display()))
}

/// Reads settings in TOML. Each is checked as the flag of its name.
fn read_settings(text: &str, flags: &[Flag], stored: &mut StoredFlags) -> anyhow::Result<()> {
    let mut arguments = vec![OsString::from("sudokud")];
    let table: toml::Table = toml::from_str(text).map_err(|error| anyhow!(toml_error(text, &error)))?;
    for (name, value) in table {
        if let toml::Value::Array(values) = &value {
            let texts: Option<Vec<&str>> = values.iter().map(toml::Value::as_str).collect();
            let Some(texts) = texts else { bail!("`{name}` is a TOML array of other than strings.") };
            if name == "allow-origin" && !texts.is_empty() {
                arguments.push(format!("--{name}={}", texts.join(",")).into());
            } else {
                arguments.extend(texts.iter().map(|text| format!("--{name}={text}").into()));
            }
            continue;
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Boolean(is_on) => is_on.to_string(),
            other => bail!("`{name}` is a TOML {}; write a string, a number or true.", other.type_str()),
        };
        arguments.push(format!("--{name}={value}").into());
    }
    let without_env = |flag: &Flag| flag.arg.clone().env(None);
    let command = Command::new("sudokud").args(flags.iter().map(without_env));
    let command = command.disable_help_flag(true).disable_version_flag(true);
    let mut matches =
        command.try_get_matches_from(arguments).map_err(|error| anyhow!(setting_error(&error)))?;
    stored.store(flags, &mut matches, true);
    Ok(())
}

/// The sentence about a text that is no TOML.
fn toml_error(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return format!("It is no TOML: {message}.");
    };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    format!("Line {line} is no TOML at column {column}: {message}.")
}

/// The sentence about a value of the environment that a flag of its name does not take. `None` if the
/// flag itself was given, or something else is wrong.
fn environment_error(error: &clap::Error, mut arguments: impl Iterator<Item = String>) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = flag.split([' ', '[']).next().filter(|flag| flag.starts_with("--"))?;
    let is_flag = |argument: &str| argument.split('=').next() == Some(flag);
    let is_value = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    if !is_value || arguments.any(|argument| is_flag(&argument)) {
        return None;
    }
    let variable = flags::variable(flag.trim_start_matches('-'));
    let what = setting_error(error).replace("\n  ", " ");
    Some(format!("The environment variable {variable} is wrong: {}.", what.trim_end_matches('.')))
}

/// The message of an error of clap about a setting, without its advice about the command line.
fn setting_error(error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(flag)) => Some(flag.trim_start_matches('-').to_owned()),
        _ => None,
    };
    if let (ErrorKind::UnknownArgument, Some(name)) = (error.kind(), context(ContextKind::InvalidArg)) {
        let similar = context(ContextKind::SuggestedArg);
        let advice = similar.map(|name| format!(" A similar one is `{name}`.")).unwrap_or_default();
        return format!("There is no setting `{name}`.{advice}");
    }
    let text = error.to_string();
    let message = text.strip_prefix("error: ").unwrap_or(&text);
    let end = message.find("\n\nUsage:").or_else(|| message.find("\n\nFor more")).unwrap_or(message.len());
    let message = message[..end].trim_end();
    match (error.get(ContextKind::InvalidArg), context(ContextKind::InvalidArg)) {
        (Some(ContextValue::String(flag)), Some(named)) => {
            let name = named.split([' ', '[']).next().unwrap_or_default();
            message.replace(&format!("'{flag}'"), &format!("`{name}`"))
        }
        _ => message.to_owned(),
    }
}

/// All strategies, with this back end where there is a choice. The list lives as long as the process,
/// so the first one stays when the settings are read again.
fn strategies_with(backend: Backend) -> &'static [&'static dyn Strategy] {
    static LIST: OnceLock<Vec<&'static dyn Strategy>> = OnceLock::new();
    let chosen = |strategy: &'static dyn Strategy| -> &'static dyn Strategy {
        if strategy.name() == Fast::BEST.name() { Fast::with(backend) } else { strategy }
    };
    LIST.get_or_init(|| STRATEGIES.iter().map(|&strategy| chosen(strategy)).collect())
}

/// Checks the settings that depend on each other.
fn finish(setup: Setup) -> anyhow::Result<(Config, Reports)> {
    let Setup { mut config, tls_cert, tls_key, client_ca, backend, log, metrics, .. } = setup;
    let Setup { access_log, insecure_metrics, otlp_endpoint, otlp_sample, .. } = setup;
    ensure!(otlp_sample.is_none() || otlp_endpoint.is_some(), "otlp-sample needs otlp-endpoint.");
    let share = otlp_sample.unwrap_or(1.0);
    let spans = otlp_endpoint.map(|endpoint| Spans { endpoint, share });
    let reports = Reports { log, access_log, metrics, spans };
    if let Some(address) = reports.metrics.filter(|address| !address.ip().is_loopback() && !insecure_metrics)
    {
        bail!(
            "{address} can be reached from other machines, and metrics are not encrypted. Serve them on 127.0.0.1, or add --insecure-metrics if that is what you want."
        );
    }
    config.tls = match (tls_cert, tls_key) {
        (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key, client_ca }),
        (None, None) => {
            ensure!(client_ca.is_none(), "client-ca needs tls-cert and tls-key.");
            None
        }
        _ => bail!("tls-cert and tls-key go together: give both."),
    };
    if let Some(backend) = backend {
        config.strategies = strategies_with(backend);
    }
    Ok((config, reports))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use sudoku_stream::service::Limits;

    use super::*;

    /// The setup from flags and a configuration file, without the environment.
    fn setup(arguments: &[&str], file: &str) -> anyhow::Result<Setup> {
        let flags = flags::flags();
        let mut stored = StoredFlags::default();
        read_settings(file, flags, &mut stored)?;
        let command = command(flags).mut_args(|arg| arg.env(None));
        let mut matches = command.try_get_matches_from([&["sudokud"], arguments].concat())?;
        stored.store(flags, &mut matches, false);
        Ok(stored.setup)
    }

    fn config(arguments: &[&str], file: &str) -> anyhow::Result<Config> {
        Ok(finish(setup(arguments, file)?)?.0)
    }

    #[test]
    fn a_probe_asks_the_server_of_its_settings() {
        let ask = |arguments: &[&str], address: Option<&str>, file: &str| {
            let (config, reports) = finish(setup(arguments, file).unwrap()).unwrap();
            probe(address, &config, &reports).map_err(|error| error.to_string())
        };
        let health =
            |address: &str, is_encrypted| Ok(Probe::Health { address: address.to_owned(), is_encrypted });
        let tls = "tls-cert = 'a'\ntls-key = 'b'\n";
        let own = "tls-cert = 'a'\ntls-key = 'b'\nclient-ca = 'c'\n";
        assert_eq!(ask(&[], None, ""), health("127.0.0.1:50051", false));
        assert_eq!(ask(&[], None, tls), health("127.0.0.1:50051", true));
        assert_eq!(ask(&["--listen", "[::]:7", "--insecure"], None, ""), health("[::1]:7", false));
        assert_eq!(ask(&["--listen", "0.0.0.0:7"], None, tls), health("127.0.0.1:7", true));
        assert_eq!(ask(&[], Some("localhost:7"), tls), health("localhost:7", true));
        assert_eq!(ask(&[], Some("http://[::1]:7"), tls), health("[::1]:7", false));
        assert_eq!(ask(&[], Some("https://a.b:7"), ""), health("a.b:7", true));
        assert_eq!(ask(&["--listen", "unix:/run/s.sock"], None, ""), health("unix:/run/s.sock", false));
        assert_eq!(ask(&["--listen", "unix:s.sock"], None, tls), health("unix:s.sock", false));
        assert_eq!(ask(&[], Some("unix:s.sock"), tls), health("unix:s.sock", false));
        let readiness = Probe::Readiness { address: "127.0.0.1:9".to_owned() };
        assert_eq!(ask(&["--metrics-listen", "127.0.0.1:9"], None, own), Ok(readiness));
        assert!(ask(&[], None, own).unwrap_err().contains("With metrics-listen it asks"));
        assert!(ask(&["--listen", "127.0.0.1:0"], None, "").unwrap_err().contains("--probe ADDRESS"));
        for bad in ["localhost", "http://localhost", "127.0.0.1:port", "127.0.0.1:99999", "unix:"] {
            assert!(ask(&[], Some(bad), "").unwrap_err().contains("is no address to probe"), "{bad}");
        }
    }

    #[test]
    fn the_flags_are_well_formed() {
        command(flags::flags()).debug_assert();
    }

    #[test]
    fn every_setting_has_its_name_in_the_environment() {
        for flag in command(flags::flags()).get_arguments() {
            let Some(long) = flag.get_long() else { continue };
            if ["help", "version", "check-config", "probe", "completions", "man", "docs"].contains(&long) {
                continue;
            }
            let variable = format!("SUDOKUD_{}", long.replace('-', "_").to_uppercase());
            assert_eq!(flag.get_env().and_then(|env| env.to_str()), Some(variable.as_str()));
        }
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let file = "max-nodes = 6\nthreads = 3\nlisten = '127.0.0.1:4000'\nlog = 'json'\ninsecure = true\n";
        let merged = setup(&["--max-nodes", "5"], file).unwrap();
        assert_eq!(merged.log, LogForm::Json);
        let (config, _) = finish(merged).unwrap();
        assert_eq!(config.limits.nodes, 5);
        assert_eq!(config.threads, NonZeroUsize::new(3));
        assert_eq!(config.listen[0].to_string(), "127.0.0.1:4000");
        assert!(config.insecure);
        assert_eq!(config.limits.streams, Limits::default().streams);
    }

    #[test]
    fn without_settings_all_is_as_the_library_has_it() {
        let (config, default) = (config(&[], "").unwrap(), Config::default());
        assert_eq!(config.limits, default.limits);
        assert_eq!(config.listen[0].to_string(), default.listen[0].to_string());
        assert_eq!((config.listen.len(), config.drain_timeout), (1, default.drain_timeout));
        assert_eq!((config.insecure, config.threads), (default.insecure, default.threads));
    }

    /// Each flag changes one thing, and each limit has a flag.
    #[test]
    fn every_limit_has_a_flag() {
        let file = "max-connections = 7\nmax-streams = 7\nmax-streams-per-connection = 7\nmax-in-flight = 7\n\
                    max-in-flight-per-stream = 7\nmax-message-bytes = 7\nmax-message-lines = 7\n\
                    max-header-bytes = 7000\nmax-reset-streams = 7\nmax-nodes = 7\nmax-trace-steps = 7\n\
                    max-generated = 7\nmax-attempts = 7\nmax-puzzle-time = 7\nhandshake-timeout = 7\n\
                    connection-idle-timeout = 7\nmessage-timeout = 7\nidle-timeout = 7\nstream-idle-timeout = 7\nkeepalive-interval = 7\nkeepalive-timeout = 7.0\n\
                    max-connection-age = '7'\n";
        let seven = std::time::Duration::from_secs(7);
        // Without `..`, so that a new limit does not compile before it is here.
        let limits = Limits {
            message_bytes: 7,
            message_lines: 7,
            message_timeout: seven,
            connections: 7,
            connection_idle_timeout: seven,
            handshake_timeout: seven,
            connection_age: Some(seven),
            keepalive_interval: seven,
            keepalive_timeout: seven,
            header_bytes: 7000,
            reset_streams: 7,
            streams: 7,
            streams_per_connection: 7,
            idle_timeout: seven,
            stream_idle_timeout: seven,
            in_flight: NonZeroUsize::new(7),
            in_flight_per_stream: NonZeroUsize::new(7),
            nodes: 7,
            puzzle_time: seven,
            trace_steps: 7,
            generated: 7,
            attempts: 7,
        };
        assert_eq!(config(&[], file).unwrap().limits, limits);
    }

    #[test]
    fn several_origins_are_an_array_or_have_commas() {
        let origins = |file| config(&[], file).unwrap().allowed_origins;
        let both = origins("allow-origin = ['https://a.b', 'https://c.d']\n");
        assert_eq!(both.len(), 2);
        assert_eq!(both, origins("allow-origin = 'https://a.b,https://c.d'\n"));
    }

    #[test]
    fn a_back_end_takes_the_place_of_the_best_one() {
        let names = |strategies: &[&dyn Strategy]| strategies.iter().map(|s| s.name()).collect::<Vec<_>>();
        let config = config(&[], "backend = 'portable'\n").unwrap();
        assert_eq!(names(config.strategies), names(STRATEGIES));
    }

    #[test]
    fn a_wrong_value_of_the_environment_is_named_by_its_variable() {
        let error = |text: &str| {
            let command = command(flags::flags()).mut_args(|arg| arg.env(None));
            command.try_get_matches_from(["sudokud", text]).unwrap_err()
        };
        // As clap tells it, whichever way the value came.
        let wrong = error("--max-nodes=x");
        let told = |given: &str| environment_error(&wrong, [given.to_owned()].into_iter());
        assert_eq!(
            told("--max-streams=3").as_deref(),
            Some(
                "The environment variable SUDOKUD_MAX_NODES is wrong: invalid value 'x' for `max-nodes`: give a whole number from 1."
            )
        );
        assert_eq!((told("--max-nodes"), told("--max-nodes=x")), (None, None));
        assert_eq!(environment_error(&error("--nothing"), std::iter::empty()), None);
    }

    #[test]
    fn misspelt_variables_are_named_with_similar_ones() {
        let told = |name: &str| unknown_variables([name.to_owned()].into_iter());
        for known in ["SUDOKUD_MAX_NODES", "SUDOKUD_CONFIG", "SUDOKU_MAX_NODE", "PATH"] {
            assert_eq!(told(known), [""; 0], "{known}");
        }
        let similar = "is no setting; a similar one is SUDOKUD_MAX_NODES";
        assert_eq!(
            told("SUDOKUD_MAX_NODE"),
            [format!("the environment variable SUDOKUD_MAX_NODE {similar}")]
        );
        for unknown in [
            "SUDOKUD_QQQ",
            "SUDOKUD_PROBE",
            "SUDOKUD_CHECK_CONFIG",
            "SUDOKUD_MAN",
            "SUDOKUD_COMPLETIONS",
            "SUDOKUD_DOCS",
        ] {
            assert_eq!(told(unknown), [format!("the environment variable {unknown} is no setting")]);
        }
        for kubernetes in ["SUDOKUD_SERVICE_HOST", "SUDOKUD_PORT", "SUDOKUD_PORT_50051_TCP_ADDR"] {
            assert_eq!(told(kubernetes), [""; 0], "{kubernetes}");
        }
    }

    #[test]
    fn wrong_settings_are_refused_with_their_reason() {
        for (file, part) in [
            ("max-node = 6\n", "There is no setting `max-node`. A similar one is `max-nodes`."),
            ("config = 'other.toml'\n", "There is no setting `config`."),
            ("threads = 0\n", "give a whole number from 1 to 1024"),
            ("threads = 1025\n", "give a whole number from 1 to 1024"),
            ("max-header-bytes = 1\n", "give a size from 4KiB to 1MiB, as in"),
            ("max-message-bytes = 99999999999999\n", "give a size from 1 to 1GiB, as in"),
            ("max-nodes = 0\n", "give a whole number from 1"),
            ("max-streams = -1\n", "give a whole number from 1"),
            ("max-puzzle-time = 0\n", "give a time from 1ms to 1year, as in 10s, 500ms or 2m"),
            ("max-puzzle-time = nan\n", "give a time from 1ms to 1year"),
            ("idle-timeout = '2 fortnights'\n", "give a time from 1ms to 1year"),
            ("otlp-sample = 1.5\n", "give a number from 0 to 1"),
            ("listen = 'here'\n", "write an address or a name and a port"),
            ("backend = 'abacus'\n", "`abacus` is no back end."),
            ("log = 'xml'\n", "[possible values: text, json]"),
            ("listen = ['127.0.0.1:1', 2]\n", "`listen` is a TOML array of other than strings."),
            ("threads = ['1', '2']\n", "cannot be used multiple times"),
            ("tls-cert = 'cert.pem'\n", "tls-cert and tls-key go together"),
            ("client-ca = 'ca.pem'\n", "client-ca needs tls-cert and tls-key."),
            ("otlp-sample = 0.5\n", "otlp-sample needs otlp-endpoint."),
            ("max-nodes = 'x'\n", "invalid value 'x' for `max-nodes`: give a whole number from 1"),
            ("threads = 1\nthreads = 2\n", "Line 2 is no TOML at column 1: duplicate key."),
            ("max-nodes =\n", "Line 1 is no TOML at column 12: "),
        ] {
            let Err(error) = config(&[], file) else { panic!("{file}") };
            let message = format!("{error:#}");
            assert!(message.contains(part) && !message.contains("Usage"), "{file}: {message}");
        }
    }
}
