//! Canonical forms: the same text for all puzzles that are the same but for symmetry.
//!
//! A [`Disguise`] transposes, permutes bands, rows, stacks and columns, and relabels digits; a 9x9
//! puzzle has up to 1,218,998,108,160 of them. Its canonical form is one of them, with the disguise
//! that leads there and the number of automorphisms: disguises that change nothing. There are two
//! forms, by what is put in its least form, that with the least text:
//!
//! | [`Basis`] | least is | for |
//! |---|---|---|
//! | [`Solution`](Basis::Solution) | the solution; the clues move along, and of several ways to the same solution the one with the least clues counts | puzzles with one solution; by far the faster |
//! | [`Puzzle`](Basis::Puzzle) | the text of the clues, a blank before any digit, as gsf's program and gridchecker have it | all puzzles that keep the rules |
//!
//! ```
//! use sudoku_core::canon::{Basis, Disguise, canonical_form, canonical_form_by};
//! use sudoku_core::grid::{Grid, Order};
//!
//! let puzzle: Grid =
//!     "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79".parse()?;
//! let form = canonical_form(&puzzle)?;
//! assert_eq!(form.basis, Basis::Solution);
//! assert_eq!(form.disguise.apply(&puzzle), form.puzzle);
//! assert_eq!(form.automorphisms, 1);
//!
//! // Any disguise has the same form.
//! let disguised = Disguise::random(Order::NINE, 7, 1).apply(&puzzle);
//! assert_ne!(disguised, puzzle);
//! assert_eq!(canonical_form(&disguised)?.puzzle, form.puzzle);
//!
//! let least = canonical_form_by(&puzzle, Basis::Puzzle)?.puzzle;
//! assert!(least.to_string().starts_with("........1.....2.34156"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Canonizer`] keeps memory for many puzzles.

mod clues;
mod disguise;
mod solution;
mod way;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use crate::grid::{Grid, Order};
use crate::solver::{Cancelled, DEFAULT_NODE_LIMIT, Limit, Question, default_strategy};
use crate::text::{Problem, PuzzleError};

pub use disguise::{Disguise, NoDisguise};

use clues::ClueSearch;
use solution::SolutionSearch;
use way::GridCells;

/// What is put in its least form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// The only solution; the clues move along.
    Solution,
    /// The clues.
    Puzzle,
}

impl Basis {
    /// Both, each with its name on the command line.
    pub const ALL: [(&'static str, Self); 2] = [("solution", Self::Solution), ("puzzle", Self::Puzzle)];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solution => "solution",
            Self::Puzzle => "puzzle",
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of an unknown basis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no basis of canonical forms. Use solution or puzzle.")]
pub struct NoBasis(String);

impl FromStr for Basis {
    type Err = NoBasis;

    fn from_str(text: &str) -> Result<Self, NoBasis> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, basis)| basis).ok_or_else(|| NoBasis(text.to_owned()))
    }
}

/// The canonical form of a puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalForm {
    /// The puzzle in its form.
    pub puzzle: Grid,
    /// Its solution, if that is what the form is by: the least form of the solution.
    pub solution: Option<Grid>,
    /// What is in its least form.
    pub basis: Basis,
    /// The disguise that makes the form of the puzzle. With automorphisms there are several, of
    /// which this is one.
    pub disguise: Disguise,
    /// The number of disguises that change nothing about the puzzle, itself among them; at least 1.
    /// Two that differ only in digits that are no clue count as one.
    pub automorphisms: u64,
}

/// Why a puzzle has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonError {
    /// Its size is another one.
    #[error("Canonical forms are those of 9x9 puzzles; this one is {0}.")]
    Size(Order),
    /// It breaks the rules; or the form is by the solution and there is none, or more than one, or
    /// the search for them was given up.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
}

impl From<Problem> for CanonError {
    fn from(problem: Problem) -> Self {
        Self::Puzzle(PuzzleError { problem, line: None })
    }
}

/// The canonical form of a puzzle, by its solution if it has exactly one, else by its clues.
///
/// A puzzle with exactly one solution is no disguise of one without, so forms by either basis never
/// meet. [`Canonizer`] is faster for many puzzles.
///
/// # Errors
/// [`CanonError`] if the puzzle is not 9x9 or breaks the rules, or if it was given up after a
/// million nodes, which did not happen yet.
///
/// ```
/// use sudoku_core::canon::{Basis, canonical_form};
///
/// let form = canonical_form(&".".repeat(81).parse()?)?;
/// assert_eq!((form.basis, form.automorphisms), (Basis::Puzzle, 2 * 6_u64.pow(8)));
/// let error = canonical_form(&"1234............".parse()?).unwrap_err();
/// assert_eq!(error.to_string(), "Canonical forms are those of 9x9 puzzles; this one is 4x4.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn canonical_form(puzzle: &Grid) -> Result<CanonicalForm, CanonError> {
    match canonical_form_by(puzzle, Basis::Solution) {
        Err(CanonError::Puzzle(PuzzleError {
            problem: Problem::NoSolution | Problem::NotUnique, ..
        })) => Ok(Canonizer::new().by_puzzle(puzzle)),
        result => result,
    }
}

