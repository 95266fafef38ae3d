//! The Connect protocol: a request as a gRPC call, and the answer to that call as a response.
//!
//! A unary call is a plain POST of one message, or a GET with the message in its query, whose failure
//! has an HTTP status and a JSON body. A streaming call has its messages in envelopes, and says at the
//! end of its body how it ended. Protocol: <https://connectrpc.com/docs/protocol/>.
//!
//! **Invariant:** a body is read only when the call wants it, behind tokens and limits; and what is
//! wrong with it ends the call as an error of its body does, so that the call is counted and has an
//! id like any other.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream::{once, try_unfold};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use percent_encoding::percent_decode;
use prost_reflect::MessageDescriptor;
use serde::Serialize;
use tokio::sync::Semaphore;
use tonic::body::Body;
use tonic::codegen::http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, TE,
    TRANSFER_ENCODING, VARY, WWW_AUTHENTICATE,
};
use tonic::codegen::http::{
    HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, Request, Response, StatusCode, Version,
};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::service::http::envelope::{EnvelopePart, Envelopes, envelope, whole_body};
use crate::service::http::json::{ErrorJson, MethodTypes, Schema, from_json, to_json};
use crate::service::http::page::takes_gzip;
use crate::service::net::connection::HttpService;
use crate::service::net::framing::{BodyProgress, RequestMessages};
use crate::service::net::unpack::Encoding;
use crate::service::wire::status::{body_encoding_unknown, body_invalid, header_invalid, work_broke_down};

/// The header that bounds the time of a call, in milliseconds.
const TIMEOUT: HeaderName = HeaderName::from_static("connect-timeout-ms");

/// The header of the protocol's version.
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("connect-protocol-version");

/// The encoding of the messages of a stream.
const STREAM_ENCODING: HeaderName = HeaderName::from_static("connect-content-encoding");

/// The encodings that a client takes for the messages of a stream.
const STREAM_ACCEPT_ENCODING: HeaderName = HeaderName::from_static("connect-accept-encoding");

/// The name of the encoding of answers.
const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// The size from which messages of answers are packed.
const PACKED_BYTES: usize = 1 << 10;

/// The flag of an envelope that holds a packed message.
const PACKED: u8 = 1;

/// The header of the same as [`TIMEOUT`] for gRPC.
const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// The header of the id of a call.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header of the status of a call.
const GRPC_STATUS: &str = "grpc-status";

/// What is wrong with a query whose values can be none of the protocol's.
const BAD_QUERY: &str = "`connect` or `compression` in the query has characters that no header can carry.\n";

/// The most digits of a time-out.
const TIMEOUT_DIGITS: usize = 10;

/// The most milliseconds that a time-out of gRPC can state as such.
const MAX_GRPC_MILLIS: u64 = 99_999_999;

/// The flag of an envelope that holds the end of a stream.
const END_OF_STREAM: u8 = 2;

/// The size from which a message in JSON is translated on a thread that may block: a millisecond or so.
const LARGE_BYTES: usize = 32 << 10;

/// The most large messages that are translated at the same time, because a message takes up to fifty
/// times its bytes while it is.
const LARGE_AT_ONCE: usize = 4;

/// The permits of those translations.
static LARGE: Semaphore = Semaphore::const_new(LARGE_AT_ONCE);

/// The form of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageCodec {
    Json,
    Proto,
}

impl MessageCodec {
    /// What is in JSON of messages like this.
    fn json(self, descriptor: Option<MessageDescriptor>) -> Option<MessageDescriptor> {
        descriptor.filter(|_| self == Self::Json)
    }

    const fn unary_type(self) -> HeaderValue {
        match self {
            Self::Json => HeaderValue::from_static("application/json"),
            Self::Proto => HeaderValue::from_static("application/proto"),
        }
    }

    const fn stream_type(self) -> HeaderValue {
        match self {
            Self::Json => HeaderValue::from_static("application/connect+json"),
            Self::Proto => HeaderValue::from_static("application/connect+proto"),
        }
    }
}

