//! The gateway: the way of a request, by its method and content type.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use tonic::body::Body;
use tonic::codegen::http::header::{ACCEPT, ALLOW, AUTHORIZATION, CONTENT_TYPE, ORIGIN};
use tonic::codegen::http::{
    HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, Request, Response, StatusCode, Version,
};
use tonic_web::{GrpcWebLayer, GrpcWebService};
use tower::{Layer as _, Service};
use tower_http::cors::{AllowOrigin, Cors, CorsLayer};
use tower_http::map_request_body::{MapRequestBody, MapRequestBodyLayer};

use crate::service::http::connect::{self, MessageCodec};
use crate::service::http::json::{MethodTypes, Schema};
use crate::service::http::page;
use crate::service::metrics;
use crate::service::net::admission::headers_len;
use crate::service::net::connection::HttpService;
use crate::service::net::drain::DrainedBody;
use crate::service::net::framing::BodyProgress;
use crate::service::net::observe::Protocol;
use crate::service::net::origin::{BrowserAccess, ForeignRequest, Origin};
use crate::service::wire::status::{TWO_SLASHES, body_invalid};

/// The time for which a browser may remember that an origin is allowed.
const PREFLIGHT_AGE: Duration = Duration::from_secs(7200);

/// The headers that calls of pages from allowed origins may carry.
const REQUEST_HEADERS: [HeaderName; 9] = [
    CONTENT_TYPE,
    AUTHORIZATION,
    HeaderName::from_static("connect-protocol-version"),
    HeaderName::from_static("connect-timeout-ms"),
    HeaderName::from_static("grpc-timeout"),
    HeaderName::from_static("x-grpc-web"),
    HeaderName::from_static("x-user-agent"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("traceparent"),
];

/// The headers of answers that those pages may read.
const RESPONSE_HEADERS: [HeaderName; 4] = [
    HeaderName::from_static("grpc-status"),
    HeaderName::from_static("grpc-message"),
    HeaderName::from_static("grpc-status-details-bin"),
    HeaderName::from_static("x-request-id"),
];

/// The settings of the gateway.
pub(crate) struct GatewaySettings {
    /// Which requests of browsers are answered.
    pub(crate) access: BrowserAccess,
    /// The program that serves the page, if it is served.
    pub(crate) page: Option<&'static str>,
    /// The most bytes of a message.
    pub(crate) message_bytes: usize,
    /// The most bytes of headers of a request that is no native gRPC.
    pub(crate) header_bytes: usize,
}

/// The service around all calls. `S` takes gRPC calls, with all layers that they go through.
#[derive(Clone)]
pub(crate) struct Gateway<S> {
    calls: S,
    web: Web<S>,
    /// The same for pages from elsewhere, if any are allowed.
    shared: Option<Cors<Web<S>>>,
    access: Arc<BrowserAccess>,
}

impl<S: Clone> Gateway<S> {
    /// A gateway to `calls`, the methods of `schema`.
    pub(crate) fn new(calls: S, settings: GatewaySettings, schema: Arc<Schema>) -> Self {
        let access = Arc::new(settings.access.clone());
        let origins: Vec<_> = access.allowed.iter().filter_map(Origin::header).collect();
        let web = Web {
            calls: calls.clone(),
            translated: GrpcWebLayer::new()
                .layer(MapRequestBodyLayer::new(reworded as Reword).layer(calls.clone())),
            settings: Arc::new(settings),
            schema,
        };
        let shared = (!origins.is_empty()).then(|| {
            CorsLayer::new()
                .allow_origin(AllowOrigin::list(origins))
                .allow_methods([HttpMethod::GET, HttpMethod::POST])
                .allow_headers(REQUEST_HEADERS)
                .expose_headers(RESPONSE_HEADERS)
                .max_age(PREFLIGHT_AGE)
                .layer(web.clone())
        });
        Self { calls, web, shared, access }
    }
}

/// A boxed response, for everything but native gRPC.
type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// The future of a [`Gateway`].
pub(crate) enum GatewayFuture<F> {
    Call(F),
    Web(ResponseFuture),
}

impl<F> Future for GatewayFuture<F>
where
    F: Future<Output = Result<Response<Body>, Infallible>> + Unpin,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Call(call) => Pin::new(call).poll(cx),
            Self::Web(answer) => answer.as_mut().poll(cx),
        }
    }
}

