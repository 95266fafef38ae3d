//! A limit on memory (`ulimit -v`), and what it asks of a process: a stack that is whole from the start.

use std::io;
use std::panic;
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, getrlimit};

/// The bytes of address space that this process may have, where they are limited (`ulimit -v`).
pub fn address_space() -> Option<u64> {
    getrlimit(Resource::As).current
}

/// Runs `main` where it cannot run out of stack.
///
/// The system lets the stack of a process's first thread grow when it is used, and where that breaks
/// a limit on memory (`ulimit -v`), it kills the process without a word. The stack of any other thread
/// is there from its start or refused, so under a limit `main` has one of those.
///
/// # Errors
///
/// The memory allowed is too little for a thread.
pub fn with_whole_stack(main: impl FnOnce() -> ExitCode + Send) -> io::Result<ExitCode> {
    if address_space().is_none() {
        return Ok(main());
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("main".to_owned()).spawn_scoped(scope, main)?;
        Ok(thread.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
    })
}
