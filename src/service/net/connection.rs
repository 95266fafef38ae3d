//! Accepting connections: TLS, handshake time-outs, lingering close.
//!
//! The transport does none of this:
//!
//! - With certificates, connections are encrypted.
//! - A peer that connects and sends nothing is dropped after the handshake time-out, and at once
//!   when the server shuts down.
//! - A connection that cannot be accepted, most likely for lack of file descriptors, makes
//!   accepting pause, not spin.
//! - The first bytes tell HTTP/2 from HTTP/1.1, which are served by different code.
//! - The heads of HTTP/1.1 and the frames of HTTP/2 are looked at as they come.
//! - An HTTP/1.1 connection whose peer takes no bytes is closed; a stream of HTTP/2 is ended by itself.
//! - A connection closes lingeringly: what was written arrives even if the peer is still sending.
//!
//! Who has a place is decided in `capacity.rs`. Some of the peers without one wait, so that they are
//! counted, and the rest in the system's backlog.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::transport::server::Connected;
use tower::Service;

use crate::service::metrics::{self, OpenConnection};
use crate::service::net::capacity::{ConnectionCapacity, ConnectionPlace, Entered};
use crate::service::net::control_frames::ReceivedFrames;
use crate::service::net::handle::{ConnectionHandle, LEAVE_TIME};
use crate::service::net::http1_heads::RequestHeads;
use crate::service::net::listen::{Accepting, Listening};
use crate::service::net::tls::Tls;

/// The pause of accepting after an error.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The length of the preface that an HTTP/2 client sends first.
const PREFACE_BYTES: usize = 24;

/// The beginning of that preface. No method of HTTP/1.1 is called so.
const PREFACE_BEGINS: &[u8] = b"PRI ";

/// The time for which the peer's bytes are read after our last byte was written.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// The limits on connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// The most time for the TLS handshake, and then for the HTTP/2 preface.
    pub(crate) handshake_timeout: Duration,
    /// The most time for which the peer of an HTTP/1.1 connection takes no bytes.
    pub(crate) idle_timeout: Duration,
}

/// The limits on connections as they are now; they can change.
pub(crate) type LimitsNow = Arc<dyn Fn() -> ConnectionLimits + Send + Sync>;

/// Where accepted connections go, by their protocol.
#[derive(Clone)]
pub(crate) struct Accepted {
    /// Those that begin with the preface of HTTP/2.
    pub(crate) http2: mpsc::Sender<Connection>,
    /// All others.
    pub(crate) http1: mpsc::Sender<Connection>,
}

/// A service that answers the requests of connections.
pub(crate) trait HttpService:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> HttpService for S where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Returns when the server begins to shut down.
pub(crate) async fn drain_begins(mut draining: watch::Receiver<bool>) {
    // An error means that the server is gone, which ends everything as well.
    let _ = draining.wait_for(|&draining| draining).await;
}

/// Returns when a connection is to be closed behind the answers on hand: at this age, if there is one,
/// or when the server begins to shut down.
pub(super) async fn graceful_shutdown_begins(age: Option<Duration>, draining: watch::Receiver<bool>) {
    let drain_begins = drain_begins(draining);
    match age {
        // Which of them it was does not matter.
        Some(age) => drop(timeout(age, drain_begins).await),
        None => drain_begins.await,
    }
}

/// Serves each connection on a task of its own until the drain begins, then waits for the end of those
/// that are open.
pub(super) async fn serve_each<F>(
    mut connections: mpsc::Receiver<Connection>,
    draining: watch::Receiver<bool>,
    serve_one: impl Fn(Connection) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut open = JoinSet::new();
    let mut drain_begins = std::pin::pin!(drain_begins(draining));
    loop {
        tokio::select! {
            connection = connections.recv() => match connection {
                Some(connection) => {
                    open.spawn(serve_one(connection));
                }
                None => break,
            },
            Some(_) = open.join_next() => {}
            () = &mut drain_begins => break,
        }
    }
    // Accepting ends with it.
    drop(connections);
    while open.join_next().await.is_some() {}
}