/// How the messages of requests become those of gRPC.
#[derive(Clone)]
struct Incoming {
    /// The encoding of packed messages.
    encoding: Option<Encoding>,
    /// What is in JSON.
    json: Option<MessageDescriptor>,
    /// The most bytes of a message.
    limit: usize,
}

impl Incoming {
    async fn message(self, mut message: Bytes, is_packed: bool) -> Result<Bytes, Status> {
        let Self { mut encoding, json, limit } = self;
        // An empty message is not worth packing.
        if !is_packed || message.is_empty() {
            encoding = None;
        } else if let Some(packed) = encoding
            && let Some(short) = packed.unpack_short_alone(&message, limit)?
        {
            (message, encoding) = (short, None);
        }
        if encoding.is_none() && json.is_none() {
            return Ok(message);
        }
        aside(encoding.is_some() || message.len() >= LARGE_BYTES, move || {
            let plain = match encoding {
                Some(encoding) => encoding.unpack_alone(&message, limit)?,
                None => message,
            };
            match json {
                Some(descriptor) => from_json(&plain, &descriptor),
                None => Ok(plain),
            }
        })
        .await
    }
}

/// How the messages of answers become those of the client.
#[derive(Clone)]
struct Outgoing {
    takes_gzip: bool,
    /// What is to be JSON.
    json: Option<MessageDescriptor>,
}

impl Outgoing {
    /// The message, and whether it is packed.
    async fn message(self, message: Bytes) -> Result<(Bytes, bool), Status> {
        let Self { takes_gzip, json } = self;
        if json.is_none() && !takes_gzip {
            return Ok((message, false));
        }
        aside(message.len() >= LARGE_BYTES, move || {
            let message = match json {
                Some(descriptor) => to_json(&message, &descriptor)?,
                None => message,
            };
            if !takes_gzip || message.len() < PACKED_BYTES {
                return Ok((message, false));
            }
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            // Writing into memory does not fail.
            let packed =
                gzip.write_all(&message).and_then(|()| gzip.finish()).map_err(|_| work_broke_down())?;
            Ok((packed.into(), true))
        })
        .await
    }
}

/// Works on a message, away from the threads that move bytes if that takes long.
async fn aside<T: Send + 'static>(
    is_large: bool,
    work: impl FnOnce() -> Result<T, Status> + Send + 'static,
) -> Result<T, Status> {
    if !is_large {
        return work();
    }
    // The semaphore is never closed. A call that has gone leaves its work behind, which keeps the permit.
    let permit = LARGE.acquire().await.map_err(|_| work_broke_down())?;
    let work = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    work.await.map_err(|_| work_broke_down())?
}

/// The POST that a GET stands for: the message in its body, and what describes it in the headers.
///
/// # Errors
/// A sentence about an encoding of messages that is none of the protocol's, or a query that is damaged.
pub(super) fn posted(request: Request<Body>) -> Result<(Request<Body>, MessageCodec), &'static str> {
    let (mut parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().replace('+', " ");
    let get = |name: &str| -> Option<Cow<'_, [u8]>> {
        let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (_, value) = pairs.find(|(named, _)| *named == name)?;
        Some(percent_decode(value.as_bytes()).into())
    };
    let codec = match get("encoding").as_deref() {
        Some(b"json") => MessageCodec::Json,
        Some(b"proto") => MessageCodec::Proto,
        _ => return Err("A call by GET has `encoding=json` or `encoding=proto` in its query.\n"),
    };
    let message = get("message").unwrap_or_default();
    let message = match get("base64").as_deref() {
        Some(b"1") => {
            let text = message.trim_ascii_end();
            let end = text.iter().rposition(|&byte| byte != b'=').map_or(0, |last| last + 1);
            let decoded = URL_SAFE_NO_PAD.decode(&text[..end]);
            decoded.map_err(|_| "The message in the query is not base64 with the alphabet of URLs.\n")?
        }
        _ => message.into_owned(),
    };
    let version = get("connect").map(|version| version.strip_prefix(b"v").unwrap_or(&version).to_vec());
    let compression = get("compression").map(Cow::into_owned).filter(|name| !name.is_empty());
    let described = [(PROTOCOL_VERSION, version), (CONTENT_ENCODING, compression)];
    for (name, value) in described {
        if let Some(value) = value {
            let value = HeaderValue::from_bytes(&value).map_err(|_| BAD_QUERY)?;
            parts.headers.insert(name, value);
        }
    }
    parts.method = HttpMethod::POST;
    Ok((Request::from_parts(parts, Body::new(Full::new(message.into()))), codec))
}

