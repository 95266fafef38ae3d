//! Clients that are slow, greedy, gone or out of time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveRequest, SolveStreamRequest};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request};

use crate::harness::{
    Fault, Faulty, PATIENCE, assert_solves, by, config, config_with, easy, eventually, lines, solution, start,
};
use crate::streams::batch;

/// With small windows h2 ends the connection: too many small frames lie unread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_streams_of_single_puzzles_to_a_slow_handler_lose_nothing() {
    const STREAMS: usize = 16;
    const PUZZLES: usize = 3000;
    let server = start(config_with(Faulty::new(Fault::Slow(Duration::from_micros(50))))).await;
    let client = server.client().await;
    let puzzles = Arc::new(easy(100));
    let mut tasks = Vec::new();
    for _ in 0..STREAMS {
        let (mut client, puzzles) = (client.clone(), Arc::clone(&puzzles));
        tasks.push(tokio::spawn(async move {
            let requests = (0..PUZZLES).map({
                let puzzles = Arc::clone(&puzzles);
                move |k| batch(k as u64, &[puzzles[k % 100].as_bytes()])
            });
            let mut stream = client.solve_stream(tokio_stream::iter(requests)).await.unwrap().into_inner();
            let mut answered = 0;
            while let Some(response) = stream.message().await.unwrap() {
                assert_eq!(response.batch_id, answered as u64);
                assert_solves(solution(&response.answers[0]), &puzzles[answered % 100]);
                answered += 1;
            }
            answered
        }));
    }
    for task in tasks {
        assert_eq!(timeout(PATIENCE, task).await.unwrap().unwrap(), PUZZLES);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_not_read_and_others_are_served() {
    let server = start(config()).await;
    let message = Bytes::from(lines(&easy(1000)));
    let produced = Arc::new(AtomicUsize::new(0));
    let requests = {
        let produced = Arc::clone(&produced);
        tokio_stream::iter(0..100_000usize).map(move |_| {
            produced.fetch_add(1, Ordering::SeqCst);
            SolveLinesRequest { lines: message.clone(), ..SolveLinesRequest::default() }
        })
    };
    let mut stream = server.client().await.solve_lines(requests).await.unwrap().into_inner();

    // It is held back when it has sent what fits into its windows, the queue and the buffers in between.
    let mut before = usize::MAX;
    let held_back = async {
        while before != produced.load(Ordering::SeqCst) {
            before = produced.load(Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    timeout(PATIENCE, held_back).await.unwrap();
    assert!(before < 1000, "{before} messages of 82 KB were taken from a client that reads none");

    let mut other = server.client().await;
    let puzzle = &easy(1)[0];
    for _ in 0..20 {
        let call = SolveRequest { options: None, text: Bytes::copy_from_slice(puzzle.as_bytes()) };
        let answers = timeout(PATIENCE, other.solve(call)).await.unwrap().unwrap().into_inner().answers;
        assert_solves(solution(&answers[0]), puzzle);
    }

    // And it goes on where it stopped.
    for _ in 0..before {
        let response = timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
        assert_eq!(response.tally.unwrap().answers, 1000);
    }
    eventually("going on", || produced.load(Ordering::SeqCst) > before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_stops_when_its_client_leaves() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let server = start(config_with(endless)).await;
    let mut client = server.client().await;
    let puzzle = easy(1).remove(0);

    let (sender, requests) = mpsc::channel(8);
    for k in 0..8 {
        sender.send(batch(k, &[puzzle.as_bytes(); 10])).await.unwrap();
    }
    let stream = client.solve_stream(ReceiverStream::new(requests)).await.unwrap();
    eventually("work", || counters.running() > 0).await;
    drop((stream, sender));
    eventually("the end of the work", || counters.running() == 0).await;
    let begun = counters.begun();
    assert!(begun <= 8, "each batch stops at the puzzle it is at; {begun} were begun");

    // A unary call that is given up.
    let call = SolveRequest { options: None, text: Bytes::copy_from_slice(puzzle.as_bytes()) };
    let unary = tokio::spawn(async move { client.solve(call).await });
    eventually("work", || counters.running() > 0).await;
    unary.abort();
    eventually("the end of the work", || counters.running() == 0).await;

    let sound =
        SolveRequest { options: Some(by("backtracking")), text: Bytes::copy_from_slice(puzzle.as_bytes()) };
    let answers = server.client().await.solve(sound).await.unwrap().into_inner().answers;
    assert_solves(solution(&answers[0]), &puzzle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_ends_streams_and_their_work() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let server = start(config_with(endless)).await;
    let mut client = server.client().await;
    let puzzle = easy(1).remove(0);
    let sound = SolveStreamRequest { options: Some(by("backtracking")), ..batch(1, &[puzzle.as_bytes()]) };
    let stuck = SolveStreamRequest { options: Some(by("faulty")), ..batch(2, &[puzzle.as_bytes()]) };

    let (sender, requests) = mpsc::channel(2);
    sender.send(sound).await.unwrap();
    sender.send(stuck).await.unwrap();
    let mut request = Request::new(ReceiverStream::new(requests));
    // The header alone, so that it is the server's timer that goes off.
    request.metadata_mut().insert("grpc-timeout", "1500m".parse().unwrap());
    let start = Instant::now();
    let mut stream = client.solve_stream(request).await.unwrap().into_inner();
    let first = stream.message().await.unwrap().unwrap();
    assert_solves(solution(&first.answers[0]), &puzzle);
    let status = timeout(PATIENCE, stream.message()).await.unwrap().unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert!((1000..9000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    eventually("the end of the work", || counters.running() == 0).await;

    let mut unary =
        Request::new(SolveRequest { options: None, text: Bytes::copy_from_slice(puzzle.as_bytes()) });
    unary.metadata_mut().insert("grpc-timeout", "100m".parse().unwrap());
    let status = timeout(PATIENCE, client.solve(unary)).await.unwrap().unwrap_err();
    // This client keeps a timer of its own for unary calls, which gives another code when it is first. Which code
    // the server gives is tested beside its timer.
    assert!([Code::DeadlineExceeded, Code::Cancelled].contains(&status.code()), "{status}");
    eventually("the end of the work", || counters.running() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_streams_together_have_a_bound_on_the_pool() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let mut config = config_with(endless);
    config.limits.in_flight = std::num::NonZeroUsize::new(1);
    let server = start(config).await;
    let mut client = server.client().await;
    let puzzle = easy(1).remove(0);
    let mut streams = Vec::new();
    for _ in 0..4 {
        let (sender, requests) = mpsc::channel(1);
        sender.send(batch(1, &[puzzle.as_bytes()])).await.unwrap();
        let stream = client.solve_stream(ReceiverStream::new(requests)).await.unwrap().into_inner();
        streams.push((sender, stream));
        // One after another, so that it is known whose turn comes when.
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    eventually("work", || counters.begun() == 1).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(counters.begun(), 1, "two threads are free for it, one batch in all is allowed");
    // When it ends, the next one has its turn.
    for begun in 2..=4 {
        drop(streams.remove(0));
        eventually("the next one's turn", || counters.begun() == begun).await;
    }
    streams.clear();
    eventually("the end of the work", || counters.running() == 0).await;
}
