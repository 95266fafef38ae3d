//! Progress bars on standard error: where that is a terminal which shows no output, and once a run
//! has taken longer than a moment.

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use sudoku_stream::input::Reader;
use sudoku_stream::poison::IgnorePoison as _;

use super::run::ProgressArgs;
use super::{interrupt, print, shown_bar};

/// A run that ends sooner shows no bar.
const DELAY: Duration = Duration::from_millis(500);

/// The time after which a bar is drawn again, though nothing has moved.
const TICK: Duration = Duration::from_secs(1);

/// A progress bar. Dropping it clears it, so an error that ends a run leaves no half bar.
pub struct Bar {
    /// The bar of indicatif; `None` if none is ever drawn, because making one costs a short run more
    /// than its puzzle.
    drawn: Option<ProgressBar>,
    /// The position of the end, where it is known.
    length: Option<u64>,
    /// What draws it, until the end.
    clock: Mutex<Option<Ticker>>,
    /// The position, because a bar that is cleared counts as complete.
    position: AtomicU64,
}

/// The thread that draws a bar when it is time, because a run may be long at its first puzzle, and
/// again every second, because that shows that it goes on.
struct Ticker {
    thread: JoinHandle<()>,
    /// The thread ends when this is dropped.
    stop: Sender<()>,
}

impl Ticker {
    fn start(drawn: ProgressBar) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let goes_on = move |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let run = move || {
            if goes_on(DELAY) && draw(&drawn) {
                while goes_on(TICK) {
                    drawn.tick();
                }
            }
        };
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(run)?;
        Ok(Self { thread, stop })
    }

    /// Ends the thread.
    fn stop(self) {
        drop(self.stop);
        // A thread that has panicked draws nothing either.
        let _ = self.thread.join();
    }
}

/// Draws a bar from now on. False if a signal came.
fn draw(bar: &ProgressBar) -> bool {
    // Without the thread, the bar stays on the screen where a second signal ends the process.
    let _ = interrupt::start_thread();
    shown_bar::show(bar)
}

impl Bar {
    fn new(is_shown: bool, len: Option<u64>, template: &str) -> Self {
        let drawn = is_shown.then(|| {
            let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::hidden());
            // A template that indicatif refuses would cost the bar its looks, not the run.
            ProgressStyle::with_template(template)
                .map_or(bar.clone(), |style| bar.with_style(style.with_key("left", left)))
        });
        // Without its thread, a run has no bar.
        let clock = drawn.clone().and_then(|drawn| Ticker::start(drawn).ok());
        Self { drawn, length: len, clock: Mutex::new(clock), position: AtomicU64::new(0) }
    }

    /// A bar that is never drawn.
    pub fn hidden() -> Self {
        Self::new(false, None, "")
    }

    /// Whether it is never drawn, so that nobody sees the message.
    pub const fn is_hidden(&self) -> bool {
        self.drawn.is_none()
    }

    /// Moves to a position.
    pub fn set_position(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
        if let Some(drawn) = &self.drawn {
            drawn.set_position(position);
        }
    }

    /// Moves to a position, and says how many of `things` a second there have been since `begin`.
    pub fn advance(&self, position: u64, count: u64, things: &str, begin: Instant) {
        if !self.is_hidden() {
            self.set_position(position);
            let rate = print::per_second(count, begin.elapsed());
            self.set_message(format!("{rate} {things}/s"));
        }
    }

    /// Moves on.
    pub fn inc(&self, steps: u64) {
        let before = self.position.fetch_add(steps, Ordering::Relaxed);
        self.set_position(before + steps);
    }

    /// The position.
    pub fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    /// The position of the end, where it is known.
    pub const fn length(&self) -> Option<u64> {
        self.length
    }

    /// Sets the text behind the bar.
    pub fn set_message(&self, message: impl Into<Cow<'static, str>>) {
        if let Some(drawn) = &self.drawn {
            drawn.set_message(message);
        }
    }

    /// Estimates the time left from here on, because a resumed run did not take the time so far.
    pub fn reset_eta(&self) {
        if let Some(drawn) = &self.drawn {
            drawn.reset_eta();
        }
    }

    /// Takes the bar away while `print` writes to the terminal.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.drawn {
            Some(drawn) => drawn.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away for good.
    pub fn finish_and_clear(&self) {
        let clock = self.clock.lock().ignore_poison().take();
        if let Some(clock) = clock {
            clock.stop();
        }
        shown_bar::forget();
        if let Some(drawn) = &self.drawn {
            drawn.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish_and_clear();
    }
}

