//! Cancellation of puzzle searches, of all work or of the current puzzle.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::poison::IgnorePoison as _;

/// Cancellation of work on puzzles. A plain [`AtomicBool`] cancels all of it; [`PerPuzzleCancel`]
/// can also give up the current puzzle and continue with the next.
pub trait Cancel: Send + Sync {
    /// The flag that searches check: true when the current search has to stop.
    fn flag(&self) -> &AtomicBool;

    /// Cancels all of the work.
    fn cancel(&self);

    /// Whether puzzles are searched one by one, so that each can be given up alone; default: false.
    /// Strategies that search many together ignore it, because their puzzles take microseconds and
    /// the node limit bounds them.
    fn is_by_puzzle(&self) -> bool {
        false
    }

    /// Called when the search of a single puzzle begins, if puzzles are searched one by one.
    fn begin(&self) {}

    /// Called when that search has ended. Returns whether only its puzzle was given up, and not all
    /// work cancelled.
    fn end(&self) -> bool {
        false
    }
}

impl Cancel for AtomicBool {
    fn flag(&self) -> &AtomicBool {
        self
    }

    fn cancel(&self) {
        self.store(true, Ordering::Relaxed);
    }
}

/// Cancellation of single puzzles: a watchdog sees which puzzle is being searched, and can give
/// that one up.
#[derive(Debug, Default)]
pub struct PerPuzzleCancel {
    flag: AtomicBool,
    state: Mutex<PuzzleState>,
}

/// The state of the current puzzle.
#[derive(Debug, Default)]
struct PuzzleState {
    /// The number of puzzles that have begun.
    begun: u64,
    /// Whether the last of them is being searched. Between two puzzles, and while many are searched
    /// together, none can be given up.
    is_on_hand: bool,
    /// Whether it has been given up.
    is_given_up: bool,
    /// Whether all work has been cancelled.
    is_cancelled: bool,
}

impl PerPuzzleCancel {
    fn state(&self) -> MutexGuard<'_, PuzzleState> {
        self.state.lock().ignore_poison()
    }

    /// The number of the puzzle that is being searched, counted from 1; `None` if there is none.
    #[must_use]
    pub fn on_hand(&self) -> Option<u64> {
        let state = self.state();
        state.is_on_hand.then_some(state.begun)
    }

    /// Gives up the puzzle that is being searched, if it is still the one with this
    /// [number](Self::on_hand).
    pub fn give_up(&self, number: u64) {
        let mut state = self.state();
        if state.is_on_hand && state.begun == number {
            state.is_given_up = true;
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}

impl Cancel for PerPuzzleCancel {
    fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    fn cancel(&self) {
        let mut state = self.state();
        state.is_cancelled = true;
        self.flag.store(true, Ordering::Relaxed);
    }

    fn is_by_puzzle(&self) -> bool {
        true
    }

    fn begin(&self) {
        let mut state = self.state();
        state.begun += 1;
        state.is_on_hand = true;
        // A search that panicked has never ended.
        state.is_given_up = false;
        self.flag.store(state.is_cancelled, Ordering::Relaxed);
    }

    fn end(&self) -> bool {
        let mut state = self.state();
        state.is_on_hand = false;
        let is_given_up = std::mem::take(&mut state.is_given_up);
        self.flag.store(state.is_cancelled, Ordering::Relaxed);
        is_given_up && !state.is_cancelled
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// Gives up one of the searches, by its number from 1, before it begins.
    pub(in super::super) struct GivesUpOne {
        which: u64,
        begun: AtomicU64,
        flag: AtomicBool,
    }

    impl GivesUpOne {
        pub(in super::super) const fn new(which: u64) -> Self {
            Self { which, begun: AtomicU64::new(0), flag: AtomicBool::new(false) }
        }

        /// The number of searches that have begun.
        pub(in super::super) fn begun(&self) -> u64 {
            self.begun.load(Ordering::Relaxed)
        }
    }

    impl Cancel for GivesUpOne {
        fn flag(&self) -> &AtomicBool {
            &self.flag
        }

        fn cancel(&self) {
            unreachable!("nothing is cancelled");
        }

        fn is_by_puzzle(&self) -> bool {
            true
        }

        fn begin(&self) {
            self.begun.fetch_add(1, Ordering::Relaxed);
            self.flag.store(self.begun() == self.which, Ordering::Relaxed);
        }

        fn end(&self) -> bool {
            self.flag.swap(false, Ordering::Relaxed)
        }
    }

    #[test]
    fn only_the_puzzle_on_hand_is_given_up() {
        let cancel = PerPuzzleCancel::default();
        let is_raised = || cancel.flag().load(Ordering::Relaxed);
        cancel.begin();
        assert!(!cancel.end());
        cancel.begin();
        cancel.give_up(1);
        assert!(!is_raised(), "that one is done");
        cancel.give_up(2);
        assert!(is_raised());
        assert!(cancel.end() && !is_raised());
        cancel.begin();
        assert_eq!(cancel.on_hand(), Some(3));
        assert!(!cancel.end());
    }

    #[test]
    fn between_puzzles_nothing_is_given_up() {
        let cancel = PerPuzzleCancel::default();
        assert_eq!(cancel.on_hand(), None);
        cancel.give_up(0);
        cancel.begin();
        assert!(!cancel.end());
        assert_eq!(cancel.on_hand(), None);
        // A watchdog that has seen it acts late, while many puzzles are searched together.
        cancel.give_up(1);
        assert!(!cancel.flag().load(Ordering::Relaxed));
    }

    #[test]
    fn what_is_cancelled_stays_so() {
        let cancel = PerPuzzleCancel::default();
        cancel.begin();
        cancel.give_up(1);
        cancel.cancel();
        assert!(!cancel.end());
        cancel.begin();
        assert!(cancel.flag().load(Ordering::Relaxed) && !cancel.end());
        assert!(cancel.flag().load(Ordering::Relaxed));
    }
}
