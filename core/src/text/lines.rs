//! `lines` and `header`: notations with a puzzle a line, and what a line is.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::alphabet::{INVALID, MIDDLE_DOT, Shortcut};
use super::error::{ERROR_PREFIX, FAULT, fault_of};
use super::{BYTE_ORDER_MARK, Format, Notation, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, Order};

/// The most bytes of a line that are read. A longer line may be cut to this length without changing
/// its answer.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// The bytes of a plain 9x9 line: 81 cells and a newline.
pub(crate) const PLAIN_9X9_LINE_BYTES: usize = 82;

impl Notation {
    /// The number of puzzles, good and bad, in whole lines below the heading, of a text with a puzzle a
    /// line.
    ///
    /// ```
    /// use sudoku_core::text::Notation;
    ///
    /// assert_eq!(Notation::Csv.count_puzzles(b"1,12....1.........\n\n# easy\nx,y\n"), 2);
    /// ```
    #[must_use]
    pub fn count_puzzles(self, lines: &[u8]) -> u64 {
        let is_puzzle = |line: &[u8]| self == Self::Header || !is_no_puzzle(looked_at(line));
        let text = lines.strip_suffix(b"\n").unwrap_or(lines);
        if lines.is_empty() {
            return 0;
        }
        let mut begin = 0;
        // Not byte by byte, because a client counts all that it sends.
        let all = memchr::memchr_iter(b'\n', text).chain([text.len()]).map(|end| {
            let line = &text[begin..end];
            begin = end + 1;
            line
        });
        all.filter(|line| is_puzzle(line)).count() as u64
    }
}

/// The length of the whole lines in `text`.
pub(super) fn cut(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)
}

/// The line without the carriage return and white space at its end.
pub(super) const fn trim_end(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// The part of a line that is read.
pub(super) fn looked_at(line: &[u8]) -> &[u8] {
    &line[..line.len().min(MAX_LINE_BYTES)]
}

/// Whether it is a blank line or a comment, and so no puzzle.
pub(super) fn is_no_puzzle(line: &[u8]) -> bool {
    // Old systems end a text with the character of Ctrl-Z.
    match line.trim_ascii_start() {
        [] | [b'#', ..] => true,
        [0x1A, rest @ ..] => rest.trim_ascii().is_empty(),
        _ => false,
    }
}

/// Whether it is a line such as `sep=;`, which Excel reads and writes above a table.
pub(super) fn is_excel_line(line: &[u8]) -> bool {
    // A tab is white space at the end.
    let (name, delimiter) = line.trim_ascii().split_at_checked(4).unwrap_or_default();
    name.eq_ignore_ascii_case(b"sep=") && delimiter.len() <= 1
}

/// The lines that are neither blank nor comments, without white space at their ends.
pub(super) fn puzzle_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').filter(|line| !is_no_puzzle(line)).map(trim_end)
}

/// The next line, if a newline follows 81 bytes. It may end earlier: the caller must check that
/// each byte is a cell, which a newline is not.
#[inline(always)]
fn line_9x9<'a>(records: &Records<'a>) -> Option<&'a [u8; 81]> {
    match records.text.get(..PLAIN_9X9_LINE_BYTES)?.split_first_chunk() {
        Some((cells, b"\n")) => Some(cells),
        _ => None,
    }
}

/// Reads the next line, if it is a plain 9x9 line: 81 values and blanks without a comment, whose
/// end is known without a search. If it is not, the digits are unspecified.
#[inline(always)]
fn read_one_9x9(records: &mut Records<'_>, digits: &mut [u8; 81]) -> bool {
    let Some(cells) = line_9x9(records) else { return false };
    let is_good = read_plain_cells(records.format, cells, digits);
    if is_good {
        records.text = &records.text[PLAIN_9X9_LINE_BYTES..];
        records.line += 1;
    }
    is_good
}

/// Reads 81 cells that are values and blanks of one byte. False, with the digits unspecified, if
/// any is something else.
#[inline(always)]
pub(super) fn read_plain_cells(format: &Format, cells: &[u8; 81], digits: &mut [u8; 81]) -> bool {
    match format.codec.shortcut {
        Shortcut::None => false,
        // Nearly all lines have `.` as the only blank, and are read twice as fast like this.
        Shortcut::Digits => read_digits_and_dots(cells, digits) || read_digits(cells, digits),
        Shortcut::DigitsAndDots => read_digits_and_dots(cells, digits),
        Shortcut::Table => read_by_table(format, cells, digits),
    }
}

