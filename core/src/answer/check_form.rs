//! Forms of rows about puzzles.

use std::fmt;

use super::columns::RowForm;

/// The form of the rows of a [`RowJob`](super::RowJob).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CheckForm {
    /// A sentence a row.
    #[default]
    Text,
    /// The row as it is, with columns added.
    Csv,
    /// [`Self::Csv`] with tabs instead of commas.
    Tsv,
    /// A JSON object a row.
    Jsonl,
    /// [`Self::Csv`] as the columns of a file are made from: the heading is there even where the
    /// input has none.
    Parquet,
}

impl CheckForm {
    /// All forms, each with its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("text", Self::Text),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("jsonl", Self::Jsonl),
        ("parquet", Self::Parquet),
    ];

    /// The form of rows with columns, if it is one.
    #[must_use]
    pub const fn row_form(self) -> Option<RowForm> {
        match self {
            Self::Text => None,
            Self::Csv => Some(RowForm::Delimited(b',')),
            Self::Tsv => Some(RowForm::Delimited(b'\t')),
            Self::Jsonl => Some(RowForm::Json),
            Self::Parquet => Some(RowForm::Columns),
        }
    }
}

impl fmt::Display for CheckForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, form)| form == self).map_or("", |(name, _)| name))
    }
}
