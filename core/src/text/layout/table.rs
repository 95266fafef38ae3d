//! The table of layouts: every way to write puzzles that is auto-detected, a row each.

use std::fmt;

use super::super::Alphabet;
use super::signs::{Blanks, DOT, NOTHING, ZERO};

/// How a text is seen as lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum View {
    /// As it is.
    Plain,
    /// The sections `[Puzzle]`; others are comments.
    Sections,
    /// JSON, or the literals of Python.
    Json,
    /// What stands between brackets, of any language.
    Brackets,
    /// What stands between the tags of HTML and XML.
    Markup,
}

/// How a text of JSON is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum JsonCut {
    /// A document a line.
    Lines,
    /// Documents over as many lines as they like.
    Values,
    /// The items of one array.
    Items,
}

/// What a puzzle takes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Framing {
    /// A line.
    Line,
    /// As many rows as it has cells in each.
    Rows,
    /// `row column value` a line.
    Triples,
    /// A member of an object.
    Members,
}

/// How a line is split into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Split {
    /// All characters of one field.
    Field,
    /// Fields, a cell each, of which all of a puzzle are on the line.
    Apart,
    /// All characters but white space, bars and punctuation.
    Signs,
    /// The parts between white space, bars and punctuation, a cell each.
    Words,
    /// The fields of a row, a cell each; empty ones are blanks.
    Fields,
    /// Characters at fixed columns; spaces are blanks.
    Columns,
    /// By the framing alone.
    None,
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Row {
    /// The name in messages, and what it looks like, in Markdown.
    pub(super) name: &'static str,
    looks_like: &'static str,
    pub(super) view: View,
    pub(super) framing: Framing,
    pub(super) split: Split,
    /// The delimiters that are tried.
    pub(super) delimiters: &'static [u8],
}

const fn row(
    (name, looks_like): (&'static str, &'static str),
    view: View,
    framing: Framing,
    split: Split,
    delimiters: &'static [u8],
) -> Row {
    Row { name, looks_like, view, framing, split, delimiters }
}

/// All layouts. Of several that explain a text equally well and mean the same, the first is taken.
pub(super) static TABLE: [Row; 19] = [
    row(
        ("a puzzle a line", "`53..7....`, also a field of a table or between other text"),
        View::Plain,
        Framing::Line,
        Split::Field,
        b"",
    ),
    row(
        (
            "all cells of a puzzle on a line, apart",
            "`5,3,0,0,7` and so on, with columns of texts beside them",
        ),
        View::Plain,
        Framing::Line,
        Split::Apart,
        b",;\t| ",
    ),
    row(
        ("rows of numbers or words", "`5 3 16 0`, `5 3 nan 7`"),
        View::Plain,
        Framing::Rows,
        Split::Words,
        b"",
    ),
    row(
        ("rows of cells", "`53. .7. ...`, with rulers, bars and names of rows or without"),
        View::Plain,
        Framing::Rows,
        Split::Signs,
        b"",
    ),
    row(
        ("rows of fields", "`5,3,,,7,,,,`, as spreadsheets write them"),
        View::Plain,
        Framing::Rows,
        Split::Fields,
        b",;\t|",
    ),
    row(
        ("rows in columns, with spaces for blanks", "cells at the same columns in all rows, drawn or not"),
        View::Plain,
        Framing::Rows,
        Split::Columns,
        b"",
    ),
    row(
        (
            "row, column and value",
            "`1 2 3`, `r1c2=3`, `A2: 3`, from 0 or 1 on, in the order that a heading names",
        ),
        View::Plain,
        Framing::Triples,
        Split::None,
        b"",
    ),
    row(
        ("sections of rows", "`[Puzzle]` above rows; no other section is a puzzle"),
        View::Sections,
        Framing::Rows,
        Split::Signs,
        b"",
    ),
    row(
        ("sections of a puzzle a line", "the same above lines"),
        View::Sections,
        Framing::Line,
        Split::Field,
        b"",
    ),
    row(
        (
            "members of objects",
            "JSON or Python: a document a line or over lines, or the items of an array; texts, rows or cells",
        ),
        View::Json,
        Framing::Members,
        Split::None,
        b"",
    ),
    row(
        ("arrays of rows", "`{\"53..7....\", ...}` of any language"),
        View::Brackets,
        Framing::Rows,
        Split::Signs,
        b"",
    ),
    row(
        ("arrays of rows of numbers", "`[[5 3 0] ...]`, `{{5, 3, 16}, ...}`"),
        View::Brackets,
        Framing::Rows,
        Split::Words,
        b"",
    ),
    row(
        ("arrays of rows of fields", "`[[5, 3, , ], ...]`"),
        View::Brackets,
        Framing::Rows,
        Split::Fields,
        b",",
    ),
    row(
        ("arrays of all cells", "`(5, 3, 0, 0, 7, ...)`"),
        View::Brackets,
        Framing::Line,
        Split::Apart,
        b",; ",
    ),
    row(
        ("arrays of texts", "`(1, '53..7....')`, as SQL has them too"),
        View::Brackets,
        Framing::Line,
        Split::Field,
        b"",
    ),
    row(
        ("rows between tags", "`<tr><td>5</td><td>3</td>`"),
        View::Markup,
        Framing::Rows,
        Split::Fields,
        b"\t",
    ),
    row(
        ("rows of cells between tags", "the same with `0` or `.` for blanks, or rows as text"),
        View::Markup,
        Framing::Rows,
        Split::Signs,
        b"",
    ),
    row(
        ("rows of numbers between tags", "the same with numbers of two digits"),
        View::Markup,
        Framing::Rows,
        Split::Words,
        b"",
    ),
    row(
        (
            "puzzles between tags",
            "texts and attributes of HTML and XML, as OpenSudoku writes, whose games in play count with their clues",
        ),
        View::Markup,
        Framing::Line,
        Split::Field,
        b"",
    ),
];