/// Reads 81 cells of any alphabet. Never inlined, because that slows down the reading of digits
/// beside it.
#[inline(never)]
fn read_by_table(format: &Format, cells: &[u8; 81], digits: &mut [u8; 81]) -> bool {
    let mut seen = 0;
    for (digit, &byte) in digits.iter_mut().zip(cells) {
        *digit = format.codec.decode(byte);
        seen |= *digit;
    }
    // Digits up to 9 make up no `INVALID`.
    seen != INVALID
}

/// Reads plain 9x9 lines into `digits`, contiguously. Stops at any other line, and where `digits`
/// is full. Returns their number.
#[inline(always)]
pub(super) fn read_plain_9x9(records: &mut Records<'_>, digits: &mut [u8]) -> usize {
    let mut count = 0;
    for digits in digits.as_chunks_mut().0 {
        if !read_one_9x9(records, digits) {
            break;
        }
        count += 1;
    }
    count
}

pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let (format, line) = (records.format, records.line);
    if let Ok(digits) = puzzle.digits_mut().try_into()
        && read_one_9x9(records, digits)
    {
        return Some(Record { line, given: None, row: &[], error: None });
    }
    loop {
        let (line, number) = records.take_line()?;
        if format.notation != Notation::Header && is_no_puzzle(line) {
            continue;
        }
        let error = read_line(format, line, puzzle).err();
        return Some(Record {
            line: number,
            given: None,
            row: &[],
            error: error.map(|problem| PuzzleError { problem, line: Some(number) }),
        });
    }
}

/// The cells of a line: in `header` all of it, in the others everything between the white space at
/// its beginning and a comment.
pub(super) fn cells<'a>(format: &Format, line: &'a [u8]) -> &'a [u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    match format.notation {
        Notation::Header => line.strip_suffix(b"\r").unwrap_or(line),
        _ => format.codec.cells(line.trim_ascii()),
    }
}

/// Reads the cells of a line, with columns that count from its start.
pub(super) fn read_line(format: &Format, line: &[u8], puzzle: &mut Grid) -> Result<(), Problem> {
    let cells = cells(format, line);
    read_cells(format, cells, puzzle).map_err(|problem| match problem {
        // A puzzle that was converted, and that could not be read.
        problem if line.starts_with(FAULT) => fault_of(line, format.order).unwrap_or(problem),
        // A line that was cut has more cells than can be counted.
        Problem::WrongCellCount { .. } if offset(line, cells) + cells.len() >= MAX_LINE_BYTES => {
            Problem::WrongLength
        }
        problem => problem.within(line, cells),
    })
}

/// The solution beside a puzzle, from what stands in its place: nothing, or an error line, as our
/// own tables have it, is none.
pub(super) fn given_solution(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty() && !text.starts_with(ERROR_PREFIX.as_bytes())).then_some(text)
}

/// Reads the cells of a 9x9 line whose values are `1` to `9`. False, with the digits unspecified,
/// if any byte is something else.
#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
#[inline(always)]
pub(super) fn read_digits(cells: &[u8; 81], digits: &mut [u8; 81]) -> bool {
    map_9x9(cells, digits, |byte| {
        let value = byte.wrapping_sub(b'0');
        let is_value = value <= 9;
        let is_blank = (byte == b'.') | (byte == b'_') | (byte == b'*') | (byte == b'-');
        (if is_value { value } else { 0 }, !(is_value | is_blank))
    })
}

/// [`read_digits`] with `.` as the only blank.
#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
#[inline(always)]
pub(super) fn read_digits_and_dots(cells: &[u8; 81], digits: &mut [u8; 81]) -> bool {
    map_9x9(cells, digits, |byte| {
        let is_value = byte.wrapping_sub(b'1') <= 8;
        (if is_value { byte.wrapping_sub(b'0') } else { 0 }, !(is_value | (byte == b'.')))
    })
}

