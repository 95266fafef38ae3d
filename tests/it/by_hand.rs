//! `sudoku hint`, `rate` and `steps`, and what other commands know of solving by hand.

use std::collections::BTreeMap;
use std::process::Output;

use serde_json::Value;
use sudoku_stream::techniques::{Options, Position, Rater, Technique};

use crate::harness::packed::{Member, bzip2, gzip, xz, zip, zstandard};
use crate::harness::{
    self, Folder, grid, interrupt_after_first_line, large_list, piped, stderr, stdout, succeeded, sudoku,
    unique_puzzles,
};

/// Puzzles whose ER the reference program gives, with their ER, EP and ED.
const RATED: [(&str, &str, &str); 6] = [
    (
        "......5....7...........24..61...7.4.....9..2.2..1...93.3.5.8.....8..37...6.4..9..",
        "1.5/1.2/1.2",
        "hidden single",
    ),
    (
        ".7.....4.4.5....1626..8.53....1..9........4.865.34.1...2........47.1..8.8..7.....",
        "2.3/1.2/1.2",
        "naked single",
    ),
    (
        "................12..3..4..............5.6.7...1.82........9..28..4......3.7..5...",
        "3.0/1.2/1.2",
        "naked pair",
    ),
    (
        "..6...9..5.7.....6.....5.2....74......9.2.8..32.......7.29....88...642...6.8..19.",
        "3.2/1.2/1.2",
        "X-wing",
    ),
    (
        "................12....34.................54.6.23.7.......12...8..9......4.5...6..",
        "4.2/1.2/1.2",
        "XY-wing",
    ),
    (
        "........3.4.62.9.1..289..5........392.7...8...36......1...57...6..312..53.......2",
        "4.5/1.2/1.2",
        "unique rectangle",
    ),
];

const PAIR: &str = RATED[2].0;
const X_WING: &str = RATED[3].0;
const SEVERAL: &str = "12..............";

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

fn fed(args: &[&str], input: &str) -> Output {
    harness::feed(&mut sudoku(args), input.as_bytes())
}

