//! `sudoku demo`: solves a built-in sample over gRPC and offline, and compares the answers.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use sudoku_stream::answer::{Solvers, Task};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::input::Source;
use sudoku_stream::offline::{self, OfflineError, Output, Progress};
use sudoku_stream::pipeline;
use sudoku_stream::service::{Config, Server};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation, Records};

use crate::cli::server::Servers;
use crate::cli::value::whole;
use crate::cli::{exit, interrupt, print};
use crate::solve::remote;

/// The sample: 3,000 puzzles from easy to minimal, a few bad lines among them.
pub const SAMPLE: &[u8] = include_bytes!("demo.txt");

/// How many answers are shown.
const SHOWN: usize = 3;

/// Arguments of `sudoku demo`.
#[derive(Clone, Args)]
pub struct DemoArgs {
    /// Copies of the sample that are timed
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<usize>(1..))]
    repeat: usize,
}

/// The answers of one pass over a sample, and the time it took.
struct Pass {
    name: String,
    answers: Vec<u8>,
    puzzles: u64,
    time: Duration,
}

/// What the comparison found to be wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}. This is a bug.")]
struct Wrong(String);

/// Runs `sudoku demo`.
pub fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    match demonstrate(args) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if matches!(error.downcast_ref(), Some(OfflineError::Cancelled)) => {
            Ok(interrupt::report("The comparison did not come to its end"))
        }
        Err(error) if error.is::<Wrong>() => {
            print::status_line(&error.to_string());
            Ok(ExitCode::from(exit::DISAGREED))
        }
        Err(error) => Err(error),
    }
}

fn demonstrate(args: &DemoArgs) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().context("There is no room for temporary files")?;
    let sample = folder.path().join("sample.txt");
    fs::write(&sample, SAMPLE).with_context(|| sample.display().to_string())?;
    let large = folder.path().join("large.txt");
    fs::write(&large, SAMPLE.repeat(args.repeat)).with_context(|| large.display().to_string())?;

    let server = LocalServer::start()?;
    let once = both_ways(&sample, folder.path(), &server)?;
    show(&once[0].answers)?;
    let (solved, refused) = verify(&once[0].answers)?;
    let many = both_ways(&large, folder.path(), &server)?;
    server.stop()?;

    print::stdout(&format!(
        "\nChecked: {} keep every rule and every clue, {}; gRPC and offline gave the same {} bytes.\n\n",
        print::counted(solved, "solution"),
        print::counted(refused, "error line"),
        print::thousands(once[0].answers.len() as u64),
    ))?;
    for pass in &many {
        print::stdout(&format!(
            "{:<32}{:>10} puzzles in {:.3} s: {:>10} puzzles/s\n",
            pass.name,
            print::thousands(pass.puzzles),
            pass.time.as_secs_f64(),
            print::per_second(pass.puzzles, pass.time),
        ))?;
    }
    Ok(())
}

/// Solves a file through the service and offline, and checks that the answers are equal.
fn both_ways(file: &Path, folder: &Path, server: &LocalServer) -> anyhow::Result<[Pass; 2]> {
    let cancel = interrupt::flag()?;
    let open = || -> anyhow::Result<_> { Ok(Source::open(file, true)?.read(&Hint::default())?) };
    let out = folder.join("answers.txt");
    let time =
        |name: String, run: &mut dyn FnMut(&mut Output) -> anyhow::Result<u64>| -> anyhow::Result<Pass> {
            let begin = Instant::now();
            let mut output = Output::file(&out, false)?;
            let puzzles = run(&mut output)?;
            output.finish()?;
            let time = begin.elapsed();
            Ok(Pass { name, answers: fs::read(&out)?, puzzles, time })
        };

    let streamed = time(format!("gRPC stream at {}", server.address), &mut |output| {
        let mut puzzles = 0;
        let servers = Servers::open(&format!("http://{}", server.address));
        let watch = |progress: &Progress| puzzles = progress.tally.answers;
        remote::solve(&servers, open()?, &Task::default(), &cancel, output, watch, print::status_line)?;
        Ok(puzzles)
    })?;
    let pool = Arc::new(pipeline::pool(None)?);
    let offline = time(
        format!("offline, {}", print::counted(pool.current_num_threads() as u64, "thread")),
        &mut |output| {
            let reader = open()?;
            let solvers = Arc::new(Solvers::new(reader.format().clone(), Task::default()));
            offline::solve(reader, &solvers, &pool, &cancel, output, |_| ())?;
            Ok(output.progress().tally.answers)
        },
    )?;
    check(streamed.answers == offline.answers, || "gRPC and offline gave different answers".to_owned())?;
    Ok([streamed, offline])
}

