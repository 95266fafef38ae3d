//! Writing of answers, those to a block in one piece or in parts.

use std::iter::Peekable;

use super::block_solver::{BulkVisitor, Visitor};
use super::compact_tally::CompactTally;
use super::rater::verdict;
use super::{AddedColumn, AddedColumns, Answer, OutputForm, RowForm, RowWriter, Tally, Task};
use crate::simd::{SimdTask, dispatch};
use crate::solver::Search;
use crate::techniques::{Rating, Technique};
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

/// Answers as rows with columns.
pub(super) struct AnswerRows {
    writer: RowWriter,
    added: AddedColumns,
    /// Whether the input is no table, so that the puzzle is the only column to keep.
    is_list: bool,
    has_lines: bool,
}

impl AnswerRows {
    /// `None` if the answers to this task are no such rows.
    pub(super) fn new(task: &Task, format: &Format) -> Option<Self> {
        let (form, added) = (task.form.row_form()?, task.added_columns(format)?);
        let is_list = !RowWriter::keeps_columns(format, form);
        let has_lines = is_list && form == RowForm::Json;
        let line = has_lines.then_some("line");
        let puzzle = is_list.then_some("puzzle");
        let names = line.into_iter().chain(puzzle).chain(added.iter().map(AddedColumn::name));
        Some(Self { writer: RowWriter::new(format, form, names), added, is_list, has_lines })
    }

    pub(super) fn write_heading(&self, format: &Format, out: &mut Vec<u8>) {
        self.writer.write_heading(format, out);
    }

    fn shows_puzzles(&self) -> bool {
        self.is_list || self.added.contains(AddedColumn::Clues)
    }

    fn write(&self, answer: &Answer<'_>, format: &Format, out: &mut Vec<u8>) {
        let facts = &answer.row;
        let mut row = self.writer.row(facts.text, out);
        if self.has_lines {
            row.number(answer.line);
        }
        if self.is_list {
            row.cells(answer.puzzle, format);
        }
        for column in self.added.iter() {
            match column {
                AddedColumn::Solution => {
                    row.cells(facts.solution.filter(|_| answer.result.is_ok()), format);
                }
                AddedColumn::Error => {
                    row.text(answer.result.as_ref().err().map(|error| error.code().as_bytes()));
                }
                AddedColumn::Minimal => row.flag(facts.is_minimal),
                AddedColumn::Rating => {
                    row.score(
                        facts.rating.filter(|rating| rating.is_complete()).and_then(|rating| rating.er),
                    );
                }
                AddedColumn::Technique => row.text(facts.rating.and_then(technique).map(str::as_bytes)),
                AddedColumn::Canonical => row.cells(facts.canonical.map(|form| &form.puzzle), format),
                AddedColumn::Solutions => row.number(facts.solutions),
                AddedColumn::Clues => row.number(answer.puzzle.map(|puzzle| puzzle.filled() as u64)),
                AddedColumn::Nodes => row.number(facts.is_read.then_some(answer.metrics.nodes)),
                AddedColumn::Guesses => row.number(facts.is_read.then_some(answer.metrics.guesses)),
            }
        }
        row.end();
    }
}

/// The hardest technique of a rating, or why it is not known.
fn technique(rating: &Rating) -> Option<&'static str> {
    if rating.is_complete() { rating.hardest.map(Technique::name) } else { Some(verdict(rating)) }
}

/// Writes answers.
pub(super) struct Writer<'a> {
    format: &'a Format,
    task: &'a Task,
    rows: Option<AnswerRows>,
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

    fn wants_rows(&self) -> bool {
        self.writer.wants_rows()
    }

    fn bulk(&mut self) -> Option<&mut dyn BulkVisitor> {
        if self.writer.takes_bulk() { Some(self) } else { None }
    }
}

impl<E: Iterator<Item = u64>> BulkVisitor for PartWriter<'_, E> {
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
        let rows = AnswerRows::new(task, format);
        Self { format, task, rows, written: Written { text, ..Written::default() } }
    }

    /// The written answers.
    pub(super) fn finish(self) -> Written {
        self.written
    }

    /// Whether nothing but the solutions is written.
    fn takes_bulk(&self) -> bool {
        matches!(self.task.form, OutputForm::Solution | OutputForm::Digits) && !self.task.measure
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
        match &self.rows {
            Some(rows) => rows.write(answer, self.format, &mut self.written.text),
            None => self.task.form.write(answer, self.format, &mut self.written.text),
        }
    }

    fn wants_puzzles(&self) -> bool {
        let shows_puzzles = match &self.rows {
            Some(rows) => rows.shows_puzzles(),
            None => self.task.form.shows_puzzles(),
        };
        shows_puzzles || self.task.measure
    }

    fn wants_rows(&self) -> bool {
        self.rows.is_some()
    }

    fn bulk(&mut self) -> Option<&mut dyn BulkVisitor> {
        if self.takes_bulk() { Some(self) } else { None }
    }
}

impl BulkVisitor for Writer<'_> {
    fn solutions(&mut self, _lines: &[u64], searches: &[Search], digits: &[u8]) {
        for search in searches {
            self.count(search);
        }
        if self.task.form == OutputForm::Digits {
            return self.written.text.extend_from_slice(digits);
        }
        write_solutions(self.format, digits, &mut self.written.text);
    }
}
