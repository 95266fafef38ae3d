//! Puzzle making: what is made is checked by solvers and by `Grid`, never by what made it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;

use crate::harness::{self, SUDOKU, grid, stderr, stdout, succeeded, sudoku, text};
use sudoku_stream::generate::{
    self, ClueRange, Constraints, Difficulty, Generator, Grids, Kind, Puzzle, Recipe, Symmetry,
};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::{Backtracking, Limit, Propagation, Solver, Stop, Strategy, default_strategy};
use sudoku_stream::techniques::{self, Score};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn recipe(order: usize, constraints: Constraints) -> Recipe {
    Recipe { order: Order::new(order).unwrap(), kind: Kind::Puzzle(constraints), attempts: 1000 }
}

/// The same with a range of clues, as it is typed.
fn recipe_in(order: usize, clues: &str, constraints: Constraints) -> Recipe {
    let kind = Kind::PuzzleInRange { clues: clues.parse().unwrap(), constraints };
    Recipe { kind, ..recipe(order, Constraints::default()) }
}

fn made(recipe: Recipe, seed: u64, count: usize) -> Vec<Puzzle> {
    let made = Generator::new(recipe, seed).unwrap().make(0, count, &GO_ON).unwrap();
    made.into_iter().map(|made| made.expect("no attempt fails so often")).collect()
}

/// Counts solutions up to two.
fn solutions(solver: &mut dyn Solver, puzzle: &Grid) -> u64 {
    let limit = Limit { solutions: 2, nodes: 1_000_000, cancel: &GO_ON };
    let search = solver.search(puzzle, &limit, &mut Grid::empty(puzzle.order()));
    assert_ne!(search.stop, Stop::Nodes, "{puzzle:?}");
    search.solutions
}

/// There is one solution, and it is the one that came with the puzzle.
#[track_caller]
fn assert_unique(puzzle: &Puzzle) {
    let clues = &puzzle.clues;
    assert!(puzzle.solution.as_ref().is_some_and(|solution| solution.solves(clues)), "{clues:?}");
    assert_eq!(solutions(&mut *Propagation.solver(clues.order()), clues), 1, "{clues:?}");
}

/// Taking any of these sets of cells away brings in a second solution.
#[track_caller]
fn assert_minimal(puzzle: &Grid, orbits: &[Vec<usize>]) {
    let mut solver = Propagation.solver(puzzle.order());
    for orbit in orbits.iter().filter(|orbit| puzzle.digits()[orbit[0]] != 0) {
        let mut fewer = puzzle.clone();
        for &cell in orbit {
            fewer.digits_mut()[cell] = 0;
        }
        assert_eq!(solutions(&mut *solver, &fewer), 2, "{puzzle:?} can spare {orbit:?}");
    }
}

#[test]
fn puzzles_of_all_sizes_have_one_solution_and_those_up_to_9x9_are_minimal() {
    for (order, count) in [(1, 3), (2, 40), (3, 300), (4, 3), (5, 1)] {
        let order = Order::new(order).unwrap();
        let puzzles = made(recipe(order.box_side(), Constraints::default()), 1, count);
        for puzzle in &puzzles {
            assert_unique(puzzle);
            assert!(puzzle.clues.filled() < order.cells());
            if order.side() <= 9 {
                assert_minimal(&puzzle.clues, &Symmetry::None.orbits(order));
            }
        }
        let distinct: BTreeSet<String> = puzzles.iter().map(|puzzle| text(&puzzle.clues)).collect();
        assert!(order.side() < 9 || distinct.len() == count, "{order}");
    }
}

/// A few, because the plain backtracker takes its time.
#[test]
fn the_plain_backtracker_agrees() {
    let mut oracle = Backtracking.solver(Order::NINE);
    let constraints = Constraints { clues: Some(30), ..Constraints::default() };
    for puzzle in made(recipe(3, constraints), 2, 20) {
        assert_eq!(puzzle.clues.filled(), 30);
        assert_eq!(solutions(&mut *oracle, &puzzle.clues), 1);
    }
}

