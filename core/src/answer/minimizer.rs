//! Clues that can be spared, dropped from many puzzles.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

use super::idle::Idle;
use super::puzzle_rows::try_read_rows;
use super::row_batch::unique_problem;
use super::row_job::BATCH_PUZZLES;
use super::row_job::{MAX_JOB_BYTES, MIN_JOB_BYTES, RowJob, Rows};
use super::row_tally::{Counters, HasCounters};
use super::{Block, Cancelled};
use crate::grid::Grid;
use crate::solver::{Batch, DEFAULT_NODE_LIMIT, Limit, Solver, default_strategy};
use crate::text::{Format, Problem, copy_line};

/// How clues are dropped.
#[derive(Clone, Copy, Debug)]
pub struct MinimizeTask {
    /// The seed of the order in which the clues of a puzzle are tried, which also depends on its
    /// line. `None`: in reading order.
    pub seed: Option<u64>,
    /// The most nodes of a search for a second solution; default: [`DEFAULT_NODE_LIMIT`]. A clue
    /// whose search takes more is kept.
    pub node_limit: u64,
}

impl Default for MinimizeTask {
    fn default() -> Self {
        Self { seed: None, node_limit: DEFAULT_NODE_LIMIT }
    }
}

/// The numbers of puzzles from which clues were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MinimizeTally {
    /// All puzzles.
    pub puzzles: u64,
    /// Those that were minimal already.
    pub minimal: u64,
    /// The clues dropped.
    pub dropped: u64,
    /// The puzzles copied as they are because they are bad or have not one solution, by the code of
    /// the error.
    pub errors: BTreeMap<&'static str, u64>,
}

impl HasCounters for MinimizeTally {
    fn counters(&mut self) -> Counters<'_> {
        let Self { puzzles, minimal, dropped, errors } = self;
        let single = vec![("puzzles", puzzles), ("minimal", minimal), ("dropped", dropped)];
        Counters { single, by_code: errors }
    }
}

/// Rows of an input with the clues of their puzzles that are needed, and everything else as it is.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::answer::{Block, MinimizeJob, MinimizeTask, RowJob};
/// use sudoku_core::grid::Order;
/// use sudoku_core::text::{Alphabet, Format, Notation};
///
/// let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters)?;
/// let job = MinimizeJob::new(format, MinimizeTask::default());
/// let mut out = Vec::new();
/// let block = Block { text: b"1234341221434321 # full\n", first_line: 1 };
/// job.write(block, &AtomicBool::new(false), &mut out)?;
/// let minimal = String::from_utf8(out)?;
/// assert!(minimal.ends_with(" # full\n"));
/// assert_eq!(sudoku_core::count_solutions(&minimal, 2)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MinimizeJob {
    format: Format,
    task: MinimizeTask,
    idle: Idle<Box<dyn Solver>>,
}

impl MinimizeJob {
    /// Rows in this format.
    #[must_use]
    pub const fn new(format: Format, task: MinimizeTask) -> Self {
        Self { format, task, idle: Idle::new() }
    }

    fn minimize_with(
        &self,
        solver: &mut dyn Solver,
        block: Block<'_>,
        cancel: &AtomicBool,
        rows: &mut Rows<'_, MinimizeTally>,
    ) -> Result<(), Cancelled> {
        let limit = Limit { solutions: 2, nodes: self.task.node_limit, cancel };
        let mut waiting = Vec::new();
        let mut settle = |waiting: &mut Vec<Waiting>| {
            reduce(solver, waiting, &limit)?;
            waiting.drain(..).for_each(|row| self.write_row(&row, &mut rows.tally, &mut rows.text));
            Ok(())
        };
        try_read_rows(&self.format, block, |row| {
            let state = match &row.puzzle {
                Ok(puzzle) => Ok(Clues::new(puzzle, self.clues_in_order(puzzle, row.line))),
                Err(problem) => Err(problem.clone()),
            };
            waiting.push(Waiting { text: row.text.to_vec(), state });
            if waiting.len() >= BATCH_PUZZLES { settle(&mut waiting) } else { Ok(()) }
        })?;
        settle(&mut waiting)
    }

    /// The cells of the clues in the order in which they are tried.
    fn clues_in_order(&self, puzzle: &Grid, line: u64) -> Vec<usize> {
        let mut cells: Vec<usize> =
            (0..puzzle.digits().len()).filter(|&cell| puzzle.digits()[cell] != 0).collect();
        if let Some(seed) = self.task.seed {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(line);
            cells.shuffle(&mut random);
        }
        cells
    }

