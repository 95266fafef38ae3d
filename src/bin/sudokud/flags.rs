//! Flags of `sudokud`. Each is defined once in [`flags`]: name, range, help, and the place of its
//! value.
//!
//! The rest follows. The environment variable of `--max-nodes` is `SUDOKUD_MAX_NODES`, its setting
//! in the configuration file is `max-nodes`, and its default is the value that its place has in
//! [`Setup::default`].

use std::fmt::Display;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::ops::{RangeBounds, RangeFrom, RangeInclusive};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::{BoolishValueParser, IntoResettable, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, ValueEnum, value_parser};
use sudoku_stream::service::{Config, ListenAddress, Origin};
use sudoku_stream::solver::lanes::Backend;

use crate::completion::backend;
use crate::number::{SECOND, shown_size, shown_time, size, time, whole};

/// The most search threads.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// The longest time of a flag, a year: far beyond any use, and far below what timers can hold.
const MAX_TIME: Duration = Duration::from_secs(31_557_600);

/// The shortest time of a flag.
const MIN_TIME: Duration = Duration::from_millis(1);

/// The values of all flags, before they are checked together.
#[derive(Clone, Default)]
pub struct Setup {
    pub config: Config,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub client_ca: Option<PathBuf>,
    pub backend: Option<Backend>,
    pub log: LogForm,
    pub access_log: Option<PathBuf>,
    pub metrics: Option<SocketAddr>,
    pub insecure_metrics: bool,
    pub otlp_endpoint: Option<String>,
    /// 1 by default.
    pub otlp_sample: Option<f64>,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// For people
    #[default]
    Text,
    /// A JSON object per line
    Json,
}

/// The headings of limits in the help.
const LIMITS: &str = "Limits";
const TIME_LIMITS: &str = "Time limits";

/// Moves a value from the command line to its place.
type Store = dyn Fn(&mut ArgMatches, &mut Setup) + Send + Sync;

/// A flag: its argument, and how its value is stored.
pub struct Flag {
    pub arg: Arg,
    store: Box<Store>,
}

impl Flag {
    /// Stores the value of the flag, if it has one.
    pub fn store(&self, matches: &mut ArgMatches, setup: &mut Setup) {
        (self.store)(matches, setup);
    }

    /// The name, as in the configuration file.
    pub fn name(&self) -> &str {
        self.arg.get_id().as_str()
    }

    /// Whether it is a limit, which the library compares with the one in force.
    pub fn is_limit(&self) -> bool {
        self.arg.get_help_heading().is_some_and(|heading| [LIMITS, TIME_LIMITS].contains(&heading))
    }

    /// The text of the default.
    ///
    /// # Errors
    /// There is none that a flag can have; what happens instead, in the words of the help.
    pub fn default(&self) -> Result<String, String> {
        if let Some(text) = self.arg.get_default_values().first() {
            return Ok(text.to_string_lossy().into_owned());
        }
        let help = self.arg.get_help().map(ToString::to_string).unwrap_or_default();
        let words = help.rsplit_once("[default: ").and_then(|(_, words)| words.strip_suffix(']'));
        Err(words.unwrap_or("not set").to_owned())
    }

    /// Shows the flag in `--help` only.
    fn rare(mut self) -> Self {
        self.arg = self.arg.hide_short_help(true);
        self
    }
}

/// Where the value of a flag is stored.
type Field<T> = fn(&mut Setup) -> &mut T;

/// A flag with a name, a place and a parser, without a default.
fn flag<T, V>(
    name: &'static str,
    value_name: &'static str,
    parser: impl IntoResettable<ValueParser>,
    place: Field<T>,
    help: String,
) -> Flag
where
    T: From<V> + 'static,
    V: Clone + Send + Sync + 'static,
{
    let arg = Arg::new(name)
        .long(name)
        .env(variable(name))
        .hide_env(true)
        .value_name(value_name)
        .value_parser(parser)
        .help(help);
    let store = move |matches: &mut ArgMatches, setup: &mut Setup| {
        if let Some(value) = matches.remove_one::<V>(name) {
            *place(setup) = value.into();
        }
    };
    Flag { arg, store: Box::new(store) }
}

