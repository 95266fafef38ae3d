//! README.md and docs: their commands run, and print what is shown there.
//!
//! docs/http.md, docs/techniques.md and docs/reference.md have tests of their own.

use std::env;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::daemon::Daemon;
use crate::harness::packed::{self, Member};
use crate::harness::shown::{ELISION, is_shown};
use crate::harness::terminal::Terminal;
use crate::harness::{Folder, SUDOKU, feed, piped, skipped, stderr, stdout, succeeded, sudoku};

#[path = "../../examples/peers_picture.rs"]
#[allow(dead_code, reason = "its program is an example")]
mod peers_picture;

/// The documents, and how many commands they have at least.
const DOCUMENTS: [(&str, usize); 5] = [
    ("README.md", 19),
    ("docs/guide.md", 51),
    ("docs/data.md", 11),
    ("docs/service.md", 12),
    ("docs/bench.md", 3),
];

/// How commands begin.
const PROGRAMS: [&str; 4] = ["sudoku", "sudokud", "zcat", "curl"];

/// What the console asks with.
const PROMPT: &str = "sudoku> ";

/// The address in the documents, in the place of which a free one is used.
const ADDRESS: &str = "127.0.0.1:50051";

/// The port in the documents.
const PORT: &str = ":50051";

/// Lines that show how commands are made up.
const PATTERNS: [&str; 2] = ["sudoku PUZZLE|FILE...", "sudoku COMMAND PUZZLE|FILE..."];

/// Commands whose arguments are only parsed here, with the reasons.
const PARSED_ONLY: [(&str, &str); 20] = [
    ("sudoku page", FOR_EVER),
    ("sudoku page puzzles.txt", FOR_EVER),
    ("sudoku page puzzles.txt --index 3", FOR_EVER),
    ("sudoku page --data-dir lists --port 8080 --no-open", FOR_EVER),
    ("sudokud", FOR_EVER),
    ("sudokud --data-dir /srv/puzzles", FOR_EVER),
    ("sudokud --listen localhost:50051 --listen unix:sudokud.sock", FOR_EVER),
    (
        "sudokud --listen 0.0.0.0:50051 --tls-cert server.pem --tls-key server.key --token-file tokens",
        FOR_EVER,
    ),
    (
        "sudoku solve puzzles.txt --server https://a:50051,https://b:50051 --token-file token -o solutions.txt",
        NO_SUCH_SERVER,
    ),
    ("sudoku solve puzzles.txt --server https://sudoku.example:50051 --token-file token", NO_SUCH_SERVER),
    ("sudoku solve puzzles.txt -o solutions.txt --server a:50051,b:50051", NO_SUCH_SERVER),
    (
        "sudoku solve puzzles.txt --server https://localhost:50051 --tls-ca server.pem --token-file tokens",
        "it belongs to a recipe, which has a test of its own",
    ),
    (
        "sudoku bench 17clue.txt unbiased_50k.txt --compare ../main/target/release/sudoku --max-regression 5%",
        TWO_BUILDS,
    ),
    ("sudoku bench lists/*.txt --compare ./sudoku-before --json=bench.json --markdown=bench.md", TWO_BUILDS),
    (
        "sudoku bench lists/*.txt --compare base/sudoku --max-regression 5% --json=bench.json --markdown >> \"$GITHUB_STEP_SUMMARY\"",
        TWO_BUILDS,
    ),
    ("sudoku solve puzzles.parquet -o solved.parquet", PARQUET),
    ("sudoku rate puzzles.parquet -o rated.parquet", PARQUET),
    ("sudoku check solved.parquet --only-failures -o failures.parquet", PARQUET),
    ("sudoku solve puzzles.txt -f parquet > solved.parquet", PARQUET),
    ("sudoku load --server 127.0.0.1:50051", "it takes ten seconds, and others like it run"),
];

const FOR_EVER: &str = "it serves until it is stopped";
const NO_SUCH_SERVER: &str = "its servers do not exist";
const TWO_BUILDS: &str = "it takes two builds and up to a minute";
const PARQUET: &str = "it needs a program with Parquet, which tests/parquet.rs runs";

