//! Listening: addresses of the network, names, sockets in the file system, and sockets that the
//! system's manager of services has opened.

use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net as std_unix;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream, lookup_host};

use crate::service::net::handle::Peer;

/// The prefix of a path.
const UNIX: &str = "unix:";

/// An address to listen on.
///
/// ```
/// use sudoku_stream::service::ListenAddress;
///
/// let address: ListenAddress = "localhost:50051".parse()?;
/// assert_eq!(address.to_string(), "localhost:50051");
/// let path: ListenAddress = "unix:/run/sudokud.sock".parse()?;
/// assert_eq!(path.to_string(), "unix:/run/sudokud.sock");
/// assert!("here".parse::<ListenAddress>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ListenAddress {
    /// An address and a port; port 0 takes a free one.
    Network(SocketAddr),
    /// A name and a port: all addresses that the name has.
    Name(String),
    /// A socket in the file system. Processes that may write to it may call.
    Unix(PathBuf),
    /// A socket that is bound already.
    Bound(Arc<std::net::TcpListener>),
    /// The same in the file system.
    BoundUnix(Arc<std_unix::UnixListener>),
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Network(address)
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix(UNIX) {
            let wrong = "write a path behind `unix:`, as in unix:/run/sudokud.sock".to_owned();
            return if path.is_empty() { Err(wrong) } else { Ok(Self::Unix(path.into())) };
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Network(address));
        }
        let is_name = |name: &str| {
            let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            !name.is_empty()
                && name.bytes().all(is_good)
                && name.bytes().any(|byte| byte.is_ascii_alphabetic())
        };
        match text.rsplit_once(':') {
            Some((name, port)) if is_name(name) && port.parse::<u16>().is_ok() => {
                Ok(Self::Name(text.to_owned()))
            }
            _ => Err("write an address or a name and a port, as in 127.0.0.1:50051, [::1]:50051 or localhost:50051, or unix:PATH"
                .to_owned()),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(address) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
            Self::Bound(_) | Self::BoundUnix(_) => f.write_str("a socket of the service manager"),
        }
    }
}

/// What connections come in by.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// An accepted socket.
pub(super) enum Accepting {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<(Accepting, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (socket, peer) = listener.accept().await?;
                // Without it small answers wait for the peer's acknowledgement. A socket that
                // refuses the option still works.
                let _ = socket.set_nodelay(true);
                Ok((Accepting::Tcp(socket), Peer::Network(peer)))
            }
            Self::Unix(listener) => {
                let (socket, _) = listener.accept().await?;
                Ok((Accepting::Unix(socket), Peer::Local))
            }
        }
    }
}

/// A listener, and the address that it has.
pub(crate) struct Listening {
    pub(crate) listener: Listener,
    pub(crate) address: ListenAddress,
    /// The address in the network, if it has one.
    pub(crate) network: Option<SocketAddr>,
    /// Removes the socket in the file system in the end.
    _file: Option<SocketFile>,
}

/// A socket in the file system, which is removed on drop.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = fs::remove_file(&self.0);
    }
}

/// Why an address cannot be listened on.
pub(crate) enum ListenProblem {
    /// It can be reached from other machines.
    Exposed(SocketAddr),
    /// The system says no.
    Refused(String, io::Error),
}

impl ListenAddress {
    /// The addresses of the network that it stands for before it is bound.
    async fn resolve(&self) -> Result<Vec<SocketAddr>, ListenProblem> {
        Ok(match self {
            Self::Network(address) => vec![*address],
            Self::Name(name) => {
                let found = lookup_host(name).await;
                let found = found.map_err(|error| ListenProblem::Refused(self.to_string(), error))?;
                let mut addresses: Vec<_> = found.collect();
                addresses.dedup();
                addresses
            }
            Self::Unix(_) | Self::Bound(_) | Self::BoundUnix(_) => Vec::new(),
        })
    }

    /// Checks, without listening, that no address of the network is exposed unless it `may_expose` one.
    pub(crate) async fn check(&self, may_expose: bool) -> Result<(), ListenProblem> {
        self.resolve().await?.into_iter().try_for_each(|address| check(address, may_expose))
    }

