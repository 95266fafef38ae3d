//! TLS handshakes that fail: what is wrong, and what helps.

use std::error::Error;
use std::io;

use tokio_rustls::rustls::{self, AlertDescription, CertificateError};

use super::causes::{causes, root};

/// The sentence for a handshake that has failed, with the server's address. `None` if something else
/// than the handshake has.
pub(super) fn sentence(url: &str, error: &(dyn Error + 'static)) -> Option<String> {
    let tls = causes(error).find_map(|cause| {
        let cause = cause.downcast_ref::<io::Error>()?;
        let inner = cause.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        inner.map_or_else(
            || (cause.kind() == io::ErrorKind::InvalidData).then_some(None),
            |tls| Some(Some(tls)),
        )
    })?;
    Some(match tls {
        Some(tls) => of_error(url, tls),
        None => format!("No encrypted connection to {url}: {}.", root(error)),
    })
}

/// Whether a handshake has failed because the other end does not speak TLS.
pub(super) fn met_no_tls(error: &(dyn Error + 'static)) -> bool {
    tls_errors(error).any(|tls| matches!(tls, rustls::Error::InvalidMessage(_)))
}

/// The alert with which the other end has refused a handshake.
pub(super) fn alert(error: &(dyn Error + 'static)) -> Option<AlertDescription> {
    tls_errors(error).find_map(|tls| match tls {
        rustls::Error::AlertReceived(alert) => Some(*alert),
        _ => None,
    })
}

/// The errors of TLS among the causes of one.
fn tls_errors<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a rustls::Error> {
    causes(error).filter_map(|cause| {
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        inner.and_then(|inner| inner.downcast_ref::<rustls::Error>())
    })
}

fn of_error(url: &str, error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(error) => of_certificate(url, error),
        rustls::Error::InvalidMessage(_) => no_tls(url),
        rustls::Error::AlertReceived(alert) => of_alert(url, *alert),
        other => format!("No encrypted connection to {url}: {other}."),
    }
}

fn no_tls(url: &str) -> String {
    let host = url.strip_prefix("https://").unwrap_or(url);
    format!("This server does not speak TLS: use http://{host}.")
}

fn of_certificate(url: &str, error: &CertificateError) -> String {
    use CertificateError as E;
    let refused = format!("The certificate of {url}");
    match error {
        E::Expired | E::ExpiredContext { .. } => {
            format!(
                "{refused} has expired: the server needs a new one. If it has one, look at the clock of this machine."
            )
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            format!("{refused} is not valid yet: look at the clocks of both machines.")
        }
        E::UnknownIssuer => format!(
            "{refused} was signed by an authority that is not known here: name that authority's certificate with --tls-ca."
        ),
        E::BadSignature => format!(
            "{refused} was not signed by the authority of that name which is known here: name the one that did with --tls-ca."
        ),
        E::NotValidForNameContext { presented, .. } if !presented.is_empty() => {
            let names: Vec<&str> = presented.iter().map(|name| plain_name(name)).collect();
            format!(
                "{refused} is for other names: {}. Use one of these, or give the server a certificate for this one.",
                names.join(", ")
            )
        }
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            format!("{refused} is not for that name: it takes a subjectAltName, as docs/service.md shows.")
        }
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            format!("{refused} is for another purpose: a server's allows serverAuth in its extendedKeyUsage.")
        }
        E::Revoked => format!("{refused} was revoked: the server needs a new one."),
        // The library has no name for it.
        E::Other(other) if other.to_string() == "CaUsedAsEndEntity" => format!(
            "{refused} is that of an authority (CA:TRUE), which no server may use: make one with CA:FALSE, as docs/service.md shows."
        ),
        E::BadEncoding => format!("{refused} cannot be read: the server needs another one."),
        other => format!("{refused} cannot be used: {other}."),
    }
}

/// A name of a certificate, which comes as `DnsName("localhost")` or `IpAddress(127.0.0.1)`.
fn plain_name(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, inner)| inner.strip_suffix(')')).unwrap_or(name);
    inner.trim_matches('"')
}

fn of_alert(url: &str, alert: AlertDescription) -> String {
    by_alert(url, &format!("{alert:?}"))
}

/// The beginning of the transport's words for an alert. With TLS 1.3 a client's certificate is
/// refused after the handshake, and the transport passes on nothing but words.
const ALERT: &str = "received fatal alert: ";

/// The sentence for an alert behind the handshake, by the words of the transport.
pub(super) fn by_words(url: &str, words: &str) -> Option<String> {
    let alert = words.strip_prefix(ALERT)?;
    Some(by_alert(url, alert))
}

/// Whether an alert behind the handshake asks for a certificate, by the words of the transport.
pub(super) fn wants_certificate(words: &str) -> bool {
    words.strip_prefix(ALERT) == Some("CertificateRequired")
}

fn by_alert(url: &str, alert: &str) -> String {
    let told = match alert {
        // Before TLS 1.3 a missing certificate is a failed handshake.
        "CertificateRequired" | "HandshakeFailure" => {
            "wants a certificate of its clients: give yours with --tls-cert and --tls-key."
        }
        "UnknownCA" => {
            "does not accept this client's certificate, because it does not know the authority that signed it. \
             Give another with --tls-cert and --tls-key."
        }
        "CertificateExpired" => "does not accept this client's certificate, because it has expired.",
        "CertificateRevoked" => "does not accept this client's certificate, because it was revoked.",
        "BadCertificate"
        | "UnsupportedCertificate"
        | "CertificateUnknown"
        | "DecryptError"
        | "AccessDenied" => {
            "does not accept this client's certificate: give another with --tls-cert and --tls-key."
        }
        "ProtocolVersion" => "speaks no version of TLS that is safe: it has to speak 1.2 or 1.3.",
        "NoApplicationProtocol" => "does not speak HTTP/2 over TLS, which gRPC needs.",
        other => return format!("No encrypted connection to {url}: it sent the alert {other}."),
    };
    format!("{url} {told}")
}
