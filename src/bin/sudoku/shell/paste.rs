//! Puzzles typed or pasted, on one line or several.
//!
//! The length of a line decides whether it is a puzzle, the first row of one, or neither. Only
//! sixteen cells can be both: a 4x4 puzzle, or a row of a 16x16 one if they are separated or one of
//! them is above 4. There the size of the command line decides, or an alphabet of only one size.
//!
//! Cells may have commas or semicolons between them.
//!
//! Rows in which blank cells are spaces look like something else at first: `53  7` has two numbers,
//! `5  3  7` is a triple. Such lines become rows as soon as they can be nothing else.

use std::borrow::Cow;

use sudoku_stream::answer::single_error;
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::text::{
    Alphabet, BYTE_ORDER_MARK, Format, FormatError, Hint, Notation, Problem, PuzzleError, Records, detect,
    skip_lines_above,
};

use super::board;
use super::spaces::SpacedRows;

/// The side of the largest puzzle.
const MAX_SIDE: usize = Order::ALL[Order::ALL.len() - 1].side();

/// The kind of an unfinished puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasteKind {
    /// Rows of this size; `None` until the first row.
    Rows(Option<Order>),
    /// Rows with spaces for blank cells.
    Spaced,
    /// `row column value` lines; a blank line ends them.
    Triples,
    /// The line below a block size.
    Header,
}

/// An unfinished puzzle of several lines.
#[derive(Clone, Debug)]
pub struct Paste {
    kind: PasteKind,
    text: Vec<u8>,
    /// The number of its rows or triples.
    taken: usize,
    /// Its rows are numbered, as the console draws them.
    is_numbered: bool,
    /// Its lines as rows with spaces for blank cells, as long as they can be that.
    spaced: Option<SpacedRows>,
}

/// The reading of a first line.
#[derive(Debug)]
pub enum Begun {
    /// A complete puzzle, or an attempt at one.
    Whole,
    /// The first line of a puzzle.
    Part(Paste),
}

/// The effect of a further line.
#[derive(Debug, PartialEq, Eq)]
pub enum LineTaken {
    /// The puzzle goes on.
    More,
    /// The puzzle is complete.
    Done,
    /// The puzzle ended too early.
    Short,
}

