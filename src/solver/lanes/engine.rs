//! The search: every lane a depth-first search of its own, refilled as soon as it is free.
//!
//! The search states of a puzzle that are not finished stand in a list, in the order in which a single
//! depth-first search would visit them. Some of them are in lanes, the others wait. A guess puts the other side right
//! behind its own; a lane whose state ends goes on with the one behind, or looks for work elsewhere:
//! the next puzzle, or when there is none the last waiting state of some other puzzle. Because the order is kept, the
//! solution that is found first in the list is the same whatever lanes worked on it.

use std::sync::atomic::{AtomicBool, Ordering};

use super::branch::{self, Branch};
use super::inference::State;
use super::transpose::{CANDIDATES, ROW_PARTS, Row, Rows};
use super::word::{Mask, Word};
use crate::solver::{Metrics, Search, Stop};

/// Puzzles to be searched, and where the answers go.
pub(super) struct Job<'a> {
    /// 81 digits for each puzzle, 0 for a blank.
    pub(super) puzzles: &'a [[u8; 81]],
    /// Where each puzzle's first solution goes.
    pub(super) solutions: &'a mut [[u8; 81]],
    /// What was found, for each puzzle.
    pub(super) searches: &'a mut [Search],
    /// Stop a puzzle after this many solutions.
    pub(super) solution_limit: u64,
    /// Stop a puzzle before visiting more than this many nodes.
    pub(super) node_limit: u64,
    /// Stop soon after this becomes true.
    pub(super) cancel: &'a AtomicBool,
    /// May idle lanes take states of a puzzle that another lane works on?
    pub(super) sharing: bool,
}

/// How the lanes were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStats {
    /// Passes of inference over all lanes.
    pub passes: u64,
    /// Lanes with a search state, summed over the passes.
    pub busy_lanes: u64,
    /// Lanes, busy or not, summed over the passes.
    pub lanes: u64,
}

/// Refers to a [`Node`], or to none.
type Link = u32;
const NONE: Link = Link::MAX;

/// A search state that is not finished.
struct Node {
    /// Its candidates, unless it is in a lane.
    row: Row,
    /// Its neighbours in the list of its puzzle.
    previous: Link,
    next: Link,
    puzzle: u32,
    /// The lane it is in, or [`WAITING`].
    lane: u32,
    /// How many guesses stand.
    depth: u32,
}

const WAITING: u32 = u32::MAX;

/// How far the search of a puzzle is.
#[derive(Clone, Copy)]
struct Progress {
    first: Link,
    last: Link,
    /// The states of the list that are in no lane.
    waiting: u32,
    /// Does it stand among the donors?
    is_donor: bool,
    /// Has another lane ever helped?
    is_shared: bool,
    /// Is it to be searched by one lane?
    is_alone: bool,
    gave_up: bool,
    solutions: u64,
    metrics: Metrics,
}

impl Progress {
    const NONE: Self = Self {
        first: NONE,
        last: NONE,
        waiting: 0,
        is_donor: false,
        is_shared: false,
        is_alone: false,
        gave_up: false,
        solutions: 0,
        metrics: Metrics { nodes: 0, guesses: 0, backtracks: 0, depth: 0 },
    };
}

/// The lanes of one thread, with all that they need to work.
pub(super) struct Engine<W> {
    state: Box<State<W>>,
    branch: Box<Branch<W>>,
    rows: Rows,
    /// The node in each lane.
    lanes: Vec<Link>,
    nodes: Vec<Node>,
    /// Nodes that are not in use, linked by `next`.
    unused: Link,
    progress: Vec<Progress>,
    /// Puzzles that have, or had, waiting states that other lanes may take.
    donors: Vec<u32>,
    /// Puzzles to be begun again, by one lane each.
    again: Vec<u32>,
    /// The next puzzle that no lane has begun.
    fresh: usize,
    /// The lanes whose row is to be loaded.
    filled: Mask,
    stats: LaneStats,
}

/// The lanes go on with passes until at most this part of the busy ones is neither done nor stalled, in 256ths: then it
/// pays to bring new work to the others.
const UNSETTLED: u32 = 64;

impl<W: Word> Engine<W> {
    pub(super) fn new() -> Self {
        Self {
            state: State::new(),
            branch: Branch::new(),
            rows: Rows::new::<W>(),
            lanes: vec![NONE; 64 * W::PARTS],
            nodes: Vec::new(),
            unused: NONE,
            progress: Vec::new(),
            donors: Vec::new(),
            again: Vec::new(),
            fresh: 0,
            filled: Mask::default(),
            stats: LaneStats::default(),
        }
    }

