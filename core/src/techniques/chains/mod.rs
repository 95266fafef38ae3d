//! Chains: implications from candidate to candidate.
//!
//! A candidate is *on* if it is the digit of its cell, and *off* if it is not. A candidate that is
//! on turns off the others of its cell and the others of its digit in its houses: a weak link. A
//! candidate that is off turns on the only other one of its cell, or of its digit in a house: a
//! strong link.
//!
//! Each function here finds the easiest step of its kind as Sudoku Explainer would choose it: the
//! one with the lowest rating, then with the fewest statements in its chains, then the first in
//! the order of search. That order decides which of equal steps is made, so candidates are gone
//! through by cell and digit, and their implications by cell, box, row and column.

mod advanced;
mod closure;
mod collector;
mod consequences;
pub(super) mod dynamic;
mod marks;
mod multiple;
mod nested;
mod reach;
mod side_by_side;
mod single;

use super::geometry::{BOXES, Geometry, KINDS};
use super::position::{Position, bits};

pub(super) use multiple::multiple;
pub(super) use single::single_chain;

/// The buffers of chain searches.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    links: Links,
    reach: reach::Reach,
    single: single::SingleBuffers,
    multiple: Vec<multiple::LinkClosure>,
    dynamic: dynamic::DynamicBuffers,
}

/// The rating of a chain, exact in the way that Sudoku Explainer adds tenths up: chains are
/// compared by it, and sums of tenths that look equal may differ in their last bit.
pub(super) fn difficulty(base: f64, complexity: usize) -> f64 {
    let mut added = 0.0;
    let mut ceiling = 4;
    let mut is_odd = false;
    while complexity > ceiling + 2 {
        added += 0.1;
        ceiling = if is_odd { ceiling * 4 / 3 } else { ceiling * 3 / 2 };
        is_odd = !is_odd;
    }
    base + added
}

/// A rating in tenths.
pub(super) fn tenths(difficulty: f64) -> u16 {
    #[expect(clippy::cast_sign_loss, reason = "ratings are positive")]
    let tenths = ((difficulty + 0.05) * 10.0) as u16;
    tenths
}

/// Candidates in which chains are looked for: those of a position, or what an assumption leaves.
pub(super) trait Cells {
    /// The candidates of a cell.
    fn candidates(&self, cell: usize) -> u32;

    /// The positions in a house that have a digit as candidate.
    fn places(&self, house: usize, digit: usize) -> u32;
}

impl Cells for Position {
    #[inline]
    fn candidates(&self, cell: usize) -> u32 {
        self.candidates[cell]
    }

    #[inline]
    fn places(&self, house: usize, digit: usize) -> u32 {
        Self::places(self, house, digit)
    }
}

/// Why a link holds: in a cell, or in a house of a kind.
pub(super) const IN_CELL: u8 = KINDS as u8;

/// The links of a position. A candidate has the number `cell * side + digit`.
#[derive(Debug, Default)]
pub(super) struct Links {
    side: usize,
    /// The candidates that each one turns off when it is on: those of its cell first.
    weak: Vec<u16>,
    /// Where the weak links of each candidate begin, and where those in houses do.
    weak_from: Vec<(u32, u32)>,
    /// The candidates that each one turns on when it is off, with the reason: that in its cell
    /// first.
    strong: Vec<[(u16, u8); 1 + KINDS]>,
    /// How many strong links each has, and how many of them are in its cell.
    strong_count: Vec<(u8, u8)>,
}

/// The positions in a house of a cell that its box has too, if that comes before: two houses can have
/// several cells in common.
#[inline]
fn known_places(geometry: &Geometry, cell: usize, kind: usize) -> u32 {
    if kind == BOXES { 0 } else { geometry.crossing(geometry.house(cell, kind), geometry.house(cell, BOXES)) }
}

/// Which links a search uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Those of one digit.
    X,
    /// Strong links in cells, all weak ones.
    Y,
    /// All.
    Xy,
}

impl Links {
    /// Reads the links of candidates.
    fn load(&mut self, geometry: &Geometry, cells: &impl Cells) {
        let side = geometry.side;
        self.side = side;
        let count = geometry.cells * side;
        self.weak.clear();
        self.weak_from.clear();
        self.strong.resize(count, [(0, 0); 1 + KINDS]);
        self.strong_count.clear();
        self.strong_count.resize(count, (0, 0));
        let number = |cell: usize, digit: usize| (cell * side + digit) as u16;
        for cell in 0..geometry.cells {
            let candidates = cells.candidates(cell);
            for digit in 0..side {
                let start = self.weak.len() as u32;
                if candidates & (1 << digit) == 0 {
                    self.weak_from.push((start, start));
                    continue;
                }
                let id = cell * side + digit;
                let others = candidates & !(1 << digit);
                self.weak.extend(bits(others).map(|other| number(cell, other)));
                self.weak_from.push((start, self.weak.len() as u32));
                let (mut strong, mut in_cell) = (0, 0);
                if others.is_power_of_two() {
                    self.strong[id][0] = (number(cell, others.trailing_zeros() as usize), IN_CELL);
                    (strong, in_cell) = (1, 1);
                }
                for kind in 0..KINDS {
                    let house = geometry.house(cell, kind);
                    let places = cells.places(house, digit) & !(1 << geometry.position_in[cell][kind]);
                    let new = places & !known_places(geometry, cell, kind);
                    self.weak.extend(bits(new).map(|at| number(geometry.cell_at(house, at), digit)));
                    if places.is_power_of_two() {
                        let other = number(geometry.cell_at(house, places.trailing_zeros() as usize), digit);
                        if !self.strong[id][in_cell..strong].iter().any(|&(known, _)| known == other) {
                            self.strong[id][strong] = (other, kind as u8);
                            strong += 1;
                        }
                    }
                }
                self.strong_count[id] = (strong as u8, in_cell as u8);
            }
        }
        let end = self.weak.len() as u32;
        self.weak_from.push((end, end));
    }

    /// The candidates that one turns off.
    #[inline]
    fn weak(&self, id: usize, mode: Mode) -> &[u16] {
        let (start, houses) = self.weak_from[id];
        let from = if mode == Mode::X { houses } else { start };
        &self.weak[from as usize..self.weak_from[id + 1].0 as usize]
    }

    /// The candidates that one turns on when it is off.
    #[inline]
    fn strong(&self, id: usize, mode: Mode) -> &[(u16, u8)] {
        let (count, in_cell) = self.strong_count[id];
        let (count, in_cell) = (usize::from(count), usize::from(in_cell));
        match mode {
            Mode::X => &self.strong[id][in_cell..count],
            Mode::Y => &self.strong[id][..in_cell],
            Mode::Xy => &self.strong[id][..count],
        }
    }
}
