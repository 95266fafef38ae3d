//! Arguments that are a puzzle, or nearly one.

use std::slice;

use sudoku_stream::answer::{has_length_of_pencil_marks, read_positions, single_error};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::text::{
    Alphabet, BYTE_ORDER_MARK, Format, FormatError, Hint, Notation, Problem, PuzzleError, Records, detect,
    skip_lines_above,
};

/// A puzzle that was typed, and how it was written.
pub type Typed = (Format, Grid);

/// What an argument is that names no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedArgument {
    /// The text of a puzzle.
    Puzzle(Vec<u8>),
    /// Not quite a puzzle; a sentence says what is missing.
    Nearly(String),
    /// Something else.
    Other,
}

/// The characters of blanks.
const BLANKS: &[u8] = b".0_*-?xX";

/// The largest share of cells that a puzzle may lack, or have too many, to be nearly one: a
/// quarter.
const NEARLY: usize = 4;

/// The first puzzle of a text, and whether there are more.
///
/// # Errors
/// A badly formed puzzle. A line is named only where there are several.
pub fn first_puzzle(text: &[u8], hint: &Hint) -> Result<(Typed, bool), FormatError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let (skipped, lines) = skip_lines_above(text, true);
    let text = &text[skipped..];
    if text.is_empty() {
        return Err(PuzzleError { problem: Problem::Empty, line: None }.into());
    }
    let opening = detect(text, hint).map_err(|error| error.below(lines))?;
    let format = opening.format;
    let raw = &text[opening.body..];
    let body = &*format.readable(raw);
    let mut puzzle = Grid::empty(format.order());
    let mut records = Records::new(&format, body, 1 + lines + opening.lines);
    let Some(record) = records.read(&mut puzzle) else {
        return Err(PuzzleError { problem: Problem::Empty, line: None }.into());
    };
    if let Some(error) = record.error {
        let is_on_one_line = raw.trim_ascii_end().iter().all(|&byte| byte != b'\n');
        return Err(if is_on_one_line { single_error(&format, body, &error) } else { error }.into());
    }
    let has_more = records.read(&mut Grid::empty(format.order())).is_some();
    Ok(((format, puzzle), has_more))
}

/// Reads an argument as a puzzle: as many characters of cells as a puzzle has, white space between
/// them or not, or a text in any layout that is recognised. A single cell is a puzzle only where
/// the size was given as 1.
pub fn read(argument: &[u8], hint: &Hint) -> TypedArgument {
    let argument = argument.trim_ascii();
    if argument.contains(&b'\n') {
        let cells = argument.iter().filter(|&&byte| is_digit_or_blank(byte) || b" \t\r\n|+=".contains(&byte));
        return if cells.count() * 2 > argument.len() {
            TypedArgument::Puzzle(argument.to_vec())
        } else {
            TypedArgument::Other
        };
    }
    let Ok(text) = std::str::from_utf8(argument) else { return TypedArgument::Other };
    if text.contains('/') {
        return TypedArgument::Other;
    }
    let cells: Vec<char> = text.chars().filter(|symbol| !symbol.is_ascii_whitespace()).collect();
    let text: String = cells.iter().collect();
    let order = match hint.order {
        Some(order) => Some(order),
        None => Order::from_cells(cells.len()).filter(|order| order.side() > 1),
    };
    let has_length = order.filter(|order| order.cells() == cells.len());
    // Cells are counted first, because that is quickest and nearly always enough.
    let bad_column = has_length.and_then(|order| bad_cell(&text, order, hint));
    if has_length.is_some() && bad_column.is_none() {
        return TypedArgument::Puzzle(text.into_bytes());
    }
    let is_puzzle = |(puzzle, has_more): (Typed, bool)| puzzle.0.order().side() > 1 && !has_more;
    if first_puzzle(argument, hint).is_ok_and(is_puzzle) {
        return TypedArgument::Puzzle(argument.to_vec());
    }
    if has_length_of_pencil_marks(cells.len()) && read_positions(text.as_bytes()).is_some() {
        // Whoever reads it knows whether a position will do.
        return TypedArgument::Puzzle(text.into_bytes());
    }
    if let (Some(order), Some(column)) = (has_length, bad_column) {
        if !has_nearly_all_cells(&cells, order) {
            return TypedArgument::Other;
        }
        return TypedArgument::Nearly(format!(
            "It has {} characters like a {order} puzzle, but {:?} in column {column} is no cell.",
            cells.len(),
            cells.get(column - 1).copied().unwrap_or(' '),
        ));
    }
    let wrong_length = |order: Order| {
        TypedArgument::Nearly(format!(
            "It has {} cells; a {order} puzzle has {}.",
            cells.len(),
            order.cells()
        ))
    };
    let is_other = |other: &Order| other.side() > 1 && bad_cell(&text, *other, hint).is_none();
    if let (Some(order), Some(_)) = (hint.order, Order::from_cells(cells.len()).filter(is_other)) {
        return wrong_length(order);
    }
    let nearest = order.or_else(|| {
        let sizes = Order::ALL.into_iter().filter(|order| order.side() > 1);
        sizes.min_by_key(|order| order.cells().abs_diff(cells.len()))
    });
    match nearest {
        Some(order)
            if order.cells().abs_diff(cells.len()) * NEARLY <= order.cells()
                && has_nearly_all_cells(&cells, order) =>
        {
            wrong_length(order)
        }
        _ => TypedArgument::Other,
    }
}