/// Does the line look like a puzzle or a part of one, and not like a name or a path?
pub fn looks_like_cells(line: &[u8]) -> bool {
    let drawn = plain(line.trim_ascii());
    let line: &[u8] = &drawn;
    if line.is_empty() || line.contains(&b'/') || has_file_ending(line) || is_array(line) {
        return false;
    }
    if separated(line).is_some() {
        return true;
    }
    let count = |is_one: &dyn Fn(u8) -> bool| line.iter().filter(|&&byte| is_one(byte)).count();
    let cellish = count(&|byte| byte.is_ascii_digit() || b"._*-+|=: \t".contains(&byte));
    let cells = count(&|byte| !byte.is_ascii_whitespace() && byte != b'|');
    if cells < 16 && begins_like_a_command(line) {
        return false;
    }
    let fits = Order::from_cells(cells).is_some() || Order::from_side(cells).is_some();
    let is_plain = line.iter().all(|&byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let is_upper_case = !line.iter().any(u8::is_ascii_lowercase);
    cellish * 2 > line.len()
        || (fits && is_plain && cellish > 0 && (cells >= 16 || is_upper_case))
        || (fits && cells >= 81)
}

/// Is it the beginning of a JSON array, or a row of one?
pub fn is_array(line: &[u8]) -> bool {
    let inner = line.trim_ascii_start();
    let first = inner.iter().find(|byte| !b"[\"' ".contains(byte));
    inner.starts_with(b"[") && first.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// The number of cells on a line that has commas or semicolons between them, if a row or a puzzle of
/// 4x4 or larger has as many. One may be behind the last, too.
fn separated(line: &[u8]) -> Option<usize> {
    let fits = |count: usize| {
        count >= 4 && (Order::from_side(count).is_some() || Order::from_cells(count).is_some())
    };
    let is_cell = |field: &&[u8]| {
        field.len() <= 2 && field.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._*-?".contains(byte))
    };
    b",;".iter().find_map(|separator| {
        let fields: Vec<&[u8]> = line.split(|byte| byte == separator).map(<[u8]>::trim_ascii).collect();
        let without_last =
            if fields.last().is_some_and(|last| last.is_empty()) { fields.len() - 1 } else { 0 };
        let count = [fields.len(), without_last].into_iter().find(|&count| fits(count));
        count.filter(|_| fields.iter().all(is_cell))
    })
}

/// Does it begin with a word, or with a letter that is no value of a row of four or nine cells?
fn begins_like_a_command(line: &[u8]) -> bool {
    let groups = groups(line);
    match groups.first() {
        Some(&[letter]) if letter.is_ascii_alphabetic() => {
            !(matches!(groups.len(), 4 | 9) && usize::from(letter.to_ascii_uppercase() - b'A') < groups.len())
        }
        Some(word) => word.iter().all(u8::is_ascii_alphabetic),
        None => false,
    }
}

/// Does it end like a file name, in `.txt` or `.gz`?
fn has_file_ending(line: &[u8]) -> bool {
    line.iter().rposition(|&byte| byte == b'.').is_some_and(|dot| {
        let ending = &line[dot + 1..];
        (2..=5).contains(&ending.len()) && ending.iter().all(u8::is_ascii_lowercase)
    })
}

/// The line with `|` in the place of characters of box drawing (U+2500 to U+257F).
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let (mut plain, mut rest) = (Vec::with_capacity(line.len()), line);
    loop {
        rest = match rest {
            [0xE2, 0x94 | 0x95, 0x80..=0xBF, behind @ ..] => {
                plain.push(b'|');
                behind
            }
            [byte, behind @ ..] => {
                plain.push(*byte);
                behind
            }
            [] => return Cow::Owned(plain),
        };
    }
}

/// Is it a line between rows or around them: `---+---`, `├───┤`, `*---*`, `'---'`?
fn is_ruler(line: &[u8]) -> bool {
    let line = plain(line);
    // These are blank cells too.
    let is_mark = |byte: &u8| b"*:.'".contains(byte);
    if line.trim_ascii().is_empty() || !line.iter().all(|byte| b"-+|= \t\r".contains(byte) || is_mark(byte)) {
        return false;
    }
    let has_pair = |of: &dyn Fn(&u8) -> bool| line.windows(2).any(|pair| pair.iter().all(of));
    !line.iter().any(is_mark) || (has_pair(&|byte| b"-=".contains(byte)) && !has_pair(&is_mark))
}

/// Is the line one of the numbers of columns above a board, as the console draws it?
pub fn is_heading(line: &[u8]) -> bool {
    let larger = || Order::ALL.into_iter().filter(|order| order.side() > 1);
    larger().flat_map(board::headings).any(|heading| heading.as_bytes() == line.trim_ascii_end())
}

/// A line of a numbered board without the number of its row; nothing of one that has the numbers of
/// columns.
fn without_number(line: &[u8]) -> &[u8] {
    if is_heading(line) {
        return b"";
    }
    match line.split_at_checked(board::MARGIN.len()) {
        Some((margin, row)) if margin.iter().all(|byte| matches!(byte, b' ' | b'0'..=b'9')) => row,
        _ => line,
    }
}

/// Is the line a ruler, and no puzzle or row with `-` for blank cells?
pub fn is_frame(line: &[u8]) -> bool {
    let line = plain(line);
    let first = groups(&line).first().map_or(0, |group| group.len());
    is_ruler(&line) && !matches!(first, 16 | 81 | 256 | 625)
}

/// Is the line a row of blank cells that are spaces?
pub fn is_blank_row(line: &[u8]) -> bool {
    line.len() == Order::NINE.side() && line.iter().all(|&byte| byte == b' ')
}

/// Can rows have spaces for blank cells, as far as the command line allows it?
pub fn may_have_spaces(hint: &Hint) -> bool {
    hint.alphabet.is_none()
        && hint.order.is_none_or(|order| order == Order::NINE)
        && matches!(hint.notation, None | Some(Notation::Grid))
}

/// Is it more than a comment, a ruler or nothing?
fn is_content(line: &[u8]) -> bool {
    let first = line.trim_ascii_start().first();
    !matches!(first, None | Some(b'#')) && !is_ruler(line)
}

/// The groups of characters of a line.
fn groups(line: &[u8]) -> Vec<&[u8]> {
    line.split(|&byte| byte == b'|' || byte.is_ascii_whitespace()).filter(|group| !group.is_empty()).collect()
}

/// The cells of a puzzle on one line with spaces between them, and none where the line is something
/// else. Sixteen are not told from a row of a 16x16 puzzle.
fn joined(line: &[u8]) -> Option<Vec<u8>> {
    let line = plain(line);
    let mut groups = groups(&line);
    if let Some(comment) = groups.iter().position(|group| group.starts_with(b"#")) {
        groups.truncate(comment);
    }
    let cells = groups.concat();
    // A line of single characters that is longer than a row lacks cells, or has too many.
    let are_cells = groups.len() > MAX_SIDE && groups.len() == cells.len();
    let is_puzzle = matches!(cells.len(), 81 | 256 | 625) && groups[0].len() < 81;
    (groups.len() > 1 && (are_cells || is_puzzle)).then_some(cells)
}

/// The order of a puzzle with such a row.
fn row_order(line: &[u8]) -> Option<Order> {
    if let Some(cells) = separated(line) {
        return Order::from_side(cells);
    }
    let line = plain(line);
    let groups = groups(&line);
    let width: usize = groups.iter().map(|group| group.len()).sum();
    let apart = Order::from_side(groups.len())
        .filter(|_| groups.iter().all(|group| group.len() <= 2) && groups.len() > 1);
    apart.or_else(|| Order::from_side(width)).filter(|order| order.side() > 1)
}

/// Is it a row of four cells with a digit that no 4x4 puzzle has?
fn is_too_large(line: &[u8], order: Order) -> bool {
    order.side() == 4 && line.iter().any(|byte| matches!(byte, b'5'..=b'9'))
}

/// Is it three numbers, and no row in three groups?
fn is_triple(groups: &[&[u8]]) -> bool {
    let is_number = |group: &&[u8]| group.iter().all(u8::is_ascii_digit);
    groups.len() == 3 && groups.iter().all(is_number) && !groups.iter().all(|group| group.len() == 3)
}

/// The size of puzzles, if the command line has it or an alphabet that fits no other.
fn known_order(hint: &Hint) -> Option<Order> {
    let of_symbols = || match &hint.alphabet {
        Some(alphabet @ Alphabet::Custom(_)) => alphabet.largest_order(),
        _ => None,
    };
    hint.order.or_else(of_symbols)
}

/// Is it a blank or one of the first four values?
fn is_small(cell: u8, alphabet: &Alphabet) -> bool {
    let symbols = alphabet.symbols();
    let is_value = |cell| symbols.iter().take(4).any(|&symbol| symbol == cell);
    is_value(cell)
        || is_value(cell.to_ascii_uppercase()) && !matches!(alphabet, Alphabet::Custom(_))
        || b".0_*-".contains(&cell) && !symbols.contains(&cell)
}

/// Reads the first line of a paste. `may_have_spaces` tells whether spaces can be blank cells.
pub fn begin(line: &[u8], hint: &Hint, may_have_spaces: bool) -> Begun {
    let is_frame = is_frame(line);
    let spaced = may_have_spaces.then(SpacedRows::default);
    let spaced = if is_frame { spaced } else { spaced.and_then(|rows| rows.with(line)) };
    let has_spaces = spaced.as_ref().is_some_and(SpacedRows::is_likely);
    let part = |kind, taken| {
        let text = [line, b"\n"].concat();
        Begun::Part(Paste { kind, text, taken, is_numbered: false, spaced: spaced.clone() })
    };
    if is_heading(line) {
        let kind = PasteKind::Rows(None);
        return Begun::Part(Paste { kind, text: b"\n".to_vec(), taken: 0, is_numbered: true, spaced: None });
    }
    let drawn = plain(line);
    let groups = groups(&drawn);
    let first = groups.first().map_or(0, |group| group.len());
    if is_frame {
        return part(PasteKind::Rows(None), 0);
    }
    if matches!(groups[..], [b"2" | b"3"]) {
        return part(PasteKind::Header, 0);
    }
    if is_triple(&groups) {
        return part(PasteKind::Triples, 1);
    }
    let order = known_order(hint);
    let is_four = || match order {
        Some(order) => order.side() == 4,
        None => {
            let alphabet = hint.alphabet.clone().unwrap_or_default();
            line.trim_ascii().iter().take(16).all(|&cell| is_small(cell, &alphabet))
        }
    };
    let is_separated = separated(line).is_some_and(|cells| Order::from_side(cells).is_none());
    if matches!(first, 81 | 256 | 625) || (first == 16 && is_four()) || joined(line).is_some() || is_separated
    {
        return Begun::Whole;
    }
    // A 1 alone is a puzzle, unless its line is as long as a row.
    let is_one = matches!(groups[..], [b"1"]) && line.len() != Order::NINE.side();
    match row_order(line).filter(|&of_row| order.is_none_or(|order| order == of_row)) {
        Some(order) if !(has_spaces && is_too_large(line, order)) => part(PasteKind::Rows(Some(order)), 1),
        _ if has_spaces && !is_one => part(PasteKind::Spaced, 1),
        _ => Begun::Whole,
    }
}

/// Are these lines, which were pasted at once, rows with spaces for blank cells?
pub fn is_spaced(lines: &[&[u8]], hint: &Hint) -> bool {
    let mut lines = lines.iter().copied().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let Some(first) = lines.next() else { return false };
    let Begun::Part(mut paste) = begin(first, hint, may_have_spaces(hint)) else { return false };
    for line in lines {
        if paste.kind == PasteKind::Spaced || paste.take(line) != LineTaken::More {
            break;
        }
    }
    paste.kind == PasteKind::Spaced
}

impl Paste {
    /// Takes the next line, whatever is on it.
    pub fn take(&mut self, line: &[u8]) -> LineTaken {
        let line = if self.is_numbered { without_number(line) } else { line };
        let is_blank = line.trim_ascii().is_empty();
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        let is_content = is_content(line);
        if is_blank || is_content {
            self.spaced = self.spaced.take().and_then(|rows| rows.with(line));
        }
        if is_content && self.is_misfit(line) && self.spaced.as_ref().is_some_and(SpacedRows::is_likely) {
            self.kind = PasteKind::Spaced;
        }
        match self.kind {
            PasteKind::Spaced => return self.spaced_so_far(),
            PasteKind::Header if is_content => return LineTaken::Done,
            PasteKind::Triples if is_blank => return LineTaken::Done,
            PasteKind::Rows(Some(order)) => {
                let inside_band = !self.taken.is_multiple_of(order.box_side());
                self.taken += usize::from(is_content);
                if self.taken == order.side() {
                    return LineTaken::Done;
                }
                // Bands may stand apart; a blank line inside of one means that this was all.
                if is_blank && inside_band {
                    return LineTaken::Short;
                }
            }
            PasteKind::Rows(None) if is_content => {
                let order = row_order(line);
                self.kind = PasteKind::Rows(order);
                self.taken = 1;
                if order.is_none() {
                    return LineTaken::Done;
                }
            }
            PasteKind::Triples => {
                self.taken += usize::from(is_content);
                if is_content && self.taken == Order::NINE.side() && self.are_rows() {
                    self.kind = PasteKind::Spaced;
                    return LineTaken::Done;
                }
            }
            PasteKind::Rows(None) | PasteKind::Header => {}
        }
        LineTaken::More
    }

    /// Is a line none of those that the puzzle needs next?
    fn is_misfit(&self, line: &[u8]) -> bool {
        match self.kind {
            PasteKind::Rows(None) => row_order(line).is_none(),
            PasteKind::Rows(Some(order)) => row_order(line) != Some(order) || is_too_large(line, order),
            PasteKind::Triples => !is_triple(&groups(&plain(line))),
            // No row is as long as a puzzle.
            PasteKind::Header => true,
            PasteKind::Spaced => false,
        }
    }

    /// The effect of the last line on rows with spaces.
    fn spaced_so_far(&self) -> LineTaken {
        match &self.spaced {
            Some(rows) if rows.is_complete() => LineTaken::Done,
            Some(rows) if rows.may_go_on() => LineTaken::More,
            _ => LineTaken::Short,
        }
    }

    /// Are nine triples nine rows with three clues each, because they are no puzzle otherwise?
    fn are_rows(&self) -> bool {
        let can_be = self.spaced.as_ref().is_some_and(|rows| rows.is_likely() && rows.is_complete());
        can_be && !self.read(&Hint::default()).is_ok_and(|(_, grid)| grid.keeps_rules())
    }

    /// Is the line another puzzle, and no row of this one?
    pub fn is_another(&self, line: &[u8]) -> bool {
        let first = || groups(&plain(line)).first().map_or(0, |group| group.len());
        match self.kind {
            PasteKind::Rows(_) => matches!(first(), 81 | 256 | 625),
            PasteKind::Spaced => is_content(line) && SpacedRows::default().with(line).is_none(),
            PasteKind::Triples | PasteKind::Header => false,
        }
    }

    /// Is it a grid, which a ruler may close?
    pub const fn is_grid(&self) -> bool {
        matches!(self.kind, PasteKind::Rows(_) | PasteKind::Spaced)
    }

    /// The prompt of the next line.
    pub fn prompt(&self) -> String {
        match self.kind {
            PasteKind::Spaced => {
                let (rows, side) = self.spaced.as_ref().map_or((0, 0), |rows| (rows.len(), rows.side()));
                format!("row {} of {side}> ", rows + 1)
            }
            PasteKind::Rows(Some(order)) => format!("row {} of {}> ", self.taken + 1, order.side()),
            PasteKind::Rows(None) => "row 1> ".to_owned(),
            PasteKind::Triples => "row column value, a blank line ends> ".to_owned(),
            PasteKind::Header => "puzzle> ".to_owned(),
        }
    }

    /// The reply if the puzzle stays unfinished.
    pub fn unfinished(&self) -> String {
        match (self.kind, &self.spaced) {
            (PasteKind::Spaced, Some(rows)) => rows.unfinished(),
            (PasteKind::Rows(Some(order)), _) => {
                format!(
                    "The puzzle ended after {} of {} rows. It is not on the board.\n",
                    self.taken,
                    order.side()
                )
            }
            _ => "The puzzle did not come to its end. It is not on the board.\n".to_owned(),
        }
    }

    /// Can it end here?
    pub fn may_end(&self) -> bool {
        self.kind == PasteKind::Triples
    }

    /// The puzzle.
    ///
    /// # Errors
    /// A badly formed puzzle.
    pub fn read(&self, hint: &Hint) -> Result<(Format, Grid), FormatError> {
        let spaced =
            self.spaced.as_ref().filter(|_| self.kind == PasteKind::Spaced).and_then(SpacedRows::text);
        let (notation, order) = match self.kind {
            PasteKind::Rows(order) => (Notation::Grid, order),
            PasteKind::Spaced => (Notation::Grid, spaced.as_ref().map(|(order, _)| *order)),
            PasteKind::Triples => (Notation::Triples, None),
            PasteKind::Header => (Notation::Header, None),
        };
        let hint = Hint { notation: Some(notation), order: hint.order.or(order), ..hint.clone() };
        let text = spaced.as_ref().map_or(&self.text, |(_, text)| text);
        read_text(text, &hint).map(|(format, puzzle, _)| (format, puzzle))
    }
}

/// The puzzle on a line.
///
/// # Errors
/// A badly formed puzzle.
pub fn read_line(line: &[u8], hint: &Hint) -> Result<(Format, Grid), FormatError> {
    let notation = if separated(line).is_some() { Notation::Cells } else { Notation::Lines };
    let hint = Hint { notation: Some(notation), ..hint.clone() };
    let joined = joined(line);
    read_text(joined.as_deref().unwrap_or(line).trim_ascii(), &hint)
        .map(|(format, puzzle, _)| (format, puzzle))
}

/// The first puzzle of a text, and whether there are more.
///
/// # Errors
/// A badly formed puzzle. A line is named only where there are several.
pub fn read_text(text: &[u8], hint: &Hint) -> Result<(Format, Grid, bool), FormatError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let (skipped, lines) = skip_lines_above(text, true);
    let text = &text[skipped..];
    if text.is_empty() {
        return Err(PuzzleError { problem: Problem::Empty, line: None }.into());
    }
    let opening = detect(text, hint).map_err(|error| error.below(lines))?;
    let format = opening.format;
    let raw = &text[opening.body..];
    let body = &*format.readable(raw);
    let mut puzzle = Grid::empty(format.order());
    let mut records = Records::new(&format, body, 1 + lines + opening.lines);
    let Some(record) = records.read(&mut puzzle) else {
        return Err(PuzzleError { problem: Problem::Empty, line: None }.into());
    };
    if let Some(error) = record.error {
        let is_on_one_line = raw.trim_ascii_end().iter().all(|&byte| byte != b'\n');
        return Err(if is_on_one_line { single_error(&format, body, &error) } else { error }.into());
    }
    let has_more = records.read(&mut Grid::empty(format.order())).is_some();
    Ok((format, puzzle, has_more))
}

