//! The next step by hand: a cell that can be filled in, and the reason.
//!
//! Steps that a person sees without trying come first: the only blank cell of a house, the only
//! place for a digit in a house, the only digit for a cell. Where there is none of these, a search
//! finds a cell, and the reason says so.

use std::fmt;

use crate::grid::{Candidates, Cell, Conflict, Digit, Grid, House, HouseKind};
use crate::solver::{Limit, Search, Solver, Stop};
use crate::text::{Problem, PuzzleError};

/// The next step on a board. Prints as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextStep {
    /// A cell that can be filled in.
    Fill {
        /// The cell.
        cell: Cell,
        /// Its digit.
        digit: Digit,
        /// The reason.
        reason: Reason,
    },
    /// Every cell is filled and every rule kept.
    Finished,
    /// There is no solution from here.
    Stuck(Stuck),
    /// The search reached its node limit, and there is no step without a search.
    GaveUp {
        /// The nodes visited.
        nodes: u64,
    },
    /// The caller asked to stop.
    Cancelled,
}

/// Why a cell takes a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It is the only blank cell of the house.
    OnlyBlank(House),
    /// The digit fits nowhere else in the house.
    OnlyPlace(House),
    /// Every other digit is in the row, column or box of the cell.
    OnlyDigit,
    /// A search found a solution with it.
    Search {
        /// Whether there is no other solution.
        is_only: bool,
    },
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// A rule that the board breaks.
    pub conflict: Option<Conflict>,
    /// Filled cells in which the only solution of the puzzle has another digit; empty if there is
    /// no single solution, or if the search for it was given up.
    pub wrong: Vec<(Cell, Digit)>,
    /// Whether the puzzle itself has no solution, whatever was filled in.
    pub is_hopeless: bool,
}

/// The next step on `board`, a grid that began as `clues`, with a solver for its order.
///
/// A search runs first, because reasoning on a board without a solution would mislead.
/// `limit.solutions` is ignored.
pub fn next_step(board: &Grid, clues: &Grid, solver: &mut dyn Solver, limit: &Limit<'_>) -> NextStep {
    if board.is_solved() {
        return NextStep::Finished;
    }
    let limit = Limit { solutions: 2, ..*limit };
    let mut solution = Grid::empty(board.order());
    let search = search(board, solver, &limit, &mut solution);
    match search {
        Search { stop: Stop::Cancelled, .. } => return NextStep::Cancelled,
        Search { solutions: 0, stop: Stop::Exhausted, .. } => return stuck(board, clues, solver, &limit),
        _ => {}
    }
    if let Some((cell, digit, reason)) = plain_step(board) {
        return NextStep::Fill { cell, digit, reason };
    }
    let blanks = board.order().all_cells().filter(|&cell| board.get(cell).is_none());
    let narrowest = blanks.min_by_key(|&cell| board.candidates(cell).len());
    let found = narrowest.filter(|_| search.solutions > 0);
    match found.and_then(|cell| Some((cell, solution.get(cell)?))) {
        Some((cell, digit)) => {
            let is_only = search.solutions == 1 && search.stop == Stop::Exhausted;
            NextStep::Fill { cell, digit, reason: Reason::Search { is_only } }
        }
        None => NextStep::GaveUp { nodes: search.metrics.nodes },
    }
}

/// Searches a grid, but not one that breaks the rules.
fn search(grid: &Grid, solver: &mut dyn Solver, limit: &Limit<'_>, solution: &mut Grid) -> Search {
    if grid.keeps_rules() { solver.search(grid, limit, solution) } else { Search::NO_SOLUTION }
}

fn stuck(board: &Grid, clues: &Grid, solver: &mut dyn Solver, limit: &Limit<'_>) -> NextStep {
    let mut solution = Grid::empty(board.order());
    let search = search(clues, solver, limit, &mut solution);
    if search.stop == Stop::Cancelled {
        return NextStep::Cancelled;
    }
    let mut wrong = Vec::new();
    if search.solutions == 1 && search.stop == Stop::Exhausted {
        let differs = |cell: Cell| {
            let digit = board.get(cell)?;
            (solution.get(cell) != Some(digit)).then_some((cell, digit))
        };
        wrong = board.order().all_cells().filter_map(differs).collect();
    }
    let is_hopeless = search.solutions == 0 && search.stop == Stop::Exhausted;
    NextStep::Stuck(Stuck { conflict: board.first_conflict(), wrong, is_hopeless })
}

