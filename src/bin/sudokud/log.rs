//! The log, on standard error.
//!
//! **Invariant:** clients cannot fill it. Of each kind of line, which is a place in the source, a
//! number a minute is written; how many were left out is a line once a minute. Lines below `info`
//! are there because somebody asked for them, and all are written.

use std::collections::HashMap;
use std::env;
use std::io::{IsTerminal as _, stderr};
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sudoku_stream::poison::IgnorePoison as _;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{FilterExt as _, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::{Filter, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use crate::export::Export;
use crate::flags::LogForm;

/// The lines of one kind that are written in an [`INTERVAL`].
const LINES: u32 = 20;

/// The time for which lines are counted.
const INTERVAL: Duration = Duration::from_secs(60);

/// The most characters of a line that stand for those that were left out.
const SHOWN_CHARS: usize = 100;

/// The target of the lines about what was left out, which are few.
const ABOUT_LINES: &str = "sudokud::log";

/// The limit on lines that come too often.
#[derive(Clone, Debug, Default)]
pub struct LineLimit(Arc<Mutex<HashMap<Identifier, LineCounts>>>);

/// The lines of one kind.
#[derive(Debug)]
struct LineCounts {
    since: Instant,
    written: u32,
    left_out: u64,
    /// The beginning of one that was left out.
    example: String,
}

impl LineLimit {
    /// Whether a line may be written.
    fn admit(&self, event: &Event<'_>, now: Instant) -> bool {
        let mut kinds = self.0.lock().ignore_poison();
        let new = || LineCounts { since: now, written: 0, left_out: 0, example: String::new() };
        let lines = kinds.entry(event.metadata().callsite()).or_insert_with(new);
        if now.duration_since(lines.since) >= INTERVAL {
            (lines.since, lines.written) = (now, 0);
        }
        if lines.written < LINES {
            lines.written += 1;
            return true;
        }
        if lines.left_out == 0 {
            lines.example.clear();
            event.record(&mut ExampleVisitor(&mut lines.example));
        }
        lines.left_out += 1;
        false
    }

    /// Logs how many lines were left out, once a minute.
    pub async fn report(self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.report_now();
        }
    }

    /// Logs how many lines were left out since the last report.
    pub fn report_now(&self) {
        let left_out: Vec<_> = {
            let mut kinds = self.0.lock().ignore_poison();
            let some = kinds.values_mut().filter(|lines| lines.left_out > 0);
            some.map(|lines| (std::mem::take(&mut lines.left_out), lines.example.clone())).collect()
        };
        for (left_out, example) in left_out {
            tracing::warn!(target: ABOUT_LINES, left_out, "lines like this were left out: {example}");
        }
    }
}

/// A form of lines, of which no more are written than the limit lets pass.
///
/// No filter, because one that decides line by line has every span and event thought over anew, those of the transport below `info` as
/// well: half of what a call of one puzzle costs.
struct Limited<F> {
    form: F,
    limit: LineLimit,
}

impl<S, N, F> FormatEvent<S, N> for Limited<F>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let metadata = event.metadata();
        let is_written = *metadata.level() > Level::INFO
            || metadata.target() == ABOUT_LINES
            || self.limit.admit(event, Instant::now());
        // What is left empty is not written.
        if is_written { self.form.format_event(context, writer, event) } else { Ok(()) }
    }
}

/// The beginning of a line's message.
struct ExampleVisitor<'a>(&'a mut String);

impl Visit for ExampleVisitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.extend(format!("{value:?}").chars().take(SHOWN_CHARS));
        }
    }
}

/// Starts the log. `RUST_LOG` sets the level; calls are logged at `debug`, puzzles never. Panics
/// are logged with the call that they broke, and spans of calls go to the collector, if there is
/// one.
///
/// Returns the limit on lines, which has to report.
pub fn start(form: LogForm, export: Option<&Export>) -> LineLimit {
    // A log that cannot be written is no reason to end, and the error could not be logged either.
    let lines = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal()).log_internal_errors(false);
    let limit = LineLimit::default();
    let lines = match form {
        LogForm::Text => lines.map_event_format(|form| Limited { form, limit: limit.clone() }).boxed(),
        LogForm::Json => {
            let lines = lines.json().with_span_list(false);
            lines.map_event_format(|form| Limited { form, limit: limit.clone() }).boxed()
        }
    };
    let filter = written(env::var("RUST_LOG").ok().as_deref());
    registry().with(lines.with_filter(filter)).with(export.map(Export::layer)).init();
    panic::set_hook(Box::new(log_panic));
    limit
}

/// What is written of the log: what `level` asks for, or else everything from `info` on.
fn written<S: 'static>(level: Option<&str>) -> impl Filter<S> + use<S> {
    let everything = Targets::new().with_default(LevelFilter::INFO);
    let wanted = level.and_then(|level| level.parse().ok()).unwrap_or(everything);
    // Below `info`, other crates log headers of clients, tokens included.
    let safe = Targets::new()
        .with_target("sudoku_stream", LevelFilter::TRACE)
        .with_target("sudokud", LevelFilter::TRACE)
        .with_default(LevelFilter::INFO);
    wanted.and(safe)
}

/// Logs where the program panicked. Only messages that are literals in the source are logged,
/// because others may quote a puzzle.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or_default();
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a panic: {message}");
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::Registry;

    use super::*;

    /// Otherwise each frame of the transport has it thought over whether it is written.
    #[test]
    fn what_is_written_is_known_without_looking_at_each_line() {
        tracing::subscriber::with_default(registry(), || {
            let spans = [tracing::error_span!("loud"), tracing::trace_span!(target: "h2", "quiet")];
            let [loud, quiet] = spans.each_ref().map(|span| span.metadata().unwrap());
            for (level, most) in
                [(None, LevelFilter::INFO), (Some("sudoku_stream=debug"), LevelFilter::DEBUG)]
            {
                let filter = written::<Registry>(level);
                assert_eq!(filter.max_level_hint(), Some(most));
                assert!(filter.callsite_enabled(quiet).is_never());
                assert!(level.is_some() || filter.callsite_enabled(loud).is_always());
            }
        });
    }
}
