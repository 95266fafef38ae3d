//! Parquet files in and out. The tests have the feature `parquet`; `tests/without_parquet.sh` tests programs without it.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sudoku_stream::input::Source;
use sudoku_stream::text::Hint;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet").join(name)
}

fn sudoku(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sudoku")).args(args).stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn puzzles() -> Vec<String> {
    let text = fs::read_to_string(fixture("puzzles.txt")).unwrap();
    text.lines().map(ToOwned::to_owned).collect()
}

/// Whether a line is a solution of a puzzle, by looking at every house.
fn solves(solution: &str, puzzle: &str) -> bool {
    let cells = solution.as_bytes();
    let is_house = |house: &dyn Fn(usize) -> usize| {
        let mut digits: Vec<u8> = (0..9).map(|cell| cells[house(cell)]).collect();
        digits.sort_unstable();
        digits == b"123456789"
    };
    cells.len() == 81
        && puzzle.bytes().zip(cells).all(|(clue, cell)| clue == b'.' || clue == *cell)
        && (0..9).all(|number| {
            let corner = number / 3 * 27 + number % 3 * 3;
            is_house(&|cell| number * 9 + cell)
                && is_house(&|cell| cell * 9 + number)
                && is_house(&|cell| corner + cell / 3 * 9 + cell % 3)
        })
}

/// The files that can be read, and their rows without a puzzle.
const READABLE: [(&str, &[usize]); 8] = [
    ("pandas", &[3, 5]),
    ("polars", &[3, 5]),
    ("fixed", &[]),
    ("fixedtext", &[]),
    ("list", &[7]),
    ("fsl", &[]),
    ("lz4", &[]),
    ("pages", &[7]),
];