    pub(super) const fn stats(&self) -> LaneStats {
        self.stats
    }

    /// Searches all puzzles of the job.
    #[inline(always)]
    pub(super) fn run(&mut self, job: &mut Job<'_>) {
        self.reset(job);
        let mut free = Mask::all::<W>();
        let mut busy = Mask::default();
        loop {
            for lane in free.lanes() {
                if !self.fill(lane, job) {
                    break;
                }
                free.remove(lane);
                busy.insert(lane);
            }
            if busy.is_empty() || job.cancel.load(Ordering::Relaxed) {
                break;
            }
            self.load();
            let (solved, stalled) = self.propagate(busy.word());
            let guessing = self.branch.choose(&mut self.state, stalled);
            let (solved, guessing) = (Mask::of(solved), Mask::of(guessing));
            if !(solved.is_empty() && guessing.is_empty()) {
                self.unload();
            }
            self.branch.follow(&mut self.state);
            for lane in solved.lanes() {
                self.solved(lane, job);
            }
            for lane in guessing.lanes() {
                self.guess(lane, job);
            }
            for lane in Mask::of(busy.word::<W>().and_not(self.state.alive)).lanes() {
                self.end(lane, job);
            }
            // Whatever ended a state: if its lane has no other, it is free.
            for lane in busy.lanes() {
                if self.lanes[lane] == NONE {
                    busy.remove(lane);
                    free.insert(lane);
                }
            }
        }
        self.report(job);
    }

    fn reset(&mut self, job: &Job<'_>) {
        self.progress.clear();
        self.progress.resize(job.puzzles.len(), Progress::NONE);
        self.lanes.fill(NONE);
        self.nodes.clear();
        self.unused = NONE;
        self.donors.clear();
        self.again.clear();
        self.fresh = 0;
        self.filled = Mask::default();
    }

    /// Brings the rows of the filled lanes into the sliced state.
    #[inline(always)]
    fn load(&mut self) {
        let filled: W = self.filled.word();
        for part in 0..ROW_PARTS {
            let words = self.rows.slice::<W>(part);
            let candidates = &mut self.state.candidates[64 * part..];
            for i in 0..candidates.len().min(64) {
                candidates[i] = W::select(filled, words[i], candidates[i]);
            }
        }
        self.state.alive = self.state.alive.or(filled);
        self.filled = Mask::default();
    }

    /// Brings the sliced state, and the guesses that have been chosen, into the rows.
    #[inline(always)]
    fn unload(&mut self) {
        for part in 0..ROW_PARTS {
            let mut words = [W::splat(0); 64];
            let candidates = &self.state.candidates[64 * part..];
            let count = candidates.len().min(64);
            words[..count].copy_from_slice(&candidates[..count]);
            if part == CANDIDATES / 64 {
                self.branch.mark(&mut words);
            }
            self.rows.set_slice(part, words);
        }
    }

    /// Passes until most of the busy lanes are done or stalled. Returns the lanes that are solved, and those that are
    /// stalled.
    #[inline(always)]
    fn propagate(&mut self, busy: W) -> (W, W) {
        let state = &mut *self.state;
        let count = Mask::of(busy).len();
        state.changed = W::splat(!0);
        loop {
            state.look_at_cells();
            let stalled = state.open.and_not(state.changed);
            let open = state.open;
            state.pass();
            self.stats.passes += 1;
            self.stats.busy_lanes += u64::from(count);
            self.stats.lanes += 64 * W::PARTS as u64;
            let alive = busy.and(state.alive);
            if Mask::of(W::and3(alive, open, open).and_not(stalled)).len() <= count * UNSETTLED / 256 {
                // What has one candidate in each cell and passes has a place for every digit in every house.
                return (alive.and_not(open), alive.and(stalled));
            }
        }
    }

