//! `sudoku` as a user runs it: the built binary, real files, real pipes.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::ops::Deref;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use crate::harness::{
    self, Folder, Random, eventually, fixture, grid, handles, interrupt_after_first_line, large_list,
    possible_strategies, signal, skipped, stderr, stdout, succeeded, sudoku, unique_puzzles,
};

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

/// Runs with `input` on standard input.
fn feed(args: &[&str], input: &[u8]) -> Output {
    harness::feed(&mut sudoku(args), input)
}

/// A folder with a list of easy puzzles in it, made from the fixture of the strategies.
struct Bench {
    folder: Folder,
    puzzles: Vec<String>,
}

impl Deref for Bench {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Bench {
    fn new(count: usize) -> Self {
        let bench = Self { folder: Folder::new(), puzzles: unique_puzzles(count) };
        bench.write("puzzles.txt", bench.puzzles.join("\n").as_bytes());
        bench
    }
}

fn assert_solves<'a>(answers: &str, puzzles: impl IntoIterator<Item = &'a String>) {
    let mut lines = answers.lines();
    for puzzle in puzzles {
        let answer = lines.next().unwrap_or_else(|| panic!("no answer to {puzzle}"));
        assert!(grid(answer).solves(&grid(puzzle)), "{puzzle} gave {answer}");
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn solve_gives_one_answer_a_line_by_every_way_in_and_out() {
    let bench = Bench::new(5_000);
    let input = bench.path("puzzles.txt");
    let plain = run(&["solve", &input]);
    succeeded(&plain);
    assert_solves(&stdout(&plain), &bench.puzzles);
    assert!(stderr(&plain).starts_with("5,000 puzzles in "), "{}", stderr(&plain));
    assert!(stderr(&plain).contains(": 5,000 answered."), "{}", stderr(&plain));

    let content = fs::read(&input).unwrap();
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&content).unwrap();
        bench.write("gzipped", encoder.finish().unwrap())
    };
    let zstd = bench.write("puzzles.zst", zstd::encode_all(&content[..], 1).unwrap());
    for args in [
        vec!["solve", &input, "--no-mmap"],
        vec!["solve", &input, "--threads", "1", "--strict", "--quiet"],
        vec!["solve", &input, "--question", "unique", "--no-progress"],
        vec!["solve", &gzip],
        vec!["solve", &zstd, "--strict"],
    ] {
        let other = run(&args);
        succeeded(&other);
        assert!(other.stdout == plain.stdout, "{args:?} gave other bytes");
    }
    for args in [vec!["solve", "-"], vec!["solve"], vec!["solve", "-", "--strict"]] {
        let other = feed(&args, &content);
        succeeded(&other);
        assert!(other.stdout == plain.stdout, "{args:?} gave other bytes");
    }
    let dash = run(&["solve", &input, "-o", "-"]);
    assert!(dash.stdout == plain.stdout);
    let out = bench.path("out.txt");
    for extra in [&["--durable"][..], &[]] {
        let written = run(&[&["solve", &input, "-o", &out], extra].concat());
        succeeded(&written);
        assert!(written.stdout.is_empty());
        assert_eq!(bench.read("out.txt").as_bytes(), plain.stdout);
    }
    assert_eq!(bench.names(), ["gzipped", "out.txt", "puzzles.txt", "puzzles.zst"]);
    assert!(stderr(&run(&["solve", &input, "--quiet"])).is_empty());
}

