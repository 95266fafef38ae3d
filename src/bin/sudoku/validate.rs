//! `sudoku validate`: every badly formed puzzle of an input, in order.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use sudoku_stream::input::{self, ValidateError};
use sudoku_stream::pipeline;

use crate::cli::input::InputArgs;
use crate::cli::interrupt::{self, interruptible};
use crate::cli::run::RunArgs;
use crate::cli::value::whole;
use crate::cli::{exit, print, progress};

/// The report of an interrupted run.
const NOT_TO_THE_END: &str = "The input was not validated to its end";

const EXAMPLES: &str = "\
Examples:
  sudoku validate puzzles.txt
  sudoku validate puzzles.txt.gz --limit 100

Exit codes: 0, every puzzle is well formed; 2, some are not, or the input cannot be read.";

/// Arguments of `sudoku validate`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ValidateArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Print at most N errors
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<usize>(0..))]
    limit: usize,

    #[command(flatten)]
    run: RunArgs,
}

/// Runs `sudoku validate`.
pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::pool(args.run.threads)?);
    let input = args.input.clone();
    let Some(reader) = interruptible(&cancel, move || input.reader())? else {
        return Ok(interrupt::report(NOT_TO_THE_END));
    };
    let format = reader.format().clone();
    let name = reader.name().to_owned();
    let bar = progress::of_bytes(&args.run.progress, reader.len_bytes());
    let result = input::validate(reader, &pool, &cancel, args.limit, |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    let found = match result {
        Ok(found) => found,
        Err(ValidateError::Input(error)) => return Err(error.into()),
        Err(ValidateError::Cancelled) => return Ok(interrupt::report(NOT_TO_THE_END)),
    };
    if found.bad == 0 {
        let puzzles = print::counted(found.puzzles, "puzzle");
        print::stdout(&format!(
            "{name}: {puzzles} of {} in the notation {}, all well formed.\n",
            format.order(),
            format.notation()
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let sentences: String = found.errors.iter().map(|error| format!("{error}\n")).collect();
    print::stdout(&sentences)?;
    if found.bad > found.errors.len() as u64 && !args.run.progress.quiet {
        print::status_line(&format!(
            "{} of {} are bad; --limit shows more than {} of them.",
            print::thousands(found.bad),
            print::counted(found.puzzles, "puzzle"),
            found.errors.len()
        ));
    }
    Ok(ExitCode::from(exit::FAILED))
}
