//! Attacks at the door: what peers that no library tames take from honest clients beside them, with the
//! default limits and with those of `deploy/kubernetes`.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveRequest};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;

use crate::companion::pause;
use crate::cores::apart;
use crate::fairness::assert_fair;
use crate::harness::daemon::Daemon;
use crate::harness::{Folder, PATIENCE, eventually, lines};
use crate::row::{Row, Seen, alone};
use crate::traffic::{assert_serving, client, easy, grown, runtime};
use crate::web::call;
use crate::wire::{
    ACK, DATA, Flood, GOAWAY, HEADERS, PADDED, PING, PREFACE, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE,
    Wire, claim, frame, message,
};

const BESIDE: &str = "no honest call is lost, by a client of single calls, one that connects anew for each, one of JSON over HTTP/1.1 and a stream; 99 % within 3 times the time they take alone (and 6 ms, for noise and a tick of the scheduler; 16 ms on a busy machine)";

pub fn rows() -> Vec<Row> {
    let row = |number, fault, run| Row { number, fault, expected: BESIDE, run };
    vec![
        row(65, "200 bodies over HTTP/1.1 of a byte each 0.5 s, again and again", slow_bodies),
        row(65, "200 messages over HTTP/2 of a byte each 0.5 s, again and again", slow_messages),
        Row {
            number: 66,
            fault: "one stream that is not read beside one that is, on a connection, and streams not read over every protocol",
            expected: "the one is ended by itself after --idle-timeout, in words; the other loses nothing, and the connection lives on; ANSWERS_UNREAD in the access log",
            run: stuck_readers,
        },
        row(
            67,
            "20 idle connections that answer pings, with --max-connections 20, and again when they are closed",
            idle_connections,
        ),
        row(
            67,
            "20 silent connections, with --max-connections 20, and again when they are closed",
            silent_connections,
        ),
        Row {
            number: 67,
            fault: "an idle connection, and one with a call that is idle",
            expected: "the one is closed by GOAWAY after --connection-idle-timeout, the other stays",
            run: idle_for_long,
        },
        Row {
            number: 68,
            fault: "requests over HTTP/1.1 that a proxy may read differently, heads that come too slowly, a path with two slashes, a call too many",
            expected: "400 and closed, 408, 501 that says so, 429 with Retry-After; what is well-formed behind a body of every kind is answered; serving",
            run: strictness,
        },
        row(
            69,
            "20 connections that flood PING, SETTINGS, PRIORITY, WINDOW_UPDATE, DATA that is empty or all padding, and unknown frames, and connect anew when they are closed",
            control_floods,
        ),
    ]
}

/// The limits of `deploy/kubernetes` that differ from the defaults.
const DEPLOYED: [&str; 4] = ["--max-streams", "32", "--max-message-bytes", "655360"];

/// For how long honest clients call.
const TIME: Duration = Duration::from_secs(2);

/// Half a tick of the scheduler, and one until it looks again at threads that are equals.
const NOISE_AND_TICK: Duration = Duration::from_millis(6);

/// What became of the calls of honest clients.
#[derive(Default)]
struct Honest {
    times: Vec<Duration>,
    lost: Vec<String>,
}

impl Honest {
    fn add(&mut self, begin: Instant, ended: Result<(), String>) {
        match ended {
            Ok(()) => self.times.push(begin.elapsed()),
            Err(words) => self.lost.push(words),
        }
    }

    /// The time within which so many hundredths of the calls were answered.
    fn within(&mut self, percent: usize) -> Duration {
        self.times.sort();
        self.times[(self.times.len() - 1) * percent / 100]
    }
}

