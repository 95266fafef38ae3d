//! Outputs: standard output, a device, or a file that is complete or absent.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use super::checkpoint::CheckpointedFile;
#[cfg(feature = "parquet")]
use super::columnar::ParquetRows;
use super::journal::RunIdentity;
use super::link;
use super::link::resolve;
use super::origin::AnswerForm;
use super::partial::{self, Partial, PartialError};
use super::{InputOrigin, OutputError, Progress};
#[cfg(feature = "parquet")]
use crate::answer::RowWriter;
use crate::answer::{OutputForm, Tally};
#[cfg(feature = "parquet")]
use crate::input::Reader;
use crate::input::{FileId, Prefix, PrefixHasher};
use crate::text::Format;

/// The name of standard output in messages.
const STANDARD_NAME: &str = "standard output";

/// The system's names of standard output. They cannot be opened if it is a socket; and if it is a
/// file, that may have been opened to be appended to.
const STANDARD_PATHS: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// The output of a run, and its progress. Nothing is buffered, because every write is a block of
/// answers.
///
/// **Invariant:** a regular file is complete or absent. It is written under another name beside its
/// target and renamed in [`Output::finish`]; without that it is removed on drop, unless it is kept
/// for another run to resume. What is no regular file (a pipe, a terminal, a device) is written
/// directly.
pub struct Output {
    name: String,
    target: Target,
    progress: Progress,
    /// The form of the answers that come next, and their origin, where it has to be named.
    origin: Option<(AnswerForm, InputOrigin)>,
    /// What makes a Parquet file of the rows that are written.
    #[cfg(feature = "parquet")]
    columns: Option<Box<ParquetRows<Box<dyn io::Write + Send>>>>,
}

/// The kinds of output.
enum Target {
    Standard(io::Stdout),
    Direct(File),
    Partial(Box<CheckpointedFile>),
}

impl Output {
    /// Refuses an output that is the input itself, by the same path, another path, a link or a hard
    /// link. `path` is `None` for standard output, and `flag` is what names another file. The files
    /// that a run makes beside an output are compared too.
    ///
    /// # Errors
    /// [`OutputError::IsInput`].
    pub fn check_apart(path: Option<&Path>, flag: &'static str, input: FileId) -> Result<(), OutputError> {
        // A path without metadata does not exist yet, or its error is reported when it is opened.
        let is_input = |found: io::Result<Metadata>| found.is_ok_and(|found| FileId::of(&found) == input);
        let Some(path) = path else {
            let standard = io::stdout().as_fd().try_clone_to_owned().map(File::from);
            let is_input = is_input(standard.and_then(|standard| standard.metadata()));
            let name = STANDARD_NAME.to_owned();
            return if is_input { Err(OutputError::IsInput { name, flag }) } else { Ok(()) };
        };
        if is_input(fs::metadata(path)) {
            return Err(OutputError::IsInput { name: path.display().to_string(), flag });
        }
        let Ok(target) = resolve(path) else { return Ok(()) };
        match partial::files_beside(&target).into_iter().find(|file| is_input(fs::symlink_metadata(file))) {
            Some(file) => Err(OutputError::IsInput { name: file.display().to_string(), flag }),
            None => Ok(()),
        }
    }

    /// Whether two outputs would be the same file: by the same path, another path, or a link.
    #[must_use]
    pub fn is_same_file(one: &Path, other: &Path) -> bool {
        link::is_same_file(one, other)
    }

    /// Whether a path is the system's name of standard output, such as `/dev/stdout`.
    #[must_use]
    pub fn is_standard_path(path: &Path) -> bool {
        STANDARD_PATHS.iter().any(|name| path == Path::new(name))
    }

    /// Standard output.
    #[must_use]
    pub fn standard() -> Self {
        Self::new(STANDARD_NAME.to_owned(), Target::Standard(io::stdout()), Progress::default())
    }

