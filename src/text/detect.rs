//! Detection: what a text is, seen from its beginning.

use super::alphabet::Codec;
use super::lines::{is_no_puzzle, trim_end, trim_field};
use super::rows::{Line, classify, tokens};
use super::{Alphabet, CsvColumns, Format, FormatError, Hint, Notation, Problem, PuzzleError, triples};
use crate::grid::Order;

/// How much of a text detection looks at.
pub const SAMPLE_BYTES: usize = 64 * 1024;

/// A whole number on the first line with more digits than this is a puzzle, not a block size: the
/// smallest puzzle that can be mistaken for one has 16 cells.
const MAX_BLOCK_SIZE_DIGITS: usize = 15;

/// What detection found.
#[derive(Clone, Debug)]
pub struct Opening {
    /// How the text is written.
    pub format: Format,
    /// The length of what stands before the first puzzle, a header or a heading.
    pub body: usize,
    /// The lines that this takes up.
    pub lines: u64,
}

/// The length of the whole lines at the start of `text` that are blank or comments, and how many they
/// are. Detection wants them gone. At the end of the text (`at_end`) the last line needs no newline.
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

/// Finds out how a text is written. `sample` is its beginning: [`SAMPLE_BYTES`] of it or all there is,
/// after [`skip_blank_lines`] and without a byte-order mark. `hint` is obeyed where it says something.
///
/// # Errors
/// `Invalid block size.` for a header that is no `2` or `3`, and an alphabet that does not fit the size.
pub fn detect(sample: &[u8], hint: &Hint) -> Result<Opening, FormatError> {
    let lines = || sample.split(|&b| b == b'\n');
    let first = trim_end(lines().next().unwrap_or_default());
    let more_lines = sample.contains(&b'\n') && lines().skip(1).any(|line| !line.trim_ascii().is_empty());
    let notation = hint.notation.unwrap_or_else(|| detect_notation(sample, first, more_lines));

    let mut body = 0;
    let mut columns = None;
    match notation {
        Notation::Header | Notation::Csv => {
            body = memchr::memchr(b'\n', sample).map_or(sample.len(), |end| end + 1);
            if notation == Notation::Csv {
                columns = Some(csv_columns(first));
            }
        }
        Notation::Lines | Notation::Grid | Notation::Triples => {}
    }
    let text = &sample[body..];

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
    let puzzle_column = columns.map(|c: CsvColumns| c.puzzle);
    let cells =
        || text.split(|&b| b == b'\n').filter(|l| !is_no_puzzle(l)).map(move |l| field(l, puzzle_column));
    let (order, alphabet) = match (named_order, &hint.alphabet) {
        (Some(order), Some(alphabet)) => (order, alphabet.clone()),
        (None, Some(alphabet)) => {
            (detect_order(notation, text, cells(), alphabet).unwrap_or(Order::NINE), alphabet.clone())
        }
        (order, None) => detect_alphabet(notation, text, cells, order),
    };
    let mut format = Format::new(notation, order, alphabet)?;
    if let Some(columns) = columns {
        format.columns = columns;
    }
    Ok(Opening { format, body, lines: u64::from(body > 0) })
}

/// The part of a line in which a puzzle is written.
fn field(line: &[u8], csv_column: Option<usize>) -> &[u8] {
    match csv_column {
        Some(column) => trim_field(line.split(|&b| b == b',').nth(column).unwrap_or_default()),
        None => trim_end(line),
    }
}

fn detect_notation(sample: &[u8], first: &[u8], more_lines: bool) -> Notation {
    if more_lines && is_block_size(first) {
        return Notation::Header;
    }
    if is_heading(sample, first) {
        return Notation::Csv;
    }
    if is_triples(sample) {
        return Notation::Triples;
    }
    if is_grid(sample) { Notation::Grid } else { Notation::Lines }
}

