use std::sync::atomic::AtomicBool;

use super::bands::{BandWord, Bits};
use super::board::{BandCandidate, SearchState};
use super::*;
use crate::grid::{Cell, Grid, House};
use crate::solver::watch::NoWatch;
use crate::solver::{
    Backtracking, Limit, Metrics, NODES_BETWEEN_CANCEL_CHECKS, Question, Search, Stop, Verdict,
};
use crate::testing::Random;

fn byte(digit: usize) -> u8 {
    u8::try_from(digit).unwrap()
}

impl Random {
    fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            all.swap(k, self.below(k + 1));
        }
        all
    }

    /// Rows, or columns, in an order that keeps bands together.
    fn lines(&mut self, order: Order) -> Vec<usize> {
        let b = order.box_side();
        let bands = self.shuffled(b);
        bands.into_iter().flat_map(|band| self.shuffled(b).into_iter().map(move |r| band * b + r)).collect()
    }

    /// The puzzle in disguise: digits relabelled, lines permuted, perhaps transposed.
    fn disguised(&mut self, grid: &Grid) -> Grid {
        let (order, side) = (grid.order(), grid.order().side());
        let (rows, columns, digits) = (self.lines(order), self.lines(order), self.shuffled(side));
        let transposed = self.below(2) == 1;
        let mut other = Grid::empty(order);
        for (row, from_row) in rows.into_iter().enumerate() {
            for (column, from_column) in columns.iter().enumerate() {
                let to = if transposed { column * side + row } else { row * side + column };
                let digit = usize::from(grid.digits()[from_row * side + from_column]);
                other.digits_mut()[to] = if digit == 0 { 0 } else { byte(digits[digit - 1] + 1) };
            }
        }
        other
    }

    /// A random solved grid.
    fn solved(&mut self, order: Order) -> Grid {
        let (side, b) = (order.side(), order.box_side());
        let mut grid = Grid::empty(order);
        for (index, digit) in grid.digits_mut().iter_mut().enumerate() {
            let (row, column) = (index / side, index % side);
            *digit = byte((row % b * b + row / b + column) % side + 1);
        }
        assert!(grid.is_solved());
        self.disguised(&grid)
    }

    /// A random solved grid with `clues` cells left. Where digits repeat every few columns there
    /// are several ways to complete it, so all verdicts occur.
    fn puzzle(&mut self, order: Order, clues: usize) -> Grid {
        let mut grid = self.solved(order);
        for index in self.shuffled(order.cells()).into_iter().skip(clues) {
            grid.digits_mut()[index] = 0;
        }
        grid
    }

    /// A [`puzzle`](Self::puzzle) with some clues changed, which mostly has no solution.
    fn broken_puzzle(&mut self, order: Order, clues: usize) -> Grid {
        let mut grid = self.puzzle(order, clues);
        for _ in 0..=self.below(2) {
            let index = self.below(order.cells());
            grid.digits_mut()[index] = byte(self.below(order.side()) + 1);
        }
        grid
    }
}

static GO_ON: AtomicBool = AtomicBool::new(false);

const fn up_to(solutions: u64) -> Limit<'static> {
    Limit { solutions, nodes: 1_000_000, cancel: &GO_ON }
}

/// Searches, and checks the result as far as that takes no other solver.
fn search(solver: &mut dyn Solver, puzzle: &Grid, limit: &Limit<'_>) -> (Search, Grid) {
    let mut solution = Grid::empty(puzzle.order());
    let search = solver.search(puzzle, limit, &mut solution);
    assert!(search.solutions <= limit.solutions);
    assert_eq!(search.stop == Stop::Solutions, search.solutions == limit.solutions);
    if search.solutions > 0 {
        assert!(solution.solves(puzzle), "{puzzle:?} gave {solution:?}");
    }
    let Metrics { nodes, guesses, backtracks, depth, .. } = search.metrics;
    assert!(nodes <= limit.nodes);
    assert!(guesses <= nodes && backtracks <= guesses && depth <= guesses);
    assert!(depth <= puzzle.order().cells() as u64);
    (search, solution)
}

fn propagation(order: Order) -> Box<dyn Solver> {
    Propagation.solver(order)
}

