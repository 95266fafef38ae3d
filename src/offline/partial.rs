//! A file on its way to be whole.
//!
//! What will be OUT is `.OUT.sudoku-partial` beside it until then, and `.OUT.sudoku-journal` says how much of that is whole and
//! for which run. The names are always the same, so that the next run finds what one that was killed has left, and goes on
//! with it or begins anew in the same file.
//!
//! The partial file is locked as long as a run has it, by a lock of the system that goes with the
//! process. Only who has the lock touches either file. The rename to OUT gives up the lock of the
//! name, so it comes last. A lock belongs to a file and not to its name, so whoever has got one
//! looks whether the file is still the one with that name: the run before may just have given it
//! its place or removed it.
//!
//! Answers are written first and the journal after them, under another name that takes the place of the old one. So the
//! journal never speaks of answers that are not there. What comes after those it speaks of is cut off.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::journal::Journal;
use crate::input::FileId;

/// The longest name that file systems take.
const MAX_NAME_BYTES: usize = 255;

/// No journal is larger: five digits for each of the values of a histogram are a few hundred KiB.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// How often a file may be taken away by the run before, between opening and locking it.
const MAX_TRIES: usize = 1_000;

/// A file that is being written beside its place.
#[derive(Debug)]
pub(super) struct Partial {
    file: File,
    path: PathBuf,
    journal: PathBuf,
    /// The next journal, until it takes the place of the last one.
    fresh: PathBuf,
    /// Where it goes in the end, and the permissions of what stands there.
    place: PathBuf,
    mode: Option<u32>,
    is_durable: bool,
    /// Does it stay where it is when it is dropped?
    pub(super) stays: bool,
}

/// Why a partial file cannot be had.
#[derive(Debug)]
pub(super) enum Refused {
    /// Another run has it.
    InUse,
    /// Something else has its name.
    InTheWay(PathBuf),
    /// The system's words.
    Io(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Partial {
    /// Opens and locks the partial file of what is to stand at `place`, where `mode` are the permissions of what stands there
    /// now. What an earlier run has left is untouched.
    pub(super) fn open(place: PathBuf, mode: Option<u32>, is_durable: bool) -> Result<Self, Refused> {
        let [path, journal, fresh] = files_beside(&place);
        // A new file gets what the user's umask leaves of 0666, as from any program.
        let file = locked(&path, mode.map_or(0o666, |mode| mode | 0o600))?;
        let stays = file.metadata()?.len() > 0 || fs::symlink_metadata(&journal).is_ok();
        Ok(Self { file, path, journal, fresh, place, mode, is_durable, stays })
    }

    /// Forgets what an earlier run has left.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        // In this order: a journal must not speak of what is there no more.
        self.forget()?;
        if self.is_durable {
            sync_folder(&self.path)?;
        }
        self.stays = false;
        if let Some(mode) = self.mode {
            self.file.set_permissions(Permissions::from_mode(mode | 0o600))?;
        }
        if self.file.metadata()?.len() > 0 {
            self.file.set_len(0)?;
        }
        Ok(())
    }

    /// What an earlier run has left, if it can be made use of.
    pub(super) fn journal(&self) -> Option<Journal> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&self.journal)
            .ok()?;
        let mut text = Vec::new();
        file.take(MAX_JOURNAL_BYTES).read_to_end(&mut text).ok()?;
        let journal: Journal = serde_json::from_slice(&text).ok()?;
        // A file that was not synced before the machine went down may be shorter, or end in zeros.
        let mut last = [0];
        self.file.read_exact_at(&mut last, journal.output_bytes().checked_sub(1)?).ok()?;
        (last == *b"\n").then_some(journal)
    }

    /// Goes on after the first `bytes` bytes.
    pub(super) fn go_on(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::Start(bytes))?;
        Ok(())
    }

    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.write_all(text)
    }

    /// Remembers how far the run has come. False if that failed; what was remembered before still holds then.
    ///
    /// # Errors
    /// Only that the answers could not be synced: whoever goes on after that cannot trust the file.
    pub(super) fn mark(&self, journal: &Journal) -> io::Result<bool> {
        if self.is_durable {
            self.file.sync_data()?;
        }
        let is_marked = self.write_journal(journal).is_ok();
        if !is_marked {
            // Nothing more can be done where even this fails.
            let _ = remove(&self.fresh);
        }
        Ok(is_marked)
    }

    fn write_journal(&self, journal: &Journal) -> io::Result<()> {
        // A file of that name was left by a run that was killed, or was made by somebody else to
        // have it written to.
        remove(&self.fresh)?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(&self.fresh)?;
        file.write_all(&serde_json::to_vec(journal)?)?;
        if self.is_durable {
            file.sync_all()?;
        }
        fs::rename(&self.fresh, &self.journal)?;
        if self.is_durable {
            sync_folder(&self.journal)?;
        }
        Ok(())
    }

    /// Removes the journal, and the unfinished one of a run that was killed.
    fn forget(&self) -> io::Result<()> {
        remove(&self.fresh)?;
        remove(&self.journal)
    }

    /// Puts the file in its place. If that fails, it stays where it is, without a journal.
    ///
    /// The journal is removed before the rename, because only until then it is certainly ours: the
    /// rename gives up the lock of the name, and another run may make a journal of its own at once.
    /// What a kill leaves behind:
    /// - before the removal, a run that can be resumed from its last mark;
    /// - between the two system calls, all answers but no journal: a resumed run begins anew,
    ///   because nothing says that the answers are complete;
    /// - after the rename, the whole file.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        if let Some(mode) = self.mode {
            self.file.set_permissions(Permissions::from_mode(mode))?;
        }
        if self.is_durable {
            self.file.sync_all()?;
        }
        self.forget()?;
        self.stays = false;
        fs::rename(&self.path, &self.place)?;
        // From here on the names may belong to another run.
        self.stays = true;
        Ok(())
    }

    /// Ends the work on a file that is in its place.
    pub(super) fn finish(self) -> io::Result<()> {
        if self.is_durable {
            sync_folder(&self.place)?;
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.stays {
            // What cannot be removed is left to the next run.
            let _ = self.forget();
            let _ = remove(&self.path);
        }
    }
}