/// Accepts connections until the receiver is gone.
pub(crate) async fn accept(
    listening: Listening,
    tls: Option<Arc<Tls>>,
    limits: LimitsNow,
    capacity: Arc<ConnectionCapacity>,
    draining: watch::Receiver<bool>,
    accepted: Accepted,
) {
    loop {
        let socket = tokio::select! {
            () = accepted.http2.closed() => return,
            socket = listening.listener.accept() => socket,
        };
        let (socket, peer) = match socket {
            Ok(socket) => socket,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let handle = ConnectionHandle::new(peer);
        let acceptor = tls.as_ref().map(|tls| tls.acceptor());
        let (limits, draining, accepted) = (Arc::clone(&limits), draining.clone(), accepted.clone());
        let entered = tokio::select! {
            () = accepted.http2.closed() => return,
            entered = capacity.enter(&handle) => entered,
        };
        let Some(entered) = entered else { continue };
        // A greeting takes as long as the peer does, so it has a task of its own. The places, and those
        // in the queue, bound the number of these tasks.
        tokio::spawn(async move {
            let greeting = async {
                let place = match entered {
                    Entered::Placed(place) => Some(place),
                    Entered::Queued(queued) => queued.place(&handle).await,
                };
                let Some(place) = place else { return };
                greet(socket, place, acceptor, limits(), draining.clone(), accepted).await;
            };
            tokio::select! {
                () = greeting => {}
                () = drain_begins(draining.clone()) => {}
                _ = handle.asked_to_leave(None) => {}
            }
        });
    }
}

/// What is wrong with a handshake, in words for the operator.
fn handshake_problem(error: &io::Error) -> String {
    let words = error.to_string();
    if words.contains("UnsupportedCertVersion") {
        "the client's certificate is X.509 version 1, and only version 3 can say what it is for".to_owned()
    } else {
        words
    }
}

/// Encrypts a connection, reads its first bytes and passes it on.
async fn greet(
    socket: Accepting,
    place: ConnectionPlace,
    acceptor: Option<TlsAcceptor>,
    limits: ConnectionLimits,
    draining: watch::Receiver<bool>,
    accepted: Accepted,
) {
    let socket = match (socket, acceptor) {
        // Nobody else is on this machine's own sockets.
        (Accepting::Unix(socket), _) => AcceptedSocket::Unix(socket),
        (Accepting::Tcp(socket), None) => AcceptedSocket::Plain(socket),
        (Accepting::Tcp(socket), Some(acceptor)) => {
            match timeout(limits.handshake_timeout, acceptor.accept(socket).into_fallible()).await {
                Ok(Ok(stream)) => AcceptedSocket::Encrypted(Box::new(stream)),
                Ok(Err((error, socket))) => {
                    metrics::handshake_failed("refused");
                    let problem = handshake_problem(&error);
                    tracing::info!(peer = %place.handle().peer(), "a TLS handshake failed: {problem}");
                    // So that the alert arrives, which tells the peer what is wrong.
                    let _ = timeout(LINGER_TIMEOUT, linger(socket)).await;
                    return;
                }
                Err(_) => {
                    metrics::handshake_failed("too_slow");
                    tracing::debug!(peer = %place.handle().peer(), "a TLS handshake took too long");
                    return;
                }
            }
        }
    };
    let mut connection = Connection::new(socket, place);
    match timeout(limits.handshake_timeout, connection.read_beginning()).await {
        // A receiver may be gone, because the server has ended.
        Ok(Ok(HttpVersion::Http2)) => {
            connection.expect_preface(limits.handshake_timeout, draining);
            connection.frames = Some(ReceivedFrames::behind(PREFACE_BYTES - connection.beginning.len));
            let _ = accepted.http2.send(connection).await;
        }
        Ok(Ok(HttpVersion::Http1)) => {
            connection.stall = Some(Stall { limit: limits.idle_timeout, timer: None });
            connection.look_at_heads();
            let _ = accepted.http1.send(connection).await;
        }
        Ok(Err(_)) | Err(_) => tracing::debug!("a connection was closed before it said anything"),
    }
}

/// Ends what is sent, and reads until the peer closes: see [`Closing`].
async fn linger(mut socket: TcpStream) -> io::Result<()> {
    let mut scratch = [0; 4096];
    socket.shutdown().await?;
    while socket.read(&mut scratch).await? > 0 {}
    Ok(())
}

/// The protocol of a connection.
enum HttpVersion {
    Http1,
    Http2,
}

/// A socket, encrypted or not.
enum AcceptedSocket {
    Plain(TcpStream),
    Unix(UnixStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Calls a method of either kind of stream.
macro_rules! either {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            AcceptedSocket::Plain($stream) => $call,
            AcceptedSocket::Unix($stream) => $call,
            AcceptedSocket::Encrypted($stream) => $call,
        }
    };
}

/// An accepted connection.
pub(crate) struct Connection {
    socket: AcceptedSocket,
    beginning: FirstBytes,
    preface: Option<Preface>,
    stall: Option<Stall>,
    /// The heads of its requests, if it speaks HTTP/1.1, and whether one of them is refused.
    heads: Option<RequestHeads>,
    is_refused: bool,
    /// The frames that were received, if it speaks HTTP/2.
    frames: Option<ReceivedFrames>,
    closing: Option<Closing>,
    place: Arc<ConnectionPlace>,
    meter: OpenConnection,
}

/// The first bytes of a connection, which are read before anybody knows whom they are for.
#[derive(Default)]
struct FirstBytes {
    bytes: [u8; PREFACE_BEGINS.len()],
    /// How many have come.
    len: usize,
    /// How many have been passed on.
    passed: usize,
}

impl FirstBytes {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.passed..self.len]
    }
}

