//! Disguises: the moves that turn a puzzle into another one that is essentially the same.

use std::fmt;
use std::str::FromStr;

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use rand::{Rng, RngExt as _};

use crate::grid::{Grid, MAX_SIDE, Order};

/// A move that keeps the rules: perhaps a transposition, then rows permuted within bands and bands
/// permuted, columns and stacks likewise, and digits relabelled.
///
/// The 9x9 grid has 2 · 6⁸ · 9! = 1,218,998,108,160 of them. A puzzle and its disguise have equally
/// many solutions, which are disguises of each other, and are equally hard.
///
/// It prints as a line that [`FromStr`] reads, here for 4x4: `transpose rows 2134 columns 3412
/// digits 1243`. Row 1 of the disguise is row 2 of the transposed original, column 1 is column 3 of
/// it, and 3 becomes 4. Numbers above 9 are letters from `A` on.
///
/// ```
/// use sudoku_core::canon::Disguise;
/// use sudoku_core::grid::Grid;
///
/// let disguise: Disguise = "transpose rows 2134 columns 3412 digits 1243".parse()?;
/// let puzzle: Grid = "12..34..........".parse()?;
/// let disguised = disguise.apply(&puzzle);
/// assert_eq!(disguised.to_string(), "..23..14........");
/// assert_eq!(disguise.inverse().apply(&disguised), puzzle);
/// assert!(disguise.then(&disguise.inverse()).is_identity());
/// assert_eq!(disguise.to_string(), "transpose rows 2134 columns 3412 digits 1243");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Disguise {
    order: Order,
    transposes: bool,
    /// The row of the original, after the transposition, that each row comes from. From the side on
    /// these lists are zero.
    rows: [u8; MAX_SIDE],
    columns: [u8; MAX_SIDE],
    /// The index of the digit that each digit becomes.
    digits: [u8; MAX_SIDE],
}

/// Why numbers are no disguise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoDisguise {
    /// A list does not have each number from 1 to the side once.
    #[error("The {list} of a disguise are not each number from 1 to {side} once.")]
    NotEach {
        /// `rows`, `columns` or `digits`.
        list: &'static str,
        /// The side of the grid.
        side: usize,
    },
    /// Rows of one band, or columns of one stack, would be parted.
    #[error("The {list} of a disguise part a {group}, which no disguise does.")]
    Parted {
        /// `rows` or `columns`.
        list: &'static str,
        /// `band` or `stack`.
        group: &'static str,
    },
    /// The text is none.
    #[error(
        "It is no disguise. One is written as in `transpose rows 2134 columns 3412 digits 1243`, with or without \
         its first word."
    )]
    Text,
}

impl Disguise {
    /// The disguise that changes nothing.
    #[must_use]
    pub const fn identity(order: Order) -> Self {
        let mut same = [0; MAX_SIDE];
        let mut index = 0;
        while index < order.side() {
            #[expect(clippy::cast_possible_truncation, reason = "a side is 25 at most")]
            {
                same[index] = index as u8;
            }
            index += 1;
        }
        Self { order, transposes: false, rows: same, columns: same, digits: same }
    }

    /// The disguise of these lists, with numbers from 1: for each row and column the one of the
    /// original, after the transposition, that it comes from, and for each digit the one that it
    /// becomes.
    ///
    /// # Errors
    /// [`NoDisguise`] if a list is no permutation, or parts a band or a stack.
    pub fn new(
        order: Order,
        transposes: bool,
        rows: &[u8],
        columns: &[u8],
        digits: &[u8],
    ) -> Result<Self, NoDisguise> {
        let rows = permutation(order, "rows", rows)?;
        let columns = permutation(order, "columns", columns)?;
        let digits = permutation(order, "digits", digits)?;
        for (list, group, lines) in [("rows", "band", &rows), ("columns", "stack", &columns)] {
            let b = order.box_side();
            let is_whole =
                |lines: &[u8]| lines.iter().all(|line| usize::from(*line) / b == usize::from(lines[0]) / b);
            if !lines[..order.side()].chunks(b).all(is_whole) {
                return Err(NoDisguise::Parted { list, group });
            }
        }
        Ok(Self { order, transposes, rows, columns, digits })
    }

    /// The disguise of 9x9 grids with these lists, from 0. The caller vouches for them.
    pub(super) fn nine(transposes: bool, rows: [u8; 9], columns: [u8; 9], digits: [u8; 9]) -> Self {
        let wide = |list: [u8; 9]| {
            let mut all = [0; MAX_SIDE];
            all[..9].copy_from_slice(&list);
            all
        };
        Self {
            order: Order::NINE,
            transposes,
            rows: wide(rows),
            columns: wide(columns),
            digits: wide(digits),
        }
    }

    /// A random disguise, all of them equally likely: a function of the seed and the number.
    ///
    /// ```
    /// use sudoku_core::canon::Disguise;
    /// use sudoku_core::grid::Order;
    ///
    /// assert_eq!(Disguise::random(Order::NINE, 7, 1), Disguise::random(Order::NINE, 7, 1));
    /// assert_ne!(Disguise::random(Order::NINE, 7, 1), Disguise::random(Order::NINE, 7, 2));
    /// ```
    #[must_use]
    pub fn random(order: Order, seed: u64, number: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        Self::draw(order, &mut random)
    }

