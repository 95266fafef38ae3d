//! Lines as every layout sees them: pieces of a text, what a line is that is no cells, and the parts of
//! a line.

use std::borrow::Cow;

use super::signs::{flat, has_word, is_alphanumeric, is_letter, trimmed};

/// A line of a view.
pub(super) struct Line<'a> {
    /// Its [flat] text.
    pub(super) text: Cow<'a, [u8]>,
    /// The line of the text on which it begins, from 0.
    pub(super) number: u32,
    /// The characters of that line before it.
    pub(super) column: usize,
    /// The offset in the text behind it, and behind the end of that line if it is the last of it.
    pub(super) end: usize,
}

/// What a line is, apart from its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No letter and no digit: a separator.
    Separator,
    /// The beginning of a comment.
    Comment,
    /// Words.
    Words,
    /// Anything else.
    Unexplained,
}

/// What we write in the place of a bad puzzle.
const BAD: &[u8] = b"!";

/// What a line is that is no cells.
pub(super) fn kind(line: &[u8]) -> Kind {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    if !line.iter().any(|byte| is_alphanumeric(*byte) || is_control(byte)) && line.trim_ascii() != BAD {
        Kind::Separator
    } else if begins_comment(line) {
        Kind::Comment
    } else if has_word(line) || is_label(line) {
        Kind::Words
    } else {
        Kind::Unexplained
    }
}

/// Whether a line is a number by itself, of a puzzle or how many there are.
pub(super) fn is_number(line: &[u8]) -> bool {
    const MOST_DIGITS: usize = 4;
    let line = line.trim_ascii();
    (1..=MOST_DIGITS).contains(&line.len()) && line.iter().all(u8::is_ascii_digit)
}

/// Whether a line is a date, or a size such as `9x9`, so that its digits are no cells.
pub(super) fn is_label(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let are_numbers = |parts: &[&[u8]]| {
        parts.iter().all(|part| (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_digit))
    };
    let is_date = |separator: u8| {
        let parts: Vec<&[u8]> = line.split(|&byte| byte == separator).collect();
        parts.len() == 3 && are_numbers(&parts) && parts.iter().any(|part| part.len() == 4)
    };
    let sides: Vec<&[u8]> = line.split(|byte| b"xX*".contains(byte)).map(<[u8]>::trim_ascii).collect();
    sides.len() == 2 && are_numbers(&sides) || [b'-', b'/', b'.'].into_iter().any(is_date)
}

fn begins_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_tag = |open: u8, close: u8| {
        let name = line.strip_prefix(&[open]).and_then(|rest| rest.strip_suffix(&[close]));
        let name = name.map(|name| name.strip_prefix(b"/").unwrap_or(name));
        name.is_some_and(|name| !name.is_empty() && name.iter().all(|&b| b == b'_' || is_alphanumeric(b)))
    };
    let is_before_space = |mark: &[u8]| {
        line.strip_prefix(mark).is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
    };
    matches!(line, [b'#' | b'%' | b';', ..] | [b'/', b'/' | b'*', ..])
        || line.starts_with(b"```")
        || is_before_space(b"--")
        || is_before_space(b"*")
        || is_tag(b'[', b']')
        || is_tag(b'<', b'>')
}

/// A line without a remark at its end, which begins with no symbol of cells.
pub(super) fn without_remark(line: &[u8], is_symbol: impl Fn(u8) -> bool) -> &[u8] {
    let begins = |at: usize| match &line[at..] {
        [b'#' | b'%', ..] | [b'/', b'/', ..] | [b'<', b'-', ..] => true,
        [b'-', b'-', rest @ ..] => rest.trim_ascii_start().first().is_some_and(|&byte| is_letter(byte)),
        _ => false,
    };
    let is_start = |at: usize| at == 0 || line[at - 1].is_ascii_whitespace();
    match (0..line.len()).find(|&at| is_start(at) && begins(at) && !is_symbol(line[at])) {
        Some(at) => line[..at].trim_ascii_end(),
        None => line,
    }
}

/// What stands around cells, and never is one.
pub(super) const fn is_decoration(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\r'
            | b'"'
            | b'\''
            | b'`'
            | b'<'
            | b'>'
            | b'['
            | b']'
            | b'('
            | b')'
            | b'{'
            | b'}'
            | b'+'
            | b'\\'
            | b'&'
    )
}

