//! Learning: a SAT solver for large puzzles that guessing does not finish.
//!
//! Searches that only go back to their last guess have heavy tails: most puzzles of a kind take
//! some hundred nodes, and a few take millions, because the same contradiction is met again and
//! again. A SAT solver (here [batsat](https://github.com/c-cube/batsat), `MiniSat` in Rust) learns a
//! clause from each. It is slower to begin and at each step, so it is the last resort.
//!
//! The candidates that propagation leaves are the variables; each blank cell takes exactly one of
//! its candidates, and each digit exactly one of its places in a house. A solution that is known is
//! excluded by one more clause. There is no chance in it, so the same puzzle always takes the same
//! number of conflicts, each of which counts as a node and as a guess.

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};

use super::bands::{BandLayout, BandWord, Bits};
use super::board::{BandCandidate, SearchState};
use crate::grid::{Grid, MAX_CELLS, MAX_SIDE, Order};
use crate::solver::watch::NoWatch;
use crate::solver::{Limit, Search, Stop};

/// A puzzle of order `n` is learnt from after this many nodes. On 25x25 that is about as long as a
/// SAT solver takes to begin. On 16x16 propagation ends nearly always before.
pub(super) const fn patience(box_side: usize) -> u64 {
    match box_side {
        0..=3 => u64::MAX,
        4 => 1_000,
        _ => 250,
    }
}

/// More candidates than this in blank cells are too many: there are hundreds of clauses for each.
/// Puzzles that are hard for guessing have some 2,000.
const MOST_CANDIDATES: usize = 6_000;

/// For more solutions than this, each of which takes a clause, guessing is the better way.
pub(super) const MOST_SOLUTIONS: u64 = 2;

/// Stops the SAT solver at a number of conflicts, or when the caller asks to.
struct Bounds<'a> {
    conflicts: u64,
    most: u64,
    limit: Limit<'a>,
}

impl Callbacks for Bounds<'_> {
    fn on_new_clause(&mut self, _clause: &[Lit], kind: ClauseKind) {
        self.conflicts += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        self.conflicts >= self.most || self.limit.is_cancelled()
    }
}

/// The variables of candidates, by cell and digit.
type Variables = Vec<Option<Lit>>;

/// Goes on with a search that has found at most one solution, from the board before its first
/// guess, which [suits](suits).
pub(super) fn search<
    W: BandWord,
    const N: usize,
    const SIDE: usize,
    const SLOTS: usize,
    const GROUP: usize,
>(
    board: &SearchState<W, N, SIDE, SLOTS, GROUP>,
    limit: &Limit<'_>,
    found: &mut Search,
    solution: &mut Grid,
) {
    let order = solution.order();
    let mut variables: Variables = vec![None; MAX_CELLS * MAX_SIDE];
    let most = limit.nodes.saturating_sub(found.metrics.nodes);
    let mut solver = Solver::new(SolverOpts::default(), Bounds { conflicts: 0, most, limit: *limit });
    for at in open_candidates(board) {
        let variable = Lit::new(solver.new_var_default(), true);
        variables[SearchState::<W, N, SIDE, SLOTS, GROUP>::cell(at) * SIDE + at.digit] = Some(variable);
    }
    let mut is_consistent = exactly_one(&mut solver, &variables, order)
        && (found.solutions == 0 || exclude(&mut solver, &variables, solution));
    found.stop = Stop::Exhausted;
    while is_consistent {
        let answer = solver.solve_limited(&[]);
        if answer == lbool::TRUE {
            let mut this = solution.clone();
            write(board, &solver, &variables, &mut this);
            let keep = |first: &mut Grid| first.clone_from(&this);
            // The search that goes on here reports the first solution itself.
            let counted = limit.count_solution(&mut found.solutions, solution, &mut NoWatch, keep);
            if let Err(stop) = counted {
                found.stop = stop;
                break;
            }
            is_consistent = exclude(&mut solver, &variables, &this);
        } else {
            if answer != lbool::FALSE {
                found.stop = if limit.is_cancelled() { Stop::Cancelled } else { Stop::Nodes };
            }
            break;
        }
    }
    let conflicts = solver.cb().conflicts.min(most);
    found.metrics.nodes += conflicts;
    // Each took a guess that was wrong; of the others only the last ones stand.
    found.metrics.guesses += conflicts;
}

/// The candidates of blank cells.
fn open_candidates<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>(
    board: &SearchState<W, N, SIDE, SLOTS, GROUP>,
) -> impl Iterator<Item = BandCandidate> {
    (0..N).flat_map(move |band| {
        let open = Bits(!board.filled[band] & W::of(BandLayout::<N>::BAND));
        open.flat_map(move |bit| board.candidates(band, bit))
    })
}

/// Whether there are few enough candidates.
pub(super) fn suits<
    W: BandWord,
    const N: usize,
    const SIDE: usize,
    const SLOTS: usize,
    const GROUP: usize,
>(
    board: &SearchState<W, N, SIDE, SLOTS, GROUP>,
) -> bool {
    open_candidates(board).nth(MOST_CANDIDATES).is_none()
}

/// Each blank cell has exactly one digit, and each digit that a house lacks has exactly one place.
/// Returns false if that is impossible.
fn exactly_one(solver: &mut Solver<Bounds<'_>>, variables: &Variables, order: Order) -> bool {
    let side = order.side();
    let mut one_of = |choices: &[Lit]| {
        if choices.is_empty() {
            return true;
        }
        let mut is_consistent = solver.add_clause_reuse(&mut choices.to_vec());
        for (k, &first) in choices.iter().enumerate() {
            for &second in &choices[k + 1..] {
                is_consistent &= solver.add_clause_reuse(&mut vec![!first, !second]);
            }
        }
        is_consistent
    };
    let mut is_consistent = true;
    for cell in 0..order.cells() {
        let choices: Vec<Lit> = (0..side).filter_map(|digit| variables[cell * side + digit]).collect();
        is_consistent &= one_of(&choices);
    }
    for house in order.houses() {
        for digit in 0..side {
            let places: Vec<Lit> =
                house.cells(order).filter_map(|cell| variables[cell.index() * side + digit]).collect();
            is_consistent &= one_of(&places);
        }
    }
    is_consistent
}

/// Excludes a solution. Returns false if none is left.
fn exclude(solver: &mut Solver<Bounds<'_>>, variables: &Variables, solution: &Grid) -> bool {
    let side = solution.order().side();
    let digits = solution.digits().iter().enumerate();
    let mut clause: Vec<Lit> = digits
        .filter_map(|(cell, &digit)| variables[cell * side + usize::from(digit) - 1])
        .map(|taken| !taken)
        .collect();
    solver.add_clause_reuse(&mut clause)
}

/// Writes the solution that the SAT solver has found.
fn write<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>(
    board: &SearchState<W, N, SIDE, SLOTS, GROUP>,
    solver: &Solver<Bounds<'_>>,
    variables: &Variables,
    solution: &mut Grid,
) {
    // The cells that are filled have one candidate each, the others are set below.
    board.write(solution);
    for (cell, digit) in solution.digits_mut().iter_mut().enumerate() {
        for (value, variable) in (1..).zip(&variables[cell * SIDE..][..SIDE]) {
            if variable.is_some_and(|variable| solver.value_lit(variable) == lbool::TRUE) {
                *digit = value;
            }
        }
    }
}
