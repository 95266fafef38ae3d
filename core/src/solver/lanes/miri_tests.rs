//! Small tests of packing, transposition, branch, dives and engine: few enough passes for Miri to
//! run them.

use std::sync::atomic::AtomicBool;

use super::branch::{Branch, Guesses, refuse};
use super::engine::Engine;
use super::job::SearchJob;
use super::packing::{CANDIDATES, CandidateRow, Packing, ROW_PARTS, pack, unpack};
use super::portable::Portable;
use super::testing::{
    CellCandidates, KnownPuzzle, LANES, begin, digits, dive, engine, exhaust, has, known_puzzles, known_with,
    lane, only, run,
};
use super::transpose::LaneRows;
use super::word::{Mask, Word};
use crate::grid::{Grid, Order};
use crate::solver::{Search, Stop};
use crate::testing::Random;

/// The 81 digits in as many bytes as are packed at once.
fn padded(digits: &[u8; 81]) -> [u8; 96] {
    let mut bytes = [0; 96];
    bytes[..81].copy_from_slice(digits);
    bytes
}

/// The candidates of a row.
fn of_row(row: &CandidateRow) -> CellCandidates {
    let bit = |bit: usize| row[bit / 64] >> (bit % 64) & 1 == 1;
    std::array::from_fn(|cell| (0..9).filter(|digit| bit(81 * digit + cell)).collect())
}

#[test]
fn puzzles_are_packed_and_solutions_unpacked() {
    for known in known_puzzles() {
        let planes = <Portable as Packing>::planes(&padded(&known.digits));
        let mut unpacked = [0xFF; 81];
        Portable::digits(&unpack(pack(planes)), &mut unpacked);
        assert_eq!(unpacked, known.digits);
        let row = Portable::row(&padded(&known.digits));
        for (cell, (candidates, &digit)) in of_row(&row).iter().zip(&known.digits).enumerate() {
            let expected = if digit == 0 { (0..9).collect() } else { vec![usize::from(digit) - 1] };
            assert_eq!(*candidates, expected, "cell {cell}");
        }
        if known.digits.iter().all(|&digit| digit > 0) {
            Portable::solution(&row, &mut unpacked);
            assert_eq!(unpacked, known.digits);
        }
    }
}

#[test]
fn rows_become_words_and_words_rows() {
    let mut random = Random(1);
    let given: Vec<[u64; 2]> = (0..LANES).map(|_| std::array::from_fn(|_| random.next())).collect();
    let (mut rows, mut back) = (LaneRows::<2>::new::<Portable>(), LaneRows::<2>::new::<Portable>());
    for (lane, row) in given.iter().enumerate() {
        rows.set::<Portable>(lane, row);
        assert_eq!((rows.get::<Portable>(lane), rows.part::<Portable>(lane, 1)), (*row, row[1]));
    }
    let mut half = [Portable::splat(0); 64];
    for part in 0..2 {
        let mut words = [Portable::splat(0); 64];
        rows.slice(part, &mut words);
        for (bit, &word) in words.iter().enumerate() {
            for (lane, row) in given.iter().enumerate() {
                assert_eq!(has(word, lane), row[part] >> bit & 1 == 1, "bit {bit} of lane {lane}");
            }
        }
        back.set_slice(part, &words, &mut half);
        // Of some lanes, and some bits: the others stay as they are.
        let mut some = [Portable::splat(!0); 40];
        rows.slice_of(part, only([3, 77, LANES - 1]), &mut some, &mut half);
        for (bit, &word) in some.iter().enumerate() {
            assert!(has(word, 4) && has(word, 3) == (given[3][part] >> bit & 1 == 1), "bit {bit}");
        }
    }
    assert!((0..LANES).all(|lane| back.get::<Portable>(lane) == given[lane]));
}

/// A guess: in a row or column the digit is in this minirow or minicolumn, and so not in the
/// others.
struct SlowGuess {
    digit: usize,
    line: [usize; 3],
    others: Vec<[usize; 3]>,
}

/// The cells of a minirow of a band (0 to 2), or of a minicolumn of a stack (3 to 5).
fn line(band: usize, row: usize, across: usize) -> [usize; 3] {
    let (first, step) = if band < 3 {
        (27 * band + 9 * row + 3 * across, 1)
    } else {
        (27 * across + 3 * (band - 3) + row, 9)
    };
    [first, first + step, first + 2 * step]
}

/// The number of possible permutations of a digit in a band or stack.
fn permutations(cells: &CellCandidates, digit: usize, band: usize) -> usize {
    let is_possible = |row, across| line(band, row, across).iter().any(|&cell| cells[cell].contains(&digit));
    let six = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];
    six.iter().filter(|places| (0..3).all(|row| is_possible(row, places[row]))).count()
}

/// The band or stack with the fewest permutations, of those that are not decided.
fn slow_band(cells: &CellCandidates) -> usize {
    let sum = |band: &usize| (0..9).map(|digit| permutations(cells, digit, *band)).sum::<usize>();
    (0..6).filter(|band| sum(band) != 9).min_by_key(sum).unwrap()
}

