//! Rows in which a space is a blank: `| 7   6 |   5   | 1     |`, or `│ 9 │   │ 2 │` with bars
//! round each cell.
//!
//! A blank is no character there, so a cell is known by its place between the bars. A line of
//! nothing but bars and spaces is then a row of blanks, and in other texts a ruler; so a text is
//! read that way only if it can be nothing else: all rows fit one layout, no cell is another blank,
//! all values are readable, and the rows come in whole puzzles, but for a few that are damaged.

use std::ops::Range;

use super::lines::{characters, offset, puzzle_lines};
use super::row_lines::{LineKind, RowStyle, classify};
use super::rows::read_cell;
use super::{Alphabet, Format, Hint, Notation};
use crate::grid::{Grid, Order};

/// Where the cells of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BarLayout {
    order: Order,
    /// Whether a row begins and ends with a bar.
    is_framed: bool,
    spacing: Spacing,
}

/// Where the cells between two bars are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spacing {
    /// The cells between two bars: one, or those of a box.
    cells: usize,
    /// The characters between two bars.
    width: usize,
    /// The place of the first cell.
    first: usize,
    /// The characters of a cell.
    length: usize,
    /// The distance of two cells.
    pitch: usize,
}

/// A character and its offset in the line.
type Character<'a> = (usize, &'a [u8]);

/// White space that is missing at an end of a line without a frame.
const MISSING: Character<'_> = (0, b" ");

/// The most characters between two bars round one cell.
const MOST_AROUND_CELL: usize = 7;

/// One of so many values may be unreadable, so that it is told as an error and does not spoil the
/// others.
const VALUES_AN_ERROR: usize = 100;

/// One of so many rows may be drawn otherwise, so that the others show how it should be drawn.
const ROWS_A_CROOKED_ONE: usize = 4;

impl Spacing {
    /// All spacings of puzzles of an order.
    fn all(order: Order) -> impl Iterator<Item = Self> {
        let of_cell = (1..=MOST_AROUND_CELL).flat_map(|width| {
            (1..=width.min(2)).flat_map(move |length| {
                (0..=width - length)
                    .map(move |before| Self::apart(1, length, before, width - length - before))
            })
        });
        let cells = order.box_side();
        let of_box = [
            Self { cells, width: cells, first: 0, length: 1, pitch: 1 },
            Self::apart(cells, 1, 0, 0),
            Self::apart(cells, 1, 1, 1),
            // Numbers of two digits.
            Self::apart(cells, 2, 0, 0),
            Self::apart(cells, 2, 0, 1),
            Self::apart(cells, 2, 1, 0),
            Self::apart(cells, 2, 1, 1),
        ];
        of_cell.chain(of_box)
    }

    /// The spacing of cells with a space between two, and some before the first and behind the
    /// last.
    const fn apart(cells: usize, length: usize, before: usize, behind: usize) -> Self {
        let pitch = length + 1;
        Self { cells, width: before + cells * pitch - 1 + behind, first: before, length, pitch }
    }
}

impl BarLayout {
    /// All layouts of these orders.
    fn all(order: Option<Order>) -> impl Iterator<Item = Self> {
        let orders = Order::ALL.into_iter().filter(|order| order.side() > 1);
        orders.filter(move |&other| order.is_none_or(|order| other == order)).flat_map(|order| {
            let spacings = Spacing::all(order);
            spacings
                .flat_map(move |spacing| [true, false].map(|is_framed| Self { order, is_framed, spacing }))
        })
    }

    /// The order of the puzzles.
    pub(super) const fn order(self) -> Order {
        self.order
    }

