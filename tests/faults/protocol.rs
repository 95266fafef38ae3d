//! Peers that do not speak HTTP/2, or speak it to do harm.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _};
use std::net::Shutdown;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::SolveLinesRequest;

use crate::harness::Random;
use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, eventually, lines};
use crate::row::{Row, Seen};
use crate::traffic::{assert_serving, easy, grown, settled};
use crate::wire::{
    ACK, COMPRESSION_ERROR, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, Flood, Frame,
    GOAWAY, HEADERS, PING, PREFACE, PRIORITY, REFUSED_STREAM, REMEMBERED, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, Wire, call_headers, claim, frame, header, message, remembered_header,
};

/// What a flood may add to the memory of the server, in MiB.
const FLAT: u64 = 24;

/// What small frames that nobody reads may add, in MiB: half a kilobyte for each of the million that the window of a connection
/// pays for.
const UNREAD: u64 = 640;

/// The frames of a flood.
const FRAMES: usize = 50_000;

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            number: 6,
            fault: "silence, random bytes, parts of a preface, a TLS hello, HTTP/1.1",
            expected: "closed after --handshake-timeout at the latest; serving",
            run: strangers,
        },
        Row {
            number: 6,
            fault: "a whole preface, then silence; a preface byte by byte",
            expected: "closed by keep-alive, and by --handshake-timeout",
            run: silent_after_the_preface,
        },
        Row {
            number: 7,
            fault: "streams opened and reset, 20,000 in a burst",
            expected: "GOAWAY, memory flat, serving",
            run: reset_burst,
        },
        Row {
            number: 7,
            fault: "streams opened and reset, 10,000 at a pace",
            expected: "bounded processor time, memory flat, serving",
            run: paced_resets,
        },
        Row {
            number: 8,
            fault: "CONTINUATION without end",
            expected: "the connection is ended, memory flat, serving",
            run: continuation_flood,
        },
        Row {
            number: 8,
            fault: "50,000 empty DATA frames",
            expected: "ENHANCE_YOUR_CALM or taken; memory flat, serving",
            run: empty_data_flood,
        },
        Row {
            number: 8,
            fault: "50,000 DATA frames of a byte",
            expected: "ENHANCE_YOUR_CALM or taken; memory flat, serving",
            run: one_byte_data_flood,
        },
        Row {
            number: 8,
            fault: "1,600,000 DATA frames of a byte on streams whose answers are not taken",
            expected: "ENHANCE_YOUR_CALM; memory bounded and given back, serving",
            run: unread_data_flood,
        },
        Row {
            number: 9,
            fault: "200,000 PING, SETTINGS, PRIORITY, WINDOW_UPDATE, unknown frames each, and nothing is read",
            expected: "memory flat, serving",
            run: control_floods,
        },
        Row {
            number: 10,
            fault: "1,000 streams on a connection",
            expected: "those above --max-streams-per-connection are refused; memory flat, serving",
            run: too_many_streams,
        },
        Row {
            number: 11,
            fault: "a header list of 1 MB; one header repeated 100,000 times by a byte",
            expected: "refused; memory flat, serving",
            run: large_headers,
        },
    ]
}

/// The first word of a TLS client: a record with a `ClientHello` of TLS 1.2 and its length.
const TLS_HELLO: &[u8] = b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03";

fn strangers() -> Seen {
    let daemon = Daemon::start(&["--handshake-timeout", "1"]);
    let mut random = Random(6);
    let mut words: Vec<Vec<u8>> = vec![
        Vec::new(),
        PREFACE[..1].to_vec(),
        PREFACE[..12].to_vec(),
        PREFACE[..23].to_vec(),
        TLS_HELLO.to_vec(),
        [TLS_HELLO, &[7; 300]].concat(),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"GET /".to_vec(),
        b"POST /sudoku.v1.SudokuService/Solve HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n".to_vec(),
    ];
    for length in [1, 9, 24, 25, 1000, 100_000] {
        words.push((0..length).map(|_| random.next().to_le_bytes()[0]).collect());
        // The same where frames are expected.
        let nonsense = words.last().unwrap().clone();
        words.push([PREFACE, &frame(SETTINGS, 0, 0, &[]), &[255; 9], &nonsense].concat());
    }
    let mut wires: Vec<Wire> = words
        .iter()
        .map(|words| {
            let mut wire = Wire::bare(daemon.address);
            wire.send(words);
            wire
        })
        .collect();
    assert_serving(&daemon);
    let longest = wires.iter_mut().map(|wire| wire.wait_for_end(PATIENCE)).max().unwrap();
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    assert_serving(&daemon);
    Seen::good(format!("{} kinds, the last closed after {:.1} s", words.len(), longest.as_secs_f64()))
}

