//! The service in this process: messages go to its routes as a client would send them, but through no connection.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes};
use http::response::Parts;
use http_body_util::BodyExt as _;
use sudoku_stream::service::{Config, Limits, Server};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};

/// The most nodes that a search takes here.
pub const NODES: u64 = 200;

/// The most puzzles that are made at a time.
pub const GENERATED: u64 = 3;

/// The most steps that are told.
pub const STEPS: u64 = 10_000;

/// The most lines in a message.
const LINES: usize = 1 << 10;

/// No call takes longer, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Service {
    runtime: Runtime,
    server: Server,
}

static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_all().build().expect("there are threads");
    let limits = Limits {
        message_lines: LINES,
        nodes: NODES,
        generated: GENERATED,
        attempts: 1,
        trace_steps: STEPS,
        ..Limits::default()
    };
    // From the package of the fuzz targets or from that of the tests.
    let roots = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let data_dir = roots.map(|root| root.join("tests/fixtures/good")).find(|folder| folder.exists());
    let config = Config {
        listen: vec![std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()],
        limits,
        data_dir,
        ..Config::default()
    };
    let server = runtime.block_on(Server::bind(config)).expect("the server starts");
    Service { runtime, server }
});

/// How a call ended: the responses, and the status if it was not OK.
#[derive(Debug)]
pub struct Ended {
    pub responses: Vec<Bytes>,
    pub status: Option<Status>,
}

/// Calls a method with these messages, whatever they are.
pub fn call(method: &str, messages: Vec<Bytes>) -> Ended {
    let path = format!("/sudoku.v1.SudokuService/{method}");
    let path: PathAndQuery = path.parse().expect("methods have plain names");
    let work = async {
        let mut client = Grpc::new(SERVICE.server.routes()).max_decoding_message_size(usize::MAX);
        let mut responses = Vec::new();
        if let Err(never) = client.ready().await {
            match never {}
        }
        let request = Request::new(tokio_stream::iter(messages));
        let mut answers = match client.streaming(request, path, Raw).await {
            Ok(response) => response.into_inner(),
            Err(status) => return Ended { responses, status: Some(status) },
        };
        loop {
            match answers.message().await {
                Ok(Some(response)) => responses.push(response),
                Ok(None) => return Ended { responses, status: None },
                Err(status) => return Ended { responses, status: Some(status) },
            }
        }
    };
    let ended = SERVICE.runtime.block_on(async { timeout(PATIENCE, work).await.expect("a call ends") });
    if let Some(status) = &ended.status {
        assert_is_bearable(status);
    }
    ended
}

/// Answers a request as the server does that comes over HTTP, whatever protocol it speaks.
pub fn answer(request: http::Request<Body>) -> (Parts, Bytes) {
    let work = async {
        let (parts, body) = SERVICE.server.answer(request).await.into_parts();
        (parts, body.collect().await.expect("a body ends").to_bytes())
    };
    SERVICE.runtime.block_on(async { timeout(PATIENCE, work).await.expect("an answer ends") })
}

/// A status says what is wrong, in a text that a header can carry. None of them is a bug of ours.
fn assert_is_bearable(status: &Status) {
    let message = status.message();
    assert!(message.len() < 4_000 && !message.contains(|c: char| c.is_control()), "{message:?}");
    match status.code() {
        Code::InvalidArgument | Code::ResourceExhausted | Code::NotFound | Code::FailedPrecondition => {}
        // What the transport says of a message that cannot be decoded.
        Code::Internal if message.starts_with("failed to decode Protobuf message") => {}
        // What it says where one message is wanted and there is none.
        Code::Internal | Code::Unimplemented if message.contains("Missing request message") => {}
        _ => panic!("{status:?}"),
    }
}

/// Messages as their bytes.
#[derive(Clone, Copy)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
