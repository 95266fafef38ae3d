//! A list of puzzles that is open: a file, or what was pasted.

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

use crate::{interrupt, view};

/// How many bad puzzles are told of when a list is opened.
const ERRORS_SHOWN: usize = 3;

/// Ctrl-C was pressed; there is nothing more to say than that.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("Stopped.")]
pub struct Interrupted;

/// A list of puzzles, read again for each question: it may be too long to keep, and may change.
#[derive(Clone)]
pub struct List {
    place: Place,
    hint: Hint,
    format: Format,
    puzzles: u64,
}

#[derive(Clone)]
enum Place {
    File(PathBuf),
    Pasted(Arc<[u8]>),
}

impl Place {
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
    /// Opens a file and looks at every puzzle in it. What to say of it comes with it.
    ///
    /// # Errors
    /// What reading it meets, or [`Interrupted`].
    pub fn open(
        path: &Path,
        hint: &Hint,
        pool: &Arc<ThreadPool>,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<(Self, String)> {
        if path.as_os_str() == STANDARD_INPUT {
            bail!("`-` is where these commands come from. Paste the puzzle as it is, or name a file.");
        }
        // What the system has to say of a missing file comes when it is opened.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            bail!("{} is no regular file. Here a file is read more than once.", path.display());
        }
        Self::look_at(Place::File(path.to_owned()), hint, pool, cancel)
    }

    /// Takes a text that was pasted.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn pasted(
        text: &[u8],
        hint: &Hint,
        pool: &Arc<ThreadPool>,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<(Self, String)> {
        Self::look_at(Place::Pasted(text.into()), hint, pool, cancel)
    }

    fn look_at(
        place: Place,
        hint: &Hint,
        pool: &Arc<ThreadPool>,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<(Self, String)> {
        let work = {
            let (place, hint, pool, cancel) =
                (place.clone(), hint.clone(), Arc::clone(pool), Arc::clone(cancel));
            move || -> anyhow::Result<(Format, String, Validation)> {
                let reader = place.reader(&hint)?;
                let (format, name) = (reader.format().clone(), reader.name().to_owned());
                match input::validate(reader, &pool, &cancel, ERRORS_SHOWN, |_| ()) {
                    Ok(found) => Ok((format, name, found)),
                    Err(ValidateError::Input(error)) => Err(error.into()),
                    Err(ValidateError::Cancelled) => Err(Interrupted.into()),
                }
            }
        };
        // A file of a strange file system may never answer.
        let Some((format, name, found)) = interrupt::interruptible(cancel, work)? else {
            return Err(Interrupted.into());
        };
        let mut said = format!(
            "{name}: {} of {} in the notation {}",
            view::counted(found.puzzles, "puzzle"),
            format.order(),
            format.notation()
        );
        if found.bad == 0 {
            said += ".\n";
        } else {
            said += &format!(", {} of them bad:\n", view::thousands(found.bad));
            for error in &found.errors {
                said += &format!("  {error}\n");
            }
            if found.bad > found.errors.len() as u64 {
                said += &format!("  and {} more\n", view::thousands(found.bad - found.errors.len() as u64));
            }
        }
        Ok((Self { place, hint: hint.clone(), format, puzzles: found.puzzles }, said))
    }

    /// How many puzzles there were when it was opened.
    pub fn len(&self) -> u64 {
        self.puzzles
    }

    /// What to call it.
    pub fn name(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::Pasted(_) => "what was pasted".to_owned(),
        }
    }

    /// Its text from the start.
    ///
    /// # Errors
    /// What reading it meets.
    pub fn reader(&self) -> anyhow::Result<Reader> {
        self.place.reader(&self.hint)
    }

    /// A puzzle, its format, and what to call it.
    ///
    /// # Errors
    /// That there is none, what is wrong with it, what reading meets, or [`Interrupted`].
    pub fn puzzle(&self, choice: Pick, cancel: &AtomicBool) -> anyhow::Result<(Format, Grid, String)> {
        let list = self.clone();
        let look = move || {
            let mut reader = list.reader()?;
            let format = reader.format().clone();
            Ok((format, pick(&mut reader, choice)?))
        };
        let Some((format, picked)) = interrupt::interruptible(cancel, look)? else {
            return Err(Interrupted.into());
        };
        let name = self.name();
        let Some(picked) = picked else {
            match choice {
                Pick::Number(number) => {
                    let puzzles = view::counted(self.puzzles, "puzzle");
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
            view::thousands(picked.number),
            view::thousands(picked.line)
        );
        Ok((format, puzzle, title))
    }

    /// How it is written.
    pub fn format(&self) -> &Format {
        &self.format
    }
}

/// What the user typed for a file name: all of it if there is such a file, else the first word as a shell would take it,
/// with quotes, backslashes and `~`.
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
