//! HTML and XML as lines: what stands between tags, and the values of attributes.

use std::borrow::Cow;

use super::super::table::LEAST_CELLS;
use super::brackets::RULER;
use super::facts::Line;
use super::signs::flat;

/// Whether a text has tags.
pub(super) fn is_markup(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"</").is_some() || memchr::memmem::find(text, b"/>").is_some()
}

/// The texts between the tags of HTML and XML, with tabs between the cells of a row and a ruler behind
/// each table, and the values of their attributes.
pub(super) fn markup_lines(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut content = Vec::new();
    let (mut number, mut start_number) = (0_u32, 0_u32);
    let (mut at, mut has_tag) = (0, false);
    while at < text.len() {
        let border = cell_border(&text[at..]);
        let tag = if border.is_none() && text[at] == b'<' { tag_length(&text[at..]) } else { None };
        let length = border.or(tag).unwrap_or(1);
        let part = &text[at..at + length];
        at += length;
        let newlines = u32::try_from(memchr::memchr_iter(b'\n', part).count()).unwrap_or(0);
        if border.is_some() {
            content.push(b'\t');
        } else if tag.is_some_and(|_| is_inline(part)) {
            // Nothing of the line.
        } else if let Some(length) = space(&text[at - length..]) {
            content.push(b' ');
            at += length - 1;
        } else if tag.is_some() || part == b"\n" {
            // Tags with nothing between them are no line, but an empty line is one.
            let content = std::mem::take(&mut content);
            let is_nothing = content.iter().all(|byte| b" \r".contains(byte));
            has_tag |= tag.is_some();
            if !is_nothing || !has_tag {
                push_line(&mut lines, &content, start_number, at);
            }
            has_tag &= tag.is_some();
            if part.starts_with(b"</table") {
                push_line(&mut lines, RULER, number, at);
            }
            for cells in attributes(part).into_iter().filter_map(cells_of) {
                push_line(&mut lines, &cells, number, at);
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
    let begins = |text: &[u8], tags: [&[u8]; 2]| {
        let is_one =
            |tag: &&&[u8]| text.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
        tags.iter().find(is_one).map(|tag| tag.len())
    };
    let rest = &text[begins(text, [b"</td>", b"</th>"])?..];
    let next = rest.trim_ascii_start();
    let tag = &next[begins(next, [b"<td", b"<th"])?..];
    let end = memchr::memchr(b'>', tag)?;
    Some(text.len() - (tag.len() - end - 1))
}

/// The length of a space that is written as a character of its own.
fn space(text: &[u8]) -> Option<usize> {
    [&b"&nbsp;"[..], b"&#160;"].into_iter().find(|space| text.starts_with(space)).map(<[u8]>::len)
}

/// Whether a tag is within a line: of characters that look otherwise.
fn is_inline(tag: &[u8]) -> bool {
    const NAMES: [&[u8]; 10] =
        [b"a", b"b", b"code", b"em", b"font", b"i", b"small", b"span", b"strong", b"u"];
    let name = tag.get(1..).unwrap_or_default();
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let name = &name[..name.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(name.len())];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
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

/// The attributes of a tag, each with its name; of one that has lost a quote its words.
fn attributes(tag: &[u8]) -> Vec<(&[u8], &[u8])> {
    if tag.starts_with(b"<!--") {
        return Vec::new();
    }
    if tag.iter().filter(|byte| b"\"'".contains(byte)).count() % 2 > 0 {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'=<>".contains(byte);
        return tag.split(is_between).map(|word| (&[][..], word)).collect();
    }
    let mut rest = tag;
    std::iter::from_fn(move || {
        let (before, behind) = rest.split_at(memchr::memchr(b'=', rest)?);
        let value = behind[1..].trim_ascii_start();
        let quote = *value.first().filter(|quote| matches!(quote, b'"' | b'\''))?;
        let end = memchr::memchr(quote, &value[1..])?;
        rest = &value[end + 2..];
        let name = before.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        Some((name, &value[1..=end]))
    })
    .collect()
}

/// What stands for a puzzle that is lost: so many cells no puzzle has.
const LOST: [u8; 80] = [b'.'; 80];

/// The cells of an attribute that may be a puzzle. The `data` of OpenSudoku always is one.
fn cells_of((name, value): (&[u8], &[u8])) -> Option<Vec<u8>> {
    let is_link = || value.iter().any(|byte| byte.is_ascii_whitespace() || b"/:=".contains(byte));
    if name == b"data" {
        let cells = match value.strip_prefix(b"version") {
            Some(game) => clues(game),
            None => Some(value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()),
        };
        return Some(
            cells.filter(|cells: &Vec<u8>| cells.len() >= LEAST_CELLS).unwrap_or_else(|| LOST.to_vec()),
        );
    }
    (value.len() >= LEAST_CELLS && !is_link()).then(|| value.to_vec())
}

/// The clues of a game that is being played: behind its version and a line end for each cell its value, its
/// notes, of two kinds in later versions, and whether it can be changed, each with a `|` behind it.
fn clues(game: &[u8]) -> Option<Vec<u8>> {
    let begin = game.iter().position(|&byte| byte == b'\n' || byte == b'&')?;
    let cells = game[begin..].strip_prefix(b"&#10;").unwrap_or(&game[begin..]).trim_ascii();
    let fields: Vec<&[u8]> = cells.strip_suffix(b"|").unwrap_or(cells).split(|&byte| byte == b'|').collect();
    let width = (3..=4).find(|width| fields.len() == 81 * width)?;
    let clue = |cell: &[&[u8]]| match (cell[0], cell[width - 1]) {
        ([value @ b'0'..=b'9'], b"0") => Some(*value),
        ([b'0'..=b'9'], b"1") => Some(b'.'),
        _ => None,
    };
    fields.chunks(width).map(clue).collect()
}
