//! `sudoku canon`: the same text for all puzzles that are the same but for symmetry.

use std::time::Duration;

use clap::Args;
use sudoku_stream::answer::{CanonJob, CanonTally, CanonTask, CheckForm, RowTally as _};
use sudoku_stream::canon::Basis;
use sudoku_stream::offline::Progress;
use sudoku_stream::text::Format;

use crate::cli::input::InputArgs;
use crate::cli::resume::{RowArgs, RowsRun};
use crate::cli::row_command::RowCommand;
use crate::cli::{print, value};

const EXAMPLES: &str = "\
Examples:
  sudoku canon ..6...9..5.7.....6.....5.2....74......9.2.8..32.......7.29....88...642...6.8..19.
  sudoku canon puzzles.txt --by puzzle > minlex.txt
  sudoku canon puzzles.csv --format csv --disguise -o canonical.csv
  sudoku canon million.txt -o forms.txt --resume

Two 9x9 puzzles have the same canonical form if one becomes the other by transposing, by permuting \
bands, rows in bands, stacks and columns in stacks, and by relabelling digits; no others do.
By solution, the solution is put in its least form and the clues move along. By puzzle, the text of \
the clues is the least of all, which is known as minlex; a blank is less than any digit.
By default it is by solution for puzzles with exactly one, and by puzzle for others.

Each puzzle is answered by one line, in order: its form, or `error: ` and a sentence.

Exit codes: 0, done; 1, an error line to a typed puzzle, or any with --fail-on-error; 2, the \
input cannot be read.";

/// Arguments of `sudoku canon`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CanonArgs {
    #[command(flatten)]
    input: InputArgs,

    /// What is put in its least form [default: the solution if there is exactly one, else the
    /// puzzle]
    #[arg(long, value_name = "BASIS", value_parser = value::basis())]
    by: Option<Basis>,

    /// Print the disguise too that leads from the puzzle to its form
    ///
    /// As in `transpose rows 213456789 columns 123456789 digits 987654321`: row 1 of the form is row
    /// 2 of the transposed puzzle, and 1 becomes 9.
    #[arg(long)]
    disguise: bool,

    /// Form of the answers: text, or a row for every puzzle as csv, tsv, jsonl or parquet [default:
    /// text]
    ///
    /// Without it, a FILE named `.csv`, `.tsv`, `.jsonl` or `.parquet` gets that.
    /// The columns of a table stay as they are; added are the canonical form, what it is by, the
    /// number of automorphisms, the code of the error, and with --disguise the disguise.
    #[arg(short, long, value_name = "FORM", value_parser = value::check_form())]
    format: Option<CheckForm>,

    /// Exit with 1 if an answer is an error line
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    fail_on_error: bool,

    #[command(flatten)]
    rows: RowArgs,
}

impl RowCommand for CanonArgs {
    type Job = CanonJob;

    fn rows(&self) -> RowsRun<'_> {
        // Every argument is named, so that no option is forgotten on which the rows depend.
        let Self { input, by, disguise, format, fail_on_error, rows } = self;
        let form = rows.out.check_form(*format);
        let options = vec![
            ("--format", Some(form.to_string())),
            ("--by", by.map(|basis| basis.to_string())),
            ("--disguise", disguise.then(String::new)),
        ];
        RowsRun {
            is_of_9x9: true,
            fail_on_error: Some(*fail_on_error),
            ..RowsRun::new("canon", input, rows, form, options)
        }
    }

    fn job(&self, format: Format, form: CheckForm) -> anyhow::Result<CanonJob> {
        let task = CanonTask { basis: self.by, ..CanonTask::default() };
        Ok(CanonJob::new(format, task, form, self.disguise))
    }

    fn done(&self, _: &Progress, _: &CanonTally, counted: String) -> String {
        format!("{counted} answered")
    }

    fn summary(&self, tally: &CanonTally, time: Duration, _: bool) -> Vec<String> {
        Vec::from_iter((tally.puzzles > 1).then(|| summary(tally, time)))
    }
}

/// `49,158 puzzles in 0.124 s, 396,000 a second: 49,158 by solution, 3 with automorphisms.`
fn summary(tally: &CanonTally, time: Duration) -> String {
    let errors = tally.error_count();
    let by_solution = tally.puzzles - tally.by_puzzle - errors;
    let kinds = [
        (by_solution, "by solution"),
        (tally.by_puzzle, "by puzzle"),
        (tally.automorphic, "with automorphisms"),
        (errors, if errors == 1 { "error line" } else { "error lines" }),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{} {kind}", print::thousands(*count)))
        .collect();
    format!("{}: {}.", print::in_time(tally.puzzles, "puzzle", time), kinds.join(", "))
}