/// Honest clients of every kind, for a while. Each waits for its answer before it asks again.
async fn honest(address: SocketAddr, time: Duration) -> Honest {
    let end = Instant::now() + time;
    let url = format!("http://{address}");
    let puzzle = easy(1).remove(0);
    let request = SolveRequest { text: Bytes::from(puzzle.clone()), ..Default::default() };
    let single = async {
        let (mut client, mut seen) = (client(&url).await, Honest::default());
        while Instant::now() < end {
            let begin = Instant::now();
            let ended = timeout(PATIENCE, client.solve(request.clone())).await.unwrap();
            seen.add(begin, ended.map(drop).map_err(|status| format!("single: {status}")));
        }
        seen
    };
    let anew = async {
        let mut seen = Honest::default();
        while Instant::now() < end {
            let begin = Instant::now();
            let mut client = client(&url).await;
            let ended = timeout(PATIENCE, client.solve(request.clone())).await.unwrap();
            seen.add(begin, ended.map(drop).map_err(|status| format!("anew: {status}")));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        seen
    };
    let stream = async {
        let (mut client, mut seen) = (client(&url).await, Honest::default());
        let (sender, requests) = mpsc::channel(1);
        let block = Bytes::from(lines(&easy(8)));
        let message = || SolveLinesRequest { lines: block.clone(), ..Default::default() };
        sender.send(message()).await.unwrap();
        let mut answers = client.solve_lines(ReceiverStream::new(requests)).await.unwrap().into_inner();
        let mut begin = Instant::now();
        while Instant::now() < end {
            let ended = match timeout(PATIENCE, answers.message()).await.unwrap() {
                Ok(Some(answer)) if answer.tally.as_ref().is_some_and(|tally| tally.answers == 8) => Ok(()),
                other => Err(format!("stream: {other:?}")),
            };
            let goes_on = ended.is_ok();
            seen.add(begin, ended);
            if !goes_on {
                break;
            }
            begin = Instant::now();
            sender.send(message()).await.unwrap();
        }
        seen
    };
    let web = tokio::task::spawn_blocking(move || {
        let mut seen = Honest::default();
        let body = format!("{{\"puzzle\":\"{puzzle}\"}}");
        while Instant::now() < end {
            let begin = Instant::now();
            let mut wire = Wire::bare(address);
            wire.send(&call("Solve", &[], body.as_bytes()));
            wire.socket.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut text = String::new();
            let _ = wire.socket.read_to_string(&mut text);
            let is_good = text.starts_with("HTTP/1.1 200 ") && text.contains("\"solution\"");
            seen.add(begin, if is_good { Ok(()) } else { Err(format!("web: {text}")) });
            pause(Duration::from_millis(10));
        }
        seen
    });
    let (single, anew, stream, web) = tokio::join!(single, anew, stream, web);
    let mut all = Honest::default();
    for seen in [single, anew, stream, web.unwrap()] {
        all.times.extend(seen.times);
        all.lost.extend(seen.lost);
    }
    all
}

/// Peers on a thread of their own, for as long as this lives.
pub struct Attack {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// What they have done so far.
    done: Arc<AtomicUsize>,
}

impl Attack {
    /// Calls `attack` again and again, which returns how much it has done.
    pub fn start(mut attack: impl FnMut() -> usize + Send + 'static) -> Self {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&done));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                count.fetch_add(attack(), Ordering::SeqCst);
            }
        });
        Self { stop, thread: Some(thread), done }
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = self.thread.take().unwrap().join();
    }
}

/// Honest clients alone, and beside an attack, with each of some settings. What is seen names the settings.
pub fn beside(
    flags: &[&str],
    attack: impl Fn(SocketAddr) -> Attack,
    most_memory: u64,
    look: impl Fn(&Daemon) -> String,
) -> Seen {
    let _alone = alone();
    let mut said = Vec::new();
    for (name, settings) in [("defaults", &[][..]), ("deployed", &DEPLOYED)] {
        let flags: Vec<&str> = flags.iter().chain(settings).copied().collect();
        let (daemon, kept) = apart(|| Daemon::with_figures(&flags));
        let runtime = runtime();
        let mut quiet = runtime.block_on(honest(daemon.address, TIME));
        assert_eq!(quiet.lost, Vec::<String>::new());
        let memory = daemon.memory();
        let attack = attack(daemon.address);
        eventually("the attack", || attack.done.load(Ordering::SeqCst) > 0);
        let (mut seen, most) = while_measured(&runtime, &daemon, memory);
        let done = attack.done.load(Ordering::SeqCst);
        drop(attack);
        assert!(seen.lost.is_empty(), "{name}: {} lost: {}", seen.lost.len(), seen.lost[0]);
        let fair = assert_fair(&[quiet.within(99)], &[seen.within(99)], NOISE_AND_TICK, kept.is_some());
        assert!(most < most_memory, "{name}: {most} MiB");
        assert!(!daemon.log().contains("ERROR"), "{}", daemon.log());
        said.push(format!(
            "{name}: {} of {0} calls answered, half within {:.2} ms, alone {:.2} ms, {fair}; {most} MiB more; {done} times; {}",
            seen.times.len(),
            seen.within(50).as_secs_f64() * 1e3,
            quiet.within(50).as_secs_f64() * 1e3,
            look(&daemon)
        ));
    }
    Seen::good(said.join(" / "))
}

