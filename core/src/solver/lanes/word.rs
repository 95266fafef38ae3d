//! Words: vectors of single bits, one for each lane, and the bit algebra that the kernel is written
//! in.

/// A vector of single bits, one for each lane. The kernel is generic over it.
///
/// Functions of three words have defaults in terms of those of two; a back end overrides them where
/// the processor has one instruction for them.
///
/// An implementation may use instructions that not every processor has, even in [`Self::splat`] and
/// [`Self::load`], which take no value. It is sound because such a type is private to the file of
/// its back end: code for it runs only by way of the engine or the rule check of that back end, and
/// there is one only where the processor has the instructions.
pub(super) trait Word: Copy {
    /// The number of 64-bit parts.
    const PARTS: usize;

    /// The word with `part` in every part.
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

    /// `a ^ b ^ c`, the sum of three bits.
    #[inline(always)]
    fn xor3(a: Self, b: Self, c: Self) -> Self {
        a.xor(b).xor(c)
    }

    /// Where at least two of the three are set, the carry of three bits.
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

    /// Exchanges the upper `N` bits of each group of `2 * N` in `a` with the lower `N` in `b`.
    #[inline(always)]
    fn exchange<const N: u32>(a: Self, b: Self) -> (Self, Self) {
        exchange_by_shifts::<Self, N>(a, b)
    }
}

/// [`Word::exchange`] by shifts, for processors without a faster instruction.
#[inline(always)]
pub(super) fn exchange_by_shifts<W: Word, const N: u32>(a: W, b: W) -> (W, W) {
    let lower = W::splat(!0 / ((1 << N) + 1));
    (W::select(lower, a, b.shift_left::<N>()), W::select(lower, a.shift_right::<N>(), b))
}

/// A set of lanes: the parts of a word in scalar registers or memory.
///
/// Lane `PARTS * n + q` is bit `n` of part `q`. In this order the rows of neighbouring lanes are
/// contiguous in [`LaneRows`](super::transpose::LaneRows).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask {
    parts: [u64; Self::MOST_PARTS],
}

impl Mask {
    /// The parts of the widest word.
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
                // Written always and kept only if the bit is set, because a branch would often be
                // mispredicted. `len` is below the length here, so the remainder only saves a
                // bounds check.
                list[len % list.len()] = (W::PARTS * bit + part) as u16;
                len += (self.parts[part] >> bit & 1) as usize;
            }
        }
        &list[..len]
    }
}

/// A buffer for the numbers of all lanes of the widest word.
pub(super) type LaneList = [u16; MOST_LANES];

/// The lanes of the widest word.
pub(super) const MOST_LANES: usize = 64 * Mask::MOST_PARTS;
