//! Where answers, puzzles and reports are written.

use std::fs;
#[cfg(feature = "parquet")]
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueHint};
use sudoku_stream::answer::CheckForm;
use sudoku_stream::input::Reader;
use sudoku_stream::offline::{Output, OutputError};

use super::input::Input;
use super::print;

/// The FILE that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// An output by its path, `None` for standard output, and the flag that names another file.
pub type NamedOutput = (Option<PathBuf>, &'static str);

/// The output file.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Write to FILE [default: standard output]
    ///
    /// FILE is complete or absent, because the text is written beside it and renamed at the end.
    /// `-` is standard output.
    #[arg(short = 'o', long = "output", alias = "output-file", value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath, help_heading = "Output")]
    output_file: Option<PathBuf>,

    /// Sync FILE and its folder to the disk before the end
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub durable: bool,
}

impl OutputArgs {
    /// The form of a report: the one asked for, or that of a file by its name.
    pub fn check_form(&self, form: Option<CheckForm>) -> CheckForm {
        let named = || CheckForm::ALL.into_iter().find(|(name, _)| self.is_named(name));
        form.or_else(|| named().map(|(_, form)| form).filter(|form| form.row_form().is_some()))
            .unwrap_or_default()
    }

    /// Does the name of the file end like this, behind a dot?
    pub fn is_named(&self, end: &str) -> bool {
        self.path().and_then(Path::extension).is_some_and(|extension| extension.eq_ignore_ascii_case(end))
    }

    /// Opens the output: the file, or standard output.
    ///
    /// # Errors
    /// The system's, with the path; those of [`check_is_plain`].
    pub fn open(&self) -> anyhow::Result<Output> {
        let Some(path) = self.path() else { return Ok(Output::standard()) };
        check_is_plain(path)?;
        Ok(Output::file(path, self.durable)?)
    }

    /// Opens the output for text.
    ///
    /// # Errors
    /// Those of [`Self::open`] and [`check_is_text`].
    pub fn open_text(&self) -> anyhow::Result<Output> {
        if let Some(path) = self.path() {
            check_is_text(path)?;
        }
        self.open()
    }

    /// The output as it is compared with inputs.
    pub fn named(&self) -> NamedOutput {
        (self.path().map(ToOwned::to_owned), "-o")
    }

    /// The output file; `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        let is_standard = |path: &Path| path.as_os_str() == STANDARD_OUTPUT || Output::is_standard_path(path);
        self.output_file.as_deref().filter(|path| !is_standard(path))
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// What a run that stops says of its output: that it was not written, or that it is incomplete,
/// because what is no regular file is written directly.
pub fn unfinished(path: &Path) -> String {
    let what = if is_regular(path) { "was not written" } else { "is incomplete" };
    format!("; {} {what}", path.display())
}

/// Whether an output is a regular file, or will be one.
pub fn is_regular(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

/// Refuses `-` for an output that is always a file.
pub fn check_is_named(path: Option<&Path>, flag: &str) -> anyhow::Result<()> {
    if path.is_some_and(|path| path.as_os_str() == STANDARD_OUTPUT) {
        bail!("{flag} cannot be written to standard output. Name a file.");
    }
    Ok(())
}

/// Refuses one file for two outputs, which are named by their flags.
pub fn check_are_two(one: (&str, Option<&Path>), other: (&str, Option<&Path>)) -> anyhow::Result<()> {
    if let ((one, Some(file)), (other, Some(path))) = (one, other)
        && Output::is_same_file(file, path)
    {
        bail!("{one} and {other} name the same file, {}. Name two.", file.display());
    }
    Ok(())
}

/// Opens a file for text.
///
/// # Errors
/// The system's, with the path; those of [`check_is_text`] and [`check_is_plain`].
pub fn text_file(path: &Path, is_durable: bool) -> anyhow::Result<Output> {
    check_is_text(path)?;
    check_is_plain(path)?;
    Ok(Output::file(path, is_durable)?)
}

/// Checks that a file of plain lines has no name of another kind.
pub fn check_kind(path: Option<&Path>) -> anyhow::Result<()> {
    const OTHERS: [&str; 8] = ["json", "xml", "html", "pdf", "xlsx", "xls", "ods", "arrow"];
    let end = |path: &Path| path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match path.and_then(|path| Some((path, end(path)?))).filter(|(_, end)| OTHERS.contains(&&**end)) {
        Some((path, end)) => bail!(
            "{} would be plain lines, and no {end}. Name a .txt, .csv, .tsv or .jsonl file, or another form \
             with --format.",
            path.display()
        ),
        None => Ok(()),
    }
}

/// Programs that compress, by the ends of the names of their files.
const COMPRESSORS: [(&str, &str); 5] =
    [("gz", "gzip"), ("zst", "zstd"), ("bz2", "bzip2"), ("xz", "xz"), ("zip", "zip")];

/// The program that compresses files named like this one.
pub fn compressor(path: &Path) -> Option<&'static str> {
    let own = path.extension()?;
    COMPRESSORS.into_iter().find(|(end, _)| own.eq_ignore_ascii_case(end)).map(|(_, program)| program)
}

/// Checks that a file is not named as a compressed one.
pub fn check_is_plain(path: &Path) -> anyhow::Result<()> {
    match compressor(path) {
        Some(program) => bail!(
            "{} would not be compressed. Write {}, and compress that with {program}.",
            path.display(),
            path.with_extension("").display()
        ),
        None => Ok(()),
    }
}

/// Checks that a file of text is not named as an array of NumPy or a Parquet file.
pub fn check_is_text(path: &Path) -> anyhow::Result<()> {
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npy")) {
        bail!(
            "{} would be text. Only answers of solve are written as an array of NumPy, by --format npy; \
             name a file of another kind.",
            path.display()
        );
    }
    if is_parquet(path) {
        bail!(
            "{} would be text. Only answers of solve, check, rate, canon and solutions are written as \
             Parquet, by --format parquet; name a file of another kind.",
            path.display()
        );
    }
    Ok(())
}