#[test]
fn agrees_with_the_oracle() {
    let mut random = Random(1);
    for (order, clues, times) in [(1, 0..2, 4), (2, 0..16, 40), (3, 24..60, 8)] {
        let order = Order::new(order).unwrap();
        let (mut ours, mut oracle) = (propagation(order), Backtracking.solver(order));
        let mut verdicts = [0; 3];
        for clues in clues {
            for _ in 0..times {
                for puzzle in [random.puzzle(order, clues), random.broken_puzzle(order, clues)] {
                    for limit in [1, 2, 60] {
                        let (found, _) = search(&mut *ours, &puzzle, &up_to(limit));
                        let (expected, _) = search_oracle(&mut *oracle, &puzzle, &up_to(limit));
                        if expected.stop == Stop::Nodes {
                            continue;
                        }
                        assert_eq!(found.solutions, expected.solutions, "{puzzle:?}");
                        assert_eq!(found.stop, expected.stop, "{puzzle:?}");
                        for question in [Question::First, Question::Unique, Question::Count { limit }] {
                            if question.solutions() == limit {
                                assert_eq!(question.verdict(&found), question.verdict(&expected));
                            }
                        }
                        verdicts[found.solutions.min(2) as usize] += 1;
                    }
                }
            }
        }
        assert!(order.side() == 1 || verdicts.iter().all(|&n| n > 20), "{order}: {verdicts:?}");
    }
}

fn search_oracle(oracle: &mut dyn Solver, puzzle: &Grid, limit: &Limit<'_>) -> (Search, Grid) {
    let mut solution = Grid::empty(puzzle.order());
    let limit = Limit { nodes: 20_000, ..*limit };
    (oracle.search(puzzle, &limit, &mut solution), solution)
}

#[test]
fn a_disguise_changes_neither_count_nor_verdict() {
    let mut random = Random(2);
    for (order, clues) in [(2, 4), (3, 22), (3, 30), (4, 110), (5, 330)] {
        let order = Order::new(order).unwrap();
        let mut solver = propagation(order);
        for _ in 0..6 {
            let puzzle = random.puzzle(order, clues);
            let (expected, _) = search(&mut *solver, &puzzle, &up_to(20));
            for _ in 0..4 {
                let (found, _) = search(&mut *solver, &random.disguised(&puzzle), &up_to(20));
                assert_eq!((found.solutions, found.stop), (expected.solutions, expected.stop));
            }
        }
    }
}

#[test]
fn empty_and_full_grids_of_every_order() {
    let mut random = Random(3);
    for order in Order::ALL {
        let mut solver = propagation(order);
        let (found, _) = search(&mut *solver, &Grid::empty(order), &up_to(1));
        assert_eq!(found.stop, Stop::Solutions, "{order}");

        let full = random.solved(order);
        let (found, solution) = search(&mut *solver, &full, &up_to(2));
        assert_eq!((found.solutions, found.stop), (1, Stop::Exhausted));
        assert_eq!(solution, full);
        assert_eq!(found.metrics, Metrics { nodes: 1, ..Metrics::default() });

        let hard = random.puzzle(order, order.cells() * 55 / 100);
        search(&mut *solver, &hard, &up_to(1));
    }
}

#[test]
fn counts_are_exact() {
    let order = Order::new(2).unwrap();
    let mut solver = propagation(order);
    let (found, _) = search(&mut *solver, &Grid::empty(order), &up_to(1_000));
    assert_eq!((found.solutions, found.stop), (288, Stop::Exhausted));
    let (found, _) = search(&mut *solver, &Grid::empty(order), &up_to(288));
    assert_eq!((found.solutions, found.stop), (288, Stop::Solutions));
    let (found, _) = search(&mut *propagation(Order::ALL[0]), &Grid::empty(Order::ALL[0]), &up_to(9));
    assert_eq!((found.solutions, found.stop), (1, Stop::Exhausted));
}

#[test]
fn clues_that_clash_leave_no_solution() {
    for order in Order::ALL {
        let mut solver = propagation(order);
        for first in order.all_cells().step_by(7) {
            for house in first.houses() {
                let Some(second) = house.cells(order).filter(|&c| c != first).last() else { continue };
                for digit in [1, order.side()].map(|value| order.digit(value).unwrap()) {
                    let mut puzzle = Grid::empty(order);
                    puzzle.set(first, Some(digit));
                    puzzle.set(second, Some(digit));
                    let (found, _) = search(&mut *solver, &puzzle, &up_to(2));
                    assert_eq!((found.solutions, found.stop), (0, Stop::Exhausted), "{puzzle:?}");
                    puzzle.digits_mut().fill(digit.value());
                    let (found, _) = search(&mut *solver, &puzzle, &up_to(2));
                    assert_eq!((found.solutions, found.stop), (0, Stop::Exhausted), "{puzzle:?}");
                }
            }
        }
    }
}

#[test]
fn stops_at_the_node_limit() {
    for order in &Order::ALL[1..] {
        let mut solver = propagation(*order);
        for nodes in 0..5 {
            let limit = Limit { nodes, ..up_to(1_000) };
            let (found, _) = search(&mut *solver, &Grid::empty(*order), &limit);
            assert_eq!((found.stop, found.metrics.nodes), (Stop::Nodes, nodes), "{order}");
        }
    }
    // One solution after the other, to the limit.
    let limit = Limit { nodes: 3_000, ..up_to(u64::MAX) };
    let (found, _) = search(&mut *propagation(Order::ALL[4]), &Grid::empty(Order::ALL[4]), &limit);
    assert_eq!((found.stop, found.metrics.nodes), (Stop::Nodes, 3_000));
    assert!(found.solutions > 0);
}

