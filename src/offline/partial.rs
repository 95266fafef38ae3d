//! Atomic output: written beside its target, renamed at the end.
//!
//! Until the end, OUT is `.OUT.sudoku-partial` beside it, and `.OUT.sudoku-journal` records how
//! much of that is complete and for which run. The names are fixed, so the next run finds what a
//! killed run has left, and resumes it or begins anew in the same file.
//!
//! **Invariant:** only the run that holds the lock of the partial file touches either file. The
//! system releases the lock when the process ends. The rename to OUT gives up the lock of the name,
//! so it comes last. A lock belongs to a file and not to its name, so a run that has got one checks
//! whether the file still has that name, because the run before may just have renamed or removed
//! it.
//!
//! **Invariant:** the journal never covers answers that are not in the file. Answers are written
//! first, and then a new journal under another name, which replaces the old one. Bytes behind the
//! covered ones are cut off when a run resumes.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::journal::Journal;
use crate::input::FileId;

/// The longest name that file systems take.
const MAX_NAME_BYTES: usize = 255;

/// The largest journal that is read. Real ones have a few hundred KiB at most: five digits for each
/// value of a histogram.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// The size of the pieces in which a file is read back.
const READ_BACK_BYTES: usize = 256 * 1024;

/// The most attempts to lock a file that other runs rename or remove between opening and locking.
const MAX_TRIES: usize = 1_000;

/// A file that is being written beside its target.
#[derive(Debug)]
pub(super) struct Partial {
    file: File,
    path: PathBuf,
    journal: PathBuf,
    /// The next journal, until it replaces the last one.
    next_journal: PathBuf,
    /// The path that the file is renamed to.
    target: PathBuf,
    /// The permissions of an older file at that path.
    mode: Option<u32>,
    is_durable: bool,
    /// Whether the file stays when this is dropped.
    pub(super) keep_on_drop: bool,
}

/// The error of a partial file that cannot be opened.
#[derive(Debug)]
pub(super) enum PartialError {
    /// Another run holds the lock.
    InUse,
    /// Something that is no regular file has this name.
    InTheWay(PathBuf),
    /// Nothing may be made in this folder, whatever holds for a file that is there.
    Folder(PathBuf, io::Error),
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for PartialError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Partial {
    /// Opens and locks the partial file of `target`, where `mode` are the permissions of an older
    /// file there. What an earlier run has left is untouched.
    pub(super) fn open(target: PathBuf, mode: Option<u32>, is_durable: bool) -> Result<Self, PartialError> {
        let [path, journal, next_journal] = files_beside(&target);
        // A new file has the permissions 0666 without the user's umask, as from any program.
        let file = locked(&path, mode.map_or(0o666, |mode| mode | 0o600))?;
        let keep_on_drop = file.metadata()?.len() > 0 || fs::symlink_metadata(&journal).is_ok();
        Ok(Self { file, path, journal, next_journal, target, mode, is_durable, keep_on_drop })
    }

    /// Removes what an earlier run has left.
    pub(super) fn reset(&mut self) -> io::Result<()> {
        // First the journals, because a journal must not cover answers that are gone.
        self.remove_journals()?;
        if self.is_durable {
            sync_folder(&self.path)?;
        }
        self.keep_on_drop = false;
        if let Some(mode) = self.mode {
            self.file.set_permissions(Permissions::from_mode(mode | 0o600))?;
        }
        if self.file.metadata()?.len() > 0 {
            self.file.set_len(0)?;
        }
        Ok(())
    }

    /// The journal of an earlier run, if it is valid.
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
        // Where nothing was reported, there is nothing that could be missing.
        let mut last = *b"\n";
        if let Some(place) = journal.output_bytes().checked_sub(1) {
            self.file.read_exact_at(&mut last, place).ok()?;
        }
        (last == *b"\n").then_some(journal)
    }

