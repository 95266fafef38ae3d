//! Playing a trace on a terminal: the grid, the step, and a line of keys at the bottom.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::Term;
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::Step;
use sudoku_stream::text::Format;

use super::history::History;
use super::keys::PlaybackKey;
use super::picture::{self, Painter, Styles};
use super::terminal::{self, Terminal, TerminalEvent};
use super::{SearchEnd, style_of};
use crate::cli::{fit, print};

/// The shortest time between two drawings: about 60 a second, which is what eyes and terminals
/// follow.
const MIN_DRAW_INTERVAL: Duration = Duration::from_millis(16);

/// How often signals and the size of the terminal are looked at.
const POLL: Duration = Duration::from_millis(50);

/// The times a digit that keys choose from, in milliseconds.
const DELAYS_MS: [u64; 13] = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/// The longest line about a step: its number, and the longest sentence.
const STEP_COLUMNS: usize = 72;

const RESET: &str = "\x1b[0m";
const FAINT: &str = "\x1b[2m";

/// Whether the trace goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Continue,
    /// The user, or a signal, has ended it.
    Stop,
}

/// A trace that plays on a terminal.
pub struct Playback<'a> {
    terminal: Terminal,
    painter: Painter<'a>,
    history: History,
    /// The time for a digit.
    delay: Duration,
    is_paused: bool,
    /// The end of the search, once it has come.
    end: Option<SearchEnd>,
    /// Lines and columns of the terminal, when it was last drawn.
    size: (usize, usize),
    /// The row of the grid at the top, where not all fit.
    top: usize,
    has_colours: bool,
    drawn_at: Option<Instant>,
    /// When keys were last looked at.
    polled_at: Instant,
    cancel: &'a AtomicBool,
}

impl<'a> Playback<'a> {
    /// Can a terminal move its cursor, and is its size known?
    pub fn is_possible() -> bool {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        !is_dumb && Term::stdout().size_checked().is_some()
    }

