//! Ratings of many puzzles: how hard each is for a person, its clues, and whether each is needed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::idle::Idle;
use super::minimal::are_minimal;
use super::puzzle_reader::PuzzleReader;
use super::result_rows::ResultRows;
use super::row_batch::{RowBatch, WaitingRow, unique_problem};
use super::row_job::{RowJob, Rows};
use super::row_tally::{Counters, HasCounters};
use super::{AnsweredRow, Block, Cancel, Cancelled, CheckForm, PuzzleRow, add_counts};
use crate::grid::{Grid, Order};
use crate::poison::IgnorePoison as _;
use crate::solver::{
    DEFAULT_NODE_LIMIT, Limit, Metrics, Propagation, Solver, Stop, Strategy as _, default_strategy,
};
use crate::techniques::{DEFAULT_EFFORT, Ending, Options, Rater, Rating, Score, Technique, TechniqueSet};
use crate::text::{ERROR_PREFIX, Format, Problem, PuzzleError};

/// How puzzles are rated.
#[derive(Clone, Copy, Debug)]
pub struct RateTask {
    /// The techniques that may be used; default: all.
    pub techniques: TechniqueSet,
    /// The highest rating that is told apart; default: no limit. A puzzle with a harder step takes
    /// no longer than up to there.
    pub up_to: Option<Score>,
    /// The most inferences that a puzzle may take; default: [`DEFAULT_EFFORT`].
    pub effort: u64,
    /// The most nodes of the search for a second solution, which those without each clue share once
    /// more; default: [`DEFAULT_NODE_LIMIT`].
    pub node_limit: u64,
    /// Whether to find out which puzzles are minimal; default: true.
    pub with_minimal: bool,
}

impl Default for RateTask {
    fn default() -> Self {
        Self {
            techniques: TechniqueSet::ALL,
            up_to: None,
            effort: DEFAULT_EFFORT,
            node_limit: DEFAULT_NODE_LIMIT,
            with_minimal: true,
        }
    }
}

/// The rating of a puzzle with one solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatedPuzzle {
    /// The rating.
    pub rating: Rating,
    /// Whether every clue is needed; `None` if that was not asked for or was given up.
    pub is_minimal: Option<bool>,
    /// The cost of the search by `propagation`, for a puzzle that is beyond the techniques.
    pub search: Option<Metrics>,
}

/// One puzzle with its rating, or why it has none: it is bad, or has none or several solutions.
pub type RatedRow<'a> = AnsweredRow<'a, Result<RatedPuzzle, PuzzleError>>;

impl RatedRow<'_> {
    /// The stable code of the result: `rated`, `above`, `beyond`, or that of the error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.result {
            Ok(rated) => verdict(&rated.rating),
            Err(error) => error.code(),
        }
    }
}

/// The code of a rating: `rated`, `above` the limit, or `beyond` the techniques or the effort.
#[must_use]
pub const fn verdict(rating: &Rating) -> &'static str {
    match rating.ending {
        Ending::Solved => "rated",
        Ending::Above(_) => "above",
        _ => "beyond",
    }
}

/// What the names of the numbers by rating and by technique begin with.
const RATING: &str = "rating ";
const HARDEST: &str = "hardest ";

/// The numbers of puzzles by rating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateTally {
    /// All puzzles.
    pub puzzles: u64,
    /// The puzzles without a rating, by the [code](PuzzleError::code) of the error.
    pub errors: BTreeMap<&'static str, u64>,
    /// The puzzles with a rating, by ER in tenths.
    pub ratings: BTreeMap<u16, u64>,
    /// The same puzzles, by the technique of their hardest step.
    pub hardest: BTreeMap<Technique, u64>,
    /// The puzzles that are harder than the limit.
    pub above: u64,
    /// The puzzles that are beyond the techniques, or were given up.
    pub beyond: u64,
    /// The puzzles in which every clue is needed, of those where that is known.
    pub minimal: u64,
    /// The puzzles of which that is known.
    pub minimal_known: u64,
}

impl RateTally {
    /// Counts a puzzle.
    pub fn count(&mut self, row: &RatedRow<'_>) {
        self.puzzles += 1;
        let rated = match &row.result {
            Err(error) => return *self.errors.entry(error.code()).or_default() += 1,
            Ok(rated) => rated,
        };
        match rated.rating.ending {
            Ending::Solved => {
                *self.ratings.entry(rated.rating.er.map_or(0, Score::tenths)).or_default() += 1;
                if let Some(technique) = rated.rating.hardest {
                    *self.hardest.entry(technique).or_default() += 1;
                }
            }
            Ending::Above(_) => self.above += 1,
            _ => self.beyond += 1,
        }
        self.minimal_known += u64::from(rated.is_minimal.is_some());
        self.minimal += u64::from(rated.is_minimal == Some(true));
    }
}

