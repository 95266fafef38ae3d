//! Minimal puzzles: those of which no clue can be spared.

use super::row_job::BATCH_PUZZLES;
use super::{Cancel, Cancelled};
use crate::solver::{Batch, Limit, Search, Solver, Stop};

/// A clue of a batch: the index of its puzzle, and its cell.
type Clue = (usize, usize);

/// For each puzzle of a batch that was searched, whether it has one solution and would have more
/// without any one of its clues. `None` if it has not one solution, or if that was given up: the
/// searches for all clues of a puzzle share the nodes of `limit`, and the time of a puzzle where
/// puzzles are searched one by one. These shares depend on no other puzzle.
///
/// # Errors
/// [`Cancelled`] if `cancel` was raised.
pub(super) fn are_minimal(
    solver: &mut dyn Solver,
    searches_together: bool,
    batch: &Batch,
    limit: &Limit<'_>,
    cancel: &dyn Cancel,
) -> Result<Vec<Option<bool>>, Cancelled> {
    let single = |search: &Search| search.solutions == 1 && search.stop == Stop::Exhausted;
    let known: Vec<_> = batch.searches().iter().map(|search| single(search).then_some(true)).collect();
    if !known.contains(&Some(true)) {
        return Ok(known);
    }
    let is_by_puzzle = cancel.is_by_puzzle() && !searches_together;
    if is_by_puzzle {
        debug_assert_eq!(batch.len(), 1);
        cancel.begin();
    }
    let at_once = if searches_together { BATCH_PUZZLES } else { 1 };
    let mut work = MinimalSearch { solver, batch, at_once, known };
    let result = work.run(limit);
    let is_given_up = is_by_puzzle && cancel.end();
    match result {
        Err(Cancelled) if is_given_up => Ok(vec![None; batch.len()]),
        Err(Cancelled) => Err(Cancelled),
        Ok(()) => Ok(work.known),
    }
}

/// The searches for the puzzles of a batch without one of their clues.
struct MinimalSearch<'a> {
    solver: &'a mut dyn Solver,
    batch: &'a Batch,
    /// How many are searched together.
    at_once: usize,
    /// What is known so far: a puzzle is taken to be minimal until a clue can be spared.
    known: Vec<Option<bool>>,
}

