//! The server: assembled in [`Server::bind`], run and shut down in [`Server::serve`].
//!
//! **Invariant:** a shutdown runs in this order, so no answer is lost. Health reports
//! `NOT_SERVING`; nothing more is accepted and streams stop reading; requests that were read are
//! answered; streams end with `UNAVAILABLE`; connections linger until their peers have read
//! everything. The drain time-out ends what is left.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tonic::body::Body;
use tonic::codec::CompressionEncoding::{Deflate, Gzip, Zstd};
use tonic::codegen::Service;
use tonic::codegen::http;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic::{Request, Response, Streaming};
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tower::ServiceBuilder;

use crate::service::config::{Config, Limits};
use crate::service::context::Context;
use crate::service::datasets::Datasets;
use crate::service::http::gateway::{Gateway, GatewaySettings};
use crate::service::http::json::Schema;
use crate::service::metrics;
use crate::service::net::admission::{Admission, AdmissionLayer, AdmissionLimits};
use crate::service::net::capacity::ConnectionCapacity;
use crate::service::net::connection::{
    Accepted, ConnectionLimits, HttpService, LimitsNow, accept, drain_begins,
};
use crate::service::net::framing::FramingLimits;
use crate::service::net::grpc_only::GrpcOnlyLayer;
use crate::service::net::http1::{self, Http1Limits};
use crate::service::net::http2::{self, Http2Limits, IdleTimeout};
use crate::service::net::listen::{ListenAddress, ListenProblem, Listening};
use crate::service::net::observe::{ObserveLayer, protocol_labels};
use crate::service::net::origin::BrowserAccess;
use crate::service::net::tls::{Tls, TlsError};
use crate::service::net::tokens::{TokenError, Tokens};
use crate::service::net::unpack::Aside;
use crate::service::rpc::ordered::OrderedResponses;
use crate::service::rpc::{CallResult, by_hand, datasets, generate, hint, stream, trace, unary};
use crate::service::sched::pools::{PoolError, WorkerPools};
use crate::service::wire::methods::{method_labels, stream_labels};
use crate::service::wire::proto;
use crate::service::wire::proto::sudoku_service_server::{SudokuService, SudokuServiceServer};

/// The accepted connections that may wait to be served.
const ACCEPTED_WAITING: usize = 16;

/// The multiple of the limit on headers that the transport takes in. What is above the limit is refused
/// with words, and what is above this by the transport, which has none.
const HEADERS_TAKEN: u32 = 2;

/// The error of a server that cannot start. Every message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// It would listen beyond loopback without encryption.
    #[error(
        "{0} can be reached from other machines, and nothing is encrypted. Give --tls-cert and --tls-key, listen on 127.0.0.1, or add --insecure if that is what you want."
    )]
    Insecure(SocketAddr),
    /// Another program listens on the address.
    #[error("{0} is in use. Stop what listens there, or choose another address with --listen.")]
    AddressInUse(String),
    /// The address belongs to no interface of the machine.
    #[error("{0} is not an address of this machine. Choose another one with --listen.")]
    AddressNotOurs(String),
    /// The port needs privileges.
    #[error("{0} needs privileges. Choose a port above 1023 with --listen.")]
    PortPrivileged(String),
    /// Listening failed for any other reason.
    #[error("{address} cannot be listened on: {error}.")]
    Listen {
        /// The address.
        address: String,
        /// The system's error.
        error: io::Error,
    },
    /// The data directory is missing, or no directory.
    #[error("The data directory {} cannot be opened: {error}. Create it, or name another one with --data-dir.", path.display())]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The files for TLS cannot be used.
    #[error("{0}.")]
    Tls(TlsError),
    /// The token file cannot be used.
    #[error("{0}.")]
    Tokens(TokenError),
    /// Threads cannot be started.
    #[error("The threads cannot be started: {0}. Ask for fewer with --threads.")]
    Threads(PoolError),
    /// The description of the service is invalid, which is a bug.
    #[error("The description of the service is broken: {0}.")]
    Reflection(tonic_reflection::server::Error),
    /// The description of the service cannot be read for JSON, which is a bug.
    #[error("The description of the service is broken: {0}.")]
    Schema(String),
}

