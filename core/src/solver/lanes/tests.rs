//! Every back end of this machine against known numbers of solutions, the plain backtracker and the
//! search of one puzzle in vectors of boxes.

use std::sync::atomic::AtomicBool;

use super::testing::{COUNTED, KnownPuzzle, digits, known_puzzles, known_with};
use super::*;
use crate::grid::{Grid, Order};
use crate::solver::boxes::BoxSolver;
use crate::solver::watch::NoWatch;
use crate::solver::{Backtracking, Metrics, Stop, Strategy as _};
use crate::testing::Random;

static NEVER: AtomicBool = AtomicBool::new(false);

const fn up_to(solutions: u64) -> Limit<'static> {
    Limit { solutions, nodes: 1_000_000, cancel: &NEVER }
}

/// The results before a search, so that a puzzle that is never searched is noticed.
const UNANSWERED: Search =
    Search { solutions: u64::MAX, stop: Stop::Cancelled, metrics: Search::CANCELLED.metrics };

/// Searches all puzzles in one call. Solutions are checked by the verifier, which shares no code
/// with a solver; what stands where there is none is replaced by zeros.
fn search(lanes: &mut Lanes, puzzles: &[[u8; 81]], limit: &Limit<'_>) -> Vec<(Search, [u8; 81])> {
    let mut solutions = vec![[0; 81]; puzzles.len()];
    let mut searches = vec![UNANSWERED; puzzles.len()];
    lanes.search(puzzles, limit, &mut solutions, &mut searches);
    for ((puzzle, solution), search) in puzzles.iter().zip(&mut solutions).zip(&searches) {
        let (puzzle, grid) =
            (Grid::from_digits(Order::NINE, puzzle), Grid::from_digits(Order::NINE, solution));
        match search.solutions {
            0 => *solution = [0; 81],
            _ => assert!(grid.solves(&puzzle), "{puzzle:?} gave {grid:?}"),
        }
    }
    searches.into_iter().zip(solutions).collect()
}

/// The number of solutions that a search up to `limit` of them has to find, and why it stops.
fn expected(known: &KnownPuzzle, limit: u64) -> (u64, Stop) {
    let found = known.solutions.min(limit);
    (found, if found == limit { Stop::Solutions } else { Stop::Exhausted })
}

fn assert_finds(backend: Backend, found: &[(Search, [u8; 81])], puzzles: &[KnownPuzzle], limit: u64) {
    assert_eq!(found.len(), puzzles.len());
    for (index, ((search, _), known)) in found.iter().zip(puzzles).enumerate() {
        let context = format!("{backend}, puzzle {index} up to {limit}: {:?}", known.grid());
        assert_eq!((search.solutions, search.stop), expected(known, limit), "{context}");
        let Metrics { nodes, guesses, backtracks, depth, .. } = search.metrics;
        assert!(nodes > 0 && nodes <= 1 + guesses + backtracks, "{context}: {:?}", search.metrics);
        assert!(backtracks <= guesses && depth <= guesses, "{context}: {:?}", search.metrics);
    }
}

fn all_digits(puzzles: &[KnownPuzzle]) -> Vec<[u8; 81]> {
    puzzles.iter().map(|known| known.digits).collect()
}

#[test]
fn the_plain_backtracker_agrees_with_the_known_numbers_of_solutions() {
    let mut oracle = Backtracking.solver(Order::NINE);
    let mut decided = 0;
    for known in known_puzzles() {
        let limit = Limit { nodes: 1_000_000, ..up_to(COUNTED) };
        let found = oracle.search(&known.grid(), &limit, &mut Grid::empty(Order::NINE));
        if found.stop != Stop::Nodes {
            assert_eq!((found.solutions, found.stop), expected(&known, COUNTED), "{:?}", known.grid());
            decided += 1;
        }
    }
    assert!(decided >= 30, "the backtracker ends for {decided} puzzles only");
}

#[test]
fn every_back_end_finds_the_known_numbers_of_solutions() {
    let puzzles = known_puzzles();
    for (solutions, least) in [(0..=0, 8), (1..=1, 15), (2..=COUNTED - 1, 8), (COUNTED..=COUNTED, 2)] {
        assert!(known_with(solutions.clone()).len() >= least, "too few puzzles with {solutions:?} solutions");
    }
    for backend in Backend::available() {
        let mut lanes = Lanes::new(backend);
        for limit in [1, 2, 3, COUNTED] {
            assert_finds(backend, &search(&mut lanes, &all_digits(&puzzles), &up_to(limit)), &puzzles, limit);
        }
    }
}

