//! A crowd at the door: what many clients, or one with many connections, take from the others.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveOptions, SolveRequest};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use crate::companion::run;
use crate::cores::apart;
use crate::fairness::{NOISE, assert_fair, small_calls};
use crate::harness::daemon::Daemon;
use crate::harness::{Folder, PATIENCE, eventually, is_solution, lines, sudoku};
use crate::messages::{Caller, call_of, framed, gzip};
use crate::row::{Row, Seen, alone};
use crate::traffic::{assert_serving, batch, client, easy, hard, mib, runtime, serves, solve};
use crate::wire::{DATA, END_HEADERS, HEADERS, Wire, frame, headers_of, message};

const SMALL_CLIENT: &str = "99 % of a small client's calls within 3 times the time they take alone (and 6 ms, for noise and a tick of the scheduler; 16 ms on a busy machine)";

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(
            41,
            "100,000 calls of all services whose message never comes",
            "counted and limited from their headers on, ended by --message-timeout; less than 256 MiB of memory, no ERROR in the log; others as in row 46",
            silent_calls,
        ),
        row(
            42,
            "256 idle streams from three connections",
            "others have their share of the calls, at once",
            idle_streams,
        ),
        row(
            42,
            "idle streams on every place there is",
            "they end after --stream-idle-timeout if others wait, and go on if nobody does",
            idle_streams_everywhere,
        ),
        row(44, "1,000 connections at once", "99 % are there within 50 ms; all are served", many_connections),
        row(
            45,
            "16 clients that send 1 KB of gzip that is 1 MB of spaces, again and again",
            SMALL_CLIENT,
            packed_spaces,
        ),
        row(46, "64 clients that call with a hard puzzle, again and again", SMALL_CLIENT, hard_calls),
        row(
            46,
            "64 clients that stream hard puzzles, one a message, 16 in flight",
            SMALL_CLIENT,
            hard_messages,
        ),
        row(
            47,
            "a line with 50 ms of round trip",
            "`solve --server` carries at least 90 % of what four streams carry, or of what it does without the delay",
            long_lines,
        ),
        row(
            48,
            "more busy connections than --max-connections",
            "those that wait are counted and logged, and readiness says overloaded",
            waiting_connections,
        ),
        row(
            49,
            "silent connections to the port of metrics",
            "/healthz is answered within a second",
            silent_probes,
        ),
    ]
}

/// Clients that do something again and again, each on a connection of its own, for as long as this
/// lives.
struct Crowd {
    stop: Arc<AtomicBool>,
    tasks: JoinSet<()>,
    done: Arc<AtomicU64>,
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.tasks.abort_all();
    }
}

impl Crowd {
    fn start<F>(
        runtime: &Runtime,
        clients: usize,
        client: impl Fn(Arc<AtomicBool>, Arc<AtomicU64>) -> F,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut tasks = JoinSet::new();
        for _ in 0..clients {
            tasks.spawn_on(client(Arc::clone(&stop), Arc::clone(&done)), runtime.handle());
        }
        let crowd = Self { stop, tasks, done };
        eventually("work of the crowd", || crowd.done.load(Ordering::SeqCst) > 0);
        crowd
    }
}

/// A small client alone and beside a crowd, in turns.
fn beside(flags: &[&str], crowd: impl Fn(&Runtime, &Daemon) -> Crowd) -> Seen {
    const ROUNDS: usize = 3;
    let _alone = alone();
    let (daemon, kept) = apart(|| Daemon::start(flags));
    let runtime = runtime();
    let (mut without, mut with, mut done) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        without.push(small_calls(&runtime, &daemon.url()));
        let crowd = crowd(&runtime, &daemon);
        with.push(small_calls(&runtime, &daemon.url()));
        done += crowd.done.load(Ordering::SeqCst);
        drop(crowd);
    }
    let said = assert_fair(&without, &with, NOISE_AND_TICK, kept.is_some());
    Seen::good(format!("{said}; {done} answers to the others meanwhile"))
}

/// Half a tick of the system's scheduler, for what else goes on, and one until it looks again at threads that are equals.
const NOISE_AND_TICK: Duration = Duration::from_millis(6);

