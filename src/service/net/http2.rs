//! HTTP/2 connections.
//!
//! They are served frame by frame, because a server that hides the frames cannot end a single stream:
//! answers wait behind the window of a client that does not read them, and whatever is said to it waits
//! behind them. Here no more of an answer is handed on than its window has room for, so a status can
//! still be sent.
//!
//! **Invariant:** a stream whose client takes nothing of its answers for the idle time-out is ended by
//! itself, with a status if there is a call, and its connection lives on.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Ping, PingPong, Reason, RecvStream, SendStream};
use http_body::{Body as HttpBody, Frame};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tonic::body::Body;
use tonic::codegen::http::header::{CONTENT_LENGTH, DATE};
use tonic::codegen::http::{HeaderValue, Response};
use tonic::transport::server::Connected as _;

use crate::service::flow_control::{
    CONNECTION_WINDOW_BYTES, FRAME_BYTES, LOCAL_ERROR_RESETS, STREAM_WINDOW_BYTES,
};
use crate::service::metrics::{self, Closed};
use crate::service::net::call::{CallSlot, EndReason};
use crate::service::net::connection::{Connection, HttpService, graceful_shutdown_begins, serve_each};
use crate::service::net::handle::{ConnectionHandle, LEAVE_TIME, Leave};

/// The most bytes of answers of a stream that wait for the socket.
const SEND_BUFFER_BYTES: usize = 400 << 10;

/// The limits on HTTP/2 connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Http2Limits {
    /// The most streams of a connection.
    pub(crate) streams: u32,
    /// The most bytes of the headers of a request that are looked at.
    pub(crate) header_bytes: u32,
    /// The most streams that the client may reset before they were accepted.
    pub(crate) reset_streams: usize,
    /// The time after which a silent client is pinged, and that for its answer.
    pub(crate) keepalive_interval: Duration,
    pub(crate) keepalive_timeout: Duration,
    /// The age at which a client is asked to make a new connection.
    pub(crate) connection_age: Option<Duration>,
}

/// The most time for which a client takes nothing of an answer, as it is now.
pub(crate) type IdleTimeout = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Serves connections until the drain begins, and waits for their end: each is closed after the answers on hand.
pub(crate) async fn serve(
    connections: mpsc::Receiver<Connection>,
    service: impl HttpService,
    limits: Http2Limits,
    idle_timeout: IdleTimeout,
    draining: watch::Receiver<bool>,
) {
    serve_each(connections, draining.clone(), |connection| {
        serve_one(connection, service.clone(), limits, Arc::clone(&idle_timeout), draining.clone())
    })
    .await;
}

fn builder(limits: &Http2Limits) -> Builder {
    let mut builder = Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES)
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(limits.header_bytes)
        .max_pending_accept_reset_streams(limits.reset_streams)
        .max_local_error_reset_streams(Some(LOCAL_ERROR_RESETS))
        .max_send_buffer_size(SEND_BUFFER_BYTES);
    builder
}

async fn serve_one(
    connection: Connection,
    mut service: impl HttpService,
    limits: Http2Limits,
    idle_timeout: IdleTimeout,
    draining: watch::Receiver<bool>,
) {
    let (handle, place) = (connection.connect_info(), connection.place());
    let opened = tokio::select! {
        opened = builder(&limits).handshake::<_, Bytes>(connection) => opened,
        _ = handle.asked_to_leave(None) => return,
    };
    let mut connection = match opened {
        Ok(connection) => connection,
        Err(error) => return log(&error),
    };
    let mut lost = std::pin::pin!(lost(connection.ping_pong(), handle.clone(), limits));
    let mut shutdown_begins = std::pin::pin!(graceful_shutdown_begins(limits.connection_age, draining));
    let (mut is_leaving, mut leaves) = (false, None);
    loop {
        let accepted = tokio::select! {
            biased;
            accepted = connection.accept() => accepted,
            () = &mut shutdown_begins, if !is_leaving => {
                is_leaving = true;
                connection.graceful_shutdown();
                continue;
            }
            how = handle.asked_to_leave(leaves) => {
                // A call may have come in this moment.
                if how == Leave::Now && handle.idle_for().is_some() {
                    // What nobody has looked at the client may send elsewhere, as GOAWAY says.
                    place.give_up();
                    return say_goodbye(connection, Reason::NO_ERROR).await;
                }
                handle.leaves_soon();
                leaves = Some(Leave::Soon);
                connection.graceful_shutdown();
                continue;
            }
            () = handle.flooded() => {
                metrics::closed(Closed::ControlFrames);
                tracing::info!(peer = %handle.peer(), "closing a connection with too many control frames");
                return say_goodbye(connection, Reason::ENHANCE_YOUR_CALM).await;
            }
            // Its answers cannot be delivered, so they are not waited for.
            () = &mut lost => return tracing::debug!(peer = %handle.peer(), "a client does not answer pings"),
        };
        let (request, reply) = match accepted {
            Some(Ok(accepted)) => accepted,
            Some(Err(error)) => return log(&error),
            None => return,
        };
        let mut request =
            request.map(|stream| Body::new(RequestBody { stream: Some(stream), has_data: true }));
        let slot = CallSlot::default();
        request.extensions_mut().insert(handle.clone());
        request.extensions_mut().insert(Arc::clone(&slot));
        let answer = service.call(request);
        let stream = AnswerStream { handle: handle.clone(), slot, idle_timeout: Arc::clone(&idle_timeout) };
        tokio::spawn(stream.answer(answer, reply));
    }
}

