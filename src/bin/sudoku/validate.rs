//! `sudoku validate`: every badly formed puzzle of an input, in order.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use sudoku_stream::input::{self, ValidateError};
use sudoku_stream::pipeline;
use sudoku_stream::text::PuzzleError;

use crate::cli::input::InputArgs;
use crate::cli::interrupt;
use crate::cli::output::ReportArgs;
use crate::cli::run::RunArgs;
use crate::cli::value::whole;
use crate::cli::{exit, print, progress, summary};

/// The report of an interrupted run.
const NOT_TO_THE_END: &str = "The input was not validated to its end";

const EXAMPLES: &str = "\
Examples:
  sudoku validate puzzles.txt
  sudoku validate puzzles.txt.gz -n 100
  sudoku validate lists/*.txt -o errors.txt
  zcat puzzles.txt.gz | sudoku validate && echo all well

Exit codes: 0, every puzzle is well formed; 1, some are not; 2, the input cannot be read.";

/// Arguments of `sudoku validate`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ValidateArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Print at most N errors
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = whole::<usize>(0..))]
    limit: usize,

    #[command(flatten)]
    out: ReportArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// Runs `sudoku validate`.
pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let inputs = args.input.all()?;
    let mut report = args.out.open(&inputs)?;
    let (mut bad, mut puzzles, mut shown) = (0, 0, 0);
    for input in inputs {
        let opened = input.clone();
        let Some(reader) = input.interruptibly(&cancel, move || opened.reader())? else {
            return Ok(interrupt::report(NOT_TO_THE_END));
        };
        let format = reader.format().clone();
        let passed = reader.passed_lines();
        let bar = progress::beside(args.out.path(), || progress::of_bytes(&args.run.progress, &reader));
        let limit = args.limit - shown;
        let result = input::validate(reader, &pool, &cancel, limit, |bytes| bar.set_position(bytes));
        bar.finish_and_clear();
        let found = match result {
            Ok(found) => found,
            Err(ValidateError::Input(error)) => return Err(error.into()),
            Err(error @ ValidateError::Threads(_)) => return Err(error.into()),
            Err(ValidateError::Cancelled) => return Ok(interrupt::report(NOT_TO_THE_END)),
        };
        let read_as = format.layout().map_or_else(String::new, |layout| {
            format!("{} was read as {layout}.{}\n", input.name(), summary::passed_over(passed.count()))
        });
        (bad, puzzles, shown) = (bad + found.bad, puzzles + found.puzzles, shown + found.errors.len());
        if found.bad == 0 {
            let puzzles = print::counted(found.puzzles, "puzzle");
            report.write(&format!(
                "{}: {puzzles} of {} in the notation {}, all well formed.\n",
                input.name(),
                format.order(),
                format.notation()
            ))?;
            report.write(&read_as)?;
        } else {
            let sentence = |error: &PuzzleError| input.sentence(&error.to_string()) + "\n";
            report.write(&found.errors.iter().map(sentence).collect::<String>())?;
            // A report of errors has nothing else in it.
            if !args.run.progress.quiet && !read_as.is_empty() {
                print::status_line(read_as.trim_end());
            }
        }
    }
    report.finish()?;
    if bad == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if bad > shown as u64 && !args.run.progress.quiet {
        print::status_line(&format!(
            "{} of {} are bad; --limit shows more than {shown} of them.",
            print::thousands(bad),
            print::counted(puzzles, "puzzle"),
        ));
    }
    Ok(ExitCode::from(exit::ERRORS_SEEN))
}