#[test]
fn stops_when_cancelled() {
    let cancel = AtomicBool::new(true);
    let limit = Limit { cancel: &cancel, ..up_to(u64::MAX) };
    for order in &Order::ALL[2..] {
        let (found, _) = search(&mut *propagation(*order), &Grid::empty(*order), &limit);
        assert_eq!(found.stop, Stop::Cancelled);
        assert!(found.metrics.nodes <= NODES_BETWEEN_CANCEL_CHECKS);
        assert_eq!(Question::First.verdict(&found), Verdict::Cancelled);
    }
}

/// Whichever puzzle came before, and in whatever state its search ended.
#[test]
fn a_solver_forgets_the_puzzle_before() {
    let mut random = Random(4);
    let order = Order::NINE;
    let mut used = propagation(order);
    for clues in 20..50 {
        let puzzle = random.puzzle(order, clues);
        for limit in [Limit { nodes: 3, ..up_to(9) }, up_to(9), up_to(1)] {
            let fresh = search(&mut *propagation(order), &puzzle, &limit);
            let again = search(&mut *used, &puzzle, &limit);
            assert_eq!(fresh.0, again.0);
            assert!(fresh.0.solutions == 0 || fresh.1 == again.1);
        }
    }
}

/// Puzzles that take hundreds of guesses, with a solver that restarts after the first failures.
#[test]
fn starting_again_loses_no_solution() {
    let mut random = Random(6);
    let mut impatient = PropagationSolver::<u32, 3, 9, 12, 4>::new();
    impatient.patience = 1;
    let mut oracle = Backtracking.solver(Order::NINE);
    for (text, solutions) in [
        ("1.....7.8..6.8.....981...6......3...86..9..1.9...1..7......52...4......76...7..9.", 0),
        ("98.7..6..75.....8...6.....75...4......98...56..89...7.3....2.....53...6......1..3", 1),
        (".....5..7..4..2.3....6...4.9.8.4.....3.5..1.8.1.....7.1......5...5.3..........3.1", 994),
    ] {
        let mut puzzle = Grid::empty(Order::NINE);
        for (digit, byte) in puzzle.digits_mut().iter_mut().zip(text.bytes()) {
            *digit = if byte == b'.' { 0 } else { byte - b'0' };
        }
        let found = oracle.search(&puzzle, &up_to(1_000), &mut Grid::empty(Order::NINE));
        assert_eq!(found.solutions, solutions);
        let mut starts_again = false;
        for _ in 0..20 {
            let puzzle = random.disguised(&puzzle);
            let (patient, _) = search(&mut *propagation(Order::NINE), &puzzle, &up_to(1_000));
            assert_eq!((patient.solutions, patient.stop), (solutions, Stop::Exhausted));
            let (found, _) = search(&mut impatient, &puzzle, &up_to(1_000));
            assert_eq!((found.solutions, found.stop), (solutions, Stop::Exhausted));
            starts_again |= found.metrics != patient.metrics;
        }
        assert!(starts_again);
    }
}

/// The answers of learning from the start, for the board of a puzzle after propagation.
fn learn<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>(
    puzzle: &Grid,
    limit: &Limit<'_>,
    known: Option<&Grid>,
) -> Option<(Search, Grid)> {
    let mut board = SearchState::<W, N, SIDE, SLOTS, GROUP>::new();
    board.load(puzzle.digits()).and_then(|()| board.propagate(&mut NoWatch)).ok()?;
    assert!(learning::suits(&board));
    let mut found = Search { solutions: u64::from(known.is_some()), ..Search::NO_SOLUTION };
    let mut solution = known.unwrap_or(puzzle).clone();
    learning::search(&board, limit, &mut found, &mut solution);
    if found.solutions > 0 {
        assert!(solution.solves(puzzle), "{puzzle:?} gave {solution:?}");
    }
    Some((found, solution))
}