/// Honest clients for a while, and the most memory of the server meanwhile, in MiB more than before.
fn while_measured(runtime: &Runtime, daemon: &Daemon, memory: u64) -> (Honest, u64) {
    let seen = runtime.spawn(honest(daemon.address, TIME));
    let mut most = 0;
    while !seen.is_finished() {
        most = most.max(grown(daemon, memory));
        pause(Duration::from_millis(20));
    }
    (runtime.block_on(seen).unwrap(), most)
}

/// Whether the server has closed a connection, or has said anything on it.
fn has_word(wire: &Wire) -> bool {
    wire.socket.set_nonblocking(true).unwrap();
    let word = wire.socket.peek(&mut [0]);
    wire.socket.set_nonblocking(false).unwrap();
    !matches!(word, Err(error) if error.kind() == ErrorKind::WouldBlock)
}

/// What was refused for this reason.
fn refused(daemon: &Daemon, reason: &str) -> u64 {
    daemon.figure(&format!("sudoku_calls_refused_total{{reason=\"{reason}\"}}"))
}

/// The attackers of a crowd.
const CROWD: usize = 200;

/// The time between two bytes of an attacker, and the parts of the crowd that take turns in it, so that
/// they do not come all at once.
const BETWEEN: Duration = Duration::from_millis(500);
const PARTS: usize = 50;

fn slow_bodies() -> Seen {
    let attack = |address| {
        let request = call("Solve", &[], &[b' '; 1000]);
        let head = request[..request.len() - 1000].to_vec();
        let mut parts: Vec<Vec<Wire>> = (0..PARTS).map(|_| Vec::new()).collect();
        let mut turn = 0;
        Attack::start(move || {
            turn = (turn + 1) % PARTS;
            let wires = &mut parts[turn];
            wires.retain_mut(|wire| !has_word(wire) && wire.send(b" "));
            let missing = CROWD / PARTS - wires.len();
            for _ in 0..missing {
                let mut wire = Wire::bare(address);
                wire.send(&head);
                wires.push(wire);
            }
            pause(BETWEEN / u32::try_from(PARTS).unwrap());
            missing
        })
    };
    beside(&[], attack, 64, |daemon| {
        format!("sudoku_calls_refused_total not_whole {}", refused(daemon, "not_whole"))
    })
}

fn slow_messages() -> Seen {
    /// The streams of a connection.
    const EACH: u32 = 20;
    let attack = |address| {
        let mut wires: Vec<(Wire, u32)> =
            (0..CROWD / EACH as usize).map(|_| (Wire::open(address), 1)).collect();
        let mut turn = 0;
        Attack::start(move || {
            turn = (turn + 1) % wires.len();
            let (wire, next) = &mut wires[turn];
            // Those that were ended are opened again.
            for _ in 0..if *next == 1 { EACH } else { EACH / 2 } {
                wire.call(*next, if *next % 4 == 1 { "Solve" } else { "SolveStream" });
                wire.send(&frame(DATA, 0, *next, &claim(1000)));
                *next += 2;
            }
            for back in 1..=EACH {
                wire.send(&frame(DATA, 0, *next - 2 * back, b" "));
            }
            drain(wire);
            pause(BETWEEN / 10);
            1
        })
    };
    beside(&[], attack, 64, |daemon| {
        format!("sudoku_calls_refused_total not_whole {}", refused(daemon, "not_whole"))
    })
}

/// Reads what the server has said so far, and drops it.
fn drain(wire: &mut Wire) {
    wire.socket.set_nonblocking(true).unwrap();
    while matches!(wire.socket.read(&mut [0; 1 << 14]), Ok(1..)) {}
    wire.socket.set_nonblocking(false).unwrap();
}

/// The settings of a client: the size of the window of each of its streams.
fn windows(bytes: u32) -> Vec<u8> {
    const INITIAL_WINDOW_SIZE: u16 = 4;
    frame(SETTINGS, 0, 0, &[&INITIAL_WINDOW_SIZE.to_be_bytes()[..], &bytes.to_be_bytes()].concat())
}

