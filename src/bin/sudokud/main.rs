//! `sudokud`: the gRPC service as a process.

#![expect(clippy::print_stderr, reason = "the log starts after the command line is read")]

mod admin;
mod args;
mod export;
mod flags;
mod log;
#[path = "../shared/number.rs"]
mod number;
#[path = "../shared/reference.rs"]
mod reference;

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;
use std::thread;

use anyhow::Context as _;
use sudoku_stream::service::{Config, Server, Stopped};
use tokio::signal::unix::{Signal, SignalKind, signal};

use admin::Admin;
use args::{Reports, Request};
use export::Export;

/// The allocator of messages, faster at that than the system's. It uses no huge pages, because with
/// them 1,000 idle connections take twice the memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code of a server that could not start or run.
const CANNOT_RUN: u8 = 2;

/// Cores per transport thread. Searches take most of the work and have threads of their own.
const CORES_PER_TRANSPORT_THREAD: usize = 4;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sudokud: {error:#}");
            ExitCode::from(CANNOT_RUN)
        }
    }
}

fn run() -> anyhow::Result<()> {
    match args::read()? {
        // A closed pipe is no error, because its reader has seen enough.
        Request::Print(text) => match std::io::stdout().write_all(&text) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.context("standard output"),
        },
        Request::Serve(config, reports) => start(*config, reports),
    }
}

/// Starts the threads, the log and the exporter, serves, and ends them in order.
fn start(config: Config, reports: Reports) -> anyhow::Result<()> {
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
    log::start(reports.log, export.as_ref());
    let result = runtime.block_on(async {
        let admin = match reports.metrics {
            Some(address) => Some(Admin::bind(address).await?),
            None => None,
        };
        serve(config, admin).await
    });
    if let Some(export) = export {
        // The runtime moves its bytes, so this comes before the end of the runtime.
        export.flush();
    }
    // The drain time-out is over, so nothing that is still open is waited for.
    runtime.shutdown_background();
    result
}

/// Serves until a signal, then until all calls have ended, the drain time-out is over or a second
/// signal comes.
async fn serve(config: Config, admin: Option<Admin>) -> anyhow::Result<()> {
    let mut signals = Signals::new().context("Signals cannot be caught")?;
    let server = Server::bind(config).await?;
    if let Some(admin) = admin {
        tokio::spawn(admin.serve(server.readiness()));
    }
    let reloader = server.reloader();
    let mut hangups = signal(SignalKind::hangup()).context("Signals cannot be caught")?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let problems = reloader.reload();
            for problem in &problems {
                tracing::error!("{problem} What was in use stays in use.");
            }
            if problems.is_empty() {
                tracing::info!("certificates and tokens were read again");
            }
        }
    });
    tracing::info!("listening on {}", server.local_addr());

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

    tracing::info!("shutting down: no new calls, calls on hand are finished");
    let _ = stop.send(());
    tokio::select! {
        ended = serving => match ended.context("The server broke down")? {
            Stopped::Drained => tracing::info!("all calls have ended"),
            Stopped::CutOff => tracing::warn!("the drain time-out has passed; calls were cut off"),
        },
        () = signals.next() => tracing::warn!("stopped at once; calls were cut off"),
    }
    Ok(())
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
