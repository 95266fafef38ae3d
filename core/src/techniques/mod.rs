//! Techniques: the steps by which a person solves a puzzle, their reasons, and how hard they are.
//!
//! A [`Position`] is a grid with candidates. A [`Technique`] is a kind of reasoning; what it finds
//! in a position is a [`Step`], with the cells, candidates, houses and chains that show it, and a
//! rating. [`next_step`] finds the easiest step, [`Steps`] walks through a whole solution, and
//! [`rate`] says how hard it is.
//!
//! The techniques, their order and their ratings are those of Sudoku Explainer by N. Juillerat, as
//! `serate` 1.2.1 rates puzzles: the scale that data sets of puzzles quote. At each position the
//! easiest technique that applies makes the step, and
//!
//! | rating | meaning |
//! |---|---|
//! | ER | the hardest step of the solution |
//! | EP | the hardest step up to the first digit that is placed |
//! | ED | the first step |
//!
//! Steps are right for a position that has a solution. Those of techniques that
//! [rest on uniqueness](Technique::rests_on_uniqueness) need a puzzle with one solution only;
//! [`TechniqueSet::without_uniqueness`] does without them.
//!
//! ```
//! use sudoku_core::grid::Grid;
//! use sudoku_core::techniques::{Options, Position, next_step, rate};
//!
//! let puzzle: Grid =
//!     "........3.4.62.9.1..289..5........392.7...8...36......1...57...6..312..53.......2".parse()?;
//! let position = Position::new(&puzzle);
//! let step = next_step(&position, &Options::default()).expect("a step");
//! assert_eq!(step.to_string(), "(2, 3) is 3: in box 1, 3 fits nowhere else (hidden single).");
//! let rating = rate(&position, &Options::default());
//! assert_eq!(rating.to_string(), "4.5/1.2/1.2 unique rectangle");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Ratings have been compared with those of the reference for 2,372 puzzles with ER 1.2 to 9.8, and
//! for 21 that need nested chains, up to 10.9: ER, EP and ED are equal for all of them. Where
//! several steps are equally easy the first found is made, by the order in which the reference
//! searches, so the rating of a hard puzzle can depend on how its digits are named and its rows
//! arranged.
//!
//! A technique is one function in the file of its family, and one line of the registry here.

#![expect(clippy::cast_possible_truncation, reason = "cells are below 625 and digits below 25")]

mod about;
mod cell_set;
mod chains;
mod exclusion;
mod fish;
mod geometry;
mod grave;
mod hunt;
mod locked;
mod position;
mod rating;
mod singles;
mod step;
mod subsets;
mod technique;
#[cfg(test)]
mod tests;
mod unique;
mod wings;
mod words;

use std::fmt;
use std::sync::atomic::AtomicBool;

use crate::grid::Order;
use chains::Workspace;
use hunt::{Budget, FoundStep, Hunt};

pub use position::{DeadEnd, PencilMarkError, Position};
pub use rating::{Rater, Rating, rate};
pub use step::{Candidate, Chain, Implication, Kind, Link, Node, Step, Why};
pub use technique::{Family, NotForSize, Score, ScoreError, Technique, TechniqueError, TechniqueSet};