/// A whole number by itself, good or bad.
fn is_block_size(first: &[u8]) -> bool {
    let number = first.trim_ascii();
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    (1..=MAX_BLOCK_SIZE_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

/// A heading row: columns of words, with puzzles below.
fn is_heading(sample: &[u8], first: &[u8]) -> bool {
    let is_word = |field: &[u8]| {
        let field = trim_field(field);
        field.iter().any(u8::is_ascii_alphabetic) && Order::from_cells(field.len()).is_none()
    };
    let Some(second) = sample.split(|&b| b == b'\n').skip(1).find(|line| !is_no_puzzle(line)) else {
        return first.contains(&b',') && csv_column(first, PUZZLE_HEADINGS).is_some();
    };
    first.contains(&b',')
        && first.split(|&b| b == b',').all(is_word)
        && second.split(|&b| b == b',').any(|f| Order::from_cells(trim_field(f).len()).is_some())
}

const PUZZLE_HEADINGS: &[&str] = &["puzzle", "puzzles", "quiz", "quizzes", "question", "sudoku"];
const SOLUTION_HEADINGS: &[&str] = &["solution", "solutions", "answer", "answers"];

fn csv_column(heading: &[u8], names: &[&str]) -> Option<usize> {
    heading
        .split(|&b| b == b',')
        .position(|field| names.iter().any(|name| trim_field(field).eq_ignore_ascii_case(name.as_bytes())))
}

/// Which columns hold what: by their names where those are known, else the first and the second.
fn csv_columns(heading: &[u8]) -> CsvColumns {
    let puzzle = csv_column(heading, PUZZLE_HEADINGS).unwrap_or(0);
    let solution = csv_column(heading, SOLUTION_HEADINGS)
        .or_else(|| (puzzle == 0 && heading.contains(&b',')).then_some(1));
    CsvColumns { puzzle, solution }
}

/// The lines that a notation of several lines a puzzle is known by. The last line of a full sample may be cut off
/// and is left out.
fn whole_lines(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = if sample.len() < SAMPLE_BYTES {
        sample.len()
    } else {
        memchr::memrchr(b'\n', sample).unwrap_or(sample.len())
    };
    sample[..end].split(|&b| b == b'\n').filter(|line| !is_no_puzzle(line))
}

fn is_triples(sample: &[u8]) -> bool {
    let mut lines = whole_lines(sample).peekable();
    lines.peek().is_some() && lines.take(8).all(|line| triples::numbers(line).is_some())
}

/// Rows of cells apart from each other, rows of cells together, or a ruler first.
fn is_grid(sample: &[u8]) -> bool {
    let Some(first) = whole_lines(sample).next() else { return false };
    if classify(first) == Line::Ruler && !is_line_of_cells(first) {
        return true;
    }
    if is_line_of_cells(first) && first.trim_ascii().len() > 1 {
        return is_sixteen_by_sixteen(sample);
    }
    grid_order(first).is_some_and(|order| order.side() > 1)
}

/// Does the line hold one puzzle, with or without a comment behind it?
fn is_line_of_cells(line: &[u8]) -> bool {
    let cells = Codec::new(&Alphabet::Letters, Order::NINE, false).cells(trim_end(line)).len();
    // A lone character is a 1x1 puzzle only if nothing follows it; otherwise it begins a row.
    Order::from_cells(cells).is_some() && (cells > 1 || trim_end(line).len() == 1)
}

/// Sixteen characters are a 4x4 puzzle or a row of a 16x16 one, which its larger values give away.
fn is_sixteen_by_sixteen(sample: &[u8]) -> bool {
    let codec = Codec::new(&Alphabet::Letters, Order::ALL[3], false);
    let mut above_four = false;
    for line in whole_lines(sample).take(16) {
        let cells = trim_end(line);
        let digit = |&b: &u8| codec.decode(b);
        if cells.len() != 16 || cells.iter().map(digit).any(|d| d > 16) {
            return false;
        }
        above_four |= cells.iter().map(digit).any(|d| d > 4);
    }
    above_four
}

/// The order that a row of a `grid` text speaks for.
fn grid_order(row: &[u8]) -> Option<Order> {
    let count = tokens(row).count();
    let width = tokens(row).map(<[u8]>::len).sum();
    let apart = if count > 1 { Order::from_side(count) } else { None };
    apart.or_else(|| Order::from_side(width))
}

/// The order that the puzzles at hand speak for: the first that has the cells of a puzzle.
fn detect_order<'a>(
    notation: Notation,
    text: &'a [u8],
    mut cells: impl Iterator<Item = &'a [u8]>,
    alphabet: &Alphabet,
) -> Option<Order> {
    if notation == Notation::Grid {
        return whole_lines(text).filter(|l| classify(l) == Line::Row).find_map(grid_order);
    }
    let largest = alphabet.largest_order().unwrap_or(Order::NINE);
    let codec = Codec::new(alphabet, largest, false);
    cells.find_map(|line| Order::from_cells(codec.cells(line).len()).filter(|&order| alphabet.fits(order)))
}

/// Letters, unless a character shows that it must be `ascii`.
fn detect_alphabet<'a, I: Iterator<Item = &'a [u8]>>(
    notation: Notation,
    text: &'a [u8],
    cells: impl Fn() -> I,
    known: Option<Order>,
) -> (Order, Alphabet) {
    let order_with = |alphabet| {
        known.or_else(|| detect_order(notation, text, cells(), alphabet)).filter(|&o| alphabet.fits(o))
    };
    let ascii = order_with(&Alphabet::Ascii).filter(|order| order.side() > 9);
    if let Some(order) = ascii
        && cells().take(256).any(|line| shows_ascii(line, order, notation))
    {
        return (order, Alphabet::Ascii);
    }
    (order_with(&Alphabet::Letters).or(ascii).unwrap_or(Order::NINE), Alphabet::Letters)
}

/// Is there a character among the cells that stands for a value in `ascii` and for nothing in `letters`?
fn shows_ascii(line: &[u8], order: Order, notation: Notation) -> bool {
    let cells = if notation == Notation::Grid { line } else { line.get(..order.cells()).unwrap_or(line) };
    let codec = Codec::new(&Alphabet::Ascii, order, false);
    let end = cells.iter().position(|&b| b != b';' && codec.is_delimiter(b) && notation != Notation::Grid);
    let cells = &cells[..end.unwrap_or(cells.len())];
    // A semicolon by itself may begin a comment: it counts where the cells would be too few without it.
    let whole = notation == Notation::Grid || cells.len() == order.cells();
    whole && cells.iter().any(|b| b":;<=>?@".contains(b))
}
