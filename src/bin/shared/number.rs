//! Whole numbers in a range, as values of flags.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// A parser of whole numbers in `range`. Its error names the range.
pub fn whole<T>(
    range: impl RangeBounds<T> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("give a whole number from {}", limits(&range)))
    }
}

/// A range in words: `1`, which has no end, or `1 to 1024`.
fn limits<T: Display>(range: &impl RangeBounds<T>) -> String {
    let bound = |bound: Bound<&T>| match bound {
        Bound::Included(limit) | Bound::Excluded(limit) => Some(limit.to_string()),
        Bound::Unbounded => None,
    };
    let first = bound(range.start_bound()).unwrap_or_else(|| "0".to_owned());
    match bound(range.end_bound()) {
        Some(last) => format!("{first} to {last}"),
        None => first,
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn numbers_outside_the_range_are_refused_with_the_range() {
        let refused = |number: Result<u64, String>| number.unwrap_err();
        assert_eq!(whole(1..)("7"), Ok(7u64));
        assert_eq!(whole(..=9)("0"), Ok(0u64));
        for text in ["0", "-1", "x", "", "1.5", "18446744073709551616"] {
            assert_eq!(refused(whole(1..)(text)), "give a whole number from 1", "{text}");
        }
        assert_eq!(refused(whole(0..)("-1")), "give a whole number from 0");
        for text in ["0", "1025"] {
            assert_eq!(refused(whole(1..=1024)(text)), "give a whole number from 1 to 1024", "{text}");
        }
        assert_eq!(whole(NonZeroUsize::MIN..)("0").unwrap_err(), "give a whole number from 1");
    }
}
