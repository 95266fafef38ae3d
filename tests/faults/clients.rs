//! Clients that are slow, gone, idle or out of time.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveStreamRequest};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request};

use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, assert_solves, by, eventually, lines, solution};
use crate::row::{Row, Seen};
use crate::traffic::{
    Holdings, assert_serving, batch, client, cpu_over, easy, endless, grown, hard, mib, runtime, serves,
    settled, solve,
};
use crate::wire::{CANCEL, DATA, END_STREAM, Frame, RST_STREAM, Wire, frame, message};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            number: 14,
            fault: "16 streams of one puzzle a message, faster than they are solved",
            expected: "nothing lost, nothing repeated, all in order",
            run: single_puzzles,
        },
        Row {
            number: 16,
            fault: "a client that sends and does not take its answers; one that does not read its socket either",
            expected: "read no further, memory bounded, ended by --idle-timeout; others unaffected",
            run: clients_that_do_not_read,
        },
        Row {
            number: 17,
            fault: "1,000 clients that cancel, close, reset or vanish in mid-stream",
            expected: "work stops; calls, connections, files, threads and memory as before",
            run: clients_that_leave,
        },
        Row {
            number: 17,
            fault: "a client that leaves a search without end",
            expected: "the search stops",
            run: work_of_clients_that_leave,
        },
        Row {
            number: 18,
            fault: "a client that sends all, half-closes and waits",
            expected: "all answers, then OK",
            run: half_close,
        },
        Row {
            number: 19,
            fault: "100 clients that send a byte each every 50 ms",
            expected: "answered in the end, next to no processor time, others unaffected",
            run: trickle,
        },
        Row {
            number: 20,
            fault: "a deadline of 500 ms on searches without end",
            expected: "DEADLINE_EXCEEDED, work stops",
            run: deadline,
        },
        Row {
            number: 22,
            fault: "1,000 idle connections and 200 idle streams",
            expected: "some 15 KB each, serving",
            run: idle_clients,
        },
    ]
}

fn single_puzzles() -> Seen {
    const STREAMS: usize = 16;
    const PUZZLES: usize = 4000;
    // Searching in this way, on one thread, takes longer than sending.
    let daemon = Daemon::start(&["--threads", "1"]);
    let options = by("dancing-links");
    let took = runtime().block_on(async {
        let begin = Instant::now();
        let client = client(&daemon.url()).await;
        let puzzles = Arc::new(easy(100));
        let mut tasks = Vec::new();
        for _ in 0..STREAMS {
            let (mut client, puzzles, options) = (client.clone(), Arc::clone(&puzzles), options.clone());
            tasks.push(tokio::spawn(async move {
                let of = Arc::clone(&puzzles);
                let requests = (0..PUZZLES).map(move |k| SolveStreamRequest {
                    options: Some(options.clone()),
                    ..batch(k as u64, &of[k % 100..=k % 100])
                });
                let mut stream =
                    client.solve_stream(tokio_stream::iter(requests)).await.unwrap().into_inner();
                let mut answered = 0;
                while let Some(response) = stream.message().await.unwrap() {
                    assert_eq!((response.batch_id, response.answers.len()), (answered as u64, 1));
                    assert_solves(solution(&response.answers[0]), &puzzles[answered % 100]);
                    answered += 1;
                }
                assert_eq!(answered, PUZZLES);
            }));
        }
        for task in tasks {
            timeout(2 * PATIENCE, task).await.unwrap().unwrap();
        }
        begin.elapsed()
    });
    Seen::good(format!("{} of {0} answered in {:.1} s", STREAMS * PUZZLES, took.as_secs_f64()))
}

