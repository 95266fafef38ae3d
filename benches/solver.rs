//! Puzzles a second of each strategy on one core, uniqueness proven, by kind of list.

mod common;

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::{Limit, STRATEGIES};

/// Enough for the oracle to finish easy puzzles and to be cut off on hard ones.
const NODE_LIMIT: u64 = 20_000;

fn unique(criterion: &mut Criterion) {
    let cancel = AtomicBool::new(false);
    let limit = Limit { solutions: 2, nodes: NODE_LIMIT, cancel: &cancel };
    for list in ["easy_100k", "17clue", "unbiased_50k", "top1465", "hard_10k"] {
        let (name, text) = common::list(list);
        // Every so many lines, so that a list sorted by difficulty is seen whole.
        let all = common::puzzles(&text);
        let sample: Vec<Grid> = all.iter().step_by((all.len() / 500).max(1)).cloned().collect();
        let mut group = criterion.benchmark_group(format!("unique/{name}"));
        group.throughput(Throughput::Elements(sample.len() as u64));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2));
        for strategy in STRATEGIES {
            if strategy.name() == "backtracking" && list != "easy_100k" {
                continue; // It would time its own limit.
            }
            let mut solver = strategy.solver(Order::NINE);
            let mut solution = Grid::empty(Order::NINE);
            group.bench_function(BenchmarkId::from_parameter(strategy.name()), |bencher| {
                bencher.iter(|| {
                    for puzzle in &sample {
                        black_box(solver.search(puzzle, &limit, &mut solution));
                    }
                });
            });
        }
    }
}

criterion_group!(benches, unique);
criterion_main!(benches);
