//! Fast: 9x9 puzzles in bulk by the kernel of [`lanes`](super::lanes), a few by vectors of
//! [`boxes`](super::boxes), and those that singles solve by [`singles`].

mod costs;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use self::costs::{Experience, LEAST_FOR_SINGLES};
use super::boxes::BoxSolver;
use super::lanes::{Backend, Lanes, MOST_SHARED_SOLUTIONS};
use super::watch::NoWatch;
use super::{Batch, Limit, Propagation, Search, Solver, Stop, Strategy, Watcher, singles};
use crate::grid::{Grid, Order};
use crate::poison::IgnorePoison as _;

/// The strategy `fast`: hundreds of 9x9 puzzles at once, one in each bit of a vector register.
///
/// The kernel takes about as long for one puzzle as for a hundred. So smaller batches are searched
/// one by one, with vectors inside of a puzzle, until what these took says that the kernel is faster
/// for the rest. Very hard puzzles go to the kernel too, where all lanes can work on one. Both visit
/// the same search states, so results, and whether a puzzle is given up, do not depend on the number
/// of puzzles. Where the first puzzle is easy, singles are tried on sixteen or more at once; what they
/// solve takes neither of the two a guess.
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
            Backend::Neon => &Self { backend: Some(Backend::Neon) },
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

    fn short_summary(&self) -> &'static str {
        "shown by the steps of propagation"
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
            boxes: BoxSolver::new(backend),
            watched: None,
            rest: Batch::new(order),
            solved_by_singles: false,
        })
    }
}

struct FastSolver {
    backend: Backend,
    boxes: BoxSolver,
    /// The solver of watched searches, made for the first of them.
    watched: Option<Box<dyn Solver>>,
    /// The puzzles of a small batch that go to the kernel.
    rest: Batch,
    /// Whether singles solved most of the puzzles that they were last tried on.
    solved_by_singles: bool,
}

/// The most nodes of a puzzle that is searched alone, before it goes to the kernel, where lanes share
/// it. For a few puzzles the kernel costs as much as some 700 nodes each.
const NODES_FOR_A_FEW: u64 = 1024;

/// The fewest nodes of a puzzle that is searched alone, however many puzzles the batch has.
const LEAST_NODES: u64 = 256;

/// Each of N puzzles of a batch may take [`NODES_FOR_A_FEW`] / (N / [`A_FEW`]) nodes.
const A_FEW: u64 = 8;

/// By how many of its puzzles a large batch is judged whether singles solve it.
const JUDGED_BY: usize = 2 * singles::MOST;

/// How many of these singles may leave: where they leave more than a twelfth, the kernel is as fast for
/// all.
const MOST_OPEN: usize = JUDGED_BY / 12;

/// The nodes of each puzzle that is searched alone, in a batch of `puzzles` puzzles. Out of line,
/// because inlining it costs the loop of its caller 2 % by its layout.
#[inline(never)]
fn nodes_alone(puzzles: usize) -> u64 {
    LEAST_NODES.max(NODES_FOR_A_FEW / (puzzles as u64 / A_FEW).max(1))
}

impl FastSolver {
    /// Tries a puzzle with at most `nodes` nodes. `None` if that is not enough and the kernel may
    /// be faster.
    ///
    /// For more than two solutions there is no such limit, because lanes would not share the
    /// puzzle, and a single lane is slower than this search.
    fn try_alone(
        &mut self,
        puzzle: &[u8; 81],
        limit: &Limit<'_>,
        nodes: u64,
        effort: Effort,
        solution: &mut [u8; 81],
    ) -> Result<Search, Search> {
        let is_shared = limit.solutions <= MOST_SHARED_SOLUTIONS;
        let tried = Limit { nodes: if is_shared { nodes.min(limit.nodes) } else { limit.nodes }, ..*limit };
        let boxes = &mut self.boxes;
        let search = match effort {
            Effort::Unmeasured => boxes.search_as_lanes(puzzle, &tried, solution, &mut NoWatch),
            Effort::Measured => {
                Watcher::measure(|watcher| boxes.search_as_lanes(puzzle, &tried, solution, watcher))
            }
        };
        if search.stop == Stop::Nodes && tried.nodes < limit.nodes { Err(search) } else { Ok(search) }
    }