/// How a hard puzzle is searched so that it takes some milliseconds at most, but much longer than
/// an easy one.
pub fn slowly() -> SolveOptions {
    SolveOptions { strategy: "fewest-candidates".to_owned(), ..SolveOptions::default() }
}

fn hard_calls() -> Seen {
    beside(&[], |runtime, daemon| {
        let url = daemon.url();
        Crowd::start(runtime, 64, move |stop, done| {
            let url = url.clone();
            async move {
                let mut client = client(&url).await;
                for puzzle in hard(20).iter().cycle() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let call = SolveRequest {
                        options: Some(slowly()),
                        text: Bytes::from(puzzle.clone()),
                        ..Default::default()
                    };
                    client.solve(call).await.unwrap();
                    done.fetch_add(1, Ordering::SeqCst);
                }
            }
        })
    })
}

fn hard_messages() -> Seen {
    const IN_FLIGHT: usize = 16;
    beside(&[], |runtime, daemon| {
        let url = daemon.url();
        Crowd::start(runtime, 64, move |stop, done| {
            let url = url.clone();
            async move {
                let mut client = client(&url).await;
                let (sender, requests) = mpsc::channel(IN_FLIGHT);
                let puzzles = hard(20);
                let mut next = (0..).map(|k| {
                    let one = [puzzles[k % puzzles.len()].clone()];
                    sudoku_stream::service::proto::SolveStreamRequest {
                        options: Some(slowly()),
                        ..batch(k as u64, &one)
                    }
                });
                let mut send = || sender.try_send(next.next().unwrap()).unwrap();
                (0..IN_FLIGHT).for_each(|_| send());
                let mut answers =
                    client.solve_stream(ReceiverStream::new(requests)).await.unwrap().into_inner();
                while !stop.load(Ordering::SeqCst) && answers.message().await.unwrap().is_some() {
                    done.fetch_add(1, Ordering::SeqCst);
                    send();
                }
            }
        })
    })
}

fn packed_spaces() -> Seen {
    beside(&[], |runtime, daemon| {
        let address = daemon.address;
        let spaces = SolveLinesRequest { lines: Bytes::from(vec![b' '; 1_000_000]), ..Default::default() };
        let body = framed(1, &gzip(&prost::Message::encode_to_vec(&spaces)));
        assert!(body.len() < 2_000, "{}", body.len());
        Crowd::start(runtime, 16, move |stop, done| {
            let body = body.clone();
            async move {
                let caller = Caller::connect(address).await;
                while !stop.load(Ordering::SeqCst) {
                    let mut call = call_of("SolveLines");
                    call.headers_mut().insert("grpc-encoding", "gzip".parse().unwrap());
                    let outcome = caller.call(call, body.clone()).await;
                    assert_eq!(outcome.code, Some(Code::Ok), "{outcome:?}");
                    done.fetch_add(1, Ordering::SeqCst);
                }
            }
        })
    })
}

/// The paths of calls of every kind.
pub const PATHS: [&str; 5] = [
    "/sudoku.v1.SudokuService/SolveStream",
    "/sudoku.v1.SudokuService/Solve",
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.health.v1.Health/Watch",
];

