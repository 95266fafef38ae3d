//! Where answers go: standard output, or a file that is whole or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The operating system's words on an output.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {cause}")]
pub struct OutputError {
    /// The output.
    pub name: String,
    /// What the system says.
    pub cause: io::Error,
}

/// Where answers go. Nothing is buffered: every write is a block of answers.
///
/// A regular file is written under another name beside its place and takes its place in
/// [`Output::finish`]; without that it is gone when the output is dropped. Anything else that has a name, a
/// device or a FIFO, is written straight.
pub struct Output {
    name: String,
    place: Place,
}

enum Place {
    Standard(io::Stdout),
    Straight(File),
    Atomic { temporary: NamedTempFile, path: PathBuf, is_durable: bool },
}

impl Output {
    /// Standard output.
    #[must_use]
    pub fn standard() -> Self {
        Self { name: "standard output".to_owned(), place: Place::Standard(io::stdout()) }
    }

    /// The file at `path`. With `is_durable`, file and folder are synced before [`Output::finish`] returns.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn file(path: &Path, is_durable: bool) -> Result<Self, OutputError> {
        let name = path.display().to_string();
        match Self::open(path, is_durable) {
            Ok(place) => Ok(Self { name, place }),
            Err(cause) => Err(OutputError { name, cause }),
        }
    }

    fn open(path: &Path, is_durable: bool) -> io::Result<Place> {
        // A link is followed, so that the file it names is replaced and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&path);
        if let Ok(old) = &old
            && !old.is_file()
        {
            return OpenOptions::new().write(true).open(&path).map(Place::Straight);
        }
        // A new file gets what the user's umask leaves of 0666, as from any program; an old one keeps its mode.
        let mode = old.map_or(0o666, |old| old.permissions().mode() & 0o7777);
        let temporary =
            tempfile::Builder::new().prefix(".sudoku-").suffix(".tmp").make_in(folder_of(&path), |name| {
                OpenOptions::new().write(true).create_new(true).mode(mode).open(name)
            })?;
        Ok(Place::Atomic { temporary, path, is_durable })
    }

    /// Writes whole answers.
    ///
    /// # Errors
    /// The system's, with the name of the output.
    pub fn write(&mut self, text: &[u8]) -> Result<(), OutputError> {
        let result = match &mut self.place {
            Place::Standard(stdout) => stdout.write_all(text).and_then(|()| stdout.flush()),
            Place::Straight(file) => file.write_all(text),
            Place::Atomic { temporary, .. } => temporary.as_file_mut().write_all(text),
        };
        result.map_err(|cause| OutputError { name: self.name.clone(), cause })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// The system's, with the path; the file that stood there before is untouched.
    pub fn finish(self) -> Result<(), OutputError> {
        let result = match self.place {
            Place::Standard(_) | Place::Straight(_) => Ok(()),
            Place::Atomic { temporary, path, is_durable } => put(temporary, &path, is_durable),
        };
        result.map_err(|cause| OutputError { name: self.name, cause })
    }
}

fn put(temporary: NamedTempFile, path: &Path, is_durable: bool) -> io::Result<()> {
    if is_durable {
        temporary.as_file().sync_all()?;
    }
    temporary.persist(path).map_err(|error| error.error)?;
    if is_durable {
        File::open(folder_of(path))?.sync_all()?;
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_file_is_whole_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut output = Output::file(&path, true).unwrap();
        output.write(b"one\n").unwrap();
        assert!(!path.exists());
        drop(output);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut output = Output::file(&path, true).unwrap();
        output.write(b"one\n").unwrap();
        output.write(b"two\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_and_the_old_mode_too() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut output = Output::file(&link, false).unwrap();
        output.write(b"new").unwrap();
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
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
