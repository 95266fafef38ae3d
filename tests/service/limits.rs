//! Limits on the bytes and the lines of a message, and on the calls that are open.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveRequest, ValidateRequest};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::codec::CompressionEncoding::{Gzip, Zstd};
use tonic::codegen::http;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt as _;

use crate::harness::server::{Running, config, hyper_channel, nearly_solved, start};
use crate::harness::{PATIENCE, lines};

async fn clients(server: &Running) -> Vec<SudokuServiceClient<Channel>> {
    let client = server.client().await;
    vec![client.clone(), client.clone().send_compressed(Gzip), client.send_compressed(Zstd)]
}

async fn solve_all(
    client: &mut SudokuServiceClient<Channel>,
    messages: Vec<Bytes>,
) -> (usize, Result<(), Status>) {
    let requests =
        messages.into_iter().map(|lines| SolveLinesRequest { lines, ..SolveLinesRequest::default() });
    let mut stream =
        client.solve_lines(tokio_stream::iter(requests.collect::<Vec<_>>())).await.unwrap().into_inner();
    let mut responses = 0;
    loop {
        match stream.message().await {
            Ok(Some(_)) => responses += 1,
            Ok(None) => return (responses, Ok(())),
            Err(status) => return (responses, Err(status)),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_too_large_is_one_status_plain_or_packed() {
    let mut config = config();
    config.limits.message_bytes = 10_000;
    let server = start(config).await;
    let good = Bytes::from(lines(&nearly_solved(100)));
    assert!(good.len() < 9_000);
    let large = Bytes::from(vec![b'.'; 10_001]);
    for mut client in clients(&server).await {
        let call = SolveRequest { options: None, text: large.clone(), ..Default::default() };
        assert_eq!(client.solve(call).await.unwrap_err().code(), Code::ResourceExhausted);
        let (responses, end) = solve_all(&mut client, vec![good.clone(), large.clone()]).await;
        assert_eq!(end.unwrap_err().code(), Code::ResourceExhausted);
        assert_eq!(responses, 1, "what came before is answered");
        let (responses, end) = solve_all(&mut client, vec![good.clone(), good.clone()]).await;
        end.unwrap();
        assert_eq!(responses, 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_with_too_many_lines_is_refused() {
    let mut config = config();
    config.limits.message_lines = 10;
    let server = start(config).await;
    let mut client = server.client().await;
    let exact = Bytes::from("\n".repeat(10));
    let above = Bytes::from("\n".repeat(11));
    let (responses, end) = solve_all(&mut client, vec![exact.clone(), exact.clone(), above.clone()]).await;
    assert_eq!(responses, 2);
    let status = end.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let details = status.get_error_details();
    assert_eq!(details.quota_failure().unwrap().violations[0].subject, "message-lines");
    let call = |text: &Bytes| ValidateRequest { text: text.clone(), ..Default::default() };
    assert!(client.validate(call(&exact)).await.is_ok());
    assert_eq!(client.validate(call(&above)).await.unwrap_err().code(), Code::ResourceExhausted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_are_too_long_are_refused_with_words() {
    let mut config = config();
    config.limits.header_bytes = 4_096;
    let server = start(config).await;
    let mut client = server.client().await;
    let with = |bytes: usize| {
        let mut request = Request::new(SolveRequest { puzzle: "1...".repeat(4), ..Default::default() });
        request.metadata_mut().insert("x-long", "x".repeat(bytes).parse().unwrap());
        request
    };
    client.solve(with(3_000)).await.unwrap();
    let status = client.solve(with(5_000)).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.message(), "This server's limit of 4096 bytes of headers is reached.");
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().reason, "HEADER_BYTES_REACHED");
    assert_eq!(details.quota_failure().unwrap().violations[0].subject, "header-bytes");
    // The transport refuses what it does not take in, and the connection stays.
    client.solve(with(10_000)).await.unwrap_err();
    client.solve(with(3_000)).await.unwrap();

    // What is no gRPC gets them as text, over HTTP/2 too.
    let page = http::Request::get(server.url()).header("x-long", "x".repeat(5_000));
    let response = hyper_channel().request(page.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 431);
    let text = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(text, "The headers have more than 4096 bytes.\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_beyond_the_limit_are_refused_until_others_end() {
    let mut config = config();
    config.limits.streams = 2;
    let server = start(config).await;
    let mut client = server.client().await;
    let mut open = Vec::new();
    for _ in 0..2 {
        let (sender, requests) = mpsc::channel::<SolveLinesRequest>(1);
        // A call takes its place with its first message.
        sender.send(SolveLinesRequest::default()).await.unwrap();
        let mut stream = client.solve_lines(ReceiverStream::new(requests)).await.unwrap().into_inner();
        assert!(stream.message().await.unwrap().is_some());
        open.push((sender, stream));
    }
    // Another connection does not help.
    for mut client in [client, server.client().await] {
        let status = client.solve(SolveRequest::default()).await.unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert_eq!(status.message(), "This server's limit of 2 calls open at once is reached.");
    }
    let (sender, mut stream) = open.pop().unwrap();
    drop(sender);
    assert!(stream.message().await.unwrap().is_none());
    let mut client = server.client().await;
    // The server sees the end of a call a little later than its client, but it does see it.
    let accepted = async {
        while let Err(status) = client.solve(SolveRequest::default()).await {
            assert_eq!(status.code(), Code::ResourceExhausted);
        }
    };
    timeout(PATIENCE, accepted).await.expect("a call is accepted after another has ended");
}
