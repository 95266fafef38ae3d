//! Admission: which calls are let in, from their headers on, whatever service they are for.
//!
//! ```text
//!   headers ─▶ size? ─▶ token? ─▶ POST? timeout? ─▶ capacity? ─▶ a whole message ─▶ a place? ─▶ service
//!              │        │         INVALID_ARGUMENT   RESOURCE_EXHAUSTED            RESOURCE_EXHAUSTED
//!              │        UNAUTHENTICATED
//!              RESOURCE_EXHAUSTED
//! ```
//!
//! A call takes its place when its first message is whole. Until then it is arriving, in a place
//! that nobody needs yet: it takes nothing from the share of others, and when a further call comes
//! and there is no such place, the one that has been arriving for longest is ended, on the connection
//! that has most of them. So clients that send slowly, or not at all, keep nobody out. A health check
//! has no place: it is arriving to its end, beside all others.
//!
//! There is capacity for a number of calls in all, and a share of that for each client. A share is
//! measured by what is free: a connection may hold twice as many calls as are free for all others,
//! so one has two thirds, three have two sevenths each, and something is left however many there
//! are. All connections of an address together, and all calls with one token, may hold three times
//! what is free.
//!
//! A call beyond the capacity takes the place of one that has been idle for the time-out, and
//! belongs to a connection with more calls, if there is any. Otherwise it is refused.
//!
//! **Invariant:** a call is counted from its headers to the end of its response, exactly once, and
//! those that are arriving fill only what is free, so what clients can make the server hold is
//! bounded by the limit on calls, and [`HEALTH_CHECKS`].

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, Weak};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::header::AUTHORIZATION;
use tonic::codegen::http::{HeaderMap, Method, Request, Response};
use tower::{Layer, Service};

use crate::poison::IgnorePoison as _;
use crate::service::metrics;
use crate::service::net::call::{CallState, EndReason};
use crate::service::net::deadline;
use crate::service::net::drain::drain;
use crate::service::net::framing::{BodyProgress, FramingLimits, TakePlace, WholeMessages};
use crate::service::net::handle::ConnectionHandle;
use crate::service::net::tokens::{Caller, Tokens, token_in};
use crate::service::net::unpack::{Aside, Encoding, Unpacked};
use crate::service::wire::methods::is_bidirectional;
use crate::service::wire::status::{
    MAX_STREAMS, busy, header_invalid, message_over_limit, not_posted, share_reached, streams_quota_reached,
    unauthenticated, work_broke_down,
};

/// The multiple of the free places that a connection may hold.
const CONNECTION_SHARE: usize = 2;

/// The multiple of the free places that an address or a token may hold.
const GROUP_SHARE: usize = 3;

/// The health checks that there is room for beside all calls.
const HEALTH_CHECKS: usize = 16;

/// The looks at open calls within the time-out of idle ones.
const LOOKS: u32 = 4;

/// The health service, which needs no token, because probes have none.
const HEALTH_SERVICE: &str = "/grpc.health.v1.Health/";

/// A health check, which is never refused for lack of capacity, because that says nothing of health.
const HEALTH_CHECK: &str = "/grpc.health.v1.Health/Check";

/// The limits on open calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdmissionLimits {
    /// The most calls open at once.
    pub(crate) calls: usize,
    /// The time after which an idle call may be ended for another one.
    pub(crate) idle_timeout: Duration,
    /// The limits on the messages of a request.
    pub(crate) framing: FramingLimits,
}

/// The calls that are open, and the capacity for more.
pub(crate) struct Admission {
    limits: RwLock<AdmissionLimits>,
    open: Mutex<OpenCalls>,
    /// When a call was refused last for lack of capacity.
    refused: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct OpenCalls {
    /// Those that hold a place, and those that have not brought a whole message.
    holding: usize,
    arriving: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Those that are open; a place is used again after its call has ended.
    places: Vec<Option<OpenCall>>,
    free_places: Vec<usize>,
}

/// A call that is open.
struct OpenCall {
    state: Arc<CallState>,
    /// What had moved at the last look at it, and since when nothing has.
    moved: u64,
    still_since: Instant,
}

/// Why a call is beyond the capacity.
enum OverCapacity {
    /// All places are taken.
    Full,
    /// Its connection, address or token has its share.
    Share(&'static str, usize),
    /// Its token has a quota.
    Quota(usize),
}

impl Admission {
    /// Capacity for calls within the limits. Must be called within a runtime.
    pub(crate) fn new(limits: AdmissionLimits) -> Arc<Self> {
        let admission =
            Arc::new(Self { limits: RwLock::new(limits), open: Mutex::default(), refused: Mutex::default() });
        tokio::spawn(look_after(Arc::downgrade(&admission)));
        admission
    }

