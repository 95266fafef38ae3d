//! `sudoku bench` as a user runs it. Nothing here looks at how fast anything was.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

use crate::harness::{
    Folder, SUDOKU, eventually, fixture, interrupt_after_first_line, lines, piped, possible_strategies,
    signal, stderr, stdout, succeeded, unique_puzzles, wait_for,
};
use serde_json::{Value, json};
use sudoku_stream::solver::STRATEGIES;
use sudoku_stream::solver::lanes::Backend;

fn sudoku(args: &[&str]) -> Command {
    let mut command = Command::new(SUDOKU);
    command.arg("bench").args(args).stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

/// The strategies that are timed on 9x9 lists if none is named, beside the back ends of `fast`.
fn others_for_bulk() -> impl Iterator<Item = &'static str> {
    let for_bulk = STRATEGIES.iter().filter(|strategy| strategy.is_for_bulk());
    for_bulk.map(|strategy| strategy.name()).filter(|name| *name != "fast")
}

/// The one object that is printed, of a run that only warns of short lists on standard error.
fn report(args: &[&str]) -> Value {
    let output = run(&[args, &["--json", "--repeats", "1"]].concat());
    succeeded(&output);
    let said = stderr(&output);
    assert!(said.lines().all(|line| line.ends_with("the figures are rough. Time a longer list.")), "{said}");
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn results(report: &Value) -> &[Value] {
    report["results"].as_array().unwrap()
}

/// What stands in a field of every result.
fn column<'a>(report: &'a Value, field: &str) -> Vec<&'a Value> {
    results(report).iter().map(|row| &row[field]).collect()
}

fn strategies(report: &Value) -> BTreeSet<&str> {
    column(report, "strategy").into_iter().map(|name| name.as_str().unwrap()).collect()
}

/// 100 good lines and one each that is too short, has a bad character, breaks the rules, has no solution, and has
/// several.
fn mixed(folder: &Folder) -> String {
    let mut lines = unique_puzzles(100);
    lines.insert(1, ".".repeat(80));
    lines.insert(30, "q".repeat(81));
    lines.insert(50, format!("11{}", ".".repeat(79)));
    // A cell for which no digit is left.
    lines.insert(70, format!("12345678.{}........9", ".".repeat(63)));
    lines.push(".".repeat(81));
    folder.write("mixed.txt", lines.join("\n"))
}

#[test]
fn columns_of_the_table_are_apart() {
    let folder = Folder::new();
    let list = folder.write("list.txt", lines(&unique_puzzles(5)));
    let flags: Vec<&str> = STRATEGIES.iter().flat_map(|strategy| ["--strategy", strategy.name()]).collect();
    let output = run(&[&[&list, "--kind", "text", "--repeats", "1"], &flags[..]].concat());
    succeeded(&output);
    let table = stdout(&output);
    let (_, rows) = table.split_once("nodes/puzzle\n").unwrap();
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split_whitespace().collect()).collect();
    assert!(rows.iter().all(|cells| cells.len() == 8), "{table}");
    let named = rows.iter().map(|cells| cells[0]).collect::<BTreeSet<_>>();
    assert_eq!(named, STRATEGIES.iter().map(|strategy| strategy.name()).collect());
}

