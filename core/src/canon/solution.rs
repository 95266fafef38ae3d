//! The least form of a solution: of all its disguises the one with the least text.
//!
//! Its first row is 123456789, because digits can be relabelled. What the second row begins with
//! follows from how two rows of a band lie to each other.
//!
//! Let one row be the first, with its minirows A, B, C in some order of the stacks, and let `p` take
//! each of its digits to the one below it in a second row. Below A stand digits of B and C only.
//! Either all three minirows move as a whole, and the second row is that of a *cyclic* band: 456
//! below 123. Or below A stand two digits of B and one of C, which makes it two of C and one of A
//! below B, and two of A and one of B below C (or the same with B and C exchanged). Then the
//! stacks have to be in this order, the digit of C stands in the third column, and the row begins
//! with 457.
//!
//! In the second case the first stack can be any of three, and its first two columns have two
//! orders; they decide all labels and columns, because each label is the digit below another one.
//! For the digits of the fourth to sixth column the least is 189, then 289, 389, 891 and 893, and
//! which one a stack reaches follows from three comparisons. Of 216 ways for
//! all pairs of rows and columns some 24 are left, of which the rest of the second row and the third
//! row leave one or two. The order of the other rows follows from the digits in the first column.
//!
//! In a cyclic band three steps by `p` lead back to the same minirow. The row ends with 123 if they
//! change nothing, by 18 ways; else with 132 if they exchange two digits, by 6 ways, or 231, by 9.

use std::cmp::Ordering;

use super::way::{GridCells, ORDERS, Way};

/// A row of a grid or of its transposition. Digits are from 0, and all lists have 16 entries, so
/// that no access needs a bounds check.
#[derive(Clone, Copy)]
struct GridLine {
    /// The digit in each column.
    digits: [u8; 16],
    /// The column of each digit.
    columns: [u8; 16],
    /// The digits of each minirow as bits.
    minirows: [u16; 3],
}

impl GridLine {
    const EMPTY: Self = Self { digits: [0; 16], columns: [0; 16], minirows: [0; 3] };

    /// The digit in this row in the column in which `digit` stands in the row `at`.
    fn beside(&self, at: &Self, digit: u8) -> u8 {
        self.digits[usize::from(at.columns[usize::from(digit & 15)] & 15)]
    }
}

/// The rows of a grid, and those of its transposition.
type Lines = [[GridLine; 9]; 2];

fn lines(solution: &GridCells) -> Lines {
    let mut lines = [[GridLine::EMPTY; 9]; 2];
    for row in 0..9_u8 {
        for column in 0..9_u8 {
            let digit = solution[9 * usize::from(row) + usize::from(column)] - 1;
            for (side, row, column) in [(0, row, column), (1, column, row)] {
                let line: &mut GridLine = &mut lines[side][usize::from(row)];
                line.digits[usize::from(column)] = digit;
                line.columns[usize::from(digit & 15)] = column;
                line.minirows[usize::from(column / 3)] |= 1 << (digit & 15);
            }
        }
    }
    lines
}

/// The kinds of first minirows, by what the second row begins with.
mod kind {
    /// 456789123, of a cyclic band.
    pub(super) const SAME: u8 = 0;
    /// 456789132, of a cyclic band.
    pub(super) const SWAP: u8 = 1;
    /// 456789231, of a cyclic band.
    pub(super) const TURN: u8 = 2;
    /// 457189.
    pub(super) const ONE_FIRST: u8 = 3;
    /// 457289.
    pub(super) const TWO_FIRST: u8 = 4;
    /// 457389.
    pub(super) const THREE_FIRST: u8 = 5;
    /// 457891.
    pub(super) const ONE_LAST: u8 = 6;
    /// 457893, by either order of the first columns.
    pub(super) const THREE_LAST: u8 = 7;
}

/// A choice of the first three rows and the first stack.
#[derive(Clone, Copy)]
struct Opening {
    transposes: bool,
    rows: [u8; 3],
    stack: u8,
}

/// The number of openings: six pairs of rows in six bands and stacks, with three first stacks.
const OPENINGS: usize = 6 * 6 * 3;

impl Opening {
    /// The opening with this index.
    #[expect(clippy::cast_possible_truncation, reason = "rows and stacks are less than 9")]
    fn at(index: usize) -> Self {
        let (stack, order, band) = (index % 3, ORDERS[index / 3 % 6], index / 18);
        let rows = order.map(|row| (band % 3 * 3 + row) as u8);
        Self { transposes: band >= 3, rows, stack: stack as u8 }
    }
}

/// How two rows of a band that is not cyclic lie to each other.
struct Pair {
    /// The stack that follows a stack is so many further on, and the one before it as many back.
    step: usize,
    /// For each stack, the digit of the one before it that its minirow in the second row has.
    singles: [u8; 3],
    /// The digits over these.
    overs: [u8; 3],
}

