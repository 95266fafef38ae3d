//! The heads of requests over HTTP/1.1, as they come: what one reader could take differently from another.
//!
//! The transport is lenient where RFC 9112 allows it: a line may end with a line feed alone, and a length
//! beside chunks is passed over in silence. Behind a proxy that reads such a request differently, one
//! client's bytes become another's request (request smuggling). Nothing of that is left to see when the
//! transport has read a head, so the bytes are looked at here before it has them.
//!
//! **Invariant:** what passes is framed in one way only: by a length, by chunks, or by neither.

use memchr::memchr;

/// The bytes of a line that are looked at. No length or name of an encoding has more.
const LINE_BYTES: usize = 128;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadFault {
    /// A line ends with a line feed alone.
    BareLineFeed,
    /// Its body has a length and chunks.
    LengthAndChunks,
    /// Its length is none.
    Length,
}

/// The position in the bytes of a connection, and what is known of the current request.
#[derive(Debug, Default)]
pub(super) struct RequestHeads {
    position: HeadPart,
    /// The beginning of the current line, and the number of all its bytes.
    line: Vec<u8>,
    line_bytes: usize,
    /// Whether the current head has a line.
    has_begun: bool,
    length: Option<u64>,
    has_chunks: bool,
}

/// The part of a request that the next byte belongs to.
#[derive(Clone, Copy, Debug, Default)]
enum HeadPart {
    #[default]
    Head,
    /// So many bytes of a body, or of a chunk and the end of its line.
    Body { rest: u64, is_chunk: bool },
    /// The line with the size of a chunk.
    ChunkSize,
    /// The lines behind the last chunk.
    Trailers,
}

impl RequestHeads {
    /// Takes what comes next.
    ///
    /// # Errors
    /// The first fault of a head in it, and the bytes before the end of its line.
    pub(super) fn pass(&mut self, all: &[u8]) -> Result<(), (HeadFault, usize)> {
        let mut bytes = all;
        while !bytes.is_empty() {
            if let HeadPart::Body { rest, is_chunk } = &mut self.position {
                let passed = (bytes.len() as u64).min(*rest);
                *rest -= passed;
                bytes = &bytes[usize::try_from(passed).unwrap_or(usize::MAX)..];
                if *rest == 0 {
                    self.position = if *is_chunk { HeadPart::ChunkSize } else { HeadPart::Head };
                }
                continue;
            }
            let end = memchr(b'\n', bytes);
            let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            bytes = rest;
            let room = LINE_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let before = part.len().checked_sub(2).map(|at| part[at]).or_else(|| self.line.last().copied());
            self.line_bytes += part.len();
            if end.is_some() {
                let has_return = self.line_bytes > 1 && self.ends_with_return(part, before);
                self.line_ends(has_return).map_err(|fault| (fault, all.len() - bytes.len() - 1))?;
            }
        }
        Ok(())
    }

    /// Whether a line that ends with `part` has a carriage return before its line feed.
    fn ends_with_return(&self, part: &[u8], before: Option<u8>) -> bool {
        if part.len() > 1 {
            return before == Some(b'\r');
        }
        // The feed came by itself. Only a line that is too long to be kept does not say what was before
        // it, and then the transport decides.
        self.line_bytes > LINE_BYTES || self.line[..self.line.len() - 1].ends_with(b"\r")
    }

    /// Takes a line, whose end has come.
    fn line_ends(&mut self, has_return: bool) -> Result<(), HeadFault> {
        let is_empty = self.line_bytes <= 2;
        let line = std::mem::take(&mut self.line);
        self.line_bytes = 0;
        match self.position {
            HeadPart::Head if !has_return => return Err(HeadFault::BareLineFeed),
            // A blank line before a request is passed over.
            HeadPart::Head if is_empty && !self.has_begun => {}
            HeadPart::Head if is_empty => self.head_ends()?,
            HeadPart::Head => self.field(&line)?,
            HeadPart::ChunkSize => {
                let digits = line.split(|byte| !byte.is_ascii_hexdigit()).next().unwrap_or_default();
                let size =
                    std::str::from_utf8(digits).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
                self.position = match size {
                    Some(0) => HeadPart::Trailers,
                    // The transport refuses a size that is none.
                    size => {
                        HeadPart::Body { rest: size.unwrap_or_default().saturating_add(2), is_chunk: true }
                    }
                };
            }
            HeadPart::Trailers if is_empty => self.position = HeadPart::Head,
            HeadPart::Trailers | HeadPart::Body { .. } => {}
        }
        // The memory of a line is used for the next one.
        self.line = line;
        self.line.clear();
        Ok(())
    }

