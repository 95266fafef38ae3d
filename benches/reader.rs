//! Bytes a second of reading and validating, beside the cheapest thing that can be done with a file:
//! counting its newlines.

mod common;

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sudoku_stream::answer::{Block, validate_block};
use sudoku_stream::input::{self, Mapped, PuzzleIndex, Source};
use sudoku_stream::pipeline;
use sudoku_stream::text::Hint;

const LINES: usize = 500_000;

fn read_all(path: &Path, may_map: bool) -> u64 {
    let mut reader =
        Source::open(path, may_map).and_then(|s| s.read(&Hint::default())).expect("the file is good");
    let mut bytes = 0;
    while let Some(chunk) = reader.next_chunk().expect("the file is good") {
        bytes += chunk.block().text.len() as u64;
    }
    bytes
}

fn reader(criterion: &mut Criterion) {
    let puzzles = common::repeated("17clue", LINES - 1);
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(b"3\n").and_then(|()| file.write_all(&puzzles)).expect("room for 41 MB");
    let path = file.path();
    let cancel = AtomicBool::new(false);

    let mut group = criterion.benchmark_group("reader/500000-lines");
    group.throughput(Throughput::Bytes(puzzles.len() as u64 + 2));
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.bench_function("count-newlines", |bencher| {
        // As `wc -l` does it: read block by block, count.
        bencher.iter(|| {
            let mut file = std::fs::File::open(path).expect("the file is there");
            let (mut block, mut lines) = (vec![0; 256 * 1024], 0);
            loop {
                match std::io::Read::read(&mut file, &mut block).expect("the file is good") {
                    0 => break lines,
                    length => lines += memchr::memchr_iter(b'\n', &block[..length]).count(),
                }
            }
        });
    });
    group.bench_function("chunks-mapped", |bencher| bencher.iter(|| black_box(read_all(path, true))));
    group.bench_function("chunks-unmapped", |bencher| bencher.iter(|| black_box(read_all(path, false))));
    let format = common::nine();
    group.bench_function("validate-in-memory", |bencher| {
        bencher.iter(|| black_box(validate_block(&format, Block { text: &puzzles, first_line: 2 }, 1)));
    });
    for threads in [1, 2] {
        let pool = Arc::new(pipeline::pool(Some(threads)).expect("threads"));
        group.bench_function(format!("validate-file-{threads}-threads"), |bencher| {
            bencher.iter(|| {
                let reader = Source::open(path, true)
                    .and_then(|s| s.read(&Hint::default()))
                    .expect("the file is good");
                let found = input::validate(reader, &pool, &cancel, 1, |_| ()).expect("the file is good");
                assert_eq!(found.bad, 0);
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("index/500000-lines");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let open = || {
        let map =
            Mapped::open(file.as_file(), "list".to_owned()).expect("the file is good").expect("a free map");
        PuzzleIndex::new(map, &Hint::default()).expect("the file is good")
    };
    group.bench_function("first-question", |bencher| {
        bencher.iter(|| open().count().expect("the file is good"));
    });
    let mut known = open();
    known.count().expect("the file is good");
    group.bench_function("random-puzzle", |bencher| bencher.iter(|| black_box(known.random().is_ok())));
}

criterion_group!(benches, reader);
criterion_main!(benches);