    fn open(&self) -> MutexGuard<'_, OpenCalls> {
        self.open.lock().ignore_poison()
    }

    fn limits(&self) -> AdmissionLimits {
        *self.limits.read().ignore_poison()
    }

    /// Changes the limits for calls from now on.
    pub(crate) fn set_limits(&self, limits: AdmissionLimits) {
        *self.limits.write().ignore_poison() = limits;
    }

    /// Lets a call arrive.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`, if there would be no place for it.
    fn enter(&self, state: &Arc<CallState>, needs_place: bool, several_tokens: bool) -> Result<(), Status> {
        let limits = self.limits();
        let mut open = self.open();
        if needs_place {
            open = self.check(open, state, &limits, several_tokens)?;
        }
        let room = limits.calls.saturating_sub(open.holding).max(HEALTH_CHECKS);
        if open.arriving >= room {
            open.end_arriving(limits.calls);
        }
        open.add(state);
        Ok(())
    }

    /// Gives a call its place, with its first whole message.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`, if there is none; the reason for which it was told to end.
    fn take_place(&self, state: &CallState, several_tokens: bool) -> Result<(), Status> {
        let open = self.open();
        if !state.has_place() {
            return Err(state.ending().map_or_else(work_broke_down, EndReason::status));
        }
        self.check(open, state, &self.limits(), several_tokens)?.hold(state);
        Ok(())
    }

    /// Checks that there is a place for a call, if need be by ending an idle one.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`.
    fn check<'a>(
        &self,
        mut open: MutexGuard<'a, OpenCalls>,
        state: &CallState,
        limits: &AdmissionLimits,
        several_tokens: bool,
    ) -> Result<MutexGuard<'a, OpenCalls>, Status> {
        let over = match open.over_capacity(state, limits.calls, several_tokens) {
            Some(OverCapacity::Quota(quota)) => {
                metrics::refused("quota");
                return Err(streams_quota_reached(quota));
            }
            Some(over) if open.end_idle(state, limits.idle_timeout) => {
                open.over_capacity(state, limits.calls, several_tokens).map(|_| over)
            }
            over => over,
        };
        let Some(over) = over else { return Ok(open) };
        drop(open);
        *self.refused.lock().ignore_poison() = Some(Instant::now());
        Err(match over {
            OverCapacity::Share(whose, share) => {
                metrics::refused("share");
                share_reached(MAX_STREAMS, whose, share, limits.calls, "calls open at once")
            }
            OverCapacity::Full | OverCapacity::Quota(_) => {
                metrics::refused("max_streams");
                busy(MAX_STREAMS, ("call", "open at once"), limits.calls)
            }
        })
    }

    /// Removes a call that has ended, if it was let in.
    pub(super) fn leave(&self, state: &Arc<CallState>) {
        self.open().remove(state);
    }

    /// Ends the calls whose tokens are no longer valid: their requests now, and what is left of
    /// them after `grace`.
    pub(crate) fn end_revoked(self: &Arc<Self>, grace: Duration) {
        let is_revoked = |state: &CallState| state.caller().is_some_and(|caller| caller.is_revoked());
        let revoked: Vec<_> =
            self.open().calls().map(|call| &call.state).filter(|s| is_revoked(s)).cloned().collect();
        if revoked.is_empty() {
            return;
        }
        tracing::info!(calls = revoked.len(), "ending the calls of tokens that are no longer valid");
        for state in &revoked {
            state.end(EndReason::Revoked);
        }
        tokio::spawn(async move {
            sleep(grace).await;
            for state in &revoked {
                state.cut_off();
            }
        });
    }

    /// The number of open calls.
    pub(crate) fn open_calls(&self) -> usize {
        let open = self.open();
        open.holding + open.arriving
    }

    /// Whether calls are refused for lack of capacity, or were within the last second.
    pub(crate) fn is_crowded(&self) -> bool {
        const RECENTLY: Duration = Duration::from_secs(1);
        let refused = *self.refused.lock().ignore_poison();
        refused.is_some_and(|at| at.elapsed() < RECENTLY)
    }
}

