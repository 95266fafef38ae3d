//! Vectors of boxes: a set of digits for each of the nine boxes, and how the boxes of a band or
//! stack see each other.

/// Lanes of a vector: four rows of four, of which the last row and the last column are idle.
pub(super) const LANES: usize = 16;

/// The lane of a box.
pub(super) const fn lane(band: usize, stack: usize) -> usize {
    4 * band + stack
}

/// Sets of digits by lane, digit `d` as bit `d - 1`.
pub(super) type LaneSets = [u16; LANES];

/// All digits.
pub(super) const ALL_DIGITS: u16 = 0x1FF;

/// The lanes of boxes, with this set in each.
pub(super) const fn in_boxes(digits: u16) -> LaneSets {
    let mut lanes = [0; LANES];
    let mut k = 0;
    while k < 9 {
        lanes[lane(k / 3, k % 3)] = digits;
        k += 1;
    }
    lanes
}

/// A vector: sixteen lanes of 16 bits, nine of them with the digits of a box. Idle lanes are 0
/// unless said otherwise.
///
/// ```text
///            stack 0   stack 1   stack 2   idle
/// band 0     lane 0    lane 1    lane 2    3
/// band 1     lane 4    lane 5    lane 6    7
/// band 2     lane 8    lane 9    lane 10   11
/// idle       12        13        14        15
/// ```
///
/// A type whose constructors run instructions that not every processor has must be private to a
/// file that hands it to tasks only after a check for them.
pub(super) trait BoxVector: Copy {
    fn load(lanes: &LaneSets) -> Self;
    fn store(self, lanes: &mut LaneSets);
    /// The same digits in every lane, idle ones included.
    fn splat(digits: u16) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// `self & !other`.
    fn and_not(self, other: Self) -> Self;
    /// One less in each lane: 0 becomes 0xFFFF.
    fn minus_one(self) -> Self;
    /// All bits of the lanes that are 0, which must have no bit but those of digits.
    fn zeros(self) -> Self;
    fn is_zero(self) -> bool;
    /// Whether the highest bit is set in the lane of some box.
    fn any_highest(self) -> bool;
    /// In each lane the set of the next box of its band, and of the one after that, which is the
    /// last, because three boxes are a ring. Idle lanes of a band stay idle.
    fn next_stack(self) -> Self;
    fn last_stack(self) -> Self;
    /// The same for the boxes of a stack.
    fn next_band(self) -> Self;
    fn last_band(self) -> Self;
    /// The lanes of each band, from the lowest bits up.
    fn bands(self) -> [u64; 3];
    /// The lanes of each stack, from the lowest bits up.
    fn stacks(self) -> [u64; 3];

    /// The candidates of the clues and blanks of a puzzle of 81 digits, 0 for a blank: a vector for
    /// each cell of a box.
    #[inline(always)]
    fn read(digits: &[u8; 81]) -> BoardCells<Self> {
        let mut cells = [[[0; LANES]; 3]; 3];
        for_each_cell(|cell, row, column, lane| {
            cells[row][column][lane] = CLUES[usize::from(digits[cell]).min(9)];
        });
        cells.map(|row| row.map(|lanes| Self::load(&lanes)))
    }

    /// Writes the digits of cells with one candidate each.
    #[inline(always)]
    fn write(cells: &BoardCells<Self>, digits: &mut [u8; 81]) {
        let cells = stored(cells);
        for_each_cell(|cell, row, column, lane| digits[cell] = digit_of(cells[row][column][lane]));
    }
}

/// The digit of a set of one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a set has 16 bits")]
pub(super) const fn digit_of(set: u16) -> u8 {
    set.trailing_zeros() as u8 + 1
}

/// The candidates of a search state: `cells[row][column]` has those of the cell in that row and
/// column of each box.
pub(super) type BoardCells<V> = [[V; 3]; 3];

/// The same in memory.
pub(super) type Stored = BoardCells<LaneSets>;

/// Puts all vectors into memory.
#[inline(always)]
pub(super) fn stored<V: BoxVector>(cells: &BoardCells<V>) -> Stored {
    let mut stored: Stored = [[[0; LANES]; 3]; 3];
    for row in 0..3 {
        for column in 0..3 {
            cells[row][column].store(&mut stored[row][column]);
        }
    }
    stored
}

