//! The bit-sliced 9x9 kernel: hundreds of puzzles searched at once, one in each bit of a vector.
//!
//! Each puzzle has one bit in every vector, its *lane*. The state of all lanes is one word for each
//! of the 729 candidates, and inference is Boolean algebra between words. `docs/kernel.md` has
//! the search, and what bounds its speed.
//!
//! Each file uses only those above it:
//!
//! | file | content |
//! |---|---|
//! | `word.rs` | `Word`: a vector of lanes and its bit algebra; `Mask`: a set of lanes |
//! | `packing.rs` | `Packing`: 81 digits to the bits that lanes are loaded from, and back |
//! | `transpose.rs` | `LaneRows`: the bits of each lane to words, and back |
//! | `rules.rs` | `RuleCheck`: which puzzles break a rule, without a search |
//! | `inference.rs` | `SlicedState`: the candidates of all lanes, and one pass of inference |
//! | `branch.rs` | where passes find nothing more: triads, then a guess |
//! | `job.rs` | `SearchJob`: the puzzles to search and the answers |
//! | `dives.rs` | fast search for two solutions of puzzles that have many |
//! | `lists.rs` | `StateLists`: the unfinished search states of each puzzle, in order |
//! | `dive_policy.rs` | when dives pay |
//! | `engine.rs` | depth-first search in every lane, refilling, sharing of puzzles |
//! | `entries.rs` | engine and rule check, compiled for instructions found at run time |
//! | `avx512.rs`, `avx512vl.rs`, `avx2.rs`, `neon.rs`, `portable.rs` | back ends: implementations of `Word` |
//! | `sse2.rs` | takes the place of `portable.rs` on x86-64 |
//!
//! The search is written once, generic over `Word`. Each back end compiles it for its instructions,
//! and [`Backend::best`] chooses one at run time, so one binary runs on any processor.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use sudoku_core::solver::lanes::{Backend, Lanes};
//! use sudoku_core::solver::{Limit, Search};
//!
//! let puzzles = [[0; 81]; 3]; // digits in reading order, 0 for a blank
//! let (mut solutions, mut searches) = ([[0; 81]; 3], [Search::NO_SOLUTION; 3]);
//! let limit = Limit { solutions: 1, nodes: 1_000, cancel: &AtomicBool::new(false) };
//! Lanes::new(Backend::best()).search(&puzzles, &limit, &mut solutions, &mut searches);
//! assert!(searches.iter().all(|search| search.solutions == 1));
//! ```

#![expect(
    clippy::cast_possible_truncation,
    reason = "words are cut into parts on purpose; lanes, and the puzzles of a batch, are few"
)]
#![expect(clippy::many_single_char_names, reason = "six permutations have no better names than a to f")]
#![expect(clippy::unnecessary_box_returns, reason = "a sliced state is too large for the stack of a thread")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512vl;
mod branch;
mod dive_policy;
mod dives;
mod engine;
#[cfg(target_arch = "x86_64")]
mod entries;
mod inference;
mod job;
mod lists;
#[cfg(test)]
mod miri_tests;
#[cfg(target_arch = "aarch64")]
mod neon;
mod packing;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
mod rules;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
pub(super) mod testing;
mod transpose;
mod word;

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "x86_64")]
use self::avx2::{Avx2Engine, Avx2RuleCheck};
#[cfg(target_arch = "x86_64")]
use self::avx512::{Avx512Engine, Avx512RuleCheck};
#[cfg(target_arch = "x86_64")]
use self::avx512vl::{Avx512VlEngine, Avx512VlRuleCheck};
use self::engine::Engine;
use self::job::SearchJob;
#[cfg(not(target_arch = "x86_64"))]
use self::portable::Portable as Baseline;
use self::rules::RuleCheck;
#[cfg(target_arch = "x86_64")]
use self::sse2::Sse2 as Baseline;
use super::{Limit, Search};
#[cfg(target_arch = "x86_64")]
use crate::simd;

pub use engine::LaneStats;

