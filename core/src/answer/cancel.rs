//! How work on puzzles is told to stop while it is being done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What work on puzzles goes by. A plain flag stops all of it; [`PerPuzzleCancel`] can also make it give up the
/// puzzle on hand and go on.
pub trait Cancel: Send + Sync {
    /// The flag that searches look at: raised when the search on hand has to stop.
    fn flag(&self) -> &AtomicBool;

    /// Stops all of the work.
    fn cancel(&self);

    /// Are puzzles to be searched one by one, so that each can be given up alone? Strategies that search many
    /// together do so all the same: their puzzles take microseconds, and the node limit bounds them.
    fn is_by_puzzle(&self) -> bool {
        false
    }

    /// The search of a single puzzle begins. Where puzzles are not searched one by one this is never said.
    fn begin(&self) {}

    /// The search that was begun has ended. If it was stopped: is only its puzzle given up, and not all of the work?
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

/// For puzzles that may take long: whoever holds it sees which one is being searched, and can give that one up.
#[derive(Debug, Default)]
pub struct PerPuzzleCancel {
    flag: AtomicBool,
    state: Mutex<PuzzleState>,
}

#[derive(Debug, Default)]
struct PuzzleState {
    /// How many puzzles have been begun.
    begun: u64,
    /// Is the last of them being searched? Between two puzzles, and while many are searched together, there is none that
    /// could be given up.
    is_on_hand: bool,
    /// Is it given up?
    is_given_up: bool,
    /// Is all of the work to stop?
    is_cancelled: bool,
}

impl PerPuzzleCancel {
    fn state(&self) -> MutexGuard<'_, PuzzleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The puzzle that is being searched, as the number of puzzles begun so far; `None` if there is none.
    #[must_use]
    pub fn on_hand(&self) -> Option<u64> {
        let state = self.state();
        state.is_on_hand.then_some(state.begun)
    }

    /// Gives up the puzzle that is being searched, if it is still the one that was begun as the `number`-th.
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
        // A search that panicked has not been ended.
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
mod tests {
    use super::*;

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
        // A watch that has seen it looks again, while many puzzles are searched together.
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
