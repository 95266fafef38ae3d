//! Sources of bytes: a memory map, standard input, a pipe, a compressed file.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::Arc;

use super::compression::{decoder, is_compressed};
use super::prefix::PrefixHasher;
use super::stamp::{FileId, Stamp, Version};
use super::{InputError, Mapped, STANDARD_INPUT};

/// A source of bytes, with a name for messages.
pub struct Source {
    pub(super) name: String,
    pub(super) backing: Backing,
    /// The file they come from, if a run could overwrite it.
    file_id: Option<FileId>,
    /// The hash of what was read, if asked for.
    pub(super) hasher: Option<PrefixHasher>,
    /// The error that ended the reading, to be returned once all that came before it is handed out.
    pub(super) deferred: Option<InputError>,
    /// Nothing from this byte on is read.
    pub(super) end: u64,
}

/// The two ways in which a source gets its bytes.
pub(super) enum Backing {
    /// A mapped file, and the offset of the next byte to read.
    Map { map: Arc<Mapped>, at: usize },
    /// A stream that can only be read in order.
    Stream { stream: Box<dyn Read + Send>, is_compressed: bool, file: Option<Stamp> },
}

impl Source {
    /// Opens the input that a user named: a file, or `-` for standard input.
    ///
    /// Files compressed by gzip or Zstandard are decompressed, whatever they are called. A regular
    /// file is mapped if `may_map`.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn open(path: &Path, may_map: bool) -> Result<Self, InputError> {
        if path.as_os_str() == STANDARD_INPUT {
            let mut source = Self::reading("standard input".to_owned(), Box::new(io::stdin()))?;
            // Without metadata, no file stands behind standard input.
            let metadata =
                io::stdin().as_fd().try_clone_to_owned().and_then(|file| File::from(file).metadata());
            source.file_id = metadata.ok().as_ref().and_then(overwritable);
            return Ok(source);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| InputError::io(&name, error))?;
        Self::file(name, file, may_map)
    }

    /// A source of a file that is open already; `name` is for messages. See [`Source::open`].
    ///
    /// # Errors
    /// The system's, with the name.
    pub fn file(name: String, file: File, may_map: bool) -> Result<Self, InputError> {
        let metadata = file.metadata().map_err(|error| InputError::io(&name, error))?;
        let file_id = overwritable(&metadata);
        // Files of /proc claim to be regular and 0 bytes long, but have content.
        let is_regular = metadata.is_file() && metadata.len() > 0;
        if is_regular && may_map && !is_compressed(&file) {
            match Mapped::open(&file, name.clone()) {
                Ok(Some(map)) => return Ok(Self { file_id, ..Self::mapped(map) }),
                Ok(None) => tracing::debug!("{name} is read without a map: too many are mapped already"),
                // Reading takes hardly any memory.
                Err(error) if error.is_out_of_memory() => {
                    tracing::debug!("{name} is read without a map: the process may have no more memory");
                }
                Err(error) => return Err(error),
            }
        }
        let stamp =
            if is_regular { Some(Stamp::of(&file).map_err(|e| InputError::io(&name, e))?) } else { None };
        Ok(Self { file_id, ..Self::stream(name, Box::new(file), stamp)? })
    }

    /// A source of a mapped file, read from its start.
    #[must_use]
    pub fn mapped(map: Arc<Mapped>) -> Self {
        Self::new(map.name().to_owned(), Backing::Map { map, at: 0 })
    }

    pub(super) const fn new(name: String, backing: Backing) -> Self {
        Self { name, backing, file_id: None, hasher: None, deferred: None, end: u64::MAX }
    }

    /// Hashes the source while it is read, so that a later run can tell whether it reads the same
    /// bytes. See [`Chunk::prefix`](super::Chunk::prefix) and
    /// [`Reader::resume`](super::Reader::resume).
    #[must_use]
    pub fn hashed(mut self) -> Self {
        self.hasher = Some(PrefixHasher::new());
        self
    }

    /// A source of any stream, compressed or not; `name` is for messages.
    ///
    /// # Errors
    /// Errors of reading the first bytes.
    pub fn reading(name: String, stream: Box<dyn Read + Send>) -> Result<Self, InputError> {
        Self::stream(name, stream, None)
    }

    fn stream(name: String, stream: Box<dyn Read + Send>, file: Option<Stamp>) -> Result<Self, InputError> {
        let (stream, is_compressed) = decoder(stream).map_err(|error| InputError::io(&name, error))?;
        Ok(Self::new(name, Backing::Stream { stream, is_compressed, file }))
    }

    /// The name of the source in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length in bytes, where it is known beforehand.
    #[must_use]
    pub fn len_bytes(&self) -> Option<u64> {
        match &self.backing {
            Backing::Map { map, .. } => Some(map.len() as u64),
            Backing::Stream { is_compressed: false, file, .. } => file.as_ref().map(Stamp::len),
            Backing::Stream { .. } => None,
        }
    }

    /// The version of the file, by which changes are noticed; `None` if it is no regular file.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        match &self.backing {
            Backing::Map { map, .. } => Some(map.version()),
            Backing::Stream { file, .. } => file.as_ref().map(Stamp::version),
        }
    }

    /// The identity of the file, if writing to it would destroy its content: a regular file or a
    /// block device, opened by name or as standard input.
    #[must_use]
    pub const fn file_id(&self) -> Option<FileId> {
        self.file_id
    }

    /// Appends up to `room` bytes to `buffer` and returns how many; 0 only at the end. `before` is
    /// the number of bytes that have been read so far.
    pub(super) fn fill(
        &mut self,
        buffer: &mut Vec<u8>,
        room: usize,
        before: u64,
    ) -> Result<usize, InputError> {
        let length = self.fill_unhashed(buffer, room, before)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.add(before, &buffer[buffer.len() - length..]);
        }
        Ok(length)
    }

    fn fill_unhashed(&mut self, buffer: &mut Vec<u8>, room: usize, before: u64) -> Result<usize, InputError> {
        let room = room.min(usize::try_from(self.end.saturating_sub(before)).unwrap_or(usize::MAX));
        if room == 0 {
            return Ok(0);
        }
        if let Some(failure) = self.deferred.take() {
            return Err(failure);
        }
        match &mut self.backing {
            Backing::Map { map, at } => {
                let length = room.min(map.len() - *at);
                map.copy(*at..*at + length, buffer)?;
                *at += length;
                Ok(length)
            }
            Backing::Stream { stream, is_compressed, file } => {
                let old = buffer.len();
                buffer.resize(old + room, 0);
                let result = loop {
                    match stream.read(&mut buffer[old..]) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        result => break result,
                    }
                };
                buffer.truncate(old + result.as_ref().copied().unwrap_or(0));
                if let Some(stamp) = file
                    && let Err(changed) = stamp.check(&self.name)
                {
                    // The bytes just read may be old or new ones.
                    buffer.truncate(old);
                    return Err(changed);
                }
                match result {
                    // A file that shrank and grew again looks like one that ends here.
                    Ok(0) if !*is_compressed && file.as_ref().is_some_and(|stamp| before < stamp.len()) => {
                        Err(InputError::Shrunk { name: self.name.clone() })
                    }
                    Ok(length) => Ok(length),
                    Err(cause) if *is_compressed => {
                        let name = self.name.clone();
                        Err(InputError::Damaged { name, good_bytes: before, cause })
                    }
                    Err(cause) => Err(InputError::io(&self.name, cause)),
                }
            }
        }
    }
}

/// The identity of a file that stores what is written to it.
fn overwritable(metadata: &Metadata) -> Option<FileId> {
    let kind = metadata.file_type();
    (kind.is_file() || kind.is_block_device()).then(|| FileId::of(metadata))
}