#[test]
fn the_json_says_what_was_timed_and_what_was_found() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let report = report(&[&mixed]);
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert!(report["toolchain"].as_str().unwrap().starts_with("rustc "));
    assert!(report["commit"].is_string());
    assert_eq!(report["machine"]["architecture"], std::env::consts::ARCH);
    assert_eq!(report["machine"]["best_backend"], Backend::best().to_string());
    assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
    assert!(report["machine"]["cpu"].is_string());
    let settings = json!({"question": "unique", "node_limit": 1_000_000, "threads": 1, "repeats": 1});
    assert_eq!(report["settings"], settings);

    let mut seen = Vec::new();
    for row in results(&report) {
        assert_eq!(row["file"], mixed);
        assert_eq!(row["order"], "9x9");
        assert_eq!(row["notation"], "lines");
        let rates = &row["puzzles_per_second"];
        let rate = |name: &str| rates[name].as_f64().unwrap();
        assert!(0.0 < rate("min") && rate("min") <= rate("median") && rate("median") <= rate("max"));
        let runs = row["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0]["puzzles_per_second"], rates["median"]);
        assert!(runs[0]["seconds"].as_f64().unwrap() > 0.0);
        assert!(row["nodes"].is_u64() && row["guesses"].is_u64());
        assert_eq!(row["given_up"], 0);
        assert!(row["ratio_to_propagation"].as_f64().unwrap() > 0.0);
        if row["strategy"] == "propagation" {
            assert_eq!(row["ratio_to_propagation"], 1.0);
            assert!(row["nodes"].as_u64().unwrap() >= 102);
        }
        // What cannot be searched is no part of a search.
        let (puzzles, errors) = match row["kind"].as_str().unwrap() {
            "text" => (
                105,
                json!({
                    "invalid_character": 1, "no_solution": 1, "not_unique": 1, "rule_broken": 1, "wrong_length": 1
                }),
            ),
            _ => (102, json!({"no_solution": 1, "not_unique": 1})),
        };
        assert_eq!((&row["puzzles"], &row["errors"]), (&json!(puzzles), &errors));
        seen.push((row["kind"].clone(), row["strategy"].clone(), row["backend"].clone()));
    }
    let mut expected = Vec::new();
    for kind in ["text", "search"] {
        let fast = Backend::available().map(|backend| (json!("fast"), json!(backend.to_string())));
        let all = fast.chain(others_for_bulk().map(|name| (json!(name), Value::Null)));
        expected.extend(all.map(|(strategy, backend)| (json!(kind), strategy, backend)));
    }
    assert_eq!(seen, expected);
}

#[test]
fn what_is_timed_can_be_chosen() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let one = report(&[&mixed, "--kind", "search", "--strategy", "fast", "--backend", "portable"]);
    assert_eq!(results(&one).len(), 1);
    assert_eq!(results(&one)[0]["backend"], "portable");
    assert_eq!(results(&one)[0]["ratio_to_propagation"], Value::Null);

    let some =
        ["--strategy", "backtracking", "--strategy", "propagation", "--kind", "text", "--threads", "2"];
    let two = report(&[&[mixed.as_str(), "--node-limit", "100"], &some[..]].concat());
    assert_eq!(two["settings"]["threads"], 2);
    assert_eq!(two["settings"]["node_limit"], 100);
    assert_eq!(column(&two, "strategy"), ["propagation", "backtracking"]);
    // What one gives up and another does not is no disagreement.
    assert_eq!(results(&two)[0]["given_up"], 0);
    let given_up = results(&two)[1]["given_up"].as_u64().unwrap();
    assert!(given_up >= 50, "{given_up}");
    assert_eq!(results(&two)[1]["errors"]["gave_up"], given_up);
    let table = run(&[&[mixed.as_str(), "--node-limit", "100", "--repeats", "1"], &some[..]].concat());
    succeeded(&table);
    let table = stdout(&table);
    let last = |line: &str| line.split("  ").last().unwrap().trim().to_owned();
    let given: Vec<String> =
        table.lines().skip_while(|line| !line.ends_with("  given up")).map(last).collect();
    assert_eq!(given, ["given up", "0", &given_up.to_string()], "{table}");

    let first = report(&[&mixed, "--question", "first", "--kind", "text"]);
    let errors = json!({"invalid_character": 1, "no_solution": 1, "rule_broken": 1, "wrong_length": 1});
    assert!(column(&first, "errors").into_iter().all(|found| *found == errors), "{first}");
    assert_eq!(first["settings"]["question"], "first");

    let count = report(&[&mixed, "--question", "count", "--limit", "20"]);
    assert_eq!(count["settings"]["limit"], 20);
    for row in results(&count) {
        // That there are none is a good answer to how many there are.
        let errors = match row["kind"].as_str().unwrap() {
            "text" => json!({"invalid_character": 1, "rule_broken": 1, "wrong_length": 1}),
            _ => json!({}),
        };
        assert_eq!(row["errors"], errors);
    }
}

