//! The 9x9 kernel on every back end of this machine: against the plain backtracker, against each other, and against
//! itself in other company.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::harness::{Random, disguise, fixture, grid, known_puzzles, large_list};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::lanes::{Backend, Lanes, NoBackend};
use sudoku_stream::solver::{Batch, Fast, Limit, STRATEGIES, Search, Solver, Stop, Strategy as _, strategy};

static GO_ON: AtomicBool = AtomicBool::new(false);

type Cells = [u8; 81];

const BLANK: Cells = [0; 81];

fn cells(grid: &Grid) -> Cells {
    grid.digits().try_into().unwrap()
}

fn backends() -> Vec<Backend> {
    let found: Vec<_> = Backend::available().collect();
    assert!(found.contains(&Backend::Portable));
    found
}

/// Searches all puzzles at once. Solutions are looked at by the independent verifier.
fn search(lanes: &mut Lanes, puzzles: &[Cells], limit: &Limit<'_>) -> Vec<(Search, Cells)> {
    let mut solutions = vec![BLANK; puzzles.len()];
    let mut searches = vec![Search::NO_SOLUTION; puzzles.len()];
    lanes.search(puzzles, limit, &mut solutions, &mut searches);
    for ((puzzle, solution), search) in puzzles.iter().zip(&mut solutions).zip(&searches) {
        let (puzzle, found) =
            (Grid::from_digits(Order::NINE, puzzle), Grid::from_digits(Order::NINE, solution));
        match search.solutions {
            0 => *solution = BLANK,
            _ => assert!(found.solves(&puzzle), "{puzzle:?} gave {found:?}"),
        }
    }
    searches.into_iter().zip(solutions).collect()
}

/// How many solutions there are of each puzzle, up to two, and why no more were looked for.
fn up_to_two_by_propagation(puzzles: &[Cells]) -> Vec<(u64, Stop)> {
    let mut solver = strategy("propagation").unwrap().solver(Order::NINE);
    let mut solution = Grid::empty(Order::NINE);
    let found = puzzles.iter().map(|puzzle| {
        let found = solver.search(&Grid::from_digits(Order::NINE, puzzle), &up_to(2), &mut solution);
        (found.solutions, found.stop)
    });
    found.collect()
}

const fn up_to(solutions: u64) -> Limit<'static> {
    Limit { solutions, nodes: 1_000_000, cancel: &GO_ON }
}

/// Puzzles of every kind: known ones and their disguises, random clues, one blank, no blank, nothing but blanks, clues
/// that clash, too few clues.
fn puzzles() -> Vec<Cells> {
    let known: Vec<Grid> = known_puzzles()
        .into_iter()
        .map(|known| known.puzzle)
        .filter(|grid| grid.order() == Order::NINE)
        .collect();
    assert!(known.len() > 10);
    let mut puzzles: Vec<Cells> = known.iter().map(cells).collect();
    let mut random = Random(3);
    for (seed, puzzle) in (0..).zip(&known) {
        puzzles.push(cells(&disguise(puzzle, seed)));
        // One clue fewer, one changed: several solutions, none, or a clash.
        let mut changed = disguise(puzzle, 1000 + seed);
        let filled: Vec<usize> = (0..81).filter(|&cell| changed.digits()[cell] > 0).collect();
        let Some(&cell) = filled.get(random.below(filled.len().max(1))) else { continue };
        changed.digits_mut()[cell] = 0;
        puzzles.push(cells(&changed));
        changed.digits_mut()[cell] = u8::try_from(1 + random.below(9)).unwrap();
        puzzles.push(cells(&changed));
    }
    let full =
        cells(&grid("534678912672195348198342567859761423426853791713924856961537284287419635345286179"));
    puzzles.push(full);
    for cell in [0, 40, 63, 64, 80] {
        let mut one_blank = full;
        one_blank[cell] = 0;
        puzzles.push(one_blank);
        let mut clash = full;
        clash[cell] = full[cell] % 9 + 1;
        puzzles.push(clash);
    }
    puzzles.push(BLANK);
    for clues in [1, 2, 8, 16, 20, 24, 28, 32, 40] {
        for _ in 0..12 {
            let mut puzzle = Grid::empty(Order::NINE);
            for _ in 0..clues {
                let cell = Order::NINE.cell_at(random.below(81));
                let candidates: Vec<_> = puzzle.candidates(cell).iter().collect();
                if !candidates.is_empty() {
                    puzzle.set(cell, Some(candidates[random.below(candidates.len())]));
                }
            }
            puzzles.push(cells(&puzzle));
        }
    }
    puzzles
}

