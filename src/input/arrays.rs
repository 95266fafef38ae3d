//! Arrays of cells as JSON and Python write them, read as one puzzle a line: rows in an array, or
//! the cells one after another, and lists of such arrays. Other text in brackets is left as it is.
//!
//! Line ends are kept, so that messages name the line on which a puzzle ends, as long as there is one
//! on each line; several on one line count as several lines.

use std::io::{self, Read};

use crate::text::BYTE_ORDER_MARK;

/// The bytes read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// The bytes by which a text is recognised.
const HEAD_BYTES: usize = 4096;

/// The most cells that are kept of an array: more than any puzzle has.
const MAX_CELLS: usize = 1000;

/// The sides of puzzles of which rows are put together. An array of 16 may be a 4x4 puzzle too.
const SIDES: [usize; 4] = [4, 9, 16, 25];

/// The blank of the puzzles that are handed out.
const BLANK: u8 = b'.';

/// What stands for something that is no cell, so that its puzzle has an answer: an error.
const NO_CELL: u8 = b'!';

/// The puzzles of a stream of arrays, a line each.
pub(super) struct Arrays<R> {
    text: R,
    /// The beginning, until it is known whether it is one of arrays.
    head: Vec<u8>,
    is_cells: Option<bool>,
    at_end: bool,
    /// Lines that have not been handed out, from `at` on.
    lines: Vec<u8>,
    at: usize,
    converter: Converter,
}

impl<R: Read> Arrays<R> {
    pub(super) fn new(text: R) -> Self {
        Self {
            text,
            head: Vec::new(),
            is_cells: None,
            at_end: false,
            lines: Vec::new(),
            at: 0,
            converter: Converter::default(),
        }
    }