    /// A random disguise. The order of the draws is a contract: seeds give what they gave.
    pub(crate) fn draw(order: Order, random: &mut impl Rng) -> Self {
        let mut disguise = Self::identity(order);
        disguise.digits[..order.side()].shuffle(random);
        shuffle_lines(order, &mut disguise.rows, random);
        shuffle_lines(order, &mut disguise.columns, random);
        disguise.transposes = random.random();
        disguise
    }

    /// The order of the grids.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// Whether rows become columns first.
    #[must_use]
    pub const fn transposes(&self) -> bool {
        self.transposes
    }

    /// The row of the original, after the transposition, that each row comes from, from 1.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.list(&self.rows)
    }

    /// The column of the original, after the transposition, that each column comes from, from 1.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.list(&self.columns)
    }

    /// The digit that each digit becomes, from 1.
    pub fn digits(&self) -> impl Iterator<Item = usize> + '_ {
        self.list(&self.digits)
    }

    fn list<'a>(&self, list: &'a [u8; MAX_SIDE]) -> impl Iterator<Item = usize> + 'a {
        list[..self.order.side()].iter().map(|&index| usize::from(index) + 1)
    }

    /// Whether it changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        *self == Self::identity(self.order)
    }

    /// The grid in this disguise.
    ///
    /// # Panics
    /// If the grid has another order.
    #[must_use]
    pub fn apply(&self, grid: &Grid) -> Grid {
        assert_eq!(grid.order(), self.order, "a disguise of another size");
        let mut disguised = Grid::empty(self.order);
        self.apply_to(grid.digits(), disguised.digits_mut());
        disguised
    }

    /// Writes cells, one byte each and 0 for a blank, in this disguise.
    ///
    /// # Panics
    /// If there are not [`Order::cells`] of both, or one is above [`Order::side`].
    pub fn apply_to(&self, cells: &[u8], disguised: &mut [u8]) {
        let side = self.order.side();
        assert_eq!((cells.len(), disguised.len()), (side * side, side * side), "cells of another size");
        let (row_step, column_step) = if self.transposes { (1, side) } else { (side, 1) };
        let mut labels = [0; MAX_SIDE + 1];
        for (label, digit) in labels[1..=side].iter_mut().zip(self.digits) {
            *label = digit + 1;
        }
        for (out, &row) in disguised.chunks_exact_mut(side).zip(&self.rows) {
            let begin = usize::from(row) * row_step;
            for (cell, &column) in out.iter_mut().zip(&self.columns) {
                *cell = labels[usize::from(cells[begin + usize::from(column) * column_step])];
            }
        }
    }

    /// The disguise that takes this one off.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let invert = |list: &[u8; MAX_SIDE]| {
            let mut inverse = [0; MAX_SIDE];
            for (index, &image) in Self::identity(self.order).rows.iter().zip(list).take(self.order.side()) {
                inverse[usize::from(image)] = *index;
            }
            inverse
        };
        let (rows, columns) = (invert(&self.rows), invert(&self.columns));
        let (rows, columns) = if self.transposes { (columns, rows) } else { (rows, columns) };
        Self { rows, columns, digits: invert(&self.digits), ..*self }
    }

    /// This disguise, and then another one.
    ///
    /// # Panics
    /// If they are of different sizes.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        assert_eq!(self.order, next.order, "disguises of different sizes");
        let follow = |first: &[u8; MAX_SIDE], then: &[u8; MAX_SIDE]| {
            let mut both = [0; MAX_SIDE];
            for (image, &index) in both.iter_mut().zip(then).take(self.order.side()) {
                *image = first[usize::from(index)];
            }
            both
        };
        // A transposition behind this disguise makes its rows columns.
        let (rows, columns) =
            if next.transposes { (&self.columns, &self.rows) } else { (&self.rows, &self.columns) };
        Self {
            order: self.order,
            transposes: self.transposes != next.transposes,
            rows: follow(rows, &next.rows),
            columns: follow(columns, &next.columns),
            digits: follow(&next.digits, &self.digits),
        }
    }
}

/// The list from 0, if it has each number from 1 to the side once.
fn permutation(order: Order, list: &'static str, numbers: &[u8]) -> Result<[u8; MAX_SIDE], NoDisguise> {
    let side = order.side();
    let mut from_zero = [0; MAX_SIDE];
    let mut seen = 0_u32;
    if numbers.len() == side {
        for (index, &number) in from_zero.iter_mut().zip(numbers) {
            if (1..=side).contains(&usize::from(number)) {
                *index = number - 1;
                seen |= 1 << *index;
            }
        }
    }
    if seen == (1 << side) - 1 { Ok(from_zero) } else { Err(NoDisguise::NotEach { list, side }) }
}

