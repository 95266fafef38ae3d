//! Locks that a panic does not poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a thread has panicked while it held the lock: panics of searches are
/// caught and answered, and what the mutexes of this crate protect is whole between any two
/// statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
