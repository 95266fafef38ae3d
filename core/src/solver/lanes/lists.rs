//! Lists of unfinished search states, one for each puzzle, in the order in which one depth-first
//! search would visit them.
//!
//! The lists are intrusive: a node holds the indices of its neighbours, so that a lane gets from
//! its own node to the next without a search.

use super::packing::{CandidateRow, ROW_PARTS};
use super::word::MOST_LANES;

/// The index of a [`SearchNode`]: of the one in lane `n`, [`NONE`], or from [`FIRST_WAITING`] on
/// one that waits.
///
/// `NONE` has a node too, which may be written to, because a branch for the ends of lists would
/// often be mispredicted. Its depth stays [`SOLVED`].
pub(super) type NodeIndex = u32;
pub(super) const NONE: NodeIndex = MOST_LANES as NodeIndex;

/// The index of the first node that waits.
const FIRST_WAITING: usize = MOST_LANES + 1;

/// An unfinished search state.
#[derive(Clone, Copy)]
pub(super) struct SearchNode {
    /// The neighbours in the list of the puzzle.
    pub(super) previous: NodeIndex,
    pub(super) next: NodeIndex,
    pub(super) puzzle: u32,
    /// The number of guesses that stand, or [`SOLVED`].
    pub(super) depth: u32,
}

/// The depth of a node that is a solution and not counted yet, because states before it are
/// unfinished.
pub(super) const SOLVED: u32 = u32::MAX;

impl SearchNode {
    /// The first node of a puzzle.
    pub(super) const fn root(puzzle: usize) -> Self {
        Self { previous: NONE, next: NONE, puzzle: puzzle as u32, depth: 0 }
    }
}

/// The progress of one puzzle. Its solutions and metrics so far are in its
/// [`Search`](crate::solver::Search).
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(super) struct PuzzleProgress {
    pub(super) first: NodeIndex,
    pub(super) last: NodeIndex,
    /// The number of states in the list that are in no lane.
    pub(super) waiting: u32,
    /// Whether it is among the donors of the engine.
    pub(super) is_donor: bool,
    /// Whether a second lane has ever helped.
    pub(super) is_shared: bool,
    /// Whether only one lane may search it.
    pub(super) is_alone: bool,
    /// Whether there has been a contradiction.
    pub(super) has_failed: bool,
}

impl PuzzleProgress {
    /// A puzzle with one search state, in a lane.
    pub(super) const fn begun(link: NodeIndex) -> Self {
        Self {
            first: link,
            last: link,
            waiting: 0,
            is_donor: false,
            is_shared: false,
            is_alone: false,
            has_failed: false,
        }
    }
}

/// The lists of all puzzles that have begun.
pub(super) struct StateLists {
    /// The nodes in lanes, and behind them those that wait.
    pub(super) nodes: Vec<SearchNode>,
    /// The candidates of the nodes that wait.
    ///
    /// Their number is bounded, because each guess takes a permutation from one of 54 pairs of a
    /// digit and a band or stack, which have six at most: 270 for each lane, 16 MiB for 512 lanes.
    /// A few for each lane are usual.
    waiting: Vec<CandidateRow>,
    /// The first unused waiting node, whose `next` is the second.
    unused: NodeIndex,
    /// The puzzles that have begun.
    pub(super) progress: Vec<PuzzleProgress>,
}

impl StateLists {
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![SearchNode { depth: SOLVED, ..SearchNode::root(0) }; FIRST_WAITING],
            waiting: Vec::new(),
            unused: NONE,
            progress: Vec::new(),
        }
    }

    /// Removes all lists; up to `puzzles` will begin.
    #[inline(always)]
    pub(super) fn reset(&mut self, puzzles: usize) {
        self.progress.clear();
        // Powers of two, because the allocator reuses sizes that recur.
        self.progress.reserve(puzzles.next_power_of_two());
        self.nodes.truncate(FIRST_WAITING);
        self.waiting.clear();
        self.unused = NONE;
    }

    /// Makes two states neighbours in the list of a puzzle; [`NONE`] is the end of the list on that
    /// side.
    #[inline(always)]
    pub(super) fn join(&mut self, puzzle: usize, before: NodeIndex, after: NodeIndex) {
        let progress = &mut self.progress[puzzle];
        progress.first = if before == NONE { after } else { progress.first };
        progress.last = if after == NONE { before } else { progress.last };
        self.nodes[before as usize].next = after;
        self.nodes[after as usize].previous = before;
    }

    /// Whether this node exists and waits for a lane.
    #[inline(always)]
    pub(super) fn waits(&self, link: NodeIndex) -> bool {
        link > NONE && self.nodes[link as usize].depth != SOLVED
    }

    /// The candidates of a node that waits.
    #[inline(always)]
    pub(super) fn candidates(&self, link: NodeIndex) -> &CandidateRow {
        &self.waiting[link as usize - FIRST_WAITING]
    }

    /// The candidates of a node that waits, to be written to.
    #[inline(always)]
    pub(super) fn candidates_mut(&mut self, link: NodeIndex) -> &mut CandidateRow {
        &mut self.waiting[link as usize - FIRST_WAITING]
    }

    /// Adds a node that waits, or that marks a solution, and is in no list yet.
    #[inline(always)]
    pub(super) fn add_waiting(&mut self, node: SearchNode) -> NodeIndex {
        let link = self.unused;
        if link == NONE {
            self.nodes.push(node);
            self.waiting.push([0; ROW_PARTS]);
            return self.nodes.len() as NodeIndex - 1;
        }
        self.unused = std::mem::replace(&mut self.nodes[link as usize], node).next;
        link
    }

    /// Frees a node that is in no list any more.
    #[inline(always)]
    pub(super) fn remove_waiting(&mut self, link: NodeIndex) {
        self.nodes[link as usize].next = self.unused;
        self.unused = link;
    }

    /// Frees all nodes behind this one up to `last`, the last of the list, as a whole. All of them
    /// wait.
    #[inline(always)]
    pub(super) fn remove_behind(&mut self, link: NodeIndex, last: NodeIndex) {
        let next = std::mem::replace(&mut self.nodes[last as usize].next, self.unused);
        debug_assert_eq!(next, NONE);
        self.unused = self.nodes[link as usize].next;
    }
}