/// The column, from 1, of the first character that is no cell, in the alphabet that reads most of
/// the text; `None` if one reads all of it.
fn bad_cell(text: &str, order: Order, hint: &Hint) -> Option<usize> {
    let named = [Alphabet::Letters, Alphabet::Ascii, Alphabet::Alpha, Alphabet::Hex];
    let alphabets = hint.alphabet.as_ref().map_or(&named[..], slice::from_ref);
    let mut grid = Grid::empty(order);
    let mut furthest = 1;
    for alphabet in alphabets {
        let Ok(format) = Format::new(Notation::Lines, order, alphabet.clone()) else { continue };
        match format.read_cells(text.as_bytes(), &mut grid) {
            Ok(()) => return None,
            Err(Problem::InvalidCharacter { column, .. }) => furthest = furthest.max(column),
            Err(_) => {}
        }
    }
    Some(furthest)
}

/// Are nine in ten of the characters digits, letters or blanks that puzzles of this size have?
fn has_nearly_all_cells(cells: &[char], order: Order) -> bool {
    let is_cell = |&&symbol: &&char| match u8::try_from(symbol) {
        Ok(digit @ b'1'..=b'9') => usize::from(digit - b'0') <= order.side(),
        Ok(letter) if letter.is_ascii_alphabetic() => order.side() > 9,
        Ok(byte) => BLANKS.contains(&byte),
        Err(_) => false,
    };
    cells.iter().filter(is_cell).count() * 10 >= cells.len() * 9
}

const fn is_digit_or_blank(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'*' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    fn typed(argument: &str) -> TypedArgument {
        read(argument.as_bytes(), &Hint::default())
    }

    fn puzzle(cells: &str) -> TypedArgument {
        TypedArgument::Puzzle(cells.as_bytes().to_vec())
    }

    fn nearly(sentence: &str) -> TypedArgument {
        TypedArgument::Nearly(sentence.to_owned())
    }

    #[test]
    fn a_puzzle_is_as_many_cells_as_a_size_has() {
        for cells in [EASY, "1234341221434321", &".".repeat(256), &"G".repeat(256), &"y".repeat(625)] {
            assert_eq!(typed(cells), puzzle(cells));
        }
        let apart: String = EASY.chars().map(|cell| format!("{cell} ")).collect();
        assert_eq!(typed(&apart), puzzle(EASY));
        let numbers = EASY.replace('.', "0").chars().map(String::from).collect::<Vec<_>>().join(",");
        for text in [format!("{{\"puzzle\":\"{EASY}\"}}"), format!("[{numbers}]"), numbers] {
            assert_eq!(typed(&text), puzzle(&text));
        }
        let rows: String =
            EASY.as_bytes().chunks(9).map(|row| format!("{}\n", String::from_utf8_lossy(row))).collect();
        assert_eq!(typed(&rows), puzzle(rows.trim_end()));
    }

    #[test]
    fn one_cell_is_a_puzzle_only_where_its_size_is_given() {
        assert_eq!(typed("5"), TypedArgument::Other);
        let size = Hint { order: Order::from_side(1), ..Hint::default() };
        assert_eq!(read(b"1", &size), puzzle("1"));
    }

    #[test]
    fn what_is_nearly_a_puzzle_is_told_what_it_lacks() {
        assert_eq!(typed(&EASY[1..]), nearly("It has 80 cells; a 9x9 puzzle has 81."));
        assert_eq!(typed(&"1.34".repeat(5)[..17]), nearly("It has 17 cells; a 4x4 puzzle has 16."));
        let damaged = EASY.replacen("19", "1!", 1);
        assert_eq!(
            typed(&damaged),
            nearly("It has 81 characters like a 9x9 puzzle, but '!' in column 14 is no cell.")
        );
        let size = Hint { order: Order::from_side(16), ..Hint::default() };
        assert_eq!(read(EASY.as_bytes(), &size), nearly("It has 81 cells; a 16x16 puzzle has 256."));
        assert_eq!(read(b"abcdefghijklmnop", &size), TypedArgument::Other);
    }

    #[test]
    fn pencil_marks_are_taken_like_a_puzzle() {
        let marks = "123456789".repeat(81);
        assert_eq!(typed(&marks), puzzle(&marks));
        let dots = ".".repeat(64);
        assert_eq!(typed(&dots), puzzle(&dots));
        assert_eq!(typed(&"x!".repeat(32)), TypedArgument::Other);
    }

    #[test]
    fn names_are_no_puzzles() {
        for name in ["slove", "puzzles.txt", "lists/a.txt", "2024-01-31.csv", "12", "abcdefghijklmnop", ""] {
            assert_eq!(typed(name), TypedArgument::Other, "{name}");
        }
        assert_eq!(typed("two\nlines"), TypedArgument::Other);
    }
}