    /// Finds work for a free lane: a puzzle that no lane has begun, else a part of one that another lane works on.
    #[inline(always)]
    fn fill(&mut self, lane: usize, job: &Job<'_>) -> bool {
        if let Some(puzzle) = self.again.pop() {
            self.begin(lane, puzzle as usize, job);
            return true;
        }
        if self.fresh < job.puzzles.len() {
            self.begin(lane, self.fresh, job);
            self.fresh += 1;
            return true;
        }
        while job.sharing
            && let Some(&puzzle) = self.donors.last()
        {
            let progress = &mut self.progress[puzzle as usize];
            if progress.waiting == 0 || progress.is_alone {
                progress.is_donor = false;
                self.donors.pop();
                continue;
            }
            // The last state of the list is the oldest, and likely the largest.
            progress.is_shared = true;
            let mut link = progress.last;
            while self.nodes[link as usize].lane != WAITING {
                link = self.nodes[link as usize].previous;
            }
            if self.take(lane, link, job) {
                return true;
            }
        }
        false
    }

    /// Begins a puzzle.
    #[inline(always)]
    fn begin(&mut self, lane: usize, puzzle: usize, job: &Job<'_>) {
        let mut cells = [u8::MAX; 96];
        cells[..81].copy_from_slice(&job.puzzles[puzzle]);
        self.rows.set::<W>(lane, &row_of(&W::cells_by_digit(&cells)));
        self.filled.insert(lane);
        let link = self.add_node(Node {
            row: [0; ROW_PARTS],
            previous: NONE,
            next: NONE,
            puzzle: puzzle as u32,
            lane: lane as u32,
            depth: 0,
        });
        self.lanes[lane] = link;
        let progress = &mut self.progress[puzzle];
        (progress.first, progress.last) = (link, link);
        progress.metrics.nodes = 1;
    }

    /// Takes a waiting state into a lane. False if that would be a node too many: then the puzzle has been given up.
    #[inline(always)]
    fn take(&mut self, lane: usize, link: Link, job: &Job<'_>) -> bool {
        let node = &mut self.nodes[link as usize];
        let puzzle = node.puzzle as usize;
        let progress = &mut self.progress[puzzle];
        if progress.metrics.nodes >= job.node_limit {
            self.give_up(puzzle);
            return false;
        }
        progress.metrics.nodes += 1;
        progress.metrics.backtracks += 1;
        progress.waiting -= 1;
        node.lane = lane as u32;
        self.rows.set::<W>(lane, &node.row);
        self.filled.insert(lane);
        self.lanes[lane] = link;
        true
    }

    /// Keeps the other side of the guess that a lane follows.
    #[inline(always)]
    fn guess(&mut self, lane: usize, job: &Job<'_>) {
        let link = self.lanes[lane];
        if link == NONE {
            return; // The puzzle has been ended by another lane.
        }
        let node = &mut self.nodes[link as usize];
        let puzzle = node.puzzle as usize;
        let progress = &mut self.progress[puzzle];
        progress.metrics.guesses += 1;
        if progress.metrics.nodes >= job.node_limit {
            self.give_up(puzzle);
            return;
        }
        progress.metrics.nodes += 1;
        let (depth, next) = (node.depth, node.next);
        node.depth += 1;
        progress.metrics.depth = progress.metrics.depth.max(u64::from(node.depth));
        progress.waiting += 1;
        if !progress.is_donor {
            progress.is_donor = true;
            self.donors.push(puzzle as u32);
        }
        let mut row = self.rows.get::<W>(lane);
        branch::refuse(&mut row);
        let other =
            self.add_node(Node { row, previous: link, next, puzzle: puzzle as u32, lane: WAITING, depth });
        self.nodes[link as usize].next = other;
        match next {
            NONE => self.progress[puzzle].last = other,
            next => self.nodes[next as usize].previous = other,
        }
    }

    /// A lane has found a solution.
    #[inline(always)]
    fn solved(&mut self, lane: usize, job: &mut Job<'_>) {
        let link = self.lanes[lane];
        if link == NONE {
            return;
        }
        let puzzle = self.nodes[link as usize].puzzle as usize;
        let progress = &mut self.progress[puzzle];
        if job.solution_limit == 1 || progress.solutions == 0 {
            W::digits_of_cells(&cells_of(&self.rows.get::<W>(lane)), &mut job.solutions[puzzle]);
        }
        if job.solution_limit == 1 {
            // What comes later in the list does not matter any more; what comes before may have an earlier solution.
            progress.solutions = 1;
            self.cut(puzzle, link);
        } else {
            progress.solutions += 1;
            if progress.solutions >= job.solution_limit {
                let first = progress.first;
                self.cut(puzzle, first);
            } else {
                self.end(lane, job);
            }
        }
    }

