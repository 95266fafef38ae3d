//! `sudoku disguise`: puzzles and their solutions by random symmetries.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use sudoku_stream::answer::{DisguiseTally, DisguiseTask};
use sudoku_stream::generate::any_seed;
use sudoku_stream::offline;
use sudoku_stream::pipeline;

use crate::cli::input::InputArgs;
use crate::cli::output::OutputArgs;
use crate::cli::rows::{self, Rewrite};
use crate::cli::run::RunArgs;
use crate::cli::value::whole;
use crate::cli::{interrupt, print};

const EXAMPLES: &str = "\
Examples:
  sudoku disguise puzzles.txt --seed 7 > others.txt
  sudoku disguise train.csv --times 10 --seed 7 --with-original -o augmented.csv

A disguise transposes or not, permutes bands, rows in bands, stacks and columns in stacks, and
relabels digits, each of the 1,218,998,108,160 ways of 9x9 puzzles being equally likely. The
solution in a table gets the disguise of its puzzle, and other columns stay as they are. A row that
is badly formed is copied.
The same seed gives the same disguises, which depend on the line of a puzzle and their number.

Exit codes: 0, done; 2, the input cannot be read.";

/// Arguments of `sudoku disguise`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct DisguiseArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Disguises of each puzzle, one after another [range: 1 to 1000000]
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = whole::<u32>(1..=DisguiseTask::MAX_TIMES))]
    times: u32,

    /// Seed of the disguises [default: random, printed]
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0..))]
    seed: Option<u64>,

    /// Write each puzzle before its disguises
    #[arg(long)]
    with_original: bool,

    #[command(flatten)]
    out: OutputArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// Runs `sudoku disguise`.
pub fn run(args: &DisguiseArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let seed = args.seed.unwrap_or_else(any_seed);
    let task = DisguiseTask { times: args.times, seed, with_original: args.with_original };
    let inputs = args.input.all()?;
    let mut tally = DisguiseTally::default();
    let rewrite = Rewrite {
        inputs: &inputs,
        out: &args.out,
        progress: &args.run.progress,
        cancel: &cancel,
        verb: "Disguise",
    };
    let stopped = rewrite.run(|reader, output, bar| {
        let result = offline::disguise(reader, task, &pool, &cancel, output, |end, part| {
            tally.add(part);
            bar.advance(end, tally.written, "rows", begin);
        });
        (tally.puzzles, result)
    })?;
    if let Some(code) = stopped {
        return Ok(code);
    }
    if !args.run.progress.quiet {
        if args.seed.is_none() {
            print::status_line(&format!("The seed was {seed}."));
        }
        if tally.puzzles > 1 {
            let (time, rows) = (begin.elapsed(), print::counted(tally.written, "row"));
            print::status_line(&format!(
                "{} in disguise: {rows} in {:.3} s, {} a second.",
                print::counted(tally.puzzles - tally.error_count(), "puzzle"),
                time.as_secs_f64(),
                print::per_second(tally.written, time)
            ));
        }
        if let Some(copied) = rows::copied(&tally.errors) {
            print::status_line(&copied);
        }
    }
    Ok(ExitCode::SUCCESS)
}
