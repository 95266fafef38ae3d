//! The context that all calls share: worker pools, strategies, data sets, limits, and the drain
//! signal.
//!
//! **Invariant:** a call holds a permit from [`Context::admit`] until it has ended, so
//! [`Context::idle`] returns only when all have. How many there may be is not decided here but
//! before a call gets here, in [`crate::service::net::admission`].

use std::sync::{Arc, RwLock};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::sleep;
use tonic::{Request, Status};

use crate::answer::{Cancel, Cancelled, CanonTask, Canonizers, IdleCanonizers, IdleSolvers, Solvers, Task};
use crate::poison::IgnorePoison as _;
use crate::service::config::Limits;
use crate::service::datasets::Datasets;
use crate::service::metrics;
use crate::service::net::call::CallState;
use crate::service::net::deadline::Deadline;
use crate::service::net::tokens::Caller;
use crate::service::sched::pools::{CallWork, CancelOnDrop, WorkSize, WorkerPools};
use crate::service::sched::turns::Client;
use crate::service::wire::status::{
    beyond_puzzles_quota, message_over_limit, puzzles_quota_reached, shutting_down, work_broke_down,
};
use crate::solver::Strategy;
use crate::text::Format;

/// The context that all calls share.
pub(crate) struct Context {
    /// The worker pools.
    pub(crate) pools: Arc<WorkerPools>,
    /// The strategies that clients may name, the default first.
    pub(crate) strategies: &'static [&'static dyn Strategy],
    /// The limits on clients, which can change.
    limits: RwLock<Limits>,
    /// The data sets, if there is a data directory.
    pub(crate) datasets: Option<Datasets>,
    idle_solvers: Arc<IdleSolvers>,
    idle_canonizers: IdleCanonizers,
    calls: Arc<Semaphore>,
    draining: watch::Receiver<bool>,
}

/// The number of calls that can be counted, more than there are connections and memory for.
const ALL_CALLS: u32 = u32::MAX >> 3;

/// The longest wait for a quota of puzzles in a call with one response; beyond it is refused.
const MAX_QUOTA_WAIT: Duration = Duration::from_secs(1);

/// An open call of the service.
pub(crate) struct Call {
    /// The client's deadline.
    pub(crate) deadline: Deadline,
    /// What the layers around it know of it.
    pub(crate) state: Arc<CallState>,
    /// Whether it is a stream of messages, which waits for its client between them.
    is_stream: bool,
    _permit: OwnedSemaphorePermit,
}

impl Call {
    /// Makes it a stream of messages. It may be ended for others while it waits for its client.
    pub(crate) fn into_stream(mut self) -> Self {
        if !std::mem::replace(&mut self.is_stream, true) {
            self.state.gave(1);
        }
        self
    }

    /// Records that a message of a stream has its response.
    pub(crate) fn gave(&self) {
        if self.is_stream {
            self.state.gave(1);
        }
    }

    /// Takes the puzzles of a message off the quota of the call's token, and waits until it covers
    /// them.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if that takes longer than a second.
    pub(crate) async fn take_puzzles(&self, puzzles: u64) -> Result<(), Status> {
        self.state.read(1, puzzles);
        let Some(caller) = self.state.caller() else { return Ok(()) };
        let taken = TakenPuzzles::take(caller, puzzles);
        if let Some(quota) = caller.puzzles_per_second()
            && taken.wait > MAX_QUOTA_WAIT
        {
            metrics::refused("quota");
            // A second's worth may be asked for at once, and another one waited for.
            let most = u64::from(quota) * (1 + MAX_QUOTA_WAIT.as_secs());
            return Err(if puzzles > most {
                beyond_puzzles_quota(quota, puzzles, most)
            } else {
                puzzles_quota_reached(quota, taken.wait.saturating_sub(MAX_QUOTA_WAIT))
            });
        }
        self.deadline.limit(taken.covered()).await
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_stream {
            self.state.gave(1);
        }
    }
}

/// Puzzles that were taken off the quota of a token. They are given back if the call ends before
/// the quota covers them, because then nothing is done about them.
pub(crate) struct TakenPuzzles<'a> {
    caller: &'a Caller,
    puzzles: u64,
    /// How long it takes until the quota covers them.
    wait: Duration,
    is_covered: bool,
}

impl<'a> TakenPuzzles<'a> {
    /// Takes them off the quota of a token.
    pub(crate) fn take(caller: &'a Caller, puzzles: u64) -> Self {
        Self { caller, puzzles, wait: caller.take_puzzles(puzzles), is_covered: false }
    }

    /// Whether the quota does not cover them yet.
    pub(crate) const fn waits(&self) -> bool {
        !self.wait.is_zero()
    }

    /// Waits until the quota covers them, and counts them.
    pub(crate) async fn covered(mut self) {
        if self.waits() {
            sleep(self.wait).await;
        }
        self.is_covered = true;
        if let Some(name) = self.caller.name() {
            metrics::client_puzzles(name, self.puzzles);
        }
    }
}

