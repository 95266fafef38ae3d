//! The judge: of all layouts that a text suggests, the one whose own reader leaves the least
//! unexplained.

use std::fmt;

use super::super::{Alphabet, Column, Delimiter, FormatError, Hint, Notation};
use super::account::Reading;
use super::facts::Line;
use super::find::candidates;
use super::lines::AnsweredLines;
use super::markup::is_markup;
use super::members::{Documents, documents};
use super::rows::RowText;
use super::signs::{Signs, variant_word};
use super::table::{Framing, Layout, Row, Split, TABLE, View, Wanted};
use super::views::{is_puzzle, lines};
use super::{lines as puzzle_lines, triples};
use crate::grid::Order;

/// Why no layout is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No layout has a puzzle that can be read.
    Nothing,
    /// Two explain the text equally well, and have different puzzles.
    Two(Box<(Layout, Layout)>),
    /// Rows of blanks may be cells or separators.
    Uneven(Box<Layout>),
    /// Only solved boards, and something beside them.
    OnlySolved(Box<Layout>),
    /// More than half of the text is unexplained; the nearest layout, and a line that it leaves.
    Little(Box<Layout>, Option<u64>),
    /// Less than a quarter of the text is explained.
    Far,
    /// A size that is not solved.
    OtherSize(u8),
    /// Puzzles with other rules, by this word.
    Variant(String),
    /// A `0` may be a value.
    Zeros(u8),
}

impl Refusal {
    /// Whether it is about which field of a line is the puzzle.
    pub(in super::super) fn is_of_columns(&self) -> bool {
        let is_field =
            |layout: &Layout| layout.row().view == View::Plain && layout.row().split == Split::Field;
        match self {
            Self::Two(two) => is_field(&two.0) && is_field(&two.1),
            Self::OnlySolved(layout) => is_field(layout),
            _ => false,
        }
    }

    /// The error of a text that is refused however it is sent. `None` for what may also be answered puzzle
    /// by puzzle.
    pub(in super::super) fn error(&self) -> Option<FormatError> {
        match self {
            Self::Two(two) => {
                let (one, other) = &**two;
                let framings = [one, other].map(|layout| layout.row().framing);
                let sides = [one.side, other.side];
                if one.alphabet == other.alphabet
                    && framings.contains(&Framing::Rows)
                    && framings.contains(&Framing::Line)
                    && sides.contains(&4)
                    && sides.contains(&16)
                {
                    return Some(FormatError::AmbiguousLines);
                }
                let are_apart = [one, other].iter().all(|layout| layout.row().split == Split::Apart);
                if are_apart && one.side == other.side {
                    let order = Order::from_side(usize::from(one.side))?;
                    return Some(FormatError::AmbiguousCells { order });
                }
                let [one, mut other] = [one, other].map(ToString::to_string);
                if one == other {
                    "the same with its rows cut elsewhere".clone_into(&mut other);
                }
                Some(FormatError::AmbiguousLayout { one, other })
            }
            Self::Uneven(_) => Some(FormatError::UnevenRows),
            Self::Variant(word) => Some(FormatError::Variant { word: word.clone() }),
            Self::Zeros(side) => Some(ambiguous_zeros(usize::from(*side))),
            Self::Nothing | Self::Far | Self::OnlySolved(_) | Self::Little(..) | Self::OtherSize(_) => None,
        }
    }
}

/// The error of puzzles of this side in which a `0` may be a value.
pub(in super::super) fn ambiguous_zeros(side: usize) -> FormatError {
    let symbols = "0123456789ABCDEFGHIJKLMNO".to_owned();
    FormatError::AmbiguousAlphabet {
        from_zero: if side > 16 { Alphabet::Custom(symbols) } else { Alphabet::Hex },
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing | Self::Far => f.write_str("There is no puzzle that can be read."),
            Self::Two(two) => {
                write!(f, "It can be read in two ways that differ: as {}; and as {}.", two.0, two.1)
            }
            Self::Uneven(layout) => write!(f, "Rows of blanks may be cells or separators, as {layout}."),
            Self::OnlySolved(layout) => {
                write!(
                    f,
                    "Only solved boards could be read, as {layout}, and there may be puzzles beside them."
                )
            }
            Self::Little(layout, line) => {
                write!(f, "Less than half of it is explained: the nearest layout is {layout}")?;
                match line {
                    Some(line) => write!(f, ", which has no place for line {line}."),
                    None => f.write_str(", and more stands beside its puzzles."),
                }
            }
            Self::OtherSize(side) => {
                write!(
                    f,
                    "It has puzzles of {side}x{side}; those that can be solved are 4x4, 9x9, 16x16 and 25x25."
                )
            }
            Self::Variant(word) => write!(f, "It says \"{word}\": puzzles with more rules are not solved."),
            Self::Zeros(_) => f.write_str("A 0 may be a blank or a value."),
        }
    }
}

