//! Unpacking: compressed messages of requests, away from the threads that move bytes.
//!
//! A kilobyte of gzip can be a megabyte of text, and a thread that unpacks it moves no bytes of
//! others meanwhile. So a message that is long, packed or unpacked, is handed to threads that
//! search, where clients take turns; one that turns out to be short is unpacked at once.
//!
//! **Invariant:** the transport gets plain messages only, and no message is unpacked beyond the
//! limit on messages.

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::{Buf as _, Bytes, BytesMut};
use flate2::bufread::ZlibDecoder;
use flate2::read::MultiGzDecoder;
use http_body::{Body as HttpBody, Frame};
use tonic::Status;
use tonic::codegen::http::HeaderMap;

use crate::service::net::call::CallState;
use crate::service::net::framing::{FramePoll, WholeMessages};
use crate::service::wire::status::{message_over_limit, message_unreadable, work_broke_down};

/// The header of the encoding of messages.
const ENCODING: &str = "grpc-encoding";

/// The length of a message's header.
const HEADER_BYTES: usize = 5;

/// The longest message, packed or unpacked, that is unpacked at once: some tens of microseconds.
const SHORT_BYTES: usize = 8 << 10;

/// The binary logarithm of the most memory for what a message of zstd refers back to: 8 MiB, as
/// level 19 wants. More would be more than any message has.
const ZSTD_WINDOW_LOG: u32 = 23;

/// An encoding of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Deflate,
    Gzip,
    Zstd,
}

impl Encoding {
    /// The encoding of this name.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"deflate" => Self::Deflate,
            b"gzip" => Self::Gzip,
            b"zstd" => Self::Zstd,
            _ => return None,
        })
    }

    /// Takes the encoding out of the headers, if it is one of these. Another one is left for the
    /// transport to refuse.
    pub(super) fn take(headers: &mut HeaderMap) -> Option<Self> {
        let encoding = Self::named(headers.get(ENCODING)?.as_bytes())?;
        headers.remove(ENCODING);
        Some(encoding)
    }

    /// Unpacks a message up to `limit` bytes, without a header.
    ///
    /// # Errors
    /// A message that is too long or damaged.
    pub(crate) fn unpack_alone(self, packed: &[u8], limit: usize) -> Result<Bytes, Status> {
        let framed = self.unpack(packed, limit).map_err(|fault| fault.into_status(limit))?;
        Ok(framed.slice(HEADER_BYTES..))
    }

    /// The same at once, if the message is short, packed and unpacked.
    ///
    /// # Errors
    /// A short message that is damaged.
    pub(crate) fn unpack_short_alone(self, packed: &[u8], limit: usize) -> Result<Option<Bytes>, Status> {
        let framed = self.unpack_short(packed, limit).map_err(|fault| fault.into_status(limit))?;
        Ok(framed.map(|framed| framed.slice(HEADER_BYTES..)))
    }

    /// Unpacks a message at once, if it is short, packed and unpacked.
    fn unpack_short(self, packed: &[u8], limit: usize) -> Result<Option<Bytes>, UnpackError> {
        if packed.len() > SHORT_BYTES {
            return Ok(None);
        }
        match self.unpack(packed, limit.min(SHORT_BYTES)) {
            Err(UnpackError::TooLong) if limit > SHORT_BYTES => Ok(None),
            unpacked => unpacked.map(Some),
        }
    }

    /// Unpacks a message, behind space for its header, up to `limit` bytes.
    fn unpack(self, packed: &[u8], limit: usize) -> Result<Bytes, UnpackError> {
        let mut message = Vec::with_capacity(HEADER_BYTES + limit.min(4 * packed.len()));
        message.extend([0; HEADER_BYTES]);
        let most = limit as u64 + 1;
        match self {
            Self::Deflate => {
                let mut decoder = ZlibDecoder::new(packed);
                decoder.by_ref().take(most).read_to_end(&mut message).and_then(|read| {
                    let is_whole = read as u64 == most || decoder.get_ref().is_empty();
                    is_whole.then_some(read).ok_or_else(|| io::Error::other("more follows its end"))
                })
            }
            // Of several members, too, as RFC 1952 allows.
            Self::Gzip => MultiGzDecoder::new(packed).take(most).read_to_end(&mut message),
            Self::Zstd => zstd::stream::read::Decoder::with_buffer(packed).and_then(|mut decoder| {
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                decoder.take(most).read_to_end(&mut message)
            }),
        }
        .map_err(UnpackError::Damaged)?;
        let length = message.len() - HEADER_BYTES;
        if length > limit {
            return Err(UnpackError::TooLong);
        }
        let length = u32::try_from(length).map_err(|_| UnpackError::TooLong)?;
        message[1..HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
        Ok(message.into())
    }
}

/// Why a message cannot be unpacked.
#[derive(Debug)]
pub(crate) enum UnpackError {
    TooLong,
    Damaged(io::Error),
}

impl UnpackError {
    fn into_status(self, limit: usize) -> Status {
        match self {
            Self::TooLong => message_over_limit("message-bytes", ("byte", "in a message"), limit),
            Self::Damaged(error) => {
                message_unreadable(&format!("A compressed message cannot be unpacked: {error}."))
            }
        }
    }
}

/// The work on a message.
pub(crate) type UnpackJob = Box<dyn FnOnce() -> Result<Bytes, UnpackError> + Send>;

/// What comes of it. None if the work broke down.
type UnpackFuture = Pin<Box<dyn Future<Output = Option<Result<Bytes, UnpackError>>> + Send>>;

/// Threads for work on messages of a call.
pub(crate) type Aside = Arc<dyn Fn(&CallState, UnpackJob) -> UnpackFuture + Send + Sync>;

