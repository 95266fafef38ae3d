//! Puzzles a second of each strategy, and of each back end of the kernel, on one core: uniqueness proven, text in
//! memory to text in memory, by kind of list, which `sudoku bench` measures over any files; and of calls of a few
//! puzzles each.

mod common;

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sudoku_stream::answer::{Block, Solvers, Task};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::lanes::{Backend, Lanes};
use sudoku_stream::solver::{Batch, Fast, Limit, Question, STRATEGIES, Search, Strategy};

/// Enough for the oracle to finish easy puzzles and to be cut off on hard ones.
const NODE_LIMIT: u64 = 20_000;

/// How many lines of a list are searched: some batches for every width of lanes.
const LINES: usize = 20_000;

/// The same where no time is taken: the slow strategies would take minutes for nothing.
const LINES_UNTIMED: usize = 100;

fn unique(criterion: &mut Criterion) {
    let cancel = AtomicBool::new(false);
    for list in [
        "kaggle_100k",
        "easy_100k",
        "unbiased_50k",
        "17clue",
        "top1465",
        "hard_10k",
        "many_solutions_5k",
        "no_solution_5k",
    ] {
        let (name, all) = common::list(list);
        // Every so many lines, so that a list sorted by difficulty is seen whole.
        let lines: Vec<&[u8]> = all.split_inclusive(|&byte| byte == b'\n').collect();
        let step = (lines.len() / if common::is_timed() { LINES } else { LINES_UNTIMED }).max(1);
        let text: Vec<u8> = lines.iter().step_by(step).flat_map(|line| line.iter().copied()).collect();
        let mut group = criterion.benchmark_group(format!("unique/{name}"));
        group.throughput(Throughput::Elements(lines.len().div_ceil(step) as u64));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1));
        let mut bench = |name: &str, strategy: &'static dyn Strategy| {
            let task = Task {
                strategy: Some(strategy),
                question: Question::Unique,
                node_limit: NODE_LIMIT,
                ..Task::default()
            };
            let solvers = Solvers::new(common::nine(), task);
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter(|| {
                    black_box(solvers.write_answers(Block { text: &text, first_line: 1 }, &cancel).is_ok())
                });
            });
        };
        for backend in Backend::available() {
            bench(&format!("fast-{backend}"), Fast::with(backend));
        }
        for &strategy in STRATEGIES.iter().filter(|s| s.supports(Order::NINE)) {
            // The oracle would time its own limit on anything harder.
            let is_timed = strategy.name() != "backtracking" || list == "kaggle_100k";
            if strategy.name() != Fast::BEST.name() && is_timed {
                bench(strategy.name(), strategy);
            }
        }
    }
}

/// The puzzles of a call, where these are few: as many as are searched one by one, or by singles.
const FEW: [usize; 3] = [1, 16, 100];

/// How many puzzles are asked for in calls of a few.
const CALLED_FOR: usize = 800;

/// Calls of a few puzzles each, on each back end.
fn few(criterion: &mut Criterion) {
    let cancel = AtomicBool::new(false);
    let limit = Limit { solutions: 2, nodes: 1_000_000, cancel: &cancel };
    for list in ["kaggle_100k", "easy_100k", "unbiased_50k"] {
        let (name, text) = common::list(list);
        let puzzles = common::puzzles(&text);
        let step = (puzzles.len() / CALLED_FOR).max(1);
        let puzzles: Vec<&Grid> = puzzles.iter().step_by(step).take(CALLED_FOR).collect();
        let mut group = criterion.benchmark_group(format!("few/{name}"));
        group.throughput(Throughput::Elements(puzzles.len() as u64));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1));
        for backend in Backend::available() {
            for size in FEW {
                let mut solver = Fast::with(backend).solver(Order::NINE);
                let mut batch = Batch::new(Order::NINE);
                group.bench_function(BenchmarkId::new(backend.to_string(), size), |bencher| {
                    bencher.iter(|| {
                        for puzzles in puzzles.chunks(size) {
                            batch.clear();
                            for puzzle in puzzles {
                                batch.push(puzzle);
                            }
                            solver.search_batch(&mut batch, &limit);
                            black_box(batch.searches());
                        }
                    });
                });
            }
        }
    }
}

/// One hard puzzle alone: how long its answer takes when idle lanes help, and when one lane works alone.
fn latency(criterion: &mut Criterion) {
    let (name, text) = common::list("hard_10k");
    let puzzles: Vec<[u8; 81]> = common::puzzles(&text)
        .iter()
        .step_by(101)
        .take(50)
        .filter_map(|puzzle| puzzle.digits().try_into().ok())
        .collect();
    let cancel = AtomicBool::new(false);
    let limit = Limit { solutions: 2, nodes: 1_000_000, cancel: &cancel };
    let mut group = criterion.benchmark_group(format!("alone/{name}"));
    group.throughput(Throughput::Elements(puzzles.len() as u64)).sample_size(10);
    for (what, sharing) in [("one-lane", false), ("all-lanes", true)] {
        let mut lanes = Lanes::new(Backend::best());
        lanes.share_puzzles(sharing);
        group.bench_function(what, |bencher| {
            bencher.iter(|| {
                for puzzle in &puzzles {
                    let (mut solution, mut search) = ([[0; 81]], [Search::NO_SOLUTION]);
                    lanes.search(std::slice::from_ref(puzzle), &limit, &mut solution, &mut search);
                    black_box(search);
                }
            });
        });
    }
    let mut fast = Fast::BEST.solver(Order::NINE);
    let grids: Vec<_> = puzzles.iter().map(|cells| Grid::from_digits(Order::NINE, cells)).collect();
    let mut solution = Grid::empty(Order::NINE);
    group.bench_function("strategy-fast", |bencher| {
        bencher.iter(|| {
            for puzzle in &grids {
                black_box(fast.search(puzzle, &limit, &mut solution));
            }
        });
    });
}

criterion_group!(benches, unique, few, latency);
criterion_main!(benches);