    /// The file at `path`, locked until the end, so that no other run can write it. With
    /// `is_durable`, file and folder are synced before [`Output::finish`] returns.
    ///
    /// # Errors
    /// [`OutputError`], with the path.
    pub fn file(path: &Path, is_durable: bool) -> Result<Self, OutputError> {
        Self::open(path, is_durable, None, false)
    }

    /// The file at `path` for a run that another can resume after a kill: it makes a checkpoint
    /// several times a second, after a sync if it `is_durable`.
    ///
    /// If `is_resumed`, it resumes an earlier run, if there is one, and is kept in turn when it is
    /// stopped; [`Output::progress`] is how far it is. Otherwise it begins anew.
    ///
    /// # Errors
    /// [`OutputError`], with the path; also if the earlier run had other settings or another input,
    /// which leaves everything unchanged.
    pub fn resumable(
        path: &Path,
        is_durable: bool,
        run: RunIdentity,
        is_resumed: bool,
    ) -> Result<Self, OutputError> {
        Self::open(path, is_durable, Some(run), is_resumed)
    }

    fn open(
        path: &Path,
        is_durable: bool,
        run: Option<RunIdentity>,
        is_resumed: bool,
    ) -> Result<Self, OutputError> {
        let name = path.display().to_string();
        let fail = |cause| OutputError::Io { name: name.clone(), cause };
        let direct = |target| {
            if is_resumed {
                return Err(OutputError::NotResumable { name: name.clone() });
            }
            Ok(Self::new(name.clone(), target, Progress::default()))
        };
        if Self::is_standard_path(path) {
            return direct(Target::Standard(io::stdout()));
        }
        // By the path as it is, because what the links of open descriptors lead to may have no other:
        // a pipe has none.
        let old = fs::metadata(path);
        if old.as_ref().is_ok_and(|old| !old.is_file()) {
            return direct(Target::Direct(OpenOptions::new().write(true).open(path).map_err(fail)?));
        }
        if let Some(folder) =
            path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        {
            return Err(OutputError::NoFolder { name, folder: folder.to_owned() });
        }
        let path = resolve(path).map_err(fail)?;
        // An old file's permissions pass to the new one.
        let mode = old.ok().map(|old| old.permissions().mode() & 0o7777);
        let partial = Partial::open(path, mode, is_durable).map_err(|refused| match refused {
            PartialError::InUse => OutputError::InUse { name: name.clone() },
            PartialError::InTheWay(path) => OutputError::InTheWay { name: name.clone(), path },
            PartialError::Io(cause) => fail(cause),
            PartialError::Folder(folder, cause) => {
                let name = format!("{name}: the folder {} takes no new file", folder.display());
                OutputError::Io { name, cause }
            }
        })?;
        let mut output = CheckpointedFile::new(partial, run, is_resumed);
        let progress = output.start(&name)?;
        Ok(Self::new(name, Target::Partial(Box::new(output)), progress))
    }

    const fn new(name: String, target: Target, progress: Progress) -> Self {
        Self {
            name,
            target,
            progress,
            origin: None,
            #[cfg(feature = "parquet")]
            columns: None,
        }
    }

    /// Makes a Parquet file of the rows of this input that are written: comma-separated values, of
    /// which the first row is a heading. Where the input is such a file and the output `keeps_rows`,
    /// each in its place, its columns are copied as they are.
    ///
    /// # Errors
    /// The system's error, with the name of the output.
    #[cfg(feature = "parquet")]
    pub fn into_columns(mut self, input: &Reader, keeps_rows: bool) -> Result<Self, OutputError> {
        let out: io::Result<Box<dyn io::Write + Send>> = match &self.target {
            Target::Standard(_) => Ok(Box::new(io::stdout())),
            Target::Direct(file) => file.try_clone().map(|file| Box::new(file) as _),
            // The copy shares the position in the file.
            Target::Partial(output) => output.partial.try_clone().map(|file| Box::new(file) as _),
        };
        let out = out.map_err(|cause| OutputError::Io { name: self.name.clone(), cause })?;
        let own_columns = RowWriter::own_columns(input.format());
        self.columns = Some(Box::new(ParquetRows::new(out, input.parquet(), own_columns, keeps_rows)));
        Ok(self)
    }

