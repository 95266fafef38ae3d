//! Sets of cells.

use super::geometry::Geometry;
use crate::grid::MAX_CELLS;

const WORDS: usize = MAX_CELLS.div_ceil(64);

/// A set of cells, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellSet([u64; WORDS]);

impl CellSet {
    pub(super) const NONE: Self = Self([0; WORDS]);

    /// The cells that share a house with `cell`.
    pub(super) fn peers(geometry: &Geometry, cell: usize) -> Self {
        let mut set = Self::NONE;
        set.0[..geometry.words].copy_from_slice(geometry.peer_bits(cell));
        set
    }

    #[inline]
    pub(super) fn insert(&mut self, cell: usize) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    #[must_use]
    pub(super) fn and(mut self, other: &Self) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
        self
    }

    #[must_use]
    pub(super) fn without(mut self, other: &Self) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= !other;
        }
        self
    }

    /// The cells in reading order.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(64 * at + bit)
            })
        })
    }
}

impl FromIterator<usize> for CellSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cells: I) -> Self {
        let mut set = Self::NONE;
        cells.into_iter().for_each(|cell| set.insert(cell));
        set
    }
}
