//! `cells`: one puzzle a line, its cells apart, as numbers: what spreadsheets, pandas and `NumPy`
//! write.
//!
//! A blank is `0`, `-1`, an empty field, or any blank of other notations. A number may have a
//! fraction of zeros and an exponent.
//!
//! Behind the cells may be columns of a table, of which the first that is not empty has a text: so a
//! solution and an error are, as our own tables have them. Each row shows that by itself, because a
//! hint names no columns.

use std::ops::Range;

use super::cell::{no_cell, number, read_cell};
use super::lines::{characters, given_solution, is_no_puzzle, offset};
use super::rewrite::{range_in, solution_field};
use super::table::{Columns, fields};
use super::{Format, MAX_LINE_BYTES, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, MAX_SIDE};

/// The cells of a row; `None` for a wrong length.
pub(super) fn cells<'a>(format: &Format, row: &'a [u8]) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
    let Columns { delimiter, puzzle, .. } = format.columns;
    let count = format.order.cells();
    let mut behind = fields(row, delimiter).skip(puzzle);
    let is_whole = behind.by_ref().take(count).count() == count && may_be_behind(behind);
    is_whole.then(|| fields(row, delimiter).skip(puzzle).take(count))
}

/// Whether these fields may be behind the cells of a row: an empty one, or a text and anything else
/// behind it.
fn may_be_behind<'a>(fields: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut empty = 0;
    for field in fields {
        if !field.is_empty() {
            return is_text(field);
        }
        empty += 1;
    }
    empty <= 1
}

/// Whether a field is a text, which is longer than any cell and no number.
pub(super) fn is_text(field: &[u8]) -> bool {
    characters(field).nth(2).is_some() && number(field).is_none()
}

/// Reads the next row.
pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    loop {
        let (line, number) = records.take_line()?;
        if is_no_puzzle(line) {
            continue;
        }
        let error = read_row(format, line, puzzle).err();
        let error = error.map(|problem| PuzzleError { problem, line: Some(number) });
        let given = format.columns.solution.and_then(|at| fields(line, format.columns.delimiter).nth(at));
        return Some(Record { line: number, given: given.and_then(given_solution), row: line, error });
    }
}

pub(super) fn read_row(format: &Format, line: &[u8], puzzle: &mut Grid) -> Result<(), Problem> {
    let cells = cells(format, line).ok_or(Problem::WrongLength)?;
    for (to, field) in puzzle.digits_mut().iter_mut().zip(cells) {
        *to = read_cell(format, field).ok_or_else(|| no_cell(format, line, field))?;
    }
    // A line that was cut has lost what closes its quotes.
    match fields(line, format.columns.delimiter).open_quotes().filter(|_| line.len() < MAX_LINE_BYTES) {
        Some(open) => Err(Problem::open_quotes(line, offset(line, open))),
        None => Ok(()),
    }
}

/// [`Format::replaced`] for this notation: each value is written as the row writes it.
pub(super) fn replaced(
    format: &Format,
    text: &[u8],
    old: &Grid,
    puzzle: &Grid,
    solution: Option<&Grid>,
) -> Vec<(Range<usize>, Vec<u8>)> {
    let has_numbers = format.has_numbers();
    let mut written: [Vec<u8>; MAX_SIDE + 1] = std::array::from_fn(|value| {
        let mut cell = Vec::new();
        format.write_apart(u8::try_from(value).unwrap_or(0), has_numbers, &mut cell);
        cell
    });
    let cells = || cells(format, text).into_iter().flatten();
    for (field, &digit) in cells().zip(old.digits()) {
        written[usize::from(digit)] = field.to_vec();
    }
    let new = cells().zip(puzzle.digits());
    let new = new.map(|(field, &digit)| (range_in(text, field), written[usize::from(digit)].clone()));
    new.chain(solution_field(format, text, solution)).collect()
}

