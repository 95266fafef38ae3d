//! `jsonl`: a JSON object a line, with the puzzle in one of its members.
//!
//! The cells are a text, as on a line, or an array, flat or of rows: of numbers, in which 0, -1 and
//! `null` are blanks, or of texts, each with one cell or with those of a row.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::lines::{self, given_solution, is_no_puzzle, puzzle_lines};
use super::table::{CellsReader, PUZZLE_NAMES, SOLUTION_NAMES, most_frequent};
use super::{Format, FormatError, Hint, Problem, PuzzleError, Record, Records, cell, columns};
use crate::grid::{Grid, MAX_SIDE, Order};

/// The names of the members that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) puzzle: String,
    pub(super) solution: Option<String>,
}

impl Default for Keys {
    fn default() -> Self {
        Self { puzzle: "puzzle".to_owned(), solution: Some("solution".to_owned()) }
    }
}

/// The objects that detection reads.
const OBJECTS_SEEN: usize = 64;

/// A text of an object; borrowed unless it has escape sequences.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The number that a cell is, from 0 on, or `None` for what is no cell.
type CellNumber = Option<u32>;

/// The value of a member.
enum MemberCells<'a> {
    Text(Cow<'a, str>),
    /// The values of an array, 0 for `null`.
    Values(Vec<CellNumber>),
    /// The cells of an array of texts.
    Symbols(String),
    Number(CellNumber),
    Null,
    /// Something that is no puzzle.
    Other,
}

/// The members of one object that are asked for.
struct Members<'a, S> {
    puzzle: Option<MemberCells<'a>>,
    solution: Option<S>,
}

/// All members of an object, as they follow each other.
struct Object<'a>(Vec<(Text<'a>, MemberCells<'a>)>);

/// What a member holds in the first objects.
struct SeenMember<'a> {
    name: Cow<'a, str>,
    /// The order of each value that has as many cells as a puzzle.
    orders: Vec<Order>,
    /// The number of values that are puzzles, all of whose cells can be read.
    puzzles: usize,
    /// How many of them have blanks.
    with_blanks: usize,
    /// The number of texts and arrays that are not empty.
    cells: usize,
    /// The number of other values but `null`.
    others: usize,
}

impl<'de> Deserialize<'de> for MemberCells<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CellsVisitor;
        impl<'de> Visitor<'de> for CellsVisitor {
            type Value = MemberCells<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(MemberCells::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let text = if text.contains('\n') { cells_of_lines(text) } else { text.to_owned() };
                Ok(MemberCells::Text(Cow::Owned(text)))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(MemberCells::Number(u32::try_from(value).ok()))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(MemberCells::Number(if value == -1 { Some(0) } else { u32::try_from(value).ok() }))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                // Larger ones than any cell are told, too.
                Ok(MemberCells::Number(
                    cell::value(value)
                        .map_or_else(|| value.to_string().parse().ok(), |cell| Some(cell.into())),
                ))
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(MemberCells::Number(None))
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(MemberCells::Null)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
                let mut array = Array::default();
                while let Some(part) = parts.next_element::<MemberCells<'de>>()? {
                    array.push(part);
                }
                Ok(array.cells())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(MemberCells::Other)
            }
        }
        deserializer.deserialize_any(CellsVisitor)
    }
}

/// The cells of a text with the rows of a grid on lines of their own, as they would be on one line:
/// without bars and rulers, if there are any.
fn cells_of_lines(text: &str) -> String {
    let cells: String = text.split_whitespace().collect();
    if Order::from_cells(cells.chars().count()).is_some() {
        return cells;
    }
    let is_ruler =
        |line: &&str| line.contains(['+', '=', '┼', '─']) || line.chars().all(|c| "-|: ".contains(c));
    let is_cell = |c: &char| !c.is_whitespace() && !matches!(c, '|' | '\u{2500}'..='\u{257F}');
    text.lines().filter(|line| !is_ruler(line)).flat_map(str::chars).filter(is_cell).collect()
}

/// The cells of an array, from its elements.
#[derive(Default)]
struct Array {
    /// The values, as long as there are no others.
    values: Vec<CellNumber>,
    /// The symbols, once there is one, with a `.` for each blank.
    symbols: String,
    elements: usize,
    /// The cells of the first element, and so of each.
    width: usize,
    /// Whether elements are texts of several cells.
    has_rows: bool,
    is_bad: bool,
}

