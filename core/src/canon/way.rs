//! Ways to a least form: disguises of 9x9 grids as short lists.

use super::Disguise;

/// The cells of a 9x9 grid in reading order, 0 for a blank.
pub(super) type GridCells = [u8; 81];

/// A disguise of 9x9 grids, as [`Disguise`] describes it, with all lists from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) transposes: bool,
    pub(super) rows: [u8; 9],
    pub(super) columns: [u8; 9],
    /// The index of the digit that each digit becomes.
    pub(super) labels: [u8; 9],
}

impl Way {
    /// The grid in this disguise.
    pub(super) fn apply(&self, cells: &GridCells) -> GridCells {
        let (row_step, column_step) = if self.transposes { (1, 9) } else { (9, 1) };
        // 16 entries, so that no digit needs a bounds check.
        let mut labels = [0; 16];
        for (label, &digit) in labels[1..].iter_mut().zip(&self.labels) {
            *label = digit + 1;
        }
        let mut disguised = [0; 81];
        for (out, &row) in disguised.chunks_exact_mut(9).zip(&self.rows) {
            for (cell, &column) in out.iter_mut().zip(&self.columns) {
                let from = usize::from(row) * row_step + usize::from(column) * column_step;
                *cell = labels[usize::from(cells[from] & 15)];
            }
        }
        disguised
    }

    pub(super) fn disguise(&self) -> Disguise {
        Disguise::nine(self.transposes, self.rows, self.columns, self.labels)
    }
}

/// A grid and its transposition, by rows.
pub(super) fn sides(cells: &GridCells) -> [[[u8; 9]; 9]; 2] {
    let mut sides = [[[0; 9]; 9]; 2];
    for row in 0..9 {
        for column in 0..9 {
            let digit = cells[9 * row + column];
            sides[0][row][column] = digit;
            sides[1][column][row] = digit;
        }
    }
    sides
}

/// The orders of up to three things: the first for one, two for two, all for three.
pub(super) const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The number of [`ORDERS`] of so many things.
pub(super) const ORDER_COUNTS: [usize; 4] = [1, 1, 2, 6];