#[cfg(test)]
mod tests {
    use super::super::board::{Board, Look};
    use super::*;

    fn kind(line: &str) -> Option<PasteKind> {
        match begin(line.as_bytes(), &Hint::default(), true) {
            Begun::Whole => None,
            Begun::Part(paste) => Some(paste.kind),
        }
    }

    #[test]
    fn a_line_tells_what_begins_with_it() {
        let rows = |side| Some(PasteKind::Rows(Some(Order::from_side(side).unwrap())));
        let cases = [
            (&".".repeat(81), None),
            (&".".repeat(625), None),
            (&format!("{} # rated 2", ".".repeat(81)), None),
            (&"1...".repeat(4), None),
            (&"1..G".repeat(4), rows(16)),
            (&"1 . . . ".repeat(4), rows(16)),
            (&"53..7....".to_owned(), rows(9)),
            (&"5 3 . | . 7 . | . . .".to_owned(), rows(9)),
            (&"|53.|.7.|...|".to_owned(), rows(9)),
            (&"123 456 789".to_owned(), rows(9)),
            (&"1 . . 4".to_owned(), rows(4)),
            (&"10 . 12 . ".repeat(4), rows(16)),
            (&"1 1 5".to_owned(), Some(PasteKind::Triples)),
            (&"3".to_owned(), Some(PasteKind::Header)),
            (&"+---+---+".to_owned(), Some(PasteKind::Rows(None))),
            (&"├───┼───┤".to_owned(), Some(PasteKind::Rows(None))),
            (&"*-----------*".to_owned(), Some(PasteKind::Rows(None))),
            (&"'-----'".to_owned(), Some(PasteKind::Rows(None))),
            (&"│53.│.7.│...│".to_owned(), rows(9)),
            (&"5,3,0,0,7,0,0,0,0".to_owned(), rows(9)),
            (&"5;3;;;7;;;;".to_owned(), rows(9)),
            (&" , , ,4,".to_owned(), rows(4)),
            (&"5,3,0,0,7,0,0,0,".to_owned(), rows(9)),
            (&"1,,,,".repeat(4)[..19].to_owned(), rows(16)),
            (&"5,".repeat(81), None),
            (&"53  7".to_owned(), Some(PasteKind::Spaced)),
            (&" 98    6 ".to_owned(), Some(PasteKind::Spaced)),
            (&"53 46".to_owned(), Some(PasteKind::Spaced)),
            (&"1        ".to_owned(), Some(PasteKind::Spaced)),
            (&"   7".to_owned(), Some(PasteKind::Spaced)),
            // These may be something else, which the next line decides.
            (&"5   3 7".to_owned(), Some(PasteKind::Triples)),
            (&"12  34".to_owned(), rows(4)),
            (&"  3".to_owned(), Some(PasteKind::Header)),
            (&"  1".to_owned(), None),
            (&"7".to_owned(), None),
            (&"12".to_owned(), None),
            (&"55 7".to_owned(), None),
            (&"1".to_owned(), None),
            (&"53..7...".to_owned(), None),
        ];
        for (line, wanted) in cases {
            assert_eq!(kind(line), wanted, "{line}");
        }
    }

