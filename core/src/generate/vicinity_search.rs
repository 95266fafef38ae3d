//! Vicinity search: 9x9 puzzles with very few clues, by a walk from puzzle to puzzle.
//!
//! Removing clues from full grids ends at 24 or 25 of them, and hardly ever at 20. But puzzles with
//! few clues have similar ones nearby. So a walk begins where the removals ended. Each step
//! exchanges one clue for another, of any cell and value, in a few thousand ways that are searched
//! together. Those with a single solution are neighbours. If one of them has a removable clue, the
//! walk has come down by one; else it continues from any of them. The solution may change on the
//! way.
//!
//! Collectors of 17-clue puzzles in the Players' Forum searched the neighbourhood of known ones (G.
//! Royle's list and its successors) and named it "vicinity search".

use std::sync::atomic::AtomicBool;

use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

use super::full_grid::{HouseDigits, any_digit};
use crate::answer::Cancelled;
use crate::grid::Order;
use crate::solver::{Batch, DEFAULT_NODE_LIMIT, Limit, Question, Solver, Stop, Verdict};

/// The exchanges of a clue that are tried in a step.
const EXCHANGES: usize = 4096;

/// The neighbours of a step that are searched for removable clues.
const NEIGHBOURS: usize = 64;

/// The steps without progress after which a walk is given up, because a new one elsewhere is
/// faster.
const STEPS: usize = 64;

/// A walk from puzzle to puzzle.
pub(super) struct VicinitySearch<'a> {
    pub(super) solver: &'a mut dyn Solver,
    pub(super) cancel: &'a AtomicBool,
    pub(super) batch: Batch,
}

impl VicinitySearch<'_> {
    /// A puzzle with `wanted` clues in the vicinity of `puzzle`, with `is_minimal` one without a
    /// removable clue. `None` if the walk did not reach one.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(super) fn run(
        &mut self,
        puzzle: &[u8],
        wanted: usize,
        is_minimal: bool,
        random: &mut ChaCha8Rng,
    ) -> Result<Option<Vec<u8>>, Cancelled> {
        let mut here = puzzle.to_vec();
        let mut steps_left = STEPS;
        while steps_left > 0 {
            steps_left -= 1;
            let mut neighbours = self.neighbours(&here, random)?;
            neighbours.truncate(NEIGHBOURS);
            let mut spared = self.spare(&neighbours)?;
            let clues = count(&here);
            if clues == wanted {
                // Reached only for minimal puzzles: those without a removable clue.
                let minimal = neighbours.iter().zip(&spared).find(|(_, spared)| spared.is_empty());
                if let Some((minimal, _)) = minimal {
                    return Ok(Some(minimal.clone()));
                }
            }
            spared.retain(|spared| !spared.is_empty());
            if clues > wanted
                && let Some(fewer) = spared.pop().and_then(|mut fewer| fewer.pop())
            {
                here = fewer;
                steps_left = STEPS;
                if clues - 1 == wanted && (!is_minimal || self.is_minimal(&here)?) {
                    return Ok(Some(here));
                }
            } else if let Some(neighbour) = neighbours.pop() {
                here = neighbour;
            }
        }
        Ok(None)
    }

    /// Puzzles with one clue exchanged for another, in random order.
    fn neighbours(&mut self, here: &[u8], random: &mut ChaCha8Rng) -> Result<Vec<Vec<u8>>, Cancelled> {
        let clues: Vec<usize> = (0..here.len()).filter(|&cell| here[cell] != 0).collect();
        let mut houses = HouseDigits::of(Order::NINE, here);
        self.batch.clear();
        self.batch.push_many(|out| {
            for _ in 0..EXCHANGES {
                let from = clues[random.random_range(0..clues.len())];
                let to = random.random_range(0..here.len());
                houses.flip(from, here[from]);
                let free = houses.free(to);
                if here[to] == 0 && free != 0 {
                    let begin = out.len();
                    out.extend_from_slice(here);
                    out[begin + from] = 0;
                    out[begin + to] = any_digit(free, random);
                }
                houses.flip(from, here[from]);
            }
        });
        let mut found = self.single()?;
        found.shuffle(random);
        Ok(found.into_iter().map(|index| self.batch.puzzle(index).to_vec()).collect())
    }

    /// For each puzzle, those with one clue less that still have a single solution.
    fn spare(&mut self, puzzles: &[Vec<u8>]) -> Result<Vec<Vec<Vec<u8>>>, Cancelled> {
        let mut owners = Vec::new();
        self.batch.clear();
        self.batch.push_many(|out| {
            for (owner, puzzle) in puzzles.iter().enumerate() {
                for cell in (0..puzzle.len()).filter(|&cell| puzzle[cell] != 0) {
                    let begin = out.len();
                    out.extend_from_slice(puzzle);
                    out[begin + cell] = 0;
                    owners.push(owner);
                }
            }
        });
        let mut spared = vec![Vec::new(); puzzles.len()];
        for index in self.single()? {
            spared[owners[index]].push(self.batch.puzzle(index).to_vec());
        }
        Ok(spared)
    }

    fn is_minimal(&mut self, puzzle: &[u8]) -> Result<bool, Cancelled> {
        Ok(self.spare(&[puzzle.to_vec()])?.concat().is_empty())
    }

    /// The puzzles of the batch that have a single solution.
    fn single(&mut self) -> Result<Vec<usize>, Cancelled> {
        let limit = Limit { solutions: 2, nodes: DEFAULT_NODE_LIMIT, cancel: self.cancel };
        self.solver.search_batch(&mut self.batch, &limit);
        let searches = self.batch.searches();
        if searches.iter().any(|search| search.stop == Stop::Cancelled) {
            return Err(Cancelled);
        }
        let is_single = |index: &usize| Question::Unique.verdict(&searches[*index]) == Verdict::Solved;
        Ok((0..searches.len()).filter(is_single).collect())
    }
}

fn count(puzzle: &[u8]) -> usize {
    puzzle.iter().filter(|&&clue| clue != 0).count()
}
