//! The companion's client, where it takes shorter pauses than the program makes, or servers that are none.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::answer::{OutputForm, Tally};
use sudoku_stream::client::{ClientError, Endpoint, Notice, RetryPolicy, ServerError, SolveJob, solve_lines};
use sudoku_stream::text::{Hint, Notation};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::harness::server::{Fault, Faulty, config, config_with, nearly_solved, offline, start};
use crate::harness::{PATIENCE, lines};

/// Loses patience soon.
const HASTY: RetryPolicy = RetryPolicy {
    retries: 3,
    first_pause: Duration::from_millis(1),
    longest_pause: Duration::from_millis(10),
    connect_timeout: Duration::from_secs(5),
    ping_interval: Duration::from_millis(200),
    ping_timeout: Duration::from_millis(1500),
};

/// What came of a run.
struct Seen {
    answers: String,
    notices: Vec<Notice>,
    result: Result<Tally, ClientError<Infallible>>,
}

/// Solves lines in blocks of ten.
async fn solve(urls: &[String], retry: &RetryPolicy, text: &str) -> Seen {
    let servers: Vec<Endpoint> = urls.iter().map(|url| Endpoint::new(url)).collect();
    let hint = Hint { notation: Some(Notation::Lines), ..Hint::default() };
    let job = SolveJob { hint, ..SolveJob::default() };
    let (sender, blocks) = mpsc::channel(1);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let messages: Vec<Bytes> = lines.chunks(10).map(|chunk| Bytes::from(chunk.concat())).collect();
    tokio::spawn(async move {
        for message in messages {
            if sender.send(message).await.is_err() {
                return;
            }
        }
    });
    let (mut answers, mut notices) = (String::new(), Vec::new());
    let sink = |lines: Bytes, _: &Tally| {
        answers.push_str(str::from_utf8(&lines).unwrap());
        Ok(())
    };
    let run = solve_lines(&servers, retry, &job, blocks, sink, |notice| notices.push(notice.clone()));
    let result = timeout(PATIENCE, run).await.expect("the run ends");
    Seen { answers, notices, result }
}

/// Something that accepts connections, says `greeting` and nothing more, for ever.
fn silent(greeting: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            thread::spawn(move || {
                // Whoever has lost patience is gone.
                let _ = socket.write_all(greeting);
                let mut buffer = [0; 8192];
                while socket.read(&mut buffer).is_ok_and(|length| length > 0) {}
            });
        }
    });
    url
}

/// An empty SETTINGS frame: all that makes an HTTP/2 server.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_falls_silent_is_noticed_and_others_have_its_blocks() {
    let server = start(config()).await;
    let text = lines(&nearly_solved(2000));
    // Nobody answers here who could be late by chance.
    let once = RetryPolicy { retries: 1, ping_timeout: Duration::from_millis(500), ..HASTY };
    let noticed = async |greeting| {
        let dumb = silent(greeting);
        let seen = solve(&[dumb.clone(), server.url()], &HASTY, &text).await;
        assert_eq!(seen.result.unwrap().answers, 2000);
        assert!(seen.answers.as_bytes() == offline(&text, OutputForm::Solution));

        let begin = Instant::now();
        let seen = solve(std::slice::from_ref(&dumb), &once, &text).await;
        let Err(ClientError::RetriesExhausted { retries: 1, errors }) = seen.result else {
            panic!("{:?}", seen.result)
        };
        let [ServerError::Lost { answered: 0, message, .. }] = &errors[..] else { panic!("{errors:?}") };
        assert_eq!(message, "It was silent for 0.7 s.");
        assert!(seen.answers.is_empty());
        assert!(begin.elapsed() >= 2 * once.ping_timeout, "{:?}", begin.elapsed());
    };
    tokio::join!(noticed(&b""[..]), noticed(SETTINGS));
}

/// A search that takes longer than a silent server is waited for is no silence: the transport answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_search_is_waited_for() {
    let server = start(config_with(Faulty::new(Fault::Slow(Duration::from_millis(400))))).await;
    let seen = solve(&[server.url()], &HASTY, &lines(&nearly_solved(6))).await;
    assert_eq!(seen.result.unwrap().answers, 6);
    assert_eq!(seen.notices, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_are_given_up_are_counted() {
    let nobody = ["http://127.0.0.1:1", "http://127.0.0.1:2"].map(str::to_owned);
    let seen = solve(&nobody, &HASTY, "1\n").await;
    let error = seen.result.unwrap_err().to_string();
    for url in &nobody {
        assert!(error.contains(&format!("No server answers at {url}: start one with sudokud.")), "{error}");
    }
    assert!(error.ends_with(" Each was tried up to 3 more times."), "{error}");
    // Each is complained of once, and one of them was given up while there was hope for the other.
    let is_failure = |notice: &&Notice| matches!(notice, Notice::Failed { retries: 3, .. });
    assert_eq!(seen.notices.iter().filter(is_failure).count(), 2, "{:?}", seen.notices);
    let given_up = seen.notices.iter().filter(|notice| matches!(notice, Notice::GivenUp { .. })).count();
    assert_eq!((given_up, seen.notices.len()), (1, 3), "{:?}", seen.notices);

    let seen = solve(&[], &HASTY, "1\n").await;
    assert!(matches!(seen.result, Err(ClientError::NoServers)));
    // Nothing to ask, nobody asked.
    let seen = solve(&nobody, &HASTY, "").await;
    assert_eq!(seen.result.unwrap().answers, 0);
}

/// A block is not tried again for ever, either, if it is what makes servers fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_cannot_take_is_said_once() {
    let mut small = config();
    small.limits.message_lines = 9;
    let server = start(small).await;
    let seen = solve(&[server.url()], &HASTY, &lines(&nearly_solved(100))).await;
    let Err(ClientError::Server(ServerError::Refused { answered: 0, message })) = seen.result else {
        panic!("{:?}", seen.result)
    };
    assert_eq!(message, "This server's limit of 9 lines in a message is reached.");
    assert_eq!(seen.notices, []);
}
