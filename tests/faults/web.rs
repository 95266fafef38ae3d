//! HTTP for everybody: JSON, gRPC-Web and browsers, and who abuses them.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, StatusCode};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, eventually, wait_for};
use crate::row::{Row, Seen};
use crate::traffic::{assert_serving, grown, mib, runtime};
use crate::wire::Wire;

/// What an attack may add to the memory of the server, in MiB.
const FLAT: u64 = 64;

const SERVICE: &str = "/sudoku.v1.SudokuService";
const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            number: 57,
            fault: "500 heads and 500 bodies over HTTP/1.1 that stall, and bodies that break off",
            expected: "closed after --handshake-timeout, 429 after --message-timeout; memory flat, serving",
            run: slow_bodies,
        },
        Row {
            number: 58,
            fault: "bodies of 60 GB and without an end; JSON that takes more memory than bytes, 16 at once",
            expected: "429 as soon as the limit is reached, and not read on; memory bounded, serving",
            run: huge_json,
        },
        Row {
            number: 59,
            fault: "JSON 90,000 deep, cut anywhere, twisted, of the wrong types, not UTF-8",
            expected: "400 with a sentence; serving",
            run: bad_json,
        },
        Row {
            number: 60,
            fault: "bad base64: bytes in JSON, gRPC-Web as text",
            expected: "400, or a status; serving",
            run: bad_base64,
        },
        Row {
            number: 61,
            fault: "names that were made to resolve to 127.0.0.1 (DNS rebinding), in both versions of HTTP",
            expected: "403 and no call, for the page as well; serving",
            run: rebinding,
        },
        Row {
            number: 62,
            fault: "pages from elsewhere, by every protocol, with and without a preflight",
            expected: "403, no call, and no header that would let the page read it; serving",
            run: foreign_origins,
        },
        Row {
            number: 63,
            fault: "10,000 pipelined calls whose answers are taken late, or never",
            expected: "all answered, in order; else closed by --idle-timeout; memory flat, serving",
            run: pipelining,
        },
        Row {
            number: 64,
            fault: "heads that a proxy could read differently (request smuggling), huge chunks and trailers",
            expected: "400 and closed, or read as RFC 9112 has it; never a call that was hidden in a body; serving",
            run: smuggling,
        },
    ]
}

