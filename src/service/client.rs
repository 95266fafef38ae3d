//! The other end: solving lines on a server.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status};

use super::convert::{options_from, tally_from};
use super::proto::sudoku_service_client::SudokuServiceClient;
use super::{CONNECTION_WINDOW_BYTES, FRAME_BYTES, LOCAL_ERROR_RESETS, STREAM_WINDOW_BYTES, proto};
use crate::answer::{Tally, Task};
use crate::text::Hint;

/// How many blocks may be on their way to the server, besides what it has read.
pub const BLOCKS_IN_FLIGHT: usize = 8;

/// The largest answer to one block. A block of the largest message a server takes by default, answered in the widest
/// form, is a few times its size; this is far beyond that.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why lines could not be solved on a server. `E` is the error of the caller's sink.
#[derive(Debug, thiserror::Error)]
pub enum ClientError<E> {
    /// Not the address of a server.
    #[error(
        "`{0}` is no server address. Write it like http://127.0.0.1:50051, or https://sudoku.example:50051."
    )]
    Address(String),
    /// The certificates or the token given for the server are none.
    #[error("{0}")]
    Credentials(String),
    /// Something answers there, but it and we do not trust each other.
    #[error("No encrypted connection to {url}: {cause}.")]
    Handshake {
        /// The server.
        url: String,
        /// What is wrong.
        cause: String,
    },
    /// Nobody answers there.
    #[error("No server answers at {0}: start one with sudokud.")]
    NoServer(String),
    /// The connection broke.
    #[error("The connection to {url} was lost after {answered} answers: {message}")]
    Lost {
        /// The server.
        url: String,
        /// The answers received before.
        answered: u64,
        /// What the transport or the server says.
        message: String,
    },
    /// The server ended the stream with a status.
    #[error("The server refused after {answered} answers: {message}")]
    Refused {
        /// The answers received before.
        answered: u64,
        /// What the server says.
        message: String,
    },
    /// The server ended the stream without a word and without all answers.
    #[error(
        "The server left out the answers to {missing} blocks of lines. Try again; if it stays so, the server is at fault."
    )]
    Incomplete {
        /// The blocks that were sent and not answered.
        missing: u64,
    },
    /// The caller's sink does not want more.
    #[error(transparent)]
    Sink(E),
}

/// How a server is reached.
#[derive(Clone, Default)]
pub struct Access {
    /// Where it is: `http://` or, encrypted, `https://`, a host and a port.
    pub url: String,
    /// The authority that has to vouch for the server, in PEM; those that the system knows if not given.
    pub ca: Option<Vec<u8>>,
    /// The certificate and the private key by which the server may know us, in PEM.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The token that lets us in.
    pub token: Option<String>,
}

impl Access {
    /// A server that wants to know nothing of us.
    #[must_use]
    pub fn open(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }
}

/// Secrets are left out.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Solves blocks of lines on a server. Each block holds whole lines, 256 to 1,024 of them at best, and at
/// most what the server takes in a message, 1 MiB by default. `sink` gets the answers to each block, in order.
///
/// `first_line` is the number of the first line, from 1.
///
/// The server holds back `blocks` when it, or `sink`, cannot keep up, so memory is bounded by the channel and
/// the windows of the connection.
///
/// # Errors
/// [`ClientError`]; the answers that `sink` got before are right.
pub async fn solve_lines<E>(
    access: &Access,
    task: &Task,
    hint: &Hint,
    first_line: u64,
    blocks: mpsc::Receiver<Bytes>,
    mut sink: impl FnMut(Bytes, &Tally) -> Result<(), E>,
) -> Result<Tally, ClientError<E>> {
    let url = &access.url;
    let channel = connect(access).await?;
    let bearer = bearer(access)?;
    let with_token = move |mut request: Request<()>| {
        if let Some(bearer) = &bearer {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        Ok(request)
    };
    let mut client = SudokuServiceClient::with_interceptor(channel, with_token)
        .max_decoding_message_size(MAX_ANSWER_BYTES);

    let sent = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&sent);
    let mut options = Some(options_from(task, hint));
    let mut first_line = first_line;
    let requests = ReceiverStream::new(blocks).map(move |lines| {
        counter.fetch_add(1, Ordering::Relaxed);
        let first_line = std::mem::take(&mut first_line);
        proto::SolveLinesRequest { options: options.take(), lines, first_line }
    });

    let mut total = Tally::default();
    let mut received = 0;
    let mut responses = match client.solve_lines(requests).await {
        Ok(response) => response.into_inner(),
        Err(status) => return Err(failure(url, &total, &status)),
    };
    loop {
        match responses.message().await {
            Ok(Some(response)) => {
                received += 1;
                let tally = response.tally.as_ref().map(tally_from).unwrap_or_default();
                total.add(&tally);
                sink(response.lines, &tally).map_err(ClientError::Sink)?;
            }
            Ok(None) => break,
            Err(status) => return Err(failure(url, &total, &status)),
        }
    }
    match sent.load(Ordering::Relaxed).saturating_sub(received) {
        0 => Ok(total),
        missing => Err(ClientError::Incomplete { missing }),
    }
}

async fn connect<E>(access: &Access) -> Result<Channel, ClientError<E>> {
    let url = &access.url;
    let bad_address = || ClientError::Address(url.clone());
    let is_encrypted = url.starts_with("https://");
    if !is_encrypted && !url.starts_with("http://") {
        return Err(bad_address());
    }
    let mut endpoint = Endpoint::from_shared(url.clone())
        .map_err(|_| bad_address())?
        .connect_timeout(CONNECT_TIMEOUT)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES)
        .http2_max_local_error_reset_streams(LOCAL_ERROR_RESETS);
    if is_encrypted {
        let mut tls = match &access.ca {
            Some(ca) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        if let Some((certificate, key)) = &access.identity {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        let unusable =
            |error| ClientError::Credentials(format!("The certificates cannot be used: {}.", root(&error)));
        endpoint = endpoint.tls_config(tls).map_err(unusable)?;
    } else if access.ca.is_some() || access.identity.is_some() {
        let what = "Certificates are for an address that begins with https://.";
        return Err(ClientError::Credentials(what.to_owned()));
    }
    endpoint.connect().await.map_err(|error| {
        let is_handshake = causes(&error).any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::InvalidData)
        });
        if is_encrypted && is_handshake {
            ClientError::Handshake { url: url.clone(), cause: root(&error) }
        } else {
            ClientError::NoServer(url.clone())
        }
    })
}

/// The header that carries the token.
fn bearer<E>(access: &Access) -> Result<Option<MetadataValue<Ascii>>, ClientError<E>> {
    let Some(token) = &access.token else { return Ok(None) };
    let bad = |_| ClientError::Credentials("The token has characters that no header can carry.".to_owned());
    let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse().map_err(bad)?;
    // Not even a log of everything shows it.
    value.set_sensitive(true);
    Ok(Some(value))
}

/// An error and what caused it, and so on.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// What began it all.
fn root(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Tells a server that refuses from one that has gone.
fn failure<E>(url: &str, total: &Tally, status: &Status) -> ClientError<E> {
    let answered = total.answers;
    let message = status.message().to_owned();
    match status.code() {
        Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled => {
            ClientError::Lost { url: url.to_owned(), answered, message }
        }
        _ => ClientError::Refused { answered, message },
    }
}
