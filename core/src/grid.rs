//! Grids: orders, digits, cells, houses, grids and the rules of Sudoku.
//!
//! Everything here is plain data over `std`. A [`Grid`] may break the rules; these functions check
//! them:
//!
//! | question | function |
//! |---|---|
//! | do two equal digits share a house? | [`Grid::first_conflict`], [`Grid::conflicts`] |
//! | is every cell filled and every rule kept? | [`Grid::is_solved`] |
//! | is it a solution of a puzzle? | [`Grid::solves`] |
//!
//! Digits are stored as bytes: 0 is a blank, 1 to `side` a value.
//!
//! ```
//! use sudoku_core::grid::{Grid, Order};
//!
//! let mut grid: Grid = "12..34..2...4...".parse()?;
//! let cell = Order::ALL[1].cell(1, 3)?; // row 1, column 3
//! assert_eq!(grid.candidates(cell).iter().map(|digit| digit.value()).collect::<Vec<_>>(), [3, 4]);
//! grid.set(cell, Some(Order::ALL[1].digit(2)?));
//! assert_eq!(grid.first_conflict().unwrap().to_string(), "2 appears twice in row 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

/// The largest order that is supported; a grid of order 5 is 25 cells wide.
pub const MAX_ORDER: usize = 5;
/// The side of the largest grid.
pub const MAX_SIDE: usize = MAX_ORDER * MAX_ORDER;
/// The number of cells of the largest grid.
pub const MAX_CELLS: usize = MAX_SIDE * MAX_SIDE;

/// The order of a puzzle: the side of one box. Side and cell count follow from it.
///
/// | order | side | cells |
/// |---|---|---|
/// | 1 | 1 | 1 |
/// | 2 | 4 | 16 |
/// | 3 | 9 | 81 |
/// | 4 | 16 | 256 |
/// | 5 | 25 | 625 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order(u8);

impl Order {
    /// The order of 9x9 puzzles.
    pub const NINE: Self = Self(3);
    /// Every supported order, smallest first.
    pub const ALL: [Self; MAX_ORDER] = [Self(1), Self(2), Self(3), Self(4), Self(5)];

    /// The order with boxes of `box_side` by `box_side` cells, or `None` outside 1 to 5.
    #[must_use]
    pub fn new(box_side: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|o| o.box_side() == box_side)
    }

    /// The order of a grid of `side` by `side` cells, or `None` if no order has that side.
    #[must_use]
    pub fn from_side(side: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|o| o.side() == side)
    }

    /// The order of a grid with `cells` cells in all, or `None` if no order has that many.
    #[must_use]
    pub fn from_cells(cells: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|o| o.cells() == cells)
    }

    /// The side of one box: the order itself, 1 to 5.
    #[must_use]
    pub const fn box_side(self) -> usize {
        self.0 as usize
    }

    /// The side of the grid, which is also the largest digit.
    #[must_use]
    pub const fn side(self) -> usize {
        self.box_side() * self.box_side()
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(self) -> usize {
        self.side() * self.side()
    }

    /// The cell at (`row`, `column`), both counted from 1 at the top left.
    ///
    /// # Errors
    /// [`OutOfRange`] if either lies outside 1 to `side`; nothing wraps around.
    pub fn cell(self, row: usize, column: usize) -> Result<Cell, OutOfRange> {
        let side = self.side();
        for (what, value) in [("row", row), ("column", column)] {
            if !(1..=side).contains(&value) {
                return Err(OutOfRange { what, value, side });
            }
        }
        Ok(self.cell_at((row - 1) * side + column - 1))
    }

    /// The cell with this index in reading order.
    ///
    /// # Panics
    /// If `index` is not below [`Order::cells`].
    #[must_use]
    pub fn cell_at(self, index: usize) -> Cell {
        assert!(index < self.cells(), "cell index {index} outside a grid of {} cells", self.cells());
        Cell { order: self, index }
    }

    /// Every cell in reading order.
    pub fn all_cells(self) -> impl Iterator<Item = Cell> {
        (0..self.cells()).map(move |index| Cell { order: self, index })
    }

    /// Every house: all rows, then all columns, then all boxes.
    pub fn houses(self) -> impl Iterator<Item = House> {
        let side = self.side();
        (0..side)
            .map(House::row_at)
            .chain((0..side).map(House::column_at))
            .chain((0..side).map(House::box_at))
    }

    /// The digit `value`.
    ///
    /// # Errors
    /// [`OutOfRange`] unless it is 1 to `side`.
    pub fn digit(self, value: usize) -> Result<Digit, OutOfRange> {
        let side = self.side();
        match u8::try_from(value) {
            Ok(byte) if (1..=side).contains(&value) => Ok(Digit(byte)),
            _ => Err(OutOfRange { what: "value", value, side }),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{0}x{0}", self.side())
    }
}

/// The error of a row, column or value outside a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The {what} {value} is outside 1 to {side}.")]
pub struct OutOfRange {
    /// `row`, `column` or `value`.
    pub what: &'static str,
    /// The given number.
    pub value: usize,
    /// The largest that is allowed; the smallest is 1.
    pub side: usize,
}

/// A value from 1 to the side of its grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digit(u8);

impl Digit {
    /// The digit as a number, 1 to 25.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Digit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Digit {
    /// The digit with this index from 0. The caller vouches for its being below the side.
    pub(crate) const fn at(index: usize) -> Self {
        debug_assert!(index < MAX_SIDE);
        #[expect(clippy::cast_possible_truncation, reason = "a side is 25 at most")]
        Self(index as u8 + 1)
    }
}

/// One cell of a grid of a known order. Prints as `(row, column)`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    order: Order,
    index: usize,
}

