//! Zip archives of one file: its content, decompressed as it is read.
//!
//! The list of files is at the end of an archive. A file on disk is read by that list. A pipe
//! cannot be: there the headers before the files are read one after another, and that there is a
//! second file is noticed behind the first one.
//!
//! Folders, and what macOS adds to its archives, do not count as files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::BUFFER_BYTES;
use super::InputError;
use super::error::LateRefusal;
use super::file_at::FileAt;
use super::kind::{Named, OFFICE};

const LOCAL_HEADER: u32 = 0x0403_4B50;
const LISTED: u32 = 0x0201_4B50;
const DESCRIPTOR: u32 = 0x0807_4B50;
const END: u32 = 0x0605_4B50;
const END_64: u32 = 0x0606_4B50;
const END_64_LOCATOR: u32 = 0x0706_4B50;

const END_BYTES: usize = 22;
const LOCATOR_BYTES: usize = 20;

const ENCRYPTED: u16 = 1 << 0;
/// Checksum and sizes come behind the content, because they were not known before it.
const IS_DESCRIBED_BEHIND: u16 = 1 << 3;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

fn damaged(cause: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, cause)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes[at..].first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// What a header tells of a file.
struct ZipEntry {
    flags: u16,
    method: u16,
    checksum: u32,
    compressed: u64,
    size: u64,
    /// Where its local header is, if this one is in the list.
    offset: u64,
    name: Vec<u8>,
    /// Whether its sizes have 64 bits.
    is_large: bool,
}

impl ZipEntry {
    /// Reads the part that both kinds of headers have in common, and the name. `fields` begins with
    /// the flags.
    fn read(stream: &mut impl Read, fields: &[u8], offset: u32, comment: u16) -> io::Result<Self> {
        let [name, extra] = [20, 22].map(|at| usize::from(u16_at(fields, at)));
        let mut rest = vec![0; name + extra + usize::from(comment)];
        stream.read_exact(&mut rest)?;
        let mut entry = Self {
            flags: u16_at(fields, 0),
            method: u16_at(fields, 2),
            checksum: u32_at(fields, 8),
            compressed: u64::from(u32_at(fields, 12)),
            size: u64::from(u32_at(fields, 16)),
            offset: u64::from(offset),
            name: rest[..name].to_vec(),
            is_large: false,
        };
        entry.read_large(&rest[name..name + extra]);
        Ok(entry)
    }