    /// The cells of a row, of which blank ones are empty; `None` for another line.
    pub(super) fn cells(self, line: &[u8]) -> Option<Vec<&[u8]>> {
        let Spacing { cells: in_group, width, first, length, pitch } = self.spacing;
        let groups = self.groups(line)?;
        let count = self.order.side() / in_group;
        if groups.len() != count {
            return None;
        }
        let mut cells = Vec::with_capacity(self.order.side());
        for (index, mut group) in groups.into_iter().enumerate() {
            if !self.is_framed && index == 0 && group.len() + 1 == width {
                group.insert(0, MISSING);
            }
            if !self.is_framed && index + 1 == count && group.len() < width {
                group.resize(width, MISSING);
            }
            if group.len() != width {
                return None;
            }
            let mut written = 0;
            let count_written = |characters: &[Character<'_>]| {
                characters.iter().filter(|(_, character)| !is_space(character)).count()
            };
            for index in 0..in_group {
                let characters = &group[first + index * pitch..][..length];
                cells.push(cell(line, characters)?);
                written += count_written(characters);
            }
            // Nothing else is between the bars.
            if count_written(&group) != written {
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
        let before = groups.first()?;
        if self.is_framed {
            if groups.len() < 2 || !behind.is_empty() || !before.iter().all(|(_, before)| is_space(before)) {
                return None;
            }
            groups.remove(0);
        } else if before.is_empty() {
            return None;
        }
        groups.retain(|group| !group.is_empty());
        if !self.is_framed {
            // Blanks at the end of a line may be missing.
            groups.push(behind);
        }
        Some(groups)
    }
}

/// The only word of a few characters of a line, or nothing; `None` if there are two.
fn cell<'a>(line: &'a [u8], characters: &[Character<'_>]) -> Option<&'a [u8]> {
    let mut words = characters.split(|(_, character)| is_space(character)).filter(|word| !word.is_empty());
    let Some(word) = words.next() else { return Some(b"") };
    let (&(begin, _), &(last, end)) = (word.first()?, word.last()?);
    words.next().is_none().then(|| &line[begin..last + end.len()])
}

fn is_space(character: &[u8]) -> bool {
    matches!(character, b" " | b"\t")
}

/// Whether it is a bar between cells: `|`, or one of box drawing.
const fn is_bar(character: &[u8]) -> bool {
    matches!(character, b"|" | [0xE2, 0x94, 0x82 | 0x83 | 0x86 | 0x87 | 0x8A | 0x8B] | [0xE2, 0x95, 0x91])
}

/// Whether it is a character of rulers that is no bar.
const fn is_across(character: &[u8]) -> bool {
    matches!(character, [b'-' | b'+' | b'='])
        || matches!(character, [0xE2, 0x94 | 0x95, _]) && !is_bar(character)
}

/// Whether a line has a part that is drawn from side to side, as rulers have.
pub(super) fn has_line_across(line: &[u8]) -> bool {
    characters(line).any(is_across)
}

/// Whether a line has bars, and nothing else that rulers are drawn with.
pub(super) fn is_bars_and_cells(line: &[u8]) -> bool {
    characters(line).any(is_bar) && !has_line_across(line)
}

/// The layout of a text whose rows may have spaces for blanks; `None` for other texts, and where
/// several layouts fit that differ. The text `goes_on` if it is the beginning of a longer one.
///
/// The first puzzles may have no blank at all: then the layout has no effect on them, but the next
/// part of the same text is read as if all of it had been seen.
pub(super) fn find(text: &[u8], goes_on: bool, hint: &Hint) -> Option<BarLayout> {
    let drawing = Drawing::of(text, goes_on)?;
    let mut found: Option<(BarLayout, Vec<Vec<&[u8]>>)> = None;
    for layout in drawing.layouts(hint) {
        let cells: Option<Vec<_>> = drawing.rows.iter().map(|row| layout.cells(row)).collect();
        let Some(cells) = cells.filter(|cells| drawing.is_likely(layout, cells, hint)) else { continue };
        match &found {
            None => found = Some((layout, cells)),
            // White space on either side of a cell does not matter, but its row and column do.
            Some((first, same)) if first.order == layout.order && *same == cells => {}
            Some(_) => return None,
        }
    }
    found.map(|(layout, _)| layout)
}

/// The only reason why a text is not read with spaces for blanks: a row that is drawn otherwise than
/// most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CrookedRow {
    /// The first line with such a row, from 0.
    pub(super) line: usize,
    /// The rows that are drawn alike.
    pub(super) alike: usize,
}

/// The first crooked row of a text whose other rows have spaces for blanks, in the layout that fits
/// most of them; `None` for other texts.
pub(super) fn find_crooked(text: &[u8], goes_on: bool, hint: &Hint) -> Option<CrookedRow> {
    let drawing = Drawing::of(text, goes_on)?;
    let all = drawing.rows.len();
    let crooked = drawing.layouts(hint).filter_map(|layout| {
        let cells: Vec<Option<Vec<&[u8]>>> = drawing.rows.iter().map(|row| layout.cells(row)).collect();
        let first = cells.iter().position(Option::is_none)?;
        let alike = cells.iter().flatten().count();
        if (all - alike) * ROWS_A_CROOKED_ONE > all {
            return None;
        }
        let blank = || vec![&b""[..]; layout.order.side()];
        let cells: Vec<_> = cells.into_iter().map(|row| row.unwrap_or_else(blank)).collect();
        drawing.is_likely(layout, &cells, hint).then_some((first, alike))
    });
    let (first, alike) = crooked.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
    let above = &text[..offset(text, drawing.rows[first])];
    Some(CrookedRow { line: memchr::memchr_iter(b'\n', above).count(), alike })
}

/// A text of nothing but rows with bars, and what may be between rows.
struct Drawing<'a> {
    rows: Vec<&'a [u8]>,
    /// The numbers of rows between blank lines and titles.
    runs: Vec<usize>,
    /// The same where two rulers, one below the other, are as good as a blank line.
    runs_between_rulers: Vec<usize>,
    /// Whether it is the beginning of a longer text.
    goes_on: bool,
}

impl<'a> Drawing<'a> {
    /// The drawing in a text; `None` if there is no row, or more lines of something else, which are
    /// titles, or one of those below all rows.
    fn of(text: &'a [u8], goes_on: bool) -> Option<Self> {
        if !text.iter().any(|&byte| byte == b'|' || byte == 0xE2) {
            return None;
        }
        let mut rows = Vec::new();
        let (mut runs, mut runs_between_rulers) = (vec![0], vec![0]);
        let (mut is_below_ruler, mut titles, mut is_below_title) = (false, 0, false);
        for line in text.split(|&byte| byte == b'\n') {
            if is_bars_and_cells(line) && puzzle_lines(line).next().is_some() {
                rows.push(line);
                for runs in [&mut runs, &mut runs_between_rulers] {
                    *runs.last_mut()? += 1;
                }
                (is_below_ruler, is_below_title) = (false, false);
                continue;
            }
            let kind = classify(line, RowStyle::default());
            if matches!(kind, LineKind::Row | LineKind::Words) {
                titles += 1;
                is_below_title = true;
            }
            match kind {
                LineKind::Comment => {}
                LineKind::Ruler if !is_below_ruler => is_below_ruler = true,
                LineKind::Ruler => runs_between_rulers.push(0),
                LineKind::Blank | LineKind::Title | LineKind::Skipped | LineKind::Row | LineKind::Words => {
                    runs.push(0);
                    runs_between_rulers.push(0);
                    is_below_ruler = false;
                }
            }
        }
        runs.retain(|&rows| rows > 0);
        runs_between_rulers.retain(|&rows| rows > 0);
        let is_drawn = !rows.is_empty() && titles <= rows.len() && (goes_on || !is_below_title);
        is_drawn.then_some(Self { rows, runs, runs_between_rulers, goes_on })
    }

