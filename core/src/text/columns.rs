//! `csv`: rows of tables, their fields as they are written, and rows whose solution is right.

use std::borrow::Cow;
use std::ops::Range;

use super::alphabet::{INVALID, Shortcut};
use super::lines::{
    given_solution, is_no_puzzle, offset, read_cells, read_digits, read_digits_and_dots, read_plain_cells,
};
use super::table::{Columns, Delimiter, fields, has_open_quotes};
use super::{MAX_LINE_BYTES, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, keeps_rules_9x9};

/// Reads the next row.
pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    let columns = format.columns;
    loop {
        let (line, number) = records.take_line()?;
        if is_no_puzzle(line) {
            continue;
        }
        let (mut cells, mut given) = (&[][..], None);
        let last = columns.puzzle.max(columns.solution.unwrap_or(0));
        let mut row = fields(line, columns.delimiter);
        for (column, field) in row.by_ref().take(last + 1).enumerate() {
            if column == columns.puzzle {
                cells = field;
            } else if Some(column) == columns.solution {
                given = given_solution(field);
            }
        }
        // A line that was cut has lost what closes its quotes.
        let error = match row.open_quotes().filter(|_| line.len() < MAX_LINE_BYTES) {
            Some(open) => Some(Problem::open_quotes(line, offset(line, open))),
            None => read_cells(format, cells, puzzle).err().map(|problem| problem.within(line, cells)),
        };
        return Some(Record {
            line: number,
            given,
            row: line,
            error: error.map(|problem| PuzzleError { problem, line: Some(number) }),
        });
    }
}

/// The range in a text of a row that was read from it.
pub(crate) fn row_within(text: &[u8], row: &[u8]) -> Range<usize> {
    let begin = offset(text, row);
    begin..(begin + row.len()).min(text.len())
}

/// The content of a field: without quotes around it, and with one quote for two between them.
pub(crate) fn unquoted(field: &[u8]) -> Cow<'_, [u8]> {
    let inner = field.trim_ascii().strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    inner.map_or(Cow::Borrowed(field), unescape_quotes)
}

/// The content of what stands between the quotes of a field: one quote for two (RFC 4180).
///
/// ```
/// # use sudoku_core::text::unescape_quotes;
/// assert_eq!(&*unescape_quotes(br#"a ""b"" c"#), br#"a "b" c"#);
/// ```
#[must_use]
pub fn unescape_quotes(inner: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'"', inner).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut text = Vec::with_capacity(inner.len());
    let mut is_second = false;
    for &byte in inner {
        is_second = byte == b'"' && !is_second;
        if !is_second {
            text.push(byte);
        }
    }
    Cow::Owned(text)
}

/// Appends a field, in quotes where RFC 4180 asks for them.
pub(crate) fn write_field(text: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let is_plain = |&byte: &u8| byte != delimiter && !matches!(byte, b'"' | b'\r' | b'\n');
    if text.iter().all(is_plain) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// [`Records::read_plain_9x9`] for a table.
#[expect(clippy::redundant_closure, reason = "a function would be called, without the caller's instructions")]
#[inline(always)]
pub(super) fn read_plain_9x9(records: &mut Records<'_>, digits: &mut [u8]) -> usize {
    read_rows_9x9(
        records,
        digits,
        #[inline(always)]
        |records, digits| read_plain_row_9x9(records, digits),
    )
}

/// [`Records::read_plain_9x9`] for rows that `read_row` reads and skips, a closure that is always
/// inlined.
#[inline(always)]
pub(super) fn read_rows_9x9(
    records: &mut Records<'_>,
    digits: &mut [u8],
    read_row: impl Fn(&mut Records<'_>, &mut [u8; 81]) -> Option<()>,
) -> usize {
    let mut count = 0;
    for digits in digits.as_chunks_mut().0 {
        if read_row(records, digits).is_none() {
            break;
        }
        count += 1;
    }
    count
}

/// Reads the next row, if it has no quotes and its puzzle is plain. If not, the digits are
/// unspecified.
#[inline(always)]
fn read_plain_row_9x9(records: &mut Records<'_>, digits: &mut [u8; 81]) -> Option<()> {
    let format = records.format;
    let Columns { delimiter: Delimiter::Byte(delimiter), puzzle, .. } = format.columns else { return None };
    let is_apart = format.codec.decode(delimiter) == INVALID;
    let row = next_row(records).filter(|_| is_apart)?;
    if memchr::memchr(b'"', row).is_some() {
        return None;
    }
    let mut fields = row.strip_suffix(b"\r").unwrap_or(row);
    for _ in 0..puzzle {
        fields = &fields[memchr::memchr(delimiter, fields)? + 1..];
    }
    let (cells, behind) = fields.split_first_chunk()?;
    let is_field = behind.first().is_none_or(|&byte| byte == delimiter);
    if !(is_field && read_plain_cells(format, cells, digits)) {
        return None;
    }
    records.skip_line(row);
    Some(())
}

/// The next line without its newline, if it is short and surely a row: white space and `#` may begin
/// one that is none.
#[inline(always)]
pub(super) fn next_row<'a>(records: &Records<'a>) -> Option<&'a [u8]> {
    let first = *records.text.first()?;
    if first == b'#' || first.is_ascii_whitespace() {
        return None;
    }
    let row = &records.text[..memchr::memchr(b'\n', records.text)?];
    (row.len() < MAX_LINE_BYTES).then_some(row)
}

