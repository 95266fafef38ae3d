//! Rows in which a space is a blank: `| 7   6 |   5   | 1     |`, or `│ 9 │   │ 2 │` with bars
//! round each cell.
//!
//! A blank is no character there, so a cell is known by its place between the bars. A text is read
//! that way only if all its rows fit one such layout, and some cell is a space. A line of nothing
//! but bars and spaces is then a row of blanks; in other texts it is a ruler.

use super::Hint;
use super::lines::{characters, puzzle_lines};
use super::rows::{LineKind, RowStyle, classify};
use crate::grid::Order;

/// Where the cells of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BarLayout {
    order: Order,
    /// Whether a row begins and ends with a bar.
    is_framed: bool,
    /// What is between two bars.
    group: Group,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// A cell, with any white space around it.
    Cell,
    /// The cells of a box.
    Box { width: usize, pitch: usize, first: usize },
}

/// A character and its offset in the line.
type Character<'a> = (usize, &'a [u8]);

/// White space that is missing at an end of a line without a frame.
const MISSING: Character<'_> = (0, b" ");

/// The longest cell: a number of two digits.
const CELL_CHARACTERS: usize = 2;

impl BarLayout {
    /// All layouts of these orders.
    fn all(order: Option<Order>) -> impl Iterator<Item = Self> {
        let orders = Order::ALL.into_iter().filter(|order| order.side() > 1);
        orders.filter(move |&other| order.is_none_or(|order| other == order)).flat_map(|order| {
            std::iter::once(Group::Cell)
                .chain(Group::of_boxes(order.box_side()))
                .flat_map(move |group| [true, false].map(|is_framed| Self { order, is_framed, group }))
        })
    }

    /// The order of the puzzles.
    pub(super) const fn order(self) -> Order {
        self.order
    }

    /// Whether a line is a row of this layout, and no ruler.
    pub(super) fn has_row(self, line: &[u8]) -> bool {
        is_bars_and_cells(line) && self.cells(line).is_some()
    }

    /// The cells of a row, of which blank ones are empty; `None` for another line.
    pub(super) fn cells(self, line: &[u8]) -> Option<Vec<&[u8]>> {
        let groups = self.groups(line)?;
        let Group::Box { width, pitch, first } = self.group else {
            let is_row = groups.len() == self.order.side();
            return is_row.then(|| groups.iter().map(|group| cell(line, group)).collect())?;
        };
        let box_side = self.order.box_side();
        if groups.len() != box_side {
            return None;
        }
        let mut cells = Vec::with_capacity(self.order.side());
        for (index, mut group) in groups.into_iter().enumerate() {
            if !self.is_framed && index == 0 && group.len() + 1 == width {
                group.insert(0, MISSING);
            }
            if !self.is_framed && index + 1 == box_side && group.len() < width {
                group.resize(width, MISSING);
            }
            if group.len() != width {
                return None;
            }
            let (before, mut behind) = group.split_at(first);
            let mut between = vec![before];
            for _ in 0..box_side {
                let (characters, rest) = behind.split_at((pitch - 1).max(1));
                cells.push(cell(line, characters)?);
                let (space, rest) = rest.split_at(rest.len().min(usize::from(pitch > 1)));
                between.push(space);
                behind = rest;
            }
            between.push(behind);
            if !between.into_iter().flatten().all(|(_, character)| is_space(character)) {
                return None;
            }
        }
        Some(cells)
    }

    /// The characters between the bars, without the places where two bars meet.
    fn groups(self, line: &[u8]) -> Option<Vec<Vec<Character<'_>>>> {
        let mut groups = vec![Vec::new()];
        let mut at = 0;
        for character in characters(line.trim_ascii_end()) {
            if is_bar(character) {
                groups.push(Vec::new());
            } else {
                groups.last_mut()?.push((at, character));
            }
            at += character.len();
        }
        let behind = groups.pop()?;
        if self.is_framed {
            let before = groups.first()?;
            if groups.len() < 2 || !behind.is_empty() || !before.iter().all(|(_, before)| is_space(before)) {
                return None;
            }
            groups.remove(0);
        }
        groups.retain(|group| !group.is_empty());
        if !self.is_framed {
            // Blanks at the end of a line may be missing.
            groups.push(behind);
        }
        Some(groups)
    }
}

impl Group {
    /// The ways to draw a box of rows of so many cells.
    fn of_boxes(cells: usize) -> impl Iterator<Item = Self> {
        // With a space between two cells, and perhaps at the ends.
        let spaced = move |pitch, first, ends| Self::Box { width: cells * pitch - 1 + ends, pitch, first };
        [
            Self::Box { width: cells, pitch: 1, first: 0 },
            spaced(2, 0, 0),
            spaced(2, 1, 2),
            // Numbers of two digits.
            spaced(3, 0, 0),
            spaced(3, 0, 1),
            spaced(3, 1, 1),
            spaced(3, 1, 2),
        ]
        .into_iter()
    }
}

