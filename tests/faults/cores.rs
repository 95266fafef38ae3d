//! Which cores run what: where a server is looked at for how quickly it answers, its clients keep off its cores.

/// Keeps this thread, and what it starts, on some cores; until it is dropped.
#[cfg(target_os = "linux")]
pub struct Kept(rustix::thread::CpuSet);

#[cfg(target_os = "linux")]
impl Drop for Kept {
    fn drop(&mut self) {
        rustix::thread::sched_setaffinity(None, &self.0).unwrap();
    }
}

/// Calls `start` on all cores but the last, and keeps to the last from then on. None where there is only one core, or where
/// threads cannot be kept anywhere; then all are everywhere.
#[cfg(target_os = "linux")]
pub fn apart<T>(start: impl FnOnce() -> T) -> (T, Option<Kept>) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let before = sched_getaffinity(None).unwrap();
    let mut most = before;
    let Some(last) = (0..CpuSet::MAX_CPU).rev().find(|&core| before.is_set(core)) else { unreachable!() };
    most.unset(last);
    if most.count() == 0 {
        return (start(), None);
    }
    let kept = Kept(before);
    sched_setaffinity(None, &most).unwrap();
    let started = start();
    let mut least = CpuSet::new();
    least.set(last);
    sched_setaffinity(None, &least).unwrap();
    (started, Some(kept))
}

/// The same where threads cannot be kept anywhere.
#[cfg(not(target_os = "linux"))]
pub fn apart<T>(start: impl FnOnce() -> T) -> (T, Option<()>) {
    (start(), None)
}