impl Array {
    fn push(&mut self, element: MemberCells<'_>) {
        let width = match element {
            MemberCells::Number(value) => self.push_values(&[value]),
            MemberCells::Null => self.push_values(&[Some(0)]),
            MemberCells::Values(values) => self.push_values(&values),
            MemberCells::Text(text) if matches!(&*text, "" | " " | ".") => self.push_values(&[Some(0)]),
            MemberCells::Text(text) => {
                let width = self.push_symbols(&text);
                self.has_rows |= width > 1;
                width
            }
            MemberCells::Symbols(symbols) => self.push_symbols(&symbols),
            MemberCells::Other => {
                self.is_bad = true;
                1
            }
        };
        if self.elements == 0 {
            self.width = width;
        }
        self.elements += 1;
        self.is_bad |= width != self.width;
    }

    /// Appends cells that are values, and returns their number.
    fn push_values(&mut self, values: &[CellNumber]) -> usize {
        if self.symbols.is_empty() {
            self.values.extend_from_slice(values);
        } else {
            self.push_blanks(values);
        }
        values.len()
    }

    /// Appends cells that are symbols, and returns their number.
    fn push_symbols(&mut self, symbols: &str) -> usize {
        let values = std::mem::take(&mut self.values);
        self.push_blanks(&values);
        self.symbols.push_str(symbols);
        symbols.chars().count()
    }

    /// Appends values as symbols. Only 0 is the same in all alphabets.
    fn push_blanks(&mut self, values: &[CellNumber]) {
        self.is_bad |= values.iter().any(|&value| value != Some(0));
        self.symbols.extend(values.iter().map(|_| '.'));
    }

    fn cells<'a>(self) -> MemberCells<'a> {
        // Texts are the rows of a puzzle if there are as many as each has cells; others are a list.
        let is_list = (self.has_rows && self.elements != self.width) || self.is_list_of_4x4();
        if self.is_bad || is_list {
            MemberCells::Other
        } else if self.symbols.is_empty() {
            MemberCells::Values(self.values)
        } else {
            MemberCells::Symbols(self.symbols)
        }
    }

    /// Whether the symbols of a 16x16 puzzle are those of 16 puzzles of 4x4.
    fn is_list_of_4x4(&self) -> bool {
        self.symbols.len() == Order::ALL[3].cells()
            && self.symbols.bytes().all(|cell| b"01234._*-?xX".contains(&cell))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl<'a, S: Deserialize<'a>> Members<'a, S> {
    /// Reads the object of a line.
    fn read(line: &'a [u8], keys: &Keys) -> serde_json::Result<Self> {
        struct ObjectVisitor<'k, S>(&'k Keys, PhantomData<S>);
        impl<'de, S: Deserialize<'de>> Visitor<'de> for ObjectVisitor<'_, S> {
            type Value = Members<'de, S>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members { puzzle: None, solution: None };
                while let Some(Text(key)) = map.next_key()? {
                    if key == self.0.puzzle.as_str() {
                        members.puzzle = Some(map.next_value()?);
                    } else if Some(key.as_ref()) == self.0.solution.as_deref() {
                        members.solution = Some(map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(members)
            }
        }
        let mut json = serde_json::Deserializer::from_slice(line);
        let members = json.deserialize_map(ObjectVisitor(keys, PhantomData))?;
        json.end().map(|()| members)
    }
}

/// The value of the puzzle in the object of a line, and the text of its solution.
fn read_object<'a>(
    line: &'a [u8],
    keys: &Keys,
) -> Result<(Option<MemberCells<'a>>, Option<&'a [u8]>), Problem> {
    // Nearly all solutions are strings without escape sequences or `null`, and to take any value as it
    // is written takes longer.
    if let Ok(Members { puzzle, solution }) = Members::<Option<&str>>::read(line, keys) {
        return Ok((puzzle, solution.flatten().and_then(|text| given_solution(text.as_bytes()))));
    }
    match Members::<&RawValue>::read(line, keys) {
        Ok(Members { puzzle, solution }) => Ok((puzzle, solution.and_then(text_of_solution))),
        Err(error) if error.is_eof() => Err(Problem::WrongLength),
        Err(error) => {
            // Columns count bytes from 1.
            Err(Problem::invalid_character(line, error.column().saturating_sub(1).min(line.len())))
        }
    }
}

/// [`Records::read_plain_9x9`] for objects.
#[expect(clippy::redundant_closure, reason = "a function would be called, without the caller's instructions")]
#[inline(always)]
pub(super) fn read_plain_9x9(records: &mut Records<'_>, digits: &mut [u8]) -> usize {
    columns::read_rows_9x9(
        records,
        digits,
        #[inline(always)]
        |records, digits| read_plain_object_9x9(records, digits),
    )
}

/// Reads the next object, if its members and its puzzle are plain. If not, the digits are
/// unspecified.
#[inline(always)]
fn read_plain_object_9x9(records: &mut Records<'_>, digits: &mut [u8; 81]) -> Option<()> {
    let row = columns::next_row(records)?;
    let line = row.strip_suffix(b"\r").unwrap_or(row);
    let cells = plain_puzzle(line, records.format.keys.puzzle.as_bytes())?;
    if !lines::read_plain_cells(records.format, cells.try_into().ok()?, digits) {
        return None;
    }
    records.skip_line(row);
    Some(())
}

/// The text of the member `key` of an object that is nothing but plain members: texts without escape
/// sequences and numbers, all in printable ASCII. `None` proves nothing.
#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
#[inline(always)]
fn plain_puzzle<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let is_plain = |&byte: &u8| (b' '..=b'~').contains(&byte) & (byte != b'\\');
    // Without a branch for each byte, so that the compiler vectorises it.
    if !line.iter().map(is_plain).fold(true, |all, is_plain| all & is_plain) {
        return None;
    }
    let mut rest = line.strip_prefix(b"{")?;
    let mut puzzle = None;
    loop {
        let name;
        (name, rest) = plain_text(without_spaces(rest))?;
        rest = without_spaces(without_spaces(rest).strip_prefix(b":")?);
        let value;
        (value, rest) = match rest.first()? {
            b'"' => plain_text(rest).map(|(text, rest)| (Some(text), rest))?,
            _ => (None, behind_number(rest)?),
        };
        if name == key {
            puzzle = value;
        }
        match without_spaces(rest).split_first()? {
            (b',', behind) => rest = behind,
            (b'}', behind) => return puzzle.filter(|_| without_spaces(behind).is_empty()),
            _ => return None,
        }
    }
}

