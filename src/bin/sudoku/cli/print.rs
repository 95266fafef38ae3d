//! Printing on standard output and standard error, and numbers for people.

use std::io::{self, Write as _};
use std::time::Duration;

use super::colour;

/// Prints a line on standard error: an error, a notice or a summary.
pub fn status_line(line: &str) {
    // Nobody reads a standard error that is closed.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints text on standard output. A closed pipe is no error, because its reader has seen enough.
pub fn stdout(text: &str) -> io::Result<()> {
    stdout_by(|| io::stdout().write_all(text.as_bytes()))
}

/// Has something print on standard output. A closed pipe is no error.
pub fn stdout_by(print: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    match print().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| stdout_error(&error)),
    }
}

/// An error of standard output, with its name.
pub fn stdout_error(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

/// Are there colours on standard output?
pub fn has_colours() -> bool {
    colour::on_standard_output()
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// `1 puzzle`, `2 puzzles`, `2 guesses`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", thousands(number))
}

/// `49,158 puzzles in 0.124 s, 396,000 a second`: what was done in a time.
pub fn in_time(number: u64, noun: &str, time: Duration) -> String {
    let rate = per_second(number, time);
    format!("{} in {:.3} s, {rate} a second", counted(number, noun), time.as_secs_f64())
}

/// `2 wrong_length, 1 rule_broken`: counts by code.
pub fn by_code<'a>(counts: impl IntoIterator<Item = (&'a &'static str, &'a u64)>) -> String {
    let kinds = counts.into_iter().map(|(code, count)| format!("{} {code}", thousands(*count)));
    kinds.collect::<Vec<_>>().join(", ")
}

/// A rate with three significant digits.
pub fn per_second(count: u64, time: Duration) -> String {
    rate(count as f64 / time.as_secs_f64().max(1e-9))
}

/// A number with three significant digits.
pub fn rate(per_second: f64) -> String {
    let unit = 10f64.powf(per_second.max(1e-3).log10().floor() - 2.0);
    indicatif::HumanFloatCount((per_second / unit).round() * unit).to_string()
}

/// A time in words: `0.04 ms`, `12 ms`, `1.3 s`.
pub fn milliseconds(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms < 1.0 => format!("{ms:.2} ms"),
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1e3 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1e3),
    }
}
