//! Fields of comma-separated values.

use std::borrow::Cow;

use crate::text::unescape_quotes;

/// Where in a text a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    begin: usize,
    end: usize,
    /// Whether it has quotes around it, and perhaps doubled ones in it.
    is_quoted: bool,
}

impl Span {
    /// The content.
    pub(super) fn bytes(self, text: &[u8]) -> Cow<'_, [u8]> {
        let inner = &text[self.begin..self.end];
        if self.is_quoted { unescape_quotes(&inner[1..inner.len() - 1]) } else { Cow::Borrowed(inner) }
    }

    /// The content as a text, if there is any. What is not UTF-8 becomes replacement characters,
    /// because readers refuse other text.
    pub(super) fn value(self, text: &[u8]) -> Option<Cow<'_, [u8]>> {
        let bytes = self.bytes(text);
        if bytes.is_empty() && !self.is_quoted {
            return None;
        }
        Some(match std::str::from_utf8(&bytes) {
            Ok(_) => bytes,
            Err(_) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned().into_bytes()),
        })
    }

    /// The content as a value of a type, if it is one.
    pub(super) fn parsed<T: std::str::FromStr>(self, text: &[u8]) -> Option<T> {
        std::str::from_utf8(&self.bytes(text)).ok()?.parse().ok()
    }
}

/// Finds the fields of the row at `begin`, and returns the beginning of the next row.
pub(super) fn row(text: &[u8], begin: usize, fields: &mut Vec<Span>) -> usize {
    fields.clear();
    let line_end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |end| begin + end);
    let end = if text[begin..line_end].ends_with(b"\r") { line_end - 1 } else { line_end };
    let mut at = begin;
    loop {
        let closing = if text[at..end].starts_with(b"\"") { closing_quote(text, at, end) } else { None };
        let from = closing.map_or(at, |closing| closing + 1);
        let field_end = memchr::memchr(b',', &text[from..end]).map_or(end, |comma| from + comma);
        // White space behind the quotes belongs to a field that is not quoted as a whole.
        let is_quoted = closing.is_some_and(|closing| closing + 1 == field_end);
        fields.push(Span { begin: at, end: field_end, is_quoted });
        if field_end == end {
            break;
        }
        at = field_end + 1;
    }
    (line_end + 1).min(text.len())
}

/// The place of the quote that closes the one at `open`.
fn closing_quote(text: &[u8], open: usize, end: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        let quote = at + memchr::memchr(b'"', &text[at..end])?;
        if text[..end].get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}