fn without_spaces(mut text: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = text {
        text = rest;
    }
    text
}

/// The text between the quotes at the start, and what is behind them.
#[inline(always)]
fn plain_text(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', text)?;
    Some((&text[..end], &text[end + 1..]))
}

/// What is behind the number at the start, if that has few digits and no exponent.
fn behind_number(text: &[u8]) -> Option<&[u8]> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = text.strip_prefix(b"-").unwrap_or(text);
    let length = digits(whole);
    let has_zero_in_front = length > 1 && whole[0] == b'0';
    let mut rest = &whole[length..];
    let mut decimals = 1;
    if let Some(fraction) = rest.strip_prefix(b".") {
        decimals = digits(fraction);
        rest = &fraction[decimals..];
    }
    // No more than a whole number or a fraction of 64 bits surely has.
    let is_short = (1..=15).contains(&length) && (1..=15).contains(&decimals);
    let ends = matches!(rest.first(), Some(b' ' | b',' | b'}'));
    (is_short && !has_zero_in_front && ends).then_some(rest)
}

/// Reads the next object.
pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    loop {
        let (line, number) = records.take_line()?;
        if is_no_puzzle(line) {
            continue;
        }
        let mut given = None;
        let result = read_object(line, &format.keys).and_then(|(cells, solution)| {
            given = solution;
            match cells {
                Some(MemberCells::Text(Cow::Borrowed(text))) => {
                    let cells = text.as_bytes();
                    lines::read_cells(format, cells, puzzle).map_err(|problem| problem.within(line, cells))
                }
                Some(MemberCells::Text(Cow::Owned(text)) | MemberCells::Symbols(text)) => {
                    lines::read_cells(format, text.as_bytes(), puzzle)
                }
                Some(MemberCells::Values(values)) => read_values(&values, puzzle),
                Some(MemberCells::Number(value)) => read_values(&[value], puzzle),
                Some(MemberCells::Null) => read_values(&[Some(0)], puzzle),
                Some(MemberCells::Other) | None => Err(Problem::WrongLength),
            }
        });
        let error = result.err().map(|problem| PuzzleError { problem, line: Some(number) });
        return Some(Record { line: number, given, row: line, error });
    }
}

/// The text of a solution, which [`read_solution`] reads: what is between the quotes of a string,
/// unless it has escape sequences, and any other value as it is written. `None` if there is none.
fn text_of_solution(value: &RawValue) -> Option<&[u8]> {
    match value.get().as_bytes() {
        b"null" | b"[]" => None,
        [b'"', text @ .., b'"'] if memchr::memchr(b'\\', text).is_none() => given_solution(text),
        // What is neither a text nor values has no cells.
        [b'{' | b't' | b'f', ..] => Some(&[]),
        text => Some(text),
    }
}

