//! Where answers go: standard output, or a file that is whole or absent.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Progress;
use super::journal::{Difference, Journal, Run};
use super::partial::{self, Partial, Refused};
use crate::answer::Tally;
use crate::input::{FileId, Prefix};

/// When it is first remembered how far a run has come, and how often after that, at most.
const FIRST_MARK: Duration = Duration::from_millis(20);
const MARK_INTERVAL: Duration = Duration::from_millis(200);

/// The least time between two marks, as a multiple of what one takes: syncing to a disk may take long.
const MARK_SHARE: u32 = 20;

/// The name of standard output in messages.
const STANDARD_NAME: &str = "standard output";

/// The longest chain of links that is followed; the system's own limit.
const MAX_LINKS: usize = 40;

/// Why answers cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The operating system's words.
    #[error("{name}: {cause}")]
    Io {
        /// The output.
        name: String,
        /// What the system says.
        cause: io::Error,
    },
    /// Another run has the same output.
    #[error("{name} is being written by another run. Wait for its end, or name another file.")]
    InUse {
        /// The output.
        name: String,
    },
    /// Something that is no file has the name of the file that is to become the output.
    #[error("{name} cannot be written: {path} is in the way. Remove it.")]
    InTheWay {
        /// The output.
        name: String,
        /// What is in the way.
        path: PathBuf,
    },
    /// The output is the input: the answers would replace the puzzles.
    #[error("{name} is the input itself. Name another file with -o.")]
    IsInput {
        /// The output, or a file that is made beside it.
        name: String,
    },
    /// Not a file that could be gone on with.
    #[error("{name} is no regular file: a run that writes to it cannot be resumed.")]
    NotResumable {
        /// The output.
        name: String,
    },
    /// The run that was to be gone on with was another.
    #[error(
        "{name} was begun with {then}, and now it is {now}. Repeat the command as it was, or leave out --resume to begin anew."
    )]
    OtherRun {
        /// The output.
        name: String,
        /// What the earlier run had.
        then: String,
        /// What this run has instead.
        now: String,
    },
    /// The input is not what it was when the run began.
    #[error("{input} was changed after {name} was begun. Leave out --resume to begin anew.")]
    OtherInput {
        /// The output.
        name: String,
        /// The input.
        input: String,
    },
}

impl OutputError {
    /// Has the reader of the output had enough?
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Where answers go, and how far they have come. Nothing is buffered: every write is a block of answers.
///
/// A regular file is written under another name beside its place and takes its place in
/// [`Output::finish`]; without that it is gone when the output is dropped, unless it was kept for another run to go on. Anything
/// else that has a name, a device or a FIFO, is written straight.
pub struct Output {
    name: String,
    place: Place,
    progress: Progress,
}

enum Place {
    Standard(io::Stdout),
    Straight(File),
    Partial(Box<PartialOutput>),
}

/// A file that is not whole yet.
struct PartialOutput {
    partial: Partial,
    bytes: u64,
    /// Whose marks are made, if any can be.
    run: Option<Run>,
    /// Is what is marked kept for another run?
    is_kept: bool,
    /// The time that was spent before, and since when this run has been at it.
    earlier: Duration,
    begin: Instant,
    next_mark: Instant,
}

impl Output {
    /// Refuses an output that is the input itself, by the same path, another path, a link or a hard
    /// link. `path` is `None` for standard output. The files that a run makes beside an output are
    /// compared too.
    ///
    /// # Errors
    /// [`OutputError::IsInput`].
    pub fn check_apart(path: Option<&Path>, input: FileId) -> Result<(), OutputError> {
        // A path that cannot be looked at does not exist yet, or is reported when it is opened.
        let is_input = |found: io::Result<Metadata>| found.is_ok_and(|found| FileId::of(&found) == input);
        let Some(path) = path else {
            let standard = io::stdout().as_fd().try_clone_to_owned().map(File::from);
            let is_input = is_input(standard.and_then(|standard| standard.metadata()));
            let name = STANDARD_NAME.to_owned();
            return if is_input { Err(OutputError::IsInput { name }) } else { Ok(()) };
        };
        if is_input(fs::metadata(path)) {
            return Err(OutputError::IsInput { name: path.display().to_string() });
        }
        let Ok(place) = place_of(path) else { return Ok(()) };
        match partial::files_beside(&place).into_iter().find(|file| is_input(fs::symlink_metadata(file))) {
            Some(file) => Err(OutputError::IsInput { name: file.display().to_string() }),
            None => Ok(()),
        }
    }