    #[test]
    fn sixteen_cells_are_what_the_command_line_says() {
        let side = |line: &str, size: Option<usize>, alphabet: Option<&str>| {
            let hint = Hint {
                order: size.map(|side| Order::from_side(side).unwrap()),
                alphabet: alphabet.map(|alphabet| alphabet.parse().unwrap()),
                ..Hint::default()
            };
            match begin(line.as_bytes(), &hint, false) {
                Begun::Part(paste) => match paste.kind {
                    PasteKind::Rows(Some(order)) => order.side(),
                    kind => panic!("{line}: {kind:?}"),
                },
                Begun::Whole => 0,
            }
        };
        // 0 is a whole line, else it is a row of so many cells.
        for (line, size, alphabet, wanted) in [
            ("1234............", None, None, 0),
            ("1234............", Some(16), None, 16),
            ("1234............", Some(9), None, 0),
            ("12345...........", None, None, 16),
            ("12345...........", Some(4), None, 0),
            ("abcd............", None, None, 16),
            ("abcd............", Some(4), None, 0),
            ("abcd............", None, Some("abcd"), 0),
            ("ABCD............", Some(4), Some("alpha"), 0),
            ("ABCD............", None, Some("alpha"), 0),
            ("abcd............", None, Some("alpha"), 0),
            ("ABCDE...........", None, Some("alpha"), 16),
            ("1234............", None, Some("alpha"), 16),
            ("0123............", None, Some("hex"), 0),
            ("1234............", None, Some("hex"), 16),
            ("1234............", None, Some("123456789ABCDEFG"), 16),
            ("1 2 3 4", None, None, 4),
            ("1 2 3 4", Some(9), None, 0),
        ] {
            assert_eq!(side(line, size, alphabet), wanted, "{line} {size:?} {alphabet:?}");
        }
    }

