//! Sources of text: a memory map, standard input, a pipe, a compressed file.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "parquet")]
use super::columnar::{self, ParquetFile, ParquetText};
use super::compression::decompressed;
use super::kind::{ContentKind, Named, Peeked};
use super::live::Live;
use super::npy::{self, NpyText};
use super::prefix::PrefixHasher;
use super::stamp::{FileId, Stamp, Version};
use super::utf16::{ByteOrder, Utf16Reader};
use super::{CHUNK_BYTES, InputError, Mapped, STANDARD_INPUT, zip};
use crate::grid::Order;

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
    /// The terminal, pipe or socket that it is read from, uncompressed.
    live: Option<Live>,
    /// The order of the puzzles, if they are those of an array of NumPy, a line each.
    pub(super) npy_order: Option<Order>,
    /// The Parquet file whose text it is.
    #[cfg(feature = "parquet")]
    parquet: Option<Arc<ParquetFile>>,
}

/// The two ways in which a source gets its bytes.
pub(super) enum Backing {
    /// A mapped file, and the offset of the next byte to read.
    Map { map: Arc<Mapped>, at: usize },
    /// A stream that can only be read in order.
    Stream { stream: Box<dyn Read + Send>, decoding: Option<Decoding>, file: Option<Stamp> },
}

