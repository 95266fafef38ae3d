//! The engine: a depth-first search in every lane, refilled as soon as it is free.
//!
//! The unfinished search states of a puzzle form a [list](StateLists), in the order in which one
//! depth-first search would visit them. Some are in lanes, the others wait. A guess inserts its
//! alternative, the state in which the guess is wrong, right behind the lane's own. A lane whose
//! state ends continues with the next of the list or finds other work: the next puzzle, or when all
//! have begun, the last waiting state of another puzzle, the *donor*. Because the list keeps the
//! order, the first solution does not depend on which lanes worked on it.

use std::sync::atomic::Ordering;

use super::branch::{self, Branch};
use super::dive_policy::DivePolicy;
use super::dives::Dives;
use super::inference::SlicedState;
use super::job::{PREFETCH_DISTANCE, SearchJob, padded_digits};
use super::lists::{NONE, NodeIndex, PuzzleProgress, SOLVED, SearchNode, StateLists};
use super::packing::{CANDIDATES, PLANES_PARTS, Packing, ROW_PARTS, SlicedPlanes, pack, unpack};
use super::transpose::LaneRows;
use super::word::{LaneList, Mask};
use crate::solver::{Search, Stop};

/// Utilisation of the lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStats {
    /// Passes of inference over all lanes.
    pub passes: u64,
    /// Lanes with a search state, summed over the passes.
    pub busy_lanes: u64,
    /// Lanes, busy or not, summed over the passes.
    pub lanes: u64,
}

/// The kernel of one thread, generic over the words of a back end.
pub(super) struct Engine<W> {
    state: Box<SlicedState<W>>,
    branch: Box<Branch<W>>,
    /// Search states on their way into lanes and out of them.
    rows: LaneRows<ROW_PARTS>,
    /// Puzzles on their way in, solutions on their way out.
    grids: LaneRows<PLANES_PARTS>,
    planes: Box<SlicedPlanes<W>>,
    /// The unfinished search states of the puzzles that have begun.
    lists: StateLists,
    /// Puzzles that have, or had, waiting states for other lanes.
    donors: Vec<u32>,
    /// Puzzles to begin again, by one lane each if they were shared.
    restarts: Vec<u32>,
    /// Puzzles that reached the node limit.
    given_up: Vec<u32>,
    /// The lanes whose planes are to be loaded.
    begun: Mask,
    /// The lanes whose row is to be loaded.
    taken: Mask,
    /// The lanes with a node, and those without.
    busy: Mask,
    free: Mask,
    /// Allocated when first needed.
    dives: Option<Box<Dives<W>>>,
    /// [`Self::dive`], compiled for the same instructions but apart from the search.
    dive: fn(&mut Self, &mut SearchJob<'_>),
    policy: DivePolicy,
    stats: LaneStats,
}

/// Passes go on until at most this share of the busy lanes, in 256ths, is neither done nor stalled.
/// Then it pays to give new work to the others.
const UNSETTLED: u32 = 96;

/// A search that has made more guesses than this without a contradiction needs no help from other
/// lanes.
const RIGHT_GUESSES: u64 = 7;

impl<W: Packing> Engine<W> {
    const LANES: usize = 64 * W::PARTS;