/// The body of a request, with its compressed messages unpacked.
pub(super) struct Unpacked {
    body: WholeMessages,
    encoding: Encoding,
    /// The most bytes of a message.
    limit: usize,
    call: Arc<CallState>,
    aside: Aside,
    /// What has come and was not looked at.
    packed: BytesMut,
    /// The message on hand.
    unpacking: Option<UnpackFuture>,
    /// The bytes to pass on.
    plain: VecDeque<Bytes>,
    /// What came after the last message.
    end: Option<FramePoll>,
}

impl Unpacked {
    pub(super) fn new(
        body: WholeMessages,
        encoding: Encoding,
        limit: usize,
        call: Arc<CallState>,
        aside: Aside,
    ) -> Self {
        Self {
            body,
            encoding,
            limit,
            call,
            aside,
            packed: BytesMut::new(),
            unpacking: None,
            plain: VecDeque::new(),
            end: None,
        }
    }

    /// Takes the next message out of what has come, if it is whole, and passes it on or begins to
    /// unpack it. Whether there was one.
    fn begin(&mut self) -> Result<bool, Status> {
        let Some((&[flag, length @ ..], rest)) = self.packed.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(false);
        };
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > self.limit {
            // For the transport to refuse.
            self.plain.push_back(self.packed.split().freeze());
            return Ok(true);
        }
        if rest.len() < length {
            return Ok(false);
        }
        let mut message = self.packed.split_to(HEADER_BYTES + length).freeze();
        if flag != 1 {
            self.plain.push_back(message);
            return Ok(true);
        }
        message.advance(HEADER_BYTES);
        let (encoding, limit) = (self.encoding, self.limit);
        if let Some(plain) =
            encoding.unpack_short(&message, limit).map_err(|fault| fault.into_status(limit))?
        {
            self.plain.push_back(plain);
            return Ok(true);
        }
        let job = Box::new(move || encoding.unpack(&message, limit));
        self.unpacking = Some((self.aside)(&self.call, job));
        Ok(true)
    }
}

impl HttpBody for Unpacked {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> FramePoll {
        let this = &mut *self;
        loop {
            if let Some(plain) = this.plain.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(plain))));
            }
            if let Some(unpacking) = &mut this.unpacking {
                let outcome = ready!(unpacking.as_mut().poll(cx));
                this.unpacking = None;
                match outcome {
                    Some(Ok(mut plain)) => {
                        // By itself, as the framing does with long messages.
                        this.plain.push_back(plain.split_to(HEADER_BYTES));
                        this.plain.push_back(plain);
                    }
                    Some(Err(fault)) => return Poll::Ready(Some(Err(fault.into_status(this.limit)))),
                    None => return Poll::Ready(Some(Err(work_broke_down()))),
                }
                continue;
            }
            match this.begin() {
                Ok(true) => continue,
                Ok(false) => {}
                Err(status) => return Poll::Ready(Some(Err(status))),
            }
            if let Some(end) = this.end.take() {
                return end;
            }
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => this.packed.extend_from_slice(&data),
                    Err(frame) => this.end_with(Some(Ok(frame))),
                },
                other => this.end_with(other),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.packed.is_empty()
            && self.plain.is_empty()
            && self.unpacking.is_none()
            && self.end.is_none()
            && self.body.is_end_stream()
    }
}

impl Unpacked {
    /// Passes on what is left, for the transport to refuse, and then the end.
    fn end_with(&mut self, end: Option<Result<Frame<Bytes>, Status>>) {
        // Whole messages have been taken out of it.
        if !self.packed.is_empty() {
            self.plain.push_back(self.packed.split().freeze());
        }
        self.end = Some(Poll::Ready(end));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    fn packed(encoding: Encoding, text: &[u8]) -> Vec<u8> {
        match encoding {
            Encoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            Encoding::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            Encoding::Zstd => zstd::bulk::compress(text, 3).unwrap(),
        }
    }

    #[test]
    fn messages_are_unpacked_up_to_the_limit() {
        for encoding in [Encoding::Gzip, Encoding::Deflate, Encoding::Zstd] {
            for length in [0, 1, 5, 999, 1000] {
                let text: Vec<u8> = (0..length).map(|at| u8::try_from(at % 7).unwrap()).collect();
                let plain = encoding.unpack(&packed(encoding, &text), 1000).unwrap();
                let length = u32::try_from(length).unwrap().to_be_bytes();
                assert_eq!(plain, [&[0][..], &length, &text].concat(), "{encoding:?}");
            }
            let long = packed(encoding, &[7; 1001]);
            assert!(matches!(encoding.unpack(&long, 1000), Err(UnpackError::TooLong)), "{encoding:?}");
            let bomb = packed(encoding, &vec![0; 50 << 20]);
            assert!(matches!(encoding.unpack(&bomb, 1 << 20), Err(UnpackError::TooLong)), "{encoding:?}");
            let one = packed(encoding, b"one");
            let and_more = [&one[..], b"more"].concat();
            for damaged in [&b"abcdefgh"[..], &long[..long.len() / 2], &and_more] {
                assert!(
                    matches!(encoding.unpack(damaged, 1000), Err(UnpackError::Damaged(_))),
                    "{encoding:?}"
                );
            }
            // Nothing behind the end of a part is lost in silence.
            let two = encoding.unpack(&[&one[..], &one].concat(), 1000);
            match encoding {
                Encoding::Deflate => assert!(matches!(two, Err(UnpackError::Damaged(_)))),
                Encoding::Gzip | Encoding::Zstd => assert_eq!(two.unwrap()[HEADER_BYTES..], *b"oneone"),
            }
        }
    }
}
