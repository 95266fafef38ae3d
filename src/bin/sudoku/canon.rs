//! `sudoku canon`: the same text for all puzzles that are the same but for symmetry.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use sudoku_stream::answer::{CanonTally, CanonTask, CanonWriter, Canonizers, CheckForm, NamedTally as _};
use sudoku_stream::canon::Basis;
use sudoku_stream::offline::{self, Progress};
use sudoku_stream::pipeline;

use crate::cli::early_end::EarlyEnd;
use crate::cli::input::InputArgs;
use crate::cli::output::OutputArgs;
use crate::cli::resume::{ResumeArgs, RowsRun};
use crate::cli::rows::{EachInput, ErrorLines};
use crate::cli::run::RunArgs;
use crate::cli::{interrupt, print, rows, value};

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
    out: OutputArgs,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl CanonArgs {
    /// The form of the report: the one asked for, or that of a file by its name.
    fn form(&self) -> CheckForm {
        self.out.check_form(self.format)
    }

    /// How inputs and the output are opened.
    fn rows(&self) -> RowsRun<'_> {
        RowsRun {
            command: "canon",
            out: &self.out,
            resume: self.resume,
            form: self.form(),
            has_rows: true,
            keeps_rows: true,
            item: "puzzle",
            options: vec![
                ("--format", Some(self.form().to_string())),
                ("--by", self.by.map(|basis| basis.to_string())),
                ("--disguise", self.disguise.then(String::new)),
            ],
            is_quiet: self.run.progress.quiet,
        }
    }
}

/// Runs `sudoku canon`.
pub fn run(args: &CanonArgs) -> anyhow::Result<ExitCode> {
    let mut errors = ErrorLines::new(args.fail_on_error);
    let ended = answer(args, &mut errors);
    errors.exit_code(ended)
}

/// Answers every puzzle, and counts in `errors` the error lines.
fn answer(args: &CanonArgs, errors: &mut ErrorLines) -> Result<(), EarlyEnd> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let task = CanonTask { basis: args.by, ..CanonTask::default() };
    let inputs = args.input.all()?;
    rows::check_is_one(&inputs, args.form())?;
    let mut tally = CanonTally::default();
    let each = EachInput {
        inputs: &inputs,
        rows: args.rows(),
        progress: &args.run.progress,
        cancel: &cancel,
        rewrites: None,
        check: |reader, input| rows::check_9x9(reader, input, None),
        recall: CanonTally::from_named,
    };
    let done = |progress: &Progress, _: &CanonTally, is_table| {
        format!("{} answered", each.rows.counted(progress.tally.answers, is_table))
    };
    let before = each.run(&mut tally, done, |input, reader, output, bar, tally| {
        let canonizers = Arc::new(Canonizers::new(reader.format().clone(), task));
        let writer = CanonWriter::new(args.form(), reader.format(), args.disguise);
        // An earlier run can only have answered a part of a single input.
        let earlier = if input.is_only() { tally.puzzles } else { 0 };
        let result = offline::canon(reader, &canonizers, writer, &pool, &cancel, |part| {
            tally.add(&part.tally);
            bar.advance(part.end, tally.puzzles - earlier, "puzzles", begin);
            let text = input.named(args.form(), part.text);
            Ok(output.add_rows(part.end, part.prefix, &text, part.tally.puzzles, tally.named())?)
        });
        errors.count(tally.error_count(), input);
        result
    })?;
    let time = before + begin.elapsed();
    if !args.run.progress.quiet && tally.puzzles > 1 {
        print::status_line(&summary(&tally, time));
    }
    Ok(())
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
    format!(
        "{} in {:.3} s, {} a second: {}.",
        print::counted(tally.puzzles, "puzzle"),
        time.as_secs_f64(),
        print::per_second(tally.puzzles, time),
        kinds.join(", ")
    )
}
