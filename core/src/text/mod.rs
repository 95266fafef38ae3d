//! Notations: reading and writing of puzzles as text, and the errors of bad ones.
//!
//! A text is read in three steps. [`sniff`] detects its [`Format`] (notation, order and alphabet)
//! from its beginning. [`Format::cut`] splits the rest into blocks of whole puzzles, which can be
//! read in parallel. [`Records`] reads one block, puzzle by puzzle, with the error of each bad one.
//!
//! Lines are numbered from 1 through the whole text, whatever they contain.
//!
//! ```
//! use sudoku_core::grid::{Grid, Order};
//! use sudoku_core::text::{Hint, Records, sniff};
//!
//! let text = b"12....1.........\n12q...1.........\n";
//! let preamble = sniff(text, &Hint::default(), true)?.expect("the text has puzzles");
//! let mut records = Records::new(&preamble.format, &text[preamble.body..], 1 + preamble.lines);
//! let mut puzzle = Grid::empty(Order::NINE); // takes on the order of the text
//! assert_eq!(records.read(&mut puzzle).expect("a first puzzle").error, None);
//! assert_eq!(puzzle.to_string(), "12....1.........");
//! let error = records.read(&mut puzzle).expect("a second one").error.expect("a q is no cell");
//! assert_eq!(error.to_string(), "Line 2 has an invalid character. It is 'q' in column 3.");
//! # Ok::<(), sudoku_core::text::FormatError>(())
//! ```

mod alphabet;
mod apart;
mod by_notation;
mod cell;
mod columns;
mod detect;
mod error;
mod json;
mod layout;
mod lines;
mod misfit;
mod notation;
mod positions;
mod recognise;
mod rewrite;
mod table;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::grid::{Grid, Order};

pub use alphabet::{Alphabet, NoAlphabet};
pub use columns::unescape_quotes;
pub(crate) use columns::{row_within, unquoted, write_field};
pub use detect::{Preamble, detect, skip_lines_above, sniff, sniff_part};
pub(crate) use error::ERROR_PREFIX;
pub use error::{Problem, PuzzleError};
pub use layout::{Converted, Layout, Rest, layouts};
pub use lines::{MAX_LINE_BYTES, copy_line, unwritable_value};
pub(crate) use lines::{PLAIN_9X9_LINE_BYTES, writable};
pub use misfit::Misfit;
pub use notation::{NoNotation, Notation};
pub(crate) use positions::{MarkedText, marks_of};
pub use table::{Column, Delimiter, NoColumnName, NoDelimiter};
pub(crate) use table::{has_open_quotes, raw_fields};
pub use write::GridLines;

use alphabet::Codec;
use json::Keys;
use layout::Converter;
use notation::Extent;
use table::Columns;

/// The bytes of a text that detection reads.
pub const SAMPLE_BYTES: usize = 64 * 1024;

/// The most bytes of one puzzle on several lines, and of what stands beside it.
pub const MAX_PUZZLE_BYTES: usize = 1 << 20;

/// The UTF-8 byte-order mark, which may precede any text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What is known about a text; the rest is auto-detected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// The notation.
    pub notation: Option<Notation>,
    /// The alphabet.
    pub alphabet: Option<Alphabet>,
    /// The order.
    pub order: Option<Order>,
    /// The column of the puzzle in a table, that of the first cell in `cells`, or the member in JSON
    /// objects.
    pub column: Option<Column>,
    /// What separates the fields of a table.
    pub delimiter: Option<Delimiter>,
    /// Whether the first line is a heading, or the block size in `header`, whatever it has; `None`
    /// to detect that.
    pub has_heading: Option<bool>,
}

impl Hint {
    /// Everything that decides how the puzzles of a format are read, for a reader that sees only a
    /// part of its text.
    #[must_use]
    pub fn of(format: &Format) -> Self {
        let column = match format.notation.facts().extent {
            Extent::Row => Some(Column::Number(format.columns.puzzle + 1)),
            Extent::Object => Some(Column::Name(format.keys.puzzle.clone())),
            Extent::Line => None,
        };
        let notation = if format.converter.is_some() { Notation::Lines } else { format.notation };
        Self {
            notation: Some(notation),
            alphabet: Some(format.alphabet.clone()),
            order: Some(format.order),
            column,
            delimiter: format.delimiter(),
            has_heading: None,
        }
    }

