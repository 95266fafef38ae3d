//! What a stream costs: `SolveLines` over loopback against the offline path, on the same puzzles in the same run.
//!
//! The difference is the price of messages, sockets and order. Client and server share the machine.

use std::convert::Infallible;
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sudoku_stream::answer::{Block, Task, Workers};
use sudoku_stream::grid::Order;
use sudoku_stream::service::client::{Access, BLOCKS_IN_FLIGHT, solve_lines};
use sudoku_stream::service::{Config, Server};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

const PUZZLES: usize = 8192;

const SOLVED: &[u8; 81] =
    b"534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// Nearly solved puzzles, so that the stream is measured and not the search.
fn text() -> Vec<u8> {
    let mut text = Vec::with_capacity(PUZZLES * 82);
    for k in 0..PUZZLES {
        let mut line = *SOLVED;
        for blank in 0..4 {
            line[(k * 31 + blank * 17) % 81] = b'.';
        }
        text.extend_from_slice(&line);
        text.push(b'\n');
    }
    text
}

fn start(runtime: &Runtime) -> String {
    let config = Config { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..Config::default() };
    let server = runtime.block_on(Server::bind(config)).expect("a free port");
    let url = format!("http://{}", server.local_addr());
    runtime.spawn(server.serve(std::future::pending()));
    url
}

async fn stream(url: &str, messages: &[Bytes]) -> u64 {
    let (sender, blocks) = mpsc::channel(BLOCKS_IN_FLIGHT);
    let messages = messages.to_vec();
    tokio::spawn(async move {
        for message in messages {
            if sender.send(message).await.is_err() {
                return;
            }
        }
    });
    let sink = |lines: Bytes, _: &_| {
        black_box(lines);
        Ok::<_, Infallible>(())
    };
    let total = solve_lines(&Access::open(url), &Task::default(), &Hint::default(), 1, blocks, sink)
        .await
        .expect("answers");
    assert_eq!(total.error_count(), 0);
    total.answers
}

fn streams(criterion: &mut Criterion) {
    let text = Bytes::from(text());
    let mut group = criterion.benchmark_group("stream");
    group.throughput(Throughput::Elements(PUZZLES as u64)).sample_size(10);

    let format = Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).expect("letters fit");
    let workers = Workers::new(format, Task::default());
    let never = AtomicBool::new(false);
    group.bench_function("offline", |bencher| {
        bencher
            .iter(|| workers.write_answers(Block { text: &text, first_line: 1 }, &never).expect("answers"));
    });

    let runtime = Runtime::new().expect("threads");
    let url = start(&runtime);
    for lines_each in [1, 64, 1024] {
        let starts = (0..text.len()).step_by(lines_each * 82);
        let messages: Vec<_> =
            starts.map(|at| text.slice(at..text.len().min(at + lines_each * 82))).collect();
        group.bench_function(BenchmarkId::new("lines_a_message", lines_each), |bencher| {
            bencher.iter(|| assert_eq!(runtime.block_on(stream(&url, &messages)), PUZZLES as u64));
        });
    }
    group.finish();
}

criterion_group!(benches, streams);
criterion_main!(benches);
