//! Fast: 9x9 puzzles in bulk by the kernel of [`lanes`](super::lanes), a few by its scalar search.

use std::sync::{Mutex, PoisonError};

use super::lanes::{Backend, Lanes, MOST_SHARED_SOLUTIONS, Scalar};
use super::{Batch, Limit, Propagation, Search, Solver, Stop, Strategy, Watcher};
use crate::grid::{Grid, Order};

/// The strategy `fast`: hundreds of 9x9 puzzles at once, one in each bit of a vector register.
///
/// The kernel takes about as long for one puzzle as for hundreds. So a few puzzles are first tried
/// one by one with the scalar form of the same search, which finishes most of them sooner. The
/// others go to the kernel, where all lanes can work on one hard puzzle. Both visit the same search
/// states, so results, and whether a puzzle is given up, do not depend on the number of puzzles.
///
/// Neither has steps to report. A watched search is that of [`Propagation`].
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    /// `None` for the fastest of the processor.
    backend: Option<Backend>,
}

impl Fast {
    /// The strategy with the fastest back end of the processor.
    pub const BEST: Self = Self { backend: None };

    /// The strategy with this back end.
    #[must_use]
    pub const fn with(backend: Backend) -> &'static Self {
        match backend {
            Backend::Avx512 => &Self { backend: Some(Backend::Avx512) },
            Backend::Avx512Vl => &Self { backend: Some(Backend::Avx512Vl) },
            Backend::Avx2 => &Self { backend: Some(Backend::Avx2) },
            Backend::Portable => &Self { backend: Some(Backend::Portable) },
        }
    }
}

impl Strategy for Fast {
    fn name(&self) -> &'static str {
        "fast"
    }

    fn summary(&self) -> &'static str {
        "hundreds of 9x9 puzzles at once, one for each bit of a vector register"
    }

    fn supports(&self, order: Order) -> bool {
        order == Order::NINE
    }

    fn searches_together(&self) -> bool {
        true
    }

    fn is_for_bulk(&self) -> bool {
        true
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        assert!(self.supports(order));
        let backend = self.backend.unwrap_or_else(Backend::best);
        Box::new(FastSolver {
            backend,
            scalar: Scalar::new(),
            watched: Propagation.solver(order),
            rest: Batch::new(order),
        })
    }
}

struct FastSolver {
    backend: Backend,
    scalar: Scalar,
    /// The solver of watched searches.
    watched: Box<dyn Solver>,
    /// The puzzles of a small batch that go to the kernel.
    rest: Batch,
}

/// A batch of at least this many puzzles goes straight to the kernel.
const MANY: usize = 32;

/// The nodes that all puzzles of a smaller batch together may take before they go to the kernel.
const NODES_FOR_A_FEW: u64 = 1024;

impl FastSolver {
    /// Tries a puzzle with at most `nodes` nodes. `None` if that is not enough and the kernel may
    /// be faster.
    ///
    /// For more than two solutions there is no such limit, because lanes would not share the
    /// puzzle, and a single lane is slower than this search.
    fn try_alone(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        nodes: u64,
        effort: Effort,
        solution: &mut Grid,
    ) -> Option<Search> {
        let is_shared = limit.solutions <= MOST_SHARED_SOLUTIONS;
        let tried = Limit { nodes: if is_shared { nodes.min(limit.nodes) } else { limit.nodes }, ..*limit };
        let search = match effort {
            Effort::Uncounted => self.scalar.search(puzzle, &tried, solution),
            Effort::Counted => self.scalar.watch(puzzle, &tried, solution, &mut Watcher::counting()),
        };
        (search.stop != Stop::Nodes || tried.nodes == limit.nodes).then_some(search)
    }

    fn search_many(&mut self, batch: &mut Batch, limit: &Limit<'_>, effort: Effort) {
        if batch.len() >= MANY {
            return search_together(self.backend, batch, limit);
        }
        let nodes = NODES_FOR_A_FEW / batch.len().max(1) as u64;
        let (mut puzzle, mut solution) = (Grid::empty(batch.order()), Grid::empty(batch.order()));
        let mut left = Vec::new();
        self.rest.clear();
        for index in 0..batch.len() {
            puzzle.set_digits(batch.puzzle(index));
            let search = if limit.is_cancelled() {
                Some(Search::CANCELLED)
            } else if puzzle.keeps_rules() {
                self.try_alone(&puzzle, limit, nodes, effort, &mut solution)
            } else {
                Some(Search::NO_SOLUTION)
            };
            match search {
                Some(search) => batch.set(index, search, solution.digits()),
                None => {
                    left.push(index);
                    self.rest.push(&puzzle);
                }
            }
        }
        if !left.is_empty() {
            search_together(self.backend, &mut self.rest, limit);
            for (of_rest, index) in left.into_iter().enumerate() {
                batch.set(index, self.rest.searches()[of_rest], self.rest.solution(of_rest));
            }
        }
    }
}

/// Whether comparisons and placements are counted, where they can be.
#[derive(Clone, Copy, Debug)]
enum Effort {
    Counted,
    Uncounted,
}

/// Idle kernels, several hundred KiB each: as many as there were searches at the same time. One for
/// each solver would be as many as there are open streams.
static IDLE: Mutex<Vec<Lanes>> = Mutex::new(Vec::new());

fn search_together(backend: Backend, batch: &mut Batch, limit: &Limit<'_>) {
    let Some((puzzles, solutions, searches)) = batch.all_at_once() else { return };
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = {
        let mut idle = idle();
        let place = idle.iter().position(|lanes| lanes.backend() == backend);
        place.map(|place| idle.swap_remove(place))
    };
    let mut lanes = kept.unwrap_or_else(|| Lanes::new(backend));
    lanes.search(puzzles, limit, solutions, searches);
    idle().push(lanes);
}

impl Solver for FastSolver {
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search {
        if !puzzle.keeps_rules() {
            return Search::NO_SOLUTION;
        }
        if let Some(search) = self.try_alone(puzzle, limit, NODES_FOR_A_FEW, Effort::Uncounted, solution) {
            return search;
        }
        self.rest.clear();
        self.rest.push(puzzle);
        search_together(self.backend, &mut self.rest, limit);
        solution.set_digits(self.rest.solution(0));
        self.rest.searches()[0]
    }

    fn watch(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watcher: &mut Watcher<'_>,
    ) -> Search {
        self.watched.watch(puzzle, limit, solution, watcher)
    }

    fn search_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        self.search_many(batch, limit, Effort::Uncounted);
    }

    fn measure_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        self.search_many(batch, limit, Effort::Counted);
    }
}
