//! Cells by themselves: a symbol, a blank, or a number.

use super::alphabet::INVALID;
use super::lines::{bad_cell, offset};
use super::{Format, Problem};

/// The digit of a single cell: a symbol, a blank, a number, or nothing between two delimiters. Numbers
/// count from 0 where that is the symbol of the first value, and 1 that of the second.
pub(super) fn read_cell(format: &Format, cell: &[u8]) -> Option<u8> {
    let digit = match cell {
        [] => return Some(0),
        [byte] => format.codec.decode(*byte),
        _ => format.codec.character(cell),
    };
    if digit != INVALID {
        return Some(digit);
    }
    if cell.len() == 1 {
        return None;
    }
    let is_plain = cell.iter().all(u8::is_ascii_digit);
    let number = if is_plain { std::str::from_utf8(cell).ok()?.parse().ok() } else { number(cell) };
    let is_from_zero = format.codec.decode(b'0') == 1 && format.codec.decode(b'1') == 2;
    let digit = number?.checked_add(u8::from(is_from_zero && !is_missing(cell)));
    digit.filter(|&digit| usize::from(digit) <= format.order.side())
}

/// The problem of a part of a line that is no cell: of a number the value, as its first digit may be one
/// by itself, and of what only begins like a number the character behind that.
pub(super) fn no_cell(format: &Format, line: &[u8], cell: &[u8]) -> Problem {
    let digits = cell.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(cell).ok().filter(|_| digits > 1).and_then(|cell| cell.parse().ok());
    let is_from_zero = format.codec.decode(b'0') == 1;
    match number.and_then(|number: usize| format.order.digit(number).err()) {
        Some(outside) if outside.value > 0 && !is_from_zero => Problem::OutOfRange(outside),
        _ => {
            let bad = if digits < cell.len() { digits } else { 0 };
            bad_cell(format.order, line, offset(line, cell) + bad)
        }
    }
}

/// Whether a cell is `nan` or has a minus: what stands for a missing value, as `0` does not where
/// numbers count from it.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    cell.eq_ignore_ascii_case(b"nan") || cell.eq_ignore_ascii_case(b"na") || cell.starts_with(b"-")
}

/// The value of a number that is written like `5.0` or `5.000e+00`, or 0 for `nan` and -1, which
/// stand for a missing value.
pub(super) fn number(cell: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(cell).ok()?;
    if is_missing(cell) && !text.starts_with('-') {
        return Some(0);
    }
    // Nothing but a plain decimal: Rust also parses words such as `infinity`.
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        || !cell.strip_prefix(b"-").unwrap_or(cell).first().is_some_and(u8::is_ascii_digit)
    {
        return None;
    }
    value(text.parse().ok()?)
}

/// The value of a whole number, or 0 for -1, which stands for a blank too.
pub(super) fn value(number: f64) -> Option<u8> {
    let is = |whole: f64| (number - whole).abs() < f64::EPSILON;
    if is(-1.0) {
        return Some(0);
    }
    // The largest value of any puzzle is 25.
    (0..=25).find(|&value| is(f64::from(value)))
}
