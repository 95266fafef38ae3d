//! The registry of notations: what is known of each, and which functions recognise, read and write
//! it.
//!
//! A new notation is a variant, an entry of [`Notation::ALL`], an arm of each `match` in this file
//! that has no rule for the others, its evidence in [`recognise`], and a file with the functions
//! that these call. Most else asks [`Notation::facts`]. What is peculiar to one notation is in some
//! other places too: its blanks (`alphabet.rs`), how its order and cells are seen in a sample
//! (`detect.rs`, `readings.rs`), texts without a puzzle (`misfit.rs`), what is wrong with a line or a
//! cell (`lines.rs`, `rows.rs`), bad rows that are copied (`rewrite.rs`), and solutions and fast paths
//! (`mod.rs`).

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::bars::BarLayout;
use super::detect::{
    Layout, MAX_COUNT_DIGITS, SAMPLE_BYTES, is_block_size, is_grid, is_list_of_cells, is_plain_list,
    is_told_1x1, is_triples, row_style, sniff, style_below_number, whole_lines,
};
use super::lines::{is_no_puzzle, looked_at, puzzle_lines};
use super::readings::are_rows;
use super::table::{Columns, LEAST_CELLS, Table, fields};
use super::{
    Alphabet, Format, FormatError, Hint, MAX_LINE_BYTES, Problem, PuzzleError, Record, Records, apart, bars,
    json, lines, rewrite, rows, table, triples,
};
use crate::grid::Grid;

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
    /// Several lines.
    Lines,
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

    /// The number of puzzles, good and bad, in whole lines below the heading. `None` in a notation in
    /// which a puzzle takes several lines.
    ///
    /// ```
    /// use sudoku_core::text::Notation;
    ///
    /// assert_eq!(Notation::Csv.count_puzzles(b"1,12....1.........\n\n# easy\nx,y\n"), Some(2));
    /// assert_eq!(Notation::Grid.count_puzzles(b"12 ..\n.. ..\n.1 ..\n.. ..\n"), None);
    /// ```
    #[must_use]
    pub fn count_puzzles(self, lines: &[u8]) -> Option<u64> {
        let is_puzzle = |line: &[u8]| self == Self::Header || !is_no_puzzle(looked_at(line));
        let text = lines.strip_suffix(b"\n").unwrap_or(lines);
        let mut begin = 0;
        // Not byte by byte, because a client counts all that it sends.
        let all = memchr::memchr_iter(b'\n', text).chain([text.len()]).map(|end| {
            let line = &text[begin..end];
            begin = end + 1;
            line
        });
        match self.facts().extent {
            Extent::Lines => None,
            _ if lines.is_empty() => Some(0),
            _ => Some(all.filter(|line| is_puzzle(line)).count() as u64),
        }
    }

    /// What is known of this notation.
    pub(super) const fn facts(self) -> NotationFacts {
        use NotationFacts as Facts;
        match self {
            Self::Lines => Facts { name: "lines", extent: Extent::Line, shows_puzzles: false },
            Self::Header => Facts { name: "header", extent: Extent::Line, shows_puzzles: true },
            Self::Grid => Facts { name: "grid", extent: Extent::Lines, shows_puzzles: false },
            Self::Triples => Facts { name: "triples", extent: Extent::Lines, shows_puzzles: true },
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
) -> Result<Layout, FormatError> {
    let text = whole_lines(sample);
    let heading = |is_there: bool| if is_there { first_end } else { 0 };
    let mut layout = Layout::new(notation);
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
        Notation::Cells => apart::lay_out(&mut layout, text, first_end, hint)?,
        Notation::Jsonl => (layout.keys, layout.order) = json::find(text, hint)?,
        Notation::Grid => {
            let bars = bars::find(text, sample.len() >= SAMPLE_BYTES, hint);
            let has_number = bars.is_none() && has_number_above(sample, first_end, hint);
            let below_number = has_number.then(|| lay_out_below_number(sample, first_end, hint)).flatten();
            return Ok(below_number.unwrap_or_else(|| lay_out_grid(sample, first_end, hint, bars)));
        }
        Notation::Triples => {
            layout.body =
                heading(hint.has_heading.unwrap_or_else(|| triples::is_heading(&sample[..first_end])));
        }
        Notation::Lines => {}
    }
    Ok(layout)
}

