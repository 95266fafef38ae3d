//! `sudoku bench --compare`: this program and another build of it, timed in turns.
//!
//! Both run as processes that take turns on the same lists, because a machine that slows down then
//! slows down both alike. Each pair of turns gives a ratio, and the verdict follows from the
//! distribution of the ratios. The memory layout of a process can make it some per cent faster or
//! slower for its whole life, so both are started again after some pairs.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sudoku_stream::input::STANDARD_INPUT;

use super::interval::Interval;
use super::report::{BenchSettings, Machine, TIMED, rounded};
use super::turns::{Handshake, PROTOCOL, TimedRow, TimedTurn};
use super::{BenchArgs, BenchReportForm, Percent, ReportFiles, save, warn_of_short_lists};
use crate::cli::progress::Bar;
use crate::cli::{exit, fit, interrupt, print, progress};

/// The version of the JSON. It changes when a field is removed or changes its meaning.
const SCHEMA_VERSION: u32 = 1;

/// The fewest processes of each program.
const PROCESSES: u32 = 6;

/// The most pairs of a row. More would not narrow the interval noticeably.
const MOST_PAIRS: usize = 1000;

/// The folders of programs where the system has no `PATH`, as its C library has them.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// This program cannot time the lists. It has printed the reason, as one side of the comparison.
#[derive(Debug, thiserror::Error)]
#[error("this program cannot time the lists")]
struct CannotTime;

/// The programs give different answers, so their speeds cannot be compared.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Disagreement(String);

/// The report. Programs rely on its names.
#[derive(Serialize)]
struct ComparisonReport {
    schema_version: u32,
    machine: Machine,
    settings: BenchSettings,
    this: Program,
    other: Program,
    /// The processes of each program.
    processes: u32,
    /// The slow-down that counts as a regression, in per cent.
    max_regression_percent: Option<f64>,
    results: Vec<ComparedRow>,
    /// The rows that are slower than is allowed.
    regressions: usize,
}

#[derive(Serialize)]
struct Program {
    path: PathBuf,
    version: String,
    commit: String,
    toolchain: String,
}

/// One row of a comparison.
#[derive(Serialize)]
struct ComparedRow {
    file: String,
    order: String,
    strategy: String,
    backend: Option<String>,
    kind: String,
    puzzles: u64,
    pairs: usize,
    /// Medians.
    puzzles_per_second: RatePair,
    wall_time: Change,
    processor_time: Change,
    verdict: RowVerdict,
}

#[derive(Serialize)]
struct RatePair {
    this: f64,
    other: f64,
}

/// The time that this program takes more than the other, in per cent: the median of the pairs, and
/// its 99 % confidence interval.
#[derive(Clone, Copy, Serialize)]
struct Change {
    percent: f64,
    low_percent: f64,
    high_percent: f64,
}

/// The verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RowVerdict {
    /// No difference was measured.
    Same,
    Faster,
    /// Slower, but by less than the limit, if there is one.
    Slower,
    /// Slower, and possibly by the limit or more.
    Regression,
}

/// Times both programs. Ends with [`exit::SLOWER`] if a list has a regression.
pub fn run(args: &BenchArgs, other: &Path) -> anyhow::Result<ExitCode> {
    if args.files.iter().any(|file| file.as_os_str() == STANDARD_INPUT) {
        bail!("Standard input cannot be read by two programs. Write it to a file first.");
    }
    let form = args.report_form()?;
    let other = resolve_program(other)?;
    let inputs = args.inputs();
    let mut out = args.out.open(&inputs)?;
    let files = ReportFiles::open(args, &inputs)?;
    let cancel = interrupt::flag()?;
    let this = env::current_exe().context("This program cannot be found to be run again")?;
    let programs = [this, other];
    let bar = progress::of_time(!args.quiet, millis(args.comparison.time));
    let begin = Instant::now();
    let result = Comparison::new(args, &programs, &cancel, begin).run(&bar);
    bar.finish_and_clear();
    if cancel.load(Ordering::Relaxed) {
        return Ok(interrupt::report(&format!("Stopped after {:.0} s", begin.elapsed().as_secs_f64())));
    }
    let report = match result {
        Err(error) if error.is::<Disagreement>() => {
            print::status_line(&error.to_string());
            return Ok(ExitCode::from(exit::DISAGREED));
        }
        Err(error) if error.is::<CannotTime>() => return Ok(ExitCode::from(exit::FAILED)),
        report => report?,
    };
    let json = || anyhow::Ok(serde_json::to_string_pretty(&report)? + "\n");
    let text = match form {
        BenchReportForm::Json => json()?,
        BenchReportForm::Markdown => report.markdown(),
        BenchReportForm::Table => report.table(),
    };
    out.write(&text)?;
    out.finish()?;
    save(files.json, json)?;
    save(files.markdown, || Ok(report.markdown()))?;
    if !args.quiet {
        let lists: BTreeMap<&str, u64> =
            report.results.iter().map(|row| (row.file.as_str(), row.puzzles)).collect();
        warn_of_short_lists(lists.into_iter());
    }
    Ok(if report.regressions > 0 { ExitCode::from(exit::SLOWER) } else { ExitCode::SUCCESS })
}

