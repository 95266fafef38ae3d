//! Positions: the digits of a grid and the candidates of its blank cells.

use std::fmt;
use std::str::FromStr;

use super::geometry::{Geometry, KINDS};
use super::step::{Candidate, Step};
use crate::grid::{Candidates, Cell, Digit, Grid, Order};

/// The digits of a grid and, for each blank cell, the candidates: the digits that it may still take.
///
/// Steps by hand take candidates away that the rules alone would allow, so a position is more than
/// its grid. It prints as [pencil marks](Position::pencil_marks), and is read back from them.
///
/// ```
/// use sudoku_core::grid::Grid;
/// use sudoku_core::techniques::Position;
///
/// let grid: Grid = "12..34..2...4...".parse()?;
/// let position = Position::new(&grid);
/// let cell = grid.order().cell(1, 3)?;
/// assert_eq!(position.candidates(cell).iter().map(|d| d.value()).collect::<Vec<_>>(), [3, 4]);
/// let again: Position = position.pencil_marks().parse()?;
/// assert_eq!(again, position);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Position {
    /// The tables of its order.
    pub(super) geometry: &'static Geometry,
    /// The digit of each cell, 0 for a blank.
    pub(super) digits: Vec<u8>,
    /// The candidates of each cell, bit `d` for digit `d + 1`; none where a digit stands.
    pub(super) candidates: Vec<u32>,
    /// The positions in a house that have a digit as candidate, `side` entries a house.
    pub(super) places: Vec<u32>,
    /// The blank cells of each house.
    pub(super) blanks_in: Vec<u8>,
    /// The blank cells.
    pub(super) blanks: usize,
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        // The rest follows from these.
        self.order() == other.order() && self.digits == other.digits && self.candidates == other.candidates
    }
}

impl Eq for Position {}

impl Position {
    /// The position of a grid: each blank cell has the candidates that its row, column and box
    /// leave. The grid may break the rules; nothing can be said about such a position.
    #[must_use]
    pub fn new(grid: &Grid) -> Self {
        let mut position = Self::blank(grid.order());
        position.load(grid);
        position
    }

    /// A position of blank cells that may take every digit.
    fn blank(order: Order) -> Self {
        let geometry = Geometry::of(order);
        Self {
            geometry,
            digits: vec![0; geometry.cells],
            candidates: vec![0; geometry.cells],
            places: vec![0; geometry.houses() * geometry.side],
            blanks_in: vec![0; geometry.houses()],
            blanks: 0,
        }
    }

    /// Becomes the position of a grid, without allocation if the order stays.
    pub fn load(&mut self, grid: &Grid) {
        if grid.order() != self.order() {
            *self = Self::blank(grid.order());
        }
        let geometry = self.geometry;
        self.digits.copy_from_slice(grid.digits());
        let mut held = [0_u32; KINDS * crate::grid::MAX_SIDE];
        for (cell, &digit) in self.digits.iter().enumerate() {
            // Shifts a blank out.
            let bit = (1_u32 << digit) >> 1;
            for house in geometry.houses_of[cell] {
                held[usize::from(house)] |= bit;
            }
        }
        let all = Candidates::all(grid.order()).bits();
        for cell in 0..geometry.cells {
            let [in_box, row, column] = geometry.houses_of[cell].map(|house| held[usize::from(house)]);
            self.candidates[cell] = if self.digits[cell] == 0 { all & !(in_box | row | column) } else { 0 };
        }
        self.index();
    }

    /// Fills in what follows from digits and candidates.
    fn index(&mut self) {
        let geometry = self.geometry;
        self.places.fill(0);
        self.blanks_in.fill(0);
        self.blanks = 0;
        for cell in 0..geometry.cells {
            if self.digits[cell] != 0 {
                continue;
            }
            self.blanks += 1;
            for kind in 0..KINDS {
                let house = geometry.house(cell, kind);
                self.blanks_in[house] += 1;
                let bit = 1 << geometry.position_in[cell][kind];
                let places = &mut self.places[house * geometry.side..][..geometry.side];
                for digit in bits(self.candidates[cell]) {
                    places[digit] |= bit;
                }
            }
        }
    }