    #[test]
    fn paths_and_words_are_no_cells() {
        for word in [
            "slove",
            "puzzles.txt",
            "../lists/1.txt",
            "17clue.txt.gz",
            "x",
            "",
            "list_2024_10.csv",
            "ex 16",
            "sett 1 1 5",
            "s 1 1 5",
            "[[5, 3, 0, 0, 7, 0, 0, 0, 0],",
            "one,two,three,four",
        ] {
            assert!(!looks_like_cells(word.as_bytes()), "{word}");
        }
        for cells in [
            "53..7x...",
            "1 2 3",
            "5 3 4 6 7 8 9 1 2",
            "123456789ABCDEFG",
            "---+---",
            "AB.D",
            "C . . 4",
            "┌───┬───┐",
            "│53.│.7.│...│",
            "'---'",
            "53  7",
            " 9     6",
            "5;3;;;7;;;;",
            ",,,,,,,,",
        ] {
            assert!(looks_like_cells(cells.as_bytes()), "{cells}");
        }
        assert!(looks_like_cells("A".repeat(81).as_bytes()));
    }

    #[test]
    fn a_puzzle_that_fits_two_alphabets_is_not_taken() {
        let hex = format!("F0{}", ".".repeat(254));
        let read = |hint: &Hint| read_line(hex.as_bytes(), hint).map(|(format, _)| format);
        assert_eq!(
            read(&Hint::default()).unwrap_err(),
            FormatError::AmbiguousAlphabet { from_zero: Alphabet::Hex }
        );
        let hint = Hint { alphabet: Some(Alphabet::Hex), ..Hint::default() };
        assert_eq!(read(&hint).unwrap().alphabet(), &Alphabet::Hex);
    }

