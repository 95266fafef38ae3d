//! HTML and XML as lines: what stands between tags, and the values of attributes.

use std::borrow::Cow;

use super::facts::Line;
use super::signs::flat;

/// The shortest value of an attribute that may be a puzzle.
const LEAST_VALUE: usize = 16;

/// Whether a text has tags.
pub(super) fn is_markup(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"</").is_some() || memchr::memmem::find(text, b"/>").is_some()
}

/// The texts between the tags of HTML and XML, with tabs between the cells of a row, and the values of
/// their attributes.
pub(super) fn markup_lines(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut content = Vec::new();
    let (mut number, mut start_number) = (0_u32, 0_u32);
    let mut at = 0;
    while at < text.len() {
        let border = cell_border(&text[at..]);
        let tag = if border.is_none() && text[at] == b'<' { tag_length(&text[at..]) } else { None };
        let length = border.or(tag).unwrap_or(1);
        let part = &text[at..at + length];
        at += length;
        let newlines = u32::try_from(memchr::memchr_iter(b'\n', part).count()).unwrap_or(0);
        if border.is_some() {
            content.push(b'\t');
        } else if tag.is_some() || part == b"\n" {
            push_line(&mut lines, &std::mem::take(&mut content), start_number, at);
            for value in values(part).into_iter().filter(|value| value.len() >= LEAST_VALUE) {
                if let Some(cells) = cells_of_value(value) {
                    push_line(&mut lines, &cells, number, at);
                }
            }
            start_number = number + newlines;
        } else {
            content.push(part[0]);
        }
        number += newlines;
    }
    push_line(&mut lines, &content, start_number, text.len());
    lines
}

fn push_line(lines: &mut Vec<Line<'_>>, content: &[u8], number: u32, end: usize) {
    lines.push(Line { text: Cow::Owned(flat(content).into_owned()), number, column: 0, end });
}

/// Whether a text may be cut before the tag that begins here: rows of tables are not cut.
pub(super) fn may_be_cut(tag: &[u8]) -> bool {
    let name = tag.get(1..4).unwrap_or_default();
    let name = name.strip_prefix(b"/").unwrap_or(name);
    name.len() > 1 && !matches!(name, [b't', b'd' | b'h', ..])
}

/// The length of the end of a cell of a table and the beginning of the next one.
fn cell_border(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"</td>").or_else(|| text.strip_prefix(b"</th>"))?;
    let next = rest.trim_ascii_start();
    let tag = next.strip_prefix(b"<td").or_else(|| next.strip_prefix(b"<th"))?;
    let end = memchr::memchr(b'>', tag)?;
    Some(text.len() - (tag.len() - end - 1))
}

/// The length of the tag or comment that begins here. `None` if its end is not there.
///
/// No attribute has a `<`, so there a tag ends that has lost its `>` or a quote.
fn tag_length(text: &[u8]) -> Option<usize> {
    if text.starts_with(b"<!--") {
        return memchr::memmem::find(text, b"-->").map(|end| end + 3);
    }
    let mut quote = None;
    for (at, &byte) in text.iter().enumerate().skip(1) {
        match (byte, quote) {
            (b'>', None) => return Some(at + 1),
            (b'<', _) => return Some(at),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// The values of the attributes of a tag; of one that has lost a quote its words.
fn values(tag: &[u8]) -> Vec<&[u8]> {
    let quotes = tag.iter().filter(|byte| b"\"'".contains(byte)).count();
    if !tag.starts_with(b"<!--") && quotes % 2 > 0 {
        return tag.split(|byte| byte.is_ascii_whitespace() || b"\"'=<>".contains(byte)).collect();
    }
    let mut rest = if tag.starts_with(b"<!--") { &[][..] } else { tag };
    std::iter::from_fn(move || {
        let behind = rest.get(memchr::memchr(b'=', rest)? + 1..)?.trim_ascii_start();
        let quote = *behind.first().filter(|quote| matches!(quote, b'"' | b'\''))?;
        let end = memchr::memchr(quote, &behind[1..])?;
        rest = &behind[end + 2..];
        Some(&behind[1..=end])
    })
    .collect()
}

/// The cells of a value that may be a puzzle: as they are, or, of a game of OpenSudoku that is being
/// played, its clues only.
///
/// Such a game is `version: 2`, a line end, and for each cell its value, its notes and whether it can be
/// changed, each with a `|` behind it. Later versions have notes of two kinds.
fn cells_of_value(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !value.starts_with(b"version") {
        let is_link = value.iter().any(|byte| byte.is_ascii_whitespace() || b"/:=".contains(byte));
        return (!is_link).then_some(Cow::Borrowed(value));
    }
    let begin = value.iter().position(|&byte| byte == b'\n' || byte == b'&')?;
    let cells = value[begin..].strip_prefix(b"&#10;").unwrap_or(&value[begin..]).trim_ascii();
    let fields: Vec<&[u8]> = cells.strip_suffix(b"|").unwrap_or(cells).split(|&byte| byte == b'|').collect();
    // Every cell has three fields, or four.
    let Some(width) = (3..=4).find(|width| fields.len() == 81 * width) else {
        // No cells of any puzzle, so that there is an answer: an error.
        return Some(Cow::Owned(vec![b'.'; 80]));
    };
    let clue = |cell: &[&[u8]]| match (cell[0], cell[width - 1]) {
        ([value], b"0") => *value,
        _ => b'.',
    };
    Some(fields.chunks(width).map(clue).collect())
}
