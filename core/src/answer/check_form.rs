//! Forms of reports: checked rows as text.

use std::fmt;

use super::checker::CheckedRow;
use super::columns::{RowForm, RowWriter};
use crate::grid::Grid;
use crate::text::{Format, Records};

/// The form of a report on checked rows.
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

/// The columns that are added to a row: its line, the code of the finding, the row and column of
/// the wrong cell, and the sentence.
const ADDED: [&str; 5] = ["line", "verdict", "row", "column", "message"];

/// The column of the grid, if the input is no table and so has no columns of its own.
const GRID: &str = "puzzle";

/// A writer of reports on rows of one format.
pub struct CheckWriter {
    format: Format,
    rows: Option<RowWriter>,
    /// Whether the grid is the only column of its own.
    is_list: bool,
}

impl CheckWriter {
    /// A writer of reports in this form.
    #[must_use]
    pub fn new(form: CheckForm, format: &Format) -> Self {
        let form = form.row_form();
        let is_list = form.is_some_and(|form| !RowWriter::keeps_columns(format, form));
        let grid = is_list.then_some(GRID);
        let rows = form.map(|form| RowWriter::new(format, form, grid.into_iter().chain(ADDED)));
        Self { format: format.clone(), rows, is_list }
    }

    /// The line above all reports, line end included, or nothing.
    #[must_use]
    pub fn heading(&self) -> Vec<u8> {
        let mut heading = Vec::new();
        if let Some(rows) = &self.rows {
            rows.write_heading(&self.format, &mut heading);
        }
        heading
    }

    /// Appends the report on a row: one line.
    pub fn write(&self, checked: &CheckedRow<'_>, out: &mut Vec<u8>) {
        let sentence = || checked.finding.sentence(Some(checked.line));
        let Some(rows) = &self.rows else {
            out.extend_from_slice(sentence().as_bytes());
            return out.push(b'\n');
        };
        let mut row = rows.row(checked.row, out);
        if self.is_list {
            let mut grid = Grid::empty(self.format.order());
            let record = Records::new(&self.format, checked.text, checked.line).read(&mut grid);
            let is_read = record.is_some_and(|record| record.error.is_none());
            row.cells(is_read.then_some(&grid), &self.format);
        }
        row.number(checked.line);
        row.text(checked.finding.code().as_bytes());
        let cell = checked.finding.cell();
        row.number(cell.map(|cell| cell.row() as u64));
        row.number(cell.map(|cell| cell.column() as u64));
        row.text(sentence().as_bytes());
        row.end();
    }
}
