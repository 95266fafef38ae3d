//! Dives: a fast, incomplete search for two solutions of puzzles that have many.
//!
//! Any two solutions prove that a puzzle has more than one. Where there are many, nearly every
//! guess is right, and the states that a complete search keeps are hardly ever needed. A dive does
//! without them: after two passes, whether these have found everything or not, it guesses on one
//! digit in each of three bands or three stacks at once, and keeps only the last two
//! *alternatives*, the states in which a guess is wrong. They are kept as words like the state
//! itself, so a guess costs a few instructions and no work per lane.
//!
//! The states that a dive visits have no solution in common, so two solutions that it finds differ.
//! A dive that finds fewer proves nothing: its puzzle is left to the search.
//!
//! Diving, going down by guesses and hardly ever back, is a primal heuristic of solvers for integer
//! programs.

use std::sync::atomic::Ordering;

use super::branch::{Branch, Guesses, less};
use super::inference::SlicedState;
use super::job::{PREFETCH_DISTANCE, SearchJob, padded_digits};
use super::packing::{CANDIDATES, PLANES_PARTS, Packing, SlicedPlanes, pack, unpack};
use super::transpose::LaneRows;
use super::word::{LaneList, MOST_LANES, Mask, Word};
use crate::solver::{Metrics, Search, Stop};

/// The passes between two guesses. With one more guesses are wrong, with three each guess waits
/// longer.
const PASSES: u64 = 2;

/// Dives go on while at most one in this many fails, with an allowance for the first ones.
const MAX_FAILURES: usize = 4;

/// When no puzzles are left to begin and at most one lane in this many still has one, these are
/// left to the search, where lanes help each other: 1.04 times as fast.
const FEW_LANES: usize = 4;

/// The bound on the nodes of a dive, because guesses and backtracks are counted in six bits each.
pub(super) const MOST_NODES: u64 = 128;

/// The dives in all lanes.
pub(super) struct Dives<W> {
    state: Box<SlicedState<W>>,
    guesses: Box<Guesses<W>>,
    /// The last two alternatives in each lane.
    alternatives: Box<[Alternative<W>; 2]>,
    /// The lanes in which the second of these two is the later one.
    second_is_later: W,
    /// The lanes with a puzzle, those of them that have found a solution, and those that have
    /// guessed.
    busy: Mask,
    has_solution: W,
    has_guessed: W,
    /// The puzzle in each lane.
    puzzles: Box<[u32; MOST_LANES]>,
    guessed: Count<W>,
    taken_back: Count<W>,
    /// The guesses that stand, and the most that have stood at once.
    standing: Count<W>,
    depth: Count<W>,
}

/// The states in which a guess is wrong, one for each lane.
#[repr(align(64))]
struct Alternative<W> {
    candidates: [W; CANDIDATES],
    /// The guesses that stood before that one.
    standing: Count<W>,
    /// The lanes that have a state here.
    lanes: W,
}

/// What dives report besides the answers of the job.
pub(super) struct DiveReport {
    /// The first puzzle that no dive was tried on.
    pub(super) next: usize,
    /// The passes, and lanes with a puzzle, summed over them.
    pub(super) passes: u64,
    pub(super) busy_lanes: u64,
}

impl<W: Packing> Dives<W> {
    pub(super) fn new() -> Self {
        let none = W::splat(0);
        let alternative =
            || Alternative { candidates: [none; CANDIDATES], standing: Count::new(), lanes: none };
        Self {
            state: SlicedState::new(),
            guesses: Guesses::new(),
            alternatives: Box::new([alternative(), alternative()]),
            second_is_later: none,
            busy: Mask::default(),
            has_solution: none,
            has_guessed: none,
            puzzles: Box::new([0; MOST_LANES]),
            guessed: Count::new(),
            taken_back: Count::new(),
            standing: Count::new(),
            depth: Count::new(),
        }
    }

    /// Dives for two solutions of the puzzles of the job from `next` on. Puzzles with two are
    /// answered, the others are appended to `others`. `branch`, `grids` and `planes` are scratch
    /// space.
    #[inline(always)]
    pub(super) fn run(
        &mut self,
        branch: &mut Branch<W>,
        grids: &mut LaneRows<PLANES_PARTS>,
        planes: &mut SlicedPlanes<W>,
        job: &mut SearchJob<'_>,
        next: usize,
        others: &mut Vec<u32>,
    ) -> DiveReport {
        let mut report = DiveReport { next, passes: 0, busy_lanes: 0 };
        let mut is_worth_it = true;
        let (already, mut ended) = (others.len(), 0);
        let mut list: LaneList = [0; _];
        self.reset();
        loop {
            if is_worth_it {
                self.begin(&mut report.next, grids, planes, job);
            }
            let busy = self.busy.len() as usize;
            let are_few =
                !job.dives_in_all && busy <= Self::LANES / FEW_LANES && report.next == job.puzzles.len();
            if are_few || busy == 0 || job.cancel.load(Ordering::Relaxed) {
                for &lane in self.busy.lanes::<W>(&mut list) {
                    self.leave(lane.into(), job, others);
                }
                return report;
            }
            let solved = self.propagate();
            report.passes += PASSES;
            report.busy_lanes += PASSES * busy as u64;
            let too_many = self.guess(branch);
            let first = solved.and_not(self.has_solution);
            self.write_solutions(first, grids, planes, job);
            let enough = solved.and(self.has_solution);
            self.has_solution = self.has_solution.or(first);
            let dead = self.busy.word::<W>().and_not(self.state.alive);
            let failed = self.go_back(first.or(dead).and_not(too_many)).or(too_many);
            ended += self.end(enough, failed, job, others);
            is_worth_it = job.dives_in_all || MAX_FAILURES * (others.len() - already) <= ended + Self::LANES;
        }
    }

