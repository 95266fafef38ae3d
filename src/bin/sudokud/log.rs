//! The log, on standard error.

use std::env;
use std::io::{IsTerminal as _, stderr};
use std::panic::{self, PanicHookInfo};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{FilterExt as _, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use super::args::LogForm;
use super::export::Export;

/// Starts the log. `RUST_LOG` says how much; calls are logged at the level `debug`, puzzles never. Panics go there as
/// well, with the call that they broke, and spans of calls to the collector, if there is one.
pub fn start(form: LogForm, export: Option<&Export>) {
    let everything = Targets::new().with_default(LevelFilter::INFO);
    let asked = env::var("RUST_LOG").ok().and_then(|asked| asked.parse().ok()).unwrap_or(everything);
    // What others log below this shows what clients sent, headers with tokens among it.
    let bearable = Targets::new()
        .with_target("sudoku_stream", LevelFilter::TRACE)
        .with_target("sudokud", LevelFilter::TRACE)
        .with_default(LevelFilter::INFO);
    // A log that nobody takes is no reason to end, and saying so would go where the log cannot.
    let lines = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal()).log_internal_errors(false);
    let lines = match form {
        LogForm::Text => lines.boxed(),
        LogForm::Json => lines.json().with_span_list(false).boxed(),
    };
    registry().with(lines.with_filter(asked.and(bearable))).with(export.map(Export::layer)).init();
    panic::set_hook(Box::new(log_panic));
}

/// Logs where the program panicked. A message that was put together may quote a puzzle; one that stands in the source does
/// not.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or_default();
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a panic: {message}");
}
