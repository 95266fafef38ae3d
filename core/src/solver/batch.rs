//! Batches: puzzles that are searched together, and their results.

use std::ops::Range;

use super::Search;
use crate::grid::{Grid, Order};

/// Puzzles of one order and their results: filled, searched, read, cleared and filled again.
///
/// Puzzles and solutions are contiguous, one byte a cell: its digit, or 0 for a blank.
#[derive(Debug)]
pub struct Batch {
    order: Order,
    /// The number of puzzles.
    len: usize,
    /// The cells of at least `len` puzzles, as are solutions and searches. Data of earlier puzzles
    /// stays, because clearing it would take as long as reading a puzzle.
    puzzles: Vec<u8>,
    solutions: Vec<u8>,
    searches: Vec<Search>,
}

impl Batch {
    /// An empty batch for puzzles of this order.
    #[must_use]
    pub const fn new(order: Order) -> Self {
        Self { order, len: 0, puzzles: Vec::new(), solutions: Vec::new(), searches: Vec::new() }
    }

    /// An empty batch with capacity for a number of puzzles.
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

    /// The number of puzzles.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no puzzles.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all puzzles.
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a puzzle. Until it is searched, its result is unspecified.
    ///
    /// # Panics
    /// If it has another order.
    pub fn push(&mut self, puzzle: &Grid) {
        assert_eq!(puzzle.order(), self.order);
        self.push_up_to(1, |cells| {
            cells.copy_from_slice(puzzle.digits());
            1
        });
    }

    /// Adds the puzzles whose cells `add` appends.
    ///
    /// # Panics
    /// If `add` removes cells, or does not append whole puzzles.
    pub fn push_many(&mut self, add: impl FnOnce(&mut Vec<u8>)) {
        self.puzzles.truncate(self.len * self.order.cells());
        add(&mut self.puzzles);
        let count = self.puzzles.len() / self.order.cells();
        assert!(count >= self.len() && count * self.order.cells() == self.puzzles.len());
        self.reserve_puzzles(count);
        self.len = count;
    }

    /// Adds at most `most` puzzles: `fill` writes their cells to the front of a buffer for `most`
    /// puzzles, whose content is unspecified, and returns their number, which is returned.
    ///
    /// # Panics
    /// If `fill` returns more than `most`.
    pub fn push_up_to(&mut self, most: usize, fill: impl FnOnce(&mut [u8]) -> usize) -> usize {
        self.reserve_puzzles(self.len + most);
        let cells = self.order.cells();
        let count = fill(&mut self.puzzles[self.len * cells..][..most * cells]);
        assert!(count <= most);
        self.len += count;
        count
    }

    /// Grows the buffers to this many puzzles in all.
    fn reserve_puzzles(&mut self, puzzles: usize) {
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
    /// If `index` is not below [`Self::len`].
    #[must_use]
    pub fn puzzle(&self, index: usize) -> &[u8] {
        assert!(index < self.len);
        let cells = self.order.cells();
        &self.puzzles[index * cells..][..cells]
    }

    /// The cells of the first solution of puzzle `index`; unspecified where none was found.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    #[must_use]
    pub fn solution(&self, index: usize) -> &[u8] {
        let cells = self.order.cells();
        &self.solutions[index * cells..][..cells]
    }

    /// The cells of the first solutions of a range of puzzles, contiguous.
    ///
    /// # Panics
    /// If the range ends beyond [`Self::len`].
    #[must_use]
    pub fn solutions(&self, puzzles: Range<usize>) -> &[u8] {
        let cells = self.order.cells();
        &self.solutions[puzzles.start * cells..puzzles.end * cells]
    }

    /// The result of each puzzle.
    #[must_use]
    pub fn searches(&self) -> &[Search] {
        &self.searches[..self.len]
    }

    /// Sets the result of puzzle `index` and its first solution.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`], or the solution has another number of cells.
    pub fn set(&mut self, index: usize, search: Search, solution: &[u8]) {
        assert!(index < self.len);
        let cells = self.order.cells();
        self.searches[index] = search;
        self.solutions[index * cells..][..cells].copy_from_slice(solution);
    }

    /// All puzzles, solutions and results, for searching them together. `None` unless a puzzle has
    /// `CELLS` cells.
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
                // More is written than is returned.
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
