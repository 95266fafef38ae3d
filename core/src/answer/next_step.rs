//! The next step by hand: what a person can tell next about a position, and the reason.
//!
//! A search runs first, because reasoning on a position without a solution looks just as good. Then
//! the easiest technique that applies makes the step. Where none does, a cell comes from the
//! search, and the reason says so.

use std::fmt;

use super::position_search::{self, SolutionsFound, is_reduced, narrowest};
use crate::grid::{Cell, Conflict, Digit, Grid};
use crate::solver::{Limit, Search, Solver, Stop};
use crate::techniques::{self, Candidate, Ending, Family, Options, Position, Step, TechniqueSet};
use crate::text::{Problem, PuzzleError};

/// The inferences that a hint may take by default: at most a second. Only nested chains take more
/// than some tens of milliseconds.
pub const HINT_EFFORT: u64 = 250_000_000;

/// The inferences where there may be no step: at most a fifth of a second.
const SEVERAL_EFFORT: u64 = 50_000_000;

/// The next step of a position. Prints as one or two sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextStep {
    /// The step of a technique: a digit for a cell, or candidates that go.
    Technique(Box<Step>),
    /// A cell that a search has filled in, where no technique applies.
    Search {
        /// The cell.
        cell: Cell,
        /// Its digit.
        digit: Digit,
        /// Whether there is no other solution.
        is_only: bool,
    },
    /// Every cell is filled and every rule kept.
    Finished,
    /// There is no solution from here.
    Stuck(Stuck),
    /// The search reached its node limit, and no technique applies.
    GaveUp {
        /// The nodes visited.
        nodes: u64,
    },
    /// The caller asked to stop.
    Cancelled {
        /// The nodes visited.
        nodes: u64,
        /// What can be told without the work that was stopped: what a search that reaches its node
        /// limit would have led to, if not [`Self::GaveUp`].
        known: Option<Box<Self>>,
    },
}

impl NextStep {
    /// The name of the technique that finds the step, or `search`; empty if there is no step.
    #[must_use]
    pub fn technique(&self) -> &'static str {
        match self {
            Self::Technique(step) => step.technique.title(),
            Self::Search { .. } => "search",
            _ => "",
        }
    }
}

/// Why there is no solution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// A rule that the board breaks.
    pub conflict: Option<Conflict>,
    /// Filled cells in which the only solution of the puzzle has another digit; empty if there is
    /// no single solution, or if the search for it was given up.
    pub wrong: Vec<(Cell, Digit)>,
    /// Candidates of the only solution that were taken away.
    pub missing: Vec<Candidate>,
    /// Whether the puzzle itself has no solution, whatever was filled in.
    pub is_hopeless: bool,
}

/// What lies ahead of a position: whether it has a solution, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Every cell is filled and every rule kept.
    Finished,
    /// The digits have one solution, and every candidate that it takes is there.
    One(Grid),
    /// There is a solution, but the digits alone have several, so nothing may rest on uniqueness.
    Several {
        /// One of the solutions.
        solution: Grid,
        /// Whether it is the only one that the candidates leave.
        is_only: bool,
    },
    /// There is no solution.
    Stuck(Stuck),
    /// The search was given up.
    Unknown {
        /// The nodes visited.
        nodes: u64,
    },
    /// The caller asked to stop.
    Cancelled {
        /// The nodes visited.
        nodes: u64,
        /// Why there is no solution, where only the search for wrong entries was stopped.
        stuck: Option<Stuck>,
    },
}

impl Outlook {
    /// The techniques among these that are right here: those that rest on uniqueness need to know
    /// of it.
    #[must_use]
    pub fn allowed(&self, techniques: TechniqueSet) -> TechniqueSet {
        match self {
            Self::One(_) => techniques,
            _ => techniques.iter().filter(|technique| !technique.rests_on_uniqueness()).collect(),
        }
    }

    /// The inferences to spend of `effort`: not many where there is no single solution, because what
    /// several solutions share can be found soon or not at all, and the last search is in vain.
    #[must_use]
    pub fn effort(&self, effort: u64) -> u64 {
        match self {
            Self::One(_) => effort,
            _ => effort.min(SEVERAL_EFFORT),
        }
    }
}

