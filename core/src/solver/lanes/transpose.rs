//! Between the two shapes of what lanes hold: *sliced*, one word for each bit with a part for each lane, and in *rows*,
//! all bits of a lane together.

use super::word::Word;

/// The candidates of one puzzle: bit `81 * digit + cell`, digits and cells from 0. The bits from
/// [`CANDIDATES`] on are free.
pub(super) type Row = [u64; ROW_PARTS];

/// How many 64-bit parts a row has.
pub(super) const ROW_PARTS: usize = 12;

/// 9 digits in 81 cells.
pub(super) const CANDIDATES: usize = 729;

/// The digits of one grid in binary: 81 bits for each of ones, twos, fours and eights. The first 64 cells of each stand
/// in a part of their own; the other 17 of ones and twos share the fifth part, those of fours and eights the sixth.
pub(super) type Planes = [u64; PLANES_PARTS];

/// How many 64-bit parts the planes have.
pub(super) const PLANES_PARTS: usize = 6;

/// Packs the planes of a grid.
#[inline(always)]
pub(super) fn pack(planes: [u128; 4]) -> Planes {
    let [ones, twos, fours, eights] = planes;
    [ones as u64, twos as u64, fours as u64, eights as u64, tails(ones, twos), tails(fours, eights)]
}

/// The last 17 cells of two planes; what stands behind them is left out.
#[inline(always)]
const fn tails(low: u128, high: u128) -> u64 {
    (low >> 64) as u64 & TAIL | ((high >> 64) as u64 & TAIL) << 17
}

const TAIL: u64 = (1 << 17) - 1;

/// The opposite of [`pack`].
#[inline(always)]
pub(super) fn unpack(planes: Planes) -> [u128; 4] {
    let mut unpacked = [0; 4];
    for plane in 0..4 {
        let tail = planes[4 + plane / 2] >> (17 * (plane % 2)) & TAIL;
        unpacked[plane] = u128::from(tail) << 64 | u128::from(planes[plane]);
    }
    unpacked
}

/// The candidates of a puzzle: its clues, and every digit in the blanks.
#[inline(always)]
pub(super) fn row_of_puzzle(planes: [u128; 4]) -> Row {
    let [ones, twos, fours, eights] = planes;
    let blank = !(ones | twos | fours | eights);
    let mut digits = [0; 9];
    for digit in 0..9 {
        let is = |plane: u128, bit: usize| if (digit + 1) >> bit & 1 == 1 { plane } else { !plane };
        digits[digit] = (is(ones, 0) & is(twos, 1) & is(fours, 2) & is(eights, 3) | blank) & ((1 << 81) - 1);
    }
    row_of_digits(&digits)
}

/// The planes of the solution in a row that has one candidate in each cell.
#[inline(always)]
pub(super) fn planes_of_solution(row: &Row) -> [u128; 4] {
    let mut planes = [0; 4];
    for (digit, cells) in digits_of_row(row).into_iter().enumerate() {
        for (bit, plane) in planes.iter_mut().enumerate() {
            if (digit + 1) >> bit & 1 == 1 {
                *plane |= cells & ((1 << 81) - 1);
            }
        }
    }
    planes
}

/// A row out of the cells of each digit, of which only 81 bits may be set.
#[inline(always)]
pub(super) fn row_of_digits(digits: &[u128; 9]) -> Row {
    let mut row = [0; ROW_PARTS];
    for digit in 0..9 {
        let (part, bit, cells) = (81 * digit / 64, 81 * digit % 64, digits[digit]);
        row[part] |= (cells << bit) as u64;
        row[part + 1] |= (cells >> (64 - bit)) as u64;
        if bit + 81 > 128 {
            row[part + 2] |= (cells >> (128 - bit)) as u64;
        }
    }
    row
}

