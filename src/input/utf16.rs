//! Text in UTF-16, read as UTF-8.

use std::io::{self, Read};
use std::ops::RangeInclusive;

/// The bytes that are read at a time.
const BUFFER_BYTES: usize = 16 * 1024;

/// The characters that draw boxes.
const BOX_DRAWING: RangeInclusive<u16> = 0x2500..=0x257F;

/// The characters that are no 8-bit text, if all draw boxes: few may be some with a `%` in every
/// other place.
const MANY_UNITS: usize = 32;

/// The order of the bytes of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(super) const BOTH: [Self; 2] = [Self::Little, Self::Big];

    /// Whether a text in this order begins with two bytes such as these: of a character of puzzles,
    /// which is below U+0100 or draws boxes.
    pub(super) fn may_begin(self, head: &[u8]) -> bool {
        let &[first, second, ..] = head else { return false };
        let unit = self.unit([first, second]);
        unit < 0x100 || BOX_DRAWING.contains(&unit)
    }

    /// The byte order of a text in UTF-16 without a byte-order mark, by its first bytes: two
    /// characters at least, and all of them printable ones that puzzles have, of which one has a zero
    /// byte unless there are many.
    pub(super) fn without_mark(head: &[u8]) -> Option<Self> {
        let is_text = |unit: u16| matches!(unit, 0x09..=0x0D | 0x20..=0x7E | 0xA0..=0xFF);
        let is_order = |order: &Self| {
            let units = || head.chunks_exact(2).map(|pair| order.unit([pair[0], pair[1]]));
            units().all(|unit| is_text(unit) || BOX_DRAWING.contains(&unit))
                && (units().any(is_text) || units().count() >= MANY_UNITS)
        };
        if head.len() < 4 { None } else { Self::BOTH.into_iter().find(is_order) }
    }

    fn unit(self, pair: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(pair),
            Self::Big => u16::from_be_bytes(pair),
        }
    }
}

/// A reader of UTF-16 that gives UTF-8, without the byte-order mark.
///
/// A surrogate by itself becomes U+FFFD, as editors show it; half a character at the end is an
/// error, because the text is cut off there.
pub(super) struct Utf16Reader<R> {
    stream: R,
    order: ByteOrder,
    /// Bytes read but not converted: half a character, or the first half of a surrogate pair.
    raw: Vec<u8>,
    text: Vec<u8>,
    /// The bytes of the text that have been read.
    at: usize,
    is_at_start: bool,
    is_at_end: bool,
}

impl<R: Read> Utf16Reader<R> {
    pub(super) const fn new(stream: R, order: ByteOrder) -> Self {
        Self { stream, order, raw: Vec::new(), text: Vec::new(), at: 0, is_at_start: true, is_at_end: false }
    }

    /// Reads and converts the next bytes. Nothing is lost if reading fails.
    fn refill(&mut self) -> io::Result<()> {
        let old = self.raw.len();
        self.raw.resize(BUFFER_BYTES, 0);
        let result = self.stream.read(&mut self.raw[old..]);
        self.raw.truncate(old + result.as_ref().copied().unwrap_or(0));
        self.is_at_end = result? == 0;

        let mut length = self.raw.len() / 2 * 2;
        let unit = |pair: &[u8]| self.order.unit([pair[0], pair[1]]);
        let is_half = |unit: u16| (0xD800..0xDC00).contains(&unit);
        if !self.is_at_end && length > 0 && is_half(unit(&self.raw[length - 2..])) {
            length -= 2;
        }
        let mut units = self.raw[..length].chunks_exact(2).map(unit);
        if length > 0 && std::mem::take(&mut self.is_at_start) && units.clone().next() == Some(0xFEFF) {
            units.next();
        }
        self.text.clear();
        self.at = 0;
        // Almost all texts of puzzles are ASCII throughout, which takes a tenth of the time.
        if units.clone().fold(0, |all, unit| all | unit) < 0x80 {
            self.text.extend(units.map(|unit| unit.to_le_bytes()[0]));
        } else {
            for character in char::decode_utf16(units) {
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                self.text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        self.raw.drain(..length);
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.at == self.text.len() {
            if self.is_at_end {
                if self.raw.is_empty() {
                    return Ok(0);
                }
                let cause = "it is text in UTF-16 and ends in the middle of a character";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, cause));
            }
            self.refill()?;
        }
        let length = (&self.text[self.at..]).read(buffer)?;
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that hands out at most `size` bytes at a time.
    struct Pieces<'a> {
        bytes: &'a [u8],
        size: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.size);
            self.bytes.read(&mut buffer[..length])
        }
    }

    fn converted(bytes: &[u8], order: ByteOrder) -> (String, Option<String>) {
        let mut text = Vec::new();
        let whole = Utf16Reader::new(bytes, order).read_to_end(&mut text);
        let mut other = Vec::new();
        let single = Utf16Reader::new(Pieces { bytes, size: 1 }, order).read_to_end(&mut other);
        assert_eq!(text, other, "pieces make no difference");
        let [whole, single] = [whole, single].map(|result| result.err().map(|error| error.to_string()));
        assert_eq!(whole, single);
        (String::from_utf8(text).unwrap(), whole)
    }

    fn bytes(units: &[u16], order: ByteOrder) -> Vec<u8> {
        let bytes = units.iter().map(|unit| match order {
            ByteOrder::Little => unit.to_le_bytes(),
            ByteOrder::Big => unit.to_be_bytes(),
        });
        bytes.flatten().collect()
    }

    #[test]
    fn characters_of_every_length_are_converted() {
        let text = "1.3·\r\n┌───┐ \u{1F600}\u{FEFF}\n".repeat(5_000);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(converted(&bytes(&units, order), order), (text.clone(), None));
            let marked = bytes(&[&[0xFEFF], &units[..]].concat(), order);
            assert_eq!(converted(&marked, order), (text.clone(), None), "without its mark");
        }
        assert_eq!(converted(b"", ByteOrder::Little), (String::new(), None));
        assert_eq!(converted(b"\xFF\xFE", ByteOrder::Little), (String::new(), None));
    }

    #[test]
    fn a_surrogate_by_itself_is_replaced() {
        let order = ByteOrder::Big;
        for (units, wanted) in [
            (&[0x31, 0xD83D, 0x32][..], "1\u{FFFD}2"),
            (&[0x31, 0xDE00, 0x32], "1\u{FFFD}2"),
            (&[0xD83D, 0xD83D, 0xDE00], "\u{FFFD}\u{1F600}"),
            (&[0x31, 0xD83D], "1\u{FFFD}"),
        ] {
            assert_eq!(converted(&bytes(units, order), order), (wanted.to_owned(), None));
        }
    }

    #[test]
    fn half_a_character_at_the_end_is_an_error_behind_the_others() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let whole = bytes(&[0x31, 0x32, 0x0A], order);
            let (text, error) = converted(&whole[..5], order);
            let cause = "it is text in UTF-16 and ends in the middle of a character";
            assert_eq!((text.as_str(), error.as_deref()), ("12", Some(cause)));
        }
    }
}
