//! Cells by themselves: a symbol, a blank, or a number.

use super::alphabet::INVALID;
use super::lines::{bad_cell, offset};
use super::{Format, Problem, apart};

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
    let number = if is_plain { std::str::from_utf8(cell).ok()?.parse().ok() } else { apart::number(cell) };
    let is_from_zero = format.codec.decode(b'0') == 1 && format.codec.decode(b'1') == 2;
    let digit = number?.checked_add(u8::from(is_from_zero && !apart::is_missing(cell)));
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