/// Fails with [`Wrong`] unless something is as it has to be.
fn check(is_right: bool, wrong: impl FnOnce() -> String) -> Result<(), Wrong> {
    if is_right { Ok(()) } else { Err(Wrong(wrong())) }
}

/// Prints the first answers and all error lines.
fn show(answers: &[u8]) -> anyhow::Result<()> {
    let answers: Vec<&str> = std::str::from_utf8(answers)?.lines().collect();
    let format = sample_format()?;
    let mut page = format!(
        "{} went through a service on this machine, over gRPC, and through the offline pipeline.\n\nThe first of them:\n",
        print::counted(answers.len() as u64, "puzzle line")
    );
    let mut records = Records::new(&format, SAMPLE, 1);
    let mut puzzle = Grid::empty(format.order());
    for answer in answers.iter().take(SHOWN) {
        let line = records.read(&mut puzzle).map_or(0, |record| record.line);
        let mut cells = Vec::new();
        format.write_cells(&puzzle, &mut cells);
        page += &format!("  line {line}  {}\n          {answer}\n", String::from_utf8_lossy(&cells));
    }
    page += "\nBad lines get a sentence in their place, and the others are solved all the same:\n";
    for answer in answers.iter().filter(|answer| answer.starts_with("error: ")) {
        page += &format!("  {answer}\n");
    }
    Ok(print::stdout(&page)?)
}

/// Checks every solution against the rules and its puzzle. Returns the numbers of solutions and
/// error lines.
fn verify(answers: &[u8]) -> anyhow::Result<(u64, u64)> {
    let format = sample_format()?;
    let mut answers = std::str::from_utf8(answers)?.lines();
    let mut records = Records::new(&format, SAMPLE, 1);
    let (mut puzzle, mut solution) = (Grid::empty(format.order()), Grid::empty(format.order()));
    let (mut solved, mut refused) = (0, 0);
    while let Some(record) = records.read(&mut puzzle) {
        let answer = answers.next().ok_or_else(|| Wrong(format!("Line {} was not answered", record.line)))?;
        if answer.starts_with("error: ") {
            refused += 1;
            continue;
        }
        let is_right =
            format.read_cells(answer.as_bytes(), &mut solution).is_ok() && solution.solves(&puzzle);
        check(is_right, || format!("Line {} got a wrong answer: {answer}", record.line))?;
        solved += 1;
    }
    check(answers.next().is_none(), || "There are more answers than puzzles".to_owned())?;
    Ok((solved, refused))
}

fn sample_format() -> anyhow::Result<Format> {
    Ok(Format::new(Notation::Lines, Order::NINE, Alphabet::Letters)?)
}

/// The service on a free port of this machine.
struct LocalServer {
    address: SocketAddr,
    stop: tokio::sync::oneshot::Sender<()>,
    thread: thread::JoinHandle<anyhow::Result<()>>,
}

impl LocalServer {
    fn start() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listen = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()];
        let server = runtime.block_on(Server::bind(Config { listen, ..Config::default() }))?;
        let address = server.local_addr();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = thread::Builder::new().name("service".to_owned()).spawn(move || {
            let shutdown = async {
                // An error means that the sender is gone, and the demonstration with it.
                let _ = stopped.await;
            };
            runtime.block_on(server.serve(shutdown))?;
            Ok(())
        })?;
        Ok(Self { address, stop, thread })
    }

    fn stop(self) -> anyhow::Result<()> {
        let _ = self.stop.send(());
        self.thread.join().ok().context("The service broke down")?
    }
}
