//! Numbers, times and sizes in a range, as values of flags.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::str::FromStr;
use std::time::Duration;

/// A parser of whole numbers in `range`. Its error names the range.
pub fn whole<T>(
    range: impl RangeBounds<T> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + 'static,
{
    move |text| {
        let number = text.parse().ok();
        // Where a range has no end, the type has one, which is named to those who went beyond it.
        let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
        let is_too_large = number.is_none() && is_whole && text.bytes().any(|digit| digit != b'0');
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let most = is_too_large.then(|| u64::MAX >> (u64::BITS as usize - 8 * size_of::<T>()));
            format!("give a whole number from {}", limits(&range, most))
        })
    }
}

/// The unit of times that are a number alone.
pub const SECOND: Duration = Duration::from_secs(1);

/// A parser of times in `range`: `10s`, `500ms`, `2m`, `1h 30m`. A number alone counts `unit`s.
pub fn time(
    unit: Duration,
    range: RangeInclusive<Duration>,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<f64>().ok();
        let time = match number {
            Some(number) => Duration::try_from_secs_f64(number * unit.as_secs_f64()).ok(),
            None => humantime::parse_duration(text).ok(),
        };
        time.filter(|time| range.contains(time)).ok_or_else(|| {
            let (first, last) = (shown_time(*range.start()), shown_time(*range.end()));
            format!("give a time from {first} to {last}{}", examples(&range))
        })
    }
}

/// The examples of times that are in a range: `, as in 10s, 500ms or 2m`.
fn examples(range: &RangeInclusive<Duration>) -> String {
    let all = [("10s", 10_000), ("500ms", 500), ("2m", 120_000)];
    let fitting = all.iter().filter(|(_, time)| range.contains(&Duration::from_millis(*time)));
    match &fitting.map(|(text, _)| *text).collect::<Vec<_>>()[..] {
        [] => String::new(),
        [only] => format!(", as in {only}"),
        [others @ .., last] => format!(", as in {} or {last}", others.join(", ")),
    }
}

/// A time as a value of a flag: in seconds or milliseconds where it has whole ones of them and is
/// short, else in several units.
pub fn shown_time(time: Duration) -> String {
    match time.as_secs() {
        0..=600 if time.subsec_nanos() == 0 => format!("{}s", time.as_secs()),
        0..=9 if time.subsec_nanos().is_multiple_of(1_000_000) => format!("{}ms", time.as_millis()),
        _ => humantime::format_duration(time).to_string(),
    }
}

