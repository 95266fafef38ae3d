//! `SolveLines`: packed lines in, packed lines out.

use std::ops::Range;
use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use tonic::Status;

use crate::answer::{
    Block, Cancel, Cancelled, CompactTally, Solvers, Tally, Written, WrittenPart, WrittenParts,
};
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::{refuse_what_is_not_plain, unreadable};
use crate::service::rpc::stream::session::StreamSession;
use crate::service::rpc::stream::{BidiMethod, OutputBuffer};
use crate::service::rpc::text::{first_line, readable};
use crate::service::wire::codec::{LEAD, freeze_send_buffer, send_buffer, size_class, vec_with_size_class};
use crate::service::wire::convert;
use crate::service::wire::line_count::count_lines;
use crate::service::wire::proto;
use crate::service::wire::status::invalid;
use crate::text::{BYTE_ORDER_MARK, FormatError, Hint, Misfit, Preamble, sniff, sniff_part};

/// The state of a `SolveLines` stream.
pub(crate) struct SolveLines {
    session: StreamSession,
    /// Whether the first lines are from the middle of a larger text.
    is_part: bool,
    /// The number of the last line above the puzzles, as a sample of the text shows it; 0 without one.
    last_above: u64,
    /// The size of the last joined text, which is reserved for the next one: streams that send
    /// small messages keep doing so, and a text that grows bit by bit would be copied over and
    /// over.
    joined: usize,
}

/// The lines of a message, or of several consecutive ones.
pub(crate) struct LinesJob {
    /// `None` before the first line with a puzzle.
    solvers: Option<Arc<Solvers>>,
    text: JobText,
    first_line: u64,
    messages: Vec<LinesMessage>,
    buffer: OutputBuffer<WrittenParts>,
    /// Whether following lines may join. Not if each puzzle is searched by itself, or spans lines.
    takes_more: bool,
}

/// The text of a job.
enum JobText {
    /// The text of one message, as received.
    Alone(Bytes),
    /// The texts of several messages, each with a line end.
    Joined(Vec<u8>),
}

/// The end of a message in the text of its job.
#[derive(Clone, Copy)]
struct LinesMessage {
    /// The offset.
    end: usize,
    /// The number of the first line behind it.
    next_line: u64,
}

impl JobText {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Alone(text) => text,
            Self::Joined(text) => text,
        }
    }

    /// Appends a text on a new line and returns its offset. `expected` is a guess at the final
    /// size.
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

impl LinesJob {
    fn new(solvers: Option<Arc<Solvers>>, text: Bytes, first_line: u64, next_line: u64) -> Self {
        let messages = vec![LinesMessage { end: text.len(), next_line }];
        let takes_more = solvers.as_ref().is_some_and(|solvers| solvers.search_together());
        Self {
            solvers,
            text: JobText::Alone(text),
            first_line,
            messages,
            buffer: OutputBuffer::default(),
            takes_more,
        }
    }

    fn block(&self) -> Block<'_> {
        Block { text: self.text.bytes(), first_line: self.first_line }
    }

    /// Whether lines may join that have these solvers and begin with this line number.
    fn may_join(&self, solvers: &Arc<Solvers>, first_line: u64) -> bool {
        self.takes_more
            && self.solvers.as_ref().is_some_and(|own| Arc::ptr_eq(own, solvers))
            && self.messages.last().is_some_and(|last| last.next_line == first_line)
    }

    /// Appends the lines of a message and returns the size of the text. `expected` is a guess at
    /// the final size.
    fn add(&mut self, text: &[u8], next_line: u64, expected: usize) -> usize {
        let begin = self.text.join(text, expected);
        if let Some(last) = self.messages.last_mut() {
            // Joining may have added a line end to it.
            last.end = begin;
        }
        let end = begin + text.len();
        self.messages.push(LinesMessage { end, next_line });
        end
    }
}

