//! One suite for every strategy in the registry, over one file of puzzles with known answers. No answer is
//! believed: solutions are checked against the rules and the clues.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use crate::harness::{KnownPuzzle, Random, disguise, grid, known_puzzles, large_list};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::{
    Batch, Contradiction, DEFAULT_NODE_LIMIT, Limit, Metrics, Question, STRATEGIES, Search, Step, Stop,
    Strategy, Verdict, Watcher, default_strategy, strategy,
};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Where counting stopped when the fixture was made.
const COUNTED_TO: u64 = 50;

/// What the slowest strategy needs for the hardest puzzle of the fixture, with room.
const NODES: u64 = 20_000_000;

fn cases() -> Vec<KnownPuzzle> {
    let cases = known_puzzles();
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

/// Those that answer every puzzle here in no time, whatever it looks like. The others can be a thousand times slower on
/// one disguise than on another, and may give up; but they never err.
fn never_gives_up(strategy: &dyn Strategy) -> bool {
    strategy.is_for_bulk()
}

#[test]
fn a_disguise_changes_nothing_for_any_strategy() {
    let mut answered = vec![0; STRATEGIES.len()];
    let mut asked = 0;
    for (index, case) in cases().into_iter().enumerate() {
        let order = case.puzzle.order();
        for round in 0..3 {
            let puzzle = disguise(&case.puzzle, 1000 * index as u64 + round);
            asked += 1;
            for (answered, strategy) in answered.iter_mut().zip(STRATEGIES) {
                if !strategy.supports(order) {
                    continue;
                }
                let nodes = if never_gives_up(*strategy) { DEFAULT_NODE_LIMIT } else { 100_000 };
                let (found, _) = search(*strategy, &puzzle, COUNTED_TO, nodes);
                if found.stop != Stop::Nodes || never_gives_up(*strategy) {
                    assert_eq!(found.solutions, case.solutions, "{}: {puzzle:?}", strategy.name());
                    *answered += 1;
                }
            }
        }
    }
    for (answered, strategy) in answered.into_iter().zip(STRATEGIES) {
        assert!(answered > asked / 2, "{} gave {answered} answers of {asked}", strategy.name());
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

/// The large lists: some of each by every strategy that infers anything at all.
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
        for (index, line) in text.lines().step_by(41).enumerate() {
            let puzzle = grid(line);
            let is_wanted = |s: &&dyn Strategy| match s.name() {
                "backtracking" | "recursive" => false,
                "fewest-candidates" | "dancing-links" => index % 20 == 0,
                _ => true,
            };
            for strategy in strategies_for(puzzle.order()).filter(is_wanted) {
                let (found, _) = search(strategy, &puzzle, 2, u64::MAX);
                let name = strategy.name();
                assert_eq!(Question::Unique.verdict(&found), expected, "{name} on {list}: {line}");
            }
        }
    }
}

/// A watched search, with the steps that it told.
fn watch(strategy: &dyn Strategy, puzzle: &Grid, solutions: u64, nodes: u64) -> (Search, Vec<(Step, Grid)>) {
    let mut steps = Vec::new();
    let mut told = |step: &Step, grid: &Grid| {
        steps.push((*step, grid.clone()));
        ControlFlow::Continue(())
    };
    let mut solution = Grid::empty(puzzle.order());
    let limit = Limit { solutions, nodes, cancel: &GO_ON };
    let mut watcher = Watcher::observing(&mut told);
    let search = strategy.solver(puzzle.order()).watch(puzzle, &limit, &mut solution, &mut watcher);
    if search.solutions > 0 {
        assert!(solution.solves(puzzle), "{}: {puzzle:?} gave {solution:?}", strategy.name());
    }
    (search, steps)
}

/// The metrics that every search has.
fn uncounted(metrics: Metrics) -> Metrics {
    Metrics { comparisons: 0, placements: 0, ..metrics }
}

#[test]
fn watching_changes_nothing_but_the_metrics() {
    for case in cases() {
        for strategy in strategies_for(case.puzzle.order()).filter(|s| s.name() != "fast") {
            let context = format!("{} on {}", strategy.name(), case.what);
            let (plain, _) = search(strategy, &case.puzzle, 2, 3_000);
            let (watched, steps) = watch(strategy, &case.puzzle, 2, 3_000);
            assert_eq!((plain.metrics.comparisons, plain.metrics.placements), (0, 0), "{context}");
            assert_eq!(Search { metrics: uncounted(watched.metrics), ..watched }, plain, "{context}");
            let placed = steps.iter().filter(|(step, _)| matches!(step, Step::Place { .. })).count();
            assert_eq!(watched.metrics.placements, placed as u64, "{context}");
            let has_to_look = case.puzzle.keeps_rules() && !case.puzzle.is_solved();
            assert!(watched.metrics.comparisons > 0 || !has_to_look, "{context}");

            let limit = Limit { solutions: 2, nodes: 3_000, cancel: &GO_ON };
            let mut batch = Batch::new(case.puzzle.order());
            batch.push(&case.puzzle);
            batch.push(&case.puzzle);
            strategy.solver(case.puzzle.order()).measure_batch(&mut batch, &limit);
            if case.puzzle.keeps_rules() {
                assert_eq!(batch.searches(), [watched, watched], "{context}");
            }
        }
    }
}

/// Whoever follows the steps sees the search: digits come into blank cells and leave them in order, no solution stands
/// that is none, and the end is told.
#[test]
fn steps_tell_the_whole_search() {
    let mut seen = [false; 6];
    for case in cases() {
        let order = case.puzzle.order();
        for strategy in strategies_for(order) {
            let context = format!("{} on {}: {:?}", strategy.name(), case.what, case.puzzle);
            let (found, steps) = watch(strategy, &case.puzzle, 3, 1_000);
            let mut board = case.puzzle.clone();
            let mut placed = Vec::new();
            let (mut solutions, mut backtracks, mut end) = (0, 0, None);
            let mut complete = None;
            for (step, grid) in &steps {
                assert!(end.is_none(), "{context}: {step:?} after the end");
                assert!(complete.is_none() || matches!(step, Step::BandComplete { .. }), "{context}");
                match *step {
                    Step::Place { cell, digit, is_guess } => {
                        assert_eq!(board.get(cell), None, "{context}");
                        board.set(cell, Some(digit));
                        placed.push((cell, is_guess));
                        let of_box_row = |c: usize| (c - 1) / order.box_side();
                        let is_in_band =
                            |c: &sudoku_stream::grid::Cell| of_box_row(c.row()) == of_box_row(cell.row());
                        let is_full = order.all_cells().filter(is_in_band).all(|c| board.get(c).is_some());
                        complete = is_full.then(|| of_box_row(cell.row()) + 1);
                    }
                    Step::Backtrack { cell, digit } => {
                        assert_eq!(board.get(cell), Some(digit), "{context}");
                        backtracks += 1;
                        while let Some((last, is_guess)) = placed.pop() {
                            board.set(last, None);
                            if last == cell {
                                assert!(is_guess, "{context}");
                                break;
                            }
                        }
                    }
                    Step::BandComplete { band } => {
                        assert_eq!(complete.take(), Some(band), "{context}");
                        seen[0] = true;
                    }
                    Step::Conflict(Contradiction::Taken { cell, digit, house }) => {
                        assert!(house.cells(order).any(|c| board.get(c) == Some(digit)), "{context}");
                        assert!(cell.houses().contains(&house), "{context}");
                        seen[1] = true;
                    }
                    Step::Conflict(Contradiction::NoDigit { .. }) => seen[2] = true,
                    Step::Conflict(Contradiction::NoPlace { .. }) => seen[3] = true,
                    Step::Conflict(Contradiction::Rivals) => {}
                    Step::Solved => {
                        assert!(board.solves(&case.puzzle), "{context}");
                        solutions += 1;
                    }
                    Step::NoSolution => {
                        assert_eq!((found.solutions, found.stop), (0, Stop::Exhausted), "{context}");
                        end = Some(*step);
                        seen[4] = true;
                    }
                    Step::GaveUp { nodes } => {
                        assert_eq!((found.stop, found.metrics.nodes), (Stop::Nodes, nodes), "{context}");
                        end = Some(*step);
                        seen[5] = true;
                    }
                }
                assert_eq!(&board, grid, "{context}: after {step:?}");
                assert!(!step.to_string().is_empty());
            }
            assert_eq!(solutions, found.solutions, "{context}");
            assert_eq!(backtracks, found.metrics.backtracks, "{context}");
            let is_told = found.stop == Stop::Nodes || found.stop == Stop::Exhausted && found.solutions == 0;
            assert_eq!(end.is_some(), is_told, "{context}");
        }
    }
    assert_eq!(seen, [true; 6], "not every kind of step came up");
}

#[test]
fn whoever_watches_can_end_the_search() {
    let empty = Grid::empty(Order::NINE);
    for strategy in strategies_for(Order::NINE) {
        for wanted in 1..20 {
            let mut count = 0;
            let mut told = |_: &Step, _: &Grid| {
                count += 1;
                if count == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let limit = Limit { solutions: u64::MAX, nodes: u64::MAX, cancel: &GO_ON };
            let mut solution = Grid::empty(Order::NINE);
            let mut watcher = Watcher::observing(&mut told);
            let found = strategy.solver(Order::NINE).watch(&empty, &limit, &mut solution, &mut watcher);
            assert_eq!(found.stop, Stop::Cancelled, "{}", strategy.name());
            assert_eq!(count, wanted, "{}", strategy.name());
        }
    }
}

/// The same search, told by a loop and by a function that calls itself.
#[test]
fn recursion_visits_what_the_stack_does() {
    let [by_stack, by_calls] = ["backtracking", "recursive"].map(|name| strategy(name).unwrap());
    for case in cases() {
        for nodes in [10, 30_000] {
            let (stack, steps) = watch(by_stack, &case.puzzle, 3, nodes);
            let (calls, same) = watch(by_calls, &case.puzzle, 3, nodes);
            assert_eq!(stack, calls, "{}", case.what);
            assert!(steps == same, "{}", case.what);
        }
    }
}
