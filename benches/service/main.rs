//! What the service costs: its processor time a line beside that of an echo server and of the kernel, its latencies
//! beside those of the echo server and of the search, and its memory where clients are idle.
//!
//!     cargo bench --bench service [-- [--quick] [--rounds N] [NAME]]
//!
//! `sudokud` and the echo server (`echo.rs`) are processes of their own, so that what the client takes is not counted. They
//! take turns with the kernel, and each ratio is of one turn; what is printed are medians. A server can do no better than
//! the echo of its messages and the search of its puzzles together: the bars are multiples of that.

mod client;
#[path = "../common/mod.rs"]
mod common;
mod echo;
mod process;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sudoku_stream::answer::{Block, Solvers, Task, Written};
use tokio::runtime::Runtime;

use client::{Client, Latencies, count_lines, quantile};
use process::{ECHO_ROLE, Server};

/// As `sudokud` has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The lines of a packed message.
const PACKED: usize = 1024;

/// A puzzle or its solution, and the line end.
const LINE_BYTES: usize = 82;

/// The most streams that are opened on one connection.
const STREAMS_PER_CONNECTION: usize = 100;

/// What a server with idle clients may have.
const MEMORY_BAR: u64 = 64 << 20;

/// How much is done.
struct Plan {
    /// How often all are measured in turn.
    rounds: usize,
    /// Different puzzles.
    puzzles: usize,
    /// Packed messages a turn.
    packed: usize,
    /// Messages of one puzzle a turn.
    singles: usize,
    /// Unary calls a turn.
    calls: usize,
    /// Idle connections, and idle streams.
    idle: usize,
    /// Only what has this in its name.
    filter: String,
}

impl Plan {
    /// By the arguments. `cargo test --benches` gives none: then everything is only tried out.
    fn from_args() -> Self {
        let mut args = std::env::args().skip(1);
        let (mut is_quick, mut is_bench) = (false, false);
        let (mut rounds, mut filter) = (None, String::new());
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--bench" => is_bench = true,
                "--quick" | "--test" => is_quick = true,
                "--rounds" => rounds = args.next().and_then(|number| number.parse().ok()),
                name => name.clone_into(&mut filter),
            }
        }
        let mut plan = if is_quick || !is_bench {
            Self { rounds: 1, puzzles: 4 * PACKED, packed: 8, singles: 500, calls: 200, idle: 20, filter }
        } else {
            // Many short turns: what disturbs the machine for a second then disturbs all who are compared.
            let (puzzles, packed) = (100 * PACKED, 1000);
            Self { rounds: 25, puzzles, packed, singles: 50_000, calls: 2_000, idle: 1000, filter }
        };
        plan.rounds = rounds.unwrap_or(plan.rounds).max(1);
        plan
    }
}

/// A way to have puzzles answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    PackedLines,
    SingleLines,
    SinglePuzzles,
    /// So many unary calls at a time.
    Calls(usize),
}

impl Shape {
    const ALL: [Self; 5] =
        [Self::PackedLines, Self::SingleLines, Self::SinglePuzzles, Self::Calls(16), Self::Calls(64)];

    fn name(self) -> String {
        match self {
            Self::PackedLines => "SolveLines, 1,024 lines a message".to_owned(),
            Self::SingleLines => "SolveLines, 1 line a message".to_owned(),
            Self::SinglePuzzles => "SolveStream, 1 puzzle a message".to_owned(),
            Self::Calls(in_flight) => format!("Solve, {in_flight} calls in flight"),
        }
    }

    /// The most processor time, as a multiple of echo and kernel together.
    const fn bar(self) -> Option<f64> {
        match self {
            Self::PackedLines => Some(1.2),
            Self::SingleLines | Self::SinglePuzzles => Some(1.5),
            Self::Calls(_) => None,
        }
    }
}

/// The most that a call may take, at the median and for 99 in 100, as a multiple of the echo's.
const LATENCY_BAR: f64 = 3.0;

