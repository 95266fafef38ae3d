//! Files and streams of puzzles, read in chunks of whole puzzles.
//!
//! A [`Source`] is where bytes come from: a memory map, standard input, a pipe, a compressed file. A [`Reader`]
//! finds out how they are written and cuts them into [`Chunk`]s. All sources take the same path: bytes
//! are copied out once, and only the copy is looked at, because a mapped file can change at any moment.
//!
//! Memory stays the same however long the input or a line of it is: a chunk is at most twice [`CHUNK_BYTES`] (or what a
//! reader is told instead), or
//! that and an unfinished puzzle of several lines, and a line that is longer than any puzzle can be is cut
//! short on the way in.
//!
//! An input that fails half-way is an error, but only after all puzzles before have been handed out.

mod index;
mod map;
mod prefix;
mod shard;
mod stamp;
mod validate;

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek as _, Write as _};
use std::mem;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use prefix::PrefixHasher;
use stamp::Stamp;

use crate::answer::Block;
use crate::grid::Grid;
use crate::text::{
    BYTE_ORDER_MARK, Format, FormatError, Hint, MAX_LINE_BYTES, MAX_TRIPLES_BYTES, Records, SAMPLE_BYTES,
    detect, skip_blank_lines,
};

pub use index::{Pick, Picked, PuzzleIndex, pick};
pub use map::Mapped;
pub use prefix::Prefix;
pub use shard::{NotAShard, Shard};
pub use stamp::{FileId, Version};
pub use validate::{Stopped, validate};

/// How many bytes are read at a time, unless a reader is told otherwise: about 1,600 puzzles of 81 cells.
pub const CHUNK_BYTES: usize = 128 * 1024;

/// The longest line that is passed over to find its end. None of it is kept, so it costs no memory; but a device that never
/// ends a line would be read for ever.
pub const MAX_PASSED_BYTES: u64 = 256 << 20;

/// The name that stands for standard input on the command line.
pub const STANDARD_INPUT: &str = "-";

/// Why an input cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The operating system's words.
    #[error("{name}: {cause}")]
    Io {
        /// The input.
        name: String,
        /// What the system says.
        cause: io::Error,
    },
    /// There is no puzzle in it.
    #[error("{name} is empty.")]
    Empty {
        /// The input.
        name: String,
    },
    /// It became shorter while it was being read.
    #[error("{name} was cut short while it was being read. Run again when nothing writes to it.")]
    Shrunk {
        /// The input.
        name: String,
    },
    /// Its content changed while it was being read.
    #[error("{name} was changed while it was being read. Run again when nothing writes to it.")]
    Changed {
        /// The input.
        name: String,
    },
    /// A compressed file that is damaged or incomplete.
    #[error("{name} is damaged after {good_bytes} bytes of text: {cause}")]
    Damaged {
        /// The input.
        name: String,
        /// How much of its content could be read.
        good_bytes: u64,
        /// What the decompressor says.
        cause: io::Error,
    },
    /// One puzzle of a notation with several lines a puzzle goes on and on.
    #[error("{name} has a puzzle that does not end within {MAX_TRIPLES_BYTES} bytes of line {line}.")]
    TooLong {
        /// The input.
        name: String,
        /// Where the puzzle begins.
        line: u64,
    },
    /// A line goes on and on, be it a puzzle or a comment.
    #[error("{name} has a line that does not end within {MAX_PASSED_BYTES} bytes: line {line}.")]
    Endless {
        /// The input.
        name: String,
        /// The line.
        line: u64,
    },
    /// It was to be cut into parts, but nobody knows where they end.
    #[error("{name} cannot be cut into parts, because its length is not known. {advice}")]
    NotShardable {
        /// The input.
        name: String,
        /// What to do.
        advice: &'static str,
    },
    /// It is not written in a way that can be read.
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl InputError {
    fn io(name: &str, cause: io::Error) -> Self {
        Self::Io { name: name.to_owned(), cause }
    }

    /// The same error with another name for the input.
    #[must_use]
    pub fn renamed(mut self, other: &str) -> Self {
        match &mut self {
            Self::Io { name, .. }
            | Self::Empty { name }
            | Self::Shrunk { name }
            | Self::Changed { name }
            | Self::Damaged { name, .. }
            | Self::TooLong { name, .. }
            | Self::Endless { name, .. }
            | Self::NotShardable { name, .. } => other.clone_into(name),
            Self::Format(_) => {}
        }
        self
    }

    fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == io::ErrorKind::OutOfMemory)
    }
}

