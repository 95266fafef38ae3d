//! Both binaries together: `sudoku solve --server` against a running `sudokud`, and the demonstration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::harness::daemon::Daemon;
use crate::harness::{fixture, sudoku};

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

/// The files of the project in every notation, good and bad, and the sample.
fn files() -> Vec<PathBuf> {
    let in_folder = |folder: &str| {
        fs::read_dir(fixture(folder)).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let is_input = |path: &PathBuf| {
        path.extension().is_some_and(|e| !["answers", "md", "tsv"].contains(&e.to_str().unwrap()))
    };
    let mut files: Vec<PathBuf> = [in_folder("good"), in_folder("bad")].concat();
    files.retain(is_input);
    files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/sudoku/demo.txt"));
    assert!(files.len() > 20, "{files:?}");
    files
}

#[test]
fn a_server_gives_the_same_bytes_as_this_machine() {
    let server = Daemon::start(&[]);
    let other = Daemon::start(&[]);
    let both = format!("{},{}", server.url(), other.url());
    for path in files() {
        let file = path.to_str().unwrap();
        for extra in [
            &[][..],
            &["--question", "unique", "--format", "csv"],
            &["--question", "count", "--format", "jsonl", "--limit", "3"],
            &["--format", "grid", "--strict"],
            &["--format", "csv", "--shard", "2/3"],
        ] {
            let here = run(&[&["solve", "--quiet", file][..], extra].concat());
            let url = if extra.contains(&"csv") { &both } else { &server.url() };
            let there = run(&[&["solve", "--quiet", file, "--server", url][..], extra].concat());
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            assert_eq!(text(&here.stdout), text(&there.stdout), "{file} {extra:?}");
            assert_eq!(text(&here.stderr), text(&there.stderr), "{file} {extra:?}");
            assert_eq!(here.status, there.status, "{file} {extra:?}");
        }
    }
}

/// The column that is read where nothing shows which one it is, is none that was asked for.
#[test]
fn objects_without_a_puzzle_are_bad_on_a_server_too() {
    let server = Daemon::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list.jsonl");
    fs::write(&file, "{\"q\":\"53..7....\"}\n").unwrap();
    let args = ["solve", file.to_str().unwrap(), "--notation", "jsonl", "--quiet"];
    let here = run(&args);
    assert_eq!(here.stdout, b"error: Line 1 has the wrong length.\n");
    let there = run(&[&args[..], &["--server", &server.url()]].concat());
    assert_eq!((here.stdout, here.status), (there.stdout, there.status));
}

/// The server skips a mark at the beginning of a text, as this machine has done before.
#[test]
fn a_second_byte_order_mark_is_a_part_of_the_first_line_on_a_server_too() {
    let server = Daemon::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list.txt");
    let puzzle = "12....1.........";
    for (top, answers) in [("", 1), ("\n", 2), ("# a\n", 2), ("2\n", 2), ("id,puzzle\n7,", 1)] {
        fs::write(&file, format!("\u{FEFF}\u{FEFF}{top}{puzzle}\n")).unwrap();
        let args = ["solve", file.to_str().unwrap(), "--size", "4", "--quiet"];
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let here = run(&args);
        assert_eq!(text(&here.stdout).lines().count(), answers, "{top:?}");
        let there = run(&[&args[..], &["--server", &server.url()]].concat());
        assert_eq!(text(&there.stdout), text(&here.stdout), "{top:?}");
        assert_eq!((text(&there.stderr), there.status), (text(&here.stderr), here.status), "{top:?}");
    }
}

/// A message may begin with a frame, whose first row is all blanks, with a line that is no row, or with
/// a section that is no puzzle.
#[test]
fn grids_are_divided_where_no_answer_changes() {
    let servers: Vec<Daemon> = (0..3).map(|_| Daemon::start(&[])).collect();
    let urls = servers.iter().map(Daemon::url).collect::<Vec<_>>().join(",");
    let folder = tempfile::tempdir().unwrap();
    let framed = "+--+--+\n|--|--|\n|--|-1|\n+--+--+\n|-1|2-|\n|2-|--|\n+--+--+\n".repeat(40);
    let plain = "12..\n34..\n..1.\n....\n\n";
    let apart = [plain, "sep=;\n\n"].concat().repeat(40);
    let sections = format!("[Puzzle]\n{plain}[Solution]\n1243\n3412\n2134\n4321\n\n").repeat(40);
    for (name, text, answers) in [
        ("sections.txt", sections, 40),
        ("numbered.txt", format!("40\n\n# forty\n{}", plain.repeat(40)), 40),
        ("framed.txt", framed.replace("+\n+", "+\n\n+"), 40),
        ("shared.txt", framed, 40),
        ("sep.txt", apart, 40),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let args = ["solve", file.to_str().unwrap(), "--quiet", "--strategy", "backtracking"];
        let here = run(&args);
        assert_eq!(String::from_utf8_lossy(&here.stdout).lines().count(), answers, "{name}");
        for urls in [&*servers[0].url(), &urls] {
            let there = run(&[&args[..], &["--server", urls]].concat());
            assert_eq!(
                String::from_utf8_lossy(&there.stdout),
                String::from_utf8_lossy(&here.stdout),
                "{name}"
            );
        }
    }
}

/// What rows look like is shown by the beginning of the list, and not by each part of it.
#[test]
fn rows_are_read_alike_wherever_a_stream_begins() {
    let servers: Vec<Daemon> = (0..2).map(|_| Daemon::start(&[])).collect();
    let urls = servers.iter().map(Daemon::url).collect::<Vec<_>>().join(",");
    let folder = tempfile::tempdir().unwrap();
    let rule = "├───┼───┼───┼───┤\n";
    let rows = ["│ 1 │   │ 2 │ 3 │\n", "│   │   │   │   │\n", "│   │   │ 4 │   │\n", "│ 4 │   │   │   │\n"];
    let drawn = format!("{rule}{}\n\n", rows.map(|row| format!("{row}{rule}")).concat()).repeat(7);
    let puzzle = "53..7..............98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    let rows: Vec<&str> = (0..9).map(|at| &puzzle[9 * at..][..9]).collect();
    let numbered_row = |(number, row): (usize, &&str)| {
        let fields = row.chars().map(|cell| format!(";{cell}").replace('.', ""));
        format!("{number}{}\n", fields.collect::<String>())
    };
    let numbered = (1..).zip(&rows).map(numbered_row).collect::<String>();
    let numbered = format!("::\n{numbered}\n").repeat(7);
    let dashes = format!("::\n{}\n\n", rows.join("\n").replace('.', "-")).repeat(7);
    for (name, text) in [("drawn.txt", drawn), ("numbered.txt", numbered), ("dashes.txt", dashes)] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let args = ["solve", file.to_str().unwrap(), "--quiet", "--strategy", "backtracking"];
        for (shard, urls) in [(&[][..], &*urls), (&["--shard", "2/2"], &servers[0].url())] {
            let here = run(&[&args[..], shard].concat());
            let there = run(&[&args[..], shard, &["--server", urls]].concat());
            let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(here.status.success(), "{name}");
            assert_eq!(text(&there), text(&here), "{name} {shard:?}");
        }
    }
}