impl Drop for TakenPuzzles<'_> {
    fn drop(&mut self) {
        if !self.is_covered {
            self.caller.give_back_puzzles(self.puzzles);
        }
    }
}

impl Context {
    pub(crate) fn new(
        pools: WorkerPools,
        strategies: &'static [&'static dyn Strategy],
        limits: Limits,
        datasets: Option<Datasets>,
        draining: watch::Receiver<bool>,
    ) -> Self {
        Self {
            idle_solvers: Arc::new(IdleSolvers::new(pools.threads())),
            idle_canonizers: IdleCanonizers::default(),
            pools: Arc::new(pools),
            strategies,
            limits: RwLock::new(limits),
            datasets,
            calls: Arc::new(Semaphore::new(ALL_CALLS as usize)),
            draining,
        }
    }

    /// The limits on clients as they are now.
    pub(crate) fn limits(&self) -> Limits {
        *self.limits.read().ignore_poison()
    }

    /// Changes the limits for what comes from now on.
    pub(crate) fn set_limits(&self, limits: Limits) {
        *self.limits.write().ignore_poison() = limits;
    }

    /// Begins a call that was let in.
    ///
    /// # Errors
    /// `UNAVAILABLE` while the server is shutting down.
    pub(crate) fn admit<T>(&self, request: &Request<T>) -> Result<Call, Status> {
        let permit = Arc::clone(&self.calls).try_acquire_owned().ok().filter(|_| !self.is_draining());
        let Some(permit) = permit else {
            metrics::refused("shutting_down");
            return Err(shutting_down());
        };
        let state = request.extensions().get::<Arc<CallState>>().cloned().unwrap_or_default();
        state.owes(1);
        Ok(Call { deadline: state.deadline, state, is_stream: false, _permit: permit })
    }

    /// Refuses a message with too many lines.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`.
    pub(crate) fn check_lines(&self, lines: usize) -> Result<(), Status> {
        let limit = self.limits().message_lines;
        if lines > limit {
            Err(message_over_limit("message-lines", ("line", "in a message"), limit))
        } else {
            Ok(())
        }
    }

    /// Runs the job of a unary call on a text of some size. It is cancelled if the returned future
    /// is dropped.
    ///
    /// # Errors
    /// `DEADLINE_EXCEEDED`; `INTERNAL` if the job panicked.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        call: &Call,
        size: WorkSize,
        job: impl Fn(&dyn Cancel) -> Result<R, Cancelled> + Send + Sync + 'static,
    ) -> Result<R, Status> {
        let call_work = CancelOnDrop(self.new_work(&call.state));
        let work = async {
            let job = Arc::new(move |(): &(), cancel: &dyn Cancel| job(cancel));
            let permit = self.pools.permit(&call_work.0, size).await;
            let mut slots = self.pools.start(&call_work.0, permit, vec![()], job).await;
            match slots.pop() {
                Some(slot) => slot.await.ok(),
                None => None,
            }
        };
        match call.deadline.limit(work).await? {
            Some(Ok(result)) => Ok(result),
            Some(Err(Cancelled)) | None => Err(work_broke_down()),
        }
    }

    /// The work of a call in the pools.
    pub(crate) fn new_work(&self, state: &CallState) -> Arc<CallWork> {
        self.pools.new_call(self.client(state))
    }

    /// The client of a call, whose turns its work takes.
    pub(crate) fn client(&self, state: &CallState) -> Arc<Client> {
        self.pools.client(state.turns())
    }

    /// The solvers for puzzles of this format. Calls share them, so calls that wait for their
    /// clients hold none.
    pub(crate) fn solvers(&self, format: Format, task: Task) -> Solvers {
        Solvers::sharing(&self.idle_solvers, format, task)
    }

    /// What makes canonical forms of 9x9 puzzles of this format. Calls share it too.
    pub(crate) fn canonizers(&self, format: Format, task: CanonTask) -> Canonizers {
        Canonizers::sharing(&self.idle_canonizers, format, task)
    }

    /// The idle solvers that calls share.
    pub(crate) const fn idle_solvers(&self) -> &Arc<IdleSolvers> {
        &self.idle_solvers
    }

    /// Whether the server is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns when the server begins to shut down.
    pub(crate) async fn draining(&self) {
        // An error means that the server is gone, which ends everything as well.
        let _ = self.draining.clone().wait_for(|&draining| draining).await;
    }

    /// Returns when no call is open.
    pub(crate) async fn idle(&self) {
        let _ = self.calls.acquire_many(ALL_CALLS).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn puzzles_that_a_quota_does_not_cover_yet_are_given_back() {
        let caller = Caller::with_puzzles_per_second(1);
        let taken = TakenPuzzles::take(&caller, 1_000);
        // It waits for a quarter of an hour, and its call ends before that.
        tokio::time::timeout(Duration::ZERO, taken.covered()).await.unwrap_err();
        assert_eq!(caller.take_puzzles(1), Duration::ZERO);
    }
}