fn silent_calls() -> Seen {
    const CALLS: usize = 100_000;
    const EACH: usize = 120;
    const MAX_MIB: u64 = 256;
    let _alone = alone();
    let (daemon, kept) = apart(|| Daemon::with_figures(&[]));
    let runtime = runtime();
    let before = small_calls(&runtime, &daemon.url());
    let mut wires = Vec::new();
    let mut most_memory = 0;
    let mut most_open = 0;
    for number in 0..CALLS / EACH {
        let mut wire = Wire::open(daemon.address);
        let calls: Vec<u8> = (0..EACH)
            .flat_map(|k| {
                let stream = 1 + 2 * u32::try_from(k).unwrap();
                frame(HEADERS, END_HEADERS, stream, &headers_of(PATHS[(k + number) % PATHS.len()]))
            })
            .collect();
        assert!(wire.send(&calls) && wire.ping(PATIENCE));
        wires.push(wire);
        if number % 100 == 0 {
            most_memory = most_memory.max(daemon.memory());
            most_open = most_open.max(daemon.figure("sudoku_calls_open"));
        }
    }
    most_memory = most_memory.max(daemon.memory());
    most_open = most_open.max(daemon.figure("sudoku_calls_open"));
    let opened = wires.len() * EACH;
    let memory = mib(most_memory);
    assert!(memory < MAX_MIB, "{memory} MiB");
    assert!((100..=256).contains(&most_open), "{most_open} calls were open");
    // A call that was in time for the others' grace makes its client come again.
    eventually("a place for another client", || {
        runtime.block_on(async {
            let mut client = client(&daemon.url()).await;
            let call = SolveRequest { text: Bytes::from(easy(1).remove(0)), ..Default::default() };
            timeout(PATIENCE, client.solve(call)).await.unwrap().is_ok()
        })
    });
    let after = small_calls(&runtime, &daemon.url());
    let said = assert_fair(&[before], &[after], NOISE, kept.is_some());
    assert!(!daemon.log().contains("ERROR"), "{}", daemon.log());
    drop(wires);
    eventually("the end of all calls", || daemon.figure("sudoku_calls_open") == 0);
    assert_serving(&daemon);
    let timed = Daemon::with_figures(&["--message-timeout", "1"]);
    let mut wire = Wire::open(timed.address);
    for (k, path) in PATHS.iter().enumerate() {
        let stream = 1 + 2 * u32::try_from(k).unwrap();
        assert!(wire.send(&frame(HEADERS, END_HEADERS, stream, &headers_of(path))));
    }
    eventually("all calls", || timed.figure("sudoku_calls_open") == PATHS.len() as u64);
    let took = eventually("their end", || timed.figure("sudoku_calls_open") == 0);
    assert!(took < Duration::from_secs(5), "{took:?}");
    Seen::good(format!(
        "{opened} calls, {most_open} open at most, {memory} MiB; another client's calls {said}; with --message-timeout 1 ended after {:.1} s",
        took.as_secs_f64()
    ))
}

/// Opens streams that say nothing after their first message. Returns how many were let in.
async fn idle(address: SocketAddr, streams: usize) -> (usize, Vec<Box<dyn Send>>) {
    let mut client = client(&format!("http://{address}")).await;
    let (mut open, mut held) = (0, Vec::<Box<dyn Send>>::new());
    for _ in 0..streams {
        let (sender, requests) = mpsc::channel(1);
        let lines = Bytes::from(easy(1).remove(0));
        sender.try_send(SolveLinesRequest { lines, ..Default::default() }).unwrap();
        let call = client.solve_lines(ReceiverStream::new(requests));
        match timeout(PATIENCE, call).await.unwrap() {
            Ok(response) => {
                let mut answers = response.into_inner();
                match timeout(PATIENCE, answers.message()).await.unwrap() {
                    Ok(answer) => assert!(answer.is_some()),
                    Err(status) => {
                        assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
                        continue;
                    }
                }
                open += 1;
                held.push(Box::new((sender, answers)));
            }
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status}"),
        }
    }
    held.push(Box::new(client));
    (open, held)
}

fn idle_streams() -> Seen {
    let daemon = Daemon::with_figures(&[]);
    let (shares, slowest) = runtime().block_on(async {
        let (mut shares, mut held) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let (open, streams) = idle(daemon.address, 86).await;
            shares.push(open);
            held.push(streams);
        }
        // Others are served at once, several at a time.
        let mut slowest = Duration::ZERO;
        for _ in 0..4 {
            let mut client = client(&daemon.url()).await;
            let (open, streams) = idle(daemon.address, 4).await;
            assert_eq!(open, 4, "beside {shares:?}");
            slowest = slowest.max(solve(&mut client, &easy(1)[0]).await);
            held.push(streams);
        }
        (shares, slowest)
    });
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    Seen::good(format!(
        "{shares:?} of 86 each were let in; others' calls within {:.1} ms",
        slowest.as_secs_f64() * 1e3
    ))
}

