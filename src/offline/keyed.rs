//! Rows of an input with the keys of their puzzles: equal for puzzles that are the same.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::OfflineError;
use crate::answer::{CanonTask, Canonizers, read_rows};
use crate::grid::{Grid, Order};
use crate::input::Chunk;
use crate::text::{Format, Problem, PuzzleError, copy_line};

/// What makes two puzzles the same.
#[derive(Clone, Copy, Debug)]
pub enum Sameness {
    /// The same digits in the same cells, however they are written.
    Exact,
    /// The same canonical form.
    Canonical(CanonTask),
}

/// A maker of the rows of a chunk.
type KeyedJob = Arc<dyn Fn(&Chunk) -> Result<KeyedPart, OfflineError> + Send + Sync>;

impl Sameness {
    /// The work on a chunk of an input in this format. Puzzles of sizes without canonical forms are
    /// the same only if they are exactly that.
    pub(super) fn work(
        self,
        format: &Format,
        cancel: &Arc<AtomicBool>,
    ) -> impl Fn(&Chunk) -> Result<KeyedPart, OfflineError> + Clone + Send + 'static {
        let format = format.clone();
        let job: KeyedJob = match self {
            Self::Canonical(task) if format.order() == Order::NINE => {
                let (canonizers, cancel) = (Canonizers::new(format, task), Arc::clone(cancel));
                Arc::new(move |chunk| canonical_part(chunk, &canonizers, &cancel))
            }
            _ => Arc::new(move |chunk| Ok(exact_part(chunk, &format))),
        };
        move |chunk| job(chunk)
    }
}

/// What makes the rows of a chunk where the work panics: none has a key.
pub(super) fn without_keys(
    format: &Format,
) -> impl Fn(&Chunk) -> Result<KeyedPart, OfflineError> + Clone + Send + 'static {
    let format = format.clone();
    move |chunk| {
        let mut part = KeyedPart::new(chunk.end());
        let code = PuzzleError { problem: Problem::Internal, line: None }.code();
        read_rows(&format, chunk.block(), |row| part.add(row.line, row.text, Err(code)));
        Ok(part)
    }
}

/// The rows of a part of an input.
pub(super) struct KeyedPart {
    pub(super) end: u64,
    /// The text of all rows, each with a newline at its end.
    pub(super) text: Vec<u8>,
    pub(super) keys: Vec<u8>,
    pub(super) rows: Vec<KeyedRow>,
}

pub(super) struct KeyedRow {
    pub(super) line: u64,
    pub(super) text: Range<usize>,
    pub(super) key: Result<Range<usize>, &'static str>,
}

impl KeyedPart {
    const fn new(end: u64) -> Self {
        Self { end, text: Vec::new(), keys: Vec::new(), rows: Vec::new() }
    }

    fn add(&mut self, line: u64, text: &[u8], cells: Result<&Grid, &'static str>) {
        let begin = self.text.len();
        copy_line(text, &mut self.text);
        let key = cells.map(|cells| {
            let begin = self.keys.len();
            pack(cells, &mut self.keys);
            begin..self.keys.len()
        });
        self.rows.push(KeyedRow { line, text: begin..self.text.len(), key });
    }
}

/// Appends the cells of a grid, which are known from these bytes alone: a bit a cell for whether it
/// is filled, and the digits of those that are, two in a byte where the side allows.
fn pack(grid: &Grid, out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + grid.digits().len().div_ceil(8), 0);
    let digits = grid.digits().iter().enumerate().filter(|(_, digit)| **digit != 0);
    let is_short = grid.order().side() < 16;
    let mut half = None;
    for (cell, &digit) in digits {
        out[begin + cell / 8] |= 1 << (cell % 8);
        match half.take() {
            _ if !is_short => out.push(digit),
            None => half = Some(digit),
            Some(first) => out.push(first << 4 | digit),
        }
    }
    out.extend(half.map(|first| first << 4));
}

fn canonical_part(
    chunk: &Chunk,
    canonizers: &Canonizers,
    cancel: &AtomicBool,
) -> Result<KeyedPart, OfflineError> {
    let mut part = KeyedPart::new(chunk.end());
    canonizers.canonize(chunk.block(), cancel, |row| {
        let cells = row.result.as_ref().map(|form| &form.puzzle).map_err(PuzzleError::code);
        part.add(row.line, row.text, cells);
    })?;
    Ok(part)
}

fn exact_part(chunk: &Chunk, format: &Format) -> KeyedPart {
    let mut part = KeyedPart::new(chunk.end());
    read_rows(format, chunk.block(), |row| {
        let code = |problem: &Problem| PuzzleError { problem: problem.clone(), line: None }.code();
        part.add(row.line, row.text, row.puzzle.as_ref().copied().map_err(code));
    });
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_wherever_cells_do() {
        let mut seen = std::collections::HashSet::new();
        for order in Order::ALL {
            let side = u8::try_from(order.side()).unwrap();
            let mut grids = vec![Grid::empty(order)];
            for cell in 0..order.cells() {
                for digit in [1, side] {
                    let mut grid = Grid::empty(order);
                    grid.digits_mut()[cell] = digit;
                    grids.push(grid.clone());
                    grid.digits_mut()[0] = side;
                    grids.push(grid);
                }
            }
            grids.sort_unstable_by(|a, b| a.digits().cmp(b.digits()));
            grids.dedup();
            for grid in grids {
                let mut key = Vec::new();
                pack(&grid, &mut key);
                assert!(seen.insert((order, key)), "{grid:?}");
            }
        }
    }
}