    /// The format, if nothing is left to detect in any text: one puzzle is on each line, and all
    /// that [`Self::of`] sets is set.
    ///
    /// It finds the same puzzles and errors as the format that the hint is [of](Self::of), but knows
    /// no heading and no solutions beside the puzzles, because a hint does not name them.
    ///
    /// # Errors
    /// Like [`Format::new`].
    pub fn format(&self) -> Result<Option<Format>, FormatError> {
        let Self { notation: Some(notation), alphabet: Some(alphabet), order: Some(order), .. } = self else {
            return Ok(None);
        };
        let mut format = Format::new(*notation, *order, alphabet.clone())?;
        match (notation.facts().extent, &self.column, self.delimiter) {
            (Extent::Line, ..) => {}
            (Extent::Row, Some(Column::Number(number)), Some(delimiter)) => {
                let puzzle = number.saturating_sub(1);
                format.columns = Columns { delimiter, puzzle, solution: None, ..Columns::default() };
            }
            (Extent::Object, Some(column), _) => {
                format.keys = Keys { puzzle: column.to_string(), solution: None };
            }
            _ => return Ok(None),
        }
        Ok(Some(format))
    }
}

/// The format of a text: everything needed to read any part of it, and to write answers the same
/// way.
#[derive(Clone)]
pub struct Format {
    notation: Notation,
    order: Order,
    alphabet: Alphabet,
    codec: Codec,
    /// The columns of a table.
    columns: Columns,
    /// The members of JSON objects.
    keys: Keys,
    /// What turns the text into one with a puzzle a line, if it is none.
    converter: Option<Arc<Converter>>,
    /// The heading row of a table, without its line end.
    heading: Option<Arc<[u8]>>,
}

impl Format {
    /// A format without detection. A `csv` text has commas, the puzzle in its first column and the
    /// solution in its second; JSON objects have them as `puzzle` and `solution`.
    ///
    /// # Errors
    /// [`FormatError`] if the alphabet does not fit the order, or for `header` with an order other
    /// than 2 and 3.
    pub fn new(notation: Notation, order: Order, alphabet: Alphabet) -> Result<Self, FormatError> {
        if !alphabet.fits(order) {
            return Err(FormatError::AlphabetSize { alphabet, order });
        }
        let is_header = notation == Notation::Header;
        if is_header && ![2, 3].contains(&order.box_side()) {
            return Err(FormatError::Puzzle(PuzzleError { problem: Problem::InvalidBlockSize, line: None }));
        }
        let codec = Codec::new(&alphabet, order, notation);
        let (mut columns, keys) = (Columns::default(), Keys::default());
        if notation != Notation::Csv {
            columns.solution = None;
        }
        // A grid of one cell is a line.
        let is_line = notation.is_by_line() || notation == Notation::Grid && order.side() == 1;
        let converter = (!is_line).then(|| Arc::new(Converter::plainest(notation, order, &alphabet)));
        Ok(Self { notation, order, alphabet, codec, columns, keys, converter, heading: None })
    }

    /// The notation.
    #[must_use]
    pub const fn notation(&self) -> Notation {
        self.notation
    }

    /// The order of every puzzle of the text.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// The alphabet.
    #[must_use]
    pub const fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// Whether there is a place for a solution beside each puzzle.
    #[must_use]
    pub fn has_solutions(&self) -> bool {
        match self.notation {
            Notation::Csv | Notation::Cells => self.columns.solution.is_some(),
            Notation::Jsonl => self.keys.solution.is_some(),
            _ => false,
        }
    }

    /// The layout of a text whose puzzles are not on a line each, and have to be
    /// [converted](Self::convert) before they are read.
    #[must_use]
    pub fn layout(&self) -> Option<&Layout> {
        self.converter.as_ref().map(|converter| converter.layout())
    }