/// The preface of a peer, while it is incomplete.
struct Preface {
    missing: usize,
    /// Ready when the time-out has passed or the server shuts down.
    given_up: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// The time for which a peer takes no bytes.
struct Stall {
    limit: Duration,
    /// Runs while bytes wait.
    timer: Option<Pin<Box<Sleep>>>,
}

/// The lingering close: our last byte was written, and the peer's bytes are read and dropped.
struct Closing {
    timeout: Pin<Box<Sleep>>,
}

impl Connection {
    fn new(socket: AcceptedSocket, place: ConnectionPlace) -> Self {
        Self {
            socket,
            beginning: FirstBytes::default(),
            preface: None,
            stall: None,
            heads: None,
            is_refused: false,
            frames: None,
            closing: None,
            place: Arc::new(place),
            meter: OpenConnection::new(),
        }
    }

    /// Its place among the open connections.
    pub(super) fn place(&self) -> Arc<ConnectionPlace> {
        Arc::clone(&self.place)
    }

    /// Reads as many bytes as tell one protocol from the other.
    async fn read_beginning(&mut self) -> io::Result<HttpVersion> {
        let FirstBytes { bytes, len, .. } = &mut self.beginning;
        while *len < bytes.len() {
            let got = either!(&mut self.socket, stream => stream.read(&mut bytes[*len..]).await)?;
            if got == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            *len += got;
            self.meter.received.increment(got as u64);
            if !PREFACE_BEGINS.starts_with(&bytes[..*len]) {
                return Ok(HttpVersion::Http1);
            }
        }
        Ok(HttpVersion::Http2)
    }

    /// Expects the rest of the preface within a time, and until the server shuts down: the
    /// transport waits for it even then.
    fn expect_preface(&mut self, within: Duration, draining: watch::Receiver<bool>) {
        let given_up = async move {
            let _ = timeout(within, drain_begins(draining)).await;
        };
        let missing = PREFACE_BYTES - self.beginning.len;
        self.preface = Some(Preface { missing, given_up: Box::pin(given_up) });
    }

    /// Looks at the heads of requests from now on, and at the bytes that are there already.
    fn look_at_heads(&mut self) {
        let mut heads = RequestHeads::default();
        self.is_refused = heads.pass(self.beginning.rest()).is_err();
        self.heads = Some(heads);
    }

    /// Whether a part of the head of a request has come, and the rest not.
    pub(super) fn is_within_head(&self) -> bool {
        self.heads.as_ref().is_some_and(RequestHeads::is_within)
    }

    /// Looks at what was received, behind `before` bytes. In the place of the end of a line that one
    /// reader could take differently from another the transport gets what no head may have, and it
    /// answers with 400.
    fn check_heads(&mut self, buffer: &mut ReadBuf<'_>, before: usize) {
        const NO_REQUEST: &[u8] = b"\0\r\n\r\n";
        let Some(heads) = &mut self.heads else { return };
        let mut end = before;
        if !self.is_refused {
            let Err((fault, at)) = heads.pass(&buffer.filled()[before..]) else { return };
            end += at;
            metrics::refused("malformed");
            tracing::debug!(peer = %self.place.handle().peer(), ?fault, "a request over HTTP/1.1 is refused");
            self.is_refused = true;
        }
        buffer.set_filled(end);
        buffer.put_slice(&NO_REQUEST[..NO_REQUEST.len().min(buffer.remaining())]);
    }

