//! Progress bars on standard error; hidden unless that is a terminal.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::OutputArgs;
use super::run::ProgressArgs;

/// The bar, unless the output goes to a terminal, because lines of output would mix with the bar.
pub fn beside(out: &OutputArgs, bar: impl FnOnce() -> ProgressBar) -> ProgressBar {
    if out.is_terminal() { ProgressBar::hidden() } else { bar() }
}

/// A bar over the bytes of an input, or a spinner where its length is unknown.
pub fn of_bytes(args: &ProgressArgs, len_bytes: Option<u64>) -> ProgressBar {
    let template = if len_bytes.is_some() {
        "{wide_bar} {percent:>3} %  {eta} left  {msg}"
    } else {
        "{spinner} {binary_bytes}  {elapsed}  {msg}"
    };
    bar(args.wants_bar(), len_bytes, template)
}

/// A bar over puzzles that are made.
pub fn of_puzzles(args: &ProgressArgs, puzzles: u64) -> ProgressBar {
    bar(args.wants_bar(), Some(puzzles), "{wide_bar} {human_pos} of {human_len} puzzles  {eta} left  {msg}")
}

/// A bar over timed runs.
pub fn of_runs(is_wanted: bool, runs: u64) -> ProgressBar {
    bar(is_wanted, Some(runs), "{wide_bar} {pos} of {len} runs  {msg}")
}

/// A bar over searches.
pub fn of_searches(args: &ProgressArgs, searches: u64) -> ProgressBar {
    let template = "{wide_bar} {human_pos} of {human_len} searches  {eta} left";
    bar(args.wants_bar(), Some(searches), template)
}

/// A bar over a time, in milliseconds.
pub fn of_time(is_wanted: bool, milliseconds: u64) -> ProgressBar {
    bar(is_wanted, Some(milliseconds), "{wide_bar} {percent:>3} %  {msg}")
}

fn bar(is_wanted: bool, len: Option<u64>, template: &str) -> ProgressBar {
    let is_shown = is_wanted && io::stderr().is_terminal();
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(len, target);
    // A template that indicatif refuses would cost the bar its looks, not the run.
    ProgressStyle::with_template(template).map_or(bar.clone(), |style| bar.with_style(style))
}
