//! The report of a run: text for people, JSON for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use sudoku_stream::load::{LoadFigures, Plan};

use super::{LoadArgs, MethodArg};
use crate::cli::print;

/// The quantiles of the report, and their names.
const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// The longest bar of the histogram, in characters.
const BAR: f64 = 50.0;

/// Upper ends of the histogram's rows, as multiples of a power of ten.
const STEPS: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];

/// The report. Programs rely on its names.
#[derive(Serialize)]
pub struct LoadReport {
    /// Of this program.
    version: &'static str,
    server: String,
    method: MethodArg,
    batch: u32,
    connections: usize,
    streams: usize,
    in_flight: usize,
    rate: Option<f64>,
    check_every: u64,
    interrupted: bool,
    /// From the first message to the last answer, or at a fixed rate at least the time in which the
    /// puzzles sent are due.
    seconds: f64,
    messages: Messages,
    puzzles: Puzzles,
    /// Those of the answers compared.
    error_lines: BTreeMap<&'static str, u64>,
    statuses: BTreeMap<&'static str, u64>,
    puzzles_per_second: f64,
    messages_per_second: f64,
    latency_us: Latency,
    /// The first wrong answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_answer: Option<String>,
}

#[derive(Serialize)]
struct Messages {
    sent: u64,
    answered: u64,
    /// Due by the rate, but not sent before the end.
    unsent: u64,
}

#[derive(Serialize)]
struct Puzzles {
    sent: u64,
    /// Answered rightly, error lines included.
    right: u64,
    /// Compared; the others were only counted.
    checked: u64,
    wrong: u64,
    missing: u64,
    repeated: u64,
    /// Ended by a status.
    failed: u64,
    /// Sent to another server after one was lost.
    resent: u64,
}

#[derive(Serialize)]
struct Latency {
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p99_9: f64,
    max: f64,
}

impl LoadReport {
    pub fn new(args: &LoadArgs, plan: &Plan, figures: &LoadFigures, interrupted: bool) -> Self {
        let seconds = figures.time.as_secs_f64();
        let rate = |count: u64| (count as f64 / seconds.max(1e-9) * 10.0).round() / 10.0;
        let [p50, p90, p99, p99_9, max] = QUANTILES.map(|(_, share)| microseconds(figures.latency(share)));
        Self {
            version: env!("CARGO_PKG_VERSION"),
            server: args.urls.join(","),
            method: args.method,
            batch: args.batch(),
            connections: plan.connections,
            streams: plan.streams,
            in_flight: plan.in_flight,
            rate: plan.rate,
            check_every: plan.check_every,
            interrupted,
            seconds,
            messages: Messages {
                sent: figures.messages_sent,
                answered: figures.messages_answered,
                unsent: figures.unsent_messages,
            },
            puzzles: Puzzles {
                sent: figures.sent,
                right: figures.right,
                checked: figures.checked,
                wrong: figures.wrong,
                missing: figures.missing(),
                repeated: figures.repeated,
                failed: figures.failed,
                resent: figures.resent,
            },
            error_lines: figures.errors.clone(),
            statuses: figures.statuses.clone(),
            puzzles_per_second: rate(figures.right),
            messages_per_second: rate(figures.messages_answered),
            latency_us: Latency { mean: microseconds(figures.mean_latency()), p50, p90, p99, p99_9, max },
            wrong_answer: figures.example.clone(),
        }
    }

    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    pub fn text(&self, figures: &LoadFigures) -> String {
        let Self { messages, puzzles, .. } = self;
        let mut text = format!(
            "{} in {} in {:.3} s: {} puzzles and {} messages a second\n",
            print::counted(puzzles.right, "puzzle"),
            print::counted(messages.answered, "message"),
            self.seconds,
            print::per_second(puzzles.right, figures.time),
            print::per_second(messages.answered, figures.time),
        );
        let errors: u64 = self.error_lines.values().sum();
        if errors > 0 {
            // Of the others nothing is known but their number.
            let among = if puzzles.checked < puzzles.right { " among the answers checked" } else { "" };
            let errors = print::counted(errors, "error line");
            text += &format!("{errors}{among}: {}\n", listed(&self.error_lines));
        }
        text += &format!(
            "{} checked: {} wrong, {} missing, {} repeated, {} failed\n",
            print::counted(puzzles.checked, "answer"),
            print::thousands(puzzles.wrong),
            print::thousands(puzzles.missing),
            print::thousands(puzzles.repeated),
            print::thousands(puzzles.failed),
        );
        if puzzles.resent > 0 {
            text += &format!("{} sent again to another server\n", print::counted(puzzles.resent, "puzzle"));
        }
        if let Some(example) = &self.wrong_answer {
            text += &format!("first wrong answer: {example}\n");
        }
        if !self.statuses.is_empty() {
            text += &format!("calls ended by {}\n", listed(&self.statuses));
        }
        if messages.unsent > 0 {
            let unsent = print::counted(messages.unsent, "message");
            text += &format!(
                "{unsent} could not be sent in time, because the server does not keep up with the rate\n"
            );
        }
        if messages.answered > 0 {
            let quantiles =
                QUANTILES.map(|(name, share)| format!("{name} {}", short_time(figures.latency(share))));
            text += &format!("\nlatency of a message: {}\n{}", quantiles.join(", "), histogram(figures));
        }
        text
    }
}

fn microseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 10.0
}

/// `3 UNAVAILABLE, 1 INTERNAL`.
fn listed(counts: &BTreeMap<&'static str, u64>) -> String {
    let words: Vec<_> =
        counts.iter().map(|(name, count)| format!("{} {name}", print::thousands(*count))).collect();
    words.join(", ")
}

/// A time with three significant digits.
fn short_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (figure, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let decimals = if figure < 10.0 { 2 } else { usize::from(figure < 100.0) };
    format!("{figure:.decimals$} {unit}")
}

/// The histogram of latencies, a bar for each range.
fn histogram(figures: &LoadFigures) -> String {
    let decades = (-9..4).map(|decade| 10f64.powi(decade));
    let mut over = Duration::ZERO;
    let mut rows = Vec::new();
    for to in decades.flat_map(|decade| STEPS.map(|step| Duration::from_secs_f64(step * decade))) {
        rows.push((to, figures.answered_within(over, to)));
        over = to;
    }
    let is_used = |(_, count): &(Duration, u64)| *count > 0;
    let (Some(first), Some(last)) = (rows.iter().position(is_used), rows.iter().rposition(is_used)) else {
        return String::new();
    };
    let all = figures.messages_answered.max(1) as f64;
    let most = rows.iter().map(|&(_, count)| count).max().unwrap_or(1).max(1) as f64;
    let row = |&(to, count): &(Duration, u64)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the longest bar"
        )]
        let length = (count as f64 / most * BAR).ceil() as usize;
        let (to, share) = (format!("to {}", short_time(to)), count as f64 / all * 100.0);
        format!("{to:>12} {share:>6.2} % {}", "#".repeat(length)).trim_end().to_owned() + "\n"
    };
    rows[first..=last].iter().map(row).collect()
}