    /// The order of the grid.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.geometry.order
    }

    /// The digit of a cell, or `None` for a blank.
    #[must_use]
    pub fn get(&self, cell: Cell) -> Option<Digit> {
        match self.digits[cell.index()] {
            0 => None,
            digit => Some(Digit::at(usize::from(digit) - 1)),
        }
    }

    /// The candidates of a cell; none where a digit stands.
    #[must_use]
    pub fn candidates(&self, cell: Cell) -> Candidates {
        Candidates::from_bits(self.candidates[cell.index()])
    }

    /// The digits as a grid.
    #[must_use]
    pub fn grid(&self) -> Grid {
        Grid::from_digits(self.order(), &self.digits)
    }

    /// Whether every cell has a digit.
    #[must_use]
    pub const fn is_filled(&self) -> bool {
        self.blanks == 0
    }

    /// Why there is no solution, where that can be seen at once: a blank cell without a candidate,
    /// a house without a place for a digit, or two equal digits in a house.
    #[must_use]
    pub fn dead_end(&self) -> Option<DeadEnd> {
        if let Some(conflict) = self.grid().first_conflict() {
            return Some(DeadEnd::Conflict(conflict));
        }
        let geometry = self.geometry;
        let empty = (0..geometry.cells).find(|&cell| self.digits[cell] == 0 && self.candidates[cell] == 0);
        if let Some(cell) = empty {
            return Some(DeadEnd::NoDigit(self.order().cell_at(cell)));
        }
        for house in 0..geometry.houses() {
            let held = geometry
                .cells_of(house)
                .iter()
                .fold(0_u32, |held, &cell| held | (1_u32 << self.digits[usize::from(cell)] >> 1));
            for digit in (0..geometry.side).filter(|digit| held & (1 << digit) == 0) {
                if self.places(house, digit) == 0 {
                    return Some(DeadEnd::NoPlace(Digit::at(digit), geometry.public_house(house)));
                }
            }
        }
        None
    }

    /// Whether no digit stands twice in a house.
    pub(super) fn keeps_rules(&self) -> bool {
        let geometry = self.geometry;
        let mut held = [0_u32; KINDS * crate::grid::MAX_SIDE];
        self.digits.iter().enumerate().all(|(cell, &digit)| {
            let bit = 1_u32 << digit >> 1;
            geometry.houses_of[cell].iter().all(|&house| {
                let held = &mut held[usize::from(house)];
                let is_free = *held & bit == 0;
                *held |= bit;
                is_free
            })
        })
    }

    /// Puts a digit into a blank cell and takes it from the candidates of the cells around.
    pub fn place(&mut self, cell: Cell, digit: Digit) {
        self.fill(cell.index(), usize::from(digit.value()) - 1);
    }

    /// Takes a candidate from a cell. Returns whether it was there.
    pub fn eliminate(&mut self, candidate: Candidate) -> bool {
        self.remove(candidate.cell.index(), usize::from(candidate.digit.value()) - 1)
    }

    /// Carries a step out.
    pub fn apply(&mut self, step: &Step) {
        for &candidate in &step.eliminations {
            self.eliminate(candidate);
        }
        if let Some(Candidate { cell, digit }) = step.placement {
            self.place(cell, digit);
        }
    }

    /// The positions in a house that have a digit as candidate.
    #[inline]
    pub(super) fn places(&self, house: usize, digit: usize) -> u32 {
        self.places[house * self.geometry.side + digit]
    }

    /// Whether a cell has a candidate.
    #[inline]
    pub(super) fn has(&self, cell: usize, digit: usize) -> bool {
        self.candidates[cell] & (1 << digit) != 0
    }

    /// Puts a digit into a blank cell.
    pub(super) fn fill(&mut self, cell: usize, digit: usize) {
        let geometry = self.geometry;
        if self.digits[cell] == 0 {
            self.blanks -= 1;
            for house in geometry.houses_of[cell] {
                self.blanks_in[usize::from(house)] -= 1;
            }
        }
        self.digits[cell] = digit as u8 + 1;
        for other in bits(self.candidates[cell]) {
            self.remove(cell, other);
        }
        for kind in 0..KINDS {
            let house = geometry.house(cell, kind);
            for at in bits(self.places(house, digit)) {
                self.remove(geometry.cell_at(house, at), digit);
            }
        }
    }

    /// Takes a candidate away. Returns whether it was there.
    #[inline]
    pub(super) fn remove(&mut self, cell: usize, digit: usize) -> bool {
        let bit = 1 << digit;
        if self.candidates[cell] & bit == 0 {
            return false;
        }
        self.candidates[cell] &= !bit;
        let geometry = self.geometry;
        for kind in 0..KINDS {
            let house = geometry.house(cell, kind);
            self.places[house * geometry.side + digit] &= !(1 << geometry.position_in[cell][kind]);
        }
        true
    }

    /// The position as pencil marks: for each cell one character a digit, in reading order, the
    /// digit where it is a candidate and `.` where it is not. A cell with a digit shows it alone.
    ///
    /// That is 64 characters for 4x4, 729 for 9x9, 4096 for 16x16 and 15625 for 25x25 puzzles;
    /// values above 9 are letters from `A` on.
    #[must_use]
    pub fn pencil_marks(&self) -> String {
        let side = self.geometry.side;
        let mut text = String::with_capacity(self.geometry.cells * side);
        for (&digit, &candidates) in self.digits.iter().zip(&self.candidates) {
            let marks = if digit == 0 { candidates } else { 1 << (digit - 1) };
            text.extend((0..side).map(|d| if marks & (1 << d) == 0 { '.' } else { symbol(d) }));
        }
        text
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pencil_marks())
    }
}