#[test]
fn a_puzzle_depends_on_its_seed_and_number_alone() {
    let generator = |seed| Generator::new(recipe(3, Constraints::default()), seed).unwrap();
    let together = generator(9).make(0, 3000, &GO_ON).unwrap();
    for (first, count) in [(0, 1), (1, 20), (40, 31), (71, 33), (2900, 100)] {
        let apart = generator(9).make(first, count, &GO_ON).unwrap();
        assert_eq!(apart, together[usize::try_from(first).unwrap()..][..count], "{count} from {first} on");
    }
    assert_ne!(generator(10).make(0, 1, &GO_ON).unwrap(), together[..1]);
    let far = generator(9).make(u64::MAX - 2, 2, &GO_ON).unwrap();
    assert!(far.iter().all(|puzzle| !together.contains(puzzle)));
}

/// A change of this test's answer changes what users get for the seeds they have written down.
#[test]
fn seeds_mean_what_they_meant() {
    let puzzle = |order, seed| text(&made(recipe(order, Constraints::default()), seed, 1)[0].clues);
    assert_eq!(puzzle(2, 1), SEEDED_4X4);
    assert_eq!(puzzle(3, 1), SEEDED_9X9);
    for (clues, expected) in SEEDED_CLUES {
        let exact = Constraints { clues: Some(clues), ..Constraints::default() };
        assert_eq!(text(&made(recipe(3, exact), 1, 1)[0].clues), expected);
        let range = recipe_in(3, &clues.to_string(), Constraints::default());
        assert_eq!(text(&made(range, 1, 1)[0].clues), expected);
    }
}

const SEEDED_4X4: &str = ".14.....3..2....";
const SEEDED_9X9: &str = ".9....35.6...2.....5..916.......2.....5.4..32.1.3...7......9.6.3.9..8..7...76....";
const SEEDED_CLUES: [(usize, &str); 2] = [
    (20, ".91...3..6.....4.....4.1..8...........59....2..23...7........6.3..1.8.......6..9."),
    (28, ".92...35.6...2.....5..916.......2.....5.4..322163...7......9.6.3.9..8..7...76...."),
];

#[test]
fn clues_stand_in_their_pattern_and_are_minimal_in_it() {
    for (order, count) in [(2, 10), (3, 40), (4, 1)] {
        for (name, symmetry) in Symmetry::ALL {
            let order = Order::new(order).unwrap();
            let orbits = symmetry.orbits(order);
            let constraints = Constraints { symmetry, minimal: order.side() <= 9, ..Constraints::default() };
            for puzzle in made(recipe(order.box_side(), constraints), 3, count) {
                assert_unique(&puzzle);
                for orbit in &orbits {
                    let filled = orbit.iter().filter(|&&cell| puzzle.clues.digits()[cell] != 0).count();
                    assert!(filled == 0 || filled == orbit.len(), "{name}: {:?}", puzzle.clues);
                }
                if order.side() <= 9 {
                    assert_minimal(&puzzle.clues, &orbits);
                }
            }
        }
    }
}

#[test]
fn the_number_of_clues_is_what_was_asked_for() {
    for (order, clues, minimal, symmetry, count) in [
        (1, 0, false, Symmetry::None, 1),
        (1, 1, false, Symmetry::None, 1),
        (2, 4, true, Symmetry::None, 5),
        (2, 7, false, Symmetry::None, 5),
        (3, 22, false, Symmetry::None, 3),
        (3, 24, true, Symmetry::None, 20),
        (3, 26, true, Symmetry::Rotational, 5),
        (3, 33, false, Symmetry::Rotational, 20),
        (3, 32, false, Symmetry::Full, 20),
        (3, 81, false, Symmetry::None, 2),
        (4, 130, false, Symmetry::Diagonal, 2),
        (5, 350, false, Symmetry::None, 1),
    ] {
        let constraints = Constraints { clues: Some(clues), minimal, symmetry, ..Constraints::default() };
        for puzzle in made(recipe(order, constraints), 4, count) {
            assert_unique(&puzzle);
            assert_eq!(puzzle.clues.filled(), clues);
            if minimal {
                assert_minimal(&puzzle.clues, &symmetry.orbits(puzzle.clues.order()));
            }
        }
    }
}

