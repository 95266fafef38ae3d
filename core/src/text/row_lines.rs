//! The lines of a `grid` text, and the cells of its rows: what is a row, what is drawn around rows,
//! and what has no meaning.

use super::Alphabet;
use super::apart;
use super::bars::{BarLayout, has_line_across, is_bars_and_cells};
use super::lines::{characters, is_no_puzzle, looked_at, puzzle_lines};
use super::row_numbers::are_column_names;
use crate::grid::Order;

/// The kind of a line of a `grid` text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    /// A comment, or bars without cells: it has no meaning.
    Comment,
    Ruler,
    Row,
    /// The title of the next puzzle, such as `Grid 01`, `[Puzzle]` or `[Easy]`.
    Title,
    /// Words, none of which is a cell, or the number of a puzzle.
    Words,
    /// The name of a section whose rows are no puzzle, such as `[State]`.
    Skipped,
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
    /// Whether all cells are numbers of two digits, so that `00` is a blank.
    pub(super) padded: bool,
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
    /// Whether no row has a `.`, so that `3.` is the number of a puzzle.
    pub(super) ordinals: bool,
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

    /// What separates fields.
    pub(super) const fn delimiter(self) -> u8 {
        if self.semicolons { b';' } else { b',' }
    }

    /// Whether a row may have so many cells.
    pub(super) fn is_side(self, cells: usize) -> bool {
        self.side.map_or_else(|| Order::from_side(cells).is_some(), |side| side == cells)
    }

    /// The same style, with what shows only in a whole text with rows of this order.
    pub(super) fn of_text(mut self, text: &[u8], goes_on: bool, order: Order) -> Self {
        let ordinals = Self { ordinals: true, ..self };
        let is_row = |line: &&[u8]| classify(line, ordinals) == LineKind::Row;
        let mut rows = text.split(|&byte| byte == b'\n').map(looked_at).filter(is_row);
        self.ordinals = !rows.any(|row| row.contains(&b'.'));
        self.gaps = has_gaps(text, goes_on, order, self);
        self
    }
}

/// Words that begin a title, in lower case.
const TITLES: [&[u8]; 8] = [b"grid", b"puzzle", b"sudoku", b"game", b"board", b"no", b"nr", b"number"];

/// Words that begin or end the names of sections in brackets whose rows are no puzzle, in lower case:
/// solutions, and what a player has filled in.
const SKIPPED: [&[u8]; 10] = [
    b"state",
    b"solution",
    b"solutions",
    b"solved",
    b"answer",
    b"answers",
    b"candidates",
    b"pencilmarks",
    b"marks",
    b"notes",
];

/// Whether a name in brackets is that of a section whose rows are no puzzle.
fn is_skipped(name: &[u8]) -> bool {
    let words = || name.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let is_known = |word: &[u8]| SKIPPED.iter().any(|known| word.eq_ignore_ascii_case(known));
    words().next().is_some_and(is_known) || words().next_back().is_some_and(is_known)
}

/// Tags of forums around what is copied.
const TAGS: [&[u8]; 7] = [b"code", b"quote", b"spoiler", b"pre", b"tt", b"mono", b"hide"];

/// A name without the number at its end: `Easy` of `Easy 3` and `Easy #3`.
fn trim_number(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    let words = &name[..end];
    let words = words.strip_suffix(b"#").unwrap_or(words);
    if words.len() < name.len() { words.trim_ascii_end() } else { name }
}

/// The kind of a line that is a name in brackets, with a number or without. `None` for another
/// line.
fn bracketed(line: &[u8], style: RowStyle) -> Option<LineKind> {
    let line = line.trim_ascii();
    let name = line.strip_suffix(b":").unwrap_or(line).strip_prefix(b"[")?.strip_suffix(b"]")?;
    if is_skipped(name) {
        return Some(LineKind::Skipped);
    }
    let is_name = |name: &[u8]| name.iter().all(|b| b.is_ascii_alphabetic() || *b == b' ');
    let is_tag = |name: &[u8]| TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag));
    if let Some(tag) = name.strip_prefix(b"/") {
        return is_tag(tag).then_some(LineKind::Blank);
    }
    let words = trim_number(name);
    // A row of an array may end in a number, too.
    let may_be_row = words.len() < name.len() && (words.len() < 2 || style.is_side(tokens(name).count()));
    if may_be_row || !is_name(words) {
        return None;
    }
    Some(if is_tag(words) { LineKind::Blank } else { LineKind::Title })
}

