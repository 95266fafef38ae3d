//! `sudokud`: the gRPC service as a process.

#![expect(clippy::print_stderr, reason = "the log starts after the command line is read")]

mod access_log;
mod admin;
mod args;
#[path = "../shared/completion.rs"]
mod completion;
mod effective;
mod export;
mod flags;
mod log;
mod manager;
#[path = "../shared/manual_page.rs"]
mod manual_page;
#[path = "../shared/memory_limit.rs"]
mod memory_limit;
#[path = "../shared/number.rs"]
mod number;
mod process;
#[path = "../shared/reference.rs"]
mod reference;

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use sudoku_stream::service::{ChangedLimits, Config, Reloader, Server, Stopped};
use tokio::signal::unix::{Signal, SignalKind, signal};

use access_log::AccessLog;
use admin::Admin;
use args::{Reports, Request};
use effective::Given;
use export::Export;

/// The allocator of messages, faster at that than the system's. It uses no huge pages, because with
/// them 1,000 idle connections take twice the memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code of a probe that finds no server that serves.
const NOT_SERVING: u8 = 1;

/// The exit code of a server that could not start or run.
const CANNOT_RUN: u8 = 2;

/// The address space, in MiB, below which a server does not start. With less it comes to depend on the
/// machine which allocation fails first, and the standard library, which ends the process then, can
/// wait for itself for ever.
const LEAST_ADDRESS_SPACE: u64 = 256;

/// The most time for the end of calls that are cut off.
const END_TIME: Duration = Duration::from_secs(1);

/// Cores per transport thread. Searches take most of the work and have threads of their own.
const CORES_PER_TRANSPORT_THREAD: usize = 4;

fn main() -> ExitCode {
    memory_limit::with_whole_stack(read_and_run).unwrap_or_else(|error| {
        eprintln!("sudokud: there is no memory for a thread: {error}");
        ExitCode::from(CANNOT_RUN)
    })
}

fn read_and_run() -> ExitCode {
    let request = args::read();
    let is_probe = matches!(request, Ok(Request::Probe(_)));
    match request.and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sudokud: {error:#}");
            ExitCode::from(if is_probe { NOT_SERVING } else { CANNOT_RUN })
        }
    }
}

fn run(request: Request) -> anyhow::Result<()> {
    match request {
        // A closed pipe is no error, because its reader has seen enough.
        Request::Print(text) => match std::io::stdout().write_all(&text) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.context("standard output"),
        },
        Request::Serve(config, reports, given) => start(*config, reports, given),
        Request::Check(config, reports, given) => {
            for sentence in unknown_variables() {
                eprintln!("sudokud: {sentence}");
            }
            on_this_thread(async {
                reports.spans.map(|spans| Export::new(&spans.endpoint, spans.share)).transpose()?;
                Ok(Server::check(*config).await?)
            })?;
            run(Request::Print(given.to_string().into_bytes()))
        }
        Request::Probe(probe) => on_this_thread(async { Ok(probe.ask().await?) }),
    }
}

fn on_this_thread(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("The threads cannot be started")?.block_on(work)
}

/// The sentences about variables that are no settings. Any name of ours is text.
fn unknown_variables() -> Vec<String> {
    args::unknown_variables(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
}

/// Starts the threads, the log and the exporter, serves, and ends them in order.
fn start(mut config: Config, reports: Reports, given: Given) -> anyhow::Result<()> {
    if let Some(allowed) = memory_limit::address_space().map(|bytes| bytes >> 20)
        && allowed < LEAST_ADDRESS_SPACE
    {
        anyhow::bail!(
            "The address space of this process is limited to {allowed} MiB. Allow {LEAST_ADDRESS_SPACE} MiB or more (ulimit -v {}).",
            LEAST_ADDRESS_SPACE << 10
        );
    }
    manager::take_sockets(&mut config)?;
    let access_log = reports.access_log.map(AccessLog::open).transpose()?;
    config.call_observer = access_log.as_ref().map(AccessLog::observer);
    let cores = thread::available_parallelism().map_or(1, Into::into);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.div_ceil(CORES_PER_TRANSPORT_THREAD))
        .enable_all()
        .build()
        .context("The threads cannot be started")?;
    let export = {
        let _entered = runtime.enter();
        reports.spans.map(|spans| Export::new(&spans.endpoint, spans.share)).transpose()?
    };
    let log = log::start(reports.log, export.as_ref());
    let lines_of_calls = access_log.clone();
    let result = runtime.block_on(async {
        tokio::spawn(log.clone().report());
        let admin = match reports.metrics {
            Some(address) => Some(Admin::bind(address).await?),
            None => None,
        };
        serve(config, given, admin, access_log).await
    });
    if let Some(export) = export {
        // The runtime moves its bytes, so this comes before the end of the runtime.
        export.flush();
    }
    log.report_now();
    // The drain time-out is over, so what is still open is cut off, and has its line like any other call.
    runtime.shutdown_timeout(END_TIME);
    lines_of_calls.iter().for_each(AccessLog::flush);
    result
}