    /// Counts what was sent, and gives up a peer that takes nothing.
    fn sent<T>(
        &mut self,
        cx: &mut TaskContext<'_>,
        result: Poll<io::Result<T>>,
        bytes: fn(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(Ok(sent)) = &result {
            self.meter.sent.increment(bytes(sent) as u64);
        }
        let Some(stall) = &mut self.stall else { return result };
        if result.is_ready() {
            stall.timer = None;
            return result;
        }
        let timer = stall.timer.get_or_insert_with(|| Box::pin(sleep(stall.limit)));
        ready!(timer.as_mut().poll(cx));
        if !self.place.handle().stalled() {
            metrics::refused("idle_timeout");
            let peer = self.place.handle().peer();
            tracing::info!(%peer, "closing the connection of a client that does not read its answers");
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionHandle;

    fn connect_info(&self) -> ConnectionHandle {
        self.place.handle().clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let rest = this.beginning.rest();
        if !rest.is_empty() {
            let taken = rest.len().min(buffer.remaining());
            buffer.put_slice(&rest[..taken]);
            this.beginning.passed += taken;
            return Poll::Ready(Ok(()));
        }
        if this.place.handle().is_flooded() {
            // Those who serve it have been woken.
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let result = either!(&mut this.socket, stream => Pin::new(stream).poll_read(cx, buffer));
        let received = buffer.filled().len() - before;
        this.meter.received.increment(received as u64);
        if received > 0 {
            this.place.handle().received();
            this.check_heads(buffer, before);
            if let Some(frames) = &mut this.frames
                && !frames.pass(&buffer.filled()[before..], this.place.handle())
            {
                this.place.handle().has_flooded();
            }
        }
        if let Some(preface) = &mut this.preface {
            preface.missing = preface.missing.saturating_sub(received);
            if preface.missing == 0 {
                this.preface = None;
            } else if result.is_pending() && preface.given_up.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        result
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = either!(&mut self.socket, stream => Pin::new(stream).poll_write(cx, bytes));
        self.sent(cx, result, |&sent| sent)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        let result = either!(&mut self.socket, stream => Pin::new(stream).poll_flush(cx));
        self.sent(cx, result, |()| 0)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = either!(&mut self.socket, stream => Pin::new(stream).poll_write_vectored(cx, parts));
        self.sent(cx, result, |&sent| sent)
    }

    fn is_write_vectored(&self) -> bool {
        either!(&self.socket, stream => stream.is_write_vectored())
    }

    /// Closes lingeringly, because closing a socket with unread bytes resets it, and the peer loses
    /// what it has not read yet. After our last byte, the peer's bytes are read until it closes
    /// too, or until the time-out.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.closing.is_none() {
            ready!(either!(&mut this.socket, stream => Pin::new(stream).poll_shutdown(cx)))?;
        }
        let time = if this.place.handle().makes_way() { LEAVE_TIME } else { LINGER_TIMEOUT };
        let closing = this.closing.get_or_insert_with(|| Closing { timeout: Box::pin(sleep(time)) });
        let mut scratch = [0; 4096];
        loop {
            if closing.timeout.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            let result =
                ready!(either!(&mut this.socket, stream => Pin::new(stream).poll_read(cx, &mut buffer)));
            if result.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_closed_at_its_age_or_with_the_server() {
        const AGE: Duration = Duration::from_secs(60);
        let (drain, draining) = watch::channel(false);
        let begin = Instant::now();
        graceful_shutdown_begins(Some(AGE), draining.clone()).await;
        assert!(begin.elapsed() >= AGE);
        let ageless = timeout(100 * AGE, graceful_shutdown_begins(None, draining.clone())).await;
        assert!(ageless.is_err(), "nothing has begun");
        let begin = Instant::now();
        drain.send_replace(true);
        for age in [None, Some(AGE)] {
            graceful_shutdown_begins(age, draining.clone()).await;
        }
        assert_eq!(begin.elapsed(), Duration::ZERO);
    }
}
