//! Taking clues out of a full grid while the solution stays single.
//!
//! Orbits of cells, single ones where no symmetry is asked for, are taken out in a random order, one after another; one
//! whose removal would bring in a second solution stays. That is the definition, and what comes out. The way there is
//! shorter: a puzzle with fewer clues never has fewer solutions, so several orbits in a row can be tried at once. If the
//! solution is still single, each of them could have gone by itself; if it is not, halves of them are tried, until the one
//! that has to stay is found.
//!
//! One test depends on the one before it, but puzzles do not depend on each other: what is tested together is one removal
//! of each of many puzzles.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

/// What was found of a puzzle with fewer clues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Soundness {
    /// The solution is single, and the puzzle not too hard.
    Sound,
    /// One of the two fails.
    Unsound,
    /// It would have taken too long to find out.
    Undecided,
}

/// A puzzle on its way down.
pub(super) struct ClueRemoval {
    /// The clues that are left.
    pub(super) puzzle: Vec<u8>,
    /// How many.
    pub(super) clues: usize,
    /// Did a clue stay because a test was not decided?
    pub(super) is_undecided: bool,
    /// The orbits in the order in which they are tried, and the first that is not decided.
    sequence: Vec<u16>,
    at: usize,
    /// What is tried now ends here.
    end: usize,
    /// All up to here are known not to be removable together.
    fails: Option<usize>,
    /// How many orbits to try next while nothing is known of them.
    step: usize,
    /// No fewer clues than these are wanted.
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
        // Of a random third of the clues there is seldom one that has to stay.
        self.step = orbits.len().div_ceil(3);
        self.least = least;
    }

    /// Appends the next puzzle to be tested to `out`. False if there is none any more.
    pub(super) fn propose(&mut self, orbits: &[Vec<usize>], out: &mut Vec<u8>) -> bool {
        if self.fails == Some(self.at + 1) {
            // Known without a test.
            self.keep();
        }
        let size = |orbit: u16| orbits[usize::from(orbit)].len();
        // Clues become only fewer, so what does not fit now never will.
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

    /// The next orbit has to stay. If something was known not to be removable, this is why: nothing is known any more.
    const fn keep(&mut self) {
        self.at += 1;
        self.fails = None;
        self.step = 1;
    }

    /// Blanks what is tried now. Returns the number of clues left.
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

    /// Takes note of what was found of the puzzle proposed last.
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
            // Nothing follows for its parts from what could not be decided of the whole.
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
    use crate::generate::Symmetry;
    use crate::generate::full_grid::{base, disguise};
    use crate::grid::{Grid, Order};
    use crate::solver::{Limit, Propagation, Strategy as _};

    /// What is left when orbits go one by one, in the same order.
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
            let solution = disguise(order, &base(order), &mut random);
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