/// Reads the text of a solution: its cells, or the array or string that it is written as.
pub(super) fn read_solution(format: &Format, text: &[u8], solution: &mut Grid) -> Result<(), Problem> {
    if matches!(text.first(), Some(b'[' | b'"')) {
        match serde_json::from_slice(text) {
            Ok(MemberCells::Text(text)) => return lines::read_cells(format, text.as_bytes(), solution),
            Ok(MemberCells::Symbols(text)) => return lines::read_cells(format, text.as_bytes(), solution),
            Ok(MemberCells::Values(values)) => return read_values(&values, solution),
            Ok(_) => return Err(Problem::WrongLength),
            // An alphabet may have these characters.
            Err(_) => {}
        }
    }
    lines::read_cells(format, text, solution)
}

/// Reads the values of cells, 0 for a blank. The column of what is no cell is its number.
fn read_values(values: &[CellNumber], puzzle: &mut Grid) -> Result<(), Problem> {
    let order = puzzle.order();
    if values.len() != order.cells() {
        return Err(Problem::WrongLength);
    }
    for (column, (digit, value)) in (1..).zip(puzzle.digits_mut().iter_mut().zip(values)) {
        let Some(value) = value.and_then(|value| usize::try_from(value).ok()) else {
            let character = lines::NO_CELL_WORDS.to_owned();
            return Err(Problem::InvalidCharacter { character, column });
        };
        *digit = match value {
            0 => 0,
            value => order.digit(value).map_err(Problem::OutOfRange)?.value(),
        };
    }
    Ok(())
}

/// Whether a text is JSON objects, one a line.
pub(super) fn is_jsonl(text: &[u8]) -> bool {
    let is_object = |line: &&[u8]| line.starts_with(b"{") && line.ends_with(b"}");
    let seen = || puzzle_lines(text).take(OBJECTS_SEEN);
    2 * seen().filter(is_object).count() > seen().count()
}

/// The members that hold the puzzle and its solution, and the order of the puzzles: by their names
/// if known, else by their content, as in a table: the puzzle is in the first member whose puzzles
/// have blanks, and its solution in another one without any.
///
/// # Errors
/// [`FormatError::NoColumn`] if no object has the member that `hint` names.
pub(super) fn find(text: &[u8], hint: &Hint) -> Result<(Keys, Option<Order>), FormatError> {
    let objects: Vec<Object<'_>> =
        puzzle_lines(text).take(OBJECTS_SEEN).filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let count = objects.len();
    let members = look_at_members(objects, hint);
    let first = |holds: &dyn Fn(&SeenMember<'_>) -> bool| members.iter().find(|member| holds(member));
    let is_most = |member: &SeenMember<'_>| 2 * member.puzzles > count;
    let puzzle = match &hint.column {
        Some(column) => {
            // A number is a name too, because members have no numbers.
            let wanted = column.to_string();
            let Some(member) = first(&|member| member.name == wanted) else {
                let names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
                return Err(FormatError::NoColumn { column: column.clone(), first: names.join(", ") });
            };
            Some(member)
        }
        None => {
            let is_named = |member: &SeenMember<'_>| member.is_named(PUZZLE_NAMES);
            // A name counts unless there are numbers, of which `puzzle` is the name too. If it does
            // not, what is named as solutions are none the less no puzzles.
            let names_other = members.iter().any(is_named);
            let may_be = |member: &SeenMember<'_>| !(names_other && member.is_named(SOLUTION_NAMES));
            first(&|member| is_named(member) && is_most(member))
                .or_else(|| first(&|member| is_named(member) && (member.cells > 0 || member.others == 0)))
                .or_else(|| first(&|member| may_be(member) && is_most(member) && member.with_blanks > 0))
                .or_else(|| first(&|member| may_be(member) && is_most(member)))
                .or_else(|| first(&is_named))
                .or_else(|| first(&|member| 2 * member.orders.len() > count))
        }
    };
    let Some(puzzle) = puzzle else { return Ok((Keys::default(), None)) };
    let order = most_frequent(puzzle.orders.iter().copied());
    let is_named = |member: &SeenMember<'_>| member.name != puzzle.name && member.is_named(SOLUTION_NAMES);
    let is_solution = |member: &SeenMember<'_>| {
        let is_filled = member.puzzles > 0 && member.with_blanks == 0;
        member.name != puzzle.name && is_filled && most_frequent(member.orders.iter().copied()) == order
    };
    // `solutions` may be how many there are, and `solved` whether there is one.
    let solution = first(&|member| is_named(member) && member.cells > 0)
        .or_else(|| first(&|member| is_named(member) && member.others == 0))
        .or_else(|| first(&is_solution));
    let name = |member: &SeenMember<'_>| member.name.clone().into_owned();
    Ok((Keys { puzzle: name(puzzle), solution: solution.map(name) }, order))
}

