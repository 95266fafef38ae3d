//! Puzzles as members of objects, or items of arrays, in JSON or in the literals of Python.

use std::borrow::Cow;

use super::account::{Fault, Reading, What};
use super::facts::Line;
use super::find::Wanted;
use super::judge::variant_word;
use super::signs::{Cell, Signs, ZERO, flat, weight};
use super::split::is_one_sign;
use super::table::Layout;
use crate::grid::MAX_CELLS;

/// The deepest nesting that is looked into.
const MAX_DEPTH: usize = 32;

/// A value, and where it begins.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) at: usize,
    value: Value<'a>,
}

#[derive(Debug)]
enum Value<'a> {
    Text(Cow<'a, [u8]>),
    /// A number, or a word without quotes: `null`, `None`, `true`.
    Token(&'a [u8]),
    Array(Vec<Node<'a>>),
    Object(Vec<(Cow<'a, [u8]>, Node<'a>)>),
}

/// Reads values.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn skip_space(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.get(self.at) {
            if !byte.is_ascii_whitespace() {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// The value that begins here. `None` if it is none, or is not whole.
    fn value(&mut self, depth: usize) -> Option<Node<'a>> {
        let first = self.skip_space().filter(|_| depth < MAX_DEPTH)?;
        let at = self.at;
        let value = match first {
            b'[' | b'(' => Value::Array(self.items(if first == b'[' { b']' } else { b')' }, depth)?),
            b'{' => Value::Object(self.members(depth)?),
            b'"' | b'\'' => Value::Text(self.text(first)?),
            _ => {
                let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
                let length = self.text[at..].iter().take_while(|byte| is_in(byte)).count();
                self.at += length;
                // What ends with the text may go on.
                (length > 0).then_some(Value::Token(&self.text[at..at + length]))?
            }
        };
        Some(Node { at, value })
    }

    fn items(&mut self, close: u8, depth: usize) -> Option<Vec<Node<'a>>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.skip_space()? {
                byte if byte == close => {
                    self.at += 1;
                    return Some(items);
                }
                // A comma may be behind the last one too.
                b',' if !items.is_empty() => self.at += 1,
                _ => items.push(self.value(depth + 1)?),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Option<Vec<(Cow<'a, [u8]>, Node<'a>)>> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            match self.skip_space()? {
                b'}' => {
                    self.at += 1;
                    return Some(members);
                }
                b',' => self.at += 1,
                quote @ (b'"' | b'\'') => {
                    let name = self.text(quote)?;
                    if self.skip_space()? != b':' {
                        return None;
                    }
                    self.at += 1;
                    members.push((name, self.value(depth + 1)?));
                }
                _ => return None,
            }
        }
    }

    /// The text in quotes that begins here.
    fn text(&mut self, quote: u8) -> Option<Cow<'a, [u8]>> {
        let start = self.at + 1;
        let mut at = start;
        let mut has_escape = false;
        loop {
            match *self.text.get(at)? {
                b'\\' => {
                    has_escape = true;
                    at += 2;
                }
                byte if byte == quote => break,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        let raw = &self.text[start..at];
        Some(if has_escape { Cow::Owned(unescaped(raw)) } else { Cow::Borrowed(raw) })
    }
}

/// A text without its escapes. Of characters by their number only line ends matter to puzzles.
fn unescaped(raw: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n' | b'r' | b't') => text.push(b'\n'),
            Some(&escaped) => text.push(escaped),
            None => {}
        }
    }
    text
}

