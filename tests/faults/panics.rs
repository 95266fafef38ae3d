//! A panic in the middle of the work. It cannot be injected from outside, so this server runs in this process.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::panic;
use std::thread;

use bytes::Bytes;
use sudoku_stream::service::proto::{
    self, CountRequest, ErrorCode, SolveDatasetRequest, SolveLinesRequest, SolveOptions, SolveRequest,
    SolveStreamRequest,
};
use sudoku_stream::service::{Config, Server};
use sudoku_stream::solver::{STRATEGIES, Strategy};
use tokio::time::timeout;

use crate::harness::server::{Fault, Faulty};
use crate::harness::{PATIENCE, by, eventually, lines};
use crate::row::{Row, Seen};
use crate::traffic::{batch, client, easy, runtime, serves};

pub fn rows() -> Vec<Row> {
    vec![Row {
        number: 29,
        fault: "a panic in every search of SolveStream, SolveLines, Solve, SolveDataset and Count",
        expected: "each line is an error line; the pool keeps its threads; serving",
        run: panics,
    }]
}

/// How the threads that search are called.
const SEARCHERS: [&str; 3] = ["quick-", "bulk-", "background-"];

fn is_searcher(name: &str) -> bool {
    SEARCHERS.iter().any(|searcher| name.starts_with(searcher))
}

/// The threads of this process that search.
fn workers() -> usize {
    let names = fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        // A thread may end while it is looked at.
        fs::read_to_string(task.unwrap().path().join("comm")).ok()
    });
    names.filter(|name| is_searcher(name)).count()
}

/// The panics of the server are wanted and many: they are not printed. All others are.
fn silence_workers() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !thread::current().name().is_some_and(is_searcher) {
            print(panic);
        }
    }));
}

fn is_apology(answer: &proto::Answer) -> bool {
    matches!(&answer.result, Some(proto::answer::Result::Error(error)) if error.code() == ErrorCode::Internal)
}

fn panics() -> Seen {
    const THREADS: usize = 3;
    const PUZZLES: usize = 100;
    const ROUNDS: u64 = 20;
    silence_workers();
    let puzzles = easy(PUZZLES);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("list"), lines(&puzzles)).unwrap();
    let panicking: &'static Faulty = Box::leak(Box::new(Faulty::new(Fault::Panic)));
    let strategies: Vec<&'static dyn Strategy> =
        STRATEGIES.iter().copied().chain([panicking as &'static dyn Strategy]).collect();
    let config = Config {
        listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()],
        threads: NonZeroUsize::new(THREADS),
        data_dir: Some(folder.path().to_owned()),
        strategies: strategies.leak(),
        ..Config::default()
    };
    let before = workers();
    let (answered, threads) = runtime().block_on(async {
        let server = Server::bind(config).await.unwrap();
        let url = format!("http://{}", server.local_addr());
        tokio::spawn(server.serve(std::future::pending()));
        serves(&url).await;
        // A thread has its name once it runs: quick, bulk and background ones.
        let searchers = before + 3 * THREADS;
        eventually("the start of all threads", || workers() == searchers);

        let panicking: Option<SolveOptions> = Some(by("faulty"));
        let text = Bytes::from(lines(&puzzles));
        let mut client = client(&url).await;
        let mut answered = 0;
        let expected: String =
            (1..=PUZZLES).map(|line| format!("error: Line {line} was not answered because of an internal error.\n")).collect();
        for round in 0..ROUNDS {
            let request = SolveStreamRequest { options: panicking.clone(), ..batch(round, &puzzles) };
            let stream = client.solve_stream(tokio_stream::once(request)).await.unwrap();
            let response = timeout(PATIENCE, stream.into_inner().message()).await.unwrap().unwrap().unwrap();
            assert_eq!((response.batch_id, response.answers.len()), (round, PUZZLES));
            assert!(response.answers.iter().all(is_apology), "{response:?}");

            let request =
                SolveLinesRequest { options: panicking.clone(), lines: text.clone(), ..Default::default() };
            let stream = client.solve_lines(tokio_stream::once(request)).await.unwrap();
            let response = timeout(PATIENCE, stream.into_inner().message()).await.unwrap().unwrap().unwrap();
            assert_eq!(response.lines, expected);

            let call = client.solve(SolveRequest { options: panicking.clone(), text: text.clone(), ..Default::default() });
            let response = timeout(PATIENCE, call).await.unwrap().unwrap().into_inner();
            assert_eq!(response.answers.len(), PUZZLES);
            assert!(response.answers.iter().all(is_apology), "{response:?}");

            let request = SolveDatasetRequest {
                name: "list".to_owned(),
                options: panicking.clone(),
                ..SolveDatasetRequest::default()
            };
            let mut stream = client.solve_dataset(request).await.unwrap().into_inner();
            let mut from_list = Vec::new();
            while let Some(response) = timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
                from_list.extend_from_slice(&response.lines);
            }
            assert_eq!(String::from_utf8(from_list).unwrap(), expected);

            let call = client.count(CountRequest {
                text: Bytes::from(puzzles[0].clone()),
                strategy: "faulty".to_owned(),
                ..CountRequest::default()
            });
            let count = timeout(PATIENCE, call).await.unwrap().unwrap().into_inner();
            assert!(
                matches!(&count.result, Some(proto::count_response::Result::Error(error)) if error.code() == ErrorCode::Internal),
                "{count:?}"
            );
            answered += 4 * PUZZLES + 1;
        }
        serves(&url).await;
        // Those that came to help end when there is nothing left to do.
        eventually("as many threads as before", || workers() == searchers);
        (answered, searchers - before)
    });
    Seen::good(format!("{answered} error lines for {answered} lines, all {threads} threads there"))
}
