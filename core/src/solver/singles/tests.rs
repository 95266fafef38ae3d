//! Every vector against a plain search for singles.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::grid::{Grid, Order};
use crate::solver::Limit;
use crate::solver::boxes::BoxSolver;
use crate::solver::lanes::testing::known_puzzles;
use crate::solver::watch::NoWatch;
use crate::testing::Random;

/// What solves blocks, by the name of its vectors.
type Solve = fn(&[[u8; 81]], &mut [[u8; 81]]) -> u32;

/// Every kind of vector of this machine.
fn all_vectors() -> Vec<(&'static str, Solve)> {
    let mut found: Vec<(&str, Solve)> =
        vec![("words", |puzzles, solutions| PuzzleBlock { puzzles, solutions }.solve::<Words>())];
    #[cfg(target_arch = "x86_64")]
    {
        if Backend::Avx2.is_available() {
            found.push(("avx2", |puzzles, solutions| x86::with_avx2(PuzzleBlock { puzzles, solutions })));
        }
        if Backend::Avx512.is_available() {
            found.push(("avx512vl", |puzzles, solutions| {
                x86::with_avx512vl(PuzzleBlock { puzzles, solutions })
            }));
            found.push(("avx512", |puzzles, solutions| x86::with_avx512(PuzzleBlock { puzzles, solutions })));
        }
    }
    found
}

/// Puzzles of every kind: known ones, their solutions with blanks, and these with one clue that may be
/// wrong.
fn puzzles() -> Vec<[u8; 81]> {
    let mut random = Random(1);
    let mut puzzles = Vec::new();
    for known in known_puzzles() {
        puzzles.push(known.digits);
        let Some(solution) = by_boxes(&known.digits, u64::MAX) else { continue };
        for blanks in [0, 1, 50, 60, 70] {
            let mut puzzle = solution;
            (0..blanks).for_each(|_| puzzle[random.below(81)] = 0);
            puzzles.push(puzzle);
            puzzle[random.below(81)] = u8::try_from(1 + random.below(9)).unwrap();
            puzzles.push(puzzle);
        }
    }
    puzzles
}

/// The first solution of a puzzle, if it has no more than `most`.
fn by_boxes(puzzle: &[u8; 81], most: u64) -> Option<[u8; 81]> {
    let limit =
        Limit { solutions: most.saturating_add(1).min(9), nodes: u64::MAX, cancel: &AtomicBool::new(false) };
    let mut solution = [0; 81];
    let search =
        BoxSolver::new(Backend::Portable).search_as_lanes(puzzle, &limit, &mut solution, &mut NoWatch);
    (1..=most).contains(&search.solutions).then_some(solution)
}

/// The solution of a puzzle by naked singles, and by hidden singles of boxes.
fn by_singles(puzzle: &[u8; 81]) -> Option<[u8; 81]> {
    let order = Order::NINE;
    let mut grid = Grid::from_digits(order, puzzle);
    loop {
        let mut singles = Vec::new();
        for house in order.houses().skip(18) {
            let blanks = house.cells(order).filter(|&cell| grid.get(cell).is_none());
            let blanks: Vec<_> = blanks.map(|cell| (cell, grid.candidates(cell))).collect();
            for (cell, candidates) in &blanks {
                let is_hidden =
                    |digit| blanks.iter().filter(|(_, others)| others.contains(digit)).count() == 1;
                let is_single = |&digit: &_| candidates.len() == 1 || is_hidden(digit);
                singles.extend(candidates.iter().find(is_single).map(|digit| (*cell, digit)));
            }
        }
        if singles.is_empty() {
            break;
        }
        for (cell, digit) in singles {
            grid.set(cell, Some(digit));
        }
    }
    grid.solves(&Grid::from_digits(order, puzzle)).then(|| grid.digits().try_into().unwrap())
}

#[test]
fn what_singles_solve_is_solved_whatever_is_beside_it() {
    let puzzles = puzzles();
    let expected: Vec<Option<[u8; 81]>> = puzzles.iter().map(by_singles).collect();
    let solved = expected.iter().flatten().count();
    assert!(solved > 50 && puzzles.len() - solved > 50, "{solved} of {}", puzzles.len());
    for (puzzle, solution) in puzzles.iter().zip(&expected) {
        assert!(solution.is_none() || *solution == by_boxes(puzzle, 1), "{puzzle:?}");
    }
    let mut random = Random(7);
    for (name, solve) in all_vectors() {
        for length in (0..=MOST).chain([MOST; 40]) {
            let chosen: Vec<usize> = (0..length).map(|_| random.below(puzzles.len())).collect();
            let block: Vec<[u8; 81]> = chosen.iter().map(|&index| puzzles[index]).collect();
            let mut solutions = vec![[0xAA; 81]; length];
            let solved = solve(&block, &mut solutions);
            assert_eq!(u64::from(solved) >> length, 0, "{name}");
            for (lane, &index) in chosen.iter().enumerate() {
                let found = (solved >> lane & 1 == 1).then_some(solutions[lane]);
                assert_eq!(found, expected[index], "{name}, {length}: {:?}", puzzles[index]);
            }
        }
    }
}

#[test]
#[should_panic(expected = "MOST")]
fn a_block_has_room_for_so_many_puzzles() {
    PuzzleBlock { puzzles: &[[0; 81]; MOST + 1], solutions: &mut [[0; 81]; MOST + 1] }.solve::<Words>();
}
