//! What is seen of every call from around it: its id, its span in the log and in traces, how it ended.
//!
//! A call's id is the client's `x-request-id` if that is a sane one, else a fresh one. It is a field of the span that all of
//! the call's work runs in, on the pool as well, and goes back to the client: in the headers, in the trailers of a call that
//! fails, and in the details of its status, which are completed here.

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
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use tonic::{Code, Status};
use tower::{Layer, Service};
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::service::metrics::SeenCall;
use crate::service::wire::status;

/// The header with the id of a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header with the trace and the span that a call is part of, if it is.
const TRACEPARENT: &str = "traceparent";

/// The longest id that is taken from a client, in bytes. It stands on every line that is logged for the call.
const MAX_ID_BYTES: usize = 128;

/// The header with the status of a call, which may also come behind the messages.
const GRPC_STATUS: &str = "grpc-status";

/// The service.
const SERVICE: &str = "sudoku.v1.SudokuService";

/// The methods of the service, by which calls are counted.
const METHODS: [&str; 11] = [
    "SolveStream",
    "SolveLines",
    "Solve",
    "SolveDataset",
    "ListDatasets",
    "GetPuzzle",
    "Validate",
    "Check",
    "Count",
    "Trace",
    "Generate",
];

/// What calls of other services count as, and where their paths begin.
const OTHERS: [(&str, &str); 2] =
    [("/grpc.health.v1.Health/", "health"), ("/grpc.reflection.", "reflection")];

/// The name under which a path is counted. There are few of them, whatever clients ask for.
fn method_of(path: &str) -> &'static str {
    match path.strip_prefix('/').and_then(|path| path.strip_prefix(SERVICE)?.strip_prefix('/')) {
        Some(asked) => METHODS.into_iter().find(|known| *known == asked),
        None => OTHERS.into_iter().find(|(begin, _)| path.starts_with(begin)).map(|(_, name)| name),
    }
    .unwrap_or("unknown")
}

/// Sees every call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observer {
    /// The largest message that is taken, for those who send a larger one.
    pub(crate) message_bytes: usize,
}

impl<S> Layer<S> for Observer {
    type Service = Observed<S>;

    fn layer(&self, inner: S) -> Observed<S> {
        Observed { observer: *self, inner }
    }
}

/// A service with an [`Observer`] around it.
#[derive(Clone, Debug)]
pub(crate) struct Observed<S> {
    observer: Observer,
    inner: S,
}

impl<S, B> Service<Request<B>> for Observed<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Observing<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let call = Call::begun(self.observer, &request);
        let response = call.span.in_scope(|| Box::pin(self.inner.call(request)));
        Observing { response, call: Some(call) }
    }
}

/// The response to a call, once there is one.
pub(crate) struct Observing<F> {
    response: Pin<Box<F>>,
    call: Option<Call>,
}

impl<F, E> Future for Observing<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        let Self { response, call } = &mut *self;
        let span = call.as_ref().map_or_else(Span::none, |call| call.span.clone());
        let response = ready!(span.in_scope(|| response.as_mut().poll(cx)));
        Poll::Ready(match (response, call.take()) {
            (Ok(response), Some(call)) => Ok(call.answered(response)),
            (response, _) => response,
        })
    }
}

/// A call that is under way. If it is dropped before it has ended, the client has left.
struct Call {
    observer: Observer,
    id: HeaderValue,
    path: Arc<str>,
    method: &'static str,
    span: Span,
    meter: SeenCall,
    has_ended: bool,
}

impl Call {
    fn begun<B>(observer: Observer, request: &Request<B>) -> Self {
        let path = request.uri().path();
        let method = method_of(path);
        let id = sane_id(request.headers()).unwrap_or_else(fresh_id);
        let shown = id.to_str().unwrap_or_default();
        // An error's span, so that whatever is logged of a call has its id.
        let span = tracing::error_span!("call", method, request_id = shown, messages = Empty, lines = Empty);
        if request.headers().contains_key(TRACEPARENT) {
            let parent = TraceContextPropagator::new().extract(&Carrier(request.headers()));
            // Refused where no traces are kept.
            let _ = span.set_parent(parent);
        }
        Self { observer, path: path.into(), method, span, meter: SeenCall::of(method), id, has_ended: false }
    }

