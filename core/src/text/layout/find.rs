//! Candidates: the layouts that the beginning of a text suggests, with their parameters.

use std::collections::BTreeSet;
use std::slice;

use super::super::table::LEAST_CELLS;
use super::facts::{Kind, Line, fields, is_decoration, kind, pieces, unquoted};
use super::signs::{Blanks, NOTHING, Signs, ZERO, has_word, trimmed, weight};
use super::split::{before_remark, is_one_sign};
use super::table::{Framing, Layout, Places, Size, Split, TABLE, Wanted};
use super::triples::{Axes, axes_of, triple_of};

/// The lines that suggest layouts.
const LINES_SEEN: usize = 600;
/// The most characters of a row.
const WIDEST_ROW: u32 = 128;
/// One of so many triples may have a number that is too large for the size.
const LINES_AN_ERROR: usize = 8;
/// The most candidates of a row of the table.
const MOST: usize = 10;

/// Votes for candidates, in the order of their first one.
#[derive(Default)]
struct Votes(Vec<(Layout, usize)>);

impl Votes {
    fn add(&mut self, layout: Layout) {
        match self.0.iter_mut().find(|(known, _)| *known == layout) {
            Some((_, votes)) => *votes += 1,
            None => self.0.push((layout, 1)),
        }
    }

    /// Those with enough votes, the most frequent first.
    fn best(mut self, least: usize) -> Vec<Layout> {
        self.0.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
        self.0.truncate(MOST);
        self.0.into_iter().filter(|(_, votes)| *votes >= least).map(|(layout, _)| layout).collect()
    }
}

