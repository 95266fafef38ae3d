//! Helpers for the tests of the kernel: puzzles with known answers, and single lanes of sliced words.

use super::engine::Engine;
use super::inference::SlicedState;
use super::job::SearchJob;
use super::packing::SlicedPlanes;
use super::portable::Portable;
use super::word::{Mask, Word};
use crate::grid::{Grid, Order};

/// The lanes of the portable back end.
pub(super) const LANES: usize = 64 * Portable::PARTS;

/// The solutions of [`KnownPuzzle`] are counted up to this many.
pub(super) const COUNTED: u64 = 200;

/// A puzzle and its number of solutions.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct KnownPuzzle {
    pub(in crate::solver) digits: [u8; 81],
    pub(super) solutions: u64,
}

impl KnownPuzzle {
    pub(super) fn grid(&self) -> Grid {
        Grid::from_digits(Order::NINE, &self.digits)
    }
}

/// The puzzles of `known_puzzles.txt`: with one solution, several and none, with 17 clues and 81,
/// easy and hard.
pub(in crate::solver) fn known_puzzles() -> Vec<KnownPuzzle> {
    let lines = include_str!("known_puzzles.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (cells, solutions) = line.split_once(' ').unwrap();
            KnownPuzzle { digits: digits(cells), solutions: solutions.parse().unwrap() }
        })
        .collect()
}

/// The known puzzles with as many solutions.
pub(super) fn known_with(solutions: std::ops::RangeInclusive<u64>) -> Vec<KnownPuzzle> {
    known_puzzles().into_iter().filter(|known| solutions.contains(&known.solutions)).collect()
}

/// 81 digits, `.` for a blank.
pub(super) fn digits(cells: &str) -> [u8; 81] {
    let digits: Vec<u8> = cells.bytes().map(|byte| if byte == b'.' { 0 } else { byte - b'0' }).collect();
    digits.try_into().unwrap()
}

/// An engine of the portable back end.
pub(super) fn engine() -> Engine<Portable> {
    Engine::new(dive)
}

/// [`Engine::run`], compiled once for all tests, because it takes the compiler seconds.
#[inline(never)]
pub(super) fn run(engine: &mut Engine<Portable>, job: &mut SearchJob<'_>) {
    engine.run(job);
}

/// [`Engine::dive`], compiled once likewise.
#[inline(never)]
pub(super) fn dive(engine: &mut Engine<Portable>, job: &mut SearchJob<'_>) {
    engine.dive(job);
}

/// The candidates of one lane, by cell.
pub(super) type CellCandidates = [Vec<usize>; 81];

/// The candidates in one lane of sliced words.
pub(super) fn lane(candidates: &[Portable; 729], lane: usize) -> CellCandidates {
    std::array::from_fn(|cell| (0..9).filter(|digit| has(candidates[81 * digit + cell], lane)).collect())
}

/// Whether a word has the bit of a lane.
pub(super) fn has(word: Portable, lane: usize) -> bool {
    Mask::of(word).contains::<Portable>(lane)
}

/// The word with the bits of these lanes.
pub(super) fn only(lanes: impl IntoIterator<Item = usize>) -> Portable {
    let mut mask = Mask::default();
    lanes.into_iter().for_each(|lane| mask.insert::<Portable>(lane));
    mask.word()
}

/// A state with one puzzle in each of the first lanes.
pub(super) fn begin(puzzles: &[[u8; 81]]) -> Box<SlicedState<Portable>> {
    let mut state = SlicedState::new();
    let mut planes: SlicedPlanes<Portable> = [Portable::splat(0); 324];
    for (bit, planes) in planes.as_chunks_mut::<81>().0.iter_mut().enumerate() {
        for (cell, plane) in planes.iter_mut().enumerate() {
            *plane = only((0..puzzles.len()).filter(|&lane| puzzles[lane][cell] >> bit & 1 == 1));
        }
    }
    state.begin(only(0..puzzles.len()), &planes);
    state
}

/// Passes until nothing changes in any lane that is alive.
pub(super) fn exhaust(state: &mut SlicedState<Portable>) {
    state.changed = Portable::splat(!0);
    for _ in 0..500 {
        state.look_at_cells();
        if Mask::of(state.alive.and(state.changed)).is_empty() {
            return;
        }
        state.pass();
    }
    panic!("no end of passes");
}
