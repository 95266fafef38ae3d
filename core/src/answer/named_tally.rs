//! Tallies whose numbers have names, for the record of an unfinished run.

use std::collections::BTreeMap;

use crate::text::Problem;

/// The numbers of a tally.
pub(super) struct Counters<'a> {
    /// The single ones, with their names.
    pub(super) single: Vec<(&'static str, &'a mut u64)>,
    /// Those by a code, such as that of an error.
    pub(super) by_code: &'a mut BTreeMap<&'static str, u64>,
}

/// A tally whose numbers have names.
pub(super) trait NamedTally: Clone + Default {
    /// What the names of the numbers by code begin with.
    const BY_CODE: &'static str = "error ";

    /// All codes.
    fn codes() -> impl Iterator<Item = &'static str> {
        Problem::CODES.into_iter()
    }

    /// The numbers.
    fn counters(&mut self) -> Counters<'_>;

    /// Numbers of another kind, with their names.
    fn other_counts(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Sets the numbers of another kind, as far as the names are understood.
    fn read_other_counts(&mut self, _named: &BTreeMap<String, u64>) {}

    /// Every number under its name.
    fn to_names(&self) -> BTreeMap<String, u64> {
        let mut tally = self.clone();
        let Counters { single, by_code } = tally.counters();
        let single = single.into_iter().map(|(name, count)| (name.to_owned(), *count));
        let by_code = by_code.iter().map(|(code, &count)| (format!("{}{code}", Self::BY_CODE), count));
        single.chain(by_code).chain(self.other_counts()).collect()
    }

    /// The tally with these numbers. `None` if they are not those of [`Self::to_names`]: a name is
    /// missing or unknown.
    fn from_names(named: &BTreeMap<String, u64>) -> Option<Self> {
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
        (tally.to_names() == *named).then_some(tally)
    }
}

/// Checks that a tally is known by its names, of which there are `all`: with an `unknown` one more,
/// or with one of the `single` ones less, they are no tally.
#[cfg(test)]
pub(super) fn check_names<T>(tally: &T, all: usize, single: &[&str], unknown: &[&str])
where
    T: NamedTally + PartialEq + std::fmt::Debug,
{
    let named = tally.to_names();
    assert_eq!(named.len(), all, "two numbers have the same name");
    for tally in [tally.clone(), T::default()] {
        assert_eq!(T::from_names(&tally.to_names()), Some(tally));
    }
    for unknown in unknown {
        let mut named = named.clone();
        assert_eq!(named.insert((*unknown).to_owned(), 1), None, "{unknown} is known");
        assert_eq!(T::from_names(&named), None, "{unknown}");
    }
    for missing in single {
        let mut named = named.clone();
        assert!(named.remove(*missing).is_some(), "{missing} is unknown");
        assert_eq!(T::from_names(&named), None, "{missing}");
    }
    assert_eq!(T::from_names(&BTreeMap::new()), None);
}
