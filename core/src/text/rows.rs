//! `grid`: a puzzle written as rows of cells.
//!
//! A row is `side` cells, separate (`5 3 . | . 7 .`, `5,3,,,7,,,,`) or together (`53..7....`). Separate
//! values may be numbers. Between bars a space may be a blank, if that fits all rows. Rulers, blank
//! lines and comment lines may appear anywhere. After `side` rows the next puzzle begins.
//!
//! A blank line has no meaning if the rows before and after it can form one puzzle. If they cannot,
//! the rows before it were a puzzle that ended too early: it has the wrong length, and the next
//! puzzle begins after it. They cannot if more rows follow up to the next blank line than are
//! missing, or if two or more adjacent rows end inside a band. Two rulers, one below the other, mean
//! the same as a blank line.
//!
//! A title, such as `Grid 01`, `[Puzzle]` or `[Easy]`, ends the puzzle above it. The rows below
//! `[State]`, what a player has filled in, are no puzzles, and neither are those of `[Solution]` and
//! the like, up to the next title.
//!
//! Forum tags such as `[code]` and fences of three backticks are blank lines. A line of words is a
//! title above the first row of a puzzle, and below it a row that cannot be read; so are words with
//! a number, such as `Level 3`, a number that is marked as one, such as `(3)`, and a date. Any other
//! line that is no row, such as `// 3`, is a title if the rows of one puzzle follow, no more and no
//! fewer.

use super::alphabet::INVALID;
use super::apart;
use super::lines::{bad_cell, characters, looked_at, offset};
use super::row_lines::{LineKind, classify, is_plain, is_plain_row, separated, tokens};
use super::{BYTE_ORDER_MARK, Format, Notation, Problem, PuzzleError, Record, Records};
use crate::grid::Grid;

/// Where the current puzzle ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It goes on.
    No,
    /// Behind this line.
    Behind,
    /// Before this line, which has to be looked at again.
    Before,
}

/// Tracks where puzzles begin and end. Cutting, reading and detection share this rule.
struct Boundaries<'f> {
    format: &'f Format,
    /// The rows of the current puzzle.
    rows: usize,
    /// The rows since the last blank line, or the last two rulers one below the other.
    run: usize,
    /// Whether the last line was a ruler.
    is_below_ruler: bool,
    /// Whether the rows are those of a section that is no puzzle.
    skips: bool,
    /// Whether that has had a row.
    has_skipped: bool,
}

impl<'f> Boundaries<'f> {
    const fn new(format: &'f Format) -> Self {
        Self { format, rows: 0, run: 0, is_below_ruler: false, skips: false, has_skipped: false }
    }

    /// The kind of a line, and whether only `rest`, which follows it, shows that it is a title. `None`
    /// if that depends on what follows `rest`, which is never so if nothing does (`at_end`).
    fn kind(&self, line: &[u8], rest: &[u8], at_end: bool) -> Option<(LineKind, Below)> {
        let format = self.format;
        if is_plain_row(line, format.order.side(), format.style) {
            return Some((LineKind::Row, Below::Other));
        }
        let kind = classify(line, format.style);
        let may_be_title = kind == LineKind::Row && (!self.skips || self.has_skipped);
        if !may_be_title || !is_no_row(format, line) {
            return Some((kind, Below::Other));
        }
        let below = Below::new(format, line, rest, at_end)?;
        Some((if matches!(below, Below::OnePuzzle(_)) { LineKind::Title } else { kind }, below))
    }

    /// Whether a line is a row that belongs to a puzzle.
    const fn counts(&self, line: LineKind) -> bool {
        match line {
            LineKind::Row => !self.skips,
            LineKind::Words => self.rows > 0,
            _ => false,
        }
    }

    /// Whether the current puzzle ends with this line, which `rest` follows. `None` if that depends
    /// on what follows `rest`, which is never so if nothing does (`at_end`). A puzzle that ends behind
    /// a row is whole; any other has too few rows.
    fn ends_with(&mut self, line: LineKind, rest: &[u8], at_end: bool) -> Option<End> {
        let side = self.format.order.side();
        let is_second_ruler = line == LineKind::Ruler && self.is_below_ruler;
        if line != LineKind::Comment {
            self.is_below_ruler = line == LineKind::Ruler && self.rows > 0;
        }
        let end = match line {
            LineKind::Row | LineKind::Words if self.counts(line) => {
                self.rows += 1;
                self.run += 1;
                if self.rows == side { End::Behind } else { End::No }
            }
            LineKind::Title | LineKind::Skipped => {
                (self.skips, self.has_skipped) = (line == LineKind::Skipped, false);
                if self.rows > 0 { End::Before } else { End::No }
            }
            // Words may be a part of the section, but not below its rows.
            LineKind::Words if self.has_skipped => {
                (self.skips, self.has_skipped) = (false, false);
                End::No
            }
            LineKind::Row => {
                self.has_skipped = true;
                End::No
            }
            LineKind::Ruler if self.rows > 0 => {
                let ends = is_second_ruler && self.breaks_off(rest, at_end)?;
                if ends { End::Before } else { End::No }
            }
            LineKind::Blank if self.breaks_off(rest, at_end)? => End::Behind,
            _ => End::No,
        };
        if end != End::No {
            (self.rows, self.run) = (0, 0);
            self.is_below_ruler = false;
        }
        Some(end)
    }

    /// Whether the rows above a blank line, or above the second of two rulers, are a puzzle that
    /// ended too early. Of several blank lines the first decides.
    fn breaks_off(&mut self, rest: &[u8], at_end: bool) -> Option<bool> {
        if self.run == 0 {
            return Some(false);
        }
        let run = std::mem::take(&mut self.run);
        let order = self.format.order;
        let missing = order.side() - self.rows;
        let inside_band = !self.rows.is_multiple_of(order.box_side());
        Some((inside_band && run > 1) || self.run_exceeds(rest, missing, at_end)?)
    }

    /// Whether the text below a row of the current puzzle has more than `limit` rows before the first
    /// blank line behind a row, or the first two rulers one below the other. What ends a puzzle counts
    /// the same rows, so that it needs no more of the text than they are in.
    fn run_exceeds(&self, text: &[u8], limit: usize, at_end: bool) -> Option<bool> {
        let (mut at, mut rows, mut is_below_ruler) = (0, 0, false);
        for line in text.split_inclusive(|&b| b == b'\n') {
            at += line.len();
            let line = looked_at(line.strip_suffix(b"\n").or(at_end.then_some(line))?);
            let (kind, _) = self.kind(line, &text[at..], at_end)?;
            match kind {
                LineKind::Words if rows == 0 => {}
                LineKind::Row | LineKind::Words if rows == limit => return Some(true),
                LineKind::Row | LineKind::Words => rows += 1,
                LineKind::Blank if rows > 0 => return Some(false),
                LineKind::Ruler if rows > 0 && is_below_ruler => return Some(false),
                LineKind::Title | LineKind::Skipped => return Some(false),
                LineKind::Blank | LineKind::Comment | LineKind::Ruler => {}
            }
            if kind != LineKind::Comment {
                is_below_ruler = kind == LineKind::Ruler;
            }
        }
        at_end.then_some(false)
    }
}

