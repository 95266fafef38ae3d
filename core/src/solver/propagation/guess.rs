//! Guesses: what to guess, and learning from guesses that failed.

use super::bands::{BandLayout, BandWord, Bits, along, minirows_at, spread};
use super::board::{BandCandidate, Culprit, SearchState};
use crate::grid::{MAX_CELLS, MAX_SIDE};

impl<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>
    SearchState<W, N, SIDE, SLOTS, GROUP>
{
    /// The guess in a board that is not solved: of the cells with two candidates the one with the
    /// greatest weight (its own and that of its digits), and the heavier of its digits.
    pub(super) fn choose(&self, weights: &Weights) -> BandCandidate {
        let mut best: Option<(u32, usize, usize)> = None;
        for band in 0..N {
            let (mut one, mut two, mut three) = (W::ZERO, W::ZERO, W::ZERO);
            for &layer in &self.layers[band][..SIDE] {
                three |= two & layer;
                two |= one & layer;
                one |= layer;
            }
            for bit in Bits(two & !three) {
                let digits: u32 = self.candidates(band, bit).map(|at| weights.digits[at.digit]).sum();
                let weight = weights.cells[band * Self::BAND_CELLS + bit] + digits;
                if best.is_none_or(|(greatest, ..)| weight > greatest) {
                    best = Some((weight, band, bit));
                }
            }
        }
        match best {
            Some((_, band, bit)) => self.heaviest_digit(band, bit, weights),
            None => self.choose_among_all(weights),
        }
    }

    /// The guess where every blank cell has three candidates or more: a place of a digit in the
    /// house where it has the fewest, or a candidate of the cell that has the fewest, whichever are
    /// fewer.
    #[cold]
    fn choose_among_all(&self, weights: &Weights) -> BandCandidate {
        #[derive(Clone, Copy)]
        enum Target {
            Cell(usize),
            House { digit: usize, kind: usize, index: usize },
        }
        // The number of alternatives, then the weight subtracted from the maximum: the lowest rank
        // wins.
        let mut best = ((u8::MAX, 0), Target::Cell(0));
        let mut consider = |alternatives: u8, weight: u32, choice| {
            let rank = (alternatives, u32::MAX - weight);
            if alternatives != 0 && rank < best.0 {
                best = (rank, choice);
            }
        };
        let mut of_cell = [0u8; MAX_CELLS];
        for digit in 0..SIDE {
            let mut of_house = [[0u8; SIDE]; 3];
            for at in self.places(digit) {
                of_cell[Self::cell(at)] += 1;
                for (counts, house) in of_house.iter_mut().zip(Self::houses(at)) {
                    counts[house] += 1;
                }
            }
            for (kind, counts) in of_house.iter().enumerate() {
                for (index, &places) in counts.iter().enumerate() {
                    consider(places, weights.digits[digit], Target::House { digit, kind, index });
                }
            }
        }
        for (cell, &candidates) in of_cell.iter().enumerate() {
            consider(candidates, weights.cells[cell], Target::Cell(cell));
        }
        match best.1 {
            Target::Cell(cell) => {
                self.heaviest_digit(cell / Self::BAND_CELLS, cell % Self::BAND_CELLS, weights)
            }
            Target::House { digit, kind, index } => {
                let places = self.places(digit).filter(|&at| Self::houses(at)[kind] == index);
                heaviest(places, |at| weights.cells[Self::cell(at)])
            }
        }
    }

    fn heaviest_digit(&self, band: usize, bit: usize, weights: &Weights) -> BandCandidate {
        heaviest(self.candidates(band, bit), |at| weights.digits[at.digit])
    }

    /// The cells of all houses in which a digit has no place, one word for each band.
    fn empty_houses(&self, digit: usize) -> [W; N] {
        let (row, rows) = (W::of(BandLayout::<N>::ROW), W::of(BandLayout::<N>::ROWS));
        let boxes = W::of(BandLayout::<N>::BOXES);
        let mut columns = W::ZERO;
        for band in &self.layers {
            columns |= along::<W, N>(band[digit], SIDE).0 & row;
        }
        let mut cells = [W::ZERO; N];
        for (cells, band) in cells.iter_mut().zip(&self.layers) {
            let (minirows, _) = along::<W, N>(band[digit], 1);
            let empty_rows = rows & !along::<W, N>(minirows & W::of(BandLayout::<N>::MINIROWS), N).0;
            let empty_boxes = boxes & !along::<W, N>(minirows & W::of(BandLayout::<N>::MINIROWS), SIDE).0;
            *cells = minirows_at::<W, N>(spread::<W, N>(empty_rows, N))
                | spread::<W, N>(minirows_at::<W, N>(empty_boxes) | (row & !columns), SIDE);
        }
        cells
    }

    /// Adds weight where a guess has failed: to digits that lack a place in a house and to its
    /// cells, or to cells without a candidate.
    #[cold]
    pub(super) fn blame(&self, culprit: Culprit, weights: &mut Weights) {
        match culprit {
            Culprit::Cells => {
                for band in 0..N {
                    let held = self.layers[band][..SIDE].iter().fold(W::ZERO, |held, &layer| held | layer);
                    for bit in Bits(W::of(BandLayout::<N>::BAND) & !held) {
                        weights.cells[band * Self::BAND_CELLS + bit] += Weights::EMPTY_CELL;
                    }
                }
            }
            Culprit::Group(group) => {
                for digit in group * GROUP..((group + 1) * GROUP).min(SIDE) {
                    // A group of one digit is to blame even if no house is empty yet, because two
                    // houses need the same cells.
                    let mut empty = GROUP == 1;
                    for (band, &cells) in self.empty_houses(digit).iter().enumerate() {
                        empty |= cells != W::ZERO;
                        for bit in Bits(cells) {
                            weights.cells[band * Self::BAND_CELLS + bit] += 1;
                        }
                    }
                    weights.digits[digit] += u32::from(empty);
                }
            }
        }
    }
}

/// The first candidate with the greatest weight.
fn heaviest(
    candidates: impl Iterator<Item = BandCandidate>,
    weight: impl Fn(BandCandidate) -> u32,
) -> BandCandidate {
    candidates
        .reduce(|best, next| if weight(next) > weight(best) { next } else { best })
        .expect("a choice has alternatives")
}

/// Weights: where guesses have failed in the current puzzle, and how often. A cell without a
/// candidate adds to that cell; a house without a place for a digit adds to all of its cells and to
/// the digit.
pub(super) struct Weights {
    pub(super) cells: [u32; MAX_CELLS],
    pub(super) digits: [u32; MAX_SIDE],
}

impl Weights {
    /// The weight of a cell without a candidate, which is more specific than a house.
    const EMPTY_CELL: u32 = 3;

    pub(super) fn clear<const SIDE: usize>(&mut self) {
        self.cells[..SIDE * SIDE].fill(0);
        self.digits[..SIDE].fill(0);
    }
}