// The messages say all that the errors beneath say, so these are no sources, which would be printed
// once more.
macro_rules! start_error {
    ($($variant:ident($error:ty)),*) => {
        $(impl From<$error> for StartError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}
start_error!(
    Tls(TlsError),
    Tokens(TokenError),
    Threads(PoolError),
    Reflection(tonic_reflection::server::Error)
);

/// The end of a server that was shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All calls have ended and all connections are closed.
    Drained,
    /// The drain time-out has passed; some calls were cut off.
    CutOff,
}

/// The error of a server whose connections are no longer served, which is a bug.
#[derive(Debug, thiserror::Error)]
#[error("The server has broken down: {0}.")]
pub struct ServeError(JoinError);

/// A server that is bound to its address.
pub struct Server {
    /// What it was bound with. The limits in force are those of the context.
    config: Config,
    listening: Vec<Listening>,
    context: Arc<Context>,
    draining: watch::Sender<bool>,
    /// Set when the shutdown begins, before calls are refused.
    is_leaving: Arc<AtomicBool>,
    health: HealthReporter,
    routes: Routes,
    reloader: Reloader,
    schema: Arc<Schema>,
}

/// The names of the limits that a [`Reloader`] has changed, or found changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedLimits {
    /// Those that are in force.
    pub now: Vec<&'static str>,
    /// Those that only another start can put into force.
    pub later: Vec<&'static str>,
}

/// A handle to reload certificates, tokens and limits while a server runs.
#[derive(Clone)]
pub struct Reloader {
    tls: Option<Arc<Tls>>,
    tokens: Option<Arc<Tokens>>,
    admission: Arc<Admission>,
    drain_timeout: Duration,
    capacity: Arc<ConnectionCapacity>,
    context: Arc<Context>,
}

impl Reloader {
    /// Whether there are certificates or tokens to be read again.
    #[must_use]
    pub fn has_files(&self) -> bool {
        self.tls.is_some() || self.tokens.is_some()
    }

    /// Shows in the metrics whether everything could be read again.
    pub fn report(&self, is_success: bool) {
        metrics::reloaded(is_success);
    }

    /// Changes the limits for what comes from now on. Returns the names of those that have changed.
    #[must_use]
    pub fn set_limits(&self, limits: &Limits) -> ChangedLimits {
        let threads = self.context.pools.threads();
        let old = self.context.limits();
        let new = limits.changed_from(&old);
        self.context.set_limits(new);
        self.admission.set_limits(admission_limits(&new));
        self.capacity.set_limit(new.connections);
        show_limits(&new, threads);
        let differing = |some: &Limits, others: &Limits| {
            let pairs = some.values(threads).into_iter().zip(others.values(threads));
            pairs.filter(|(one, other)| one.1.to_bits() != other.1.to_bits()).map(|(one, _)| one.0).collect()
        };
        ChangedLimits { now: differing(&old, &new), later: differing(&new, limits) }
    }

    /// Reads the files again: certificates for new connections, tokens for new calls. Calls whose
    /// token is gone end within the drain time-out. Returns the errors of files that cannot be used,
    /// whose old content stays in force.
    #[must_use]
    pub fn reload(&self) -> Vec<StartError> {
        let tls = self.tls.as_ref().and_then(|tls| tls.reload().err()).map(StartError::from);
        let tokens = self.tokens.as_ref().and_then(|tokens| tokens.reload().err()).map(StartError::from);
        self.admission.end_revoked(self.drain_timeout);
        tls.into_iter().chain(tokens).collect()
    }
}

/// A handle to ask whether a server admits calls.
#[derive(Clone)]
pub struct Readiness {
    draining: watch::Receiver<bool>,
    is_leaving: Arc<AtomicBool>,
    capacity: Arc<ConnectionCapacity>,
    admission: Arc<Admission>,
}

/// Whether a server admits calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadyState {
    /// It does.
    Ready,
    /// It has all the connections, or all the calls, that it may have; others would do better
    /// elsewhere.
    Overloaded,
    /// It shuts down, or is gone.
    ShuttingDown,
}

impl Readiness {
    /// The calls that are open now.
    #[must_use]
    pub fn open_calls(&self) -> usize {
        self.admission.open_calls()
    }