    /// Whether it is a file that is complete or absent.
    #[must_use]
    pub const fn is_atomic(&self) -> bool {
        matches!(self.target, Target::Partial(_))
    }

    /// The length and hash of everything that is written, read back from the file. `None` if it is
    /// no regular file.
    ///
    /// # Errors
    /// The system's error, with the name of the output.
    pub fn content(&self) -> Result<Option<Prefix>, OutputError> {
        let Target::Partial(output) = &self.target else { return Ok(None) };
        let mut hasher = PrefixHasher::new();
        let read = output.partial.read_back(|offset, piece| hasher.add(offset, piece));
        read.map_err(|cause| OutputError::Io { name: self.name.clone(), cause })?;
        Ok(Some(hasher.prefix()))
    }

    /// Writes text that is no answer: a heading.
    ///
    /// # Errors
    /// The system's error, with the name of the output.
    pub fn write(&mut self, text: &[u8]) -> Result<(), OutputError> {
        #[cfg(feature = "parquet")]
        if let Some(columns) = &mut self.columns {
            return columns.write(text).map_err(|cause| OutputError::Io { name: self.name.clone(), cause });
        }
        let result = match &mut self.target {
            Target::Standard(stdout) => stdout.write_all(text).and_then(|()| stdout.flush()),
            Target::Direct(file) => file.write_all(text),
            Target::Partial(output) => output.write(text),
        };
        result.map_err(|cause| OutputError::Io { name: self.name.clone(), cause })
    }

    /// Replaces the first bytes of a file that is complete or absent, because a heading may say what
    /// is only known at the end: how many answers there are.
    ///
    /// # Errors
    /// The system's error, with the name of the output; also if it is no such file.
    pub fn replace_heading(&mut self, heading: &[u8]) -> Result<(), OutputError> {
        let result = match &mut self.target {
            Target::Standard(_) | Target::Direct(_) => Err(io::ErrorKind::NotSeekable.into()),
            Target::Partial(output) => output.partial.write_at_start(heading),
        };
        result.map_err(|cause| OutputError::Io { name: self.name.clone(), cause })
    }

    /// Names the origin of the answers that come next in their error lines and JSON objects, or
    /// stops to. `form` is the form of these answers, `format` that of the input.
    pub fn set_origin(&mut self, form: OutputForm, format: &Format, origin: Option<InputOrigin>) {
        // What is no text has no lines to name it in.
        let is_text = !matches!(form, OutputForm::Digits | OutputForm::Parquet);
        self.origin = origin.filter(|_| is_text).map(|origin| (AnswerForm::new(form, format), origin));
    }

    /// Writes the answers up to byte `end` of the input, and counts them, also if the output is a
    /// closed pipe. `prefix` is what had been read of the input by then; without it, the run cannot
    /// be resumed behind them.
    ///
    /// # Errors
    /// The system's error, with the name of the output.
    pub fn add(
        &mut self,
        end: u64,
        prefix: Option<Prefix>,
        text: &[u8],
        tally: &Tally,
    ) -> Result<(), OutputError> {
        let written = match &self.origin {
            Some((form, origin)) if origin.changes(*form, tally.error_count() > 0) => {
                let named = origin.name_in(*form, text);
                self.write(&named)
            }
            _ => self.write(text),
        };
        // Answers that nobody reads any more count too, because the exit code tells of their errors.
        if written.as_ref().err().is_none_or(OutputError::is_closed_pipe) {
            self.progress.tally.add(tally);
        }
        written?;
        self.record(end, prefix)
    }

