//! The vector vocabulary: all that the kernel needs of a machine.

/// A vector of single bits, one for each lane. All of the kernel is written over this, once.
///
/// The methods that take three words have a default in terms of those that take two; a machine that does them in one
/// instruction overrides them.
///
/// A type may stand for instructions that not every machine has. Its values are made and used only inside the
/// function of its back end that is compiled for those instructions, and that is entered only where they are found.
pub(super) trait Word: Copy {
    /// How many 64-bit parts it has. Lane `64 * q + n` of the kernel's masks is bit `n` of part `q`.
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

    /// For each digit `1..=9` and, first, for 0: which of the 81 cells hold it. The bytes behind the cells hold
    /// none of these values.
    #[inline(always)]
    fn cells_by_digit(cells: &[u8; 96]) -> [u128; 10] {
        let mut masks = [0; 10];
        for (cell, &digit) in cells[..81].iter().enumerate() {
            masks[usize::from(digit)] |= 1 << cell;
        }
        masks
    }

    /// The opposite: the digit of each cell, given the cells of each digit. Each cell has one.
    #[inline(always)]
    fn digits_of_cells(cells: &[u128; 9], digits: &mut [u8; 81]) {
        for (digit, &mask) in (1..).zip(cells) {
            let mut mask = mask;
            while mask != 0 {
                digits[mask.trailing_zeros() as usize % 81] = digit;
                mask &= mask - 1;
            }
        }
    }
}

/// The parts of a word on the scalar side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask {
    parts: [u64; Self::MOST_PARTS],
}

impl Mask {
    /// As many parts as the widest word has.
    pub(super) const MOST_PARTS: usize = 8;

    /// All lanes of a word `W`.
    pub(super) const fn all<W: Word>() -> Self {
        let mut parts = [0; Self::MOST_PARTS];
        let mut part = 0;
        while part < W::PARTS {
            parts[part] = !0;
            part += 1;
        }
        Self { parts }
    }

    #[inline(always)]
    pub(super) fn of<W: Word>(word: W) -> Self {
        let mut mask = Self::default();
        word.store(&mut mask.parts);
        mask
    }

    #[inline(always)]
    pub(super) fn word<W: Word>(&self) -> W {
        W::load(&self.parts)
    }

    #[inline(always)]
    pub(super) fn len(&self) -> u32 {
        self.parts.iter().map(|part| part.count_ones()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts == [0; Self::MOST_PARTS]
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, lane: usize) {
        self.parts[lane / 64 % Self::MOST_PARTS] |= 1 << (lane % 64);
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, lane: usize) {
        self.parts[lane / 64 % Self::MOST_PARTS] &= !(1 << (lane % 64));
    }

    /// The lanes in ascending order.
    #[inline(always)]
    pub(super) fn lanes(self) -> impl Iterator<Item = usize> {
        self.parts.into_iter().enumerate().flat_map(|(part, mut bits)| {
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (bit < 64).then_some(64 * part + bit)
            })
        })
    }
}
