//! Packing of puzzles: 81 digits, one byte each, to the bits that lanes are loaded from, and back.
//!
//! A puzzle enters a lane as four *planes*, its digits in binary, or as a *row*, its 729
//! candidates. A solution leaves as either. [`LaneRows`](super::transpose::LaneRows) turns planes
//! and rows into words.

use super::word::Word;

/// Conversion of one puzzle at a time, with the instructions of a back end.
///
/// The defaults are plain arithmetic on 64 and 128 bits. Digits come in 96 bytes, three vectors of
/// 32, of which the first 81 count.
pub(super) trait Packing: Word {
    /// Prefetches the cache line of the first byte, where the back end has an instruction for it.
    #[inline(always)]
    fn prefetch(_bytes: &[u8]) {}

    /// The planes of 81 digits: bit `cell` of plane `n` is bit `n` of the cell's digit.
    #[inline(always)]
    fn planes(digits: &[u8; 96]) -> [u128; 4] {
        let mut planes = [0; 4];
        for (group, eight) in digits.as_chunks::<8>().0.iter().enumerate() {
            let eight = u64::from_le_bytes(*eight);
            for (bit, plane) in planes.iter_mut().enumerate() {
                // The highest byte of the product gathers one bit of each byte.
                let bits = ((eight >> bit) & LOWEST_BITS).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                *plane |= u128::from(bits) << (8 * group);
            }
        }
        planes
    }

    /// The digits of planes, the inverse of [`Self::planes`].
    #[inline(always)]
    fn digits(planes: &[u128; 4], digits: &mut [u8; 81]) {
        let mut bytes = [0; 88];
        for (group, eight) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let mut sum = 0;
            for (bit, plane) in planes.iter().enumerate() {
                // Byte k gets only bit k, which the addition then carries into the highest bit.
                let byte = (plane >> (8 * group)) as u64 & 0xFF;
                let spread = byte.wrapping_mul(LOWEST_BITS) & 0x8040_2010_0804_0201;
                sum |= ((spread + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & LOWEST_BITS) << bit;
            }
            *eight = sum.to_le_bytes();
        }
        digits.copy_from_slice(&bytes[..81]);
    }

    /// The candidates of a puzzle: its clues, and all digits in its blanks.
    #[inline(always)]
    fn row(digits: &[u8; 96]) -> CandidateRow {
        row_of_puzzle(Self::planes(digits))
    }

    /// The digits of a row that has one candidate in each cell.
    #[inline(always)]
    fn solution(row: &CandidateRow, digits: &mut [u8; 81]) {
        Self::digits(&planes_of_solution(row), digits);
    }
}

/// The lowest bit of each byte.
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;

/// The candidates of one puzzle: bit `81 * digit + cell`, both from 0. The bits from [`CANDIDATES`]
/// on are free for other uses.
pub(super) type CandidateRow = [u64; ROW_PARTS];

/// The 64-bit parts of a row.
pub(super) const ROW_PARTS: usize = 12;

/// 9 digits in 81 cells.
pub(super) const CANDIDATES: usize = 729;

/// The planes of one grid, 81 bits each. The first 64 cells of a plane fill a part of their own;
/// the other 17 of the ones and the twos share the fifth part, those of the fours and the eights
/// the sixth.
pub(super) type Planes = [u64; PLANES_PARTS];

/// The planes of all lanes: word `81 * plane + cell` has one bit for each lane.
pub(super) type SlicedPlanes<W> = [W; 4 * 81];

/// The 64-bit parts of packed planes.
pub(super) const PLANES_PARTS: usize = 6;

/// Packs the planes of a grid.
#[inline(always)]
pub(super) fn pack(planes: [u128; 4]) -> Planes {
    let [ones, twos, fours, eights] = planes;
    [ones as u64, twos as u64, fours as u64, eights as u64, tails(ones, twos), tails(fours, eights)]
}

/// The last 17 cells of two planes; higher bits are dropped.
#[inline(always)]
const fn tails(low: u128, high: u128) -> u64 {
    (low >> 64) as u64 & TAIL | ((high >> 64) as u64 & TAIL) << 17
}

const TAIL: u64 = (1 << 17) - 1;

/// The planes of a grid, the inverse of [`pack`].
#[inline(always)]
pub(super) fn unpack(planes: Planes) -> [u128; 4] {
    let mut unpacked = [0; 4];
    for plane in 0..4 {
        let tail = planes[4 + plane / 2] >> (17 * (plane % 2)) & TAIL;
        unpacked[plane] = u128::from(tail) << 64 | u128::from(planes[plane]);
    }
    unpacked
}

/// The candidates of a puzzle: its clues, and all digits in its blanks.
#[inline(always)]
pub(super) fn row_of_puzzle(planes: [u128; 4]) -> CandidateRow {
    let [ones, twos, fours, eights] = planes;
    let blank = !(ones | twos | fours | eights);
    let mut digits = [0; 9];
    for digit in 0..9 {
        let is = |plane: u128, bit: usize| if (digit + 1) >> bit & 1 == 1 { plane } else { !plane };
        digits[digit] = (is(ones, 0) & is(twos, 1) & is(fours, 2) & is(eights, 3) | blank) & ((1 << 81) - 1);
    }
    row_of_digits(&digits)
}

/// The planes of a row that has one candidate in each cell.
#[inline(always)]
pub(super) fn planes_of_solution(row: &CandidateRow) -> [u128; 4] {
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

/// The row with these cells for each digit. Only the low 81 bits of each may be set.
#[inline(always)]
pub(super) fn row_of_digits(digits: &[u128; 9]) -> CandidateRow {
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

/// The cells of each digit, the inverse of [`row_of_digits`]. Bits from 81 on are unspecified.
#[inline(always)]
pub(super) fn digits_of_row(row: &CandidateRow) -> [u128; 9] {
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
