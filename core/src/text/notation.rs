//! The registry of notations: what is known of each, and which functions recognise, read and write
//! it.
//!
//! A new notation is a variant, an entry of [`Notation::ALL`], an arm of each `match` in this file
//! that has no rule for the others, its evidence in [`recognise`], and a file with the functions
//! that these call. Most else asks [`Notation::facts`]. What is peculiar to one notation is in some
//! other places too: its blanks (`alphabet.rs`), how its order and cells are seen in a sample
//! (`detect.rs`), texts without a puzzle (`misfit.rs`), what is wrong with a line or a cell (`lines.rs`),
//! bad rows that are copied (`rewrite.rs`), and solutions and fast paths (`mod.rs`).

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::detect::{
    LineLayout, Recognised, is_block_size, is_list_of_cells, is_plain_list, is_told_1x1, whole_lines,
};
use super::layout::{self, Found};
use super::lines::{is_no_puzzle, looked_at, puzzle_lines};
use super::table::{Columns, fields};
use super::{
    Format, FormatError, Hint, MAX_LINE_BYTES, Problem, PuzzleError, Record, Records, apart, json, lines,
    rewrite, table,
};
use crate::grid::{Grid, Order};

/// A way to write puzzles as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// One puzzle a line.
    Lines,
    /// The order (2 or 3) on the first line, then one puzzle a line with `.` as the only blank.
    Header,
    /// Rows of cells, with or without white space and rulers.
    Grid,
    /// `row column value` a line, one puzzle a text.
    Triples,
    /// A table, with or without a heading: fields between delimiters, one of which is the puzzle.
    Csv,
    /// One puzzle a line, its cells apart as numbers.
    Cells,
    /// A JSON object a line.
    Jsonl,
}

/// What is known of a notation, apart from the functions that read and write it.
#[derive(Clone, Copy)]
pub(super) struct NotationFacts {
    /// The name on the command line. The contract of the service has a value of the same name.
    pub(super) name: &'static str,
    /// What a puzzle takes up.
    pub(super) extent: Extent,
    /// Whether detection recognises it by its puzzles, so that a text in it always has some.
    pub(super) shows_puzzles: bool,
}

/// What a puzzle takes up in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// A line.
    Line,
    /// Fields in a row of a table.
    Row,
    /// A member of an object on a line.
    Object,
}