/// Whether a line has not as many cells as a row, and something that is no cell, or no more than a
/// number or two, such as `9x9`. If it has as many, most are no cells.
fn is_no_row(format: &Format, line: &[u8]) -> bool {
    // Most rows, without a look at their cells.
    if line.len() >= format.order.side() && is_plain(line) {
        return false;
    }
    let is_cell = |cell: &[u8]| matches!(cell, b"," | b";") || read_cell(format, cell).is_some();
    if let Some(cells) = cells(format, line) {
        return 2 * cells.into_iter().filter(|cell| is_cell(cell)).count() < format.order.side();
    }
    let are_numbers = || tokens(line).count() <= 2 && tokens(line).flatten().all(u8::is_ascii_digit);
    are_numbers() || is_size(format, line) || !tokens(line).flat_map(characters).all(is_cell)
}

/// Whether a line is the size of the puzzles, or of their boxes, such as `9x9`.
fn is_size(format: &Format, line: &[u8]) -> bool {
    let is_number = |field: &[u8]| {
        let number = std::str::from_utf8(field.trim_ascii()).ok().and_then(|number| number.parse().ok());
        number.is_some_and(|number: usize| [format.order.side(), format.order.box_side()].contains(&number))
    };
    let fields: Vec<&[u8]> = line.splitn(3, |byte| b"xX*".contains(byte)).collect();
    fields.len() == 2 && fields.into_iter().all(is_number)
}

/// The most lines of what stands above a puzzle that are in one block with it.
const MAX_LINES_ABOVE: usize = 64;

/// Whether a line that is no row may be a damaged one: it has nothing but digits, blanks and what
/// separates them, or as many characters as a row.
fn is_like_row(format: &Format, line: &[u8]) -> bool {
    is_plain(line) || tokens(line).flat_map(characters).count() == format.order.side()
}

/// What is below a line that is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Below {
    /// The rows of one puzzle, and not one more, up to a blank line or a line that is no row. Lines of
    /// its title, rulers and blank lines may be above them, and blank lines between its bands. The last
    /// row ends so many bytes below the line.
    OnePuzzle(usize),
    /// The same and one row more, which ends so many bytes below the line.
    OneRowMore(usize),
    Other,
}

impl Below {
    /// Looks at what is below the line. `None` if that depends on what follows `text`.
    fn new(format: &Format, line: &[u8], text: &[u8], at_end: bool) -> Option<Self> {
        let (side, box_side) = (format.order.side(), format.order.box_side());
        // What is above another title may be a damaged puzzle, if it is more than two lines or like rows.
        let (mut lines, mut may_be_rows) = (1, is_like_row(format, line));
        let (mut at, mut passed, mut is_below_ruler) = (0, 0, false);
        let (mut rows, mut rows_end, mut run) = (0, 0, 0_usize);
        let ends = |rows, end| Some(if rows == side { Self::OnePuzzle(end) } else { Self::Other });
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            at += line.len();
            let line = looked_at(line.strip_suffix(b"\n").or(at_end.then_some(line))?);
            let kind = classify(line, format.style);
            let is_second_ruler = kind == LineKind::Ruler && is_below_ruler;
            if kind != LineKind::Comment {
                is_below_ruler = kind == LineKind::Ruler;
            }
            match if is_second_ruler { LineKind::Blank } else { kind } {
                LineKind::Row if rows < side && !is_no_row(format, line) => {
                    rows += 1;
                    rows_end = at;
                    run += 1;
                    passed = 0;
                    continue;
                }
                LineKind::Row if rows == side && !is_no_row(format, line) => {
                    return Some(Self::OneRowMore(at));
                }
                LineKind::Row if rows == 0 && is_no_row(format, line) => {
                    lines += 1;
                    may_be_rows |= lines > 2 || is_like_row(format, line);
                }
                LineKind::Title | LineKind::Words if rows == 0 && !may_be_rows => {}
                LineKind::Comment | LineKind::Ruler => {}
                LineKind::Blank if rows < side && run.is_multiple_of(box_side) => run = 0,
                _ => return ends(rows, rows_end),
            }
            passed += 1;
            if passed >= MAX_LINES_ABOVE {
                return ends(rows, rows_end);
            }
        }
        if at_end { ends(rows, rows_end) } else { None }
    }
}

/// The length of the whole puzzles at the start of `text`, which more text follows.
pub(super) fn cut(format: &Format, text: &[u8]) -> usize {
    last_end(format, text, false, usize::MAX)
}

/// The first place from byte `least` on at which a block of whole puzzles, which nothing follows, may be
/// divided.
pub(super) fn end_from(format: &Format, block: &[u8], least: usize) -> usize {
    let end = last_end(format, block, true, least);
    if end >= least { end } else { block.len() }
}