/// Maps each byte of a 9x9 grid, and returns whether none is bad. No branch depends on the data, so
/// the compiler vectorises it, with words of 32 bytes at most: 81 bytes are three words, the last
/// two of which overlap, because a scalar remainder would take as long as the words.
#[inline(always)]
pub(super) fn map_9x9(from: &[u8; 81], to: &mut [u8; 81], map: impl Fn(u8) -> (u8, bool)) -> bool {
    const WORD: usize = 32;
    let mut bad = [0; WORD];
    let mut map_word = |from: &[u8; WORD], to: &mut [u8; WORD]| {
        let mut mapped = [0; WORD];
        for at in 0..WORD {
            let (byte, is_bad) = map(from[at]);
            mapped[at] = byte;
            bad[at] |= u8::from(is_bad);
        }
        *to = mapped;
    };
    if let (Some(from), Some(to)) = (from.last_chunk(), to.last_chunk_mut()) {
        map_word(from, to);
    }
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        map_word(from, to);
    }
    bad == [0; WORD]
}

/// Reads the cells of one puzzle, without a comment. Its length is checked before its characters.
pub(super) fn read_cells(format: &Format, cells: &[u8], grid: &mut Grid) -> Result<(), Problem> {
    let order = format.order;
    if grid.order() != order {
        grid.reset(order);
    }
    let length = cells.len();
    let mut worst = INVALID;
    if let (Ok(cells), Ok(digits)) = (cells.try_into(), <&mut [u8; 81]>::try_from(grid.digits_mut()))
        && format.codec.shortcut == Shortcut::Digits
        && read_digits(cells, digits)
    {
        return Ok(());
    }
    if length == order.cells() {
        worst = 0;
        for (digit, &byte) in grid.digits_mut().iter_mut().zip(cells) {
            *digit = format.codec.decode(byte);
            worst = worst.max(*digit);
        }
    }
    if worst != INVALID {
        return Ok(());
    }
    if length > order.cells() && cells.contains(&MIDDLE_DOT[0]) {
        return read_characters(format, cells, grid);
    }
    Err(what_is_wrong(format, cells))
}

/// Reads cells, some of which may be characters of several bytes.
fn read_characters(format: &Format, cells: &[u8], grid: &mut Grid) -> Result<(), Problem> {
    let is_read = characters(cells).count() == grid.order().cells()
        && grid.digits_mut().iter_mut().zip(characters(cells)).all(|(digit, character)| {
            *digit = format.codec.character(character);
            *digit != INVALID
        });
    if is_read { Ok(()) } else { Err(what_is_wrong(format, cells)) }
}

/// Whether cells have a wrong length or a bad character. Length counts characters and not bytes, as
/// people do.
fn what_is_wrong(format: &Format, cells: &[u8]) -> Problem {
    let is_bad = |character: &[u8]| format.codec.character(character) == INVALID;
    let (count, order) = (characters(cells).count(), format.order);
    // A mark within a text, where files were put together, is not seen when cells are counted.
    if cells.starts_with(BYTE_ORDER_MARK) && count == order.cells() + 1 && format.notation != Notation::Header
    {
        return Problem::invalid_character(cells, 0);
    }
    match characters(cells).find(|character| is_bad(character)) {
        Some(bad) if count == order.cells() => bad_cell(order, cells, offset(cells, bad)),
        // The sentence of `header` is older, and ends there; and a line that was cut has more cells.
        _ if format.notation == Notation::Header || cells.len() >= MAX_LINE_BYTES => Problem::WrongLength,
        _ => Problem::WrongCellCount { cells: count, order },
    }
}

/// The problem of the character at byte `offset` of a line, which is no cell of a puzzle of this order.
pub(super) fn bad_cell(order: Order, line: &[u8], offset: usize) -> Problem {
    let number = characters(&line[offset..]).next().and_then(unwritable_number);
    match number.and_then(|number| order.digit(number).err()) {
        Some(outside) => Problem::OutOfRange(outside),
        None => Problem::invalid_character(line, offset),
    }
}