    /// Whether the server admits calls now.
    #[must_use]
    pub fn state(&self) -> ReadyState {
        let is_leaving = self.is_leaving.load(Ordering::Relaxed);
        if is_leaving || *self.draining.borrow() || self.draining.has_changed().is_err() {
            ReadyState::ShuttingDown
        } else if self.capacity.is_full() || self.admission.is_crowded() {
            ReadyState::Overloaded
        } else {
            ReadyState::Ready
        }
    }
}

/// A boxed future, so that the server is compiled once with the library and not again with each
/// program that awaits it.
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl Server {
    /// Binds the address, and opens everything else that can be missing.
    ///
    /// # Errors
    /// [`StartError`].
    #[must_use = "nothing is bound before it is awaited"]
    pub fn bind(config: Config) -> Boxed<Result<Self, StartError>> {
        Box::pin(Self::bind_now(config))
    }

    /// Checks that a server of this configuration can start: opens everything but the addresses, which a
    /// server that runs may have.
    ///
    /// # Errors
    /// [`StartError`].
    #[must_use = "nothing is checked before it is awaited"]
    pub fn check(config: Config) -> Boxed<Result<(), StartError>> {
        Box::pin(async move {
            let may_expose = config.insecure || config.tls.is_some();
            for address in &config.listen {
                address.check(may_expose).await.map_err(listen_error)?;
            }
            Self::bind_now(Config { listen: Vec::new(), ..config }).await.map(|_| ())
        })
    }

    async fn bind_now(config: Config) -> Result<Self, StartError> {
        metrics::describe(&method_labels(), &protocol_labels(), &stream_labels());
        let cores = || thread::available_parallelism().map_or(1, Into::into);
        let threads = config.threads.map_or_else(cores, Into::into);
        show_limits(&config.limits, threads);
        let tls = config.tls.clone().map(Tls::open).transpose()?.map(Arc::new);
        let tokens = config.token_file.clone().map(Tokens::open).transpose()?.map(Arc::new);
        let Limits { in_flight, puzzle_time, .. } = config.limits;
        let pools = WorkerPools::new(threads, in_flight.map(Into::into), puzzle_time)?;
        let (draining, watching) = watch::channel(false);
        let datasets = open_datasets(&config).transpose()?;
        let context = Context::new(pools, config.strategies, config.limits, datasets, watching);
        let context = Arc::new(context);
        let health = HealthReporter::new();
        let routes = routes(&context, &health)?;
        let schema = Arc::new(Schema::new().map_err(|error| StartError::Schema(error.to_string()))?);
        let may_expose = config.insecure || tls.is_some();
        let mut listening = Vec::new();
        for address in &config.listen {
            let bound = address.listen(config.limits.connections, may_expose).await;
            listening.extend(bound.map_err(listen_error)?);
        }
        let reloader = Reloader {
            tls,
            tokens,
            admission: Admission::new(admission_limits(&config.limits)),
            drain_timeout: config.drain_timeout,
            capacity: ConnectionCapacity::new(config.limits.connections),
            context: Arc::clone(&context),
        };
        Ok(Self {
            config,
            listening,
            context,
            draining,
            is_leaving: Arc::default(),
            health,
            routes,
            reloader,
            schema,
        })
    }

    /// A handle to reload certificates, tokens and limits.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// A handle to ask whether the server admits calls.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        Readiness {
            draining: self.draining.subscribe(),
            is_leaving: Arc::clone(&self.is_leaving),
            capacity: Arc::clone(&self.reloader.capacity),
            admission: Arc::clone(&self.reloader.admission),
        }
    }

    /// The first address in the network that the server listens on, with the port that was assigned
    /// for port 0; `0.0.0.0:0` if it listens on none.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        let mut addresses = self.listening.iter().filter_map(|listening| listening.network);
        addresses.next().unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// All addresses that the server listens on.
    pub fn local_addresses(&self) -> impl Iterator<Item = &ListenAddress> {
        self.listening.iter().map(|listening| &listening.address)
    }

    /// The services without connections, for calls in the same process: fuzz targets. TLS, tokens
    /// and the other layers around calls are missing.
    #[doc(hidden)]
    #[must_use]
    pub fn routes(&self) -> Routes {
        self.routes.clone()
    }

    /// The answer to a request over HTTP, with all layers but without a connection: fuzz targets.
    #[doc(hidden)]
    pub fn answer(&self, request: http::Request<Body>) -> Boxed<http::Response<Body>> {
        let answer = self.gateway().call(request);
        Box::pin(async move {
            match answer.await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        })
    }

    /// Serves until `shutdown` is ready, then drains: health reports it, no connection is accepted
    /// any more, streams stop reading, answer what they have read and end with `UNAVAILABLE`. Calls
    /// that have not ended at the drain time-out are cut off when the runtime is dropped.
    ///
    /// # Errors
    /// [`ServeError`], if connections are no longer served.
    pub fn serve(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Boxed<Result<Stopped, ServeError>> {
        self.serve_until(Box::pin(shutdown))
    }

    fn serve_until(self, shutdown: Boxed<()>) -> Boxed<Result<Stopped, ServeError>> {
        Box::pin(async { self.run(shutdown).await.map_err(ServeError) })
    }

    async fn run(self, shutdown: Boxed<()>) -> Result<Stopped, JoinError> {
        let gateway = self.gateway();
        let Self { config, listening, context, draining, is_leaving, health, reloader, .. } = self;
        let capacity = Arc::clone(&reloader.capacity);
        let service = <SudokuServiceServer<Sudoku> as NamedService>::NAME;
        health.set_service_status(service, ServingStatus::Serving).await;

        let limits = context.limits();
        let connection_limits: LimitsNow = {
            let context = Arc::clone(&context);
            Arc::new(move || {
                let Limits { handshake_timeout, idle_timeout, .. } = context.limits();
                ConnectionLimits { handshake_timeout, idle_timeout }
            })
        };
        let closing_idle = {
            let context = Arc::clone(&context);
            ConnectionCapacity::close_idle(Arc::downgrade(&capacity), move || {
                context.limits().connection_idle_timeout
            })
        };
        let drain_begins = drain_begins(draining.subscribe());
        tokio::spawn(async {
            tokio::select! {
                () = closing_idle => {}
                () = drain_begins => {}
            }
        });
        let (http2, http2_connections) = mpsc::channel(ACCEPTED_WAITING);
        let (http1, http1_connections) = mpsc::channel(ACCEPTED_WAITING);
        let accepted = Accepted { http2, http1 };
        let mut accepting = JoinSet::new();
        for listening in listening {
            let (tls, capacity, accepted) = (reloader.tls.clone(), Arc::clone(&capacity), accepted.clone());
            accepting.spawn(accept(
                listening,
                tls,
                Arc::clone(&connection_limits),
                capacity,
                draining.subscribe(),
                accepted,
            ));
        }
        drop(accepted);
        let http1_limits =
            Http1Limits { head_timeout: limits.handshake_timeout, connection_age: limits.connection_age };
        let http1 = tokio::spawn(http1::serve(
            http1_connections,
            gateway.clone(),
            http1_limits,
            draining.subscribe(),
        ));
        let idle_timeout: IdleTimeout = {
            let context = Arc::clone(&context);
            Arc::new(move || context.limits().idle_timeout)
        };
        let mut http2 = tokio::spawn(http2::serve(
            http2_connections,
            gateway,
            http2_limits(&limits),
            idle_timeout,
            draining.subscribe(),
        ));
        tokio::select! {
            ended = &mut http2 => return ended.map(|()| Stopped::Drained),
            () = shutdown => {}
        }

        for name in [service, ""] {
            health.set_service_status(name, ServingStatus::NotServing).await;
        }
        metrics::draining();
        is_leaving.store(true, Ordering::Relaxed);
        tokio::select! {
            ended = &mut http2 => return ended.map(|()| Stopped::Drained),
            () = sleep(config.drain_delay) => {}
        }
        // This ends accepting and reading, and sends GOAWAY to clients.
        draining.send_replace(true);
        let calls_end = async {
            // The ports are free once these tasks have ended, be it by a panic.
            while accepting.join_next().await.is_some() {}
            context.idle().await;
            // Health watches would keep their connections open.
            for name in [service, ""] {
                health.clone().clear_service_status(name).await;
            }
            let _ = http1.await;
            Ok(())
        };
        let drained = async { tokio::try_join!(http2, calls_end) };
        match timeout(config.drain_timeout, drained).await {
            Ok(ended) => ended.map(|_| Stopped::Drained),
            Err(_) => Ok(Stopped::CutOff),
        }
    }

    /// All services with the layers that every call goes through, behind the gateway.
    fn gateway(&self) -> Gateway<impl HttpService<Future: Unpin>> {
        let limits = self.context.limits();
        let admission = Arc::clone(&self.reloader.admission);
        let pools = Arc::clone(&self.context.pools);
        let aside: Aside = Arc::new(move |state, job| {
            let (pools, client) = (Arc::clone(&pools), pools.client(state.turns()));
            Box::pin(async move { pools.run_aside(&client, job).await })
        });
        let calls = ServiceBuilder::new()
            .layer(ObserveLayer {
                message_bytes: limits.message_bytes,
                admission: Arc::clone(&admission),
                observer: self.config.call_observer.clone(),
            })
            .layer(GrpcOnlyLayer)
            .layer(AdmissionLayer {
                tokens: self.reloader.tokens.clone(),
                admission,
                header_bytes: limits.header_bytes as usize,
                aside,
            })
            .service(self.routes.clone());
        let access = BrowserAccess {
            is_loopback: self
                .listening
                .iter()
                .all(|listening| listening.network.is_none_or(|address| address.ip().is_loopback())),
            allowed: self.config.allowed_origins.clone(),
        };
        let settings = GatewaySettings {
            access,
            page: self.config.page.then_some(self.config.program),
            message_bytes: limits.message_bytes,
            header_bytes: limits.header_bytes as usize,
        };
        Gateway::new(calls, settings, Arc::clone(&self.schema))
    }
}