impl Pair {
    #[expect(clippy::cast_possible_truncation, reason = "a digit")]
    fn new(first: &GridLine, second: &GridLine) -> Self {
        let (upper, lower) = (&first.minirows, &second.minirows);
        let (step, singles) = if (lower[0] & upper[1]).is_power_of_two() {
            (2, [lower[0] & upper[1], lower[1] & upper[2], lower[2] & upper[0]])
        } else {
            (1, [lower[0] & upper[2], lower[1] & upper[0], lower[2] & upper[1]])
        };
        let singles = singles.map(|single| single.trailing_zeros() as u8);
        Self { step, singles, overs: singles.map(|single| first.beside(second, single)) }
    }

    /// The stacks after and before this one.
    const fn around(&self, stack: usize) -> (usize, usize) {
        ((stack + self.step) % 3, (stack + 3 - self.step) % 3)
    }
}

/// The kind of each opening.
fn kinds(lines: &Lines) -> [u8; OPENINGS] {
    let mut kinds = [0; OPENINGS];
    let bands = lines.as_flattened().chunks_exact(3);
    for (lines, kinds) in bands.zip(kinds.chunks_exact_mut(18)) {
        let shared = lines[0].minirows[0] & lines[1].minirows[1];
        let is_cyclic = shared == 0 || shared == lines[0].minirows[0];
        for (order, kinds) in ORDERS.iter().zip(kinds.chunks_exact_mut(3)) {
            let (first, second) = (&lines[order[0]], &lines[order[1]]);
            if is_cyclic {
                kinds.fill(cyclic_kind(first, second));
            } else {
                kinds.copy_from_slice(&kinds_of_pair(first, second));
            }
        }
    }
    kinds
}

/// The kind of the openings with these rows of a cyclic band, by how three steps down change a
/// minirow.
fn cyclic_kind(first: &GridLine, second: &GridLine) -> u8 {
    let kept = first.digits[..3].iter().filter(|&&digit| around(first, second, digit) == digit).count();
    match kept {
        3 => kind::SAME,
        1 => kind::SWAP,
        _ => kind::TURN,
    }
}

/// The digit three steps down from a digit of a cyclic band, which is in the same minirow.
fn around(first: &GridLine, second: &GridLine, digit: u8) -> u8 {
    (0..3).fold(digit, |digit, _| second.beside(first, digit))
}

/// The kinds of the openings with these rows of a band that is not cyclic, by the first stack.
fn kinds_of_pair(first: &GridLine, second: &GridLine) -> [u8; 3] {
    /// By whether the digit over the one that comes back is 6, and whether that one is 3.
    const KINDS: [u8; 4] = [kind::TWO_FIRST, kind::THREE_FIRST, kind::ONE_LAST, kind::THREE_LAST];
    let pair = Pair::new(first, second);
    let unders = pair.singles.map(|single| second.beside(first, single));
    std::array::from_fn(|stack| {
        let (next, last) = pair.around(stack);
        // The digit of this stack that stands in the next one, and the one over it.
        let (back, over_back) = (pair.singles[next], pair.overs[next]);
        let is_last = usize::from(over_back == pair.singles[last]);
        let is_three = usize::from(back == pair.overs[stack]);
        if unders[next] == over_back { kind::ONE_FIRST } else { KINDS[2 * is_last + is_three] }
    })
}

/// An opening with the digit that each label stands for.
#[derive(Clone, Copy)]
struct LabelledOpening {
    opening: Opening,
    digits: [u8; 9],
}

/// The search for the least form of a solution, with memory for many of them.
#[derive(Default)]
pub(super) struct SolutionSearch {
    /// The candidates with the least second and third row.
    candidates: Vec<LabelledOpening>,
    /// These rows, without the beginning that all have.
    key: u64,
    ways: Vec<Way>,
}

impl SolutionSearch {
    /// Finds all disguises that lead to the least form of a solution: one for each automorphism of
    /// it. The caller vouches for its being a solution.
    pub(super) fn least(&mut self, solution: &GridCells) -> &[Way] {
        let lines = lines(solution);
        let kinds = kinds(&lines);
        let least_kind = kinds.iter().fold(kind::THREE_LAST, |least, &kind| least.min(kind));
        self.candidates.clear();
        self.key = u64::MAX;
        for (index, &kind) in kinds.iter().enumerate() {
            if kind == least_kind {
                self.add_all(&lines, kind, Opening::at(index));
            }
        }
        let mut least = [u64::MAX; 6];
        self.ways.clear();
        for candidate in &self.candidates {
            let way = whole(&lines, candidate);
            let side = &lines[usize::from(way.transposes)];
            let keys: [u64; 6] = std::array::from_fn(|k| {
                let line = &side[usize::from(way.rows[k + 3])];
                way.columns.iter().fold(0, |key, &column| {
                    key << 4 | u64::from(way.labels[usize::from(line.digits[usize::from(column & 15)])])
                })
            });
            match keys.cmp(&least) {
                Ordering::Less => {
                    least = keys;
                    self.ways.clear();
                    self.ways.push(way);
                }
                Ordering::Equal => self.ways.push(way),
                Ordering::Greater => {}
            }
        }
        &self.ways
    }

