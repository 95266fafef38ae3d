//! Recognition: which layout a text has.
//!
//! Every layout of one [table](table::TABLE) that cheap facts leave reads the beginning of the text
//! with the reader that would read all of it. The one that leaves the least unexplained wins. If two
//! explain it equally well and have different puzzles, the text is refused.
//!
//! | file | what it holds |
//! |---|---|
//! | `signs.rs` | which characters are values and blanks |
//! | `facts.rs` | the parts of a line, and what a line is that is no cells |
//! | `brackets.rs`, `markup.rs`, `views.rs` | arrays of any language, HTML, XML and sections as lines |
//! | `table.rs` | the layouts |
//! | `find.rs` | the candidates that the beginning of a text suggests |
//! | `split.rs` | the cells of a line |
//! | `rows.rs`, `lines.rs`, `triples.rs`, `members.rs` | the readers, one for each framing |
//! | `account.rs` | what a reader makes of a text |
//! | `judge.rs` | the choice |
//! | `convert.rs` | puzzles of any layout as lines |

mod account;
mod brackets;
mod convert;
mod facts;
mod find;
mod judge;
mod lines;
mod markup;
mod members;
mod rows;
mod signs;
mod split;
mod table;
mod triples;
mod views;

pub(super) use account::zeros_may_be_values;
pub use convert::Converted;
pub(super) use convert::Converter;
pub(super) use facts::tokens;
pub use judge::Refusal;
pub(super) use judge::ambiguous_zeros;
pub use rows::Rest;
pub use table::{Layout, layouts};

use super::lines::puzzle_lines;
use super::table::{Columns, fields, no_column};
use super::{Alphabet, Column, Delimiter, FormatError, Hint, Notation};
use crate::grid::Order;
use account::Reading;
use table::{Framing, Row, SIZES, Split, TABLE, View};

/// A layout that was found in a text.
pub(super) struct FoundLayout {
    reading: Reading,
}

/// The layout that leaves the least of a text unexplained.
///
/// # Errors
/// A [`Refusal`].
pub(super) fn judge(text: &[u8], hint: &Hint, goes_on: bool) -> Result<FoundLayout, Refusal> {
    judge::judge(text, hint, goes_on).map(|reading| FoundLayout { reading })
}

/// The layout of a text whose notation is known: the best one in it, or the plainest if none has a puzzle
/// in it.
///
/// # Errors
/// [`FormatError`] if two are equally good.
pub(super) fn layout_of(text: &[u8], hint: &Hint, goes_on: bool) -> Result<FoundLayout, FormatError> {
    match judge::judge(text, hint, goes_on) {
        Ok(mut reading) => {
            reading.layout.is_told = true;
            Ok(FoundLayout { reading })
        }
        Err(refusal) => match refusal.error() {
            Some(error) => Err(error),
            None => {
                let layout = Layout { is_told: true, ..plainest_of(hint) };
                Ok(FoundLayout { reading: Reading::new(&layout, &[]) })
            }
        },
    }
}

/// The first column and the order of puzzles whose cells are apart, all of them on a line. `None` if
/// there are none.
///
/// # Errors
/// [`FormatError`] if two layouts are equally good, or if no column has the name that is asked for.
pub(super) fn apart(
    text: &[u8],
    hint: &Hint,
    goes_on: bool,
) -> Result<Option<(Columns, Order)>, FormatError> {
    let wanted = Hint { notation: Some(Notation::Cells), ..hint.clone() };
    let Some(column @ Column::Name(name)) = &hint.column else {
        return match judge::judge(text, &wanted, goes_on) {
            Ok(reading) => Ok(FoundLayout { reading }.apart()),
            Err(refusal) => refusal.error().map_or(Ok(None), Err),
        };
    };
    let first = puzzle_lines(text).next().unwrap_or_default();
    let number = |delimiter| {
        Some((
            delimiter,
            fields(first, delimiter).position(|field| field.eq_ignore_ascii_case(name.as_bytes()))?,
        ))
    };
    let named = Delimiter::candidates(hint).into_iter().find_map(number);
    let (delimiter, at) = named.ok_or_else(|| no_column(text, column, hint.delimiter))?;
    let column = Some(Column::Number(at + 1));
    apart(text, &Hint { column, delimiter: Some(delimiter), ..wanted }, goes_on)
}

