//! `sudoku load` against servers that do well, stall, lie, break down and vanish.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::daemon::Daemon;
use crate::harness::{self, SUDOKU, eventually, signal, stderr, stdout, succeeded};
use serde_json::Value;
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::service::{Config, Server};
use sudoku_stream::solver::{Limit, Propagation, Search, Solver, Strategy};
use tokio::runtime::Runtime;

/// The puzzles of the built-in sample, and the bad ones among them.
const SAMPLE: u64 = 3000;
const SAMPLE_ERRORS: u64 = 13;

/// The lengths of runs, in seconds, in the middle of which something is to happen. The longer ones are
/// for machines so busy that a shorter one is over by then.
const DURATIONS: [u32; 3] = [3, 12, 48];

fn load(url: &str, args: &[&str]) -> Command {
    let mut command = Command::new(SUDOKU);
    command.args(["load", "--server", url]).args(args).env_remove("SUDOKU_TOKEN_FILE");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a run tells with `--json`.
fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}{}", stdout(output), stderr(output)))
}

/// A figure of the report by its path.
fn figure(report: &Value, path: &str) -> u64 {
    report.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {path} in {report:#}"))
}

/// Everything that can become of puzzles: right, wrong, missing, repeated, failed.
fn outcomes(report: &Value) -> [u64; 5] {
    ["right", "wrong", "missing", "repeated", "failed"]
        .map(|name| figure(report, &format!("/puzzles/{name}")))
}

#[test]
fn every_shape_of_load_is_answered_in_full() {
    let server = Daemon::start(&[]);
    let shapes: [&[&str]; 7] = [
        &["--method", "solve-lines", "--batch", "700"],
        &["--method", "solve-lines", "--batch", "1", "--streams", "3", "--in-flight", "40"],
        &["--method", "solve-stream", "--connections", "2", "--streams", "2"],
        &["--method", "solve-stream", "--batch", "100", "--in-flight", "1"],
        &["--method", "solve", "--connections", "3", "--in-flight", "5"],
        &["--method", "solve", "--batch", "64", "--check-every", "3"],
        &["--method", "solve-lines", "--batch", "50", "--rate", "100000", "--streams", "2"],
    ];
    for shape in shapes {
        let puzzles = 2 * SAMPLE + 11;
        let count = puzzles.to_string();
        let args = [shape, &["--json", "--duration", "25", "--puzzles", &count]].concat();
        let output = load(&server.url(), &args).output().unwrap();
        succeeded(&output);
        let report = report(&output);
        assert_eq!(outcomes(&report), [puzzles, 0, 0, 0, 0], "{shape:?}: {report:#}");
        assert_eq!(figure(&report, "/puzzles/sent"), puzzles);
        assert_eq!(figure(&report, "/messages/sent"), figure(&report, "/messages/answered"));
        assert_eq!(figure(&report, "/messages/unsent"), 0);
        let checked = figure(&report, "/puzzles/checked");
        if shape.contains(&"--check-every") {
            assert!(checked > puzzles / 4 && checked < puzzles / 2, "{shape:?}: {checked}");
        } else {
            assert_eq!(checked, puzzles);
            let errors = report["error_lines"].as_object().unwrap().values().map(|n| n.as_u64().unwrap());
            assert!(errors.sum::<u64>() >= 2 * SAMPLE_ERRORS, "{shape:?}: {report:#}");
        }
        let latencies = ["p50", "p90", "p99", "p99_9", "max"]
            .map(|name| report.pointer(&format!("/latency_us/{name}")).and_then(Value::as_f64).unwrap());
        assert!(latencies[0] > 0.0 && latencies.is_sorted(), "{shape:?}: {latencies:?}");
    }
}

#[test]
fn puzzles_of_a_file_are_sent_and_told_about() {
    let server = Daemon::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("puzzles");
    // Two solutions, none, a clash, too short, and a comment.
    fs::write(
        &path,
        "# five\n1...............\n1234341221434321\n12..............;x\n11..............\n123\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    for method in ["solve", "solve-stream", "solve-lines"] {
        let args = [path, "--method", method, "--batch", "2", "--puzzles", "10"];
        let output = load(&server.url(), &args).output().unwrap();
        succeeded(&output);
        let text = stdout(&output);
        assert!(text.contains("10 puzzles in 5 messages"), "{text}");
        assert!(text.contains("4 error lines: 2 rule_broken, 2 wrong_length"), "{text}");
        assert!(text.contains("10 answers checked: 0 wrong, 0 missing, 0 repeated, 0 failed"), "{text}");
        assert!(text.contains("latency of a message: p50 ") && text.contains(" % #"), "{text}");
        // Messages have as many puzzles as were asked for, however short the list is.
        let args = [path, "--method", method, "--batch", "12", "--puzzles", "40"];
        let output = load(&server.url(), &args).output().unwrap();
        succeeded(&output);
        let text = stdout(&output);
        assert!(text.contains("40 puzzles in 4 messages"), "{text}");
        assert!(text.contains("16 error lines: 8 rule_broken, 8 wrong_length"), "{text}");
        // Errors are only seen in answers that are compared.
        let output = load(&server.url(), &[&args[..], &["--check-every", "2"]].concat()).output().unwrap();
        succeeded(&output);
        let text = stdout(&output);
        assert!(text.contains(" error lines among the answers checked: "), "{text}");
    }
}

/// The first message is due at once, and each pays for the time until the next.
#[test]
fn the_throughput_is_not_above_the_rate() {
    let server = Daemon::start(&[]);
    let args = ["--rate", "20000", "--batch", "1000", "--puzzles", "2000", "--json"];
    let output = load(&server.url(), &args).output().unwrap();
    succeeded(&output);
    let report = report(&output);
    assert_eq!(outcomes(&report)[0], 2000, "{report:#}");
    assert!(report["seconds"].as_f64().unwrap() >= 0.1, "{report:#}");
    assert!(report["puzzles_per_second"].as_f64().unwrap() <= 20_000.0, "{report:#}");
}

/// A server that stalls is charged for all that was due meanwhile, not for one message.
#[test]
#[expect(clippy::disallowed_methods, reason = "a stall takes time")]
fn a_stall_counts_for_all_that_was_due() {
    let server = Daemon::start(&[]);
    for seconds in DURATIONS {
        let duration = seconds.to_string();
        let args = ["--method", "solve-stream", "--rate", "1000", "--duration", &duration, "--json"];
        let begin = Instant::now();
        let mut child = load(&server.url(), &args).spawn().unwrap();
        wait_for_work(&server, Duration::from_millis(20), &mut child);
        signal(&server.child, "-STOP");
        // The length of the stall is what is tested.
        thread::sleep(Duration::from_millis(270) * seconds);
        signal(&server.child, "-CONT");
        let has_time_left = begin.elapsed() < Duration::from_secs(seconds.into()) * 2 / 3;
        let output = child.wait_with_output().unwrap();
        if !has_time_left && seconds < DURATIONS[2] {
            continue;
        }
        let report = report(&output);
        let [right, others @ ..] = outcomes(&report);
        assert_eq!(others, [0; 4], "{report:#}");
        // There are 1,000 a second, sent or not.
        let due = right + figure(&report, "/messages/unsent");
        assert!(due.abs_diff(1_000 * u64::from(seconds)) <= 1, "{report:#}");
        let latency = |name: &str| report["latency_us"][name].as_f64().unwrap();
        assert!(latency("max") > 700_000.0, "{report:#}");
        // More than one in ten was due during the stall.
        assert!(latency("p90") > 20_000.0, "{report:#}");
        return;
    }
}

/// A strategy that answers as it is told to, and counts.
struct Misbehaving {
    how: Behaviour,
    searched: Arc<AtomicU64>,
}

#[derive(Clone, Copy)]
pub enum Behaviour {
    Right,
    /// Two cells are exchanged.
    WrongSolution,
    NoSolution,
    Panic,
}

impl Strategy for Misbehaving {
    fn name(&self) -> &'static str {
        "misbehaving"
    }

    fn summary(&self) -> &'static str {
        "Answers as it is told to"
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        Box::new(MisbehavingSolver(self.how, Arc::clone(&self.searched), Propagation.solver(order)))
    }
}

