//! `sudoku trace` and `--stats`: what a search does and what it costs, as a user sees it.

use std::io::Read as _;
use std::process::{Output, Stdio};

use crate::harness::{fixture, grid, stderr, stdout, succeeded, sudoku, text};
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::STRATEGIES;

const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
/// Row 1 leaves only 9 for its last cell, which column 9 holds.
const UNSOLVABLE: &str = "12345678.........9...............................................................";

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

/// The cell and the digit in a line such as `Try 4 at (1, 3).`
fn numbers(line: &str) -> Vec<usize> {
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn the_lines_of_a_trace_lead_to_the_solution() {
    for strategy in STRATEGIES {
        let output = run(&["trace", "--puzzle", EASY, "--strategy", strategy.name()]);
        succeeded(&output);
        let said = stdout(&output);
        let mut board = grid(EASY);
        let mut placed = Vec::new();
        for line in said.lines() {
            let at = numbers(line);
            if line.starts_with("Try ") || line.contains(" must stand at ") {
                let cell = board.order().cell(at[1], at[2]).unwrap();
                assert_eq!(board.get(cell), None, "{line}");
                board.set(cell, Some(board.order().digit(at[0]).unwrap()));
                placed.push(cell);
            } else if line.starts_with("Take ") {
                while let Some(last) = placed.pop() {
                    board.set(last, None);
                    if (last.row(), last.column()) == (at[1], at[2]) {
                        break;
                    }
                }
            }
        }
        assert!(board.solves(&grid(EASY)), "{}: {}", strategy.name(), text(&board));
        assert!(
            said.ends_with("Band 3 is complete.\nSolved.\nHurray!\n") || said.ends_with("Solved.\nHurray!\n")
        );
        assert!(!said.contains('\x1b'), "a pipe has no colours");
        assert!(stderr(&output).contains("placements"), "{}", stderr(&output));
    }
}

#[test]
fn every_end_has_its_words() {
    let end = |args: &[&str]| {
        let output = run(&[&["trace", "--quiet"], args].concat());
        succeeded(&output);
        assert_eq!(stderr(&output), "");
        stdout(&output).lines().last().unwrap().to_owned()
    };
    assert_eq!(end(&["--puzzle", EASY]), "Hurray!");
    assert_eq!(end(&["--puzzle", EASY, "--question", "unique"]), "Hurray! It is the only solution.");
    assert_eq!(end(&["--puzzle", UNSOLVABLE, "--strategy", "dancing-links"]), "No solution!");
    assert_eq!(end(&["--puzzle", EASY, "--node-limit", "10"]), "Given up after 10 nodes.");
    assert_eq!(end(&["--puzzle", EASY, "--step-limit", "7"]), "Stopped after 7 steps.");
    let four = "1234............";
    assert_eq!(end(&["--puzzle", four, "--question", "count"]), "Hurray! 12 solutions.");
    assert_eq!(end(&["--puzzle", four, "--question", "unique"]), "Hurray! At least 2 solutions.");
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("two.txt");
    std::fs::write(&list, format!("{UNSOLVABLE}\n{EASY}\n")).unwrap();
    assert_eq!(end(&[list.to_str().unwrap(), "--strategy", "propagation"]), "No solution!");
    assert_eq!(end(&[list.to_str().unwrap(), "--index", "2", "--step-limit", "1"]), "Stopped after 1 step.");
}

#[test]
fn plain_prints_the_grid_for_each_band() {
    let output = run(&["trace", "--plain", "--puzzle", EASY, "--strategy", "propagation"]);
    succeeded(&output);
    let said = stdout(&output);
    let grids: Vec<Grid> = said
        .split("\n\n")
        .filter(|part| part.starts_with("Band "))
        .map(|part| {
            let cells = part.lines().skip(1).flat_map(|line| line.chars());
            grid(&cells.filter(|c| c.is_ascii_digit() || *c == '.').collect::<String>())
        })
        .collect();
    assert_eq!(grids.len(), 3, "{said}");
    assert!(grids[2].solves(&grid(EASY)));
    assert!(grids.windows(2).all(|pair| pair[0].filled() < pair[1].filled()));
    assert!(said.ends_with("\n\nHurray!\n"), "{said}");
}

#[test]
fn what_cannot_be_traced_is_refused_in_words() {
    for (args, words) in [
        (&["--puzzle", "12"][..], "The puzzle has 2 cells; a puzzle has 1, 16, 81, 256 or 625.\n"),
        (&["--puzzle", "11.............."], "The puzzle breaks the rules: 1 appears twice in row 1.\n"),
        (&["--puzzle", ""], "The puzzle is empty.\n"),
        (&["/nowhere/puzzles.txt"], "/nowhere/puzzles.txt: No such file or directory (os error 2)\n"),
        (
            &["--puzzle", "1234............", "--strategy", "fast"],
            "The strategy fast does not solve 4x4 puzzles. Name another.\n",
        ),
    ] {
        let output = run(&[&["trace"], args].concat());
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(2), words));
        assert_eq!(stdout(&output), "");
    }
}

