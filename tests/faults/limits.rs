//! What runs out: file descriptors, memory.

use std::fs::{self, File};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use crate::companion::{run, start, sudoku_in_shell};
use crate::harness::daemon::Daemon;
use crate::harness::{Folder, SUDOKUD, eventually, lines, piped, sudoku};
use crate::row::{Row, Seen};
use crate::traffic::{assert_serving, cpu_over, easy};

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(24, "file descriptors run out", "no busy loop; serves again when there are some", descriptors),
        row(25, "a limit on memory, sudoku", "a sentence, or the answers; OUT whole or absent", memory),
        row(25, "a limit on memory, sudokud", "refuses with a sentence, or serves", server_memory),
    ]
}

/// The server under a limit of the shell.
fn limited(limit: &str, flags: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]);
    command.arg(SUDOKUD).args(flags);
    command
}

fn descriptors() -> Seen {
    const LIMIT: usize = 40;
    let daemon = Daemon::from_command(&mut limited(&format!("-n {LIMIT}"), &[]));
    // The system takes those that the server cannot.
    let silent: Vec<TcpStream> =
        (0..2 * LIMIT).map(|_| TcpStream::connect(daemon.address).unwrap()).collect();
    eventually("an end of descriptors", || daemon.log().contains("cannot accept a connection"));
    let time = Duration::from_secs(2);
    let said = daemon.log().lines().count();
    let cpu = cpu_over(&daemon, time);
    let said = daemon.log().lines().count() - said;
    assert!(cpu < time / 10, "{cpu:?} of processor time in {time:?}");
    assert!(said <= 30, "{said} lines of log in {time:?}");
    drop(silent);
    assert_serving(&daemon);
    Seen::good(format!(
        "{} ms of processor time and {said} lines of log in 2 s without any; served as soon as there were some",
        cpu.as_millis()
    ))
}

fn memory() -> Seen {
    let folder = Folder::new();
    let some = easy(1_000);
    let puzzles: Vec<&String> = some.iter().cycle().take(100_000).collect();
    let input =
        folder.write("in.txt", puzzles.iter().map(|puzzle| format!("{puzzle}\n")).collect::<String>());
    let answers = run(&mut sudoku(&["solve", &input])).stdout;
    let out = folder.path("out.txt");
    let (mut solved, mut refused, mut broken, mut least, mut sentences) = (0, 0, 0, 0, Vec::new());
    // In small steps beyond the size of the program of the tests, which is mapped as a whole.
    for mib in (16..120).step_by(2).chain((120..480).step_by(40)) {
        let script = format!("ulimit -v {}; exec \"$0\" \"$@\"", mib << 10);
        let starts = run(&mut sudoku_in_shell(&script, &["--version"]));
        if !starts.status.success() {
            // It is the system that cannot load the program.
            continue;
        }
        let ended = run(&mut sudoku_in_shell(&script, &["solve", &input, "-o", &out]));
        match ended.status.code() {
            Some(0) => {
                assert!(fs::read(&out).unwrap() == answers, "{mib} MiB");
                fs::remove_file(&out).unwrap();
                least = if solved == 0 { mib } else { least };
                solved += 1;
            }
            code => {
                let words = ended.stderr.trim_end();
                assert!(!words.is_empty(), "{mib} MiB: {}", ended.status);
                assert!(!folder.exists("out.txt"), "{mib} MiB: {words}");
                if code == Some(2) {
                    assert_eq!(folder.names(), ["in.txt"], "{mib} MiB: {words}");
                    sentences.push(words.rsplit(": ").next().unwrap().to_owned());
                } else {
                    // It had not even the memory for a thread, or for its own small things; the standard library says so.
                    broken += 1;
                }
                refused += 1;
            }
        }
    }
    sentences.sort();
    sentences.dedup();
    assert!(solved > 10 && refused > 0, "{solved} solved, {refused} refused");
    // What such a run leaves behind harms nobody.
    run(&mut sudoku(&["solve", &input, "-o", &out])).assert_code(0);
    assert_eq!(folder.names(), ["in.txt", "out.txt"]);
    Seen::good(format!(
        "{} limits from 16 to 440 MiB: {solved} solved, the first with {least} MiB; {} refused: {}; {broken} ended by the standard library with its own words; OUT always whole or absent",
        solved + refused,
        refused - broken,
        sentences.join(" / ")
    ))
}

fn server_memory() -> Seen {
    let folder = Folder::new();
    let input = folder.write("in.txt", lines(&easy(20_000)));
    let (mut served, mut refused) = (0, 0);
    for mib in (16..=256).step_by(16).chain([384, 512]) {
        let limit = format!("-v {}", mib << 10);
        let starts = run(&mut piped(limited(&limit, &["--version"])));
        if !starts.status.success() {
            continue;
        }
        let log = folder.path("log");
        let mut command = piped(limited(&limit, &["--listen", "127.0.0.1:0", "--threads", "2"]));
        let mut running = start(command.stderr(File::create(&log).unwrap()));
        let said = || fs::read_to_string(&log).unwrap();
        let address = || {
            let log = said();
            let (_, rest) = log.split_once("listening on ")?;
            rest.split_once('\n').map(|(address, _)| address.to_owned())
        };
        eventually("a word", || address().is_some() || !running.is_running());
        let Some(address) = address() else {
            assert!(said().contains(&format!("limited to {mib} MiB. Allow 256")), "{mib} MiB: {}", said());
            refused += 1;
            continue;
        };
        assert!(mib >= 256, "{mib} MiB");
        let ended =
            run(&mut sudoku(&["solve", &input, "--server", &format!("http://{address}"), "--retries", "1"]));
        if ended.status.success() {
            assert_eq!(ended.text().lines().count(), 20_000);
            served += 1;
        } else {
            assert!(!ended.stderr.is_empty() && !said().is_empty(), "{mib} MiB");
            refused += 1;
        }
    }
    assert!(served > 0 && refused > 0, "{served} served, {refused} refused");
    Seen::good(format!(
        "of the limits from 16 to 512 MiB {served} served 20,000 puzzles, {refused} refused in words"
    ))
}
