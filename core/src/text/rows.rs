//! `grid`: a puzzle written as rows of cells.
//!
//! A row is `side` cells, separate (`5 3 . | . 7 .`, `5,3,,,7,,,,`) or together (`53..7....`). Separate
//! values may be numbers. Between bars a space may be a blank, if that fits all rows. Rulers, blank
//! lines and comment lines may appear anywhere. After `side` rows the next puzzle begins.
//!
//! A blank line has no meaning if the rows before and after it can form one puzzle. If they cannot,
//! the rows before it were a puzzle that ended too early: it has the wrong length, and the next
//! puzzle begins after it. They cannot if more rows follow up to the next blank line than are
//! missing, or if two or more adjacent rows end inside a band. Two rulers, one below the other, mean
//! the same as a blank line.
//!
//! A title, such as `Grid 01` or `[Easy]`, ends the puzzle above it. So does a section, such as
//! `[Puzzle]`; the rows of `[State]`, what a player has filled in, are no puzzles, and neither are
//! those of any other section in a text with a `[Puzzle]`.
//!
//! Forum tags such as `[code]` and fences of three backticks are blank lines. A line of words is a
//! title above the first row of a puzzle, and below it a row that cannot be read.

use super::alphabet::INVALID;
use super::apart;
use super::bars::{BarLayout, has_line_across, is_bars_and_cells};
use super::lines::{characters, is_no_puzzle, looked_at, offset, puzzle_lines};
use super::{Alphabet, Format, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, Order};

/// The kind of a line of a `grid` text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    /// A comment, or bars without cells: it has no meaning.
    Comment,
    Ruler,
    Row,
    /// The title of the next puzzle.
    Title,
    /// Words, none of which is a cell.
    Words,
    /// The beginning of a section, and whether it is the puzzle.
    Section(bool),
}

/// What rows look like that could also be something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they do not depend on each other")]
pub(super) struct RowStyle {
    /// Whether `-` is a blank, so that a line of as many as a row has cells is no ruler.
    pub(super) dashes: bool,
    /// Whether the first field of each row is its number.
    pub(super) numbered: bool,
    /// Whether semicolons separate cells. They do not in most texts, because one of them is a value
    /// of the alphabet `ascii`.
    pub(super) semicolons: bool,
    /// Whether a row of nothing but empty fields is a blank line, as between the puzzles of a
    /// spreadsheet.
    pub(super) gaps: bool,
    /// The characters of rulers that are values of the alphabet, so that a line of as many as a row
    /// has is no ruler; 0 in the place of those that are not.
    pub(super) drawn_values: [u8; 3],
    /// The length of a row, if it is known.
    pub(super) side: Option<usize>,
    /// Where cells are between bars, if spaces are blanks.
    pub(super) bars: Option<BarLayout>,
    /// Whether a backtick is a value, so that a line of them is no fence.
    pub(super) backticks: bool,
    /// Whether no letter is a value, so that words are no cells.
    pub(super) words: bool,
    /// Whether there is a section of the puzzle, so that the other sections are none.
    pub(super) sections: bool,
}

impl RowStyle {
    /// The style of rows in this alphabet.
    pub(super) fn written_in(self, alphabet: &Alphabet, order: Option<Order>) -> Self {
        let symbols = alphabet.symbols();
        let used = &symbols[..order.map_or(symbols.len(), |order| order.side().min(symbols.len()))];
        let drawn_values = [b':', b'=', b'\''].map(|drawn| if used.contains(&drawn) { drawn } else { 0 });
        let words = order.is_some() && !used.iter().any(u8::is_ascii_alphabetic);
        let backticks = used.contains(&b'`');
        Self { drawn_values, side: order.map(Order::side), words, backticks, ..self }
    }

    /// Whether a row may have so many cells.
    pub(super) fn is_side(self, cells: usize) -> bool {
        self.side.map_or_else(|| Order::from_side(cells).is_some(), |side| side == cells)
    }

    /// The same style, with what shows only in a whole text with rows of this order.
    pub(super) fn of_text(mut self, text: &[u8], goes_on: bool, order: Order) -> Self {
        let is_puzzle = |line| classify(looked_at(line), self) == LineKind::Section(true);
        self.sections = text.contains(&b'[') && text.split(|&byte| byte == b'\n').any(is_puzzle);
        self.gaps = has_gaps(text, goes_on, order, self);
        self
    }
}