fn is_space(character: &[u8]) -> bool {
    matches!(character, b" " | b"\t")
}

/// Whether it is a bar between cells: `|`, or one of box drawing.
const fn is_bar(character: &[u8]) -> bool {
    matches!(character, b"|" | [0xE2, 0x94, 0x82 | 0x83 | 0x86 | 0x87 | 0x8A | 0x8B] | [0xE2, 0x95, 0x91])
}

/// Whether a line has bars, and nothing else that rulers are drawn with.
fn is_bars_and_cells(line: &[u8]) -> bool {
    let mut has_bar = false;
    for character in characters(line) {
        let is_ruler = match character {
            [b'-' | b'+' | b'='] => true,
            [0xE2, 0x94 | 0x95, _] => !is_bar(character),
            _ => false,
        };
        if is_ruler {
            return false;
        }
        has_bar |= is_bar(character);
    }
    has_bar
}

/// The only word of a few characters of a line, or nothing; `None` if it is too long for a cell.
fn cell<'a>(line: &'a [u8], characters: &[Character<'_>]) -> Option<&'a [u8]> {
    let mut words = characters.split(|(_, character)| is_space(character)).filter(|word| !word.is_empty());
    let Some(word) = words.next() else { return Some(b"") };
    let (&(begin, _), &(last, end)) = (word.first()?, word.last()?);
    (word.len() <= CELL_CHARACTERS && words.next().is_none()).then(|| &line[begin..last + end.len()])
}

/// The layout of a text whose rows have spaces for blanks; `None` for other texts, and where several
/// layouts fit that differ. The text `goes_on` if it is the beginning of a longer one.
///
/// Two rows of a band that are blank are none, because they may as well be the white space above
/// and below the values of cells that are drawn several lines high.
pub(super) fn find(text: &[u8], goes_on: bool, hint: &Hint) -> Option<BarLayout> {
    if !text.iter().any(|&byte| byte == b'|' || byte == 0xE2) {
        return None;
    }
    let (rows, others): (Vec<&[u8]>, Vec<&[u8]>) =
        puzzle_lines(text).partition(|line| is_bars_and_cells(line));
    if rows.is_empty() || others.iter().any(|line| classify(line, RowStyle::default()) == LineKind::Row) {
        return None;
    }
    let fits = |layout: &BarLayout| {
        let (side, box_side) = (layout.order.side(), layout.order.box_side());
        let is_whole = rows.len().is_multiple_of(side) || goes_on && rows.len() > side;
        if !is_whole || !rows.iter().all(|row| layout.cells(row).is_some()) {
            return false;
        }
        let is_blank =
            |row: &&&[u8]| layout.cells(row).is_some_and(|cells| cells.iter().all(|cell| cell.is_empty()));
        let has_space =
            |row: &&[u8]| layout.cells(row).is_some_and(|cells| cells.iter().any(|cell| cell.is_empty()));
        rows.iter().any(has_space)
            && rows
                .chunks(side)
                .flat_map(|puzzle| puzzle.chunks(box_side))
                .all(|band| band.iter().filter(is_blank).count() <= 1)
    };
    let mut layouts = BarLayout::all(hint.order).filter(fits);
    let layout = layouts.next()?;
    // White space on either side of a cell does not matter, but its row and column do.
    let is_same = |other: BarLayout| {
        other.order == layout.order && rows.iter().all(|row| other.cells(row) == layout.cells(row))
    };
    layouts.all(is_same).then_some(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::text::{Notation, Records, detect};

    const PUZZLE: &str = "7.6.5.1...12....3.4...8..........9.26.......5..3.......8.1..7.....2.....9....6..3";

    /// The puzzles of a text, if it is read as rows with spaces for blanks.
    fn read(text: &str) -> Option<Vec<String>> {
        find(text.as_bytes(), false, &Hint::default())?;
        let format = detect(text.as_bytes(), &Hint::default()).unwrap().format;
        assert_eq!(format.notation(), Notation::Grid, "{text}");
        let (mut grid, mut found) = (Grid::empty(format.order()), Vec::new());
        let mut records = Records::new(&format, text.as_bytes(), 1);
        while let Some(record) = records.read(&mut grid) {
            assert_eq!(record.error, None, "{text}");
            found.push(grid.to_string());
        }
        Some(found)
    }

    /// A puzzle with a space for each blank, drawn by `row`, with `ruler` around each band.
    fn draw(puzzle: &str, ruler: &str, row: impl Fn(&[String]) -> String) -> String {
        let cells: Vec<String> = puzzle.chars().map(|c| if c == '.' { ' ' } else { c }.to_string()).collect();
        let side = (1..=25).find(|side| side * side == cells.len()).unwrap();
        let box_side = (1..=5).find(|box_side| box_side * box_side == side).unwrap();
        let mut text = format!("{ruler}\n");
        for band in cells.chunks(side * box_side) {
            text += &band.chunks(side).map(|cells| row(cells) + "\n").collect::<String>();
            text += &format!("{ruler}\n");
        }
        text
    }

    fn boxes(cells: &[String], between: &str) -> Vec<String> {
        let box_side = (1..=5).find(|box_side| box_side * box_side == cells.len()).unwrap();
        cells.chunks(box_side).map(|cells| cells.join(between)).collect()
    }

    #[test]
    fn spaces_between_bars_are_blanks() {
        let drawn = [
            draw(PUZZLE, "+-------+-------+-------+", |row| format!("| {} |", boxes(row, " ").join(" | "))),
            draw(PUZZLE, "+-----+-----+-----+", |row| format!("|{}|", boxes(row, " ").join("|"))),
            draw(PUZZLE, "+---+---+---+", |row| format!("|{}|", boxes(row, "").join("|"))),
            draw(PUZZLE, "   +---------+", |row| format!("   | {} |", boxes(row, "  ").join(" | "))),
            draw(PUZZLE, "------+-------+------", |row| boxes(row, " ").join(" | ")),
            draw(PUZZLE, "------+-------+------", |row| boxes(row, " ").join(" | ").trim_end().to_owned()),
            draw(PUZZLE, "├───┼───┤", |row| format!("│ {} │", row.join(" │ "))),
            draw(PUZZLE, "╠═══╬═══╣", |row| {
                format!("║ {} ║", boxes(row, " │ ").join(" ║ "))
            }),
            draw(PUZZLE, "+---+---+", |row| format!("|{}|", row.join("|"))),
            draw(PUZZLE, "+---------+", |row| format!("| {} |", boxes(row, "  ").join(" | "))),
            draw(PUZZLE, "+---------+", |row| format!("|{} |", boxes(row, "  ").join(" |"))),
        ];
        for text in drawn {
            assert_eq!(read(&text).as_deref(), Some(&[PUZZLE.to_owned()][..]), "{text}");
            let two = text.clone() + "\n" + &text;
            assert_eq!(read(&two).as_deref(), Some(&[PUZZLE.to_owned(), PUZZLE.to_owned()][..]), "{two}");
        }
        let small = "12.4..1.2..1.3.2";
        let text = draw(small, "+---+---+", |row| format!("|{}|", boxes(row, " ").join("|")));
        assert_eq!(read(&text).as_deref(), Some(&[small.to_owned()][..]));
    }

    #[test]
    fn numbers_of_two_digits_are_cells() {
        let value = |at: usize| (4 * (at / 16 % 4) + at / 64 + at % 16) % 16;
        let is_clue = |at: usize| (at / 16 + at % 16).is_multiple_of(3);
        let cells: Vec<String> = (0..256)
            .map(|at| if is_clue(at) { format!("{:>2}", value(at) + 1) } else { "  ".to_owned() })
            .collect();
        let symbol = |at: usize| if is_clue(at) { b"123456789ABCDEFG"[value(at)] } else { b'.' };
        let wanted: String = (0..256).map(|at| char::from(symbol(at))).collect();
        let rows: String =
            cells.chunks(16).map(|row| format!("| {} |\n", boxes(row, " ").join(" | "))).collect();
        let layout = find(rows.as_bytes(), false, &Hint::default()).map(|layout| layout.order.side());
        assert_eq!((layout, read(&rows)), (Some(16), Some(vec![wanted])), "{rows}");
    }

    #[test]
    fn what_has_no_spaces_for_blanks_is_not_read_that_way() {
        let framed = |puzzle: &str| {
            draw(puzzle, "+-------+-------+-------+", |row| format!("| {} |", boxes(row, " ").join(" | ")))
        };
        let tall: String = framed(PUZZLE)
            .lines()
            .map(|line| {
                if line.starts_with('+') {
                    format!("{line}\n")
                } else {
                    format!("|       |       |       |\n{line}\n|       |       |       |\n")
                }
            })
            .collect();
        let with_zeros = framed(&PUZZLE.replace('.', "0"));
        let short = framed(PUZZLE).replacen("| 7   6 |   5   | 1     |\n", "", 1);
        let shifted = framed(PUZZLE).replacen("| 7   6 |", "|  7  6 |", 1);
        let prose = framed(PUZZLE) + "what is this\n";
        for text in [&tall, &short, &shifted, &prose, &with_zeros] {
            assert_eq!(find(text.as_bytes(), false, &Hint::default()), None, "{text}");
        }
        for text in ["", "|\n", "| |\n", "||||\n", "│\n", "id|puzzle\n1|2\n", "| 1 | 2 |\n|   | 3 |\n"] {
            assert_eq!(find(text.as_bytes(), false, &Hint::default()), None, "{text}");
        }
    }
}
