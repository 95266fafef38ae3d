//! Framing: incoming messages are held back until they are complete.
//!
//! A message states its length in advance, and the transport allocates that much when it reads the
//! header. A thousand clients that send only headers would make it allocate a thousand times the
//! largest message. And a client may take as long for a message as it likes.
//!
//! **Invariant:** the transport sees the header of a message within the limit only once the whole
//! message has arrived, so its memory is bounded by bytes that clients have really sent. The bytes
//! of an incomplete message are kept here, without a copy. A message that stalls ends its call, and
//! so do one that comes slower than [`LEAST_RATE`] and a first one that does not come; one above the
//! limit is refused by the transport before it allocates anything.
//!
//! **Invariant:** a call takes its place among others with its first whole message, which is passed
//! on only if there is one.
//!
//! Here a request also ends when its call is told to end, or its client has left.
//!
//! ```text
//!   a message:  | compressed? 1 byte | length 4 bytes, big-endian | length bytes |
//! ```

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_stream::Stream;
use tonic::Status;
use tonic::body::Body;

use crate::service::net::call::CallState;
use crate::service::wire::status::{
    client_left, is_explained, is_of_lost_client, message_missing, second_message, slow_message,
    stalled_message,
};

/// The length of a message's header.
const HEADER_BYTES: usize = 5;

/// The length from which a message's header is passed on as a frame of its own. The transport
/// allocates memory for the message when it reads the header, and copies once more what it already
/// has of the message.
const LONG_MESSAGE_BYTES: usize = 16 << 10;

/// The limits on the messages of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramingLimits {
    /// The most bytes of a message. A longer one is passed on at once, for the transport to refuse.
    pub(crate) message_bytes: usize,
    /// The most time until the first message, without another byte of a message, and for a whole
    /// message beyond what it takes at [`LEAST_RATE`].
    pub(crate) timeout: Duration,
}

/// The least bytes a second of a message, beyond the time-out.
const LEAST_RATE: u64 = 8 << 10;

/// The time that the current message takes: the time for which it was waited for, without that in
/// which nobody wanted more of it.
#[derive(Default)]
struct MessageClock {
    waited: Duration,
    waiting_since: Option<Instant>,
    bytes: u64,
    /// Fires when it is late; made when it is first needed.
    timer: Option<Pin<Box<Sleep>>>,
}

impl MessageClock {
    /// Records that some of the message has come.
    fn received(&mut self, bytes: u64) {
        self.waited += self.waiting_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.bytes += bytes;
    }

    /// Begins with the next message, of which some bytes have come.
    fn restart(&mut self, bytes: u64) {
        (self.waited, self.waiting_since, self.bytes) = (Duration::ZERO, None, bytes);
    }

    /// The time that is left to the message as a whole.
    fn left(&self, timeout: Duration) -> Duration {
        let allowed = timeout + Duration::from_millis(self.bytes.saturating_mul(1000) / LEAST_RATE);
        allowed.saturating_sub(self.waited)
    }

    /// Whether the message is late, while more of it is waited for.
    fn is_late(&mut self, cx: &mut TaskContext<'_>, timeout: Duration) -> bool {
        if self.waiting_since.is_none() {
            let now = Instant::now();
            self.waiting_since = Some(now);
            let at = now + self.left(timeout).min(timeout);
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(at),
                None => self.timer = Some(Box::pin(sleep_until(at))),
            }
        }
        self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_ready())
    }
}

/// Asks for a place for a call whose first message is whole.
pub(crate) type TakePlace = Box<dyn FnOnce() -> Result<(), Status> + Send>;

/// The progress of a body that is translated before it gets here, so that nothing is seen of a
/// message until it is whole.
#[derive(Debug, Default)]
pub(crate) struct BodyProgress {
    /// The bytes that have come from the client.
    bytes: AtomicU64,
    /// Whether the client owes the rest of a message.
    is_partial: AtomicBool,
}