/// The quantiles that are looked at.
const QUANTILES: [(&str, f64); 2] = [("p50", 0.5), ("p99", 0.99)];

/// What is sent.
struct Load {
    text: Bytes,
    packed: Arc<[Bytes]>,
    lines: Arc<[Bytes]>,
    /// Without line ends.
    puzzles: Arc<[Bytes]>,
}

impl Load {
    fn new(count: usize) -> Self {
        let text = common::repeated("easy_100k", count);
        let written = answered(&Solvers::new(common::nine(), Task::default()), &text);
        // The sample that may stand in has puzzles without a solution.
        let lines =
            text.split_inclusive(|&byte| byte == b'\n').zip(written.text.split(|&byte| byte == b'\n'));
        let good = lines.filter(|(line, answer)| line.len() == LINE_BYTES && answer.len() + 1 == LINE_BYTES);
        let text: Bytes = good.flat_map(|(line, _)| line).copied().collect();
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', &text).map(|end| end + 1).collect();
        let blocks = |size: usize| -> Arc<[Bytes]> {
            let mut begin = 0;
            let ends = ends.iter().skip(size - 1).step_by(size);
            ends.map(|&end| text.slice(std::mem::replace(&mut begin, end)..end)).collect()
        };
        let (packed, lines) = (blocks(PACKED), blocks(1));
        let puzzles = lines.iter().map(|line| line.slice(..line.len() - 1)).collect();
        Self { text, packed, lines, puzzles }
    }
}

/// What answers of one server took.
struct Cost {
    /// Processor time of the server, in nanoseconds a line.
    cpu: f64,
    /// Time, in nanoseconds a line.
    wall: f64,
    /// Of single calls, if it was those.
    latencies: Option<Latencies>,
}

/// A server and the connection to it.
struct Candidate {
    server: Server,
    client: Client,
}

impl Candidate {
    fn new(runtime: &Runtime, server: Server) -> Self {
        let client = runtime.block_on(Client::connect(&server.url));
        Self { server, client }
    }

    fn measure(&mut self, runtime: &Runtime, shape: Shape, plan: &Plan, load: &Load) -> Cost {
        let before = self.server.cpu();
        let begin = Instant::now();
        let (client, mut latencies) = (&mut self.client, None);
        let lines = runtime.block_on(async {
            match shape {
                Shape::PackedLines => {
                    client.lines(&load.packed, plan.packed).await;
                    return count_lines(&load.packed, plan.packed);
                }
                Shape::SingleLines => client.lines(&load.lines, plan.singles).await,
                Shape::SinglePuzzles => client.puzzles(&load.puzzles, plan.singles).await,
                Shape::Calls(in_flight) => {
                    latencies = Some(client.calls(&load.puzzles, in_flight, plan.calls).await);
                    return plan.calls as u64;
                }
            }
            plan.singles as u64
        });
        let wall = nanoseconds(begin.elapsed(), lines);
        Cost { cpu: nanoseconds(self.server.cpu().saturating_sub(before), lines), wall, latencies }
    }
}

fn nanoseconds(time: Duration, lines: u64) -> f64 {
    time.as_secs_f64() * 1e9 / lines.max(1) as f64
}

fn answered(solvers: &Solvers, text: &[u8]) -> Written {
    let never = AtomicBool::new(false);
    solvers.write_answers(Block { text, first_line: 1 }, &never).expect("nobody cancels")
}

/// The kernel's own processor time, text to text on one thread, in nanoseconds a line, for blocks of so many lines.
fn kernel(solvers: &Solvers, load: &Load, block: usize) -> f64 {
    let texts: &[Bytes] = match block {
        1 => &load.lines[..load.lines.len().min(20_000)],
        PACKED => &load.packed,
        _ => std::slice::from_ref(&load.text),
    };
    let begin = process::thread_cpu();
    for text in texts {
        assert_eq!(black_box(answered(solvers, text)).tally.error_count(), 0);
    }
    nanoseconds(process::thread_cpu().saturating_sub(begin), count_lines(texts, texts.len()))
}

