//! The clock on the wall jumps. A library that is loaded before all others makes it.

use std::fs;
use std::process::Command;
use std::time::Instant;

use sudoku_stream::service::proto::SolveStreamRequest;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request};

use crate::harness::daemon::Daemon;
use crate::harness::{PATIENCE, SUDOKUD};
use crate::row::{Row, Seen};
use crate::traffic::{assert_serving, batch, client, endless, runtime};
use crate::wire::Wire;

pub fn rows() -> Vec<Row> {
    vec![Row {
        number: 32,
        fault: "the clock jumps by a day, back and forth, whenever it is read",
        expected: "deadlines and time-outs as if it did not; serving",
        run: clock_jumps,
    }]
}

/// One look at the wall clock in two, without a pattern, sees the day before.
const JUMPS: &str = r"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static unsigned looks;
    long result = syscall(SYS_clock_gettime, clock, time);
    unsigned look = __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
    if (clock == CLOCK_REALTIME && (look * 2654435761u >> 20) % 2) time->tv_sec -= 86400;
    return (int)result;
}
";

/// Builds the library, if this machine has a compiler for it.
fn build(folder: &TempDir) -> Option<String> {
    let (source, library) = (folder.path().join("jumps.c"), folder.path().join("jumps.so"));
    fs::write(&source, JUMPS).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    built.is_ok_and(|status| status.success()).then(|| library.to_str().unwrap().to_owned())
}

fn clock_jumps() -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = build(&folder) else {
        return Seen::Skipped("this machine has no C compiler".to_owned());
    };
    let mut command = Command::new(SUDOKUD);
    command.args(["--handshake-timeout", "1"]).env("LD_PRELOAD", library).env("RUST_LOG", "debug");
    let daemon = Daemon::from_command(&mut command);
    assert_serving(&daemon);

    let mut silent = Wire::bare(daemon.address);
    let closed = silent.wait_for_end(PATIENCE);
    assert!((0.8..5.0).contains(&closed.as_secs_f64()), "a time-out of a second took {closed:?}");

    let (puzzle, options) = endless();
    // One of them takes the better part of a second.
    let request = SolveStreamRequest { options: Some(options), ..batch(0, &vec![puzzle; 50]) };
    let deadline = runtime().block_on(async {
        let (sender, requests) = mpsc::channel(1);
        sender.send(request).await.unwrap();
        let mut call = Request::new(ReceiverStream::new(requests));
        call.metadata_mut().insert("grpc-timeout", "700m".parse().unwrap());
        let begin = Instant::now();
        let mut stream = client(&daemon.url()).await.solve_stream(call).await.unwrap().into_inner();
        let status = timeout(PATIENCE, stream.message()).await.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded);
        drop(sender);
        begin.elapsed()
    });
    assert!((0.6..5.0).contains(&deadline.as_secs_f64()), "a deadline of 700 ms took {deadline:?}");
    // Often enough for the log to have lines of both days.
    for _ in 0..30 {
        assert_serving(&daemon);
    }

    // The days in the log say that the clock did jump.
    let log = daemon.log();
    let today = Command::new("date").args(["-u", "+%F"]).output().unwrap().stdout;
    let today = String::from_utf8(today).unwrap();
    let jumped = log.lines().filter_map(|line| line.get(..10)).any(|day| day != today.trim());
    assert!(jumped, "the clock did not jump: {log}");
    Seen::good(format!(
        "a deadline of 700 ms after {} ms, a time-out of 1 s after {:.1} s",
        deadline.as_millis(),
        closed.as_secs_f64()
    ))
}
