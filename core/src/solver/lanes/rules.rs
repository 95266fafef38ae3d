//! The rules of Sudoku in all lanes at once, without a search: which puzzles have a digit twice in a
//! house.

use super::job::padded_digits;
use super::packing::{PLANES_PARTS, Packing, SlicedPlanes, pack};
use super::transpose::LaneRows;
use super::word::{Mask, Word};

/// The check of one thread, generic over the words of a back end.
pub(super) struct RuleCheck<W> {
    /// Puzzles on their way in.
    grids: LaneRows<PLANES_PARTS>,
    planes: Box<SlicedPlanes<W>>,
}

impl<W: Packing> RuleCheck<W> {
    const LANES: usize = 64 * W::PARTS;

    pub(super) fn new() -> Self {
        Self { grids: LaneRows::new::<W>(), planes: Box::new([W::splat(0); 324]) }
    }

    /// Appends the index of each puzzle that breaks a rule, in their order.
    #[inline(always)]
    pub(super) fn find_broken(&mut self, puzzles: &[[u8; 81]], broken: &mut Vec<usize>) {
        let mut last = [0; 96];
        for first in (0..puzzles.len()).step_by(Self::LANES) {
            let count = (puzzles.len() - first).min(Self::LANES);
            for lane in 0..count {
                let digits = padded_digits(puzzles[first + lane..].as_flattened(), &mut last);
                self.grids.set::<W>(lane, &pack(W::planes(digits)));
            }
            self.grids.slice_planes(&mut self.planes);
            let lanes = Mask::of(broken_lanes(&self.planes));
            // Lanes behind the last puzzle may have one from before.
            if !lanes.is_empty() {
                broken.extend((0..count).filter(|&lane| lanes.contains::<W>(lane)).map(|lane| first + lane));
            }
        }
    }
}

/// The lanes with a digit that is twice in a row, a column or a box.
#[inline(always)]
fn broken_lanes<W: Word>(planes: &SlicedPlanes<W>) -> W {
    let mut broken = W::splat(0);
    for digit in 1..=9_u64 {
        let mut bits = [W::splat(0); 4];
        for plane in 0..4 {
            bits[plane] = W::splat((digit >> plane & 1).wrapping_neg());
        }
        let mut columns = [W::splat(0); 9];
        for band in 0..3 {
            let mut boxes = [W::splat(0); 3];
            for row in 3 * band..3 * band + 3 {
                let mut before = W::splat(0);
                for column in 0..9 {
                    let cell = 9 * row + column;
                    let mut is_other = planes[cell].xor(bits[0]);
                    for plane in 1..4 {
                        is_other = W::or_xor(is_other, planes[81 * plane + cell], bits[plane]);
                    }
                    let is_digit = W::splat(!0).and_not(is_other);
                    let is_repeated = W::or3(before, columns[column], boxes[column / 3]);
                    broken = W::or_and(broken, is_digit, is_repeated);
                    before = before.or(is_digit);
                    columns[column] = columns[column].or(is_digit);
                    boxes[column / 3] = boxes[column / 3].or(is_digit);
                }
            }
        }
    }
    broken
}
