//! Statistics of many searches: quantiles and correlations.

/// The distribution of a quantity over searches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The [`quantile`] 0.5.
    pub median: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The [`quantile`] 0.9.
    pub p90: f64,
    /// The maximum.
    pub max: u64,
}

impl Spread {
    /// The distribution of these values; all zero if there are none.
    #[must_use]
    pub fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let (Some(median), Some(p90), Some(&max)) =
            (quantile(&values, 0.5), quantile(&values, 0.9), values.last())
        else {
            return Self::default();
        };
        // Summed as floats, because integers could overflow.
        let mean = values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64;
        Self { median, mean, p90, max }
    }
}

/// The quantile of a share from 0 to 1 of values in ascending order, interpolated linearly: type 7
/// of R. Hyndman and Y. Fan (*Sample Quantiles in Statistical Packages*, 1996), the default of R
/// and `NumPy`. `None` if there are no values.
#[must_use]
pub fn quantile(ascending: &[u64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    // A whole number between 0 and `last`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is an index")]
    let below = place.floor() as usize;
    let (low, high) = (ascending[below] as f64, ascending[(below + 1).min(last)] as f64);
    Some(low + (high - low) * (place - below as f64))
}

/// Why there is no correlation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCorrelation {
    /// There are fewer than two pairs.
    TooFew,
    /// All first values are equal.
    FirstIsConstant,
    /// All second values are equal.
    SecondIsConstant,
}

/// The product-moment correlation of pairs (K. Pearson), from -1 to 1: how closely they follow a
/// straight line.
///
/// # Errors
/// [`NoCorrelation`] where it is not defined.
pub fn pearson(pairs: &[(f64, f64)]) -> Result<f64, NoCorrelation> {
    let &[(x, y), _, ..] = pairs else { return Err(NoCorrelation::TooFew) };
    if pairs.iter().all(|pair| pair.0.total_cmp(&x).is_eq()) {
        return Err(NoCorrelation::FirstIsConstant);
    }
    if pairs.iter().all(|pair| pair.1.total_cmp(&y).is_eq()) {
        return Err(NoCorrelation::SecondIsConstant);
    }
    let n = pairs.len() as f64;
    let (mean_x, mean_y) =
        (pairs.iter().map(|pair| pair.0).sum::<f64>() / n, pairs.iter().map(|pair| pair.1).sum::<f64>() / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for &(x, y) in pairs {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    Ok((xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

/// The rank correlation of pairs (C. Spearman), which is [`pearson`] of their ranks: how closely
/// they follow any rising or falling line. Equal values share the mean of their ranks.
///
/// # Errors
/// [`NoCorrelation`] where it is not defined.
pub fn spearman(pairs: &[(f64, f64)]) -> Result<f64, NoCorrelation> {
    let (firsts, seconds): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let ranked: Vec<_> = ranks(&firsts).into_iter().zip(ranks(&seconds)).collect();
    pearson(&ranked)
}

/// The rank of each value, from 1.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        // The mean of first + 1 to first + length.
        let mean = first as f64 + (equal.len() + 1) as f64 / 2.0;
        for &place in equal {
            ranks[place] = mean;
        }
        first += equal.len();
    }
    ranks
}