    fn write_row(&self, row: &Waiting, tally: &mut MinimizeTally, out: &mut Vec<u8>) {
        tally.puzzles += 1;
        match &row.state {
            Ok(clues) => {
                let dropped = clues.before.filled() - clues.puzzle.filled();
                tally.dropped += dropped as u64;
                tally.minimal += u64::from(dropped == 0);
                self.format.rewrite(&row.text, &clues.before, &clues.puzzle, None, out);
            }
            Err(problem) => {
                let code = problem.code();
                *tally.errors.entry(code).or_default() += 1;
                copy_line(&row.text, out);
            }
        }
    }
}

impl RowJob for MinimizeJob {
    type Tally = MinimizeTally;

    fn format(&self) -> &Format {
        &self.format
    }

    fn rewrites(&self) -> bool {
        true
    }

    fn job_bytes(&self) -> RangeInclusive<usize> {
        MIN_JOB_BYTES..=MAX_JOB_BYTES
    }

    fn answer(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        rows: &mut Rows<'_, MinimizeTally>,
    ) -> Result<(), Cancelled> {
        let order = self.format.order();
        let make = || default_strategy(order).solver(order);
        self.idle.with(make, |solver| self.minimize_with(solver.as_mut(), block, cancel, rows))
    }
}

/// A row that is not written yet.
struct Waiting {
    text: Vec<u8>,
    state: Result<Clues, Problem>,
}

/// A puzzle with one solution, and the clues that have not been tried.
struct Clues {
    before: Grid,
    puzzle: Grid,
    untried: std::vec::IntoIter<usize>,
    /// The cell whose clue is being tried.
    tried: Option<usize>,
}

impl Clues {
    fn new(puzzle: &Grid, cells: Vec<usize>) -> Self {
        Self { before: puzzle.clone(), puzzle: puzzle.clone(), untried: cells.into_iter(), tried: None }
    }
}

/// Drops clues of all rows as long as each has one solution. A puzzle with fewer clues has no fewer
/// solutions, so no clue is tried twice; the rows go in lock step, because many are searched together.
fn reduce(solver: &mut dyn Solver, rows: &mut [Waiting], limit: &Limit<'_>) -> Result<(), Cancelled> {
    let Some(order) = rows.iter().find_map(|row| row.state.as_ref().ok()).map(|clues| clues.puzzle.order())
    else {
        return Ok(());
    };
    let mut batch = Batch::new(order);
    let mut search = |batch: &mut Batch| {
        if limit.is_cancelled() {
            return Err(Cancelled);
        }
        solver.search_batch(batch, limit);
        batch.searches().iter().map(unique_problem).collect::<Result<Vec<_>, _>>()
    };
    for row in rows.iter() {
        if let Ok(clues) = &row.state {
            batch.push(&clues.puzzle);
        }
    }
    let problems = search(&mut batch)?;
    let good = rows.iter_mut().filter(|row| row.state.is_ok());
    for (row, problem) in good.zip(problems) {
        if let (Some(problem), Ok(_)) = (problem, &row.state) {
            row.state = Err(problem);
        }
    }
    loop {
        batch.clear();
        for row in rows.iter_mut() {
            let Ok(clues) = &mut row.state else { continue };
            clues.tried = clues.untried.next();
            if let Some(cell) = clues.tried {
                let clue = std::mem::take(&mut clues.puzzle.digits_mut()[cell]);
                batch.push(&clues.puzzle);
                clues.puzzle.digits_mut()[cell] = clue;
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        let mut problems = search(&mut batch)?.into_iter();
        for row in rows.iter_mut() {
            let Ok(clues) = &mut row.state else { continue };
            let Some(cell) = clues.tried else { continue };
            if let Some(None) = problems.next() {
                clues.puzzle.digits_mut()[cell] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_tally::check_names;
    use super::*;

    #[test]
    fn a_tally_is_known_by_its_names() {
        let errors = BTreeMap::from([(Problem::CODES[0], 4), (Problem::CODES[1], 5)]);
        let tally = MinimizeTally { puzzles: 1, minimal: 2, dropped: 3, errors };
        check_names(&tally, 5, &["puzzles", "minimal", "dropped"], &["hardest", "error of-another-program"]);
    }
}
