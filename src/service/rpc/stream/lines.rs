//! `SolveLines`: packed lines.

use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use tonic::Status;

use crate::answer::{Block, Cancel, Cancelled, CompactTally, WrittenPart, Tally, Workers, Written, WrittenParts};
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::unreadable;
use crate::service::rpc::stream::session::Session;
use crate::service::rpc::stream::{Dialect, OutputBuffer};
use crate::service::wire::codec::{LEAD, list_with_size_class, sendable, size_class, text_to_send};
use crate::service::wire::convert;
use crate::service::wire::line_count::count_lines;
use crate::service::wire::proto;
use crate::service::wire::status::invalid;
use crate::text::sniff;

/// The highest number that a message may begin with, so that no stream can count beyond what a number holds.
const LAST_LINE: u64 = 1 << 62;

/// The method.
pub(crate) struct Lines {
    session: Session,
    /// The bytes of the last text that was joined. Streams that send small messages go on doing so, and a text that grows bit by
    /// bit is copied over and over.
    joined: usize,
}

/// The lines of a message, or of several that follow each other.
pub(crate) struct Job {
    /// None before the first line with a puzzle.
    workers: Option<Arc<Workers>>,
    text: Text,
    first_line: u64,
    messages: Vec<Message>,
    room: OutputBuffer<WrittenParts>,
    /// Are lines that follow answered with these? Not if each puzzle is searched for itself, or spans lines.
    takes_more: bool,
}

enum Text {
    /// As it came.
    Alone(Bytes),
    /// Of several messages, each with a line end.
    Joined(Vec<u8>),
}

/// Where a message ends.
#[derive(Clone, Copy)]
struct Message {
    /// In the text.
    end: usize,
    /// The number of the first line behind it.
    next_line: u64,
}

impl Text {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Alone(text) => text,
            Self::Joined(text) => text,
        }
    }

    /// Adds a text on a new line. Returns where it begins. In the end it may have about `expected` bytes.
    fn join(&mut self, text: &[u8], expected: usize) -> usize {
        if let Self::Alone(first) = self {
            let mut joined = Vec::with_capacity(size_class(expected.max(2 * (first.len() + text.len()))));
            joined.extend_from_slice(first);
            *self = Self::Joined(joined);
        }
        let Self::Joined(joined) = self else { unreachable!("it has just been made so") };
        if joined.last().is_some_and(|&byte| byte != b'\n') {
            joined.push(b'\n');
        }
        let begin = joined.len();
        joined.extend_from_slice(text);
        begin
    }
}

impl Job {
    fn new(workers: Option<Arc<Workers>>, text: Bytes, first_line: u64, next_line: u64) -> Self {
        let messages = vec![Message { end: text.len(), next_line }];
        let takes_more = workers
            .as_ref()
            .is_some_and(|workers| workers.search_together() && workers.format().is_by_line());
        Self {
            workers,
            text: Text::Alone(text),
            first_line,
            messages,
            room: OutputBuffer::default(),
            takes_more,
        }
    }

    fn block(&self) -> Block<'_> {
        Block { text: self.text.bytes(), first_line: self.first_line }
    }

    /// Can lines be added that are answered like this and begin with this number?
    fn goes_on(&self, workers: &Arc<Workers>, first_line: u64) -> bool {
        self.takes_more
            && self.workers.as_ref().is_some_and(|own| Arc::ptr_eq(own, workers))
            && self.messages.last().is_some_and(|last| last.next_line == first_line)
    }

    /// Adds the lines of a message. In the end the text may have about `expected` bytes. Returns how many it has.
    fn add(&mut self, text: &[u8], next_line: u64, expected: usize) -> usize {
        let begin = self.text.join(text, expected);
        if let Some(last) = self.messages.last_mut() {
            // It may have been given a line end.
            last.end = begin;
        }
        let end = begin + text.len();
        self.messages.push(Message { end, next_line });
        end
    }
}

/// The answers to the messages of a job.
pub(crate) struct Responses {
    /// The text of those that are left.
    text: Bytes,
    /// Where that begins in the text of all.
    begin: usize,
    parts: vec::IntoIter<WrittenPart>,
}

impl Responses {
    /// To a message without a puzzle.
    fn nothing() -> Self {
        Self::one(Written { text: text_to_send(0), tally: Tally::default() })
    }

