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
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use tonic::body::Body;
use tonic::codegen::http::header::CONNECTION;
use tonic::codegen::http::{HeaderValue, Request, Response};
use tonic::transport::server::Connected as _;
use tower::Service;

use crate::service::net::connection::{Connection, drain_begins, serve_each};

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
pub(crate) async fn serve<S>(
    connections: mpsc::Receiver<Connection>,
    service: S,
    limits: Http1Limits,
    draining: watch::Receiver<bool>,
) where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    serve_each(connections, draining.clone(), |connection| {
        serve_one(connection, service.clone(), limits, draining.clone())
    })
    .await;
}

async fn serve_one<S>(
    connection: Connection,
    service: S,
    limits: Http1Limits,
    draining: watch::Receiver<bool>,
) where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    let handle = connection.connect_info();
    let leaving = handle.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(handle.clone());
        let (request, is_read) = watch_body(request);
        let answer = service.clone().call(request);
        async move {
            let mut response = answer.await?;
            // What is left of a body is not waited for, and nothing can be read behind it.
            if !is_read.load(Ordering::Relaxed) {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(connection), service);
    let mut connection = std::pin::pin!(connection);
    let grown_old = async {
        match limits.connection_age {
            Some(age) => sleep(age).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = connection.as_mut() => return log(ended),
        () = drain_begins(draining) => {}
        () = grown_old => {}
        _ = leaving.asked_to_leave() => leaving.give_up_place(),
    }
    connection.as_mut().graceful_shutdown();
    log(connection.await);
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

fn log(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "an HTTP/1.1 connection has failed");
    }
}