/// The parts of a row between white space, bars and punctuation.
pub(super) fn pieces(line: &[u8], is_symbol: impl Fn(u8) -> bool) -> Vec<&[u8]> {
    let is_between = |byte: u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'|' | b'!' | b',' | b';' | b':') && !is_symbol(byte)
    };
    let is_around = |byte: u8| is_between(byte) || is_decoration(byte) && !is_symbol(byte);
    let line = trimmed(without_remark(line, &is_symbol), is_around);
    line.split(|&byte| is_between(byte)).filter(|piece| !piece.is_empty()).collect()
}

/// The groups of characters of a row, between white space and bars.
pub(in super::super) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b'|' || byte.is_ascii_whitespace()).filter(|token| !token.is_empty())
}

/// The fields of a row between any of these delimiters; white space for a space, all of it for none.
pub(super) fn fields<'a>(line: &'a [u8], delimiters: &[u8]) -> Vec<&'a [u8]> {
    match *delimiters {
        [] => vec![line],
        [b' '] => line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect(),
        [delimiter] if matches!(delimiter, b',' | b';' | b'\t') && line.contains(&b'"') => {
            quoted_fields(line, delimiter)
        }
        [delimiter] => line.split(|&byte| byte == delimiter).collect(),
        _ => line.split(|byte| delimiters.contains(byte)).collect(),
    }
}

/// The fields of a row, some of which are in quotes that may have the delimiter in them.
fn quoted_fields(line: &[u8], delimiter: u8) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let quotes = rest.first() == Some(&b'"');
        let closing =
            |at: &usize| rest[*at] == b'"' && rest.get(at + 1).is_none_or(|&next| next == delimiter);
        let behind = if quotes { (1..rest.len()).find(closing).map_or(0, |at| at + 1) } else { 0 };
        match rest[behind..].iter().position(|&byte| byte == delimiter) {
            Some(end) => {
                fields.push(&rest[..behind + end]);
                rest = &rest[behind + end + 1..];
            }
            None => {
                fields.push(rest);
                return fields;
            }
        }
    }
}

/// A field without quotes and white space around it. A quote by itself is no empty field.
pub(super) fn unquoted(field: &[u8]) -> &[u8] {
    within(field, |byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''))
}

/// A field without what stands around it. A quote by itself is no empty field.
pub(super) fn within(field: &[u8], is_around: impl Fn(u8) -> bool) -> &[u8] {
    match field.trim_ascii() {
        quote @ [b'"' | b'\''] => quote,
        field => trimmed(field, is_around),
    }
}

/// Whether these are the names of columns or rows: `1..n`, `0..n-1`, `A..`, `c1..`.
pub(super) fn are_names(parts: &[&[u8]]) -> bool {
    let parts: Vec<&[u8]> = parts.iter().map(|part| unquoted(part)).filter(|part| !part.is_empty()).collect();
    if parts.len() < 4 {
        return false;
    }
    // `c1`, `col 1`, `column_1`.
    let number = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let rest = &part[letters..];
        let digits = match rest {
            [b' ' | b'_', digits @ ..] if letters > 0 => digits,
            digits => digits,
        };
        let is_number = (1..4).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| digits.iter().fold(0_u32, |number, digit| 10 * number + u32::from(digit - b'0')))
    };
    // The first may be the name of the column of names.
    let start =
        parts.iter().position(|part| number(part).is_some() || part.len() == 1).unwrap_or(parts.len());
    // Behind them may be the names of other columns.
    let end = parts.iter().rposition(|part| number(part).is_some()).map_or(start, |last| last + 1);
    let others = parts.get(end.max(start)..).unwrap_or_default();
    let end = if others.iter().all(|name| has_word(name)) { end.max(start) } else { parts.len() };
    let numbers: Option<Vec<u32>> = parts[start..end].iter().map(|part| number(part)).collect();
    if let Some(numbers) = numbers.filter(|numbers| numbers.len() > 3) {
        let follows = |pair: &[u32]| pair[1] == pair[0] + 1 || pair[0] > 2 && pair[1] < 2;
        return numbers[0] < 2 && numbers.windows(2).all(follows);
    }
    parts.len() <= 25 && parts.iter().zip(b'a'..).all(|(part, letter)| part.eq_ignore_ascii_case(&[letter]))
}

/// The lines of a text as they are.
pub(super) fn plain_lines(text: &[u8]) -> Vec<Line<'_>> {
    let (mut lines, mut start) = (Vec::with_capacity(text.len() / 16), 0);
    let mut add = |from: usize, to: usize, end: usize| {
        let line = &text[from..to];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let number = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        lines.push(Line { text: flat(line), number, column: 0, end });
    };
    for newline in memchr::memchr_iter(b'\n', text) {
        add(start, newline, newline + 1);
        start = newline + 1;
    }
    if start < text.len() {
        add(start, text.len(), text.len());
    }
    lines
}
