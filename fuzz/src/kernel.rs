//! Any digits as puzzles: every back end of the kernel says the same, and what the general solver says.

use std::sync::atomic::AtomicBool;

use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::lanes::{Backend, Lanes};
use sudoku_stream::solver::{Limit, Search, Stop, strategy};

/// Above this many nodes a puzzle is given up.
const NODES: u64 = 2_000;

/// The first byte says how many solutions are wanted. Then there are two bytes for each clue, a cell and a digit; a cell
/// beyond the last begins the next puzzle.
fn puzzles(data: &[u8]) -> (u64, Vec<[u8; 81]>) {
    let Some((wanted, clues)) = data.split_first() else { return (1, Vec::new()) };
    let mut puzzles = vec![[0; 81]];
    for &[cell, digit] in clues.as_chunks().0 {
        match puzzles.last_mut().and_then(|puzzle| puzzle.get_mut(usize::from(cell))) {
            Some(place) => *place = digit % 10,
            None => puzzles.push([0; 81]),
        }
    }
    (u64::from(wanted % 3) + 1, puzzles)
}

/// Searches the puzzles in every way.
pub fn run(data: &[u8]) {
    let cancel = AtomicBool::new(false);
    let (solutions, puzzles) = puzzles(data);
    let limit = Limit { solutions, nodes: NODES, cancel: &cancel };
    let mut seen: Option<Vec<(u64, Stop)>> = None;
    for backend in Backend::available() {
        let mut found = vec![[0; 81]; puzzles.len()];
        let mut searches = vec![Search::NO_SOLUTION; puzzles.len()];
        Lanes::new(backend).search(&puzzles, &limit, &mut found, &mut searches);
        for ((puzzle, solution), search) in puzzles.iter().zip(&found).zip(&searches) {
            if search.solutions > 0 {
                let puzzle = Grid::from_digits(Order::NINE, puzzle);
                assert!(Grid::from_digits(Order::NINE, solution).solves(&puzzle));
            }
        }
        let outcome: Vec<_> = searches.iter().map(|s| (s.solutions, s.stop)).collect();
        assert!(seen.as_ref().is_none_or(|seen| *seen == outcome), "{backend} differs");
        seen = Some(outcome);
    }
    let mut general = strategy("propagation").expect("registered").solver(Order::NINE);
    let mut solution = Grid::empty(Order::NINE);
    for (puzzle, (count, stop)) in puzzles.iter().zip(seen.unwrap_or_default()) {
        let search = general.search(&Grid::from_digits(Order::NINE, puzzle), &limit, &mut solution);
        if stop != Stop::Nodes && search.stop != Stop::Nodes {
            assert_eq!((count, stop), (search.solutions, search.stop), "{puzzle:?}");
        }
    }
}
