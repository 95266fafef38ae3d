//! `sudoku validate`.

use std::process::ExitCode;
use std::sync::Arc;

use sudoku_stream::input::{self, ValidateError};
use sudoku_stream::pipeline;

use super::args::ValidateArgs;
use super::{EXIT_FAILED, interrupt, open, view};

pub fn run(args: &ValidateArgs) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::pool(args.run.threads())?);
    let input = args.input.clone();
    let Some(reader) = interrupt::interruptible(&cancel, move || open::reader(&input))? else {
        return Ok(interrupted());
    };
    let format = reader.format().clone();
    let name = reader.name().to_owned();
    let bar = view::progress_bar(&args.run, reader.len_bytes());
    let result = input::validate(reader, &pool, &cancel, args.limit, |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    let found = match result {
        Ok(found) => found,
        Err(ValidateError::Input(error)) => return Err(error.into()),
        Err(ValidateError::Cancelled) => return Ok(interrupted()),
    };
    if found.bad == 0 {
        let puzzles = view::counted(found.puzzles, "puzzle");
        view::print(&format!(
            "{name}: {puzzles} of {} in the notation {}, all well formed.\n",
            format.order(),
            format.notation()
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let sentences: String = found.errors.iter().map(|error| format!("{error}\n")).collect();
    view::print(&sentences)?;
    if found.bad > found.errors.len() as u64 && !args.run.quiet {
        view::status_line(&format!(
            "{} of {} are bad; --limit shows more than {} of them.",
            view::thousands(found.bad),
            view::counted(found.puzzles, "puzzle"),
            found.errors.len()
        ));
    }
    Ok(ExitCode::from(EXIT_FAILED))
}

fn interrupted() -> ExitCode {
    view::status_line("Interrupted. The input was not validated to its end.");
    interrupt::exit_code()
}