/// Each server, and each stream to one, begins somewhere in the list.
#[test]
fn rows_of_words_are_no_headings_wherever_a_stream_begins() {
    let servers: Vec<Daemon> = (0..4).map(|_| Daemon::start(&[])).collect();
    let urls = servers.iter().map(Daemon::url).collect::<Vec<_>>().join(",");
    let folder = tempfile::tempdir().unwrap();
    let puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
    let rows = |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<String>();
    let words = rows(30_000, &|k| if k % 3 == 2 { "a,b\n".into() } else { format!("{k},{puzzle}\n") });
    let short = rows(1_030, &|k| if k < 1_024 { format!("{k},{puzzle}\n") } else { "7\n".into() });
    for (name, text) in [
        ("words.csv", words.clone()),
        ("named.csv", format!("id,puzzle\n{words}")),
        ("foreign.csv", format!("编号,题目\n{words}")),
        ("short.csv", short),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let args = ["solve", file.to_str().unwrap(), "--quiet", "--format", "jsonl"];
        let here = run(&args);
        let there = run(&[&args[..], &["--server", &urls]].concat());
        assert_eq!(String::from_utf8(there.stderr).unwrap(), "", "{name}");
        assert!(here.stdout == there.stdout && here.status == there.status, "{name}");
    }
}

