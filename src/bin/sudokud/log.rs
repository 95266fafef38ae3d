//! The log, on standard error.

use std::env;
use std::io::{IsTerminal as _, stderr};
use std::panic::{self, PanicHookInfo};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{FilterExt as _, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use crate::export::Export;
use crate::flags::LogForm;

/// Starts the log. `RUST_LOG` sets the level; calls are logged at `debug`, puzzles never. Panics
/// are logged with the call that they broke, and spans of calls go to the collector, if there is
/// one.
pub fn start(form: LogForm, export: Option<&Export>) {
    let everything = Targets::new().with_default(LevelFilter::INFO);
    let wanted = env::var("RUST_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or(everything);
    // Below `info`, other crates log headers of clients, tokens included.
    let safe = Targets::new()
        .with_target("sudoku_stream", LevelFilter::TRACE)
        .with_target("sudokud", LevelFilter::TRACE)
        .with_default(LevelFilter::INFO);
    // A log that cannot be written is no reason to end, and the error could not be logged either.
    let lines = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal()).log_internal_errors(false);
    let lines = match form {
        LogForm::Text => lines.boxed(),
        LogForm::Json => lines.json().with_span_list(false).boxed(),
    };
    registry().with(lines.with_filter(wanted.and(safe))).with(export.map(Export::layer)).init();
    panic::set_hook(Box::new(log_panic));
}

/// Logs where the program panicked. Only messages that are literals in the source are logged,
/// because others may quote a puzzle.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or_default();
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a panic: {message}");
}
