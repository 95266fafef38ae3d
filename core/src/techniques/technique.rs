//! Techniques: their names, ratings and families, and sets of them.

use std::fmt;
use std::str::FromStr;

use super::REGISTRY;
use crate::grid::Order;

/// A rating on the scale of Sudoku Explainer, in tenths. Prints as `7.1`, and is read so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// The rating of so many tenths: 71 for 7.1.
    #[must_use]
    pub const fn from_tenths(tenths: u16) -> Self {
        Self(tenths)
    }

    /// The rating in tenths.
    #[must_use]
    pub const fn tenths(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 10, self.0 % 10)
    }
}

/// The error of a text that is no rating.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no rating: ratings are 1.0 to 20.0, with at most one decimal.")]
pub struct ScoreError {
    text: String,
}

impl FromStr for Score {
    type Err = ScoreError;

    fn from_str(text: &str) -> Result<Self, ScoreError> {
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let parsed = (is_digits(whole) && is_digits(tenths) && whole.len() <= 2 && tenths.len() == 1)
            .then(|| whole.parse::<u16>().ok()?.checked_mul(10)?.checked_add(tenths.parse().ok()?))
            .flatten();
        parsed
            .filter(|tenths| (10..=200).contains(tenths))
            .map(Self)
            .ok_or_else(|| ScoreError { text: text.to_owned() })
    }
}

/// A technique: a kind of reasoning, known by its name.
///
/// They stand in the order in which Sudoku Explainer tries them, which is that of their lowest
/// ratings. It prints as its [title](Technique::title), and is read from its
/// [name](Technique::name) or title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Technique {
    /// The last blank cell of a house.
    LastCell,
    /// The only place for a digit in a house.
    HiddenSingle,
    /// A pointing that leaves one place for the digit in another box.
    DirectPointing,
    /// A claiming that leaves one place for the digit in another row or column.
    DirectClaiming,
    /// A hidden pair that leaves one place for another digit.
    DirectHiddenPair,
    /// The only candidate of a cell.
    NakedSingle,
    /// A hidden triplet that leaves one place for another digit.
    DirectHiddenTriplet,
    /// A digit of a box that is confined to one row or column.
    Pointing,
    /// A digit of a row or column that is confined to one box.
    Claiming,
    /// Two cells of a house with the same two candidates.
    NakedPair,
    /// Two rows with a digit in the same two columns, or two columns with it in two rows.
    XWing,
    /// Two digits with the same two places in a house.
    HiddenPair,
    /// Three cells of a house with three candidates.
    NakedTriplet,
    /// Three rows with a digit in three columns, or the other way round.
    Swordfish,
    /// Three digits with three places in a house.
    HiddenTriplet,
    /// A cell of two candidates that sees two others, all three of three digits.
    XyWing,
    /// A cell of three candidates that sees two cells of two of them.
    XyzWing,
    /// Four cells in two boxes that would have two solutions.
    UniqueRectangle,
    /// Six or more cells in a loop that would have two solutions.
    UniqueLoop,
    /// Four cells of a house with four candidates.
    NakedQuad,
    /// Four rows with a digit in four columns, or the other way round.
    Jellyfish,
    /// Four digits with four places in a house.
    HiddenQuad,
    /// A grid in which all other cells have two candidates would have two solutions.
    BivalueUniversalGrave,
    /// Two cells whose candidates other cells exclude pairwise.
    AlignedPairExclusion,
    /// A loop of places of one digit, linked alternately strongly and weakly.
    XCycle,
    /// A loop of cells with two candidates.
    YCycle,
    /// Two strong links of one digit that exclude it where they lead.
    TurbotFish,
    /// A longer chain of one digit that ends in the contrary of its beginning.
    ForcingXChain,
    /// A loop of candidates of several digits.
    BidirectionalCycle,
    /// A chain of several digits that ends in the contrary of its beginning.
    ForcingChain,
    /// An assumption whose consequences for one digit contradict each other.
    NishioForcingChains,
    /// A consequence of all candidates of a cell.
    CellForcingChains,
    /// A consequence of all places of a digit in a house.
    RegionForcingChains,
    /// Chains whose implications rest on several candidates that are gone before.
    DynamicForcingChains,
    /// Dynamic chains that use locked candidates, pairs and X-wings.
    DynamicForcingChainsPlus,
    /// Dynamic chains that use cycles and forcing chains too.
    NestedForcingChains,
    /// Nested forcing chains that use cell and region forcing chains too.
    NestedMultipleChains,
    /// Dynamic chains that use dynamic chains.
    NestedDynamicChains,
}