/// Three times as many puzzles as lanes, easy and hard ones in turns: each lane is refilled several
/// times, and its puzzles end in any order.
#[test]
fn lanes_are_refilled_until_no_puzzle_is_left() {
    let puzzles: Vec<KnownPuzzle> = known_puzzles().into_iter().cycle().take(3 * 512 + 7).collect();
    for backend in Backend::available() {
        for sharing in [true, false] {
            let mut lanes = Lanes::new(backend);
            lanes.share_puzzles(sharing);
            assert_finds(backend, &search(&mut lanes, &all_digits(&puzzles), &up_to(2)), &puzzles, 2);
        }
    }
}

/// Puzzles that take one lane equally long keep all lanes busy until the last of them have begun.
#[test]
fn no_lane_is_idle_while_there_are_puzzles_to_begin() {
    let hard = known_with(1..=1)[6];
    for backend in Backend::available() {
        let mut lanes = Lanes::new(backend);
        lanes.share_puzzles(false);
        let puzzles = vec![hard; 4 * 512];
        assert_finds(backend, &search(&mut lanes, &all_digits(&puzzles), &up_to(2)), &puzzles, 2);
        let LaneStats { passes, busy_lanes, lanes, .. } = lanes.stats();
        assert!(passes > 0 && busy_lanes <= lanes && lanes.is_multiple_of(passes));
        assert!(busy_lanes * 10 > lanes * 9, "{backend}: {busy_lanes} of {lanes} lanes had something to do");
    }
}

/// The search in vectors of boxes makes the same inferences and guesses by other code: every figure
/// is the same, under any limit.
#[test]
fn a_lane_searches_node_for_node_as_vectors_of_boxes_do() {
    let puzzles: Vec<_> = known_puzzles().into_iter().filter(|known| known.grid().keeps_rules()).collect();
    for backend in Backend::available() {
        let mut lanes = Lanes::new(backend);
        let mut boxes = BoxSolver::new(backend);
        lanes.share_puzzles(false);
        for (solutions, nodes) in [(1, 1_000_000), (3, 1_000_000), (COUNTED, 100), (3, 7), (1, 2), (1, 1)] {
            let limit = Limit { nodes, ..up_to(solutions) };
            for (known, (found, first)) in
                puzzles.iter().zip(search(&mut lanes, &all_digits(&puzzles), &limit))
            {
                let mut solution = [0; 81];
                let expected = boxes.search_as_lanes(&known.digits, &limit, &mut solution, &mut NoWatch);
                assert_eq!(found, expected, "{backend}, {limit:?}: {:?}", known.grid());
                if found.solutions > 0 {
                    assert_eq!(first, solution, "{backend}, {limit:?}: {:?}", known.grid());
                }
            }
        }
    }
}

/// Lanes that help with a puzzle find what one lane finds, the first solution included.
#[test]
fn lanes_that_share_a_puzzle_find_what_one_lane_finds() {
    for backend in Backend::available() {
        let (mut shared, mut alone) = (Lanes::new(backend), Lanes::new(backend));
        alone.share_puzzles(false);
        for known in known_puzzles() {
            for limit in [1, 2] {
                let puzzle = std::slice::from_ref(&known.digits);
                let (with, first) = search(&mut shared, puzzle, &up_to(limit))[0];
                let (without, expected) = search(&mut alone, puzzle, &up_to(limit))[0];
                let context = format!("{backend}, up to {limit}: {:?}", known.grid());
                assert_eq!(
                    (with.solutions, with.stop, first),
                    (without.solutions, without.stop, expected),
                    "{context}"
                );
                if with.stop == Stop::Exhausted {
                    assert_eq!(with, without, "{context}");
                }
            }
        }
        let (shared, alone) = (shared.stats().passes, alone.stats().passes);
        assert!(shared * 3 < alone * 2, "{backend}: {shared} passes instead of {alone}");
    }
}