/// Serves until a signal, then until all calls have ended, the drain time-out is over or a second
/// signal comes.
async fn serve(
    config: Config,
    given: Given,
    admin: Option<Admin>,
    access_log: Option<AccessLog>,
) -> anyhow::Result<()> {
    let mut signals = Signals::new().context("Signals cannot be caught")?;
    let page = config.page.then_some(if config.tls.is_some() { "https" } else { "http" });
    let server = Server::bind(config).await?;
    if let Some(admin) = admin {
        tokio::spawn(admin.serve(server.readiness()));
    }
    let (reloader, readiness) = (server.reloader(), server.readiness());
    let mut hangups = signal(SignalKind::hangup()).context("Signals cannot be caught")?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            manager::reloading();
            reload(&reloader, &given);
            manager::ready();
            access_log.iter().for_each(AccessLog::reopen);
        }
    });
    for address in server.local_addresses() {
        tracing::info!("listening on {address}");
    }
    for sentence in unknown_variables() {
        tracing::warn!("{sentence}");
    }
    if let Some(scheme) = page
        && server.local_addr().port() > 0
    {
        tracing::info!("the page for browsers is at {scheme}://{}/", server.local_addr());
    }

    manager::ready();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = server.serve(async move {
        // An error means that the sender is gone, which only happens at the end.
        let _ = stopped.await;
    });
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        ended = &mut serving => return ended.map(|_| ()).context("The server broke down"),
        () = signals.next() => {}
    }

    manager::stopping();
    tracing::info!("shutting down: no new calls, calls on hand are finished");
    let _ = stop.send(());
    tokio::select! {
        ended = serving => match ended.context("The server broke down")? {
            Stopped::Drained => tracing::info!("all calls have ended"),
            Stopped::CutOff => tracing::warn!("the drain time-out has passed; calls were cut off"),
        },
        () = signals.next() => match readiness.open_calls() {
            0 => tracing::info!("stopped at once"),
            _ => tracing::warn!("stopped at once; calls were cut off"),
        },
    }
    Ok(())
}

/// Reads certificates, tokens and settings again. The server was started with what is `given`.
fn reload(reloader: &Reloader, given: &Given) {
    let problems = reloader.reload();
    for problem in &problems {
        tracing::error!("{problem} What was in use stays in use.");
    }
    if problems.is_empty() && reloader.has_files() {
        tracing::info!("certificates and tokens were read again");
    }
    let settings = args::read_again();
    reloader.report(problems.is_empty() && settings.is_ok());
    match settings {
        Ok((limits, given_now)) => {
            let ChangedLimits { now, mut later } = reloader.set_limits(&limits);
            if !now.is_empty() {
                tracing::info!("these limits have changed: {}", now.join(", "));
            }
            later.extend(given.differing(&given_now));
            if !later.is_empty() {
                let names = later.join(", ");
                tracing::warn!("these settings have changed and need another start: {names}");
            }
        }
        Err(error) => {
            let sentence = format!("{error:#}");
            tracing::error!("{}. The limits stay as they are.", sentence.trim_end_matches('.'));
        }
    }
}

/// The signals that stop the server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