#[test]
fn the_table_has_each_contender() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let four = folder.write("four.txt", "12..............\n1...............\n");
    let output = run(&[&mixed, &four, "--repeats", "2", "--quiet"]);
    succeeded(&output);
    assert_eq!(stderr(&output), "");
    let page = stdout(&output);
    let (heading, tables) = page.split_once("\n\n").unwrap();
    assert_eq!(heading.lines().count(), 4, "{page}");
    for part in [
        &format!("best back end {}", Backend::best()),
        concat!("sudoku ", env!("CARGO_PKG_VERSION"), " (commit "),
        "question unique, 1 thread, median of 2 runs after a warm-up",
    ] {
        assert!(heading.contains(part), "{page}");
    }
    let tables: Vec<&str> = tables.split("\n\n").collect();
    assert_eq!(tables.len(), 2, "{page}");
    assert!(tables[0].starts_with(&format!(
        "{mixed}: 105 puzzles of 9x9, 5 error lines (1 invalid_character, 1 no_solution, 1 not_unique, \
         1 rule_broken, 1 wrong_length)\n"
    )));
    assert!(tables[1].starts_with(&format!("{four}: 2 puzzles of 4x4, 2 error lines (2 not_unique)\n")));
    let rows = |table: &str| -> Vec<[String; 3]> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<_> = table.lines().skip(2).map(words).collect();
        assert!(rows.iter().all(|row| row.len() == 8), "{page}");
        rows.into_iter().map(|row| [row[0].clone(), row[1].clone(), row[2].clone()]).collect()
    };
    let names = |kind: &str| {
        let fast =
            Backend::available().map(|backend| ["fast".to_owned(), backend.to_string(), kind.to_owned()]);
        let others = others_for_bulk().map(|name| [name, "-", kind].map(str::to_owned));
        fast.chain(others).collect::<Vec<_>>()
    };
    assert_eq!(rows(tables[0]), [names("text"), names("search")].concat());
    let general = ["text", "search"].map(|kind| ["propagation", "-", kind].map(str::to_owned));
    assert_eq!(rows(tables[1]), general);
}

#[test]
fn a_strategy_that_does_not_fit_is_left_out() {
    let folder = Folder::new();
    let (nine, four) = (mixed(&folder), folder.write("four.txt", "12..............\n"));
    let alone = run(&[&nine, &four, "--strategy", "fast"]);
    assert_eq!(alone.status.code(), Some(2));
    assert_eq!(stderr(&alone), "The strategy fast does not solve 4x4 puzzles. Name another.\n");
    assert!(alone.stdout.is_empty());
    let both = report(&[&four, "--strategy", "fast", "--strategy", "propagation"]);
    assert_eq!(strategies(&both), BTreeSet::from(["propagation"]));
    assert_eq!(strategies(&report(&[&four])), BTreeSet::from(["propagation"]));
}

#[test]
fn every_notation_is_read() {
    let mut seen = 0;
    for entry in fs::read_dir(fixture("good")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".answers") || name == "README.md" {
            continue;
        }
        let answers = fs::read_to_string(path.with_file_name(format!("{name}.answers"))).unwrap();
        let report = report(&[path.to_str().unwrap(), "--kind", "text", "--threads", "2"]);
        for row in results(&report) {
            assert_eq!(row["puzzles"], answers.lines().count(), "{name}");
            let errors: u64 = row["errors"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
            let expected = answers.lines().filter(|answer| answer.starts_with("error: ")).count();
            assert_eq!(errors, expected as u64, "{name}");
        }
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} files");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    for (args, part) in [
        (&["--strategy", "magic"][..], possible_strategies().as_str()),
        (&["--backend", "mmx"], "`mmx` is no back end. Use avx512, avx512vl, avx2, neon or portable."),
        (&["--kind", "speed"], "possible values: text, search"),
        (&["--repeats", "0"], "--repeats"),
        (&["--threads", "0"], "give a whole number from 1 to 1024"),
        (&["--limit", "0"], "--limit"),
    ] {
        let output = run(&[&[mixed.as_str()], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
    assert_eq!(run(&[]).status.code(), Some(2));
}

/// All files are read before anything is timed, so that nobody waits for long to hear of a wrong name.
#[test]
fn what_cannot_be_read_is_named_first() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let (empty, blank) = (folder.write("empty.txt", ""), folder.write("blank.txt", "\n# nothing\n"));
    let missing = mixed.replace("mixed", "missing");
    let heading = folder.write("heading.csv", "puzzle,solution\n");
    for (file, sentence) in [
        (&empty, format!("{empty} is empty.\n")),
        (&blank, format!("{blank} is empty.\n")),
        (&heading, format!("{heading} is empty.\n")),
        (&missing, format!("{missing}: No such file or directory (os error 2)\n")),
    ] {
        let output = run(&[&mixed, file]);
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert_eq!(stderr(&output), sentence);
        assert!(output.stdout.is_empty(), "{file}");
    }
    let block_size = fixture("bad/block_size_4.txt");
    let output = run(&[block_size.to_str().unwrap()]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(2), "Invalid block size.\n".to_owned()));
}

