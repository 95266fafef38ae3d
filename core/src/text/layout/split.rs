//! Cells of a line, as a layout has them.

use super::super::lines::offset;
use super::account::FaultKind;
use super::facts::{Line, fields, is_decoration, pieces, unquoted, within};
use super::signs::{
    Blanks, MARK, MIXED, NOTHING, ReadCell, Signs, ZERO, has_word, is_alphanumeric, is_letter, trimmed,
    weight,
};
use super::table::{Layout, Split};
use crate::grid::OutOfRange;

/// The fewest cells that are no number of a puzzle, nor its size.
const LEAST_REST: usize = 3;

/// A line as its layout reads it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ParsedLine {
    /// Whether it is all cells, which have been appended.
    pub(super) is_read: bool,
    /// Whether it is meant as cells, but a bad one.
    pub(super) is_meant: bool,
    /// Whether it is a few cells and nothing else: what is left of a row.
    pub(super) is_rest: bool,
    /// The signs of its blanks, and how many of them are a `0`.
    pub(super) blanks: Blanks,
    pub(super) zeros: u16,
    /// The name of the row before its cells, as a hash; 0 if it has none.
    pub(super) label: u64,
    /// The most characters of a field beside the cells that is no words, and the characters that are
    /// neither words nor separators.
    pub(super) beside: u32,
    pub(super) unexplained: u32,
    /// The characters of other puzzles on the line.
    pub(super) lost: u32,
}

/// Whether blanks are written in one way, or in several that may be [mixed](MIXED).
pub(super) const fn is_one_sign(blanks: Blanks) -> bool {
    blanks.count_ones() < 2 || blanks & !MIXED == 0
}

/// Whether a puzzle whose blanks are `0` has nothing in the place of a cell. So few zeros may be values.
pub(super) const fn lacks_cell(blanks: Blanks, zeros: usize, side: usize) -> bool {
    blanks & NOTHING != 0 && blanks & ZERO != 0 && zeros > side
}

impl ParsedLine {
    /// Appends the cells, if there are so many and all are read. How many are.
    fn read(&mut self, cells: &[Option<ReadCell>], count: usize, values: &mut Vec<u8>) -> usize {
        let good = cells.iter().flatten().count();
        self.blanks = cells.iter().flatten().fold(0, |blanks, cell| blanks | cell.blank);
        let zeros = cells.iter().flatten().filter(|cell| cell.blank == ZERO).count();
        // The last may be nothing behind the last delimiter.
        let (_, all_but_last) = cells.split_last().unwrap_or((&None, &[]));
        let blanks = all_but_last.iter().flatten().fold(0, |blanks, cell| blanks | cell.blank);
        let lacks_cell = lacks_cell(blanks, zeros, count.isqrt());
        self.is_read = good == count && cells.len() == count && is_one_sign(self.blanks) && !lacks_cell;
        if self.is_read {
            self.zeros = u16::try_from(zeros).unwrap_or(u16::MAX);
            values.extend(cells.iter().flatten().map(|cell| cell.value));
        }
        good
    }
}

/// A field up to a `#`, behind which is a comment or the place in a page.
pub(super) fn before_remark<'a>(field: &'a [u8], signs: &Signs) -> &'a [u8] {
    match memchr::memchr(b'#', field).filter(|&at| at > 0 && !signs.is_value(b'#')) {
        Some(at) => &field[..at],
        None => field,
    }
}

/// A hash that tells the names of rows apart.
fn label_of(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter().chain(b" "));
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    });
    if parts.iter().all(|part| part.is_empty()) { 0 } else { hash | 1 }
}

impl ParsedLine {
    fn beside(mut self, fields: &[&[u8]]) -> Self {
        let text = fields.join(&b' ');
        self.beside =
            fields.iter().filter(|field| !has_word(field)).map(|field| weight(field)).max().unwrap_or(0);
        let is_unexplained = text.iter().any(|&byte| is_alphanumeric(byte)) && !has_word(&text);
        self.unexplained = if is_unexplained { weight(&text) } else { 0 };
        self
    }
}

impl Layout {
    /// Reads a line: appends its cells to `values`, if they are all read.
    pub(super) fn parse(&self, line: &[u8], signs: &Signs, values: &mut Vec<u8>) -> ParsedLine {
        match self.row().split {
            Split::Field => self.parse_field(line, signs, values),
            Split::Apart => self.parse_apart(line, signs, values),
            Split::Fields => self.parse_fields(line, signs, values),
            Split::Columns => self.parse_columns(line, signs, values),
            Split::Signs | Split::Words => self.parse_pieces(line, signs, values),
            Split::None => ParsedLine::default(),
        }
    }

