//! Costs: from how many puzzles on the kernel is faster than one puzzle at a time.
//!
//! Both take longer for harder puzzles, but not in the same way. The kernel takes long to end its
//! last search, whatever else it does: on trivial puzzles 13 microseconds, on hard ones 300.
//! So the first puzzles of a batch are searched one by one, and what they take is the measure of
//! both. It is counted in passes and guesses, not in time, because the core has no clock.

use crate::solver::lanes::{Backend, MOST_SHARED_SOLUTIONS};
use crate::solver::{Search, Stop};

/// What one puzzle at a time takes, and what the kernel takes, in nanoseconds.
///
/// For `n` puzzles of which each takes a time `t` alone, the kernel takes `tail(t) + n * t * share`.
struct BackendFigures {
    /// To read a puzzle and write a solution, for a pass, for a guess with what follows from it.
    puzzle: f64,
    pass: f64,
    guess: f64,
    /// The share of the time that a lane takes.
    share: f64,
    /// The tail is this many times `t - tail_from`, and at most `longest_tail`.
    tail_from: f64,
    tail: f64,
    longest_tail: f64,
    /// The tail if nearly all puzzles have two solutions.
    tail_of_many: f64,
    /// The most passes of the first puzzle of a large batch if [`singles`](crate::solver::singles) are
    /// faster for puzzles like that than the kernel; 0 if they never are.
    singles: u64,
}

/// Measured on a Xeon with AVX-512, uniqueness proven, on eight lists: trivial and easy puzzles,
/// minimal ones, hard ones, with many solutions and with none, at fourteen lengths up to 1,500
/// puzzles.
static AVX512: BackendFigures = BackendFigures {
    puzzle: 55.0,
    pass: 33.0,
    guess: 110.0,
    share: 0.38,
    tail_from: 120.0,
    tail: 200.0,
    longest_tail: 300_000.0,
    tail_of_many: 550_000.0,
    singles: 4,
};

/// Half as many lanes have a shorter tail. These three were measured like that, on six lists.
static AVX512VL: BackendFigures = BackendFigures {
    share: 0.39,
    tail: 150.0,
    longest_tail: 230_000.0,
    tail_of_many: 380_000.0,
    singles: 0,
    ..AVX512
};

static AVX2: BackendFigures = BackendFigures {
    puzzle: 50.0,
    pass: 35.0,
    guess: 120.0,
    share: 0.5,
    tail_from: 110.0,
    tail: 170.0,
    longest_tail: 270_000.0,
    tail_of_many: 470_000.0,
    singles: 7,
};

/// Not measured on a processor, but from counts of instructions beside those of AVX2: as many lanes as
/// `PORTABLE`, and twice as many instructions a pass of one puzzle.
static NEON: BackendFigures = BackendFigures {
    puzzle: 60.0,
    pass: 60.0,
    guess: 170.0,
    share: 0.5,
    tail_from: 120.0,
    tail: 80.0,
    longest_tail: 200_000.0,
    tail_of_many: 350_000.0,
    singles: 0,
};

/// 128 lanes, and one puzzle at a time without vectors.
static PORTABLE: BackendFigures = BackendFigures {
    puzzle: 85.0,
    pass: 110.0,
    guess: 235.0,
    share: 0.3,
    tail_from: 150.0,
    tail: 30.0,
    longest_tail: 170_000.0,
    tail_of_many: 300_000.0,
    singles: 0,
};

/// A batch of at least this many puzzles goes straight to the kernel, unless singles solve it.
pub(super) const MANY: usize = 512;

/// The fewest puzzles of a batch of which singles are tried, because a block of them takes as long as
/// some four puzzles alone.
pub(super) const LEAST_FOR_SINGLES: usize = 5;

/// The most passes of the first puzzle of a smaller batch of which singles are tried. Without a guess, 97 %
/// of easy puzzles have no more, all of which singles solve, and 3 % of minimal ones, of which hardly any.
const PASSES_OF_SINGLES: u64 = 7;