impl Format {
    /// Appends the cells of a grid between commas, without a line end, which [`Notation::Cells`](super::Notation::Cells)
    /// reads: numbers, 0 for a blank; in an alphabet with other symbols for these, its symbols, `.`
    /// for a blank.
    pub fn write_numbers(&self, grid: &Grid, out: &mut Vec<u8>) {
        let has_numbers = self.has_numbers();
        for (index, &digit) in grid.digits().iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.write_apart(digit, has_numbers, out);
        }
    }

    /// Whether the digits of numbers are the symbols of the same values, so that numbers are read.
    fn has_numbers(&self) -> bool {
        let reads = |value: u8| self.codec.decode(b'0' + value) == value;
        (0..=9).take(self.order.side() + 1).all(reads)
    }

    /// Appends a cell of [`Self::write_numbers`].
    fn write_apart(&self, digit: u8, has_numbers: bool, out: &mut Vec<u8>) {
        if !has_numbers {
            out.push(self.codec.encode(digit));
            return;
        }
        if digit >= 10 {
            out.push(b'0' + digit / 10);
        }
        out.push(b'0' + digit % 10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Order;
    use crate::text::{Alphabet, Column, FormatError, Hint, Notation, detect};

    fn read_all(text: &str) -> Vec<String> {
        let preamble =
            detect(text.as_bytes(), &Hint::default()).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(preamble.format.notation(), Notation::Cells, "{text}");
        let mut records =
            Records::new(&preamble.format, &text.as_bytes()[preamble.body..], 1 + preamble.lines);
        let mut grid = Grid::empty(Order::NINE);
        let mut found = Vec::new();
        while let Some(record) = records.read(&mut grid) {
            found.push(record.error.map_or_else(|| grid.to_string(), |error| error.to_string()));
        }
        found
    }

    #[test]
    fn cells_are_numbers_in_fields() {
        let puzzle = "12....1.........";
        let cells = |blank: &str| -> Vec<String> {
            puzzle.chars().map(|c| if c == '.' { blank.to_owned() } else { c.to_string() }).collect()
        };
        let floats: Vec<String> =
            cells("0").iter().map(|cell| format!("{cell}.000000000000000000e+00")).collect();
        let heading: Vec<String> = (0..16).map(|column| column.to_string()).collect();
        let texts = [
            cells("0").join(",") + "\n",
            cells("").join(",") + ",\n",
            cells(".").join(" ") + "\n",
            cells("0").join("\t") + "\n",
            cells("nan").join(";") + "\n",
            cells("-1").join(",") + "\n",
            cells("-1.0").join(" ") + "\n",
            floats.join(" ") + "\n",
            format!("{}\n{}\n", heading.join(","), cells("0").join(",")),
            format!(",{}\n0,{}\n", heading.join(","), cells("0.0").join(",")),
        ];
        for text in texts {
            assert_eq!(read_all(&text), [puzzle], "{text}");
        }
        let bad = format!("{0}\n{0}\n{0}\n1,2,3\n5{1}\n", cells("0").join(","), &cells("0").join(",")[1..]);
        assert_eq!(
            read_all(&bad)[3..],
            ["Line 4 has the wrong length.", "Line 5 has an invalid character. It is '5' in column 1."]
        );
    }

    /// Whatever is behind the cells of a row, it spoils that row only, and no heading.
    #[test]
    fn a_row_that_is_too_long_is_an_error_in_its_place() {
        let cells = ["1", "2", "0", "0", "0", "0", "1", "0", "0", "0", "0", "0", "0", "0", "0", "0"];
        let names: Vec<String> = (1..=16).map(|at| format!("cell{at}")).collect();
        let sound = "12....1.........".to_owned();
        for (between, more) in [
            (",", ",1,2"),
            (",", ",3"),
            (",", ",,,,"),
            (",", ",1,2,0,0,0,0,1,0,0,0,0,0,0,0,0,0"),
            (" ", " # a comment"),
            (";", ";;1"),
            ("\t", "\t1"),
        ] {
            let row = cells.join(between) + "\n";
            let long = cells.join(between) + more + "\n";
            for bad in 0..5 {
                let rows: Vec<&str> = (0..5).map(|at| if at == bad { &*long } else { &*row }).collect();
                for heading in ["", &(names.join(between) + "\n")] {
                    let line = bad + if heading.is_empty() { 1 } else { 2 };
                    let mut wanted = vec![sound.clone(); 5];
                    wanted[bad] = format!("Line {line} has the wrong length.");
                    let text = heading.to_owned() + &rows.concat();
                    assert_eq!(read_all(&text), wanted, "{text}");
                }
            }
        }
        // A comma at the end of some rows, or of the heading too.
        let row = cells.join(",") + "\n";
        let heading = names.join(",");
        for text in [
            format!("{heading}\n{row}{row}{},\n", row.trim_end()),
            format!("{heading},\n{row}{row}{},\n", row.trim_end()),
            format!("{heading},note\n{}", format!("{},\n", row.trim_end()).repeat(3)),
        ] {
            assert_eq!(read_all(&text), vec![sound.clone(); 3], "{text}");
        }
    }

    /// As our own tables have them, which need not have a heading.
    #[test]
    fn columns_of_texts_may_be_behind_the_cells() {
        use crate::text::Format;
        for order in &Order::ALL[1..4] {
            let side = order.side();
            let box_side = order.box_side();
            let value = |at: usize, shift: usize| {
                let (row, column) = (at / side, at % side);
                1 + (row * box_side + row / box_side + column + shift) % side
            };
            let solution = |shift: usize| -> Vec<u8> {
                (0..order.cells()).map(|at| u8::try_from(value(at, shift)).unwrap()).collect()
            };
            let format = Format::new(Notation::Lines, *order, Alphabet::Letters).unwrap();
            let cells = |digits: &[u8]| {
                let mut line = Vec::new();
                format.write_digits(digits, &mut line);
                String::from_utf8(line).unwrap()
            };
            let row = |shift: usize, blank: &str| {
                let cell = |(at, value): (usize, u8)| {
                    if at % 3 == 0 { value.to_string() } else { blank.to_owned() }
                };
                solution(shift).into_iter().enumerate().map(cell).collect::<Vec<_>>().join(",")
            };
            let puzzle = |shift: usize| {
                let cell = |(at, value): (usize, u8)| if at % 3 == 0 { value } else { 0 };
                cells(&solution(shift).into_iter().enumerate().map(cell).collect::<Vec<_>>())
            };
            let names = (0..order.cells()).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
            for blank in ["0", "", "."] {
                for (heading, is_numbered) in
                    [(String::new(), false), (format!("{names},solution,error,guesses\n"), false)]
                        .into_iter()
                        .chain([(format!(",{names},solution,error,guesses\n"), true)])
                {
                    let mut text = heading.clone();
                    for at in 0..4 {
                        let number = if is_numbered { format!("{at},") } else { String::new() };
                        let (solution, error) =
                            if at == 2 { (String::new(), "no_solution") } else { (cells(&solution(at)), "") };
                        text += &format!("{number}{},{solution},{error},{at}\n", row(at, blank));
                    }
                    let lines = 1 + u64::from(!heading.is_empty());
                    let preamble = detect(text.as_bytes(), &Hint::default())
                        .unwrap_or_else(|error| panic!("{error}: {text}"));
                    let found = (preamble.format.notation(), preamble.format.order(), 1 + preamble.lines);
                    assert_eq!(found, (Notation::Cells, *order, lines), "{text}");
                    assert!(preamble.format.has_solutions(), "{text}");
                    // A part of it is read like all of it, but for the solutions.
                    let part = Hint::of(&preamble.format).format().unwrap().unwrap();
                    let body = &text.as_bytes()[preamble.body..];
                    let mut parts = Records::new(&part, body, lines);
                    let mut records = Records::new(&preamble.format, body, lines);
                    let mut grid = Grid::empty(*order);
                    for at in 0..4 {
                        let record = records.read(&mut grid).unwrap();
                        assert_eq!((record.error, grid.to_string()), (None, puzzle(at)), "{text}");
                        let wanted = if at == 2 { None } else { Some(cells(&solution(at))) };
                        assert_eq!(record.given, wanted.as_ref().map(String::as_bytes), "{text}");
                        assert_eq!(parts.read(&mut grid).unwrap().error, None, "{text}");
                        assert_eq!(grid.to_string(), puzzle(at), "{text}");
                    }
                }
            }
        }
    }

    /// Cells are written so that the same alphabet reads them: where it has no digits for values, or
    /// `0` for one, as its symbols.
    #[test]
    fn written_cells_are_read_back_in_every_alphabet() {
        let puzzle: Grid = "12....1......43.".parse().unwrap();
        let other: Grid = ".3....4.......1.".parse().unwrap();
        let cases = [
            ("letters", "1,2,0,0,0,0,1,0,0,0,0,0,0,4,3,0"),
            ("ascii", "1,2,0,0,0,0,1,0,0,0,0,0,0,4,3,0"),
            ("alpha", "A,B,.,.,.,.,A,.,.,.,.,.,.,D,C,."),
            ("hex", "0,1,.,.,.,.,0,.,.,.,.,.,.,3,2,."),
            ("4321", "4,3,.,.,.,.,4,.,.,.,.,.,.,1,2,."),
            ("1234", "1,2,0,0,0,0,1,0,0,0,0,0,0,4,3,0"),
        ];
        for (name, wanted) in cases {
            let format = Format::new(Notation::Cells, puzzle.order(), name.parse().unwrap()).unwrap();
            let mut text = Vec::new();
            format.write_numbers(&puzzle, &mut text);
            assert_eq!(String::from_utf8_lossy(&text), wanted, "{name}");
            // A disguise may have values that the row has not.
            let mut rewritten = Vec::new();
            format.rewrite(&text, &puzzle, &other, None, &mut rewritten);
            let bare: Grid = "1...............".parse().unwrap();
            let mut bare_text = Vec::new();
            format.write_numbers(&bare, &mut bare_text);
            format.rewrite(&bare_text, &bare, &other, None, &mut rewritten);
            let mut records = Records::new(&format, &rewritten, 1);
            let mut grid = Grid::empty(puzzle.order());
            for _ in 0..2 {
                assert_eq!(records.read(&mut grid).unwrap().error, None, "{name}");
                assert_eq!(grid, other, "{name}: {}", String::from_utf8_lossy(&rewritten));
            }
        }
        let sixteen = Order::ALL[3];
        let digits: Vec<u8> = (0..=16).chain([0; 239]).collect();
        for (name, wanted) in [("letters", "9,10,11,"), ("hex", "8,9,A,"), ("FEDCBA9876543210", "7,6,5,")] {
            let format = Format::new(Notation::Cells, sixteen, name.parse().unwrap()).unwrap();
            let mut text = Vec::new();
            format.write_numbers(&Grid::from_digits(sixteen, &digits), &mut text);
            let mut grid = Grid::empty(sixteen);
            assert_eq!(Records::new(&format, &text, 1).read(&mut grid).unwrap().error, None, "{name}");
            assert_eq!(grid.digits(), digits, "{name}");
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains(wanted), "{text}");
        }
    }

    #[test]
    fn a_hint_names_the_column_of_the_first_cell() {
        let cells = ["1"; 16].join(",");
        let text = format!("a,b,{cells}\n");
        let hint = |number| Hint { column: Some(Column::Number(number)), ..Hint::default() };
        let found = |text: &str, number| {
            let hint = Hint { notation: Some(Notation::Cells), ..hint(number) };
            let preamble = detect(text.as_bytes(), &hint).unwrap();
            let mut grid = Grid::empty(Order::NINE);
            let record = Records::new(&preamble.format, text.as_bytes(), 1).read(&mut grid)?;
            record.error.is_none().then(|| (preamble.format.columns.puzzle, grid.order().side()))
        };
        assert_eq!(found(&text, 3), Some((2, 4)));
        assert_eq!([found(&text, 1), found(&text, 2), found(&text, 100)], [None; 3]);
        // Without a hint these are cells and an empty field behind them.
        assert_eq!(found(&format!("{cells},\n"), 1), Some((0, 4)));
        assert_eq!(found(&format!("7,{cells}\n"), 2), Some((1, 4)));
    }

    /// A class or a level behind the cells is a number like them.
    #[test]
    fn a_column_before_the_cells_counts_or_is_told() {
        let cells = "1,2,0,0,0,0,1,0,0,0,0,0,0,0,0,0";
        let rows =
            |firsts: &[&str]| firsts.iter().map(|first| format!("{first},{cells}\n")).collect::<String>();
        let found = |text: &str, hint: &Hint| {
            detect(text.as_bytes(), hint).map(|found| Some(found.format.columns.puzzle))
        };
        let none = Hint::default();
        let names: Vec<String> = (0..17).map(|at| format!("c{at}")).collect();
        let ambiguous = Err(FormatError::AmbiguousCells { order: Order::ALL[1] });
        for (text, wanted) in [
            (rows(&["0", "1", "2"]), Ok(Some(1))),
            (rows(&["3", "4"]), Ok(Some(1))),
            (rows(&["17", "3", "5"]), Ok(Some(1))),
            (rows(&["a", "b"]), Ok(Some(1))),
            (rows(&["1"]), ambiguous.clone()),
            (rows(&["1", "1", "2"]), ambiguous.clone()),
            (rows(&["0", "2", "1"]), ambiguous.clone()),
            (rows(&["", "", ""]), Ok(Some(1))),
            (format!("{}\n{}", names.join(","), rows(&["1", "1"])), Ok(Some(1))),
            (format!(",{}\n{}", names[1..].join(","), rows(&["1", "1"])), Ok(Some(1))),
        ] {
            assert_eq!(found(&text, &none), wanted, "{text}");
        }
        // Nothing behind the last delimiter, or a last cell that is a blank.
        let ends_blank = |text: String| text.replace(",0\n", ",\n");
        for (text, wanted) in [
            (ends_blank(rows(&["1", "2"])), 1),
            (ends_blank(format!(",{}\n{}", names[1..].join(","), rows(&["1", "1"]))), 1),
        ] {
            assert_eq!(found(&text, &none), Ok(Some(wanted)), "{text}");
        }
        let named = |name: &str| Hint { column: Some(Column::Name(name.to_owned())), ..Hint::default() };
        let text = format!("{}\n{}", names.join(","), rows(&["1", "1"]));
        assert_eq!(found(&text, &named("C1")), Ok(Some(1)));
        assert!(matches!(found(&text, &named("other")), Err(FormatError::NoColumn { .. })));
        let told = Hint { column: Some(Column::Number(2)), ..none };
        assert_eq!(found(&rows(&["1", "1"]), &told), Ok(Some(1)));
    }

    #[test]
    fn numbers_are_whole_and_small() {
        let cases = [
            ("5", Some(5)),
            ("5.0", Some(5)),
            ("1.2e+01", Some(12)),
            ("NaN", Some(0)),
            ("5.5", None),
            ("-1", Some(0)),
            ("-1.000e+00", Some(0)),
        ];
        for (text, wanted) in cases {
            assert_eq!(number(text.as_bytes()), wanted, "{text}");
        }
        for bad in ["inf", "-2", "--1", "-nan", "+1", "256", "e", "1e9", "."] {
            assert_eq!(number(bad.as_bytes()), None, "{bad}");
        }
    }
}
