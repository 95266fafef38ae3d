//! Arrays of cells as JSON and Python write them, read as one puzzle a line: rows in an array, or
//! the cells one after another, and lists of such arrays. Other text in brackets is left as it is.
//!
//! Line ends are kept, so that messages name the line on which a puzzle ends, as long as there is one
//! on each line; several on one line count as several lines.

use std::io::{self, Read};

use super::kind::below_comments;
use crate::grid::Order;
use crate::text::{BYTE_ORDER_MARK, unwritable_value};

/// The bytes read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// The bytes by which a text is recognised.
const HEAD_BYTES: usize = 4096;

/// The most cells that are kept of an array: more than any puzzle has.
const MAX_CELLS: usize = 1000;

/// The fewest cells of a puzzle that is written as an array.
const MIN_CELLS: usize = 16;

/// The sides of puzzles of which rows are put together. An array of 16 may be a 4x4 puzzle too.
const SIDES: [usize; 4] = [4, 9, 16, 25];

/// The blank of the puzzles that are handed out.
const BLANK: u8 = b'.';

/// The values without quotes that are blanks.
const NOTHING: [&[u8]; 5] = [b"None", b"null", b"NaN", b"nan", b"-1"];

/// The largest number that puzzles have.
const MAX_NUMBER: u32 = 25;

/// A cell of an array.
#[derive(Clone, Copy)]
enum Cell {
    Symbol(u8),
    /// The number 0, which is a blank or a value by the other cells of its puzzle.
    Zero,
    /// A number of two digits or more, which is a cell by the size of its puzzle.
    Number(u32),
    /// Something that is no cell, so that its puzzle has an answer: an error.
    Other,
}

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
            let is_short = || below_comments(&self.head).len() < HEAD_BYTES;
            if self.is_cells.is_none() && is_short() && !self.at_end {
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
/// values, and if it is the whole text all brackets must be closed, or more than one puzzle of 4x4
/// be between commas.
///
/// No more is looked at than a stream is waited for, so that the same text is the same in every form.
pub(super) fn is_like_arrays(beginning: &[u8], is_whole: bool) -> bool {
    let text = below_comments(beginning);
    let is_whole = is_whole && text.len() <= HEAD_BYTES;
    let text = &text[..text.len().min(HEAD_BYTES)];
    let first = text.iter().find(|&&byte| byte != b'[' && !byte.is_ascii_whitespace());
    let is_cell = |byte: u8| byte.is_ascii_digit() || b"-\"'nN.".contains(&byte);
    let is_value = |byte: u8| byte.is_ascii_alphanumeric() || b"-.\"'_*?".contains(&byte);
    if !first.is_some_and(|&byte| is_cell(byte)) {
        return false;
    }
    let (mut depth, mut is_divided, mut commas, mut quotes) = (0_usize, false, 0, 0);
    // Values of this line to which no bracket belongs yet.
    let mut is_outside = false;
    let is_comment = |line: &&[u8]| line.trim_ascii_start().starts_with(b"#");
    for &byte in text.split_inclusive(|&byte| byte == b'\n').filter(|line| !is_comment(line)).flatten() {
        is_divided |= depth > 0 && matches!(byte, b',' | b' ' | b'\t' | b'"' | b'\'');
        match byte {
            b'[' if !is_outside => depth += 1,
            b']' => (depth, is_outside) = (depth.saturating_sub(1), false),
            b',' => commas += usize::from(depth > 0),
            b'\n' if is_outside => return false,
            _ if byte.is_ascii_whitespace() => {}
            _ if is_value(byte) => {
                is_outside |= depth == 0;
                quotes += usize::from(matches!(byte, b'"' | b'\''));
            }
            _ => return false,
        }
    }
    let is_closed = depth == 0 && !is_outside;
    is_divided && (is_closed || !is_whole || commas + 1 >= MIN_CELLS || quotes > 1)
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
    /// The quote of a string that seems to have ended, until the byte behind it confirms that.
    closing: Option<u8>,
    /// The cells of the innermost array.
    row: Vec<Cell>,
    /// Rows that may be those of one puzzle.
    rows: Vec<Vec<Cell>>,
    depth: usize,
    /// What the innermost array has so far.
    items: Items,
    /// Whether the row has a string without a closing quote, so that its values are cells anyway.
    is_open: bool,
    /// Whether the current line has a puzzle.
    has_puzzle: bool,
    /// What the line that is being read has so far.
    line: Line,
}

/// What a line has.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    /// White space.
    #[default]
    Blank,
    /// A comment, at its beginning.
    Comment,
    /// Anything else.
    Values,
}