/// The ten bad files: the sentence and nothing else when strict; everything else solved when not.
#[test]
fn bad_files_get_their_sentence() {
    let table = fs::read_to_string(fixture("bad/sentences.tsv")).unwrap();
    assert_eq!(table.lines().count(), 10);
    for row in table.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [name, sentence, code] = fields[..] else { panic!("{row}") };
        let path = fixture("bad").join(name);
        let file = path.to_str().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.txt");
        let out = out.to_str().unwrap();

        let validated = run(&["validate", file]);
        // A header that cannot be read leaves nothing to look at.
        let wanted = if code == "invalid_block_size" { 2 } else { 1 };
        assert_eq!(validated.status.code(), Some(wanted), "{name}");
        assert_eq!(stdout(&validated) + &stderr(&validated), format!("{sentence}\n"), "{name}");

        let strict = run(&["solve", "--strict", file, "-o", out]);
        assert_eq!(strict.status.code(), Some(2), "{name}");
        assert!(strict.stdout.is_empty(), "{name}");
        assert_eq!(stderr(&strict), format!("{sentence}\n"), "{name}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");

        let lenient = run(&["solve", file]);
        if code == "invalid_block_size" {
            assert_eq!(lenient.status.code(), Some(2), "{name}");
            assert!(lenient.stdout.is_empty(), "{name}");
            assert_eq!(stderr(&lenient), format!("{sentence}\n"), "{name}");
            continue;
        }
        succeeded(&lenient);
        let content = fs::read_to_string(&path).unwrap();
        let answers = stdout(&lenient);
        let mut bad = 0;
        let lines = content.lines().skip(1);
        assert_eq!(answers.lines().count(), lines.clone().count(), "{name}");
        for (puzzle, answer) in lines.zip(answers.lines()) {
            if answer == format!("error: {sentence}") {
                bad += 1;
            } else {
                assert!(grid(answer).solves(&grid(puzzle)), "{name}: {puzzle} gave {answer}");
            }
        }
        assert_eq!(bad, 1, "{name}");
        assert!(stderr(&lenient).contains(&format!("1 error line (1 {code})")), "{}", stderr(&lenient));
        assert_eq!(run(&["solve", file, "--fail-on-error"]).status.code(), Some(1), "{name}");
    }
}

#[test]
fn good_files_of_every_notation_are_found_out_and_solved() {
    let mut seen = 0;
    for entry in fs::read_dir(fixture("good")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".answers") || name == "README.md" {
            continue;
        }
        let answers = fs::read(fixture("good").join(format!("{name}.answers"))).unwrap();
        let solved = run(&["solve", path.to_str().unwrap(), "--question", "unique"]);
        succeeded(&solved);
        assert_eq!(stdout(&solved), String::from_utf8(answers).unwrap(), "{name}");
        succeeded(&run(&["validate", path.to_str().unwrap()]));
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} files");
}

#[test]
fn answers_have_the_form_that_was_asked_for() {
    let puzzle = grid("1.2.............");
    let one = "1234341221434321";
    let first = "12343412..4.4..1";
    let input = format!("{first}\n12\n11..............\n");
    let expected = [
        ("solution", format!("{one}\n")),
        ("pair", format!("{first},{one}\n")),
        ("csv", format!("puzzle,solution\n{first},{one}\n")),
        ("jsonl", format!("{{\"line\":1,\"puzzle\":\"{first}\",\"solution\":\"{one}\"}}\n")),
        ("grid", "1 2 | 3 4\n3 4 | 1 2\n----+----\n2 1 | 4 3\n4 3 | 2 1\n\n".to_owned()),
    ];
    let errors = [
        (
            "solution",
            "error: Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\nerror: Line 3 breaks the rules: 1 appears twice in row 1.\n",
        ),
        (
            "pair",
            "error: Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\nerror: Line 3 breaks the rules: 1 appears twice in row 1.\n",
        ),
        (
            "csv",
            ",\"error: Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\"\n11..............,\"error: Line 3 breaks the rules: 1 appears twice in row 1.\"\n",
        ),
        (
            "jsonl",
            "{\"line\":2,\"error\":{\"code\":\"wrong_length\",\"message\":\"Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\"}}\n{\"line\":3,\"puzzle\":\"11..............\",\"error\":{\"code\":\"rule_broken\",\"message\":\"Line 3 breaks the rules: 1 appears twice in row 1.\"}}\n",
        ),
        (
            "grid",
            "error: Line 2 has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\n\nerror: Line 3 breaks the rules: 1 appears twice in row 1.\n\n",
        ),
    ];
    for ((form, good), (_, bad)) in expected.iter().zip(errors) {
        let output = feed(&["solve", "--format", form], input.as_bytes());
        succeeded(&output);
        assert_eq!(stdout(&output), format!("{good}{bad}"), "{form}");
    }
    // What is written is read back.
    let csv = feed(&["solve", "--format", "csv"], format!("{first}\n").as_bytes());
    succeeded(&feed(&["check"], &csv.stdout));
    let pretty = feed(&["solve", "--format", "grid"], format!("{first}\n").as_bytes());
    assert_eq!(stdout(&feed(&["solve"], &pretty.stdout)), format!("{one}\n"));
    assert_eq!(puzzle.filled(), 2);
}

