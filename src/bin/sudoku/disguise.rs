//! `sudoku disguise`: puzzles and their solutions by random symmetries.

use std::cell::Cell;
use std::time::Duration;

use clap::Args;
use sudoku_stream::answer::{CheckForm, DisguiseJob, DisguiseTally, DisguiseTask, RowTally as _};
use sudoku_stream::generate::any_seed;
use sudoku_stream::text::Format;

use crate::cli::input::InputArgs;
use crate::cli::resume::{RowArgs, RowsRun};
use crate::cli::row_command::RowCommand;
use crate::cli::value::whole;
use crate::cli::{print, rows};

const EXAMPLES: &str = "\
Examples:
  sudoku disguise puzzles.txt --seed 7 > others.txt
  sudoku disguise train.csv --times 10 --seed 7 --with-original -o augmented.csv
  sudoku disguise million.txt --times 10 -o augmented.txt --resume

A disguise transposes or not, permutes bands, rows in bands, stacks and columns in stacks, and \
relabels digits, each of the 1,218,998,108,160 ways of 9x9 puzzles being equally likely. The \
solution in a table gets the disguise of its puzzle, and other columns stay as they are. A row that \
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
    rows: RowArgs,
}

/// A run of `sudoku disguise`.
pub struct DisguiseRun<'a> {
    args: &'a DisguiseArgs,
    /// The one given, or a random one.
    seed: Cell<u64>,
}

impl<'a> From<&'a DisguiseArgs> for DisguiseRun<'a> {
    fn from(args: &'a DisguiseArgs) -> Self {
        Self { args, seed: args.seed.unwrap_or_else(any_seed).into() }
    }
}

impl RowCommand for DisguiseRun<'_> {
    type Job = DisguiseJob;

    fn rows(&self) -> RowsRun<'_> {
        // Every argument is named, so that no option is forgotten on which the rows depend.
        let DisguiseArgs { input, times, seed, with_original, rows } = self.args;
        let options = vec![
            ("--times", Some(times.to_string())),
            ("--seed", seed.map(|seed| seed.to_string())),
            ("--with-original", with_original.then(String::new)),
        ];
        let rows = RowsRun::new("disguise", input, rows, CheckForm::Text, options);
        let no_shards = seed.is_none().then_some(
            "Each shard would have a random seed of its own. Name one for all of them with --seed.",
        );
        RowsRun { verb: Some("Disguise"), seed: Some(&self.seed), no_shards, ..rows }
    }

    fn job(&self, format: Format, _: CheckForm) -> anyhow::Result<DisguiseJob> {
        let (times, seed, with_original) = (self.args.times, self.seed.get(), self.args.with_original);
        Ok(DisguiseJob::new(format, DisguiseTask { times, seed, with_original }))
    }

    fn shown(tally: &DisguiseTally) -> (u64, &'static str) {
        (tally.written, "rows")
    }

    fn summary(&self, tally: &DisguiseTally, time: Duration, _: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if self.args.seed.is_none() {
            lines.push(format!("The seed was {}.", self.seed.get()));
        }
        if tally.puzzles > 1 {
            lines.push(format!(
                "{} in disguise: {}.",
                print::counted(tally.puzzles - tally.error_count(), "puzzle"),
                print::in_time(tally.written, "row", time)
            ));
        }
        lines.extend(rows::copied(&tally.errors));
        lines
    }
}