    /// Takes what does not fit into 32 bits from the extra fields.
    fn read_large(&mut self, mut extra: &[u8]) {
        while extra.len() >= 4 {
            let (id, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
            let (field, rest) = extra[4..].split_at(length.min(extra.len() - 4));
            extra = rest;
            if id == 1 {
                self.is_large = true;
                let mut numbers = field.chunks_exact(8).map(|bytes| u64_at(bytes, 0));
                for number in [&mut self.size, &mut self.compressed, &mut self.offset] {
                    if *number == u64::from(u32::MAX)
                        && let Some(large) = numbers.next()
                    {
                        *number = large;
                    }
                }
            }
        }
    }

    fn is_folder(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// Whether it is no file of the user.
    fn is_skipped(&self) -> bool {
        let file = self.name.rsplit(|&byte| byte == b'/').next();
        self.is_folder() || self.name.starts_with(b"__MACOSX/") || file == Some(b".DS_Store")
    }

    fn is_of_office(&self) -> bool {
        [&b"[Content_Types].xml"[..], b"mimetype"].contains(&&self.name[..])
    }

    /// What is wrong with an archive that has it, if it cannot be read.
    fn refusal(&self, file: &str) -> Option<String> {
        if self.flags & ENCRYPTED != 0 {
            return Some(format!("is an encrypted zip archive: decrypt it first, such as by 7z x {file}"));
        }
        let method = match self.method {
            STORED | DEFLATED => return None,
            9 => "Deflate64",
            12 => "bzip2",
            14 => "LZMA",
            93 => "Zstandard",
            95 => "xz",
            98 => "PPMd",
            _ => "an unknown method",
        };
        Some(format!(
            "is a zip archive compressed by {method} instead of Deflate: 7z x -so {file} | sudoku solve -"
        ))
    }
}

/// The content of the only file of an archive on disk; `None` if the list of files is missing, as
/// in an archive that is cut off.
///
/// # Errors
/// [`InputError::Foreign`] for an archive that is refused, [`InputError::Damaged`], and the
/// system's.
pub(super) fn open_file(file: &File, input: &Named<'_>) -> Result<Option<Box<dyn Read + Send>>, InputError> {
    let fail = |cause: io::Error| InputError::decoding(input.name, 0, cause);
    let file = Arc::new(file.try_clone().map_err(fail)?);
    let Some((mut list, entries)) = find_list(&file).map_err(fail)? else { return Ok(None) };
    let (mut only, mut files, mut is_of_office) = (None, 0_u64, false);
    for _ in 0..entries {
        let entry = read_listed(&mut list).map_err(fail)?;
        is_of_office |= entry.is_of_office();
        if !entry.is_skipped() {
            files += 1;
            only.get_or_insert(entry);
        }
    }
    if is_of_office {
        return Err(OFFICE.error(input, false));
    }
    let Some(only) = only else { return Err(input.refused("is a zip archive without a file.")) };
    if files > 1 {
        return Err(input.refused(&several(&format!("{files} files"), input.file())));
    }
    if let Some(refusal) = only.refusal(input.file()) {
        return Err(input.refused(&refusal));
    }
    let mut stream = FileAt::buffered(&file, only.offset, BUFFER_BYTES);
    if read_signature(&mut stream).map_err(fail)? != Some(LOCAL_HEADER) {
        return Err(fail(damaged("its list of files points beside the file")));
    }
    read_local(&mut stream).map_err(fail)?;
    // The list has what the local header may not have.
    let content = Content::new(&ZipEntry { flags: only.flags & !IS_DESCRIBED_BEHIND, ..only });
    let archive = Archive { stream, content: Some(content), is_listed: true, file: input.file().to_owned() };
    Ok(Some(Box::new(archive)))
}

/// The content of the only file of an archive that comes in order, as from a pipe.
///
/// # Errors
/// Those of reading, and a [`LateRefusal`].
pub(super) fn open_stream(
    stream: impl Read + Send + 'static,
    input: &Named<'_>,
) -> io::Result<Box<dyn Read + Send>> {
    let stream = BufReader::with_capacity(BUFFER_BYTES, stream);
    let mut archive = Archive { stream, content: None, is_listed: false, file: input.file().to_owned() };
    let Some(entry) = archive.next_file()? else {
        return Err(LateRefusal::error("is a zip archive without a file."));
    };
    if entry.is_of_office() {
        return Err(LateRefusal::error(OFFICE.sentence(input, false)));
    }
    archive.begin(&entry)?;
    Ok(Box::new(archive))
}

/// The refusal of an archive of several files, behind its name.
fn several(files: &str, file: &str) -> String {
    format!("is a zip archive of {files}: unzip -p {file} NAME | sudoku solve -")
}

/// The list of files at the end of an archive, and their number.
fn find_list(file: &Arc<File>) -> io::Result<Option<(BufReader<FileAt>, u64)>> {
    let length = file.metadata()?.len();
    // What ends an archive may be followed by a comment.
    let tail_bytes = length.min((END_BYTES + usize::from(u16::MAX) + LOCATOR_BYTES) as u64);
    let mut tail = vec![0; usize::try_from(tail_bytes).unwrap_or_default()];
    file.read_exact_at(&mut tail, length - tail_bytes)?;
    let is_end = |&at: &usize| {
        let comment = usize::from(u16_at(&tail, at + 20));
        u32_at(&tail, at) == END && at + END_BYTES + comment <= tail.len()
    };
    let Some(at) = (0..(tail.len() + 1).saturating_sub(END_BYTES)).rev().find(is_end) else {
        return Ok(None);
    };
    let end = &tail[at..];
    if ![0, u16::MAX].contains(&u16_at(end, 4)) {
        return Err(LateRefusal::error("is a part of a split zip archive: join its parts first."));
    }
    let (mut entries, mut offset) = (u64::from(u16_at(end, 10)), u64::from(u32_at(end, 16)));
    let is_full = entries == u64::from(u16::MAX) || offset == u64::from(u32::MAX);
    if is_full
        && let Some(locator) = at.checked_sub(LOCATOR_BYTES).map(|at| &tail[at..])
        && u32_at(locator, 0) == END_64_LOCATOR
    {
        let mut end = [0; 56];
        file.read_exact_at(&mut end, u64_at(locator, 8))?;
        if u32_at(&end, 0) != END_64 {
            return Err(damaged("its list of files is not where it should be"));
        }
        (entries, offset) = (u64_at(&end, 32), u64_at(&end, 48));
    }
    Ok(Some((FileAt::buffered(file, offset, BUFFER_BYTES), entries)))
}

/// The next entry of the list.
fn read_listed(list: &mut impl Read) -> io::Result<ZipEntry> {
    let mut fixed = [0; 46];
    list.read_exact(&mut fixed)?;
    if u32_at(&fixed, 0) != LISTED {
        return Err(damaged("its list of files is damaged"));
    }
    ZipEntry::read(list, &fixed[8..], u32_at(&fixed, 42), u16_at(&fixed, 32))
}

/// The header before a file, behind its signature.
fn read_local(stream: &mut impl Read) -> io::Result<ZipEntry> {
    let mut fixed = [0; 26];
    stream.read_exact(&mut fixed)?;
    ZipEntry::read(stream, &fixed[2..], 0, 0)
}

/// The signature of what comes next; `None` at the end of the stream.
fn read_signature(stream: &mut impl BufRead) -> io::Result<Option<u32>> {
    if fill(stream)?.is_empty() {
        return Ok(None);
    }
    let mut signature = [0; 4];
    stream.read_exact(&mut signature)?;
    Ok(Some(u32::from_le_bytes(signature)))
}

/// The bytes that have arrived and are not consumed; none at the end of the stream.
fn fill(stream: &mut impl BufRead) -> io::Result<&[u8]> {
    while let Err(error) = stream.fill_buf() {
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
    stream.fill_buf()
}

/// The content of a file that is being read.
struct Content {
    /// `None` for one that is stored.
    inflate: Option<Decompress>,
    /// Whether the end of what is deflated has been found.
    is_inflated: bool,
    /// The bytes of the archive that are left of it, where that is known.
    left: Option<u64>,
    compressed: u64,
    size: u64,
    crc: Crc,
    /// Checksum, compressed size and size as the header has them; `None` if they come behind.
    header: Option<(u32, u64, u64)>,
    is_large: bool,
}

impl Content {
    fn new(entry: &ZipEntry) -> Self {
        let is_described_behind = entry.flags & IS_DESCRIBED_BEHIND != 0;
        let header = (!is_described_behind).then_some((entry.checksum, entry.compressed, entry.size));
        Self {
            inflate: (entry.method == DEFLATED).then(|| Decompress::new(false)),
            is_inflated: false,
            left: header.map(|(_, compressed, _)| compressed),
            compressed: 0,
            size: 0,
            crc: Crc::new(),
            header,
            is_large: entry.is_large,
        }
    }

    /// Reads into `buffer`, which must not be empty; 0 at the end of the content.
    fn read(&mut self, stream: &mut impl BufRead, buffer: &mut [u8]) -> io::Result<usize> {
        let length = match &mut self.inflate {
            None => {
                let left = usize::try_from(self.left.unwrap_or_default()).unwrap_or(usize::MAX);
                let capacity = buffer.len().min(left);
                let length = stream.read(&mut buffer[..capacity])?;
                if length == 0 && capacity > 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                self.compressed += length as u64;
                self.left = self.left.map(|left| left - length as u64);
                length
            }
            Some(_) if self.is_inflated => 0,
            Some(inflate) => loop {
                let input = fill(stream)?;
                let capacity = usize::try_from(self.left.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
                let input = &input[..input.len().min(capacity)];
                let (is_at_end, consumed, made) = (input.is_empty(), inflate.total_in(), inflate.total_out());
                let status = inflate
                    .decompress(input, buffer, FlushDecompress::None)
                    .map_err(|_| damaged("the Deflate stream is corrupt"))?;
                let consumed = inflate.total_in() - consumed;
                stream.consume(usize::try_from(consumed).unwrap_or_default());
                self.compressed += consumed;
                self.left = self.left.map(|left| left - consumed);
                let length = usize::try_from(inflate.total_out() - made).unwrap_or_default();
                self.is_inflated = status == Status::StreamEnd;
                if length > 0 || self.is_inflated {
                    break length;
                }
                if is_at_end {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
            },
        };
        self.crc.update(&buffer[..length]);
        self.size += length as u64;
        Ok(length)
    }

    /// Compares what was read with what the archive says of it, before or behind it.
    fn verify(&self, stream: &mut impl BufRead) -> io::Result<()> {
        let read = (self.crc.sum(), self.compressed, self.size);
        let described = match self.header {
            Some(header) => header,
            None => self.read_descriptor(stream)?,
        };
        let low = |(crc, compressed, size): (u32, u64, u64)| {
            (crc, compressed & u64::from(u32::MAX), size & u64::from(u32::MAX))
        };
        if low(described) == low(read) { Ok(()) } else { Err(damaged("its checksum or its length is wrong")) }
    }

    /// Checksum and sizes behind the content, with or without a signature, in 32 or 64 bits.
    fn read_descriptor(&self, stream: &mut impl BufRead) -> io::Result<(u32, u64, u64)> {
        let mut next = || {
            let mut number = [0; 4];
            stream.read_exact(&mut number).map(|()| u32::from_le_bytes(number))
        };
        let mut crc = next()?;
        if crc == DESCRIPTOR {
            crc = next()?;
        }
        let (first, second) = (u64::from(next()?), u64::from(next()?));
        let is_short = !self.is_large || (second != 0 && second == self.size & u64::from(u32::MAX));
        if is_short {
            return Ok((crc, first, second));
        }
        let (third, fourth) = (u64::from(next()?), u64::from(next()?));
        Ok((crc, first | second << 32, third | fourth << 32))
    }
}

/// An archive of which one file is read.
struct Archive<R> {
    stream: R,
    /// The content that is being read; `None` at its end.
    content: Option<Content>,
    /// Whether the list of files was looked at, so that nothing else is to be found.
    is_listed: bool,
    /// The archive's name for commands.
    file: String,
}

impl<R: BufRead> Archive<R> {
    /// The next file in a stream; `None` where the list of files begins.
    fn next_file(&mut self) -> io::Result<Option<ZipEntry>> {
        let mut is_behind_folder = false;
        loop {
            match read_signature(&mut self.stream)? {
                Some(LOCAL_HEADER) => {}
                Some(LISTED | END | END_64) => return Ok(None),
                // Some programs describe folders too, which have neither a checksum nor a length.
                Some(DESCRIPTOR) if is_behind_folder => {
                    self.stream.read_exact(&mut [0; 12])?;
                    is_behind_folder = false;
                    continue;
                }
                Some(DESCRIPTOR) => {
                    return Err(LateRefusal::error(
                        "is a part of a split zip archive: join its parts first.",
                    ));
                }
                None => return Err(ErrorKind::UnexpectedEof.into()),
                Some(_) => return Err(damaged("there is no file where one should begin")),
            }
            let entry = read_local(&mut self.stream)?;
            if !entry.is_skipped() {
                return Ok(Some(entry));
            }
            is_behind_folder = entry.is_folder() && entry.method == STORED;
            if !is_behind_folder || entry.compressed > 0 {
                self.skip(&entry)?;
            }
        }
    }

    /// Reads past a file.
    fn skip(&mut self, entry: &ZipEntry) -> io::Result<()> {
        self.begin(entry)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        while self.read_content(&mut buffer)? > 0 {}
        Ok(())
    }

    /// Begins to read a file in a stream.
    fn begin(&mut self, entry: &ZipEntry) -> io::Result<()> {
        if let Some(refusal) = entry.refusal(&self.file) {
            return Err(LateRefusal::error(refusal));
        }
        if entry.method == STORED && entry.flags & IS_DESCRIBED_BEHIND != 0 {
            let what = "is a zip archive that has the length of its file behind it: \
                        write it to a file, and read that.";
            return Err(LateRefusal::error(what));
        }
        self.content = Some(Content::new(entry));
        Ok(())
    }

    /// Reads into `buffer`, which must not be empty; 0 at the end of the content, which is verified.
    fn read_content(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(content) = &mut self.content else { return Ok(0) };
        let length = content.read(&mut self.stream, buffer)?;
        if length == 0 {
            content.verify(&mut self.stream)?;
            self.content = None;
        }
        Ok(length)
    }
}

impl<R: BufRead> Read for Archive<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.content.is_none() {
            return Ok(0);
        }
        let length = self.read_content(buffer)?;
        if length == 0 && !self.is_listed {
            if self.next_file()?.is_some() {
                return Err(LateRefusal::error(several("several files", &self.file)));
            }
            // Whoever writes to a pipe is not stopped before the end of the archive.
            io::copy(&mut self.stream, &mut io::sink())?;
        }
        Ok(length)
    }
}
