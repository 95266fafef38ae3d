//! The reader: cuts an input into chunks of whole puzzles.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chunk::{Chunk, ChunkBuffers};
#[cfg(feature = "parquet")]
use super::columnar::ParquetFile;
use super::prefix::PrefixHasher;
use super::{InputError, MAX_PASSED_BYTES, Source};
use crate::answer::Block;
use crate::poison::IgnorePoison as _;
use crate::text::{Format, MAX_LINE_BYTES, MAX_PUZZLE_BYTES, Rest, skip_lines_above};

/// The number of lines that are passed over while an input is read; 0 where every line is answered.
#[derive(Clone, Debug, Default)]
pub struct PassedLines(Arc<AtomicU64>);

impl PassedLines {
    /// How many have been passed over so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A reader of an input, chunk by chunk.
pub struct Reader {
    pub(super) source: Source,
    pub(super) format: Format,
    /// The lines above the puzzles that belong to their format, where there are some.
    pub(super) prelude: Vec<u8>,
    /// Bytes read but not handed out: an unfinished puzzle, at most.
    pub(super) pending: Vec<u8>,
    /// Lines that were converted and not handed out, and the number of the first.
    pub(super) converted: Option<(Vec<u8>, u64)>,
    /// What follows when all that was written has been read: [`Rest::Awaited`] if somebody may wait for the
    /// answer to each puzzle before writing the next one.
    pub(super) rest_of_drained: Rest,
    /// The lines that were passed over in a text that is converted.
    pub(super) passed_lines: PassedLines,
    /// The number of bytes read from the source.
    pub(super) taken: u64,
    /// The number of the next chunk's first line.
    pub(super) line: u64,
    /// Whether nothing more is to be read from the source, which cannot be sought in, because its end
    /// was seen when the format was detected.
    pub(super) has_ended: bool,
    /// Whether the next chunk is the first of the input.
    pub(super) is_at_start: bool,
    /// The offset in the input of the shard that is read.
    pub(super) first_byte: u64,
    /// The bytes skipped of an overlong line whose end has not been found.
    pub(super) passed: Option<u64>,
    /// The number of bytes read at a time.
    pub(super) chunk_bytes: usize,
    /// Whether a line that is longer than what is read of it is handed out whole.
    pub(super) keeps_lines: bool,
    /// No line after this one is handed out.
    pub(super) last_line: u64,
    pub(super) buffers: ChunkBuffers,
}

impl Reader {
    /// The format of the input.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// The lines above the puzzles that belong to their format, mostly none: a header, or the heading of a
    /// table. They belong to no chunk, so whoever passes chunks on has to pass them on too.
    #[must_use]
    pub fn prelude(&self) -> &[u8] {
        // Nothing belongs above lines that were made of something else.
        if self.format.layout().is_some() { &[] } else { &self.prelude }
    }

    /// The lines that are passed over, because they are neither puzzles, comments nor separators.
    #[must_use]
    pub fn passed_lines(&self) -> PassedLines {
        self.passed_lines.clone()
    }

    /// The Parquet file whose rows are read, if it is one.
    #[cfg(feature = "parquet")]
    #[must_use]
    pub fn parquet(&self) -> Option<Arc<ParquetFile>> {
        self.source.parquet().cloned()
    }

    /// The name of the input in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The length in bytes, where it is known beforehand.
    #[must_use]
    pub fn len_bytes(&self) -> Option<u64> {
        self.source.len_bytes()
    }

    /// Whether somebody types the input at a terminal.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.source.is_typed()
    }

    /// Whether what is left to read is known to be at most `bytes` bytes, and is there already.
    #[must_use]
    pub fn has_at_most(&self, bytes: usize) -> bool {
        if self.has_ended {
            return self.pending.len() <= bytes;
        }
        let left = |(_, end): (u64, Option<u64>)| end.map(|end| end.saturating_sub(self.offset()));
        !self.source.is_live() && left(self.span()).is_some_and(|left| left <= bytes as u64)
    }

    /// The offsets of the bytes that are read: of the whole input, or of a shard. The end is known
    /// where the length is.
    #[must_use]
    pub fn span(&self) -> (u64, Option<u64>) {
        (self.first_byte, self.len_bytes().map(|length| length.min(self.source.end)))
    }

