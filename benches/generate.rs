//! Puzzles made a second on one core: minimal 9x9 ones, from both sources of full grids, and those of other kinds.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sudoku_stream::generate::{Constraints, Difficulty, Generator, Grids, Kind, Recipe, Symmetry};
use sudoku_stream::grid::Order;

fn made(criterion: &mut Criterion) {
    let any = Constraints::default;
    let cases = [
        ("minimal", 3, 8192, any()),
        ("shuffled", 3, 8192, Constraints { grids: Grids::Shuffled, ..any() }),
        ("rotational", 3, 2048, Constraints { symmetry: Symmetry::Rotational, ..any() }),
        ("hard", 3, 512, Constraints { difficulty: Difficulty::Hard, ..any() }),
        ("22-clues", 3, 64, Constraints { clues: Some(22), ..any() }),
        ("20-clues", 3, 1, Constraints { clues: Some(20), ..any() }),
        ("16x16", 4, 4, any()),
        ("25x25", 5, 1, any()),
    ];
    let cancel = AtomicBool::new(false);
    let mut group = criterion.benchmark_group("generate");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for (name, order, count, constraints) in cases {
        let order = Order::new(order).expect("orders are 1 to 5");
        let recipe = Recipe { order, kind: Kind::Puzzle(constraints), attempts: 1000 };
        let generator = Generator::new(recipe, 1).expect("a sound recipe");
        group.throughput(Throughput::Elements(count as u64));
        let mut first = 0;
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| {
                // Others each time, because some take longer than most.
                first += count as u64;
                black_box(generator.make(first, count, &cancel))
            });
        });
    }
}

criterion_group!(benches, made);
criterion_main!(benches);
