//! Delimited tables: rows of fields, one of which is the puzzle.
//!
//! A field is what stands between two delimiters, without white space and quotes around it. Quotes
//! matter only around a whole field, as in RFC 4180, except that a row always ends with its line.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use super::alphabet::INVALID;
use super::lines::{characters, count_characters, is_no_puzzle, offset, puzzle_lines};
use super::{Alphabet, Format, FormatError, Hint, Notation};
use crate::grid::Order;

/// The most frequent order; of several the one that appears first.
pub(super) fn most_frequent(orders: impl Iterator<Item = Order>) -> Option<Order> {
    let orders: Vec<Order> = orders.collect();
    let count = |order| orders.iter().filter(|&&other| other == order).count();
    let place = |order| orders.iter().position(|&other| other == order);
    let seen = Order::ALL.into_iter().filter(|&order| place(order).is_some());
    seen.max_by_key(|&order| (count(order), Reverse(place(order))))
}

/// What separates the fields of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delimiter {
    /// This character, which is ASCII: a comma, a semicolon, a tab, a vertical bar, or another sign
    /// that is named by a user.
    Byte(u8),
    /// Any number of spaces and tabs.
    Whitespace,
}

impl Delimiter {
    /// The comma of `csv`.
    pub const COMMA: Self = Self::Byte(b',');
    /// The semicolon, where the comma is a decimal sign.
    pub const SEMICOLON: Self = Self::Byte(b';');
    /// The tab of `tsv`.
    pub const TAB: Self = Self::Byte(b'\t');
    /// The vertical bar.
    pub const BAR: Self = Self::Byte(b'|');

    /// The delimiters that are detected, each with its name on the command line; where several fit, the first wins.
    pub const ALL: [(&'static str, Self); 5] = [
        ("comma", Self::COMMA),
        ("semicolon", Self::SEMICOLON),
        ("tab", Self::TAB),
        ("bar", Self::BAR),
        ("space", Self::Whitespace),
    ];

    /// The delimiter that is named, or else those that are detected.
    pub(super) fn candidates(hint: &Hint) -> Vec<Self> {
        hint.delimiter.map_or_else(|| Self::ALL.map(|(_, delimiter)| delimiter).to_vec(), |named| vec![named])
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, delimiter)| delimiter == self).map(|(name, _)| name);
        match (name, self) {
            (None, &Self::Byte(sign)) => write!(f, "{}", char::from(sign)),
            (name, _) => f.write_str(name.unwrap_or(&"")),
        }
    }
}

/// Signs that separate nothing, because they are blank cells, quotes or the beginning of a comment.
const NO_DELIMITERS: &[u8] = b"._*-?\"'#";

/// The error of an unknown delimiter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no delimiter. Use comma, semicolon, tab, bar or space, or the character itself, which is no \
     letter or digit and none of . _ * - ? # and quotes."
)]
pub struct NoDelimiter(String);

impl FromStr for Delimiter {
    type Err = NoDelimiter;

    fn from_str(text: &str) -> Result<Self, NoDelimiter> {
        let by_character = match text {
            "," => Some(Self::COMMA),
            ";" => Some(Self::SEMICOLON),
            "\t" | "\\t" => Some(Self::TAB),
            "|" => Some(Self::BAR),
            " " => Some(Self::Whitespace),
            _ => match text.as_bytes() {
                &[sign] if sign.is_ascii_punctuation() && !NO_DELIMITERS.contains(&sign) => {
                    Some(Self::Byte(sign))
                }
                _ => None,
            },
        };
        let by_name =
            || Self::ALL.into_iter().find(|(name, _)| *name == text).map(|(_, delimiter)| delimiter);
        by_character.or_else(by_name).ok_or_else(|| NoDelimiter(text.to_owned()))
    }
}

/// A column of a table, as a user names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// Its number, from 1.
    Number(usize),
    /// Its name in the heading, in any case; the name of a member of JSON objects.
    Name(String),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// The error of a text that is no column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write the name of a column, or its number from 1")]
pub struct NoColumnName;

impl FromStr for Column {
    type Err = NoColumnName;

    fn from_str(text: &str) -> Result<Self, NoColumnName> {
        match text.parse() {
            Ok(0) => Err(NoColumnName),
            Ok(number) => Ok(Self::Number(number)),
            Err(_) if text.trim().is_empty() => Err(NoColumnName),
            Err(_) => Ok(Self::Name(text.to_owned())),
        }
    }
}

/// Where a table has puzzles and solutions. Columns count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) delimiter: Delimiter,
    /// The first column of the puzzle.
    pub(super) puzzle: usize,
    /// The column of the solution.
    pub(super) solution: Option<usize>,
    /// Whether the heading has no name above the first column, as R writes one above names of rows.
    pub(super) lacks_first_name: bool,
}

impl Default for Columns {
    fn default() -> Self {
        Self { delimiter: Delimiter::COMMA, puzzle: 0, solution: Some(1), lacks_first_name: false }
    }
}

/// The most columns of a table in which a puzzle is looked for.
const MAX_COLUMNS: usize = 64;

/// The cells of the smallest puzzle but one, which a field has at least if it is meant as a puzzle.
pub(super) const LEAST_CELLS: usize = 16;

/// The rows that detection reads.
const ROWS_SEEN: usize = 256;