impl Cell {
    /// The index in reading order, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index
    }

    /// The row, from 1.
    #[must_use]
    pub const fn row(self) -> usize {
        self.index / self.order.side() + 1
    }

    /// The column, from 1.
    #[must_use]
    pub const fn column(self) -> usize {
        self.index % self.order.side() + 1
    }

    /// The box, from 1, counted in reading order.
    #[must_use]
    pub const fn box_number(self) -> usize {
        let b = self.order.box_side();
        (self.row() - 1) / b * b + (self.column() - 1) / b + 1
    }

    /// The three houses of this cell: its row, its column, its box.
    #[must_use]
    pub fn houses(self) -> [House; 3] {
        [
            House::row_at(self.row() - 1),
            House::column_at(self.column() - 1),
            House::box_at(self.box_number() - 1),
        ]
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.row(), self.column())
    }
}

/// The kind of a house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HouseKind {
    /// A horizontal line of cells.
    Row,
    /// A vertical line of cells.
    Column,
    /// A square of `order` by `order` cells.
    Box,
}

impl fmt::Display for HouseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Row => "row",
            Self::Column => "column",
            Self::Box => "box",
        })
    }
}

/// A row, a column or a box: `side` cells, in a solved grid with every digit once. Prints as
/// `row 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct House {
    kind: HouseKind,
    index: usize,
}

impl House {
    /// The row with this index from 0.
    #[must_use]
    pub const fn row_at(index: usize) -> Self {
        Self { kind: HouseKind::Row, index }
    }

    /// The column with this index from 0.
    #[must_use]
    pub const fn column_at(index: usize) -> Self {
        Self { kind: HouseKind::Column, index }
    }

    /// The box with this index from 0, in reading order.
    #[must_use]
    pub const fn box_at(index: usize) -> Self {
        Self { kind: HouseKind::Box, index }
    }

    /// Row, column or box.
    #[must_use]
    pub const fn kind(self) -> HouseKind {
        self.kind
    }

    /// The number people use, from 1.
    #[must_use]
    pub const fn number(self) -> usize {
        self.index + 1
    }