/// The limits of connections that speak HTTP/2.
fn http2_limits(limits: &Limits) -> Http2Limits {
    Http2Limits {
        streams: limits.streams_per_connection,
        header_bytes: limits.header_bytes.saturating_mul(HEADERS_TAKEN),
        reset_streams: limits.reset_streams,
        keepalive_interval: limits.keepalive_interval,
        keepalive_timeout: limits.keepalive_timeout,
        connection_age: limits.connection_age,
    }
}

/// The limits of calls from their headers on.
fn admission_limits(limits: &Limits) -> AdmissionLimits {
    let framing = FramingLimits { message_bytes: limits.message_bytes, timeout: limits.message_timeout };
    AdmissionLimits { calls: limits.streams, idle_timeout: limits.stream_idle_timeout, framing }
}

/// The data sets, if there are any.
fn open_datasets(config: &Config) -> Option<Result<Datasets, StartError>> {
    let (path, opened) = match (&config.data_file, &config.data_dir) {
        (Some(file), _) => (file, Datasets::open_file(file)),
        (None, Some(folder)) => (folder, Datasets::open(folder)),
        (None, None) => return None,
    };
    Some(opened.map_err(|error| StartError::DataDir { path: path.clone(), error }))
}

fn listen_error(problem: ListenProblem) -> StartError {
    match problem {
        ListenProblem::Exposed(address) => StartError::Insecure(address),
        ListenProblem::Refused(address, error) => match error.kind() {
            io::ErrorKind::AddrInUse => StartError::AddressInUse(address),
            io::ErrorKind::AddrNotAvailable => StartError::AddressNotOurs(address),
            io::ErrorKind::PermissionDenied => StartError::PortPrivileged(address),
            _ => StartError::Listen { address, error },
        },
    }
}