/// The path of the other program, or its name where `PATH` has that. A name that `PATH` does not
/// have may be that of a program in the current folder.
///
/// # Errors
/// There is nothing of that name, or it is no program.
fn resolve_program(named: &Path) -> anyhow::Result<PathBuf> {
    let is_program = |path: &Path| {
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let has_folder = named.as_os_str().as_bytes().contains(&b'/');
    let folders = env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    if !has_folder && env::split_paths(&folders).any(|folder| is_program(&folder.join(named))) {
        return Ok(named.to_owned());
    }
    let path = if has_folder { named.to_owned() } else { Path::new(".").join(named) };
    let name = named.display();
    if is_program(&path) {
        Ok(path)
    } else if path.exists() {
        bail!(
            "--compare takes another build of sudoku, a program such as ./sudoku-before; {name} is no program."
        )
    } else {
        bail!("There is no program {name}. --compare takes another build of sudoku, such as ./sudoku-before.")
    }
}

/// A comparison and the turns so far.
struct Comparison<'a> {
    args: &'a BenchArgs,
    programs: &'a [PathBuf; 2],
    cancel: &'a Arc<AtomicBool>,
    begin: Instant,
    rows: Vec<(TimedRow, Vec<[TimedTurn; 2]>)>,
    processes: u32,
}

impl<'a> Comparison<'a> {
    const fn new(
        args: &'a BenchArgs,
        programs: &'a [PathBuf; 2],
        cancel: &'a Arc<AtomicBool>,
        begin: Instant,
    ) -> Self {
        Self { args, programs, cancel, begin, rows: Vec::new(), processes: 0 }
    }

    /// Takes turns until the time is over, or every row is decided.
    fn run(mut self, bar: &Bar) -> anyhow::Result<ComparisonReport> {
        loop {
            bar.set_message("starting both");
            let (this, this_handshake) = self.start_this()?;
            let (other, other_handshake) = self.start_other()?;
            self.check_rows(&this_handshake.rows, &other_handshake.rows)?;
            self.processes += 1;
            let places = |handshake: &Handshake| -> Vec<usize> {
                let place = |row: &TimedRow| handshake.rows.iter().position(|other| other.is_like(row));
                self.rows.iter().filter_map(|(row, _)| place(row)).collect()
            };
            let places = [places(&this_handshake), places(&other_handshake)];
            let mut processes = [this, other];
            // The remaining time is shared among the remaining processes.
            let left = self.args.comparison.time.saturating_sub(self.begin.elapsed());
            let share = left / (PROCESSES.saturating_sub(self.processes) + 1);
            let end = Instant::now() + share;
            let mut pair = 0;
            while pair == 0 || Instant::now() < end {
                for row in 0..self.rows.len() {
                    bar.set_position(millis(self.begin.elapsed()));
                    bar.set_message(self.rows[row].0.to_string());
                    let turns = take_turns(&mut processes, [places[0][row], places[1][row]], pair)?;
                    if self.rows[row].1.len() < MOST_PAIRS {
                        self.rows[row].1.push(turns);
                    }
                    if self.cancel.load(Ordering::Relaxed) {
                        return Ok(self.report([this_handshake, other_handshake]));
                    }
                }
                pair += 1;
            }
            for process in processes {
                process.finish()?;
            }
            let is_enough = self.processes >= PROCESSES / 2 && self.is_decided();
            let has_pairs = self.rows.iter().all(|(_, pairs)| Interval::of(&ratios(pairs, wall)).is_some());
            if has_pairs && (is_enough || self.begin.elapsed() >= self.args.comparison.time) {
                return Ok(self.report([this_handshake, other_handshake]));
            }
        }
    }