#[test]
fn learning_agrees_with_the_oracle() {
    let mut random = Random(8);
    let order = Order::NINE;
    let mut seen = [0; 3];
    for round in 0..150 {
        let clues = 24 + round / 3;
        let puzzle =
            if round % 3 == 0 { random.broken_puzzle(order, clues) } else { random.puzzle(order, clues) };
        let expected = Backtracking.solver(order).search(&puzzle, &up_to(2), &mut Grid::empty(order));
        if expected.stop == Stop::Nodes {
            continue;
        }
        let Some((found, first)) = learn::<u32, 3, 9, 12, 4>(&puzzle, &up_to(2), None) else {
            assert_eq!(expected.solutions, 0, "{puzzle:?}");
            seen[0] += 1;
            continue;
        };
        assert_eq!((found.solutions, found.stop), (expected.solutions, expected.stop), "{puzzle:?}");
        assert_eq!(learn::<u32, 3, 9, 12, 4>(&puzzle, &up_to(2), None), Some((found, first.clone())));
        seen[usize::try_from(found.solutions).unwrap()] += 1;
        if found.solutions > 0 {
            // The solution that is known already is not found again.
            let (again, _) = learn::<u32, 3, 9, 12, 4>(&puzzle, &up_to(2), Some(&first)).unwrap();
            assert_eq!((again.solutions, again.stop), (expected.solutions, expected.stop), "{puzzle:?}");
        }
    }
    assert!(seen[1] > 5 && seen[2] > 5, "{seen:?}");
}

/// A puzzle that guesses do not finish: learning does, under a limit of nodes, and when it is not
/// cancelled.
#[test]
fn learning_is_the_last_resort() {
    let order = Order::ALL[4];
    let mut random = Random(11);
    let mut learnt = 0;
    for _ in 0..40 {
        let puzzle = random.puzzle(order, order.cells() * 47 / 100);
        let (found, _) = search(&mut *propagation(order), &puzzle, &up_to(2));
        assert!(found.solutions > 0 && found.stop != Stop::Nodes, "{puzzle:?}");
        let patience = learning::patience(5);
        if found.metrics.nodes <= patience {
            continue;
        }
        learnt += 1;
        let limit = Limit { nodes: patience, ..up_to(2) };
        let (found, _) = search(&mut *propagation(order), &puzzle, &limit);
        assert_eq!((found.stop, found.metrics.nodes), (Stop::Nodes, patience), "{puzzle:?}");
    }
    assert!(learnt > 0, "no puzzle is hard enough");
    let puzzle = random.puzzle(order, order.cells() * 47 / 100);
    let stop = |limit: &Limit<'_>| learn::<u128, 5, 25, 25, 1>(&puzzle, limit, None).unwrap().0;
    let found = stop(&Limit { nodes: 0, ..up_to(2) });
    assert_eq!((found.stop, found.metrics.nodes), (Stop::Nodes, 0));
    let cancel = AtomicBool::new(true);
    assert_eq!(stop(&Limit { cancel: &cancel, ..up_to(2) }).stop, Stop::Cancelled);
}

/// At the fixed point of propagation no single and no locked candidate is left, by a check of one
/// house after the other.
fn rests<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>(
    order: Order,
    clues: &[usize],
) {
    let mut random = Random(5);
    let mut blanks = 0;
    let houses: Vec<House> = order.houses().collect();
    for &clues in clues {
        for _ in 0..8 {
            let puzzle = random.puzzle(order, clues);
            let mut board = SearchState::<W, N, SIDE, SLOTS, GROUP>::new();
            assert!(board.load(puzzle.digits()).is_ok() && board.propagate(&mut NoWatch).is_ok());
            let split = |cell: Cell| (cell.index() / (N * SIDE), cell.index() % (N * SIDE));
            let is_filled = |cell: Cell| Bits(board.filled[split(cell).0]).any(|bit| bit == split(cell).1);
            for cell in order.all_cells() {
                let (band, bit) = split(cell);
                let left = board.candidates(band, bit).count();
                assert_eq!(left == 1, is_filled(cell), "a naked single in {puzzle:?}");
                blanks += usize::from(left > 1);
            }
            for digit in 0..SIDE {
                let takes = |&cell: &Cell| {
                    let (band, bit) = split(cell);
                    board.has(BandCandidate { digit, band, bit })
                };
                let places = |house: House| house.cells(order).filter(takes).collect::<Vec<_>>();
                for &house in &houses {
                    let here = places(house);
                    assert!(!here.is_empty());
                    if let [only] = here[..] {
                        assert!(is_filled(only), "a hidden single in {puzzle:?}");
                    }
                    for &other in houses.iter().filter(|&&other| other != house) {
                        if here.iter().all(|c| c.houses().contains(&other)) {
                            assert_eq!(places(other).len(), here.len(), "locked in {house}: {puzzle:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(blanks > 0, "nothing to look at");
}

#[test]
fn rests_where_nothing_is_left_to_infer() {
    rests::<u32, 2, 4, 4, 4>(Order::ALL[1], &[0, 2, 4]);
    rests::<u32, 3, 9, 12, 4>(Order::ALL[2], &[20, 24, 28, 32]);
    rests::<u32, 3, 9, 9, 1>(Order::ALL[2], &[22, 26]);
    rests::<u64, 4, 16, 16, 1>(Order::ALL[3], &[90, 110]);
    rests::<u128, 5, 25, 25, 1>(Order::ALL[4], &[250, 300]);
}
