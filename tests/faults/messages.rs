//! Messages that are not what they say they are.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use h2::SendStream;
use h2::client::{ResponseFuture, SendRequest};
use http::{HeaderMap, Method, Request, StatusCode};
use sudoku_stream::service::proto::{SolveLinesRequest, SolveRequest};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tonic::Code;

use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, lines};
use crate::row::{Row, Seen};
use crate::traffic::{assert_serving, easy, grown, mib, runtime, serves};
use crate::wire::{claim, message};

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            number: 12,
            fault: "1,000 streams that claim messages of 60 MB",
            expected: "RESOURCE_EXHAUSTED; what is claimed is not reserved; serving",
            run: claims_above_the_limit,
        },
        Row {
            number: 12,
            fault: "1,000 streams that claim messages of almost the limit, 1 MiB, and stall",
            expected: "ended by --message-timeout; what is claimed is not reserved; serving",
            run: claims_below_the_limit,
        },
        Row {
            number: 13,
            fault: "bad protobuf, groups 100,000 deep, bad flags and encodings, half messages, gzip and zstd bombs",
            expected: "INVALID_ARGUMENT, UNIMPLEMENTED or RESOURCE_EXHAUSTED with a message, never INTERNAL; serving",
            run: malformed_messages,
        },
        Row {
            number: 15,
            fault: "two messages or none on a unary call, no content-type or another, unknown methods",
            expected: "a proper status; serving",
            run: odd_calls,
        },
    ]
}

/// What a call came to.
#[derive(Debug)]
pub struct Outcome {
    pub http: StatusCode,
    /// `None` if the response has none, which is right only if it is not one of gRPC.
    pub code: Option<Code>,
    pub message: String,
    pub body: Vec<u8>,
}

/// A connection that sends what it is told, well-formed as HTTP/2 only.
#[derive(Clone)]
pub struct Caller(SendRequest<Bytes>);

impl Caller {
    pub async fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).await.unwrap();
        let (send, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        Self(send)
    }

    /// Begins a call.
    pub async fn begin(&self, request: Request<()>) -> (ResponseFuture, SendStream<Bytes>) {
        timeout(PATIENCE, self.0.clone().ready())
            .await
            .unwrap()
            .unwrap()
            .send_request(request, false)
            .unwrap()
    }

    /// Makes a call with these bytes as its body.
    pub async fn call(&self, request: Request<()>, body: Vec<u8>) -> Outcome {
        let (response, mut stream) = self.begin(request).await;
        // A call that is refused for its headers may be answered and closed before its body is sent.
        let sent = stream.send_data(Bytes::from(body), true);
        let outcome = outcome(response).await;
        assert!(sent.is_ok() || outcome.code != Some(Code::Ok), "{sent:?}");
        outcome
    }
}

pub async fn outcome(response: ResponseFuture) -> Outcome {
    let response = timeout(PATIENCE, response).await.unwrap().unwrap();
    let (head, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(data) = timeout(PATIENCE, body.data()).await.unwrap() {
        let Ok(data) = data else { break };
        body.flow_control().release_capacity(data.len()).unwrap();
        bytes.extend_from_slice(&data);
    }
    let trailers = timeout(PATIENCE, body.trailers()).await.unwrap().unwrap_or_default().unwrap_or_default();
    let find = |name: &str| trailers.get(name).or_else(|| head.headers.get(name)).cloned();
    let code = find("grpc-status").map(|code| Code::from_bytes(code.as_bytes()));
    let message = find("grpc-message").map(|text| text.to_str().unwrap().to_owned()).unwrap_or_default();
    Outcome { http: head.status, code, message, body: bytes }
}

pub fn request(path: &str) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = format!("http://localhost{path}").parse().unwrap();
    let headers: &mut HeaderMap = request.headers_mut();
    headers.insert("te", "trailers".parse().unwrap());
    headers.insert("content-type", "application/grpc".parse().unwrap());
    request
}

pub fn call_of(method: &str) -> Request<()> {
    request(&format!("/sudoku.v1.SudokuService/{method}"))
}

/// Streams on one connection; below what a server allows.
const STREAMS_EACH: usize = 100;
const CONNECTIONS: usize = 10;

/// Opens 1,000 streams that send the beginning of a message and no more. Returns how they ended, and how long the last took.
async fn stall(address: SocketAddr, claimed: u32) -> (Vec<Outcome>, Duration, Vec<SendStream<Bytes>>) {
    let mut calls = Vec::new();
    for _ in 0..CONNECTIONS {
        let caller = Caller::connect(address).await;
        for _ in 0..STREAMS_EACH {
            let (response, mut stream) = caller.begin(call_of("SolveLines")).await;
            stream.send_data(Bytes::from([claim(claimed), vec![0; 10]].concat()), false).unwrap();
            calls.push((response, stream));
        }
    }
    let begin = Instant::now();
    let (mut outcomes, mut streams) = (Vec::new(), Vec::new());
    for (response, stream) in calls {
        outcomes.push(outcome(response).await);
        streams.push(stream);
    }
    (outcomes, begin.elapsed(), streams)
}

