//! Rows of puzzles with columns for what was found about each.

use super::check_form::CheckForm;
use super::columns::{RowBuilder, RowForm, RowWriter};
use crate::grid::Grid;
use crate::text::Format;

/// The column of the line.
const LINE: &str = "line";

/// A writer of rows with results. What is no table has a column of puzzles of its own, and as JSON
/// the line too, unless that is a result.
pub(super) struct ResultRows {
    writer: RowWriter,
    /// Whether the puzzle is the only column of its own.
    is_list: bool,
    has_lines: bool,
}

impl ResultRows {
    /// A writer of rows to which columns with these names are added; `None` if the form is text.
    pub(super) fn new<'a>(
        form: CheckForm,
        format: &Format,
        added: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let form = form.row_form()?;
        let is_list = !RowWriter::keeps_columns(format, form);
        let added: Vec<&str> = added.collect();
        let has_lines = is_list && form == RowForm::Json && !added.contains(&LINE);
        let names = has_lines.then_some(LINE).into_iter().chain(is_list.then_some("puzzle"));
        let writer = RowWriter::new(format, form, names.chain(added));
        Some(Self { writer, is_list, has_lines })
    }

    /// The line above all rows, line end included, or nothing.
    pub(super) fn heading(rows: Option<&Self>, format: &Format) -> Vec<u8> {
        let mut heading = Vec::new();
        if let Some(rows) = rows {
            rows.writer.write_heading(format, &mut heading);
        }
        heading
    }

    /// Whether the puzzle has a column, because the input has none.
    pub(super) const fn has_puzzles(&self) -> bool {
        self.is_list
    }

    /// Appends the columns that a row has by itself, so that what was found can follow.
    pub(super) fn begin<'a>(
        &'a self,
        line: u64,
        own: &[u8],
        puzzle: Option<&Grid>,
        format: &Format,
        out: &'a mut Vec<u8>,
    ) -> RowBuilder<'a> {
        let mut row = self.writer.row(own, out);
        if self.has_lines {
            row.number(line);
        }
        if self.is_list {
            row.cells(puzzle, format);
        }
        row
    }
}