struct MisbehavingSolver(Behaviour, Arc<AtomicU64>, Box<dyn Solver>);

impl Solver for MisbehavingSolver {
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search {
        let search = self.2.search(puzzle, limit, solution);
        self.1.fetch_add(1, Ordering::Relaxed);
        match self.0 {
            Behaviour::Right => {}
            Behaviour::WrongSolution => solution.digits_mut().swap(0, 1),
            Behaviour::NoSolution => return Search::NO_SOLUTION,
            Behaviour::Panic => panic!("injected"),
        }
        search
    }
}

/// A server in this process with such a strategy, and how many puzzles it has searched.
pub fn misbehaving(runtime: &Runtime, how: Behaviour) -> (String, Arc<AtomicU64>) {
    let searched = Arc::default();
    let strategy: &'static dyn Strategy =
        Box::leak(Box::new(Misbehaving { how, searched: Arc::clone(&searched) }));
    let config = Config {
        listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()],
        strategies: Box::leak(Box::new([strategy])),
        ..Config::default()
    };
    let server = runtime.block_on(Server::bind(config)).unwrap();
    let url = format!("http://{}", server.local_addr());
    runtime.spawn(server.serve(std::future::pending()));
    (url, searched)
}

#[test]
fn wrong_answers_are_found_out() {
    let runtime = Runtime::new().unwrap();
    for (how, words) in [
        (Behaviour::WrongSolution, "got `"),
        (Behaviour::NoSolution, "has no solution."),
        (Behaviour::Panic, "internal error"),
    ] {
        let (url, _) = misbehaving(&runtime, how);
        for (method, batch) in [("solve", "1"), ("solve", "3"), ("solve-stream", "2"), ("solve-lines", "100")]
        {
            let args = ["--method", method, "--batch", batch, "--puzzles", "300", "--json"];
            let output = load(&url, &args).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
            let report = report(&output);
            let [right, wrong, missing, repeated, failed] = outcomes(&report);
            assert_eq!((right + wrong, missing, repeated, failed), (300, 0, 0, 0), "{report:#}");
            // What can be seen without a search is answered well all the same.
            assert!(wrong > 280, "{report:#}");
            let example = report["wrong_answer"].as_str().unwrap();
            assert!(example.contains(words), "{example}");
        }
    }
}

