//! Accepting connections: TLS, handshake time-outs, lingering close.
//!
//! The transport does none of this:
//!
//! - With certificates, connections are encrypted.
//! - A peer that connects and sends nothing is dropped after the handshake time-out, and at once
//!   when the server shuts down.
//! - A connection that cannot be accepted, most likely for lack of file descriptors, makes
//!   accepting pause, not spin.
//! - A call can close its connection, if the client neither takes its answers nor disconnects.
//! - A connection closes lingeringly: what was written arrives even if the peer is still sending.
//!
//! **Invariant:** every open connection and every handshake under way holds a permit, so there are
//! never more than [`ConnectionLimits::connections`]; further peers wait in the system's backlog.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use crate::service::metrics::{self, OpenConnection};
use crate::service::net::handle::ConnectionHandle;
use crate::service::net::tls::Tls;

/// The pause of accepting after an error.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The length of the preface that an HTTP/2 client sends first.
const PREFACE_BYTES: usize = 24;

/// The time for which the peer's bytes are read after our last byte was written.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// The limits on connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// The most connections open at once; further peers wait in the system's backlog.
    pub(crate) connections: usize,
    /// The most time for the TLS handshake, and then for the HTTP/2 preface.
    pub(crate) handshake_timeout: Duration,
}

/// Returns when the server begins to shut down.
async fn drain_begins(mut draining: watch::Receiver<bool>) {
    // An error means that the server is gone, which ends everything as well.
    let _ = draining.wait_for(|&draining| draining).await;
}

/// Accepts connections until the receiver is gone.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    limits: ConnectionLimits,
    draining: watch::Receiver<bool>,
    accepted: mpsc::Sender<io::Result<Connection>>,
) {
    let permits = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
    // The semaphore is never closed.
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let socket = tokio::select! {
            () = accepted.closed() => return,
            socket = listener.accept() => socket,
        };
        match socket {
            Ok((socket, _)) => {
                // Without it small answers wait for the peer's acknowledgement. A socket that
                // refuses the option still works.
                let _ = socket.set_nodelay(true);
                let Some(tls) = &tls else {
                    let connection = Connection::new(Socket::Plain(socket), permit, limits, draining.clone());
                    if accepted.send(Ok(connection)).await.is_err() {
                        return;
                    }
                    continue;
                };
                // A handshake takes as long as the peer does, so it has a task of its own. The
                // permit bounds the number of these tasks.
                let (acceptor, draining, accepted) = (tls.acceptor(), draining.clone(), accepted.clone());
                tokio::spawn(async move {
                    let shaken = tokio::select! {
                        shaken = timeout(limits.handshake_timeout, acceptor.accept(socket)) => shaken,
                        () = drain_begins(draining.clone()) => return,
                    };
                    match shaken {
                        Ok(Ok(stream)) => {
                            let socket = Socket::Encrypted(Box::new(stream));
                            let connection = Connection::new(socket, permit, limits, draining);
                            // The receiver may be gone, because the server has ended.
                            let _ = accepted.send(Ok(connection)).await;
                        }
                        Ok(Err(error)) => {
                            metrics::handshake_failed("refused");
                            tracing::debug!(%error, "a handshake failed");
                        }
                        Err(_) => {
                            metrics::handshake_failed("too_slow");
                            tracing::debug!("a handshake took too long");
                        }
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// A socket, encrypted or not.
enum Socket {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Calls a method of either kind of stream.
macro_rules! either {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Plain($stream) => $call,
            Socket::Encrypted($stream) => $call,
        }
    };
}

/// An accepted connection.
pub(crate) struct Connection {
    socket: Socket,
    preface: Option<Preface>,
    closing: Option<Closing>,
    handle: ConnectionHandle,
    meter: OpenConnection,
    _permit: OwnedSemaphorePermit,
}

/// The preface of a peer, while it is incomplete.
struct Preface {
    missing: usize,
    /// Ready when the time-out has passed or the server shuts down.
    given_up: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// The lingering close: our last byte was written, and the peer's bytes are read and dropped.
struct Closing {
    timeout: Pin<Box<Sleep>>,
}

impl Connection {
    fn new(
        socket: Socket,
        permit: OwnedSemaphorePermit,
        limits: ConnectionLimits,
        draining: watch::Receiver<bool>,
    ) -> Self {
        // The transport waits for a preface even while it shuts down.
        let given_up = async move {
            let _ = timeout(limits.handshake_timeout, drain_begins(draining)).await;
        };
        let preface = Preface { missing: PREFACE_BYTES, given_up: Box::pin(given_up) };
        let handle = ConnectionHandle::default();
        let meter = OpenConnection::new();
        Self { socket, preface: Some(preface), closing: None, handle, meter, _permit: permit }
    }
}

impl Connection {
    fn count_sent(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(sent)) = &result {
            self.meter.sent.increment(*sent as u64);
        }
        result
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionHandle;

    fn connect_info(&self) -> ConnectionHandle {
        self.handle.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.handle.is_closed(cx) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let before = buffer.filled().len();
        let result = either!(&mut this.socket, stream => Pin::new(stream).poll_read(cx, buffer));
        let received = buffer.filled().len() - before;
        this.meter.received.increment(received as u64);
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
        self.count_sent(result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        either!(&mut self.socket, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = either!(&mut self.socket, stream => Pin::new(stream).poll_write_vectored(cx, parts));
        self.count_sent(result)
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
        let closing =
            this.closing.get_or_insert_with(|| Closing { timeout: Box::pin(sleep(LINGER_TIMEOUT)) });
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
