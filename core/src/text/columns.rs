//! Columns of tables: fields as they are written, and rows whose solution is right.

use std::borrow::Cow;
use std::ops::Range;

use super::alphabet::Shortcut;
use super::lines::{offset, read_digits, read_digits_and_dots};
use super::table::{Columns, Delimiter, has_open_quotes};
use super::{MAX_LINE_BYTES, Records};
use crate::grid::keeps_rules_9x9;

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

/// [`Records::read_solved_9x9`] for a table.
#[inline(always)]
pub(super) fn read_solved_9x9<'a>(records: &mut Records<'a>, puzzle: &mut [u8; 81]) -> Option<&'a [u8]> {
    let format = records.format;
    let first = *records.text.first()?;
    // White space and `#` may begin a line that is no row.
    if first == b'#' || first.is_ascii_whitespace() {
        return None;
    }
    let end = memchr::memchr(b'\n', records.text)?;
    let row = &records.text[..end];
    if row.len() >= MAX_LINE_BYTES {
        return None;
    }
    let Columns { delimiter: Delimiter::Byte(delimiter), puzzle: at, solution: Some(beside) } =
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
    records.text = &records.text[end + 1..];
    records.line += 1;
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
mod tests {
    use super::*;
    use crate::text::raw_fields;

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
