//! Puzzles a second of the whole offline path, text in memory to text, by number of threads.

mod common;

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sudoku_stream::answer::{Block, Solvers, Task};
use sudoku_stream::input::Source;
use sudoku_stream::offline::{self, Output};
use sudoku_stream::pipeline;
use sudoku_stream::text::Hint;

const LINES: usize = 50_000;

fn offline(criterion: &mut Criterion) {
    let puzzles = common::repeated("17clue", LINES);
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&puzzles).expect("room for 4 MB");
    let solvers = Arc::new(Solvers::new(common::nine(), Task::default()));
    let cancel = Arc::new(AtomicBool::new(false));

    let mut group = criterion.benchmark_group("pipeline/50000-lines");
    group.throughput(Throughput::Elements(LINES as u64));
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    group.bench_function("no-pipeline", |bencher| {
        bencher.iter(|| {
            black_box(solvers.write_answers(Block { text: &puzzles, first_line: 1 }, &*cancel).is_ok())
        });
    });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for threads in 1..=cores {
        let pool = Arc::new(pipeline::pool(Some(threads)).expect("threads"));
        group.bench_function(format!("{threads}-threads"), |bencher| {
            bencher.iter(|| {
                let reader = Source::open(file.path(), true)
                    .and_then(|s| s.read(&Hint::default()))
                    .expect("a good file");
                let mut output = Output::file(Path::new("/dev/null"), false).expect("/dev/null");
                offline::solve(reader, &solvers, &pool, &cancel, &mut output, |_| ()).expect("a good run");
                assert_eq!(output.progress().tally.answers, LINES as u64);
            });
        });
    }
}

criterion_group!(benches, offline);
criterion_main!(benches);