/// Reads for so long. Does the server close by then?
fn has_ended(wire: &mut Wire, time: Duration) -> bool {
    let begin = Instant::now();
    loop {
        let left = time.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return false;
        }
        wire.socket.set_read_timeout(Some(left)).unwrap();
        match wire.socket.read(&mut [0; 64]) {
            Ok(0) => return true,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return true,
            _ => {}
        }
    }
}

fn silent_after_the_preface() -> Seen {
    const PAUSE: Duration = Duration::from_millis(250);
    let flags = ["--handshake-timeout", "1", "--keepalive-interval", "1", "--keepalive-timeout", "1"];
    let daemon = Daemon::start(&flags);
    let mut silent = Wire::bare(daemon.address);
    silent.send(PREFACE);
    let mut slow = Wire::bare(daemon.address);
    let begin = Instant::now();
    // Each byte comes soon after the other; all of them take six seconds.
    let is_ended = PREFACE.iter().any(|byte| !slow.send(&[*byte]) || has_ended(&mut slow, PAUSE));
    let slow_end = begin.elapsed();
    assert!(is_ended, "a peer of one byte in a quarter of a second was waited for");
    let silent_end = slow_end + silent.wait_for_end(PATIENCE);
    assert_serving(&daemon);
    Seen::good(format!(
        "silent one closed after {:.1} s, slow one after {:.1} s",
        silent_end.as_secs_f64(),
        slow_end.as_secs_f64()
    ))
}

