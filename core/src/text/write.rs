//! Writing of grids, in the alphabet of their format.

use std::fmt;
use std::io::Write as _;

use super::lines::map_9x9;
use super::{Alphabet, Format, Notation};
use crate::grid::{Grid, Order};

/// What a grid is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridLines {
    /// Rulers between the boxes, which [`Notation::Grid`] reads.
    Ruled,
    /// A space or a blank line between the boxes, and cells without a space between them.
    Tight,
    /// Box-drawing characters around the boxes.
    Boxed,
}

impl GridLines {
    /// The columns that a grid takes.
    #[must_use]
    pub const fn width(self, order: Order) -> usize {
        let (side, b) = (order.side(), order.box_side());
        match self {
            Self::Ruled => 2 * side + 2 * b - 3,
            Self::Tight => side + b - 1,
            Self::Boxed => 2 * side + 2 * b + 1,
        }
    }

    /// What stands in a row: before it, between its cells, between its boxes, and behind it.
    const fn of_row(self) -> [&'static str; 4] {
        match self {
            Self::Ruled => ["", " ", " | ", ""],
            Self::Tight => ["", "", " ", ""],
            Self::Boxed => ["│ ", " ", " │ ", " │"],
        }
    }

    /// Appends the line above a row of cells, counted from 0, or below the last one, if it has one.
    fn write_ruler(self, row: usize, order: Order, out: &mut Vec<u8>) {
        let (side, b) = (order.side(), order.box_side());
        let [left, dash, cross, right] = match self {
            _ if !row.is_multiple_of(b) => return,
            Self::Boxed if row == 0 => ["┌─", "─", "┬", "─┐"],
            Self::Boxed if row == side => ["└─", "─", "┴", "─┘"],
            Self::Boxed => ["├─", "─", "┼", "─┤"],
            _ if row == 0 || row == side => return,
            Self::Ruled => ["", "-", "+", ""],
            Self::Tight => [""; 4],
        };
        let ruler = vec![dash.repeat(2 * b + 1); b].join(cross);
        // The outer parts are narrower by one, because there is no space outside of them.
        let ruler = &ruler[dash.len()..ruler.len() - dash.len()];
        for part in [left, ruler, right, "\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
}

/// One line of cells, `.` for blanks and `letters` for values above 9; `{:#}` prints rows with
/// rulers.
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Letters are enough for every order.
        let format = Format::new(Notation::Grid, self.order(), Alphabet::Letters).map_err(|_| fmt::Error)?;
        let mut text = Vec::new();
        if f.alternate() {
            format.write_grid(self, &mut text);
        } else {
            format.write_cells(self, &mut text);
        }
        f.pad(String::from_utf8_lossy(&text).trim_end())
    }
}

impl Format {
    /// The character of one digit; a `.` for 0.
    #[must_use]
    pub fn symbol(&self, digit: u8) -> char {
        self.codec.encode(digit).into()
    }

    /// Appends the cells of a grid, one character each, without a line end.
    pub fn write_cells(&self, grid: &Grid, out: &mut Vec<u8>) {
        self.write_digits(grid.digits(), out);
    }

    /// [`Self::write_cells`] for the digits of a grid of this format's order.
    pub fn write_digits(&self, digits: &[u8], out: &mut Vec<u8>) {
        match self.plain_9x9_line(digits) {
            Some([cells @ .., _]) => out.extend_from_slice(&cells),
            None => out.extend(digits.iter().map(|&d| self.codec.encode(d))),
        }
    }

    /// [`Self::write_digits`] with a line end.
    pub fn write_line(&self, digits: &[u8], out: &mut Vec<u8>) {
        match self.plain_9x9_line(digits) {
            Some(line) => out.extend_from_slice(&line),
            None => {
                self.write_digits(digits, out);
                out.push(b'\n');
            }
        }
    }

