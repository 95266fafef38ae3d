//! Seeking: to the beginning of any line of an input whose length is known.

use super::source::Backing;
use super::{CHUNK_BYTES, InputError, Reader, Source};

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineStart {
    /// The bytes before it.
    pub offset: u64,
    /// Its number, from 1.
    pub line: u64,
}

impl Source {
    /// Moves to `offset`; only where the length is known.
    fn seek(&mut self, offset: u64) -> Result<(), InputError> {
        self.deferred = None;
        match &mut self.backing {
            Backing::Map { map, at } => *at = usize::try_from(offset).unwrap_or(usize::MAX).min(map.len()),
            Backing::Stream { stream, file, .. } => {
                if let Some(stamp) = file {
                    let file = stamp.file_at(offset).map_err(|error| InputError::io(&self.name, error))?;
                    *stream = Box::new(file);
                }
            }
        }
        Ok(())
    }

    /// Appends up to `capacity` bytes from `offset` on to `buffer` without moving there; 0 only at
    /// the end. Only where the length is known.
    pub(super) fn peek(
        &self,
        offset: u64,
        capacity: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<usize, InputError> {
        match &self.backing {
            Backing::Map { map, .. } => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(map.len());
                let length = capacity.min(map.len() - start);
                map.copy(start..start + length, buffer)?;
                Ok(length)
            }
            Backing::Stream { file: Some(stamp), .. } => {
                let length = stamp.read_at(offset, capacity, buffer);
                stamp.check(&self.name)?;
                length.map_err(|error| InputError::io(&self.name, error))
            }
            Backing::Stream { .. } => Ok(0),
        }
    }

    /// Like [`Self::peek`], and hashes the bytes, because they are skipped otherwise.
    fn peek_hashed(
        &mut self,
        offset: u64,
        capacity: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<usize, InputError> {
        let length = self.peek(offset, capacity, buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.add(offset, &buffer[buffer.len() - length..]);
        }
        Ok(length)
    }

    /// Hashes everything up to byte `end` at least. Only where the length is known.
    pub(super) fn hash_up_to(&mut self, end: u64) -> Result<(), InputError> {
        let mut buffer = Vec::with_capacity(CHUNK_BYTES);
        while let Some(at) = self.hasher.as_ref().map(|hasher| hasher.prefix().bytes).filter(|&at| at < end) {
            buffer.clear();
            if self.peek_hashed(at, CHUNK_BYTES, &mut buffer)? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The first line that begins at byte `target` or later, or the end of the input. Lines are
    /// counted from `from`, which must not lie behind it.
    pub(super) fn first_line_from(&mut self, target: u64, from: LineStart) -> Result<LineStart, InputError> {
        let LineStart { offset: mut at, mut line } = from;
        if target <= at {
            return Ok(from);
        }
        let mut buffer = Vec::with_capacity(CHUNK_BYTES);
        loop {
            buffer.clear();
            let length = self.peek_hashed(at, CHUNK_BYTES, &mut buffer)?;
            if length == 0 {
                return Ok(LineStart { offset: at, line: line + 1 });
            }
            let before = usize::try_from(target - 1 - at.min(target - 1)).unwrap_or(usize::MAX).min(length);
            line += memchr::memchr_iter(b'\n', &buffer[..before]).count() as u64;
            if let Some(end) = memchr::memchr(b'\n', &buffer[before..]) {
                return Ok(LineStart { offset: at + (before + end + 1) as u64, line: line + 1 });
            }
            at += length as u64;
        }
    }
}
impl Reader {
    /// The line on which the next chunk begins.
    pub(super) const fn line_start(&self) -> LineStart {
        LineStart { offset: self.offset(), line: self.line }
    }

    /// Continues from that line. Only where the length of the input is known.
    pub(super) fn seek(&mut self, place: LineStart) -> Result<(), InputError> {
        self.source.seek(place.offset)?;
        self.pending.clear();
        (self.taken, self.line, self.passed) = (place.offset, place.line, None);
        Ok(())
    }

    /// Ends the input at byte `end`, where a line begins.
    pub(super) fn end_at(&mut self, end: u64) {
        self.source.end = end;
        let beyond = usize::try_from(self.taken.saturating_sub(end)).unwrap_or(usize::MAX);
        self.pending.truncate(self.pending.len().saturating_sub(beyond));
        self.taken = self.taken.min(end);
    }
}