    /// To one message, in a text to send.
    fn one(Written { text, mut tally }: Written) -> Self {
        let parts = vec![WrittenPart { end: text.len(), tally: CompactTally::take(&mut tally) }];
        Self::of(WrittenParts { text, parts })
    }

    /// To several, in a text to send.
    fn of(WrittenParts { text, parts }: WrittenParts) -> Self {
        let mut total = Tally::default();
        for part in &parts {
            part.tally.add_to(&mut total);
        }
        metrics::answered(&total);
        Self { begin: LEAD, text: sendable(text), parts: parts.into_iter() }
    }
}

impl Iterator for Responses {
    type Item = proto::SolveLinesResponse;

    fn next(&mut self) -> Option<Self::Item> {
        let WrittenPart { end, tally } = self.parts.next()?;
        let lines = self.text.split_to(end - self.begin);
        self.begin = end;
        Some(proto::SolveLinesResponse { lines, tally: Some(convert::compact_tally(&tally)) })
    }
}

impl Dialect for Lines {
    const METHOD: &'static str = "SolveLines";

    type Request = proto::SolveLinesRequest;
    type Job = Job;
    type Responses = Responses;
    type Response = proto::SolveLinesResponse;

    fn new(context: Arc<Context>) -> Result<Self, Status> {
        Ok(Self { session: Session::new(context)?, joined: 0 })
    }

    fn bytes(request: &Self::Request) -> usize {
        request.lines.len()
    }

    fn prepare(&mut self, request: Self::Request, before: Option<&mut Job>) -> Result<Option<Job>, Status> {
        let Self { session, joined } = self;
        session.apply_options(request.options)?;
        let text = request.lines;
        match request.first_line {
            0 => {}
            1..=LAST_LINE => session.next_line = request.first_line,
            _ => return Err(invalid("first_line", format!("Lines are numbered up to {LAST_LINE}."))),
        }
        let at_start = session.next_line == 1;
        let first_line = session.number(count_lines(&text))?;
        let next_line = session.next_line;
        if let Some(workers) = &session.workers {
            if let Some(before) = before.filter(|before| before.goes_on(workers, first_line)) {
                *joined = before.add(&text, next_line, *joined);
                return Ok(None);
            }
            return Ok(Some(Job::new(Some(Arc::clone(workers)), text, first_line, next_line)));
        }
        let opening =
            sniff(&text, &session.settings.hint, at_start).map_err(|error| unreadable(&error, "lines"))?;
        let Some(opening) = opening else { return Ok(Some(Job::new(None, text, first_line, next_line))) };
        let workers = session.fix_format(opening.format)?;
        let (text, first_line) = (text.slice(opening.body..), first_line + opening.lines);
        Ok(Some(Job::new(Some(workers), text, first_line, next_line)))
    }

    fn reserve(job: &mut Job) {
        if job.workers.is_some() {
            let text = text_to_send(Workers::room_for(job.block()));
            let parts = match job.messages.len() {
                1 => Vec::new(),
                messages => list_with_size_class(messages),
            };
            job.room = OutputBuffer::new(WrittenParts { text, parts });
        }
    }

    fn workers(&self) -> Option<&Workers> {
        self.session.workers.as_deref()
    }

    fn answer(job: &Job, cancel: &dyn Cancel) -> Result<Responses, Cancelled> {
        let Some(workers) = &job.workers else { return Ok(Responses::nothing()) };
        let mut room = job.room.take();
        if room.text.is_empty() {
            room.text = text_to_send(0);
        }
        if job.messages.len() == 1 {
            return workers.write_answers_into(job.block(), cancel, room.text).map(Responses::one);
        }
        let ends = job.messages.iter().map(|message| message.next_line);
        workers.write_parts(job.block(), ends, cancel, room).map(Responses::of)
    }

    fn split(job: &Job) -> Option<Vec<Job>> {
        if job.messages.len() == 1 {
            return None;
        }
        let (mut begin, mut first_line) = (0, job.first_line);
        let each = job.messages.iter().map(|&Message { end, next_line }| {
            let text = Bytes::copy_from_slice(&job.text.bytes()[begin..end]);
            let message = Job::new(job.workers.clone(), text, first_line, next_line);
            (begin, first_line) = (end, next_line);
            message
        });
        Some(each.collect())
    }

    fn internal_errors(job: &Job) -> Responses {
        let Some(workers) = &job.workers else { return Responses::nothing() };
        Responses::one(workers.write_internal_errors(job.block(), text_to_send(0)))
    }
}