/// The opposite of [`row_of_digits`]. What stands behind the 81 bits is unspecified.
#[inline(always)]
pub(super) fn digits_of_row(row: &Row) -> [u128; 9] {
    let mut digits = [0; 9];
    for digit in 0..9 {
        let (part, bit) = (81 * digit / 64, 81 * digit % 64);
        digits[digit] = (u128::from(row[part]) | u128::from(row[part + 1]) << 64) >> bit;
        if bit + 81 > 128 {
            digits[digit] |= u128::from(row[part + 2]) << (128 - bit);
        }
    }
    digits
}

/// The rows of all lanes, part by part: all first parts, then all second parts.
///
/// The lanes are in the order of [`Mask`](super::word::Mask), so that what is transposed is contiguous: lane
/// `PARTS * n + q` is part `q` of the `n`th word of a part of the rows, and bit `n` of part `q` of each word of a slice.
pub(super) struct Rows<const PARTS: usize> {
    parts: Vec<u64>,
    /// Where the first row begins: at a line of the cache, since a vector across two of them takes twice as long.
    first: usize,
}

/// From one part of the rows to the next: somewhat more than the lanes, since at a power of two all parts of a row
/// would want the same line of the cache.
const fn stride<W: Word>() -> usize {
    64 * W::PARTS + LINE
}

/// How many parts lie in one line of the cache.
const LINE: usize = 8;

impl<const PARTS: usize> Rows<PARTS> {
    /// For `64 * W::PARTS` lanes.
    pub(super) fn new<W: Word>() -> Self {
        let parts = vec![0; PARTS * stride::<W>() + LINE];
        // If that cannot be found out, any place is right.
        let first = parts.as_ptr().align_offset(size_of::<u64>() * LINE).min(LINE);
        Self { parts, first }
    }

    /// The row of a lane.
    #[inline(always)]
    pub(super) fn get<W: Word>(&self, lane: usize) -> [u64; PARTS] {
        // One check for all parts.
        let parts = &self.parts[self.first + lane..][..=(PARTS - 1) * stride::<W>()];
        let mut row = [0; PARTS];
        for part in 0..PARTS {
            row[part] = parts[part * stride::<W>()];
        }
        row
    }

    /// One part of the row of a lane.
    #[inline(always)]
    pub(super) fn part<W: Word>(&self, lane: usize, part: usize) -> u64 {
        self.parts[self.first + lane + part * stride::<W>()]
    }

    /// Sets the row of a lane.
    #[inline(always)]
    pub(super) fn set<W: Word>(&mut self, lane: usize, row: &[u64; PARTS]) {
        let parts = &mut self.parts[self.first + lane..][..=(PARTS - 1) * stride::<W>()];
        for part in 0..PARTS {
            parts[part * stride::<W>()] = row[part];
        }
    }

    /// The words of 64 bits of every row, from bit `64 * part` on.
    #[inline(always)]
    pub(super) fn slice<W: Word>(&self, part: usize, words: &mut [W; 64]) {
        self.half_slice(part, words);
        for first in 0..8 {
            transpose_near(&mut words.as_chunks_mut().0[first]);
        }
    }

    /// The same for some lanes: in the others the words stay as they are. There may be fewer words than 64, or more,
    /// which stay as they are too. `half` is room to work in.
    #[inline(always)]
    pub(super) fn slice_of<W: Word>(&self, part: usize, lanes: W, words: &mut [W], half: &mut [W; 64]) {
        self.half_slice(part, half);
        for first in 0..8 {
            let mut eight = half.as_chunks().0[first];
            transpose_near(&mut eight);
            for k in 0..8 {
                if let Some(word) = words.get_mut(8 * first + k) {
                    *word = W::select(lanes, eight[k], *word);
                }
            }
        }
    }

    /// The first half of [`Self::slice`].
    #[inline(always)]
    fn half_slice<W: Word>(&self, part: usize, half: &mut [W; 64]) {
        let parts = &self.parts[self.first + part * stride::<W>()..][..64 * W::PARTS];
        for first in 0..8 {
            let mut eight = [W::splat(0); 8];
            for k in 0..8 {
                eight[k] = W::load(&parts[(first + 8 * k) * W::PARTS..]);
            }
            transpose_far(&mut eight);
            for k in 0..8 {
                half[first + 8 * k] = eight[k];
            }
        }
    }

