//! How it ends: signals to the server, whatever its clients do, and to the companion at any moment.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::SolveLinesRequest;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use crate::companion::{Running, pause, run, start};
use crate::harness::Random;
use crate::harness::daemon::Daemon;
use crate::harness::{Folder, PATIENCE, eventually, is_solution, lines, sudoku};
use crate::row::{Row, Seen};
use crate::traffic::{self, batch, client, easy, runtime};
use crate::wire::Wire;

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(
            27,
            "SIGTERM without a connection, with an idle or a silent one, a client that ignores GOAWAY, an idle stream",
            "ends within the drain time-out",
            terminated_idle,
        ),
        row(27, "SIGTERM while a stream waits for answers", "they come, then UNAVAILABLE", terminated_busy),
        row(
            27,
            "SIGTERM, 20 times, while 8 streams send as fast as they can",
            "every answer in order, then UNAVAILABLE; none lost",
            terminated_hot,
        ),
        row(28, "SIGTERM twice, to the server and to a run", "ends at once", twice),
        row(28, "SIGINT in a run", "says how far it got, exit code 130", interrupted),
        row(
            28,
            "SIGKILL at a random moment, 50 times, then --resume",
            "the bytes of an unbroken run",
            killed,
        ),
    ]
}

/// Far below the drain time-out of ten seconds, and above the two for which a connection lingers.
const PROMPT: Duration = Duration::from_secs(6);

/// Waits for the end of a server that was told to stop.
fn end_of(daemon: &mut Daemon) -> (ExitStatus, Duration) {
    let begin = Instant::now();
    let mut status = None;
    eventually("the end", || {
        status = daemon.child.try_wait().unwrap();
        status.is_some()
    });
    (status.unwrap(), begin.elapsed())
}

/// Tells a server to stop and checks that it does so by itself. Returns how long that took.
fn stops(mut daemon: Daemon) -> Duration {
    daemon.signal("-TERM");
    let (status, time) = end_of(&mut daemon);
    assert!(status.success(), "{status}");
    assert!(time < PROMPT, "{time:?}");
    eventually("the last words", || daemon.log().contains("all calls have ended"));
    time
}

fn terminated_idle() -> Seen {
    let mut slowest = stops(Daemon::start(&[]));

    let daemon = Daemon::start(&[]);
    let runtime = runtime();
    let idle = runtime.block_on(async {
        let mut idle = client(&daemon.url()).await;
        traffic::solve(&mut idle, &easy(1)[0]).await;
        idle
    });
    slowest = slowest.max(stops(daemon));
    drop(idle);

    let daemon = Daemon::start(&[]);
    let silent = Wire::bare(daemon.address);
    // One that was accepted before, so that this one is too.
    traffic::assert_serving(&daemon);
    slowest = slowest.max(stops(daemon));
    drop(silent);

    // It goes on whatever it is told, acknowledges nothing and never closes. Nobody can tell it from one that is slow.
    let mut daemon = Daemon::start(&["--drain-timeout", "2"]);
    let mut deaf = Wire::open(daemon.address);
    deaf.call(1, "SolveLines");
    assert!(deaf.ping(PATIENCE));
    daemon.signal("-TERM");
    let (status, time) = end_of(&mut daemon);
    assert!(status.success() && time < PROMPT, "{status} {time:?}");
    drop(deaf);

    let daemon = Daemon::start(&[]);
    let (sender, requests) = mpsc::channel(1);
    let mut stream = runtime.block_on(async {
        sender.send(batch(1, &easy(1))).await.unwrap();
        let mut stream = client(&daemon.url())
            .await
            .solve_stream(ReceiverStream::new(requests))
            .await
            .unwrap()
            .into_inner();
        assert_eq!(stream.message().await.unwrap().unwrap().batch_id, 1);
        stream
    });
    slowest = slowest.max(stops(daemon));
    let status = runtime.block_on(async { timeout(PATIENCE, stream.message()).await.unwrap().unwrap_err() });
    assert_eq!(status.code(), Code::Unavailable);
    drop(sender);
    Seen::good(format!(
        "by itself after {} ms at most; cut off after {} ms with --drain-timeout 2 where GOAWAY is ignored",
        slowest.as_millis(),
        time.as_millis()
    ))
}

