//! Tokens: who may call. What is no call at all is turned away here too.
//!
//! A call brings its token as `authorization: Bearer TOKEN`. Tokens are kept as digests, and a call's is compared with each of
//! them in constant time, so that neither memory nor time tells what they are.

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
use crate::service::wire::status::no_token;

/// What the header says before the token.
const SCHEME: &str = "Bearer ";

/// The shortest token that is taken. A shorter one would be guessed.
const LEAST_TOKEN_BYTES: usize = 16;

/// Where probes ask whether the server is well. They have no token, and are told nothing else.
const OPEN_TO_ALL: &str = "/grpc.health.v1.Health/";

/// What requests say that they carry. Anything else is not read at all, as the protocol wants it.
const CONTENT_TYPES: [&str; 2] = ["application/grpc", "application/grpc+proto"];

/// Why a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("The token file {} {problem}", path.display())]
pub struct TokenError {
    path: PathBuf,
    problem: String,
}

type Digest = [u8; SHA256_OUTPUT_LEN];

/// The tokens that are current.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    current: RwLock<Vec<Digest>>,
}

impl Tokens {
    /// Reads a file with a token a line. Blank lines and lines that begin with `#` are no tokens.
    ///
    /// # Errors
    /// [`TokenError`].
    pub(crate) fn open(path: PathBuf) -> Result<Self, TokenError> {
        let tokens = read(&path)?;
        Ok(Self { path, current: RwLock::new(tokens) })
    }

    /// Reads the file again, for the calls that come from now on.
    ///
    /// # Errors
    /// [`TokenError`]; all stays as it was.
    pub(crate) fn reload(&self) -> Result<(), TokenError> {
        let tokens = read(&self.path)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        Ok(())
    }

    /// Is this one of the tokens? It takes as long whether it is or not.
    fn have(&self, token: &[u8]) -> bool {
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
        // What is wrong is said without the token itself: this goes to the log.
        if token.len() < LEAST_TOKEN_BYTES {
            return Err(wrong(format!(
                "has a token of fewer than {LEAST_TOKEN_BYTES} characters on line {number}"
            )));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(format!("has a token that no header can carry on line {number}")));
        }
        tokens.push(digest_of(token.as_bytes()));
    }
    if tokens.is_empty() { Err(wrong("has no token".to_owned())) } else { Ok(tokens) }
}

/// Lets calls pass that speak our protocol, and have a token or need none.
#[derive(Clone, Debug)]
pub(crate) struct Guard(pub(crate) Option<Arc<Tokens>>);

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { tokens: self.0.clone(), inner }
    }
}

/// A service behind a [`Guard`].
#[derive(Clone, Debug)]
pub(crate) struct Guarded<S> {
    tokens: Option<Arc<Tokens>>,
    inner: S,
}

impl<S, B> Service<Request<B>> for Guarded<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Guarding<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // Whoever logs headers below does not log this one.
        if let Some(header) = request.headers_mut().get_mut(AUTHORIZATION) {
            header.set_sensitive(true);
        }
        if !is_a_call(request.headers()) {
            metrics::refused("content_type");
            return Guarding::Refused(Some(unsupported()));
        }
        match &self.tokens {
            Some(tokens) if !is_let_in(tokens, &request) => {
                metrics::refused("token");
                let is_given = request.headers().contains_key(AUTHORIZATION);
                Guarding::Refused(Some(no_token(is_given).into_http()))
            }
            _ => Guarding::LetIn(Box::pin(self.inner.call(request))),
        }
    }
}

fn is_let_in<B>(tokens: &Tokens, request: &Request<B>) -> bool {
    if request.uri().path().starts_with(OPEN_TO_ALL) {
        return true;
    }
    let header = request.headers().get(AUTHORIZATION).map_or(&b""[..], |header| header.as_bytes());
    header.strip_prefix(SCHEME.as_bytes()).is_some_and(|token| tokens.have(token))
}

/// The response to a call, or a refusal.
pub(crate) enum Guarding<F> {
    LetIn(std::pin::Pin<Box<F>>),
    Refused(Option<Response<Body>>),
}

impl<F, E> Future for Guarding<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        match &mut *self {
            Self::LetIn(response) => response.as_mut().poll(cx),
            // It is given out once; futures are not polled again after that.
            Self::Refused(response) => Poll::Ready(Ok(response.take().unwrap_or_default())),
        }
    }
}

/// Does a request say that it is a call?
fn is_a_call(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = said.split(';').next().unwrap_or_default().trim();
    CONTENT_TYPES.iter().any(|known| kind.eq_ignore_ascii_case(known))
}

/// What a request gets that is no call. It may not come from a client that knows of statuses in trailers.
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
    fn a_call_says_that_it_is_one() {
        let is_call = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            is_a_call(&headers)
        };
        for kind in ["application/grpc", "application/grpc+proto", "Application/gRPC; charset=utf-8"] {
            assert!(is_call(kind), "{kind}");
        }
        for kind in ["", "application/grpc-web", "application/grpc+json", "application/json", "text/html"] {
            assert!(!is_call(kind), "{kind}");
        }
        assert!(!is_a_call(&HeaderMap::new()));
    }
}
