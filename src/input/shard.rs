//! Shards: parts of one input that runs of their own answer.
//!
//! An input of L bytes is cut into N shards at the lines on which the bytes L/N, 2L/N and so on
//! lie. A puzzle belongs to the shard in which its first line begins.
//!
//! **Invariant:** the borders depend on nothing but the bytes of the input, so independent runs
//! agree on them: every puzzle belongs to exactly one shard.
//!
//! Where every puzzle has a line of its own, a shard is read from its first byte on, and the bytes
//! before it are only scanned to count lines. In other notations the puzzles before it are parsed
//! too.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use super::seek::LineStart;
use super::source::{Backing, Decoding};
use super::{InputError, Reader, Source};

/// One of the shards of an input. Written `2/5`: the second of five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: NonZeroU64,
    of: NonZeroU64,
}

/// The error of a text that is no [`Shard`].
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
    /// Which one it is, from 1.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number.get()
    }

    /// The number of shards that the input is cut into.
    #[must_use]
    pub const fn of(self) -> u64 {
        self.of.get()
    }

    /// The offsets, in an input of `length` bytes, at which the shard begins and ends, before they
    /// are moved to beginnings of lines. The end is `None` for the last shard.
    pub(super) fn targets(self, length: u64) -> (u64, Option<u64>) {
        let at = |parts: u64| {
            let bytes = u128::from(length) * u128::from(parts) / u128::from(self.of.get());
            // At most the length.
            u64::try_from(bytes).unwrap_or(length)
        };
        let number = self.number.get();
        (at(number - 1), (number < self.of.get()).then(|| at(number)))
    }
}
impl Source {
    /// Refuses a source that cannot be cut into shards.
    ///
    /// # Errors
    /// [`InputError::NotShardable`] unless it is a file of plain text.
    pub fn check_shardable(&self) -> Result<(), InputError> {
        let advice = match &self.backing {
            _ if self.len_bytes().is_some() => return Ok(()),
            Backing::Stream { decoding: Some(Decoding::Compressed), .. } => {
                "It is compressed: decompress it into a file first."
            }
            Backing::Stream { decoding: Some(Decoding::Utf16), .. } => {
                "It is in UTF-16: convert it to UTF-8 first."
            }
            Backing::Stream { decoding: Some(Decoding::Npy), .. } => {
                "It is a NumPy array: write its puzzles into a file first, one a line."
            }
            #[cfg(feature = "parquet")]
            Backing::Stream { decoding: Some(Decoding::Parquet), .. } => {
                "It is a Parquet file: write its puzzles into a file first, one a line."
            }
            _ => "Write it to a file first.",
        };
        Err(InputError::NotShardable { name: self.name.clone(), advice })
    }
}

impl Reader {
    /// Restricts the reader to one shard of the input. The lines before it are counted, so line
    /// numbers are those of the whole input.
    ///
    /// # Errors
    /// Errors of reading, and [`InputError::NotShardable`].
    pub fn select_shard(&mut self, shard: Shard) -> Result<(), InputError> {
        self.source.check_shardable()?;
        let (start, end) = shard.targets(self.len_bytes().unwrap_or(0));
        // The first line behind a byte-order mark, blank lines, comments and a header. Every border
        // before it is moved to it, for the shard that ends there as for the one that begins there,
        // because an end that is searched from inside the mark would lie behind the first line, and
        // two shards would have that line.
        let body = self.line_start();
        let first = self.source.first_line_from(start, body)?;
        if self.format.layout().is_none() {
            if first.offset > self.offset() {
                self.seek(first)?;
            }
            if let Some(end) = end {
                // Only the offset of the end is needed, so its line number may be wrong.
                let before = LineStart { offset: end.saturating_sub(1).max(body.offset), line: 0 };
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
        self.first_byte = first.offset;
        self.is_at_start = shard.number.get() == 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_two_numbers() {
        let shard: Shard = "2/5".parse().unwrap();
        assert_eq!(shard.to_string(), "2/5");
        assert_eq!(shard.targets(1_000), (200, Some(400)));
        assert_eq!("5/5".parse::<Shard>().unwrap().targets(1_000), (800, None));
        for bad in ["", "2", "0/5", "6/5", "1/0", "2/5/7", "-1/2", "a/b", "1 /2", "99999999999999999999/1"] {
            assert_eq!(bad.parse::<Shard>(), Err(NotAShard), "{bad}");
        }
    }

    #[test]
    fn shards_follow_each_other_whatever_the_length() {
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
