//! The inputs: their arguments, opening them, detecting their formats.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Cursor, IsTerminal as _, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, bail};
use clap::{Arg, ArgAction, Args, ValueHint};
use sudoku_stream::answer::{CheckForm, MAX_POSITION_BYTES, Positions, RowForm, RowWriter, read_positions};
use sudoku_stream::grid::Order;
use sudoku_stream::input::{FileId, InputError, Reader, STANDARD_INPUT, Source};
use sudoku_stream::offline::{InputOrigin, Output, OutputError};
use sudoku_stream::text::{Alphabet, Column, Delimiter, Format, Hint, Notation};

use super::interrupt::interruptible;
use super::typed::{self, TypedArgument};
use super::{print, value};

/// The inputs, and how they are read.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArgs {
    /// Puzzles, or files of them [default: `-`, standard input]
    ///
    /// An argument that is a file is read, packed (gzip, zstd, bzip2, xz, zip) or not.
    /// Another one that has the 16, 81, 256 or 625 cells of a puzzle is the puzzle itself.
    /// Several are read one after another.
    #[arg(value_name = "PUZZLE|FILE", value_hint = ValueHint::FilePath)]
    pub inputs: Vec<OsString>,

    #[command(flatten)]
    pub format: FormatArgs,

    /// Read files instead of mapping them into memory
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    pub no_mmap: bool,
}

/// The help of the input of commands that take one.
const ONE_INPUT: &str = "Puzzle, or a file of puzzles [default: `-`, standard input]";

/// Makes the argument for inputs one that takes a single one.
pub fn one_input(inputs: Arg) -> Arg {
    let more = "An argument that is a file is read, packed (gzip, zstd, bzip2, xz, zip) or not. \
                Another one that has the 16, 81, 256 or 625 cells of a puzzle is the puzzle itself.";
    let long_help = format!("{ONE_INPUT}\n\n{more}");
    inputs.action(ArgAction::Set).num_args(1).help(ONE_INPUT).long_help(long_help)
}

/// One input: what was named, and how it is read.
#[derive(Clone)]
pub struct Input {
    kind: InputKind,
    /// The number of its argument, where there are several.
    argument: Option<usize>,
    /// Its name in messages.
    name: String,
    /// How error lines name it; `None` for the only file, whose lines need no name.
    origin: Option<InputOrigin>,
    format: FormatArgs,
    may_map: bool,
}

/// The kinds of inputs.
#[derive(Clone)]
enum InputKind {
    File(PathBuf),
    Standard,
    /// The text of an argument.
    Typed(Vec<u8>),
    /// Standard input or a FIFO, whose beginning has been read already.
    Begun {
        text: Arc<[u8]>,
        /// What it goes on with; `None` at its end.
        rest: Option<Arc<File>>,
    },
}

impl InputArgs {
    /// All inputs, in the order in which they were named; standard input if there are none.
    ///
    /// # Errors
    /// An argument that is neither a file nor a puzzle.
    pub fn all(&self) -> anyhow::Result<Vec<Input>> {
        if self.inputs.is_empty() {
            if io::stdin().is_terminal() {
                print::status_line("Type or paste puzzles; Ctrl-D ends them.");
            }
            return Ok(vec![self.input(InputKind::Standard, None)]);
        }
        let is_several = self.inputs.len() > 1;
        let mut inputs = Vec::with_capacity(self.inputs.len());
        let mut has_standard = false;
        for (argument, number) in self.inputs.iter().zip(1..) {
            let kind = self.kind(argument).map_err(|error| match self.are_rows() {
                Some(meant) => anyhow::anyhow!("{error}. {meant}"),
                None => error,
            })?;
            if matches!(kind, InputKind::Standard) && std::mem::replace(&mut has_standard, true) {
                bail!("`-` was named twice, but standard input can be read only once.");
            }
            inputs.push(self.input(kind, is_several.then_some(number)));
        }
        Ok(inputs)
    }

    /// The only input.
    ///
    /// # Errors
    /// Several were named, or the reasons of [`Self::all`].
    pub fn only(&self) -> anyhow::Result<Input> {
        let mut inputs = self.all()?;
        match (inputs.len(), inputs.pop()) {
            (1, Some(input)) => Ok(input),
            (number, _) => bail!("{number} inputs were named. This takes one at a time."),
        }
    }