/// How the first step of some techniques is looked for.
#[derive(Clone, Copy)]
enum Find {
    /// A function that writes it into [`Hunt::found`], and returns whether there is one.
    Patterns(fn(&mut Hunt<'_>) -> bool),
    /// The same with the working memory of chains.
    Chains(fn(&mut Hunt<'_>, &mut Workspace) -> bool),
    /// The function of a line above finds it too.
    Above,
}

/// The most bytes of a name.
const MAX_NAME_BYTES: usize = 32;

/// A line of the registry.
struct RegistryLine {
    technique: Technique,
    title: &'static str,
    /// The title in lower case with hyphens, and zeros.
    name: [u8; MAX_NAME_BYTES],
    /// The lowest rating, in tenths.
    base: u16,
    family: Family,
    is_9x9_only: bool,
    find: Find,
}

/// A line of the registry.
const fn line(
    technique: Technique,
    title: &'static str,
    base: u16,
    family: Family,
    find: Find,
) -> RegistryLine {
    let mut name = [0; MAX_NAME_BYTES];
    let mut at = 0;
    while at < title.len() {
        let letter = title.as_bytes()[at].to_ascii_lowercase();
        name[at] = if letter == b' ' { b'-' } else { letter };
        at += 1;
    }
    // Their buffers are for 729 candidates, and the work grows with the fourth power of the side.
    let is_9x9_only = matches!(family, Family::Forcing);
    RegistryLine { technique, title, name, base, family, is_9x9_only, find }
}

impl RegistryLine {
    const fn name(&self) -> &str {
        match std::str::from_utf8(self.name.split_at(self.title.len()).0) {
            Ok(name) => name,
            Err(_) => self.title,
        }
    }
}

/// Every technique, in the order in which they are tried and in which [`Technique`] has them.
static REGISTRY: [RegistryLine; 38] = {
    use Family as F;
    use Find::{Above, Chains as C, Patterns as P};
    use Technique as T;
    use chains::dynamic;
    use exclusion::aligned_pair;
    use fish::fish;
    use grave::bivalue_universal_grave;
    use subsets::{direct_hidden, hidden, naked};
    use wings::wing;
    [
        line(T::LastCell, "last cell", 10, F::Singles, P(singles::last_cell)),
        line(T::HiddenSingle, "hidden single", 12, F::Singles, P(singles::hidden_single)),
        line(T::DirectPointing, "direct pointing", 17, F::Direct, P(locked::direct_pointing)),
        line(T::DirectClaiming, "direct claiming", 19, F::Direct, P(locked::direct_claiming)),
        line(
            T::DirectHiddenPair,
            "direct hidden pair",
            20,
            F::Direct,
            P(|hunt| direct_hidden(hunt, 2, T::DirectHiddenPair)),
        ),
        line(T::NakedSingle, "naked single", 23, F::Singles, P(singles::naked_single)),
        line(
            T::DirectHiddenTriplet,
            "direct hidden triplet",
            25,
            F::Direct,
            P(|hunt| direct_hidden(hunt, 3, T::DirectHiddenTriplet)),
        ),
        line(T::Pointing, "pointing", 26, F::Locked, P(locked::pointing)),
        line(T::Claiming, "claiming", 28, F::Locked, P(locked::claiming)),
        line(T::NakedPair, "naked pair", 30, F::Subsets, P(|hunt| naked(hunt, 2, T::NakedPair))),
        line(T::XWing, "X-wing", 32, F::Fish, P(|hunt| fish(hunt, 2, T::XWing))),
        line(T::HiddenPair, "hidden pair", 34, F::Subsets, P(|hunt| hidden(hunt, 2, T::HiddenPair))),
        line(T::NakedTriplet, "naked triplet", 36, F::Subsets, P(|hunt| naked(hunt, 3, T::NakedTriplet))),
        line(T::Swordfish, "swordfish", 38, F::Fish, P(|hunt| fish(hunt, 3, T::Swordfish))),
        line(T::HiddenTriplet, "hidden triplet", 40, F::Subsets, P(|hunt| hidden(hunt, 3, T::HiddenTriplet))),
        line(T::XyWing, "XY-wing", 42, F::Wings, P(|hunt| wing(hunt, 2, T::XyWing))),
        line(T::XyzWing, "XYZ-wing", 44, F::Wings, P(|hunt| wing(hunt, 3, T::XyzWing))),
        line(T::UniqueRectangle, "unique rectangle", 45, F::Uniqueness, P(unique::unique_loop)),
        line(T::UniqueLoop, "unique loop", 46, F::Uniqueness, Above),
        line(T::NakedQuad, "naked quad", 50, F::Subsets, P(|hunt| naked(hunt, 4, T::NakedQuad))),
        line(T::Jellyfish, "jellyfish", 52, F::Fish, P(|hunt| fish(hunt, 4, T::Jellyfish))),
        line(T::HiddenQuad, "hidden quad", 54, F::Subsets, P(|hunt| hidden(hunt, 4, T::HiddenQuad))),
        line(
            T::BivalueUniversalGrave,
            "bivalue universal grave",
            56,
            F::Uniqueness,
            P(bivalue_universal_grave),
        ),
        line(T::AlignedPairExclusion, "aligned pair exclusion", 62, F::Exclusion, P(aligned_pair)),
        line(T::XCycle, "X-cycle", 65, F::Chains, C(chains::single_chain)),
        line(T::YCycle, "Y-cycle", 65, F::Chains, Above),
        line(T::TurbotFish, "turbot fish", 66, F::Chains, Above),
        line(T::ForcingXChain, "forcing X-chain", 66, F::Chains, Above),
        line(T::BidirectionalCycle, "bidirectional cycle", 70, F::Chains, Above),
        line(T::ForcingChain, "forcing chain", 70, F::Chains, Above),
        line(T::NishioForcingChains, "Nishio forcing chains", 75, F::Forcing, C(dynamic::nishio)),
        line(T::CellForcingChains, "cell forcing chains", 80, F::Forcing, C(chains::multiple)),
        line(T::RegionForcingChains, "region forcing chains", 80, F::Forcing, Above),
        line(T::DynamicForcingChains, "dynamic forcing chains", 85, F::Forcing, C(dynamic::dynamic)),
        line(
            T::DynamicForcingChainsPlus,
            "dynamic forcing chains plus",
            90,
            F::Forcing,
            C(dynamic::dynamic_plus),
        ),
        line(T::NestedForcingChains, "nested forcing chains", 95, F::Forcing, C(dynamic::nested)),
        line(T::NestedMultipleChains, "nested multiple chains", 100, F::Forcing, C(dynamic::nested_multiple)),
        line(T::NestedDynamicChains, "nested dynamic chains", 105, F::Forcing, C(dynamic::nested_dynamic)),
    ]
};

/// The inferences that a search for steps may make by default: enough for the hardest puzzles that
/// are known, which take some seconds, and some twenty seconds at most.
pub const DEFAULT_EFFORT: u64 = 5_000_000_000;

/// Which steps are looked for, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The techniques that may be used; default: all.
    pub techniques: TechniqueSet,
    /// The highest rating that a step may have; default: no limit.
    pub up_to: Option<Score>,
    /// The most inferences that are made, for a step by [`next_step`], for a puzzle by [`Steps`] and
    /// [`rate`]; default: [`DEFAULT_EFFORT`]. Only chains take many: other techniques cost nothing
    /// that counts.
    pub effort: u64,
    /// A flag that stops the work when it is raised; default: none.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { techniques: TechniqueSet::ALL, up_to: None, effort: DEFAULT_EFFORT, cancel: None }
    }
}

/// Why there is no further step. Prints as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// Every cell has its digit.
    Solved,
    /// The next step is harder than the limit.
    Above(Score),
    /// No technique makes a step.
    Beyond,
    /// The effort was spent before a step was found.
    GaveUp,
    /// The position has no solution: a cell without candidate, or a digit without place.
    DeadEnd,
    /// The caller asked to stop.
    Cancelled,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solved => f.write_str("The puzzle is solved."),
            Self::Above(limit) => write!(f, "The next step is harder than {limit}."),
            Self::Beyond => f.write_str("No technique makes a step from here."),
            Self::GaveUp => f.write_str("The search for a step was given up: it took too long."),
            Self::DeadEnd => f.write_str("There is no solution from here."),
            Self::Cancelled => f.write_str("The search was stopped."),
        }
    }
}

