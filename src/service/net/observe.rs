//! Observation: the layer around every call, with its id, its span in the log and in traces, and
//! its status.
//!
//! A call's id is the client's `x-request-id` if that is well formed, or else a fresh one. It is a
//! field of the span in which all of the call's work runs, on worker threads as well, and is
//! returned to the client: in the headers, in the trailers of a call that fails, and in the details
//! of its status.
//!
//! **Invariant:** every call is counted exactly once, with the status that its client gets. A call
//! that is dropped before it has ended counts as cancelled, unless its answers were not read.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context as TaskContext, Poll, ready};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{Status as SpanStatus, TraceContextExt as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tokio::time::Sleep;
use tonic::body::Body;
use tonic::codegen::http::header::USER_AGENT;
use tonic::codegen::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use tonic::{Code, Status};
use tower::{Layer, Service};
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::service::metrics::CallMeter;
use crate::service::net::admission::Admission;
use crate::service::net::call::{CallSlot, CallState};
use crate::service::net::deadline::Deadline;
use crate::service::net::framing::FramePoll;
use crate::service::net::handle::ConnectionHandle;
use crate::service::wire::methods::{SERVICE, declared, method_of};
use crate::service::wire::status;

/// A number as spans record it: those of OpenTelemetry have a sign, and take others for texts.
pub(crate) fn as_recorded(number: u64) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The header of the request id.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header of the trace and the span that a call belongs to, if any.
const TRACEPARENT: &str = "traceparent";

/// The longest id that is accepted from a client, because every line logged for the call repeats
/// it.
const MAX_ID_BYTES: usize = 128;

/// The header of the status of a call, which can also be a trailer.
const GRPC_STATUS: &str = "grpc-status";

/// The protocol by which a call came, before it became one of gRPC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Protocol {
    #[default]
    Grpc,
    GrpcWeb,
    Connect,
}

impl Protocol {
    const ALL: [Self; 3] = [Self::Grpc, Self::GrpcWeb, Self::Connect];

    /// The name, in metrics and the access log.
    const fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::GrpcWeb => "grpc-web",
            Self::Connect => "connect",
        }
    }
}

/// The labels of protocols.
pub(crate) fn protocol_labels() -> [&'static str; 3] {
    Protocol::ALL.map(Protocol::name)
}

/// A call that has ended, for an access log.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct CallRecord<'a> {
    /// The address of the client, or `unix`.
    pub peer: &'a dyn fmt::Display,
    /// The name of its token, if it has one with a name.
    pub client: Option<&'a str>,
    /// The protocol: `grpc`, `grpc-web` or `connect`.
    pub protocol: &'static str,
    /// The beginning of its `user-agent`, as the client sent it, if it did.
    pub user_agent: Option<&'a str>,
    /// The method; `health`, `reflection` or `unknown` for those of other services.
    pub method: &'static str,
    /// The status, by its name in the protocol.
    pub status: &'static str,
    /// The reason of a status other than `OK`, as in the details that the client gets, if it gets any.
    pub reason: Option<&'a str>,
    /// How long it was open.
    pub seconds: f64,
    /// The bytes of its request that have come, as messages of gRPC.
    pub received_bytes: u64,
    /// The bytes of its response that were sent, as messages of gRPC.
    pub sent_bytes: u64,
    /// The messages of puzzles that its method has read; 0 for methods that take nothing off a quota.
    pub messages: u64,
    /// The puzzle lines that it has read or made; 0 for the same methods.
    pub lines: u64,
    /// The id of the call.
    pub request_id: &'a str,
}