    /// Sees a response off: one that has ended already, or whose messages follow.
    fn answered(mut self, response: Response<Body>) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        parts.headers.insert(REQUEST_ID, self.id.clone());
        if parts.status != StatusCode::OK {
            self.ended(Code::Unknown);
        } else if parts.headers.contains_key(GRPC_STATUS) {
            self.finish(&mut parts.headers);
        } else {
            return Response::from_parts(parts, Body::new(Watched { body, call: self }));
        }
        Response::from_parts(parts, body)
    }

    /// Completes the status that stands in headers or trailers.
    fn finish(&mut self, headers: &mut HeaderMap) {
        let Some(status) = Status::from_header_map(headers) else { return self.ended(Code::Unknown) };
        if status.code() == Code::Ok {
            return self.ended(Code::Ok);
        }
        let id = self.id.to_str().unwrap_or_default();
        let status = status::complete(status, headers, &self.path, id, self.observer.message_bytes);
        if status::is_own_fault(&status) {
            let span = self.span.clone();
            span.in_scope(|| tracing::error!(status = status::name(status.code()), "{}", status.message()));
        }
        headers.insert(REQUEST_ID, self.id.clone());
        // It fails only for what no header can carry, and messages are escaped.
        let _ = status.add_header(headers);
        self.ended(status.code());
    }

    fn ended(&mut self, code: Code) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let status = status::name(code);
        let seconds = self.meter.ended(status);
        self.tell_trace(code);
        self.span.in_scope(|| tracing::debug!(status, seconds, "the call has ended"));
    }
}

impl Call {
    /// Says how the call ended where traces are kept, in their words.
    fn tell_trace(&self, code: Code) {
        let context = self.span.context();
        let span = context.span();
        if !span.is_recording() {
            return;
        }
        let is_ours = METHODS.contains(&self.method);
        span.update_name(if is_ours { format!("{SERVICE}/{}", self.method) } else { self.method.to_owned() });
        let status = status::name(code);
        span.set_attribute(KeyValue::new("rpc.system.name", "grpc"));
        span.set_attribute(KeyValue::new("rpc.response.status_code", status));
        if code != Code::Ok {
            span.set_status(SpanStatus::error(status));
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.ended(Code::Cancelled);
    }
}

/// The messages of a response, and the status behind them.
struct Watched {
    body: Body,
    call: Call,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Self { body, call } = &mut *self;
        let mut frame = ready!(call.span.in_scope(|| Pin::new(body).poll_frame(cx)));
        match &mut frame {
            Some(Ok(frame)) => {
                if let Some(trailers) = frame.trailers_mut() {
                    call.finish(trailers);
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

/// The client's id, if it can stand in a log: not too long, and nothing but visible characters.
fn sane_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(REQUEST_ID)?;
    let bytes = id.as_bytes();
    let is_sane = (1..=MAX_ID_BYTES).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    is_sane.then(|| id.clone())
}

/// An id that no other call of any server is likely to have.
fn fresh_id() -> HeaderValue {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = format!("{:016x}", KEYS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed)));
    // Digits are fit for a header.
    HeaderValue::try_from(id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

/// Headers, for whoever looks for a trace in them.
struct Carrier<'a>(&'a HeaderMap);

impl Extractor for Carrier<'_> {
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
    fn ids_of_clients_are_taken_if_they_are_sane() {
        let taken = |id: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(id).unwrap());
            sane_id(&headers).is_some()
        };
        assert!(taken(b"a") && taken(b"01-AZ.{}~") && taken(&[b'x'; MAX_ID_BYTES]));
        for bad in [&b""[..], b"two words", b"tab\tbed", "Ü".as_bytes(), &[b'x'; MAX_ID_BYTES + 1]] {
            assert!(!taken(bad), "{bad:?}");
        }
        assert!(sane_id(&HeaderMap::new()).is_none());
    }

    #[test]
    fn fresh_ids_are_sixteen_digits_and_different() {
        let mut ids: Vec<_> = (0..1000).map(|_| fresh_id()).collect();
        assert!(ids.iter().all(|id| id.len() == 16 && id.as_bytes().iter().all(u8::is_ascii_hexdigit)));
        ids.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        ids.dedup();
        assert_eq!(ids.len(), 1000);
    }

    #[test]
    fn every_method_of_the_contract_has_its_own_name() {
        let contract = include_str!("../../../proto/sudoku/v1/sudoku.proto");
        let declared = contract.lines().filter_map(|line| line.trim().strip_prefix("rpc "));
        let declared: Vec<_> = declared.map(|rest| rest.split('(').next().unwrap()).collect();
        assert_eq!(declared, METHODS);
        assert_eq!(method_of("/sudoku.v1.SudokuService/Check"), "Check");
        assert_eq!(method_of("/grpc.health.v1.Health/Check"), "health");
        assert_eq!(method_of("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"), "reflection");
        for other in ["/sudoku.v1.SudokuService/Solv", "/sudoku.v1.SudokuService/", "/Solve", "/", ""] {
            assert_eq!(method_of(other), "unknown", "{other}");
        }
    }
}