/// The way in which the bytes of a source become text, where they are not text as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoding {
    /// Decompressed, and then perhaps from UTF-16.
    Compressed,
    /// From UTF-16.
    Utf16,
    /// From an array of NumPy.
    Npy,
    /// From the columns of a Parquet file.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Source {
    /// Opens the input that a user named: a file, or `-` for standard input.
    ///
    /// What is not plain text is known by its first bytes, whatever it is called: compressed files
    /// and zip archives of one file are decompressed, and UTF-16 is read as UTF-8. A regular file of
    /// plain text is mapped if `may_map`.
    ///
    /// # Errors
    /// The system's, with the path; [`InputError::Foreign`] for what cannot be read.
    pub fn open(path: &Path, may_map: bool) -> Result<Self, InputError> {
        if path.as_os_str() == STANDARD_INPUT {
            let name = "standard input".to_owned();
            // The file itself, because `Stdin` has a buffer that hides how much can be read.
            let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
            let file = file.map_err(|error| InputError::io(&name, error))?;
            let metadata = file.metadata().map_err(|error| InputError::io(&name, error))?;
            refuse_folder(&metadata, &Named { name: &name, is_file: false })?;
            return Self::of_file(name, file, &metadata);
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
        refuse_folder(&metadata, &Named { name: &name, is_file: true })?;
        // Files of /proc claim to be regular and 0 bytes long, but have content.
        let is_regular = metadata.is_file() && (metadata.len() > 0 || has_no_byte(&file));
        if !is_regular {
            return Self::of_file(name, file, &metadata);
        }
        let fail = |error| InputError::io(&name, error);
        if metadata.len() == 0 {
            // It is read, because nothing cannot be mapped.
            let stamp = Stamp::of(&file).map_err(fail)?;
            let backing = Backing::Stream { stream: Box::new(file), decoding: None, file: Some(stamp) };
            return Ok(Self { file_id: FileId::of_content(&metadata), ..Self::new(name, backing) });
        }
        let kind = ContentKind::of_file(&file).map_err(fail)?;
        if kind == ContentKind::Text && may_map {
            match Mapped::open(&file, name.clone()) {
                Ok(Some(map)) => {
                    return Ok(Self { file_id: FileId::of_content(&metadata), ..Self::mapped(map) });
                }
                Ok(None) => tracing::debug!("{name} is read without a map: too many are mapped already"),
                // Reading takes hardly any memory.
                Err(error) if error.is_out_of_memory() => {
                    tracing::debug!("{name} is read without a map: the process may have no more memory");
                }
                Err(error) => return Err(error),
            }
        }
        let stamp = Stamp::of(&file).map_err(fail)?;
        #[cfg(feature = "parquet")]
        if kind == ContentKind::Parquet {
            let mut source = Self::columns(name, file, Some(stamp))?;
            source.file_id = FileId::of_content(&metadata);
            return Ok(source);
        }
        let input = Named { name: &name, is_file: true };
        let listed = if kind == ContentKind::Zip { zip::open_file(&file, &input)? } else { None };
        let (text, decoding) = match listed {
            Some(content) => (unpacked(content, &input)?, Some(Decoding::Compressed)),
            None => decoded(Box::new(file), kind, &input)?,
        };
        let backing = Backing::Stream { stream: text.stream, decoding, file: Some(stamp) };
        let file_id = FileId::of_content(&metadata);
        Ok(Self { file_id, npy_order: text.npy_order, ..Self::new(name, backing) })
    }

    /// A source of a file that is read in order, from wherever it stands.
    fn of_file(name: String, file: File, metadata: &Metadata) -> Result<Self, InputError> {
        let file = Arc::new(file);
        let live = Live::of(&file, metadata);
        let mut source = Self::stream(name, Box::new(file))?;
        source.file_id = FileId::of_content(metadata);
        // A decoder may hold text that the file no longer shows.
        source.live = live.filter(|_| !source.is_decoded());
        Ok(source)
    }

    /// A source of a mapped file, read from its start.
    #[must_use]
    pub fn mapped(map: Arc<Mapped>) -> Self {
        Self::new(map.name().to_owned(), Backing::Map { map, at: 0 })
    }

    pub(super) const fn new(name: String, backing: Backing) -> Self {
        Self {
            name,
            backing,
            file_id: None,
            hasher: None,
            deferred: None,
            end: u64::MAX,
            live: None,
            npy_order: None,
            #[cfg(feature = "parquet")]
            parquet: None,
        }
    }

    /// A source of the rows of a Parquet file, opened.
    #[cfg(feature = "parquet")]
    fn columns(name: String, file: File, stamp: Option<Stamp>) -> Result<Self, InputError> {
        let opened =
            ParquetFile::open(file).map_err(|error| match InputError::decoding(&name, 0, error) {
                InputError::Damaged { name, cause, .. } => InputError::Io { name, cause },
                other => other,
            })?;
        Ok(Self::rows_of(name, Arc::new(opened), stamp))
    }

    /// A source of the rows of an open Parquet file, read from the first one.
    #[cfg(feature = "parquet")]
    pub(super) fn rows_of(name: String, parquet: Arc<ParquetFile>, stamp: Option<Stamp>) -> Self {
        let stream = Box::new(ParquetText::new(Arc::clone(&parquet)));
        let backing = Backing::Stream { stream, decoding: Some(Decoding::Parquet), file: stamp };
        Self { parquet: Some(parquet), ..Self::new(name, backing) }
    }

    /// The Parquet file whose text it is, if it is one.
    #[cfg(feature = "parquet")]
    pub(super) const fn parquet(&self) -> Option<&Arc<ParquetFile>> {
        self.parquet.as_ref()
    }

    /// Hashes the source while it is read, so that a later run can tell whether it reads the same
    /// bytes. See [`Chunk::prefix`](super::Chunk::prefix) and
    /// [`Reader::resume`](super::Reader::resume).
    #[must_use]
    pub fn hashed(mut self) -> Self {
        self.hasher = Some(PrefixHasher::new());
        self
    }

    /// A source of any stream, decoded as [`Source::open`] describes; `name` is for messages.
    ///
    /// # Errors
    /// Errors of reading the first bytes; [`InputError::Foreign`] for what cannot be read.
    pub fn reading(name: String, stream: Box<dyn Read + Send>) -> Result<Self, InputError> {
        Self::stream(name, stream)
    }

    fn stream(name: String, stream: Box<dyn Read + Send>) -> Result<Self, InputError> {
        let (mut stream, kind) = Peeked::new(stream);
        if let Some(error) = stream.failed_at_once() {
            return Err(InputError::io(&name, error));
        }
        #[cfg(feature = "parquet")]
        if kind == ContentKind::Parquet {
            let file = columnar::spooled(stream).map_err(|error| InputError::io(&name, error))?;
            return Self::columns(name, file, None);
        }
        let stream: Box<dyn Read + Send> = Box::new(stream);
        let (text, decoding) = match kind {
            ContentKind::Text => (stream.into(), None),
            _ => decoded(stream, kind, &Named { name: &name, is_file: false })?,
        };
        let backing = Backing::Stream { stream: text.stream, decoding, file: None };
        Ok(Self { npy_order: text.npy_order, ..Self::new(name, backing) })
    }

    /// The whole text, decoded, if it has at most `most` bytes. No more than that is read.
    ///
    /// # Errors
    /// Those of reading and decoding.
    pub fn text_within(mut self, most: usize) -> Result<Option<Vec<u8>>, InputError> {
        if self.len_bytes().is_some_and(|length| length > most as u64) {
            return Ok(None);
        }
        let mut text = Vec::new();
        while text.len() <= most {
            let (left, before) = (most + 1 - text.len(), text.len() as u64);
            if self.fill(&mut text, left.min(CHUNK_BYTES), before)? == 0 {
                return Ok(Some(text));
            }
        }
        Ok(None)
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
            Backing::Stream { decoding: None, file, .. } => file.as_ref().map(Stamp::len),
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

    /// Whether somebody types it at a terminal.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.live.as_ref().is_some_and(Live::is_terminal)
    }

    /// Whether it is a terminal, pipe or socket.
    pub(super) const fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Whether reading on would wait for somebody who writes, or find the end. False where that is
    /// not known, and for files, whose bytes are all there.
    pub(super) fn is_drained(&self) -> bool {
        self.live.as_ref().is_some_and(Live::is_drained)
    }

    const fn is_decoded(&self) -> bool {
        matches!(self.backing, Backing::Stream { decoding: Some(_), .. })
    }

    /// Appends up to `capacity` bytes to `buffer` and returns how many; 0 only at the end. `before`
    /// is the number of bytes that have been read so far.
    pub(super) fn fill(
        &mut self,
        buffer: &mut Vec<u8>,
        capacity: usize,
        before: u64,
    ) -> Result<usize, InputError> {
        let length = self.fill_unhashed(buffer, capacity, before)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.add(before, &buffer[buffer.len() - length..]);
        }
        Ok(length)
    }

    fn fill_unhashed(
        &mut self,
        buffer: &mut Vec<u8>,
        capacity: usize,
        before: u64,
    ) -> Result<usize, InputError> {
        let capacity = capacity.min(usize::try_from(self.end.saturating_sub(before)).unwrap_or(usize::MAX));
        if capacity == 0 {
            return Ok(0);
        }
        if let Some(failure) = self.deferred.take() {
            return Err(failure);
        }
        match &mut self.backing {
            Backing::Map { map, at } => {
                let length = capacity.min(map.len() - *at);
                map.copy(*at..*at + length, buffer)?;
                *at += length;
                Ok(length)
            }
            Backing::Stream { stream, decoding, file } => {
                let old = buffer.len();
                buffer.resize(old + capacity, 0);
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
                    Ok(0)
                        if decoding.is_none() && file.as_ref().is_some_and(|stamp| before < stamp.len()) =>
                    {
                        Err(InputError::Shrunk { name: self.name.clone() })
                    }
                    Ok(length) => Ok(length),
                    Err(cause) if decoding.is_some() => Err(InputError::decoding(&self.name, before, cause)),
                    Err(cause) => Err(InputError::io(&self.name, cause)),
                }
            }
        }
    }
}

