//! Steps of a watched search: the cells that inference fills, and contradictions in words for
//! people.

use super::vector::{Stored, digit_of, for_each_cell, lane};
use crate::grid::{Cell, Order};
use crate::solver::watch::{self, Contradiction, Watch};

/// The cells with a clue, a bit each.
#[cold]
pub(super) fn clues(puzzle: &[u8; 81]) -> u128 {
    (0..81).filter(|&cell| puzzle[cell] != 0).fold(0, |cells, cell| cells | 1 << cell)
}

/// Reports the cells with one candidate that are not among the filled ones. Returns both.
#[cold]
pub(super) fn filled(cells: &Stored, filled: u128, watch: &mut impl Watch) -> u128 {
    let mut all = filled;
    for_each_cell(|cell, row, column, lane| {
        let set = cells[row][column][lane];
        if set.is_power_of_two() && filled >> cell & 1 == 0 {
            watch.place(cell, digit_of(set), false);
            all |= 1 << cell;
        }
    });
    all
}

/// Reports a guess: the set of its digit, with row and column in the box and the lane. Returns the
/// cell.
#[cold]
pub(super) fn guess((set, row, column, lane): (u16, usize, usize, usize), watch: &mut impl Watch) -> usize {
    let cell = 27 * (lane / 4) + 9 * row + 3 * (lane % 4) + column;
    watch.place(cell, digit_of(set), true);
    cell
}

/// The contradiction of a state, for people: the first empty cell, else the first house without a
/// place.
#[cold]
pub(super) fn contradiction(cells: &Stored) -> Contradiction {
    let order = Order::NINE;
    let candidates = |cell: Cell| {
        let (row, column) = (cell.index() / 9, cell.index() % 9);
        cells[row % 3][column % 3][lane(row / 3, column / 3)]
    };
    if let Some(cell) = order.all_cells().find(|&cell| candidates(cell) == 0) {
        return Contradiction::NoDigit { cell };
    }
    for house in order.houses() {
        let any = house.cells(order).fold(0, |any, cell| any | candidates(cell));
        if let Some(value) = (1..=9).find(|value| any >> (value - 1) & 1 == 0) {
            return Contradiction::NoPlace { digit: watch::digit_of(order, value), house };
        }
    }
    Contradiction::Rivals
}
