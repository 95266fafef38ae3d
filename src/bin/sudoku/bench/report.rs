//! The report of a run: a table for people, JSON for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use sudoku_stream::build_info;
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{Propagation, Question, Strategy as _};

use super::contender::{BenchOutcome, Contender};
use super::subject::Subject;
use super::{BenchArgs, BenchKind};
use crate::cli::{fit, machine, print, summary};

/// The report. Programs rely on its names.
#[derive(Serialize)]
pub struct BenchReport {
    /// The version of this object. It changes when a field is removed or changes its meaning.
    schema_version: u32,
    /// Of this program.
    version: &'static str,
    /// The last commit when it was built.
    commit: &'static str,
    /// The compiler that built it.
    toolchain: &'static str,
    machine: Machine,
    settings: BenchSettings,
    pub results: Vec<ContenderRow>,
}

#[derive(Serialize)]
pub struct Machine {
    pub cpu: String,
    architecture: &'static str,
    os: &'static str,
    pub cores: usize,
    best_backend: String,
}

#[derive(Serialize)]
pub struct BenchSettings {
    pub question: &'static str,
    /// Where a count stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    node_limit: u64,
    pub threads: usize,
    /// The timed runs of each contender; none for a comparison, which ends by time.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<u32>,
}

/// What is timed, in a line above the figures.
pub const TIMED: &str = "timed: answers to puzzles in memory, without start-up and without reading files";

/// The version of [`BenchReport`].
const SCHEMA_VERSION: u32 = 1;

impl Machine {
    /// The machine that this program runs on.
    pub fn this() -> Self {
        Self {
            cpu: machine::cpu(),
            architecture: std::env::consts::ARCH,
            os: std::env::consts::OS,
            cores: machine::cores(),
            best_backend: Backend::best().to_string(),
        }
    }
}

impl BenchSettings {
    /// The settings of a run.
    pub fn of(args: &BenchArgs) -> Self {
        let (question, limit) = match args.question() {
            Question::First => ("first", None),
            Question::Unique => ("unique", None),
            Question::Count { limit } => ("count", Some(limit)),
        };
        let repeats = args.comparison.compare.is_none().then_some(args.repeats);
        Self { question, limit, node_limit: args.node_limit, threads: args.threads, repeats }
    }
}

/// The figures of one contender on one file.
#[derive(Serialize)]
pub struct ContenderRow {
    file: String,
    order: String,
    notation: String,
    /// The puzzles timed: for a search those that can be searched, else all.
    puzzles: u64,
    strategy: &'static str,
    backend: Option<String>,
    kind: BenchKind,
    puzzles_per_second: RateSummary,
    /// The speed relative to the strategy `propagation`, where that was timed too.
    ratio_to_propagation: Option<f64>,
    runs: Vec<TimedRun>,
    /// The answers that are an error, by their code.
    errors: BTreeMap<&'static str, u64>,
    /// Those that reached the node limit.
    given_up: u64,
    nodes: u64,
    guesses: u64,
}

#[derive(Serialize)]
struct RateSummary {
    median: f64,
    min: f64,
    max: f64,
}

#[derive(Serialize)]
struct TimedRun {
    /// The time for all puzzles once.
    seconds: f64,
    puzzles_per_second: f64,
}

impl BenchReport {
    /// A report without results.
    pub fn new(args: &BenchArgs) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            version: build_info::VERSION,
            commit: build_info::COMMIT,
            toolchain: build_info::RUSTC,
            machine: Machine::this(),
            settings: BenchSettings::of(args),
            results: Vec::new(),
        }
    }

    /// The best median of each file, in puzzles a second.
    pub fn best_rates(&self) -> Vec<(&str, f64)> {
        let mut best: Vec<(&str, f64)> = Vec::new();
        for row in &self.results {
            let rate = row.puzzles_per_second.median;
            match best.iter_mut().find(|(file, _)| *file == row.file) {
                Some((_, best)) => *best = best.max(rate),
                None => best.push((&row.file, rate)),
            }
        }
        best
    }

    /// The lines above the tables: machine, program and settings.
    pub fn heading(&self) -> String {
        let Self { version, commit, toolchain, machine, settings, .. } = self;
        let question = match settings.limit {
            Some(limit) => format!("{} up to {}", settings.question, print::thousands(limit)),
            None => settings.question.to_owned(),
        };
        format!(
            "{}, {}, best back end {}\nsudoku {version} (commit {commit}), {toolchain}\nquestion {question}, {}, {}\n{TIMED}\n",
            machine.cpu,
            print::counted(machine.cores as u64, "core"),
            machine.best_backend,
            print::counted(settings.threads as u64, "thread"),
            match settings.repeats.unwrap_or(1) {
                1 => "1 run after a warm-up".to_owned(),
                runs => format!("median of {} runs after a warm-up", print::thousands(runs.into())),
            },
        )
    }
}