impl Technique {
    /// Every technique, in the order in which they are tried.
    pub const ALL: [Self; 38] = {
        let mut all = [Self::LastCell; 38];
        let mut at = 0;
        while at < all.len() {
            all[at] = REGISTRY[at].technique;
            at += 1;
        }
        all
    };

    const fn line(self) -> &'static super::RegistryLine {
        &REGISTRY[self as usize]
    }

    /// The name on a command line and in data: the title in lower case with hyphens, `x-wing`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.line().name()
    }

    /// The name in a sentence: `X-wing`, `hidden pair`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.line().title
    }

    /// The lowest rating of its steps. Length or kind can make a step harder.
    #[must_use]
    pub const fn base_rating(self) -> Score {
        Score(self.line().base)
    }

    /// The family, a word for several techniques.
    #[must_use]
    pub const fn family(self) -> Family {
        self.line().family
    }

    /// Whether it is only right for a puzzle with one solution, because it argues that another one
    /// would follow.
    #[must_use]
    pub const fn rests_on_uniqueness(self) -> bool {
        matches!(self.line().family, Family::Uniqueness)
    }

    /// Whether it is looked for in puzzles of this size; some are only in 9x9 puzzles, because
    /// elsewhere they take too long.
    #[must_use]
    pub fn is_for(self, order: Order) -> bool {
        order == Order::NINE || !self.line().is_9x9_only
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// The error of a text that names no technique.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TechniqueError {
    /// It names none.
    #[error("{0:?} is no technique. They are named as in x-wing; docs/techniques.md lists them.")]
    Unknown(String),
    /// It names a family where one technique is asked for.
    #[error("{} is a family of techniques. Name one of them: {}.", .0, .0.members())]
    Family(Family),
    /// It names neither a technique nor a family where either is taken.
    #[error("{:?} is no technique and no family of techniques. Families are {}.", .0, Family::all_names())]
    UnknownOfBoth(String),
}

/// The error of techniques that are not for puzzles of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The techniques of the family {family} are for 9x9 puzzles only. Name one for {order} puzzles.")]
pub struct NotForSize {
    family: Family,
    order: Order,
}

impl FromStr for Technique {
    type Err = TechniqueError;

    fn from_str(text: &str) -> Result<Self, TechniqueError> {
        let wanted = text.trim().to_lowercase().replace([' ', '_'], "-");
        // `xwing` is as common as `x-wing`.
        let joined = |name: &str| name.replace('-', "");
        let found = Self::ALL.into_iter().find(|technique| joined(technique.name()) == joined(&wanted));
        found.ok_or_else(|| {
            let family = Family::ALL.into_iter().find(|family| family.name() == wanted);
            family.map_or_else(|| TechniqueError::Unknown(text.to_owned()), TechniqueError::Family)
        })
    }
}

/// A family of techniques, one word for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Last cells, hidden and naked singles.
    Singles,
    /// Eliminations that leave a hidden single at once.
    Direct,
    /// Locked candidates: pointing and claiming.
    Locked,
    /// Naked and hidden pairs, triplets and quads.
    Subsets,
    /// X-wing, swordfish, jellyfish.
    Fish,
    /// XY-wing and XYZ-wing.
    Wings,
    /// What rests on the puzzle's having one solution.
    Uniqueness,
    /// Aligned pair exclusion.
    Exclusion,
    /// Cycles and chains without branches.
    Chains,
    /// Forcing chains from several assumptions, or with several premises.
    Forcing,
}