/// A stream of text, and the order of its puzzles if it is made of an array of NumPy.
struct DecodedText {
    stream: Box<dyn Read + Send>,
    npy_order: Option<Order>,
}

impl From<Box<dyn Read + Send>> for DecodedText {
    fn from(stream: Box<dyn Read + Send>) -> Self {
        Self { stream, npy_order: None }
    }
}

#[cfg(feature = "parquet")]
const PACKED_PARQUET: &str = "contains a Parquet file, which is read from its end: decompress it first.";

/// The text of a stream of this kind. Not inlined, because decoders take 32 KiB of the stack, which
/// the start of a function touches page by page.
#[inline(never)]
fn decoded(
    stream: Box<dyn Read + Send>,
    kind: ContentKind,
    input: &Named<'_>,
) -> Result<(DecodedText, Option<Decoding>), InputError> {
    let content = match kind {
        ContentKind::Text => return Ok((stream.into(), None)),
        ContentKind::Utf16(order) => {
            return Ok((converted(stream, order).into(), Some(Decoding::Utf16)));
        }
        ContentKind::Npy => return Ok((array(stream, input)?, Some(Decoding::Npy))),
        // It begins at its end, so whoever opens one has a file and not a stream.
        #[cfg(feature = "parquet")]
        ContentKind::Parquet => return Err(input.refused(PACKED_PARQUET)),
        ContentKind::Foreign(foreign) => return Err(foreign.error(input, false)),
        ContentKind::Compressed(compression) => decompressed(stream, compression),
        ContentKind::Zip => zip::open_stream(stream, input),
    };
    let content = content.map_err(|error| InputError::decoding(input.name, 0, error))?;
    Ok((unpacked(content, input)?, Some(Decoding::Compressed)))
}

