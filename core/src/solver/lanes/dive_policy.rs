//! The policy of dives: when the engine tries them before it searches the puzzles that are left.

use super::dives;
use super::job::SearchJob;

/// Dives are considered after this many puzzles with two solutions. They pay if nearly all puzzles
/// have two.
const SAMPLE: u64 = 16;

/// Under a lower node limit there are no dives, because a dive visits nodes besides those of the
/// search.
const LEAST_LIMIT: u64 = 100 * dives::MOST_NODES;

/// When dives are considered, and whether they pay.
pub(super) struct DivePolicy {
    /// The puzzles that reached the limit of solutions since the last [`Self::pays`], and the
    /// number of puzzles that had ended by then.
    saturated: u64,
    sampled_at: usize,
    /// When `saturated` reaches this, dives are considered.
    sample: u64,
    /// [`LEAST_LIMIT`], or less in tests.
    pub(super) least_limit: u64,
}

impl DivePolicy {
    pub(super) const fn new() -> Self {
        Self { saturated: 0, sampled_at: 0, sample: 0, least_limit: LEAST_LIMIT }
    }

    /// Begins a job.
    #[inline(always)]
    pub(super) const fn reset(&mut self, job: &SearchJob<'_>) {
        (self.saturated, self.sampled_at) = (0, 0);
        self.sample = if self.may_dive(job) { SAMPLE } else { u64::MAX };
    }

    /// Whether dives can answer what the job asks.
    pub(super) const fn may_dive(&self, job: &SearchJob<'_>) -> bool {
        job.solution_limit == 2 && job.node_limit >= self.least_limit
    }

    /// Counts a puzzle that has reached the limit of solutions.
    #[inline(always)]
    pub(super) const fn count_saturated(&mut self) {
        self.saturated += 1;
    }

    /// Whether dives are to be considered.
    #[inline(always)]
    pub(super) const fn is_due(&self) -> bool {
        self.saturated >= self.sample
    }

    /// Whether most of the puzzles that ended since the last call had two solutions; `ended` have by
    /// now.
    #[inline(always)]
    pub(super) const fn pays(&mut self, ended: usize) -> bool {
        let is_usual = 8 * self.saturated >= 7 * (ended - self.sampled_at) as u64;
        (self.saturated, self.sampled_at) = (0, ended);
        is_usual
    }

    /// Considers no more dives in this job.
    #[inline(always)]
    pub(super) const fn stop(&mut self) {
        self.sample = u64::MAX;
    }
}