    /// The cells of this house in a grid of `order`, in reading order.
    pub fn cells(self, order: Order) -> impl Iterator<Item = Cell> {
        let (side, b) = (order.side(), order.box_side());
        (0..side).map(move |k| {
            order.cell_at(match self.kind {
                HouseKind::Row => self.index * side + k,
                HouseKind::Column => k * side + self.index,
                HouseKind::Box => {
                    let (top, left) = (self.index / b * b, self.index % b * b);
                    (top + k / b) * side + left + k % b
                }
            })
        })
    }
}

impl fmt::Display for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.number())
    }
}

/// The set of digits that a cell may still take, bit `d - 1` for digit `d`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Candidates(u32);

impl Candidates {
    /// Every digit of the order.
    #[must_use]
    pub const fn all(order: Order) -> Self {
        Self((1 << order.side()) - 1)
    }

    /// The set with these bits, bit `d - 1` for digit `d`.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits of the set, bit `d - 1` for digit `d`.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the digit is among them.
    #[must_use]
    pub const fn contains(self, digit: Digit) -> bool {
        self.0 & (1 << (digit.0 - 1)) != 0
    }

    /// Removes the digit.
    pub const fn remove(&mut self, digit: Digit) {
        self.0 &= !(1 << (digit.0 - 1));
    }

    /// The number of digits.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there are no digits.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The digits, smallest first.
    pub fn iter(self) -> impl Iterator<Item = Digit> {
        (1..=u8::MAX).take(MAX_SIDE).map(Digit).filter(move |&d| self.contains(d))
    }
}

/// Two equal digits in one house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conflict {
    /// The digit that appears twice.
    pub digit: Digit,
    /// The house in which it does.
    pub house: House,
    /// The first of the two cells in reading order.
    pub first: Cell,
    /// The second of the two cells.
    pub second: Cell,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} appears twice in {}", self.digit, self.house)
    }
}

/// A square of cells, each blank or with a digit. It may break the rules.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Grid {
    order: Order,
    digits: Vec<u8>,
}

impl Grid {
    /// A grid of blanks.
    #[must_use]
    pub fn empty(order: Order) -> Self {
        Self { order, digits: vec![0; order.cells()] }
    }

    /// A grid from one byte a cell, 0 for a blank.
    ///
    /// # Panics
    /// If there are not [`Order::cells`] bytes or one is above [`Order::side`].
    #[must_use]
    pub fn from_digits(order: Order, digits: &[u8]) -> Self {
        let mut grid = Self::empty(order);
        grid.set_digits(digits);
        grid
    }

    /// Overwrites all cells without allocation.
    ///
    /// # Panics
    /// If there are not [`Order::cells`] bytes or one is above [`Order::side`].
    pub fn set_digits(&mut self, digits: &[u8]) {
        let side = self.order.side();
        // A maximum instead of a check of each digit, because it is vectorised.
        let greatest = digits.iter().fold(0, |greatest, &digit| digit.max(greatest));
        assert!(usize::from(greatest) <= side, "a digit above {side}");
        self.digits.copy_from_slice(digits);
    }

    /// Makes this a grid of blanks of `order`, keeping the allocation where it is large enough.
    pub fn reset(&mut self, order: Order) {
        self.order = order;
        self.digits.clear();
        self.digits.resize(order.cells(), 0);
    }

    /// The order.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// One byte a cell in reading order, 0 for a blank.
    #[must_use]
    pub fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// The bytes of [`Self::digits`] for writing. The caller must not write a byte above
    /// [`Order::side`]: functions that read the grid afterwards may panic.
    pub fn digits_mut(&mut self) -> &mut [u8] {
        &mut self.digits
    }

    /// The digit in a cell, or `None` for a blank.
    #[must_use]
    pub fn get(&self, cell: Cell) -> Option<Digit> {
        match self.digits[cell.index()] {
            0 => None,
            d => Some(Digit(d)),
        }
    }

    /// Puts a digit, or a blank, into a cell.
    pub fn set(&mut self, cell: Cell, digit: Option<Digit>) {
        self.digits[cell.index()] = digit.map_or(0, Digit::value);
    }

