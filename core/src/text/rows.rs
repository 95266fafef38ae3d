//! `grid`: a puzzle written as rows of cells.
//!
//! A row is `side` cells, separate (`5 3 . | . 7 .`, `5,3,,,7`) or together (`53..7....`). Separate
//! values may be numbers. Between bars a space may be a blank, if that fits all rows. Rulers, blank
//! lines and comment lines may appear anywhere. After `side` rows the next puzzle begins.
//!
//! A blank line has no meaning if the rows before and after it can form one puzzle. If they cannot,
//! the rows before it were a puzzle that ended too early: it has the wrong length, and the next
//! puzzle begins after it. They cannot if more rows follow up to the next blank line than are
//! missing, or if two or more adjacent rows end inside a band.
//!
//! A title, such as `Grid 01`, ends the puzzle above it. So does a section, such as `[Puzzle]`; the
//! rows of other sections, such as `[State]` with what a player has filled in, are no puzzles.

use super::alphabet::INVALID;
use super::apart;
use super::bars::{BarLayout, is_bars_and_cells};
use super::lines::{characters, is_no_puzzle, looked_at, offset};
use super::{Alphabet, Format, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, Order};

/// The kind of a line of a `grid` text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    Ruler,
    Row,
    /// The title of the next puzzle.
    Title,
    /// The beginning of a section, and whether it is the puzzle.
    Section(bool),
}

/// What rows look like that could also be something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowStyle {
    /// Whether `-` is a blank, so that a line of as many as a row has cells is no ruler.
    pub(super) dashes: bool,
    /// Whether the first field of each row is its number.
    pub(super) numbered: bool,
    /// The characters of rulers that are values of the alphabet, so that a line of as many as a row
    /// has is no ruler; 0 in the place of those that are not.
    pub(super) drawn_values: [u8; 3],
    /// The length of a row, if it is known.
    pub(super) side: Option<usize>,
    /// Where cells are between bars, if spaces are blanks.
    pub(super) bars: Option<BarLayout>,
}

impl RowStyle {
    /// The style of rows in this alphabet.
    pub(super) fn written_in(self, alphabet: &Alphabet, order: Option<Order>) -> Self {
        let symbols = alphabet.symbols();
        let used = &symbols[..order.map_or(symbols.len(), |order| order.side().min(symbols.len()))];
        let drawn_values = [b':', b'=', b'\''].map(|drawn| if used.contains(&drawn) { drawn } else { 0 });
        Self { drawn_values, side: order.map(Order::side), ..self }
    }

    /// Whether a row may have so many cells.
    fn is_side(self, cells: usize) -> bool {
        self.side.map_or_else(|| Order::from_side(cells).is_some(), |side| side == cells)
    }
}

/// Words that begin a title, in lower case.
const TITLES: [&[u8]; 8] = [b"grid", b"puzzle", b"sudoku", b"game", b"board", b"no", b"nr", b"number"];

/// The kind of a line.
pub(super) fn classify(line: &[u8], style: RowStyle) -> LineKind {
    if is_no_puzzle(line) {
        // A comment is a ruler, because it must not end a puzzle as a blank line may.
        return if line.trim_ascii().is_empty() { LineKind::Blank } else { LineKind::Ruler };
    }
    // Most rows begin with a value or a blank.
    let first = line.trim_ascii_start();
    if first[0] == b'[' {
        let name = first.trim_ascii_end().strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]"));
        if let Some(name) = name.filter(|name| name.iter().all(|b| b.is_ascii_alphabetic() || *b == b' ')) {
            return LineKind::Section(name.eq_ignore_ascii_case(b"puzzle"));
        }
    }
    if first[0].is_ascii_alphabetic() {
        let word = tokens(line).next().unwrap_or_default();
        let word = word.strip_suffix(b":").unwrap_or(word);
        if TITLES.iter().any(|title| word.eq_ignore_ascii_case(title)) {
            return LineKind::Title;
        }
    }
    let is_row = style.bars.is_some() && is_bars_and_cells(line);
    if !is_row && is_ruler(line, style) { LineKind::Ruler } else { LineKind::Row }
}

/// The shortest row that has an `=` as a value, in the alphabet `ascii`.
const LEAST_WITH_EQUALS: usize = (b'=' - b'0') as usize;