fn terminated_busy() -> Seen {
    let daemon = Daemon::start(&["--threads", "1"]);
    let (puzzle, mut options) = traffic::endless();
    options.node_limit = 1_000_000;
    let runtime = runtime();
    let (sender, requests) = mpsc::channel(1);
    let mut request = batch(7, &[puzzle.clone(), puzzle, easy(1)[0].clone()][..2]);
    request.options = Some(options);
    let mut stream = runtime.block_on(async {
        sender.send(request).await.unwrap();
        client(&daemon.url()).await.solve_stream(ReceiverStream::new(requests)).await.unwrap().into_inner()
    });
    // It is at work on it.
    let idle = daemon.cpu();
    eventually("work", || daemon.cpu() > idle + Duration::from_millis(20));
    daemon.signal("-TERM");
    let (response, status) = runtime.block_on(async {
        let response = timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
        (response, timeout(PATIENCE, stream.message()).await.unwrap().unwrap_err())
    });
    assert_eq!((response.batch_id, response.answers.len()), (7, 2));
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    drop(sender);
    let mut daemon = daemon;
    let (ended, _) = end_of(&mut daemon);
    assert!(ended.success());
    Seen::good("both answers, then UNAVAILABLE")
}

fn terminated_hot() -> Seen {
    const TIMES: usize = 20;
    const STREAMS: usize = 8;
    let puzzles = easy(64);
    let message = Bytes::from(lines(&puzzles));
    let runtime = runtime();
    let (mut answered, mut slowest) = (0, Duration::ZERO);
    for time in 0..TIMES {
        let daemon = Daemon::start(&[]);
        let mut clients = Vec::new();
        for _ in 0..STREAMS {
            let (url, puzzles, message) = (daemon.url(), puzzles.clone(), message.clone());
            clients.push(runtime.spawn(async move {
                let requests = std::iter::repeat_with(move || SolveLinesRequest {
                    lines: message.clone(),
                    ..SolveLinesRequest::default()
                });
                let call = client(&url).await.solve_lines(tokio_stream::iter(requests)).await;
                let mut stream = call.unwrap().into_inner();
                let (mut count, mut known) = (0u64, Bytes::new());
                loop {
                    match timeout(PATIENCE, stream.message()).await.unwrap() {
                        Ok(Some(response)) => {
                            if known.is_empty() {
                                known = response.lines.clone();
                                let text = str::from_utf8(&known).unwrap();
                                assert_eq!(text.lines().count(), puzzles.len());
                                let mut pairs = text.lines().zip(&puzzles);
                                assert!(pairs.all(|(answer, puzzle)| is_solution(answer, puzzle)));
                            }
                            assert!(response.lines == known, "the same question, another answer");
                            count += puzzles.len() as u64;
                        }
                        Ok(None) => panic!("the stream ended as if all had been read"),
                        Err(status) => return (count, status),
                    }
                }
            }));
        }
        // Every time at another moment, because the moment is what is tested.
        pause(Duration::from_millis(60 + 7 * time as u64));
        slowest = slowest.max(stops(daemon));
        for client in clients {
            let (count, status) = runtime.block_on(client).unwrap();
            // The status comes behind all answers of its stream: who gets it has got them.
            assert_eq!(status.code(), Code::Unavailable, "{status:?}");
            assert!(status.message().starts_with("The server is shutting down."), "{status:?}");
            answered += count;
        }
    }
    Seen::good(format!(
        "{} streams, {answered} answers, none lost; the slowest end {} ms after the signal",
        TIMES * STREAMS,
        slowest.as_millis()
    ))
}