/// Closes a connection behind a GOAWAY, whatever there is on it.
async fn say_goodbye(mut connection: h2::server::Connection<Connection, Bytes>, reason: Reason) {
    connection.abrupt_shutdown(reason);
    let _ = timeout(LEAVE_TIME, poll_fn(|cx| connection.poll_closed(cx))).await;
}

/// Returns when a client that was silent for the interval has not answered a ping within the time-out.
async fn lost(pings: Option<PingPong>, handle: ConnectionHandle, limits: Http2Limits) {
    // They can be taken once, which is here.
    let Some(mut pings) = pings else { return std::future::pending().await };
    loop {
        let until_ping = limits.keepalive_interval.saturating_sub(handle.silent_for());
        if !until_ping.is_zero() {
            sleep(until_ping).await;
            continue;
        }
        let pong = async {
            pings.send_ping(Ping::opaque())?;
            poll_fn(|cx| pings.poll_pong(cx)).await
        };
        match timeout(limits.keepalive_timeout, pong).await {
            Ok(Ok(_)) => {}
            // The connection says why it has failed.
            Ok(Err(_)) => std::future::pending().await,
            Err(_) => return,
        }
    }
}

fn log(error: &h2::Error) {
    tracing::debug!(%error, "an HTTP/2 connection has failed");
}

