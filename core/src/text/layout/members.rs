//! Puzzles as members of objects, or items of arrays, in JSON or in the literals of Python.

use std::borrow::Cow;

use super::super::lines::characters;
use super::super::table::LEAST_CELLS;
use super::account::{Fault, FaultKind, Reading};
use super::facts::Line;
use super::signs::{Blanks, ReadCell, Signs, ZERO, flat, has_word, variant_word, weight};
use super::split::is_one_sign;
use super::table::{JsonCut, Layout, Wanted};
use crate::grid::OutOfRange;

/// The longest document that is no broken one, in bytes.
const LONGEST_DOCUMENT: usize = 512 * 1024;
/// The deepest nesting that is looked into.
const MAX_DEPTH: usize = 32;

/// A value, and where it begins.
#[derive(Debug)]
pub(super) struct JsonNode<'a> {
    pub(super) at: usize,
    value: Value<'a>,
}

#[derive(Debug)]
enum Value<'a> {
    Text(Cow<'a, [u8]>),
    /// A number, or a word without quotes: `null`, `None`, `true`.
    Token(&'a [u8]),
    Array(Vec<JsonNode<'a>>),
    Object(Vec<(Cow<'a, [u8]>, JsonNode<'a>)>),
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
    fn value(&mut self, depth: usize) -> Option<JsonNode<'a>> {
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
        Some(JsonNode { at, value })
    }

    fn items(&mut self, close: u8, depth: usize) -> Option<Vec<JsonNode<'a>>> {
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

    fn members(&mut self, depth: usize) -> Option<Vec<(Cow<'a, [u8]>, JsonNode<'a>)>> {
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
                // No text goes on in the next line.
                b'\n' => return None,
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

/// The cells of a value.
#[derive(Default)]
struct ValueCells {
    digits: Vec<u8>,
    blanks: Blanks,
    zeros: u32,
    /// How many there are, and where the first is that is none.
    all: usize,
    bad: Option<usize>,
}

impl ValueCells {
    fn add(&mut self, cell: ReadCell) {
        self.all += 1;
        self.digits.push(cell.value);
        self.blanks |= cell.blank;
        self.zeros += u32::from(cell.blank == ZERO);
    }

    fn add_bad(&mut self, at: usize) {
        self.all += 1;
        self.bad = self.bad.or(Some(at));
    }

    const fn is_read(&self) -> bool {
        self.bad.is_none() && is_one_sign(self.blanks)
    }

    /// Whether most are read, so that the others are meant as cells.
    fn is_meant(&self) -> bool {
        self.bad.is_some() && 10 * self.digits.len() >= 7 * self.all
    }
}

impl JsonNode<'_> {
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

    /// Calls `visit` with where each cell of a puzzle of this size begins, and the cell if it is one: of
    /// characters, of items, or of rows of either.
    fn each_cell(&self, side: u8, signs: &Signs, visit: &mut impl FnMut(usize, Option<ReadCell>)) {
        let mut signs_of = |at: usize, text: &[u8]| {
            for (behind, &sign) in flat(text).iter().enumerate() {
                if !sign.is_ascii_whitespace() && sign != b'|' {
                    // Behind the quote.
                    visit(at + 1 + behind, signs.sign(sign, side));
                }
            }
        };
        let items = match &self.value {
            Value::Text(text) => return signs_of(self.at, text),
            Value::Token(_) | Value::Object(_) => return,
            Value::Array(items) => items,
        };
        let side_of = |item: &JsonNode<'_>| match &item.value {
            Value::Array(row) => Some(row.len()),
            Value::Text(row) if side > 1 => Some(row.len()),
            _ => None,
        };
        let are_rows = items.iter().all(|item| side_of(item) == Some(usize::from(side)));
        for item in items {
            match &item.value {
                Value::Array(row) if are_rows => {
                    for cell in row {
                        visit(cell.at, cell.cell(side, signs));
                    }
                }
                Value::Text(row) if are_rows => {
                    for (behind, &sign) in row.iter().enumerate() {
                        visit(item.at + 1 + behind, signs.sign(sign, side));
                    }
                }
                _ => visit(item.at, item.cell(side, signs)),
            }
        }
    }

    /// The cells of a value, if it has as many as a puzzle of this size.
    fn cells(&self, side: u8, signs: &Signs) -> Option<ValueCells> {
        let count = usize::from(side).pow(2);
        let mut cells = ValueCells::default();
        self.each_cell(side, signs, &mut |at, cell| match cell {
            _ if cells.all > count => {}
            Some(cell) => cells.add(cell),
            None => cells.add_bad(at),
        });
        (cells.all == count && count > 0).then_some(cells)
    }

    fn cell(&self, side: u8, signs: &Signs) -> Option<ReadCell> {
        match &self.value {
            Value::Token(b"true" | b"false" | b"True" | b"False") | Value::Array(_) | Value::Object(_) => {
                None
            }
            Value::Token(token) => signs.cell(token, side),
            Value::Text(text) => signs.cell(text.trim_ascii(), side),
        }
    }

    /// Whether an item may be cells, good or bad, and is no number or name beside some.
    fn may_be_cells(&self) -> bool {
        match &self.value {
            Value::Text(text) => {
                !has_word(text) || text.iter().any(|byte| byte.is_ascii_digit() || b"._".contains(byte))
            }
            // As long as a puzzle it is one without its quotes.
            Value::Token(token) => token.len() >= LEAST_CELLS,
            Value::Array(_) | Value::Object(_) => true,
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
    /// Each, or `None` for a line that is none, with where it begins and its number of characters.
    found: Vec<(Option<JsonNode<'a>>, usize, u32)>,
    text: &'a [u8],
    extent: JsonCut,
}

/// The documents that a text is, most of which are arrays or objects. `None` for other texts.
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
        let found = vec![(Some(document), start, weight(text))];
        return Some(Documents { found, text, extent: JsonCut::Items });
    }
    // Damaged arrays are lines between brackets.
    let is_object = text[start] == b'{';
    for (extent, may_be_damaged) in
        [(JsonCut::Lines, false), (JsonCut::Values, false), (JsonCut::Lines, is_object)]
    {
        let (documents, taken) = Documents::of_stream(text, extent, !goes_on || extent == JsonCut::Lines);
        let all = &documents.found;
        let longest = all.iter().map(|(.., characters)| *characters).max().unwrap_or(0);
        if weight(&text[taken..]) > 2 * longest {
            continue;
        }
        let nested =
            all.iter().filter(|(document, ..)| document.as_ref().is_some_and(JsonNode::is_nested)).count();
        let is_most = if may_be_damaged { 2 * nested >= all.len() } else { 2 * nested > all.len() };
        if is_most && (may_be_damaged || all.iter().all(|(document, ..)| document.is_some())) {
            return Some(documents);
        }
    }
    if goes_on && text[start] == b'[' {
        let mut parser = Parser { text, at: start + 1 };
        let mut items = Vec::new();
        while let Some(item) = parser.item() {
            items.push(item);
        }
        if items.first().is_some_and(|item| item.is_nested() || matches!(item.value, Value::Text(_))) {
            let characters = weight(&text[..parser.at]);
            let document = JsonNode { at: start, value: Value::Array(items) };
            let found = vec![(Some(document), start, characters)];
            return Some(Documents { found, text, extent: JsonCut::Items });
        }
    }
    None
}

/// Where the next line begins that looks like the one on which a broken document begins.
fn next_like(text: &[u8], at: usize) -> Option<usize> {
    let start = memchr::memrchr(b'\n', &text[..at])?;
    let beginning = &text[start..=at];
    let is_alone = beginning.trim_ascii_start().len() == 1;
    let behind = memchr::memmem::find(&text[at..], beginning).filter(|_| is_alone)?;
    Some(at + behind + 1)
}

impl<'a> Parser<'a> {
    /// The next item of an array that goes on, with the comma behind it.
    fn item(&mut self) -> Option<JsonNode<'a>> {
        let start = self.at;
        let item = self.value(1).filter(|_| self.skip_space() == Some(b','));
        self.at = if item.is_some() { self.at + 1 } else { start };
        item
    }
}

impl<'a> Documents<'a> {
    /// The documents of a part of a text, or the items of the array that it is, as far as they are
    /// whole; and the bytes that they take up.
    pub(super) fn of_stream(text: &'a [u8], extent: JsonCut, is_end: bool) -> (Self, usize) {
        if extent == JsonCut::Lines {
            return Self::of_lines(text, is_end);
        }
        let opens_array = extent == JsonCut::Items;
        let mut parser = Parser { text, at: 0 };
        let mut found = Vec::new();
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
            let most = text.len().min(at + LONGEST_DOCUMENT);
            let mut limited = Parser { text: &text[..most], at };
            let document = limited.value(1);
            parser.at = limited.at;
            // What ends with the text may go on.
            if !is_end && parser.at == text.len() && most < at + LONGEST_DOCUMENT {
                break;
            }
            if document.is_none() {
                match next_like(text, at) {
                    Some(next) => parser.at = next,
                    None if is_end => parser.at = text.len(),
                    None => break,
                }
            }
            let characters = weight(&text[at..parser.at]);
            if extent == JsonCut::Values {
                // The end of the line belongs to what is on it.
                let is_on_line = |byte: &u8| b" \t\r,".contains(byte);
                parser.at += text[parser.at..].iter().take_while(|byte| is_on_line(byte)).count();
                match text.get(parser.at) {
                    Some(b'\n') => parser.at += 1,
                    None if !is_end => break,
                    _ => {}
                }
            }
            taken = parser.at;
            found.push((document, at, characters));
        }
        (Self { found, text, extent }, if is_end { text.len() } else { taken })
    }

    fn of_lines(text: &'a [u8], is_end: bool) -> (Self, usize) {
        let whole = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
        let taken = if is_end { text.len() } else { whole };
        let mut found = Vec::new();
        let mut at = 0;
        for line in text[..taken].split_inclusive(|&byte| byte == b'\n') {
            let characters = weight(line);
            if characters > 0 {
                let mut parser = Parser { text: &text[..at + line.trim_ascii_end().len()], at };
                let document = parser.value(0).filter(|_| {
                    parser.at += usize::from(parser.skip_space() == Some(b','));
                    parser.skip_space().is_none()
                });
                found.push((document, at, characters));
            }
            at += line.len();
        }
        (Self { found, text, extent: JsonCut::Lines }, taken)
    }

    /// The layouts of members that are puzzles.
    pub(super) fn candidates(&self, index: usize, signs: &Signs, wanted: &Wanted) -> Vec<Layout> {
        const DOCUMENTS_SEEN: usize = 600;
        let mut votes: Vec<(Vec<String>, u8, usize)> = Vec::new();
        for (document, ..) in self.found.iter().take(DOCUMENTS_SEEN) {
            let Some(document) = document else { continue };
            document.walk(&mut Vec::new(), document.at, &mut |path, node, _| {
                for size in wanted.sizes() {
                    if !node.cells(size.side, signs).is_some_and(|cells| cells.is_read() || cells.is_meant())
                    {
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
        let layout = |(path, side, _): (Vec<String>, u8, usize)| {
            let is_item = path.first().is_some_and(|name| name == "*");
            let extent =
                if self.extent == JsonCut::Items && !is_item { JsonCut::Values } else { self.extent };
            Layout { path, extent, ..Layout::new(index, side, &signs.alphabet) }
        };
        found.map(layout).collect()
    }

    /// What is read in the members of a layout.
    pub(super) fn read(&self, layout: &Layout, signs: &Signs) -> Reading {
        let mut reading = Reading::new(layout, &[] as &[Line<'_>]);
        let newlines: Vec<usize> = memchr::memchr_iter(b'\n', self.text).collect();
        let line_of =
            |at: usize| u32::try_from(newlines.partition_point(|&newline| newline < at)).unwrap_or(u32::MAX);
        let wanted: Vec<&[u8]> = layout.path.iter().map(String::as_bytes).collect();
        for (document, at, characters) in &self.found {
            reading.total += characters;
            let Some(document) = document else {
                let line = line_of(*at);
                reading.add_bad(Fault { line, what: FaultKind::Length }, line, *characters);
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
                    _ if is_item && path == &wanted[..] => {
                        if !node.may_be_cells() {
                            reading.told.push(line_of(node.at));
                            return;
                        }
                        Some(node)
                    }
                    _ => return,
                };
                let line = line_of(if is_item { parent } else { node.at });
                let characters = found.unwrap_or(node).weight();
                match found.and_then(|found| found.cells(layout.side, signs)) {
                    Some(cells) if cells.is_read() => {
                        reading.add(&cells.digits, line, characters, false);
                        reading.count_unclear(&cells.digits, cells.blanks, cells.zeros);
                    }
                    cells => {
                        let bad = cells.and_then(|cells| cells.bad);
                        let what = bad.map_or(FaultKind::Length, |at| self.fault(at, layout.side));
                        let line = bad.map_or(line, line_of);
                        reading.add_bad(Fault { line, what }, line, characters);
                    }
                }
            });
            if reading.puzzles.len() == before {
                reading.unexplained += characters;
            }
        }
        reading
    }
}

impl Documents<'_> {
    /// What is wrong with the cell that begins here.
    fn fault(&self, at: usize, side: u8) -> FaultKind {
        let text = &self.text[at..];
        let quotes = usize::from(matches!(text.first(), Some(b'"' | b'\'')));
        let digits = text[quotes..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&text[quotes..][..digits]).ok().filter(|_| (2..9).contains(&digits));
        let is_whole = text.get(quotes + digits).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        match number.filter(|_| is_whole).and_then(|number| number.parse().ok()) {
            Some(value) => FaultKind::Outside(OutOfRange { what: "value", value, side: usize::from(side) }),
            None => {
                let start = memchr::memrchr(b'\n', &self.text[..at]).map_or(0, |newline| newline + 1);
                FaultKind::Character(characters(&self.text[start..at + quotes]).count())
            }
        }
    }
}

impl JsonNode<'_> {
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
