//! The progress bar that is on the terminal, for whoever has to clear it: its run, or a signal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use sudoku_stream::poison::IgnorePoison as _;

/// The longest wait for a terminal that takes no output.
const PATIENCE: Duration = Duration::from_millis(100);

/// The bar on the terminal.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Whether a signal came, so that no bar is to be drawn any more.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Draws a bar from now on. False if a signal came.
pub fn show(bar: &ProgressBar) -> bool {
    let mut shown = SHOWN.lock().ignore_poison();
    if IS_OVER.load(Ordering::Relaxed) {
        return false;
    }
    bar.set_draw_target(ProgressDrawTarget::stderr());
    *shown = Some(bar.clone());
    drop(shown);
    bar.tick();
    true
}

/// Leaves the bar to its run, which clears it.
pub fn forget() {
    *SHOWN.lock().ignore_poison() = None;
}

/// Takes the bar away after a signal, also where the run itself is too busy, or gone in a moment.
pub fn end() {
    IS_OVER.store(true, Ordering::Relaxed);
    let Some(bar) = SHOWN.lock().ignore_poison().take() else { return };
    let (sender, cleared) = mpsc::channel();
    // On a thread of its own, because a terminal that was stopped by Ctrl-S takes nothing.
    let clear = move || {
        bar.finish_and_clear();
        let _ = sender.send(());
    };
    if thread::Builder::new().name("progress".to_owned()).spawn(clear).is_ok() {
        let _ = cleared.recv_timeout(PATIENCE);
    }
}
