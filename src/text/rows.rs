//! `grid`: a puzzle written as rows of cells.
//!
//! A row is `side` cells, apart (`5 3 . | . 7 .`) or together (`53..7....`). Where they are apart, values may be
//! numbers. Rulers, blank lines and comment lines stand anywhere; after `side` rows the next puzzle begins.
//! A blank line where a band cannot end says that a puzzle has ended too early: it is of the
//! wrong length, and the next one is read from its own first row.

use super::alphabet::INVALID;
use super::lines::{is_no_puzzle, printable};
use super::{Format, Problem, PuzzleError, Record, Records};
use crate::grid::Grid;

/// What a line of a `grid` text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Blank,
    Ruler,
    Row,
}

pub(super) fn classify(line: &[u8]) -> Line {
    if is_no_puzzle(line) {
        // A comment must not end a puzzle as a blank line may.
        if line.trim_ascii().is_empty() { Line::Blank } else { Line::Ruler }
    } else if line.iter().all(|b| b"-+|= \t\r".contains(b)) {
        Line::Ruler
    } else {
        Line::Row
    }
}

/// The groups of characters of a row, rulers and white space left out.
pub(super) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| b == b'|' || b.is_ascii_whitespace()).filter(|token| !token.is_empty())
}

/// Follows where puzzles begin and end. The same rule serves cutting and reading.
struct Boundaries<'a> {
    format: &'a Format,
    rows: usize,
}

impl Boundaries<'_> {
    /// True if the puzzle at hand ends with this line.
    fn ends_with(&mut self, line: Line) -> bool {
        match line {
            Line::Row => self.rows += 1,
            Line::Blank if !self.rows.is_multiple_of(self.format.order.box_side()) => {
                self.rows = 0;
                return true;
            }
            Line::Blank | Line::Ruler => {}
        }
        let ends = self.rows == self.format.order.side();
        if ends {
            self.rows = 0;
        }
        ends
    }
}

/// The length of the whole puzzles at the start of `text`.
pub(super) fn cut(format: &Format, text: &[u8]) -> usize {
    let mut boundaries = Boundaries { format, rows: 0 };
    let (mut at, mut end) = (0, 0);
    for newline in memchr::memchr_iter(b'\n', text) {
        let line = &text[at..newline];
        at = newline + 1;
        let kind = classify(line);
        if boundaries.ends_with(kind) || (boundaries.rows == 0 && kind != Line::Row) {
            end = at;
        }
    }
    end
}

pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    let side = format.order.side();
    let mut boundaries = Boundaries { format, rows: 0 };
    let mut first = None;
    let mut error = None;
    let mut last = records.line;
    let mut fail = |problem, line| {
        error.get_or_insert(PuzzleError { problem, line: Some(line) });
    };
    loop {
        let row = boundaries.rows;
        let Some((line, number)) = records.take_line() else {
            // The text ends inside a puzzle, or after the last one.
            first?;
            fail(Problem::WrongLength, last);
            break;
        };
        let kind = classify(line);
        if kind == Line::Row {
            first.get_or_insert(number);
            last = number;
            let cells = &mut puzzle.digits_mut()[row * side..][..side];
            if let Err(problem) = read_row(format, line, cells) {
                fail(problem, number);
            }
        }
        if boundaries.ends_with(kind) {
            if kind == Line::Blank {
                fail(Problem::WrongLength, last);
            }
            break;
        }
    }
    Some(Record { line: first?, given: None, error })
}

/// Reads one row into `cells`.
fn read_row(format: &Format, line: &[u8], cells: &mut [u8]) -> Result<(), Problem> {
    let offset = |part: &[u8]| part.as_ptr() as usize - line.as_ptr() as usize;
    let count = tokens(line).count();
    let width: usize = tokens(line).map(<[u8]>::len).sum();
    if count == cells.len() {
        for (cell, token) in cells.iter_mut().zip(tokens(line)) {
            *cell = read_token(format, token).ok_or_else(|| bad(line, offset(token)))?;
        }
    } else if width == cells.len() {
        for (cell, part) in cells.iter_mut().zip(tokens(line).flat_map(|token| token.chunks(1))) {
            *cell = read_token(format, part).ok_or_else(|| bad(line, offset(part)))?;
        }
    } else {
        return Err(Problem::WrongLength);
    }
    Ok(())
}

/// A cell by itself: a symbol, a blank, or a number.
fn read_token(format: &Format, token: &[u8]) -> Option<u8> {
    if let [byte] = token {
        let digit = format.codec.decode(*byte);
        return (digit != INVALID).then_some(digit);
    }
    let number: u8 = std::str::from_utf8(token).ok()?.parse().ok()?;
    (1..=format.order.side()).contains(&number.into()).then_some(number)
}

/// The problem of a bad cell that begins at `offset` in `line`.
fn bad(line: &[u8], offset: usize) -> Problem {
    let text = String::from_utf8_lossy(&line[offset..]);
    let character = text.chars().next().map_or_else(String::new, printable);
    Problem::InvalidCharacter { character, column: offset + 1 }
}