/// Whether a text is of documents of JSON, arrays or objects.
pub(super) fn is_json(text: &[u8]) -> bool {
    members::documents(text, false).is_some()
}

fn plainest_of(hint: &Hint) -> Layout {
    plainest(hint.notation, hint.order, hint.alphabet.as_ref().unwrap_or(&Alphabet::Letters))
}

/// The first layout of a notation.
fn plainest(notation: Option<Notation>, order: Option<Order>, alphabet: &Alphabet) -> Layout {
    let framing = if notation == Some(Notation::Triples) { Framing::Triples } else { Framing::Rows };
    let is_plainest = |row: &Row| row.framing == framing && matches!(row.split, Split::Signs | Split::None);
    let index = TABLE.iter().position(is_plainest).unwrap_or(0);
    let order = order.unwrap_or(Order::NINE);
    Layout::new(index, u8::try_from(order.side()).unwrap_or(SIZES[3].side), alphabet)
}

impl Converter {
    /// The converter of the first layout of a notation.
    pub(super) fn plainest(notation: Notation, order: Order, alphabet: &Alphabet) -> Self {
        Self::new(&plainest(Some(notation), Some(order), alphabet))
    }
}

impl FoundLayout {
    pub(super) const fn layout(&self) -> &Layout {
        &self.reading.layout
    }

    /// The order of the puzzles.
    pub(super) fn order(&self) -> Order {
        Order::from_side(usize::from(self.layout().side)).unwrap_or(Order::NINE)
    }

    pub(super) const fn alphabet(&self) -> &Alphabet {
        &self.reading.layout.alphabet
    }

    /// The notation in which such puzzles are written.
    pub(super) fn notation(&self) -> Notation {
        match self.layout().row().framing {
            Framing::Rows => Notation::Grid,
            Framing::Triples => Notation::Triples,
            Framing::Line | Framing::Members => Notation::Lines,
        }
    }

    /// Whether puzzles are members of objects.
    pub(super) fn is_member(&self) -> bool {
        self.layout().row().framing == Framing::Members
    }

    /// The first column and the order of puzzles whose cells are apart, all of them on a line.
    pub(super) fn apart(&self) -> Option<(Columns, Order)> {
        let (layout, row) = (self.layout(), self.layout().row());
        if row.view != View::Plain || row.split != Split::Apart {
            return None;
        }
        let delimiter = match layout.delimiters[..] {
            [b' '] => Delimiter::Whitespace,
            [byte] => Delimiter::Byte(byte),
            _ => return None,
        };
        let columns = Columns { delimiter, puzzle: layout.column, solution: None, ..Columns::default() };
        Some((columns, self.order()))
    }

    /// The delimiter and the column of puzzles that are a field of their line, or all of it.
    pub(super) fn field(&self) -> Option<(Option<Delimiter>, usize)> {
        let layout = self.layout();
        let row = layout.row();
        if row.view != View::Plain || row.split != Split::Field {
            return None;
        }
        let delimiter = match layout.delimiters[..] {
            [] => None,
            [b' '] => Some(Delimiter::Whitespace),
            [byte @ (b',' | b';' | b'\t' | b'|')] => Some(Delimiter::Byte(byte)),
            _ => return None,
        };
        Some((delimiter, layout.column))
    }

    /// The same as a list, every line of which has an answer.
    pub(super) const fn into_list(mut self) -> Self {
        self.reading.layout.is_list = true;
        self
    }

    /// Whether there are comments or separators that no list may have.
    pub(super) const fn skips(&self) -> bool {
        self.reading.skipped > 0
    }

    /// The number of puzzles that are read.
    pub(super) fn good(&self) -> usize {
        self.reading.puzzles.iter().filter(|place| place.fault.is_none()).count()
    }

    /// Whether there are solutions on the lines below their puzzles.
    pub(super) const fn has_solutions_below(&self) -> bool {
        self.reading.solutions > 0
    }

    /// Whether a puzzle that is read breaks the rules.
    pub(super) const fn breaks_rules(&self) -> bool {
        self.reading.unsound > 0
    }

    /// The number of puzzles.
    pub(super) fn count(&self) -> usize {
        self.reading.puzzles.len()
    }

    /// Whether blanks have another sign than this one.
    pub(super) fn has_other_blank_than_dot(&self) -> bool {
        self.reading.blanks & !signs::DOT != 0
    }
}
