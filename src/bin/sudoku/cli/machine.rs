//! The machine that this program runs on, beside figures that depend on it.

use std::env::consts::ARCH;
use std::{fs, thread};

/// The model of the processor, or its architecture where the system has no file with the model.
pub fn cpu() -> String {
    model().unwrap_or_else(|| ARCH.to_owned())
}

fn model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let (_, model) = text.lines().find(|line| line.starts_with("model name"))?.split_once(':')?;
    Some(model.trim().to_owned())
}

/// The cores that this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}