#[test]
fn a_short_list_is_timed_with_a_warning() {
    let folder = Folder::new();
    let (mixed, long) = (mixed(&folder), folder.write("long.txt", lines(&unique_puzzles(1_000))));
    let brief = ["--strategy", "propagation", "--repeats", "1"];
    let warning =
        format!("{mixed} has 105 puzzles; below 1,000 the figures are rough. Time a longer list.\n");
    let output = run(&[&[mixed.as_str(), &long], &brief[..]].concat());
    succeeded(&output);
    assert_eq!(stderr(&output), warning);
    assert_eq!(stderr(&run(&[&[mixed.as_str(), "--quiet"], &brief[..]].concat())), "");
    let output = compared(&mixed, SUDOKU, &[]);
    succeeded(&output);
    assert_eq!(stderr(&output), warning);
}

/// Nothing but lines that cannot be searched is no reason to fail.
#[test]
fn a_file_of_bad_lines_is_timed_too() {
    let folder = Folder::new();
    let bad = folder.write("bad.txt", "11..............\n22..............\n");
    let report = report(&[&bad]);
    let puzzles: Vec<_> = column(&report, "puzzles").into_iter().cloned().collect();
    assert_eq!(puzzles, [2, 0]);
    assert_eq!(results(&report)[0]["errors"], json!({"rule_broken": 2}));
}

#[test]
fn a_list_that_is_slower_than_the_least_rate_fails() {
    let folder = Folder::new();
    let list = mixed(&folder);
    let timed = |least: &str| run(&["-q", &list, "--kind", "text", "--repeats", "1", "--min-rate", least]);
    succeeded(&timed("1"));
    let slow = timed("1000000000000");
    assert_eq!(slow.status.code(), Some(1));
    assert!(
        stderr(&slow).ends_with(" puzzles a second, and --min-rate asks for 1,000,000,000,000.\n"),
        "{}",
        stderr(&slow)
    );
    assert!(stdout(&slow).contains("fast"), "the report is there: {}", stdout(&slow));
}

#[test]
fn an_interrupt_ends_a_run_that_would_take_for_ever() {
    let folder = Folder::new();
    let endless = folder.write("blank.txt", ".".repeat(81));
    let mut child = sudoku(&[&endless, "--question", "count", "--limit", &u64::MAX.to_string()])
        .args(["--node-limit", &u64::MAX.to_string(), "--kind", "search"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let page = interrupt_after_first_line(&mut child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("\nInterrupted. Stopped after 0 of "), "{}", stderr(&output));
    assert!(!page.contains("kind"), "{page}");
}

/// A signal to the program that compares is not one to the program whose turn it is.
#[test]
fn a_signal_ends_a_comparison_in_the_middle_of_a_turn() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let turn = folder.path("turn");
    let endless = impostor_that(&format!("touch '{turn}'; exec tail -f /dev/null"), &folder, &mixed, |_| {});
    for (name, code) in [("-TERM", 143), ("-INT", 130)] {
        let mut child = piped(sudoku(&[&mixed, "--strategy", "propagation", "--compare", &endless]));
        let mut child = child.spawn().unwrap();
        eventually("the turn", || folder.exists("turn"));
        signal(&child, name);
        wait_for("the end of the program", || child.try_wait().unwrap());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains("Interrupted. Stopped after "), "{}", stderr(&output));
        fs::remove_file(&turn).unwrap();
    }
}

/// A program that says it times the same as this one, and claims what it likes.
pub fn impostor(folder: &Folder, mixed: &str, turn: &str, change: impl Fn(&mut Value)) -> String {
    impostor_that(&format!("echo '{turn}'"), folder, mixed, change)
}

