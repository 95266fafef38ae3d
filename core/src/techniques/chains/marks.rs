//! Candidates of a 9x9 grid, and sets of them.

use super::Cells;
use crate::techniques::geometry::{Geometry, KINDS};
use crate::techniques::position::Position;

pub(super) const SIDE: usize = 9;
pub(super) const CELLS: usize = SIDE * SIDE;
/// Candidates of a 9x9 grid.
pub(super) const CANDIDATES: usize = CELLS * SIDE;
const HOUSES: usize = KINDS * SIDE;
/// Words of a set of candidates.
pub(super) const WORDS: usize = CANDIDATES.div_ceil(64);

/// The index of what is on, and of what is off, in pairs.
pub(super) const ON: usize = 0;
pub(super) const OFF: usize = 1;

#[inline]
pub(super) fn has(set: &[u64; WORDS], id: u16) -> bool {
    set[usize::from(id) / 64] >> (id % 64) & 1 != 0
}

/// Candidates of a 9x9 grid, by cell and by house.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    pub cells: [u16; CELLS],
    pub places: [[u16; SIDE]; HOUSES],
}

impl Default for Marks {
    fn default() -> Self {
        Self { cells: [0; CELLS], places: [[0; SIDE]; HOUSES] }
    }
}

impl Marks {
    pub(super) fn load(&mut self, position: &Position) {
        for (own, &candidates) in self.cells.iter_mut().zip(&position.candidates) {
            *own = candidates as u16;
        }
        for (house, places) in self.places.iter_mut().enumerate() {
            for (digit, places) in places.iter_mut().enumerate() {
                *places = position.places(house, digit) as u16;
            }
        }
    }

    #[inline]
    pub(super) fn has(&self, cell: usize, digit: usize) -> bool {
        self.cells[cell] & (1 << digit) != 0
    }

    /// Takes a candidate away.
    #[inline]
    pub(super) fn remove(&mut self, geometry: &Geometry, cell: usize, digit: usize) {
        self.cells[cell] &= !(1 << digit);
        for kind in 0..KINDS {
            self.places[geometry.house(cell, kind)][digit] &= !(1 << geometry.position_in[cell][kind]);
        }
    }
}

impl Cells for Marks {
    fn candidates(&self, cell: usize) -> u32 {
        u32::from(self.cells[cell])
    }

    fn places(&self, house: usize, digit: usize) -> u32 {
        u32::from(self.places[house][digit])
    }
}
