//! `sudoku solutions`: lists the solutions of every puzzle of an input.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use sudoku_stream::answer::{
    CheckForm, EnumerateTally, EnumerateTask, Enumerators, NamedTally as _, SolutionWriter,
};
use sudoku_stream::offline::{self, Progress};
use sudoku_stream::pipeline;
use sudoku_stream::solver::DEFAULT_NODE_LIMIT;

use crate::cli::early_end::EarlyEnd;
use crate::cli::input::InputArgs;
use crate::cli::output::OutputArgs;
use crate::cli::resume::{ResumeArgs, RowsRun};
use crate::cli::rows::{EachInput, ErrorLines};
use crate::cli::run::RunArgs;
use crate::cli::value::{self, whole};
use crate::cli::{interrupt, print, rows};

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
    out: OutputArgs,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl SolutionsArgs {
    /// The form of the list: the one asked for, or that of a file by its name.
    fn form(&self) -> CheckForm {
        self.out.check_form(self.format)
    }

    /// How inputs and the output are opened.
    fn rows(&self) -> RowsRun<'_> {
        RowsRun {
            command: "solutions",
            out: &self.out,
            resume: self.resume,
            form: self.form(),
            has_rows: true,
            keeps_rows: false,
            item: "puzzle",
            options: vec![
                ("--format", Some(self.form().to_string())),
                ("--limit", Some(value::name_of_number(self.limit))),
                ("--node-limit", Some(self.node_limit.to_string())),
            ],
            is_quiet: self.run.progress.quiet,
        }
    }
}

/// Runs `sudoku solutions`.
pub fn run(args: &SolutionsArgs) -> anyhow::Result<ExitCode> {
    let mut errors = ErrorLines::new(args.fail_on_error);
    let ended = list(args, &mut errors);
    errors.exit_code(ended)
}

/// Lists the solutions of every puzzle, and counts in `errors` the error lines.
fn list(args: &SolutionsArgs, errors: &mut ErrorLines) -> Result<(), EarlyEnd> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let task = EnumerateTask { limit: args.limit, node_limit: args.node_limit };
    let inputs = args.input.all()?;
    rows::check_is_one(&inputs, args.form())?;
    let mut tally = EnumerateTally::default();
    let each = EachInput {
        inputs: &inputs,
        rows: args.rows(),
        progress: &args.run.progress,
        cancel: &cancel,
        rewrites: None,
        check: |_, _| Ok(()),
        recall: EnumerateTally::from_named,
    };
    let done = |progress: &Progress, tally: &EnumerateTally, _| {
        // What is written behind the last puzzle that is done is not kept.
        let kept = || EnumerateTally::from_named(&progress.counts).unwrap_or_default();
        print::counted(if args.resume.resume { kept().solutions } else { tally.solutions }, "solution")
    };
    let before = each.run(&mut tally, done, |input, reader, output, bar, tally| {
        let enumerators = Arc::new(Enumerators::new(reader.format().clone(), task));
        let writer = SolutionWriter::new(args.form(), reader.format());
        // An earlier run can only have answered a part of a single input.
        let earlier = if input.is_only() { tally.solutions } else { 0 };
        let result = offline::solutions(reader, &enumerators, writer, &pool, &cancel, |part| {
            tally.add(&part.tally);
            bar.advance(part.done, tally.solutions - earlier, "solutions", begin);
            let has_errors = part.tally.error_count() > 0;
            let text = if has_errors { input.named(args.form(), part.text) } else { part.text };
            if !part.is_complete {
                return Ok(output.write(&text)?);
            }
            let rows = tally.puzzles - output.progress().tally.answers;
            Ok(output.add_rows(part.done, part.prefix, &text, rows, tally.named())?)
        });
        errors.count(tally.error_count(), input);
        result
    })?;
    let time = before + begin.elapsed();
    if !args.run.progress.quiet
        && let Some(summary) = summary(&tally, args.limit, time)
    {
        print::status_line(&summary);
    }
    Ok(())
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