#[test]
fn every_back_end_agrees_with_the_plain_backtracker() {
    const SOLUTIONS: u64 = 20;
    let puzzles = puzzles();
    let mut oracle = strategy("backtracking").unwrap().solver(Order::NINE);
    let mut second = strategy("propagation").unwrap().solver(Order::NINE);
    let mut solution = Grid::empty(Order::NINE);
    let mut from_oracle = 0;
    let expected: Vec<Search> = puzzles
        .iter()
        .map(|puzzle| {
            let puzzle = Grid::from_digits(Order::NINE, puzzle);
            let limit = Limit { nodes: 200_000, ..up_to(SOLUTIONS) };
            let found = oracle.search(&puzzle, &limit, &mut solution);
            from_oracle += usize::from(found.stop != Stop::Nodes);
            if found.stop == Stop::Nodes {
                return second.search(&puzzle, &up_to(SOLUTIONS), &mut solution);
            }
            found
        })
        .collect();
    assert!(from_oracle * 3 > puzzles.len() * 2, "the oracle gave up too often: {from_oracle}");
    for kind in [0, 1, 2, SOLUTIONS] {
        assert!(expected.iter().any(|s| s.solutions == kind), "no puzzle with {kind} solutions");
    }
    for backend in backends() {
        let found = search(&mut Lanes::new(backend), &puzzles, &up_to(SOLUTIONS));
        for ((puzzle, expected), (found, _)) in puzzles.iter().zip(&expected).zip(&found) {
            assert_eq!(
                (found.solutions, found.stop),
                (expected.solutions, expected.stop),
                "{backend}: {puzzle:?}"
            );
        }
    }
}

/// Which lane a puzzle gets, what else is there, and how wide the words are: none of it shows.
#[test]
fn company_changes_nothing() {
    let puzzles = puzzles();
    for solutions in [1, 2, 5] {
        let limit = up_to(solutions);
        let whole = search(&mut Lanes::new(Backend::Portable), &puzzles, &limit);
        for backend in backends() {
            let mut lanes = Lanes::new(backend);
            for size in [1, 2, 65, puzzles.len()] {
                for (puzzles, expected) in puzzles.chunks(size).zip(whole.chunks(size)) {
                    let found = search(&mut lanes, puzzles, &limit);
                    for (((found, solution), (expected, first)), puzzle) in
                        found.iter().zip(expected).zip(puzzles)
                    {
                        let context = format!("{backend}, {size} at a time: {puzzle:?}");
                        assert_eq!(
                            (found.solutions, found.stop),
                            (expected.solutions, expected.stop),
                            "{context}"
                        );
                        if found.stop == Stop::Exhausted {
                            assert_eq!(found.metrics, expected.metrics, "{context}");
                        }
                        assert_eq!(solution, first, "{context}");
                    }
                }
            }
        }
    }
}

/// Lanes that help with one puzzle find what one lane alone finds, the first solution included.
#[test]
fn shared_puzzles_have_the_same_first_solution() {
    let puzzles = puzzles();
    for backend in backends() {
        let (mut shared, mut alone) = (Lanes::new(backend), Lanes::new(backend));
        alone.share_puzzles(false);
        for puzzle in &puzzles {
            let one = std::slice::from_ref(puzzle);
            for solutions in [1, 2, 7] {
                let limit = up_to(solutions);
                let (with, without) =
                    (search(&mut shared, one, &limit)[0], search(&mut alone, one, &limit)[0]);
                assert_eq!(
                    (with.0.solutions, with.0.stop, with.1),
                    (without.0.solutions, without.0.stop, without.1),
                    "{backend}, up to {solutions}: {puzzle:?}"
                );
            }
        }
    }
}