/// Calls `f` with each cell in reading order, its row and column in its box, and the box's lane.
#[inline(always)]
pub(super) fn for_each_cell(mut f: impl FnMut(usize, usize, usize, usize)) {
    for band in 0..3 {
        for row in 0..3 {
            for stack in 0..3 {
                for column in 0..3 {
                    f(27 * band + 9 * row + 3 * stack + column, row, column, lane(band, stack));
                }
            }
        }
    }
}

/// The candidates of a blank and of each clue.
static CLUES: [u16; 10] = [ALL_DIGITS, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100];

/// A search over vectors of some kind.
pub(super) trait VectorTask {
    /// The result.
    type Output;

    /// Runs the task on these vectors. It is compiled for their instructions only if it is
    /// `inline(always)`, and so is everything that it calls.
    fn work<V: BoxVector>(self) -> Self::Output;
}

/// The portable vector: three words of four lanes, a word for each band.
#[derive(Clone, Copy)]
pub(super) struct Words([u64; 3]);

/// The lowest bit of each lane, and the highest.
const LOWEST: u64 = 0x0001_0001_0001_0001;
const HIGHEST: u64 = 0x8000_8000_8000_8000;
/// The lanes of the boxes of a band.
const THREE: u64 = 0xFFFF_FFFF_FFFF;

impl Words {
    #[inline(always)]
    fn map(self, f: impl Fn(u64) -> u64) -> Self {
        Self([f(self.0[0]), f(self.0[1]), f(self.0[2])])
    }

    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self([f(self.0[0], other.0[0]), f(self.0[1], other.0[1]), f(self.0[2], other.0[2])])
    }
}

impl BoxVector for Words {
    #[inline(always)]
    fn load(lanes: &LaneSets) -> Self {
        let band = |band: usize| {
            let four = &lanes[4 * band..][..4];
            (0..4).fold(0, |word, k| word | u64::from(four[k]) << (16 * k))
        };
        Self([band(0), band(1), band(2)])
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a lane is 16 bits of a word")]
    fn store(self, lanes: &mut LaneSets) {
        *lanes = [0; LANES];
        for band in 0..3 {
            for k in 0..4 {
                lanes[4 * band + k] = (self.0[band] >> (16 * k)) as u16;
            }
        }
    }

    #[inline(always)]
    fn splat(digits: u16) -> Self {
        Self([u64::from(digits) * LOWEST; 3])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.with(other, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.with(other, |a, b| a | b)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.with(other, |a, b| a ^ b)
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.with(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn minus_one(self) -> Self {
        // The highest bit of a lane is lent to it, so nothing is borrowed from its neighbour.
        self.map(|word| ((word | HIGHEST) - LOWEST) ^ HIGHEST)
    }

    #[inline(always)]
    fn zeros(self) -> Self {
        self.map(|word| {
            let zeros = ((HIGHEST - word) & HIGHEST) >> 15;
            (zeros << 16).wrapping_sub(zeros)
        })
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0[0] | self.0[1] | self.0[2] == 0
    }

    #[inline(always)]
    fn any_highest(self) -> bool {
        (self.0[0] | self.0[1] | self.0[2]) & HIGHEST & THREE != 0
    }

    #[inline(always)]
    fn next_stack(self) -> Self {
        self.map(|word| word >> 16 | (word << 32 & THREE))
    }

    #[inline(always)]
    fn last_stack(self) -> Self {
        self.map(|word| word >> 32 | (word << 16 & THREE))
    }

    #[inline(always)]
    fn next_band(self) -> Self {
        Self([self.0[1], self.0[2], self.0[0]])
    }

    #[inline(always)]
    fn last_band(self) -> Self {
        Self([self.0[2], self.0[0], self.0[1]])
    }

    #[inline(always)]
    fn bands(self) -> [u64; 3] {
        self.0
    }

    #[inline(always)]
    fn stacks(self) -> [u64; 3] {
        let stack = |stack: usize| {
            (0..3).fold(0, |word, band| word | (self.0[band] >> (16 * stack) & 0xFFFF) << (16 * band))
        };
        [stack(0), stack(1), stack(2)]
    }
}