#[test]
fn the_clues_of_a_range_lie_in_it_and_vary() {
    for (order, clues, minimal, symmetry, count) in [
        (1, "0..1", false, Symmetry::None, 2),
        (2, "5..7", false, Symmetry::None, 20),
        (3, "17..24", false, Symmetry::None, 20),
        (3, "..24", false, Symmetry::None, 20),
        (3, "17..", false, Symmetry::None, 20),
        (3, "19..21", false, Symmetry::None, 2),
        (3, "24..25", true, Symmetry::None, 10),
        (3, "30..40", false, Symmetry::Rotational90, 20),
        (4, "120..140", false, Symmetry::None, 2),
    ] {
        let range: ClueRange = clues.parse().unwrap();
        let constraints = Constraints { minimal, symmetry, ..Constraints::default() };
        for puzzle in made(recipe_in(order, clues, constraints), 4, count) {
            assert_unique(&puzzle);
            assert!(range.contains(puzzle.clues.filled()), "{clues}: {:?}", puzzle.clues);
            if minimal {
                assert_minimal(&puzzle.clues, &symmetry.orbits(puzzle.clues.order()));
            }
        }
    }
    let numbers = |clues| -> BTreeSet<usize> {
        let puzzles = made(recipe_in(3, clues, Constraints::default()), 4, 200);
        puzzles.iter().map(|puzzle| puzzle.clues.filled()).collect()
    };
    assert_eq!(numbers("28..32"), (28..=32).collect());
    // An open range is met as soon as removals are at its end.
    assert_eq!(numbers("30.."), BTreeSet::from([30]));
}

#[test]
fn few_clues_are_walked_to() {
    for (clues, minimal, count) in [(21, false, 2), (20, true, 2), (19, false, 1)] {
        let constraints = Constraints { clues: Some(clues), minimal, ..Constraints::default() };
        for puzzle in made(recipe(3, constraints), 5, count) {
            assert_unique(&puzzle);
            assert_eq!(puzzle.clues.filled(), clues);
            if minimal {
                assert_minimal(&puzzle.clues, &Symmetry::None.orbits(Order::NINE));
            }
        }
    }
}

/// By the rating of the hardest step and the guesses of `propagation`, and for easy ones by filling in
/// what has one place, the slow way.
#[test]
fn difficulty_is_what_was_asked_for() {
    let guesses = |puzzle: &Grid| {
        let limit = Limit { solutions: 2, nodes: 100_000, cancel: &GO_ON };
        Propagation.solver(puzzle.order()).search(puzzle, &limit, &mut puzzle.clone()).metrics.guesses
    };
    for (order, minimal) in [(3, false), (3, true), (4, false)] {
        for difficulty in [
            Difficulty::Easy,
            Difficulty::Medium,
            Difficulty::Hard,
            Difficulty::Guesses(0..=0),
            Difficulty::Guesses(2..=4),
        ] {
            let constraints =
                Constraints { difficulty: difficulty.clone(), minimal, ..Constraints::default() };
            for puzzle in made(recipe(order, constraints), 6, if order == 3 { 12 } else { 1 }) {
                assert_unique(&puzzle);
                let (by_singles, guesses) = (singles_solve(&puzzle.clues), guesses(&puzzle.clues));
                let options =
                    techniques::Options { up_to: Some(Score::from_tenths(29)), ..Default::default() };
                let rated = techniques::Rater::default().rate(&puzzle.clues, &options);
                let is_right = match &difficulty {
                    Difficulty::Any => true,
                    Difficulty::Easy => by_singles && rated.er <= Some(Score::from_tenths(23)),
                    Difficulty::Medium => rated.is_complete() && rated.er >= Some(Score::from_tenths(24)),
                    Difficulty::Hard => guesses > 0 && !rated.is_complete(),
                    Difficulty::Guesses(range) => range.contains(&guesses),
                };
                assert!(is_right, "{difficulty:?}: {:?} {by_singles} {guesses}", puzzle.clues);
                if minimal {
                    assert_minimal(&puzzle.clues, &Symmetry::None.orbits(puzzle.clues.order()));
                }
            }
        }
    }
}

fn singles_solve(puzzle: &Grid) -> bool {
    let order = puzzle.order();
    let mut grid = puzzle.clone();
    loop {
        let blank = |grid: &Grid, cell| grid.get(cell).is_none();
        let naked = order.all_cells().find_map(|cell| {
            let candidates = grid.candidates(cell);
            (blank(&grid, cell) && candidates.len() == 1).then(|| (cell, candidates.iter().next().unwrap()))
        });
        let hidden = || {
            order.houses().find_map(|house| {
                (1..=order.side()).find_map(|value| {
                    let digit = order.digit(value).unwrap();
                    let mut places = house
                        .cells(order)
                        .filter(|&cell| blank(&grid, cell) && grid.candidates(cell).contains(digit));
                    places.next().filter(|_| places.next().is_none()).map(|cell| (cell, digit))
                })
            })
        };
        match naked.or_else(hidden) {
            Some((cell, digit)) => grid.set(cell, Some(digit)),
            None => return grid.is_solved(),
        }
    }
}

