//! What is named on the command line: puzzles and files, commands, forms, colours, help.

use std::fs;
use std::process::{Command, Output, Stdio};

use crate::harness::daemon::Daemon;
use crate::harness::{
    self, Folder, SUDOKU, grid, lines, skipped, stderr, stdout, succeeded, sudoku, unique_puzzles,
};

const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLVED: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
/// The last cell of the first row can only be a 9, which its column has already.
const UNSOLVABLE: &str = "12345678...........................9.............................................";
/// Row by row it takes very long.
const HARD: &str = ".....6....59.....82....8....45........3........6..3.54...325..6..................";
const FOUR: &str = "12343412..4.4..1";
const FOUR_SOLVED: &str = "1234341221434321";
const MISSING: &str = "No such file or directory (os error 2)";

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

fn feed(args: &[&str], input: &str) -> Output {
    harness::feed(&mut sudoku(args), input.as_bytes())
}

#[track_caller]
fn assert_gives(output: &Output, code: i32, out: &str, err: &str) {
    assert_eq!((stdout(output).as_str(), stderr(output).as_str()), (out, err));
    assert_eq!(output.status.code(), Some(code));
}

/// Runs on a terminal, which shows standard output and standard error. `None`, and a word about it,
/// where that is not possible.
fn on_terminal(arguments: &str, environment: &[(&str, &str)]) -> Option<Output> {
    let command = format!("'{SUDOKU}' {arguments}");
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::null());
    for name in ["LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"] {
        script.env_remove(name);
    }
    script.env("TERM", "xterm").envs(environment.iter().copied());
    let output = script.output();
    if output.is_err() {
        skipped("there is no `script` on this machine");
    }
    output.ok()
}

