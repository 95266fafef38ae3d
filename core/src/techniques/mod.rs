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
use hunt::{Budget, Find, Found, Hunt};

pub use position::{DeadEnd, PencilMarkError, Position};
pub use rating::{Rater, Rating, rate};
pub use step::{Candidate, Chain, Implication, Kind, Link, Node, Step, Why};
pub use technique::{Family, NotForSize, Score, ScoreError, Technique, TechniqueError, TechniqueSet};

/// A line of the registry.
struct Line {
    technique: Technique,
    name: &'static str,
    title: &'static str,
    /// The lowest rating, in tenths.
    base: u16,
    family: Family,
    is_9x9_only: bool,
    /// The function that looks for it, or none if that of a line above finds it too.
    find: Option<Find>,
}

/// Shortens the lines of the registry.
const fn line(
    technique: Technique,
    name: &'static str,
    title: &'static str,
    base: u16,
    family: Family,
    find: Option<Find>,
) -> Line {
    // Their buffers are for 729 candidates, and the work grows with the fourth power of the side.
    let is_9x9_only = matches!(family, Family::Forcing);
    Line { technique, name, title, base, family, is_9x9_only, find }
}

/// Every technique, in the order in which they are tried and in which [`Technique`] has them.
static REGISTRY: &[Line] = {
    use Family as F;
    use Technique as T;
    &[
        line(T::LastCell, "last-cell", "last cell", 10, F::Singles, Some(singles::last_cell)),
        line(T::HiddenSingle, "hidden-single", "hidden single", 12, F::Singles, Some(singles::hidden_single)),
        line(
            T::DirectPointing,
            "direct-pointing",
            "direct pointing",
            17,
            F::Direct,
            Some(locked::direct_pointing),
        ),
        line(
            T::DirectClaiming,
            "direct-claiming",
            "direct claiming",
            19,
            F::Direct,
            Some(locked::direct_claiming),
        ),
        line(
            T::DirectHiddenPair,
            "direct-hidden-pair",
            "direct hidden pair",
            20,
            F::Direct,
            Some(subsets::direct_hidden_pair),
        ),
        line(T::NakedSingle, "naked-single", "naked single", 23, F::Singles, Some(singles::naked_single)),
        line(
            T::DirectHiddenTriplet,
            "direct-hidden-triplet",
            "direct hidden triplet",
            25,
            F::Direct,
            Some(subsets::direct_hidden_triplet),
        ),
        line(T::Pointing, "pointing", "pointing", 26, F::Locked, Some(locked::pointing)),
        line(T::Claiming, "claiming", "claiming", 28, F::Locked, Some(locked::claiming)),
        line(T::NakedPair, "naked-pair", "naked pair", 30, F::Subsets, Some(subsets::naked_pair)),
        line(T::XWing, "x-wing", "X-wing", 32, F::Fish, Some(fish::x_wing)),
        line(T::HiddenPair, "hidden-pair", "hidden pair", 34, F::Subsets, Some(subsets::hidden_pair)),
        line(T::NakedTriplet, "naked-triplet", "naked triplet", 36, F::Subsets, Some(subsets::naked_triplet)),
        line(T::Swordfish, "swordfish", "swordfish", 38, F::Fish, Some(fish::swordfish)),
        line(
            T::HiddenTriplet,
            "hidden-triplet",
            "hidden triplet",
            40,
            F::Subsets,
            Some(subsets::hidden_triplet),
        ),
        line(T::XyWing, "xy-wing", "XY-wing", 42, F::Wings, Some(wings::xy_wing)),
        line(T::XyzWing, "xyz-wing", "XYZ-wing", 44, F::Wings, Some(wings::xyz_wing)),
        line(
            T::UniqueRectangle,
            "unique-rectangle",
            "unique rectangle",
            45,
            F::Uniqueness,
            Some(unique::unique_loop),
        ),
        line(T::UniqueLoop, "unique-loop", "unique loop", 46, F::Uniqueness, None),
        line(T::NakedQuad, "naked-quad", "naked quad", 50, F::Subsets, Some(subsets::naked_quad)),
        line(T::Jellyfish, "jellyfish", "jellyfish", 52, F::Fish, Some(fish::jellyfish)),
        line(T::HiddenQuad, "hidden-quad", "hidden quad", 54, F::Subsets, Some(subsets::hidden_quad)),
        line(
            T::BivalueUniversalGrave,
            "bivalue-universal-grave",
            "bivalue universal grave",
            56,
            F::Uniqueness,
            Some(grave::bivalue_universal_grave),
        ),
        line(
            T::AlignedPairExclusion,
            "aligned-pair-exclusion",
            "aligned pair exclusion",
            62,
            F::Exclusion,
            Some(exclusion::aligned_pair),
        ),
        line(T::XCycle, "x-cycle", "X-cycle", 65, F::Chains, Some(chains::single_chain)),
        line(T::YCycle, "y-cycle", "Y-cycle", 65, F::Chains, None),
        line(T::TurbotFish, "turbot-fish", "turbot fish", 66, F::Chains, None),
        line(T::ForcingXChain, "forcing-x-chain", "forcing X-chain", 66, F::Chains, None),
        line(T::BidirectionalCycle, "bidirectional-cycle", "bidirectional cycle", 70, F::Chains, None),
        line(T::ForcingChain, "forcing-chain", "forcing chain", 70, F::Chains, None),
        line(
            T::NishioForcingChains,
            "nishio-forcing-chains",
            "Nishio forcing chains",
            75,
            F::Forcing,
            Some(chains::dynamic::nishio),
        ),
        line(
            T::CellForcingChains,
            "cell-forcing-chains",
            "cell forcing chains",
            80,
            F::Forcing,
            Some(chains::multiple),
        ),
        line(T::RegionForcingChains, "region-forcing-chains", "region forcing chains", 80, F::Forcing, None),
        line(
            T::DynamicForcingChains,
            "dynamic-forcing-chains",
            "dynamic forcing chains",
            85,
            F::Forcing,
            Some(chains::dynamic::dynamic),
        ),
        line(
            T::DynamicForcingChainsPlus,
            "dynamic-forcing-chains-plus",
            "dynamic forcing chains plus",
            90,
            F::Forcing,
            Some(chains::dynamic::dynamic_plus),
        ),
        line(
            T::NestedForcingChains,
            "nested-forcing-chains",
            "nested forcing chains",
            95,
            F::Forcing,
            Some(chains::dynamic::nested),
        ),
        line(
            T::NestedMultipleChains,
            "nested-multiple-chains",
            "nested multiple chains",
            100,
            F::Forcing,
            Some(chains::dynamic::nested_multiple),
        ),
        line(
            T::NestedDynamicChains,
            "nested-dynamic-chains",
            "nested dynamic chains",
            105,
            F::Forcing,
            Some(chains::dynamic::nested_dynamic),
        ),
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
    found: Found,
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
            work: &mut self.work,
            budget,
            stopped: None,
        };
        let mut result = Err(Ending::Beyond);
        for (at, line) in REGISTRY.iter().enumerate() {
            let Some(find) = line.find else { continue };
            let is_found_too = |other: &&Line| other.find.is_none();
            let group = 1 + REGISTRY[at + 1..].iter().take_while(is_found_too).count();
            let is_allowed = |line: &Line| {
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
            if find(&mut hunt) {
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