#[test]
fn files_of_other_programs_are_answered_row_by_row() {
    let puzzles = puzzles();
    for (name, bad) in READABLE {
        let file = fixture(&format!("{name}.parquet"));
        let output = sudoku(&["solve", file.to_str().unwrap()]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let text = stdout(&output);
        assert_eq!(text.lines().count(), puzzles.len(), "{name}");
        for (row, (line, puzzle)) in text.lines().zip(&puzzles).enumerate() {
            if bad.contains(&row) {
                // `12x`, and nothing.
                let cells = if row == 5 { 3 } else { 0 };
                let sentence = format!(
                    "error: Line {} has the wrong length. It has {cells} cells; a 9x9 puzzle has 81.",
                    row + 2
                );
                assert_eq!(line, sentence, "{name}");
            } else {
                assert!(solves(line, puzzle), "{name}, row {row}: {line}");
            }
        }
    }
}

#[test]
fn a_file_is_known_by_its_bytes_and_may_come_through_a_pipe() {
    let file = fixture("list.parquet");
    let wanted = stdout(&sudoku(&["solve", file.to_str().unwrap()]));
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("puzzles.txt");
    fs::copy(&file, &other).unwrap();
    assert_eq!(stdout(&sudoku(&["solve", other.to_str().unwrap()])), wanted);
    let piped = Command::new("sh")
        .args(["-c", "cat \"$1\" | \"$0\" solve -", env!("CARGO_BIN_EXE_sudoku"), file.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(stdout(&piped), wanted, "{}", stderr(&piped));
}

#[test]
fn what_is_validated_first_is_read_as_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, strict) = (path("out.parquet"), path("strict.parquet"));
    // As text by themselves, the names of the first two would be bad puzzles.
    for name in ["lz4", "fsl", "types"] {
        let file = fixture(&format!("{name}.parquet"));
        let run = |more: &[&str]| {
            let output = sudoku(&[&["solve", file.to_str().unwrap()][..], more].concat());
            assert!(output.status.success(), "{name} {more:?}: {}", stderr(&output));
            stdout(&output)
        };
        assert_eq!(run(&["--strict"]), run(&[]), "{name}");
        // The columns of the file are copied, with their types.
        run(&["-o", &out]);
        run(&["--strict", "-o", &strict]);
        assert_eq!(fs::read(&strict).unwrap(), fs::read(&out).unwrap(), "{name}");
    }
}

#[test]
fn what_is_written_has_the_columns_of_the_input_and_the_answers() {
    let puzzles = puzzles();
    let folder = tempfile::tempdir().unwrap();
    for (name, bad) in READABLE {
        let (file, out) = (fixture(&format!("{name}.parquet")), folder.path().join("out.parquet"));
        let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
        let add = "solution,solutions,error,clues,minimal,rating,technique,nodes";
        let written = sudoku(&["solve", file, "-o", out, "--add", add]);
        assert!(written.status.success(), "{name}: {}", stderr(&written));
        // The same columns and values as the text of the input has with the same columns added.
        let direct = stdout(&sudoku(&["solve", file, "-f", "csv", "--add", add]));
        let again = sudoku(&["solve", out, "-f", "csv", "--add", "error"]);
        assert_eq!(direct.lines().count(), puzzles.len() + 1);
        let heading = stdout(&again).lines().next().unwrap().to_owned();
        assert_eq!(heading, format!("{},error_2", direct.lines().next().unwrap()), "{name}");
        for (row, (again, direct)) in stdout(&again).lines().zip(direct.lines()).enumerate().skip(1) {
            let error = if bad.contains(&(row - 1)) { "wrong_length" } else { "" };
            let direct = direct.replace(".0,", ",").replace("\"\"\n", "\n");
            assert_eq!(again.replace(".0,", ","), format!("{direct},{error}"), "{name}, row {row}");
        }
        // Solutions are right, by the check of a program that knows nothing of how they were found.
        let checked = sudoku(&["check", out, "--only-failures"]);
        assert_eq!(stdout(&checked).lines().count(), bad.len(), "{name}: {}", stdout(&checked));
    }
}

#[test]
fn values_are_written_as_what_they_mean() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (fixture("types.parquet"), folder.path().join("out.parquet"));
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let puzzles = puzzles();
    let rows = |text: &str| -> Vec<String> {
        let lines = text.lines().enumerate();
        lines.map(|(row, line)| line.replace(puzzles[row.saturating_sub(1)].as_str(), "P")).collect()
    };
    let when = "2024-01-02 03:04:05.678901";
    let wanted = [
        "puzzle,price,whole,half,us,ns,utc,date,time,text,steps,error".to_owned(),
        format!(
            "P,8253734.92,5,1.5,{when},{when}000,{when}000 +00:00,1969-12-31,03:04:05.678901000,\"\",\
             \"[12,null,-1,1000]\","
        ),
        "P,-0.05,-5,-2,,,,,,\"a,b\",[],".to_owned(),
        "P,,,,,,,,,,,".to_owned(),
    ];
    let output = sudoku(&["solve", file, "-f", "csv", "--add", "error"]);
    assert_eq!(rows(&stdout(&output)), wanted);
    // Where rows are left out, an empty text is still another thing than none.
    let written = sudoku(&["check", file, "--only-failures", "-o", out]);
    assert_eq!(written.status.code(), Some(1), "{}", stderr(&written));
    let again = stdout(&sudoku(&["solve", out, "-f", "csv", "--add", "error"]));
    assert_eq!(again.lines().count(), wanted.len());
    for (again, wanted) in rows(&again).iter().zip(&wanted) {
        let kept = wanted.rsplit_once(',').unwrap().0;
        assert!(again.starts_with(kept), "{again} is not {kept}");
    }
}