    /// The layouts of orders of which the rows may be puzzles.
    fn layouts(&self, hint: &Hint) -> impl Iterator<Item = BarLayout> {
        BarLayout::all(hint.order).filter(|layout| self.puzzles(layout.order).is_some())
    }

    /// Where the rows of each puzzle are. `None` if the rows are no puzzles of this order.
    ///
    /// If a few puzzles have lost a row, have one too many or a blank line inside, it is the rows of
    /// the others.
    fn puzzles(&self, order: Order) -> Option<Vec<Range<usize>>> {
        let (side, all) = (order.side(), self.rows.len());
        if self.has_whole_puzzles(order) {
            return Some((0..all).step_by(side).map(|first| first..all.min(first + side)).collect());
        }
        [&self.runs, &self.runs_between_rulers].into_iter().find_map(|runs| {
            let mut end = 0;
            let runs = runs.iter().map(|rows| {
                end += rows;
                end - rows..end
            });
            let puzzles: Vec<Range<usize>> = runs.filter(|run| run.len() == side).collect();
            (2 * puzzles.len() * side > all).then_some(puzzles)
        })
    }

    /// Whether there are whole puzzles between blank lines, or the bands of one.
    fn has_whole_puzzles(&self, order: Order) -> bool {
        let side = order.side();
        let is_cut = self.goes_on && self.rows.len() > side;
        // More rows may follow the last ones.
        let ended = &self.runs[..self.runs.len() - usize::from(is_cut)];
        let are_puzzles = ended.iter().all(|rows| rows.is_multiple_of(side));
        let are_bands = ended.iter().all(|&rows| rows == order.box_side())
            && (is_cut || self.rows.len().is_multiple_of(side));
        are_puzzles || are_bands
    }