/// Notes which calls stand still, until the server is gone.
async fn look_after(admission: Weak<Admission>) {
    loop {
        let Some(strong) = admission.upgrade() else { return };
        let pause = strong.limits().idle_timeout / LOOKS;
        strong.open().look();
        drop(strong);
        sleep(pause).await;
    }
}

impl OpenCalls {
    fn calls(&self) -> impl Iterator<Item = &OpenCall> {
        self.places.iter().flatten()
    }

    /// Why a call is beyond the capacity, if it is.
    fn over_capacity(&self, state: &CallState, limit: usize, several_tokens: bool) -> Option<OverCapacity> {
        let free = limit.saturating_sub(self.holding);
        let held = |open: &AtomicUsize| open.load(Ordering::Relaxed);
        let caller = state.caller();
        if let Some((quota, caller)) = caller.and_then(|caller| Some((caller.streams()?, caller)))
            && held(caller.open_calls()) >= quota
        {
            return Some(OverCapacity::Quota(quota));
        }
        if free == 0 {
            return Some(OverCapacity::Full);
        }
        let on_connection = held(state.connection.open_calls());
        if on_connection > CONNECTION_SHARE.saturating_mul(free) {
            return Some(OverCapacity::Share("connection", on_connection));
        }
        let of_address = state.connection.peer().shared_address();
        if let Some(&from_address) = of_address.and_then(|address| self.by_address.get(&address))
            && from_address > GROUP_SHARE.saturating_mul(free)
        {
            return Some(OverCapacity::Share("address", from_address));
        }
        // A quota is a share that somebody has thought about.
        let shares = |caller: &&Arc<Caller>| several_tokens && caller.streams().is_none();
        let of_token = caller.filter(shares).map(|caller| held(caller.open_calls()));
        of_token
            .filter(|&of_token| of_token > GROUP_SHARE.saturating_mul(free))
            .map(|n| OverCapacity::Share("token", n))
    }

    fn add(&mut self, state: &Arc<CallState>) {
        self.arriving += 1;
        count_one(state, ConnectionHandle::arriving_calls);
        metrics::call_opened(state.caller().and_then(|caller| caller.name()));
        let call = OpenCall { state: Arc::clone(state), moved: 0, still_since: Instant::now() };
        let place = self.free_places.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(call);
        state.set_place(Some(place));
    }

    /// Makes a call that is arriving one that holds a place.
    fn hold(&mut self, state: &CallState) {
        self.arriving -= 1;
        uncount_one(state, ConnectionHandle::arriving_calls);
        self.holding += 1;
        count_one(state, ConnectionHandle::open_calls);
        if let Some(address) = state.connection.peer().shared_address() {
            *self.by_address.entry(address).or_default() += 1;
        }
        if let Some(caller) = state.caller() {
            caller.open_calls().fetch_add(1, Ordering::Relaxed);
        }
        state.begun();
    }

