//! Other cells in the place of a puzzle and its solution, with everything around them as it was.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Format;
use super::json::Keys;
use super::lines::{self, offset};
use super::table::{Columns, fields};
use crate::grid::Grid;

impl Format {
    /// Appends the line `text`, in which `old` was read, with other cells in its place, and with
    /// another solution in the place of the one beside it. Blanks are written as they were. What has
    /// no line of its own becomes one. `text` has no newline at its end, what is written has one.
    #[doc(hidden)]
    pub fn rewrite(
        &self,
        text: &[u8],
        old: &Grid,
        puzzle: &Grid,
        solution: Option<&Grid>,
        out: &mut Vec<u8>,
    ) {
        let mut parts = self.replaced(text, old, puzzle, solution);
        parts.sort_unstable_by_key(|(range, _)| range.start);
        let mut written = 0;
        for (range, cells) in parts {
            out.extend_from_slice(&lines::writable(&text[written..range.start]));
            out.extend_from_slice(&cells);
            written = range.end;
        }
        out.extend_from_slice(&lines::writable(&text[written..]));
        // Where the cells are all there is, they end the line themselves.
        if !out.ends_with(b"\n") {
            out.push(b'\n');
        }
    }

    /// The cells of `grid`, with the blank that stands for one in `text`, which `old` was read from.
    fn cells_like(&self, text: &[u8], old: &Grid, grid: &Grid) -> Vec<u8> {
        let mut cells = Vec::with_capacity(grid.digits().len());
        self.write_digits(grid.digits(), &mut cells);
        let blank = old.digits().iter().position(|&digit| digit == 0);
        if let Some(&blank) = blank.and_then(|at| text.get(at)).filter(|_| text.len() == old.digits().len()) {
            for (cell, &digit) in cells.iter_mut().zip(grid.digits()) {
                if digit == 0 {
                    *cell = blank;
                }
            }
        }
        cells
    }

    /// The cells of `grid` as a JSON value of the kind that `old` is: a string, or an array of
    /// numbers, texts or rows.
    fn json_like(&self, old: &str, grid: &Grid) -> Vec<u8> {
        let mut cells = Vec::new();
        self.write_digits(grid.digits(), &mut cells);
        if old.starts_with('[') {
            let has_texts = old.contains('"') && cells.len() == grid.digits().len();
            return if has_texts {
                self.texts_like(old, &cells, grid)
            } else {
                values_like(old, grid.digits())
            };
        }
        let text = serde_json::from_str::<String>(old).unwrap_or_default();
        if let Some(blank) = text.bytes().find(|&byte| self.codec.character(&[byte]) == 0)
            && cells.len() == grid.digits().len()
        {
            let blanks = cells.iter_mut().zip(grid.digits()).filter(|&(_, &digit)| digit == 0);
            blanks.for_each(|(cell, _)| *cell = blank);
        }
        serde_json::to_vec(&String::from_utf8_lossy(&cells)).unwrap_or_default()
    }

