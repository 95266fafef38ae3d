//! `SolveStream`: puzzles as separate entries, an answer message for each.

use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use tonic::Status;

use crate::answer::{
    Answer, BulkVisitor, Cancel, Cancelled, CompactMetrics, Found, Solvers, Tally, Task, Visitor,
    write_solutions,
};
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::refuse_columns;
use crate::service::rpc::stream::sent_puzzles::{PuzzlesMessage, SentPuzzles, are_blank, format_of};
use crate::service::rpc::stream::session::StreamSession;
use crate::service::rpc::stream::{BidiMethod, OutputBuffer};
use crate::service::wire::codec::{size_class, vec_with_size_class};
use crate::service::wire::convert::{self, internal_error};
use crate::service::wire::proto;
use crate::solver::{Metrics, Search};
use crate::text::Format;

/// The state of a `SolveStream` stream.
pub(crate) struct SolveStream(StreamSession);

/// The puzzles of a message, or of several consecutive ones.
pub(crate) struct PuzzlesJob {
    solvers: Arc<Solvers>,
    sent: SentPuzzles,
    /// The memory for the answers and the solutions.
    buffer: OutputBuffer<(Vec<PackedAnswer>, Vec<u8>)>,
}

/// The responses to the messages of a job. They are built on the thread that sends them.
pub(crate) struct PuzzlesResponses {
    messages: vec::IntoIter<PuzzlesMessage>,
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
        let PuzzlesMessage { batch_id, puzzles } = self.messages.next()?;
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

    fn bulk(&mut self) -> Option<&mut dyn BulkVisitor> {
        if self.task.measure { None } else { Some(self) }
    }
}

impl BulkVisitor for AnswerCollector<'_> {
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
        StreamSession::new(context).map(Self)
    }

    fn bytes(request: &Self::Request) -> usize {
        request.puzzles.iter().map(Bytes::len).sum()
    }

    fn lines(&self) -> u64 {
        self.0.lines()
    }

    fn prepare(
        &mut self,
        request: Self::Request,
        before: Option<&mut PuzzlesJob>,
    ) -> Result<Option<PuzzlesJob>, Status> {
        let session = &mut self.0;
        session.apply_options(request.options)?;
        refuse_columns(&session.settings.task, Self::METHOD)?;
        let (puzzles, batch_id) = (request.puzzles, request.batch_id);
        let first_line = session.number(puzzles.len())?;
        let solvers = match &session.solvers {
            Some(solvers) => {
                let may_join =
                    |job: &&mut PuzzlesJob| Arc::ptr_eq(&job.solvers, solvers) && solvers.search_together();
                if let Some(before) = before.filter(may_join) {
                    before.sent.add(batch_id, &puzzles);
                    return Ok(None);
                }
                Arc::clone(solvers)
            }
            None => {
                let format = format_of(&puzzles, &session.settings.hint, Self::METHOD)?;
                if are_blank(&puzzles) { session.solvers_for(format)? } else { session.fix_format(format)? }
            }
        };
        let sent = SentPuzzles::new(first_line, batch_id, &puzzles);
        Ok(Some(PuzzlesJob { solvers, sent, buffer: OutputBuffer::default() }))
    }

    fn reserve(job: &mut PuzzlesJob) {
        let answers = vec_with_size_class(job.sent.puzzles.len());
        // A solution is as long as its puzzle, so blank entries reserve nothing.
        let solutions = Vec::with_capacity(size_class(job.sent.puzzles.bytes()));
        job.buffer = OutputBuffer::new((answers, solutions));
    }

    fn searches_together(&self) -> bool {
        self.0.solvers.as_deref().is_some_and(Solvers::search_together)
    }

    fn answer(job: &PuzzlesJob, cancel: &dyn Cancel) -> Result<PuzzlesResponses, Cancelled> {
        let (format, task) = (job.solvers.format(), job.solvers.task());
        let line_bytes = format.order().cells() + 1;
        let (answers, solutions) = job.buffer.take();
        let mut collector = AnswerCollector { format, task, tally: Tally::default(), answers, solutions };
        job.solvers.with(|solver| {
            solver.answer_entries(
                format,
                task,
                &job.sent.puzzles,
                job.sent.first_line,
                cancel,
                &mut collector,
            )
        })?;
        metrics::answered(&collector.tally);
        Ok(PuzzlesResponses {
            messages: job.sent.messages.clone().into_iter(),
            answers: collector.answers.into_iter(),
            line: job.sent.first_line,
            solutions: Solutions { text: collector.solutions, line_bytes, taken: 0 },
        })
    }

    fn split(job: &PuzzlesJob) -> Option<Vec<PuzzlesJob>> {
        let part =
            |sent| PuzzlesJob { solvers: Arc::clone(&job.solvers), sent, buffer: OutputBuffer::default() };
        Some(job.sent.split()?.into_iter().map(part).collect())
    }

    fn internal_errors(job: &PuzzlesJob) -> PuzzlesResponses {
        let internal =
            |line| PackedAnswer::Other(Box::new(convert::error_answer(&internal_error(Some(line)))));
        let answers: Vec<_> = job.sent.lines().map(internal).collect();
        metrics::internal_errors(answers.len());
        PuzzlesResponses {
            messages: job.sent.messages.clone().into_iter(),
            answers: answers.into_iter(),
            line: job.sent.first_line,
            solutions: Solutions::default(),
        }
    }
}