    fn pasted(lines: &[&str]) -> Result<(Format, Grid), FormatError> {
        let Begun::Part(mut paste) = begin(lines[0].as_bytes(), &Hint::default(), true) else {
            panic!("{} is whole", lines[0])
        };
        for (index, line) in lines.iter().enumerate().skip(1) {
            let wanted = if index + 1 == lines.len() { LineTaken::Done } else { LineTaken::More };
            assert_eq!(paste.take(line.as_bytes()), wanted, "line {index}");
        }
        paste.read(&Hint::default())
    }

    #[test]
    fn puzzles_of_several_lines_end_where_they_should() {
        let (_, grid) = pasted(&["1234", "34.2", "", "2143", "4321"]).unwrap();
        assert_eq!(grid.filled(), 15);
        let (_, grid) = pasted(&["+--+--+", "|12|34|", "|34|12|", "+--+--+", "|21|43|", "|43|21|"]).unwrap();
        assert!(grid.is_solved());
        let (_, grid) = pasted(&["2", "1234341221434321"]).unwrap();
        assert!(grid.is_solved());
        let (format, grid) = pasted(&["1 1 5", "9 9 1", ""]).unwrap();
        assert_eq!((format.order(), grid.filled()), (Order::NINE, 2));
        let error = |lines: &[&str]| pasted(lines).unwrap_err().to_string();
        assert_eq!(
            error(&["1234", "3412", "21q3", "4321"]),
            "Line 3 has an invalid character. It is 'q' in column 3."
        );
        assert_eq!(error(&["1234", "34122", "2143", "4321"]), "Line 2 has the wrong length.");
        let Begun::Part(mut paste) = begin(b"1234", &Hint::default(), true) else { panic!("a row is whole") };
        assert_eq!(paste.take(b" "), LineTaken::Short);
        assert_eq!(paste.unfinished(), "The puzzle ended after 1 of 4 rows. It is not on the board.\n");
    }