/// Shuffles rows or columns so that bands or stacks stay together.
fn shuffle_lines(order: Order, lines: &mut [u8; MAX_SIDE], random: &mut impl Rng) {
    let b = order.box_side();
    let mut groups = Disguise::identity(order).rows;
    groups[..b].shuffle(random);
    for (lines, &group) in lines.chunks_mut(b).zip(&groups[..b]) {
        for (line, within) in lines.iter_mut().zip(0..) {
            // Both are less than the box side, 5 at most.
            *line = group * u8::try_from(b).unwrap_or_default() + within;
        }
        lines.shuffle(random);
    }
}

impl fmt::Display for Disguise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.transposes {
            f.write_str("transpose ")?;
        }
        for (name, list) in [("rows ", &self.rows), (" columns ", &self.columns), (" digits ", &self.digits)]
        {
            f.write_str(name)?;
            for &index in &list[..self.order.side()] {
                let symbol = if index < 9 { b'1' + index } else { b'A' + index - 9 };
                write!(f, "{}", char::from(symbol))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Disguise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Disguise({self})")
    }
}

impl FromStr for Disguise {
    type Err = NoDisguise;

    fn from_str(text: &str) -> Result<Self, NoDisguise> {
        let mut words = text.split_ascii_whitespace().peekable();
        let transposes = words.next_if_eq(&"transpose").is_some();
        let mut list = |name: &str| -> Result<Vec<u8>, NoDisguise> {
            if words.next() != Some(name) {
                return Err(NoDisguise::Text);
            }
            let number = |symbol: u8| match symbol {
                b'1'..=b'9' => Ok(symbol - b'0'),
                b'A'..=b'P' => Ok(symbol - b'A' + 10),
                _ => Err(NoDisguise::Text),
            };
            words.next().unwrap_or_default().bytes().map(number).collect()
        };
        let (rows, columns, digits) = (list("rows")?, list("columns")?, list("digits")?);
        let order = Order::from_side(rows.len()).ok_or(NoDisguise::Text)?;
        if words.next().is_some() {
            return Err(NoDisguise::Text);
        }
        Self::new(order, transposes, &rows, &columns, &digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(order: Order, seed: u64) -> Grid {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let side = u8::try_from(order.side()).unwrap();
        let digits: Vec<u8> = (0..order.cells()).map(|_| random.random_range(0..=side)).collect();
        Grid::from_digits(order, &digits)
    }

    #[test]
    fn disguises_are_a_group_that_acts_on_grids_of_every_size() {
        for order in Order::ALL {
            for number in 0..50 {
                let (first, second) =
                    (Disguise::random(order, 1, number), Disguise::random(order, 2, number));
                let grid = grid(order, number);
                let both = first.then(&second);
                assert_eq!(both.apply(&grid), second.apply(&first.apply(&grid)));
                assert_eq!(first.inverse().apply(&first.apply(&grid)), grid);
                assert!(first.then(&first.inverse()).is_identity());
                assert!(first.inverse().then(&first).is_identity());
                assert_eq!(both.inverse(), second.inverse().then(&first.inverse()));
                assert_eq!(Disguise::identity(order).apply(&grid), grid);
                assert_eq!(both.to_string().parse(), Ok(both));
                let lists =
                    [both.rows().collect(), both.columns().collect(), both.digits().collect::<Vec<_>>()];
                let [rows, columns, digits] =
                    lists.map(|list| list.into_iter().map(|n| u8::try_from(n).unwrap()).collect::<Vec<_>>());
                assert_eq!(Disguise::new(order, both.transposes(), &rows, &columns, &digits), Ok(both));
            }
        }
    }

    #[test]
    fn broken_rules_stay_broken_and_kept_ones_kept() {
        for number in 0..200 {
            let grid = grid(Order::NINE, number);
            let disguise = Disguise::random(Order::NINE, 3, number);
            assert_eq!(disguise.apply(&grid).conflicts().count() > 0, grid.conflicts().count() > 0);
            assert_eq!(disguise.apply(&grid).filled(), grid.filled());
        }
    }

    #[test]
    fn texts_that_are_no_disguise_are_told_why() {
        let sentence = |text: &str| text.parse::<Disguise>().unwrap_err().to_string();
        assert!(sentence("").starts_with("It is no disguise."));
        assert!(sentence("rows 12 columns 12 digits 12").starts_with("It is no disguise."));
        assert!(sentence("rows 1234 columns 1234 digits 1234 5").starts_with("It is no disguise."));
        assert!(sentence("rows 1234 columns 1234").starts_with("It is no disguise."));
        assert!(sentence("rows 12a4 columns 1234 digits 1234").starts_with("It is no disguise."));
        assert_eq!(
            sentence("rows 1224 columns 1234 digits 1234"),
            "The rows of a disguise are not each number from 1 to 4 once."
        );
        assert_eq!(
            sentence("rows 1234 columns 1234 digits 123"),
            "The digits of a disguise are not each number from 1 to 4 once."
        );
        assert_eq!(
            sentence("rows 1324 columns 1234 digits 1234"),
            "The rows of a disguise part a band, which no disguise does."
        );
        assert_eq!(
            sentence("rows 1234 columns 1423 digits 1234"),
            "The columns of a disguise part a stack, which no disguise does."
        );
    }
}