/// One hard puzzle with all lanes to itself takes far fewer passes than with one.
/// Whatever lanes share, no state is forgotten: puzzles with one solution and with several, in batches that leave few or
/// many lanes with nothing of their own to do.
#[test]
fn shared_puzzles_are_searched_to_their_end() {
    let text = std::fs::read_to_string(fixture("shared_states.txt")).unwrap();
    let mut puzzles: Vec<Cells> =
        text.lines().filter(|line| !line.starts_with('#')).map(|line| cells(&grid(line))).collect();
    let unique = strategy("propagation").unwrap();
    let mut oracle = unique.solver(Order::NINE);
    let mut solution = Grid::empty(Order::NINE);
    // Clues of a solution, too few to tell it from all others, or just enough.
    let mut random = Random(11);
    for puzzle in puzzles.clone() {
        oracle.search(&Grid::from_digits(Order::NINE, &puzzle), &up_to(1), &mut solution);
        let full = disguise(&solution, random.next());
        for clues in [21, 24] {
            let kept = &random.permutation(81)[..clues];
            let mut puzzle = BLANK;
            for &cell in kept {
                puzzle[cell] = full.digits()[cell];
            }
            puzzles.push(puzzle);
        }
    }
    let expected = up_to_two_by_propagation(&puzzles);
    assert!(expected.iter().any(|found| found.0 == 1) && expected.iter().any(|found| found.0 == 2));
    for backend in backends() {
        let mut lanes = Lanes::new(backend);
        for size in [1, 2, 7, 20, 75, 150] {
            for (puzzles, expected) in puzzles.chunks(size).zip(expected.chunks(size)) {
                let found = search(&mut lanes, puzzles, &up_to(2));
                let found: Vec<_> = found.iter().map(|(search, _)| (search.solutions, search.stop)).collect();
                assert_eq!(found, expected, "{backend}, {size} at a time");
            }
        }
    }
}

#[test]
fn idle_lanes_help() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/sudoku/demo.txt");
    let puzzles: Vec<Cells> = std::fs::read_to_string(sample)
        .unwrap()
        .lines()
        .filter(|line| line.len() == 81 && line.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()))
        .map(|line| cells(&grid(line)))
        .collect();
    assert!(puzzles.len() > 2900);
    for backend in backends() {
        let (mut shared, mut alone) = (Lanes::new(backend), Lanes::new(backend));
        alone.share_puzzles(false);
        let mut hard = 0;
        for (puzzle, (found, _)) in puzzles.iter().zip(search(&mut Lanes::new(backend), &puzzles, &up_to(2)))
        {
            if found.stop == Stop::Exhausted && found.metrics.nodes > 20 {
                let one = std::slice::from_ref(puzzle);
                let (with, without) =
                    (search(&mut shared, one, &up_to(2))[0], search(&mut alone, one, &up_to(2))[0]);
                assert_eq!(with, without, "an exhausted search is the same search, whoever took part");
                hard += 1;
            }
        }
        assert!(hard > 0, "no puzzle is hard enough");
        let (shared, alone) = (shared.stats().passes, alone.stats().passes);
        assert!(shared * 2 < alone, "{shared} passes instead of {alone}");
    }
}

/// More puzzles than lanes, in an order in which easy and hard ones alternate.
#[test]
fn lanes_are_refilled() {
    let kinds = puzzles();
    let many: Vec<Cells> = kinds.iter().copied().cycle().take(3000).collect();
    for backend in backends() {
        let mut lanes = Lanes::new(backend);
        let once = search(&mut lanes, &kinds, &up_to(2));
        for (index, (found, solution)) in search(&mut lanes, &many, &up_to(2)).into_iter().enumerate() {
            let (expected, first) = once[index % kinds.len()];
            assert_eq!((found.solutions, found.stop), (expected.solutions, expected.stop));
            if found.solutions == 1 {
                assert_eq!(solution, first);
            }
        }
    }
}

/// Some clues of a solution, chosen at random.
fn with_clues(solution: &Grid, clues: usize, random: &mut Random) -> Cells {
    let full = disguise(solution, random.next());
    let mut puzzle = BLANK;
    for &cell in &random.permutation(81)[..clues] {
        puzzle[cell] = full.digits()[cell];
    }
    puzzle
}

/// Puzzles of which most have many solutions, but from some place on also the known ones, and at the end these alone.
fn mostly_several_solutions() -> Vec<Cells> {
    let known = puzzles();
    let solution = grid("534678912672195348198342567859761423426853791713924856961537284287419635345286179");
    let mut random = Random(23);
    let mut known = known.iter().cycle().copied();
    let mut puzzles = Vec::new();
    for index in 0..4000 {
        let clues = 18 + random.below(9);
        let other = known.next().unwrap();
        let is_known = index > 3000 || index > 1500 && random.below(12) == 0;
        puzzles.push(if is_known { other } else { with_clues(&solution, clues, &mut random) });
    }
    puzzles
}