/// A stream that is opened and reset.
fn opened_and_reset(stream: u32) -> Vec<u8> {
    let open = frame(HEADERS, END_HEADERS, stream, &call_headers("SolveStream"));
    [open, frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
}

/// The numbers of a client's streams.
fn streams(count: usize) -> impl Iterator<Item = u32> {
    (1..).step_by(2).take(count)
}

fn reset_burst() -> Seen {
    let daemon = Daemon::start(&[]);
    let (memory, cpu) = (daemon.memory(), daemon.cpu());
    let mut wire = Wire::open(daemon.address);
    let frames = wire.listen();
    let burst: Vec<u8> = streams(20_000).flat_map(opened_and_reset).collect();
    wire.flood(&burst, 1);
    let goaway = frames.iter().find(|frame| frame.kind == GOAWAY).expect("the connection is ended");
    assert_eq!(goaway.reason(), ENHANCE_YOUR_CALM);
    assert_serving(&daemon);
    let (grown, cpu) = (grown(&daemon, memory), daemon.cpu_since(cpu));
    assert!(grown < FLAT, "{grown} MiB");
    Seen::good(format!("GOAWAY ENHANCE_YOUR_CALM, {grown} MiB more, {} ms of CPU", cpu.as_millis()))
}

fn paced_resets() -> Seen {
    const PAIRS: usize = 10_000;
    /// So few that each is accepted before it is reset.
    const TOGETHER: usize = 10;
    let daemon = Daemon::start(&[]);
    let (memory, cpu) = (daemon.memory(), daemon.cpu());
    let mut wire = Wire::open(daemon.address);
    let mut done = 0;
    for chunk in streams(PAIRS).collect::<Vec<_>>().chunks(TOGETHER) {
        let pairs: Vec<u8> = chunk.iter().flat_map(|&stream| opened_and_reset(stream)).collect();
        if !wire.send(&pairs) || !wire.ping(PATIENCE) {
            break;
        }
        done += chunk.len();
    }
    assert_serving(&daemon);
    let (grown, cpu) = (grown(&daemon, memory), daemon.cpu_since(cpu));
    assert!(grown < FLAT, "{grown} MiB");
    // Many times what it takes; a pair costs some 15 us, in a build that is not optimised ten times that.
    assert!(cpu < Duration::from_secs(10), "{cpu:?}");
    Seen::good(format!(
        "{done} pairs taken, {:.0} us of CPU each, {grown} MiB more",
        cpu.as_secs_f64() * 1e6 / done.max(1) as f64
    ))
}

/// What a server says to a flood, and what became of it.
fn end_of(wire: &Wire, flood: &Flood, frames: &Receiver<Frame>) -> String {
    let _ = wire.socket.shutdown(Shutdown::Write);
    let said = frames.iter().filter(|frame| matches!(frame.kind, GOAWAY | RST_STREAM));
    match said.map(|frame| frame.reason()).find(|&reason| reason != 0) {
        Some(ENHANCE_YOUR_CALM) => "ENHANCE_YOUR_CALM".to_owned(),
        Some(reason) => format!("error {reason}"),
        None => format!("{flood:?}").to_lowercase(),
    }
}

fn continuation_flood() -> Seen {
    let daemon = Daemon::start(&[]);
    let memory = daemon.memory();
    let mut wire = Wire::open(daemon.address);
    let frames = wire.listen();
    wire.send(&frame(HEADERS, 0, 1, &call_headers("SolveStream")));
    let flood = wire.flood(&frame(CONTINUATION, 0, 1, &header("x-more", "and more")), FRAMES);
    let end = end_of(&wire, &flood, &frames);
    assert!(flood == Flood::Ended || end == "ENHANCE_YOUR_CALM", "{flood:?}, {end}");
    assert_serving(&daemon);
    let grown = grown(&daemon, memory);
    assert!(grown < FLAT, "{grown} MiB");
    Seen::good(format!("{end}, {grown} MiB more"))
}

fn empty_data_flood() -> Seen {
    data_flood(&[], &[])
}

fn one_byte_data_flood() -> Seen {
    data_flood(&claim(1 << 19), &[0])
}

/// The same where nobody reads the streams, since their answers are not taken.
fn unread_data_flood() -> Seen {
    const STREAMS: usize = 4;
    const EACH: usize = 400_000;
    let daemon = Daemon::start(&[]);
    let memory = daemon.memory();
    let mut wire = Wire::open(daemon.address);
    let request = SolveLinesRequest { lines: Bytes::from(lines(&easy(500))), ..SolveLinesRequest::default() };
    for stream in streams(STREAMS) {
        wire.call(stream, "SolveLines");
        for part in message(&request).repeat(12).chunks(16_000) {
            wire.send(&frame(DATA, 0, stream, part));
        }
    }
    settled(&daemon);
    let frames = wire.listen();
    let mut most = 0;
    for stream in streams(STREAMS) {
        let flood = wire.flood(&frame(DATA, 0, stream, &[0]).repeat(100), EACH / 100);
        settled(&daemon);
        // A table that has grown leaves its old memory to the allocator, which gives it back later.
        eventually("memory within its bound", || grown(&daemon, memory) < UNREAD);
        most = most.max(grown(&daemon, memory));
        if flood != Flood::Taken {
            break;
        }
    }
    let end = end_of(&wire, &Flood::Taken, &frames);
    assert!(most < UNREAD, "{end}, {most} MiB");
    drop(wire);
    // The allocator gives back what is free when it is next asked for some.
    eventually("the memory's return", || {
        assert_serving(&daemon);
        grown(&daemon, memory) < 2 * FLAT
    });
    let left = grown(&daemon, memory);
    Seen::good(format!("{end}, {most} MiB more at most, {left} MiB when it has gone"))
}

/// Many DATA frames with as little in them as there may be.
fn data_flood(first: &[u8], each: &[u8]) -> Seen {
    let daemon = Daemon::start(&[]);
    let (memory, cpu) = (daemon.memory(), daemon.cpu());
    let mut wire = Wire::open(daemon.address);
    let frames = wire.listen();
    wire.call(1, "SolveStream");
    wire.send(&frame(DATA, 0, 1, first));
    let flood = wire.flood(&frame(DATA, 0, 1, each).repeat(100), FRAMES / 100);
    settled(&daemon);
    let (grown, cpu) = (grown(&daemon, memory), daemon.cpu_since(cpu));
    assert_serving(&daemon);
    let end = end_of(&wire, &flood, &frames);
    // Frames that arrive faster than they are read lie in memory for a moment.
    assert!(grown < 2 * FLAT, "{grown} MiB");
    assert!(cpu < Duration::from_secs(5), "{cpu:?}");
    Seen::good(format!("{end}, {grown} MiB more, {} ms of CPU", cpu.as_millis()))
}

fn control_floods() -> Seen {
    const EACH: usize = 200_000;
    let daemon = Daemon::start(&[]);
    let memory = daemon.memory();
    let setting = [&3_u16.to_be_bytes()[..], &100_u32.to_be_bytes()].concat();
    let floods = [
        ("PING", frame(PING, 0, 0, b"pingping")),
        ("PING answers", frame(PING, ACK, 0, b"pingping")),
        ("SETTINGS", frame(SETTINGS, 0, 0, &setting)),
        ("SETTINGS answers", frame(SETTINGS, ACK, 0, &[])),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 7])),
        ("WINDOW_UPDATE", frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes())),
        ("unknown", frame(99, 0, 0, &[9; 16])),
    ];
    let mut ends = Vec::new();
    let mut wires = Vec::new();
    for (name, flood) in &floods {
        let mut wire = Wire::open(daemon.address);
        let end = wire.flood(&flood.repeat(100), EACH / 100);
        settled(&daemon);
        ends.push(format!("{name} {end:?}").to_lowercase());
        wires.push(wire);
        let grown = grown(&daemon, memory);
        assert!(grown < FLAT, "{name}: {grown} MiB");
        assert_serving(&daemon);
    }
    Seen::good(format!("{}; {} MiB more", ends.join(", "), grown(&daemon, memory)))
}

