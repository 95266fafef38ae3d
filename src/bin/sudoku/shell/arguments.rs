//! Arguments of commands: sides, numbers, cells and values, in the ways people write them.

use anyhow::{anyhow, bail};
use sudoku_stream::grid::{Cell, Digit, Order, OutOfRange};
use sudoku_stream::text::Format;

use super::command::shortened;

/// The order for a side.
///
/// # Errors
/// The sentence for a wrong side.
pub fn order(side: &str) -> anyhow::Result<Order> {
    // `16x16` is accepted for `16`.
    let number = side.split(['x', 'X']).next().unwrap_or(side);
    let order = number.parse().ok().and_then(Order::from_side);
    order.ok_or_else(|| anyhow!("`{}` is no side of a puzzle. It is 1, 4, 9, 16 or 25.", shortened(side)))
}

/// A number from 1, with or without commas.
///
/// # Errors
/// The sentence for a wrong number.
pub fn from_one(number: &str) -> anyhow::Result<u64> {
    let plain = number.replace([',', '_'], "");
    plain
        .parse()
        .ok()
        .filter(|&number: &u64| number > 0)
        .ok_or_else(|| anyhow!("`{}` is no whole number from 1.", shortened(number)))
}

/// The words of `3 5 7`, `3, 5, 7`, `(3, 5) 7`, `r3c5 7` and `r3c5=7`.
pub fn coordinates(words: &str) -> Vec<String> {
    // No alphabet has a comma; parentheses may be values.
    let plain = words.replace(',', " ");
    let (place, rest) =
        plain.strip_prefix('(').and_then(|inside| inside.split_once(')')).unwrap_or(("", &plain));
    let rest = rest.trim_start().strip_prefix("is ").unwrap_or(rest);
    let mut parts: Vec<String> =
        place.split_whitespace().chain(rest.split_whitespace()).map(str::to_owned).collect();
    if let Some((row, column, value)) = parts.first().and_then(|word| named_cell(word)) {
        // `=` is a value of one alphabet.
        if value.is_none() && parts.len() == 3 && parts[1] == "=" {
            parts.remove(1);
        }
        parts.splice(..1, [row, column].into_iter().chain(value));
    }
    parts
}

/// The row and column of a word such as `r3c5`, and the value of one such as `r3c5=7`.
fn named_cell(word: &str) -> Option<(String, String, Option<String>)> {
    let (cell, value) = word.split_once('=').map_or((word, None), |(cell, value)| (cell, Some(value)));
    let lower = cell.to_lowercase();
    let (row, column) = lower.strip_prefix('r')?.split_once('c')?;
    Some((row.to_owned(), column.to_owned(), value.map(ToOwned::to_owned)))
}

/// Whether a line is `r3c5 7` or `r3c5=7`, which fills in a cell without the word `set`.
pub fn sets_named_cell(line: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let named = line.split_whitespace().next().and_then(named_cell);
    named.is_some_and(|(row, column, _)| is_number(&row) && is_number(&column))
        && coordinates(line).len() == 3
}

/// Whether a line is `3 1 1`, `3,1,1`, `(3, 1) 1` or `(3, 1) is 1`, which fills in a cell of the board.
pub fn are_three_numbers(line: &str) -> bool {
    let words = coordinates(line);
    words.len() == 3
        && words.iter().all(|word| word.len() < 4 && word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The cell in this row and column.
///
/// # Errors
/// The sentence for a wrong row or column.
pub fn cell(order: Order, row: &str, column: &str) -> anyhow::Result<Cell> {
    let row = reference("row", row, order)?;
    let column = reference("column", column, order)?;
    Ok(order.cell(row, column)?)
}

/// A number from 1 to the side.
fn reference(what: &'static str, typed: &str, order: Order) -> anyhow::Result<usize> {
    let side = order.side();
    let digits = typed.strip_prefix(['-', '+']).unwrap_or(typed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        bail!("`{}` is no {what}. It is a number from 1 to {side}.", shortened(typed));
    }
    match typed.parse() {
        Ok(value) if (1..=side).contains(&value) => Ok(value),
        Ok(value) => Err(OutOfRange { what, value, side }.into()),
        // Below zero, or too large for a number.
        Err(_) => bail!("The {what} {} is outside 1 to {side}.", shortened(typed)),
    }
}

/// A value: the symbol that the board shows for it, or its number.
///
/// # Errors
/// The sentence for a wrong value.
pub fn digit(format: &Format, typed: &str) -> anyhow::Result<Digit> {
    let order = format.order();
    let values = || 1..=order.side();
    let symbol = |value: usize| format.symbol(u8::try_from(value).unwrap_or(0));
    let mut characters = typed.chars();
    if let (Some(one), None) = (characters.next(), characters.next()) {
        let exact = values().find(|&value| symbol(value) == one);
        let value = exact.or_else(|| values().find(|&value| symbol(value).eq_ignore_ascii_case(&one)));
        if let Some(value) = value {
            return Ok(order.digit(value)?);
        }
        if one == '.' {
            bail!("`.` is no value. `clear R C` empties a cell.");
        }
        // A letter that only larger sizes have.
        if one.is_ascii_alphabetic() {
            bail!("`{one}` is no value of a {order} puzzle. The largest is {}.", symbol(order.side()));
        }
    }
    Ok(order.digit(reference("value", typed, order)?)?)
}

#[cfg(test)]
mod tests {
    use sudoku_stream::text::Notation;

    use super::*;

    #[test]
    fn cells_are_named_in_several_ways() {
        for words in ["3 5 7", "3, 5, 7", "3,5 7", "(3, 5) 7", "(3,5)7", "r3c5 7", " R3C5  7", "r3c5=7"] {
            assert_eq!(coordinates(words), ["3", "5", "7"], "{words}");
        }
        assert_eq!(coordinates("r3c5 = 7"), ["3", "5", "7"]);
        assert_eq!(coordinates("r3c5 ="), ["3", "5", "="]);
        for line in ["r3c5 7", "R3C5=7", "r3c5 = 7"] {
            assert!(sets_named_cell(line), "{line}");
        }
        for line in ["r3c5", "3 5 7", "rc 7", "r3c5x 7", "r3c5 7 8", ""] {
            assert!(!sets_named_cell(line), "{line}");
        }
        assert_eq!(coordinates("3 5 ("), ["3", "5", "("]);
        assert_eq!(coordinates("row 5 7"), ["row", "5", "7"]);
    }

    #[test]
    fn a_value_is_what_the_board_shows_or_a_number() {
        let value = |alphabet: &str, typed: &str| {
            let format = Format::new(Notation::Lines, Order::ALL[3], alphabet.parse().unwrap()).unwrap();
            digit(&format, typed).map(Digit::value).map_err(|error| error.to_string())
        };
        assert_eq!(value("letters", "g"), Ok(16));
        assert_eq!(value("letters", "16"), Ok(16));
        assert_eq!(value("ascii", "="), Ok(13));
        assert_eq!(value("alpha", "b"), Ok(2));
        assert_eq!(value("alpha", "2"), Ok(2));
        // A symbol wins: it is what the board shows.
        assert_eq!(value("hex", "0"), Ok(1));
        assert_eq!(value("aAbBcCdDeEfFgGhH", "A"), Ok(2));
        assert_eq!(value("letters", "0").unwrap_err(), "The value 0 is outside 1 to 16.");
        assert_eq!(value("letters", "17").unwrap_err(), "The value 17 is outside 1 to 16.");
        assert!(value("letters", "").is_err());
    }
}
