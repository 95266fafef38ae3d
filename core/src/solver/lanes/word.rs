//! The vector vocabulary: all that the kernel needs of a machine.

use super::transpose::{Row, planes_of_solution, row_of_puzzle};

/// A vector of single bits, one for each lane. All of the kernel is written over this, once.
///
/// The methods that take three words have a default in terms of those that take two; a machine that does them in one
/// instruction overrides them.
///
/// A type may stand for instructions that not every machine has. Its values are made and used only inside the
/// function of its back end that is compiled for those instructions, and that is entered only where they are found.
pub(super) trait Word: Copy {
    /// How many 64-bit parts it has.
    const PARTS: usize;

    /// Every part is `part`.
    fn splat(part: u64) -> Self;

    /// The first [`Self::PARTS`] parts of a slice that is at least as long.
    fn load(parts: &[u64]) -> Self;

    /// Writes the parts to the start of a slice that is at least as long.
    fn store(self, parts: &mut [u64]);

    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;

    /// `self & !other`
    fn and_not(self, other: Self) -> Self;

    /// Each part shifted left by `N`.
    fn shift_left<const N: u32>(self) -> Self;

    /// Each part shifted right by `N`.
    fn shift_right<const N: u32>(self) -> Self;

    /// `a | b | c`
    #[inline(always)]
    fn or3(a: Self, b: Self, c: Self) -> Self {
        a.or(b).or(c)
    }

    /// `a & b & c`
    #[inline(always)]
    fn and3(a: Self, b: Self, c: Self) -> Self {
        a.and(b).and(c)
    }

    /// `a ^ b ^ c`, which is the sum of three bits.
    #[inline(always)]
    fn xor3(a: Self, b: Self, c: Self) -> Self {
        a.xor(b).xor(c)
    }

    /// Two or three of them, which is the carry of three bits.
    #[inline(always)]
    fn majority(a: Self, b: Self, c: Self) -> Self {
        a.and(b).or(c.and(a.or(b)))
    }

    /// `a & !(b | c)`
    #[inline(always)]
    fn and_nor(a: Self, b: Self, c: Self) -> Self {
        a.and_not(b.or(c))
    }

    /// `a | (b & c)`
    #[inline(always)]
    fn or_and(a: Self, b: Self, c: Self) -> Self {
        a.or(b.and(c))
    }

    /// `a | (b ^ c)`
    #[inline(always)]
    fn or_xor(a: Self, b: Self, c: Self) -> Self {
        a.or(b.xor(c))
    }

    /// `a` where `mask` is set, else `b`.
    #[inline(always)]
    fn select(mask: Self, a: Self, b: Self) -> Self {
        a.and(mask).or(b.and_not(mask))
    }

    /// Exchanges the upper `N` bits of each group of `2 * N` in `a` with the lower ones in `b`.
    #[inline(always)]
    fn exchange<const N: u32>(a: Self, b: Self) -> (Self, Self) {
        exchange_by_shifts::<Self, N>(a, b)
    }

    /// Has the first byte brought near, where the machine can be told so. Changes nothing.
    #[inline(always)]
    fn prefetch(_bytes: &[u8]) {}

    /// The cells of a grid whose digit, in binary, has the ones, the twos, the fours and the eights.
    #[inline(always)]
    fn planes(digits: &[u8; 96]) -> [u128; 4] {
        let mut planes = [0; 4];
        for (group, eight) in digits.as_chunks::<8>().0.iter().enumerate() {
            let eight = u64::from_le_bytes(*eight);
            for (bit, plane) in planes.iter_mut().enumerate() {
                // The product has in its highest byte one bit of each byte.
                let bits = ((eight >> bit) & LOWEST_BITS).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                *plane |= u128::from(bits) << (8 * group);
            }
        }
        planes
    }

    /// The opposite of [`Self::planes`].
    #[inline(always)]
    fn digits(planes: &[u128; 4], digits: &mut [u8; 81]) {
        let mut bytes = [0; 88];
        for (group, eight) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let mut sum = 0;
            for (bit, plane) in planes.iter().enumerate() {
                // Byte k gets the byte's bit k alone, which then carries into the byte's highest bit.
                let byte = (plane >> (8 * group)) as u64 & 0xFF;
                let spread = byte.wrapping_mul(LOWEST_BITS) & 0x8040_2010_0804_0201;
                sum |= ((spread + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & LOWEST_BITS) << bit;
            }
            *eight = sum.to_le_bytes();
        }
        digits.copy_from_slice(&bytes[..81]);
    }

