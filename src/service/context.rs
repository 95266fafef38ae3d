//! What all calls share: the pool, the limits, and the word that the server is shutting down.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::{Request, Status};

use super::config::Limits;
use super::connection::Link;
use super::crew::{Caller, Crew, LeaveOnDrop, Size};
use super::datasets::Datasets;
use super::deadline::Deadline;
use super::meters::{self, OpenCall};
use super::refusal::{broken_down, exhausted, shutting_down, too_much};
use crate::answer::{Cancelled, IdleWorkers, Rein, Task, Workers};
use crate::solver::Strategy;
use crate::text::Format;

/// The name of the limit on calls open at once, by which our client tells it from others: there is room again in a while.
pub(super) const MAX_STREAMS: &str = "max-streams";

/// What all calls share.
pub(super) struct Context {
    /// The threads that search.
    pub(super) crew: Arc<Crew>,
    /// The strategies that clients may name, the default first.
    pub(super) strategies: &'static [&'static dyn Strategy],
    /// What clients may take.
    pub(super) limits: Limits,
    /// The data sets, if there is a folder of them.
    pub(super) datasets: Option<Datasets>,
    idle_workers: Arc<IdleWorkers>,
    calls: Arc<Semaphore>,
    draining: watch::Receiver<bool>,
}

/// A call that has been let in. Dropping it makes room for another one.
pub(super) struct Call {
    /// When it has to be over.
    pub(super) deadline: Deadline,
    /// The way to its connection.
    pub(super) link: Option<Link>,
    _permit: OwnedSemaphorePermit,
    _meter: OpenCall,
}

impl Call {
    /// Closes the connection of a client that does not take its answers.
    pub(super) fn cut_off(&self) {
        cut_off(self.link.as_ref());
    }
}

/// See [`Call::cut_off`].
pub(super) fn cut_off(link: Option<&Link>) {
    tracing::info!("a client does not take its answers: its connection is closed");
    meters::refused("idle_timeout");
    if let Some(link) = link {
        link.cut();
    }
}

impl Context {
    pub(super) fn new(
        crew: Crew,
        strategies: &'static [&'static dyn Strategy],
        limits: Limits,
        datasets: Option<Datasets>,
        draining: watch::Receiver<bool>,
    ) -> Self {
        Self {
            idle_workers: Arc::new(IdleWorkers::new(crew.threads())),
            crew: Arc::new(crew),
            strategies,
            limits,
            datasets,
            calls: Arc::new(Semaphore::new(limits.streams.min(Semaphore::MAX_PERMITS))),
            draining,
        }
    }

    /// Lets a call in.
    ///
    /// # Errors
    /// `UNAVAILABLE` while the server is shutting down, `RESOURCE_EXHAUSTED` while too many calls are open.
    pub(super) fn admit<T>(&self, request: &Request<T>) -> Result<Call, Status> {
        if self.is_draining() {
            meters::refused("shutting_down");
            return Err(shutting_down());
        }
        let permit = Arc::clone(&self.calls).try_acquire_owned().map_err(|_| {
            meters::refused("max_streams");
            exhausted(MAX_STREAMS, "calls open at once", self.limits.streams)
        })?;
        let deadline = Deadline::of(request.metadata());
        let link = request.extensions().get::<Link>().cloned();
        Ok(Call { deadline, link, _permit: permit, _meter: OpenCall::new() })
    }

    /// Refuses a message with too many lines.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`.
    pub(super) fn check_lines(&self, lines: usize) -> Result<(), Status> {
        let limit = self.limits.message_lines;
        if lines > limit { Err(too_much("message-lines", "lines in a message", limit)) } else { Ok(()) }
    }

    /// Runs the work of a unary call on a text of some size. It is told to stop if the call is given up.
    ///
    /// # Errors
    /// `DEADLINE_EXCEEDED`; `INTERNAL` if the job panicked.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        call: &Call,
        size: Size,
        job: impl Fn(&dyn Rein) -> Result<R, Cancelled> + Send + Sync + 'static,
    ) -> Result<R, Status> {
        let caller = LeaveOnDrop(self.caller());
        let work = async {
            let job = Arc::new(move |(): &(), rein: &dyn Rein| job(rein));
            let turn = self.crew.turn(size).await;
            let mut slots = self.crew.start(&caller.0, turn, vec![()], job).await;
            match slots.pop() {
                Some(slot) => slot.await.ok(),
                None => None,
            }
        };
        match call.deadline.limit(work).await? {
            Some(Ok(result)) => Ok(result),
            Some(Err(Cancelled)) | None => Err(broken_down()),
        }
    }

    /// What answers puzzles of this format. Calls share the workers, so that those that wait for their clients hold none.
    pub(super) fn workers(&self, format: Format, task: Task) -> Workers {
        Workers::sharing(&self.idle_workers, format, task)
    }

    /// The workers that calls share.
    pub(super) const fn idle_workers(&self) -> &Arc<IdleWorkers> {
        &self.idle_workers
    }

    /// A call that brings work for the threads.
    pub(super) fn caller(&self) -> Arc<Caller> {
        Caller::new(self.crew.threads())
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