/// Where most puzzles have several solutions, two are looked for in a shorter way. It finds what the search finds, and nothing where
/// there is nothing to be found.
#[test]
fn a_shorter_way_to_two_solutions_finds_the_same() {
    let puzzles = mostly_several_solutions();
    let expected = up_to_two_by_propagation(&puzzles);
    for kind in 0..=2 {
        let number = expected.iter().filter(|(solutions, _)| *solutions == kind).count();
        assert!(number > if kind == 2 { 3000 } else { 100 }, "{number} with {kind} solutions");
    }
    for backend in backends() {
        let mut lanes = Lanes::new(backend);
        let (mut shorter, mut longer) = (0, 0);
        for size in [4000, 2500, 1100] {
            for (puzzles, expected) in puzzles.chunks(size).zip(expected.chunks(size)) {
                let before = lanes.stats().passes;
                let found = search(&mut lanes, puzzles, &up_to(2));
                // Of few puzzles, most are begun before it is known what they are like.
                let counts = u64::from(size == 4000);
                shorter += counts * (lanes.stats().passes - before);
                for ((puzzle, (found, _)), expected) in puzzles.iter().zip(&found).zip(expected) {
                    assert_eq!((found.solutions, found.stop), *expected, "{backend}, {size}: {puzzle:?}");
                    let metrics = found.metrics;
                    assert!(metrics.nodes <= 1 + metrics.guesses + metrics.backtracks, "{metrics:?}");
                    assert!(metrics.depth <= metrics.guesses && metrics.nodes > 0, "{metrics:?}");
                }
                // With a limit that is too low for it, but high enough to find everything.
                let before = lanes.stats().passes;
                let whole = search(&mut lanes, puzzles, &Limit { nodes: 10_000, ..up_to(2) });
                longer += counts * (lanes.stats().passes - before);
                for ((found, solution), (by_search, first)) in found.iter().zip(&whole) {
                    assert_eq!((found.solutions, found.stop), (by_search.solutions, by_search.stop));
                    if found.stop == Stop::Exhausted {
                        assert_eq!((found.metrics, solution), (by_search.metrics, first));
                    }
                }
            }
        }
        assert!(shorter * 10 < longer * 9, "{backend}: {shorter} passes instead of {longer}");
    }
}

/// Cancelled wherever it is: every puzzle has its answer or is said to be cancelled.
#[test]
fn the_shorter_way_can_be_cancelled() {
    let puzzles: Vec<Cells> =
        mostly_several_solutions()[..1500].iter().cycle().take(30_000).copied().collect();
    let never = search(&mut Lanes::new(Backend::best()), &puzzles, &up_to(2));
    let mut cancelled = 0;
    for backend in backends() {
        for turns in [0, 1, 100, 1000, 10_000, 100_000] {
            let stop = AtomicBool::new(false);
            let found = std::thread::scope(|scope| {
                let running = scope.spawn(|| {
                    search(&mut Lanes::new(backend), &puzzles, &Limit { cancel: &stop, ..up_to(2) })
                });
                (0..turns).for_each(|_| std::thread::yield_now());
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
                running.join().unwrap()
            });
            for ((found, _), (expected, _)) in found.iter().zip(&never) {
                if found.stop == Stop::Cancelled {
                    cancelled += 1;
                } else {
                    assert_eq!((found.solutions, found.stop), (expected.solutions, expected.stop));
                }
            }
        }
    }
    assert!(cancelled > 0, "every run was through before it could be cancelled");
}

