//! One suite for every strategy in the registry, over one file of puzzles with known answers. No answer is
//! believed: solutions are checked against the rules and the clues.

mod common;

use std::sync::atomic::AtomicBool;

use common::{Random, disguise, fixture, grid, large_list};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::{
    Limit, Question, STRATEGIES, Search, Stop, Strategy, Verdict, default_strategy, strategy,
};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Where counting stopped when the fixture was made.
const COUNTED_TO: u64 = 50;

/// What the slowest strategy needs for the hardest puzzle of the fixture, with room.
const NODES: u64 = 20_000_000;

struct Case {
    puzzle: Grid,
    solutions: u64,
    solution: Option<Grid>,
    what: String,
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(fixture("strategies.txt")).unwrap();
    let cases: Vec<Case> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut fields = line.splitn(4, ' ');
            let mut next = || fields.next().unwrap();
            Case {
                puzzle: grid(next()),
                solutions: next().parse().unwrap(),
                solution: Some(next()).filter(|&text| text != "-").map(grid),
                what: next().to_owned(),
            }
        })
        .collect();
    assert_eq!(cases.len(), 50);
    cases
}

fn search(strategy: &dyn Strategy, puzzle: &Grid, solutions: u64, nodes: u64) -> (Search, Grid) {
    let mut solution = Grid::empty(puzzle.order());
    let limit = Limit { solutions, nodes, cancel: &GO_ON };
    let search = strategy.solver(puzzle.order()).search(puzzle, &limit, &mut solution);
    if search.solutions > 0 {
        assert!(solution.solves(puzzle), "{}: {puzzle:?} gave {solution:?}", strategy.name());
    }
    assert!(search.solutions <= solutions && search.metrics.nodes <= nodes, "{search:?}");
    (search, solution)
}

/// Every strategy with every order it takes.
fn strategies_for(order: Order) -> impl Iterator<Item = &'static dyn Strategy> {
    STRATEGIES.iter().copied().filter(move |s| s.supports(order))
}

#[test]
fn every_strategy_answers_every_question_of_the_fixture() {
    for case in cases() {
        for strategy in strategies_for(case.puzzle.order()) {
            let context = format!("{} on {}: {:?}", strategy.name(), case.what, case.puzzle);
            let (counted, solution) = search(strategy, &case.puzzle, COUNTED_TO, NODES);
            assert_eq!(counted.solutions, case.solutions, "{context}");
            let full = case.solutions == COUNTED_TO;
            assert_eq!(counted.stop, if full { Stop::Solutions } else { Stop::Exhausted }, "{context}");
            if let Some(known) = &case.solution {
                assert_eq!(&solution, known, "{context}");
            }
            for question in [Question::First, Question::Unique] {
                let (found, _) = search(strategy, &case.puzzle, question.solutions(), NODES);
                let expected = match (question, case.solutions) {
                    (_, 0) => Verdict::NoSolution,
                    (Question::Unique, 2..) => Verdict::NotUnique,
                    _ => Verdict::Solved,
                };
                assert_eq!(question.verdict(&found), expected, "{context}");
            }
        }
    }
}

#[test]
fn a_disguise_changes_nothing_for_any_strategy() {
    for (index, case) in cases().into_iter().enumerate() {
        let order = case.puzzle.order();
        for round in 0..3 {
            let puzzle = disguise(&case.puzzle, 1000 * index as u64 + round);
            for strategy in strategies_for(order) {
                // Row by row, a disguise can be a thousand times harder: the oracle may give up, not err.
                let (found, _) = search(strategy, &puzzle, COUNTED_TO, NODES / 20);
                if found.stop != Stop::Nodes || strategy.name() != "backtracking" {
                    assert_eq!(found.solutions, case.solutions, "{}: {puzzle:?}", strategy.name());
                }
            }
        }
    }
}

/// Random clues, most of them without a solution: the strategies agree with the oracle.
#[test]
fn strategies_agree_on_random_clues() {
    let oracle = strategy("backtracking").unwrap();
    let mut random = Random(7);
    let mut seen = [0; 3];
    for round in 0..600 {
        let order = Order::ALL[1 + round % 2];
        let mut puzzle = Grid::empty(order);
        let clues = if order == Order::NINE { 20 + random.below(12) } else { random.below(9) };
        for _ in 0..clues {
            let cell = order.cell_at(random.below(order.cells()));
            let candidates: Vec<_> = puzzle.candidates(cell).iter().collect();
            if !candidates.is_empty() {
                puzzle.set(cell, Some(candidates[random.below(candidates.len())]));
            }
        }
        let (expected, _) = search(oracle, &puzzle, 3, 300_000);
        if expected.stop == Stop::Nodes {
            continue;
        }
        seen[usize::try_from(expected.solutions.min(2)).unwrap()] += 1;
        for strategy in strategies_for(order) {
            let (found, _) = search(strategy, &puzzle, 3, 300_000);
            assert_eq!(
                (found.solutions, found.stop),
                (expected.solutions, expected.stop),
                "{}: {puzzle:?}",
                strategy.name()
            );
        }
    }
    assert!(seen.iter().all(|&n| n >= 5), "not every kind of puzzle came up: {seen:?}");
}

#[test]
fn limits_are_kept() {
    let empty = Grid::empty(Order::ALL[4]);
    for strategy in strategies_for(empty.order()) {
        let (found, _) = search(strategy, &empty, u64::MAX, 2_000);
        assert_eq!(found.stop, Stop::Nodes, "{}", strategy.name());
        assert_eq!(found.metrics.nodes, 2_000, "{}", strategy.name());

        let stop = AtomicBool::new(true);
        let limit = Limit { solutions: u64::MAX, nodes: u64::MAX, cancel: &stop };
        let mut solution = empty.clone();
        let found = strategy.solver(empty.order()).search(&empty, &limit, &mut solution);
        assert_eq!(found.stop, Stop::Cancelled, "{}", strategy.name());
    }
}

#[test]
fn the_registry_is_in_order() {
    for (index, one) in STRATEGIES.iter().enumerate() {
        assert!(STRATEGIES[..index].iter().all(|other| other.name() != one.name()));
        assert_eq!(strategy(one.name()).map(Strategy::name), Some(one.name()));
        assert!(!one.summary().is_empty());
    }
    for order in Order::ALL {
        let expected = if order == Order::NINE { "fast" } else { "propagation" };
        assert_eq!(default_strategy(order).name(), expected);
    }
    assert!(strategy("no such thing").is_none());
}

/// The large lists: the first of each, and every one where the strategy is fast.
#[test]
fn large_lists_are_answered() {
    for (list, expected) in [
        ("17clue.txt", Verdict::Solved),
        ("hard_10k.txt", Verdict::Solved),
        ("top1465.txt", Verdict::Solved),
        ("unbiased_50k.txt", Verdict::Solved),
        ("easy_100k.txt", Verdict::Solved),
        ("kaggle_100k.txt", Verdict::Solved),
        ("4x4.txt", Verdict::Solved),
        ("no_solution_5k.txt", Verdict::NoSolution),
        ("many_solutions_5k.txt", Verdict::NotUnique),
    ] {
        let Some(path) = large_list(list) else { continue };
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines().step_by(41) {
            let puzzle = grid(line);
            for strategy in strategies_for(puzzle.order()).filter(|s| s.name() != "backtracking") {
                let (found, _) = search(strategy, &puzzle, 2, u64::MAX);
                let name = strategy.name();
                assert_eq!(Question::Unique.verdict(&found), expected, "{name} on {list}: {line}");
            }
        }
    }
}