impl BodyProgress {
    /// Records that some bytes have come.
    pub(crate) fn received(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Records whether the client owes the rest of a message.
    pub(crate) fn set_partial(&self, is_partial: bool) {
        self.is_partial.store(is_partial, Ordering::Relaxed);
    }
}

/// The body of a request, which passes on only whole messages.
pub(crate) struct WholeMessages {
    body: Body,
    framing: FramingLimits,
    /// Whether the request is one message, behind which it ends.
    is_single: bool,
    call: Arc<CallState>,
    /// The progress of a body that is translated, and its bytes that were seen.
    progress: Option<Arc<BodyProgress>>,
    seen: u64,
    /// Whether a whole message has come. With the first, the call takes its place.
    has_begun: bool,
    take_place: Option<TakePlace>,
    position: FramePosition,
    /// The bytes of an incomplete message.
    partial: VecDeque<Bytes>,
    /// The bytes to pass on.
    whole: VecDeque<Bytes>,
    clock: MessageClock,
    /// What came after the last message.
    end: Option<FramePoll>,
}

/// The end of a body: trailers, an error, or nothing.
pub(super) type FramePoll = Poll<Option<Result<Frame<Bytes>, Status>>>;

/// The position of the next byte in its message.
enum FramePosition {
    /// In the header, of which `have` bytes have come.
    Header { have: usize, bytes: [u8; HEADER_BYTES] },
    /// In the message, of which `missing` bytes have not come.
    Message { missing: usize },
    /// In a message that is too long: everything is passed on, and the transport refuses it.
    PassThrough,
}

const AT_START: FramePosition = FramePosition::Header { have: 0, bytes: [0; HEADER_BYTES] };

impl WholeMessages {
    /// Wraps the body of a call. A body that is translated has `progress`.
    pub(crate) fn new(
        body: Body,
        framing: FramingLimits,
        is_single: bool,
        call: Arc<CallState>,
        progress: Option<Arc<BodyProgress>>,
        take_place: TakePlace,
    ) -> Self {
        Self {
            body,
            framing,
            is_single,
            call,
            progress,
            seen: 0,
            has_begun: false,
            take_place: Some(take_place),
            position: AT_START,
            partial: VecDeque::new(),
            whole: VecDeque::new(),
            clock: MessageClock::default(),
            end: None,
        }
    }

    /// Takes a piece of the body.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a second message where there is one.
    fn take(&mut self, mut data: Bytes) -> Result<(), Status> {
        let limit = self.framing.message_bytes;
        // The bytes before this one end whole messages.
        let mut end = 0;
        let mut at = 0;
        while at < data.len() {
            if let FramePosition::Header { have: 0, .. } = self.position {
                if !self.is_single {
                    at += short_messages(&data[at..], limit);
                    self.has_begun |= at > end;
                    end = at;
                } else if self.has_begun {
                    return Err(second_message());
                }
            }
            let here = data.len() - at;
            match &mut self.position {
                FramePosition::Header { have, bytes } => {
                    let taken = here.min(HEADER_BYTES - *have);
                    bytes[*have..*have + taken].copy_from_slice(&data[at..at + taken]);
                    *have += taken;
                    at += taken;
                    if *have == HEADER_BYTES {
                        let [_, length @ ..] = *bytes;
                        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
                        self.position = if length > limit {
                            FramePosition::PassThrough
                        } else {
                            FramePosition::Message { missing: length }
                        };
                        if (LONG_MESSAGE_BYTES..=limit).contains(&length) {
                            let message = data.split_off(at);
                            self.push(std::mem::replace(&mut data, message), end);
                            (at, end) = (0, 0);
                        }
                    }
                }
                FramePosition::Message { missing } => {
                    let taken = here.min(*missing);
                    *missing -= taken;
                    at += taken;
                }
                FramePosition::PassThrough => at = data.len(),
            }
            match self.position {
                FramePosition::Message { missing: 0 } => {
                    self.has_begun = true;
                    end = at;
                    self.position = AT_START;
                }
                FramePosition::PassThrough => end = data.len(),
                _ => {}
            }
        }
        self.push(data, end);
        Ok(())
    }

    /// Queues a piece: its first `end` bytes complete messages, the rest is partial.
    fn push(&mut self, mut data: Bytes, end: usize) {
        if data.is_empty() {
            return;
        }
        if end == 0 {
            self.partial.push_back(data);
            return;
        }
        let rest = data.split_off(end);
        self.whole.append(&mut self.partial);
        self.whole.push_back(data);
        if !rest.is_empty() {
            self.partial.push_back(rest);
        }
    }

    /// Whether the client owes something: the rest of a message, the first one, or the end of the
    /// request.
    fn is_owed(&self) -> bool {
        self.is_within_message() || !self.has_begun || self.is_single
    }

