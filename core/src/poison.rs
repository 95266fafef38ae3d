//! Locks after a panic: they are poisoned, and that is ignored.

use std::sync::{LockResult, PoisonError};

/// Takes what a lock guards, poisoned or not.
///
/// A panic is caught and answered and the process goes on, so a lock that refused everybody after it
/// would let one puzzle end a run or the service. Nothing half done is seen: puzzles are searched
/// outside of locks, and what is done under one leaves the data usable after each step.
pub trait IgnorePoison {
    /// The guard, or the data.
    type Guard;

    /// Takes the guard whether the lock is poisoned or not.
    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for LockResult<G> {
    type Guard = G;

    fn ignore_poison(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}
