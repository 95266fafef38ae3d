//! What a layout makes of a text: its puzzles, and what it leaves unexplained.

use super::super::Alphabet;
use super::facts::{Kind, Line};
use super::signs::{Blanks, ZERO, weight};
use super::table::{Layout, Size, Split};
use crate::grid::OutOfRange;

/// A puzzle, or what is in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The line of the text on which it begins, from 0.
    pub(super) line: u32,
    /// Why its cells cannot be read.
    pub(super) fault: Option<Fault>,
}

impl Place {
    /// Whether it cannot be read because it has another number of cells or rows than it should.
    pub(super) fn has_wrong_length(&self) -> bool {
        self.fault.as_ref().is_some_and(|fault| fault.what == FaultKind::Length)
    }
}

/// Why the cells of a puzzle cannot be read, and on which line of the text, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: u32,
    pub(super) what: FaultKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// It has another number of cells than it should, or belongs to fewer rows.
    Length,
    /// The character at this column, from 0, is no cell.
    Character(usize),
    /// A number is larger than any value, or than any row or column.
    Outside(OutOfRange),
    /// It names the cell with this index again.
    Twice(usize),
}

/// What a layout reads in a text.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) layout: Layout,
    pub(super) puzzles: Vec<Place>,
    /// The cells of those that are read, one after another; unspecified for others.
    pub(super) digits: Vec<u8>,
    /// Characters that are neither cells of a puzzle nor anything that may stand beside one.
    pub(super) unexplained: u32,
    /// Characters of puzzles that cannot be read, and of those that break the rules.
    pub(super) broken: u32,
    pub(super) unsound: u32,
    /// The puzzles that cannot be read.
    pub(super) bad: u32,
    /// Characters of words.
    pub(super) passed: u32,
    /// All characters.
    pub(super) total: u32,
    /// The lines that are passed over and are no comments, separators or headings.
    pub(super) told: Vec<u32>,
    /// The lines of words.
    pub(super) words: u32,
    /// The lines that no list may have: separators, and comments that do not begin with `#`.
    pub(super) skipped: u32,
    /// The signs of blanks.
    pub(super) blanks: Blanks,
    /// The puzzles in which a `0` may be a value, and those in which it would be a blank.
    pub(super) unclear: u32,
    pub(super) clear: u32,
    /// The solutions below their puzzles.
    pub(super) solutions: u32,
    /// The most characters beside the puzzle on its line.
    pub(super) beside: u32,
    /// The word by which it says that its puzzles have other rules.
    pub(super) variant: Option<String>,
    /// Whether puzzles are apart by different numbers of blank rows.
    pub(super) is_uneven: bool,
}