    /// Whether a part of a message has come, and the rest not.
    fn is_within_message(&self) -> bool {
        let is_partial = |progress: &Arc<BodyProgress>| progress.is_partial.load(Ordering::Relaxed);
        !self.partial.is_empty() || self.progress.as_ref().is_some_and(is_partial)
    }

    /// Records what has come of a body that is translated since the last look.
    fn look_at_progress(&mut self) {
        let Some(progress) = &self.progress else { return };
        let bytes = progress.bytes.load(Ordering::Relaxed);
        let seen = std::mem::replace(&mut self.seen, bytes);
        if bytes != seen {
            self.clock.received(bytes - seen);
        }
    }

    /// Whether a request that ends here would not be whole.
    fn lacks_bytes(&self) -> bool {
        !self.partial.is_empty() || (self.is_single && !self.has_begun)
    }

    /// The status of a call whose client owes that for too long.
    fn late(&self) -> Status {
        let timeout = self.framing.timeout;
        if self.clock.left(timeout) < timeout && self.clock.bytes > 0 {
            let waited = self.clock.waited + self.clock.left(timeout);
            slow_message(timeout, waited, LEAST_RATE)
        } else if self.has_begun || self.is_within_message() {
            stalled_message(timeout)
        } else {
            message_missing(timeout)
        }
    }

    /// Takes a piece of the body, and its place with the first whole message.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a second message where there is one; `RESOURCE_EXHAUSTED` without a place.
    fn receive(&mut self, data: Bytes) -> Result<(), Status> {
        // Those of a body that is translated were seen before.
        self.clock.received(if self.progress.is_none() { data.len() as u64 } else { 0 });
        self.take(data)?;
        if !self.whole.is_empty() {
            self.call.received();
            self.clock.restart(self.partial.iter().map(|piece| piece.len() as u64).sum());
        }
        match self.take_place.take_if(|_| self.has_begun) {
            Some(take_place) => take_place(),
            None => Ok(()),
        }
    }
}

/// The number of bytes at the beginning of `data` that are short, whole messages.
///
/// A fast path, because short messages come by the thousand, and most need no other look here.
fn short_messages(data: &[u8], limit: usize) -> usize {
    let mut end = 0;
    while let Some([_, length @ ..]) = data[end..].first_chunk::<HEADER_BYTES>() {
        let length = u32::from_be_bytes(*length) as usize;
        let rest = data.len() - end - HEADER_BYTES;
        if length > rest.min(limit).min(LONG_MESSAGE_BYTES - 1) {
            break;
        }
        end += HEADER_BYTES + length;
    }
    end
}

impl HttpBody for WholeMessages {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> FramePoll {
        let this = &mut *self;
        loop {
            if let Some(data) = this.whole.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            if let Some(end) = this.end.take() {
                return end;
            }
            if let Some(ending) = this.call.request_ends(cx) {
                return Poll::Ready(Some(Err(ending.status())));
            }
            let polled = Pin::new(&mut this.body).poll_frame(cx);
            this.look_at_progress();
            if polled.is_pending() && this.is_owed() && this.clock.is_late(cx, this.framing.timeout) {
                return Poll::Ready(Some(Err(this.late())));
            }
            match ready!(polled) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        this.call.received_bytes(data.len());
                        if let Err(status) = this.receive(data) {
                            return Poll::Ready(Some(Err(status)));
                        }
                    }
                    Err(frame) => this.end_with(Some(Ok(frame))),
                },
                // The transport shows a call that its client has cancelled as one that has ended.
                None if this.lacks_bytes() && !this.body.is_end_stream() => {
                    this.partial.clear();
                    this.client_left();
                }
                // What the transport says is about the connection, or about what the client did.
                Some(Err(status)) if !is_explained(&status) => this.client_left(),
                other => {
                    if let Some(Err(status)) = &other
                        && is_of_lost_client(status)
                    {
                        this.call.client_left();
                    }
                    this.end_with(other);
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.partial.is_empty() && self.whole.is_empty() && self.end.is_none() && self.body.is_end_stream()
    }
}

impl WholeMessages {
    /// Ends because the client has left. The transport takes this for the end of the request, so the
    /// call is told apart from one that was asked for nothing.
    fn client_left(&mut self) {
        self.call.client_left();
        self.end_with(Some(Err(client_left())));
    }

