//! `sudoku disguise`: puzzles and their solutions by random symmetries.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use sudoku_stream::answer::{CheckForm, DisguiseTally, DisguiseTask, NamedTally as _};
use sudoku_stream::generate::any_seed;
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
    out: OutputArgs,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl DisguiseArgs {
    /// How inputs and the output are opened.
    fn rows(&self) -> RowsRun<'_> {
        RowsRun {
            command: "disguise",
            out: &self.out,
            resume: self.resume,
            form: CheckForm::Text,
            has_rows: true,
            keeps_rows: true,
            item: "puzzle",
            options: vec![
                ("--times", Some(self.times.to_string())),
                ("--seed", self.seed.map(|seed| seed.to_string())),
                ("--with-original", self.with_original.then(String::new)),
            ],
            is_quiet: self.run.progress.quiet,
        }
    }
}

/// The name of the seed beside the counts of a run.
const SEED: &str = "seed";

/// What was disguised so far, and by which seed: a random one is recorded too, because a run that is
/// resumed goes on with it.
struct Disguised {
    tally: DisguiseTally,
    seed: u64,
}

impl Disguised {
    /// Every number under a name, for a record of an unfinished run.
    fn named(&self) -> BTreeMap<String, u64> {
        self.tally.named().into_iter().chain([(SEED.to_owned(), self.seed)]).collect()
    }

    /// What has these numbers. `None` if they are not those of [`Self::named`].
    fn from_named(named: &BTreeMap<String, u64>) -> Option<Self> {
        let mut named = named.clone();
        let seed = named.remove(SEED)?;
        Some(Self { tally: DisguiseTally::from_named(&named)?, seed })
    }
}

/// Runs `sudoku disguise`.
pub fn run(args: &DisguiseArgs) -> Result<(), EarlyEnd> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let inputs = args.input.all()?;
    let seed = args.seed.unwrap_or_else(any_seed);
    let mut disguised = Disguised { tally: DisguiseTally::default(), seed };
    let each = EachInput {
        inputs: &inputs,
        rows: args.rows(),
        progress: &args.run.progress,
        cancel: &cancel,
        rewrites: Some("Disguise"),
        check: |_, _| Ok(()),
        recall: Disguised::from_named,
    };
    let done =
        |progress: &Progress, _: &Disguised, is_table| each.rows.counted(progress.tally.answers, is_table);
    let before = each.run(&mut disguised, done, |_, reader, output, bar, disguised| {
        let (times, seed, with_original) = (args.times, disguised.seed, args.with_original);
        let task = DisguiseTask { times, seed, with_original };
        // An earlier run can only have done a part of a single input.
        let earlier = if inputs.len() == 1 { disguised.tally.written } else { 0 };
        offline::disguise(reader, task, &pool, &cancel, |part| {
            disguised.tally.add(&part.tally);
            bar.advance(part.done, disguised.tally.written - earlier, "rows", begin);
            if !part.is_complete {
                return Ok(output.write(&part.text)?);
            }
            let rows = disguised.tally.puzzles - output.progress().tally.answers;
            Ok(output.add_rows(part.done, part.prefix, &part.text, rows, disguised.named())?)
        })
    })?;
    let Disguised { tally, seed } = disguised;
    if !args.run.progress.quiet {
        if args.seed.is_none() {
            print::status_line(&format!("The seed was {seed}."));
        }
        if tally.puzzles > 1 {
            let (time, rows) = (before + begin.elapsed(), print::counted(tally.written, "row"));
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
    Ok(())
}
