//! Kinds of input, known by their first bytes whatever a file is called.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;

use super::utf16::ByteOrder;
use super::{InputError, npy};

/// The most bytes by which a kind is recognised.
const HEAD_BYTES: usize = 64;

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentKind {
    /// Nothing known: text, as far as its first bytes show.
    Text,
    /// Text of two bytes a character, or of four.
    Utf16(ByteOrder),
    /// One compressed file.
    Compressed(Compression),
    /// A zip archive.
    Zip,
    /// An array of NumPy.
    Npy,
    /// A Parquet file.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Something that holds no text of puzzles, or several files.
    Foreign(Foreign),
}

/// The compressions that are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstandard,
    Bzip2,
    Xz,
}

/// Something that is refused, with what it is called and what to do about it.
///
/// `FILE` in the advice stands for the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    name: &'static str,
    advice: &'static str,
}

impl Foreign {
    const fn new(name: &'static str, advice: &'static str) -> Self {
        Self { name, advice }
    }

    /// The error of an input that is this, or contains it once it is unpacked.
    pub(crate) fn error(self, input: &Named<'_>, is_unpacked: bool) -> InputError {
        input.refused(&self.sentence(input, is_unpacked))
    }

    /// The sentence of [`Self::error`], without the name of the input.
    pub(super) fn sentence(self, input: &Named<'_>, is_unpacked: bool) -> String {
        let verb = if is_unpacked { "contains" } else { "is" };
        // `tar` unpacks what is compressed; other programs have to be given what comes out.
        let file = if is_unpacked && self != TAR { "FILE" } else { input.file() };
        format!("{verb} {}: {}", self.name, self.advice.replace("FILE", file))
    }
}

/// The name of an input in messages, and whether commands can name it as a file.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_file: bool,
}

impl Named<'_> {
    /// The name for a command that users can copy: `FILE` where there is no such name.
    pub(super) fn file(&self) -> &str {
        self.plain_name().unwrap_or("FILE")
    }

    /// The name, if the input has one that a shell takes as it is.
    pub(super) fn plain_name(&self) -> Option<&str> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,@".contains(&byte);
        let is_word = self.name.bytes().all(is_plain) && !self.name.starts_with('-');
        (self.is_file && is_word).then_some(self.name)
    }

    /// The error of an input that is refused; what it is follows its name.
    pub(super) fn refused(&self, what: &str) -> InputError {
        InputError::Foreign { name: self.name.to_owned(), what: what.to_owned() }
    }
}

pub(super) const OFFICE: Foreign = Foreign::new(
    "an office document, such as xlsx, docx or ods",
    "save it as CSV or plain text, and read that.",
);
pub(super) const TAR: Foreign = Foreign::new("a tar archive", "tar -xOf FILE NAME | sudoku solve -");
const PICKLE: Foreign = Foreign::new(
    "a Python pickle",
    "write it as CSV, such as by pandas.read_pickle('FILE').to_csv('puzzles.csv'), and read that.",
);
const ARROW: Foreign = Foreign::new(
    "an Arrow file",
    "write it as CSV, such as by pandas.read_feather('FILE').to_csv('puzzles.csv'), and read that.",
);
const UTF_32: Foreign = Foreign::new("text in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE | sudoku solve -");
const GIF: Foreign = Foreign::new("a GIF image", IMAGE_ADVICE);
const IMAGE_ADVICE: &str = "type its puzzle as text, 81 characters with . for blank cells.";

const LZ4: Foreign = Foreign::new("an LZ4 file", "lz4 -dc FILE | sudoku solve -");
const LZ4_MAGIC: &[u8] = b"\x04\x22\x4D\x18";

/// The bytes behind the first of a skippable frame, which is any of `0x50` to `0x5F`. Zstandard and
/// LZ4 have the same ones (RFC 8878, section 3.1.2); `pzstd` writes one before each of its frames.
const SKIPPABLE_MAGIC_END: &[u8] = b"\x2A\x4D\x18";

