//! `sudoku join`: the outputs of all shards of an input put together, once they are checked.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, ValueHint};
use sudoku_stream::input::FileId;
use sudoku_stream::offline::{self, JoinError, Manifest, Output};

use crate::cli::interrupt;
use crate::cli::output::OutputArgs;
use crate::cli::run::ProgressArgs;
use crate::cli::{print, progress, summary};

const EXAMPLES: &str = "\
Examples:
  sudoku solve puzzles.txt --shard 1/2 -o answers.1-of-2 --manifest
  sudoku solve puzzles.txt --shard 2/2 -o answers.2-of-2 --manifest
  sudoku join answers.*-of-2 -o answers.txt
  sudoku join answers.*-of-2 -o answers.txt --input puzzles.txt

All that is wrong is listed: shards that are missing, named twice or damaged, of another \
input or made with other options. Then nothing is written.

Exit codes: 0, the shards are joined; 2, they are not.";

/// Arguments of `sudoku join`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct JoinArgs {
    /// Answers of all shards, in any order, each with FILE.manifest beside it
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    /// Also check that the shards belong to INPUT as it is now
    ///
    /// It is read once and hashed. Without it, shards are only compared with each other.
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::FilePath)]
    input: Option<PathBuf>,

    #[command(flatten)]
    out: OutputArgs,

    #[command(flatten)]
    progress: ProgressArgs,
}

/// Runs `sudoku join`.
pub fn run(args: &JoinArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let manifests = args.files.iter().map(|file| Manifest::path_of(file));
    for file in args.files.iter().cloned().chain(manifests).chain(args.input.clone()) {
        // What is missing is reported when it is read.
        if let Ok(metadata) = file.metadata() {
            Output::check_apart(args.out.path(), "-o", FileId::of(&metadata))?;
        }
    }
    let mut output = args.out.open_text()?;
    let sizes = args.files.iter().map(|file| file.metadata().map_or(0, |found| found.len()));
    let bar = progress::beside(args.out.path(), || progress::of_copy(&args.progress, sizes.sum()));
    let joined = offline::join(&args.files, args.input.as_deref(), &mut output, &cancel, |bytes| {
        bar.set_position(bytes);
    });
    bar.finish_and_clear();
    let joined = match joined {
        Ok(joined) => joined,
        Err(JoinError::Cancelled) => return Ok(interrupt::report("The shards were not joined")),
        Err(JoinError::Output(error)) => return Err(error.into()),
        Err(error) => return Err(error.into()),
    };
    output.finish()?;
    if !args.progress.quiet {
        let (shards, seconds) = (print::counted(joined.shards, "shard"), begin.elapsed().as_secs_f64());
        let puzzles = print::counted(joined.tally.answers, "puzzle");
        let outcomes = summary::outcomes(&joined.tally);
        print::status_line(&format!("{shards} with {puzzles} joined in {seconds:.3} s: {outcomes}"));
    }
    Ok(ExitCode::SUCCESS)
}
