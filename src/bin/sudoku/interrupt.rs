//! SIGINT and SIGTERM: the first stops the run cleanly, the second at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::EXIT_INTERRUPTED;

/// How often someone who waits looks at the flag.
const POLL: Duration = Duration::from_millis(20);

/// Does work that may wait for ever, such as for the other end of a pipe, on a thread of its own. `None` if the flag
/// is raised before it is done; the work is then left to itself.
pub fn unless_raised<T: Send + 'static>(
    flag: &AtomicBool,
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<Option<T>> {
    let (sender, result) = mpsc::channel();
    thread::Builder::new().name("reader".to_owned()).spawn(move || {
        // Nobody waits any more after an interrupt.
        let _ = sender.send(work());
    })?;
    while !flag.load(Ordering::Relaxed) {
        match result.recv_timeout(POLL) {
            Ok(result) => return result.map(Some),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("The thread that reads the input broke down."),
        }
    }
    Ok(None)
}

/// The flag of this process that the first signal raises.
pub fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(EXIT_INTERRUPTED.into());
        }
    })
    .context("Signals cannot be handled")?;
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}
