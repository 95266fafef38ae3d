//! Guesses: which to make at a stall.

use super::board::{AllMiniLines, MiniLines};
use super::vector::{BoardCells, BoxVector, LANES, LaneSets, lane};

/// A rule that chooses a guess.
pub(super) trait GuessRule: Copy {
    /// The guess on a board at a stall, with its minirows and minicolumns.
    fn choose<V: BoxVector>(cells: &BoardCells<V>, lines: &AllMiniLines<V>) -> Self;
    /// Follows the guess.
    fn follow<V: BoxVector>(&self, cells: &mut BoardCells<V>);
    /// Takes its alternative, in which it is wrong.
    fn refuse<V: BoxVector>(&self, cells: &mut BoardCells<V>);
    /// The set of its digit, with row and column in the box and the lane, if it fills a cell.
    fn filled(&self) -> Option<(u16, usize, usize, usize)>;
}

/// The guess of the kernel: of the minirows or minicolumns of a row or column, one holds the digit.
#[derive(Clone, Copy)]
pub(super) struct LineGuess {
    /// The set of the digit.
    digit: u16,
    /// The band, or 3 and the stack.
    band: usize,
    /// The row of the band, or the column of the stack.
    row: usize,
    /// The box, counted along the band or stack.
    across: usize,
}

/// A guess for people to follow: a digit in one of the cells with the fewest candidates.
#[derive(Clone, Copy)]
pub(super) struct CellGuess {
    /// The set of the digit.
    digit: u16,
    /// The cell in its box.
    row: usize,
    column: usize,
    lane: usize,
}

/// All bits of the lane of a box, and of the two boxes beside it in the band or stack.
struct LinesOf {
    this: LaneSets,
    others: LaneSets,
}

/// By band, or 3 and the stack, and box.
static LINES: [[LinesOf; 3]; 6] = {
    const NONE: LinesOf = LinesOf { this: [0; LANES], others: [0; LANES] };
    const ROW: [LinesOf; 3] = [NONE; 3];
    let mut table = [ROW; 6];
    let mut k = 0;
    while k < 54 {
        let (band, across, other) = (k / 9, k / 3 % 3, k % 3);
        let lane = if band < 3 { lane(band, other) } else { lane(other, band - 3) };
        if across == other {
            table[band][across].this[lane] = 0xFFFF;
        } else {
            table[band][across].others[lane] = 0xFFFF;
        }
        k += 1;
    }
    table
};

/// The permutations of three lines that are possible: two vectors of three sets.
#[inline(always)]
fn permutations<V: BoxVector>(lines: &MiniLines<V>, next: impl Fn(V) -> V, last: impl Fn(V) -> V) -> [V; 2] {
    let [a, b, c] = *lines;
    [a.and(next(b)).and(last(c)), a.and(last(b)).and(next(c))]
}

/// The lowest digit with the fewest permutations, but more than one, of six sets.
#[inline(always)]
fn fewest_of(even: u64, odd: u64) -> u16 {
    let add = |a: u64, b: u64, c: u64| (a ^ b ^ c, (a & b) | (c & (a | b)));
    // Three sets in one word: each is added where it stands lowest.
    let (ones_even, twos_even) = add(even, even >> 16, even >> 32);
    let (ones_odd, twos_odd) = add(odd, odd >> 16, odd >> 32);
    let (ones, carry) = (ones_even ^ ones_odd, ones_even & ones_odd);
    let (twos, fours) = add(twos_even, twos_odd, carry);
    let [two, three] = [twos & !ones & !fours, twos & ones & !fours];
    let [four, five] = [fours & !ones & !twos, fours & ones & !twos];
    let six = fours & twos;
    let digits = [two, three, four, five, six]
        .into_iter()
        .map(|digits| digits & 0x1FF)
        .find(|&digits| digits != 0)
        .unwrap_or(1);
    1 << digits.trailing_zeros()
}