    fn search_many(&mut self, batch: &mut Batch, limit: &Limit<'_>, effort: Effort) {
        let Some((puzzles, solutions, searches)) = batch.all_at_once() else { return };
        let mut experience = Experience::new(self.backend, limit.solutions);
        let nodes = nodes_alone(puzzles.len());
        let may_try_singles = matches!(effort, Effort::Unmeasured) && puzzles.len() >= LEAST_FOR_SINGLES;
        let mut left = Unanswered::new(puzzles.len());
        if may_try_singles && self.expects_singles(puzzles, &experience) {
            self.solve_singles(puzzles, limit, solutions, searches, &mut left);
        }
        while !limit.is_cancelled() && !left.is_for_kernel(&experience) {
            let Some(index) = left.pop() else { break };
            let before = self.boxes.passes();
            let found = self.try_alone(&puzzles[index], limit, nodes, effort, &mut solutions[index]);
            let (Ok(search) | Err(search)) = found;
            let passes = self.boxes.passes() - before;
            experience.add(passes, &search);
            searches[index] = search;
            if found.is_err() {
                left.too_hard.push(index);
            }
            if may_try_singles && left.next == 1 && experience.singles_pay(puzzles.len(), passes, &search) {
                self.solve_singles(puzzles, limit, solutions, searches, &mut left);
            }
        }
        let next = left.next;
        let Some(scattered) = left.into_scattered() else {
            let (puzzles, solutions) = (&puzzles[next..], &mut solutions[next..]);
            return search_together(self.backend, puzzles, limit, solutions, &mut searches[next..]);
        };
        self.rest.clear();
        self.rest
            .push_many(|cells| scattered.iter().for_each(|&index| cells.extend_from_slice(&puzzles[index])));
        if let Some((puzzles, solutions, searches)) = self.rest.all_at_once() {
            search_together(self.backend, puzzles, limit, solutions, searches);
        }
        for (of_rest, index) in scattered.into_iter().enumerate() {
            batch.set(index, self.rest.searches()[of_rest], self.rest.solution(of_rest));
        }
    }

    /// Whether singles are tried before anything else: on a large batch by its first puzzle, on a
    /// smaller one if they solved most of the one before.
    fn expects_singles(&mut self, puzzles: &[[u8; 81]], experience: &Experience) -> bool {
        if !experience.kernel_pays(puzzles.len()) {
            return self.solved_by_singles;
        }
        let limit = Limit { solutions: 1, nodes: 1, cancel: &AtomicBool::new(false) };
        let before = self.boxes.passes();
        let search = self.boxes.search_as_lanes(&puzzles[0], &limit, &mut [0; 81], &mut NoWatch);
        experience.singles_pay(puzzles.len(), self.boxes.passes() - before, &search)
    }

    /// Answers the puzzles of a batch that singles solve, from the next one on, as long as these are
    /// most of them.
    fn solve_singles(
        &mut self,
        puzzles: &[[u8; 81]],
        limit: &Limit<'_>,
        solutions: &mut [[u8; 81]],
        searches: &mut [Search],
        left: &mut Unanswered,
    ) {
        // A search of one state, which a limit of one solution ends.
        let stop = if limit.solutions <= 1 { Stop::Solutions } else { Stop::Exhausted };
        let first = left.next;
        // What is left is searched alone, which takes no longer than a block.
        while puzzles.len() - left.next >= LEAST_FOR_SINGLES && !limit.is_cancelled() {
            let block =
                left.next..left.next + singles::block_len(puzzles.len() - left.next, LEAST_FOR_SINGLES);
            let solved = singles::solve(self.backend, &puzzles[block.clone()], &mut solutions[block.clone()]);
            for (lane, index) in block.clone().enumerate() {
                searches[index] = Search { solutions: 1, stop, ..Search::BEGUN };
                if solved >> lane & 1 == 0 {
                    left.open.push_back(index);
                }
            }
            left.next = block.end;
            self.solved_by_singles = 4 * (solved.count_ones() as usize) >= 3 * block.len();
            // A large batch is judged by its beginning, and solved to its end.
            let is_large = puzzles.len() >= costs::MANY;
            let judged = left.next - first;
            let is_judged = is_large && judged > JUDGED_BY;
            let has_many_open = is_large && judged == JUDGED_BY && left.open.len() > MOST_OPEN;
            if !is_judged && (!self.solved_by_singles || has_many_open) {
                break;
            }
        }
    }
}

