//! `SolveStream`: puzzles as separate entries, an answer message for each.

use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use tonic::Status;

use crate::answer::{
    Answer, Cancel, Cancelled, CompactMetrics, Entries, Found, Tally, Task, Visitor, Workers, write_solutions,
};
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::unreadable;
use crate::service::rpc::stream::session::Session;
use crate::service::rpc::stream::{BidiMethod, OutputBuffer};
use crate::service::wire::codec::{size_class, vec_with_size_class};
use crate::service::wire::convert::{self, internal_error};
use crate::service::wire::proto;
use crate::service::wire::status::invalid;
use crate::solver::{Metrics, Search};
use crate::text::{Format, FormatError, Hint, Notation, SAMPLE_BYTES, detect};

/// The state of a `SolveStream` stream.
pub(crate) struct SolveStream(Session);

/// The puzzles of a message, or of several consecutive ones.
pub(crate) struct PuzzlesJob {
    workers: Arc<Workers>,
    /// Copies of the puzzles, so that messages are freed on the thread that received them: sharing
    /// their memory with the worker threads would cost more.
    puzzles: Entries,
    first_line: u64,
    messages: Vec<Message>,
    /// The memory for the answers and the solutions.
    buffer: OutputBuffer<(Vec<PackedAnswer>, Vec<u8>)>,
}

#[derive(Clone, Copy)]
struct Message {
    batch_id: u64,
    /// The number of its puzzles.
    puzzles: usize,
}

impl PuzzlesJob {
    fn add(&mut self, batch_id: u64, puzzles: &[Bytes]) {
        for puzzle in puzzles {
            self.puzzles.push(puzzle);
        }
        self.messages.push(Message { batch_id, puzzles: puzzles.len() });
    }
}

/// The responses to the messages of a job. They are built on the thread that sends them.
pub(crate) struct PuzzlesResponses {
    messages: vec::IntoIter<Message>,
    answers: vec::IntoIter<PackedAnswer>,
    /// The number of the next puzzle.
    line: u64,
    /// The cells of the solutions, one character each.
    solutions: Solutions,
}

/// An answer in little memory, from which the message is built later.
enum PackedAnswer {
    /// The next solution, and the metrics of its search.
    Solution(CompactMetrics),
    /// The next solution, with metrics that are too large for [`CompactMetrics`].
    LongSearch(Box<Metrics>),
    /// Any other answer.
    Other(Box<proto::Answer>),
}

impl PackedAnswer {
    /// The next solution.
    fn solution(metrics: &Metrics) -> Self {
        let long = || Self::LongSearch(Box::new(*metrics));
        CompactMetrics::of(metrics).map_or_else(long, Self::Solution)
    }
}

/// Solutions, taken one after another.
#[derive(Default)]
struct Solutions {
    /// One solution a line.
    text: Vec<u8>,
    line_bytes: usize,
    /// The number of solutions taken.
    taken: usize,
}

impl Solutions {
    fn next(&mut self) -> String {
        let begin = self.taken * self.line_bytes;
        self.taken += 1;
        let cells = &self.text[begin..begin + self.line_bytes - 1];
        // All alphabets are ASCII.
        String::from_utf8_lossy(cells).into_owned()
    }
}

impl Iterator for PuzzlesResponses {
    type Item = proto::SolveStreamResponse;

    fn next(&mut self) -> Option<Self::Item> {
        use proto::answer::Result as R;
        let Message { batch_id, puzzles } = self.messages.next()?;
        let answer = |kept| {
            let line = self.line;
            self.line += 1;
            let metrics = match kept {
                PackedAnswer::Solution(metrics) => metrics.metrics(),
                PackedAnswer::LongSearch(metrics) => *metrics,
                PackedAnswer::Other(answer) => return *answer,
            };
            let (result, metrics) =
                (Some(R::Solution(self.solutions.next())), Some(convert::metrics(&metrics)));
            proto::Answer { result, metrics, count_is_exact: false, line }
        };
        let answers = self.answers.by_ref().take(puzzles).map(answer).collect();
        Some(proto::SolveStreamResponse { batch_id, answers })
    }
}

/// The collector of a job's answers.
struct AnswerCollector<'a> {
    format: &'a Format,
    task: &'a Task,
    tally: Tally,
    answers: Vec<PackedAnswer>,
    solutions: Vec<u8>,
}

