//! Signals. The first SIGINT, SIGTERM or SIGHUP stops the run cleanly, the second at once. SIGXFSZ
//! is ignored, and so is SIGHUP where whoever started the program wants that, as `nohup` does.

use std::fs;
use std::io;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;

use super::{print, progress};

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
            // Work that looks at the flag itself may be the first to see it.
            Ok(Err(_)) if flag.load(Ordering::Relaxed) => break,
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

/// What is left to do when a second signal ends the process at once.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// Has `work` done before a second signal ends the process. Only one can be registered.
pub fn before_exit(work: fn()) {
    BEFORE_EXIT.get_or_init(|| work);
}

fn catch(flag: &Arc<AtomicBool>) -> io::Result<()> {
    // A file beyond the size limit of the process is then an error of the write; by default this
    // signal kills.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    // With its information each signal is kept; without, two that come before the thread runs are one.
    // Not SIGINT, which shells have ignored by what a script runs in the background, and which the
    // script may send all the same.
    let hangup = Some(SIGHUP).filter(|_| !is_hangup_ignored());
    let mut signals = SignalsInfo::<WithRawSiginfo>::new([SIGTERM, SIGINT].into_iter().chain(hangup))?;
    let flag = Arc::clone(flag);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever().map(|info| info.si_signo) {
            let is_first = CAUGHT.swap(signal, Ordering::Relaxed) == 0;
            flag.store(true, Ordering::Relaxed);
            progress::end();
            if !is_first {
                if let Some(work) = BEFORE_EXIT.get() {
                    work();
                }
                process::exit(exit_status(signal).into());
            }
        }
    })?;
    Ok(())
}

/// Is SIGHUP ignored already? False on a system that does not tell as Linux does: by a mask with a bit
/// for each signal.
fn is_hangup_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
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
