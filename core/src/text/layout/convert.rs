//! Conversion: puzzles of any layout as one puzzle a line.
//!
//! Each puzzle stands on the line on which it began, and the lines of the text that have none are
//! blank. So lines have the same numbers before and after, and whoever reads puzzles knows one case
//! only.

use std::fmt;

use super::super::error::{Problem, push_fault};
use super::account::{Fault, FaultKind, Reading};
use super::brackets::bracket_borders;
use super::facts::{Kind, is_label, kind};
use super::lines::AnsweredLines;
use super::markup;
use super::members::Documents;
use super::rows::{Rest, RowText};
use super::signs::{DOT, ReadCell, Signs, ZERO, flat};
use super::table::{Framing, JsonCut, Layout, Split, View};
use super::views::{last_section, lines_in};
use super::{lines as puzzle_lines, triples};
use crate::grid::Order;

/// The bytes that are converted at a time.
const WINDOW_BYTES: usize = 64 * 1024;
/// The puzzles behind one within which its end is decided: of rows with something between them, and of those
/// that follow one another.
const MARGIN_PUZZLES: usize = 16;
const MARGIN_RUN: usize = 4;

/// Puzzles of a text as lines.
#[derive(Debug, Default)]
pub struct Converted {
    /// A puzzle a line.
    pub text: Vec<u8>,
    /// The bytes that were converted; the rest needs more text.
    pub taken: usize,
    /// The lines that were passed over and are neither comments nor drawn.
    pub passed: u64,
}

/// A layout, ready to convert texts.
pub(in super::super) struct Converter {
    layout: Layout,
    signs: Signs,
    symbols: Vec<u8>,
}

impl fmt::Debug for Converter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)
    }
}

impl Converter {
    pub(in super::super) fn new(layout: &Layout) -> Self {
        let signs = Signs::new(&layout.alphabet);
        Self { layout: layout.clone(), signs, symbols: layout.alphabet.symbols() }
    }

    /// The layout.
    pub(in super::super) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Converts the puzzles of a text that are whole.
    ///
    /// A text is converted window by window, and where windows begin and end depends on nothing but the
    /// text: so it means the same in whatever pieces it comes.
    pub(in super::super) fn convert(&self, text: &[u8], rest: Rest) -> Converted {
        let is_end = rest == Rest::Nothing;
        match self.layout.row().framing {
            Framing::Members => return self.convert_members(text, is_end),
            Framing::Triples if !is_end => return Converted::default(),
            Framing::Triples => return self.convert_window(text, rest),
            Framing::Line | Framing::Rows => {}
        }
        if rest == Rest::Awaited {
            return self.convert_window(text, rest);
        }
        let (mut out, mut size) = (Converted::default(), WINDOW_BYTES);
        loop {
            let left = &text[out.taken..];
            let border = self.borders(left, size).next();
            let converted = match border {
                Some(end) => self.convert_window(&left[..end], Rest::More),
                None if is_end => self.convert_window(left, Rest::Nothing),
                None => return out,
            };
            // A puzzle that is longer than a window.
            size = if converted.taken == 0 { 2 * size } else { WINDOW_BYTES };
            out.text.extend_from_slice(&converted.text);
            out.taken += converted.taken;
            out.passed += converted.passed;
            if border.is_none() {
                return out;
            }
        }
    }

    fn convert_members(&self, text: &[u8], is_end: bool) -> Converted {
        let (documents, taken) = Documents::of_stream(text, self.layout.extent, is_end);
        let mut layout = self.layout.clone();
        layout.path.drain(..usize::from(layout.extent == JsonCut::Items));
        let reading = documents.read(&layout, &self.signs);
        // A part of an array has a line for each of its lines only where it has a puzzle.
        if reading.puzzles.is_empty() && layout.extent == JsonCut::Items && !is_end {
            return Converted::default();
        }
        self.written(text, &reading, taken)
    }

    fn convert_window(&self, text: &[u8], rest: Rest) -> Converted {
        let is_end = rest == Rest::Nothing;
        let row = self.layout.row();
        let whole = if is_end { text.len() } else { self.last_border(text) };
        let whole = if row.view == View::Sections && !is_end { last_section(&text[..whole]) } else { whole };
        if whole == 0 {
            return Converted::default();
        }
        let text = &text[..whole];
        if row.framing == Framing::Rows {
            return self.convert_rows(text, rest);
        }
        let view = lines_in(row.view, text);
        let reading = match row.framing {
            Framing::Line => puzzle_lines::read(&self.layout, &view, &self.signs, self.answered()),
            _ => triples::read(&self.layout, &view, true),
        };
        self.written(text, &reading, whole)
    }

