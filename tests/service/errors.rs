//! Every status has details that programs can go by.

use std::fs;
use std::time::Duration;

use bytes::Bytes;
use sudoku_stream::service::Config;
use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::proto::{
    self, CountRequest, GetPuzzleRequest, ListDatasetsRequest, SolveDatasetRequest, SolveLinesRequest,
    SolveRequest, SolveResponse, TraceRequest,
};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::codegen::Service as _;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::http::{self, StatusCode};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::harness::server::{
    Fault, Faulty, Running, all_of, config, config_with, eventually, hyper_channel, nearly_solved, start,
};
use crate::harness::{PATIENCE, by, lines};
use crate::streams::batch;

const CONTRACT: &str = include_str!("../../proto/sudoku/v1/sudoku.proto");

/// The details of a status, which has to have this code and reason, and whatever all have.
#[track_caller]
pub fn details(status: &Status, code: Code, reason: &str) -> ErrorDetails {
    assert_eq!(status.code(), code, "{status:?}");
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no details: {status:?}"));
    assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, "sudoku.v1"), "{status:?}");
    let listed = CONTRACT.split(|c: char| !c.is_ascii_uppercase() && c != '_').any(|word| word == reason);
    assert!(listed, "the contract does not list {reason}");
    let id = status.metadata().get("x-request-id").expect("an id of the request").to_str().unwrap();
    assert_eq!(details.request_info().unwrap().request_id, id);
    details
}

fn fact<'a>(details: &'a ErrorDetails, name: &str) -> &'a str {
    &details.error_info().unwrap().metadata[name]
}

