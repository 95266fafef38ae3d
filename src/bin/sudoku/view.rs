//! What a person sees: sentences, numbers and the progress bar.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sudoku_stream::answer::Tally;

use super::args::RunArgs;

/// Prints a line on standard error, if there is one.
pub fn status_line(line: &str) {
    // With standard error gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints text on standard output. A closed pipe is no error: its reader has seen enough.
pub fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Is standard output a terminal whose user likes colours?
pub fn is_painted() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() && !is_dumb
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// `1 puzzle`, `2 puzzles`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// A rate for a person, with three digits that mean something.
pub fn per_second(count: u64, time: Duration) -> String {
    rate(count as f64 / time.as_secs_f64().max(1e-9))
}

/// The same for a rate that is known already.
pub fn rate(per_second: f64) -> String {
    let unit = 10f64.powf(per_second.max(1e-3).log10().floor() - 2.0);
    indicatif::HumanFloatCount((per_second / unit).round() * unit).to_string()
}

/// The end of a run in one line.
pub fn summary(tally: &Tally, time: Duration) -> String {
    let errors = tally.error_count();
    let mut line = format!(
        "{} in {:.3} s, {} a second: {} answered",
        counted(tally.answers, "puzzle"),
        time.as_secs_f64(),
        per_second(tally.answers, time),
        thousands(tally.answers - errors),
    );
    if errors > 0 {
        line += &format!(", {}", error_lines(tally));
    }
    line + "."
}

/// `3 error lines (2 no_solution, 1 wrong_length)`.
pub fn error_lines(tally: &Tally) -> String {
    let kinds: Vec<String> =
        tally.errors.iter().map(|(code, count)| format!("{} {code}", thousands(*count))).collect();
    format!("{} ({})", counted(tally.error_count(), "error line"), kinds.join(", "))
}

/// What the searches cost: in one line for one puzzle, and as a table for several. A server tells only what they cost
/// together.
pub fn stats(tally: &Tally, time: Duration) -> String {
    let totals = tally.metrics.named();
    let Some(costs) = tally.costs.as_ref().filter(|costs| costs.puzzles() > 1) else {
        let is_counted = |name| tally.metrics.are_complete() || !EFFORT.contains(&name);
        let figures = totals.iter().filter(|(name, _)| is_counted(name));
        let words: Vec<String> =
            figures.map(|(name, total)| format!("{name} {}", thousands(*total))).collect();
        return format!("{}; time {:.3} ms", words.join(", "), time.as_secs_f64() * 1e3);
    };
    let mut rows = vec![["", "total", "mean", "median", "90 %", "99 %", "greatest"].map(str::to_owned)];
    for (cost, (name, total)) in costs.each().zip(totals) {
        if cost.puzzles == 0 {
            continue;
        }
        // Depths are not added up.
        let total = if name == "depth" { String::new() } else { thousands(total) };
        let name = if cost.puzzles == costs.puzzles() {
            name.to_owned()
        } else {
            format!("{name} ({})", counted(cost.puzzles, "puzzle"))
        };
        let [median, ninety, ninety_nine, greatest] =
            [cost.median, cost.ninety, cost.ninety_nine, cost.greatest].map(thousands);
        rows.push([name, total, format!("{:.2}", cost.mean), median, ninety, ninety_nine, greatest]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What is not counted where the kernel searches many puzzles together.
const EFFORT: [&str; 2] = ["comparisons", "placements"];

/// A progress bar on standard error; hidden unless that is a terminal.
pub fn progress_bar(args: &RunArgs, len_bytes: Option<u64>) -> ProgressBar {
    let template = if len_bytes.is_some() {
        "{wide_bar} {percent:>3} %  {eta} left  {msg}"
    } else {
        "{spinner} {binary_bytes}  {elapsed}  {msg}"
    };
    bar(wants_bar(args), len_bytes, template)
}

/// The same for a known number of puzzles that are made.
pub fn puzzles_bar(args: &RunArgs, puzzles: u64) -> ProgressBar {
    bar(wants_bar(args), Some(puzzles), "{wide_bar} {human_pos} of {human_len} puzzles  {eta} left  {msg}")
}

/// The same for a known number of runs.
pub fn runs_bar(is_wanted: bool, runs: u64) -> ProgressBar {
    bar(is_wanted, Some(runs), "{wide_bar} {pos} of {len} runs  {msg}")
}

/// The same for a known number of searches, with the time that is left.
pub fn searches_bar(args: &RunArgs, searches: u64) -> ProgressBar {
    bar(wants_bar(args), Some(searches), "{wide_bar} {human_pos} of {human_len} searches  {eta} left")
}

/// The same for a known time, in milliseconds.
pub fn time_bar(is_wanted: bool, milliseconds: u64) -> ProgressBar {
    bar(is_wanted, Some(milliseconds), "{wide_bar} {percent:>3} %  {msg}")
}

const fn wants_bar(args: &RunArgs) -> bool {
    !args.no_progress && !args.quiet
}

fn bar(is_wanted: bool, len: Option<u64>, template: &str) -> ProgressBar {
    let is_shown = is_wanted && io::stderr().is_terminal();
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(len, target);
    // A template that indicatif refuses would cost the bar its looks, not the run.
    ProgressStyle::with_template(template).map_or(bar.clone(), |style| bar.with_style(style))
}
