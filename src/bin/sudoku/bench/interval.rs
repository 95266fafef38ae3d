//! Confidence intervals of medians.

/// The probability that an interval misses the median, at most.
const ERROR: f64 = 0.01;

/// The fewest values that give an interval.
pub const FEWEST: usize = 8;

/// A median, and an interval that holds that of the distribution with a confidence of 99 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Interval {
    /// Of independent values; `None` if they are fewer than [`FEWEST`].
    ///
    /// Its ends are order statistics, as in the sign test: the number of values below the median is
    /// binomial, whatever the distribution of the values. So a few outliers, from moments when the
    /// machine was busy, do no harm.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len();
        if count < FEWEST {
            return None;
        }
        let (mut term, mut below, mut rank) = (0.5f64.powi(i32::try_from(count).ok()?), 0.0, 0);
        while below + term <= ERROR / 2.0 {
            below += term;
            rank += 1;
            term *= (count - rank + 1) as f64 / rank as f64;
        }
        let (low, high) = (values[rank - 1], values[count - rank]);
        Some(Self { low, median: f64::midpoint(values[(count - 1) / 2], values[count / 2]), high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        let ranks = |count: usize| {
            let values: Vec<f64> = (1..=count).rev().map(|value| value as f64).collect();
            Interval::of(&values).map(|Interval { low, median, high }| (low, median, high))
        };
        // Of tables of the sign test for 99 %.
        assert_eq!(ranks(7), None);
        assert_eq!(ranks(8), Some((1.0, 4.5, 8.0)));
        assert_eq!(ranks(11), Some((1.0, 6.0, 11.0)));
        assert_eq!(ranks(12), Some((2.0, 6.5, 11.0)));
        assert_eq!(ranks(20), Some((4.0, 10.5, 17.0)));
        assert_eq!(ranks(50), Some((16.0, 25.5, 35.0)));
    }

    #[test]
    fn a_few_values_that_are_far_off_change_little() {
        let mut values: Vec<f64> = (0..40).map(|value| 1.0 + f64::from(value % 5) / 1000.0).collect();
        values[7] = 30.0;
        values[20] = 0.01;
        let Interval { low, median, high } = Interval::of(&values).unwrap();
        assert!(low >= 1.0 && median < 1.004 && high <= 1.004, "{low} {median} {high}");
    }
}
