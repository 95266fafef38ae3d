//! Boards of a vector, and their sweeps.

use super::vector::{CellSets, SetVector};
use super::{MOST, PuzzleBlock};

/// The bits of a lane that stand for no digit. In the sets of houses they are set, so that none is a
/// candidate.
const NO_DIGITS: u16 = 0xFE00;

/// The boxes by diagonals: none sees the one before it, as far as there is such an order.
const DIAGONALS: [usize; 9] = [0, 4, 8, 1, 5, 6, 2, 3, 7];

/// A puzzle in each lane.
struct BoardLanes<V> {
    cells: CellSets<V>,
    /// The digits of each house.
    rows: [V; 9],
    columns: [V; 9],
    boxes: [V; 9],
}

impl PuzzleBlock<'_> {
    /// Solves what singles solve, one vector after the other. A bit for each solved puzzle.
    ///
    /// # Panics
    /// If there are more than [`MOST`] puzzles, or not as many solutions.
    #[inline(always)]
    pub(super) fn solve<V: SetVector>(self) -> u32 {
        assert!(self.puzzles.len() <= MOST && self.puzzles.len() == self.solutions.len());
        let mut solved = 0;
        let (puzzles, last_puzzles) = self.puzzles.split_at(self.puzzles.len() / V::LANES * V::LANES);
        let (solutions, last_solutions) = self.solutions.split_at_mut(puzzles.len());
        let vectors = puzzles.chunks_exact(V::LANES).zip(solutions.chunks_exact_mut(V::LANES));
        for (k, (puzzles, solutions)) in vectors.enumerate() {
            solved |= solve::<V>(puzzles, solutions, V::LANES) << (k * V::LANES);
        }
        if !last_puzzles.is_empty() {
            // Lanes without a puzzle are those of a blank one.
            let (mut rest, mut found) = ([[0; 81]; MOST], [[0; 81]; MOST]);
            rest[..last_puzzles.len()].copy_from_slice(last_puzzles);
            let last = solve::<V>(&rest[..V::LANES], &mut found[..V::LANES], last_puzzles.len());
            last_solutions.copy_from_slice(&found[..last_puzzles.len()]);
            solved |= last << puzzles.len();
        }
        solved
    }
}

/// Solves those of the first `wanted` puzzles of a vector that singles solve. A bit for each of them.
#[inline(always)]
fn solve<V: SetVector>(puzzles: &[[u8; 81]], solutions: &mut [[u8; 81]], wanted: usize) -> u32 {
    let mut board = BoardLanes::<V>::read(puzzles);
    let wanted = u32::MAX >> (32 - wanted);
    let solved = loop {
        let found = board.sweep();
        let solved = board.solved() & wanted;
        if (found.zero_lanes() | solved) & wanted == wanted {
            break solved & board.without_doubles();
        }
    };
    if solved != 0 {
        V::write(&board.cells, solutions);
    }
    solved
}

#[inline(always)]
fn or3<V: SetVector>(a: V, b: V, c: V) -> V {
    a.or(b).or(c)
}

/// What is in one of three sets or more, and what is in two or more.
#[inline(always)]
fn once_twice<V: SetVector>(a: V, b: V, c: V) -> (V, V) {
    (or3(a, b, c), or3(a.and(b), b.and(c), a.and(c)))
}

impl<V: SetVector> BoardLanes<V> {
    #[inline(always)]
    fn read(puzzles: &[[u8; 81]]) -> Self {
        let none = [V::splat(NO_DIGITS); 9];
        let mut board = Self { cells: V::read(puzzles), rows: none, columns: none, boxes: none };
        for row in 0..9 {
            for column in 0..9 {
                let cell = board.cells[9 * row + column];
                board.rows[row] = board.rows[row].or(cell);
                board.columns[column] = board.columns[column].or(cell);
                let block = row / 3 * 3 + column / 3;
                board.boxes[block] = board.boxes[block].or(cell);
            }
        }
        board
    }

    /// Fills in the singles of each box. Returns the digits that were found in any.
    #[inline(always)]
    fn sweep(&mut self) -> V {
        let mut found = V::splat(0);
        for block in DIAGONALS {
            let (row, column) = (block / 3 * 3, block % 3 * 3);
            let mut cells = [V::splat(0); 9];
            for k in 0..9 {
                let (row, column) = (row + k / 3, column + k % 3);
                let known = self.rows[row].or(self.boxes[block]).or(self.columns[column]);
                cells[k] = self.cells[9 * row + column].zeros().and_not(known);
            }
            // In one of three cells and in no other, and that in one of three rows.
            let (a, twice_a) = once_twice(cells[0], cells[1], cells[2]);
            let (b, twice_b) = once_twice(cells[3], cells[4], cells[5]);
            let (c, twice_c) = once_twice(cells[6], cells[7], cells[8]);
            let (once, twice) = once_twice(a, b, c);
            let hidden = once.and_not(twice).and_not(or3(twice_a, twice_b, twice_c));
            for k in 0..9 {
                let naked = cells[k].and(cells[k].minus_one()).zeros();
                cells[k] = cells[k].and(hidden.or(naked));
                let place = &mut self.cells[9 * (row + k / 3) + column + k % 3];
                *place = place.or(cells[k]);
            }
            let mut all = V::splat(0);
            for k in 0..3 {
                let of_row = or3(cells[3 * k], cells[3 * k + 1], cells[3 * k + 2]);
                let of_column = or3(cells[k], cells[k + 3], cells[k + 6]);
                self.rows[row + k] = self.rows[row + k].or(of_row);
                self.columns[column + k] = self.columns[column + k].or(of_column);
                all = all.or(of_row);
            }
            self.boxes[block] = self.boxes[block].or(all);
            found = found.or(all);
        }
        found
    }

    /// The lanes in which all houses have all digits.
    #[inline(always)]
    fn solved(&self) -> u32 {
        let mut all = V::splat(u16::MAX);
        for k in 0..9 {
            all = all.and(self.rows[k]).and(self.columns[k]).and(self.boxes[k]);
        }
        V::splat(u16::MAX).and_not(all).zero_lanes()
    }

    /// The lanes in which no cell has two digits, as one has that two of them need.
    #[inline(always)]
    fn without_doubles(&self) -> u32 {
        let mut doubles = V::splat(0);
        for &cell in &self.cells {
            // A blank has no digit to take away.
            doubles = doubles.or(cell.and(cell.minus_one()));
        }
        doubles.zero_lanes()
    }
}