/// What is told of every call that has ended, refused ones included. It must not block.
pub type CallObserver = Arc<dyn Fn(&CallRecord<'_>) + Send + Sync>;

/// The layer that observes every call.
#[derive(Clone)]
pub(crate) struct ObserveLayer {
    /// The limit on messages, for the status of a call that exceeds it.
    pub(crate) message_bytes: usize,
    /// The calls that are open.
    pub(crate) admission: Arc<Admission>,
    /// Who is told of each call that has ended.
    pub(crate) observer: Option<CallObserver>,
}

impl<S> Layer<S> for ObserveLayer {
    type Service = ObserveService<S>;

    fn layer(&self, inner: S) -> ObserveService<S> {
        ObserveService { settings: self.clone(), inner }
    }
}

/// The service inside an [`ObserveLayer`].
#[derive(Clone)]
pub(crate) struct ObserveService<S> {
    settings: ObserveLayer,
    inner: S,
}

impl<S, B> Service<Request<B>> for ObserveService<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = ObserveFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let connection = request.extensions().get::<ConnectionHandle>().cloned().unwrap_or_default();
        // From the headers on, because it is the client's: its message may be long under way.
        let deadline = Deadline::of(request.headers());
        let state = CallState::new(connection, deadline);
        if let Some(slot) = request.extensions().get::<CallSlot>() {
            // A request is one call.
            let _ = slot.set(Arc::clone(&state));
        }
        let call = ObservedCall::begin(&self.settings, Arc::clone(&state), &request);
        request.extensions_mut().insert(state);
        let response = call.span.in_scope(|| Box::pin(self.inner.call(request)));
        ObserveFuture { response, timer: deadline.timer().map(Box::pin), call: Some(call) }
    }
}

/// The future of the response to a call.
pub(crate) struct ObserveFuture<F> {
    response: Pin<Box<F>>,
    timer: Option<Pin<Box<Sleep>>>,
    call: Option<ObservedCall>,
}

impl<F, E> Future for ObserveFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        let Self { response, timer, call } = &mut *self;
        if let Some(ending) = call.as_ref().and_then(|call| call.state.response_ends(cx))
            && let Some(call) = call.take()
        {
            // The work of the call ends with this future.
            return Poll::Ready(Ok(call.answered(ending.status().into_http())));
        }
        let span = call.as_ref().map_or_else(Span::none, |call| call.span.clone());
        let Poll::Ready(response) = span.in_scope(|| response.as_mut().poll(cx)) else {
            let Some(timer) = timer else { return Poll::Pending };
            ready!(timer.as_mut().poll(cx));
            return match call.take() {
                Some(call) => Poll::Ready(Ok(call.answered(status::deadline_passed().into_http()))),
                None => Poll::Pending,
            };
        };
        Poll::Ready(match (response, call.take()) {
            (Ok(response), Some(call)) => Ok(call.answered(response)),
            (response, _) => response,
        })
    }
}

/// A call that is under way. If it is dropped before it has ended, the client is gone, or takes no
/// answers over HTTP/1.1.
struct ObservedCall {
    message_bytes: usize,
    admission: Arc<Admission>,
    observer: Option<CallObserver>,
    state: Arc<CallState>,
    id: HeaderValue,
    path: Arc<str>,
    method: &'static str,
    protocol: Protocol,
    /// What the observer is told of it.
    user_agent: Option<String>,
    span: Span,
    meter: CallMeter,
    has_ended: bool,
}

impl ObservedCall {
    fn begin<B>(settings: &ObserveLayer, state: Arc<CallState>, request: &Request<B>) -> Self {
        let path = request.uri().path();
        let method = method_of(path);
        let id = client_id(request.headers()).unwrap_or_else(fresh_id);
        let shown = id.to_str().unwrap_or_default();
        // The highest level, so that every line logged in the call has the span, and with it the
        // id.
        let span = tracing::error_span!("call", method, request_id = shown, messages = Empty, lines = Empty);
        if request.headers().contains_key(TRACEPARENT) {
            let parent = TraceContextPropagator::new().extract(&HeaderExtractor(request.headers()));
            // It fails where no traces are collected.
            let _ = span.set_parent(parent);
        }
        let protocol = request.extensions().get().copied().unwrap_or_default();
        let user_agent = request.headers().get(USER_AGENT).filter(|_| settings.observer.is_some());
        Self {
            message_bytes: settings.message_bytes,
            admission: Arc::clone(&settings.admission),
            observer: settings.observer.clone(),
            state,
            id,
            path: path.into(),
            method,
            protocol,
            user_agent: user_agent.map(beginning),
            span,
            meter: CallMeter::of(method, protocol.name()),
            has_ended: false,
        }
    }

