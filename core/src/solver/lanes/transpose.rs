//! Transposition of what lanes hold: *rows*, all bits of one lane together, to *sliced* words, one
//! bit of all lanes together, and back.

use super::packing::{PLANES_PARTS, SlicedPlanes};
use super::word::Word;

/// The rows of all lanes, part by part: the first parts of all lanes, then the second parts, and so
/// on.
///
/// Lanes are in the order of [`Mask`](super::word::Mask), so that what is transposed together is
/// contiguous: lane `PARTS * n + q` is part `q` of the `n`th word of a part of the rows, and bit
/// `n` of part `q` of every sliced word.
pub(super) struct LaneRows<const PARTS: usize> {
    parts: Vec<u64>,
    /// Where the first row begins: at a cache line, because a vector across two of them takes twice
    /// as long.
    first: usize,
}

/// The distance from one part of the rows to the next: more than the lanes by one cache line,
/// because at a power of two all parts of a row would compete for the same set of the cache.
const fn stride<W: Word>() -> usize {
    64 * W::PARTS + LINE
}

/// The parts in one cache line.
const LINE: usize = 8;

impl<const PARTS: usize> LaneRows<PARTS> {
    /// Rows for `64 * W::PARTS` lanes, all zero.
    pub(super) fn new<W: Word>() -> Self {
        let parts = vec![0; PARTS * stride::<W>() + LINE];
        // Alignment is for speed only, so any offset is correct, as where it cannot be computed
        // (Miri).
        let first = parts.as_ptr().align_offset(size_of::<u64>() * LINE).min(LINE);
        Self { parts, first }
    }

    /// The row of a lane.
    #[inline(always)]
    pub(super) fn get<W: Word>(&self, lane: usize) -> [u64; PARTS] {
        // One bounds check for all parts.
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

    /// Transposes one part of all rows to 64 words.
    #[inline(always)]
    pub(super) fn slice<W: Word>(&self, part: usize, words: &mut [W; 64]) {
        self.half_slice(part, words);
        for first in 0..8 {
            transpose_near(&mut words.as_chunks_mut().0[first]);
        }
    }

    /// Transposes one part of the rows of some lanes; the words keep their bits of the other lanes.
    /// Words beyond the 64th stay as they are, and there may be fewer than 64. `half` is scratch
    /// space.
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

    /// Transposes up to 64 words to one part of all rows, the inverse of [`Self::slice`]. Missing
    /// words count as zero. `half` is scratch space.
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
            // The copy stays in registers; in place, each word would be stored twice.
            let mut eight = half.as_chunks().0[first];
            transpose_near(&mut eight);
            for k in 0..8 {
                eight[k].store(&mut parts[(8 * first + k) * W::PARTS..]);
            }
        }
    }
}

impl LaneRows<PLANES_PARTS> {
    /// Transposes the planes of all lanes to words.
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

    /// Transposes words to the planes of all lanes, the inverse of [`Self::slice_planes`].
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

/// The first half of the transposition of 64 x 64 bits in each part, on every eighth word. After
/// both halves, bit `i` of word `k` has become bit `k` of word `i`.
///
/// The algorithm exchanges halves, quarters and so on in six rounds (H. Warren, *Hacker's Delight*,
/// section 7-3). Three rounds at a time work on eight words, which stay in registers.
#[inline(always)]
fn transpose_far<W: Word>(words: &mut [W; 8]) {
    exchange::<W, 32, 4>(words);
    exchange::<W, 16, 2>(words);
    exchange::<W, 8, 1>(words);
}

/// The second half of the transposition, on eight neighbouring words.
#[inline(always)]
fn transpose_near<W: Word>(words: &mut [W; 8]) {
    exchange::<W, 4, 4>(words);
    exchange::<W, 2, 2>(words);
    exchange::<W, 1, 1>(words);
}

/// Exchanges the upper `SHIFT` bits of each group in one word with the lower ones of the word
/// `STEP` further on.
#[inline(always)]
fn exchange<W: Word, const SHIFT: u32, const STEP: usize>(words: &mut [W; 8]) {
    for k in 0..8 {
        if k & STEP == 0 {
            (words[k], words[k + STEP]) = W::exchange::<SHIFT>(words[k], words[k + STEP]);
        }
    }
}