/// Sets the gauges of the limits, with `threads` threads in a pool.
fn show_limits(limits: &Limits, threads: usize) {
    for (name, value) in limits.values(threads) {
        metrics::limit(name, value);
    }
}

/// The routes of all services, each with compression, but that health is never answered compressed:
/// clients built on gRPC-core that check health ask for it, and cannot read it.
fn routes(
    context: &Arc<Context>,
    health: &HealthReporter,
) -> Result<Routes, tonic_reflection::server::Error> {
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            // The details of statuses.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
    };
    // A macro, because the services share no trait with these methods.
    macro_rules! compressed {
        ($service:expr) => {
            $service.accept_compressed(Deflate).accept_compressed(Gzip).accept_compressed(Zstd)
        };
    }
    macro_rules! compressed_both_ways {
        ($service:expr) => {
            compressed!($service).send_compressed(Deflate).send_compressed(Gzip).send_compressed(Zstd)
        };
    }
    let sudoku = SudokuServiceServer::new(Sudoku { context: Arc::clone(context) })
        .max_decoding_message_size(context.limits().message_bytes);
    let health = HealthServer::new(HealthService::from_health_reporter(health.clone()));
    Ok(Routes::new(compressed_both_ways!(sudoku))
        .add_service(compressed!(health))
        .add_service(compressed_both_ways!(reflection().build_v1()?))
        .add_service(compressed_both_ways!(reflection().build_v1alpha()?)))
}