/// A puzzle that reaches the node limit is given up after exactly so many nodes, and no other suffers.
#[test]
fn node_limits_are_kept() {
    let puzzles = puzzles();
    for backend in backends() {
        let mut lanes = Lanes::new(backend);
        let unlimited = search(&mut lanes, &puzzles, &up_to(20));
        for nodes in [1, 2, 7, 50] {
            let limit = Limit { nodes, ..up_to(20) };
            let mut given_up = 0;
            for ((found, _), (without, _)) in search(&mut lanes, &puzzles, &limit).into_iter().zip(&unlimited)
            {
                assert!(found.metrics.nodes <= nodes);
                if found.stop == Stop::Nodes {
                    assert_eq!(found.metrics.nodes, nodes);
                    assert!(without.metrics.nodes > nodes || without.stop == Stop::Solutions);
                    given_up += 1;
                } else {
                    assert_eq!((found.solutions, found.stop), (without.solutions, without.stop));
                }
            }
            assert!(given_up > 0, "nothing took more than {nodes} nodes");
        }
    }
}

/// What the strategy finds, with its first solutions, in batches of `size`.
fn search_in_batches(
    solver: &mut dyn Solver,
    puzzles: &[Cells],
    size: usize,
    limit: &Limit<'_>,
) -> Vec<(Search, Cells)> {
    let mut found = Vec::new();
    for puzzles in puzzles.chunks(size) {
        let mut batch = Batch::new(Order::NINE);
        for puzzle in puzzles {
            batch.push(&Grid::from_digits(Order::NINE, puzzle));
        }
        solver.search_batch(&mut batch, limit);
        for (index, search) in batch.searches().iter().enumerate() {
            let solution =
                if search.solutions > 0 { batch.solution(index).try_into().unwrap() } else { BLANK };
            found.push((*search, solution));
        }
    }
    found
}

/// Alone, with a few others or with many: the strategy finds the same of a puzzle, and gives up the same ones.
#[test]
fn few_puzzles_are_searched_as_many_are() {
    let known = puzzles();
    let puzzles: Vec<Cells> =
        known.into_iter().filter(|p| Grid::from_digits(Order::NINE, p).keeps_rules()).collect();
    for backend in backends() {
        let mut solver = Fast::with(backend).solver(Order::NINE);
        for nodes in [1, 2, 10, 100, 1000, 1_000_000] {
            let mut given_up = 0;
            for solutions in [1, 2, 3, 100] {
                let limit = Limit { nodes, ..up_to(solutions) };
                let whole = search_in_batches(&mut *solver, &puzzles, puzzles.len(), &limit);
                for size in [1, 5, 31, 40] {
                    let found = search_in_batches(&mut *solver, &puzzles, size, &limit);
                    for ((puzzle, whole), found) in puzzles.iter().zip(&whole).zip(&found) {
                        let context = format!("{backend}, {size}, {limit:?}: {puzzle:?}");
                        given_up += usize::from(found.0.stop == Stop::Nodes);
                        // Lanes that share a puzzle may visit more nodes before they have enough solutions.
                        if solutions > 2 || found.0.stop != Stop::Solutions {
                            assert_eq!(found, whole, "{context}");
                        } else {
                            assert_eq!((found.0.solutions, found.0.stop), (whole.0.solutions, whole.0.stop));
                            assert_eq!(found.1, whole.1, "{context}");
                        }
                    }
                }
            }
            assert!(given_up > 0 || nodes > 100, "nobody gave up after {nodes} nodes");
        }
    }
}

/// Puzzles that singles solve are solved together, and others among them do not mind: each is answered as it is alone.
#[test]
fn easy_puzzles_are_answered_alike_whatever_is_among_them() {
    let mut random = Random(11);
    let others: Vec<Cells> =
        puzzles().into_iter().filter(|p| Grid::from_digits(Order::NINE, p).keeps_rules()).collect();
    let full = grid("534678912672195348198342567859761423426853791713924856961537284287419635345286179");
    let easy: Vec<Cells> = (0..600)
        .map(|seed| {
            let mut puzzle = cells(&disguise(&full, seed));
            (0..50).for_each(|_| puzzle[random.below(81)] = 0);
            puzzle
        })
        .collect();
    for backend in backends() {
        let mut solver = Fast::with(backend).solver(Order::NINE);
        for length in [4, 5, 9, 17, 33, 34, 100, 600] {
            for every in [usize::MAX, 20, 6, 2] {
                let chosen = (0..length).map(|index| {
                    let is_other = index % every == every - 1;
                    if is_other { others[random.below(others.len())] } else { easy[index] }
                });
                let list: Vec<Cells> = chosen.collect();
                for (solutions, nodes) in [(1, 1_000_000), (2, 1_000_000), (2, 1), (3, 1_000_000)] {
                    let limit = Limit { nodes, ..up_to(solutions) };
                    let alone = search_in_batches(&mut *solver, &list, 1, &limit);
                    let together = search_in_batches(&mut *solver, &list, length, &limit);
                    for ((puzzle, alone), found) in list.iter().zip(&alone).zip(&together) {
                        let context = format!("{backend}, {length}, {limit:?}: {puzzle:?}");
                        // Lanes that share a puzzle may visit more nodes before they have enough solutions.
                        if solutions > 2 || found.0.stop != Stop::Solutions || alone.0.metrics.nodes == 1 {
                            assert_eq!(found, alone, "{context}");
                        } else {
                            assert_eq!((found.0.solutions, found.0.stop), (alone.0.solutions, alone.0.stop));
                            assert_eq!(found.1, alone.1, "{context}");
                        }
                    }
                }
            }
        }
    }
}

