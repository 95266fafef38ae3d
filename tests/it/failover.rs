//! `sudoku solve --server` when servers are killed, drained, slow, busy or not there, and connections are cut: every line is
//! answered once and in its place.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::daemon::Daemon;
use crate::harness::{
    Folder, PATIENCE, Random, list, signal, stderr, succeeded, sudoku, unused_address, wait_for,
};
use std::ops::Deref;

/// Nobody is ever there.
const NOBODY: &str = "http://127.0.0.1:1";

/// A text that a run is fed with, piece by piece.
struct Feed(std::vec::IntoIter<String>);

impl Feed {
    fn new(text: &str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let pieces: Vec<String> =
            lines.chunks(lines.len().div_ceil(Self::PIECES)).map(<[&str]>::concat).collect();
        Self(pieces.into_iter())
    }

    /// Four for a hundredth of the text.
    const PIECES: usize = 400;

    /// Feeds so many hundredths more, or what is left.
    fn give(&mut self, run: &mut Child, hundredths: usize) {
        let stdin = run.stdin.as_mut().unwrap();
        for piece in self.0.by_ref().take(hundredths * Self::PIECES / 100) {
            stdin.write_all(piece.as_bytes()).unwrap();
        }
    }

    /// Feeds until a server has sent some answers.
    fn give_until_used(&mut self, run: &mut Child, server: &Daemon) {
        wait_for("a part in the work", || {
            self.give(run, 1);
            (server.figure("sudoku_sent_bytes_total") > 200_000).then_some(())
        });
    }
}

/// SIGKILL, and another one at the same address, which must be an unused one: until then nobody else may
/// get it.
fn replace(server: &mut Daemon, flags: &[&str]) {
    server.kill();
    *server = wait_for("a free port", || Daemon::start_at(server.address, flags));
}

/// A folder with a list in it, and what is said to that offline.
struct Bench {
    folder: Folder,
    offline: Output,
}

impl Deref for Bench {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Bench {
    /// `more` are the options that answers depend on.
    fn new(text: &str, more: &[&str]) -> Self {
        let folder = Folder::new();
        let input = folder.write("in.txt", text);
        let offline = sudoku(&[&["solve", &input], more].concat()).output().unwrap();
        succeeded(&offline);
        Self { folder, offline }
    }

    /// Starts a run that writes to `out.txt`.
    fn start(&self, more: &[&str]) -> Child {
        sudoku(&[&["solve", &self.path("in.txt"), "-o", &self.path("out.txt")][..], more].concat())
            .spawn()
            .unwrap()
    }