    /// Where a text may be cut from an offset on: behind lines; before tags, because markup may be all on
    /// one line.
    fn borders<'b>(&self, text: &'b [u8], from: usize) -> Box<dyn Iterator<Item = usize> + 'b> {
        if self.layout.row().view == View::Brackets {
            return Box::new(bracket_borders(text, from));
        }
        let is_markup = self.layout.row().view == View::Markup;
        let behind = text.get(from..).unwrap_or_default();
        let marks = memchr::memchr_iter(if is_markup { b'<' } else { b'\n' }, behind);
        Box::new(marks.map(move |at| from + at).filter_map(move |at| {
            if is_markup { markup::may_be_cut(&text[at..]).then_some(at) } else { Some(at + 1) }
        }))
    }

    fn last_border(&self, text: &[u8]) -> usize {
        if matches!(self.layout.row().view, View::Markup | View::Brackets) {
            self.borders(text, 0).last().unwrap_or(0)
        } else {
            memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)
        }
    }

    /// The lines that are answered. What stands around arrays and between tags is none of puzzles.
    fn answered(&self) -> AnsweredLines {
        match self.layout.row().view {
            _ if self.layout.is_list => AnsweredLines::All,
            View::Plain | View::Sections | View::Brackets => AnsweredLines::Figures,
            View::Json | View::Markup => AnsweredLines::Meant,
        }
    }

    /// Converts rows: all puzzles, or those behind which enough of the text is there to know where
    /// they end.
    fn convert_rows(&self, text: &[u8], rest: Rest) -> Converted {
        let mut out = self.convert_regular_rows(text, rest);
        let text = &text[out.taken..];
        if text.is_empty() {
            return out;
        }
        let view = lines_in(self.layout.row().view, text);
        let rows = RowText::new(&self.layout, &view, &self.signs, rest != Rest::Nothing);
        let margin = (MARGIN_PUZZLES * usize::from(self.layout.side)).min(view.len() / 4);
        let (reading, end) = rows.read_whole(rest, margin);
        let taken = end.checked_sub(1).map_or(0, |last| view[last].end);
        let more = self.written(text, &reading, taken);
        out.text.extend_from_slice(&more.text);
        out.taken += taken;
        out.passed += more.passed;
        out
    }

    /// Converts the puzzles at the beginning, as long as they are regular: as many rows as a puzzle has, of
    /// nothing but cells, spaces and bars, with rulers or blank lines between bands only, and words only
    /// between puzzles. What is converted here would be the same by [`RowText`], in many times the time.
    fn convert_regular_rows(&self, text: &[u8], rest: Rest) -> Converted {
        let mut out = Converted::default();
        let row = self.layout.row();
        let is_blank = self.layout.blank.is_none_or(|blank| blank & !(DOT | ZERO) == 0);
        let is_regular =
            is_blank && row.view == View::Plain && row.split == Split::Signs && self.layout.column == 0;
        if !is_regular || rest == Rest::Awaited {
            return out;
        }
        out.text.reserve(text.len());
        let (side, box_rows) = (usize::from(self.layout.side), usize::from(self.layout.size().box_rows));
        let signs = self.written_signs();
        let mut puzzles = Regular::default();
        let (mut at, mut lines, mut rows) = (0, 0_usize, 0_usize);
        // Whether the line above is a ruler or blank, and what each line that is passed over counts.
        let mut is_below_separator = false;
        while let Some(end) = memchr::memchr(b'\n', &text[at..]) {
            let line = &text[at..at + end];
            let before = out.text.len();
            match push_row(line, &signs, side, &mut out.text) {
                Regularity::Row => {
                    if rows == 0 {
                        puzzles.begin(at, before, out.passed);
                        lines = 0;
                    }
                    rows += 1;
                    lines += 1;
                    is_below_separator = false;
                    if rows == side {
                        // One without a blank may be the solution of the puzzle above.
                        if !out.text[out.text.len() - side * side..].contains(&b'.') {
                            break;
                        }
                        out.text.resize(out.text.len() + lines, b'\n');
                        rows = 0;
                        puzzles.complete += 1;
                    }
                }
                Regularity::Separator if rows == 0 => {
                    out.text.push(b'\n');
                    puzzles.confirm();
                }
                Regularity::Separator if rows.is_multiple_of(box_rows) && !is_below_separator => {
                    lines += 1;
                    is_below_separator = true;
                }
                Regularity::Other if rows == 0 && self.is_title(line) => {
                    out.text.push(b'\n');
                    out.passed += 1;
                    puzzles.confirm();
                }
                Regularity::Separator | Regularity::Other => break,
            }
            at += end + 1;
        }
        if at == text.len() && rest == Rest::Nothing && rows == 0 {
            out.taken = at;
            return out;
        }
        // What follows may belong to the last puzzle.
        let (taken, length, passed) = puzzles.certain();
        out.text.truncate(length);
        (out.taken, out.passed) = (taken, passed);
        out
    }

    /// Whether a line is words and no row, good or bad.
    fn is_title(&self, line: &[u8]) -> bool {
        let line = flat(line);
        let parsed = self.layout.parse(&line, &self.signs, &mut Vec::new());
        kind(&line) == Kind::Words && !is_label(&line) && !parsed.is_read && !parsed.is_meant
    }

    /// What is written for each sign, 0 for what is no cell. Only blanks that are no letters, digits or
    /// rulers are cells beyond doubt.
    fn written_signs(&self) -> [u8; 256] {
        let mut written = [0; 256];
        for sign in 0..=u8::MAX {
            written[usize::from(sign)] = match self.signs.sign(sign, self.layout.side) {
                Some(ReadCell { value: 0, blank: DOT | ZERO }) => b'.',
                Some(ReadCell { value: value @ 1.., .. }) => self.symbols[usize::from(value) - 1],
                _ => 0,
            };
        }
        written
    }

    /// The lines of what is read in the first `taken` bytes.
    fn written(&self, text: &[u8], reading: &Reading, taken: usize) -> Converted {
        // Of the items of an array that is a part of a text, the line of the comma was there before.
        let mut line = u32::from(self.layout.extent == JsonCut::Items && text.starts_with(b","));
        let mut out = Vec::with_capacity(taken);
        let starts: Vec<usize> = if reading.bad > 0 {
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|newline| newline + 1)).collect()
        } else {
            Vec::new()
        };
        let raw_line = |number: u32| {
            let start = usize::try_from(number).ok().and_then(|number| starts.get(number)).copied();
            let line = &text[start.unwrap_or(text.len())..];
            &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]
        };
        let order = Order::from_side(usize::from(self.layout.side)).unwrap_or(Order::NINE);
        for (index, place) in reading.puzzles.iter().enumerate() {
            let at = place.fault.as_ref().map_or(place.line, |fault| fault.line);
            while line < at {
                out.push(b'\n');
                line += 1;
            }
            match (&place.fault, reading.digits(index)) {
                (None, Some(digits)) => {
                    let symbol =
                        |&value: &u8| value.checked_sub(1).map_or(b'.', |at| self.symbols[usize::from(at)]);
                    out.extend(digits.iter().map(symbol));
                }
                (Some(fault), _) => push_fault(&problem(fault, raw_line(fault.line), order), &mut out),
                (None, None) => {}
            }
            out.push(b'\n');
            line += 1;
        }
        let lines = memchr::memchr_iter(b'\n', &text[..taken]).count();
        // The line on which an item ends counts, as that of the comma behind it does not.
        let lines = lines + usize::from(taken > 0 && self.layout.extent == JsonCut::Items);
        out.resize(out.len() + lines.saturating_sub(usize::try_from(line).unwrap_or(0)), b'\n');
        Converted { text: out, taken, passed: reading.told.len() as u64 }
    }
}