impl Notation {
    /// All notations, each with its name on the command line.
    pub const ALL: [(&'static str, Self); 7] = [
        Self::Lines.named(),
        Self::Header.named(),
        Self::Grid.named(),
        Self::Triples.named(),
        Self::Csv.named(),
        Self::Cells.named(),
        Self::Jsonl.named(),
    ];

    /// Whether every puzzle is written on a line of its own.
    #[must_use]
    pub const fn is_by_line(self) -> bool {
        !matches!(self, Self::Grid | Self::Triples)
    }

    /// The number of puzzles, good and bad, in whole lines below the heading, of a text with a puzzle a
    /// line.
    ///
    /// ```
    /// use sudoku_core::text::Notation;
    ///
    /// assert_eq!(Notation::Csv.count_puzzles(b"1,12....1.........\n\n# easy\nx,y\n"), 2);
    /// ```
    #[must_use]
    pub fn count_puzzles(self, lines: &[u8]) -> u64 {
        let is_puzzle = |line: &[u8]| self == Self::Header || !is_no_puzzle(looked_at(line));
        let text = lines.strip_suffix(b"\n").unwrap_or(lines);
        if lines.is_empty() {
            return 0;
        }
        let mut begin = 0;
        // Not byte by byte, because a client counts all that it sends.
        let all = memchr::memchr_iter(b'\n', text).chain([text.len()]).map(|end| {
            let line = &text[begin..end];
            begin = end + 1;
            line
        });
        all.filter(|line| is_puzzle(line)).count() as u64
    }

    /// What is known of this notation.
    pub(super) const fn facts(self) -> NotationFacts {
        use NotationFacts as Facts;
        match self {
            Self::Lines => Facts { name: "lines", extent: Extent::Line, shows_puzzles: false },
            Self::Header => Facts { name: "header", extent: Extent::Line, shows_puzzles: true },
            Self::Grid => Facts { name: "grid", extent: Extent::Line, shows_puzzles: true },
            Self::Triples => Facts { name: "triples", extent: Extent::Line, shows_puzzles: true },
            Self::Csv => Facts { name: "csv", extent: Extent::Row, shows_puzzles: false },
            Self::Cells => Facts { name: "cells", extent: Extent::Row, shows_puzzles: true },
            Self::Jsonl => Facts { name: "jsonl", extent: Extent::Object, shows_puzzles: false },
        }
    }

    const fn named(self) -> (&'static str, Self) {
        (self.facts().name, self)
    }
}

/// The layout of a text that is in this notation.
pub(super) fn lay_out(
    notation: Notation,
    sample: &[u8],
    first_end: usize,
    hint: &Hint,
) -> Result<LineLayout, FormatError> {
    let text = whole_lines(sample);
    let heading = |is_there: bool| if is_there { first_end } else { 0 };
    let mut layout = LineLayout::new(notation);
    match notation {
        Notation::Header => layout.body = heading(hint.has_heading != Some(false)),
        Notation::Csv => {
            if let Some(table) = table::find(text, hint)? {
                table.check_rows(text)?;
                (layout.columns, layout.body) = (table.columns, table.heading_len(sample));
                layout.names_puzzles = table.names_puzzles;
            } else {
                layout.columns.delimiter = hint.delimiter.unwrap_or(layout.columns.delimiter);
                layout.body = heading(hint.has_heading == Some(true));
            }
        }
        Notation::Cells => {
            let found = layout::apart(text, hint, sample.len() >= super::SAMPLE_BYTES)?;
            apart::lay_out(&mut layout, text, first_end, found, hint);
        }
        Notation::Jsonl => (layout.keys, layout.order) = json::find(text, hint)?,
        Notation::Lines | Notation::Grid | Notation::Triples => {}
    }
    Ok(layout)
}

/// What a text in an unknown notation is.
pub(super) fn recognise(sample: &[u8], first_end: usize, hint: &Hint) -> Result<Recognised, FormatError> {
    let text = whole_lines(sample);
    let goes_on = sample.len() >= super::SAMPLE_BYTES;
    let lines = |notation| Ok(Recognised::Lines(lay_out(notation, sample, first_end, hint)?, None));
    let is_table = hint.column.is_some() || hint.delimiter.is_some();
    if !is_table && is_plain_list(text) {
        return lines(Notation::Lines);
    }
    let is_jsonl = json::is_jsonl(text);
    are_cells_of_one(text, hint)?;
    if is_table {
        return lines(if is_jsonl { Notation::Jsonl } else { Notation::Csv });
    }
    let found = match layout::judge(text, hint, goes_on) {
        Ok(found) => found,
        Err(refusal) => {
            let layout = if is_jsonl {
                lay_out(Notation::Jsonl, sample, first_end, hint)
            } else {
                by_line(sample, first_end, hint)
            };
            // A heading that names the puzzles decides between columns.
            let is_named = layout.as_ref().is_ok_and(|layout| layout.is_named) && refusal.is_of_columns();
            return match refusal.error() {
                Some(error) if !is_named => Err(error),
                _ => {
                    let layout = layout?;
                    // Below a block size every line has an answer.
                    let is_told = is_named || layout.notation == Notation::Header;
                    Ok(Recognised::Lines(layout, Some(refusal).filter(|_| !is_told)))
                }
            };
        }
    };
    if is_jsonl && found.is_member() {
        return Ok(Recognised::Either(lay_out(Notation::Jsonl, sample, first_end, hint)?, found));
    }
    if let Some(columns) = found.apart() {
        let mut layout = LineLayout::new(Notation::Cells);
        apart::lay_out(&mut layout, text, first_end, Some(columns), hint);
        return Ok(if layout.order.is_some() {
            Recognised::Lines(layout, None)
        } else {
            Recognised::Converted(found)
        });
    }
    if found.field().is_none() {
        return Ok(below_count(found, sample, first_end, hint));
    }
    let mut layout = by_line(sample, first_end, hint)?;
    if layout.notation == Notation::Csv && !layout.is_named {
        layout.columns = layout.columns.with_puzzle_of(&found);
    }
    if layout.notation == Notation::Header {
        return Ok(header_or_list(layout, sample, first_end, found, hint));
    }
    if layout.notation == Notation::Csv && !layout.is_named && found.has_solutions_below() {
        return Ok(Recognised::Converted(found));
    }
    // A heading that names the puzzles decides.
    Ok(if layout.is_named { Recognised::Lines(layout, None) } else { Recognised::Either(layout, found) })
}

impl Columns {
    /// The columns of a table whose puzzles were found in one of its fields; then what was taken for them is
    /// their solutions.
    fn with_puzzle_of(self, found: &Found) -> Self {
        match found.field() {
            Some((Some(delimiter), puzzle)) if delimiter == self.delimiter && puzzle != self.puzzle => {
                Self { puzzle, solution: Some(self.puzzle), ..self }
            }
            _ => self,
        }
    }
}

/// Refuses lines of one cell each that are as many as a larger puzzle has.
fn are_cells_of_one(text: &[u8], hint: &Hint) -> Result<(), FormatError> {
    if hint.order.is_some() || puzzle_lines(text).any(|line| line.trim_ascii_start().len() != 1) {
        return Ok(());
    }
    match Order::from_cells(puzzle_lines(text).count()).filter(|order| order.side() > 1) {
        Some(order) => Err(FormatError::AmbiguousLayout {
            one: "1x1, a puzzle a line".to_owned(),
            other: format!("{order}, a cell a line"),
        }),
        None => Ok(()),
    }
}

/// Puzzles that are converted: those below the first line, if that is their number and was read as a
/// bad one.
pub(super) fn below_count(found: Found, sample: &[u8], first_end: usize, hint: &Hint) -> Recognised {
    let number =
        std::str::from_utf8(sample[..first_end].trim_ascii()).ok().and_then(|number| number.parse().ok());
    let goes_on = sample.len() >= super::SAMPLE_BYTES;
    let below = |number: usize| {
        let below = layout::judge(whole_lines(&sample[first_end..]), hint, goes_on).ok()?;
        let is_count = number == below.count() || goes_on && number > below.count();
        let is_bad = below.count() - below.good() < found.count() - found.good();
        (is_count && is_bad && below.layout() == found.layout()).then_some(below)
    };
    match number.and_then(below) {
        Some(below) => Recognised::Below(below),
        None => Recognised::Converted(found),
    }
}

/// A text with a number above its puzzles: that is the block size, or how many there are, or it is
/// refused.
fn header_or_list(
    layout: LineLayout,
    sample: &[u8],
    first_end: usize,
    found: Found,
    hint: &Hint,
) -> Recognised {
    let number =
        std::str::from_utf8(sample[..first_end].trim_ascii()).ok().and_then(|number| number.parse().ok());
    let is_size = number == Some(found.order().box_side());
    let is_count = number == Some(found.count()) && sample.len() < super::SAMPLE_BYTES;
    let is_strict = is_size && hint.order.is_none() && !found.has_other_blank_than_dot();
    if is_count && !is_strict {
        Recognised::Below(found.into_list())
    } else {
        Recognised::Lines(layout, None)
    }
}

/// Whether the first line may be a block size or another number above all puzzles.
fn has_number_above(sample: &[u8], first_end: usize, hint: &Hint) -> bool {
    // Many lines, none of which is as long as a puzzle, are no list below its size.
    const MANY_LINES: usize = 9;
    let (first, below) = sample.split_at(first_end);
    let is_long = |line: &[u8]| line.len() >= table::LEAST_CELLS;
    let are_cells = puzzle_lines(below).all(|line| line.trim_ascii_start().len() == 1);
    if !are_cells && puzzle_lines(below).nth(MANY_LINES - 1).is_some() && !puzzle_lines(below).any(is_long) {
        return false;
    }
    hint.has_heading != Some(false) && !is_told_1x1(hint) && is_block_size(first.trim_ascii(), below, hint)
}

/// The layout of a text with a puzzle a line: below a block size, in a table, or by itself.
fn by_line(sample: &[u8], first_end: usize, hint: &Hint) -> Result<LineLayout, FormatError> {
    let text = whole_lines(sample);
    let first = sample[..first_end].trim_ascii();
    if has_number_above(sample, first_end, hint) {
        if hint.order.is_some() || !is_list_of_cells(first, text, hint) {
            return lay_out(Notation::Header, sample, first_end, hint);
        }
        // A number alone is a puzzle.
        if puzzle_lines(text).nth(1).is_some() {
            let problem = Problem::AmbiguousBlockSize;
            return Err(FormatError::Puzzle(PuzzleError { problem, line: Some(1) }));
        }
    }
    if let Some(found) = table::find(text, hint)?.filter(|table| table.is_likely) {
        found.check_rows(text)?;
        let table::Table { columns, names_puzzles, is_named, .. } = found;
        let body = found.heading_len(sample);
        return Ok(LineLayout { body, columns, names_puzzles, is_named, ..LineLayout::new(Notation::Csv) });
    }
    lay_out(Notation::Lines, sample, first_end, hint)
}

/// The cells of each puzzle of a sample, or of each row, from which order and alphabet are detected.
pub(super) fn sampled_cells<'a>(layout: &LineLayout, text: &'a [u8]) -> Vec<Cow<'a, [u8]>> {
    match layout.notation {
        Notation::Csv => {
            let Columns { delimiter, puzzle, .. } = layout.columns;
            let field = |row| fields(row, delimiter).nth(puzzle).unwrap_or_default();
            puzzle_lines(text).map(|row| Cow::Borrowed(field(row))).collect()
        }
        Notation::Jsonl => json::texts(text, &layout.keys).into_iter().map(Cow::Owned).collect(),
        Notation::Cells => Vec::new(),
        Notation::Lines => puzzle_lines(text).map(|line| Cow::Borrowed(line.trim_ascii_start())).collect(),
        Notation::Header | Notation::Grid | Notation::Triples => {
            puzzle_lines(text).map(Cow::Borrowed).collect()
        }
    }
}