    /// Writes a part of a report about the input up to byte `end`, which has `rows` answers. `counts`
    /// is what the command has counted so far, including what earlier runs have.
    ///
    /// # Errors
    /// The system's error, with the name of the output.
    pub fn add_rows(
        &mut self,
        end: u64,
        prefix: Option<Prefix>,
        text: &[u8],
        rows: u64,
        counts: BTreeMap<String, u64>,
    ) -> Result<(), OutputError> {
        self.write(text)?;
        self.progress.tally.answers += rows;
        self.progress.counts = counts;
        self.record(end, prefix)
    }

    /// Records that everything up to byte `end` of the input is answered.
    fn record(&mut self, end: u64, prefix: Option<Prefix>) -> Result<(), OutputError> {
        (self.progress.bytes, self.progress.prefix) = (end, prefix);
        if let Target::Partial(output) = &mut self.target {
            let recorded = output.count_written(&self.progress);
            recorded.map_err(|cause| OutputError::Io { name: self.name.clone(), cause })?;
        }
        Ok(())
    }

    /// The progress, including that of earlier runs which this one has resumed.
    #[must_use]
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    /// What is done by the run, if another can resume it.
    #[must_use]
    pub const fn run(&self) -> Option<&RunIdentity> {
        match &self.target {
            Target::Partial(output) => output.run.as_ref(),
            Target::Standard(_) | Target::Direct(_) => None,
        }
    }

    /// Begins a run anew whose progress the command does not understand.
    ///
    /// # Errors
    /// The system's error, with the name of the output.
    pub fn begin_anew(&mut self) -> Result<(), OutputError> {
        self.progress = Progress::default();
        match &mut self.target {
            Target::Standard(_) | Target::Direct(_) => Ok(()),
            Target::Partial(output) => {
                output.begin_anew().map_err(|cause| OutputError::Io { name: self.name.clone(), cause })
            }
        }
    }

    /// The error of a resumed run whose input does not begin with what the earlier run has read.
    #[must_use]
    pub fn other_input(&self) -> OutputError {
        let input = self.run().map_or_else(|| "The input".to_owned(), |run| run.input.clone());
        OutputError::OtherInput { name: self.name.clone(), input }
    }

    /// The time that earlier runs have spent.
    #[must_use]
    pub const fn earlier(&self) -> Duration {
        match &self.target {
            Target::Partial(output) => output.earlier,
            Target::Standard(_) | Target::Direct(_) => Duration::ZERO,
        }
    }

    /// Ends a run that has not finished. True if another can resume it.
    #[must_use]
    pub fn stop(mut self) -> bool {
        match &mut self.target {
            Target::Partial(output) => output.stop(&self.progress),
            Target::Standard(_) | Target::Direct(_) => false,
        }
    }

