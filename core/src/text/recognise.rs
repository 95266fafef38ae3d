//! Recognition: in which notation a text is, and how it is laid out.

use std::borrow::Cow;

use super::cell::read_cell;
use super::json::Keys;
use super::layout::{self, FoundLayout, Refusal};
use super::lines::{puzzle_lines, trim_end};
use super::table::{CellsReader, Columns, Delimiter, SOLUTION_NAMES, fields, is_known};
use super::{
    Alphabet, Column, Format, FormatError, Hint, Notation, Problem, PuzzleError, SAMPLE_BYTES, apart, json,
    table,
};
use crate::grid::{Grid, Order};

/// A whole number on the first line with more digits than this is a puzzle and no block size,
/// because the smallest puzzle that could be mistaken for one has 16 cells.
const MAX_BLOCK_SIZE_DIGITS: usize = 15;

/// The rows of `cells` that are read for it.
const LINES_SEEN: usize = 64;

/// How a text with a puzzle a line is laid out.
pub(super) struct LineLayout {
    pub(super) notation: Notation,
    /// The length of a header or heading.
    pub(super) body: usize,
    pub(super) order: Option<Order>,
    pub(super) columns: Columns,
    pub(super) keys: Keys,
    /// Whether nothing but a puzzle can be where puzzles are read.
    pub(super) names_puzzles: bool,
    /// Whether a heading has a known name for the column of puzzles.
    pub(super) is_named: bool,
}

impl LineLayout {
    pub(super) fn new(notation: Notation) -> Self {
        let (columns, keys) = (Columns::default(), Keys::default());
        let names_puzzles = notation != Notation::Csv;
        Self { notation, body: 0, order: None, columns, keys, names_puzzles, is_named: false }
    }
}

/// What a text is recognised as.
pub(super) enum Recognised {
    /// Lines that are read as they are, and why they may be no puzzles.
    Lines(LineLayout, Option<Refusal>),
    /// Lines that are read as they are, if no less is read in them than when they are converted.
    Either(LineLayout, FoundLayout),
    /// Puzzles that are converted to lines.
    Converted(FoundLayout),
    /// The same below the number of puzzles.
    Below(FoundLayout),
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
            let found = layout::apart(text, hint, sample.len() >= SAMPLE_BYTES)?;
            lay_out_apart(&mut layout, text, first_end, found, hint);
        }
        Notation::Jsonl => (layout.keys, layout.order) = json::find(text, hint)?,
        Notation::Lines | Notation::Grid | Notation::Triples => {}
    }
    Ok(layout)
}