/// The sizes of blocks that the kernel is given, and their names.
const BLOCKS: [(usize, &str); 3] = [(1, "1 line"), (PACKED, "1,024 lines"), (usize::MAX, "all lines")];

/// What was measured of a shape, turn by turn.
struct Row {
    shape: Shape,
    turns: Vec<Turn>,
}

/// What echo, kernel and service took.
struct Turn {
    echo: Cost,
    kernel: f64,
    ours: Cost,
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    f64::midpoint(figures[(figures.len() - 1) / 2], figures[figures.len() / 2])
}

fn verdict(ratio: f64, bar: f64) -> String {
    format!("{ratio:>7.2}{bar:>6.1}  {}", if ratio <= bar { "" } else { "ABOVE" })
}

impl Row {
    fn median(&self, figure: impl Fn(&Turn) -> f64) -> f64 {
        median(self.turns.iter().map(figure))
    }

    /// Processor time.
    fn line(&self) -> String {
        let ratio = self.median(|turn| turn.ours.cpu / (turn.echo.cpu + turn.kernel));
        format!(
            "{:<36}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{}\n",
            self.shape.name(),
            self.median(|turn| turn.echo.cpu),
            self.median(|turn| turn.kernel),
            self.median(|turn| turn.echo.cpu + turn.kernel),
            self.median(|turn| turn.ours.cpu),
            self.shape.bar().map_or_else(|| format!("{ratio:>7.2}"), |bar| verdict(ratio, bar)).trim_end(),
        )
    }

    /// Time, for whoever wonders how fast it is.
    fn wall_line(&self) -> String {
        let rate = |cost: &Cost| 1e3 / cost.wall;
        format!(
            "{:<36}{:>9.3}{:>9.3}{:>9.3}\n",
            self.shape.name(),
            self.median(|turn| rate(&turn.echo)),
            self.median(|turn| 1e3 / turn.kernel),
            self.median(|turn| rate(&turn.ours)),
        )
    }

    /// Latencies, if it is about calls.
    fn latency_lines(&self) -> String {
        let mut lines = String::new();
        for (name, share) in QUANTILES {
            let of = |cost: &Cost| {
                cost.latencies.as_ref().map_or(f64::NAN, |all| quantile(all, share).as_secs_f64() * 1e6)
            };
            let ratio = self.median(|turn| of(&turn.ours) / of(&turn.echo));
            lines += &format!(
                "{:<36}{:>9.0}{:>27.0}{}\n",
                format!("{}, {name}", self.shape.name()),
                self.median(|turn| of(&turn.echo)),
                self.median(|turn| of(&turn.ours)),
                verdict(ratio, LATENCY_BAR).trim_end(),
            );
        }
        lines
    }
}

