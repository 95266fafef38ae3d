//! Values of arguments: parsers into types, and the names that help and completion list.

use std::fmt;
use std::str::FromStr as _;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sudoku_stream::answer::{AddedColumn, CheckForm, OutputForm};
use sudoku_stream::canon::Basis;
use sudoku_stream::generate::{Difficulty, Grids, Symmetry};
use sudoku_stream::grid::Order;
use sudoku_stream::solver::{DEFAULT_COUNT_LIMIT, Question, STRATEGIES, Strategy};
use sudoku_stream::techniques::{Family, Score, ScoreError, Technique, TechniqueError, TechniqueSet};
use sudoku_stream::text::{Alphabet, Delimiter, Notation};

pub use crate::completion::backend;
use crate::completion::{Completed, names};
use crate::number::size;
pub use crate::number::{SECOND, time, whole};

/// A strategy of the registry.
pub type AnyStrategy = &'static dyn Strategy;

/// The most worker threads that can be asked for.
const MAX_THREADS: usize = 1024;

/// Where counting solutions stops by default.
pub const COUNT_LIMIT: u64 = DEFAULT_COUNT_LIMIT;

/// The question to every puzzle. The limit of a count is an argument of its own.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum QuestionArg {
    /// Any solution
    First,
    /// The solution, and proof that it is the only one
    Unique,
    /// The number of solutions
    Count,
}

impl QuestionArg {
    /// The name that users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Unique => "unique",
            Self::Count => "count",
        }
    }

    /// The question, where a count stops at `limit`.
    pub const fn up_to(self, limit: u64) -> Question {
        match self {
            Self::First => Question::First,
            Self::Unique => Question::Unique,
            Self::Count => Question::Count { limit },
        }
    }
}

impl fmt::Display for QuestionArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A parser of values that have names.
pub fn named<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (PossibleValue, T)>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<(PossibleValue, T)> = values.into_iter().collect();
    let names: Vec<PossibleValue> = values.iter().map(|(name, _)| name.clone()).collect();
    PossibleValuesParser::from(names).try_map(move |typed| {
        let known = values.iter().find(|(name, _)| name.get_name() == typed);
        known.map(|(_, value)| value.clone()).ok_or("the name is not in the list")
    })
}

/// A parser of values whose names need no explanation.
pub fn plain<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    named(values.into_iter().map(|(name, value)| (PossibleValue::new(name), value)))
}

/// The name of a technique.
pub fn technique() -> impl TypedValueParser<Value = Technique> {
    let names = Technique::ALL.iter().map(|technique| technique.name()).collect();
    Completed { parser: read_technique, names }
}

/// Names of techniques and families.
pub fn techniques() -> impl TypedValueParser<Value = TechniqueSet> {
    let families = Family::ALL.iter().map(|family| family.name());
    let names = families.chain(Technique::ALL.iter().map(|technique| technique.name())).collect();
    Completed { parser: read_techniques, names }
}

/// Reads names of techniques and families.
pub fn read_techniques(text: &str) -> Result<TechniqueSet, String> {
    let set: TechniqueSet = text.parse().map_err(|error: TechniqueError| error.to_string())?;
    if set.is_empty() { Err("No technique is named.".to_owned()) } else { Ok(set) }
}

/// Reads the name of a technique.
pub fn read_technique(text: &str) -> Result<Technique, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = Technique::ALL.iter().map(|technique| technique.name()).collect();
        format!("there is no such technique. There are {}", names.join(", "))
    })
}

/// Reads a rating.
pub fn score(text: &str) -> Result<Score, String> {
    text.parse().map_err(|error: ScoreError| error.to_string())
}

pub fn notation() -> impl TypedValueParser<Value = Notation> {
    plain(Notation::ALL)
}

pub fn check_form() -> impl TypedValueParser<Value = CheckForm> {
    plain(CheckForm::ALL)
}

pub fn basis() -> impl TypedValueParser<Value = Basis> {
    plain(Basis::ALL)
}

/// A number of solutions from 1, or `all`, which is the greatest number.
pub fn number_or_all(text: &str) -> Result<u64, String> {
    match text {
        "all" => Ok(u64::MAX),
        _ => whole(1..)(text).map_err(|range| format!("{range}, or `all`")),
    }
}

/// That number as it is typed.
pub fn name_of_number(number: u64) -> String {
    if number == u64::MAX { "all".to_owned() } else { number.to_string() }
}

/// A column that answers add; the list of names is in the error, because some are planned only.
pub fn column() -> impl TypedValueParser<Value = AddedColumn> {
    Completed { parser: AddedColumn::from_str, names: names(AddedColumn::ALL) }
}

/// An alphabet, by its name or by its symbols.
pub fn alphabet() -> impl TypedValueParser<Value = Alphabet> {
    Completed { parser: Alphabet::from_str, names: vec!["letters", "ascii", "alpha", "hex"] }
}

/// A delimiter, by its name or as the character.
pub fn delimiter() -> impl TypedValueParser<Value = Delimiter> {
    Completed { parser: Delimiter::from_str, names: names(Delimiter::ALL) }
}

pub fn form() -> impl TypedValueParser<Value = OutputForm> {
    plain(OutputForm::ALL.into_iter().chain(OutputForm::OF_FILES))
}

pub fn strategy() -> impl TypedValueParser<Value = AnyStrategy> {
    named(STRATEGIES.iter().map(|&s| (PossibleValue::new(s.name()).help(s.summary()), s)))
}

pub fn symmetry() -> impl TypedValueParser<Value = Symmetry> {
    named(Symmetry::ALL.map(|(name, value)| (PossibleValue::new(name).help(value.summary()), value)))
}

pub fn difficulty() -> impl TypedValueParser<Value = Difficulty> {
    named(Difficulty::ALL.map(|(name, value)| (PossibleValue::new(name).help(value.summary()), value)))
}

pub fn grids() -> impl TypedValueParser<Value = Grids> {
    named(Grids::ALL.map(|(name, value)| (PossibleValue::new(name).help(value.summary()), value)))
}

pub fn threads() -> impl TypedValueParser<Value = usize> {
    whole(1..=MAX_THREADS)
}

pub fn side() -> impl TypedValueParser<Value = Order> {
    let side = |text: &str| {
        let order = text.parse().ok().and_then(Order::from_side);
        order.ok_or("a side is 1, 4, 9, 16 or 25")
    };
    Completed { parser: side, names: vec!["1", "4", "9", "16", "25"] }
}

pub fn order() -> impl TypedValueParser<Value = Order> {
    let order = |text: &str| {
        let order = text.parse().ok().and_then(Order::new);
        order.ok_or("an order is 1, 2, 3, 4 or 5")
    };
    Completed { parser: order, names: vec!["1", "2", "3", "4", "5"] }
}

/// An amount of memory.
pub fn memory(text: &str) -> Result<usize, String> {
    size(1 << 20..=usize::MAX >> 1)(text)
        .map_err(|_| "give a size from 1MiB, as in 512MiB or 2G, in whole K, M, G or T".to_owned())
}

/// A share from 0 to 1: as in `10%` or `0.1`.
pub fn share(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let share = number.ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a share from 0% to 100%, as in 10% or 0.1".to_owned())
}