    fn parse_field(&self, line: &[u8], signs: &Signs, values: &mut Vec<u8>) -> ParsedLine {
        let all = fields(line, &self.delimiters);
        let is_around = |byte: u8| (is_decoration(byte) || b",;|/".contains(&byte)) && !signs.is_value(byte);
        let field =
            all.get(self.column).map_or(&[][..], |field| trimmed(before_remark(field, signs), is_around));
        let others: Vec<&[u8]> =
            all.iter().enumerate().filter(|&(at, _)| at != self.column).map(|(_, field)| *field).collect();
        let mut parsed = ParsedLine::default().beside(&others);
        let cells: Vec<Option<ReadCell>> = field.iter().map(|&sign| signs.sign(sign, self.side)).collect();
        let good = parsed.read(&cells, self.cells(), values);
        if parsed.is_read {
            // Several other puzzles on the line are lost.
            let is_puzzle = |field: &&&[u8]| {
                let field = trimmed(field, is_around);
                field.len() == self.cells()
                    && field.iter().all(|&sign| signs.sign(sign, self.side).is_some())
                    && field.iter().any(|&sign| signs.is_blank(sign))
            };
            if others.iter().filter(is_puzzle).nth(1).is_some() {
                parsed.lost = others.iter().filter(is_puzzle).map(|field| weight(field)).sum();
            }
            return parsed;
        }
        let figures = field.iter().filter(|byte| byte.is_ascii_digit() || signs.is_blank(**byte)).count();
        let length = field.len();
        let is_meant =
            length > 7 && 10 * good + 10 >= 9 * length && 3 * figures > length && 8 * length > self.cells();
        ParsedLine { is_meant, ..parsed }
    }

    fn parse_apart(&self, line: &[u8], signs: &Signs, values: &mut Vec<u8>) -> ParsedLine {
        let is_space = self.delimiters == b" ";
        let line =
            if is_space { line } else { trimmed(line, |byte| byte.is_ascii_whitespace() && byte != b'\t') };
        let mut all: Vec<&[u8]> =
            fields(line, &self.delimiters).into_iter().map(|field| within(field, is_decoration)).collect();
        let count = self.cells();
        // Behind the last cell may be a delimiter.
        while all.len() > self.column + count && all.last().is_some_and(|last| last.is_empty()) {
            all.pop();
        }
        let words =
            all.iter().filter(|field| has_word(field) && signs.cell(field, self.side).is_none()).count();
        if 10 * all.len() < 9 * count || words > 1 {
            return ParsedLine::default();
        }
        let (before, rest) = all.split_at(self.column.min(all.len()));
        let (cells, behind) = rest.split_at(count.min(rest.len()));
        let beside = [before, behind].concat();
        // Texts, and the board that solves the puzzle, are no figures that could be cells.
        let is_figure = |field: &&&[u8]| field.len() != count && !has_word(field);
        let unexplained = beside.iter().filter(is_figure).map(|field| weight(field)).sum();
        let parsed = ParsedLine { unexplained, ..ParsedLine::default().beside(&beside) };
        let parsed = self.of_cells(cells, signs, values, parsed);
        // A few cells of so many may be anything.
        let good = cells.iter().filter(|cell| signs.cell(cell, self.side).is_some()).count();
        ParsedLine { is_meant: parsed.is_meant || 10 * good >= 9 * count, ..parsed }
    }