/// What is wrong with a puzzle, of which this line is the reason.
fn problem(fault: &Fault, line: &[u8], order: Order) -> Problem {
    match fault.what {
        FaultKind::Length => Problem::WrongLength,
        FaultKind::Outside(number) => Problem::OutOfRange(number),
        FaultKind::Twice(cell) => Problem::SetTwice(order.cell_at(cell)),
        FaultKind::Character(column) => {
            let offset = super::super::lines::characters(line).take(column).map(<[u8]>::len).sum();
            Problem::invalid_character(line, offset)
        }
    }
}

/// Puzzles that are converted as they come.
#[derive(Default)]
struct Regular {
    /// Where each begins: in the text, in what is written, and the lines passed over by then.
    starts: Vec<(usize, usize, u64)>,
    /// The puzzles that are complete, and those of them behind which something else than a row is.
    complete: usize,
    confirmed: usize,
}

impl Regular {
    fn begin(&mut self, at: usize, written: usize, passed: u64) {
        self.starts.push((at, written, passed));
    }

    fn confirm(&mut self) {
        self.confirmed = self.complete;
    }

    /// The end of the puzzles that nothing behind them changes: all but the last of those that are
    /// confirmed, and of a long run of rows all but some.
    fn certain(&self) -> (usize, usize, u64) {
        let kept = self.complete.saturating_sub(MARGIN_RUN).max(self.confirmed).saturating_sub(1);
        self.starts.get(kept).copied().unwrap_or_default()
    }
}

/// What a line is among regular rows.
enum Regularity {
    /// A row, whose cells have been appended.
    Row,
    /// A ruler, or a blank line.
    Separator,
    Other,
}

/// Appends the cells of a row.
fn push_row(line: &[u8], signs: &[u8; 256], side: usize, out: &mut Vec<u8>) -> Regularity {
    let start = out.len();
    let mut is_drawn = false;
    for &byte in line {
        match signs[usize::from(byte)] {
            0 if matches!(byte, b' ' | b'|' | b'\t' | b'\r') => {}
            0 if matches!(byte, b'-' | b'+' | b'=') => is_drawn = true,
            0 => {
                out.truncate(start);
                return Regularity::Other;
            }
            cell => out.push(cell),
        }
    }
    let cells = out.len() - start;
    if cells == side && !is_drawn {
        return Regularity::Row;
    }
    out.truncate(start);
    if cells == 0 { Regularity::Separator } else { Regularity::Other }
}