#[test]
fn both_sources_of_grids_give_variety() {
    for grids in [Grids::Random, Grids::Shuffled] {
        let constraints = Constraints { grids, clues: Some(81), ..Constraints::default() };
        let all = made(recipe(3, constraints), 7, 900);
        let distinct: BTreeSet<String> = all.iter().map(|puzzle| text(&puzzle.clues)).collect();
        assert_eq!(distinct.len(), all.len());
        // Each digit stands in each cell about one time in nine; 55 times of 900 would be five deviations too few.
        for cell in 0..81 {
            for digit in 1..=9 {
                let count = all.iter().filter(|puzzle| puzzle.clues.digits()[cell] == digit).count();
                assert!((55..=145).contains(&count), "{digit} stands {count} times in cell {cell}");
            }
        }
    }
    // 4x4 grids are few, and random ones must come to all of them.
    let constraints = Constraints { clues: Some(16), ..Constraints::default() };
    let all = made(recipe(2, constraints), 8, 5000);
    let distinct: BTreeSet<String> = all.iter().map(|puzzle| text(&puzzle.clues)).collect();
    assert_eq!(distinct.len(), 288);
}

#[test]
fn random_clues_keep_the_rules_and_promise_nothing() {
    let mut seen = BTreeSet::new();
    for (order, clues) in [(1, 1), (2, 0), (2, 7), (3, 25), (3, 50), (4, 100), (5, 300)] {
        let order = Order::new(order).unwrap();
        let recipe = Recipe { order, kind: Kind::RandomClues(clues), attempts: 1000 };
        for puzzle in made(recipe, 9, 10) {
            assert!(puzzle.clues.keeps_rules());
            assert_eq!(puzzle.clues.filled(), clues);
            assert_eq!(puzzle.solution, None);
            if order == Order::NINE {
                seen.insert(solutions(&mut *default_strategy(order).solver(order), &puzzle.clues));
            }
        }
    }
    assert!(seen.contains(&0) && seen.contains(&2), "{seen:?}");
}

#[test]
fn what_cannot_be_had_is_refused_or_given_up() {
    let refusal = |recipe: Recipe| Generator::new(recipe, 1).unwrap_err().to_string();
    let clues = |clues| Constraints { clues: Some(clues), ..Constraints::default() };
    assert_eq!(
        refusal(recipe(3, clues(16))),
        "No 9x9 puzzle with fewer than 17 clues has a single solution."
    );
    assert_eq!(
        refusal(recipe(5, clues(23))),
        "No 25x25 puzzle with fewer than 24 clues has a single solution."
    );
    assert_eq!(refusal(recipe(1, clues(2))), "A 1x1 puzzle has 1 cell, so it cannot have 2 clues.");
    assert_eq!(refusal(recipe(2, clues(17))), "A 4x4 puzzle has 16 cells, so it cannot have 17 clues.");
    for (range, sentence) in [
        ("..16", "No 9x9 puzzle with fewer than 17 clues has a single solution."),
        ("30..82", "A 9x9 puzzle has 81 cells, so it cannot have 82 clues."),
        ("82..", "A 9x9 puzzle has 81 cells, so it cannot have 82 clues."),
    ] {
        assert_eq!(refusal(recipe_in(3, range, Constraints::default())), sentence);
    }
    let quarters = Constraints { symmetry: Symmetry::Rotational90, ..Constraints::default() };
    assert_eq!(
        refusal(recipe_in(3, "22..23", quarters.clone())),
        "No 9x9 pattern of the symmetry rotational90 has 22..23 clues."
    );
    assert!(Generator::new(recipe_in(3, "22..24", quarters), 1).is_ok());
    let odd = Constraints { symmetry: Symmetry::Rotational, ..clues(101) };
    assert_eq!(refusal(recipe(4, odd)), "No 16x16 pattern of the symmetry rotational has 101 clues.");
    let rated = |text: &str| {
        let rating = Some(generate::ratings(text).unwrap());
        recipe(3, Constraints { rating, difficulty: Difficulty::Easy, ..Constraints::default() })
    };
    assert_eq!(
        refusal(rated("7.0..")),
        "Puzzles that are easy have a rating of at most 2.3, so none has one of at least 7.0."
    );
    for (range, words) in
        [("..3.2", "of at most 3.2"), ("2.3..", "of at least 2.3"), ("2.0..2.3", "of 2.0 to 2.3")]
    {
        let recipe = rated(range);
        assert!(Generator::new(recipe.clone(), 1).is_ok(), "{range}");
        assert_eq!(recipe.to_string(), format!("easy 9x9 puzzle with a rating {words}"));
    }
    let none = Recipe { attempts: 0, ..recipe(3, clues(30)) };
    assert_eq!(refusal(none), "A puzzle takes at least one attempt.");

    let full = Recipe { attempts: 5, ..recipe(3, Constraints { minimal: true, ..clues(81) }) };
    let made = Generator::new(full, 1).unwrap().make(0, 3, &GO_ON).unwrap();
    assert!(made.iter().all(Result::is_err));
    let crowded = Recipe { order: Order::NINE, kind: Kind::RandomClues(80), attempts: 5 };
    assert!(Generator::new(crowded, 1).unwrap().make(0, 1, &GO_ON).unwrap()[0].is_err());
}

