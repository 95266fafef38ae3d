//! Jobs: what the lanes are given to search, whether by the engine or by dives.

use std::sync::atomic::AtomicBool;

use crate::solver::{Metrics, Search};

/// Puzzles to be searched, and where the answers go.
pub(super) struct SearchJob<'a> {
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
    /// Is each puzzle to be dived in, however few there are and however many were in vain?
    pub(super) dives_in_all: bool,
}

/// What is found of a puzzle when it is begun: its first node. It stays like this if there is nothing else.
pub(super) const BEGUN: Search =
    Search { metrics: Metrics { nodes: 1, ..Search::NO_SOLUTION.metrics }, ..Search::NO_SOLUTION };

/// The puzzle this many behind the one that is begun is brought near: a few thousand bytes, which the machine does not
/// do by itself because most of the time none is read.
pub(super) const PREFETCH_DISTANCE: usize = 48;

/// The first puzzle of `rest` in as many bytes as are read at once, which may reach beyond the last puzzle: then that is copied to `last`.
#[inline(always)]
pub(super) fn word_of_bytes<'a>(rest: &'a [u8], last: &'a mut [u8; 96]) -> &'a [u8; 96] {
    if let Some(digits) = rest.first_chunk() {
        return digits;
    }
    last[..81].copy_from_slice(rest);
    last
}