    /// Observes a response: one that has ended already, or whose messages follow.
    fn answered(mut self, response: Response<Body>) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        parts.headers.insert(REQUEST_ID, self.id.clone());
        if parts.status != StatusCode::OK {
            // It was no call at all, by its content type.
            self.ended_with(Code::InvalidArgument, Some("CONTENT_TYPE_UNKNOWN"));
        } else if parts.headers.contains_key(GRPC_STATUS) {
            self.finish(&mut parts.headers);
        } else {
            return Response::from_parts(parts, Body::new(ObservedBody { body, call: self }));
        }
        Response::from_parts(parts, body)
    }

    /// Completes the status in headers or trailers.
    fn finish(&mut self, headers: &mut HeaderMap) {
        if self.state.client_has_left() {
            // Nobody reads the status.
            return self.ended(Code::Cancelled);
        }
        let Some(status) = Status::from_header_map(headers) else { return self.ended(Code::Unknown) };
        if status.code() == Code::Ok {
            return self.ended(Code::Ok);
        }
        let id = self.id.to_str().unwrap_or_default();
        let status = status::complete(status, headers, &self.path, id, self.message_bytes);
        if status::is_own_fault(&status) {
            let span = self.span.clone();
            span.in_scope(|| tracing::error!(status = status::name(status.code()), "{}", status.message()));
        }
        headers.insert(REQUEST_ID, self.id.clone());
        // It fails only for characters that no header can carry, and messages are escaped.
        let _ = status.add_header(headers);
        let reason = self.observer.is_some().then(|| status::reason(&status)).flatten();
        self.ended_with(status.code(), reason.as_deref());
    }

    /// Ends the call without details of a status.
    fn ended(&mut self, code: Code) {
        let reason = match code {
            Code::Ok => None,
            Code::Cancelled => Some(status::CLIENT_LEFT),
            code => Some(status::name(code)),
        };
        self.ended_with(code, reason);
    }

    fn ended_with(&mut self, code: Code, reason: Option<&str>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        self.admission.leave(&self.state);
        let status = status::name(code);
        let seconds = self.meter.ended(status);
        self.record_in_trace(code);
        if let Some(observer) = &self.observer {
            let [received_bytes, sent_bytes] = self.state.bytes();
            observer(&CallRecord {
                peer: &self.state.connection.peer(),
                client: self.state.caller().and_then(|caller| caller.name()).map(|name| &**name),
                protocol: self.protocol.name(),
                user_agent: self.user_agent.as_deref(),
                method: self.method,
                status,
                reason,
                seconds,
                received_bytes,
                sent_bytes,
                messages: self.state.messages.load(Ordering::Relaxed),
                lines: self.state.lines.load(Ordering::Relaxed),
                request_id: self.id.to_str().unwrap_or_default(),
            });
        }
        self.span.in_scope(|| tracing::debug!(status, seconds, "the call has ended"));
    }
}

