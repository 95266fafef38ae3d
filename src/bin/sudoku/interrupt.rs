//! SIGINT and SIGTERM: the first stops the run cleanly, the second at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;

use super::EXIT_INTERRUPTED;

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