/// The characters of a text. Where it is not UTF-8, each byte counts as one.
pub(super) fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.utf8_chunks().flat_map(|chunk| {
        let (valid, bytes) = (chunk.valid(), chunk.valid().as_bytes());
        let whole = valid.char_indices().map(|(at, c)| &bytes[at..at + c.len_utf8()]);
        whole.chain(chunk.invalid().chunks(1))
    })
}

/// The number of [characters] of a text.
pub(super) fn count_characters(text: &[u8]) -> usize {
    if text.is_ascii() { text.len() } else { characters(text).count() }
}

/// The offset of `part`, a subslice of `line`.
pub(super) fn offset(line: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
}

impl Problem {
    /// The problem of the character at byte `offset` of a line, which is neither a blank nor a
    /// value.
    pub(super) fn invalid_character(line: &[u8], offset: usize) -> Self {
        let (before, rest) = line.split_at(offset);
        let character = characters(rest).next().map_or_else(String::new, printable);
        Self::InvalidCharacter { character, column: characters(before).count() + 1 }
    }

    /// The problem of the quotes at byte `offset` of a line, which begin a field that it does not end.
    pub(super) fn open_quotes(line: &[u8], offset: usize) -> Self {
        Self::OpenQuotes { column: characters(&line[..offset]).count() + 1 }
    }

    /// The same problem of cells that are a part of a line, whose columns count from its start.
    pub(super) fn within(mut self, line: &[u8], cells: &[u8]) -> Self {
        if let Self::InvalidCharacter { column, .. } = &mut self {
            *column += characters(&line[..offset(line, cells)]).count();
        }
        self
    }
}

/// The first and the last of the characters that stand for values: private ones, which no text has.
const UNWRITABLE: RangeInclusive<u32> = 0x10_F000..=NO_CELL as u32;

/// The character that stands for a value that is no number, or a larger one than the others.
const NO_CELL: char = '\u{10FFFF}';

/// That value in messages.
pub(super) const NO_CELL_WORDS: &str = "a value that is no cell,";

/// How those characters begin in UTF-8, and few others do.
const UNWRITABLE_START: [u8; 2] = [0xF4, 0x8F];

/// What is written in their place.
const IN_THEIR_PLACE: &str = "!";

/// The character that stands for a value that is no cell, in the place of a cell of an array, so that
/// its puzzle has that error. `None` for one that is no number from 0 on.
#[doc(hidden)]
#[must_use]
pub fn unwritable_value(number: Option<u32>) -> char {
    let character = number.and_then(|number| UNWRITABLE.start().checked_add(number));
    character.filter(|character| UNWRITABLE.contains(character)).and_then(char::from_u32).unwrap_or(NO_CELL)
}

/// The number that a character stands for, if it is one of those.
fn unwritable_number(character: &[u8]) -> Option<usize> {
    let character = std::str::from_utf8(character).ok()?.chars().next().filter(|&c| c != NO_CELL)?;
    usize::try_from(u32::from(character).checked_sub(*UNWRITABLE.start())?).ok()
}

/// A text as it is written where it is copied: with a `!` for each value that is no cell.
pub(crate) fn writable(text: &[u8]) -> Cow<'_, [u8]> {
    if text.starts_with(FAULT) {
        return Cow::Borrowed(IN_THEIR_PLACE.as_bytes());
    }
    let may_have_one = memchr::memchr(UNWRITABLE_START[0], text).is_some()
        && memchr::memmem::find(text, &UNWRITABLE_START).is_some();
    if !may_have_one {
        return Cow::Borrowed(text);
    }
    // In another encoding these bytes are parts of other characters.
    let Ok(text) = std::str::from_utf8(text) else { return Cow::Borrowed(text) };
    let is_one = |c: char| UNWRITABLE.contains(&u32::from(c));
    Cow::Owned(text.replace(is_one, IN_THEIR_PLACE).into_bytes())
}

/// Appends a line that is copied: as it is [written](writable), with a newline.
#[doc(hidden)]
pub fn copy_line(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&writable(text));
    if !text.ends_with(b"\n") {
        out.push(b'\n');
    }
}

/// The character of [`BYTE_ORDER_MARK`].
const MARK: char = '\u{FEFF}';

