//! Probing: whether a server serves, for health checks by the program itself.

use std::error::Error as _;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, IpAddr, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tonic::transport::Uri;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tower::service_fn;

use super::causes::root;
use super::handshake;
use super::plain::{AsyncSocket, Noticed, Spoken, WatchedSocket};

/// The time that a server has to answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The most bytes of an answer about readiness that are read.
const MAX_ANSWER_BYTES: u64 = 4096;

/// The question of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The health service, by gRPC.
    Health {
        /// A host and a port, or `unix:` and the path of a socket.
        address: String,
        /// Whether the connection is encrypted. The server's certificate is not verified, because
        /// it need not be for the address by which a server is reached on its own machine, and
        /// because nothing is sent that anybody may not know.
        is_encrypted: bool,
    },
    /// `/readyz` at the address of the metrics, for a server that asks for clients' certificates.
    Readiness {
        /// A host and a port.
        address: String,
    },
}

/// The error of a probe: the server does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// Nothing answers there.
    #[error("No server answers at {address}: {cause}")]
    NoServer {
        /// The address.
        address: String,
        /// The root cause.
        cause: String,
    },
    /// The server does not answer in time.
    #[error("The server at {0} did not answer within 3 seconds.")]
    Silent(String),
    /// The server is starting or shutting down.
    #[error("The server at {0} is not serving.")]
    NotServing(String),
    /// The server speaks TLS, and was asked without.
    #[error("The server at {0} speaks TLS: ask https://{0}.")]
    Tls(String),
    /// The server asks for clients' certificates.
    #[error(
        "The server at {0} wants a certificate of its clients, and a probe has none. With the settings of that server and metrics-listen, --probe without an address asks /readyz there."
    )]
    CertificateWanted(String),
    /// Something else answers there.
    #[error("What answers at {address} does not tell its health: {message}")]
    Unknown {
        /// The address.
        address: String,
        /// What was answered.
        message: String,
    },
}

impl Probe {
    /// The address that is asked.
    #[must_use]
    pub fn address(&self) -> &str {
        match self {
            Self::Health { address, .. } | Self::Readiness { address } => address,
        }
    }

    /// Asks, and returns if the server serves.
    ///
    /// ```no_run
    /// # async fn ask() -> Result<(), sudoku_stream::client::ProbeError> {
    /// use sudoku_stream::client::Probe;
    ///
    /// let probe = Probe::Health { address: "127.0.0.1:50051".to_owned(), is_encrypted: false };
    /// probe.ask().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ProbeError`], also after three seconds.
    pub async fn ask(&self) -> Result<(), ProbeError> {
        let asked = async {
            match self {
                Self::Health { address, is_encrypted } => health(address, *is_encrypted).await,
                Self::Readiness { address } => readiness(address).await,
            }
        };
        let silent = || ProbeError::Silent(self.address().to_owned());
        timeout(TIMEOUT, asked).await.unwrap_or_else(|_| Err(silent()))
    }
}

/// What a port for metrics is told to be.
const METRICS_ONLY: &str =
    "it is a port for metrics, and serves no health. Health is told at the addresses of --listen.";

