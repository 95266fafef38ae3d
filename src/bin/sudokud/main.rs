//! `sudokud`, the service.

#![expect(clippy::print_stderr, reason = "why it cannot start is said before there is a log")]

mod admin;
mod args;
mod export;
mod log;

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;
use std::thread;

use anyhow::Context as _;
use clap::Parser as _;
use sudoku_stream::service::{Config, Server, Stopped};
use tokio::signal::unix::{Signal, SignalKind, signal};

use admin::Admin;
use args::Args;
use export::Export;

/// Messages come and go all the time; the system's allocator is slower at that. Without huge pages 1,000 idle connections take half as
/// much.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code of a server that could not run.
const CANNOT_RUN: u8 = 2;

/// The cores for each thread that moves bytes. Searching takes the most of the work and has threads of its own.
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
    let args = Args::parse();
    if let Some(static_output) = args.static_output()? {
        // Whoever closes the pipe has read enough.
        return match std::io::stdout().write_all(&static_output) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.context("standard output"),
        };
    }
    let (config, reports) = args.settle()?;
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
        // The runtime moves its bytes, so it must not have ended.
        export.flush();
    }
    // What is still open was given its time; nothing is waited for any more.
    runtime.shutdown_background();
    result
}

/// Serves until a signal says to stop, then until everything has ended, time is up or a second signal comes.
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

/// The signals that mean to stop.
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
