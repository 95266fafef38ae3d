//! Shutting down.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveRequest};
use sudoku_stream::service::{Config, Stopped};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::server::{self, Fault, Faulty, Running, config, config_with, eventually, nearly_solved};
use crate::harness::{PATIENCE, assert_solves, lines};
use crate::streams::batch;

/// A server that waits for its calls far longer than any test does.
async fn start(config: Config) -> Running {
    server::start(Config { drain_timeout: 10 * PATIENCE, ..config }).await
}

async fn stops_promptly(server: Running) {
    let stopped = timeout(PATIENCE, server.stop()).await.unwrap().unwrap();
    assert_eq!(stopped, Stopped::Drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_connection() {
    stops_promptly(start(config()).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_idle_and_silent_connections() {
    let server = start(config()).await;
    let mut client = server.client().await;
    client.solve(SolveRequest::default()).await.unwrap();
    let silent = TcpStream::connect(server.address).await.unwrap();
    // Connections are accepted in order: once this one is served, the silent one is not merely
    // queued by the system.
    server.client().await.solve(SolveRequest::default()).await.unwrap();
    stops_promptly(server).await;
    drop((client, silent));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_streams_end_with_unavailable() {
    let server = start(config()).await;
    let (sender, requests) = mpsc::channel(1);
    sender.send(batch(1, &[b"."])).await.unwrap();
    let mut stream =
        server.client().await.solve_stream(ReceiverStream::new(requests)).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap().unwrap().batch_id, 1);
    let status = tokio::spawn(async move { stream.message().await.unwrap_err() });
    stops_promptly(server).await;
    assert_eq!(status.await.unwrap().code(), Code::Unavailable);
    drop(sender);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_of_the_health_are_told_and_let_go() {
    let server = start(config()).await;
    let mut health = HealthClient::new(server.channel().await);
    let service = "sudoku.v1.SudokuService".to_owned();
    let mut watch = health.watch(HealthCheckRequest { service }).await.unwrap().into_inner();
    let status = |message: tonic_health::pb::HealthCheckResponse| message.status();
    assert_eq!(status(watch.message().await.unwrap().unwrap()), ServingStatus::Serving);
    let seen = tokio::spawn(async move {
        let next = watch.message().await.unwrap().unwrap().status();
        while let Ok(Some(_)) = watch.message().await {}
        next
    });
    stops_promptly(server).await;
    assert_eq!(seen.await.unwrap(), ServingStatus::NotServing);
}

/// Eight streams send as fast as they can. Every answer that a client gets is right and in order, and every stream
/// ends with a status of the server's, not with a broken connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn busy_streams_get_what_was_accepted_and_a_clear_end() {
    for _ in 0..5 {
        let server = start(config()).await;
        let puzzles = nearly_solved(64);
        let message = Bytes::from(lines(&puzzles));
        let answered = Arc::new(AtomicUsize::new(0));
        let mut clients = Vec::new();
        for _ in 0..8 {
            let mut client = server.client().await;
            let (puzzles, message) = (puzzles.clone(), message.clone());
            let counter = Arc::clone(&answered);
            clients.push(tokio::spawn(async move {
                let requests = std::iter::repeat_with(move || SolveLinesRequest {
                    lines: message.clone(),
                    ..SolveLinesRequest::default()
                });
                let mut stream = client.solve_lines(tokio_stream::iter(requests)).await.unwrap().into_inner();
                let mut first = true;
                loop {
                    match stream.message().await {
                        Ok(Some(response)) => {
                            let text = str::from_utf8(&response.lines).unwrap();
                            assert_eq!(text.lines().count(), puzzles.len());
                            if std::mem::take(&mut first) {
                                counter.fetch_add(1, Ordering::SeqCst);
                                for (answer, puzzle) in text.lines().zip(&puzzles) {
                                    assert_solves(answer, puzzle);
                                }
                            }
                        }
                        Ok(None) => panic!("the stream ended as if all had been read"),
                        Err(status) => return status,
                    }
                }
            }));
        }
        let streams = clients.len();
        eventually("busy streams", || answered.load(Ordering::SeqCst) == streams).await;
        stops_promptly(server).await;
        for client in clients {
            let status = timeout(PATIENCE, client).await.unwrap().unwrap();
            assert_eq!(status.code(), Code::Unavailable, "{status:?}");
            assert!(status.message().starts_with("The server is shutting down."), "{status:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_is_answered_however_long_it_takes_within_the_time_out() {
    let slow = Faulty::new(Fault::Slow(Duration::from_millis(200)));
    let counters = slow.counters.clone();
    let server = start(config_with(slow)).await;
    let puzzle = nearly_solved(1).remove(0);
    let (sender, requests) = mpsc::channel(4);
    sender.send(batch(1, &[puzzle.as_bytes(); 3])).await.unwrap();
    let mut stream =
        server.client().await.solve_stream(ReceiverStream::new(requests)).await.unwrap().into_inner();
    eventually("work", || counters.begun() > 0).await;
    let answers = tokio::spawn(async move {
        let response = stream.message().await.unwrap().unwrap();
        (response, stream.message().await.unwrap_err())
    });
    stops_promptly(server).await;
    let (response, status) = answers.await.unwrap();
    assert_eq!(response.answers.len(), 3);
    assert_eq!(status.code(), Code::Unavailable);
    drop(sender);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_does_not_end_is_cut_off() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let mut config = config_with(endless);
    config.drain_timeout = Duration::from_millis(300);
    let server = server::start(config).await;
    let (sender, requests) = mpsc::channel(1);
    sender.send(batch(1, &[b"."])).await.unwrap();
    let stream = server.client().await.solve_stream(ReceiverStream::new(requests)).await.unwrap();
    eventually("work", || counters.running() > 0).await;
    let start = Instant::now();
    let stopped = timeout(PATIENCE, server.stop()).await.unwrap().unwrap();
    assert_eq!(stopped, Stopped::CutOff);
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
    drop((stream, sender));
}