/// One that takes its turn by a command of the shell.
fn impostor_that(acts: &str, folder: &Folder, mixed: &str, change: impl Fn(&mut Value)) -> String {
    let chosen = ["--kind", "text", "--strategy", "propagation", "--turns"];
    let greeting = run(&[&[mixed], &chosen[..]].concat());
    succeeded(&greeting);
    let mut greeting: Value = serde_json::from_str(&stdout(&greeting)).unwrap();
    change(&mut greeting);
    let script = format!("#!/bin/sh\necho '{greeting}'\nwhile read row; do {acts}; done\n");
    let path = folder.write("impostor", &script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What a comparison with that program says.
fn compared(mixed: &str, other: &str, more: &[&str]) -> Output {
    run(&[&[mixed, "--strategy", "propagation", "--compare", other, "--time", "1"], more].concat())
}

pub const NO_TIME: &str = r#"{"wall": 1e-9, "processor": 1e-9}"#;
const LONG_TIME: &str = r#"{"wall": 1e9, "processor": 1e9}"#;

#[test]
fn a_comparison_is_told_as_json_and_as_a_table() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let this = SUDOKU;
    let output = compared(&mixed, this, &["--json"]);
    succeeded(&output);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["this"]["version"], report["other"]["version"]);
    assert_eq!((&report["max_regression_percent"], &report["regressions"]), (&Value::Null, &json!(0)));
    assert!(report["processes"].as_u64().unwrap() > 0 && report["settings"]["repeats"].is_null());
    let [row] = results(&report) else { panic!("{report}") };
    let names =
        json!({"file": mixed, "order": "9x9", "strategy": "propagation", "backend": null, "kind": "text"});
    assert!(names.as_object().unwrap().iter().all(|(name, value)| row[name] == *value), "{row}");
    assert!(row["pairs"].as_u64().unwrap() >= 8 && row["puzzles"] == 105);
    for time in ["wall_time", "processor_time"] {
        let figure = |name: &str| row[time][name].as_f64().unwrap();
        assert!(figure("low_percent") <= figure("percent") && figure("percent") <= figure("high_percent"));
    }
    assert!(["same", "faster", "slower"].contains(&row["verdict"].as_str().unwrap()), "{row}");

    let page = stdout(&compared(&mixed, this, &["--markdown", "--quiet"]));
    let table: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(table.len(), 3, "{page}");
    assert!(table.iter().all(|line| line.matches('|').count() == 10), "{page}");
    assert!(table[2].starts_with("| mixed.txt | propagation | - | text | "), "{page}");
}

#[test]
fn both_programs_read_what_the_flags_of_input_say() {
    let folder = Folder::new();
    let row = |puzzle: String| format!("{puzzle};1...............\n");
    let rows: String = unique_puzzles(20).into_iter().map(row).collect();
    let table = folder.write("table.csv", format!("puzzle;small\n{rows}"));
    for (flags, order) in [(&[][..], "9x9"), (&["--column", "small", "--delimiter", ";"], "4x4")] {
        let output = compared(&table, SUDOKU, &[flags, &["--json"]].concat());
        succeeded(&output);
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(column(&report, "order"), [order], "{report}");
    }
}

#[test]
fn a_slower_program_fails_a_comparison_and_a_faster_one_does_not() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let fast = impostor(&folder, &mixed, NO_TIME, |_| {});
    let limited = compared(&mixed, &fast, &["--max-regression", "5%"]);
    assert_eq!(limited.status.code(), Some(1), "{}", stderr(&limited));
    assert!(
        stdout(&limited).lines().any(|line| {
            line.starts_with("1 regression: slower by ")
                && line.ends_with(" %, where less than 5 % is allowed.")
        }),
        "{}",
        stdout(&limited)
    );
    assert!(stdout(&limited).trim_end().ends_with("REGRESSION"), "{}", stdout(&limited));
    let unlimited = compared(&mixed, &fast, &[]);
    succeeded(&unlimited);
    assert!(stdout(&unlimited).trim_end().ends_with("slower"), "{}", stdout(&unlimited));

    let slow = impostor(&folder, &mixed, LONG_TIME, |_| {});
    let limited = compared(&mixed, &slow, &["--max-regression", "5"]);
    succeeded(&limited);
    assert!(stdout(&limited).trim_end().ends_with("faster"), "{}", stdout(&limited));
}