/// The summary comes from the server's own tallies.
#[test]
fn a_server_counts_as_this_machine_does() {
    let server = Daemon::start(&[]);
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/sudoku/demo.txt");
    // What the default strategy takes depends on which puzzles it gets together.
    let sample = sample.to_str().unwrap();
    let args = ["solve", sample, "--stats", "--strategy", "propagation", "-o", "/dev/null"];
    let figures = |table: &str| -> Vec<(String, String)> {
        // Here a table, whose second column are the sums; from a server only the sums, in one line.
        let is_sum =
            |name: &str| ["nodes", "guesses", "backtracks", "comparisons", "placements"].contains(&name);
        let words: Vec<&str> =
            table.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
        let pairs = words.windows(2).filter(|pair| is_sum(pair[0]));
        pairs.map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect()
    };
    let without_time = |output: &Output| -> String {
        let text = String::from_utf8(output.stderr.clone()).unwrap();
        let (_, counts) = text.split_once(" a second: ").unwrap();
        counts.split("; time ").next().unwrap().to_owned()
    };
    let here = without_time(&run(&args));
    assert!(here.starts_with("2,987 answered, 13 error lines (2 invalid_character, 4 no_solution"), "{here}");
    let there = without_time(&run(&[&args[..], &["--server", &server.url()]].concat()));
    assert_eq!(here.lines().next(), there.lines().next());
    assert_eq!(figures(&here).len(), 5, "{here}");
    assert_eq!(figures(&here), figures(&there));
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.txt");
    let four = fixture("good/four.header");
    // A label of 64 characters, for which nobody asks the network.
    let nobody = format!("http://{}.invalid:1", "n".repeat(64));
    let unknown = format!("No server answers at {nobody}: that name is not known here.");
    let unknown = format!("{unknown} Trying once more.\n{unknown} It was tried once more.\n");
    for (url, words) in [
        (
            "http://127.0.0.1:1",
            "No server answers at http://127.0.0.1:1: start one with sudokud. Trying once more.\nNo server answers at http://127.0.0.1:1: start one with sudokud. It was tried once more.\n",
        ),
        (&nobody, &unknown),
        (
            "127.0.0.1:99999",
            "`http://127.0.0.1:99999` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051.\n",
        ),
        (
            "http://me:secret@127.0.0.1:1",
            "The address of a server takes no name and no password before an @. A token is in the file that --token-file names.\n",
        ),
        (
            ":1",
            "`http://:1` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051.\n",
        ),
        (
            "https://127.0.0.1:1/path",
            "`https://127.0.0.1:1/path` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051.\n",
        ),
        (
            "nonsense",
            "`nonsense` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051.\n",
        ),
        (
            "nonsense//",
            "`nonsense//` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051.\n",
        ),
    ] {
        let args = ["solve", four.to_str().unwrap(), "-o", out.to_str().unwrap(), "--server", url];
        let output = run(&[&args[..], &["--retries", "1"]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), words);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn the_demonstration_checks_itself() {
    let output = run(&["demo", "--repeat", "2"]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(page.matches("\n  error: Line ").count(), 13, "{page}");
    assert!(
        page.contains("Checked: 2,987 solutions keep every rule and every clue, 13 error lines"),
        "{page}"
    );
    assert_eq!(page.matches("6,000 puzzles in ").count(), 2, "{page}");
}
