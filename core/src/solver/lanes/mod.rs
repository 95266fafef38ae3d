//! The 9x9 kernel: hundreds of puzzles in one register.
//!
//! Fast solvers have spent vector instructions *inside* one puzzle. Here they are spent *across* puzzles, in the
//! smallest unit there is: each puzzle has one bit in every register, its *lane*. The state of all lanes is a word for
//! each of the 729 candidates, and the rules are Boolean algebra between words. Nothing is shifted and nothing
//! branches; no lane waits for another for long, because one that is done is given the next puzzle.
//!
//! | file | what |
//! |---|---|
//! | `word.rs` | the vector vocabulary: all that is asked of a machine |
//! | `inference.rs` | the sliced state, and one pass of inference over it |
//! | `branch.rs` | what to do when passes find nothing more: triads, else a guess |
//! | `transpose.rs` | between the sliced state and a row of bits for each lane |
//! | `engine.rs` | the searches of the lanes: what they do next, and what was found |
//! | `dives.rs` | a shorter way to two solutions, where puzzles have many |
//! | `scalar.rs` | the same search for one puzzle at a time |
//! | `portable.rs`, `avx2.rs`, `avx512vl.rs`, `avx512.rs` | the back ends |
//! | `sse2.rs` | stands in for `portable.rs` on x86-64 |
//!
//! The search is written once, over the vocabulary. Each back end compiles it for its instructions; which one is used is
//! found out at run time, so the program itself is built for any processor.

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
mod dives;
mod engine;
mod inference;
mod job;
#[cfg(test)]
mod miri_tests;
mod packing;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod testing;
mod transpose;
mod word;

use std::fmt;
use std::str::FromStr;

use self::engine::Engine;
use self::job::SearchJob;
#[cfg(not(target_arch = "x86_64"))]
use self::portable::Portable as Baseline;
#[cfg(target_arch = "x86_64")]
use self::sse2::Sse2 as Baseline;
use super::{Limit, Search};
#[cfg(target_arch = "x86_64")]
use crate::simd;

pub use engine::LaneStats;
pub(super) use scalar::Scalar;

/// The instructions that the kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// x86-64 with AVX-512 F, BW and VL: 512 lanes.
    Avx512,
    /// The same instructions on words of 256 bits: 256 lanes. Faster where the processor does 512 bits in two steps.
    Avx512Vl,
    /// x86-64 with AVX2: 256 lanes.
    Avx2,
    /// Any machine: 128 lanes.
    Portable,
}

impl Backend {
    /// All of them by the name users type.
    pub const ALL: [(&'static str, Self); 4] = [
        ("avx512", Self::Avx512),
        ("avx512vl", Self::Avx512Vl),
        ("avx2", Self::Avx2),
        ("portable", Self::Portable),
    ];

    /// Can this machine run it?
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
            Self::Portable => true,
        }
    }

    /// The fastest that this machine can run.
    #[must_use]
    pub fn best() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// All that this machine can run, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        let mut all = Self::ALL.map(|(_, backend)| backend);
        #[cfg(target_arch = "x86_64")]
        if simd::prefers_256_bits() {
            // The two with AVX-512 stand first.
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
pub enum NoBackend {
    /// There is none of this name.
    #[error("`{0}` is no back end. Use avx512, avx512vl, avx2 or portable.")]
    Unknown(String),
    /// This machine cannot run it.
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

/// Lanes do not share a puzzle where more solutions than this are wanted. They would find them out of order, and putting
/// them in order takes longer the more there are.
pub(super) const MOST_SHARED_SOLUTIONS: u64 = 2;

/// The kernel, ready to search many puzzles at once. One for each thread.
pub struct Lanes {
    engine: AnyEngine,
    sharing: bool,
}

enum AnyEngine {
    #[cfg(target_arch = "x86_64")]
    Avx512(Engine<avx512::Avx512>),
    #[cfg(target_arch = "x86_64")]
    Avx512Vl(Engine<avx512vl::Avx512Vl>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Engine<avx2::Avx2>),
    Portable(Engine<Baseline>),
}

impl Lanes {
    /// With this back end.
    ///
    /// # Panics
    /// If this machine does not have it.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        assert!(backend.is_available(), "{}", NoBackend::Unavailable(backend));
        let engine = match backend {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => AnyEngine::Avx512(avx512::engine()),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512Vl => AnyEngine::Avx512Vl(avx512vl::engine()),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => AnyEngine::Avx2(avx2::engine()),
            _ => AnyEngine::Portable(Engine::new(Engine::dive)),
        };
        Self { engine, sharing: true }
    }

    /// The back end.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        match &self.engine {
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx512(_) => Backend::Avx512,
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx512Vl(_) => Backend::Avx512Vl,
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx2(_) => Backend::Avx2,
            AnyEngine::Portable(_) => Backend::Portable,
        }
    }

    /// May lanes that have nothing else to do take parts of a puzzle that another lane works on? They do, unless told
    /// otherwise.
    pub const fn share_puzzles(&mut self, sharing: bool) {
        self.sharing = sharing;
    }

    /// Searches each puzzle, 81 digits with 0 for a blank, and writes its first solution and what was found in the same
    /// place of the other two slices.
    ///
    /// A solution's digits are unspecified where none was found. The first solution of a puzzle that has several is the
    /// same whatever stands around it and on any back end, unless two solutions are asked for: where most puzzles have two, what
    /// stands there is some solution. Everything in [`Search`] is the same too, but for the metrics of puzzles with as many solutions
    /// as were asked for: lanes that share a puzzle visit states that one lane would not, and some need fewer.
    ///
    /// What is found of a puzzle with a number above 9 is unspecified.
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
        match &mut self.engine {
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx512(engine) => avx512::run(engine, &mut job),
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx512Vl(engine) => avx512vl::run(engine, &mut job),
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx2(engine) => avx2::run(engine, &mut job),
            AnyEngine::Portable(engine) => engine.run(&mut job),
        }
    }

    /// How the lanes have been used so far.
    #[must_use]
    pub const fn stats(&self) -> LaneStats {
        match &self.engine {
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx512(engine) => engine.stats(),
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx512Vl(engine) => engine.stats(),
            #[cfg(target_arch = "x86_64")]
            AnyEngine::Avx2(engine) => engine.stats(),
            AnyEngine::Portable(engine) => engine.stats(),
        }
    }
}

#[cfg(test)]
mod tests;
