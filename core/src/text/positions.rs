//! Positions: texts of cells with all their candidates, which are no puzzles.

use std::fmt;

use super::lines::{characters, is_no_puzzle};
use crate::counted::counted;
use crate::grid::Order;

/// A text of positions: a line of pencil marks for each, every candidate of every cell in its place
/// or a dot; or grids with the candidates of each cell, as `HoDoKu` and Simple Sudoku draw them.
///
/// No puzzle is written so: in a grid of numbers without a blank each row has a 10.
pub(crate) struct MarkedText<'a> {
    pub(crate) order: Order,
    /// Of each line its number from 1, and its cells; one of pencil marks as a whole.
    pub(crate) rows: Vec<(u64, Vec<&'a [u8]>)>,
    pub(crate) are_lines: bool,
    /// What is wrong first.
    pub(crate) damage: Option<Damage>,
}

/// What is wrong with a text of positions of this order, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(super) line: u64,
    order: Order,
    what: DamageKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DamageKind {
    /// A cell or a mark that is none.
    Cell(String),
    /// A row with so many cells.
    Cells(usize),
    /// A line with so many characters.
    Characters(usize),
    /// So many rows.
    Rows(usize),
}

/// The characters of a cell that are repeated to the user.
const QUOTED: usize = 20;

/// The value of a candidate: from `1` to `9`, then `A` for 10 and so on.
fn value(symbol: u8) -> Option<usize> {
    char::from(symbol).to_digit(36).and_then(|value| usize::try_from(value).ok()).filter(|&value| value > 0)
}

/// The candidates of a cell in their places, with dots for others. `None` if these are not
/// different values.
pub(crate) fn marks_of(cell: &[u8], side: usize) -> Option<Vec<u8>> {
    let mut marks = vec![b'.'; side];
    for symbol in cell {
        let mark = marks.get_mut(value(*symbol)? - 1).filter(|mark| **mark == b'.')?;
        *mark = symbol.to_ascii_uppercase();
    }
    Some(marks)
}

impl<'a> MarkedText<'a> {
    /// The positions that a text is, at least half of whose lines are good ones. `None` for other
    /// texts. The last line of a text that `goes_on` is cut off.
    pub(crate) fn find(text: &'a [u8], goes_on: bool) -> Option<Self> {
        let end = text.iter().rposition(|&byte| byte == b'\n').filter(|_| goes_on).unwrap_or(text.len());
        let is_ruler = |line: &[u8]| {
            !line.iter().any(u8::is_ascii_alphanumeric) && (line.contains(&b'-') || !line.contains(&b'.'))
        };
        let cells = |line: &'a [u8]| {
            let cells = line.split(|byte| b"|*".contains(byte) || byte.is_ascii_whitespace());
            cells.filter(|cell| !cell.is_empty()).collect()
        };
        let lines = text[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).zip(1..);
        let rows: Vec<(u64, Vec<&[u8]>)> = lines
            .filter(|(line, _)| !is_no_puzzle(line) && !is_ruler(line))
            .map(|(line, number)| (number, cells(line)))
            .collect();
        let (_, first) = rows.first()?;
        let are_lines = first.len() == 1;
        let is_good = |side: usize, cells: &[&[u8]]| match cells {
            [marks] if are_lines => marks.len() == side.pow(3) && are_meant(marks, side),
            _ => cells.len().is_multiple_of(side) && cells.iter().all(|cell| marks_of(cell, side).is_some()),
        };
        let good = |order: &Order| rows.iter().filter(|(_, cells)| is_good(order.side(), cells)).count();
        let order = Order::ALL[1..].iter().rev().copied().max_by_key(good)?;
        // A cell has no choice if it is the only one, so that one is a mistake in a grid.
        let several = || rows.iter().flat_map(|(_, cells)| cells).filter(|cell| cell.len() > 1).nth(1);
        if good(&order) == 0 || 2 * good(&order) < rows.len() || !are_lines && several().is_none() {
            return None;
        }
        let mut found = Self { order, rows, are_lines, damage: None };
        found.damage = found.first_damage(goes_on);
        Some(found)
    }

    fn first_damage(&self, goes_on: bool) -> Option<Damage> {
        let (order, side) = (self.order, self.order.side());
        let damage = |(line, cells): &(u64, Vec<&[u8]>)| {
            let what = match cells[..] {
                [marks] if self.are_lines && marks.len() != side.pow(3) => {
                    DamageKind::Characters(characters(marks).count())
                }
                [marks] if self.are_lines => DamageKind::Cell(shown(misplaced(marks, side).next()?)),
                _ => match cells.iter().find(|cell| marks_of(cell, side).is_none()) {
                    Some(bad) => DamageKind::Cell(shown(bad)),
                    None if cells.len().is_multiple_of(side) => return None,
                    None => DamageKind::Cells(cells.len()),
                },
            };
            Some(Damage { line: *line, order, what })
        };
        let rows = self.rows.iter().map(|(_, cells)| cells.len()).sum::<usize>() / side;
        let is_whole = self.are_lines || goes_on || rows.is_multiple_of(side);
        let lacks_rows = || Some(Damage { line: self.rows.first()?.0, order, what: DamageKind::Rows(rows) });
        self.rows.iter().find_map(damage).or_else(|| if is_whole { None } else { lacks_rows() })
    }
}

/// The characters of a line of pencil marks that are neither blanks nor in their place.
fn misplaced(marks: &[u8], side: usize) -> impl Iterator<Item = &[u8]> {
    let is_mark = move |(place, symbol): &(usize, &[u8])| {
        matches!(*symbol, b"." | b"0") || symbol.len() == 1 && value(symbol[0]) == Some(1 + place % side)
    };
    characters(marks).enumerate().filter(move |mark| !is_mark(mark)).map(|(_, symbol)| symbol)
}

/// Whether at least half of the characters of a line that are no blanks are in their place.
fn are_meant(marks: &[u8], side: usize) -> bool {
    let symbols = marks.iter().filter(|byte| !b".0".contains(byte)).count();
    2 * misplaced(marks, side).count() <= symbols
}

fn shown(cell: &[u8]) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    String::from_utf8_lossy(cell).chars().take(QUOTED).map(shown).collect()
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, order, what } = self;
        let side = order.side();
        match what {
            DamageKind::Cell(cell) => {
                write!(
                    f,
                    "Line {line} has \"{cell}\" among cells with candidates, which are different digits."
                )
            }
            DamageKind::Characters(characters) => {
                let all = side.pow(3);
                write!(
                    f,
                    "Line {line} has {characters} characters; the candidates of a {order} puzzle are {all}."
                )
            }
            DamageKind::Cells(cells) => {
                let cells = counted(*cells as u64, "cell");
                write!(
                    f,
                    "Line {line} is a row of {cells} with candidates; a row of a {order} puzzle has {side}."
                )
            }
            DamageKind::Rows(rows) => {
                let are = if *rows == 1 { "is" } else { "are" };
                let rows = counted(*rows as u64, "row");
                write!(
                    f,
                    "From line {line} on there {are} {rows} of cells with candidates; a {order} puzzle has {side}."
                )
            }
        }
    }
}