/// The search for steps, with buffers for any number of puzzles.
#[derive(Debug, Default)]
struct Explorer {
    found: FoundStep,
    work: Workspace,
}

impl Explorer {
    /// Finds the easiest step of a position, and leaves it in `self.found`.
    fn find(
        &mut self,
        position: &Position,
        options: &Options<'_>,
        explains: bool,
        left: &mut u64,
    ) -> Result<(), Ending> {
        if position.is_filled() {
            let is_solved = explains.then(|| position.dead_end()).flatten().is_none();
            return Err(if is_solved { Ending::Solved } else { Ending::DeadEnd });
        }
        let budget = Budget { left: *left, cancel: options.cancel };
        let mut hunt = Hunt {
            position,
            allowed: options.techniques,
            explains,
            found: &mut self.found,
            budget,
            stopped: None,
        };
        let mut result = Err(Ending::Beyond);
        for (at, line) in REGISTRY.iter().enumerate() {
            if matches!(line.find, Find::Above) {
                continue;
            }
            let is_found_too = |other: &&RegistryLine| matches!(other.find, Find::Above);
            let group = 1 + REGISTRY[at + 1..].iter().take_while(is_found_too).count();
            let is_allowed = |line: &RegistryLine| {
                hunt.allowed.contains(line.technique)
                    && (!line.is_9x9_only || position.order() == Order::NINE)
            };
            if !REGISTRY[at..at + group].iter().any(is_allowed) {
                continue;
            }
            if let Some(limit) = options.up_to.filter(|limit| limit.tenths() < line.base) {
                result = Err(Ending::Above(limit));
                break;
            }
            let is_found = match line.find {
                Find::Patterns(find) => find(&mut hunt),
                Find::Chains(find) => find(&mut hunt, &mut self.work),
                Find::Above => false,
            };
            if is_found {
                result = match options.up_to {
                    Some(limit) if hunt.found.rating > limit.tenths() => Err(Ending::Above(limit)),
                    _ => Ok(()),
                };
                break;
            }
            if let Some(ending) = hunt.stopped {
                result = Err(ending);
                break;
            }
        }
        *left = hunt.budget.left;
        // A position without a solution is only looked at closely where no step hides it.
        match result {
            Err(_) if position.dead_end().is_some() => Err(Ending::DeadEnd),
            _ => result,
        }
    }
}