/// What lies ahead of a position that began as `clues`, by a solver for its order.
/// `limit.solutions` is ignored.
pub fn outlook(position: &Position, clues: &Grid, solver: &mut dyn Solver, limit: &Limit<'_>) -> Outlook {
    let board = position.grid();
    if board.is_solved() {
        return Outlook::Finished;
    }
    let limit = Limit { solutions: 2, ..*limit };
    let mut solution = Grid::empty(board.order());
    let search = search(&board, solver, &limit, &mut solution);
    let nodes = search.metrics.nodes;
    match (search.stop, search.solutions) {
        (Stop::Cancelled, _) => return Outlook::Cancelled { nodes, stuck: None },
        (Stop::Exhausted, 0) => return stuck(&board, clues, solver, &limit),
        (Stop::Exhausted, 1) => {
            let is_missing = |cell: &Cell| {
                let digit = solution.get(*cell);
                board.get(*cell).is_none()
                    && digit.is_some_and(|digit| !position.candidates(*cell).contains(digit))
            };
            let missing: Vec<Candidate> = board
                .order()
                .all_cells()
                .filter(is_missing)
                .filter_map(|cell| solution.get(cell).map(|digit| Candidate { cell, digit }))
                .collect();
            return if missing.is_empty() {
                Outlook::One(solution)
            } else {
                Outlook::Stuck(Stuck { missing, ..Stuck::default() })
            };
        }
        _ => {}
    }
    if is_reduced(position) {
        return match position_search::search(position, limit.cancel) {
            SolutionsFound::None => Outlook::Stuck(Stuck::default()),
            SolutionsFound::One(solution) => Outlook::Several { solution, is_only: true },
            SolutionsFound::Several(solution) => Outlook::Several { solution, is_only: false },
            SolutionsFound::GaveUp => Outlook::Unknown { nodes },
            SolutionsFound::Cancelled => Outlook::Cancelled { nodes, stuck: None },
        };
    }
    if search.solutions > 0 {
        Outlook::Several { solution, is_only: false }
    } else {
        Outlook::Unknown { nodes }
    }
}

/// The next step of a position that began as `clues`, by these techniques, with a solver for its
/// order. `limit.solutions` is ignored, and `effort` is that of [`Options`].
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::answer::{HINT_EFFORT, NextStep, next_step};
/// use sudoku_core::grid::Grid;
/// use sudoku_core::solver::{Limit, default_strategy};
/// use sudoku_core::techniques::{Position, TechniqueSet};
///
/// let clues: Grid = ".1....2.3..4....".parse()?;
/// let mut position = Position::new(&clues);
/// let mut solver = default_strategy(clues.order()).solver(clues.order());
/// let limit = Limit { solutions: 2, nodes: 10_000, cancel: &AtomicBool::new(false) };
/// let mut hint = || match next_step(&position, &clues, TechniqueSet::ALL, HINT_EFFORT, solver.as_mut(), &limit) {
///     NextStep::Technique(step) => {
///         position.apply(&step);
///         Some(step.to_string())
///     }
///     _ => None,
/// };
/// while let Some(sentence) = hint() {
///     println!("{sentence}");
/// }
/// assert!(position.grid().solves(&clues));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn next_step(
    position: &Position,
    clues: &Grid,
    techniques: TechniqueSet,
    effort: u64,
    solver: &mut dyn Solver,
    limit: &Limit<'_>,
) -> NextStep {
    let ahead = outlook(position, clues, solver, limit);
    let (allowed, effort) = (ahead.allowed(techniques), ahead.effort(effort));
    let (solution, is_only, nodes) = match ahead {
        Outlook::Finished => return NextStep::Finished,
        Outlook::Stuck(stuck) => return NextStep::Stuck(stuck),
        Outlook::Cancelled { nodes, stuck: Some(stuck) } => {
            return NextStep::Cancelled { nodes, known: Some(Box::new(NextStep::Stuck(stuck))) };
        }
        Outlook::Cancelled { nodes, stuck: None } => {
            // These take no longer than a moment, whatever the position.
            let singles = TechniqueSet::of_family(Family::Singles);
            let options = Options { techniques: singles, ..Options::default() };
            let known = techniques::next_step(position, &options).ok();
            let known = known.map(|step| Box::new(NextStep::Technique(Box::new(step))));
            return NextStep::Cancelled { nodes, known };
        }
        Outlook::One(solution) => (Some(solution), true, 0),
        Outlook::Several { solution, is_only } => (Some(solution), is_only, 0),
        Outlook::Unknown { nodes } => (None, false, nodes),
    };
    let options = Options { techniques: allowed, up_to: None, effort, cancel: Some(limit.cancel) };
    let step = techniques::next_step(position, &options);
    if step == Err(Ending::Cancelled) {
        let known = solution.and_then(|solution| by_search(position, &solution, is_only)).map(Box::new);
        return NextStep::Cancelled { nodes, known };
    }
    // A step that contradicts the only solution is a bug, and no hint.
    let is_right = |step: &Step| {
        let solution = solution.as_ref().filter(|_| is_only);
        solution.is_none_or(|solution| {
            let holds = |candidate: &Candidate| solution.get(candidate.cell) == Some(candidate.digit);
            step.placement.as_ref().is_none_or(holds) && !step.eliminations.iter().any(holds)
        })
    };
    if let Ok(step) = step
        && is_right(&step)
    {
        return NextStep::Technique(Box::new(step));
    }
    let found = solution.and_then(|solution| by_search(position, &solution, is_only));
    found.unwrap_or(NextStep::GaveUp { nodes })
}

