//! Forms of lists of solutions as text.

use super::check_form::CheckForm;
use super::enumerators::{SolutionEvent, SolutionRow};
use super::result_rows::ResultRows;
use crate::text::{ERROR_PREFIX, Format};

/// The columns that are added to a row.
const ADDED: [&str; 3] = ["number", "solution", "error"];

/// A writer of the solutions of puzzles in one format.
pub struct SolutionWriter {
    format: Format,
    rows: Option<ResultRows>,
}

impl SolutionWriter {
    /// A writer in this form. Each solution has one line, and each error.
    #[must_use]
    pub fn new(form: CheckForm, format: &Format) -> Self {
        Self { format: format.clone(), rows: ResultRows::new(form, format, ADDED.into_iter()) }
    }

    /// The line above all solutions, line end included, or nothing.
    #[must_use]
    pub fn heading(&self) -> Vec<u8> {
        ResultRows::heading(self.rows.as_ref(), &self.format)
    }

    /// Appends what is told of a puzzle: one line for each solution and for an error, none for its
    /// end.
    pub fn write(&self, told: &SolutionRow<'_>, out: &mut Vec<u8>) {
        if matches!(told.event, SolutionEvent::End { .. }) {
            return;
        }
        let Some(rows) = &self.rows else {
            match &told.event {
                SolutionEvent::Solution { solution, .. } => self.format.write_line(solution.digits(), out),
                SolutionEvent::Error(error) => {
                    out.extend_from_slice(format!("{ERROR_PREFIX}{error}\n").as_bytes());
                }
                SolutionEvent::End { .. } => {}
            }
            return;
        };
        let mut row = rows.begin(told.line, told.row, told.puzzle, &self.format, out);
        match &told.event {
            SolutionEvent::Solution { number, solution } => {
                row.number(*number);
                row.cells(*solution, &self.format);
                row.nothing();
            }
            SolutionEvent::Error(error) => {
                row.nothing();
                row.nothing();
                row.text(error.code().as_bytes());
            }
            SolutionEvent::End { .. } => {}
        }
        row.end();
    }
}