/// The table of one file.
pub fn table(subject: &Subject, rows: &[ContenderRow], measured: &[Measured]) -> String {
    // The contender that gave up least knows the most errors.
    let outcomes = measured.iter().map(|measured| measured.whole(subject));
    let errors = match outcomes.min_by_key(BenchOutcome::given_up) {
        Some(BenchOutcome { tally, .. }) if !tally.errors.is_empty() => {
            format!(", {}", summary::error_lines(&tally))
        }
        _ => String::new(),
    };
    let heading = format!(
        "\n{}: {} of {}{errors}\n",
        subject.name,
        print::counted(subject.puzzles(), "puzzle"),
        subject.format.order(),
    );
    let head = ["strategy", "back end", "kind", "puzzles/s", "min", "max", "ratio", "nodes/puzzle"];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    if rows.iter().any(|row| row.given_up > 0) {
        cells[0].push("given up".to_owned());
    }
    for row in rows {
        let rates = &row.puzzles_per_second;
        let mut line = vec![
            row.strategy.to_owned(),
            row.backend.clone().unwrap_or_else(|| "-".to_owned()),
            row.kind.to_string(),
            print::rate(rates.median),
            print::rate(rates.min),
            print::rate(rates.max),
            row.ratio_to_propagation.map_or_else(|| "-".to_owned(), shown_ratio),
            format!("{:.2}", row.nodes as f64 / row.puzzles.max(1) as f64),
        ];
        if cells[0].len() > line.len() {
            line.push(print::thousands(row.given_up));
        }
        cells.push(line);
    }
    heading + &fit::table(&cells, 3, 3, fit::stdout_columns())
}

/// One row for each contender, in their order.
pub fn rows(subject: &Subject, measured: &[Measured]) -> Vec<ContenderRow> {
    let mut rows: Vec<ContenderRow> = measured.iter().map(|measured| measured.row(subject)).collect();
    for kind in [BenchKind::Text, BenchKind::Search] {
        let base = rows.iter().find(|row| row.kind == kind && row.strategy == Propagation.name());
        let Some(base) = base.map(|row| row.puzzles_per_second.median).filter(|&base| base > 0.0) else {
            continue;
        };
        for row in rows.iter_mut().filter(|row| row.kind == kind) {
            row.ratio_to_propagation = Some(rounded(row.puzzles_per_second.median / base, 1e6));
        }
    }
    rows
}

/// A contender, its answers, and the time of each run.
pub struct Measured {
    pub contender: Contender,
    pub outcome: BenchOutcome,
    pub times: Vec<Duration>,
}

impl Measured {
    /// The outcome for all puzzles of the file, searched or not.
    pub fn whole(&self, subject: &Subject) -> BenchOutcome {
        match self.contender.kind {
            BenchKind::Text => self.outcome.clone(),
            BenchKind::Search => self.outcome.with(&subject.refused),
        }
    }

    fn row(&self, subject: &Subject) -> ContenderRow {
        let Self { contender, outcome, times } = self;
        let puzzles = outcome.tally.answers;
        let rate = |time: Duration| rounded(puzzles as f64 / time.as_secs_f64().max(1e-9), 10.0);
        let (median, min, max) = spread(times);
        ContenderRow {
            file: subject.name.clone(),
            order: subject.format.order().to_string(),
            notation: subject.format.notation().to_string(),
            puzzles,
            strategy: contender.strategy.name(),
            backend: contender.backend.map(|backend| backend.to_string()),
            kind: contender.kind,
            puzzles_per_second: RateSummary { median: rate(median), min: rate(max), max: rate(min) },
            ratio_to_propagation: None,
            runs: times
                .iter()
                .map(|&time| TimedRun { seconds: time.as_secs_f64(), puzzles_per_second: rate(time) })
                .collect(),
            errors: outcome.tally.errors.clone(),
            given_up: outcome.given_up(),
            nodes: outcome.tally.metrics.nodes,
            guesses: outcome.tally.metrics.guesses,
        }
    }
}

/// The median, the least and the greatest.
fn spread(times: &[Duration]) -> (Duration, Duration, Duration) {
    let mut times = times.to_vec();
    times.sort_unstable();
    let (Some(&min), Some(&max)) = (times.first(), times.last()) else { return Default::default() };
    let (below, above) = (times[(times.len() - 1) / 2], times[times.len() / 2]);
    ((below + above) / 2, min, max)
}

/// A ratio with two decimals, or with two digits if it has none in these.
fn shown_ratio(ratio: f64) -> String {
    let has_two_digits = |&(_, power): &(usize, i32)| ratio * 10_f64.powi(power) >= 1.0;
    let decimals = (2..=6).zip(1..).find(has_two_digits).map_or(2, |(decimals, _)| decimals);
    format!("{ratio:.decimals$}")
}

/// A figure rounded to `1 / parts`.
pub fn rounded(figure: f64, parts: f64) -> f64 {
    (figure * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_ratio_has_two_digits() {
        for (ratio, wanted) in [
            (1.0, "1.00"),
            (123.456, "123.46"),
            (0.25, "0.25"),
            (0.087, "0.087"),
            (0.001_858, "0.0019"),
            (0.000_012, "0.000012"),
            (0.0, "0.00"),
        ] {
            assert_eq!(shown_ratio(ratio), wanted);
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let seconds = |list: &[u64]| list.iter().copied().map(Duration::from_secs).collect::<Vec<_>>();
        for (list, expected) in
            [(&[7][..], [7, 7, 7]), (&[9, 1, 2], [2, 1, 9]), (&[4, 1, 9, 6], [5, 1, 9]), (&[], [0, 0, 0])]
        {
            let (median, min, max) = spread(&seconds(list));
            assert_eq!([median, min, max].to_vec(), seconds(&expected), "{list:?}");
        }
    }
}
