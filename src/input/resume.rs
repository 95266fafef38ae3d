//! Resuming: reading on where an earlier run has stopped, if the input is still the same.

use super::prefix::PrefixHasher;
use super::{InputError, Prefix, Reader};

/// The most bytes of a stream that [`Reader::resume`] reads ahead of `offset`, because it keeps
/// them in memory. Readers are a few reads and an unfinished puzzle ahead of the chunks that they
/// hand out, so a journal that claims more is damaged.
const MAX_AHEAD: u64 = 16 << 20;
impl Reader {
    /// Skips everything up to byte `offset` of the uncompressed input, where a chunk has ended in
    /// an earlier reading of the same input.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn skip_to(&mut self, offset: u64) -> Result<(), InputError> {
        self.skip_and_hash(offset, offset)
    }

    /// Skips everything up to byte `offset`, where a chunk has ended in an earlier reading, and
    /// returns whether the input begins with `earlier`: what the earlier reader had read when it
    /// handed out that chunk. To be called after [`Reader::select_shard`]. False unless the source
    /// is [`Source::hashed`](super::Source::hashed).
    ///
    /// # Errors
    /// Errors of reading.
    pub fn resume(&mut self, offset: u64, earlier: Prefix) -> Result<bool, InputError> {
        let is_stream = self.len_bytes().is_none();
        let Some(hasher) = &mut self.source.hasher else { return Ok(false) };
        hasher.remember_at(earlier.bytes);
        if is_stream && earlier.bytes.saturating_sub(offset) > MAX_AHEAD {
            return Ok(false);
        }
        self.skip_and_hash(offset, earlier.bytes)?;
        Ok(self.source.hasher.as_ref().and_then(PrefixHasher::remembered) == Some(earlier))
    }

    /// Skips everything up to byte `offset`, and hashes at least up to byte `end` without skipping
    /// that.
    fn skip_and_hash(&mut self, offset: u64, end: u64) -> Result<(), InputError> {
        if self.len_bytes().is_some() {
            let place = self.source.first_line_from(offset, self.line_start())?;
            self.source.hash_up_to(end)?;
            self.seek(place)?;
        } else {
            self.read_past(offset, end)?;
        }
        // It ended with what was held back of it.
        self.converted = None;
        self.is_at_start = false;
        Ok(())
    }

    /// Reads up to byte `end` at least, and drops what lies before byte `offset` after counting its
    /// lines.
    fn read_past(&mut self, offset: u64, end: u64) -> Result<(), InputError> {
        let end = end.max(offset);
        let mut buffer = std::mem::take(&mut self.pending);
        loop {
            // The buffer ends at byte `taken` of the input.
            let begin = self.taken - buffer.len() as u64;
            let passed =
                usize::try_from(offset.saturating_sub(begin)).unwrap_or(usize::MAX).min(buffer.len());
            self.line += memchr::memchr_iter(b'\n', &buffer[..passed]).count() as u64;
            buffer.drain(..passed);
            if self.taken >= end {
                break;
            }
            let capacity = usize::try_from(end - self.taken).unwrap_or(usize::MAX).min(self.chunk_bytes);
            let length = self.source.fill(&mut buffer, capacity, self.taken)?;
            if length == 0 {
                break;
            }
            self.taken += length as u64;
        }
        self.pending = buffer;
        Ok(())
    }
}