/// What an array has.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Items {
    #[default]
    None,
    /// Values or arrays.
    Values,
    /// Strings of several cells, too, so that each value is a row or a puzzle.
    Texts,
}

impl Converter {
    fn take(&mut self, byte: u8, lines: &mut Vec<u8>) {
        match (byte, self.line) {
            (b'\n', _) => self.line = Line::Blank,
            (_, Line::Comment) => return,
            (b'#', Line::Blank) => {
                self.line = Line::Comment;
                return;
            }
            (_, Line::Blank) if !byte.is_ascii_whitespace() => self.line = Line::Values,
            _ => {}
        }
        if let Some(quote) = self.closing.take() {
            if self.is_beginning_instead(quote, byte) {
                self.end_open_string(quote, lines);
                self.end_value();
                self.quote = Some(quote);
            } else {
                self.end_string(lines);
            }
        }
        match (self.quote, byte) {
            (Some(quote), _) if byte == quote => (self.quote, self.closing) = (None, Some(quote)),
            // Neither JSON nor Python has strings over several lines, and none of cells has commas and
            // ends an array.
            (Some(quote), b'\n') => {
                let is_first = self.row.is_empty();
                self.end_open_string(quote, lines);
                self.end_value();
                if is_first && self.row.len() > 1 {
                    self.end_row(lines);
                }
                self.take_unquoted(byte, lines);
            }
            (Some(quote), b']') if self.value.contains(&b',') => {
                self.end_open_string(quote, lines);
                self.take_unquoted(byte, lines);
            }
            (Some(_), _) if self.value.len() < MAX_CELLS => self.value.push(byte),
            (Some(_), _) => {}
            (None, b'"' | b'\'') => {
                (self.quote, self.has_value) = (Some(byte), true);
                self.items = self.items.max(Items::Values);
            }
            (None, _) => self.take_unquoted(byte, lines),
        }
    }

    /// Whether a quote that seems to end a string begins another one, so that the string has lost its
    /// closing quote: a separator is missing before `next`, and may be within the string.
    fn is_beginning_instead(&self, quote: u8, next: u8) -> bool {
        match next {
            b',' | b'[' | b']' => false,
            b'"' | b'\'' => next == quote && self.value.trim_ascii_end().ends_with(b","),
            _ => !next.is_ascii_whitespace(),
        }
    }