    /// Converts a part of a text that has a [layout](Self::layout), from the beginning of a puzzle on, to
    /// one puzzle a line. `None` if its lines are read as they are.
    #[must_use]
    pub fn convert(&self, text: &[u8], rest: Rest) -> Option<Converted> {
        self.converter.as_ref().map(|converter| converter.convert(text, rest))
    }

    /// A whole text, or a part with whole puzzles, as it is read.
    #[must_use]
    pub fn readable<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.convert(text, Rest::Nothing).map_or(Cow::Borrowed(text), |converted| converted.text.into())
    }

    /// What separates the fields of a `csv` or `cells` text.
    #[must_use]
    pub const fn delimiter(&self) -> Option<Delimiter> {
        match self.notation.facts().extent {
            Extent::Row => Some(self.columns.delimiter),
            Extent::Line | Extent::Object => None,
        }
    }

    /// Whether every puzzle is in a row that may have further columns: of a table, or a JSON object.
    #[must_use]
    pub const fn is_table(&self) -> bool {
        matches!(self.notation.facts().extent, Extent::Row | Extent::Object)
    }

    /// The heading row of a table as it is written, without its line end, if it has one.
    #[must_use]
    pub fn heading(&self) -> Option<&[u8]> {
        self.heading.as_deref()
    }

    /// The heading row with a name above each column: R writes none above the names of rows.
    pub(crate) fn whole_heading(&self) -> Option<Cow<'_, [u8]>> {
        let heading = self.heading()?;
        let lacks_name = self.columns.lacks_first_name;
        Some(if lacks_name { [b"\"\" ", heading].concat().into() } else { heading.into() })
    }

    /// The length of a block of whole puzzles at the start of `text`, which nothing follows: about
    /// `bytes`, or more if the first puzzle is longer.
    #[must_use]
    pub fn cut_about(&self, text: &[u8], bytes: usize) -> usize {
        let mut room = bytes.max(1);
        loop {
            if text.len() <= room {
                return text.len();
            }
            match self.cut(&text[..room], false) {
                0 => room *= 2,
                length => return length,
            }
        }
    }

    /// Reads `line` as one puzzle on a line, whatever it contains: blank lines and comments are not
    /// skipped but have the wrong length.
    ///
    /// # Errors
    /// A wrong length, or the first bad character, of line `line_number`.
    pub fn read_line(&self, line: &[u8], line_number: u64, puzzle: &mut Grid) -> Result<(), PuzzleError> {
        lines::read_line(self, line, puzzle)
            .map_err(|problem| PuzzleError { problem, line: Some(line_number) })
    }

    /// Reads 81 cells, if the puzzles are 9x9 and these are nothing but values and blanks of one
    /// byte. False, with the digits unspecified, if they are not.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub fn read_plain_9x9(&self, cells: &[u8; 81], digits: &mut [u8; 81]) -> bool {
        lines::read_plain_cells(self, cells, digits)
    }

    /// The number of cells on `line`: its characters before a comment, and behind white space.
    #[must_use]
    pub fn count_cells(&self, line: &[u8]) -> usize {
        let cells = self.codec.cells(line.trim_ascii());
        std::str::from_utf8(cells).map_or(cells.len(), |text| text.chars().count())
    }

    /// Reads `text`, cells without a comment, as a grid of this format's order and alphabet.
    ///
    /// # Errors
    /// A wrong length, or the first bad character.
    pub fn read_cells(&self, text: &[u8], grid: &mut Grid) -> Result<(), Problem> {
        lines::read_cells(self, text, grid)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({}, {}, {})", self.notation, self.order, self.alphabet)
    }
}