fn clients_that_do_not_read() -> Seen {
    let flags = ["--idle-timeout", "2", "--keepalive-interval", "1", "--keepalive-timeout", "1"];
    let daemon = Daemon::with_figures(&flags);
    let memory = daemon.memory();
    let block = Bytes::from(lines(&easy(1000)));
    // Reads nothing at all, not even what the transport says.
    let mut deaf = Wire::open(daemon.address);
    deaf.call(1, "SolveLines");
    let request = SolveLinesRequest { lines: block.clone(), ..Default::default() };
    for part in message(&request).repeat(10).chunks(16_000) {
        deaf.send(&frame(DATA, 0, 1, part));
    }
    let (ended, taken, worst, most) = runtime().block_on(async {
        let taken = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&taken);
        let requests = tokio_stream::iter(0..100_000).map(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            SolveLinesRequest { lines: block.clone(), ..SolveLinesRequest::default() }
        });
        let begin = Instant::now();
        let mut stream = client(&daemon.url()).await.solve_lines(requests).await.unwrap().into_inner();
        // Another one is served all the while.
        let mut other = client(&daemon.url()).await;
        let puzzle = &easy(1)[0];
        let (mut worst, mut most) = (Duration::ZERO, 0);
        while daemon.figure("sudoku_calls_open") > 0 {
            worst = worst.max(solve(&mut other, puzzle).await);
            most = most.max(daemon.memory());
            assert!(begin.elapsed() < PATIENCE, "it was not ended");
            // The pause between two looks at the server.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let ended = begin.elapsed();
        // What it has been sent is there; then it learns what happened.
        let status = loop {
            match timeout(PATIENCE, stream.message()).await.unwrap() {
                Ok(Some(response)) => assert_eq!(response.tally.unwrap().answers, 1000),
                Ok(None) => panic!("a stream that was cut off ends as if it were whole"),
                Err(status) => break status,
            }
        };
        assert_ne!(status.code(), Code::Ok);
        (ended, taken.load(Ordering::SeqCst), worst, most)
    });
    assert!(taken < 1000, "{taken} messages of 82 KB were taken from a client that reads none");
    assert!(worst < Duration::from_secs(2), "another client waited for {worst:?}");
    deaf.wait_for_end(PATIENCE);
    let most = mib(most.saturating_sub(memory));
    assert!(most < 96, "{most} MiB");
    assert_serving(&daemon);
    Seen::good(format!(
        "ended after {:.1} s, {taken} messages of 82 KB taken, {most} MiB more at most, others answered within {} ms",
        ended.as_secs_f64(),
        worst.as_millis()
    ))
}

/// The ways to leave.
#[derive(Clone, Copy, Debug)]
enum Leave {
    Cancel,
    Close,
    Reset,
    Vanish,
}

const WAYS: [Leave; 4] = [Leave::Cancel, Leave::Close, Leave::Reset, Leave::Vanish];

/// Begins a stream with work on it.
fn begin(daemon: &Daemon, work: &[u8]) -> Wire {
    let mut wire = Wire::open(daemon.address);
    wire.call(1, "SolveStream");
    for part in work.chunks(16_000) {
        wire.send(&frame(DATA, 0, 1, part));
    }
    wire
}

/// Leaves a stream. One that vanishes leaves its connection behind.
fn leave(mut wire: Wire, how: Leave) -> Option<Wire> {
    match how {
        Leave::Cancel => {
            wire.send(&frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes()));
            assert!(wire.ping(PATIENCE));
        }
        Leave::Close => wire.finish(),
        Leave::Reset => wire.reset(),
        Leave::Vanish => return Some(wire),
    }
    None
}

fn clients_that_leave() -> Seen {
    const ROUNDS: usize = 10;
    /// Of each kind in each round.
    const EACH: usize = 25;
    /// What 100 clients may leave behind, in bytes: 10 KiB each, much less than any buffer of a connection or a stream.
    const LEFT_BEHIND: u64 = 1 << 20;
    let flags = ["--keepalive-interval", "0.5", "--keepalive-timeout", "0.5", "--max-streams", "600"];
    let daemon = Daemon::with_figures(&flags);
    // Short messages: a client that waits for its first answer has it soon, beside all others.
    let puzzles = hard(5);
    let work: Vec<u8> = (0..200).flat_map(|k| message(&batch(k, &puzzles))).collect();
    let all_gone = || {
        eventually("the end of all calls and connections", || {
            daemon.figure("sudoku_calls_open") == 0 && daemon.figure("sudoku_connections_open") == 0
        })
    };
    let round = || {
        let meet = |how| {
            let mut wire = begin(&daemon, &work);
            if matches!(how, Leave::Cancel) {
                // With the first answer the stream is in its middle; the others leave at any time.
                assert!(wire.receive_until(PATIENCE, |frame| frame.kind == DATA).is_some());
            }
            leave(wire, how)
        };
        let vanished: Vec<Wire> = (0..EACH).flat_map(|_| WAYS).filter_map(meet).collect();
        let took = all_gone();
        drop(vanished);
        took
    };
    round();
    let before = Holdings::of(&daemon);
    let mut memory = vec![before.memory];
    let mut took = Duration::ZERO;
    for _ in 1..ROUNDS {
        took = took.max(round());
        memory.push(daemon.memory());
    }
    let files = eventually("the end of the sockets", || daemon.open_files() <= before.files);
    let cpu = cpu_over(&daemon, Duration::from_millis(500));
    // What leaks does so each time. What is taken once and kept, by threads that had not searched yet or when more clients than
    // ever were there at a time, comes in some of the rounds only.
    let least = memory.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min().unwrap_or_default();
    assert!(least < LEFT_BEHIND, "memory grows in every round: {memory:?}");
    let grown = mib(daemon.memory().saturating_sub(before.memory));
    assert!(grown < 64, "{grown} MiB");
    // Threads for long work come with it and leave when there is none; which of them stay is chance.
    eventually("the end of the threads for long work", || daemon.threads().len() <= before.threads.len());
    let kinds = |mut names: Vec<String>| {
        names.dedup();
        names
    };
    assert_eq!(kinds(daemon.threads()), kinds(before.threads));
    assert!(cpu <= Duration::from_millis(100), "{cpu:?} of work in half a second for nobody");
    assert_serving(&daemon);
    Seen::good(format!(
        "no call, connection or file left {:.1} s after the last, {grown} MiB more than after the first 100, at least one round without growth",
        (took + files).as_secs_f64()
    ))
}