/// Where bytes come from.
pub struct Source {
    name: String,
    feed: Feed,
    /// The file they come from, if a run could overwrite it.
    file_id: Option<FileId>,
    /// The hash of what was read, if asked for.
    hasher: Option<PrefixHasher>,
    /// What ended the reading, to be told once all that came before it is handed out.
    failure: Option<InputError>,
    /// Nothing from this byte on is read.
    end: u64,
}

enum Feed {
    /// A mapped file, and how far it is read.
    Map { map: Arc<Mapped>, at: usize },
    /// Anything that can only be read in order.
    Stream { stream: Box<dyn Read + Send>, is_compressed: bool, file: Option<Stamp> },
}

impl Source {
    /// Opens what a user named: a file, or `-` for standard input. Files compressed by gzip or Zstandard are
    /// read as what they hold, whatever they are called. A regular file is mapped if `may_map`.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn open(path: &Path, may_map: bool) -> Result<Self, InputError> {
        if path.as_os_str() == STANDARD_INPUT {
            let mut source = Self::reading("standard input".to_owned(), Box::new(io::stdin()))?;
            // A standard input that cannot be asked has no file behind it.
            let metadata =
                io::stdin().as_fd().try_clone_to_owned().and_then(|file| File::from(file).metadata());
            source.file_id = metadata.ok().as_ref().and_then(overwritable);
            return Ok(source);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| InputError::io(&name, error))?;
        Self::file(name, file, may_map)
    }

    /// The same for a file that is open already; `name` is for messages.
    ///
    /// # Errors
    /// The system's, with the name.
    pub fn file(name: String, file: File, may_map: bool) -> Result<Self, InputError> {
        let metadata = file.metadata().map_err(|error| InputError::io(&name, error))?;
        let file_id = overwritable(&metadata);
        // Files of /proc call themselves regular and 0 bytes long; only reading tells.
        let is_regular = metadata.is_file() && metadata.len() > 0;
        if is_regular && may_map && !is_compressed(&file) {
            match Mapped::open(&file, name.clone()) {
                Ok(Some(map)) => return Ok(Self { file_id, ..Self::mapped(map) }),
                Ok(None) => tracing::debug!("{name} is read without a map: too many are mapped already"),
                // Reading takes next to none.
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

    /// A file that is mapped already, read from its start.
    #[must_use]
    pub fn mapped(map: Arc<Mapped>) -> Self {
        Self::new(map.name().to_owned(), Feed::Map { map, at: 0 })
    }

    const fn new(name: String, feed: Feed) -> Self {
        Self { name, feed, file_id: None, hasher: None, failure: None, end: u64::MAX }
    }

    /// The same source, hashed while it is read, so that a later run can tell whether it reads the
    /// same. See [`Chunk::prefix`] and [`Reader::resume`].
    #[must_use]
    pub fn hashed(mut self) -> Self {
        self.hasher = Some(PrefixHasher::new());
        self
    }

    /// Anything that can be read in order, compressed or not; `name` is for messages.
    ///
    /// # Errors
    /// What reading the first bytes meets.
    pub fn reading(name: String, stream: Box<dyn Read + Send>) -> Result<Self, InputError> {
        Self::stream(name, stream, None)
    }

    fn stream(
        name: String,
        mut stream: Box<dyn Read + Send>,
        file: Option<Stamp>,
    ) -> Result<Self, InputError> {
        let mut magic = Vec::new();
        stream
            .by_ref()
            .take(ZSTD_MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(|error| InputError::io(&name, error))?;
        let kind = compression(&magic);
        let whole = io::Cursor::new(magic).chain(stream);
        let stream: Box<dyn Read + Send> = match kind {
            None => Box::new(whole),
            Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(whole))),
            Some(Compression::Zstandard) => Box::new(
                zstd::stream::read::Decoder::new(whole).map_err(|error| InputError::io(&name, error))?,
            ),
        };
        Ok(Self::new(name, Feed::Stream { stream, is_compressed: kind.is_some(), file }))
    }

    /// Makes an input that can be read more than once. What is not mapped is copied into a temporary file
    /// that has no name and goes when it is closed.
    ///
    /// # Errors
    /// What reading or writing meets.
    pub fn rewindable(mut self) -> Result<Rewindable, InputError> {
        if let Feed::Map { map, .. } = &self.feed {
            return Ok(Rewindable::Map(Arc::clone(map)));
        }
        let mut file = tempfile::tempfile().map_err(|error| InputError::io("temporary file", error))?;
        let (mut buffer, mut taken) = (Vec::with_capacity(CHUNK_BYTES), 0);
        while self.fill(&mut buffer, CHUNK_BYTES, taken)? > 0 {
            taken += buffer.len() as u64;
            file.write_all(&buffer).map_err(|error| InputError::io("temporary file", error))?;
            buffer.clear();
        }
        Ok(Rewindable::Copy { name: self.name, file })
    }

    /// What to call it in a message.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length in bytes, where it is known beforehand.
    #[must_use]
    pub fn len_bytes(&self) -> Option<u64> {
        match &self.feed {
            Feed::Map { map, .. } => Some(map.len() as u64),
            Feed::Stream { is_compressed: false, file, .. } => file.as_ref().map(Stamp::len),
            Feed::Stream { .. } => None,
        }
    }

    /// What tells whether the file was changed; `None` if it is no regular file.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        match &self.feed {
            Feed::Map { map, .. } => Some(map.version()),
            Feed::Stream { file, .. } => file.as_ref().map(Stamp::version),
        }
    }

    /// The identity of the file, if a run that writes to it would destroy its content: of a regular
    /// file or a block device, by name or as standard input.
    #[must_use]
    pub const fn file_id(&self) -> Option<FileId> {
        self.file_id
    }

    /// Appends up to `room` bytes to `buffer`; 0 only at the end. `before` bytes have been read by now.
    fn fill(&mut self, buffer: &mut Vec<u8>, room: usize, before: u64) -> Result<usize, InputError> {
        let length = self.fill_from_feed(buffer, room, before)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.add(before, &buffer[buffer.len() - length..]);
        }
        Ok(length)
    }

    fn fill_from_feed(
        &mut self,
        buffer: &mut Vec<u8>,
        room: usize,
        before: u64,
    ) -> Result<usize, InputError> {
        let room = room.min(usize::try_from(self.end.saturating_sub(before)).unwrap_or(usize::MAX));
        if room == 0 {
            return Ok(0);
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match &mut self.feed {
            Feed::Map { map, at } => {
                let length = room.min(map.len() - *at);
                map.copy(*at..*at + length, buffer)?;
                *at += length;
                Ok(length)
            }
            Feed::Stream { stream, is_compressed, file } => {
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
                    // Nobody knows whether what was just read is old or new.
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

    /// Finds out how the input is written and reads on from there.
    ///
    /// # Errors
    /// What reading meets, [`InputError::Empty`] if there is nothing but blank lines and comments, and
    /// [`InputError::Format`] if it cannot be made sense of.
    pub fn read(mut self, hint: &Hint) -> Result<Reader, InputError> {
        let mut sample = Vec::with_capacity(SAMPLE_BYTES);
        let (mut taken, mut line, mut at_end) = (0u64, 1u64, false);
        // How much of a line is passed over that has not ended.
        let mut passed = 0u64;
        // A byte-order mark is one at the beginning only.
        let mut is_begin = true;
        // The sample is filled whatever size a pipe's pieces have, so that detection always sees the same.
        loop {
            while sample.len() < SAMPLE_BYTES && !at_end {
                let room = SAMPLE_BYTES - sample.len();
                match self.fill(&mut sample, room, taken) {
                    Ok(length) => {
                        taken += length as u64;
                        at_end = length == 0;
                    }
                    Err(failure) if sample.is_empty() => return Err(failure),
                    Err(failure) => {
                        self.failure = Some(failure);
                        at_end = true;
                    }
                }
            }
            let has_mark = mem::take(&mut is_begin) && sample.starts_with(BYTE_ORDER_MARK);
            let mark = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
            let (skipped, lines) = skip_blank_lines(&sample[mark..], at_end);
            line += lines;
            passed = if lines > 0 { 0 } else { passed };
            sample.drain(..mark + skipped);
            if sample.len() < SAMPLE_BYTES {
                if at_end {
                    break;
                }
            } else if !sample.contains(&b'\n') && skip_blank_lines(&sample, true).0 > 0 {
                // A line that is no puzzle fills the sample. As a comment it goes as it comes.
                passed += sample.len() as u64;
                if passed > MAX_PASSED_BYTES {
                    return Err(InputError::Endless { name: self.name, line });
                }
                sample.clear();
                sample.push(b'#');
            } else {
                break;
            }
        }
        let is_blank = |text: &[u8]| skip_blank_lines(text, true).0 == text.len();
        let whole = sample.len() < SAMPLE_BYTES;
        if sample.is_empty() {
            return Err(self.failure.unwrap_or(InputError::Empty { name: self.name }));
        }
        let opening = detect(&sample, hint).map_err(|error| error.below(line - 1))?;
        let prelude = sample.drain(..opening.body).collect();
        line += opening.lines;
        if whole && is_blank(&sample) {
            return Err(self.failure.unwrap_or(InputError::Empty { name: self.name }));
        }
        Ok(Reader {
            source: self,
            format: opening.format,
            prelude,
            pending: sample,
            taken,
            line,
            is_at_start: true,
            first_byte: 0,
            passed: None,
            chunk_bytes: CHUNK_BYTES,
            last_line: u64::MAX,
            buffers: Buffers::default(),
        })
    }
}

/// An input that can be read more than once.
pub enum Rewindable {
    /// A mapped file; if it changes between two readings, the later one is an error.
    Map(Arc<Mapped>),
    /// A copy of something that can only be read in order.
    Copy {
        /// What to call it in a message.
        name: String,
        /// The copy.
        file: File,
    },
}

impl Rewindable {
    /// The input from its start. Only one reading at a time.
    ///
    /// # Errors
    /// The system's.
    pub fn source(&self) -> Result<Source, InputError> {
        match self {
            Self::Map(map) => Ok(Source::mapped(Arc::clone(map))),
            Self::Copy { name, file } => {
                let fail = |error| InputError::io(name, error);
                let rewound =
                    file.try_clone().and_then(|mut file| file.rewind().map(|()| file)).map_err(fail)?;
                let stamp = Stamp::of(&rewound).map_err(fail)?;
                // The copy holds what was unpacked, so it is read as it is even if that looks
                // compressed.
                let feed =
                    Feed::Stream { stream: Box::new(rewound), is_compressed: false, file: Some(stamp) };
                Ok(Source::new(name.clone(), feed))
            }
        }
    }
}

/// The identity of a file that keeps what is written to it.
fn overwritable(metadata: &Metadata) -> Option<FileId> {
    let kind = metadata.file_type();
    (kind.is_file() || kind.is_block_device()).then(|| FileId::of(metadata))
}

enum Compression {
    Gzip,
    Zstandard,
}

const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

fn compression(start: &[u8]) -> Option<Compression> {
    if start.starts_with(&GZIP_MAGIC) {
        Some(Compression::Gzip)
    } else if start.starts_with(&ZSTD_MAGIC) {
        Some(Compression::Zstandard)
    } else {
        None
    }
}

/// Does a file that can be read at any place begin like one compressed by gzip or Zstandard?
#[must_use]
pub fn is_compressed(file: &File) -> bool {
    use std::os::unix::fs::FileExt as _;
    let mut magic = [0; ZSTD_MAGIC.len()];
    let length = file.read_at(&mut magic, 0).unwrap_or(0);
    compression(&magic[..length]).is_some()
}

/// Buffers that go round: chunks give theirs back when they are dropped.
type Buffers = Arc<Mutex<Vec<Vec<u8>>>>;

/// A copy of a part of the input that holds whole puzzles.
#[derive(Debug)]
pub struct Chunk {
    text: Vec<u8>,
    first_line: u64,
    end: u64,
    prefix: Option<Prefix>,
    buffers: Buffers,
}

impl Chunk {
    /// The text and the number of its first line.
    #[must_use]
    pub fn block(&self) -> Block<'_> {
        Block { text: &self.text, first_line: self.first_line }
    }

    /// How many bytes of the input, uncompressed, come before the next chunk.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Length and hash of what had been read of the input when the chunk was handed out: the chunk
    /// and some bytes behind it. `None` unless the source is [`Source::hashed`].
    #[must_use]
    pub const fn prefix(&self) -> Option<Prefix> {
        self.prefix
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let buffer = mem::take(&mut self.text);
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

/// Cuts an input into chunks.
pub struct Reader {
    source: Source,
    format: Format,
    /// The line that says how what follows is written, where there is one.
    prelude: Vec<u8>,
    /// What is read but not handed out: an unfinished puzzle, at most.
    pending: Vec<u8>,
    /// Bytes read from the source.
    taken: u64,
    /// The number of the next chunk's first line.
    line: u64,
    /// Is the next chunk the first of the input?
    is_at_start: bool,
    /// Where in the input the part of it begins that is read.
    first_byte: u64,
    /// How much of an overlong line has been passed over, while its end has not been found.
    passed: Option<u64>,
    /// How much is read at a time.
    chunk_bytes: usize,
    /// No line after this one is handed out.
    last_line: u64,
    buffers: Buffers,
}

impl Reader {
    /// How the input is written.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// The line before the first puzzle that says how what follows is written: a header, the heading row of
    /// a table. Empty for other notations. Whoever passes the chunks on has to pass it on too.
    #[must_use]
    pub fn prelude(&self) -> &[u8] {
        &self.prelude
    }

    /// What to call the input in a message.
    #[must_use]
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The length in bytes, where it is known beforehand.
    #[must_use]
    pub fn len_bytes(&self) -> Option<u64> {
        self.source.len_bytes()
    }

    /// Which bytes of the input are read: all, or those of a part. The end is known where the length is.
    #[must_use]
    pub fn span(&self) -> (u64, Option<u64>) {
        (self.first_byte, self.len_bytes().map(|length| length.min(self.source.end)))
    }

    /// The number of the line with which the next chunk begins.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// Bytes of the source before the next chunk.
    const fn offset(&self) -> u64 {
        self.taken - self.pending.len() as u64
    }

    /// Is nothing of the input passed over, and nothing handed out?
    #[must_use]
    pub const fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    /// Passes over all puzzles that begin before line `first` and stops before those that begin after line `last`, both
    /// counted from 1 through the whole input.
    ///
    /// # Errors
    /// What reading meets.
    pub fn limit_lines(&mut self, first: u64, last: u64) -> Result<(), InputError> {
        while self.line < first {
            let Some(mut chunk) = self.next_chunk()? else { break };
            if self.line > first {
                // The range may begin inside this chunk: give the rest of it back.
                let (at, line) = begin_from(&self.format, chunk.block(), first);
                let mut rest = chunk.text.split_off(at);
                if !rest.is_empty() {
                    rest.append(&mut self.pending);
                    self.pending = rest;
                    self.line = line;
                    break;
                }
            }
        }
        self.last_line = last;
        Ok(())
    }

    /// From now on reads about so many bytes at a time, instead of [`CHUNK_BYTES`]. Where chunks of a file end depends on
    /// nothing else, wherever in the file reading began.
    pub const fn read_in_chunks_of(&mut self, bytes: usize) {
        self.chunk_bytes = bytes;
    }

    /// The next chunk, or `None` at the end.
    ///
    /// # Errors
    /// What reading meets. All that came before it has been handed out by then.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, InputError> {
        if self.line > self.last_line {
            return Ok(None);
        }
        let recycled = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffer = recycled.unwrap_or_default();
        buffer.clear();
        // Where there is no memory left, it is most likely here that it shows.
        buffer
            .try_reserve_exact(2 * self.chunk_bytes)
            .map_err(|_| InputError::io(self.name(), io::ErrorKind::OutOfMemory.into()))?;
        buffer.append(&mut self.pending);
        let mut cut = 0;
        if buffer.len() >= self.chunk_bytes {
            cut = self.format.cut(&buffer, false);
            if cut == 0 {
                self.bound(&mut buffer)?;
            }
        }
        while cut == 0 {
            let old = buffer.len();
            let length = match self.source.fill(&mut buffer, self.room(), self.taken) {
                Ok(length) => length,
                Err(failure) => {
                    // What came before it is handed out first, but for a puzzle that may not be whole.
                    cut = self.format.cut(&buffer, false);
                    if cut == 0 {
                        return Err(failure);
                    }
                    self.source.failure = Some(failure);
                    break;
                }
            };
            self.taken += length as u64;
            if let Some(passed) = self.passed {
                // Keep the newline that ends the line; drop what comes before it.
                let end = memchr::memchr(b'\n', &buffer[old..]);
                let passed = passed + length as u64;
                self.passed = (end.is_none() && length > 0).then_some(passed);
                buffer.drain(old..end.map_or(buffer.len(), |end| old + end));
                if self.passed.is_some_and(|passed| passed > MAX_PASSED_BYTES) {
                    let line = self.line + memchr::memchr_iter(b'\n', &buffer).count() as u64;
                    return Err(InputError::Endless { name: self.name().to_owned(), line });
                }
            }
            let at_end = length == 0;
            cut = self.format.cut(&buffer, at_end);
            if at_end {
                break;
            }
            if cut == 0 {
                self.bound(&mut buffer)?;
            }
        }
        self.pending.extend_from_slice(&buffer[cut..]);
        buffer.truncate(cut);
        if buffer.is_empty() {
            return Ok(None);
        }
        let mut lines = memchr::memchr_iter(b'\n', &buffer).count() as u64;
        lines += u64::from(buffer.last() != Some(&b'\n'));
        let first_line = self.line;
        self.line += lines;
        if self.line - 1 > self.last_line {
            let block = Block { text: &buffer, first_line };
            let (end, _) = begin_from(&self.format, block, self.last_line + 1);
            buffer.truncate(end);
        }
        self.is_at_start = false;
        let prefix = self.source.hasher.as_ref().map(PrefixHasher::prefix);
        let (end, buffers) = (self.offset(), Arc::clone(&self.buffers));
        Ok(Some(Chunk { text: buffer, first_line, end, prefix, buffers }))
    }

    /// How much to read next: up to the next multiple of the size of a chunk.
    fn room(&self) -> usize {
        let past = self.taken % self.chunk_bytes as u64;
        self.chunk_bytes - usize::try_from(past).unwrap_or(0)
    }

    /// Keeps an unfinished puzzle within bounds.
    fn bound(&mut self, buffer: &mut Vec<u8>) -> Result<(), InputError> {
        let line_start = memchr::memrchr(b'\n', buffer).map_or(0, |end| end + 1);
        if buffer.len() - line_start > MAX_LINE_BYTES {
            buffer.truncate(line_start + MAX_LINE_BYTES);
            self.passed = Some(0);
        }
        if buffer.len() > MAX_TRIPLES_BYTES {
            return Err(InputError::TooLong { name: self.name().to_owned(), line: self.line });
        }
        Ok(())
    }
}

/// Where in a block the first puzzle begins that does so on line `line` or later, and the number of the line there. The
/// block has to begin before that line.
fn begin_from(format: &Format, block: Block<'_>, line: u64) -> (usize, u64) {
    let text = block.text;
    if format.is_by_line() {
        let lines = usize::try_from(line - block.first_line).unwrap_or(usize::MAX);
        let end = memchr::memchr_iter(b'\n', text).nth(lines - 1);
        return end.map_or((text.len(), line), |end| (end + 1, line));
    }
    let mut records = Records::new(format, text, block.first_line);
    let mut puzzle = Grid::empty(format.order());
    loop {
        let (at, first_line) = (text.len() - records.rest().len(), records.line());
        match records.read(&mut puzzle) {
            Some(record) if record.line < line => {}
            Some(_) => return (at, first_line),
            None => return (text.len(), first_line),
        }
    }
}
