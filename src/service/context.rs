//! What all calls share: the pool, the limits, and the word that the server is shutting down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::ThreadPool;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::{Code, Request, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use super::config::Limits;
use super::datasets::Datasets;
use super::deadline::Deadline;
use super::meters::{self, OpenCall, RunningBatch, WaitingBatch};
use crate::pipeline::submit;
use crate::solver::Strategy;

/// What all calls share.
pub(super) struct Context {
    /// The threads that search.
    pub(super) pool: Arc<ThreadPool>,
    /// The strategies that clients may name, the default first.
    pub(super) strategies: &'static [&'static dyn Strategy],
    /// What clients may take.
    pub(super) limits: Limits,
    /// The data sets, if there is a folder of them.
    pub(super) datasets: Option<Datasets>,
    calls: Arc<Semaphore>,
    in_flight: Arc<Semaphore>,
    draining: watch::Receiver<bool>,
}

/// A call that has been let in. Dropping it makes room for another one.
pub(super) struct Call {
    /// When it has to be over.
    pub(super) deadline: Deadline,
    _permit: OwnedSemaphorePermit,
    _meter: OpenCall,
}

impl Context {
    pub(super) fn new(
        pool: ThreadPool,
        strategies: &'static [&'static dyn Strategy],
        limits: Limits,
        datasets: Option<Datasets>,
        draining: watch::Receiver<bool>,
    ) -> Self {
        let pool = Arc::new(pool);
        let in_flight = limits.in_flight.map_or(2 * pool.current_num_threads(), Into::into);
        Self {
            pool,
            strategies,
            limits,
            datasets,
            calls: Arc::new(Semaphore::new(limits.streams)),
            in_flight: Arc::new(Semaphore::new(in_flight)),
            draining,
        }
    }

    /// Lets a call in.
    ///
    /// # Errors
    /// `UNAVAILABLE` while the server is shutting down, `RESOURCE_EXHAUSTED` while too many calls are open.
    pub(super) fn admit<T>(&self, method: &'static str, request: &Request<T>) -> Result<Call, Status> {
        if self.is_draining() {
            meters::refused("shutting_down");
            return Err(shutting_down());
        }
        let permit = Arc::clone(&self.calls).try_acquire_owned().map_err(|_| {
            meters::refused("max_streams");
            exhausted("max-streams", "calls open at once", self.limits.streams)
        })?;
        let deadline = Deadline::of(request.metadata());
        Ok(Call { deadline, _permit: permit, _meter: OpenCall::of(method) })
    }

    /// Refuses a message with too many lines.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`.
    pub(super) fn check_lines(&self, lines: usize) -> Result<(), Status> {
        let limit = self.limits.message_lines;
        if lines > limit { Err(exhausted("message-lines", "lines in a message", limit)) } else { Ok(()) }
    }

    /// Waits for the right to start a batch. Whoever asks first gets it first, so that calls take turns.
    pub(super) async fn turn(&self) -> Turn {
        let waiting = WaitingBatch::new();
        // The semaphore is never closed, so this is always a permit.
        let permit = Arc::clone(&self.in_flight).acquire_owned().await.ok();
        drop(waiting);
        Turn { _permit: permit, _meter: RunningBatch::new() }
    }

    /// Runs the work of a unary call on the pool. It is told to stop if the call is given up.
    ///
    /// # Errors
    /// `DEADLINE_EXCEEDED`; `INTERNAL` if the job panicked.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        call: &Call,
        job: impl FnOnce(&AtomicBool) -> R + Send + 'static,
    ) -> Result<R, Status> {
        let cancel = CancelOnDrop::default();
        let flag = cancel.flag();
        let work = async {
            let turn = self.turn().await;
            let slot = submit(&self.pool, move || {
                let _turn = turn;
                job(&flag)
            });
            slot.await
        };
        call.deadline.limit(work).await?.map_err(|_| broken_down())
    }

    /// Is the server shutting down?
    pub(super) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns when the server begins to shut down.
    pub(super) async fn draining(&self) {
        // An error means that the server is gone, which is as good a reason to stop.
        let _ = self.draining.clone().wait_for(|&draining| draining).await;
    }

    /// Returns when no call is open.
    pub(super) async fn idle(&self) {
        let all = u32::try_from(self.limits.streams).unwrap_or(u32::MAX);
        let _ = self.calls.acquire_many(all).await;
    }
}

/// The right to have one batch on the pool.
pub(super) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
    _meter: RunningBatch,
}

/// Raises its flag when it is dropped: whoever waited for the work has left.
#[derive(Debug, Default)]
pub(super) struct CancelOnDrop(Arc<AtomicBool>);

impl CancelOnDrop {
    /// The flag that jobs look at.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The status of calls that end, or do not begin, because the server is shutting down.
pub(super) fn shutting_down() -> Status {
    Status::unavailable(
        "The server is shutting down. What it read has been answered; send the rest elsewhere.",
    )
}

/// The status of a call whose work broke down and cannot be answered for.
pub(super) fn broken_down() -> Status {
    Status::internal("The work on this call broke down; the server's log says more.")
}

/// The status of a call that met a limit.
pub(super) fn exhausted(name: &str, what: &str, limit: usize) -> Status {
    let message = format!("This server's limit of {limit} {what} is reached.");
    let details = ErrorDetails::with_quota_failure_violation(name, message.clone());
    Status::with_error_details(Code::ResourceExhausted, message, details)
}