/// Fewer puzzles than this say nothing, unless they took long.
const SAMPLE: f64 = 10.0;
const LONG: f64 = 15_000.0;

/// What the puzzles of a batch have taken so far.
pub(super) struct Experience {
    figures: &'static BackendFigures,
    shares_lanes: bool,
    puzzles: f64,
    spent: f64,
    /// The puzzles with two solutions, where it was asked whether there is one.
    saturated: f64,
}

impl Experience {
    pub(super) const fn new(backend: Backend, solutions: u64) -> Self {
        let figures = match backend {
            Backend::Avx512 => &AVX512,
            Backend::Avx512Vl => &AVX512VL,
            Backend::Avx2 => &AVX2,
            Backend::Neon => &NEON,
            Backend::Portable => &PORTABLE,
        };
        Self {
            figures,
            shares_lanes: solutions <= MOST_SHARED_SOLUTIONS,
            puzzles: 0.0,
            spent: 0.0,
            saturated: 0.0,
        }
    }

    /// Whether singles are probably faster than one puzzle at a time, and than the kernel, for so many
    /// puzzles like one that took so many passes.
    pub(super) const fn singles_pay(&self, puzzles: usize, passes: u64, search: &Search) -> bool {
        let most = if puzzles < MANY { PASSES_OF_SINGLES } else { self.figures.singles };
        search.metrics.guesses == 0 && search.solutions == 1 && passes <= most
    }

    /// Adds a puzzle that was searched alone.
    pub(super) fn add(&mut self, passes: u64, search: &Search) {
        let BackendFigures { puzzle, pass, guess, .. } = *self.figures;
        self.puzzles += 1.0;
        self.spent += puzzle + pass * passes as f64 + guess * search.metrics.guesses as f64;
        if search.stop == Stop::Solutions && search.solutions == 2 {
            self.saturated += 1.0;
        }
    }

    /// Whether the kernel is faster for as many puzzles like those.
    pub(super) fn kernel_pays(&self, rest: usize) -> bool {
        if rest >= MANY {
            return true;
        }
        // Without sharing, the tail is as long as the longest search of one lane.
        if !self.shares_lanes || self.puzzles < SAMPLE && self.spent < LONG {
            return false;
        }
        let BackendFigures { share, tail_from, tail, longest_tail, tail_of_many, .. } = *self.figures;
        let each = self.spent / self.puzzles;
        let tail = if 8.0 * self.saturated >= 7.0 * self.puzzles {
            tail_of_many
        } else {
            (tail * (each - tail_from)).clamp(0.0, longest_tail)
        };
        rest as f64 * each * (1.0 - share) > tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Metrics;

    fn after(puzzles: u64, passes: u64, guesses: u64, solutions: u64) -> Experience {
        let mut experience = Experience::new(Backend::Avx512, 2);
        let stop = if solutions == 2 { Stop::Solutions } else { Stop::Exhausted };
        let metrics = Metrics { nodes: 1 + guesses, guesses, ..Metrics::default() };
        for _ in 0..puzzles {
            experience.add(passes, &Search { solutions, stop, metrics });
        }
        experience
    }

    /// The least number of puzzles for the kernel.
    fn least(experience: &Experience) -> usize {
        (0..=MANY).find(|&rest| experience.kernel_pays(rest)).unwrap()
    }

    #[test]
    fn few_puzzles_stay_alone_and_many_do_not() {
        assert_eq!(least(&after(0, 0, 0, 1)), MANY, "nothing is known");
        assert_eq!(least(&after(3, 4, 0, 1)), MANY, "little is known");
        // As measured: trivial, minimal, hard, with many solutions.
        assert!((60..140).contains(&least(&after(12, 4, 0, 1))));
        assert!((200..320).contains(&least(&after(12, 19, 1, 1))));
        assert!((12..30).contains(&least(&after(1, 509, 63, 1))));
        assert!((300..MANY).contains(&least(&after(12, 37, 8, 2))));
        assert!(!Experience::new(Backend::Avx512, 3).kernel_pays(MANY - 1), "lanes would not share");
    }
}