/// The layout of a grid, whose cells are between `bars` if spaces are blanks.
fn lay_out_grid(sample: &[u8], first_end: usize, hint: &Hint, bars: Option<BarLayout>) -> Layout {
    let (style, has_heading) = row_style(whole_lines(sample), sample.len() >= SAMPLE_BYTES, hint, bars);
    Layout { style, body: if has_heading { first_end } else { 0 }, ..Layout::new(Notation::Grid) }
}

/// Whether the first line may be a block size or another number above all puzzles.
fn has_number_above(sample: &[u8], first_end: usize, hint: &Hint) -> bool {
    let (first, below) = sample.split_at(first_end);
    hint.has_heading != Some(false) && !is_told_1x1(hint) && is_block_size(first.trim_ascii(), below, hint)
}

/// The layout of a grid below a first line that [may be a number](has_number_above). `None` for other
/// texts.
fn lay_out_below_number(sample: &[u8], first_end: usize, hint: &Hint) -> Option<Layout> {
    let rows = whole_lines(sample).get(first_end..).unwrap_or_default();
    let number = sample[..first_end].trim_ascii();
    let style = style_below_number(number, rows, sample.len() >= SAMPLE_BYTES, hint)?;
    // A longer number is a damaged row.
    let body = if number.len() <= MAX_COUNT_DIGITS { first_end } else { 0 };
    Some(Layout { body, style, ..Layout::new(Notation::Grid) })
}

/// The layout of a text in an unknown notation. Where several would do, the first that is looked
/// for here wins.
pub(super) fn recognise(
    sample: &[u8],
    first: &[u8],
    below: &[u8],
    hint: &Hint,
) -> Result<Layout, FormatError> {
    let text = whole_lines(sample);
    let first_end = sample.len() - below.len();
    let as_notation = |notation| lay_out(notation, sample, first_end, hint);
    let is_table = hint.column.is_some() || hint.delimiter.is_some();
    if !is_table && is_plain_list(text) {
        return as_notation(Notation::Lines);
    }
    if json::is_jsonl(text) {
        return as_notation(Notation::Jsonl);
    }
    if is_table {
        return as_notation(Notation::Csv);
    }
    let bars = bars::find(text, sample.len() >= SAMPLE_BYTES, hint);
    if bars.is_some() {
        return Ok(lay_out_grid(sample, first_end, hint, bars));
    }
    if has_number_above(sample, first_end, hint) {
        if let Some(layout) = lay_out_below_number(sample, first_end, hint) {
            return Ok(layout);
        }
        if is_triples(below) && triples::names_size(first, below) {
            return Ok(Layout { body: first_end, ..Layout::new(Notation::Triples) });
        }
        if hint.order.is_some() || !is_list_of_cells(first, text, hint) {
            return as_notation(Notation::Header);
        }
        // A number alone is a puzzle.
        if puzzle_lines(text).nth(1).is_some() {
            let problem = Problem::AmbiguousBlockSize;
            return Err(FormatError::Puzzle(PuzzleError { problem, line: Some(1) }));
        }
    }
    // One of puzzles is no row, of which a column would be read and the others lost.
    let is_array = json::is_array_of_puzzles(first);
    let is_table = |table: &Table| {
        // Before a solution may be the cells of its puzzle.
        let is_behind_cells =
            table.columns.puzzle >= LEAST_CELLS && matches!(apart::find(text, hint), Ok(Some(_)));
        !(is_array || is_behind_cells)
            && table.is_likely
            && !(table.may_be_title && are_grids(&sample[first_end..], hint))
    };
    if let Some(table) = table::find(text, hint)?.filter(is_table) {
        table.check_rows(text)?;
        let Table { columns, names_puzzles, .. } = table;
        let body = table.heading_len(sample);
        return Ok(Layout { body, columns, names_puzzles, ..Layout::new(Notation::Csv) });
    }
    if let Some((columns, order, has_heading)) = apart::find(text, hint)? {
        let body = if has_heading { first_end } else { 0 };
        return Ok(Layout { body, columns, order: Some(order), ..Layout::new(Notation::Cells) });
    }
    if is_triples(text) {
        return as_notation(Notation::Triples);
    }
    let grid = lay_out_grid(sample, first_end, hint, None);
    let rows = &text[grid.body.min(text.len())..];
    if is_grid(rows, hint, grid.style) || are_rows(rows, sample.len() >= SAMPLE_BYTES, hint, grid.style)? {
        return Ok(grid);
    }
    // Spaces are blanks only where no cell is another one, and there a `0` may be a value.
    if hint.alphabet.is_none() {
        let hex = Hint { alphabet: Some(Alphabet::Hex), ..hint.clone() };
        if bars::find(text, sample.len() >= SAMPLE_BYTES, &hex).is_some() {
            return Err(FormatError::AmbiguousAlphabet { from_zero: Alphabet::Hex });
        }
    }
    as_notation(Notation::Lines)
}