pub(super) const PUZZLE_NAMES: &[&str] =
    &["puzzle", "puzzles", "quiz", "quizzes", "question", "questions", "sudoku", "unsolved", "givens"];
pub(super) const SOLUTION_NAMES: &[&str] = &["solution", "solutions", "answer", "answers", "solved"];

/// The fields of a row.
pub(super) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: Delimiter,
    /// The row from the first field on that begins with quotes and does not end with any.
    open: Option<&'a [u8]>,
}

/// The fields of a row, without white space and quotes around them.
pub(super) const fn fields(row: &[u8], delimiter: Delimiter) -> Fields<'_> {
    Fields { rest: Some(row), delimiter, open: None }
}

/// Whether a field of a row begins with quotes that the row does not close, so that the field may go
/// on in the next line.
pub(crate) fn has_open_quotes(row: &[u8], delimiter: Delimiter) -> bool {
    fields(row, delimiter).open_quotes().is_some()
}

/// The fields of a row as they are written, with white space and quotes around them.
pub(crate) fn raw_fields(row: &[u8], delimiter: Delimiter) -> impl Iterator<Item = &[u8]> {
    let mut fields = fields(row, delimiter);
    std::iter::from_fn(move || fields.next_raw())
}

impl<'a> Fields<'a> {
    /// The next field with white space and quotes around it.
    fn next_raw(&mut self) -> Option<&'a [u8]> {
        let row = self.rest.take()?;
        let (field, rest) = match self.delimiter {
            Delimiter::Whitespace => {
                let row = row.trim_ascii_start();
                if row.is_empty() {
                    return None;
                }
                let end = row.iter().position(u8::is_ascii_whitespace).unwrap_or(row.len());
                (&row[..end], Some(&row[end..]))
            }
            Delimiter::Byte(delimiter) => {
                let from = end_of_quotes(row, delimiter).unwrap_or_else(|| {
                    self.open.get_or_insert_with(|| row.trim_ascii_start());
                    0
                });
                match memchr::memchr(delimiter, &row[from..]) {
                    Some(end) => (&row[..from + end], Some(&row[from + end + 1..])),
                    None => (row, None),
                }
            }
        };
        self.rest = rest;
        Some(field)
    }

    /// The row from the quotes on that it does not close, if there are any: in what was read of it,
    /// or behind that.
    pub(super) fn open_quotes(&mut self) -> Option<&'a [u8]> {
        let has_more = self.rest.is_some_and(|rest| memchr::memchr(b'"', rest).is_some());
        if has_more {
            while self.open.is_none() && self.next_raw().is_some() {}
        }
        self.open
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let field = self.next_raw()?.trim_ascii();
        Some(field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field))
    }
}