/// The most that is still read of a request that was answered without it, and for how long. A proxy that
/// is sending the request takes a reset, of whatever reason, for a failure of the answer.
const DRAINED_BYTES: usize = 64 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The body of a request.
struct RequestBody {
    /// `None` once it is dropped.
    stream: Option<RecvStream>,
    /// Whether its trailers have not been reached.
    has_data: bool,
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let this = &mut *self;
        let Some(stream) = &mut this.stream else { return Poll::Ready(None) };
        if this.has_data {
            match ready!(stream.poll_data(cx)) {
                Some(Ok(data)) => {
                    // It fails only for more than was received.
                    let _ = stream.flow_control().release_capacity(data.len());
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Some(Err(error)) => return Poll::Ready(unless_cancelled(error)),
                None => this.has_data = false,
            }
        }
        Poll::Ready(match ready!(stream.poll_trailers(cx)) {
            Ok(trailers) => trailers.map(|trailers| Ok(Frame::trailers(trailers))),
            Err(error) => unless_cancelled(error),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.stream.as_ref().is_none_or(RecvStream::is_end_stream)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let stream = self.stream.take().filter(|stream| self.has_data && !stream.is_end_stream());
        if let (Some(stream), Ok(runtime)) = (stream, Handle::try_current()) {
            runtime.spawn(timeout(DRAIN_TIME, drain(stream)));
        }
    }
}

/// Reads on in the body of a request that nobody needs any more.
async fn drain(mut stream: RecvStream) {
    let mut drained = 0;
    while let Some(Ok(data)) = stream.data().await {
        drained += data.len();
        if drained > DRAINED_BYTES || stream.flow_control().release_capacity(data.len()).is_err() {
            return;
        }
    }
}

/// A body that the client has cancelled just stops, as over HTTP/1.1, and is not at its end.
fn unless_cancelled<T>(error: h2::Error) -> Option<Result<T, h2::Error>> {
    match error.reason() {
        Some(Reason::NO_ERROR | Reason::CANCEL) => None,
        _ => Some(Err(error)),
    }
}

/// A stream on its way to be answered.
struct AnswerStream {
    handle: ConnectionHandle,
    slot: CallSlot,
    idle_timeout: IdleTimeout,
}

/// Why no more of an answer is sent.
enum Unsent {
    /// The client has reset the stream, or is gone.
    Gone,
    /// The client has taken nothing for the idle time-out.
    Unread,
}

impl AnswerStream {
    /// Sends the answer, unless the client resets the stream before it is there.
    async fn answer(
        self,
        answer: impl Future<Output = Result<Response<Body>, Infallible>>,
        mut reply: SendResponse<Bytes>,
    ) {
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            _ = poll_fn(|cx| reply.poll_reset(cx)) => return,
        };
        let (mut parts, body) = match answer {
            Ok(response) => response.into_parts(),
            Err(never) => match never {},
        };
        let now = || HeaderValue::try_from(httpdate::fmt_http_date(SystemTime::now())).ok();
        if !parts.headers.contains_key(DATE)
            && let Some(now) = now()
        {
            parts.headers.insert(DATE, now);
        }
        let is_empty = body.is_end_stream();
        if !is_empty
            && !parts.headers.contains_key(CONTENT_LENGTH)
            && let Some(length) = body.size_hint().exact()
        {
            parts.headers.insert(CONTENT_LENGTH, length.into());
        }
        self.handle.sent_answer_frame();
        match reply.send_response(Response::from_parts(parts, ()), is_empty) {
            Ok(stream) if !is_empty => self.send(body, stream).await,
            Ok(_) => {}
            // The client is gone.
            Err(_) => reply.send_reset(Reason::INTERNAL_ERROR),
        }
    }

    /// Sends a body, and ends the call of a client that does not take it.
    async fn send(&self, mut body: Body, mut stream: SendStream<Bytes>) {
        let idle = (self.idle_timeout)();
        match self.send_frames(&mut body, &mut stream, idle).await {
            Ok(()) | Err(Unsent::Gone) => return,
            Err(Unsent::Unread) => {}
        }
        metrics::refused("idle_timeout");
        tracing::info!(peer = %self.handle.peer(), "ending a stream of a client that does not read its answers");
        if let Some(call) = self.slot.get() {
            call.end(EndReason::Unread(idle));
            call.cut_off();
        }
        // The call ends with its status, which needs no room in the window of the client if it is in
        // trailers. Where it would be a part of the body, there is no way to say it.
        let said = self.send_frames(&mut body, &mut stream, Duration::ZERO);
        let said = timeout(Duration::ZERO, said).await;
        if !matches!(said, Ok(Ok(()))) {
            stream.send_reset(Reason::CANCEL);
        }
    }

    /// Sends what there is of a body, as far as the window of the client has room for it.
    async fn send_frames(
        &self,
        body: &mut Body,
        stream: &mut SendStream<Bytes>,
        idle: Duration,
    ) -> Result<(), Unsent> {
        let gone = |_| Unsent::Gone;
        loop {
            let frame = tokio::select! {
                biased;
                frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)) => frame,
                _ = poll_fn(|cx| stream.poll_reset(cx)) => return Err(Unsent::Gone),
            };
            let frame = match frame {
                Some(Ok(frame)) => frame,
                Some(Err(_)) => {
                    stream.send_reset(Reason::INTERNAL_ERROR);
                    return Ok(());
                }
                None => return stream.send_data(Bytes::new(), true).map_err(gone),
            };
            match frame.into_data() {
                Ok(data) => {
                    let is_last = body.is_end_stream();
                    self.send_data(data, is_last, stream, idle).await?;
                    if is_last {
                        return Ok(());
                    }
                }
                Err(frame) => {
                    let Ok(trailers) = frame.into_trailers() else { continue };
                    stream.reserve_capacity(0);
                    return stream.send_trailers(trailers).map_err(gone);
                }
            }
        }
    }

    /// Sends a piece of a body, as soon as there is room for it.
    async fn send_data(
        &self,
        mut data: Bytes,
        is_last: bool,
        stream: &mut SendStream<Bytes>,
        idle: Duration,
    ) -> Result<(), Unsent> {
        loop {
            let room = if data.is_empty() { 0 } else { room(stream, data.len(), idle).await? };
            let part = data.split_to(room);
            let is_rest = data.is_empty();
            stream.send_data(part, is_last && is_rest).map_err(|_| Unsent::Gone)?;
            self.handle.sent_answer_frame();
            if is_rest {
                return Ok(());
            }
        }
    }
}

/// Waits until there is room for some of a piece. Returns for how much.
async fn room(stream: &mut SendStream<Bytes>, wanted: usize, idle: Duration) -> Result<usize, Unsent> {
    stream.reserve_capacity(wanted);
    if stream.capacity() > 0 {
        return Ok(stream.capacity().min(wanted));
    }
    let waiting = async {
        while stream.capacity() == 0 {
            match poll_fn(|cx| stream.poll_capacity(cx)).await {
                Some(Ok(_)) => {}
                None | Some(Err(_)) => return Err(Unsent::Gone),
            }
        }
        Ok(stream.capacity().min(wanted))
    };
    timeout(idle, waiting).await.unwrap_or(Err(Unsent::Unread))
}