    /// A puzzle that was typed as the value of an option.
    pub fn typed(&self, text: &str) -> Input {
        self.input(InputKind::Typed(text.as_bytes().to_vec()), None)
    }

    /// The second of two inputs, if there is no such file: it may be meant as an output.
    pub fn missing_second(&self) -> Option<&OsStr> {
        let [first, second] = &self.inputs[..] else { return None };
        let is_file = |argument: &OsString| Path::new(argument).exists();
        let may_be_output = is_file(first) && !is_file(second) && Path::new(second).extension().is_some();
        may_be_output.then_some(second)
    }

    /// What is wrong with all arguments together, if they look like the rows of a puzzle.
    fn are_rows(&self) -> Option<String> {
        let count = self.inputs.len();
        let are_rows = count > 1
            && Order::from_side(count).is_some()
            && self.inputs.iter().all(|row| row.len() == count);
        are_rows.then(|| {
            format!("The {count} arguments look like the rows of a puzzle: put quotes around all of them.")
        })
    }

    fn kind(&self, argument: &OsStr) -> anyhow::Result<InputKind> {
        if argument == STANDARD_INPUT {
            return Ok(InputKind::Standard);
        }
        if argument.is_empty() {
            bail!("An argument is empty. Name a puzzle or a file.");
        }
        let path = Path::new(argument);
        let Err(error) = fs::metadata(path) else { return Ok(InputKind::File(path.to_owned())) };
        match typed::read(argument.as_bytes(), &self.format.hint()) {
            TypedArgument::Puzzle(text) => Ok(InputKind::Typed(text)),
            TypedArgument::Nearly(hint) => bail!("{}: {error}. {hint}", path.display()),
            TypedArgument::Other => bail!("{}: {error}", path.display()),
        }
    }

    /// An input; `number` is that of its argument where there are several.
    fn input(&self, kind: InputKind, number: Option<usize>) -> Input {
        let name = match (&kind, number) {
            (InputKind::File(path), _) => path.display().to_string(),
            (InputKind::Standard | InputKind::Begun { .. }, _) => "standard input".to_owned(),
            (InputKind::Typed(_), None) => "The puzzle".to_owned(),
            (InputKind::Typed(_), Some(number)) => format!("Argument {number}"),
        };
        let origin = match (&kind, number) {
            // A text of several lines may hold several puzzles.
            (InputKind::Typed(text), _) if !text.contains(&b'\n') => Some(InputOrigin::Puzzle(number)),
            (InputKind::Typed(_), Some(number)) => Some(InputOrigin::File(format!("argument {number}"))),
            (_, number) => number.map(|_| InputOrigin::File(name.clone())),
        };
        Input { kind, argument: number, name, origin, format: self.format.clone(), may_map: !self.no_mmap }
    }
}