/// Why a text cannot be read at all. The sentence says what is wrong; a caller who can set options
/// adds which of them mends it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The text itself is at fault.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// The given alphabet does not fit the order.
    #[error("The alphabet {alphabet} does not fit {order} puzzles.")]
    AlphabetSize {
        /// The given alphabet.
        alphabet: Alphabet,
        /// The order of the puzzles.
        order: Order,
    },
    /// The text can be puzzles in an alphabet whose first value is `0`, or in `letters` with `0` for a
    /// blank.
    #[error(
        "The text fits the alphabets {from_zero} and letters, which read its 0 differently: as the value 1, or as \
         a blank."
    )]
    AmbiguousAlphabet {
        /// The alphabet whose first value is `0`: `hex`, or for 25x25 its symbols and those that follow.
        from_zero: Alphabet,
    },
    /// The text can be 4x4 puzzles, one a line, or the rows of 16x16 puzzles.
    #[error("The lines of 16 characters fit 4x4 puzzles, one a line, and the rows of 16x16 puzzles.")]
    AmbiguousLines,
    /// The text can be read in two ways, which find different puzzles.
    #[error("The text can be read in two ways that differ: as {one}; and as {other}.")]
    AmbiguousLayout {
        /// The first way.
        one: String,
        /// The second.
        other: String,
    },
    /// Rows of blanks are between puzzles in one place, and not in another.
    #[error("Rows of blanks may be cells or separators here: puzzles are not equally far apart.")]
    UnevenRows,
    /// The puzzles have more rules than those of rows, columns and boxes.
    #[error("The text says \"{word}\": puzzles with more rules than the classic ones are not solved.")]
    Variant {
        /// What says so.
        word: String,
    },
    /// The text can be cells apart from its first column on, or from its second.
    #[error(
        "The rows of {fields} fields fit puzzles of their first {cells} and of their last {cells}.",
        fields = .order.cells() + 1,
        cells = .order.cells(),
    )]
    AmbiguousCells {
        /// The order of the puzzles.
        order: Order,
    },
    /// A field of a table goes on in the next line.
    #[error(
        "Line {line} has a field in quotes that goes on in the next line, and a row ends with its line. \
         Write spaces for the line breaks in fields, or leave out their column."
    )]
    BrokenRow {
        /// The line on which the row begins, from 1.
        line: u64,
    },
    /// There is no such column as was asked for.
    #[error("There is no column {column}. The first row is: {first}.")]
    NoColumn {
        /// The column asked for.
        column: Column,
        /// The fields of the first row, or the names of members.
        first: String,
    },
}

impl FormatError {
    /// The option that does not fit or is missing, by its name on the command line and in the
    /// service. `None` if the text is at fault.
    #[must_use]
    pub const fn option(&self) -> Option<&'static str> {
        match self {
            Self::Puzzle(_) | Self::BrokenRow { .. } | Self::Variant { .. } | Self::UnevenRows => None,
            Self::AlphabetSize { .. } | Self::AmbiguousAlphabet { .. } => Some("alphabet"),
            Self::AmbiguousLines | Self::AmbiguousLayout { .. } => Some("notation"),
            Self::NoColumn { .. } | Self::AmbiguousCells { .. } => Some("column"),
        }
    }

    /// The same error with its line number increased by `lines`, which precede the sample.
    #[doc(hidden)]
    #[must_use]
    pub fn below(mut self, lines: u64) -> Self {
        if let Self::Puzzle(PuzzleError { line: Some(line), .. }) | Self::BrokenRow { line } = &mut self {
            *line += lines;
        }
        self
    }
}

/// One puzzle of a text, or an error in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The physical line on which it begins, from 1.
    pub line: u64,
    /// The text of the solution beside it, in `csv`, `cells` and `jsonl`, for [`Format::read_solution`]: a
    /// field or a string without the quotes around it, any other value of JSON as it is written.
    /// `None` where an error line is in its place, as our own tables have it.
    pub given: Option<&'a [u8]>,
    /// The row of a table that it is in, or the line of a JSON object, as it is written, without the
    /// newline at its end. Cut to [`MAX_LINE_BYTES`]. Empty in other notations.
    pub row: &'a [u8],
    /// The error of its length or characters, in which case the cells of the grid are unspecified.
    pub error: Option<PuzzleError>,
}

