//! `sudoku solutions`: all solutions of puzzles, in a fixed order.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Output, Stdio};

use crate::harness::{
    self, Folder, Random, disguise, eventually, grid, interrupt_after_first_line, large_list, signal, stderr,
    stdout, succeeded, sudoku, text, unique_puzzles,
};

fn run(args: &[&str]) -> Output {
    sudoku(&[&["solutions"], args].concat()).output().unwrap()
}

fn fed(args: &[&str], input: &str) -> Output {
    harness::feed(&mut sudoku(&[&["solutions"], args].concat()), input.as_bytes())
}

/// What is written for an input, without a summary.
fn listed(args: &[&str], input: &str) -> String {
    let output = fed(&[&["-q"], args].concat(), input);
    succeeded(&output);
    assert_eq!(stderr(&output), "");
    stdout(&output)
}

/// The number of solutions that `sudoku count` finds.
fn count(puzzle: &str) -> usize {
    let args = ["count", "-q", "-n", "1000000", "--size", &side(puzzle).to_string()];
    let output = harness::feed(&mut sudoku(&args), format!("{puzzle}\n").as_bytes());
    succeeded(&output);
    stdout(&output).trim_end().parse().unwrap()
}

fn side(puzzle: &str) -> usize {
    puzzle.len().isqrt()
}

/// Checks a solution by the rules, with code of this file only: every row, column and box has as many
/// characters as cells, none of them a blank, and clues are as they were.
#[track_caller]
fn assert_is_solution(solution: &str, puzzle: &str) {
    let (cells, side) = (solution.as_bytes(), side(puzzle));
    let b = side.isqrt();
    assert_eq!(cells.len(), puzzle.len(), "{solution}");
    let houses: [&dyn Fn(usize) -> usize; 3] =
        [&|at| at / side, &|at| at % side, &|at| at / side / b * b + at % side / b];
    for house_of in houses {
        let seen: BTreeSet<(usize, u8)> =
            cells.iter().enumerate().map(|(at, &cell)| (house_of(at), cell)).collect();
        assert_eq!(seen.len(), cells.len(), "{solution}");
    }
    assert!(!solution.contains('.'));
    let is_kept = |(clue, cell): (u8, u8)| clue == b'.' || clue == cell;
    assert!(puzzle.bytes().zip(solution.bytes()).all(is_kept), "{solution} is no solution of {puzzle}");
}

/// A solved grid from a pattern, without the cells that `is_blank`.
fn puzzle(side: usize, is_blank: impl Fn(usize) -> bool) -> String {
    let b = side.isqrt();
    let digit = |at: usize| {
        let (row, column) = (at / side, at % side);
        let value = (row % b * b + row / b + column) % side;
        char::from(if value < 9 { b'1' + value as u8 } else { b'A' + value as u8 - 9 })
    };
    (0..side * side).map(|at| if is_blank(at) { '.' } else { digit(at) }).collect()
}

/// A puzzle with two solutions.
fn two() -> String {
    puzzle(4, |at| [0, 2, 4, 6].contains(&at))
}

/// Puzzles of all sizes with one solution, several and many.
fn puzzles() -> Vec<String> {
    let mut puzzles = vec![
        puzzle(1, |_| true),
        puzzle(4, |_| true),
        puzzle(4, |at| at % 3 > 0),
        puzzle(4, |_| false),
        puzzle(9, |at| at < 27),
        puzzle(9, |at| at % 9 < 6 && at % 2 == 0),
        puzzle(16, |at| at < 32),
        puzzle(16, |at| at % 16 < 5 && at < 128),
        puzzle(25, |at| at < 30),
        puzzle(25, |at| at % 25 < 2),
    ];
    // The same in disguise, so that nothing depends on the pattern.
    let disguised: Vec<String> =
        puzzles.iter().enumerate().map(|(k, puzzle)| text(&disguise(&grid(puzzle), k as u64))).collect();
    puzzles.extend(disguised);
    puzzles.extend(unique_puzzles(3));
    puzzles
}

#[test]
fn every_solution_is_listed_once_and_as_many_as_count_finds() {
    for puzzle in puzzles() {
        let input = format!("{puzzle}\n");
        let size = side(&puzzle).to_string();
        let all = listed(&["--limit", "all", "--size", &size], &input);
        let distinct: HashSet<&str> = all.lines().collect();
        assert_eq!(all.lines().count(), distinct.len(), "{puzzle}");
        assert_eq!(distinct.len(), count(&puzzle), "{puzzle}");
        for solution in &distinct {
            assert_is_solution(solution, &puzzle);
        }
        // A limit is where the same list ends.
        let first: Vec<&str> = all.lines().take(10).collect();
        assert_eq!(listed(&["--size", &size], &input).lines().collect::<Vec<_>>(), first);
    }
}

