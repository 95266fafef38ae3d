//! Origins: which pages may call from a browser, and by which names the server may be called.
//!
//! A browser lets any page send requests to any server, also to one on the same machine. Two
//! headers, which no page can forge, tell such requests apart:
//!
//! - `origin` names the page. A page of this server has the name by which the server was called;
//!   any other has to be allowed.
//! - `host` is the name by which the server was called. On a loopback address it is a loopback
//!   name, unless somebody made a name of theirs resolve to this machine (DNS rebinding), with
//!   which a page from elsewhere passes as one of this server.
//!
//! **Invariant:** a request with neither header comes from no browser, and is not looked at.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use tonic::codegen::http::header::{HOST, ORIGIN};
use tonic::codegen::http::uri::Authority;
use tonic::codegen::http::{HeaderValue, Request, Uri};

use crate::service::wire::status::sanitize;

/// The most characters of a name that a refusal repeats.
const MAX_NAME_CHARS: usize = 100;

/// The origin of a page: `https://example.org` or `http://127.0.0.1:8080`.
///
/// ```
/// use sudoku_stream::service::Origin;
///
/// let origin: Origin = "https://example.org".parse()?;
/// assert_eq!(origin.to_string(), "https://example.org");
/// assert!("example.org".parse::<Origin>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    scheme: Scheme,
    /// The host and the port, in lower case, without the port that is the scheme's default.
    authority: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    const ALL: [Self; 2] = [Self::Http, Self::Https];

    const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write a scheme, a host and a port, as in https://example.org:8443".to_owned();
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let scheme = Scheme::ALL.into_iter().find(|scheme| uri.scheme_str() == Some(scheme.name()));
        match (scheme, uri.authority()) {
            (Some(scheme), Some(authority))
                if uri.path_and_query().is_none_or(|rest| rest == "/")
                    && !text.ends_with('/')
                    // A pattern would match nothing, because origins are compared as they are.
                    && !authority.as_str().contains(['@', '*']) =>
            {
                Ok(Self { scheme, authority: normal(authority, scheme) })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.authority)
    }
}

impl Origin {
    /// The value that a browser sends for it.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        self.to_string().try_into().ok()
    }
}

/// The host and port as a browser writes them in an origin of this scheme.
fn normal(authority: &Authority, scheme: Scheme) -> String {
    let host = authority.host().to_ascii_lowercase();
    match authority.port_u16() {
        Some(port) if port != scheme.port() => format!("{host}:{port}"),
        _ => host,
    }
}

/// Which requests of browsers are answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct BrowserAccess {
    /// Whether the server listens on its own machine only, so that other names are not its own.
    pub(crate) is_loopback: bool,
    /// Other origins whose pages may call.
    pub(crate) allowed: Vec<Origin>,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ForeignRequest {
    /// The server was called by a name that is not its own.
    #[error(
        "This server listens on its own machine only and is not called `{0}`. If it is yours, start the server with --allow-origin and its origin."
    )]
    Host(String),
    /// A page from elsewhere.
    #[error(
        "Pages from {0} may not call this server. If they are yours, start the server with --allow-origin and their origin."
    )]
    Origin(String),
}

impl ForeignRequest {
    /// The reason in metrics.
    pub(crate) const fn reason(&self) -> &'static str {
        match self {
            Self::Host(_) => "host",
            Self::Origin(_) => "origin",
        }
    }
}

impl BrowserAccess {
    /// Refuses a request of a page from elsewhere.
    ///
    /// # Errors
    /// [`ForeignRequest`].
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<(), ForeignRequest> {
        let host = called_by(request)?;
        if let Some(host) = &host
            && self.is_loopback
            && !is_loopback_name(host.host())
            && !self.allowed.iter().any(|origin| origin.authority == normal(host, origin.scheme))
        {
            return Err(ForeignRequest::Host(shown(host.as_str().as_bytes())));
        }
        let mut origins = request.headers().get_all(ORIGIN).iter();
        let Some(value) = origins.next() else { return Ok(()) };
        let refused = || ForeignRequest::Origin(shown(value.as_bytes()));
        if origins.next().is_some() {
            return Err(refused());
        }
        let origin: Origin = value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(refused)?;
        // The scheme is left out, because a proxy before this server may have done the encryption.
        let is_own = host.is_some_and(|host| normal(&host, origin.scheme) == origin.authority);
        if is_own || self.allowed.contains(&origin) { Ok(()) } else { Err(refused()) }
    }
}