/// Whether a line is drawn: nothing but the characters of rulers, which are not all blank cells.
fn is_ruler(line: &[u8], style: RowStyle) -> bool {
    const DRAWN: &[u8] = b"-+|=*:.' \t\r";
    let has = |byte| line.contains(&byte);
    let has_box = line.is_ascii() || !has_box_character(line);
    if !characters(line).all(|c| matches!(c, [byte] if DRAWN.contains(byte)) || separator_len(c) > 0) {
        return false;
    }
    let cells = || tokens(line).map(<[u8]>::len).sum();
    if !has(b'+') && !has(b'-') {
        let is_value = style.drawn_values.iter().any(|&value| has(value));
        // Before the alphabet is known: 13 in `ascii`, between blanks.
        let may_be_value = style.side.is_none() && has(b'=') && has(b'.') && cells() >= LEAST_WITH_EQUALS;
        if (is_value || may_be_value) && style.is_side(cells()) {
            return false;
        }
    }
    if has(b'+') || has(b'=') || !has_box && !has(b'.') && !has(b'*') {
        return true;
    }
    if has(b'-') {
        // Blank cells, if there are as many as a row has.
        return !(style.dashes && style.is_side(cells()));
    }
    !has(b'.') && !has(b'*')
}

fn has_box_character(line: &[u8]) -> bool {
    characters(line).any(|c| c.len() > 1 && separator_len(c) > 0)
}

/// The length of the character at the start of `text` if it separates cells: white space, `|` or a
/// character of box drawing (U+2500 to U+257F); else 0.
const fn separator_len(text: &[u8]) -> usize {
    match text {
        [b'|', ..] => 1,
        [byte, ..] if byte.is_ascii_whitespace() => 1,
        [0xE2, 0x94 | 0x95, 0x80..=0xBF, ..] => 3,
        _ => 0,
    }
}

/// The groups of characters of a row, without rulers and white space.
pub(super) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        while let length @ 1.. = separator_len(rest) {
            rest = &rest[length..];
        }
        let end = (0..rest.len()).find(|&at| separator_len(&rest[at..]) > 0).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        rest = behind;
        (!token.is_empty()).then_some(token)
    })
}

/// The fields of a row that is separated by commas; an empty one is a blank. `None` for other rows.
///
/// Semicolons separate no cells, because they are a value of the alphabet `ascii`.
pub(super) fn separated(line: &[u8], style: RowStyle) -> Option<Vec<&[u8]>> {
    if !line.contains(&b',') {
        return None;
    }
    let line = line.trim_ascii();
    let line = line.strip_suffix(b",").unwrap_or(line);
    let fields = line.split(|&byte| byte == b',').skip(usize::from(style.numbered));
    Some(fields.map(unquoted).collect())
}

/// A field without white space and quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

/// Where the current puzzle ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It goes on.
    No,
    /// Behind this line.
    Behind,
    /// Before this line, which has to be looked at again.
    Before,
}

/// Tracks where puzzles begin and end. Cutting, reading and detection share this rule.
struct Boundaries {
    order: Order,
    style: RowStyle,
    /// The rows of the current puzzle.
    rows: usize,
    /// The rows since the last blank line.
    run: usize,
    /// Whether the rows are those of a section that is no puzzle.
    skips: bool,
}

impl Boundaries {
    const fn new(format: &Format) -> Self {
        Self { order: format.order, style: format.style, rows: 0, run: 0, skips: false }
    }

    /// Whether a row belongs to a puzzle.
    const fn counts(&self, line: LineKind) -> bool {
        matches!(line, LineKind::Row) && !self.skips
    }

    /// Whether the current puzzle ends with this line, which `rest` follows. `None` if that depends
    /// on what follows `rest`, which is never so if nothing does (`at_end`).
    fn ends_with(&mut self, line: LineKind, rest: &[u8], at_end: bool) -> Option<End> {
        let missing = self.order.side() - self.rows;
        let end = match line {
            LineKind::Row if self.skips => End::No,
            LineKind::Row => {
                self.rows += 1;
                self.run += 1;
                if missing == 1 { End::Behind } else { End::No }
            }
            LineKind::Title | LineKind::Section(_) if self.rows > 0 => End::Before,
            LineKind::Section(is_puzzle) => {
                self.skips = !is_puzzle;
                End::No
            }
            // Of several blank lines the first decides.
            LineKind::Blank if self.run > 0 => {
                let run = std::mem::take(&mut self.run);
                let inside_band = !self.rows.is_multiple_of(self.order.box_side());
                let ends = (inside_band && run > 1) || run_exceeds(rest, missing, at_end, self.style)?;
                if ends { End::Behind } else { End::No }
            }
            LineKind::Blank | LineKind::Ruler | LineKind::Title => End::No,
        };
        if end != End::No {
            (self.rows, self.run) = (0, 0);
        }
        Some(end)
    }
}