    /// The number of cells that hold a digit.
    #[must_use]
    pub fn filled(&self) -> usize {
        self.digits.iter().filter(|&&d| d != 0).count()
    }

    /// The digits that none of the cell's houses holds elsewhere: those that a blank cell may take,
    /// or that a filled one could take if it were blank.
    #[must_use]
    pub fn candidates(&self, cell: Cell) -> Candidates {
        let mut left = Candidates::all(self.order);
        for house in cell.houses() {
            for other in house.cells(self.order).filter(|&c| c != cell) {
                if let Some(digit) = self.get(other) {
                    left.remove(digit);
                }
            }
        }
        left
    }

    /// Whether no digit appears twice in a house: one pass over the cells, for bulk validation.
    /// [`Grid::first_conflict`] finds the broken rule.
    #[must_use]
    pub fn keeps_rules(&self) -> bool {
        match <&[u8; 81]>::try_from(self.digits.as_slice()) {
            Ok(digits) if self.order == Order::NINE => keeps_rules_9x9(digits),
            _ => any_order_keeps_rules(self.order, &self.digits),
        }
    }

    /// The first broken rule: of rows before columns before boxes, and in a house the first cell in
    /// reading order that repeats an earlier one.
    #[must_use]
    pub fn first_conflict(&self) -> Option<Conflict> {
        if self.keeps_rules() { None } else { self.conflicts().next() }
    }

    /// All broken rules, in the order of [`Grid::first_conflict`]: one for each cell of a house
    /// that repeats a digit, with the nearest equal cell before it.
    pub fn conflicts(&self) -> impl Iterator<Item = Conflict> {
        self.order.houses().flat_map(move |house| {
            let mut last = [None; MAX_SIDE + 1];
            house.cells(self.order).filter_map(move |cell| {
                let digit = self.get(cell)?;
                let before = last[usize::from(digit.value())].replace(cell);
                before.map(|first| Conflict { digit, house, first, second: cell })
            })
        })
    }

    /// Whether every cell is filled and every rule kept.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.digits.iter().all(|&d| d != 0) && self.keeps_rules()
    }

    /// Whether this is a solution of `puzzle`: solved, of the same order, and with all of its
    /// clues. Tests verify solutions with this function, because it shares no code with a solver.
    #[must_use]
    pub fn solves(&self, puzzle: &Self) -> bool {
        // A maximum instead of an early end, because it is vectorised.
        let side = u8::try_from(self.order.side()).unwrap_or(u8::MAX);
        let is_digit = |digit: u8| digit.wrapping_sub(1) < side;
        let is_wrong = |(&mine, &clue): (&u8, &u8)| u8::from(!is_digit(mine)) | (clue ^ mine) & mask(clue);
        let is_kept = self.digits.iter().zip(&puzzle.digits).map(is_wrong).fold(0, u8::max) == 0;
        self.order == puzzle.order && is_kept && self.keeps_rules()
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Grid({}, ", self.order)?;
        for &d in &self.digits {
            match d {
                0 => f.write_str(".")?,
                1..=9 => write!(f, "{d}")?,
                _ => write!(f, "{}", char::from(b'A' + d - 10))?,
            }
        }
        f.write_str(")")
    }
}

/// All bits for a digit, none for a blank.
const fn mask(digit: u8) -> u8 {
    if digit == 0 { 0 } else { !0 }
}

/// Whether a grid of any order keeps the rules, with a bit set for each house.
fn any_order_keeps_rules(order: Order, digits: &[u8]) -> bool {
    let (side, b) = (order.side(), order.box_side());
    let mut columns = [0u32; MAX_SIDE];
    for band in digits.chunks_exact(b * side) {
        let mut boxes = [0u32; MAX_ORDER];
        for cells in band.chunks_exact(side) {
            let mut row = 0;
            for ((minirow, columns), whole_box) in
                cells.chunks_exact(b).zip(columns.chunks_exact_mut(b)).zip(&mut boxes)
            {
                for (&digit, column) in minirow.iter().zip(columns) {
                    // A blank has no bit.
                    let bit = (1u32 << digit) & !1;
                    if (row | *column | *whole_box) & bit != 0 {
                        return false;
                    }
                    row |= bit;
                    *column |= bit;
                    *whole_box |= bit;
                }
            }
        }
    }
    true
}

