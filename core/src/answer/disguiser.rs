//! Disguises of many puzzles, each with its solution.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::named_tally::{Counters, HasCounters};
use super::puzzle_rows::try_read_rows;
use super::{Block, add_counts};
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

impl DisguiseTally {
    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.puzzles += other.puzzles;
        self.written += other.written;
        add_counts(&mut self.errors, &other.errors);
    }

    /// The number of rows that are bad.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}

impl HasCounters for DisguiseTally {
    fn counters(&mut self) -> Counters<'_> {
        let Self { puzzles, written, errors } = self;
        let single = vec![("puzzles", puzzles), ("written", written)];
        Counters { single, by_code: errors }
    }
}

/// Appends every row of a block as often as the task says, each time with its puzzle and the
/// solution beside it in another disguise and everything else as it is. A bad row is copied once.
///
/// ```
/// use sudoku_core::answer::{Block, DisguiseTask, write_disguises};
/// use sudoku_core::text::{Hint, sniff};
///
/// let text = b"id,puzzle,solution\n7,12..34..........,1234341221434321\n";
/// let preamble = sniff(text, &Hint::default(), true)?.expect("a puzzle");
/// let block = Block { text: &text[preamble.body..], first_line: 1 + preamble.lines };
/// let task = DisguiseTask { times: 2, seed: 1, with_original: false };
/// let mut out = Vec::new();
/// let tally = write_disguises(&preamble.format, &task, block, &mut out);
/// assert_eq!((tally.puzzles, tally.written), (1, 2));
/// assert!(String::from_utf8(out)?.lines().all(|row| row.starts_with("7,") && row.len() == 35));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_disguises(
    format: &Format,
    task: &DisguiseTask,
    block: Block<'_>,
    out: &mut Vec<u8>,
) -> DisguiseTally {
    let mut tally = DisguiseTally::default();
    write_disguises_in_parts(format, task, block, out, &mut tally, |_, _| ControlFlow::Continue(()));
    tally
}

/// Writes what [`write_disguises`] does, and adds to a tally. `pass_on` is called with both after
/// each row that is written, and may take what they hold, because a million disguises of a row are
/// longer than memory. `Break` ends the block.
pub fn write_disguises_in_parts(
    format: &Format,
    task: &DisguiseTask,
    block: Block<'_>,
    out: &mut Vec<u8>,
    tally: &mut DisguiseTally,
    mut pass_on: impl FnMut(&mut Vec<u8>, &mut DisguiseTally) -> ControlFlow<()>,
) {
    let mut given = Grid::empty(format.order());
    let mut pass_on = |out: &mut Vec<u8>, tally: &mut DisguiseTally| match pass_on(out, tally) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Unwanted),
    };
    let (Ok(()) | Err(Unwanted)) = try_read_rows(format, block, |row| {
        tally.puzzles += 1;
        let solution = match row.given.map(|text| format.read_solution(text, &mut given)) {
            None => Ok(None),
            Some(Ok(())) => Ok(Some(&given)),
            Some(Err(problem)) => Err(problem.of_solution()),
        };
        let pair = row.puzzle.clone().and_then(|puzzle| Ok((puzzle, solution?)));
        let (puzzle, solution) = match pair {
            Ok(pair) => pair,
            Err(problem) => {
                let code = PuzzleError { problem, line: None }.code();
                *tally.errors.entry(code).or_default() += 1;
                tally.written += 1;
                copy_line(row.text, out);
                return pass_on(out, tally);
            }
        };
        if task.with_original {
            tally.written += 1;
            copy_line(row.text, out);
            pass_on(out, tally)?;
        }
        for number in 0..task.times {
            tally.written += 1;
            let disguise = task.disguise(format, row.line, number);
            let solution = solution.map(|solution| disguise.apply(solution));
            format.rewrite(row.text, puzzle, &disguise.apply(puzzle), solution.as_ref(), out);
            pass_on(out, tally)?;
        }
        Ok(())
    });
}

/// Nothing more of a block is wanted.
struct Unwanted;

#[cfg(test)]
mod tests {
    use super::super::named_tally::check_names;
    use super::*;
    use crate::grid::Order;
    use crate::text::{Alphabet, Notation, Problem};

    #[test]
    fn a_puzzle_of_several_lines_stands_on_one_before_its_disguises() {
        let format = Format::new(Notation::Grid, Order::ALL[1], Alphabet::Letters).unwrap();
        let text = format.readable(b"12 ..\n34 ..\n.. ..\n.. ..\n\n");
        let block = Block { text: &text, first_line: 1 };
        let task = DisguiseTask { times: 2, seed: 7, with_original: true };
        let mut out = Vec::new();
        write_disguises(&format, &task, block, &mut out);
        let lines: Vec<&str> = str::from_utf8(&out).unwrap().lines().collect();
        assert_eq!(lines[0], "12..34..........");
        assert!(lines.len() == 3 && lines.iter().all(|line| line.len() == 16), "{lines:?}");
    }

    #[test]
    fn parts_together_are_what_is_written_at_once() {
        let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters).unwrap();
        let block = Block { text: b"12..34..........\n11..\n1...............\n", first_line: 1 };
        let task = DisguiseTask { times: 50, seed: 7, with_original: true };
        let mut whole = Vec::new();
        let all = write_disguises(&format, &task, block, &mut whole);
        assert_eq!((all.puzzles, all.written, all.error_count()), (3, 103, 1));

        let (mut parts, mut sum) = (Vec::new(), DisguiseTally::default());
        let mut longest = 0;
        let take = |out: &mut Vec<u8>, tally: &mut DisguiseTally| {
            longest = longest.max(out.len());
            if out.len() >= 100 {
                parts.append(out);
                sum.add(&std::mem::take(tally));
            }
            ControlFlow::Continue(())
        };
        let (mut out, mut tally) = (Vec::new(), DisguiseTally::default());
        write_disguises_in_parts(&format, &task, block, &mut out, &mut tally, take);
        parts.append(&mut out);
        sum.add(&tally);
        assert!(parts == whole && longest < 200);
        assert_eq!(sum, all);

        // Nothing is written after a break, whichever row it follows.
        for rows in 1..=103 {
            let (mut out, mut tally) = (Vec::new(), DisguiseTally::default());
            write_disguises_in_parts(&format, &task, block, &mut out, &mut tally, |_, tally| {
                if tally.written == rows { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(tally.written, rows);
            assert!(whole.starts_with(&out));
        }
    }

    #[test]
    fn a_tally_is_known_by_its_names() {
        let errors = BTreeMap::from([(Problem::CODES[0], 4), (Problem::CODES[1], 5)]);
        let tally = DisguiseTally { puzzles: 1, written: 2, errors };
        check_names(&tally, 4, &["puzzles", "written"], &["hardest", "error of-another-program"]);
    }
}