    /// Appends a line for each of the grids, which are solved, of this format's order, and
    /// contiguous.
    #[doc(hidden)]
    #[inline(always)]
    pub fn write_solutions(&self, digits: &[u8], out: &mut Vec<u8>) {
        /// `out` grows by this many lines at a time, which fit into the first-level cache.
        const AT_ONCE: usize = 32;
        if !self.codec.shortcut.is_digits() {
            return digits.chunks(self.order.cells()).for_each(|digits| self.write_line(digits, out));
        }
        for grids in digits.as_chunks::<81>().0.chunks(AT_ONCE) {
            let first = out.len();
            out.resize(first + 82 * grids.len(), b'\n');
            for (line, digits) in out[first..].as_chunks_mut::<82>().0.iter_mut().zip(grids) {
                if let Some(cells) = line.first_chunk_mut() {
                    map_9x9(digits, cells, |digit| (b'0'.wrapping_add(digit), false));
                }
            }
        }
    }

    /// The line of a 9x9 grid in digits, its end included, by arithmetic that the compiler
    /// vectorises, unlike a table. `None` for other formats.
    fn plain_9x9_line(&self, digits: &[u8]) -> Option<[u8; 82]> {
        let digits: &[u8; 81] = digits.try_into().ok().filter(|_| self.codec.shortcut.is_digits())?;
        let mut line = [b'\n'; 82];
        for (symbol, &digit) in line.iter_mut().zip(digits) {
            *symbol = if digit == 0 { b'.' } else { b'0' + digit };
        }
        Some(line)
    }

    /// Appends the block size, which precedes all puzzles of [`Notation::Header`].
    pub(super) fn write_block_size(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(itoa::Buffer::new().format(self.order.box_side()).as_bytes());
        out.push(b'\n');
    }

    /// Appends a puzzle and its solution as a row, which [`Notation::Csv`] reads.
    pub(super) fn write_row(&self, puzzle: &Grid, solution: Option<&Grid>, out: &mut Vec<u8>) {
        self.write_cells(puzzle, out);
        out.push(b',');
        if let Some(solution) = solution {
            self.write_cells(solution, out);
        }
        out.push(b'\n');
    }

    /// Appends a puzzle and its solution as an object, which [`Notation::Jsonl`] reads.
    pub(super) fn write_object(&self, puzzle: &Grid, solution: Option<&Grid>, out: &mut Vec<u8>) {
        let cells = |grid| {
            let mut text = Vec::new();
            self.write_cells(grid, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        let line = serde_json::json!({ "puzzle": cells(puzzle), "solution": solution.map(cells) });
        out.extend_from_slice(format!("{line}\n").as_bytes());
    }

    /// Appends rows with rulers between the boxes, which [`Notation::Grid`] reads.
    pub fn write_grid(&self, grid: &Grid, out: &mut Vec<u8>) {
        self.write_grid_with(GridLines::Ruled, grid, out, |_, symbol, out| out.push(symbol));
    }

    /// Appends rows between these lines, with each cell written by `write_cell`, from its index and
    /// symbol.
    pub fn write_grid_with(
        &self,
        lines: GridLines,
        grid: &Grid,
        out: &mut Vec<u8>,
        mut write_cell: impl FnMut(usize, u8, &mut Vec<u8>),
    ) {
        let (side, b) = (grid.order().side(), grid.order().box_side());
        let [before, between_cells, between_boxes, behind] = lines.of_row();
        for (index, &digit) in grid.digits().iter().enumerate() {
            let (row, column) = (index / side, index % side);
            if column == 0 {
                lines.write_ruler(row, grid.order(), out);
            }
            let gap = match (column, column % b) {
                (0, _) => before,
                (_, 0) => between_boxes,
                _ => between_cells,
            };
            out.extend_from_slice(gap.as_bytes());
            write_cell(index, self.codec.encode(digit), out);
            if column == side - 1 {
                out.extend_from_slice(behind.as_bytes());
                out.push(b'\n');
            }
        }
        lines.write_ruler(side, grid.order(), out);
    }

    /// Appends `row column value` for each filled cell, which [`Notation::Triples`] reads.
    pub fn write_triples(&self, grid: &Grid, out: &mut Vec<u8>) {
        for cell in grid.order().all_cells() {
            if let Some(digit) = grid.get(cell) {
                // Writing to a vector cannot fail.
                let _ = writeln!(out, "{} {} {digit}", cell.row(), cell.column());
            }
        }
    }
}
