//! Auto-detection: the format of a text from its beginning.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::alphabet::{Codec, MIDDLE_DOT, Shortcut};
use super::bars::BarLayout;
use super::json::Keys;
use super::lines::{count_characters, is_excel_line, is_no_puzzle, puzzle_lines, trim_end};
use super::misfit::Misfit;
use super::notation::{lay_out, recognise, sampled_cells};
use super::readings::{are_rows, check_letters, written_cells};
use super::row_lines::{LineKind, RowStyle, are_padded, classify, has_semicolons, separated, tokens};
use super::row_numbers::{are_column_names, are_numbered, are_words, counts_from};
use super::rows::read_cell;
use super::table::{Columns, first_line, is_ruler, lacks_first_name};
use super::{
    Alphabet, BYTE_ORDER_MARK, Format, FormatError, Hint, Notation, Problem, PuzzleError, apart, triples,
};
use crate::grid::Order;

/// The bytes of a text that detection reads.
pub const SAMPLE_BYTES: usize = 64 * 1024;

/// A whole number on the first line with more digits than this is a puzzle and no block size,
/// because the smallest puzzle that could be mistaken for one has 16 cells.
const MAX_BLOCK_SIZE_DIGITS: usize = 15;

/// The most digits of a number of grids. One with more above rows is a damaged row.
pub(super) const MAX_COUNT_DIGITS: usize = 5;

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
    /// Why none of the first lines is a puzzle, if none is. Then the format is a guess, and every
    /// line would be an error; so a file is better refused. `None` if the notation, size or column
    /// was given, unless all lines are one, with the line ends of old Macs.
    pub misfit: Option<Misfit>,
}

/// How a text is laid out.
pub(super) struct Layout {
    pub(super) notation: Notation,
    /// The length of a header or heading.
    pub(super) body: usize,
    pub(super) order: Option<Order>,
    pub(super) columns: Columns,
    pub(super) keys: Keys,
    pub(super) style: RowStyle,
    /// Whether nothing but a puzzle can be where puzzles are read.
    pub(super) names_puzzles: bool,
}

impl Layout {
    pub(super) fn new(notation: Notation) -> Self {
        let (columns, keys, style) = (Columns::default(), Keys::default(), RowStyle::default());
        let names_puzzles = notation != Notation::Csv;
        Self { notation, body: 0, order: None, columns, keys, style, names_puzzles }
    }
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
    let (blank, blank_lines) = skip_lines(&text[mark..], true, at_start);
    let skipped = mark + blank;
    let rest = &text[skipped..];
    if rest.is_empty() {
        return Ok(None);
    }
    let found = detect(&rest[..rest.len().min(SAMPLE_BYTES)], hint);
    let found = found.map_err(|error| error.below(blank_lines))?;
    let misfit = found.misfit.map(|misfit| misfit.below(blank_lines));
    Ok(Some(Preamble { body: skipped + found.body, lines: blank_lines + found.lines, misfit, ..found }))
}

/// [`sniff`] for the rest of a text whose beginning was read before. Nothing is detected if the
/// hint says everything, as [`Hint::of`] the format of the beginning does if one puzzle is on each
/// line; then no line is taken for a header or heading, whatever it looks like, unless the hint says
/// that there is one.
///
/// # Errors
/// Like [`detect`].
///
/// ```
/// use sudoku_core::text::{Hint, sniff, sniff_part};
///
/// let beginning = sniff(b"puzzle\n12....1.........\n", &Hint::default(), true)?.expect("a puzzle");
/// let rest = b"puzzle\n....3......4....\n";
/// let hint = Hint::of(&beginning.format);
/// let part = sniff_part(rest, &hint)?.expect("lines that are not blank");
/// assert_eq!(part.body, 0, "the first row is bad, but a row");
/// # Ok::<(), sudoku_core::text::FormatError>(())
/// ```
pub fn sniff_part(text: &[u8], hint: &Hint) -> Result<Option<Preamble>, FormatError> {
    let Some(mut format) = hint.format()? else { return sniff(text, hint, false) };
    if hint.has_heading == Some(true) {
        if format.delimiter().is_none() {
            return sniff(text, hint, false);
        }
        let (above, lines) = skip_lines(text, true, false);
        let heading = first_line(&text[above..]);
        let below = &text[above + heading.len()..];
        let (between, lines_between) = skip_lines(below, true, false);
        let ruler = first_line(&below[between..]);
        let has_ruler = is_ruler(ruler, format.columns.delimiter);
        let (ruler_len, ruler_lines) =
            if has_ruler { (between + ruler.len(), lines_between + 1) } else { (0, 0) };
        format.heading = Some(heading.strip_suffix(b"\n").unwrap_or(heading).into());
        format.columns.lacks_first_name = lacks_first_name(heading, format.columns);
        return Ok((!heading.is_empty()).then_some(Preamble {
            format,
            body: above + heading.len() + ruler_len,
            lines: lines + 1 + ruler_lines,
            misfit: None,
        }));
    }
    // Blank lines are left to the reader, because in `header` they are bad puzzles.
    Ok((!text.is_empty()).then_some(Preamble { format, body: 0, lines: 0, misfit: None }))
}

