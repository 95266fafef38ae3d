//! `triples`: `row column value` on each line, one puzzle a text, blank cells omitted.

use super::lines::{is_no_puzzle, offset};
use super::{Problem, PuzzleError, Record, Records};
use crate::grid::{Cell, Digit, Grid, MAX_SIDE, Order, OutOfRange};

/// The most bytes of a `triples` text that are read as one puzzle. The largest puzzle takes under
/// 10 KiB.
pub const MAX_TRIPLES_BYTES: usize = 1 << 20;

/// The fields of a line, before a comment.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
    line[..end].split(|byte| b" \t,;\r".contains(byte)).filter(|field| !field.is_empty())
}

/// A whole number without a sign.
fn number(field: &[u8]) -> Option<usize> {
    let is_plain = field.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(field).ok().filter(|_| is_plain)?.parse().ok()
}

/// The three numbers of a line, behind the name of the row in quotes that R writes.
///
/// # Errors
/// A wrong length if there are not three fields, else the first that is no number.
pub(super) fn numbers(line: &[u8]) -> Result<[usize; 3], Problem> {
    let mut parts = fields(line);
    if line.trim_ascii_start().starts_with(b"\"") && fields(line).count() == 4 {
        parts.next();
    }
    let (Some(row), Some(column), Some(value), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Problem::WrongLength);
    };
    let mut numbers = [0; 3];
    for (place, field) in numbers.iter_mut().zip([row, column, value]) {
        *place = number(field).ok_or_else(|| {
            // A number that overflows is bad from its first character on.
            let bad = field.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
            Problem::invalid_character(line, offset(line, field) + bad)
        })?;
    }
    Ok(numbers)
}

/// Whether a line has three names, as a table of triples has above it.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let is_name = |field: &[u8]| field.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'"');
    fields(line.trim_ascii_end()).count() == 3 && fields(line.trim_ascii_end()).all(is_name)
}

/// Whether a line is the side of the puzzle in the triples below it, or of its boxes.
pub(super) fn names_size(line: &[u8], triples: &[u8]) -> bool {
    let order = smallest_order(triples);
    let size = std::str::from_utf8(line.trim_ascii()).ok().and_then(|size| size.parse().ok());
    size.is_some_and(|size: usize| size == order.side() || size == order.box_side())
}

/// One of so many lines may have a number that is too large for the size, so that it is told as an
/// error instead of making the puzzle larger.
const LINES_AN_ERROR: usize = 8;

/// The smallest order, from 2 on, in which nearly all lines are valid that are valid in any order.
///
/// In most lines of a larger puzzle a row, column or value is too large for smaller ones: of 16x16
/// in four of five.
pub(super) fn smallest_order(text: &[u8]) -> Order {
    let lines = text.split(|&b| b == b'\n').filter_map(|line| numbers(line).ok());
    let largest: Vec<usize> =
        lines.filter_map(|numbers| numbers.into_iter().filter(|&number| number <= MAX_SIDE).max()).collect();
    let fits = |order: &Order| {
        let above = largest.iter().filter(|&&number| number > order.side()).count();
        order.box_side() >= 2 && above * LINES_AN_ERROR <= largest.len()
    };
    Order::ALL.into_iter().find(|order| !largest.is_empty() && fits(order)).unwrap_or(Order::NINE)
}

/// Reads the whole text as one puzzle. Its error is the first in the order of checks.
pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let order = records.format.order;
    puzzle.reset(order);
    let mut first = None;
    let mut error = None;
    while let Some((line, number)) = records.take_line() {
        if is_no_puzzle(line) {
            continue;
        }
        first.get_or_insert(number);
        if let Err(problem) = read_triple(order, line, puzzle) {
            PuzzleError::keep_first(&mut error, problem, number);
        }
    }
    Some(Record { line: first?, given: None, row: &[], error })
}

fn read_triple(order: Order, line: &[u8], puzzle: &mut Grid) -> Result<(), Problem> {
    let [row, column, value] = numbers(line)?;
    let place =
        || -> Result<(Cell, Digit), OutOfRange> { Ok((order.cell(row, column)?, order.digit(value)?)) };
    let (cell, digit) = place().map_err(Problem::OutOfRange)?;
    if puzzle.get(cell).is_some() {
        return Err(Problem::SetTwice(cell));
    }
    puzzle.set(cell, Some(digit));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_three_numbers() {
        for line in ["1 2 3", " 1,2;3 \r", "\t1\t\t2 , 3", "01 2 3"] {
            assert_eq!(numbers(line.as_bytes()), Ok([1, 2, 3]), "{line:?}");
        }
        for line in ["", "1 2", "1 2 3 4", "a", "a b"] {
            assert_eq!(numbers(line.as_bytes()), Err(Problem::WrongLength), "{line:?}");
        }
        for (line, wanted) in
            [("1 2 3x", 6), ("1 2.5 3", 4), ("-1 2 3", 1), ("99999999999999999999999 1 1", 1)]
        {
            let Err(Problem::InvalidCharacter { column, .. }) = numbers(line.as_bytes()) else {
                panic!("{line}")
            };
            assert_eq!(column, wanted, "{line}");
        }
    }

    #[test]
    fn the_size_is_the_smallest_that_has_every_number() {
        let side = |text: &str| smallest_order(text.as_bytes()).side();
        let cases = [
            ("1 1 1", 4),
            ("4 4 4", 4),
            ("5 1 1", 9),
            ("1 10 1\nx", 16),
            ("1 1 25", 25),
            ("1 1 26\n9 1 1", 9),
            ("x", 9),
        ];
        for (text, wanted) in cases {
            assert_eq!(side(text), wanted, "{text}");
        }
        // One bad number among many makes no puzzle larger, wherever it is.
        for bad in ["10 1 9", "1 10 9", "1 1 10", "25 1 1"] {
            let nine: Vec<String> = (1..=9).map(|at| format!("{at} {at} {at}")).collect();
            let small: Vec<String> = (0..8).map(|at| format!("{} {} 1", 1 + at / 4, 1 + at % 4)).collect();
            for (lines, wanted) in [(nine, 9), (small, 4)] {
                for at in 0..=lines.len() {
                    let mut lines = lines.clone();
                    lines.insert(at, bad.to_owned());
                    assert_eq!(side(&lines.join("\n")), wanted, "{lines:?}");
                }
            }
        }
        // Two among so few may be meant.
        assert_eq!(side("1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5\n6 6 6\n7 7 7\n10 8 8\n11 9 9\n"), 16);
    }
}