/// The layouts that are recognised: the name of each, as `validate` prints it, and what it looks like, in
/// Markdown.
///
/// ```
/// assert_eq!(sudoku_core::text::layouts().next().map(|(name, _)| name), Some("a puzzle a line"));
/// ```
pub fn layouts() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().map(|row| (row.name, row.looks_like))
}

/// A size of puzzles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) side: u8,
    /// The rows and the columns of a box.
    pub(super) box_rows: u8,
    pub(super) box_columns: u8,
}

/// The sizes that are recognised. Those that are not solved are told as such.
pub(super) const SIZES: [Size; 7] = {
    const fn size(side: u8, box_rows: u8, box_columns: u8) -> Size {
        Size { side, box_rows, box_columns }
    }
    [
        size(4, 2, 2),
        size(6, 2, 3),
        size(8, 2, 4),
        size(9, 3, 3),
        size(12, 3, 4),
        size(16, 4, 4),
        size(25, 5, 5),
    ]
};

impl Size {
    /// The size of this side, be it one that is never looked for.
    pub(super) fn of_side(side: usize) -> Option<Self> {
        const ONE: Size = Size { side: 1, box_rows: 1, box_columns: 1 };
        SIZES.into_iter().chain([ONE]).find(|size| usize::from(size.side) == side)
    }

    pub(super) fn of_cells(cells: usize) -> Option<Self> {
        SIZES.into_iter().find(|size| usize::from(size.side).pow(2) == cells)
    }
}

/// The columns of cells in lines whose blanks are spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Places {
    pub(super) first: usize,
    /// From one cell to the next, and what is added at the border of a box.
    pub(super) step: usize,
    pub(super) gap: usize,
}

impl Places {
    /// The columns of the cells of a row.
    pub(super) fn columns(self, size: Size) -> impl Iterator<Item = usize> {
        let box_columns = usize::from(size.box_columns);
        (0..usize::from(size.side))
            .map(move |cell| self.first + self.step * cell + self.gap * (cell / box_columns))
    }
}