    /// Starts this program.
    ///
    /// # Errors
    /// [`CannotTime`]; it ended for a reason that it did not print.
    fn start_this(&self) -> anyhow::Result<(Process, Handshake)> {
        let mut process = Process::start(&self.programs[0], self.args, self.cancel)?;
        let error = match process.receive() {
            Ok(handshake) => return Ok((process, handshake)),
            Err(error) => error,
        };
        if process.end()?.code() == Some(exit::FAILED.into()) {
            return Err(CannotTime.into());
        }
        Err(error.context("This program ended before its first turn"))
    }

    /// Starts the other program.
    ///
    /// # Errors
    /// It does not take turns, or does so in another way.
    fn start_other(&self) -> anyhow::Result<(Process, Handshake)> {
        let mut process = Process::start(&self.programs[1], self.args, self.cancel)?;
        let name = self.programs[1].display();
        let Ok(handshake) = process.receive::<Handshake>() else {
            bail!("{name} cannot be compared with: it is older than --compare, or another program.");
        };
        if handshake.protocol != PROTOCOL {
            bail!("{name} cannot be compared with: it takes turns in another way than this program.");
        }
        Ok((process, handshake))
    }

    /// Checks that both programs time the same rows and gave the same answers.
    fn check_rows(&mut self, this: &[TimedRow], other: &[TimedRow]) -> anyhow::Result<()> {
        if self.rows.is_empty() {
            let common = this.iter().filter(|row| other.iter().any(|other| other.is_like(row)));
            self.rows = common.map(|row| (row.clone(), Vec::new())).collect();
        }
        for (row, _) in &self.rows {
            let of = |rows: &[TimedRow]| rows.iter().find(|other| other.is_like(row)).cloned();
            let (Some(this), Some(other)) = (of(this), of(other)) else {
                bail!("{row} is not timed every time.");
            };
            if this != other {
                let found = |of: &TimedRow| {
                    format!("{}, errors {:?}", print::counted(of.puzzles, "puzzle"), of.errors)
                };
                let (this, other) = (found(&this), found(&other));
                let what = format!("The programs disagree about {row}: {this} here, {other} there.");
                return Err(Disagreement(what).into());
            }
        }
        if self.rows.is_empty() {
            bail!(
                "The programs have nothing in common that could be timed. Name another --strategy or --backend."
            );
        }
        Ok(())
    }

    /// Is it decided of every row whether it is a regression? Never without a limit, because more
    /// pairs then still narrow the interval.
    fn is_decided(&self) -> bool {
        let Some(Percent(limit)) = self.args.comparison.max_regression else { return false };
        let is_decided = |pairs: &[[TimedTurn; 2]], part: fn(&TimedTurn) -> f64| {
            Interval::of(&ratios(pairs, part)).is_some_and(|Interval { low, high, .. }| {
                percent(high) < limit || percent(low) >= limit && self.processes >= PROCESSES
            })
        };
        self.rows.iter().all(|(_, pairs)| is_decided(pairs, wall) && is_decided(pairs, processor))
    }

    fn report(self, handshakes: [Handshake; 2]) -> ComparisonReport {
        let limit = self.args.comparison.max_regression;
        let results: Vec<ComparedRow> =
            self.rows.iter().filter_map(|(row, pairs)| judge(row, pairs, limit)).collect();
        let [this, other] = self.programs.clone();
        let [this_handshake, other_handshake] = handshakes;
        let program = |path, handshake: Handshake| Program {
            path,
            version: handshake.version,
            commit: handshake.commit,
            toolchain: handshake.toolchain,
        };
        ComparisonReport {
            schema_version: SCHEMA_VERSION,
            machine: Machine::this(),
            settings: BenchSettings::of(self.args),
            this: program(this, this_handshake),
            other: program(other, other_handshake),
            processes: self.processes,
            max_regression_percent: limit.map(|Percent(limit)| limit),
            regressions: results.iter().filter(|row| row.verdict == RowVerdict::Regression).count(),
            results,
        }
    }
}

