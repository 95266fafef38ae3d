//! Compact tallies and metrics, for messages with one easy puzzle each: a batch has thousands of
//! them, and what one core has written is slow to read on another.

use super::Tally;
use crate::solver::Metrics;

/// [`Metrics`] in a third of the memory.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactMetrics {
    nodes: u32,
    guesses: u32,
    backtracks: u32,
    depth: u32,
}

impl CompactMetrics {
    /// The compact form. `None` if a figure exceeds 32 bits, or comparisons and placements were
    /// counted.
    #[must_use]
    pub fn of(metrics: &Metrics) -> Option<Self> {
        let Metrics { nodes, guesses, backtracks, depth, comparisons: 0, placements: 0 } = *metrics else {
            return None;
        };
        let short = |figure: u64| u32::try_from(figure).ok();
        Some(Self {
            nodes: short(nodes)?,
            guesses: short(guesses)?,
            backtracks: short(backtracks)?,
            depth: short(depth)?,
        })
    }

    /// The full form.
    #[must_use]
    pub fn metrics(self) -> Metrics {
        let Self { nodes, guesses, backtracks, depth } = self;
        let [nodes, guesses, backtracks, depth] = [nodes, guesses, backtracks, depth].map(u64::from);
        Metrics { nodes, guesses, backtracks, depth, ..Metrics::default() }
    }
}

/// A [`Tally`], in a third of the memory if it has no errors, as most.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub enum CompactTally {
    /// Good answers only.
    Good {
        /// The number of answers.
        answers: u32,
        /// The cost of all their searches.
        metrics: CompactMetrics,
    },
    /// Any tally.
    Long(Box<Tally>),
}

impl CompactTally {
    /// Takes everything out of a tally.
    #[must_use]
    pub fn take(tally: &mut Tally) -> Self {
        let is_good = tally.errors.is_empty() && tally.costs.is_none();
        match (u32::try_from(tally.answers), CompactMetrics::of(&tally.metrics)) {
            (Ok(answers), Some(metrics)) if is_good => {
                (tally.answers, tally.metrics) = (0, Metrics::default());
                Self::Good { answers, metrics }
            }
            _ => Self::Long(Box::new(std::mem::take(tally))),
        }
    }

    /// Adds it to a tally.
    pub fn add_to(&self, total: &mut Tally) {
        match self {
            Self::Good { answers, metrics } => {
                total.answers += u64::from(*answers);
                total.metrics.add(&metrics.metrics());
            }
            Self::Long(tally) => total.add(tally),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out() {
        let metrics = Metrics { nodes: 9, guesses: 8, backtracks: 7, depth: 6, ..Metrics::default() };
        let good = Tally { answers: 5, metrics, ..Tally::default() };
        let with = |change: fn(&mut Tally)| {
            let mut tally = good.clone();
            change(&mut tally);
            tally
        };
        let taken = |mut tally: Tally| {
            let short = CompactTally::take(&mut tally);
            assert_eq!(tally, Tally::default(), "nothing is left");
            short
        };
        let added = |short: &CompactTally| {
            let mut total = Tally::default();
            short.add_to(&mut total);
            total
        };
        let long = [
            with(|tally| tally.count_one(Some("no_solution"), &Metrics::default())),
            with(|tally| tally.metrics.placements = 1),
            with(|tally| tally.metrics.depth = 1 << 32),
            with(|tally| tally.answers = 1 << 32),
            with(|tally| tally.costs = Some(Box::default())),
        ];
        for tally in long {
            let short = taken(tally.clone());
            assert!(matches!(short, CompactTally::Long(_)));
            assert_eq!(added(&short), tally);
        }
        for tally in [good, Tally::default()] {
            let short = taken(tally.clone());
            assert!(matches!(short, CompactTally::Good { .. }));
            assert_eq!(added(&short), tally);
        }
    }
}