fn compare(runtime: &Runtime, plan: &Plan, load: &Load) {
    let is_wanted = |shape: &Shape| shape.name().contains(&plan.filter);
    let mut rows: Vec<Row> = Shape::ALL
        .into_iter()
        .filter(is_wanted)
        .map(|shape| Row { shape, turns: Vec::with_capacity(plan.rounds) })
        .collect();
    if rows.is_empty() {
        return;
    }
    let solvers = Solvers::new(common::nine(), Task::default());
    let mut echo = Candidate::new(runtime, Server::echo());
    let mut ours = Candidate::new(runtime, Server::ours(1024));
    let mut blocks = vec![Vec::new(); BLOCKS.len()];
    // The first round only warms up.
    for round in 0..=plan.rounds {
        for (figures, (block, _)) in blocks.iter_mut().zip(BLOCKS) {
            figures.push(kernel(&solvers, load, block));
        }
        for row in &mut rows {
            let kernel = kernel(&solvers, load, PACKED);
            let cost = |candidate: &mut Candidate| candidate.measure(runtime, row.shape, plan, load);
            // Whoever is first has the colder caches.
            let (echo, ours) = if round % 2 == 0 {
                let echo = cost(&mut echo);
                (echo, cost(&mut ours))
            } else {
                let ours = cost(&mut ours);
                (cost(&mut echo), ours)
            };
            if round > 0 {
                row.turns.push(Turn { echo, kernel, ours });
            }
        }
    }

    println!("Medians of {} rounds.\n", plan.rounds);
    for (figures, (_, name)) in blocks.iter().zip(BLOCKS) {
        let figure = median(figures.iter().skip(1).copied());
        println!("{:<36}{figure:>9.0}", format!("kernel, ns a line, blocks of {name}"));
    }
    let heading = |what: &str| {
        let [echo, kernel, sum, ours] = ["echo", "kernel", "sum", "ours"];
        println!("\n{what:<36}{echo:>9}{kernel:>9}{sum:>9}{ours:>9}{:>7}{:>6}", "ratio", "bar");
    };
    heading("CPU of the server, ns a line");
    for row in &rows {
        print!("{}", row.line());
    }
    let mut calls = rows.iter().filter(|row| matches!(row.shape, Shape::Calls(_))).peekable();
    if calls.peek().is_some() {
        heading("latency, µs");
    }
    for row in calls {
        print!("{}", row.latency_lines());
    }
    println!("\n{:<36}{:>9}{:>9}{:>9}", "million lines a second", "echo", "kernel", "ours");
    for row in &rows {
        print!("{}", row.wall_line());
    }
}

/// A list of which the first puzzles are sent as the text of a call.
struct Texts {
    name: &'static str,
    /// Texts of so many puzzles, and the texts.
    sizes: [(usize, Arc<[Bytes]>); 3],
}

impl Texts {
    fn of(name: &'static str, list: &str) -> Self {
        const TEXTS: usize = 50;
        let sizes = [1, 10, 100].map(|puzzles| {
            let all = Bytes::from(common::repeated(list, puzzles * TEXTS));
            let mut ends =
                memchr::memchr_iter(b'\n', &all).map(|end| end + 1).skip(puzzles - 1).step_by(puzzles);
            let mut begin = 0;
            let mut next = || ends.next().map(|end| all.slice(std::mem::replace(&mut begin, end)..end));
            (puzzles, std::iter::from_fn(&mut next).collect())
        });
        Self { name, sizes }
    }
}

/// What a call takes where nothing else goes on, beside a call to the echo and the search without a service.
///
/// All are on one core. On several, the system's scheduler decides whether client and server share one, and a core that has to be woken
/// costs more than the call: 50 µs each way on a virtual machine.
fn unary(runtime: &Runtime, plan: &Plan) {
    const NAME: &str = "Solve, one call at a time";
    /// The most that a call may take at the median, as a multiple of the echo's and the search together.
    const BAR: f64 = 1.5;
    if !NAME.contains(&plan.filter) {
        return;
    }
    let everywhere = process::keep_to_one_core();
    let solvers = Solvers::new(common::nine(), Task::default());
    let lists = [Texts::of("easy", "easy_100k"), Texts::of("hard", "hard_10k")];
    let (echo, ours) = (Candidate::new(runtime, Server::echo()), Candidate::new(runtime, Server::ours(1024)));
    let calls = plan.calls.div_ceil(10);
    let time = |candidate: &Candidate, texts: &Arc<[Bytes]>| {
        let latencies = runtime.block_on(candidate.client.calls(texts, 1, calls));
        quantile(&latencies, 0.5).as_secs_f64() * 1e6
    };
    let search = |texts: &[Bytes]| {
        median(texts.iter().map(|text| {
            let begin = Instant::now();
            black_box(answered(&solvers, text));
            begin.elapsed().as_secs_f64() * 1e6
        }))
    };
    let [one, two, three, four] = ["echo", "search", "sum", "ours"];
    println!("\n{NAME}, p50 in µs{one:>19}{two:>9}{three:>9}{four:>9}{:>7}{:>6}", "ratio", "bar");
    for Texts { name, sizes } in lists {
        for (puzzles, texts) in sizes {
            let mut turns: Vec<[f64; 3]> = Vec::new();
            for round in 0..=plan.rounds {
                let figures = if round % 2 == 0 {
                    let echo = time(&echo, &texts);
                    [echo, search(&texts), time(&ours, &texts)]
                } else {
                    let ours = time(&ours, &texts);
                    [time(&echo, &texts), search(&texts), ours]
                };
                // The first round only warms up.
                if round > 0 {
                    turns.push(figures);
                }
            }
            let of = |figure: &dyn Fn(&[f64; 3]) -> f64| median(turns.iter().map(figure));
            println!(
                "{:<36}{:>9.0}{:>9.1}{:>9.0}{:>9.0}{}",
                format!("{puzzles} {name} puzzles"),
                of(&|[echo, ..]| *echo),
                of(&|[_, search, _]| *search),
                of(&|[echo, search, _]| echo + search),
                of(&|[.., ours]| *ours),
                verdict(of(&|[echo, search, ours]| ours / (echo + search)), BAR).trim_end(),
            );
        }
    }
    drop(everywhere);
}