impl Format {
    /// The length in bytes of the whole lines at the start of `text`, which can be read by themselves:
    /// all of it if `at_end`, that is, if no text follows.
    #[must_use]
    pub fn cut(&self, text: &[u8], at_end: bool) -> usize {
        if at_end { text.len() } else { lines::cut(text) }
    }

    /// Appends what stands above all puzzles of a text in this notation, if anything does.
    pub fn write_heading(&self, out: &mut Vec<u8>) {
        match self.notation {
            Notation::Header => self.write_block_size(out),
            Notation::Csv => out.extend_from_slice(b"puzzle,solution\n"),
            _ => {}
        }
    }

    /// Appends a puzzle as it is written in this notation, with its solution where the notation has
    /// a place for one.
    ///
    /// ```
    /// use sudoku_core::grid::Grid;
    /// use sudoku_core::text::{Alphabet, Format, Notation};
    ///
    /// let puzzle: Grid = "12....1.........".parse()?;
    /// let format = Format::new(Notation::Csv, puzzle.order(), Alphabet::Letters)?;
    /// let mut text = Vec::new();
    /// format.write_heading(&mut text);
    /// format.write_puzzle(&puzzle, None, &mut text);
    /// assert_eq!(text, b"puzzle,solution\n12....1.........,\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_puzzle(&self, puzzle: &Grid, solution: Option<&Grid>, out: &mut Vec<u8>) {
        match self.notation {
            Notation::Lines | Notation::Header => self.write_line(puzzle.digits(), out),
            Notation::Grid => {
                self.write_grid(puzzle, out);
                out.push(b'\n');
            }
            Notation::Triples => self.write_triples(puzzle, out),
            Notation::Csv => self.write_row(puzzle, solution, out),
            Notation::Cells => {
                self.write_numbers(puzzle, out);
                out.push(b'\n');
            }
            Notation::Jsonl => self.write_object(puzzle, solution, out),
        }
    }

    /// Reads the [solution](Record::given) beside a puzzle into a grid of this format's order.
    ///
    /// # Errors
    /// A wrong length, or the first bad character.
    pub fn read_solution(&self, given: &[u8], solution: &mut Grid) -> Result<(), Problem> {
        match self.notation {
            Notation::Jsonl => json::read_solution(self, given, solution),
            _ => self.read_cells(given, solution),
        }
    }

    /// The parts of a line to replace, each with other bytes, so that the line has `puzzle` in the
    /// place of `old`, and another solution in the place of the one beside it.
    pub(super) fn replaced(
        &self,
        text: &[u8],
        old: &Grid,
        puzzle: &Grid,
        solution: Option<&Grid>,
    ) -> Vec<(Range<usize>, Vec<u8>)> {
        match self.notation {
            Notation::Lines | Notation::Header | Notation::Grid | Notation::Triples => {
                rewrite::line(self, text, old, puzzle)
            }
            Notation::Csv => rewrite::fields_of_row(self, text, old, puzzle, solution),
            Notation::Cells => apart::replaced(self, text, old, puzzle, solution),
            Notation::Jsonl => rewrite::members_of_object(self, text, puzzle, solution),
        }
    }
}

