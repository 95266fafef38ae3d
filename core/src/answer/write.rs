//! Writing of answers, those to a block in one piece or in parts.

use std::iter::Peekable;

use super::compact_tally::CompactTally;
use super::worker::Visitor;
use super::{Answer, OutputForm, Tally, Task};
use crate::simd::{SimdTask, dispatch};
use crate::solver::Search;
use crate::text::Format;

/// Written answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The text of the answers, whole lines.
    pub text: Vec<u8>,
    /// Their tally.
    pub tally: Tally,
}

/// Written answers to a block, divided into parts.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenParts {
    /// The text of all answers, whole lines.
    pub text: Vec<u8>,
    /// The parts, in order.
    pub parts: Vec<WrittenPart>,
}

/// The answers to a part of a block.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenPart {
    /// Their end in the text of all.
    pub end: usize,
    /// Their tally.
    pub tally: CompactTally,
}

/// [`Format::write_solutions`], compiled for the widest vectors of the processor.
#[doc(hidden)]
pub fn write_solutions(format: &Format, digits: &[u8], out: &mut Vec<u8>) {
    dispatch(WriteSolutions { format, digits, out });
}

struct WriteSolutions<'a> {
    format: &'a Format,
    digits: &'a [u8],
    out: &'a mut Vec<u8>,
}

impl SimdTask for WriteSolutions<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        self.format.write_solutions(self.digits, self.out);
    }
}

/// Writes answers.
pub(super) struct Writer<'a> {
    format: &'a Format,
    task: &'a Task,
    written: Written,
}

/// Writes the answers to a block in parts.
pub(super) struct PartWriter<'a, E: Iterator> {
    writer: Writer<'a>,
    /// The first lines behind the current part and those after it.
    ends: Peekable<E>,
    /// The finished parts.
    parts: Vec<WrittenPart>,
}

impl<'a, E: Iterator<Item = u64>> PartWriter<'a, E> {
    /// `ends` are the numbers of the first lines behind the parts, ascending; finished parts are
    /// appended to `parts`.
    pub(super) fn new(
        writer: Writer<'a>,
        parts: Vec<WrittenPart>,
        ends: impl IntoIterator<IntoIter = E>,
    ) -> Self {
        Self { writer, ends: ends.into_iter().peekable(), parts }
    }

    /// Finishes the last parts, after all answers.
    pub(super) fn finish(mut self) -> WrittenParts {
        self.go_on(u64::MAX, self.end());
        WrittenParts { text: self.writer.written.text, parts: self.parts }
    }

    /// Finishes the parts before this line; the answers so far end at `end`.
    fn go_on(&mut self, line: u64, end: usize) {
        while self.ends.next_if(|&behind| behind <= line).is_some() {
            let tally = CompactTally::take(&mut self.writer.written.tally);
            self.parts.push(WrittenPart { end, tally });
        }
    }

    fn end(&self) -> usize {
        self.writer.written.text.len()
    }
}

impl<E: Iterator<Item = u64>> Visitor for PartWriter<'_, E> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.go_on(answer.line, self.end());
        self.writer.answer(answer);
    }

    fn wants_puzzles(&self) -> bool {
        self.writer.wants_puzzles()
    }

    fn wants_only_solutions(&self) -> bool {
        self.writer.wants_only_solutions()
    }

    fn solutions(&mut self, lines: &[u64], searches: &[Search], digits: &[u8]) {
        let format = self.writer.format;
        let line_bytes = format.order().cells() + 1;
        let mut end = self.end();
        for (&line, search) in lines.iter().zip(searches) {
            self.go_on(line, end);
            self.writer.count(search);
            end += line_bytes;
        }
        write_solutions(format, digits, &mut self.writer.written.text);
    }
}

impl<'a> Writer<'a> {
    /// A writer that appends to `text`.
    pub(super) fn new(format: &'a Format, task: &'a Task, text: Vec<u8>) -> Self {
        Self { format, task, written: Written { text, ..Written::default() } }
    }

    /// The written answers.
    pub(super) fn finish(self) -> Written {
        self.written
    }

    /// Counts a solution.
    fn count(&mut self, search: &Search) {
        self.written.tally.answers += 1;
        self.written.tally.metrics.add(&search.metrics);
    }
}

impl Visitor for Writer<'_> {
    fn answer(&mut self, answer: &Answer<'_>) {
        self.written.tally.count(self.task, answer);
        self.task.form.write(answer, self.format, &mut self.written.text);
    }

    fn wants_puzzles(&self) -> bool {
        self.task.form.shows_puzzles() || self.task.measure
    }

    fn wants_only_solutions(&self) -> bool {
        self.task.form == OutputForm::Solution && !self.task.measure
    }

    fn solutions(&mut self, _lines: &[u64], searches: &[Search], digits: &[u8]) {
        for search in searches {
            self.count(search);
        }
        write_solutions(self.format, digits, &mut self.written.text);
    }
}