fn work_of_clients_that_leave() -> Seen {
    let daemon = Daemon::with_figures(&["--keepalive-interval", "0.5", "--keepalive-timeout", "0.5"]);
    let (puzzle, options) = endless();
    let request = SolveStreamRequest { options: Some(options), ..batch(0, &vec![puzzle; 50]) };
    let mut longest = Duration::ZERO;
    for how in WAYS {
        let wire = begin(&daemon, &message(&request).repeat(4));
        eventually("work", || daemon.figure("sudoku_batches_running") > 0);
        let _left = leave(wire, how);
        let took = eventually("the end of the work", || {
            daemon.figure("sudoku_calls_open") == 0 && daemon.figure("sudoku_batches_running") == 0
        });
        longest = longest.max(took);
        let cpu = cpu_over(&daemon, Duration::from_millis(500));
        assert!(cpu <= Duration::from_millis(50), "{how:?}: {cpu:?} in half a second for nobody");
    }
    assert!(longest < Duration::from_secs(6), "{longest:?}");
    assert_serving(&daemon);
    Seen::good(format!("all searches stopped within {:.1} s", longest.as_secs_f64()))
}

fn half_close() -> Seen {
    const MESSAGES: usize = 200;
    let daemon = Daemon::start(&[]);
    let puzzles = easy(50);
    let answered = runtime().block_on(async {
        let requests: Vec<_> = (0..MESSAGES).map(|k| batch(k as u64, &puzzles)).collect();
        let mut client = client(&daemon.url()).await;
        let mut stream = client.solve_stream(tokio_stream::iter(requests)).await.unwrap().into_inner();
        // All is answered that the client's windows have room for.
        settled(&daemon);
        let mut answered = 0;
        while let Some(response) = timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            assert_eq!(response.batch_id, answered);
            assert_eq!(response.answers.len(), puzzles.len());
            response
                .answers
                .iter()
                .zip(&puzzles)
                .for_each(|(answer, puzzle)| assert_solves(solution(answer), puzzle));
            answered += 1;
        }
        answered
    });
    assert_eq!(answered, MESSAGES as u64);
    assert_serving(&daemon);
    Seen::good(format!("{answered} of {MESSAGES} messages answered, then OK"))
}

#[expect(clippy::disallowed_methods, reason = "slowness is the fault")]
fn trickle() -> Seen {
    const CLIENTS: usize = 100;
    let daemon = Daemon::start(&[]);
    let (memory, cpu) = (daemon.memory(), daemon.cpu());
    let request = message(&batch(0, &["12.4............".to_owned()]));
    let mut wires: Vec<Wire> = (0..CLIENTS).map(|_| Wire::open(daemon.address)).collect();
    for wire in &mut wires {
        wire.call(1, "SolveStream");
    }
    let runtime = runtime();
    let puzzle = &easy(1)[0];
    let mut other = runtime.block_on(client(&daemon.url()));
    let mut worst = Duration::ZERO;
    for (k, byte) in request.iter().enumerate() {
        let flags = if k + 1 == request.len() { END_STREAM } else { 0 };
        for wire in &mut wires {
            assert!(wire.send(&frame(DATA, flags, 1, &[*byte])));
        }
        worst = worst.max(runtime.block_on(solve(&mut other, puzzle)));
        thread::sleep(Duration::from_millis(50));
    }
    let mut answered = 0;
    for wire in &mut wires {
        let answer = wire.receive_until(PATIENCE, |frame| frame.kind == DATA).expect("an answer");
        let text = String::from_utf8_lossy(&answer.payload).into_owned();
        let solution: String = text.chars().filter(|c| ('1'..='4').contains(c)).collect();
        // Whatever else the message has in it, sixteen cells stand together.
        answered += usize::from(solution.len() >= 16 && text.contains("12"));
        assert!(wire.receive_until(PATIENCE, Frame::ends_stream).is_some());
    }
    assert_eq!(answered, CLIENTS);
    let (grown, cpu) = (grown(&daemon, memory), daemon.cpu_since(cpu));
    assert!(grown < 16, "{grown} MiB");
    assert!(cpu < Duration::from_secs(2), "{cpu:?}");
    assert!(worst < Duration::from_secs(1), "another client waited for {worst:?}");
    Seen::good(format!(
        "{answered} answered, {} ms of CPU, {grown} MiB more, others answered within {} ms",
        cpu.as_millis(),
        worst.as_millis()
    ))
}