fn claims_above_the_limit() -> Seen {
    let daemon = Daemon::start(&["--max-streams", "2000", "--message-timeout", "2"]);
    let (memory, space) = (daemon.memory(), daemon.address_space());
    let (outcomes, _, streams) = runtime().block_on(stall(daemon.address, 60_000_000));
    for outcome in &outcomes {
        assert_eq!(outcome.code, Some(Code::ResourceExhausted), "{outcome:?}");
        assert!(!outcome.message.is_empty());
    }
    let space = mib(daemon.address_space().saturating_sub(space));
    let grown = grown(&daemon, memory);
    assert_serving(&daemon);
    drop(streams);
    assert!(space < 2048 && grown < 64, "{space} MiB of addresses, {grown} MiB");
    Seen::good(format!(
        "{} times RESOURCE_EXHAUSTED; 60 GB claimed, {space} MiB of addresses and {grown} MiB of memory more",
        outcomes.len()
    ))
}

fn claims_below_the_limit() -> Seen {
    let daemon = Daemon::with_figures(&["--max-streams", "2000", "--message-timeout", "2"]);
    let (memory, space) = (daemon.memory(), daemon.address_space());
    let runtime = runtime();
    let stalling = runtime.spawn(stall(daemon.address, (1 << 20) - 1));
    let all = (CONNECTIONS * STREAMS_EACH) as u64;
    let (mut most_memory, mut most_space, mut most_calls) = (0, 0, 0);
    // A server that is quick to end them may never have all at once; it must have had most.
    while !stalling.is_finished() {
        most_memory = most_memory.max(daemon.memory());
        most_space = most_space.max(daemon.address_space());
        most_calls = most_calls.max(daemon.figure("sudoku_calls_open"));
        if most_calls == all {
            runtime.block_on(serves(&daemon.url()));
        }
    }
    let (outcomes, took, streams) = runtime.block_on(stalling).unwrap();
    for outcome in &outcomes {
        assert_eq!(outcome.code, Some(Code::ResourceExhausted), "{outcome:?}");
        assert!(outcome.message.contains("has%20not%20gone%20on%20for%202%20s"), "{outcome:?}");
    }
    assert!(most_calls >= all / 2, "{most_calls} calls were open");
    assert_eq!(daemon.figure("sudoku_calls_open"), 0);
    assert_serving(&daemon);
    drop(streams);
    let (grown, space) = (mib(most_memory.saturating_sub(memory)), mib(most_space.saturating_sub(space)));
    assert!(grown < 64, "{grown} MiB");
    assert!(space < 1024, "{space} MiB of addresses");
    Seen::good(format!(
        "{:?} after {:.1} s; 1,000 MiB claimed, {space} MiB of addresses and {grown} MiB of memory more at most",
        outcomes[0].code.unwrap(),
        took.as_secs_f64()
    ))
}

