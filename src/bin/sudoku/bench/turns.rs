//! One side of a comparison: times a row at each request.
//!
//! Everything goes over standard input and output, a line of JSON each. First comes a [`Handshake`]
//! out. Then each line in is the number of a row, from 0, and is answered by a [`TimedTurn`]. The
//! end of the input ends the program.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use sudoku_stream::build_info;
use sudoku_stream::solver::Batch;

use super::contender::{BenchOutcome, Contender, RunContext, RunError};
use super::subject::Subject;

/// The version of the protocol. Programs with different ones cannot be compared.
pub const PROTOCOL: u32 = 1;

/// The shortest turn: long beside the time of a request, short beside the time in which the speed
/// of a machine changes.
const LEAST_TURN: Duration = Duration::from_millis(25);

/// The first line of one side: what it is, and what it can time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Handshake {
    pub protocol: u32,
    pub version: String,
    pub commit: String,
    pub toolchain: String,
    pub rows: Vec<TimedRow>,
}

/// A row that can be timed, and the answers of its first run, which is not timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedRow {
    pub file: String,
    pub order: String,
    pub strategy: String,
    pub backend: Option<String>,
    pub kind: String,
    pub puzzles: u64,
    /// The answers that are an error, by their code.
    pub errors: BTreeMap<String, u64>,
}

/// One run, in seconds; the mean of several where one is short.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct TimedTurn {
    pub wall: f64,
    /// Processor time of all threads.
    pub processor: f64,
}

/// A contender, ready to be timed.
struct Ready {
    subject: Arc<Subject>,
    contender: Contender,
    batches: Vec<Batch>,
    outcome: BenchOutcome,
}

/// Takes turns until standard input ends.
pub fn serve(context: &RunContext, work: Vec<(Arc<Subject>, Vec<Contender>)>) -> anyhow::Result<()> {
    let mut ready = Vec::new();
    for (subject, contenders) in work {
        for contender in contenders {
            let mut batches = subject.batches();
            let outcome = match contender.warm_up(context, &subject, &mut batches) {
                Ok(outcome) => outcome,
                Err(RunError::Cancelled) => return Ok(()),
                Err(RunError::Wrong(what)) => bail!("{}: {contender}: {what}.", subject.name),
            };
            ready.push(Ready { subject: Arc::clone(&subject), contender, batches, outcome });
        }
    }
    send(&Handshake {
        protocol: PROTOCOL,
        version: build_info::VERSION.to_owned(),
        commit: build_info::COMMIT.to_owned(),
        toolchain: build_info::RUSTC.to_owned(),
        rows: ready.iter().map(Ready::row).collect(),
    })?;
    for line in io::stdin().lock().lines() {
        let row = line?.parse::<usize>().ok().and_then(|row| ready.get_mut(row));
        let turn = row.context("there is no such row")?.turn(context)?;
        // An interrupt reaches both sides; the side that compares reports it.
        let Some(turn) = turn else { break };
        send(&turn)?;
    }
    Ok(())
}

impl Ready {
    fn row(&self) -> TimedRow {
        let tally = &self.outcome.tally;
        TimedRow {
            file: self.subject.name.clone(),
            order: self.subject.format.order().to_string(),
            strategy: self.contender.strategy.name().to_owned(),
            backend: self.contender.backend.map(|backend| backend.to_string()),
            kind: self.contender.kind.to_string(),
            puzzles: tally.answers,
            errors: tally.errors.iter().map(|(code, &count)| ((*code).to_owned(), count)).collect(),
        }
    }

    /// Times a run. `None` if it was interrupted.
    fn turn(&mut self, context: &RunContext) -> anyhow::Result<Option<TimedTurn>> {
        let Self { subject, contender, batches, outcome } = self;
        let begin = processor_seconds();
        let (mean, runs) = match contender.mean_run(context, subject, batches, outcome, LEAST_TURN) {
            Ok(timed) => timed,
            Err(RunError::Cancelled) => return Ok(None),
            Err(RunError::Wrong(what)) => bail!("{}: {what}.", subject.name),
        };
        let processor = (processor_seconds() - begin) / f64::from(runs);
        Ok(Some(TimedTurn { wall: mean.as_secs_f64(), processor }))
    }
}

/// The processor time that this process has taken.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn send(what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