/// Whether what is below a line that may be their title is grids.
fn are_grids(below: &[u8], hint: &Hint) -> bool {
    let hint = Hint { has_heading: Some(false), ..hint.clone() };
    let found = sniff(below, &hint, false);
    found.is_ok_and(|found| {
        found.is_some_and(|found| found.format.notation == Notation::Grid && found.misfit.is_none())
    })
}

/// The cells of each puzzle of a sample, or of each row, from which order and alphabet are detected.
pub(super) fn sampled_cells<'a>(layout: &Layout, text: &'a [u8]) -> Vec<Cow<'a, [u8]>> {
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
    /// The length in bytes of the longest block at the start of `text` that consists of whole
    /// puzzles and can be read by itself: all of it if `at_end`, that is, if no text follows; 0 if
    /// more text is needed.
    #[must_use]
    pub fn cut(&self, text: &[u8], at_end: bool) -> usize {
        match self.notation {
            _ if at_end => text.len(),
            Notation::Grid => rows::cut(self, text),
            Notation::Triples => 0,
            _ => lines::cut(text),
        }
    }

    /// The first place from byte `least` on, where a puzzle of a [block](Self::cut) ends, at which the
    /// block may be divided into two.
    #[must_use]
    pub fn end_from(&self, block: &[u8], least: usize) -> usize {
        match self.notation {
            Notation::Grid => rows::end_from(self, block, least),
            _ => least,
        }
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
            Notation::Lines | Notation::Header => rewrite::line(self, text, old, puzzle),
            Notation::Csv => rewrite::fields_of_row(self, text, old, puzzle, solution),
            Notation::Cells => apart::replaced(self, text, old, puzzle, solution),
            Notation::Jsonl => rewrite::members_of_object(self, text, puzzle, solution),
            Notation::Grid | Notation::Triples => rewrite::whole(self, text, puzzle),
        }
    }
}

impl<'a> Records<'a> {
    /// [`Self::read`] into a grid of the right order.
    #[inline]
    pub(super) fn read_next(&mut self, puzzle: &mut Grid) -> Option<Record<'a>> {
        let mut record = match self.format.notation {
            Notation::Lines | Notation::Header => lines::read(self, puzzle),
            Notation::Csv => lines::read_csv(self, puzzle),
            Notation::Cells => apart::read(self, puzzle),
            Notation::Jsonl => json::read(self, puzzle),
            Notation::Grid => rows::read(self, puzzle),
            Notation::Triples => triples::read(self, puzzle),
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