/// The first bytes of every kind that has such. Where one begins like another, the longer one comes
/// first.
const SIGNATURES: &[(&[u8], ContentKind)] = &[
    (b"\x1F\x8B", ContentKind::Compressed(Compression::Gzip)),
    (b"\x28\xB5\x2F\xFD", ContentKind::Compressed(Compression::Zstandard)),
    (b"BZh", ContentKind::Compressed(Compression::Bzip2)),
    (b"\xFD7zXZ\0", ContentKind::Compressed(Compression::Xz)),
    (b"PK\x03\x04", ContentKind::Zip),
    // One without a file, and a part of a split one.
    (b"PK\x05\x06", ContentKind::Zip),
    (b"PK\x07\x08", ContentKind::Zip),
    (b"\xFF\xFE\0\0", ContentKind::Foreign(UTF_32)),
    (b"\0\0\xFE\xFF", ContentKind::Foreign(UTF_32)),
    (b"\xFF\xFE", ContentKind::Utf16(ByteOrder::Little)),
    (b"\xFE\xFF", ContentKind::Utf16(ByteOrder::Big)),
    #[cfg(feature = "parquet")]
    (super::columnar::MAGIC, ContentKind::Parquet),
    #[cfg(not(feature = "parquet"))]
    (
        b"PAR1",
        ContentKind::Foreign(Foreign::new(
            "a Parquet file",
            "this program was built without --features parquet. Write it as CSV, such as by \
             pandas.read_parquet('FILE').to_csv('puzzles.csv'), and read that.",
        )),
    ),
    (npy::MAGIC, ContentKind::Npy),
    (b"\x80\x02", ContentKind::Foreign(PICKLE)),
    (b"\x80\x03", ContentKind::Foreign(PICKLE)),
    (b"\x80\x04", ContentKind::Foreign(PICKLE)),
    (b"\x80\x05", ContentKind::Foreign(PICKLE)),
    (b"ARROW1\0\0", ContentKind::Foreign(ARROW)),
    (b"FEA1", ContentKind::Foreign(ARROW)),
    (
        b"\x89HDF\r\n\x1A\n",
        ContentKind::Foreign(Foreign::new(
            "an HDF5 file",
            "write its puzzles as text, one a line, and read that.",
        )),
    ),
    (
        b"SQLite format 3\0",
        ContentKind::Foreign(Foreign::new(
            "an SQLite database",
            "sqlite3 FILE 'SELECT puzzle FROM puzzles' | sudoku solve -",
        )),
    ),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", ContentKind::Foreign(OFFICE)),
    (
        b"7z\xBC\xAF\x27\x1C",
        ContentKind::Foreign(Foreign::new("a 7z archive", "7z x -so FILE | sudoku solve -")),
    ),
    (
        b"Rar!\x1A\x07",
        ContentKind::Foreign(Foreign::new("a RAR archive", "unrar p -inul FILE | sudoku solve -")),
    ),
    (LZ4_MAGIC, ContentKind::Foreign(LZ4)),
    (b"]\0\0", ContentKind::Foreign(Foreign::new("an LZMA file", "xz -dc FILE | sudoku solve -"))),
    (b"LZIP\x01", ContentKind::Foreign(Foreign::new("an lzip file", "lzip -dc FILE | sudoku solve -"))),
    (
        b"\x1F\x9D",
        ContentKind::Foreign(Foreign::new("a file packed by compress", "gzip -dc FILE | sudoku solve -")),
    ),
    (
        b"%PDF-",
        ContentKind::Foreign(Foreign::new(
            "a PDF document",
            "copy its puzzles into a text file, one a line, and read that.",
        )),
    ),
    (b"\x89PNG\r\n\x1A\n", ContentKind::Foreign(Foreign::new("a PNG image", IMAGE_ADVICE))),
    (b"\xFF\xD8\xFF", ContentKind::Foreign(Foreign::new("a JPEG image", IMAGE_ADVICE))),
    (b"GIF87a", ContentKind::Foreign(GIF)),
    (b"GIF89a", ContentKind::Foreign(GIF)),
    (b"\x7FELF", ContentKind::Foreign(Foreign::new("a program", "name a file of puzzles."))),
];

impl ContentKind {
    /// The kind of a text that is in memory.
    pub(crate) fn of_text(text: &[u8]) -> Self {
        let mut length = HEAD_BYTES;
        loop {
            let head = &text[..length.min(text.len())];
            match Self::of(head, head.len() == text.len()) {
                Some(kind) => return kind,
                None if head.len() == text.len() => return Self::Text,
                None => length *= 2,
            }
        }
    }

    /// What it is, where that is no text as the methods of the service read it, and how it becomes
    /// one.
    pub(crate) const fn not_plain(self) -> Option<(&'static str, &'static str)> {
        const AS_LINES: &str = "write its puzzles as lines";
        Some(match self {
            Self::Text | Self::Foreign(_) => return None,
            Self::Compressed(_) | Self::Zip => ("is compressed", "unpack it"),
            Self::Utf16(_) => ("is in UTF-16", "convert it to UTF-8"),
            Self::Npy => ("is a NumPy array", AS_LINES),
            #[cfg(feature = "parquet")]
            Self::Parquet => ("is a Parquet file", AS_LINES),
        })
    }