impl Node<'_> {
    const fn is_nested(&self) -> bool {
        matches!(self.value, Value::Array(_) | Value::Object(_))
    }

    /// Calls `visit` with the path of each value within, the value, and where the object that has it
    /// begins.
    fn walk<'n>(
        &'n self,
        path: &mut Vec<&'n [u8]>,
        parent: usize,
        visit: &mut impl FnMut(&[&[u8]], &'n Self, usize),
    ) {
        visit(path, self, parent);
        match &self.value {
            Value::Array(items) => {
                for item in items {
                    path.push(b"*");
                    item.walk(path, item.at, visit);
                    path.pop();
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    path.push(name);
                    member.walk(path, self.at, visit);
                    path.pop();
                }
            }
            Value::Text(_) | Value::Token(_) => {}
        }
    }

    /// The cells of a value, if it has as many as a puzzle of this size.
    fn cells(&self, side: u8, signs: &Signs) -> Option<Vec<Cell>> {
        let count = usize::from(side).pow(2);
        let sign = |byte: &u8| signs.sign(*byte, side);
        let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'|';
        let cells: Vec<Option<Cell>> = match &self.value {
            Value::Text(text) => {
                flat(text).iter().filter(|byte| !is_space(byte)).map(sign).take(MAX_CELLS + 1).collect()
            }
            Value::Token(_) | Value::Object(_) => return None,
            Value::Array(items) => {
                let is_row = |item: &Node<'_>| matches!(&item.value, Value::Text(text) if text.len() == usize::from(side));
                let is_array = |item: &Node<'_>| matches!(&item.value, Value::Array(row) if row.len() == usize::from(side));
                if !items.is_empty() && items.iter().all(is_array) {
                    let rows = items.iter().filter_map(|item| match &item.value {
                        Value::Array(row) => Some(row),
                        _ => None,
                    });
                    rows.flatten().take(MAX_CELLS + 1).map(|item| item.cell(side, signs)).collect()
                } else if side > 1 && items.iter().all(is_row) {
                    let rows = items.iter().filter_map(|item| match &item.value {
                        Value::Text(row) => Some(row),
                        _ => None,
                    });
                    rows.flat_map(|row| row.iter().map(sign)).take(MAX_CELLS + 1).collect()
                } else {
                    items.iter().take(MAX_CELLS + 1).map(|item| item.cell(side, signs)).collect()
                }
            }
        };
        if cells.len() != count {
            return None;
        }
        let cells: Vec<Cell> = cells.into_iter().collect::<Option<_>>()?;
        is_one_sign(cells.iter().fold(0, |blanks, cell| blanks | cell.blank)).then_some(cells)
    }

    fn cell(&self, side: u8, signs: &Signs) -> Option<Cell> {
        match &self.value {
            Value::Token(b"true" | b"false" | b"True" | b"False") | Value::Array(_) | Value::Object(_) => {
                None
            }
            Value::Token(token) => signs.cell(token, side),
            Value::Text(text) => signs.cell(text.trim_ascii(), side),
        }
    }

    /// The characters of a value.
    fn weight(&self) -> u32 {
        match &self.value {
            Value::Text(text) => weight(text),
            Value::Token(token) => weight(token),
            Value::Array(items) => items.iter().map(|item| item.weight() + 1).sum(),
            Value::Object(members) => {
                members.iter().map(|(name, member)| weight(name) + member.weight() + 2).sum()
            }
        }
    }
}

/// The documents of a text of JSON.
pub(super) struct Documents<'a> {
    /// Each, or `None` for a line that is none, with its number of bytes.
    documents: Vec<(Option<Node<'a>>, usize, u32)>,
    text: &'a [u8],
}

/// The documents that a text is: one, or one on most lines. `None` for other texts.
pub(super) fn documents(text: &[u8], goes_on: bool) -> Option<Documents<'_>> {
    let text = text.trim_ascii_end();
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if !matches!(text[start], b'[' | b'{') {
        return None;
    }
    let mut parser = Parser { text, at: start };
    if let Some(document) = parser.value(0)
        && parser.skip_space().is_none()
    {
        return Some(Documents { documents: vec![(Some(document), start, weight(text))], text });
    }
    let mut documents = Vec::new();
    let (mut at, mut nested) = (0, 0);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let trimmed = line.trim_ascii();
        if !trimmed.is_empty() {
            let end = at + line.trim_ascii_end().len();
            let mut parser = Parser { text: &text[..end], at };
            let document = parser.value(0).filter(|_| matches!(parser.skip_space(), None | Some(b',')));
            nested += usize::from(document.as_ref().is_some_and(Node::is_nested));
            documents.push((document, at, weight(trimmed)));
        }
        at += line.len();
    }
    if 2 * nested > documents.len() {
        return Some(Documents { documents, text });
    }
    if goes_on && text[start] == b'[' {
        let mut parser = Parser { text, at: start + 1 };
        let mut items = Vec::new();
        while let Some(item) = parser.item() {
            items.push(item);
        }
        if items.first().is_some_and(|item| item.is_nested() || matches!(item.value, Value::Text(_))) {
            let end = parser.at;
            let document = Node { at: start, value: Value::Array(items) };
            return Some(Documents { documents: vec![(Some(document), start, weight(&text[..end]))], text });
        }
    }
    None
}

impl<'a> Parser<'a> {
    /// The next item of an array that goes on, with the comma behind it.
    fn item(&mut self) -> Option<Node<'a>> {
        let start = self.at;
        let item = self.value(1).filter(|_| self.skip_space() == Some(b','));
        self.at = if item.is_some() { self.at + 1 } else { start };
        item
    }
}