/// What a text in an unknown notation is.
pub(super) fn recognise(sample: &[u8], first_end: usize, hint: &Hint) -> Result<Recognised, FormatError> {
    let text = whole_lines(sample);
    let goes_on = sample.len() >= SAMPLE_BYTES;
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
        lay_out_apart(&mut layout, text, first_end, Some(columns), hint);
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
    fn with_puzzle_of(self, found: &FoundLayout) -> Self {
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
pub(super) fn below_count(found: FoundLayout, sample: &[u8], first_end: usize, hint: &Hint) -> Recognised {
    let number =
        std::str::from_utf8(sample[..first_end].trim_ascii()).ok().and_then(|number| number.parse().ok());
    let goes_on = sample.len() >= SAMPLE_BYTES;
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
    found: FoundLayout,
    hint: &Hint,
) -> Recognised {
    let number =
        std::str::from_utf8(sample[..first_end].trim_ascii()).ok().and_then(|number| number.parse().ok());
    let is_size = number == Some(found.order().box_side());
    let is_count = number == Some(found.count()) && sample.len() < SAMPLE_BYTES;
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

/// Lays out a text in `cells`, whose first line ends at `first_end` and in which cells of puzzles
/// of this order were found from a column on.
fn lay_out_apart(
    layout: &mut LineLayout,
    text: &[u8],
    first_end: usize,
    found: Option<(Columns, Order)>,
    hint: &Hint,
) {
    let named = match hint.column {
        Some(Column::Number(number)) => number.saturating_sub(1),
        _ => 0,
    };
    let delimiter = hint.delimiter.unwrap_or(Delimiter::COMMA);
    layout.columns = Columns { delimiter, puzzle: named, solution: None, ..Columns::default() };
    layout.body = if hint.has_heading == Some(true) { first_end } else { 0 };
    let Some((columns, order)) = found else { return };
    let alphabet = hint.alphabet.clone().unwrap_or(Alphabet::Letters);
    let Ok(mut format) = Format::new(Notation::Cells, order, alphabet) else { return };
    format.columns = columns;
    let seen = || puzzle_lines(text).take(LINES_SEEN);
    let mut grid = Grid::empty(order);
    let is_good: Vec<bool> = seen().map(|row| apart::read_row(&format, row, &mut grid).is_ok()).collect();
    let good = is_good.iter().filter(|&&is_good| is_good).count();
    let is_heading = |row| is_heading_apart(row, columns, order);
    let detected = || is_good.first() == Some(&false) && seen().next().is_some_and(is_heading);
    let has_heading = hint.has_heading.unwrap_or_else(detected);
    if 2 * good > is_good.len() - usize::from(has_heading) {
        let heading = if has_heading { seen().next() } else { None };
        let solution = solution_column(heading, seen(), &format, hint);
        (layout.columns, layout.order) = (Columns { solution, ..columns }, Some(order));
        layout.body = if has_heading { first_end } else { 0 };
    }
}

/// The column of solutions behind the cells: the one that is named for them, or the first that has one.
fn solution_column<'a>(
    heading: Option<&'a [u8]>,
    mut rows: impl Iterator<Item = &'a [u8]>,
    format: &Format,
    hint: &Hint,
) -> Option<usize> {
    let Columns { delimiter, puzzle, .. } = format.columns;
    let first = puzzle + format.order.cells();
    let behind = |row| fields(row, delimiter).skip(first);
    let mut reader = CellsReader::new(hint);
    let mut is_solution =
        |field| reader.order(field) == Some(format.order) && reader.is_filled(field, format.order);
    let named = heading.and_then(|heading| behind(heading).position(|name| is_known(name, SOLUTION_NAMES)));
    let column = named.or_else(|| rows.find_map(|row| behind(row).position(&mut is_solution)));
    column.map(|column| first + column)
}

/// Whether the cells of a row are the numbers of columns, or names. One more field may be behind
/// them, or names of further columns.
fn is_heading_apart(row: &[u8], columns: Columns, order: Order) -> bool {
    let fields = || fields(row, columns.delimiter).skip(columns.puzzle);
    let names = || fields().take(order.cells());
    let mut behind = fields().skip(order.cells());
    let has_more = behind.next().is_some_and(|field| !apart::is_text(field)) && behind.next().is_some();
    if names().count() < order.cells() || has_more {
        return false;
    }
    let is_number = |(at, name): (usize, &[u8])| name == at.to_string().as_bytes();
    names().enumerate().all(is_number)
        || names().zip(1..).all(|(name, at)| is_number((at, name)))
        || names().all(|name| name.iter().any(u8::is_ascii_alphabetic))
}

/// Whether a text is a list of puzzles and nothing else, which all other checks would find too, in
/// many times the time: each line has the length of a puzzle, the same one, above that of any row,
/// and nothing that could separate fields.
fn is_plain_list(text: &[u8]) -> bool {
    const SEPARATORS: &[u8] = b" \t,;|{";
    let mut separates = [false; 256];
    for &byte in SEPARATORS {
        separates[usize::from(byte)] = true;
    }
    let mut lines = text.split(|&byte| byte == b'\n').map(trim_end).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    let is_puzzle = Order::from_cells(first.len()).is_some_and(|order| order.side() >= 9);
    let is_plain =
        |line: &[u8]| line.len() == first.len() && !line.iter().any(|&b| separates[usize::from(b)]);
    is_puzzle && is_plain(first) && lines.all(is_plain)
}

/// Whether the hint leaves no other puzzles than those of 1x1, by their size or by an alphabet that
/// has no symbols for others.
pub(super) fn is_told_1x1(hint: &Hint) -> bool {
    let largest = hint.alphabet.as_ref().and_then(Alphabet::largest_order);
    hint.order.or(largest) == Some(Order::ALL[0])
}

/// Whether a block size on the first line, which can only be an invalid one, can be a 1x1 puzzle
/// above others too: every line has one character, and the first is a cell of such a puzzle.
fn is_list_of_cells(first: &[u8], text: &[u8], hint: &Hint) -> bool {
    is_cell_of_1x1(first, hint) && puzzle_lines(text).all(|line| line.trim_ascii_start().len() == 1)
}

/// Whether this is a cell of a 1x1 puzzle.
pub(super) fn is_cell_of_1x1(cell: &[u8], hint: &Hint) -> bool {
    let alphabet = hint.alphabet.clone().unwrap_or_default();
    let format = Format::new(Notation::Lines, Order::ALL[0], alphabet);
    format.is_ok_and(|format| read_cell(&format, cell).is_some())
}

/// Whether the first line is a block size, valid or not: a whole number alone.
fn is_block_size(first: &[u8], below: &[u8], hint: &Hint) -> bool {
    let number = first.trim_ascii();
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    if !(1..=MAX_BLOCK_SIZE_DIGITS).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let Some(second) = below.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty())
    else {
        // With nothing below it, a number is a 1x1 puzzle; but `2` or `3` would be an invalid one.
        return hint.order.is_none() && matches!(number, b"2" | b"3");
    };
    // A long number above a line of the same length is a row: of a grid, or of a size that is none.
    let is_row = number.len() > 2 && second.len() == number.len();
    !is_row
}

/// The whole lines of a sample: the last line of a full sample may be cut off and is dropped,
/// unless it is the only one.
pub(super) fn whole_lines(sample: &[u8]) -> &[u8] {
    let cut_off = sample.len() >= SAMPLE_BYTES;
    let end = if cut_off { memchr::memrchr(b'\n', sample) } else { None };
    &sample[..end.unwrap_or(sample.len())]
}
