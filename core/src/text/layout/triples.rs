//! Puzzles as triples of row, column and value.

use super::super::lines::offset;
use super::account::{Fault, FaultKind, Reading};
use super::facts::{Kind, Line, is_number, kind, without_remark};
use super::signs::{has_word, is_letter, trimmed, weight};
use super::table::Layout;
use crate::grid::OutOfRange;

/// The names of rows, columns and values in headings, in lower case.
const NAMES: [(u8, &[&str]); 3] = [
    (b'r', &["r", "row", "rows", "zeile", "fila", "ligne", "riga", "rij", "linha"]),
    (b'c', &["c", "col", "column", "columns", "spalte", "columna", "colonne", "colonna", "kolom", "coluna"]),
    (b'v', &["v", "value", "val", "digit", "number", "n", "wert", "valor", "valeur", "valore", "clue"]),
];

/// What a heading says of the order of row, column and value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Axes {
    Named([u8; 3]),
    /// Names that are not known.
    Unknown,
}

/// The order that a heading names; `None` for a line that is none.
pub(super) fn axes_of(line: &[u8]) -> Option<Axes> {
    let is_between = |byte: u8| byte.is_ascii_whitespace() || b",;|".contains(&byte);
    let line = trimmed(line, |byte| byte == b' ' || byte == b'#');
    let names =
        line.split(|&byte| is_between(byte)).map(|name| trimmed(name, |byte| b" \"'#".contains(&byte)));
    let names: Vec<&[u8]> = names.filter(|name| !name.is_empty()).collect();
    let [first, second, third] = names[..] else { return None };
    if names.iter().copied().flatten().any(u8::is_ascii_digit) || !names.iter().all(|name| is_letter(name[0]))
    {
        return None;
    }
    let axis = |name: &[u8]| {
        let is_name = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
        NAMES.iter().find(|(_, names)| names.iter().any(is_name)).map(|(axis, _)| *axis)
    };
    let axes = [first, second, third].map(axis);
    let is_known = [b'r', b'c', b'v'].iter().all(|axis| axes.contains(&Some(*axis)));
    Some(if is_known { Axes::Named(axes.map(|axis| axis.unwrap_or(0))) } else { Axes::Unknown })
}

/// The number of a triple: negative if it is none, or too long.
fn number(part: &[u8]) -> i32 {
    let is_number = (1..8).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    if is_number { part.iter().fold(0, |number, digit| 10 * number + i32::from(digit - b'0')) } else { -9 }
}

/// The bytes of a line with a triple, with what may be beside it.
const LONGEST: usize = 128;

/// The parts of a line that may be a triple, behind so many others. In a text of triples, all that is like one
/// `is_meant` as one.
fn parts_of(line: &[u8], column: usize, is_meant: bool) -> Option<[&[u8]; 3]> {
    if line.len() > LONGEST {
        return None;
    }
    let line = without_remark(line, |_| false).trim_ascii();
    let by_delimiter = |byte: &u8| b",;|".contains(byte);
    let has_delimiter = line.iter().any(by_delimiter);
    let parts: Vec<&[u8]> = if has_delimiter {
        line.split(by_delimiter)
            .map(<[u8]>::trim_ascii)
            .flat_map(|part| part.split(u8::is_ascii_whitespace))
            .collect()
    } else {
        line.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty()).collect()
    };
    let &[row, other, value] = parts.get(column..)? else { return None };
    let triple = [row, other, value];
    let is_short = triple.iter().all(|part| part.len() < 3);
    let numbers = parts.iter().filter(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit)).count();
    (is_short && numbers > 0 || is_meant && numbers > 1).then_some(triple)
}

/// The three numbers of a line: `1 2 3`, `r1c2=3`, `A2: 3`, behind so many other fields.
pub(super) fn triple_of(line: &[u8], column: usize, is_meant: bool) -> Option<[i32; 3]> {
    named_cell(line).or_else(|| Some(parts_of(line, column, is_meant)?.map(number)))
}

