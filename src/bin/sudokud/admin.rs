//! The port for those who run the server: figures for Prometheus, and whether it is alive and ready.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use sudoku_stream::service::Readiness;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// The bounds of histograms, in seconds: from a small call to the longest that is waited for.
const SECONDS: [f64; 14] =
    [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// How often what was observed is put into the histograms, so that it does not pile up if nobody asks.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The most connections at once. More have to wait.
const MAX_CONNECTIONS: usize = 16;

/// How long a connection may take, from its first byte to its last.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// How long accepting pauses after an error, most likely that there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How figures are written.
const FIGURES: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Everything else is a word.
const WORD: &str = "text/plain; charset=utf-8";

/// A port that is listened on, and answers once it is told how the server is.
pub struct Admin {
    listener: TcpListener,
    figures: PrometheusHandle,
}

impl Admin {
    /// Takes the address and begins to collect figures.
    ///
    /// # Errors
    /// An address that cannot be had.
    pub async fn bind(address: SocketAddr) -> anyhow::Result<Self> {
        let cannot = || format!("Metrics cannot be served at {address}");
        let listener = TcpListener::bind(address).await.with_context(cannot)?;
        let address = listener.local_addr().with_context(cannot)?;
        let figures = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            .and_then(PrometheusBuilder::install_recorder)
            .with_context(cannot)?;
        tracing::info!("serving metrics on http://{address}/metrics");
        Ok(Self { listener, figures })
    }

    /// Answers until the runtime ends.
    pub async fn serve(self, readiness: Readiness) {
        let Self { listener, figures } = self;
        let upkeep = figures.clone();
        tokio::spawn(async move {
            loop {
                sleep(UPKEEP_INTERVAL).await;
                upkeep.run_upkeep();
            }
        });
        let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        // The semaphore is never closed.
        while let Ok(seat) = Arc::clone(&seats).acquire_owned().await {
            match listener.accept().await {
                Ok((socket, _)) => {
                    let (figures, readiness) = (figures.clone(), readiness.clone());
                    tokio::spawn(async move {
                        // Who is slow, or breaks off, has no answer coming.
                        let _ = timeout(CONNECTION_TIMEOUT, answer(socket, figures, readiness)).await;
                        drop(seat);
                    });
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
    socket: TcpStream,
    figures: PrometheusHandle,
    readiness: Readiness,
) -> Result<(), hyper::Error> {
    let service = service_fn(|request: Request<Incoming>| {
        let response = respond(request.method(), request.uri().path(), &figures, &readiness);
        async move { Ok::<_, Infallible>(response) }
    });
    http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(socket), service).await
}

fn respond(
    method: &Method,
    path: &str,
    figures: &PrometheusHandle,
    readiness: &Readiness,
) -> Response<String> {
    let (status, kind, text) = match path {
        _ if ![Method::GET, Method::HEAD].contains(method) => {
            (StatusCode::METHOD_NOT_ALLOWED, WORD, "GET and HEAD only\n".to_owned())
        }
        "/metrics" => (StatusCode::OK, FIGURES, figures.render()),
        "/healthz" => (StatusCode::OK, WORD, "alive\n".to_owned()),
        "/readyz" if readiness.is_ready() => (StatusCode::OK, WORD, "ready\n".to_owned()),
        "/readyz" => (StatusCode::SERVICE_UNAVAILABLE, WORD, "shutting down\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, WORD, "There are /metrics, /healthz and /readyz.\n".to_owned()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}
