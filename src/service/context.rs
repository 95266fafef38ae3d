//! The context that all calls share: worker pools, strategies, data sets, limits, and the drain
//! signal.
//!
//! **Invariant:** a call holds a permit from [`Context::admit`] until it has ended, so no more than
//! `Limits::streams` calls are open, and [`Context::idle`] returns only when all have ended.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::{Request, Status};

use crate::answer::{Cancel, Cancelled, IdleWorkers, Task, Workers};
use crate::service::config::Limits;
use crate::service::datasets::Datasets;
use crate::service::metrics::{self, OpenCall};
use crate::service::net::deadline::Deadline;
use crate::service::net::handle::ConnectionHandle;
use crate::service::sched::pools::{CancelOnDrop, Size, WorkerPools};
use crate::service::wire::status::{MAX_STREAMS, busy, message_over_limit, shutting_down, work_broke_down};
use crate::solver::Strategy;
use crate::text::Format;

/// The context that all calls share.
pub(crate) struct Context {
    /// The worker pools.
    pub(crate) pools: Arc<WorkerPools>,
    /// The strategies that clients may name, the default first.
    pub(crate) strategies: &'static [&'static dyn Strategy],
    /// The limits on clients.
    pub(crate) limits: Limits,
    /// The data sets, if there is a data directory.
    pub(crate) datasets: Option<Datasets>,
    idle_workers: Arc<IdleWorkers>,
    calls: Arc<Semaphore>,
    draining: watch::Receiver<bool>,
}

/// An admitted call. Dropping it admits another one.
pub(crate) struct Call {
    /// The client's deadline.
    pub(crate) deadline: Deadline,
    /// The handle of its connection.
    pub(crate) handle: Option<ConnectionHandle>,
    _permit: OwnedSemaphorePermit,
    _meter: OpenCall,
}

impl Call {
    /// Closes the connection of a client that does not take its answers.
    pub(crate) fn cut_off(&self) {
        cut_off(self.handle.as_ref());
    }
}

/// Closes the connection of a client that does not take its answers, where the [`Call`] is not at
/// hand.
pub(crate) fn cut_off(handle: Option<&ConnectionHandle>) {
    tracing::info!("closing the connection of a client that does not read its answers");
    metrics::refused("idle_timeout");
    if let Some(handle) = handle {
        handle.close();
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
            idle_workers: Arc::new(IdleWorkers::new(pools.threads())),
            pools: Arc::new(pools),
            strategies,
            limits,
            datasets,
            calls: Arc::new(Semaphore::new(limits.streams.min(Semaphore::MAX_PERMITS))),
            draining,
        }
    }

    /// Admits a call.
    ///
    /// # Errors
    /// `UNAVAILABLE` while the server is shutting down, `RESOURCE_EXHAUSTED` while too many calls
    /// are open.
    pub(crate) fn admit<T>(&self, request: &Request<T>) -> Result<Call, Status> {
        if self.is_draining() {
            metrics::refused("shutting_down");
            return Err(shutting_down());
        }
        let permit = Arc::clone(&self.calls).try_acquire_owned().map_err(|_| {
            metrics::refused("max_streams");
            busy(MAX_STREAMS, "calls open at once", self.limits.streams)
        })?;
        let deadline = Deadline::of(request.metadata());
        let handle = request.extensions().get::<ConnectionHandle>().cloned();
        Ok(Call { deadline, handle, _permit: permit, _meter: OpenCall::new() })
    }

    /// Refuses a message with too many lines.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`.
    pub(crate) fn check_lines(&self, lines: usize) -> Result<(), Status> {
        let limit = self.limits.message_lines;
        if lines > limit {
            Err(message_over_limit("message-lines", "lines in a message", limit))
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
        size: Size,
        job: impl Fn(&dyn Cancel) -> Result<R, Cancelled> + Send + Sync + 'static,
    ) -> Result<R, Status> {
        let call_work = CancelOnDrop(self.pools.new_call());
        let work = async {
            let job = Arc::new(move |(): &(), cancel: &dyn Cancel| job(cancel));
            let permit = self.pools.permit(size).await;
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

    /// The workers for puzzles of this format. Calls share them, so calls that wait for their
    /// clients hold none.
    pub(crate) fn workers(&self, format: Format, task: Task) -> Workers {
        Workers::sharing(&self.idle_workers, format, task)
    }

    /// The idle workers that calls share.
    pub(crate) const fn idle_workers(&self) -> &Arc<IdleWorkers> {
        &self.idle_workers
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
        let all = u32::try_from(self.limits.streams).unwrap_or(u32::MAX);
        let _ = self.calls.acquire_many(all).await;
    }
}
