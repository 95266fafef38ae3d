//! A grid that changes in place on a terminal.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use console::Term;
use sudoku_stream::grid::{Cell, Grid};
use sudoku_stream::solver::{Contradiction, Step};
use sudoku_stream::text::Format;

use super::{End, style_of};
use crate::cli::print;

/// The shortest time between two drawings: about 60 a second, which is what eyes and terminals
/// follow.
const MIN_DRAW_INTERVAL: Duration = Duration::from_millis(16);

/// The lines below the grid: a blank one and the status.
const LINES_BELOW: usize = 2;

const RESET: &str = "\x1b[0m";
const CLUE: &str = "\x1b[1m";
const GUESS: &str = "\x1b[33m";
const INFERRED: &str = "\x1b[36m";
const BLANK: &str = "\x1b[2m";
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_TO_LINE_END: &str = "\x1b[K";

/// A grid on a terminal, and the line below it.
pub struct Screen<'a> {
    term: Term,
    format: &'a Format,
    clues: Grid,
    /// Which cells hold a guess.
    guesses: Vec<bool>,
    /// The line below the grid.
    status: String,
    /// The cell of the last step, and its colour.
    mark: Option<(Cell, &'static str)>,
    grid: Grid,
    columns: usize,
    height: usize,
    has_colours: bool,
    drawn_at: Option<Instant>,
}

impl<'a> Screen<'a> {
    /// A grid on standard output; `None` if the terminal is too small or cannot move its cursor.
    pub fn new(format: &'a Format, puzzle: &Grid) -> Option<Self> {
        let term = Term::stdout();
        let (rows, columns) = term.size_checked()?;
        let mut text = Vec::new();
        format.write_grid(puzzle, &mut text);
        let lines = || text.split(|&byte| byte == b'\n');
        // The last line is empty, and the cursor needs one below ours.
        let height = lines().count() - 1 + LINES_BELOW;
        let width = lines().map(<[u8]>::len).max().unwrap_or(0);
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || height >= usize::from(rows) || width >= usize::from(columns) {
            return None;
        }
        Some(Self {
            term,
            format,
            clues: puzzle.clone(),
            guesses: vec![false; puzzle.order().cells()],
            status: String::new(),
            mark: None,
            grid: puzzle.clone(),
            columns: columns.into(),
            height,
            has_colours: print::has_colours(),
            drawn_at: None,
        })
    }

    pub fn begin(&mut self, puzzle: &Grid) -> io::Result<()> {
        write!(self.term, "{HIDE_CURSOR}{}", "\n".repeat(self.height))?;
        self.grid.clone_from(puzzle);
        self.draw()
    }

    /// Draws a step. Of steps without a pause, only as many are drawn as can be followed.
    pub fn show(&mut self, number: u64, step: &Step, grid: &Grid, pause: Duration) -> io::Result<()> {
        self.mark = match *step {
            Step::Place { cell, is_guess, .. } => {
                self.guesses[cell.index()] = is_guess;
                Some((cell, "\x1b[7;32m"))
            }
            Step::Conflict(Contradiction::Taken { cell, .. } | Contradiction::NoDigit { cell }) => {
                Some((cell, "\x1b[7;31m"))
            }
            Step::Backtrack { cell, .. } => Some((cell, "\x1b[7;35m")),
            _ => None,
        };
        self.status = format!("{}  {step}", print::thousands(number));
        self.grid.clone_from(grid);
        let is_recent = self.drawn_at.is_some_and(|at| at.elapsed() < MIN_DRAW_INTERVAL);
        if is_recent && pause < MIN_DRAW_INTERVAL {
            return Ok(());
        }
        self.draw()
    }

    pub fn end(&mut self, end: &End) -> io::Result<()> {
        self.mark = None;
        self.status = if self.has_colours {
            format!("{}{}{RESET}", style_of(end.kind), end.words)
        } else {
            end.words.clone()
        };
        self.draw()
    }

    fn draw(&mut self) -> io::Result<()> {
        let mut picture = Vec::new();
        self.format.write_grid_with(&self.grid, &mut picture, |index, symbol, out| {
            let is_marked = self.mark.is_some_and(|(cell, _)| cell.index() == index);
            let style = match (self.clues.digits()[index], self.grid.digits()[index]) {
                _ if !self.has_colours => "",
                _ if is_marked => self.mark.map_or("", |(_, paint)| paint),
                (_, 0) => BLANK,
                (0, _) if self.guesses[index] => GUESS,
                (0, _) => INFERRED,
                _ => CLUE,
            };
            out.extend_from_slice(style.as_bytes());
            out.push(symbol);
            if !style.is_empty() {
                out.extend_from_slice(RESET.as_bytes());
            }
        });
        let status = console::truncate_str(&self.status, self.columns - 1, "");
        let picture = format!("{}\n{status}\n", String::from_utf8_lossy(&picture));
        let picture = picture.replace('\n', &format!("{CLEAR_TO_LINE_END}\n"));
        // In one write, because several flicker.
        self.term.write_all(format!("\x1b[{}A{picture}", self.height).as_bytes())?;
        self.drawn_at = Some(Instant::now());
        self.term.flush()
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // A terminal that is gone needs no cursor.
        let _ = write!(self.term, "{SHOW_CURSOR}");
    }
}