/// What each member of these objects holds, in the order in which they appear.
fn look_at_members<'a>(objects: Vec<Object<'a>>, hint: &Hint) -> Vec<SeenMember<'a>> {
    let mut reader = CellsReader::new(hint);
    let mut members: Vec<SeenMember<'a>> = Vec::new();
    let mut places = HashMap::new();
    for (Text(name), cells) in objects.into_iter().flat_map(|object| object.0) {
        let place = *places.entry(name.clone()).or_insert(members.len());
        if place == members.len() {
            members.push(SeenMember::new(name));
        }
        members[place].look_at(&cells, &mut reader, hint);
    }
    members
}

impl<'a> SeenMember<'a> {
    const fn new(name: Cow<'a, str>) -> Self {
        Self { name, orders: Vec::new(), puzzles: 0, with_blanks: 0, cells: 0, others: 0 }
    }

    fn is_named(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name.eq_ignore_ascii_case(name))
    }

    /// Looks at one value.
    fn look_at(&mut self, cells: &MemberCells<'_>, reader: &mut CellsReader, hint: &Hint) {
        let mut look_at_text = |text: &str| {
            self.cells += usize::from(!text.is_empty());
            let order = reader.order(text.as_bytes())?;
            Some((order, true, reader.is_filled(text.as_bytes(), order)))
        };
        let (order, is_readable, is_filled) = match cells {
            MemberCells::Text(text) => {
                let Some(seen) = look_at_text(text) else { return };
                seen
            }
            MemberCells::Symbols(text) => {
                let Some(seen) = look_at_text(text) else { return };
                seen
            }
            MemberCells::Values(values) if are_no_cells(values) => return self.others += 1,
            MemberCells::Values(values) => {
                self.cells += usize::from(!values.is_empty());
                let order = Order::from_cells(values.len()).filter(|order| order.cells() > 1);
                let Some(order) = order else { return };
                let is_readable = read_values(values, &mut Grid::empty(order)).is_ok()
                    && hint.order.is_none_or(|wanted| wanted == order);
                (order, is_readable, !values.contains(&Some(0)))
            }
            MemberCells::Number(_) | MemberCells::Other => return self.others += 1,
            MemberCells::Null => return,
        };
        self.orders.push(order);
        self.puzzles += usize::from(is_readable);
        self.with_blanks += usize::from(is_readable && !is_filled);
    }
}

/// The puzzles of the first objects that are texts, or arrays of them.
pub(super) fn texts(text: &[u8], keys: &Keys) -> Vec<Vec<u8>> {
    let objects = puzzle_lines(text).take(OBJECTS_SEEN).filter_map(|line| read_object(line, keys).ok());
    let texts = objects.filter_map(|(puzzle, _)| match puzzle {
        Some(MemberCells::Text(text)) => Some(text.into_owned().into_bytes()),
        Some(MemberCells::Symbols(text)) => Some(text.into_bytes()),
        _ => None,
    });
    texts.collect()
}

/// Whether the puzzles of some of the first objects are arrays of as many values as a puzzle has.
pub(super) fn has_values(text: &[u8], keys: &Keys) -> bool {
    let mut objects = puzzle_lines(text).take(OBJECTS_SEEN).filter_map(|line| read_object(line, keys).ok());
    objects.any(|(puzzle, _)| match puzzle {
        Some(MemberCells::Values(values)) => {
            Order::from_cells(values.len()).is_some() && !are_no_cells(&values)
        }
        _ => false,
    })
}

