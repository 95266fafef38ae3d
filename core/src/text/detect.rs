//! Auto-detection: the format of a text from its beginning.

use std::borrow::Cow;
use std::sync::Arc;

use super::alphabet::Codec;
use super::cell::read_cell;
use super::layout::{Converter, FoundLayout, Refusal, ambiguous_zeros, layout_of, zeros_may_be_values};
use super::lines::{characters, count_characters, is_excel_line, is_no_puzzle, puzzle_lines};
use super::misfit::Misfit;
use super::recognise::{
    LineLayout, Recognised, is_cell_of_1x1, is_told_1x1, lay_out, recognise, sampled_cells, whole_lines,
};
use super::table::{first_line, is_ruler, lacks_first_name, most_frequent};
use super::{
    Alphabet, BYTE_ORDER_MARK, Format, FormatError, Hint, Notation, Problem, PuzzleError, Records,
    SAMPLE_BYTES,
};
use crate::grid::{Grid, Order};

/// The bytes of the widest row whose blanks are spaces, and more.
const WIDEST_ROW: usize = 256;

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
    if puzzle_lines(rest).next().is_none() {
        return Ok(None);
    }
    let found = detect(&rest[..rest.len().min(SAMPLE_BYTES)], hint);
    let found = found.map_err(|error| error.below(blank_lines))?;
    let misfit = found.misfit.map(|misfit| misfit.below(blank_lines));
    Ok(Some(Preamble { body: skipped + found.body, lines: blank_lines + found.lines, misfit, ..found }))
}

/// [`sniff`] for the rest of a text whose beginning was read before. Nothing is detected if the
/// hint says everything, as [`Hint::of`] the format of the beginning does if one puzzle is on each
/// line; then no line is taken for a header or heading, whatever it looks like, unless the hint
/// says that there is one.
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
/// Excel's `sep=;`, which must be skipped before detection. The last line of a text (`at_end`)
/// needs no newline.
#[doc(hidden)]
#[must_use]
pub fn skip_lines_above(text: &[u8], at_end: bool) -> (usize, u64) {
    skip_lines(text, at_end, true)
}