/// [`Records::read_solved_9x9`] for a table.
#[inline(always)]
pub(super) fn read_solved_9x9<'a>(records: &mut Records<'a>, puzzle: &mut [u8; 81]) -> Option<&'a [u8]> {
    let format = records.format;
    let row = next_row(records)?;
    let Columns { delimiter: Delimiter::Byte(delimiter), puzzle: at, solution: Some(beside), .. } =
        format.columns
    else {
        return None;
    };
    let fields = row.strip_suffix(b"\r").unwrap_or(row);
    let [cells, given] = pair(fields, delimiter, [at, beside])?;
    let mut solution = [0; 81];
    let is_read = match format.codec.shortcut {
        Shortcut::None | Shortcut::Table => false,
        Shortcut::Digits | Shortcut::DigitsAndDots => {
            read_digits_and_dots(given, &mut solution)
                && (read_digits_and_dots(cells, puzzle) || read_digits(cells, puzzle))
        }
    };
    if !(is_read && solves_9x9(&solution, puzzle)) {
        return None;
    }
    records.skip_line(row);
    Some(row)
}

/// Whether the digits are a solution of the puzzle.
#[inline(always)]
fn solves_9x9(solution: &[u8; 81], puzzle: &[u8; 81]) -> bool {
    let mut bad = 0;
    for (&digit, &clue) in solution.iter().zip(puzzle) {
        bad |= u8::from(digit == 0) | (u8::from(clue != 0) & u8::from(clue != digit));
    }
    bad == 0 && keeps_rules_9x9(solution)
}

/// The two fields of these columns, if both have 81 bytes and no quotes among or before them but
/// around whole fields, and none behind them that are not closed.
#[inline(always)]
fn pair(row: &[u8], delimiter: u8, [puzzle, solution]: [usize; 2]) -> Option<[&[u8; 81]; 2]> {
    let (mut cells, mut given) = (None, None);
    let mut rest = row;
    for column in 0..=puzzle.max(solution) {
        let field;
        (field, rest) = split_field(rest, delimiter)?;
        if column == puzzle {
            cells = field.try_into().ok();
        } else if column == solution {
            given = field.try_into().ok();
        }
    }
    let has_more_quotes = memchr::memchr(b'"', rest).is_some();
    if has_more_quotes && has_open_quotes(rest, Delimiter::Byte(delimiter)) {
        return None;
    }
    Some([cells?, given?])
}

