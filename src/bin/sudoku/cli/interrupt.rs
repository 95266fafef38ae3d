//! Signals. The first SIGINT, SIGTERM or SIGHUP stops the run cleanly, the second at once. SIGXFSZ
//! is ignored, and so is SIGHUP where whoever started the program wants that, as `nohup` does.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;
use signal_hook::{SigId, flag, low_level};
use sudoku_stream::poison::IgnorePoison as _;

use super::{print, shown_bar};

/// How often a thread that waits looks at the flag.
pub const POLL: Duration = Duration::from_millis(20);

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

/// Waits until the flag is raised.
pub async fn raised(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(POLL).await;
    }
}

/// The flag of this process that the first signal raises.
pub fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    let handlers = held(|| catch(&flag)).context("Signals cannot be handled")?;
    // A process runs one command, so nobody else has set it.
    let _ = HANDLERS.set(Mutex::new(Some(handlers)));
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}

/// The last signal that came, or 0.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);

/// What is left to do when a second signal ends the process at once.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// The handlers, until a thread takes their place.
static HANDLERS: OnceLock<Mutex<Option<Handlers>>> = OnceLock::new();

/// Has `work` done before a second signal ends the process. Only one can be registered.
///
/// # Errors
/// The system's, where no thread can be started for it.
pub fn before_exit(work: fn()) -> io::Result<()> {
    BEFORE_EXIT.get_or_init(|| work);
    start_thread()
}

/// What handlers do about signals, as long as nothing has to be put in order before a second one ends
/// the process: then no thread is needed, which costs a short run a tenth of its time.
struct Handlers {
    /// The signals, and what their handlers do.
    signals: Vec<(i32, [SigId; 4])>,
    flag: Arc<AtomicBool>,
}

/// Does work while signals wait, such as installing handlers: one that comes to the first of several,
/// or before the library knows of it, would be lost.
fn held<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]);
    let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let done = work();
    before.thread_set_mask()?;
    done
}

fn catch(flag: &Arc<AtomicBool>) -> io::Result<Handlers> {
    // A file beyond the size limit of the process is then an error of the write; by default this
    // signal kills.
    flag::register(SIGXFSZ, Arc::default())?;
    let is_second = Arc::new(AtomicBool::new(false));
    let mut signals = Vec::with_capacity(3);
    // Also a SIGINT that is ignored, because shells have it ignored by what a script runs in the
    // background, and the script may send it all the same.
    for signal in [SIGTERM, SIGINT].into_iter().chain(hangup()) {
        let number = usize::try_from(signal).unwrap_or(0);
        // They run in this order.
        let actions = [
            flag::register_conditional_shutdown(signal, exit_status(signal).into(), Arc::clone(&is_second))?,
            flag::register_usize(signal, &CAUGHT, number)?,
            flag::register(signal, Arc::clone(flag))?,
            flag::register(signal, Arc::clone(&is_second))?,
        ];
        signals.push((signal, actions));
    }
    Ok(Handlers { signals, flag: Arc::clone(flag) })
}

/// Has a thread take the signals, because from now on there is something to put in order before the
/// process ends.
///
/// # Errors
/// The system's, where the thread cannot be started; the handlers stay then.
pub fn start_thread() -> io::Result<()> {
    let Some(handlers) = HANDLERS.get() else { return Ok(()) };
    let mut handlers = handlers.lock().ignore_poison();
    let Some(Handlers { signals, flag }) = handlers.as_ref() else { return Ok(()) };
    let mut was_raised = flag.load(Ordering::Relaxed);
    if was_raised {
        shown_bar::end();
    }
    let raised = Arc::clone(flag);
    take(signals.iter().map(|(signal, _)| *signal), move |signal| {
        // The exit code is that of the first signal.
        if !was_raised {
            CAUGHT.store(usize::try_from(signal).unwrap_or(0), Ordering::Relaxed);
        }
        raised.store(true, Ordering::Relaxed);
        shown_bar::end();
        if was_raised {
            if let Some(work) = BEFORE_EXIT.get() {
                work();
            }
            process::exit(exit_status(signal).into());
        }
        was_raised = true;
    })?;
    for id in signals.iter().flat_map(|(_, actions)| actions) {
        low_level::unregister(*id);
    }
    *handlers = None;
    Ok(())
}

/// Has `work` done before SIGTERM or SIGHUP ends the process as by default, in a command that does not
/// ask for the flag.
///
/// # Errors
/// The system's, where no thread can be started for it.
pub fn before_default(mut work: impl FnMut() + Send + 'static) -> io::Result<()> {
    take([SIGTERM].into_iter().chain(hangup()), move |signal| {
        work();
        let _ = low_level::emulate_default_handler(signal);
    })
}

/// Has a thread take signals, and `act` on each of them.
fn take(signals: impl IntoIterator<Item = i32>, mut act: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    // With its information each signal is kept; without, two that come before the thread runs are one.
    let mut taken = held(|| SignalsInfo::<WithRawSiginfo>::new(signals))?;
    let run = move || taken.forever().for_each(|info| act(info.si_signo));
    thread::Builder::new().name("signals".to_owned()).spawn(run)?;
    Ok(())
}

/// SIGHUP, unless it is ignored.
fn hangup() -> Option<i32> {
    Some(SIGHUP).filter(|_| !is_hangup_ignored())
}

/// Is SIGHUP ignored already? False on a system that does not tell as Linux does: by a mask with a bit
/// for each signal.
fn is_hangup_ignored() -> bool {
    // Read through a buffer that is larger than the file, because the system writes all of it anew
    // where it is read in parts.
    let Ok(status) = File::open("/proc/self/status") else { return false };
    let mut lines = BufReader::new(status).lines().map_while(Result::ok);
    let mask = lines.find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}

/// Reports how far an interrupted run got. The exit code names the signal.
pub fn report(how_far: &str) -> ExitCode {
    print::status_line(&format!("Interrupted. {how_far}."));
    exit_code()
}

/// The exit code of a run that a signal stopped.
pub fn exit_code() -> ExitCode {
    ExitCode::from(exit_status(i32::try_from(CAUGHT.load(Ordering::Relaxed)).unwrap_or(0)))
}

/// 128 and the number of the signal, as shells report it.
pub fn exit_status(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}