    /// The kind of a regular file. Its position does not move.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn of_file(file: &File) -> io::Result<Self> {
        let mut head = vec![0; HEAD_BYTES];
        let mut length = 0;
        loop {
            if let Some(kind) = Self::of(&head[..length], false) {
                return Ok(kind);
            }
            if length == head.len() {
                head.resize(2 * length, 0);
            }
            match file.read_at(&mut head[length..], length as u64) {
                Ok(0) => return Ok(Self::of(&head[..length], true).unwrap_or(Self::Text)),
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The kind of what begins with `head`; `None` if that depends on further bytes, of which there
    /// are none `at_end`.
    ///
    /// Text is recognised by its first character or two, because a terminal or a program at the other
    /// end of a pipe may send no more before it has its answer.
    fn of(head: &[u8], at_end: bool) -> Option<Self> {
        let is_whole = at_end || head.len() >= HEAD_BYTES;
        for (signature, kind) in SIGNATURES {
            if head.starts_with(signature) {
                return Some(*kind);
            }
            if !is_whole && signature.starts_with(head) {
                return None;
            }
        }
        if let [0x50..=0x5F, magic @ ..] = head {
            if magic.starts_with(SKIPPABLE_MAGIC_END) {
                return is_whole.then(|| Self::behind_skippable_frames(head));
            }
            if !is_whole && SKIPPABLE_MAGIC_END.starts_with(magic) {
                return None;
            }
        }
        let may_be_utf16 = head.len() < 2 || ByteOrder::BOTH.iter().any(|order| order.may_begin(head));
        if !is_whole && may_be_utf16 {
            return None;
        }
        Some(ByteOrder::without_mark(head).map_or(Self::Text, Self::Utf16))
    }

    /// The kind of a file that begins with a skippable frame, by the frame behind it. A long one hides
    /// that; then it is taken for Zstandard, whose decompressor says so if it is not.
    fn behind_skippable_frames(head: &[u8]) -> Self {
        let mut rest = head;
        while let [0x50..=0x5F, 0x2A, 0x4D, 0x18, a, b, c, d, behind @ ..] = rest {
            let length = usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
            rest = behind.get(length..).unwrap_or_default();
        }
        if rest.starts_with(LZ4_MAGIC) {
            Self::Foreign(LZ4)
        } else {
            Self::Compressed(Compression::Zstandard)
        }
    }
}

/// A stream whose first bytes have been looked at.
///
/// It remembers its end, because a terminal goes on after it.
pub(super) struct Peeked<R> {
    head: Vec<u8>,
    /// The bytes of the head that have been read.
    at: usize,
    stream: R,
    is_at_end: bool,
    failure: Option<io::Error>,
}

impl<R: Read> Peeked<R> {
    /// Reads as much as its kind depends on. An error of reading is returned behind the bytes that
    /// came before it, as it would have been without looking.
    pub(super) fn new(mut stream: R) -> (Self, ContentKind) {
        let (mut head, mut is_at_end, mut failure) = (Vec::new(), false, None);
        let kind = loop {
            if let Some(kind) = ContentKind::of(&head, is_at_end) {
                break kind;
            }
            let old = head.len();
            head.resize((2 * old).max(HEAD_BYTES), 0);
            let result = stream.read(&mut head[old..]);
            head.truncate(old + result.as_ref().copied().unwrap_or(0));
            match result {
                Ok(length) => is_at_end = length == 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => (is_at_end, failure) = (true, Some(error)),
            }
        };
        (Self { head, at: 0, stream, is_at_end, failure }, kind)
    }

    /// The error of reading, if it came before any byte.
    pub(super) fn failed_at_once(&mut self) -> Option<io::Error> {
        if self.head.is_empty() { self.failure.take() } else { None }
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at < self.head.len() {
            let length = (&self.head[self.at..]).read(buffer)?;
            self.at += length;
            return Ok(length);
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.is_at_end || buffer.is_empty() {
            return Ok(0);
        }
        let length = self.stream.read(buffer)?;
        self.is_at_end = length == 0;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_recognised_by_two_characters_at_most() {
        for text in ["1.", "..", "7.", "0\n", "{\"", "\u{FEFF}", "\u{250C}"] {
            assert_eq!(ContentKind::of(&text.as_bytes()[..2], false), Some(ContentKind::Text), "{text}");
        }
        for text in ["1.", "..", "{\"", "[P", "\u{250C}"] {
            let marked = format!("\u{FEFF}{text}");
            assert_eq!(ContentKind::of(marked.as_bytes(), false), Some(ContentKind::Text), "{marked}");
        }
        assert_eq!(ContentKind::of(b".", false), None);
        assert_eq!(ContentKind::of(b".", true), Some(ContentKind::Text));
        assert_eq!(ContentKind::of(b"", true), Some(ContentKind::Text));
    }

    #[test]
    fn a_signature_is_waited_for_as_long_as_it_is_possible() {
        for (signature, kind) in SIGNATURES {
            assert_eq!(ContentKind::of(signature, true), Some(*kind));
            for length in 1..signature.len() {
                let head = &signature[..length];
                let shorter = ContentKind::of(head, false);
                assert!(shorter.is_none() || SIGNATURES.iter().any(|(other, _)| *other == head), "{head:?}");
            }
        }
        let kind = |head: &[u8]| ContentKind::of(head, false);
        assert_eq!(kind(b"\xFF\xFE1\0"), Some(ContentKind::Utf16(ByteOrder::Little)));
        assert_eq!(kind(b"\xFF\xFE\0"), None);
        assert_eq!(kind(b"7z1"), Some(ContentKind::Text));
    }

    #[test]
    fn skippable_frames_are_looked_behind() {
        let zstandard = Some(ContentKind::Compressed(Compression::Zstandard));
        for first in 0x50..=0x5F {
            let frame = [&[first][..], b"\x2A\x4D\x18\x04\0\0\0abcd"].concat();
            for (behind, kind) in [
                (&b"\x28\xB5\x2F\xFD"[..], zstandard),
                (LZ4_MAGIC, Some(ContentKind::Foreign(LZ4))),
                (&[&frame[..], LZ4_MAGIC].concat(), Some(ContentKind::Foreign(LZ4))),
                // Nothing but skipped bytes is an empty file.
                (b"", zstandard),
            ] {
                let file = [&frame[..], behind].concat();
                assert_eq!(ContentKind::of(&file, true), kind, "{file:x?}");
                for length in 2..file.len() {
                    assert_eq!(ContentKind::of(&file[..length], false), None, "{length} of {file:x?}");
                }
            }
        }
        let hidden = [&b"\x50\x2A\x4D\x18\xFF\xFF\xFF\xFF"[..], &[0; HEAD_BYTES]].concat();
        assert_eq!(ContentKind::of(&hidden, false), zstandard);
        for text in ["P*M.", "P*1", "P.", "_*M.............", "[Puz"] {
            assert_eq!(ContentKind::of(text.as_bytes(), false), Some(ContentKind::Text), "{text}");
        }
        assert_eq!(ContentKind::of(b"P*", false), None);
        assert_eq!(ContentKind::of(b"P*", true), Some(ContentKind::Text));
    }

    /// A terminal at which somebody types on after Ctrl-D.
    struct Typed<'a>(&'a [&'a str]);

    impl Read for Typed<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            if !buffer.is_empty() {
                self.0 = rest;
            }
            first.as_bytes().read(buffer)
        }
    }

    #[test]
    fn an_end_that_was_seen_stays_the_end() {
        let (mut stream, kind) = Peeked::new(Typed(&["one\n", "two", "", "three"]));
        assert_eq!(kind, ContentKind::Text);
        let mut text = String::new();
        let mut none: [u8; 0] = [];
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(stream.read(&mut none).unwrap(), 0);
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\ntwo");
    }

    #[test]
    fn utf_16_without_a_mark_has_a_zero_in_every_other_byte() {
        let little: Vec<u8> = "1.3.3.1..1434.2.\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "1.3.3.1..1434.2.\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(ContentKind::of(&little, true), Some(ContentKind::Utf16(ByteOrder::Little)));
        assert_eq!(ContentKind::of(&big, true), Some(ContentKind::Utf16(ByteOrder::Big)));
        assert_eq!(ContentKind::of(&little, false), None, "more may follow");
        let drawn = "\u{250C}\u{2500}\u{2510}\n";
        let wide = "\u{2554}".repeat(HEAD_BYTES);
        for text in [drawn, &wide, "\u{2502}1\u{2502}"] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            assert_eq!(ContentKind::of(&little, true), Some(ContentKind::Utf16(ByteOrder::Little)));
            assert_eq!(ContentKind::of(&big, true), Some(ContentKind::Utf16(ByteOrder::Big)));
            assert_eq!(ContentKind::of(&little[..2], false), None, "more may follow");
        }
        for text in ["1%2%", "%1%2", "# %\n[", "#%\n1"] {
            assert_eq!(ContentKind::of(text.as_bytes(), true), Some(ContentKind::Text), "{text}");
        }
        for head in
            [&b"\0\0\0\0"[..], b"1\0\0\0", b"1\x002\x003\x001\x01", b"1\0", b"\0\x01\0\x02", b"1\x001"]
        {
            assert_eq!(ContentKind::of(head, true), Some(ContentKind::Text), "{head:?}");
        }
    }
}