/// The guess in a band or stack: the digit with the fewest permutations, the first row where it has
/// a choice. `None` if all is decided there.
fn slow_guess(cells: &CellCandidates, band: usize) -> Option<SlowGuess> {
    let open = (0..9).filter(|&digit| permutations(cells, digit, band) > 1);
    let digit = open.min_by_key(|&digit| permutations(cells, digit, band))?;
    let is_possible =
        |cells_of_line: &[usize; 3]| cells_of_line.iter().any(|&cell| cells[cell].contains(&digit));
    let lines =
        |row| (0..3).map(move |across| line(band, row, across)).filter(is_possible).collect::<Vec<_>>();
    let mut lines = (0..3).map(lines).find(|lines| lines.len() > 1)?;
    let line = lines.remove(0);
    Some(SlowGuess { digit, line, others: lines })
}

fn without(cells: &CellCandidates, digit: usize, lines: &[[usize; 3]]) -> CellCandidates {
    let mut left = cells.clone();
    for &cell in lines.as_flattened() {
        left[cell].retain(|&candidate| candidate != digit);
    }
    left
}

/// The known puzzles that keep the rules, at a stall, in a lane each.
fn stalled() -> (Vec<KnownPuzzle>, Box<super::inference::SlicedState<Portable>>, Portable) {
    let puzzles: Vec<_> = known_puzzles().into_iter().filter(|known| known.grid().keeps_rules()).collect();
    let mut state = begin(&puzzles.iter().map(|known| known.digits).collect::<Vec<_>>());
    exhaust(&mut state);
    let stalled = state.alive.and(state.open);
    assert!(Mask::of(stalled).len() >= 16, "{} lanes are stalled", Mask::of(stalled).len());
    (puzzles, state, stalled)
}

#[test]
fn a_guess_is_the_choice_with_the_fewest_permutations() {
    let (_, mut state, stalled) = stalled();
    let mut branch = Branch::new();
    let before: Vec<_> = (0..LANES).map(|k| lane(&state.candidates, k)).collect();
    let guessing = branch.choose(&mut state, stalled);
    let mut rows = LaneRows::<ROW_PARTS>::new::<Portable>();
    let mut half = [Portable::splat(0); 64];
    for part in 0..ROW_PARTS {
        let mut words = [Portable::splat(0); 64];
        let rest = &state.candidates[64 * part..];
        let count = rest.len().min(64);
        words[..count].copy_from_slice(&rest[..count]);
        if part == CANDIDATES / 64 {
            branch.mark(&mut words);
        }
        rows.set_slice(part, &words, &mut half);
    }
    branch.follow(&mut state);
    let (mut guesses, mut others) = (0, 0);
    for (k, before) in before.iter().enumerate().filter(|&(k, _)| has(stalled, k)) {
        let after = lane(&state.candidates, k);
        if !has(guessing, k) {
            // Something was found without a guess, be it a contradiction.
            let fewer = after.iter().zip(before).any(|(after, before)| after.len() < before.len());
            assert!(fewer || !has(state.alive, k), "lane {k}");
            others += 1;
            continue;
        }
        let guess = slow_guess(before, slow_band(before)).unwrap();
        assert_eq!(after, without(before, guess.digit, &guess.others), "lane {k}, guess followed");
        let mut row = [0; ROW_PARTS];
        refuse::<Portable>(&rows, k, &mut row);
        assert_eq!(of_row(&row), without(before, guess.digit, &[guess.line]), "lane {k}, guess refused");
        guesses += 1;
    }
    assert!(guesses > 10 && others > 0, "{guesses} guesses, {others} others");
}

/// A dive guesses in three bands or stacks at once, and keeps what there is if the first guess is
/// wrong.
#[test]
fn several_guesses_are_those_of_each_band() {
    let (_, mut state, stalled) = stalled();
    let (mut branch, mut guesses) = (Branch::new(), Guesses::new());
    let before: Vec<_> = (0..LANES).map(|k| lane(&state.candidates, k)).collect();
    let guessing = branch.choose_several(&mut state, stalled, &mut guesses);
    let mut alternative = [Portable::splat(0); CANDIDATES];
    guesses.follow(&branch, &mut state, [(&mut alternative, guessing)]);
    let (mut lanes, mut several) = (0, 0);
    for (k, before) in before.iter().enumerate().filter(|&(k, _)| has(guessing, k)) {
        let first = slow_band(before);
        let guess = slow_guess(before, first).unwrap();
        assert_eq!(
            lane(&alternative, k),
            without(before, guess.digit, &[guess.line]),
            "lane {k}, alternative"
        );
        let mut expected = before.clone();
        let of_kind = first / 3 * 3..first / 3 * 3 + 3;
        let all: Vec<_> = of_kind.filter_map(|band| slow_guess(before, band)).collect();
        for guess in &all {
            expected = without(&expected, guess.digit, &guess.others);
        }
        assert_eq!(lane(&state.candidates, k), expected, "lane {k}, guesses followed");
        lanes += 1;
        several += usize::from(all.len() > 1);
    }
    assert!(lanes > 10 && several > 10, "{lanes} lanes, {several} with more than one guess");
}