impl Input {
    /// A file in the format that was given.
    pub fn file(path: &Path, format: FormatArgs) -> Self {
        let args = InputArgs { inputs: Vec::new(), format, no_mmap: false };
        let is_standard = path.as_os_str() == STANDARD_INPUT;
        args.input(if is_standard { InputKind::Standard } else { InputKind::File(path.to_owned()) }, None)
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How error lines name it; `None` for the only file.
    pub const fn origin(&self) -> Option<&InputOrigin> {
        self.origin.as_ref()
    }

    /// The sentence about a line of it, with its name where it needs one.
    pub fn sentence(&self, sentence: &str) -> String {
        match &self.origin {
            Some(origin) => origin.sentence(sentence).into_owned(),
            None => sentence.to_owned(),
        }
    }

    /// The text of answers with its name in every error line, where it needs one.
    pub fn named(&self, form: CheckForm, text: Vec<u8>) -> Vec<u8> {
        if self.origin.is_none() || form != CheckForm::Text {
            return text;
        }
        let text = String::from_utf8_lossy(&text);
        let line = |line: &str| match line.strip_prefix("error: ") {
            Some(sentence) => format!("error: {}\n", self.sentence(sentence)),
            None => format!("{line}\n"),
        };
        text.lines().map(line).collect::<String>().into_bytes()
    }

    /// The format, as far as it is given.
    pub const fn format(&self) -> &FormatArgs {
        &self.format
    }

    /// Was it typed as an argument?
    pub const fn is_typed(&self) -> bool {
        matches!(self.kind, InputKind::Typed(_))
    }

    /// Is it the only input?
    pub const fn is_only(&self) -> bool {
        self.argument.is_none()
    }

    /// Is it the only input, and typed as an argument?
    pub const fn is_by_itself(&self) -> bool {
        self.is_typed() && self.is_only()
    }

    /// Its path, if it is a file by name.
    pub fn path(&self) -> Option<&Path> {
        match &self.kind {
            InputKind::File(path) => Some(path),
            InputKind::Standard | InputKind::Begun { .. } | InputKind::Typed(_) => None,
        }
    }

    /// Refuses an output that is this input. `path` is `None` for standard output, and `flag` is what
    /// names another file.
    ///
    /// # Errors
    /// [`OutputError::IsInput`].
    pub fn check_apart(&self, path: Option<&Path>, flag: &'static str) -> Result<(), OutputError> {
        let metadata = match &self.kind {
            InputKind::File(path) => fs::metadata(path),
            InputKind::Standard => {
                io::stdin().as_fd().try_clone_to_owned().map(File::from).and_then(|it| it.metadata())
            }
            InputKind::Typed(_) | InputKind::Begun { .. } => return Ok(()),
        };
        // What has no metadata is reported when it is opened.
        match metadata.ok().and_then(|metadata| FileId::of_content(&metadata)) {
            Some(id) => Output::check_apart(path, flag, id),
            None => Ok(()),
        }
    }

    /// Can it be opened as often as one likes, unlike standard input and FIFOs?
    pub fn is_rereadable(&self) -> bool {
        match &self.kind {
            // Opening a folder is an error every time.
            InputKind::File(path) => fs::metadata(path).is_ok_and(|found| found.is_file() || found.is_dir()),
            InputKind::Standard | InputKind::Begun { .. } => false,
            InputKind::Typed(_) => true,
        }
    }

    /// Does work that begins with opening it. Where that may wait for somebody who writes, it is
    /// given up at an interrupt, and the result is `None`.
    pub fn interruptibly<T: Send + 'static>(
        &self,
        flag: &AtomicBool,
        work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<Option<T>> {
        if self.is_rereadable() { work().map(Some) } else { interruptible(flag, work) }
    }

    /// Opens it.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn source(&self) -> anyhow::Result<Source> {
        Ok(match &self.kind {
            InputKind::File(path) => Source::open(path, self.may_map)?,
            InputKind::Standard => Source::open(Path::new(STANDARD_INPUT), self.may_map)?,
            InputKind::Begun { text, rest } => {
                let text = Cursor::new(Arc::clone(text));
                match rest {
                    Some(rest) => Source::reading(self.name.clone(), Box::new(text.chain(Arc::clone(rest))))?,
                    None => Source::reading(self.name.clone(), Box::new(text))?,
                }
            }
            InputKind::Typed(text) => {
                Source::reading(self.name.clone(), Box::new(Cursor::new(text.clone())))?
            }
        })
    }

    /// The positions with candidates that it holds, if it has nothing else. The beginning of what
    /// can be read only once is kept in the input that is returned.
    ///
    /// # Errors
    /// The system's, with the name of the input.
    pub fn positions(mut self) -> anyhow::Result<(Self, Option<Positions>)> {
        if !self.is_rereadable() {
            self.begin().with_context(|| self.name.clone())?;
        }
        if matches!(self.kind, InputKind::Begun { rest: Some(_), .. }) {
            return Ok((self, None));
        }
        // What cannot be read is told by whoever reads puzzles next.
        let text = self.source().ok().and_then(|source| source.text_within(MAX_POSITION_BYTES).ok());
        let found = text.flatten().and_then(|text| read_positions(&text));
        Ok((self, found))
    }

    /// Reads as much of standard input or a FIFO as positions may have.
    fn begin(&mut self) -> io::Result<()> {
        let file = match &self.kind {
            InputKind::File(path) => File::open(path)?,
            InputKind::Standard => File::from(io::stdin().as_fd().try_clone_to_owned()?),
            InputKind::Typed(_) | InputKind::Begun { .. } => return Ok(()),
        };
        let mut text = Vec::new();
        (&file).take(MAX_POSITION_BYTES as u64 + 1).read_to_end(&mut text)?;
        let rest = (text.len() > MAX_POSITION_BYTES).then(|| Arc::new(file));
        self.kind = InputKind::Begun { text: Arc::from(text), rest };
        Ok(())
    }

