//! Errors of a single puzzle, which are worded without a line.

use crate::grid::Order;
use crate::text::{Format, Notation, Problem, PuzzleError};

/// The error of the only puzzle of `text`, as for a puzzle by itself: without its line, and with
/// the number of cells if no size has as many.
#[must_use]
pub fn single_error(format: &Format, text: &[u8], error: &PuzzleError) -> PuzzleError {
    let mut problem = error.problem.clone();
    let is_length = matches!(problem, Problem::WrongLength | Problem::WrongCellCount { .. });
    if is_length && matches!(format.notation(), Notation::Lines | Notation::Header) {
        let lines = text.split(|&byte| byte == b'\n').map(|line| format.count_cells(line));
        let cells = lines.max().unwrap_or(0);
        if Order::from_cells(cells).is_none() {
            problem = Problem::CellCount { cells };
        }
    }
    PuzzleError { problem, line: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Alphabet;

    #[test]
    fn a_puzzle_by_itself_is_told_its_cells() {
        let format = Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).unwrap();
        let message = |text: &str, problem| {
            single_error(&format, text.as_bytes(), &PuzzleError { problem, line: Some(3) }).to_string()
        };
        let eighty = format!("# easy\n\n{} rated 2\n", ".".repeat(80));
        let sentence = "The puzzle has 80 cells; a puzzle has 1, 16, 81, 256 or 625.";
        assert_eq!(message(&eighty, Problem::WrongLength), sentence);
        // A possible size that is not the one asked for.
        assert_eq!(message(&".".repeat(16), Problem::WrongLength), "The puzzle has the wrong length.");
        let sixteen = Problem::WrongCellCount { cells: 16, order: Order::NINE };
        let sentence = "The puzzle has the wrong length. It has 16 cells; a 9x9 puzzle has 81.";
        assert_eq!(message(&".".repeat(16), sixteen), sentence);
        assert_eq!(message("x", Problem::NoSolution), "The puzzle has no solution.");
    }
}
