//! Ambiguous texts, which fit two readings: decided by their content, refused where that is
//! inconclusive.
//!
//! Two readings differ if a character is a blank in one and a value in the other, or if the cells
//! form different puzzles. They do not differ if only the values of characters do, because then the
//! puzzles have the same solutions in the same characters.

use super::alphabet::INVALID;
use super::lines::{self, count_characters, is_no_puzzle, puzzle_lines};
use super::row_lines::{LineKind, RowStyle, classify};
use super::rows;
use super::{Alphabet, Format, FormatError, Hint, Notation, apart};
use crate::grid::{Grid, Order};

/// 4x4, whose puzzles have as many cells as a row of [`SIXTEEN`].
const FOUR: Order = Order::ALL[1];
/// 16x16.
const SIXTEEN: Order = Order::ALL[3];

/// Whether lines of sixteen characters are the rows of 16x16 puzzles, and not 4x4 puzzles. False
/// where most lines have another length.
///
/// Each reading is measured by its bad lines: those that are no 4x4 puzzle which keeps the rules,
/// or those that break a rule together with the rows of a 16x16 puzzle above them. The reading with
/// fewer is right, because a value above 4 is bad in a 4x4 puzzle, and a list of 4x4 puzzles soon
/// repeats a value in a row, column or box of 16x16. `goes_on` if `text` is the beginning of a
/// longer one.
///
/// # Errors
/// [`FormatError::AmbiguousLines`] if neither is better: where sixteen lines have nothing but
/// blanks, or clues from 1 to 4 that keep the rules of both sizes.
pub(super) fn are_rows(
    text: &[u8],
    goes_on: bool,
    hint: &Hint,
    style: RowStyle,
) -> Result<bool, FormatError> {
    let all = || puzzle_lines(text).map(<[u8]>::trim_ascii_start);
    let is_sixteen =
        |line: &&[u8]| count_characters(line) == SIXTEEN.side() && classify(line, style) == LineKind::Row;
    let sixteens = || all().filter(is_sixteen);
    let rows = sixteens().count();
    if let Some(order) = hint.order {
        return Ok(order == SIXTEEN && rows > 0);
    }
    let count = all().count();
    if 2 * rows <= count {
        return Ok(false);
    }
    let formats = |notation, order, alphabets: &[Alphabet]| -> Vec<Format> {
        let alphabets = hint.alphabet.as_ref().map_or(alphabets, std::slice::from_ref);
        alphabets.iter().filter_map(|alphabet| Format::new(notation, order, alphabet.clone()).ok()).collect()
    };
    // The digits of 4x4 puzzles are the same in `ascii` as in `letters`.
    let as_puzzles = formats(Notation::Lines, FOUR, &[Alphabet::Letters, Alphabet::Alpha]);
    let (mut bad_puzzles, mut as_puzzle) = (count, as_puzzles.first());
    for format in &as_puzzles {
        let bad = count_bad_puzzles(format, text);
        if bad < bad_puzzles {
            (bad_puzzles, as_puzzle) = (bad, Some(format));
        }
        if bad == 0 {
            break;
        }
    }
    if bad_puzzles == 0 && rows < SIXTEEN.side() {
        return Ok(false);
    }
    let as_rows = formats(Notation::Grid, SIXTEEN, &[Alphabet::Letters, Alphabet::Ascii, Alphabet::Alpha]);
    let bad_rows = as_rows.iter().map(|format| count_bad_rows(format, text, goes_on, bad_puzzles)).min();
    let Some(bad_rows) = bad_rows else { return Ok(false) };
    if bad_rows < bad_puzzles {
        return Ok(true);
    }
    if 2 * bad_puzzles > count {
        // Both readings are bad, as for half a 16x16 puzzle. In such a puzzle, values above 4 are
        // more frequent than others.
        let is_value =
            |format: &Format, byte| rows::read_cell(format, &[byte]).is_some_and(|digit| digit > 0);
        let is_small = |&byte: &u8| as_puzzle.is_some_and(|format| is_value(format, byte));
        let is_large = |byte: &u8| !is_small(byte) && as_rows.iter().any(|format| is_value(format, *byte));
        let bytes = || sixteens().flatten().copied();
        return Ok(bytes().filter(is_large).count() > bytes().filter(is_small).count());
    }
    if bad_puzzles < bad_rows {
        return Ok(false);
    }
    if has_layout(text, style) { Ok(true) } else { Err(FormatError::AmbiguousLines) }
}

/// The number of lines that are no puzzle of this format, or one that breaks the rules.
fn count_bad_puzzles(format: &Format, text: &[u8]) -> usize {
    let mut puzzle = Grid::empty(format.order());
    let mut is_good = |line| {
        lines::read_cells(format, lines::cells(format, line), &mut puzzle).is_ok() && puzzle.keeps_rules()
    };
    puzzle_lines(text).filter(|line| !is_good(line)).count()
}

