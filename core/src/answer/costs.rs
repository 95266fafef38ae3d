//! Costs: the distribution of the cost of searches over puzzles.

use hdrhistogram::Histogram;

use crate::solver::Metrics;

/// Histograms of the cost of puzzles, one for each figure of [`Metrics`], exact to three
/// significant digits.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs([Histogram<u64>; Metrics::COUNT]);

/// The distribution of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// Its name in the plural, such as `nodes`.
    pub name: &'static str,
    /// The number of puzzles for which it was counted.
    pub puzzles: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The 50th percentile.
    pub median: u64,
    /// The 90th percentile.
    pub ninety: u64,
    /// The 99th percentile.
    pub ninety_nine: u64,
    /// The maximum.
    pub greatest: u64,
}

impl Default for Costs {
    fn default() -> Self {
        // Any precision of one to five digits is valid.
        let histogram = || Histogram::new(3).unwrap_or_else(|error| unreachable!("{error}"));
        Self(std::array::from_fn(|_| histogram()))
    }
}

impl Costs {
    /// Records the cost of one puzzle.
    pub fn record(&mut self, metrics: &Metrics) {
        for (histogram, (name, value)) in self.0.iter_mut().zip(metrics.named()) {
            if metrics.are_complete() || !["comparisons", "placements"].contains(&name) {
                // Histograms that resize take any value.
                let recorded = histogram.record(value);
                debug_assert!(recorded.is_ok());
            }
        }
    }

    /// Adds the costs of other puzzles.
    pub fn add(&mut self, other: &Self) {
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            let added = mine.add(others);
            debug_assert!(added.is_ok());
        }
    }

    /// The recorded values of each figure and their counts, from which [`Self::from_recorded`]
    /// restores the histograms.
    #[doc(hidden)]
    #[must_use]
    pub fn recorded(&self) -> Vec<Vec<(u64, u64)>> {
        let of = |histogram: &Histogram<u64>| {
            histogram.iter_recorded().map(|at| (at.value_iterated_to(), at.count_at_value())).collect()
        };
        self.0.iter().map(of).collect()
    }

    /// Histograms with these values and counts. `None` if they cannot come from [`Self::recorded`].
    #[doc(hidden)]
    #[must_use]
    pub fn from_recorded(recorded: &[Vec<(u64, u64)>]) -> Option<Self> {
        let mut costs = Self::default();
        if recorded.len() != costs.0.len() {
            return None;
        }
        for (histogram, values) in costs.0.iter_mut().zip(recorded) {
            histogram.auto(true);
            for &(value, count) in values {
                histogram.record_n(value, count).ok()?;
            }
        }
        Some(costs)
    }

    /// The number of puzzles recorded.
    #[must_use]
    pub fn puzzles(&self) -> u64 {
        self.0[0].len()
    }

    /// The distribution of each figure, in the order of [`Metrics::named`].
    pub fn each(&self) -> impl Iterator<Item = Cost> {
        self.0.iter().zip(Metrics::default().named()).map(|(histogram, (name, _))| Cost {
            name,
            puzzles: histogram.len(),
            mean: histogram.mean(),
            median: histogram.value_at_quantile(0.5),
            ninety: histogram.value_at_quantile(0.9),
            ninety_nine: histogram.value_at_quantile(0.99),
            greatest: histogram.max(),
        })
    }
}