#[test]
fn count_stops_at_its_limit() {
    let input = b"................\n1234341221434321\n123434122143432.\n11..............\n";
    let counted = feed(&["count", "--limit", "1000"], input);
    succeeded(&counted);
    let clash = "error: Line 4 breaks the rules: 1 appears twice in row 1.";
    assert_eq!(stdout(&counted), format!("288\n1\n1\n{clash}\n"));
    assert_eq!(stdout(&feed(&["count", "--limit", "2"], input)), format!("2+\n1\n1\n{clash}\n"));
    assert_eq!(stdout(&feed(&["count", "--limit", "288"], input)), format!("288+\n1\n1\n{clash}\n"));
    for limit in ["289", "all"] {
        assert_eq!(stdout(&feed(&["count", "--limit", limit], input)), stdout(&counted));
    }
    let rows = |form: &str| stdout(&feed(&["count", "--limit", "2", "--format", form], input));
    assert!(rows("pair").starts_with("................,2+\n1234341221434321,1\n"));
    assert!(rows("csv").starts_with("puzzle,count\n................,2+\n1234341221434321,1\n"));
    let objects = rows("jsonl");
    assert!(
        objects.contains("\"count\":2,\"exact\":false}\n")
            && objects.contains("\"count\":1,\"exact\":true}\n")
    );
    let same = feed(&["solve", "--question", "count"], input);
    assert_eq!(stdout(&same), stdout(&counted));
    let gave_up = feed(&["count", "--limit", "1000", "--node-limit", "10"], b"................\n");
    assert_eq!(stdout(&gave_up), "error: Line 1 was given up after 10 nodes.\n");
    assert_eq!(run(&["count", "--limit", "0"]).status.code(), Some(2));
}

#[test]
fn check_says_what_is_wrong_as_one_goes() {
    let solved = feed(&["check"], b"1234341221434321\n");
    succeeded(&solved);
    assert_eq!(stdout(&solved), "The puzzle is correctly solved.\n");

    let partial = feed(&["check"], b"12..............\n");
    assert_eq!(partial.status.code(), Some(1));
    assert_eq!(
        stdout(&partial),
        "The puzzle is NOT solved.\n  14 blank cells to fill\n  no rule is broken so far\n"
    );

    let wrong = feed(&["check"], b"1234341221434322\n");
    assert_eq!(wrong.status.code(), Some(1));
    assert_eq!(
        stdout(&wrong),
        "The puzzle is NOT solved.\n  2 appears twice in row 4, at (4, 3) and (4, 4)\n  \
         2 appears twice in column 4, at (2, 4) and (4, 4)\n  \
         2 appears twice in box 4, at (4, 3) and (4, 4)\n"
    );
    let short = feed(&["check", "--size", "4"], b"12\n");
    assert_eq!(short.status.code(), Some(1));
    assert_eq!(stdout(&short), "The puzzle has the wrong length. It has 2 cells; a 4x4 puzzle has 16.\n");

    let beside = feed(&["check"], b"puzzle,solution\n2...............,1234341221434321\n");
    assert_eq!(beside.status.code(), Some(1));
    assert_eq!(stdout(&beside), "The puzzle is NOT solved.\n  the clue 2 at (1, 1) was changed\n");
}

