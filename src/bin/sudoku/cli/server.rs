//! Servers: their addresses, certificates and tokens.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, ensure};
use clap::Args;
use sudoku_stream::client::{Endpoint, RetryPolicy};
use sudoku_stream::service::first_token;

use super::value::whole;

/// Servers that do the work instead of this machine.
#[derive(Clone, Debug, Args)]
pub struct ServerArgs {
    /// Solve on a server; repeat for several, or use commas
    ///
    /// A server is `127.0.0.1:50051`, which is short for `http://127.0.0.1:50051`,
    /// `https://sudoku.example:50051`, or `unix:PATH` for a socket of this machine.
    /// It solves with its own threads and back end, and several servers share the work.
    #[arg(
        id = "server",
        long = "server",
        value_name = "ADDRESS",
        value_delimiter = ',',
        value_parser = address,
        conflicts_with = "threads"
    )]
    pub urls: Vec<String>,

    /// Retries of a lost server in a row, with growing delays [range: 0 or more]
    #[arg(long, hide_short_help = true, value_name = "N", requires = "server", help_heading = "Servers")]
    #[arg(default_value_t = RetryPolicy::default().retries, value_parser = whole::<u32>(0..))]
    pub retries: u32,

    #[command(flatten)]
    pub trust: TrustArgs,
}

/// No servers.
impl Default for ServerArgs {
    fn default() -> Self {
        Self { urls: Vec::new(), retries: RetryPolicy::default().retries, trust: TrustArgs::default() }
    }
}

impl ServerArgs {
    /// The servers with their certificates and tokens, and the policy for retries.
    ///
    /// # Errors
    /// A file that cannot be read, or has no certificate, key or token in it.
    pub fn servers(&self) -> anyhow::Result<Servers> {
        let retry = RetryPolicy { retries: self.retries, ..RetryPolicy::default() };
        if self.urls.is_empty() {
            return Ok(Servers { endpoints: Vec::new(), retry });
        }
        let known = self.trust.endpoint("")?;
        let endpoint = |url: &String| Endpoint { url: url.clone(), ..known.clone() };
        Ok(Servers { endpoints: self.urls.iter().map(endpoint).collect(), retry })
    }
}

/// The URL of a server that was named by one, or by host and port.
///
/// # Errors
/// Nothing was named.
pub fn address(named: &str) -> Result<String, String> {
    let named = named.trim();
    if named.is_empty() {
        return Err("name a server, as in 127.0.0.1:50051".to_owned());
    }
    let port = named.rsplit_once(':').map(|(_, port)| port);
    let has_port =
        port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_short = has_port && !named.contains("://") && !named.starts_with("unix:");
    Ok(if is_short { format!("http://{named}") } else { named.to_owned() })
}

/// The servers of a run, and the policy for losing them.
pub struct Servers {
    pub endpoints: Vec<Endpoint>,
    pub retry: RetryPolicy,
}

impl Servers {
    /// One server that asks for neither certificate nor token.
    pub fn open(url: &str) -> Self {
        Self { endpoints: vec![Endpoint::new(url)], retry: RetryPolicy::default() }
    }
}

/// Certificates and tokens: whom we trust, and what servers know us by.
#[derive(Clone, Debug, Default, Args)]
pub struct TrustArgs {
    /// CA certificate for an https server, in PEM [default: the system's CAs]
    #[arg(long, hide_short_help = true, help_heading = "Servers", value_name = "FILE", requires = "server")]
    tls_ca: Option<PathBuf>,

    /// Client certificate, in PEM
    #[arg(long, hide_short_help = true, help_heading = "Servers", value_name = "FILE")]
    #[arg(requires = "tls_key", requires = "server")]
    tls_cert: Option<PathBuf>,

    /// Private key of the client certificate, in PEM
    #[arg(
        long,
        hide_short_help = true,
        help_heading = "Servers",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,

    /// File whose first token is for the server; the server's own file will do
    #[arg(long, hide_short_help = true, help_heading = "Servers", value_name = "FILE")]
    #[arg(env = "SUDOKU_TOKEN_FILE", hide_env = true)]
    token_file: Option<PathBuf>,
}

impl TrustArgs {
    /// The server at `url`, with its certificates and token.
    ///
    /// # Errors
    /// A file that cannot be read, or has no certificate, key or token in it.
    pub fn endpoint(&self, url: &str) -> anyhow::Result<Endpoint> {
        let ca = self.tls_ca.as_deref().map(certificate).transpose()?;
        let identity = match (&self.tls_cert, &self.tls_key) {
            (Some(path), Some(key)) => Some((certificate(path)?, private_key(key)?)),
            _ => None,
        };
        let token = self.token_file.as_deref().map(token).transpose()?;
        Ok(Endpoint { url: url.to_owned(), ca, identity, token })
    }
}

/// The labels of private keys in PEM that are not encrypted.
const KEY_LABELS: [&str; 3] = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];

/// A file of certificates.
fn certificate(path: &Path) -> anyhow::Result<Vec<u8>> {
    let text = read(path)?;
    ensure!(has_pem(&text, "CERTIFICATE"), "{} holds no certificate in PEM.", path.display());
    Ok(text)
}

/// A file with a private key.
fn private_key(path: &Path) -> anyhow::Result<Vec<u8>> {
    let text = read(path)?;
    let has_key = KEY_LABELS.iter().any(|label| has_pem(&text, label));
    ensure!(has_key, "{} holds no private key in PEM, or an encrypted one only.", path.display());
    Ok(text)
}

/// Has it a block of PEM with this label? Whether what is in it makes sense is for the client to say.
fn has_pem(text: &[u8], label: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    [format!("-----BEGIN {label}-----"), format!("-----END {label}-----")]
        .iter()
        .all(|line| text.contains(line.as_str()))
}

/// The first token of a file.
fn token(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let text = String::from_utf8(read(path)?).map_err(|_| anyhow!("{name} is no text in UTF-8."))?;
    first_token(&text).with_context(|| format!("{name} has no token."))
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_scheme_is_plain_http() {
        for (named, url) in [
            ("127.0.0.1:50051", "http://127.0.0.1:50051"),
            ("[::1]:50051", "http://[::1]:50051"),
            ("localhost:7", "http://localhost:7"),
            ("https://a.example:50051", "https://a.example:50051"),
            ("unix:/run/a:7", "unix:/run/a:7"),
            // The client refuses these.
            ("ftp://a", "ftp://a"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(address(named).as_deref(), Ok(url));
        }
        assert!(address("").is_err());
    }

    #[test]
    fn pem_has_a_beginning_and_an_end() {
        let certificate = "text\n-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n";
        assert!(has_pem(certificate.as_bytes(), "CERTIFICATE"));
        assert!(!has_pem(certificate.as_bytes(), "PRIVATE KEY"));
        assert!(!has_pem(&certificate.as_bytes()[..40], "CERTIFICATE"));
        assert!(!has_pem(b"-----BEGIN ENCRYPTED PRIVATE KEY-----", "PRIVATE KEY"));
    }
}