/// Where most puzzles have several solutions, dives answer them, and the search those in which
/// dives fail.
#[test]
fn dives_find_what_the_search_finds() {
    let full = digits("534678912672195348198342567859761423426853791713924856961537284287419635345286179");
    let mut random = Random(1);
    let known = known_puzzles();
    // A third of the clues of a full grid have many solutions; every twentieth puzzle is a known
    // one.
    let mut puzzles: Vec<[u8; 81]> =
        (0..2400).map(|_| full.map(|digit| if random.below(3) == 0 { digit } else { 0 })).collect();
    for (index, known) in (0..puzzles.len()).step_by(20).zip(known.iter().cycle()) {
        puzzles[index] = known.digits;
    }
    let mut boxes = BoxSolver::new(Backend::Portable);
    let expected: Vec<_> = puzzles
        .iter()
        .map(|puzzle| {
            let found = boxes.search_as_lanes(puzzle, &up_to(2), &mut [0; 81], &mut NoWatch);
            (found.solutions, found.stop)
        })
        .collect();
    assert!(expected.iter().filter(|found| found.0 == 2).count() * 10 > 9 * puzzles.len());
    for backend in Backend::available() {
        let (mut diving, mut searching) = (Lanes::new(backend), Lanes::new(backend));
        let with = search(&mut diving, &puzzles, &up_to(2));
        // Too low a limit for dives, but high enough for every search.
        let without = search(&mut searching, &puzzles, &Limit { nodes: 10_000, ..up_to(2) });
        for (((with, without), expected), puzzle) in with.iter().zip(&without).zip(&expected).zip(&puzzles) {
            let context = format!("{backend}: {:?}", Grid::from_digits(Order::NINE, puzzle));
            assert_eq!((with.0.solutions, with.0.stop), *expected, "{context}");
            assert_eq!((without.0.solutions, without.0.stop), *expected, "{context}");
            if with.0.stop == Stop::Exhausted {
                assert_eq!(with, without, "{context}");
            }
        }
        let (with, without) = (diving.stats().passes, searching.stats().passes);
        assert!(
            with * 10 < without * 9,
            "{backend}: {with} passes instead of {without}, so there were no dives"
        );
    }
}

#[test]
fn a_raised_flag_cancels_every_puzzle() {
    let stop = AtomicBool::new(true);
    for backend in Backend::available() {
        let limit = Limit { cancel: &stop, ..up_to(COUNTED) };
        for (found, _) in search(&mut Lanes::new(backend), &vec![[0; 81]; 600], &limit) {
            assert_eq!((found.stop, found.solutions), (Stop::Cancelled, 0));
        }
    }
}

/// The indices that a rule check finds, and those of the plain check of a grid.
fn assert_broken(backend: Backend, checker: &mut RuleChecker, puzzles: &[[u8; 81]], context: &str) -> usize {
    let mut broken = vec![usize::MAX];
    checker.find_broken(puzzles, &mut broken);
    let is_broken = |&at: &usize| Grid::from_digits(Order::NINE, &puzzles[at]).conflicts().next().is_some();
    let wanted: Vec<usize> =
        std::iter::once(usize::MAX).chain((0..puzzles.len()).filter(is_broken)).collect();
    assert_eq!(broken, wanted, "{backend}, {context}");
    wanted.len() - 1
}

#[test]
fn two_equal_digits_break_a_rule_if_they_share_a_house() {
    let cells = || (0..81).flat_map(|first| (first + 1..81).map(move |second| (first, second)));
    let mut counts = Vec::new();
    for backend in Backend::available() {
        let mut checker = RuleChecker::new(backend);
        for digit in 1..=9 {
            let puzzles: Vec<[u8; 81]> = cells()
                .map(|(first, second)| {
                    let mut puzzle = [0; 81];
                    (puzzle[first], puzzle[second]) = (digit, digit);
                    puzzle
                })
                .collect();
            counts.push(assert_broken(backend, &mut checker, &puzzles, &format!("{digit} twice")));
        }
    }
    // Each cell sees 20 others.
    assert!(counts.iter().all(|&count| count == 81 * 20 / 2), "{counts:?}");
}

#[test]
fn rules_are_checked_in_lists_of_any_length() {
    let known = all_digits(&known_puzzles());
    // Every third one with its first clue once more in the row.
    let mut puzzles: Vec<[u8; 81]> = known.iter().cycle().take(1_200).copied().collect();
    for puzzle in puzzles.iter_mut().step_by(3) {
        let clue = puzzle.iter().position(|&digit| digit > 0).unwrap_or(0);
        let other = clue / 9 * 9 + (clue + 1) % 9;
        puzzle[other] = puzzle[clue];
    }
    for backend in Backend::available() {
        let mut checker = RuleChecker::new(backend);
        for length in [1_200, 0, 1, 2, 3, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1_024, 1_025] {
            // The same check again, with what is left in its lanes.
            for list in [&puzzles[..length], &puzzles[1_200 - length..]] {
                let found = assert_broken(backend, &mut checker, list, &format!("{length} puzzles"));
                assert!(found >= length / 4, "{found} of {length}");
            }
        }
    }
}