/// The end of the last whole puzzle, or of the first from byte `enough` on, behind which a text may be
/// divided. Nothing follows the text if `at_end`.
fn last_end(format: &Format, text: &[u8], at_end: bool, enough: usize) -> usize {
    let mut boundaries = Boundaries::new(format);
    let (mut at, mut end) = (0, 0);
    // The lines that stay with what is below them, and where a block may end at the earliest.
    let (mut held, mut earliest) = (0_usize, 0_usize);
    for newline in memchr::memchr_iter(b'\n', text) {
        let start = at;
        at = newline + 1;
        let line = looked_at(&text[start..newline]);
        let Some((kind, below)) = boundaries.kind(line, &text[at..], at_end) else { break };
        let Some(ends) = boundaries.ends_with(kind, &text[at..], at_end) else { break };
        let is_title = matches!(kind, LineKind::Title | LineKind::Words);
        let is_between = boundaries.rows == 0 && !boundaries.skips && kind != LineKind::Row;
        let place = match ends {
            End::Before => Some(start),
            End::No if !is_between || held > 0 => None,
            // Frame and title stay with what follows them: a first row of `-` for blanks would be a ruler
            // without them, and only the rows below some titles show that they are none.
            End::No if is_title || kind == LineKind::Ruler => Some(start),
            End::Behind | End::No => Some(at),
        };
        held = match below {
            Below::OnePuzzle(_) => MAX_LINES_ABOVE,
            _ if boundaries.rows > 0 || ends == End::Behind => 0,
            _ if is_between && held == 0 && is_title => MAX_LINES_ABOVE,
            _ if is_between => held.saturating_sub(1),
            _ => held,
        };
        end = place.filter(|&place| place >= earliest).unwrap_or(end);
        if end >= enough {
            break;
        }
        // A block that has the line and not the last of the rows below would show another kind of line.
        if let Below::OnePuzzle(length) | Below::OneRowMore(length) = below {
            earliest = earliest.max(at + length);
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
        let before = (records.text, records.line);
        let Some((line, number)) = records.take_line() else {
            // The text ends inside a puzzle, or after the last one.
            first?;
            fail(Problem::WrongLength, last);
            break;
        };
        let kind = boundaries.kind(line, records.text, true);
        let kind = kind.map_or(LineKind::Row, |(kind, _)| kind);
        let is_row = boundaries.counts(kind);
        if is_row {
            first.get_or_insert(number);
            last = number;
            let cells = &mut puzzle.digits_mut()[boundaries.rows * side..][..side];
            if let Err(problem) = read_row(format, line, cells) {
                fail(problem, number);
            }
        }
        let end = boundaries.ends_with(kind, records.text, true).unwrap_or(End::No);
        if end == End::Before {
            (records.text, records.line) = before;
        }
        if end != End::No {
            if !(is_row && end == End::Behind) {
                fail(Problem::WrongLength, last);
            }
            break;
        }
    }
    Some(Record { line: first?, given: None, row: &[], error })
}

/// The rows of each puzzle, as reading divides them, and whether the puzzle ends in `text`. The last one may continue behind it, unless nothing follows (`at_end`).
pub(super) fn puzzles<'a>(format: &Format, text: &'a [u8], at_end: bool) -> Vec<(Vec<&'a [u8]>, bool)> {
    let mut boundaries = Boundaries::new(format);
    let (mut puzzles, mut rows) = (Vec::new(), Vec::new());
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        let line = looked_at(line.strip_suffix(b"\n").unwrap_or(line));
        let Some((kind, _)) = boundaries.kind(line, &text[at..], at_end) else { break };
        if boundaries.counts(kind) {
            rows.push(line);
        }
        match boundaries.ends_with(kind, &text[at..], at_end) {
            Some(End::No) => {}
            Some(_) => puzzles.push((std::mem::take(&mut rows), true)),
            None => break,
        }
    }
    if !rows.is_empty() {
        puzzles.push((rows, at_end));
    }
    puzzles
}

/// The cells of a row; `None` if they are not as many as a row has.
pub(super) fn cells<'a>(format: &Format, line: &'a [u8]) -> Option<Vec<&'a [u8]>> {
    let side = format.order.side();
    if let Some(cells) = format.style.bars.and_then(|bars| bars.cells(line)) {
        return Some(cells);
    }
    if let Some(fields) = separated(line, format.style)
        && fields.len() == side
    {
        return Some(fields);
    }
    let apart: Vec<_> = tokens(line).collect();
    if apart.len() == side {
        return Some(apart);
    }
    let together: Vec<_> = apart.into_iter().flat_map(characters).collect();
    (together.len() == side).then_some(together)
}

/// The cells of a row, however many there are, together: values and blanks as a line has them, and
/// what is no cell as it is.
pub(super) fn compact(format: &Format, line: &[u8]) -> Vec<u8> {
    let cells = cells(format, line)
        .or_else(|| separated(line, format.style))
        .unwrap_or_else(|| tokens(line).flat_map(characters).collect());
    let mut text = Vec::new();
    for cell in cells {
        match read_cell(format, cell) {
            Some(digit) => text.push(format.codec.encode(digit)),
            None => text.extend_from_slice(cell),
        }
    }
    text
}

/// Reads a row, as most are, whose cells have one byte each, without a look at what else they could be.
/// Whether it is one; if not, `digits` has no meaning.
fn read_short_cells(format: &Format, line: &[u8], digits: &mut [u8]) -> bool {
    let style = format.style;
    if style.bars.is_some() || style.numbered {
        return false;
    }
    if memchr::memchr(style.delimiter(), line).is_some() {
        return read_short_fields(format, line, digits);
    }
    let mut digits = digits.iter_mut();
    for &byte in line {
        if matches!(byte, b' ' | b'|' | b'\t' | b'\r') {
            continue;
        }
        match (digits.next(), format.codec.decode(byte)) {
            (None, _) | (_, INVALID) => return false,
            (Some(cell), digit) => *cell = digit,
        }
    }
    digits.next().is_none()
}

/// [`read_short_cells`] of a row with a delimiter.
fn read_short_fields(format: &Format, line: &[u8], digits: &mut [u8]) -> bool {
    let delimiter = format.style.delimiter();
    let mut digits = digits.iter_mut();
    let mut last = None;
    for &byte in line {
        if byte == delimiter {
            let Some(cell) = digits.next() else { return false };
            *cell = last.take().unwrap_or(0);
        } else if !byte.is_ascii_whitespace() {
            let digit = format.codec.decode(byte);
            if digit == INVALID || last.is_some() {
                return false;
            }
            last = Some(digit);
        }
    }
    match (digits.next(), last) {
        (Some(cell), _) => *cell = last.unwrap_or(0),
        // Nothing is behind the delimiter at the end.
        (None, last) => return last.is_none(),
    }
    digits.next().is_none()
}

/// Reads one row into `digits`.
pub(super) fn read_row(format: &Format, line: &[u8], digits: &mut [u8]) -> Result<(), Problem> {
    if read_short_cells(format, line, digits) {
        return Ok(());
    }
    let cells = cells(format, line).ok_or_else(|| {
        // Within a text, where files were put together, a mark is not seen when cells are counted.
        let is_marked = line.starts_with(BYTE_ORDER_MARK);
        if is_marked { Problem::invalid_character(line, 0) } else { Problem::WrongLength }
    })?;
    for (digit, cell) in digits.iter_mut().zip(cells) {
        *digit = read_cell(format, cell).ok_or_else(|| no_cell(format, line, cell))?;
    }
    Ok(())
}

/// The digit of a single cell: a symbol, a blank, a number, or nothing between two commas. Numbers
/// count from 0 where that is the symbol of the first value, and 1 that of the second.
pub(super) fn read_cell(format: &Format, cell: &[u8]) -> Option<u8> {
    let digit = match cell {
        [] => return Some(0),
        [byte] => format.codec.decode(*byte),
        _ => format.codec.character(cell),
    };
    if digit != INVALID {
        return Some(digit);
    }
    if cell.len() == 1 {
        return None;
    }
    let is_plain = cell.iter().all(u8::is_ascii_digit);
    let number = if is_plain {
        let may_be_zero = cell == b"00" && (format.style.padded || format.notation == Notation::Cells);
        std::str::from_utf8(cell).ok()?.parse().ok().filter(|&number: &u8| number > 0 || may_be_zero)
    } else {
        apart::number(cell)
    };
    let is_from_zero = format.codec.decode(b'0') == 1 && format.codec.decode(b'1') == 2;
    let digit = number?.checked_add(u8::from(is_from_zero && !apart::is_missing(cell)));
    digit.filter(|&digit| usize::from(digit) <= format.order.side())
}