/// Whether a line is a fence of Markdown: three backticks or more, and perhaps a word.
fn is_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let ticks = line.iter().take_while(|&&byte| byte == b'`').count();
    ticks >= 3 && line[ticks..].iter().all(|byte| byte.is_ascii_alphanumeric() || b" -_".contains(byte))
}

/// Whether a line is of words and cannot be meant as a row: it has words, at most as many numbers,
/// and no other characters but punctuation around them, one word is more than blanks, and it ends in
/// a number or has not as many characters as a row has cells.
fn is_words(line: &[u8], style: RowStyle) -> bool {
    const PUNCTUATION: &[char] = &[',', '.', ':', ';', '!', '?', '(', ')', '"', '\'', '#'];
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let (mut has_word, mut ends_in_number, mut words, mut numbers) = (false, false, 0, 0);
    for token in text.split_whitespace() {
        let word = token.trim_matches(PUNCTUATION);
        let is_blank = |c: char| matches!(c, 'x' | 'X');
        if word.is_empty() {
            return false;
        }
        ends_in_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if ends_in_number {
            numbers += 1;
        } else if word.chars().all(char::is_alphabetic) {
            words += 1;
        } else {
            return false;
        }
        has_word |= word.chars().count() > 2 && !word.chars().all(|c| is_blank(c) || c.is_ascii_digit());
    }
    let width = text.chars().filter(|c| !c.is_whitespace()).count();
    has_word && numbers <= words && (ends_in_number || !style.is_side(width))
}

/// The length of `2024-01-05`.
const LONGEST_DATE: usize = 10;

/// Whether a line is the number of a puzzle, such as `(3)`, or a date, and cannot be meant as a row.
fn is_number_or_date(line: &[u8], style: RowStyle) -> bool {
    let is_number = |digits: &[u8]| matches!(digits.len(), 1..=4) && digits.iter().all(u8::is_ascii_digit);
    let line = line.trim_ascii();
    if line.len() > LONGEST_DATE || style.side.is_none_or(|side| side == line.len()) {
        return false;
    }
    match line {
        [b'(', number @ .., b')'] | [number @ .., b')'] => is_number(number),
        [number @ .., b':'] => !style.drawn_values.contains(&b':') && is_number(number),
        [number @ .., b'.'] => style.ordinals && is_number(number),
        _ => {
            let is_date = |delimiter: u8| {
                let parts: Vec<&[u8]> = line.split(|&byte| byte == delimiter).collect();
                let has_year = parts.iter().any(|part| part.len() == 4);
                parts.len() == 3 && has_year && parts.into_iter().all(is_number)
            };
            is_date(b'/') || !style.dashes && is_date(b'-')
        }
    }
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
        let word = word.strip_suffix(b":").or_else(|| word.strip_suffix(b".")).unwrap_or(word);
        if TITLES.iter().any(|title| word.eq_ignore_ascii_case(title)) {
            return LineKind::Title;
        }
    }
    if style.words && (first[0].is_ascii_alphabetic() || !first[0].is_ascii()) && is_words(line, style) {
        return LineKind::Words;
    }
    if (first[0] == b'(' || first[0].is_ascii_digit()) && is_number_or_date(first, style) {
        return LineKind::Words;
    }
    let is_row = style.bars.is_some() && is_bars_and_cells(line);
    if is_row || !is_ruler(line, style) {
        if style.gaps && is_empty_row(line, style) {
            return LineKind::Blank;
        }
        let is_heading = style.numbered && is_heading_above_numbers(line, style);
        return if is_heading { LineKind::Title } else { LineKind::Row };
    }
    if has_line_across(line) { LineKind::Ruler } else { LineKind::Comment }
}

