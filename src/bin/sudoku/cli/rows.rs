//! What commands share that go through the rows of inputs: opening an input that is no output, how a
//! run stops, and what is said of rows that are badly formed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use sudoku_stream::answer::CheckForm;
use sudoku_stream::grid::Order;
use sudoku_stream::input::{Reader, Source};
use sudoku_stream::offline::{self, OfflineError, Output};
use sudoku_stream::text::Format;

use super::input::Input;
use super::output::{OutputArgs, check_columns, into_columns};
use super::progress::{self, Bar};
use super::run::ProgressArgs;
use super::{exit, interrupt, print};

/// Opens an input, unless it is one of the outputs. `None` if the run was interrupted before.
pub fn open(
    input: &Input,
    outputs: &[Option<PathBuf>],
    cancel: &AtomicBool,
) -> anyhow::Result<Option<Reader>> {
    let opened = open_as(input, outputs, cancel, |source| Ok((source, ())))?;
    Ok(opened.map(|(reader, ())| reader))
}

/// Opens an input that `prepare` looks at before it is read, unless it is one of the outputs. `None`
/// if the run was interrupted before.
pub fn open_as<T: Send + 'static>(
    input: &Input,
    outputs: &[Option<PathBuf>],
    cancel: &AtomicBool,
    prepare: impl FnOnce(Source) -> anyhow::Result<(Source, T)> + Send + 'static,
) -> anyhow::Result<Option<(Reader, T)>> {
    let (opened, outputs) = (input.clone(), outputs.to_vec());
    input.interruptibly(cancel, move || {
        let source = opened.source()?;
        if let Some(id) = source.file_id() {
            for path in &outputs {
                Output::check_apart(path.as_deref(), id)?;
            }
        }
        let (source, found) = prepare(source)?;
        Ok((opened.detect(source)?, found))
    })
}

/// The output for answers in this form about an input. `keeps_rows` if each of its rows is one of the
/// output, in its place.
pub fn output_in(
    args: &OutputArgs,
    form: CheckForm,
    input: &Reader,
    keeps_rows: bool,
) -> anyhow::Result<Output> {
    if form != CheckForm::Parquet {
        return args.open_text();
    }
    check_columns(args)?;
    into_columns(args.open()?, input, keeps_rows)
}

/// Checks that a table is about one input only, because each has columns of its own.
pub fn check_is_one(inputs: &[Input], form: CheckForm) -> anyhow::Result<()> {
    if inputs.len() > 1 && form != CheckForm::Text {
        let inputs = inputs.len();
        bail!("A table is about one input, and {inputs} were named. Name one, or use --format text.");
    }
    Ok(())
}

/// The exit code of a run that stopped before its end, because it was interrupted or nobody reads on.
///
/// # Errors
/// The error that ended it.
pub fn stopped(result: Result<(), OfflineError>, puzzles: u64) -> anyhow::Result<Option<ExitCode>> {
    match result {
        Ok(()) => Ok(None),
        Err(OfflineError::Cancelled) => {
            let done = print::counted(puzzles, "puzzle");
            Ok(Some(interrupt::report(&format!("Stopped after {done}"))))
        }
        Err(error) if offline::is_closed_pipe(&error) => Ok(Some(ExitCode::SUCCESS)),
        Err(error) => Err(error.into()),
    }
}

/// The exit code of a run with so many error lines, which count if a puzzle was typed, or by
/// `--fail-on-error`.
pub fn exit_code(error_lines: u64, inputs: &[Input], fail_on_error: bool) -> ExitCode {
    if error_lines > 0 && (fail_on_error || inputs.iter().any(Input::is_typed)) {
        ExitCode::from(exit::ERRORS_SEEN)
    } else {
        ExitCode::SUCCESS
    }
}

/// Rows that are written again, of several inputs to one output.
pub struct Rewrite<'a> {
    pub inputs: &'a [Input],
    pub out: &'a OutputArgs,
    pub progress: &'a ProgressArgs,
    pub cancel: &'a AtomicBool,
    /// What is done with the rows, as in `Minimize`.
    pub verb: &'a str,
}

impl Rewrite<'_> {
    /// Has `pass` write the rows of each input, and return the number of puzzles up to its end. Returns
    /// an exit code if the run stopped before its end.
    ///
    /// # Errors
    /// Those of inputs, the output and `pass`; an input without rows, or with rows of another kind.
    pub fn run(
        &self,
        mut pass: impl FnMut(Reader, &mut Output, &Bar) -> (u64, Result<(), OfflineError>),
    ) -> anyhow::Result<Option<ExitCode>> {
        let mut before = 0;
        // Opened with the first input, because an input must not be the output.
        let mut opened: Option<(Output, RowKind)> = None;
        for input in self.inputs {
            let Some(reader) = open(input, &[self.out.path().map(ToOwned::to_owned)], self.cancel)? else {
                return Ok(Some(interrupt::report("Stopped before the first puzzle")));
            };
            let kind = RowKind::of(reader.format());
            let (output, first) = match &mut opened {
                Some(opened) => opened,
                none => {
                    let mut output = self.out.open_text()?;
                    output.write(reader.prelude())?;
                    none.insert((output, RowKind::of(reader.format())))
                }
            };
            first.check_same(&kind, &reader, self.inputs, self.verb)?;
            let bar = progress::beside(self.out, || progress::of_bytes(self.progress, &reader));
            let name = reader.name().to_owned();
            let (puzzles, result) = pass(reader, output, &bar);
            bar.finish_and_clear();
            if let Some(code) = stopped(result, puzzles)? {
                return Ok(Some(code));
            }
            if puzzles == before {
                bail!("{name} is empty.");
            }
            before = puzzles;
        }
        if let Some((output, _)) = opened {
            output.finish()?;
        }
        Ok(None)
    }
}

/// Checks that the puzzles are those that have canonical forms.
pub fn check_9x9(reader: &Reader) -> anyhow::Result<()> {
    let order = reader.format().order();
    if order != Order::NINE {
        bail!("{} has {order} puzzles; canonical forms are those of 9x9 puzzles.", reader.name());
    }
    Ok(())
}

/// What the rows of an input have to agree in, so that those of another one can follow them.
#[derive(PartialEq, Eq)]
pub struct RowKind {
    order: Order,
    /// The heading and the delimiter of a table.
    table: Option<String>,
}

impl RowKind {
    pub fn of(format: &Format) -> Self {
        let table = format.is_table().then(|| {
            let heading = String::from_utf8_lossy(format.heading().unwrap_or_default());
            format!("{} {:?} {heading}", format.notation(), format.delimiter())
        });
        Self { order: format.order(), table }
    }

    /// Checks that the rows of a later input are of this kind, that of the first.
    pub fn check_same(
        &self,
        other: &Self,
        reader: &Reader,
        inputs: &[Input],
        verb: &str,
    ) -> anyhow::Result<()> {
        if self != other {
            let first = inputs.first().map_or("the first input", Input::name);
            bail!("{} has other rows than {first}. {verb} them one by one.", reader.name());
        }
        Ok(())
    }
}

/// `3 rows were copied as they stand (2 wrong_length, 1 rule_broken).`
pub fn copied(errors: &BTreeMap<&'static str, u64>) -> Option<String> {
    let all = errors.values().sum();
    let as_they_stand = if all == 1 { "was copied as it stands" } else { "were copied as they stand" };
    let kinds: Vec<String> =
        errors.iter().map(|(code, count)| format!("{} {code}", print::thousands(*count))).collect();
    (all > 0).then(|| format!("{} {as_they_stand} ({}).", print::counted(all, "row"), kinds.join(", ")))
}
