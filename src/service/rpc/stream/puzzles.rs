//! `SolveStream`: puzzles one by one.

use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use tonic::Status;

use crate::answer::{
    Answer, Cancel, Cancelled, Entries, Found, CompactMetrics, Tally, Task, Visitor, Workers, write_solutions,
};
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::unreadable;
use crate::service::rpc::stream::session::Session;
use crate::service::rpc::stream::{Dialect, OutputBuffer};
use crate::service::wire::codec::{list_with_size_class, size_class};
use crate::service::wire::convert::{self, internal_error};
use crate::service::wire::proto;
use crate::service::wire::status::invalid;
use crate::solver::{Metrics, Search};
use crate::text::{Format, FormatError, Hint, Notation, SAMPLE_BYTES, detect};

/// The method.
pub(crate) struct Puzzles(Session);

/// The puzzles of a message, or of several that follow each other.
pub(crate) struct Job {
    workers: Arc<Workers>,
    /// Copied, so that the messages are given back where they came in: to share their memory with the threads that search would
    /// cost more.
    puzzles: Entries,
    first_line: u64,
    messages: Vec<Message>,
    /// For the answers and the solutions.
    room: OutputBuffer<(Vec<Kept>, Vec<u8>)>,
}

#[derive(Clone, Copy)]
struct Message {
    batch_id: u64,
    /// How many puzzles it has.
    puzzles: usize,
}

impl Job {
    fn add(&mut self, batch_id: u64, puzzles: &[Bytes]) {
        for puzzle in puzzles {
            self.puzzles.push(puzzle);
        }
        self.messages.push(Message { batch_id, puzzles: puzzles.len() });
    }
}

/// The answers to the messages of a job. The messages are made of them where they are sent.
pub(crate) struct Responses {
    messages: vec::IntoIter<Message>,
    answers: vec::IntoIter<Kept>,
    /// The number of the next puzzle.
    line: u64,
    /// The cells of the solutions, one character each.
    solutions: Solutions,
}

/// An answer that is kept.
enum Kept {
    /// It is the next solution, and this is what its search cost.
    Solution(CompactMetrics),
    /// The same, where that is more than is usual.
    LongSearch(Box<Metrics>),
    /// It is something else.
    Other(Box<proto::Answer>),
}

impl Kept {
    /// The next solution.
    fn solution(metrics: &Metrics) -> Self {
        let long = || Self::LongSearch(Box::new(*metrics));
        CompactMetrics::of(metrics).map_or_else(long, Self::Solution)
    }
}

/// Solutions in a row.
#[derive(Default)]
struct Solutions {
    /// A line for each.
    text: Vec<u8>,
    line_bytes: usize,
    /// How many have been taken.
    taken: usize,
}

impl Solutions {
    fn next(&mut self) -> String {
        let begin = self.taken * self.line_bytes;
        self.taken += 1;
        let cells = &self.text[begin..begin + self.line_bytes - 1];
        // All alphabets are of ASCII.
        String::from_utf8_lossy(cells).into_owned()
    }
}

impl Iterator for Responses {
    type Item = proto::SolveStreamResponse;

    fn next(&mut self) -> Option<Self::Item> {
        use proto::answer::Result as R;
        let Message { batch_id, puzzles } = self.messages.next()?;
        let answer = |kept| {
            let line = self.line;
            self.line += 1;
            let metrics = match kept {
                Kept::Solution(metrics) => metrics.metrics(),
                Kept::LongSearch(metrics) => *metrics,
                Kept::Other(answer) => return *answer,
            };
            let (result, metrics) =
                (Some(R::Solution(self.solutions.next())), Some(convert::metrics(&metrics)));
            proto::Answer { result, metrics, count_is_exact: false, line }
        };
        let answers = self.answers.by_ref().take(puzzles).map(answer).collect();
        Some(proto::SolveStreamResponse { batch_id, answers })
    }
}

/// Keeps answers.
struct Keeper<'a> {
    format: &'a Format,
    task: &'a Task,
    tally: Tally,
    answers: Vec<Kept>,
    solutions: Vec<u8>,
}

impl Visitor for Keeper<'_> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.tally.count(self.task, answer);
        self.answers.push(if let Ok(Found::Solution(solution)) = &answer.result {
            self.format.write_line(solution.digits(), &mut self.solutions);
            Kept::solution(&answer.metrics)
        } else {
            Kept::Other(Box::new(convert::answer(answer, self.format)))
        });
    }

    fn wants_puzzles(&self) -> bool {
        self.task.measure
    }

    fn wants_only_solutions(&self) -> bool {
        !self.task.measure
    }

    fn solutions(&mut self, _lines: &[u64], searches: &[Search], digits: &[u8]) {
        self.tally.answers += searches.len() as u64;
        for Search { metrics, .. } in searches {
            self.tally.metrics.add(metrics);
            self.answers.push(Kept::solution(metrics));
        }
        write_solutions(self.format, digits, &mut self.solutions);
    }
}

impl Dialect for Puzzles {
    const METHOD: &'static str = "SolveStream";

    type Request = proto::SolveStreamRequest;
    type Job = Job;
    type Responses = Responses;
    type Response = proto::SolveStreamResponse;

    fn new(context: Arc<Context>) -> Result<Self, Status> {
        Session::new(context).map(Self)
    }

    fn bytes(request: &Self::Request) -> usize {
        request.puzzles.iter().map(Bytes::len).sum()
    }