/// An instruction set that the kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// x86-64 with AVX-512 F, BW and VL, words of 512 bits: 512 lanes.
    Avx512,
    /// x86-64 with AVX-512 F, BW and VL, words of 256 bits: 256 lanes. Faster on processors that
    /// execute 512 bits in two steps, such as Zen 4.
    Avx512Vl,
    /// x86-64 with AVX2: 256 lanes.
    Avx2,
    /// 64-bit Arm, every one of which has NEON: 128 lanes.
    Neon,
    /// Any processor: 128 lanes.
    Portable,
}

impl Backend {
    /// All back ends, each with its name on the command line.
    pub const ALL: [(&'static str, Self); 5] = [
        ("avx512", Self::Avx512),
        ("avx512vl", Self::Avx512Vl),
        ("avx2", Self::Avx2),
        ("neon", Self::Neon),
        ("portable", Self::Portable),
    ];

    /// Whether this processor has the instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => simd::has_avx512(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vl => simd::has_avx512(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => simd::has_avx2(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx512Vl | Self::Avx2 => false,
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Portable => true,
        }
    }

    /// The fastest back end of this processor.
    #[must_use]
    pub fn best() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// The back ends of this processor, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let prefers_256_bits = simd::prefers_256_bits();
        #[cfg(not(target_arch = "x86_64"))]
        let prefers_256_bits = false;
        let mut all = Self::ALL.map(|(_, backend)| backend);
        if prefers_256_bits {
            // The two for AVX-512 come first in `ALL`.
            all.swap(0, 1);
        }
        all.into_iter().filter(|backend| backend.is_available())
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, backend)| backend == self).map_or("", |(name, _)| name))
    }
}

/// Why a back end cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoBackend {
    /// No back end has this name.
    #[error("`{0}` is no back end. Use avx512, avx512vl, avx2, neon or portable.")]
    Unknown(String),
    /// This processor lacks the instructions.
    #[error("This machine does not have the instructions of the back end {0}.")]
    Unavailable(Backend),
}

impl FromStr for Backend {
    type Err = NoBackend;

    fn from_str(text: &str) -> Result<Self, NoBackend> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        let (_, backend) = known.ok_or_else(|| NoBackend::Unknown(text.to_owned()))?;
        if backend.is_available() { Ok(backend) } else { Err(NoBackend::Unavailable(backend)) }
    }
}

/// Lanes share a puzzle only for searches up to this many solutions, because they find them out of
/// order, and sorting takes longer the more there are.
pub(super) const MOST_SHARED_SOLUTIONS: u64 = 2;

/// The kernel with its working memory of several hundred KiB. Each thread needs its own.
pub struct Lanes {
    backend: Backend,
    engine: AnyEngine,
    sharing: bool,
}

enum AnyEngine {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Engine),
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Avx512VlEngine),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Engine),
    #[cfg(target_arch = "aarch64")]
    Neon(Engine<neon::Neon>),
    Portable(Engine<Baseline>),
}

/// The same expression for whichever back end a value of `$any` is of.
macro_rules! in_each {
    ($any:ident, $value:expr, $it:ident => $result:expr) => {
        match $value {
            #[cfg(target_arch = "x86_64")]
            $any::Avx512($it) => $result,
            #[cfg(target_arch = "x86_64")]
            $any::Avx512Vl($it) => $result,
            #[cfg(target_arch = "x86_64")]
            $any::Avx2($it) => $result,
            #[cfg(target_arch = "aarch64")]
            $any::Neon($it) => $result,
            $any::Portable($it) => $result,
        }
    };
}

