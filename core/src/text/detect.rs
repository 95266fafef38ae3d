//! Auto-detection: the format of a text from its beginning.

use std::cmp::Reverse;

use super::alphabet::Codec;
use super::lines::{fields, is_no_puzzle, puzzle_lines, trim_end};
use super::readings::{are_rows, check_letters, written_cells};
use super::rows::{LineKind, classify, read_cell, tokens};
use super::{
    Alphabet, BYTE_ORDER_MARK, CsvColumns, Format, FormatError, Hint, Notation, Problem, PuzzleError, triples,
};
use crate::grid::Order;

/// The bytes of a text that detection reads.
pub const SAMPLE_BYTES: usize = 64 * 1024;

/// A whole number on the first line with more digits than this is a puzzle and no block size,
/// because the smallest puzzle that could be mistaken for one has 16 cells.
const MAX_BLOCK_SIZE_DIGITS: usize = 15;

/// What precedes the puzzles of a text, and their detected format.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Preamble {
    /// The format.
    pub format: Format,
    /// The offset of the first puzzle, behind a header or heading and what was skipped above it.
    pub body: usize,
    /// The lines before that offset.
    pub lines: u64,
}

/// Detects the format of a text from its beginning, of which the more is given the better: skips a
/// byte-order mark, if `at_start`, blank lines and comments. `None` if nothing else is in it.
///
/// # Errors
/// Like [`detect`].
///
/// ```
/// use sudoku_core::text::{Hint, Notation, sniff};
///
/// let text = b"# easy ones\n\n2\n12....1.........\n";
/// let opening = sniff(text, &Hint::default(), true)?.expect("there is a puzzle");
/// assert_eq!((opening.format.notation(), opening.lines), (Notation::Header, 3));
/// assert_eq!(&text[opening.body..], b"12....1.........\n");
/// # Ok::<(), sudoku_core::text::FormatError>(())
/// ```
pub fn sniff(text: &[u8], hint: &Hint, at_start: bool) -> Result<Option<Preamble>, FormatError> {
    let mark = if at_start && text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let (blank, blank_lines) = skip_blank_lines(&text[mark..], true);
    let skipped = mark + blank;
    let rest = &text[skipped..];
    if rest.is_empty() {
        return Ok(None);
    }
    let Preamble { format, body, lines } = detect(&rest[..rest.len().min(SAMPLE_BYTES)], hint)?;
    Ok(Some(Preamble { format, body: skipped + body, lines: blank_lines + lines }))
}

/// The length and number of the whole lines at the start of `text` that are blank or comments,
/// which must be skipped before detection. The last line of a text (`at_end`) needs no newline.
#[doc(hidden)]
#[must_use]
pub fn skip_blank_lines(text: &[u8], at_end: bool) -> (usize, u64) {
    let (mut at, mut lines) = (0, 0);
    while at < text.len() {
        let end = match memchr::memchr(b'\n', &text[at..]) {
            Some(end) => at + end + 1,
            None if at_end => text.len(),
            None => break,
        };
        if !is_no_puzzle(&text[at..end]) {
            break;
        }
        at = end;
        lines += 1;
    }
    (at, lines)
}

/// Detects the format of a text from a sample: its first [`SAMPLE_BYTES`], or all of it, without a
/// byte-order mark, blank lines and comments at its start. [`sniff`] does that. What `hint` gives
/// is not detected.
///
/// The majority of lines wins, so one bad line, be it the first, does not spoil the others.
///
/// # Errors
/// [`FormatError`]: a header other than `2` or `3`, an alphabet that does not fit the order, or a
/// text that fits two readings equally well.
pub fn detect(sample: &[u8], hint: &Hint) -> Result<Preamble, FormatError> {
    let first_end = memchr::memchr(b'\n', sample).map_or(sample.len(), |end| end + 1);
    let (first, below) = sample.split_at(first_end);
    let first = trim_end(first);
    let notation = match hint.notation {
        Some(notation) => notation,
        None => detect_notation(sample, first, below, hint)?,
    };
    let body = match notation {
        Notation::Header => first_end,
        Notation::Csv if is_heading(first) => first_end,
        _ => 0,
    };
    let text = whole_lines(sample).get(body..).unwrap_or_default();
    let columns = csv_columns(first, text);

    let named_order = match notation {
        Notation::Header => match first.trim_ascii() {
            b"2" => Order::new(2),
            b"3" => Order::new(3),
            _ => {
                let problem = Problem::InvalidBlockSize;
                return Err(FormatError::Puzzle(PuzzleError { problem, line: Some(1) }));
            }
        },
        Notation::Triples => hint.order.or_else(|| Some(triples::smallest_order(text))),
        _ => hint.order,
    };
    let lines = || {
        let column = (notation == Notation::Csv).then_some(columns.puzzle);
        puzzle_lines(text).map(move |line| field(line, column))
    };
    let with = |alphabet: &Alphabet| {
        let order = named_order.or_else(|| detect_order(notation, lines(), alphabet));
        Format::new(notation, order.unwrap_or(Order::NINE), alphabet.clone())
    };
    let mut format = if let Some(alphabet) = &hint.alphabet {
        with(alphabet)?
    } else {
        let total_fit = |format: &Format| lines().map(|line| fit(format, line)).sum::<isize>();
        let mut best = with(&Alphabet::Letters)?;
        for other in [Alphabet::Ascii, Alphabet::Alpha] {
            // Where several fit equally well, the earlier one wins.
            if let Ok(format) = with(&other)
                && total_fit(&format) > total_fit(&best)
            {
                best = format;
            }
        }
        // Most texts have one kind of blank, which is unambiguous.
        let has = |byte| memchr::memchr(byte, text).is_some();
        if has(b'0') && (has(b'.') || best.order == Order::ALL[3]) {
            check_letters(&best, lines())?;
        }
        best
    };
    format.columns = columns;
    Ok(Preamble { format, body, lines: u64::from(body > 0) })
}