    /// The JSON array `old`, which has texts, with these cells of `grid` in the places of its own, and
    /// the blanks that it has. Values are numbers if all texts are blanks.
    fn texts_like(&self, old: &str, cells: &[u8], grid: &Grid) -> Vec<u8> {
        let elements = elements(old);
        let text = |element: &str| serde_json::from_str::<String>(element).ok();
        let is_blank_symbol =
            |symbol: char| self.codec.character(symbol.encode_utf8(&mut [0; 4]).as_bytes()) == 0;
        let is_blank = |element: &str| match text(element) {
            Some(text) => text.chars().all(|symbol| symbol == ' ' || is_blank_symbol(symbol)),
            None => matches!(element, "0" | "null"),
        };
        let has_numbers = elements.iter().all(|element| !element.starts_with('"') || is_blank(element));
        let blank = elements.iter().find(|element| is_blank(element)).copied().unwrap_or("\".\"");
        let symbols = || {
            elements
                .iter()
                .filter_map(|element| text(element))
                .flat_map(|text| text.chars().collect::<Vec<_>>())
        };
        let blank_symbol = symbols().find(|&symbol| is_blank_symbol(symbol)).unwrap_or('.');
        let mut cells = cells.iter().zip(grid.digits());
        let (mut written, mut rest) = (String::with_capacity(2 * old.len()), old);
        for element in elements {
            let at = offset(rest.as_bytes(), element.as_bytes());
            written.push_str(&rest[..at]);
            rest = &rest[at + element.len()..];
            let count = text(element).map_or(1, |text| text.chars().count());
            if count > 1 {
                let symbol =
                    |(&cell, &digit): (&u8, &u8)| if digit == 0 { blank_symbol } else { cell.into() };
                let row: String = cells.by_ref().take(count).map(symbol).collect();
                written.push_str(&serde_json::Value::from(row).to_string());
            } else if let Some((&cell, &digit)) = cells.next() {
                match digit {
                    0 => written.push_str(blank),
                    _ if has_numbers => written.push_str(&digit.to_string()),
                    _ => written.push_str(&serde_json::Value::from(char::from(cell).to_string()).to_string()),
                }
            }
        }
        written.push_str(rest);
        written.into_bytes()
    }
}

/// The elements of a JSON array that are no arrays, as they are written.
fn elements(array: &str) -> Vec<&str> {
    let (mut elements, mut rest) = (Vec::new(), array);
    while let Some(begin) = rest.find(|c: char| c == '"' || c.is_ascii_alphanumeric()) {
        rest = &rest[begin..];
        let mut is_escaped = false;
        let ends_text = |c: char| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        };
        let length = match rest.strip_prefix('"') {
            Some(text) => text.find(ends_text).map_or(rest.len(), |end| end + 2),
            None => rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()),
        };
        let (element, behind) = rest.split_at(length);
        elements.push(element);
        rest = behind;
    }
    elements
}

/// The JSON array `old` with other values in the places of its own, and the blank that it has.
fn values_like(old: &str, digits: &[u8]) -> Vec<u8> {
    let is_value = |c: char| c.is_ascii_alphanumeric();
    let mut values = old.split(|c| !is_value(c));
    let blank = values.find(|value| matches!(*value, "0" | "null")).unwrap_or("0");
    let (mut written, mut rest) = (String::with_capacity(old.len() + digits.len()), old);
    for digit in digits {
        let (before, from) = rest.split_at(rest.find(is_value).unwrap_or(rest.len()));
        written.push_str(before);
        rest = from.trim_start_matches(is_value);
        match digit {
            0 => written.push_str(blank),
            digit => written.push_str(&digit.to_string()),
        }
    }
    written.push_str(rest);
    written.into_bytes()
}

/// The range in a text of a part of it.
pub(super) fn range_in(text: &[u8], part: &[u8]) -> Range<usize> {
    offset(text, part)..offset(text, part) + part.len()
}

/// [`Format::replaced`] for cells on a line.
pub(super) fn line(format: &Format, text: &[u8], old: &Grid, puzzle: &Grid) -> Vec<(Range<usize>, Vec<u8>)> {
    let cells = lines::cells(format, text);
    vec![(range_in(text, cells), format.cells_like(cells, old, puzzle))]
}

/// [`Format::replaced`] for fields of a row, each with a grid.
pub(super) fn fields_of_row(
    format: &Format,
    text: &[u8],
    old: &Grid,
    puzzle: &Grid,
    solution: Option<&Grid>,
) -> Vec<(Range<usize>, Vec<u8>)> {
    let Columns { delimiter, puzzle: column, .. } = format.columns;
    let cells = fields(text, delimiter).nth(column);
    let cells = cells.map(|field| (range_in(text, field), format.cells_like(field, old, puzzle)));
    cells.into_iter().chain(solution_field(format, text, solution)).collect()
}