/// How a program gets Parquet that was built without it.
#[cfg(not(feature = "parquet"))]
pub const NO_PARQUET: &str =
    "This program was built without Parquet. Build it with --features parquet, or write csv instead.";

/// Checks that rows can be written as a Parquet file where they are to be.
///
/// # Errors
/// The program was built without Parquet, or it would be written to a terminal.
pub fn check_columns(args: &OutputArgs) -> anyhow::Result<()> {
    #[cfg(not(feature = "parquet"))]
    {
        let _ = args;
        bail!(NO_PARQUET);
    }
    #[cfg(feature = "parquet")]
    {
        if args.path().is_none() && io::stdout().is_terminal() {
            bail!("A Parquet file is no text for a terminal. Name a file with -o.");
        }
        Ok(())
    }
}

/// Refuses flags that only text can have, for a form that is none. Each has whether it is given.
pub fn refuse_what_is_for_text(flags: &[(bool, &str)]) -> anyhow::Result<()> {
    match flags.iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => bail!("{flag} is for text. Use another --format, or leave {flag} out."),
        None => Ok(()),
    }
}

/// An output whose rows become a Parquet file. `keeps_rows` if each row of the input is one of the
/// output, in its place.
///
/// # Errors
/// The system's, with the path.
pub fn into_columns(output: Output, input: &Reader, keeps_rows: bool) -> anyhow::Result<Output> {
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (output, input, keeps_rows);
        bail!(NO_PARQUET);
    }
    #[cfg(feature = "parquet")]
    Ok(output.into_columns(input, keeps_rows)?)
}

/// The output file of a report.
#[derive(Clone, Args)]
pub struct ReportArgs {
    /// Write to FILE [default: standard output]
    ///
    /// FILE is complete or absent. `-` is standard output.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    output_file: Option<PathBuf>,
}

/// A report that is being written: to standard output at once, or to a file at its end.
pub enum ReportOutput {
    Standard,
    File(Box<Output>),
}

impl ReportArgs {
    /// Opens the output of a report on these inputs, so that a wrong name is not reported after all
    /// the work.
    ///
    /// # Errors
    /// Those of [`text_file`]; also that it is one of the inputs.
    pub fn open(&self, inputs: &[Input]) -> anyhow::Result<ReportOutput> {
        for input in inputs {
            input.check_apart(self.path(), "-o")?;
        }
        match self.path() {
            Some(path) => text_file(path, false).map(|output| ReportOutput::File(Box::new(output))),
            None => Ok(ReportOutput::Standard),
        }
    }

    /// The output file; `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.output_file.as_deref().filter(|path| path.as_os_str() != STANDARD_OUTPUT)
    }
}

impl ReportOutput {
    /// Writes a part of the report. A closed pipe is no error, because its reader has seen enough.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&mut self, text: &str) -> anyhow::Result<()> {
        match self {
            Self::Standard => Ok(print::stdout(text)?),
            Self::File(output) => match output.write(text.as_bytes()) {
                Err(error) if error.is_closed_pipe() => Ok(()),
                result => Ok(result?),
            },
        }
    }

    /// Ends the report.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn finish(self) -> Result<(), OutputError> {
        match self {
            Self::Standard => Ok(()),
            Self::File(output) => output.finish(),
        }
    }
}