/// Whether most values of an array are no cells of any puzzle, so that it holds something else.
fn are_no_cells(values: &[CellNumber]) -> bool {
    let is_cell = |value: &&CellNumber| value.is_some_and(|value| value as usize <= MAX_SIDE);
    2 * values.iter().filter(is_cell).count() < values.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::columns::tests::{check_all_changes, is_read_at_once};
    use crate::text::{Alphabet, Notation, detect};

    fn read_all(text: &str) -> Vec<String> {
        let preamble = detect(text.as_bytes(), &Hint::default()).unwrap();
        assert_eq!(preamble.format.notation(), Notation::Jsonl, "{text}");
        let mut records = Records::new(&preamble.format, text.as_bytes(), 1);
        let mut grid = Grid::empty(Order::NINE);
        let mut found = Vec::new();
        while let Some(record) = records.read(&mut grid) {
            let given = record.given.map(|given| format!(" {}", String::from_utf8_lossy(given)));
            found.push(match record.error {
                None => format!("{grid}{}", given.unwrap_or_default()),
                Some(error) => error.to_string(),
            });
        }
        found
    }

    #[test]
    fn objects_that_are_read_at_once_are_those_that_are_read_one_by_one() {
        let cells = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
        let other = "987654321".repeat(9);
        let rows = [
            (format!(r#"{{"puzzle":"{cells}"}}"#), true),
            (format!(r#"{{"puzzle": "{cells}", "solution": "{other}"}}"#), true),
            (
                format!(r#"{{ "id" : 7 , "rating":-1.20,"puzzle":"{}"}} "#, cells.replace('.', "0")) + "\r",
                true,
            ),
            (format!(r#"{{"puzzle":"{other}","puzzle":"{cells}"}}"#), true),
            (format!(r#"{{"puzzle":"{cells}","note":"}},{{:#"}}"#), true),
            // These are read one by one, or are bad.
            (format!(r#"{{"puzzle":"{cells}","puzzle":7}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","note":"a\"b"}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","note":"é"}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","note":null}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","tags":["x"]}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","n":1e3}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","n":01}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","n":1.}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","n":-}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","n":1234567890123456}}"#), false),
            (format!(r#"{{"puzzle":"{cells}",}}"#), false),
            (format!(r#"{{"puzzle":"{cells}"}}}}"#), false),
            (format!(r#"{{"puzzle":"{cells}""#), false),
            (format!(r#"{{"puzzle":"{}"}}"#, &cells[1..]), false),
            (format!(r#"{{"Puzzle":"{cells}"}}"#), false),
            (format!(r#" {{"puzzle":"{cells}"}}"#), false),
            (format!(r#"{{"puzzle":"{cells}","x":"{}"}}"#, "x".repeat(lines::MAX_LINE_BYTES)), false),
            ("{}".to_owned(), false),
        ];
        let format = Format::new(Notation::Jsonl, Order::NINE, Alphabet::Letters).unwrap();
        for (row, is_plain) in &rows {
            assert_eq!(is_read_at_once(&format, row), *is_plain, "{row}");
        }
        for (row, _) in &rows[1..5] {
            check_all_changes(&format, row, b" \t\r\n,:{}[]\"\\.015-en\xC3");
        }
    }

    #[test]
    fn a_puzzle_is_a_text_or_numbers() {
        let (p, s) = ("12....1.........", "1234341221434321");
        let text = format!(
            "{{\"id\":1,\"puzzle\":\"{p}\",\"solution\":\"{s}\"}}\n\n\
             {{\"solution\":null,\"more\":{{\"puzzle\":[1]}},\"puzzle\":[[1,2,0,0],[null,0,1,0],[0,0,0,0],[0,0,0,0]]}}\n\
             {{\"puzzle\":\"12\\u002e...1.........\"}}\n\
             {{\"puzzle\":\"12..\\n..1.\\n....\\n ....\\n\"}}\n\
             {{\"puzzle\":[1.0,2.0,0.0,-1.0,-1,0,1.0,null,0,0,0,0,0,0,0,0e0]}}\n"
        );
        assert_eq!(read_all(&text), [vec![format!("{p} {s}")], vec![p.to_owned(); 4]].concat());
    }

    #[test]
    fn arrays_of_texts_are_puzzles() {
        let p = "12....1.........";
        let single = |blank: &str, cells: &str| {
            let cells =
                cells.chars().map(|cell| if cell == '.' { blank.to_owned() } else { format!("\"{cell}\"") });
            cells.collect::<Vec<_>>()
        };
        let rows = |cells: &[String]| {
            let rows = cells.chunks(4).map(|row| format!("[{}]", row.join(",")));
            format!("[{}]", rows.collect::<Vec<_>>().join(","))
        };
        for blank in ["\"\"", "\".\"", "\" \"", "\"0\"", "\"_\"", "0", "null"] {
            let cells = single(blank, p);
            let flat = format!("[{}]", cells.join(","));
            // Numbers and texts that are blanks.
            let numbers = rows(&cells).replace("\"1\"", "1").replace("\"2\"", "2");
            for array in [&flat, &rows(&cells), &numbers] {
                let text = format!("{{\"board\":{array}}}\n");
                if array.contains("1,") && matches!(blank, "\"0\"" | "\"_\"") {
                    continue;
                }
                assert_eq!(read_all(&text), [p], "{text}");
            }
        }
        let of_rows = "[\"12..\",\"..1.\",\"....\",\"....\"]";
        assert_eq!(read_all(&format!("{{\"puzzle\":{of_rows}}}\n")), [p]);
        // As a solution beside it, and in another alphabet.
        let (solution, values) = (single("", "1234341221434321"), "1234341221434321");
        let text = format!("{{\"puzzle\":\"{p}\",\"solution\":{}}}\n", rows(&solution));
        let format = detect(text.as_bytes(), &Hint::default()).unwrap().format;
        let mut grid = Grid::empty(format.order());
        format.read_solution(rows(&solution).as_bytes(), &mut grid).unwrap();
        assert_eq!(grid.to_string(), values);
        let letters = rows(&single("\".\"", &p.replace('1', "A").replace('2', "B")));
        let text = format!("{{\"puzzle\":{letters}}}\n");
        assert_eq!(read_all(&text), [p]);
    }

    #[test]
    fn other_arrays_of_texts_are_no_puzzle() {
        let p = "12....1.........";
        let good = format!("{{\"puzzle\":\"{p}\"}}\n");
        for (array, error) in [
            // Lists of puzzles, as many as a larger one has rows.
            (format!("[{}]", vec![format!("\"{p}\""); 2].join(",")), "wrong length"),
            ("[\"12..\",\"..1.\",\"....\",\"...\"]".to_owned(), "wrong length"),
            ("[\"12..\",\"..1.\",\"....\",\".\",\"...\"]".to_owned(), "wrong length"),
            ("[\"12..\",\"..!.\",\"....\",\"....\"]".to_owned(), "invalid character. It is '!' in column 7"),
            ("[\"12.\",\"...1.\",\"....\",\"....\"]".to_owned(), "wrong length"),
            ("[[1,2,0],[0,0,0,1,0],[0,0,0,0],[0,0,0,0]]".to_owned(), "wrong length"),
            ("[true,{}]".to_owned(), "wrong length"),
        ] {
            let text = format!("{good}{good}{{\"puzzle\":{array}}}\n");
            let read = read_all(&text);
            assert!(read[2].contains(error), "{array}: {}", read[2]);
        }
        // If there is nothing else, nothing is read.
        for array in ["[\"12\"]", "[1,2,3]", "[[\"1\",2]]", "[{}]", "[]"] {
            let text = format!("{{\"puzzle\":{array}}}\n");
            let misfit = detect(text.as_bytes(), &Hint::default()).unwrap().misfit;
            assert_eq!(misfit.unwrap().to_string(), "Line 1 is an object without a puzzle.", "{array}");
        }
    }

    /// The members of puzzle and solution.
    fn keys(text: &str) -> (String, Option<String>) {
        let (keys, _) = find(text.as_bytes(), &Hint::default()).unwrap();
        (keys.puzzle, keys.solution)
    }

    #[test]
    fn members_are_found_by_their_content_in_the_order_in_which_they_appear() {
        let (p, s) = ("12....1.........", "1234341221434321");
        let (zeros, values) = ("[1,2,0,0,null,0,1,0,0,0,0,0,0,0,0,0]", "[1,2,3,4,3,4,1,2,2,1,4,3,4,3,2,1]");
        let cases = [
            (format!("{{\"q\":\"{p}\",\"a\":\"{s}\"}}\n"), "q", Some("a")),
            (format!("{{\"initial\":\"{p}\",\"final\":\"{s}\"}}\n"), "initial", Some("final")),
            (format!("{{\"a\":\"{s}\",\"q\":\"{p}\"}}\n"), "q", Some("a")),
            (format!("{{\"z\":\"{p}\",\"b\":\"{p}\"}}\n"), "z", None),
            (format!("{{\"z\":\"{s}\",\"b\":\"{s}\"}}\n"), "z", Some("b")),
            (format!("{{\"puzzle\":\"{p}\",\"sol\":\"{s}\"}}\n"), "puzzle", Some("sol")),
            (format!("{{\"sol\":{values},\"clue_grid\":{zeros}}}\n"), "clue_grid", Some("sol")),
            (format!("{{\"g\":\"{p}\",\"t\":\"\"}}\n{{\"g\":\"{p}\",\"t\":\"{s}\"}}\n"), "g", Some("t")),
            // A name that is known decides, unless the member holds something else.
            (
                format!("{{\"x\":\"{p}\",\"Quiz\":\"{s}\",\"y\":\"{s}\",\"answer\":null}}\n"),
                "Quiz",
                Some("answer"),
            ),
            (format!("{{\"question\":\"Solve it.\",\"quiz\":\"{p}\"}}\n"), "quiz", None),
            (format!("{{\"puzzle\":1,\"board\":\"{p}\"}}\n"), "board", None),
            (format!("{{\"puzzle\":1,\"solution\":\"{s}\"}}\n"), "puzzle", Some("solution")),
            (
                format!("{{\"puzzle\":\"{p}\",\"solved\":true,\"solution\":\"{s}\"}}\n"),
                "puzzle",
                Some("solution"),
            ),
            (format!("{{\"puzzle\":\"{p}\",\"solved\":false,\"solutions\":0}}\n"), "puzzle", None),
            // What has another length or other values is neither.
            (format!("{{\"n\":[5,6,7,8,5,6,7,8,5,6,7,8,5,6,7,8],\"q\":\"{p}\",\"a\":\"1\"}}\n"), "q", None),
            (format!("{{\"n\":{},\"q\":\"{p}\"}}\n", "[".repeat(50) + &"]".repeat(50)), "q", None),
        ];
        for (text, puzzle, solution) in cases {
            assert_eq!(keys(&text), (puzzle.to_owned(), solution.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn a_solution_is_read_in_every_way_in_which_a_puzzle_is() {
        let (p, s) = ("12....1.........", "1234341221434321");
        let mut text = format!("{{\"puzzle\":\"{p}\",\"solution\":\"{s}\"}}\n");
        let flat = "[1, 2,3,4,3,4,1,2,2,1,4,3,4,3,2,1]";
        for solution in [
            flat,
            "[[1,2,3,4],[3,4,1,2],[2,1,4,3],[4,3,2,1]]",
            "\"\\u0031234341221434321\"",
            "null",
            "\"\"",
            // As our own tables have it.
            "\"error: Line 1 has no solution.\"",
            "[1,2,3]",
            "true",
            "{\"cells\":[1]}",
            "[1,2,3,4,3,4,1,2,2,1,4,3,4,3,2,9]",
            "[1,2,3,4,3,4,1,2,2,1,4,3,4,3,2,true]",
            "\"\\ud800\"",
        ] {
            text += &format!("{{\"puzzle\":\"{p}\",\"solution\":{solution}}}\n");
        }
        let format = detect(text.as_bytes(), &Hint::default()).unwrap().format;
        let mut records = Records::new(&format, text.as_bytes(), 1);
        let (mut puzzle, mut solution) = (Grid::empty(format.order()), Grid::empty(format.order()));
        let mut found = Vec::new();
        while let Some(record) = records.read(&mut puzzle) {
            assert_eq!((puzzle.to_string(), record.error), (p.to_owned(), None));
            found.push(record.given.map(|given| {
                let read = format.read_solution(given, &mut solution);
                read.map(|()| solution.to_string()).map_err(|problem| problem.code())
            }));
        }
        let right = || Some(Ok(s.to_owned()));
        let (length, character) = (Some(Err("wrong_length")), Some(Err("invalid_character")));
        assert_eq!(found[..4], [right(), right(), right(), right()]);
        assert_eq!(found[4..7], [None, None, None]);
        assert_eq!(found[7..10], [length.clone(), length.clone(), length.clone()]);
        assert_eq!(found[10..], [character.clone(), character, length]);
    }

    #[test]
    fn a_member_may_be_named_by_a_number() {
        let text = "{\"1\":\"12....1.........\",\"2\":\"1234341221434321\"}\n";
        let found = |name: &str| {
            let hint = Hint { column: Some(name.parse().unwrap()), ..Hint::default() };
            find(text.as_bytes(), &hint).map(|(keys, _)| keys.puzzle)
        };
        assert_eq!(found("2"), Ok("2".to_owned()));
        let error = found("3").unwrap_err();
        assert_eq!(error.to_string(), "There is no column 3. The first row is: 1, 2.");
    }

    #[test]
    fn what_is_wrong_has_its_line_and_column() {
        let good = "{\"q\":\"12....1.........\",\"n\":1}\n";
        let text = format!(
            "{good}{good}{good}{{\"q\":\"12...!1.........\"}}\n{{\"q\":\"12\"}}\n{{\"n\":2}}\n{{\"q\" \"x\"}}\n{{\"q\":\n\
             {{\"q\":[1,2,9,0,0,0,0,0,0,0,0,0,0,0,0,0]}}\n"
        ) + &["26", "300", "26.0", "true", "2.5", "-2", "99999999999"]
            .map(|value| format!("{{\"q\":[[1,2,0,0],[0,{value},0,0],[0,0,0,0],[0,0,0,0]]}}\n"))
            .concat();
        let outside = |line, value| {
            format!("Line {line} has an invalid character. The value {value} is outside 1 to 4.")
        };
        let no_cell = |line| {
            format!("Line {line} has an invalid character. It is a value that is no cell, in column 6.")
        };
        assert_eq!(
            read_all(&text)[3..],
            [
                "Line 4 has an invalid character. It is '!' in column 12.",
                "Line 5 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.",
                "Line 6 has the wrong length.",
                "Line 7 has an invalid character. It is '\"' in column 6.",
                "Line 8 has the wrong length.",
                "Line 9 has an invalid character. The value 9 is outside 1 to 4.",
                &outside(10, 26),
                &outside(11, 300),
                &outside(12, 26),
                &no_cell(13),
                &no_cell(14),
                &no_cell(15),
                &no_cell(16),
            ]
        );
    }
}