    /// Standard output.
    #[must_use]
    pub fn standard() -> Self {
        let place = Place::Standard(io::stdout());
        Self { name: STANDARD_NAME.to_owned(), place, progress: Progress::default() }
    }

    /// The file at `path`, which is locked until the end: no other run can have it. With `is_durable`, file and folder are
    /// synced before [`Output::finish`] returns.
    ///
    /// # Errors
    /// [`OutputError`], with the path.
    pub fn file(path: &Path, is_durable: bool) -> Result<Self, OutputError> {
        Self::open(path, is_durable, None, false)
    }

    /// The same for a run that another can go on with when it is killed: several times a second it is remembered how far it
    /// has come, after a sync if it `is_durable`.
    ///
    /// If `is_resumed`, it goes on itself where an earlier run was stopped, if there was one, and what it has done is kept when it
    /// is stopped in its turn. [`Output::progress`] tells how far it is. Otherwise it begins anew.
    ///
    /// # Errors
    /// [`OutputError`]; also if the earlier run was not the same, which leaves everything as it is.
    pub fn resumable(path: &Path, is_durable: bool, run: Run, is_resumed: bool) -> Result<Self, OutputError> {
        Self::open(path, is_durable, Some(run), is_resumed)
    }

    fn open(path: &Path, is_durable: bool, run: Option<Run>, is_resumed: bool) -> Result<Self, OutputError> {
        let name = path.display().to_string();
        let fail = |cause| OutputError::Io { name: name.clone(), cause };
        let path = place_of(path).map_err(fail)?;
        let old = fs::metadata(&path);
        if let Ok(old) = &old
            && !old.is_file()
        {
            let file = OpenOptions::new().write(true).open(&path).map_err(fail)?;
            if is_resumed {
                return Err(OutputError::NotResumable { name });
            }
            return Ok(Self { name, place: Place::Straight(file), progress: Progress::default() });
        }
        // An old file's permissions pass to the new one.
        let mode = old.ok().map(|old| old.permissions().mode() & 0o7777);
        let partial = Partial::open(path, mode, is_durable).map_err(|refused| match refused {
            Refused::InUse => OutputError::InUse { name: name.clone() },
            Refused::InTheWay(path) => OutputError::InTheWay { name: name.clone(), path },
            Refused::Io(cause) => fail(cause),
        })?;
        let begin = Instant::now();
        let mut output = PartialOutput {
            partial,
            bytes: 0,
            run,
            is_kept: is_resumed,
            earlier: Duration::ZERO,
            begin,
            next_mark: begin + FIRST_MARK,
        };
        let progress = match output.left_behind(&name)? {
            Some((journal, progress)) => {
                output.partial.go_on(journal.output_bytes()).map_err(fail)?;
                output.bytes = journal.output_bytes();
                output.earlier = journal.work();
                progress
            }
            None => {
                output.partial.begin().map_err(fail)?;
                Progress::default()
            }
        };
        Ok(Self { name, place: Place::Partial(Box::new(output)), progress })
    }

    /// Writes what is no answer: a heading.
    ///
    /// # Errors
    /// The system's, with the name of the output.
    pub fn write(&mut self, text: &[u8]) -> Result<(), OutputError> {
        let result = match &mut self.place {
            Place::Standard(stdout) => stdout.write_all(text).and_then(|()| stdout.flush()),
            Place::Straight(file) => file.write_all(text),
            Place::Partial(output) => output.partial.write(text).map(|()| output.bytes += text.len() as u64),
        };
        result.map_err(|cause| OutputError::Io { name: self.name.clone(), cause })
    }

    /// Writes whole answers, those up to byte `end` of the input, and counts them. `prefix` is what
    /// had been read of the input by then; without it, the run cannot be resumed after them.
    ///
    /// # Errors
    /// The system's, with the name of the output.
    pub fn add(
        &mut self,
        end: u64,
        prefix: Option<Prefix>,
        text: &[u8],
        tally: &Tally,
    ) -> Result<(), OutputError> {
        self.write(text)?;
        (self.progress.bytes, self.progress.prefix) = (end, prefix);
        self.progress.tally.add(tally);
        if let Place::Partial(output) = &mut self.place
            && Instant::now() >= output.next_mark
        {
            let marked = output.mark(&self.progress);
            marked.map_err(|cause| OutputError::Io { name: self.name.clone(), cause })?;
        }
        Ok(())
    }