/// The offset behind the quotes around the first field of a row; 0 if it has none. `None` if they are
/// not closed.
fn end_of_quotes(row: &[u8], delimiter: u8) -> Option<usize> {
    let is_space = |byte: &u8| *byte == b' ' && *byte != delimiter;
    let Some(start) = row.iter().position(|byte| !is_space(byte)) else { return Some(0) };
    if row[start] != b'"' {
        return Some(0);
    }
    let mut at = start + 1;
    // Two quotes inside of quotes are a character of the field.
    while let Some(quote) = memchr::memchr(b'"', &row[at..]) {
        at += quote + 1;
        if row.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Tells whether a field is the cells of a puzzle.
pub(super) struct CellsReader {
    alphabets: Vec<Alphabet>,
    order: Option<Order>,
    /// The formats made so far, because most texts need one or two of them.
    formats: Vec<Format>,
}

impl CellsReader {
    pub(super) fn new(hint: &Hint) -> Self {
        let alphabets = match &hint.alphabet {
            Some(alphabet) => vec![alphabet.clone()],
            None => vec![Alphabet::Letters, Alphabet::Ascii, Alphabet::Alpha, Alphabet::Hex],
        };
        Self { alphabets, order: hint.order, formats: Vec::new() }
    }

    /// The order of the puzzle whose cells these are, all of them readable. A single character is
    /// inconclusive.
    pub(super) fn order(&mut self, cells: &[u8]) -> Option<Order> {
        let order = Order::from_cells(count_characters(cells)).filter(|order| order.cells() > 1)?;
        if self.order.is_some_and(|wanted| wanted != order) {
            return None;
        }
        if !self.formats.iter().any(|format| format.order == order) {
            let new = |alphabet: &Alphabet| Format::new(Notation::Csv, order, alphabet.clone()).ok();
            self.formats.extend(self.alphabets.iter().filter_map(new));
        }
        let reads = |format: &Format| {
            format.order == order && characters(cells).all(|cell| format.codec.character(cell) != INVALID)
        };
        self.formats.iter().any(reads).then_some(order)
    }

    /// Whether none of the cells is a blank.
    pub(super) fn is_filled(&self, cells: &[u8], order: Order) -> bool {
        let fills = |format: &Format| {
            let is_value = |cell| !matches!(format.codec.character(cell), 0 | INVALID);
            format.order == order && characters(cells).all(is_value)
        };
        self.formats.iter().any(fills)
    }
}

/// A table that detection has found.
pub(super) struct Table {
    pub(super) columns: Columns,
    /// The lines of the heading: none, one, or two with the line of dashes that Markdown has below it.
    heading_lines: usize,
    /// Whether the heading has a known name for the column of puzzles.
    pub(super) is_named: bool,
    /// Whether the heading has a known name for the puzzle, and rows have nothing but cells: no column
    /// has larger puzzles than 1x1, and beside it is a solution at most.
    pub(super) names_puzzles: bool,
    /// The rows that have a puzzle, good or bad.
    rows: usize,
    /// The rows whose puzzle can be read.
    puzzles: usize,
    /// Whether the text is a table without being told so: most of its lines have a puzzle, and it has a
    /// heading or its column is named, or the puzzle is in another place than where `lines` reads it, or
    /// in quotes, or has a solution beside it, or every row has as many fields.
    pub(super) is_likely: bool,
}

/// What one column holds.
#[derive(Clone, Copy, Default)]
struct SeenColumn {
    /// The number of puzzles by order.
    orders: [usize; Order::ALL.len()],
    /// How many of them have no blank.
    filled: usize,
    /// The number of small numbers: a column `solutions` may be how many there are.
    counts: usize,
    /// The number of whole numbers that are too short for a puzzle.
    numbers: usize,
    /// The number of fields as long as puzzles, good or bad.
    long: usize,
}

impl SeenColumn {
    /// Counts a field, and its order if it is a puzzle, and whether that has no blank.
    fn add(&mut self, field: &[u8], puzzle: Option<(Order, bool)>) {
        let are_digits = field.iter().all(u8::is_ascii_digit);
        self.counts += usize::from((1..=4).contains(&field.len()) && are_digits);
        self.numbers += usize::from((1..LEAST_CELLS).contains(&field.len()) && are_digits);
        self.long += usize::from(field.len() >= LEAST_CELLS);
        if let Some((order, is_filled)) = puzzle {
            self.orders[order.box_side() - 1] += 1;
            self.filled += usize::from(is_filled);
        }
    }

    fn best(&self) -> (usize, Order) {
        let best =
            Order::ALL.into_iter().zip(self.orders).max_by_key(|&(order, count)| (count, order.side()));
        best.map_or((0, Order::NINE), |(order, count)| (count, order))
    }
}

/// Finds the table that a text is, if it is one: the delimiter that shows most puzzles. The puzzle
/// is in the column that is named for it, else in the first whose puzzles have blanks.
///
/// # Errors
/// [`FormatError::NoColumn`] if there is no such column as `hint` names.
pub(super) fn find(text: &[u8], hint: &Hint) -> Result<Option<Table>, FormatError> {
    let mut best: Option<Table> = None;
    let mut cells = CellsReader::new(hint);
    for delimiter in Delimiter::candidates(hint) {
        // Between spaces the dashes of Markdown would be one row more. A heading of one name is one for each
        // delimiter, of which only the right one shows puzzles.
        let rank = |table: &Table| (table.heading_lines > 1, table.rows, table.puzzles);
        if let Some(table) = read(text, delimiter, hint, &mut cells)
            && best.as_ref().is_none_or(|best| rank(best) < rank(&table))
        {
            best = Some(table);
        }
    }
    match (&best, &hint.column) {
        (None, Some(column)) => Err(no_column(text, column, hint.delimiter)),
        _ => Ok(best),
    }
}

impl Table {
    /// The length of the heading of a text, with comments before its ruler.
    pub(super) fn heading_len(&self, text: &[u8]) -> usize {
        let mut left = self.heading_lines;
        let is_above = |line: &&[u8]| {
            let is_above = left > 0;
            left -= usize::from(is_above && !is_no_puzzle(line));
            is_above
        };
        text.split_inclusive(|&byte| byte == b'\n').take_while(is_above).map(<[u8]>::len).sum()
    }

    /// Checks that no field in quotes goes on in another line, where readers of CSV would find the
    /// rest of its row.
    ///
    /// # Errors
    /// [`FormatError::BrokenRow`] if the lines of one are a row as wide as the others.
    pub(super) fn check_rows(&self, text: &[u8]) -> Result<(), FormatError> {
        let Delimiter::Byte(delimiter) = self.columns.delimiter else { return Ok(()) };
        if memchr::memchr(b'"', text).is_none() {
            return Ok(());
        }
        let width = |row: &[u8]| fields(row, self.columns.delimiter).count();
        let is_open = |row: &[u8]| has_open_quotes(row, self.columns.delimiter);
        let shown = if self.heading_lines > 0 { 1 } else { ROWS_SEEN };
        let whole = puzzle_lines(text).filter(|row| !is_open(row)).take(shown);
        let wanted = whole.map(width).max().unwrap_or(0);
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let Some(open) = fields(line, self.columns.delimiter).open_quotes() else { continue };
            let (begin, quotes) = (offset(text, line), offset(text, open));
            // Without other quotes behind it, all others are closed.
            let Some(length) = end_of_quotes(&text[quotes..], delimiter) else { break };
            let (field, behind) = text[begin..].split_at(quotes - begin + length);
            let row_end = memchr::memchr(b'\n', behind).unwrap_or(behind.len());
            let row = &text[begin..][..field.len() + row_end];
            let next = behind[..row_end].trim_ascii_start().first();
            let is_closed = next.is_none_or(|&next| next == delimiter) || behind.first() == Some(&delimiter);
            if is_closed && !is_open(row) && width(row) == wanted && !is_no_puzzle(line) {
                return Err(FormatError::BrokenRow { line: 1 + index as u64 });
            }
        }
        Ok(())
    }
}

/// What the first rows of a table hold.
struct Survey<'a> {
    /// The names in the heading; empty without one.
    names: Vec<&'a [u8]>,
    columns: [SeenColumn; MAX_COLUMNS],
    rows: usize,
    /// The fewest and the most fields of a row.
    widths: [usize; 2],
    /// The rows that are nothing but a puzzle in quotes, or begin with quotes between white space.
    quoted: usize,
}

