//! Tokens: the layer that lets only authorized calls pass, and refuses requests that are not gRPC.
//!
//! A call carries its token as `authorization: Bearer TOKEN`.
//!
//! **Invariant:** tokens are kept only as digests, and a call's token is compared with all of them
//! in constant time, so neither memory nor timing reveals a token.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context as TaskContext, Poll};

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use subtle::{Choice, ConstantTimeEq as _};
use tonic::body::Body;
use tonic::codegen::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use tonic::codegen::http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use tower::{Layer, Service};

use crate::service::metrics;
use crate::service::wire::status::unauthenticated;

/// The scheme before the token in the header.
const SCHEME: &str = "Bearer ";

/// The shortest token that is accepted, because shorter ones can be guessed.
const MIN_TOKEN_BYTES: usize = 16;

/// The health service, which needs no token, because probes have none.
const HEALTH_SERVICE: &str = "/grpc.health.v1.Health/";

/// The content types of gRPC. Other requests are refused unread, as the protocol demands.
const CONTENT_TYPES: [&str; 2] = ["application/grpc", "application/grpc+proto"];

/// The error of a token file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("The token file {} {problem}", path.display())]
pub struct TokenError {
    path: PathBuf,
    problem: String,
}

type Digest = [u8; SHA256_OUTPUT_LEN];

/// The current tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    current: RwLock<Vec<Digest>>,
}

impl Tokens {
    /// Reads a file with one token a line. Blank lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// [`TokenError`].
    pub(crate) fn open(path: PathBuf) -> Result<Self, TokenError> {
        let tokens = read(&path)?;
        Ok(Self { path, current: RwLock::new(tokens) })
    }

    /// Reads the file again, for calls from now on.
    ///
    /// # Errors
    /// [`TokenError`]; the old tokens stay in force.
    pub(crate) fn reload(&self) -> Result<(), TokenError> {
        let tokens = read(&self.path)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        Ok(())
    }

    /// Whether this is one of the tokens, in constant time.
    fn contain(&self, token: &[u8]) -> bool {
        let given = digest_of(token);
        let tokens = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let found = tokens.iter().fold(Choice::from(0), |found, known| found | known.ct_eq(&given));
        found.into()
    }
}

fn digest_of(token: &[u8]) -> Digest {
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(digest(&SHA256, token).as_ref());
    bytes
}

fn read(path: &Path) -> Result<Vec<Digest>, TokenError> {
    let wrong = |problem: String| TokenError { path: path.to_owned(), problem };
    let text = fs::read_to_string(path).map_err(|problem| wrong(format!("cannot be read: {problem}")))?;
    let mut tokens = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let token = line.trim();
        if token.is_empty() || token.starts_with('#') {
            continue;
        }
        // The error must not quote the token, because it goes to the log.
        if token.len() < MIN_TOKEN_BYTES {
            return Err(wrong(format!(
                "has a token of fewer than {MIN_TOKEN_BYTES} characters on line {number}"
            )));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(format!("has a token that no header can carry on line {number}")));
        }
        tokens.push(digest_of(token.as_bytes()));
    }
    if tokens.is_empty() { Err(wrong("has no token".to_owned())) } else { Ok(tokens) }
}

/// The layer that lets authorized gRPC calls pass.
#[derive(Clone, Debug)]
pub(crate) struct TokenLayer(pub(crate) Option<Arc<Tokens>>);

impl<S> Layer<S> for TokenLayer {
    type Service = TokenService<S>;

    fn layer(&self, inner: S) -> TokenService<S> {
        TokenService { tokens: self.0.clone(), inner }
    }
}

/// The service inside a [`TokenLayer`].
#[derive(Clone, Debug)]
pub(crate) struct TokenService<S> {
    tokens: Option<Arc<Tokens>>,
    inner: S,
}

impl<S, B> Service<Request<B>> for TokenService<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = TokenFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // Inner layers that log headers hide a sensitive one.
        if let Some(header) = request.headers_mut().get_mut(AUTHORIZATION) {
            header.set_sensitive(true);
        }
        if !is_grpc(request.headers()) {
            metrics::refused("content_type");
            return TokenFuture::Refused(Some(unsupported()));
        }
        match &self.tokens {
            Some(tokens) if !is_authorized(tokens, &request) => {
                metrics::refused("token");
                let is_given = request.headers().contains_key(AUTHORIZATION);
                TokenFuture::Refused(Some(unauthenticated(is_given).into_http()))
            }
            _ => TokenFuture::Admitted(Box::pin(self.inner.call(request))),
        }
    }
}

fn is_authorized<B>(tokens: &Tokens, request: &Request<B>) -> bool {
    if request.uri().path().starts_with(HEALTH_SERVICE) {
        return true;
    }
    let header = request.headers().get(AUTHORIZATION).map_or(&b""[..], |header| header.as_bytes());
    header.strip_prefix(SCHEME.as_bytes()).is_some_and(|token| tokens.contain(token))
}

/// The future of a call that was admitted, or of a refusal.
pub(crate) enum TokenFuture<F> {
    Admitted(std::pin::Pin<Box<F>>),
    Refused(Option<Response<Body>>),
}

impl<F, E> Future for TokenFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        match &mut *self {
            Self::Admitted(response) => response.as_mut().poll(cx),
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

/// The response to a request that is not gRPC: an HTTP status, because its client may know no gRPC
/// ones.
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