/// The name by which the server was called, if the request has one.
fn called_by<B>(request: &Request<B>) -> Result<Option<Authority>, ForeignRequest> {
    if let Some(authority) = request.uri().authority() {
        let refused = || ForeignRequest::Host(shown(authority.as_str().as_bytes()));
        return if is_plain(authority) { Ok(Some(authority.clone())) } else { Err(refused()) };
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let Some(value) = hosts.next() else { return Ok(None) };
    let host = value.to_str().ok().and_then(|text| text.parse().ok()).filter(is_plain);
    match (host, hosts.next()) {
        (Some(host), None) => Ok(Some(host)),
        _ => Err(ForeignRequest::Host(shown(value.as_bytes()))),
    }
}

/// Whether an authority is a host, and maybe a port, and nothing else. One with more could name
/// another host to another reader.
fn is_plain(authority: &Authority) -> bool {
    match authority.as_str().strip_prefix(authority.host()) {
        Some("" | ":") => true,
        Some(rest) => rest.starts_with(':') && authority.port_u16().is_some(),
        None => false,
    }
}

/// Whether only this machine can be meant by a name.
fn is_loopback_name(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4 == Ipv4Addr::UNSPECIFIED,
        Ok(IpAddr::V6(v6)) => v6.is_loopback() || v6 == Ipv6Addr::UNSPECIFIED,
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// A name of a client, fit for a message.
fn shown(name: &[u8]) -> String {
    sanitize(&String::from_utf8_lossy(name)).chars().take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(access: &BrowserAccess, host: Option<&str>, origin: Option<&str>) -> Result<(), &'static str> {
        let mut request = Request::new(());
        for (name, value) in [(HOST, host), (ORIGIN, origin)] {
            if let Some(value) = value {
                request.headers_mut().insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
        }
        access.check(&request).map_err(|foreign| foreign.reason())
    }

    #[test]
    fn origins_are_read_as_browsers_write_them() {
        for (text, shown) in [
            ("https://example.org", "https://example.org"),
            ("https://Example.ORG:443", "https://example.org"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://127.0.0.1", "http://127.0.0.1"),
        ] {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), shown);
        }
        for bad in [
            "",
            "null",
            "*",
            "example.org",
            "ftp://example.org",
            "https://",
            "https://a/",
            "https://a/b",
            "https://a?b",
            "https://me@a",
            "https://a b",
            "https://*.example.org",
            "https://a:*",
        ] {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_loopback_server_is_called_by_loopback_names() {
        let access = BrowserAccess { is_loopback: true, allowed: Vec::new() };
        for own in [
            "127.0.0.1:50051",
            "127.9.9.9",
            "localhost:1",
            "LOCALHOST.",
            "sudoku.localhost:80",
            "[::1]:50051",
        ] {
            assert_eq!(check(&access, Some(own), None), Ok(()), "{own}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:50051",
            "localhost:1.evil.example",
            "localhost:99999",
            "me@localhost",
            "10.0.0.1",
            "a b",
            "",
        ] {
            assert_eq!(check(&access, Some(foreign), None), Err("host"), "{foreign}");
        }
        assert_eq!(check(&access, None, None), Ok(()), "no browser leaves it out");
        let open = BrowserAccess::default();
        assert_eq!(check(&open, Some("sudoku.example.org"), None), Ok(()));
    }

    #[test]
    fn pages_are_of_this_server_or_allowed() {
        let access =
            BrowserAccess { is_loopback: true, allowed: vec!["https://play.example.org".parse().unwrap()] };
        let own = Some("127.0.0.1:50051");
        assert_eq!(check(&access, own, None), Ok(()));
        assert_eq!(check(&access, own, Some("http://127.0.0.1:50051")), Ok(()));
        assert_eq!(check(&access, own, Some("https://play.example.org")), Ok(()));
        // A proxy that keeps the name.
        assert_eq!(check(&access, Some("play.example.org"), Some("https://play.example.org")), Ok(()));
        for foreign in [
            "http://127.0.0.1:50052",
            "http://localhost:50051",
            "https://evil.example",
            "null",
            "*",
            "https://play.example.org.evil.example",
            "http://play.example.org",
            "file://",
            "",
        ] {
            assert_eq!(check(&access, own, Some(foreign)), Err("origin"), "{foreign}");
        }
        assert_eq!(check(&BrowserAccess::default(), None, Some("https://a")), Err("origin"));
        assert_eq!(check(&BrowserAccess::default(), Some("a:443"), Some("https://a")), Ok(()));
    }
}
