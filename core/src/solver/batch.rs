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
    /// At least as many as that, and so are solutions and searches: what earlier puzzles have left stays, because clearing
    /// it would take as long as reading a puzzle.
    puzzles: Vec<u8>,
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
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a puzzle. Until it is searched, what is found of it is unspecified.
    ///
    /// # Panics
    /// If it is of another order.
    pub fn push(&mut self, puzzle: &Grid) {
        assert_eq!(puzzle.order(), self.order);
        self.push_up_to(1, |cells| {
            cells.copy_from_slice(puzzle.digits());
            1
        });
    }

    /// Adds puzzles: whatever `add` appends to the cells of those that are there.
    ///
    /// # Panics
    /// If `add` takes something away, or does not append whole puzzles.
    pub fn push_many(&mut self, add: impl FnOnce(&mut Vec<u8>)) {
        self.puzzles.truncate(self.len * self.order.cells());
        add(&mut self.puzzles);
        let count = self.puzzles.len() / self.order.cells();
        assert!(count >= self.len() && count * self.order.cells() == self.puzzles.len());
        self.make_room(count);
        self.len = count;
    }

    /// Adds at most so many puzzles: `fill` writes the cells of some to the front of the room that it is given, and returns
    /// how many those are, as this does. What the room holds before is unspecified.
    ///
    /// # Panics
    /// If `fill` says that they are more.
    pub fn push_up_to(&mut self, most: usize, fill: impl FnOnce(&mut [u8]) -> usize) -> usize {
        self.make_room(self.len + most);
        let cells = self.order.cells();
        let count = fill(&mut self.puzzles[self.len * cells..][..most * cells]);
        assert!(count <= most);
        self.len += count;
        count
    }

    /// Makes room for so many puzzles in all.
    fn make_room(&mut self, puzzles: usize) {
        let cells = puzzles * self.order.cells();
        if self.puzzles.len() < cells {
            self.puzzles.resize(cells, 0);
        }
        if self.searches.len() < puzzles {
            self.solutions.resize(cells, 0);
            self.searches.resize(puzzles, Search::NO_SOLUTION);
        }
    }

    /// The cells of puzzle `index`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn puzzle(&self, index: usize) -> &[u8] {
        assert!(index < self.len);
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
            (&puzzles[..self.len], &mut solutions[..self.len], &mut self.searches[..self.len])
        })
    }
}

/// Puzzles, solutions and searches, one of each for each puzzle.
type AllAtOnce<'a, const CELLS: usize> = (&'a [[u8; CELLS]], &'a mut [[u8; CELLS]], &'a mut [Search]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_filled_is_no_puzzle() {
        let order = Order::ALL[1];
        let mut batch = Batch::new(order);
        let four = |value: u8| [value; 16];
        let fill = |batch: &mut Batch, most: usize, values: &[u8]| {
            batch.push_up_to(most, |room| {
                assert_eq!(room.len(), 16 * most);
                // More is written than is said to be.
                room.fill(9);
                let cells = values.iter().flat_map(|&value| four(value));
                room.iter_mut().zip(cells).for_each(|(room, cell)| *room = cell);
                values.len()
            })
        };
        for _ in 0..2 {
            assert_eq!(fill(&mut batch, 3, &[1, 2]), 2);
            batch.push(&Grid::from_digits(order, &four(3)));
            assert_eq!(fill(&mut batch, 4, &[]), 0);
            assert_eq!(fill(&mut batch, 1, &[4]), 1);
            assert_eq!((batch.len(), batch.searches().len()), (4, 4));
            for (index, value) in [1, 2, 3, 4].into_iter().enumerate() {
                assert_eq!(batch.puzzle(index), four(value));
            }
            batch.clear();
            assert!(batch.is_empty());
        }
    }
}