#[test]
fn recipes_say_what_they_are_for() {
    let constraints = |clues, minimal, symmetry, difficulty| {
        recipe(3, Constraints { clues, minimal, symmetry, difficulty, ..Constraints::default() }).to_string()
    };
    let named = [
        (constraints(None, false, Symmetry::None, Difficulty::Any), "9x9 puzzle"),
        (constraints(Some(17), false, Symmetry::None, Difficulty::Any), "9x9 puzzle with 17 clues"),
        (
            constraints(Some(24), true, Symmetry::Full, Difficulty::Hard),
            "minimal hard 9x9 puzzle with 24 clues and the symmetry full",
        ),
        (
            constraints(Some(30), false, Symmetry::Diagonal, Difficulty::Guesses(2..=u64::MAX)),
            "9x9 puzzle with 30 clues, the symmetry diagonal and 2.. guesses",
        ),
    ];
    for (said, wanted) in named {
        assert_eq!(said, wanted);
    }
    let range = |clues| recipe_in(3, clues, Constraints::default()).to_string();
    assert_eq!(range("17..24"), "9x9 puzzle with 17..24 clues");
    assert_eq!(range("..24"), "9x9 puzzle with ..24 clues");
    let board = Recipe { order: Order::ALL[0], kind: Kind::RandomClues(1), attempts: 1 };
    assert_eq!(board.to_string(), "1x1 board with 1 random clue");
}

#[test]
fn making_stops_when_it_is_told_to() {
    let stop = AtomicBool::new(true);
    let constraints = Constraints { clues: Some(17), ..Constraints::default() };
    for order in [3, 5] {
        let generator = Generator::new(recipe(order, Constraints::default()), 1).unwrap();
        assert!(generator.make(0, 100, &stop).is_err());
    }
    assert!(Generator::new(recipe(3, constraints), 1).unwrap().make(0, 1, &stop).is_err());
}

fn generate(args: &[&str]) -> Output {
    sudoku(&[&["generate"], args].concat()).output().unwrap()
}