/// The file at `path`, made if need be, and locked.
fn locked(path: &Path, mode: u32) -> Result<File, Refused> {
    for _ in 0..MAX_TRIES {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(mode)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path);
        let in_the_way = || Refused::InTheWay(path.to_owned());
        let file = match opened {
            Err(_) if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) => {
                return Err(in_the_way());
            }
            opened => opened?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(in_the_way());
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Refused::InUse),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let is_same = |found: fs::Metadata| FileId::of(&found) == FileId::of(&metadata);
        if fs::symlink_metadata(path).is_ok_and(is_same) {
            return Ok(file);
        }
    }
    Err(Refused::InUse)
}

/// The working files of the output at `place`: the partial file, its journal, and the next journal.
pub(super) fn files_beside(place: &Path) -> [PathBuf; 3] {
    [".sudoku-partial", ".sudoku-journal", ".sudoku-journal-new"].map(|ending| beside(place, ending))
}

/// `folder/NAME` becomes `folder/.NAMEending`, with as much of the name as file systems take.
fn beside(place: &Path, ending: &str) -> PathBuf {
    let name = place.file_name().unwrap_or_default().as_bytes();
    let mut length = name.len().min(MAX_NAME_BYTES - 1 - ".sudoku-journal-new".len());
    while length < name.len() && length > 0 && name[length] & 0xC0 == 0x80 {
        // Not in the middle of a character: some file systems mind.
        length -= 1;
    }
    let name = [b".", &name[..length], ending.as_bytes()].concat();
    folder_of(place).join(std::ffi::OsString::from_vec(name))
}

/// Removes a file that may be missing.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Progress, Run};
    use super::*;
    use crate::input::{Prefix, Version};

    fn journal(bytes: u64) -> Journal {
        let version = Version { bytes: 9, modified: (1, 2), changed: (3, 4), inode: 5 };
        let (program, input) = ("sudoku 1.0.0".to_owned(), "/lists/a.txt".to_owned());
        let run = Run { program, input, version, options: Vec::new() };
        let progress = Progress { prefix: Some(Prefix { bytes: 9, hash: 1 }), ..Progress::default() };
        Journal::new(&run, &progress, bytes, Duration::ZERO).unwrap()
    }

    /// After its rename, a run touches nothing that the next one may have made.
    #[test]
    fn the_journal_of_the_next_run_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.txt");
        for is_durable in [false, true] {
            let mut first = Partial::open(out.clone(), None, is_durable).unwrap();
            first.write(b"first\n").unwrap();
            assert!(first.mark(&journal(6)).unwrap());
            first.commit().unwrap();
            // At this moment the next run begins, and makes a mark.
            let mut second = Partial::open(out.clone(), None, is_durable).unwrap();
            assert!(second.journal().is_none());
            second.begin().unwrap();
            second.write(b"second\n").unwrap();
            assert!(second.mark(&journal(7)).unwrap());
            first.finish().unwrap();
            assert_eq!(second.journal().unwrap().output_bytes(), 7);
            second.commit().unwrap();
            second.finish().unwrap();
            assert_eq!(fs::read(&out).unwrap(), b"second\n");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    /// When the rename fails, the answers can be marked again, and are removed otherwise.
    #[test]
    fn what_cannot_be_put_in_its_place_has_no_journal() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.txt");
        let mut partial = Partial::open(out.clone(), None, false).unwrap();
        partial.write(b"first\n").unwrap();
        assert!(partial.mark(&journal(6)).unwrap());
        partial.stays = true;
        fs::create_dir(&out).unwrap();
        partial.commit().unwrap_err();
        assert!(partial.journal().is_none() && !partial.stays);
        assert!(partial.mark(&journal(6)).unwrap());
        assert!(partial.journal().is_some());
        drop(partial);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Others can foresee the name of the next journal: their file is not written to, and their
    /// FIFO not waited for.
    #[test]
    fn what_has_the_name_of_the_next_journal_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.txt");
        let [_, journal_path, fresh] = files_beside(&out);
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let mut partial = Partial::open(out, None, false).unwrap();
        partial.write(b"first\n").unwrap();
        fs::hard_link(&victim, &fresh).unwrap();
        assert!(partial.mark(&journal(6)).unwrap());
        assert!(std::process::Command::new("mkfifo").arg(&fresh).status().unwrap().success());
        assert!(partial.mark(&journal(6)).unwrap());
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(partial.journal().unwrap().output_bytes(), 6);
        // The unfinished journal of a run that was killed is removed with the rest.
        fs::write(&fresh, "half").unwrap();
        partial.commit().unwrap();
        assert!(!fresh.exists() && !journal_path.exists());
    }

    #[test]
    fn names_stand_beside_the_place_and_are_never_too_long() {
        assert_eq!(beside(Path::new("a/out.txt"), ".x"), Path::new("a/.out.txt.x"));
        assert_eq!(beside(Path::new("out.txt"), ".x"), Path::new("./.out.txt.x"));
        let long = "é".repeat(127) + "x";
        for ending in [".sudoku-partial", ".sudoku-journal", ".sudoku-journal-new"] {
            let name = beside(Path::new(&long), ending);
            let name = name.file_name().unwrap().to_str().unwrap();
            assert!(name.len() <= MAX_NAME_BYTES && name.ends_with(ending), "{name}");
        }
    }
}
