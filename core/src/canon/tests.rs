//! Least forms against an enumeration of all disguises, and forms of disguises against each other.

use super::*;
use crate::solver::strategy;
use crate::testing::Random;

/// Puzzles with one solution, of all ratings.
const RATINGS: &str = include_str!("../techniques/fixtures/ratings.tsv");

/// The grid with the most automorphisms, 648.
const MOST_CANONICAL: &str =
    "123456789456789123789123456231564897564897231897231564312645978645978312978312645";

/// A grid of the shifts of one row, in which all bands and stacks are cyclic.
const SHIFTS: &str = "123456789456789123789123456234567891567891234891234567345678912678912345912345678";

/// An ordinary solution, without a cyclic band.
const ORDINARY: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// Clues that a rotation by 180 degrees maps to each other.
const SYMMETRIC: &str = "1.......2.3.....4...5...6.....7.8.......9.......2.1.....8...7...6.....5.4.......3";

fn grid(text: &str) -> Grid {
    text.parse().unwrap()
}

fn rated() -> impl Iterator<Item = Grid> {
    RATINGS.lines().skip(1).map(|line| grid(line.split('\t').next().unwrap()))
}

fn solved(puzzle: &Grid) -> Grid {
    let mut solution = Grid::empty(Order::NINE);
    let limit = Limit { solutions: 2, nodes: u64::MAX, cancel: &AtomicBool::new(false) };
    let search = strategy("dancing-links").unwrap().solver(Order::NINE).search(puzzle, &limit, &mut solution);
    assert_eq!(search.solutions, 1, "{puzzle}");
    solution
}

/// All orders of nine lines that keep bands together.
fn line_orders() -> Vec<[usize; 9]> {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut all = Vec::new();
    for bands in ORDERS {
        for a in ORDERS {
            for b in ORDERS {
                for c in ORDERS {
                    let within = [a, b, c];
                    all.push(std::array::from_fn(|k| 3 * bands[k / 3] + within[k / 3][k % 3]));
                }
            }
        }
    }
    all
}

/// The least form of `by`, the least form of `along` among those that `by` allows, and the number of
/// disguises, relabelling aside, that lead to both: by trying all 3,359,232.
fn enumerated(by: &Grid, along: &Grid) -> (Vec<u8>, Vec<u8>, u64) {
    let orders = line_orders();
    let (mut least, mut least_along, mut count) = (vec![10; 81], vec![10; 81], 0);
    let mut text = [0; 81];
    for transposes in [false, true] {
        for rows in &orders {
            'columns: for columns in &orders {
                let at = |k: usize| {
                    let (row, column) = (rows[k / 9], columns[k % 9]);
                    if transposes { 9 * column + row } else { 9 * row + column }
                };
                let mut labels = [0; 10];
                let mut last = 0;
                let mut is_less = false;
                for k in 0..81 {
                    let digit = usize::from(by.digits()[at(k)]);
                    if digit != 0 && labels[digit] == 0 {
                        last += 1;
                        labels[digit] = last;
                    }
                    text[k] = labels[digit];
                    if !is_less && text[k] > least[k] {
                        continue 'columns;
                    }
                    is_less |= text[k] < least[k];
                }
                let moved: Vec<u8> = (0..81).map(|k| labels[usize::from(along.digits()[at(k)])]).collect();
                if is_less {
                    least.copy_from_slice(&text);
                }
                if is_less || moved < least_along {
                    (least_along, count) = (moved.clone(), 0);
                }
                count += u64::from(moved == least_along);
            }
        }
    }
    (least, least_along, count)
}

/// Fails unless the forms by both bases are what an enumeration finds.
fn assert_least(puzzle: &Grid, solution: &Grid) {
    let mut canonizer = Canonizer::new();
    let form = canonizer.by_solution(puzzle, solution);
    let (least, clues, count) = enumerated(solution, puzzle);
    assert_eq!(form.solution.unwrap().digits(), least, "{solution}");
    assert_eq!(form.puzzle.digits(), clues, "{puzzle}");
    assert_eq!(form.automorphisms, count, "{puzzle}");
    assert_least_clues(puzzle);
}

fn assert_least_clues(puzzle: &Grid) {
    let form = Canonizer::new().by_puzzle(puzzle);
    let (least, _, count) = enumerated(puzzle, puzzle);
    assert_eq!(form.puzzle.digits(), least, "{puzzle}");
    assert_eq!(form.automorphisms, count, "{puzzle}");
}

#[test]
fn no_disguise_has_a_lesser_text_than_the_form() {
    // Ratings ascend, so these are of all kinds.
    let all: Vec<Grid> = rated().collect();
    for puzzle in all.iter().step_by(all.len() / 8) {
        assert_least(puzzle, &solved(puzzle));
    }
}

#[test]
fn grids_with_many_automorphisms_have_the_least_form_too() {
    for text in [MOST_CANONICAL, SHIFTS] {
        let solution = grid(text);
        let mut puzzle = solution.clone();
        for (cell, digit) in puzzle.digits_mut().iter_mut().enumerate() {
            if cell * cell % 7 > 1 {
                *digit = 0;
            }
        }
        assert_least(&puzzle, &solution);
        assert_least_clues(&solution);
    }
    let form = canonical_form(&grid(MOST_CANONICAL)).unwrap();
    assert_eq!((form.puzzle, form.automorphisms), (grid(MOST_CANONICAL), 648));
    let form = canonical_form(&grid(ORDINARY)).unwrap();
    assert_eq!(form.automorphisms, 1);
}

