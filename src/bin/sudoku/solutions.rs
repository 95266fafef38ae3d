//! `sudoku solutions`: lists the solutions of every puzzle of an input.

use std::time::Duration;

use clap::Args;
use sudoku_stream::answer::{CheckForm, EnumerateTally, EnumerateTask, RowTally as _, SolutionsJob};
use sudoku_stream::offline::Progress;
use sudoku_stream::solver::DEFAULT_NODE_LIMIT;
use sudoku_stream::text::Format;

use crate::cli::input::InputArgs;
use crate::cli::print;
use crate::cli::resume::{RowArgs, RowsRun};
use crate::cli::row_command::RowCommand;
use crate::cli::value::{self, whole};

const EXAMPLES: &str = "\
Examples:
  sudoku solutions .3..7....6..195....98....6.8...6....4..8.3...7...2...6.6....28....419..5....8..79
  sudoku solutions puzzles.txt --limit all -f csv -o solutions.csv
  sudoku solutions million.txt -o solutions.txt --resume
  sudoku solutions --limit 1000000 --node-limit 1000000000 blank.txt | head

The solutions of a puzzle stand together, one a line, and those of several puzzles in the order of \
the input. A puzzle without a solution has the line `error: ` and a sentence, and one that is given \
up has it behind the solutions found until then.
They are in the order in which the search finds them. That is the same on every run and machine, \
and with every limit and number of threads, but not sorted: `sort` puts lines in order.

Exit codes: 0, done; 1, an error line to a typed puzzle, or any with --fail-on-error; 2, the \
input cannot be read.";

/// Arguments of `sudoku solutions`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SolutionsArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Solutions to list of each puzzle, at most: a number from 1, or all
    ///
    /// A line on standard error says of how many puzzles the list was cut off. Memory does not depend
    /// on it, because solutions are written as they are found.
    #[arg(short = 'n', long, value_name = "N|all", value_parser = value::number_or_all)]
    #[arg(default_value_t = EnumerateTask::DEFAULT_LIMIT)]
    limit: u64,

    /// Form of the list: text, or a row for every solution as csv, tsv, jsonl or parquet [default:
    /// text]
    ///
    /// Without it, a FILE named `.csv`, `.tsv`, `.jsonl` or `.parquet` gets that.
    /// The columns of a table stay as they are, and a list has the puzzle; added are the number of
    /// the solution from 1, the solution, and the code of the error.
    #[arg(short, long, value_name = "FORM", value_parser = value::check_form())]
    format: Option<CheckForm>,

    /// Give up a puzzle after N nodes
    ///
    /// A node is a state that the search visits. Each solution takes one or more.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT)]
    #[arg(value_parser = whole::<u64>(1..), help_heading = "Search")]
    node_limit: u64,

    /// Exit with 1 if an answer is an error line
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    fail_on_error: bool,

    #[command(flatten)]
    rows: RowArgs,
}

impl RowCommand for SolutionsArgs {
    type Job = SolutionsJob;

    fn rows(&self) -> RowsRun<'_> {
        // Every argument is named, so that no option is forgotten on which the rows depend.
        let Self { input, limit, format, node_limit, fail_on_error, rows } = self;
        let form = rows.out.check_form(*format);
        let options = vec![
            ("--format", Some(form.to_string())),
            ("--limit", Some(value::name_of_number(*limit))),
            ("--node-limit", Some(node_limit.to_string())),
        ];
        let rows = RowsRun::new("solutions", input, rows, form, options);
        RowsRun { keeps_rows: false, fail_on_error: Some(*fail_on_error), ..rows }
    }

    fn job(&self, format: Format, form: CheckForm) -> anyhow::Result<SolutionsJob> {
        let task = EnumerateTask { limit: self.limit, node_limit: self.node_limit };
        Ok(SolutionsJob::new(format, task, form))
    }

    fn shown(tally: &EnumerateTally) -> (u64, &'static str) {
        (tally.solutions, "solutions")
    }

    fn done(&self, progress: &Progress, tally: &EnumerateTally, _: String) -> String {
        // What is written behind the last puzzle that is done is not kept.
        let kept = || EnumerateTally::from_named(&progress.counts).unwrap_or_default();
        let is_resumed = self.rows.resume.resume;
        print::counted(if is_resumed { kept().solutions } else { tally.solutions }, "solution")
    }

    fn summary(&self, tally: &EnumerateTally, time: Duration, _: bool) -> Vec<String> {
        Vec::from_iter(summary(tally, self.limit, time))
    }
}

/// `5,000 puzzles in 0.124 s: 41,210 solutions, 310 puzzles cut off at --limit 10, 2 error lines.`
/// `None` if the answer to the only puzzle says it all.
fn summary(tally: &EnumerateTally, limit: u64, time: Duration) -> Option<String> {
    let (errors, solutions) = (tally.error_count(), print::counted(tally.solutions, "solution"));
    if tally.puzzles == 1 {
        return match (tally.solutions, tally.cut_off, errors) {
            (0, ..) => None,
            (_, 0, 0) => Some(format!("{solutions}.")),
            (_, 0, _) => Some(format!("{solutions}, and then the search was given up.")),
            _ => Some(format!("{solutions}, cut off at --limit {limit}; --limit all lists them all.")),
        };
    }
    let mut parts = vec![solutions];
    if tally.cut_off > 0 {
        parts.push(format!("{} cut off at --limit {limit}", print::counted(tally.cut_off, "puzzle")));
    }
    if errors > 0 {
        parts.push(print::counted(errors, "error line"));
    }
    let (puzzles, seconds) = (print::counted(tally.puzzles, "puzzle"), time.as_secs_f64());
    Some(format!("{puzzles} in {seconds:.3} s: {}.", parts.join(", ")))
}
