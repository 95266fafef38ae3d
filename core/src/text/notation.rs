//! The registry of notations: what is known of each.
//!
//! A new notation is a variant, an entry of [`Notation::ALL`], its functions in `by_notation.rs`, its
//! evidence in `recognise.rs`, and a file with the functions that these call. Most else asks
//! [`Notation::facts`]. What is peculiar to one notation is in some other places too: its blanks
//! (`alphabet.rs`), how its order and cells are seen in a sample (`detect.rs`), texts without a puzzle
//! (`misfit.rs`), what is wrong with a line or a cell (`lines.rs`), bad rows that are copied
//! (`rewrite.rs`), and solutions and fast paths (`mod.rs`).

use std::fmt;
use std::str::FromStr;

use crate::counted::listed;

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
    listed(&Notation::ALL.map(|(name, _)| name), "or")
}

impl FromStr for Notation {
    type Err = NoNotation;

    fn from_str(text: &str) -> Result<Self, NoNotation> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, notation)| notation).ok_or_else(|| NoNotation(text.to_owned()))
    }
}
