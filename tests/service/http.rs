//! The ways in beside gRPC: JSON and binary messages over HTTP/1.1 and HTTP/2, gRPC-Web, and the
//! page; and what keeps pages from elsewhere out.

use std::future::poll_fn;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use prost::Message as _;
use serde_json::{Value, json};
use sudoku_stream::service::proto::{
    GenerateRequest, GenerateResponse, Question, SolveLinesRequest, SolveLinesResponse, SolveOptions,
    SolveRequest, SolveResponse, TraceRequest,
};
use sudoku_stream::service::{CallObserver, CallRecord, Config, Limits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::server::{Running, all_of, config, start};
use crate::harness::{PATIENCE, solution};

const SERVICE: &str = "/sudoku.v1.SudokuService";
const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// A response over HTTP/1.1.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The envelopes of a body: flags and messages.
    fn envelopes(&self) -> Vec<(u8, &[u8])> {
        let (mut rest, mut found) = (&self.body[..], Vec::new());
        while let Some((&[flags, length @ ..], tail)) = rest.split_first_chunk::<5>() {
            let (message, tail) = tail.split_at(u32::from_be_bytes(length) as usize);
            found.push((flags, message));
            rest = tail;
        }
        assert!(rest.is_empty());
        found
    }
}

/// A connection over HTTP/1.1, on which everything is written by hand.
struct Connection(TcpStream);