/// Commands that would take long, or name a server by a word, and what runs instead.
const SHORTENED: [(&str, &str); 6] = [
    ("sudoku generate -n 500000 --seed 7 -o made.txt", "sudoku generate -n 500 --seed 7 -o made.txt"),
    (
        "sudoku explore --size 4,9,16 --clues 0%..50%:5% --node-limit 20000 --seed 1 --plot sizes.png",
        "sudoku explore --size 4,9,16 --clues 0%..50%:5% --node-limit 200 --seed 1 --plot sizes.png --boards 2",
    ),
    (
        "sudoku explore --clues 20..30 --metric guesses,comparisons",
        "sudoku explore --clues 20..30 --metric guesses,comparisons --boards 2",
    ),
    (
        "sudoku explore --clues 0..40 --boards 1000 --csv > figures.csv",
        "sudoku explore --clues 0..40 --boards 2 --csv > figures.csv",
    ),
    (
        "sudoku load puzzles.txt --server URL --method solve --connections 4 --in-flight 16 --duration 60",
        "sudoku load puzzles.txt --server 127.0.0.1:50051 --method solve --connections 4 --in-flight 16 --duration 1",
    ),
    (
        "sudoku load --server ADDRESS --method solve-stream --streams 8 --rate 50000 -f json",
        "sudoku load --server 127.0.0.1:50051 --method solve-stream --streams 8 --rate 50000 -f json --duration 1",
    ),
];

/// Commands that end with 1 where they find something.
const FINDING: [&str; 2] = ["sudoku validate ", "sudoku check "];

/// Parts of commands whose figures differ with the machine, so that none is compared.
const MEASURED: [&str; 2] = [" --stats", "sudoku load "];

/// What marks a line whose figures are times and rates.
const UNITS: [&str; 6] = [" s: ", " s, ", " ms", " µs", "puzzles/s", " a second"];

const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const EASY_SOLUTION: &str =
    "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
const WITH_288_SOLUTIONS: &str =
    "5..........2...3.8....4..6.8..7.1...42.8.37...13..4.........2...87..963.3452.....";
const UNSOLVABLE: &str = ".....5.8....6.1.43..........1.5........1.6...3.......553.....61........4.........";

fn path_of(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(document)
}

fn read(document: &str) -> String {
    fs::read_to_string(path_of(document)).unwrap()
}

/// A command of a document.
struct Example {
    line: usize,
    command: String,
    /// What it prints there, if that is shown.
    shown: Option<String>,
}

/// Does the line begin with a program?
fn is_command(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| PROGRAMS.contains(&word))
}

/// The commands of a document: those behind `$ ` in blocks of a console, those in blocks of `sh`
/// that are `sudoku`, and those that are indented.
fn examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    // The language of the block that the line is in.
    let mut block: Option<&str> = None;
    let (mut continues, mut is_output) = (false, false);
    for (line, number) in document.lines().zip(1..) {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            is_output = false;
            continue;
        }
        let last = examples.last_mut();
        if continues {
            let command = &mut last.unwrap().command;
            command.push('\n');
            command.push_str(line);
            continues = line.ends_with('\\');
            continue;
        }
        let command = match block {
            Some("console") => line.strip_prefix("$ "),
            Some("sh") => Some(line).filter(|line| line.starts_with("sudoku ")),
            Some(_) => None,
            None => line.strip_prefix("    ").filter(|line| !line.starts_with(' ') && is_command(line)),
        };
        if let Some(command) = command {
            // Behind three spaces stands what it does.
            let command = command.split("   ").next().unwrap().trim_end().to_owned();
            is_output = block == Some("console");
            continues = command.ends_with('\\');
            examples.push(Example { line: number, command, shown: is_output.then(String::new) });
        } else if is_output && let Some(shown) = last.and_then(|example| example.shown.as_mut()) {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    examples
}