fn idle_streams_everywhere() -> Seen {
    let daemon = Daemon::with_figures(&["--max-streams", "20", "--stream-idle-timeout", "1"]);
    let ended = runtime().block_on(async {
        let mut held = Vec::new();
        let mut open = 0;
        while open < 20 {
            let (more, streams) = idle(daemon.address, 20).await;
            open += more;
            held.push(streams);
        }
        // Nobody waits, so they stay.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(daemon.figure("sudoku_calls_open"), 20);
        serves(&daemon.url()).await;
        // Streams that are busy would stay.
        assert_eq!(daemon.figure("sudoku_calls_ended_idle_total"), 1);
        for _ in 0..5 {
            serves(&daemon.url()).await;
        }
        daemon.figure("sudoku_calls_ended_idle_total")
    });
    Seen::good(format!("20 of 20 places idle; {ended} ended for the calls of others, the rest go on"))
}

fn many_connections() -> Seen {
    const CONNECTIONS: usize = 1000;
    const WITHIN: Duration = Duration::from_millis(50);
    let _alone = alone();
    let (daemon, kept) = apart(|| Daemon::with_figures(&[]));
    let runtime = runtime();
    let attempt = || {
        runtime.block_on(async {
            let mut connecting = JoinSet::new();
            for _ in 0..CONNECTIONS {
                let address = daemon.address;
                connecting.spawn(async move {
                    let begin = Instant::now();
                    let socket = timeout(PATIENCE, TcpStream::connect(address)).await.unwrap().unwrap();
                    (begin.elapsed(), socket)
                });
            }
            let mut times = Vec::new();
            let mut sockets = Vec::new();
            while let Some(connected) = connecting.join_next().await {
                let (time, socket) = connected.unwrap();
                times.push(time);
                sockets.push(socket);
            }
            times.sort();
            drop(sockets);
            eventually("the end of these connections", || daemon.figure("sudoku_connections_open") == 0);
            times
        })
    };
    // Once the machine had something else to do.
    let times = (0..3).map(|_| attempt()).min_by_key(|times| times[CONNECTIONS * 99 / 100]).unwrap();
    let p99 = times[CONNECTIONS * 99 / 100];
    let within = if kept.is_some() { WITHIN } else { 4 * WITHIN };
    assert!(p99 < within.mul_f64(busyness()), "{p99:?}");
    assert_serving(&daemon);
    Seen::good(format!(
        "99 % within {:.1} ms, the last after {:.1} ms",
        p99.as_secs_f64() * 1e3,
        times[CONNECTIONS - 1].as_secs_f64() * 1e3
    ))
}

/// How many times longer than alone this process waits for a core, by the load of the machine.
fn busyness() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(1.0);
    (load / std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)).max(1.0)
}

/// A line that takes this long in each direction, to a server. Returns the address of its near end.
fn long_line(server: SocketAddr, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let relay = move |mut from: std::net::TcpStream, mut to: std::net::TcpStream| {
        let (sender, pieces) = std::sync::mpsc::sync_channel::<(Instant, Vec<u8>)>(4096);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                    return;
                }
            }
        });
        std::thread::spawn(move || {
            for (due, piece) in pieces {
                crate::companion::pause(due.saturating_duration_since(Instant::now()));
                if to.write_all(&piece).is_err() {
                    return;
                }
            }
            let _ = to.shutdown(Shutdown::Write);
        });
    };
    std::thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), std::net::TcpStream::connect(server).unwrap());
            near.set_nodelay(true).unwrap();
            far.set_nodelay(true).unwrap();
            relay(near.try_clone().unwrap(), far.try_clone().unwrap());
            relay(far, near);
        }
    });
    address
}

