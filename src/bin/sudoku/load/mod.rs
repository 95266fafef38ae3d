//! `sudoku load`: the throughput and latency of a server, with every answer checked.

mod report;

use std::io::Cursor;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum, ValueHint};
use serde::Serialize;
use sudoku_stream::client::Endpoint;
use sudoku_stream::input::Source;
use sudoku_stream::load::{self, LoadFigures, LoadMethod, Plan, Workload};
use sudoku_stream::pipeline;
use sudoku_stream::text::Hint;

use self::report::LoadReport;
use crate::cli::input::{FormatArgs, Input};
use crate::cli::interrupt::{self, interruptible};
use crate::cli::output::ReportArgs;
use crate::cli::run::ProgressArgs;
use crate::cli::server::{TrustArgs, address};
use crate::cli::value::{self, whole};
use crate::cli::{exit, print, progress};
use crate::demo;

/// The most messages in flight over all connections.
const MAX_IN_FLIGHT: u32 = 1 << 20;

/// Puzzles per message of `solve-lines` by default; the other methods have one.
const DEFAULT_LINES: u32 = 1024;

/// The most puzzles a second that can be asked for.
const MAX_RATE: f64 = 1e8;

/// The longest time that can be asked for, in seconds.
const MAX_DURATION: Duration = Duration::from_secs(7 * 86_400);

const EXAMPLES: &str = "\
Examples:
  sudoku load --server 127.0.0.1:50051
  sudoku load puzzles.txt --server 127.0.0.1:50051 --method solve-stream --streams 16
  sudoku load --server 127.0.0.1:50051 --rate 100000 --duration 60 -f json -o load.json
  sudoku load --server https://sudoku.example:50051 --token-file token -n 1000000

With -f json one object is printed. It has what was asked for (server, method, batch, connections, streams, in_flight, rate, \
check_every), interrupted, seconds, messages (sent, answered, unsent), puzzles (sent, right, checked, wrong, missing, repeated, \
failed, resent), error_lines by code (those of the answers compared), statuses by name, puzzles_per_second, messages_per_second, \
latency_us (mean, p50, p90, p99, p99_9, max), the version of this program and, if there is one, the first wrong_answer. Every puzzle sent is right, wrong, missing \
(never answered) or failed (its call was ended by a status); repeated answers come on top, and resent counts what was sent to \
another of several servers after one was lost.

Exit codes: 0, every puzzle was answered once and rightly; 1, some were not; 2, the server could not be loaded.";

/// Arguments of `sudoku load`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct LoadArgs {
    /// Puzzles to send, over and over [default: a built-in sample]
    ///
    /// `-` is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArgs,

    /// Servers: 127.0.0.1:50051, or several with commas
    ///
    /// That is short for `http://127.0.0.1:50051`; an encrypted one is `https://sudoku.example:50051`.
    /// Streams are spread over several servers, and what a lost one has not answered goes to the next.
    #[arg(id = "server", long = "server", value_name = "ADDRESS", value_parser = address)]
    #[arg(value_delimiter = ',', required = true)]
    urls: Vec<String>,

    #[command(flatten)]
    trust: TrustArgs,

    /// Method to call
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodArg::SolveLines)]
    method: MethodArg,

    /// Puzzles per message [range: 1 to 16384] [default: 1024 for solve-lines, else 1]
    #[arg(long, hide_short_help = true, value_name = "N")]
    #[arg(value_parser = whole::<u32>(1..=16_384))]
    batch: Option<u32>,

    /// Connections [range: 1 to 4096]
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=4096))]
    connections: u32,

    /// Streams of each [range: 1 to 1024]
    ///
    /// With --method solve, which has no streams, it multiplies the calls in flight.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=1024))]
    streams: u32,

    /// In flight per stream [range: 1 to 4096]
    ///
    /// These are messages, or calls with --method solve.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<u32>(1..=4096))]
    in_flight: u32,

    /// Puzzles per second in all [default: as many as are answered]
    ///
    /// They are sent whether earlier ones are answered or not.
    /// The latency of a message counts from when it was due, not from when it could be sent.
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<f64>,

    /// Time to send for, as in 30s or 10m [range: up to a week]
    #[arg(long, value_name = "TIME", default_value = "10s")]
    #[arg(value_parser = value::time(value::SECOND, Duration::from_millis(1)..=MAX_DURATION))]
    duration: Duration,

    /// Stop after N puzzles
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<u64>(1..))]
    puzzles: Option<u64>,

    /// Compare the answers to every Nth message only, and count the others
    ///
    /// Error lines are those of the messages that are compared.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = whole::<u64>(1..))]
    check_every: u64,

    /// Threads that send and receive [range: 1 to 1024] [default: half of the cores]
    #[arg(short = 'j', long, hide_short_help = true, value_name = "N", value_parser = value::threads())]
    threads: Option<usize>,

    /// Form of the report
    #[arg(id = "form", short = 'f', long = "format", value_enum, value_name = "FORM")]
    #[arg(default_value_t = LoadReportForm::Text)]
    form: LoadReportForm,

    /// Short for `--format json`
    #[arg(long, hide_short_help = true, conflicts_with = "form")]
    json: bool,

    #[command(flatten)]
    out: ReportArgs,

    #[command(flatten)]
    progress: ProgressArgs,
}

