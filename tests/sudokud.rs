//! The server as a process: how it starts, and how it ends.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;

/// Far below the drain time-out of ten seconds.
const PROMPT: Duration = Duration::from_secs(5);

fn sudokud(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("sudokud"));
    command.args(arguments).env_remove("RUST_LOG").stderr(Stdio::piped());
    command
}

/// A server on a free port and the address from its log.
fn running(arguments: &[&str]) -> (Child, String) {
    let mut child = sudokud(&[&["--listen", "127.0.0.1:0"], arguments].concat()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    let (_, address) = line.rsplit_once("listening on ").unwrap_or_else(|| panic!("{line}"));
    let address = address.trim_end().trim_end_matches(['"', '}']).to_owned();
    child.stderr = Some(log.into_inner());
    (child, address)
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn what_cannot_start_says_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let cases: [(&[&str], &str); 9] = [
        (&["--listen", &taken], "is in use. Stop what listens there, or choose another address"),
        (&["--listen", "192.0.2.1:4000", "--insecure"], "is not an address of this machine."),
        (&["--listen", "0.0.0.0:0"], "add --insecure if that is what you want."),
        (&["--data-dir", "/no/such/folder"], "The data directory /no/such/folder cannot be opened"),
        (&["--config", "/no/such/file"], "The configuration file /no/such/file cannot be read"),
        (&["--listen", "nonsense"], "write an IP address and a port, as in 127.0.0.1:50051"),
        (&["--threads", "0"], "give a whole number from 1 to 1024"),
        (&["--threads", "1025"], "give a whole number from 1 to 1024"),
        (&["--max-nodes", "0"], "0 is not in 1.."),
    ];
    for (arguments, words) in cases {
        let output = sudokud(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(words), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_signal_ends_it_although_a_client_is_silent() {
    for name in ["-TERM", "-INT"] {
        let (mut child, address) = running(&[]);
        let silent = TcpStream::connect(&address).unwrap();
        std::io::Write::write_all(&mut &silent, b"PRI * HTTP").unwrap();
        let start = Instant::now();
        signal(&child, name);
        assert!(child.wait().unwrap().success());
        assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(log.contains("all calls have ended"), "{log}");
        drop(silent);
    }
}

#[test]
fn the_environment_and_a_file_say_the_same_as_flags() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("sudokud.toml");
    std::fs::write(&file, "listen = '127.0.0.1:0'\nlog = 'json'\ndrain-timeout = 1\n").unwrap();
    let mut child = Command::new(cargo_bin!("sudokud"))
        .env("SUDOKUD_CONFIG", &file)
        .env("SUDOKUD_THREADS", "1")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{') && line.contains("listening on 127.0.0.1:"), "{line}");
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());

    std::fs::write(&file, "lisen = '127.0.0.1:0'\n").unwrap();
    let output = sudokud(&["--config", file.to_str().unwrap()]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("lisen") && message.contains("is wrong"), "{message}");
}

/// Even a log of everything has no token in it, and a hangup replaces tokens.
#[test]
#[expect(clippy::disallowed_methods, reason = "a log is looked at until it says what is waited for")]
fn tokens_are_replaced_by_a_hangup_and_never_logged() {
    const FIRST: &str = "correct-horse-battery-staple";
    const SECOND: &str = "another-token-of-some-length";
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (tokens, puzzle) = (file("tokens", FIRST), file("puzzle", "1...............\n"));
    let (first, second) = (file("first", FIRST), file("second", SECOND));

    let log = folder.path().join("log");
    let mut child = sudokud(&["--listen", "127.0.0.1:0", "--token-file", &tokens])
        .env("RUST_LOG", "trace")
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let log = || std::fs::read_to_string(&log).unwrap();
    let wait_for = |words: &str| {
        let begin = Instant::now();
        while !log().contains(words) {
            assert!(begin.elapsed() < PROMPT, "the log has no `{words}`");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait_for("listening on 127.0.0.1:");
    let address = log().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let url = format!("http://{address}");
    let code = |token: &str| {
        let mut command = Command::new(cargo_bin!("sudoku"));
        command.args(["solve", &puzzle, "--server", &url, "--token-file", token]).env("RUST_LOG", "trace");
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(!said.contains(FIRST) && !said.contains(SECOND), "{said}");
        output.status.code()
    };
    assert_eq!((code(&first), code(&second)), (Some(0), Some(2)));

    std::fs::write(&tokens, "short").unwrap();
    signal(&child, "-HUP");
    wait_for("has a token of fewer than 16 characters on line 1. What was in use stays in use.");
    assert_eq!((code(&first), code(&second)), (Some(0), Some(2)));

    std::fs::write(&tokens, SECOND).unwrap();
    signal(&child, "-HUP");
    wait_for("certificates and tokens were read again");
    assert_eq!((code(&first), code(&second)), (Some(2), Some(0)));

    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    let log = log();
    assert!(log.contains("SolveLines"), "calls are logged at this level");
    assert!(!log.contains(FIRST) && !log.contains(SECOND));
}

/// What a server says of itself at the address for metrics.
fn scrape(address: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    std::io::Write::write_all(&mut socket, b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.0 200"), "{text}");
    text
}

#[test]
fn figures_tell_what_the_server_did() {
    // The exporter takes no port 0, so one is found for it.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut child = sudokud(&["--listen", "127.0.0.1:0", "--metrics-listen", &free]).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut said = |words: &str| {
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        line.split_once(words).unwrap_or_else(|| panic!("{line}")).1.trim_end().to_owned()
    };
    assert_eq!(said("serving metrics on "), format!("http://{free}/metrics"));
    let url = format!("http://{}", said("listening on "));

    let folder = tempfile::tempdir().unwrap();
    let puzzles = folder.path().join("puzzles");
    std::fs::write(&puzzles, "1...............\n12\n11..............\n....1...........\n").unwrap();
    let mut command = Command::new(cargo_bin!("sudoku"));
    let solve = command.arg("solve").arg(&puzzles).args(["--server", &url]).output().unwrap();
    assert!(solve.status.success());

    let figures = scrape(&free);
    let figure = |name: &str| {
        let line =
            figures.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
        let line = line.unwrap_or_else(|| panic!("no {name} in {figures}"));
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(figure("sudoku_puzzles_total{outcome=\"answered\"}"), 2);
    assert_eq!(figure("sudoku_puzzles_total{outcome=\"wrong_length\"}"), 1);
    assert_eq!(figure("sudoku_puzzles_total{outcome=\"rule_broken\"}"), 1);
    assert_eq!(figure("sudoku_calls_total{method=\"SolveLines\"}"), 1);
    assert_eq!(figure("sudoku_call_seconds_count{method=\"SolveLines\"}"), 1);
    assert_eq!(figure("sudoku_call_seconds_bucket{method=\"SolveLines\",le=\"+Inf\"}"), 1);
    assert_eq!(figure("sudoku_calls_open"), 0);
    assert_eq!(figure("sudoku_batches_running"), 0);
    assert!(figure("sudoku_received_bytes_total") > 60 && figure("sudoku_sent_bytes_total") > 60);
    assert!(
        figures.contains("sudoku_build_info{version=\"") && figures.contains("# HELP sudoku_puzzles_total ")
    );

    let output = sudokud(&["--listen", "127.0.0.1:0", "--metrics-listen", &free]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(&format!("Metrics cannot be served at {free}")), "{message}");
    let output = sudokud(&["--metrics-listen", "0.0.0.0:1"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("metrics are not encrypted"), "{message}");
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
}