/// A message of these bytes.
pub fn framed(flag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = claim(u32::try_from(body.len()).unwrap());
    bytes[0] = flag;
    bytes.extend_from_slice(body);
    bytes
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn malformed_messages() -> Seen {
    const BOMB: usize = 200 << 20;
    let daemon = Daemon::start(&[]);
    let memory = daemon.memory();
    let zeros = vec![0; BOMB];
    let good =
        message(&SolveRequest { options: None, text: Bytes::from(lines(&easy(1))), ..Default::default() });
    let cases: Vec<(&str, Option<&str>, Vec<u8>, Code)> = vec![
        ("nonsense", None, framed(0, &[255; 50]), Code::InvalidArgument),
        ("a field of another type", None, framed(0, &[0x10, 1, 0x08, 1]), Code::InvalidArgument),
        ("a length beyond the end", None, framed(0, &[0x12, 0x7F, 1]), Code::InvalidArgument),
        ("deep groups", None, framed(0, &[0x7B; 100_000]), Code::InvalidArgument),
        ("field 0", None, framed(0, &[0x02, 1, 1]), Code::InvalidArgument),
        ("flag 2", None, framed(2, &[]), Code::InvalidArgument),
        ("a flag without an encoding", None, framed(1, &gzip(b"")), Code::InvalidArgument),
        ("an unknown encoding", Some("snappy"), framed(1, b"abc"), Code::Unimplemented),
        ("no gzip at all", Some("gzip"), framed(1, b"abcdefgh"), Code::InvalidArgument),
        ("half of a gzip", Some("gzip"), framed(1, &gzip(&[7; 1000])[..15]), Code::InvalidArgument),
        ("no zstd at all", Some("zstd"), framed(1, b"abcdefgh"), Code::InvalidArgument),
        ("a gzip bomb", Some("gzip"), framed(1, &gzip(&zeros)), Code::ResourceExhausted),
        (
            "a zstd bomb",
            Some("zstd"),
            framed(1, &zstd::bulk::compress(&zeros, 3).unwrap()),
            Code::ResourceExhausted,
        ),
        ("half a message", None, good[..good.len() / 2].to_vec(), Code::InvalidArgument),
        ("half a prefix", None, good[..3].to_vec(), Code::InvalidArgument),
        ("a message too long", None, framed(0, &vec![0x12; (1 << 20) + 1]), Code::ResourceExhausted),
    ];
    let count = cases.len();
    runtime().block_on(async {
        let caller = Caller::connect(daemon.address).await;
        for (name, encoding, body, code) in cases {
            for method in ["Solve", "SolveLines", "SolveStream"] {
                let mut request = call_of(method);
                if let Some(encoding) = encoding {
                    request.headers_mut().insert("grpc-encoding", encoding.parse().unwrap());
                }
                let outcome = caller.call(request, body.clone()).await;
                assert_eq!(outcome.http, StatusCode::OK, "{name}, {method}");
                assert_eq!(outcome.code, Some(code), "{name}, {method}: {outcome:?}");
                assert!(!outcome.message.is_empty(), "{name}, {method}");
            }
            serves(&daemon.url()).await;
        }
    });
    let grown = grown(&daemon, memory);
    assert!(grown < 64, "{grown} MiB");
    Seen::good(format!("{count} kinds on 3 methods, the status of each as it should be; {grown} MiB more"))
}

fn odd_calls() -> Seen {
    let daemon = Daemon::start(&[]);
    let puzzle = easy(1);
    let solve =
        message(&SolveRequest { options: None, text: Bytes::from(lines(&puzzle)), ..Default::default() });
    let block = message(&SolveLinesRequest { lines: Bytes::from(lines(&puzzle)), ..Default::default() });
    let seen = runtime().block_on(async {
        let caller = Caller::connect(daemon.address).await;
        let two = caller.call(call_of("Solve"), solve.repeat(2)).await;
        assert_eq!(two.code, Some(Code::InvalidArgument), "{two:?}");
        let empty = caller.call(call_of("Solve"), Vec::new()).await;
        assert!(!empty.message.is_empty(), "{empty:?}");
        let unknown = caller.call(call_of("Guess"), solve.clone()).await;
        let elsewhere = caller.call(request("/sudoku.v2.SudokuService/Solve"), solve.clone()).await;
        for outcome in [&unknown, &elsewhere] {
            assert_eq!(outcome.code, Some(Code::Unimplemented), "{outcome:?}");
        }
        // A stream without a message is one without answers.
        let none = caller.call(call_of("SolveLines"), Vec::new()).await;
        assert_eq!((none.code, none.body.len()), (Some(Code::Ok), 0), "{none:?}");

        for content in [None, Some("text/plain"), Some("application/json"), Some("application/grpcx")] {
            let mut request = call_of("SolveLines");
            request.headers_mut().remove("content-type");
            if let Some(content) = content {
                request.headers_mut().insert("content-type", content.parse().unwrap());
            }
            let outcome = caller.call(request, block.clone()).await;
            assert_eq!(outcome.http, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content:?}: {outcome:?}");
            let body = String::from_utf8_lossy(&outcome.body);
            assert_eq!(body, "This method takes `content-type: application/connect+json`, among others.\n");
        }
        for content in ["application/grpc", "application/grpc+proto"] {
            let mut request = call_of("SolveLines");
            request.headers_mut().insert("content-type", content.parse().unwrap());
            let outcome = caller.call(request, block.clone()).await;
            assert_eq!(outcome.code, Some(Code::Ok), "{content}: {outcome:?}");
        }
        let mut get = call_of("Solve");
        *get.method_mut() = Method::GET;
        let get = caller.call(get, solve).await;
        assert_eq!(get.code, Some(Code::InvalidArgument), "{get:?}");
        serves(&daemon.url()).await;
        format!(
            "two: {:?}, none: {:?}, unknown: UNIMPLEMENTED, content-type: 415, GET: {}",
            two.code.unwrap(),
            empty.code.unwrap(),
            get.code.map_or_else(|| get.http.as_u16().to_string(), |code| format!("{code:?}"))
        )
    });
    Seen::good(seen)
}