    #[test]
    fn rows_with_spaces_may_look_like_something_else_at_first() {
        let filled = |rows: [&str; 9]| {
            let (format, grid) = pasted(&rows).unwrap();
            assert!(format.order() == Order::NINE && grid.keeps_rules(), "{rows:?}");
            grid.filled()
        };
        let mut puzzle = [
            "53  7",
            "6  195",
            " 98    6",
            "8   6   3",
            "4  8 3  1",
            "7   2   6",
            " 6    28",
            "   419  5",
            "    8  79",
        ];
        assert_eq!(filled(puzzle), 30);
        // Triples, a row of a 4x4 puzzle, a block size, a row without blank cells.
        for (first, clues) in [("5 3 7", 30), ("53  7 4", 31), ("1 2 4 3", 31), ("3", 28), ("534678912", 36)]
        {
            puzzle[0] = first;
            assert_eq!(filled(puzzle), clues, "{first}");
        }
        // Three clues in each row, which set (5, 7) twice as triples.
        let three = [
            "5   7   2",
            "6  1  3",
            " 9  4  6",
            " 5 7 1",
            "  6  3  1",
            "7  9  8",
            " 6  3  8",
            "  7  9  5",
            "3   8   9",
        ];
        assert_eq!(filled(three), 27);
        let (format, grid) = pasted(&["1  4", " 3  ", "  2 ", "4  1"]).unwrap();
        assert_eq!((format.order().side(), grid.filled()), (4, 6));
        // A line that is no row ends them.
        let Begun::Part(paste) = begin(b"53  7", &Hint::default(), true) else { panic!("a row is whole") };
        assert!(paste.is_another(b"6..195...") && !paste.is_another(b"6  195") && !paste.is_another(b""));
        assert_eq!(paste.prompt(), "row 2 of 9> ");
        assert!(matches!(begin(b"53  7", &Hint::default(), false), Begun::Whole));
    }

