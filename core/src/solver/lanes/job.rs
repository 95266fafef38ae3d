//! Jobs: the puzzles of one call, their limits, and where the answers go. Engine and dives work on
//! them.

use std::sync::atomic::AtomicBool;

use crate::solver::Search;

/// Puzzles to search, limits, and where the answers go.
pub(super) struct SearchJob<'a> {
    /// The puzzles, 81 digits each, 0 for a blank.
    pub(super) puzzles: &'a [[u8; 81]],
    /// The first solution of each puzzle.
    pub(super) solutions: &'a mut [[u8; 81]],
    /// The result of each puzzle.
    pub(super) searches: &'a mut [Search],
    /// A puzzle is finished after this many solutions.
    pub(super) solution_limit: u64,
    /// A puzzle is given up before it takes more than this many nodes.
    pub(super) node_limit: u64,
    /// The whole job stops soon after this becomes true.
    pub(super) cancel: &'a AtomicBool,
    /// Whether idle lanes may take states of a puzzle that another lane works on.
    pub(super) sharing: bool,
    /// Whether dives try every puzzle, however few there are and however many dives have failed.
    pub(super) dives_in_all: bool,
}

/// When a puzzle begins, the one this many further on is prefetched, a few thousand bytes ahead.
/// The processor does not prefetch it by itself, because between two puzzles there is a long time
/// without a read.
pub(super) const PREFETCH_DISTANCE: usize = 48;

/// The first puzzle of `rest` in 96 bytes, as [`Packing`](super::packing::Packing) reads them. They
/// reach into the puzzles behind it; the last puzzles of a job, which have too few bytes behind
/// them, are copied to `last`.
#[inline(always)]
pub(super) fn padded_digits<'a>(rest: &'a [u8], last: &'a mut [u8; 96]) -> &'a [u8; 96] {
    if let Some(digits) = rest.first_chunk() {
        return digits;
    }
    last[..81].copy_from_slice(rest);
    last
}