/// What idle clients cost the server, and those who are not idle.
fn idle(runtime: &Runtime, plan: &Plan, load: &Load) {
    const NAME: &str = "memory";
    if !NAME.contains(&plan.filter) {
        return;
    }
    let needed = 2 * plan.idle + 100;
    if process::descriptors() < needed {
        println!("\nSKIPPED: memory with idle clients takes {needed} file descriptors (ulimit -n).");
        return;
    }
    let server = Server::ours(2 * plan.idle);
    println!("\n{:<36}{:>9}{:>9}{:>9}{:>13}{:>6}", NAME, "p50, µs", "p99, µs", "CPU, µs", "MiB", "bar");
    runtime.block_on(async {
        let small = Client::connect(&server.url).await;
        let look = async |what: &str| {
            let before = server.cpu();
            let latencies = small.calls(&load.puzzles, 1, plan.calls).await;
            let cpu = nanoseconds(server.cpu().saturating_sub(before), plan.calls as u64) / 1e3;
            let [p50, p99] = QUANTILES.map(|(_, share)| quantile(&latencies, share).as_secs_f64() * 1e6);
            let resident = server.resident();
            println!(
                "{what:<36}{p50:>9.0}{p99:>9.0}{cpu:>9.1}{:>13.1}{:>6}  {}",
                resident as f64 / f64::from(1 << 20),
                MEMORY_BAR >> 20,
                if resident < MEMORY_BAR { "" } else { "ABOVE" },
            );
        };
        look("(warming up)").await;
        look("one client, one call at a time").await;

        let mut connections = Vec::new();
        for _ in 0..plan.idle {
            let client = Client::connect(&server.url).await;
            // So that it is known to be served.
            client.calls(&load.puzzles, 1, 1).await;
            connections.push(client);
        }
        look(&format!("beside {} idle connections", plan.idle)).await;
        connections.truncate(plan.idle.div_ceil(STREAMS_PER_CONNECTION));
        look("these are gone").await;

        let mut streams = Vec::new();
        for k in 0..plan.idle {
            let connection = k / STREAMS_PER_CONNECTION;
            streams.push(connections[connection].idle_stream().await);
        }
        look(&format!("beside {} idle streams", plan.idle)).await;
        for (stream, line) in streams.iter_mut().zip(load.lines.iter().cycle()) {
            stream.use_once(line).await;
        }
        look("the same, used once each").await;
        drop(streams);
        look("these are gone").await;
    });
}

fn main() {
    if std::env::var_os(ECHO_ROLE).is_some() {
        return echo::serve();
    }
    let plan = Plan::from_args();
    let load = Load::new(plan.puzzles);
    if !process::is_measurable() {
        println!("SKIPPED: this system does not tell in /proc what processes cost");
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    compare(&runtime, &plan, &load);
    unary(&runtime, &plan);
    idle(&runtime, &plan, &load);
}