impl<'a> Survey<'a> {
    fn new(names: Vec<&'a [u8]>) -> Self {
        let columns = [SeenColumn::default(); MAX_COLUMNS];
        Self { names, columns, rows: 0, widths: [usize::MAX, 0], quoted: 0 }
    }

    fn add(&mut self, row: &[u8], delimiter: Delimiter, cells: &mut CellsReader) {
        let mut width = 0;
        for field in fields(row, delimiter) {
            if let Some(seen) = self.columns.get_mut(width) {
                let order = cells.order(field);
                seen.add(field, order.map(|order| (order, cells.is_filled(field, order))));
                // A list of white space has other words behind a puzzle, and no quotes around it.
                let is_whole = match delimiter {
                    Delimiter::Whitespace => row.trim_ascii_start().starts_with(b"\""),
                    Delimiter::Byte(_) => row.trim_ascii().len() == field.len() + 2 && row.ends_with(b"\""),
                };
                // Shorter ones may be rows of a grid.
                let is_quoted = is_whole && order.is_some_and(|order| order.side() >= 9);
                self.quoted += usize::from(is_quoted);
            }
            width += 1;
        }
        self.rows += 1;
        self.widths = [self.widths[0].min(width), self.widths[1].max(width)];
    }

    fn seen(&self, column: usize) -> SeenColumn {
        self.columns.get(column).copied().unwrap_or_default()
    }

    fn is_named(&self, column: usize, known: &[&str]) -> bool {
        self.names.get(column).is_some_and(|field| is_known(field, known))
    }

    /// The most puzzles of one order in a column.
    fn most(&self) -> usize {
        self.columns.iter().map(|seen| seen.best().0).max().unwrap_or(0)
    }

    fn holds_puzzles(&self, seen: &SeenColumn) -> bool {
        seen.best().0 > 0 && 2 * seen.best().0 > self.most()
    }

    /// The first column that may be it and holds puzzles. Where a column has blanks in some of its
    /// puzzles, they are puzzles and not solutions.
    fn column_by_content(&self, may_be: impl Fn(usize) -> bool) -> Option<usize> {
        let has_blanks = |seen: &SeenColumn| self.holds_puzzles(seen) && seen.filled < seen.best().0;
        let find = |holds: &dyn Fn(&SeenColumn) -> bool| {
            self.columns.iter().enumerate().position(|(column, seen)| may_be(column) && holds(seen))
        };
        find(&has_blanks).or_else(|| find(&|seen| self.holds_puzzles(seen)))
    }

    /// The column that is named for puzzles. A name counts unless what is below it are numbers, of
    /// which `puzzle` is the name too. If it does not, what is named as solutions are none the less no
    /// puzzles.
    fn column_by_name(&self) -> Option<usize> {
        let named = || (0..self.names.len()).filter(|&column| self.is_named(column, PUZZLE_NAMES));
        named()
            .find(|&column| self.holds_puzzles(&self.seen(column)))
            .or_else(|| named().find(|&column| self.seen(column).long > 0))
            .or_else(|| {
                let first = named().next()?;
                if 2 * self.seen(first).numbers <= self.rows {
                    return Some(first);
                }
                self.column_by_content(|column| !self.is_named(column, SOLUTION_NAMES)).or(Some(first))
            })
    }

    /// The column of the solutions beside the puzzles in another.
    fn solution_column(&self, puzzle: usize) -> Option<usize> {
        // `solutions` may be how many there are.
        let holds_counts = |column: usize, name: &[u8]| {
            let seen = self.seen(column);
            let are_numbers = seen.counts > 0 && seen.best().0 == 0;
            are_numbers && name.last().is_some_and(|letter| letter.eq_ignore_ascii_case(&b's'))
        };
        let names_solution = |&(column, field): &(usize, &[u8])| {
            is_known(field, SOLUTION_NAMES) && column != puzzle && !holds_counts(column, field)
        };
        let order = self.seen(puzzle).best().1;
        let is_solution = |&(column, seen): &(usize, &SeenColumn)| {
            let (solutions, of) = seen.best();
            column != puzzle && solutions > 0 && of == order && seen.filled == solutions
        };
        let by_name = self.names.iter().copied().enumerate().find(names_solution).map(|(column, _)| column);
        by_name.or_else(|| self.columns.iter().enumerate().find(is_solution).map(|(column, _)| column))
    }
}

