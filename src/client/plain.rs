//! Plain connections that notice what else than HTTP/2 is spoken at the other end.
//!
//! The transport only sees frames that make no sense, or that its own were not taken. So the first
//! bytes are looked at before it gets them. Those of HTTP/2 are the length of a frame, which no
//! implementation begins with 64 KiB or more, so the first one is zero; TLS answers with an alert,
//! and HTTP/1 with its name.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Error, Uri};
use tower::{Service, service_fn};

/// What is spoken at the other end of a plain connection, where that is no HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    Tls,
    Http1,
}

impl Spoken {
    /// The first bytes that are enough to tell.
    const TELLING_BYTES: usize = 5;

    fn by(first: &[u8]) -> Option<Self> {
        match first {
            // The record of an alert or of a handshake, and the version of TLS 1.0 to 1.3.
            [0x15 | 0x16, 3, ..] => Some(Self::Tls),
            [b'H', b'T', b'T', b'P', b'/', ..] => Some(Self::Http1),
            _ => None,
        }
    }
}

/// What the connections to a server have noticed.
#[derive(Debug)]
pub(super) struct Notices {
    spoken: OnceLock<Spoken>,
    begin: Instant,
    /// When the last of them was opened or has read something, in milliseconds from the beginning.
    last_read: AtomicU64,
}

impl Default for Notices {
    fn default() -> Self {
        Self { spoken: OnceLock::new(), begin: Instant::now(), last_read: AtomicU64::new(0) }
    }
}

impl Notices {
    fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn has_read(&self) {
        self.last_read.store(self.now(), Ordering::Relaxed);
    }

    /// What is spoken at the other end, where that is no HTTP/2.
    pub(super) fn spoken(&self) -> Option<Spoken> {
        self.spoken.get().copied()
    }

    /// The time since anything was read.
    pub(super) fn silence(&self) -> Duration {
        Duration::from_millis(self.now().saturating_sub(self.last_read.load(Ordering::Relaxed)))
    }
}

pub(super) type Noticed = Arc<Notices>;

/// What HTTP/2 is spoken over.
pub(super) trait AsyncSocket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> AsyncSocket for T {}

/// Connects without encryption, to the socket in the file system if there is one.
pub(super) async fn connect(
    transport: &Endpoint,
    socket: Option<&PathBuf>,
    timeout: Duration,
    noticed: &Noticed,
) -> Result<Channel, Error> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(timeout));
    let (path, noticed) = (socket.cloned(), Arc::clone(noticed));
    let listening = service_fn(move |address: Uri| {
        let (mut connector, path, noticed) = (connector.clone(), path.clone(), Arc::clone(&noticed));
        async move {
            let watched: Box<dyn AsyncSocket> = if let Some(path) = path {
                Box::new(WatchedSocket::new(UnixStream::connect(path).await?, Arc::clone(&noticed)))
            } else {
                let socket = connector.call(address).await?.into_inner();
                Box::new(WatchedSocket::new(socket, Arc::clone(&noticed)))
            };
            noticed.has_read();
            Ok::<_, tower::BoxError>(TokioIo::new(watched))
        }
    });
    transport.connect_with_connector(listening).await
}

/// A socket whose first bytes are looked at as they pass.
pub(super) struct WatchedSocket<S> {
    socket: S,
    /// The first bytes, up to [`Spoken::TELLING_BYTES`].
    first: Vec<u8>,
    noticed: Noticed,
}

impl<S: AsFd> WatchedSocket<S> {
    pub(super) fn new(socket: S, noticed: Noticed) -> Self {
        Self { socket, first: Vec::new(), noticed }
    }

    fn look_at(&mut self, bytes: &[u8]) {
        let missing = Spoken::TELLING_BYTES - self.first.len();
        if missing > 0 && !bytes.is_empty() {
            self.first.extend(&bytes[..bytes.len().min(missing)]);
            if let Some(spoken) = Spoken::by(&self.first) {
                // Another connection may have noticed it before.
                let _ = self.noticed.spoken.set(spoken);
            }
        }
    }

    /// Looks at what has arrived and was not read, because the transport reads no more after it
    /// could not write.
    fn look_behind<T>(&mut self, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if matches!(written, Poll::Ready(Err(_))) {
            // Read from the socket itself, because the runtime may not know yet that bytes are there.
            let mut bytes = [0; Spoken::TELLING_BYTES];
            let read = self.socket.as_fd().try_clone_to_owned().map(File::from);
            if let Ok(length) = read.and_then(|mut socket| socket.read(&mut bytes)) {
                self.look_at(&bytes[..length]);
            }
        }
        written
    }
}

impl<S: AsyncRead + AsFd + Unpin> AsyncRead for WatchedSocket<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let old = buffer.filled().len();
        let result = Pin::new(&mut this.socket).poll_read(cx, buffer);
        this.look_at(&buffer.filled()[old..]);
        if buffer.filled().len() > old {
            this.noticed.has_read();
        }
        result
    }
}

impl<S: AsyncWrite + AsFd + Unpin> AsyncWrite for WatchedSocket<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write(cx, bytes);
        this.look_behind(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write_vectored(cx, slices);
        this.look_behind(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_what_is_spoken() {
        for (first, spoken) in [
            // An alert, as OpenSSL and rustls send it, and a greeting that comes unasked.
            (&b"\x15\x03\x03\0\x02\x02\x46"[..], Some(Spoken::Tls)),
            (b"\x15\x03\x01\0\x02\x02\x46", Some(Spoken::Tls)),
            (b"\x16\x03\x03\0\x7A", Some(Spoken::Tls)),
            (b"HTTP/1.1 400 Bad Request", Some(Spoken::Http1)),
            // Frames of HTTP/2: SETTINGS and GOAWAY.
            (b"\0\0\x12\x04\0\0\0\0\0", None),
            (b"\0\0\x08\x07\0\0\0\0\0", None),
            (b"SSH-2.0-OpenSSH", None),
            (b"HTTP", None),
            (b"", None),
        ] {
            assert_eq!(Spoken::by(first), spoken, "{first:x?}");
        }
    }
}