fn stuck_readers() -> Seen {
    const MESSAGES: usize = 40;
    let folder = Folder::new();
    let log = folder.path("access");
    let daemon = Daemon::with_figures(&["--idle-timeout", "1", "--access-log", &log]);
    let memory = daemon.memory();
    let request = SolveLinesRequest { lines: Bytes::from(lines(&easy(100))), ..Default::default() };
    let mut wire = Wire::open(daemon.address);
    wire.send(&windows(16 << 10));
    // The connection has room for all; only the one stream has not.
    wire.send(&frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes()));
    wire.call(1, "SolveLines");
    for part in message(&request).repeat(100).chunks(16_000) {
        wire.send(&frame(DATA, 0, 1, part));
    }
    wire.call(3, "SolveLines");
    let (mut answered, mut ended, begin) = (0, None, Instant::now());
    while answered < MESSAGES || ended.is_none() {
        // More than the stuck one is there for.
        wire.send(&frame(DATA, 0, 3, &message(&request)));
        let mut read = 0;
        while read == 0 {
            let next = wire.receive(PATIENCE).expect("the connection lives on");
            match (next.kind, next.stream) {
                (DATA, 3) => read = next.payload.len(),
                (HEADERS, 1) if next.ends_stream() => ended = Some((begin.elapsed(), next.payload)),
                (GOAWAY, _) => panic!("the connection is ended: {}", next.reason()),
                (RST_STREAM, stream) => assert!(stream == 1 && ended.is_some(), "{stream}"),
                _ => {}
            }
        }
        wire.send(&frame(WINDOW_UPDATE, 0, 3, &u32::try_from(read).unwrap().to_be_bytes()));
        answered += 1;
        pause(Duration::from_millis(30));
    }
    let (took, trailers) = ended.unwrap();
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert!(trailers.len() > 100, "a status with details");
    for kind in ["application/connect+proto", "application/grpc-web"] {
        unread_over_http1(&daemon, kind);
    }
    let said = || fs::read_to_string(&log).unwrap_or_default();
    eventually("lines of the access log", || said().matches("ANSWERS_UNREAD").count() == 3);
    assert!(!said().contains("CLIENT_LEFT") || said().matches("CLIENT_LEFT").count() == 1, "{}", said());
    assert_eq!(refused(&daemon, "idle_timeout"), 3);
    assert_eq!(daemon.log().matches("does not read its answers").count(), 3, "{}", daemon.log());
    let most = grown(&daemon, memory);
    assert!(most < 64, "{most} MiB");
    assert_serving(&daemon);
    Seen::good(format!(
        "ended with a status after {:.1} s, {answered} messages of the other answered on the same connection; ANSWERS_UNREAD 3 times in the access log, by gRPC, Connect and gRPC-Web; {most} MiB more",
        took.as_secs_f64()
    ))
}

/// A call over HTTP/1.1 that sends and does not read, until the server closes.
fn unread_over_http1(daemon: &Daemon, kind: &str) {
    let request = SolveLinesRequest { lines: Bytes::from(lines(&easy(1000))), ..Default::default() };
    let one = message(&request);
    let head = String::from_utf8(call("SolveLines", &[("content-type", kind)], &[])).unwrap();
    let head = head.replace("content-length: 0", "transfer-encoding: chunked");
    let mut wire = Wire::bare(daemon.address);
    wire.send(head.as_bytes());
    let chunk = [format!("{:x}\r\n", one.len()).as_bytes(), &one, b"\r\n"].concat();
    // Until neither side takes any more, and then until the server gives up.
    wire.socket.set_write_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(wire.flood(&chunk, 100_000), Flood::Ended, "{kind}");
}

/// The connections that there are.
const PLACES: &str = "20";

/// Connections that take all places, again and again.
fn take_all_places(open: fn(SocketAddr) -> Wire, flags: &[&str]) -> Seen {
    let attack = |address| {
        let mut wires: Vec<Wire> = (0..20).map(|_| open(address)).collect();
        Attack::start(move || {
            wires.retain_mut(is_open);
            let missing = 20 - wires.len();
            // One at a time, so that it has its answer from a server that has a place for it.
            if missing > 0 {
                wires.push(open(address));
            }
            pause(Duration::from_millis(1));
            1
        })
    };
    beside(&[flags, &["--max-connections", PLACES]].concat(), attack, 64, |daemon| {
        let evicted = daemon.figure("sudoku_connections_closed_total{reason=\"evicted\"}");
        assert!(evicted > 0, "nobody has made way");
        format!("sudoku_connections_closed_total evicted {evicted}")
    })
}

