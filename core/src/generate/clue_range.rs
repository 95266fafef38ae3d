//! Ranges of clue counts: `24`, `17..24`, `24..` or `..24`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;

/// A range of clue counts, both ends included.
///
/// Removals of clues stop at the least number of `24` and `24..`, and nowhere for `..24`. For a
/// range with two ends every attempt draws the number where they stop, because puzzles of the whole
/// range are wanted. Removals that end before are good too, if they end within the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClueRange {
    least: usize,
    /// The greatest number; `usize::MAX` if the end is open.
    most: usize,
}

impl ClueRange {
    /// The range from the first number to the last; `None` if that comes before it.
    #[must_use]
    pub fn new(range: RangeInclusive<usize>) -> Option<Self> {
        let (least, most) = range.into_inner();
        (least <= most).then_some(Self { least, most })
    }

    /// One number.
    #[must_use]
    pub const fn exactly(clues: usize) -> Self {
        Self { least: clues, most: clues }
    }

    /// The least number.
    #[must_use]
    pub const fn least(self) -> usize {
        self.least
    }

    /// The greatest number; `None` if the end is open.
    #[must_use]
    pub const fn most(self) -> Option<usize> {
        if self.most == usize::MAX { None } else { Some(self.most) }
    }

    /// Whether a number lies in the range.
    #[must_use]
    pub fn contains(self, clues: usize) -> bool {
        (self.least..=self.most).contains(&clues)
    }

    /// The number of clues at which the removals from a full grid stop.
    ///
    /// An exact number takes no random number, because seeds keep their puzzles.
    pub(super) fn draw(self, random: &mut ChaCha8Rng) -> usize {
        match self.most() {
            Some(most) if 0 < self.least && self.least < most => random.random_range(self.least..=most),
            _ => self.least,
        }
    }
}

/// The range as it is typed.
impl fmt::Display for ClueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most()) {
            (least, None) => write!(f, "{least}.."),
            (least, Some(most)) if least == most => write!(f, "{least}"),
            (0, Some(most)) => write!(f, "..{most}"),
            (least, Some(most)) => write!(f, "{least}..{most}"),
        }
    }
}

/// The error of a text that is no range of clues.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no range of clues. Write 24, 17..24, 24.. or ..24.")]
pub struct NoClueRange(String);

impl FromStr for ClueRange {
    type Err = NoClueRange;

    fn from_str(text: &str) -> Result<Self, NoClueRange> {
        let bad = || NoClueRange(text.to_owned());
        let number = |part: &str, open: usize| {
            if part.is_empty() { Ok(open) } else { usize::from_str(part).map_err(|_| bad()) }
        };
        let range = match text.split_once("..") {
            Some((least, most)) => {
                // `..=` is accepted too, because it is the syntax of Rust.
                let most = most.strip_prefix('=').unwrap_or(most);
                if least.is_empty() && most.is_empty() {
                    return Err(bad());
                }
                Self::new(number(least, 0)?..=number(most, usize::MAX)?)
            }
            None => Some(Self::exactly(usize::from_str(text).map_err(|_| bad())?)),
        };
        range.ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn range(text: &str) -> ClueRange {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_are_read_and_written() {
        for (text, least, most) in [
            ("24", 24, Some(24)),
            ("17..24", 17, Some(24)),
            ("24..", 24, None),
            ("..24", 0, Some(24)),
            ("0", 0, Some(0)),
            ("0..", 0, None),
        ] {
            let range = range(text);
            assert_eq!((range.least(), range.most()), (least, most), "{text}");
            assert_eq!(range.to_string(), text);
        }
        assert_eq!(range("17..=24"), range("17..24"));
        assert_eq!(range("7..7"), ClueRange::exactly(7));
        assert_eq!(ClueRange::new(17..=24), Some(range("17..24")));
        for bad in ["", "..", "..=", "x", "17..x", "24..17", "-1", "1...2", "20%", "20,30", "20..30:5"] {
            let sentence = format!("`{bad}` is no range of clues. Write 24, 17..24, 24.. or ..24.");
            assert_eq!(bad.parse::<ClueRange>().unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    fn both_ends_belong_to_a_range() {
        for (text, inside, outside) in [
            ("24", &[24][..], &[23, 25][..]),
            ("17..24", &[17, 20, 24], &[16, 25]),
            ("24..", &[24, 81], &[23]),
        ] {
            assert!(inside.iter().all(|&clues| range(text).contains(clues)), "{text}");
            assert!(!outside.iter().any(|&clues| range(text).contains(clues)), "{text}");
        }
    }

    #[test]
    fn only_a_range_with_two_ends_takes_a_random_number() {
        let fresh = || ChaCha8Rng::seed_from_u64(1);
        for (text, stop) in [("24", 24), ("24..", 24), ("..24", 0), ("7..7", 7)] {
            let mut random = fresh();
            assert_eq!(range(text).draw(&mut random), stop, "{text}");
            assert_eq!(random, fresh(), "{text}");
        }
        let mut random = fresh();
        let drawn: Vec<usize> = (0..200).map(|_| range("17..24").draw(&mut random)).collect();
        assert!((17..=24).all(|clues| drawn.contains(&clues)), "{drawn:?}");
        assert!(drawn.iter().all(|&clues| range("17..24").contains(clues)), "{drawn:?}");
    }
}
