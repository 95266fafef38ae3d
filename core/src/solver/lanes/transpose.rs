//! Between the two shapes of what lanes hold: *sliced*, one word for each bit with a part for each lane, and in *rows*,
//! all bits of a lane together.

use super::packing::{PLANES_PARTS, SlicedPlanes};
use super::word::Word;

/// The rows of all lanes, part by part: all first parts, then all second parts.
///
/// The lanes are in the order of [`Mask`](super::word::Mask), so that what is transposed is contiguous: lane
/// `PARTS * n + q` is part `q` of the `n`th word of a part of the rows, and bit `n` of part `q` of each word of a slice.
pub(super) struct LaneRows<const PARTS: usize> {
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

impl<const PARTS: usize> LaneRows<PARTS> {
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

impl LaneRows<PLANES_PARTS> {
    /// The planes of all lanes: `81 * plane + cell`.
    #[inline(always)]
    pub(super) fn slice_planes<W: Word>(&self, planes: &mut SlicedPlanes<W>) {
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
    pub(super) fn set_planes<W: Word>(&mut self, planes: &SlicedPlanes<W>) {
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
