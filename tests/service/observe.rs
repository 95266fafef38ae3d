//! What calls leave behind: ids and lines in the log.

use std::io::Write;
use std::panic;
use std::sync::{Arc, Mutex, Once};

use bytes::Bytes;
use serde_json::Value;
use sudoku_stream::poison::IgnorePoison as _;
use sudoku_stream::service::proto::{SolveRequest, SolveStreamRequest};
use tonic::{Code, Request};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::harness::by;
use crate::harness::server::{Fault, Faulty, all_of, config, config_with, eventually, nearly_solved, start};
use crate::streams::batch;

/// The log of all tests in this process.
#[derive(Clone)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Starts it, once. Panics are logged as the server logs them.
    fn start() -> &'static Self {
        static LOG: Mutex<Option<&'static Log>> = Mutex::new(None);
        static HOOK: Once = Once::new();
        let mut log = LOG.lock().ignore_poison();
        let log = *log.get_or_insert_with(|| {
            let log: &'static Self = Box::leak(Box::new(Self(Arc::default())));
            let lines = tracing_subscriber::fmt().json().with_span_list(false).with_writer(log.clone());
            let wanted: Targets = "sudoku_stream=debug,panics=error".parse().unwrap();
            lines.with_max_level(LevelFilter::TRACE).finish().with(wanted).init();
            log
        });
        HOOK.call_once(|| {
            let usual = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                tracing::error!(target: "panics", "a panic");
                usual(info);
            }));
        });
        log
    }

    /// The lines of the call with this id.
    fn of(&self, id: &str) -> Vec<Value> {
        let log = self.0.lock().unwrap().clone();
        let lines = String::from_utf8(log).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["span"]["request_id"] == id).collect()
    }

    fn end_of(&self, id: &str) -> Option<Value> {
        self.of(id).into_iter().find(|line| line["fields"]["message"] == "the call has ended")
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn with_id<T>(message: T, id: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-request-id", id.parse().unwrap());
    request
}

fn puzzle() -> SolveRequest {
    SolveRequest { text: Bytes::from(nearly_solved(1).remove(0)), ..Default::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_keeps_its_clients_id_if_that_is_sane() {
    let server = start(config()).await;
    let mut client = server.client().await;
    let longest = "i".repeat(128);
    for id in ["a", "6f1c-42", &longest] {
        let response = client.solve(with_id(puzzle(), id)).await.unwrap();
        assert_eq!(response.metadata().get("x-request-id").unwrap(), id);
    }
    let is_fresh = |id: &str| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut seen = Vec::new();
    for id in ["two words", "", &"i".repeat(129)] {
        let response = client.solve(with_id(puzzle(), id)).await.unwrap();
        let given = response.metadata().get("x-request-id").unwrap().to_str().unwrap();
        assert!(is_fresh(given), "{given}");
        seen.push(given.to_owned());
    }
    let response = client.solve(puzzle()).await.unwrap();
    seen.push(response.metadata().get("x-request-id").unwrap().to_str().unwrap().to_owned());
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4, "ids are not given twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_has_its_id_at_both_ends() {
    let server = start(config()).await;
    let bad = SolveStreamRequest { options: Some(by("nonsense")), ..Default::default() };
    let requests = tokio_stream::iter([batch(1, &[b"."]), bad]);
    let response = server.client().await.solve_stream(with_id(requests, "both-ends")).await.unwrap();
    assert_eq!(response.metadata().get("x-request-id").unwrap(), "both-ends");
    let (responses, end) = all_of(response.into_inner()).await;
    assert_eq!(responses.len(), 1);
    let status = end.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(status.metadata().get("x-request-id").unwrap(), "both-ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_tells_how_a_call_ended_and_not_what_was_in_it() {
    let log = Log::start();
    let server = start(config()).await;
    let mut client = server.client().await;
    let puzzles = nearly_solved(30);
    let message: Vec<&[u8]> = puzzles.iter().map(String::as_bytes).collect();
    let requests = tokio_stream::iter([batch(1, &message[..10]), batch(2, &message[10..])]);
    let stream = client.solve_stream(with_id(requests, "log-stream")).await.unwrap();
    all_of(stream.into_inner()).await.1.unwrap();
    eventually("a line", || log.end_of("log-stream").is_some()).await;
    let end = log.end_of("log-stream").unwrap();
    assert_eq!(end["level"], "DEBUG");
    assert_eq!(end["fields"]["status"], "OK");
    assert!(end["fields"]["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(end["span"]["method"], "SolveStream");
    assert_eq!((&end["span"]["messages"], &end["span"]["lines"]), (&2.into(), &30.into()));

    let bad = SolveRequest { options: Some(by("nonsense")), ..puzzle() };
    client.solve(with_id(bad, "log-bad")).await.unwrap_err();
    eventually("a line", || log.end_of("log-bad").is_some()).await;
    assert_eq!(log.end_of("log-bad").unwrap()["fields"]["status"], "INVALID_ARGUMENT");
    assert_eq!(log.of("log-bad").len(), 1, "a client's mistake is no trouble of the server's");

    let whole = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(puzzles.iter().all(|puzzle| !whole.contains(puzzle)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_breaks_down_is_logged_with_the_id_of_its_call() {
    let log = Log::start();
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let mut client = server.client().await;
    // Each puzzle gets an error; the log is where it says what happened.
    let answers = client.solve(with_id(puzzle(), "panic-unary")).await.unwrap().into_inner().answers;
    assert_eq!(answers.len(), 1);
    let requests = tokio_stream::iter([batch(1, &[b"."])]);
    let stream = client.solve_stream(with_id(requests, "panic-stream")).await.unwrap();
    all_of(stream.into_inner()).await.1.unwrap();
    for id in ["panic-unary", "panic-stream"] {
        let lines = log.of(id);
        assert!(lines.iter().any(|line| line["fields"]["message"] == "a panic"), "{id}: {lines:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_is_told_from_one_that_stays() {
    let log = Log::start();
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let server = start(config_with(endless)).await;
    let requests = tokio_stream::iter([batch(1, &[b"."])]);
    let stream = server.client().await.solve_stream(with_id(requests, "leaves")).await.unwrap();
    eventually("work", || counters.running() > 0).await;
    drop(stream);
    eventually("a line", || log.end_of("leaves").is_some()).await;
    assert_eq!(log.end_of("leaves").unwrap()["fields"]["status"], "CANCELLED");
}
