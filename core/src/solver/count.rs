//! Counting of solutions, which the strategies that search one puzzle at a time share.

use super::watch::Watch;
use super::{Limit, Stop};
use crate::grid::Grid;

/// The cells that a search writes a solution into.
pub(super) trait SolutionCells {
    /// The digits, in reading order.
    fn digits(&self) -> &[u8];
}

impl SolutionCells for Grid {
    fn digits(&self) -> &[u8] {
        Self::digits(self)
    }
}

impl SolutionCells for [u8; 81] {
    fn digits(&self) -> &[u8] {
        self
    }
}

impl Limit<'_> {
    /// Counts a solution that a search has found, and reports it. `write` writes it into `first`,
    /// and is only called for the first solution and for a watch that wants all of them.
    ///
    /// # Errors
    /// The reason why the search stops.
    #[inline(always)]
    pub(super) fn count_solution<C: SolutionCells, W: Watch>(
        &self,
        solutions: &mut u64,
        first: &mut C,
        watch: &mut W,
        write: impl FnOnce(&mut C),
    ) -> Result<(), Stop> {
        *solutions += 1;
        watch.solved();
        if *solutions == 1 || W::WANTS_SOLUTIONS {
            write(first);
        }
        if W::WANTS_SOLUTIONS {
            watch.solution(first.digits());
            if watch.is_over() {
                return Err(Stop::Cancelled);
            }
        }
        if *solutions >= self.solutions { Err(Stop::Solutions) } else { Ok(()) }
    }
}