impl<'a> Documents<'a> {
    /// The documents of a part of a text, or the items of the array that it is, as far as they are
    /// whole; and the bytes that they take up.
    pub(super) fn of_stream(text: &'a [u8], opens_array: bool, is_end: bool) -> (Self, usize) {
        let mut parser = Parser { text, at: 0 };
        let mut documents = Vec::new();
        let mut taken = 0;
        // A part that is not the first begins with the comma behind the last item.
        if opens_array && parser.skip_space() == Some(b'[') {
            parser.at += 1;
        }
        while let Some(byte) = parser.skip_space() {
            let at = parser.at;
            if byte == b',' || opens_array && byte == b']' {
                parser.at += 1;
                taken = if byte == b',' { taken } else { parser.at };
                continue;
            }
            if let Some(document) = parser.value(1) {
                // A word at the end of the text may go on.
                if !is_end && parser.at == text.len() {
                    break;
                }
                documents.push((Some(document), at, weight(&text[at..parser.at])));
            } else {
                // A line that is no document is a bad one, if the next one is there.
                let line = memchr::memchr(b'\n', &text[at..]).map(|end| at + end + 1);
                let Some(end) = line.filter(|_| !opens_array).or(is_end.then_some(text.len())) else { break };
                documents.push((None, at, weight(&text[at..end])));
                parser.at = end;
            }
            taken = parser.at;
        }
        (Self { documents, text }, if is_end { text.len() } else { taken })
    }

    /// The layouts of members that are puzzles.
    pub(super) fn candidates(&self, index: usize, signs: &Signs, wanted: &Wanted) -> Vec<Layout> {
        const DOCUMENTS_SEEN: usize = 600;
        let mut votes: Vec<(Vec<String>, u8, usize)> = Vec::new();
        for (document, ..) in self.documents.iter().take(DOCUMENTS_SEEN) {
            let Some(document) = document else { continue };
            document.walk(&mut Vec::new(), document.at, &mut |path, node, _| {
                for size in wanted.sizes() {
                    if node.cells(size.side, signs).is_none() {
                        continue;
                    }
                    let path: Vec<String> =
                        path.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                    match votes.iter_mut().find(|(known, side, _)| *known == path && *side == size.side) {
                        Some((.., count)) => *count += 1,
                        None => votes.push((path, size.side, 1)),
                    }
                }
            });
        }
        votes.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        let found = votes.into_iter().take(10);
        found.map(|(path, side, _)| Layout { path, ..Layout::new(index, side, &signs.alphabet) }).collect()
    }

    /// What is read in the members of a layout.
    pub(super) fn read(&self, layout: &Layout, signs: &Signs) -> Reading {
        let mut reading = Reading::new(layout, &[] as &[Line<'_>]);
        let newlines: Vec<usize> = memchr::memchr_iter(b'\n', self.text).collect();
        let line_of =
            |at: usize| u32::try_from(newlines.partition_point(|&newline| newline < at)).unwrap_or(u32::MAX);
        let wanted: Vec<&[u8]> = layout.path.iter().map(String::as_bytes).collect();
        for (document, at, characters) in &self.documents {
            reading.total += characters;
            let Some(document) = document else {
                let line = line_of(*at);
                reading.add_bad(Fault { line, what: What::Length }, line, *characters);
                continue;
            };
            let before = reading.puzzles.len();
            document.walk(&mut Vec::new(), document.at, &mut |path, node, parent| {
                if let Some(name) = path.last()
                    && reading.variant.is_none()
                {
                    reading.variant = node.variant(name);
                }
                if !path.is_empty()
                    && path != &wanted[..]
                    && !matches!(node.value, Value::Object(_) | Value::Token(_))
                {
                    reading.beside = reading.beside.max(node.weight());
                }
                let is_item = wanted.last().is_none_or(|last| *last == b"*");
                let found = match (&node.value, wanted.split_last()) {
                    (Value::Object(members), Some((name, above))) if !is_item && path == above => {
                        members.iter().find(|(known, _)| known == name).map(|(_, member)| member)
                    }
                    _ if is_item && path == &wanted[..] => Some(node),
                    _ => return,
                };
                let line = line_of(if is_item { parent } else { node.at });
                let characters = found.unwrap_or(node).weight();
                match found.and_then(|found| found.cells(layout.side, signs)) {
                    Some(cells) => {
                        let digits: Vec<u8> = cells.iter().map(|cell| cell.value).collect();
                        reading.add(&digits, line, characters, false);
                        let blanks = cells.iter().fold(0, |blanks, cell| blanks | cell.blank);
                        let zeros = cells.iter().filter(|cell| cell.blank == ZERO).count();
                        reading.count_unclear(&digits, blanks, u32::try_from(zeros).unwrap_or(u32::MAX));
                    }
                    None => reading.add_bad(Fault { line, what: What::Length }, line, characters),
                }
            });
            if reading.puzzles.len() == before {
                reading.unexplained += characters;
            }
        }
        reading
    }
}

impl Node<'_> {
    /// The word by which a member of this name says that the puzzle has other rules.
    fn variant(&self, name: &[u8]) -> Option<String> {
        let is_nothing = match &self.value {
            Value::Text(text) => text.is_empty() || &text[..] == b"classic",
            Value::Token(token) => matches!(*token, b"null" | b"None" | b"false" | b"False" | b"0"),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
        };
        let text = match &self.value {
            Value::Text(text) => &text[..],
            _ => b"",
        };
        if is_nothing { None } else { variant_word(&[name, b" ", text].concat()) }
    }
}