/// The table with this delimiter. `None` if it has no puzzles, and no heading that names them.
fn read(text: &[u8], delimiter: Delimiter, hint: &Hint, cells: &mut CellsReader) -> Option<Table> {
    let (first, second) = (puzzle_lines(text).next()?, puzzle_lines(text).nth(1));
    let is_wanted = |field: &[u8]| match &hint.column {
        Some(Column::Name(name)) => field.eq_ignore_ascii_case(name.as_bytes()),
        _ => false,
    };
    // A label beside a puzzle may be a word that is a name, too. A date is no damaged puzzle.
    let has_puzzle = fields(first, delimiter).any(|field| {
        field.len() >= LEAST_CELLS && cells.order(field).is_some()
            || field.len() >= LEAST_DAMAGED && is_damaged(field)
    });
    let is_above_ruler = second.is_some_and(|row| is_ruler(row, delimiter));
    let has_heading = hint.has_heading.unwrap_or_else(|| {
        let is_named = || fields(first, delimiter).any(is_wanted);
        !has_puzzle && (is_above_ruler || is_named() || is_heading(first, second, delimiter, cells))
    });
    let mut names: Vec<&[u8]> = if has_heading { fields(first, delimiter).collect() } else { Vec::new() };
    let lacks_first_name = has_heading && is_of_r(first, second, delimiter, cells);
    if lacks_first_name {
        names.insert(0, b"");
    }
    let has_ruler = has_heading && is_above_ruler;
    let heading_lines = usize::from(has_heading) + usize::from(has_ruler);
    let mut survey = Survey::new(names);
    for row in puzzle_lines(text).take(ROWS_SEEN).skip(heading_lines) {
        survey.add(row, delimiter, cells);
    }
    let puzzle = match &hint.column {
        Some(Column::Number(number)) => {
            // A heading may come alone, when its rows follow in other messages.
            let width = survey.widths[1].max(fields(first, delimiter).count());
            (*number <= width).then(|| number - 1)
        }
        Some(Column::Name(_)) => survey.names.iter().copied().position(is_wanted),
        None => survey.column_by_name().or_else(|| survey.column_by_content(|_| true)),
    };
    let puzzle = puzzle?;
    let solution = survey.solution_column(puzzle);
    let (count, _) = survey.seen(puzzle).best();
    // The heading of an empty table names its puzzles.
    let is_named = survey.is_named(puzzle, PUZZLE_NAMES);
    // A sentence above a list may have a word that is a name, too.
    let is_sentence = delimiter == Delimiter::Whitespace && survey.most() > 0;
    if count == 0 && (!is_named || is_sentence) && hint.column.is_none() {
        return None;
    }
    let Survey { rows, widths: [least, most], quoted, .. } = survey;
    let is_quoted = puzzle == 0 && 2 * quoted > rows;
    let is_regular = least == most && most > 1 && delimiter != Delimiter::Whitespace;
    let is_told = has_heading || hint.column.is_some();
    let is_certain = is_told || puzzle > 0 || is_quoted || solution.is_some() || is_regular;
    let with_puzzle = if is_named { count.max(rows).max(1) } else { count };
    Some(Table {
        is_named: is_named && has_heading,
        columns: Columns { delimiter, puzzle, solution, lacks_first_name },
        heading_lines,
        names_puzzles: is_named && survey.most() == 0 && (most <= 1 || solution.is_some()),
        rows: with_puzzle,
        puzzles: count,
        is_likely: is_certain && 2 * with_puzzle > rows,
    })
}

/// Whether a field is one of these names.
pub(super) fn is_known(field: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()))
}

/// Whether the first row, none of whose fields is a puzzle, is a heading: one of its names is known, or
/// it has as many fields as the next row, at least two, of which all are words and none is a damaged
/// puzzle. Anything else is a puzzle that cannot be read, and must have an answer.
fn is_heading(first: &[u8], second: Option<&[u8]>, delimiter: Delimiter, cells: &mut CellsReader) -> bool {
    let known = |field: &[u8]| is_known(field, PUZZLE_NAMES) || is_known(field, SOLUTION_NAMES);
    let width = fields(first, delimiter).count();
    let is_aligned = second.is_some_and(|row| fields(row, delimiter).count() == width);
    if fields(first, delimiter).any(known) {
        // White space separates the words of a sentence too.
        return delimiter != Delimiter::Whitespace
            || width == 1
            || is_aligned
            || is_of_r(first, second, delimiter, cells);
    }
    // A row without its puzzle is one of data, whatever else it has.
    let is_whole = fields(first, delimiter).all(|field| !field.is_empty());
    let has_letter = |field: &[u8]| has_ascii_letter(field) || is_whole && is_foreign(field);
    let is_name = |field: &[u8]| field.is_empty() || has_letter(field) || is_whole && SIGNS.contains(&field);
    let is_known_place = width > 1 && is_aligned || is_of_r(first, second, delimiter, cells);
    let mut is_word = |field: &[u8]| is_name(field) && !is_damaged(field) && cells.order(field).is_none();
    is_known_place && fields(first, delimiter).all(&mut is_word) && fields(first, delimiter).any(has_letter)
}

/// Whether the first row is a heading as R writes it: with names between spaces, and none above the
/// names of the rows. The names are in quotes, or that of the puzzles is where the next row has one.
fn is_of_r(first: &[u8], second: Option<&[u8]>, delimiter: Delimiter, cells: &mut CellsReader) -> bool {
    let width = |row: &[u8]| fields(row, delimiter).count();
    let Some(second) = second.filter(|row| width(row) == width(first) + 1) else { return false };
    let mut named = fields(first, delimiter).zip(fields(second, delimiter).skip(1));
    delimiter == Delimiter::Whitespace
        && (first.starts_with(b"\"")
            || named.any(|(name, field)| is_known(name, PUZZLE_NAMES) && cells.order(field).is_some()))
}

