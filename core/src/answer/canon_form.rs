//! Forms of canonical forms as text.

use super::canonizer::CanonRow;
use super::check_form::CheckForm;
use super::result_rows::ResultRows;
use crate::text::{ERROR_PREFIX, Format};

/// The columns that are added to a row.
const ADDED: [&str; 4] = ["canonical", "basis", "automorphisms", "error"];

/// The column of the disguise, where it is asked for.
const DISGUISE: &str = "disguise";

/// A writer of canonical forms of puzzles in one format.
pub struct CanonWriter {
    format: Format,
    rows: Option<ResultRows>,
    with_disguise: bool,
}

impl CanonWriter {
    /// A writer in this form, with the disguise that leads from the puzzle to its form or without.
    /// As text, a puzzle has one line: its form, a space and the disguise; or an error line.
    #[must_use]
    pub fn new(form: CheckForm, format: &Format, with_disguise: bool) -> Self {
        let rows = ResultRows::new(form, format, ADDED.into_iter().chain(with_disguise.then_some(DISGUISE)));
        Self { format: format.clone(), rows, with_disguise }
    }

    /// The line above all forms, line end included, or nothing.
    #[must_use]
    pub fn heading(&self) -> Vec<u8> {
        ResultRows::heading(self.rows.as_ref(), &self.format)
    }

    /// Appends the form of a puzzle: one line.
    pub fn write(&self, canon: &CanonRow<'_>, out: &mut Vec<u8>) {
        let form = canon.result.as_ref();
        let Some(rows) = &self.rows else {
            match form {
                Ok(form) => {
                    self.format.write_cells(&form.puzzle, out);
                    if self.with_disguise {
                        out.extend_from_slice(format!(" {}", form.disguise).as_bytes());
                    }
                    out.push(b'\n');
                }
                Err(error) => out.extend_from_slice(format!("{ERROR_PREFIX}{error}\n").as_bytes()),
            }
            return;
        };
        let mut row = rows.begin(canon.line, canon.row, canon.puzzle, &self.format, out);
        let found = form.ok();
        row.cells(found.map(|form| &form.puzzle), &self.format);
        row.text(found.map(|form| form.basis.name().as_bytes()));
        row.number(found.map(|form| form.automorphisms));
        row.text(form.err().map(|error| error.code().as_bytes()));
        if self.with_disguise {
            row.text(found.map(|form| form.disguise.to_string()).as_deref().map(str::as_bytes));
        }
        row.end();
    }
}