    const LANES: usize = 64 * W::PARTS;

    fn reset(&mut self) {
        self.state.alive = W::splat(0);
        self.state.upwards = true;
        self.busy = Mask::default();
        self.drop_alternatives(W::splat(!0));
    }

    /// Begins a puzzle in every lane without one.
    #[inline(always)]
    fn begin(
        &mut self,
        next: &mut usize,
        grids: &mut LaneRows<PLANES_PARTS>,
        planes: &mut SlicedPlanes<W>,
        job: &SearchJob<'_>,
    ) {
        let mut list: LaneList = [0; _];
        let mut free = Mask::all::<W>();
        free.subtract(&self.busy);
        let free = free.lanes::<W>(&mut list);
        let mut begun = Mask::default();
        for &lane in &free[..free.len().min(job.puzzles.len() - *next)] {
            let lane = usize::from(lane);
            let rest = job.puzzles[*next..].as_flattened();
            let mut last = [0; 96];
            grids.set::<W>(lane, &pack(W::planes(padded_digits(rest, &mut last))));
            if let Some(later) = rest.get(81 * PREFETCH_DISTANCE..) {
                W::prefetch(later);
            }
            self.puzzles[lane] = *next as u32;
            begun.insert::<W>(lane);
            *next += 1;
        }
        if begun.is_empty() {
            return;
        }
        self.busy.add(&begun);
        let begun = begun.word::<W>();
        grids.slice_planes(planes);
        self.state.begin(begun, planes);
        self.has_solution = self.has_solution.and_not(begun);
        self.has_guessed = self.has_guessed.and_not(begun);
        self.guessed.clear(begun);
        self.taken_back.clear(begun);
        self.standing.clear(begun);
        self.depth.clear(begun);
    }

    /// Does [`PASSES`] passes. Returns the lanes that are solved.
    #[inline(always)]
    fn propagate(&mut self) -> W {
        let state = &mut *self.state;
        state.changed = W::splat(!0);
        state.look_at_cells();
        for _ in 0..PASSES {
            state.pass();
            state.look_at_cells();
        }
        let busy = self.busy.word::<W>();
        if !Mask::of(busy.and(state.alive).and_not(state.open)).is_empty() {
            state.check_closed();
        }
        busy.and(state.alive).and_not(state.open)
    }

    /// Guesses in the lanes that have guessed before, or in which passes have found everything, and
    /// keeps the alternatives. Returns the lanes with more guesses than can be counted.
    #[inline(always)]
    fn guess(&mut self, branch: &mut Branch<W>) -> W {
        let state = &mut *self.state;
        let open = W::and3(self.busy.word(), state.alive, state.open);
        let unsettled = state.changed.and_not(self.has_guessed);
        let guessing = branch.choose_several(state, open.and_not(unsettled), &mut self.guesses);
        let [first, second] = &mut *self.alternatives;
        // The new alternative replaces the earlier of the two.
        let (to_first, to_second) =
            (guessing.and(self.second_is_later), guessing.and_not(self.second_is_later));
        self.guesses.follow(
            branch,
            state,
            [(&mut first.candidates, to_first), (&mut second.candidates, to_second)],
        );
        first.lanes = first.lanes.or(to_first);
        second.lanes = second.lanes.or(to_second);
        first.standing.copy(to_first, &self.standing);
        second.standing.copy(to_second, &self.standing);
        self.standing.add(guessing);
        self.depth.copy(less(&self.depth.0, &self.standing.0), &self.standing);
        self.second_is_later = self.second_is_later.xor(guessing);
        self.has_guessed = self.has_guessed.or(guessing);
        self.guessed.add(guessing)
    }