/// Nothing but triads is ruled out of a solution's candidates without a guess.
#[test]
fn triads_rule_out_no_solution() {
    let (puzzles, mut state, stalled) = stalled();
    let mut branch = Branch::new();
    let guessing = branch.choose(&mut state, stalled);
    branch.follow(&mut state);
    let mut solver = crate::solver::boxes::BoxSolver::new(super::Backend::Portable);
    let never = AtomicBool::new(false);
    let mut checked = 0;
    for (k, known) in puzzles.iter().enumerate().filter(|(_, known)| known.solutions == 1) {
        if !has(stalled, k) || has(guessing, k) {
            continue;
        }
        let mut digits = [0; 81];
        let limit = crate::solver::Limit { solutions: 1, nodes: 10_000, cancel: &never };
        solver.search_as_lanes(&known.digits, &limit, &mut digits, &mut crate::solver::watch::NoWatch);
        let solution = Grid::from_digits(Order::NINE, &digits);
        assert!(has(state.alive, k) && solution.solves(&known.grid()));
        for (cell, candidates) in lane(&state.candidates, k).iter().enumerate() {
            assert!(candidates.contains(&usize::from(solution.digits()[cell] - 1)), "lane {k}, cell {cell}");
        }
        checked += 1;
    }
    assert!(checked > 0, "no puzzle has a triad");
}

/// Runs or dives with an engine of the portable back end.
fn with_engine(
    puzzles: &[KnownPuzzle],
    solution_limit: u64,
    node_limit: u64,
    run: fn(&mut Engine<Portable>, &mut SearchJob<'_>),
) -> Vec<(Search, [u8; 81])> {
    let digits: Vec<_> = puzzles.iter().map(|known| known.digits).collect();
    let (mut solutions, mut searches) =
        (vec![[0; 81]; puzzles.len()], vec![Search::CANCELLED; puzzles.len()]);
    run(
        &mut engine(),
        &mut SearchJob {
            puzzles: &digits,
            solutions: &mut solutions,
            searches: &mut searches,
            solution_limit,
            node_limit,
            cancel: &AtomicBool::new(false),
            sharing: true,
            dives_in_all: true,
        },
    );
    searches.into_iter().zip(solutions).collect()
}

fn assert_solves(solution: &[u8; 81], known: &KnownPuzzle) {
    let (solution, puzzle) = (Grid::from_digits(Order::NINE, solution), known.grid());
    assert!(solution.solves(&puzzle), "{puzzle:?} gave {solution:?}");
}

#[test]
fn the_engine_finds_the_known_numbers_of_solutions() {
    let puzzles = known_with(0..=4);
    for limit in [1, 3] {
        let found = with_engine(&puzzles, limit, 100_000, run);
        for ((search, solution), known) in found.iter().zip(&puzzles) {
            let count = known.solutions.min(limit);
            let stop = if count == limit { Stop::Solutions } else { Stop::Exhausted };
            assert_eq!((search.solutions, search.stop), (count, stop), "{:?}", known.grid());
            if count > 0 {
                assert_solves(solution, known);
            }
        }
    }
}

/// A search that reaches the node limit has visited as many nodes, and dives do not help where
/// there is one solution.
#[test]
fn the_engine_gives_up_at_the_node_limit() {
    let puzzles = known_with(1..=1);
    let mut given_up = 0;
    for (search, _) in with_engine(&puzzles, 3, 5, run) {
        assert!(search.metrics.nodes <= 5);
        if search.stop == Stop::Nodes {
            assert_eq!(search.metrics.nodes, 5);
            given_up += 1;
        }
    }
    assert!(given_up > 3);
}

/// A dive answers a puzzle with several solutions, or leaves it as it was begun; without a second
/// solution it leaves it.
#[test]
fn dives_find_two_solutions_or_leave_a_puzzle_to_the_search() {
    let full = digits("534678912672195348198342567859761423426853791713924856961537284287419635345286179");
    let mut puzzles = known_puzzles();
    // 20 clues of a full grid have many solutions.
    let mut random = Random(1);
    for _ in 0..12 {
        let mut digits = [0; 81];
        for _ in 0..20 {
            let cell = random.below(81);
            digits[cell] = full[cell];
        }
        puzzles.push(KnownPuzzle { digits, solutions: 200 });
    }
    let found = with_engine(&puzzles, 2, 100_000, dive);
    let mut answered = 0;
    for ((search, solution), known) in found.iter().zip(&puzzles) {
        if search.stop != Stop::Solutions {
            assert_eq!(*search, Search::BEGUN, "{:?}", known.grid());
            continue;
        }
        assert!(known.solutions >= 2, "{:?}", known.grid());
        assert_eq!(search.solutions, 2);
        let metrics = search.metrics;
        assert_eq!(metrics.nodes, 1 + metrics.guesses + metrics.backtracks);
        assert!(metrics.guesses > 0 && metrics.backtracks > 0 && metrics.depth <= metrics.guesses);
        assert_solves(solution, known);
        answered += 1;
    }
    assert!(answered >= 12, "dives answered {answered} puzzles only");
}