/// The number of rows that cannot be read, that break a rule with those above them, and that are
/// missing from a puzzle or too many for those before it. Counting stops above `limit`.
fn count_bad_rows(format: &Format, text: &[u8], goes_on: bool, limit: usize) -> usize {
    let side = format.order().side();
    let mut bad = 0;
    for (rows, has_ended) in rows::puzzles(format, text, !goes_on) {
        let mut puzzle = Grid::empty(format.order());
        for (index, row) in rows.iter().enumerate() {
            let cells = index * side..(index + 1) * side;
            let is_read = rows::read_row(format, row, &mut puzzle.digits_mut()[cells.clone()]).is_ok();
            if !(is_read && puzzle.keeps_rules()) {
                puzzle.digits_mut()[cells].fill(0);
                bad += 1;
            }
            if bad > limit {
                return bad;
            }
        }
        if has_ended {
            bad += rows.len().min(side - rows.len());
        }
    }
    bad
}

/// Whether the lines have the layout of 16x16 grids, which a list has not: rulers between them, or
/// blank lines only where a band ends.
fn has_layout(text: &[u8], style: RowStyle) -> bool {
    let (mut runs, mut run) = (Vec::new(), 0_usize);
    for line in text.split(|&byte| byte == b'\n') {
        match classify(line, style) {
            LineKind::Comment if is_no_puzzle(line) => {}
            LineKind::Comment | LineKind::Ruler | LineKind::Title | LineKind::Skipped => return true,
            LineKind::Row | LineKind::Words => run += 1,
            LineKind::Blank => runs.push(std::mem::take(&mut run)),
        }
    }
    runs.push(run);
    runs.retain(|&run| run > 0);
    // The last band may be cut off.
    runs.pop();
    !runs.is_empty() && runs.iter().all(|run| run.is_multiple_of(SIXTEEN.box_side()))
}

/// The symbols of `hex` and those that follow, for 25x25.
const FROM_ZERO: &str = "0123456789ABCDEFGHIJKLMNO";

/// Checks that puzzles which are read in `letters` are not written in `hex`, or in [`FROM_ZERO`] if
/// they are of 25x25.
///
/// `letters` can read all characters of `hex`, but `0` is a value in one and a blank in the other.
/// It must be a blank if `hex` cannot read the line (because of a `G`, or a 16), or if
/// the line has more of it than a puzzle has of one value. Any other line with a `0` fits both.
///
/// Without a `0` the readings do not differ: clues have the same name in both, and so have the
/// cells of a solution, except for one value without a clue, which is `G` in one and `0` in the
/// other.
///
/// For smaller puzzles `hex` is rare, and files compiled from several sources mix blanks. There a
/// line fits both only if it has another blank as well as `0`; so do lines of numbers, which count
/// from 0 then, where there are some above 9.
///
/// # Errors
/// [`FormatError::AmbiguousAlphabet`] if at least as many lines fit both as must be `letters`.
pub(super) fn check_letters<'a>(
    format: &Format,
    lines: impl Iterator<Item = &'a [u8]>,
) -> Result<(), FormatError> {
    let has_symbols = format.notation != Notation::Triples;
    let side = format.order.side();
    if !has_symbols || side < FOUR.side() || format.alphabet != Alphabet::Letters {
        return Ok(());
    }
    let from_zero =
        if side > SIXTEEN.side() { Alphabet::Custom(FROM_ZERO.to_owned()) } else { Alphabet::Hex };
    let hex = Format::new(format.notation, format.order, from_zero.clone())?;
    let is_zero =
        |cell: &&[u8]| !cell.is_empty() && !apart::is_missing(cell) && apart::number(cell) == Some(0);
    let (mut only_letters, mut both) = (0, 0);
    for line in lines {
        let cells = written_cells(format, line);
        let is_read = |format| cells.iter().all(|cell| rows::read_cell(format, cell).is_some());
        // A ruler says nothing about the cells between.
        if cells.is_empty() || !is_read(format) {
            continue;
        }
        let zeros = cells.iter().copied().filter(|cell| is_zero(cell)).count();
        let is_blank = |cell: &&[u8]| rows::read_cell(&hex, cell) == Some(0);
        let are_symbols = || cells.iter().all(|cell| cell.is_empty() || hex.codec.character(cell) != INVALID);
        // Each value appears once in a row, and as often in a puzzle as that has rows.
        let is_hex = is_read(&hex)
            && zeros * side <= cells.len()
            && (format.order == SIXTEEN && are_symbols() || cells.iter().any(is_blank));
        only_letters += usize::from(!is_hex);
        both += usize::from(is_hex && zeros > 0);
    }
    if both > 0 && both >= only_letters { Err(FormatError::AmbiguousAlphabet { from_zero }) } else { Ok(()) }
}

/// The cells of a line of a text in this format; none for a wrong length.
pub(super) fn written_cells<'a>(format: &Format, line: &'a [u8]) -> Vec<&'a [u8]> {
    match format.notation {
        Notation::Grid if classify(line, format.style) == LineKind::Row => {
            rows::cells(format, line).unwrap_or_default()
        }
        Notation::Grid => Vec::new(),
        Notation::Cells => apart::cells(format, line).into_iter().flatten().collect(),
        _ => {
            let cells = lines::cells(format, line);
            let whole: Vec<_> = lines::characters(cells).collect();
            if whole.len() == format.order.cells() { whole } else { Vec::new() }
        }
    }
}
