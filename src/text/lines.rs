//! One puzzle a line: `lines`, `header` and `csv`.

use super::alphabet::{INVALID, Shortcut};
use super::{Format, Notation, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, Order};

/// The longest part of a line that is looked at. A reader may cut longer lines to this length: what is
/// cut away is beyond the largest puzzle and its comment's beginning, so the answer stays the same.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// The length of the whole lines in `text`.
pub(super) fn cut(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)
}

/// The line without the carriage return and white space at its end.
pub(super) const fn trim_end(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// Is it a blank line or a comment, and so no puzzle?
pub(super) fn is_no_puzzle(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#'))
}

pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    if format.codec.shortcut != Shortcut::None
        && let Some((cells, b"\n")) = records.text.get(..82).and_then(|line| line.split_first_chunk::<81>())
        && let Ok(digits) = <&mut [u8; 81]>::try_from(puzzle.digits_mut())
        && match format.codec.shortcut {
            Shortcut::DigitsAndDots => read_digits_and_dots(cells, digits),
            Shortcut::Digits | Shortcut::None => read_digits(cells, digits),
        }
    {
        // The everyday line, which needs no search for its end: the 81 bytes hold no newline, since a
        // newline is no cell, and the one after them ends the line.
        let line = records.line;
        records.text = &records.text[82..];
        records.line += 1;
        return Some(Record { line, given: None, error: None });
    }
    loop {
        let (line, number) = records.take_line()?;
        let strict = format.notation == Notation::Header;
        let cells = if strict {
            line.strip_suffix(b"\r").unwrap_or(line)
        } else if is_no_puzzle(line) && !begins_with_symbol(format, line) {
            continue;
        } else {
            format.codec.cells(trim_end(line))
        };
        let error = read_cells(format, cells, puzzle).err();
        return Some(Record {
            line: number,
            given: None,
            error: error.map(|problem| PuzzleError { problem, line: Some(number) }),
        });
    }
}

/// Does a line that looks like a comment begin with a value of an alphabet that has `#`?
fn begins_with_symbol(format: &Format, line: &[u8]) -> bool {
    line.first().is_some_and(|&byte| byte == b'#' && !format.codec.is_delimiter(byte))
}

pub(super) fn read_csv<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    loop {
        let (line, number) = records.take_line()?;
        if is_no_puzzle(line) {
            continue;
        }
        let field = |column: usize| line.split(|&b| b == b',').nth(column).map(trim_field);
        let cells = field(format.columns.puzzle).unwrap_or_default();
        let given = format.columns.solution.and_then(field).filter(|given| !given.is_empty());
        let error = read_cells(format, cells, puzzle).err();
        return Some(Record {
            line: number,
            given,
            error: error.map(|problem| PuzzleError { problem, line: Some(number) }),
        });
    }
}

/// A field of a `csv` row without white space and quotes around it.
pub(super) fn trim_field(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\"")).unwrap_or(field)
}

/// Reads the cells of a 9x9 line whose values are `1` to `9`. False, with the digits unspecified, if any
/// byte is something else. No branch depends on the data, so the compiler makes vector code of it.
#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
fn read_digits(cells: &[u8; 81], digits: &mut [u8; 81]) -> bool {
    let mut bad = 0;
    for (digit, &byte) in digits.iter_mut().zip(cells) {
        let value = byte.wrapping_sub(b'0');
        let is_value = value <= 9;
        let is_blank = (byte == b'.') | (byte == b'_') | (byte == b'*') | (byte == b'-');
        *digit = if is_value { value } else { 0 };
        bad |= u8::from(!(is_value | is_blank));
    }
    bad == 0
}

/// The same where `.` is the only blank.
#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
fn read_digits_and_dots(cells: &[u8; 81], digits: &mut [u8; 81]) -> bool {
    let mut bad = 0;
    for (digit, &byte) in digits.iter_mut().zip(cells) {
        let is_value = byte.wrapping_sub(b'1') <= 8;
        *digit = if is_value { byte - b'0' } else { 0 };
        bad |= u8::from(!(is_value | (byte == b'.')));
    }
    bad == 0
}

/// Reads the cells of one puzzle, given without a comment. Length comes before characters.
pub(super) fn read_cells(format: &Format, cells: &[u8], grid: &mut Grid) -> Result<(), Problem> {
    let order = format.order;
    if grid.order() != order {
        grid.reset(order);
    }
    if cells.len() != order.cells() {
        return Err(wrong_length(format, cells, order));
    }
    let mut worst = 0;
    for (digit, &byte) in grid.digits_mut().iter_mut().zip(cells) {
        *digit = format.codec.decode(byte);
        worst = worst.max(*digit);
    }
    if worst == INVALID { Err(wrong_length(format, cells, order)) } else { Ok(()) }
}

/// Tells the wrong length from a bad character. A text that is UTF-8 is measured in characters, as its
/// writer sees it; any other in bytes.
fn wrong_length(format: &Format, cells: &[u8], order: Order) -> Problem {
    let is_bad = |byte: u8| format.codec.decode(byte) == INVALID;
    if let Ok(text) = std::str::from_utf8(cells) {
        if text.chars().count() == order.cells()
            && let Some((index, c)) =
                text.chars().enumerate().find(|&(_, c)| u8::try_from(c).is_ok_and(is_bad) || !c.is_ascii())
        {
            return Problem::InvalidCharacter { character: printable(c), column: index + 1 };
        }
    } else if cells.len() == order.cells()
        && let Some(index) = cells.iter().position(|&byte| is_bad(byte))
    {
        let byte = cells[index];
        let character = if byte.is_ascii() { printable(byte.into()) } else { format!("byte 0x{byte:02X}") };
        return Problem::InvalidCharacter { character, column: index + 1 };
    }
    Problem::WrongLength
}

/// The character in quotes, escaped where a terminal would not show it.
pub(super) fn printable(c: char) -> String {
    if c.is_ascii_graphic() || c == ' ' || (!c.is_ascii() && c.is_alphanumeric()) {
        format!("'{c}'")
    } else {
        format!("U+{:04X}", u32::from(c))
    }
}