    /// The opposite of [`Self::slice`]. There may be fewer words; what is missing is zero. `half` is room to work in.
    #[inline(always)]
    pub(super) fn set_slice<W: Word>(&mut self, part: usize, words: &[W], half: &mut [W; 64]) {
        for first in 0..8 {
            let mut eight = [W::splat(0); 8];
            for k in 0..8 {
                if first + 8 * k < words.len() {
                    eight[k] = words[first + 8 * k];
                }
            }
            transpose_far(&mut eight);
            for k in 0..8 {
                half[first + 8 * k] = eight[k];
            }
        }
        let parts = &mut self.parts[self.first + part * stride::<W>()..][..64 * W::PARTS];
        for first in 0..8 {
            // A copy, which stays in registers: in place, each word would be stored twice.
            let mut eight = half.as_chunks().0[first];
            transpose_near(&mut eight);
            for k in 0..8 {
                eight[k].store(&mut parts[(8 * first + k) * W::PARTS..]);
            }
        }
    }
}

impl Rows<PLANES_PARTS> {
    /// The planes of all lanes: `81 * plane + cell`.
    #[inline(always)]
    pub(super) fn slice_planes<W: Word>(&self, planes: &mut [W; 324]) {
        let mut words = [W::splat(0); 64];
        for part in 0..PLANES_PARTS {
            self.slice(part, &mut words);
            if part < 4 {
                planes[81 * part..][..64].copy_from_slice(&words);
            } else {
                planes[81 * 2 * (part - 4) + 64..][..17].copy_from_slice(&words[..17]);
                planes[81 * (2 * (part - 4) + 1) + 64..][..17].copy_from_slice(&words[17..34]);
            }
        }
    }

    /// The opposite of [`Self::slice_planes`].
    #[inline(always)]
    pub(super) fn set_planes<W: Word>(&mut self, planes: &[W; 324]) {
        let mut half = [W::splat(0); 64];
        for part in 0..PLANES_PARTS {
            if part < 4 {
                self.set_slice(part, &planes[81 * part..][..64], &mut half);
            } else {
                let (low, high) = planes[162 * (part - 4)..].split_at(81);
                let mut words = [W::splat(0); 34];
                words[..17].copy_from_slice(&low[64..]);
                words[17..].copy_from_slice(&high[64..81]);
                self.set_slice(part, &words, &mut half);
            }
        }
    }
}

/// The first half of transposing the 64 x 64 bits of each part, so that bit `i` of word `k` becomes bit `k` of word `i`:
/// of every eighth word.
///
/// Six rounds of exchanging halves, quarters and so on, as in *Hacker's Delight*, section 7-3. Three rounds at a time
/// work on eight words, which stay in registers.
#[inline(always)]
fn transpose_far<W: Word>(words: &mut [W; 8]) {
    exchange::<W, 32, 4>(words);
    exchange::<W, 16, 2>(words);
    exchange::<W, 8, 1>(words);
}

/// The second half: of eight words in a row.
#[inline(always)]
fn transpose_near<W: Word>(words: &mut [W; 8]) {
    exchange::<W, 4, 4>(words);
    exchange::<W, 2, 2>(words);
    exchange::<W, 1, 1>(words);
}

/// Exchanges the upper `SHIFT` bits of each group in one word with the lower ones in the word `STEP` further on.
#[inline(always)]
fn exchange<W: Word, const SHIFT: u32, const STEP: usize>(words: &mut [W; 8]) {
    for k in 0..8 {
        if k & STEP == 0 {
            (words[k], words[k + STEP]) = W::exchange::<SHIFT>(words[k], words[k + STEP]);
        }
    }
}