impl LoadArgs {
    /// The input, if one was named.
    fn input(&self) -> Option<Input> {
        self.file.as_deref().map(|file| Input::file(file, self.format.clone()))
    }

    /// The shape of the load.
    fn plan(&self) -> anyhow::Result<Plan> {
        let Self { connections, streams, in_flight, .. } = *self;
        let all = connections.checked_mul(streams).and_then(|all| all.checked_mul(in_flight));
        if all.is_none_or(|all| all > MAX_IN_FLIGHT) {
            bail!(
                "That would be more than {MAX_IN_FLIGHT} messages in flight. Ask for fewer connections, streams or messages of each.",
            );
        }
        Ok(Plan {
            method: self.method.into(),
            connections: connections.try_into()?,
            streams: streams.try_into()?,
            in_flight: in_flight.try_into()?,
            rate: self.rate,
            duration: self.duration,
            puzzles: self.puzzles,
            check_every: self.check_every,
        })
    }

    /// The puzzles of a message.
    fn batch(&self) -> u32 {
        let default = if self.method == MethodArg::SolveLines { DEFAULT_LINES } else { 1 };
        self.batch.unwrap_or(default)
    }

    fn threads(&self) -> usize {
        let half = || thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
        self.threads.unwrap_or_else(half)
    }
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LoadReportForm {
    Text,
    Json,
}

/// A method that can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodArg {
    /// One call per message
    Solve,
    /// Streams of puzzles, answered by messages
    SolveStream,
    /// Streams of lines
    SolveLines,
}

impl From<MethodArg> for LoadMethod {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Solve => Self::Solve,
            MethodArg::SolveStream => Self::SolveStream,
            MethodArg::SolveLines => Self::SolveLines,
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-3..=MAX_RATE).contains(rate));
    rate.ok_or_else(|| "give a number of puzzles a second, up to 100,000,000".to_owned())
}

/// Runs `sudoku load`.
pub fn run(args: &LoadArgs) -> anyhow::Result<ExitCode> {
    let plan = args.plan()?;
    let known = args.trust.endpoint("")?;
    let endpoints: Vec<_> =
        args.urls.iter().map(|url| Endpoint { url: url.clone(), ..known.clone() }).collect();
    let input = args.input();
    let mut out = args.out.open(input.as_slice())?;
    let cancel = interrupt::flag()?;
    let flag = Arc::clone(&cancel);
    let batch = args.batch().try_into()?;
    let read = move || -> anyhow::Result<Workload> {
        let mut reader = match &input {
            Some(input) => input.reader()?,
            None => {
                let sample = Box::new(Cursor::new(demo::SAMPLE));
                Source::reading("The sample".to_owned(), sample)?.read(&Hint::default())?
            }
        };
        let pool = pipeline::pool(None).context("The worker threads cannot be started")?;
        Ok(Workload::read(&mut reader, batch, &pool, &flag)?)
    };
    let Some(workload) = interruptible(&cancel, read)? else {
        return Ok(interrupt::report("Stopped before the first puzzle"));
    };
    if workload.left_out() > 0 && !args.progress.quiet {
        let bad = print::counted(workload.left_out(), "bad puzzle");
        print::status_line(&format!(
            "{bad} left out, because a list of one puzzle a line has no place for it."
        ));
    }

    let milliseconds = u64::try_from(plan.duration.as_millis()).unwrap_or(u64::MAX);
    let bar = progress::of_time(args.progress.wants_bar(), milliseconds);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(args.threads())
        .enable_all()
        .build()
        .context("The threads cannot be started")?;
    let workload = Arc::new(workload);
    let mut watch = |figures: &LoadFigures, time: Duration| {
        bar.set_position(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        bar.set_message(format!("{} puzzles/s", print::per_second(figures.right, time)));
    };
    let loaded = runtime.block_on(load::run(&endpoints, &plan, &workload, &cancel, &mut watch));
    // In the background, because a name look-up may still block a thread.
    runtime.shutdown_background();
    bar.finish_and_clear();
    let figures = loaded?;

    let is_interrupted = cancel.load(Ordering::Relaxed);
    let report = LoadReport::new(args, &plan, &figures, is_interrupted);
    let is_json = args.json || args.form == LoadReportForm::Json;
    out.write(&if is_json { report.json()? } else { report.text(&figures) })?;
    out.finish()?;
    Ok(exit_code(&figures, is_interrupted))
}

fn exit_code(figures: &LoadFigures, is_interrupted: bool) -> ExitCode {
    if !figures.are_good() {
        ExitCode::from(exit::DISAGREED)
    } else if is_interrupted {
        interrupt::exit_code()
    } else {
        ExitCode::SUCCESS
    }
}
