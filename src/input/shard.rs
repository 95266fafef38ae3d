//! A part of an input: one of several that are answered by runs of their own, or what an earlier run has left.
//!
//! An input of L bytes is cut into N parts at the lines on which the bytes L/N, 2L/N and so on lie. A puzzle belongs to the
//! part in which its first line begins. That depends on nothing but the bytes of the input, so that each run finds the same
//! parts by itself.
//!
//! Where every puzzle has a line of its own, a part is read from its first byte on, and what lies before it is only
//! looked at to count its lines. In other notations the puzzles before it have to be told apart too.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use super::prefix::PrefixHasher;
use super::{CHUNK_BYTES, Feed, InputError, Prefix, Reader, Source};

/// The most that a stream is read ahead of `offset` by [`Reader::resume`], because it is kept in
/// memory. Readers are a few reads and an unfinished puzzle ahead of the chunks that they hand out;
/// a journal that says more is damaged.
const MAX_AHEAD: u64 = 16 << 20;

/// One of the parts into which an input is cut. Written `2/5`: the second of five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: NonZeroU64,
    of: NonZeroU64,
}

/// A text that is no [`Shard`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write K/N, such as 2/5 for the second of five parts")]
pub struct NotAShard;

impl FromStr for Shard {
    type Err = NotAShard;

    fn from_str(text: &str) -> Result<Self, NotAShard> {
        let (number, of) = text.split_once('/').ok_or(NotAShard)?;
        let count = |text: &str| text.parse::<NonZeroU64>().map_err(|_| NotAShard);
        let shard = Self { number: count(number)?, of: count(of)? };
        if shard.number <= shard.of { Ok(shard) } else { Err(NotAShard) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// The bytes of an input of `length` bytes at which the part begins and ends, before these are moved to where
    /// lines begin. The end is `None` for the last part.
    fn targets(self, length: u64) -> (u64, Option<u64>) {
        let at = |parts: u64| {
            let bytes = u128::from(length) * u128::from(parts) / u128::from(self.of.get());
            // At most the length.
            u64::try_from(bytes).unwrap_or(length)
        };
        let number = self.number.get();
        (at(number - 1), (number < self.of.get()).then(|| at(number)))
    }
}

/// Where a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The bytes before it.
    pub offset: u64,
    /// Its number, from 1.
    pub line: u64,
}

impl Source {
    /// Is it clear that it cannot be cut into parts?
    ///
    /// # Errors
    /// [`InputError::NotShardable`] unless it is a file that is not compressed.
    pub fn check_parts(&self) -> Result<(), InputError> {
        let advice = match &self.feed {
            _ if self.len_bytes().is_some() => return Ok(()),
            Feed::Stream { is_compressed: true, .. } => "It is compressed: decompress it into a file first.",
            _ => "Write it to a file first.",
        };
        Err(InputError::NotShardable { name: self.name.clone(), advice })
    }

    /// Goes on at `offset`; only where the length is known.
    fn seek(&mut self, offset: u64) -> Result<(), InputError> {
        self.failure = None;
        match &mut self.feed {
            Feed::Map { map, at } => *at = usize::try_from(offset).unwrap_or(usize::MAX).min(map.len()),
            Feed::Stream { stream, file, .. } => {
                if let Some(stamp) = file {
                    let file = stamp.file_at(offset).map_err(|error| InputError::io(&self.name, error))?;
                    *stream = Box::new(file);
                }
            }
        }
        Ok(())
    }

    /// Appends up to `room` bytes from `offset` on to `buffer` without moving there; 0 only at the end. Only where the
    /// length is known.
    fn peek(&self, offset: u64, room: usize, buffer: &mut Vec<u8>) -> Result<usize, InputError> {
        match &self.feed {
            Feed::Map { map, .. } => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(map.len());
                let length = room.min(map.len() - start);
                map.copy(start..start + length, buffer)?;
                Ok(length)
            }
            Feed::Stream { file: Some(stamp), .. } => {
                let length = stamp.read_at(offset, room, buffer);
                stamp.check(&self.name)?;
                length.map_err(|error| InputError::io(&self.name, error))
            }
            Feed::Stream { .. } => Ok(0),
        }
    }