/// The length and number of the whole lines at the start of `text` that are blank, comments or
/// Excel's `sep=;`, which must be skipped before detection. The last line of a text (`at_end`) needs
/// no newline.
#[doc(hidden)]
#[must_use]
pub fn skip_lines_above(text: &[u8], at_end: bool) -> (usize, u64) {
    skip_lines(text, at_end, true)
}

/// [`skip_lines_above`] where the text is at the start of its input; in a part of another Excel's line
/// counts as a bad one.
fn skip_lines(text: &[u8], at_end: bool, at_start: bool) -> (usize, u64) {
    let (mut at, mut lines) = (0, 0);
    while at < text.len() {
        let end = match memchr::memchr(b'\n', &text[at..]) {
            Some(end) => at + end + 1,
            None if at_end => text.len(),
            None => break,
        };
        let line = &text[at..end];
        if !(is_no_puzzle(line) || at_start && is_excel_line(line)) {
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
    let first = first.trim_ascii();
    let goes_on = sample.len() >= SAMPLE_BYTES;
    let layout = match hint.notation {
        Some(notation) => lay_out(notation, sample, first_end, hint)?,
        None => recognise(sample, first, below, hint)?,
    };
    let Layout { notation, body, .. } = layout;
    let text = whole_lines(sample).get(body..).unwrap_or_default();
    let named_order = match notation {
        Notation::Header if body > 0 => Some(block_size(first, whole_lines(sample), hint)?),
        Notation::Triples => hint.order.or_else(|| Some(triples::smallest_order(text))),
        _ => hint.order.or(layout.order),
    };
    // The cells of each puzzle, or of each row.
    let cells = sampled_cells(&layout, text);
    let may_be_one = may_be_1x1(&layout, &cells, hint);
    let mut format = best_format(&layout, named_order, may_be_one, text, &cells, hint)?;
    if notation == Notation::Grid {
        format.style = format.style.of_text(text, goes_on, format.order);
    }
    if format.delimiter().is_some() && body > 0 {
        let heading = first_line(&sample[..body]);
        format.heading = Some(heading.strip_suffix(b"\n").unwrap_or(heading).into());
    }
    // A heading without a newline is a line, too.
    let lines_above = sample[..body].split_inclusive(|&byte| byte == b'\n').count() as u64;
    let is_told = hint.notation.is_some() || hint.order.is_some() || hint.column.is_some();
    let shows_puzzles = notation != Notation::Grid && cells.iter().any(|line| fit(&format, line) > 0);
    // What follows an overlong line has not been seen.
    let sees_enough = !goes_on || sample.contains(&b'\n');
    let may_have_none = sees_enough && !(is_told || may_be_one || shows_puzzles);
    let misfit = match Misfit::of_line_ends(&format, sample) {
        None if may_have_none => {
            Misfit::find(&format, text, goes_on, hint).map(|misfit| misfit.below(lines_above))
        }
        // Above all others, because the last field of a row may have the length of a puzzle, and
        // the row be all puzzles of the text.
        found => found,
    };
    Ok(Preamble { format, body, lines: lines_above, misfit })
}

/// Whether the cells of all lines may be puzzles of 1x1. Anything short would be a list of those,
/// so they have to be all there is. In a table, `puzzle` may also be the name of numbers.
fn may_be_1x1(layout: &Layout, cells: &[Cow<'_, [u8]>], hint: &Hint) -> bool {
    let is_list = layout.notation != Notation::Csv;
    layout.names_puzzles
        && !cells.is_empty()
        && cells.iter().all(|line| line.len() == 1)
        && (is_list || 2 * cells.iter().filter(|line| is_cell_of_1x1(line, hint)).count() > cells.len())
}

/// The format of a text below its heading: in the alphabet of the hint or the one that fits best,
/// and with the order that is named or that most cells suggest.
fn best_format(
    layout: &Layout,
    named_order: Option<Order>,
    may_be_one: bool,
    text: &[u8],
    cells: &[Cow<'_, [u8]>],
    hint: &Hint,
) -> Result<Format, FormatError> {
    let &Layout { notation, columns, style, .. } = layout;
    let lines = || cells.iter().map(|cells| &**cells);
    let with = |alphabet: &Alphabet| {
        let order = named_order.or_else(|| detect_order(notation, lines(), alphabet, style, may_be_one));
        let mut format = Format::new(notation, order.unwrap_or(Order::NINE), alphabet.clone())?;
        format.columns = columns;
        format.style = style.written_in(alphabet, Some(format.order));
        format.keys.clone_from(&layout.keys);
        Ok::<_, FormatError>(format)
    };
    if let Some(alphabet) = &hint.alphabet {
        return with(alphabet);
    }
    let best = best_alphabet(cells, with)?;
    let is_apart = notation == Notation::Cells;
    // Most texts have one kind of blank, which is unambiguous; nothing between two commas is one, too.
    let may_mix = || is_apart || notation == Notation::Grid || has_other_blank(text);
    if memchr::memchr(b'0', text).is_some() && (best.order == Order::ALL[3] || may_mix()) {
        // The alphabet of cells apart is not detected from them.
        let apart = if is_apart { puzzle_lines(text).collect() } else { Vec::new() };
        check_letters(&best, lines().chain(apart))?;
    }
    Ok(best)
}

/// The order that a header names.
fn block_size(first: &[u8], text: &[u8], hint: &Hint) -> Result<Order, FormatError> {
    match first {
        b"2" => Ok(Order::ALL[1]),
        b"3" => Ok(Order::NINE),
        _ => {
            let may_be_count = hint.notation.is_none() && is_count(first, text, hint);
            let problem = if may_be_count { Problem::BlockSizeOrCount } else { Problem::InvalidBlockSize };
            Err(FormatError::Puzzle(PuzzleError { problem, line: Some(1) }))
        }
    }
}

/// The format with the alphabet that fits the cells of each line best, of those that are detected.
/// Lines that are read wholly count more than others, because those may be bad ones, which another
/// alphabet fits by chance, and of many blanks it reads most of the good ones too.
fn best_alphabet(
    cells: &[Cow<'_, [u8]>],
    with: impl Fn(&Alphabet) -> Result<Format, FormatError>,
) -> Result<Format, FormatError> {
    let total_fit = |format: &Format| {
        let fits = cells.iter().map(|line| fit(format, line));
        fits.fold((0_usize, 0), |(whole, sum), fit| (whole + usize::from(fit == WHOLE), sum + fit))
    };
    let mut best = with(&Alphabet::Letters)?;
    let mut best_fit = total_fit(&best);
    for other in [Alphabet::Ascii, Alphabet::Alpha] {
        // Where several fit equally well, the earlier one wins. None fits better than wholly.
        if best_fit.0 == cells.len() {
            break;
        }
        if let Ok(format) = with(&other) {
            let fit = total_fit(&format);
            if fit > best_fit {
                (best, best_fit) = (format, fit);
            }
        }
    }
    Ok(best)
}

/// Whether a text is a list of puzzles and nothing else, which all other checks would find too, in
/// many times the time: each line has the length of a puzzle, the same one, above that of any row,
/// and nothing that could separate fields.
pub(super) fn is_plain_list(text: &[u8]) -> bool {
    const SEPARATORS: &[u8] = b" \t,;|{";
    let mut separates = [false; 256];
    for &byte in SEPARATORS {
        separates[usize::from(byte)] = true;
    }
    let mut lines = text.split(|&byte| byte == b'\n').map(trim_end).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    let is_puzzle = Order::from_cells(first.len()).is_some_and(|order| order.side() >= 9);
    let is_plain =
        |line: &[u8]| line.len() == first.len() && !line.iter().any(|&b| separates[usize::from(b)]);
    is_puzzle && is_plain(first) && lines.all(is_plain)
}

/// Whether a text has another blank than `0`, or the same character for something else.
fn has_other_blank(text: &[u8]) -> bool {
    memchr::memchr3(b'.', b'_', b'*', text).is_some()
        || memchr::memchr3(b'-', b'?', b'x', text).is_some()
        || memchr::memchr2(b'X', MIDDLE_DOT[0], text).is_some()
}

/// Whether the hint leaves no other puzzles than those of 1x1, by their size or by an alphabet that
/// has no symbols for others.
pub(super) fn is_told_1x1(hint: &Hint) -> bool {
    let largest = hint.alphabet.as_ref().and_then(Alphabet::largest_order);
    hint.order.or(largest) == Some(Order::ALL[0])
}

/// Whether a block size on the first line, which can only be an invalid one, can be a 1x1 puzzle
/// above others too: every line has one character, and the first is a cell of such a puzzle.
pub(super) fn is_list_of_cells(first: &[u8], text: &[u8], hint: &Hint) -> bool {
    is_cell_of_1x1(first, hint) && puzzle_lines(text).all(|line| line.trim_ascii_start().len() == 1)
}

/// Whether this is a cell of a 1x1 puzzle.
fn is_cell_of_1x1(cell: &[u8], hint: &Hint) -> bool {
    let alphabet = hint.alphabet.clone().unwrap_or_default();
    let format = Format::new(Notation::Lines, Order::ALL[0], alphabet);
    format.is_ok_and(|format| read_cell(&format, cell).is_some())
}

/// Whether the first line is a block size, valid or not: a whole number alone.
pub(super) fn is_block_size(first: &[u8], below: &[u8], hint: &Hint) -> bool {
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
    // A long number above a line of the same length is a row: of a grid, or of a size that is none.
    let is_row = number.len() > 2 && second.len() == number.len();
    !is_row
}

/// Whether a block size on the first line of a text, which is none, may be the number of its
/// puzzles: it is larger than any block size, and most lines below it, at least two, have the length
/// of a puzzle.
fn is_count(first: &[u8], text: &[u8], hint: &Hint) -> bool {
    let number = std::str::from_utf8(first).ok().and_then(|number| number.parse::<u64>().ok());
    let largest = Order::ALL.into_iter().map(Order::box_side).max().unwrap_or(0);
    if number.is_none_or(|number| number <= largest as u64) {
        return false;
    }
    let codec = delimiting(&hint.alphabet.clone().unwrap_or_default(), Notation::Lines);
    let (mut puzzles, mut lines) = (0, 0);
    for line in puzzle_lines(text).skip(1) {
        puzzles += usize::from(puzzle_order(codec.cells(line.trim_ascii_start())).is_some());
        lines += 1;
    }
    puzzles > 1 && 2 * puzzles > lines
}

/// The whole lines of a sample: the last line of a full sample may be cut off and is dropped,
/// unless it is the only one.
pub(super) fn whole_lines(sample: &[u8]) -> &[u8] {
    let cut_off = sample.len() >= SAMPLE_BYTES;
    let end = if cut_off { memchr::memrchr(b'\n', sample) } else { None };
    &sample[..end.unwrap_or(sample.len())]
}

/// The lines that decide whether a text is in triples.
const TRIPLES_SEEN: usize = 16;

/// Whether most lines are three numbers. Three groups of three digits are a row of a grid instead,
/// and so are three numbers among empty fields.
pub(super) fn is_triples(text: &[u8]) -> bool {
    let is_triple = |line: &&[u8]| {
        let is_between = |delimiter: u8| {
            memchr::memchr_iter(delimiter, line).count() > 3
                || line.starts_with(&[delimiter])
                || line.windows(2).any(|pair| pair == [delimiter; 2])
        };
        let is_row = || tokens(line).all(|token| token.len() == 3) || is_between(b',') || is_between(b';');
        triples::numbers(line).is_ok_and(|[row, column, _]| row.max(column) < 100) && !is_row()
    };
    let seen = || puzzle_lines(text).take(TRIPLES_SEEN);
    let triples = seen().filter(is_triple).count();
    // If the first line is a triple, half of the lines are enough.
    2 * triples + usize::from(seen().next().is_some_and(|line| is_triple(&line))) > seen().count()
}

/// Whether there are more rows of cells than other lines.
pub(super) fn is_grid(text: &[u8], hint: &Hint, style: RowStyle) -> bool {
    let codec = delimiting(&hint.alphabet.clone().unwrap_or_default(), Notation::Lines);
    let (mut rows, mut rulers, mut others) = (0, 0, 0);
    for line in puzzle_lines(text) {
        if puzzle_order(codec.cells(line.trim_ascii_start())).is_some() {
            others += 1;
            continue;
        }
        match classify(line, style) {
            LineKind::Row if row_order(line, style).is_some_and(|order| order.side() > 1) => rows += 1,
            LineKind::Row | LineKind::Words | LineKind::Blank => others += 1,
            LineKind::Comment | LineKind::Ruler | LineKind::Title | LineKind::Skipped => rulers += 1,
        }
    }
    rows > others || (others == 0 && rulers > 0)
}

/// What the rows of a text look like if they are those of a grid, and whether the first line is a
/// heading of columns, as spreadsheets and pandas write it. Cells are between `bars` if spaces are
/// blanks.
pub(super) fn row_style(
    text: &[u8],
    goes_on: bool,
    hint: &Hint,
    bars: Option<BarLayout>,
) -> (RowStyle, bool) {
    let mut style = RowStyle::default();
    if let Some(alphabet) = &hint.alphabet {
        style = style.written_in(alphabet, hint.order);
    }
    style.bars = bars;
    if let Some(bars) = bars {
        style.side = Some(bars.order().side());
        return (style, hint.has_heading == Some(true));
    }
    let is_row = |line: &[u8], style| {
        classify(line, style) == LineKind::Row && row_order(line, style).is_some_and(|order| order.side() > 1)
    };
    style.dashes =
        puzzle_lines(text).any(|line| tokens(line).any(|token| token.contains(&b'-')) && is_row(line, style));
    style.semicolons = has_semicolons(text, style);
    style.padded = are_padded(text, style);
    // With all their fields: behind the last delimiter of a row may be a blank cell or nothing.
    let as_written = RowStyle { side: Some(0), ..style };
    let rows: Vec<_> = puzzle_lines(text).filter_map(|line| separated(line, as_written)).collect();
    let ends_empty = |row: &Vec<&[u8]>| row.last().is_some_and(|last| last.is_empty());
    let last = rows.iter().rfind(|row| !ends_empty(row)).or(rows.last());
    let Some(last) = last else { return (style, hint.has_heading == Some(true)) };
    let is_side = |width: usize| Order::from_side(width).is_some_and(|order| order.side() > 1);
    let (width, empty) = (last.len(), usize::from(ends_empty(last)));
    // The cells of a row if its first field is its number.
    let behind_number = (1..=1 + empty).map(|others| width - others).find(|&cells| is_side(cells));
    style.numbered = !is_side(width)
        && behind_number.is_some_and(|cells| hint.order.is_none_or(|order| order.side() == cells))
        && are_numbered(&rows, empty > 0);
    let side = match behind_number {
        Some(cells) if style.numbered => cells,
        _ if is_side(width) => width,
        _ => width - empty,
    };
    let first = puzzle_lines(text).next().and_then(|line| separated(line, style)).unwrap_or_default();
    // A row of a puzzle may have the same numbers. Many solutions begin with those from 1 on, or with
    // the first letters, so only a row above all others of one puzzle is not taken for one.
    let is_one_too_many = || goes_on || rows.len() % side == 1;
    let is_above_one = || !goes_on && rows.len() == side + 1;
    let is_heading = are_words(&first)
        || counts_from(&first, 0) && is_one_too_many()
        || are_column_names(&first) && is_above_one();
    let has_heading = hint.has_heading.unwrap_or(first.len() == side && is_heading);
    (style, has_heading)
}

/// What the rows look like below a number that is the block size, the side, the number of grids or that
/// of the first one: most of those of a puzzle at least, none of which is on one line. `None` for other
/// texts.
pub(super) fn style_below_number(number: &[u8], rows: &[u8], goes_on: bool, hint: &Hint) -> Option<RowStyle> {
    let (style, has_heading) = row_style(rows, goes_on, hint, None);
    if !number.iter().all(u8::is_ascii_digit) || has_heading {
        return None;
    }
    let is_grid = is_grid(rows, hint, style);
    if !is_grid && !are_rows(rows, goes_on, hint, style).is_ok_and(|are_rows| are_rows) {
        return None;
    }
    let rows = puzzle_lines(rows).filter(|line| classify(line, style) == LineKind::Row);
    let orders: Vec<Order> = rows.filter_map(|line| row_order(line, style)).collect();
    let order = most_frequent(orders.iter().copied())?;
    // What cannot be puzzles on a line each may be a damaged grid.
    let least = if is_grid { order.side() / 2 + 1 } else { order.side() };
    let are_enough = orders.into_iter().filter(|&other| other == order).count() >= least;
    (are_enough || goes_on).then_some(style)
}

/// The order of puzzles of this length in characters. A single one is inconclusive.
fn puzzle_order(cells: &[u8]) -> Option<Order> {
    Order::from_cells(count_characters(cells)).filter(|order| order.cells() > 1)
}

/// A codec that finds the end of cells while their order is unknown: that of the largest order,
/// which takes no symbol of the alphabet for the beginning of a comment.
fn delimiting(alphabet: &Alphabet, notation: Notation) -> Codec {
    Codec::new(alphabet, alphabet.largest_order().unwrap_or(Order::NINE), notation)
}

/// The order that a row of a `grid` text suggests.
fn row_order(row: &[u8], style: RowStyle) -> Option<Order> {
    if let Some(bars) = style.bars.filter(|bars| bars.cells(row).is_some()) {
        return Some(bars.order());
    }
    if let Some(cells) = separated(row, style)
        && cells.iter().all(|cell| cell.len() <= 2 || apart::number(cell).is_some())
        && let Some(order) = Order::from_side(cells.len())
    {
        return Some(order);
    }
    // Separate cells have two characters at most; longer groups are several cells each.
    let are_apart = tokens(row).all(|token| count_characters(token) <= 2 || apart::number(token).is_some());
    let count = tokens(row).count();
    let width = tokens(row).map(count_characters).sum();
    // One group alone is all cells of its row, also if it is a number, as `000000003` is.
    let apart = if are_apart && count > 1 { Order::from_side(count) } else { None };
    apart.or_else(|| Order::from_side(width))
}

/// The order that most lines suggest.
fn detect_order<'a>(
    notation: Notation,
    lines: impl Iterator<Item = &'a [u8]>,
    alphabet: &Alphabet,
    style: RowStyle,
    may_be_one: bool,
) -> Option<Order> {
    let is_possible = |order: &Order| (order.side() > 1 || may_be_one) && alphabet.fits(*order);
    if notation == Notation::Grid {
        let rows = lines.filter(|line| classify(line, style) == LineKind::Row);
        return most_frequent(rows.filter_map(|row| row_order(row, style)).filter(is_possible));
    }
    let codec = delimiting(alphabet, notation);
    let orders = lines.filter_map(|line| Order::from_cells(count_characters(codec.cells(line))));
    most_frequent(orders.filter(is_possible))
}

/// The most frequent order; of several the one that appears first.
pub(super) fn most_frequent(orders: impl Iterator<Item = Order>) -> Option<Order> {
    let orders: Vec<Order> = orders.collect();
    let count = |order| orders.iter().filter(|&&other| other == order).count();
    let place = |order| orders.iter().position(|&other| other == order);
    let seen = Order::ALL.into_iter().filter(|&order| place(order).is_some());
    seen.max_by_key(|&order| (count(order), Reverse(place(order))))
}

/// [`fit`] of a line all of whose cells are readable.
pub(super) const WHOLE: isize = 1000;

/// How well a format fits a line: the share of readable cells minus the share of others, in
/// thousandths. 0 for a wrong length.
pub(super) fn fit(format: &Format, line: &[u8]) -> isize {
    let is_plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    // Nearly all lists: there, looking at one cell after another takes as long as solving.
    if line.len() == Order::NINE.cells()
        && matches!(format.notation, Notation::Lines | Notation::Csv)
        && format.codec.shortcut == Shortcut::Digits
        && line.iter().all(is_plain)
    {
        return WHOLE;
    }
    let cells = written_cells(format, line);
    if cells.is_empty() {
        return 0;
    }
    let readable = cells.iter().filter(|cell| read_cell(format, cell).is_some()).count();
    (2000 * readable / cells.len()).cast_signed() - WHOLE
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Delimiter, Records};
    use super::*;
    use crate::grid::Grid;

    #[test]
    fn a_first_line_is_a_heading_if_that_is_said() {
        let cells = "1,2,3,4,3,4,1,2,2,1,4,3,4,3,2,1\n";
        let numbers = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n";
        let grid = "1,2,3,4\n3,4,1,2\n2,1,4,3\n4,3,2,1\n";
        for (notation, text, detected) in [
            (Notation::Csv, "a,b\n1,1234341221434321\n".to_owned(), true),
            (Notation::Csv, "7,-\n1,1234341221434321\n".to_owned(), false),
            (Notation::Cells, format!("{numbers}{cells}"), true),
            (Notation::Cells, cells.repeat(2), false),
            (Notation::Grid, format!("1,2,3,4\n{grid}"), true),
            (Notation::Grid, grid.repeat(2), false),
            (Notation::Header, "2\n1234341221434321\n".to_owned(), true),
        ] {
            let column = (notation == Notation::Csv).then_some(Column::Number(2));
            for given in [None, Some(notation)] {
                for (has_heading, wanted) in [(None, detected), (Some(true), true), (Some(false), false)] {
                    let hint = Hint {
                        notation: given,
                        has_heading,
                        order: Order::new(2),
                        column: column.clone(),
                        ..Hint::default()
                    };
                    // Without its first line, a text of this kind is a list.
                    let found = sniff(text.as_bytes(), &hint, true).unwrap().unwrap();
                    assert_eq!(found.lines == 1, wanted, "{notation} {given:?} {has_heading:?} {text}");
                    assert_eq!(found.body > 0, wanted);
                }
            }
        }
    }

    #[test]
    fn a_part_has_a_heading_only_if_that_is_said() {
        let text = b"id,puzzle\n1,1234341221434321\n";
        let beginning = sniff(text, &Hint::default(), true).unwrap().unwrap();
        for (has_heading, wanted) in
            [(None, None), (Some(false), None), (Some(true), Some(&b"id,puzzle"[..]))]
        {
            let hint = Hint { has_heading, ..Hint::of(&beginning.format) };
            let part = sniff_part(text, &hint).unwrap().unwrap();
            assert_eq!(part.format.heading(), wanted);
            assert_eq!((part.body, part.lines), if wanted.is_some() { (10, 1) } else { (0, 0) });
        }
        for between in ["", "# right\n\n"] {
            let text = format!("| n | puzzle |\n{between}|--:|---|\n| 1 | 1234341221434321 |\n");
            let beginning = sniff(text.as_bytes(), &Hint::default(), true).unwrap().unwrap();
            let hint = Hint { has_heading: Some(true), ..Hint::of(&beginning.format) };
            for found in [sniff_part(text.as_bytes(), &hint).unwrap().unwrap(), beginning] {
                assert_eq!(
                    (found.body, found.lines),
                    (25 + between.len(), 2 + between.lines().count() as u64)
                );
                assert_eq!(found.format.heading(), Some(&b"| n | puzzle |"[..]));
            }
        }
    }

    /// A server is told the notation.
    #[test]
    fn rows_look_the_same_whether_it_is_said_that_they_are_rows_or_not() {
        let rows = "12..\n34..\n..1.\n....\n";
        for text in [
            format!("2\n\n{rows}\n{rows}"),
            format!("::\n{}", rows.replace('.', "-")),
            "A,B,C,D\n1,2,,\n3,4,,\n,,1,\n,,,\n".to_owned(),
            "1;1;2;;\n2;3;4;;\n3;;;1;\n4;;;;\n".to_owned(),
            "|1|2| | |\n+-+-+-+-+\n|3|4| | |\n+-+-+-+-+\n| | |1| |\n+-+-+-+-+\n| | | | |\n".to_owned(),
        ] {
            let found = detect(text.as_bytes(), &Hint::default()).unwrap();
            assert_eq!(found.format.notation(), Notation::Grid, "{text}");
            let hint = Hint { notation: Some(Notation::Grid), ..Hint::default() };
            let told = detect(text.as_bytes(), &hint).unwrap();
            assert_eq!((told.body, told.format.style), (found.body, found.format.style), "{text}");
        }
    }

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
    fn the_line_for_excel_is_passed_over_above_the_puzzles_only() {
        let hint = Hint::default();
        let p = "12....1.........";
        for (text, delimiter, puzzle) in [
            (format!("sep=;\r\nid;board\r\n1;{p}\r\n"), Delimiter::SEMICOLON, 1),
            (format!("\nSEP=\t\nid\tboard\n1\t{p}\n"), Delimiter::TAB, 1),
        ] {
            let opening = sniff(text.as_bytes(), &hint, true).unwrap().unwrap();
            assert_eq!(
                (opening.format.columns.delimiter, opening.format.columns.puzzle),
                (delimiter, puzzle)
            );
            assert!(text[opening.body..].starts_with('1'), "{text}");
        }
        let text = format!("{p}\nsep=x\n{p}\n");
        let opening = sniff(text.as_bytes(), &hint, true).unwrap().unwrap();
        let mut records = Records::new(&opening.format, text.as_bytes(), 1);
        let mut grid = Grid::empty(Order::new(2).unwrap());
        let mut errors = 0;
        for line in 1..=3 {
            let record = records.read(&mut grid).unwrap();
            assert_eq!(record.line, line);
            errors += usize::from(record.error.is_some());
        }
        assert_eq!(errors, 1, "a bad line has an answer");
        // Nor is it passed over where a part of a text begins with it.
        let grid = "12..\n34..\n..1.\n....\n";
        let hint = Hint { notation: Some(Notation::Grid), ..hint };
        let part = sniff_part(format!("sep=;\n{grid}").as_bytes(), &hint).unwrap().unwrap();
        assert_eq!((part.body, part.lines), (0, 0));
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
    fn a_row_of_zeros_before_one_value_has_all_its_cells() {
        for side in [4, 9, 16, 25] {
            for at in 0..side {
                let row = "0".repeat(at) + "3" + &"0".repeat(side - at - 1);
                let order = row_order(row.as_bytes(), RowStyle::default());
                assert_eq!(order.map(Order::side), Some(side), "{row}");
            }
        }
    }

    #[test]
    fn the_names_of_columns_above_a_grid_are_no_row() {
        let rows =
            |count: usize| (0..count).map(|at| format!("{},,,,3,,,,{}\n", at % 9 + 1, (at + 3) % 9 + 1));
        let names = |name: fn(u8) -> String| (0..9).map(name).collect::<Vec<_>>().join(",") + "\n";
        let body = |text: &str| {
            let found = detect(text.as_bytes(), &Hint::default()).unwrap();
            assert_eq!(
                (found.format.notation(), found.format.order()),
                (Notation::Grid, Order::NINE),
                "{text}"
            );
            found.body
        };
        let headings = [
            names(|at| at.to_string()),
            names(|at| format!("c{}", at + 1)),
            names(|at| (at + 1).to_string()),
            names(|at| char::from(b'A' + at).to_string()),
            names(|at| char::from(b'a' + at).to_string()),
            names(|at| format!("\"{}\"", at + 1)),
        ];
        for heading in &headings {
            let grid: String = rows(9).collect();
            assert_eq!(body(&format!("{heading}{grid}")), heading.len(), "{heading}");
            let numbered: String = rows(9).zip(0..).map(|(row, at)| format!("{at},{row}")).collect();
            assert_eq!(body(&format!(",{heading}{numbered}")), heading.len() + 1, "{heading}");
        }
        // With as many rows as puzzles have, it is one; and of a list it may be the first one.
        for (heading, count) in [(0, 8), (2, 8), (3, 8), (2, 18), (2, 17)] {
            let rows: String = rows(count).collect();
            assert_eq!(body(&format!("{}{rows}", headings[heading])), 0, "{heading} {count}");
        }
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
            assert_eq!(skip_lines_above(text.as_bytes(), at_end), wanted, "{text:?} {at_end}");
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
    fn bad_lines_of_letters_do_not_spoil_puzzles_in_digits() {
        let puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79\n";
        for (good, bad) in [(4, "abcdefghi".repeat(9) + "\n"), (2, "a".repeat(81) + "\n")] {
            let text = bad.repeat(good / 2) + &puzzle.repeat(good);
            let found = detect(text.as_bytes(), &Hint::default()).unwrap().format;
            assert_eq!(found.alphabet(), &Alphabet::Letters, "{good}");
        }
    }

    #[test]
    fn a_block_size_is_one_in_every_alphabet_but_that_of_1x1_puzzles() {
        for symbols in ["1", "1234", "5678", "123456789", "ABCDEFGHI"] {
            let hint = Hint { alphabet: Some(symbols.parse().unwrap()), ..Hint::default() };
            let side = symbols.len();
            let text = format!("{}\n{}\n", side.isqrt(), ".".repeat(side * side));
            let wanted = if side == 1 { Notation::Lines } else { Notation::Header };
            assert_eq!(detect(text.as_bytes(), &hint).unwrap().format.notation(), wanted, "{symbols}");
        }
    }

    #[test]
    fn triples_are_told_by_most_of_their_lines_or_the_first_of_two() {
        let notation = |text: &str| detect(text.as_bytes(), &Hint::default()).unwrap().format.notation();
        assert_eq!(notation("1 1 5\n2 2 x\n"), Notation::Triples);
        assert_eq!(notation("1 1 5 # here\n2 2 3\n"), Notation::Triples);
        assert_eq!(notation("1 1\n2 2 3\n1 2 4\n"), Notation::Triples);
        assert_eq!(notation(&format!("1 1 5\n{0}\n{0}\n", ".".repeat(81))), Notation::Lines);
        // Below the size of the puzzle or of its boxes, and no other number.
        let triples = "1 1 5\n2 2 9\n1 2 4\n";
        for (number, is_size) in [("3", true), ("9", true), ("2", false), ("4", false)] {
            let text = format!("{number}\n{triples}");
            let found = detect(text.as_bytes(), &Hint::default());
            let is_read =
                found.is_ok_and(|found| (found.format.notation(), found.body) == (Notation::Triples, 2));
            assert_eq!(is_read, is_size, "{number}");
        }
    }
}
