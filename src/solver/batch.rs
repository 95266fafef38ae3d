//! Puzzles that are searched together.

use std::ops::Range;

use super::Search;
use crate::grid::{Grid, Order};

/// Puzzles of one order, and what was found. It is filled, searched, read and cleared, again and again.
///
/// Puzzles and solutions lie one behind the other, one byte a cell: its value, or 0 for a blank.
#[derive(Debug)]
pub struct Batch {
    order: Order,
    /// How many puzzles there are.
    len: usize,
    puzzles: Vec<u8>,
    /// At least as many as puzzles, and so are the searches: what earlier puzzles have left stays, because clearing it
    /// would take as long as reading a puzzle.
    solutions: Vec<u8>,
    searches: Vec<Search>,
}

impl Batch {
    /// None yet, for puzzles of this order.
    #[must_use]
    pub const fn new(order: Order) -> Self {
        Self { order, len: 0, puzzles: Vec::new(), solutions: Vec::new(), searches: Vec::new() }
    }

    /// The same, with room for so many.
    #[must_use]
    pub fn with_capacity(order: Order, puzzles: usize) -> Self {
        Self {
            puzzles: Vec::with_capacity(puzzles * order.cells()),
            solutions: Vec::with_capacity(puzzles * order.cells()),
            searches: Vec::with_capacity(puzzles),
            ..Self::new(order)
        }
    }

    /// The order of the puzzles.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// How many puzzles there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Are there none?
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all puzzles.
    pub fn clear(&mut self) {
        self.puzzles.clear();
        self.len = 0;
    }

    /// Adds a puzzle. Until it is searched, what is found of it is unspecified.
    ///
    /// # Panics
    /// If it is of another order.
    pub fn push(&mut self, puzzle: &Grid) {
        assert_eq!(puzzle.order(), self.order);
        self.push_many(|cells| cells.extend_from_slice(puzzle.digits()));
    }

    /// Adds puzzles: whatever `add` appends to the cells of those that are there.
    ///
    /// # Panics
    /// If `add` takes something away, or does not append whole puzzles.
    pub fn push_many(&mut self, add: impl FnOnce(&mut Vec<u8>)) {
        add(&mut self.puzzles);
        let count = self.puzzles.len() / self.order.cells();
        assert!(count >= self.len() && count * self.order.cells() == self.puzzles.len());
        if self.searches.len() < count {
            self.solutions.resize(self.puzzles.len(), 0);
            self.searches.resize(count, Search::NO_SOLUTION);
        }
        self.len = count;
    }

    /// The cells of puzzle `index`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn puzzle(&self, index: usize) -> &[u8] {
        let cells = self.order.cells();
        &self.puzzles[index * cells..][..cells]
    }

    /// The cells of the first solution of puzzle `index`; unspecified where none was found.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn solution(&self, index: usize) -> &[u8] {
        let cells = self.order.cells();
        &self.solutions[index * cells..][..cells]
    }

    /// The same for several that follow each other, one behind the other.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn solutions(&self, puzzles: Range<usize>) -> &[u8] {
        let cells = self.order.cells();
        &self.solutions[puzzles.start * cells..puzzles.end * cells]
    }

    /// What was found of each puzzle.
    #[must_use]
    pub fn searches(&self) -> &[Search] {
        &self.searches[..self.len]
    }

    /// Sets what was found of puzzle `index`, and its first solution.
    ///
    /// # Panics
    /// If there are not so many puzzles, or the solution has another number of cells.
    pub fn set(&mut self, index: usize, search: Search, solution: &[u8]) {
        assert!(index < self.len);
        let cells = self.order.cells();
        self.searches[index] = search;
        self.solutions[index * cells..][..cells].copy_from_slice(solution);
    }

    /// All puzzles, and where all solutions and all that is found go, for searching them together. `None` if a puzzle
    /// does not have `CELLS` cells.
    pub(super) fn all_at_once<const CELLS: usize>(&mut self) -> Option<AllAtOnce<'_, CELLS>> {
        (self.order.cells() == CELLS).then(|| {
            let (puzzles, _) = self.puzzles.as_chunks();
            let (solutions, _) = self.solutions.as_chunks_mut();
            (puzzles, &mut solutions[..self.len], &mut self.searches[..self.len])
        })
    }
}

/// Puzzles, solutions and searches, one of each for each puzzle.
type AllAtOnce<'a, const CELLS: usize> = (&'a [[u8; CELLS]], &'a mut [[u8; CELLS]], &'a mut [Search]);