    fn remove(&mut self, state: &Arc<CallState>) {
        // It may have been ended for another one, which has its place now.
        let Some(place) = state.set_place(None) else { return };
        self.places[place] = None;
        self.free_places.push(place);
        metrics::call_closed(state.caller().and_then(|caller| caller.name()));
        if !state.has_begun() {
            self.arriving -= 1;
            return uncount_one(state, ConnectionHandle::arriving_calls);
        }
        self.holding -= 1;
        uncount_one(state, ConnectionHandle::open_calls);
        state.connection.has_become_idle();
        if let Some(address) = state.connection.peer().shared_address()
            && let Some(count) = self.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
        if let Some(caller) = state.caller() {
            caller.open_calls().fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Notes which calls have moved since the last look.
    fn look(&mut self) {
        let now = Instant::now();
        for call in self.places.iter_mut().flatten() {
            let moved = call.state.moved();
            if moved != call.moved || !call.state.waits_for_client() {
                (call.moved, call.still_since) = (moved, now);
            }
        }
    }

    /// Ends the call that has been idle for longest, if for the time-out at least and on a
    /// connection with more calls than the newcomer's. Whether there was one.
    fn end_idle(&mut self, newcomer: &CallState, timeout: Duration) -> bool {
        self.look();
        let held = |state: &CallState| state.connection.open_calls().load(Ordering::Relaxed);
        let own = held(newcomer);
        let idle = self
            .calls()
            .filter(|call| call.state.has_begun() && held(&call.state) > own)
            .filter(|call| call.still_since.elapsed() >= timeout)
            .min_by_key(|call| call.still_since)
            .map(|call| Arc::clone(&call.state));
        let Some(idle) = idle else { return false };
        metrics::ended_idle();
        tracing::debug!(peer = %idle.connection.peer(), "an idle call is ended for another one");
        idle.end(EndReason::Idle(timeout));
        self.remove(&idle);
        true
    }

    /// Ends the call that has been arriving for longest, on the connection with most of them.
    fn end_arriving(&mut self, limit: usize) {
        let on_connection = |state: &CallState| state.connection.arriving_calls().load(Ordering::Relaxed);
        let arriving = self.calls().filter(|call| !call.state.has_begun());
        let Some(last) = arriving
            .min_by_key(|call| (Reverse(on_connection(&call.state)), call.still_since))
            .map(|call| Arc::clone(&call.state))
        else {
            return;
        };
        metrics::refused("not_whole");
        tracing::debug!(peer = %last.connection.peer(), "a call without a whole message is ended for another one");
        last.end(EndReason::NotWhole(limit));
        self.remove(&last);
    }
}

/// Counts a call on its connection, if it has one.
fn count_one(state: &CallState, count: fn(&ConnectionHandle) -> &AtomicUsize) {
    if state.connection.number() > 0 {
        count(&state.connection).fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes that back.
fn uncount_one(state: &CallState, count: fn(&ConnectionHandle) -> &AtomicUsize) {
    if state.connection.number() > 0 {
        count(&state.connection).fetch_sub(1, Ordering::Relaxed);
    }
}

/// The layer that lets calls in.
#[derive(Clone)]
pub(crate) struct AdmissionLayer {
    pub(crate) tokens: Option<Arc<Tokens>>,
    pub(crate) admission: Arc<Admission>,
    /// The most bytes of headers of a call.
    pub(crate) header_bytes: usize,
    /// Where long messages are unpacked.
    pub(crate) aside: Aside,
}

impl<S> Layer<S> for AdmissionLayer {
    type Service = AdmissionService<S>;

    fn layer(&self, inner: S) -> AdmissionService<S> {
        AdmissionService { settings: self.clone(), inner }
    }
}

/// The service inside an [`AdmissionLayer`].
#[derive(Clone)]
pub(crate) struct AdmissionService<S> {
    settings: AdmissionLayer,
    inner: S,
}

impl<S> Service<Request<Body>> for AdmissionService<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = AdmissionFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        // Inner layers that log headers hide a sensitive one.
        if let Some(header) = request.headers_mut().get_mut(AUTHORIZATION) {
            header.set_sensitive(true);
        }
        let progress = request.extensions().get::<Arc<BodyProgress>>().cloned();
        match self.settings.admit(&request) {
            Ok((state, take_place)) => {
                let is_single = !is_bidirectional(request.uri().path());
                let framing = self.settings.admission.limits().framing;
                let encoding = Encoding::take(request.headers_mut());
                let request = request.map(|body| {
                    let whole = WholeMessages::new(
                        body,
                        framing,
                        is_single,
                        Arc::clone(&state),
                        progress,
                        take_place,
                    );
                    match encoding {
                        None => Body::new(whole),
                        Some(encoding) => {
                            let (limit, aside) = (framing.message_bytes, Arc::clone(&self.settings.aside));
                            Body::new(Unpacked::new(whole, encoding, limit, state, aside))
                        }
                    }
                });
                AdmissionFuture::Admitted(Box::pin(self.inner.call(request)))
            }
            Err(status) => {
                // A body that is translated is drained when it is dropped, without the translation.
                if progress.is_none() {
                    drain(request.into_body());
                }
                AdmissionFuture::Refused(Some(status.into_http()))
            }
        }
    }
}

impl AdmissionLayer {
    /// Lets a call in.
    ///
    /// # Errors
    /// The status of one that is not.
    fn admit(&self, request: &Request<Body>) -> Result<(Arc<CallState>, TakePlace), Status> {
        if headers_len(request.headers()) > self.header_bytes {
            metrics::refused("header_bytes");
            return Err(message_over_limit("header-bytes", ("byte", "of headers"), self.header_bytes));
        }
        let state = request.extensions().get::<Arc<CallState>>().cloned().unwrap_or_default();
        let mut several_tokens = false;
        if let Some(tokens) = &self.tokens
            && !request.uri().path().starts_with(HEALTH_SERVICE)
        {
            let header = request.headers().get(AUTHORIZATION);
            let token = header.and_then(|header| token_in(header.as_bytes()));
            let caller = token.and_then(|token| tokens.caller(token)).ok_or_else(|| {
                metrics::refused("token");
                unauthenticated(token.is_some())
            })?;
            state.identify(caller);
            several_tokens = tokens.are_several();
        }
        if request.method() != Method::POST {
            metrics::refused("method");
            return Err(not_posted());
        }
        deadline::check(request.headers()).map_err(|problem| {
            metrics::refused("timeout_header");
            header_invalid("grpc-timeout", problem)
        })?;
        let needs_place = request.uri().path() != HEALTH_CHECK;
        self.admission.enter(&state, needs_place, several_tokens)?;
        let (admission, call) = (Arc::clone(&self.admission), Arc::clone(&state));
        let take_place: TakePlace = if needs_place {
            Box::new(move || admission.take_place(&call, several_tokens))
        } else {
            Box::new(|| Ok(()))
        };
        Ok((state, take_place))
    }
}

/// The size of headers as HTTP/2 counts it.
pub(crate) fn headers_len(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}

/// The future of a call that was admitted, or of a refusal.
pub(crate) enum AdmissionFuture<F> {
    Admitted(Pin<Box<F>>),
    Refused(Option<Response<Body>>),
}

impl<F, E> Future for AdmissionFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        match &mut *self {
            Self::Admitted(response) => response.as_mut().poll(cx),
            // A future is not polled again after it was ready, so there is a response.
            Self::Refused(response) => Poll::Ready(Ok(response.take().unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tonic_types::StatusExt as _;

    use super::*;
    use crate::service::net::deadline::Deadline;
    use crate::service::net::handle::{ConnectionHandle, Peer};

    fn connection(address: &str) -> ConnectionHandle {
        ConnectionHandle::new(Peer::Network(address.parse::<SocketAddr>().unwrap()))
    }

    fn capacity(calls: usize) -> Arc<Admission> {
        let framing = FramingLimits { message_bytes: 1000, timeout: Duration::from_secs(1) };
        Admission::new(AdmissionLimits { calls, idle_timeout: Duration::from_millis(100), framing })
    }

    /// Lets in a call with its first message.
    fn take(admission: &Admission, state: &Arc<CallState>) -> Result<(), Status> {
        admission.enter(state, true, false)?;
        let taken = admission.take_place(state, false);
        if taken.is_err() {
            admission.leave(state);
        }
        taken
    }

    /// Lets in as many calls of a connection as there is capacity for.
    fn fill(admission: &Admission, connection: &ConnectionHandle) -> Vec<Arc<CallState>> {
        let call = || {
            let state = CallState::new(connection.clone(), Deadline::default());
            take(admission, &state).is_ok().then_some(state)
        };
        std::iter::from_fn(call).collect()
    }

    #[tokio::test]
    async fn there_is_capacity_however_many_connections_take_their_share() {
        let admission = capacity(256);
        let mut held = Vec::new();
        for share in [171, 57, 19, 6, 2] {
            let calls = fill(&admission, &connection("127.0.0.1:1"));
            assert!(calls.len().abs_diff(share) <= 1, "{} instead of {share}", calls.len());
            held.extend(calls);
        }
        for state in &held {
            admission.leave(state);
            // A call that has left cannot leave again.
            admission.leave(state);
        }
        assert_eq!(admission.open_calls(), 0);
        for limit in [1, 2] {
            assert_eq!(fill(&capacity(limit), &connection("127.0.0.1:1")).len(), limit, "all there are");
        }
    }

    #[tokio::test]
    async fn an_address_leaves_capacity_for_others() {
        let admission = capacity(100);
        let from = |address: &str| -> usize {
            (0..100).map(|_| fill(&admission, &connection(address)).len()).sum::<usize>()
        };
        let first = from("192.0.2.1:5");
        assert!((75..=77).contains(&first), "{first}");
        assert!(from("192.0.2.2:5") > 10);
        // The machine itself may be a proxy.
        let admission = capacity(100);
        let held: usize = (0..100).map(|_| fill(&admission, &connection("127.0.0.1:5")).len()).sum();
        assert_eq!(held, 100);
    }

    #[tokio::test]
    async fn an_idle_call_is_ended_for_another_and_a_busy_one_is_not() {
        let admission = capacity(4);
        let greedy = connection("127.0.0.1:1");
        let calls = fill(&admission, &greedy);
        assert_eq!(calls.len(), 3);
        let others: Vec<_> = (0..2).flat_map(|_| fill(&admission, &connection("127.0.0.1:2"))).collect();
        assert_eq!(others.len(), 1, "the last place");
        for busy in [&calls[0], &calls[2], &others[0]] {
            busy.owes(1);
        }
        let newcomer = || CallState::new(connection("127.0.0.1:3"), Deadline::default());
        assert!(take(&admission, &newcomer()).is_err(), "nothing is idle yet");
        assert!(admission.is_crowded());
        sleep(Duration::from_millis(150)).await;
        take(&admission, &newcomer()).unwrap();
        assert!(take(&admission, &newcomer()).is_err(), "only the idle one has made way");
        let woken = std::future::poll_fn(|cx| Poll::Ready(calls[1].request_ends(cx))).await;
        assert_eq!(woken, Some(EndReason::Idle(Duration::from_millis(100))));
        let info = woken.unwrap().status().get_details_error_info().unwrap();
        assert_eq!(info.metadata["value"], "0.1", "{info:?}");
        assert_eq!(std::future::poll_fn(|cx| Poll::Ready(calls[0].request_ends(cx))).await, None);
        assert_eq!(admission.open_calls(), 4);
        admission.leave(&calls[1]);
        assert_eq!(admission.open_calls(), 4, "it has left already");
    }

    #[tokio::test]
    async fn calls_without_a_whole_message_keep_nobody_out() {
        const CALLS: usize = 100;
        let admission = capacity(CALLS);
        let arrive = |address: &str| {
            let state = CallState::new(connection(address), Deadline::default());
            admission.enter(&state, true, false).unwrap();
            state
        };
        let slow: Vec<_> = (0..2 * CALLS).map(|_| arrive("127.0.0.1:1")).collect();
        assert_eq!(admission.open_calls(), CALLS);
        let ending = |state: &CallState| state.ending();
        assert!(slow[..CALLS].iter().all(|state| ending(state) == Some(EndReason::NotWhole(CALLS))));
        assert!(slow[CALLS..].iter().all(|state| ending(state).is_none()));
        assert!(admission.take_place(&slow[0], false).is_err(), "it has no place to come to");
        // All the others have is theirs.
        assert!((66..=67).contains(&fill(&admission, &connection("127.0.0.1:2")).len()));
        // The last to go are those of a connection with fewer of them.
        let one = arrive("127.0.0.1:3");
        let many = connection("127.0.0.1:4");
        let many: Vec<_> = (0..2 * CALLS)
            .map(|_| {
                let state = CallState::new(many.clone(), Deadline::default());
                admission.enter(&state, true, false).unwrap();
                state
            })
            .collect();
        assert!(one.ending().is_none() && many[0].ending().is_some());
        admission.take_place(&one, false).unwrap();
        for _ in 0..2 * HEALTH_CHECKS {
            let check = CallState::new(connection("127.0.0.1:5"), Deadline::default());
            admission.enter(&check, false, false).unwrap();
        }
    }
}