/// The beginning of the environment variables of flags.
pub const PREFIX: &str = "SUDOKUD_";

/// The environment variable of a flag. It lives as long as the program.
pub fn variable(name: &str) -> &'static str {
    format!("{PREFIX}{}", name.replace('-', "_").to_uppercase()).leak()
}

/// A flag with the default that its place has. The text of the default lives as long as the
/// program.
fn with_default<T: Clone + Send + Sync + 'static>(
    name: &'static str,
    value_name: &'static str,
    parser: impl IntoResettable<ValueParser>,
    place: Field<T>,
    shown: fn(&T) -> String,
    help: String,
) -> Flag {
    let default = shown(place(&mut Setup::default()));
    let mut flag = flag::<T, T>(name, value_name, parser, place, help);
    flag.arg = flag.arg.default_value(&*default.leak());
    flag
}

/// A flag of a list, which may be given several times.
fn repeated<T: Clone + Send + Sync + 'static>(mut flag: Flag, place: Field<Vec<T>>) -> Flag {
    let name = flag.arg.get_id().to_string();
    flag.arg = flag.arg.action(ArgAction::Append);
    flag.store = Box::new(move |matches, setup| {
        if let Some(lists) = matches.remove_many::<Vec<T>>(&name) {
            *place(setup) = lists.flatten().collect();
        }
    });
    flag
}

/// A number from 1.
fn count<T>(name: &'static str, place: Field<T>, help: &str) -> Flag
where
    T: FromStr + From<u8> + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    let range: RangeFrom<T> = T::from(1)..;
    with_default(name, "N", whole(range), place, T::to_string, help.to_owned())
}

/// A size in a range.
fn bytes<T>(name: &'static str, range: RangeInclusive<T>, place: Field<T>, help: &str) -> Flag
where
    T: TryFrom<u64> + TryInto<u64> + PartialOrd + Copy + Send + Sync + 'static,
{
    with_default(name, "SIZE", size(range), place, |&bytes| shown_size(bytes), help.to_owned())
}

/// A number in `range`, whose default is described by the help.
fn optional_count(
    name: &'static str,
    range: impl RangeBounds<NonZeroUsize> + Clone + Send + Sync + 'static,
    place: Field<Option<NonZeroUsize>>,
    help: &str,
) -> Flag {
    flag::<_, NonZeroUsize>(name, "N", whole(range), place, help.to_owned())
}

/// A time with a default.
fn duration(name: &'static str, place: Field<Duration>, help: &str) -> Flag {
    let parser = time(SECOND, MIN_TIME..=MAX_TIME);
    with_default(name, "TIME", parser, place, |&time| shown_time(time), help.to_owned())
}

/// A file or folder without a default.
fn path(name: &'static str, value_name: &'static str, place: Field<Option<PathBuf>>, help: &str) -> Flag {
    flag::<_, PathBuf>(name, value_name, value_parser!(PathBuf), place, help.to_owned())
}

/// All flags that are settings, in the order of the help.
pub fn flags() -> &'static [Flag] {
    static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(all);
    &FLAGS
}

fn all() -> Vec<Flag> {
    let mut flags = vec![
        repeated(
            with_default::<Vec<ListenAddress>>(
                "listen",
                "ADDR",
                parse_listen,
                |s| &mut s.config.listen,
                |addresses| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
                "Address and port to listen on, or unix:PATH; can be repeated".to_owned(),
            ),
            |s| &mut s.config.listen,
        ),
        path(
            "data-dir",
            "FOLDER",
            |s| &mut s.config.data_dir,
            "Folder of data sets that clients solve by name",
        ),
        optional_count(
            "threads",
            NonZeroUsize::MIN..=MAX_THREADS,
            |s| &mut s.config.threads,
            "Search threads [range: 1 to 1024] [default: one per core]",
        ),
    ];
    let mut backend = flag::<_, Backend>(
        "backend",
        "NAME",
        backend(),
        |s| &mut s.backend,
        "Instructions of the strategy fast: avx512, avx512vl, avx2, neon or portable [default: fastest of this machine]"
            .to_owned(),
    );
    backend.arg = backend.arg.hide_possible_values(true);
    flags.push(backend.rare());
    let drain = duration(
        "drain-timeout",
        |s| &mut s.config.drain_timeout,
        "Let open calls end for this long after SIGTERM",
    );
    flags.push(drain.rare());
    let delay = with_default(
        "drain-delay",
        "TIME",
        time(SECOND, Duration::ZERO..=MAX_TIME),
        |s| &mut s.config.drain_delay,
        |&time| shown_time(time),
        "Report not to be serving for this long before the ports close".to_owned(),
    );
    flags.push(delay.rare());
    let mut page = flag::<bool, bool>(
        "page",
        "BOOL",
        BoolishValueParser::new(),
        |s| &mut s.config.page,
        "Serve the page for browsers at / [default: true]".to_owned(),
    );
    page.arg = page.arg.hide_possible_values(true);
    flags.push(page.rare());
    flags.extend(reports());
    flags.extend(under("Security", security()));
    flags.extend(under(LIMITS, limits()).map(Flag::rare));
    flags.extend(under(TIME_LIMITS, time_limits()).map(Flag::rare));
    flags.extend(under("Tracing", tracing()).map(Flag::rare));
    flags
}