impl Family {
    /// Every family, the easiest first.
    pub const ALL: [Self; 10] = [
        Self::Singles,
        Self::Direct,
        Self::Locked,
        Self::Subsets,
        Self::Fish,
        Self::Wings,
        Self::Uniqueness,
        Self::Exclusion,
        Self::Chains,
        Self::Forcing,
    ];

    /// The name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Singles => "singles",
            Self::Direct => "direct",
            Self::Locked => "locked",
            Self::Subsets => "subsets",
            Self::Fish => "fish",
            Self::Wings => "wings",
            Self::Uniqueness => "uniqueness",
            Self::Exclusion => "exclusion",
            Self::Chains => "chains",
            Self::Forcing => "forcing",
        }
    }

    /// The names of its techniques, as a list in a sentence.
    fn members(self) -> String {
        let names: Vec<_> = TechniqueSet::of_family(self).iter().map(Technique::name).collect();
        names.join(", ")
    }

    /// The names of all families, as a list in a sentence.
    fn all_names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of techniques. Reads `singles,locked,x-wing`: names of techniques and families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TechniqueSet(u64);

impl TechniqueSet {
    /// Every technique.
    pub const ALL: Self = Self((1 << Technique::ALL.len()) - 1);
    /// No technique.
    pub const NONE: Self = Self(0);

    /// The techniques that are right for any puzzle, whatever the number of its solutions.
    #[must_use]
    pub fn without_uniqueness() -> Self {
        Technique::ALL.into_iter().filter(|technique| !technique.rests_on_uniqueness()).collect()
    }

    /// The techniques of a family.
    #[must_use]
    pub fn of_family(family: Family) -> Self {
        Technique::ALL.into_iter().filter(|technique| technique.family() == family).collect()
    }

    /// Whether a technique is in the set.
    #[must_use]
    pub const fn contains(self, technique: Technique) -> bool {
        self.0 & (1 << technique as u64) != 0
    }

    /// The set with a technique added.
    #[must_use]
    pub const fn with(self, technique: Technique) -> Self {
        Self(self.0 | (1 << technique as u64))
    }

    /// The set with a technique removed.
    #[must_use]
    pub const fn without(self, technique: Technique) -> Self {
        Self(self.0 & !(1 << technique as u64))
    }

    /// The techniques that are in this set or the other.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Checks that one of the techniques is for puzzles of this size.
    ///
    /// # Errors
    /// None is.
    pub fn check_for(self, order: Order) -> Result<(), NotForSize> {
        match self.iter().next() {
            Some(first) if !self.iter().any(|technique| technique.is_for(order)) => {
                Err(NotForSize { family: first.family(), order })
            }
            _ => Ok(()),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The techniques, the first tried first.
    pub fn iter(self) -> impl Iterator<Item = Technique> {
        Technique::ALL.into_iter().filter(move |&technique| self.contains(technique))
    }
}

impl Default for TechniqueSet {
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<Technique> for TechniqueSet {
    fn from_iter<I: IntoIterator<Item = Technique>>(techniques: I) -> Self {
        techniques.into_iter().fold(Self::NONE, Self::with)
    }
}

impl FromStr for TechniqueSet {
    type Err = TechniqueError;

    fn from_str(text: &str) -> Result<Self, TechniqueError> {
        let mut set = Self::NONE;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let family = Family::ALL.into_iter().find(|family| family.name() == part.to_lowercase());
            set = set.union(match family {
                _ if part.eq_ignore_ascii_case("all") => Self::ALL,
                Some(family) => Self::of_family(family),
                None => {
                    let technique =
                        part.parse::<Technique>().map_err(|_| TechniqueError::UnknownOfBoth(part.to_owned()));
                    Self::NONE.with(technique?)
                }
            });
        }
        Ok(set)
    }
}
