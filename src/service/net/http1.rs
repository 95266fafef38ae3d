//! HTTP/1.1 connections, for browsers and for tools that know no HTTP/2.
//!
//! Their requests go to the same service as those of HTTP/2.
//!
//! **Invariant:** a connection that is silent, or whose request head comes too slowly, is closed
//! after the handshake time-out. One that takes no bytes is closed after the idle time-out
//! (`connection.rs`), because HTTP/1.1 has no pings that would find it. One that is to be closed
//! behind an answer says so in that answer, so that no client sends another request into it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{mpsc, watch};
use tonic::body::Body;
use tonic::codegen::http::header::{CONNECTION, HOST};
use tonic::codegen::http::{HeaderValue, Request, Response, StatusCode, Version};
use tonic::transport::server::Connected as _;

use crate::service::metrics;
use crate::service::net::connection::{Connection, HttpService, graceful_shutdown_begins, serve_each};
use crate::service::net::handle::Leave;

/// The most bytes of a request head, and of a body that are read at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// The limits on HTTP/1.1 connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Http1Limits {
    /// The most time for the head of a request, and of silence before it.
    pub(crate) head_timeout: Duration,
    /// The age at which a connection is closed behind the answer on hand.
    pub(crate) connection_age: Option<Duration>,
}

/// Serves connections until the drain begins, and waits for their end: each is closed after the answer on hand.
pub(crate) async fn serve(
    connections: mpsc::Receiver<Connection>,
    service: impl HttpService,
    limits: Http1Limits,
    draining: watch::Receiver<bool>,
) {
    serve_each(connections, draining.clone(), |connection| {
        serve_one(connection, service.clone(), limits, draining.clone())
    })
    .await;
}

async fn serve_one(
    connection: Connection,
    service: impl HttpService,
    limits: Http1Limits,
    draining: watch::Receiver<bool>,
) {
    let handle = connection.connect_info();
    let leaving = handle.clone();
    let answer = Answering(Arc::new(move |mut request| {
        if !has_one_host(&request) {
            metrics::refused("malformed");
            return Box::pin(std::future::ready(Ok(without_host())));
        }
        request.extensions_mut().insert(handle.clone());
        let (request, is_read) = watch_body(request);
        let answer = service.clone().call(request);
        Box::pin(async move {
            let mut response = answer.await?;
            // What is left of a body is not waited for, and nothing can be read behind it.
            if !is_read.load(Ordering::Relaxed) {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        })
    }));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(connection), answer);
    tokio::select! {
        ended = &mut connection => return end(ended, connection).await,
        () = graceful_shutdown_begins(limits.connection_age, draining) => {}
        // What has come of a request that is not whole yet goes with it.
        how = leaving.asked_to_leave(None) => if how == Leave::Now && leaving.idle_for().is_some() {
            return;
        },
    }
    Pin::new(&mut connection).graceful_shutdown();
    let ended = (&mut connection).await;
    end(ended, connection).await;
}

/// What answers a request.
struct Answering(Arc<dyn Fn(Request<Incoming>) -> AnswerFuture + Send + Sync>);

impl hyper::service::Service<Request<Incoming>> for Answering {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn call(&self, request: Request<Incoming>) -> AnswerFuture {
        (self.0)(request)
    }
}

type AnswerFuture = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Whether a request names the host that it is for, and names it once. Those of HTTP/1.0 need not.
fn has_one_host(request: &Request<Incoming>) -> bool {
    let hosts = request.headers().get_all(HOST).iter().count();
    hosts == 1 || (hosts == 0 && request.version() < Version::HTTP_11)
}

fn without_host() -> Response<Body> {
    let mut response = Response::new(Body::new("A request has one header `host`.\n".to_owned()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The answer to a head that does not come to its end.
const TOO_SLOW: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n\
    content-length: 34\r\n\r\nThe head of the request is late.\r\n";

/// Ends a connection, in words if a head does not come to its end.
async fn end(ended: Result<(), hyper::Error>, connection: http1::Connection<TokioIo<Connection>, Answering>) {
    let Err(error) = ended else { return };
    tracing::debug!(%error, "an HTTP/1.1 connection has failed");
    let mut connection = connection.into_parts().io.into_inner();
    if error.is_timeout() && connection.is_within_head() {
        // It waits for nothing: there is room for so little, or the client takes nothing at all.
        let _ = connection.write_all(TOO_SLOW).await;
        let _ = connection.shutdown().await;
    }
}

/// A request whose body reports when it has been read to its end.
fn watch_body(request: Request<Incoming>) -> (Request<Body>, Arc<AtomicBool>) {
    let is_read = Arc::new(AtomicBool::new(request.body().is_end_stream()));
    let flag = Arc::clone(&is_read);
    (request.map(|body| Body::new(WatchedBody { body, is_read: flag })), is_read)
}

/// The body of a request. The flag is raised at its end.
struct WatchedBody {
    body: Incoming,
    is_read: Arc<AtomicBool>,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.is_read.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    /// The transport does not know the end of a body in chunks, and a body that just stops is one
    /// whose client has left.
    fn is_end_stream(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