fn too_many_streams() -> Seen {
    const STREAMS: usize = 1000;
    let daemon = Daemon::start(&["--max-streams-per-connection", "120"]);
    let memory = daemon.memory();
    let mut wire = Wire::open(daemon.address);
    for stream in streams(STREAMS) {
        assert!(wire.call(stream, "SolveStream"));
    }
    assert!(wire.send(&frame(PING, 0, 0, b"are you?")));
    let mut reasons = BTreeMap::new();
    while let Some(frame) = wire.receive(PATIENCE) {
        match frame.kind {
            RST_STREAM => *reasons.entry(frame.reason()).or_insert(0) += 1,
            PING if frame.flags == ACK => break,
            GOAWAY => panic!("the connection was ended: {}", frame.reason()),
            _ => {}
        }
    }
    assert_eq!(reasons, BTreeMap::from([(REFUSED_STREAM, STREAMS - 120)]));
    assert_serving(&daemon);
    let grown = grown(&daemon, memory);
    assert!(grown < FLAT, "{grown} MiB");
    Seen::good(format!("{} refused with REFUSED_STREAM, {grown} MiB more", STREAMS - 120))
}

fn large_headers() -> Seen {
    let daemon = Daemon::start(&["--max-header-bytes", "8192"]);
    let memory = daemon.memory();
    let mut seen = Vec::new();
    let long = call_headers("SolveStream");
    let megabyte: Vec<u8> = [&long[..], &header("x-filler", &"x".repeat(900)).repeat(1100)].concat();
    let repeated: Vec<u8> =
        [&long[..], &remembered_header("x-filler", &"x".repeat(3900)), &[REMEMBERED].repeat(100_000)]
            .concat();
    for (name, block) in [("1 MB", megabyte), ("repeated", repeated)] {
        let mut wire = Wire::open(daemon.address);
        let frames = wire.listen();
        // The frames of the block follow each other, as they have to.
        let parts: Vec<&[u8]> = block.chunks(16_000).collect();
        for (k, part) in parts.iter().enumerate() {
            let kind = if k == 0 { HEADERS } else { CONTINUATION };
            let flags = (END_STREAM * u8::from(k == 0)) | (END_HEADERS * u8::from(k + 1 == parts.len()));
            wire.send(&frame(kind, flags, 1, part));
        }
        let answer = frames.iter().find(|frame| frame.ends_stream() || frame.kind == GOAWAY);
        let answer = answer.map(|frame| match frame.kind {
            HEADERS => "a response that refuses".to_owned(),
            GOAWAY if frame.reason() == ENHANCE_YOUR_CALM => "ENHANCE_YOUR_CALM".to_owned(),
            GOAWAY if frame.reason() == COMPRESSION_ERROR => "COMPRESSION_ERROR".to_owned(),
            _ => format!("error {}", frame.reason()),
        });
        seen.push(format!("{name}: {}", answer.as_deref().unwrap_or("closed")));
        assert_serving(&daemon);
    }
    let grown = grown(&daemon, memory);
    assert!(grown < FLAT, "{grown} MiB");
    Seen::good(format!("{}; {grown} MiB more", seen.join(", ")))
}