/// The text of a terminal without colours.
fn plain(output: &Output) -> String {
    let text = stdout(output).replace('\r', "");
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

#[test]
fn a_puzzle_is_solved_with_and_without_a_command() {
    for args in [&[EASY][..], &["solve", EASY], &["-q", EASY], &["--", EASY], &["solve", "--size", "9", EASY]]
    {
        assert_gives(&run(args), 0, &format!("{SOLVED}\n"), "");
    }
    assert_gives(&run(&[EASY, "-f", "csv"]), 0, &format!("puzzle,solution\n{EASY},{SOLVED}\n"), "");
    let apart: String = EASY.chars().map(|cell| format!("{cell} ")).collect();
    let rows: Vec<&str> = (0..9).map(|row| &EASY[9 * row..9 * row + 9]).collect();
    for written in [&apart, &rows.join("\n")] {
        assert_gives(&run(&[written]), 0, &format!("{SOLVED}\n"), "");
    }
    let blank = EASY.replacen("53", "..", 1);
    let dashes = run(&[&blank.replace('.', "-")]);
    assert!(grid(stdout(&dashes).trim()).solves(&grid(&blank)), "{dashes:?}");
    assert_gives(&run(&["--size", "1", "1"]), 0, "1\n", "");
}

#[test]
fn without_arguments_standard_input_is_read() {
    let text = lines(&unique_puzzles(50));
    let named = feed(&["solve", "-"], &text);
    succeeded(&named);
    for args in [&[][..], &["-"], &["solve"], &["-j", "1"]] {
        let output = feed(args, &text);
        succeeded(&output);
        assert!(output.stdout == named.stdout, "{args:?}");
        assert!(stderr(&output).starts_with("50 puzzles in "), "{args:?}: {}", stderr(&output));
    }
    let Some(shown) = on_terminal("", &[]) else { return };
    assert_eq!(shown.status.code(), Some(2));
    assert!(plain(&shown).contains("\nUsage: sudoku [PUZZLE|FILE]...\n"), "{}", plain(&shown));
}

/// A file with the name of a command, or of a puzzle, is what it is.
#[test]
fn a_command_is_a_command_and_a_file_is_a_file() {
    let folder = Folder::new();
    for name in ["solve", "list", EASY] {
        folder.write(name, format!("{FOUR}\n"));
    }
    let run = |args: &[&str]| sudoku(args).current_dir(folder.root()).output().unwrap();
    let solved = format!("{FOUR_SOLVED}\n");
    for args in [&["list"][..], &["./solve"], &["solve", "solve"], &["--", "solve"], &[EASY]] {
        assert_gives(&run(args), 0, &solved, "");
    }
    assert_gives(&run(&["solve"]), 2, "", "standard input is empty.\n");
}

#[test]
fn a_mistyped_command_is_told_from_a_missing_file() {
    for args in [&["slove"][..], &["slove", "puzzles.txt"]] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        for part in [
            "error: unrecognized subcommand 'slove'\n",
            "tip: a similar subcommand exists: 'solve'\n",
            &format!("tip: there is no file 'slove' to solve either: {MISSING}\n"),
            "Usage: sudoku [PUZZLE|FILE]...\n",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
    let help = run(&["help", "slove"]);
    assert_eq!(help.status.code(), Some(2));
    assert!(!stderr(&help).contains("no file"), "{}", stderr(&help));
    assert_gives(&run(&["puzzels.txt"]), 2, "", &format!("puzzels.txt: {MISSING}\n"));
    assert_gives(&run(&["no/slove"]), 2, "", &format!("no/slove: {MISSING}\n"));
}

#[test]
fn what_is_nearly_a_puzzle_gets_a_hint() {
    let (short, long) = (&EASY[1..], format!("{EASY}.."));
    let odd = EASY.replacen("19", "1?x!", 1);
    for command in ["solve", "count", "validate", "check", "show", "trace"] {
        for (argument, hint) in [
            (short, " It has 80 cells; a 9x9 puzzle has 81."),
            (&long, " It has 83 cells; a 9x9 puzzle has 81."),
            (&FOUR[1..], " It has 15 cells; a 4x4 puzzle has 16."),
            ("missing", ""),
        ] {
            let stop = if hint.is_empty() { "" } else { "." };
            assert_gives(&run(&[command, argument]), 2, "", &format!("{argument}: {MISSING}{stop}{hint}\n"));
        }
    }
    // Of another size than was given.
    let other = run(&["show", EASY, "--size", "16"]);
    assert_gives(&other, 2, "", &format!("{EASY}: {MISSING}. It has 81 cells; a 16x16 puzzle has 256.\n"));
    let odd = run(&[&odd[..81]]);
    assert!(stderr(&odd).contains("It has 81 characters like a 9x9 puzzle, but"), "{}", stderr(&odd));
    let large = run(&[&".".repeat(624)]);
    assert!(stderr(&large).ends_with(". It has 624 cells; a 25x25 puzzle has 625.\n"), "{}", stderr(&large));
    assert_gives(&run(&["solve", ""]), 2, "", "An argument is empty. Name a puzzle or a file.\n");
}

/// A puzzle by itself has no line, and what is wrong with it is what was found.
#[test]
fn an_argument_without_an_answer_is_found() {
    let sentence = "error: The puzzle has no solution.\n";
    assert_gives(&run(&[UNSOLVABLE]), 1, sentence, "");
    let broken = EASY.replacen('.', "5", 1);
    assert_gives(&run(&[&broken]), 1, "error: The puzzle breaks the rules: 5 appears twice in row 1.\n", "");
    let several = run(&[EASY, "--question", "unique", FOUR, "................"]);
    let answers = format!("{SOLVED}\n{FOUR_SOLVED}\nerror: Argument 3 has more than one solution.\n");
    assert_eq!((several.status.code(), stdout(&several)), (Some(1), answers));
    // Of a pipe it is an answer like any other.
    assert_gives(&feed(&["solve"], UNSOLVABLE), 0, "error: Line 1 has no solution.\n", "");
    let json = stdout(&run(&[UNSOLVABLE, "-f", "jsonl"]));
    assert!(json.contains("\"message\":\"The puzzle has no solution.\""), "{json}");
}

/// Two lists of different sizes, a puzzle and standard input.
struct Several {
    folder: Folder,
    puzzles: Vec<String>,
}

impl Several {
    fn new() -> Self {
        let (folder, puzzles) = (Folder::new(), unique_puzzles(30));
        folder.write("nine.txt", lines(&puzzles));
        folder.write("four.csv", format!("# no table\n{FOUR}\n12\n"));
        Self { folder, puzzles }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = sudoku(args);
        harness::feed(command.current_dir(self.folder.root()), format!("# easy\n{FOUR}\n1\n").as_bytes())
    }
}

#[test]
fn several_inputs_are_answered_in_order() {
    let several = Several::new();
    let inputs = ["nine.txt", EASY, "-", "four.csv"];
    let solved = several.run(&[&["solve"][..], &inputs].concat());
    succeeded(&solved);
    assert!(stderr(&solved).starts_with("35 puzzles in "), "{}", stderr(&solved));
    let answers = stdout(&solved);
    let (nine, rest) = answers.split_at(30 * 82);
    for (answer, puzzle) in nine.lines().zip(&several.puzzles) {
        assert!(grid(answer).solves(&grid(puzzle)));
    }
    let expected = format!(
        "{SOLVED}\n{FOUR_SOLVED}\nerror: Line 3 of standard input has the wrong length. It has 1 cell; a 4x4 puzzle has 16.\n{FOUR_SOLVED}\nerror: Line 3 of \
         four.csv has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\n"
    );
    assert!(rest.starts_with(&expected[..200]), "{rest}");

    let bare = several.run(&inputs);
    assert!(bare.stdout == solved.stdout);
    let out = several.folder.path("out.txt");
    succeeded(&several.run(&[&inputs[..], &["-o", &out, "-q"]].concat()));
    assert_eq!(several.folder.read("out.txt"), answers);

    // One heading for all of them.
    let csv = stdout(&several.run(&[FOUR, "four.csv", "-f", "csv"]));
    assert_eq!(csv.matches("puzzle,solution\n").count(), 1, "{csv}");
    assert!(
        csv.ends_with(
            "\"error: Line 3 of four.csv has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\"\n"
        ),
        "{csv}"
    );
    let jsonl = stdout(&several.run(&[FOUR, "four.csv", "-f", "jsonl"]));
    let objects: Vec<serde_json::Value> =
        jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&objects[0]["argument"], &objects[0]["line"]), (&1.into(), &1.into()), "{jsonl}");
    assert_eq!((&objects[2]["file"], &objects[2]["line"]), (&"four.csv".into(), &3.into()), "{jsonl}");
    assert_eq!(
        objects[2]["error"]["message"],
        "Line 3 of four.csv has the wrong length. It has 2 cells; a 4x4 puzzle has 16."
    );
}

