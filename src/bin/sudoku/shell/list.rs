//! The open list of puzzles: a file, or pasted text.

use std::ffi::OsStr;
use std::fs;
use std::io::Cursor;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use sudoku_stream::answer::Validation;
use sudoku_stream::grid::Grid;
use sudoku_stream::input::{self, Pick, Reader, STANDARD_INPUT, Source, ValidateError, pick};
use sudoku_stream::pipeline::ThreadPool;
use sudoku_stream::text::{Format, Hint, Records};

use crate::cli::interrupt::interruptible;
use crate::cli::print;

/// The most bad puzzles that are reported when a list is opened.
const ERRORS_SHOWN: usize = 3;

/// The user interrupted the command with Ctrl-C.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("Stopped.")]
pub struct Interrupted;

/// A list of puzzles. It is read again for each command, because it may be too long to keep.
#[derive(Clone)]
pub struct List {
    source: ListSource,
    hint: Hint,
    format: Format,
    puzzles: u64,
}

/// Where a list is read from.
#[derive(Clone)]
enum ListSource {
    File(PathBuf),
    Pasted(Arc<[u8]>),
}

impl ListSource {
    fn reader(&self, hint: &Hint) -> anyhow::Result<Reader> {
        let source = match self {
            Self::File(path) => Source::open(path, true)?,
            Self::Pasted(text) => {
                Source::reading("What was pasted".to_owned(), Box::new(Cursor::new(Arc::clone(text))))?
            }
        };
        Ok(source.read(hint)?)
    }
}

impl List {
    /// Opens a file and validates every puzzle in it. Returns the report with it.
    ///
    /// # Errors
    /// Errors of reading, or [`Interrupted`].
    pub fn open(
        path: &Path,
        hint: &Hint,
        pool: &Arc<ThreadPool>,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<(Self, String)> {
        if path.as_os_str() == STANDARD_INPUT {
            bail!("`-` is where these commands come from. Paste the puzzle as it is, or name a file.");
        }
        // Opening it gives the system's error for a missing file.
        let metadata = fs::metadata(path);
        if metadata.as_ref().is_ok_and(fs::Metadata::is_dir) {
            bail!("{} is a folder. Name one of its files.", path.display());
        }
        if metadata.is_ok_and(|metadata| !metadata.is_file()) {
            bail!("{} is no regular file. Here a file is read more than once.", path.display());
        }
        Self::validated(ListSource::File(path.to_owned()), hint, pool, cancel)
    }

    /// Takes pasted text.
    ///
    /// # Errors
    /// Errors of reading, or [`Interrupted`].
    pub fn pasted(
        text: &[u8],
        hint: &Hint,
        pool: &Arc<ThreadPool>,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<(Self, String)> {
        Self::validated(ListSource::Pasted(text.into()), hint, pool, cancel)
    }

    fn validated(
        source: ListSource,
        hint: &Hint,
        pool: &Arc<ThreadPool>,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<(Self, String)> {
        let work = {
            let (source, hint, pool, cancel) =
                (source.clone(), hint.clone(), Arc::clone(pool), Arc::clone(cancel));
            move || -> anyhow::Result<(Format, String, Validation)> {
                let reader = source.reader(&hint)?;
                let (format, name) = (reader.format().clone(), reader.name().to_owned());
                match input::validate(reader, &pool, &cancel, ERRORS_SHOWN, |_| ()) {
                    Ok(found) => Ok((format, name, found)),
                    Err(ValidateError::Input(error)) => Err(error.into()),
                    Err(error @ ValidateError::Threads(_)) => Err(error.into()),
                    Err(ValidateError::Cancelled) => Err(Interrupted.into()),
                }
            }
        };
        // A file on a network may block for ever.
        let Some((format, name, found)) = interruptible(cancel, work)? else {
            return Err(Interrupted.into());
        };
        let mut report = format!(
            "{name}: {} of {} in the notation {}",
            print::counted(found.puzzles, "puzzle"),
            format.order(),
            format.notation()
        );
        if found.bad == 0 {
            report += ".\n";
        } else {
            report += &format!(", {} of them bad:\n", print::thousands(found.bad));
            for error in &found.errors {
                report += &format!("  {error}\n");
            }
            if found.bad > found.errors.len() as u64 {
                report +=
                    &format!("  and {} more\n", print::thousands(found.bad - found.errors.len() as u64));
            }
        }
        Ok((Self { source, hint: hint.clone(), format, puzzles: found.puzzles }, report))
    }

    /// The number of puzzles when it was opened.
    pub fn len(&self) -> u64 {
        self.puzzles
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match &self.source {
            ListSource::File(path) => path.display().to_string(),
            ListSource::Pasted(_) => "what was pasted".to_owned(),
        }
    }

    /// A reader at its start.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn reader(&self) -> anyhow::Result<Reader> {
        self.source.reader(&self.hint)
    }

    /// A puzzle, its format, and its name in messages.
    ///
    /// # Errors
    /// No such puzzle, a badly formed one, errors of reading, or [`Interrupted`].
    pub fn puzzle(&self, choice: Pick, cancel: &AtomicBool) -> anyhow::Result<(Format, Grid, String)> {
        let list = self.clone();
        let read = move || {
            let mut reader = list.reader()?;
            let format = reader.format().clone();
            Ok((format, pick(&mut reader, choice)?))
        };
        let Some((format, picked)) = interruptible(cancel, read)? else {
            return Err(Interrupted.into());
        };
        let name = self.name();
        let Some(picked) = picked else {
            match choice {
                Pick::Number(number) => {
                    let puzzles = print::counted(self.puzzles, "puzzle");
                    bail!("{name} has no puzzle {number}. It has {puzzles}.")
                }
                Pick::Random => bail!("{name} is empty."),
            }
        };
        let mut puzzle = Grid::empty(format.order());
        let record = Records::new(&format, &picked.text, picked.line).read(&mut puzzle);
        if let Some(error) = record.and_then(|record| record.error) {
            return Err(error.into());
        }
        let title = format!(
            "Puzzle {} of {name} (line {})",
            print::thousands(picked.number),
            print::thousands(picked.line)
        );
        Ok((format, puzzle, title))
    }

    /// Its format.
    pub fn format(&self) -> &Format {
        &self.format
    }
}

/// The path that was typed: all of the text if there is such a file, else a word as a shell reads
/// it, with quotes, backslashes and `~`.
pub fn path(typed: &[u8]) -> PathBuf {
    let whole = Path::new(OsStr::from_bytes(typed)).to_owned();
    if whole.exists() {
        return whole;
    }
    let words = shlex::bytes::Shlex::new(typed).collect::<Vec<_>>();
    let [word] = &words[..] else { return whole };
    let path = Path::new(OsStr::from_bytes(word)).to_owned();
    match (path.strip_prefix("~"), etcetera::home_dir()) {
        (Ok(rest), Ok(home)) => home.join(rest),
        _ => path,
    }
}
