//! A file in memory, cut into parts that can be answered side by side.

use std::ops::Range;

use anyhow::bail;
use sudoku_stream::answer::{Block, Tally};
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::{Batch, Metrics};
use sudoku_stream::text::{Format, Problem, Records};

use crate::cli::input::Input;

/// The size of a part: about as many puzzles of 81 cells as a worker searches together.
const PART_BYTES: usize = 640 * 1024;

/// The smallest part with several threads. A smaller one would leave lanes of a batch idle.
const MIN_PART_BYTES: usize = 64 * 1024;

/// Parts per thread, so that all threads end at about the same time.
const PARTS_PER_THREAD: usize = 8;

/// A file in memory.
pub struct Subject {
    /// Its name in reports.
    pub name: String,
    /// Its format.
    pub format: Format,
    /// The puzzles that can be searched: they could be read, and their clues keep the rules.
    pub searchable: u64,
    /// The error lines of the others, the same for every strategy.
    pub refused: Tally,
    text: Vec<u8>,
    parts: Vec<SubjectPart>,
}

/// A part of the text that holds whole puzzles.
struct SubjectPart {
    range: Range<usize>,
    first_line: u64,
}

impl Subject {
    /// Reads the whole input.
    pub fn load(input: &Input, threads: usize) -> anyhow::Result<Self> {
        let mut reader = input.reader()?;
        let (name, format) = (reader.name().to_owned(), reader.format().clone());
        let first_line = reader.line();
        let mut text = Vec::new();
        while let Some(chunk) = reader.next_chunk()? {
            text.extend_from_slice(chunk.block().text);
        }
        let part_bytes = match threads {
            1 => PART_BYTES,
            _ => (text.len() / (threads * PARTS_PER_THREAD)).clamp(MIN_PART_BYTES, PART_BYTES),
        };
        let parts = cut(&format, &text, first_line, part_bytes);
        let mut subject = Self { name, format, searchable: 0, refused: Tally::default(), text, parts };
        let (batches, refused) = subject.read();
        subject.searchable = batches.iter().map(|batch| batch.len() as u64).sum();
        subject.refused = refused;
        if subject.puzzles() == 0 {
            bail!("{} is empty.", subject.name);
        }
        Ok(subject)
    }

    /// The number of puzzles, good and bad.
    pub const fn puzzles(&self) -> u64 {
        self.searchable + self.refused.answers
    }

    /// The number of parts.
    pub const fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The text of a part.
    pub fn block(&self, part: usize) -> Block<'_> {
        let SubjectPart { range, first_line } = &self.parts[part];
        Block { text: &self.text[range.clone()], first_line: *first_line }
    }

    /// The puzzles that can be searched, a batch for each part, without results.
    pub fn batches(&self) -> Vec<Batch> {
        self.read().0
    }

    /// Reads all puzzles, and tallies those that cannot be searched.
    fn read(&self) -> (Vec<Batch>, Tally) {
        let mut refused = Tally::default();
        let mut puzzle = Grid::empty(self.format.order());
        let mut read_part = |part| {
            let mut batch = Batch::new(self.format.order());
            let block = self.block(part);
            let mut records = Records::new(&self.format, block.text, block.first_line);
            while let Some(record) = records.read(&mut puzzle) {
                let problem = record.error.map(|error| error.problem);
                match problem.or_else(|| puzzle.first_conflict().map(Problem::RuleBroken)) {
                    None => batch.push(&puzzle),
                    Some(problem) => {
                        refused.count_one(Some(problem.code()), &Metrics::default());
                    }
                }
            }
            batch
        };
        let batches = (0..self.parts()).map(&mut read_part).collect();
        (batches, refused)
    }
}

/// Cuts a text into parts of about `part_bytes`; larger ones only where a puzzle is.
fn cut(format: &Format, text: &[u8], first_line: u64, part_bytes: usize) -> Vec<SubjectPart> {
    let (mut parts, mut start, mut line) = (Vec::new(), 0, first_line);
    while start < text.len() {
        let end = start + format.cut_about(&text[start..], part_bytes);
        parts.push(SubjectPart { range: start..end, first_line: line });
        line += memchr::memchr_iter(b'\n', &text[start..end]).count() as u64;
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use sudoku_stream::grid::Order;
    use sudoku_stream::text::{Alphabet, Notation};

    use super::*;

    #[test]
    fn parts_hold_whole_puzzles_and_know_their_lines() {
        let format = Format::new(Notation::Lines, Order::from_side(4).unwrap(), Alphabet::Letters).unwrap();
        let line = "1234341221434321\n";
        let text = line.repeat(10);
        for part_bytes in [1, 17, 18, 40, 1000] {
            let parts = cut(&format, text.as_bytes(), 5, part_bytes);
            let mut end = 0;
            for part in &parts {
                assert_eq!(part.range.start, end);
                assert_eq!(part.range.len() % line.len(), 0);
                assert_eq!(part.first_line, 5 + (part.range.start / line.len()) as u64);
                end = part.range.end;
            }
            assert_eq!(end, text.len());
            assert_eq!(
                parts.len(),
                if part_bytes < 40 { 10 } else { text.len().div_ceil(part_bytes / 17 * 17) }
            );
        }
    }
}