    fn prepare(&mut self, request: Self::Request, before: Option<&mut Job>) -> Result<Option<Job>, Status> {
        let session = &mut self.0;
        session.apply_options(request.options)?;
        let (puzzles, batch_id) = (request.puzzles, request.batch_id);
        let first_line = session.number(puzzles.len())?;
        let workers = match &session.workers {
            Some(workers) => {
                let goes_on =
                    |job: &&mut Job| Arc::ptr_eq(&job.workers, workers) && workers.search_together();
                if let Some(before) = before.filter(goes_on) {
                    before.add(batch_id, &puzzles);
                    return Ok(None);
                }
                Arc::clone(workers)
            }
            None => {
                let format = format_of(&puzzles, &session.settings.hint)?;
                if puzzles.iter().all(|puzzle| puzzle.trim_ascii().is_empty()) {
                    // They say nothing about the puzzles that follow.
                    session.workers_for(format)?
                } else {
                    session.fix_format(format)?
                }
            }
        };
        let mut job = Job {
            workers,
            puzzles: Entries::default(),
            first_line,
            messages: Vec::new(),
            room: OutputBuffer::default(),
        };
        job.add(batch_id, &puzzles);
        Ok(Some(job))
    }

    fn reserve(job: &mut Job) {
        let answers = list_with_size_class(job.puzzles.len());
        // A solution is as long as its puzzle. What is none gets no room, however many there are.
        let solutions = Vec::with_capacity(size_class(job.puzzles.bytes()));
        job.room = OutputBuffer::new((answers, solutions));
    }

    fn workers(&self) -> Option<&Workers> {
        self.0.workers.as_deref()
    }

    fn answer(job: &Job, cancel: &dyn Cancel) -> Result<Responses, Cancelled> {
        let (format, task) = (job.workers.format(), job.workers.task());
        let line_bytes = format.order().cells() + 1;
        let (answers, solutions) = job.room.take();
        let mut keeper = Keeper { format, task, tally: Tally::default(), answers, solutions };
        job.workers.with(|worker| {
            worker.answer_entries(format, task, &job.puzzles, job.first_line, cancel, &mut keeper)
        })?;
        metrics::answered(&keeper.tally);
        Ok(Responses {
            messages: job.messages.clone().into_iter(),
            answers: keeper.answers.into_iter(),
            line: job.first_line,
            solutions: Solutions { text: keeper.solutions, line_bytes, taken: 0 },
        })
    }

    fn split(job: &Job) -> Option<Vec<Job>> {
        if job.messages.len() == 1 {
            return None;
        }
        let mut first = 0;
        let each = job.messages.iter().map(|&message| {
            let begin = first;
            first += message.puzzles;
            Job {
                workers: Arc::clone(&job.workers),
                puzzles: job.puzzles.part(begin..first),
                first_line: job.first_line + begin as u64,
                messages: vec![message],
                room: OutputBuffer::default(),
            }
        });
        Some(each.collect())
    }

    fn internal_errors(job: &Job) -> Responses {
        let apology = |line| Kept::Other(Box::new(convert::error_answer(&internal_error(Some(line)))));
        let answers: Vec<_> = (job.first_line..).take(job.puzzles.len()).map(apology).collect();
        metrics::broken_down(answers.len());
        Responses {
            messages: job.messages.clone().into_iter(),
            answers: answers.into_iter(),
            line: job.first_line,
            solutions: Solutions::default(),
        }
    }
}

/// How the puzzles of a message are written.
fn format_of(puzzles: &[Bytes], hint: &Hint) -> Result<Format, Status> {
    let unreadable = |error: FormatError| unreadable(&error, "puzzles");
    let is_strict = match hint.notation {
        None | Some(Notation::Lines) => false,
        Some(Notation::Header) => true,
        Some(other) => {
            let what = format!("SolveStream takes one puzzle an entry, which {other} is not. Use lines.");
            return Err(invalid("options.notation", what));
        }
    };
    let mut sample = Vec::new();
    for puzzle in puzzles {
        let room = SAMPLE_BYTES - sample.len();
        if puzzle.len() >= room {
            break;
        }
        sample.extend_from_slice(puzzle);
        sample.push(b'\n');
    }
    let as_lines = Hint { notation: Some(Notation::Lines), ..hint.clone() };
    let format = detect(&sample, &as_lines).map_err(unreadable)?.format;
    if is_strict {
        // There is no header line to read; the puzzles themselves say which one it would be.
        return Format::new(Notation::Header, format.order(), format.alphabet().clone()).map_err(unreadable);
    }
    Ok(format)
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;
    use crate::grid::Order;
    use crate::text::Alphabet;

    #[test]
    fn the_first_message_says_how_puzzles_are_written() {
        let format = |puzzles: &[&str]| {
            let puzzles: Vec<_> = puzzles.iter().map(|p| Bytes::copy_from_slice(p.as_bytes())).collect();
            format_of(&puzzles, &Hint::default()).unwrap().order()
        };
        assert_eq!(format(&["", "12.4............"]), Order::ALL[1]);
        assert_eq!(format(&[&".".repeat(256)]), Order::ALL[3]);
        assert_eq!(format(&["nonsense"]), Order::NINE);
        assert_eq!(format(&[]), Order::NINE);
    }

    #[test]
    fn puzzles_that_fit_two_alphabets_are_refused() {
        let puzzles = [Bytes::from(format!("F0{}", ".".repeat(254)))];
        let status = format_of(&puzzles, &Hint::default()).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("--alphabet hex"), "{}", status.message());
        let hint = Hint { alphabet: Some(Alphabet::Hex), ..Hint::default() };
        assert_eq!(format_of(&puzzles, &hint).unwrap().alphabet(), &Alphabet::Hex);
    }

    #[test]
    fn notations_of_several_lines_are_refused() {
        let hint = Hint { notation: Some(Notation::Grid), ..Hint::default() };
        assert_eq!(format_of(&[], &hint).unwrap_err().code(), Code::InvalidArgument);
    }
}