#[test]
fn programs_that_cannot_be_compared_are_refused() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let refused = |other: &str, code: i32, part: &str| {
        let output = compared(&mixed, other, &[]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(part) && output.stdout.is_empty(), "{}", stderr(&output));
    };
    refused(
        "/bin/true",
        2,
        "/bin/true cannot be compared with: it is older than --compare, or another program",
    );
    let other_protocol = impostor(&folder, &mixed, NO_TIME, |greeting| greeting["protocol"] = json!(0));
    refused(&other_protocol, 2, "it takes turns in another way");
    let other_answers = impostor(&folder, &mixed, NO_TIME, |greeting| {
        greeting["rows"][0]["errors"]["no_solution"] = json!(2);
    });
    refused(&other_answers, 1, "The programs disagree about ");
    let nothing = impostor(&folder, &mixed, NO_TIME, |greeting| greeting["rows"] = json!([]));
    refused(&nothing, 2, "nothing in common");
    let gone = impostor(&folder, &mixed, "no turn", |_| {});
    refused(&gone, 2, "ended in its turn");
    let this = SUDOKU;
    for (args, part) in [
        (&["-", "--compare", this][..], "Standard input cannot be read by two programs."),
        (&[&mixed, "--max-regression", "5%"], "--compare <PROGRAM>"),
        (&[&mixed, "--compare", this, "--max-regression=-1%"], "write a share from 0% to 1000%, such as 5%"),
        (&[&mixed, "--markdown=report.md"], "--compare <PROGRAM>"),
        (&[&mixed, "--json", "-f", "table"], "--format, --json and --markdown name one form each"),
        (
            &[&mixed, "--compare", this, "--json", "--markdown"],
            "--format, --json and --markdown name one form each",
        ),
        (
            &[&mixed, "--compare", this, "--json=report", "--markdown=report"],
            "--json and --markdown name the same file, report. Name two.",
        ),
        (
            &[&mixed, "--json=/no/such/folder/report.json"],
            "/no/such/folder/report.json: there is no folder /no/such/folder.",
        ),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_comparison_takes_a_program() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    folder.write("base.json", "{}\n");
    let brief = ["--strategy", "propagation", "--time", "1"];
    let with = |other: &str| {
        sudoku(&[&mixed, "--compare", other]).args(brief).current_dir(folder.root()).output().unwrap()
    };
    let refusal = |other: &str| {
        let output = with(other);
        assert_eq!(output.status.code(), Some(2), "{other}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{other}");
        stderr(&output)
    };
    for other in ["base.json", "./base.json", "."] {
        let sentence = "--compare takes another build of sudoku, a program such as ./sudoku-before; ";
        assert_eq!(refusal(other), format!("{sentence}{other} is no program.\n"));
    }
    for other in ["missing.json", "./missing", "/no/such/program"] {
        let sentence = "--compare takes another build of sudoku, such as ./sudoku-before.";
        assert_eq!(refusal(other), format!("There is no program {other}. {sentence}\n"));
    }
    // A program in the current folder is found by its name, too.
    impostor(&folder, &mixed, NO_TIME, |_| {});
    succeeded(&with("impostor"));
}

/// Both programs read the lists, and one of them says it.
#[test]
fn a_list_that_cannot_be_compared_on_is_named_once() {
    let folder = Folder::new();
    let (missing, empty) = (folder.path("missing.txt"), folder.write("empty.txt", ""));
    for (list, sentence) in [
        (&missing, format!("{missing}: No such file or directory (os error 2)\n")),
        (&empty, format!("{empty} is empty.\n")),
    ] {
        let output = compared(list, SUDOKU, &[]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(2), sentence));
        assert!(output.stdout.is_empty(), "{list}");
    }
}

#[test]
fn one_measurement_gives_several_reports() {
    let folder = Folder::new();
    let mixed = mixed(&folder);
    let flag = |name: &str, file: &str| format!("--{name}={}", folder.path(file));
    let (json, markdown) = (flag("json", "report.json"), flag("markdown", "report.md"));
    let output = compared(&mixed, SUDOKU, &[&json, &markdown, "--quiet"]);
    succeeded(&output);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let [row] = results(&report) else { panic!("{report}") };
    let time = |name: &str| row["wall_time"][name].as_f64().unwrap();
    let (percent, low, high) = (time("percent"), time("low_percent"), time("high_percent"));
    let cell = format!("{percent:+.1} % ({low:+.1} to {high:+.1})");
    let (page, table) = (folder.read("report.md"), stdout(&output));
    assert!(table.contains("\nBoth programs are built from the same commit.\n"), "{table}");
    assert!(page.contains(&format!("| {cell} |")) && table.contains(&cell), "{cell}: {page}{table}");
    assert!(table.contains("\n  list ") && !table.contains('|'), "{table}");

    // Without a file a flag is short for a form, wherever it stands.
    let output = run(&["--json", &mixed, "--compare", SUDOKU, "--time", "1", &markdown]);
    succeeded(&output);
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(results(&printed).len(), 1);
    assert!(folder.read("report.md").contains("\n| list |"), "{}", folder.read("report.md"));

    let output = run(&[&mixed, "--repeats", "1", "--kind", "text", &json]);
    succeeded(&output);
    assert!(stdout(&output).contains("puzzles/s"), "{}", stdout(&output));
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert!(report["settings"]["repeats"] == 1 && !results(&report).is_empty(), "{report}");
    assert_eq!(folder.names(), ["mixed.txt", "report.json", "report.md"]);
}