    /// The number of the next chunk's first line.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// The bytes that are not handed out, where their number is known; the most there can be elsewhere.
    fn left(&self) -> usize {
        let left = self.span().1.map(|end| end.saturating_sub(self.offset()));
        left.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX)
    }

    /// The offset of the next chunk in the input.
    pub(super) const fn offset(&self) -> u64 {
        self.taken - self.pending.len() as u64
    }

    /// Whether nothing of the input has been skipped or handed out.
    #[must_use]
    pub const fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    /// Restricts the reader to puzzles that begin on the lines `first` to `last`, both counted from
    /// 1 through the whole input. Those before are skipped at once.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn limit_lines(&mut self, first: u64, last: u64) -> Result<(), InputError> {
        while self.line < first {
            let Some(mut chunk) = self.next_chunk()? else { break };
            if self.line > first {
                // The range may begin inside this chunk: the rest of the chunk is read again.
                let (at, line) = begin_from(chunk.block(), first);
                let mut rest = chunk.text.split_off(at);
                if rest.is_empty() {
                    continue;
                }
                if self.format.layout().is_some() {
                    self.converted = Some((rest, line));
                } else {
                    rest.append(&mut self.pending);
                    self.pending = rest;
                    self.line = line;
                }
                break;
            }
        }
        self.last_line = last;
        Ok(())
    }

    /// Sets the size of chunks (default: [`CHUNK_BYTES`](super::CHUNK_BYTES)). Where the chunks of
    /// a file end depends on nothing else, wherever in the file reading began.
    pub const fn read_in_chunks_of(&mut self, bytes: usize) {
        self.chunk_bytes = bytes;
    }

    /// Keeps lines whole, for whoever copies them (default: what is not read of a line may be cut
    /// off). A line without an end within [`MAX_PUZZLE_BYTES`] is then an error, unless it is no
    /// puzzle.
    pub const fn keep_lines(&mut self) {
        self.keeps_lines = true;
    }

    /// The next chunk, or `None` at the end.
    ///
    /// # Errors
    /// Errors of reading, after everything before the error has been handed out.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, InputError> {
        if let Some((text, first_line)) = self.converted.take() {
            return Ok(Some(self.chunk(text, first_line, self.line)));
        }
        if self.line > self.last_line {
            return Ok(None);
        }
        let recycled = self.buffers.lock().ignore_poison().pop();
        let mut buffer = recycled.unwrap_or_default();
        buffer.clear();
        // This is the largest allocation of a run, so it is where a lack of memory shows.
        let bytes = if self.has_ended { self.pending.len() } else { self.left().min(2 * self.chunk_bytes) };
        buffer
            .try_reserve_exact(bytes)
            .map_err(|_| InputError::io(self.name(), io::ErrorKind::OutOfMemory.into()))?;
        buffer.append(&mut self.pending);
        let cut = self.fill_chunk(&mut buffer)?;
        self.pending.extend_from_slice(&buffer[cut.bytes..]);
        buffer.truncate(cut.bytes);
        if buffer.is_empty() {
            return Ok(None);
        }
        if let Some(converted) = cut.converted {
            buffer.clear();
            self.buffers.lock().ignore_poison().push(std::mem::replace(&mut buffer, converted));
        }
        let mut lines = memchr::memchr_iter(b'\n', &buffer).count() as u64;
        lines += u64::from(buffer.last().is_some_and(|&last| last != b'\n'));
        let first_line = self.line;
        self.line += lines;
        Ok(Some(self.chunk(buffer, first_line, self.line)))
    }

    /// A chunk of these lines, up to the last one that is wanted.
    fn chunk(&mut self, mut text: Vec<u8>, first_line: u64, next_line: u64) -> Chunk {
        if next_line - 1 > self.last_line {
            let block = Block { text: &text, first_line };
            let (end, _) = begin_from(block, self.last_line + 1);
            text.truncate(end);
        }
        self.is_at_start = false;
        let prefix = self.source.hasher.as_ref().map(PrefixHasher::prefix);
        let (end, buffers) = (self.offset(), Arc::clone(&self.buffers));
        Chunk { text, first_line, end, prefix, buffers }
    }

    /// Reads until there are whole puzzles, or the end.
    fn fill_chunk(&mut self, buffer: &mut Vec<u8>) -> Result<ChunkCut, InputError> {
        let mut cut = ChunkCut::default();
        let is_full = buffer.len() >= self.chunk_bytes;
        // Whoever wrote whole puzzles and no more may be waiting for their answers.
        let is_awaited = self.source.is_drained();
        if is_full || (!buffer.is_empty() && is_awaited) {
            // The beginning, from which the format is detected, may be worth many chunks.
            let rest = if is_awaited { self.rest_of_drained } else { Rest::More };
            let mut bytes = self.chunk_bytes.min(buffer.len());
            cut = self.cut(&buffer[..bytes], rest);
            while cut.bytes == 0 && bytes < buffer.len() {
                bytes = (2 * bytes).min(buffer.len());
                cut = self.cut(&buffer[..bytes], rest);
            }
            if cut.bytes == 0 && is_full {
                self.bound(buffer)?;
            }
        }
        while cut.bytes == 0 {
            let old = buffer.len();
            let capacity = if self.has_ended { 0 } else { self.capacity() };
            let length = match self.source.fill(buffer, capacity, self.taken) {
                Ok(length) => length,
                Err(failure) => {
                    // The whole puzzles before the failure are handed out first.
                    cut = self.cut(buffer, Rest::More);
                    if cut.bytes == 0 {
                        cut = self.cut(buffer, Rest::Awaited);
                    }
                    if cut.bytes == 0 {
                        return Err(failure);
                    }
                    self.source.deferred = Some(failure);
                    break;
                }
            };
            self.taken += length as u64;
            if let Some(passed) = self.passed {
                // Only the newline that ends the line is kept.
                let end = memchr::memchr(b'\n', &buffer[old..]);
                let passed = passed + length as u64;
                self.passed = (end.is_none() && length > 0).then_some(passed);
                buffer.drain(old..end.map_or(buffer.len(), |end| old + end));
                if self.passed.is_some_and(|passed| passed > MAX_PASSED_BYTES) {
                    let line = self.line + memchr::memchr_iter(b'\n', buffer).count() as u64;
                    return Err(InputError::Endless { name: self.name().to_owned(), line });
                }
            }
            let rest = match length {
                0 => Rest::Nothing,
                _ if self.source.is_drained() => self.rest_of_drained,
                _ => Rest::More,
            };
            cut = self.cut(buffer, rest);
            if rest == Rest::Nothing {
                break;
            }
            if cut.bytes == 0 {
                self.bound(buffer)?;
            }
        }
        Ok(cut)
    }

    /// The whole puzzles at the start of a text, converted to lines if they are none.
    fn cut(&mut self, text: &[u8], rest: Rest) -> ChunkCut {
        match self.format.convert(text, rest) {
            None => ChunkCut { bytes: self.format.cut(text, rest == Rest::Nothing), converted: None },
            Some(converted) => {
                self.passed_lines.0.fetch_add(converted.passed, Ordering::Relaxed);
                ChunkCut { bytes: converted.taken, converted: Some(converted.text) }
            }
        }
    }

    /// The number of bytes to read next: up to the next multiple of the chunk size.
    fn capacity(&self) -> usize {
        let past = self.taken % self.chunk_bytes as u64;
        self.chunk_bytes - usize::try_from(past).unwrap_or(0)
    }

    /// Bounds an unfinished puzzle: cuts a line that is too long, and refuses too many lines.
    fn bound(&mut self, buffer: &mut Vec<u8>) -> Result<(), InputError> {
        let line_start = memchr::memrchr(b'\n', buffer).map_or(0, |end| end + 1);
        let line = &buffer[line_start..];
        // What is converted may have many puzzles on a line.
        let is_whole = self.keeps_lines || self.format.layout().is_some();
        let most = if is_whole { MAX_PUZZLE_BYTES } else { MAX_LINE_BYTES };
        if line.len() > most && (!is_whole || skip_lines_above(line, true).0 > 0) {
            buffer.truncate(line_start + MAX_LINE_BYTES);
            self.passed = Some(0);
        }
        if buffer.len() > MAX_PUZZLE_BYTES {
            return Err(InputError::TooLong { name: self.name().to_owned(), line: self.line });
        }
        Ok(())
    }
}

/// The whole puzzles at the start of a text.
#[derive(Default)]
struct ChunkCut {
    /// Their bytes.
    bytes: usize,
    /// What they were converted to.
    converted: Option<Vec<u8>>,
}

/// The offset in a block of the line with this number, or of its end, and that number. The block has to
/// begin before that line, or nothing of it is before the offset.
fn begin_from(block: Block<'_>, line: u64) -> (usize, u64) {
    let text = block.text;
    let Some(last) = line.checked_sub(block.first_line + 1) else { return (0, block.first_line) };
    let end = usize::try_from(last).ok().and_then(|last| memchr::memchr_iter(b'\n', text).nth(last));
    end.map_or((text.len(), line), |end| (end + 1, line))
}
