//! SIGINT and SIGTERM: the first stops the run cleanly, the second at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use super::EXIT_INTERRUPTED;

/// A flag that is raised by the first signal. Called once.
pub fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(EXIT_INTERRUPTED.into());
        }
    })
    .context("Signals cannot be handled")?;
    Ok(flag)
}