/// The first field without the quotes around it, and the fields behind it. `None` for quotes
/// elsewhere.
#[inline(always)]
fn split_field(row: &[u8], delimiter: u8) -> Option<(&[u8], &[u8])> {
    if let Some(quoted) = row.strip_prefix(b"\"") {
        let (field, rest) = quoted.split_at(memchr::memchr(b'"', quoted)?);
        return match rest.get(1) {
            None => Some((field, &[])),
            Some(&behind) if behind == delimiter => Some((field, &rest[2..])),
            Some(_) => None,
        };
    }
    match memchr::memchr2(delimiter, b'"', row) {
        None => Some((row, &[])),
        Some(end) if row[end] == delimiter => Some((&row[..end], &row[end + 1..])),
        Some(_) => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::grid::{Grid, Order};
    use crate::text::{Format, Notation, raw_fields};

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn fields_are_split_as_they_are_written() {
        let fields = |row: &'static str| -> Vec<&str> {
            raw_fields(row.as_bytes(), Delimiter::SEMICOLON).map(text).collect()
        };
        let row = "a; b ;\"c;d\" ;\"\";e,f;5\" disk";
        assert_eq!(fields(row), ["a", " b ", "\"c;d\" ", "\"\"", "e,f", "5\" disk"]);
        assert_eq!(fields(""), [""]);
    }

    #[test]
    fn a_field_that_is_written_is_read_back() {
        for field in ["", "plain", " spaces ", "a,b", r#"say "yes""#, "\"", "\"\"", "two\nlines", "\r"] {
            let mut written = Vec::new();
            write_field(field.as_bytes(), b',', &mut written);
            assert_eq!(unquoted(&written), field.as_bytes(), "{}", text(&written));
            let row = [&written[..], b",next"].concat();
            let fields: Vec<&[u8]> = raw_fields(&row, Delimiter::COMMA).collect();
            assert_eq!(fields, [&written[..], b"next"]);
        }
        let mut tabbed = Vec::new();
        write_field(b"a,b", b'\t', &mut tabbed);
        assert_eq!(tabbed, b"a,b");
        assert_eq!(text(&unquoted(b" \"a\" ")), "a");
        assert_eq!(text(&unquoted(b"\"")), "\"");
    }

    #[test]
    fn rows_that_are_read_at_once_are_those_that_are_read_one_by_one() {
        let cells = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
        let (zeros, other) = (cells.replace('.', "0"), "987654321".repeat(9));
        let rows = [
            (format!("7;{cells};{other};x"), true),
            (format!("7;{zeros}\r"), true),
            (format!(";{cells};"), true),
            (format!("7 ;{cells};\t 5 {other}"), true),
            // These are read one by one, or are no rows.
            (format!("7;\"{cells}\";{other}"), false),
            (format!("7;{cells};5\" disk"), false),
            (format!("7; {cells};{other}"), false),
            (format!("7;{};{other}", &cells[1..]), false),
            (format!("7;{cells}5;{other}"), false),
            (format!("7;{};{other}", cells.replace('9', "x")), false),
            (format!("7,{cells},{other}"), false),
            (format!("7;{}", "é".repeat(81)), false),
            (format!("7;{cells};{}", "x".repeat(MAX_LINE_BYTES)), false),
            (format!(" 7;{cells};{other}"), false),
            (format!("# 7;{cells};{other}"), false),
            (String::new(), false),
            (cells.to_owned(), false),
            ("7;".to_owned(), false),
        ];
        let format = |symbols: &str| {
            let mut format = Format::new(Notation::Csv, Order::NINE, symbols.parse().unwrap()).unwrap();
            format.columns = Columns {
                delimiter: Delimiter::SEMICOLON,
                puzzle: 1,
                solution: Some(2),
                ..Columns::default()
            };
            format
        };
        for (row, is_plain) in &rows {
            assert_eq!(is_read_at_once(&format("letters"), row), *is_plain, "{row}");
        }
        for row in [&rows[0].0, &rows[1].0] {
            check_all_changes(&format("letters"), row, b" #\t\r\n,;\"\\.0x95-\xC3");
        }
        // Where the delimiter is a value, the fields are not known from the cells.
        assert!(!is_read_at_once(&format("12345678;"), format!("7;{}", cells.replace('9', ";"))));
    }

    /// Whether a line is read at once, in which case it is checked that it is read one by one alike.
    pub(in crate::text) fn is_read_at_once(format: &Format, line: impl AsRef<[u8]>) -> bool {
        let (mut digits, mut puzzle) = ([0; 81], Grid::empty(Order::NINE));
        let text = [line.as_ref(), b"\nnext"].concat();
        let mut fast = Records::new(format, &text, 4);
        let is_read = fast.read_plain_9x9(&mut digits) == 1;
        if is_read {
            let mut slow = Records::new(format, &text, 4);
            let shown = String::from_utf8_lossy(line.as_ref());
            assert_eq!(slow.read(&mut puzzle).unwrap().error, None, "{shown}");
            assert_eq!((slow.rest(), slow.line()), (fast.rest(), fast.line()), "{shown}");
            assert_eq!(puzzle.digits(), digits, "{shown}");
        }
        is_read
    }

    /// Checks a line with each of its bytes replaced by each of some, left out and written twice.
    pub(in crate::text) fn check_all_changes(format: &Format, line: &str, bytes: &[u8]) {
        for at in 0..line.len() {
            let (before, behind) = line.as_bytes().split_at(at);
            let (byte, behind) = behind.split_at(1);
            for new in bytes.iter().map(std::slice::from_ref).chain([&[][..], &byte.repeat(2)]) {
                is_read_at_once(format, [before, new, behind].concat());
            }
        }
    }

    #[test]
    fn both_ways_to_split_agree_or_the_fast_one_declines() {
        let cells = "123456789".repeat(9);
        let other = "987654321".repeat(9);
        let rows = [
            (format!("7,{cells},{other},x"), true),
            (format!("\"7\",\"{cells}\",\"{other}\",\"x\""), true),
            (format!("\"7,8\",\"{cells}\",{other}"), true),
            (format!(",{cells},\"{other}\""), true),
            (format!("a\"7\",{cells},{other}"), false),
            (format!("\"7\"b,{cells},{other}"), false),
            (format!("7,{cells}"), false),
            (format!("7, {cells},{other}"), false),
            (format!("7,{cells},{}", &other[1..]), false),
            (format!("7,{cells},\"{other}"), false),
            (format!("7,{cells},{other},5\" disk,\"a\"\"b\""), true),
            (format!("7,{cells},{other},x,\"two"), false),
        ];
        for (row, is_pair) in rows {
            let found = pair(row.as_bytes(), b',', [1, 2]).map(|pair| pair.map(|cells| text(cells)));
            assert_eq!(found, is_pair.then_some([cells.as_str(), other.as_str()]), "{row}");
        }
        let row = format!("{other},7,{cells}");
        assert!(
            pair(row.as_bytes(), b',', [2, 0])
                == Some([&cells, &other].map(|t| t.as_bytes().try_into().unwrap()))
        );
    }
}
