//! The table of exit codes, held for every command.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use crate::bench::{NO_TIME, impostor};
use crate::harness::daemon::Daemon;
use crate::harness::{
    Folder, SUDOKU, eventually, fixture, handles, is_solution, lines, piped, signal, stderr, stdout,
    succeeded, sudoku, unique_puzzles, wait_for,
};
use crate::load::{Behaviour, misbehaving};

/// The commands that `sudoku --help` lists.
fn commands() -> BTreeSet<String> {
    let output = sudoku(&["--help"]).output().unwrap();
    succeeded(&output);
    let page = stdout(&output);
    let (_, listed) = page.split_once("\nCommands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    listed.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_keeps_the_table() {
    let folder = Folder::new();
    let good = folder.write("good.txt", lines(&unique_puzzles(1_000)));
    let bad = folder.write("bad.txt", lines(&[unique_puzzles(1), vec!["12".to_owned()]].concat()));
    let typed = unique_puzzles(1).remove(0);
    let solved = folder.write("solved.txt", "1234341221434321\n");
    let wrong = folder.write("wrong.txt", "1234341221434322\n");
    let empty = folder.write("empty.txt", "");
    let unsolvable = folder.write("unsolvable.txt", "123....4........\n");
    let out = folder.path("out.txt");
    let missing = folder.path("missing.txt");
    let shard = folder.path("shard.txt");
    succeeded(&sudoku(&["solve", &good, "--shard", "1/1", "-o", &shard, "--manifest"]).output().unwrap());
    let block_size = fixture("bad/block_size_4.txt").to_str().unwrap().to_owned();
    let server = Daemon::start(&[]);
    let url = format!("http://{}", server.address);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (liar, _) = misbehaving(&runtime, Behaviour::WrongSolution);
    let nobody = "http://127.0.0.1:1";
    let faster = impostor(&folder, &good, NO_TIME, |_| {});
    let compared = [
        "bench",
        &good,
        "--strategy",
        "propagation",
        "--compare",
        &faster,
        "--time",
        "1",
        "--max-regression",
    ];
    let table: &[(&[&str], i32)] = &[
        (&["solve", &good], 0),
        (&["solve", &good, "-o", &out], 0),
        (&["solve", &good, "--server", &url], 0),
        (&["join", &shard], 0),
        (&["join", &good], 2),
        (&["solve", &bad], 0),
        (&["solve", &typed, &bad], 0),
        (&["solve", &bad, "--fail-on-error"], 1),
        (&["solve", &unsolvable, "--fail-on-error"], 1),
        (&["solve", &bad, "--strict"], 2),
        (&["solve", &missing], 2),
        (&["solve", &empty], 2),
        (&["solve", &block_size], 2),
        (&["solve", &good, "-o", "/dev/full"], 2),
        (&["solve", &good, "-o", &good], 2),
        (&["solve", &good, "--server", nobody, "--retries", "0"], 2),
        (&["solve", &good, "--no-such-flag"], 2),
        (&["count", &good], 0),
        (&["count", &unsolvable], 0),
        (&["count", &bad, "--fail-on-error"], 1),
        (&["count", &missing], 2),
        (&["solutions", &good], 0),
        (&["solutions", &bad], 0),
        (&["solutions", &unsolvable, "--fail-on-error"], 1),
        (&["solutions", "123....4........"], 1),
        (&["solutions", &typed, &bad], 0),
        (&["solutions", &good, "-o", &good], 2),
        (&["solutions", &missing], 2),
        (&["validate", &good], 0),
        (&["validate", &unsolvable], 0),
        (&["validate", &bad], 1),
        (&["validate", &bad, "--limit", "0"], 1),
        (&["validate", &block_size], 2),
        (&["validate", &missing], 2),
        (&["check", &solved], 0),
        (&["check", &wrong], 1),
        (&["check", &good], 1),
        (&["check", &missing], 2),
        (&["show", &good, "--random"], 0),
        (&["show", &unsolvable, "--solve"], 0),
        (&["show", &good, "--index", "1001"], 2),
        (&["show", &missing], 2),
        (&["candidates", &good, "--index", "1"], 0),
        (&["candidates", &unsolvable], 1),
        (&["candidates", "11.............."], 1),
        (&["candidates", &missing], 2),
        (&["sheet", &good], 0),
        (&["sheet", &unsolvable], 1),
        (&["sheet", &missing], 2),
        (&["hint", &good], 0),
        (&["hint", "11.............."], 1),
        (&["hint", &missing], 2),
        (&["rate", &good, "--up-to", "2.0"], 0),
        (&["rate", &bad, "--up-to", "2.0"], 0),
        (&["rate", &bad, "--up-to", "2.0", "--fail-on-error"], 1),
        (&["rate", &typed, &bad, "--up-to", "2.0"], 0),
        (&["rate", &missing], 2),
        (&["canon", &good], 0),
        (&["canon", &bad], 0),
        (&["canon", &bad, "--fail-on-error"], 1),
        (&["canon", &typed, &bad], 0),
        (&["canon", &solved], 2),
        (&["canon", &missing], 2),
        (&["dedup", &good], 0),
        (&["dedup", &bad], 0),
        (&["dedup", &good, "-o", &good], 2),
        (&["dedup", &empty], 2),
        (&["disguise", &good, "--times", "2"], 0),
        (&["disguise", &bad], 0),
        (&["disguise", &missing], 2),
        (&["split", &good], 0),
        (&["split", &good, "--test-file", &good], 2),
        (&["split", &missing], 2),
        (&["minimize", &good], 0),
        (&["minimize", &bad], 0),
        (&["minimize", &missing], 2),
        (&["steps", ".1....2.3..4...."], 0),
        (&["steps", "11.............."], 1),
        (&["steps", &missing], 2),
        (&["trace", &good], 0),
        (&["trace", &unsolvable], 0),
        (&["trace", &bad, "--index", "2"], 2),
        (&["generate", "--count", "3", "--seed", "1"], 0),
        (&["generate", "--clues", "81", "--minimal", "--attempts", "1"], 1),
        (&["generate", "--clues", "82"], 2),
        (&["generate", "-o", "/nowhere/made.txt"], 2),
        (&["bench", &good, "--repeats", "1", "--strategy", "propagation"], 0),
        (&[&compared[..], &["1000%"]].concat(), 1),
        (&["bench", &missing], 2),
        (&["load", "--server", &url, "--puzzles", "100"], 0),
        (&["load", "--server", &liar, "--puzzles", "100"], 1),
        (&["load", "--server", nobody, "--puzzles", "100"], 2),
        (&["explore", "--boards", "2", "--clues", "20", "--seed", "1"], 0),
        (&["explore", "--boards", "2", "--clues", "82"], 2),
        (&["explore", "--boards", "2", "--plot", "plot.txt"], 2),
        (&["demo", "--repeat", "1"], 0),
        (&["demo", "--repeat", "0"], 2),
        (&["page", "--no-open", &missing], 2),
        (&["page", "--data-dir", &missing], 2),
        (&["shell"], 0),
        (&["shell", &good], 0),
        (&["shell", &missing], 2),
        (&["completions", "bash"], 0),
        (&["completions", "csh"], 2),
        (&["man"], 0),
        (&["man", "--dir", "/dev/null/man"], 2),
        (&["help"], 0),
        (&["help", "solve"], 0),
        (&["help", "resolve"], 2),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["solve", "--help"], 0),
    ];
    for (args, code) in table {
        let output = sudoku(args).env_remove("SUDOKU_TOKEN_FILE").output().unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {}{}", stdout(&output), stderr(&output));
        // A run that could not do what it was asked to says why.
        assert!(*code < 2 || !stderr(&output).is_empty(), "{args:?}");
    }
    let held: BTreeSet<String> = table.iter().map(|(args, _)| args[0].to_owned()).collect();
    for command in commands() {
        assert!(held.contains(&command), "the table says nothing about {command}");
    }
}