#[test]
fn the_heading_is_none_of_the_rows_whatever_is_said() {
    let other = fixture("other.parquet").to_str().unwrap().to_owned();
    let output = sudoku(&["solve", &other, "--size", "9", "-f", "csv"]);
    let wanted = "id,name,solution,error\n1,one,,wrong_length\n2,two,,wrong_length\n";
    assert_eq!(stdout(&output), wanted, "{}", stderr(&output));
    let list = fixture("list.parquet").to_str().unwrap().to_owned();
    let wanted = stdout(&sudoku(&["solve", &list]));
    for args in [["--notation", "lines"], ["--notation", "csv"], ["--delimiter", ";"]] {
        let output = sudoku(&[&["solve", &list], &args[..]].concat());
        assert_eq!(stdout(&output), wanted, "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn check_rate_and_canon_write_a_row_for_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = fixture("pandas.parquet");
    for command in ["check", "rate", "canon"] {
        let out = folder.path().join(format!("{command}.parquet"));
        let out = out.to_str().unwrap();
        let csv = stdout(&sudoku(&[command, file.to_str().unwrap(), "-f", "csv"]));
        sudoku(&[command, file.to_str().unwrap(), "-o", out]);
        let again = stdout(&sudoku(&["solve", out, "-f", "csv", "--add", "error"]));
        assert_eq!(again.lines().count(), csv.lines().count(), "{command}");
        let (begin, csv) = (csv.lines().next().unwrap(), csv.lines().count());
        assert!(again.lines().next().unwrap().starts_with(begin), "{command}: {begin}");
        assert_eq!(csv, 101, "{command}");
    }
}

/// Each is a table by itself, with the columns of all.
#[test]
fn shards_are_written_as_columns() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.txt");
    fs::write(&list, puzzles().join("\n")).unwrap();
    let list = list.to_str().unwrap();
    for command in ["solve", "rate"] {
        let shard = |number: usize| {
            let out = folder.path().join(format!("{number}.parquet"));
            let (out, shard) = (out.to_str().unwrap(), format!("{number}/3"));
            let output = sudoku(&[command, list, "--shard", &shard, "-o", out]);
            assert!(output.status.success(), "{}", stderr(&output));
            stdout(&sudoku(&["solve", out, "-f", "csv"])).lines().map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        let parts: Vec<Vec<String>> = (1..=3).map(shard).collect();
        assert!(parts.iter().all(|part| part[0] == parts[0][0]), "{command}");
        let rows: usize = parts.iter().map(|part| part.len() - 1).sum();
        assert_eq!(rows, puzzles().len(), "{command}");
    }
}

#[test]
fn text_becomes_columns() {
    let folder = tempfile::tempdir().unwrap();
    let puzzles = puzzles();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    // A list, a table, and a table without a heading, by another delimiter.
    fs::write(path("list.txt"), puzzles.join("\n")).unwrap();
    let rows = |from: usize| {
        puzzles.iter().enumerate().map(move |(id, puzzle)| format!("{};{puzzle};\n", id + from))
    };
    fs::write(path("table.csv"), format!("rating;puzzle;note\n{}", rows(0).collect::<String>())).unwrap();
    fs::write(path("bare.csv"), rows(10).collect::<String>()).unwrap();
    for (name, heading) in [
        ("list.txt", "puzzle,solution,error"),
        ("table.csv", "rating,puzzle,note,solution,error"),
        ("bare.csv", "column_1,column_2,column_3,solution,error"),
    ] {
        let out = path("out.parquet");
        let written = sudoku(&["solve", &path(name), "-f", "parquet", "-o", &out]);
        assert!(written.status.success(), "{name}: {}", stderr(&written));
        let again = stdout(&sudoku(&["solve", &out, "-f", "csv", "--add", "clues"]));
        let mut lines = again.lines();
        assert_eq!(lines.next().unwrap(), format!("{heading},clues"), "{name}");
        for ((id, puzzle), line) in puzzles.iter().enumerate().zip(lines) {
            let fields: Vec<&str> = line.split(',').collect();
            let at = fields.iter().position(|field| field == puzzle).unwrap();
            let solution = fields.iter().find(|field| solves(field, puzzle)).unwrap();
            assert_ne!(solution, &fields[at], "{name}");
            match name {
                "table.csv" => assert_eq!(fields[0], id.to_string()),
                "bare.csv" => assert_eq!(fields[0], (id + 10).to_string()),
                _ => assert_eq!(at, 0),
            }
        }
    }
}

#[test]
fn long_columns_have_the_same_bytes_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let all = puzzles();
    // Several pages, of which some have rows without a solution and some have not.
    let line = |(row, puzzle): (usize, &String)| match row {
        9_000..9_100 => "12\n".to_owned(),
        _ => format!("{puzzle}\n"),
    };
    let lines: String = all.iter().cycle().take(40_000).enumerate().map(line).collect();
    fs::write(path("list.txt"), &lines).unwrap();
    for (input, text) in [("list.txt", "text.csv"), ("again.parquet", "columns.csv")] {
        sudoku(&["solve", &path(input), "-f", "csv", "--add", "solution,error", "-o", &path(text)]);
        let outputs = ["1", "2", "5"].map(|threads| {
            let out = path(&format!("{threads}.parquet"));
            let written = sudoku(&["solve", &path(input), "-f", "parquet", "-o", &out, "-j", threads]);
            assert!(written.stdout.is_empty(), "{input}: {}", stderr(&written));
            fs::read(out).unwrap()
        });
        assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2], "{input}");
        let added = ["solve", &path("1.parquet"), "-f", "csv", "--add", "clues", "-o", &path("added.csv")];
        sudoku(&added);
        let (again, direct) = (fs::read_to_string(path("added.csv")), fs::read_to_string(path(text)));
        let (again, direct) = (again.unwrap(), direct.unwrap());
        assert_eq!(again.lines().count(), 40_001, "{input}");
        for (again, direct) in again.lines().zip(direct.lines()).skip(1) {
            assert_eq!(again.rsplit_once(',').unwrap().0, direct, "{input}");
        }
        fs::rename(path("1.parquet"), path("again.parquet")).unwrap();
    }
}

