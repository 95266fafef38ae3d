//! The layer that refuses what is not gRPC, before anything else is decided about it.
//!
//! The protocol demands an HTTP status for it, because the client may know no gRPC ones.

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use tonic::body::Body;
use tonic::codegen::http::header::{ACCEPT, CONTENT_TYPE};
use tonic::codegen::http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use tower::{Layer, Service};

use crate::service::metrics;

/// The content types of gRPC.
const CONTENT_TYPES: [&str; 2] = ["application/grpc", "application/grpc+proto"];

/// The layer that refuses what is not gRPC.
#[derive(Clone, Copy)]
pub(crate) struct GrpcOnlyLayer;

impl<S> Layer<S> for GrpcOnlyLayer {
    type Service = GrpcOnly<S>;

    fn layer(&self, inner: S) -> GrpcOnly<S> {
        GrpcOnly { inner }
    }
}

/// The service inside a [`GrpcOnlyLayer`].
#[derive(Clone)]
pub(crate) struct GrpcOnly<S> {
    inner: S,
}

impl<S> Service<Request<Body>> for GrpcOnly<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Future: Unpin>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = GrpcOnlyFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if is_grpc(request.headers()) {
            return GrpcOnlyFuture::Call(self.inner.call(request));
        }
        metrics::refused("content_type");
        GrpcOnlyFuture::Refused(Some(unsupported()))
    }
}

/// The future of a call, or of a refusal.
pub(crate) enum GrpcOnlyFuture<F> {
    Call(F),
    Refused(Option<Response<Body>>),
}

impl<F, E> Future for GrpcOnlyFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        match &mut *self {
            Self::Call(response) => Pin::new(response).poll(cx),
            // A future is not polled again after it was ready, so there is a response.
            Self::Refused(response) => Poll::Ready(Ok(response.take().unwrap_or_default())),
        }
    }
}

/// Whether a request is gRPC, by its content type.
fn is_grpc(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    CONTENT_TYPES.iter().any(|known| kind.eq_ignore_ascii_case(known))
}

/// The response to a request that is not gRPC.
fn unsupported() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    response.headers_mut().insert(ACCEPT, HeaderValue::from_static(CONTENT_TYPES[0]));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_is_known_by_its_content_type() {
        let is_call = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            is_grpc(&headers)
        };
        for kind in ["application/grpc", "application/grpc+proto", "Application/gRPC; charset=utf-8"] {
            assert!(is_call(kind), "{kind}");
        }
        for kind in ["", "application/grpc-web", "application/grpc+json", "application/json", "text/html"] {
            assert!(!is_call(kind), "{kind}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }
}