    /// Takes the terminal, and draws the puzzle.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn new(
        format: &'a Format,
        puzzle: &Grid,
        delay: Duration,
        cancel: &'a AtomicBool,
    ) -> anyhow::Result<Self> {
        let has_colours = print::has_colours();
        let mut playback = Self {
            terminal: Terminal::take()?,
            painter: Painter { format, clues: puzzle.clone(), styles: Styles::new(has_colours) },
            history: History::new(puzzle),
            delay,
            is_paused: false,
            end: None,
            size: (0, 0),
            top: 0,
            has_colours,
            drawn_at: None,
            polled_at: Instant::now(),
            cancel,
        };
        playback.draw()?;
        Ok(playback)
    }

    /// Shows a step for its time, or until the user goes on.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn show(&mut self, number: u64, step: &Step, grid: &Grid) -> io::Result<Next> {
        self.history.push(number, *step, grid);
        self.play()
    }

    /// Shows the end. The user who paused can look back from there, and ends it.
    ///
    /// Then the terminal is given back, with the last grid and the words.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn end(mut self, end: &SearchEnd, is_stopped: bool) -> io::Result<()> {
        self.end = Some(end.clone());
        if self.is_paused && !is_stopped {
            while self.play()? == Next::Continue && self.is_paused {}
        }
        self.history.show_last();
        let columns = self.columns();
        let layout = picture::fitting(self.painter.clues.order(), columns);
        let mut lines = layout.map_or_else(Vec::new, |layout| {
            let mut lines = self.painter.whole(self.history.shown(), layout, false);
            lines.push(String::new());
            lines
        });
        lines.extend(self.words(end, columns));
        // The terminal is given back before.
        let Self { terminal, .. } = self;
        drop(terminal);
        print::stdout(&lines.into_iter().map(|line| line + "\n").collect::<String>())
    }

    /// Plays from the step that is shown to the last one, at the pace that the user wants.
    fn play(&mut self) -> io::Result<Next> {
        loop {
            let is_due = self.drawn_at.is_none_or(|at| at.elapsed() >= MIN_DRAW_INTERVAL);
            if is_due || self.is_paused || self.time_of_step() >= MIN_DRAW_INTERVAL {
                self.draw()?;
            }
            if self.linger()? == Next::Stop {
                return Ok(Next::Stop);
            }
            if !self.history.forward() {
                return Ok(Next::Continue);
            }
        }
    }

    /// Waits for as long as a step is shown, and does what keys ask for meanwhile.
    fn linger(&mut self) -> io::Result<Next> {
        let begin = Instant::now();
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Ok(Next::Stop);
            }
            let left =
                if self.is_paused { POLL } else { self.time_of_step().saturating_sub(begin.elapsed()) };
            if left.is_zero() && self.polled_at.elapsed() < MIN_DRAW_INTERVAL {
                return Ok(Next::Continue);
            }
            let event = self.terminal.wait(left.min(POLL))?;
            self.polled_at = Instant::now();
            match event {
                TerminalEvent::Nothing if left.is_zero() => return Ok(Next::Continue),
                TerminalEvent::Nothing => {
                    // Nobody can go on from a pause without keys.
                    if self.is_paused && !self.terminal.has_keys() {
                        return Ok(Next::Stop);
                    }
                    if self.terminal_size() != self.size {
                        self.draw()?;
                    }
                    continue;
                }
                TerminalEvent::Resumed | TerminalEvent::Key(PlaybackKey::Redraw) => self.size = (0, 0),
                TerminalEvent::Key(PlaybackKey::End) => return Ok(Next::Stop),
                TerminalEvent::Key(PlaybackKey::Pause) => self.is_paused = !self.is_paused,
                TerminalEvent::Key(PlaybackKey::Forward) => {
                    self.is_paused = true;
                    if self.end.is_none() || self.history.behind() > 0 {
                        return Ok(Next::Continue);
                    }
                }
                TerminalEvent::Key(PlaybackKey::Back) => {
                    self.is_paused = true;
                    self.history.back();
                }
                TerminalEvent::Key(PlaybackKey::Faster) => {
                    let faster = DELAYS_MS.map(Duration::from_millis).into_iter().rev();
                    self.delay = faster.into_iter().find(|&delay| delay < self.delay).unwrap_or(self.delay);
                }
                TerminalEvent::Key(PlaybackKey::Slower) => {
                    let slower = DELAYS_MS.map(Duration::from_millis).into_iter();
                    self.delay = slower.into_iter().find(|&delay| delay > self.delay).unwrap_or(self.delay);
                }
            }
            self.draw()?;
        }
    }

    /// How long the step that is shown is shown.
    fn time_of_step(&self) -> Duration {
        match self.history.shown().step {
            Some(Step::Place { .. } | Step::Backtrack { .. }) => self.delay,
            // There are many of these, and they change nothing.
            Some(Step::Conflict(_)) => self.delay / 4,
            _ => Duration::ZERO,
        }
    }

    /// Lines and columns.
    fn terminal_size(&self) -> (usize, usize) {
        // One that does not say it any more is as large as it was.
        let size = Term::stdout().size_checked();
        size.map_or(self.size, |(lines, columns)| (lines.into(), columns.into()))
    }

    fn columns(&self) -> usize {
        self.terminal_size().1
    }

    /// The words of the end, in its colour.
    fn words(&self, end: &SearchEnd, columns: usize) -> Vec<String> {
        let words = fit::wrapped(&end.words, columns.saturating_sub(1));
        if !self.has_colours {
            return words;
        }
        words.into_iter().map(|line| format!("{}{line}{RESET}", style_of(end.kind))).collect()
    }

    /// The lines about the step that is shown.
    fn step(&self, columns: usize) -> Vec<String> {
        let frame = self.history.shown();
        if let (Some(end), 0) = (&self.end, self.history.behind()) {
            return self.words(end, columns);
        }
        let step = match &frame.step {
            Some(step) => format!("{}  {step}", print::thousands(frame.number)),
            None => "The puzzle.".to_owned(),
        };
        fit::wrapped(&step, columns.saturating_sub(1))
    }

    /// The line at the bottom: the state, the rows that are shown if not all, and the keys, as much
    /// as fits.
    fn status(&self, columns: usize, rows: Option<&str>) -> String {
        let pace = match self.delay.as_millis() {
            0 => "full speed".to_owned(),
            ms @ ..1_000 => format!("{ms} ms"),
            _ => format!("{} s", self.delay.as_secs_f64()),
        };
        let behind = self.history.behind();
        let (state, brief, change) = match (self.is_paused, &self.end) {
            (false, _) => (format!("Playing, {pace}"), pace, "pause"),
            (true, _) if behind > 0 => {
                let back = format!("{} back", print::counted(behind as u64, "step"));
                (format!("Paused, {back}"), back, "play")
            }
            (true, None) => (format!("Paused, {pace}"), "Paused".to_owned(), "play"),
            (true, Some(_)) => ("At the end".to_owned(), "End".to_owned(), "end"),
        };
        let long = format!("space {change}, right/left step, +/- speed, q end");
        let middle = format!("space {change}, . , +/- q");
        let (long, middle, short) = if self.terminal.has_keys() {
            (long.as_str(), middle.as_str(), "space . , + - q")
        } else {
            ("", "", "")
        };
        let rows = rows.map_or_else(String::new, |rows| format!(", {rows}"));
        let lines = [
            format!("{state}{rows}    {long}"),
            format!("{state}{rows}    {middle}"),
            format!("{brief}{rows}  {middle}"),
            format!("{brief}{rows}  {short}"),
            format!("{brief}  {short}"),
            brief,
        ];
        let most = columns.saturating_sub(1);
        let fitting = lines.iter().find(|line| line.trim_end().chars().count() <= most);
        let line = fitting.unwrap_or(&lines[lines.len() - 1]).trim_end();
        format!("{FAINT}{}{RESET}", line.chars().take(most).collect::<String>())
    }

    fn draw(&mut self) -> io::Result<()> {
        if Terminal::is_given_back() {
            return Ok(());
        }
        let size = self.terminal_size();
        let is_resized = size != self.size;
        self.size = size;
        let (lines, columns) = size;
        let order = self.painter.clues.order();
        // As many lines as any step can need, so that nothing jumps.
        let of_step = STEP_COLUMNS.div_ceil(columns.max(1)).max(1);
        let for_grid = lines.saturating_sub(of_step + 1);
        let (least_columns, least_rows) = picture::smallest(order);
        let mut picture = Vec::with_capacity(lines);
        let mut rows_shown = None;
        match picture::fitting(order, columns) {
            Some(layout) if for_grid >= least_rows => {
                let (rows, shown) =
                    self.painter.fitted(self.history.shown(), layout, for_grid, &mut self.top);
                rows_shown = shown.map(|rows| format!("rows {}-{}", rows.start + 1, rows.end));
                picture.extend(rows);
                if picture.len() < for_grid {
                    picture.push(String::new());
                }
                let step = self.step(columns);
                picture.extend(step.into_iter().take(lines.saturating_sub(picture.len() + 1)));
            }
            _ => {
                let needed = least_rows + STEP_COLUMNS.div_ceil(columns.max(least_columns)) + 1;
                let words = format!(
                    "A {order} grid needs {least_columns} columns and {needed} lines; this terminal has {columns} \
                     and {lines}."
                );
                let words = fit::wrapped(&words, columns.saturating_sub(1));
                picture.extend(words.into_iter().take(lines.saturating_sub(1)));
            }
        }
        picture.resize(lines.saturating_sub(1), String::new());
        picture.push(self.status(columns, rows_shown.as_deref()));
        // What another size has left is cleared first; otherwise each line is, behind what it has.
        let clear = if is_resized { "\x1b[2J" } else { "" };
        terminal::write(format!("{clear}\x1b[H{}\x1b[K", picture.join("\x1b[K\r\n")).as_bytes())?;
        self.drawn_at = Some(Instant::now());
        Ok(())
    }
}