impl TimedRow {
    /// Is the same thing timed, whatever the answers?
    fn is_like(&self, other: &Self) -> bool {
        (&self.file, &self.strategy, &self.backend, &self.kind)
            == (&other.file, &other.strategy, &other.backend, &other.kind)
    }
}

impl std::fmt::Display for TimedRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, strategy, backend, kind, .. } = self;
        match backend {
            Some(backend) => write!(f, "{file}: {strategy} on {backend} ({kind})"),
            None => write!(f, "{file}: {strategy} ({kind})"),
        }
    }
}

const fn wall(turn: &TimedTurn) -> f64 {
    turn.wall
}

const fn processor(turn: &TimedTurn) -> f64 {
    turn.processor
}

/// The time of this program relative to the other, pair by pair.
fn ratios(pairs: &[[TimedTurn; 2]], part: fn(&TimedTurn) -> f64) -> Vec<f64> {
    pairs.iter().map(|[this, other]| part(this) / part(other).max(1e-12)).collect()
}

/// A ratio of times as a difference in per cent.
fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

/// The verdict on the pairs of a row; `None` if they are too few.
///
/// A row is slower if the whole interval lies above zero, and it is a regression if, besides, the
/// interval reaches the limit. The same build, or a noisy machine, fails the first test; a
/// slow-down of exactly the limit passes both. Processor time is judged as well as wall time,
/// because other programs on the machine disturb it less.
fn judge(row: &TimedRow, pairs: &[[TimedTurn; 2]], limit: Option<Percent>) -> Option<ComparedRow> {
    let intervals = [Interval::of(&ratios(pairs, wall))?, Interval::of(&ratios(pairs, processor))?];
    let is_slower = |interval: &Interval| interval.low > 1.0;
    let is_too_slow = |interval: &Interval| {
        is_slower(interval) && limit.is_some_and(|Percent(limit)| percent(interval.high) >= limit)
    };
    let verdict = if intervals.iter().any(is_too_slow) {
        RowVerdict::Regression
    } else if intervals.iter().any(is_slower) {
        RowVerdict::Slower
    } else if intervals.iter().any(|interval| interval.high < 1.0) {
        RowVerdict::Faster
    } else {
        RowVerdict::Same
    };
    let change = |Interval { low, median, high }: Interval| Change {
        percent: rounded(percent(median), 100.0),
        low_percent: rounded(percent(low), 100.0),
        high_percent: rounded(percent(high), 100.0),
    };
    let rate = |side: usize| {
        let mut times: Vec<f64> = pairs.iter().map(|pair| pair[side].wall).collect();
        times.sort_unstable_by(f64::total_cmp);
        rounded(row.puzzles as f64 / times[times.len() / 2].max(1e-12), 10.0)
    };
    let [wall_time, processor_time] = intervals.map(change);
    Some(ComparedRow {
        file: row.file.clone(),
        order: row.order.clone(),
        strategy: row.strategy.clone(),
        backend: row.backend.clone(),
        kind: row.kind.clone(),
        puzzles: row.puzzles,
        pairs: pairs.len(),
        puzzles_per_second: RatePair { this: rate(0), other: rate(1) },
        wall_time,
        processor_time,
        verdict,
    })
}

/// Both programs take a turn on a row; which one is first alternates.
fn take_turns(
    processes: &mut [Process; 2],
    places: [usize; 2],
    pair: usize,
) -> anyhow::Result<[TimedTurn; 2]> {
    let sides = if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] };
    let mut turns = [TimedTurn { wall: 0.0, processor: 0.0 }; 2];
    for side in sides {
        turns[side] = processes[side].turn(places[side])?;
    }
    Ok(turns)
}

/// A program that takes turns.
struct Process {
    child: Child,
    path: PathBuf,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    cancel: Arc<AtomicBool>,
}

