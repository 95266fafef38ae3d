//! Removal of clues from a full grid while the solution stays single.
//!
//! By definition, orbits of cells (single cells without a symmetry) are removed one after another
//! in a random order, and one whose removal would add a second solution stays. The result is the
//! same with fewer tests: a puzzle with fewer clues never has fewer solutions, so several orbits in
//! a row can be tried at once. If the solution is still single, all of them can go; if not, halves
//! of them are tried until the one that must stay is found.
//!
//! A test depends on the one before it, but puzzles are independent: one removal of each of many
//! puzzles is tested at once.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

/// The result of a test of a puzzle with fewer clues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Soundness {
    /// The solution is single, and the puzzle not too hard.
    Sound,
    /// Several solutions, or too hard.
    Unsound,
    /// The test reached its node limit.
    Undecided,
}

/// The removal of clues from one puzzle.
pub(super) struct ClueRemoval {
    /// The clues that are left.
    pub(super) puzzle: Vec<u8>,
    /// Their number.
    pub(super) clues: usize,
    /// Whether a clue stayed because its test was undecided.
    pub(super) is_undecided: bool,
    /// The orbits in the order in which they are tried, and the index of the first undecided one.
    sequence: Vec<u16>,
    at: usize,
    /// The end of the orbits that are being tried.
    end: usize,
    /// All orbits up to here are known not to be removable together.
    fails: Option<usize>,
    /// The number of orbits to try next while nothing is known about them.
    step: usize,
    /// The fewest clues to keep.
    least: usize,
}

impl ClueRemoval {
    pub(super) const fn new() -> Self {
        Self {
            puzzle: Vec::new(),
            clues: 0,
            is_undecided: false,
            sequence: Vec::new(),
            at: 0,
            end: 0,
            fails: None,
            step: 1,
            least: 0,
        }
    }

    /// Begins with a full grid.
    pub(super) fn begin(
        &mut self,
        solution: &[u8],
        orbits: &[Vec<usize>],
        least: usize,
        random: &mut ChaCha8Rng,
    ) {
        self.puzzle.clear();
        self.puzzle.extend_from_slice(solution);
        self.clues = solution.len();
        self.is_undecided = false;
        self.sequence.clear();
        // There are at most 625.
        self.sequence.extend((0..=u16::MAX).take(orbits.len()));
        self.sequence.shuffle(random);
        self.at = 0;
        self.end = 0;
        self.fails = None;
        // A random third of the clues seldom contains one that must stay.
        self.step = orbits.len().div_ceil(3);
        self.least = least;
    }

    /// Appends the next puzzle to test to `out`. Returns false if there is none.
    pub(super) fn propose(&mut self, orbits: &[Vec<usize>], out: &mut Vec<u8>) -> bool {
        if self.fails == Some(self.at + 1) {
            // Known without a test.
            self.keep();
        }
        let size = |orbit: u16| orbits[usize::from(orbit)].len();
        // The number of clues only falls, so an orbit that is too large now always will be.
        while self.at < self.sequence.len() && self.clues - size(self.sequence[self.at]) < self.least {
            self.advance(self.at + 1);
        }
        if self.at >= self.sequence.len() {
            return false;
        }
        let step = self.fails.map_or(self.step, |fails| (fails - self.at) / 2).max(1);
        self.end = (self.at + step).min(self.sequence.len());
        let begin = out.len();
        out.extend_from_slice(&self.puzzle);
        self.remove(orbits, &mut out[begin..]);
        true
    }

    fn advance(&mut self, to: usize) {
        self.at = to;
        self.fails = self.fails.filter(|&fails| fails > to);
    }

    /// Keeps the next orbit. It is the reason for `fails`, if that was known, so nothing is known
    /// after it.
    const fn keep(&mut self) {
        self.at += 1;
        self.fails = None;
        self.step = 1;
    }

    /// Blanks the orbits that are being tried. Returns the number of clues left.
    fn remove(&self, orbits: &[Vec<usize>], digits: &mut [u8]) -> usize {
        let mut clues = self.clues;
        for &orbit in &self.sequence[self.at..self.end] {
            let cells = &orbits[usize::from(orbit)];
            if clues - cells.len() >= self.least {
                for &cell in cells {
                    digits[cell] = 0;
                }
                clues -= cells.len();
            }
        }
        clues
    }

