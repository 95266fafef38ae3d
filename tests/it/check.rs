//! `sudoku check` on many grids: every kind of finding, on all cores and in order.

use std::collections::BTreeMap;
use std::process::Output;

use crate::harness::{
    self, Folder, Random, disguise, eventually, grid, interrupt_after_first_line, stderr, stdout, succeeded,
    sudoku, text, unique_puzzles,
};

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

fn check(args: &[&str], input: &str) -> Output {
    harness::feed(&mut sudoku(&[&["check"][..], args].concat()), input.as_bytes())
}

/// Puzzles with one solution and something to solve.
fn with_blanks(count: usize) -> Vec<String> {
    let mut puzzles = unique_puzzles(2 * count);
    puzzles.retain(|puzzle| puzzle.contains('.'));
    puzzles.truncate(count);
    assert_eq!(puzzles.len(), count);
    puzzles
}

/// A 4x4 puzzle with one solution.
const FOUR: &str = "1.3434.2214343.1";
const FOUR_SOLVED: &str = "1234341221434321";

/// A table with one row of each kind, and what is found about it.
fn every_kind() -> (String, Vec<(&'static str, &'static str)>) {
    let rows = [
        (format!("{FOUR},{}", solution(FOUR)), ("right", "Line 2 is correctly solved.")),
        ("1...............,1234341221434321".to_owned(), ("right", "Line 3 is correctly solved.")),
        (
            "2...............,1234341221434321".to_owned(),
            ("wrong", "Line 4 is wrong: the clue 2 at (1, 1) was changed to 1."),
        ),
        (
            "1234341221434.21,1234341221434121".to_owned(),
            ("wrong", "Line 5 is wrong: (4, 2) is 1, and the only solution has 3 there."),
        ),
        (
            "1...............,1134341221434321".to_owned(),
            ("wrong", "Line 6 is wrong: 1 appears twice in row 1, at (1, 1) and (1, 2)."),
        ),
        (
            "1234341221434.21,12343412214343.1".to_owned(),
            ("incomplete", "Line 7 is incomplete: 1 cell is blank."),
        ),
        (
            "12..............,1234............".to_owned(),
            ("incomplete", "Line 8 is incomplete: 12 cells are blank."),
        ),
        ("123...4.........,1234341221434321".to_owned(), ("no_solution", "Line 9 has no solution.")),
        (
            "11..............,1234341221434321".to_owned(),
            ("rule_broken", "Line 10 breaks the rules: 1 appears twice in row 1."),
        ),
        (
            "123,1234341221434321".to_owned(),
            ("wrong_length", "Line 11 has the wrong length. It has 3 cells; a 4x4 puzzle has 16."),
        ),
        (
            "12q.............,1234341221434321".to_owned(),
            ("invalid_character", "Line 12 has an invalid character. It is 'q' in column 3."),
        ),
        (
            "12..............,12".to_owned(),
            (
                "wrong_solution",
                "Line 13 has a wrong solution beside it. It has 2 cells; a 4x4 solution has 16.",
            ),
        ),
        ("1234341221434321,".to_owned(), ("right", "Line 14 is correctly solved.")),
        ("123434122143432.,".to_owned(), ("incomplete", "Line 15 has no solution beside it.")),
        // What our own tables have in the place of a solution.
        (
            "123434122143432.,error: Line 16 was given up after 7 nodes.".to_owned(),
            ("incomplete", "Line 16 has no solution beside it."),
        ),
        (
            "12..............,errors".to_owned(),
            (
                "wrong_solution",
                "Line 17 has a wrong solution beside it. It has 6 cells; a 4x4 solution has 16.",
            ),
        ),
    ];
    let table: String = rows.iter().map(|(row, _)| format!("{row}\n")).collect();
    (format!("puzzle,solution\n{table}"), rows.into_iter().map(|(_, found)| found).collect())
}

fn solution(puzzle: &str) -> String {
    let solved = harness::feed(&mut sudoku(&["solve", "--quiet"]), format!("{puzzle}\n").as_bytes());
    stdout(&solved).trim().to_owned()
}