/// A way to write puzzles: a row of the table, and what it leaves open as it was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The place in [`TABLE`].
    pub(super) index: usize,
    pub(super) side: u8,
    pub(super) alphabet: Alphabet,
    /// What separates fields, if anything does.
    pub(super) delimiters: Vec<u8>,
    /// The first field, or the first part of a row, that is a cell or the puzzle.
    pub(super) column: usize,
    /// The sign of blanks, where rows have one.
    pub(super) blank: Option<Blanks>,
    pub(super) places: Option<Places>,
    /// The columns of bars.
    pub(super) bars: Vec<usize>,
    /// The number of fields of each row, where empty ones at the end are cells.
    pub(super) width: Option<usize>,
    /// The order of row, column and value: `rcv`; and what rows and columns count from.
    pub(super) axes: [u8; 3],
    pub(super) origin: u8,
    /// Whether a user has said that these are puzzles, so that what may be a row is a bad one.
    pub(super) is_told: bool,
    /// Whether every line is an answer but comments and separators, as in a list.
    pub(super) is_list: bool,
    /// The names of the members that lead to the puzzle; `*` for each item of an array.
    pub(super) path: Vec<String>,
    /// How a text of JSON is cut.
    pub(super) extent: JsonCut,
}

impl Layout {
    pub(super) fn new(index: usize, side: u8, alphabet: &Alphabet) -> Self {
        Self {
            index,
            side,
            alphabet: alphabet.clone(),
            delimiters: Vec::new(),
            column: 0,
            blank: None,
            places: None,
            bars: Vec::new(),
            width: None,
            axes: *b"rcv",
            origin: 1,
            is_told: false,
            is_list: false,
            path: Vec::new(),
            extent: JsonCut::Lines,
        }
    }

    pub(super) fn row(&self) -> &'static Row {
        &TABLE[self.index]
    }

    pub(super) fn size(&self) -> Size {
        Size::of_side(usize::from(self.side)).unwrap_or(SIZES[3])
    }

    /// The cells of a puzzle, or of each line of one.
    pub(super) fn cells(&self) -> usize {
        let side = usize::from(self.side);
        if self.row().framing == Framing::Line { side * side } else { side }
    }
}

/// The name of a delimiter in messages.
fn delimiter_name(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tabs".to_owned(),
        b' ' => "spaces".to_owned(),
        other => format!("'{}'", char::from(other)),
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (row, side) = (self.row(), self.side);
        write!(f, "{side}x{side}, {}", row.name)?;
        if !self.delimiters.is_empty() && row.view != View::Markup {
            let names: Vec<String> =
                self.delimiters.iter().map(|&delimiter| delimiter_name(delimiter)).collect();
            write!(f, " between {}", names.join(" or "))?;
        }
        match row.framing {
            Framing::Triples => {
                let names = self.axes.map(|axis| match axis {
                    b'r' => "row",
                    b'c' => "column",
                    _ => "value",
                });
                write!(f, " in the order {}", names.join(", "))?;
                if self.origin == 0 {
                    f.write_str(", counted from 0")?;
                }
            }
            Framing::Members => write!(f, ": {}", self.path.join("."))?,
            Framing::Line | Framing::Rows if self.column > 0 => {
                write!(f, ", from field {} on", self.column + 1)?;
            }
            Framing::Line | Framing::Rows => {}
        }
        match self.blank {
            Some(DOT) => f.write_str(", . for blanks"),
            Some(ZERO) => f.write_str(", 0 for blanks"),
            Some(NOTHING) => f.write_str(", nothing for blanks"),
            _ => Ok(()),
        }?;
        if self.alphabet == Alphabet::Letters { Ok(()) } else { write!(f, ", in {}", self.alphabet) }
    }
}

/// What is asked for.
pub(super) struct Wanted {
    /// The side of the puzzles.
    pub(super) side: Option<u8>,
    /// The delimiter of fields.
    pub(super) delimiter: Option<u8>,
    /// The first column of cells that are apart, from 0.
    pub(super) column: Option<usize>,
}

impl Wanted {
    pub(super) fn sizes(&self) -> impl Iterator<Item = Size> {
        SIZES.into_iter().filter(|size| self.side.is_none_or(|side| side == size.side))
    }
}