/// Whether a row is what Markdown has below the heading of a table: dashes in each field, and colons at
/// their ends. One field alone may be a puzzle without clues.
pub(super) fn is_ruler(row: &[u8], delimiter: Delimiter) -> bool {
    let is_dashes = |field: &[u8]| field.contains(&b'-') && field.iter().all(|byte| b"-:".contains(byte));
    let inner = || fields(row, delimiter).map(<[u8]>::trim_ascii).filter(|field| !field.is_empty());
    let is_puzzle = |field: &[u8]| field.len() >= LEAST_CELLS && Order::from_cells(field.len()).is_some();
    delimiter == Delimiter::BAR
        && inner().all(is_dashes)
        && (inner().count() > 1 || inner().next().is_some_and(|field| !is_puzzle(field)))
}

/// The first line of a text, with its newline.
pub(super) fn first_line(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1)]
}

/// Whether a heading [of R](is_of_r) has its names one column before these, without rows to look at:
/// that of the puzzles is.
pub(super) fn lacks_first_name(heading: &[u8], columns: Columns) -> bool {
    let Columns { delimiter, puzzle, .. } = columns;
    let is_named =
        |column| fields(heading, delimiter).nth(column).is_some_and(|name| is_known(name, PUZZLE_NAMES));
    delimiter == Delimiter::Whitespace && puzzle > 0 && is_named(puzzle - 1) && !is_named(puzzle)
}

/// Names of columns, without a letter, that no field of cells or numbers is.
const SIGNS: &[&[u8]] = &[b"#", b"%", "№".as_bytes()];

fn has_ascii_letter(field: &[u8]) -> bool {
    field.iter().any(u8::is_ascii_alphabetic)
}

/// Whether a field is a name in another script, or in an encoding other than UTF-8: it has a letter,
/// and nothing that most cells are.
fn is_foreign(field: &[u8]) -> bool {
    let is_cell = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let mut chunks = field.utf8_chunks();
    !field.iter().any(is_cell)
        && chunks.any(|chunk| chunk.valid().chars().any(char::is_alphabetic) || !chunk.invalid().is_empty())
}

/// The bytes of a field that is a damaged puzzle rather than a name, whatever stands beside it: nearly
/// those of 9x9.
const LEAST_DAMAGED: usize = 70;

/// Whether a field is as long as a puzzle, and most of it may be cells whatever the alphabet.
fn is_damaged(field: &[u8]) -> bool {
    let may_be_cell = |byte: &&u8| byte.is_ascii_digit() || b"._*-?".contains(byte);
    field.len() >= LEAST_CELLS && 2 * field.iter().filter(may_be_cell).count() >= field.len()
}

