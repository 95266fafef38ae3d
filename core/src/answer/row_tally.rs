//! Tallies of row jobs: what was counted, by name.

use std::collections::BTreeMap;

use super::add_counts;
use crate::text::Problem;

/// What a [`RowJob`](super::RowJob) counts. Its numbers have names, so that the record of an
/// unfinished run can keep them and a later run can go on counting. It is sealed: no other type can
/// implement it.
///
/// ```
/// use sudoku_core::answer::{DisguiseTally, RowTally};
///
/// let mut tally = DisguiseTally::default();
/// (tally.puzzles, tally.written) = (3, 5);
/// tally.errors.insert("wrong_length", 1);
/// let mut named = tally.named();
/// assert_eq!((named["puzzles"], named["error wrong_length"]), (3, 1));
/// assert_eq!(DisguiseTally::from_named(&named), Some(tally));
///
/// named.insert("error of another version".to_owned(), 1);
/// assert_eq!(DisguiseTally::from_named(&named), None);
/// ```
pub trait RowTally: HasCounters {
    /// The number of puzzles.
    #[must_use]
    fn puzzles(&self) -> u64 {
        self.clone().counters().single.first().map_or(0, |(_, count)| **count)
    }

    /// The number of puzzles with an error; of a check, of those that are not right.
    #[must_use]
    fn error_count(&self) -> u64 {
        self.clone().counters().by_code.values().sum()
    }

    /// Adds another tally.
    fn add(&mut self, other: &Self) {
        let mut other = other.clone();
        self.add_other_counts(&other);
        let (to, from) = (self.counters(), other.counters());
        for ((_, to), (_, from)) in to.single.into_iter().zip(from.single) {
            *to += *from;
        }
        add_counts(to.by_code, from.by_code);
    }

    /// Every number under its name.
    #[must_use]
    fn named(&self) -> BTreeMap<String, u64> {
        let mut tally = self.clone();
        let Counters { single, by_code } = tally.counters();
        let single = single.into_iter().map(|(name, count)| (name.to_owned(), *count));
        let by_code = by_code.iter().map(|(code, &count)| (format!("{}{code}", Self::BY_CODE), count));
        single.chain(by_code).chain(self.other_counts()).collect()
    }

    /// The tally with these numbers. `None` if they are not those of [`Self::named`]: a name is
    /// missing or unknown.
    #[must_use]
    fn from_named(named: &BTreeMap<String, u64>) -> Option<Self> {
        let known = |name: &str| {
            let code = name.strip_prefix(Self::BY_CODE)?;
            Self::codes().find(|known| *known == code)
        };
        let mut tally = Self::default();
        let Counters { single, by_code } = tally.counters();
        for (name, count) in single {
            *count = *named.get(name)?;
        }
        *by_code = named.iter().filter_map(|(name, &count)| Some((known(name)?, count))).collect();
        tally.read_other_counts(named);
        // What was not understood is missing.
        (tally.named() == *named).then_some(tally)
    }
}

impl<T: HasCounters> RowTally for T {}

/// The counters of a tally, with what they are called. Its module is private, which seals
/// [`RowTally`].
pub trait HasCounters: Clone + Default {
    /// What the names of the numbers by code begin with.
    const BY_CODE: &'static str = "error ";

    /// All codes.
    fn codes() -> impl Iterator<Item = &'static str> {
        Problem::CODES.into_iter()
    }

    /// The numbers.
    fn counters(&mut self) -> Counters<'_>;

    /// Adds the numbers of another kind of another tally.
    fn add_other_counts(&mut self, _other: &Self) {}

    /// Numbers of another kind, with their names.
    fn other_counts(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Sets the numbers of another kind, as far as the names are understood.
    fn read_other_counts(&mut self, _named: &BTreeMap<String, u64>) {}
}

/// The numbers of a tally.
pub struct Counters<'a> {
    /// The single ones, with their names; first that of all puzzles.
    pub single: Vec<(&'static str, &'a mut u64)>,
    /// Those by a code, such as that of an error.
    pub by_code: &'a mut BTreeMap<&'static str, u64>,
}

/// Checks that a tally is known by its names, of which there are `all`: with an `unknown` one more,
/// or with one of the `single` ones less, they are no tally.
#[cfg(test)]
pub(super) fn check_names<T>(tally: &T, all: usize, single: &[&str], unknown: &[&str])
where
    T: HasCounters + PartialEq + std::fmt::Debug,
{
    let named = tally.named();
    assert_eq!(tally.puzzles(), named[single[0]], "all puzzles are counted first");
    assert_eq!(named.len(), all, "two numbers have the same name");
    for tally in [tally.clone(), T::default()] {
        assert_eq!(T::from_named(&tally.named()), Some(tally));
    }
    for unknown in unknown {
        let mut named = named.clone();
        assert_eq!(named.insert((*unknown).to_owned(), 1), None, "{unknown} is known");
        assert_eq!(T::from_named(&named), None, "{unknown}");
    }
    for missing in single {
        let mut named = named.clone();
        assert!(named.remove(*missing).is_some(), "{missing} is unknown");
        assert_eq!(T::from_named(&named), None, "{missing}");
    }
    assert_eq!(T::from_named(&BTreeMap::new()), None);
}