    #[test]
    fn cells_of_a_line_can_stand_apart() {
        let line = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
        let apart = |cells: usize, by: &str| {
            let parts = line.as_bytes().chunks(cells).map(|part| str::from_utf8(part).unwrap());
            parts.collect::<Vec<_>>().join(by)
        };
        for text in [apart(1, " "), apart(9, " "), apart(3, " | "), format!("{} # rated 2.0", apart(1, " "))]
        {
            assert_eq!(kind(&text), None, "{text}");
            let (_, grid) = read_line(text.as_bytes(), &Hint::default()).unwrap();
            assert_eq!(grid.filled(), 30, "{text}");
        }
        let error = |line: &str| read_line(line.as_bytes(), &Hint::default()).unwrap_err().to_string();
        assert_eq!(
            error(&apart(1, " ")[2..]),
            "The puzzle has 80 cells; a puzzle has 1, 16, 81, 256 or 625."
        );
    }

    #[test]
    fn a_board_is_read_as_the_console_draws_it() {
        for order in Order::ALL.into_iter().filter(|order| order.side() > 1) {
            let mut grid = Grid::empty(order);
            grid.set(order.cell(2, 3).unwrap(), Some(order.digit(order.side()).unwrap()));
            let format = Format::new(Notation::Grid, order, Alphabet::Letters).unwrap();
            let drawn = Board::new(String::new(), format, grid.clone()).draw(Look::Numbered);
            let lines: Vec<&str> = drawn.lines().collect();
            assert!(is_heading(lines[0].as_bytes()) && looks_like_cells(lines[0].as_bytes()), "{drawn}");
            assert_eq!(pasted(&lines).unwrap().1, grid, "{drawn}");
        }
        assert!(!is_heading(b"1 2 3   4 5 6   7 8 9") && !is_heading(b"    1"));
    }

    #[test]
    fn a_puzzle_on_a_line_is_told_what_is_wrong_with_it() {
        let error = |line: &str| read_line(line.as_bytes(), &Hint::default()).unwrap_err().to_string();
        assert_eq!(error("53..7..."), "The puzzle has 8 cells; a puzzle has 1, 16, 81, 256 or 625.");
        let bad = format!("{}q", ".".repeat(80));
        assert_eq!(error(&bad), "The puzzle has an invalid character. It is 'q' in column 81.");
    }
}