    /// The same, hashed: for bytes that are passed over.
    fn peek_hashed(&mut self, offset: u64, room: usize, buffer: &mut Vec<u8>) -> Result<usize, InputError> {
        let length = self.peek(offset, room, buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.add(offset, &buffer[buffer.len() - length..]);
        }
        Ok(length)
    }

    /// Hashes everything up to byte `end` at least. Only where the length is known.
    fn hash_up_to(&mut self, end: u64) -> Result<(), InputError> {
        let mut buffer = Vec::with_capacity(CHUNK_BYTES);
        while let Some(at) = self.hasher.as_ref().map(|hasher| hasher.prefix().bytes).filter(|&at| at < end) {
            buffer.clear();
            if self.peek_hashed(at, CHUNK_BYTES, &mut buffer)? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The first line that begins at byte `target` or later, or the end of the input. `from` is a line before it from
    /// which lines are counted.
    fn first_line_from(&mut self, target: u64, from: Place) -> Result<Place, InputError> {
        let Place { offset: mut at, mut line } = from;
        if target <= at {
            return Ok(from);
        }
        let mut buffer = Vec::with_capacity(CHUNK_BYTES);
        loop {
            buffer.clear();
            let length = self.peek_hashed(at, CHUNK_BYTES, &mut buffer)?;
            if length == 0 {
                return Ok(Place { offset: at, line: line + 1 });
            }
            let before = usize::try_from(target - 1 - at.min(target - 1)).unwrap_or(usize::MAX).min(length);
            line += memchr::memchr_iter(b'\n', &buffer[..before]).count() as u64;
            if let Some(end) = memchr::memchr(b'\n', &buffer[before..]) {
                return Ok(Place { offset: at + (before + end + 1) as u64, line: line + 1 });
            }
            at += length as u64;
        }
    }
}

impl Reader {
    /// Reads no more than this part of the input, from its beginning on. What is passed over still counts as lines.
    ///
    /// # Errors
    /// What reading meets, and [`InputError::NotShardable`].
    pub fn select_shard(&mut self, shard: Shard) -> Result<(), InputError> {
        self.source.check_parts()?;
        let (start, end) = shard.targets(self.len_bytes().unwrap_or(0));
        // The first line behind a byte-order mark, blank lines, comments and a header. Every border
        // before it is moved to it, for the part that ends there as for the one that begins there:
        // searched from inside the mark, the end would be behind the first line, and two parts
        // would have it.
        let body = self.place();
        let first = self.source.first_line_from(start, body)?;
        if self.format.is_by_line() {
            if first.offset > self.offset() {
                self.seek(first)?;
            }
            if let Some(end) = end {
                // Nobody asks for the number of that line.
                let before = Place { offset: end.saturating_sub(1).max(body.offset), line: 0 };
                let end = self.source.first_line_from(end, before)?.offset;
                self.end_at(end);
            }
        } else {
            let last = match end {
                Some(end) => self.source.first_line_from(end, first)?.line - 1,
                None => u64::MAX,
            };
            self.limit_lines(first.line, last)?;
        }
        self.first_byte = self.offset();
        self.is_at_start = shard.number.get() == 1;
        Ok(())
    }

    /// Passes over everything up to byte `offset` of the uncompressed input, where a chunk has ended in an earlier
    /// reading of the same input.
    ///
    /// # Errors
    /// What reading meets.
    pub fn pass_over(&mut self, offset: u64) -> Result<(), InputError> {
        self.pass_over_and_read(offset, offset)
    }

    /// Passes over everything up to byte `offset`, as [`Reader::pass_over`] does, and returns
    /// whether the input begins with `earlier`: what an earlier reader had read when it handed out
    /// the chunk that ends there. To be called after [`Reader::select_shard`]. False unless the source
    /// is [`Source::hashed`].
    ///
    /// # Errors
    /// What reading meets.
    pub fn resume(&mut self, offset: u64, earlier: Prefix) -> Result<bool, InputError> {
        let is_stream = self.len_bytes().is_none();
        let Some(hasher) = &mut self.source.hasher else { return Ok(false) };
        hasher.remember_at(earlier.bytes);
        if is_stream && earlier.bytes.saturating_sub(offset) > MAX_AHEAD {
            return Ok(false);
        }
        self.pass_over_and_read(offset, earlier.bytes)?;
        Ok(self.source.hasher.as_ref().and_then(PrefixHasher::remembered) == Some(earlier))
    }

    /// Passes over everything up to byte `offset`, and reads at least up to byte `end` without
    /// passing over that.
    fn pass_over_and_read(&mut self, offset: u64, end: u64) -> Result<(), InputError> {
        if self.len_bytes().is_some() {
            let place = self.source.first_line_from(offset, self.place())?;
            self.source.hash_up_to(end)?;
            self.seek(place)?;
        } else {
            self.read_past(offset, end)?;
        }
        self.is_at_start = false;
        Ok(())
    }

    /// Reads up to byte `end` at least and forgets what lies before byte `offset`, but for the
    /// number of lines.
    fn read_past(&mut self, offset: u64, end: u64) -> Result<(), InputError> {
        let end = end.max(offset);
        let mut buffer = std::mem::take(&mut self.pending);
        loop {
            // What is at hand ends at byte `taken`.
            let begin = self.taken - buffer.len() as u64;
            let passed =
                usize::try_from(offset.saturating_sub(begin)).unwrap_or(usize::MAX).min(buffer.len());
            self.line += memchr::memchr_iter(b'\n', &buffer[..passed]).count() as u64;
            buffer.drain(..passed);
            if self.taken >= end {
                break;
            }
            let room = usize::try_from(end - self.taken).unwrap_or(usize::MAX).min(self.chunk_bytes);
            let length = self.source.fill(&mut buffer, room, self.taken)?;
            if length == 0 {
                break;
            }
            self.taken += length as u64;
        }
        self.pending = buffer;
        Ok(())
    }

    /// Where the next chunk begins.
    const fn place(&self) -> Place {
        Place { offset: self.offset(), line: self.line }
    }

    /// Reads on from there. Only where the length of the input is known.
    pub(super) fn seek(&mut self, place: Place) -> Result<(), InputError> {
        self.source.seek(place.offset)?;
        self.pending.clear();
        (self.taken, self.line, self.passed) = (place.offset, place.line, None);
        Ok(())
    }

    /// Reads nothing from byte `end` on, where a line begins.
    fn end_at(&mut self, end: u64) {
        self.source.end = end;
        let beyond = usize::try_from(self.taken.saturating_sub(end)).unwrap_or(usize::MAX);
        self.pending.truncate(self.pending.len().saturating_sub(beyond));
        self.taken = self.taken.min(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_as_two_numbers() {
        let shard: Shard = "2/5".parse().unwrap();
        assert_eq!(shard.to_string(), "2/5");
        assert_eq!(shard.targets(1_000), (200, Some(400)));
        assert_eq!("5/5".parse::<Shard>().unwrap().targets(1_000), (800, None));
        for bad in ["", "2", "0/5", "6/5", "1/0", "2/5/7", "-1/2", "a/b", "1 /2", "99999999999999999999/1"] {
            assert_eq!(bad.parse::<Shard>(), Err(NotAShard), "{bad}");
        }
    }

    #[test]
    fn parts_follow_each_other_whatever_the_length() {
        for (length, of) in [(0, 3), (1, 7), (1_000, 7), (u64::MAX, 1_000_003)] {
            let shard = |number| format!("{number}/{of}").parse::<Shard>().unwrap().targets(length);
            assert_eq!(shard(1).0, 0);
            assert_eq!(shard(of).1, None);
            for number in 1..of.min(9) {
                assert_eq!(shard(number).1, Some(shard(number + 1).0));
            }
        }
    }
}
