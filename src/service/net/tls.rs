//! TLS: the server's certificate, and the authorities of client certificates.
//!
//! Connections are encrypted here and not in the transport, so that certificates can be replaced
//! while the server runs: each connection takes the configuration that is current when it is
//! accepted.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use der::asn1::{GeneralizedTime, UtcTime};
use der::{Decode as _, Reader, SliceReader, Tag};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::poison::IgnorePoison as _;
use crate::service::metrics;
use crate::service::net::files;

/// The application protocols of ALPN: HTTP/2, or HTTP/1.1 for clients that know no better.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The files for TLS, all in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of this server, and the chain up to an authority that clients trust.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// The authorities that must have signed a client's certificate (default: clients need none).
    pub client_ca: Option<PathBuf>,
}

/// The error of files that cannot be used for TLS.
#[derive(Debug, thiserror::Error)]
#[error("{} {problem}", path.display())]
pub struct TlsError {
    path: PathBuf,
    problem: String,
}

/// The current TLS configuration.
pub(crate) struct Tls {
    files: TlsFiles,
    current: RwLock<Arc<ServerConfig>>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`TlsError`] if one is missing or wrong.
    pub(crate) fn open(files: TlsFiles) -> Result<Self, TlsError> {
        let config = read(&files)?;
        Ok(Self { files, current: RwLock::new(Arc::new(config)) })
    }

    /// Reads the files again, for connections accepted from now on.
    ///
    /// # Errors
    /// [`TlsError`]; the old configuration stays in force.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let config = Arc::new(read(&self.files)?);
        *self.current.write().ignore_poison() = config;
        Ok(())
    }

    /// The acceptor for connections accepted now.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.current.read().ignore_poison()))
    }
}

fn read(files: &TlsFiles) -> Result<ServerConfig, TlsError> {
    let chain = certificates(&files.certificate)?;
    let expires = chain.iter().filter_map(expires).min();
    let key = pem(&files.key)?;
    let key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|_| error(&files.key, "holds no private key in PEM".to_owned()))?;
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|problem| error(&files.certificate, format!("cannot be used: {problem}")))?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let unusable = |problem: String| error(path, format!("cannot be used: {problem}"));
            let mut roots = RootCertStore::empty();
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|problem| unusable(problem.to_string()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|problem| unusable(problem.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(|_| error(&files.certificate, format!("does not go with {}", files.key.display())))?;
    config.alpn_protocols = ALPN.map(<[u8]>::to_vec).into();
    expires.into_iter().for_each(metrics::certificate_expires);
    Ok(config)
}

/// When a certificate expires, in seconds since 1970.
fn expires(certificate: &CertificateDer<'_>) -> Option<i64> {
    let signed_part = |reader: &mut SliceReader<'_>| {
        // Before the validity there are the version, which may be left out, the serial number, the
        // algorithm and the issuer.
        let has_version = Tag::peek(reader)?.is_context_specific();
        for _ in 0..3 + usize::from(has_version) {
            reader.tlv_bytes()?;
        }
        let end = reader.sequence(|validity| {
            validity.tlv_bytes()?;
            match Tag::peek(validity)? {
                Tag::UtcTime => UtcTime::decode(validity).map(|end| end.to_unix_duration()),
                _ => GeneralizedTime::decode(validity).map(|end| end.to_unix_duration()),
            }
        })?;
        reader.drain(reader.remaining_len())?;
        Ok::<_, der::Error>(end)
    };
    let whole = SliceReader::new(certificate).ok()?.sequence(|reader| {
        let end = reader.sequence(signed_part)?;
        reader.drain(reader.remaining_len())?;
        Ok::<_, der::Error>(end)
    });
    i64::try_from(whole.ok()?.as_secs()).ok()
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = pem(path)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(error(path, "holds no certificate in PEM".to_owned())),
    }
}

fn pem(path: &Path) -> Result<Vec<u8>, TlsError> {
    files::read(path).map_err(|problem| error(path, problem))
}

fn error(path: &Path, problem: String) -> TlsError {
    TlsError { path: path.to_owned(), problem }
}