/// Whether the text has more than `limit` rows before the first blank line behind a row.
fn run_exceeds(text: &[u8], limit: usize, at_end: bool, style: RowStyle) -> Option<bool> {
    let mut rows = 0;
    for line in text.split_inclusive(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\n").or(at_end.then_some(line))?;
        match classify(looked_at(line), style) {
            LineKind::Row if rows == limit => return Some(true),
            LineKind::Row => rows += 1,
            LineKind::Blank if rows > 0 => return Some(false),
            LineKind::Title | LineKind::Section(_) => return Some(false),
            LineKind::Blank | LineKind::Ruler => {}
        }
    }
    at_end.then_some(false)
}

/// The length of the whole puzzles at the start of `text`, which more text follows.
pub(super) fn cut(format: &Format, text: &[u8]) -> usize {
    let mut boundaries = Boundaries::new(format);
    let (mut at, mut end) = (0, 0);
    for newline in memchr::memchr_iter(b'\n', text) {
        let start = at;
        let kind = classify(looked_at(&text[at..newline]), format.style);
        at = newline + 1;
        let Some(ends) = boundaries.ends_with(kind, &text[at..], false) else { break };
        if ends == End::Before {
            end = start;
            boundaries.ends_with(kind, &text[at..], false);
        }
        let is_between = boundaries.rows == 0 && !boundaries.skips && kind != LineKind::Row;
        if ends == End::Behind || is_between {
            end = at;
        }
    }
    end
}

pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    let side = format.order.side();
    let mut boundaries = Boundaries::new(format);
    let mut first = None;
    let mut error = None;
    let mut last = records.line;
    let mut fail = |problem, line| PuzzleError::keep_first(&mut error, problem, line);
    loop {
        let row = boundaries.rows;
        let before = (records.text, records.line);
        let Some((line, number)) = records.take_line() else {
            // The text ends inside a puzzle, or after the last one.
            first?;
            fail(Problem::WrongLength, last);
            break;
        };
        let kind = classify(line, format.style);
        if boundaries.counts(kind) {
            first.get_or_insert(number);
            last = number;
            let cells = &mut puzzle.digits_mut()[row * side..][..side];
            if let Err(problem) = read_row(format, line, cells) {
                fail(problem, number);
            }
        }
        match boundaries.ends_with(kind, records.text, true) {
            Some(End::Behind) => {
                if kind == LineKind::Blank {
                    fail(Problem::WrongLength, last);
                }
                break;
            }
            Some(End::Before) => {
                fail(Problem::WrongLength, last);
                (records.text, records.line) = before;
                break;
            }
            Some(End::No) | None => {}
        }
    }
    Some(Record { line: first?, given: None, row: &[], error })
}

/// The rows of each puzzle, as reading divides them, and whether the puzzle ends in `text`. The
/// last one may continue behind it, unless nothing follows (`at_end`).
pub(super) fn puzzles<'a>(format: &Format, text: &'a [u8], at_end: bool) -> Vec<(Vec<&'a [u8]>, bool)> {
    let mut boundaries = Boundaries::new(format);
    let (mut puzzles, mut rows) = (Vec::new(), Vec::new());
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        let line = looked_at(line.strip_suffix(b"\n").unwrap_or(line));
        let kind = classify(line, format.style);
        if boundaries.counts(kind) {
            rows.push(line);
        }
        match boundaries.ends_with(kind, &text[at..], at_end) {
            Some(End::No) => {}
            Some(end) => {
                puzzles.push((std::mem::take(&mut rows), true));
                if end == End::Before {
                    boundaries.ends_with(kind, &text[at..], at_end);
                }
            }
            None => break,
        }
    }
    if !rows.is_empty() {
        puzzles.push((rows, at_end));
    }
    puzzles
}

/// The cells of a row; `None` if they are not as many as a row has.
pub(super) fn cells<'a>(format: &Format, line: &'a [u8]) -> Option<Vec<&'a [u8]>> {
    let side = format.order.side();
    if let Some(cells) = format.style.bars.and_then(|bars| bars.cells(line)) {
        return Some(cells);
    }
    if let Some(fields) = separated(line, format.style)
        && fields.len() == side
    {
        return Some(fields);
    }
    let apart: Vec<_> = tokens(line).collect();
    if apart.len() == side {
        return Some(apart);
    }
    let together: Vec<_> = apart.into_iter().flat_map(characters).collect();
    (together.len() == side).then_some(together)
}

/// Reads one row into `digits`.
pub(super) fn read_row(format: &Format, line: &[u8], digits: &mut [u8]) -> Result<(), Problem> {
    let cells = cells(format, line).ok_or(Problem::WrongLength)?;
    for (digit, cell) in digits.iter_mut().zip(cells) {
        *digit =
            read_cell(format, cell).ok_or_else(|| Problem::invalid_character(line, offset(line, cell)))?;
    }
    Ok(())
}