    /// Whether the `cells` of all rows in a layout are likely to be puzzles with spaces for blanks.
    fn is_likely(&self, layout: BarLayout, cells: &[Vec<&[u8]>], hint: &Hint) -> bool {
        let BarLayout { order, is_framed, spacing } = layout;
        let side = order.side();
        let Some(puzzles) = self.puzzles(order) else { return false };
        // White space around the values of cells that are drawn several lines high, or between
        // bands.
        let values: Vec<usize> = cells.iter().map(|row| count_values(row)).collect();
        let mut bands = puzzles.iter().flat_map(|rows| values[rows.clone()].chunks(order.box_side()));
        if bands.any(|band| band.iter().filter(|&&values| values == 0).count() > 1) {
            return false;
        }
        if values.contains(&0) && !values.iter().any(|values| (1..side).contains(values)) {
            return false;
        }
        // Without a frame, some line says where the first cells end, and some where the last begin.
        let has_first = || cells.iter().any(|row| count_values(&row[..spacing.cells]) > 0);
        let has_last = || cells.iter().any(|row| count_values(&row[side - spacing.cells..]) > 0);
        let has_ends = is_framed || has_first() && has_last();
        if !has_ends {
            return false;
        }
        let alphabets = [Alphabet::Letters, Alphabet::Ascii, Alphabet::Alpha];
        let alphabets = hint.alphabet.as_ref().map_or(&alphabets[..], std::slice::from_ref);
        alphabets.iter().any(|alphabet| {
            let format = Format::new(Notation::Grid, order, alphabet.clone());
            format.is_ok_and(|format| has_puzzles(&format, cells, &puzzles, self.runs.len()))
        })
    }
}

/// The number of cells that are not blank.
fn count_values(cells: &[&[u8]]) -> usize {
    cells.iter().filter(|cell| !cell.is_empty()).count()
}

/// Whether nearly all cells are values of this format, none is another blank than a space, and the
/// rows of each puzzle keep the rules. Where `runs` says that each puzzle has blank lines around it,
/// or some rows are in no puzzle, they need not, because a puzzle cannot begin anywhere else.
fn has_puzzles(format: &Format, rows: &[Vec<&[u8]>], puzzles: &[Range<usize>], runs: usize) -> bool {
    let order = format.order();
    let are_apart = puzzles.len() * order.side() < rows.len() || rows.len() == runs * order.side();
    let (mut values, mut errors) = (0, 0);
    for cell in rows.iter().flatten().filter(|cell| !cell.is_empty()) {
        values += 1;
        match read_cell(format, cell) {
            Some(0) => return false,
            Some(_) => {}
            None => errors += 1,
        }
    }
    let keeps_rules = |puzzle: &Range<usize>| {
        let mut grid = Grid::empty(order);
        for (digit, cell) in grid.digits_mut().iter_mut().zip(rows[puzzle.clone()].iter().flatten()) {
            *digit = read_cell(format, cell).unwrap_or(0);
        }
        grid.keeps_rules()
    };
    errors * VALUES_AN_ERROR <= values && (are_apart || puzzles.iter().all(keeps_rules))
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
        Some(answers(text))
    }