fn detect_notation(sample: &[u8], first: &[u8], below: &[u8], hint: &Hint) -> Result<Notation, FormatError> {
    let text = whole_lines(sample);
    if is_block_size(first, below, hint) && !is_list_of_cells(first, text, hint) {
        return Ok(Notation::Header);
    }
    let names_puzzles = csv_column(first, PUZZLE_HEADINGS).is_some();
    let heads_puzzles = || puzzle_lines(text).nth(1).is_some_and(has_puzzle_field);
    if names_puzzles || (first.contains(&b',') && is_heading(first) && heads_puzzles()) {
        return Ok(Notation::Csv);
    }
    if is_triples(text) {
        return Ok(Notation::Triples);
    }
    let is_grid = is_grid(text, hint) || are_rows(text, sample.len() >= SAMPLE_BYTES, hint)?;
    Ok(if is_grid { Notation::Grid } else { Notation::Lines })
}

/// Whether a number on the first line is a 1x1 puzzle above others, and no block size. It is if the
/// size is given as 1x1, or if it is a cell of such a puzzle (`1` or `0`, neither of which is a
/// valid block size) and every line has one character.
fn is_list_of_cells(first: &[u8], text: &[u8], hint: &Hint) -> bool {
    let one = Order::ALL[0];
    if hint.order.is_some() {
        return hint.order == Some(one);
    }
    let alphabet = hint.alphabet.clone().unwrap_or_default();
    let format = Format::new(Notation::Lines, one, alphabet);
    format.is_ok_and(|format| read_cell(&format, first).is_some())
        && puzzle_lines(text).all(|line| line.len() == 1)
}

/// Whether the first line is a block size, valid or not: a whole number alone.
fn is_block_size(first: &[u8], below: &[u8], hint: &Hint) -> bool {
    let number = first.trim_ascii();
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    if !(1..=MAX_BLOCK_SIZE_DIGITS).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let Some(second) = below.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty())
    else {
        // With nothing below it, a number is a 1x1 puzzle; but `2` or `3` would be an invalid one.
        return hint.order.is_none() && matches!(number, b"2" | b"3");
    };
    // A number above a line of the same length is a row, if a grid has rows of that length.
    let is_row = Order::from_side(number.len()).is_some_and(|order| order.side() > 1);
    !(is_row && second.len() == number.len())
}

const PUZZLE_HEADINGS: &[&str] = &["puzzle", "puzzles", "quiz", "quizzes", "question", "sudoku"];
const SOLUTION_HEADINGS: &[&str] = &["solution", "solutions", "answer", "answers"];

/// Whether a `csv` row is a heading: one of its names is known, or all of its fields are words and
/// none is a puzzle.
fn is_heading(row: &[u8]) -> bool {
    let is_word = |field: &[u8]| field.iter().any(u8::is_ascii_alphabetic) && puzzle_order(field).is_none();
    csv_column(row, PUZZLE_HEADINGS).is_some() || fields(row).all(is_word)
}

fn has_puzzle_field(row: &[u8]) -> bool {
    fields(row).any(|field| puzzle_order(field).is_some())
}

fn csv_column(heading: &[u8], names: &[&str]) -> Option<usize> {
    fields(heading).position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes())))
}

