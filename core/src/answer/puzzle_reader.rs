//! Readers of puzzles that come from arrays and columns instead of a text.

use std::iter::Peekable;

use crate::grid::{Grid, Order, OutOfRange};
use crate::simd::{SimdTask, dispatch};
use crate::text::{Format, Problem};

/// A reader of puzzles of one order, each of which has a place in a list instead of a line.
pub trait PuzzleReader {
    /// The order of the puzzles.
    fn order(&self) -> Order;

    /// Reads puzzles into `cells`, one byte a cell, contiguously, as long as nothing is wrong with
    /// them and as `cells` has room. Returns their number, which may be less than there are: the
    /// next one is for [`Self::read`].
    fn read_plain(&mut self, cells: &mut [u8]) -> usize;

    /// Reads the next puzzle, or its error, in which case its cells are unspecified. `None` at the
    /// end.
    fn read(&mut self, puzzle: &mut Grid) -> Option<Result<(), Problem>>;
}

/// A task that reads what is plain, because copying and decoding are several times as fast with
/// the instructions that the processor has.
struct ReadPlain<'a, R>(&'a mut R, &'a mut [u8]);

impl<R: PuzzleReader> SimdTask for ReadPlain<'_, R> {
    type Output = usize;

    #[inline(always)]
    fn work(self) -> usize {
        self.0.read_plain(self.1)
    }
}

/// [`PuzzleReader::read_plain`] with the instructions that the processor has.
pub(super) fn read_plain(reader: &mut impl PuzzleReader, cells: &mut [u8]) -> usize {
    dispatch(ReadPlain(reader, cells))
}

/// A reader of puzzles in an array with one byte a cell: its digit, or 0 for a blank.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use sudoku_core::answer::{DigitReader, Task, Solvers};
/// use sudoku_core::grid::Order;
/// use sudoku_core::text::{Alphabet, Format, Notation};
///
/// let digits = [1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 0, 0, 4, 3, 2, 1]; // one 4x4 puzzle
/// let format = Format::new(Notation::Lines, Order::ALL[1], Alphabet::Letters)?;
/// let solvers = Solvers::new(format, Task::default());
/// let mut reader = DigitReader::new(Order::ALL[1], &digits);
/// let written = solvers.write_puzzles(&mut reader, 1, &AtomicBool::new(false))?;
/// assert_eq!(written.text, b"1234341221434321\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DigitReader<'a> {
    order: Order,
    digits: &'a [u8],
}

impl<'a> DigitReader<'a> {
    /// A reader of whole puzzles; what is left over at the end is not read.
    #[must_use]
    pub const fn new(order: Order, digits: &'a [u8]) -> Self {
        Self { order, digits }
    }
}

impl PuzzleReader for DigitReader<'_> {
    fn order(&self) -> Order {
        self.order
    }

    #[inline(always)]
    fn read_plain(&mut self, cells: &mut [u8]) -> usize {
        let (length, side) = (self.order.cells(), self.order.side());
        let mut count = 0;
        for (from, to) in self.digits.chunks_exact(length).zip(cells.chunks_exact_mut(length)) {
            to.copy_from_slice(from);
            // The copy is looked at, because somebody else may write to an array.
            if usize::from(greatest(to)) > side {
                break;
            }
            count += 1;
        }
        self.digits = &self.digits[count * length..];
        count
    }

    fn read(&mut self, puzzle: &mut Grid) -> Option<Result<(), Problem>> {
        let (digits, rest) = self.digits.split_at_checked(self.order.cells())?;
        self.digits = rest;
        if puzzle.order() != self.order {
            puzzle.reset(self.order);
        }
        let cells = puzzle.digits_mut();
        cells.copy_from_slice(digits);
        let (value, side) = (usize::from(greatest(cells)), self.order.side());
        if value <= side {
            return Some(Ok(()));
        }
        cells.fill(0);
        Some(Err(Problem::OutOfRange(OutOfRange { what: "value", value, side })))
    }
}

/// The greatest byte. A maximum instead of a search, because it is vectorised.
#[inline(always)]
fn greatest(digits: &[u8]) -> u8 {
    digits.iter().fold(0, |greatest, &digit| greatest.max(digit))
}

