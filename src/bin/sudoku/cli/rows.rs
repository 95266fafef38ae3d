//! What commands share that go through the rows of inputs: opening an input that is no output, the
//! error lines that the exit code tells of, and what is said of rows that are badly formed.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use sudoku_stream::answer::CheckForm;
use sudoku_stream::grid::Order;
use sudoku_stream::input::{Reader, Source};
use sudoku_stream::offline::{OfflineError, Output};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation};

use super::early_end::{EarlyEnd, exit_code};
use super::input::Input;
use super::output::{NamedOutput, OutputArgs, check_columns, into_columns, unfinished};
use super::{exit, interrupt, print};

/// Opens an input, unless it is one of the outputs. `None` if the run was interrupted before.
pub fn open(input: &Input, outputs: &[NamedOutput], cancel: &AtomicBool) -> anyhow::Result<Option<Reader>> {
    let opened = open_as(input, outputs, cancel, |source| Ok((source, ())))?;
    Ok(opened.map(|(reader, ())| reader))
}

/// Opens an input that `prepare` looks at before it is read, unless it is one of the outputs. `None`
/// if the run was interrupted before.
pub fn open_as<T: Send + 'static>(
    input: &Input,
    outputs: &[NamedOutput],
    cancel: &AtomicBool,
    prepare: impl FnOnce(Source) -> anyhow::Result<(Source, T)> + Send + 'static,
) -> anyhow::Result<Option<(Reader, T)>> {
    let (opened, outputs) = (input.clone(), outputs.to_vec());
    input.interruptibly(cancel, move || {
        let source = opened.source()?;
        if let Some(id) = source.file_id() {
            for (path, flag) in &outputs {
                Output::check_apart(path.as_deref(), flag, id)?;
            }
        }
        let (source, found) = prepare(source)?;
        Ok((opened.detect(source)?, found))
    })
}

/// Looks at the rows of several inputs, so that one that cannot be read is known before anything is
/// written; with a `verb`, for what is done with the rows, also one whose rows are of another kind
/// than those of the first. What can be read only once is left out. False if the run was interrupted.
pub fn look_at_all(
    inputs: &[Input],
    outputs: &[NamedOutput],
    cancel: &AtomicBool,
    verb: Option<&str>,
) -> anyhow::Result<bool> {
    let mut first: Option<RowKind> = None;
    for (index, input) in inputs.iter().enumerate() {
        if inputs.len() == 1 || !input.is_rereadable() {
            continue;
        }
        let Some(reader) = open(input, outputs, cancel)? else { return Ok(false) };
        match (&first, verb) {
            (Some(first), Some(verb)) => first.check_same(&reader, inputs, verb)?,
            (None, _) if index == 0 => first = Some(RowKind::of(reader.format())),
            _ => {}
        }
    }
    Ok(true)
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

/// The early end of a run after so many puzzles, before its output was finished.
pub fn stopped(error: OfflineError, puzzles: u64, out: &OutputArgs) -> EarlyEnd {
    match error {
        OfflineError::Cancelled => {
            let done = print::counted(puzzles, "puzzle");
            let unfinished = out.path().map(unfinished).unwrap_or_default();
            EarlyEnd::Reported(interrupt::report(&format!("Stopped after {done}{unfinished}")))
        }
        error => error.into(),
    }
}

/// The error lines of a run that its exit code tells of: those to typed puzzles, or with
/// `--fail-on-error` all.
pub struct ErrorLines {
    fail_on_error: bool,
    /// Those to the inputs that are done, and those of an earlier run that this one resumes.
    so_far: u64,
    are_told: bool,
}

impl ErrorLines {
    pub const fn new(fail_on_error: bool) -> Self {
        Self { fail_on_error, so_far: 0, are_told: false }
    }

    /// Takes the error lines to an input, with which there are `so_far`.
    pub const fn count(&mut self, so_far: u64, input: &Input) {
        self.are_told |= so_far > self.so_far && (self.fail_on_error || input.is_typed());
        self.so_far = so_far;
    }

    /// The exit code of the run, which is over.
    ///
    /// # Errors
    /// The error that ended it.
    pub fn exit_code(&self, ended: Result<(), EarlyEnd>) -> anyhow::Result<ExitCode> {
        exit_code(ended, exit::by_errors(self.are_told))
    }
}

/// Checks that the puzzles are those that have canonical forms. `exact` is the flag that compares
/// others as they are, if there is one.
pub fn check_9x9(reader: &Reader, input: &Input, exact: Option<&str>) -> anyhow::Result<()> {
    let order = reader.format().order();
    if order != Order::NINE {
        let name = reader.name();
        let advice = exact.map(|flag| format!(" Compare them as they are with {flag}.")).unwrap_or_default();
        let what = if input.is_typed() { format!("is {order}") } else { format!("has {order} puzzles") };
        bail!("{name} {what}; canonical forms are those of 9x9 puzzles.{advice}");
    }
    Ok(())
}

/// What the rows of an input have to agree in, so that those of another one can follow them.
pub struct RowKind {
    order: Order,
    notation: Notation,
    alphabet: Alphabet,
    /// The heading, the delimiter and the column of a table.
    table: Option<String>,
}

impl RowKind {
    pub fn of(format: &Format) -> Self {
        let table = format.is_table().then(|| {
            let heading = String::from_utf8_lossy(format.heading().unwrap_or_default());
            format!("{:?} {:?} {heading}", format.delimiter(), Hint::of(format).column)
        });
        let (order, notation, alphabet) = (format.order(), format.notation(), format.alphabet().clone());
        Self { order, notation, alphabet, table }
    }

    /// The symbols of the values, by which alphabets are compared: most have those of 9x9 puzzles in
    /// common.
    fn symbols(&self) -> Vec<u8> {
        let mut symbols = self.alphabet.symbols();
        symbols.truncate(self.order.side());
        symbols
    }

    /// Why rows of another kind cannot follow rows of this one, if they cannot.
    fn difference(&self, other: &Self) -> Option<String> {
        // A list may have all that a `header` file has below its first line, but not the reverse.
        let is_below = self.notation == Notation::Lines && other.notation == Notation::Header;
        if self.order != other.order {
            Some(format!("its puzzles are {}, and not {}", other.order, self.order))
        } else if self.notation != other.notation && !is_below {
            Some(format!("its notation is {}, and not {}", other.notation, self.notation))
        } else if self.symbols() != other.symbols() {
            Some(format!("its alphabet is {}, and not {}", other.alphabet, self.alphabet))
        } else if self.table != other.table {
            Some("its columns are not the same".to_owned())
        } else {
            None
        }
    }

    /// Checks that the rows of a later input are of this kind, that of the first.
    pub fn check_same(&self, reader: &Reader, inputs: &[Input], verb: &str) -> anyhow::Result<()> {
        if let Some(difference) = self.difference(&Self::of(reader.format())) {
            let (name, first) = (reader.name(), inputs.first().map_or("the first input", Input::name));
            bail!("{name} has other rows than {first}, because {difference}. {verb} them one by one.");
        }
        Ok(())
    }
}

/// `3 rows were copied as they stand (2 wrong_length, 1 rule_broken).`
pub fn copied(errors: &BTreeMap<&'static str, u64>) -> Option<String> {
    let all = errors.values().sum();
    let as_they_stand = if all == 1 { "was copied as it stands" } else { "were copied as they stand" };
    let rows = print::counted(all, "row");
    (all > 0).then(|| format!("{rows} {as_they_stand} ({}).", print::by_code(errors)))
}