impl<'a> Records<'a> {
    /// [`Self::read`] into a grid of the right order.
    #[inline]
    pub(super) fn read_next(&mut self, puzzle: &mut Grid) -> Option<Record<'a>> {
        let mut record = match self.format.notation {
            // Grids and triples are converted to lines.
            Notation::Lines | Notation::Header | Notation::Grid | Notation::Triples => {
                lines::read(self, puzzle)
            }
            Notation::Csv => lines::read_csv(self, puzzle),
            Notation::Cells => apart::read(self, puzzle),
            Notation::Jsonl => json::read(self, puzzle),
        };
        // Changed in place, because moving each record costs tables 2 %.
        if let Some(record) = &mut record {
            // The end of the row is lost, so it cannot be written as it is, and it has the same answer
            // in all forms.
            if record.row.len() >= MAX_LINE_BYTES && record.error.is_none() {
                record.error = Some(PuzzleError { problem: Problem::WrongLength, line: Some(record.line) });
            }
        }
        record
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().name)
    }
}

/// The error of an unknown notation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no notation. Use {names}.", names = notation_names())]
pub struct NoNotation(String);

/// The names of all notations: `lines, header, … or jsonl`.
fn notation_names() -> String {
    let names = Notation::ALL.map(|(name, _)| name);
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl FromStr for Notation {
    type Err = NoNotation;

    fn from_str(text: &str) -> Result<Self, NoNotation> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, notation)| notation).ok_or_else(|| NoNotation(text.to_owned()))
    }
}