#[test]
fn the_solutions_of_a_relabelled_puzzle_are_relabelled() {
    for puzzle in puzzles().into_iter().filter(|puzzle| puzzle.len() > 1) {
        let symbols: Vec<char> = "123456789ABCDEFGHIJKLMNOP".chars().take(side(&puzzle)).collect();
        let labels = Random(7).permutation(symbols.len());
        let relabel = |text: &str| -> String {
            let label =
                |c| symbols.iter().position(|&symbol| symbol == c).map_or(c, |at| symbols[labels[at]]);
            text.chars().map(label).collect()
        };
        let all = |puzzle: &str| listed(&["-n", "all", "--alphabet", "letters"], &format!("{puzzle}\n"));
        let of_relabelled = all(&relabel(&puzzle));
        let relabelled = relabel(&all(&puzzle));
        let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(sorted(&of_relabelled), sorted(&relabelled), "{puzzle}");
    }
}

/// A list with solutions, errors, and all that may stand between them.
fn mixed() -> String {
    let twelve = puzzle(9, |at| at < 27 && at % 3 == 0);
    let mut list = format!("# a comment\n\n{twelve}\n12\n");
    for (k, unique) in unique_puzzles(3_000).iter().enumerate() {
        list += &format!("{unique}\n");
        if k % 50 == 0 {
            list += &format!("{} easy\n{}q\n11{}\n", ".".repeat(81), ".".repeat(80), ".".repeat(79));
        }
    }
    list
}

#[test]
fn threads_pipes_files_and_outputs_give_the_same_bytes() {
    let folder = Folder::new();
    let list = mixed();
    let file = folder.write("list.txt", &list);
    for args in [&[][..], &["-n", "1"], &["-n", "300"], &["-n", "2", "-f", "jsonl"]] {
        let wanted = listed(&[args, &["-j", "1"]].concat(), &list);
        for threads in ["2", "5"] {
            assert!(listed(&[args, &["-j", threads]].concat(), &list) == wanted, "{args:?}");
        }
        let output = run(&[args, &[&file, "-q", "-j", "3"]].concat());
        assert!(stdout(&output) == wanted, "{args:?}");
        succeeded(&run(&[args, &[&file, "-q", "-o", &folder.path("out.txt")]].concat()));
        assert!(folder.read("out.txt") == wanted, "{args:?}");
        assert_eq!(folder.names(), ["list.txt", "out.txt"]);
    }
}