/// The symbol of the digit with this index.
fn symbol(digit: usize) -> char {
    let digit = digit as u8;
    char::from(if digit < 9 { b'1' + digit } else { b'A' + digit - 9 })
}

impl FromStr for Position {
    type Err = PencilMarkError;

    /// Reads [pencil marks](Position::pencil_marks). `0` and `.` stand for a digit that is no
    /// candidate. A cell whose only mark is no candidate of a cell around it holds that digit; any
    /// other cell is blank.
    fn from_str(text: &str) -> Result<Self, PencilMarkError> {
        let characters = text.chars().count();
        let order = Order::ALL
            .into_iter()
            .find(|order| order.cells() * order.side() == characters && order.box_side() > 1)
            .ok_or(PencilMarkError::Length { characters })?;
        let mut position = Self::blank(order);
        let side = order.side();
        for (at, found) in text.chars().enumerate() {
            let (cell, digit) = (at / side, at % side);
            if found == symbol(digit) || found.to_ascii_uppercase() == symbol(digit) {
                position.candidates[cell] |= 1 << digit;
            } else if !matches!(found, '.' | '0') {
                let (cell, expected) = (order.cell_at(cell), symbol(digit));
                return Err(PencilMarkError::Character { at: at + 1, cell, found, expected });
            }
        }
        let marks = position.candidates.clone();
        for cell in 0..order.cells() {
            let around = Geometry::of(order).peers(cell).iter();
            if marks[cell].is_power_of_two()
                && around.clone().all(|&c| marks[usize::from(c)] & marks[cell] == 0)
            {
                position.digits[cell] = marks[cell].trailing_zeros() as u8 + 1;
                position.candidates[cell] = 0;
            }
        }
        position.index();
        Ok(position)
    }
}

/// Why a text is no list of pencil marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PencilMarkError {
    /// No size of a puzzle has that many.
    #[error(
        "{characters} characters are no pencil marks: 4x4 puzzles have 64, 9x9 puzzles 729, 16x16 puzzles \
         4096 and 25x25 puzzles 15625."
    )]
    Length {
        /// The number of characters.
        characters: usize,
    },
    /// A character that is neither a blank nor the digit that belongs there.
    #[error(
        "Character {at} is {found:?}; for cell {cell} it has to be {expected:?}, or . or 0 without the candidate."
    )]
    Character {
        /// Its number, from 1.
        at: usize,
        /// The cell that it belongs to.
        cell: Cell,
        /// The character.
        found: char,
        /// The digit that may stand there.
        expected: char,
    },
}

/// Why a position has no solution. Prints as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeadEnd {
    /// Two equal digits in a house.
    Conflict(crate::grid::Conflict),
    /// A blank cell without a candidate.
    NoDigit(Cell),
    /// A house without a place for a digit.
    NoPlace(Digit, crate::grid::House),
}

impl fmt::Display for DeadEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(conflict) => write!(f, "{conflict}."),
            Self::NoDigit(cell) => write!(f, "No digit is left for {cell}."),
            Self::NoPlace(digit, house) => write!(f, "No place is left for {digit} in {house}."),
        }
    }
}

/// Whether a set has two elements.
pub(super) const fn is_pair(set: u32) -> bool {
    (set & set.wrapping_sub(1)).is_power_of_two()
}

/// The positions of the bits that are set, lowest first.
#[inline]
pub(super) fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let lowest = set.trailing_zeros() as usize;
        set &= set - 1;
        Some(lowest)
    })
}
