//! Vectors of sets: a set of digits for each puzzle of a block.

/// The cells of a board, in reading order.
pub(super) type CellSets<V> = [V; 81];

/// A vector: a set of digits in each of some lanes of 16 bits, digit `d` as bit `d - 1`. A lane belongs to
/// a puzzle.
///
/// A type whose constructors run instructions that not every processor has must be private to a file
/// that hands it to tasks only after a check for them. Methods are inlined into what is compiled for
/// these instructions, so nothing that calls them may be a closure.
pub(super) trait SetVector: Copy {
    /// The number of lanes, at most 32.
    const LANES: usize;

    /// The same bits in every lane.
    fn splat(bits: u16) -> Self;
    fn or(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    /// `self & !other`.
    fn and_not(self, other: Self) -> Self;
    /// One less in each lane: 0 becomes 0xFFFF.
    fn minus_one(self) -> Self;
    /// All bits of the lanes that are 0.
    fn zeros(self) -> Self;
    /// A bit for each lane that is 0, the lowest for the first lane.
    fn zero_lanes(self) -> u32;
    /// The sets of the cells of as many puzzles as there are lanes: of one digit for a clue, empty for
    /// a blank.
    fn read(puzzles: &[[u8; 81]]) -> CellSets<Self>;
    /// Writes the digits of cells with one each.
    fn write(cells: &CellSets<Self>, solutions: &mut [[u8; 81]]);
}

/// The portable vector, eight lanes of which compilers make one register.
#[derive(Clone, Copy)]
pub(super) struct Words([u16; 8]);

impl Words {
    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(u16, u16) -> u16) -> Self {
        let mut words = self.0;
        for (word, other) in words.iter_mut().zip(other.0) {
            *word = f(*word, other);
        }
        Self(words)
    }
}

impl SetVector for Words {
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(bits: u16) -> Self {
        Self([bits; 8])
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.with(other, |a, b| a | b)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.with(other, |a, b| a & b)
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.with(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn minus_one(self) -> Self {
        self.with(Self([1; 8]), u16::wrapping_sub)
    }

    #[inline(always)]
    fn zeros(self) -> Self {
        self.with(self, |a, _| if a == 0 { 0xFFFF } else { 0 })
    }

    #[inline(always)]
    fn zero_lanes(self) -> u32 {
        self.0.into_iter().rev().fold(0, |lanes, word| lanes << 1 | u32::from(word == 0))
    }

    #[inline(always)]
    fn read(puzzles: &[[u8; 81]]) -> CellSets<Self> {
        let mut cells = [Self([0; 8]); 81];
        for (lane, puzzle) in puzzles.iter().enumerate() {
            for (cell, &digit) in cells.iter_mut().zip(puzzle) {
                cell.0[lane] = 1 << digit >> 1;
            }
        }
        cells
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a set has 16 bits")]
    fn write(cells: &CellSets<Self>, solutions: &mut [[u8; 81]]) {
        for (lane, solution) in solutions.iter_mut().enumerate() {
            for (digit, cell) in solution.iter_mut().zip(cells) {
                *digit = cell.0[lane].trailing_zeros() as u8 + 1;
            }
        }
    }
}
