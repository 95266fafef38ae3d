//! Checks of grids, full or partly filled: broken rules and changed clues.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Block, Cancelled};
use crate::grid::{Cell, Conflict, Digit, Grid};
use crate::text::{Format, PuzzleError, Record, Records};

/// A fault of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Two cells break a rule.
    Conflict(Conflict),
    /// The solution changes a clue of its puzzle.
    ClueChanged {
        /// The cell.
        cell: Cell,
        /// The clue of the puzzle.
        clue: Digit,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(conflict) => {
                write!(f, "{conflict}, at {} and {}", conflict.first, conflict.second)
            }
            Self::ClueChanged { cell, clue } => write!(f, "the clue {clue} at {cell} was changed"),
        }
    }
}

/// The result of checking one grid. Prints as `Line 3 is correctly solved.` or
/// `Line 3 is NOT solved.`, and as `The puzzle` without a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The physical line, from 1; `None` for a grid that did not come from a file.
    pub line: Option<u64>,
    /// The number of blank cells.
    pub blanks: usize,
    /// All faults.
    pub flaws: Vec<Flaw>,
    /// The error if the grid could not be read.
    pub error: Option<PuzzleError>,
}

impl Check {
    /// Whether every cell is filled and there are no faults.
    #[must_use]
    pub const fn is_solved(&self) -> bool {
        self.error.is_none() && self.blanks == 0 && self.flaws.is_empty()
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.error {
            return error.fmt(f);
        }
        match self.line {
            Some(line) => write!(f, "Line {line}")?,
            None => f.write_str("The puzzle")?,
        }
        f.write_str(if self.is_solved() { " is correctly solved." } else { " is NOT solved." })
    }
}

/// Checks one grid, which must keep `clues` if given.
#[must_use]
pub fn check_grid(grid: &Grid, clues: Option<&Grid>) -> Check {
    let changed = clues.into_iter().flat_map(|clues| {
        let order = grid.order();
        order.all_cells().filter_map(|cell| {
            let clue = clues.get(cell)?;
            (grid.get(cell) != Some(clue)).then_some(Flaw::ClueChanged { cell, clue })
        })
    });
    Check {
        line: None,
        blanks: grid.order().cells() - grid.filled(),
        flaws: grid.conflicts().map(Flaw::Conflict).chain(changed).collect(),
        error: None,
    }
}

/// Checks every grid of a block, and passes each check to `visit`. Where the text has a solution
/// beside a puzzle, the solution is checked against the clues of the puzzle.
///
/// # Errors
/// [`Cancelled`] if `cancel` was raised.
pub fn check_block(
    format: &Format,
    block: Block<'_>,
    cancel: &AtomicBool,
    mut visit: impl FnMut(&Check),
) -> Result<(), Cancelled> {
    let mut grid = Grid::empty(format.order());
    let mut solution = Grid::empty(format.order());
    let mut records = Records::new(format, block.text, block.first_line);
    while let Some(record) = records.read(&mut grid) {
        if cancel.load(Ordering::Relaxed) {
            return Err(Cancelled);
        }
        visit(&check_record(format, record, &grid, &mut solution));
    }
    Ok(())
}

fn check_record(format: &Format, record: Record<'_>, grid: &Grid, solution: &mut Grid) -> Check {
    let unreadable =
        |error| Check { line: Some(record.line), blanks: 0, flaws: Vec::new(), error: Some(error) };
    if let Some(error) = record.error {
        return unreadable(error);
    }
    let mut check = match record.given {
        None => check_grid(grid, None),
        Some(given) => match format.read_solution(given, solution) {
            Ok(()) => check_grid(solution, Some(grid)),
            Err(problem) => {
                let problem = problem.of_solution();
                return unreadable(PuzzleError { problem, line: Some(record.line) });
            }
        },
    };
    check.line = Some(record.line);
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Order;
    use crate::text::{Alphabet, Notation};

    #[test]
    fn a_check_that_is_cancelled_visits_no_further_grid() {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let text = b"1234341221434321\n1234341221434321\n";
        let block = Block { text, first_line: 1 };
        let cancel = AtomicBool::new(false);
        let mut visited = 0;
        let checked = check_block(&format, block, &cancel, |_| {
            visited += 1;
            cancel.store(true, Ordering::Relaxed);
        });
        assert_eq!((checked, visited), (Err(Cancelled), 1));
    }
}