impl MinimalSearch<'_> {
    /// Searches without each clue. A few nodes nearly always tell, so all clues share half of the
    /// nodes of the limit, and those for which these do not tell share the other half.
    fn run(&mut self, limit: &Limit<'_>) -> Result<(), Cancelled> {
        let cells = self.batch.order().cells();
        let mut clues = Vec::new();
        for puzzle in (0..self.batch.len()).filter(|&puzzle| self.known[puzzle].is_some()) {
            let digits = self.batch.puzzle(puzzle);
            clues.extend((0..cells).filter(|&cell| digits[cell] != 0).map(|cell| (puzzle, cell)));
        }
        let open = self.search_without(&clues, limit, 2 * cells)?;
        for open in open.chunk_by(|(one, _), (next, _)| one == next) {
            let given_up = self.search_without(open, limit, 2 * open.len())?;
            if let Some(&(puzzle, _)) = given_up.first() {
                self.known[puzzle] = None;
            }
        }
        Ok(())
    }

    /// Searches without each of these clues, each with one in `shares` of the nodes of the limit.
    /// Returns those whose search was given up, but not of puzzles of which another clue can be
    /// spared.
    fn search_without(
        &mut self,
        clues: &[Clue],
        limit: &Limit<'_>,
        shares: usize,
    ) -> Result<Vec<Clue>, Cancelled> {
        let limit = Limit { solutions: 2, nodes: limit.nodes.div_ceil(shares as u64), ..*limit };
        let mut spared = Batch::with_capacity(self.batch.order(), clues.len().min(self.at_once));
        let mut given_up = Vec::new();
        for clues in clues.chunks(self.at_once) {
            spared.clear();
            let of_interest = |(puzzle, _): &&Clue| self.known[*puzzle] == Some(true);
            let clues: Vec<Clue> = clues.iter().filter(of_interest).copied().collect();
            for &(puzzle, cell) in &clues {
                spared.push_up_to(1, |cells| {
                    cells.copy_from_slice(self.batch.puzzle(puzzle));
                    cells[cell] = 0;
                    1
                });
            }
            self.solver.search_batch(&mut spared, &limit);
            for (&(puzzle, cell), search) in clues.iter().zip(spared.searches()) {
                match (search.stop, search.solutions) {
                    (Stop::Cancelled, _) => return Err(Cancelled),
                    (_, 2..) => {}
                    (Stop::Nodes, _) => given_up.push((puzzle, cell)),
                    _ => self.known[puzzle] = Some(false),
                }
            }
        }
        given_up.retain(|(puzzle, _)| self.known[*puzzle] == Some(true));
        Ok(given_up)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PerPuzzleCancel;
    use super::*;
    use crate::grid::Grid;
    use crate::solver::{Propagation, Strategy as _};

    const PUZZLE: &str = ".1....2.3..4....";

    /// Finds a second solution of every puzzle but those in which one of these cells is blank: such a
    /// puzzle takes `cost` nodes more.
    struct Weary<'a> {
        hard: &'a [usize],
        cost: u64,
        /// What all searches took.
        nodes: u64,
        /// Called before each search.
        interrupt: &'a (dyn Fn() + Sync),
    }

    impl Solver for Weary<'_> {
        fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, _: &mut Grid) -> Search {
            (self.interrupt)();
            if limit.is_cancelled() {
                return Search::CANCELLED;
            }
            let is_hard = self.hard.iter().any(|&cell| puzzle.digits()[cell] == 0);
            let nodes = 1 + if is_hard { self.cost } else { 0 };
            self.nodes += nodes.min(limit.nodes);
            let (solutions, stop) = if nodes > limit.nodes { (0, Stop::Nodes) } else { (2, Stop::Solutions) };
            Search { solutions, stop, ..Search::NO_SOLUTION }
        }
    }

    /// Whether [`PUZZLE`] is minimal as far as this solver can tell.
    fn is_minimal(
        solver: &mut Weary<'_>,
        nodes: u64,
        cancel: &dyn Cancel,
    ) -> Result<Option<bool>, Cancelled> {
        let puzzle: Grid = PUZZLE.parse().unwrap();
        let mut batch = Batch::new(puzzle.order());
        batch.push(&puzzle);
        let limit = Limit { solutions: 2, nodes, cancel: cancel.flag() };
        Propagation.solver(puzzle.order()).search_batch(&mut batch, &limit);
        are_minimal(solver, false, &batch, &limit, cancel).map(|known| known[0])
    }

    #[test]
    fn the_clues_of_a_puzzle_share_its_nodes() {
        let cancel = PerPuzzleCancel::default();
        let weary = |hard, cost| Weary { hard, cost, nodes: 0, interrupt: &|| () };
        // The cells of the clues are 1, 6, 8 and 11.
        for (hard, cost, known, most) in [
            (&[][..], 0, Some(true), 4),
            (&[6], 4_000, Some(true), 10_000),
            (&[6, 8], 2_000, Some(true), 10_000),
            (&[6, 8], 4_000, None, 10_000),
            (&[1, 6, 8, 11], 1_000_000, None, 10_000),
        ] {
            let mut solver = weary(hard, cost);
            assert_eq!(is_minimal(&mut solver, 10_000, &cancel), Ok(known), "{hard:?} {cost}");
            assert!(solver.nodes <= most, "{} nodes", solver.nodes);
        }
    }

    #[test]
    fn the_clues_of_a_puzzle_share_its_time() {
        let cancel = PerPuzzleCancel::default();
        let give_up = || cancel.give_up(cancel.on_hand().unwrap_or(0));
        let mut solver = Weary { hard: &[], cost: 0, nodes: 0, interrupt: &give_up };
        assert_eq!(is_minimal(&mut solver, 1_000, &cancel), Ok(None));
        assert_eq!(solver.nodes, 0);
        assert_eq!(cancel.on_hand(), None);
        let mut solver = Weary { interrupt: &|| cancel.cancel(), ..solver };
        assert_eq!(is_minimal(&mut solver, 1_000, &cancel), Err(Cancelled));
    }
}