#[test]
fn every_kind_of_row_gets_its_sentence_and_code() {
    assert_eq!(solution(FOUR), FOUR_SOLVED);
    let (table, found) = every_kind();
    let failures: String = found
        .iter()
        .filter(|(code, _)| *code != "right")
        .map(|(_, sentence)| format!("{sentence}\n"))
        .collect();
    let listed = check(&["--only-failures"], &table);
    assert_eq!(listed.status.code(), Some(1));
    assert_eq!(stdout(&listed), failures);

    let objects = check(&["--format", "jsonl", "-q"], &table);
    assert_eq!(objects.status.code(), Some(1));
    let objects = stdout(&objects);
    assert_eq!(objects.lines().count(), found.len());
    for (object, (code, sentence)) in objects.lines().zip(&found) {
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        assert_eq!((&object["verdict"], &object["message"]), (&(*code).into(), &(*sentence).into()));
        assert_eq!(object["row"].is_null(), *code != "wrong", "{object}");
    }

    let summary = check(&["--limit", "2"], &table);
    assert_eq!(summary.status.code(), Some(1));
    let wanted = "standard input: 16 rows of 4x4: 3 right, 3 wrong, 4 incomplete, 1 without a solution, \
                  5 badly formed (1 wrong_length, 1 invalid_character, 1 rule_broken, 2 wrong_solution).\n";
    let first: String = failures.lines().take(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(stdout(&summary), format!("{first}{wanted}"));
    assert!(
        stderr(&summary).contains("2 of 13 are listed; --only-failures lists all.\n"),
        "{}",
        stderr(&summary)
    );
}

#[test]
fn uniqueness_is_checked_where_it_is_asked_for() {
    let (table, found) = every_kind();
    let listed = check(&["--unique", "--only-failures", "-q"], &table);
    let sentences: Vec<String> = stdout(&listed).lines().map(str::to_owned).collect();
    let many = |line: u32| format!("Line {line} has more than one solution.");
    for (line, (code, sentence)) in (2..).zip(&found) {
        let is_listed = sentences.iter().any(|own| own == sentence);
        match line {
            3 | 8 => assert!(sentences.contains(&many(line)) && !is_listed, "{sentences:?}"),
            _ => assert_eq!(is_listed, *code != "right", "{sentence}"),
        }
    }
    let puzzles = with_blanks(50).join("\n");
    let lists = check(&["--unique", "-q"], &puzzles);
    assert!(stdout(&lists).ends_with("50 grids of 9x9: 0 right, 50 incomplete.\n"), "{}", stdout(&lists));
    let two = check(&["--unique"], "1234341221434...\n123...4.........\n................\n");
    assert_eq!(
        stdout(&two).lines().take(3).collect::<Vec<_>>(),
        [
            "Line 1 is incomplete: 3 cells are blank.",
            "Line 2 has no solution.",
            "Line 3 has more than one solution."
        ]
    );
    let given_up = check(&["--unique", "--node-limit", "1"], "................\n1234341221434...\n");
    assert!(stdout(&given_up).starts_with("Line 1 was given up after 1 node.\n"), "{}", stdout(&given_up));
    // An empty solution is missing whether or not the puzzle has only one.
    let missing =
        check(&["--unique"], "puzzle,solution\n1234341221434...,\n................,\n123...4.........,\n");
    assert_eq!(
        stdout(&missing).lines().take(3).collect::<Vec<_>>(),
        [
            "Line 2 has no solution beside it.",
            "Line 3 has more than one solution.",
            "Line 4 has no solution."
        ]
    );
    let alone = check(&[], "puzzle,solution\n1234341221434...,\n");
    assert_eq!(
        (stdout(&alone).as_str(), alone.status.code()),
        ("The puzzle has no solution beside it.\n", Some(1))
    );
    // One grid by itself.
    let one = check(&["--unique"], "................\n");
    assert_eq!(
        (stdout(&one).as_str(), one.status.code()),
        ("The puzzle has more than one solution.\n", Some(1))
    );
}

#[test]
fn a_good_table_is_right_and_says_so() {
    let rows: String = with_blanks(200).iter().map(|puzzle| format!("7,{puzzle},x\n")).collect();
    let table = format!("id,puzzle,note\n{rows}");
    let solved = harness::feed(&mut sudoku(&["solve", "-q", "--format", "csv"]), table.as_bytes());
    for (args, input) in [(&[][..], stdout(&solved)), (&["--unique"], stdout(&solved).replace('\n', "\r\n"))]
    {
        let checked = check(args, &input);
        succeeded(&checked);
        assert_eq!(stdout(&checked), "standard input: 200 rows of 9x9, all right.\n");
        assert!(stderr(&checked).starts_with("200 rows in "), "{}", stderr(&checked));
    }
    let none = check(&["--only-failures", "-q"], &stdout(&solved));
    succeeded(&none);
    assert_eq!((stdout(&none), stderr(&none)), (String::new(), String::new()));
}

#[test]
fn columns_of_a_table_stay() {
    let table = "id,puzzle,solution,note\n1,2...............,1234341221434321,\"a, b\"\r\n2,1...............,1234341221434321\n";
    let csv = check(&["--format", "csv", "-q"], table);
    assert_eq!(
        stdout(&csv),
        "id,puzzle,solution,note,line,verdict,row,column,message\n\
         1,2...............,1234341221434321,\"a, b\",2,wrong,1,1,\"Line 2 is wrong: the clue 2 at (1, 1) was changed to 1.\"\r\n\
         2,1...............,1234341221434321,,3,right,,,Line 3 is correctly solved.\n"
    );
    let failures = check(&["--format", "tsv", "-q", "--only-failures"], table);
    assert_eq!(
        stdout(&failures),
        "id\tpuzzle\tsolution\tnote\tline\tverdict\trow\tcolumn\tmessage\n\
         1\t2...............\t1234341221434321\t\"a, b\"\t2\twrong\t1\t1\tLine 2 is wrong: the clue 2 at (1, 1) was changed to 1.\r\n"
    );
    let list = check(&["--format", "csv", "-q"], "1234341221434321\n12\n");
    assert_eq!(
        stdout(&list),
        "puzzle,line,verdict,row,column,message\n\
         1234341221434321,1,right,,,Line 1 is correctly solved.\n\
         ,2,wrong_length,,,Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\n"
    );
    let grids = check(&["--format", "jsonl", "-q"], "12 34\n34 12\n\n21 43\n43 21\n");
    assert_eq!(
        stdout(&grids),
        "{\"puzzle\":\"1234341221434321\",\"line\":1,\"verdict\":\"right\",\"row\":null,\"column\":null,\"message\":\"Line 1 is correctly solved.\"}\n"
    );
}

/// A table of 9x9 puzzles and their solutions; and the codes that are right for its rows.
fn large_table(rows: usize) -> (String, Vec<&'static str>) {
    let pairs: Vec<(String, String)> = {
        let puzzles = with_blanks(300);
        let answers = harness::feed(&mut sudoku(&["solve", "-q"]), puzzles.join("\n").as_bytes());
        puzzles.into_iter().zip(stdout(&answers).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let mut random = Random(3);
    let mut table = String::from("id,puzzle,solution,clues,difficulty\n");
    let mut codes = Vec::new();
    for k in 0..rows {
        let (puzzle, solution) = &pairs[k % pairs.len()];
        let kind = random.below(200);
        let (puzzle, solution, code) = match kind {
            0 => {
                // Any other digit in a cell that is no clue.
                let blanks: Vec<usize> = (0..81).filter(|&at| puzzle.as_bytes()[at] == b'.').collect();
                let at = blanks[random.below(blanks.len())];
                let mut cells = solution.clone().into_bytes();
                cells[at] = b'1' + (cells[at] - b'1' + 1 + random.below(8) as u8) % 9;
                (puzzle.clone(), String::from_utf8(cells).unwrap(), "wrong")
            }
            1 => (puzzle.clone(), solution.replacen('5', ".", 1), "incomplete"),
            2 => (puzzle[1..].to_owned(), solution.clone(), "wrong_length"),
            3 => {
                // The solution of another puzzle.
                let other = text(&disguise(&grid(solution), k as u64 + 1));
                let code = if grid(&other).solves(&grid(puzzle)) { "right" } else { "wrong" };
                (puzzle.clone(), other, code)
            }
            4 => (format!("\"{puzzle}\""), format!(" {solution} "), "right"),
            5 => (puzzle.replace('.', "0"), solution.clone(), "right"),
            _ => (puzzle.clone(), solution.clone(), "right"),
        };
        table += &format!("{k},{puzzle},{solution},30,{}\n", "1".repeat(kind % 9));
        codes.push(code);
    }
    (table, codes)
}

#[test]
fn many_rows_are_checked_in_order_on_any_number_of_threads() {
    let folder = Folder::new();
    let (table, codes) = large_table(30_000);
    let input = folder.write("table.csv", table);
    let mut wanted: BTreeMap<&str, usize> = BTreeMap::new();
    for code in &codes {
        *wanted.entry(code).or_default() += 1;
    }
    assert!(wanted.len() == 4 && wanted.values().all(|&count| count > 50), "{wanted:?}");
    let lines: String = (2..)
        .zip(&codes)
        .filter(|(_, code)| **code != "right")
        .map(|(line, code)| format!("{line} {code}\n"))
        .collect();
    let mut reports = Vec::new();
    for extra in
        [&["--threads", "1"][..], &["--threads", "2"], &["--threads", "5"], &["--unique"], &["--no-mmap"]]
    {
        let out = folder.path("report.jsonl");
        let args = ["check", &input, "-q", "--only-failures", "--format", "jsonl", "-o", &out];
        let checked = run(&[&args[..], extra].concat());
        assert_eq!((checked.status.code(), stdout(&checked)), (Some(1), String::new()));
        let report = folder.read("report.jsonl");
        let found: String = report
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|object| format!("{} {}\n", object["line"], object["verdict"].as_str().unwrap()))
            .collect();
        assert!(found == lines, "{extra:?}");
        reports.push(report);
    }
    assert!(reports.windows(2).all(|pair| pair[0] == pair[1]));
    // Every wrong cell that is named is wrong.
    for line in reports[0].lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        if object["verdict"] == "wrong" {
            let place = |name: &str| object[name].as_u64().unwrap() as usize - 1;
            let (puzzle, given) = (object["puzzle"].as_str().unwrap(), object["solution"].as_str().unwrap());
            let at = 9 * place("row") + place("column");
            assert_ne!(solution(puzzle).as_bytes()[at], given.as_bytes()[at], "{line}");
        }
    }
    let piped = harness::feed(
        &mut sudoku(&["check", "-", "-q", "--only-failures", "--format", "jsonl"]),
        folder.read("table.csv").as_bytes(),
    );
    assert!(stdout(&piped) == reports[0]);
    let all = stdout(&run(&["check", &input, "-q", "--format", "csv"]));
    assert_eq!(all.lines().count(), 30_001);
    let summary = stdout(&run(&["check", &input, "-q"]));
    assert_eq!(summary.lines().count(), 11);
    assert!(
        summary.lines().last().unwrap().starts_with(&format!("{input}: 30,000 rows of 9x9: ")),
        "{summary}"
    );
}

#[test]
fn an_output_is_whole_or_absent_and_never_the_input() {
    let folder = Folder::new();
    let (table, _) = large_table(2_000);
    let input = folder.write("table.csv", table);
    let same = run(&["check", &input, "-o", &input]);
    assert_eq!(same.status.code(), Some(2));
    assert_eq!(stderr(&same), format!("{input} is the input itself. Name another file with -o.\n"));
    let full = run(&["check", &input, "--format", "csv", "-o", "/dev/full"]);
    assert_eq!(full.status.code(), Some(2));
    assert!(stderr(&full).contains("No space left on device"), "{}", stderr(&full));
    let report = folder.path("report.txt");
    let quiet = run(&["check", &input, "-q", "-o", &report]);
    assert_eq!(
        (quiet.status.code(), stdout(&quiet), stderr(&quiet)),
        (Some(1), String::new(), String::new())
    );
    assert_eq!(folder.read("report.txt").lines().count(), 11);
    assert_eq!(folder.names(), ["report.txt", "table.csv"]);
}

#[test]
fn an_interrupted_check_says_how_far_it_got() {
    let folder = Folder::new();
    let pipe = folder.pipe("endless");
    let mut child = sudoku(&["check", &pipe, "--only-failures"]).spawn().unwrap();
    let writer = std::thread::spawn(move || {
        use std::io::Write as _;
        let mut pipe = std::fs::OpenOptions::new().write(true).open(pipe).unwrap();
        // Until the reader is gone.
        while pipe.write_all("1234341221434321\n12\n".repeat(1_000).as_bytes()).is_ok() {}
    });
    let listed = interrupt_after_first_line(&mut child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(
        listed.lines().next(),
        Some("Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16."),
        "{}",
        stderr(&ended)
    );
    assert_eq!(ended.status.code(), Some(130));
    let said = stderr(&ended);
    assert!(said.starts_with("Interrupted. Stopped after ") && said.ends_with(" grids.\n"), "{said}");
    eventually("the end of the writer", || writer.is_finished());
}

/// The members of objects are found by what they hold, and a solution may be an array.
#[test]
fn objects_are_checked_by_their_content() {
    let blank = FOUR.replacen('1', ".", 1);
    let values = "[1,2,3,4, 3,4,1,2, 2,1,4,3, 4,3,2,1]";
    let wrong = values.replacen('1', "2", 1);
    for (text, sentence) in [
        (format!("{{\"q\":\"{FOUR}\",\"a\":\"{FOUR_SOLVED}\"}}\n"), "is correctly solved."),
        (format!("{{\"a\":{wrong},\"q\":\"{FOUR}\"}}\n"), "the clue 1 at (1, 1) was changed"),
        (format!("{{\"puzzle\":\"{blank}\",\"sol\":\"{FOUR_SOLVED}\"}}\n"), "is correctly solved."),
        (format!("{{\"puzzle\":\"{FOUR}\",\"solution\":{values}}}\n"), "is correctly solved."),
        (format!("{{\"puzzle\":\"{FOUR}\",\"solution\":[1,2]}}\n"), "has a wrong solution beside it."),
        (format!("{{\"puzzle\":\"{FOUR}\",\"solution\":null}}\n"), "has no solution beside it."),
    ] {
        let said = stdout(&check(&[], &text));
        assert!(said.contains(sentence), "{text}{said}");
    }
}

#[test]
fn rows_that_are_right_are_written_as_they_are() {
    let folder = Folder::new();
    let (table, expected) = every_kind();
    let (heading, rows) = table.split_once('\n').unwrap();
    let right = rows.lines().zip(&expected).filter(|(_, (code, _))| *code == "right");
    let right: String = right.map(|(row, _)| format!("{row}\n")).collect();
    assert!(right.lines().count() >= 2);
    let whole = format!("{heading}\n{right}");
    folder.write("a.csv", &table);
    let (file, out) = (folder.path("a.csv"), folder.path("right.csv"));
    for threads in ["1", "3"] {
        let kept = run(&["check", &file, "--only-right", "--threads", threads, "-o", &out]);
        assert!(kept.status.success(), "{}", stderr(&kept));
        assert!(stderr(&kept).contains(&format!("{} right, ", right.lines().count())), "{}", stderr(&kept));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), whole);
    }
    assert_eq!(run(&["check", &out]).status.code(), Some(0));
    // Two inputs have one heading, and must be alike.
    assert_eq!(stdout(&run(&["check", &file, &file, "--only-right", "-q"])), format!("{whole}{right}"));
    folder.write("b.txt", format!("{FOUR_SOLVED}\n1134341221434321\n"));
    let refused = run(&["check", &file, &folder.path("b.txt"), "--only-right"]);
    assert!(stderr(&refused).contains("has other rows than"), "{}", stderr(&refused));
    assert_eq!(stdout(&run(&["check", &folder.path("b.txt"), "--only-right"])), format!("{FOUR_SOLVED}\n"));
    for more in ["--only-failures", "--format=csv", "-n3"] {
        assert_eq!(run(&["check", &file, "--only-right", more]).status.code(), Some(2), "{more}");
    }
}