impl ObservedCall {
    /// Records the status in the trace, in the terms of OpenTelemetry.
    fn record_in_trace(&self, code: Code) {
        let context = self.span.context();
        let span = context.span();
        if !span.is_recording() {
            return;
        }
        let method = declared(self.method).map(|method| format!("{SERVICE}/{}", method.name));
        span.update_name(method.clone().unwrap_or_else(|| self.method.to_owned()));
        let (system, status) = match self.protocol {
            Protocol::Grpc | Protocol::GrpcWeb => ("grpc", status::name(code)),
            Protocol::Connect => ("connectrpc", status::connect_name(code)),
        };
        span.set_attribute(KeyValue::new("rpc.system.name", system));
        span.set_attribute(KeyValue::new("rpc.method", method.unwrap_or_else(|| "_OTHER".to_owned())));
        // The Connect protocol has codes of errors only.
        if system == "grpc" || code != Code::Ok {
            span.set_attribute(KeyValue::new("rpc.response.status_code", status));
        }
        // What a caller did wrong is no error of a server's span.
        let is_error = matches!(
            code,
            Code::Unknown
                | Code::DeadlineExceeded
                | Code::Unimplemented
                | Code::Internal
                | Code::Unavailable
                | Code::DataLoss
        );
        if is_error {
            span.set_attribute(KeyValue::new("error.type", status));
            span.set_status(SpanStatus::error(status));
        }
    }
}

impl Drop for ObservedCall {
    fn drop(&mut self) {
        if self.state.connection.has_stalled() {
            self.ended_with(Code::ResourceExhausted, Some(status::ANSWERS_UNREAD));
        } else {
            self.ended(Code::Cancelled);
        }
    }
}

/// The body of a response: its messages, and the status behind them.
struct ObservedBody {
    body: Body,
    call: ObservedCall,
}

impl HttpBody for ObservedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> FramePoll {
        let Self { body, call } = &mut *self;
        if call.has_ended {
            return Poll::Ready(None);
        }
        if let Some(ending) = call.state.response_ends(cx) {
            // The work of the call ends with its body.
            *body = Body::empty();
            let mut trailers = HeaderMap::new();
            let _ = ending.status().add_header(&mut trailers);
            call.finish(&mut trailers);
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        let mut frame = ready!(call.span.in_scope(|| Pin::new(body).poll_frame(cx)));
        match &mut frame {
            Some(Ok(frame)) => {
                if let Some(trailers) = frame.trailers_mut() {
                    call.finish(trailers);
                } else {
                    call.state.sent(frame.data_ref().map_or(0, Bytes::len));
                }
            }
            Some(Err(status)) => call.ended(status.code()),
            None => call.ended(Code::Unknown),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The client's id, if it is fit for a log: not too long, and only visible characters.
fn client_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(REQUEST_ID)?;
    let bytes = id.as_bytes();
    let is_well_formed = (1..=MAX_ID_BYTES).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    is_well_formed.then(|| id.clone())
}

/// The beginning of a header of a client, of as many characters as an id has at most.
fn beginning(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).chars().take(MAX_ID_BYTES).collect()
}

/// A new id, which no other call of any server is likely to have.
fn fresh_id() -> HeaderValue {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = format!("{:016x}", KEYS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed)));
    // Digits are valid in a header.
    HeaderValue::try_from(id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

/// The headers of a request, as OpenTelemetry reads them.
struct HeaderExtractor<'a>(&'a HeaderMap);

impl Extractor for HeaderExtractor<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_clients_are_accepted_if_they_are_well_formed() {
        let taken = |id: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(id).unwrap());
            client_id(&headers).is_some()
        };
        assert!(taken(b"a") && taken(b"01-AZ.{}~") && taken(&[b'x'; MAX_ID_BYTES]));
        for bad in [&b""[..], b"two words", b"tab\tbed", "Ü".as_bytes(), &[b'x'; MAX_ID_BYTES + 1]] {
            assert!(!taken(bad), "{bad:?}");
        }
        assert!(client_id(&HeaderMap::new()).is_none());
    }

    #[test]
    fn fresh_ids_are_sixteen_digits_and_different() {
        let mut ids: Vec<_> = (0..1000).map(|_| fresh_id()).collect();
        assert!(ids.iter().all(|id| id.len() == 16 && id.as_bytes().iter().all(u8::is_ascii_hexdigit)));
        ids.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        ids.dedup();
        assert_eq!(ids.len(), 1000);
    }
}