/// Has a text solved from a pipe.
fn solve(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(SUDOKU)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_generate_writes_solve_reads() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("1", "3", &["lines", "grid", "csv"]),
        ("2", "17", &["lines", "header", "grid", "csv"]),
        ("2", "1", &["lines", "header", "grid", "csv", "triples"]),
        ("3", "30", &["lines", "header", "grid", "csv"]),
        ("3", "1", &["triples"]),
        ("4", "2", &["lines", "grid", "csv"]),
        ("4", "1", &["lines", "grid", "csv", "triples"]),
        ("5", "1", &["lines", "grid", "csv", "triples"]),
    ];
    for (order, count, notations) in cases {
        let base = ["--order", order, "--count", count, "--seed", "11", "--notation"];
        let puzzles = stdout(&generate(&[&base[..], &["lines"]].concat()));
        for notation in *notations {
            let written = generate(&[&base[..], &[notation]].concat());
            succeeded(&written);
            let valid = solve(&["validate", "-"], &written.stdout);
            succeeded(&valid);
            let solved = solve(&["solve", "-", "--question", "unique"], &written.stdout);
            succeeded(&solved);
            let answers = stdout(&solved);
            assert_eq!(answers.lines().count().to_string(), *count, "order {order}, {notation}");
            for (puzzle, answer) in puzzles.lines().zip(answers.lines()) {
                assert!(grid(answer).solves(&grid(puzzle)), "order {order}, {notation}: {puzzle} {answer}");
            }
            if *notation == "csv" {
                let both: Vec<String> =
                    puzzles.lines().zip(answers.lines()).map(|(p, a)| format!("{p},{a}\n")).collect();
                assert_eq!(stdout(&written), format!("puzzle,solution\n{}", both.concat()));
            }
        }
    }
    for alphabet in ["ascii", "alpha", "hex", "qwertzuiopasdfgh"] {
        let written = generate(&["--size", "16", "--alphabet", alphabet, "--seed", "12"]);
        succeeded(&written);
        let solved = solve(&["solve", "-", "--alphabet", alphabet, "--question", "unique"], &written.stdout);
        succeeded(&solved);
        assert!(!stdout(&solved).contains("error"), "{}", stdout(&solved));
    }
}

