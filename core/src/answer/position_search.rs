//! A search of positions: whether candidates that were taken away leave a solution.
//!
//! Solvers search grids, and know nothing of candidates that are gone. Positions are searched only
//! to tell whether a hint can be given, one at a time, so this is short rather than fast.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::grid::{Cell, Grid};
use crate::techniques::Position;

/// The positions that a search visits before it is given up.
const MAX_VISITS: usize = 20_000;

/// What a search of a position has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SolutionsFound {
    /// No solution.
    None,
    /// One solution, and no other.
    One(Grid),
    /// More than one solution; the first of them.
    Several(Grid),
    /// The search was given up.
    GaveUp,
    /// The flag was raised.
    Cancelled,
}

/// Whether a position lacks candidates that the rules allow.
pub(super) fn is_reduced(position: &Position) -> bool {
    *position != Position::new(&position.grid())
}

/// Searches a position for up to two solutions.
pub(super) fn search(position: &Position, cancel: &AtomicBool) -> SolutionsFound {
    let mut first: Option<Grid> = None;
    // Positions that are still to be looked at, the next one last.
    let mut open = vec![position.clone()];
    for _ in 0..MAX_VISITS {
        if cancel.load(Ordering::Relaxed) {
            return SolutionsFound::Cancelled;
        }
        let Some(mut position) = open.pop() else {
            return first.map_or(SolutionsFound::None, SolutionsFound::One);
        };
        // Cells with one candidate are filled in place.
        let widest = loop {
            if position.dead_end().is_some() {
                break None;
            }
            let Some(cell) = narrowest(&position) else {
                let grid = position.grid();
                match first {
                    Some(first) if first != grid => return SolutionsFound::Several(first),
                    _ => first = Some(grid),
                }
                break None;
            };
            let candidates = position.candidates(cell);
            match (candidates.len(), candidates.iter().next()) {
                (1, Some(digit)) => position.place(cell, digit),
                _ => break Some(cell),
            }
        };
        let Some(cell) = widest else { continue };
        for digit in position.candidates(cell).iter() {
            let mut next = position.clone();
            next.place(cell, digit);
            open.push(next);
        }
    }
    SolutionsFound::GaveUp
}

/// The blank cell with the fewest candidates.
pub(super) fn narrowest(position: &Position) -> Option<Cell> {
    let blanks = position.order().all_cells().filter(|&cell| position.get(cell).is_none());
    blanks.min_by_key(|&cell| position.candidates(cell).len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Order;

    #[test]
    fn solutions_of_positions_are_told_apart() {
        let never = AtomicBool::new(false);
        let puzzle: Grid = ".1....2.3..4....".parse().unwrap();
        let position = Position::new(&puzzle);
        assert!(!is_reduced(&position));
        let SolutionsFound::One(solution) = search(&position, &never) else { panic!("it has one solution") };
        assert!(solution.solves(&puzzle));
        let blank = Position::new(&Grid::empty(Order::NINE));
        let SolutionsFound::Several(first) = search(&blank, &never) else { panic!("it has many") };
        assert!(first.is_solved());
        // All candidates but those of the solution: one is left, without a digit on the board.
        let mut marks: Vec<char> =
            Position::new(&Grid::empty(Order::ALL[1])).pencil_marks().chars().collect();
        for (cell, digit) in solution.digits().iter().enumerate().take(8) {
            for value in 1..=4 {
                if value != usize::from(*digit) {
                    marks[cell * 4 + value - 1] = '.';
                }
            }
        }
        let reduced: Position = marks.iter().collect::<String>().parse().unwrap();
        assert!(is_reduced(&reduced));
        assert!(!matches!(search(&reduced, &never), SolutionsFound::None | SolutionsFound::GaveUp));
        // Without a candidate in one cell there is none.
        let mut none = position.clone();
        let cell = narrowest(&none).unwrap();
        for digit in position.candidates(cell).iter() {
            none.eliminate(crate::techniques::Candidate { cell, digit });
        }
        assert_eq!(search(&none, &never), SolutionsFound::None);
        assert_eq!(search(&position, &AtomicBool::new(true)), SolutionsFound::Cancelled);
    }
}