/// Puts flags under a heading.
fn under(heading: &'static str, flags: Vec<Flag>) -> impl Iterator<Item = Flag> {
    flags.into_iter().map(move |mut flag| {
        flag.arg = flag.arg.help_heading(heading);
        flag
    })
}

fn security() -> Vec<Flag> {
    let insecure = |name, place, help: &str| {
        let mut flag = flag::<bool, bool>(name, "BOOL", BoolishValueParser::new(), place, help.to_owned());
        let arg = flag.arg.hide_possible_values(true).num_args(0..=1);
        flag.arg = arg.default_missing_value("true").require_equals(true);
        flag
    };
    vec![
        path("tls-cert", "FILE", |s| &mut s.tls_cert, "Server certificate chain, in PEM; turns TLS on"),
        path("tls-key", "FILE", |s| &mut s.tls_key, "Private key of the certificate, in PEM"),
        path(
            "client-ca",
            "FILE",
            |s| &mut s.client_ca,
            "CAs that must have signed client certificates, in PEM",
        ),
        path(
            "token-file",
            "FILE",
            |s| &mut s.config.token_file,
            "Tokens, one per line; clients must send one of them",
        ),
        insecure("insecure", |s| &mut s.config.insecure, "Allow other machines without encryption"),
        insecure("insecure-metrics", |s| &mut s.insecure_metrics, "The same for --metrics-listen").rare(),
        flag::<Vec<Origin>, Vec<Origin>>(
            "allow-origin",
            "ORIGINS",
            parse_origins,
            |s| &mut s.config.allowed_origins,
            "Let pages from elsewhere call, such as `https://example.org`; several with commas between them"
                .to_owned(),
        )
        .rare(),
    ]
}

fn limits() -> Vec<Flag> {
    vec![
        count(
            "max-connections",
            |s| &mut s.config.limits.connections,
            "Accept N connections; the longest idle makes way for another",
        ),
        count(
            "max-streams",
            |s| &mut s.config.limits.streams,
            "Allow N open calls over all connections, and each client its share",
        ),
        count(
            "max-streams-per-connection",
            |s| &mut s.config.limits.streams_per_connection,
            "Allow N open calls per connection; some clients need 100",
        ),
        optional_count(
            "max-in-flight",
            NonZeroUsize::MIN..,
            |s| &mut s.config.limits.in_flight,
            "Run or queue N batches of many puzzles [default: twice the threads]",
        ),
        optional_count(
            "max-in-flight-per-stream",
            NonZeroUsize::MIN..,
            |s| &mut s.config.limits.in_flight_per_stream,
            "Run or keep N batches of one stream until they are sent [default: twice the threads]",
        ),
        bytes(
            "max-message-bytes",
            1..=1 << 30,
            |s| &mut s.config.limits.message_bytes,
            "Accept messages of up to SIZE",
        ),
        count(
            "max-message-lines",
            |s| &mut s.config.limits.message_lines,
            "Accept messages of up to N lines",
        ),
        bytes(
            "max-header-bytes",
            4096..=1 << 20,
            |s| &mut s.config.limits.header_bytes,
            "Accept up to SIZE of headers per call",
        ),
        count(
            "max-reset-streams",
            |s| &mut s.config.limits.reset_streams,
            "Tolerate N calls per connection that the client cancels before they start",
        ),
        count("max-nodes", |s| &mut s.config.limits.nodes, "Search at most N nodes per puzzle"),
        count(
            "max-trace-steps",
            |s| &mut s.config.limits.trace_steps,
            "Send at most N steps of a traced search",
        ),
        count(
            "max-generated",
            |s| &mut s.config.limits.generated,
            "Make at most N puzzles per call; a 100th of it for 16x16, a 1000th for 25x25",
        ),
        count(
            "max-attempts",
            |s| &mut s.config.limits.attempts,
            "Try at most N full grids per generated puzzle",
        ),
    ]
}