#[test]
fn text_from_a_parquet_file_is_resumed_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let all = puzzles();
    let rows: String = all.iter().cycle().take(8_000).map(|puzzle| format!("{puzzle}\n")).collect();
    fs::write(path("list.csv"), format!("puzzle\n{rows}")).unwrap();
    let input = path("in.parquet");
    let written = sudoku(&["solve", &path("list.csv"), "-f", "parquet", "-o", &input]);
    assert!(written.status.success(), "{}", stderr(&written));
    let out = path("out.csv");
    for arguments in [
        &["rate", &input, "-f", "csv", "-j", "1"][..],
        &["solve", &input, "-f", "csv", "-j", "1", "--add", "rating"],
        &["canon", &input, "-f", "csv", "-j", "1", "--by", "puzzle"],
    ] {
        let whole = sudoku(&[arguments, &["-o", &path("whole.csv")]].concat());
        assert!(whole.status.success(), "{}", stderr(&whole));
        let resume = [arguments, &["-o", &out, "--resume"]].concat();
        // A run stops where its output would grow beyond this limit of 500 KiB.
        let limited = ["-c", "ulimit -f 1000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_sudoku")];
        let stopped = Command::new("sh").args(limited).args(&resume).output().unwrap();
        assert_eq!(stopped.status.code(), Some(2), "{arguments:?}: {}", stderr(&stopped));
        assert!(stderr(&stopped).contains("but --resume goes on from here: "), "{}", stderr(&stopped));
        let resumed = sudoku(&resume);
        assert!(resumed.status.success(), "{}", stderr(&resumed));
        assert!(stderr(&resumed).starts_with("Going on after "), "{}", stderr(&resumed));
        assert!(fs::read(&out).unwrap() == fs::read(path("whole.csv")).unwrap(), "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_read_or_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("magic"), b"PAR1").unwrap();
    fs::write(path("no-footer"), b"PAR1 and nothing else that matters").unwrap();
    let out = path("out.parquet");
    let list = fixture("list.parquet").to_str().unwrap().to_owned();
    let brotli = fixture("brotli.parquet").to_str().unwrap().to_owned();
    let other = fixture("other.parquet").to_str().unwrap().to_owned();
    let text = "out.parquet would be text.";
    let none = "other.parquet has no puzzles: Line 2 is no puzzle, but \"1,one\".";
    let cases = [
        (vec!["solve", &other], none),
        (vec!["solve", &other, "-o", &out], none),
        (vec!["dedup", &other], none),
        (vec!["solve", &other, "--column", "grid"], "whose column grid has a type that is not read"),
        (vec!["solve", &brotli], "compressed by brotli: write it with zstd or snappy."),
        (vec!["solve", "magic"], "magic is a damaged Parquet file: it is cut short."),
        (vec!["solve", "no-footer"], "its footer is missing, as if it was cut short."),
        (vec!["solve", &list, "--column", "board"], "There is no column board."),
        (vec!["solve", &list, "--shard", "1/2"], "is a Parquet file"),
        (vec!["solve", &list, "-o", &out, "--resume"], "--resume is for text."),
        (vec!["dedup", &list, "-o", &out], text),
        (vec!["generate", "-o", &out], text),
        (vec!["rate", &list, "--summary", "-o", &out], text),
        (vec!["check", &list, "-f", "csv", "-o", &out], text),
        (vec!["solve", &list, "-f", "jsonl", "-o", &out], text),
        (vec!["validate", &list, "-o", &out], text),
        (vec!["split", &list, "--train-file", &out], text),
    ];
    for (args, words) in cases {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sudoku"));
        let output = command.args(&args).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(!Path::new(&out).exists(), "{args:?}");
    }
}