/// The easiest step of a position, in the order of techniques that Sudoku Explainer has.
///
/// # Errors
/// Why there is none.
pub fn next_step(position: &Position, options: &Options<'_>) -> Result<Step, Ending> {
    if position.dead_end().is_some() {
        return Err(Ending::DeadEnd);
    }
    let mut explorer = Explorer::default();
    explorer.find(position, options, true, &mut options.effort.clone())?;
    explorer.found.step(position).ok_or(Ending::Beyond)
}

/// The walk from a position to its solution, step by step: an iterator that carries each step out
/// before it looks for the next.
#[derive(Debug)]
pub struct Steps<'a> {
    position: Position,
    options: Options<'a>,
    explorer: Explorer,
    left: u64,
    ending: Option<Ending>,
}

impl<'a> Steps<'a> {
    /// A walk from a position.
    #[must_use]
    pub fn new(position: Position, options: Options<'a>) -> Self {
        let ending = position.dead_end().map(|_| Ending::DeadEnd);
        Self { position, options, explorer: Explorer::default(), left: options.effort, ending }
    }

    /// The position after the last step that was given out.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Why there was no further step, once there was none.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.ending.is_some() {
            return None;
        }
        if let Err(ending) = self.explorer.find(&self.position, &self.options, true, &mut self.left) {
            self.ending = Some(ending);
            return None;
        }
        let step = self.explorer.found.step(&self.position)?;
        self.position.apply(&step);
        Some(step)
    }
}