    /// The candidates of a puzzle: its clues, and every digit in the blanks.
    #[inline(always)]
    fn row(digits: &[u8; 96]) -> Row {
        row_of_puzzle(Self::planes(digits))
    }

    /// The digits of the solution in a row that has one candidate in each cell.
    #[inline(always)]
    fn solution(row: &Row, digits: &mut [u8; 81]) {
        Self::digits(&planes_of_solution(row), digits);
    }
}

/// [`Word::exchange`] where the machine has nothing better.
#[inline(always)]
pub(super) fn exchange_by_shifts<W: Word, const N: u32>(a: W, b: W) -> (W, W) {
    let lower = W::splat(!0 / ((1 << N) + 1));
    (W::select(lower, a, b.shift_left::<N>()), W::select(lower, a.shift_right::<N>(), b))
}

/// The lowest bit of each byte.
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;

/// A set of lanes: the parts of a word on the scalar side.
///
/// Lane `PARTS * n + q` is bit `n` of part `q`: in this order the rows of lanes that follow each other lie side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask {
    parts: [u64; Self::MOST_PARTS],
}

impl Mask {
    /// As many parts as the widest word has.
    const MOST_PARTS: usize = 8;

    /// All lanes of a word `W`.
    pub(super) fn all<W: Word>() -> Self {
        Self::of(W::splat(!0))
    }

    #[inline(always)]
    pub(super) fn of<W: Word>(word: W) -> Self {
        let mut mask = Self { parts: [0; Self::MOST_PARTS] };
        word.store(&mut mask.parts);
        mask
    }

    #[inline(always)]
    pub(super) fn word<W: Word>(&self) -> W {
        W::load(&self.parts)
    }

    #[inline(always)]
    pub(super) fn len(&self) -> u32 {
        let mut len = 0;
        for part in self.parts {
            len += part.count_ones();
        }
        len
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.parts == [0; Self::MOST_PARTS]
    }

    #[inline(always)]
    pub(super) fn contains<W: Word>(&self, lane: usize) -> bool {
        self.parts[lane % W::PARTS] >> (lane / W::PARTS) & 1 != 0
    }

    #[inline(always)]
    pub(super) fn insert<W: Word>(&mut self, lane: usize) {
        self.parts[lane % W::PARTS] |= 1 << (lane / W::PARTS);
    }

    #[inline(always)]
    pub(super) fn remove<W: Word>(&mut self, lane: usize) {
        self.parts[lane % W::PARTS] &= !(1 << (lane / W::PARTS));
    }

    /// Adds the lanes of another set.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &Self) {
        for part in 0..Self::MOST_PARTS {
            self.parts[part] |= other.parts[part];
        }
    }

    /// Removes the lanes of another set.
    #[inline(always)]
    pub(super) fn subtract(&mut self, other: &Self) {
        for part in 0..Self::MOST_PARTS {
            self.parts[part] &= !other.parts[part];
        }
    }

    /// The lanes in ascending order, in `list`.
    #[inline(always)]
    pub(super) fn lanes<'a, W: Word>(&self, list: &'a mut LaneList) -> &'a [u16] {
        let mut any = 0;
        for part in self.parts {
            any |= part;
        }
        let mut len = 0;
        while any != 0 {
            let bit = any.trailing_zeros() as usize;
            any &= any - 1;
            for part in 0..W::PARTS {
                // Written in any case, and kept only if it is one: no branch that cannot be foreseen.
                // Before each lane there are fewer than all, so the remainder changes nothing but spares a check.
                list[len % list.len()] = (W::PARTS * bit + part) as u16;
                len += (self.parts[part] >> bit & 1) as usize;
            }
        }
        &list[..len]
    }
}

/// Room for all lanes of the widest word.
pub(super) type LaneList = [u16; MOST_LANES];

/// As many lanes as the widest word has.
pub(super) const MOST_LANES: usize = 64 * Mask::MOST_PARTS;
