//! Simple functions for a text of puzzles: solve one, count its solutions, answer a list.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use crate::answer::{
    Answer, Block, EnumerateTask, Enumerators, Found, SolutionEvent, Solvers, Task, single_error,
};
use crate::grid::Grid;
use crate::solver::Question;
use crate::text::{Format, FormatError, Hint, Preamble, Problem, PuzzleError, Records, sniff};

/// Why a puzzle was not solved. Prints as a sentence, such as `The puzzle has no solution.`
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The text cannot be read, because its notation or alphabet is ambiguous.
    #[error(transparent)]
    Format(FormatError),
    /// The puzzle is bad, or was given up.
    #[error(transparent)]
    Puzzle(#[from] PuzzleError),
    /// There are several puzzles where one was expected.
    #[error("The text has more than one puzzle. Use `answers` for several.")]
    Several,
}

impl From<FormatError> for SolveError {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Puzzle(error) => Self::Puzzle(error),
            other => Self::Format(other),
        }
    }
}

const EMPTY: PuzzleError = PuzzleError { problem: Problem::Empty, line: None };

/// A text with its format.
struct Parsed<'a> {
    format: Format,
    text: Cow<'a, [u8]>,
    /// The number of the line on which `text` begins.
    first_line: u64,
}

impl<'a> Parsed<'a> {
    fn new(text: &'a str) -> Result<Self, FormatError> {
        Self::with_hint(text, &Hint::default())
    }

    fn with_hint(text: &'a str, hint: &Hint) -> Result<Self, FormatError> {
        let text = text.as_bytes();
        let Preamble { format, body, lines, .. } = sniff(text, hint, true)?.ok_or(EMPTY)?;
        let text = format.readable(&text[body..]);
        Ok(Self { format, text, first_line: 1 + lines })
    }

    /// The only puzzle.
    fn single(&self) -> Result<Grid, SolveError> {
        let mut records = Records::new(&self.format, &self.text, self.first_line);
        let mut puzzle = Grid::empty(self.format.order());
        let error = records.read(&mut puzzle).ok_or(EMPTY)?.error;
        if records.read(&mut Grid::empty(self.format.order())).is_some() {
            return Err(SolveError::Several);
        }
        match error {
            Some(error) => Err(single_error(&self.format, &self.text, &error).into()),
            None => Ok(puzzle),
        }
    }

    /// The answer to the only puzzle.
    fn answer(self, question: Question) -> Result<Answered, SolveError> {
        self.single()?;
        let answer = Answers::of(self, Task { question, ..Task::default() }).next_answer();
        // Errors of the text were returned above; those of the search name no line either.
        Ok(answer.unwrap_or(Err(EMPTY)).map_err(|error| PuzzleError { line: None, ..error })?)
    }
}

/// A good answer.
enum Answered {
    Solution(Grid),
    Count(u64),
}

/// Solves one puzzle, in any notation and of any size from 1x1 to 25x25.
///
/// For a puzzle with several solutions it returns the first one found; [`solve_unique`] returns an
/// error instead.
///
/// # Errors
/// [`SolveError`]: the puzzle is bad, has no solution, or was given up after a million nodes; the
/// text has several puzzles, or its notation or alphabet is ambiguous.
///
/// ```
/// let solution = sudoku_core::solve(
///     "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
/// )?;
/// assert_eq!(
///     solution.to_string(),
///     "534678912672195348198342567859761423426853791713924856961537284287419635345286179",
/// );
/// let error = sudoku_core::solve("53..7").unwrap_err();
/// assert_eq!(error.to_string(), "The puzzle has 5 cells; a puzzle has 1, 16, 81, 256 or 625.");
/// # Ok::<(), sudoku_core::SolveError>(())
/// ```
pub fn solve(text: &str) -> Result<Grid, SolveError> {
    solution(text, Question::First)
}

/// Solves one puzzle and proves that there is no other solution.
///
/// # Errors
/// Like [`solve`], and if there is more than one solution.
///
/// ```
/// let error = sudoku_core::solve_unique("12..34..........").unwrap_err();
/// assert_eq!(error.to_string(), "The puzzle has more than one solution.");
/// ```
pub fn solve_unique(text: &str) -> Result<Grid, SolveError> {
    solution(text, Question::Unique)
}