fn said(args: &[&str]) -> String {
    let output = run(args);
    succeeded(&output);
    stdout(&output)
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

#[test]
fn ratings_are_those_of_the_reference() {
    let lines: String = RATED.iter().map(|(puzzle, ..)| format!("{puzzle}\n")).collect();
    let output = fed(&["rate"], &lines);
    succeeded(&output);
    let wanted: String =
        RATED.iter().map(|(_, rating, technique)| format!("{rating} {technique}\n")).collect();
    assert_eq!(stdout(&output), wanted);
    let told = stderr(&output);
    assert!(told.contains("6 puzzles in ") && told.contains("3.0 to 3.9             2   33.33\n"), "{told}");
    assert_eq!(stderr(&fed(&["rate", "--quiet"], &lines)), "");
    // Programs get a line for a single puzzle too.
    let (puzzle, rating, technique) = RATED[0];
    let folder = Folder::new();
    let (file, out) = (folder.write("one.txt", puzzle), folder.path("out.txt"));
    let line = format!("{rating} {technique}\n");
    assert_eq!(said(&["rate", &file]), line);
    assert_eq!(said(&["rate", &file, "-o", &out]), "");
    assert_eq!(folder.read("out.txt"), line);
    assert_eq!(stdout(&fed(&["rate"], puzzle)), line);
    // Typed alone, a puzzle is described, and the library says the same.
    for (puzzle, rating, technique) in RATED {
        let [er, ep, ed] = rating.split('/').collect::<Vec<_>>()[..] else { panic!("{rating}") };
        let alone = said(&["rate", puzzle]);
        assert!(alone.starts_with(&format!("ER {er}, EP {ep}, ED {ed}: {technique}\n")), "{alone}");
        let clues = puzzle.bytes().filter(|&cell| cell != b'.').count();
        assert!(alone.contains(&format!("\n{clues} clues, each of them needed; one solution\n")), "{alone}");
        let found = Rater::default().rate(&grid(puzzle), &Options::default());
        assert_eq!(found.to_string(), format!("{rating} {technique}"));
        let steps: u32 = found.counts().map(|(_, count)| count).sum();
        assert_eq!(steps, found.steps);
    }
}

#[test]
fn a_table_keeps_its_columns_and_gets_those_of_the_rating() {
    let folder = Folder::new();
    let table = folder.write(
        "table.tsv",
        format!("name\tpuzzle\ter\none\t{PAIR}\t3.0\ntwo\t{X_WING}\t3.2\nbad\t{}\t\n", &PAIR[1..]),
    );
    let rows = said(&["rate", &table, "-f", "tsv"]);
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(
        rows[0],
        [
            "name",
            "puzzle",
            "er",
            "verdict",
            "er_2",
            "ep",
            "ed",
            "hardest",
            "steps",
            "techniques",
            "clues",
            "minimal",
            "nodes",
            "guesses"
        ]
    );
    assert_eq!(rows[1][..8], ["one", PAIR, "3.0", "rated", "3.0", "1.2", "1.2", "naked-pair"]);
    assert_eq!(rows[1][10..], ["17", "true", "", ""]);
    let steps: u32 =
        rows[1][9].split(' ').map(|part| part.split_once(':').unwrap().1.parse::<u32>().unwrap()).sum();
    assert_eq!(rows[1][8], steps.to_string());
    assert_eq!(rows[3][3..8], ["wrong_length", "", "", "", ""]);
    assert_eq!(rows.len(), 4);

    // A list gets the puzzle as a column, and as JSON its line.
    let lines = format!("{PAIR}\n{}\n{X_WING}\n", &PAIR[1..]);
    let output = fed(&["rate", "-f", "jsonl", "--up-to", "3.0"], &lines);
    succeeded(&output);
    let objects: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<&str> = objects.iter().map(|object| object["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["rated", "wrong_length", "above"]);
    assert_eq!((&objects[0]["er"], &objects[0]["line"]), (&Value::from(3.0), &Value::from(1)));
    assert_eq!((&objects[1]["er"], &objects[1]["puzzle"]), (&Value::Null, &Value::Null));
    let rows = fed(&["rate", "-f", "csv", "--only", "singles"], &lines);
    let row = stdout(&rows).lines().nth(1).unwrap().to_owned();
    assert!(row.starts_with(&format!("{PAIR},beyond,,,,,,,17,true,")), "{row}");
}

#[test]
fn bad_lines_and_inputs_have_the_words_of_other_commands() {
    let lines = format!("{PAIR}\n12\n{}q\n11{}\n{}\n", &PAIR[..80], &PAIR[2..], ".".repeat(81));
    let output = fed(&["rate"], &lines);
    succeeded(&output);
    let mut wanted = stdout(&fed(&["solve", "--question", "unique"], &lines));
    let solution = wanted.lines().next().unwrap().to_owned();
    wanted = wanted.replacen(&solution, "3.0/1.2/1.2 naked pair", 1);
    assert_eq!(stdout(&output), wanted);
    assert_eq!(code(&fed(&["rate", "--fail-on-error"], &lines)), 1);
    let output = run(&["rate", SEVERAL]);
    assert_eq!(
        (code(&output), stdout(&output)),
        (1, "error: The puzzle has more than one solution.\n".to_owned())
    );
    let output = run(&["rate", PAIR, SEVERAL, X_WING]);
    assert_eq!(code(&output), 1);
    assert_eq!(
        stdout(&output),
        "3.0/1.2/1.2 naked pair\nerror: Argument 2 has more than one solution.\n3.2/1.2/1.2 X-wing\n"
    );
    for (args, wanted) in [
        (&["rate", PAIR, X_WING, "-f", "csv"][..], "A table is about one input, and 2 were named."),
        (&["rate", PAIR, "--only", "xwong"], "\"xwong\" is no technique and no family of techniques."),
        (&["rate", PAIR, "--only", "uniqueness", "--no-uniqueness"], "No technique is left."),
        (&["rate", PAIR, "--up-to", "21"], "ratings are 1.0 to 20.0"),
        (&["rate", "no/such"], "No such file"),
        (&["hint", PAIR, "--stage", "4"], "4"),
        (&["hint", PAIR, "--after", "500"], "--after 500 is too many: "),
        (
            &["hint", "1234............", "--after", "1"],
            "--after 1 is too many: 0 steps can be made. No technique makes a step from here.",
        ),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(wanted), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn the_order_of_ratings_does_not_depend_on_threads() {
    let puzzles = unique_puzzles(600);
    let folder = Folder::new();
    let list = folder.write("list.txt", harness::lines(&puzzles));
    let rate = |threads: &str| said(&["rate", &list, "-q", "--up-to", "5.0", "-j", threads]);
    let one = rate("1");
    assert_eq!(one.lines().count(), puzzles.len());
    assert_eq!(rate("3"), one);
    let out = folder.path("out.csv");
    succeeded(&run(&["rate", &list, "-q", "--up-to", "5.0", "-f", "csv", "-o", &out]));
    let rows = folder.read("out.csv");
    for (row, puzzle) in rows.lines().skip(1).zip(&puzzles) {
        assert!(row.starts_with(&format!("{puzzle},")), "{row}");
    }
    // Counts instead of lines. Each puzzle has a class, if what is easier than hard was tried.
    let summary = said(&["rate", &list, "--up-to", "5.0", "--summary"]);
    let counts = |summary: &str, heading: &str| -> BTreeMap<String, usize> {
        let table = summary.split("\n\n").find(|table| table.starts_with(heading)).unwrap();
        let count = |line: &str| {
            let (name, rest) = line.split_once("  ").unwrap();
            (name.to_owned(), rest.split_whitespace().next().unwrap().parse().unwrap())
        };
        table.lines().skip(1).map(count).collect()
    };
    let by_rating = counts(&summary, "rating");
    assert_eq!(by_rating.values().sum::<usize>(), puzzles.len(), "{summary}");
    let by_class = counts(&summary, "difficulty");
    assert_eq!(
        by_class.values().sum::<usize>(),
        puzzles.len() - by_rating["nothing to fill in"],
        "{summary}"
    );
    assert!(by_rating["above"] > 0 && by_class["hard"] >= by_rating["above"], "{summary}");
    assert!(summary.contains("hidden single"), "{summary}");
    for tried in [["--up-to", "2.8"], ["--only", "singles"]] {
        let summary = said(&[&["rate", &list, "--summary"][..], &tried].concat());
        assert!(counts(&summary, "difficulty")["not known"] > 0, "{summary}");
    }
    // An interrupt ends it.
    let many = folder.write("many.txt", harness::lines(&puzzles).repeat(50));
    let mut child = piped(sudoku(&["rate", &many, "-j", "1"])).spawn().unwrap();
    interrupt_after_first_line(&mut child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130);
    assert!(stderr(&output).contains("Interrupted. Stopped after "), "{}", stderr(&output));
}

#[test]
fn a_hint_is_told_in_stages() {
    let stages: Vec<String> =
        ["1", "2", "3"].iter().map(|stage| said(&["hint", X_WING, "--stage", stage])).collect();
    assert_eq!(stages[0], "Where to look\n  Look at box 1.\n");
    assert_eq!(stages[1], format!("{}\nTechnique\n  hidden single, rated 1.2\n", stages[0]));
    assert!(stages[2].starts_with(&stages[1]), "{}", stages[2]);
    assert!(stages[2].contains("\nStep\n  (1, 1) is 2: in box 1, 2 fits nowhere else.\n"));
    assert!(stages[2].contains("\n[2]. 6 | . . . | 9 . .\n5 . 7 |"), "{}", stages[2]);
    assert_eq!(stages[2], said(&["hint", X_WING]));
    let painted = said(&["hint", X_WING, "--color", "always"]);
    assert!(painted.contains("Step\n"), "{painted}");

    // One that takes candidates away, with its cells marked.
    let numbered = said(&["steps", X_WING]);
    let line = numbered.lines().find(|line| line.contains("(X-wing)")).unwrap();
    let number: usize = line.trim_start().split_once('.').unwrap().0.parse().unwrap();
    let before = (number - 1).to_string();
    let hint = said(&["hint", X_WING, "--after", &before]);
    assert!(hint.contains("Technique\n  X-wing, rated 3.2\n"), "{hint}");
    assert!(hint.ends_with("(..) shows the step, -.. goes\nCells are named (row, column).\n"), "{hint}");
    // Cells by other names, which explain themselves.
    let named = said(&["hint", X_WING, "--cells", "rc"]);
    assert!(named.contains("  r1c1 is 2: in box 1,") && !named.contains("(1, 1)"), "{named}");
    let named = said(&["steps", X_WING, "--cells", "rc"]);
    assert!(named.contains(" r1c1 is 2: ") && !named.contains(", 1)"), "{named}");
    assert!(
        numbered.starts_with("Cells are named (row, column).\n\n") && !named.contains("(row, column)"),
        "{numbered}"
    );
    let drawn: Vec<&str> = hint.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(drawn.len(), 9);
    assert_eq!(drawn.concat().matches('(').count(), 4, "{hint}");
    let object: Value =
        serde_json::from_str(&said(&["hint", X_WING, "--after", &before, "-f", "json"])).unwrap();
    let gone = object["eliminations"].as_array().unwrap();
    assert!(!gone.is_empty() && object["placement"].is_null(), "{object}");
    let marks = |name: &str| object[name].as_str().unwrap().bytes().filter(u8::is_ascii_digit).count();
    assert_eq!(marks("before") - marks("after"), gone.len());
    assert_eq!(object["technique"], "x-wing");
    // JSON says no more than the stage either.
    for (stage, wanted) in
        [("1", &["before", "look_at"][..]), ("2", &["before", "look_at", "rating", "technique"])]
    {
        let hint = said(&["hint", X_WING, "--after", &before, "-f", "json", "--stage", stage]);
        let object: serde_json::Map<String, Value> = serde_json::from_str(&hint).unwrap();
        assert_eq!(object.keys().collect::<Vec<_>>(), wanted, "stage {stage}");
    }
    // The position after it, given with its candidates, goes on.
    let next = said(&["hint", object["after"].as_str().unwrap()]);
    assert!(!next.contains("X-wing") && next.contains("Step\n"), "{next}");
}

#[test]
fn what_has_no_next_step_is_told() {
    for (puzzle, wanted, exit) in [
        ("1234341221434321", "The puzzle is solved: nothing is left to fill in.\n", 0),
        (
            "11..............",
            "The puzzle has no solution: 1 appears twice in row 1, at (1, 1) and (1, 2).\n",
            1,
        ),
        ("123...4.........", "The puzzle has no solution.\n", 1),
    ] {
        let output = run(&["hint", puzzle]);
        assert_eq!((stdout(&output).as_str(), code(&output)), (wanted, exit));
        let output = run(&["steps", puzzle]);
        assert_eq!(code(&output), exit, "{puzzle}");
        assert!(exit == 0 || stdout(&output) == wanted, "{}", stdout(&output));
    }
    let searched = said(&["hint", "................"]);
    assert!(searched.contains("can be ") && searched.contains("as a search found"), "{searched}");
    let first = said(&["hint", "................", "--stage", "1"]);
    assert_eq!(first, "Where to look\n  No technique applies: the next cell takes a search.\n");
    // Candidates of the solution that are missing are named.
    let marks = said(&["show", PAIR, "--pencil-marks"]);
    let solution = stdout(&run(&["solve", PAIR, "-f", "solution"]));
    let cell = PAIR.find('.').unwrap();
    let digit = usize::from(solution.as_bytes()[cell] - b'0');
    let mut marks = marks.trim().to_owned().into_bytes();
    marks[cell * 9 + digit - 1] = b'.';
    let output = run(&["hint", std::str::from_utf8(&marks).unwrap()]);
    assert_eq!(code(&output), 1);
    let wanted = format!("There is no solution any more. The candidate {digit} is missing at (1, 1).\n");
    assert_eq!(stdout(&output), wanted);
}

#[test]
fn techniques_that_a_size_does_not_have_are_refused() {
    let four = "1234............";
    let of_forcing = "The techniques of the family forcing are for 9x9 puzzles only. Name one for";
    for command in ["hint", "steps", "rate"] {
        for only in ["forcing", "dynamic-forcing-chains,nishio-forcing-chains"] {
            let output = run(&[command, four, "--only", only]);
            assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{command} {only}");
            assert_eq!(stderr(&output), format!("{of_forcing} 4x4 puzzles.\n"), "{command} {only}");
        }
        let output = run(&[command, four, "--only", "forcing,singles"]);
        assert_ne!(code(&output), 2, "{command}: {}", stderr(&output));
    }
    let generate = ["generate", "--technique", "dynamic-forcing-chains", "--attempts", "1", "--seed", "1"];
    let output = run(&[&generate[..], &["--size", "16"]].concat());
    assert_eq!(code(&output), 2);
    assert_eq!(stderr(&output), format!("{of_forcing} 16x16 puzzles.\n"));
}

#[test]
fn sentences_name_values_by_number_and_say_so() {
    let named: String =
        X_WING.bytes().map(|cell| if cell == b'.' { '.' } else { char::from(cell - b'1' + b'a') }).collect();
    let note = "Sentences name values by number, and candidates are in the alphabet letters; the puzzle writes 1 to 9 \
                as abcdefghi.\n\n";
    for command in ["hint", "steps"] {
        let plain = said(&[command, X_WING]);
        let other = said(&[command, "--alphabet", "abcdefghi", &named]);
        assert!(other.starts_with(note) && !plain.contains(" by number"), "{other}");
        let json = |args: &[&str]| -> Value { serde_json::from_str(&said(args)).unwrap() };
        let (plain, mut other) = (
            json(&[command, X_WING, "-f", "json"]),
            json(&[command, "--alphabet", "abcdefghi", &named, "-f", "json"]),
        );
        if command == "steps" {
            other["puzzle"] = X_WING.into();
        }
        assert_eq!(other, plain);
    }
    let traced = run(&["trace", "--alphabet", "abcdefghi", "--puzzle", &named]);
    assert!(stderr(&traced).starts_with(&note[..note.len() - 1]), "{}", stderr(&traced));
}

#[test]
fn one_is_no_plural() {
    let alone = said(&["rate", X_WING, "--only", "singles"]);
    assert!(alone.contains("\nA search by propagation takes 3 nodes and 1 guess.\n"), "{alone}");
    let line = "beyond (a search takes 3 nodes and 1 guess)\n";
    assert_eq!(said(&["rate", X_WING, X_WING, "--only", "singles"]), line.repeat(2));
    let summary = said(&["rate", X_WING, "--summary"]);
    assert!(summary.ends_with("\n1 of 1 puzzle is minimal.\n"), "{summary}");
}

#[test]
fn one_blank_line_is_above_the_verdict_and_none_where_it_stands_alone() {
    for (args, has_more) in [
        (&["steps", X_WING, "--up-to", "3.1", "--boards"][..], true),
        (&["steps", X_WING, "--up-to", "3.1"], true),
        (&["steps", "1234............"], true),
        (&["steps", X_WING, "--only", "last-cell"], false),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 1, "{args:?}");
        let text = stdout(&output);
        let (above, _) = text.split_once("Not solved after ").unwrap();
        assert_eq!(!above.is_empty(), has_more, "{args:?}: {text}");
        assert_eq!(above.ends_with("\n\n"), has_more, "{args:?}: {text}");
        assert!(!above.ends_with("\n\n\n"), "{args:?}: {text}");
    }
}

#[test]
fn steps_of_a_puzzle_without_a_solution_are_json_all_the_same() {
    let output = sudoku(&["steps", "11..............", "-f", "json"]).output().unwrap();
    assert_eq!(code(&output), 1);
    let object: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(object["is_solved"], false);
    assert_eq!(object["steps"], serde_json::json!([]));
    let text = sudoku(&["steps", "11.............."]).output().unwrap();
    assert_eq!(object["ending"], stdout(&text).trim_end());
}

#[test]
fn steps_are_numbered_and_lead_to_the_solution() {
    for (puzzle, rating, technique) in RATED {
        let object: Value = serde_json::from_str(&said(&["steps", puzzle, "-f", "json"])).unwrap();
        let mut position = Position::new(&grid(puzzle));
        let steps = object["steps"].as_array().unwrap();
        for (step, number) in steps.iter().zip(1..) {
            assert_eq!(step["number"], number);
            assert_eq!(step["before"], position.pencil_marks());
            let order = position.order();
            let cell = |at: &Value| {
                let number = |name: &str| at[name].as_u64().unwrap() as usize;
                (order.cell(number("row"), number("column")).unwrap(), order.digit(number("digit")).unwrap())
            };
            for gone in step["eliminations"].as_array().unwrap() {
                let (cell, digit) = cell(gone);
                assert!(position.eliminate(sudoku_stream::techniques::Candidate { cell, digit }), "{step}");
            }
            if step["placement"].is_object() {
                let (cell, digit) = cell(&step["placement"]);
                assert!(position.candidates(cell).contains(digit), "{step}");
                position.place(cell, digit);
            }
        }
        assert!(position.grid().solves(&grid(puzzle)), "{puzzle}");
        let hardest: Technique = technique.parse().unwrap();
        assert_eq!(object["hardest"], hardest.name());
        assert_eq!(format!("{}/{}/{}", object["er"], object["ep"], object["ed"]), rating);

        let text = said(&["steps", puzzle]);
        let last = text.lines().find(|line| line.starts_with("Solved in ")).unwrap();
        assert!(last.starts_with(&format!("Solved in {} steps. ER ", steps.len())), "{last}");
        let markdown = said(&["steps", puzzle, "-f", "markdown", "--boards"]);
        assert!(markdown.starts_with("# Solution by hand\n\n```text\n"), "{markdown}");
        assert!(markdown.contains("\n1. **") && markdown.contains("| technique | steps | rating |"));
        assert_eq!(markdown.matches("```").count() % 2, 0);
    }
    // With fewer techniques it ends before, and says where.
    let output = run(&["steps", X_WING, "--only", "singles,direct,locked"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("\nNot solved after ") && text.contains("No technique makes a step from here.\n"));
    let grid_of_candidates: String =
        text.lines().skip_while(|line| !line.starts_with('.')).map(|line| format!("{line}\n")).collect();
    let rest = fed(&["steps"], &grid_of_candidates);
    succeeded(&rest);
    assert!(stdout(&rest).contains("  1. 3.2  "), "{}", stdout(&rest));
    let output = run(&["steps", X_WING, "--up-to", "3.0"]);
    assert!(stdout(&output).contains("The next step is harder than 3.0."), "{}", stdout(&output));
    // Nothing is taken for granted where there are several solutions.
    let output = run(&["steps", SEVERAL]);
    assert!(stdout(&output).starts_with("The puzzle has more than one solution"), "{}", stdout(&output));
}

#[test]
fn positions_come_as_other_programs_write_them() {
    let drawn = said(&["show", X_WING, "--candidates"]);
    let marks = said(&["show", X_WING, "--pencil-marks"]);
    assert_eq!(marks.len(), 730);
    let folder = Folder::new();
    let simple = drawn.replace(['.', '\''], "*").replace(':', "|");
    for (name, text) in [("hodoku.txt", &drawn), ("simple.txt", &simple), ("marks.txt", &marks)] {
        let file = folder.write(name, text);
        let hint = said(&["hint", &file]);
        assert!(hint.contains("(1, 1) is 2: in box 1, 2 fits nowhere else."), "{name}: {hint}");
        assert_eq!(stdout(&fed(&["hint"], text)), hint, "{name}");
        assert_eq!(said(&["hint", text.trim()]), hint, "{name}");
        assert_eq!(said(&["show", &file]), drawn, "{name}");
        assert_eq!(said(&["show", &file, "--pencil-marks"]), marks, "{name}");
        for command in ["solve", "rate", "check", "validate"] {
            let output = run(&[command, &file]);
            let told = stderr(&output) + &stdout(&output);
            assert!(
                told.contains("has candidates, and only clues can be read here"),
                "{command} {name}: {told}"
            );
            assert_eq!(code(&output), 2, "{command} {name}");
        }
    }
    let output = run(&["solve", marks.trim()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("The puzzle has candidates"), "{}", stderr(&output));
    // The second of two, and one that is not there.
    let two = folder.write("two.txt", format!("{marks}{}", said(&["show", PAIR, "--pencil-marks"])));
    assert_eq!(
        said(&["show", &two, "--index", "2", "--pencil-marks"]),
        said(&["show", PAIR, "--pencil-marks"])
    );
    assert!(stderr(&run(&["hint", &two, "--index", "3"])).contains("has no position 3, but 2."));
    let bad = folder.write("bad.txt", format!("{marks}x{}", &marks[1..]));
    let output = run(&["hint", &bad, "--index", "2"]);
    assert!(stderr(&output).contains("Line 2: Character 1 is 'x'"), "{}", stderr(&output));
    // Puzzles stay puzzles, also on standard input.
    for puzzle in [PAIR, ".1....2.3..4...."] {
        let alone = said(&["hint", puzzle]);
        assert_eq!(stdout(&fed(&["hint"], &format!("{puzzle}\n"))), alone);
    }
}

/// Those of a puzzle, and those of a grid that is almost full, in which most cells are digits.
#[test]
fn positions_of_all_sizes_are_told_from_puzzles() {
    let folder = Folder::new();
    for (side, symbols) in [("4", "12"), ("9", "12"), ("16", "12"), ("25", "ABC")] {
        let puzzle = said(&["generate", "--size", side, "--seed", "5", "-q"]);
        let full = stdout(&fed(&["solve", "-q"], &puzzle));
        let symbols: Vec<char> = symbols.chars().collect();
        for blanks in 0..=symbols.len() {
            let puzzle = if blanks == 0 { puzzle.clone() } else { full.replace(&symbols[..blanks], ".") };
            let puzzle = folder.write("puzzle.txt", &puzzle);
            for flag in ["--candidates", "--pencil-marks"] {
                let text = said(&["show", &puzzle, flag]);
                let position = folder.write("position.txt", &text);
                assert_eq!(said(&["show", &position, flag]), text, "{side} {blanks}");
                if blanks == 1 && flag == "--candidates" {
                    // A single candidate is a digit, so this is a grid without a blank.
                    continue;
                }
                for command in ["solve", "rate", "check", "validate", "trace"] {
                    let output = run(&[command, &position]);
                    let told = stderr(&output) + &stdout(&output);
                    let sentence = "Line 1 has candidates, and only clues can be read here";
                    let sentence = if flag == "--candidates" { &sentence[7..] } else { sentence };
                    assert!(told.contains(sentence), "{command} {side} {blanks} {flag}: {told}");
                    assert_eq!(code(&output), 2, "{command} {side} {blanks} {flag}");
                }
            }
        }
    }
}

#[test]
fn positions_may_be_packed_or_in_utf16_or_come_through_a_pipe() {
    let drawn = said(&["show", X_WING, "--candidates"]);
    let marks = said(&["show", X_WING, "--pencil-marks"]);
    let hint = said(&["hint", X_WING]);
    let folder = Folder::new();
    for text in [&drawn, &marks] {
        let utf16: Vec<u8> = format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let packed = [
            ("plain", text.clone().into_bytes()),
            ("gz", gzip(text.as_bytes())),
            ("zst", zstandard(text.as_bytes())),
            ("bz2", bzip2(text.as_bytes())),
            ("xz", xz(text.as_bytes())),
            ("zip", zip(&[Member::new("candidates.txt", text.as_bytes())])),
            ("utf16.gz", gzip(&utf16)),
            ("utf16", utf16),
        ];
        for (name, bytes) in packed {
            let file = folder.write(name, &bytes);
            assert_eq!(said(&["hint", &file]), hint, "{name}");
            assert_eq!(said(&["show", &file]), drawn, "{name}");
            assert!(said(&["steps", &file]).contains("X-wing"), "{name}");
            assert_eq!(stdout(&harness::feed(&mut sudoku(&["hint"]), &bytes)), hint, "{name}");
            for args in [&["show"][..], &["show", "-"], &["show", "/dev/stdin"]] {
                assert_eq!(stdout(&harness::feed(&mut sudoku(args), &bytes)), drawn, "{name} {args:?}");
            }
            let solved = harness::feed(&mut sudoku(&["show", "--solve"]), &bytes);
            assert_eq!(
                stderr(&solved),
                "standard input has candidates, and --solve takes only clues. Leave --solve out.\n",
                "{name}"
            );
            let through = harness::feed(&mut sudoku(&["hint", "/dev/stdin"]), &bytes);
            assert_eq!(stdout(&through), hint, "{name}");
        }
    }
    // Puzzles stay puzzles, also more of them than positions may have.
    let puzzles = format!("{X_WING}\n").repeat(13_000);
    for bytes in [puzzles.clone().into_bytes(), gzip(puzzles.as_bytes())] {
        let file = folder.write("puzzles", &bytes);
        let args = |input| ["hint", input, "--index", "13000"];
        assert_eq!(said(&args(&file)), hint);
        assert_eq!(stdout(&harness::feed(&mut sudoku(&args("-")), &bytes)), hint);
        assert_eq!(stdout(&harness::feed(&mut sudoku(&args("/dev/stdin")), &bytes)), hint);
    }
    // What is damaged is told as it is for puzzles.
    let damaged = folder.write("damaged.gz", &gzip(drawn.as_bytes())[..60]);
    let told = stderr(&run(&["hint", &damaged]));
    assert!(told.contains("damaged.gz is damaged"), "{told}");
}

#[test]
fn solve_adds_the_rating_and_the_technique() {
    let lines: String = RATED.iter().map(|(puzzle, ..)| format!("{puzzle}\n")).collect();
    let input = format!("{lines}12\n{}\n", ".".repeat(81));
    for threads in ["1", "3"] {
        let output = fed(&["solve", "-f", "csv", "--add", "rating,technique,error", "-j", threads], &input);
        succeeded(&output);
        let rows = stdout(&output);
        let mut rows = rows.lines();
        assert_eq!(rows.next(), Some("puzzle,rating,technique,error"));
        for (puzzle, rating, technique) in RATED {
            let (er, technique) =
                (rating.split('/').next().unwrap(), technique.to_lowercase().replace(' ', "-"));
            assert_eq!(rows.next().unwrap(), format!("{puzzle},{er},{technique},"));
        }
        assert_eq!(rows.next().unwrap(), ",,,wrong_length");
        assert_eq!(rows.next().unwrap(), format!("{},,,", ".".repeat(81)));
    }
    let row = fed(&["solve", "-f", "jsonl", "--add", "rating"], &lines);
    let first: Value = serde_json::from_str(stdout(&row).lines().next().unwrap()).unwrap();
    assert_eq!(first["rating"], 1.5);
}

#[test]
fn puzzles_are_made_with_a_rating_or_a_technique() {
    let made = |args: &[&str]| {
        let output = run(&[&["generate", "--seed", "5", "-q"][..], args].concat());
        succeeded(&output);
        stdout(&output)
    };
    let ratings = |text: &str| -> Vec<(f64, String)> {
        let rows = stdout(&fed(&["rate", "-q", "-f", "csv"], text));
        let rows = rows.lines().skip(1).map(|row| {
            let fields: Vec<&str> = row.split(',').collect();
            (fields[2].parse::<f64>().unwrap(), fields[7].to_owned())
        });
        rows.collect()
    };
    let moderate = made(&["--rating", "3.0..4.5", "-n", "3"]);
    assert_eq!(moderate.lines().count(), 3);
    assert!(ratings(&moderate).iter().all(|(er, _)| (3.0..=4.5).contains(er)), "{:?}", ratings(&moderate));
    assert_eq!(made(&["--rating", "3.0..4.5", "-n", "3", "-j", "1"]), moderate, "on any number of threads");
    let pointing = made(&["--technique", "pointing", "--rating", "..2.8", "-n", "3"]);
    for (er, techniques) in ratings(&pointing) {
        assert!(er <= 2.8 && techniques.contains("pointing:"), "{er} {techniques}");
    }
    let output = run(&["generate", "--rating", "20.0", "--attempts", "3"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("no 9x9 puzzle with a rating of 20.0 was found"), "{}", stderr(&output));
    for (args, wanted) in [
        (&["--rating", "4.5..3.0"][..], "`4.5..3.0` is no range of ratings."),
        (&["--technique", "guess"], "there is no such technique. There are last-cell"),
        (&["--random-clues", "20", "--rating", "3.0"], "cannot be used with"),
    ] {
        let output = run(&[&["generate"][..], args].concat());
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(wanted), "{}", stderr(&output));
    }
}

#[test]
fn the_list_of_the_reference_agrees_where_steps_are_simple() {
    let Some(list) = large_list("serate/ratings.tsv") else { return };
    let rows = said(&["rate", list.to_str().unwrap(), "-q", "-f", "tsv", "--up-to", "4.4"]);
    let mut differ = BTreeMap::new();
    let mut simple = 0;
    for row in rows.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let er: f64 = fields[1].parse().unwrap();
        if er <= 4.4 {
            simple += 1;
            if fields[6] != fields[1] {
                differ.insert(fields[0], (fields[1], fields[6]));
            }
        }
    }
    assert!(simple > 800, "{simple}");
    assert!(differ.len() * 100 <= simple, "{} of {simple} differ: {differ:?}", differ.len());
}

#[test]
fn the_examples_of_the_documentation_show_their_technique() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/techniques.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut examples = 0;
    for technique in Technique::ALL {
        let title = technique.title();
        let heading = format!("\n## {}{}\n", title[..1].to_uppercase(), &title[1..]);
        let section = page.split(&heading).nth(1).unwrap_or_else(|| panic!("no section on {technique}"));
        let section = section.split("\n## ").next().unwrap();
        assert!(section.contains(&format!("`--only {}`", technique.name())), "{technique}");
        let Some((_, command)) = section.split_once("\n$ sudoku ") else { continue };
        let (command, shown) = command.split_once('\n').unwrap();
        let hint = said(&command.split(' ').collect::<Vec<_>>());
        let line = format!("\nTechnique\n  {technique}, rated ");
        assert!(hint.contains(&line) && shown.contains(&line), "{technique}: {hint}");
        examples += 1;
    }
    assert!(examples > 20, "{examples}");
}