#[test]
fn a_server_that_vanishes_is_counted_by_statuses() {
    thread::scope(|scope| {
        for args in [
            &["--method", "solve-lines", "--batch", "10", "--rate", "20000"][..],
            &["--method", "solve-stream", "--streams", "3"],
            &["--method", "solve"],
        ] {
            scope.spawn(|| assert_loss_is_counted(args));
        }
    });
}

/// Each run goes on to the end of its time after the loss.
fn assert_loss_is_counted(args: &[&str]) {
    for seconds in DURATIONS {
        let mut server = Daemon::start(&[]);
        let duration = seconds.to_string();
        let args = [args, &["--duration", &duration, "--json"]].concat();
        let mut child = load(&server.url(), &args).spawn().unwrap();
        wait_for_work(&server, Duration::from_millis(100), &mut child);
        server.kill();
        let output = child.wait_with_output().unwrap();
        if output.status.success() && seconds < DURATIONS[2] {
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let report = report(&output);
        let [right, wrong, missing, repeated, failed] = outcomes(&report);
        assert!(right > 0 && failed > 0, "{report:#}");
        assert_eq!([wrong, missing, repeated], [0; 3], "{report:#}");
        assert_eq!(right + failed, figure(&report, "/puzzles/sent"));
        let statuses = report["statuses"].as_object().unwrap();
        assert!(statuses.keys().eq(["UNAVAILABLE"]), "{report:#}");
        return;
    }
}

/// Waits until a server has taken this much processor time for what a run asks, or the run has ended.
fn wait_for_work(server: &Daemon, time: Duration, run: &mut Child) {
    let before = server.cpu();
    eventually("work", || server.cpu_since(before) >= time || run.try_wait().unwrap().is_some());
}

/// With several servers, what a lost one has not answered goes to another.
#[test]
fn a_server_of_several_that_is_lost_costs_no_answer() {
    for (method, signal) in [("solve-lines", "-TERM"), ("solve-stream", "-KILL"), ("solve", "-TERM")] {
        let (stays, goes) = (Daemon::with_figures(&[]), Daemon::with_figures(&[]));
        let answered = |server: &Daemon| server.figure("sudoku_puzzles_total{outcome=\"answered\"}");
        let both = format!("{},{}", goes.url(), stays.address);
        let args = ["--method", method, "--batch", "40", "--streams", "4", "--duration", "30", "--json"];
        let child = load(&both, &args).spawn().unwrap();
        eventually("both servers have work", || [&stays, &goes].iter().all(|server| answered(server) > 0));
        goes.signal(signal);
        // The other one takes what is left, and goes on.
        let before = answered(&stays);
        eventually("the other goes on", || answered(&stays) > before + 5_000);
        harness::signal(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        let report = report(&output);
        assert_eq!(output.status.code(), Some(130), "{method}: {report:#}");
        let [right, wrong, missing, repeated, failed] = outcomes(&report);
        assert_eq!([wrong, missing, repeated, failed], [0; 4], "{method}: {report:#}");
        assert_eq!(right, figure(&report, "/puzzles/sent"));
        assert!(figure(&report, "/puzzles/resent") > 0, "{method}: {report:#}");
    }
}

#[test]
fn an_interrupt_ends_it_with_the_report_so_far() {
    let runtime = Runtime::new().unwrap();
    let (url, searched) = misbehaving(&runtime, Behaviour::Right);
    let child = load(&url, &["--batch", "10", "--duration", "600", "--json"]).spawn().unwrap();
    eventually("the search of 100 puzzles", || searched.load(Ordering::Relaxed) >= 100);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let report = report(&output);
    assert_eq!(report["interrupted"], true);
    let [right, others @ ..] = outcomes(&report);
    assert!(right >= 90 && others == [0; 4], "{report:#}");
}

#[test]
fn what_cannot_run_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (token, other) =
        (file("token", "correct-horse-battery"), file("other", "another-token-of-some-length"));
    let empty = file("empty", "\n# nothing\n");
    let server = Daemon::start(&["--token-file", &token]);
    let cases: [(&str, &[&str], &str); 9] = [
        ("http://127.0.0.1:1", &[], "No server answers at http://127.0.0.1:1"),
        ("127.0.0.1:1", &[], "No server answers at http://127.0.0.1:1"),
        ("nonsense", &[], "is no server address"),
        ("http://192.0.2.1:1", &["--token-file", &token], "http://192.0.2.1:1 is none of these."),
        (&server.url(), &["--token-file", &other], "The server refused after 0 answers"),
        (&server.url(), &[], "The server refused after 0 answers"),
        (&server.url(), &[&empty], "is empty."),
        (&server.url(), &["--rate", "0"], "give a number of puzzles a second"),
        (&server.url(), &["--connections", "4096", "--streams", "1024"], "messages in flight"),
    ];
    for (url, args, words) in cases {
        let output = load(url, args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
    let args = ["--token-file", &token, "--puzzles", "100"];
    succeeded(&load(&server.url(), &args).output().unwrap());
}