/// Answers the pings of the server. Whether it has not said good-bye.
fn is_open(wire: &mut Wire) -> bool {
    while has_word(wire) {
        match wire.receive(PATIENCE) {
            None => return false,
            Some(question) if question.kind == PING && question.flags & ACK == 0 => {
                wire.send(&frame(PING, ACK, 0, &question.payload));
            }
            Some(word) if word.kind == GOAWAY => return false,
            Some(_) => {}
        }
    }
    true
}

fn idle_connections() -> Seen {
    take_all_places(Wire::open, &["--keepalive-interval", "0.2"])
}

fn silent_connections() -> Seen {
    // Some say nothing, some a part of what they have to say first.
    take_all_places(
        |address| {
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            let said = [&b""[..], &PREFACE[..10], b"GET / HTT", b"POST / HTTP/1.1\r\n"];
            let mut wire = Wire::bare(address);
            wire.send(said[NEXT.fetch_add(1, Ordering::SeqCst) % said.len()]);
            wire
        },
        &[],
    )
}

fn idle_for_long() -> Seen {
    let daemon = Daemon::with_figures(&["--connection-idle-timeout", "1", "--keepalive-interval", "0.2"]);
    let mut idle = Wire::open(daemon.address);
    let mut busy = Wire::open(daemon.address);
    busy.call(1, "SolveLines");
    let request = SolveLinesRequest { lines: Bytes::from(lines(&easy(1))), ..Default::default() };
    busy.send(&frame(DATA, 0, 1, &message(&request)));
    assert!(busy.receive_until(PATIENCE, |frame| frame.kind == DATA).is_some());
    let begin = Instant::now();
    let goaway = idle.receive_until(PATIENCE, |frame| frame.kind == GOAWAY).expect("a word before the end");
    assert_eq!(goaway.reason(), 0);
    let took = begin.elapsed();
    assert!(idle.ping(PATIENCE) || !is_open(&mut idle));
    while is_open(&mut busy) && begin.elapsed() < 2 * took {
        pause(Duration::from_millis(20));
    }
    busy.send(&frame(DATA, 0, 1, &message(&request)));
    assert!(busy.receive_until(PATIENCE, |frame| frame.kind == DATA).is_some(), "it stays");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(daemon.figure("sudoku_connections_closed_total{reason=\"idle\"}"), 1);
    Seen::good(format!("GOAWAY after {:.1} s; the other answers on", took.as_secs_f64()))
}

/// The statuses of what comes back, until the server closes.
fn statuses(address: SocketAddr, bytes: &[u8]) -> (Vec<u16>, String) {
    let mut wire = Wire::bare(address);
    // In two pieces, as it may come.
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    wire.send(first);
    pause(Duration::from_millis(5));
    wire.send(rest);
    wire.socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut text = String::new();
    let _ = wire.socket.read_to_string(&mut text);
    let answers = text.split("HTTP/1.1 ").skip(1);
    (answers.map(|answer| answer[..3].parse().unwrap()).collect(), text)
}

