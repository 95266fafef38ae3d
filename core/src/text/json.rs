//! `jsonl`: a JSON object a line, with the puzzle in one of its members.
//!
//! The cells are a text, as on a line, or an array of numbers, flat or of rows, in which 0 and
//! `null` are blanks.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::detect::most_frequent;
use super::lines::{self, is_no_puzzle, puzzle_lines};
use super::table::{CellsReader, PUZZLE_NAMES, SOLUTION_NAMES};
use super::{FormatError, Hint, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, Order};

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
struct Text<'a>(Cow<'a, str>);

/// The value of a member.
enum Cells<'a> {
    Text(Cow<'a, str>),
    Values(Vec<u8>),
    /// Something that is no puzzle.
    Other,
}

/// The members of one object that are asked for.
struct Members<'a, 'k> {
    keys: &'k Keys,
    puzzle: Option<Cells<'a>>,
    solution: Option<Cells<'a>>,
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Cells<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CellsVisitor;
        impl<'de> Visitor<'de> for CellsVisitor {
            type Value = Cells<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cells::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cells::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(u8::try_from(value).map_or(Cells::Other, |value| Cells::Values(vec![value])))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(u8::try_from(value).map_or(Cells::Other, |value| Cells::Values(vec![value])))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Cells::Other)
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Cells::Other)
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Cells::Values(vec![0]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Self::Value, A::Error> {
                let (mut values, mut is_good) = (Vec::new(), true);
                while let Some(part) = rows.next_element::<Cells<'de>>()? {
                    match part {
                        Cells::Values(more) => values.extend(more),
                        Cells::Text(_) | Cells::Other => is_good = false,
                    }
                }
                Ok(if is_good { Cells::Values(values) } else { Cells::Other })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Cells::Other)
            }
        }
        deserializer.deserialize_any(CellsVisitor)
    }
}

impl<'a, 'k> Members<'a, 'k> {
    /// Reads the object of a line.
    fn read(line: &'a [u8], keys: &'k Keys) -> Result<Self, Problem> {
        struct ObjectVisitor<'k>(&'k Keys);
        impl<'de, 'k> Visitor<'de> for ObjectVisitor<'k> {
            type Value = Members<'de, 'k>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members { keys: self.0, puzzle: None, solution: None };
                while let Some(Text(key)) = map.next_key()? {
                    if key == members.keys.puzzle.as_str() {
                        members.puzzle = Some(map.next_value()?);
                    } else if Some(key.as_ref()) == members.keys.solution.as_deref() {
                        members.solution = Some(map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(members)
            }
        }
        let mut json = serde_json::Deserializer::from_slice(line);
        let members =
            json.deserialize_map(ObjectVisitor(keys)).and_then(|members| json.end().map(|()| members));
        members.map_err(|error| {
            if error.is_eof() {
                return Problem::WrongLength;
            }
            // Columns count bytes from 1.
            Problem::invalid_character(line, error.column().saturating_sub(1).min(line.len()))
        })
    }
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
        let result = Members::read(line, &format.keys).and_then(|members| {
            given = match members.solution {
                Some(Cells::Text(Cow::Borrowed(text))) if !text.is_empty() => Some(text.as_bytes()),
                _ => None,
            };
            match members.puzzle {
                Some(Cells::Text(Cow::Borrowed(text))) => {
                    let cells = text.as_bytes();
                    lines::read_cells(format, cells, puzzle).map_err(|problem| problem.within(line, cells))
                }
                Some(Cells::Text(Cow::Owned(text))) => lines::read_cells(format, text.as_bytes(), puzzle),
                Some(Cells::Values(values)) => read_values(&values, puzzle),
                Some(Cells::Other) | None => Err(Problem::WrongLength),
            }
        });
        let error = result.err().map(|problem| PuzzleError { problem, line: Some(number) });
        return Some(Record { line: number, given, row: line, error });
    }
}

/// Reads the values of cells, 0 for a blank.
fn read_values(values: &[u8], puzzle: &mut Grid) -> Result<(), Problem> {
    let side = puzzle.order().side();
    if values.len() != puzzle.order().cells() {
        return Err(Problem::WrongLength);
    }
    if let Some(&value) = values.iter().find(|&&value| usize::from(value) > side) {
        return Err(match puzzle.order().digit(value.into()) {
            Err(error) => Problem::OutOfRange(error),
            Ok(_) => Problem::WrongLength,
        });
    }
    puzzle.digits_mut().copy_from_slice(values);
    Ok(())
}