/// Its reader has seen enough. Where the exit code says what was found, it still does.
#[test]
fn a_closed_pipe_is_no_error_of_any_command() {
    let folder = Folder::new();
    let puzzle = unique_puzzles(1).remove(0);
    let twice = "11..............";
    let twice_of_nine = format!("11{}", ".".repeat(79));
    let bad = folder.write("bad.txt", lines(&[unique_puzzles(1), vec!["12".to_owned()]].concat()));
    let list = folder.write("list.txt", lines(&unique_puzzles(2)));
    let rows = folder.write("rows.csv", format!("puzzle\n{puzzle}\n"));
    let shard = folder.path("shard.txt");
    succeeded(&sudoku(&["solve", &list, "--shard", "1/1", "-o", &shard, "--manifest"]).output().unwrap());
    let server = Daemon::start(&[]);
    let url = format!("http://{}", server.address);
    let table: &[(&[&str], i32)] = &[
        (&["solve", &list], 0),
        (&["solve", &bad], 0),
        (&["solve", &bad, "--fail-on-error"], 1),
        (&["solve", twice], 1),
        (&["solve", twice, "--server", &url], 1),
        (&["count", &list], 0),
        (&["count", &bad, "--fail-on-error"], 1),
        (&["count", twice], 1),
        (&["solutions", &list], 0),
        (&["solutions", &bad, "--fail-on-error"], 1),
        (&["solutions", twice], 1),
        (&["validate", &list], 0),
        (&["validate", twice], 1),
        (&["check", &list, "-q"], 1),
        (&["check", &puzzle], 1),
        (&["join", &shard], 0),
        (&["show", &list], 0),
        (&["candidates", &list, "--index", "1"], 0),
        (&["sheet", &list], 0),
        (&["canon", &list], 0),
        (&["canon", &bad, "--fail-on-error"], 1),
        (&["canon", &twice_of_nine], 1),
        (&["dedup", &list], 0),
        (&["dedup", &rows], 0),
        (&["split", &list, "-q"], 0),
        (&["disguise", &list, "--seed", "1"], 0),
        (&["disguise", &rows, "--seed", "1"], 0),
        (&["minimize", &list], 0),
        (&["minimize", &rows], 0),
        (&["hint", &list], 0),
        (&["rate", &list], 0),
        (&["rate", &list, "--summary", "-q"], 0),
        (&["rate", &bad, "--fail-on-error"], 1),
        (&["rate", twice], 1),
        (&["hint", twice], 1),
        (&["steps", &list], 0),
        (&["steps", twice], 1),
        (&["trace", &list], 0),
        (&["generate", "--seed", "1"], 0),
        (&["generate", "--seed", "1", "--format", "csv"], 0),
        (&["generate", "--clues", "81", "--minimal", "--attempts", "1"], 1),
        (&["bench", &list, "--repeats", "1", "--strategy", "propagation", "-q"], 0),
        (&["load", "--server", &url, "--puzzles", "10", "-q"], 0),
        (&["explore", "--boards", "2", "--clues", "20", "--seed", "1", "-q"], 0),
        (&["demo", "--repeat", "1"], 0),
        (&["shell", &list], 0),
        (&["completions", "bash"], 0),
        (&["man"], 0),
        (&["help"], 0),
    ];
    let columns: &[(&[&str], i32)] = &[
        (&["solve", &list, "--format", "parquet"], 0),
        (&["solutions", &list, "--format", "parquet"], 0),
        (&["check", &list, "--format", "parquet", "-q"], 1),
        (&["canon", &list, "--format", "parquet"], 0),
        (&["rate", &list, "--format", "parquet", "-q"], 0),
    ];
    let columns = if cfg!(feature = "parquet") { columns } else { &[] };
    for (args, code) in table.iter().chain(columns) {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = sudoku(args);
        let output = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("pipe"), "{args:?}: {}", stderr(&output));
    }
    // A pipe by its name, which is closed once the program has opened it.
    let pipe = folder.pipe("pipe");
    let mut child = sudoku(&["validate", "-", "-o", &pipe]).stdin(Stdio::piped()).spawn().unwrap();
    drop(File::open(&pipe).unwrap());
    writeln!(child.stdin.take().unwrap(), "{twice}").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let held: BTreeSet<String> = table.iter().map(|(args, _)| args[0].to_owned()).collect();
    // The page is served until a signal comes.
    for command in commands().into_iter().filter(|command| command != "page") {
        assert!(held.contains(&command), "the table says nothing about {command}");
    }
}

