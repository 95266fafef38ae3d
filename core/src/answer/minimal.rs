//! Minimal puzzles: those of which no clue can be spared.

use super::Cancelled;
use crate::solver::{Batch, Limit, Solver, Stop};

/// The puzzles without one of their clues that are searched together.
const AT_ONCE: usize = 8192;

/// For each puzzle of a batch that was searched, whether it has one solution and would have more
/// without any one of its clues. `None` if it has not one solution, or if a search was given up.
///
/// # Errors
/// [`Cancelled`] if the flag of the limit was raised.
pub(super) fn are_minimal(
    solver: &mut dyn Solver,
    batch: &Batch,
    limit: &Limit<'_>,
) -> Result<Vec<Option<bool>>, Cancelled> {
    let limit = Limit { solutions: 2, ..*limit };
    let single = |search: &crate::solver::Search| search.solutions == 1 && search.stop == Stop::Exhausted;
    let mut known: Vec<Option<bool>> =
        batch.searches().iter().map(|search| single(search).then_some(true)).collect();
    let mut spared = Batch::with_capacity(batch.order(), AT_ONCE);
    // The puzzles from which those in `spared` come.
    let mut origins = Vec::with_capacity(AT_ONCE);
    let mut search = |spared: &mut Batch, origins: &mut Vec<usize>, known: &mut Vec<Option<bool>>| {
        solver.search_batch(spared, &limit);
        for (&origin, search) in origins.iter().zip(spared.searches()) {
            match (search.stop, search.solutions) {
                (Stop::Cancelled, _) => return Err(Cancelled),
                (_, 2..) => {}
                (Stop::Nodes, _) if known[origin] == Some(true) => known[origin] = None,
                (Stop::Nodes, _) => {}
                _ => known[origin] = Some(false),
            }
        }
        spared.clear();
        origins.clear();
        Ok(())
    };
    for origin in 0..batch.len() {
        if known[origin].is_none() {
            continue;
        }
        let puzzle = batch.puzzle(origin);
        for cell in (0..puzzle.len()).filter(|&cell| puzzle[cell] != 0) {
            if spared.len() == AT_ONCE {
                search(&mut spared, &mut origins, &mut known)?;
            }
            spared.push_up_to(1, |cells| {
                cells.copy_from_slice(puzzle);
                cells[cell] = 0;
                1
            });
            origins.push(origin);
        }
    }
    search(&mut spared, &mut origins, &mut known)?;
    Ok(known)
}
