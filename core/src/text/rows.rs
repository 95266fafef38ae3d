//! `grid`: a puzzle written as rows of cells.
//!
//! A row is `side` cells, separate (`5 3 . | . 7 .`) or together (`53..7....`). Separate values may
//! be numbers. Rulers, blank lines and comment lines may appear anywhere. After `side` rows the
//! next puzzle begins.
//!
//! A blank line has no meaning if the rows before and after it can form one puzzle. If they cannot,
//! the rows before it were a puzzle that ended too early: it has the wrong length, and the next
//! puzzle begins after it. They cannot if more rows follow up to the next blank line than are
//! missing, or if two or more adjacent rows end inside a band.

use super::alphabet::INVALID;
use super::lines::{characters, is_no_puzzle, looked_at, offset};
use super::{Format, Problem, PuzzleError, Record, Records};
use crate::grid::{Grid, Order};

/// The kind of a line of a `grid` text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    Ruler,
    Row,
}

pub(super) fn classify(line: &[u8]) -> LineKind {
    if is_no_puzzle(line) {
        // A comment is a ruler, because it must not end a puzzle as a blank line may.
        if line.trim_ascii().is_empty() { LineKind::Blank } else { LineKind::Ruler }
    } else if line.iter().all(|b| b"-+|= \t\r".contains(b)) {
        LineKind::Ruler
    } else {
        LineKind::Row
    }
}

/// The groups of characters of a row, without rulers and white space.
pub(super) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| b == b'|' || b.is_ascii_whitespace()).filter(|token| !token.is_empty())
}

/// Tracks where puzzles begin and end. Cutting, reading and detection share this rule.
struct Boundaries {
    order: Order,
    /// The rows of the current puzzle.
    rows: usize,
    /// The rows since the last blank line.
    run: usize,
}

impl Boundaries {
    const fn new(format: &Format) -> Self {
        Self { order: format.order, rows: 0, run: 0 }
    }

    /// Whether the current puzzle ends with this line, which `rest` follows. `None` if that depends
    /// on what follows `rest`, which is never so if nothing does (`at_end`).
    fn ends_with(&mut self, line: LineKind, rest: &[u8], at_end: bool) -> Option<bool> {
        let missing = self.order.side() - self.rows;
        let ends = match line {
            LineKind::Row => {
                self.rows += 1;
                self.run += 1;
                missing == 1
            }
            // Of several blank lines the first decides.
            LineKind::Blank if self.run > 0 => {
                let run = std::mem::take(&mut self.run);
                let inside_band = !self.rows.is_multiple_of(self.order.box_side());
                (inside_band && run > 1) || run_exceeds(rest, missing, at_end)?
            }
            LineKind::Blank | LineKind::Ruler => false,
        };
        if ends {
            (self.rows, self.run) = (0, 0);
        }
        Some(ends)
    }
}

/// Whether the text has more than `limit` rows before the first blank line behind a row.
fn run_exceeds(text: &[u8], limit: usize, at_end: bool) -> Option<bool> {
    let mut rows = 0;
    for line in text.split_inclusive(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\n").or(at_end.then_some(line))?;
        match classify(looked_at(line)) {
            LineKind::Row if rows == limit => return Some(true),
            LineKind::Row => rows += 1,
            LineKind::Blank if rows > 0 => return Some(false),
            LineKind::Blank | LineKind::Ruler => {}
        }
    }
    at_end.then_some(false)
}

/// The length of the whole puzzles at the start of `text`, which more text follows.
pub(super) fn cut(format: &Format, text: &[u8]) -> usize {
    let mut boundaries = Boundaries::new(format);
    let (mut at, mut end) = (0, 0);
    for newline in memchr::memchr_iter(b'\n', text) {
        let kind = classify(looked_at(&text[at..newline]));
        at = newline + 1;
        let Some(ends) = boundaries.ends_with(kind, &text[at..], false) else { break };
        if ends || (boundaries.rows == 0 && kind != LineKind::Row) {
            end = at;
        }
    }
    end
}

pub(super) fn read<'a>(records: &mut Records<'a>, puzzle: &mut Grid) -> Option<Record<'a>> {
    let format = records.format;
    let side = format.order.side();
    let mut boundaries = Boundaries::new(format);
    let mut first = None;
    let mut error = None;
    let mut last = records.line;
    let mut fail = |problem, line| PuzzleError::keep_first(&mut error, problem, line);
    loop {
        let row = boundaries.rows;
        let Some((line, number)) = records.take_line() else {
            // The text ends inside a puzzle, or after the last one.
            first?;
            fail(Problem::WrongLength, last);
            break;
        };
        let kind = classify(line);
        if kind == LineKind::Row {
            first.get_or_insert(number);
            last = number;
            let cells = &mut puzzle.digits_mut()[row * side..][..side];
            if let Err(problem) = read_row(format, line, cells) {
                fail(problem, number);
            }
        }
        if boundaries.ends_with(kind, records.text, true) == Some(true) {
            if kind == LineKind::Blank {
                fail(Problem::WrongLength, last);
            }
            break;
        }
    }
    Some(Record { line: first?, given: None, error })
}