pub(super) fn no_column(text: &[u8], column: &Column, delimiter: Option<Delimiter>) -> FormatError {
    let first = puzzle_lines(text).next().unwrap_or_default();
    let widest = Delimiter::ALL.into_iter().map(|(_, delimiter)| delimiter).rev();
    let widest = widest.max_by_key(|&delimiter| fields(first, delimiter).count());
    let row = fields(first, delimiter.or(widest).unwrap_or(Delimiter::COMMA));
    let names: Vec<String> = row
        .take(MAX_COLUMNS)
        .map(|field| String::from_utf8_lossy(&field[..field.len().min(32)]).into_owned())
        .collect();
    FormatError::NoColumn { column: column.clone(), first: names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(row: &str, delimiter: Delimiter) -> Vec<String> {
        fields(row.as_bytes(), delimiter).map(|field| String::from_utf8(field.to_vec()).unwrap()).collect()
    }

    #[test]
    fn fields_end_at_delimiters_outside_quotes() {
        let cases = [
            ("a, b ,\"c\",\" d,e\" ,,\"", Delimiter::COMMA, vec!["a", "b", "c", " d,e", "", "\""]),
            ("a;b,c;", Delimiter::SEMICOLON, vec!["a", "b,c", ""]),
            ("a\t\tb", Delimiter::TAB, vec!["a", "", "b"]),
            ("  a \t b\r", Delimiter::Whitespace, vec!["a", "b"]),
            ("5\" pipe,b", Delimiter::COMMA, vec!["5\" pipe", "b"]),
            ("\"a \"\"b\"\", c\",d", Delimiter::COMMA, vec!["a \"\"b\"\", c", "d"]),
            ("", Delimiter::COMMA, vec![""]),
            ("", Delimiter::Whitespace, vec![]),
        ];
        for (row, delimiter, wanted) in cases {
            assert_eq!(split(row, delimiter), wanted, "{row:?}");
        }
    }

    #[test]
    fn quotes_are_open_that_begin_a_field_and_are_not_closed() {
        let open = |row: &'static str| {
            let mut fields = fields(row.as_bytes(), Delimiter::COMMA);
            fields.open_quotes().map(|open| std::str::from_utf8(open).unwrap())
        };
        let cases = [
            ("a,\"two", Some("\"two")),
            ("a, \"two,b", Some("\"two,b")),
            ("\"a\"\"b,c", Some("\"a\"\"b,c")),
            ("\"a\",\"b\",\"", Some("\"")),
            ("\"\"\"", Some("\"\"\"")),
            ("lines\",2", None),
            ("5\" disk,b", None),
            ("a,5\" disk", None),
            ("\"a\"\"b\",\"\",\"c,d\" e", None),
            ("\"a\"b,c", None),
            ("", None),
        ];
        for (row, wanted) in cases {
            assert_eq!(open(row), wanted, "{row}");
        }
        assert!(!has_open_quotes(b"a \"b c", Delimiter::Whitespace), "where nothing can be in quotes");
    }

    #[test]
    fn a_field_that_goes_on_in_another_line_is_found() {
        let p = "12....1.........";
        let cases = [
            (format!("puzzle,note\n{p},\"two\nlines\"\n{p},x\n"), Some(2)),
            (format!("id,note,puzzle\n1,x,{p}\n# c\n2,\"a\"\"\n\n,b\",{p}\r\n"), Some(4)),
            (format!("{p};\"two\nlines\" ;2\n{p};x;3\n"), Some(1)),
            (format!("puzzle,note\n{p},\"two\"\n{p},5\" disk\n"), None),
            // These may be meant so.
            (format!("puzzle,note\n{p},\"nice\n{p},\"good\"\n{p},x\n"), None),
            (format!("puzzle,note\n{p},\"nice\n{p},x\n"), None),
            (format!("puzzle,note\n{p},\"nice\n{p},and,\",x\n"), None),
        ];
        for (text, line) in cases {
            let table = find(text.as_bytes(), &Hint::default()).unwrap().unwrap();
            let found = table.check_rows(text.as_bytes());
            assert_eq!(found.err(), line.map(|line| FormatError::BrokenRow { line }), "{text}");
        }
    }

    /// The delimiter, the columns of puzzle and solution and whether there is a heading.
    fn table(text: &str) -> Option<(String, usize, Option<usize>, bool)> {
        let found = find(text.as_bytes(), &Hint::default()).unwrap()?;
        let Columns { delimiter, puzzle, solution, .. } = found.columns;
        found.is_likely.then(|| (delimiter.to_string(), puzzle, solution, found.heading_lines > 0))
    }

    #[test]
    fn the_puzzle_is_found_wherever_it_stands() {
        let (p, s, nine) = ("12....1.........", "1234341221434321", "12.......".repeat(9));
        let cases = [
            (format!("1,{p},{s}\n2,{p},{s}\n"), Some(("comma", 1, Some(2), false))),
            (format!("{s},{p}\n"), Some(("comma", 1, Some(0), false))),
            (format!("1 {p}\n2 {p}\n"), Some(("space", 1, None, false))),
            (format!("9.2;{p}\n"), Some(("semicolon", 1, None, false))),
            (format!("id\tpuzzle\trating\n1\t{p}\t2\n"), Some(("tab", 1, None, true))),
            (format!("a,b\n{s},{p}\n"), Some(("comma", 1, Some(0), true))),
            (format!("Quizzes,Solutions\n{p},{s}\n"), Some(("comma", 0, Some(1), true))),
            (format!("{p} rated 2\n{p} easy\n"), None),
            (format!("{p}\n"), None),
            (format!("\"{nine}\"\n\"{nine}\"\n\"12\"\n"), Some(("comma", 0, None, false))),
            (format!("\"{nine}\"\n{nine}\n"), None),
            (format!("[\n\"{nine}\",\n\"{nine}\",\n\"{nine}\"\n]\n"), None),
            (format!("\"{p}\"\n"), None),
            ("Some words, and more\nof the same, too\n".to_owned(), None),
            // As R writes it: texts in quotes, names of rows, and none above these.
            (format!("\"{nine}\" 1\n\"{nine}\" 2\n"), Some(("space", 0, None, false))),
            (format!("\"puzzle\" \"n\"\n\"1\" \"{p}\" 5\n\"2\" \"{p}\" 6\n"), Some(("space", 1, None, true))),
            // One column, below a heading of one name.
            (format!("\"puzzle\"\n\"1\" \"{p}\"\n\"2\" \"{p}\"\n"), Some(("space", 1, None, true))),
            (format!("puzzle\n1 {p}\n2 {p}\n"), Some(("space", 1, None, true))),
            (format!("\tpuzzle\n0\t{p}\n1\t{p}\n"), Some(("tab", 1, None, true))),
            (format!("puzzle\n{p}\n{p}\n"), Some(("comma", 0, None, true))),
            // A known name is that of the puzzles only if something below it may be one.
            (format!("puzzle,board\n1,{p}\n2,{p}\n"), Some(("comma", 1, None, true))),
            (format!("question,puzzle\nSolve it.,{p}\n"), Some(("comma", 1, None, true))),
            (format!("quiz,sudoku\n,{p}\n,{p}\n"), Some(("comma", 1, None, true))),
            (format!("puzzle,state\n1{p},{p}\n1{p},{p}\n"), Some(("comma", 0, None, true))),
            (format!("puzzle,solution\n1,{s}\n"), Some(("comma", 0, Some(1), true))),
            // Headings of other languages, with signs.
            (format!("编号,题目,难度\n1,{p},易\n"), Some(("comma", 1, None, true))),
            (format!("№;задача;%\n1;{p};7\n"), Some(("semicolon", 1, None, true))),
            (format!("\"#\",パズル\n1,{p}\n"), Some(("comma", 1, None, true))),
            // Labels that are names, beside puzzles, good or bad.
            (format!("{p},solved\n{p},open\n"), Some(("comma", 0, None, false))),
            (format!("1,{p},solution\n2,{p},x\n"), Some(("comma", 1, None, false))),
            (format!("puzzle;{p}\npuzzle;{p}\n"), Some(("semicolon", 1, None, false))),
            (format!("puzzle;{nine}x\npuzzle;{nine}\npuzzle;{nine}\n"), Some(("semicolon", 1, None, false))),
            (format!("puzzle,2024-05-06 07:08\n{p},5\n"), Some(("comma", 0, None, true))),
            (format!("|#|2024-05-06|\n|---|--:|\n|{p}|5|\n"), Some(("bar", 1, None, true))),
            (format!("\"board\"\n\"1\" \"{p}\"\n\"2\" \"{p}\"\n"), Some(("space", 1, None, true))),
            (
                format!("\"n\" \"board\"\n\"1\" \"x\" \"{p}\"\n\"2\" 5 \"{p}\"\n"),
                Some(("space", 2, None, true)),
            ),
            (format!("\"puzzle\" \"X2024.05.06.07.08\"\n\"1\" \"{p}\" 5\n"), Some(("space", 1, None, true))),
            (format!("{p} # solved\n{p} # open\n"), None),
            // First rows that are bad.
            (format!("{p}q,easy\n{p},hard\n{p},\n"), Some(("comma", 0, None, false))),
            (format!("易,{p}é\n易,{p}\n易,{p}\n"), Some(("comma", 1, None, false))),
            (format!("12…1….........,易\n{p},难\n{p},难\n"), Some(("comma", 0, None, false))),
            (format!("7,x,easy\n8,{p},hard\n9,{p},hard\n"), Some(("comma", 1, None, false))),
            (format!("易,\n难,{p}\n难,{p}\n"), Some(("comma", 1, None, false))),
            (format!("é,53..7é\nè,{p}\nè,{p}\n"), Some(("comma", 1, None, false))),
            // No puzzles where they should be, and full grids elsewhere.
            (format!("id,puzzle,final\n1,,{s}\n2,,{s}\n"), Some(("comma", 1, None, true))),
        ];
        for (text, wanted) in cases {
            let wanted = wanted.map(|(d, p, s, h)| (d.to_owned(), p, s, h));
            assert_eq!(table(&text), wanted, "{text}");
        }
    }

    #[test]
    fn a_delimiter_is_a_name_or_a_sign() {
        for text in ["comma", "tab", "space", ":", "=", "/", "$", "~"] {
            assert_eq!(text.parse::<Delimiter>().unwrap().to_string(), text);
        }
        assert_eq!(";".parse::<Delimiter>().unwrap().to_string(), "semicolon");
        for text in ["", "a", "1", ".", "-", "_", "*", "?", "#", "\"", "'", "::", "é", "colon", "\n"] {
            assert!(text.parse::<Delimiter>().is_err(), "{text}");
        }
        let hint = Hint { delimiter: Some(":".parse().unwrap()), ..Hint::default() };
        let table = find(b":0000:x:12....1.........:\n:0001:x:12..............:\n", &hint).unwrap().unwrap();
        assert_eq!((table.columns.puzzle, table.heading_lines), (3, 0));
    }

    #[test]
    fn a_column_that_is_numbered_may_be_that_of_a_heading_alone() {
        let hint = |number| Hint { column: Some(Column::Number(number)), ..Hint::default() };
        let found = find(b"id,puzzle\n", &hint(2)).unwrap().unwrap();
        assert_eq!((found.columns.puzzle, found.heading_lines), (1, 1));
        let error = find(b"id,puzzle\n", &hint(3)).err().unwrap();
        assert_eq!(error.to_string(), "There is no column 3. The first row is: id, puzzle.");
    }

    #[test]
    fn the_row_that_names_the_column_asked_for_is_a_heading() {
        for (name, text) in [("题目", "1,题目,-\n1,12....1.........,y\n"), ("Board", "2024 board\n7 x\n")]
        {
            let hint = Hint { column: Some(name.parse().unwrap()), ..Hint::default() };
            let found = find(text.as_bytes(), &hint).unwrap().unwrap();
            assert_eq!((found.columns.puzzle, found.heading_lines), (1, 1), "{name}");
        }
    }

    #[test]
    fn a_column_that_is_not_there_is_named() {
        let hint = Hint { column: Some("board".parse().unwrap()), ..Hint::default() };
        let error = find(b"id,puzzle\n1,12....1.........\n", &hint).err().unwrap();
        assert_eq!(error.to_string(), "There is no column board. The first row is: id, puzzle.");
        // The fields of a first row with a puzzle are no names, whatever words they are.
        let hint = Hint { column: Some(Column::Number(2)), ..Hint::default() };
        let found = find(b"puzzle,12....1.........\npuzzle,....3......4....\n", &hint).unwrap().unwrap();
        assert_eq!((found.columns.puzzle, found.heading_lines), (1, 0));
        let hint = Hint { column: Some("easy".parse().unwrap()), ..Hint::default() };
        let error = find(b"12....1.........,easy\n....3......4....,easy\n", &hint).err().unwrap();
        let sentence = "There is no column easy. The first row is: 12....1........., easy.";
        assert_eq!(error.to_string(), sentence);
        assert!("0".parse::<Column>().is_err());
    }
}
