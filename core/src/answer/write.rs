//! Answers written out, those to a block in one piece or in parts.

use std::iter::Peekable;

use super::compact_tally::CompactTally;
use super::worker::Visitor;
use super::{Answer, OutputForm, Tally, Task};
use crate::simd::{SimdTask, dispatch};
use crate::solver::Search;
use crate::text::Format;

/// Answers written out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The text of the answers, whole lines.
    pub text: Vec<u8>,
    /// What they are.
    pub tally: Tally,
}

/// Answers to a block, written out in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenParts {
    /// The text of all answers, whole lines.
    pub text: Vec<u8>,
    /// The parts, in order.
    pub parts: Vec<WrittenPart>,
}

/// The answers to a part of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenPart {
    /// Where they end in the text of all.
    pub end: usize,
    /// What they are.
    pub tally: CompactTally,
}

/// As [`Format::write_solutions`], which is a good part of what answers to easy puzzles take.
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
    /// The first lines behind the part on hand and behind those after it.
    ends: Peekable<E>,
    /// Those that are done.
    parts: Vec<WrittenPart>,
}

impl<'a, E: Iterator<Item = u64>> PartWriter<'a, E> {
    /// `ends` are the numbers of the first lines behind the parts, ascending; `parts` is where these go.
    pub(super) fn new(
        writer: Writer<'a>,
        parts: Vec<WrittenPart>,
        ends: impl IntoIterator<IntoIter = E>,
    ) -> Self {
        Self { writer, ends: ends.into_iter().peekable(), parts }
    }

    /// What has been written, when all answers have been given.
    pub(super) fn finish(mut self) -> WrittenParts {
        self.go_on(u64::MAX, self.end());
        WrittenParts { text: self.writer.written.text, parts: self.parts }
    }

    /// Goes on to the part that this line is in; all answers before it end at `end` in the text.
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
    /// Writes to `text`, behind what is there.
    pub(super) fn new(format: &'a Format, task: &'a Task, text: Vec<u8>) -> Self {
        Self { format, task, written: Written { text, ..Written::default() } }
    }

    /// What has been written.
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
