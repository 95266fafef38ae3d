//! Candidates that are followed side by side, a bit for each.

use crate::techniques::position::bits;

/// The candidates of a block.
pub(super) const SIDE_BY_SIDE: usize = 256;

/// A bit for each candidate of a block.
pub(super) type BlockBits = [u64; SIDE_BY_SIDE / 64];

pub(super) const NO_BITS: BlockBits = [0; SIDE_BY_SIDE / 64];
pub(super) const ALL_BITS: BlockBits = [u64::MAX; SIDE_BY_SIDE / 64];

/// Finds the candidates of all cells of a grid, and the number of each among them.
pub(super) fn find_live(
    live: &mut Vec<u16>,
    number: &mut Vec<u16>,
    side: usize,
    cells: impl ExactSizeIterator<Item = u32>,
) {
    number.resize(cells.len() * side, 0);
    live.clear();
    for (cell, candidates) in cells.enumerate() {
        for id in bits(candidates).map(|digit| cell * side + digit) {
            number[id] = live.len() as u16;
            live.push(id as u16);
        }
    }
}
