//! Band words: the cells of a band as the bits of one word, and operations on all of them at once.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr};

/// A set of cells of a band, one bit each: an integer with at least as many bits.
pub(super) trait BandWord:
    Copy
    + Eq
    + Send
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
    + 'static
{
    const ZERO: Self;
    /// The low bits of a mask, as many as fit.
    fn of(mask: u128) -> Self;
    fn minus(self, other: Self) -> Self;
    fn lowest(self) -> usize;
}

macro_rules! word {
    ($($unsigned:ty)*) => {$(
        impl BandWord for $unsigned {
            const ZERO: Self = 0;

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
            fn of(mask: u128) -> Self {
                mask as Self
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn lowest(self) -> usize {
                self.trailing_zeros() as usize
            }
        }
    )*};
}

word!(u32 u64 u128);

/// The bits of a word, lowest first.
pub(super) struct Bits<W>(pub(super) W);

impl<W: BandWord> Iterator for Bits<W> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == W::ZERO {
            return None;
        }
        let bit = self.0.lowest();
        self.0 &= self.0.minus(W::of(1));
        Some(bit)
    }
}

/// The layout of a band word of order `N`: row by row, as in a grid. At order 3:
///
/// ```text
/// bit  26     ..     18   17     ..      9   8  7  6   5  4  3   2  1  0
///      [     row 2     ]  [     row 1     ]  [box 2 ] [box 1 ] [box 0 ]  row 0
///                                            minirow  minirow  minirow
/// ```
pub(super) struct BandLayout<const N: usize>;

impl<const N: usize> BandLayout<N> {
    pub(super) const SIDE: usize = N * N;
    /// The first row.
    pub(super) const ROW: u128 = (1 << Self::SIDE) - 1;
    /// The first cell of each row.
    pub(super) const ROWS: u128 = every(Self::SIDE, N);
    /// The first minirow.
    pub(super) const MINIROW: u128 = (1 << N) - 1;
    /// The first cell of each minirow.
    pub(super) const MINIROWS: u128 = every(N, N * N);
    /// The first cell of each box.
    pub(super) const BOXES: u128 = Self::MINIROWS & Self::ROW;
    /// Every cell.
    pub(super) const BAND: u128 = Self::ROW * Self::ROWS;
}

/// `times` bits, `step` apart.
pub(super) const fn every(step: usize, times: usize) -> u128 {
    let mut mask = 0;
    let mut k = 0;
    while k < times {
        mask |= 1 << (k * step);
        k += 1;
    }
    mask
}

/// Whether at least one, and at least two, of the `N` bits are set that begin at each bit and are
/// `step` apart. Only the results at the start of a line are meaningful.
#[inline(always)]
pub(super) fn along<W: BandWord, const N: usize>(word: W, step: usize) -> (W, W) {
    let (mut one, mut two) = (word, W::ZERO);
    for k in 1..N {
        let next = word >> (k * step);
        two |= one & next;
        one |= next;
    }
    (one, two)
}

/// Copies the start of each line to all of its `N` bits, which are `step` apart.
#[inline(always)]
pub(super) fn spread<W: BandWord, const N: usize>(starts: W, step: usize) -> W {
    let mut all = starts;
    for k in 1..N {
        all |= starts << (k * step);
    }
    all
}

/// [`spread`] with step 1 in two operations: from the first cell of minirows to all of their cells.
#[inline(always)]
pub(super) fn minirows_at<W: BandWord, const N: usize>(starts: W) -> W {
    (starts << N).minus(starts)
}

/// Clears the boxes of `cells` but for these. The second word is not zero if some box has two of
/// them.
#[inline(always)]
pub(super) fn place_in_boxes<W: BandWord, const N: usize>(word: W, cells: W) -> (W, W) {
    let (row, boxes) = (W::of(BandLayout::<N>::ROW), W::of(BandLayout::<N>::BOXES));
    let (columns, two_rows) = along::<W, N>(cells, BandLayout::<N>::SIDE);
    let (held, two_columns) = along::<W, N>(columns & row, 1);
    let held = spread::<W, N>(minirows_at::<W, N>(held & boxes), BandLayout::<N>::SIDE);
    ((word & !held) | cells, (two_rows & row) | (two_columns & boxes))
}