    /// The answers of an earlier run of this kind that were dropped, because this one was not to
    /// resume it.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        match &self.target {
            Target::Partial(output) => output.dropped,
            Target::Standard(_) | Target::Direct(_) => 0,
        }
    }

    /// Whether another run could go on, had this one been told to be kept.
    #[must_use]
    pub fn could_be_kept(&self) -> bool {
        matches!(&self.target, Target::Partial(output) if output.could_be_kept())
    }

    /// Ends a run that no other can resume, and keeps nothing of it.
    pub fn discard(mut self) {
        if let Target::Partial(output) = &mut self.target {
            output.partial.keep_on_drop = false;
        }
    }

    /// Renames the file to its target. If that fails, the answers are kept as by [`Output::stop`].
    ///
    /// # Errors
    /// The system's error, with the path; an older file at the path is untouched.
    pub fn finish(mut self) -> Result<(), OutputError> {
        #[cfg(feature = "parquet")]
        if let Some(columns) = self.columns.take() {
            columns.finish().map_err(|cause| OutputError::Io { name: self.name.clone(), cause })?;
        }
        let Target::Partial(output) = &mut self.target else { return Ok(()) };
        let name = self.name.clone();
        let fail = |cause| OutputError::Io { name, cause };
        if let Err(cause) = output.partial.commit() {
            let _ = self.stop();
            return Err(fail(cause));
        }
        match self.target {
            Target::Partial(output) => output.partial.finish().map_err(fail),
            Target::Standard(_) | Target::Direct(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;
    use crate::input::Version;

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
            let error = Output::check_apart(Some(&path(name)), "-o", input).unwrap_err();
            let file = path(file);
            let sentence = format!("{} is the input itself. Name another file with -o.", file.display());
            assert_eq!(error.to_string(), sentence);
        }
        for name in ["other", "new", "dangling", "none/file"] {
            Output::check_apart(Some(&path(name)), "-o", input).unwrap();
        }
        Output::check_apart(Some(Path::new("/dev/null")), "-o", input).unwrap();
        Output::check_apart(None, "-o", input).unwrap();
    }

    #[test]
    fn the_same_file_is_known_by_all_its_paths() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("deep")).unwrap();
        fs::write(path("old"), "").unwrap();
        for (link, target) in [("link", "old"), ("dangling", "new"), ("down", "deep")] {
            symlink(target, path(link)).unwrap();
        }
        for (one, other) in [
            ("old", "old"),
            ("old", "./old"),
            ("old", "deep/../old"),
            ("old", "link"),
            ("new", "new"),
            ("new", "deep/../new"),
            ("new", "dangling"),
            ("deep/new", "down/new"),
            ("none/new", "none/new"),
        ] {
            assert!(Output::is_same_file(&path(one), &path(other)), "{one} {other}");
            assert!(Output::is_same_file(&path(other), &path(one)), "{one} {other}");
        }
        for (one, other) in [("old", "new"), ("new", "deep/new"), ("link", "dangling"), ("none/a", "none/b")]
        {
            assert!(!Output::is_same_file(&path(one), &path(other)), "{one} {other}");
        }
        assert!(Output::is_same_file(Path::new("new-file"), Path::new("./new-file")));
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
    fn what_is_earlier_run_is_used_again() {
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

    /// A heading stands before the answers that are counted, and behind them a part of the next ones
    /// or a summary.
    #[test]
    fn what_is_written_behind_the_answers_that_are_counted_is_not_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let run = RunIdentity {
            program: "sudoku 1.0.0".to_owned(),
            command: "check".to_owned(),
            input: "/lists/a.txt".to_owned(),
            version: Version { bytes: 9, modified: (1, 2), changed: (3, 4), inode: 5 },
            options: Vec::new(),
        };
        let open = || Output::resumable(&path, false, run.clone(), true).unwrap();
        let prefix = Some(Prefix { bytes: 9, hash: 1 });
        // An output may still be empty.
        let mut output = open();
        output.add_rows(3, prefix, b"", 1, BTreeMap::new()).unwrap();
        output.write(b"a summary\n").unwrap();
        assert!(output.stop());
        let mut output = open();
        assert_eq!((output.progress().bytes, output.progress().tally.answers), (3, 1));
        output.write(b"heading\n").unwrap();
        output.add_rows(6, prefix, b"one\n", 2, BTreeMap::new()).unwrap();
        output.write(b"a part of two\n").unwrap();
        assert!(output.stop());
        let mut output = open();
        assert_eq!((output.progress().bytes, output.progress().tally.answers), (6, 3));
        output.write(b"two\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"heading\none\ntwo\n");
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
        assert_eq!(
            error.to_string(),
            "/no/such/folder/out: there is no folder /no/such/folder. Make it, or name another file."
        );
        let mut full = Output::file(Path::new("/dev/full"), false).unwrap();
        assert_eq!(
            full.write(b"x").unwrap_err().to_string(),
            "/dev/full: No space left on device (os error 28)"
        );
    }
}