/// A reader of puzzles that are a text each, in a notation with one puzzle a line. A text that is
/// missing (`None`) has the error [`Problem::Empty`].
pub struct TextReader<'f, I: Iterator> {
    format: &'f Format,
    /// One that is no plain puzzle is looked at, and read next.
    texts: Peekable<I>,
}

impl<'a, 'f, I: Iterator<Item = Option<&'a [u8]>>> TextReader<'f, I> {
    /// A reader of these texts, each of which is one puzzle whatever it contains.
    pub fn new(format: &'f Format, texts: I) -> Self {
        Self { format, texts: texts.peekable() }
    }
}

impl<'a, I: Iterator<Item = Option<&'a [u8]>>> PuzzleReader for TextReader<'_, I> {
    fn order(&self) -> Order {
        self.format.order()
    }

    #[inline(always)]
    fn read_plain(&mut self, cells: &mut [u8]) -> usize {
        if self.format.order() != Order::NINE {
            return 0;
        }
        let mut count = 0;
        for digits in cells.as_chunks_mut().0 {
            let is_plain = |text: &I::Item| {
                let cells = text.and_then(|text| <&[u8; 81]>::try_from(text).ok());
                cells.is_some_and(|cells| self.format.read_plain_9x9(cells, digits))
            };
            if self.texts.next_if(is_plain).is_none() {
                break;
            }
            count += 1;
        }
        count
    }

    fn read(&mut self, puzzle: &mut Grid) -> Option<Result<(), Problem>> {
        Some(match self.texts.next()? {
            None => Err(Problem::Empty),
            Some(text) => self.format.read_line(text, 1, puzzle).map_err(|error| error.problem),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::{
        Block, CanonRow, CanonTask, Canonizers, CheckTask, CheckedRow, Checkers, RateTask, RatedRow, Raters,
    };
    use super::*;
    use crate::text::{Alphabet, Notation};

    /// Reads everything, what is plain in pieces of `room` puzzles.
    fn read_all(reader: &mut impl PuzzleReader, room: usize) -> Vec<Result<String, String>> {
        let order = reader.order();
        let (mut all, mut grid) = (Vec::new(), Grid::empty(order));
        let mut cells = vec![0xFF; room * order.cells()];
        loop {
            let count = read_plain(reader, &mut cells);
            assert!(count <= room);
            let plain = cells.chunks_exact(order.cells()).take(count);
            all.extend(plain.map(|digits| Ok(Grid::from_digits(order, digits).to_string())));
            if count == room {
                continue;
            }
            match reader.read(&mut grid) {
                None => return all,
                Some(Ok(())) => all.push(Ok(grid.to_string())),
                Some(Err(problem)) => all.push(Err(problem.code().to_owned())),
            }
        }
    }

    #[test]
    fn digits_and_texts_of_them_are_read_alike() {
        for order in Order::ALL {
            let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
            let side = order.side();
            let mut digits = Vec::new();
            let mut texts = Vec::new();
            for k in 0..50 {
                let value = |at| u8::try_from((at * 7 + k) % (side + 1)).unwrap();
                let cells: Vec<u8> = (0..order.cells()).map(value).collect();
                let mut text = Vec::new();
                format.write_digits(&cells, &mut text);
                digits.extend(cells);
                texts.push(text);
            }
            for room in [1, 3, 64] {
                let from_digits = read_all(&mut DigitReader::new(order, &digits), room);
                assert_eq!(from_digits.len(), 50);
                let texts = texts.iter().map(|text| Some(text.as_slice()));
                assert_eq!(read_all(&mut TextReader::new(&format, texts), room), from_digits);
            }
        }
    }

    #[test]
    fn puzzles_are_checked_rated_and_put_in_canonical_form_as_their_lines_are() {
        const PUZZLE: &str =
            "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
        let solution = crate::solve(PUZZLE).unwrap().to_string();
        let wrong = solution.replacen('5', "6", 1);
        let blank = ".".repeat(81);
        let rows: Vec<[&str; 2]> = vec![
            [PUZZLE, &solution],
            [PUZZLE, &wrong],
            [PUZZLE, &solution[..80]],
            ["12", &solution],
            [&wrong, &solution],
            [PUZZLE, PUZZLE],
            [&blank, &solution],
        ];
        let text: String = rows.iter().map(|[puzzle, given]| format!("{puzzle},{given}\n")).collect();
        let block = Block { text: text.as_bytes(), first_line: 1 };
        let format = |notation| Format::new(notation, Order::NINE, Alphabet::Letters).unwrap();
        let (lines, csv, never) = (format(Notation::Lines), format(Notation::Csv), AtomicBool::new(false));
        let column = |at: usize| {
            let texts = rows.iter().map(move |row| Some(row[at].as_bytes()));
            TextReader::new(&lines, texts)
        };
        for is_unique in [false, true] {
            let task = CheckTask { is_unique, ..CheckTask::default() };
            let checkers = Checkers::new(csv.clone(), task);
            let (mut of_text, mut of_columns) = (Vec::new(), Vec::new());
            let visit = |row: &CheckedRow<'_>| of_text.push((row.line, row.finding.clone()));
            let tally = checkers.check(block, true, &never, visit).unwrap();
            let visit = |row: &CheckedRow<'_>| of_columns.push((row.line, row.finding.clone()));
            let (mut puzzles, mut given) = (column(0), column(1));
            let checked = checkers.check_puzzles(&mut puzzles, Some(&mut given), 1, true, &never, visit);
            assert_eq!((checked.unwrap(), of_columns), (tally, of_text));
        }
        let raters = Raters::new(csv.clone(), RateTask::default());
        let (mut of_text, mut of_column) = (Vec::new(), Vec::new());
        let tally = raters.rate(block, &never, |row| of_text.push((row.line, row.result.clone()))).unwrap();
        let visit = |row: &RatedRow<'_>| of_column.push((row.line, row.result.clone()));
        let rated = raters.rate_puzzles(&mut column(0), 1, &never, visit).unwrap();
        assert_eq!((rated, of_column), (tally, of_text));
        let canonizers = Canonizers::new(csv, CanonTask::default());
        let (mut of_text, mut of_column) = (Vec::new(), Vec::new());
        let tally =
            canonizers.canonize(block, &never, |row| of_text.push((row.line, row.result.clone()))).unwrap();
        let visit = |row: &CanonRow<'_>| of_column.push((row.line, row.result.clone()));
        let formed = canonizers.canonize_puzzles(&mut column(0), 1, &never, visit).unwrap();
        assert_eq!((formed, of_column), (tally, of_text));
    }

    #[test]
    fn what_is_wrong_keeps_its_place() {
        let order = Order::NINE;
        let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
        let blank = ".".repeat(81);
        let texts =
            ["", &blank, "# a comment", &blank[1..], &format!("{}x", &blank[..80]), &format!("{blank}\n")];
        let said = |text: &Result<String, String>| match text {
            Ok(_) => "good".to_owned(),
            Err(code) => code.clone(),
        };
        let each = texts.iter().map(|text| Some(text.as_bytes())).chain([None, Some(blank.as_bytes())]);
        let read: Vec<String> = read_all(&mut TextReader::new(&format, each), 4).iter().map(said).collect();
        let wanted =
            ["wrong_length", "good", "wrong_length", "wrong_length", "good", "good", "empty", "good"];
        assert_eq!(read, wanted);

        let mut digits = vec![0; 4 * 81 + 5];
        digits[81] = 10;
        digits[3 * 81 - 1] = 9;
        digits[3 * 81] = b'1';
        let read: Vec<String> = read_all(&mut DigitReader::new(order, &digits), 4).iter().map(said).collect();
        assert_eq!(read, ["good", "invalid_character", "good", "invalid_character"]);
        let mut reader = DigitReader::new(order, &digits[81..]);
        let error = reader.read(&mut Grid::empty(order)).unwrap().unwrap_err();
        let sentence = crate::text::PuzzleError { problem: error, line: Some(2) }.to_string();
        assert_eq!(sentence, "Line 2 has an invalid character. The value 10 is outside 1 to 9.");
    }
}