/// The candidates of a row of the table for lines that begin so.
pub(super) fn candidates(index: usize, lines: &[Line<'_>], signs: &Signs, wanted: &Wanted) -> Vec<Layout> {
    let head = &lines[..lines.len().min(LINES_SEEN)];
    let mut votes = Votes::default();
    let row = &TABLE[index];
    match (row.framing, row.split) {
        (Framing::Triples, _) => return triples(index, head, signs, wanted),
        (_, Split::Columns) => return columns(index, head, signs, wanted),
        (_, Split::Field) => {
            for line in head {
                vote_field(index, &line.text, signs, wanted, &mut votes);
            }
        }
        (_, Split::Apart) => {
            for line in head {
                vote_apart(index, &line.text, signs, wanted, &mut votes);
            }
        }
        (_, Split::Fields) => vote_fields(index, head, signs, wanted, &mut votes),
        (_, Split::Signs | Split::Words) => {
            for line in head {
                vote_pieces(index, &line.text, signs, wanted, &mut votes);
            }
            if row.split == Split::Words {
                // Where all cells are single characters, these are the rows of signs.
                votes
                    .0
                    .retain(|(layout, _)| head.iter().any(|line| has_long_cell(layout, &line.text, signs)));
            }
        }
        (_, Split::None) => {}
    }
    votes.best(if row.framing == Framing::Rows { 2 } else { 1 })
}

/// The blanks of cells that are all read, if they have one sign.
fn blanks_of(tokens: &[&[u8]], signs: &Signs, side: u8) -> Option<Blanks> {
    let mut blanks = 0;
    for token in tokens {
        blanks |= signs.cell(token, side)?.blank;
    }
    is_one_sign(blanks).then_some(blanks)
}

fn vote_field(index: usize, line: &[u8], signs: &Signs, wanted: &Wanted, votes: &mut Votes) {
    let is_around = |byte: u8| (is_decoration(byte) || b",;|/".contains(&byte)) && !signs.is_value(byte);
    let mut at = 0;
    while at < line.len() {
        let length = line[at..].iter().take_while(|&&sign| signs.has(sign)).count();
        let (start, end) = (at, at + length);
        at = end + 1;
        let Some(size) = Some(length).filter(|&length| length >= LEAST_CELLS).and_then(Size::of_cells) else {
            continue;
        };
        let run = &line[start..end];
        let cells: Vec<&[u8]> = run.chunks(1).collect();
        if wanted.side.is_some_and(|side| side != size.side) || blanks_of(&cells, signs, size.side).is_none()
        {
            continue;
        }
        let is_quote = |byte: &u8| b"\"'`<>[](){}*".contains(byte);
        let left = &line[..start];
        let left = &left[..left.iter().rposition(|byte| !is_quote(byte)).map_or(0, |last| last + 1)];
        let right = &line[end..];
        let right =
            &right[right.iter().position(|byte| !is_quote(byte) && *byte != b'/').unwrap_or(right.len())..];
        let before = left.last().filter(|_| !left.trim_ascii().is_empty());
        let is_end = right.iter().all(|byte| b",; \t".contains(byte));
        let behind = right.first().filter(|_| !is_end);
        let mut delimiters: Vec<u8> = match wanted.delimiter {
            Some(delimiter) => vec![delimiter],
            None => before
                .into_iter()
                .chain(behind)
                .copied()
                // Behind a `#` is a comment.
                .filter(|sign| sign.is_ascii_punctuation() && *sign != b'#' || b" \t".contains(sign))
                .collect(),
        };
        delimiters.dedup();
        for (column, field) in fields(line, &delimiters).into_iter().enumerate() {
            if trimmed(before_remark(field, signs), is_around) == run {
                let layout = Layout::new(index, size.side, &signs.alphabet);
                votes.add(Layout { delimiters: delimiters.clone(), column, ..layout });
            }
        }
    }
}

fn vote_apart(index: usize, line: &[u8], signs: &Signs, wanted: &Wanted, votes: &mut Votes) {
    let delimiters = wanted.delimiter.as_ref().map_or(TABLE[index].delimiters, slice::from_ref);
    for &delimiter in delimiters {
        if memchr::memchr_iter(delimiter, line).count() < LEAST_CELLS - 1 && delimiter != b' ' {
            continue;
        }
        let all: Vec<&[u8]> =
            fields(line, &[delimiter]).into_iter().map(|field| trimmed(field, is_decoration)).collect();
        for size in wanted.sizes().filter(|size| usize::from(size.side).pow(2) <= all.len()) {
            let cells = usize::from(size.side).pow(2);
            let columns =
                wanted.column.map_or_else(|| vec![0, 1, 2, cells, cells + 1], |column| vec![column]);
            for column in columns {
                let is_width = column + cells <= all.len() && column + 2 * cells + 2 >= all.len();
                // What stands before a puzzle is its solution.
                let is_full = |before: &[&[u8]]| {
                    before.iter().all(|cell| signs.cell(cell, size.side).is_some_and(|cell| cell.value > 0))
                };
                let is_width = is_width && (column < cells || is_full(&all[column - cells..column]));
                if is_width && blanks_of(&all[column..column + cells], signs, size.side).is_some() {
                    let layout = Layout::new(index, size.side, &signs.alphabet);
                    votes.add(Layout { delimiters: vec![delimiter], column, ..layout });
                }
            }
        }
    }
}

fn vote_fields(index: usize, head: &[Line<'_>], signs: &Signs, wanted: &Wanted, votes: &mut Votes) {
    for &delimiter in TABLE[index].delimiters {
        let is_trimmed = !head.iter().any(|line| line.text.ends_with(&[delimiter]));
        let may_be_row =
            |line: &&Line<'_>| line.text.contains(&delimiter) && line.text.iter().any(u8::is_ascii_digit);
        for line in head.iter().filter(may_be_row) {
            let all: Vec<&[u8]> = fields(&line.text, &[delimiter]).into_iter().map(unquoted).collect();
            let text = line.text.trim_ascii();
            // Outer bars are no cells.
            let has_frame = delimiter == b'|' && text.first() == Some(&b'|') && text.last() == Some(&b'|');
            let frame = usize::from(has_frame);
            for size in wanted.sizes() {
                let side = usize::from(size.side);
                for column in frame..3.min((all.len() + 1).saturating_sub(side + frame)) {
                    let cells = &all[column..column + side];
                    let is_width = all.len() <= side + 2 + usize::from(column > 1);
                    if is_width && cells.contains(&&b""[..]) && blanks_of(cells, signs, size.side).is_some() {
                        votes.add(Layout {
                            delimiters: vec![delimiter],
                            column,
                            blank: Some(NOTHING),
                            width: (!is_trimmed).then_some(all.len()),
                            ..Layout::new(index, size.side, &signs.alphabet)
                        });
                    }
                }
            }
        }
    }
}

fn vote_pieces(index: usize, line: &[u8], signs: &Signs, wanted: &Wanted, votes: &mut Votes) {
    if weight(line) > WIDEST_ROW {
        return;
    }
    let all = pieces(line, |byte| signs.is_value(byte) && !b",|".contains(&byte));
    let is_words = TABLE[index].split == Split::Words;
    for column in 0..2.min(all.len()) {
        let joined: Vec<u8>;
        let cells: Vec<&[u8]> = if is_words {
            all[column..].to_vec()
        } else {
            joined = all[column..].concat();
            joined.chunks(1).collect()
        };
        let Some(size) = wanted.sizes().find(|size| usize::from(size.side) == cells.len()) else { continue };
        if column > 0 && all[0].len() > 3 {
            continue;
        }
        if let Some(blanks) = blanks_of(&cells, signs, size.side) {
            let blank = if blanks == 0 { ZERO } else { blanks };
            votes.add(Layout {
                column,
                blank: Some(blank),
                ..Layout::new(index, size.side, &signs.alphabet)
            });
        }
    }
}

/// Whether a line has as many parts as a row has cells, and one of several characters.
fn has_long_cell(layout: &Layout, line: &[u8], signs: &Signs) -> bool {
    let all = pieces(line, |byte| signs.is_value(byte) && !b",|".contains(&byte));
    let cells = all.get(layout.column..).unwrap_or_default();
    cells.len() == layout.cells() && cells.iter().any(|cell| cell.len() > 1)
}

/// Rows whose blanks are spaces: the places of cells in which all digits and bars fit.
fn columns(index: usize, head: &[Line<'_>], signs: &Signs, wanted: &Wanted) -> Vec<Layout> {
    let is_bar = |byte: u8| matches!(byte, b'|' | b'!');
    let is_value = |byte: u8| byte.is_ascii_digit() || signs.is_value(byte);
    let is_own = |line: &&[u8]| {
        line.iter().all(|&byte| is_value(byte) || byte == b' ' || is_bar(byte))
            && line.iter().any(|&byte| is_value(byte))
            && !has_word(line)
    };
    let own: Vec<&[u8]> = head.iter().map(|line| &line.text[..]).filter(is_own).collect();
    let has_spaces = |line: &&[u8]| {
        line[0] == b' ' || memchr::memmem::find(line, b"  ").or(memchr::memmem::find(line, b"| |")).is_some()
    };
    if own.len() < 3 || !own.iter().any(has_spaces) {
        return Vec::new();
    }
    let places_of = |is: &dyn Fn(u8) -> bool| -> BTreeSet<usize> {
        own.iter().flat_map(|line| (0..line.len()).filter(|&at| is(line[at]))).collect()
    };
    let digits = places_of(&is_value);
    let bars = places_of(&is_bar);
    let common: Vec<usize> = bars
        .iter()
        .copied()
        .filter(|&at| {
            2 * own.iter().filter(|line| line.get(at).is_some_and(|&byte| is_bar(byte))).count() > own.len()
        })
        .collect();
    let mut found = Vec::new();
    for size in wanted.sizes() {
        for step in [1, 2, 3, 4] {
            for gap in 0..4 {
                for first in 0..12 {
                    let places = Places { first, step, gap };
                    let cells: Vec<usize> = places.columns(size).collect();
                    if digits.iter().all(|at| cells.contains(at)) && fit_bars(places, &cells, size, &bars) {
                        let layout = Layout::new(index, size.side, &signs.alphabet);
                        found.push(Layout { places: Some(places), bars: common.clone(), ..layout });
                    }
                }
            }
        }
    }
    if found.len() > 8 {
        return Vec::new();
    }
    // What fits cells that are apart fits closer ones too, and what fits all cells of a size those of a larger
    // one; but no puzzle has nothing in its last third.
    let widest = found.iter().filter_map(|layout| layout.places).map(|places| places.step).max();
    found.retain(|layout| {
        let is_reached = |places: Places| {
            digits.last().copied() >= places.columns(layout.size()).nth(2 * usize::from(layout.side) / 3)
        };
        layout.places.is_some_and(|places| Some(places.step) == widest && is_reached(places))
    });
    found
}

/// Whether bars are between cells, and at all borders of boxes if there are any.
fn fit_bars(places: Places, cells: &[usize], size: Size, bars: &BTreeSet<usize>) -> bool {
    if bars.is_empty() {
        return true;
    }
    if cells.iter().any(|cell| bars.contains(cell)) {
        return false;
    }
    let (Some(&first), Some(&last)) = (cells.first(), cells.last()) else { return false };
    let is_border = |at: usize| (at + 1).is_multiple_of(usize::from(size.box_columns)) || places.step == 4;
    cells.windows(2).enumerate().filter(|&(at, _)| is_border(at)).all(|(_, pair)| {
        // Within a column of the middle.
        let middle = pair[0] + pair[1];
        bars.range(first + 1..last).any(|bar| (2 * bar).abs_diff(middle) < 2)
    })
}

/// Whether the first fields of triples count.
fn count_up(head: &[Line<'_>]) -> bool {
    let numbers = head.iter().filter(|line| triple_of(&line.text, 1, false).is_some()).map(|line| {
        let first = line.text.trim_ascii_start();
        let digits = first.strip_prefix(b"\"").unwrap_or(first).iter().take_while(|b| b.is_ascii_digit());
        digits.fold(0_u32, |number, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')))
    });
    numbers.collect::<Vec<u32>>().windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// Triples in the order that their heading names.
fn triples(index: usize, head: &[Line<'_>], signs: &Signs, wanted: &Wanted) -> Vec<Layout> {
    let count =
        |column: usize| head.iter().filter(|line| triple_of(&line.text, column, false).is_some()).count();
    let counts = [count(0), count(1)];
    // In front of triples may be the numbers of their rows.
    let named = head.iter().find_map(|line| axes_of(&line.text));
    let is_numbered = counts[1] > counts[0] && (counts[1] > 4 || named.is_some()) && count_up(head);
    let column = usize::from(is_numbered);
    let is_counted =
        |line: &&Line<'_>| !line.text.trim_ascii().is_empty() && kind(&line.text) != Kind::Comment;
    let lines = head.iter().filter(is_counted).count();
    let are_few = counts[column] < 4 && (counts[column] < 2 || counts[column] + 1 < lines);
    if are_few || 2 * counts[column] < lines {
        return Vec::new();
    }
    let above = |side: u8| {
        let triples = head.iter().filter_map(|line| triple_of(&line.text, column, false));
        triples.filter(|triple| triple.iter().any(|&number| number > i32::from(side))).count()
    };
    let smallest =
        [4, 9, 16, 25].into_iter().find(|&side| above(side) * LINES_AN_ERROR <= counts[column]).unwrap_or(25);
    let side = wanted.side.unwrap_or(smallest);
    let orders: &[[u8; 3]] = match named {
        Some(Axes::Named(axes)) => &[axes],
        Some(Axes::Unknown) => &[*b"rcv", *b"crv"],
        None => &[*b"rcv"],
    };
    let with = |axes: [u8; 3]| {
        // They count from 0 if there is a row or a column 0.
        let is_zero =
            |triple: [i32; 3]| axes.iter().zip(triple).any(|(axis, number)| *axis != b'v' && number == 0);
        let has_zero = head.iter().filter_map(|line| triple_of(&line.text, column, false)).any(is_zero);
        Layout { axes, origin: u8::from(!has_zero), column, ..Layout::new(index, side, &signs.alphabet) }
    };
    orders.iter().map(|&axes| with(axes)).collect()
}
