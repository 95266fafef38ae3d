//! Endpoints: the addresses of servers, and the credentials for them.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use tonic::codegen::http::uri::Authority;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{self, Certificate, Channel, ClientTlsConfig, Identity, Uri};

use super::causes::{causes, root};
use super::plain::{self, Noticed, Spoken};
use crate::client::{RetryPolicy, ServerError, handshake};
use crate::service::flow_control::{
    CONNECTION_WINDOW_BYTES, FRAME_BYTES, LOCAL_ERROR_RESETS, STREAM_WINDOW_BYTES,
};

/// A server's address, and the credentials for it.
#[derive(Clone, Default)]
pub struct Endpoint {
    /// The address: `http://` or, encrypted, `https://`, then a host and a port; or `unix:` and the path
    /// of a socket in the file system.
    pub url: String,
    /// The authority that must have signed the server's certificate, in PEM (default: the system's
    /// authorities).
    pub ca: Option<Vec<u8>>,
    /// The client's certificate and private key, in PEM (default: none).
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The token of every call (default: none).
    pub token: Option<String>,
}

impl Endpoint {
    /// A server that needs no credentials.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }
}

/// Shows the address only, because the rest is secret.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The transport's words for a connection that was closed before the response.
const CLOSED: &str = "connection closed";
/// Its words for one on which no ping was answered.
const TIMED_OUT: &str = "operation timed out";

/// A connector to one server, for any number of connections.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) url: String,
    transport: transport::Endpoint,
    /// The socket in the file system, if it is one.
    socket: Option<PathBuf>,
    connect_timeout: Duration,
    /// The time after which a server that answers no ping is given up.
    silence: Duration,
    is_encrypted: bool,
    /// Whether the client has a certificate of its own.
    has_identity: bool,
    /// What plain connections have noticed.
    noticed: Noticed,
    /// The header that carries the token.
    pub(crate) bearer: Option<MetadataValue<Ascii>>,
}

