//! How work on puzzles is told to stop while it is being done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What work on puzzles goes by. A plain flag stops all of it; [`PuzzleByPuzzle`] can also make it give up the
/// puzzle on hand and go on.
pub trait Rein: Send + Sync {
    /// The flag that searches look at: raised when the search on hand has to stop.
    fn flag(&self) -> &AtomicBool;

    /// Stops all of the work.
    fn cancel(&self);

    /// Are puzzles to be searched one by one, so that each can be given up alone? Strategies that search many
    /// together do so all the same: their puzzles take microseconds, and the node limit bounds them.
    fn is_by_puzzle(&self) -> bool {
        false
    }

    /// The search of a single puzzle begins.
    fn begin(&self) {}

    /// Of a search that was stopped: is only its puzzle given up, and not all of the work?
    fn gives_up(&self) -> bool {
        false
    }
}

impl Rein for AtomicBool {
    fn flag(&self) -> &AtomicBool {
        self
    }

    fn cancel(&self) {
        self.store(true, Ordering::Relaxed);
    }
}

/// For puzzles that may take long: whoever holds it sees how many have been begun, and can give up the one on hand.
#[derive(Debug, Default)]
pub struct PuzzleByPuzzle {
    flag: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many puzzles have been begun.
    begun: u64,
    /// Is the last of them given up?
    is_given_up: bool,
    /// Is all of the work to stop?
    is_cancelled: bool,
}

impl PuzzleByPuzzle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many puzzles have been begun.
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.state().begun
    }

    /// Gives up the puzzle on hand, if it is still the one that was begun as the `number`-th.
    pub fn give_up(&self, number: u64) {
        let mut state = self.state();
        if state.begun == number {
            state.is_given_up = true;
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}

impl Rein for PuzzleByPuzzle {
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
        state.is_given_up = false;
        self.flag.store(state.is_cancelled, Ordering::Relaxed);
    }

    fn gives_up(&self) -> bool {
        let state = self.state();
        state.is_given_up && !state.is_cancelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_puzzle_on_hand_is_given_up() {
        let rein = PuzzleByPuzzle::default();
        rein.begin();
        rein.begin();
        rein.give_up(1);
        assert!(!rein.flag().load(Ordering::Relaxed) && !rein.gives_up(), "that one is done");
        rein.give_up(2);
        assert!(rein.flag().load(Ordering::Relaxed) && rein.gives_up());
        rein.begin();
        assert!(!rein.flag().load(Ordering::Relaxed) && !rein.gives_up());
        assert_eq!(rein.begun(), 3);
    }

    #[test]
    fn what_is_cancelled_stays_so() {
        let rein = PuzzleByPuzzle::default();
        rein.begin();
        rein.give_up(1);
        rein.cancel();
        assert!(!rein.gives_up());
        rein.begin();
        assert!(rein.flag().load(Ordering::Relaxed) && !rein.gives_up());
    }
}
