//! The HTTP port for operators: Prometheus metrics, liveness, readiness.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use sudoku_stream::service::{Readiness, ReadyState};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::process;

/// The buckets of histograms, in seconds: from a small call to the longest time-out.
const SECONDS: [f64; 14] =
    [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// How often observations are moved into the histograms. They would pile up if nobody reads the
/// metrics.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The most connections at once. A further one takes the place of the oldest, so that no number of
/// silent ones keeps a probe from its answer.
const MAX_CONNECTIONS: usize = 64;

/// The time-out of a connection, from its first byte to its last.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause after an error of accepting, most likely that there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The content type of metrics.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The content type of everything else.
const TEXT_TYPE: &str = "text/plain; charset=utf-8";

/// The first bytes of HTTP/2.
const HTTP2: [u8; 4] = *b"PRI ";

/// The most bytes of HTTP/2 that are passed over: more than a client sends before it has an answer.
const MOST_UNREAD_BYTES: u64 = 1 << 20;

/// The answer to HTTP/2, by which a client of gRPC knows that it has the wrong port.
const HTTP1_ONLY: &[u8] =
    b"HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// The HTTP port, bound but not served yet.
pub struct Admin {
    listener: TcpListener,
    metrics: PrometheusHandle,
}

impl Admin {
    /// Binds the address and starts to collect metrics.
    ///
    /// # Errors
    /// An address that cannot be bound.
    pub async fn bind(address: SocketAddr) -> anyhow::Result<Self> {
        let cannot = || format!("Metrics cannot be served at {address}");
        let listener = TcpListener::bind(address).await.with_context(cannot)?;
        let address = listener.local_addr().with_context(cannot)?;
        let metrics = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            .and_then(PrometheusBuilder::install_recorder)
            .with_context(cannot)?;
        process::describe();
        tracing::info!("serving metrics on http://{address}/metrics");
        Ok(Self { listener, metrics })
    }

    /// Serves until the runtime ends.
    pub async fn serve(self, readiness: Readiness) {
        let Self { listener, metrics } = self;
        let upkeep = metrics.clone();
        tokio::spawn(async move {
            loop {
                sleep(UPKEEP_INTERVAL).await;
                upkeep.run_upkeep();
            }
        });
        let mut open: VecDeque<AbortHandle> = VecDeque::new();
        loop {
            match listener.accept().await {
                Ok((socket, _)) => {
                    let (metrics, readiness) = (metrics.clone(), readiness.clone());
                    open.retain(|connection| !connection.is_finished());
                    if open.len() >= MAX_CONNECTIONS
                        && let Some(oldest) = open.pop_front()
                    {
                        oldest.abort();
                    }
                    let answering = tokio::spawn(async move {
                        // A client that is slow or gone gets no answer.
                        let _ = timeout(CONNECTION_TIMEOUT, answer(socket, metrics, readiness)).await;
                    });
                    open.push_back(answering.abort_handle());
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection for metrics");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// Answers the request of a connection.
async fn answer(
    mut socket: TcpStream,
    metrics: PrometheusHandle,
    readiness: Readiness,
) -> anyhow::Result<()> {
    let mut first = [0; HTTP2.len()];
    let length = socket.peek(&mut first).await?;
    if first[..length] == HTTP2 {
        socket.write_all(HTTP1_ONLY).await?;
        socket.shutdown().await?;
        // Closing with bytes unread would reset the connection, and the answer might be lost.
        tokio::io::copy(&mut socket.take(MOST_UNREAD_BYTES), &mut tokio::io::sink()).await?;
        return Ok(());
    }
    let service = service_fn(|request: Request<Incoming>| {
        let response = respond(request.method(), request.uri().path(), &metrics, &readiness);
        async move { Ok::<_, Infallible>(response) }
    });
    let http = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(socket), service);
    Ok(http.await?)
}

fn respond(
    method: &Method,
    path: &str,
    metrics: &PrometheusHandle,
    readiness: &Readiness,
) -> Response<String> {
    let (status, kind, text) = match path {
        _ if ![Method::GET, Method::HEAD].contains(method) => {
            (StatusCode::METHOD_NOT_ALLOWED, TEXT_TYPE, "GET and HEAD only\n".to_owned())
        }
        "/metrics" => {
            process::measure();
            (StatusCode::OK, METRICS_TYPE, process::with_counter(&metrics.render()))
        }
        "/healthz" => (StatusCode::OK, TEXT_TYPE, "alive\n".to_owned()),
        "/readyz" => {
            let (status, words) = match readiness.state() {
                ReadyState::Ready => (StatusCode::OK, "ready\n"),
                ReadyState::Overloaded => (StatusCode::SERVICE_UNAVAILABLE, "overloaded\n"),
                _ => (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n"),
            };
            (status, TEXT_TYPE, words.to_owned())
        }
        _ => (StatusCode::NOT_FOUND, TEXT_TYPE, "There are /metrics, /healthz and /readyz.\n".to_owned()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}
