//! What stands between brackets, of any language, as lines.

use std::borrow::Cow;

use super::super::lines::offset;
use super::facts::{Line, plain_lines};
use super::signs::{flat_offsets, is_alphanumeric, trimmed};

/// A line that is no puzzle by itself.
const LONG_LINE: usize = 4096;

/// Whether as many brackets are closed as are opened, or more than one is where a text goes on.
pub(super) fn has_brackets(text: &[u8]) -> bool {
    let count = |bytes: &[u8]| text.iter().filter(|byte| bytes.contains(byte)).count();
    let (open, closed) = (count(b"[({"), count(b"])}"));
    // All that is there of a long line may be within one.
    let is_one_line = || text.len() > LONG_LINE && memchr::memchr(b'\n', text).is_none();
    open > 0 && (2 * open.abs_diff(closed) <= open || is_one_line())
}

/// A line between the rows of two puzzles.
pub(super) const RULER: &[u8] = b"---";

/// The parts of a text between brackets, and between texts in quotes. Where two brackets are closed, one
/// behind the other, is a ruler: there an array of rows ends.
pub(super) fn bracket_lines(text: &[u8]) -> Vec<Line<'_>> {
    let is_between = |byte: u8| byte.is_ascii_whitespace() || b",;|".contains(&byte);
    let mut lines = Vec::new();
    let (mut line_start, mut has_closed) = (0, false);
    for line in plain_lines(text) {
        let (number, end) = (line.number, line.end);
        let flat = line.text;
        // Where in the text each character of a line is that is not flat by itself.
        let offsets =
            if let Cow::Borrowed(_) = flat { Vec::new() } else { flat_offsets(&text[line_start..end]) };
        let offset_of = |at: usize| line_start + offsets.get(at).copied().unwrap_or(at);
        let mut start = 0;
        let mut add = |start: usize, at: usize, opens: bool, closes: bool, end: usize| {
            let part = &flat[start..at];
            // What makes an array of what follows is none of it: `vec!`, `new int`, `Arrays.asList`.
            let is_name =
                |byte: &u8| byte.is_ascii_alphabetic() || is_between(*byte) || b"_.!:".contains(byte);
            let is_before_open = flat.get(at).is_some_and(|byte| b"[({".contains(byte));
            // Commas alone within brackets are a row of JavaScript that is all holes.
            let is_hole = opens && closes && part.contains(&b',');
            let is_empty = !is_hole && part.iter().all(|byte| is_between(*byte))
                || is_before_open && part.iter().all(is_name);
            let text = if is_empty && closes && has_closed {
                RULER
            } else if is_empty {
                &[]
            } else if opens || closes || !part.iter().any(|byte| is_alphanumeric(*byte)) {
                part.trim_ascii()
            } else {
                // What stands between two arrays.
                trimmed(part, |byte| is_between(byte) || b"\"'".contains(&byte))
            };
            has_closed = closes || is_empty && has_closed && !opens;
            // Nothing between brackets is no line, but an empty line is one.
            if text.is_empty() && !flat.is_empty() {
                return;
            }
            let column = if is_empty || text.is_empty() { start } else { start + offset(part, text) };
            lines.push(Line { text: Cow::Owned(text.to_vec()), number, column, end });
        };
        let mut opens = false;
        for at in 0..flat.len() {
            let byte = flat[at];
            let closes = b"])}".contains(&byte);
            let is_between_texts =
                || byte == b',' && is_behind_text(&flat[start..at]) && begins_text(&flat[at + 1..]);
            if closes || b"[({".contains(&byte) || is_between_texts() {
                add(start, at, opens, closes, offset_of(at + 1));
                start = at + 1;
                opens = !closes && byte != b',';
            }
        }
        add(start, flat.len(), opens, false, end);
        line_start = end;
    }
    lines
}

/// Where a text of brackets may be cut: behind lines and closed brackets, and between texts of which the next
/// one is no solution.
pub(super) fn bracket_borders(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let is_blank = |byte: &u8| b".0".contains(byte);
    let may_be_cut = move |at: usize| match text[at] {
        b'\n' | b']' | b')' | b'}' => true,
        b',' if matches!(text[..at].trim_ascii_end().last(), Some(b'"' | b'\'')) => {
            let behind = text[at + 1..].trim_ascii_start();
            let end = behind.iter().skip(1).position(|byte| behind.first() == Some(byte));
            begins_text(behind) && end.is_some_and(|end| behind[1..=end].iter().any(is_blank))
        }
        _ => false,
    };
    (from..text.len()).filter(move |&at| may_be_cut(at)).map(|at| at + 1)
}

fn begins_text(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), Some(b'"' | b'\''))
}

/// Whether a text in quotes ends here that is longer than a cell.
fn is_behind_text(text: &[u8]) -> bool {
    const LONGEST_CELL: usize = 2;
    match text.trim_ascii_end().split_last() {
        Some((quote @ (b'"' | b'\''), text)) => text
            .iter()
            .rposition(|byte| byte == quote)
            .is_some_and(|open| text.len() - open - 1 > LONGEST_CELL),
        _ => false,
    }
}