    fn take_unquoted(&mut self, byte: u8, lines: &mut Vec<u8>) {
        match byte {
            b'[' => {
                self.end_row(lines);
                self.depth += 1;
                self.items = Items::None;
            }
            b']' => {
                // In a list of puzzles it is one, if a bad one.
                if self.items == Items::None && self.depth == 2 {
                    self.add_cell(Cell::Symbol(BLANK));
                }
                self.end_item(lines);
                self.items = Items::Values;
                let is_row = self.has_value || !self.row.is_empty();
                self.end_row(lines);
                if !is_row {
                    self.end_rows(lines);
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_item(lines),
            b'\n' => {
                self.end_item(lines);
                lines.push(b'\n');
                self.has_puzzle = false;
            }
            _ if byte.is_ascii_whitespace() => self.end_value(),
            _ if self.value.len() < MAX_CELLS => {
                self.has_value = true;
                self.items = self.items.max(Items::Values);
                self.value.push(byte);
            }
            _ => {}
        }
    }

    fn end(&mut self, lines: &mut Vec<u8>) {
        if self.closing.take().is_some() {
            self.end_string(lines);
        }
        if let Some(quote) = self.quote {
            self.end_open_string(quote, lines);
        }
        self.end_row(lines);
        self.end_rows(lines);
    }

    /// The cell of a value without quotes.
    fn end_value(&mut self) {
        if std::mem::take(&mut self.has_value) {
            let value = std::mem::take(&mut self.value);
            if NOTHING.contains(&&value[..]) {
                self.add_cell(Cell::Symbol(BLANK));
            } else {
                self.add_value(value.strip_suffix(b".0").unwrap_or(&value));
            }
        }
    }

    /// The cells of a string: one, or those of a row or of a puzzle.
    fn end_string(&mut self, lines: &mut Vec<u8>) {
        self.has_value = false;
        let value = std::mem::take(&mut self.value);
        // Among cells, one that is none is longer than others.
        let is_among_cells = !self.row.is_empty() && self.items != Items::Texts && value.len() < MIN_CELLS;
        match &value[..] {
            b"" => self.add_cell(Cell::Symbol(BLANK)),
            cell if is_cell(cell) || is_among_cells => {
                (self.value, self.has_value) = (value, true);
                self.end_value();
            }
            cells => {
                self.items = Items::Texts;
                self.end_item(lines);
                self.end_row(lines);
                self.add_symbols(cells);
                self.end_row(lines);
            }
        }
    }

    /// Ends a value. Beside strings of rows or puzzles it is one of those, if a bad one.
    fn end_item(&mut self, lines: &mut Vec<u8>) {
        self.end_value();
        if self.items == Items::Texts && !self.is_open {
            for cell in std::mem::take(&mut self.row) {
                self.row.push(cell);
                self.end_row(lines);
            }
        }
    }

    /// The cells of a string without a closing quote. Its quote is kept, so that its puzzle is an
    /// error; what follows the first value is read as if there were no quote.
    fn end_open_string(&mut self, quote: u8, lines: &mut Vec<u8>) {
        (self.quote, self.has_value) = (None, false);
        let text = std::mem::take(&mut self.value);
        let is_end = |byte: &u8| b",[]".contains(byte) || byte.is_ascii_whitespace();
        let (first, rest) = text.split_at(text.iter().position(is_end).unwrap_or(text.len()));
        if self.row.is_empty() && !is_cell(first) {
            self.add_symbols(&[&[quote], &first[1..]].concat());
            self.end_row(lines);
        } else {
            (self.value, self.has_value, self.is_open) = ([&[quote], first].concat(), true, true);
        }
        for &byte in rest {
            self.take_unquoted(byte, lines);
        }
    }

    /// Adds the cell of a number, or of a symbol.
    fn add_value(&mut self, value: &[u8]) {
        let number = || std::str::from_utf8(value).ok().filter(|_| value.iter().all(u8::is_ascii_digit));
        match value {
            b"0" => self.add_cell(Cell::Zero),
            b" " => self.add_cell(Cell::Symbol(BLANK)),
            [symbol] => self.add_cell(Cell::Symbol(*symbol)),
            _ => self.add_cell(match number().and_then(|number| number.parse().ok()) {
                Some(number @ 10..) => Cell::Number(number),
                _ => Cell::Other,
            }),
        }
    }

    fn add_cell(&mut self, cell: Cell) {
        // One that is too long stays so.
        if self.row.len() <= MAX_CELLS {
            self.row.push(cell);
        }
    }

    fn add_symbols(&mut self, symbols: &[u8]) {
        for &symbol in symbols {
            self.add_cell(Cell::Symbol(symbol));
        }
    }

    /// Ends the innermost array, if it has cells.
    fn end_row(&mut self, lines: &mut Vec<u8>) {
        self.end_value();
        self.is_open = false;
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
        // What is no cell at all says nothing about the size.
        let fits_4x4 = |cell: &Cell| match cell {
            Cell::Symbol(symbol) => matches!(symbol, b'0'..=b'4' | &BLANK | b'"' | b'\''),
            Cell::Number(number) => *number > MAX_NUMBER,
            Cell::Zero | Cell::Other => true,
        };
        if rows.first().is_some_and(|row| row.len() == 16) && rows.iter().flatten().all(fits_4x4) {
            for row in &rows {
                self.write(row, lines);
            }
        } else if !rows.is_empty() {
            self.write(&rows.concat(), lines);
        }
    }

    fn write(&mut self, cells: &[Cell], lines: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_puzzle, true) {
            lines.push(b'\n');
        }
        // A blank line and a comment would have no answer.
        let is_space = |cell: &&Cell| matches!(cell, Cell::Symbol(symbol) if symbol.is_ascii_whitespace());
        let is_lost = matches!(cells.iter().find(|cell| !is_space(cell)), None | Some(Cell::Symbol(b'#')));
        // Beside another blank it may be the first value, which detection decides.
        let has_blank = cells.iter().any(|cell| matches!(cell, Cell::Symbol(BLANK)));
        let order = Order::from_cells(cells.len()).filter(|order| order.side() > 1);
        let largest = order.map_or(MAX_NUMBER, |order| u32::try_from(order.side()).unwrap_or(MAX_NUMBER));
        for (index, &cell) in cells.iter().enumerate() {
            let symbol = match cell {
                Cell::Symbol(_) if is_lost && index == 0 => Err(None),
                Cell::Symbol(symbol) => Ok(symbol),
                Cell::Zero => Ok(if has_blank { b'0' } else { BLANK }),
                Cell::Number(number) => match u8::try_from(number) {
                    Ok(value) if number <= largest => Ok(value - 10 + b'A'),
                    _ => Err(Some(number)),
                },
                Cell::Other => Err(None),
            };
            match symbol {
                Ok(symbol) => lines.push(symbol),
                Err(number) => {
                    lines.extend_from_slice(unwritable_value(number).encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
        // The beginning of a comment, because a short line may look like a block size or a row.
        if cells.len() < MIN_CELLS {
            lines.push(b'#');
        }
    }
}

/// Whether a value is that of a cell, rather than the cells of a row or puzzle.
fn is_cell(value: &[u8]) -> bool {
    value.len() < SIDES[0]
        || NOTHING.contains(&value)
        || value.strip_suffix(b".0").is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::super::pieces::decoded;
    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    const FOUR: &str = "12....1.........";

    /// The lines of a text, with a `!` for what is no cell and no number.
    fn lines(text: &str) -> String {
        decoded(text, Arrays::new).replace(unwritable_value(None), "!")
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
        // Beside another blank 0 may be a value; and it is what it is in texts.
        assert_eq!(lines("[[0,1,null,null],[null,null,0,1],[1,0,3,-1],[-1,-1,1,0]]"), "01....01103...10");
        assert_eq!(lines("[\"0100000110300010\"]"), "0100000110300010");
        assert_eq!(lines(&format!("[\"{PUZZLE}\", \"{PUZZLE}\"]")), format!("{PUZZLE}\n{PUZZLE}"));
        // As NumPy makes strings of whole numbers, and of others.
        for (blank, end) in [("'-1'", ""), ("'nan'", ".0"), ("'0.0'", ".0"), ("'None'", "")] {
            let strings = PUZZLE.chars().map(|cell| match cell {
                '.' => blank.to_owned(),
                _ => format!("'{cell}{end}'"),
            });
            let strings: Vec<String> = strings.collect();
            assert_eq!(lines(&format!("[{}]", strings.join(", "))), PUZZLE, "{blank}");
        }
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
    fn blank_lines_and_comments_are_passed_over() {
        let four = grid(FOUR, "0", "", ",", ",\n # of a row\n");
        let cells = format!("\n\n\n\n\n\n{FOUR}\n");
        for (above, lines_above) in
            [("\n", 1), (" ", 0), (" \t\r\n  ", 1), ("# Easy [1] \"ones\n", 1), ("\n# a\n\n # b\n", 4)]
        {
            for mark in ["", "\u{FEFF}"] {
                let text = format!("{mark}{above}{four}\n");
                assert_eq!(lines(&text), "\n".repeat(lines_above) + &cells, "{text}");
            }
        }
        let long = format!("#{}\n", "x".repeat(HEAD_BYTES));
        assert_eq!(lines(&format!("{long}{four}\n{long}{four}\n")), format!("\n{cells}\n{cells}"));
        // Nothing but comments is left as it is.
        assert_eq!(lines(&long), long);
    }

    #[test]
    fn texts_of_any_length_may_have_a_bracket_too_many_or_too_few() {
        let four = grid(FOUR, "0", "", ",", ",");
        let bads = [
            four[1..].to_owned(),
            four[2..].to_owned(),
            four[..four.len() - 1].to_owned(),
            four[..four.len() - 2].to_owned(),
            format!("{four}]"),
            format!("[{four}"),
        ];
        for bad in bads {
            for count in [1, 60] {
                let list = vec![format!("{bad}\n{four}\n"); count].concat();
                let read = lines(&list);
                assert_eq!(read.lines().filter(|line| *line == FOUR).count(), 2 * count, "{bad}: {read}");
            }
        }
        for text in ["[\"1...\",\n\"2...\",\n", "[[1,0,0,0],[0,2,0,0],[0,0,3,0],[0,0,0,4]"] {
            assert_ne!(lines(text), text);
        }
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
        assert_eq!(lines("[1, 2, 3]"), "123#");
        assert_eq!(
            lines(&format!("[{}, {}]", flat(&PUZZLE[..9]), flat(&PUZZLE[..8]))),
            format!("{}#\n{}#", &PUZZLE[..9], &PUZZLE[..8])
        );
        assert_eq!(
            lines(&flat(PUZZLE).replacen('5', "26", 1)),
            format!("{}{}", unwritable_value(Some(26)), &PUZZLE[1..])
        );
        // A number that only larger puzzles have, but no symbol like it.
        assert_eq!(
            lines(&flat(PUZZLE).replacen('5', "10", 1)),
            format!("{}{}", unwritable_value(Some(10)), &PUZZLE[1..])
        );
        assert_eq!(lines(&flat(PUZZLE).replacen('5', "\"A\"", 1)), format!("A{}", &PUZZLE[1..]));
        assert_eq!(lines(&flat(PUZZLE).replacen('3', "three", 1)), format!("5!{}", &PUZZLE[2..]));
        // Nor are strings that would be dropped from a list, or give it another form.
        for (item, line) in [("3", "3#"), ("    ", "!   #"), ("puzzle", "puzzle#"), ("20", "K#"), ("", ".#")]
        {
            assert_eq!(lines(&format!("[\"{item}\",\"{PUZZLE}\"]")), format!("{line}\n{PUZZLE}"));
        }
        let puzzle = format!("\"{PUZZLE}\"");
        for (item, line) in [("\"3\"", "3#"), ("\"bad\"", "!#"), ("\"\"", ".#"), ("null", ".#"), ("7", "7#")]
        {
            let list = [item, item, &puzzle, item, item, &puzzle, item];
            let wanted = [line, line, PUZZLE, line, line, PUZZLE, line];
            for between in [",", ", "] {
                assert_eq!(lines(&format!("[{}]", list.join(between))), wanted.join("\n"), "{item}");
            }
            let read = lines(&format!("[{}]", list.join(",\n")));
            assert!(read.split('\n').filter(|line| !line.is_empty()).eq(wanted), "{item}: {read}");
        }
        // Nor is an array of nothing, among others.
        let four = flat(FOUR);
        assert_eq!(lines(&format!("[{four},[],{four},[ ]]")), [FOUR, ".#", FOUR, ".#"].join("\n"));
        // One cell that is none does not cut its puzzle to pieces.
        for value in ["\"1000\"", "\"True\"", "\"12.5\"", "\"1249\"", "\"123456789\""] {
            let rows = grid(FOUR, "0", "\"", ",", ",").replacen("\"2\"", value, 1);
            let number = value.trim_matches('"').parse().ok();
            let wanted = format!("{}{}{}", &FOUR[..1], unwritable_value(number), &FOUR[2..]);
            assert_eq!(lines(&rows), wanted.replace(unwritable_value(None), "!"), "{rows}");
        }
        // Nor does an array of nothing beside a puzzle.
        assert_eq!(lines(&format!("[[{four},[]],[{four},[]]]")), [FOUR, FOUR].join("\n"));
        for value in ["\"40\"", "\"-7\"", "\"2.5\"", "\"05\"", "40", "-7"] {
            let rows = grid(FOUR, "0", "\"", ",", ",").replacen("\"2\"", value, 1);
            let cell = if value.contains("40") { unwritable_value(Some(40)) } else { '!' };
            assert_eq!(lines(&rows), format!("{}{cell}{}", &FOUR[..1], &FOUR[2..]), "{rows}");
        }
        let endless = format!("[{}]", "1,".repeat(1 << 16));
        assert!(lines(&endless).len() <= MAX_CELLS + 1);
    }

    /// What the lines of a text with one bad puzzle are, the third of six, whose cells are these.
    #[track_caller]
    fn assert_third_is_bad(text: &str, cells: &str) {
        assert_eq!(lines(text), [FOUR, FOUR, cells, FOUR, FOUR, FOUR, ""].join("\n"), "{text}");
    }

    #[test]
    fn a_stray_quote_costs_its_puzzle_only() {
        for quote in ["\"", "'"] {
            // Before, behind and in the place of a cell; in one row or in several.
            let four = grid(FOUR, "0", "", ",", ",");
            for (bad, cells) in [
                (four.replacen('1', &format!("{quote}1"), 1), format!("!{}", &FOUR[1..])),
                (four.replacen('1', &format!("1{quote}"), 1), format!("!{}", &FOUR[1..])),
                (four.replacen('2', quote, 1), format!("1{quote}{}", &FOUR[2..])),
                (four.replacen("0]]", &format!("{quote}0]]"), 1), format!("{}!", &FOUR[..15])),
                (four.replacen("0]]", &format!("0{quote}]]"), 1), format!("{}!", &FOUR[..15])),
                (four.replace("[0,0,", &format!("[{quote}0,0,")), "12..!.1.!...!...".to_owned()),
            ] {
                // One a line, with and without an array around them, and all on one line.
                let list = [&four, &four, &bad, &four, &four, &four].map(String::as_str);
                assert_third_is_bad(&(list.join("\n") + "\n"), &cells);
                assert_third_is_bad(&format!("[{}]\n", list.join(",\n")), &cells);
                assert_third_is_bad(&format!("[{}]\n", list.join(", ")), &cells);
            }
            // The rows of a list may be puzzles.
            let flat = array(FOUR, "0", "", ",");
            let bad = flat.replacen('1', &format!("{quote}1"), 1);
            let list = [&flat, &flat, &bad, &flat, &flat, &flat].map(String::as_str);
            assert_third_is_bad(&format!("[{}]\n", list.join(", ")), &format!("!{}", &FOUR[1..]));
        }
    }

    #[test]
    fn a_lost_quote_costs_its_puzzle_only() {
        let four = grid(FOUR, "\"\"", "", ",", ",").replace('1', "\"1\"").replace('2', "\"2\"");
        for (lost, cells) in
            [("\"1,", "!2..".to_owned()), ("1\",", "!2..".to_owned()), ("\"1 ", "!2..".to_owned())]
        {
            let bad = four.replacen("\"1\",", lost, 1);
            let cells = format!("{cells}{}", &FOUR[4..]);
            let list = [&four, &four, &bad, &four, &four, &four].map(String::as_str);
            assert_third_is_bad(&(list.join("\n") + "\n"), &cells);
            assert_third_is_bad(&format!("[{}]\n", list.join(",\n")), &cells);
            assert_third_is_bad(&format!("[{}]\n", list.join(", ")), &cells);
        }
        // In a list of strings.
        let whole = format!("\"{FOUR}\"");
        for cells in [FOUR.to_owned(), FOUR.split("").collect::<Vec<_>>()[1..17].join(",")] {
            let open = format!("\"{cells}");
            let wanted = if cells == FOUR { format!("\"{}", &FOUR[1..]) } else { format!("!{}", &FOUR[1..]) };
            let list = [&whole, &whole, &open, &whole, &whole, &whole].map(String::as_str);
            assert_third_is_bad(&format!("[{}]\n", list.join(",\n")), &wanted);
            assert_third_is_bad(&format!("[{}]\n", list.join(",\r\n")), &wanted);
            assert_third_is_bad(&format!("[{}]\n", list.join(",")), &wanted);
            assert_third_is_bad(&format!("[{}]\n", list.join(", ")), &wanted);
        }
        // At the end of a text, and of a row among others.
        assert_eq!(lines(&format!("[{whole},\n\"{FOUR}")), format!("{FOUR}\n\"{}", &FOUR[1..]));
        let rows = FOUR.as_bytes().chunks(4).map(|row| std::str::from_utf8(row).unwrap());
        let rows = rows.map(|row| format!("\"{row}\"")).collect::<Vec<_>>();
        let list = format!("[{}]\n", rows.join(","));
        let bad = list.replacen("....\",", "....,", 1);
        assert_eq!(lines(&format!("{bad}{list}")), format!("{}\"{}\n{FOUR}\n", &FOUR[..8], &FOUR[9..]));
    }

    #[test]
    fn other_text_in_brackets_is_left_as_it_is() {
        for text in [
            "[Puzzle]\n53..7....\n",
            "[1]\n53..7....\n6..195...\n",
            "[1] 53..7.... [2] 6..195...\n",
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