/// The alphabets that are tried.
fn alphabets(text: &[u8], hint: &Hint) -> Vec<Alphabet> {
    if let Some(alphabet) = &hint.alphabet {
        return vec![alphabet.clone()];
    }
    let above_nine = |byte: &u8| b":;<=>?@".contains(byte);
    let is_ascii = |part: &[u8]| {
        above_nine(&part[0])
            && part[1..].iter().all(|byte| above_nine(byte) || *byte == b'.' || (b'1'..=b'9').contains(byte))
    };
    let mut alphabets = vec![Alphabet::Letters];
    if text.windows(4).any(is_ascii) {
        alphabets.push(Alphabet::Ascii);
    }
    alphabets
}

/// Whether a row of the table is in this notation.
fn is_in(notation: Option<Notation>, row: &Row) -> bool {
    match notation {
        None => true,
        Some(Notation::Grid) => row.framing == Framing::Rows,
        Some(Notation::Triples) => row.framing == Framing::Triples,
        Some(Notation::Cells) => row.split == Split::Apart,
        Some(_) => matches!(row.framing, Framing::Line | Framing::Members),
    }
}

/// Whether puzzles of this size are solved.
fn is_solved(side: u8) -> bool {
    Order::from_side(usize::from(side)).is_some()
}

/// The readings of a text in all layouts that it suggests.
///
/// Views exclude each other by fact: what parses as JSON is JSON, what begins with a tag is markup, and
/// `[Puzzle]` makes sections. Only arrays without a puzzle may be the rows of one.
fn readings(text: &[u8], hint: &Hint, goes_on: bool) -> Vec<Reading> {
    let Some(documents) = documents(text, goes_on) else {
        let views: &[View] = if text.trim_ascii_start().starts_with(b"<") && is_markup(text) {
            &[View::Markup]
        } else if lines(View::Sections, text).is_some() {
            &[View::Sections]
        } else {
            &[View::Plain, View::Brackets, View::Markup]
        };
        return readings_in(views, None, text, hint, goes_on);
    };
    let found = readings_in(&[View::Json], Some(&documents), text, hint, goes_on);
    let are_arrays = text.trim_ascii_start().starts_with(b"[");
    if found.is_empty() && are_arrays {
        readings_in(&[View::Brackets], None, text, hint, goes_on)
    } else {
        found
    }
}