/// The canonical form of a puzzle on this basis.
///
/// # Errors
/// Like [`canonical_form`], and if the form is by the solution and there is not exactly one.
///
/// ```
/// use sudoku_core::canon::{Basis, canonical_form_by};
///
/// let puzzle = format!("1{}", ".".repeat(80)).parse()?;
/// let form = canonical_form_by(&puzzle, Basis::Puzzle)?;
/// assert_eq!(form.puzzle.to_string(), format!("{}1", ".".repeat(80)));
/// let error = canonical_form_by(&puzzle, Basis::Solution).unwrap_err();
/// assert_eq!(error.to_string(), "The puzzle has more than one solution.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn canonical_form_by(puzzle: &Grid, basis: Basis) -> Result<CanonicalForm, CanonError> {
    if puzzle.order() != Order::NINE {
        return Err(CanonError::Size(puzzle.order()));
    }
    if let Some(conflict) = puzzle.first_conflict() {
        return Err(Problem::RuleBroken(conflict).into());
    }
    if basis == Basis::Puzzle {
        return Ok(Canonizer::new().by_puzzle(puzzle));
    }
    let mut solver = default_strategy(Order::NINE).solver(Order::NINE);
    let mut solution = Grid::empty(Order::NINE);
    let limit = Limit { solutions: 2, nodes: DEFAULT_NODE_LIMIT, cancel: &AtomicBool::new(false) };
    let search = solver.search(puzzle, &limit, &mut solution);
    match Question::Unique.verdict(&search).problem() {
        Ok(None) if solution.solves(puzzle) => Ok(Canonizer::new().by_solution(puzzle, &solution)),
        Ok(Some(problem)) => Err(problem.into()),
        Ok(None) | Err(Cancelled) => Err(Problem::Internal.into()),
    }
}

/// A maker of canonical forms, with memory for any number of puzzles.
///
/// ```
/// use sudoku_core::canon::Canonizer;
/// use sudoku_core::grid::Grid;
///
/// let puzzle: Grid =
///     "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79".parse()?;
/// let solution = sudoku_core::solve_unique(&puzzle.to_string())?;
/// let form = Canonizer::new().by_solution(&puzzle, &solution);
/// assert!(form.solution.unwrap().to_string().starts_with("123456789457"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Canonizer {
    solution: SolutionSearch,
    clues: ClueSearch,
}

impl Canonizer {
    /// A maker of canonical forms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The form of a 9x9 puzzle by its solution. If the puzzle has other solutions its disguises
    /// have the same form only with the same solution, disguised alike.
    ///
    /// # Panics
    /// If `solution` is no solution of `puzzle`, or of another size.
    #[must_use]
    pub fn by_solution(&mut self, puzzle: &Grid, solution: &Grid) -> CanonicalForm {
        assert!(solution.solves(puzzle), "not a solution of the puzzle");
        let (clues, solution) = (cells(puzzle), cells(solution));
        let mut ways = self.solution.least(&solution).iter().map(|way| (way.apply(&clues), way));
        let Some((mut least, mut way)) = ways.next() else { unreachable!("a solution has a least form") };
        let mut automorphisms = 1;
        for (disguised, other) in ways {
            if disguised < least {
                (least, way, automorphisms) = (disguised, other, 0);
            }
            automorphisms += u64::from(disguised == least);
        }
        CanonicalForm {
            puzzle: Grid::from_digits(Order::NINE, &least),
            solution: Some(Grid::from_digits(Order::NINE, &way.apply(&solution))),
            basis: Basis::Solution,
            disguise: way.disguise(),
            automorphisms,
        }
    }

    /// The form of a 9x9 puzzle by its clues.
    ///
    /// # Panics
    /// If it breaks the rules, or is of another size.
    #[must_use]
    pub fn by_puzzle(&mut self, puzzle: &Grid) -> CanonicalForm {
        assert!(puzzle.keeps_rules(), "a puzzle that breaks the rules");
        let clues = cells(puzzle);
        let (way, automorphisms) = self.clues.least(&clues);
        CanonicalForm {
            puzzle: Grid::from_digits(Order::NINE, &way.apply(&clues)),
            solution: None,
            basis: Basis::Puzzle,
            disguise: way.disguise(),
            automorphisms,
        }
    }
}

/// The cells of a 9x9 grid.
fn cells(grid: &Grid) -> GridCells {
    match grid.digits().try_into() {
        Ok(cells) if grid.order() == Order::NINE => cells,
        _ => panic!("canonical forms are those of 9x9 puzzles, and not of {} ones", grid.order()),
    }
}
