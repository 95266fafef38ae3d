//! The last steps of a trace, to look at again.

use std::collections::VecDeque;

use sudoku_stream::grid::Grid;
use sudoku_stream::solver::Step;

/// The most steps that are kept: some 6 MB of 25x25 grids.
const MAX_FRAMES: usize = 10_000;

/// The bit of a cell that holds a guess. Digits end at 25.
const GUESS: u8 = 0x80;

/// The grid after a step.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The number of the step; 0 is the puzzle itself.
    pub number: u64,
    pub step: Option<Step>,
    /// The digit of each cell, with the mark of guesses.
    cells: Vec<u8>,
}

impl Frame {
    /// The digit of a cell, 0 for a blank.
    pub fn digit(&self, cell: usize) -> u8 {
        self.cells[cell] & !GUESS
    }

    /// Whether a cell holds a guess.
    pub fn is_guess(&self, cell: usize) -> bool {
        self.cells[cell] & GUESS != 0
    }
}

/// The last steps, and which of them is shown.
pub struct History {
    frames: VecDeque<Frame>,
    most: usize,
    /// The frames after the one that is shown.
    behind: usize,
    /// The cells that hold a guess, or did.
    guesses: Vec<bool>,
}

impl History {
    /// A history that begins with the puzzle.
    pub fn new(puzzle: &Grid) -> Self {
        Self::of_most(puzzle, MAX_FRAMES)
    }

    fn of_most(puzzle: &Grid, most: usize) -> Self {
        let first = Frame { number: 0, step: None, cells: puzzle.digits().to_vec() };
        let guesses = vec![false; puzzle.order().cells()];
        Self { frames: VecDeque::from([first]), most, behind: 0, guesses }
    }

    /// Adds a step with the grid after it, and shows it. The oldest is forgotten for it.
    pub fn push(&mut self, number: u64, step: Step, grid: &Grid) {
        if let Step::Place { cell, is_guess, .. } = step {
            self.guesses[cell.index()] = is_guess;
        }
        let forgotten = if self.frames.len() >= self.most { self.frames.pop_front() } else { None };
        let mut cells = forgotten.map_or_else(Vec::new, |frame| frame.cells);
        cells.clear();
        let mark =
            |(&digit, &is_guess): (&u8, &bool)| if is_guess && digit > 0 { digit | GUESS } else { digit };
        cells.extend(grid.digits().iter().zip(&self.guesses).map(mark));
        self.frames.push_back(Frame { number, step: Some(step), cells });
        self.behind = 0;
    }

    /// The frame that is shown.
    pub fn shown(&self) -> &Frame {
        // There is always one, the puzzle at first.
        &self.frames[self.frames.len() - 1 - self.behind]
    }

    /// Shows the step before. False if it is not kept.
    pub fn back(&mut self) -> bool {
        let is_kept = self.behind + 1 < self.frames.len();
        self.behind += usize::from(is_kept);
        is_kept
    }

    /// Shows the step after. False if the search has not got there yet.
    pub const fn forward(&mut self) -> bool {
        let is_known = self.behind > 0;
        self.behind -= is_known as usize;
        is_known
    }

    /// Shows the last step.
    pub const fn show_last(&mut self) {
        self.behind = 0;
    }

    /// The number of steps after the one that is shown.
    pub const fn behind(&self) -> usize {
        self.behind
    }
}

#[cfg(test)]
mod tests {
    use sudoku_stream::grid::Order;

    use super::*;

    #[test]
    fn steps_are_shown_again_as_far_as_they_are_kept() {
        let order = Order::NINE;
        let mut grid = Grid::empty(order);
        let mut history = History::of_most(&grid, 4);
        assert!(!history.back() && !history.forward());
        for number in 1..=9 {
            let (cell, digit) = (order.cell_at(number), order.digit(number).unwrap());
            grid.set(cell, Some(digit));
            history.push(number as u64, Step::Place { cell, digit, is_guess: number % 2 == 1 }, &grid);
        }
        assert_eq!((history.shown().number, history.shown().digit(9)), (9, 9));
        assert!(history.shown().is_guess(9) && !history.shown().is_guess(8));
        // Four are kept: 6 to 9.
        for number in [8, 7, 6] {
            assert!(history.back());
            assert_eq!((history.shown().number, history.shown().digit(9)), (number, 0));
        }
        assert!(!history.back());
        assert_eq!(history.behind(), 3);
        assert!(history.forward());
        assert_eq!(history.shown().number, 7);
        history.show_last();
        assert_eq!(history.shown().number, 9);
        // A digit that is taken back is no guess any more.
        let cell = order.cell_at(9);
        grid.set(cell, None);
        history.push(10, Step::Backtrack { cell, digit: order.digit(9).unwrap() }, &grid);
        assert_eq!((history.shown().digit(9), history.shown().is_guess(9)), (0, false));
    }
}