    /// Passes on what is partial, for the transport to refuse, and then the end.
    fn end_with(&mut self, end: Option<Result<Frame<Bytes>, Status>>) {
        self.whole.append(&mut self.partial);
        self.end = Some(Poll::Ready(end));
    }
}

/// The messages of a request as the body of a call. It reports its end, because a body that just stops
/// is one whose client has left.
pub(crate) struct RequestMessages {
    messages: Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Status>> + Send>>,
    have_ended: bool,
}

impl RequestMessages {
    pub(crate) fn new(messages: impl Stream<Item = Result<Frame<Bytes>, Status>> + Send + 'static) -> Self {
        Self { messages: Box::pin(messages), have_ended: false }
    }
}

impl HttpBody for RequestMessages {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> FramePoll {
        let message = ready!(self.messages.as_mut().poll_next(cx));
        self.have_ended = message.is_none();
        Poll::Ready(message)
    }

    fn is_end_stream(&self) -> bool {
        self.have_ended
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::sync::mpsc;
    use tokio::time::sleep;
    use tokio_stream::StreamExt as _;
    use tokio_stream::wrappers::ReceiverStream;
    use tonic::Code;

    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(50);

    /// A message as it goes over the wire.
    fn message(length: usize) -> Vec<u8> {
        let header = u32::try_from(length).unwrap().to_be_bytes();
        let body = (0..length).map(|at| u8::try_from(at % 251).unwrap());
        [0].into_iter().chain(header).chain(body).collect()
    }

    /// A body of which pieces come as they are sent.
    fn body() -> (mpsc::Sender<Bytes>, WholeMessages) {
        body_up_to(1000)
    }

    /// A body of messages up to `limit` bytes.
    fn body_up_to(limit: usize) -> (mpsc::Sender<Bytes>, WholeMessages) {
        let (sender, pieces) = mpsc::channel(1000);
        let pieces = ReceiverStream::new(pieces).map(|piece| Ok::<_, Status>(Frame::data(piece)));
        let body = Body::new(RequestMessages::new(pieces));
        let framing = FramingLimits { message_bytes: limit, timeout: TIMEOUT };
        (sender, WholeMessages::new(body, framing, false, Arc::default(), None, Box::new(|| Ok(()))))
    }

    async fn next(body: &mut WholeMessages) -> Option<Result<Bytes, Status>> {
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        Some(frame.map(|frame| frame.into_data().unwrap()))
    }

    #[tokio::test]
    async fn bytes_stay_the_same_however_they_are_cut() {
        let lengths = [
            0,
            3,
            300,
            1,
            0,
            1000,
            2,
            LONG_MESSAGE_BYTES,
            LONG_MESSAGE_BYTES + 1,
            2,
            LONG_MESSAGE_BYTES - 1,
            0,
            2 * LONG_MESSAGE_BYTES,
        ];
        let wire: Vec<u8> = lengths.into_iter().flat_map(message).collect();
        for piece in
            [1, 2, 4, 5, 6, 7, 64, 305, 1005, 1345, 1346, 1347, 5000, LONG_MESSAGE_BYTES + 5, wire.len()]
        {
            let (sender, mut body) = body_up_to(2 * LONG_MESSAGE_BYTES);
            for piece in wire.chunks(piece) {
                sender.try_send(Bytes::copy_from_slice(piece)).unwrap();
                if sender.capacity() == 0 {
                    break;
                }
            }
            let sent = wire.len().min(1000 * piece);
            drop(sender);
            let mut seen = Vec::new();
            while let Some(data) = next(&mut body).await {
                seen.extend_from_slice(&data.unwrap());
            }
            assert_eq!(seen, wire[..sent], "pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn nothing_of_a_message_is_handed_on_before_its_end() {
        let (sender, mut body) = body();
        let wire = [message(10), message(20)].concat();
        sender.try_send(Bytes::copy_from_slice(&wire[..20])).unwrap();
        assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[..15]);
        let early = poll_fn(|cx| Poll::Ready(Pin::new(&mut body).poll_frame(cx).is_ready())).await;
        assert!(!early, "five bytes of the second have come");
        sender.try_send(Bytes::copy_from_slice(&wire[20..])).unwrap();
        assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[15..20]);
        assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[20..]);
        drop(sender);
        assert!(next(&mut body).await.is_none());
    }