/// Of each byte whether it is a cell of most rows, a digit, and whether most rows have it at all.
const PLAIN: [u8; 256] = {
    let mut plain = [0; 256];
    let mut byte = 0;
    loop {
        plain[byte as usize] = match byte {
            b'0'..=b'9' => IS_CELL | IS_DIGIT | IS_PLAIN,
            b'.' | b'_' | b'*' | b'-' => IS_CELL | IS_PLAIN,
            b',' | b';' | b' ' | b'|' | b'\t' | b'\r' => IS_PLAIN,
            _ => 0,
        };
        if byte == u8::MAX {
            break plain;
        }
        byte += 1;
    }
};
const IS_CELL: u8 = 1;
const IS_DIGIT: u8 = 2;
const IS_PLAIN: u8 = 4;

/// Whether a line has nothing but digits, blanks and what separates them.
pub(super) fn is_plain(line: &[u8]) -> bool {
    line.iter().all(|&byte| PLAIN[usize::from(byte)] > 0)
}

/// Whether a line is a row without doubt, as most are: it is plain, has a digit, and has a
/// row's cells or is too long for a title such as `3:`. Other lines may be rows too.
pub(super) fn is_plain_row(line: &[u8], side: usize, style: RowStyle) -> bool {
    let (mut cells, mut all, mut any) = (0, IS_PLAIN, 0);
    for &byte in line {
        let plain = PLAIN[usize::from(byte)];
        cells += usize::from(plain & IS_CELL);
        all &= plain;
        any |= plain;
    }
    let is_long = || line.len() >= side && line.trim_ascii().len() > LONGEST_DATE;
    // The only digit may be the number of an empty row.
    all == IS_PLAIN && any & IS_DIGIT > 0 && !style.numbered && (cells == side || is_long())
}

/// The shortest row that has an `=` as a value, in the alphabet `ascii`.
const LEAST_WITH_EQUALS: usize = (b'=' - b'0') as usize;