    /// Takes a line of a head.
    fn field(&mut self, line: &[u8]) -> Result<(), HeadFault> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let Some(colon) = memchr(b':', line) else { return Ok(()) };
        let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.has_chunks = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            let length = is_number.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten();
            if length.is_none() || self.length.is_some_and(|before| Some(before) != length) {
                return Err(HeadFault::Length);
            }
            self.length = length;
        }
        Ok(())
    }

    /// Goes on to the body of a request whose head has ended.
    fn head_ends(&mut self) -> Result<(), HeadFault> {
        self.has_begun = false;
        let (length, has_chunks) = (self.length.take(), std::mem::take(&mut self.has_chunks));
        self.position = match (length, has_chunks) {
            (Some(_), true) => return Err(HeadFault::LengthAndChunks),
            (None, true) => HeadPart::ChunkSize,
            (None | Some(0), false) => HeadPart::Head,
            (Some(rest), false) => HeadPart::Body { rest, is_chunk: false },
        };
        Ok(())
    }

    /// Whether a part of a head has come, and the rest not.
    pub(super) fn is_within(&self) -> bool {
        matches!(self.position, HeadPart::Head) && (self.has_begun || self.line_bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(text: &str, piece: usize) -> Result<bool, HeadFault> {
        let mut heads = RequestHeads::default();
        for part in text.as_bytes().chunks(piece) {
            heads.pass(part).map_err(|(fault, at)| {
                assert_eq!(part[at], b'\n');
                fault
            })?;
        }
        Ok(heads.is_within())
    }

    #[test]
    fn heads_are_found_behind_bodies_of_every_kind() {
        let plain = "\r\nPOST / HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\n\r\na\nb\n\n";
        let chunks =
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\na\nb\n\n\r\n0\r\nx: y\n\r\n\r\n";
        let long = format!("GET /{} HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(300), "y".repeat(LINE_BYTES - 4));
        let good = [plain, chunks, "GET / HTTP/1.1\r\n\r\n", &long].concat();
        for piece in [1, 2, 3, 7, 64, good.len()] {
            assert_eq!(pass(&good.repeat(2), piece), Ok(false), "{piece}");
            assert_eq!(pass(&format!("{good}GET / HT"), piece), Ok(true), "{piece}");
            for (bad, fault) in [
                ("GET / HTTP/1.1\nHost: a\r\n\r\n", HeadFault::BareLineFeed),
                ("GET / HTTP/1.1\r\nHost: a\n\r\n", HeadFault::BareLineFeed),
                ("GET / HTTP/1.1\r\nHost: a\r\n\n", HeadFault::BareLineFeed),
                ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::BareLineFeed),
                (
                    "POST / HTTP/1.1\r\nContent-Length: 5\r\ntransfer-encoding: x\r\n\r\n",
                    HeadFault::LengthAndChunks,
                ),
                (
                    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nCONTENT-LENGTH : 5\r\n\r\n",
                    HeadFault::LengthAndChunks,
                ),
                ("POST / HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n", HeadFault::Length),
                ("POST / HTTP/1.1\r\ncontent-length: +5\r\n\r\n", HeadFault::Length),
                ("POST / HTTP/1.1\r\ncontent-length: 5, 5\r\n\r\n", HeadFault::Length),
            ] {
                assert_eq!(pass(&format!("{good}{bad}"), piece), Err(fault), "{bad:?}, {piece}");
            }
        }
    }
}