#[test]
fn a_server_answers_several_inputs_alike() {
    let (several, server) = (Several::new(), Daemon::start(&[]));
    let inputs = ["nine.txt", UNSOLVABLE, "-", "four.csv"];
    let address = server.address.to_string();
    for form in ["solution", "csv", "jsonl"] {
        let here = several.run(&[&inputs[..], &["-q", "-f", form]].concat());
        let there = several.run(&[&inputs[..], &["-q", "-f", form, "--server", &address]].concat());
        assert_eq!(stdout(&here), stdout(&there), "{form}");
        assert_eq!((here.status.code(), there.status.code()), (Some(1), Some(1)), "{}", stderr(&there));
    }
}

#[test]
fn several_inputs_are_looked_at_before_one_is_answered() {
    let several = Several::new();
    several.folder.write("empty.txt", "");
    for (bad, sentence) in [
        ("missing.txt", format!("missing.txt: {MISSING}\n")),
        ("empty.txt", "empty.txt is empty.\n".to_owned()),
        (".", ". is a folder: name its files, ./* for all of them.\n".to_owned()),
    ] {
        assert_gives(&several.run(&["nine.txt", bad, "-o", "out.txt"]), 2, "", &sentence);
        assert!(!several.folder.exists("out.txt"));
    }
    let strict = several.run(&["nine.txt", "four.csv", "--strict"]);
    assert_gives(
        &strict,
        2,
        "",
        "Line 3 of four.csv has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\n",
    );
    succeeded(&several.run(&["nine.txt", FOUR, "--strict"]));
    let itself = several.run(&["four.csv", "nine.txt", "-o", "nine.txt"]);
    assert_gives(&itself, 2, "", "nine.txt is the input itself. Name another file with -o.\n");
}

