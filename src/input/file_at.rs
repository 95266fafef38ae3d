//! Files that are read from an offset on, so that readers of one file do not disturb each other.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// A file from an offset on, wherever its own position is.
pub struct FileAt {
    file: Arc<File>,
    at: u64,
}

impl FileAt {
    /// The file from this offset on, read in pieces of so many bytes.
    pub(super) fn buffered(file: &Arc<File>, at: u64, bytes: usize) -> BufReader<Self> {
        BufReader::with_capacity(bytes, Self { file: Arc::clone(file), at })
    }
}

impl Read for FileAt {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}
