//! The server and the system it runs on: sockets, the manager of services, what a hangup changes, and the access log.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::ExtendedKeyUsagePurpose;
use serde_json::Value;

use crate::harness::authority::Authority;
use crate::harness::daemon::Daemon;
use crate::harness::{
    Folder, PATIENCE, SUDOKU, SUDOKUD, assert_solves, eventually, is_solution, lines, signal, stderr, stdout,
    succeeded, unique_puzzles, wait_for,
};

const TOKEN: &str = "correct-horse-battery-staple";

/// The limit that the tests change.
const NODES: &str = "max-nodes";

/// Sends a puzzle by JSON over a connection, and returns the answer.
fn ask(mut connection: impl Read + Write, puzzle: &str) -> Value {
    let body = format!(r#"{{"puzzle":"{puzzle}"}}"#);
    let head = "POST /sudoku.v1.SudokuService/Solve HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    let kind = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    connection.write_all(format!("{head}{kind}\r\n{body}").as_bytes()).unwrap();
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{text}");
    serde_json::from_str::<Value>(body).unwrap()["answers"][0].take()
}

fn assert_answers(connection: impl Read + Write) {
    let puzzle = &unique_puzzles(1)[0];
    assert_solves(ask(connection, puzzle)["solution"].as_str().unwrap(), puzzle);
}

#[test]
fn it_listens_on_a_socket_in_the_file_system_beside_the_network() {
    let folder = Folder::new();
    let path = folder.path("sudokud.sock");
    let listen = format!("unix:{path}");
    let mut killed = Daemon::start(&["--listen", &listen]);
    assert_answers(UnixStream::connect(&path).unwrap());
    assert_answers(TcpStream::connect(killed.address).unwrap());
    killed.kill();
    assert!(Path::new(&path).exists(), "nobody was there to remove it");

    // The socket of a server that was killed is no obstacle; that of one that runs is.
    let mut daemon = Daemon::start(&["--listen", &listen]);
    assert_answers(UnixStream::connect(&path).unwrap());
    let second = Command::new(SUDOKUD).args(["--listen", &listen]).output().unwrap();
    let words = String::from_utf8(second.stderr).unwrap();
    assert!(second.status.code() == Some(2) && words.contains("is in use"), "{words}");
    assert_answers(UnixStream::connect(&path).unwrap());
    daemon.signal("-TERM");
    assert!(daemon.child.wait().unwrap().success());
    assert!(!Path::new(&path).exists(), "it removes its socket");
}

/// With the token file of the server, which the client may have too.
#[test]
fn a_client_calls_a_socket_in_the_file_system() {
    let folder = Folder::new();
    let socket = format!("unix:{}", folder.path("s.sock"));
    let tokens = folder.write("tokens", format!("# who\nada = {TOKEN}, streams = 8\n"));
    let _daemon = Daemon::start(&["--listen", &socket, "--token-file", &tokens]);
    let list = folder.write("list", lines(&unique_puzzles(2_000)));
    let here = Command::new(SUDOKU).args(["solve", &list]).output().unwrap();
    let flags = ["--server", &socket, "--token-file", &tokens];
    let there = Command::new(SUDOKU).args(["solve", &list]).args(flags).output().unwrap();
    succeeded(&there);
    assert!(there.stdout == here.stdout);
    succeeded(&Command::new(SUDOKU).args(["load", "--puzzles", "5000"]).args(flags).output().unwrap());
    let vain = |server: &str, flags: &[&str]| {
        let fixed = ["solve", &list, "--server", server, "--retries", "0"];
        let output = Command::new(SUDOKU).args(fixed).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    let none = format!("unix:{}", folder.path("none.sock"));
    assert_eq!(vain(&none, &[]), format!("No server answers at {none}: start one with sudokud.\n"));
    assert!(vain("unix:", &[]).starts_with("`unix:` is no server address."));
    assert!(vain(&socket, &["--tls-ca", &tokens]).contains("certificate"));
}

#[test]
fn a_file_in_the_place_of_a_socket_is_told() {
    let folder = Folder::new();
    let path = folder.write("plain", "mine");
    let output = Command::new(SUDOKUD).args(["--listen", &format!("unix:{path}")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!(
            "sudokud: unix:{path} cannot be listened on: a file of that name is there, which is no socket.\n"
        )
    );
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_socket_that_is_handed_over_takes_the_place_of_the_default_address() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    // The process that the variables are about is the one that the shell becomes.
    let script = r#"exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0""#;
    let mut child = Command::new("sh")
        .args(["-c", script, SUDOKUD])
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A connection waits in the backlog until the server is there.
    assert_answers(TcpStream::connect(address).unwrap());
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains(&format!("listening on {address}")), "{log}");
    assert_eq!(log.matches("listening on").count(), 1, "{log}");
}

#[test]
fn the_manager_of_services_is_told_when_it_is_ready_reloads_and_stops() {
    let folder = Folder::new();
    let path = folder.path("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut daemon = Daemon::from_command(Command::new(SUDOKUD).env("NOTIFY_SOCKET", &path));
    let told = || {
        let mut message = [0; 4096];
        let length = manager.recv(&mut message).unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    };
    assert_eq!(told().trim_end(), "READY=1");
    daemon.signal("-HUP");
    let reloading = told();
    assert!(reloading.contains("RELOADING=1\n") && reloading.contains("MONOTONIC_USEC="), "{reloading}");
    assert_eq!(told().trim_end(), "READY=1");
    daemon.signal("-TERM");
    assert_eq!(told().trim_end(), "STOPPING=1");
    assert!(daemon.child.wait().unwrap().success());
}

#[test]
fn a_hangup_puts_new_limits_into_force_and_names_what_needs_another_start() {
    let folder = Folder::new();
    let config = |nodes: u64, bytes: u64, batches: u64| {
        let settings = format!(
            "{NODES} = {nodes}\nmax-message-bytes = {bytes}\nmax-in-flight = {batches}\n\
             max-in-flight-per-stream = {batches}\nthreads = {}\n",
            batches / 2
        );
        folder.write("sudokud.toml", settings)
    };
    let file = config(1, 1 << 20, 4);
    let daemon = Daemon::with_figures(&["--config", &file]);
    let puzzle = ".".repeat(81);
    let answer = || ask(TcpStream::connect(daemon.address).unwrap(), &puzzle);
    let limit = |name: &str| daemon.figure(&format!("sudoku_limit{{name=\"{name}\"}}"));
    assert_eq!((limit(NODES), limit("max-message-bytes")), (1, 1 << 20));
    assert_eq!((limit("max-in-flight"), limit("max-in-flight-per-stream")), (4, 4));
    assert_eq!(answer()["error"]["code"], "ERROR_CODE_GAVE_UP");

    config(1_000_000, 2 << 20, 6);
    daemon.signal("-HUP");
    eventually("a new limit", || limit(NODES) == 1_000_000);
    assert!(is_solution(answer()["solution"].as_str().unwrap(), &puzzle));
    assert_eq!(limit("max-message-bytes"), 1 << 20);
    eventually("a word about it", || daemon.log().contains("these limits have changed: max-nodes\n"));
    assert!(!daemon.log().contains("were read again"), "there is nothing to read");
    let words = "these settings have changed and need another start: max-message-bytes, max-in-flight, \
                 max-in-flight-per-stream, threads\n";
    eventually("a word about the other", || daemon.log().contains(words));
    assert_eq!(daemon.figure("sudoku_reload_success"), 1);

    // What is wrong changes nothing.
    folder.write("sudokud.toml", "max-nodes = 'many'\n");
    daemon.signal("-HUP");
    eventually("a word about the error", || daemon.log().contains("The limits stay as they are"));
    assert_eq!(limit(NODES), 1_000_000);
    assert_eq!(daemon.figure("sudoku_reload_success"), 0);

    folder.write("sudokud.toml", "max-nodes = 'many\n");
    daemon.signal("-HUP");
    eventually("a word about what is no TOML", || daemon.log().contains("is no TOML"));
    assert!(!daemon.log().contains(".."), "{}", daemon.log());
}

/// The metrics tell which certificate is in use, and that a reload has failed.
#[test]
fn a_broken_certificate_is_told_and_the_old_one_stays() {
    let folder = Folder::new();
    let authority = Authority::new();
    let renew = |is_old| {
        let (pem, key) = authority.sign(ExtendedKeyUsagePurpose::ServerAuth, is_old);
        (folder.write("server.pem", pem), folder.write("server.key", key))
    };
    let expiry = |year| rcgen::date_time_ymd(year, 1, 1).unix_timestamp() as u64;
    let (pem, key) = renew(true);
    let daemon = Daemon::with_figures(&["--tls-cert", &pem, "--tls-key", &key]);
    let told =
        || ["sudoku_certificate_expires_seconds", "sudoku_reload_success"].map(|name| daemon.figure(name));
    assert_eq!(told(), [expiry(2002), 1]);
    folder.write("server.pem", "nothing");
    daemon.signal("-HUP");
    eventually("a reload that fails", || told() == [expiry(2002), 0]);
    renew(false);
    daemon.signal("-HUP");
    // What the library that signs has by default.
    eventually("the other certificate", || told() == [expiry(4096), 1]);
}

/// The file that the settings are printed as is one that gives the same settings.
#[test]
fn settings_are_checked_without_a_start_and_printed_as_a_file() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("listen = ['{}', 'unix:s.sock']\n", taken.local_addr().unwrap());
    let check = |file: &str, flags: &[&str]| {
        let mut command = Command::new(SUDOKUD);
        command.args(["--check-config", "--config", file]).args(flags);
        command.env("SUDOKUD_INSECURE", "1").env("SUDOKUD_MAX_NODE", "7").output().unwrap()
    };
    let file = folder
        .write("first.toml", format!("{listen}max-message-bytes = '640KiB'\nkeepalive-timeout = 7.5\n"));
    let output = check(&file, &["--threads", "2"]);
    succeeded(&output);
    let shown = stdout(&output);
    for line in [
        "threads = 2 # --threads",
        "insecure = 1 # SUDOKUD_INSECURE",
        "max-message-bytes = \"640KiB\" # the configuration file",
        "max-nodes = 10000000 # default",
        "# max-in-flight: twice the threads",
        "# token-file: not set",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line} is not in {shown}");
    }
    assert!(stderr(&output).contains("a similar one is SUDOKUD_MAX_NODES"));
    let again = stdout(&check(&folder.write("second.toml", &shown), &[]));
    let settings = |text: &str| {
        text.lines().map(|line| line.split(" # ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(settings(&again), settings(&shown));

    let output = check(&file, &["--token-file", "/no/such/file", "--listen", "0.0.0.0:1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && stderr(&output).contains("/no/such/file cannot be read"));
    let output = check(&file, &["--listen", "0.0.0.0:1", "--insecure=no"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("add --insecure if"), "{}", stderr(&output));
}

#[test]
fn a_stream_goes_at_the_pace_of_the_quota_of_its_token() {
    const QUOTA: usize = 200;
    let folder = Folder::new();
    let puzzles = unique_puzzles(10).iter().cycle().take(QUOTA * 5 / 2).cloned().collect::<Vec<_>>();
    let list = folder.write("list", lines(&puzzles));
    let tokens = folder.write("tokens", format!("ada = {TOKEN}, puzzles_per_second = {QUOTA}\n"));
    let token = folder.write("token", TOKEN);
    let daemon = Daemon::with_figures(&["--token-file", &tokens]);
    let begin = Instant::now();
    let output = Command::new(SUDOKU)
        .args(["solve", &list, "--server", &daemon.url(), "--token-file", &token])
        .output()
        .unwrap();
    let time = begin.elapsed();
    succeeded(&output);
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), puzzles.len());
    answers.lines().zip(&puzzles).for_each(|(answer, puzzle)| assert_solves(answer, puzzle));
    // A second's worth may be asked for at once; the rest takes a second and a half.
    assert!(time > Duration::from_millis(1400), "{time:?}");
    assert_eq!(daemon.figure("sudoku_client_puzzles_total{client=\"ada\"}"), puzzles.len() as u64);
}

#[test]
fn the_access_log_has_a_line_for_every_call_the_refused_ones_too() {
    let folder = Folder::new();
    let tokens = folder.write("tokens", format!("ada = {TOKEN}\n"));
    let (right, wrong) = (folder.write("right", TOKEN), folder.write("wrong", "no-token-of-this-server"));
    let list = folder.write("list", lines(&unique_puzzles(7)));
    let log = folder.path("access.log");
    let daemon = Daemon::start(&["--token-file", &tokens, "--access-log", &log]);
    let solve = |token: &str| {
        let arguments = ["solve", &list, "--server", &daemon.url(), "--token-file", token];
        Command::new(SUDOKU).args(arguments).output().unwrap().status.code()
    };
    let calls = |path: &str, count: usize| {
        wait_for("lines of the access log", || {
            let text = fs::read_to_string(path).unwrap_or_default();
            let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            let of_puzzles =
                |line: &Value| line["method"].as_str().is_some_and(|name| name.contains("Solve"));
            let lines: Vec<Value> = lines.into_iter().filter(of_puzzles).collect();
            (lines.len() >= count).then_some(lines)
        })
    };
    assert_eq!((solve(&right), solve(&wrong)), (Some(0), Some(2)));
    let written = calls(&log, 2);
    let status = |line: &Value| line["status"].as_str().unwrap().to_owned();
    let done = written.iter().find(|line| status(line) == "OK").unwrap();
    assert_eq!((done["client"].as_str(), done["lines"].as_u64()), (Some("ada"), Some(7)), "{done}");
    assert!(done["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0), "{done}");
    assert!(done["request_id"].as_str().is_some_and(|id| !id.is_empty()), "{done}");
    assert!(done["peer"].as_str().unwrap().starts_with("127.0.0.1"), "{done}");
    assert_eq!(done["protocol"], "grpc", "{done}");
    assert!(done["user_agent"].as_str().unwrap().starts_with("tonic/"), "{done}");
    let bytes = |name: &str| done[name].as_u64().unwrap();
    assert!(bytes("received_bytes") > 7 * 82 && bytes("sent_bytes") > 7 * 82, "{done}");
    let refused = written.iter().find(|line| status(line) == "UNAUTHENTICATED").unwrap();
    assert!(refused["client"].is_null() && refused["lines"] == 0, "{refused}");

    // Those who rotate logs move the file away, and a hangup opens a new one.
    let moved = folder.path("access.log.1");
    fs::rename(&log, &moved).unwrap();
    daemon.signal("-HUP");
    eventually("a new file", || Path::new(&log).exists());
    assert_eq!(solve(&right), Some(0));
    assert_eq!(calls(&log, 1).len(), 1);
    assert_eq!(calls(&moved, 2).len(), 2);
    assert!(!fs::read_to_string(&moved).unwrap().contains(TOKEN));
}
