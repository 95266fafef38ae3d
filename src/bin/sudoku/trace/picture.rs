//! A grid as lines of a terminal, as large as fits.

use std::ops::Range;

use sudoku_stream::grid::{Cell, Grid, Order};
use sudoku_stream::solver::{Contradiction, Step};
use sudoku_stream::text::{Format, GridLines};

use super::history::Frame;

const RESET: &str = "\x1b[0m";

/// The fewest rows that are shown of a grid that is too high.
const MIN_ROWS: usize = 3;

/// The lines of a drawing that fits the columns.
pub fn fitting(order: Order, columns: usize) -> Option<GridLines> {
    // A line that fills the last column would wrap on some terminals.
    [GridLines::Ruled, GridLines::Tight].into_iter().find(|lines| lines.width(order) < columns)
}

/// The terminal that is needed for a grid, in columns and lines for rows of cells.
pub const fn smallest(order: Order) -> (usize, usize) {
    let side = order.side();
    (GridLines::Tight.width(order) + 1, if side < MIN_ROWS { side } else { MIN_ROWS })
}

/// The styles of cells, as escape sequences.
pub struct Styles {
    clue: &'static str,
    guess: &'static str,
    inferred: &'static str,
    blank: &'static str,
    placed: &'static str,
    conflict: &'static str,
    taken_back: &'static str,
}

impl Styles {
    /// With colours, or only with what is none: bold, underlined, faint, reverse.
    pub const fn new(has_colours: bool) -> Self {
        let plain = Self {
            clue: "\x1b[1m",
            guess: "\x1b[4m",
            inferred: "",
            blank: "\x1b[2m",
            placed: "\x1b[7m",
            conflict: "\x1b[7m",
            taken_back: "\x1b[7m",
        };
        if !has_colours {
            return plain;
        }
        Self {
            guess: "\x1b[33m",
            inferred: "\x1b[36m",
            placed: "\x1b[7;32m",
            conflict: "\x1b[7;31m",
            taken_back: "\x1b[7;35m",
            ..plain
        }
    }

    /// The style of a cell that a step is about.
    const fn of_step(&self, step: &Step) -> &'static str {
        match step {
            Step::Place { .. } => self.placed,
            Step::Backtrack { .. } => self.taken_back,
            _ => self.conflict,
        }
    }
}

/// The cell that a step is about.
pub const fn cell_of(step: &Step) -> Option<Cell> {
    match *step {
        Step::Place { cell, .. }
        | Step::Backtrack { cell, .. }
        | Step::Conflict(Contradiction::Taken { cell, .. } | Contradiction::NoDigit { cell }) => Some(cell),
        _ => None,
    }
}

/// What a picture is drawn with.
pub struct Painter<'a> {
    pub format: &'a Format,
    pub clues: Grid,
    pub styles: Styles,
}

impl Painter<'_> {
    /// The lines of a frame. The cell of the step stands out if `is_marked`.
    pub fn whole(&self, frame: &Frame, lines: GridLines, is_marked: bool) -> Vec<String> {
        let mut grid = Grid::empty(self.clues.order());
        for (index, digit) in grid.digits_mut().iter_mut().enumerate() {
            *digit = frame.digit(index);
        }
        let marked = frame.step.as_ref().filter(|_| is_marked).and_then(|step| Some((cell_of(step)?, step)));
        let mut text = Vec::new();
        self.format.write_grid_with(lines, &grid, &mut text, |index, symbol, text| {
            let style = match (marked, self.clues.digits()[index]) {
                (Some((cell, step)), _) if cell.index() == index => self.styles.of_step(step),
                _ if grid.digits()[index] == 0 => self.styles.blank,
                (_, 0) if frame.is_guess(index) => self.styles.guess,
                (_, 0) => self.styles.inferred,
                _ => self.styles.clue,
            };
            text.extend_from_slice(style.as_bytes());
            text.push(symbol);
            if !style.is_empty() {
                text.extend_from_slice(RESET.as_bytes());
            }
        });
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// As much of a frame as fits `lines`, and which of its rows, if not all: without rulers first,
    /// and then the rows around that of the step. `top` is the row at the top of the last picture
    /// and of this one, so that it moves only where it has to.
    pub fn fitted(
        &self,
        frame: &Frame,
        grid_lines: GridLines,
        lines: usize,
        top: &mut usize,
    ) -> (Vec<String>, Option<Range<usize>>) {
        let order = self.clues.order();
        let (side, b) = (order.side(), order.box_side());
        if lines > side + b - 2 {
            return (self.whole(frame, grid_lines, true), None);
        }
        // Without rulers.
        let rows = self.whole(frame, grid_lines, true).into_iter().enumerate();
        let rows: Vec<String> = rows.filter(|(line, _)| line % (b + 1) < b).map(|(_, row)| row).collect();
        if lines >= side {
            return (rows, None);
        }
        if let Some(cell) = frame.step.as_ref().and_then(cell_of) {
            let row = cell.row() - 1;
            *top = (*top).min(row).max((row + 1).saturating_sub(lines));
        }
        *top = (*top).min(side - lines);
        let shown = *top..*top + lines;
        (rows[shown.clone()].to_vec(), Some(shown))
    }
}