/// Whether a line is drawn: nothing but the characters of rulers, which are not all blank cells.
fn is_ruler(line: &[u8], style: RowStyle) -> bool {
    const DRAWN: &[u8] = b"-+|=*:.' \t\r";
    let has = |byte| line.contains(&byte);
    let is_box = |c: &[u8]| c.len() > 1 && separator_len(c) > 0;
    let has_box = !line.is_ascii() && characters(line).any(is_box);
    // Between them are cells, and not beside corners and crossings.
    let is_upright = |c: &[u8]| {
        matches!(c, [0xE2, 0x94, 0x82 | 0x83 | 0x86 | 0x87 | 0x8A | 0x8B] | [0xE2, 0x95, 0x8E | 0x8F | 0x91])
    };
    let has_corner = || has_box && characters(line).any(|c| is_box(c) && !is_upright(c));
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
    if has(b'+') || has(b'=') || has_corner() || has_box && !has(b'.') && !has(b'*') && !has(b'-') {
        return true;
    }
    if has(b'-') {
        // Blank cells, if there are as many as a row has.
        return !(style.dashes && style.is_side(cells()));
    }
    !has(b'.') && !has(b'*')
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
    let delimiter = style.delimiter();
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

/// Whether most rows have nothing but numbers of two digits.
pub(super) fn are_padded(text: &[u8], style: RowStyle) -> bool {
    if memchr::memmem::find(text, b"00").is_none() {
        return false;
    }
    let is_padded = |line: &&[u8]| {
        let cells = separated(line, style).unwrap_or_else(|| tokens(line).collect());
        cells.len() > 1 && cells.iter().all(|cell| matches!(cell, [b'0'..=b'2', b'0'..=b'9']))
    };
    let rows = || puzzle_lines(text).filter(|line| classify(line, style) == LineKind::Row);
    2 * rows().filter(is_padded).count() > rows().count()
}

/// Whether a row has fields, all of them empty.
fn is_empty_row(line: &[u8], style: RowStyle) -> bool {
    separated(line, style).is_some_and(|fields| fields.iter().all(|field| field.is_empty()))
}

/// Whether a line has nothing above the numbers of rows, and the names of columns above the cells.
fn is_heading_above_numbers(line: &[u8], style: RowStyle) -> bool {
    let fields = separated(line, RowStyle { numbered: false, ..style });
    fields.is_some_and(|fields| matches!(&fields[..], [b"", names @ ..] if are_column_names(names)))
}

/// Whether empty rows are between puzzles and not in them: between two of them, or one and another
/// line that is no row, are mostly whole puzzles.
fn has_gaps(text: &[u8], goes_on: bool, order: Order, style: RowStyle) -> bool {
    let lines = text.split(|&byte| byte == b'\n').map(looked_at);
    let is_row = |line| classify(line, style) == LineKind::Row;
    // Whether each line is an empty row; `None` for a line that is no row.
    let mut lines: Vec<Option<bool>> =
        lines.map(|line| is_row(line).then(|| is_empty_row(line, style))).collect();
    if goes_on {
        // More rows may follow the last ones.
        lines.truncate(lines.iter().rposition(|&line| line != Some(false)).map_or(0, |last| last + 1));
    }
    let (mut whole, mut others) = (0, 0);
    let mut count = |is_whole: bool| if is_whole { whole += 1 } else { others += 1 };
    // Where puzzles are apart by other lines and have no empty row, they show nothing.
    for rows in lines.split(Option::is_none).filter(|rows| rows.contains(&Some(true))) {
        // Empty rows alone may be a puzzle without clues.
        if !rows.contains(&Some(false)) {
            count(!rows.len().is_multiple_of(order.side()));
        }
        let runs = rows.split(|&row| row == Some(true)).filter(|run| !run.is_empty());
        runs.for_each(|run| count(run.len().is_multiple_of(order.side())));
    }
    whole > others
}

/// A field without white space and quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("[Puzzle]", LineKind::Title),
            ("[State]\r", LineKind::Skipped),
            ("[solution]", LineKind::Skipped),
            ("[Pencil Marks]", LineKind::Skipped),
            ("[Grid]", LineKind::Title),
            ("[Very easy]", LineKind::Title),
            ("[Easy 12]", LineKind::Title),
            ("[Easy #1]", LineKind::Title),
            ("[Puzzle 2]", LineKind::Title),
            ("[State 2]", LineKind::Skipped),
            ("[1]", LineKind::Row),
            ("[1 2 3 4]", LineKind::Row),
            ("[nan nan nan 4]", LineKind::Row),
            ("No. 1", LineKind::Title),
            ("(1)", LineKind::Row),
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
        for words in [
            "Level 1",
            "Level 1234",
            "Problem 10",
            "Test case 1",
            "Easy #2:",
            "Level 1 of many",
            "(1)",
            "12)",
            "3:",
            "2024-01-05",
            "5/1/2024",
        ] {
            assert_eq!(classify(words.as_bytes(), nine), LineKind::Words, "{words}");
        }
        for row in [
            "xxx 1",
            "xx xxxx 1",
            "abcdefgh1",
            "1 2 3",
            "1.",
            "1-2-3",
            "(1",
            "12345)",
            "1.2.2024",
            "L1 2",
            "1 Easy",
            "Easy 1 2 3",
        ] {
            assert_eq!(classify(row.as_bytes(), nine), LineKind::Row, "{row}");
        }
        let ordinals = RowStyle { ordinals: true, ..nine };
        assert_eq!(classify(b"1.", ordinals), LineKind::Words);
        assert_eq!(classify(b"53..7....", ordinals), LineKind::Row);
        for row in ["xxx xx", "x x x", "abcdefghi", "abc def ghi", "lO.3.S", "a b c d", "Sudoku2", "Number1"]
        {
            assert_eq!(classify(row.as_bytes(), nine), LineKind::Row, "{row}");
        }
        let sixteen = RowStyle::default().written_in(&Alphabet::Letters, Order::from_side(16));
        assert_eq!(classify(b"Here it is:", sixteen), LineKind::Row);
        let backticks = RowStyle { backticks: true, ..nine };
        assert_eq!(classify(b"````", backticks), LineKind::Row);
        let dashes = RowStyle { dashes: true, ..RowStyle::default() };
        let kind = |line: &str| classify(line.as_bytes(), dashes);
        assert_eq!(kind("---------"), LineKind::Row);
        assert_eq!(kind("- - - | - - - | - - -"), LineKind::Row);
        assert_eq!(kind("-----------"), LineKind::Ruler);
        assert_eq!(kind("---+---+---"), LineKind::Ruler);
        assert_eq!(kind("│ - - - │ - - - │ - - - │"), LineKind::Row);
        assert_eq!(kind("├ - - - ┼ - - - ┼ - - - ┤"), LineKind::Ruler);
        assert_eq!(kind("├───────┼───────┼───────┤"), LineKind::Ruler);
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
}