    /// Reads on until there is something to hand out, or the end.
    fn advance(&mut self) -> io::Result<()> {
        self.lines.clear();
        self.at = 0;
        while self.lines.is_empty() && !self.at_end {
            let old = self.head.len();
            self.head.resize(old + BUFFER_BYTES, 0);
            let result = self.text.read(&mut self.head[old..]);
            self.head.truncate(old + result.as_ref().copied().unwrap_or(0));
            self.at_end = result? == 0;
            if self.is_cells.is_none() && self.head.len() < HEAD_BYTES && !self.at_end {
                continue;
            }
            let is_first = self.is_cells.is_none();
            let is_cells = *self.is_cells.get_or_insert_with(|| is_like_arrays(&self.head, self.at_end));
            let read = std::mem::take(&mut self.head);
            if !is_cells {
                self.lines = read;
                continue;
            }
            let arrays = if is_first { without_mark(&read) } else { &read };
            for &byte in arrays {
                self.converter.take(byte, &mut self.lines);
            }
            if self.at_end {
                self.converter.end(&mut self.lines);
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Arrays<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.lines.len() {
            self.advance()?;
        }
        let length = buffer.len().min(self.lines.len() - self.at);
        buffer[..length].copy_from_slice(&self.lines[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

/// A text without the byte-order mark at its beginning.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Whether a text begins with arrays of cells: brackets, and in them numbers, short strings, and the
/// words for nothing. Brackets may also be symbols of puzzles, so there must be something between
/// values, and if it is the whole text all brackets must be closed.
fn is_like_arrays(beginning: &[u8], is_whole: bool) -> bool {
    let beginning = without_mark(beginning);
    let first = beginning.iter().find(|&&byte| byte != b'[' && !byte.is_ascii_whitespace());
    let is_cell = |byte: u8| byte.is_ascii_digit() || b"-\"'nN.".contains(&byte);
    let is_value = |byte: u8| byte.is_ascii_alphanumeric() || b"-.\"'_*?".contains(&byte);
    if !first.is_some_and(|&byte| is_cell(byte)) {
        return false;
    }
    let (mut depth, mut is_divided) = (0_usize, false);
    for &byte in beginning {
        is_divided |= depth > 0 && matches!(byte, b',' | b' ' | b'\t' | b'"' | b'\'');
        match byte {
            b'[' => depth += 1,
            b']' if depth > 0 => depth -= 1,
            b',' => {}
            _ if byte.is_ascii_whitespace() || (depth > 0 && is_value(byte)) => {}
            _ => return false,
        }
    }
    is_divided && !(is_whole && depth > 0)
}

/// From arrays to lines, byte by byte.
#[derive(Default)]
struct Converter {
    /// The text of the value that is being read, without its quotes.
    value: Vec<u8>,
    /// The quote that ends it.
    quote: Option<u8>,
    /// Whether it has begun: it may be an empty string.
    has_value: bool,
    /// The cells of the innermost array.
    row: Vec<u8>,
    /// Rows that may be those of one puzzle.
    rows: Vec<Vec<u8>>,
    depth: usize,
    /// Whether the current line has a puzzle.
    has_puzzle: bool,
}

impl Converter {
    fn take(&mut self, byte: u8, lines: &mut Vec<u8>) {
        if let Some(quote) = self.quote {
            if byte == quote {
                self.quote = None;
                self.end_string(lines);
            } else if self.value.len() < MAX_CELLS {
                self.value.push(byte);
            }
            return;
        }
        match byte {
            b'"' | b'\'' => (self.quote, self.has_value) = (Some(byte), true),
            b'[' => {
                self.end_row(lines);
                self.depth += 1;
            }
            b']' => {
                let is_row = self.has_value || !self.row.is_empty();
                self.end_row(lines);
                if !is_row {
                    self.end_rows(lines);
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_value(),
            b'\n' => {
                self.end_value();
                lines.push(b'\n');
                self.has_puzzle = false;
            }
            _ if byte.is_ascii_whitespace() => self.end_value(),
            _ if self.value.len() < MAX_CELLS => {
                self.has_value = true;
                self.value.push(byte);
            }
            _ => {}
        }
    }

    fn end(&mut self, lines: &mut Vec<u8>) {
        self.end_row(lines);
        self.end_rows(lines);
    }

    /// The cell of a value without quotes.
    fn end_value(&mut self) {
        if std::mem::take(&mut self.has_value) {
            let value = std::mem::take(&mut self.value);
            let cell = match &value[..] {
                b"None" | b"null" | b"NaN" | b"nan" | b"-1" => BLANK,
                number => cell_of(number.strip_suffix(b".0").unwrap_or(number)),
            };
            self.add_cells(&[cell]);
        }
    }

    /// The cells of a string: one, or those of a row or of a puzzle.
    fn end_string(&mut self, lines: &mut Vec<u8>) {
        self.has_value = false;
        let value = std::mem::take(&mut self.value);
        match &value[..] {
            b"" => self.add_cells(&[BLANK]),
            [_] | [b'1' | b'2', b'0'..=b'9'] => self.add_cells(&[cell_of(&value)]),
            cells => {
                self.end_row(lines);
                self.add_cells(cells);
                self.end_row(lines);
            }
        }
    }

    fn add_cells(&mut self, cells: &[u8]) {
        // One that is too long stays so.
        if self.row.len() <= MAX_CELLS {
            self.row.extend_from_slice(cells);
        }
    }

    /// Ends the innermost array, if it has cells.
    fn end_row(&mut self, lines: &mut Vec<u8>) {
        self.end_value();
        if self.row.is_empty() {
            return;
        }
        let row = std::mem::take(&mut self.row);
        if self.rows.last().is_some_and(|last| last.len() != row.len()) {
            self.end_rows(lines);
        }
        let side = row.len();
        let is_whole = side == 16 && self.depth == 1 && self.rows.is_empty();
        if is_whole || !SIDES.contains(&side) {
            return self.write(&row, lines);
        }
        self.rows.push(row);
        if self.rows.len() == side {
            self.end_rows(lines);
        }
    }

    /// Ends the rows of a puzzle.
    fn end_rows(&mut self, lines: &mut Vec<u8>) {
        let rows = std::mem::take(&mut self.rows);
        let fits_4x4 = |&cell: &u8| matches!(cell, b'0'..=b'4' | BLANK);
        if rows.first().is_some_and(|row| row.len() == 16) && rows.iter().flatten().all(fits_4x4) {
            for row in &rows {
                self.write(row, lines);
            }
        } else if !rows.is_empty() {
            self.write(&rows.concat(), lines);
        }
    }

    fn write(&mut self, cells: &[u8], lines: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_puzzle, true) {
            lines.push(b'\n');
        }
        lines.extend_from_slice(cells);
    }
}

/// The cell of a number, or of a symbol.
fn cell_of(value: &[u8]) -> u8 {
    match value {
        b"0" | b" " => BLANK,
        [symbol] => *symbol,
        [tens @ b'1'..=b'2', ones @ b'0'..=b'9'] => match 10 * (tens - b'0') + (ones - b'0') {
            number @ 10..=25 => b'A' + number - 10,
            _ => NO_CELL,
        },
        _ => NO_CELL,
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::decoded;
    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    const FOUR: &str = "12....1.........";

    fn lines(text: &str) -> String {
        decoded(text, Arrays::new)
    }

    /// Cells between brackets, with `blank` for a blank, `quote` around each and `between` them.
    fn array(cells: &str, blank: &str, quote: &str, between: &str) -> String {
        let shown = |cell: char| match cell {
            '.' => blank.to_owned(),
            'A'..='P' => format!("{quote}{}{quote}", cell as u32 - 55),
            _ => format!("{quote}{cell}{quote}"),
        };
        let cells: Vec<String> = cells.chars().map(shown).collect();
        format!("[{}]", cells.join(between))
    }

    fn grid(cells: &str, blank: &str, quote: &str, between: &str, between_rows: &str) -> String {
        let side = cells.len().isqrt();
        let rows = cells.as_bytes().chunks(side).map(|row| std::str::from_utf8(row).unwrap());
        let rows: Vec<String> = rows.map(|row| array(row, blank, quote, between)).collect();
        format!("[{}]", rows.join(between_rows))
    }

    #[test]
    fn arrays_of_rows_and_flat_ones_are_puzzles() {
        for (blank, quote) in
            [("0", ""), ("-1", ""), ("None", ""), ("null", ""), ("\".\"", "\""), ("''", "'"), ("\"0\"", "\"")]
        {
            for between in [",", ", ", " , "] {
                let whole = grid(PUZZLE, blank, quote, between, between);
                assert_eq!(lines(&whole), PUZZLE, "{whole}");
                let flat = array(PUZZLE, blank, quote, between);
                assert_eq!(lines(&flat), PUZZLE, "{flat}");
                let list = format!("[{whole},{whole}]\n");
                assert_eq!(lines(&list), format!("{PUZZLE}\n{PUZZLE}\n"));
                let list = format!("[{flat},{flat},{flat}]");
                assert_eq!(lines(&list), format!("{PUZZLE}\n{PUZZLE}\n{PUZZLE}"));
                assert_eq!(lines(&array(FOUR, blank, quote, between)), FOUR);
                assert_eq!(lines(&grid(FOUR, blank, quote, between, between)), FOUR);
            }
        }
        assert_eq!(lines(&format!("{}\n", array(PUZZLE, "0.0", "", ", "))), format!("{PUZZLE}\n"));
        assert_eq!(lines(&format!("[\"{PUZZLE}\", \"{PUZZLE}\"]")), format!("{PUZZLE}\n{PUZZLE}"));
        let rows: Vec<String> = (0..9).map(|row| format!("'{}'", &PUZZLE[9 * row..9 * row + 9])).collect();
        assert_eq!(lines(&format!("[{}]", rows.join(", "))), PUZZLE);
    }

    #[test]
    fn line_ends_stay_and_a_puzzle_is_where_it_ends() {
        let pretty = grid(PUZZLE, "0", "", ",\n", ",\n");
        assert_eq!(lines(&pretty), "\n".repeat(80) + PUZZLE);
        let rows = grid(PUZZLE, "0", "", ", ", ",\n ");
        assert_eq!(
            lines(&format!("{rows}\n\n{rows}\n")),
            format!("{0}{PUZZLE}\n\n{0}{PUZZLE}\n", "\n".repeat(8))
        );
        let flat = array(PUZZLE, "0", "", ",");
        assert_eq!(lines(&format!("{flat}\n{flat}\n")), format!("{PUZZLE}\n{PUZZLE}\n"));
        assert_eq!(lines(&format!("\u{FEFF}{flat}\n{flat}\n")), format!("{PUZZLE}\n{PUZZLE}\n"));
    }

    #[test]
    fn sixteen_cells_are_a_row_only_of_larger_values() {
        let sixteen = "1A..............".to_owned() + &".".repeat(240);
        assert_eq!(lines(&grid(&sixteen, "0", "", ",", ",")), sixteen);
        let list = vec![array(FOUR, "0", "", ","); 16].join(",");
        assert_eq!(lines(&format!("[{list}]")), vec![FOUR; 16].join("\n"));
        let list = vec![array(FOUR, "0", "", ","); 3].join(",");
        assert_eq!(lines(&format!("[{list}]")), [FOUR; 3].join("\n"));
    }

    #[test]
    fn what_is_no_puzzle_is_a_line_that_is_none() {
        let flat = |cells: &str| array(cells, "0", "", ",");
        assert_eq!(lines(&flat(&PUZZLE[1..])), PUZZLE[1..]);
        assert_eq!(lines("[1, 2, 3]"), "123");
        assert_eq!(
            lines(&format!("[{}, {}]", flat(&PUZZLE[..9]), flat(&PUZZLE[..8]))),
            format!("{}\n{}", &PUZZLE[..9], &PUZZLE[..8])
        );
        assert_eq!(lines(&flat(PUZZLE).replacen('5', "26", 1)), format!("!{}", &PUZZLE[1..]));
        assert_eq!(lines(&flat(PUZZLE).replacen('3', "three", 1)), format!("5!{}", &PUZZLE[2..]));
        let endless = format!("[{}]", "1,".repeat(1 << 16));
        assert!(lines(&endless).len() <= MAX_CELLS + 1);
    }

    #[test]
    fn other_text_in_brackets_is_left_as_it_is() {
        for text in [
            "[Puzzle]\n53..7....\n",
            "[{\"puzzle\": 1}]\n",
            "[[\"a\", {}]]",
            "[",
            "[]",
            "[] words",
            "[1] 53..7....\n",
            "\u{FEFF}[1] 53..7....\n",
            "\u{FEFF}[Puzzle]\n53..7....\n",
            // Lists of puzzles in which a bracket is a value.
            "[\n.\n",
            "[1.2...........]\n",
            "[.1.2...........\n.[]1............\n",
            "text",
            "",
        ] {
            assert_eq!(lines(text), text);
        }
    }
}