    /// Opens it and detects its format.
    ///
    /// # Errors
    /// Those of opening and detection.
    pub fn reader(&self) -> anyhow::Result<Reader> {
        self.detect(self.source()?)
    }

    /// Detects the format of the open input.
    ///
    /// # Errors
    /// Those of detection, with the name of the input where it needs one.
    pub fn detect(&self, source: Source) -> anyhow::Result<Reader> {
        if let InputKind::Typed(text) = &self.kind
            && read_positions(text).is_some()
        {
            bail!(
                "{} has candidates, and only clues can be read here; hint, steps and show read both.",
                self.name
            );
        }
        let hint = self.format.hint();
        // What was typed as a puzzle is one, good or bad, if there are puzzles of its size.
        let read = if self.is_typed() { source.read_as_puzzles(&hint) } else { source.read(&hint) };
        if let (true, Err(InputError::NoPuzzle { misfit, .. })) = (self.is_typed(), &read) {
            bail!("{} cannot be read: {misfit}", self.name);
        }
        read.map_err(|error| match &self.origin {
            Some(_) => {
                let sentence = error.to_string();
                let named = self.sentence(&sentence);
                if named == sentence && !sentence.contains(&self.name) {
                    anyhow::anyhow!("{}: {sentence}", self.name)
                } else {
                    anyhow::anyhow!(named)
                }
            }
            None => error.into(),
        })
    }
}

/// Checks that rows of this form can keep what the input has in its rows.
///
/// # Errors
/// The input is JSON objects, and the form is a table: objects may have members of their own.
pub fn check_row_form(format: &Format, form: Option<RowForm>, name: &str) -> anyhow::Result<()> {
    match form {
        Some(form) if format.is_table() && !RowWriter::keeps_columns(format, form) => {
            bail!("{name} has JSON objects, whose members have no columns in a table. Write jsonl instead.")
        }
        _ => Ok(()),
    }
}

/// The format, as far as the user gives it.
#[derive(Clone, Debug, Default, Args)]
pub struct FormatArgs {
    /// Notation of the puzzles [default: auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input", value_parser = value::notation())]
    pub notation: Option<Notation>,

    /// Symbols of the values: letters, ascii, alpha, hex, or all of them in order [default:
    /// auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    #[arg(value_parser = value::alphabet(), hide_possible_values = true)]
    pub alphabet: Option<Alphabet>,

    /// Side of the puzzles: 1, 4, 9, 16 or 25 [default: auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    #[arg(value_name = "SIDE", value_parser = value::side(), hide_possible_values = true)]
    pub size: Option<Order>,

    /// Column of the puzzle in a table: its name or its number from 1; in JSON objects the name of
    /// the member [default: auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input", value_name = "NAME|N")]
    pub column: Option<Column>,

    /// What separates the fields of a table: comma, semicolon, tab, bar, space, or the character
    /// [default: auto-detected]
    #[arg(long, hide_short_help = true, help_heading = "Input", value_name = "CHAR")]
    #[arg(value_parser = value::delimiter(), hide_possible_values = true)]
    pub delimiter: Option<Delimiter>,
}

impl FormatArgs {
    /// The options with their values; `None` for one that is not given.
    pub fn options(&self) -> [(&'static str, Option<String>); 5] {
        let Self { notation, alphabet, size, column, delimiter } = self;
        [
            ("--notation", notation.map(|notation| notation.to_string())),
            ("--alphabet", alphabet.as_ref().map(ToString::to_string)),
            ("--size", size.map(|order| order.side().to_string())),
            ("--column", column.as_ref().map(ToString::to_string)),
            ("--delimiter", delimiter.map(|delimiter| delimiter.to_string())),
        ]
    }

    /// The hint for detection.
    pub fn hint(&self) -> Hint {
        Hint {
            notation: self.notation,
            alphabet: self.alphabet.clone(),
            order: self.size,
            column: self.column.clone(),
            delimiter: self.delimiter,
            has_heading: None,
        }
    }
}