/// The problem of a part of a line that is no cell: of a number the value, as its first digit may be one
/// by itself, and of what only begins like a number the character behind that.
pub(super) fn no_cell(format: &Format, line: &[u8], cell: &[u8]) -> Problem {
    let digits = cell.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(cell).ok().filter(|_| digits > 1).and_then(|cell| cell.parse().ok());
    let is_from_zero = format.codec.decode(b'0') == 1;
    match number.and_then(|number: usize| format.order.digit(number).err()) {
        Some(outside) if outside.value > 0 && !is_from_zero => Problem::OutOfRange(outside),
        _ => {
            let bad = if digits < cell.len() { digits } else { 0 };
            bad_cell(format.order, line, offset(line, cell) + bad)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_lines::RowStyle;
    use super::*;
    use crate::grid::Order;
    use crate::text::{Alphabet, Hint, detect};

    fn four() -> Format {
        Format::new(Notation::Grid, Order::ALL[1], Alphabet::Letters).unwrap()
    }

    /// Rows of one value over and over, or of that and blanks, whatever character it has.
    #[test]
    fn every_symbol_of_an_alphabet_makes_rows() {
        for symbol in (b'!'..=b'~').map(char::from) {
            for order in [Order::ALL[0], Order::ALL[1]] {
                let others = "WXYZ".chars().filter(|&other| other != symbol).take(order.side() - 1);
                let Ok(alphabet) = [symbol].into_iter().chain(others).collect::<String>().parse::<Alphabet>()
                else {
                    continue;
                };
                let format = Format::new(Notation::Grid, order, alphabet.clone()).unwrap();
                for digits in
                    [vec![1; order.cells()], (0..order.cells()).map(|at| u8::from(at % 2 == 1)).collect()]
                {
                    let grid = Grid::from_digits(order, &digits);
                    let mut text = Vec::new();
                    format.write_grid(&grid, &mut text);
                    let mut read = Grid::empty(order);
                    let record = Records::new(&format, &text, 1).read(&mut read);
                    assert!(
                        record.is_some_and(|record| record.error.is_none()),
                        "{symbol} {order} {digits:?}"
                    );
                    assert_eq!(read.digits(), digits, "{symbol}");
                    if digits[0] == 1 {
                        let hint = Hint {
                            alphabet: Some(alphabet.clone()),
                            notation: Some(Notation::Grid),
                            ..Hint::default()
                        };
                        let found = detect(&text, &hint).unwrap().format;
                        assert_eq!(found.order(), order, "{symbol}");
                    }
                }
            }
        }
        let ascii = Format::new(Notation::Grid, Order::ALL[3], Alphabet::Ascii).unwrap();
        for value in 1..=16 {
            let digits: Vec<u8> = (0..256).map(|at| if at % 17 == 0 { value } else { 0 }).collect();
            let mut text = Vec::new();
            ascii.write_grid(&Grid::from_digits(Order::ALL[3], &digits), &mut text);
            let mut read = Grid::empty(Order::ALL[3]);
            let record = Records::new(&ascii, &text, 1).read(&mut read);
            assert!(record.is_some_and(|record| record.error.is_none()), "{value}");
            assert_eq!(read.digits(), digits, "{value}");
        }
    }

    /// `lines` (`r` for a row, `b` for a blank line, `t` for a title, `p` and `s` for sections, `-` for
    /// a ruler) with a `|` where a puzzle ends.
    fn ends(lines: &str) -> String {
        let line = |kind: char| match kind {
            'r' => "1234\n",
            'b' => "\n",
            't' => "Grid 01\n",
            'p' => "[Puzzle]\n",
            's' => "[State]\n",
            _ => "--+--\n",
        };
        let text: Vec<String> = lines.chars().map(|kind| line(kind).to_owned()).collect();
        let format = four();
        let mut boundaries = Boundaries::new(&format);
        let mut out = String::new();
        for (index, kind) in lines.chars().enumerate() {
            let rest = text[index + 1..].concat();
            let line = classify(text[index].trim_end().as_bytes(), RowStyle::default());
            let end = boundaries.ends_with(line, rest.as_bytes(), true).unwrap();
            if end == End::Before {
                out.push('|');
            }
            out.push(kind);
            if end == End::Behind {
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
            // Titles and sections.
            "trrrr|trrrr|",
            "trr|trrrr|brrb|trrrr|",
            "prrrr|srrrr",
            "prr|srrrrprrrr|",
            "srrrrtrrrr|",
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
            // A ruler may be the frame above a puzzle.
            (format!("\n--\n{row}"), 1),
            (format!("--\n{}--\n--\n{row}", row.repeat(4)), 26),
            ("--\n".repeat(9), 24),
            (format!("{}{row}", row.repeat(3).trim_end()), 0),
            // A title ends what is above it, and stays with what is below; a section that is skipped has to be seen whole.
            (format!("{row}Grid 2\n{row}"), 5),
            (format!("[Puzzle]\n{}[State]\n{row}", row.repeat(4)), 29),
            (format!("{row}[State]\n{row}\n{row}[Puzzle]\n"), 24),
        ];
        for (text, wanted) in cases {
            assert_eq!(cut(&four(), text.as_bytes()), wanted, "{text}");
        }
    }

    /// Whatever stands in brackets, only what is known to be no puzzle is passed over.
    #[test]
    fn sections_of_other_names_are_titles() {
        let rows = "1234\n".repeat(4);
        let all = |name: &str| {
            answers(&four(), &format!("[Puzzle]\n{rows}[{name}]\n{rows}[Easy]\n{rows}"), 1).len()
        };
        for (name, puzzles) in [
            ("State", 2),
            ("Solution", 2),
            ("NOTES", 2),
            ("Solution:", 2),
            (" Solution (1) ", 2),
            ("The solution", 2),
            ("Answer key", 2),
            ("Hard", 3),
            ("Regions", 3),
        ] {
            assert_eq!(all(name), puzzles, "{name}");
        }
        let below =
            |title: &str| answers(&four(), &format!("{rows}[Solution]\nas found:\n{rows}{title}\n{rows}"), 1);
        for title in ["Level 3", "// 3", "Grid 3", "[3]"] {
            assert_eq!(below(title).len(), 2, "{title}");
        }
    }

    /// The puzzles of a text, with the error of each bad one in its place.
    fn answers(format: &Format, text: &str, first_line: u64) -> Vec<String> {
        let mut records = Records::new(format, text.as_bytes(), first_line);
        let (mut grid, mut found) = (Grid::empty(format.order()), Vec::new());
        while let Some(record) = records.read(&mut grid) {
            found.push(record.error.map_or_else(|| grid.to_string(), |error| error.to_string()));
        }
        found
    }

    /// The answers to a text, which are the same wherever it is cut.
    fn answers_to(text: &str) -> Vec<String> {
        let format = detect(text.as_bytes(), &Hint::default()).unwrap().format;
        assert_eq!(format.notation(), Notation::Grid, "{text}");
        let all = answers(&format, text, 1);
        // More than whole lines is not looked at.
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            let (part, rest) = text.split_at(cut(&format, &text.as_bytes()[..=end]));
            let lines = part.lines().count() as u64;
            let parts = [answers(&format, part, 1), answers(&format, rest, 1 + lines)].concat();
            assert_eq!(parts, all, "cut at {end} of {text}");
        }
        all
    }

    /// Six puzzles of this order, each as rows of cells together.
    fn six_puzzles(order: Order) -> Vec<Vec<String>> {
        let side = order.side();
        let row = |puzzle: usize, row: usize| {
            let clue = |column: usize| column % 4 == (puzzle + row) % 4;
            let cell = |column: usize| match (row * order.box_side() + row / order.box_side() + column) % side
            {
                value if clue(column) => char::from(b'1' + u8::try_from(value).unwrap()),
                _ => '.',
            };
            (0..side).map(cell).collect::<String>()
        };
        (0..6).map(|puzzle| (0..side).map(|at| row(puzzle, at)).collect()).collect()
    }

    /// `rows` with a ruler after so many of them, the last one left out.
    fn with_rulers(rows: &[String], every: usize) -> String {
        let parts: Vec<String> = rows.chunks(every).map(|rows| rows.join("\n") + "\n").collect();
        parts.join("+---+---+\n")
    }

    /// A drawn puzzle with a row that is lost, or there twice.
    fn damaged(puzzle: &str, row: usize, is_lost: bool) -> String {
        let mut lines: Vec<&str> = puzzle.lines().collect();
        let at = (0..lines.len()).filter(|&at| !lines[at].starts_with('+')).nth(row).unwrap();
        if is_lost {
            lines.remove(at);
        } else {
            lines.insert(at, lines[at]);
        }
        lines.join("\n") + "\n"
    }

    /// Six drawn puzzles of which one is damaged, in every row or in its last one: `check` is given
    /// the text, its answers, the answers of the sound puzzles, the number of the damaged one, and
    /// what its first rows say.
    fn for_each_damaged(is_lost: bool, check: impl Fn(&str, &[String], &[String], usize, &str)) {
        let ruler = "+---+---+\n";
        for order in [Order::ALL[1], Order::NINE] {
            let (side, band) = (order.side(), order.box_side());
            let whole = six_puzzles(order);
            let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
            // What stands above all puzzles, between two, below all, and after how many rows of one
            // there are rulers.
            let drawn = [
                (ruler, format!("{ruler}{ruler}"), ruler, band),
                (ruler, format!("{ruler}# next\n{ruler}"), ruler, band),
                (ruler, format!("{ruler}\n{ruler}"), ruler, band),
                ("", format!("{ruler}{ruler}"), "", 1),
            ];
            for (above, between, below, every) in drawn {
                let draw = |puzzles: &[String]| format!("{above}{}{below}", puzzles.join(&between));
                let mut puzzles: Vec<String> = whole.iter().map(|rows| with_rulers(rows, every)).collect();
                assert_eq!(answers_to(&draw(&puzzles)), wanted, "{}", draw(&puzzles));
                for bad in [1, 0, 5] {
                    let sound = puzzles[bad].clone();
                    for row in if bad == 1 { 0..side } else { side - 1..side } {
                        puzzles[bad] = damaged(&sound, row, is_lost);
                        let first: Vec<&str> =
                            puzzles[bad].lines().filter(|line| !line.starts_with('+')).take(side).collect();
                        let text = draw(&puzzles);
                        check(&text, &answers_to(&text), &wanted, bad, &first.concat());
                    }
                    puzzles[bad] = sound;
                }
            }
        }
    }

    #[test]
    fn a_lost_row_spoils_its_own_puzzle_only() {
        for_each_damaged(true, |text, found, wanted, bad, _| {
            // Between rulers below each row it leaves a gap, so that its puzzle is in two.
            let left = found.len() - 5;
            assert!(matches!(left, 1 | 2), "{left}: {text}");
            for error in &found[bad..bad + left] {
                assert!(error.contains("has the wrong length."), "{error}: {text}");
            }
            let others = [&found[..bad], &found[bad + left..]].concat();
            assert_eq!(others, [&wanted[..bad], &wanted[bad + 1..]].concat(), "{text}");
        });
    }

    #[test]
    fn a_row_too_many_is_an_error_below_its_puzzle() {
        for_each_damaged(false, |text, found, wanted, bad, first| {
            let mut others = found.to_vec();
            let error = others.remove(bad + 1);
            assert!(error.contains("has the wrong length."), "{error}: {text}");
            // Nothing tells which row is one too many, so the first rows are the puzzle.
            assert_eq!(others.remove(bad), first, "{text}");
            assert_eq!(others, [&wanted[..bad], &wanted[bad + 1..]].concat(), "{text}");
        });
    }

    #[test]
    fn a_whole_puzzle_may_have_rulers_anywhere() {
        let rows = &six_puzzles(Order::NINE)[0];
        for marks in [
            "-rrr-rrr-rrr-",
            "rrr-rrr-rrr",
            "-r-r-r-r-r-r-r-r-r-",
            "--rrr--rrr--rrr--",
            "--r--r--r--r--r--r--r--r--r--",
            "-rrrr-rr-rrr-",
            "-rr-rrrr-rrr-",
            "-rrr-rrrrrr-",
            "-rrrrrrrrr-",
            "-rrrrr-r-rrr-",
            "rrr-#-rrrrrr",
            "-rrr-brrr-b-rrr-",
        ] {
            // Alone, and below one that is drawn as usual.
            for marks in [marks.to_owned(), format!("-rrr-rrr-rrr-{marks}")] {
                let mut next = rows.iter().cycle();
                let line = |mark| match mark {
                    'r' => format!("{}\n", next.next().unwrap()),
                    'b' => "\n".to_owned(),
                    '#' => "# a\n".to_owned(),
                    _ => "---+---\n".to_owned(),
                };
                let text: String = marks.chars().map(line).collect();
                let found = answers_to(&text);
                assert!(found.iter().all(|found| *found == rows.concat()), "{marks} {found:?}");
            }
        }
    }

    #[test]
    fn cells_at_the_end_of_a_row_may_be_empty_fields() {
        for order in [Order::ALL[1], Order::NINE] {
            let (side, whole) = (order.side(), six_puzzles(order));
            // Puzzles with blanks at their ends, and one with a row of blanks and one of three clues.
            let mut puzzles = whole.clone();
            puzzles[0][1] = ".".repeat(side);
            puzzles[1][0] = ".".repeat(side);
            puzzles[2][side - 1] = ".".repeat(side);
            puzzles[3][0] = "123".to_owned() + &".".repeat(side - 3);
            let wanted: Vec<String> = puzzles.iter().map(|rows| rows.concat()).collect();
            let fields = |row: &str, between: &str| {
                let cells: Vec<String> = row.chars().map(|cell| cell.to_string().replace('.', "")).collect();
                cells.join(between)
            };
            for between in [",", ";"] {
                // Nothing behind the last cell, a delimiter, a carriage return; the number of the row.
                for (numbered, behind) in [(false, ""), (false, between), (false, "\r"), (true, "")] {
                    let row = |row: &String| format!("{}{behind}\n", fields(row, between));
                    let draw = |rows: &Vec<String>| rows.iter().map(row).collect::<String>();
                    let number = |text: &str| {
                        let rows = text.lines().filter(|line| !line.is_empty()).zip(1..);
                        rows.map(|(line, at)| format!("{at}{between}{line}\n")).collect::<String>()
                    };
                    let check = |text: String, wanted: &[String]| {
                        let text = if numbered { number(&text) } else { text };
                        assert_eq!(answers_to(&text), wanted, "{text}");
                    };
                    let drawn: Vec<String> = puzzles.iter().map(draw).collect();
                    for (text, wanted) in drawn.iter().zip(&wanted) {
                        check(text.clone(), std::slice::from_ref(wanted));
                    }
                    check(drawn.concat(), &wanted);
                    check(drawn.join("\n"), &wanted);
                    // Empty rows between puzzles that have none.
                    let drawn: Vec<String> = whole.iter().map(draw).collect();
                    let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
                    check(drawn.join(&row(&".".repeat(side))), &wanted);
                }
            }
        }
    }

    /// Cells that count, or blanks, in the first column are no numbers of rows.
    #[test]
    fn a_delimiter_behind_each_row_moves_no_column() {
        for (text, wanted) in [
            ("1,,3,,\n2,,,,\n3,,,,\n,4,,,\n", "1.3.2...3....4.."),
            ("1,,,,\n2,4,3,,\n3,2,1,,\n,1,,3,\n", "1...243.321..1.3"),
            ("x,,3,4,\n3,4,,2,\nx,1,4,3,\n4,3,2,1,\n", "..3434.2.1434321"),
            ("x,x,4,x,\nx,3,2,1,\nx,2,1,4,\n1,4,3,2,\n", "..4..321.2141432"),
        ] {
            assert_eq!(answers_to(text), [wanted], "{text}");
        }
    }

    #[test]
    fn a_row_of_empty_fields_is_a_row_where_puzzles_are_apart_otherwise() {
        for order in [Order::ALL[1], Order::NINE] {
            let (side, whole) = (order.side(), six_puzzles(order));
            let empty = ",".repeat(side - 1) + "\n";
            let draw = |rows: &Vec<String>| {
                let row = |row: &String| {
                    let cells: Vec<String> =
                        row.chars().map(|cell| cell.to_string().replace('.', "")).collect();
                    cells.join(",") + "\n"
                };
                rows.iter().map(row).collect::<String>()
            };
            let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
            for between in ["\n", "\n\n", "Grid 1\n", "\n# next\n"] {
                for (bad, row) in [(0, 0), (0, 1), (3, 0), (3, 1), (5, 0), (5, 1), (5, side - 1)] {
                    let (mut puzzles, mut wanted) = (whole.clone(), wanted.clone());
                    puzzles[bad][row] = ".".repeat(side);
                    wanted[bad] = puzzles[bad].concat();
                    let drawn: Vec<String> = puzzles.iter().map(draw).collect();
                    let text = drawn.join(between);
                    assert_eq!(answers_to(&text), wanted, "{text}");
                }
                // A puzzle without clues.
                let (mut puzzles, mut wanted) = (whole.clone(), wanted.clone());
                puzzles[2] = vec![".".repeat(side); side];
                wanted[2] = puzzles[2].concat();
                let drawn: Vec<String> = puzzles.iter().map(draw).collect();
                assert_eq!(answers_to(&drawn.join(between)), wanted);
            }
            // Beside blank lines, below all puzzles, and in the place of some blank lines.
            let drawn: Vec<String> = whole.iter().map(draw).collect();
            for text in [
                drawn.join(&format!("{empty}\n")),
                drawn.join(&format!("\n{empty}")),
                drawn.join("\n") + "\n" + &empty,
                drawn.join("\n") + &empty + &empty,
                format!("{}{empty}{}", drawn[..2].join("\n"), drawn[2..].join("\n")),
            ] {
                assert_eq!(answers_to(&text), wanted, "{text}");
            }
        }
    }

    /// Whatever it is that people write above a puzzle, the rows of one puzzle below show it.
    #[test]
    fn what_stands_above_one_puzzle_is_its_title() {
        let titles = [
            "; grid #",
            "// grid #",
            "% Grid #",
            "-- grid #",
            "=== # ===",
            "**Puzzle #**",
            "\"Puzzle #\"",
            "[#]",
            "> #",
            "#/6",
            "P-#",
            "Ex. #",
            "Puzzle#",
            "Tres difficile n°#",
            "Difficulty 7.#",
            "#",
            "0#",
            "9 #",
            "% by Ann, Monday noon\n\n% no. #",
            "Difficult",
            "Very hard!",
        ];
        for order in [Order::ALL[1], Order::NINE] {
            let format = Format::new(Notation::Grid, order, Alphabet::Letters).unwrap();
            let whole = six_puzzles(order);
            for title in titles {
                for (above, between, below) in [("", "", ""), ("\n", "", "\n"), ("", "\n", "\n\n")] {
                    let titled = |(rows, number): (&Vec<String>, usize)| {
                        let bands = rows.chunks(order.box_side()).map(|band| band.join("\n") + "\n");
                        let title = title.replace('#', &number.to_string());
                        format!("{title}\n{above}{}{below}", bands.collect::<Vec<_>>().join(between))
                    };
                    // Where the title has as many cells as a row, it is one.
                    if !is_no_row(&format, title.replace('#', "1").lines().next().unwrap().as_bytes()) {
                        continue;
                    }
                    let text = whole.iter().zip(1..).map(titled).collect::<String>();
                    let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
                    assert_eq!(answers_to(&text), wanted, "{text}");
                }
            }
            // A row that is damaged, doubled or lost spoils its own puzzle only.
            for name in ["short", "doubled", "lost"] {
                let mut titled: Vec<Vec<String>> =
                    whole.iter().map(|rows| [vec!["// puzzle".to_owned()], rows.clone()].concat()).collect();
                match name {
                    "short" => drop(titled[1][3].pop()),
                    "doubled" => titled[1].insert(3, whole[1][2].clone()),
                    _ => drop(titled[1].remove(3)),
                }
                let text = titled.concat().join("\n") + "\n";
                let found = answers_to(&text);
                assert_eq!(found[0], whole[0].concat(), "{name}");
                assert!(found[1].starts_with("Line "), "{name}: {found:?}");
                let good: Vec<String> = whole[2..].iter().map(|rows| rows.concat()).collect();
                assert_eq!(found[found.len() - 4..], good, "{name}: {found:?}");
            }
            // However many comments are below it.
            let rows = whole[0].join("\n");
            let text = format!("// 1\n{rows}\n{}// 2\n{rows}\n", "# so far\n".repeat(100));
            assert_eq!(answers_to(&text), vec![whole[0].concat(); 2], "{text}");
            // What may be the rows of a bad puzzle is none, and has an answer.
            let bad: Vec<String> = whole[1].iter().map(|row| row.replace('.', "+")).collect();
            for bad in [&bad[..], &bad[..1], &["12345678".to_owned()]] {
                for title in ["Grid 1", "Level 1", "(1)"] {
                    let puzzle = |rows: &[String]| format!("{title}\n{}\n\n", rows.join("\n"));
                    let text = [puzzle(&whole[0]), puzzle(bad), puzzle(&whole[2])].concat();
                    let found = answers_to(&text);
                    assert_eq!([&found[0], &found[2]], [&whole[0].concat(), &whole[2].concat()], "{text}");
                    assert!(found.len() == 3 && found[1].starts_with("Line "), "{found:?}: {text}");
                }
            }
            // With more lines of a title below it, and with a heading of columns above numbered rows.
            for more in ["(3)", "by Ben", "2024-01-02", "[Easy]", "Grid 3"] {
                let text: String =
                    whole.iter().map(|rows| format!("// a\n{more}\n{}\n", rows.join("\n"))).collect();
                let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
                assert_eq!(answers_to(&text), wanted, "{text}");
            }
            let names: String = (1..=order.side()).map(|column| format!(",C{column}")).collect();
            let text: String = whole
                .iter()
                .map(|rows| {
                    let numbered = rows.iter().zip(1..).map(|(row, number)| {
                        let cells: String = row
                            .chars()
                            .map(|cell| format!(",{}", cell.to_string().replace('.', "")))
                            .collect();
                        format!("R{number}{cells}\n")
                    });
                    format!("// a\n{names}\n{}", numbered.collect::<String>())
                })
                .collect();
            assert_eq!(
                answers_to(&text),
                whole.iter().map(|rows| rows.concat()).collect::<Vec<_>>(),
                "{text}"
            );
            // Rows that are not those of one puzzle show nothing.
            let side = order.side();
            for rows in [side - 1, side + 1, 2 * side] {
                let text = format!("//\n{}", (whole[0][0].clone() + "\n").repeat(rows));
                let first = answers(&format, &text, 1).remove(0);
                assert!(first.starts_with("Line 1 has "), "{first}: {text}");
            }
        }
    }

    #[test]
    fn titles_may_have_numbers() {
        let titles = [
            "Level #",
            "Easy #",
            "Level #:",
            "Very hard ##",
            "Easy (#)",
            "Easy no #",
            "[Easy #]",
            "[Puzzle #]",
            "No. #",
            "Nr. #",
            "#)",
            "(#)",
            "#:",
            "2024-01-0#",
            "12/31/202#",
            "Number # of many",
        ];
        for order in [Order::ALL[1], Order::NINE] {
            let whole = six_puzzles(order);
            let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
            for title in titles {
                for (above, below) in [("", ""), ("\n", ""), ("", "\n"), ("\n", "\n\n")] {
                    let titled = |(rows, number): (&Vec<String>, usize)| {
                        let title = title.replace('#', &number.to_string());
                        format!("{title}\n{above}{}\n{below}", rows.join("\n"))
                    };
                    let drawn: Vec<String> = whole.iter().zip(1..).map(titled).collect();
                    assert_eq!(answers_to(&drawn.concat()), wanted, "{}", drawn.concat());
                    assert_eq!(answers_to(&drawn[3]), wanted[3..4], "{}", drawn[3]);
                    // A row that is lost spoils its own puzzle only.
                    let mut damaged = drawn.clone();
                    let at = damaged[2].trim_end().rfind('\n').unwrap();
                    damaged[2].truncate(at + 1);
                    damaged[2] += "\n";
                    let found = answers_to(&damaged.concat());
                    assert!(found[2].ends_with("has the wrong length."), "{found:?}");
                    assert_eq!([&found[..2], &found[3..]].concat(), [&wanted[..2], &wanted[3..]].concat());
                }
            }
            // Where no row has a dot.
            let zeros: Vec<String> = whole
                .iter()
                .zip(1..)
                .map(|(rows, number)| format!("{number}.\n{}\n", rows.join("\n").replace('.', "0")))
                .collect();
            assert_eq!(answers_to(&zeros.concat()), wanted, "{}", zeros.concat());
            assert_eq!(answers_to(&zeros[0]), wanted[..1], "{}", zeros[0]);
            // Else it may be what is left of a row.
            let cut = "1.\n".to_owned() + &whole[0][1..].join("\n") + "\n";
            assert_eq!(
                answers_to(&(cut + &whole[1].join("\n"))),
                ["Line 1 has the wrong length.", &wanted[1]]
            );
        }
    }

    #[test]
    fn the_size_may_stand_above_a_puzzle() {
        for order in [Order::ALL[1], Order::NINE] {
            let whole = six_puzzles(order);
            let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
            for number in [order.box_side(), order.side()] {
                for size in ["#x#", "# x #", "#X#", "#*#"] {
                    let size = size.replace('#', &number.to_string());
                    let text = |above| format!("{size}\n{above}{}\n", whole[0].join("\n"));
                    for above in ["", "\n"] {
                        assert_eq!(answers_to(&text(above)), wanted[..1], "{}", text(above));
                    }
                    let all: Vec<String> =
                        whole.iter().map(|rows| format!("{size}\n{}\n", rows.join("\n"))).collect();
                    assert_eq!(answers_to(&all.concat()), wanted, "{}", all.concat());
                }
            }
        }
        // Not what is left of a row.
        let cut = "1x3\n3412\n2143\n4321\n";
        assert_eq!(answers_to(cut), ["Line 1 has the wrong length."]);
        // Nor cells apart.
        let puzzle = "1,2,0,0\n3,4,0,0\n0,0,0,2\n0,0,4,0\n";
        let text = format!("// 1\n{}\n// 2\n{puzzle}", puzzle.replace("3,4,0,0", "3,4"));
        assert_eq!(answers_to(&text), ["Line 3 has the wrong length.", "12..34.....2..4."]);
    }

    #[test]
    fn a_damaged_row_below_a_number_is_named() {
        let apart = |row: &str, by: &str| row.chars().map(String::from).collect::<Vec<_>>().join(by);
        for order in [Order::ALL[1], Order::NINE] {
            let rows = &six_puzzles(order)[0];
            for number in [order.box_side(), order.side(), 1, 7] {
                for separator in ["", " ", ","] {
                    for damaged in 0..rows.len() {
                        let written = |(at, row): (usize, &String)| {
                            apart(if at == damaged { &row[1..] } else { row }, separator)
                        };
                        let lines: Vec<String> = rows.iter().enumerate().map(written).collect();
                        let text = format!("{number}\n{}\n", lines.join("\n"));
                        let expected = format!("Line {} has the wrong length.", damaged + 2);
                        assert_eq!(answers_to(&text), [expected], "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_posts_have_around_grids_is_no_row() {
        let whole = six_puzzles(Order::NINE);
        let wanted: Vec<String> = whole.iter().map(|rows| rows.concat()).collect();
        let around = [
            ("[code]\n", "[/code]\n"),
            ("[CODE]\n\n", "\n[/CODE]\n"),
            ("[Grid]\n", ""),
            ("[Sudoku]\n", "\n"),
            ("[Easy one]\n", ""),
            ("```\n", "```\n"),
            ("```text\n", "```\n\n"),
            ("Here is my puzzle:\n", ""),
            ("Here is my puzzle:\n\n", ""),
            ("Hi all,\nthis one is very hard.\n[code]\n", "[/code]\nThanks for your help!\n"),
            ("[Puzzle]\n", "[State]\n123456789\n"),
            ("[Puzzle]\n", "[Notes]\n123456789\n"),
        ];
        for ruler in ["", "+---+---+---+\n"] {
            for (above, below) in around {
                let draw = |rows: &Vec<String>| {
                    format!(
                        "{above}{ruler}{}{ruler}{below}",
                        with_rulers(rows, if ruler.is_empty() { 9 } else { 3 })
                    )
                };
                assert_eq!(answers_to(&draw(&whole[0])), wanted[..1], "{}", draw(&whole[0]));
                let text: String = whole.iter().map(draw).collect();
                assert_eq!(answers_to(&text), wanted, "{text}");
            }
        }
        // Inside a puzzle, words are a row that cannot be read.
        let mut rows = whole[0].clone();
        rows[4] = "some words of mine".to_owned();
        assert_eq!(answers_to(&(rows.join("\n") + "\n")), ["Line 5 has the wrong length."]);
        // Words, and what only the rows below show to be a title, count alike wherever the text is cut.
        let damaged = ["1234\n".repeat(5), "1234\n12..\n".to_owned(), "12..\n".repeat(2)];
        for (between, answers) in [("some words of mine\n", 4), ("// 2\n", 4), ("(2)\n", 4)] {
            let text = format!("{}\n{}{between}{}", damaged[0], damaged[1], damaged[2]);
            assert_eq!(answers_to(&text).len(), answers, "{text}");
        }
        // A title is in one block with the rows that show it, even if their puzzle ends above the last.
        let rows = "1...\n".repeat(5);
        let text = format!("{}\n// 2\n12..\n34..\n\n{}1 a b\n\n{rows}// 2\n", damaged[2], damaged[2]);
        assert_eq!(answers_to(&text).len(), 5, "{text}");
        // What a player has filled in is no puzzle, with a puzzle or without one.
        assert_eq!(answers_to(&format!("[State]\n{}\n", whole[0].join("\n"))), [""; 0]);
    }

    /// What is read at a glance is what a closer look finds.
    #[test]
    fn most_rows_are_read_at_a_glance_as_they_are_closely() {
        use rand::seq::IndexedRandom;
        use rand::{RngExt, SeedableRng};
        let mut random = rand::rngs::ChaCha8Rng::seed_from_u64(1);
        let signs =
            [b"1234567890........    ||__**--\t\r".as_slice(), b"12345678,,,,,,,,.0; ", b"12:/).x,;-\"a "];
        let (mut rows, mut read) = (0, 0);
        for _ in 0..100_000 {
            let order = *[Order::ALL[1], Order::NINE].choose(&mut random).unwrap();
            let alphabet = if random.random() { Alphabet::Letters } else { Alphabet::Ascii };
            let mut format = Format::new(Notation::Grid, order, alphabet).unwrap();
            let style = &mut format.style;
            *style = style.written_in(&format.alphabet, Some(order));
            for flag in [
                &mut style.dashes,
                &mut style.numbered,
                &mut style.semicolons,
                &mut style.gaps,
                &mut style.ordinals,
            ] {
                *flag = random.random_range(0..4) == 0;
            }
            let signs = signs.choose(&mut random).unwrap();
            let length = order.side() + random.random_range(0..=order.side() + 2);
            let line: Vec<u8> = (0..length).map(|_| *signs.choose(&mut random).unwrap()).collect();
            let shown = || format!("{:?} {:?}", String::from_utf8_lossy(&line), format.style);
            if is_plain_row(&line, order.side(), format.style) {
                rows += 1;
                assert_eq!(classify(&line, format.style), LineKind::Row, "{}", shown());
                assert!(!is_no_row(&format, &line), "{}", shown());
            }
            let mut digits = vec![0; order.side()];
            if read_short_cells(&format, &line, &mut digits) {
                read += 1;
                let cells = cells(&format, &line).unwrap_or_else(|| panic!("{}", shown()));
                let wanted: Option<Vec<u8>> =
                    cells.into_iter().map(|cell| read_cell(&format, cell)).collect();
                assert_eq!(Some(digits), wanted, "{}", shown());
            }
        }
        assert!(rows > 10_000 && read > 1_000, "{rows} {read}");
    }

    #[test]
    fn cells_are_apart_by_commas_or_white_space_or_together() {
        let read = |line: &str| {
            let mut digits = [9; 4];
            read_row(&four(), line.as_bytes(), &mut digits).map(|()| digits)
        };
        for line in
            ["1 . 0 4", "1,,0,4", "1,,,4,", "1..4", "|1 .|0 4|", "│1·│?4│", "1.0, nan,0.0,4e0", "1-_4"]
        {
            assert_eq!(read(line), Ok([1, 0, 0, 4]), "{line}");
        }
        assert_eq!(read("1,2,3"), Err(Problem::WrongLength));
        assert_eq!(read("1,2,3,,,"), Err(Problem::WrongLength));
        // The last cells may be blanks, with a comma behind them or without one.
        for line in ["1,2,3,", "1,2,3,,", "1,2,3,\"\"\r", "1,2,3, ,"] {
            assert_eq!(read(line), Ok([1, 2, 3, 0]), "{line}");
        }
        for line in [",,,", ",,,,", " , , , "] {
            assert_eq!(read(line), Ok([0; 4]), "{line}");
        }
        assert!(matches!(read("1,2,3,5"), Err(Problem::InvalidCharacter { column: 7, .. })));
    }
}