impl Connector {
    /// Checks everything that can be checked without connecting.
    pub(crate) fn new(endpoint: &Endpoint, retry: &RetryPolicy) -> Result<Self, ServerError> {
        let url = &endpoint.url;
        let bad_address = || ServerError::Address(url.clone());
        let is_encrypted = url.starts_with("https://");
        let socket = url.strip_prefix("unix:").filter(|path| !path.is_empty()).map(PathBuf::from);
        if !is_encrypted && socket.is_none() && !url.starts_with("http://") {
            return Err(bad_address());
        }
        // Calls over a socket name a host too: this machine.
        let named = if socket.is_some() { "http://localhost" } else { url };
        let uri: Uri = named.parse().map_err(|_| bad_address())?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            // Without the address, which messages and logs show.
            let what = "The address of a server takes no name and no password before an @. A token is in the file that --token-file names.";
            return Err(ServerError::Credentials(what.to_owned()));
        }
        if !names_a_server(&uri) {
            return Err(bad_address());
        }
        let mut transport = transport::Endpoint::from(uri.clone())
            .connect_timeout(retry.connect_timeout)
            .http2_keep_alive_interval(retry.ping_interval)
            .keep_alive_timeout(retry.ping_timeout)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_frame_size(FRAME_BYTES)
            .http2_max_local_error_reset_streams(LOCAL_ERROR_RESETS);
        if is_encrypted {
            let mut tls = match &endpoint.ca {
                Some(ca) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca)),
                None => ClientTlsConfig::new().with_native_roots(),
            };
            if let Some((certificate, key)) = &endpoint.identity {
                tls = tls.identity(Identity::from_pem(certificate, key));
            }
            let unusable = |error: transport::Error| {
                let what = match &endpoint.identity {
                    // The library has no name for it.
                    Some(_) if root(&error).contains("UnsupportedCertVersion") => {
                        "The certificate of --tls-cert is of an old version: TLS takes those of X.509 version 3."
                    }
                    Some(_) => {
                        "The certificate of --tls-cert and the key of --tls-key cannot be used together."
                    }
                    None => "The certificate of --tls-ca cannot be used.",
                };
                ServerError::Credentials(what.to_owned())
            };
            transport = transport.tls_config(tls).map_err(unusable)?;
        } else if endpoint.ca.is_some() || endpoint.identity.is_some() {
            let what = "Certificates are for an address that begins with https://.";
            return Err(ServerError::Credentials(what.to_owned()));
        }
        if !is_encrypted && endpoint.token.is_some() && !is_of_this_machine(uri.host().unwrap_or_default()) {
            let what = format!(
                "The token of --token-file is sent to https://, localhost and addresses such as 127.0.0.1 alone: {url} is none of these."
            );
            return Err(ServerError::Credentials(what));
        }
        Ok(Self {
            url: url.clone(),
            transport,
            socket,
            connect_timeout: retry.connect_timeout,
            silence: retry.ping_interval + retry.ping_timeout,
            is_encrypted,
            has_identity: endpoint.identity.is_some(),
            noticed: Noticed::default(),
            bearer: bearer(endpoint)?,
        })
    }

    pub(crate) async fn connect(&self) -> Result<Channel, ServerError> {
        let no_server = |error: &transport::Error| {
            let url = self.url.clone();
            if is_of_name(error) { ServerError::UnknownName(url) } else { ServerError::NoServer(url) }
        };
        if !self.is_encrypted {
            let socket = self.socket.as_ref();
            let connected =
                plain::connect(&self.transport, socket, self.connect_timeout, &self.noticed).await;
            return connected.map_err(|error| match self.other_protocol() {
                Some(other) => other,
                None if is_forbidden(&error) => ServerError::Credentials(format!(
                    "{} may not be written to by this user, which calls to a server need.",
                    self.url
                )),
                None => no_server(&error),
            });
        }
        self.transport.connect().await.map_err(|error| {
            handshake::sentence(&self.url, &error).map_or_else(|| no_server(&error), ServerError::Handshake)
        })
    }

    /// The error of a server that speaks something else than HTTP/2, if that was noticed.
    pub(crate) fn other_protocol(&self) -> Option<ServerError> {
        let host = self.url.strip_prefix("http://").unwrap_or(&self.url);
        Some(ServerError::OtherProtocol(match self.noticed.spoken()? {
            Spoken::Tls => format!("This server speaks TLS: use https://{host}."),
            Spoken::Http1 => format!(
                "What answers at {host} speaks HTTP/1.1 and no gRPC: use the address of a sudokud, or of a proxy for HTTP/2."
            ),
        }))
    }

    /// The error of a connection that the transport has ended, by its error.
    pub(crate) fn broken(&self, error: &(dyn Error + 'static)) -> Result<String, ServerError> {
        if let Some(error) = self.other_protocol() {
            return Err(error);
        }
        let words = root(error);
        if self.is_encrypted
            && let Some(sentence) = handshake::by_words(&self.url, &words)
        {
            return Err(ServerError::Handshake(sentence));
        }
        let transport = causes(error).find_map(|cause| cause.downcast_ref::<h2::Error>());
        let of_socket =
            |cause: &'_ (dyn Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let kinds = causes(error).filter_map(of_socket);
        let closed = kinds.chain(transport.and_then(h2::Error::get_io).map(io::Error::kind)).any(|kind| {
            use io::ErrorKind as E;
            matches!(
                kind,
                E::UnexpectedEof
                    | E::ConnectionReset
                    | E::ConnectionAborted
                    | E::BrokenPipe
                    | E::NotConnected
            )
        });
        let is_closed = closed || words == CLOSED;
        // A connection that is given up at this end, because a ping had no answer, may look like one that
        // was closed at the other. A server that is there answers pings in far less time.
        let was_silent = !self.is_encrypted && self.noticed.silence() >= self.silence.mul_f64(0.9);
        if words == TIMED_OUT || is_closed && was_silent {
            return Ok(format!("It was silent for {} s.", self.silence.as_secs_f64()));
        }
        if !is_closed {
            return Ok(format!("{words}."));
        }
        // The alert that says so comes too late, or not at all.
        Ok(match (self.is_encrypted, self.has_identity) {
            (false, _) => "It closed the connection.",
            (true, false) => {
                "It closed the connection. If it wants a certificate of its clients, give yours with --tls-cert and --tls-key."
            }
            (true, true) => "It closed the connection. It may not accept the certificate of --tls-cert.",
        }
        .to_owned())
    }
}

/// Whether an address has a host and a port that there may be, and no path, which calls have of
/// their own.
fn names_a_server(uri: &Uri) -> bool {
    let is_root = uri.path_and_query().is_none_or(|path| path == "/");
    let names = |authority: &Authority| {
        let port = authority.as_str().strip_prefix(authority.host());
        let is_port = |port: &str| port.parse().is_ok_and(|port: u16| port > 0);
        let has_good_port =
            port.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port));
        !authority.host().is_empty() && has_good_port
    };
    is_root && uri.authority().is_some_and(names)
}

/// Whether a host is this machine, by its name or address.
fn is_of_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback())
}

fn bearer(endpoint: &Endpoint) -> Result<Option<MetadataValue<Ascii>>, ServerError> {
    let Some(token) = &endpoint.token else { return Ok(None) };
    let bad = |_| ServerError::Credentials("The token has characters that no header can carry.".to_owned());
    let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse().map_err(bad)?;
    // Logs of headers hide sensitive ones.
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Whether a connection failed because its name has no address. The transport says so only in words.
fn is_of_name(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| cause.to_string().starts_with("dns error"))
}

/// Whether a socket in the file system is closed to this user.
fn is_forbidden(error: &(dyn Error + 'static)) -> bool {
    let mut systems = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    systems.any(|error| error.kind() == io::ErrorKind::PermissionDenied)
}