/// The units of sizes, the largest first.
const SIZE_UNITS: [(&str, u64); 5] =
    [("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10), ("", 1)];

/// A parser of sizes in `range`: `64MiB`, `512K`, or a number of bytes. All units are powers of
/// 1024, as those of memory are.
pub fn size<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64> + TryInto<u64> + PartialOrd + Copy + Send + Sync + 'static,
{
    move |text| {
        let bytes = bytes(text).and_then(|bytes| T::try_from(bytes).ok());
        bytes.filter(|bytes| range.contains(bytes)).ok_or_else(|| {
            let (first, last) = (shown_size(*range.start()), shown_size(*range.end()));
            format!("give a size from {first} to {last}, as in 512KiB or 2MiB")
        })
    }
}

fn bytes(text: &str) -> Option<u64> {
    let upper = text.to_ascii_uppercase();
    let number = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let (number, unit) =
        SIZE_UNITS.iter().find_map(|(unit, bytes)| Some((number.strip_suffix(unit)?, bytes)))?;
    number.trim_end().parse::<u64>().ok()?.checked_mul(*unit)
}

/// A size as a value of a flag, in the largest unit of which it has whole ones.
pub fn shown_size(bytes: impl TryInto<u64>) -> String {
    let bytes = bytes.try_into().unwrap_or(u64::MAX);
    let unit = SIZE_UNITS.iter().find(|(_, unit)| bytes.is_multiple_of(*unit) && bytes > 0);
    match unit {
        Some((name, unit)) if !name.is_empty() => format!("{}{name}iB", bytes / unit),
        _ => bytes.to_string(),
    }
}

/// A range in words: `1`, which has no end unless `most` is one, or `1 to 1024`.
fn limits<T: Display>(range: &impl RangeBounds<T>, most: Option<u64>) -> String {
    let bound = |bound: Bound<&T>| match bound {
        Bound::Included(limit) | Bound::Excluded(limit) => Some(limit.to_string()),
        Bound::Unbounded => None,
    };
    let first = bound(range.start_bound()).unwrap_or_else(|| "0".to_owned());
    match bound(range.end_bound()).or_else(|| most.map(|most| most.to_string())) {
        Some(last) => format!("{first} to {last}"),
        None => first,
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn times_have_units() {
        let time = |text: &str| time(SECOND, Duration::from_millis(1)..=Duration::from_secs(3600))(text);
        for (text, milliseconds) in [
            ("10", 10_000),
            ("0.5", 500),
            ("10s", 10_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1m 30s", 90_000),
            ("1m30s", 90_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(time(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "0", "-1", "0s", "2h", "x", "5 parsecs", "NaN", "inf", "1e30", "s"] {
            let sentence = "give a time from 1ms to 1h, as in 10s, 500ms or 2m";
            assert_eq!(time(text).unwrap_err(), sentence, "{text}");
        }
        let delay = super::time(Duration::from_millis(1), Duration::ZERO..=SECOND);
        assert_eq!(delay("50"), Ok(Duration::from_millis(50)));
        assert_eq!(delay("0"), Ok(Duration::ZERO));
        // The examples are in the range.
        let minute = Duration::from_secs(60);
        for (range, sentence) in [
            (Duration::ZERO..=minute, "give a time from 0s to 60s, as in 10s or 500ms"),
            (SECOND..=60 * minute, "give a time from 1s to 1h, as in 10s or 2m"),
            (minute..=60 * minute, "give a time from 60s to 1h, as in 2m"),
            (60 * minute..=120 * minute, "give a time from 1h to 2h"),
        ] {
            assert_eq!(super::time(SECOND, range)("x").unwrap_err(), sentence);
        }
    }

    #[test]
    fn sizes_have_units() {
        let size = |text: &str| size(4096..=1u32 << 30)(text);
        for (text, bytes) in [
            ("4096", 4096),
            ("4K", 4096),
            ("4k", 4096),
            ("4KB", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("64MiB", 64 << 20),
            ("1G", 1 << 30),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "2G", "1T", "KiB", "1.5M", "99999999999999999999G"] {
            let sentence = "give a size from 4KiB to 1GiB, as in 512KiB or 2MiB";
            assert_eq!(size(text).unwrap_err(), sentence, "{text}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same() {
        for milliseconds in [1, 500, 1_500, 10_000, 60_000, 600_000, 601_000, 3_600_000, 90_061_001] {
            let wanted = Duration::from_millis(milliseconds);
            let shown = shown_time(wanted);
            assert_eq!(time(SECOND, Duration::ZERO..=Duration::MAX)(&shown), Ok(wanted), "{shown}");
        }
        for bytes in [0, 1, 1023, 1024, 1025, 16 << 10, 1 << 20, 5 << 30] {
            let shown = shown_size(bytes);
            assert_eq!(size(0..=u64::MAX)(&shown), Ok(bytes), "{shown}");
        }
        assert_eq!(
            (shown_time(Duration::from_secs(60)), shown_size(1_u64 << 20)),
            ("60s".into(), "1MiB".into())
        );
    }

    #[test]
    fn numbers_outside_the_range_are_refused_with_the_range() {
        let refused = |number: Result<u64, String>| number.unwrap_err();
        assert_eq!(whole(1..)("7"), Ok(7u64));
        assert_eq!(whole(..=9)("0"), Ok(0u64));
        for text in ["0", "-1", "x", "", "1.5"] {
            assert_eq!(refused(whole(1..)(text)), "give a whole number from 1", "{text}");
        }
        for text in ["18446744073709551616", "99999999999999999999999"] {
            let sentence = "give a whole number from 1 to 18446744073709551615";
            assert_eq!(refused(whole(1..)(text)), sentence, "{text}");
        }
        assert_eq!(
            whole(1..)("4294967296"),
            Err::<u32, _>("give a whole number from 1 to 4294967295".into())
        );
        assert_eq!(refused(whole(0..)("-1")), "give a whole number from 0");
        for text in ["0", "1025"] {
            assert_eq!(refused(whole(1..=1024)(text)), "give a whole number from 1 to 1024", "{text}");
        }
        assert_eq!(whole(NonZeroUsize::MIN..)("0").unwrap_err(), "give a whole number from 1");
    }
}