    /// Applies the result of the puzzle proposed last.
    pub(super) fn learn(&mut self, orbits: &[Vec<usize>], soundness: Soundness) {
        let is_single = self.end == self.at + 1;
        match soundness {
            Soundness::Sound => {
                let mut puzzle = std::mem::take(&mut self.puzzle);
                self.clues = self.remove(orbits, &mut puzzle);
                self.puzzle = puzzle;
                self.advance(self.end);
                self.step = self.step.div_ceil(3);
            }
            // An undecided test of several orbits implies nothing for some of them.
            Soundness::Undecided if !is_single => {
                self.step = (self.end - self.at) / 2;
                self.fails = None;
            }
            Soundness::Unsound | Soundness::Undecided if is_single => {
                self.is_undecided |= soundness == Soundness::Undecided;
                self.keep();
            }
            Soundness::Unsound | Soundness::Undecided => self.fails = Some(self.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use rand::SeedableRng as _;

    use super::*;
    use crate::canon::Disguise;
    use crate::generate::Symmetry;
    use crate::generate::full_grid::base;
    use crate::grid::{Grid, Order};
    use crate::solver::{Limit, Propagation, Strategy as _};

    /// The puzzle that is left when orbits are removed one by one, in the same order.
    fn one_by_one(
        solution: &[u8],
        sequence: &[u16],
        orbits: &[Vec<usize>],
        least: usize,
        mut is_sound: impl FnMut(&[u8]) -> bool,
    ) -> Vec<u8> {
        let mut puzzle = solution.to_vec();
        for &orbit in sequence {
            let mut fewer = puzzle.clone();
            orbits[usize::from(orbit)].iter().for_each(|&cell| fewer[cell] = 0);
            if fewer.iter().filter(|&&clue| clue != 0).count() >= least && is_sound(&fewer) {
                puzzle = fewer;
            }
        }
        puzzle
    }

    #[test]
    fn trying_several_at_once_comes_to_the_same_as_one_by_one() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let cancel = AtomicBool::new(false);
        let (mut tests, mut cells) = (0, 0);
        for case in 0..120 {
            let order = Order::ALL[[1, 2, 2][case % 3]];
            let (_, symmetry) = Symmetry::ALL[case % Symmetry::ALL.len()];
            let orbits = symmetry.orbits(order);
            let least = [0, 26, 41][case % 5 % 3];
            let mut solver = Propagation.solver(order);
            let mut is_sound = |digits: &[u8]| {
                let limit = Limit { solutions: 2, nodes: 100_000, cancel: &cancel };
                let puzzle = Grid::from_digits(order, digits);
                solver.search(&puzzle, &limit, &mut Grid::empty(order)).solutions == 1
            };
            let mut solution = base(order);
            Disguise::draw(order, &mut random).apply_to(&base(order), &mut solution);
            let mut removal = ClueRemoval::new();
            removal.begin(&solution, &orbits, least, &mut random);
            let sequence = removal.sequence.clone();
            let mut proposed = Vec::new();
            while removal.propose(&orbits, &mut proposed) {
                assert_eq!(proposed.len(), order.cells());
                let soundness = if is_sound(&proposed) { Soundness::Sound } else { Soundness::Unsound };
                removal.learn(&orbits, soundness);
                proposed.clear();
                tests += 1;
            }
            cells += sequence.len();
            let wanted = one_by_one(&solution, &sequence, &orbits, least, is_sound);
            assert_eq!(removal.puzzle, wanted, "case {case}");
            assert_eq!(removal.clues, wanted.iter().filter(|&&clue| clue != 0).count());
            assert!(!removal.is_undecided);
        }
        assert!(tests < cells * 2 / 3, "{tests} tests of {cells} orbits: hardly fewer than one by one");
    }

    #[test]
    fn what_is_not_decided_stays() {
        let order = Order::ALL[1];
        let orbits = Symmetry::None.orbits(order);
        let solution = base(order);
        let mut removal = ClueRemoval::new();
        removal.begin(&solution, &orbits, 0, &mut ChaCha8Rng::seed_from_u64(6));
        let mut proposed = Vec::new();
        let mut tests = 0;
        while removal.propose(&orbits, &mut proposed) {
            removal.learn(&orbits, Soundness::Undecided);
            proposed.clear();
            tests += 1;
        }
        assert!(removal.is_undecided && tests >= orbits.len(), "each is tried by itself");
        assert_eq!(removal.puzzle, solution);
    }
}
