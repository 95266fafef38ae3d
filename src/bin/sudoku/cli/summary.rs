//! Summaries of runs: one line of totals, and tables of search costs.

use std::time::Duration;

use sudoku_stream::answer::Tally;

use super::fit;
use super::print::{by_code, counted, in_time, thousands};

/// The totals of a run in one line.
pub fn summary(tally: &Tally, time: Duration) -> String {
    format!("{}: {}", in_time(tally.answers, "puzzle", time), outcomes(tally))
}

/// ` 3 lines passed over.`, or nothing if none were.
pub fn passed_over(lines: u64) -> String {
    if lines == 0 { String::new() } else { format!(" {} passed over.", counted(lines, "line")) }
}

/// `6,212 answered, 3 error lines (2 no_solution, 1 wrong_length).`
pub fn outcomes(tally: &Tally) -> String {
    let errors = tally.error_count();
    let mut line = format!("{} answered", thousands(tally.answers.saturating_sub(errors)));
    if errors > 0 {
        line += &format!(", {}", error_lines(tally));
    }
    line + "."
}

/// `3 error lines (2 no_solution, 1 wrong_length)`.
pub fn error_lines(tally: &Tally) -> String {
    format!("{} ({})", counted(tally.error_count(), "error line"), by_code(&tally.errors))
}

/// Search costs: one line for one puzzle, a table for several. A server reports only totals.
pub fn stats(tally: &Tally, time: Duration) -> String {
    let totals = tally.metrics.named();
    let Some(costs) = tally.costs.as_ref().filter(|costs| costs.puzzles() > 1) else {
        let is_counted = |name| tally.metrics.are_complete() || !EFFORT.contains(&name);
        let figures = totals.iter().filter(|(name, _)| is_counted(name));
        let words: Vec<String> =
            figures.map(|(name, total)| format!("{name} {}", thousands(*total))).collect();
        return format!("{}; time {:.3} ms", words.join(", "), time.as_secs_f64() * 1e3);
    };
    let mut rows =
        vec![["", "total", "mean", "median", "90 %", "99 %", "greatest"].map(str::to_owned).to_vec()];
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
        rows.push(vec![name, total, format!("{:.2}", cost.mean), median, ninety, ninety_nine, greatest]);
    }
    fit::table(&rows, 1, 1, fit::stderr_columns()).trim_end().to_owned()
}

/// The costs that are not counted where the kernel searches many puzzles together.
const EFFORT: [&str; 2] = ["comparisons", "placements"];