async fn health(address: &str, is_encrypted: bool) -> Result<(), ProbeError> {
    let no_server = |cause: String| ProbeError::NoServer { address: address.to_owned(), cause };
    // The address is the connector's business.
    let endpoint = tonic::transport::Endpoint::from_static("http://localhost");
    let noticed = Noticed::default();
    let (target, notices) = (address.to_owned(), Arc::clone(&noticed));
    let connector = service_fn(move |_: Uri| {
        let (target, notices) = (target.clone(), Arc::clone(&notices));
        async move { Ok::<_, io::Error>(TokioIo::new(connect(&target, is_encrypted, notices).await?)) }
    });
    let channel = match endpoint.connect_with_connector(connector).await {
        Ok(channel) => channel,
        Err(_) if noticed.spoken() == Some(Spoken::Tls) => return Err(ProbeError::Tls(address.to_owned())),
        Err(error) => {
            let message = if let Some(alert) = handshake::alert(&error) {
                format!("it refused the TLS handshake with the alert {alert:?}.")
            } else if !handshake::met_no_tls(&error) {
                return Err(no_server(root(&error)));
            } else if tells_readiness(address).await {
                METRICS_ONLY.to_owned()
            } else {
                format!("it does not speak TLS. Ask http://{address}.")
            };
            return Err(ProbeError::Unknown { address: address.to_owned(), message });
        }
    };
    let answer = HealthClient::new(channel).check(HealthCheckRequest::default()).await;
    match answer.map(|answer| answer.into_inner().status()) {
        Ok(ServingStatus::Serving) => Ok(()),
        Ok(_) => Err(ProbeError::NotServing(address.to_owned())),
        Err(status) => {
            let address = address.to_owned();
            let message = match (noticed.spoken(), status.source().map(root)) {
                (Some(Spoken::Tls), _) => return Err(ProbeError::Tls(address)),
                (Some(Spoken::Http1), _) if tells_readiness(&address).await => METRICS_ONLY.to_owned(),
                (Some(Spoken::Http1), _) => "it speaks HTTP/1.1 and no gRPC.".to_owned(),
                // With TLS 1.3 a missing certificate is refused after the handshake.
                (None, Some(words)) if handshake::wants_certificate(&words) => {
                    return Err(ProbeError::CertificateWanted(address));
                }
                (None, Some(words)) => {
                    let words = words.trim_end_matches('.');
                    format!("the connection broke ({words}). Health is told at the addresses of --listen.")
                }
                (None, None) => format!("{}: {}", status.code(), status.message()),
            };
            Err(ProbeError::Unknown { address, message })
        }
    }
}

/// Connects to an address of [`Probe::Health`].
async fn connect(address: &str, is_encrypted: bool, notices: Noticed) -> io::Result<Box<dyn AsyncSocket>> {
    if let Some(path) = address.strip_prefix("unix:") {
        let socket = UnixStream::connect(path).await?;
        let name = ServerName::IpAddress(IpAddr::from(Ipv4Addr::LOCALHOST));
        return Ok(if is_encrypted { Box::new(encrypted(socket, name).await?) } else { Box::new(socket) });
    }
    let socket = TcpStream::connect(address).await?;
    let name = ServerName::IpAddress(IpAddr::from(socket.peer_addr()?.ip()));
    Ok(if is_encrypted {
        Box::new(encrypted(socket, name).await?)
    } else {
        Box::new(WatchedSocket::new(socket, notices))
    })
}

async fn readiness(address: &str) -> Result<(), ProbeError> {
    let no_server =
        |cause: io::Error| ProbeError::NoServer { address: address.to_owned(), cause: cause.to_string() };
    let mut socket = TcpStream::connect(address).await.map_err(no_server)?;
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.map_err(no_server)?;
    let mut answer = Vec::new();
    socket.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await.map_err(no_server)?;
    let answer = String::from_utf8_lossy(&answer);
    let first = answer.lines().next().unwrap_or_default();
    match first.split(' ').nth(1) {
        Some("200") => Ok(()),
        Some("503") => Err(ProbeError::NotServing(address.to_owned())),
        _ => Err(ProbeError::Unknown { address: address.to_owned(), message: first.to_owned() }),
    }
}

/// Whether there is a port for metrics at an address.
async fn tells_readiness(address: &str) -> bool {
    matches!(readiness(address).await, Ok(()) | Err(ProbeError::NotServing(_)))
}

async fn encrypted<S: AsyncSocket>(socket: S, name: ServerName<'static>) -> io::Result<TlsStream<S>> {
    let provider = Arc::new(default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)));
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsConnector::from(Arc::new(config)).connect(name, socket).await
}

/// Takes any certificate whose key the server has.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