fn long_lines() -> Seen {
    /// So many that what it takes to begin does not count.
    const PUZZLES: usize = 3_000_000;
    let _alone = alone();
    let daemon = Daemon::with_figures(&[]);
    let address = long_line(daemon.address, Duration::from_millis(25));
    let folder = Folder::new();
    let some = lines(&easy(1000));
    let list = folder.write("list", some.repeat(PUZZLES / 1000));
    let solve = |server: SocketAddr| {
        let begin = Instant::now();
        let out = folder.path("out");
        let url = format!("http://{server}");
        let ended = run(&mut sudoku(&["solve", &list, "--server", &url, "-o", &out, "--no-progress"]));
        ended.assert_code(0);
        let took = begin.elapsed();
        let answers = std::fs::read_to_string(&out).unwrap();
        assert_eq!(answers.lines().count(), PUZZLES);
        assert!(answers.lines().zip(some.lines()).all(|(answer, puzzle)| is_solution(answer, puzzle)));
        PUZZLES as f64 / took.as_secs_f64()
    };
    let near = solve(daemon.address);
    let calls =
        |method: &str| daemon.figure(&format!("sudoku_calls_total{{method=\"{method}\",status=\"OK\"}}"));
    let before = calls("SolveLines");
    // Where the machine is busy, a short line looks like a long one.
    assert!(before == 1 || busyness() > 2.0, "{before} streams on a short line");
    let far = solve(address);
    assert_eq!(calls("SolveLines"), before + 16, "sixteen on a long one");
    // Where a connection may not have as many, those that wait hold nothing up.
    let narrow = Daemon::start(&["--max-streams-per-connection", "3"]);
    assert!(solve(long_line(narrow.address, Duration::from_millis(25))) > 0.0);
    // Four streams that somebody has asked for.
    let url = format!("http://{address}");
    let load = run(&mut sudoku(&[
        "load",
        &list,
        "--server",
        &url,
        "--streams",
        "4",
        "--batch",
        "1024",
        "--duration",
        "5",
        "-f",
        "json",
    ]));
    let text = load.text();
    let four = text.split("\"puzzles_per_second\":").nth(1).unwrap_or_else(|| panic!("{text}"));
    let four: f64 = four.split([',', '}']).next().unwrap().trim().parse().unwrap();
    let said = format!(
        "{far:.0} puzzles/s by `solve --server` over 50 ms, {four:.0} on four streams, {near:.0} without the delay"
    );
    assert!(far >= 0.9 * four || far >= 0.9 * near, "{said}");
    Seen::good(said)
}

fn waiting_connections() -> Seen {
    let daemon = Daemon::with_figures(&["--max-connections", "4"]);
    // An idle one would make way.
    let call = message(&SolveLinesRequest { lines: Bytes::from(lines(&easy(1))), ..Default::default() });
    let busy = || {
        let mut wire = Wire::open(daemon.address);
        wire.call(1, "SolveLines");
        wire.send(&frame(DATA, 0, 1, &call));
        assert!(wire.receive_until(PATIENCE, |frame| frame.kind == DATA).is_some());
        wire
    };
    let open: Vec<Wire> = (0..4).map(|_| busy()).collect();
    assert_eq!(daemon.get("/readyz").0, 200);
    let waiting: Vec<Wire> = (0..3).map(|_| Wire::bare(daemon.address)).collect();
    eventually("a figure of those that wait", || daemon.figure("sudoku_connections_waiting") == 3);
    let limit = daemon.figure("sudoku_limit{name=\"max-connections\"}");
    assert_eq!((daemon.figure("sudoku_connections_open"), limit), (4, 4));
    let (code, words) = daemon.get("/readyz");
    assert_eq!((code, words.contains("overloaded")), (503, true), "{words}");
    eventually("a line of log", || daemon.log().contains("further ones wait"));
    assert_eq!(daemon.log().matches("further ones wait").count(), 1, "{}", daemon.log());
    assert_eq!(daemon.get("/healthz").0, 200);
    drop(waiting);
    open.into_iter().for_each(Wire::finish);
    eventually("readiness", || daemon.get("/readyz").0 == 200);
    assert_serving(&daemon);
    Seen::good("3 wait, sudoku_connections_waiting 3, readiness 503 `overloaded`, one line of log")
}

fn silent_probes() -> Seen {
    let daemon = Daemon::with_figures(&[]);
    let mut slowest = Duration::ZERO;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.extend((0..16).map(|_| std::net::TcpStream::connect(daemon.metrics_address()).unwrap()));
        let begin = Instant::now();
        assert_eq!(daemon.get("/healthz").0, 200);
        slowest = slowest.max(begin.elapsed());
    }
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    Seen::good(format!(
        "within {:.1} ms beside {} silent connections",
        slowest.as_secs_f64() * 1e3,
        silent.len()
    ))
}
