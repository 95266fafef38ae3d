//! Counting of solutions, which the strategies that search one puzzle at a time share.

use super::watch::Watch;
use super::{Limit, Stop};
use crate::grid::Grid;

impl Limit<'_> {
    /// Counts a solution that a search has found, and reports it. `write` writes it into `first`, and
    /// is only called for a solution that is [kept](Self::keeps_solution).
    ///
    /// # Errors
    /// The reason why the search stops.
    #[inline(always)]
    pub(super) fn count_solution<W: Watch>(
        &self,
        solutions: &mut u64,
        first: &mut Grid,
        watch: &mut W,
        write: impl FnOnce(&mut Grid),
    ) -> Result<(), Stop> {
        if Self::keeps_solution::<W>(*solutions) {
            write(first);
        }
        self.count_written_solution(solutions, first.digits(), watch)
    }

    /// Whether the solution that follows after so many is written: the first one, and for a watch that
    /// wants all of them the others too.
    #[inline(always)]
    pub(super) const fn keeps_solution<W: Watch>(solutions: u64) -> bool {
        solutions == 0 || W::WANTS_SOLUTIONS
    }

    /// [`count_solution`](Self::count_solution) of one whose digits are written already, for searches
    /// whose vectors need the instructions of their caller: a closure is compiled without these.
    ///
    /// # Errors
    /// The reason why the search stops.
    #[inline(always)]
    pub(super) fn count_written_solution<W: Watch>(
        &self,
        solutions: &mut u64,
        written: &[u8],
        watch: &mut W,
    ) -> Result<(), Stop> {
        *solutions += 1;
        watch.solved();
        if W::WANTS_SOLUTIONS {
            watch.solution(written);
            if watch.is_over() {
                return Err(Stop::Cancelled);
            }
        }
        if *solutions >= self.solutions { Err(Stop::Solutions) } else { Ok(()) }
    }
}