    /// Backtracks in these lanes to the later alternative. Returns those of them that have none.
    #[inline(always)]
    fn go_back(&mut self, lanes: W) -> W {
        let [first, second] = &mut *self.alternatives;
        let from_second =
            W::and3(lanes, second.lanes, self.second_is_later.or(W::splat(!0).and_not(first.lanes)));
        let from_first = lanes.and(first.lanes).and_not(from_second);
        let back = from_first.or(from_second);
        if !Mask::of(back).is_empty() {
            for (i, candidates) in self.state.candidates.iter_mut().enumerate() {
                let other = W::select(from_first, first.candidates[i], *candidates);
                *candidates = W::select(from_second, second.candidates[i], other);
            }
            first.lanes = first.lanes.and_not(from_first);
            second.lanes = second.lanes.and_not(from_second);
            // The later one is now the one that is left.
            self.second_is_later = W::select(back, from_first, self.second_is_later);
            self.standing.copy(from_first, &first.standing);
            self.standing.copy(from_second, &second.standing);
            self.state.alive = self.state.alive.or(back);
            self.taken_back.add(back);
        }
        lanes.and_not(back)
    }

    #[inline(always)]
    fn write_solutions(
        &self,
        lanes: W,
        grids: &mut LaneRows<PLANES_PARTS>,
        planes: &mut SlicedPlanes<W>,
        job: &mut SearchJob<'_>,
    ) {
        let lanes = Mask::of(lanes);
        if lanes.is_empty() {
            return;
        }
        self.state.solutions(planes);
        grids.set_planes(planes);
        for &lane in lanes.lanes::<W>(&mut [0; _]) {
            let puzzle = self.puzzles[usize::from(lane)] as usize;
            W::digits(&unpack(grids.get::<W>(lane.into())), &mut job.solutions[puzzle]);
        }
    }

    /// Ends the dives that have found two solutions and those that have failed. Returns their
    /// number.
    #[inline(always)]
    fn end(&mut self, enough: W, failed: W, job: &mut SearchJob<'_>, others: &mut Vec<u32>) -> usize {
        let mut list: LaneList = [0; _];
        let ended = Mask::of(enough.or(failed));
        if ended.is_empty() {
            return 0;
        }
        for &lane in Mask::of(failed).lanes::<W>(&mut list) {
            self.leave(lane.into(), job, others);
        }
        let (guessed, taken_back, depth) =
            (self.guessed.masks(), self.taken_back.masks(), self.depth.masks());
        for &lane in Mask::of(enough).lanes::<W>(&mut list) {
            let lane = usize::from(lane);
            let (guesses, backtracks) = (number::<W>(&guessed, lane), number::<W>(&taken_back, lane));
            job.searches[self.puzzles[lane] as usize] = Search {
                solutions: 2,
                stop: Stop::Solutions,
                metrics: Metrics {
                    nodes: 1 + guesses + backtracks,
                    guesses,
                    backtracks,
                    depth: number::<W>(&depth, lane),
                    ..Metrics::default()
                },
            };
        }
        self.drop_alternatives(enough.or(failed));
        self.busy.subtract(&ended);
        ended.len() as usize
    }

    /// Leaves the puzzle of a lane to the search.
    #[inline(always)]
    fn leave(&self, lane: usize, job: &mut SearchJob<'_>, others: &mut Vec<u32>) {
        let puzzle = self.puzzles[lane];
        job.searches[puzzle as usize] = Search::BEGUN;
        others.push(puzzle);
    }

    #[inline(always)]
    fn drop_alternatives(&mut self, lanes: W) {
        for alternative in &mut *self.alternatives {
            alternative.lanes = alternative.lanes.and_not(lanes);
        }
    }
}

/// A count of six bits for each lane, in binary from the lowest bit up.
struct Count<W>([W; 6]);

impl<W: Word> Count<W> {
    fn new() -> Self {
        Self([W::splat(0); 6])
    }

    #[inline(always)]
    fn clear(&mut self, lanes: W) {
        for bit in &mut self.0 {
            *bit = bit.and_not(lanes);
        }
    }

    /// Copies the counts of some lanes from another count.
    #[inline(always)]
    fn copy(&mut self, lanes: W, from: &Self) {
        for bit in 0..6 {
            self.0[bit] = W::select(lanes, from.0[bit], self.0[bit]);
        }
    }

    /// Adds one in some lanes. Returns those that overflow and begin at 0 again.
    #[inline(always)]
    fn add(&mut self, lanes: W) -> W {
        let mut carry = lanes;
        for bit in &mut self.0 {
            (*bit, carry) = (bit.xor(carry), bit.and(carry));
        }
        carry
    }

    #[inline(always)]
    fn masks(&self) -> [Mask; 6] {
        let mut masks = [Mask::default(); 6];
        for bit in 0..6 {
            masks[bit] = Mask::of(self.0[bit]);
        }
        masks
    }
}

/// The count of one lane.
#[inline(always)]
fn number<W: Word>(bits: &[Mask; 6], lane: usize) -> u64 {
    let mut number = 0;
    for bit in 0..6 {
        number |= u64::from(bits[bit].contains::<W>(lane)) << bit;
    }
    number
}