    /// Continues behind the first `bytes` bytes, and cuts off the rest.
    pub(super) fn continue_at(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::Start(bytes))?;
        Ok(())
    }

    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.write_all(text)
    }

    /// Another handle of the file, which shares the position in it.
    #[cfg(feature = "parquet")]
    pub(super) fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Writes over the first bytes.
    pub(super) fn write_at_start(&self, text: &[u8]) -> io::Result<()> {
        self.file.write_all_at(text, 0)
    }

    /// Hands out the whole file in pieces, with their offsets.
    pub(super) fn read_back(&self, mut add: impl FnMut(u64, &[u8])) -> io::Result<()> {
        let (mut buffer, mut offset) = (vec![0; READ_BACK_BYTES], 0);
        loop {
            match self.file.read_at(&mut buffer, offset) {
                Ok(0) => return Ok(()),
                Ok(length) => {
                    add(offset, &buffer[..length]);
                    offset += length as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Records how far the run has come. False if that failed; the checkpoint before it still holds
    /// then.
    ///
    /// # Errors
    /// Only that the answers could not be synced, because after that the file cannot be trusted.
    pub(super) fn checkpoint(&self, journal: &Journal) -> io::Result<bool> {
        if self.is_durable {
            self.file.sync_data()?;
        }
        let is_recorded = self.write_journal(journal).is_ok();
        if !is_recorded {
            // If even this fails, nothing more can be done.
            let _ = remove(&self.next_journal);
        }
        Ok(is_recorded)
    }

    fn write_journal(&self, journal: &Journal) -> io::Result<()> {
        // A file of that name was left by a killed run, or was planted to be written to.
        remove(&self.next_journal)?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(&self.next_journal)?;
        file.write_all(&serde_json::to_vec(journal)?)?;
        if self.is_durable {
            file.sync_all()?;
        }
        fs::rename(&self.next_journal, &self.journal)?;
        if self.is_durable {
            sync_folder(&self.journal)?;
        }
        Ok(())
    }

    /// Removes the journal, and the unfinished one of a killed run.
    fn remove_journals(&self) -> io::Result<()> {
        remove(&self.next_journal)?;
        remove(&self.journal)
    }

    /// Renames the file to its target. If that fails, it stays where it is, without a journal.
    ///
    /// The journal is removed before the rename, because only until then it is certainly ours: the
    /// rename gives up the lock of the name, and another run may make a journal of its own at once.
    /// A kill leaves behind:
    /// - before the removal, a run that can be resumed from its last checkpoint;
    /// - between the two system calls, all answers but no journal: a resumed run begins anew,
    ///   because nothing records that the answers are complete;
    /// - after the rename, the complete file.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        if let Some(mode) = self.mode {
            self.file.set_permissions(Permissions::from_mode(mode))?;
        }
        if self.is_durable {
            self.file.sync_all()?;
        }
        self.remove_journals()?;
        self.keep_on_drop = false;
        fs::rename(&self.path, &self.target)?;
        // From here on the partial file's name may belong to another run.
        self.keep_on_drop = true;
        Ok(())
    }

    /// Ends the work on a file that was renamed to its target.
    pub(super) fn finish(self) -> io::Result<()> {
        if self.is_durable {
            sync_folder(&self.target)?;
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.keep_on_drop {
            // A file that cannot be removed is left to the next run.
            let _ = self.remove_journals();
            let _ = remove(&self.path);
        }
    }
}

/// Opens the file at `path`, or makes it, and locks it.
fn locked(path: &Path, mode: u32) -> Result<File, PartialError> {
    for _ in 0..MAX_TRIES {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(mode)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path);
        let in_the_way = || PartialError::InTheWay(path.to_owned());
        let file = match opened {
            Err(_) if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) => {
                return Err(in_the_way());
            }
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied
                    && fs::symlink_metadata(path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound) =>
            {
                return Err(PartialError::Folder(folder_of(path).to_owned(), error));
            }
            opened => opened?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(in_the_way());
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(PartialError::InUse),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let is_same = |found: fs::Metadata| FileId::of(&found) == FileId::of(&metadata);
        if fs::symlink_metadata(path).is_ok_and(is_same) {
            return Ok(file);
        }
    }
    Err(PartialError::InUse)
}

/// The working files of the output at `target`: the partial file, its journal, and the next
/// journal.
pub(super) fn files_beside(target: &Path) -> [PathBuf; 3] {
    [".sudoku-partial", ".sudoku-journal", ".sudoku-journal-new"].map(|ending| beside(target, ending))
}

/// `folder/NAME` becomes `folder/.NAMEending`, with as much of the name as file systems take.
fn beside(target: &Path, ending: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().as_bytes();
    let mut length = name.len().min(MAX_NAME_BYTES - 1 - ".sudoku-journal-new".len());
    while length < name.len() && length > 0 && name[length] & 0xC0 == 0x80 {
        // Not in the middle of a character, because some file systems refuse such names.
        length -= 1;
    }
    let name = [b".", &name[..length], ending.as_bytes()].concat();
    folder_of(target).join(std::ffi::OsString::from_vec(name))
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

    use super::super::{Progress, RunIdentity};
    use super::*;
    use crate::input::{Prefix, Version};

    fn journal(bytes: u64) -> Journal {
        let version = Version { bytes: 9, modified: (1, 2), changed: (3, 4), inode: 5 };
        let (program, input) = ("sudoku 1.0.0".to_owned(), "/lists/a.txt".to_owned());
        let run = RunIdentity { program, command: "solve".to_owned(), input, version, options: Vec::new() };
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
            assert!(first.checkpoint(&journal(6)).unwrap());
            first.commit().unwrap();
            // At this moment the next run begins, and makes a checkpoint.
            let mut second = Partial::open(out.clone(), None, is_durable).unwrap();
            assert!(second.journal().is_none());
            second.reset().unwrap();
            second.write(b"second\n").unwrap();
            assert!(second.checkpoint(&journal(7)).unwrap());
            first.finish().unwrap();
            assert_eq!(second.journal().unwrap().output_bytes(), 7);
            second.commit().unwrap();
            second.finish().unwrap();
            assert_eq!(fs::read(&out).unwrap(), b"second\n");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    /// When the rename fails, the answers can be recorded again, and are removed otherwise.
    #[test]
    fn what_cannot_be_put_in_its_place_has_no_journal() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.txt");
        let mut partial = Partial::open(out.clone(), None, false).unwrap();
        partial.write(b"first\n").unwrap();
        assert!(partial.checkpoint(&journal(6)).unwrap());
        partial.keep_on_drop = true;
        fs::create_dir(&out).unwrap();
        partial.commit().unwrap_err();
        assert!(partial.journal().is_none() && !partial.keep_on_drop);
        assert!(partial.checkpoint(&journal(6)).unwrap());
        assert!(partial.journal().is_some());
        drop(partial);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Other users can foresee the name of the next journal: a file there is not written to, and a
    /// FIFO not waited for.
    #[test]
    fn what_has_the_name_of_the_next_journal_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.txt");
        let [_, journal_path, next_journal] = files_beside(&out);
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let mut partial = Partial::open(out, None, false).unwrap();
        partial.write(b"first\n").unwrap();
        fs::hard_link(&victim, &next_journal).unwrap();
        assert!(partial.checkpoint(&journal(6)).unwrap());
        assert!(std::process::Command::new("mkfifo").arg(&next_journal).status().unwrap().success());
        assert!(partial.checkpoint(&journal(6)).unwrap());
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(partial.journal().unwrap().output_bytes(), 6);
        // The unfinished journal of a run that was killed is removed with the rest.
        fs::write(&next_journal, "half").unwrap();
        partial.commit().unwrap();
        assert!(!next_journal.exists() && !journal_path.exists());
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
