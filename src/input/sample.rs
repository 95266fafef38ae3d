//! The sample: the first bytes of an input, by which its format is detected.

use std::mem;

use super::chunk::Buffers;
use super::{CHUNK_BYTES, InputError, MAX_PASSED_BYTES, Reader, Source};
use crate::text::{BYTE_ORDER_MARK, Hint, SAMPLE_BYTES, detect, skip_blank_lines};

impl Source {
    /// Detects the format of the input and makes a reader of it.
    ///
    /// # Errors
    /// Errors of reading, [`InputError::Empty`] if there is nothing but blank lines and comments,
    /// and [`InputError::Format`] if no format fits.
    pub fn read(mut self, hint: &Hint) -> Result<Reader, InputError> {
        let mut sample = Vec::with_capacity(SAMPLE_BYTES);
        let (mut taken, mut line, mut at_end) = (0u64, 1u64, false);
        // The bytes skipped of a line that has not ended.
        let mut passed = 0u64;
        // Only the very first bytes can be a byte-order mark.
        let mut is_begin = true;
        // The sample is filled whatever size a pipe's pieces have, because the same bytes must
        // always be detected as the same format.
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
                        self.deferred = Some(failure);
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
                // A line that is no puzzle fills the whole sample. The rest of it is skipped as a
                // comment.
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
            return Err(self.deferred.unwrap_or(InputError::Empty { name: self.name }));
        }
        let opening = detect(&sample, hint).map_err(|error| error.below(line - 1))?;
        let prelude = sample.drain(..opening.body).collect();
        line += opening.lines;
        if whole && is_blank(&sample) {
            return Err(self.deferred.unwrap_or(InputError::Empty { name: self.name }));
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
