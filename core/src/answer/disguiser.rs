//! Disguises of many puzzles, each with its solution.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

use super::puzzle_rows::try_read_rows;
use super::row_job::{RowJob, Rows};
use super::row_tally::{Counters, HasCounters};
use super::{Block, Cancelled, PuzzleRow};
use crate::canon::Disguise;
use crate::grid::Grid;
use crate::text::{Format, PuzzleError, copy_line};

/// How puzzles are disguised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisguiseTask {
    /// The disguises of each puzzle, at most [`MAX_TIMES`](Self::MAX_TIMES).
    pub times: u32,
    /// The seed. A disguise depends on it, on the line of the puzzle and on its own number.
    pub seed: u64,
    /// Whether each puzzle stands before its disguises.
    pub with_original: bool,
}

impl DisguiseTask {
    /// The most disguises of a puzzle.
    pub const MAX_TIMES: u32 = 1_000_000;

    /// The disguise of the puzzle on this line with this number.
    fn disguise(&self, format: &Format, line: u64, number: u32) -> Disguise {
        // A million numbers take 20 bits.
        Disguise::random(format.order(), self.seed, line << 20 | u64::from(number))
    }
}

/// The numbers of rows that were disguised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisguiseTally {
    /// All rows of the input.
    pub puzzles: u64,
    /// The rows written.
    pub written: u64,
    /// The rows that were copied as they are because they are bad, by the code of the error.
    pub errors: BTreeMap<&'static str, u64>,
}

impl HasCounters for DisguiseTally {
    fn counters(&mut self) -> Counters<'_> {
        let Self { puzzles, written, errors } = self;
        let single = vec![("puzzles", puzzles), ("written", written)];
        Counters { single, by_code: errors }
    }
}

/// Rows of an input, each as often as the task says, with its puzzle and the solution beside it in
/// another disguise each time and everything else as it is. A bad row is copied once.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::answer::{Block, DisguiseJob, DisguiseTask, RowJob};
/// use sudoku_core::text::{Hint, sniff};
///
/// let text = b"id,puzzle,solution\n7,12..34..........,1234341221434321\n";
/// let preamble = sniff(text, &Hint::default(), true)?.expect("a puzzle");
/// let block = Block { text: &text[preamble.body..], first_line: 1 + preamble.lines };
/// let job = DisguiseJob::new(preamble.format, DisguiseTask { times: 2, seed: 1, with_original: false });
/// let mut out = Vec::new();
/// let tally = job.write(block, &AtomicBool::new(false), &mut out)?;
/// assert_eq!((tally.puzzles, tally.written), (1, 2));
/// assert!(String::from_utf8(out)?.lines().all(|row| row.starts_with("7,") && row.len() == 35));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DisguiseJob {
    format: Format,
    task: DisguiseTask,
}

/// About the bytes that are written as one job. The disguises of a few puzzles may still be many
/// times as long.
const WRITTEN_BYTES: usize = 1 << 20;

/// The fewest bytes that are read as one job.
const MIN_READ_BYTES: usize = 128;

impl DisguiseJob {
    /// Rows in this format.
    #[must_use]
    pub const fn new(format: Format, task: DisguiseTask) -> Self {
        Self { format, task }
    }

    /// Appends a row in all disguises.
    fn write_row(
        &self,
        row: &PuzzleRow<'_>,
        given: &mut Grid,
        rows: &mut Rows<'_, DisguiseTally>,
        mut end_row: impl FnMut(&mut Rows<'_, DisguiseTally>) -> Result<(), Cancelled>,
    ) -> Result<(), Cancelled> {
        let Self { format, task } = self;
        rows.tally.puzzles += 1;
        let solution = match row.given.map(|text| format.read_solution(text, given)) {
            None => Ok(None),
            Some(Ok(())) => Ok(Some(&*given)),
            Some(Err(problem)) => Err(problem.of_solution()),
        };
        let pair = row.puzzle.clone().and_then(|puzzle| Ok((puzzle, solution?)));
        if pair.is_err() || task.with_original {
            rows.tally.written += 1;
            copy_line(row.text, &mut rows.text);
        }
        let (puzzle, solution) = match pair {
            Ok(pair) => pair,
            Err(problem) => {
                let code = PuzzleError { problem, line: None }.code();
                *rows.tally.errors.entry(code).or_default() += 1;
                return end_row(rows);
            }
        };
        if task.with_original {
            end_row(rows)?;
        }
        for number in 0..task.times {
            rows.tally.written += 1;
            let disguise = task.disguise(format, row.line, number);
            let solution = solution.map(|solution| disguise.apply(solution));
            format.rewrite(row.text, puzzle, &disguise.apply(puzzle), solution.as_ref(), &mut rows.text);
            end_row(rows)?;
        }
        Ok(())
    }
}

impl RowJob for DisguiseJob {
    type Tally = DisguiseTally;