impl HasCounters for RateTally {
    fn counters(&mut self) -> Counters<'_> {
        let Self { puzzles, above, beyond, minimal, minimal_known, errors, ratings: _, hardest: _ } = self;
        let single = vec![
            ("puzzles", puzzles),
            ("above", above),
            ("beyond", beyond),
            ("minimal", minimal),
            ("minimal_known", minimal_known),
        ];
        Counters { single, by_code: errors }
    }

    fn add_other_counts(&mut self, other: &Self) {
        add_counts(&mut self.ratings, &other.ratings);
        add_counts(&mut self.hardest, &other.hardest);
    }

    fn other_counts(&self) -> Vec<(String, u64)> {
        let ratings = self.ratings.iter().map(|(er, &count)| (format!("{RATING}{er}"), count));
        let hardest = self.hardest.iter().map(|(by, &count)| (format!("{HARDEST}{}", by.name()), count));
        ratings.chain(hardest).collect()
    }

    fn read_other_counts(&mut self, named: &BTreeMap<String, u64>) {
        for (name, &count) in named {
            if let Some(Ok(er)) = name.strip_prefix(RATING).map(str::parse) {
                self.ratings.insert(er, count);
            } else if let Some(Ok(technique)) = name.strip_prefix(HARDEST).map(str::parse) {
                self.hardest.insert(technique, count);
            }
        }
    }
}

/// Raters for a format and a task. Any thread may borrow one.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::answer::{Block, RateTask, Raters};
/// use sudoku_core::grid::Order;
/// use sudoku_core::text::{Alphabet, Format, Notation};
///
/// let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters)?;
/// let raters = Raters::new(format, RateTask::default());
/// let block = Block { text: b".1....2.3..4....\n1234\n", first_line: 1 };
/// let mut said = Vec::new();
/// raters.rate(block, &AtomicBool::new(false), |row| match &row.result {
///     Ok(rated) => said.push(rated.rating.to_string()),
///     Err(error) => said.push(error.to_string()),
/// })?;
/// assert!(said[0].ends_with("hidden single"), "{}", said[0]);
/// assert_eq!(said[1], "Line 2 has the wrong length. It has 4 cells; a 4x4 puzzle has 16.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Raters {
    format: Format,
    task: RateTask,
    idle: Idle<(RowBatch, PuzzleRater)>,
}

