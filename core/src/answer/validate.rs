//! Validation: length, characters and rules of every puzzle of a text, without a search.

use super::Block;
use crate::grid::Grid;
use crate::text::{Format, Problem, PuzzleError, Records};

/// The result of validation of a block, or of several with [`Validation::add`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    /// The number of puzzles, bad ones included.
    pub puzzles: u64,
    /// The number of bad ones.
    pub bad: u64,
    /// The errors of the first bad ones, up to a limit.
    pub errors: Vec<PuzzleError>,
}

impl Validation {
    /// Adds the result of the next block, and keeps at most `limit` errors.
    pub fn add(&mut self, next: Self, limit: usize) {
        self.puzzles += next.puzzles;
        self.bad += next.bad;
        let room = limit.saturating_sub(self.errors.len());
        self.errors.extend(next.errors.into_iter().take(room));
    }
}

/// Checks length, characters and rules of every puzzle of a block, and keeps the first `limit`
/// errors.
#[must_use]
pub fn validate_block(format: &Format, block: Block<'_>, limit: usize) -> Validation {
    let mut found = Validation::default();
    let mut puzzle = Grid::empty(format.order());
    let mut records = Records::new(format, block.text, block.first_line);
    loop {
        while records.skip_if_valid() {
            found.puzzles += 1;
        }
        let Some(record) = records.read(&mut puzzle) else { return found };
        found.puzzles += 1;
        if record.error.is_none() && puzzle.keeps_rules() {
            continue;
        }
        found.bad += 1;
        if found.errors.len() < limit {
            let broken = || puzzle.first_conflict().map(Problem::RuleBroken);
            let rules = || broken().map(|problem| PuzzleError { problem, line: Some(record.line) });
            found.errors.extend(record.error.or_else(rules));
        }
    }
}
