//! What `sudoku solve -` promises to engines that pipe parts of a text through it.

use std::process::Output;

use crate::harness::{Random, feed, is_solution, list, stderr, stdout, succeeded, sudoku, unique_puzzles};

/// How the Spark example calls it.
const TABLE: [&str; 12] = [
    "solve",
    "-",
    "--format",
    "tsv",
    "--column",
    "puzzle",
    "--delimiter",
    "tab",
    "--size",
    "9",
    "--threads",
    "1",
];
const HEADING: &str = "key\tpuzzle\n";
const END: &str = "end\t\n";

fn pipe(args: &[&str], input: &str) -> Output {
    feed(&mut sudoku(args), input.as_bytes())
}

/// The rows of a part that is piped by itself, with its frame.
fn part(rows: &str) -> String {
    let output = pipe(&[&TABLE[..], &["--quiet"]].concat(), &format!("{HEADING}{rows}{END}"));
    succeeded(&output);
    assert_eq!(stderr(&output), "");
    let text = stdout(&output);
    let rows = text.strip_prefix("key\tpuzzle\tsolution\terror\n").unwrap_or_else(|| panic!("{text}"));
    rows.strip_suffix("end\t\t\twrong_length\n").unwrap_or_else(|| panic!("{text}")).to_owned()
}

/// Lines of all kinds, none of which is blank.
fn lines_of_all_kinds() -> Vec<String> {
    let puzzles = unique_puzzles(400);
    let mut lines: Vec<String> = list(400).lines().map(str::to_owned).collect();
    for (k, bad) in
        ["puzzle", "error: no", "x", "0", "a,b;c|d", "\u{1}", "\u{fffd}é", "....", "{}", "# 1", "-"]
            .into_iter()
            .enumerate()
    {
        lines.insert(31 * k, bad.to_owned());
    }
    // Rules broken, no solution, a character too many.
    lines.push(puzzles[0].replacen(['.', '0'], "123456789", 1));
    lines.push(format!("11{}", &puzzles[1][2..]));
    lines
        .push("12345678...........................9.............................................".to_owned());
    lines.push(puzzles[2].clone() + " ");
    lines
}

#[test]
fn each_line_has_one_answer_wherever_the_text_is_cut() {
    let lines: Vec<String> = lines_of_all_kinds().into_iter().filter(|line| !line.starts_with('#')).collect();
    let args = ["solve", "-", "--notation", "lines", "--size", "9", "--threads", "1", "--quiet"];
    let mut random = Random(7);
    for form in ["solution", "pair"] {
        let args = [&args[..], &["--format", form]].concat();
        let mut at = 0;
        while at < lines.len() {
            let end = (at + 1 + random.below(60)).min(lines.len());
            let output =
                pipe(&args, &lines[at..end].iter().map(|line| format!("{line}\n")).collect::<String>());
            // Bad lines are answers: the exit code is 0, and nothing is said.
            succeeded(&output);
            assert_eq!(stderr(&output), "");
            let text = stdout(&output);
            let answers: Vec<&str> = text.lines().collect();
            assert_eq!(answers.len(), end - at, "{at} to {end}");
            for (number, (line, answer)) in lines[at..end].iter().zip(answers).enumerate() {
                let solution = answer.rsplit(',').next().unwrap();
                let is_answered =
                    is_solution_of(solution, line) && (form == "solution" || answer.starts_with(line.trim()));
                let is_error = answer.starts_with(&format!("error: Line {} ", number + 1));
                assert!(is_answered || is_error, "{line}: {answer}");
            }
            at = end;
        }
    }
}

fn is_solution_of(solution: &str, line: &str) -> bool {
    let line = line.trim();
    let is_grid =
        |text: &str| text.len() == 81 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_grid(line) && is_grid(solution) && is_solution(solution, line)
}

/// With codes instead of sentences, an answer does not depend on where its line stands.
#[test]
fn a_table_with_keys_can_be_cut_anywhere() {
    let rows: Vec<String> =
        lines_of_all_kinds().iter().enumerate().map(|(key, line)| format!("{key}\t{line}\n")).collect();
    let whole = part(&rows.concat());
    assert_eq!(whole.lines().count(), rows.len());
    for (row, answer) in rows.iter().zip(whole.lines()) {
        let [key, puzzle, solution, error] = answer.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{answer}")
        };
        assert_eq!(format!("{key}\t{puzzle}\n"), *row);
        assert!(solution.is_empty() != error.is_empty(), "{answer}");
        assert!(!error.is_empty() || is_solution_of(solution, puzzle), "{answer}");
    }
    for size in [1, 7, 100] {
        let parts: String = rows.chunks(size).take(40).map(|rows| part(&rows.concat())).collect();
        assert!(whole.starts_with(&parts), "parts of {size}");
    }
    // A part without rows is no error.
    assert_eq!(part(""), "");
}

#[test]
fn a_field_with_a_tab_stays_one_field() {
    let rows = "1\t\"a\tb\"\n2\t\"\"\"quoted\"\"\"\n3\t\"\"\n";
    assert_eq!(
        part(rows),
        "1\t\"a\tb\"\t\twrong_length\n2\t\"\"\"quoted\"\"\"\t\twrong_length\n3\t\"\"\t\twrong_length\n"
    );
}

#[test]
fn only_errors_of_the_run_change_the_exit_code() {
    let bad = pipe(&["solve", "-", "--notation", "lines", "--size", "9", "-q"], "x\ny\n");
    assert_eq!(bad.status.code(), Some(0));
    let failed =
        pipe(&["solve", "-", "--notation", "lines", "--size", "9", "-q", "--fail-on-error"], "x\ny\n");
    assert_eq!(failed.status.code(), Some(1));
    let empty = pipe(&["solve", "-", "--notation", "lines", "--size", "9", "-q"], "");
    assert_eq!((empty.status.code(), stderr(&empty).as_str()), (Some(2), "standard input is empty.\n"));
}