/// The bar, unless the output is the terminal that would show it: the file at a path, or standard
/// output.
pub fn beside(output: Option<&Path>, bar: impl FnOnce() -> Bar) -> Bar {
    let metadata = |stream: &dyn AsFd| File::from(stream.as_fd().try_clone_to_owned()?).metadata();
    let out = match output {
        Some(path) => fs::metadata(path),
        None => metadata(&io::stdout()),
    };
    if is_one_terminal(out.ok().as_ref(), metadata(&io::stderr()).ok().as_ref()) {
        Bar::hidden()
    } else {
        bar()
    }
}

/// Are an output and standard error the same terminal? A bar comes only where the latter is one.
fn is_one_terminal(out: Option<&Metadata>, err: Option<&Metadata>) -> bool {
    let device = |of: Option<&Metadata>| of.filter(|of| of.file_type().is_char_device()).map(Metadata::rdev);
    let (Some(out), Some(err)) = (device(out), device(err)) else { return false };
    // By this name every terminal has the same number.
    let alias = fs::metadata("/dev/tty").ok().map(|metadata| metadata.rdev());
    out == err || [out, err].iter().any(|&device| Some(device) == alias)
}

/// A bar over the bytes of an input, or a spinner where its length is unknown. None while somebody
/// types it, because the bar would be drawn between the lines.
pub fn of_bytes(args: &ProgressArgs, reader: &Reader) -> Bar {
    let (first, end) = reader.span();
    of_inputs(args, reader, end.map(|end| end.saturating_sub(first)))
}

/// The same over several inputs of so many bytes, the first of which is open.
pub fn of_inputs(args: &ProgressArgs, reader: &Reader, len_bytes: Option<u64>) -> Bar {
    let template = if len_bytes.is_some() {
        "{wide_bar} {percent:>3} %  {left}  {msg}"
    } else {
        "{spinner} {binary_bytes}  {elapsed}  {msg}"
    };
    bar(args.wants_bar() && !reader.is_typed(), len_bytes, template)
}

/// A bar over bytes that are copied.
pub fn of_copy(args: &ProgressArgs, bytes: u64) -> Bar {
    bar(args.wants_bar(), Some(bytes), "{wide_bar} {percent:>3} %  {left}")
}

/// A bar over puzzles that are made.
pub fn of_puzzles(args: &ProgressArgs, puzzles: u64) -> Bar {
    bar(args.wants_bar(), Some(puzzles), "{wide_bar} {human_pos} of {human_len} puzzles  {left}  {msg}")
}

/// A bar over timed runs.
pub fn of_runs(is_wanted: bool, runs: u64) -> Bar {
    bar(is_wanted, Some(runs), "{wide_bar} {pos} of {len} runs  {msg}")
}

/// A bar over searches.
pub fn of_searches(args: &ProgressArgs, searches: u64) -> Bar {
    let template = "{wide_bar} {human_pos} of {human_len} searches  {left}";
    bar(args.wants_bar(), Some(searches), template)
}

/// A bar over a time, in milliseconds.
pub fn of_time(is_wanted: bool, milliseconds: u64) -> Bar {
    bar(is_wanted, Some(milliseconds), "{wide_bar} {percent:>3} %  {msg}")
}

/// The time that is left; where it cannot be estimated, the time so far, because that shows that the
/// run goes on.
fn left(state: &ProgressState, out: &mut dyn fmt::Write) {
    let (left, so_far) = (state.eta(), whole_seconds(state.elapsed()));
    let is_done = state.len() == Some(state.pos());
    // Writing to a line in memory cannot fail.
    let _ = if state.pos() == 0 {
        write!(out, "nothing yet after {so_far:#}")
    } else if left.is_zero() && !is_done {
        // Nothing has moved since a run was resumed, or since the next of several inputs began.
        write!(out, "after {so_far:#}")
    } else {
        write!(out, "{:#} left", HumanDuration(left))
    };
}

/// A time in words, of which a second that has begun is no part: half a second would be rounded up.
fn whole_seconds(time: Duration) -> HumanDuration {
    HumanDuration(Duration::from_secs(time.as_secs()))
}

fn bar(is_wanted: bool, len: Option<u64>, template: &str) -> Bar {
    Bar::new(is_wanted && io::stderr().is_terminal(), len, template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_counts_once_it_is_over() {
        for (milliseconds, words) in [(500, "0s"), (999, "0s"), (1000, "1s"), (1999, "1s"), (59_999, "59s")] {
            let time = whole_seconds(Duration::from_millis(milliseconds));
            assert_eq!(format!("{time:#}"), words, "{milliseconds} ms");
        }
    }
}
