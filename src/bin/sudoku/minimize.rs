//! `sudoku minimize`: drops clues that can be spared.

use std::time::Duration;

use clap::Args;
use sudoku_stream::answer::{CheckForm, MinimizeJob, MinimizeTally, MinimizeTask};
use sudoku_stream::text::Format;

use crate::cli::input::InputArgs;
use crate::cli::resume::{RowArgs, RowsRun};
use crate::cli::row_command::RowCommand;
use crate::cli::value::whole;
use crate::cli::{print, rows};

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
    rows: RowArgs,
}

impl RowCommand for MinimizeArgs {
    type Job = MinimizeJob;

    fn rows(&self) -> RowsRun<'_> {
        // Every argument is named, so that no option is forgotten on which the rows depend.
        let Self { input, seed, rows } = self;
        let options = vec![("--seed", seed.map(|seed| seed.to_string()))];
        let rows = RowsRun::new("minimize", input, rows, CheckForm::Text, options);
        RowsRun { verb: Some("Minimize"), ..rows }
    }

    fn job(&self, format: Format, _: CheckForm) -> anyhow::Result<MinimizeJob> {
        Ok(MinimizeJob::new(format, MinimizeTask { seed: self.seed, ..MinimizeTask::default() }))
    }

    /// `5,000 puzzles in 2.124 s, 2,350 a second: 1,210 clues dropped, 310 minimal before.`
    fn summary(&self, tally: &MinimizeTally, time: Duration, _: bool) -> Vec<String> {
        let summary = format!(
            "{}: {} dropped, {} minimal before.",
            print::in_time(tally.puzzles, "puzzle", time),
            print::counted(tally.dropped, "clue"),
            print::thousands(tally.minimal)
        );
        [summary].into_iter().chain(rows::copied(&tally.errors)).collect()
    }
}