#[test]
fn solutions_stand_together_in_the_order_of_the_input() {
    let list = mixed();
    let written = listed(&["-n", "30"], &list);
    let mut lines = written.lines();
    let answers = sudoku(&["count", "-q", "-n", "31"]);
    let counts = stdout(&harness::feed(&mut { answers }, list.as_bytes()));
    let puzzles = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (puzzle, count) in puzzles.zip(counts.lines()) {
        if count.starts_with("error: ") {
            // The same sentence as that of other commands, with the line.
            assert_eq!(lines.next().unwrap(), count);
            continue;
        }
        let count: usize = count.trim_end_matches('+').parse().unwrap();
        for _ in 0..count.min(30) {
            assert_is_solution(lines.next().unwrap(), &puzzle[..81]);
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn a_table_keeps_its_columns_and_gets_number_solution_and_error() {
    let two = two();
    let solutions = listed(&[], &format!("{two}\n"));
    let [first, second] = solutions.lines().collect::<Vec<_>>()[..] else { panic!("{solutions}") };
    let unsolvable = "123....4........";
    let table = format!("id,puzzle,solution\n7,{two},\"a, b\"\n8,{unsolvable},\n9,123,c\n");
    assert_eq!(
        listed(&["-f", "csv"], &table),
        format!(
            "id,puzzle,solution,number,solution_2,error\n\
             7,{two},\"a, b\",1,{first},\n7,{two},\"a, b\",2,{second},\n\
             8,{unsolvable},,,,no_solution\n9,123,c,,,wrong_length\n"
        )
    );
    let list = format!("{two}\n{unsolvable}\n123\n");
    assert_eq!(
        listed(&["-f", "tsv", "-n", "1"], &list),
        format!(
            "puzzle\tnumber\tsolution\terror\n{two}\t1\t{first}\t\n{unsolvable}\t\t\tno_solution\n\
             \t\t\twrong_length\n"
        )
    );
    let objects: Vec<serde_json::Value> =
        listed(&["-f", "jsonl"], &list).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let wanted = serde_json::json!([
        {"line": 1, "puzzle": two, "number": 1, "solution": first, "error": null},
        {"line": 1, "puzzle": two, "number": 2, "solution": second, "error": null},
        {"line": 2, "puzzle": unsolvable, "number": null, "solution": null, "error": "no_solution"},
        {"line": 3, "puzzle": null, "number": null, "solution": null, "error": "wrong_length"},
    ]);
    assert_eq!(serde_json::Value::from(objects), wanted);
    // As text of the table.
    let plain = format!(
        "{first}\n{second}\nerror: Line 3 has no solution.\n\
         error: Line 4 has the wrong length. It has 3 cells; a 4x4 puzzle has 16.\n"
    );
    assert_eq!(listed(&[], &table), plain);
}

#[test]
fn what_is_said_and_the_exit_code_depend_on_what_was_found() {
    let folder = Folder::new();
    let two = two();
    let said = |args: &[&str]| {
        let output = run(args);
        (output.status.code().unwrap(), stdout(&output).lines().count(), stderr(&output))
    };
    assert_eq!(said(&[&two]), (0, 2, "2 solutions.\n".to_owned()));
    assert_eq!(said(&[&two, "-n", "2"]), (0, 2, "2 solutions.\n".to_owned()));
    let cut = "1 solution, cut off at --limit 1; --limit all lists them all.\n";
    assert_eq!(said(&[&two, "-n", "1"]), (0, 1, cut.to_owned()));
    assert_eq!(said(&[&two, "-q"]), (0, 2, String::new()));
    let output = run(&["123....4........"]);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(1), "error: The puzzle has no solution.\n".into())
    );
    assert_eq!(stderr(&output), "");
    let output = run(&[&two, "11.............."]);
    assert_eq!(output.status.code(), Some(1));
    let error = "error: Argument 2 breaks the rules: 1 appears twice in row 1.";
    assert_eq!(stdout(&output).lines().last(), Some(error));

    let list = folder.write("list.txt", format!("{two}\n................\n12\n"));
    let (code, lines, summary) = said(&[&list]);
    assert_eq!((code, lines), (0, 13));
    assert!(
        summary.starts_with("3 puzzles in ")
            && summary.ends_with(" s: 12 solutions, 1 puzzle cut off at --limit 10, 1 error line.\n"),
        "{summary}"
    );
    assert_eq!(said(&[&list, "--fail-on-error"]).0, 1);
    for (args, sentence) in [
        (&["-n", "0", &two][..], "give a whole number from 1, or `all`"),
        (&["-n", "some", &two], "give a whole number from 1, or `all`"),
        (&[&folder.write("empty.txt", "")], "is empty."),
        (&[&list, &list, "-f", "csv"], "A table is about one input"),
    ] {
        let (code, lines, said) = said(args);
        assert_eq!((code, lines), (2, 0), "{args:?}");
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn a_search_that_is_given_up_says_so_behind_its_solutions() {
    let blank = ".".repeat(81);
    let output = run(&[&blank, "--node-limit", "1000", "-n", "all"]);
    let written = stdout(&output);
    let (solutions, last) = written.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(last, "error: The puzzle was given up after 1000 nodes.");
    let found = solutions.lines().count();
    assert!((100..1_000).contains(&found), "{found}");
    for solution in solutions.lines() {
        assert_is_solution(solution, &blank);
    }
    assert_eq!(stderr(&output), format!("{found} solutions, and then the search was given up.\n"));
    assert_eq!(output.status.code(), Some(1));
    // Those that were asked for are there.
    let most = found.to_string();
    let output = run(&[&blank, "--node-limit", "1000", "-n", &most]);
    assert_eq!((stdout(&output), output.status.code()), (format!("{solutions}\n"), Some(0)));
    assert!(stderr(&output).contains("cut off at --limit"), "{}", stderr(&output));
}

/// Arguments for more solutions than anyone will wait for.
const ENDLESS: [&str; 7] = ["solutions", "-n", "all", "--node-limit", "1000000000000", "-j", "2"];

#[test]
fn endless_solutions_flow_in_order_and_in_bounded_memory() {
    let folder = Folder::new();
    let blank = ".".repeat(625);
    let file = folder.write("blank.txt", format!("{blank}\n"));
    let several = folder.write("several.txt", format!("{blank}\n").repeat(300));
    let first = stdout(&run(&[&blank, "-n", "20000"]));
    assert_eq!(first.lines().count(), 20_000);
    for input in [&blank, &file, &several] {
        let mut child = sudoku(&[&ENDLESS[..], &[input]].concat()).spawn().unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        // It writes no further than somebody reads.
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let mut rest = vec![0; first.len() - line.len()];
        reader.read_exact(&mut rest).unwrap();
        assert!(first == line + str::from_utf8(&rest).unwrap());
        let mut more = vec![0; 20 << 20];
        reader.read_exact(&mut more).unwrap();
        let memory = harness::peak_memory(child.id());
        assert!(memory < 64 << 10, "{memory} KiB");
        // A reader who has seen enough ends it.
        drop(reader);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }
}

#[test]
fn an_interrupt_ends_it_at_once_behind_a_whole_line() {
    let folder = Folder::new();
    let blank = ".".repeat(625);
    let several = folder.write("several.txt", format!("{blank}\n").repeat(300));
    for input in [&blank, &several] {
        let mut child = sudoku(&[&ENDLESS[..], &[input]].concat()).spawn().unwrap();
        let printed = interrupt_after_first_line(&mut child);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(printed.ends_with('\n') && printed.lines().all(|line| line.len() == 625));
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.starts_with("Interrupted. Stopped after ") && said.ends_with(" solutions.\n"), "{said}");
    }
    // A file is complete or absent.
    let out = folder.path("out.txt");
    let mut child = sudoku(&[&ENDLESS[..], &[&blank, "-o", &out]].concat()).spawn().unwrap();
    eventually("a partial file", || {
        fs::metadata(folder.path(".out.txt.sudoku-partial")).is_ok_and(|found| found.len() > 1_000_000)
    });
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(folder.names(), ["several.txt"]);
}

#[test]
fn a_puzzle_typed_into_a_pipe_is_answered_before_the_next_one() {
    let mut child = sudoku(&["solutions", "-q", "--notation", "lines", "--size", "4", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let two = two();
    for _ in 0..3 {
        writeln!(stdin, "{two}").unwrap();
        stdin.flush().unwrap();
        for _ in 0..2 {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            assert_is_solution(line.trim_end(), &two);
        }
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn lists_of_known_counts_have_as_many_solutions() {
    let folder = Folder::new();
    for (name, args) in [("many_solutions_5k.txt", ["-n", "50"]), ("no_solution_5k.txt", ["-n", "50"])] {
        let Some(list) = large_list(name) else { return };
        let list = fs::read_to_string(list).unwrap();
        let list = &folder.write(name, list.lines().take(1_000).collect::<Vec<_>>().join("\n"));
        let counts = sudoku(&["count", "-q", "-n", "50", list]).output().unwrap();
        let rows = stdout(&run(&[&["-q", "-f", "jsonl", list], &args[..]].concat()));
        let mut rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        for count in stdout(&counts).lines() {
            let count: usize = count.trim_end_matches('+').parse().unwrap();
            if count == 0 {
                assert_eq!(rows.next().unwrap()["error"], "no_solution");
            }
            let mut seen = HashSet::new();
            for _ in 0..count {
                let row = rows.next().unwrap();
                let solution = row["solution"].as_str().unwrap().to_owned();
                assert_is_solution(&solution, row["puzzle"].as_str().unwrap());
                assert!(seen.insert(solution), "{row}");
            }
        }
        assert_eq!(rows.next(), None);
    }
}

#[test]
fn candidates_are_the_digits_of_all_solutions() {
    let puzzle = "12......3......4";
    let all = stdout(&run(&["-q", "-n", "all", puzzle]));
    let wanted: String = (0..16)
        .flat_map(|cell| (b'1'..=b'4').map(move |digit| (cell, digit)))
        .map(|(cell, digit)| {
            let has_it = all.lines().any(|solution| solution.as_bytes()[cell] == digit);
            if has_it { char::from(digit) } else { '.' }
        })
        .collect();
    assert!(all.lines().count() > 1 && wanted.replace('.', "").len() > 16, "{wanted}");
    let marks = sudoku(&["candidates", puzzle, "--pencil-marks"]).output().unwrap();
    assert_eq!(stdout(&marks), format!("{wanted}\n"));
    let drawn = sudoku(&["candidates", puzzle]).output().unwrap();
    assert_eq!(stdout(&drawn).lines().filter(|line| line.starts_with('|')).count(), 4, "{}", stdout(&drawn));
    let none = sudoku(&["candidates", "123...4........."]).output().unwrap();
    assert_eq!((none.status.code(), stderr(&none)), (Some(1), "The puzzle has no solution.\n".to_owned()));
    // Others have theirs all the same.
    let second = sudoku(&["candidates", "123...4.........", puzzle]).output().unwrap();
    assert_eq!(
        (second.status.code(), stderr(&second)),
        (Some(1), "Argument 1 has no solution.\n".to_owned())
    );
    assert_eq!(stdout(&second), stdout(&drawn));
}