    fn parse_fields(&self, line: &[u8], signs: &Signs, values: &mut Vec<u8>) -> ParsedLine {
        let all: Vec<&[u8]> = fields(line, &self.delimiters).into_iter().map(unquoted).collect();
        // Of a row of tabs that were cut off only the first cell is left.
        let is_cut = |only: &[u8]| self.delimiters == b"\t" && signs.cell(only, self.side).is_some();
        if let [only] = &all[..]
            && !only.is_empty()
            && !is_cut(only)
        {
            return ParsedLine::default();
        }
        let count = self.cells();
        let behind = all.get(self.column + count..).unwrap_or_default();
        let before = &all[..self.column.min(all.len())];
        let parsed = ParsedLine { label: label_of(before), ..ParsedLine::default().beside(behind) };
        if self.width.is_some_and(|width| width != all.len()) {
            let is_near = self.width.is_some_and(|width| width.abs_diff(all.len()) <= 2);
            return ParsedLine { is_meant: is_near && !has_word(line), ..parsed };
        }
        let mut cells = all.get(self.column..).unwrap_or_default().to_vec();
        cells.resize(count, &[]);
        let start = values.len();
        let parsed = self.of_cells(&cells, signs, values, parsed);
        if parsed.is_read && parsed.unexplained > 0 {
            // Figures behind the cells make it a row of another length.
            values.truncate(start);
            return ParsedLine { is_read: false, is_meant: true, ..parsed };
        }
        parsed
    }

    fn parse_pieces(&self, line: &[u8], signs: &Signs, values: &mut Vec<u8>) -> ParsedLine {
        if self.column == 0 && self.row().split == Split::Signs && line.len() == usize::from(self.side) {
            // Most rows: a character for each cell.
            let (start, mut blanks, mut zeros) = (values.len(), 0, 0);
            for &sign in line {
                let Some(cell) = signs.sign(sign, self.side).filter(|&cell| self.allows(cell)) else { break };
                blanks |= cell.blank;
                zeros += u16::from(cell.blank == ZERO);
                values.push(cell.value);
            }
            if values.len() - start == line.len() {
                return ParsedLine { is_read: true, blanks, zeros, ..ParsedLine::default() };
            }
            values.truncate(start);
        }
        let all = pieces(line, |byte| signs.is_value(byte) && !b",|".contains(&byte));
        let (before, rest) = all.split_at(self.column.min(all.len()));
        if before.iter().map(|part| part.len()).sum::<usize>() > 3 * self.column {
            return ParsedLine::default();
        }
        let parsed = ParsedLine { label: label_of(before), ..ParsedLine::default() };
        if self.row().split == Split::Signs {
            let joined: Vec<u8> = rest.concat();
            let cells: Vec<&[u8]> = joined.chunks(1).collect();
            return self.of_cells(&cells, signs, values, parsed);
        }
        self.of_cells(rest, signs, values, parsed)
    }

    /// Reads a line as cells that are apart.
    fn of_cells(
        &self,
        tokens: &[&[u8]],
        signs: &Signs,
        values: &mut Vec<u8>,
        mut parsed: ParsedLine,
    ) -> ParsedLine {
        let cell = |token: &&[u8]| signs.cell(token, self.side).filter(|&cell| self.allows(cell));
        let cells: Vec<Option<ReadCell>> = tokens.iter().map(cell).collect();
        let count = self.cells();
        let good = parsed.read(&cells, count, values);
        if parsed.is_read {
            return parsed;
        }
        let is_word = |(cell, token): (&Option<ReadCell>, &&[u8])| cell.is_none() && has_word(token);
        let are_letters = |pair: &[(&Option<ReadCell>, &&[u8])]| {
            pair.iter().all(|(cell, token)| cell.is_none() && token.iter().all(|&byte| is_letter(byte)))
        };
        let all: Vec<(&Option<ReadCell>, &&[u8])> = cells.iter().zip(tokens).collect();
        if all.iter().copied().any(is_word) || all.windows(2).any(are_letters) {
            return parsed;
        }
        let is_near = cells.len().abs_diff(count) <= 1 && 10 * good + 10 >= 7 * count;
        // What is left of a row, or too much for one, and no number.
        let is_part =
            good == cells.len() && 2 * good >= count && (good > 3 || parsed.blanks > 0) && good < 2 * count;
        ParsedLine {
            is_meant: is_near || is_part,
            is_rest: good == cells.len() && good >= LEAST_REST,
            ..parsed
        }
    }

