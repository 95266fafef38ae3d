//! `sudoku minimize`: drops clues that can be spared.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use sudoku_stream::answer::{CheckForm, MinimizeTally, MinimizeTask, NamedTally as _};
use sudoku_stream::offline::{self, Progress};
use sudoku_stream::pipeline;

use crate::cli::early_end::EarlyEnd;
use crate::cli::input::InputArgs;
use crate::cli::output::OutputArgs;
use crate::cli::resume::{ResumeArgs, RowsRun};
use crate::cli::rows::{self, EachInput};
use crate::cli::run::RunArgs;
use crate::cli::value::whole;
use crate::cli::{interrupt, print};

const EXAMPLES: &str = "\
Examples:
  sudoku minimize 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  sudoku minimize puzzles.csv -o minimal.csv
  sudoku minimize puzzles.txt --seed 7
  sudoku minimize million.txt -o minimal.txt --resume

Clues are tried one after another, and dropped where the solution stays the only one; every clue \
that is left is needed. Other orders lead to other puzzles, and none need have the fewest clues.
Columns of a table stay as they are. A row that is badly formed, or has not exactly one solution, is \
copied.

Exit codes: 0, done; 2, the input cannot be read.";

/// Arguments of `sudoku minimize`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct MinimizeArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Seed of the order in which clues are tried [default: reading order]
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0..))]
    seed: Option<u64>,

    #[command(flatten)]
    out: OutputArgs,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl MinimizeArgs {
    /// How inputs and the output are opened.
    fn rows(&self) -> RowsRun<'_> {
        RowsRun {
            command: "minimize",
            out: &self.out,
            resume: self.resume,
            form: CheckForm::Text,
            has_rows: true,
            keeps_rows: true,
            item: "puzzle",
            options: vec![("--seed", self.seed.map(|seed| seed.to_string()))],
            is_quiet: self.run.progress.quiet,
        }
    }
}

/// Runs `sudoku minimize`.
pub fn run(args: &MinimizeArgs) -> Result<(), EarlyEnd> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let task = MinimizeTask { seed: args.seed, ..MinimizeTask::default() };
    let inputs = args.input.all()?;
    let mut tally = MinimizeTally::default();
    let each = EachInput {
        inputs: &inputs,
        rows: args.rows(),
        progress: &args.run.progress,
        cancel: &cancel,
        rewrites: Some("Minimize"),
        check: |_, _| Ok(()),
        recall: MinimizeTally::from_named,
    };
    let done = |progress: &Progress, _: &MinimizeTally, is_table| {
        each.rows.counted(progress.tally.answers, is_table)
    };
    let before = each.run(&mut tally, done, |_, reader, output, bar, tally| {
        // An earlier run can only have done a part of a single input.
        let earlier = if inputs.len() == 1 { tally.puzzles } else { 0 };
        offline::minimize(reader, task, &pool, &cancel, |part| {
            tally.add(&part.tally);
            bar.advance(part.end, tally.puzzles - earlier, "puzzles", begin);
            Ok(output.add_rows(part.end, part.prefix, &part.text, part.tally.puzzles, tally.named())?)
        })
    })?;
    if !args.run.progress.quiet {
        let (time, clues) = (before + begin.elapsed(), print::counted(tally.dropped, "clue"));
        print::status_line(&format!(
            "{} in {:.3} s, {} a second: {clues} dropped, {} minimal before.",
            print::counted(tally.puzzles, "puzzle"),
            time.as_secs_f64(),
            print::per_second(tally.puzzles, time),
            print::thousands(tally.minimal)
        ));
        if let Some(copied) = rows::copied(&tally.errors) {
            print::status_line(&copied);
        }
    }
    Ok(())
}