/// The puzzles of an array of NumPy, a line each.
fn array(mut stream: impl Read + Send + 'static, input: &Named<'_>) -> Result<DecodedText, InputError> {
    let shape = npy::read_header(&mut stream).map_err(|error| {
        match InputError::decoding(input.name, 0, error) {
            // Advice names the file.
            InputError::Foreign { what, .. } => input.refused(&what.replace("FILE", input.file())),
            other => other,
        }
    })?;
    let npy_order = Some(shape.order());
    Ok(DecodedText { stream: Box::new(NpyText::new(stream, shape)), npy_order })
}

/// The text of a stream in UTF-16.
fn converted(stream: Box<dyn Read + Send>, order: ByteOrder) -> Box<dyn Read + Send> {
    Box::new(Utf16Reader::new(stream, order))
}

/// The text of what came out of a compressed file.
fn unpacked(content: Box<dyn Read + Send>, input: &Named<'_>) -> Result<DecodedText, InputError> {
    let (content, kind) = Peeked::new(content);
    let text: Box<dyn Read + Send> = match kind {
        ContentKind::Text => Box::new(content),
        ContentKind::Utf16(order) => converted(Box::new(content), order),
        ContentKind::Npy => return array(content, input),
        #[cfg(feature = "parquet")]
        ContentKind::Parquet => return Err(input.refused(PACKED_PARQUET)),
        ContentKind::Foreign(foreign) => return Err(foreign.error(input, true)),
        ContentKind::Compressed(_) | ContentKind::Zip => {
            return Err(input.refused("is compressed twice: decompress it once, and read what comes out."));
        }
    };
    Ok(text.into())
}

/// The error of a folder, for which the system has words but no advice.
fn refuse_folder(metadata: &Metadata, input: &Named<'_>) -> Result<(), InputError> {
    if !metadata.is_dir() {
        return Ok(());
    }
    let all =
        input.plain_name().map(|folder| format!(", {}/* for all of them", folder.trim_end_matches('/')));
    Err(input.refused(&format!("is a folder: name its files{}.", all.unwrap_or_default())))
}

/// Whether a file that is said to be empty is: those of /proc may have content all the same.
fn has_no_byte(file: &File) -> bool {
    file.read_at(&mut [0], 0).is_ok_and(|length| length == 0)
}