/// A call over HTTP/1.1, behind whose answer the server closes unless the headers have it otherwise.
pub fn call(method: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("POST {SERVICE}/{method} HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(given, _)| *given == "connection") {
        head += "connection: close\r\n";
    }
    let has = |name: &str| headers.iter().any(|(given, _)| *given == name);
    if !has("host") {
        head += "host: 127.0.0.1\r\n";
    }
    if !has("content-type") {
        head += "content-type: application/json\r\n";
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

/// A call on a connection that stays open.
pub fn solve(puzzle: &str) -> Vec<u8> {
    call("Solve", &[("connection", "keep-alive")], format!("{{\"puzzle\":\"{puzzle}\"}}").as_bytes())
}

/// What comes back until the server closes, or has said nothing for so long.
fn read_all(wire: &mut Wire, patience: Duration) -> String {
    wire.socket.set_read_timeout(Some(patience)).unwrap();
    let mut bytes = Vec::new();
    // A reset ends it as well.
    let _ = wire.socket.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One exchange on a connection of its own. The status is 0 if the server closes without one.
fn exchange(address: SocketAddr, bytes: &[u8]) -> (u16, String) {
    let mut wire = Wire::bare(address);
    wire.send(bytes);
    let text = read_all(&mut wire, PATIENCE);
    let status = text.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    (status, text)
}

fn slow_bodies() -> Seen {
    const EACH: usize = 500;
    let daemon =
        Daemon::start(&["--handshake-timeout", "1", "--message-timeout", "1", "--max-streams", "600"]);
    let memory = daemon.memory();
    let open = |bytes: &[u8]| {
        let mut wire = Wire::bare(daemon.address);
        wire.send(bytes);
        wire
    };
    let body = call("Solve", &[], &[b' '; 1000]);
    let begin = Instant::now();
    let mut heads: Vec<Wire> = (0..EACH).map(|at| open(&body[..10 + at % 60])).collect();
    let mut bodies: Vec<Wire> = (0..EACH).map(|at| open(&body[..body.len() - 1000 + at % 1000])).collect();
    assert_serving(&daemon);
    let most = grown(&daemon, memory);
    for wire in &mut heads {
        wire.wait_for_end(PATIENCE);
    }
    for wire in &mut bodies {
        let text = read_all(wire, PATIENCE);
        assert!(text.starts_with("HTTP/1.1 429 ") && text.contains("MESSAGE_TIMEOUT_REACHED"), "{text}");
        assert!(text.to_lowercase().contains("connection: close"), "{text}");
    }
    let took = begin.elapsed();
    for length in [0, 1, 500, 999] {
        let mut wire = open(&body[..body.len() - 1000 + length]);
        wire.socket.shutdown(Shutdown::Write).unwrap();
        let text = read_all(&mut wire, PATIENCE);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 400 "), "{length}: {text}");
    }
    assert!(most < FLAT && took < Duration::from_secs(20), "{most} MiB, {took:?}");
    assert_serving(&daemon);
    Seen::good(format!(
        "{EACH} heads closed, {EACH} times 429 MESSAGE_TIMEOUT_REACHED, all within {:.1} s; {most} MiB more at most",
        took.as_secs_f64()
    ))
}

fn huge_json() -> Seen {
    let daemon = Daemon::start(&[]);
    let memory = daemon.memory();
    // What is only claimed.
    let head = format!(
        "POST {SERVICE}/Solve HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: 60000000000\r\n\r\n{{\"puzzle\":\""
    );
    let mut wire = Wire::bare(daemon.address);
    wire.send(head.as_bytes());
    // The server answers, then reads for as long as a lingering close takes.
    let chunk = vec![b'1'; 1 << 16];
    let begin = Instant::now();
    while wire.socket.write_all(&chunk).is_ok() {
        assert!(begin.elapsed() < PATIENCE, "the server reads on");
    }
    let closed = begin.elapsed();
    // What never ends.
    let endless = format!(
        "POST {SERVICE}/Solve HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    let mut wire = Wire::bare(daemon.address);
    wire.send(endless.as_bytes());
    let chunk = [b"10000\r\n".as_slice(), &vec![b'1'; 1 << 16], b"\r\n"].concat();
    let mut answered = String::new();
    wire.socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    while !answered.contains("\r\n\r\n") {
        let _ = wire.socket.write_all(&chunk);
        let mut bytes = [0; 4096];
        if let Ok(read) = wire.socket.read(&mut bytes) {
            answered += &String::from_utf8_lossy(&bytes[..read]);
            assert!(read > 0, "{answered}");
        }
    }
    assert!(answered.starts_with("HTTP/1.1 429 "), "{answered}");
    let flat = grown(&daemon, memory);
    assert!(flat < FLAT, "{flat} MiB");

    // Small elements, of which each takes many bytes when it is read.
    let elements = |open: &str, element: &str, close: &str| {
        let count = ((1 << 20) - open.len() - close.len()) / element.len();
        let list = element.repeat(count);
        format!("{open}{}{close}", list.trim_end_matches(','))
    };
    let bodies = [
        elements("{\"options\":{\"addedColumns\":[", "1,", "]}}"),
        elements("{\"puzzle\":\"", "\\n", "\"}"),
        elements("{\"puzzle\":\"", "\\u000a", "\"}"),
        elements("{\"text\":\"", "Cgo=", "\"}"),
        elements("[", "[],", "]"),
        elements("{", "\"a\":1,", "}"),
        elements(&format!("{{\"puzzle\":\"{PUZZLE}\"}}"), " ", ""),
    ];
    let mut statuses = Vec::new();
    let mut most = 0;
    for body in &bodies {
        let request = call("Solve", &[], body.as_bytes());
        std::thread::scope(|scope| {
            let calls: Vec<_> =
                (0..16).map(|_| scope.spawn(|| exchange(daemon.address, &request).0)).collect();
            while !calls.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                most = most.max(daemon.memory());
            }
            let seen: Vec<u16> = calls.into_iter().map(|call| call.join().unwrap()).collect();
            assert!(seen.iter().all(|status| [200, 400, 429].contains(status)), "{seen:?}");
            statuses.push(seen[0]);
        });
        assert_serving(&daemon);
    }
    let most = mib(most.saturating_sub(memory));
    // Each of the 16 takes up to 20 times its megabyte, and the allocator keeps some of what others have
    // freed: 260 to 323 MiB in ten runs.
    assert!(most < 400, "{most} MiB");
    Seen::good(format!(
        "429, closed after {:.1} s; {} kinds of a megabyte: {statuses:?}, {most} MiB more at most",
        closed.as_secs_f64(),
        bodies.len()
    ))
}

fn bad_json() -> Seen {
    let daemon = Daemon::start(&[]);
    let whole = format!("{{\"options\":{{\"question\":\"QUESTION_UNIQUE\"}},\"puzzle\":\"{PUZZLE}\"}}");
    let mut bodies: Vec<Vec<u8>> = (1..whole.len()).map(|end| whole.as_bytes()[..end].to_vec()).collect();
    for (open, close) in [("[", "]"), ("{\"options\":", "}"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        bodies.push(open.repeat(90_000).into_bytes());
        bodies.push(format!("{}1{}", open.repeat(45_000), close.repeat(45_000)).into_bytes());
    }
    for text in [
        "null x",
        "1",
        "true",
        "\"\"",
        "[]",
        "{}{}",
        "{,}",
        "{\"puzzle\"}",
        "{'puzzle':1}",
        "{\"puzzle\":NaN}",
        "{\"puzzle\":1}",
        "{\"puzzle\":{}}",
        "{\"puzzle\":[\"1\"]}",
        "{\"options\":[]}",
        "{\"options\":7}",
        "{\"options\":{\"nodeLimit\":-1}}",
        "{\"options\":{\"nodeLimit\":1e400}}",
        "{\"options\":{\"nodeLimit\":1.5}}",
        "{\"options\":{\"nodeLimit\":\"18446744073709551616\"}}",
        "{\"options\":{\"order\":4294967296}}",
        "{\"options\":{\"question\":\"QUESTION_WHY\"}}",
        "{\"options\":{\"question\":{}}}",
        "{\"options\":{\"addedColumns\":{\"a\":1}}}",
        "{\"puzzle\":\"\\ud800\"}",
        "{\"puzzle\":\"\\x\"}",
        "{\"puzzle\":\"\u{0}\"}",
        "{\"puzzel\":\"1\"}",
        "{\"puzzle\":\"1\"}//",
        "\u{feff}\u{feff}{}",
        "",
    ] {
        bodies.push(text.as_bytes().to_vec());
    }
    bodies.extend([b"{\"puzzle\":\"\xff\"}".to_vec(), b"\xff\xfe{\0}\0".to_vec(), vec![0; 1000]]);
    for body in &bodies {
        let (status, text) = exchange(daemon.address, &call("Solve", &[], body));
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(status, 400, "{shown}: {text}");
        let json = text.split("\r\n\r\n").nth(1).unwrap();
        let error: serde_json::Value = serde_json::from_str(json).unwrap();
        let message = error["message"].as_str().unwrap();
        assert!(
            error["code"] == "invalid_argument" && message.ends_with('.') && message.len() < 600,
            "{text}"
        );
    }
    assert_serving(&daemon);
    Seen::good(format!("{} bodies, each 400 invalid_argument with a sentence", bodies.len()))
}

fn bad_base64() -> Seen {
    let daemon = Daemon::start(&[]);
    let fields =
        ["!", "A", "AAA=A", "=", "====", "AA==AA==", "\u{e9}", "MS4uLi4uLg\\n", "MQ==\\u0000", "M Q=="];
    for text in fields {
        let (status, answer) =
            exchange(daemon.address, &call("Solve", &[], format!("{{\"text\":\"{text}\"}}").as_bytes()));
        assert!(status == 400 && answer.contains("BODY_INVALID"), "{text}: {answer}");
    }
    let bodies = ["!!!!", "A", "AAAAAAE", "AAAA AAAA", "====", "AAAAAAEK=", "\u{e9}\u{e9}", ""];
    let mut seen = Vec::new();
    for body in bodies {
        let kind = [("content-type", "application/grpc-web-text")];
        let (status, answer) = exchange(daemon.address, &call("Solve", &kind, body.as_bytes()));
        // The status is in a header, or in trailers, which are base64 as the rest.
        let has_status =
            answer.contains("grpc-status: ") || status >= 400 || answer.contains("Z3JwYy1zdGF0dXM");
        assert!(has_status && !answer.contains("grpc-status: 0"), "{body}: {answer}");
        assert!(!answer.contains("tonic-web"), "{body}: {answer}");
        seen.push(status);
    }
    assert_serving(&daemon);
    Seen::good(format!(
        "{} fields: 400 BODY_INVALID; {} texts of gRPC-Web: each a status",
        fields.len(),
        bodies.len()
    ))
}

/// One exchange over HTTP/2.
async fn over_http2(address: SocketAddr, request: Request<()>, body: &[u8]) -> StatusCode {
    let socket = TcpStream::connect(address).await.unwrap();
    let (mut send, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let (response, mut stream) = send.send_request(request, false).unwrap();
    // It may be refused by then.
    let _ = stream.send_data(Bytes::copy_from_slice(body), true);
    timeout(PATIENCE, response).await.unwrap().unwrap().status()
}

fn post(authority: &str, kind: &str, origin: Option<&str>) -> Request<()> {
    let mut request = Request::post(format!("http://{authority}{SERVICE}/ListDatasets"))
        .header("content-type", kind)
        .header("te", "trailers");
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    request.body(()).unwrap()
}

fn rebinding() -> Seen {
    let daemon = Daemon::with_figures(&[]);
    let port = daemon.address.port();
    let names = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost:{port}.evil.example"),
        format!("127.0.0.1@evil.example:{port}"),
        format!("evil.example#127.0.0.1:{port}"),
        "10.0.0.1".to_owned(),
        "[::ffff:10.0.0.1]".to_owned(),
        "\u{ff11}27.0.0.1".to_owned(),
        String::new(),
        "localhost evil.example".to_owned(),
    ];
    for name in &names {
        for request in [
            call("ListDatasets", &[("host", name)], b"{}"),
            call("ListDatasets", &[("host", name), ("origin", &format!("http://{name}"))], b"{}"),
            format!("GET / HTTP/1.1\r\nhost: {name}\r\nconnection: close\r\n\r\n").into_bytes(),
            // The target of the request counts, not the header.
            format!(
                "GET http://evil.example/ HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n"
            )
            .into_bytes(),
        ] {
            let (status, answer) = exchange(daemon.address, &request);
            assert!([400, 403].contains(&status), "{name}: {answer}");
        }
    }
    let runtime = runtime();
    for name in ["evil.example", "127.0.0.1.evil.example", "10.0.0.1:80"] {
        for kind in ["application/json", "application/grpc-web", "application/proto"] {
            let status = runtime.block_on(over_http2(daemon.address, post(name, kind, None), b"{}"));
            assert_eq!(status, StatusCode::FORBIDDEN, "{name} {kind}");
        }
    }
    assert_eq!(calls(&daemon), 0);
    for own in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        "[::1]".to_owned(),
        "a.localhost".to_owned(),
    ] {
        assert_eq!(exchange(daemon.address, &call("ListDatasets", &[("host", &own)], b"{}")).0, 200, "{own}");
    }
    assert_serving(&daemon);
    Seen::good(format!("{} names: 403, and the page and all calls refused", names.len() + 3))
}

/// The calls of data sets that were let in.
fn calls(daemon: &Daemon) -> u64 {
    daemon.figure("sudoku_calls_total{method=\"ListDatasets\",status=\"OK\"}")
}

fn foreign_origins() -> Seen {
    let daemon = Daemon::with_figures(&["--allow-origin", "https://play.example.org"]);
    let port = daemon.address.port();
    let origins = [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        "file://".to_owned(),
        "https://play.example.org.evil.example".to_owned(),
        "https://play.example.org:444".to_owned(),
        "http://play.example.org".to_owned(),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://localhost:{port}@evil.example"),
        "chrome-extension://abcdefgh".to_owned(),
        "*".to_owned(),
        String::new(),
    ];
    let kinds = [
        "application/json",
        "text/plain",
        "application/grpc-web",
        "application/grpc-web-text",
        "application/proto",
    ];
    let runtime = runtime();
    for origin in &origins {
        for kind in kinds {
            let (status, answer) = exchange(
                daemon.address,
                &call("ListDatasets", &[("origin", origin), ("content-type", kind)], b"{}"),
            );
            assert!(status == 403 && !answer.contains("access-control-"), "{origin} {kind}: {answer}");
        }
        let preflight = format!(
            "OPTIONS {SERVICE}/ListDatasets HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\norigin: {origin}\r\n\
             access-control-request-method: POST\r\naccess-control-request-headers: content-type\r\n\r\n"
        );
        let (status, answer) = exchange(daemon.address, preflight.as_bytes());
        assert!(status == 403 && !answer.contains("access-control-"), "{origin}: {answer}");
    }
    for kind in kinds.into_iter().chain(["application/grpc"]) {
        let request = post("127.0.0.1", kind, Some("http://evil.example"));
        assert_eq!(
            runtime.block_on(over_http2(daemon.address, request, b"{}")),
            StatusCode::FORBIDDEN,
            "{kind}"
        );
    }
    let two = call(
        "ListDatasets",
        &[("origin", "https://play.example.org"), ("origin", "http://evil.example")],
        b"{}",
    );
    assert_eq!(exchange(daemon.address, &two).0, 403);
    assert_eq!(calls(&daemon), 0);
    let refused = daemon.figure("sudoku_calls_refused_total{reason=\"origin\"}");
    let (status, answer) =
        exchange(daemon.address, &call("ListDatasets", &[("origin", "https://play.example.org")], b"{}"));
    assert!(
        status == 200 && answer.contains("access-control-allow-origin: https://play.example.org"),
        "{answer}"
    );
    assert_eq!(calls(&daemon), 1);
    assert_serving(&daemon);
    Seen::good(format!(
        "{} origins, {refused} requests refused, no call; the one that is allowed is let in",
        origins.len()
    ))
}

fn pipelining() -> Seen {
    const REQUESTS: usize = 10_000;
    // It closes a second behind the last answer.
    let daemon = Daemon::start(&["--idle-timeout", "1", "--handshake-timeout", "1"]);
    let memory = daemon.memory();
    let bad = &PUZZLE[1..];
    let mut wire = Wire::bare(daemon.address);
    let mut writer = wire.socket.try_clone().unwrap();
    let begin = Instant::now();
    let writing = std::thread::spawn(move || {
        for at in 0..REQUESTS {
            writer.write_all(&solve(if at % 3 == 0 { bad } else { PUZZLE })).unwrap();
        }
    });
    let text = read_all(&mut wire, PATIENCE);
    writing.join().unwrap();
    let took = begin.elapsed();
    let answers: Vec<&str> = text.split("HTTP/1.1 200 OK").skip(1).collect();
    assert_eq!(answers.len(), REQUESTS);
    for (at, answer) in answers.iter().enumerate() {
        let wanted = if at % 3 == 0 { "ERROR_CODE_WRONG_LENGTH" } else { SOLUTION };
        assert!(answer.contains(wanted), "{at}: {answer}");
    }
    // Nobody takes the answers: the server stops reading, then closes.
    let mut wire = Wire::bare(daemon.address);
    let requests = solve(PUZZLE).repeat(1000);
    let length = requests.len() / 1000;
    let mut most = 0;
    let mut sent = 0;
    let begin = Instant::now();
    wait_for("the end of the connection", || {
        most = most.max(daemon.memory());
        wire.socket.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        match wire.socket.write(&requests[sent % length..]) {
            Ok(written) => sent += written,
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => return Some(()),
        }
        None
    });
    let ended = begin.elapsed();
    let most = mib(most.saturating_sub(memory));
    assert!(most < FLAT, "{most} MiB");
    eventually("the socket of the server to be gone", || daemon.open_files() < 40);
    assert_serving(&daemon);
    Seen::good(format!(
        "{REQUESTS} answered in order in {:.1} s; untaken, the server read {} kB and closed after {:.1} s, {most} MiB more",
        took.as_secs_f64(),
        sent >> 10,
        ended.as_secs_f64()
    ))
}

fn smuggling() -> Seen {
    let daemon = Daemon::with_figures(&["--handshake-timeout", "1", "--message-timeout", "1"]);
    let line = format!("POST {SERVICE}/Check HTTP/1.1\r\n");
    let rest = "host: 127.0.0.1\r\ncontent-type: application/json\r\n";
    // A call that must never be made: no other one has this method.
    let hidden = format!(
        "POST {SERVICE}/ListDatasets HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: 2\r\n\r\n{{}}"
    );
    let length = hidden.len();
    let body = format!("0\r\n\r\n{hidden}");
    let whole = body.len();
    let heads = [
        // Two lengths, lengths that are none.
        format!("{line}{rest}content-length: 0\r\ncontent-length: {length}\r\n\r\n{hidden}"),
        format!("{line}{rest}content-length: 0, {length}\r\n\r\n{hidden}"),
        format!("{line}{rest}content-length: +{length}\r\n\r\n{hidden}"),
        format!("{line}{rest}content-length: -1\r\n\r\n{hidden}"),
        format!("{line}{rest}content-length: 0x{length:x}\r\n\r\n{hidden}"),
        format!("{line}{rest}content-length: {length}.0\r\n\r\n{hidden}"),
        format!("{line}{rest}content-length: 99999999999999999999999999\r\n\r\n{hidden}"),
        // Encodings that one reader knows and another does not.
        format!("{line}{rest}content-length: {whole}\r\ntransfer-encoding: xchunked\r\n\r\n{body}"),
        format!("{line}{rest}content-length: {whole}\r\ntransfer-encoding: chunked, identity\r\n\r\n{body}"),
        format!("{line}{rest}content-length: {whole}\r\ntransfer-encoding : chunked\r\n\r\n{body}"),
        format!("{line}{rest}content-length: {whole}\r\n transfer-encoding: chunked\r\n\r\n{body}"),
        format!("{line}{rest}content-length: {whole}\r\ntransfer-encoding\t: chunked\r\n\r\n{body}"),
        format!("{line}{rest}content-length: {whole}\r\nx: y\rtransfer-encoding: chunked\r\n\r\n{body}"),
        format!("{line}{rest}content-length: {whole}\r\ntransfer_encoding: chunked\0\r\n\r\n{body}"),
        format!("{line}{rest}transfer-encoding: identity\r\n\r\n{body}"),
        format!("POST {SERVICE}/Check HTTP/1.0\r\n{rest}transfer-encoding: chunked\r\n\r\n{body}"),
        // Lines and chunks that are not quite as they should be.
        format!("POST {SERVICE}/Check HTTP/1.1 \r\n{rest}content-length: {length}\r\n\r\n{hidden}"),
        format!("POST\t{SERVICE}/Check HTTP/1.1\r\n{rest}content-length: {length}\r\n\r\n{hidden}"),
        format!("POST {SERVICE}/Check\r\n{rest}content-length: {length}\r\n\r\n{hidden}"),
        format!("{line}{rest}transfer-encoding: chunked\r\n\r\n0x0\r\n\r\n{hidden}"),
        format!("{line}{rest}transfer-encoding: chunked\r\n\r\n-1\r\n\r\n{hidden}"),
        format!("{line}{rest}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{hidden}"),
        format!("{line}{rest}transfer-encoding: chunked\r\n\r\n{length:x}\r\n{hidden}XX0\r\n\r\n"),
        format!("{line}{rest}transfer-encoding: chunked\r\n\r\n1;{}\r\n", "a=b;".repeat(100_000)),
        format!("{line}{rest}transfer-encoding: chunked\r\n\r\n0\r\n{}", "x: y\r\n".repeat(100_000)),
        format!("{line}{rest}content-length: {length}\r\nexpect: 200-maybe\r\n\r\n{hidden}"),
        format!("{line}{rest}{}content-length: {length}\r\n\r\n{hidden}", "x: y\r\n".repeat(10_000)),
        format!(
            "{line}host: a\r\nhost: b\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{hidden}"
        ),
        format!(
            "{line}{rest}upgrade: h2c\r\nconnection: upgrade, http2-settings\r\ncontent-length: {length}\r\n\r\n{hidden}"
        ),
        format!("CONNECT 127.0.0.1:80 HTTP/1.1\r\n{rest}content-length: {length}\r\n\r\n{hidden}"),
    ];
    let mut closed = 0;
    for head in &heads {
        let mut wire = Wire::bare(daemon.address);
        wire.send(head.as_bytes());
        let answer = read_all(&mut wire, PATIENCE);
        let shown = &head[line.len().min(head.len())..head.len().min(250)];
        // One answer at most, to the call that was meant or to none.
        assert!(answer.matches("HTTP/1.1 ").count() <= 1, "{shown:?}: {answer}");
        assert!(!answer.starts_with("HTTP/1.1 200") || answer.contains("grids"), "{shown:?}: {answer}");
        closed += 1;
    }
    // A length beside chunks is for one reader the end of the body, and for another it is not.
    let both = format!(
        "{line}{rest}content-length: {whole}\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    );
    let (status, answer) = exchange(daemon.address, both.as_bytes());
    assert_eq!(status, 400, "{answer}");
    assert_eq!(calls(&daemon), 0, "a hidden call was made");
    assert_eq!(exchange(daemon.address, hidden.as_bytes()).0, 200);
    assert_eq!(calls(&daemon), 1);
    assert_serving(&daemon);
    Seen::good(format!("{closed} kinds closed with one answer at most; no hidden call was made"))
}
