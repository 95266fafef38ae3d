//! Between the two shapes of a search state: *sliced*, one word for each candidate with a bit for each lane, and
//! *whole*, one [`Row`] for each lane.

use super::word::Word;

/// The candidates of one puzzle: bit `81 * digit + cell`, digits and cells from 0. The bits from
/// [`CANDIDATES`] on are free.
pub(super) type Row = [u64; ROW_PARTS];

/// How many 64-bit parts a row has.
pub(super) const ROW_PARTS: usize = 12;

/// 9 digits in 81 cells.
pub(super) const CANDIDATES: usize = 729;

/// The rows of all lanes, part by part: all first parts, then all second parts.
pub(super) struct Rows {
    parts: Vec<u64>,
    stride: usize,
}

impl Rows {
    /// For `64 * W::PARTS` lanes.
    pub(super) fn new<W: Word>() -> Self {
        // Somewhat more than the lanes: at a power of two all parts of a row would want the same line of the cache.
        let stride = 64 * W::PARTS + 8;
        Self { parts: vec![0; ROW_PARTS * stride], stride }
    }

    /// The row of a lane.
    #[inline(always)]
    pub(super) fn get<W: Word>(&self, lane: usize) -> Row {
        let place = place::<W>(lane);
        let mut row = [0; ROW_PARTS];
        for part in 0..ROW_PARTS {
            row[part] = self.parts[part * self.stride + place];
        }
        row
    }

    /// Sets the row of a lane.
    #[inline(always)]
    pub(super) fn set<W: Word>(&mut self, lane: usize, row: &Row) {
        let place = place::<W>(lane);
        for (part, &bits) in row.iter().enumerate() {
            self.parts[part * self.stride + place] = bits;
        }
    }

    /// The words of 64 bits of every row, from bit `64 * part` on.
    #[inline(always)]
    pub(super) fn slice<W: Word>(&self, part: usize) -> [W; 64] {
        let parts = &self.parts[part * self.stride..];
        let mut words = [W::splat(0); 64];
        for i in 0..64 {
            words[i] = W::load(&parts[i * W::PARTS..]);
        }
        transpose(&mut words);
        words
    }

    /// The opposite of [`Self::slice`].
    #[inline(always)]
    pub(super) fn set_slice<W: Word>(&mut self, part: usize, mut words: [W; 64]) {
        transpose(&mut words);
        let parts = &mut self.parts[part * self.stride..];
        for i in 0..64 {
            words[i].store(&mut parts[i * W::PARTS..]);
        }
    }
}

/// Where a lane stands among the rows. Lane `64 * q + n` is bit `n` of part `q` of a word, so it comes from part `q`
/// of word `n` of what is transposed.
#[inline(always)]
const fn place<W: Word>(lane: usize) -> usize {
    lane % 64 * W::PARTS + lane / 64
}

/// Transposes the 64 x 64 bits of each part: bit `i` of word `k` becomes bit `k` of word `i`.
///
/// Six rounds of exchanging halves, quarters and so on, as in *Hacker's Delight*, section 7-3. Three rounds at a time
/// work on eight words, which stay in registers.
#[inline(always)]
fn transpose<W: Word>(words: &mut [W; 64]) {
    for first in 0..8 {
        let mut eight = [W::splat(0); 8];
        for k in 0..8 {
            eight[k] = words[first + 8 * k];
        }
        exchange::<W, 32, 4>(&mut eight, 0x0000_0000_FFFF_FFFF);
        exchange::<W, 16, 2>(&mut eight, 0x0000_FFFF_0000_FFFF);
        exchange::<W, 8, 1>(&mut eight, 0x00FF_00FF_00FF_00FF);
        for k in 0..8 {
            words[first + 8 * k] = eight[k];
        }
    }
    for first in 0..8 {
        let eight = &mut words.as_chunks_mut().0[first];
        exchange::<W, 4, 4>(eight, 0x0F0F_0F0F_0F0F_0F0F);
        exchange::<W, 2, 2>(eight, 0x3333_3333_3333_3333);
        exchange::<W, 1, 1>(eight, 0x5555_5555_5555_5555);
    }
}

/// Exchanges the upper `SHIFT` bits of each group in one word with the lower ones in the word `STEP` further on.
/// `lower` has the lower ones set.
#[inline(always)]
fn exchange<W: Word, const SHIFT: u32, const STEP: usize>(words: &mut [W; 8], lower: u64) {
    let lower = W::splat(lower);
    for k in 0..8 {
        if k & STEP == 0 {
            let (a, b) = (words[k], words[k + STEP]);
            words[k] = W::select(lower, a, b.shift_left::<SHIFT>());
            words[k + STEP] = W::select(lower, a.shift_right::<SHIFT>(), b);
        }
    }
}