/// The addend of a digit to the sums of its houses in [`keeps_rules_9x9`]. There are 16, so that
/// four bits of any byte are a valid index.
const HOUSE_SUM: [u64; 16] = {
    let mut one = [0; 16];
    let mut digit = 1;
    while digit <= 9 {
        one[digit] = 1 << (4 * (digit - 1));
        digit += 1;
    }
    one
};

/// Whether digits of a 9x9 grid, 0 for a blank, keep the rules, without branches, for bulk work. A
/// number above 9 counts as a blank or as another digit.
///
/// A house is the sum of its cells, in a word with four bits for each digit, enough for nine:
///
/// ```text
/// bit  35..32  ...   7..4    3..0
///      nines   ...   twos    ones
/// ```
///
/// so a repeated digit sets a bit above the lowest of its field. Cells are visited stack by stack,
/// because then all current sums fit into registers.
#[inline(always)]
pub(crate) fn keeps_rules_9x9(digits: &[u8; 81]) -> bool {
    const REPEATED: u64 = 0xE_EEEE_EEEE;
    let mut bad = 0;
    let mut rows = [0; 9];
    for stack in 0..3 {
        let mut columns = [0; 3];
        for band in 0..3 {
            let mut whole_box = 0;
            for row in 3 * band..3 * band + 3 {
                let one = |k| HOUSE_SUM[usize::from(digits[9 * row + 3 * stack + k] & 15)];
                let ones: [u64; 3] = std::array::from_fn(one);
                let minirow = ones[0] + ones[1] + ones[2];
                rows[row] += minirow;
                whole_box += minirow;
                for k in 0..3 {
                    columns[k] += ones[k];
                }
            }
            bad |= whole_box;
        }
        bad |= columns[0] | columns[1] | columns[2];
    }
    for row in rows {
        bad |= row;
    }
    bad & REPEATED == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLVED: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

    fn nine(text: &str) -> Grid {
        let digits: Vec<u8> = text.bytes().map(|b| if b == b'.' { 0 } else { b - b'0' }).collect();
        Grid::from_digits(Order::NINE, &digits)
    }

    #[test]
    fn orders_know_their_sizes() {
        let sizes: Vec<_> = Order::ALL.iter().map(|o| (o.box_side(), o.side(), o.cells())).collect();
        assert_eq!(sizes, [(1, 1, 1), (2, 4, 16), (3, 9, 81), (4, 16, 256), (5, 25, 625)]);
        assert_eq!(Order::new(6), None);
        assert_eq!(Order::new(0), None);
        assert_eq!(Order::from_cells(80), None);
        assert_eq!(Order::from_side(16), Order::new(4));
    }

    #[test]
    fn references_outside_the_grid_are_errors() {
        let order = Order::NINE;
        assert_eq!(order.cell(1, 1).map(Cell::index), Ok(0));
        assert_eq!(order.cell(9, 9).map(Cell::index), Ok(80));
        let error = order.cell(0, 3).unwrap_err();
        assert_eq!(error.to_string(), "The row 0 is outside 1 to 9.");
        assert_eq!(order.cell(3, 10).unwrap_err().to_string(), "The column 10 is outside 1 to 9.");
        assert_eq!(order.digit(0).unwrap_err().to_string(), "The value 0 is outside 1 to 9.");
        assert!(order.digit(256 + 3).is_err());
    }

    #[test]
    fn every_house_has_every_cell_of_its_kind_once() {
        for order in Order::ALL {
            let mut seen = vec![0; order.cells()];
            for house in order.houses() {
                assert_eq!(house.cells(order).count(), order.side());
                for cell in house.cells(order) {
                    assert!(cell.houses().contains(&house));
                    seen[cell.index()] += 1;
                }
            }
            assert!(seen.iter().all(|&n| n == 3));
        }
    }

    #[test]
    fn a_solved_grid_is_solved_and_one_swap_breaks_it() {
        let grid = nine(SOLVED);
        assert!(grid.is_solved());
        for (a, b) in [(0, 1), (0, 9), (40, 80)] {
            let mut broken = grid.clone();
            broken.digits_mut().swap(a, b);
            assert!(!broken.is_solved());
            assert!(!broken.solves(&grid));
        }
        assert!(grid.solves(&grid) && grid.solves(&Grid::empty(Order::NINE)));
        for (cell, digit) in [(0, 0), (7, 10), (80, 15), (40, 255)] {
            let mut broken = grid.clone();
            broken.digits_mut()[cell] = digit;
            assert!(!broken.solves(&Grid::empty(Order::NINE)), "{digit}");
        }
        // Another solution of another puzzle.
        let mut clues = Grid::empty(Order::NINE);
        clues.digits_mut()[80] = grid.digits()[80] % 9 + 1;
        assert!(!grid.solves(&clues) && !grid.solves(&Grid::empty(Order::ALL[1])));
    }

    #[test]
    fn conflicts_name_digit_house_and_cells() {
        let mut grid = Grid::empty(Order::NINE);
        let order = grid.order();
        let seven = order.digit(7).unwrap();
        for (row, column) in [(2, 3), (2, 8), (5, 8)] {
            grid.set(order.cell(row, column).unwrap(), Some(seven));
        }
        let all: Vec<String> = grid.conflicts().map(|c| format!("{c}: {} {}", c.first, c.second)).collect();
        assert_eq!(
            all,
            ["7 appears twice in row 2: (2, 3) (2, 8)", "7 appears twice in column 8: (2, 8) (5, 8)"]
        );
        assert_eq!(grid.first_conflict().unwrap().to_string(), "7 appears twice in row 2");
    }

    /// The branch-free 9x9 check against the plain one, on every way to overwrite one cell of a
    /// solved grid, and on grids with blanks in a fixed pattern.
    #[test]
    fn both_rule_checks_agree() {
        let solved = nine(SOLVED);
        for blanks in [0, 2, 3, 5, 7] {
            let mut thinned = solved.clone();
            for (index, digit) in thinned.digits_mut().iter_mut().enumerate() {
                if blanks != 0 && index % blanks != 0 {
                    *digit = 0;
                }
            }
            for index in 0..81 {
                for digit in 0..=9 {
                    let mut grid = thinned.clone();
                    grid.digits_mut()[index] = digit;
                    let plain = any_order_keeps_rules(grid.order(), grid.digits());
                    assert_eq!(grid.keeps_rules(), plain, "{grid:?}");
                    assert_eq!(grid.first_conflict().is_none(), plain, "{grid:?}");
                }
            }
        }
        for digit in 1..=9 {
            for house in Order::NINE.houses() {
                let mut grid = Grid::empty(Order::NINE);
                for (count, cell) in house.cells(Order::NINE).enumerate() {
                    grid.digits_mut()[cell.index()] = digit;
                    assert_eq!(grid.keeps_rules(), count == 0, "{grid:?}");
                }
            }
            let full = Grid::from_digits(Order::NINE, &[digit; 81]);
            assert!(!full.keeps_rules());
        }
    }

    #[test]
    fn candidates_leave_out_what_the_houses_hold() {
        let mut grid = nine(SOLVED);
        let order = grid.order();
        let cell = order.cell(5, 5).unwrap();
        let digit = grid.get(cell).unwrap();
        grid.set(cell, None);
        assert_eq!(grid.candidates(cell).iter().collect::<Vec<_>>(), [digit]);
        let empty = Grid::empty(order);
        assert_eq!(empty.candidates(cell).len(), 9);
        assert!(!empty.candidates(cell).is_empty());
    }
}
