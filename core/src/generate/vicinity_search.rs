//! 9x9 puzzles with very few clues, by walking from puzzle to puzzle.
//!
//! Taking clues out of full grids ends at 24 or 25 of them, and hardly ever at 20. But puzzles with few clues have others
//! like them nearby. So from where the removals ended a walk begins. In each step one clue is taken away and another one,
//! anywhere and of any value, put in, in a few thousand ways that are searched together. Those with a single solution are
//! neighbours, and if one of them has a clue that it can spare, the walk has come down by one; else it goes on from any of
//! them. The solution may change on the way.
//!
//! Looking for puzzles with 17 clues in the neighbourhood of others is what the collectors of the Players' Forum did
//! (G. Royle's list and after it); theirs is the name "vicinity search".

use std::sync::atomic::AtomicBool;

use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

use super::full_grid::{Houses, any_digit};
use crate::answer::Cancelled;
use crate::grid::Order;
use crate::solver::{Batch, DEFAULT_NODE_LIMIT, Limit, Question, Solver, Stop, Verdict};

/// Ways to exchange a clue that are tried in a step.
const EXCHANGES: usize = 4096;

/// Neighbours of a step that are searched for clues to spare.
const NEIGHBOURS: usize = 64;

/// The steps of a walk. One that has come no further after them had better begin elsewhere.
const STEPS: usize = 64;

/// Walks from puzzle to puzzle.
pub(super) struct VicinitySearch<'a> {
    pub(super) solver: &'a mut dyn Solver,
    pub(super) cancel: &'a AtomicBool,
    pub(super) batch: Batch,
}

impl VicinitySearch<'_> {
    /// A puzzle with `wanted` clues, or one less where it has to be passed by, in the neighbourhood of `puzzle`; with
    /// `is_minimal` one that can spare none. `None` if the walk did not come there.
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
                // Where minimal ones are wanted: those from which no clue can be spared.
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
        let mut houses = Houses::of(Order::NINE, here);
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

    /// Of each puzzle those with one clue less that still have a single solution.
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
