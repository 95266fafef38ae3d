//! Houses: the digits that the rows, columns and boxes of a grid hold.

use super::watch::{Contradiction, Watch};
use crate::grid::{Grid, House, MAX_CELLS, MAX_SIDE, Order};

/// The digits that each house holds, bit `d` for digit `d`.
pub(super) struct Houses {
    order: Order,
    rows: [u32; MAX_SIDE],
    columns: [u32; MAX_SIDE],
    boxes: [u32; MAX_SIDE],
    /// Row, column and box of each cell, because computing them takes longer than everything else
    /// here.
    of_cell: [[u8; 3]; MAX_CELLS],
}

impl Houses {
    /// The houses of a grid of blanks.
    pub(super) fn new(order: Order) -> Self {
        let mut of_cell = [[0; 3]; MAX_CELLS];
        for cell in order.all_cells() {
            let numbers = [cell.row(), cell.column(), cell.box_number()];
            // A side is 25 at most.
            of_cell[cell.index()] = numbers.map(|number| u8::try_from(number - 1).unwrap_or(0));
        }
        Self { order, rows: [0; MAX_SIDE], columns: [0; MAX_SIDE], boxes: [0; MAX_SIDE], of_cell }
    }

    /// The order of the grid.
    pub(super) const fn order(&self) -> Order {
        self.order
    }

    /// Loads the clues of a puzzle. Returns false if they break the rules.
    pub(super) fn load(&mut self, puzzle: &Grid) -> bool {
        assert_eq!(puzzle.order(), self.order, "a solver takes puzzles of its own order");
        (self.rows, self.columns, self.boxes) = ([0; MAX_SIDE], [0; MAX_SIDE], [0; MAX_SIDE]);
        for (cell, &digit) in puzzle.digits().iter().enumerate() {
            if digit != 0 {
                if self.hold(cell, digit) {
                    return false;
                }
                self.flip(cell, digit);
            }
        }
        true
    }

    #[inline]
    fn indices(&self, cell: usize) -> [usize; 3] {
        self.of_cell[cell].map(usize::from)
    }

    /// The digits that a house of the cell holds.
    #[inline]
    pub(super) fn held(&self, cell: usize) -> u32 {
        let [row, column, of_boxes] = self.indices(cell);
        self.rows[row] | self.columns[column] | self.boxes[of_boxes]
    }

    /// Whether a house of the cell holds the digit.
    #[inline]
    pub(super) fn hold(&self, cell: usize, digit: u8) -> bool {
        self.held(cell) & (1 << digit) != 0
    }

    /// The digits that no house of the cell holds.
    #[inline]
    pub(super) fn free(&self, cell: usize) -> u32 {
        let all = (2 << self.order.side()) - 2;
        all & !self.held(cell)
    }

    /// Puts a digit into the houses of a cell, or takes it out of them.
    #[inline]
    pub(super) fn flip(&mut self, cell: usize, digit: u8) {
        let [row, column, of_boxes] = self.indices(cell);
        self.rows[row] ^= 1 << digit;
        self.columns[column] ^= 1 << digit;
        self.boxes[of_boxes] ^= 1 << digit;
    }

    /// The lowest digit of at least `from` that no house of the cell holds. Each digit tried is a
    /// comparison.
    #[inline]
    pub(super) fn next_free<W: Watch>(&self, cell: usize, from: u8, watch: &mut W) -> Option<u8> {
        // A digit is a byte; a side is 25 at most.
        let side = u8::try_from(self.order.side()).unwrap_or(u8::MAX);
        for digit in from..=side {
            watch.compare(1);
            if !self.hold(cell, digit) {
                return Some(digit);
            }
            if W::IS_ON {
                watch.conflict(self.taken(cell, digit));
            }
        }
        None
    }

    /// The house that holds a digit which was tried in the cell.
    fn taken(&self, cell: usize, digit: u8) -> Contradiction {
        let [row, column, of_boxes] = self.indices(cell);
        let house = if self.rows[row] & (1 << digit) != 0 {
            House::row_at(row)
        } else if self.columns[column] & (1 << digit) != 0 {
            House::column_at(column)
        } else {
            House::box_at(of_boxes)
        };
        Contradiction::Taken {
            cell: self.order.cell_at(cell),
            digit: super::watch::digit_of(self.order, digit),
            house,
        }
    }
}