/// The columns of puzzle and solution: by their names if known, else by the content of the rows of
/// `text`.
fn csv_columns(heading: &[u8], text: &[u8]) -> CsvColumns {
    let order = |row, column| fields(row).nth(column).and_then(|field| Order::from_cells(field.len()));
    let by_length =
        || puzzle_lines(text).find_map(|row| fields(row).position(|field| puzzle_order(field).is_some()));
    let puzzle = csv_column(heading, PUZZLE_HEADINGS).or_else(by_length).unwrap_or(0);
    let is_solution = |row| order(row, puzzle).is_some() && order(row, puzzle) == order(row, puzzle + 1);
    let solution = csv_column(heading, SOLUTION_HEADINGS)
        .or_else(|| puzzle_lines(text).any(is_solution).then_some(puzzle + 1));
    CsvColumns { puzzle, solution }
}

/// The part of a line that contains the puzzle.
fn field(line: &[u8], csv_column: Option<usize>) -> &[u8] {
    match csv_column {
        Some(column) => fields(line).nth(column).unwrap_or_default(),
        None => line,
    }
}

/// The whole lines of a sample: the last line of a full sample may be cut off and is dropped,
/// unless it is the only one.
fn whole_lines(sample: &[u8]) -> &[u8] {
    let cut_off = sample.len() >= SAMPLE_BYTES;
    let end = if cut_off { memchr::memrchr(b'\n', sample) } else { None };
    &sample[..end.unwrap_or(sample.len())]
}

/// The lines that decide whether a text is in triples.
const TRIPLES_SEEN: usize = 16;

/// Whether most lines are three numbers. Three groups of three digits are a row of a grid instead.
fn is_triples(text: &[u8]) -> bool {
    let is_triple = |line: &&[u8]| {
        let is_row = || tokens(line).all(|token| token.len() == 3);
        triples::numbers(line).is_ok_and(|[row, column, _]| row.max(column) < 100) && !is_row()
    };
    let seen = || puzzle_lines(text).take(TRIPLES_SEEN);
    let triples = seen().filter(is_triple).count();
    // If the first line is a triple, half of the lines are enough.
    2 * triples + usize::from(seen().next().is_some_and(|line| is_triple(&line))) > seen().count()
}

/// Whether there are more rows of cells than other lines.
fn is_grid(text: &[u8], hint: &Hint) -> bool {
    let codec = delimiting(&hint.alphabet.clone().unwrap_or_default(), Notation::Lines);
    let (mut rows, mut rulers, mut others) = (0, 0, 0);
    for line in puzzle_lines(text) {
        if puzzle_order(codec.cells(line)).is_some() {
            others += 1;
        } else if classify(line) == LineKind::Ruler {
            rulers += 1;
        } else if row_order(line).is_some_and(|order| order.side() > 1) {
            rows += 1;
        } else {
            others += 1;
        }
    }
    rows > others || (others == 0 && rulers > 0)
}

/// The order of puzzles of this length. A single character is inconclusive.
fn puzzle_order(cells: &[u8]) -> Option<Order> {
    Order::from_cells(cells.len()).filter(|order| order.cells() > 1)
}

/// A codec that finds the end of cells while their order is unknown: that of the largest order,
/// which takes no symbol of the alphabet for the beginning of a comment.
fn delimiting(alphabet: &Alphabet, notation: Notation) -> Codec {
    Codec::new(alphabet, alphabet.largest_order().unwrap_or(Order::NINE), notation)
}

/// The order that a row of a `grid` text suggests.
fn row_order(row: &[u8]) -> Option<Order> {
    // Separate cells have two characters at most; longer groups are several cells each.
    let are_apart = tokens(row).all(|token| token.len() <= 2);
    let count = tokens(row).count();
    let width = tokens(row).map(<[u8]>::len).sum();
    let apart = if are_apart { Order::from_side(count) } else { None };
    apart.or_else(|| Order::from_side(width))
}

/// The order that most lines suggest.
fn detect_order<'a>(
    notation: Notation,
    lines: impl Iterator<Item = &'a [u8]>,
    alphabet: &Alphabet,
) -> Option<Order> {
    if notation == Notation::Grid {
        return most_frequent(lines.filter(|line| classify(line) == LineKind::Row).filter_map(row_order));
    }
    let codec = delimiting(alphabet, notation);
    let orders = lines.filter_map(|line| Order::from_cells(codec.cells(line).len()));
    most_frequent(orders.filter(|&order| alphabet.fits(order)))
}

/// The most frequent order; of several the one that appears first.
fn most_frequent(orders: impl Iterator<Item = Order>) -> Option<Order> {
    let orders: Vec<Order> = orders.collect();
    let count = |order| orders.iter().filter(|&&other| other == order).count();
    let place = |order| orders.iter().position(|&other| other == order);
    let seen = Order::ALL.into_iter().filter(|&order| place(order).is_some());
    seen.max_by_key(|&order| (count(order), Reverse(place(order))))
}