/// Fixes the format of a stream by the beginning of the text of which its lines are a part. Returns
/// the number of lines above the first puzzle there; `None` if the sample has nothing to read.
///
/// # Errors
/// `INVALID_ARGUMENT` if the options do not fit the sample, or it is no text that could be read.
fn fix_format_by(session: &mut StreamSession, sample: &Bytes) -> Result<Option<u64>, Status> {
    let hint = &session.settings.hint;
    refuse_what_is_not_plain(sample, hint, "sample")?;
    let preamble = sniff(sample, hint, true).map_err(|error| unreadable(&error, "sample"))?;
    let Some(Preamble { format, lines, misfit, .. }) = preamble else { return Ok(None) };
    if let Some(misfit) = misfit.filter(Misfit::is_of_line_ends) {
        return Err(invalid("sample", misfit.to_string()));
    }
    session.fix_format(format)?;
    Ok(Some(lines))
}

/// Skips what the lines of a message, which have these numbers, share with the text above its first
/// puzzle: the mark of byte order, and all lines up to `last_above`. Returns the rest, and the number
/// of its first line.
fn skip_above(mut text: Bytes, lines: Range<u64>, last_above: u64) -> (Bytes, u64) {
    if lines.start == 1 && text.starts_with(BYTE_ORDER_MARK) {
        text = text.slice(BYTE_ORDER_MARK.len()..);
    }
    let above = (last_above + 1).min(lines.end).saturating_sub(lines.start);
    if above > 0 {
        let end = memchr::memchr_iter(b'\n', &text).zip(1..).find(|&(_, lines)| lines == above);
        text = text.slice(end.map_or(text.len(), |(end, _)| end + 1)..);
    }
    (text, lines.start + above)
}

/// The responses to the messages of a job.
pub(crate) struct LinesResponses {
    /// The text of the remaining responses.
    text: Bytes,
    /// The offset of that in the text of all responses.
    begin: usize,
    parts: vec::IntoIter<WrittenPart>,
}

impl LinesResponses {
    /// The response to a message without a puzzle.
    fn nothing() -> Self {
        Self::one(Written { text: send_buffer(0), tally: Tally::default() })
    }

    /// The response to one message, written to a send buffer.
    fn one(Written { text, mut tally }: Written) -> Self {
        let parts = vec![WrittenPart { end: text.len(), tally: CompactTally::take(&mut tally) }];
        Self::of(WrittenParts { text, parts })
    }

    /// The responses to several messages, written to a send buffer.
    fn of(WrittenParts { text, parts }: WrittenParts) -> Self {
        let mut total = Tally::default();
        for part in &parts {
            part.tally.add_to(&mut total);
        }
        metrics::answered(&total);
        Self { begin: LEAD, text: freeze_send_buffer(text), parts: parts.into_iter() }
    }
}

impl Iterator for LinesResponses {
    type Item = proto::SolveLinesResponse;

    fn next(&mut self) -> Option<Self::Item> {
        let WrittenPart { end, tally } = self.parts.next()?;
        let lines = self.text.split_to(end - self.begin);
        self.begin = end;
        Some(proto::SolveLinesResponse { lines, tally: Some(convert::compact_tally(&tally)) })
    }
}

impl BidiMethod for SolveLines {
    const METHOD: &'static str = "SolveLines";

    type Request = proto::SolveLinesRequest;
    type Job = LinesJob;
    type Responses = LinesResponses;
    type Response = proto::SolveLinesResponse;

    fn new(context: Arc<Context>) -> Result<Self, Status> {
        Ok(Self { session: StreamSession::new(context)?, is_part: false, last_above: 0, joined: 0 })
    }

    fn bytes(request: &Self::Request) -> usize {
        request.lines.len()
    }

    fn lines(&self) -> u64 {
        self.session.lines()
    }

