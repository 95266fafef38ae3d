//! `triples`: `row column value` a line, one puzzle a text, blank cells left out.

use super::lines::is_no_puzzle;
use super::{Problem, PuzzleError, Record, Records};
use crate::grid::{Cell, Digit, Grid, Order, OutOfRange};

/// The longest `triples` text that is read as one puzzle. The largest puzzle takes under 10 KiB.
pub const MAX_TRIPLES_BYTES: usize = 1 << 20;

/// The three numbers of a line, or `None` if it holds anything else.
pub(super) fn numbers(line: &[u8]) -> Option<[usize; 3]> {
    let text = std::str::from_utf8(line).ok()?;
    let mut parts = text.split([' ', '\t', ',', ';', '\r']).filter(|part| !part.is_empty());
    let mut numbers = [0; 3];
    for number in &mut numbers {
        *number = parts.next()?.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// The smallest order, from 2 on, that has every number of the text.
pub(super) fn smallest_order(text: &[u8]) -> Order {
    let largest = text.split(|&b| b == b'\n').filter_map(numbers).flatten().max().unwrap_or(0);
    let fits = |order: &Order| order.box_side() >= 2 && order.side() >= largest;
    Order::ALL.into_iter().find(fits).unwrap_or(Order::NINE)
}

/// The whole text is one puzzle; the first bad line is what is wrong with it.
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
        if error.is_none()
            && let Err(problem) = read_triple(order, line, puzzle)
        {
            error = Some(PuzzleError { problem, line: Some(number) });
        }
    }
    Some(Record { line: first?, given: None, error })
}

fn read_triple(order: Order, line: &[u8], puzzle: &mut Grid) -> Result<(), Problem> {
    let [row, column, value] = numbers(line).ok_or(Problem::WrongLength)?;
    let place =
        || -> Result<(Cell, Digit), OutOfRange> { Ok((order.cell(row, column)?, order.digit(value)?)) };
    let (cell, digit) = place().map_err(Problem::OutOfRange)?;
    if puzzle.get(cell).is_some() {
        return Err(Problem::SetTwice(cell));
    }
    puzzle.set(cell, Some(digit));
    Ok(())
}