impl Connection {
    async fn open(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Reads one response. `None` if the connection is closed before it.
    async fn reply(&mut self) -> Option<Reply> {
        timeout(PATIENCE, self.read()).await.expect("the server answers or closes")
    }

    async fn byte(&mut self) -> Option<u8> {
        self.0.read_u8().await.ok()
    }

    async fn read(&mut self) -> Option<Reply> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.byte().await?);
        }
        let head = String::from_utf8(head).unwrap();
        let status = head.split(' ').nth(1)?.parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new() };
        if reply.header("transfer-encoding") == Some("chunked") {
            loop {
                let mut line = Vec::new();
                while !line.ends_with(b"\r\n") {
                    line.push(self.byte().await?);
                }
                let length = usize::from_str_radix(str::from_utf8(&line).unwrap().trim(), 16).unwrap();
                let mut chunk = vec![0; length + 2];
                self.0.read_exact(&mut chunk).await.ok()?;
                reply.body.extend_from_slice(&chunk[..length]);
                if length == 0 {
                    break;
                }
            }
        } else {
            let length = reply.header("content-length").map_or(0, |length| length.parse().unwrap());
            reply.body.resize(length, 0);
            self.0.read_exact(&mut reply.body).await.ok()?;
        }
        Some(reply)
    }

    async fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        // A reset is an end as well.
        let _ = timeout(PATIENCE, self.0.read_to_end(&mut rest)).await.expect("the server closes");
        rest.is_empty()
    }
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "host") {
        head += "host: 127.0.0.1\r\n";
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

async fn exchange(server: &Running, bytes: impl AsRef<[u8]>) -> Reply {
    let mut connection = Connection::open(server.address).await;
    connection.send(bytes).await;
    connection.reply().await.expect("a response")
}

async fn call(server: &Running, method: &str, body: &Value) -> Reply {
    post(server, method, "application/json", body.to_string().as_bytes()).await
}

async fn post(server: &Running, method: &str, kind: &str, body: &[u8]) -> Reply {
    exchange(server, request("POST", &format!("{SERVICE}/{method}"), &[("content-type", kind)], body)).await
}

async fn get(server: &Running, path: &str, headers: &[(&str, &str)]) -> Reply {
    exchange(server, request("GET", path, headers, b"")).await
}

fn envelope(message: &[u8]) -> Vec<u8> {
    [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat()
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The code, the reason and the id of a failure.
fn failure(reply: &Reply) -> (String, String) {
    let error = reply.json();
    let detail = |name: &str| {
        let details = error["details"].as_array().unwrap();
        details.iter().find(|detail| detail["type"] == name).unwrap()["debug"].clone()
    };
    let id = detail("google.rpc.RequestInfo")["requestId"].clone();
    assert_eq!(Some(id.as_str().unwrap()), reply.header("x-request-id"), "{error}");
    let reason = detail("google.rpc.ErrorInfo")["reason"].as_str().unwrap().to_owned();
    (error["code"].as_str().unwrap().to_owned(), reason)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_puzzle_in_json_is_solved() {
    let server = start(config()).await;
    let text = base64(&format!("{PUZZLE}\n{}\n", &PUZZLE[1..]));
    let body = json!({ "text": text, "options": { "question": "QUESTION_UNIQUE", "nodeLimit": "1000" } });
    let reply = call(&server, "Solve", &body).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    let answers = reply.json()["answers"].clone();
    assert_eq!(answers[0]["solution"], SOLUTION);
    assert_eq!(answers[1]["error"]["code"], "ERROR_CODE_WRONG_LENGTH");
    assert_eq!(answers[1]["error"]["line"], "2");
    // The names of the contract do as well.
    let other = json!({ "text": text, "options": { "question": 2, "node_limit": 1000 } });
    assert_eq!(call(&server, "Solve", &other).await.json()["answers"], answers);

    // gRPC gives the same.
    let options = SolveOptions { question: Question::Unique.into(), node_limit: 1000, ..Default::default() };
    let text = format!("{PUZZLE}\n{}\n", &PUZZLE[1..]).into();
    let message = SolveRequest { options: Some(options), text, ..Default::default() };
    let by_grpc = server.client().await.solve(message.clone()).await.unwrap().into_inner();
    let binary = post(&server, "Solve", "application/proto", &message.encode_to_vec()).await;
    assert_eq!((binary.status, binary.header("content-type")), (200, Some("application/proto")));
    assert_eq!(SolveResponse::decode(&*binary.body).unwrap(), by_grpc);
    for (json, answer) in answers.as_array().unwrap().iter().zip(&by_grpc.answers) {
        let nodes = json["metrics"]["nodes"].as_str().unwrap_or("0");
        assert_eq!(nodes.parse(), Ok(answer.metrics.unwrap().nodes));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_unary_method_speaks_json() {
    let server = start(config()).await;
    let text = base64(PUZZLE);
    let count = call(&server, "Count", &json!({ "text": text })).await.json();
    assert_eq!((&count["count"], &count["countIsExact"]), (&json!("1"), &json!(true)));
    let valid = call(&server, "Validate", &json!({ "text": text })).await.json();
    assert_eq!((&valid["valid"], &valid["puzzles"]), (&json!(true), &json!("1")));
    let check = call(&server, "Check", &json!({ "text": base64(SOLUTION) })).await.json();
    assert_eq!(check["grids"][0]["message"], "The puzzle is correctly solved.");
    assert_eq!(call(&server, "ListDatasets", &json!({})).await.text(), "{}");
    let missing = call(&server, "GetPuzzle", &json!({ "name": "none" })).await;
    assert_eq!(missing.status, 404);
    assert_eq!(failure(&missing), ("not_found".to_owned(), "DATASET_NOT_FOUND".to_owned()));
    let health =
        request("POST", "/grpc.health.v1.Health/Check", &[("content-type", "application/json")], b"{}");
    assert_eq!(exchange(&server, health).await.json()["status"], "SERVING");
}

/// A text packed by gzip.
fn packed(text: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_connect_may_be_packed_both_ways() {
    let server = start(config()).await;
    let ask = |method: &str, headers: &[(&str, &str)], body: &[u8]| {
        let sent = request("POST", &format!("{SERVICE}/{method}"), headers, body);
        let server = &server;
        async move { exchange(server, sent).await }
    };
    let text = json!({ "text": base64(PUZZLE) }).to_string();
    let json = ("content-type", "application/json");
    let plain = ask("Steps", &[json], text.as_bytes()).await;
    assert_eq!(plain.header("content-encoding"), None);
    let gzip = [json, ("content-encoding", "gzip"), ("accept-encoding", "br;q=1, gzip;q=0.5")];
    let reply = ask("Steps", &gzip, &packed(text.as_bytes())).await;
    assert_eq!((reply.status, reply.header("content-encoding")), (200, Some("gzip")));
    assert_eq!(unpacked(&reply.body), plain.body);
    // What is short stays as it is.
    let short = ask("Solve", &gzip, &packed(text.as_bytes())).await;
    assert_eq!((short.status, short.header("content-encoding")), (200, None));
    // As long as a message may be, packed or not.
    let bomb = packed(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 100_000);
    let reply = ask("Solve", &gzip, &bomb).await;
    assert_eq!((reply.status, failure(&reply).1.as_str()), (429, "MESSAGE_BYTES_REACHED"));
    let reply = ask("Solve", &gzip, text.as_bytes()).await;
    assert_eq!((reply.status, failure(&reply).1.as_str()), (400, "MESSAGE_UNREADABLE"));

    let wanted = json!({ "count": "2000", "seed": "7", "randomClues": 5 }).to_string();
    let stream = ("content-type", "application/connect+json");
    let plain = ask("Generate", &[stream], &envelope(wanted.as_bytes())).await;
    let gzip = [stream, ("connect-content-encoding", "gzip"), ("connect-accept-encoding", "gzip")];
    let mut sent = envelope(&packed(wanted.as_bytes()));
    sent[0] = 1;
    let reply = ask("Generate", &gzip, &sent).await;
    assert_eq!(reply.header("connect-content-encoding"), Some("gzip"));
    assert!(reply.body.len() < plain.body.len() / 2);
    let texts = |reply: &Reply| {
        let text = |(flags, text): (u8, &[u8])| if flags & 1 == 1 { unpacked(text) } else { text.to_vec() };
        reply.envelopes().into_iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(texts(&reply), texts(&plain));
    // A message that is packed, and nobody said how.
    let reply = ask("Generate", &[stream], &sent).await;
    assert!(reply.text().contains("A message has flags"), "{}", reply.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unary_methods_may_be_called_by_get() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
    let server = start(config()).await;
    let ask = |method: &str, query: String, headers: &[(&str, &str)]| {
        let sent = request("GET", &format!("{SERVICE}/{method}?{query}"), headers, b"");
        let server = &server;
        async move { exchange(server, sent).await }
    };
    let message = json!({ "text": base64(PUZZLE) });
    let expected = call(&server, "Solve", &message).await.json();
    // As forms write it, and as JavaScript does.
    let text = message.to_string();
    let escaped = text.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
    let plus = text.replace(':', ":+").replace('"', "%22").replace('=', "%3D");
    let binary = SolveRequest { text: PUZZLE.into(), ..Default::default() }.encode_to_vec();
    let gzip = URL_SAFE.encode(packed(text.as_bytes()));
    for query in [
        format!("encoding=json&message={escaped}"),
        format!("message={plus}&connect=v1&encoding=json"),
        format!("connect=v1&encoding=json&base64=1&compression=gzip&message={gzip}"),
        format!("encoding=json&base64=1&message={}", URL_SAFE_NO_PAD.encode(&text)),
    ] {
        let reply = ask("Solve", query.clone(), &[]).await;
        assert_eq!((reply.status, reply.header("vary")), (200, Some("accept-encoding")), "{query}");
        assert_eq!(reply.json(), expected, "{query}");
    }
    let query = format!("encoding=proto&base64=1&message={}", URL_SAFE_NO_PAD.encode(binary));
    let reply = ask("Solve", query, &[]).await;
    assert_eq!(reply.header("content-type"), Some("application/proto"));
    let answer = &SolveResponse::decode(&*reply.body).unwrap().answers[0];
    assert_eq!(solution(answer), SOLUTION);

    for (query, status, words) in [
        ("message={}", 400, "`encoding=json` or `encoding=proto`"),
        ("encoding=json&base64=1&message=%3F%3F", 400, "is not base64"),
        ("encoding=json&compression=%0A", 400, "`compression` in the query has characters"),
        ("encoding=json&connect=v2&message={}", 400, "The version of the Connect protocol is 1."),
        ("encoding=json", 400, "The body is empty."),
        ("encoding=json&compression=br&message={}", 501, "`br` are not read"),
    ] {
        let reply = ask("Solve", query.to_owned(), &[]).await;
        assert_eq!(reply.status, status, "{query}");
        assert!(reply.text().contains(words), "{query}: {}", reply.text());
    }
    let stream = ask("Generate", "encoding=json&message={}".to_owned(), &[]).await;
    assert_eq!((stream.status, stream.header("allow")), (405, Some("POST")));
    // An image of a page from elsewhere says nothing of its origin.
    for (site, status) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
        let query = "encoding=json&message={}".to_owned();
        assert_eq!(ask("ListDatasets", query, &[("sec-fetch-site", site)]).await.status, status, "{site}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_answers_come_in_envelopes() {
    let server = start(config()).await;
    let wanted = json!({ "count": "20000", "seed": "7", "randomClues": 5 });
    let reply =
        post(&server, "Generate", "application/connect+json", &envelope(wanted.to_string().as_bytes())).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/connect+json")));
    let envelopes = reply.envelopes();
    let (end, messages) = envelopes.split_last().unwrap();
    assert_eq!(*end, (2, &b"{}"[..]));
    let message =
        GenerateRequest { count: 20_000, seed: Some(7), random_clues: Some(5), ..Default::default() };
    let stream = server.client().await.generate(message.clone()).await.unwrap().into_inner();
    let by_grpc = all_of(stream).await.0;
    let puzzles = |part: &Value| {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.decode(part["puzzles"].as_str().unwrap()).unwrap()
    };
    let made: Vec<u8> =
        messages.iter().flat_map(|(_, json)| puzzles(&serde_json::from_slice(json).unwrap())).collect();
    let expected: Vec<u8> = by_grpc.iter().flat_map(|part| part.puzzles.to_vec()).collect();
    assert_eq!(made, expected);
    assert!(made.len() > 1_000_000 && by_grpc.len() > 1);

    let reply =
        post(&server, "Generate", "application/connect+proto", &envelope(&message.encode_to_vec())).await;
    let envelopes = reply.envelopes();
    let (end, messages) = envelopes.split_last().unwrap();
    assert_eq!(*end, (2, &b"{}"[..]));
    let parts: Vec<_> = messages.iter().map(|(_, part)| GenerateResponse::decode(*part).unwrap()).collect();
    assert_eq!(parts, by_grpc);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reflection_is_a_stream_in_envelopes_too() {
    let server = start(config()).await;
    for version in ["v1", "v1alpha"] {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let ask = async |kind, body: &[u8]| {
            exchange(&server, request("POST", &path, &[("content-type", kind)], body)).await
        };
        let reply = ask("application/connect+json", &envelope(br#"{"listServices":""}"#)).await;
        let envelopes = reply.envelopes();
        let [(0, message), (2, b"{}")] = envelopes[..] else { panic!("{envelopes:?}") };
        let names = serde_json::from_slice::<Value>(message).unwrap();
        let names = names["listServicesResponse"]["service"].as_array().unwrap();
        assert!(names.iter().any(|service| service["name"] == "sudoku.v1.SudokuService"), "{names:?}");
        assert_eq!(ask("application/json", b"{}").await.status, 415);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_fails_says_so_at_its_end() {
    let server = start(config()).await;
    for body in [&b"{\"options\":{\"order\":9}}"[..], b"{\"order\":9", b"7", b""] {
        let reply = post(&server, "Trace", "application/connect+json", &envelope(body)).await;
        assert_eq!(reply.status, 200);
        let envelopes = reply.envelopes();
        let [(2, end)] = envelopes[..] else { panic!("{envelopes:?}") };
        let end: Value = serde_json::from_slice(end).unwrap();
        assert_eq!(end["error"]["code"], "invalid_argument", "{end}");
    }
    let binary =
        TraceRequest { options: Some(SolveOptions { order: 9, ..Default::default() }), ..Default::default() };
    let reply = post(&server, "Trace", "application/connect+proto", &envelope(&binary.encode_to_vec())).await;
    let envelopes = reply.envelopes();
    let [(2, end)] = envelopes[..] else { panic!("{envelopes:?}") };
    assert!(
        str::from_utf8(end).unwrap().starts_with(r#"{"error":{"code":"invalid_argument","message":"9 is"#)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_refused_is_read_on_for_a_moment() {
    let server = start(config()).await;
    let options = envelope(br#"{"options":{"order":9}}"#);
    let flags = [&[1], &envelope(b"{}")[1..]].concat();
    for (what, beginning) in [
        ("too long", vec![0, 0x7F, 0, 0, 0]),
        ("flags", flags),
        ("no JSON", envelope(b"{")),
        ("options", options),
    ] {
        let socket = TcpStream::connect(server.address).await.unwrap();
        let (mut client, mut connection) = h2::client::handshake(socket).await.unwrap();
        let mut pings = connection.ping_pong().unwrap();
        tokio::spawn(connection);
        let request = http::Request::post(format!("{}{SERVICE}/SolveLines", server.url()))
            .header("content-type", "application/connect+json")
            .body(())
            .unwrap();
        let begin = Instant::now();
        let (response, mut sending) = client.send_request(request, false).unwrap();
        sending.send_data(beginning.into(), false).unwrap();
        let mut body = timeout(PATIENCE, response).await.unwrap().unwrap().into_body();
        let mut answer = Vec::new();
        while let Some(data) = timeout(PATIENCE, body.data()).await.unwrap() {
            answer.extend_from_slice(&data.unwrap());
        }
        assert!(answer[0] == 2 && answer[5..].starts_with(br#"{"error":"#), "{what}: {answer:?}");
        // A reset behind the answer would have come by then.
        pings.ping(h2::Ping::opaque()).await.unwrap();
        let reset = poll_fn(|cx| Poll::Ready(sending.poll_reset(cx))).await;
        assert!(reset.is_pending() || begin.elapsed() > Duration::from_millis(400), "{what}: {reset:?}");
    }
}

/// An observer of calls, and the statuses and reasons with which they end.
fn observer() -> (CallObserver, mpsc::Receiver<(&'static str, Option<String>)>) {
    let (sender, ended) = mpsc::channel();
    let observer: CallObserver = Arc::new(move |call: &CallRecord<'_>| {
        // A test may be over before its last call.
        let _ = sender.send((call.status, call.reason.map(str::to_owned)));
    });
    (observer, ended)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_status_but_ok_is_recorded_with_a_reason() {
    let (observer, ended) = observer();
    let server = start(Config { call_observer: Some(observer), ..config() }).await;
    assert_eq!(call(&server, "ListDatasets", &json!({})).await.status, 200);
    assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), ("OK", None));
    assert_eq!(post(&server, "Check", "text/plain", b"{}").await.status, 415);
    let known = ended.recv_timeout(PATIENCE).unwrap();
    assert_eq!(known, ("INVALID_ARGUMENT", Some("CONTENT_TYPE_UNKNOWN".to_owned())));
    // A client that leaves before it has all answers.
    let wanted = envelope(json!({ "count": "1000000", "randomClues": 5 }).to_string().as_bytes());
    let headers = [("content-type", "application/connect+json")];
    let mut connection = Connection::open(server.address).await;
    connection.send(request("POST", &format!("{SERVICE}/Generate"), &headers, &wanted)).await;
    connection.byte().await.unwrap();
    drop(connection);
    let known = ended.recv_timeout(PATIENCE).unwrap();
    assert_eq!(known, ("CANCELLED", Some("CLIENT_LEFT".to_owned())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_without_a_message_is_no_message_and_no_client_that_left() {
    let (observer, ended) = observer();
    let server = start(Config { call_observer: Some(observer), ..config() }).await;
    for (kind, method) in [
        ("application/connect+json", "Generate"),
        ("application/connect+proto", "Trace"),
        ("application/grpc-web", "Generate"),
        ("application/grpc-web", "Solve"),
    ] {
        for head in ["content-length: 0\r\n\r\n", "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"] {
            let line =
                format!("POST {SERVICE}/{method} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\n");
            let reply = exchange(&server, line + head).await;
            let what = format!("{kind} {method} {head:?}: {reply:?}");
            if kind.contains("connect") {
                let envelopes = reply.envelopes();
                let [(2, end)] = envelopes[..] else { panic!("{what}") };
                let end: Value = serde_json::from_slice(end).unwrap();
                assert_eq!(end["error"]["code"], "invalid_argument", "{what}");
                assert_eq!(end["error"]["details"].as_array().map(Vec::len), Some(2), "{what}");
            } else {
                assert_eq!(reply.header("grpc-status"), Some("3"), "{what}");
            }
            let known = ended.recv_timeout(PATIENCE).unwrap();
            assert_eq!(known, ("INVALID_ARGUMENT", Some("MESSAGE_UNREADABLE".to_owned())), "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_cut_off_in_its_body_has_left() {
    let (observer, ended) = observer();
    let server = start(Config { call_observer: Some(observer), ..config() }).await;
    let (left, bad) = (("CANCELLED", "CLIENT_LEFT"), ("INVALID_ARGUMENT", "BODY_INVALID"));
    // Of a message of 9 bytes, 3 come.
    for (method, kind, head, body, wanted) in [
        ("Solve", "json", "content-length: 9", "{\"t", left),
        ("Solve", "proto", "content-length: 9", "", left),
        ("SolveLines", "connect+proto", "content-length: 14", "\0\0\0\0\x09abc", left),
        ("SolveLines", "connect+json", "content-length: 14", "", left),
        ("SolveLines", "connect+proto", "transfer-encoding: chunked", "8\r\n\0\0\0\0\x09abc\r\n", left),
        (
            "SolveLines",
            "connect+proto",
            "transfer-encoding: chunked",
            "8\r\n\0\0\0\0\x09abc\r\n0\r\n\r\n",
            bad,
        ),
        ("SolveLines", "connect+proto", "transfer-encoding: chunked", "eight\r\n", bad),
        ("SolveLines", "connect+proto", "content-length: 8", "\0\0\0\0\x09abc", bad),
    ] {
        let request = format!(
            "POST {SERVICE}/{method} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/{kind}\r\n{head}\r\n\r\n{body}"
        );
        let mut connection = Connection::open(server.address).await;
        connection.send(&request).await;
        let stays = (wanted == bad).then_some(connection);
        let (status, reason) = ended.recv_timeout(PATIENCE).unwrap();
        assert_eq!((status, reason.as_deref()), (wanted.0, Some(wanted.1)), "{request:?}");
        drop(stays);
        // Who has closed one side only can still read what was wrong.
        if wanted == left {
            let mut connection = Connection::open(server.address).await;
            connection.send(&request).await;
            connection.0.shutdown().await.unwrap();
            let reply = connection.reply().await.unwrap();
            assert!(
                String::from_utf8_lossy(&reply.body).contains("The last message breaks off."),
                "{reply:?}"
            );
            assert_eq!(ended.recv_timeout(PATIENCE).unwrap().0, "CANCELLED", "{request:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bulk_needs_no_http2() {
    let server = start(config()).await;
    let messages: Vec<SolveLinesRequest> = (0..3)
        .map(|part| SolveLinesRequest {
            lines: format!("{PUZZLE}\nbad\n").repeat(1000).into(),
            first_line: 1 + 2000 * part,
            ..Default::default()
        })
        .collect();
    let stream = tokio_stream::iter(messages.clone());
    let by_grpc = all_of(server.client().await.solve_lines(stream).await.unwrap().into_inner()).await.0;
    let body: Vec<u8> = messages.iter().flat_map(|message| envelope(&message.encode_to_vec())).collect();
    let reply = post(&server, "SolveLines", "application/connect+proto", &body).await;
    let envelopes = reply.envelopes();
    let (end, parts) = envelopes.split_last().unwrap();
    assert_eq!(*end, (2, &b"{}"[..]));
    let parts: Vec<_> = parts.iter().map(|(_, part)| SolveLinesResponse::decode(*part).unwrap()).collect();
    assert_eq!(parts, by_grpc);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn canonical_forms_need_no_http2_and_no_protobuf() {
    let server = start(config()).await;
    let batch = |id: u64, puzzles: &[&str]| -> Value {
        json!({"batchId": id.to_string(), "puzzles": puzzles.iter().map(|puzzle| base64(puzzle)).collect::<Vec<_>>()})
    };
    let mut first = batch(1, &[PUZZLE, "bad"]);
    first["options"] = json!({"basis": "CANONICAL_BASIS_SOLUTION", "withDisguises": true});
    let body: Vec<u8> = [first, batch(2, &[PUZZLE])]
        .iter()
        .flat_map(|message| envelope(message.to_string().as_bytes()))
        .collect();
    let reply = post(&server, "Canonicalize", "application/connect+json", &body).await;
    let envelopes = reply.envelopes();
    let (end, parts) = envelopes.split_last().unwrap();
    assert_eq!(*end, (2, &b"{}"[..]));
    let parts: Vec<Value> = parts.iter().map(|(_, part)| serde_json::from_slice(part).unwrap()).collect();
    assert_eq!((&parts[0]["batchId"], &parts[1]["batchId"]), (&json!("1"), &json!("2")));
    let (form, again) = (&parts[0]["forms"][0], &parts[1]["forms"][0]);
    assert_eq!(form["form"].as_str().unwrap().len(), 81);
    assert_eq!(form["basis"], "CANONICAL_BASIS_SOLUTION");
    assert_eq!(form["automorphisms"], "1");
    assert!(form["disguise"].as_str().unwrap().contains("digits"));
    assert_eq!((&again["form"], &again["line"]), (&form["form"], &json!("3")));
    assert_eq!(
        parts[0]["forms"][1]["error"]["message"],
        "Line 2 has the wrong length. It has 3 cells; a 9x9 puzzle has 81."
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_no_message_is_refused_with_a_sentence() {
    let limits = Limits { message_bytes: 10_000, ..Limits::default() };
    let server = start(Config { limits, ..config() }).await;
    let deep = "[".repeat(5_000);
    let nested = format!("{}{}", "{\"options\":".repeat(500), "}".repeat(500));
    let large = format!("{{\"text\":\"{}\"}}", "A".repeat(10_000));
    for (body, code, reason, part) in [
        ("", 400, "BODY_INVALID", "The body is empty. Send `{}`"),
        ("{\"text\":", 400, "BODY_INVALID", "This is no SolveRequest in JSON: EOF while parsing"),
        ("{} {}", 400, "BODY_INVALID", "trailing characters"),
        ("{\"txt\":\"\"}", 400, "BODY_INVALID", "unrecognized field name 'txt'"),
        ("{\"text\":\"?!\"}", 400, "BODY_INVALID", "base64"),
        ("{\"text\":\"%%%\"}", 400, "BODY_INVALID", "Invalid symbol 37, offset 0 at line 1 column 13."),
        ("\u{feff}", 400, "BODY_INVALID", "The body is empty. Send `{}`"),
        ("\u{feff}{\"options\":{\"order\":9}}", 400, "FIELD_INVALID", "9 is no order."),
        ("{\"text\":5}", 400, "BODY_INVALID", "This is no SolveRequest in JSON"),
        ("[]", 400, "BODY_INVALID", "This is no SolveRequest in JSON"),
        ("{\"text\":\"\u{0}\"}", 400, "BODY_INVALID", "control character"),
        ("{\"options\":{\"nodeLimit\":-1}}", 400, "BODY_INVALID", "This is no SolveRequest in JSON"),
        ("{\"options\":{\"question\":\"WHY\"}}", 400, "BODY_INVALID", "unrecognized enum value 'WHY'"),
        (&deep, 400, "BODY_INVALID", "This is no SolveRequest in JSON"),
        (&nested, 400, "BODY_INVALID", "This is no SolveRequest in JSON"),
        (&large, 429, "MESSAGE_BYTES_REACHED", "limit of 10000 bytes"),
        ("{\"options\":{\"order\":9}}", 400, "FIELD_INVALID", "9 is no order."),
    ] {
        let reply = post(&server, "Solve", "application/json", body.as_bytes()).await;
        let shown = &body[..body.len().min(40)];
        assert_eq!(reply.status, code, "{shown}: {}", reply.text());
        assert_eq!(failure(&reply).1, reason, "{shown}");
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(
            message.contains(part) && message.ends_with('.') && message.len() < 600,
            "{shown}: {message}"
        );
    }
    let not_utf8 = post(&server, "Solve", "application/json", b"{\"text\":\"\xff\"}").await;
    assert_eq!(failure(&not_utf8).1, "BODY_INVALID");
    let encoded = request(
        "POST",
        "/sudoku.v1.SudokuService/Solve",
        &[("content-type", "application/json"), ("content-encoding", "br")],
        b"{}",
    );
    let reply = exchange(&server, encoded).await;
    assert_eq!((reply.status, failure(&reply).1.as_str()), (501, "ENCODING_UNKNOWN"));
    let unknown = call(&server, "Solv", &json!({})).await;
    assert_eq!((unknown.status, failure(&unknown).1.as_str()), (501, "METHOD_UNKNOWN"));
    assert_eq!(call(&server, "Solve", &json!({ "text": base64(PUZZLE) })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadlines_hold_over_http() {
    let server = start(config()).await;
    // The count of an empty 25x25 puzzle takes longer than anybody waits.
    let body = json!({
        "text": base64(&".".repeat(625)), "countLimit": "1000000000000", "nodeLimit": "10000000",
        "strategy": "backtracking",
    });
    let timed = |time: &str| {
        let headers = [("content-type", "application/json"), ("connect-timeout-ms", time)];
        request("POST", &format!("{SERVICE}/Count"), &headers, body.to_string().as_bytes())
    };
    let reply = exchange(&server, timed("50")).await;
    assert_eq!((reply.status, failure(&reply).1.as_str()), (504, "DEADLINE_PASSED"));
    for bad in ["soon", "-5", "12345678901"] {
        let reply = exchange(&server, timed(bad)).await;
        assert_eq!((reply.status, failure(&reply).1.as_str()), (400, "HEADER_INVALID"), "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_over_http_need_a_token_too_and_the_page_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    std::fs::write(&file, "a-token-of-some-length\n").unwrap();
    let server = start(Config { token_file: Some(file), ..config() }).await;
    let with = |token: Option<&str>| {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(token.map(|token| ("authorization", token)));
        request("POST", &format!("{SERVICE}/ListDatasets"), &headers, b"{}")
    };
    for (token, reason) in [
        (None, "TOKEN_MISSING"),
        (Some("Basic Zm9v"), "TOKEN_MISSING"),
        (Some("Bearer another-token-of-that-kind"), "TOKEN_UNKNOWN"),
    ] {
        let reply = exchange(&server, with(token)).await;
        assert_eq!(reply.status, 401);
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        assert_eq!(failure(&reply), ("unauthenticated".to_owned(), reason.to_owned()));
    }
    assert_eq!(exchange(&server, with(Some("Bearer a-token-of-some-length"))).await.status, 200);
    assert_eq!(get(&server, "/", &[]).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_from_elsewhere_are_refused_unless_they_are_allowed() {
    let allowed = vec!["https://play.example.org".parse().unwrap()];
    let closed = start(config()).await;
    let open = start(Config { allowed_origins: allowed, ..config() }).await;
    let own = format!("http://{}", closed.address);
    let host = closed.address.to_string();
    let from = |origin: &str, host: &str| {
        let headers = [("content-type", "application/json"), ("origin", origin), ("host", host)];
        request("POST", &format!("{SERVICE}/ListDatasets"), &headers, b"{}")
    };
    assert_eq!(exchange(&closed, from(&own, &host)).await.status, 200);
    for foreign in ["http://evil.example", "https://play.example.org", "null", "http://localhost"] {
        let reply = exchange(&closed, from(foreign, &host)).await;
        assert_eq!(reply.status, 403, "{foreign}");
        let sentence = format!("Pages from {foreign} may not call this server.");
        assert!(reply.text().starts_with(&sentence), "{}", reply.text());
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    // A name that was made to resolve to this machine.
    let rebound = get(&closed, "/", &[("host", "evil.example:50051")]).await;
    assert_eq!(rebound.status, 403);
    assert!(rebound.text().contains("is not called `evil.example:50051`"), "{}", rebound.text());
    assert_eq!(exchange(&closed, from("http://evil.example", "evil.example")).await.status, 403);

    let reply = exchange(&open, from("https://play.example.org", &host)).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://play.example.org"));
    assert_eq!(exchange(&open, from("https://other.example.org", &host)).await.status, 403);
    let preflight = |origin: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type,connect-timeout-ms"),
        ];
        request("OPTIONS", &format!("{SERVICE}/Solve"), &headers, b"")
    };
    let reply = exchange(&open, preflight("https://play.example.org")).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://play.example.org"));
    assert!(reply.header("access-control-allow-headers").unwrap().contains("connect-timeout-ms"));
    assert_eq!(exchange(&open, preflight("https://other.example.org")).await.status, 403);
    assert_eq!(exchange(&closed, preflight("https://play.example.org")).await.status, 403);
    assert_eq!(exchange(&closed, preflight(&own)).await.status, 403, "its host is another port's");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_at_the_root() {
    let server = start(config()).await;
    let page = get(&server, "/", &[]).await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().starts_with("<!doctype html>"));
    assert!(!page.text().contains("style=") && !page.text().contains("://"), "only its own files");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    // Every file that it names is there.
    let named: Vec<&str> = ["src=\"", "href=\""]
        .into_iter()
        .flat_map(|mark| page.text().split(mark).skip(1))
        .map(|rest| rest.split('"').next().unwrap())
        .filter(|name| !name.starts_with('#'))
        .collect();
    assert!(named.len() > 1, "{named:?}");
    for name in named {
        let path = format!("/{}", name.trim_start_matches(['.', '/']));
        assert_eq!(get(&server, &path, &[]).await.status, 200, "{path}");
    }
    let tag = page.header("etag").unwrap();
    assert_eq!(get(&server, "/", &[("if-none-match", tag)]).await.status, 304);
    let packed = get(&server, "/", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.len() < page.body.len());
    for path in ["/nothing", "/../Cargo.toml", "/index.html/"] {
        assert_eq!(get(&server, path, &[]).await.status, 404, "{path}");
    }
    assert_eq!(exchange(&server, request("POST", "/", &[], b"")).await.status, 404);
    assert_eq!(exchange(&server, request("DELETE", "/", &[], b"")).await.header("allow"), Some("GET, HEAD"));
    let put = request("PUT", &format!("{SERVICE}/Solve"), &[], b"");
    assert_eq!(exchange(&server, put).await.header("allow"), Some("GET, POST"));

    let without = start(Config { page: false, ..config() }).await;
    assert_eq!(get(&without, "/", &[]).await.status, 404);
    assert_eq!(call(&without, "ListDatasets", &json!({})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_carries_request_after_request() {
    let server = start(config()).await;
    let mut connection = Connection::open(server.address).await;
    let solve = |puzzle: &str| {
        let body = json!({ "text": base64(puzzle) }).to_string();
        let headers = [("content-type", "application/json")];
        request("POST", &format!("{SERVICE}/Solve"), &headers, body.as_bytes())
    };
    // All at once, as pipelining has it: the answers come in order.
    let bad = &PUZZLE[1..];
    connection.send([solve(PUZZLE), solve(bad), request("GET", "/", &[], b""), solve(PUZZLE)].concat()).await;
    assert_eq!(connection.reply().await.unwrap().json()["answers"][0]["solution"], SOLUTION);
    let second = connection.reply().await.unwrap().json();
    assert_eq!(second["answers"][0]["error"]["code"], "ERROR_CODE_WRONG_LENGTH");
    assert!(connection.reply().await.unwrap().text().starts_with("<!doctype html>"));
    assert_eq!(connection.reply().await.unwrap().json()["answers"][0]["solution"], SOLUTION);
    connection.send(solve(PUZZLE)).await;
    assert_eq!(connection.reply().await.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_readers_could_read_differently_is_refused() {
    let server = start(config()).await;
    let path = format!("{SERVICE}/ListDatasets");
    let head = format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n");
    let smuggled = "GET /smuggled HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
    for bad in [
        format!("{head}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}{smuggled}"),
        format!("{head}content-length: +2\r\n\r\n{{}}"),
        format!("{head}content-length: 2, 3\r\n\r\n{{}}"),
        format!("{head}transfer-encoding: chunked, identity\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"),
        format!("{head}content-length : 2\r\n\r\n{{}}"),
        format!("POST {path} HTTP/1.1\r\nhost: a\r\nhost: b\r\ncontent-length: 2\r\n\r\n{{}}"),
        format!("POST {path} HTTP/9.9\r\n\r\n"),
        format!("POST  {path} HTTP/1.1\r\n\r\n"),
        "\u{1}\u{2}\u{3}\u{4} / HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        let mut connection = Connection::open(server.address).await;
        connection.send(&bad).await;
        let reply = connection.reply().await;
        assert!(reply.as_ref().is_none_or(|reply| [400, 403].contains(&reply.status)), "{bad}: {reply:?}");
    }
    // Chunks win over a length, as the standard says; the length is never believed.
    let both = format!(
        "{head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n{smuggled}"
    );
    let mut connection = Connection::open(server.address).await;
    connection.send(&both).await;
    let reply = connection.reply().await.unwrap();
    assert!([200, 400].contains(&reply.status), "{reply:?}");
    if reply.status == 200 {
        assert_eq!(reply.text(), "{}");
        let next = connection.reply().await;
        assert!(next.is_none_or(|next| next.status == 404), "what follows is a request of its own");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_silent_peers_are_closed() {
    let limits = Limits { handshake_timeout: Duration::from_millis(200), ..Limits::default() };
    let server = start(Config { limits, ..config() }).await;
    for beginning in ["", "P", "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow"] {
        let mut connection = Connection::open(server.address).await;
        connection.send(beginning).await;
        let reply = connection.reply().await;
        assert!(reply.as_ref().is_none_or(|reply| reply.status == 408), "{beginning:?}: {reply:?}");
    }
    // An idle connection is closed too, in silence. This test may itself be too slow with the request.
    let answered = async {
        loop {
            let mut connection = Connection::open(server.address).await;
            connection.send(request("GET", "/nothing", &[], b"")).await;
            if let Some(reply) = connection.reply().await.filter(|reply| reply.status != 408) {
                return (connection, reply);
            }
        }
    };
    let (mut connection, reply) = timeout(PATIENCE, answered).await.unwrap();
    assert_eq!(reply.status, 404);
    assert!(connection.is_closed().await);
    // Heads of requests have all the time they need.
    let limits =
        Limits { message_timeout: Duration::from_millis(200), header_bytes: 2_000, ..Limits::default() };
    let server = start(Config { limits, ..config() }).await;
    let stalled = format!(
        "POST {SERVICE}/Solve HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{{\"text\":"
    );
    let mut connection = Connection::open(server.address).await;
    connection.send(stalled).await;
    let reply = connection.reply().await.unwrap();
    assert_eq!((reply.status, failure(&reply).1.as_str()), (429, "MESSAGE_TIMEOUT_REACHED"));
    assert!(reply.text().contains("has not gone on for 0.2 s"), "{}", reply.text());
    // The second message of a stream stalls. Between the two it may be silent.
    let stalled = format!(
        "POST {SERVICE}/SolveLines HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/connect+json\r\n\
         content-length: 100\r\n\r\n"
    );
    let mut connection = Connection::open(server.address).await;
    connection.send([stalled.as_bytes(), &envelope(b"{}"), &[0, 0, 0, 0, 9], b"{"].concat()).await;
    let reply = connection.reply().await.unwrap();
    let (_, end) = reply.envelopes().pop().unwrap();
    let end: Value = serde_json::from_slice(end).unwrap();
    let words = end["error"]["message"].as_str().unwrap_or_default();
    assert!(words.contains("has not gone on for 0.2 s"), "{end}");
    let long = "x".repeat(3_000);
    let reply = get(&server, "/", &[("x-long", &long)]).await;
    assert_eq!(reply.status, 431);
    assert!(reply.text().contains("more than 2000 bytes"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_takes_no_answers_is_closed() {
    let server = start(config()).await;
    // The limit can change while it serves.
    assert_eq!(get(&server, "/nothing", &[]).await.status, 404);
    let limits = Limits { idle_timeout: Duration::from_millis(300), ..Limits::default() };
    assert_eq!(server.reloader.set_limits(&limits).now, ["idle-timeout"]);
    let mut connection = Connection::open(server.address).await;
    let wanted = json!({ "count": "1000000", "randomClues": 5 }).to_string();
    let headers = [("content-type", "application/connect+json")];
    connection
        .send(request("POST", &format!("{SERVICE}/Generate"), &headers, &envelope(wanted.as_bytes())))
        .await;
    // The answers are some 100 MB, more than sockets hold; what was sent is lost with the connection.
    let closed = async {
        let mut sink = [0; 1];
        loop {
            // Nothing is read until the server has closed the connection, which a write finds out.
            if connection.0.write_all(b"\r\n").await.is_err()
                || connection
                    .0
                    .try_read(&mut sink)
                    .is_err_and(|error| error.kind() != std::io::ErrorKind::WouldBlock)
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, closed).await.expect("the connection is closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_closes_idle_connections_and_answers_the_others() {
    let server = start(config()).await;
    let mut idle = Connection::open(server.address).await;
    idle.send(request("GET", "/nothing", &[], b"")).await;
    assert_eq!(idle.reply().await.unwrap().status, 404);
    let address = server.address;
    let mut busy = Connection::open(address).await;
    let body = json!({ "text": base64(PUZZLE) }).to_string();
    let whole = request(
        "POST",
        &format!("{SERVICE}/Solve"),
        &[("content-type", "application/json")],
        body.as_bytes(),
    );
    let (most, rest) = whole.split_at(whole.len() - 10);
    busy.send(most).await;
    let stopped = server.stop();
    assert!(idle.is_closed().await);
    // A connection of which nothing was read before the stop is closed, and then this may be a reset.
    let sent = busy.0.write_all(rest).await;
    // Either it was read before the stop, or it is refused with a status.
    let reply = if sent.is_ok() { busy.reply().await } else { None };
    assert!(reply.as_ref().is_none_or(|reply| [200, 503].contains(&reply.status)), "{reply:?}");
    assert_eq!(timeout(PATIENCE, stopped).await.unwrap().unwrap(), sudoku_stream::service::Stopped::Drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grpc_web_is_answered_in_both_encodings() {
    let server = start(config()).await;
    let message = SolveRequest { text: PUZZLE.into(), ..Default::default() }.encode_to_vec();
    let decode = |body: &[u8]| {
        let (head, rest) = body.split_at(5);
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let (answer, trailers) = rest.split_at(length);
        let answer = SolveResponse::decode(answer).unwrap();
        assert_eq!(trailers[0], 0x80);
        assert!(str::from_utf8(&trailers[5..]).unwrap().contains("grpc-status:0"), "{trailers:?}");
        answer
    };
    let binary = post(&server, "Solve", "application/grpc-web+proto", &envelope(&message)).await;
    assert_eq!(binary.status, 200);
    let request_by_grpc = SolveRequest { text: PUZZLE.into(), ..Default::default() };
    let wanted = server.client().await.solve(request_by_grpc).await.unwrap().into_inner();
    assert_eq!(decode(&binary.body), wanted);
    let text = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(envelope(&message))
    };
    let headers =
        [("content-type", "application/grpc-web-text"), ("accept", "application/grpc-web-text+proto")];
    let reply =
        exchange(&server, request("POST", &format!("{SERVICE}/Solve"), &headers, text.as_bytes())).await;
    assert_eq!(reply.status, 200);
    // Each part of the body is base64 by itself.
    let mut body = Vec::new();
    let text = reply.text();
    let mut at = 0;
    while at < text.len() {
        use base64::Engine as _;
        let end = text[at..].find('=').map_or(text.len(), |end| {
            let end = at + end;
            end + text[end..].bytes().take_while(|&byte| byte == b'=').count()
        });
        body.extend(base64::engine::general_purpose::STANDARD.decode(&text[at..end]).unwrap());
        at = end;
    }
    assert_eq!(decode(&body), wanted);
    let failed = post(&server, "Solve", "application/grpc-web", &envelope(b"\xff\xff")).await;
    assert!(failed.header("grpc-status").is_some_and(|status| status != "0") || !failed.body.is_empty());
    let native = post(&server, "Solve", "application/grpc", &envelope(&message)).await;
    assert_eq!(native.status, 505);
}
