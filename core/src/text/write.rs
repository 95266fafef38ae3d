//! Writing of grids, in the alphabet of their format.

use std::fmt;
use std::io::Write as _;

use super::lines::map_9x9;
use super::{Alphabet, Format, Notation};
use crate::grid::Grid;

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
        self.write_grid_with(grid, out, |_, symbol, out| out.push(symbol));
    }

    /// [`Self::write_grid`] with each cell written by `write_cell`, from its index and symbol.
    pub fn write_grid_with(
        &self,
        grid: &Grid,
        out: &mut Vec<u8>,
        mut write_cell: impl FnMut(usize, u8, &mut Vec<u8>),
    ) {
        let (side, b) = (grid.order().side(), grid.order().box_side());
        for (index, &digit) in grid.digits().iter().enumerate() {
            let (row, column) = (index / side, index % side);
            if column == 0 && row > 0 && row % b == 0 {
                let ruler = vec!["-".repeat(2 * b + 1); b].join("+");
                // The outer parts are narrower by one, because there is no space outside of them.
                out.extend_from_slice(&ruler.as_bytes()[1..ruler.len() - 1]);
                out.push(b'\n');
            }
            if column > 0 {
                out.extend_from_slice(if column % b == 0 { b" | " } else { b" " });
            }
            write_cell(index, self.codec.encode(digit), out);
            if column == side - 1 {
                out.push(b'\n');
            }
        }
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