impl Process {
    fn start(path: &Path, args: &BenchArgs, cancel: &Arc<AtomicBool>) -> anyhow::Result<Self> {
        let name = path.display();
        let mut child = Command::new(path)
            .arg("bench")
            .args(args.command_line())
            .arg("--turns")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{name} cannot be run"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("{name} has no standard input or output");
        };
        let (path, output) = (path.to_owned(), BufReader::new(output));
        Ok(Self { child, path, input, output, cancel: Arc::clone(cancel) })
    }

    fn turn(&mut self, row: usize) -> anyhow::Result<TimedTurn> {
        let sent = writeln!(self.input, "{row}").and_then(|()| self.input.flush());
        let ended = || format!("{} ended before its turn", self.path.display());
        sent.with_context(ended)?;
        let path = self.path.clone();
        self.receive().with_context(|| format!("{} ended in its turn", path.display()))
    }

    /// Reads the next line. A signal may come to this process alone, so the other is killed then.
    fn receive<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        while !self.has_output()? {
            if self.cancel.load(Ordering::Relaxed) {
                self.child.kill()?;
                bail!("it was interrupted.");
            }
        }
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).map_err(|_| anyhow!("it printed no report of turns."))
    }

    /// Waits for output, or the end of it, until it is time to look at the flag.
    fn has_output(&self) -> io::Result<bool> {
        let wait = Timespec::try_from(interrupt::POLL).ok();
        match poll(&mut [PollFd::new(self.output.get_ref(), PollFlags::IN)], wait.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends it by closing its input.
    fn end(self) -> io::Result<ExitStatus> {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        child.wait()
    }

    /// Ends it, and checks that nothing failed.
    fn finish(self) -> anyhow::Result<()> {
        let path = self.path.clone();
        if !self.end()?.success() {
            bail!("{} failed at its end.", path.display());
        }
        Ok(())
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl ComparisonReport {
    /// The lines above the table.
    fn heading(&self) -> Vec<String> {
        let Self { machine, settings, processes, .. } = self;
        let program = |name: &str, Program { path, version, commit, toolchain }: &Program| {
            format!("{name}: {} (sudoku {version}, commit {commit}, {toolchain})", path.display())
        };
        let mut lines = vec![
            format!("{}, {}", machine.cpu, print::counted(machine.cores as u64, "core")),
            program("this program", &self.this),
            program("the other", &self.other),
            format!(
                "question {}, {}, processes of each program in turns: {processes}",
                settings.question,
                print::counted(settings.threads as u64, "thread"),
            ),
            TIMED.to_owned(),
            "times: how much more this program takes than the other; median of the pairs (99 % confidence interval)"
                .to_owned(),
        ];
        if self.this.commit == self.other.commit {
            lines.push("Both programs are built from the same commit.".to_owned());
        }
        lines.push(match (self.max_regression_percent, self.regressions) {
            (None, _) => "No limit was given; --max-regression sets one.".to_owned(),
            (Some(limit), 0) => format!("No regression of {limit} % or more."),
            (Some(limit), rows) => {
                let regressions = print::counted(rows as u64, "regression");
                let [low, high] = self.slow_down();
                format!(
                    "{regressions}: slower by {low:.1} to {high:.1} %, where less than {limit} % is allowed."
                )
            }
        });
        lines
    }

    /// The least and the most by which the regressions may be slower, in per cent.
    fn slow_down(&self) -> [f64; 2] {
        let rows = self.results.iter().filter(|row| row.verdict == RowVerdict::Regression);
        rows.map(|row| {
            // The time that tells more: that of the wall is disturbed by other programs.
            let slower = |one: &Change, other: &Change| one.low_percent.total_cmp(&other.low_percent);
            [row.wall_time, row.processor_time]
                .into_iter()
                .max_by(slower)
                .map_or([0.0; 2], |change| [change.low_percent, change.high_percent])
        })
        .fold([f64::INFINITY, 0.0], |[low, high], [row_low, row_high]| [low.min(row_low), high.max(row_high)])
    }

    /// The cells of the table, the heading first.
    fn cells(&self) -> Vec<Vec<String>> {
        let head = [
            "list",
            "strategy",
            "back end",
            "kind",
            "pairs",
            "puzzles/s",
            "wall time",
            "processor time",
            "verdict",
        ];
        let mut cells = vec![head.map(str::to_owned).to_vec()];
        for row in &self.results {
            let list = Path::new(&row.file)
                .file_name()
                .map_or(row.file.clone(), |name| name.to_string_lossy().into_owned());
            cells.push(vec![
                list,
                row.strategy.clone(),
                row.backend.clone().unwrap_or_else(|| "-".to_owned()),
                row.kind.clone(),
                print::thousands(row.pairs as u64),
                print::rate(row.puzzles_per_second.this),
                row.wall_time.to_string(),
                row.processor_time.to_string(),
                row.verdict.to_string(),
            ]);
        }
        cells
    }

    /// For a terminal.
    fn table(&self) -> String {
        let lines = self.heading();
        let heading = match fit::stdout_columns() {
            Some(columns) => lines.iter().flat_map(|line| fit::wrapped(line, columns)).collect(),
            None => lines,
        };
        format!("{}\n\n{}", heading.join("\n"), fit::table(&self.cells(), 4, 2, fit::stdout_columns()))
    }

    /// For a comment on a pull request.
    fn markdown(&self) -> String {
        let mut text = String::new();
        for line in self.heading() {
            text += &format!("- {line}\n");
        }
        text.push('\n');
        for (index, row) in self.cells().iter().enumerate() {
            text += &format!("| {} |\n", row.join(" | "));
            if index == 0 {
                text += "|---|---|---|---|---:|---:|---:|---:|---|\n";
            }
        }
        text
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { percent, low_percent, high_percent } = self;
        write!(f, "{percent:+.1} % ({low_percent:+.1} to {high_percent:+.1})")
    }
}

impl std::fmt::Display for RowVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Regression => "REGRESSION",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> TimedRow {
        TimedRow {
            file: "lists/a.txt".to_owned(),
            order: "9x9".to_owned(),
            strategy: "fast".to_owned(),
            backend: None,
            kind: "text".to_owned(),
            puzzles: 1000,
            errors: BTreeMap::new(),
        }
    }

    /// Pairs in which this program takes `ratio` times as long, with noise.
    fn pairs(ratio: f64, noise: f64, count: u32) -> Vec<[TimedTurn; 2]> {
        let pair = |k: u32| {
            // From -1 to 1, in no order.
            let off = f64::from(k * 7 % 11) / 5.0 - 1.0;
            let turn = |time: f64| TimedTurn { wall: time, processor: time };
            [turn(ratio * (1.0 + noise * off)), turn(1.0)]
        };
        (0..count).map(pair).collect()
    }

    #[test]
    fn verdicts_are_those_of_the_distribution() {
        let verdict = |ratio, noise, limit: Option<f64>| {
            judge(&row(), &pairs(ratio, noise, 44), limit.map(Percent)).unwrap().verdict
        };
        assert_eq!(verdict(1.0, 0.02, Some(5.0)), RowVerdict::Same);
        assert_eq!(verdict(1.0, 0.2, Some(5.0)), RowVerdict::Same, "noise is no slow-down");
        assert_eq!(verdict(1.05, 0.01, Some(5.0)), RowVerdict::Regression);
        assert_eq!(verdict(1.05, 0.04, Some(5.0)), RowVerdict::Regression);
        assert_eq!(verdict(1.02, 0.01, Some(5.0)), RowVerdict::Slower);
        assert_eq!(verdict(1.2, 0.01, None), RowVerdict::Slower);
        assert_eq!(verdict(0.9, 0.01, Some(5.0)), RowVerdict::Faster);
        assert!(judge(&row(), &pairs(1.0, 0.0, 7), None).is_none());
    }

    #[test]
    fn processor_time_alone_may_tell() {
        let mut pairs = pairs(1.0, 0.2, 44);
        for (k, [this, _]) in (0..).zip(&mut pairs) {
            this.processor = 1.06 + f64::from(k % 3) / 1000.0;
        }
        assert_eq!(judge(&row(), &pairs, Some(Percent(5.0))).unwrap().verdict, RowVerdict::Regression);
    }
}