#[test]
fn show_picks_by_number_and_at_random() {
    let bench = Bench::new(3_000);
    let input = bench.path("puzzles.txt");
    for number in [1, 2, 1_700, 3_000] {
        let shown = run(&["show", &input, "--index", &number.to_string()]);
        succeeded(&shown);
        let cells: String = stdout(&shown)
            .lines()
            .skip(2)
            .flat_map(str::chars)
            .filter(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        assert_eq!(cells, bench.puzzles[number - 1]);
    }
    let beyond = run(&["show", &input, "--index", "3001"]);
    assert_eq!(beyond.status.code(), Some(2));
    assert_eq!(stderr(&beyond), format!("{input} has no puzzle 3001.\n"));
    let typed = run(&["show", "................", "--index", "2"]);
    assert_eq!(stderr(&typed), "There is no puzzle 2. Name a file for --index to choose from.\n");
    for _ in 0..3 {
        let random = run(&["show", &input, "--random", "--solve"]);
        succeeded(&random);
        let page = stdout(&random);
        let cells = |part: &str| -> String {
            part.lines().flat_map(str::chars).filter(|c| c.is_ascii_digit() || *c == '.').collect()
        };
        let parts: Vec<&str> = page.split("\n\n").collect();
        assert_eq!((parts.len(), parts[3]), (4, "This is the only solution.\n"), "{page}");
        assert!(grid(&cells(parts[2])).solves(&grid(&cells(parts[1]))), "{page}");
    }
}

#[test]
fn show_says_whether_the_solution_is_the_only_one() {
    let last = |cells: &str| {
        let shown = run(&["show", "--puzzle", cells, "--solve"]);
        succeeded(&shown);
        assert_eq!(stderr(&shown), "");
        stdout(&shown).lines().last().unwrap().to_owned()
    };
    let blank = |cells: usize| ".".repeat(cells);
    assert_eq!(last("1234............"), "This is one of 12 solutions.");
    assert_eq!(last(&blank(81)), "This is one of 1,000 solutions or more.");
    assert_eq!(last("12343412214343.1"), "This is the only solution.");
    assert_eq!(last("1234341221434321"), "This is the only solution.");
    assert_eq!(last("123....4........"), "The puzzle has no solution.");
    let bench = Bench::new(2);
    let listed = bench.write("list.txt", format!("{}\n123....4........\n", blank(16)));
    let shown = run(&["show", &listed, "--index", "2", "--solve"]);
    assert!(stdout(&shown).ends_with("\n\nLine 2 has no solution.\n"), "{}", stdout(&shown));
}

#[test]
fn one_answer_has_no_summary() {
    let puzzle = &unique_puzzles(1)[0];
    let said = |args: &[&str], input: &str| {
        let output = feed(args, input.as_bytes());
        succeeded(&output);
        stderr(&output)
    };
    assert_eq!(said(&["solve"], puzzle), "");
    assert_eq!(said(&["count"], puzzle), "");
    assert_eq!(said(&["solve", "--format", "csv"], &format!("# one\n{puzzle}\n\n")), "");
    assert!(said(&["solve", "--stats"], puzzle).starts_with("nodes "));
    assert!(said(&["solve"], &format!("{puzzle}\n{puzzle}\n")).starts_with("2 puzzles in "));
    // An error on standard output speaks for itself; in a file nobody sees it.
    let bad = "11".to_owned() + &puzzle[2..];
    assert_eq!(said(&["solve"], &bad), "");
    let folder = Folder::new();
    let out = folder.path("out.txt");
    assert_eq!(said(&["solve", "-", "-o", &out], puzzle), "");
    assert!(said(&["solve", "-", "-o", &out], &bad).contains("1 error line (1 rule_broken)"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let six = run(&["solve", "1..4.6\n..62..\n.3...1\n5...2.\n..16..\n2.3..5\n"]);
    assert_eq!(six.status.code(), Some(2));
    let sentence =
        "The puzzle cannot be read: Line 1 is a row of 6 cells; a row of a puzzle has 4, 9, 16 or 25.\n";
    assert_eq!(stderr(&six), sentence);
    let bench = Bench::new(1);
    let empty = bench.write("empty.txt", b"");
    let blank = bench.write("blank.txt", b"\n\n# nothing\n");
    let folder = bench.root();
    let missing = bench.path("missing.txt");
    for (file, sentence) in [
        (&empty, format!("{empty} is empty.\n")),
        (&blank, format!("{blank} is empty.\n")),
        (&folder, format!("{folder} is a folder: name its files, {folder}/* for all of them.\n")),
        (&missing, format!("{missing}: No such file or directory (os error 2)\n")),
    ] {
        for command in ["solve", "validate", "check", "count", "show"] {
            let output = run(&[command, file]);
            assert_eq!(output.status.code(), Some(2), "{command} {file}");
            assert_eq!(stderr(&output), sentence, "{command} {file}");
            assert!(output.stdout.is_empty(), "{command} {file}");
        }
    }
    assert_eq!(stderr(&feed(&["solve"], b"")), "standard input is empty.\n");
}

#[test]
fn an_output_that_fails_leaves_nothing_behind() {
    let bench = Bench::new(200);
    let input = bench.path("puzzles.txt");
    let full = run(&["solve", &input, "-o", "/dev/full"]);
    assert_eq!(full.status.code(), Some(2));
    let said = stderr(&full);
    assert!(said.contains("/dev/full") && said.contains("No space left on device"), "{said}");

    let nowhere = bench.path("no/such/out.txt");
    let output = run(&["solve", &input, "-o", &nowhere]);
    assert_eq!(output.status.code(), Some(2));
    let folder = bench.path("no/such");
    let wanted = format!("{nowhere}: there is no folder {folder}. Make it, or name another file.\n");
    assert_eq!(stderr(&output), wanted);

    // An old OUT stays as it was when the new run fails.
    let out = bench.write("out.txt", b"old\n");
    let broken = bench.write("broken.gz", &{
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&fs::read(&input).unwrap()).unwrap();
        let mut bytes = encoder.finish().unwrap();
        bytes.truncate(bytes.len() / 2);
        bytes
    });
    let output = run(&["solve", &broken, "-o", &out]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("broken.gz is damaged after") && said.contains("was not written"), "{said}");
    assert_eq!(bench.read("out.txt"), "old\n");
    assert_eq!(bench.names(), ["broken.gz", "out.txt", "puzzles.txt"]);
}

#[test]
fn a_run_that_stops_says_what_its_output_is() {
    let bench = Bench::new(2_000);
    let pipe = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let file = bench.path("out.txt");
    let ends = [(&pipe, "is incomplete"), (&file, "was not written")];
    let runs: [&[&str]; 5] = [
        &["generate", "-n", "100000000", "-o"],
        &["solve", "-", "-o"],
        &["dedup", "-", "-o"],
        &["split", "-", "--train-file", "/dev/null", "--test-file"],
        &["canon", "-", "-o"],
    ];
    for args in runs {
        for (out, end) in ends {
            let mut command = sudoku(&[args, &[out]].concat());
            let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // A pipe is opened only when somebody reads it.
            let (opened, is_open) = mpsc::channel();
            let reader = (out == &pipe).then(|| {
                let pipe = pipe.clone();
                thread::spawn(move || {
                    let pipe = File::open(pipe).unwrap();
                    opened.send(()).unwrap();
                    io::copy(&mut &pipe, &mut io::sink()).unwrap();
                })
            });
            // Standard input goes on, so that the run does not end by itself.
            let mut stdin = child.stdin.take().unwrap();
            if args.contains(&"-") {
                stdin.write_all(bench.puzzles.join("\n").as_bytes()).unwrap();
            }
            match &reader {
                Some(_) => is_open.recv().unwrap(),
                None => {
                    eventually("the beginning of the output", || bench.exists(".out.txt.sudoku-partial"));
                }
            }
            signal(&child, "-INT");
            let ended = child.wait_with_output().unwrap();
            drop(stdin);
            if let Some(reader) = reader {
                reader.join().unwrap();
            }
            assert_eq!(ended.status.code(), Some(130), "{args:?}");
            let said = stderr(&ended);
            assert!(said.ends_with(&format!("; {out} {end}.\n")), "{args:?}: {said}");
            assert!(!bench.exists("out.txt") && !bench.exists(".out.txt.sudoku-partial"), "{args:?}");
        }
    }
}

#[test]
fn an_output_that_is_no_regular_file_is_written_straight() {
    let bench = Bench::new(2_000);
    let pipe = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child =
        sudoku(&["solve", &bench.path("puzzles.txt"), "-o", &pipe]).stderr(Stdio::null()).spawn().unwrap();
    let mut answers = String::new();
    File::open(&pipe).unwrap().read_to_string(&mut answers).unwrap();
    assert!(child.wait().unwrap().success());
    assert_solves(&answers, &bench.puzzles);
    // And one is read like any other.
    let child = sudoku(&["solve", &pipe]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let given = fs::write(&pipe, bench.puzzles.join("\n"));
    let output = child.wait_with_output().unwrap();
    assert!(given.is_ok(), "{given:?}: {}", stderr(&output));
    succeeded(&output);
    assert_solves(&stdout(&output), &bench.puzzles);
}

#[test]
fn a_closed_pipe_is_success() {
    let bench = Bench::new(20_000);
    let mut child = sudoku(&["solve", &bench.path("puzzles.txt")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(grid(first.trim()).solves(&grid(&bench.puzzles[0])));
    let output = child.wait_with_output().unwrap();
    succeeded(&output);
    assert_eq!(stderr(&output), "");
    for args in [&["--help"][..], &["-h"], &["solve", "--help"], &["--version"]] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let output = sudoku(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        succeeded(&output);
        assert_eq!(stderr(&output), "", "{args:?}");
    }
}

#[test]
fn an_interrupt_says_how_far_it_got() {
    let bench = Bench::new(10);
    // Standard input stays open, so that the run waits for more.
    let mut child = sudoku(&["solve", "-", "--notation", "lines"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than detection looks at, so that answers begin to flow.
    let lines = bench.puzzles.iter().cycle().take(2_000).cloned().collect::<Vec<_>>().join("\n") + "\n";
    stdin.write_all(lines.as_bytes()).unwrap();
    let answers = interrupt_after_first_line(&mut child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{:?}", output.status.signal());
    let count = answers.lines().count();
    assert!(count > 0);
    let said = stderr(&output);
    assert!(said.starts_with("Interrupted. Stopped after ") && said.contains("answered"), "{said}");
    drop(stdin);
}

/// Nothing has been read yet: standard input is open and silent, a FIFO has no writer.
#[test]
fn an_interrupt_ends_a_run_that_waits_for_input() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (args, signal, code) in [
        (&["solve", "-"][..], "-INT", 130),
        (&["solve", "-"], "-TERM", 143),
        (&["solve", "-", "--strict"], "-INT", 130),
        (&["validate", "-"], "-TERM", 143),
        (&["solve", pipe.to_str().unwrap()], "-HUP", 129),
        (&["count", pipe.to_str().unwrap()], "-INT", 130),
    ] {
        let mut child =
            sudoku(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A puzzle that detection cannot begin with, since more may follow.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"1234341221434321\n").unwrap();
        eventually("a handler", || handles(child.id(), code - 128));
        harness::signal(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code.cast_signed()), "{args:?} {}", stderr(&output));
        assert!(stderr(&output).starts_with("Interrupted. "), "{args:?} {}", stderr(&output));
        assert!(output.stdout.is_empty());
        drop(stdin);
    }
}

/// Puzzles that the row-by-row search cannot finish are given up, and a count of everything is cut short.
#[test]
fn hard_work_is_bounded() {
    let empty_25 = ".".repeat(625);
    let output = feed(&["count", "--limit", "1000000000", "--node-limit", "5000"], empty_25.as_bytes());
    succeeded(&output);
    assert_eq!(stdout(&output), "error: Line 1 was given up after 5000 nodes.\n");
    let hard = ".....6....59.....82....8....45........3........6..3.54...325..6..................";
    let output = feed(&["solve", "--strategy", "backtracking", "--node-limit", "1000"], hard.as_bytes());
    assert_eq!(stdout(&output), "error: Line 1 was given up after 1000 nodes.\n");
}

#[test]
fn options_that_make_no_sense_are_refused_with_a_sentence() {
    for (args, part) in [
        (&["solve", "--alphabet", "xyz", "-"][..], "`xyz` is no alphabet."),
        (&["solve", "--size", "7", "-"], "a side is 1, 4, 9, 16 or 25"),
        (&["solve", "--strategy", "magic", "-"], possible_strategies().as_str()),
        (&["solve", "--threads", "0", "-"], "give a whole number from 1 to 1024"),
        (&["solve", "--threads", "2", "--server", "http://127.0.0.1:1", "-"], "cannot be used with"),
        (&["show", "--index", "0"], "give a whole number from 1"),
        (&["count", "--limit", "0"], "give a whole number from 1, or `all`"),
        (&["solve", "--limit", "3", "-"], "--limit is for --question count and --add solutions."),
        (&["trace", "--limit", "3", "-"], "--limit is for --question count."),
        (&["solve", "--node-limit", "x"], "give a whole number from 1"),
        (&["solve", "--node-limit", "0"], "give a whole number from 1"),
        (&["count", "--node-limit", "0"], "give a whole number from 1"),
        (&["solutions", "--node-limit", "0"], "give a whole number from 1"),
        (&["check", "--node-limit", "0"], "give a whole number from 1"),
        (&["trace", "--node-limit", "0"], "give a whole number from 1"),
        (&["bench", "--node-limit", "0", "-"], "give a whole number from 1"),
        (&["explore", "--node-limit", "0"], "give a whole number from 1"),
        (
            &["generate", "--seed", "18446744073709551616"],
            "give a whole number from 0 to 18446744073709551615",
        ),
        (&["solutions", "-n", "18446744073709551616"], "from 1 to 18446744073709551615, or `all`"),
        (
            &["count", "-n", "-5", "-"],
            "invalid value '-5' for '--limit <N|all>': give a whole number from 1, or `all`\n",
        ),
        (&["show", "--index", "-1", "-"], "give a whole number from 1\n"),
        (&["disguise", "--seed", "-1", "-"], "give a whole number from 0\n"),
        (&["split", "--test", "-5%", "-"], "give a share from 0% to 100%"),
        (
            &["dedup", "--memory", "1.5G", "-"],
            "give a size from 1MiB, as in 512MiB or 2G, in whole K, M, G or T",
        ),
        (&["frobnicate"], "unrecognized subcommand"),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
    let misfit = feed(&["solve", "--alphabet", "hex", "--size", "25"], &[b'.'; 625]);
    assert_eq!(misfit.status.code(), Some(2));
    assert_eq!(stderr(&misfit), "The alphabet hex does not fit 25x25 puzzles.\n");
}

/// A file that shrinks while it is being solved is an error with its name, and no crash.
#[test]
fn a_file_that_shrinks_is_no_crash() {
    let bench = Bench::new(200_000);
    let input = bench.path("puzzles.txt");
    let pipe = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // A FIFO that is not read yet holds the run up while the file is cut.
    let mut child = sudoku(&["solve", &input, "-o", &pipe]).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(File::open(&pipe).unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    File::options().write(true).open(&input).unwrap().set_len(1_000).unwrap();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(2), "{status:?} {said}");
    assert!(said.contains(&format!("{input} was cut short while it was being read.")), "{said}");
    let answers = first + &rest;
    let count = answers.lines().count();
    assert!(count > 0 && count < 200_000, "{count}");
    assert_solves(&answers, &bench.puzzles[..count]);
}

/// The bytes of every way in are the same for a large list, and every one is a solution.
#[test]
fn a_large_list_is_solved_in_order() {
    let Some(list) = large_list("17clue.txt") else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.txt");
    let (list, out) = (list.to_str().unwrap(), out.to_str().unwrap());
    succeeded(&run(&["solve", list, "-o", out]));
    let (puzzles, answers) = (fs::read_to_string(list).unwrap(), fs::read_to_string(out).unwrap());
    let puzzles: Vec<String> = puzzles.lines().map(str::to_owned).collect();
    assert_eq!(puzzles.len(), 49_158);
    assert_solves(&answers, &puzzles);
    let piped = feed(&["solve", "-"], &fs::read(Path::new(list)).unwrap());
    assert!(stdout(&piped) == answers);
    let mut random = Random(1);
    let number = random.below(puzzles.len()) + 1;
    let shown = run(&["show", list, "--index", &number.to_string()]);
    assert!(stdout(&shown).starts_with(&format!("Puzzle {}", indicatif::HumanCount(number as u64))));
}

/// On a terminal, answers and a progress bar would be written over each other.
#[test]
fn answers_on_a_terminal_have_no_bar_between_them() {
    let bench = Bench::new(2_000);
    let (program, input) = (Path::new(env!("CARGO_BIN_EXE_sudoku")), bench.path("puzzles.txt"));
    let terminal = |arguments: &str| {
        let command = format!("'{}' {arguments}", program.display());
        Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output()
    };
    let Ok(solved) = terminal(&format!("solve '{input}'")) else {
        skipped("there is no `script` on this machine");
        return;
    };
    succeeded(&solved);
    let said = stdout(&solved).replace('\r', "");
    let (answers, summary) = said.split_at(2_000 * 82);
    assert_solves(answers, &bench.puzzles);
    assert!(summary.starts_with("2,000 puzzles in "), "{summary}");
    let made = terminal("generate --count 20").unwrap();
    succeeded(&made);
    let said = stdout(&made);
    assert!(said.lines().take(20).all(|line| line.trim_end().len() == 81), "{said}");
}