/// The puzzles of the sample that have a solution, with it.
fn solved_sample() -> Vec<(String, String)> {
    let sample = path_of("src/bin/sudoku/demo.txt");
    let output = sudoku(&["solve", sample.to_str().unwrap(), "-f", "csv"]).output().unwrap();
    succeeded(&output);
    let table = stdout(&output);
    let rows = table.lines().skip(1).filter_map(|row| row.split_once(','));
    let is_solved = |(_, answer): &(&str, &str)| !answer.contains("error");
    rows.filter(is_solved).map(|(puzzle, solution)| (puzzle.to_owned(), solution.to_owned())).collect()
}

fn lines<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().map(|item| format!("{item}\n")).collect()
}

/// A table with the puzzles and the solutions of a list of pairs.
fn table<'a>(heading: &str, rows: impl IntoIterator<Item = &'a (String, String)>) -> String {
    let rows = rows.into_iter().map(|(puzzle, solution)| format!("{puzzle},{solution}\n"));
    format!("{heading}\n{}", rows.collect::<String>())
}

/// A table of a thousand rows, four of which are not right: what the guide shows.
fn kaggle(pairs: &[(String, String)]) -> String {
    let mut rows = pairs[..1_000].to_vec();
    rows[2].1.replace_range(2..3, "7");
    rows[7].1.replace_range(3..4, "0");
    rows[7].1.replace_range(40..41, "0");
    UNSOLVABLE.clone_into(&mut rows[10].0);
    rows[29].0.remove(0);
    table("quizzes,solutions", &rows)
}

/// A folder with the files that the documents name.
fn fixtures(pairs: &[(String, String)]) -> Folder {
    let folder = Folder::new();
    let puzzles: Vec<&str> = pairs.iter().map(|(puzzle, _)| puzzle.as_str()).collect();
    let (easy, hard) = (lines(puzzles[..20].iter().copied()), lines(puzzles[20..40].iter().copied()));
    fs::create_dir(folder.path("lists")).unwrap();
    folder.write("lists/easy.gz", packed::gzip(easy.as_bytes()));
    folder.write("lists/hard.gz", packed::gzip(hard.as_bytes()));
    folder.write("puzzles.zip", packed::zip(&[Member::new("puzzles.txt", easy.as_bytes())]));
    let members = ["a.txt", "b.txt", "c.txt"].map(|name| Member::new(name, easy.as_bytes()));
    folder.write("archive.zip", packed::zip(&members));
    folder.write("easy.txt", easy);
    folder.write("hard.txt", hard);
    folder.write("six.txt", "123456\n".repeat(12));
    folder.write("grids.txt", lines(pairs[..20].iter().map(|(_, solution)| solution.as_str())));
    folder.write("puzzles.csv", table("puzzle,solution", &pairs[..20]));
    folder.write("raw.csv", table("puzzle,solution", pairs[..100].iter().chain(&pairs[..3])));
    folder.write("kaggle.csv", kaggle(pairs));
    folder.write("token", "a-token-of-the-documents\n");
    folder
}

/// Makes what a command needs: the puzzles, and the shards that it joins.
fn prepare(folder: &Folder, command: &str, pairs: &[(String, String)]) {
    let puzzles = || pairs.iter().map(|(puzzle, _)| puzzle.as_str());
    let blank = ".".repeat(81);
    let text = if command == "sudoku count puzzles.txt" {
        lines([EASY, WITH_288_SOLUTIONS, blank.as_str()])
    } else if command.contains(" --stats") {
        read("src/bin/sudoku/demo.txt")
    } else {
        // Some commands ask for the 4711th.
        lines(puzzles().chain(puzzles()))
    };
    folder.write("puzzles.txt", text);
    if !command.starts_with("sudoku join ") {
        return;
    }
    let script = if command.contains(" --input ") {
        "for k in 1 2 3 4 5 6 7 8; do
           sudoku solve puzzles.txt --shard $k/8 -o answers.$k-of-8 --manifest
         done"
    } else {
        // The third is of another input, the fifth is missing, the sixth is damaged.
        let all: Vec<&str> = puzzles().cycle().take(10_001).collect();
        folder.write("a.txt", lines(all.iter().copied()));
        folder.write("b.txt", lines(all[..10_000].iter().copied()));
        "rm -f answers.*
         for k in 1 2 4 6 7 8; do
           sudoku solve a.txt --shard $k/8 -o answers.$k-of-8 --manifest
         done
         sudoku solve b.txt --shard 3/8 -o answers.3-of-8 --manifest
         head -c 1024 answers.6-of-8 > cut
         mv cut answers.6-of-8"
    };
    succeeded(&bash(folder, &format!("set -e\n{script}")).output().unwrap());
}