    /// The puzzles of a text, with the error of each bad one in its place.
    fn answers(text: &str) -> Vec<String> {
        let format = detect(text.as_bytes(), &Hint::default()).unwrap().format;
        assert_eq!(format.notation(), Notation::Grid, "{text}");
        let (mut grid, mut found) = (Grid::empty(format.order()), Vec::new());
        let mut records = Records::new(&format, text.as_bytes(), 1);
        while let Some(record) = records.read(&mut grid) {
            found.push(record.error.map_or_else(|| grid.to_string(), |error| error.to_string()));
        }
        found
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
            for title in ["Level 3", "Easy", "(3)", "3.", "3", "Hi all,\nhere is mine:"] {
                let two = format!("{title}\n{text}\n{title}\n{text}");
                assert_eq!(read(&two).as_deref(), Some(&[PUZZLE.to_owned(), PUZZLE.to_owned()][..]), "{two}");
            }
        }
        let small = "12.4..1.2..1.3.2";
        let text = draw(small, "+---+---+", |row| format!("|{}|", boxes(row, " ").join("|")));
        assert_eq!(read(&text).as_deref(), Some(&[small.to_owned()][..]));
    }

    #[test]
    fn a_layout_without_spaces_changes_nothing_but_what_follows() {
        let framed = |puzzle: &str| {
            draw(puzzle, "+-------+-------+-------+", |row| format!("| {} |", boxes(row, " ").join(" | ")))
        };
        let solved = "746325198891247635325681947583714269269538471174962853437859126618493572952176384";
        let zeros = PUZZLE.replace('.', "0");
        for beginning in [solved, PUZZLE] {
            let hint = Hint::of(&detect(framed(beginning).as_bytes(), &Hint::default()).unwrap().format);
            let format = detect(framed(beginning).as_bytes(), &hint).unwrap().format;
            let text = framed(PUZZLE);
            let mut grid = Grid::empty(format.order());
            let record = Records::new(&format, text.as_bytes(), 1).read(&mut grid).unwrap();
            assert_eq!((record.error, grid.to_string()), (None, PUZZLE.to_owned()));
        }
        // A row that is drawn otherwise is read as in any grid.
        assert_eq!(find(framed(&zeros).as_bytes(), false, &Hint::default()), None);
        let format = detect(framed(PUZZLE).as_bytes(), &Hint::default()).unwrap().format;
        let mut grid = Grid::empty(format.order());
        let text = framed(&zeros).replacen("| 7 0 6 |", "|  7 0 6  |", 1);
        let record = Records::new(&format, text.as_bytes(), 1).read(&mut grid).unwrap();
        assert_eq!((record.error, grid.to_string()), (None, PUZZLE.to_owned()));
    }

    #[test]
    fn a_crooked_row_is_found() {
        let framed =
            draw(PUZZLE, "+-------+-------+-------+", |row| format!("| {} |", boxes(row, " ").join(" | ")));
        let crooked = |text: &str| {
            let found = find_crooked(text.as_bytes(), false, &Hint::default());
            found.map(|CrookedRow { line, alike }| (line + 1, alike))
        };
        let shifted = framed.replacen("|       |       | 9   2 |", "|        |       | 9   2 |", 1);
        assert_eq!(crooked(&shifted), Some((6, 8)));
        assert_eq!(crooked(&[&*framed, &*shifted, &*framed].join("\n")), Some((14 + 6, 26)));
        let dots = framed.replacen("|       |       | 9   2 |", "|  . . . | . . . | 9 . 2 |", 1);
        assert_eq!(crooked(&dots), Some((6, 8)));
        // Of several it is the first. Of too many none, because they may be the ones drawn well.
        let two = shifted.replacen("|   8   | 1     | 7     |", "|   8   | 1      7     |", 1);
        assert_eq!(crooked(&two), Some((6, 7)));
        let three = two.replacen("| 7   6 |", "|7   6  |", 1);
        assert_eq!(crooked(&three), None);
        // Nothing is crooked, spaces are no blanks, or there are other lines.
        for other in [
            framed.clone(),
            draw(&PUZZLE.replace('.', "0"), "+---+", |row| format!("| {} |", boxes(row, " ").join(" | ")))
                .replacen("| 7 0 6 |", "|  7 0 6 |", 1),
            shifted.clone() + "what is this\n",
            shifted.replacen("| 9     |     6 |     3 |\n", "", 1),
            "| a | b | c | d |\n| 1 | x | 2 |   |\n| 2 | y | 3 |   |\n| 3 | z  | 4 |   |\n".to_owned(),
        ] {
            assert_eq!(crooked(&other), None, "{other}");
        }
    }

    /// A puzzle that has lost a row, has one twice or a blank line inside is an error in its place,
    /// and no other.
    #[test]
    fn a_damaged_puzzle_spoils_no_other() {
        let ruler = "+-------+-------+-------+";
        let framed = |puzzle: &str| draw(puzzle, ruler, |row| format!("| {} |", boxes(row, " ").join(" | ")));
        let cells = |puzzle: &str| {
            draw(puzzle, "├───┼───┤", |row| format!("│ {} │", row.join(" │ ")))
        };
        let other: String = PUZZLE.chars().rev().collect();
        for draw in [&framed as &dyn Fn(&str) -> String, &cells] {
            // Between puzzles is a blank line, a title or the ruler below one and that above the next.
            for between in ["\n", "Grid 7\n", ""] {
                let sound = [draw(PUZZLE), draw(&other), draw(PUZZLE), draw(&other), draw(PUZZLE)];
                let solved: Vec<&str> = [PUZZLE, &other].into_iter().cycle().take(5).collect();
                for bad in [0, 2, 4] {
                    for row in [0, 1, 2, 8] {
                        for damage in ["", "twice", "\n"] {
                            let mut lines: Vec<&str> = sound[bad].lines().collect();
                            let rows = (0..lines.len()).filter(|&at| is_bars_and_cells(lines[at].as_bytes()));
                            let at = rows.clone().nth(row).unwrap();
                            match damage {
                                "" => drop(lines.remove(at)),
                                "twice" => lines.insert(at, lines[at]),
                                _ => lines.insert(at, ""),
                            }
                            let mut drawn = sound.clone();
                            drawn[bad] = lines.join("\n") + "\n";
                            let text = drawn.join(between);
                            let found = answers(&text);
                            // The damaged one may be in two, or whole if the blank line is between bands.
                            let more = found.len() - 4;
                            assert!((1..=2).contains(&more), "{found:?}: {text}");
                            let others = [&found[..bad], &found[bad + more..]].concat();
                            assert_eq!(others, [&solved[..bad], &solved[bad + 1..]].concat(), "{text}");
                            let is_error = |found: &String| found.ends_with("has the wrong length.");
                            let damaged = &found[bad..bad + more];
                            let is_whole = damage == "\n" && (row % 3 == 0 || row == 1);
                            assert_eq!(!damaged.iter().any(is_error), is_whole, "{damaged:?}: {text}");
                        }
                    }
                }
            }
        }
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
        let short = framed(PUZZLE).replacen("| 7   6 |   5   | 1     |\n", "", 1);
        let shifted = framed(PUZZLE).replacen("| 7   6 |", "|  7  6 |", 1);
        let prose = framed(PUZZLE) + "what is this\n";
        // White space between bands, where another character is the blank or there is none.
        let space = "|       |       |       |\n";
        let spaced = |text: &str| text.replacen("+\n|", &format!("+\n{space}|"), 9);
        let dots = spaced(&framed(&PUZZLE.replace('.', "0")).replace('0', "."));
        let solved = "746325198891247635325681947583714269269538471174962853437859126618493572952176384";
        let nine_solved = spaced(&framed(solved)).repeat(9);
        let labels = "| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n|   | 2 |   | 4 |\n| 2 |   |   |   |\n|   |   | 1 |   |\n| 1 |   |   | 3 |\n";
        for text in [&dots, &nine_solved, &labels.to_owned(), &labels.repeat(4)] {
            assert_eq!(find(text.as_bytes(), false, &Hint::default()), None, "{text}");
        }
        for text in [&tall, &short, &shifted, &prose] {
            assert_eq!(find(text.as_bytes(), false, &Hint::default()), None, "{text}");
        }
        for text in [
            "",
            "|\n",
            "| |\n",
            "||||\n",
            "│\n",
            "id|puzzle\n1|2\n",
            "| 1 | 2 |\n|   | 3 |\n",
            &"1|2|3|\n".repeat(4),
            "| a | b | c | d |\n| 1 | x | 2 |   |\n| 2 | y | 3 |   |\n| 3 | z | 4 |   |\n",
        ] {
            assert_eq!(find(text.as_bytes(), false, &Hint::default()), None, "{text}");
        }
    }
}