/// Lists the solutions of one puzzle, the first `limit` of them, where 0 counts as 1. Their order is
/// that of [`Enumerator`](crate::solver::Enumerator): always the same, but not that of their digits.
///
/// All are kept in memory. [`Enumerator`](crate::solver::Enumerator) passes them on one by one.
///
/// # Errors
/// Like [`solve`], but a puzzle without a solution is no error: the list is empty.
///
/// ```
/// let solutions = sudoku_core::solutions("1234............", 5)?;
/// assert_eq!(solutions.len(), 5);
/// assert!(solutions.iter().all(|solution| solution.to_string().starts_with("1234")));
/// assert!(sudoku_core::solutions("123...4.........", 5)?.is_empty());
/// # Ok::<(), sudoku_core::SolveError>(())
/// ```
pub fn solutions(text: &str, limit: u64) -> Result<Vec<Grid>, SolveError> {
    let parsed = Parsed::new(text)?;
    parsed.single()?;
    let Parsed { format, text, first_line } = parsed;
    let enumerators = Enumerators::new(format, EnumerateTask { limit, ..EnumerateTask::default() });
    let (mut solutions, mut failed) = (Vec::new(), None);
    let never = AtomicBool::new(false);
    let listed = enumerators.enumerate(Block { text: &text, first_line }, &never, |row| {
        match &row.result {
            SolutionEvent::Solution { solution, .. } => solutions.push((*solution).clone()),
            SolutionEvent::Error(error) => failed = Some(error.problem.clone()),
            SolutionEvent::End { .. } => {}
        }
        ControlFlow::Continue(())
    });
    debug_assert!(listed.is_ok(), "the flag is never raised");
    match failed {
        None | Some(Problem::NoSolution) => Ok(solutions),
        Some(problem) => Err(PuzzleError { problem, line: None }.into()),
    }
}

fn solution(text: &str, question: Question) -> Result<Grid, SolveError> {
    match Parsed::new(text)?.answer(question)? {
        Answered::Solution(solution) => Ok(solution),
        Answered::Count(_) => unreachable!("the question was not a count"),
    }
}

/// Counts the solutions of one puzzle, up to `limit`, where 0 counts as 1.
///
/// # Errors
/// Like [`solve`], but a puzzle without a solution is no error: the count is 0.
///
/// ```
/// assert_eq!(sudoku_core::count_solutions("................", 1_000)?, 288);
/// assert_eq!(sudoku_core::count_solutions(&".".repeat(81), 1_000)?, 1_000);
/// # Ok::<(), sudoku_core::SolveError>(())
/// ```
pub fn count_solutions(text: &str, limit: u64) -> Result<u64, SolveError> {
    match Parsed::new(text)?.answer(Question::Count { limit: limit.max(1) })? {
        Answered::Count(count) => Ok(count),
        Answered::Solution(_) => unreachable!("the question was a count"),
    }
}

/// Solves every puzzle of a text, in order: an iterator over a solution for each, or its error with
/// the line.
///
/// Hundreds of puzzles are searched at once, which is far faster than one by one. For other
/// questions, cancellation, several threads or files of any length see
/// [`answer::Solvers`](crate::answer::Solvers).
///
/// # Errors
/// [`FormatError`] if the text cannot be read at all.
///
/// ```
/// let text = "1234341221..4321\n1234\n11..............\n";
/// let answers: Vec<String> = sudoku_core::answers(text)?
///     .map(|answer| match answer {
///         Ok(solution) => solution.to_string(),
///         Err(error) => error.to_string(),
///     })
///     .collect();
/// assert_eq!(
///     answers,
///     [
///         "1234341221434321",
///         "Line 2 has the wrong length. It has 4 cells; a 4x4 puzzle has 16.",
///         "Line 3 breaks the rules: 1 appears twice in row 1.",
///     ],
/// );
/// # Ok::<(), sudoku_core::text::FormatError>(())
/// ```
pub fn answers(text: &str) -> Result<Answers<'_>, FormatError> {
    Ok(Answers::of(Parsed::new(text)?, Task::default()))
}

/// The iterator of [`answers`].
pub struct Answers<'a> {
    solvers: Solvers,
    text: Cow<'a, [u8]>,
    /// The bytes that have been read.
    at: usize,
    line: u64,
    ready: VecDeque<Result<Answered, PuzzleError>>,
}

/// The bytes that are answered at a time: some thousand 9x9 puzzles.
const BLOCK_BYTES: usize = 512 * 1024;

impl<'a> Answers<'a> {
    fn of(parsed: Parsed<'a>, task: Task) -> Self {
        let Parsed { format, text, first_line } = parsed;
        Self { solvers: Solvers::new(format, task), text, at: 0, line: first_line, ready: VecDeque::new() }
    }