fn deadline() -> Seen {
    let daemon = Daemon::with_figures(&[]);
    let (puzzle, options) = endless();
    let (took, stopped) = runtime().block_on(async {
        let request = SolveStreamRequest { options: Some(options), ..batch(0, &vec![puzzle; 50]) };
        let (sender, requests) = mpsc::channel(4);
        for _ in 0..4 {
            sender.send(request.clone()).await.unwrap();
        }
        // The header alone, so that it is the server's timer that goes off.
        let mut call = Request::new(ReceiverStream::new(requests));
        call.metadata_mut().insert("grpc-timeout", "500m".parse().unwrap());
        let begin = Instant::now();
        let status = match client(&daemon.url()).await.solve_stream(call).await {
            Ok(response) => {
                timeout(PATIENCE, response.into_inner().message()).await.unwrap().expect_err("a deadline")
            }
            Err(status) => status,
        };
        let took = begin.elapsed();
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
        assert!(took < Duration::from_secs(3), "{took:?}");
        let idle = || daemon.figure("sudoku_batches_running") == 0 && daemon.figure("sudoku_calls_open") == 0;
        (took, eventually("the end of the work", idle))
    });
    let cpu = cpu_over(&daemon, Duration::from_millis(500));
    assert!(cpu <= Duration::from_millis(50), "{cpu:?} in half a second for nobody");
    assert!(stopped < Duration::from_secs(2), "{stopped:?}");
    assert_serving(&daemon);
    Seen::good(format!(
        "DEADLINE_EXCEEDED after {} ms, idle {} ms later",
        took.as_millis(),
        stopped.as_millis()
    ))
}

/// Lets this process and those that it starts have this many files open, if the system permits.
fn allow_open_files(count: u64) -> bool {
    let have = || {
        let limits = fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap_or(u64::MAX)
    };
    if have() < count {
        let me = std::process::id().to_string();
        let _ = Command::new("prlimit").args(["--pid", &me, &format!("--nofile={count}:")]).status();
    }
    have() >= count
}

fn idle_clients() -> Seen {
    const CONNECTIONS: u64 = 1000;
    const STREAMS: u32 = 200;
    if !allow_open_files(3000) {
        return Seen::Skipped("this machine allows too few open files".to_owned());
    }
    let daemon = Daemon::with_figures(&["--max-connections", "1100"]);
    let settle = |connections: u64, calls: u64| {
        eventually("all of them", || {
            daemon.figure("sudoku_connections_open") >= connections
                && daemon.figure("sudoku_calls_open") == calls
        });
    };
    assert_serving(&daemon);
    let before = daemon.memory();
    let mut idle: Vec<Wire> = (0..CONNECTIONS).map(|_| Wire::open(daemon.address)).collect();
    settle(CONNECTIONS, 0);
    let each_connection = (daemon.memory() - before) / CONNECTIONS;
    let before = daemon.memory();
    for stream in 0..STREAMS {
        // A hundred each on two of the connections.
        assert!(idle[stream as usize / 100].call(2 * (stream % 100) + 1, "SolveStream"));
    }
    settle(CONNECTIONS, STREAMS.into());
    let each_stream = (daemon.memory() - before) / u64::from(STREAMS);
    let cpu = cpu_over(&daemon, Duration::from_secs(1));
    runtime().block_on(serves(&daemon.url()));
    assert!(each_connection < 40 << 10, "{each_connection} bytes a connection");
    assert!(each_stream < 80 << 10, "{each_stream} bytes a stream");
    assert!(cpu < Duration::from_millis(200), "{cpu:?} in a second of nothing");
    Seen::good(format!("{} KB a connection, {} KB a stream", each_connection >> 10, each_stream >> 10))
}