/// A script that runs in a folder and finds the built programs.
fn bash(folder: &Folder, script: &str) -> Command {
    let programs = Path::new(SUDOKU).parent().unwrap().display();
    let path = env::var("PATH").unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(folder.root());
    command.env("PATH", format!("{programs}:{path}")).env("GITHUB_STEP_SUMMARY", "summary.md");
    command.env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
    command.env_remove("SUDOKU_TOKEN_FILE").env_remove("SUDOKU_BACKEND");
    piped(command)
}

/// Runs a script with its output in a pipe. Returns the exit code, and what it prints on both
/// streams.
fn in_pipe(folder: &Folder, script: &str) -> (Option<i32>, String) {
    let output = bash(folder, &format!("exec 2>&1\n{script}")).output().unwrap();
    (output.status.code(), stdout(&output))
}

/// The same at a terminal.
fn at_terminal(folder: &Folder, script: &str) -> (Option<i32>, String) {
    let terminal = Terminal::open();
    let mut command = bash(folder, script);
    command.stdin(terminal.stdio()).stdout(terminal.stdio()).stderr(terminal.stdio()).env("TERM", "xterm");
    let code = command.status().unwrap().code();
    drop(command);
    (code, terminal.finish().replace("\r\n", "\n"))
}

/// A line with a letter in place of every number and unit of time, and without bars and gaps.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        masked.push_str(&rest[..at]);
        masked.push('N');
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit() || ".,:".contains(c));
    }
    masked.push_str(rest);
    let masked = masked.replace("threads", "thread").replace("µs", "s").replace("ms", "s").replace('#', "");
    masked.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as it is compared: with times and rates masked, or all figures.
fn comparable(text: &str, is_measured: bool) -> String {
    let line = |line: &str| {
        if is_measured || UNITS.iter().any(|unit| line.contains(unit)) {
            masked(line)
        } else if line.trim() == ELISION {
            ELISION.to_owned()
        } else {
            line.trim_end().to_owned()
        }
    };
    let mut lines: Vec<String> = text.trim_end().lines().map(line).collect();
    if is_measured {
        lines.dedup();
    }
    lines.join("\n")
}