    fn prepare(
        &mut self,
        request: Self::Request,
        before: Option<&mut LinesJob>,
    ) -> Result<Option<LinesJob>, Status> {
        let Self { session, is_part, last_above, joined } = self;
        let proto::SolveLinesRequest { options, lines: text, first_line: line, sample } = request;
        session.apply_options(options)?;
        if let Some(line) = first_line(line)? {
            session.numbering.next_line = line;
        }
        let at_start = session.numbering.next_line == 1;
        if session.lines() == 0 {
            *is_part = !at_start;
        }
        let first_line = session.number(count_lines(&text))?;
        let next_line = session.numbering.next_line;
        if session.solvers.is_none() {
            *last_above = fix_format_by(session, &sample)?.unwrap_or(0);
        }
        if let Some(solvers) = &session.solvers {
            let (text, first_line) = skip_above(text, first_line..next_line, *last_above);
            let text = readable(solvers.format(), text);
            if let Some(before) = before.filter(|before| before.may_join(solvers, first_line)) {
                *joined = before.add(&text, next_line, *joined);
                return Ok(None);
            }
            return Ok(Some(LinesJob::new(Some(Arc::clone(solvers)), text, first_line, next_line)));
        }
        let hint = &session.settings.hint;
        if at_start {
            refuse_what_is_not_plain(&text, hint, "lines")?;
        }
        let sniffed = if *is_part {
            // A heading is above the first puzzles of a text; each row below must have an answer.
            let has_heading = hint.has_heading.or(Some(false));
            sniff_part(&text, &Hint { has_heading, ..hint.clone() })
        } else {
            sniff(&text, hint, at_start).or_else(|error| match error {
                // Who says everything has seen more of the input than these lines, which may all
                // be bad.
                FormatError::NoColumn { .. } => sniff_part(&text, hint),
                _ => Err(error),
            })
        };
        let before = first_line - 1;
        let preamble = sniffed.map_err(|error| unreadable(&error.below(before), "lines"))?;
        let Some(preamble) = preamble else {
            return Ok(Some(LinesJob::new(None, text, first_line, next_line)));
        };
        if let Some(misfit) = preamble.misfit.filter(Misfit::is_of_line_ends) {
            return Err(invalid("lines", misfit.after(before).to_string()));
        }
        let solvers = session.fix_format(preamble.format)?;
        let text = readable(solvers.format(), text.slice(preamble.body..));
        let first_line = first_line + preamble.lines;
        Ok(Some(LinesJob::new(Some(solvers), text, first_line, next_line)))
    }

    fn reserve(job: &mut LinesJob) {
        if job.solvers.is_some() {
            let text = send_buffer(Solvers::room_for(job.block()));
            let parts = match job.messages.len() {
                1 => Vec::new(),
                messages => vec_with_size_class(messages),
            };
            job.buffer = OutputBuffer::new(WrittenParts { text, parts });
        }
    }

    fn searches_together(&self) -> bool {
        self.session.solvers.as_deref().is_some_and(Solvers::search_together)
    }

    fn answer(job: &LinesJob, cancel: &dyn Cancel) -> Result<LinesResponses, Cancelled> {
        let Some(solvers) = &job.solvers else { return Ok(LinesResponses::nothing()) };
        let mut buffer = job.buffer.take();
        if buffer.text.is_empty() {
            buffer.text = send_buffer(0);
        }
        if job.messages.len() == 1 {
            return solvers.write_answers_into(job.block(), cancel, buffer.text).map(LinesResponses::one);
        }
        let ends = job.messages.iter().map(|message| message.next_line);
        solvers.write_parts(job.block(), ends, cancel, buffer).map(LinesResponses::of)
    }

    fn split(job: &LinesJob) -> Option<Vec<LinesJob>> {
        if job.messages.len() == 1 {
            return None;
        }
        let (mut begin, mut first_line) = (0, job.first_line);
        let each = job.messages.iter().map(|&LinesMessage { end, next_line }| {
            let text = Bytes::copy_from_slice(&job.text.bytes()[begin..end]);
            let message = LinesJob::new(job.solvers.clone(), text, first_line, next_line);
            (begin, first_line) = (end, next_line);
            message
        });
        Some(each.collect())
    }

    fn internal_errors(job: &LinesJob) -> LinesResponses {
        let Some(solvers) = &job.solvers else { return LinesResponses::nothing() };
        LinesResponses::one(solvers.write_internal_errors(job.block(), send_buffer(0)))
    }
}