    /// The state in a lane is finished: the lane goes on with the one behind it, if that waits.
    #[inline(always)]
    fn end(&mut self, lane: usize, job: &Job<'_>) {
        let link = self.lanes[lane];
        if link == NONE {
            return;
        }
        let Node { previous, next, puzzle, .. } = self.nodes[link as usize];
        let progress = &mut self.progress[puzzle as usize];
        match previous {
            NONE => progress.first = next,
            previous => self.nodes[previous as usize].next = next,
        }
        match next {
            NONE => progress.last = previous,
            next => self.nodes[next as usize].previous = previous,
        }
        self.remove_node(link);
        if next != NONE && self.nodes[next as usize].lane == WAITING {
            self.take(lane, next, job);
        }
    }

    /// Removes a state from the list of its puzzle, and all that come behind it.
    fn cut(&mut self, puzzle: usize, link: Link) {
        if link == NONE {
            return;
        }
        let previous = self.nodes[link as usize].previous;
        let progress = &mut self.progress[puzzle];
        progress.last = previous;
        match previous {
            NONE => progress.first = NONE,
            previous => self.nodes[previous as usize].next = NONE,
        }
        let mut link = link;
        while link != NONE {
            let node = &self.nodes[link as usize];
            let next = node.next;
            if node.lane == WAITING {
                self.progress[puzzle].waiting -= 1;
            }
            self.remove_node(link);
            link = next;
        }
    }

    /// The node limit is reached. If lanes have shared the puzzle it is searched again by one alone, because which nodes
    /// they visited before a solution depended on what else there was to do.
    #[cold]
    fn give_up(&mut self, puzzle: usize) {
        let first = self.progress[puzzle].first;
        self.cut(puzzle, first);
        let progress = &mut self.progress[puzzle];
        if progress.is_shared && !progress.is_alone {
            *progress = Progress { is_alone: true, is_donor: progress.is_donor, ..Progress::NONE };
            self.again.push(puzzle as u32);
        } else {
            progress.gave_up = true;
        }
    }

    #[inline(always)]
    fn add_node(&mut self, node: Node) -> Link {
        match self.unused {
            NONE => {
                self.nodes.push(node);
                self.nodes.len() as Link - 1
            }
            link => {
                self.unused = self.nodes[link as usize].next;
                self.nodes[link as usize] = node;
                link
            }
        }
    }

    /// Its lane, if it has one, is left without a node.
    #[inline(always)]
    fn remove_node(&mut self, link: Link) {
        let node = &mut self.nodes[link as usize];
        if node.lane != WAITING {
            self.lanes[node.lane as usize] = NONE;
        }
        node.next = self.unused;
        self.unused = link;
    }

    fn report(&self, job: &mut Job<'_>) {
        for (search, progress) in job.searches.iter_mut().zip(&self.progress) {
            let stop = if progress.gave_up {
                Stop::Nodes
            } else if progress.first != NONE || progress.metrics.nodes == 0 {
                Stop::Cancelled
            } else if progress.solutions >= job.solution_limit {
                Stop::Solutions
            } else {
                Stop::Exhausted
            };
            *search = Search { solutions: progress.solutions, stop, metrics: progress.metrics };
        }
    }
}

/// The candidates of a puzzle: its clues, and every digit in the blanks.
#[inline(always)]
fn row_of(cells_by_digit: &[u128; 10]) -> Row {
    let mut row = [0; ROW_PARTS];
    for digit in 0..9 {
        let cells = cells_by_digit[digit + 1] | cells_by_digit[0];
        let (part, bit) = (81 * digit / 64, 81 * digit % 64);
        row[part] |= (cells << bit) as u64;
        row[part + 1] |= (cells >> (64 - bit)) as u64;
        if bit + 81 > 128 {
            row[part + 2] |= (cells >> (128 - bit)) as u64;
        }
    }
    row
}

/// The cells that have each digit as a candidate: the opposite of [`row_of`].
#[inline(always)]
fn cells_of(row: &Row) -> [u128; 9] {
    let mut cells = [0; 9];
    for digit in 0..9 {
        let (part, bit) = (81 * digit / 64, 81 * digit % 64);
        let two = u128::from(row[part]) | u128::from(row[part + 1]) << 64;
        cells[digit] = two >> bit;
        if bit + 81 > 128 {
            cells[digit] |= u128::from(row[part + 2]) << (128 - bit);
        }
        cells[digit] &= (1 << 81) - 1;
    }
    cells
}