/// The character in quotes, or its number where a terminal would not show it.
fn printable(character: &[u8]) -> String {
    let c = std::str::from_utf8(character).ok().and_then(|text| text.chars().next());
    match c {
        Some(c) if c.is_ascii_graphic() || c == ' ' || (!c.is_ascii() && c.is_alphanumeric()) => {
            format!("'{c}'")
        }
        Some(MARK) => "U+FEFF, a byte-order mark,".to_owned(),
        Some(NO_CELL) => NO_CELL_WORDS.to_owned(),
        Some(c) => format!("U+{:04X}", u32::from(c)),
        None => format!("byte 0x{:02X}", character.first().copied().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Order;
    use crate::text::Alphabet;

    #[test]
    fn characters_are_those_of_the_text_or_bytes() {
        let split = |text: &[u8]| characters(text).map(<[u8]>::len).collect::<Vec<_>>();
        assert_eq!(split("aé€🦀b".as_bytes()), [1, 2, 3, 4, 1]);
        // A lone byte of Latin-1, and a character that breaks off.
        assert_eq!(split(b"a\xE9b\xF0\x9F\xA6"), [1, 1, 1, 1, 1, 1]);
        assert_eq!(split(b""), [0; 0]);
    }

    #[test]
    fn cells_are_told_where_they_stand_behind_white_space() {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let read = |line: &str| {
            let mut puzzle = Grid::empty(format.order());
            read_line(&format, line.as_bytes(), &mut puzzle).map(|()| puzzle.to_string())
        };
        let cells = "12....1.........";
        assert_eq!(read(&format!(" \t{cells} \r")), Ok(cells.to_owned()));
        let bad = read(&format!("  {}", cells.replacen('.', "é", 1)));
        assert_eq!(bad, Err(Problem::InvalidCharacter { character: "'é'".to_owned(), column: 5 }));
        let long = read(&format!("   {cells}1"));
        assert_eq!(long, Err(Problem::WrongCellCount { cells: 17, order: format.order() }));
        let marked = read(&format!("\u{FEFF}{cells}"));
        let character = "U+FEFF, a byte-order mark,".to_owned();
        assert_eq!(marked, Err(Problem::InvalidCharacter { character, column: 1 }));
        // Of a line that was cut, nobody knows how many cells it has.
        let cut = read(&format!("{}{}", " ".repeat(MAX_LINE_BYTES - 9), &cells[..9]));
        assert_eq!(cut, Err(Problem::WrongLength));
    }

    #[test]
    fn values_that_are_no_cells_are_told_and_not_copied() {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let number = |value| Problem::OutOfRange(format.order().digit(value).unwrap_err());
        let other =
            || Problem::InvalidCharacter { character: "a value that is no cell,".to_owned(), column: 4 };
        for (value, problem) in [
            (Some(0), number(0)),
            (Some(5), number(5)),
            (Some(0xFFE), number(0xFFE)),
            (Some(0xFFF), other()),
            (Some(u32::MAX), other()),
            (None, other()),
        ] {
            let line = format!("12.{}............", unwritable_value(value));
            let read = read_line(&format, line.as_bytes(), &mut Grid::empty(format.order()));
            assert_eq!(read, Err(problem), "{value:?}");
            let mut copy = Vec::new();
            copy_line(line.as_bytes(), &mut copy);
            assert_eq!(copy, b"12.!............\n");
        }
        let mut copy = Vec::new();
        copy_line("\u{10EFFF}\u{100000}é\u{10FFFF}".as_bytes(), &mut copy);
        assert_eq!(copy, "\u{10EFFF}\u{100000}é!\n".as_bytes());
        // Shift-JIS, and a line of nothing behind it.
        let japanese = b"12....1.........,\"\x96\xF4\x8F\xDC\",\xF4\x8F,7";
        copy.clear();
        copy_line(japanese, &mut copy);
        copy_line(b"", &mut copy);
        copy_line(b"x\n", &mut copy);
        assert_eq!(copy, [japanese, &b"\n\nx\n"[..]].concat());
    }

    #[test]
    fn a_part_of_a_line_knows_its_place() {
        let line = b"abcdef";
        assert_eq!((offset(line, &line[..2]), offset(line, &line[4..]), offset(line, &line[6..])), (0, 4, 6));
    }
}