/// Runs all commands of a document.
fn check(document: &str) {
    let text = read(document);
    let server = Daemon::start(&[]);
    let pairs = solved_sample();
    let folder = fixtures(&pairs);
    let roots = [fs::canonicalize(folder.root()).unwrap().to_str().unwrap().to_owned(), folder.root()];
    let has_curl = Command::new("curl").arg("--version").output().is_ok();
    for Example { line, command, shown } in examples(&text) {
        let place = format!("{document}, line {line}: {command}");
        if PATTERNS.contains(&command.as_str()) {
            continue;
        }
        if PARSED_ONLY.iter().any(|(parsed, _)| *parsed == command) {
            // At the help the arguments before it have been parsed.
            let functions = "sudoku() { command sudoku \"$@\" --help; }
                             sudokud() { command sudokud \"$@\" --help; }";
            let output = bash(&folder, &format!("{functions}\n{command}")).output().unwrap();
            assert!(output.status.success(), "{place}\nis not understood\n{}", stderr(&output));
            continue;
        }
        if command.starts_with("curl ") && !has_curl {
            skipped(&format!("there is no curl for {place}"));
            continue;
        }
        prepare(&folder, &command, &pairs);
        let shorter = SHORTENED.iter().find(|(long, _)| *long == command).map(|(_, short)| *short);
        let script = shorter.unwrap_or(&command).replace("cargo run --release -- ", "sudoku ");
        let script = script.replace(ADDRESS, &server.address.to_string());
        // What is drawn is for a terminal.
        let is_drawn = shown.as_ref().is_some_and(|shown| shown.starts_with('┌'));
        let (code, printed) =
            if is_drawn { at_terminal(&folder, &script) } else { in_pipe(&folder, &script) };
        let printed = roots.iter().fold(printed, |printed, root| printed.replace(root, "/data"));
        match shown {
            Some(shown) => {
                let is_measured = MEASURED.iter().any(|part| command.contains(part));
                let (printed, shown) = (comparable(&printed, is_measured), comparable(&shown, is_measured));
                assert!(is_shown(&printed, &shown), "{place}\nprints\n{printed}\nand not\n{shown}");
            }
            None => {
                let may_find = FINDING.iter().any(|start| command.starts_with(start));
                let is_documented = code == Some(0) || (code == Some(1) && may_find);
                assert!(is_documented, "{place}\nends with {code:?}\n{printed}");
            }
        }
    }
}

#[test]
fn the_commands_of_the_readme_run() {
    check("README.md");
}

#[test]
fn the_commands_of_the_guide_run() {
    check("docs/guide.md");
}

/// The table is the program's own: `for (name, looks_like) in layouts()`.
#[test]
fn the_guide_has_the_table_of_layouts() {
    let row = |(name, looks_like): (&str, &str)| format!("| {name} | {looks_like} |\n");
    let table: String = sudoku_stream::text::layouts().map(row).collect();
    let guide = read("docs/guide.md");
    let (_, below) = guide.split_once("| layout | looks like |\n|---|---|\n").unwrap();
    assert!(below.starts_with(&format!("{table}\n")), "the table is\n{table}");
}

#[test]
fn the_commands_about_data_sets_run() {
    check("docs/data.md");
}

#[test]
fn the_commands_about_the_service_run() {
    check("docs/service.md");
}

#[test]
fn the_commands_about_benchmarks_run() {
    check("docs/bench.md");
}

#[test]
fn no_command_leaves_these_tests_unnoticed() {
    let mut all = Vec::new();
    for (document, least) in DOCUMENTS {
        let text = read(document);
        let found = examples(&text);
        assert!(found.len() >= least, "{document} has {} commands; there were {least}", found.len());
        // The same lines, found more simply.
        let starts = ["$ ", "sudoku ", "    sudoku", "    zcat ", "    curl "];
        let count = text.lines().filter(|line| starts.iter().any(|start| line.starts_with(start))).count();
        assert_eq!(found.len(), count, "the commands of {document}");
        all.extend(found.into_iter().map(|example| example.command));
    }
    let listed = PATTERNS.into_iter().chain(PARSED_ONLY.map(|(command, _)| command));
    for command in listed.chain(SHORTENED.map(|(command, _)| command)) {
        assert!(all.iter().any(|found| found == command), "no document has `{command}` any more");
    }
    assert!(PARSED_ONLY.iter().all(|(_, reason)| !reason.is_empty()));
}

#[test]
fn the_console_answers_as_the_guide_shows() {
    let guide = read("docs/guide.md");
    let blocks = guide.split("```console\n").skip(1).filter(|block| block.starts_with(PROMPT));
    let mut count = 0;
    for block in blocks {
        let block = block.split("```").next().unwrap();
        let (typed, shown): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with(PROMPT));
        let typed = lines(typed.iter().map(|line| &line[PROMPT.len()..]));
        let output = feed(&mut sudoku(&["shell"]), typed.as_bytes());
        succeeded(&output);
        let printed = comparable(&stdout(&output), false);
        let shown = comparable(&shown.join("\n"), false);
        assert!(is_shown(&printed, &shown), "{typed}\nis answered\n{printed}\nand not\n{shown}");
        count += 1;
    }
    assert!(count > 0, "the guide shows no console");
}