/// The rows of each puzzle, as reading divides them, and whether the puzzle ends in `text`. The
/// last one may continue behind it, unless nothing follows (`at_end`).
pub(super) fn puzzles<'a>(format: &Format, text: &'a [u8], at_end: bool) -> Vec<(Vec<&'a [u8]>, bool)> {
    let mut boundaries = Boundaries::new(format);
    let (mut puzzles, mut rows) = (Vec::new(), Vec::new());
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        let line = looked_at(line.strip_suffix(b"\n").unwrap_or(line));
        let kind = classify(line);
        if kind == LineKind::Row {
            rows.push(line);
        }
        match boundaries.ends_with(kind, &text[at..], at_end) {
            Some(true) => puzzles.push((std::mem::take(&mut rows), true)),
            Some(false) => {}
            None => break,
        }
    }
    if !rows.is_empty() {
        puzzles.push((rows, at_end));
    }
    puzzles
}

/// The cells of a row; `None` if they are not `side`.
pub(super) fn cells(line: &[u8], side: usize) -> Option<Vec<&[u8]>> {
    let apart: Vec<_> = tokens(line).collect();
    if apart.len() == side {
        return Some(apart);
    }
    let together: Vec<_> = apart.into_iter().flat_map(characters).collect();
    (together.len() == side).then_some(together)
}

/// Reads one row into `digits`.
pub(super) fn read_row(format: &Format, line: &[u8], digits: &mut [u8]) -> Result<(), Problem> {
    let cells = cells(line, digits.len()).ok_or(Problem::WrongLength)?;
    for (digit, cell) in digits.iter_mut().zip(cells) {
        *digit =
            read_cell(format, cell).ok_or_else(|| Problem::invalid_character(line, offset(line, cell)))?;
    }
    Ok(())
}

/// The digit of a single cell: a symbol, a blank, or a number.
pub(super) fn read_cell(format: &Format, cell: &[u8]) -> Option<u8> {
    if let [byte] = cell {
        let digit = format.codec.decode(*byte);
        return (digit != INVALID).then_some(digit);
    }
    let is_plain = cell.iter().all(u8::is_ascii_digit);
    let number: u8 = std::str::from_utf8(cell).ok().filter(|_| is_plain)?.parse().ok()?;
    (1..=format.order.side()).contains(&number.into()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Alphabet, Notation};

    fn four() -> Format {
        Format::new(Notation::Grid, Order::ALL[1], Alphabet::Letters).unwrap()
    }

    /// `lines` (`r` for a row, `b` for a blank line, `-` for a ruler) with a `|` behind each that
    /// ends a puzzle.
    fn ends(lines: &str) -> String {
        let line = |kind: char| match kind {
            'r' => "1234\n",
            'b' => "\n",
            _ => "--+--\n",
        };
        let text: Vec<String> = lines.chars().map(|kind| line(kind).to_owned()).collect();
        let mut boundaries = Boundaries::new(&four());
        let mut out = String::new();
        for (index, kind) in lines.chars().enumerate() {
            let rest = text[index + 1..].concat();
            out.push(kind);
            if boundaries
                .ends_with(classify(text[index].trim_end().as_bytes()), rest.as_bytes(), true)
                .unwrap()
            {
                out.push('|');
            }
        }
        out
    }

    #[test]
    fn puzzles_end_after_their_rows_or_where_they_are_too_short() {
        let cases = [
            "rrrr|rrrr|",
            "rrrr|brrrr|b",
            "rr-rr|b-rr-rr|",
            // Blank lines between bands, and between all rows.
            "rrbrr|brrbrr|",
            "rbrbrbr|brbrbrbr|",
            "rrbbb-bbrr|",
            // Too short, by any number of rows.
            "rrrb|rrrr|brrrr|",
            "rrb|rrrr|brrrr|",
            "rb|rrrr|brrrr|",
            "rrrb|rrrb|rrrr|",
            "rb|rrrr|rb|rrrr|",
            "rrb|brrrr|",
            "rrb-b",
            "rrr",
        ];
        for wanted in cases {
            assert_eq!(ends(&wanted.replace('|', "")), wanted);
        }
    }

    #[test]
    fn nothing_is_cut_that_what_follows_may_change() {
        let row = "1234\n";
        let cases = [
            (row.repeat(4), 20),
            (row.repeat(3), 0),
            (row.repeat(5), 20),
            // Half a puzzle and a blank line: the rows that come now may be the rest of it or
            // another.
            (format!("{row}{row}\n"), 0),
            (format!("{row}{row}\n{row}{row}"), 0),
            (format!("{row}{row}\n{row}{row}\n"), 22),
            (format!("{row}{row}\n{row}{row}{row}"), 11),
            (format!("\n--\n{row}"), 4),
            (format!("{}{row}", row.repeat(3).trim_end()), 0),
        ];
        for (text, wanted) in cases {
            assert_eq!(cut(&four(), text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn lines_are_rows_rulers_or_blank() {
        let cases = [
            ("", LineKind::Blank),
            (" \t\r", LineKind::Blank),
            ("# 1 2", LineKind::Ruler),
            ("|---+===|\r", LineKind::Ruler),
            ("- 1", LineKind::Row),
            (". .", LineKind::Row),
        ];
        for (line, wanted) in cases {
            assert_eq!(classify(line.as_bytes()), wanted, "{line:?}");
        }
    }
}