/// [`skip_lines_above`] where the text is at the start of its input; in a part of another Excel's
/// line counts as a bad one.
fn skip_lines(text: &[u8], at_end: bool, at_start: bool) -> (usize, u64) {
    let (mut at, mut lines) = (0, 0);
    while at < text.len() {
        let end = match memchr::memchr(b'\n', &text[at..]) {
            Some(end) => at + end + 1,
            None if at_end => text.len(),
            None => break,
        };
        let line = &text[at..end];
        // White space may be a row without a clue.
        let may_be_row = (3..WIDEST_ROW).contains(&line.len()) && line.trim_ascii().is_empty();
        let is_skipped = is_no_puzzle(line) && !may_be_row;
        if !(is_skipped || at_start && is_excel_line(line)) {
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
    let blank = sample.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let blank_lines = memchr::memchr_iter(b'\n', &sample[..blank]).count() as u64;
    let first_end = memchr::memchr(b'\n', &sample[blank..]).map_or(sample.len(), |end| blank + end + 1);
    let goes_on = sample.len() >= SAMPLE_BYTES;
    let recognised = match hint.notation {
        Some(Notation::Grid) if are_grids_of_one(whole_lines(sample), hint) => {
            let order = Some(Order::ALL[0]);
            Recognised::Lines(LineLayout { order, ..LineLayout::new(Notation::Grid) }, None)
        }
        Some(Notation::Grid | Notation::Triples) => {
            Recognised::Converted(layout_of(whole_lines(sample), hint, goes_on)?)
        }
        Some(notation) => Recognised::Lines(lay_out(notation, sample, first_end, hint)?, None),
        None => recognise(sample, first_end, hint)?,
    };
    let (layout, refusal, found) = match recognised {
        Recognised::Lines(layout, refusal) => (layout, refusal, None),
        Recognised::Either(layout, found) => (layout, None, Some(found)),
        Recognised::Converted(found) => {
            let preamble = converted(&found)?;
            // Cells with all candidates, of which some are a single one, are no damaged rows.
            let may_have_candidates = hint.notation.is_none() && (found.good() == 0 || found.breaks_rules());
            let misfit = if may_have_candidates { Misfit::of_only_candidates(sample, goes_on) } else { None };
            return Ok(Preamble { misfit, ..preamble });
        }
        Recognised::Below(found) => {
            let below = converted(&found)?;
            return Ok(Preamble { body: first_end, lines: 1 + blank_lines, ..below });
        }
    };
    let LineLayout { notation, body, .. } = layout;
    let first = sample[..first_end].trim_ascii();
    let text = whole_lines(sample).get(body..).unwrap_or_default();
    let named_order = match notation {
        Notation::Header if body > 0 => Some(block_size(first, whole_lines(sample), hint)?),
        _ => hint.order.or(layout.order),
    };
    let cells = sampled_cells(&layout, text);
    let may_be_one = may_be_1x1(&layout, &cells, hint);
    let mut format = best_format(&layout, named_order, may_be_one, &cells, hint)?;
    if let Some(found) = found.and_then(|found| if_better(found, &format, text)) {
        return converted(&found);
    }
    if format.delimiter().is_some() && body > 0 {
        let heading = first_line(&sample[..body]);
        format.heading = Some(heading.strip_suffix(b"\n").unwrap_or(heading).into());
    }
    // A heading without a newline is a line, too.
    let lines_above = sample[..body].split_inclusive(|&byte| byte == b'\n').count() as u64;
    let is_told = hint.notation.is_some() || hint.order.is_some() || hint.column.is_some();
    let shows_puzzles = cells.iter().any(|line| fit(&format, line) > MOSTLY)
        && refusal.as_ref().is_none_or(|refusal| *refusal == Refusal::Nothing);
    // What follows an overlong line has not been seen.
    let sees_enough = !goes_on || sample.contains(&b'\n');
    let may_have_none = sees_enough && !(is_told || may_be_one || shows_puzzles);
    let misfit = match Misfit::of_line_ends(&format, sample) {
        None if may_have_none => {
            Misfit::find(&format, text, goes_on, refusal.as_ref()).map(|misfit| misfit.below(lines_above))
        }
        // Above all others, because the last field of a row may have the length of a puzzle, and
        // the row be all puzzles of the text.
        found => found,
    };
    Ok(Preamble { format, body, lines: lines_above, misfit })
}

/// Whether all rows are a cell.
fn are_grids_of_one(text: &[u8], hint: &Hint) -> bool {
    is_told_1x1(hint)
        || hint.order.is_none() && puzzle_lines(text).all(|line| line.trim_ascii_start().len() == 1)
}

/// Converts a text in whose lines fewer puzzles can be read as they are, or that is a list with
/// comments or separators that no list may have.
fn if_better(found: FoundLayout, format: &Format, text: &[u8]) -> Option<FoundLayout> {
    let mut records = Records::new(format, text, 1);
    let mut puzzle = Grid::empty(format.order);
    let (mut good, mut bad) = (0, 0);
    while let Some(record) = records.read(&mut puzzle) {
        good += usize::from(record.error.is_none());
        bad += usize::from(record.error.is_some());
    }
    if good < found.good() {
        return Some(found);
    }
    let is_list = !format.is_table() && found.skips() && bad > found.count() - found.good();
    is_list.then(|| found.into_list())
}

/// The format of a text that is converted to lines.
fn converted(found: &FoundLayout) -> Result<Preamble, FormatError> {
    let (order, alphabet) = (found.order(), found.alphabet().clone());
    let mut format = Format::new(found.notation(), order, alphabet)?;
    format.columns.solution = None;
    format.converter = Some(Arc::new(Converter::new(found.layout())));
    Ok(Preamble { format, body: 0, lines: 0, misfit: None })
}

/// Whether the cells of all lines may be puzzles of 1x1. Anything short would be a list of those,
/// so they have to be all there is. In a table, `puzzle` may also be the name of numbers.
fn may_be_1x1(layout: &LineLayout, cells: &[Cow<'_, [u8]>], hint: &Hint) -> bool {
    let is_list = layout.notation != Notation::Csv;
    layout.names_puzzles
        && !cells.is_empty()
        && cells.iter().all(|line| line.len() == 1)
        && (is_list || 2 * cells.iter().filter(|line| is_cell_of_1x1(line, hint)).count() > cells.len())
}

/// The format of a text below its heading: in the alphabet that reads most lines wholly, and then
/// most of their cells, or the first of several; with the order that most lines suggest.
fn best_format(
    layout: &LineLayout,
    named_order: Option<Order>,
    may_be_one: bool,
    cells: &[Cow<'_, [u8]>],
    hint: &Hint,
) -> Result<Format, FormatError> {
    let order = named_order.or(may_be_one.then_some(Order::ALL[0]));
    let with = |alphabet: &Alphabet| {
        let codec = delimiting(alphabet, layout.notation);
        let orders = || cells.iter().filter_map(|line| puzzle_order(codec.cells(line)));
        let order = order.or_else(|| most_frequent(orders().filter(|order| alphabet.fits(*order))));
        let mut format = Format::new(layout.notation, order.unwrap_or(Order::NINE), alphabet.clone())?;
        format.columns = layout.columns;
        format.keys.clone_from(&layout.keys);
        Ok(format)
    };
    // Nearly all texts have digits and one kind of blank, so that there is nothing to find out.
    // Looking at one cell after another would take as long as solving.
    let is_plain = |line: &Cow<'_, [u8]>| line.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let has = |sign| cells.iter().any(|line| memchr::memchr(sign, line).is_some());
    let is_16x16 = || cells.iter().any(|line| puzzle_order(line) == Some(Order::ALL[3]));
    let is_clear = || !has(b'0') || !has(b'.') && !is_16x16();
    if hint.alphabet.is_some() || cells.iter().all(is_plain) && is_clear() {
        return with(&hint.alphabet.clone().unwrap_or_default());
    }
    let total_fit = |format: &Format| {
        let fits = cells.iter().map(|line| fit(format, line));
        fits.fold((0, 0), |(whole, all), fit| (whole + usize::from(fit == WHOLE), all + fit))
    };
    let others = [Alphabet::Alpha, Alphabet::Ascii].into_iter().filter_map(|alphabet| with(&alphabet).ok());
    let letters = with(&Alphabet::Letters)?;
    let best = others.chain([letters.clone()]).max_by_key(total_fit).unwrap_or(letters);
    if best.alphabet == Alphabet::Letters {
        check_zeros(&best, cells)?;
    }
    Ok(best)
}

/// Checks that a `0` in puzzles that are read in `letters` is a blank.
fn check_zeros(format: &Format, cells: &[Cow<'_, [u8]>]) -> Result<(), FormatError> {
    let mut puzzle = Grid::empty(format.order);
    let (mut values, mut blanks) = (0, 0);
    for line in cells {
        let cells = super::lines::cells(format, line);
        if super::lines::read_cells(format, cells, &mut puzzle).is_ok() {
            let zeros = memchr::memchr_iter(b'0', cells).count();
            let has_others = memchr::memchr_iter(0, puzzle.digits()).count() > zeros;
            if zeros_may_be_values(puzzle.digits(), zeros, has_others, format.order.side()) {
                values += usize::from(zeros > 0);
            } else {
                blanks += 1;
            }
        }
    }
    if values > 0 && values >= blanks { Err(ambiguous_zeros(format.order.side())) } else { Ok(()) }
}

/// The order that a header names.
fn block_size(first: &[u8], text: &[u8], hint: &Hint) -> Result<Order, FormatError> {
    match first {
        b"2" => Ok(Order::ALL[1]),
        b"3" => Ok(Order::NINE),
        _ => {
            let is_open = hint.notation.is_none();
            // A cell a line, of a puzzle that lacks some.
            let are_cells = || puzzle_lines(text).all(|line| line.trim_ascii_start().len() == 1);
            let problem = if is_open && is_count(first, text, hint) {
                Problem::BlockSizeOrCount
            } else if is_open && puzzle_lines(text).nth(3).is_some() && are_cells() {
                Problem::AmbiguousBlockSize
            } else {
                Problem::InvalidBlockSize
            };
            Err(FormatError::Puzzle(PuzzleError { problem, line: Some(1) }))
        }
    }
}

/// Whether a block size on the first line of a text, which is none, may be the number of its
/// puzzles: it is larger than any block size, and most lines below it, at least two, have the
/// length of a puzzle.
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

/// The order of puzzles of this length in characters. A single one is inconclusive.
fn puzzle_order(cells: &[u8]) -> Option<Order> {
    Order::from_cells(count_characters(cells)).filter(|order| order.cells() > 1)
}

/// A codec that finds the end of cells while their order is unknown: that of the largest order,
/// which takes no symbol of the alphabet for the beginning of a comment.
fn delimiting(alphabet: &Alphabet, notation: Notation) -> Codec {
    Codec::new(alphabet, alphabet.largest_order().unwrap_or(Order::NINE), notation)
}

/// [`fit`] of a line four of five of whose cells are readable.
const MOSTLY: isize = 600;

/// [`fit`] of a line all of whose cells are readable.
const WHOLE: isize = 1000;

/// How well a format fits a line: the share of readable cells minus the share of others, in
/// thousandths. 0 for a wrong length.
fn fit(format: &Format, line: &[u8]) -> isize {
    let cells: Vec<&[u8]> = characters(super::lines::cells(format, line)).collect();
    let readable = cells.iter().filter(|cell| read_cell(format, cell).is_some()).count();
    let is_whole = cells.len() == format.order.cells();
    if is_whole { (2000 * readable / cells.len()).cast_signed() - WHOLE } else { 0 }
}