/// How well a format fits a line: the share of readable cells minus the share of others, in
/// thousandths. 0 for a wrong length.
fn fit(format: &Format, line: &[u8]) -> isize {
    let cells = written_cells(format, line);
    if cells.is_empty() {
        return 0;
    }
    let readable = cells.iter().filter(|cell| read_cell(format, cell).is_some()).count();
    (2000 * readable / cells.len()).cast_signed() - 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_blank_lines_and_headers_are_passed_over() {
        let hint = Hint::default();
        let text = b"\xEF\xBB\xBF# note\n\n2\n1234341221434321\n";
        let opening = sniff(text, &hint, true).unwrap().unwrap();
        assert_eq!(opening.format.notation(), Notation::Header);
        assert_eq!((opening.body, opening.lines), (3 + 7 + 1 + 2, 3));
        assert!(sniff(b"\n# only\n", &hint, false).unwrap().is_none());
        let lone = sniff(b"3\n", &hint, true).unwrap().unwrap();
        assert_eq!((lone.format.notation(), lone.body), (Notation::Header, 2));
        assert_eq!(sniff(b"4\nabc\n", &hint, true).unwrap_err().to_string(), "Invalid block size.");
    }

    #[test]
    fn the_most_frequent_order_wins_and_of_several_the_first() {
        let winner = |sides: &[usize]| {
            most_frequent(sides.iter().map(|&side| Order::from_side(side).unwrap())).map(Order::side)
        };
        assert_eq!(winner(&[]), None);
        assert_eq!(winner(&[4, 9, 9]), Some(9));
        assert_eq!(winner(&[9, 4, 4, 9, 25]), Some(9));
        assert_eq!(winner(&[4, 9, 25]), Some(4));
    }

    #[test]
    fn a_line_that_is_cut_off_is_not_looked_at() {
        // The sample ends in the middle of its last line, which looks like a 4x4 puzzle.
        let mut sample = format!("{}\n", ".".repeat(80)).into_bytes();
        sample.resize(SAMPLE_BYTES - 16 - 1, b'.');
        sample.push(b'\n');
        sample.resize(SAMPLE_BYTES, b'.');
        let order = |sample: &[u8]| detect(sample, &Hint::default()).unwrap().format.order().side();
        assert_eq!(order(&sample), 9);
        sample.pop();
        sample.pop();
        sample.extend_from_slice(b".");
        assert_eq!((sample.len(), order(&sample)), (SAMPLE_BYTES - 1, 9), "fifteen characters are no puzzle");
        sample.remove(0);
        sample.push(b'.');
        assert_eq!(
            (sample.len(), order(&sample)),
            (SAMPLE_BYTES - 1, 4),
            "here the text ends, and so it is one"
        );
    }

    #[test]
    fn blank_lines_are_skipped_whole() {
        let cases = [
            ("", true, (0, 0)),
            ("\n\r\n # x\n1\n", false, (8, 3)),
            ("\n  ", false, (1, 1)),
            ("\n  ", true, (3, 2)),
            ("# x", false, (0, 0)),
            ("# x", true, (3, 1)),
        ];
        for (text, at_end, wanted) in cases {
            assert_eq!(skip_blank_lines(text.as_bytes(), at_end), wanted, "{text:?} {at_end}");
        }
    }

    #[test]
    fn the_alphabet_that_fits_best_is_found_and_letters_win_where_several_fit() {
        let alphabet =
            |line: String| detect(line.as_bytes(), &Hint::default()).unwrap().format.alphabet().clone();
        let blanks = |count| ".".repeat(count);
        assert_eq!(alphabet(format!("AG{}", blanks(254))), Alphabet::Letters);
        assert_eq!(alphabet(format!("AP{}", blanks(254))), Alphabet::Alpha);
        assert_eq!(alphabet(format!("AY{}", blanks(623))), Alphabet::Alpha);
        assert_eq!(alphabet(format!("1:{}", blanks(254))), Alphabet::Ascii);
        assert_eq!(alphabet(format!("1G{}", blanks(254))), Alphabet::Letters);
    }

    #[test]
    fn triples_are_told_by_most_of_their_lines_or_the_first_of_two() {
        let notation = |text: &str| detect(text.as_bytes(), &Hint::default()).unwrap().format.notation();
        assert_eq!(notation("1 1 5\n2 2 x\n"), Notation::Triples);
        assert_eq!(notation("1 1 5 # here\n2 2 3\n"), Notation::Triples);
        assert_eq!(notation("1 1\n2 2 3\n1 2 4\n"), Notation::Triples);
        assert_eq!(notation(&format!("1 1 5\n{0}\n{0}\n", ".".repeat(81))), Notation::Lines);
    }
}
