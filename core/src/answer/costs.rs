//! How the costs of searches are distributed over the puzzles.

use hdrhistogram::Histogram;

use crate::solver::Metrics;

/// Histograms of what puzzles cost, exact to three digits however large the figures become.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs([Histogram<u64>; Metrics::COUNT]);

/// One kind of cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// What it is, in the plural: `nodes`.
    pub name: &'static str,
    /// For how many puzzles it was counted.
    pub puzzles: u64,
    /// What puzzles cost on average.
    pub mean: f64,
    /// At most this much was enough for half of the puzzles.
    pub median: u64,
    /// The same for nine in ten.
    pub ninety: u64,
    /// The same for ninety-nine in a hundred.
    pub ninety_nine: u64,
    /// What the most expensive puzzle cost.
    pub greatest: u64,
}

impl Default for Costs {
    fn default() -> Self {
        // One to five digits are allowed.
        let histogram = || Histogram::new(3).unwrap_or_else(|error| unreachable!("{error}"));
        Self(std::array::from_fn(|_| histogram()))
    }
}

impl Costs {
    /// Records what one puzzle cost.
    pub fn record(&mut self, metrics: &Metrics) {
        for (histogram, (name, value)) in self.0.iter_mut().zip(metrics.named()) {
            if metrics.are_complete() || !["comparisons", "placements"].contains(&name) {
                // Histograms that grow take any value.
                let recorded = histogram.record(value);
                debug_assert!(recorded.is_ok());
            }
        }
    }

    /// Adds what other puzzles cost.
    pub fn add(&mut self, other: &Self) {
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            let added = mine.add(others);
            debug_assert!(added.is_ok());
        }
    }

    /// All that was recorded: the values of each cost, and how often each.
    #[must_use]
    pub fn recorded(&self) -> Vec<Vec<(u64, u64)>> {
        let of = |histogram: &Histogram<u64>| {
            histogram.iter_recorded().map(|at| (at.value_iterated_to(), at.count_at_value())).collect()
        };
        self.0.iter().map(of).collect()
    }

    /// The same again. `None` if it is not what [`Self::recorded`] gives.
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

    /// How many puzzles were recorded.
    #[must_use]
    pub fn puzzles(&self) -> u64 {
        self.0[0].len()
    }

    /// Each kind of cost, in the order in which people are told.
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