    /// What has been written, by earlier runs too where this one has gone on with their work.
    #[must_use]
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The error for a resumed run whose input does not begin with what the earlier run has read.
    #[must_use]
    pub fn other_input(&self) -> OutputError {
        let input = match &self.place {
            Place::Partial(output) => output.run.as_ref().map(|run| run.input.clone()),
            Place::Standard(_) | Place::Straight(_) => None,
        };
        let input = input.unwrap_or_else(|| "The input".to_owned());
        OutputError::OtherInput { name: self.name.clone(), input }
    }

    /// The time that earlier runs have spent on it.
    #[must_use]
    pub const fn earlier(&self) -> Duration {
        match &self.place {
            Place::Partial(output) => output.earlier,
            Place::Standard(_) | Place::Straight(_) => Duration::ZERO,
        }
    }

    /// Ends a run that has not come to its end. True if another can go on with what it has done.
    #[must_use]
    pub fn stop(mut self) -> bool {
        match &mut self.place {
            Place::Partial(output) if output.is_kept => {
                // On a full disk, what was half written takes the room that the mark needs. If there is none all the same,
                // the run is as far as it was marked before.
                let _ = output.partial.go_on(output.bytes).and_then(|()| output.mark(&self.progress));
                output.partial.stays
            }
            _ => false,
        }
    }

    /// Ends a run whose answers are of no use to another: nothing is kept.
    pub fn discard(mut self) {
        if let Place::Partial(output) = &mut self.place {
            output.partial.stays = false;
        }
    }

    /// Puts the file in its place. If that fails, what has been done is kept as by [`Output::stop`].
    ///
    /// # Errors
    /// The system's, with the path; the file that stood there before is untouched.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let Place::Partial(output) = &mut self.place else { return Ok(()) };
        let name = self.name.clone();
        let fail = |cause| OutputError::Io { name, cause };
        if let Err(cause) = output.partial.commit() {
            let _ = self.stop();
            return Err(fail(cause));
        }
        match self.place {
            Place::Partial(output) => output.partial.finish().map_err(fail),
            Place::Standard(_) | Place::Straight(_) => Ok(()),
        }
    }
}

/// The path of the file that `path` names, without links, so that the file is replaced and not the
/// link. Links to a file that does not exist yet are followed too, as the system does when a
/// program opens one for writing.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        place => return place,
    }
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        let bytes = place.as_os_str().as_bytes();
        if bytes.ends_with(b"/") || bytes.ends_with(b"/.") || place.file_name().is_none() {
            // A missing folder: the rename onto it would fail, but only at the end of the run.
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        if !fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
            return Ok(place);
        }
        // Relative to the folder of the link, unless absolute.
        let target = fs::read_link(&place)?;
        place.pop();
        place.push(target);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

impl PartialOutput {
    /// What an earlier run has left that this one is to go on with.
    fn left_behind(&self, name: &str) -> Result<Option<(Journal, Progress)>, OutputError> {
        let Some(run) = self.run.as_ref().filter(|_| self.is_kept) else { return Ok(None) };
        let Some(journal) = self.partial.journal() else { return Ok(None) };
        let name = name.to_owned();
        match run.difference(journal.run()) {
            Some(Difference::Words(then, now)) => Err(OutputError::OtherRun { name, then, now }),
            Some(Difference::Input(input)) => Err(OutputError::OtherInput { name, input }),
            None => Ok(journal.progress().map(|progress| (journal, progress))),
        }
    }