/// A cell by its name, and its value.
fn named_cell(line: &[u8]) -> Option<[i32; 3]> {
    let line = line.trim_ascii();
    let at = line.iter().position(|byte| b"=:".contains(byte))?;
    let (name, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
    if let [b'r' | b'R', rest @ ..] = name
        && let Some(c) = rest.iter().position(|byte| b"cC".contains(byte))
    {
        return Some([&rest[..c], &rest[c + 1..], value].map(number));
    }
    match (name, value) {
        ([row @ b'A'..=b'I', column @ b'0'..=b'9'], [value @ b'0'..=b'9']) => {
            Some([row - b'A' + 1, column - b'0', value - b'0'].map(i32::from))
        }
        _ => None,
    }
}

/// What is read in triples, which are one puzzle. If it is to be `answered`, any other figures spoil it.
pub(super) fn read(layout: &Layout, lines: &[Line<'_>], is_answered: bool) -> Reading {
    let mut reading = Reading::new(layout, lines);
    let side = usize::from(layout.side);
    let mut digits = vec![0_u8; side * side];
    let mut is_set = vec![false; side * side];
    let (mut fault, mut first, mut has_any) = (None::<Fault>, None, false);
    for line in lines {
        let Some(triple) = triple_of(&line.text, layout.column, is_answered || layout.is_told) else {
            let is_heading = axes_of(&line.text).is_some() && !has_word_and_digit(&line.text);
            let kind = if is_heading { Kind::Comment } else { kind(&line.text) };
            // A number above may be the size.
            let is_size = first.is_none() && is_number(&line.text);
            if is_answered && kind == Kind::Unexplained && !is_size {
                first.get_or_insert(line.number);
                has_any = true;
                fault = fault
                    .filter(|fault| fault.what == FaultKind::Length)
                    .or(Some(Fault { line: line.number, what: FaultKind::Length }));
            }
            reading.pass_over(kind, line);
            continue;
        };
        has_any = true;
        first.get_or_insert(line.number);
        let what = match cell_and_value(layout, &line.text, triple) {
            Err(what) => Some(what),
            Ok((cell, _)) if is_set[cell] => Some(FaultKind::Twice(cell)),
            Ok((cell, value)) => {
                (is_set[cell], digits[cell]) = (true, value);
                None
            }
        };
        if let Some(what) = what {
            let news = Fault { line: line.number, what };
            reading.unexplained += weight(&line.text);
            // Characters are checked before rules.
            let is_rule = |fault: &Fault| matches!(fault.what, FaultKind::Twice(_));
            let may_replace = |fault: &Fault| is_rule(fault) && !is_rule(&news);
            if fault.as_ref().is_none_or(may_replace) {
                fault = Some(news);
            }
        }
    }
    if is_answered && !has_any {
        // A text of separators is one puzzle, too.
        let is_something =
            |line: &&Line<'_>| !line.text.trim_ascii().is_empty() && kind(&line.text) != Kind::Comment;
        fault =
            lines.iter().find(is_something).map(|line| Fault { line: line.number, what: FaultKind::Length });
    }
    match fault {
        Some(fault) => reading.add_bad(fault.clone(), first.unwrap_or(fault.line), 0),
        None if has_any => {
            reading.add(&digits, first.unwrap_or(0), 0, false);
        }
        None => {}
    }
    reading
}

/// The cell of a triple and its value, or what is wrong with its line.
fn cell_and_value(layout: &Layout, line: &[u8], triple: [i32; 3]) -> Result<(usize, u8), FaultKind> {
    let side = usize::from(layout.side);
    let place = |axis: u8| layout.axes.iter().position(|&other| other == axis);
    let part = |axis: u8| place(axis).map_or(-9, |at| triple[at]);
    let outside = |what: &'static str, axis: u8| match usize::try_from(part(axis)) {
        Ok(value) => FaultKind::Outside(OutOfRange { what, value, side }),
        Err(_) => {
            let parts = parts_of(line, layout.column, true);
            let bad = place(axis).zip(parts).map_or(&line[..0], |(at, parts)| parts[at]);
            let digits = bad.iter().take_while(|byte| byte.is_ascii_digit()).count();
            FaultKind::Character(offset(line, bad) + if digits < bad.len() { digits } else { 0 })
        }
    };
    let origin = i32::from(layout.origin);
    let index = |axis: u8| usize::try_from(part(axis) - origin).ok().filter(|&index| index < side);
    let row = index(b'r').ok_or_else(|| outside("row", b'r'))?;
    let column = index(b'c').ok_or_else(|| outside("column", b'c'))?;
    let value = u8::try_from(part(b'v')).ok().filter(|value| (1..=layout.side).contains(value));
    Ok((row * side + column, value.ok_or_else(|| outside("value", b'v'))?))
}

fn has_word_and_digit(line: &[u8]) -> bool {
    has_word(line) && line.iter().any(u8::is_ascii_digit)
}