    /// Answers the next block.
    fn refill(&mut self) {
        let (format, task) = (self.solvers.format(), *self.solvers.task());
        let rest = &self.text[self.at..];
        let text = &rest[..format.cut_about(rest, BLOCK_BYTES)];
        let block = Block { text, first_line: self.line };
        let ready = &mut self.ready;
        let never = AtomicBool::new(false);
        let take = |answer: &Answer<'_>| {
            ready.push_back(match &answer.result {
                Ok(Found::Solution(solution)) => Ok(Answered::Solution((*solution).clone())),
                Ok(Found::Count { count, .. }) => Ok(Answered::Count(*count)),
                Err(error) => Err(error.clone()),
            });
        };
        let answered = self.solvers.with(|solver| solver.answer_block(format, &task, block, &never, take));
        debug_assert!(answered.is_ok(), "the flag is never raised");
        self.at += text.len();
        self.line += memchr::memchr_iter(b'\n', text).count() as u64;
    }

    fn next_answer(&mut self) -> Option<Result<Answered, PuzzleError>> {
        while self.ready.is_empty() && self.at < self.text.len() {
            self.refill();
        }
        self.ready.pop_front()
    }
}

impl Iterator for Answers<'_> {
    type Item = Result<Grid, PuzzleError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_answer()?.map(|answer| match answer {
            Answered::Solution(solution) => solution,
            Answered::Count(_) => unreachable!("the question was not a count"),
        }))
    }
}

/// Reads one puzzle or solution, in any notation and of any size, and returns its format beside it.
/// What the hint says is not detected. The rules are not checked.
///
/// # Errors
/// [`SolveError`]: the puzzle cannot be read, or there are several.
///
/// ```
/// use sudoku_core::text::Hint;
///
/// let hint = Hint { alphabet: Some("abcd".parse()?), ..Hint::default() };
/// let (format, puzzle) = sudoku_core::read_single("ab..\n....\n....\n...c", &hint)?;
/// assert_eq!(puzzle.to_string(), "12.............3");
/// assert_eq!(format.symbol(4), 'd');
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_single(text: &str, hint: &Hint) -> Result<(Format, Grid), SolveError> {
    let parsed = Parsed::with_hint(text, hint)?;
    let puzzle = parsed.single()?;
    Ok((parsed.format, puzzle))
}

/// Reads one puzzle or solution, in any notation and of any size. The rules are not checked.
///
/// ```
/// use sudoku_core::grid::Grid;
///
/// let grid: Grid = "12..\n34..\n2...\n4...".parse()?;
/// assert_eq!(grid.to_string(), "12..34..2...4...");
/// # Ok::<(), sudoku_core::SolveError>(())
/// ```
impl FromStr for Grid {
    type Err = SolveError;

    fn from_str(text: &str) -> Result<Self, SolveError> {
        Parsed::new(text)?.single()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_several_blocks_is_answered_in_order() {
        let solved = "1234341221434321";
        let mut text = String::from("# a comment\n\n");
        for k in 0..40_000 {
            text.push_str(&solved[..k % 16]);
            text.push_str(&".".repeat(16 - k % 16));
            text.push('\n');
        }
        assert!(text.len() > BLOCK_BYTES);
        text.push_str("x\n");
        let mut answers = answers(&text).unwrap();
        for k in 0..40_000 {
            let solution = answers.next().unwrap().unwrap();
            assert!(solution.is_solved());
            assert!(solution.to_string().starts_with(&solved[..k % 16]), "{k}");
        }
        let sentence = "Line 40003 has the wrong length. It has 1 cell; a 4x4 puzzle has 16.";
        assert_eq!(answers.next().unwrap().unwrap_err().to_string(), sentence);
        assert!(answers.next().is_none());
    }

    #[test]
    fn one_puzzle_is_told_without_its_line() {
        let sentence = |text: &str| solve(text).unwrap_err().to_string();
        assert_eq!(sentence(""), "The puzzle is empty.");
        assert_eq!(sentence("\n# nothing\n"), "The puzzle is empty.");
        assert_eq!(
            sentence("123q............"),
            "The puzzle has an invalid character. It is 'q' in column 4."
        );
        assert_eq!(sentence("11.............."), "The puzzle breaks the rules: 1 appears twice in row 1.");
        assert_eq!(sentence("123...4........."), "The puzzle has no solution.");
        assert_eq!(sentence("4\n1234\n"), "Invalid block size.");
        let several = format!("{0}\n{0}\n", ".".repeat(16));
        assert_eq!(solve(&several), Err(SolveError::Several));
        assert_eq!(several.parse::<Grid>(), Err(SolveError::Several));
        assert!(solve(&format!("\u{feff}\n{}", ".".repeat(625))).unwrap().is_solved());
    }

    #[test]
    fn grids_are_read_as_they_are_written() {
        for cells in [1, 16, 81, 256] {
            let grid = solve(&".".repeat(cells)).unwrap();
            let line = grid.to_string();
            assert_eq!(line.len(), cells);
            assert_eq!(line.parse::<Grid>(), Ok(grid.clone()));
            // The size of a row of one cell is ambiguous.
            if cells > 1 {
                assert_eq!(format!("{grid:#}").parse::<Grid>(), Ok(grid));
            }
        }
    }
}
