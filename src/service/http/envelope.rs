//! Envelopes: messages in a body, with the head of five bytes that gRPC and Connect share.
//!
//! ```text
//!   | flags 1 byte | length 4 bytes, big-endian | length bytes |
//! ```

use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tonic::body::Body;
use tonic::codegen::http::HeaderMap;
use tonic::{Code, Status};

use crate::service::net::framing::BodyProgress;
use crate::service::wire::status::{BREAKS_OFF, body_invalid, broken_off, client_left, message_over_limit};

/// The length of the head of a message.
const HEAD_BYTES: usize = 5;

/// The status of a message of more bytes than the limit.
fn too_long(limit: usize) -> Status {
    message_over_limit("message-bytes", ("byte", "in a message"), limit)
}

/// A message in its envelope.
pub(super) fn envelope(flags: u8, message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(HEAD_BYTES + message.len());
    bytes.put_u8(flags);
    // Messages have a limit far below.
    bytes.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    bytes.put_slice(message);
    bytes.freeze()
}

/// What comes next in a body.
pub(super) enum EnvelopePart {
    Message { flags: u8, message: Bytes },
    Trailers(HeaderMap),
}

/// A body that is read message by message.
pub(super) struct Envelopes {
    body: Body,
    buffer: BytesMut,
    /// The most bytes of a message of a client, and the progress of its body; the server's own
    /// messages have no limit.
    client: Option<(usize, Arc<BodyProgress>)>,
}

impl Envelopes {
    /// The messages of a response of this server.
    pub(super) fn new(body: Body) -> Self {
        Self { body, buffer: BytesMut::new(), client: None }
    }

    /// The messages of a client, each of at most `limit` bytes.
    pub(super) fn of_client(body: Body, limit: usize, progress: Arc<BodyProgress>) -> Self {
        Self { body, buffer: BytesMut::new(), client: Some((limit, progress)) }
    }

    /// Records whether the client owes the rest of a message.
    fn set_partial(&self, is_partial: bool) {
        if let Some((_, progress)) = &self.client {
            progress.set_partial(is_partial);
        }
    }

    /// The next part; `None` at the end.
    ///
    /// # Errors
    /// A message that is too long or breaks off; the error of the body.
    pub(super) async fn next(&mut self) -> Result<Option<EnvelopePart>, Status> {
        loop {
            if let Some(part) = self.take_message()? {
                self.set_partial(false);
                return Ok(Some(part));
            }
            self.set_partial(!self.buffer.is_empty());
            let frame = self.body.frame().await;
            let frame = match self.client {
                Some(_) => frame.transpose().map_err(client_error)?,
                None => frame.transpose()?,
            };
            let Some(frame) = frame else {
                // The transport shows a call that its client has cancelled as one that has ended.
                if self.client.is_some() && !self.body.is_end_stream() {
                    return Err(client_left());
                }
                return if self.buffer.is_empty() { Ok(None) } else { Err(body_invalid(BREAKS_OFF)) };
            };
            match frame.into_data() {
                Ok(data) => self.buffer.extend_from_slice(&data),
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        return Ok(Some(EnvelopePart::Trailers(trailers)));
                    }
                }
            }
        }
    }

    /// Takes a whole message out of the buffer.
    fn take_message(&mut self) -> Result<Option<EnvelopePart>, Status> {
        let Some((&[flags, length @ ..], rest)) = self.buffer.split_first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if let Some((limit, _)) = self.client
            && length > limit
        {
            return Err(too_long(limit));
        }
        if rest.len() < length {
            return Ok(None);
        }
        self.buffer.advance(HEAD_BYTES);
        Ok(Some(EnvelopePart::Message { flags, message: self.buffer.split_to(length).freeze() }))
    }
}

/// Reads a body that is one message.
///
/// # Errors
/// A message that is too long; the error of the body.
pub(super) async fn whole_body(
    mut body: Body,
    limit: usize,
    progress: &BodyProgress,
) -> Result<Bytes, Status> {
    let mut message = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(client_error)?.into_data() else { continue };
        if message.len() + data.len() > limit {
            return Err(too_long(limit));
        }
        message.extend_from_slice(&data);
        progress.set_partial(true);
    }
    // The transport shows a call that its client has cancelled as one that has ended.
    if body.is_end_stream() { Ok(message.freeze()) } else { Err(client_left()) }
}

/// The status for a body of a client that cannot be read on. Only the reset of a stream has a reason
/// that the transport knows.
fn client_error(error: Status) -> Status {
    if error.code() != Code::Unknown {
        return error;
    }
    // Chunks of HTTP/1.1 that are none. All else is a connection that was lost.
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let is_malformed =
        |cause: &io::Error| matches!(cause.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData);
    if causes.filter_map(|cause| cause.downcast_ref()).any(is_malformed) {
        body_invalid(BREAKS_OFF)
    } else {
        broken_off(error)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    const LIMIT: usize = 10;

    fn messages_of(body: Body) -> Envelopes {
        Envelopes::of_client(body, LIMIT, Arc::default())
    }

    async fn only_of(body: Body) -> Result<Bytes, Status> {
        whole_body(body, LIMIT, &BodyProgress::default()).await
    }

    async fn read(bytes: &[u8]) -> Result<Vec<(u8, Bytes)>, Status> {
        let mut envelopes = messages_of(Body::new(Full::new(Bytes::copy_from_slice(bytes))));
        let mut messages = Vec::new();
        while let Some(part) = envelopes.next().await? {
            let EnvelopePart::Message { flags, message } = part else { panic!("trailers") };
            messages.push((flags, message));
        }
        Ok(messages)
    }

    #[tokio::test]
    async fn messages_come_out_as_they_were_put_in() {
        let two = [envelope(0, b"abc"), envelope(2, b"")].concat();
        let wanted = vec![(0, Bytes::from_static(b"abc")), (2, Bytes::new())];
        assert_eq!(read(&two).await.unwrap(), wanted);
        assert!(read(b"").await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn what_is_too_long_or_breaks_off_is_refused() {
        assert_eq!(read(&envelope(0, &[1; 11])).await.unwrap_err().code(), Code::ResourceExhausted);
        for end in 1..8 {
            let part = &envelope(0, b"abc")[..end];
            assert_eq!(read(part).await.unwrap_err().code(), Code::InvalidArgument, "{end}");
        }
        let broken = || {
            let frames = tokio_stream::iter([Ok(http_body::Frame::data(Bytes::from("ab"))), Err("gone")]);
            Body::new(http_body_util::StreamBody::new(frames))
        };
        assert_eq!(only_of(broken()).await.unwrap_err().code(), Code::InvalidArgument);
        let mut envelopes = messages_of(broken());
        assert_eq!(envelopes.next().await.err().unwrap().code(), Code::InvalidArgument);
        // As the transport shows one whose client has cancelled it.
        let cancelled = tokio_stream::iter([Ok::<_, Status>(http_body::Frame::data(Bytes::from("ab")))]);
        let cancelled = Body::new(http_body_util::StreamBody::new(cancelled));
        assert_eq!(only_of(cancelled).await.unwrap_err().code(), Code::Cancelled);
        let whole = |len| only_of(Body::new(Full::new(Bytes::from(vec![b'x'; len]))));
        assert_eq!(whole(10).await.unwrap().len(), 10);
        assert_eq!(whole(11).await.unwrap_err().code(), Code::ResourceExhausted);
    }
}