fn readings_in(
    views: &[View],
    documents: Option<&Documents<'_>>,
    text: &[u8],
    hint: &Hint,
    goes_on: bool,
) -> Vec<Reading> {
    let wanted = Wanted {
        side: hint.order.and_then(|order| u8::try_from(order.side()).ok()),
        delimiter: match hint.delimiter {
            Some(Delimiter::Byte(byte)) => Some(byte),
            Some(Delimiter::Whitespace) => Some(b' '),
            None => None,
        },
        column: match hint.column {
            Some(Column::Number(number)) => number.checked_sub(1),
            _ => None,
        },
    };
    let seen: Vec<(View, Vec<Line<'_>>)> =
        views.iter().filter_map(|&view| Some((view, lines(view, text)?))).collect();
    let mut readings = Vec::new();
    let try_in = |alphabet: &Alphabet, readings: &mut Vec<Reading>| {
        let signs = Signs::new(alphabet);
        for (index, row) in TABLE.iter().enumerate() {
            let Some((view, lines)) = seen.iter().find(|(view, _)| *view == row.view) else { continue };
            if !is_in(hint.notation, row) {
                continue;
            }
            if let (View::Json, Some(documents)) = (view, documents) {
                let found = documents.candidates(index, &signs, &wanted);
                readings.extend(found.iter().map(|layout| documents.read(layout, &signs)));
                continue;
            }
            for layout in candidates(index, lines, &signs, &wanted) {
                readings.extend(read(&layout, lines, &signs, goes_on));
            }
        }
    };
    for alphabet in alphabets(text, hint) {
        try_in(&alphabet, &mut readings);
    }
    // Blank puzzles among as many bad ones are no evidence of a layout.
    readings.retain(|reading| {
        2 * reading.bad <= reading.count() || reading.bad == reading.count() || reading.has_clue()
    });
    let has_any = |readings: &[Reading]| readings.iter().any(|reading| reading.bad < reading.count());
    // Sparse rows of 16 letters are lists of 4x4 puzzles, most of which are bad, in letters.
    let has_sound =
        readings.iter().any(|reading| reading.count() > 0 && reading.bad == 0 && reading.unsound == 0);
    if !has_sound && hint.alphabet.is_none() && text.iter().any(u8::is_ascii_alphabetic) {
        try_in(&Alphabet::Alpha, &mut readings);
    }
    if has_any(&readings) {
        readings.retain(|reading| reading.bad < reading.count());
    } else if hint.notation.is_some() || hint.order.is_some() {
        readings.retain(|reading| reading.count() > 0 && is_solved(reading.layout.side));
    } else {
        readings.retain(|reading| reading.count() > 0 && reading.are_damaged_puzzles());
    }
    readings
}

/// What a layout reads in lines; both ways to cut them into puzzles, if there are two.
pub(super) fn read(layout: &Layout, lines: &[Line<'_>], signs: &Signs, goes_on: bool) -> Vec<Reading> {
    match layout.row().framing {
        Framing::Line => vec![puzzle_lines::read(layout, lines, signs, AnsweredLines::Meant)],
        Framing::Rows => RowText::new(layout, lines, signs, goes_on).readings(),
        Framing::Triples => vec![triples::read(layout, lines, false)],
        Framing::Members => Vec::new(),
    }
}

impl Reading {
    /// Whether there is a puzzle of which a few rows or triples cannot be read, or several of as many rows as
    /// puzzles have, and nothing else but words.
    fn are_damaged_puzzles(&self) -> bool {
        let figures = self.total.saturating_sub(self.passed);
        // Each member that is looked at has so many cells, most of which are read.
        let is_near = match self.layout.row().framing {
            Framing::Rows | Framing::Triples => 3 * (self.broken + self.unexplained) <= figures,
            Framing::Members => true,
            Framing::Line => false,
        };
        is_near
            && self.layout.column == 0
            && (self.count() == 1 || self.puzzles.iter().all(|place| !place.has_wrong_length()))
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.puzzles.len()).unwrap_or(u32::MAX)
    }

    /// What a reading is judged by: characters that are neither cells of a sound puzzle nor may be
    /// beside one, then bad puzzles, then words.
    fn rank(&self, counts_rules: bool) -> [u32; 3] {
        let unsound = if counts_rules { self.unsound } else { 0 };
        [self.unexplained + self.broken + unsound, self.bad, self.passed]
    }
}

/// The reading of a text that leaves the least unexplained; `None` if no layout has a puzzle in it.
///
/// # Errors
/// A [`Refusal`].
pub(super) fn judge(text: &[u8], hint: &Hint, goes_on: bool) -> Result<Reading, Refusal> {
    let all = readings(text, hint, goes_on);
    let is_solution = |reading: &Reading| {
        all.iter().any(|other| reading.solves(other) || reading.is_column_of_solutions(other))
    };
    let is_out: Vec<bool> = all.iter().map(is_solution).collect();
    let mut left: Vec<Reading> =
        all.into_iter().zip(is_out).filter(|(_, is_out)| !is_out).map(|(r, _)| r).collect();
    left.sort_by_key(|reading| reading.rank(true));
    if left.is_empty() {
        return Err(Refusal::Nothing);
    }
    let best = left.remove(0);
    for other in &left {
        // Where figures are left, rules alone may not decide.
        let by_rules_only = best.unexplained > 0 && other.rank(false) <= best.rank(false);
        // Letters win where other alphabets fit as well.
        let is_of_alphabets =
            best.layout.alphabet != other.layout.alphabet && best.layout.index == other.layout.index;
        let is_equal = other.rank(true) == best.rank(true) && !is_of_alphabets;
        if (is_equal || by_rules_only) && !best.has_puzzles_of(other) {
            return Err(Refusal::Two(Box::new((best.layout, other.layout.clone()))));
        }
    }
    let layout = || Box::new(best.layout.clone());
    if best.is_uneven {
        return Err(Refusal::Uneven(layout()));
    }
    let cells = u32::from(best.layout.side).pow(2);
    let left = if best.layout.row().framing == Framing::Rows { best.unexplained + best.broken } else { 0 };
    let is_named = best.layout.path.last().is_some_and(|name| is_puzzle(name.as_bytes()));
    if best.is_full() && !is_named && 5 * best.beside.max(left) > 4 * cells {
        return Err(Refusal::OnlySolved(layout()));
    }
    // In a list each line has an answer.
    let is_list = best.layout.row().view == View::Plain
        && best.layout.row().split == Split::Field
        && best.layout.delimiters.is_empty();
    if 2 * best.unexplained > best.total - best.passed.min(best.total)
        || 4 * best.passed > 3 * best.total
        || is_list && best.words > best.count()
    {
        let line = best.told.first().map(|&line| u64::from(line) + 1);
        // What explains less than a quarter is no layout of this text.
        let explained = best.total.saturating_sub(best.passed + best.unexplained);
        let is_near = 4 * explained >= best.total;
        return Err(if is_near { Refusal::Little(layout(), line) } else { Refusal::Far });
    }
    if hint.alphabet.is_none() && best.unclear > 0 && best.unclear >= best.clear + best.bad {
        return Err(Refusal::Zeros(best.layout.side));
    }
    if !is_solved(best.layout.side) {
        return Err(Refusal::OtherSize(best.layout.side));
    }
    let told =
        || text.split(|&byte| byte == b'\n').zip(0..).filter(|(_, at)| best.told.binary_search(at).is_ok());
    match best.variant.clone().or_else(|| told().find_map(|(line, _)| variant_word(line))) {
        Some(word) => Err(Refusal::Variant(word)),
        None => Ok(best),
    }
}