/// Words that begin a title, in lower case.
const TITLES: [&[u8]; 8] = [b"grid", b"puzzle", b"sudoku", b"game", b"board", b"no", b"nr", b"number"];

/// Tags of forums around what is copied.
const TAGS: [&[u8]; 7] = [b"code", b"quote", b"spoiler", b"pre", b"tt", b"mono", b"hide"];

/// The kind of a line that is a name in brackets. `None` for another line.
fn bracketed(line: &[u8], style: RowStyle) -> Option<LineKind> {
    let name = line.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?;
    let is_name = |name: &[u8]| name.iter().all(|b| b.is_ascii_alphabetic() || *b == b' ');
    let is_tag = |name: &[u8]| TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag));
    if let Some(tag) = name.strip_prefix(b"/") {
        return is_tag(tag).then_some(LineKind::Blank);
    }
    if !is_name(name) {
        return None;
    }
    Some(match name {
        name if name.eq_ignore_ascii_case(b"puzzle") => LineKind::Section(true),
        name if style.sections || name.eq_ignore_ascii_case(b"state") => LineKind::Section(false),
        name if is_tag(name) => LineKind::Blank,
        _ => LineKind::Title,
    })
}

/// Whether a line is a fence of Markdown: three backticks or more, and perhaps a word.
fn is_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let ticks = line.iter().take_while(|&&byte| byte == b'`').count();
    ticks >= 3 && line[ticks..].iter().all(|byte| byte.is_ascii_alphanumeric() || b" -_".contains(byte))
}

/// Whether a line is of words and cannot be meant as a row: it has letters and no other characters
/// but punctuation around words, one word is more than blanks, and it has not as many characters as
/// a row has cells.
fn is_words(line: &[u8], style: RowStyle) -> bool {
    const PUNCTUATION: &[char] = &[',', '.', ':', ';', '!', '?', '(', ')', '"', '\''];
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let mut has_word = false;
    for token in text.split_whitespace() {
        let word = token.trim_matches(PUNCTUATION);
        let is_blank = |c: char| matches!(c, 'x' | 'X');
        if word.is_empty() || !word.chars().all(char::is_alphabetic) {
            return false;
        }
        has_word |= word.chars().count() > 2 && !word.chars().all(is_blank);
    }
    let width = text.chars().filter(|c| !c.is_whitespace()).count();
    has_word && !style.is_side(width)
}