    fn format(&self) -> &Format {
        &self.format
    }

    /// What is written is many times as long as what is read, so few puzzles are a job.
    fn rewrites(&self) -> bool {
        true
    }

    fn job_bytes(&self) -> RangeInclusive<usize> {
        let copies = usize::try_from(self.task.times).unwrap_or(usize::MAX).saturating_add(1);
        let bytes = (WRITTEN_BYTES / copies).max(MIN_READ_BYTES);
        bytes..=bytes
    }

    /// A million disguises of a row are longer than memory, so each may be taken.
    fn answer(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        rows: &mut Rows<'_, DisguiseTally>,
    ) -> Result<(), Cancelled> {
        let mut given = Grid::empty(self.format.order());
        let is_wanted = || if cancel.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) };
        let end_row = |rows: &mut Rows<'_, DisguiseTally>| {
            is_wanted()?;
            if rows.end_row(false).is_break() { Err(Cancelled) } else { Ok(()) }
        };
        is_wanted()?;
        try_read_rows(&self.format, block, |row| self.write_row(row, &mut given, rows, end_row))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::RowTally as _;
    use super::super::row_tally::check_names;
    use super::*;
    use crate::grid::Order;
    use crate::text::{Alphabet, Notation, Problem};

    #[test]
    fn a_puzzle_of_several_lines_stands_on_one_before_its_disguises() {
        let format = Format::new(Notation::Grid, Order::ALL[1], Alphabet::Letters).unwrap();
        let text = format.readable(b"12 ..\n34 ..\n.. ..\n.. ..\n\n");
        let block = Block { text: &text, first_line: 1 };
        let task = DisguiseTask { times: 2, seed: 7, with_original: true };
        let (job, mut out) = (DisguiseJob::new(format, task), Vec::new());
        job.write(block, &AtomicBool::new(false), &mut out).unwrap();
        let lines: Vec<&str> = str::from_utf8(&out).unwrap().lines().collect();
        assert_eq!(lines[0], "12..34..........");
        assert!(lines.len() == 3 && lines.iter().all(|line| line.len() == 16), "{lines:?}");
    }

    #[test]
    fn parts_together_are_what_is_written_at_once() {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let block = Block { text: b"12..34..........\n11..\n1...............\n", first_line: 1 };
        let task = DisguiseTask { times: 50, seed: 7, with_original: true };
        let (job, never, mut whole) = (DisguiseJob::new(format, task), AtomicBool::new(false), Vec::new());
        let all = job.write(block, &never, &mut whole).unwrap();
        assert_eq!((all.puzzles, all.written, all.error_count()), (3, 103, 1));

        let (mut parts, mut sum) = (Vec::new(), DisguiseTally::default());
        let mut longest = 0;
        let mut take = |out: &mut Vec<u8>, tally: &mut DisguiseTally, _| {
            longest = longest.max(out.len());
            if out.len() >= 100 {
                parts.append(out);
                sum.add(&std::mem::take(tally));
            }
            ControlFlow::Continue(())
        };
        let mut rows = Rows::new(&mut take);
        job.answer(block, &never, &mut rows).unwrap();
        let Rows { mut text, tally, .. } = rows;
        parts.append(&mut text);
        sum.add(&tally);
        assert!(parts == whole && longest < 200);
        assert_eq!(sum, all);

        // Nothing is written after a break, whichever row it follows.
        for most in 1..=103 {
            let mut take = |_: &mut Vec<u8>, tally: &mut DisguiseTally, _| {
                if tally.written == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let mut rows = Rows::new(&mut take);
            assert_eq!(job.answer(block, &never, &mut rows), Err(Cancelled));
            assert_eq!(rows.tally.written, most);
            assert!(whole.starts_with(&rows.text));
        }
    }

    #[test]
    fn a_tally_is_known_by_its_names() {
        let errors = BTreeMap::from([(Problem::CODES[0], 4), (Problem::CODES[1], 5)]);
        let tally = DisguiseTally { puzzles: 1, written: 2, errors };
        check_names(&tally, 4, &["puzzles", "written"], &["hardest", "error of-another-program"]);
    }
}
