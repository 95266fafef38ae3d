//! Readers for the tests of decoders: what comes in pieces is decoded as what comes at once.

use std::io::{self, Read};

/// A stream that hands out at most `size` bytes at a time.
pub(super) struct Pieces<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.size);
        self.bytes.read(&mut buffer[..length])
    }
}

/// What a decoder makes of a text, in whatever pieces it comes.
#[track_caller]
pub(super) fn decoded<'a, D: Read>(text: &'a str, decoder: impl Fn(Pieces<'a>) -> D) -> String {
    let read = |size| {
        let mut decoded = String::new();
        decoder(Pieces { bytes: text.as_bytes(), size }).read_to_string(&mut decoded).unwrap();
        decoded
    };
    let whole = read(usize::MAX);
    for size in [1, 2, 7] {
        assert_eq!(read(size), whole, "{size}");
    }
    whole
}