/// The kind of a line.
pub(super) fn classify(line: &[u8], style: RowStyle) -> LineKind {
    if is_no_puzzle(line) {
        // A comment must not end a puzzle as a blank line may.
        return if line.trim_ascii().is_empty() { LineKind::Blank } else { LineKind::Comment };
    }
    // Most rows begin with a value or a blank.
    let first = line.trim_ascii_start();
    if first[0] == b'['
        && let Some(kind) = bracketed(line, style)
    {
        return kind;
    }
    if first[0] == b'`' && !style.backticks && is_fence(line) {
        return LineKind::Blank;
    }
    if first[0].is_ascii_alphabetic() {
        let word = tokens(line).next().unwrap_or_default();
        let word = word.strip_suffix(b":").unwrap_or(word);
        if TITLES.iter().any(|title| word.eq_ignore_ascii_case(title)) {
            return LineKind::Title;
        }
    }
    if style.words && (first[0].is_ascii_alphabetic() || !first[0].is_ascii()) && is_words(line, style) {
        return LineKind::Words;
    }
    let is_row = style.bars.is_some() && is_bars_and_cells(line);
    if is_row || !is_ruler(line, style) {
        let is_gap = style.gaps && is_empty_row(line, style);
        return if is_gap { LineKind::Blank } else { LineKind::Row };
    }
    if has_line_across(line) { LineKind::Ruler } else { LineKind::Comment }
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

/// The fields of a row that is separated by commas, or by semicolons; an empty one is a blank. `None`
/// for other rows.
pub(super) fn separated(line: &[u8], style: RowStyle) -> Option<Vec<&[u8]>> {
    let delimiter = if style.semicolons { b';' } else { b',' };
    if !line.contains(&delimiter) {
        return None;
    }
    let fields = line.trim_ascii().split(|&byte| byte == delimiter);
    let mut fields: Vec<&[u8]> = fields.skip(usize::from(style.numbered)).map(unquoted).collect();
    // Behind the delimiter at the end of a row is either its last cell, a blank, or nothing.
    let is_empty = fields.last().is_some_and(|last| last.is_empty());
    if is_empty && !style.is_side(fields.len()) && style.is_side(fields.len() - 1) {
        fields.pop();
    }
    Some(fields)
}

/// Whether most lines have cells between semicolons.
pub(super) fn has_semicolons(text: &[u8], style: RowStyle) -> bool {
    if !text.contains(&b';') {
        return false;
    }
    let style = RowStyle { semicolons: true, ..style };
    // The first field may be the number of the row.
    let is_width = |width: usize| width >= 4 && (style.is_side(width) || style.is_side(width - 1));
    let is_cell = |field: &&[u8]| field.len() <= 2 || apart::number(field).is_some();
    let is_row = |line: &&[u8]| {
        separated(line, style).is_some_and(|fields| is_width(fields.len()) && fields.iter().all(is_cell))
    };
    2 * puzzle_lines(text).filter(is_row).count() > puzzle_lines(text).count()
}

/// Whether a row has fields, all of them empty.
fn is_empty_row(line: &[u8], style: RowStyle) -> bool {
    separated(line, style).is_some_and(|fields| fields.iter().all(|field| field.is_empty()))
}

/// Whether empty rows are between puzzles and not in them: most rows between two of them are whole
/// puzzles.
fn has_gaps(text: &[u8], goes_on: bool, order: Order, style: RowStyle) -> bool {
    let (mut runs, mut run, mut has_empty) = (Vec::new(), 0_usize, false);
    for line in text.split(|&byte| byte == b'\n').map(looked_at) {
        let is_row = classify(line, style) == LineKind::Row;
        if is_row && !is_empty_row(line, style) {
            run += 1;
        } else {
            has_empty |= is_row;
            runs.push(std::mem::take(&mut run));
        }
    }
    if !goes_on {
        runs.push(run);
    }
    runs.retain(|&run| run > 0);
    let whole = runs.iter().filter(|run| run.is_multiple_of(order.side())).count();
    has_empty && 2 * whole > runs.len()
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
    /// The rows since the last blank line, or the last two rulers one below the other.
    run: usize,
    /// Whether the last line was a ruler.
    is_below_ruler: bool,
    /// Whether the rows are those of a section that is no puzzle.
    skips: bool,
}

impl Boundaries {
    const fn new(format: &Format) -> Self {
        Self {
            order: format.order,
            style: format.style,
            rows: 0,
            run: 0,
            is_below_ruler: false,
            skips: false,
        }
    }

    /// Whether a line is a row that belongs to a puzzle.
    const fn counts(&self, line: LineKind) -> bool {
        match line {
            LineKind::Row => !self.skips,
            LineKind::Words => self.rows > 0,
            _ => false,
        }
    }

    /// Whether the current puzzle ends with this line, which `rest` follows. `None` if that depends
    /// on what follows `rest`, which is never so if nothing does (`at_end`). A puzzle that ends behind
    /// a row is whole; any other has too few rows.
    fn ends_with(&mut self, line: LineKind, rest: &[u8], at_end: bool) -> Option<End> {
        let side = self.order.side();
        let is_second_ruler = line == LineKind::Ruler && self.is_below_ruler;
        if line != LineKind::Comment {
            self.is_below_ruler = line == LineKind::Ruler && self.rows > 0;
        }
        let end = match line {
            LineKind::Row | LineKind::Words if self.counts(line) => {
                self.rows += 1;
                self.run += 1;
                if self.rows == side { End::Behind } else { End::No }
            }
            LineKind::Title | LineKind::Section(_) if self.rows > 0 => End::Before,
            LineKind::Section(is_puzzle) => {
                self.skips = !is_puzzle;
                End::No
            }
            LineKind::Ruler if self.rows > 0 => {
                let ends = is_second_ruler && self.breaks_off(rest, at_end)?;
                if ends { End::Before } else { End::No }
            }
            LineKind::Blank if self.breaks_off(rest, at_end)? => End::Behind,
            _ => End::No,
        };
        if end != End::No {
            (self.rows, self.run) = (0, 0);
            self.is_below_ruler = false;
        }
        Some(end)
    }

    /// Whether the rows above a blank line, or above the second of two rulers, are a puzzle that
    /// ended too early. Of several blank lines the first decides.
    fn breaks_off(&mut self, rest: &[u8], at_end: bool) -> Option<bool> {
        if self.run == 0 {
            return Some(false);
        }
        let run = std::mem::take(&mut self.run);
        let missing = self.order.side() - self.rows;
        let inside_band = !self.rows.is_multiple_of(self.order.box_side());
        Some((inside_band && run > 1) || run_exceeds(rest, missing, at_end, self.style)?)
    }
}

/// Whether the text has more than `limit` rows before the first blank line behind a row, or the
/// first two rulers one below the other.
fn run_exceeds(text: &[u8], limit: usize, at_end: bool, style: RowStyle) -> Option<bool> {
    let (mut rows, mut is_below_ruler) = (0, false);
    for line in text.split_inclusive(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\n").or(at_end.then_some(line))?;
        let kind = classify(looked_at(line), style);
        match kind {
            LineKind::Row if rows == limit => return Some(true),
            LineKind::Row => rows += 1,
            LineKind::Blank if rows > 0 => return Some(false),
            LineKind::Ruler if rows > 0 && is_below_ruler => return Some(false),
            LineKind::Title | LineKind::Section(_) => return Some(false),
            LineKind::Blank | LineKind::Comment | LineKind::Ruler | LineKind::Words => {}
        }
        if kind != LineKind::Comment {
            is_below_ruler = kind == LineKind::Ruler;
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
        let before = (records.text, records.line);
        let Some((line, number)) = records.take_line() else {
            // The text ends inside a puzzle, or after the last one.
            first?;
            fail(Problem::WrongLength, last);
            break;
        };
        let kind = classify(line, format.style);
        let is_row = boundaries.counts(kind);
        if is_row {
            first.get_or_insert(number);
            last = number;
            let cells = &mut puzzle.digits_mut()[boundaries.rows * side..][..side];
            if let Err(problem) = read_row(format, line, cells) {
                fail(problem, number);
            }
        }
        let end = boundaries.ends_with(kind, records.text, true).unwrap_or(End::No);
        if end == End::Before {
            (records.text, records.line) = before;
        }
        if end != End::No {
            if !(is_row && end == End::Behind) {
                fail(Problem::WrongLength, last);
            }
            break;
        }
    }
    Some(Record { line: first?, given: None, row: &[], error })
}

/// The rows of each puzzle, as reading divides them, and whether the puzzle ends in `text`. The last one may continue behind it, unless nothing follows (`at_end`).
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

    /// The puzzles of a text, with the error of each bad one in its place.
    fn answers(format: &Format, text: &str, first_line: u64) -> Vec<String> {
        let mut records = Records::new(format, text.as_bytes(), first_line);
        let (mut grid, mut found) = (Grid::empty(format.order()), Vec::new());
        while let Some(record) = records.read(&mut grid) {
            found.push(record.error.map_or_else(|| grid.to_string(), |error| error.to_string()));
        }
        found
    }

    /// The answers to a text, which are the same wherever it is cut.
    fn answers_to(text: &str) -> Vec<String> {
        let format = detect(text.as_bytes(), &Hint::default()).unwrap().format;
        assert_eq!(format.notation(), Notation::Grid, "{text}");
        let all = answers(&format, text, 1);
        // More than whole lines is not looked at.
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            let (part, rest) = text.split_at(cut(&format, &text.as_bytes()[..=end]));
            let lines = part.lines().count() as u64;
            let parts = [answers(&format, part, 1), answers(&format, rest, 1 + lines)].concat();
            assert_eq!(parts, all, "cut at {end} of {text}");
        }
        all
    }

    /// Six puzzles of this order, each as rows of cells together.
    fn six_puzzles(order: Order) -> Vec<Vec<String>> {
        let side = order.side();
        let row = |puzzle: usize, row: usize| {
            let clue = |column: usize| column % 4 == (puzzle + row) % 4;
            let cell = |column: usize| match (row * order.box_side() + row / order.box_side() + column) % side
            {
                value if clue(column) => char::from(b'1' + u8::try_from(value).unwrap()),
                _ => '.',
            };
            (0..side).map(cell).collect::<String>()
        };
        (0..6).map(|puzzle| (0..side).map(|at| row(puzzle, at)).collect()).collect()
    }

    /// `rows` with a ruler after so many of them, the last one left out.
    fn with_rulers(rows: &[String], every: usize) -> String {
        let parts: Vec<String> = rows.chunks(every).map(|rows| rows.join("\n") + "\n").collect();
        parts.join("+---+---+\n")
    }

    /// A drawn puzzle with a row that is lost, or there twice.
    fn damaged(puzzle: &str, row: usize, is_lost: bool) -> String {
        let mut lines: Vec<&str> = puzzle.lines().collect();
        let at = (0..lines.len()).filter(|&at| !lines[at].starts_with('+')).nth(row).unwrap();
        if is_lost {
            lines.remove(at);
        } else {
            lines.insert(at, lines[at]);
        }
        lines.join("\n") + "\n"
    }

    /// Six drawn puzzles of which one is damaged, in every row or in its last one: `check` is given
    /// the text, its answers, the answers of the sound puzzles, the number of the damaged one, and
    /// what its first rows say.
    fn for_each_damaged(is_lost: bool, check: impl Fn(&str, &[String], &[String], usize, &str)) {
        let ruler = "+---+---+\n";
        for order in [Order::ALL[1], Order::NINE] {
            let (side, band) = (order.side(), order.box_side());
            let whole = six_puzzles(order);
            let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
            // What stands above all puzzles, between two, below all, and after how many rows of one
            // there are rulers.
            let drawn = [
                (ruler, format!("{ruler}{ruler}"), ruler, band),
                (ruler, format!("{ruler}# next\n{ruler}"), ruler, band),
                (ruler, format!("{ruler}\n{ruler}"), ruler, band),
                ("", format!("{ruler}{ruler}"), "", 1),
            ];
            for (above, between, below, every) in drawn {
                let draw = |puzzles: &[String]| format!("{above}{}{below}", puzzles.join(&between));
                let mut puzzles: Vec<String> = whole.iter().map(|rows| with_rulers(rows, every)).collect();
                assert_eq!(answers_to(&draw(&puzzles)), wanted, "{}", draw(&puzzles));
                for bad in [1, 0, 5] {
                    let sound = puzzles[bad].clone();
                    for row in if bad == 1 { 0..side } else { side - 1..side } {
                        puzzles[bad] = damaged(&sound, row, is_lost);
                        let first: Vec<&str> =
                            puzzles[bad].lines().filter(|line| !line.starts_with('+')).take(side).collect();
                        let text = draw(&puzzles);
                        check(&text, &answers_to(&text), &wanted, bad, &first.concat());
                    }
                    puzzles[bad] = sound;
                }
            }
        }
    }

    #[test]
    fn a_lost_row_spoils_its_own_puzzle_only() {
        for_each_damaged(true, |text, found, wanted, bad, _| {
            // Between rulers below each row it leaves a gap, so that its puzzle is in two.
            let left = found.len() - 5;
            assert!(matches!(left, 1 | 2), "{left}: {text}");
            for error in &found[bad..bad + left] {
                assert!(error.contains("has the wrong length."), "{error}: {text}");
            }
            let others = [&found[..bad], &found[bad + left..]].concat();
            assert_eq!(others, [&wanted[..bad], &wanted[bad + 1..]].concat(), "{text}");
        });
    }

    #[test]
    fn a_row_too_many_is_an_error_below_its_puzzle() {
        for_each_damaged(false, |text, found, wanted, bad, first| {
            let mut others = found.to_vec();
            let error = others.remove(bad + 1);
            assert!(error.contains("has the wrong length."), "{error}: {text}");
            // Nothing tells which row is one too many, so the first rows are the puzzle.
            assert_eq!(others.remove(bad), first, "{text}");
            assert_eq!(others, [&wanted[..bad], &wanted[bad + 1..]].concat(), "{text}");
        });
    }

    #[test]
    fn a_whole_puzzle_may_have_rulers_anywhere() {
        let rows = &six_puzzles(Order::NINE)[0];
        for marks in [
            "-rrr-rrr-rrr-",
            "rrr-rrr-rrr",
            "-r-r-r-r-r-r-r-r-r-",
            "--rrr--rrr--rrr--",
            "--r--r--r--r--r--r--r--r--r--",
            "-rrrr-rr-rrr-",
            "-rr-rrrr-rrr-",
            "-rrr-rrrrrr-",
            "-rrrrrrrrr-",
            "-rrrrr-r-rrr-",
            "rrr-#-rrrrrr",
            "-rrr-brrr-b-rrr-",
        ] {
            // Alone, and below one that is drawn as usual.
            for marks in [marks.to_owned(), format!("-rrr-rrr-rrr-{marks}")] {
                let mut next = rows.iter().cycle();
                let line = |mark| match mark {
                    'r' => format!("{}\n", next.next().unwrap()),
                    'b' => "\n".to_owned(),
                    '#' => "# a\n".to_owned(),
                    _ => "---+---\n".to_owned(),
                };
                let text: String = marks.chars().map(line).collect();
                let found = answers_to(&text);
                assert!(found.iter().all(|found| *found == rows.concat()), "{marks} {found:?}");
            }
        }
    }

    #[test]
    fn cells_at_the_end_of_a_row_may_be_empty_fields() {
        for order in [Order::ALL[1], Order::NINE] {
            let (side, whole) = (order.side(), six_puzzles(order));
            // Puzzles with blanks at their ends, and one with a row of blanks and one of three clues.
            let mut puzzles = whole.clone();
            puzzles[0][1] = ".".repeat(side);
            puzzles[1][0] = ".".repeat(side);
            puzzles[2][side - 1] = ".".repeat(side);
            puzzles[3][0] = "123".to_owned() + &".".repeat(side - 3);
            let wanted: Vec<String> = puzzles.iter().map(|rows| rows.concat()).collect();
            let fields = |row: &str, between: &str| {
                let cells: Vec<String> = row.chars().map(|cell| cell.to_string().replace('.', "")).collect();
                cells.join(between)
            };
            for between in [",", ";"] {
                // Nothing behind the last cell, a delimiter, a carriage return; the number of the row.
                for (numbered, behind) in [(false, ""), (false, between), (false, "\r"), (true, "")] {
                    let row = |row: &String| format!("{}{behind}\n", fields(row, between));
                    let draw = |rows: &Vec<String>| rows.iter().map(row).collect::<String>();
                    let number = |text: &str| {
                        let rows = text.lines().filter(|line| !line.is_empty()).zip(1..);
                        rows.map(|(line, at)| format!("{at}{between}{line}\n")).collect::<String>()
                    };
                    let check = |text: String, wanted: &[String]| {
                        let text = if numbered { number(&text) } else { text };
                        assert_eq!(answers_to(&text), wanted, "{text}");
                    };
                    let drawn: Vec<String> = puzzles.iter().map(draw).collect();
                    for (text, wanted) in drawn.iter().zip(&wanted) {
                        check(text.clone(), std::slice::from_ref(wanted));
                    }
                    check(drawn.concat(), &wanted);
                    check(drawn.join("\n"), &wanted);
                    // Empty rows between puzzles that have none.
                    let drawn: Vec<String> = whole.iter().map(draw).collect();
                    let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
                    check(drawn.join(&row(&".".repeat(side))), &wanted);
                }
            }
        }
    }

    #[test]
    fn what_posts_have_around_grids_is_no_row() {
        let whole = six_puzzles(Order::NINE);
        let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
        let around = [
            ("[code]\n", "[/code]\n"),
            ("[CODE]\n\n", "\n[/CODE]\n"),
            ("[Grid]\n", ""),
            ("[Sudoku]\n", "\n"),
            ("[Easy one]\n", ""),
            ("```\n", "```\n"),
            ("```text\n", "```\n\n"),
            ("Here is my puzzle:\n", ""),
            ("Here is my puzzle:\n\n", ""),
            ("Hi all,\nthis one is very hard.\n[code]\n", "[/code]\nThanks for your help!\n"),
            ("[Puzzle]\n", "[State]\n123456789\n"),
            ("[Puzzle]\n", "[Notes]\n123456789\n"),
        ];
        for ruler in ["", "+---+---+---+\n"] {
            for (above, below) in around {
                let draw = |rows: &Vec<String>| {
                    format!(
                        "{above}{ruler}{}{ruler}{below}",
                        with_rulers(rows, if ruler.is_empty() { 9 } else { 3 })
                    )
                };
                assert_eq!(answers_to(&draw(&whole[0])), wanted[..1], "{}", draw(&whole[0]));
                let text: String = whole.iter().map(draw).collect();
                assert_eq!(answers_to(&text), wanted, "{text}");
            }
        }
        // Inside a puzzle, words are a row that cannot be read.
        let mut rows = whole[0].clone();
        rows[4] = "some words of mine".to_owned();
        assert_eq!(answers_to(&(rows.join("\n") + "\n")), ["Line 5 has the wrong length."]);
        // What a player has filled in is no puzzle, with a puzzle or without one.
        assert_eq!(answers_to(&format!("[State]\n{}\n", whole[0].join("\n"))), [""; 0]);
    }

    #[test]
    fn lines_are_rows_rulers_or_blank() {
        let cases = [
            ("", LineKind::Blank),
            (" \t\r", LineKind::Blank),
            ("# 1 2", LineKind::Comment),
            ("|---+===|\r", LineKind::Ruler),
            ("*-----------*", LineKind::Ruler),
            (".-------.-------.", LineKind::Ruler),
            (":-------+-------:", LineKind::Ruler),
            ("├───┼───┤", LineKind::Ruler),
            ("│   │   │", LineKind::Comment),
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
            ("[Grid]", LineKind::Title),
            ("[Very easy]", LineKind::Title),
            (" [code]", LineKind::Blank),
            ("[/CODE]\r", LineKind::Blank),
            ("[/1]", LineKind::Row),
            ("```", LineKind::Blank),
            ("````text", LineKind::Blank),
            ("``", LineKind::Row),
            ("```1```", LineKind::Row),
            // Before it is known whether letters are values.
            ("Here it is:", LineKind::Row),
            ("[1,2,3]", LineKind::Row),
        ];
        for (line, wanted) in cases {
            assert_eq!(classify(line.as_bytes(), RowStyle::default()), wanted, "{line:?}");
        }
        let nine = RowStyle::default().written_in(&Alphabet::Letters, Order::from_side(9));
        for words in ["Here is mine:", "Example:", "Hier ist mein Rätsel!", "Easy, I think.", "(unsolved)"] {
            let wanted = if words.starts_with('(') { LineKind::Row } else { LineKind::Words };
            assert_eq!(classify(words.as_bytes(), nine), wanted, "{words}");
        }
        for row in ["xxx xx", "x x x", "abcdefghi", "abc def ghi", "lO.3.S", "a b c d", "Sudoku2", "Number1"]
        {
            assert_eq!(classify(row.as_bytes(), nine), LineKind::Row, "{row}");
        }
        let sixteen = RowStyle::default().written_in(&Alphabet::Letters, Order::from_side(16));
        assert_eq!(classify(b"Here it is:", sixteen), LineKind::Row);
        let sections = RowStyle { sections: true, ..nine };
        assert_eq!(classify(b"[Notes]", sections), LineKind::Section(false));
        let backticks = RowStyle { backticks: true, ..nine };
        assert_eq!(classify(b"````", backticks), LineKind::Row);
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
        for ruler in ["====+====+====+====", "===================", ":----:----:----:"] {
            assert_eq!(kind(ruler), LineKind::Ruler, "{ruler}");
        }
        assert_eq!(kind("::"), LineKind::Comment);
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
        assert_eq!(read("1,2,3,,,"), Err(Problem::WrongLength));
        // The last cells may be blanks, with a comma behind them or without one.
        for line in ["1,2,3,", "1,2,3,,", "1,2,3,\"\"\r", "1,2,3, ,"] {
            assert_eq!(read(line), Ok([1, 2, 3, 0]), "{line}");
        }
        for line in [",,,", ",,,,", " , , , "] {
            assert_eq!(read(line), Ok([0; 4]), "{line}");
        }
        assert!(matches!(read("1,2,3,5"), Err(Problem::InvalidCharacter { column: 7, .. })));
    }
}