impl Visitor for AnswerCollector<'_> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.tally.count(self.task, answer);
        self.answers.push(if let Ok(Found::Solution(solution)) = &answer.result {
            self.format.write_line(solution.digits(), &mut self.solutions);
            PackedAnswer::solution(&answer.metrics)
        } else {
            PackedAnswer::Other(Box::new(convert::answer(answer, self.format)))
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
            self.answers.push(PackedAnswer::solution(metrics));
        }
        write_solutions(self.format, digits, &mut self.solutions);
    }
}

impl BidiMethod for SolveStream {
    const METHOD: &'static str = "SolveStream";

    type Request = proto::SolveStreamRequest;
    type Job = PuzzlesJob;
    type Responses = PuzzlesResponses;
    type Response = proto::SolveStreamResponse;

    fn new(context: Arc<Context>) -> Result<Self, Status> {
        Session::new(context).map(Self)
    }

    fn bytes(request: &Self::Request) -> usize {
        request.puzzles.iter().map(Bytes::len).sum()
    }

    fn prepare(
        &mut self,
        request: Self::Request,
        before: Option<&mut PuzzlesJob>,
    ) -> Result<Option<PuzzlesJob>, Status> {
        let session = &mut self.0;
        session.apply_options(request.options)?;
        let (puzzles, batch_id) = (request.puzzles, request.batch_id);
        let first_line = session.number(puzzles.len())?;
        let workers = match &session.workers {
            Some(workers) => {
                let may_join =
                    |job: &&mut PuzzlesJob| Arc::ptr_eq(&job.workers, workers) && workers.search_together();
                if let Some(before) = before.filter(may_join) {
                    before.add(batch_id, &puzzles);
                    return Ok(None);
                }
                Arc::clone(workers)
            }
            None => {
                let format = format_of(&puzzles, &session.settings.hint)?;
                if puzzles.iter().all(|puzzle| puzzle.trim_ascii().is_empty()) {
                    // Blank entries must not fix the format of the puzzles that follow.
                    session.workers_for(format)?
                } else {
                    session.fix_format(format)?
                }
            }
        };
        let mut job = PuzzlesJob {
            workers,
            puzzles: Entries::default(),
            first_line,
            messages: Vec::new(),
            buffer: OutputBuffer::default(),
        };
        job.add(batch_id, &puzzles);
        Ok(Some(job))
    }

    fn reserve(job: &mut PuzzlesJob) {
        let answers = vec_with_size_class(job.puzzles.len());
        // A solution is as long as its puzzle, so blank entries reserve nothing.
        let solutions = Vec::with_capacity(size_class(job.puzzles.bytes()));
        job.buffer = OutputBuffer::new((answers, solutions));
    }

    fn workers(&self) -> Option<&Workers> {
        self.0.workers.as_deref()
    }

    fn answer(job: &PuzzlesJob, cancel: &dyn Cancel) -> Result<PuzzlesResponses, Cancelled> {
        let (format, task) = (job.workers.format(), job.workers.task());
        let line_bytes = format.order().cells() + 1;
        let (answers, solutions) = job.buffer.take();
        let mut collector = AnswerCollector { format, task, tally: Tally::default(), answers, solutions };
        job.workers.with(|worker| {
            worker.answer_entries(format, task, &job.puzzles, job.first_line, cancel, &mut collector)
        })?;
        metrics::answered(&collector.tally);
        Ok(PuzzlesResponses {
            messages: job.messages.clone().into_iter(),
            answers: collector.answers.into_iter(),
            line: job.first_line,
            solutions: Solutions { text: collector.solutions, line_bytes, taken: 0 },
        })
    }

    fn split(job: &PuzzlesJob) -> Option<Vec<PuzzlesJob>> {
        if job.messages.len() == 1 {
            return None;
        }
        let mut first = 0;
        let each = job.messages.iter().map(|&message| {
            let begin = first;
            first += message.puzzles;
            PuzzlesJob {
                workers: Arc::clone(&job.workers),
                puzzles: job.puzzles.part(begin..first),
                first_line: job.first_line + begin as u64,
                messages: vec![message],
                buffer: OutputBuffer::default(),
            }
        });
        Some(each.collect())
    }

    fn internal_errors(job: &PuzzlesJob) -> PuzzlesResponses {
        let internal =
            |line| PackedAnswer::Other(Box::new(convert::error_answer(&internal_error(Some(line)))));
        let answers: Vec<_> = (job.first_line..).take(job.puzzles.len()).map(internal).collect();
        metrics::internal_errors(answers.len());
        PuzzlesResponses {
            messages: job.messages.clone().into_iter(),
            answers: answers.into_iter(),
            line: job.first_line,
            solutions: Solutions::default(),
        }
    }
}

/// The format of the puzzles of a message.
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
        // Entries have no header line, so the order comes from the puzzles themselves.
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