#[test]
fn what_takes_one_input_refuses_several() {
    let several = Several::new();
    let advice = "2 inputs were named. Name one";
    for (args, flag) in [
        (&["solve", "nine.txt", EASY, "--shard", "1/2"][..], "--shard divides one file"),
        (&["nine.txt", EASY, "-o", "out.txt", "--resume"], "--resume continues a run over one file"),
        (&["show", "nine.txt", EASY, "--index", "1"], "--index chooses from one file"),
        (&["show", "nine.txt", EASY, "--random"], "--random chooses from one file"),
    ] {
        let output = several.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = stderr(&output);
        assert!(said.starts_with(flag) && said.contains(advice), "{args:?}: {said}");
    }
    for command in ["show", "candidates", "hint", "steps", "trace", "page"] {
        let said = stderr(&several.run(&[command, "nine.txt", "3"]));
        assert!(said.contains("--index 3"), "{command}: {said}");
    }
    let twice = "`-` was named twice, but standard input can be read only once.\n";
    assert_gives(&several.run(&["-", "-"]), 2, "", twice);
    for command in ["split", "hint", "steps", "trace", "page", "shell"] {
        let output = several.run(&[command, EASY, "nine.txt"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let said = stderr(&output);
        assert!(said.starts_with("error: unexpected argument 'nine.txt' found\n"), "{said}");
        assert!(said.contains("tip: this takes one puzzle or file at a time\n"), "{said}");
        let help = stdout(&several.run(&[command, "--help"]));
        assert!(!help.contains("[PUZZLE|FILE]...") && !help.contains("Several are read"), "{help}");
    }
    assert_eq!(several.folder.names(), ["four.csv", "nine.txt"]);
}

#[test]
fn what_is_passed_over_is_said() {
    let several = Several::new();
    let rows: String =
        EASY.as_bytes().chunks(9).map(|row| format!("{}\n", str::from_utf8(row).unwrap())).collect();
    several.folder.write("post.txt", format!("Grid 1\n{rows}\n# a comment\nGrid 2\n{rows}\nHave fun\n"));
    let said = "post.txt: 2 puzzles of 9x9 in the notation grid, all well formed.\n\
                post.txt was read as 9x9, rows of cells, . for blanks. 3 lines passed over.\n";
    assert_gives(&several.run(&["validate", "post.txt"]), 0, said, "");
    let solved = several.run(&["solve", "post.txt"]);
    assert!(stderr(&solved).ends_with(": 2 answered. 3 lines passed over.\n"), "{}", stderr(&solved));
    // Where every line has an answer, nothing is passed over.
    let solved = several.run(&["solve", "nine.txt"]);
    assert!(stderr(&solved).ends_with(": 30 answered.\n"), "{}", stderr(&solved));
}

#[test]
fn validate_and_show_take_several_inputs() {
    let several = Several::new();
    let validated = several.run(&["validate", "nine.txt", EASY, "four.csv"]);
    let sentences = "nine.txt: 30 puzzles of 9x9 in the notation lines, all well formed.\n\
                     Argument 2: 1 puzzle of 9x9 in the notation lines, all well formed.\n\
                     Line 3 of four.csv has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\n";
    assert_eq!(stdout(&validated), sentences);
    let one = several.run(&["validate", EASY, "-o", "report.txt"]);
    assert_gives(&one, 0, "", "");
    let report = "The puzzle: 1 puzzle of 9x9 in the notation lines, all well formed.\n";
    assert_eq!(several.folder.read("report.txt"), report);
    let broken = EASY.replacen('.', "5", 1);
    let validated = several.run(&["validate", &broken]);
    assert_eq!(stdout(&validated), "The puzzle breaks the rules: 5 appears twice in row 1.\n");

    let shown = several.run(&["show", "four.csv", FOUR, "--solve"]);
    succeeded(&shown);
    let shown = stdout(&shown);
    assert!(shown.starts_with("four.csv: 4x4, 11 clues\n\n1 2 | 3 4\n"), "{shown}");
    assert!(shown.contains("\n\nArgument 2: 4x4, 11 clues\n\n1 2 | 3 4\n"), "{shown}");
    assert!(stdout(&several.run(&["show", FOUR])).starts_with("4x4, 11 clues\n\n1 2 | 3 4\n"));
}

#[test]
fn one_puzzle_on_a_terminal_is_drawn() {
    let folder = Folder::new();
    let file = folder.write("one.txt", format!("# easy\n{EASY}\n"));
    let utf8 = [("LANG", "C.UTF-8")];
    for named in [EASY, &format!("'{file}'")] {
        let Some(drawn) = on_terminal(named, &utf8) else { return };
        succeeded(&drawn);
        let text = plain(&drawn);
        let (boxes, line) = text.split_at(text.rfind("The only").unwrap());
        assert_eq!(boxes.lines().next().unwrap(), "┌───────┬───────┬───────┐");
        assert_eq!(boxes.lines().nth(1).unwrap(), "│ 5 3 4 │ 6 7 8 │ 9 1 2 │");
        assert_eq!(boxes.lines().count(), 13, "{text}");
        let digits: String = boxes.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits, SOLVED);
        assert!(line.starts_with("The only solution. 30 clues, ") && line.ends_with("ms.\n"), "{text}");
        // Clues are bold, the others green.
        let start = "│ \x1b[1m5\x1b[0m \x1b[1m3\x1b[0m \x1b[32m4\x1b[0m │";
        assert!(stdout(&drawn).contains(start), "{:?}", stdout(&drawn));
    }
    let ruled = plain(&on_terminal(EASY, &[("LC_ALL", "C"), ("LANG", "C.UTF-8")]).unwrap());
    assert!(ruled.starts_with("5 3 4 | 6 7 8 | 9 1 2\n") && ruled.contains("The only solution."), "{ruled}");
    let several = plain(&on_terminal("................", &utf8).unwrap());
    assert!(several.contains("└─────┴─────┘\nOne of several solutions. 0 clues, "), "{several}");
    let shown = plain(&on_terminal(&format!("show {FOUR}"), &utf8).unwrap());
    assert!(shown.starts_with("4x4, 11 clues\n\n┌─────┬─────┐\n│ 1 2 │ 3 4 │\n"), "{shown}");

    // With a form, a list, or a question that it does not answer, it is as in a pipe.
    let formed = plain(&on_terminal(&format!("{EASY} -f pair"), &utf8).unwrap());
    assert_eq!(formed, format!("{EASY},{SOLVED}\n"));
    let both = plain(&on_terminal(&format!("{EASY} {FOUR} -q"), &utf8).unwrap());
    assert_eq!(both, format!("{SOLVED}\n{FOUR_SOLVED}\n"));
    assert_eq!(plain(&on_terminal(&format!("count {EASY}"), &utf8).unwrap()), "1\n");
}

#[test]
fn one_puzzle_without_a_solution_is_one_sentence_on_a_terminal() {
    let broken = EASY.replacen('.', "5", 1);
    for (arguments, sentence) in [
        (UNSOLVABLE, "The puzzle has no solution."),
        (&broken, "The puzzle breaks the rules: 5 appears twice in row 1."),
        ("................ --question unique", "The puzzle has more than one solution."),
        (&format!("{HARD} --strategy backtracking --node-limit 9"), "The puzzle was given up after 9 nodes."),
    ] {
        let Some(shown) = on_terminal(arguments, &[("LANG", "C.UTF-8")]) else { return };
        assert_eq!((plain(&shown), shown.status.code()), (format!("{sentence}\n"), Some(1)));
    }
}

#[test]
fn colours_are_chosen_by_flag_and_environment() {
    let has_colours = |args: &[&str], environment: &[(&str, &str)]| {
        let mut command = sudoku(args);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.envs(environment.iter().copied()).output().unwrap();
        succeeded(&output);
        stdout(&output).contains("\x1b[")
    };
    for args in [&["show", EASY][..], &["solve", EASY, "-f", "grid"], &["trace", EASY]] {
        let with = |choice| [args, &["--color", choice]].concat();
        assert!(!has_colours(args, &[]));
        assert!(has_colours(&with("always"), &[]) && has_colours(&with("always"), &[("NO_COLOR", "1")]));
        assert!(has_colours(args, &[("CLICOLOR_FORCE", "1")]));
        assert!(!has_colours(args, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!has_colours(&with("never"), &[("CLICOLOR_FORCE", "1")]));
        assert!(!has_colours(&with("auto"), &[("CLICOLOR_FORCE", "0")]));
    }
    let coloured = |environment: &[(&str, &str)]| {
        Some(stdout(&on_terminal(&format!("show {EASY}"), environment)?).contains("\x1b["))
    };
    assert_ne!(coloured(&[]), Some(false));
    for variable in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        assert_ne!(coloured(&[variable]), Some(true), "{variable:?}");
    }
    // What has no colours in a pipe gets none by force either.
    assert!(!has_colours(&["solve", EASY], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn the_old_spelling_of_forms_gets_a_note() {
    let folder = Folder::new();
    let run = |args: &[&str]| sudoku(args).current_dir(folder.root()).output().unwrap();
    let csv = format!("puzzle,solution\n{FOUR},{FOUR_SOLVED}\n");
    let note = "`--output csv` is now `--format csv` or `-f csv`; a file of that name is `--output ./csv`.\n";
    for args in [
        &["solve", FOUR, "--output", "csv"][..],
        &["solve", "--output=csv", FOUR],
        &[FOUR, "--output", "csv"],
    ] {
        assert_gives(&run(args), 0, &csv, note);
        assert_gives(&run(&[args, &["-q"]].concat()), 0, &csv, "");
    }
    let counted = run(&["count", FOUR, "--output", "pair", "-q"]);
    assert_gives(&counted, 0, &format!("{FOUR},1\n"), "");
    assert_eq!(folder.names(), [""; 0]);

    // Everything else is a file.
    for (args, name) in [
        (&["solve", FOUR, "--output", "answers.txt"][..], "answers.txt"),
        (&["solve", FOUR, "--output", "./csv"], "csv"),
        (&["solve", FOUR, "-o", "grid"], "grid"),
        (&["solve", FOUR, "--output-file", "old.txt"], "old.txt"),
    ] {
        assert_gives(&run(args), 0, "", "");
        assert_eq!(folder.read(name), format!("{FOUR_SOLVED}\n"), "{args:?}");
    }
    let made = ["generate", "--size", "4", "--seed", "1", "-q"];
    succeeded(&run(&[&made[..], &["--output-file", "made.txt"]].concat()));
    assert_eq!(folder.read("made.txt"), stdout(&run(&made)));
    let notation = run(&[&made[..], &["--notation", "csv"]].concat());
    assert_eq!(notation.stdout, run(&[&made[..], &["-f", "csv"]].concat()).stdout);
}

#[test]
fn short_flags_mean_the_same_everywhere() {
    let folder = Folder::new();
    let list = folder.write("list.txt", lines(&unique_puzzles(3)));
    let out = folder.path("out.txt");
    for args in [
        &["solve", &list, "--question", "count", "-j", "1", "-q", "-n", "5", "-f", "jsonl", "-o", &out][..],
        &["count", &list, "-j1", "-q", "-n2", "-fcsv", "-o", &out],
        &["validate", &list, "-j", "1", "-q", "-n", "1", "-o", &out],
        &["generate", "-j", "1", "-q", "-n", "2", "-f", "csv", "-o", &out],
        &["show", &list, "-o", &out],
        &[
            "bench",
            &list,
            "-j",
            "1",
            "-q",
            "-n",
            "2",
            "-f",
            "json",
            "-o",
            &out,
            "--repeats",
            "1",
            "--kind",
            "text",
        ],
    ] {
        assert_gives(&run(args), 0, "", "");
        assert!(!fs::read(&out).unwrap().is_empty(), "{args:?}");
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn a_server_is_named_by_host_and_port() {
    let server = Daemon::start(&[]);
    let address = server.address.to_string();
    let solved = format!("{SOLVED}\n");
    for named in
        [address.clone(), format!("http://{address}"), format!("localhost:{}", server.address.port())]
    {
        if named.starts_with("localhost") && !server.address.is_ipv4() {
            continue;
        }
        assert_gives(&run(&[EASY, "--server", &named]), 0, &solved, "");
    }
    let loaded = run(&["load", "--server", &address, "-n", "64", "-q", "-f", "json"]);
    succeeded(&loaded);
    assert!(stdout(&loaded).contains(&format!("\"server\": \"http://{address}\"")), "{}", stdout(&loaded));
    let gone = run(&[EASY, "--server", "127.0.0.1:1", "--retries", "0"]);
    assert_eq!(gone.status.code(), Some(2));
    assert!(stderr(&gone).contains("http://127.0.0.1:1"), "{}", stderr(&gone));
}

#[test]
fn the_help_has_examples_and_shows_the_shortest_use_first() {
    let help = |args: &[&str]| {
        let output = run(args);
        succeeded(&output);
        stdout(&output)
    };
    for command in ["solve", "count", "validate", "show", "generate", "bench", "load", "shell"] {
        let text = help(&[command, "--help"]);
        let examples = text.split("Examples:\n").nth(1).unwrap_or_default();
        let count = examples.lines().take_while(|line| !line.is_empty()).count();
        assert!(count >= 4, "sudoku {command} --help has {count} examples");
        assert_eq!(text, help(&["help", command]));
    }
    let text = help(&["--help"]);
    let usage = text.find("Usage: sudoku [PUZZLE|FILE]...\n       sudoku <COMMAND> [OPTIONS]\n").unwrap();
    assert!(usage < text.find("Commands:").unwrap());
    assert!(text.contains(&format!("Examples:\n  sudoku {EASY}\n")));
    let solve = help(&["solve", "--help"]);
    for heading in ["Arguments:", "Options:", "Input:", "Output:", "Search:", "Servers:"] {
        assert!(solve.contains(&format!("\n{heading}\n")), "{heading}");
    }
}

#[test]
fn the_puzzles_of_the_help_are_puzzles() {
    let list = stdout(&run(&["--help"]));
    let commands = list.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty());
    let mut puzzles = 0;
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        for line in stdout(&run(&[command, "--help"])).lines() {
            let is_puzzle =
                |word: &&str| word.len() == 81 && word.bytes().all(|b| b == b'.' || b.is_ascii_digit());
            for puzzle in line.split_whitespace().filter(is_puzzle) {
                puzzles += 1;
                let count: u32 = stdout(&run(&["count", puzzle])).trim().parse().unwrap();
                let has_several = ["solutions", "count"].contains(&command);
                assert!(count == 1 || has_several && count > 1, "{line} has {count} solutions");
            }
        }
    }
    assert!(puzzles >= 5, "{puzzles} puzzles");
}

#[test]
fn completions_and_the_manual_know_puzzles_without_a_command() {
    // Where no command fits, bash and fish complete files; fish does unless it is told `-f`.
    for (shell, words) in [
        ("bash", "-o bashdefault -o default sudoku"),
        ("zsh", "\"::command or file:{_sudoku_commands;_files}\""),
        ("fish", "complete -c sudoku -n \"__fish_sudoku_needs_command\" -a \"solve\""),
    ] {
        let output = run(&["completions", shell]);
        succeeded(&output);
        assert!(stdout(&output).contains(words), "{shell}");
        assert!(!stdout(&output).contains("docs/reference.md"), "{shell} offers the hidden command");
        for hidden in ["turns", "puzzle"] {
            // fish names flags as in `-l puzzle`.
            let text = stdout(&output).replace("-l ", "--");
            let mut words = text.split(|c: char| !c.is_ascii_lowercase() && c != '-');
            assert!(!words.any(|word| word == format!("--{hidden}")), "{shell} offers {hidden}");
        }
        for names in [
            ["letters", "ascii", "alpha", "hex"].as_slice(),
            &["comma", "semicolon", "tab", "bar", "space"],
            &["1", "4", "9", "16", "25"],
            &["solution", "solutions", "error"],
            &["avx512", "avx512vl", "avx2", "neon", "portable"],
            &["bash", "elvish", "fish", "powershell", "zsh"],
        ] {
            let between = if shell == "fish" && names[0] != "bash" { "\\t''\n" } else { " " };
            assert!(stdout(&output).contains(&names.join(between)), "{shell} does not offer {names:?}");
        }
    }
    succeeded(&run(&["docs"]));
    let manual = run(&["man"]);
    succeeded(&manual);
    assert!(stdout(&manual).contains("PUZZLE|FILE"), "{}", stdout(&manual));
}

/// Those that `-h` does not list, too.
#[test]
fn manual_pages_say_what_every_flag_does() {
    let folder = tempfile::tempdir().unwrap();
    succeeded(&run(&["man", "--dir", folder.path().to_str().unwrap()]));
    let mut pages: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(pages.len() > 20, "{} pages", pages.len());
    pages.push(stdout(&run(&["man"])));
    let server = Command::new(env!("CARGO_BIN_EXE_sudokud")).arg("--man").output().unwrap();
    succeeded(&server);
    pages.push(stdout(&server));
    let mut flags = 0;
    for page in pages {
        let lines: Vec<_> = page.lines().collect();
        for place in (0..lines.len()).filter(|&place| lines[place] == ".TP") {
            // The flag, and what it does.
            flags += 1;
            let text = lines[place + 2];
            assert!(!text.is_empty() && !text.starts_with('.'), "{}", lines[place + 1]);
        }
    }
    assert!(flags > 300, "{flags} flags");
}
