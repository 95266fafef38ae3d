//! Identity and version of a file: which file it is, and whether its content is unchanged.

use std::fs::{File, Metadata};
use std::io::{self, Seek as _};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};

use serde::{Deserialize, Serialize};

use super::InputError;

/// The identity of a file, whatever its name: its device and inode. While a file is open, no other
/// file has the same identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The identity of the file that `metadata` describes.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The identity of a file whose content writing to it would destroy: a regular file or a block
    /// device.
    #[must_use]
    pub fn of_content(metadata: &Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        (kind.is_file() || kind.is_block_device()).then(|| Self::of(metadata))
    }
}

/// The version of a file: it differs after the file was written to, and between it and a file that
/// takes its name.
///
/// The device is left out, because versions are compared across restarts of the machine, and many
/// file systems get another device number whenever they are mounted. A file from elsewhere differs
/// in its time of change, which programs cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The length in bytes.
    pub bytes: u64,
    /// When the content was last modified: seconds since 1970 and nanoseconds. Programs such as `cp
    /// -p` set it.
    pub modified: (i64, i64),
    /// When content, names, permissions or the modification time were last changed: seconds since
    /// 1970 and nanoseconds.
    pub changed: (i64, i64),
    /// The inode.
    pub inode: u64,
}

impl Version {
    /// The version of the file that `metadata` describes.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }
}

/// An open file and its version, to be compared later.
#[derive(Debug)]
pub(super) struct Stamp {
    file: File,
    version: Version,
}

impl Stamp {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self { file: file.try_clone()?, version: Version::of(&file.metadata()?) })
    }

    /// The same file and version once more.
    #[cfg(feature = "parquet")]
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, version: self.version })
    }

    pub(super) const fn len(&self) -> u64 {
        self.version.bytes
    }

    pub(super) const fn version(&self) -> Version {
        self.version
    }

    /// Appends up to `capacity` bytes from `offset` on and returns how many; 0 only at the end.
    pub(super) fn read_at(&self, offset: u64, capacity: usize, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let old = buffer.len();
        buffer.resize(old + capacity, 0);
        let result = loop {
            match self.file.read_at(&mut buffer[old..], offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        buffer.truncate(old + result.as_ref().copied().unwrap_or(0));
        result
    }

    /// The file, positioned at `offset`. It shares its position with the file that this stamp was
    /// made of, so that one must not be read any more.
    pub(super) fn file_at(&self, offset: u64) -> io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.seek(io::SeekFrom::Start(offset))?;
        Ok(file)
    }

    /// Whether the version is unchanged, names and permissions included.
    pub(super) fn is_current(&self) -> bool {
        self.file.metadata().is_ok_and(|now| Version::of(&now) == self.version)
    }

    /// Fails if the content has changed. New permissions or links are no reason to stop reading.
    pub(super) fn check(&self, name: &str) -> Result<(), InputError> {
        let now = self.file.metadata().map_err(|error| InputError::io(name, error))?;
        if now.len() < self.version.bytes {
            return Err(InputError::Shrunk { name: name.to_owned() });
        }
        if now.len() != self.version.bytes || (now.mtime(), now.mtime_nsec()) != self.version.modified {
            return Err(InputError::Changed { name: name.to_owned() });
        }
        Ok(())
    }
}