    /// An engine; `dive` is [`Self::dive`], compiled for the instructions of the words.
    pub(super) fn new(dive: fn(&mut Self, &mut SearchJob<'_>)) -> Self {
        Self {
            state: SlicedState::new(),
            branch: Branch::new(),
            rows: LaneRows::new::<W>(),
            grids: LaneRows::new::<W>(),
            planes: Box::new([W::splat(0); 324]),
            lists: StateLists::new(),
            donors: Vec::new(),
            restarts: Vec::new(),
            given_up: Vec::new(),
            begun: Mask::default(),
            taken: Mask::default(),
            busy: Mask::default(),
            free: Mask::default(),
            dives: None,
            dive,
            policy: DivePolicy::new(),
            stats: LaneStats::default(),
        }
    }

    pub(super) const fn stats(&self) -> LaneStats {
        self.stats
    }

    /// Searches all puzzles of the job.
    #[inline(always)]
    pub(super) fn run(&mut self, job: &mut SearchJob<'_>) {
        self.reset(job);
        let mut list: LaneList = [0; _];
        loop {
            if self.policy.is_due() {
                self.consider_dives(job);
            }
            let free = self.free.lanes::<W>(&mut list);
            let (fresh, others) =
                free.split_at(free.len().min(job.puzzles.len() - self.lists.progress.len()));
            self.begin_fresh(fresh, job);
            for &lane in others {
                if !self.refill(lane.into(), job) {
                    break;
                }
            }
            if self.busy.is_empty() || job.cancel.load(Ordering::Relaxed) {
                break;
            }
            self.load();
            let (solved, stalled) = self.propagate();
            let (solved, stalled) = (Mask::of(solved), Mask::of(stalled));
            let mut guessing = Mask::default();
            if !stalled.is_empty() {
                guessing = Mask::of(self.branch.choose(&mut self.state, stalled.word()));
                self.unload();
                self.branch.follow(&mut self.state);
            }
            // Unloading has written the rows of all lanes.
            let in_rows = !stalled.is_empty();
            if !in_rows && !solved.is_empty() {
                self.unload_solutions();
            }
            for &lane in solved.lanes::<W>(&mut list) {
                self.solved(lane.into(), in_rows, job);
            }
            for &lane in guessing.lanes::<W>(&mut list) {
                self.guess(lane.into(), job);
            }
            let dead = self.busy.word::<W>().and_not(self.state.alive).and_not(self.taken.word());
            for &lane in Mask::of(dead).lanes::<W>(&mut list) {
                self.lists.progress[self.lists.nodes[usize::from(lane)].puzzle as usize].has_failed = true;
                self.end(lane.into(), job);
            }
        }
        self.report_cancelled(job);
        if !self.given_up.is_empty() && self.policy.may_dive(job) {
            self.dive_in_given_up(job);
        }
        debug_assert!(
            job.cancel.load(Ordering::Relaxed)
                || self.lists.progress.iter().all(|progress| progress.first == NONE),
            "a state waits that no lane will come to"
        );
    }

    fn reset(&mut self, job: &SearchJob<'_>) {
        self.lists.reset(job.puzzles.len());
        self.donors.clear();
        self.restarts.clear();
        self.given_up.clear();
        self.begun = Mask::default();
        self.taken = Mask::default();
        self.busy = Mask::default();
        self.free = Mask::all::<W>();
        // A run must not depend on earlier ones, so that it visits the same nodes.
        self.state.upwards = true;
        self.policy.reset(job);
    }

    /// Dives in the puzzles that were given up, so that a puzzle is only given up if search and
    /// dive both fail.
    ///
    /// Otherwise the other puzzles would decide: they determine whether a puzzle is dived in before
    /// it is searched, and a dive may find two solutions where a search reaches the node limit
    /// before the second.
    #[cold]
    #[inline(never)]
    fn dive_in_given_up(&mut self, job: &mut SearchJob<'_>) {
        let given_up = std::mem::take(&mut self.given_up);
        let puzzles: Vec<_> = given_up.iter().map(|&puzzle| job.puzzles[puzzle as usize]).collect();
        let (mut solutions, mut searches) = (puzzles.clone(), vec![Search::BEGUN; puzzles.len()]);
        let mut dived = SearchJob {
            puzzles: &puzzles,
            solutions: &mut solutions,
            searches: &mut searches,
            dives_in_all: true,
            ..*job
        };
        self.lists.progress.clear();
        (self.dive)(self, &mut dived);
        self.restarts.clear();
        let is_cancelled = job.cancel.load(Ordering::Relaxed);
        for ((puzzle, solution), search) in given_up.iter().zip(solutions).zip(searches) {
            let puzzle = *puzzle as usize;
            if search.stop == Stop::Solutions {
                (job.solutions[puzzle], job.searches[puzzle]) = (solution, search);
            } else if is_cancelled {
                job.searches[puzzle].stop = Stop::Cancelled;
            }
        }
    }

    /// Dives if most of the puzzles that ended since the last call had two solutions.
    #[cold]
    #[inline(never)]
    fn consider_dives(&mut self, job: &mut SearchJob<'_>) {
        if job.puzzles.len() - self.lists.progress.len() <= Self::LANES {
            // Too few are left for dives to pay.
            self.policy.stop();
            return;
        }
        // While there are puzzles to begin, each lane has one of its own.
        let ended = self.lists.progress.len() - self.busy.len() as usize;
        if self.policy.pays(ended) {
            (self.dive)(self, job);
        }
    }

    /// Dives in the puzzles that have not begun. Those in which dives fail go to `restarts`.
    #[inline(always)]
    pub(super) fn dive(&mut self, job: &mut SearchJob<'_>) {
        let mut dives = self.dives.take().unwrap_or_else(|| Box::new(Dives::new()));
        let next = self.lists.progress.len();
        let dived =
            dives.run(&mut self.branch, &mut self.grids, &mut self.planes, job, next, &mut self.restarts);
        self.dives = Some(dives);
        self.lists.progress.resize(dived.next, PuzzleProgress::begun(NONE));
        // Either no puzzles are left, or dives did not pay.
        self.policy.stop();
        self.stats.passes += dived.passes;
        self.stats.busy_lanes += dived.busy_lanes;
        self.stats.lanes += dived.passes * Self::LANES as u64;
    }

    /// Loads what the lanes have begun and taken into the sliced state.
    #[inline(always)]
    fn load(&mut self) {
        if !self.begun.is_empty() {
            self.grids.slice_planes(&mut self.planes);
            self.state.begin(self.begun.word(), &self.planes);
            self.begun = Mask::default();
        }
        if self.taken.is_empty() {
            return;
        }
        let filled: W = self.taken.word();
        let mut half = [W::splat(0); 64];
        for part in 0..ROW_PARTS {
            self.rows.slice_of(part, filled, &mut self.state.candidates[64 * part..], &mut half);
        }
        self.state.alive = self.state.alive.or(filled);
        self.taken = Mask::default();
    }

    /// Unloads the solutions from the sliced state.
    #[inline(always)]
    fn unload_solutions(&mut self) {
        self.state.solutions(&mut self.planes);
        self.grids.set_planes(&self.planes);
    }

    /// Unloads the sliced state and the chosen guesses into the rows.
    #[inline(always)]
    fn unload(&mut self) {
        let mut half = [W::splat(0); 64];
        for part in 0..CANDIDATES / 64 {
            self.rows.set_slice(part, &self.state.candidates[64 * part..][..64], &mut half);
        }
        let (part, rest) = (CANDIDATES / 64, CANDIDATES % 64);
        let mut words = [W::splat(0); 64];
        words[..rest].copy_from_slice(&self.state.candidates[64 * part..]);
        self.branch.mark(&mut words);
        self.rows.set_slice(part, &words, &mut half);
    }

    /// Does passes until most of the busy lanes are done or stalled. Returns the solved lanes and
    /// the stalled ones.
    #[inline(always)]
    fn propagate(&mut self) -> (W, W) {
        let state = &mut *self.state;
        let (busy, count) = (self.busy.word::<W>(), self.busy.len());
        let enough = count * UNSETTLED / 256;
        state.changed = W::splat(!0);
        loop {
            state.look_at_cells();
            let (alive, open) = (busy.and(state.alive), state.open);
            // A pass that changes nothing has checked the present state, so unchanged lanes need no
            // further check.
            if Mask::of(W::and3(alive, open, state.changed)).len() <= enough {
                let closed = alive.and_not(open);
                if !Mask::of(closed.and(state.changed)).is_empty() {
                    state.check_closed();
                }
                let alive = alive.and(state.alive);
                return (alive.and_not(open), alive.and(open).and_not(state.changed));
            }
            state.pass();
            self.stats.passes += 1;
            self.stats.busy_lanes += u64::from(count);
            self.stats.lanes += Self::LANES as u64;
        }
    }

    /// Begins a puzzle in each of `lanes`, which are free.
    #[inline(always)]
    fn begin_fresh(&mut self, lanes: &[u16], job: &mut SearchJob<'_>) {
        // Where rows are loaded anyway, puzzles as rows save the transposition of planes.
        let as_rows = !self.taken.is_empty();
        let mut begun = Mask::default();
        for &lane in lanes {
            let (lane, puzzle) = (usize::from(lane), self.lists.progress.len());
            self.stage(lane, puzzle, as_rows, job);
            self.lists.progress.push(PuzzleProgress::begun(lane as NodeIndex));
            begun.insert::<W>(lane);
        }
        if as_rows {
            self.taken.add(&begun);
        } else {
            self.begun.add(&begun);
        }
        self.busy.add(&begun);
        self.free.subtract(&begun);
    }

    /// Refills a free lane when all puzzles have begun: with a puzzle to begin again, else with a
    /// state of a puzzle that another lane works on. Returns false if there is neither.
    #[inline(always)]
    fn refill(&mut self, lane: usize, job: &mut SearchJob<'_>) -> bool {
        loop {
            if let Some(puzzle) = self.restarts.pop() {
                self.stage(lane, puzzle as usize, false, job);
                self.begun.insert::<W>(lane);
                self.occupy(lane);
                let progress = &mut self.lists.progress[puzzle as usize];
                let PuzzleProgress { is_donor, is_shared, .. } = *progress;
                *progress = PuzzleProgress {
                    is_alone: is_shared,
                    is_donor,
                    ..PuzzleProgress::begun(lane as NodeIndex)
                };
                return true;
            }
            let Some(&puzzle) = self.donors.last().filter(|_| job.sharing) else { return false };
            let progress = &mut self.lists.progress[puzzle as usize];
            let guesses = job.searches[puzzle as usize].metrics.guesses;
            // After a run of right guesses, a second lane would only find solutions beyond the
            // limit.
            let needs_help = guesses <= RIGHT_GUESSES || progress.has_failed;
            if progress.waiting == 0 || progress.is_alone || !needs_help {
                progress.is_donor = false;
                self.donors.pop();
                continue;
            }
            // The last state of the list is the oldest, and so probably the largest.
            progress.is_shared = true;
            let mut link = progress.last;
            while !self.lists.waits(link) {
                link = self.lists.nodes[link as usize].previous;
            }
            if self.take(lane, link, job) {
                return true;
            }
            // The puzzle has been given up or goes to `restarts`.
        }
    }

    /// Prepares a puzzle for loading into a lane, as its row if `as_row`, else as its planes.
    #[inline(always)]
    fn stage(&mut self, lane: usize, puzzle: usize, as_row: bool, job: &mut SearchJob<'_>) {
        let rest = job.puzzles[puzzle..].as_flattened();
        let mut last = [0; 96];
        let digits = padded_digits(rest, &mut last);
        if as_row {
            self.rows.set::<W>(lane, &W::row(digits));
        } else {
            self.grids.set::<W>(lane, &pack(W::planes(digits)));
        }
        if let Some(later) = rest.get(81 * PREFETCH_DISTANCE..) {
            W::prefetch(later);
        }
        // The solution may begin in one cache line and end in the next.
        W::prefetch(&job.solutions[puzzle]);
        W::prefetch(&job.solutions[puzzle][80..]);
        job.searches[puzzle] = Search::BEGUN;
        self.lists.nodes[lane] = SearchNode::root(puzzle);
    }

    /// Takes a waiting state into a lane. Returns false if that exceeds the node limit: then the
    /// puzzle is given up.
    #[inline(always)]
    fn take(&mut self, lane: usize, link: NodeIndex, job: &mut SearchJob<'_>) -> bool {
        let node = self.lists.nodes[link as usize];
        let puzzle = node.puzzle as usize;
        let metrics = &mut job.searches[puzzle].metrics;
        if metrics.nodes >= job.node_limit {
            self.give_up(puzzle, job);
            return false;
        }
        metrics.nodes += 1;
        metrics.backtracks += 1;
        self.lists.progress[puzzle].waiting -= 1;
        self.lists.nodes[lane] = node;
        self.lists.join(puzzle, node.previous, lane as NodeIndex);
        self.lists.join(puzzle, lane as NodeIndex, node.next);
        self.occupy(lane);
        self.load_waiting(lane, link);
        true
    }

    /// Inserts the alternative of the guess that a lane follows.
    #[inline(always)]
    fn guess(&mut self, lane: usize, job: &mut SearchJob<'_>) {
        if !self.busy.contains::<W>(lane) {
            return; // Another lane has ended the puzzle.
        }
        let SearchNode { next, puzzle, depth, .. } = self.lists.nodes[lane];
        let metrics = &mut job.searches[puzzle as usize].metrics;
        metrics.guesses += 1;
        if metrics.nodes >= job.node_limit {
            self.give_up(puzzle as usize, job);
            return;
        }
        metrics.nodes += 1;
        metrics.depth = metrics.depth.max(u64::from(depth) + 1);
        let progress = &mut self.lists.progress[puzzle as usize];
        progress.waiting += 1;
        if !progress.is_donor {
            progress.is_donor = true;
            self.donors.push(puzzle);
        }
        let other = self.lists.add_waiting(SearchNode { previous: lane as NodeIndex, next, puzzle, depth });
        branch::refuse::<W>(&self.rows, lane, self.lists.candidates_mut(other));
        let node = &mut self.lists.nodes[lane];
        (node.next, node.depth) = (other, depth + 1);
        self.lists.join(puzzle as usize, other, next);
    }

    /// Records the solution that a lane has found, which is in its row if `in_row`, else in its
    /// planes.
    #[inline(always)]
    fn solved(&mut self, lane: usize, in_row: bool, job: &mut SearchJob<'_>) {
        if !self.busy.contains::<W>(lane) {
            return;
        }
        let SearchNode { previous, next, puzzle, .. } = self.lists.nodes[lane];
        let puzzle = puzzle as usize;
        if previous != NONE {
            return self.solved_out_of_order(lane, puzzle, in_row, job);
        }
        // Not `Limit::count_solution`, because a limit that is reached here ends one puzzle of many,
        // whose other states have to leave their lanes.
        let search = &mut job.searches[puzzle];
        search.solutions += 1;
        let is_enough = search.solutions >= job.solution_limit;
        if is_enough {
            search.stop = Stop::Solutions;
            self.policy.count_saturated();
        }
        if search.solutions == 1 {
            self.write_solution(lane, in_row, &mut job.solutions[puzzle]);
        }
        if next == NONE {
            // The usual case: nothing else is in the list.
            let progress = &mut self.lists.progress[puzzle];
            (progress.first, progress.last) = (NONE, NONE);
            self.release(lane);
        } else if is_enough {
            self.cut_list(puzzle, lane as NodeIndex);
        } else {
            self.end(lane, job);
        }
    }

    #[inline(always)]
    fn write_solution(&self, lane: usize, in_row: bool, digits: &mut [u8; 81]) {
        if in_row {
            W::solution(&self.rows.get::<W>(lane), digits);
        } else {
            W::digits(&unpack(self.grids.get::<W>(lane)), digits);
        }
    }

    /// Records a solution while other lanes work on states before this one, which may have earlier
    /// solutions: it becomes a marked node that is counted when it is the first of the list.
    #[cold]
    fn solved_out_of_order(&mut self, lane: usize, puzzle: usize, in_row: bool, job: &mut SearchJob<'_>) {
        let SearchNode { previous, next, .. } = self.lists.nodes[lane];
        let mut is_first = job.searches[puzzle].solutions == 0;
        let mut link = previous;
        while link != NONE {
            is_first &= self.lists.nodes[link as usize].depth != SOLVED;
            link = self.lists.nodes[link as usize].previous;
        }
        if is_first {
            self.write_solution(lane, in_row, &mut job.solutions[puzzle]);
        }
        let mark =
            self.lists.add_waiting(SearchNode { previous, next, puzzle: puzzle as u32, depth: SOLVED });
        self.lists.join(puzzle, previous, mark);
        self.lists.join(puzzle, mark, next);
        self.release(lane);
        // States behind as many solutions as the limit are irrelevant.
        let mut solutions = job.searches[puzzle].solutions;
        let mut is_marked = false;
        let mut link = self.lists.progress[puzzle].first;
        while link != NONE {
            let SearchNode { next, depth, .. } = self.lists.nodes[link as usize];
            solutions += u64::from(depth == SOLVED);
            is_marked |= link == mark;
            if solutions >= job.solution_limit {
                self.cut_list(puzzle, next);
                break;
            }
            link = next;
        }
        // A waiting state is continued by the lane before it, and a marked node has no lane.
        let next = self.lists.nodes[mark as usize].next;
        if is_marked && self.lists.waits(next) {
            self.take(lane, next, job);
        }
    }

    /// Ends the state of a lane, which continues with the next of the list if that waits.
    #[inline(always)]
    fn end(&mut self, lane: usize, job: &mut SearchJob<'_>) {
        if !self.busy.contains::<W>(lane) {
            return;
        }
        let SearchNode { previous, next, puzzle, .. } = self.lists.nodes[lane];
        if self.lists.waits(next) {
            let metrics = &mut job.searches[puzzle as usize].metrics;
            if metrics.nodes >= job.node_limit {
                self.give_up(puzzle as usize, job);
                return;
            }
            metrics.nodes += 1;
            metrics.backtracks += 1;
            self.lists.progress[puzzle as usize].waiting -= 1;
            let SearchNode { next: after, depth, .. } = self.lists.nodes[next as usize];
            self.lists.nodes[lane] = SearchNode { previous, next: after, puzzle, depth };
            self.lists.join(puzzle as usize, lane as NodeIndex, after);
            self.load_waiting(lane, next);
            return;
        }
        self.lists.join(puzzle as usize, previous, next);
        self.release(lane);
        if previous == NONE && next != NONE {
            self.count_marked(puzzle as usize, job);
        }
    }

    /// Counts the marked solutions that have reached the front of the list.
    #[cold]
    fn count_marked(&mut self, puzzle: usize, job: &mut SearchJob<'_>) {
        let search = &mut job.searches[puzzle];
        loop {
            let first = self.lists.progress[puzzle].first;
            if first == NONE || self.lists.nodes[first as usize].depth != SOLVED {
                return;
            }
            search.solutions += 1;
            if search.solutions >= job.solution_limit {
                search.stop = Stop::Solutions;
                return self.cut_list(puzzle, first);
            }
            let next = self.lists.nodes[first as usize].next;
            self.lists.join(puzzle, NONE, next);
            self.lists.remove_waiting(first);
        }
    }

    /// Removes a state and all behind it from the list of its puzzle.
    fn cut_list(&mut self, puzzle: usize, link: NodeIndex) {
        if link == NONE {
            return;
        }
        let PuzzleProgress { last, is_shared, .. } = self.lists.progress[puzzle];
        self.lists.join(puzzle, self.lists.nodes[link as usize].previous, NONE);
        if !is_shared && link < NONE {
            // Only one lane works on the puzzle, so all behind it wait: they join the unused ones
            // as a whole.
            self.lists.remove_behind(link, last);
            self.lists.progress[puzzle].waiting = 0;
            return self.release(link as usize);
        }
        let mut link = link;
        while link != NONE {
            let next = self.lists.nodes[link as usize].next;
            if link < NONE {
                self.release(link as usize);
            } else {
                let waiting = u32::from(self.lists.waits(link));
                self.lists.progress[puzzle].waiting -= waiting;
                self.lists.remove_waiting(link);
            }
            link = next;
        }
    }

    /// Gives a puzzle up at the node limit. If lanes have shared it, one lane searches it again,
    /// because which nodes several lanes visit before a solution depends on the other puzzles.
    #[cold]
    fn give_up(&mut self, puzzle: usize, job: &mut SearchJob<'_>) {
        let PuzzleProgress { first, is_shared, is_alone, .. } = self.lists.progress[puzzle];
        self.cut_list(puzzle, first);
        if is_shared && !is_alone {
            self.restarts.push(puzzle as u32);
        } else {
            job.searches[puzzle].stop = Stop::Nodes;
            self.given_up.push(puzzle as u32);
        }
    }

    /// Moves the candidates of a waiting node to a lane, and frees the node.
    #[inline(always)]
    fn load_waiting(&mut self, lane: usize, link: NodeIndex) {
        self.rows.set::<W>(lane, self.lists.candidates(link));
        self.taken.insert::<W>(lane);
        self.lists.remove_waiting(link);
    }

    #[inline(always)]
    fn occupy(&mut self, lane: usize) {
        self.busy.insert::<W>(lane);
        self.free.remove::<W>(lane);
    }

    #[inline(always)]
    fn release(&mut self, lane: usize) {
        self.busy.remove::<W>(lane);
        // What it has taken since the last pass must not overwrite what it begins next.
        self.taken.remove::<W>(lane);
        self.free.insert::<W>(lane);
    }

    /// Reports every unfinished puzzle as cancelled.
    fn report_cancelled(&self, job: &mut SearchJob<'_>) {
        let (begun, others) = job.searches.split_at_mut(self.lists.progress.len());
        others.fill(Search::CANCELLED);
        for &puzzle in &self.restarts {
            begun[puzzle as usize].stop = Stop::Cancelled;
        }
        if !self.busy.is_empty() {
            for (search, progress) in begun.iter_mut().zip(&self.lists.progress) {
                if progress.first != NONE {
                    search.stop = Stop::Cancelled;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::testing;
    use super::*;
    use crate::testing::Random;

    const FULL: &[u8; 81] =
        b"534678912672195348198342567859761423426853791713924856961537284287419635345286179";

    /// Puzzles with some clues of a full grid: mostly enough for one solution in the first 200, too
    /// few in the others.
    fn puzzles() -> Vec<[u8; 81]> {
        let mut random = Random(1);
        let puzzle = |k: u64| {
            let shift = random.below(9) as u8;
            FULL.map(|digit| {
                let is_clue = random.below(100) < if k < 200 { 33 } else { 12 };
                if is_clue { (digit - b'1' + shift) % 9 + 1 } else { 0 }
            })
        };
        (0..700).map(puzzle).collect()
    }

    /// The results of puzzles, `size` at a time, under a node limit.
    fn verdicts(puzzles: &[[u8; 81]], size: usize, nodes: u64, solutions: u64) -> Vec<(u64, Stop)> {
        let mut engine = testing::engine();
        engine.policy.least_limit = 40;
        let mut found = vec![Search::NO_SOLUTION; puzzles.len()];
        for (puzzles, searches) in puzzles.chunks(size).zip(found.chunks_mut(size)) {
            let mut job = SearchJob {
                puzzles,
                solutions: &mut vec![[0; 81]; puzzles.len()],
                searches,
                solution_limit: solutions,
                node_limit: nodes,
                cancel: &AtomicBool::new(false),
                sharing: true,
                dives_in_all: false,
            };
            testing::run(&mut engine, &mut job);
        }
        found.into_iter().map(|search| (search.solutions, search.stop)).collect()
    }

    /// Among puzzles with two solutions a puzzle is dived in, alone it is searched: whether it is
    /// given up is the same.
    #[test]
    fn whether_a_puzzle_is_given_up_does_not_depend_on_dives_for_others() {
        let puzzles = puzzles();
        let number = |found: &[(u64, Stop)], stop| found.iter().filter(|found| found.1 == stop).count();
        let without = verdicts(&puzzles, puzzles.len(), 39, 2);
        assert!(number(&without, Stop::Nodes) > 200, "too few need more nodes than a dive takes");
        for nodes in [40, 60] {
            let together = verdicts(&puzzles, puzzles.len(), nodes, 2);
            assert!(number(&together, Stop::Nodes) < number(&without, Stop::Nodes));
            assert!(number(&together, Stop::Nodes) > 0 || nodes > 40);
            for size in [1, 300] {
                assert_eq!(verdicts(&puzzles, size, nodes, 2), together, "{nodes} nodes, {size} at a time");
            }
        }
    }
}
