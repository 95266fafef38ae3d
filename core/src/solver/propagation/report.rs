//! Steps of a watched search: the cells that inference fills, and contradictions in words for
//! people.

use super::bands::{BandWord, Bits};
use super::board::{BandCandidate, SearchState};
use crate::grid::{Grid, Order};
use crate::solver::watch::{self, Watch, digit_of};

impl<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>
    SearchState<W, N, SIDE, SLOTS, GROUP>
{
    /// Reports the cells filled since `before`, except `reported`, the cell of a guess.
    #[cold]
    pub(super) fn report_filled(&self, before: [W; N], reported: Option<usize>, watch: &mut impl Watch) {
        for (band, filled) in before.into_iter().enumerate() {
            for (value, &layer) in (1..).zip(&self.layers[band][..SIDE]) {
                for bit in Bits(layer & self.filled[band] & !filled) {
                    let cell = band * Self::BAND_CELLS + bit;
                    if reported != Some(cell) {
                        watch.place(cell, value, false);
                    }
                }
            }
        }
    }

    /// Reports a solution that was found otherwise: what it adds to the filled cells.
    #[cold]
    pub(super) fn report_solution(&self, solution: &Grid, watch: &mut impl Watch) {
        for (cell, &digit) in solution.digits().iter().enumerate() {
            let (band, bit) = (cell / Self::BAND_CELLS, cell % Self::BAND_CELLS);
            if (self.filled[band] >> bit) & W::of(1) == W::ZERO {
                watch.place(cell, digit, false);
            }
        }
        watch.solved();
    }

    /// The contradiction of a state, for people: the first empty cell, else the first house without
    /// a place.
    #[cold]
    pub(super) fn explain(&self, order: Order) -> watch::Contradiction {
        for cell in order.all_cells() {
            let (band, bit) = (cell.index() / Self::BAND_CELLS, cell.index() % Self::BAND_CELLS);
            if self.candidates(band, bit).next().is_none() {
                return watch::Contradiction::NoDigit { cell };
            }
        }
        for house in order.houses() {
            for (value, digit) in (1..).zip(0..SIDE) {
                let has_place = house.cells(order).any(|cell| {
                    let (band, bit) = (cell.index() / Self::BAND_CELLS, cell.index() % Self::BAND_CELLS);
                    self.has(BandCandidate { digit, band, bit })
                });
                if !has_place {
                    return watch::Contradiction::NoPlace { digit: digit_of(order, value), house };
                }
            }
        }
        watch::Contradiction::Rivals
    }
}
