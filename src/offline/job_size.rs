//! The size of jobs: how much of an input is answered at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A job that takes less makes the next ones larger, because the cost of a job itself would show.
const SHORT: Duration = Duration::from_millis(5);

/// A job that takes more makes the next ones smaller, because the first answers should come soon, all
/// threads should have work to the end, and a kill loses the jobs that are running.
const LONG: Duration = Duration::from_millis(100);

/// The bytes of input in one job, adapted to how long jobs take, because a hard puzzle may take as
/// long as a million easy ones.
#[derive(Debug)]
pub(super) struct JobSize {
    bytes: AtomicUsize,
    least: usize,
    most: usize,
}

impl JobSize {
    /// Jobs of `most` bytes at first, and down to `least` where they take long.
    pub(super) const fn shrinking(least: usize, most: usize) -> Self {
        Self { bytes: AtomicUsize::new(most), least, most }
    }

    /// Jobs of `least` bytes at first, and up to `most` where they do not take long.
    pub(super) const fn growing(least: usize, most: usize) -> Self {
        Self { bytes: AtomicUsize::new(least), least, most }
    }

    /// Jobs of `bytes` bytes, however long they take.
    pub(super) const fn fixed(bytes: usize) -> Self {
        Self::growing(bytes, bytes)
    }

    /// The bytes of the next job.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Records the time of a job.
    pub(super) fn record(&self, time: Duration) {
        let bytes = match time {
            time if time > LONG => self.bytes() / 2,
            time if time < SHORT => self.bytes() * 2,
            _ => return,
        };
        self.bytes.store(bytes.clamp(self.least, self.most), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_small_where_puzzles_are_hard() {
        let size = JobSize::growing(1_000, 16_000);
        assert_eq!(size.bytes(), 1_000);
        (0..9).for_each(|_| size.record(Duration::from_millis(3)));
        assert_eq!(size.bytes(), 16_000);
        size.record(Duration::from_millis(50));
        assert_eq!(size.bytes(), 16_000);
        size.record(Duration::from_secs(2));
        assert_eq!(size.bytes(), 8_000);
        (0..9).for_each(|_| size.record(Duration::from_secs(2)));
        assert_eq!(size.bytes(), 1_000);
        assert_eq!(JobSize::shrinking(1_000, 16_000).bytes(), 16_000);
    }
}