fn puzzle() -> Bytes {
    Bytes::from(nearly_solved(1).remove(0))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_options_name_their_fields() {
    let server = start(config()).await;
    let options = proto::SolveOptions { strategy: "guess".to_owned(), order: 9, ..Default::default() };
    let request = SolveRequest { options: Some(options.clone()), text: puzzle(), ..Default::default() };
    let status = server.client().await.solve(request).await.unwrap_err();
    let unary = details(&status, Code::InvalidArgument, "FIELD_INVALID");
    let request = SolveLinesRequest { options: Some(options), ..Default::default() };
    let stream = server.client().await.solve_lines(tokio_stream::iter([request])).await.unwrap();
    let status = all_of(stream.into_inner()).await.1.unwrap_err();
    let streamed = details(&status, Code::InvalidArgument, "FIELD_INVALID");
    let text = proto::TextOptions { order: 9, ..Default::default() };
    let request = CountRequest {
        strategy: "guess".to_owned(),
        options: Some(text),
        text: puzzle(),
        ..Default::default()
    };
    let status = server.client().await.count(request).await.unwrap_err();
    let counting = details(&status, Code::InvalidArgument, "FIELD_INVALID");
    for (details, strategy) in
        [(unary, "options.strategy"), (streamed, "options.strategy"), (counting, "strategy")]
    {
        let fields: Vec<_> =
            details.bad_request().unwrap().field_violations.iter().map(|v| v.field.as_str()).collect();
        assert_eq!(fields, [strategy, "options.order"]);
        assert_eq!(fact(&details, "field"), strategy);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_named_with_their_values() {
    let mut small = config();
    small.limits.message_bytes = 5_000;
    small.limits.message_lines = 10;
    let server = start(small).await;
    let client = server.client().await;
    let check = |status: &Status, reason: &str, limit: &str, value: &str| {
        let details = details(status, Code::ResourceExhausted, reason);
        assert_eq!((fact(&details, "limit"), fact(&details, "value")), (limit, value));
        let violation = &details.quota_failure().unwrap().violations[0];
        assert_eq!(violation.subject, limit);
        assert_eq!(violation.description, status.message());
        details.retry_info().is_some()
    };

    // Plain and packed, alone and in a stream.
    let large = Bytes::from(vec![b'.'; 6_000]);
    for mut client in [client.clone(), client.clone().send_compressed(Gzip)] {
        let request = SolveRequest { text: large.clone(), ..Default::default() };
        let status = client.solve(request).await.unwrap_err();
        assert!(!check(&status, "MESSAGE_BYTES_REACHED", "message-bytes", "5000"), "no use in trying again");
        let request = SolveLinesRequest { lines: large.clone(), ..Default::default() };
        let stream = client.solve_lines(tokio_stream::iter([request])).await.unwrap();
        let status = all_of(stream.into_inner()).await.1.unwrap_err();
        assert!(!check(&status, "MESSAGE_BYTES_REACHED", "message-bytes", "5000"));
    }

    let mut client = client;
    let request = SolveRequest { text: Bytes::from("\n".repeat(11)), ..Default::default() };
    let status = client.solve(request).await.unwrap_err();
    assert!(!check(&status, "MESSAGE_LINES_REACHED", "message-lines", "10"));

    // On a server of its own, because a call that has ended counts for an instant longer than its
    // client waits.
    let mut narrow = config();
    narrow.limits.streams = 1;
    let server = start(narrow).await;
    let mut client = server.client().await;
    let (sender, requests) = mpsc::channel(1);
    // A call takes its place with its first message.
    sender.send(SolveLinesRequest::default()).await.unwrap();
    let mut open = client.solve_lines(ReceiverStream::new(requests)).await.unwrap().into_inner();
    assert!(open.message().await.unwrap().is_some());
    let status = client.solve(SolveRequest::default()).await.unwrap_err();
    assert!(check(&status, "MAX_STREAMS_REACHED", "max-streams", "1"), "it helps to come again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_that_passes_is_told() {
    let endless = Faulty::new(Fault::Endless);
    let server = start(config_with(endless)).await;
    let mut client = server.client_without_timers();
    let mut request = Request::new(SolveRequest { text: puzzle(), ..Default::default() });
    request.set_timeout(Duration::from_millis(200));
    let status = client.solve(request).await.unwrap_err();
    details(&status, Code::DeadlineExceeded, "DEADLINE_PASSED");

    let (sender, requests) = mpsc::channel(1);
    sender.send(batch(1, &[b"."])).await.unwrap();
    let mut request = Request::new(ReceiverStream::new(requests));
    request.set_timeout(Duration::from_millis(200));
    let stream = client.solve_stream(request).await.unwrap();
    let status = all_of(stream.into_inner()).await.1.unwrap_err();
    details(&status, Code::DeadlineExceeded, "DEADLINE_PASSED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_counts_from_the_headers_of_a_call() {
    let server = start(config()).await;
    let mut calls = Grpc::with_origin(hyper_channel(), server.url().parse().unwrap());
    calls.ready().await.unwrap();
    let (_sender, requests) = mpsc::channel::<SolveRequest>(1);
    let mut request = Request::new(ReceiverStream::new(requests));
    request.set_timeout(Duration::from_millis(200));
    let path = PathAndQuery::from_static("/sudoku.v1.SudokuService/Solve");
    let codec = ProstCodec::<SolveRequest, SolveResponse>::default();
    let call = calls.client_streaming(request, path, codec);
    let status = timeout(PATIENCE, call).await.unwrap().unwrap_err();
    details(&status, Code::DeadlineExceeded, "DEADLINE_PASSED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutting_down_says_when_to_come_again() {
    let server = start(config()).await;
    let (sender, requests) = mpsc::channel(1);
    sender.send(batch(1, &[b"."])).await.unwrap();
    let stream = server.client().await.solve_stream(ReceiverStream::new(requests)).await.unwrap();
    let ending = tokio::spawn(all_of(stream.into_inner()));
    server.stop().await.unwrap();
    let (_, end) = timeout(PATIENCE, ending).await.unwrap().unwrap();
    let details = details(&end.unwrap_err(), Code::Unavailable, "SHUTTING_DOWN");
    assert_eq!(details.retry_info().unwrap().retry_delay, Some(Duration::from_secs(1)));
    drop(sender);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_breaks_down_is_an_internal_error() {
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let request = TraceRequest { options: Some(by("faulty")), text: puzzle(), ..Default::default() };
    let status = match server.client().await.trace(request).await {
        Ok(stream) => all_of(stream.into_inner()).await.1.unwrap_err(),
        Err(status) => status,
    };
    let details = details(&status, Code::Internal, "WORK_BROKE_DOWN");
    assert!(details.debug_info().is_none(), "what went wrong is for the log");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_that_are_missing_are_told_from_unknown_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    fs::write(&file, "correct-horse-battery-staple").unwrap();
    let server = start(Config { token_file: Some(file), ..config() }).await;
    let mut client = server.client().await;
    let status = client.solve(SolveRequest::default()).await.unwrap_err();
    details(&status, Code::Unauthenticated, "TOKEN_MISSING");
    let mut request = Request::new(SolveRequest::default());
    request.metadata_mut().insert("authorization", "Bearer some-other-long-token".parse().unwrap());
    let status = client.solve(request).await.unwrap_err();
    details(&status, Code::Unauthenticated, "TOKEN_UNKNOWN");
}

async fn solve_dataset(server: &Running, name: &str) -> Status {
    let request = SolveDatasetRequest { name: name.to_owned(), ..Default::default() };
    match server.client().await.solve_dataset(request).await {
        Ok(stream) => all_of(stream.into_inner()).await.1.unwrap_err(),
        Err(status) => status,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_sets_are_named_as_resources() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.txt"), format!("{}12\n", lines(&nearly_solved(3)))).unwrap();
    fs::write(folder.path().join("packed.gz"), b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03").unwrap();
    fs::write(folder.path().join("wide.txt"), b"\xFE\xFF\x001").unwrap();
    fs::write(folder.path().join("many.txt"), lines(&nearly_solved(20_000))).unwrap();
    let slow = Faulty::new(Fault::Slow(Duration::from_micros(100)));
    let counters = slow.counters.clone();
    let server = start(Config { data_dir: Some(folder.path().to_owned()), ..config_with(slow) }).await;

    let long = format!("{}.txt", "é".repeat(5_000));
    for name in ["none.txt", "../bad.txt", &long] {
        let missing = details(&solve_dataset(&server, name).await, Code::NotFound, "DATASET_NOT_FOUND");
        let resource = missing.resource_info().unwrap();
        assert_eq!(resource.resource_type, "sudoku.v1.Dataset");
        assert!(name.starts_with(&resource.resource_name) && resource.resource_name.len() <= 200);
    }
    let request = GetPuzzleRequest { name: "none.txt".to_owned(), ..Default::default() };
    let status = server.client().await.get_puzzle(request).await.unwrap_err();
    details(&status, Code::NotFound, "DATASET_NOT_FOUND");

    for (name, reason) in [
        ("bad.txt", "DATASET_MALFORMED"),
        ("wide.txt", "DATASET_MALFORMED"),
        ("packed.gz", "DATASET_COMPRESSED"),
    ] {
        let status = solve_dataset(&server, name).await;
        let unfit = details(&status, Code::FailedPrecondition, reason);
        let violation = &unfit.precondition_failure().unwrap().violations[0];
        assert_eq!((violation.r#type.as_str(), violation.subject.as_str()), (reason, name));
        assert_eq!(violation.description, status.message());
    }

    let request = SolveDatasetRequest { name: "many.txt".to_owned(), ..Default::default() };
    let stream = server.client().await.solve_dataset(request).await.unwrap().into_inner();
    eventually("work", || counters.begun() > 0).await;
    let file = fs::OpenOptions::new().write(true).open(folder.path().join("many.txt")).unwrap();
    file.set_len(1000).unwrap();
    let status = timeout(PATIENCE, all_of(stream)).await.unwrap().1.unwrap_err();
    let changed = details(&status, Code::Aborted, "DATASET_CHANGED");
    assert_eq!(changed.resource_info().unwrap().resource_name, "many.txt");
}

/// Sends a message of any kind to any path.
async fn send<M: prost::Message + Default + 'static>(
    server: &Running,
    path: &'static str,
    request: Request<M>,
) -> Result<SolveResponse, Status> {
    let mut client: Grpc<Channel> = Grpc::new(server.channel().await);
    client.ready().await.unwrap();
    let codec = ProstCodec::<M, SolveResponse>::default();
    client.unary(request, PathAndQuery::from_static(path), codec).await.map(tonic::Response::into_inner)
}

const SOLVE: &str = "/sudoku.v1.SudokuService/Solve";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_methods_messages_and_encodings_are_explained() {
    let server = start(config()).await;
    let request = || Request::new(SolveRequest { text: puzzle(), ..Default::default() });
    send(&server, SOLVE, request()).await.unwrap();

    let status = send(&server, "/sudoku.v1.SudokuService/Resolve", request()).await.unwrap_err();
    details(&status, Code::Unimplemented, "METHOD_UNKNOWN");
    assert_eq!(status.message(), "The service sudoku.v1.SudokuService has no method `Resolve`.");
    let status = send(&server, "/grpc.reflection.v1.ServerReflection/Nope", request()).await.unwrap_err();
    details(&status, Code::Unimplemented, "METHOD_UNKNOWN");
    assert_eq!(status.message(), "The service grpc.reflection.v1.ServerReflection has no method `Nope`.");
    let status = send(&server, "/sudoku.v2.SudokuService/Solve", request()).await.unwrap_err();
    details(&status, Code::Unimplemented, "METHOD_UNKNOWN");
    let words = "This server has no service `sudoku.v2.SudokuService`. It has sudoku.v1.SudokuService, ";
    assert!(status.message().starts_with(words), "{status:?}");
    let status = send(&server, "/", request()).await.unwrap_err();
    details(&status, Code::Unimplemented, "METHOD_UNKNOWN");

    // The first field of this one is a number, where Solve has a message.
    let other = Request::new(ListDatasetsRequest { page_size: 5, ..Default::default() });
    let status = send(&server, SOLVE, other).await.unwrap_err();
    details(&status, Code::InvalidArgument, "MESSAGE_UNREADABLE");
    let words = "The message cannot be read: failed to decode Protobuf message: ";
    assert!(status.message().starts_with(words) && status.message().ends_with('.'), "{status:?}");

    let mut packed = request();
    packed.metadata_mut().insert("grpc-encoding", "br".parse().unwrap());
    let status = send(&server, SOLVE, packed).await.unwrap_err();
    let encoding = details(&status, Code::Unimplemented, "ENCODING_UNKNOWN");
    for known in ["gzip", "deflate", "zstd", "identity"] {
        assert!(fact(&encoding, "accepted").contains(known), "{encoding:?}");
        assert!(status.message().contains(known), "{status:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_call_gets_415() {
    let server = start(config()).await;
    let mut channel = server.channel().await;
    let mut answer = async |kind: Option<&'static str>| {
        let mut request = http::Request::post(format!("{}{SOLVE}", server.url()));
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        std::future::poll_fn(|poller| channel.poll_ready(poller)).await.unwrap();
        // A message without a field: it is solved as an empty text.
        let message = http_body_util::Full::new(Bytes::from_static(&[0; 5]));
        channel.call(request.body(Body::new(message)).unwrap()).await.unwrap()
    };
    // The last one is for methods with streams.
    for kind in [None, Some("text/html"), Some("application/grpc+json"), Some("application/connect+json")] {
        let response = answer(kind).await;
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind:?}");
        assert!(response.headers().get("x-request-id").is_some());
        assert!(response.headers().get("grpc-status").is_none());
        let taken = response.headers()["accept-post"].to_str().unwrap();
        assert!(taken.starts_with("application/json, ") && taken.ends_with(", application/grpc"), "{taken}");
    }
    for kind in ["application/grpc", "application/grpc+proto", "application/grpc; charset=utf-8"] {
        let response = answer(Some(kind)).await;
        assert_eq!(response.status(), StatusCode::OK, "{kind}");
    }
    // The connection is none the worse for it.
    let text = puzzle();
    let solved = SudokuServiceClient::new(channel).solve(SolveRequest { text, ..Default::default() }).await;
    assert!(solved.is_ok());
}
