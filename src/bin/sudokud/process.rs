//! Metrics of the process, by their conventional names.

use std::fs;

use metrics::{Unit, describe_gauge, gauge};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

const CPU: &str = "process_cpu_seconds_total";
const RESIDENT: &str = "process_resident_memory_bytes";
const VIRTUAL: &str = "process_virtual_memory_bytes";
const THREADS: &str = "process_threads";
const FILES: &str = "process_open_fds";
const MAX_FILES: &str = "process_max_fds";

/// Describes them.
pub fn describe() {
    describe_gauge!(CPU, Unit::Seconds, "Processor time taken, in seconds");
    describe_gauge!(RESIDENT, Unit::Bytes, "Memory of the process in RAM");
    describe_gauge!(VIRTUAL, Unit::Bytes, "Addresses of the process");
    describe_gauge!(THREADS, "Threads of the process");
    describe_gauge!(FILES, "Open files and sockets");
    describe_gauge!(MAX_FILES, "The most files and sockets that may be open");
}

/// The text of all metrics with the processor time as the counter that it is, because a counter of this
/// facade is a whole number.
pub fn with_counter(text: &str) -> String {
    text.replacen(&format!("# TYPE {CPU} gauge\n"), &format!("# TYPE {CPU} counter\n"), 1)
}

/// Measures them. What the system does not tell stays as it was.
pub fn measure() {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    gauge!(CPU).set(cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9);
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let value = |name: &str| -> Option<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse().ok()
        };
        for (name, gauge, unit) in
            [("VmRSS", RESIDENT, 1024.0), ("VmSize", VIRTUAL, 1024.0), ("Threads", THREADS, 1.0)]
        {
            if let Some(value) = value(name) {
                gauge!(gauge).set(value * unit);
            }
        }
    }
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        gauge!(FILES).set(files.count() as f64);
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        gauge!(MAX_FILES).set(most as f64);
    }
}