/// Whether the limit is reached before the first solution does not depend on how many lanes take part.
#[test]
fn giving_up_does_not_depend_on_company() {
    let puzzles = puzzles();
    let mut alone = Lanes::new(Backend::best());
    alone.share_puzzles(false);
    let mut shared = Lanes::new(Backend::best());
    for (nodes, solutions) in [(3, 1), (10, 1), (40, 1), (5, 2), (30, 2), (60, 7)] {
        let limit = Limit { nodes, ..up_to(solutions) };
        let together = search(&mut shared, &puzzles, &limit);
        for (puzzle, together) in puzzles.iter().zip(together) {
            let one = std::slice::from_ref(puzzle);
            let by_one_lane = search(&mut alone, one, &limit)[0];
            for (found, solution) in [together, search(&mut shared, one, &limit)[0]] {
                assert_eq!(
                    (found.solutions, found.stop, solution),
                    (by_one_lane.0.solutions, by_one_lane.0.stop, by_one_lane.1),
                    "{nodes} nodes, up to {solutions}: {puzzle:?}"
                );
            }
        }
    }
}

#[test]
fn a_raised_flag_stops_everything() {
    let stop = AtomicBool::new(true);
    for backend in backends() {
        let limit = Limit { cancel: &stop, ..up_to(u64::MAX) };
        for (found, _) in search(&mut Lanes::new(backend), &vec![BLANK; 700], &limit) {
            assert_eq!((found.stop, found.solutions), (Stop::Cancelled, 0));
        }
    }
}

/// A search that would go on for ever ends soon after the flag is raised from another thread.
#[test]
fn a_search_on_hand_is_stopped() {
    for backend in backends() {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                let limit = Limit { solutions: u64::MAX, nodes: u64::MAX, cancel: &stop };
                search(&mut Lanes::new(backend), &[BLANK; 3], &limit)
            });
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            for (found, _) in running.join().unwrap() {
                assert_eq!(found.stop, Stop::Cancelled);
            }
        });
    }
}

/// Whoever words the answers relies on it.
#[test]
fn clues_that_clash_are_found_without_a_guess() {
    let known = puzzles();
    let mut random = Random(17);
    let mut clashing = Vec::new();
    for first in 0..81 {
        for second in first + 1..81 {
            let (row, column) = (first / 9 == second / 9, first % 9 == second % 9);
            let same_box = first / 27 == second / 27 && first % 9 / 3 == second % 9 / 3;
            if row || column || same_box {
                let digit = 1 + u8::try_from(random.below(9)).unwrap();
                for mut puzzle in [BLANK, known[random.below(known.len())]] {
                    (puzzle[first], puzzle[second]) = (digit, digit);
                    clashing.push(puzzle);
                }
            }
        }
    }
    assert_eq!(clashing.len(), 2 * 81 * 20 / 2);
    for backend in backends() {
        for (puzzle, (search, _)) in
            clashing.iter().zip(search(&mut Lanes::new(backend), &clashing, &up_to(2)))
        {
            assert_eq!((search.solutions, search.stop), (0, Stop::Exhausted), "{backend}: {puzzle:?}");
            assert_eq!(search.metrics.guesses, 0, "{backend}: {puzzle:?}");
        }
    }
    for strategy in STRATEGIES.iter().filter(|strategy| strategy.supports(Order::NINE)) {
        let mut batch = Batch::new(Order::NINE);
        for puzzle in &clashing {
            batch.push(&Grid::from_digits(Order::NINE, puzzle));
        }
        strategy.solver(Order::NINE).search_batch(&mut batch, &up_to(2));
        for search in batch.searches() {
            assert_eq!((search.solutions, search.metrics.guesses), (0, 0), "{}", strategy.name());
        }
    }
}

