//! Boxes: one 9x9 puzzle in nine vectors, with a lane for each box.
//!
//! Vectors are used *inside* one puzzle, so it answers one puzzle, or a few, sooner than the kernel
//! of [`lanes`](super::lanes), which searches hundreds at once.
//!
//! A board is nine vectors, one for each cell of a box: the vector of row 1 and column 2 holds that
//! cell of all nine boxes, the set of its candidates as nine bits of a lane. `docs/kernel.md` draws
//! that, and tells why a puzzle takes as many nodes here as in the kernel, under any limit.
//!
//! # A pass
//! 1. **Naked singles**: taking the lowest candidate away leaves nothing. A minirow that holds one
//!    is the only one of its box that may hold the digit.
//! 2. **Permutations**: a digit goes into one minirow of each row of a band, each in another box,
//!    in six ways. A minirow that is in none of them cannot hold it. That is locked candidates in
//!    both directions. The same for minicolumns.
//! 3. **Hidden singles**: the only minirow and the only minicolumn of a digit in a box meet in its
//!    cell.
//!
//! Where passes change nothing, triads and full minirows are looked for, and if there are none
//! either, a guess is made: by the kernel's rule ([`LineGuess`]) for [`Fast`](super::Fast), which
//! uses either as it pays; by cells ([`CellGuess`]) for the strategy `boxes`, so that each guess is
//! a step to be shown.
//!
//! # Sources
//! Sets of digits in 16-bit lanes, permutations and triads are those of
//! [tdoku](https://github.com/t-dillon/tdoku) (T. Dillon, 2019), which works on one box and one
//! band after the other; here all boxes are done at once.
//!
//! # Cost
//! With AVX-512 the compiler makes one instruction of two or three. The board is copied at each
//! guess, 288 bytes.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod board;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod bytes;
mod guess;
#[cfg(target_arch = "aarch64")]
mod neon;
mod report;
mod search;
#[cfg(test)]
mod tests;
mod vector;

use self::guess::{CellGuess, GuessRule, LineGuess};
use self::search::Memory;
use self::vector::{BoxVector, VectorTask, Words};
use super::lanes::Backend;
use super::watch::{Watch, Watchable};
use super::{Limit, Search, Solver, Strategy};
use crate::grid::{Grid, Order};

/// The strategy `boxes`.
#[derive(Clone, Copy, Debug)]
pub struct Boxes;

impl Strategy for Boxes {
    fn name(&self) -> &'static str {
        "boxes"
    }

    fn summary(&self) -> &'static str {
        "one 9x9 puzzle in nine vector registers, a lane for each box"
    }

    fn short_summary(&self) -> &'static str {
        "nine boxes at once, 9x9 only"
    }

    fn supports(&self, order: Order) -> bool {
        order == Order::NINE
    }

    fn is_for_bulk(&self) -> bool {
        true
    }

    /// It searches as `fast` does.
    fn is_for_comparison(&self) -> bool {
        false
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        assert!(self.supports(order));
        Box::new(BoxSolver::new(Backend::best()))
    }
}

/// The solver of one thread.
pub(super) struct BoxSolver {
    backend: Backend,
    memory: Memory,
}

impl BoxSolver {
    /// A solver with the instructions of a back end.
    pub(super) fn new(backend: Backend) -> Self {
        Self { backend, memory: Memory::new() }
    }

    /// Searches a puzzle of 81 digits, 0 for a blank, with the guesses of the kernel. Nothing is
    /// told of them, so a watcher can count, but gets no steps.
    pub(super) fn search_as_lanes<W: Watch>(
        &mut self,
        puzzle: &[u8; 81],
        limit: &Limit<'_>,
        solution: &mut [u8; 81],
        watch: &mut W,
    ) -> Search {
        self.search_guessing::<LineGuess, W>(puzzle, limit, solution, watch)
    }

    /// The passes of inference since the solver was made.
    pub(super) const fn passes(&self) -> u64 {
        self.memory.passes
    }

    #[inline(always)]
    fn search_guessing<G: GuessRule, W: Watch>(
        &mut self,
        puzzle: &[u8; 81],
        limit: &Limit<'_>,
        solution: &mut [u8; 81],
        watch: &mut W,
    ) -> Search {
        let memory = &mut self.memory;
        let task =
            SearchTask { puzzle, limit, solution, memory, watch, guess: std::marker::PhantomData::<G> };
        match self.backend {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 | Backend::Avx512Vl => avx2::with_avx512(task),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => avx2::with_avx2(task),
            #[cfg(target_arch = "aarch64")]
            Backend::Neon => task.work::<neon::Neon>(),
            _ => task.work::<Words>(),
        }
    }
}

struct SearchTask<'a, 'b, G, W> {
    puzzle: &'a [u8; 81],
    limit: &'a Limit<'b>,
    solution: &'a mut [u8; 81],
    memory: &'a mut Memory,
    watch: &'a mut W,
    guess: std::marker::PhantomData<G>,
}

impl<G: GuessRule, W: Watch> VectorTask for SearchTask<'_, '_, G, W> {
    type Output = Search;

    #[inline(always)]
    fn work<V: BoxVector>(self) -> Search {
        let Self { puzzle, limit, solution, memory, watch, .. } = self;
        search::search::<V, G, W>(puzzle, limit, solution, memory, watch)
    }
}

impl Watchable for BoxSolver {
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        let puzzle = puzzle.digits().try_into().expect("a solver takes puzzles of its own order");
        let mut digits = [0; 81];
        let search = self.search_guessing::<CellGuess, W>(puzzle, limit, &mut digits, watch);
        if search.solutions > 0 {
            solution.set_digits(&digits);
        }
        search
    }
}