    /// Adds the candidates of an opening.
    fn add_all(&mut self, lines: &Lines, kind: u8, opening: Opening) {
        let side = &lines[usize::from(opening.transposes)];
        let [first, second, third] = opening.rows.map(|row| &side[usize::from(row)]);
        let below = |digit: u8| second.beside(first, digit);
        let stack = usize::from(opening.stack);
        let minirow = &first.digits[3 * stack..3 * stack + 3];
        if kind <= kind::TURN {
            for order in ORDERS {
                let ones = order.map(|place| minirow[place]);
                // Only these orders give the least end of the second row.
                if around(first, second, ones[0]) != ones[usize::from(kind == kind::TURN)] {
                    continue;
                }
                let fours = ones.map(below);
                let sevens = fours.map(below);
                let mut digits = [0; 9];
                for (three, from) in digits.chunks_exact_mut(3).zip([ones, fours, sevens]) {
                    three.copy_from_slice(&from);
                }
                self.add(opening, [first, second, third], digits);
            }
            return;
        }
        let pair = Pair::new(first, second);
        let (next, last) = pair.around(stack);
        let (single, three, missing) = (pair.singles[stack], pair.overs[stack], pair.singles[last]);
        let (back, over_back) = (pair.singles[next], pair.overs[next]);
        // All digits are different, so the third is what two of them leave of the three.
        let all = minirow[0] ^ minirow[1] ^ minirow[2];
        let mut complete = |one: u8| {
            let two = all ^ one ^ three;
            let (four, five) = (below(one), below(two));
            let (eight, nine) = if kind <= kind::THREE_FIRST {
                (below(five), below(missing))
            } else {
                (below(four), below(five))
            };
            let digits = [one, two, three, four, five, missing, single, eight, nine];
            self.add(opening, [first, second, third], digits);
        };
        match kind {
            // The digit below 1 comes first in the next stack.
            ..=kind::THREE_FIRST => complete(first.beside(second, over_back)),
            kind::ONE_LAST => complete(back),
            _ => {
                let one = if minirow[0] == three { minirow[1] } else { minirow[0] };
                complete(one);
                complete(all ^ one ^ three);
            }
        }
    }

    /// Adds the candidate in which these digits are 1 to 9, unless the rows below are not the least.
    fn add(&mut self, opening: Opening, [first, second, third]: [&GridLine; 3], digits: [u8; 9]) {
        let mut labels = [0_u8; 16];
        for (label, &digit) in (1..).zip(&digits) {
            labels[usize::from(digit & 15)] = label;
        }
        let label = |row: &GridLine, digit: u8| u64::from(labels[usize::from(row.beside(first, digit) & 15)]);
        let mut key = digits[6..].iter().fold(0, |key, &digit| key << 4 | label(second, digit));
        if key > self.key >> 36 {
            return;
        }
        key = digits.iter().fold(key, |key, &digit| key << 4 | label(third, digit));
        if key < self.key {
            self.key = key;
            self.candidates.clear();
        }
        if key == self.key {
            self.candidates.push(LabelledOpening { opening, digits });
        }
    }
}

/// The way of a candidate.
#[expect(clippy::cast_possible_truncation, reason = "rows and labels are less than 9")]
fn whole(lines: &Lines, candidate: &LabelledOpening) -> Way {
    let LabelledOpening { opening, digits } = candidate;
    let side = &lines[usize::from(opening.transposes)];
    let first = &side[usize::from(opening.rows[0])];
    let columns = digits.map(|digit| first.columns[usize::from(digit & 15)]);
    let mut labels = [0; 9];
    for (label, &digit) in (0..).zip(digits) {
        labels[usize::from(digit)] = label;
    }
    // Each row by its first digit, and the bands by that of their first row.
    let head = |row: usize| (labels[usize::from(side[row].digits[usize::from(columns[0] & 15)])], row as u8);
    let own = usize::from(opening.rows[0]) / 3;
    let mut bands = [(own + 1) % 3, (own + 2) % 3].map(|band| {
        let mut heads = [head(3 * band), head(3 * band + 1), head(3 * band + 2)];
        heads.sort_unstable();
        heads
    });
    bands.sort_unstable();
    let [a, b] = bands.map(|band| band.map(|(_, row)| row));
    let [first, second, third] = opening.rows;
    let rows = [first, second, third, a[0], a[1], a[2], b[0], b[1], b[2]];
    Way { transposes: opening.transposes, rows, columns, labels }
}