impl Lanes {
    /// A kernel with this back end.
    ///
    /// # Panics
    /// If the processor lacks its instructions, see [`Backend::is_available`].
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        let engine = match backend {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => Avx512Engine::new().map(AnyEngine::Avx512),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512Vl => Avx512VlEngine::new().map(AnyEngine::Avx512Vl),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => Avx2Engine::new().map(AnyEngine::Avx2),
            #[cfg(target_arch = "aarch64")]
            Backend::Neon => Some(AnyEngine::Neon(Engine::new(Engine::dive))),
            Backend::Portable => Some(AnyEngine::Portable(Engine::new(Engine::dive))),
            #[cfg(target_arch = "x86_64")]
            Backend::Neon => None,
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        };
        let Some(engine) = engine else { panic!("{}", NoBackend::Unavailable(backend)) };
        Self { backend, engine, sharing: true }
    }

    /// The back end.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// Whether idle lanes take search states of a puzzle that another lane works on; default: true.
    #[doc(hidden)]
    pub const fn share_puzzles(&mut self, sharing: bool) {
        self.sharing = sharing;
    }

    /// Searches puzzles of 81 digits, 0 for a blank. The first solution and the result of puzzle
    /// `i` go to `solutions[i]` and `searches[i]`.
    ///
    /// Where no solution was found, the digits of `solutions[i]` are unspecified. Results do not
    /// depend on the other puzzles or the back end, with two exceptions. With a limit of two
    /// solutions, the solution of a puzzle that has several is any of them. And the metrics of a
    /// search that stopped at the limit of solutions vary, because lanes that share a puzzle visit
    /// states that one lane would not.
    ///
    /// A puzzle with a number above 9 has an unspecified result.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn search(
        &mut self,
        puzzles: &[[u8; 81]],
        limit: &Limit<'_>,
        solutions: &mut [[u8; 81]],
        searches: &mut [Search],
    ) {
        assert!(puzzles.len() == solutions.len() && puzzles.len() == searches.len());
        let mut job = SearchJob {
            puzzles,
            solutions,
            searches,
            solution_limit: limit.solutions,
            node_limit: limit.nodes,
            cancel: limit.cancel,
            sharing: self.sharing && limit.solutions <= MOST_SHARED_SOLUTIONS,
            dives_in_all: false,
        };
        in_each!(AnyEngine, &mut self.engine, engine => engine.run(&mut job));
    }

    /// Utilisation of the lanes since the kernel was made.
    #[doc(hidden)]
    #[must_use]
    pub const fn stats(&self) -> LaneStats {
        in_each!(AnyEngine, &self.engine, engine => engine.stats())
    }
}

/// The rules of Sudoku for hundreds of 9x9 puzzles at once, without a search. Each thread needs its
/// own; it takes some 50 KiB.
///
/// ```
/// use sudoku_core::solver::lanes::{Backend, RuleChecker};
///
/// let mut puzzles = [[0; 81]; 3]; // digits in reading order, 0 for a blank
/// (puzzles[1][0], puzzles[1][8]) = (5, 5); // twice in the first row
/// let mut broken = Vec::new();
/// RuleChecker::new(Backend::best()).find_broken(&puzzles, &mut broken);
/// assert_eq!(broken, [1]);
/// ```
pub struct RuleChecker(AnyRuleCheck);

enum AnyRuleCheck {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512RuleCheck),
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Avx512VlRuleCheck),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2RuleCheck),
    #[cfg(target_arch = "aarch64")]
    Neon(RuleCheck<neon::Neon>),
    Portable(RuleCheck<Baseline>),
}

impl RuleChecker {
    /// A check with this back end.
    ///
    /// # Panics
    /// If the processor lacks its instructions, see [`Backend::is_available`].
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        let check = match backend {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => Avx512RuleCheck::new().map(AnyRuleCheck::Avx512),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512Vl => Avx512VlRuleCheck::new().map(AnyRuleCheck::Avx512Vl),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => Avx2RuleCheck::new().map(AnyRuleCheck::Avx2),
            #[cfg(target_arch = "aarch64")]
            Backend::Neon => Some(AnyRuleCheck::Neon(RuleCheck::new())),
            Backend::Portable => Some(AnyRuleCheck::Portable(RuleCheck::new())),
            #[cfg(target_arch = "x86_64")]
            Backend::Neon => None,
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        };
        let Some(check) = check else { panic!("{}", NoBackend::Unavailable(backend)) };
        Self(check)
    }

    /// Appends to `broken` the index of each puzzle with a digit that is twice in a row, a column or
    /// a box, in their order. [`Grid::first_conflict`](crate::grid::Grid::first_conflict) says what
    /// is wrong with one.
    ///
    /// A puzzle with a number above 9 has an unspecified result.
    pub fn find_broken(&mut self, puzzles: &[[u8; 81]], broken: &mut Vec<usize>) {
        in_each!(AnyRuleCheck, &mut self.0, check => check.find_broken(puzzles, broken));
    }
}

#[cfg(test)]
mod tests;