/// Whether a text is JSON objects, one a line.
pub(super) fn is_jsonl(text: &[u8]) -> bool {
    let is_object = |line: &&[u8]| line.starts_with(b"{") && line.ends_with(b"}");
    let seen = || puzzle_lines(text).take(OBJECTS_SEEN);
    2 * seen().filter(is_object).count() > seen().count()
}

/// The members that hold the puzzle and its solution, and the order of the puzzles: by their names
/// if known, else by their content.
///
/// # Errors
/// [`FormatError::NoColumn`] if no object has the member that `hint` names.
pub(super) fn find(text: &[u8], hint: &Hint) -> Result<(Keys, Option<Order>), FormatError> {
    let objects: Vec<Map<String, Value>> =
        puzzle_lines(text).take(OBJECTS_SEEN).filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let mut cells = CellsReader::new(hint);
    let mut names: Vec<&String> = Vec::new();
    for name in objects.iter().flat_map(Map::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let known = |known: &[&str]| {
        names.iter().copied().find(|name| known.iter().any(|known| name.eq_ignore_ascii_case(known)))
    };
    let mut orders = |name: &String| -> Vec<Order> {
        objects.iter().filter_map(|object| order_of(object.get(name)?, &mut cells)).collect()
    };
    let puzzle = match &hint.column {
        Some(column) => {
            // A number is a name too, because members have no numbers.
            let wanted = column.to_string();
            let Some(name) = names.iter().copied().find(|name| **name == wanted) else {
                let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
                return Err(FormatError::NoColumn { column: column.clone(), first: names.join(", ") });
            };
            Some(name)
        }
        None => known(PUZZLE_NAMES)
            .or_else(|| names.iter().copied().find(|name| 2 * orders(name).len() > objects.len())),
    };
    let Some(puzzle) = puzzle else { return Ok((Keys::default(), None)) };
    let order = most_frequent(orders(puzzle).into_iter());
    let solution = known(SOLUTION_NAMES).filter(|&name| name != puzzle).cloned();
    Ok((Keys { puzzle: puzzle.clone(), solution }, order))
}

/// The puzzles of the first objects that are texts.
pub(super) fn texts(text: &[u8], keys: &Keys) -> Vec<Vec<u8>> {
    let members = puzzle_lines(text).take(OBJECTS_SEEN).filter_map(|line| Members::read(line, keys).ok());
    let texts = members.filter_map(|members| match members.puzzle {
        Some(Cells::Text(text)) => Some(text.into_owned().into_bytes()),
        _ => None,
    });
    texts.collect()
}

/// The order of the puzzle that a value can be.
fn order_of(value: &Value, cells: &mut CellsReader) -> Option<Order> {
    fn count(value: &Value) -> usize {
        match value {
            Value::Array(parts) => parts.iter().map(count).sum(),
            Value::Number(_) | Value::Null => 1,
            _ => 0,
        }
    }
    match value {
        Value::String(text) => cells.order(text.as_bytes()),
        Value::Array(_) => Order::from_cells(count(value)).filter(|order| order.cells() > 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Notation, detect};

    fn read_all(text: &str) -> Vec<String> {
        let preamble = detect(text.as_bytes(), &Hint::default()).unwrap();
        assert_eq!(preamble.format.notation(), Notation::Jsonl);
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
    fn a_puzzle_is_a_text_or_numbers() {
        let (p, s) = ("12....1.........", "1234341221434321");
        let text = format!(
            "{{\"id\":1,\"puzzle\":\"{p}\",\"solution\":\"{s}\"}}\n\n\
             {{\"solution\":null,\"more\":{{\"puzzle\":[1]}},\"puzzle\":[[1,2,0,0],[null,0,1,0],[0,0,0,0],[0,0,0,0]]}}\n\
             {{\"puzzle\":\"12\\u002e...1.........\"}}\n"
        );
        assert_eq!(read_all(&text), [format!("{p} {s}"), p.to_owned(), p.to_owned()]);
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
        );
        assert_eq!(
            read_all(&text)[3..],
            [
                "Line 4 has an invalid character. It is '!' in column 12.",
                "Line 5 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.",
                "Line 6 has the wrong length.",
                "Line 7 has an invalid character. It is '\"' in column 6.",
                "Line 8 has the wrong length.",
                "Line 9 has an invalid character. The value 9 is outside 1 to 4.",
            ]
        );
    }
}