/// The methods, each forwarded to its module.
struct Sudoku {
    context: Arc<Context>,
}

#[tonic::async_trait]
impl SudokuService for Sudoku {
    type SolveStreamStream = OrderedResponses<stream::AllResponses<stream::SolveStream>>;
    type SolveLinesStream = OrderedResponses<stream::AllResponses<stream::SolveLines>>;
    type CanonicalizeStream = OrderedResponses<stream::AllResponses<stream::Canonicalize>>;
    type SolveDatasetStream = datasets::SolveDatasetStream;
    type TraceStream = trace::TraceStream;
    type GenerateStream = generate::GenerateStream;

    async fn solve_stream(
        &self,
        request: Request<Streaming<proto::SolveStreamRequest>>,
    ) -> CallResult<Self::SolveStreamStream> {
        stream::serve::<stream::SolveStream>(&self.context, request).map(Response::new)
    }

    async fn solve_lines(
        &self,
        request: Request<Streaming<proto::SolveLinesRequest>>,
    ) -> CallResult<Self::SolveLinesStream> {
        stream::serve::<stream::SolveLines>(&self.context, request).map(Response::new)
    }

    async fn canonicalize(
        &self,
        request: Request<Streaming<proto::CanonicalizeRequest>>,
    ) -> CallResult<Self::CanonicalizeStream> {
        stream::serve::<stream::Canonicalize>(&self.context, request).map(Response::new)
    }

    async fn solve(&self, request: Request<proto::SolveRequest>) -> CallResult<proto::SolveResponse> {
        unary::solve(&self.context, request).await
    }

    async fn solve_dataset(
        &self,
        request: Request<proto::SolveDatasetRequest>,
    ) -> CallResult<Self::SolveDatasetStream> {
        datasets::solve(&self.context, request).await.map(Response::new)
    }

    async fn list_datasets(
        &self,
        request: Request<proto::ListDatasetsRequest>,
    ) -> CallResult<proto::ListDatasetsResponse> {
        datasets::list(&self.context, request).await.map(Response::new)
    }

    async fn get_puzzle(
        &self,
        request: Request<proto::GetPuzzleRequest>,
    ) -> CallResult<proto::GetPuzzleResponse> {
        datasets::puzzle(&self.context, request).await.map(Response::new)
    }

    async fn validate(
        &self,
        request: Request<proto::ValidateRequest>,
    ) -> CallResult<proto::ValidateResponse> {
        unary::validate(&self.context, request).await
    }

    async fn check(&self, request: Request<proto::CheckRequest>) -> CallResult<proto::CheckResponse> {
        unary::check(&self.context, request).await
    }

    async fn count(&self, request: Request<proto::CountRequest>) -> CallResult<proto::CountResponse> {
        unary::count(&self.context, request).await
    }

    async fn trace(&self, request: Request<proto::TraceRequest>) -> CallResult<Self::TraceStream> {
        trace::trace(&self.context, request).map(Response::new)
    }

    async fn hint(&self, request: Request<proto::HintRequest>) -> CallResult<proto::HintResponse> {
        hint::hint(&self.context, request).await
    }

    async fn rate(&self, request: Request<proto::RateRequest>) -> CallResult<proto::RateResponse> {
        by_hand::rate(&self.context, request).await
    }

    async fn steps(&self, request: Request<proto::StepsRequest>) -> CallResult<proto::StepsResponse> {
        by_hand::steps(&self.context, request).await
    }

    async fn generate(&self, request: Request<proto::GenerateRequest>) -> CallResult<Self::GenerateStream> {
        generate::serve(&self.context, request).map(Response::new)
    }
}