/// The step of a search that has found this solution.
fn by_search(position: &Position, solution: &Grid, is_only: bool) -> Option<NextStep> {
    let cell = narrowest(position)?;
    let digit = solution.get(cell)?;
    Some(NextStep::Search { cell, digit, is_only })
}

/// Searches a grid, but not one that breaks the rules.
fn search(grid: &Grid, solver: &mut dyn Solver, limit: &Limit<'_>, solution: &mut Grid) -> Search {
    if grid.keeps_rules() { solver.search(grid, limit, solution) } else { Search::NO_SOLUTION }
}

fn stuck(board: &Grid, clues: &Grid, solver: &mut dyn Solver, limit: &Limit<'_>) -> Outlook {
    let mut solution = Grid::empty(board.order());
    let search = search(clues, solver, limit, &mut solution);
    let mut wrong = Vec::new();
    if search.solutions == 1 && search.stop == Stop::Exhausted {
        let differs = |cell: Cell| {
            let digit = board.get(cell)?;
            (solution.get(cell) != Some(digit)).then_some((cell, digit))
        };
        wrong = board.order().all_cells().filter_map(differs).collect();
    }
    let is_hopeless = search.solutions == 0 && search.stop == Stop::Exhausted;
    let stuck = Stuck { conflict: board.first_conflict(), wrong, missing: Vec::new(), is_hopeless };
    match search {
        Search { stop: Stop::Cancelled, metrics, .. } => {
            Outlook::Cancelled { nodes: metrics.nodes, stuck: Some(stuck) }
        }
        _ => Outlook::Stuck(stuck),
    }
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Technique(step) => step.fmt(f),
            Self::Search { cell, digit, is_only: true } => {
                write!(f, "{cell} is {digit}, as a search found: no technique known here leads on.")
            }
            Self::Search { cell, digit, is_only: false } => {
                write!(f, "{cell} can be {digit}, as a search found. It may not be the only way.")
            }
            Self::Finished => f.write_str("The puzzle is solved: nothing is left to fill in."),
            Self::Stuck(stuck) => stuck.fmt(f),
            Self::GaveUp { nodes } => {
                PuzzleError { problem: Problem::GaveUp { nodes: *nodes }, line: None }.fmt(f)
            }
            Self::Cancelled { .. } => f.write_str("The search was stopped."),
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
        for Candidate { cell, digit } in &self.missing {
            write!(f, " The candidate {digit} is missing at {cell}.")?;
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
        step_of(&Position::new(board), clues, nodes)
    }

    fn step_of(position: &Position, clues: &Grid, nodes: u64) -> NextStep {
        let mut solver = Propagation.solver(position.order());
        let limit = Limit { solutions: 1, nodes, cancel: &AtomicBool::new(false) };
        next_step(position, clues, TechniqueSet::ALL, HINT_EFFORT, solver.as_mut(), &limit)
    }

    fn step(board: &str, clues: &str) -> NextStep {
        step_within(&grid(board), &grid(clues), 10_000)
    }

    /// A puzzle with one solution that singles cannot begin with.
    const HARD: &str = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";

    #[test]
    fn the_simplest_reason_is_told() {
        let cases = [
            ("123.............", "(1, 4) is 4", "last cell"),
            ("1..........1....", "(2, 3) is 1", "hidden single"),
        ];
        for (board, words, technique) in cases {
            let step = step(board, board);
            assert!(step.to_string().starts_with(words), "{step}");
            assert_eq!(step.technique(), technique);
        }
    }

    #[test]
    fn every_step_leads_to_the_only_solution() {
        let clues = grid(HARD);
        let mut position = Position::new(&clues);
        let mut by_technique = 0;
        loop {
            match step_of(&position, &clues, 100_000) {
                NextStep::Technique(step) => {
                    position.apply(&step);
                    by_technique += 1;
                }
                NextStep::Search { cell, digit, is_only } => {
                    assert!(is_only && position.get(cell).is_none());
                    position.place(cell, digit);
                }
                NextStep::Finished => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(position.grid().solves(&clues));
        assert!(by_technique > 10, "{by_technique}");
    }

    #[test]
    fn a_candidate_that_is_missing_is_named() {
        let clues = grid(HARD);
        let mut position = Position::new(&clues);
        let cell = Order::NINE.cell(1, 2).unwrap();
        let digit = Order::NINE.digit(1).unwrap();
        assert!(position.eliminate(Candidate { cell, digit }), "the solution has a 1 here");
        let said = step_of(&position, &clues, 100_000).to_string();
        assert_eq!(said, "There is no solution any more. The candidate 1 is missing at (1, 2).");
    }

    #[test]
    fn a_position_without_digits_is_told_by_its_candidates() {
        let solution = grid("1234341221434321");
        let mut marks = String::new();
        for (cell, digit) in solution.digits().iter().enumerate() {
            // Two candidates a cell: that of the solution, and the next one.
            for value in 1..=4_u8 {
                let is_there = value == *digit || (cell % 3 == 0 && value == digit % 4 + 1);
                marks.push(if is_there { char::from(b'0' + value) } else { '.' });
            }
        }
        let mut position: Position = marks.parse().unwrap();
        let clues = position.grid();
        for _ in 0..64 {
            match step_of(&position, &clues, 10_000) {
                NextStep::Technique(step) => position.apply(&step),
                NextStep::Search { cell, digit, .. } => position.place(cell, digit),
                NextStep::Finished => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(position.grid().is_solved());
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
        assert!(matches!(several, NextStep::Search { is_only: false, .. }), "{several:?}");
        let cancelled = |board: &Grid, clues: &Grid| {
            let limit = Limit { solutions: 1, nodes: 10_000, cancel: &AtomicBool::new(true) };
            let mut solver = Propagation.solver(board.order());
            let position = Position::new(board);
            match next_step(&position, clues, TechniqueSet::ALL, HINT_EFFORT, solver.as_mut(), &limit) {
                NextStep::Cancelled { known, .. } => known.map(|known| known.to_string()),
                other => panic!("{other:?}"),
            }
        };
        let mut board = Grid::empty(Order::ALL[4]);
        let empty = board.clone();
        let put = |board: &mut Grid, column, value| {
            let cell = board.order().cell(1, column).unwrap();
            board.set(cell, Some(board.order().digit(value).unwrap()));
        };
        assert_eq!(cancelled(&board, &empty), None);
        for value in 1..=24 {
            put(&mut board, value, value);
        }
        let told = cancelled(&board, &empty).unwrap();
        assert!(told.starts_with("(1, 25) is 25: "), "{told}");
        put(&mut board, 2, 1);
        let told = cancelled(&board, &empty).unwrap();
        assert!(told.starts_with("There is no solution any more: 1 appears twice in row 1"), "{told}");
        let blank = grid("................");
        let given_up = step_within(&blank, &blank, 1);
        assert!(matches!(given_up, NextStep::GaveUp { .. }), "{given_up:?}");
    }
}