impl GuessRule for LineGuess {
    /// In the undecided band or stack with the fewest permutations over all digits, the undecided
    /// digit with the fewest; of its first undecided row or column, the first possible minirow or
    /// minicolumn.
    #[inline(always)]
    fn choose<V: BoxVector>(_cells: &BoardCells<V>, lines: &AllMiniLines<V>) -> Self {
        let AllMiniLines { minirows, minicolumns } = lines;
        // Without `map`, which would be compiled without the instructions of the vectors.
        let [even, odd] = permutations(minirows, V::next_stack, V::last_stack);
        let of_bands = [even.bands(), odd.bands()];
        let [even, odd] = permutations(minicolumns, V::next_band, V::last_band);
        let of_stacks = [even.stacks(), odd.stacks()];
        let mut fewest = (u32::MAX, 0);
        for band in 0..6 {
            let [even, odd] = if band < 3 { of_bands } else { of_stacks };
            let sum = even[band % 3].count_ones() + odd[band % 3].count_ones();
            // Nine permutations, one for each digit, mean decided.
            if sum != 9 && sum < fewest.0 {
                fewest = (sum, band);
            }
        }
        let band = fewest.1;
        let [even, odd] = if band < 3 { of_bands } else { of_stacks };
        let digit = fewest_of(even[band % 3], odd[band % 3]);
        let rows = if band < 3 {
            [minirows[0].bands(), minirows[1].bands(), minirows[2].bands()]
        } else {
            [minicolumns[0].stacks(), minicolumns[1].stacks(), minicolumns[2].stacks()]
        };
        let mut guess = Self { digit, band, row: 0, across: 0 };
        for row in (0..3).rev() {
            let places = rows[row][band % 3] & (u64::from(digit) * 0x0001_0001_0001);
            if places & places.wrapping_sub(1) != 0 {
                (guess.row, guess.across) = (row, places.trailing_zeros() as usize / 16);
            }
        }
        guess
    }

    /// The digit is not in the other two lines of the row or column.
    #[inline(always)]
    fn follow<V: BoxVector>(&self, cells: &mut BoardCells<V>) {
        self.rule_out(cells, &LINES[self.band][self.across].others);
    }

    #[inline(always)]
    fn refuse<V: BoxVector>(&self, cells: &mut BoardCells<V>) {
        self.rule_out(cells, &LINES[self.band][self.across].this);
    }

    #[inline(always)]
    fn filled(&self) -> Option<(u16, usize, usize, usize)> {
        None
    }
}

impl LineGuess {
    #[inline(always)]
    fn rule_out<V: BoxVector>(&self, cells: &mut BoardCells<V>, lanes: &LaneSets) {
        let out = V::load(lanes).and(V::splat(self.digit));
        for k in 0..3 {
            let cell = if self.band < 3 { &mut cells[self.row][k] } else { &mut cells[k][self.row] };
            *cell = cell.and_not(out);
        }
    }
}

impl GuessRule for CellGuess {
    /// The lowest digit of the first cell with the fewest candidates, but more than one, box by box
    /// in each row and column of boxes.
    #[inline(always)]
    fn choose<V: BoxVector>(cells: &BoardCells<V>, _lines: &AllMiniLines<V>) -> Self {
        // What is left of each cell without its lowest candidate, two lowest and so on.
        let mut left = *cells;
        for row in &mut left {
            for cell in row {
                *cell = cell.and(cell.minus_one());
            }
        }
        loop {
            let mut is_last_round = true;
            for row in 0..3 {
                for column in 0..3 {
                    let fewer = left[row][column].and(left[row][column].minus_one());
                    let first = cells[row][column].and(fewer.zeros()).and_not(left[row][column].zeros());
                    left[row][column] = fewer;
                    for (band, word) in first.bands().into_iter().enumerate() {
                        if word != 0 {
                            let bit = word.trailing_zeros();
                            let lane = 4 * band + bit as usize / 16;
                            return Self { digit: 1 << (bit % 16), row, column, lane };
                        }
                    }
                    is_last_round &= fewer.is_zero();
                }
            }
            debug_assert!(!is_last_round, "a board at a stall has a cell with two candidates");
        }
    }

    #[inline(always)]
    fn follow<V: BoxVector>(&self, cells: &mut BoardCells<V>) {
        let cell = &mut cells[self.row][self.column];
        *cell = cell.and_not(V::load(&CELLS[self.lane]).and_not(V::splat(self.digit)));
    }

    #[inline(always)]
    fn refuse<V: BoxVector>(&self, cells: &mut BoardCells<V>) {
        let cell = &mut cells[self.row][self.column];
        *cell = cell.and_not(V::load(&CELLS[self.lane]).and(V::splat(self.digit)));
    }

    #[inline(always)]
    fn filled(&self) -> Option<(u16, usize, usize, usize)> {
        Some((self.digit, self.row, self.column, self.lane))
    }
}

/// All bits of each lane.
static CELLS: [LaneSets; LANES] = {
    let mut table = [[0; LANES]; LANES];
    let mut k = 0;
    while k < LANES {
        table[k][k] = 0xFFFF;
        k += 1;
    }
    table
};
