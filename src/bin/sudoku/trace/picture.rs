//! A grid as lines of a terminal, as large as fits.

use std::ops::Range;

use sudoku_stream::grid::{Cell, Grid, Order};
use sudoku_stream::solver::{Contradiction, Step};
use sudoku_stream::text::Format;

use super::history::Frame;

const RESET: &str = "\x1b[0m";

/// The fewest rows that are shown of a grid that is too high.
const MIN_ROWS: usize = 3;

/// How cells are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureLayout {
    /// Apart, with rulers between boxes, as everywhere else.
    Ruled,
    /// Together, with a space or a blank line between boxes.
    Tight,
}

impl PictureLayout {
    /// The columns that a grid takes.
    pub const fn width(self, order: Order) -> usize {
        let (side, b) = (order.side(), order.box_side());
        match self {
            Self::Ruled => 2 * side - 1 + 2 * (b - 1),
            Self::Tight => side + b - 1,
        }
    }

    /// The layout that fits the columns.
    pub fn fitting(order: Order, columns: usize) -> Option<Self> {
        // A line that fills the last column would wrap on some terminals.
        [Self::Ruled, Self::Tight].into_iter().find(|layout| layout.width(order) < columns)
    }
}

/// The terminal that is needed for a grid, in columns and lines for rows of cells.
pub const fn smallest(order: Order) -> (usize, usize) {
    let side = order.side();
    (PictureLayout::Tight.width(order) + 1, if side < MIN_ROWS { side } else { MIN_ROWS })
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

/// Writes a grid in the layout `Tight`, without styles.
pub fn write_tight(format: &Format, grid: &Grid, out: &mut Vec<u8>) {
    let (side, b) = (grid.order().side(), grid.order().box_side());
    let mut symbols = Vec::with_capacity(grid.order().cells());
    format.write_cells(grid, &mut symbols);
    for (index, symbol) in symbols.into_iter().enumerate() {
        let (row, column) = (index / side, index % side);
        if column == 0 && row > 0 && row % b == 0 {
            out.push(b'\n');
        } else if column > 0 && column % b == 0 {
            out.push(b' ');
        }
        out.push(symbol);
        if column == side - 1 {
            out.push(b'\n');
        }
    }
}

/// What a picture is drawn with.
pub struct Painter<'a> {
    pub format: &'a Format,
    pub clues: Grid,
    pub styles: Styles,
}

impl Painter<'_> {
    /// The rows of a frame, without rulers between them. The cell of the step stands out if
    /// `is_marked`.
    fn rows(&self, frame: &Frame, layout: PictureLayout, is_marked: bool) -> Vec<String> {
        let order = self.clues.order();
        let mut grid = Grid::empty(order);
        for (index, digit) in grid.digits_mut().iter_mut().enumerate() {
            *digit = frame.digit(index);
        }
        let mut symbols = Vec::with_capacity(order.cells());
        self.format.write_cells(&grid, &mut symbols);
        let marked = frame.step.as_ref().filter(|_| is_marked).and_then(|step| Some((cell_of(step)?, step)));
        let mut rows = Vec::with_capacity(order.side());
        for row in 0..order.side() {
            let mut line = String::new();
            for column in 0..order.side() {
                let index = row * order.side() + column;
                let is_first_of_box = column % order.box_side() == 0;
                line += match layout {
                    _ if column == 0 => "",
                    PictureLayout::Ruled if is_first_of_box => " | ",
                    PictureLayout::Tight if !is_first_of_box => "",
                    _ => " ",
                };
                let style = match (marked, self.clues.digits()[index]) {
                    (Some((cell, step)), _) if cell.index() == index => self.styles.of_step(step),
                    _ if grid.digits()[index] == 0 => self.styles.blank,
                    (_, 0) if frame.is_guess(index) => self.styles.guess,
                    (_, 0) => self.styles.inferred,
                    _ => self.styles.clue,
                };
                line += style;
                line.push(symbols[index].into());
                if !style.is_empty() {
                    line += RESET;
                }
            }
            rows.push(line);
        }
        rows
    }

    /// A frame with everything between its boxes.
    pub fn whole(&self, frame: &Frame, layout: PictureLayout, is_marked: bool) -> Vec<String> {
        let order = self.clues.order();
        let b = order.box_side();
        let ruler = match layout {
            PictureLayout::Ruled => {
                let ruler = vec!["-".repeat(2 * b + 1); b].join("+");
                // The outer parts are narrower by one, because there is no space outside of them.
                ruler[1..ruler.len() - 1].to_owned()
            }
            PictureLayout::Tight => String::new(),
        };
        let rows = self.rows(frame, layout, is_marked);
        rows.chunks(b).collect::<Vec<_>>().join(&ruler)
    }

    /// As much of a frame as fits `lines`, and which of its rows, if not all: without rulers first,
    /// and then the rows around that of the step. `top` is the row at the top of the last picture
    /// and of this one, so that it moves only where it has to.
    pub fn fitted(
        &self,
        frame: &Frame,
        layout: PictureLayout,
        lines: usize,
        top: &mut usize,
    ) -> (Vec<String>, Option<Range<usize>>) {
        let order = self.clues.order();
        let (side, b) = (order.side(), order.box_side());
        if lines > side + b - 2 {
            return (self.whole(frame, layout, true), None);
        }
        let rows = self.rows(frame, layout, true);
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
