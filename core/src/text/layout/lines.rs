//! Puzzles on a line each.

use super::account::{Fault, Reading};
use super::facts::{Kind, Line, are_names, fields, is_number, kind};
use super::signs::{Signs, weight};
use super::table::{Layout, Split, View};

/// The lines that are bad puzzles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnsweredLines {
    /// Those of as many cells as a puzzle has, about.
    Meant,
    /// All that are not words, comments, separators, or numbers by themselves.
    Figures,
    /// All but comments and separators.
    All,
}

/// What is read in lines of which each may be a puzzle.
pub(super) fn read(layout: &Layout, lines: &[Line<'_>], signs: &Signs, answered: AnsweredLines) -> Reading {
    let mut reading = Reading::new(layout, lines);
    let mut digits = Vec::new();
    let (mut is_headed, mut is_unnamed) = (false, false);
    let mut numbers = RowNumbers::default();
    let delimiters: &[u8] = if layout.delimiters.is_empty() { b"," } else { &layout.delimiters };
    for line in lines.iter().filter(|line| !line.text.trim_ascii().is_empty()) {
        digits.clear();
        let parsed = layout.parse(&line.text, signs, &mut digits);
        let is_heading = !parsed.is_read && are_names(&fields(&line.text, delimiters));
        is_headed |= is_heading;
        // Above the numbers of rows is no name.
        let names_column = |names: Vec<&[u8]>| names.get(layout.column).is_some_and(|name| !name.is_empty());
        is_unnamed |= is_heading && layout.column == 0 && !names_column(fields(&line.text, delimiters));
        if is_heading && layout.row().split == Split::Apart {
            // Names of cells count.
            let names = fields(&line.text, &layout.delimiters);
            let window = names.iter().skip(layout.column).take(layout.cells());
            let is_word = |name: &&&[u8]| !name.iter().any(u8::is_ascii_digit);
            reading.unexplained += window.filter(is_word).map(|name| weight(name)).sum::<u32>();
        }
        if parsed.is_read {
            reading.beside = reading.beside.max(parsed.beside);
            reading.unexplained += parsed.lost + u32::from(is_unnamed);
            if layout.row().split == Split::Apart && !is_headed {
                reading.unexplained += parsed.unexplained;
                numbers.add(&line.text, &layout.delimiters);
            }
            reading.add(&digits, line.number, weight(&line.text), false);
            reading.count_unclear(&digits, parsed.blanks, u32::from(parsed.zeros));
        } else if parsed.is_meant || !is_heading && is_answered(layout, signs, &line.text, answered) {
            let fault = Fault { line: line.number, what: layout.fault(line, signs) };
            reading.add_bad(fault, line.number, weight(&line.text));
        } else {
            let kind = if is_heading { Kind::Comment } else { kind(&line.text) };
            // No list has separators.
            reading.passed += if kind == Kind::Separator { weight(&line.text) } else { 0 };
            reading.pass_over(kind, line);
        }
    }
    if layout.column == 1 {
        let numbers = numbers.explained().min(reading.unexplained);
        reading.unexplained -= numbers;
        reading.passed += numbers;
    }
    reading
}

/// Whether a line is a bad puzzle, though it is not like one.
fn is_answered(layout: &Layout, signs: &Signs, line: &[u8], answered: AnsweredLines) -> bool {
    // A puzzle that is in its line where no other is.
    let has_puzzle = || {
        let runs = line.split(|&sign| !signs.has(sign));
        layout.row().split == Split::Field && runs.into_iter().any(|run| run.len() == layout.cells())
    };
    match kind(line) {
        Kind::Unexplained => match answered {
            AnsweredLines::All => true,
            // A few characters around brackets are no line of their own.
            AnsweredLines::Figures => {
                let cells = || line.iter().filter(|&&sign| signs.has(sign)).count();
                !is_number(line) && (layout.row().view == View::Plain || cells() > 2)
            }
            AnsweredLines::Meant => false,
        },
        Kind::Words => answered == AnsweredLines::All || has_puzzle(),
        Kind::Comment | Kind::Separator => false,
    }
}

/// The first fields of rows, which may number them.
#[derive(Default)]
struct RowNumbers {
    last: Option<u64>,
    rows: u32,
    characters: u32,
    is_broken: bool,
}

impl RowNumbers {
    fn add(&mut self, line: &[u8], delimiters: &[u8]) {
        let first = fields(line, delimiters).first().copied().unwrap_or_default();
        let number = std::str::from_utf8(first.trim_ascii()).ok().and_then(|first| first.parse().ok());
        self.is_broken |=
            number.is_none() || self.last.is_some_and(|last: u64| number != last.checked_add(1));
        self.last = number;
        self.rows += 1;
        self.characters += weight(first);
    }

    /// The characters of numbers that count.
    const fn explained(&self) -> u32 {
        if self.is_broken || self.rows < 2 { 0 } else { self.characters }
    }
}