    #[tokio::test]
    async fn the_header_of_a_long_message_is_handed_on_by_itself_once_it_is_whole() {
        let (sender, mut body) = body_up_to(LONG_MESSAGE_BYTES);
        let wire = [message(10), message(LONG_MESSAGE_BYTES), message(10)].concat();
        let (most, rest) = wire.split_at(1000);
        sender.try_send(Bytes::copy_from_slice(most)).unwrap();
        assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[..15]);
        let early = poll_fn(|cx| Poll::Ready(Pin::new(&mut body).poll_frame(cx).is_ready())).await;
        assert!(!early, "most of it has not come");
        sender.try_send(Bytes::copy_from_slice(rest)).unwrap();
        assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[15..20]);
        assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[20..1000]);
        assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[1000..]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_does_not_go_on_ends_the_call_and_silence_between_messages_does_not() {
        let (sender, mut body) = body();
        sender.try_send(Bytes::from(message(10))).unwrap();
        assert!(next(&mut body).await.unwrap().is_ok());
        let silence = tokio::time::timeout(4 * TIMEOUT, next(&mut body)).await;
        assert!(silence.is_err(), "the client may think");
        sender.try_send(Bytes::copy_from_slice(&message(10)[..7])).unwrap();
        let status = next(&mut body).await.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(status.message().contains("has not gone on for 0.05 s"), "{status}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_comes_slower_than_the_least_rate_ends_the_call_and_a_faster_one_does_not() {
        let trickle = |piece: usize| async move {
            let (sender, mut body) = body_up_to(LONG_MESSAGE_BYTES);
            let wire = message(LONG_MESSAGE_BYTES - 5);
            let sending = async {
                for piece in wire.chunks(piece) {
                    let _ = sender.send(Bytes::copy_from_slice(piece)).await;
                    sleep(TIMEOUT / 5).await;
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = sending => unreachable!(),
                first = next(&mut body) => first.unwrap(),
            }
        };
        let status = trickle(1).await.unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(status.message().ends_with("it comes at less than 8192 bytes a second."), "{status}");
        // Twice the least rate, and longer than the time-out.
        assert_eq!(trickle(164).await.unwrap()[..5], message(LONG_MESSAGE_BYTES - 5)[..5]);
    }

    #[tokio::test]
    async fn a_first_message_without_a_place_is_not_passed_on() {
        let (sender, mut body) = body();
        body.take_place = Some(Box::new(|| Err(client_left())));
        sender.try_send(Bytes::from(message(10))).unwrap();
        assert_eq!(next(&mut body).await.unwrap().unwrap_err().code(), Code::Cancelled);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_translated_is_not_overdue_while_its_pieces_come() {
        let progress = Arc::<BodyProgress>::default();
        let (sender, pieces) = mpsc::channel::<Bytes>(1);
        let pieces = ReceiverStream::new(pieces).map(|piece| Ok::<_, Status>(Frame::data(piece)));
        let framing = FramingLimits { message_bytes: 1000, timeout: TIMEOUT };
        let body = Body::new(RequestMessages::new(pieces));
        let (call, seen) = (Arc::default(), Some(Arc::clone(&progress)));
        let mut body = WholeMessages::new(body, framing, true, call, seen, Box::new(|| Ok(())));
        let begin = Instant::now();
        while begin.elapsed() < 3 * TIMEOUT {
            progress.received(1024);
            let early = poll_fn(|cx| Poll::Ready(Pin::new(&mut body).poll_frame(cx).is_ready())).await;
            assert!(!early, "it goes on");
            sleep(TIMEOUT / 50).await;
        }
        progress.set_partial(true);
        let status = next(&mut body).await.unwrap().unwrap_err();
        assert!(status.message().contains("has not gone on for 0.05 s"), "{status}");
        drop(sender);
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_is_not_kept() {
        for (length, sent) in [(1001, 6), (1001, 5), (LONG_MESSAGE_BYTES, 5), (LONG_MESSAGE_BYTES, 7)] {
            let (sender, mut body) = body();
            let wire = message(length);
            sender.try_send(Bytes::copy_from_slice(&wire[..sent])).unwrap();
            assert_eq!(next(&mut body).await.unwrap().unwrap(), wire[..sent]);
        }
    }
}