#[test]
fn bash_asks_a_coprocess_as_the_guide_shows() {
    let guide = read("docs/guide.md");
    let block = guide.split("```bash\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = Folder::new();
    let script = format!("puzzle={EASY}\n{block}echo \"$answer\"");
    let output = bash(&folder, &script).output().unwrap();
    assert_eq!(stdout(&output), format!("{EASY_SOLUTION}\n"), "{}", stderr(&output));
}

/// A free port of 127.0.0.1 that the system gives to nobody who asks for any.
fn quiet_port() -> u16 {
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    (first..first + 1_000).find(is_free).unwrap()
}

#[test]
fn the_recipe_for_a_certificate_and_a_token_works() {
    if Command::new("openssl").arg("version").output().is_err() {
        skipped("there is no openssl, so the recipe of docs/service.md does not run");
        return;
    }
    let document = read("docs/service.md");
    let recipe = document.split("```sh\n").find(|block| block.starts_with("openssl ")).unwrap();
    let recipe = recipe.split("```").next().unwrap();
    let folder = Folder::new();
    folder.write("puzzles.txt", lines([EASY, EASY]));
    let port = format!(":{}", quiet_port());
    let recipe = recipe.replace(&format!("0.0.0.0{PORT}"), &format!("127.0.0.1{port}")).replace(PORT, &port);
    let script = format!("set -e\ntrap 'kill $(jobs -p)' EXIT\n{recipe}");
    let output = bash(&folder, &script).output().unwrap();
    succeeded(&output);
    assert_eq!(stdout(&output), lines([EASY_SOLUTION, EASY_SOLUTION]), "{}", stderr(&output));
}

#[test]
fn ten_lines_of_python_are_a_client() {
    let has_packages = Command::new("python3").args(["-c", "import grpc, grpc_reflection"]).output();
    if !has_packages.is_ok_and(|output| output.status.success()) {
        skipped("there is no Python with grpcio-reflection for the client of docs/service.md");
        return;
    }
    let document = read("docs/service.md");
    let client = document.split("```python\n").find(|block| block.starts_with("import grpc\n")).unwrap();
    let client = client.split("```").next().unwrap();
    assert!(client.lines().count() <= 15);
    let server = Daemon::start(&[]);
    let folder = Folder::new();
    folder.write("client.py", client.replace(ADDRESS, &server.address.to_string()));
    let output = bash(&folder, "python3 client.py").output().unwrap();
    succeeded(&output);
    assert_eq!(stdout(&output), format!("{EASY_SOLUTION}\n"));
}

#[test]
fn what_is_left_out_may_be_anything() {
    for (text, shown, fits) in [
        ("abc", "abc", true),
        ("abcd", "abc", false),
        ("abcd", "a[...]d", true),
        ("abcd", "[...]c", false),
        ("abcd", "a[...]c[...]", true),
        ("abcd", "b[...]", false),
        ("a\nb", "a\n[...]\nb", true),
        ("a\nx\ny\nb", "a\n[...]\nb", true),
        ("a", "a\n[...]", true),
        ("a\nb\nc", "[...]\nb\n[...]", true),
        ("a\nc", "a\n[...]\nb", false),
    ] {
        assert_eq!(is_shown(text, shown), fits, "{text:?} {shown:?}");
    }
    for (line, other) in [
        (
            "3,000 puzzles in 0.012 s, 255,000 a second: 2 answered.",
            "1 puzzles in 1.5 s, 3 a second: 7 answered.",
        ),
        ("  to 1.00 ms   4.76 % ######", "to 500 µs  0.01 %"),
    ] {
        assert_eq!(comparable(line, false), comparable(other, false));
    }
    assert_ne!(comparable("1000+", false), comparable("1001+", false));
}

#[test]
fn the_picture_of_throughput_is_of_the_tables() {
    let read = |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let picture = peers_picture::picture(&read("docs/performance.md")).unwrap();
    assert_eq!(picture, read("docs/peers.svg"), "`just pictures` makes it anew");
}