/// A step without a search.
fn plain_step(board: &Grid) -> Option<(Cell, Digit, Reason)> {
    let order = board.order();
    let open: Vec<Option<Candidates>> = order
        .all_cells()
        .map(|cell| if board.get(cell).is_none() { Some(board.candidates(cell)) } else { None })
        .collect();
    let candidates = |cell: Cell| open[cell.index()];
    let blanks = |house: House| house.cells(order).filter(|&cell| candidates(cell).is_some());
    let only_digit = |cell: Cell| {
        let left = candidates(cell).filter(|left| left.len() == 1)?;
        left.iter().next()
    };

    for house in order.houses() {
        let mut blanks = blanks(house);
        if let (Some(cell), None) = (blanks.next(), blanks.next())
            && let Some(digit) = only_digit(cell)
        {
            return Some((cell, digit, Reason::OnlyBlank(house)));
        }
    }
    // Boxes first, because people see them at a glance.
    let (boxes, lines): (Vec<House>, Vec<House>) = order.houses().partition(|h| h.kind() == HouseKind::Box);
    for house in boxes.into_iter().chain(lines) {
        for digit in Candidates::all(order).iter() {
            let mut places =
                blanks(house).filter(|&cell| candidates(cell).is_some_and(|left| left.contains(digit)));
            if let (Some(cell), None) = (places.next(), places.next()) {
                return Some((cell, digit, Reason::OnlyPlace(house)));
            }
        }
    }
    order.all_cells().find_map(|cell| Some((cell, only_digit(cell)?, Reason::OnlyDigit)))
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fill { cell, digit, reason } => match reason {
                Reason::OnlyBlank(house) => {
                    write!(f, "{cell} must be {digit}: it is the only blank cell of {house}.")
                }
                Reason::OnlyPlace(house) => {
                    write!(f, "{cell} must be {digit}: in {house}, {digit} fits nowhere else.")
                }
                Reason::OnlyDigit => write!(
                    f,
                    "{cell} must be {digit}: every other digit stands in its row, column or box already."
                ),
                Reason::Search { is_only: true } => {
                    write!(f, "{cell} must be {digit}, as a search found. There is no simple reason for it.")
                }
                Reason::Search { is_only: false } => {
                    write!(f, "{cell} can be {digit}, as a search found. It may not be the only way.")
                }
            },
            Self::Finished => f.write_str("The puzzle is solved: nothing is left to fill in."),
            Self::Stuck(stuck) => stuck.fmt(f),
            Self::GaveUp { nodes } => {
                PuzzleError { problem: Problem::GaveUp { nodes: *nodes }, line: None }.fmt(f)
            }
            Self::Cancelled => f.write_str("The search was stopped."),
        }
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole =
            if self.is_hopeless { "The puzzle has no solution" } else { "There is no solution any more" };
        f.write_str(whole)?;
        if let Some(conflict) = self.conflict {
            write!(f, ": {conflict}, at {} and {}", conflict.first, conflict.second)?;
        }
        f.write_str(".")?;
        for (cell, digit) in &self.wrong {
            write!(f, " The {digit} at {cell} is wrong.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::grid::Order;
    use crate::solver::{Propagation, Strategy as _};
    use crate::text::{Alphabet, Format, Notation};

    fn grid(text: &str) -> Grid {
        let order = Order::from_cells(text.len()).unwrap();
        let mut grid = Grid::empty(order);
        let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
        format.read_cells(text.as_bytes(), &mut grid).unwrap();
        grid
    }

    fn step_within(board: &Grid, clues: &Grid, nodes: u64) -> NextStep {
        let mut solver = Propagation.solver(board.order());
        let limit = Limit { solutions: 1, nodes, cancel: &AtomicBool::new(false) };
        next_step(board, clues, solver.as_mut(), &limit)
    }

    fn step(board: &str, clues: &str) -> NextStep {
        step_within(&grid(board), &grid(clues), 10_000)
    }

    /// A puzzle with one solution that singles cannot begin with.
    const HARD: &str = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";

    #[test]
    fn the_simplest_reason_is_told() {
        let cases = [
            ("123.............", "(1, 4) must be 4: it is the only blank cell of row 1."),
            ("1..........1....", "(2, 3) must be 1: in box 2, 1 fits nowhere else."),
        ];
        for (board, words) in cases {
            assert_eq!(step(board, board).to_string(), words);
        }
        // Eight digits around a cell, in three houses.
        let mut board = Grid::empty(Order::NINE);
        for (row, column, value) in
            [(1, 2, 1), (1, 5, 2), (1, 8, 3), (4, 1, 4), (6, 1, 5), (9, 1, 6), (2, 2, 7), (3, 3, 8)]
        {
            let cell = Order::NINE.cell(row, column).unwrap();
            board.set(cell, Some(Order::NINE.digit(value).unwrap()));
        }
        let said = step_within(&board, &board, 10_000).to_string();
        assert!(said.starts_with("(1, 1) must be 9: "), "{said}");
    }

    #[test]
    fn every_step_leads_to_the_only_solution() {
        let clues = grid(HARD);
        let mut board = clues.clone();
        let mut searched = 0;
        loop {
            match step_within(&board, &clues, 100_000) {
                NextStep::Fill { cell, digit, reason } => {
                    assert_eq!(board.get(cell), None);
                    board.set(cell, Some(digit));
                    searched += usize::from(reason == Reason::Search { is_only: true });
                    assert_ne!(reason, Reason::Search { is_only: false });
                }
                NextStep::Finished => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(board.solves(&clues));
        assert!(searched > 0, "singles alone do not solve this one");
    }

    #[test]
    fn a_wrong_entry_is_named_where_the_puzzle_has_one_solution() {
        let mut board = grid(HARD);
        let cell = Order::NINE.cell(1, 2).unwrap();
        // The solution has a 1 here.
        board.set(cell, Some(Order::NINE.digit(2).unwrap()));
        let said = step_within(&board, &grid(HARD), 100_000).to_string();
        assert_eq!(said, "There is no solution any more. The 2 at (1, 2) is wrong.");
        board.set(cell, Some(Order::NINE.digit(8).unwrap()));
        let said = step_within(&board, &grid(HARD), 100_000).to_string();
        assert!(
            said.starts_with(
                "There is no solution any more: 8 appears twice in row 1, at (1, 1) and (1, 2)."
            ),
            "{said}"
        );
        assert!(said.ends_with(" The 8 at (1, 2) is wrong."), "{said}");
        // With several solutions nobody can say which entry is wrong.
        let said = step("12.34...........", "................").to_string();
        assert!(!said.contains("wrong"), "{said}");
    }

    #[test]
    fn what_has_no_solution_or_none_left_is_said() {
        assert_eq!(
            step("11..............", "11..............").to_string(),
            "The puzzle has no solution: 1 appears twice in row 1, at (1, 1) and (1, 2)."
        );
        assert_eq!(step("123...4.........", "123...4.........").to_string(), "The puzzle has no solution.");
        assert_eq!(step("1234341221434321", "................"), NextStep::Finished);
        let several = step("................", "................");
        assert!(
            matches!(several, NextStep::Fill { reason: Reason::Search { is_only: false }, .. }),
            "{several:?}"
        );
        let cancelled = {
            let limit = Limit { solutions: 1, nodes: 10_000, cancel: &AtomicBool::new(true) };
            let empty = Grid::empty(Order::ALL[4]);
            next_step(&empty, &empty, Propagation.solver(empty.order()).as_mut(), &limit)
        };
        assert_eq!(cancelled, NextStep::Cancelled);
        let given_up = step_within(&grid(HARD), &grid(HARD), 1);
        assert!(matches!(given_up, NextStep::GaveUp { .. }), "{given_up:?}");
    }
}