/// Answers a unary call. Without a method the call ends as one of an unknown method does.
pub(super) async fn unary(
    calls: impl HttpService,
    request: Request<Body>,
    method: Option<MethodTypes>,
    codec: MessageCodec,
    message_bytes: usize,
    schema: Arc<Schema>,
) -> Result<Response<Body>, Infallible> {
    let is_known = method.is_some();
    let (requested, answered) = method.map(|method| (method.request, method.response)).unzip();
    let takes_gzip = takes_gzip(request.headers(), &ACCEPT_ENCODING);
    let outgoing = Outgoing { takes_gzip, json: codec.json(answered) };
    let progress = progress_of(&request);
    let request = grpc_request(request, CONTENT_ENCODING, is_known, |body, encoding| {
        let incoming = Incoming { encoding, json: codec.json(requested), limit: message_bytes };
        Body::new(StreamBody::new(once(async move {
            let message = whole_body(body, message_bytes, &progress).await?;
            let message = incoming.message(message, true).await?;
            Ok::<_, Status>(Frame::data(envelope(0, &message)))
        })))
    });
    let (response, id) = call(calls, request).await?;
    let answer = async { outgoing.message(only_message(response).await?).await };
    let mut response = match answer.await {
        Ok((message, is_packed)) => {
            let mut response = Response::new(Body::new(Full::new(message)));
            response.headers_mut().insert(CONTENT_TYPE, codec.unary_type());
            response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
            if is_packed {
                response.headers_mut().insert(CONTENT_ENCODING, GZIP);
            }
            response
        }
        Err(status) => {
            let error = json_text(&schema.error(&status));
            let mut response = Response::new(Body::new(Full::new(error)));
            *response.status_mut() = http_status(status.code());
            response.headers_mut().insert(CONTENT_TYPE, MessageCodec::Json.unary_type());
            if let Some(delay) = status.get_details_retry_info().and_then(|info| info.retry_delay) {
                response.headers_mut().insert(RETRY_AFTER, seconds(delay).into());
            }
            if status.code() == Code::Unauthenticated {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            response
        }
    };
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    Ok(response)
}

/// A delay in whole seconds, which it does not end before.
fn seconds(delay: Duration) -> u64 {
    delay.as_secs() + u64::from(delay.subsec_nanos() > 0)
}

/// Answers a streaming call.
pub(super) async fn stream(
    calls: impl HttpService,
    request: Request<Body>,
    method: Option<MethodTypes>,
    codec: MessageCodec,
    message_bytes: usize,
    schema: Arc<Schema>,
) -> Result<Response<Body>, Infallible> {
    let is_known = method.is_some();
    let (requested, answered) = method.map(|method| (method.request, method.response)).unzip();
    let takes_gzip = takes_gzip(request.headers(), &STREAM_ACCEPT_ENCODING);
    let outgoing = Outgoing { takes_gzip, json: codec.json(answered) };
    let progress = progress_of(&request);
    let request = grpc_request(request, STREAM_ENCODING, is_known, |body, encoding| {
        let incoming = Incoming { encoding, json: codec.json(requested), limit: message_bytes };
        let messages =
            try_unfold(Envelopes::of_client(body, message_bytes, progress), move |mut envelopes| {
                let incoming = incoming.clone();
                async move {
                    let Some(EnvelopePart::Message { flags, message }) = envelopes.next().await? else {
                        return Ok::<_, Status>(None);
                    };
                    let is_packed = flags == PACKED && incoming.encoding.is_some();
                    if flags != 0 && !is_packed {
                        return Err(body_invalid("A message has flags, and none are known here."));
                    }
                    let message = incoming.message(message, is_packed).await?;
                    Ok(Some((Frame::data(envelope(0, &message)), envelopes)))
                }
            });
        Body::new(RequestMessages::new(messages))
    });
    let (response, id) = call(calls, request).await?;
    let (parts, body) = response.into_parts();
    let body = match early_status(&parts.headers) {
        Some(status) => {
            let end = end_of_stream(&status, &schema);
            Body::new(StreamBody::new(once(std::future::ready(Ok::<_, Status>(end)))))
        }
        None => {
            let messages = try_unfold(Some(Envelopes::new(body)), move |envelopes| {
                let (schema, outgoing) = (Arc::clone(&schema), outgoing.clone());
                async move {
                    let Some(mut envelopes) = envelopes else { return Ok::<_, Status>(None) };
                    Ok(Some(match next_message(&mut envelopes, outgoing).await {
                        Ok((message, is_packed)) => {
                            (Frame::data(envelope(u8::from(is_packed) * PACKED, &message)), Some(envelopes))
                        }
                        Err(status) => (end_of_stream(&status, &schema), None),
                    }))
                }
            });
            Body::new(StreamBody::new(messages))
        }
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, codec.stream_type());
    if takes_gzip {
        response.headers_mut().insert(STREAM_ENCODING, GZIP);
    }
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    Ok(response)
}

/// The next message of a response in the client's form, and whether it is packed.
///
/// # Errors
/// The status of the call at its end, `OK` included.
async fn next_message(envelopes: &mut Envelopes, outgoing: Outgoing) -> Result<(Bytes, bool), Status> {
    match envelopes.next().await? {
        Some(EnvelopePart::Message { message, .. }) => outgoing.message(message).await,
        Some(EnvelopePart::Trailers(trailers)) => {
            Err(Status::from_header_map(&trailers).unwrap_or_else(work_broke_down))
        }
        None => Err(work_broke_down()),
    }
}

/// The last envelope of a stream, which says how the call ended.
fn end_of_stream(status: &Status, schema: &Schema) -> Frame<Bytes> {
    let error = (status.code() != Code::Ok).then(|| schema.error(status));
    Frame::data(envelope(END_OF_STREAM, &json_text(&EndOfStream { error })))
}

/// How a stream ended.
#[derive(Serialize)]
struct EndOfStream {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorJson>,
}

/// A value as JSON. Ours have no keys that are no strings, so it does not fail.
fn json_text(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// Makes the call, and takes its id out of the headers of the response.
async fn call(
    mut calls: impl HttpService,
    request: Request<Body>,
) -> Result<(Response<Body>, Option<HeaderValue>), Infallible> {
    std::future::poll_fn(|cx| calls.poll_ready(cx)).await?;
    let mut response = calls.call(request).await?;
    let id = response.headers_mut().remove(REQUEST_ID);
    Ok((response, id))
}

/// The progress of the body of a request. Only a request that does not come from the gateway has none.
fn progress_of(request: &Request<Body>) -> Arc<BodyProgress> {
    request.extensions().get().cloned().unwrap_or_default()
}

/// The gRPC request for one of Connect, whose body `translate` translates, if the method is known.
fn grpc_request(
    request: Request<Body>,
    encoding: HeaderName,
    is_known: bool,
    translate: impl FnOnce(Body, Option<Encoding>) -> Body,
) -> Request<Body> {
    let (mut parts, body) = request.into_parts();
    let body = match read_headers(&mut parts.headers, &encoding) {
        Ok(encoding) if is_known => translate(body, encoding),
        // What nobody is going to read.
        Ok(_) => Body::empty(),
        Err(status) => Body::new(StreamBody::new(once(std::future::ready(Err::<Frame<Bytes>, _>(status))))),
    };
    // They describe the body and the connection on which it came.
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, encoding] {
        parts.headers.remove(name);
    }
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    parts.headers.insert(TE, HeaderValue::from_static("trailers"));
    parts.version = Version::HTTP_2;
    Request::from_parts(parts, body)
}

/// Reads the headers of the protocol, and sets those of gRPC. Returns the encoding of packed messages.
fn read_headers(headers: &mut HeaderMap, encoding: &HeaderName) -> Result<Option<Encoding>, Status> {
    // A client of this protocol has no business with it, and the two might differ.
    headers.remove(GRPC_TIMEOUT);
    if let Some(version) = headers.get(PROTOCOL_VERSION)
        && version != "1"
    {
        return Err(header_invalid("connect-protocol-version", "The version of the Connect protocol is 1."));
    }
    let named = headers.get(encoding).map(HeaderValue::as_bytes).filter(|name| *name != b"identity");
    let encoding = named.and_then(Encoding::named);
    if let (Some(name), None) = (named, encoding) {
        return Err(body_encoding_unknown(&String::from_utf8_lossy(name)));
    }
    let Some(timeout) = headers.remove(TIMEOUT) else { return Ok(encoding) };
    let timeout = timeout.to_str().ok().and_then(grpc_timeout).ok_or_else(|| {
        let what = format!("A time-out is a number of milliseconds of at most {TIMEOUT_DIGITS} digits.");
        header_invalid("connect-timeout-ms", &what)
    })?;
    headers.insert(GRPC_TIMEOUT, timeout);
    Ok(encoding)
}

/// The time-out of gRPC for one of Connect.
fn grpc_timeout(millis: &str) -> Option<HeaderValue> {
    if millis.len() > TIMEOUT_DIGITS || !millis.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis: u64 = millis.parse().ok()?;
    let text = if millis <= MAX_GRPC_MILLIS { format!("{millis}m") } else { format!("{}S", millis / 1000) };
    text.try_into().ok()
}

/// The status of a response that has no messages.
fn early_status(headers: &HeaderMap) -> Option<Status> {
    headers.contains_key(GRPC_STATUS).then(|| Status::from_header_map(headers)).flatten()
}

/// The only message of a response.
async fn only_message(response: Response<Body>) -> Result<Bytes, Status> {
    let (parts, body) = response.into_parts();
    if let Some(status) = early_status(&parts.headers) {
        return Err(status);
    }
    let mut envelopes = Envelopes::new(body);
    let mut only = None;
    loop {
        match envelopes.next().await? {
            Some(EnvelopePart::Message { message, .. }) => only = Some(message),
            Some(EnvelopePart::Trailers(trailers)) => {
                let status = Status::from_header_map(&trailers).unwrap_or_else(work_broke_down);
                return if status.code() == Code::Ok {
                    only.ok_or_else(work_broke_down)
                } else {
                    Err(status)
                };
            }
            None => return Err(work_broke_down()),
        }
    }
}

/// The HTTP status for a code, as the protocol assigns them.
fn http_status(code: Code) -> StatusCode {
    let number = match code {
        Code::Ok => 200,
        Code::Cancelled => 499,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => 400,
        Code::DeadlineExceeded => 504,
        Code::NotFound => 404,
        Code::AlreadyExists | Code::Aborted => 409,
        Code::PermissionDenied => 403,
        Code::ResourceExhausted => 429,
        Code::Unimplemented => 501,
        Code::Unavailable => 503,
        Code::Unauthenticated => 401,
        Code::Unknown | Code::Internal | Code::DataLoss => 500,
    };
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_milliseconds() {
        let timeout = |text| grpc_timeout(text).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(timeout("0").as_deref(), Some("0m"));
        assert_eq!(timeout("99999999").as_deref(), Some("99999999m"));
        assert_eq!(timeout("9999999999").as_deref(), Some("9999999S"));
        for bad in ["", "-1", "1.5", "10s", "99999999999", "+5"] {
            assert_eq!(timeout(bad), None, "{bad}");
        }
    }
}