#[test]
fn no_puzzles_are_no_work() {
    for backend in backends() {
        let mut lanes = Lanes::new(backend);
        assert!(search(&mut lanes, &[], &up_to(1)).is_empty());
        assert_eq!(lanes.stats().passes, 0);
        assert_eq!(lanes.backend(), backend);
    }
}

#[test]
fn back_ends_have_names() {
    for (name, backend) in Backend::ALL {
        assert_eq!(backend.to_string(), name);
        match name.parse::<Backend>() {
            Ok(parsed) => assert!(parsed == backend && backend.is_available()),
            Err(error) => assert!(error == NoBackend::Unavailable(backend) && !backend.is_available()),
        }
    }
    assert_eq!("abacus".parse::<Backend>(), Err(NoBackend::Unknown("abacus".to_owned())));
    assert!(Backend::best().is_available());
}

/// A batch is answered as its puzzles are one by one, by every strategy and for few and for many.
#[test]
fn batches_are_answered_like_single_puzzles() {
    let puzzles = puzzles();
    for strategy in STRATEGIES.iter().copied().filter(|s| s.supports(Order::NINE)) {
        let mut solver = strategy.solver(Order::NINE);
        let mut batch = Batch::new(Order::NINE);
        let nodes = if strategy.name() == "backtracking" { 20_000 } else { 1_000_000 };
        for (size, nodes) in [(1, nodes), (7, 20), (7, nodes), (puzzles.len(), 20), (puzzles.len(), nodes)] {
            let limit = Limit { nodes, ..up_to(1) };
            for puzzles in puzzles.chunks(size).take(20) {
                batch.clear();
                for puzzle in puzzles {
                    batch.push(&Grid::from_digits(Order::NINE, puzzle));
                }
                solver.search_batch(&mut batch, &limit);
                assert_eq!(batch.len(), puzzles.len());
                for (index, puzzle) in puzzles.iter().enumerate() {
                    let puzzle = Grid::from_digits(Order::NINE, puzzle);
                    let mut solution = Grid::empty(Order::NINE);
                    let single = if puzzle.keeps_rules() {
                        solver.search(&puzzle, &limit, &mut solution)
                    } else {
                        Search::NO_SOLUTION
                    };
                    let found = batch.searches()[index];
                    let context = format!("{}, {size} at a time, {nodes} nodes: {puzzle:?}", strategy.name());
                    assert_eq!((found.solutions, found.stop), (single.solutions, single.stop), "{context}");
                    assert_eq!(batch.puzzle(index), puzzle.digits());
                    if found.solutions > 0 {
                        assert_eq!(batch.solution(index), solution.digits(), "{context}");
                    }
                }
            }
        }
    }
}

/// The large lists, whole, on every back end: the same nodes, and every solution verified.
#[test]
fn large_lists_are_the_same_on_every_back_end() {
    for (list, solutions) in [
        ("17clue.txt", 1),
        ("hard_10k.txt", 1),
        ("top1465.txt", 1),
        ("unbiased_50k.txt", 1),
        ("easy_100k.txt", 1),
        ("kaggle_100k.txt", 1),
        ("no_solution_5k.txt", 0),
        ("many_solutions_5k.txt", 2),
    ] {
        let Some(path) = large_list(list) else { continue };
        let text = std::fs::read_to_string(path).unwrap();
        let puzzles: Vec<Cells> = text.lines().step_by(17).map(|line| cells(&grid(line))).collect();
        let expected = search(&mut Lanes::new(Backend::best()), &puzzles, &up_to(2));
        assert!(expected.iter().all(|(found, _)| found.solutions == solutions), "{list}");
        for backend in backends() {
            for ((found, solution), (expected, first)) in
                search(&mut Lanes::new(backend), &puzzles, &up_to(2)).iter().zip(&expected)
            {
                assert_eq!(found.solutions, expected.solutions, "{list}");
                if found.stop == Stop::Exhausted {
                    assert_eq!((found.metrics, solution), (expected.metrics, first), "{list}");
                }
            }
        }
    }
}