    /// Starts a run that is fed through a pipe and writes to `out.txt`: it cannot end before it has
    /// been fed everything, however long a test is kept from what it does next.
    fn start_fed(&self, more: &[&str]) -> Child {
        let mut command = sudoku(&[&["solve", "-", "-o", &self.path("out.txt")][..], more].concat());
        command.stdin(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until a run has written so much of its answers.
    fn wait_for(&self, child: &mut Child, percent: usize) {
        let enough = (self.offline.stdout.len() * percent / 100) as u64;
        wait_for("enough answers", || {
            assert_eq!(
                child.try_wait().unwrap(),
                None,
                "it ended before {percent} % of the answers were there"
            );
            let written = fs::metadata(self.path(".out.txt.sudoku-partial"));
            written.is_ok_and(|file| file.len() >= enough).then_some(())
        });
    }

    /// The run came to its end, its answers are those of a run offline, and so is what it counted.
    #[track_caller]
    fn assert_done(&self, output: &Output) {
        succeeded(output);
        let answers = fs::read(self.path("out.txt")).unwrap();
        let expected = &self.offline.stdout;
        assert!(answers == *expected, "{} bytes instead of {}", answers.len(), expected.len());
        assert_eq!(counts(output), counts(&self.offline));
        assert_eq!(self.names(), ["in.txt", "out.txt"]);
    }
}

/// The end of the summary: what was answered, without the time.
#[track_caller]
fn counts(output: &Output) -> String {
    let said = stderr(output);
    said.split_once(" a second: ").unwrap_or_else(|| panic!("{said}")).1.to_owned()
}

/// A search that takes its time, for runs in the middle of which something can happen.
const SLOWLY: [&str; 2] = ["--strategy", "propagation"];

/// One thread: it takes longer, and other tests have the machine too.
const ONE_THREAD: [&str; 2] = ["--threads", "1"];

#[test]
fn a_server_that_is_killed_again_and_again_costs_no_line() {
    let text = list(60_000);
    let (bench, mut feed) = (Bench::new(&text, &SLOWLY), Feed::new(&text));
    let mut server = Daemon::start_at(unused_address(), &ONE_THREAD).unwrap();
    let url = server.url();
    let mut run = bench.start_fed(&[&["--server", &url][..], &SLOWLY].concat());
    feed.give(&mut run, 10);
    for percent in [1, 20, 30, 50, 70] {
        feed.give(&mut run, 15);
        bench.wait_for(&mut run, percent);
        replace(&mut server, &ONE_THREAD);
    }
    feed.give(&mut run, 100);
    let output = run.wait_with_output().unwrap();
    bench.assert_done(&output);
    let said = stderr(&output);
    assert!(said.contains(&format!("The connection to {url} was lost after ")), "{said}");
    assert_eq!(said.matches(&format!("{url} answers again.\n")).count(), 5, "{said}");
}

#[test]
fn another_server_takes_over_from_one_that_is_drained_or_killed() {
    let text = list(60_000);
    let (bench, mut feed) = (Bench::new(&text, &SLOWLY), Feed::new(&text));
    let [first, second, mut third] = [&ONE_THREAD; 3].map(|flags| Daemon::with_figures(flags));
    let all = [first.url(), second.url(), third.url()];
    let flags = ["--server", &all[..2].join(","), "--server", &all[2], "--retries", "2"];
    let mut run = bench.start_fed(&[&flags[..], &SLOWLY].concat());
    feed.give_until_used(&mut run, &first);
    signal(&first.child, "-TERM");
    feed.give_until_used(&mut run, &third);
    third.kill();
    feed.give(&mut run, 100);
    let output = run.wait_with_output().unwrap();
    bench.assert_done(&output);
    let said = stderr(&output);
    for url in [&all[0], &all[2]] {
        let (_, after) = said.split_once(&format!("The connection to {url} was lost after ")).expect(&said);
        assert!(!after.starts_with("0 "), "it had no part in the work: {said}");
    }
    assert!(!said.contains(&format!("The connection to {} was lost", all[1])), "{said}");
}

#[test]
fn servers_that_are_slow_or_not_there_hold_up_nobody() {
    let bench = Bench::new(&list(20_000), &[]);
    let server = Daemon::start(&ONE_THREAD);
    let slow = Proxy::start(server.address, |_| Care { pause: Duration::from_millis(5), ..Care::default() });
    let output = bench.start(&["--server", &format!("{NOBODY},{},{}", slow.url(), server.url())]);
    let output = output.wait_with_output().unwrap();
    bench.assert_done(&output);
    let said = stderr(&output);
    let sentence = format!("No server answers at {NOBODY}: start one with sudokud.");
    assert!(said.starts_with(&sentence), "{said}");
}

/// How a proxy treats a connection.
#[derive(Clone, Copy)]
struct Care {
    /// When it is cut: after so many bytes to the server, or so many from it.
    up: u64,
    down: u64,
    /// How long to wait between two reads.
    pause: Duration,
}

impl Default for Care {
    fn default() -> Self {
        Self { up: u64::MAX, down: u64::MAX, pause: Duration::ZERO }
    }
}

/// What stands between a client and a server, and does them no good.
struct Proxy {
    address: SocketAddr,
    cuts: Arc<AtomicU64>,
}

impl Proxy {
    /// Its threads end with the test.
    fn start(server: SocketAddr, mut care: impl FnMut(u64) -> Care + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&cuts);
        thread::spawn(move || {
            for (number, client) in listener.incoming().enumerate() {
                let Ok(client) = client else { return };
                let Ok(server) = TcpStream::connect(server) else { continue };
                relay(&client, &server, care(number as u64), &counter);
            }
        });
        Self { address, cuts }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn cuts(&self) -> u64 {
        self.cuts.load(Ordering::SeqCst)
    }
}

/// Connects two sockets, on threads of their own. Counts the directions that were cut.
fn relay(client: &TcpStream, server: &TcpStream, care: Care, cuts: &Arc<AtomicU64>) {
    for (from, to, limit) in [(client, server, care.up), (server, client, care.down)] {
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let cuts = Arc::clone(cuts);
        thread::spawn(move || {
            if pass_on(&from, &to, limit, care.pause).is_ok_and(|was_cut| was_cut) {
                cuts.fetch_add(1, Ordering::SeqCst);
            }
            // Either may have gone before.
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
    }
}

/// An address at which a server can be reached once, until it has sent so many bytes.
fn lost_after(bytes: u64, server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind(unused_address()).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        drop(listener);
        let care = Care { down: bytes, ..Care::default() };
        relay(&client, &TcpStream::connect(server).unwrap(), care, &Arc::default());
    });
    address
}

/// Copies up to `limit` bytes. True if there were that many.
#[expect(clippy::disallowed_methods, reason = "a slow network is slow by the clock")]
fn pass_on(mut from: &TcpStream, mut to: &TcpStream, limit: u64, pause: Duration) -> io::Result<bool> {
    let mut buffer = [0; 8192];
    let mut left = limit;
    while left > 0 {
        let length = from.read(&mut buffer)?.min(usize::try_from(left).unwrap_or(usize::MAX));
        if length == 0 {
            return Ok(false);
        }
        to.write_all(&buffer[..length])?;
        left -= length as u64;
        thread::sleep(pause);
    }
    Ok(true)
}

#[test]
fn connections_that_are_cut_anywhere_cost_no_line() {
    let cutting = |server: &Daemon, seed: u64| {
        let mut random = Random(seed);
        let mut below = move |bound| random.below(bound) as u64;
        Proxy::start(server.address, move |number| match number % 5 {
            0 => Care { up: below(2_000_000), ..Care::default() },
            1 => Care { down: below(2_000), ..Care::default() },
            _ => Care { down: below(800_000), ..Care::default() },
        })
    };
    // A byte-order mark may stand at the beginning of a text, and nowhere else, be it where a block begins.
    let marked: String = list(40_000)
        .split_inclusive('\n')
        .enumerate()
        .map(|(k, line)| if k % 3 == 2 { format!("\u{FEFF}{line}") } else { line.to_owned() })
        .collect();
    let header = format!("3\n{}", list(40_000).replace('0', "."));
    let table = format!("id,puzzle\n{}", list(40_000).replace('\n', "\n7,").trim_end_matches("7,"));
    let server = Daemon::start(&ONE_THREAD);
    // Side by side, because most of the time is pauses before the next attempt.
    let cases = [
        (&marked, &["--format", "jsonl"][..]),
        (&header, &["--question", "unique"]),
        (&table, &["--format", "csv"]),
    ];
    let run = &|text: &str, options: &[&str]| {
        let bench = Bench::new(text, options);
        for seeds in [&[1][..], &[2, 3]] {
            let proxies: Vec<Proxy> = seeds.iter().map(|&seed| cutting(&server, seed)).collect();
            let urls: Vec<String> = proxies.iter().map(Proxy::url).collect();
            let flags = ["--server", &urls.join(","), "--retries", "1000"];
            let output = bench.start(&[&flags[..], options].concat()).wait_with_output().unwrap();
            bench.assert_done(&output);
            let cuts: u64 = proxies.iter().map(Proxy::cuts).sum();
            assert!(cuts >= 5, "only {cuts} cuts");
            fs::remove_file(bench.path("out.txt")).unwrap();
        }
    };
    thread::scope(|scope| {
        for (text, options) in cases {
            scope.spawn(move || run(text, options));
        }
    });
}

#[test]
fn a_run_that_tries_in_vain_says_how_far_it_got_and_can_be_gone_on_with() {
    let bench = Bench::new(&list(60_000), &[]);
    let server = Daemon::start(&ONE_THREAD);
    // Most of the answers, which are 5 MB; the last of them may be lost with the connection.
    let url = format!("http://{}", lost_after(4_000_000, server.address));
    let flags = |url| ["--server", url, "--resume", "--retries", "2", "--shard", "1/1"];
    let output = bench.start(&flags(&url)).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    let last = said.lines().last().unwrap();
    let answered = last.strip_prefix("Stopped after ").and_then(|rest| rest.split_once(' ')).unwrap().0;
    let answered: usize = answered.replace(',', "").parse().unwrap();
    assert!((12_000..60_000).contains(&answered), "{said}");
    let end = format!(
        " puzzles answered; {} was not written, but --resume goes on from here: No server answers at {url}: start one with sudokud. It was tried 2 more times.",
        bench.path("out.txt")
    );
    assert!(last.ends_with(&end), "{said}");
    assert_eq!(said.matches(" Trying again, up to 2 times.\n").count(), 1, "{said}");
    assert_eq!(said.matches(" Trying once more.\n").count(), 1, "{said}");

    let other = Daemon::start(&ONE_THREAD);
    let output = bench.start(&flags(&other.url())).wait_with_output().unwrap();
    assert!(stderr(&output).starts_with("Going on after "), "{}", stderr(&output));
    bench.assert_done(&output);

    let url = format!("http://{}", lost_after(4_000_000, server.address));
    let output = bench.start(&["--server", &url, "--retries", "0"]).wait_with_output().unwrap();
    let words = "was not written (with --resume, another run goes on where one has stopped): ";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
}

#[test]
fn without_retries_the_first_loss_ends_the_run() {
    let text = list(60_000);
    let (bench, mut feed) = (Bench::new(&text, &SLOWLY), Feed::new(&text));
    let mut server = Daemon::start(&ONE_THREAD);
    let mut run = bench.start_fed(&[&["--server", &server.url(), "--retries", "0"][..], &SLOWLY].concat());
    feed.give(&mut run, 30);
    bench.wait_for(&mut run, 10);
    server.kill();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.starts_with("Stopped after ") && said.lines().count() == 1, "{said}");
    assert!(said.contains(&format!("The connection to {} was lost after ", server.url())), "{said}");
    assert_eq!(bench.names(), ["in.txt"]);
}

#[test]
fn what_trying_again_cannot_help_ends_the_run_at_once() {
    let bench = Bench::new(&list(20_000), &[]);
    let tokens = bench.path("tokens");
    fs::write(&tokens, "a-token-that-is-long\n").unwrap();
    let guarded = Daemon::start(&["--token-file", &tokens]);
    let narrow = Daemon::start(&["--max-message-bytes", "1000"]);
    fs::remove_file(tokens).unwrap();
    let wants_token = format!("{}: This server wants a token: ", guarded.url());
    for (server, start, words) in
        [(&guarded, &*wants_token, "--token-file"), (&narrow, "The server refused after 0 answers: ", "1000")]
    {
        for urls in [server.url(), format!("{},{NOBODY}", server.url())] {
            let begin = Instant::now();
            let output = bench.start(&["--server", &urls, "--quiet"]).wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(2));
            let said = stderr(&output);
            assert!(said.starts_with(start) && said.contains(words), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(begin.elapsed() < PATIENCE / 10, "{:?}", begin.elapsed());
            assert_eq!(bench.names(), ["in.txt"]);
        }
    }
    // An address that is none is found out before anybody is asked.
    let output = bench.start(&["--server", NOBODY, "--server", "nonsense"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("`nonsense` is no server address."), "{}", stderr(&output));
}

#[test]
fn a_busy_server_is_waited_for() {
    let bench = Bench::new(&list(2_000), &[]);
    let server = Daemon::start(&["--max-streams", "1"]);
    let url = server.url();
    let mut first = sudoku(&["solve", "-", "--server", &url]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(list(2_000).as_bytes()).unwrap();
    let mut answer = String::new();
    let mut answers = BufReader::new(first.stdout.take().unwrap());
    answers.read_line(&mut answer).unwrap();
    assert_eq!(answer.len(), 82, "{answer}");

    let mut second = bench.start(&["--server", &url, "--retries", "1000"]);
    let mut said = BufReader::new(second.stderr.take().unwrap());
    let mut notice = String::new();
    said.read_line(&mut notice).unwrap();
    let sentence = format!(
        "{url} is busy: This server's limit of 1 call open at once is reached. Trying again, up to 1000 times.\n"
    );
    assert_eq!(notice, sentence);
    drop(stdin);
    io::copy(&mut answers, &mut io::sink()).unwrap();
    succeeded(&first.wait_with_output().unwrap());
    let mut output = second.wait_with_output().unwrap();
    said.read_to_end(&mut output.stderr).unwrap();
    bench.assert_done(&output);
}

#[test]
fn a_run_that_waits_for_a_server_can_be_interrupted() {
    let bench = Bench::new(&list(100), &[]);
    let mut run = bench.start(&["--server", NOBODY, "--retries", "1000"]);
    let mut notice = String::new();
    let mut said = BufReader::new(run.stderr.take().unwrap());
    said.read_line(&mut notice).unwrap();
    assert!(notice.ends_with("Trying again, up to 1000 times.\n"), "{notice}");
    signal(&run, "-INT");
    // All of its trials would take far longer.
    let status = wait_for("the end of the run", || run.try_wait().unwrap());
    assert_eq!(status.code(), Some(130));
    let mut last = String::new();
    said.read_to_string(&mut last).unwrap();
    assert!(last.starts_with("Interrupted. Stopped after 0 puzzles answered; "), "{last}");
    assert_eq!(bench.names(), ["in.txt"]);
}
