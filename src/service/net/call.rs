//! Calls: what the layers around a call, its method and the limits know of it together.
//!
//! **Invariant:** a call is told to end through its [`CallState`] only. Its request then ends with
//! the reason, so its method answers what it has read and passes the reason on as the status of the
//! call; a call that does not end so is cut off.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Context as TaskContext;
use std::time::Duration;

use atomic_waker::AtomicWaker;
use tonic::Status;

use crate::service::net::deadline::Deadline;
use crate::service::net::handle::ConnectionHandle;
use crate::service::net::tokens::Caller;
use crate::service::wire::status::{answers_unread, message_not_whole, stream_idle, token_revoked};

/// Why a call is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// It was idle while others waited, for this time at least.
    Idle(Duration),
    /// It had not brought a whole message when others needed its place, one of so many.
    NotWhole(usize),
    /// Its token is no longer valid.
    Revoked,
    /// Its client has taken nothing of its answers for this time.
    Unread(Duration),
}

impl EndReason {
    /// The status of a call that ends so.
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Idle(timeout) => stream_idle(timeout),
            Self::NotWhole(limit) => message_not_whole(limit),
            Self::Revoked => token_revoked(),
            Self::Unread(timeout) => answers_unread(timeout),
        }
    }
}

/// Where a call leaves its state for the transport, which ends it if its answers are not taken.
pub(super) type CallSlot = Arc<OnceLock<Arc<CallState>>>;

/// The state of a call, from its headers to its end.
#[derive(Debug, Default)]
pub(crate) struct CallState {
    /// The connection that it came on.
    pub(crate) connection: ConnectionHandle,
    /// By when its client wants to have its response.
    pub(crate) deadline: Deadline,
    /// Whose token it carries.
    caller: OnceLock<Arc<Caller>>,
    /// Whether it has brought a whole message, and so holds a place.
    has_begun: AtomicBool,
    /// Whether its client has left before the request was whole.
    has_left: AtomicBool,
    /// The whole messages of its request, and the pieces of its response, that have passed.
    moved: [AtomicU64; 2],
    /// Their bytes.
    bytes: [AtomicU64; 2],
    /// What it has been asked and has not answered yet.
    owed: AtomicI64,
    /// The messages and lines that its method has read.
    pub(crate) messages: AtomicU64,
    pub(crate) lines: AtomicU64,
    /// One more than its place among the open calls; 0 without one.
    place: AtomicUsize,
    /// Why it is to end, and whether its response ends at once.
    ending: OnceLock<EndReason>,
    is_cut_off: AtomicBool,
    request: AtomicWaker,
    response: AtomicWaker,
}

impl CallState {
    /// The state of a call on a connection.
    pub(crate) fn new(connection: ConnectionHandle, deadline: Deadline) -> Arc<Self> {
        Arc::new(Self { connection, deadline, ..Self::default() })
    }

    /// Records whose token it carries.
    pub(super) fn identify(&self, caller: Arc<Caller>) {
        // A call has one token.
        let _ = self.caller.set(caller);
    }

    /// Whose token it carries, if it has one.
    pub(crate) fn caller(&self) -> Option<&Arc<Caller>> {
        self.caller.get()
    }

    /// Gives it a place among the open calls, or takes its place away. Returns the one it had.
    pub(super) fn set_place(&self, place: Option<usize>) -> Option<usize> {
        self.place.swap(place.map_or(0, |place| place + 1), Ordering::Relaxed).checked_sub(1)
    }

    /// Whose turns its work takes: those of its token, or else of its connection.
    pub(crate) fn turns(&self) -> (u64, u64) {
        let connection = self.connection.number();
        (self.caller().map_or(0, |caller| caller.number()), connection)
    }

    /// Whether it has a place among the open calls.
    pub(super) fn has_place(&self) -> bool {
        self.place.load(Ordering::Relaxed) > 0
    }

    /// Records that a whole message has come.
    pub(super) fn begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Whether one has.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Records that its client has left before the request was whole.
    pub(super) fn client_left(&self) {
        self.has_left.store(true, Ordering::Relaxed);
    }

    /// Whether it has.
    pub(super) fn client_has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }

    /// Records that a whole message of the request has come. Parts of one do not count: a client that
    /// sends a byte now and then stands still.
    pub(super) fn received(&self) {
        self.moved[0].fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a piece of the response was taken by the transport.
    pub(super) fn sent(&self, bytes: usize) {
        self.moved[1].fetch_add(1, Ordering::Relaxed);
        self.bytes[1].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Records bytes of the request.
    pub(super) fn received_bytes(&self, bytes: usize) {
        self.bytes[0].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The bytes of its request and its response so far.
    pub(super) fn bytes(&self) -> [u64; 2] {
        self.bytes.each_ref().map(|bytes| bytes.load(Ordering::Relaxed))
    }

    /// All of them so far, by which a call that stands still is known.
    pub(super) fn moved(&self) -> u64 {
        let [received, sent] = &self.moved;
        received.load(Ordering::Relaxed) + sent.load(Ordering::Relaxed)
    }

    /// Records that its method has something to do for it.
    pub(crate) fn owes(&self, answers: usize) {
        self.owed.fetch_add(i64::try_from(answers).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// Records that some of that is done.
    pub(crate) fn gave(&self, answers: usize) {
        self.owed.fetch_sub(i64::try_from(answers).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// Whether it waits for its client, and nothing else.
    pub(super) fn waits_for_client(&self) -> bool {
        self.owed.load(Ordering::Relaxed) <= 0
    }

    /// Records what its method has read.
    pub(crate) fn read(&self, messages: u64, lines: u64) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.lines.fetch_add(lines, Ordering::Relaxed);
    }

    /// Tells it to end: what was read is answered, and nothing more is read.
    pub(super) fn end(&self, ending: EndReason) {
        // The first reason is the one that its client gets.
        let _ = self.ending.set(ending);
        self.request.wake();
    }

    /// Ends it at once, after it was told to end.
    pub(super) fn cut_off(&self) {
        self.is_cut_off.store(true, Ordering::Release);
        self.request.wake();
        self.response.wake();
    }

    /// Why it is to end, if it is. Otherwise the reader of the request is woken when it is.
    pub(super) fn request_ends(&self, cx: &TaskContext<'_>) -> Option<EndReason> {
        self.request.register(cx.waker());
        self.ending()
    }

    /// The same, without waking anybody.
    pub(super) fn ending(&self) -> Option<EndReason> {
        self.ending.get().copied()
    }

    /// Why its response is to end at once, if it is. Otherwise the reader of the response is woken
    /// when it is.
    pub(super) fn response_ends(&self, cx: &TaskContext<'_>) -> Option<EndReason> {
        self.response.register(cx.waker());
        self.is_cut_off.load(Ordering::Acquire).then(|| self.ending()).flatten()
    }
}