#[test]
fn puzzles_with_few_clues_have_the_least_form_too() {
    let mut random = Random(1);
    let solution = grid(ORDINARY);
    for clues in [1, 2, 3, 4, 6, 9, 13] {
        let mut puzzle = Grid::empty(Order::NINE);
        while puzzle.filled() < clues {
            let cell = random.below(81);
            puzzle.digits_mut()[cell] = solution.digits()[cell];
        }
        assert_least_clues(&puzzle);
    }
    // The cells of one digit, and other digits in these cells.
    let one = ORDINARY.replace(|cell| cell != '1', ".");
    let mut last = 0;
    let nine: String = one
        .chars()
        .map(|cell| {
            if cell == '1' {
                last += 1;
                char::from(b'0' + last)
            } else {
                '.'
            }
        })
        .collect();
    let a_box = format!("{}123......456......789......", ".".repeat(54));
    let a_band = format!("{}{}", &ORDINARY[..27], ".".repeat(54));
    for text in [&one, &nine, &a_box, &a_band, SYMMETRIC] {
        assert_least_clues(&grid(text));
    }
}

/// The forms of a puzzle by both bases, in which everything said about them is checked.
fn forms(canonizer: &mut Canonizer, puzzle: &Grid, solution: &Grid) -> [(Grid, u64); 2] {
    let by_solution = canonizer.by_solution(puzzle, solution);
    assert_eq!(by_solution.disguise.apply(puzzle), by_solution.puzzle);
    assert_eq!(Some(by_solution.disguise.apply(solution)), by_solution.solution);
    assert_eq!(by_solution.disguise.inverse().apply(&by_solution.puzzle), *puzzle);
    assert!(by_solution.solution.unwrap().solves(&by_solution.puzzle));
    let by_puzzle = canonizer.by_puzzle(puzzle);
    assert_eq!(by_puzzle.disguise.apply(puzzle), by_puzzle.puzzle);
    assert!(by_puzzle.puzzle.digits() <= puzzle.digits());
    assert!(by_puzzle.puzzle.digits() <= by_solution.puzzle.digits());
    assert_eq!(by_puzzle.automorphisms, by_solution.automorphisms, "{puzzle}");
    [(by_solution.puzzle, by_solution.automorphisms), (by_puzzle.puzzle, by_puzzle.automorphisms)]
}

#[test]
fn thousands_of_disguises_have_the_form_of_their_puzzle() {
    let mut canonizer = Canonizer::new();
    let mut number = 0;
    let mut all = std::collections::HashSet::new();
    for puzzle in rated().chain([grid(MOST_CANONICAL), grid(SHIFTS)]) {
        let solution = solved(&puzzle);
        let expected = forms(&mut canonizer, &puzzle, &solution);
        for _ in 0..30 {
            number += 1;
            let disguise = Disguise::random(Order::NINE, 5, number);
            let (puzzle, solution) = (disguise.apply(&puzzle), disguise.apply(&solution));
            assert_eq!(forms(&mut canonizer, &puzzle, &solution), expected, "{puzzle}");
        }
        let [(first, _), (second, _)] = expected;
        // The forms of forms are themselves.
        assert_eq!(canonizer.by_puzzle(&second).puzzle, second);
        assert_eq!(canonical_form(&first).unwrap().puzzle, first);
        assert!(all.insert(first.clone()), "two puzzles have the same form: {puzzle}");
        assert!(first == second || all.insert(second), "two puzzles have the same form: {puzzle}");
    }
    assert!(number > 2_000, "only {number} disguises were tried");
}

#[test]
fn sparse_puzzles_in_disguise_have_the_form_of_their_puzzle() {
    let solution = grid(ORDINARY);
    let mut canonizer = Canonizer::new();
    for number in 0..2_000 {
        // The cells of a random grid that are less than some bound.
        let order = Disguise::random(Order::NINE, 6, number).apply(&solution);
        let mut puzzle = Disguise::random(Order::NINE, 7, number).apply(&solution);
        let bound = u8::try_from(number % 9).unwrap();
        for (digit, &by) in puzzle.digits_mut().iter_mut().zip(order.digits()) {
            if by > bound {
                *digit = 0;
            }
        }
        let form = canonizer.by_puzzle(&puzzle);
        assert_eq!(form.disguise.apply(&puzzle), form.puzzle);
        let disguised = Disguise::random(Order::NINE, 8, number).apply(&puzzle);
        let other = canonizer.by_puzzle(&disguised);
        assert_eq!((other.puzzle, other.automorphisms), (form.puzzle, form.automorphisms), "{puzzle}");
    }
}

#[test]
fn puzzles_without_a_single_solution_have_a_form_by_their_clues() {
    for text in [
        ".".repeat(81),
        format!("{}12", ".".repeat(79)),
        format!("1234567.....{}8..{}", ".".repeat(7), ".".repeat(59)),
    ] {
        let puzzle = grid(&text);
        let form = canonical_form(&puzzle).unwrap();
        assert_eq!(form.basis, Basis::Puzzle);
        assert_eq!(form, canonical_form_by(&puzzle, Basis::Puzzle).unwrap());
        assert!(canonical_form_by(&puzzle, Basis::Solution).is_err());
    }
    let sentence = |text: &str, basis| canonical_form_by(&grid(text), basis).unwrap_err().to_string();
    let broken = format!("11{}", ".".repeat(79));
    for basis in [Basis::Puzzle, Basis::Solution] {
        assert_eq!(sentence(&broken, basis), "The puzzle breaks the rules: 1 appears twice in row 1.");
    }
    let without = format!("12345678.........9{}", ".".repeat(63));
    assert_eq!(sentence(&without, Basis::Solution), "The puzzle has no solution.");
    assert_eq!(
        "both".parse::<Basis>().unwrap_err().to_string(),
        "`both` is no basis of canonical forms. Use solution or puzzle."
    );
}