    /// Listens, with a backlog for so many peers. `may_expose` is whether other machines may reach
    /// it.
    pub(crate) async fn listen(
        &self,
        backlog: usize,
        may_expose: bool,
    ) -> Result<Vec<Listening>, ListenProblem> {
        let refused = |error| ListenProblem::Refused(self.to_string(), error);
        // The system lowers it to what it allows.
        let backlog = u32::try_from(backlog).unwrap_or(u32::MAX).clamp(128, i32::MAX.unsigned_abs());
        match self {
            Self::Network(_) | Self::Name(_) => {}
            Self::Unix(path) => {
                remove_stale(path);
                let is_file = |found: fs::Metadata| !found.file_type().is_socket();
                if fs::symlink_metadata(path).is_ok_and(is_file) {
                    let what = "a file of that name is there, which is no socket";
                    return Err(refused(io::Error::new(io::ErrorKind::AlreadyExists, what)));
                }
                let listener = std_unix::UnixListener::bind(path).map_err(refused)?;
                let file = Some(SocketFile(path.clone()));
                return Ok(vec![unix(listener, self.clone(), file).map_err(refused)?]);
            }
            Self::Bound(listener) => {
                let listener = listener.try_clone().map_err(refused)?;
                let address = listener.local_addr().map_err(refused)?;
                check(address, may_expose)?;
                listener.set_nonblocking(true).map_err(refused)?;
                return Ok(vec![tcp(TcpListener::from_std(listener).map_err(refused)?).map_err(refused)?]);
            }
            Self::BoundUnix(listener) => {
                let listener = listener.try_clone().map_err(refused)?;
                let path = listener.local_addr().ok().and_then(|addr| addr.as_pathname().map(PathBuf::from));
                let address = path.map_or_else(|| self.clone(), Self::Unix);
                return Ok(vec![unix(listener, address, None).map_err(refused)?]);
            }
        }
        let mut listening = Vec::new();
        for address in self.resolve().await? {
            check(address, may_expose)?;
            let refused = |error| ListenProblem::Refused(address.to_string(), error);
            let bind = || -> io::Result<TcpListener> {
                let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
                socket.set_reuseaddr(true)?;
                socket.bind(address)?;
                socket.listen(backlog)
            };
            listening.push(bind().and_then(tcp).map_err(refused)?);
        }
        Ok(listening)
    }
}

const fn check(address: SocketAddr, may_expose: bool) -> Result<(), ListenProblem> {
    if address.ip().is_loopback() || may_expose { Ok(()) } else { Err(ListenProblem::Exposed(address)) }
}

fn tcp(listener: TcpListener) -> io::Result<Listening> {
    let address = listener.local_addr()?;
    let listener = Listener::Tcp(listener);
    Ok(Listening { listener, address: address.into(), network: Some(address), _file: None })
}

fn unix(
    listener: std_unix::UnixListener,
    address: ListenAddress,
    file: Option<SocketFile>,
) -> io::Result<Listening> {
    listener.set_nonblocking(true)?;
    let listener = Listener::Unix(UnixListener::from_std(listener)?);
    Ok(Listening { listener, address, network: None, _file: file })
}

/// Removes the socket of a server that was killed: one that nobody listens on.
fn remove_stale(path: &PathBuf) {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refuses = || {
        std_unix::UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    };
    if is_socket && refuses() {
        // What is wrong with it shows when it is bound.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for good in ["127.0.0.1:0", "[::1]:50051", "localhost:1", "a-b.example.org:443", "unix:/run/x.sock"] {
            assert_eq!(good.parse::<ListenAddress>().unwrap().to_string(), good);
        }
        for bad in
            ["", "here", "127.0.0.1", "1.2.3:4", "name:", "name:x", "name:65536", "unix:", "a b:1", ":1"]
        {
            assert!(bad.parse::<ListenAddress>().is_err(), "{bad}");
        }
    }
}