impl<S: HttpService<Future: Unpin>> Service<Request<Body>> for Gateway<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = GatewayFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        self.calls.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Native gRPC comes from no browser, and takes no step more than it would without a gateway.
        let is_native = Form::of(request.headers()) == Form::Grpc && request.version() == Version::HTTP_2;
        if is_native && !request.headers().contains_key(ORIGIN) {
            return GatewayFuture::Call(self.calls.call(request));
        }
        let progress = Arc::<BodyProgress>::default();
        let (head, body) = request.into_parts();
        let (body, rest) = DrainedBody::new(body, Arc::clone(&progress));
        let mut request = Request::from_parts(head, Body::new(body));
        request.extensions_mut().insert(progress);
        let answer = match self.access.check(&request) {
            Ok(()) if is_native => Box::pin(self.calls.call(request)),
            Ok(()) => match &mut self.shared {
                Some(shared) => Box::pin(shared.call(request)),
                None => self.web.call(request),
            },
            Err(foreign) => {
                metrics::refused(foreign.reason());
                ready(forbidden(&foreign))
            }
        };
        GatewayFuture::Web(Box::pin(async move {
            let response = answer.await;
            rest.ended().await;
            response
        }))
    }
}

/// What a request holds, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Grpc,
    GrpcWeb,
    /// One message.
    Unary(MessageCodec),
    /// Messages in envelopes.
    Stream(MessageCodec),
    Other,
}

impl Form {
    const NAMES: [(&str, Self); 10] = [
        ("application/grpc", Self::Grpc),
        ("application/grpc+proto", Self::Grpc),
        ("application/grpc-web", Self::GrpcWeb),
        ("application/grpc-web+proto", Self::GrpcWeb),
        ("application/grpc-web-text", Self::GrpcWeb),
        ("application/grpc-web-text+proto", Self::GrpcWeb),
        ("application/json", Self::Unary(MessageCodec::Json)),
        ("application/proto", Self::Unary(MessageCodec::Proto)),
        ("application/connect+json", Self::Stream(MessageCodec::Json)),
        ("application/connect+proto", Self::Stream(MessageCodec::Proto)),
    ];

    /// The protocol of a call in this form.
    const fn protocol(self) -> Protocol {
        match self {
            Self::Grpc | Self::Other => Protocol::Grpc,
            Self::GrpcWeb => Protocol::GrpcWeb,
            Self::Unary(_) | Self::Stream(_) => Protocol::Connect,
        }
    }

    fn of(headers: &HeaderMap) -> Self {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let name = value.split(';').next().unwrap_or_default().trim();
        let found = Self::NAMES.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        found.map_or(Self::Other, |(_, form)| form)
    }
}

/// The service for everything but native gRPC.
#[derive(Clone)]
struct Web<S> {
    calls: S,
    translated: GrpcWebService<MapRequestBody<S, Reword>>,
    settings: Arc<GatewaySettings>,
    schema: Arc<Schema>,
}

impl<S: HttpService> Service<Request<Body>> for Web<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        self.calls.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> ResponseFuture {
        let headers = request.headers();
        if headers_len(headers) > self.settings.header_bytes {
            metrics::refused("header_bytes");
            return ready(headers_too_large(self.settings.header_bytes));
        }
        let method = self.schema.method(request.uri().path());
        let mut form = Form::of(headers);
        if form == Form::Grpc {
            return ready(needs_http2());
        }
        match *request.method() {
            HttpMethod::GET | HttpMethod::HEAD if method.is_none() => {
                return ready(match page::answer(&request, self.settings.page) {
                    Some(response) => response,
                    None => nothing_here(request.uri().path(), self.settings.page.is_some()),
                });
            }
            HttpMethod::GET if method.is_some_and(|method| method.is_safe) => {
                if is_embedded(headers) {
                    let foreign = ForeignRequest::Origin("elsewhere".to_owned());
                    metrics::refused(foreign.reason());
                    return ready(forbidden(&foreign));
                }
                match connect::posted(request) {
                    Ok((posted, codec)) => (request, form) = (posted, Form::Unary(codec)),
                    Err(sentence) => return ready(text(StatusCode::BAD_REQUEST, sentence.to_owned())),
                }
            }
            HttpMethod::POST => {}
            _ => return ready(not_allowed(method)),
        }
        let message_bytes = self.settings.message_bytes;
        let method = method.cloned();
        let is_unary = method.as_ref().is_none_or(|method| method.is_unary);
        request.extensions_mut().insert(form.protocol());
        match form {
            Form::GrpcWeb => Box::pin(self.translated.call(request)),
            Form::Unary(codec) if is_unary => Box::pin(connect::unary(
                self.calls.clone(),
                request,
                method,
                codec,
                message_bytes,
                self.schema.clone(),
            )),
            Form::Stream(codec) if !is_unary || method.is_none() => Box::pin(connect::stream(
                self.calls.clone(),
                request,
                method,
                codec,
                message_bytes,
                self.schema.clone(),
            )),
            _ if method.is_none() => ready(nothing_here(request.uri().path(), self.settings.page.is_some())),
            _ => {
                // The layers around calls refuse it, so that it is counted and has an id.
                let refusal = self.calls.call(request);
                Box::pin(async move { Ok(explain_refusal(&refusal.await?, is_unary)) })
            }
        }
    }
}