    fn parse_columns(&self, line: &[u8], signs: &Signs, values: &mut Vec<u8>) -> ParsedLine {
        let Some(places) = self.places else { return ParsedLine::default() };
        let is_bar = |byte: u8| matches!(byte, b'|' | b'!');
        let drawn = (0..line.len()).filter(|&at| is_bar(line[at]));
        let expected = self.bars.iter().copied().filter(|&at| at < line.len());
        // Bars are not lost with the spaces at the end of a line.
        let lacks_bars = drawn.clone().count() < self.bars.len() && !line.iter().any(u8::is_ascii_digit);
        if lacks_bars || !drawn.eq(expected) || !self.bars.is_empty() && line.trim_ascii().is_empty() {
            let has_bars = self.bars.is_empty() || line.iter().any(|&byte| is_bar(byte));
            let is_meant = has_bars && line.iter().any(u8::is_ascii_digit) && !has_word(line);
            return ParsedLine { is_meant, ..ParsedLine::default() };
        }
        let columns: Vec<usize> = places.columns(self.size()).collect();
        let is_between = |at: usize| !columns.contains(&at);
        let is_empty = |byte: u8| byte == b' ' || is_bar(byte);
        if line.iter().enumerate().any(|(at, &byte)| is_between(at) && !is_empty(byte)) {
            return ParsedLine::default();
        }
        let start = values.len();
        for &at in &columns {
            match line.get(at) {
                None | Some(b' ') => values.push(0),
                Some(&sign) => match signs.sign(sign, self.side).filter(|cell| cell.value > 0) {
                    Some(cell) => values.push(cell.value),
                    None => {
                        values.truncate(start);
                        return ParsedLine { is_meant: true, ..ParsedLine::default() };
                    }
                },
            }
        }
        let blanks = if values[start..].contains(&0) { NOTHING } else { 0 };
        ParsedLine { is_read: true, blanks, ..ParsedLine::default() }
    }

    /// Whether a cell may be in rows whose blanks have one sign.
    fn allows(&self, cell: ReadCell) -> bool {
        cell.value > 0 || self.blank.is_none_or(|blank| cell.blank & (blank | MIXED & !NOTHING) != 0)
    }

    /// The parts of a line that are meant as cells.
    fn parts<'a>(&self, line: &'a [u8], signs: &Signs) -> Vec<&'a [u8]> {
        let all = match self.row().split {
            Split::Field => {
                let all = fields(line, &self.delimiters);
                let field = all.get(self.column).copied().unwrap_or_default();
                return trimmed(before_remark(field, signs), is_decoration).chunks(1).collect();
            }
            Split::Columns => {
                let columns = self.places.into_iter().flat_map(|places| places.columns(self.size()));
                let cell = |at: usize| line.get(at..=at).filter(|cell| *cell != b" ").unwrap_or_default();
                return columns.map(cell).collect();
            }
            Split::Apart | Split::Fields => {
                fields(line, &self.delimiters).into_iter().map(unquoted).collect()
            }
            Split::Signs | Split::Words => {
                pieces(line, |byte| signs.is_value(byte) && !b",|".contains(&byte))
            }
            Split::None => Vec::new(),
        };
        let mut cells = all.get(self.column..).unwrap_or_default().to_vec();
        match self.row().split {
            Split::Signs => return cells.into_iter().flat_map(|cell| cell.chunks(1)).collect(),
            // Behind the last cell may be a delimiter.
            Split::Apart | Split::Fields if cells.len() > self.cells() => {
                while cells.len() > self.cells() && cells.last().is_some_and(|last| last.is_empty()) {
                    cells.pop();
                }
            }
            _ => {}
        }
        cells
    }

    /// What is wrong with a line that is meant as cells.
    pub(super) fn fault(&self, line: &Line<'_>, signs: &Signs) -> FaultKind {
        match self.fault_within(&line.text, signs) {
            FaultKind::Character(column) => FaultKind::Character(line.column + column),
            what => what,
        }
    }

    fn fault_within(&self, line: &[u8], signs: &Signs) -> FaultKind {
        if let Some(mark) = memchr::memchr(MARK, line) {
            return FaultKind::Character(mark);
        }
        let parts = self.parts(line, signs);
        if parts.len() != self.cells() {
            return FaultKind::Length;
        }
        let is_cell = |part: &[u8]| signs.cell(part, self.side).is_some_and(|cell| self.allows(cell));
        let Some(bad) = parts.into_iter().find(|part| !is_cell(part)) else { return FaultKind::Length };
        let digits = bad.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = (digits == bad.len() && (2..9).contains(&digits))
            .then(|| bad.iter().fold(0, |number, digit| 10 * number + usize::from(digit - b'0')));
        let side = usize::from(self.side);
        match number.filter(|&number| number > side) {
            Some(value) => FaultKind::Outside(OutOfRange { what: "value", value, side }),
            None => FaultKind::Character(offset(line, bad) + if digits < bad.len() { digits } else { 0 }),
        }
    }
}
