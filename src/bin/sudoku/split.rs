//! `sudoku split`: a training and a test set that share no puzzle.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{bail, ensure};
use clap::{Args, ValueHint};
use sudoku_stream::answer::CanonTask;
use sudoku_stream::generate::any_seed;
use sudoku_stream::offline::{self, OfflineError, Output, Sameness, SplitTally, SplitTask};
use sudoku_stream::pipeline;

use crate::cli::input::{InputArgs, one_input};
use crate::cli::output::{check_is_named, compressor, text_file, unfinished};
use crate::cli::progress::Bar;
use crate::cli::run::RunArgs;
use crate::cli::value::{self, whole};
use crate::cli::{interrupt, print, progress, rows};

const EXAMPLES: &str = "\
Examples:
  sudoku split puzzles.csv --test 10% --seed 7
  sudoku split puzzles.txt --test 0.05 --train-file train.txt --test-file test.txt

Puzzles that differ by symmetry and labels only are in the same set (see `sudoku canon`), so nothing \
of the test set can be learnt by heart. The set of a puzzle depends on the seed and on the puzzle \
alone: it stays where it is when others are added. Rows stay as they are, in their order, and a row \
that is badly formed goes to the training set.

Exit codes: 0, done; 2, the input cannot be read.";

/// Which puzzles are kept together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Together {
    /// Puzzles that are the same but for symmetry
    Canonical,
    /// Puzzles with the same digits in the same cells
    Exact,
}

/// Arguments of `sudoku split`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("inputs", one_input))]
pub struct SplitArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Puzzles that are kept together
    #[arg(long, value_name = "NAME", default_value = "canonical")]
    by: Together,

    /// Share of the test set, as in 10% or 0.1 [range: 0 to 100%]
    #[arg(long, value_name = "SHARE", value_parser = value::share, default_value = "10%")]
    #[arg(allow_hyphen_values = true)]
    test: f64,

    /// Seed of the division [default: random, printed]
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0..))]
    seed: Option<u64>,

    /// Write the training set to FILE [default: as in puzzles.train.csv]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    train_file: Option<PathBuf>,

    /// Write the test set to FILE [default: as in puzzles.test.csv]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    test_file: Option<PathBuf>,

    /// Sync the files and their folders to the disk before the end
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    durable: bool,

    #[command(flatten)]
    run: RunArgs,
}

/// Runs `sudoku split`.
pub fn run(args: &SplitArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let seed = args.seed.unwrap_or_else(any_seed);
    let sameness = match args.by {
        Together::Canonical => Sameness::Canonical(CanonTask::default()),
        Together::Exact => Sameness::Exact,
    };
    let task = SplitTask { sameness, test: args.test, seed };
    let input = args.input.only()?;
    let name_of = |file: &Option<PathBuf>, set: &str, flag: &str| match (file, input.path()) {
        (Some(file), _) => Ok(file.clone()),
        (None, Some(path)) => Ok(beside(path, set)),
        (None, None) => {
            bail!("{} has no name to make others of. Name both files: {flag} is missing.", input.name())
        }
    };
    let files = [
        name_of(&args.train_file, "train", "--train-file")?,
        name_of(&args.test_file, "test", "--test-file")?,
    ];
    check_is_named(args.train_file.as_deref(), "--train-file")?;
    check_is_named(args.test_file.as_deref(), "--test-file")?;
    let is_same = Output::is_same_file(&files[0], &files[1]);
    ensure!(!is_same, "Both sets would be written to {}. Name two files.", files[0].display());
    let [train, test] = files.clone().map(Some);
    let outputs = [(train, "--train-file"), (test, "--test-file")];
    let Some(reader) = rows::open(&input, &outputs, &cancel)? else {
        return Ok(interrupt::report("Stopped before the first puzzle"));
    };
    if args.by == Together::Canonical {
        rows::check_9x9(&reader, &input, Some("--by exact"))?;
    }
    let mut train = text_file(&files[0], args.durable)?;
    let mut test = text_file(&files[1], args.durable)?;
    let bar: Bar = progress::of_bytes(&args.run.progress, &reader);
    let name = reader.name().to_owned();
    let result = offline::split(reader, task, &pool, &cancel, [&mut train, &mut test], |end, tally| {
        bar.advance(end, tally.train + tally.test, "puzzles", begin);
    });
    bar.finish_and_clear();
    let tally = match result {
        Ok(tally) => tally,
        Err(OfflineError::Cancelled) => {
            let [train, test] = files.each_ref().map(|file| unfinished(file));
            return Ok(interrupt::report(&format!("Stopped{train}{test}")));
        }
        Err(error) => return Err(error.into()),
    };
    if tally.train + tally.test == 0 {
        bail!("{name} is empty.");
    }
    train.finish()?;
    test.finish()?;
    if !args.run.progress.quiet {
        print::status_line(&summary(&tally, &files, seed, begin));
        if let Some(copied) = rows::copied(&tally.errors) {
            print::status_line(&copied);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `puzzles.train.csv` for `puzzles.csv.gz`: what is written is not compressed.
fn beside(path: &Path, set: &str) -> PathBuf {
    let path = if compressor(path).is_some() { path.with_extension("") } else { path.to_owned() };
    let mut extension = OsString::from(set);
    if let Some(own) = path.extension() {
        extension.push(".");
        // The rows of a Parquet file or an array of NumPy are written as text.
        extension.push(match own.to_str() {
            Some("parquet") => OsStr::new("csv"),
            Some("npy") => OsStr::new("txt"),
            _ => own,
        });
    }
    path.with_extension(extension)
}

/// `100,000 puzzles in 0.412 s, 243,000 a second: 89,955 in puzzles.train.csv, 10,045 (10.05 %) in
/// puzzles.test.csv, seed 7.`
fn summary(tally: &SplitTally, [train, test]: &[PathBuf; 2], seed: u64, begin: Instant) -> String {
    let (time, all) = (begin.elapsed(), tally.train + tally.test);
    format!(
        "{}: {} in {}, {} ({:.2} %) in {}, seed {seed}.",
        print::in_time(all, "puzzle", time),
        print::thousands(tally.train),
        train.display(),
        print::thousands(tally.test),
        tally.test as f64 / all.max(1) as f64 * 100.0,
        test.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_input() {
        for (input, train) in [
            ("a/puzzles.csv", "a/puzzles.train.csv"),
            ("puzzles.v2.csv.gz", "puzzles.v2.train.csv"),
            ("puzzles", "puzzles.train"),
            ("x.ZIP", "x.train"),
            ("x.parquet", "x.train.csv"),
            ("x.npy", "x.train.txt"),
        ] {
            assert_eq!(beside(Path::new(input), "train"), PathBuf::from(train));
        }
    }
}
