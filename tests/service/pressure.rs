//! Clients that are slow, greedy, gone or out of time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as Poller, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use prost::Message as _;
use sudoku_stream::service::proto::{SolveLinesRequest, SolveRequest, SolveStreamRequest};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt as _;

use crate::harness::server::{Fault, Faulty, config, config_with, eventually, nearly_solved, start};
use crate::harness::{PATIENCE, assert_solves, by, error, lines, solution};
use crate::streams::batch;

/// With small windows h2 ends the connection: too many small frames lie unread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_streams_of_single_puzzles_to_a_slow_handler_lose_nothing() {
    const STREAMS: usize = 16;
    const PUZZLES: usize = 3000;
    let server = start(config_with(Faulty::new(Fault::Slow(Duration::from_micros(50))))).await;
    let client = server.client().await;
    let puzzles = Arc::new(nearly_solved(100));
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
    let message = Bytes::from(lines(&nearly_solved(1000)));
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
            // Being held back is that nothing happens for a while.
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    timeout(PATIENCE, held_back).await.unwrap();
    assert!(before < 1000, "{before} messages of 82 KB were taken from a client that reads none");

    let mut other = server.client().await;
    let puzzle = &nearly_solved(1)[0];
    for _ in 0..20 {
        let call = SolveRequest {
            options: None,
            text: Bytes::copy_from_slice(puzzle.as_bytes()),
            ..Default::default()
        };
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
    let puzzle = nearly_solved(1).remove(0);

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
    let call =
        SolveRequest { options: None, text: Bytes::copy_from_slice(puzzle.as_bytes()), ..Default::default() };
    let unary = tokio::spawn(async move { client.solve(call).await });
    eventually("work", || counters.running() > 0).await;
    unary.abort();
    eventually("the end of the work", || counters.running() == 0).await;

    let sound = SolveRequest {
        options: Some(by("backtracking")),
        text: Bytes::copy_from_slice(puzzle.as_bytes()),
        ..Default::default()
    };
    let answers = server.client().await.solve(sound).await.unwrap().into_inner().answers;
    assert_solves(solution(&answers[0]), &puzzle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_ends_streams_and_their_work() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let server = start(config_with(endless)).await;
    let mut client = server.client_without_timers();
    let puzzle = nearly_solved(1).remove(0);
    let sound = SolveStreamRequest { options: Some(by("backtracking")), ..batch(1, &[puzzle.as_bytes()]) };
    let stuck = SolveStreamRequest { options: Some(by("faulty")), ..batch(2, &[puzzle.as_bytes()]) };

    // On a busy machine a deadline may come before the first answer.
    let mut deadline = Duration::from_millis(1_500);
    loop {
        let (sender, requests) = mpsc::channel(2);
        sender.send(sound.clone()).await.unwrap();
        sender.send(stuck.clone()).await.unwrap();
        let mut request = Request::new(ReceiverStream::new(requests));
        request.set_timeout(deadline);
        let start = Instant::now();
        let answers = async {
            let mut stream = client.solve_stream(request).await?.into_inner();
            let first = stream.message().await?.unwrap();
            Ok((first, stream.message().await))
        };
        let ended: Result<_, Status> = timeout(PATIENCE, answers).await.unwrap();
        let (status, has_first) = match ended {
            Ok((first, end)) => {
                assert_solves(solution(&first.answers[0]), &puzzle);
                (end.unwrap_err(), true)
            }
            Err(status) => (status, false),
        };
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
        assert!(start.elapsed() >= deadline * 2 / 3, "{:?}", start.elapsed());
        if has_first {
            break;
        }
        deadline *= 2;
    }
    eventually("the end of the work", || counters.running() == 0).await;

    let mut unary = Request::new(SolveRequest {
        options: None,
        text: Bytes::copy_from_slice(puzzle.as_bytes()),
        ..Default::default()
    });
    unary.set_timeout(Duration::from_millis(100));
    let status = timeout(PATIENCE, client.solve(unary)).await.unwrap().unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
    eventually("the end of the work", || counters.running() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_work_of_one_stream_holds_up_nobody_else() {
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let server = start(config_with(endless)).await;
    let puzzles = nearly_solved(2000);
    let (sender, requests) = mpsc::channel(8);
    for k in 0..8 {
        // So long that each message is a batch by itself.
        sender.send(batch(k, &[puzzles[0].as_bytes(); 250])).await.unwrap();
    }
    let greedy = server.client().await.solve_stream(ReceiverStream::new(requests)).await.unwrap();
    eventually("work", || counters.running() >= 2).await;

    let mut small = server.client().await;
    for puzzle in &puzzles[..50] {
        let text = Bytes::copy_from_slice(puzzle.as_bytes());
        let call = SolveRequest { options: Some(by("backtracking")), text, ..Default::default() };
        let answers = timeout(PATIENCE, small.solve(call)).await.unwrap().unwrap().into_inner().answers;
        assert_solves(solution(&answers[0]), puzzle);
    }
    let texts: Vec<&[u8]> = puzzles.iter().map(String::as_bytes).collect();
    let large = texts.chunks(1000).zip(0..);
    let large = large.map(|(texts, id)| SolveStreamRequest { options: Some(by("fast")), ..batch(id, texts) });
    let large = tokio_stream::iter(large.collect::<Vec<_>>());
    let mut stream = small.solve_stream(large).await.unwrap().into_inner();
    for puzzles in puzzles.chunks(1000) {
        let response = timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
        for (answer, puzzle) in response.answers.iter().zip(puzzles) {
            assert_solves(solution(answer), puzzle);
        }
    }
    // On the threads where it may take long, it has as many as there are cores.
    eventually("its share", || counters.running() == 2).await;
    drop((greedy, sender));
    eventually("the end of the work", || counters.running() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_puzzle_that_takes_too_long_is_given_up_and_the_next_follows() {
    let endless = Faulty::new(Fault::Endless);
    let mut config = config_with(endless);
    config.limits.puzzle_time = Duration::from_millis(200);
    let server = start(config).await;
    let mut client = server.client().await;
    let puzzles = nearly_solved(3);
    let sound =
        SolveStreamRequest { options: Some(by("backtracking")), ..batch(2, &[puzzles[0].as_bytes()]) };
    let texts: Vec<&[u8]> = puzzles.iter().map(String::as_bytes).collect();
    let messages = tokio_stream::iter([batch(1, &texts), sound]);
    let mut stream = client.solve_stream(messages).await.unwrap().into_inner();
    let first = timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
    for (answer, line) in first.answers.iter().zip(1..) {
        assert_eq!(error(answer).message, format!("Line {line} was given up after 0 nodes."));
    }
    assert_eq!(first.answers.len(), 3);
    let second = timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
    assert_solves(solution(&second.answers[0]), &puzzles[0]);

    let text = Bytes::copy_from_slice(puzzles[0].as_bytes());
    let answers = client
        .solve(SolveRequest { options: None, text, ..Default::default() })
        .await
        .unwrap()
        .into_inner()
        .answers;
    assert_eq!(error(&answers[0]).message, "The puzzle was given up after 0 nodes.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_take_its_answers_loses_its_connection() {
    let mut config = config();
    config.limits.idle_timeout = Duration::from_millis(400);
    let server = start(config).await;
    let message = Bytes::from(lines(&nearly_solved(1000)));
    // Far more than fits into its windows. The requests are dropped with their connection.
    let requests_left = Arc::new(());
    let left = Arc::clone(&requests_left);
    let requests = tokio_stream::iter((0..1000).map(move |_| {
        debug_assert_eq!(Arc::strong_count(&left), 2);
        SolveLinesRequest { lines: message.clone(), ..SolveLinesRequest::default() }
    }));
    let mut idle = server.client().await.solve_lines(requests).await.unwrap().into_inner();
    // A stream without anything to say is not idle in this sense.
    let (sender, requests) = mpsc::channel(1);
    let mut quiet =
        server.client().await.solve_stream(ReceiverStream::new(requests)).await.unwrap().into_inner();
    eventually("the end of the connection", || Arc::strong_count(&requests_left) == 1).await;
    let mut taken = 0;
    let status = loop {
        match timeout(PATIENCE, idle.message()).await.unwrap() {
            Ok(Some(_)) => taken += 1,
            Ok(None) => panic!("the stream ended well after {taken} answers"),
            Err(status) => break status,
        }
    };
    assert!(taken < 1000, "{status}");
    let puzzle = &nearly_solved(1)[0];
    sender.send(batch(1, &[puzzle.as_bytes()])).await.unwrap();
    let response = timeout(PATIENCE, quiet.message()).await.unwrap().unwrap().unwrap();
    assert_solves(solution(&response.answers[0]), puzzle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_not_read_ends_by_itself_and_says_why() {
    let mut config = config();
    config.limits.idle_timeout = Duration::from_millis(400);
    let server = start(config).await;
    let socket = TcpStream::connect(server.address).await.unwrap();
    let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let request = || {
        http::Request::post(format!("{}/sudoku.v1.SudokuService/SolveLines", server.url()))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .unwrap()
    };
    let (response, mut body) = client.send_request(request(), false).unwrap();
    let lines = Bytes::from(lines(&nearly_solved(1000)));
    let message = SolveLinesRequest { lines, ..SolveLinesRequest::default() }.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let message = Bytes::from([&[0], &length[..], &message].concat());
    for _ in 0..100 {
        body.send_data(message.clone(), false).unwrap();
    }
    // What its window has room for is there, and no more is asked for.
    let mut unread = timeout(PATIENCE, response).await.unwrap().unwrap().into_body();
    while let Some(data) = timeout(PATIENCE, unread.data()).await.unwrap() {
        assert!(!data.unwrap().is_empty());
    }
    let trailers = timeout(PATIENCE, unread.trailers()).await.unwrap().unwrap().unwrap();
    let status = Status::from_header_map(&trailers).unwrap();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.message(), "The client does not read its answers: read while you send.");
    let info = status.get_details_error_info().unwrap();
    assert_eq!((&*info.reason, &*info.metadata["value"]), ("ANSWERS_UNREAD", "0.4"));
    // The window of the connection has room again, and another stream of it is served.
    drop((unread, body));
    let (response, mut body) = client.send_request(request(), false).unwrap();
    body.send_data(message, true).unwrap();
    let mut read = timeout(PATIENCE, response).await.unwrap().unwrap().into_body();
    while let Some(data) = timeout(PATIENCE, read.data()).await.unwrap() {
        read.flow_control().release_capacity(data.unwrap().len()).unwrap();
    }
    let trailers = timeout(PATIENCE, read.trailers()).await.unwrap().unwrap().unwrap();
    assert_eq!(trailers["grpc-status"], "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_does_not_go_on_ends_its_call() {
    use std::future::poll_fn;

    use tonic::body::Body;
    use tonic::codegen::Service;
    use tonic::codegen::http::Request;

    let mut config = config();
    config.limits.message_timeout = Duration::from_millis(200);
    let server = start(config).await;
    // The header of a message of 1,000 bytes, and ten of these.
    let beginning = [&[0, 0, 0, 3, 232][..], &[0; 10]].concat();
    let body = Unfinished(Some(Bytes::from(beginning)));
    let request = Request::builder()
        .method("POST")
        .uri(format!("{}/sudoku.v1.SudokuService/Solve", server.url()))
        .header("content-type", "application/grpc")
        .body(Body::new(body))
        .unwrap();
    let mut channel = server.channel().await;
    let ready = poll_fn(|poller| Service::<Request<Body>>::poll_ready(&mut channel, poller));
    ready.await.unwrap();
    let response = timeout(PATIENCE, channel.call(request)).await.unwrap().unwrap();
    let status = Status::from_header_map(response.headers()).unwrap();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    assert!(status.message().contains("has not gone on for 0.2 s"), "{status}");
}

/// A body that begins and never ends.
struct Unfinished(Option<Bytes>);

impl http_body::Body for Unfinished {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Poller<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        match self.0.take() {
            Some(bytes) => Poll::Ready(Some(Ok(http_body::Frame::data(bytes)))),
            None => Poll::Pending,
        }
    }
}
