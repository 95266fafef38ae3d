//! Signals. The first SIGINT, SIGTERM or SIGHUP stops the run cleanly, the second at once. SIGXFSZ
//! is ignored.

use std::io;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::print;

/// How often a thread that waits looks at the flag.
const POLL: Duration = Duration::from_millis(20);

/// Runs work that may block for ever, such as reading a pipe, on a thread of its own. `None` if the
/// flag is raised before it is done; the work then goes on and its result is dropped.
pub fn interruptible<T: Send + 'static>(
    flag: &AtomicBool,
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<Option<T>> {
    let (sender, result) = mpsc::channel();
    thread::Builder::new().name("reader".to_owned()).spawn(move || {
        // After an interrupt the receiver is gone.
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
    catch(&flag).context("Signals cannot be handled")?;
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}

/// The first signal that came, or 0.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

fn catch(flag: &Arc<AtomicBool>) -> io::Result<()> {
    // A file beyond the size limit of the process is then an error of the write; by default this
    // signal kills.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let mut signals = Signals::new([SIGHUP, SIGTERM, SIGINT])?;
    let flag = Arc::clone(flag);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if CAUGHT.swap(signal, Ordering::Relaxed) != 0 {
                process::exit(exit_status(signal).into());
            }
            flag.store(true, Ordering::Relaxed);
        }
    })?;
    Ok(())
}

/// Reports how far an interrupted run got. The exit code names the signal.
pub fn report(how_far: &str) -> ExitCode {
    print::status_line(&format!("Interrupted. {how_far}."));
    exit_code()
}

/// The exit code of a run that a signal stopped.
pub fn exit_code() -> ExitCode {
    ExitCode::from(exit_status(CAUGHT.load(Ordering::Relaxed)))
}

/// 128 and the number of the signal, as shells report it.
pub fn exit_status(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}