fn twice() -> Seen {
    let mut daemon = Daemon::start(&["--drain-timeout", "600"]);
    let (puzzle, options) = traffic::endless();
    let runtime = runtime();
    let (sender, requests) = mpsc::channel(1);
    let puzzles = vec![puzzle; 500];
    let mut request = batch(1, &puzzles);
    request.options = Some(options);
    let stream = runtime.block_on(async {
        sender.send(request).await.unwrap();
        client(&daemon.url()).await.solve_stream(ReceiverStream::new(requests)).await.unwrap()
    });
    let idle = daemon.cpu();
    eventually("work", || daemon.cpu() > idle + Duration::from_millis(20));
    daemon.signal("-TERM");
    eventually("the drain", || daemon.log().contains("shutting down: no new calls"));
    assert!(daemon.child.try_wait().unwrap().is_none(), "it does not wait for the work");
    daemon.signal("-TERM");
    let (status, time) = end_of(&mut daemon);
    assert!(time < PROMPT, "{time:?}");
    eventually("the last words", || daemon.log().contains("stopped at once; calls were cut off"));
    drop((stream, sender));

    // A run that waits for a reader of its answers cannot end by itself.
    let (folder, input) = list(100_000);
    let pipe = folder.pipe("pipe");
    let running = start(&mut sudoku(&["solve", &input, "-o", &pipe]));
    let reader = fs::File::open(&pipe).unwrap();
    eventually("a run that waits for its reader", || running.is_waiting());
    running.signal("-TERM");
    eventually("the signal's arrival", || running.has_taken_all_signals() && running.is_waiting());
    running.signal("-TERM");
    let ended = running.finish();
    ended.assert_code(143);
    drop(reader);
    Seen::good(format!(
        "sudokud: {} after {} ms with `stopped at once`; sudoku: exit code 143",
        status,
        time.as_millis()
    ))
}

/// A folder with a list in it that has an error line here and there.
fn list(count: usize) -> (Folder, String) {
    let folder = Folder::new();
    let puzzles = easy(1_000);
    let line = |k: usize| if k % 97 == 96 { "12\n".to_owned() } else { puzzles[k % 1_000].clone() + "\n" };
    let input = folder.write("in.txt", (0..count).map(line).collect::<String>());
    (folder, input)
}

const JOURNAL: &str = ".out.txt.sudoku-journal";

/// A run that takes its time, by its search.
fn slow(strategy: &str, input: &str, out: &str, more: &[&str]) -> Running {
    start(&mut sudoku(
        &[&["solve", input, "-o", out, "--threads", "1", "--strategy", strategy], more].concat(),
    ))
}

fn interrupted() -> Seen {
    // It would take minutes.
    let (folder, input) = list(500_000);
    let running = slow("backtracking", &input, &folder.path("out.txt"), &[]);
    eventually("a mark", || folder.exists(JOURNAL));
    running.signal("-INT");
    let ended = running.finish();
    ended.assert_code(130);
    let words = ended.stderr.trim_end();
    assert!(
        words.starts_with("Interrupted. Stopped after ") && words.ends_with("out.txt was not written."),
        "{words}"
    );
    assert_eq!(folder.names(), ["in.txt"]);
    Seen::good(words.rsplit_once("; ").unwrap().0)
}

fn killed() -> Seen {
    const KILLS: usize = 50;
    let (folder, input) = list(150_000);
    let out = folder.path("out.txt");
    let answers = run(&mut sudoku(&["solve", &input])).stdout;
    let mut random = Random(u64::from(std::process::id()));
    let (mut landed, mut whole, mut resumed) = (0, 0, 0);
    while landed < KILLS {
        resumed += usize::from(folder.exists(JOURNAL));
        let mut running = slow("propagation", &input, &out, &["--resume"]);
        // Every other one has recorded a part of its work, however slow the machine is.
        if landed % 2 == 0 {
            eventually("a mark", || folder.exists(JOURNAL) || !running.is_running());
        }
        // The moment of the kill is what is tested.
        pause(Duration::from_millis(random.below(150) as u64));
        // One that had ended is not killed any more.
        landed += usize::from(running.kill().signal().is_some());
        if folder.exists("out.txt") {
            assert!(fs::read(&out).unwrap() == answers, "seed {}", std::process::id());
            fs::remove_file(&out).unwrap();
            whole += 1;
        }
    }
    let last = slow("propagation", &input, &out, &["--resume"]).finish();
    last.assert_code(0);
    assert!(fs::read(&out).unwrap() == answers, "seed {}", std::process::id());
    assert_eq!(folder.names(), ["in.txt", "out.txt"]);
    assert!(resumed > KILLS / 4, "only {resumed} runs had something to go on with");
    Seen::good(format!(
        "{landed} kills in mid-run, {resumed} runs went on where another was killed; {} whole files, all the same",
        whole + 1
    ))
}