/// What replaces the solution beside the puzzle of a row.
pub(super) fn solution_field(
    format: &Format,
    row: &[u8],
    solution: Option<&Grid>,
) -> Option<(Range<usize>, Vec<u8>)> {
    let field = fields(row, format.columns.delimiter).nth(format.columns.solution?)?;
    solution.map(|solution| (range_in(row, field), format.cells_like(field, solution, solution)))
}

/// [`Format::replaced`] for members of an object.
pub(super) fn members_of_object(
    format: &Format,
    text: &[u8],
    puzzle: &Grid,
    solution: Option<&Grid>,
) -> Vec<(Range<usize>, Vec<u8>)> {
    let Some(found) = members(text, &format.keys) else { return Vec::new() };
    let pairs = found.into_iter().zip([Some(puzzle), solution]);
    let parts = pairs.filter_map(|(old, new)| old.zip(new));
    parts.map(|(old, new)| (range_in(text, old.as_bytes()), format.json_like(old, new))).collect()
}

/// The values of the members that hold the puzzle and its solution, as they are written.
fn members<'a>(text: &'a [u8], keys: &Keys) -> Option<[Option<&'a str>; 2]> {
    struct Values<'k>(&'k Keys);
    impl<'de> Visitor<'de> for Values<'_> {
        type Value = [Option<&'de str>; 2];

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut values = [None; 2];
            while let Some(key) = map.next_key::<String>()? {
                if key == self.0.puzzle {
                    values[0] = Some(map.next_value::<&'de RawValue>()?.get());
                } else if Some(&key) == self.0.solution.as_ref() {
                    values[1] = Some(map.next_value::<&'de RawValue>()?.get());
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(values)
        }
    }
    serde_json::Deserializer::from_slice(text).deserialize_map(Values(keys)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Hint, Records, sniff};

    /// The text with the puzzles and solutions of its rows exchanged for these.
    fn rewritten(text: &str, puzzle: &str, solution: &str) -> String {
        let preamble = sniff(text.as_bytes(), &Hint::default(), true).unwrap().unwrap();
        let (format, body) = (preamble.format, &text.as_bytes()[preamble.body..]);
        let [puzzle, solution]: [Grid; 2] = [puzzle, solution].map(|text| text.parse().unwrap());
        let mut old = Grid::empty(format.order());
        let mut records = Records::new(&format, body, 1);
        let mut out = Vec::new();
        while let Some(record) = records.read(&mut old) {
            assert_eq!(record.error, None);
            let line = if record.row.is_empty() { body.trim_ascii_end() } else { record.row };
            let solution = record.given.is_some().then_some(&solution);
            format.rewrite(line, &old, &puzzle, solution, &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    const PUZZLE: &str = "..4...1.1.......";
    const SOLUTION: &str = "2143341212344321";

    #[test]
    fn cells_take_the_place_of_others_and_nothing_else_changes() {
        let zeros = PUZZLE.replace('.', "0");
        let cases = [
            ("1.34............ # easy, 3\n".to_owned(), format!("{PUZZLE} # easy, 3\n")),
            ("1034000000000000\n".to_owned(), format!("{zeros}\n")),
            (
                "id,puzzle,solution,note\r\n7, 1.34............ ,1234341221434321,\"a,b\"\r\n".to_owned(),
                format!("7, {PUZZLE} ,{SOLUTION},\"a,b\"\r\n"),
            ),
            (
                "solution;puzzle\n\"1234341221434321\";\"1034000000000000\"\n".to_owned(),
                format!("\"{SOLUTION}\";\"{zeros}\"\n"),
            ),
            (
                "{\"x\": 1, \"puzzle\":\"1.34............\", \"solution\" : \"1234341221434321\", \"y\": [2]}\n"
                    .to_owned(),
                format!("{{\"x\": 1, \"puzzle\":\"{PUZZLE}\", \"solution\" : \"{SOLUTION}\", \"y\": [2]}}\n"),
            ),
            (
                "{\"puzzle\":\"1034000000000000\"}\n".to_owned(),
                format!("{{\"puzzle\":\"{zeros}\"}}\n"),
            ),
            (
                "{\"puzzle\":[[1,0,3,4],[0,0,0,0],[0,0,0,0],[0,0,0,0]],\"n\":1}\n".to_owned(),
                "{\"puzzle\":[[0,0,4,0],[0,0,1,0],[1,0,0,0],[0,0,0,0]],\"n\":1}\n".to_owned(),
            ),
            (
                "{\"q\": [1, null, 3, 4, null, 0,0,0, 0,0,0,0, 0,0,0,0], \"a\": [[1,2,3,4],[3,4,1,2],[2,1,4,3],[4,3,2,1]]}\n"
                    .to_owned(),
                "{\"q\": [null, null, 4, null, null, null,1,null, 1,null,null,null, null,null,null,null], \
                 \"a\": [[2,1,4,3],[3,4,1,2],[1,2,3,4],[4,3,2,1]]}\n"
                    .to_owned(),
            ),
            (
                "{\"puzzle\": [[\"1\",\"\",\"3\",\"4\"],[\"\",\"\",\"\",\"\"], [\"\",\"\",\"\",\"\"],[\"\",\"\",\"\",\"\"]], \"n\":1}\n".to_owned(),
                "{\"puzzle\": [[\"\",\"\",\"4\",\"\"],[\"\",\"\",\"1\",\"\"], [\"1\",\"\",\"\",\"\"],[\"\",\"\",\"\",\"\"]], \"n\":1}\n".to_owned(),
            ),
            (
                "{\"puzzle\":[[1,\".\",3,4],[\".\",\".\",\".\",\".\"],[\".\",\".\",\".\",\".\"],[\".\",\".\",\".\",\".\"]]}\n".to_owned(),
                "{\"puzzle\":[[\".\",\".\",4,\".\"],[\".\",\".\",1,\".\"],[1,\".\",\".\",\".\"],[\".\",\".\",\".\",\".\"]]}\n".to_owned(),
            ),
            (
                "{\"puzzle\":[[\"1\",null,\"\\u0033\",\"4\"],[null,null,null,null],[null,null,null,null],[null,null,null,null]]}\n".to_owned(),
                "{\"puzzle\":[[null,null,\"4\",null],[null,null,\"1\",null],[\"1\",null,null,null],[null,null,null,null]]}\n".to_owned(),
            ),
            (
                "{\"puzzle\":[\"1_34\", \"____\", \"____\", \"____\"],\"solution\":[\"1234\",\"3412\",\"2143\",\"4321\"]}\n".to_owned(),
                "{\"puzzle\":[\"__4_\", \"__1_\", \"1___\", \"____\"],\"solution\":[\"2143\",\"3412\",\"1234\",\"4321\"]}\n".to_owned(),
            ),
            (
                "{\"puzzle\":\"1x34xxxxxxxxxxxx\",\"solution\":\"\\u0031234341221434321\"}\n".to_owned(),
                format!("{{\"puzzle\":\"{}\",\"solution\":\"{SOLUTION}\"}}\n", PUZZLE.replace('.', "x")),
            ),
            (
                "1,0,3,4,0,0,0,0,0,0,0,0,0,0,0,0\n".to_owned(),
                "0,0,4,0,0,0,1,0,1,0,0,0,0,0,0,0\n".to_owned(),
            ),
            (
                "1,0,3,4,0,0,0,0,0,0,0,0,0,0,0,0,1234341221434321,,easy\n".to_owned(),
                format!("0,0,4,0,0,0,1,0,1,0,0,0,0,0,0,0,{SOLUTION},,easy\n"),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(rewritten(&text, PUZZLE, SOLUTION), expected, "{text}");
        }
    }
}