    /// Remembers how far the run has come, if there is anything to remember.
    fn mark(&mut self, progress: &Progress) -> io::Result<()> {
        let Some(run) = self.run.as_ref().filter(|_| progress.tally.answers > 0) else { return Ok(()) };
        let begin = Instant::now();
        let work = self.earlier + (begin - self.begin);
        let Some(journal) = Journal::new(run, progress, self.bytes, work) else { return Ok(()) };
        let is_marked = self.partial.mark(&journal)?;
        self.partial.stays |= is_marked && self.is_kept;
        self.next_mark = begin + begin.elapsed() + MARK_INTERVAL.max(begin.elapsed() * MARK_SHARE);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_whole_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut output = Output::file(&path, true).unwrap();
        output.write(b"one\n").unwrap();
        assert!(!path.exists());
        drop(output);
        assert_eq!(names(folder.path()), [""; 0]);

        let mut output = Output::file(&path, true).unwrap();
        output.write(b"one\n").unwrap();
        output.write(b"two\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }

    #[test]
    fn a_link_stays_and_the_old_mode_too() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for mode in [0o640, 0o444, 0o666] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let mut output = Output::file(&link, false).unwrap();
            output.write(b"new").unwrap();
            output.finish().unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&file).unwrap(), b"new");
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_link_to_what_is_not_there_yet_stays_and_leads_to_it() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("deep/down")).unwrap();
        symlink(path("deep/down"), path("side")).unwrap();
        // From the folder that the link is really in.
        symlink("../file", path("side/up")).unwrap();
        symlink("side/up", path("two")).unwrap();
        symlink(path("two"), path("three")).unwrap();
        for link in ["side/up", "two", "three"] {
            let mut output = Output::file(&path(link), false).unwrap();
            output.write(b"new\n").unwrap();
            // Whoever names the file itself has the same file.
            assert!(matches!(Output::file(&path("deep/file"), false), Err(OutputError::InUse { .. })));
            output.finish().unwrap();
            assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink(), "{link}");
            assert_eq!(fs::read(path("deep/file")).unwrap(), b"new\n");
            fs::remove_file(path("deep/file")).unwrap();
        }
        assert_eq!(names(&path("deep")), ["down"]);
    }

    #[test]
    fn a_link_to_where_no_file_can_be_is_an_error() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("none/file", path("lost")).unwrap();
        symlink("loop", path("loop")).unwrap();
        symlink("none/", path("folder")).unwrap();
        fs::write(path("file"), "old").unwrap();
        for (name, words) in [
            ("lost", "No such file or directory (os error 2)"),
            ("loop", "Too many levels of symbolic links (os error 40)"),
            ("folder", "Is a directory (os error 21)"),
            ("none/", "Is a directory (os error 21)"),
            ("none/.", "Is a directory (os error 21)"),
            ("file/", "Not a directory (os error 20)"),
        ] {
            let error = Output::file(&path(name), false).err().unwrap();
            assert_eq!(error.to_string(), format!("{}: {words}", path(name).display()));
        }
        assert_eq!(names(folder.path()), ["file", "folder", "loop", "lost"]);
    }

    #[test]
    fn what_is_read_is_not_written() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("in"), "1\n").unwrap();
        fs::hard_link(path("in"), path("hard")).unwrap();
        symlink("in", path("soft")).unwrap();
        fs::hard_link(path("in"), path(".beside.sudoku-partial")).unwrap();
        fs::write(path("other"), "1\n").unwrap();
        symlink("none", path("dangling")).unwrap();
        let input = FileId::of(&fs::metadata(path("in")).unwrap());
        for (name, file) in [
            ("in", "in"),
            ("./in", "./in"),
            ("hard", "hard"),
            ("soft", "soft"),
            ("beside", ".beside.sudoku-partial"),
        ] {
            let error = Output::check_apart(Some(&path(name)), input).unwrap_err();
            let file = path(file);
            let sentence = format!("{} is the input itself. Name another file with -o.", file.display());
            assert_eq!(error.to_string(), sentence);
        }
        for name in ["other", "new", "dangling", "none/file"] {
            Output::check_apart(Some(&path(name)), input).unwrap();
        }
        Output::check_apart(Some(Path::new("/dev/null")), input).unwrap();
        Output::check_apart(None, input).unwrap();
    }

    #[test]
    fn two_runs_cannot_have_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut first = Output::file(&path, false).unwrap();
        first.write(b"first\n").unwrap();
        let second = Output::file(&path, false).err().unwrap();
        assert!(matches!(second, OutputError::InUse { .. }), "{second}");
        first.finish().unwrap();
        let mut third = Output::file(&path, false).unwrap();
        third.write(b"third\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first\n");
        third.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third\n");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }

    #[test]
    fn what_is_left_behind_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        fs::write(folder.path().join(".out.txt.sudoku-partial"), "much longer than what comes now").unwrap();
        fs::write(folder.path().join(".out.txt.sudoku-journal"), "not a journal").unwrap();
        let mut output = Output::file(&path, false).unwrap();
        output.write(b"new\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new\n");
        assert_eq!(names(folder.path()), ["out.txt"]);
    }

    #[test]
    fn what_is_no_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(".out.txt.sudoku-partial")).unwrap();
        let error = Output::file(&folder.path().join("out.txt"), false).err().unwrap();
        assert!(matches!(error, OutputError::InTheWay { .. }), "{error}");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }

    #[test]
    fn errors_carry_the_path() {
        let error = Output::file(Path::new("/no/such/folder/out"), false).err().unwrap();
        assert_eq!(error.to_string(), "/no/such/folder/out: No such file or directory (os error 2)");
        let mut full = Output::file(Path::new("/dev/full"), false).unwrap();
        assert_eq!(
            full.write(b"x").unwrap_err().to_string(),
            "/dev/full: No space left on device (os error 28)"
        );
    }
}