impl Raters {
    /// Raters for puzzles of this format.
    #[must_use]
    pub const fn new(format: Format, task: RateTask) -> Self {
        Self { format, task, idle: Idle::new() }
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// Rates every puzzle of a block, and passes each to `visit`, in order. A rating that takes too
    /// long is given up alone, if `cancel` gives up single puzzles.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    pub fn rate(
        &self,
        block: Block<'_>,
        cancel: &dyn Cancel,
        mut visit: impl FnMut(&RatedRow<'_>),
    ) -> Result<RateTally, Cancelled> {
        self.with(|rows, rater, tally| {
            rows.read_block(&self.format, block, |rows| {
                rater.settle(rows, &self.task, block.text, cancel, tally, &mut visit)
            })
        })
    }

    /// Rates every puzzle of a reader, as if each stood on a line of its own, from `first_line` on,
    /// and passes each to `visit`, in order.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    ///
    /// # Panics
    /// If the puzzles have another order than the format.
    pub fn rate_puzzles(
        &self,
        reader: &mut impl PuzzleReader,
        first_line: u64,
        cancel: &dyn Cancel,
        mut visit: impl FnMut(&RatedRow<'_>),
    ) -> Result<RateTally, Cancelled> {
        assert_eq!(reader.order(), self.format.order());
        self.with(|rows, rater, tally| {
            rows.read_puzzles(reader, first_line, |rows| {
                rater.settle(rows, &self.task, &[], cancel, tally, &mut visit)
            })
        })
    }

    /// Does a job with what one thread needs, and a new tally.
    fn with(
        &self,
        job: impl FnOnce(&mut RowBatch, &mut PuzzleRater, &mut RateTally) -> Result<(), Cancelled>,
    ) -> Result<RateTally, Cancelled> {
        let order = self.format.order();
        let make = || (RowBatch::for_strategy(order, default_strategy(order)), PuzzleRater::new(order));
        let mut tally = RateTally::default();
        self.idle.with(make, |(rows, rater)| job(rows, rater, &mut tally))?;
        Ok(tally)
    }
}

/// Rates a puzzle that has one solution, and can be given up alone. Shared with answers that add
/// the rating as a column.
///
/// # Errors
/// [`Cancelled`] if all work was cancelled.
pub(super) fn rate_one(
    rater: &mut Rater,
    puzzle: &Grid,
    task: &RateTask,
    cancel: &dyn Cancel,
) -> Result<Rating, Cancelled> {
    let flag: &AtomicBool = cancel.flag();
    let options =
        Options { techniques: task.techniques, up_to: task.up_to, effort: task.effort, cancel: Some(flag) };
    let is_by_puzzle = cancel.is_by_puzzle();
    if is_by_puzzle {
        cancel.begin();
    }
    let mut rating = rater.rate(puzzle, &options);
    let is_given_up = is_by_puzzle && cancel.end();
    if rating.ending == Ending::Cancelled {
        if !is_given_up {
            return Err(Cancelled);
        }
        rating.ending = Ending::GaveUp;
    }
    Ok(rating)
}

/// What rates puzzles that were read.
struct PuzzleRater {
    rater: Rater,
    solver: Box<dyn Solver>,
    searches_together: bool,
    propagation: Box<dyn Solver>,
    puzzle: Grid,
    solution: Grid,
}

impl PuzzleRater {
    fn new(order: Order) -> Self {
        let strategy = default_strategy(order);
        Self {
            rater: Rater::default(),
            solver: strategy.solver(order),
            searches_together: strategy.searches_together(),
            propagation: Propagation.solver(order),
            puzzle: Grid::empty(order),
            solution: Grid::empty(order),
        }
    }

    /// Searches the puzzles, and rates and visits all rows.
    fn settle(
        &mut self,
        rows: &mut RowBatch,
        task: &RateTask,
        text: &[u8],
        cancel: &dyn Cancel,
        tally: &mut RateTally,
        visit: &mut impl FnMut(&RatedRow<'_>),
    ) -> Result<(), Cancelled> {
        let limit = Limit { solutions: 2, nodes: task.node_limit, cancel: cancel.flag() };
        if limit.is_cancelled() {
            return Err(Cancelled);
        }
        let is_by_puzzle = cancel.is_by_puzzle() && !self.searches_together && !rows.batch.is_empty();
        if is_by_puzzle {
            cancel.begin();
        }
        self.solver.search_batch(&mut rows.batch, &limit);
        let is_given_up = is_by_puzzle && cancel.end();
        let minimal = if task.with_minimal {
            are_minimal(self.solver.as_mut(), self.searches_together, &rows.batch, &limit, cancel)?
        } else {
            Vec::new()
        };
        for WaitingRow { line, row, text: own, state, broken } in rows.take_rows() {
            let error = |problem| PuzzleError { problem, line: Some(line) };
            let (puzzle, result) = match state {
                Err(problem) => (broken.as_ref(), Err(error(problem))),
                Ok(place) => {
                    self.puzzle.set_digits(rows.batch.puzzle(place));
                    let search = &rows.batch.searches()[place];
                    let problem = match unique_problem(search) {
                        Err(Cancelled) if is_given_up => {
                            Some(Problem::GaveUp { nodes: search.metrics.nodes })
                        }
                        problem => problem?,
                    };
                    let result = match problem {
                        Some(problem) => Err(error(problem)),
                        None => {
                            let is_minimal = minimal.get(place).copied().flatten();
                            Ok(self.rate(task, is_minimal, cancel, &limit)?)
                        }
                    };
                    (Some(&self.puzzle), result)
                }
            };
            let rated = RatedRow { line, row: &text[row], text: &text[own], puzzle, result };
            tally.count(&rated);
            visit(&rated);
        }
        rows.clear();
        Ok(())
    }

    /// The rating of the puzzle, which has one solution.
    fn rate(
        &mut self,
        task: &RateTask,
        is_minimal: Option<bool>,
        cancel: &dyn Cancel,
        limit: &Limit<'_>,
    ) -> Result<RatedPuzzle, Cancelled> {
        let rating = rate_one(&mut self.rater, &self.puzzle, task, cancel)?;
        let is_beyond = matches!(rating.ending, Ending::Beyond | Ending::GaveUp);
        let search = if is_beyond { self.search_alone(limit, cancel)? } else { None };
        Ok(RatedPuzzle { rating, is_minimal, search })
    }

    /// The cost of the puzzle for `propagation`, which does not depend on other puzzles. `None` if
    /// it was given up.
    fn search_alone(&mut self, limit: &Limit<'_>, cancel: &dyn Cancel) -> Result<Option<Metrics>, Cancelled> {
        cancel.begin();
        let search = self.propagation.search(&self.puzzle, limit, &mut self.solution);
        let is_given_up = cancel.end();
        match search.stop {
            Stop::Cancelled if is_given_up => Ok(None),
            Stop::Cancelled => Err(Cancelled),
            Stop::Nodes => Ok(None),
            _ => Ok(Some(search.metrics)),
        }
    }
}

/// Ratings as rows.
///
/// As text, a puzzle has one line: `7.1/1.2/1.2 forcing chain`, `above 7.0`, `beyond`, or an error
/// line.
pub struct RateJob {
    raters: Raters,
    rows: Option<ResultRows>,
    single: Mutex<Option<SingleRating>>,
}

/// A puzzle by itself, unless it could not be read, and its rating.
type SingleRating = (Option<Grid>, Result<RatedPuzzle, PuzzleError>);

/// The columns that are added to a row. Ratings stand only where the verdict is `rated`; nodes and
/// guesses, those of the search by `propagation`, where it is `beyond`.
const ADDED: [&str; 11] =
    ["verdict", "er", "ep", "ed", "hardest", "steps", "techniques", "clues", "minimal", "nodes", "guesses"];

impl RateJob {
    /// Ratings in this form.
    #[must_use]
    pub fn new(format: Format, task: RateTask, form: CheckForm) -> Self {
        let rows = ResultRows::new(form, &format, ADDED.into_iter());
        Self { raters: Raters::new(format, task), rows, single: Mutex::new(None) }
    }

    /// The only puzzle of the last block that had only one, and its rating in full.
    pub fn take_single(&self) -> Option<SingleRating> {
        self.single.lock().ignore_poison().take()
    }

    /// Appends the rating of a puzzle: one line.
    fn write_row(&self, rated: &RatedRow<'_>, out: &mut Vec<u8>) {
        let Some(rows) = &self.rows else {
            let line = match &rated.result {
                Ok(found) => match found.search {
                    Some(cost) => {
                        let nodes = if cost.nodes == 1 { "node" } else { "nodes" };
                        let guesses = if cost.guesses == 1 { "guess" } else { "guesses" };
                        format!(
                            "{} (a search takes {} {nodes} and {} {guesses})\n",
                            found.rating, cost.nodes, cost.guesses
                        )
                    }
                    None => format!("{}\n", found.rating),
                },
                Err(error) => format!("{ERROR_PREFIX}{error}\n"),
            };
            return out.extend_from_slice(line.as_bytes());
        };
        let mut row = rows.begin(rated.line, rated.row, rated.puzzle, self.format(), out);
        row.text(rated.code().as_bytes());
        let found = rated.result.as_ref().ok();
        let rating = found.map(|found| &found.rating).filter(|rating| rating.ending == Ending::Solved);
        let scores = |of: fn(&Rating) -> Option<Score>| rating.and_then(of);
        for score in [scores(|r| r.er), scores(|r| r.ep), scores(|r| r.ed)] {
            row.score(score);
        }
        row.text(rating.and_then(|rating| rating.hardest).map(|technique| technique.name().as_bytes()));
        row.number(rating.map(|rating| rating.steps.into()));
        row.text(rating.map(techniques).as_deref().map(str::as_bytes));
        row.number(rated.puzzle.map(|puzzle| puzzle.filled() as u64));
        row.flag(found.and_then(|found| found.is_minimal));
        let search = found.and_then(|found| found.search);
        row.number(search.map(|cost| cost.nodes));
        row.number(search.map(|cost| cost.guesses));
        row.end();
    }
}

impl RowJob for RateJob {
    type Tally = RateTally;

    fn format(&self) -> &Format {
        self.raters.format()
    }

    /// One puzzle of 81 cells at first, because a rating may take a second, and some 200 at most,
    /// because more would gain nothing.
    fn job_bytes(&self) -> RangeInclusive<usize> {
        128..=16 * 1024
    }

    fn heading(&self) -> Vec<u8> {
        ResultRows::heading(self.rows.as_ref(), self.format())
    }

    fn answer(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        rows: &mut Rows<'_, RateTally>,
    ) -> Result<(), Cancelled> {
        let mut first = None;
        let all = self.raters.rate(block, cancel, |row| {
            self.write_row(row, &mut rows.text);
            rows.tally.count(row);
            first.get_or_insert_with(|| (row.puzzle.cloned(), row.result.clone()));
            // If nobody wants more, the run is being cancelled.
            let _ = rows.end_row(true);
        })?;
        if all.puzzles == 1 {
            *self.single.lock().ignore_poison() = first;
        }
        Ok(())
    }

    fn write_panic(&self, row: &PuzzleRow<'_>, rows: &mut Rows<'_, RateTally>) -> bool {
        let rated = row.answered(Err(row.panicked()));
        rows.tally.count(&rated);
        self.write_row(&rated, &mut rows.text);
        true
    }
}

/// The steps by technique: `hidden-single:45 naked-pair:2`.
fn techniques(rating: &Rating) -> String {
    let each = rating.counts().map(|(technique, count)| format!("{}:{count}", technique.name()));
    each.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::RowTally as _;
    use super::super::cancel::tests::GivesUpOne;
    use super::super::row_tally::check_names;
    use super::*;
    use crate::text::{Alphabet, Notation};

    #[test]
    fn each_search_for_a_puzzle_is_given_up_alone() {
        let order = Order::ALL[1];
        let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
        let said = |techniques: TechniqueSet, which: u64| {
            let raters = Raters::new(format.clone(), RateTask { techniques, ..RateTask::default() });
            let block = Block { text: b"................\n.1....2.3..4....\n", first_line: 1 };
            let (cancel, mut said) = (GivesUpOne::new(which), Vec::new());
            let visit = |row: &RatedRow<'_>| said.push(row.result.clone().map_err(|error| error.code()));
            raters.rate(block, &cancel, visit).unwrap();
            assert_eq!((said.len(), said[0].clone()), (2, Err("not_unique")));
            (said.remove(1), cancel.begun())
        };
        let full = |techniques, begun| {
            let (rated, all) = said(techniques, 0);
            assert_eq!(all, begun);
            rated.unwrap()
        };
        // One for the first puzzle, and then those for the solution, minimality, rating and cost.
        let (rated, beyond) = (full(TechniqueSet::ALL, 4), full(TechniqueSet::NONE, 5));
        assert_eq!((rated.rating.ending, rated.is_minimal), (Ending::Solved, Some(true)));
        assert!(beyond.search.is_some());
        assert_eq!(said(TechniqueSet::ALL, 2).0, Err("gave_up"));
        assert_eq!(said(TechniqueSet::ALL, 3).0, Ok(RatedPuzzle { is_minimal: None, ..rated }));
    }

    /// Each rating can be taken as soon as it is known, with what it counts.
    #[test]
    fn ratings_are_passed_on_one_by_one() {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let job = RateJob::new(format, RateTask::default(), CheckForm::Text);
        let block = Block { text: b".1....2.3..4....\n................\n12\n", first_line: 1 };
        let never = AtomicBool::new(false);
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        let tally = job.write(block, &never, &mut whole).unwrap();
        let mut take = |text: &mut Vec<u8>, tally: &mut RateTally, is_awaited: bool| {
            parts.push((std::mem::take(text), std::mem::take(tally), is_awaited));
            ControlFlow::Continue(())
        };
        let mut rows = Rows::new(&mut take);
        job.answer(block, &never, &mut rows).unwrap();
        assert!(rows.text.is_empty() && rows.tally == RateTally::default());
        assert!(parts.iter().all(|(_, tally, is_awaited)| tally.puzzles == 1 && *is_awaited));
        let mut sum = RateTally::default();
        for (_, tally, _) in &parts {
            sum.add(tally);
        }
        assert_eq!((parts.len(), sum), (3, tally));
        let text: Vec<u8> = parts.into_iter().flat_map(|(text, ..)| text).collect();
        assert_eq!(text, whole);
    }

    #[test]
    fn a_tally_is_known_by_its_names() {
        let tally = RateTally {
            puzzles: 1_000,
            errors: Problem::CODES.into_iter().zip(1..).collect(),
            ratings: [(0, 1), (12, 500), (119, u64::MAX)].into_iter().collect(),
            hardest: Technique::ALL.into_iter().zip(7..).collect(),
            above: 2,
            beyond: 3,
            minimal: 4,
            minimal_known: 5,
        };
        let all = Problem::CODES.len() + 3 + Technique::ALL.len() + 5;
        let single = ["puzzles", "above", "beyond", "minimal", "minimal_known"];
        let unknown = [
            "no_such_name",
            "",
            "error no_such_code",
            "rating x",
            "rating 1.2",
            "rating 012",
            "rating 70000",
            "hardest no-such-technique",
            "hardest X-Wing",
        ];
        check_names(&tally, all, &single, &unknown);
    }
}