impl Reading {
    pub(super) fn new(layout: &Layout, lines: &[Line<'_>]) -> Self {
        Self {
            layout: layout.clone(),
            puzzles: Vec::new(),
            digits: Vec::new(),
            unexplained: 0,
            broken: 0,
            unsound: 0,
            bad: 0,
            passed: 0,
            total: lines.iter().map(|line| weight(&line.text)).sum(),
            told: Vec::new(),
            words: 0,
            skipped: 0,
            blanks: 0,
            unclear: 0,
            clear: 0,
            solutions: 0,
            beside: 0,
            variant: None,
            is_uneven: false,
        }
    }

    fn cells(&self) -> usize {
        usize::from(self.layout.side).pow(2)
    }

    /// The digits of a puzzle; `None` if it cannot be read.
    pub(super) fn digits(&self, index: usize) -> Option<&[u8]> {
        let cells = self.cells();
        self.puzzles[index].fault.is_none().then(|| &self.digits[index * cells..][..cells])
    }

    /// Whether a board is the solution of the last puzzle, but for a few cells that are blank.
    pub(super) fn is_solution(&self, digits: &[u8]) -> bool {
        let last = self.puzzles.len().checked_sub(1).and_then(|last| self.digits(last));
        let blanks = |digits: &[u8]| memchr::memchr_iter(0, digits).count();
        last.is_some_and(|above| {
            let (left, open) = (blanks(digits), blanks(above));
            let is_few = 16 * left <= digits.len() && left + usize::from(self.layout.side) <= open;
            open > 0
                && (left == 0 || is_few)
                && digits.iter().zip(above).all(|(value, clue)| *value == 0 || *clue == 0 || value == clue)
        })
    }

    /// Adds a puzzle that is read. One without a blank that fills the puzzle above is its solution,
    /// if such may be below it.
    pub(super) fn add(&mut self, digits: &[u8], line: u32, characters: u32, may_be_solution: bool) {
        let is_full = !digits.contains(&0);
        let is_below_bad = self.puzzles.last().is_some_and(|last| last.fault.is_some());
        if self.is_solution(digits) || is_below_bad && may_be_solution && is_full {
            self.solutions += u32::from(is_full);
            self.told.extend((!is_full).then_some(line));
            return;
        }
        // The share of cells that repeat others.
        let repeated = u32::try_from(repeated(digits, self.layout.size())).unwrap_or(u32::MAX);
        let cells = u32::from(self.layout.side).pow(2);
        self.unsound += repeated.saturating_mul(characters.max(1)).div_ceil(cells);
        self.puzzles.push(Place { line, fault: None });
        self.digits.extend_from_slice(digits);
    }

    /// Counts the signs of a puzzle, and what its `0` may be.
    pub(super) fn count_unclear(&mut self, digits: &[u8], blanks: Blanks, zeros: u32) {
        self.blanks |= blanks;
        let zeros = usize::try_from(zeros).unwrap_or(usize::MAX);
        if self.layout.alphabet == Alphabet::Letters {
            if zeros_may_be_values(digits, zeros, blanks & !ZERO != 0, self.layout.side.into()) {
                self.unclear += u32::from(zeros > 0);
            } else {
                self.clear += 1;
            }
        }
    }

    pub(super) fn add_bad(&mut self, fault: Fault, line: u32, characters: u32) {
        self.bad += 1;
        self.broken += characters;
        self.puzzles.push(Place { line, fault: Some(fault) });
        self.digits.resize(self.digits.len() + self.cells(), 0);
    }

    pub(super) fn pass_over(&mut self, kind: Kind, line: &Line<'_>) {
        let is_blank = matches!(line.text.trim_ascii_start(), [] | [b'#', ..]);
        self.skipped += u32::from(!is_blank && matches!(kind, Kind::Comment | Kind::Separator));
        match kind {
            Kind::Separator | Kind::Comment => return,
            Kind::Words => {
                self.passed += weight(&line.text);
                self.words += 1;
            }
            Kind::Unexplained => self.unexplained += weight(&line.text),
        }
        self.told.push(line.number);
    }

    /// Whether these are the boards of another column than the puzzles of another reading.
    pub(super) fn is_column_of_solutions(&self, other: &Self) -> bool {
        let (layout, puzzles) = (&self.layout, &other.layout);
        layout.index == puzzles.index
            && layout.row().split == Split::Field
            && layout.delimiters == puzzles.delimiters
            && layout.side == puzzles.side
            && self.is_mostly_full()
            && !other.is_mostly_full()
            && 2 * other.unsound <= other.count()
    }

    /// Whether a puzzle that is read has a clue.
    pub(super) fn has_clue(&self) -> bool {
        (0..self.puzzles.len()).filter_map(|index| self.digits(index)).flatten().any(|&value| value > 0)
    }

    /// Whether most puzzles that are read have no blank.
    fn is_mostly_full(&self) -> bool {
        let boards = (0..self.puzzles.len()).filter_map(|index| self.digits(index));
        let (full, all) =
            boards.fold((0, 0), |(full, all), digits| (full + usize::from(!digits.contains(&0)), all + 1));
        2 * full > all
    }

    /// Whether puzzles are read, none of which has a blank.
    pub(super) fn is_full(&self) -> bool {
        self.bad < self.count()
            && (0..self.puzzles.len())
                .filter_map(|index| self.digits(index))
                .all(|digits| !digits.contains(&0))
    }

    /// Whether these are the solutions of puzzles of another reading, each on the line of its
    /// puzzle.
    pub(super) fn solves(&self, other: &Self) -> bool {
        if self.puzzles.len() > other.puzzles.len() || !self.is_full() || other.is_full() {
            return false;
        }
        let (mut has_any, mut at) = (false, 0);
        for index in 0..self.puzzles.len() {
            let line = self.puzzles[index].line;
            while other.puzzles.get(at).is_some_and(|place| place.line < line) {
                at += 1;
            }
            let is_there = other.puzzles.get(at).is_some_and(|place| place.line == line);
            let fills = match self.digits(index) {
                Some(solution) if is_there => other.digits(at).is_none_or(|puzzle| fills(solution, puzzle)),
                solution => solution.is_none(),
            };
            if !fills {
                return false;
            }
            has_any |= is_there && self.digits(index).is_some();
            at += usize::from(is_there);
        }
        has_any
    }

    /// Whether the puzzles are the same as those of another reading.
    pub(super) fn has_puzzles_of(&self, other: &Self) -> bool {
        let count = self.puzzles.len();
        count == other.puzzles.len() && (0..count).all(|index| self.digits(index) == other.digits(index))
    }
}

/// Whether a `0` in a puzzle that is read in `letters` may be a value of an alphabet that begins
/// with it. It is a blank if there is a value that those do not have, or more of it than of any
/// value. In other sizes than 16x16, where such alphabets are rare and files from several sources
/// mix blanks, it may be a value only beside another blank.
///
/// Without a `0` the readings do not differ: clues have the same name in both, and so have the
/// cells of a solution, except for one value without a clue.
pub(in super::super) fn zeros_may_be_values(
    digits: &[u8],
    zeros: usize,
    has_others: bool,
    side: usize,
) -> bool {
    zeros <= side && (has_others || side == 16) && digits.iter().all(|&value| usize::from(value) < side)
}

/// Whether a full board has all clues of a puzzle.
fn fills(solution: &[u8], puzzle: &[u8]) -> bool {
    solution.len() == puzzle.len()
        && solution.iter().zip(puzzle).all(|(value, clue)| *clue == 0 || value == clue)
}

/// The number of cells whose value is in their row, column or box before them.
pub(super) fn repeated(digits: &[u8], size: Size) -> usize {
    let (side, rows, columns) =
        (usize::from(size.side), usize::from(size.box_rows), usize::from(size.box_columns));
    let mut seen = [[0_u32; 25]; 3];
    let mut is_repeated = |&(at, &value): &(usize, &u8)| {
        let (row, column) = (at / side, at % side);
        let boxes = row / rows * rows + column / columns;
        let bit = 1_u32 << value;
        let mut is_new = true;
        for (house, seen) in [row, column, boxes].into_iter().zip(&mut seen) {
            is_new &= seen[house] & bit == 0;
            seen[house] |= bit;
        }
        !is_new
    };
    digits.iter().enumerate().filter(|(_, value)| **value > 0).filter(&mut is_repeated).count()
}