/// A reader of the puzzles of a block, in order.
///
/// The block must begin at the start of a puzzle, as [`Format::cut`] ensures.
#[derive(Debug)]
pub struct Records<'a> {
    format: &'a Format,
    /// The text not read yet.
    text: &'a [u8],
    /// The number of the line on which `text` begins.
    line: u64,
}

impl<'a> Records<'a> {
    /// A reader of `text`, whose first line has number `first_line`.
    #[must_use]
    pub const fn new(format: &'a Format, text: &'a [u8], first_line: u64) -> Self {
        Self { format, text, line: first_line }
    }

    /// Reads the next puzzle into `puzzle`, which takes on the order of the format. Lines without a
    /// puzzle are skipped. `None` at the end of the block.
    ///
    /// This checks length and characters, but not the rules, see [`Grid::first_conflict`].
    pub fn read(&mut self, puzzle: &mut Grid) -> Option<Record<'a>> {
        if puzzle.order() != self.format.order {
            puzzle.reset(self.format.order);
        }
        self.read_next(puzzle)
    }

    /// Reads plain 9x9 puzzles, values and blanks and nothing else, while there are any and `digits`
    /// has space: 81 digits each, contiguous. Each is on one line: all of it, a field of a row without
    /// quotes, or a member of a simple object. Returns their number; `digits` behind them is
    /// unspecified. Several times as fast as [`Self::read`], which must read whatever this stops at,
    /// be it the end of the block.
    #[doc(hidden)]
    #[inline(always)]
    pub fn read_plain_9x9(&mut self, digits: &mut [u8]) -> usize {
        if self.are_in_rows() { self.read_plain_rows_9x9(digits) } else { self.read_plain_lines_9x9(digits) }
    }

    /// Whether puzzles are in rows, which may have more than them.
    pub(crate) const fn are_in_rows(&self) -> bool {
        self.format.is_table()
    }

    /// [`Self::read_plain_9x9`] where puzzles are all of a line.
    #[inline(always)]
    pub(crate) fn read_plain_lines_9x9(&mut self, digits: &mut [u8]) -> usize {
        match self.format.notation {
            Notation::Lines | Notation::Header => lines::read_plain_9x9(self, digits),
            _ => 0,
        }
    }

    /// [`Self::read_plain_9x9`] where puzzles are in rows.
    #[inline(always)]
    pub(crate) fn read_plain_rows_9x9(&mut self, digits: &mut [u8]) -> usize {
        match self.format.notation {
            Notation::Csv => columns::read_plain_9x9(self, digits),
            Notation::Jsonl => json::read_plain_9x9(self, digits),
            _ => 0,
        }
    }

    /// Reads the next row of a 9x9 table if the solution in it solves the puzzle in it: returns the
    /// row, and the digits of the puzzle. Several times as fast as reading it. `None` proves
    /// nothing: the row, or the end of the block, must be read.
    #[inline(always)]
    pub(crate) fn read_solved_9x9(&mut self, puzzle: &mut [u8; 81]) -> Option<&'a [u8]> {
        if self.format.notation == Notation::Csv { columns::read_solved_9x9(self, puzzle) } else { None }
    }

    /// The text not read yet.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.text
    }

    /// The number of the next line.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// Skips the next line, whose text without the newline this is.
    #[inline(always)]
    fn skip_line(&mut self, line: &[u8]) {
        self.text = &self.text[line.len() + 1..];
        self.line += 1;
    }

    /// Takes the next line without its end, cut to [`MAX_LINE_BYTES`], and its number. `None` at
    /// the end of the block.
    fn take_line(&mut self) -> Option<(&'a [u8], u64)> {
        if self.text.is_empty() {
            return None;
        }
        let (line, rest) = match memchr::memchr(b'\n', self.text) {
            Some(end) => (&self.text[..end], &self.text[end + 1..]),
            None => (self.text, &self.text[self.text.len()..]),
        };
        let number = self.line;
        self.text = rest;
        self.line += 1;
        Some((lines::looked_at(line), number))
    }
}