/// A trace of a million nodes into a pipe whose reader has seen enough.
#[test]
fn a_closed_pipe_ends_a_trace() {
    let empty = ".".repeat(625);
    let mut child = sudoku(&["trace", "--puzzle", &empty]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert!(String::from_utf8_lossy(&first).starts_with("Try 1 at (1, 1).\n"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn stats_tell_what_one_puzzle_cost_and_how_costs_are_distributed() {
    let list = fixture("strategies.txt");
    let known = std::fs::read_to_string(&list).unwrap();
    // A puzzle that breaks the rules is not searched, and does not count.
    let puzzles: Vec<&str> = known
        .lines()
        .filter(|line| line.find(' ') == Some(81))
        .map(|line| &line[..81])
        .filter(|puzzle| grid(puzzle).keeps_rules())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, puzzles: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, puzzles.join("\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let one = write("one.txt", &puzzles[..1]);
    let all = write("all.txt", &puzzles);
    let many = write("many.txt", &puzzles.repeat(20));

    let said = stderr(&run(&["solve", &one, "--stats", "--strategy", "fewest-candidates", "--quiet"]));
    for name in ["nodes", "guesses", "backtracks", "depth", "comparisons", "placements", "time"] {
        assert!(said.contains(&format!("{name} ")), "{said}");
    }

    let table = |args: &[&str]| -> Vec<Vec<String>> {
        let said = stderr(&run(&[&["solve", "--stats", "--quiet", "--node-limit", "5000"], args].concat()));
        let row = |line: &str| {
            line.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).map(str::to_owned).collect()
        };
        said.lines().map(row).collect()
    };
    let rows = table(&[&all, "--strategy", "dancing-links"]);
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names[1..], ["nodes", "guesses", "backtracks", "depth", "comparisons", "placements"]);
    let figure = |cell: &str| cell.replace(',', "").parse::<f64>().unwrap();
    for row in rows[1..].iter().filter(|row| row[0] != "depth") {
        assert_eq!(row.len(), 7);
        let [total, mean, median, ninety, ninety_nine, greatest] =
            [1, 2, 3, 4, 5, 6].map(|column| figure(&row[column]));
        assert!(
            median <= ninety && ninety <= ninety_nine && ninety_nine <= greatest && greatest <= total * 1.001
        );
        assert!((mean * puzzles.len() as f64 - total).abs() <= 0.01 * total + 1.0, "{row:?}");
    }
    // One option tried is one digit placed.
    assert_eq!(rows[1][1..], rows[6][1..]);

    // The kernel counts neither, where there are enough puzzles for it.
    let rows = table(&[&many]);
    assert_eq!(
        rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>()[1..],
        ["nodes", "guesses", "backtracks", "depth"]
    );
}