/// Whether a page from elsewhere has a browser make a request without saying so in `origin`, as for an
/// image. The answer is kept from the page, but the work is done.
fn is_embedded(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    !headers.contains_key(ORIGIN) && matches!(site, Some(b"cross-site" | b"same-site"))
}

/// A change of the bodies of requests.
type Reword = fn(Body) -> Body;

/// The body of a call by gRPC-Web, whose errors are the client's: the translation reports them as
/// its own, in the words of the code that found them.
fn reworded(body: Body) -> Body {
    let error = |_| body_invalid("The body is none of gRPC-Web, or it breaks off.");
    Body::new(body.map_err(error))
}

fn ready(response: Response<Body>) -> ResponseFuture {
    Box::pin(std::future::ready(Ok(response)))
}

/// A response of one sentence.
fn text(status: StatusCode, sentence: String) -> Response<Body> {
    let mut response = Response::new(Body::new(http_body_util::Full::from(sentence)));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

fn forbidden(foreign: &ForeignRequest) -> Response<Body> {
    let mut response = text(StatusCode::FORBIDDEN, format!("{foreign}\n"));
    // What is behind a name may change, and with it the answer.
    response.headers_mut().insert("vary", HeaderValue::from_static("origin, host"));
    response
}

fn headers_too_large(most: usize) -> Response<Body> {
    let sentence = format!("The headers have more than {most} bytes.\n");
    text(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, sentence)
}

/// The answer to gRPC over HTTP/1.1, which few readers understand because it ends with trailers.
fn needs_http2() -> Response<Body> {
    let sentence = "gRPC needs HTTP/2. Over HTTP/1.1 this server takes gRPC-Web and the Connect protocol.\n";
    text(StatusCode::HTTP_VERSION_NOT_SUPPORTED, sentence.to_owned())
}

/// The answer to an HTTP method that a path does not take.
fn not_allowed(method: Option<&MethodTypes>) -> Response<Body> {
    let allowed = match method {
        None => "GET, HEAD",
        Some(method) if method.is_safe => "GET, POST",
        Some(_) => "POST",
    };
    let sentence = format!("Here this server takes {allowed}.\n");
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, sentence);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

fn nothing_here(path: &str, has_page: bool) -> Response<Body> {
    if path.starts_with("//") {
        return text(StatusCode::NOT_FOUND, format!("{TWO_SLASHES}\n"));
    }
    let page = if has_page { "the page at /, and " } else { "" };
    text(
        StatusCode::NOT_FOUND,
        format!("Nothing is here. This server has {page}the methods of sudoku.v1.SudokuService by POST.\n"),
    )
}

/// The response to a content type that the method, or this server, does not take, with what it
/// takes.
fn explain_refusal(refusal: &Response<Body>, is_unary: bool) -> Response<Body> {
    let (wanted, list) = if is_unary {
        ("application/json", "application/json, application/proto, application/grpc-web, application/grpc")
    } else {
        (
            "application/connect+json",
            "application/connect+json, application/connect+proto, application/grpc-web, application/grpc",
        )
    };
    let sentence = format!("This method takes `content-type: {wanted}`, among others.\n");
    let mut response = text(refusal.status(), sentence);
    response.headers_mut().extend(refusal.headers().clone());
    // It names gRPC only.
    response.headers_mut().remove(ACCEPT);
    response.headers_mut().insert("accept-post", HeaderValue::from_static(list));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_known_by_their_content_type() {
        let form = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            Form::of(&headers)
        };
        for (name, known) in Form::NAMES {
            assert_eq!(form(name), known);
            assert_eq!(form(&format!("{} ; charset=utf-8", name.to_uppercase())), known);
        }
        for kind in ["", "text/html", "application/grpc+json", "application/jsonl", "application/connect"] {
            assert_eq!(form(kind), Form::Other, "{kind}");
        }
        assert_eq!(Form::of(&HeaderMap::new()), Form::Other);
    }
}