/// The puzzles of a batch that are not answered, by their indices.
struct Unanswered {
    /// Those before `next` that singles do not solve.
    open: VecDeque<usize>,
    /// This one and all after it.
    next: usize,
    end: usize,
    /// Those that took too many nodes alone.
    too_hard: Vec<usize>,
}

impl Unanswered {
    const fn new(puzzles: usize) -> Self {
        Self { open: VecDeque::new(), next: 0, end: puzzles, too_hard: Vec::new() }
    }

    /// The next puzzle to search alone, if any is left but those too hard for that.
    fn pop(&mut self) -> Option<usize> {
        self.open.pop_front().or_else(|| {
            let index = self.next;
            (index < self.end).then(|| {
                self.next += 1;
                index
            })
        })
    }

    /// Whether the kernel searches all of these faster than they are searched alone.
    fn is_for_kernel(&self, experience: &Experience) -> bool {
        let after = self.end - self.next;
        // A few open ones of a large batch are searched alone first, because the kernel would have all
        // others copied for these.
        let is_delayed = (1..=JUDGED_BY).contains(&self.open.len()) && experience.kernel_pays(after);
        !is_delayed && experience.kernel_pays(self.open.len() + after + self.too_hard.len())
    }

    /// All indices, unless these are just the puzzles from `next` on.
    fn into_scattered(self) -> Option<Vec<usize>> {
        let Self { open, next, end, too_hard: mut scattered } = self;
        scattered.extend(open);
        (!scattered.is_empty()).then(|| {
            scattered.extend(next..end);
            scattered
        })
    }
}

/// Whether searches are measured: comparisons and placements counted, where they can be.
#[derive(Clone, Copy, Debug)]
enum Effort {
    Measured,
    Unmeasured,
}

/// Idle kernels, several hundred KiB each: as many as there were searches at the same time. One for
/// each solver would be as many as there are open streams.
static IDLE: Mutex<Vec<Lanes>> = Mutex::new(Vec::new());

fn search_together(
    backend: Backend,
    puzzles: &[[u8; 81]],
    limit: &Limit<'_>,
    solutions: &mut [[u8; 81]],
    searches: &mut [Search],
) {
    if puzzles.is_empty() {
        return;
    }
    let idle = || IDLE.lock().ignore_poison();
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
        let Ok(cells) = puzzle.digits().try_into() else { return Search::NO_SOLUTION };
        let mut digits = [0; 81];
        let search = match self.try_alone(cells, limit, NODES_FOR_A_FEW, Effort::Unmeasured, &mut digits) {
            Ok(search) => search,
            Err(_) => {
                let mut search = [Search::NO_SOLUTION];
                let solutions = std::slice::from_mut(&mut digits);
                search_together(self.backend, std::slice::from_ref(cells), limit, solutions, &mut search);
                search[0]
            }
        };
        if search.solutions > 0 {
            solution.set_digits(&digits);
        } else if search.metrics.nodes == 1 && !puzzle.keeps_rules() {
            return Search::NO_SOLUTION;
        }
        search
    }

    fn watch(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watcher: &mut Watcher<'_>,
    ) -> Search {
        let watched = self.watched.get_or_insert_with(|| Propagation.solver(puzzle.order()));
        watched.watch(puzzle, limit, solution, watcher)
    }

    fn search_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        self.search_many(batch, limit, Effort::Unmeasured);
    }

    fn measure_batch(&mut self, batch: &mut Batch, limit: &Limit<'_>) {
        self.search_many(batch, limit, Effort::Measured);
    }
}