/// The digit of a single cell: a symbol, a blank, a number, or nothing between two commas.
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
    let number = if is_plain {
        std::str::from_utf8(cell).ok()?.parse().ok().filter(|&number: &u8| number > 0)
    } else {
        apart::number(cell)
    };
    number.filter(|&number| usize::from(number) <= format.order.side())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Alphabet, Hint, Notation, detect};

    fn four() -> Format {
        Format::new(Notation::Grid, Order::ALL[1], Alphabet::Letters).unwrap()
    }

    /// Rows of one value over and over, or of that and blanks, whatever character it has.
    #[test]
    fn every_symbol_of_an_alphabet_makes_rows() {
        for symbol in (b'!'..=b'~').map(char::from) {
            for order in [Order::ALL[0], Order::ALL[1]] {
                let others = "WXYZ".chars().filter(|&other| other != symbol).take(order.side() - 1);
                let Ok(alphabet) = [symbol].into_iter().chain(others).collect::<String>().parse::<Alphabet>()
                else {
                    continue;
                };
                let format = Format::new(Notation::Grid, order, alphabet.clone()).unwrap();
                for digits in
                    [vec![1; order.cells()], (0..order.cells()).map(|at| u8::from(at % 2 == 1)).collect()]
                {
                    let grid = Grid::from_digits(order, &digits);
                    let mut text = Vec::new();
                    format.write_grid(&grid, &mut text);
                    let mut read = Grid::empty(order);
                    let record = Records::new(&format, &text, 1).read(&mut read);
                    assert!(
                        record.is_some_and(|record| record.error.is_none()),
                        "{symbol} {order} {digits:?}"
                    );
                    assert_eq!(read.digits(), digits, "{symbol}");
                    if digits[0] == 1 {
                        let hint = Hint {
                            alphabet: Some(alphabet.clone()),
                            notation: Some(Notation::Grid),
                            ..Hint::default()
                        };
                        let found = detect(&text, &hint).unwrap().format;
                        assert_eq!(found.order(), order, "{symbol}");
                    }
                }
            }
        }
        let ascii = Format::new(Notation::Grid, Order::ALL[3], Alphabet::Ascii).unwrap();
        for value in 1..=16 {
            let digits: Vec<u8> = (0..256).map(|at| if at % 17 == 0 { value } else { 0 }).collect();
            let mut text = Vec::new();
            ascii.write_grid(&Grid::from_digits(Order::ALL[3], &digits), &mut text);
            let mut read = Grid::empty(Order::ALL[3]);
            let record = Records::new(&ascii, &text, 1).read(&mut read);
            assert!(record.is_some_and(|record| record.error.is_none()), "{value}");
            assert_eq!(read.digits(), digits, "{value}");
        }
    }

    /// `lines` (`r` for a row, `b` for a blank line, `t` for a title, `p` and `s` for sections, `-` for
    /// a ruler) with a `|` where a puzzle ends.
    fn ends(lines: &str) -> String {
        let line = |kind: char| match kind {
            'r' => "1234\n",
            'b' => "\n",
            't' => "Grid 01\n",
            'p' => "[Puzzle]\n",
            's' => "[State]\n",
            _ => "--+--\n",
        };
        let text: Vec<String> = lines.chars().map(|kind| line(kind).to_owned()).collect();
        let mut boundaries = Boundaries::new(&four());
        let mut out = String::new();
        for (index, kind) in lines.chars().enumerate() {
            let rest = text[index + 1..].concat();
            let line = classify(text[index].trim_end().as_bytes(), RowStyle::default());
            let mut end = boundaries.ends_with(line, rest.as_bytes(), true).unwrap();
            if end == End::Before {
                out.push('|');
                end = boundaries.ends_with(line, rest.as_bytes(), true).unwrap();
            }
            out.push(kind);
            if end == End::Behind {
                out.push('|');
            }
        }
        out
    }

    #[test]
    fn puzzles_end_after_their_rows_or_where_they_are_too_short() {
        let cases = [
            "rrrr|rrrr|",
            "rrrr|brrrr|b",
            "rr-rr|b-rr-rr|",
            // Blank lines between bands, and between all rows.
            "rrbrr|brrbrr|",
            "rbrbrbr|brbrbrbr|",
            "rrbbb-bbrr|",
            // Too short, by any number of rows.
            "rrrb|rrrr|brrrr|",
            "rrb|rrrr|brrrr|",
            "rb|rrrr|brrrr|",
            "rrrb|rrrb|rrrr|",
            "rb|rrrr|rb|rrrr|",
            "rrb|brrrr|",
            "rrb-b",
            "rrr",
            // Titles and sections.
            "trrrr|trrrr|",
            "trr|trrrr|brrb|trrrr|",
            "prrrr|srrrr",
            "prr|srrrrprrrr|",
        ];
        for wanted in cases {
            assert_eq!(ends(&wanted.replace('|', "")), wanted);
        }
    }

    #[test]
    fn nothing_is_cut_that_what_follows_may_change() {
        let row = "1234\n";
        let cases = [
            (row.repeat(4), 20),
            (row.repeat(3), 0),
            (row.repeat(5), 20),
            // Half a puzzle and a blank line: the rows that come now may be the rest of it or
            // another.
            (format!("{row}{row}\n"), 0),
            (format!("{row}{row}\n{row}{row}"), 0),
            (format!("{row}{row}\n{row}{row}\n"), 22),
            (format!("{row}{row}\n{row}{row}{row}"), 11),
            (format!("\n--\n{row}"), 4),
            (format!("{}{row}", row.repeat(3).trim_end()), 0),
            // A title ends what is above it; a section that is skipped has to be seen whole.
            (format!("{row}Grid 2\n{row}"), 12),
            (format!("[Puzzle]\n{}[State]\n{row}", row.repeat(4)), 29),
            (format!("{row}[State]\n{row}\n{row}[Puzzle]\n"), 33),
        ];
        for (text, wanted) in cases {
            assert_eq!(cut(&four(), text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn lines_are_rows_rulers_or_blank() {
        let cases = [
            ("", LineKind::Blank),
            (" \t\r", LineKind::Blank),
            ("# 1 2", LineKind::Ruler),
            ("|---+===|\r", LineKind::Ruler),
            ("*-----------*", LineKind::Ruler),
            (".-------.-------.", LineKind::Ruler),
            (":-------+-------:", LineKind::Ruler),
            ("├───┼───┤", LineKind::Ruler),
            ("│   │   │", LineKind::Ruler),
            ("---------", LineKind::Ruler),
            ("- 1", LineKind::Row),
            (". .", LineKind::Row),
            ("|...|***|", LineKind::Row),
            ("│ . │ 3 │", LineKind::Row),
            ("Grid 01", LineKind::Title),
            ("puzzle: easy", LineKind::Title),
            ("grids", LineKind::Row),
            ("[Puzzle]", LineKind::Section(true)),
            ("[State]\r", LineKind::Section(false)),
            ("[1,2,3]", LineKind::Row),
        ];
        for (line, wanted) in cases {
            assert_eq!(classify(line.as_bytes(), RowStyle::default()), wanted, "{line:?}");
        }
        let dashes = RowStyle { dashes: true, ..RowStyle::default() };
        let kind = |line: &str| classify(line.as_bytes(), dashes);
        assert_eq!(kind("---------"), LineKind::Row);
        assert_eq!(kind("- - - | - - - | - - -"), LineKind::Row);
        assert_eq!(kind("-----------"), LineKind::Ruler);
        assert_eq!(kind("---+---+---"), LineKind::Ruler);
        // What a ruler is drawn with may be a value.
        let sixteen = "| . . . . | . = . . | . . . . | . . : . |";
        assert_eq!(classify(sixteen.as_bytes(), RowStyle::default()), LineKind::Row);
        let ascii = RowStyle::default().written_in(&Alphabet::Ascii, Order::from_side(16));
        let kind = |line: &str| classify(line.as_bytes(), ascii);
        for row in [sixteen, "=...............", "===:|....|....|....", "................"] {
            assert_eq!(kind(row), LineKind::Row, "{row}");
        }
        for ruler in ["====+====+====+====", "===================", ":----:----:----:", "::"] {
            assert_eq!(kind(ruler), LineKind::Ruler, "{ruler}");
        }
    }

    #[test]
    fn cells_are_apart_by_commas_or_white_space_or_together() {
        let read = |line: &str| {
            let mut digits = [9; 4];
            read_row(&four(), line.as_bytes(), &mut digits).map(|()| digits)
        };
        for line in
            ["1 . 0 4", "1,,0,4", "1,,,4,", "1..4", "|1 .|0 4|", "│1·│?4│", "1.0, nan,0.0,4e0", "1-_4"]
        {
            assert_eq!(read(line), Ok([1, 0, 0, 4]), "{line}");
        }
        assert_eq!(read("1,2,3"), Err(Problem::WrongLength));
        assert!(matches!(read("1,2,3,5"), Err(Problem::InvalidCharacter { column: 7, .. })));
    }
}