fn strictness() -> Seen {
    let daemon = Daemon::with_figures(&["--handshake-timeout", "1", "--max-streams", "1"]);
    let address = daemon.address;
    let path = "/sudoku.v1.SudokuService/Check";
    let body = "{\"puzzle\":\"1234341221434321\"}";
    let kind = "content-type: application/json\r\n";
    let length = format!("content-length: {}\r\n", body.len());
    let chunked = "transfer-encoding: chunked\r\n";
    let chunks = format!("{:x};a=b\r\n{body}\r\n0\r\nx: y\r\n\r\n", body.len());
    let open = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{kind}");
    let good = [format!("{open}{length}\r\n{body}"), format!("{open}{chunked}\r\n{chunks}")];
    let bad = [
        format!("POST {path} HTTP/1.1\r\n{kind}{length}\r\n{body}"),
        format!("POST {path} HTTP/1.1\r\nhost: a\r\nhost: a\r\n{kind}{length}\r\n{body}"),
        format!("{open}{length}\n{body}"),
        format!("{open}x: y\n{length}\r\n{body}"),
        format!("POST {path} HTTP/1.1\nhost: localhost\r\n{kind}{length}\r\n{body}"),
        format!("{open}{length}{chunked}\r\n{chunks}"),
        format!("{open}{chunked}{length}\r\n{chunks}"),
        format!("{open}{length}content-length: 1\r\n\r\n{body}"),
        format!("{open}content-length: {0}, {0}\r\n\r\n{body}", body.len()),
    ];
    let ended = |request: &str| request.replace("\r\nhost:", "\r\nconnection: close\r\nhost:");
    for good in &good {
        for bad in &bad {
            // Behind a good one, because what is bad of a head is found wherever it begins.
            let (seen, text) = statuses(address, format!("{good}{bad}").as_bytes());
            assert_eq!(seen, [200, 400], "{bad:?}: {text}");
        }
        let (seen, text) = statuses(address, format!("{good}\r\n{good}{}", ended(good)).as_bytes());
        assert_eq!(seen, [200, 200, 200], "{text}");
    }
    let malformed = refused(&daemon, "malformed");
    assert_eq!(malformed, (2 * bad.len()) as u64);
    let old = format!("POST {path} HTTP/1.0\r\n{kind}{length}\r\n{body}");
    let (_, text) = statuses(address, old.as_bytes());
    assert!(text.starts_with("HTTP/1.0 200 "), "{text}");

    let begin = Instant::now();
    let (seen, text) = statuses(address, open.as_bytes());
    assert_eq!(seen, [408], "{text}");
    assert!(begin.elapsed() < Duration::from_secs(4) && text.contains("is late"), "{text}");

    let (seen, text) = statuses(address, ended(&good[0]).replace(path, &format!("/{path}")).as_bytes());
    assert!(seen == [501] && text.contains("two slashes"), "{text}");

    let mut busy = Wire::open(address);
    busy.call(1, "SolveLines");
    let request = SolveLinesRequest { lines: Bytes::from(lines(&easy(1))), ..Default::default() };
    busy.send(&frame(DATA, 0, 1, &message(&request)));
    assert!(busy.receive_until(PATIENCE, |frame| frame.kind == DATA).is_some());
    let (seen, text) = statuses(address, ended(&good[0]).as_bytes());
    assert!(seen == [429] && text.contains("retry-after: 1\r\n"), "{text}");
    drop(busy);
    eventually("the end of the call", || daemon.figure("sudoku_calls_open") == 0);
    assert_serving(&daemon);
    Seen::good(format!(
        "{} kinds behind requests of {} kinds: 400, sudoku_calls_refused_total malformed {malformed}; 408 after {:.1} s; 501; 429 with Retry-After: 1",
        bad.len(),
        good.len(),
        begin.elapsed().as_secs_f64()
    ))
}

fn control_floods() -> Seen {
    let floods = [
        frame(PING, 0, 0, b"pingping"),
        frame(SETTINGS, 0, 0, &[]),
        frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 7]),
        frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()),
        frame(DATA, 0, 1, &[]),
        frame(DATA, PADDED, 1, &[0]),
        frame(DATA, PADDED, 1, &[3, 0, 0, 0]),
        frame(99, 0, 0, &[9; 16]),
    ]
    .map(|flood| flood.repeat(100));
    let attack = move |address| {
        let floods = floods.clone();
        let open = move || {
            let mut wire = Wire::open(address);
            wire.call(1, "SolveStream");
            wire
        };
        let mut wires: Vec<Wire> = (0..20).map(|_| open()).collect();
        let mut turn = 0;
        Attack::start(move || {
            turn = (turn + 1) % wires.len();
            let wire = &mut wires[turn];
            let flood = &floods[turn % floods.len()];
            if is_open(wire) && wire.send(flood) {
                return 1;
            }
            *wire = open();
            // Those who come again cost as much as any connection; how often they do is not what this is about.
            pause(Duration::from_millis(10));
            1
        })
    };
    beside(&[], attack, 64, |daemon| {
        let closed = daemon.figure("sudoku_connections_closed_total{reason=\"control_frames\"}");
        assert!(closed >= 20, "{closed}");
        assert!(daemon.log().contains("too many control frames"));
        format!("sudoku_connections_closed_total control_frames {closed}")
    })
}
