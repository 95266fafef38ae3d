//! Endpoints: the addresses of servers, and the credentials for them.

use std::error::Error;
use std::fmt;
use std::io;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{self, Certificate, Channel, ClientTlsConfig, Identity};

use crate::client::{RetryPolicy, ServerError};
use crate::service::flow_control::{
    CONNECTION_WINDOW_BYTES, FRAME_BYTES, LOCAL_ERROR_RESETS, STREAM_WINDOW_BYTES,
};

/// A server's address, and the credentials for it.
#[derive(Clone, Default)]
pub struct Endpoint {
    /// The address: `http://` or, encrypted, `https://`, then a host and a port.
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

/// A connector to one server, for any number of connections.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) url: String,
    transport: transport::Endpoint,
    pub(crate) is_encrypted: bool,
    /// The header that carries the token.
    pub(crate) bearer: Option<MetadataValue<Ascii>>,
}

impl Connector {
    /// Checks everything that can be checked without connecting.
    pub(crate) fn new(endpoint: &Endpoint, retry: &RetryPolicy) -> Result<Self, ServerError> {
        let url = &endpoint.url;
        let bad_address = || ServerError::Address(url.clone());
        let is_encrypted = url.starts_with("https://");
        if !is_encrypted && !url.starts_with("http://") {
            return Err(bad_address());
        }
        let mut transport = transport::Endpoint::from_shared(url.clone())
            .map_err(|_| bad_address())?
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
            let unusable = |error| {
                ServerError::Credentials(format!("The certificates cannot be used: {}.", root(&error)))
            };
            transport = transport.tls_config(tls).map_err(unusable)?;
        } else if endpoint.ca.is_some() || endpoint.identity.is_some() {
            let what = "Certificates are for an address that begins with https://.";
            return Err(ServerError::Credentials(what.to_owned()));
        }
        Ok(Self { url: url.clone(), transport, is_encrypted, bearer: bearer(endpoint)? })
    }

    pub(crate) async fn connect(&self) -> Result<Channel, ServerError> {
        self.transport.connect().await.map_err(|error| {
            let is_handshake = causes(&error).any(|cause| {
                let cause = cause.downcast_ref::<io::Error>();
                cause.is_some_and(|error| error.kind() == io::ErrorKind::InvalidData)
            });
            if self.is_encrypted && is_handshake {
                ServerError::Handshake { url: self.url.clone(), cause: root(&error) }
            } else {
                ServerError::NoServer(self.url.clone())
            }
        })
    }
}

fn bearer(endpoint: &Endpoint) -> Result<Option<MetadataValue<Ascii>>, ServerError> {
    let Some(token) = &endpoint.token else { return Ok(None) };
    let bad = |_| ServerError::Credentials("The token has characters that no header can carry.".to_owned());
    let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse().map_err(bad)?;
    // Logs of headers hide sensitive ones.
    value.set_sensitive(true);
    Ok(Some(value))
}

/// An error and all its sources.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The root cause of an error.
pub(crate) fn root(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}