fn time_limits() -> Vec<Flag> {
    let connection_age = flag::<_, Duration>(
        "max-connection-age",
        "TIME",
        time(SECOND, MIN_TIME..=MAX_TIME),
        |s| &mut s.config.limits.connection_age,
        "Ask a client to reconnect after this long [default: never]".to_owned(),
    );
    vec![
        duration(
            "max-puzzle-time",
            |s| &mut s.config.limits.puzzle_time,
            "Give up a puzzle after this long; the strategy fast is bounded by --max-nodes alone",
        ),
        duration(
            "handshake-timeout",
            |s| &mut s.config.limits.handshake_timeout,
            "Close a connection whose first bytes or TLS handshake take this long",
        ),
        duration(
            "connection-idle-timeout",
            |s| &mut s.config.limits.connection_idle_timeout,
            "Close a connection that has had no call for this long",
        ),
        duration(
            "message-timeout",
            |s| &mut s.config.limits.message_timeout,
            "End a call whose first message does not come, or whose message stalls or is slower than 8 KiB a second, for this long",
        ),
        duration(
            "stream-idle-timeout",
            |s| &mut s.config.limits.stream_idle_timeout,
            "End a stream that is idle for this long if others wait",
        ),
        duration(
            "idle-timeout",
            |s| &mut s.config.limits.idle_timeout,
            "End a stream whose client leaves answers unread for this long",
        ),
        duration(
            "keepalive-interval",
            |s| &mut s.config.limits.keepalive_interval,
            "Ping a client that is silent for this long",
        ),
        duration(
            "keepalive-timeout",
            |s| &mut s.config.limits.keepalive_timeout,
            "Close a connection whose ping is unanswered for this long",
        ),
        connection_age,
    ]
}

fn reports() -> Vec<Flag> {
    vec![
        with_default(
            "log",
            "FORM",
            value_parser!(LogForm),
            |s| &mut s.log,
            |form| form.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned()),
            "Form of the log on standard error".to_owned(),
        ),
        path(
            "access-log",
            "FILE",
            |s| &mut s.access_log,
            "Append a line of JSON to FILE for each call; - is standard output",
        )
        .rare(),
        flag::<_, SocketAddr>(
            "metrics-listen",
            "ADDR",
            parse_address,
            |s| &mut s.metrics,
            "HTTP address of /metrics, /healthz and /readyz".to_owned(),
        ),
    ]
}

fn tracing() -> Vec<Flag> {
    vec![
        flag::<_, String>(
            "otlp-endpoint",
            "URL",
            value_parser!(String),
            |s| &mut s.otlp_endpoint,
            "OpenTelemetry collector for spans of calls, over gRPC, such as `http://127.0.0.1:4317` [default: none]"
                .to_owned(),
        ),
        flag::<_, f64>(
            "otlp-sample",
            "SHARE",
            parse_share,
            |s| &mut s.otlp_sample,
            "Share of calls whose spans are sent, unless the caller decides [range: 0 to 1] [default: 1]".to_owned(),
        ),
    ]
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "write an IP address and a port, as in 127.0.0.1:50051 or [::1]:50051".to_owned())
}

fn parse_listen(text: &str) -> Result<Vec<ListenAddress>, String> {
    text.split(',').map(|address| address.trim().parse()).collect()
}

fn parse_origins(text: &str) -> Result<Vec<Origin>, String> {
    text.split(',').map(|origin| origin.trim().parse()).collect()
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a number from 0 to 1".to_owned())
}