#[test]
fn a_hangup_that_is_ignored_at_the_start_stays_ignored() {
    let puzzle = unique_puzzles(1).remove(0);
    // As nohup does it; a shell has SIGINT ignored by what a script runs in the background.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT; exec \"$@\"", "sh", SUDOKU]);
    command.args(["solve", "-", "--notation", "lines", "--size", "9"]);
    let mut child = piped(command).stdin(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut answers) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut ask = || {
        writeln!(stdin, "{puzzle}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(is_solution(answer.trim_end(), &puzzle), "{answer:?}");
    };
    ask();
    for _ in 0..2 {
        signal(&child, "-HUP");
        ask();
    }
    // Which the script may send all the same.
    signal(&child, "-INT");
    assert_eq!(wait_for("the end of the program", || child.try_wait().unwrap()).code(), Some(130));
}

/// A command without a handler is ended by the signal itself, which shells report in the same way.
#[test]
fn every_command_that_can_take_long_ends_by_the_signal() {
    let folder = Folder::new();
    let endless = folder.write("blank.txt", ".".repeat(625));
    let pipe = folder.pipe("pipe");
    let server = Daemon::start(&[]);
    let url = format!("http://{}", server.address);
    let most = u64::MAX.to_string();
    let count = ["count", &endless, "--limit", &most, "--node-limit", &most];
    let bench = ["bench", &endless, "--question", "count", "--limit", &most, "--node-limit", &most];
    for (args, has_handler) in [
        (&["solve", &pipe][..], true),
        (&count, true),
        (&[&count[..], &["--server", &url]].concat(), true),
        (&["validate", &pipe], true),
        (&["check", &pipe], false),
        (&["show", &pipe], false),
        (&["trace", &endless, "--delay", "1000"], true),
        (&["generate", "--count", "1000000000", "--size", "25"], true),
        (&bench, true),
        (&["load", "--server", &url, "--duration", "1000"], true),
        (&["explore", "--boards", "100000"], true),
        (&["demo", "--repeat", "600"], true),
        (&["page", "--no-open"], true),
    ] {
        for (name, number) in [("-INT", 2), ("-TERM", 15)] {
            let mut child = sudoku(args).stdout(Stdio::null()).spawn().unwrap();
            if has_handler {
                eventually("a handler", || handles(child.id(), number));
            }
            signal(&child, name);
            let status = wait_for("the end of the program", || child.try_wait().unwrap());
            let code = status.code().or_else(|| status.signal().filter(|_| !has_handler).map(|s| 128 + s));
            assert_eq!(code, Some(128 + number.cast_signed()), "{args:?} {name}");
        }
    }
}