/// What `hex` means by a 0 is a blank elsewhere, so that nothing is solved before it is said.
#[test]
fn what_generate_writes_in_hex_is_not_read_as_something_else() {
    for notation in ["lines", "grid", "csv"] {
        let base = ["--size", "16", "--seed", "12", "--notation", notation];
        let written = generate(&[&base[..], &["--alphabet", "hex"]].concat());
        succeeded(&written);
        for command in ["solve", "validate", "count", "check"] {
            let refused = solve(&[command, "-"], &written.stdout);
            assert_eq!(
                (refused.status.code(), stdout(&refused).as_str()),
                (Some(2), ""),
                "{command} {notation}"
            );
            assert_eq!(
                stderr(&refused),
                "The text fits the alphabets hex and letters, which read its 0 differently: as the value 1, or as \
                 a blank. Say which with --alphabet hex or --alphabet letters.\n"
            );
        }
        let told = solve(&["solve", "-", "--question", "unique", "--alphabet", "hex"], &written.stdout);
        succeeded(&told);
        // The same puzzle in letters has the same solution.
        let written = generate(&base);
        let solved = solve(&["solve", "-", "--question", "unique"], &written.stdout);
        succeeded(&solved);
        let value = |symbols: &str, c: char| symbols.find(c);
        let values = |text: String, symbols| text.chars().map(|c| value(symbols, c)).collect::<Vec<_>>();
        assert_eq!(values(stdout(&told), "0123456789ABCDEF"), values(stdout(&solved), "123456789ABCDEFG"));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    for constraints in
        [&["--count", "2500"][..], &["--count", "9", "--clues", "21"], &["--count", "7", "--size", "16"]]
    {
        let run = |threads, seed| {
            let output = generate(&[constraints, &["--threads", threads, "--seed", seed]].concat());
            succeeded(&output);
            output.stdout
        };
        let once = run("1", "13");
        for threads in ["1", "2", "3"] {
            assert!(run(threads, "13") == once, "{constraints:?} on {threads} threads");
        }
        assert!(run("2", "14") != once);
    }
}

#[test]
fn a_seed_that_was_not_given_is_printed_and_repeats_the_run() {
    let first = generate(&["--count", "5"]);
    succeeded(&first);
    let summary = stderr(&first);
    assert!(summary.starts_with("5 puzzles in "), "{summary}");
    let seed = summary.trim_end().trim_end_matches('.').rsplit(' ').next().unwrap();
    assert_eq!(generate(&["--count", "5", "--seed", seed]).stdout, first.stdout);
    assert_ne!(generate(&["--count", "5"]).stdout, first.stdout);
    assert_eq!(stderr(&generate(&["--quiet"])), "");
}

#[test]
fn out_is_whole_or_absent() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("p.txt");
    let path = out.to_str().unwrap();
    let written = generate(&["--count", "1000", "--seed", "15", "-o", path]);
    succeeded(&written);
    assert!(written.stdout.is_empty());
    let puzzles = fs::read_to_string(&out).unwrap();
    assert_eq!(puzzles, stdout(&generate(&["--count", "1000", "--seed", "15"])));
    let solved = sudoku(&["solve", path, "--question", "unique"]).output().unwrap();
    succeeded(&solved);
    assert!(stderr(&solved).contains(": 1,000 answered."), "{}", stderr(&solved));

    fs::remove_file(&out).unwrap();
    let hopeless = generate(&["--clues", "81", "--minimal", "--attempts", "7", "-o", path]);
    assert_eq!(hopeless.status.code(), Some(1));
    assert_eq!(
        stderr(&hopeless),
        "Gave up after 7 attempts: no minimal 9x9 puzzle with 81 clues was found. Try --attempts 1000, or ask \
         for less.\n"
    );
    let hopeless = generate(&["--clues", "81", "--guesses", "1", "--attempts", "1"]);
    let said = stderr(&hopeless);
    assert!(
        said.starts_with("Gave up after 1 attempt: no 9x9 puzzle with 81 clues and 1 guess was found."),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Some are found and some are not: what was found is kept, and what was not is said.
#[test]
fn what_was_given_up_is_left_out_and_counted() {
    let args = ["--clues", "23", "--attempts", "3", "--count", "200", "--seed", "16"];
    let output = generate(&args);
    assert_eq!(output.status.code(), Some(1));
    let puzzles = stdout(&output);
    let found = puzzles.lines().count();
    assert!((1..200).contains(&found));
    assert!(puzzles.lines().all(|line| grid(line).filled() == 23));
    let complaint = format!(
        "Gave up on {} of 200 puzzles after 3 attempts each at a 9x9 puzzle with 23 clues. --attempts ",
        200 - found
    );
    let said = stderr(&output);
    let (_, advice) = said.split_once(&complaint).unwrap_or_else(|| panic!("{said}"));
    let advised = advice.strip_suffix(" would probably find them all.\n").unwrap_or_else(|| panic!("{said}"));
    // The advice is followed.
    let output = generate(&["--clues", "23", "--attempts", advised, "--count", "200", "--seed", "16"]);
    succeeded(&output);
    assert_eq!(stdout(&output).lines().count(), 200);
}

#[test]
fn clues_are_a_number_or_a_range() {
    for (clues, range) in [("24", 24..=24), ("17..24", 17..=24), ("..24", 17..=24), ("30..", 30..=30)] {
        let output = generate(&["--clues", clues, "--count", "20", "--seed", "17"]);
        succeeded(&output);
        assert_eq!(stdout(&output).lines().count(), 20);
        assert!(stdout(&output).lines().all(|line| range.contains(&grid(line).filled())), "{clues}");
    }
    for clues in ["24..17", "few", "20,24", ".."] {
        let output = generate(&["--clues", clues]);
        assert_eq!(output.status.code(), Some(2), "{clues}");
        let sentence = format!("`{clues}` is no range of clues. Write 24, 17..24, 24.. or ..24.");
        assert!(stderr(&output).contains(&sentence), "{}", stderr(&output));
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    for (args, sentence) in [
        (&["--clues", "16"][..], "No 9x9 puzzle with fewer than 17 clues has a single solution."),
        (&["--clues", "99"], "A 9x9 puzzle has 81 cells, so it cannot have 99 clues."),
        (&["--random-clues", "82"], "A 9x9 puzzle has 81 cells, so it cannot have 82 clues."),
        (
            &["--clues", "22", "--symmetry", "rotational90"],
            "No 9x9 pattern of the symmetry rotational90 has 22 clues.",
        ),
        (
            &["--notation", "header", "--order", "4"],
            "The notation header is for 4x4 and 9x9 puzzles. Name another.",
        ),
        (
            &["--notation", "triples", "--count", "2"],
            "The notation triples is for one puzzle. Name another, or make one.",
        ),
        (
            &["--notation", "triples", "--size", "1"],
            "The notation triples is for puzzles from 4x4 on. Name another.",
        ),
        (&["--alphabet", "hex", "--size", "25"], "The alphabet hex does not fit 25x25 puzzles."),
    ] {
        let output = generate(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(stderr(&output), format!("{sentence}\n"));
        assert!(output.stdout.is_empty());
    }
    for args in [
        &["--order", "6"][..],
        &["--order", "3", "--size", "9"],
        &["--guesses", "5..2"],
        &["--guesses", "1", "--difficulty", "easy"],
        &["--random-clues", "20", "--clues", "20"],
        &["--random-clues", "20", "--symmetry", "full"],
        &["--count", "0"],
        &["--attempts", "0"],
    ] {
        let output = generate(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    }
}

#[test]
fn triples_that_do_not_show_their_size_come_with_a_word_of_warning() {
    let mut warned = 0;
    for seed in 1..=20 {
        let seed = seed.to_string();
        let args = ["--random-clues", "2", "--notation", "triples", "--size", "16", "--seed", &seed];
        let output = generate(&args);
        succeeded(&output);
        let is_small = stdout(&output).split_whitespace().all(|number| number.parse::<usize>().unwrap() <= 9);
        let warning = "To be read, this puzzle needs --notation triples --size 16.\n";
        assert_eq!(stderr(&output).ends_with(warning), is_small, "{}", stdout(&output));
        warned += usize::from(is_small);
    }
    assert!((1..20).contains(&warned), "{warned} of 20");
}

#[test]
fn what_is_made_is_read_with_the_flags_that_are_named() {
    let mut named = 0;
    for size in ["4", "9", "16"] {
        for (notation, count) in
            [("lines", "1"), ("lines", "3"), ("grid", "2"), ("cells", "1"), ("cells", "3")]
        {
            for alphabet in ["letters", "ascii", "alpha", "hex"] {
                let made = generate(&[
                    "--random-clues",
                    "8",
                    "-n",
                    count,
                    "--size",
                    size,
                    "--notation",
                    notation,
                    "--alphabet",
                    alphabet,
                    "--seed",
                    "3",
                ]);
                succeeded(&made);
                let said = stderr(&made);
                let flags = said.lines().find_map(|line| line.strip_prefix("To be read, "));
                let flags = flags.and_then(|flags| flags.split_once(" need")).map_or("", |(_, flags)| flags);
                let flags = flags.trim_start_matches('s').trim_end_matches('.').split_whitespace();
                let args: Vec<&str> = ["validate"].into_iter().chain(flags).collect();
                named += usize::from(args.len() > 1);
                let read = harness::feed(&mut sudoku(&args), &made.stdout);
                let case = format!("{size} {notation} {count} {alphabet} {args:?}: {}", stderr(&read));
                assert_eq!(read.status.code(), Some(0), "{case}");
                if (notation, alphabet) == ("cells", "alpha") {
                    assert_eq!(args[1..], ["--alphabet", "alpha"], "{case}");
                } else if alphabet == "letters" {
                    assert_eq!(args.len(), 1, "{case}");
                }
            }
        }
    }
    assert!(named > 9, "{named}");
}

#[test]
fn distinct_puzzles_are_made_on_any_number_of_threads_or_given_up() {
    let made = |more: &[&str]| {
        let size = ["--size", "4", "-n", "3000", "--seed", "5"];
        stdout(&generate(&[&size[..], more].concat()))
    };
    let all = made(&[]);
    let distinct = made(&["--distinct", "--threads", "1"]);
    let lines: BTreeSet<&str> = distinct.lines().collect();
    assert_eq!((lines.len(), distinct.lines().count()), (3000, 3000));
    assert!(all.lines().collect::<BTreeSet<_>>().len() < 3000, "the test needs repeats");
    assert_eq!(made(&["--distinct", "--threads", "3"]), distinct);
    // Only repeats are left out, and the puzzles that come for them are at the end.
    let kept: Vec<&str> = {
        let mut seen = BTreeSet::new();
        all.lines().filter(|line| seen.insert(*line)).collect()
    };
    assert!(distinct.lines().zip(&kept).all(|(line, kept)| line == *kept));

    // There are 4 values in 16 cells.
    let few = generate(&["--size", "4", "--random-clues", "1", "-n", "100", "--distinct"]);
    assert_eq!(stdout(&few).lines().collect::<BTreeSet<_>>().len(), 64);
    assert_eq!((stdout(&few).lines().count(), few.status.code()), (64, Some(1)));
    let sentence = "Gave up on 36 of 100 puzzles: the last 1,000 made had been made before, each a 4x4 board \
                    with 1 random clue.";
    assert!(stderr(&few).contains(sentence), "{}", stderr(&few));
}
