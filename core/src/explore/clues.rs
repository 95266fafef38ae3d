//! Clue counts on the command line: `10,20,30`, `0..40:5`, `0%..50%:10%`.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::Source;
use crate::grid::{MAX_CELLS, Order};

/// Clue counts for boards of any size: numbers, or shares of the cells.
///
/// A list consists of numbers and ranges, separated by commas. A range includes both ends, and may
/// have a step after a colon (default: 1): `0..40:5` is 0, 5 and so on up to 40. With a `%` behind
/// every number, these are shares of the cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClueList(BTreeSet<Amount>);

/// A number of clues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Amount {
    Clues(usize),
    /// A percentage of the cells.
    Percent(usize),
}

impl Amount {
    fn of(self, order: Order) -> usize {
        match self {
            Self::Clues(clues) => clues,
            Self::Percent(percent) => scaled(percent, 100, order),
        }
    }
}

impl ClueList {
    /// The clue counts for boards of this order, smallest first, each once.
    #[must_use]
    pub fn of(&self, order: Order) -> Vec<usize> {
        let counts: BTreeSet<usize> = self.0.iter().map(|amount| amount.of(order)).collect();
        counts.into_iter().collect()
    }

    /// Whether all of them are shares of the cells, which suit every size.
    #[must_use]
    pub fn is_relative(&self) -> bool {
        self.0.iter().all(|amount| matches!(amount, Amount::Percent(_)))
    }
}

/// The default clue counts.
///
/// For random values: 0 to 40 in steps of 5 for 9x9, and the same shares of the cells for other
/// sizes. For puzzles they begin where most are found quickly: at 25 for 9x9, and at half of the
/// cells for larger sizes.
#[must_use]
pub fn usual_clues(source: Source, order: Order) -> Vec<usize> {
    let of_nine = match (source, order.box_side()) {
        (Source::Random, _) => 0..=40,
        (Source::Puzzles, ..=3) => 25..=40,
        (Source::Puzzles, _) => 40..=55,
    };
    let counts: BTreeSet<usize> =
        of_nine.step_by(5).map(|clues| scaled(clues, Order::NINE.cells(), order)).collect();
    counts.into_iter().collect()
}

/// The share `part / whole` of the cells of a board, rounded.
fn scaled(part: usize, whole: usize, order: Order) -> usize {
    (2 * part * order.cells() + whole) / (2 * whole)
}

/// The error of a list of clue counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClueListError {
    /// Neither a number nor a range.
    #[error(
        "`{0}` is no clue count. Use numbers and ranges, as in 10,20,30 or 0..40:5, or shares of the cells, as in \
         0%..50%:10%."
    )]
    NoCount(String),
    /// Numbers and shares in one range.
    #[error("`{0}` mixes numbers and shares of the cells.")]
    Mixed(String),
    /// A range whose end comes first.
    #[error("`{0}` has its end before its beginning.")]
    Backwards(String),
    /// A range that would have no end.
    #[error("`{0}` has a step of 0.")]
    NoStep(String),
    /// More than the cells of the largest board.
    #[error("`{0}` is more than there are cells.")]
    TooMany(String),
}

impl FromStr for ClueList {
    type Err = ClueListError;

    fn from_str(text: &str) -> Result<Self, ClueListError> {
        let mut amounts = BTreeSet::new();
        for item in text.split(',').map(str::trim) {
            range(item, &mut amounts)?;
        }
        Ok(Self(amounts))
    }
}

/// Reads a number or a range.
fn range(item: &str, amounts: &mut BTreeSet<Amount>) -> Result<(), ClueListError> {
    let wrong = || ClueListError::NoCount(item.to_owned());
    let Some((first, rest)) = item.split_once("..") else {
        amounts.insert(amount(item)?);
        return Ok(());
    };
    // `..=` is accepted too, because it is the syntax of Rust.
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    let (last, step) = match rest.split_once(':') {
        Some((last, step)) => (last, Some(amount(step).map_err(|_| wrong())?)),
        None => (rest, None),
    };
    let ends = (amount(first).map_err(|_| wrong())?, amount(last).map_err(|_| wrong())?);
    let (first, last, step, make): (_, _, _, fn(usize) -> Amount) = match (ends, step) {
        ((Amount::Clues(first), Amount::Clues(last)), None) => (first, last, 1, Amount::Clues),
        ((Amount::Percent(first), Amount::Percent(last)), None) => (first, last, 1, Amount::Percent),
        ((Amount::Clues(first), Amount::Clues(last)), Some(Amount::Clues(step))) => {
            (first, last, step, Amount::Clues)
        }
        ((Amount::Percent(first), Amount::Percent(last)), Some(Amount::Percent(step))) => {
            (first, last, step, Amount::Percent)
        }
        _ => return Err(ClueListError::Mixed(item.to_owned())),
    };
    if last < first {
        return Err(ClueListError::Backwards(item.to_owned()));
    }
    if step == 0 {
        return Err(ClueListError::NoStep(item.to_owned()));
    }
    amounts.extend((first..=last).step_by(step).map(make));
    Ok(())
}

/// Reads a number.
fn amount(text: &str) -> Result<Amount, ClueListError> {
    let text = text.trim();
    let (digits, most, make): (_, _, fn(usize) -> Amount) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), 100, Amount::Percent),
        None => (text, MAX_CELLS, Amount::Clues),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ClueListError::NoCount(text.to_owned()));
    }
    // A number that overflows is too many as well.
    match digits.parse() {
        Ok(number) if number <= most => Ok(make(number)),
        _ => Err(ClueListError::TooMany(text.to_owned())),
    }
}