/// Reads all rows of a file. Errors are as good as rows, as long as it ends.
fn read(path: &Path) -> Result<usize, String> {
    let source = Source::open(path, true).map_err(|error| error.to_string())?;
    let mut reader = source.read(&Hint::default()).map_err(|error| error.to_string())?;
    let mut bytes = 0;
    while let Some(chunk) = reader.next_chunk().map_err(|error| error.to_string())? {
        bytes += chunk.block().text.len();
        assert!(bytes < 64 << 20, "a small file becomes very long");
    }
    Ok(bytes)
}

#[test]
fn a_page_that_differs_from_its_checksum_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("types.parquet");
    let mut bytes = fs::read(fixture("types.parquet")).unwrap();
    let puzzle = &puzzles()[1];
    let at = bytes.windows(puzzle.len()).position(|window| window == puzzle.as_bytes()).unwrap();
    // A blank becomes a clue.
    let blank = at + puzzle.find('.').unwrap();
    bytes[blank] = b'4';
    fs::write(&path, bytes).unwrap();
    let sentence = read(&path).unwrap_err();
    assert!(sentence.ends_with("is a damaged Parquet file: a page differs from its checksum."), "{sentence}");
}

#[test]
fn no_damage_is_more_than_a_sentence() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.parquet");
    // Those of this thread only, and all of them are the library's: what is wrong is told below.
    let (this, hook) = (thread::current().id(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().id() == this {
            PANICS.fetch_add(1, Ordering::Relaxed);
        } else {
            hook(panic);
        }
    }));
    let mut wrong = Vec::new();
    for name in ["list", "lz4", "fixed", "polars"] {
        let good = fs::read(fixture(&format!("{name}.parquet"))).unwrap();
        let (mut errors, mut runs) = (0, 0);
        let mut run = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            runs += 1;
            if let Err(sentence) = read(&path) {
                errors += 1;
                if !sentence.ends_with('.') || sentence.contains('\n') {
                    wrong.push(format!("{name}: {sentence}"));
                }
            }
        };
        // Every byte of two of them is enough, because it takes a while.
        let step = if ["list", "lz4"].contains(&name) { 1 } else { 5 };
        for length in (4..good.len()).step_by(3 * step) {
            run(&good[..length]);
        }
        for at in (4..good.len()).step_by(step) {
            // One bit, all bits, and in turns the others.
            let mut bytes = good.clone();
            bytes[at] ^= if at % 2 == 0 { 0xFF } else { 1 << (at % 8) };
            run(&bytes);
        }
        if errors < runs / 4 {
            wrong.push(format!("{name}: only {errors} of {runs} are damaged"));
        }
    }
    let _ = std::panic::take_hook();
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("{} panics of the library were made sentences", PANICS.load(Ordering::Relaxed));
}
